// Hostile files and a paste of 16 MB: the page stays responsive, and an error is readable.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openExample, settled } from "./browser.mjs";

const FAMILIES = 83;
const FAMILY_BYTES = 256 << 10;
/** Maximum delay of the page's event loop in milliseconds, on a machine that also runs other programs. */
const MAX_DELAY_MS = 1000;

/** Measures the longest delay of the event loop from now on. Runs in the page. */
function measure() {
    globalThis.delay = 0;
    let last = performance.now();
    setInterval(() => {
        const now = performance.now();
        globalThis.delay = Math.max(globalThis.delay, now - last - 5);
        last = now;
    }, 5);
}

const delayOf = (page) => page.evaluate(() => {
    const { delay } = globalThis;
    globalThis.delay = 0;
    return delay;
});

async function families(browser, root) {
    const folder = mkdtempSync(join(tmpdir(), "reptile-families-"));
    try {
        const program = join(folder, "families");
        execFileSync("rustc", ["--edition", "2024", "-O", "-o", program, join(root, "bindings/web/page/test/families.rs")], { stdio: "pipe" });
        const rows = execFileSync(program, [folder, String(FAMILY_BYTES)]).toString().trim().split("\n").map((row) => row.split("\t"));
        assert.equal(rows.length, FAMILIES);
        const page = await browser.open();
        await page.fill("#urls", `/${"a/".repeat(1000)}\n/a?b=c`);
        await page.evaluate(measure);
        let [worst, refused] = [["", 0], 0];
        for (const [file, agent, name] of rows) {
            await page.evaluate(() => document.querySelectorAll("#chosen button").forEach((button) => button.click()));
            await page.fill("#crawler", agent);
            await page.locator("#crawler").press("Enter");
            await page.setInputFiles("#file", join(folder, file));
            await page.waitForTimeout(100);
            await settled(page);
            const verdicts = await page.locator("#verdicts td button").count();
            const fault = (await page.textContent("#engine-message")) + (await page.textContent("#crawler-faults"));
            assert.ok(verdicts === 2 || fault !== "", `${name}: neither verdicts nor an error`);
            refused += verdicts === 2 ? 0 : 1;
            const delay = await delayOf(page);
            if (delay > MAX_DELAY_MS / 2) {
                console.log(`    ${name}: ${delay.toFixed(0)} ms`);
            }
            worst = delay > worst[1] ? [name, delay] : worst;
        }
        await page.context().close();
        assert.ok(worst[1] < MAX_DELAY_MS, `${worst[0]}: ${worst[1].toFixed(0)} ms`);
        return `${rows.length} families, ${refused} refused with a message, longest delay ${worst[1].toFixed(0)} ms (${worst[0]})`;
    } finally {
        rmSync(folder, { recursive: true });
    }
}

/** Pastes a text of the given size into the robots.txt. Runs in the page. */
function paste(bytes) {
    const area = document.getElementById("robots");
    area.value = "";
    const transfer = new DataTransfer();
    transfer.setData("text/plain", "User-agent: *\nDisallow: /cart\n".concat("# filler line of text\n".repeat(bytes / 22)).slice(0, bytes));
    area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
}

async function pastes(browser) {
    const page = await browser.open();
    await openExample(page);
    await page.evaluate(measure);
    // Exactly the engine's limit: accepted as a file.
    await page.evaluate(paste, 16 << 20);
    await page.waitForSelector("#robots-notice:not([hidden])");
    await settled(page);
    assert.match(await page.textContent("#robots-notice"), /16,777,216 bytes\) is too large to edit/);
    assert.equal(await page.getAttribute('#verdicts button[data-url="0"][data-agent="0"]', "data-verdict"), "disallow");
    assert.ok((await page.inputValue("#robots")).length < 100_000, "only an excerpt is in the text area");
    const delay = await delayOf(page);
    // Over the limit: an error, and no verdict.
    await page.setInputFiles("#file", { name: "huge.txt", mimeType: "text/plain", buffer: Buffer.alloc((16 << 20) + 1, "# filler\n") });
    await page.waitForFunction(() => document.getElementById("engine-message").textContent !== "");
    await settled(page);
    assert.match(await page.textContent("#engine-message"), /at most 16 MiB/);
    assert.equal(await page.locator("#verdicts td button").count(), 0);
    // The page still works.
    await openExample(page);
    assert.equal(await page.locator("#verdicts td button").count(), 15);
    assert.equal(await page.textContent("#engine-message"), "");
    assert.ok(delay < MAX_DELAY_MS, `the paste of 16 MiB delays the page by ${delay.toFixed(0)} ms`);
    await page.context().close();
    return `a paste of 16 MiB delays the page by ${delay.toFixed(0)} ms`;
}

/** Tests the limits of `src/limits.js`: one less, exactly, one more. Returns the number of files and lists. */
async function bounds(browser) {
    const page = await browser.open();
    await page.evaluate(() => {
        const crawler = document.getElementById("crawler");
        document.querySelectorAll("#chosen button").forEach((button) => button.click());
        crawler.value = "FooBot";
        crawler.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    });
    let count = 0;
    const openFile = async (text, isEditable) => {
        await page.evaluate((body) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([body], "robots.txt"));
            document.getElementById("file").files = transfer.files;
            document.getElementById("file").dispatchEvent(new Event("change"));
        }, text);
        await page.waitForTimeout(200);
        await settled(page);
        assert.equal(await page.isHidden("#robots-notice"), isEditable, `${text.length} characters, ${text.split("\n").length} lines`);
        count += 1;
    };
    for (const [lines, isEditable] of [[19_999, true], [20_000, true], [20_001, false]]) {
        await openFile("\n".repeat(lines - 1), isEditable);
    }
    for (const [chars, isEditable] of [[(1 << 20) - 1, true], [1 << 20, true], [(1 << 20) + 1, false]]) {
        await openFile(`# ${"x".repeat(998)}\n`.repeat(1100).slice(0, chars), isEditable);
    }
    await openFile("User-agent: *\nDisallow: /\n", true);
    for (const urls of [9_999, 10_000, 10_001]) {
        await page.evaluate((text) => {
            document.getElementById("urls").value = text;
            document.getElementById("urls").dispatchEvent(new InputEvent("input"));
        }, "/a\n".repeat(urls));
        await settled(page);
        const shown = Math.min(urls, 10_000).toLocaleString("en");
        assert.match(await page.textContent("#page-range"), new RegExp(`of ${shown} URLs`));
        assert.equal(/Only the first 10,000 URLs/.test(await page.textContent("#message")), urls > 10_000);
        count += 1;
    }
    // The message about too many URLs would replace the one about crawlers.
    await page.fill("#urls", "/a");
    await settled(page);
    for (const chosen of [49, 50, 51]) {
        await page.evaluate((wanted) => {
            document.querySelectorAll("#chosen button").forEach((button) => button.click());
            for (let number = 0; number < wanted; number += 1) {
                const crawler = document.getElementById("crawler");
                crawler.value = `FooBot-x${"abcdefghij"[number % 10]}${"abcdefghij"[Math.floor(number / 10)]}`;
                crawler.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
            }
        }, chosen);
        await settled(page);
        assert.equal(await page.locator("#chosen li").count(), Math.min(chosen, 50));
        assert.equal(/at most 50 crawlers/.test(await page.textContent("#message")), chosen > 50);
        count += 1;
    }
    await page.context().close();
    return `${count} inputs around limits`;
}

export async function run({ browser, root }) {
    return `${await bounds(browser)}; ${await pastes(browser)}; ${await families(browser, root)}`;
}
