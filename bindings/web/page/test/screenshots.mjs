// Takes pictures of the example for visual inspection, and writes them to a folder.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openExample, settled } from "./browser.mjs";

const PICTURES = [
    { width: 390, theme: "light", language: "en" },
    { width: 390, theme: "dark", language: "fa" },
    { width: 768, theme: "light", language: "en" },
    { width: 768, theme: "dark", language: "en" },
    { width: 1440, theme: "light", language: "en" },
    { width: 1440, theme: "dark", language: "en" },
    { width: 1440, theme: "light", language: "fa" },
    { width: 1440, theme: "light", language: "en", comparing: true },
    { width: 1440, theme: "light", language: "en", empty: true },
];

export async function run({ browser, screenshots }) {
    mkdirSync(screenshots, { recursive: true });
    for (const { width, theme, language, comparing, empty } of PICTURES) {
        const page = await browser.open({ width, theme, language });
        if (!empty) {
            await openExample(page);
        }
        if (comparing) {
            await page.click("#compare");
            await page.fill("#second", "User-agent: *\nDisallow: /cart\nAllow: /search/help\n");
            await settled(page);
        }
        await page.mouse.move(0, 0);
        const name = [width, theme, language, comparing && "comparing", empty && "empty"].filter(Boolean).join("-");
        await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
        await page.context().close();
    }
    return `${PICTURES.length} pictures in ${screenshots}`;
}
