// Starts Chromium, and opens the page without a network.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];
/** Milliseconds after which a test that waits for the page fails. */
const PATIENCE_MS = 30_000;

/** Returns the browser's path, or `undefined`. */
export function chromium() {
    return CHROMIUM.find((path) => existsSync(path));
}

/** A browser, and everything that its pages reported. */
export class Browser {
    #browser;
    #file;
    /** Console errors, exceptions and requests. The tests expect none. */
    faults = [];

    static async start(modules, file) {
        const browser = new Browser();
        const { chromium: type } = createRequire(join(modules, "package.json"))("playwright-core");
        browser.#browser = await type.launch({ executablePath: chromium(), args: ["--no-sandbox", "--disable-gpu"] });
        browser.#file = file;
        return browser;
    }

    /** Opens the page in a new context. Waits until the engine is ready. `styled` lets a test add styles. */
    async open({ fragment = "", width = 1440, height = 900, theme = "light", language = "en", isReady = true, styled = false } = {}) {
        const context = await this.#browser.newContext({
            viewport: { width, height }, colorScheme: theme, locale: language, acceptDownloads: true, bypassCSP: styled,
        });
        context.setDefaultTimeout(PATIENCE_MS);
        await context.route(/^(?!file:|blob:|data:)/, (route) => {
            this.faults.push(`request: ${route.request().url()}`);
            return route.abort();
        });
        const page = await context.newPage();
        page.on("console", (message) => {
            if (["error", "warning"].includes(message.type())) {
                this.faults.push(`console: ${message.text()}`);
            }
        });
        page.on("pageerror", (error) => this.faults.push(`exception: ${error.stack ?? error.message}`));
        page.on("request", (request) => {
            const url = request.url();
            if (!url.startsWith("blob:") && !url.startsWith("data:") && url.split("#")[0] !== pathToFileURL(this.#file).href) {
                this.faults.push(`request: ${url}`);
            }
        });
        await page.goto(pathToFileURL(this.#file).href + (fragment && `#${fragment}`));
        if (isReady) {
            await page.waitForFunction(() => document.getElementById("version").textContent !== "");
        }
        return page;
    }

    async close() {
        await this.#browser.close();
    }
}

/** Clicks a button of the menu. */
export async function fromMenu(page, id) {
    await page.click("#menu summary");
    await page.click(`#${id}`);
}

/** Opens a folded part of the page. */
export async function unfold(page, id) {
    if (!await page.evaluate((name) => document.getElementById(name).open, id)) {
        await page.click(`#${id} summary`);
    }
}

/** Loads the example, and waits for its verdicts. */
export async function openExample(page) {
    await fromMenu(page, "example");
    await page.waitForSelector("#verdicts td button");
    await settled(page);
}

/** Runs the parts of a test one after the other. Returns their names. */
export async function runParts(page, parts) {
    for (const part of parts) {
        try {
            await part(page);
        } catch (error) {
            error.message = `${part.name}: ${error.message}`;
            throw error;
        }
    }
    return parts.map(({ name }) => name).join(", ");
}

/** Waits until all panels show the answers for the current inputs. */
export async function settled(page) {
    await page.waitForFunction(() => document.documentElement.dataset.busy === undefined);
}

/** Returns the table's verdicts as rows of `{ verdict, line }`. */
export function readTable(page) {
    return page.$$eval("#verdicts tbody tr", (rows) => rows.map((row) => [...row.querySelectorAll("button")].map(({ dataset }) => ({
        verdict: dataset.verdict, line: Number(dataset.line),
    }))));
}
