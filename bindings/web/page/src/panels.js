// The panels: the reason of a verdict, other dialects, usage preferences, findings, the comparison and the assertions.
import { byId, element, english, setText, token } from "./dom.js";
import { MAX_COMPARED, MAX_SHOWN_ITEMS } from "./limits.js";
import { VERDICTS, badge, lineButton } from "./table.js";
import { hasText, say, sayNodes } from "./texts.js";

/** Returns a paragraph that is shown in place of a panel's content. */
function note(key, values = {}) {
    return element("p", { class: "empty" }, ...sayNodes(key, values));
}

/** Shows an error in a panel, or in the page's message. */
export function errorNode(error) {
    const key = `error.${error.code}`;
    const text = hasText(key) ? say(key) : say("error.other");
    const isDetailed = error.message && !["slow", "stopped", "limit", "memory"].includes(error.code);
    return element("p", { class: "fault" }, "⚠ ", text, ...(isDetailed ? [" ", english(error.message)] : []));
}

/** Returns a dialect's meaning in the page's language, or in English. */
export function meaningOf({ name, meaning }) {
    return hasText(`dialect.${name}`) ? document.createTextNode(say(`dialect.${name}`)) : english(meaning);
}

/** Returns a path that a text without its first slash may mean, or null for a URL and for nothing. */
export function nearestPath(text) {
    const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(text);
    return text === "" || isUrl || text.startsWith("/") ? null : `/${text}`;
}

/** Returns the reason of a verdict in words. For a text that is not a URL, asks whether a path was meant. */
function whyNodes(found, url) {
    const path = found.why === "no-url" ? nearestPath(url) : null;
    if (path !== null) {
        return sayNodes("why.no-url-path", { path: token(path) });
    }
    const { bestAllow, bestDisallow } = found;
    const [winner, loser] = found.verdict === "allow" ? [bestAllow, bestDisallow] : [bestDisallow, bestAllow];
    const values = { winner: winner?.octets ?? 0, loser: loser?.octets ?? 0, agent: token(found.agent), dialect: token(found.dialect) };
    return hasText(`why.${found.why}`) ? sayNodes(`why.${found.why}`, values) : [english(found.sentence)];
}

function ruleNodes(rule, isDeciding, onLine) {
    if (!rule) {
        return [say("reason.none")];
    }
    const text = rule.line === 0 ? rule.pattern : rule.text;
    return [
        rule.line === 0 ? say("reason.added") : lineButton(rule.line, onLine), " ", token(text), " ",
        element("small", {}, say("reason.octets", { count: rule.octets })),
        ...(isDeciding ? [" ", element("strong", { class: "decides" }, say("reason.decides"))] : []),
    ];
}

/** Shows the reason of one verdict. */
export function showReason(found, url, onLine) {
    const panel = byId("reason");
    if (!found) {
        panel.replaceChildren(note("reason.empty"));
        return;
    }
    const isDeciding = (rule, kind) => Boolean(rule) && found.verdict === kind && found.line === rule.line && found.why !== "no-match" && found.why !== "no-group";
    const rows = [
        ["reason.group", [
            say(`chosen.${found.chosenBy}`), ...found.group.lines.flatMap((line) => [" ", lineButton(line, onLine)]),
            ...found.group.agents.flatMap((agent) => [" ", token(agent)]),
        ]],
        ["reason.why", whyNodes(found, url)],
        ["reason.allow", ruleNodes(found.bestAllow, isDeciding(found.bestAllow, "allow"), onLine)],
        ["reason.disallow", ruleNodes(found.bestDisallow, isDeciding(found.bestDisallow, "disallow"), onLine)],
        ["reason.path", [token(found.path)]],
    ];
    panel.replaceChildren(
        element("p", { class: "question" }, badge(found.verdict), " ", ...sayNodes("reason.question", { url: token(url), agent: token(found.agent) })),
        element("dl", {}, ...rows.map(([key, nodes]) => element("div", {}, element("dt", {}, say(key)), element("dd", {}, ...nodes)))),
    );
}

/** Shows one verdict under every dialect. `at` is the verdict's index, and `chosen` the file's dialect. */
export function showDialects(answers, at, chosen, onLine, known) {
    const panel = byId("dialects");
    if (answers === null) {
        panel.replaceChildren(note("dialects.tooMany"));
        return;
    }
    if (!answers || at === null) {
        panel.replaceChildren(note("dialects.empty"));
        return;
    }
    const own = answers.find(({ dialect }) => dialect === chosen);
    const differing = differencesOf(answers, chosen).reduce((count, differs) => count + (differs > 0 ? 1 : 0), 0);
    const rows = answers.map((answer) => {
        const { dialect, verdicts, lines, error } = answer;
        const differs = !error && verdicts[at] !== own.verdicts?.[at];
        return element("tr", { class: differs ? "differs" : null },
            element("th", { scope: "row" }, token(dialect), " ", element("small", {}, meaningOf(known.find(({ name }) => name === dialect)))),
            element("td", {}, ...(error ? [english(error)] : [badge(VERDICTS[verdicts[at]]), ...(differs ? [" ", element("em", {}, say("dialects.differs"))] : [])])),
            element("td", {}, error ? "–" : lineButton(lines[at], onLine)));
    });
    panel.replaceChildren(
        element("p", {}, ...sayNodes("dialects.summary", { count: differing, total: own.verdicts?.length ?? 0 })),
        element("div", { class: "scroll" }, element("table", {},
            element("thead", {}, element("tr", {}, ...["dialects.name", "dialects.verdict", "dialects.line"].map((key) => element("th", { scope: "col" }, say(key))))),
            element("tbody", {}, ...rows))),
    );
}

/** Returns for each verdict the number of dialects that disagree with the chosen one. */
export function differencesOf(answers, chosen) {
    const own = answers.find(({ dialect }) => dialect === chosen)?.verdicts ?? new Uint8Array();
    return own.map((verdict, at) => answers.filter((answer) => answer.verdicts && answer.verdicts[at] !== verdict).length);
}

/** Shows the usage preferences for the selected URL and crawler. */
export function showUsage(preferences, onLine) {
    const panel = byId("usage");
    if (!preferences) {
        panel.replaceChildren(note("usage.empty"));
        return;
    }
    if (preferences.length === 0) {
        panel.replaceChildren(note("usage.none"));
        return;
    }
    const rows = preferences.map(({ category, value, lines }) => element("tr", {},
        element("th", { scope: "row" }, token(category)),
        element("td", {}, element("span", { class: `badge use-${value}` }, say(`use.${value}`))),
        element("td", {}, ...(lines.length === 0 ? ["–"] : lines.flatMap((line) => [lineButton(line, onLine), " "])))));
    panel.replaceChildren(element("table", {},
        element("thead", {}, element("tr", {}, ...["usage.category", "usage.preference", "usage.lines"].map((key) => element("th", { scope: "col" }, say(key))))),
        element("tbody", {}, ...rows)));
}

/** Returns the control for the kinds of findings that are off by default, if there are such findings. */
function withheldNodes({ withheld, all }, onAll) {
    if (withheld === 0) {
        return [];
    }
    const label = say(all ? "findings.hide" : "findings.show", { count: withheld });
    const button = element("button", { type: "button", id: "all-findings", class: "small", "aria-expanded": String(all), onclick: onAll }, label);
    return [element("p", {}, button)];
}

/**
 * Shows the findings. `onFix` is called with a finding, or without one to fix all, and `onAll` to show or hide the
 * kinds that are off by default.
 */
export function showFindings(found, onLine, onFix, onAll) {
    const panel = byId("findings");
    byId("fix-all").disabled = !found || found.fixes === 0;
    setText(byId("fix-all"), say("findings.fixAll", { count: found?.fixes ?? 0 }));
    if (!found) {
        panel.replaceChildren(note("findings.empty"));
        return;
    }
    if (found.total === 0) {
        panel.replaceChildren(element("p", { class: "good" }, "✓ ", say("findings.none")), ...withheldNodes(found, onAll));
        return;
    }
    const items = found.findings.map((finding) => {
        const { fix } = finding;
        const item = element("li", { class: finding.severity },
            element("p", {},
                element("span", { class: `badge ${finding.severity}` }, say(`severity.${finding.severity}`)), " ",
                lineButton(finding.line, onLine), " ", say(`finding.${finding.code}`)),
            element("p", {}, element("small", {}, english(finding.message), " ", token(finding.code))));
        if (fix) {
            const advice = element("p", { class: "fix" }, say("findings.fix"), " ", english(fix.title));
            if (fix.edit) {
                const isSafe = fix.keepsVerdicts;
                const label = say(isSafe ? "findings.apply" : "findings.applyChanging");
                advice.append(" ", element("button", { type: "button", class: "small", "data-fix": finding.line, onclick: () => onFix(finding) }, label));
            }
            item.append(advice);
        }
        return item;
    });
    const hidden = found.total - found.findings.length;
    panel.replaceChildren(
        element("p", {}, say("findings.count", { count: found.total })),
        element("ol", { class: "items" }, ...items),
        ...(hidden > 0 ? [note("list.hidden", { count: hidden })] : []),
        ...withheldNodes(found, onAll));
}

/** Shows the comparison of two files for each crawler. */
export function showComparison(comparisons, total, onFirst, onSecond) {
    const panel = byId("comparison");
    if (!comparisons || comparisons.length === 0) {
        panel.replaceChildren(note("compare.empty"));
        return;
    }
    const items = comparisons.map(({ agent, relation, counterexamples, isComplete }) => {
        const item = element("li", { class: relation, "data-relation": relation },
            element("p", {}, element("strong", {}, token(agent)), " ", say(`relation.${relation}`), " ", isComplete ? say("compare.proved") : say("compare.unproved")));
        if (counterexamples.length > 0) {
            item.append(element("ul", {}, ...counterexamples.map(({ url, verdicts, lines }) => element("li", {},
                token(url), " ", say("compare.first"), " ", badge(verdicts[0]), " ", lineButton(lines[0], onFirst), " ",
                say("compare.second"), " ", badge(verdicts[1]), " ", lineButton(lines[1], onSecond)))));
        }
        return item;
    });
    panel.replaceChildren(
        element("ul", { class: "items" }, ...items),
        ...(total > MAX_COMPARED ? [note("compare.more", { count: MAX_COMPARED })] : []));
}

/** Shows the assertions' results. */
export function showAssertions(found, onLine) {
    const panel = byId("outcomes");
    if (!found) {
        panel.replaceChildren(note("assertions.empty"));
        return;
    }
    if (found.mistakes.length > 0) {
        panel.replaceChildren(element("ol", { class: "items" }, ...found.mistakes.slice(0, MAX_SHOWN_ITEMS).map(({ line, message }) =>
            element("li", { class: "error" }, "⚠ ", say("assertions.mistake", { line }), " ", english(message)))));
        return;
    }
    const items = found.outcomes.map(({ text, line, proof, holds, counterexample, missing, crawlers }) => {
        const item = element("li", { class: holds ? "note" : "error", "data-proof": proof, "data-line": line },
            element("p", {}, element("span", { class: `badge ${holds ? "allow" : "disallow"}` }, holds ? "✓ " : "✕ ", say(`proof.${proof}`)), " ", token(text)));
        if (counterexample) {
            const decisions = counterexample.decisions.flatMap((decision, index) => [" ", token(crawlers[index] ?? ""), " ", badge(decision.verdict), " ", lineButton(decision.line, onLine)]);
            item.append(element("p", { class: "fix" }, ...sayNodes("assertions.counterexample", { path: token(counterexample.path) }), ...decisions));
        }
        if (missing) {
            item.append(element("p", { class: "fix" }, ...sayNodes("assertions.missing", { agent: token(missing) })));
        }
        return item;
    });
    panel.replaceChildren(
        element("p", {}, say("assertions.count", { count: found.total, held: found.held })),
        element("ol", { class: "items" }, ...items),
        ...(found.total > found.outcomes.length ? [note("list.hidden", { count: found.total - found.outcomes.length })] : []));
}

/** Draws what follows from the list of errors of all panels. */
export function showError(id, error) {
    byId(id).replaceChildren(errorNode(error));
}
