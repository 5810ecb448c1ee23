// Builds the page as one HTML file: joins the modules, checks the texts, and inlines the engine and the style.
//
//     build.mjs PACKAGE FILE
//
// PACKAGE is the folder of the npm package with index.js and reptile.wasm.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { joinModules } from "./join.mjs";
import { readTexts } from "./catalogue.mjs";

const PAGE = dirname(fileURLToPath(import.meta.url));
const [PACKAGE, FILE] = process.argv.slice(2).map((path) => resolve(path));

/** Ends the build with a message. */
function fail(message) {
    console.error(`build: ${message}`);
    process.exit(1);
}

/** Returns a text without lines of comments and without indentation, which no template of the page has. */
function compact(text) {
    return text.split("\n").map((line) => line.trimStart()).filter((line) => !/^(?:\/\/|\/\*\*|\*(?:\s|\/|$))/.test(line)).join("\n");
}

/** Returns text that is safe in a script element: without `</script` and `<!--`. */
function inlineScript(text) {
    return text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

function hashOf(text) {
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Returns every file of the page's scripts and its template, for the check of the texts. */
function sources() {
    const scripts = readdirSync(join(PAGE, "src")).filter((name) => name.endsWith(".js")).map((name) => join(PAGE, "src", name));
    return [join(PAGE, "index.html"), ...scripts].map((path) => readFileSync(path, "utf8")).join("\n");
}

if (!FILE) {
    fail("expected a folder and a file: build.mjs PACKAGE FILE");
}
try {
    const { catalogues, faults } = readTexts(join(PAGE, "texts"), sources());
    if (faults.length > 0) {
        fail(`${faults.length} mistakes in the texts\n${faults.join("\n")}`);
    }
    // A worker from a Blob is a classic script, which has no `import.meta`. The page passes the engine's bytes instead.
    const worker = compact(joinModules(join(PAGE, "src/worker.js"), { engine: join(PACKAGE, "index.js") })
        .replaceAll("import.meta.url", '"about:blank"'));
    const main = compact(joinModules(join(PAGE, "src/main.js"), {}));
    const wasm = gzipSync(readFileSync(join(PACKAGE, "reptile.wasm")), { level: 9 }).toString("base64");
    const style = compact(readFileSync(join(PAGE, "style.css"), "utf8"));
    const data = JSON.stringify({ texts: catalogues, worker, wasm });
    const script = inlineScript(main);
    const policy = [
        "default-src 'none'",
        `script-src ${hashOf(script)} 'wasm-unsafe-eval'`,
        "worker-src blob:",
        `style-src ${hashOf(style)}`,
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ].join("; ");
    const parts = { POLICY: policy, STYLE: style, SCRIPT: script, DATA: data.replaceAll("<", "\\u003c") };
    const html = readFileSync(join(PAGE, "index.html"), "utf8").replace(/\{\{([A-Z]+)\}\}/g, (_, name) => parts[name]);
    mkdirSync(dirname(FILE), { recursive: true });
    writeFileSync(FILE, html);
    console.log(`${FILE}: ${Buffer.byteLength(html)} bytes, ${gzipSync(html, { level: 9 }).length} gzipped, ${Object.keys(catalogues).length} languages`);
} catch (error) {
    fail(error.message);
}
