// The page: connects the inputs, the engine and the views.
import { meantBy, showAnswer } from "./answer.js";
import { CaseError, fromFile, fromFragment, isCaseFile, isKeepable, keep, kept, toFile, toFragment } from "./case.js";
import { showAligned, showComparison } from "./compare.js";
import { byId, element, setText } from "./dom.js";
import { Editor, SIGNS as MARK_SIGNS } from "./editor.js";
import { Engine } from "./engine.js";
import { EXAMPLE, START } from "./example.js";
import { noteOf, showFindings } from "./findings.js";
import { History } from "./history.js";
import { acceptDrops, acceptMenu, acceptUndo, limitPaste } from "./inputs.js";
import {
    BURST_MS, FIRST_FINDINGS, KEEP_PAUSE_MS, LONG_CHARS, LONG_PAUSE_MS, MAX_ASSERTION_CHARS, MAX_STATES, MAX_STATE_CHARS, MAX_URLS,
    MAX_URL_LIST_CHARS, PAUSE_MS,
} from "./limits.js";
import { differencesOf, errorNode, meaningOf, showAssertions, showDialects, showError, showReason, showUsage } from "./panels.js";
import { Picker } from "./picker.js";
import { appended, closingLines } from "./recipe.js";
import { setUpSettings } from "./settings.js";
import { Table, VERDICTS } from "./table.js";
import { hasText, say, sayNodes } from "./texts.js";

const data = JSON.parse(byId("data").textContent);

/** Maximum number of rows of the field for URLs. */
const MAX_URL_ROWS = 5;

/** The last answers, kept to draw them again in another language or for another selection. */
const shown = {
    verdicts: null, dialects: undefined, reason: null, url: "", usage: null, findings: null, effects: null, comparison: null,
    aligned: undefined, assertions: null,
};
const history = new History({ maxStates: MAX_STATES, maxChars: MAX_STATE_CHARS, burstMs: BURST_MS });
let catalog = null;
let timer = 0;
let keepTimer = 0;
/** A case whose dialect and vocabulary cannot be chosen until the engine lists them. */
let awaitsCatalog = null;
/** Counts the changes of the first file, so that a fix is applied to the file for which it was found. */
let revision = 0;
let foundAt = -1;
/** The number of cases that are being opened. Until their files are read, the inputs are not recorded as a state. */
let opening = 0;
let isComparing = false;
/** Whether kinds of findings that are off by default are shown. */
let isShowingAll = false;
/** Whether more than the first findings are shown. */
let isLong = false;
/** Whether the next state is a separate step, because the page and not the visitor's typing caused it. */
let isOwnStep = false;
let message = null;
/** Whether the list of URLs was too long at the last question. The page says so once, and hides no other message. */
let hasTooManyUrls = false;

// --- messages ---

/** Shows a message above the inputs, or hides it. */
function showMessage(key, values = {}, kind = "fault") {
    message = key && { key, values, kind };
    byId("message").replaceChildren(...(key ? [element("p", { class: kind }, kind === "fault" ? "⚠ " : "", ...sayNodes(key, values), " ",
        element("button", { type: "button", class: "small", onclick: () => showMessage(null) }, say("message.close")))] : []));
}

function showEngineError(error) {
    byId("engine-message").replaceChildren(...(error ? [errorNode(error)] : []));
}

function announce(...texts) {
    setText(byId("status"), texts.filter(Boolean).join(" "));
}

// --- the case ---

/** Returns the lines with URLs. Blanks in a line belong to its URL. */
function urlsOf(text) {
    return text.split("\n").filter((line) => line !== "");
}

function currentCase() {
    return {
        robots: first.body, second: isComparing ? second.body : null, urls: byId("urls").value, crawlers: picker.chosen,
        exact: byId("exact").checked, dialect: byId("dialect").value, host: byId("host").value,
        vocabulary: byId("vocabulary").value, usageLines: byId("usage-lines").value,
        assertions: byId("assertions").value, allowDefault: byId("allow-default").checked,
    };
}

/** Chooses an option if it exists. */
function choose(id, value) {
    const select = byId(id);
    if ([...select.options].some((option) => option.value === value)) {
        select.value = value;
    } else {
        showMessage("case.unknownName", { name: value });
    }
}

/** Shows a case. `isNew` makes it a step that can be undone, and selects its first verdict. */
async function openCase(testCase, isNew = true) {
    if (isNew) {
        startStep();
    }
    setComparing(testCase.second !== null);
    byId("urls").value = testCase.urls;
    fitUrls();
    byId("exact").checked = testCase.exact;
    byId("host").value = testCase.host;
    byId("assertions").value = testCase.assertions;
    byId("allow-default").checked = testCase.allowDefault;
    picker.set(testCase.crawlers);
    if (isNew) {
        table.reset();
    }
    if (catalog) {
        choose("dialect", testCase.dialect);
        choose("vocabulary", testCase.vocabulary);
        drawChoices();
    } else {
        awaitsCatalog = testCase;
    }
    byId("usage-lines").value = testCase.usageLines;
    opening += 1;
    try {
        await setBody(first, testCase.robots);
        if (testCase.second !== null) {
            await setBody(second, testCase.second);
        }
    } finally {
        opening -= 1;
    }
    askSoon();
}

async function setBody(editor, body) {
    if (editor.body !== body) {
        await editor.set(body);
    }
}

/** Shows an earlier or a later state. */
async function travel(step) {
    if (opening > 0) {
        return;
    }
    record();
    const state = step < 0 ? history.undo() : history.redo();
    if (state) {
        showMessage(null);
        await openCase(state, false);
        announce(say(step < 0 ? "page.undone" : "page.redone"));
    }
    drawHistory();
}

/** Adds the present state to those that can be undone. */
function record() {
    if (catalog && opening === 0) {
        const state = currentCase();
        history.record(state, performance.now());
        drawHistory();
        keepSoon(state);
    }
}

/** Begins a step that is undone separately. */
function startStep() {
    record();
    history.endStep();
    isOwnStep = true;
}

function drawHistory() {
    byId("undo").disabled = !history.canUndo;
    byId("redo").disabled = !history.canRedo;
}

/**
 * Says if the case is too long to survive a reload. A text is stored when the page is left. A file takes time to read,
 * and is stored soon.
 */
function keepSoon(state) {
    clearTimeout(keepTimer);
    setText(byId("kept"), isKeepable(state) ? "" : say("page.notKept"));
    if (first.isFile || second.isFile) {
        keepTimer = setTimeout(() => keep(currentCase()), KEEP_PAUSE_MS);
    }
}

/** Runs `work`, and shows the message of a {@link CaseError}. */
async function attempt(work) {
    try {
        await work();
    } catch (error) {
        if (!(error instanceof CaseError)) {
            throw error;
        }
        showMessage(error.key, error.values);
    }
}

async function openFile(file, pane) {
    // The page is busy while it reads.
    askSoon();
    await attempt(async () => {
        if (await isCaseFile(file)) {
            const testCase = await fromFile(file);
            showMessage(null);
            await openCase(testCase);
        } else {
            startStep();
            await pane.set(file);
        }
    });
}

/** Returns the case in the address, or an empty text. Links to parts of the page are not cases. */
function linkedCase() {
    const fragment = location.hash.slice(1);
    return byId(fragment) ? "" : fragment;
}

/** Opens the stored case, or else an empty one, and then the case in the address, which may be damaged. */
async function openFirst() {
    await openCase(kept() ?? START);
    await openLink();
}

async function openLink() {
    const fragment = linkedCase();
    if (fragment !== "") {
        await attempt(async () => {
            const testCase = await fromFragment(fragment);
            showMessage(null);
            await openCase(testCase);
        });
    }
}

async function copyLink() {
    await attempt(async () => {
        const fragment = await toFragment(currentCase());
        window.history.replaceState(null, "", `#${fragment}`);
        try {
            await navigator.clipboard.writeText(location.href);
            showMessage("link.copied", {}, "good");
        } catch {
            showMessage("link.inAddress", {}, "good");
        }
    });
}

async function saveCase() {
    const file = await toFile(currentCase());
    const url = URL.createObjectURL(file);
    element("a", { href: url, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Removes a link's fragment that no longer describes the inputs. */
function forgetLink() {
    if (location.hash !== "") {
        window.history.replaceState(null, "", location.href.split("#")[0]);
    }
}

// --- questions and answers ---

/** Schedules all questions after a short pause in typing. */
function askSoon() {
    document.documentElement.dataset.busy = "true";
    clearTimeout(timer);
    const length = first.length + byId("urls").textLength + (isComparing ? second.length : 0);
    timer = setTimeout(askAll, length > LONG_CHARS ? LONG_PAUSE_MS : PAUSE_MS);
}

function common() {
    return { dialect: byId("dialect").value, exact: byId("exact").checked };
}

/** Asks a question. Shows the answer, or the error in the panel `id`. Outdated answers are dropped. */
async function ask(kind, question, show, id) {
    document.documentElement.dataset.busy = "true";
    try {
        const answer = await engine.ask(kind, question);
        if (answer !== undefined) {
            show(answer);
        }
    } catch (error) {
        if (error.code === undefined) {
            throw error;
        }
        if (id) {
            showError(id, error);
        } else {
            showEngineError(error);
        }
        return false;
    }
    return true;
}

function askAll() {
    if (!catalog) {
        return;
    }
    timer = 0;
    forgetLink();
    record();
    if (isOwnStep) {
        history.endStep();
        isOwnStep = false;
    }
    engine.setFile("first", first.body);
    if (isComparing) {
        engine.setFile("second", second.body);
        second.describe();
    }
    const urls = urlsOf(byId("urls").value);
    if (urls.length > MAX_URLS && !hasTooManyUrls) {
        showMessage("urls.tooMany", { count: MAX_URLS });
    }
    hasTooManyUrls = urls.length > MAX_URLS;
    const question = { ...common(), agents: picker.chosen, urls: urls.slice(0, MAX_URLS) };
    ask("verdicts", question, (answer) => {
        showEngineError(null);
        showVerdicts(answer);
    }).then((isAnswered) => {
        if (!isAnswered) {
            clearAnswers();
        }
    });
    askFindings();
    const assertions = byId("assertions").value;
    if (assertions.trim() === "") {
        engine.cancel("prove");
        shown.assertions = null;
        drawAssertions();
    } else {
        ask("prove", { ...common(), assertions, allowDefault: byId("allow-default").checked }, (found) => {
            shown.assertions = found;
            drawAssertions();
        }, "outcomes");
    }
}

/** Asks for the findings, with all kinds or without those that are off by default, and then for their fixes' effects. */
function askFindings() {
    const asked = revision;
    return ask("lint", { ...common(), host: byId("host").value.trim(), all: isShowingAll }, (found) => {
        shown.findings = found;
        shown.effects = null;
        foundAt = asked;
        drawFindings();
        const first = found.findings.slice(0, FIRST_FINDINGS);
        const asksFor = ({ fix }) => fix?.edit && !fix.keepsVerdicts;
        const edits = first.filter(asksFor).map(({ fix }) => fix.edit);
        if (edits.length > 0) {
            ask("effects", { ...common(), agents: picker.chosen, edits }, (effects) => {
                let next = 0;
                shown.effects = first.map((finding) => (asksFor(finding) ? (effects?.[next++] ?? null) : undefined));
                drawFindings();
            }, "findings");
        }
    }, "findings");
}

/** Shows all kinds of findings, or hides those that are off by default. */
async function toggleAll() {
    isShowingAll = !isShowingAll;
    await askFindings();
    byId("all-findings")?.focus();
}

/** Removes verdicts that are outdated after an error. */
function clearAnswers() {
    shown.verdicts = null;
    shown.dialects = undefined;
    table.show({ agents: [], urls: [], verdicts: new Uint8Array(), lines: new Uint32Array() });
    askSelected();
    announce(byId("engine-message").textContent);
}

/** Returns a sentence about all verdicts, or an empty text if there is at most one. */
function summaryOf({ verdicts }) {
    const count = (wanted) => verdicts.reduce((sum, verdict) => sum + (VERDICTS[verdict] === wanted ? 1 : 0), 0);
    const [allowed, disallowed] = [count("allow"), count("disallow")];
    const other = verdicts.length - allowed - disallowed;
    const values = { count: verdicts.length, allowed, disallowed, other };
    return verdicts.length < 2 ? "" : say(other > 0 ? "verdicts.summaryOther" : "verdicts.summary", values);
}

function showVerdicts(answer) {
    shown.verdicts = answer;
    picker.setFaults(answer.bad);
    table.show(answer);
    first.describe(answer.size);
    setText(byId("summary"), summaryOf(answer));
    askSelected();
    shown.dialects = undefined;
    if (answer.verdicts.length > 0) {
        ask("dialects", { ...common(), agents: answer.agents, urls: answer.urls }, (dialects) => {
            shown.dialects = dialects;
            if (dialects) {
                table.setDifferences(differencesOf(dialects, common().dialect));
            }
            drawDialects();
        }, "dialects");
    }
    if (isComparing) {
        ask("compare", { ...common(), agents: answer.agents }, (comparison) => {
            shown.comparison = comparison;
            drawComparison();
        }, "comparison");
        ask("align", {}, (aligned) => {
            shown.aligned = aligned;
            showAligned(aligned);
        }, "aligned");
    }
}

/** Asks about the selected verdict. */
function askSelected() {
    const selected = table.selected;
    drawDialects();
    if (!selected) {
        shown.reason = null;
        shown.usage = null;
        engine.cancel("explain");
        engine.cancel("usage");
        drawReason();
        drawUsage();
        return;
    }
    const { urls, agents } = shown.verdicts;
    const question = { ...common(), agent: agents[selected.agent], url: urls[selected.url] };
    ask("explain", question, (reason) => {
        shown.reason = reason;
        shown.url = question.url;
        drawReason();
    }, "answer");
    ask("usage", { ...question, vocabulary: byId("vocabulary").value, lines: byId("usage-lines").value }, (usage) => {
        shown.usage = usage;
        drawUsage();
    }, "usage");
}

// --- drawing ---

const selectLine = (line) => first.reveal(line, true);
const selectSecondLine = (line) => second.reveal(line, true);

/** Returns the name of the input that is needed before there is an answer, or an empty text. */
function missingInput() {
    const needed = [["url", byId("urls").value.trim() === ""], ["crawler", picker.chosen.length === 0], ["file", first.length === 0]];
    const missing = needed.filter(([, isMissing]) => isMissing).map(([name]) => name);
    // An empty file has an answer, but a visitor who has entered nothing starts with the file.
    return missing.length > 1 || missing[0] !== "file" ? (missing.at(-1) ?? "") : "";
}

function drawReason() {
    const { reason, url, verdicts } = shown;
    const hasVerdicts = verdicts !== null && verdicts.verdicts.length > 0;
    const missing = hasVerdicts || byId("engine-message").childElementCount > 0 ? "" : missingInput();
    const sentence = showAnswer({ missing, found: reason, url, isEmptyFile: first.length === 0, rest: verdicts ? summaryOf(verdicts) : "" }, {
        onLine: selectLine, onExample: () => openCase(EXAMPLE), onReplace: replaceUrl,
    });
    if (sentence !== "") {
        announce(sentence, verdicts ? summaryOf(verdicts) : "");
    }
    showReason(reason, selectLine);
    drawMarks();
    if (reason) {
        first.reveal(reason.line);
    }
}

/** Replaces the selected text, which is not a URL, by one that may be meant. */
function replaceUrl(text) {
    const area = byId("urls");
    const lines = area.value.split("\n");
    const at = lines.findIndex((line) => line === shown.url);
    if (at !== -1 && meantBy(shown.url).includes(text)) {
        lines[at] = text;
        startStep();
        area.value = lines.join("\n");
        area.focus();
        askSoon();
    }
}

function drawMarks() {
    const marks = [];
    if (shown.reason) {
        const { line, verdict, group, bestAllow, bestDisallow } = shown.reason;
        marks.push([line, verdict, say(`note.${verdict}`)], [bestAllow?.line ?? 0, "other", say("note.other")], [bestDisallow?.line ?? 0, "other", say("note.other")]);
        marks.push(...group.lines.map((groupLine) => [groupLine, "group", say("note.group")]));
    }
    // An empty file shows how to begin.
    for (const finding of (first.length > 0 && shown.findings?.findings) || []) {
        marks.push([finding.line, finding.severity, noteOf(finding)]);
    }
    first.mark(marks);
}

function drawDialects() {
    const selected = table.selected;
    const at = selected ? selected.url * shown.verdicts.agents.length + selected.agent : null;
    showDialects(shown.dialects, at, common().dialect, selectLine, catalog?.dialects ?? []);
}

function drawUsage() {
    showUsage(shown.usage, selectLine);
}

function drawFindings() {
    const { findings: found, effects } = shown;
    byId("apply-recipe").disabled = first.isFile;
    const more = () => {
        isLong = true;
        drawFindings();
        byId("findings").querySelectorAll("[data-finding]")[FIRST_FINDINGS].querySelector("button").focus();
    };
    showFindings({ found, effects, canEdit: !first.isFile, isLong, isEmptyFile: first.length === 0 }, {
        onLine: selectLine, onFix: applyFix, onAll: toggleAll, onMore: more,
    });
    drawMarks();
}

function drawAssertions() {
    showAssertions(shown.assertions, selectLine);
}

function drawComparison() {
    showComparison(shown.comparison, shown.verdicts?.agents.length ?? 0, selectLine, selectSecondLine);
    const lines = (index) => (shown.comparison ?? []).flatMap(({ counterexamples }) => counterexamples.map(({ lines: pair, verdicts }) => [pair[index], verdicts[index], ""]));
    second.mark(lines(1));
}

function drawLegend() {
    const items = Object.entries({ allow: "", disallow: "", other: "", group: "", warning: "", note: "" }).map(([kind]) =>
        element("li", { class: kind }, element("b", { "aria-hidden": "true" }, MARK_SIGNS[kind]), " ", say(`legend.${kind}`)));
    byId("legend").querySelector("ul").replaceChildren(...items);
}

function drawAll() {
    picker.draw();
    table.draw();
    first.describe(shown.verdicts?.size);
    second.describe();
    setText(byId("summary"), shown.verdicts ? summaryOf(shown.verdicts) : "");
    drawReason();
    drawDialects();
    drawUsage();
    drawFindings();
    drawAssertions();
    drawComparison();
    showAligned(shown.aligned);
    drawChoices();
    drawLegend();
    if (message) {
        showMessage(message.key, message.values, message.kind);
    }
}

/** Fills the lists of dialects, vocabularies and kinds of crawlers. */
function drawChoices() {
    if (!catalog) {
        return;
    }
    const fill = (id, items, words = (name) => name) => {
        const select = byId(id);
        const value = select.value || (items.find(({ isDefault }) => isDefault) ?? items[0]).name;
        select.replaceChildren(...items.map(({ name }) => element("option", { value: name }, words(name))));
        select.value = value;
    };
    fill("dialect", catalog.dialects);
    fill("vocabulary", catalog.vocabularies);
    // A group that obeys no robots.txt cannot be closed out.
    const groups = catalog.groups.filter((group) => closingLines(group, catalog.crawlers).startsWith("User-agent"));
    fill("recipe", groups, (name) => (hasText(`kind.${name.slice(1)}`) ? say(`kind.${name.slice(1)}`) : name));
    byId("dialect-meaning").replaceChildren(meaningOf(catalog.dialects.find(({ name }) => name === byId("dialect").value)));
}

/** Applies one finding's fix, or all fixes that cannot change a verdict. */
function applyFix(finding) {
    if (foundAt !== revision) {
        return;
    }
    if (finding && !finding.fix.isApplied) {
        const { from, to, text } = finding.fix.edit;
        const lines = first.body.split("\n");
        lines.splice(from - 1, to - from + 1, ...(text === null ? [] : [text]));
        replaceFirst(lines.join("\n"));
        return;
    }
    const host = byId("host").value.trim();
    const asked = revision;
    const only = finding ? { code: finding.code, line: finding.line } : null;
    // Text typed since the request must not be lost.
    ask("fix", { ...common(), host, only }, (text) => asked === revision && replaceFirst(text), "findings");
}

async function replaceFirst(text) {
    startStep();
    await first.set(text);
    announce(say("findings.applied"));
    byId("robots").focus();
}

/** Adds the lines that close the site to the chosen kind of crawler. */
function applyRecipe() {
    const group = catalog?.groups.find(({ name }) => name === byId("recipe").value);
    if (group) {
        replaceFirst(appended(first.body, closingLines(group, catalog.crawlers)));
    }
}

function setComparing(isOn) {
    if (isOn === isComparing) {
        return;
    }
    isComparing = isOn;
    shown.comparison = null;
    shown.aligned = undefined;
    drawComparison();
    showAligned(shown.aligned);
    byId("second-card").hidden = !isOn;
    byId("comparison-card").hidden = !isOn;
    byId("compare").setAttribute("aria-expanded", String(isOn));
    askSoon();
}

/** Fits the field for URLs to their number. */
function fitUrls() {
    byId("urls").rows = Math.min(MAX_URL_ROWS, byId("urls").value.split("\n", MAX_URL_ROWS).length);
}

// --- the start ---

const table = new Table({ onSelect: askSelected });
const picker = new Picker({ onChange: askSoon, onMessage: showMessage });

function newEditor(id, pane) {
    return new Editor({
        id,
        onChange: () => {
            if (pane === "first") {
                revision += 1;
                isLong = false;
            }
            askSoon();
        },
        onExcerpt: (line) => {
            const editor = pane === "first" ? first : second;
            engine.setFile(pane, editor.body);
            ask("excerpt", { pane, line }, (excerpt) => {
                editor.showExcerpt(excerpt);
                editor.describe(editor.body.size);
                editor.reveal(line, false, false);
            });
        },
        onRefuse: showMessage,
    });
}

const first = newEditor("robots", "first");
const second = newEditor("second", "second");

const engine = new Engine({
    script: data.worker,
    wasm: data.wasm,
    onReady: (found) => {
        if (!catalog) {
            catalog = found;
            picker.setKnown(found);
            drawChoices();
            setText(byId("version"), found.version);
            if (awaitsCatalog) {
                choose("dialect", awaitsCatalog.dialect);
                choose("vocabulary", awaitsCatalog.vocabulary);
            }
            drawChoices();
            askAll();
        }
    },
    onFailure: showEngineError,
    onIdle: () => {
        if (timer === 0) {
            delete document.documentElement.dataset.busy;
        }
    },
});

function listen(id, event, work) {
    byId(id).addEventListener(event, work);
}

for (const id of ["urls", "assertions", "host"]) {
    listen(id, "input", askSoon);
}
listen("urls", "input", fitUrls);
for (const id of ["exact", "allow-default"]) {
    listen(id, "change", askSoon);
}
listen("dialect", "change", () => {
    drawChoices();
    askSoon();
});
for (const id of ["vocabulary", "usage-lines"]) {
    listen(id, "change", () => {
        record();
        askSelected();
    });
}
for (const [id, max] of [["urls", MAX_URL_LIST_CHARS], ["assertions", MAX_ASSERTION_CHARS]]) {
    limitPaste(id, max, () => showMessage("editor.pasteRefused", { count: max }));
}
for (const [input, button, pane] of [["file", "open", first], ["second-file", "second-open", second]]) {
    listen(button, "click", () => byId(input).click());
    listen(input, "change", async ({ target }) => {
        const file = target.files[0];
        target.value = "";
        if (file) {
            await openFile(file, pane);
        }
    });
}
for (const [id, pane] of [["robots", first], ["second", second]]) {
    byId(`${id}-notice`).querySelector("button").addEventListener("click", () => {
        askSoon();
        pane.editAsText();
    });
}
acceptDrops({
    cardOf: (target) => (isComparing && target.closest?.("#second-card") ? "second-card" : "robots-card"),
    onDrop: (file, card) => openFile(file, card === "second-card" ? second : first),
});
acceptUndo({ ids: ["robots", "second", "urls", "assertions", "host"], onTravel: travel, onPaste: startStep });
acceptMenu();
listen("compare", "click", () => {
    startStep();
    setComparing(!isComparing);
    if (isComparing && second.length === 0) {
        second.set(first.body);
    }
});
listen("fix-all", "click", () => applyFix(null));
listen("apply-recipe", "click", applyRecipe);
listen("link", "click", copyLink);
listen("save", "click", saveCase);
listen("example", "click", () => openCase(EXAMPLE));
listen("clear", "click", () => openCase(START));
window.addEventListener("hashchange", openLink);
window.addEventListener("pagehide", () => {
    if (catalog && !first.isFile && !second.isFile) {
        keep(currentCase());
    }
});

setUpSettings(data.texts, drawAll);
openFirst();
