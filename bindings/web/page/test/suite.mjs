// Every check of the conformance suite through the page: the body, URLs and crawlers are filled in as a visitor does.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const [CASES, CHECKS] = [314, 959];
/** Checks that a list with one URL per line cannot express: an empty URL, and a URL that ends with a line end. */
const INEXPRESSIBLE = 2;

/** Fills in one case in the page, waits for its answers, and returns the table of verdicts. Runs in the page. */
async function enter({ dialect, body, urls, agents, exact }) {
    const byId = (id) => document.getElementById(id);
    const enterText = (id, value) => {
        byId(id).value = value;
        byId(id).dispatchEvent(new InputEvent("input", { bubbles: true }));
    };
    const until = async (condition) => {
        const end = performance.now() + 30_000;
        while (!condition()) {
            if (performance.now() > end) {
                throw new Error(`timeout: ${condition}`);
            }
            await new Promise((resolve) => setTimeout(resolve, 2));
        }
    };
    const openFile = (bytes) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([bytes], "robots.txt"));
        byId("file").files = transfer.files;
        byId("file").dispatchEvent(new Event("change", { bubbles: true }));
    };
    // The file and the URLs are cleared between two cases, so that an earlier answer cannot pass for a later one.
    enterText("robots", "# Replaced by the empty file");
    openFile(new Uint8Array());
    enterText("urls", "");
    await until(() => byId("robots").value === "" && byId("robots-notice").hidden && byId("verdicts").parentElement.hidden);
    if (byId("dialect").value !== dialect) {
        byId("dialect").value = dialect;
        byId("dialect").dispatchEvent(new Event("change", { bubbles: true }));
    }
    if (byId("exact").checked !== exact) {
        byId("exact").click();
    }
    const names = () => [...byId("chosen").querySelectorAll("code")].map((code) => code.textContent.replace("\u00a0", ""));
    enterText("host", "");
    if (agents.includes("")) {
        // The field takes no empty name, but a file with a case may have one.
        openFile(JSON.stringify({
            "reptile-case": 1, robots: "", second: null, urls: "", crawlers: agents, exact, dialect, host: "opened",
            vocabulary: byId("vocabulary").value, usageLines: "usage", assertions: "", allowDefault: false,
        }));
        await until(() => JSON.stringify(names()) === JSON.stringify(agents) && byId("host").value === "opened");
        await until(() => document.documentElement.dataset.busy === undefined);
    }
    if (JSON.stringify(names()) !== JSON.stringify(agents)) {
        while (byId("chosen").querySelector("button")) {
            byId("chosen").querySelector("button").click();
        }
        for (const agent of agents) {
            enterText("crawler", agent);
            byId("crawler").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
        }
    }
    const bytes = Uint8Array.from(atob(body), (char) => char.charCodeAt(0));
    let text = null;
    try {
        text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
        // The body is opened as a file.
    }
    if (text === null || text.includes("\r") || text.length > 1 << 16) {
        openFile(bytes);
        await until(() => !byId("robots-notice").hidden || byId("robots").value !== "");
    } else {
        enterText("robots", text);
    }
    enterText("urls", urls.join("\n"));
    await until(() => document.documentElement.dataset.busy === undefined);
    const [, ...columns] = [...byId("verdicts").tHead.rows[0].cells].map((cell) => cell.textContent.replace(/^\u00a0$/, ""));
    const rows = [...byId("verdicts").tBodies[0].rows].map((row) => [...row.querySelectorAll("button")].map(({ dataset }) => [dataset.verdict, Number(dataset.line)]));
    return { columns, rows };
}

export async function run({ browser, root }) {
    const output = execFileSync("python3", [join(root, "bindings/web/tests/cases.py"), join(root, "corpora")], { maxBuffer: 1 << 28 });
    const cases = JSON.parse(output).suite;
    assert.equal(cases.length, CASES);
    const page = await browser.open();
    const differences = [];
    let [checked, inexpressible] = [0, 0];
    for (const [number, item] of cases.entries()) {
        const asked = item.checks.filter(({ url }) => url !== "" && !url.includes("\n"));
        inexpressible += item.checks.length - asked.length;
        if (asked.length === 0) {
            continue;
        }
        const urls = [...new Set(asked.map(({ url }) => url))];
        const agents = [...new Set(asked.map(({ agent }) => agent))];
        // Google's library takes every name literally; the other dialects know some crawlers by name.
        const exact = item.dialect === "google-lib";
        const { columns, rows } = await page.evaluate(enter, { dialect: item.dialect, body: item.body, urls, agents, exact }).catch((error) => {
            throw new Error(`${item.dialect}: ${item.name}: ${error.message}`);
        });
        for (const { agent, url, verdict, line } of asked) {
            const cell = rows[urls.indexOf(url)]?.[columns.indexOf(agent)];
            checked += 1;
            // A path with two slashes has no verdict by the reference.
            if (verdict !== null && (cell?.[0] !== verdict || (line !== null && cell[1] !== line))) {
                differences.push(`${item.dialect}: ${item.name}: ${agent} ${JSON.stringify(url.slice(0, 80))}: ${verdict} ${line}, the page shows ${JSON.stringify(cell)}`);
            }
        }
        if (number % 100 === 99) {
            console.log(`    ${number + 1} of ${cases.length} files`);
        }
    }
    await page.context().close();
    assert.equal(differences.length, 0, `${differences.length} differences\n${differences.slice(0, 30).join("\n")}`);
    assert.equal(checked + inexpressible, CHECKS);
    assert.equal(inexpressible, INEXPRESSIBLE);
    return `${CASES} cases, ${checked} checks, 0 differences; ${inexpressible} checks cannot be entered in the page`;
}
