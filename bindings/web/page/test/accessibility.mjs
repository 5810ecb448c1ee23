// axe finds no violation, in every combination of language, colors, width and state.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openExample, settled } from "./browser.mjs";

/** Widths in pixels: at 320, a window of 1,280 px is enlarged to 400 %. */
const WIDTHS = [320, 390, 720, 1440];

export async function run({ browser, modules }) {
    const axe = readFileSync(createRequire(join(modules, "package.json")).resolve("axe-core/axe.min.js"), "utf8");
    const violations = [];
    let [runs, rules] = [0, 0];
    for (const language of ["en", "fa", "tr"]) {
        for (const theme of ["light", "dark"]) {
            const page = await browser.open({ theme, language });
            assert.equal(await page.getAttribute("html", "dir"), language === "fa" ? "rtl" : "ltr");
            // Not as a script element, which the page's policy forbids.
            await page.evaluate(axe);
            for (const state of ["empty", "example"]) {
                if (state === "example") {
                    await openExample(page);
                    await page.click("#compare");
                    await page.evaluate(() => document.querySelectorAll("details:not(#menu)").forEach((part) => (part.open = true)));
                    await page.fill("#crawler", "Googelbot");
                    await page.locator("#crawler").press("Enter");
                    await settled(page);
                    await page.fill("#crawler", "ai");
                }
                for (const width of WIDTHS) {
                    await page.setViewportSize({ width, height: 900 });
                    const [row, line] = await page.evaluate(() => [
                        document.querySelector(".margin div").getBoundingClientRect().height,
                        Number.parseFloat(getComputedStyle(document.getElementById("robots")).lineHeight),
                    ]);
                    assert.equal(row, line, `${language} ${width}: marks do not lie on their lines`);
                    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
                    runs += 1;
                    rules = found.passes.length;
                    violations.push(...found.violations.map(({ id, nodes }) => `${language} ${theme} ${width} ${state}: ${id}: ${nodes.slice(0, 3).map((node) => node.target).join(", ")}`));
                    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
                    assert.ok(overflow <= 0, `${language} ${width}: the page is ${overflow} px too wide`);
                }
            }
            await page.context().close();
        }
    }
    assert.equal(violations.length, 0, `${violations.length} violations\n${violations.join("\n")}`);
    assert.ok(rules > 20, `axe ran only ${rules} rules`);
    return `${runs} runs of axe, ${rules} rules passed in the last one, no violations`;
}
