// Runs the page's tests. See `run` for the arguments.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Browser, chromium } from "./browser.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, "../../../..");
/** Maximum length of a message in characters: errors of the browser may contain a whole file. */
const MAX_MESSAGE = 4000;
/** The tests without a browser. */
const ALONE = ["catalogue", "worker", "findings"];
const TESTS = [...ALONE, "panels", "history", "tasks", "links", "keyboard", "accessibility", "pictures", "hostile", "latency", "suite"];

const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { strict: { type: "boolean" }, page: { type: "string" }, accept: { type: "boolean" } },
});

function notRun(reason) {
    console.log(`NOT RUN: the tests of the page: ${reason}`);
    process.exit(values.strict ? 1 : 0);
}

/** Installs the npm packages in the folder for build products. Returns the folder. */
function installModules() {
    const folder = join(ROOT, "target/page-test");
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(HERE, "package.json"), join(folder, "package.json"));
    if (!["axe-core", "pixelmatch", "playwright-core", "pngjs"].every((name) => existsSync(join(folder, "node_modules", name)))) {
        execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"], { cwd: folder, stdio: "pipe" });
    }
    return folder;
}

const names = positionals.length > 0 ? positionals : TESTS;
const needsBrowser = names.some((name) => !ALONE.includes(name));
if (needsBrowser && !chromium()) {
    notRun("no Chromium in /usr/bin (apt-get install chromium)");
}
let modules;
try {
    modules = needsBrowser ? installModules() : null;
} catch (error) {
    notRun(`npm cannot install the packages: ${String(error.stderr ?? error.message).trim().split("\n")[0]}`);
}

const file = resolve(values.page ?? join(ROOT, "target/page/robots.html"));
if (!values.page) {
    execFileSync(join(HERE, "../build"), [file], { stdio: "inherit" });
}

const browser = needsBrowser ? await Browser.start(modules, file) : null;
let failures = 0;
for (const name of names) {
    const start = Date.now();
    try {
        const { run } = await import(`./${name}.mjs`);
        const result = await run({ browser, modules, file, root: ROOT, accept: values.accept });
        if (browser?.faults.length > 0) {
            throw new Error(`the page reported ${browser.faults.length} errors or requests\n${browser.faults.slice(0, 10).join("\n")}`);
        }
        console.log(`ok ${name} (${((Date.now() - start) / 1000).toFixed(1)} s): ${result}`);
    } catch (error) {
        failures += 1;
        console.log(`FAILED ${name}: ${String(error.stack ?? error.message).slice(0, MAX_MESSAGE)}`);
    }
    browser?.faults.splice(0);
}
await browser?.close();
process.exit(failures === 0 ? 0 : 1);
