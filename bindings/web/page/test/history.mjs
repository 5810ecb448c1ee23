// Undo and redo, without a browser against a list that keeps every state, and in the page: typing, fixes, examples,
// choices and files are undone, and the work survives a reload.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fromMenu, openExample, settled, unfold } from "./browser.mjs";

/** Imports modules of the page in Node. */
async function modulesOf(root, work) {
    const folder = mkdtempSync(join(tmpdir(), "reptile-page-"));
    try {
        cpSync(join(root, "bindings/web/page/src"), folder, { recursive: true });
        writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
        return work(...await Promise.all(["history.js", "align.js"].map((name) => import(pathToFileURL(join(folder, name)).href))));
    } finally {
        rmSync(folder, { recursive: true });
    }
}

/** Returns numbers that depend on the seed only. */
function random(seed) {
    let state = seed;
    return (below) => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        return (state >>> 16) % below;
    };
}

function states({ History }) {
    const limits = { maxStates: 5, maxChars: 100, burstMs: 1000 };
    const next = random(7);
    let moves = 0;
    for (let round = 0; round < 300; round += 1) {
        const history = new History({ ...limits, maxStates: 1000, maxChars: Infinity, burstMs: 0 });
        let [all, at, now] = [[], -1, 0];
        for (let step = 0; step < 40; step += 1) {
            const kind = next(4);
            if (kind < 2) {
                const state = { text: "ab"[next(2)], list: ["x", "y"].slice(next(2)) };
                const same = all[at] && JSON.stringify(all[at]) === JSON.stringify(state);
                history.record(state, now += 1);
                if (!same) {
                    all = [...all.slice(0, at + 1), state];
                    at += 1;
                }
            } else {
                const move = kind === 2 ? -1 : 1;
                const expected = all[at + move] ?? null;
                at += expected ? move : 0;
                assert.deepEqual(move < 0 ? history.undo() : history.redo(), expected);
                moves += 1;
            }
            assert.deepEqual([history.canUndo, history.canRedo], [at > 0, at < all.length - 1]);
        }
    }
    // Typing in one field is one step until a pause of `burstMs`, a change elsewhere, or the end of the step.
    const history = new History(limits);
    const type = (text, now, list = []) => history.record({ text, list }, now);
    type("", 0);
    type("a", 1000);
    type("ab", 1999);
    assert.equal(history.undo().text, "");
    type("a", 3000);
    type("ab", 3000 + limits.burstMs);
    assert.equal(history.undo().text, "a");
    type("ab", 5000);
    type("ab", 5100, ["x"]);
    type("abc", 5200, ["x"]);
    history.endStep();
    type("abcd", 5300, ["x"]);
    assert.deepEqual([history.undo(), history.undo(), history.undo()].map(({ text, list }) => text + list), ["abcx", "abx", "ab"]);
    // The oldest states are forgotten: beyond the number of states, and beyond their length.
    for (const [count, kept] of [[4, 4], [5, 5], [6, 5]]) {
        const many = new History(limits);
        for (let number = 0; number < count; number += 1) {
            many.record({ text: String(number) }, number * 2000);
        }
        let undone = 0;
        while (many.undo()) {
            undone += 1;
        }
        assert.equal(undone, kept - 1, `${count} states`);
    }
    for (const [length, kept] of [[33, 3], [34, 2]]) {
        const long = new History(limits);
        ["a", "b", "c"].forEach((letter, at) => long.record({ text: letter.repeat(length) }, at * 2000));
        let undone = 0;
        while (long.undo()) {
            undone += 1;
        }
        assert.equal(undone, kept - 1, `${length} units`);
    }
    return moves;
}

/** Returns the length of a longest common subsequence. */
function longest(one, two) {
    const table = Array.from({ length: one.length + 1 }, () => new Array(two.length + 1).fill(0));
    for (let i = one.length - 1; i >= 0; i -= 1) {
        for (let j = two.length - 1; j >= 0; j -= 1) {
            table[i][j] = one[i] === two[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
        }
    }
    return table[0][0];
}

/** Every line of both files appears once and in order, and as many equal lines share a row as possible. */
function aligned({ align }) {
    const next = random(3);
    const lines = () => Array.from({ length: next(10) }, () => "abc"[next(3)]);
    let changes = 0;
    for (let round = 0; round < 5000; round += 1) {
        const [one, two] = [lines(), lines()];
        const rows = align(one, two, 100);
        for (const [side, all] of [[0, one], [1, two]]) {
            assert.deepEqual(rows.map((row) => row[side]).filter((at) => at !== null), all.map((_, at) => at), `${one} ${two}`);
        }
        const equal = rows.filter(([a, b]) => a !== null && b !== null && one[a] === two[b]).length;
        assert.equal(equal, longest(one, two), `${one} ${two}`);
        changes += one.length + two.length - 2 * equal;
    }
    const differing = (count) => [Array.from({ length: count }, (_, at) => `a${at}`), []];
    for (const [count, isAligned] of [[9, true], [10, true], [11, false]]) {
        assert.equal(align(...differing(count), 10) !== null, isAligned, `${count} changes`);
    }
    return changes;
}

async function inPage(browser) {
    const page = await browser.open();
    const robots = () => page.inputValue("#robots");
    const travel = async (id) => {
        await page.click(`#${id}`);
        await settled(page);
    };
    assert.ok(await page.isDisabled("#undo") && await page.isDisabled("#redo"));
    const own = "User-agent: *\nDisallow: /mine\nDisallow: /mine\n";
    await page.fill("#robots", own);
    await page.fill("#urls", "/mine");
    await settled(page);
    // The example, a fix, and the rules for a kind of crawler replace the visitor's file only until they are undone.
    await openExample(page);
    assert.notEqual(await robots(), own);
    await travel("undo");
    assert.deepEqual([await robots(), await page.inputValue("#urls")], [own, "/mine"]);
    await travel("redo");
    assert.match(await robots(), /An invented shop/);
    await travel("undo");
    await page.click("#fix-all");
    await settled(page);
    assert.equal(await robots(), "User-agent: *\nDisallow: /mine\n");
    await page.focus("#robots");
    await page.keyboard.press("Control+z");
    await settled(page);
    assert.equal(await robots(), own);
    await page.keyboard.press("Control+y");
    await settled(page);
    assert.equal(await robots(), "User-agent: *\nDisallow: /mine\n");
    // Typing right after a fix is a step of its own.
    await page.keyboard.type("# x");
    await settled(page);
    await travel("undo");
    assert.equal(await robots(), "User-agent: *\nDisallow: /mine\n");
    // Choices and crawlers.
    await page.selectOption("#dialect", "yandex");
    await settled(page);
    await page.click("#chosen button");
    await settled(page);
    await travel("undo");
    assert.equal(await page.locator("#chosen li").count(), 1);
    await travel("undo");
    assert.equal(await page.inputValue("#dialect"), "google");
    // A file that is opened, and a second file.
    await page.setInputFiles("#file", { name: "robots.txt", mimeType: "text/plain", buffer: Buffer.from("User-agent: a\r\nDisallow: /\r\n") });
    await settled(page);
    assert.equal(await robots(), "User-agent: a\nDisallow: /\n");
    await page.click("#compare");
    await settled(page);
    await page.fill("#second", "User-agent: *\n");
    await settled(page);
    await travel("undo");
    assert.equal(await page.inputValue("#second"), "User-agent: a\nDisallow: /\n");
    await travel("undo");
    assert.ok(await page.isHidden("#second-card"));
    await travel("undo");
    assert.equal(await robots(), "User-agent: *\nDisallow: /mine\n");

    // The work survives a reload, also a file with bytes that are not text.
    await unfold(page, "assertions-details");
    await page.fill("#assertions", "disallow * /mine");
    await settled(page);
    const body = Buffer.from("User-agent: *\nDisallow: /\xff\n", "latin1");
    const reload = async () => {
        await page.waitForTimeout(700);
        await page.reload();
        await page.waitForFunction(() => document.getElementById("version").textContent !== "");
        await settled(page);
    };
    await reload();
    assert.deepEqual([await robots(), await page.inputValue("#urls"), await page.inputValue("#assertions")], ["User-agent: *\nDisallow: /mine\n", "/mine", "disallow * /mine"]);
    assert.match(await page.textContent("#answer"), /No, Googlebot may not fetch \/mine/);
    await page.setInputFiles("#file", { name: "bytes.txt", mimeType: "text/plain", buffer: body });
    await settled(page);
    await reload();
    assert.match(await page.textContent("#robots-notice"), /bytes\.txt \(27 bytes\) contains bytes/);
    // Also if the address has a damaged link.
    await page.evaluate(() => {
        location.hash = "1.d.00000000.AAAA";
    });
    await page.waitForSelector("#message p.fault");
    await reload();
    assert.match(await page.textContent("#robots-notice"), /bytes\.txt/);
    // A step that comes while a file is read is dropped, and no later state is lost.
    await page.fill("#urls", "/one");
    await settled(page);
    await page.setInputFiles("#file", { name: "robots.txt", mimeType: "text/plain", buffer: Buffer.from("User-agent: *\n") });
    await settled(page);
    await page.fill("#urls", "/mine");
    await settled(page);
    await travel("undo");
    await page.evaluate(() => ["undo", "undo"].forEach((id) => document.getElementById(id).click()));
    await page.waitForSelector("#robots-notice:not([hidden])");
    await settled(page);
    assert.equal(await page.inputValue("#urls"), "/one");
    await travel("redo");
    await travel("redo");
    assert.deepEqual([await robots(), await page.inputValue("#urls")], ["User-agent: *\n", "/mine"]);
    // A larger one does not, and the page says so.
    for (const [extra, isKept] of [[-1, true], [0, true], [1, false]]) {
        const size = (1 << 20) + extra - "/mine".length;
        await page.setInputFiles("#file", { name: "long.txt", mimeType: "text/plain", buffer: Buffer.alloc(size, "# filler\n") });
        await settled(page);
        await page.waitForFunction((expected) => (document.getElementById("kept").textContent === "") === expected, isKept);
        await page.waitForTimeout(700);
        assert.equal(await page.textContent("#kept") === "", isKept, `${size} bytes`);
    }
    await fromMenu(page, "clear");
    await settled(page);
    assert.equal(await robots(), "");
    await travel("undo");
    assert.match(await page.textContent("#robots-notice"), /long\.txt/);
    await page.context().close();
}

export async function run({ browser, root }) {
    const [moves, changes] = await modulesOf(root, (history, align) => [states(history), aligned(align)]);
    await inPage(browser);
    return `${moves} steps equal a list of all states; 5,000 pairs of texts aligned, ${changes} changes; everything in the page is undone, and survives a reload`;
}
