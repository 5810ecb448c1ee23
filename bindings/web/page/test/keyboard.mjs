// The whole page by keyboard alone: reach every control with Tab, enter a case, read a verdict, apply a fix.
import assert from "node:assert/strict";
import { settled } from "./browser.mjs";

const focused = (page) => page.evaluate(() => {
    const node = document.activeElement;
    return node.id || (node.dataset.url !== undefined ? `cell ${node.dataset.url} ${node.dataset.agent}` : node.className || node.tagName);
});

/** Presses Tab until an element has the focus. Returns the elements on the way. */
async function tabTo(page, id, key = "Tab") {
    const way = [];
    for (let count = 0; count < 60; count += 1) {
        const at = await focused(page);
        if (at === id) {
            return way;
        }
        way.push(at);
        await page.keyboard.press(key);
    }
    throw new Error(`Tab does not reach ${id}: ${way.join(", ")}`);
}

export async function run({ browser }) {
    const page = await browser.open();
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), "skip");
    // The menu opens and closes.
    await tabTo(page, "SUMMARY");
    await page.keyboard.press("Enter");
    for (const id of ["example", "clear", "link", "save", "language", "theme"]) {
        await tabTo(page, id);
    }
    await page.keyboard.press("Escape");
    assert.equal(await focused(page), "SUMMARY");
    const order = ["crawler", "urls", "open", "compare", "robots"];
    for (const id of order) {
        await tabTo(page, id);
    }
    await tabTo(page, "robots", "Shift+Tab");
    await page.keyboard.type("User-agent: *\nDisallow: /cart\nDisallow: /cart\n");
    await tabTo(page, "urls", "Shift+Tab");
    await page.keyboard.type("/cart\n/open");
    await tabTo(page, "crawler", "Shift+Tab");
    await page.keyboard.press("Backspace");
    await page.keyboard.type("googleb");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.textContent('#crawler-options [aria-selected="true"] code'), "Googlebot");
    assert.ok(await page.getAttribute("#crawler", "aria-activedescendant"));
    await page.keyboard.press("Enter");
    await page.keyboard.type("FreeBot");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.deepEqual(await page.$$eval("#chosen code", (codes) => codes.map((code) => code.textContent)), ["Googlebot", "FreeBot"]);
    assert.match(await page.textContent("#status"), /^No, Googlebot may not fetch \/cart\. 4 answers: 2 allowed, 2 disallowed$/);

    await tabTo(page, "cell 0 0");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    assert.equal(await focused(page), "cell 1 1");
    await settled(page);
    assert.match(await page.textContent("#answer"), /Yes, FreeBot may fetch \/open\./);
    await page.keyboard.press("ArrowUp");
    await settled(page);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.closest("section").id), "usage-card", "the table is one stop");
    await tabTo(page, "fix-all", "Shift+Tab");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(await page.inputValue("#robots"), "User-agent: *\nDisallow: /cart\n");
    assert.equal(await focused(page), "robots");

    // Every change is undone and redone.
    await page.keyboard.press("Control+z");
    await settled(page);
    assert.equal(await page.inputValue("#robots"), "User-agent: *\nDisallow: /cart\nDisallow: /cart\n");
    await page.keyboard.press("Control+Shift+z");
    await settled(page);
    assert.equal(await page.inputValue("#robots"), "User-agent: *\nDisallow: /cart\n");

    // Remove a crawler: the focus stays in the list.
    await tabTo(page, "remove", "Shift+Tab");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.deepEqual(await page.$$eval("#chosen code", (codes) => codes.map((code) => code.textContent)), ["Googlebot"]);
    assert.equal(await focused(page), "remove");
    for (const id of ["dialect", "SUMMARY"]) {
        await tabTo(page, id);
    }
    await page.evaluate(() => document.querySelectorAll("details").forEach((part) => (part.open = true)));
    for (const id of ["assertions", "allow-default", "exact", "host"]) {
        await tabTo(page, id);
    }
    await page.context().close();
    return "every control is reached, and a case is entered, read and fixed";
}
