// The first screen looks as in the pictures of `pictures/`, within a tolerance. With --accept, writes the pictures.
//
// The fonts are DejaVu's on every machine, so that pictures differ only if the page does.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openExample, settled } from "./browser.mjs";

/** Largest share of pixels that may differ. */
const TOLERANCE = 0.005;
/** Largest difference of one pixel's color, from 0 to 1. */
const COLOR_TOLERANCE = 0.15;
const FONTS = ":root { --sans: 'DejaVu Sans', sans-serif; --mono: 'DejaVu Sans Mono', monospace; } * { caret-color: transparent !important; }";
const PICTURES = [
    { width: 390, height: 844, theme: "light", language: "en" },
    { width: 390, height: 844, theme: "dark", language: "fa" },
    { width: 390, height: 844, theme: "light", language: "en", state: "empty" },
    { width: 768, height: 1024, theme: "light", language: "en" },
    { width: 768, height: 1024, theme: "dark", language: "tr" },
    { width: 1440, height: 900, theme: "light", language: "en" },
    { width: 1440, height: 900, theme: "dark", language: "en" },
    { width: 1440, height: 900, theme: "light", language: "fa" },
    { width: 1440, height: 900, theme: "light", language: "en", state: "comparing" },
];

/** Takes one picture of the first screen. */
async function take(browser, { width, height, theme, language, state }) {
    const page = await browser.open({ width, height, theme, language, styled: true });
    await page.addStyleTag({ content: FONTS });
    if (state !== "empty") {
        await openExample(page);
    }
    if (state === "comparing") {
        await page.click("#compare");
        await page.fill("#second", "User-agent: *\nDisallow: /cart\nAllow: /search/help\n");
        await settled(page);
    }
    await page.mouse.move(0, 0);
    await page.evaluate(() => {
        document.activeElement.blur();
        window.scrollTo(0, 0);
    });
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const picture = await page.screenshot();
    await page.context().close();
    return picture;
}

/** Returns a function that compares two pictures: the share of pixels that differ, or 1 for different sizes. */
async function comparison(modules) {
    const require = createRequire(join(modules, "package.json"));
    const { PNG } = require("pngjs");
    const { default: pixelmatch } = await import(pathToFileURL(require.resolve("pixelmatch")).href);
    return (one, two) => {
        const [first, second] = [PNG.sync.read(one), PNG.sync.read(two)];
        if (first.width !== second.width || first.height !== second.height) {
            return 1;
        }
        const differing = pixelmatch(first.data, second.data, null, first.width, first.height, { threshold: COLOR_TOLERANCE });
        return differing / (first.width * first.height);
    };
}

export async function run({ browser, modules, root, accept }) {
    const folder = join(root, "bindings/web/page/test/pictures");
    const rejected = join(root, "target/page-test/pictures");
    const differs = await comparison(modules);
    const nameOf = (picture) => `${Object.values(picture).filter((value) => value !== picture.height).join("-")}.png`;
    mkdirSync(folder, { recursive: true });
    mkdirSync(rejected, { recursive: true });
    const faults = [];
    let [worst, light] = [0, null];
    for (const picture of PICTURES) {
        const name = nameOf(picture);
        const taken = await take(browser, picture);
        if (accept) {
            writeFileSync(join(folder, name), taken);
            continue;
        }
        const share = existsSync(join(folder, name)) ? differs(readFileSync(join(folder, name)), taken) : 1;
        worst = Math.max(worst, share);
        if (share > TOLERANCE) {
            writeFileSync(join(rejected, name), taken);
            faults.push(`${name}: ${(100 * share).toFixed(2)} % of the pixels differ; the new picture is in ${rejected}`);
        }
        // A comparison that accepts everything would show here.
        if (name.startsWith("1440-light-en.")) {
            light = taken;
        } else if (name.startsWith("1440-dark-en.")) {
            assert.ok(differs(light, taken) > 0.5, "light and dark pictures do not differ");
        }
    }
    const names = PICTURES.map(nameOf).sort();
    assert.deepEqual(readdirSync(folder).sort(), names, "pictures that no test takes");
    assert.equal(faults.length, 0, `${faults.join("\n")}\naccept changes with: bindings/web/page/test/run --accept pictures`);
    return accept ? `${names.length} pictures written` : `${names.length} pictures, at most ${(100 * worst).toFixed(2)} % of the pixels differ`;
}
