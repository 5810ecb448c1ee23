// The findings of the worker and in the panel, in each language and without a browser: those that are off by default are
// counted, and one control shows and hides them.
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

/** Starts the page's worker. Returns a function that asks it about a file's findings. */
async function workerOf({ worker, wasm }) {
    const waiting = [];
    const self = { postMessage: (message) => waiting.shift()(message) };
    new Function("self", worker)(self);
    const send = (data) => new Promise((resolve) => {
        waiting.push(resolve);
        self.onmessage({ data });
    });
    assert.equal((await send({ kind: "start", wasm })).kind, "ready");
    return async (body, all) => {
        self.onmessage({ data: { kind: "file", pane: "first", body } });
        const { answer, error } = await send({ id: 1, kind: "lint", question: { dialect: "google", host: "", all } });
        assert.equal(error, undefined);
        return answer;
    };
}

export async function run({ root, file }) {
    const data = JSON.parse(/<script[^>]* id="data"[^>]*>([^<]*)<\/script>/.exec(readFileSync(file, "utf8"))[1]);
    const lint = await workerOf(data);
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
                const found = await lint(body, all);
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
        return `${CASES.length} files in ${Object.keys(data.texts).length} languages`;
    } finally {
        delete globalThis.document;
        delete globalThis.Node;
        rmSync(folder, { recursive: true });
    }
}
