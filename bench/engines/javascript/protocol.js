// The protocol of `bench/judge/PROTOCOL.md` for JavaScript engines: messages, the request loop, and timed passes.
//
// An engine is an object with the fields below, in a separate file in this folder, followed by a call to `serve`.
//
//   name, dialect, notes   description of the implementation; `notes` is optional
//   version()              returns the installed version
//   parse(text, origin)    parses a robots.txt into a reusable form; may return a promise
//   decider(parsed, agent) returns a function of a URL: true to allow, false to disallow, undefined if it cannot decide
//   line(parsed, agent, url)  optional: returns the line number of the deciding rule, or 0 if no rule decides
"use strict";

const fs = require("node:fs");
const path = require("node:path");

// The supported version of the protocol.
const PROTOCOL = "1";

// Minimum duration of a sample in nanoseconds.
const SAMPLE_NS = 1_000_000n;

const MODELS = ["one-shot", "parse", "decide", "fresh", "crawl"];

class Skip extends Error {}
class Refused extends Error {}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns text for an interface that does not accept bytes, or null if it is not UTF-8. */
function textOf(bytes) {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

/** Decodes a robots.txt as fetch() decodes a response: without a BOM, and with U+FFFD for invalid UTF-8. */
function bodyText(bytes) {
  return new TextDecoder().decode(bytes);
}

/** Yields the messages in a stream as lists of keys and bytes. */
async function* messages(stream) {
  let pending = Buffer.alloc(0);
  let fields = [];
  for await (const chunk of stream) {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    let at = 0;
    while (at < pending.length) {
      if (pending[at] === 0x0a) {
        at += 1;
        yield fields;
        fields = [];
        continue;
      }
      const colon = pending.indexOf(":", at);
      const second = colon < 0 ? -1 : pending.indexOf(":", colon + 1);
      if (second < 0) break;
      const digits = pending.toString("latin1", colon + 1, second);
      if (!/^[0-9]{1,8}$/.test(digits)) throw new Error(`expected a length, found "${digits.slice(0, 20)}"`);
      const end = second + 1 + Number(digits);
      if (end >= pending.length) break;
      if (pending[end] !== 0x0a) throw new Error("expected a newline after a value");
      // Copy the value, because it outlives the buffer.
      fields.push([pending.toString("latin1", at, colon), Buffer.from(pending.subarray(second + 1, end))]);
      at = end + 1;
    }
    pending = pending.subarray(at);
  }
  if (pending.length > 0 || fields.length > 0) throw new Error("the input ends within a message");
}

/** Writes a message from keys and texts. */
function write(fields) {
  let bytes = Buffer.concat([
    ...fields.map(([key, value]) => {
      const text = Buffer.from(String(value));
      return Buffer.concat([Buffer.from(`${key}:${text.length}:`), text, Buffer.from("\n")]);
    }),
    Buffer.from("\n"),
  ]);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(fs.writeSync(1, bytes));
    } catch (error) {
      // The pipe is full. The judge will read from it soon.
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

/** Returns the first field with a key, as text. */
function field(fields, key) {
  const found = fields.find(([name]) => name === key);
  if (!found) throw new Error(`expected a field "${key}"`);
  return found[1].toString();
}

/** Returns a request's rows: index of the `slot` field, slot, agent, URL. */
function rowsOf(fields) {
  const rows = [];
  let [number, slot, agent] = [-1, -1, null];
  for (const [key, value] of fields) {
    if (key === "slot") [number, slot] = [number + 1, Number(value.toString())];
    else if (key === "agent") agent = textOf(value);
    else if (key === "url") rows.push({ number, slot, agent, url: textOf(value) });
  }
  return rows;
}

/** The request handlers, named after the field `do`. */
class Session {
  constructor(engine) {
    this.engine = engine;
    this.slots = new Map();
  }

  hello(fields) {
    const asked = field(fields, "protocol");
    if (asked !== PROTOCOL) throw new Skip(`this engine supports version ${PROTOCOL} of the protocol, not ${asked}`);
    const { name, dialect, notes = [], line } = this.engine;
    const can = ["load", "decide", ...(line ? ["lines"] : []), ...MODELS.map((model) => `bench:${model}`)];
    return [
      ["name", name],
      ["version", this.engine.version()],
      ["dialect", dialect],
      ["language", `JavaScript, Node.js ${process.version}`],
      ...can.map((ability) => ["can", ability]),
      ...notes.map((note) => ["note", note]),
    ];
  }

  async load(fields) {
    const [slot, origin] = [Number(field(fields, "slot")), field(fields, "origin")];
    const bytes = fields.find(([key]) => key === "body")[1];
    this.slots.delete(slot);
    try {
      this.slots.set(slot, { origin, bytes, parsed: await this.engine.parse(bodyText(bytes), origin), deciders: new Map() });
    } catch (error) {
      throw new Refused(String(error));
    }
    return [];
  }

  clear() {
    this.slots.clear();
    return [];
  }

  /** Returns the decider for a loaded file and a crawler. */
  decider(slot, agent) {
    let found = slot.deciders.get(agent);
    if (!found) slot.deciders.set(agent, (found = this.engine.decider(slot.parsed, agent)));
    return found;
  }

  decide(fields) {
    const rows = rowsOf(fields).map((row) => this.row(row));
    const reply = [["verdicts", rows.map(([verdict]) => verdict).join("")]];
    if (this.engine.line) reply.push(["lines", rows.map(([, line]) => line).join(" ")]);
    return reply;
  }

  row({ slot, agent, url }) {
    const loaded = this.slots.get(slot);
    if (!loaded) return ["E", "-"];
    if (agent === null || url === null) return ["U", "-"];
    try {
      const allowed = this.decider(loaded, agent)(url);
      if (allowed === undefined) return ["U", "-"];
      return [allowed ? "A" : "D", this.engine.line?.(loaded.parsed, agent, url) ?? "-"];
    } catch {
      return ["E", "-"];
    }
  }

  async bench(fields) {
    const model = field(fields, "model");
    if (!MODELS.includes(model)) throw new Skip(`the model ${model} is not supported`);
    const budget = BigInt(field(fields, "budget"));
    const rows = rowsOf(fields).filter(({ slot, agent, url }) => this.slots.has(slot) && agent !== null && url !== null);
    const taken = await samples(this.pass(model, rows), model, budget);
    return taken.map((sample) => ["sample", sample.join(" ")]);
  }

  /** Returns a function that makes one pass and counts the disallowed rows. */
  pass(model, rows) {
    if (model === "one-shot") return this.passOverFiles(rows);
    if (model === "parse") {
      const first = rows.filter((row, at) => at === 0 || row.number !== rows[at - 1].number);
      return this.passOverFiles(first);
    }
    return model === "crawl" ? this.passOverSites(rows) : this.passOverRows(rows);
  }

  passOverFiles(rows) {
    const { engine, slots } = this;
    const questions = rows.map(({ slot, agent, url }) => ({ ...slots.get(slot), agent, url }));
    return async () => {
      let disallowed = 0;
      for (const { bytes, origin, agent, url } of questions) {
        try {
          let parsed = engine.parse(bodyText(bytes), origin);
          if (parsed instanceof Promise) parsed = await parsed;
          if (engine.decider(parsed, agent)(url) === false) disallowed += 1;
        } catch {
          continue;
        }
      }
      return disallowed;
    };
  }

  passOverRows(rows) {
    const bound = [];
    for (const { slot, agent, url } of rows) {
      try {
        bound.push([this.decider(this.slots.get(slot), agent), url]);
      } catch {
        continue;
      }
    }
    return () => {
      let disallowed = 0;
      for (const [decide, url] of bound) {
        try {
          if (decide(url) === false) disallowed += 1;
        } catch {
          continue;
        }
      }
      return disallowed;
    };
  }

  passOverSites(rows) {
    const sites = new Map([...this.slots.values()].map((slot) => [slot.origin, slot]));
    return () => {
      let disallowed = 0;
      for (const { agent, url } of rows) {
        try {
          const site = sites.get(new URL(url).origin);
          if (site && this.decider(site, agent)(url) === false) disallowed += 1;
        } catch {
          continue;
        }
      }
      return disallowed;
    };
  }
}

/** Times passes as the protocol specifies: nanoseconds, passes, and disallowed rows. */
async function samples(pass, model, budget) {
  const clock = process.hrtime.bigint;
  const once = async () => {
    const counted = pass();
    return counted instanceof Promise ? await counted : counted;
  };
  if (model === "fresh") {
    const start = clock();
    const disallowed = await once();
    return [[clock() - start, 1, disallowed]];
  }
  await once();
  const taken = [];
  for (let total = 0n; taken.length === 0 || total < budget; ) {
    let [passes, disallowed, elapsed] = [0, 0, 0n];
    const start = clock();
    do {
      disallowed += await once();
      passes += 1;
      elapsed = clock() - start;
    } while (elapsed < SAMPLE_NS);
    taken.push([elapsed, passes, disallowed]);
    total += elapsed;
  }
  return taken;
}

const REQUESTS = ["hello", "load", "clear", "decide", "bench"];

/** Returns the reply to a request. */
async function reply(session, request) {
  try {
    const asked = request[0]?.[0] === "do" ? request[0][1].toString() : "";
    if (!REQUESTS.includes(asked)) throw new Skip(`no such request: ${asked}`);
    return [["is", "ok"], ...(await session[asked](request))];
  } catch (error) {
    const is = error instanceof Skip ? "skip" : error instanceof Refused ? "refused" : "error";
    return [["is", is], ["why", error.message]];
  }
}

/** Answers requests until `stop` or the end of the input. */
async function serve(engine) {
  // Redirect the implementation's output to standard error.
  console.log = console.info = console.error;
  const session = new Session(engine);
  for await (const request of messages(process.stdin)) {
    if (request[0]?.[0] === "do" && request[0][1].toString() === "stop") break;
    write(await reply(session, request));
  }
  process.exit(0);
}

/** Requires a package from the folder ENGINE_MODULES, or as Node.js finds it. */
function packageOf(name) {
  const folder = process.env.ENGINE_MODULES;
  return require(folder ? path.join(path.resolve(folder), name) : name);
}

/** Returns a package's version. */
const versionOf = (name) => packageOf(`${name}/package.json`).version;

module.exports = { serve, packageOf, versionOf };
