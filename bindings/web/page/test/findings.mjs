// The worker's answers about a file, and the findings in the panel, in each language and without a browser: findings that
// are off by default are counted, and one control shows and hides them; effects of fixes; limits.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const OPEN_GROUP = "User-agent: GPTBot\nAllow: /\n";
const CLOSED = "User-agent: *\nDisallow: /shop\n\n";
/** Files, their findings by default, and how many more there are. */
const CASES = [
    ["", 1, 0],
    [CLOSED, 0, 0],
    [`${CLOSED}${OPEN_GROUP}`, 0, 1],
    [`${CLOSED}${OPEN_GROUP}\nUser-agent: CCBot\nAllow: /\n`, 0, 2],
    [`User-agent: *\nDisallow: /shop\nDisallow: y\n\n${OPEN_GROUP}`, 1, 1],
];

/** An element without a browser. */
class FakeElement {
    children = [];
    attributes = {};
    listeners = {};

    constructor(tag) {
        this.tag = tag;
    }

    append(...children) {
        this.children.push(...children);
    }

    replaceChildren(...children) {
        this.children = children;
    }

    setAttribute(name, value) {
        this.attributes[name] = value;
    }

    addEventListener(name, listener) {
        this.listeners[name] = listener;
    }

    get textContent() {
        return this.children.map((child) => child.textContent ?? child).join("");
    }

    set textContent(text) {
        this.children = [text];
    }

    /** Returns the elements with an attribute's value. */
    all(name, value) {
        const inner = this.children.flatMap((child) => (child instanceof FakeElement ? child.all(name, value) : []));
        return this.attributes[name] === value ? [this, ...inner] : inner;
    }
}

/** Starts the page's worker. Returns a function that asks a question about one or two files. */
async function workerOf({ worker, wasm }) {
    const waiting = [];
    const self = { postMessage: (message) => waiting.shift()(message) };
    new Function("self", worker)(self);
    const send = (data) => new Promise((resolve) => {
        waiting.push(resolve);
        self.onmessage({ data });
    });
    assert.equal((await send({ kind: "start", wasm })).kind, "ready");
    return async (kind, question, first, second = "") => {
        self.onmessage({ data: { kind: "file", pane: "first", body: first } });
        self.onmessage({ data: { kind: "file", pane: "second", body: second } });
        const { answer, error } = await send({ id: 1, kind, question: { dialect: "google", ...question } });
        assert.equal(error, undefined);
        return answer;
    };
}

/** What an edit of a file opens and closes, as `agent url`. */
const EFFECTS = [
    ["User-agent: *\nDisallow: a\n", ["Googlebot"], { from: 2, to: 2, text: "Disallow: /a" }, null, "Googlebot /a"],
    ["User-agent: *\nDisallow: /a\n", ["Googlebot"], { from: 2, to: 2, text: null }, "Googlebot /a", null],
    // Another crawler than the chosen one.
    ["User-agent: GPTBot\nDisallow: /a\nUser-agent: *\nDisallow:\n", ["Googlebot"], { from: 2, to: 2, text: "Disallow: /" }, null, null],
    ["User-agent: GPTBot\nDisallow: /a\nUser-agent: *\nDisallow:\n", ["Googlebot", "GPTBot"], { from: 2, to: 2, text: "Disallow: /b" }, "GPTBot /a", "GPTBot /b"],
    // A group of crawlers, and every crawler.
    ["User-agent: *\nDisallow: /a\n", ["@search"], { from: 2, to: 2, text: "Disallow: /a$" }, "Googlebot /aa", null],
    ["User-agent: *\nDisallow: /a\n", [], { from: 1, to: 2, text: null }, "* /a", null],
];

/** Returns the number of answers that were checked around limits. */
async function bounds(ask, limits) {
    const { MAX_ALIGNED_LINES, MAX_ALIGNED_ROWS, MAX_EFFECT_AGENTS, MAX_EFFECT_BYTES, MAX_SHOWN_ITEMS } = limits;
    let count = 0;
    for (const extra of [-1, 0, 1]) {
        const edit = { from: 2, to: 2, text: null };
        const long = "User-agent: *\nDisallow: /a\n".padEnd(MAX_EFFECT_BYTES + extra, "#");
        assert.equal(await ask("effects", { agents: [], edits: [edit] }, long) === null, extra > 0, `effects in ${long.length} bytes`);
        const agents = Array.from({ length: MAX_EFFECT_AGENTS - 1 + extra }, (_, at) => `FooBot-${"abcdefgh"[at]}`);
        const [effect] = await ask("effects", { agents, exact: true, edits: [edit] }, "User-agent: *\nDisallow: /a\n");
        assert.equal(effect.agents.length, Math.min(MAX_EFFECT_AGENTS, agents.length + 1));
        const lines = "#\n".repeat(MAX_ALIGNED_LINES - 1 + extra);
        assert.equal(await ask("align", {}, lines, "") === null, extra > 0 || MAX_ALIGNED_LINES > limits.MAX_ALIGNED_CHANGES, `${extra} lines`);
        assert.equal(await ask("align", {}, lines, lines) === null, extra > 0, `${extra} equal lines`);
        const changed = await ask("align", {}, "a\n".repeat(MAX_ALIGNED_ROWS + extra), "");
        assert.deepEqual([changed.rows.length, changed.total], [Math.min(MAX_ALIGNED_ROWS, changed.total), MAX_ALIGNED_ROWS + extra + 1]);
        const mistakes = "Disalow: /a\n".repeat(MAX_SHOWN_ITEMS);
        const { findings, total } = await ask("lint", { host: "", all: false }, `User-agent: *\n${mistakes}`);
        assert.ok(findings.length === Math.min(total, MAX_SHOWN_ITEMS));
        count += 6;
    }
    return count;
}

export async function run({ root, file }) {
    const data = JSON.parse(/<script[^>]* id="data"[^>]*>([^<]*)<\/script>/.exec(readFileSync(file, "utf8"))[1]);
    const ask = await workerOf(data);
    const folder = mkdtempSync(join(tmpdir(), "reptile-page-"));
    const elements = { findings: new FakeElement("div"), "fix-all": new FakeElement("button") };
    globalThis.document = {
        createElement: (tag) => new FakeElement(tag), createTextNode: (text) => text, getElementById: (id) => elements[id],
    };
    globalThis.Node = FakeElement;
    try {
        cpSync(join(root, "bindings/web/page/src"), folder, { recursive: true });
        writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
        const load = (name) => import(pathToFileURL(join(folder, name)).href);
        const [{ showFindings }, { setCatalogue, number, say }] = [await load("findings.js"), await load("texts.js")];
        for (const [body, count, withheld] of CASES) {
            for (const all of [false, true]) {
                const found = await ask("lint", { host: "", all }, body);
                assert.deepEqual([found.total, found.withheld], [count + (all ? withheld : 0), withheld], body);
                for (const catalogue of Object.values(data.texts)) {
                    setCatalogue(catalogue);
                    let calls = 0;
                    const state = { found, effects: null, canEdit: true, isLong: false, isEmptyFile: body === "" };
                    showFindings(state, { onLine() {}, onFix() {}, onMore() {}, onAll: () => (calls += 1) });
                    const buttons = elements.findings.all("id", "all-findings");
                    assert.equal(buttons.length, withheld > 0 ? 1 : 0, body);
                    assert.equal(elements.findings.textContent.includes(say("findings.none")), found.total === 0, body);
                    for (const { code } of body === "" ? [] : found.findings) {
                        assert.ok(elements.findings.textContent.includes(say(`finding.${code}`)), `${catalogue.locale}: ${code}`);
                    }
                    for (const button of buttons) {
                        assert.equal(button.textContent, say(all ? "findings.hide" : "findings.show", { count: withheld }));
                        assert.ok(button.textContent.includes(number(withheld)), button.textContent);
                        assert.equal(button.attributes["aria-expanded"], String(all));
                        button.listeners.click();
                        assert.equal(calls, 1);
                    }
                }
            }
        }
        for (const [body, agents, edit, opens, closes] of EFFECTS) {
            const [effect] = await ask("effects", { agents, edits: [edit] }, body);
            const [opened, closed] = [effect.opens, effect.closes].map((found) => found && `${found.agent} ${found.url}`);
            assert.deepEqual([opened, closed, effect.isComplete], [opens, closes, true], body);
        }
        for (const extra of [-1, 0, 1]) {
            const { FIRST_FINDINGS } = await load("limits.js");
            const one = { code: "no-group", severity: "note", line: 7, message: "", text: "", fix: null };
            const found = { findings: Array(FIRST_FINDINGS + extra).fill(one), total: FIRST_FINDINGS + extra, fixes: 0, withheld: 0 };
            for (const isLong of [false, true]) {
                showFindings({ found, effects: null, canEdit: true, isLong, isEmptyFile: false }, { onMore() {} });
                const items = elements.findings.all("data-finding", 7).length;
                assert.equal(items, isLong ? found.total : Math.min(FIRST_FINDINGS, found.total));
                assert.equal(elements.findings.all("id", "more-findings").length, items < found.total ? 1 : 0);
            }
        }
        const count = await bounds(ask, await load("limits.js"));
        return `${EFFECTS.length} effects, ${count} answers around limits, ${CASES.length} files in ${Object.keys(data.texts).length} languages`;
    } finally {
        delete globalThis.document;
        delete globalThis.Node;
        rmSync(folder, { recursive: true });
    }
}
