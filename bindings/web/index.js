// Reptile in JavaScript. `index.d.ts` describes the functions; `src/lib.rs` describes the engine's calls.

export const VERSION = "0.1.0";
export const MAX_BODY_BYTES = 16 << 20;
export const MAX_URL_BYTES = 64 << 10;
export const MAX_SET_BYTES = 256 << 20;
export const MAX_ASSERTIONS = 1000;
export const MAX_ASSERTION_BYTES = 16 << 10;
export const MAX_AGENTS = 1000;
export const MAX_VERDICTS = 10_000_000;
export const VERDICTS = Object.freeze(["allow", "disallow", "unknown", "invalid"]);

/** The limits in the order in which the engine lists them. */
const LIMITS = [MAX_BODY_BYTES, MAX_URL_BYTES, MAX_SET_BYTES, MAX_ASSERTIONS, MAX_ASSERTION_BYTES, MAX_AGENTS, MAX_VERDICTS];
/** Number of resolved lists of crawlers that an object keeps, for callers that name them in each call. */
const MAX_CACHED_AGENTS = 256;
/** Maximum size in bytes of one call's arguments, such as its URLs. */
const MAX_INPUT_BYTES = 1 << 30;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class ReptileError extends Error {
    constructor(code, message, details = {}) {
        super(message, details.cause === undefined ? undefined : { cause: details.cause });
        this.code = code;
        this.suggestion = details.suggestion ?? null;
        this.mistakes = details.mistakes ?? [];
    }

    get name() {
        return "ReptileError";
    }
}

/** An instance of the WebAssembly module. */
class Engine {
    #exports;
    #bytes;
    #reasons = [];
    /** The error of the call that ended the instance. */
    #failed = null;

    constructor(module) {
        this.#exports = new WebAssembly.Instance(module, {}).exports;
        if (typeof this.#exports.catalog !== "function") {
            throw new ReptileError("load", "not Reptile's engine");
        }
        this.catalog = this.json("catalog", 0, 0, []);
        if (this.catalog.version !== VERSION || String(this.catalog.limits) !== String(LIMITS)) {
            throw new ReptileError("load", `the engine has version ${this.catalog.version}, the package ${VERSION}`);
        }
    }

    /** Whether the instance can still be called. */
    get isAlive() {
        return this.#failed === null;
    }

    /** Calls a function that may stop the instance. */
    #run(call) {
        if (this.#failed !== null) {
            throw new ReptileError("stopped", "the engine stopped; load() again", { cause: this.#failed });
        }
        try {
            return call();
        } catch (cause) {
            if (cause instanceof ReptileError) {
                throw cause;
            }
            const isMemory = this.#exports.is_out_of_memory?.() === 1;
            this.#failed = cause;
            this.#bytes = undefined;
            throw isMemory
                ? new ReptileError("memory", "the engine's memory is used up; load() again", { cause })
                : new ReptileError("stopped", `the engine stopped: ${cause.message}; load() again`, { cause });
        }
    }

    /** Returns the engine's memory. Its buffer changes whenever it grows. */
    #memory() {
        const { buffer } = this.#exports.memory;
        if (this.#bytes?.buffer !== buffer) {
            this.#bytes = new Uint8Array(buffer);
        }
        return this.#bytes;
    }

    /** Reserves the input buffer. */
    #input(length) {
        if (length > MAX_INPUT_BYTES) {
            throw new ReptileError("limit", `the arguments have ${length} bytes; at most ${MAX_INPUT_BYTES}`);
        }
        const start = this.#exports.input(length) >>> 0;
        if (start === 0 && length > 0) {
            throw new ReptileError("memory", `the engine has no memory for ${length} bytes`);
        }
        return start;
    }

    /** Writes the arguments to the input buffer. */
    #write(values) {
        let length = 0;
        const sizes = values.map((value) => (typeof value === "string" ? byteLength(value) : value.length));
        for (const size of sizes) {
            length += 4 + size;
        }
        let at = this.#input(length);
        const memory = this.#memory();
        const view = new DataView(memory.buffer);
        values.forEach((value, index) => {
            const size = sizes[index];
            view.setUint32(at, size, true);
            at += 4;
            if (typeof value === "string") {
                encoder.encodeInto(value, memory.subarray(at, at + size));
            } else {
                memory.set(value, at);
            }
            at += size;
        });
    }

    /** Returns a copy of the output. */
    #output() {
        const [start, length] = [this.#exports.output() >>> 0, this.#exports.output_len()];
        return this.#memory().slice(start, start + length);
    }

    #failure() {
        const { code, message, suggestion, mistakes } = JSON.parse(decoder.decode(this.#output()));
        return new ReptileError(code, message, { suggestion, mistakes });
    }

    /** Calls a function, and returns its answer's bytes. */
    bytes(name, handle, number, values) {
        return this.#run(() => {
            this.#write(values);
            if (this.#exports[name](handle, number) !== 0) {
                throw this.#failure();
            }
            return this.#output();
        });
    }

    /** Calls a function, and returns its answer. */
    json(name, handle, number, values) {
        return JSON.parse(decoder.decode(this.bytes(name, handle, number, values)));
    }

    decide(handle, agents, url) {
        const packed = this.#run(() => {
            // A character has at most three bytes, so a short URL needs no exact count.
            const bound = url.length <= 1024 ? url.length * 3 : byteLength(url);
            const start = this.#input(bound);
            const { written } = encoder.encodeInto(url, this.#memory().subarray(start, start + bound));
            const packed = this.#exports.decide(handle, agents, written);
            if (packed < 0) {
                throw this.#failure();
            }
            return packed;
        });
        const line = Math.floor(packed / 65536);
        const low = packed % 65536;
        return { verdict: VERDICTS[low & 3], line, reason: this.#reason(low >>> 2) };
    }

    #reason(number) {
        return (this.#reasons[number] ??= this.json("reason", 0, number, []));
    }

    free(handle) {
        if (this.isAlive) {
            this.#run(() => this.#exports.free(handle));
        }
    }

    forget(handle) {
        this.#run(() => this.#exports.forget(handle));
    }
}

/** Returns the size of a text in UTF-8 bytes. */
function byteLength(text) {
    let length = text.length;
    for (let at = 0; at < text.length; at += 1) {
        const unit = text.charCodeAt(at);
        if (unit < 0x80) {
            continue;
        }
        if (unit < 0x800) {
            length += 1;
        } else if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
            // A pair of surrogates: two units, four bytes.
            length += 2;
            at += 1;
        } else {
            length += 2;
        }
    }
    return length;
}

let engine = null;
let module = null;
let loading = null;

function current() {
    if (engine === null) {
        throw new ReptileError("load", "the engine is not loaded yet; await load() first");
    }
    if (!engine.isAlive) {
        throw new ReptileError("stopped", "the engine stopped; load() again");
    }
    return engine;
}

export async function load(wasm) {
    if (engine?.isAlive) {
        return;
    }
    loading ??= compiled(wasm).then(start).finally(() => {
        loading = null;
    });
    await loading;
}

export function loadSync(wasm) {
    if (engine?.isAlive) {
        return;
    }
    try {
        start(wasm instanceof WebAssembly.Module ? wasm : new WebAssembly.Module(wasm));
    } catch (cause) {
        throw unloaded(cause);
    }
}

function start(compiled) {
    engine = new Engine(compiled);
    module = compiled;
}

function unloaded(cause) {
    return cause instanceof ReptileError ? cause : new ReptileError("load", `the engine cannot be loaded: ${cause.message}`, { cause });
}

/** Compiles the engine. After a failure, the known module is used again. */
async function compiled(wasm) {
    try {
        if (wasm === undefined && module !== null) {
            return module;
        }
        const source = wasm ?? new URL("reptile.wasm", import.meta.url);
        if (source instanceof WebAssembly.Module) {
            return source;
        }
        if (ArrayBuffer.isView(source) || source instanceof ArrayBuffer) {
            return await WebAssembly.compile(source);
        }
        const isResponse = typeof Response !== "undefined" && source instanceof Response;
        const isNode = typeof process !== "undefined" && process.versions?.node !== undefined;
        if (isNode && !isResponse && new URL(source, import.meta.url).protocol === "file:") {
            const { readFile } = await import("node:fs/promises");
            return await WebAssembly.compile(await readFile(new URL(source, import.meta.url)));
        }
        const response = isResponse ? source : await fetch(source);
        if (!response.ok) {
            throw new Error(`${response.url}: status ${response.status}`);
        }
        // Streaming needs the media type application/wasm, which some servers do not send.
        const isWasm = response.headers.get("content-type")?.startsWith("application/wasm");
        return isWasm ? await WebAssembly.compileStreaming(response) : await WebAssembly.compile(await response.arrayBuffer());
    } catch (cause) {
        throw unloaded(cause);
    }
}

const copied = (list) => structuredClone(list);

export function dialects() {
    return copied(current().catalog.dialects);
}

export function crawlers() {
    return copied(current().catalog.crawlers);
}

export function groups() {
    return copied(current().catalog.groups);
}

export function vocabularies() {
    return copied(current().catalog.vocabularies);
}

/** Returns a string, or throws for another value. */
function textOf(value, what) {
    if (typeof value !== "string") {
        throw new ReptileError("argument", `${what} must be a string, found ${value === null ? "null" : typeof value}`);
    }
    return value;
}

/**
 * Returns a URL for a set, with its host in ASCII. The platform's own `URL` maps other letters (UTS 46), so the engine
 * needs no tables for them.
 */
function inAscii(url) {
    const parts = /^(https?:\/\/(?:[^/?#\\]*@)?)([^/?#\\@]*[^\0-\x7f/?#\\@][^/?#\\@]*)(.*)$/is.exec(url);
    if (parts === null || !URL.canParse(`https://${parts[2]}`)) {
        return url;
    }
    const [, scheme, host, rest] = parts;
    return scheme + new URL(`https://${host}`).host + rest;
}

/** Returns an array of strings, or throws for another value. */
function textsOf(values, what) {
    if (!Array.isArray(values)) {
        throw new ReptileError("argument", `${what} must be an array of strings`);
    }
    values.forEach((value) => textOf(value, `each of ${what}`));
    return values;
}

/** Returns a list of texts for the engine, which ends lists with an empty text. */
function listOf(values, what) {
    return textsOf(values ?? [], what).filter((value) => value !== "");
}

/** The names of the options of calls. */
const PARSE_OPTIONS = ["dialect"];
const AGENT_OPTIONS = ["exact", "verbatim"];
const DECIDE_ALL_OPTIONS = [...AGENT_OPTIONS, "lines"];
const LINT_OPTIONS = ["host", "enable", "severity"];
const FIX_OPTIONS = ["host", "severity", "codes", "lines"];
const PROVE_OPTIONS = ["allowDefault"];
const USAGE_OPTIONS = [...AGENT_OPTIONS, "categories", "vocabulary", "lines"];

/** Returns a call's options, or throws for an option that the call does not have. */
function optionsOf(options, known) {
    if (options === undefined) {
        return {};
    }
    if (options === null || typeof options !== "object" || Array.isArray(options)) {
        const found = options === null ? "null" : Array.isArray(options) ? "an array" : typeof options;
        throw new ReptileError("argument", `the options must be an object, found ${found}`);
    }
    for (const name of Object.keys(options)) {
        if (!known.includes(name)) {
            throw new ReptileError("argument", `unknown option ${JSON.stringify(name)}; expected ${known.join(", ")}`);
        }
    }
    return options;
}

const switched = (value) => (value ? "1" : "0");
const wayOf = ({ exact, verbatim }) => (verbatim ? "verbatim" : exact ? "exact" : "named");

const forgotten = new FinalizationRegistry(({ engine, handle }) => engine.free(handle));

/** A file or a set in the engine. `read` is applied to each URL. */
class Held {
    engine;
    handle;
    read;
    isFreed = false;
    /** The resolved lists of crawlers. */
    #agents = new Map();
    /** The lists of one crawler without options, by name. */
    #single = new Map();

    constructor(engine, handle, owner, read = (url) => url) {
        this.engine = engine;
        this.handle = handle;
        this.read = read;
        forgotten.register(owner, { engine, handle }, this);
    }

    url(text) {
        return this.read(textOf(text, "the URL"));
    }

    /** Throws after `free`. */
    check() {
        if (this.isFreed) {
            throw new ReptileError("freed", "the object was freed");
        }
    }

    json(name, number, values) {
        this.check();
        return this.engine.json(name, this.handle, number, values);
    }

    /** Returns resolved crawlers. Resolves each list once. `known` names the call's options. */
    agents(names, options, known = AGENT_OPTIONS) {
        this.check();
        const way = wayOf(optionsOf(options, known));
        const key = JSON.stringify([way, names]);
        let found = this.#agents.get(key);
        if (found === undefined) {
            if (this.#agents.size >= MAX_CACHED_AGENTS) {
                this.engine.forget(this.handle);
                this.#agents.clear();
                this.#single.clear();
            }
            found = this.engine.json("resolve", this.handle, 0, [way, ...names]);
            this.#agents.set(key, found);
        }
        return found;
    }

    /** Returns the number of a list with one crawler. Resolves it once. */
    agent(name, options, names = AGENT_OPTIONS) {
        const known = options === undefined ? this.#single.get(name) : undefined;
        if (known !== undefined) {
            this.check();
            return known;
        }
        const found = this.agents([textOf(name, "the crawler")], options, names);
        if (found.names.length !== 1) {
            throw new ReptileError("crawler", `"${name}" is a group of crawlers; name one of them, or use decideAll`);
        }
        if (options === undefined) {
            this.#single.set(name, found.id);
        }
        return found.id;
    }

    decide(name, url, options) {
        const agent = this.agent(name, options);
        return this.engine.decide(this.handle, agent, this.url(url));
    }

    decideAll(names, urls, options) {
        const listed = typeof names === "string" ? [names] : textsOf(names, "the crawlers");
        const agents = this.agents(listed, options, DECIDE_ALL_OPTIONS);
        textsOf(urls, "the URLs");
        const count = urls.length * agents.names.length;
        if (count > MAX_VERDICTS) {
            throw new ReptileError("limit", `${urls.length} URLs and ${agents.names.length} crawlers have more than ${MAX_VERDICTS} verdicts`);
        }
        const hasLines = options?.lines ?? true;
        const bytes = this.engine.bytes("decide_all", this.handle, agents.id, [switched(hasLines), ...urls.map(this.read)]);
        const lines = hasLines ? new Uint32Array(bytes.buffer, Math.ceil(count / 4) * 4, count) : new Uint32Array(count);
        return new Verdicts(agents.names, urls.length, bytes.subarray(0, count), lines);
    }

    usage(name, url, options) {
        const agent = this.agent(name, options, USAGE_OPTIONS);
        const { categories, vocabulary, lines } = options ?? {};
        const values = [this.url(url), textOf(vocabulary ?? "", "the vocabulary"), textOf(lines ?? "usage,tokens", "the lines")];
        return this.json("usage", agent, [...values, ...listOf(categories, "the categories")]);
    }

    free() {
        if (!this.isFreed) {
            this.isFreed = true;
            forgotten.unregister(this);
            this.engine.free(this.handle);
        }
    }
}

class Verdicts {
    constructor(agents, urlCount, verdicts, lines) {
        this.agents = [...agents];
        this.urlCount = urlCount;
        this.verdicts = verdicts;
        this.lines = lines;
    }

    #at(url, agent) {
        if (!(url >= 0 && url < this.urlCount && agent >= 0 && agent < this.agents.length)) {
            throw new ReptileError("argument", `there is no URL ${url} with crawler ${agent}`);
        }
        return url * this.agents.length + agent;
    }

    verdict(url, agent) {
        return VERDICTS[this.verdicts[this.#at(url, agent)]];
    }

    line(url, agent) {
        return this.lines[this.#at(url, agent)];
    }
}

/** The symbol that `using` looks up. Older engines lack it. */
const dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");

export class Robots {
    #held;
    #dialect;
    #parts = null;

    constructor(key, engine, { handle, dialect } = {}) {
        if (key !== forgotten) {
            throw new ReptileError("argument", "use Robots.parse");
        }
        this.#held = new Held(engine, handle, this);
        this.#dialect = dialect;
    }

    static parse(body, options) {
        const { dialect = "" } = optionsOf(options, PARSE_OPTIONS);
        if (typeof body !== "string" && !(body instanceof Uint8Array)) {
            throw new ReptileError("argument", "the body must be a string or a Uint8Array");
        }
        const size = typeof body === "string" ? byteLength(body) : body.length;
        if (size > MAX_BODY_BYTES) {
            throw new ReptileError("limit", `the robots.txt has ${size} bytes; at most ${MAX_BODY_BYTES}`);
        }
        const engine = current();
        return new Robots(forgotten, engine, engine.json("parse", 0, 0, [textOf(dialect, "the dialect"), body]));
    }

    /** Returns the file's groups, sitemaps, directives and diagnostics. Reads them once. */
    #read() {
        this.#held.check();
        return (this.#parts ??= this.#held.json("parts", 0, []));
    }

    get dialect() {
        return this.#dialect;
    }

    get groups() {
        return this.#read().groups;
    }

    get sitemaps() {
        return this.#read().sitemaps;
    }

    get directives() {
        return this.#read().directives;
    }

    get diagnostics() {
        return this.#read().diagnostics;
    }

    decide(agent, url, options) {
        return this.#held.decide(agent, url, options);
    }

    decideAll(agents, urls, options) {
        return this.#held.decideAll(agents, urls, options);
    }

    explain(agent, url, options) {
        const found = this.#held.json("explain", this.#held.agent(agent, options), [agent, textOf(url, "the URL")]);
        return { agent, ...found };
    }

    matchingRules(agent, url, options) {
        return this.#held.json("matching_rules", this.#held.agent(agent, options), [textOf(url, "the URL")]);
    }

    acrossDialects(agent, url, options) {
        const way = wayOf(optionsOf(options, AGENT_OPTIONS));
        return this.#held.json("across", 0, [way, textOf(agent, "the crawler"), textOf(url, "the URL")]);
    }

    crawlDelay(agent, options) {
        const delay = this.#held.json("crawl_delay", this.#held.agent(agent, options), []);
        return delay && delay[0] + delay[1] / 1e9;
    }

    lint(options) {
        const { host = "", enable, severity = "" } = optionsOf(options, LINT_OPTIONS);
        const values = [textOf(host, "the host"), textOf(severity, "the severity"), ...listOf(enable, "enable")];
        const { findings, withheld } = this.#held.json("lint_file", 0, values);
        return Object.defineProperty(findings, "withheld", { value: Object.freeze(withheld) });
    }

    fix(options) {
        this.#held.check();
        const { host = "", severity = "", codes, lines } = optionsOf(options, FIX_OPTIONS);
        const values = [textOf(host, "the host"), textOf(severity, "the severity"), ...listOf(codes, "codes"), ""];
        const { engine, handle } = this.#held;
        if (codes?.length === 0 || lines?.length === 0) {
            throw new ReptileError("argument", "an empty list of codes or lines fixes nothing");
        }
        return decoder.decode(engine.bytes("fix", handle, 0, [...values, ...listOf(lines?.map(String), "lines")]));
    }

    prove(assertions, options) {
        const { allowDefault = false } = optionsOf(options, PROVE_OPTIONS);
        return this.#held.json("prove", 0, [switched(allowDefault), textOf(assertions, "the assertions")]);
    }

    usage(agent, url, options) {
        return this.#held.usage(agent, url, options);
    }

    compare(other, agent, options) {
        if (!(other instanceof Robots)) {
            throw new ReptileError("argument", "the other file must be a Robots");
        }
        other.#held.check();
        if (other.#held.engine !== this.#held.engine) {
            throw new ReptileError("stopped", "the files are in different engines; parse both again");
        }
        const way = wayOf(optionsOf(options, AGENT_OPTIONS));
        return this.#held.json("compare", other.#held.handle, [way, textOf(agent, "the crawler")]);
    }

    free() {
        this.#held.free();
    }

    [dispose]() {
        this.free();
    }
}

class RobotsSet {
    #held;
    #facts;

    constructor(bytes) {
        if (!(bytes instanceof Uint8Array) && !(bytes instanceof ArrayBuffer)) {
            throw new ReptileError("argument", "a set must be an ArrayBuffer or a Uint8Array");
        }
        const content = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
        if (content.length > MAX_SET_BYTES) {
            throw new ReptileError("limit", `the set has ${content.length} bytes; at most ${MAX_SET_BYTES}`);
        }
        const engine = current();
        this.#facts = engine.json("open_set", 0, 0, [content]);
        this.#held = new Held(engine, this.#facts.handle, this, inAscii);
    }

    get dialect() {
        return this.#facts.dialect;
    }

    get profile() {
        return this.#facts.profile;
    }

    get length() {
        return this.#facts.length;
    }

    get time() {
        return this.#facts.time;
    }

    get hasLines() {
        return this.#facts.hasLines;
    }

    get crawlers() {
        return this.#facts.crawlers;
    }

    decide(agents, url, options) {
        if (typeof agents === "string") {
            return this.#held.decide(agents, url, options);
        }
        const { id } = this.#held.agents(textsOf(agents, "the crawlers"), options);
        return this.#held.json("decide_each", id, [this.#held.url(url)]);
    }

    decideAll(agents, urls, options) {
        return this.#held.decideAll(agents, urls, options);
    }

    explain(agent, url, options) {
        return { agent, ...this.#held.json("explain_in_set", this.#held.agent(agent, options), [this.#held.url(url)]) };
    }

    usage(agent, url, options) {
        return this.#held.usage(agent, url, options);
    }

    sitemaps(url) {
        return this.#held.json("sitemaps", 0, [this.#held.url(url)]);
    }

    verify() {
        this.#held.check();
        this.#held.engine.bytes("verify", this.#held.handle, 0, []);
    }

    free() {
        this.#held.free();
    }

    [dispose]() {
        this.free();
    }
}

export { RobotsSet as Set };
