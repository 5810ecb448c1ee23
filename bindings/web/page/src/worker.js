// The worker: keeps the files, and answers the page's questions with the engine.
import {
    MAX_AGENTS, MAX_BODY_BYTES, MAX_VERDICTS, Robots, VERSION, crawlers, dialects, groups, load, vocabularies,
} from "engine";
import { align } from "./align.js";
import {
    CONTEXT_LINES, EXCERPT_LINES, MAX_ALIGNED_CHANGES, MAX_ALIGNED_LINES, MAX_ALIGNED_ROWS, MAX_COMPARED, MAX_DIALECT_BYTES, MAX_DIALECT_VERDICTS,
    MAX_EFFECT_AGENTS, MAX_EFFECT_BYTES, MAX_EXCERPT_BYTES, MAX_SHOWN_CHARS, MAX_SHOWN_ITEMS, MAX_SHOWN_LINES,
} from "./limits.js";

/** The files by pane: their bytes or text, and what was parsed from them by dialect. */
const files = { first: newFile(""), second: newFile("") };

function newFile(body) {
    return { body, parsed: new Map() };
}

/** Returns a file's size in bytes. */
function sizeOf(body) {
    if (typeof body !== "string") {
        return body.byteLength;
    }
    let size = body.length;
    for (let index = 0; index < body.length; index += 1) {
        const unit = body.charCodeAt(index);
        if (unit > 0x7f) {
            // A pair of surrogates has four bytes, so each counts as two.
            size += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
        }
    }
    return size;
}

function robotsOf(pane, dialect) {
    const file = files[pane];
    let robots = file.parsed.get(dialect);
    if (!robots) {
        robots = Robots.parse(file.body, { dialect });
        file.parsed.set(dialect, robots);
    }
    return robots;
}

/** Replaces a file. */
async function setFile({ pane, body }) {
    for (const robots of files[pane].parsed.values()) {
        robots.free();
    }
    files[pane] = newFile("");
    if (body instanceof Blob) {
        if (body.size > MAX_BODY_BYTES) {
            // Do not read the file, because the engine refuses its size.
            files[pane].refused = body.size;
            return;
        }
        files[pane].body = new Uint8Array(await body.arrayBuffer());
    } else {
        files[pane].body = body;
    }
}

function checkSize(pane) {
    const size = files[pane].refused ?? 0;
    if (size > MAX_BODY_BYTES) {
        throw Object.assign(new Error(`${size} bytes`), { code: "limit" });
    }
}

/** Returns a file's lines as the engine counts them. */
function linesOf(pane) {
    const { body } = files[pane];
    const text = typeof body === "string" ? body : new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
    return text.split(/\r\n?|\n/);
}

/** Returns a text with an edit of its lines. */
function edited(lines, { from, to, text }) {
    return [...lines.slice(0, from - 1), ...(text === null ? [] : [text]), ...lines.slice(to)].join("\n");
}

/** Returns the options for reading names: exactly, or by looking them up among the known crawlers. */
function named(exact) {
    return { verbatim: exact };
}

/** Separates the names that the engine refuses from the others. */
function splitAgents(robots, agents, exact) {
    const good = [];
    const bad = [];
    for (const agent of agents) {
        try {
            robots.decideAll([agent], ["/"], named(exact));
            good.push(agent);
        } catch (error) {
            if (!["crawler", "group"].includes(error.code)) {
                throw error;
            }
            bad.push({ agent, message: error.message, suggestion: error.suggestion ?? null });
        }
    }
    return { good, bad };
}

/** Replaces groups by their members. */
function membersOf(agents) {
    const members = new Map(groups().map((group) => [group.name, group.crawlers]));
    return [...new Set(agents.flatMap((agent) => members.get(agent) ?? [agent]))];
}

/** Decides all URLs for all crawlers. Groups are replaced by their members. */
function decide(robots, agents, urls, exact) {
    const names = membersOf(agents);
    const answer = robots.decideAll(names, urls, named(exact));
    return { agents: names, verdicts: answer.verdicts, lines: answer.lines };
}

const answers = {
    verdicts({ dialect, agents, urls, exact }) {
        checkSize("first");
        const robots = robotsOf("first", dialect);
        const { good, bad } = splitAgents(robots, agents, exact);
        const size = sizeOf(files.first.body);
        if (good.length === 0 || urls.length === 0) {
            return { agents: good, verdicts: new Uint8Array(), lines: new Uint32Array(), bad, size, urls };
        }
        return { ...decide(robots, good, urls, exact), bad, size, urls };
    },

    dialects({ agents, urls, exact }) {
        if (sizeOf(files.first.body) > MAX_DIALECT_BYTES || agents.length * urls.length > MAX_DIALECT_VERDICTS) {
            return null;
        }
        return dialects().map(({ name }) => {
            try {
                return { dialect: name, ...decide(robotsOf("first", name), agents, urls, exact) };
            } catch (error) {
                return { dialect: name, error: error.message };
            }
        });
    },

    explain({ dialect, agent, url, exact }) {
        const found = robotsOf("first", dialect).explain(agent, url, named(exact));
        const { agents, lines } = found.group;
        return { ...found, group: { agents: [...new Set(agents)].slice(0, MAX_SHOWN_LINES), lines: lines.slice(0, MAX_SHOWN_LINES) } };
    },

    usage({ dialect, agent, url, exact, vocabulary, lines }) {
        const read = { usage: "usage,tokens", both: "all" };
        const options = { ...named(exact), vocabulary, lines: read[lines] ?? lines };
        const found = robotsOf("first", dialect).usage(agent, url, options);
        return found.map((preference) => ({ ...preference, lines: preference.lines.slice(0, MAX_SHOWN_LINES) }));
    },

    lint({ dialect, host, all }) {
        checkSize("first");
        const options = host ? { host } : {};
        const robots = robotsOf("first", dialect);
        let found = robots.lint(options);
        const hidden = Object.keys(found.withheld);
        const withheld = hidden.reduce((sum, code) => sum + found.withheld[code], 0);
        if (all && hidden.length > 0) {
            found = robots.lint({ ...options, enable: hidden });
        }
        const fixes = found.filter((finding) => finding.fix?.isApplied).length;
        const shown = found.slice(0, MAX_SHOWN_ITEMS);
        const lines = shown.length > 0 ? linesOf("first") : [];
        const findings = shown.map((finding) => ({ ...finding, text: (lines[finding.line - 1] ?? "").slice(0, MAX_SHOWN_CHARS) }));
        return { findings, total: found.length, fixes, withheld, all };
    },

    /**
     * Returns each edit's effect: the first crawler with a difference and a shortest path that opens or closes, and
     * whether the comparison is complete for every crawler. Returns `null` for a file that is too long.
     */
    effects({ dialect, agents, exact, edits }) {
        if (sizeOf(files.first.body) > MAX_EFFECT_BYTES) {
            return null;
        }
        const before = robotsOf("first", dialect);
        const lines = linesOf("first");
        const names = splitAgents(before, [...agents, "*"], exact).good;
        const asked = [...new Set(membersOf(names))].slice(0, MAX_EFFECT_AGENTS);
        return edits.map((edit) => {
            const after = Robots.parse(edited(lines, edit), { dialect });
            const effect = { agents: asked, opens: null, closes: null, isComplete: true };
            for (const agent of asked) {
                const { counterexamples, isComplete } = before.compare(after, agent, named(exact));
                effect.isComplete &&= isComplete;
                for (const { url, verdicts } of counterexamples) {
                    effect[verdicts[1] === "allow" ? "opens" : "closes"] ??= { agent, url };
                }
            }
            after.free();
            return effect;
        });
    },

    fix({ dialect, host, only }) {
        const options = host ? { host } : {};
        return robotsOf("first", dialect).fix(only ? { ...options, codes: [only.code], lines: [only.line] } : options);
    },

    prove({ dialect, assertions, allowDefault }) {
        try {
            const outcomes = robotsOf("first", dialect).prove(assertions, { allowDefault });
            return { outcomes: outcomes.slice(0, MAX_SHOWN_ITEMS), total: outcomes.length, held: outcomes.filter((outcome) => outcome.holds).length, mistakes: [] };
        } catch (error) {
            if (error.code !== "assertions") {
                throw error;
            }
            return { outcomes: [], total: 0, held: 0, mistakes: error.mistakes };
        }
    },

    compare({ dialect, agents, exact }) {
        checkSize("second");
        const [first, second] = [robotsOf("first", dialect), robotsOf("second", dialect)];
        return agents.slice(0, MAX_COMPARED).map((agent) => ({ agent, ...first.compare(second, agent, named(exact)) }));
    },

    /**
     * Returns the rows of both files, aligned line by line, with long runs of equal lines left out, or `null` if the
     * files are too long or too different. A row has the line's number and text in each file, and how they relate.
     */
    align() {
        const [first, second] = [linesOf("first"), linesOf("second")];
        const isLong = Math.max(first.length, second.length) > MAX_ALIGNED_LINES;
        const pairs = isLong ? null : align(first, second, MAX_ALIGNED_CHANGES);
        if (pairs === null) {
            return null;
        }
        const isSame = ([one, two]) => one !== null && two !== null && first[one] === second[two];
        const changed = pairs.flatMap((pair, at) => (isSame(pair) ? [] : [at]));
        const side = (lines, at) => (at === null ? null : { line: at + 1, text: lines[at].slice(0, MAX_SHOWN_CHARS) });
        const rows = [];
        let [next, left] = [0, 0];
        pairs.forEach((pair, at) => {
            while (next < changed.length && changed[next] < at - CONTEXT_LINES) {
                next += 1;
            }
            if (next === changed.length || changed[next] > at + CONTEXT_LINES) {
                left += 1;
                return;
            }
            if (left > 0) {
                rows.push({ kind: "left-out", count: left });
                left = 0;
            }
            const [one, two] = [side(first, pair[0]), side(second, pair[1])];
            rows.push({ kind: isSame(pair) ? "same" : one && two ? "changed" : one ? "removed" : "added", one, two });
        });
        if (left > 0) {
            rows.push({ kind: "left-out", count: left });
        }
        return { rows: rows.slice(0, MAX_ALIGNED_ROWS), total: rows.length, changes: changed.length };
    },

    /** Returns the text around a line, and the number of its first line. */
    excerpt({ pane, line }) {
        checkSize(pane);
        const bytes = typeof files[pane].body === "string" ? new TextEncoder().encode(files[pane].body) : files[pane].body;
        const wanted = Math.max(1, line - EXCERPT_LINES);
        let number = 1;
        let from = 0;
        let to = bytes.length;
        for (let index = 0; index < bytes.length; index += 1) {
            const isEnd = bytes[index] === 10 || (bytes[index] === 13 && bytes[index + 1] !== 10);
            if (!isEnd) {
                continue;
            }
            number += 1;
            if (number === wanted) {
                from = index + 1;
            }
            if (number === wanted + 2 * EXCERPT_LINES + 1) {
                to = index;
                break;
            }
        }
        to = Math.min(to, from + MAX_EXCERPT_BYTES);
        return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from, to)), first: wanted };
    },
};

async function start(wasm) {
    const packed = Uint8Array.from(atob(wasm), (char) => char.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    await load(await new Response(stream).arrayBuffer());
    return {
        version: VERSION, dialects: dialects(), crawlers: crawlers(), groups: groups(), vocabularies: vocabularies(),
        limits: { maxBodyBytes: MAX_BODY_BYTES, maxAgents: MAX_AGENTS, maxVerdicts: MAX_VERDICTS },
    };
}

/** Returns the message for an error. */
function failure(error) {
    return { code: error.code ?? "stopped", message: String(error.message ?? error), suggestion: error.suggestion ?? null };
}

// Messages are handled one at a time, so that a file is completely read before the next question.
let previous = Promise.resolve();
self.onmessage = ({ data }) => {
    previous = previous.then(async () => {
        try {
            if (data.kind === "start") {
                self.postMessage({ kind: "ready", catalog: await start(data.wasm) });
            } else if (data.kind === "file") {
                await setFile(data);
            } else {
                self.postMessage({ id: data.id, answer: answers[data.kind](data.question) });
            }
        } catch (error) {
            self.postMessage({ id: data.id, kind: data.kind === "start" ? "failed" : "answer", error: failure(error) });
        }
    });
};
