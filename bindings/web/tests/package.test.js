// Tests of the packed npm package, as its users get it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import * as reptile from "reptile-robots";

const { Robots, ReptileError, Set: RobotsSet, load, loadSync } = reptile;
const { CORPORA, GOLDEN, PACKED, REPTILE, SHARED } = process.env;

/** Maximum size in bytes of the package with each file gzipped, and of what a browser fetches, with Brotli. */
const [MAX_PACKAGE_BYTES, MAX_BROTLI_BYTES] = [400_000, 300_000];
/** Numbers of cases in `corpora`. They reveal a loader that skips cases. */
const SUITE_CASES = 314;
const SUITE_CHECKS = 959;
/** Number of checks whose text is neither a URL nor a path, and of those that begin with two slashes. */
const [SUITE_INVALID, SUITE_DOUBLE] = [31, 5];
const [CALL_URLS, CALL_REFUSED, CALL_ACCEPTED] = [66, 25, 36];
const USAGE_CASES = 35;
const SIGNAL_CASES = 7;
/** Maximum time of one call for a hostile file, in ms. Twenty times its duration on a busy machine. */
const MAX_CALL_MS = 20_000;

const REAL = join(SHARED, "corpora/real/robots.tar.gz");
const cases = JSON.parse(readFileSync("cases.json", "utf8"));
const wasm = readFileSync("node_modules/reptile-robots/reptile.wasm");
const robots = (body, dialect) => Robots.parse(body, dialect === undefined ? {} : { dialect });
const fails = (call, code, words = /./) =>
    assert.throws(call, (error) => {
        assert.ok(error instanceof ReptileError, String(error));
        assert.equal(error.name, "ReptileError");
        assert.equal(error.code, code, error.message);
        assert.match(error.message, words);
        return true;
    });

test("no call works before the engine is loaded, and loading twice is harmless", async () => {
    fails(() => robots("user-agent: *"), "load", /await load/);
    fails(() => reptile.dialects(), "load");
    await assert.rejects(load(new Uint8Array([1, 2, 3])), { code: "load" });
    fails(() => loadSync(new Uint8Array(8)), "load");
    // A different module is refused.
    fails(() => loadSync(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])), "load", /not Reptile/);
    await Promise.all([load(), load()]);
    await load();
    loadSync(wasm);
    assert.equal(robots("user-agent: *\ndisallow: /a").decide("AnyBot", "/a").verdict, "disallow");
});

test("the package has everything, and is small", () => {
    const listed = execFileSync("tar", ["-tzf", PACKED], { encoding: "utf8" }).trim().split("\n").sort();
    const names = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "index.d.ts", "index.js", "package.json", "reptile.wasm"];
    assert.deepEqual(listed.map((name) => name.replace("package/", "")).sort(), names);
    const folder = "node_modules/reptile-robots";
    const files = names.map((name) => readFileSync(join(folder, name)));
    const gzip = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
    const fetched = ["index.js", "reptile.wasm"].map((name) => readFileSync(join(folder, name)));
    const brotli = fetched.reduce((sum, file) => sum + brotliCompressSync(file).length, 0);
    console.log(`the package: ${gzip} bytes gzipped; a browser fetches ${brotli} with Brotli; reptile.wasm has ${wasm.length}`);
    assert.ok(gzip <= MAX_PACKAGE_BYTES, `${gzip} bytes gzipped`);
    assert.ok(brotli <= MAX_BROTLI_BYTES, `${brotli} bytes with Brotli`);
    assert.ok(statSync(PACKED).size <= MAX_PACKAGE_BYTES);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    assert.equal(version, reptile.VERSION);
});

test("the module imports nothing", () => {
    assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(wasm)), []);
});

test("every case of the conformance suite", () => {
    assert.equal(cases.suite.length, SUITE_CASES);
    let [checks, invalid, double] = [0, 0, 0];
    for (const { name, dialect, body, checks: all } of cases.suite) {
        using(robots(Buffer.from(body, "base64"), dialect), (file) => {
            for (const { agent, url, verdict, line } of all) {
                const found = decided(file, agent, url);
                invalid += verdict === "invalid" ? 1 : 0;
                double += verdict === null ? 1 : 0;
                assert.equal(found.verdict, verdict ?? found.verdict, `${name}: ${agent} ${url.slice(0, 100)}`);
                if (line !== undefined && line !== null) {
                    assert.equal(found.line, line, `${name}: ${agent} ${url.slice(0, 100)}`);
                }
                checks += 1;
            }
        });
    }
    assert.deepEqual([checks, invalid, double], [SUITE_CHECKS, SUITE_INVALID, SUITE_DOUBLE]);
});

test("a text is a URL, a path or invalid", () => {
    const { body, url: urls } = cases.calls;
    assert.equal(urls.length, CALL_URLS);
    const file = robots(body);
    const texts = urls.map(({ text, bytes = 0 }) => text.padEnd(bytes, "a"));
    const all = file.decideAll("GPTBot", texts);
    urls.forEach(({ verdict }, at) => {
        const found = decided(file, "GPTBot", texts[at]);
        assert.equal(found.verdict, verdict, texts[at].slice(0, 100));
        assert.equal(all.verdict(at, 0), verdict, texts[at].slice(0, 100));
        if (verdict === "invalid") {
            const reason = Buffer.byteLength(texts[at]) > reptile.MAX_URL_BYTES ? "URL over 64 KiB" : "no URL";
            assert.deepEqual([found.line, found.reason], [0, reason]);
            assert.deepEqual(file.matchingRules("GPTBot", texts[at]), []);
            const { why, path, bestAllow, bestDisallow } = file.explain("GPTBot", texts[at]);
            assert.deepEqual([why, path, bestAllow, bestDisallow], ["no-url", "", null, null]);
            assert.ok(file.acrossDialects("GPTBot", texts[at]).every((answer) => answer.verdict === "invalid"));
            assert.ok(file.usage("GPTBot", texts[at]).every(({ value }) => value === "unknown"));
        }
    });
});

test("a URL, a path or a file name instead of the file is an error", () => {
    const { refused, accepted } = cases.calls;
    assert.deepEqual([refused.length, accepted.length], [CALL_REFUSED, CALL_ACCEPTED]);
    for (const body of refused) {
        fails(() => robots(body), "argument", /expected the text of a robots\.txt/);
        fails(() => robots(new TextEncoder().encode(body)), "argument");
    }
    for (const body of accepted) {
        using(robots(body), (file) => assert.notEqual(file.decide("GPTBot", "/x").verdict, "invalid"));
    }
});

/** Decides for a name that need not be a crawler's, and checks that all functions agree. */
function decided(file, agent, url) {
    // The suite uses a name of one product token literally.
    let options = reptile.crawlers().some(isPlain(agent)) ? { verbatim: true } : undefined;
    try {
        file.decide(agent, url, options);
    } catch (error) {
        assert.equal(error.code, "crawler");
        options = { verbatim: true };
    }
    const found = file.decide(agent, url, options);
    const all = file.decideAll(agent, [url], options);
    assert.deepEqual([all.verdict(0, 0), all.line(0, 0)], [found.verdict, found.line]);
    const explained = file.explain(agent, url, options);
    assert.deepEqual([explained.verdict, explained.line, explained.reason], [found.verdict, found.line, found.reason]);
    const across = file.acrossDialects(agent, url, { verbatim: true });
    assert.equal(across.length, reptile.dialects().length);
    return found;
}

/** Returns whether a known crawler obeys only its own name and `*`. */
function isPlain(agent) {
    return ({ name, tokens, honorsDefaultGroup }) => name === agent && honorsDefaultGroup && tokens.length === 1 && tokens[0] === name;
}

function using(held, work) {
    try {
        return work(held);
    } finally {
        held.free();
    }
}

test("every case about usage", () => {
    const { usage, signals } = cases.usage;
    assert.deepEqual([usage.length, signals.length], [USAGE_CASES, SIGNAL_CASES]);
    for (const [all, isSignal] of [[usage, false], [signals, true]]) {
        for (const { name, body, agent, path, train, search } of all) {
            const train_label = isSignal ? "ai-train" : "train-ai";
            const options = { vocabulary: "any", categories: [train_label, "search"], lines: isSignal ? "signals" : "usage" };
            const found = robots(body).usage(agent, path, options);
            assert.deepEqual(found.map(({ value }) => value), [train, search], name);
        }
    }
});

test("explanations", () => {
    const file = robots("User-agent: *\nDisallow: /private # closed\nAllow: /private/press\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n");
    const explained = file.explain("Bingbot", "https://example.com/private/press/1");
    assert.deepEqual(explained, {
        agent: "Bingbot",
        dialect: "google",
        verdict: "allow",
        line: 3,
        reason: "rule",
        why: "longer",
        group: { agents: ["*"], lines: [1], sentence: "line 1: for *, since no group names Bingbot" },
        chosenBy: "default-group",
        token: null,
        path: "/private/press/1",
        bestAllow: { line: 3, text: "Allow: /private/press", pattern: "/private/press", octets: 14 },
        bestDisallow: { line: 2, text: "Disallow: /private # closed", pattern: "/private", octets: 8 },
        sentence: "the Allow is longer: 14 octets against 8",
    });
    const named = file.explain("CCBot", "/x");
    assert.deepEqual([named.chosenBy, named.token, named.group.agents, named.group.lines], ["token", "CCBot", ["CCBot"], [6]]);
    assert.equal(named.sentence, "no Allow matches");
    assert.deepEqual(file.groups.map(({ agents, lines, rules }) => [agents, lines, rules.map(({ line }) => line)]), [
        [["*"], [1], [2, 3]],
        [["GPTBot", "CCBot"], [5, 6], [7]],
    ]);
    assert.deepEqual(file.matchingRules("Bingbot", "/private/press"), [
        { line: 3, kind: "allow", pattern: "/private/press" },
        { line: 2, kind: "disallow", pattern: "/private" },
    ]);
});

test("other lines and diagnostics", () => {
    const file = robots("Sitemap: https://example.com/a.xml\nuser-agent: *\ndisalow: /x\ncrawl-delay: 2.5\nnonsense\n", "yandex-2017");
    assert.deepEqual(file.sitemaps, ["https://example.com/a.xml"]);
    assert.equal(file.crawlDelay("Bingbot"), 2.5);
    assert.equal(robots("user-agent: *").crawlDelay("Bingbot"), null);
    assert.ok(file.diagnostics.some(({ line, message }) => line === 5 && message.length > 0), JSON.stringify(file.diagnostics));
    assert.deepEqual(file.directives[0], { line: 1, kind: "sitemap", key: "", value: "https://example.com/a.xml", state: "counts" });
});

test("names, URLs and options that are wrong are never allowed", () => {
    const file = robots("user-agent: Googlebot\nallow: /\n");
    for (const name of ["", "Googlebot,Bingbot", "Mozilla/5.0 (compatible; Googlebot/2.1)", "a b", "Gptbott", "A>>B"]) {
        fails(() => file.decide(name, "/"), "crawler");
        fails(() => file.decideAll([name], ["/"]), "crawler");
        fails(() => file.explain(name, "/"), "crawler");
        fails(() => file.acrossDialects(name, "/"), "crawler");
    }
    assert.throws(() => file.decide("Bingbott", "/"), { code: "crawler", suggestion: "bingbot" });
    assert.equal(file.decide("Bingbott", "/", { exact: true }).verdict, "allow");
    fails(() => file.decideAll(["@nobody"], ["/"]), "group");
    fails(() => file.decide("@search", "/"), "crawler", /group of crawlers/);
    fails(() => robots("", "googol"), "dialect", /google/);
    fails(() => file.usage("Bingbot", "/", { vocabulary: "aipref-99" }), "vocabulary");
    fails(() => file.usage("Bingbot", "/", { categories: ["nothing"] }), "category");
    fails(() => file.usage("Bingbot", "/", { vocabulary: "any" }), "category");
    fails(() => file.lint({ enable: ["nothing"] }), "code");
    fails(() => file.lint({ severity: "grave" }), "argument");
    for (const call of [
        () => file.decide(null, "/"),
        () => file.decide("Bingbot", undefined),
        () => file.decide("Bingbot", new URL("https://example.com/")),
        () => file.decideAll("Bingbot", "/"),
        () => file.decideAll("Bingbot", [1]),
        () => Robots.parse(7),
        () => new Robots(),
        () => new RobotsSet("web"),
        () => file.compare({}, "Bingbot"),
        () => file.fix({ lines: [] }),
    ]) {
        fails(call, "argument");
    }
});

test("unknown options are errors that name the known ones", () => {
    const file = robots("user-agent: Bingbot\ndisallow: /a");
    const web = new RobotsSet(readFileSync(join(GOLDEN, "google.set")));
    const agent = "exact, verbatim";
    const usage = `${agent}, categories, vocabulary, lines`;
    const calls = [
        [(options) => Robots.parse("", options), "dialect"],
        [(options) => file.decide("Bingbot", "/", options), agent],
        [(options) => file.decideAll("Bingbot", ["/"], options), `${agent}, lines`],
        [(options) => file.explain("Bingbot", "/", options), agent],
        [(options) => file.matchingRules("Bingbot", "/", options), agent],
        [(options) => file.acrossDialects("Bingbot", "/", options), agent],
        [(options) => file.crawlDelay("Bingbot", options), agent],
        [(options) => file.lint(options), "host, enable, severity"],
        [(options) => file.fix(options), "host, severity, codes, lines"],
        [(options) => file.prove("allow Bingbot /b", options), "allowDefault"],
        [(options) => file.usage("Bingbot", "/", options), usage],
        [(options) => file.compare(file, "Bingbot", options), agent],
        [(options) => web.decide("Bingbot", "https://a.example/", options), agent],
        [(options) => web.decide(["Bingbot"], "https://a.example/", options), agent],
        [(options) => web.decideAll("Bingbot", ["https://a.example/"], options), `${agent}, lines`],
        [(options) => web.explain("Bingbot", "https://a.example/", options), agent],
        [(options) => web.usage("Bingbot", "https://a.example/", options), usage],
    ];
    for (const [call, known] of calls) {
        // An option counts even if it is undefined, or if the same crawler has been decided before.
        for (const value of [true, undefined]) {
            fails(() => call({ exakt: value }), "argument", new RegExp(`unknown option "exakt"; expected ${known}$`));
        }
        for (const [options, found] of [[null, "null"], [[], "an array"], [true, "boolean"], ["exact", "string"]]) {
            fails(() => call(options), "argument", new RegExp(`must be an object, found ${found}`));
        }
        call({});
        call(undefined);
    }
    assert.equal(calls.length, 17);
});

test("limits", () => {
    const { MAX_BODY_BYTES, MAX_URL_BYTES, MAX_AGENTS, MAX_VERDICTS, MAX_SET_BYTES, MAX_ASSERTIONS } = reptile;
    for (const size of [MAX_BODY_BYTES - 1, MAX_BODY_BYTES]) {
        using(robots(new Uint8Array(size).fill(35)), (file) => assert.equal(file.decide("Bingbot", "/").verdict, "allow"));
    }
    fails(() => robots(new Uint8Array(MAX_BODY_BYTES + 1)), "limit", /16777217 bytes; at most 16777216/);
    fails(() => robots("é".repeat(MAX_BODY_BYTES / 2) + "#"), "limit");
    const file = robots("user-agent: *\ndisallow: /\n");
    for (const [size, verdict] of [[MAX_URL_BYTES - 1, "disallow"], [MAX_URL_BYTES, "disallow"], [MAX_URL_BYTES + 1, "invalid"]]) {
        const url = `https://example.com/${"a".repeat(size - 20)}`;
        const explained = file.explain("Bingbot", url);
        assert.deepEqual([file.decide("Bingbot", url).verdict, explained.verdict], [verdict, verdict], String(size));
        assert.equal(file.decideAll("Bingbot", [url]).verdict(0, 0), verdict);
    }
    assert.equal(file.decide("Bingbot", "https://example.com/" + "a".repeat(MAX_URL_BYTES)).reason, "URL over 64 KiB");
    const names = Array.from({ length: MAX_AGENTS }, (_, index) => `Bot${"abcdefghij"[index % 10]}${"abcdefghij"[Math.floor(index / 10) % 10]}${"abcdefghij"[Math.floor(index / 100)]}`);
    for (const count of [MAX_AGENTS - 1, MAX_AGENTS]) {
        assert.equal(file.decideAll(names.slice(0, count), ["/"], { exact: true }).agents.length, count);
    }
    fails(() => file.decideAll([...names, "OneMore"], ["/"], { exact: true }), "limit");
    const urls = new Array(MAX_VERDICTS / MAX_AGENTS).fill("/a");
    const all = file.decideAll(names, urls, { exact: true, lines: false });
    assert.deepEqual([all.verdicts.length, all.verdict(urls.length - 1, MAX_AGENTS - 1)], [MAX_VERDICTS, "disallow"]);
    fails(() => file.decideAll(names, [...urls, "/a"], { exact: true }), "limit");
    fails(() => new RobotsSet(new Uint8Array(MAX_SET_BYTES + 1)), "limit");
    fails(() => file.prove("disallow * /\n".repeat(MAX_ASSERTIONS + 1)), "assertions");
    assert.equal(file.prove("disallow * /\n".repeat(MAX_ASSERTIONS)).length, MAX_ASSERTIONS);
});

test("findings and fixes", () => {
    const body = "User-agent: *\r\nDisalow: /a # why\r\nDisallow: /b\r\nDisallow: /b/c\r\nAllow /d\r\n";
    const file = robots(body);
    const found = file.lint();
    assert.ok(found.length >= 3, JSON.stringify(found));
    const fixed = file.fix();
    assert.notEqual(fixed, body);
    assert.deepEqual(robots(fixed).lint().filter(({ fix }) => fix?.isApplied), []);
    // Only lines that change nothing are removed. The misspelled key closes a page in some dialects only, so it stays.
    assert.equal(fixed, body.replace("Disallow: /b/c\r\nAllow /d\r\n", ""));
    // Each edit by itself gives the same text as fixing its line.
    for (const { line, fix } of found.filter(({ fix }) => fix?.isApplied)) {
        const lines = body.split("\r\n");
        lines.splice(fix.edit.from - 1, 1, ...(fix.edit.text === null ? [] : fix.edit.text.split("\n")));
        assert.equal(file.fix({ lines: [line] }), lines.join("\r\n"), `line ${line}`);
    }
    const [{ code }] = found.filter(({ fix }) => fix?.isApplied);
    assert.notEqual(file.fix({ codes: [code] }), body);
    assert.deepEqual(file.lint({ severity: "error" }), found.filter(({ severity }) => severity === "error"));
    withheld();
    const known = file.lint().find(({ fix }) => fix?.keepsVerdicts);
    assert.equal(file.compare(robots(file.fix({ lines: [known.line] })), "Bingbot").relation, "equal");
});

/** Findings of kinds that are off by default are counted, unless they are enabled or too minor. */
function withheld() {
    const closed = "User-agent: *\nDisallow: /old\n";
    const open = (name) => `\nUser-agent: ${name}\nAllow: /\n`;
    const code = "group-opens-on-purpose";
    const rows = [
        [closed, {}, 0, {}],
        [closed.replace("old", "admin") + open("GPTBot"), {}, 1, {}],
        [closed + open("GPTBot"), {}, 0, { [code]: 1 }],
        [closed + open("GPTBot") + open("CCBot"), {}, 0, { [code]: 2 }],
        [closed + open("GPTBot") + open("CCBot"), { enable: [code] }, 2, {}],
        [closed + open("GPTBot"), { enable: ["html"] }, 0, { [code]: 1 }],
        [closed + open("GPTBot"), { severity: "warning" }, 0, {}],
        [closed + "Disallow: y\n" + open("GPTBot"), {}, 1, { [code]: 1 }],
    ];
    for (const [body, options, count, expected] of rows) {
        const found = robots(body).lint(options);
        assert.ok(Array.isArray(found));
        assert.deepEqual([found.length, found.withheld], [count, expected], body);
    }
}

test("assertions and comparisons", () => {
    const file = robots("user-agent: *\ndisallow: /cart\n\nuser-agent: GPTBot\ndisallow: /images");
    const [first, second, third] = file.prove("disallow GPTBot /images/*\nGPTBot <= *\nsame CCBot Bingbot");
    assert.deepEqual([first.text, first.holds, first.proof], ["disallow GPTBot /images/*", true, "holds"]);
    assert.deepEqual([second.holds, second.counterexample.path, second.line], [false, "/cart", 2]);
    assert.deepEqual(second.counterexample.decisions.map(({ verdict, line }) => [verdict, line]), [["allow", 0], ["disallow", 2]]);
    assert.deepEqual([third.proof, third.missing, third.holds], ["no-group", "CCBot", false]);
    assert.equal(file.prove("same CCBot Bingbot", { allowDefault: true })[0].holds, true);
    assert.throws(() => file.prove("deny x\n\nallow GPTBot private"), (error) => {
        assert.deepEqual([error.code, error.mistakes.map(({ line }) => line)], ["assertions", [1, 3]]);
        return true;
    });
    const relation = (a, b) => robots(`user-agent: *\n${a}`).compare(robots(`user-agent: *\n${b}`), "AnyBot");
    assert.deepEqual(relation("disallow: /a", "disallow: /a*"), { relation: "equal", isComplete: true, counterexamples: [] });
    assert.equal(relation("disallow: /a", "disallow: /a/").relation, "narrower");
    const wider = relation("disallow: /a/", "disallow: /a");
    assert.deepEqual([wider.relation, wider.counterexamples], [
        "wider",
        [{ url: "/a", verdicts: ["allow", "disallow"], lines: [0, 2] }],
    ]);
    const both = relation("disallow: /a", "disallow: /b");
    assert.deepEqual([both.relation, both.counterexamples.length], ["different", 2]);
});

test("usage, dialects, crawlers", () => {
    const file = robots("User-Agent: *\nContent-Usage: train-ai=n\nContent-Usage: /ok/ train-ai=y\nDisallow: /never\n");
    const value = (url) => file.usage("AnyBot", url, { categories: ["train-ai"] })[0];
    assert.deepEqual(value("/x"), { category: "train-ai", value: "disallowed", lines: [2] });
    assert.deepEqual(value("/ok/1"), { category: "train-ai", value: "allowed", lines: [3] });
    assert.equal(value("/never").value, "not-applicable");
    assert.deepEqual(file.usage("AnyBot", "/x").map(({ category }) => category).sort(),
        [...reptile.vocabularies().find(({ isDefault }) => isDefault).categories].sort());
    assert.deepEqual(reptile.dialects().filter(({ isDefault }) => isDefault).map(({ name }) => name), ["google"]);
    assert.equal(reptile.dialects().length, 9);
    assert.deepEqual(reptile.crawlers().find(({ name }) => name === "Googlebot-News").tokens, ["Googlebot-News", "Googlebot"]);
    const training = reptile.groups().find(({ name }) => name === "@ai-training").crawlers;
    assert.ok(training.includes("GPTBot"));
    const all = file.decideAll(["@ai-training", "*"], ["/x", "/never"]);
    assert.deepEqual([...all.agents].sort(), [...training, "*"].sort());
    assert.equal(all.verdicts.length, 2 * all.agents.length);
    const across = robots("user-agent: *\nallow: /a\ndisallow: /a/b\n").acrossDialects("AnyBot", "/a/b");
    assert.deepEqual(Object.fromEntries(across.map(({ dialect, verdict }) => [dialect, verdict]))["koster-1996"], "allow");
    assert.deepEqual(across.find(({ dialect }) => dialect === "google"), { dialect: "google", verdict: "disallow", line: 3, reason: "rule" });
});

test("an object cannot be used after it is freed", () => {
    const file = robots("user-agent: *");
    file.free();
    file.free();
    const other = robots("user-agent: *\ndisallow: /");
    for (const call of [
        () => file.decide("Bingbot", "/"),
        () => file.groups,
        () => file.lint(),
        () => file.fix(),
        () => file.decideAll("Bingbot", ["/"]),
        () => file.acrossDialects("Bingbot", "/"),
        () => file.compare(other, "Bingbot"),
        () => other.compare(file, "Bingbot"),
    ]) {
        fails(call, "freed");
    }
    const disposed = robots("");
    disposed[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
    fails(() => disposed.decide("Bingbot", "/"), "freed");
});

/** Number of files that are read and freed. */
const FREED_FILES = 100_000;
/** Maximum growth of memory in bytes meanwhile. */
const MAX_GROWTH_BYTES = 1 << 20;

test("memory stays the same, with and without free", async () => {
    const memory = await memoryOf();
    const body = "user-agent: *\ndisallow: /a\nallow: /a/b*c\nsitemap: https://example.com/s.xml\n".repeat(20);
    const work = () => {
        const file = robots(body);
        file.decide("Bingbot", "/a");
        file.lint.call(file, {});
        return file;
    };
    for (let count = 0; count < 100; count += 1) {
        work().free();
    }
    const before = memory();
    for (let count = 0; count < FREED_FILES; count += 1) {
        const file = robots(body);
        file.decide("Bingbot", "/a");
        file.free();
    }
    assert.ok(memory() - before <= MAX_GROWTH_BYTES, `${memory() - before} bytes`);
    // The collector frees the objects that the caller does not.
    for (let round = 0; round < 20; round += 1) {
        for (let count = 0; count < 500; count += 1) {
            robots(body);
        }
        globalThis.gc();
        await new Promise((done) => setTimeout(done, 5));
    }
    const forgotten = memory() - before;
    assert.ok(forgotten <= 64 * MAX_GROWTH_BYTES, `${forgotten} bytes`);
});

/** Returns a function that measures all WebAssembly memory in this process. */
async function memoryOf() {
    return () => process.memoryUsage().external + process.memoryUsage().arrayBuffers;
}

test("cached crawlers are bounded", () => {
    const file = robots("user-agent: *\ndisallow: /a");
    for (let round = 0; round < 2; round += 1) {
        for (let index = 0; index < 600; index += 1) {
            assert.equal(file.decide(`Crawler${"x".repeat(index)}`, "/a").verdict, "disallow");
        }
    }
});

test("hostile files end in bounded time", () => {
    const group = "user-agent: *\n";
    const families = {
        wildcards: group + Array.from({ length: 2000 }, (_, index) => `disallow: /*a*b*${index}*c`).join("\n"),
        nested: group + Array.from({ length: 3000 }, (_, index) => `allow: /${"a".repeat(index)}*`).join("\n"),
        stars: `${group}disallow: /${"*a".repeat(8000)}\n`,
        agents: Array.from({ length: 50_000 }, (_, index) => `user-agent: b${index}`).join("\n") + "\ndisallow: /",
        groups: Array.from({ length: 20_000 }, (_, index) => `user-agent: b${index}\ndisallow: /${index}`).join("\n"),
        lines: "\n".repeat(1 << 20),
        bytes: new Uint8Array(1 << 20).map((_, index) => (index * 7919) >> 3),
    };
    for (const [name, body] of Object.entries(families)) {
        let file;
        const timed = (what, call) => {
            const start = performance.now();
            const found = call();
            assert.ok(performance.now() - start <= MAX_CALL_MS, `${name}: ${what}`);
            return found;
        };
        try {
            file = timed("parse", () => robots(body));
        } catch (error) {
            assert.equal(error.code, "steps", name);
            continue;
        }
        const url = `/${"ab".repeat(30_000)}`;
        timed("decide", () => file.decide("Bingbot", url));
        timed("explain", () => file.explain("Bingbot", url));
        timed("lint", () => file.lint());
        timed("parts", () => file.groups);
        timed("compare", () => file.compare(file, "Bingbot"));
        file.free();
    }
});

test("sets", { skip: !REPTILE && "NOT run: REPTILE is not set" }, () => {
    const room = mkdtempSync(join(tmpdir(), "reptile-web-"));
    try {
        execFileSync(REPTILE, ["compile", join(CORPORA, "robots"), "-o", join(room, "web.rpt")], { stdio: "pipe" });
        const bytes = readFileSync(join(room, "web.rpt"));
        const web = new RobotsSet(new Uint8Array(bytes));
        assert.equal(web.dialect, "google");
        assert.ok(web.length > 0 && web.hasLines && web.crawlers.includes("GPTBot"));
        web.verify();
        const agents = ["GPTBot", "CCBot", "Googlebot"];
        const urls = readFileSync(join(CORPORA, "urls/sample.txt"), "utf8").trim().split("\n");
        const all = web.decideAll(agents, urls);
        writeFileSync(join(room, "urls.txt"), `${urls.join("\n")}\n`);
        const args = ["classify", join(room, "web.rpt"), join(room, "urls.txt"), "--format", "jsonl", "--columns", "verdict,line", ...agents.flatMap((agent) => ["--agent", agent])];
        const rows = execFileSync(REPTILE, args, { encoding: "utf8", stdio: "pipe" }).trim().split("\n").map((row) => JSON.parse(row));
        assert.equal(rows.length, urls.length);
        rows.forEach((row, url) => {
            agents.forEach((agent, index) => {
                assert.equal(all.verdict(url, index), row[`${agent}:verdict`], `${urls[url]} ${agent}`);
                assert.equal(all.line(url, index), row[`${agent}:line`] ?? 0, `${urls[url]} ${agent}`);
                assert.equal(web.explain(agent, urls[url]).verdict, row[`${agent}:verdict`]);
            });
            assert.deepEqual(web.decide(agents, urls[url]).map(({ verdict }) => verdict), agents.map((agent) => row[`${agent}:verdict`]));
        });
        assert.equal(web.decide("GPTBot", "https://nowhere.invalid/").verdict, "unknown");
        assert.equal(web.decide("GPTBot", "no URL").verdict, "invalid");
        assert.equal(web.sitemaps("https://nowhere.invalid/"), null);
        assert.equal(web.usage("GPTBot", urls[0], { categories: ["train-ai"] }).length, 1);
        // Damage never changes a verdict: the set is refused, or each answer is an error or unchanged.
        let refused = 0;
        for (let round = 0; round < 300; round += 1) {
            const damaged = new Uint8Array(bytes);
            damaged[(round * 7919) % damaged.length] ^= 1 << round % 8;
            try {
                new RobotsSet(damaged).verify();
            } catch (error) {
                assert.equal(error.code, "format", error.message);
                refused += 1;
            }
        }
        assert.ok(refused >= 250, `${refused} of 300`);
        for (const length of [0, 1, 100, bytes.length - 1]) {
            fails(() => new RobotsSet(bytes.subarray(0, length)).verify(), "format");
        }
        web.free();
        fails(() => web.decide("GPTBot", urls[0]), "freed");
    } finally {
        rmSync(room, { recursive: true });
    }
});

test("golden sets, and hosts beyond ASCII", () => {
    const web = new RobotsSet(readFileSync(join(GOLDEN, "google.set")));
    const rows = readFileSync(join(GOLDEN, "google.tsv"), "utf8").trimEnd().split("\n").map((row) => row.split("\t"));
    assert.ok(rows.length > 100);
    for (const [agent, , url, verdict, line, , reason] of rows.filter(([, , url]) => !url.includes("\\"))) {
        assert.deepEqual(web.decide(agent, url), { verdict, line: Number(line || 0), reason }, url);
    }
    const known = web.decide("GPTBot", "https://xn--bcher-kva.example/ä?b#c");
    assert.notEqual(known.verdict, "unknown");
    for (const url of ["https://bücher.example/ä?b#c", "HTTPS://Bücher.example:443/ä?b#c", "https://me@bücher.example/ä?b#c"]) {
        assert.deepEqual(web.decide("GPTBot", url), known, url);
        assert.equal(web.decideAll("GPTBot", [url]).verdict(0, 0), known.verdict, url);
        assert.deepEqual(web.sitemaps(url), web.sitemaps("https://xn--bcher-kva.example/"));
    }
    assert.equal(web.decide("GPTBot", "https://b\u00fc\u2028cher.example/").verdict === "allow", false);
    // Only the host counts: neither a name before `@` nor a path.
    assert.equal(web.decide("GPTBot", "https://bücher.example@nowhere.invalid/").verdict, "unknown");
    assert.equal(web.decide("GPTBot", "https://nowhere.invalid\\@bücher.example/").verdict === "allow", false);
});

test("bytes that are not a set", () => {
    fails(() => new RobotsSet(new Uint8Array(10_000)), "format");
    fails(() => new RobotsSet(new ArrayBuffer(0)), "format");
});

/** Numbers of real files, and of URLs for each, that are compared with the command. */
const REAL_FILES = 40;
const REAL_URLS = 50;

test("real files decide as in the command", { skip: (!REPTILE || !existsSync(REAL)) && "NOT run: no REPTILE, or no real files" }, (context) => {
    const room = mkdtempSync(join(tmpdir(), "reptile-web-"));
    context.after(() => rmSync(room, { recursive: true }));
    // The command refuses web pages.
    const isText = (path) => /^\s*user-agent\s*:/im.test(readFileSync(path, "latin1")) && !/^\s*</.test(readFileSync(path, "latin1"));
    const files = realFiles(REAL, 3 * REAL_FILES, room).filter(isText).slice(0, REAL_FILES);
    assert.equal(files.length, REAL_FILES);
    let compared = 0;
    let seed = 1;
    const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
    for (const path of files) {
        const body = readFileSync(path);
        const dialect = reptile.dialects()[random(9)].name;
        using(robots(body, dialect), (file) => {
            const patterns = file.groups.flatMap(({ rules }) => rules.map(({ pattern }) => pattern)).filter((pattern) => /^[!-~]+$/.test(pattern));
            const urls = Array.from({ length: REAL_URLS }, (_, index) => {
                const pattern = patterns[random(Math.max(patterns.length, 1))] ?? "/";
                return `https://example.com${pattern.startsWith("/") ? "" : "/"}${encodeURI(pattern).replaceAll("*", "x").replaceAll("$", "").replaceAll("#", "")}${["", "/", "a", "?q=1"][index % 4]}`;
            });
            const agent = ["GPTBot", "Googlebot", "AnyBot"][random(3)];
            const args = ["test", path, "--agent", agent, "--dialect", dialect, "--json", ...urls];
            const rows = execFileSync(REPTILE, args, { encoding: "utf8", stdio: "pipe", maxBuffer: 1 << 28 }).trim().split("\n").map((row) => JSON.parse(row));
            rows.forEach((row, index) => {
                // The command escapes URLs like a browser.
                if (row.remarks !== undefined) {
                    return;
                }
                const explained = file.explain(agent, urls[index]);
                const { verdict, line, why, sentence, group } = explained;
                assert.deepEqual(
                    { verdict, line, why, because: sentence, by: explained.chosenBy, lines: group.lines },
                    { verdict: row.verdict, line: row.line, why: row.why, because: row.because, by: row.group.by, lines: row.group.lines },
                    `${path} ${dialect} ${agent} ${urls[index]}`,
                );
                compared += 1;
            });
        });
    }
    assert.ok(compared >= (REAL_FILES * REAL_URLS) / 2, `${compared} answers`);
    console.log(`${compared} answers for ${files.length} real files agree with the command`);
});

/** Extracts some robots.txt files from an archive to a folder. */
function realFiles(archive, count, folder) {
    const listed = execFileSync("tar", ["-tzf", archive], { encoding: "utf8", maxBuffer: 1 << 28 });
    const names = listed.trim().split("\n").filter((name) => !name.endsWith("/"));
    const step = Math.max(Math.floor(names.length / count), 1);
    const chosen = names.filter((_, index) => index % step === 0).slice(0, count);
    execFileSync("tar", ["-xzf", archive, "-C", folder, ...chosen]);
    return chosen.map((name) => join(folder, name));
}

test("the example of the README", async () => {
    const readme = readFileSync("node_modules/reptile-robots/README.md", "utf8");
    const [, example] = /```js\n([^]*?)```/.exec(readme);
    const printed = [...readme.matchAll(/```text\n([^]*?)```/g)][0][1];
    writeFileSync("example.js", example);
    assert.equal(execFileSync(process.execPath, ["example.js"], { encoding: "utf8" }), printed);
});

/** Memory limit in pages of 64 KiB, for the test of exhausted memory. */
const FEW_PAGES = 80;

test("memory that is used up is an error, and later calls fail until the engine is loaded again", async () => {
    const script = `
        import assert from "node:assert/strict";
        import { readFileSync } from "node:fs";
        import { Robots, load, loadSync } from "reptile-robots";
        import { withMaximum } from "./memory.js";
        loadSync(withMaximum(readFileSync("node_modules/reptile-robots/reptile.wasm"), ${FEW_PAGES}));
        const early = Robots.parse("user-agent: *\\ndisallow: /");
        const large = () => Robots.parse("user-agent: *\\n" + Array.from({ length: 100000 }, (_, n) => "disallow: /" + n + "a").join("\\n"));
        assert.throws(() => Robots.parse(new Uint8Array(16 << 20)), { code: "memory" });
        assert.equal(early.decide("Bingbot", "/").verdict, "disallow");
        assert.throws(large, { code: "memory", message: /memory is used up; load\\(\\) again/ });
        assert.throws(large, { code: "stopped", message: "the engine stopped; load() again" });
        assert.throws(() => early.decide("Bingbot", "/"), { code: "stopped" });
        early.free();
        await load(readFileSync("node_modules/reptile-robots/reptile.wasm"));
        assert.throws(() => early.decide("Bingbot", "/"), { code: "freed" });
        assert.equal(large().decide("Bingbot", "/7a").verdict, "disallow");
        console.log("done");
    `;
    writeFileSync("exhausted.js", script);
    assert.equal(execFileSync(process.execPath, ["exhausted.js"], { encoding: "utf8" }), "done\n");
});

test("speed", async () => {
    const { default: speed } = await import("./speed.js");
    speed();
});
