// The page: connects the inputs, the engine, and the panels.
import { CaseError, fromFile, fromFragment, isCaseFile, toFile, toFragment } from "./case.js";
import { byId, element, setText } from "./dom.js";
import { Editor } from "./editor.js";
import { Engine } from "./engine.js";
import { EXAMPLE } from "./example.js";
import { LONG_CHARS, LONG_PAUSE_MS, MAX_ASSERTION_CHARS, MAX_URLS, MAX_URL_LIST_CHARS, PAUSE_MS } from "./limits.js";
import {
    differencesOf, errorNode, meaningOf, showAssertions, showComparison, showDialects, showError, showFindings, showReason, showUsage,
} from "./panels.js";
import { Picker } from "./picker.js";
import { Table, VERDICTS } from "./table.js";
import { fillTexts, say, setCatalogue } from "./texts.js";

const data = JSON.parse(byId("data").textContent);

/** The last answers, kept to draw them again in another language or for another selection. */
const shown = { verdicts: null, dialects: undefined, reason: null, url: "", usage: null, findings: null, comparison: null, assertions: null };
let catalog = null;
let timer = 0;
/** A case whose dialect and vocabulary cannot be chosen until the engine lists them. */
let awaitsCatalog = null;
/** Counts the changes of the first file, so that a fix is applied to the file for which it was found. */
let revision = 0;
let foundAt = -1;
let isComparing = false;
/** Whether kinds of findings that are off by default are shown. */
let isShowingAll = false;
let messages = null;

// --- language and colors ---

function remember(key, value) {
    try {
        localStorage.setItem(`reptile.${key}`, value);
    } catch {
        // The page works without storage.
    }
}

function recall(key) {
    try {
        return localStorage.getItem(`reptile.${key}`);
    } catch {
        return null;
    }
}

function setLanguage(name) {
    const catalogue = data.texts[name];
    setCatalogue(catalogue);
    document.documentElement.lang = catalogue.locale;
    document.documentElement.dir = catalogue.direction;
    document.title = say("page.title");
    byId("language").value = name;
    fillTexts(document);
    drawAll();
}

function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    byId("theme").value = theme;
}

function firstLanguage() {
    const wanted = [recall("language"), ...navigator.languages.map((language) => language.split("-")[0])];
    return wanted.find((name) => name && Object.hasOwn(data.texts, name)) ?? "en";
}

// --- messages ---

/** Shows a message above the inputs, or hides it. */
function showMessage(key, values = {}, kind = "fault") {
    messages = key && { key, values, kind };
    byId("message").replaceChildren(...(key ? [element("p", { class: kind }, kind === "fault" ? "⚠ " : "", say(key, values), " ",
        element("button", { type: "button", class: "small", onclick: () => showMessage(null) }, say("message.close")))] : []));
}

function showEngineError(error) {
    byId("engine-message").replaceChildren(...(error ? [errorNode(error)] : []));
}

function announce(text) {
    setText(byId("status"), text);
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

async function openCase(testCase) {
    setComparing(testCase.second !== null);
    byId("urls").value = testCase.urls;
    byId("exact").checked = testCase.exact;
    byId("host").value = testCase.host;
    byId("assertions").value = testCase.assertions;
    byId("allow-default").checked = testCase.allowDefault;
    picker.set(testCase.crawlers);
    table.reset();
    if (catalog) {
        choose("dialect", testCase.dialect);
        choose("vocabulary", testCase.vocabulary);
    } else {
        awaitsCatalog = testCase;
    }
    byId("usage-lines").value = testCase.usageLines;
    await first.set(testCase.robots);
    if (testCase.second !== null) {
        await second.set(testCase.second);
    }
    askSoon();
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
    await attempt(async () => {
        if (await isCaseFile(file)) {
            const testCase = await fromFile(file);
            showMessage(null);
            await openCase(testCase);
        } else {
            await pane.set(file);
        }
    });
}

async function openLink() {
    const fragment = location.hash.slice(1);
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
        history.replaceState(null, "", `#${fragment}`);
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
        history.replaceState(null, "", location.href.split("#")[0]);
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
    engine.setFile("first", first.body);
    if (isComparing) {
        engine.setFile("second", second.body);
        second.describe();
    }
    const urls = urlsOf(byId("urls").value);
    if (urls.length > MAX_URLS) {
        showMessage("urls.tooMany", { count: MAX_URLS });
    }
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

/** Asks for the findings, with all kinds or without those that are off by default. */
function askFindings() {
    const asked = revision;
    return ask("lint", { ...common(), host: byId("host").value.trim(), all: isShowingAll }, (found) => {
        shown.findings = found;
        foundAt = asked;
        drawFindings();
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

function showVerdicts(answer) {
    shown.verdicts = answer;
    picker.setFaults(answer.bad);
    table.show(answer);
    first.describe(answer.size);
    const count = (wanted) => answer.verdicts.reduce((sum, verdict) => sum + (VERDICTS[verdict] === wanted ? 1 : 0), 0);
    const [allowed, disallowed] = [count("allow"), count("disallow")];
    announce(answer.verdicts.length === 0 ? say("verdicts.empty") : say("verdicts.summary", {
        count: answer.verdicts.length, allowed, disallowed, other: answer.verdicts.length - allowed - disallowed,
    }));
    setText(byId("summary"), answer.verdicts.length === 0 ? "" : byId("status").textContent);
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
    }, "reason");
    ask("usage", { ...question, vocabulary: byId("vocabulary").value, lines: byId("usage-lines").value }, (usage) => {
        shown.usage = usage;
        drawUsage();
    }, "usage");
}

// --- drawing ---

const selectLine = (line) => first.reveal(line, true);
const selectSecondLine = (line) => second.reveal(line, true);

function drawReason() {
    showReason(shown.reason, shown.url, selectLine);
    drawMarks();
    if (shown.reason) {
        first.reveal(shown.reason.line);
    }
}

function drawMarks() {
    const marks = [];
    if (shown.reason) {
        const { line, verdict, group, bestAllow, bestDisallow } = shown.reason;
        marks.push([line, verdict], [bestAllow?.line ?? 0, "other"], [bestDisallow?.line ?? 0, "other"]);
        marks.push(...group.lines.map((groupLine) => [groupLine, "group"]));
    }
    for (const finding of shown.findings?.findings ?? []) {
        marks.push([finding.line, finding.severity]);
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
    showFindings(shown.findings, selectLine, applyFix, toggleAll);
    drawMarks();
}

function drawAssertions() {
    showAssertions(shown.assertions, selectLine);
}

function drawComparison() {
    showComparison(shown.comparison, shown.verdicts?.agents.length ?? 0, selectLine, selectSecondLine);
    const lines = (index) => (shown.comparison ?? []).flatMap(({ counterexamples }) => counterexamples.map(({ lines: pair, verdicts }) => [pair[index], verdicts[index]]));
    second.mark(lines(1));
}

function drawAll() {
    picker.draw();
    table.draw();
    first.describe(shown.verdicts?.size);
    second.describe();
    drawReason();
    drawDialects();
    drawUsage();
    drawFindings();
    drawAssertions();
    drawComparison();
    drawChoices();
    if (messages) {
        showMessage(messages.key, messages.values, messages.kind);
    }
}

/** Fills the lists of dialects and vocabularies. */
function drawChoices() {
    if (!catalog) {
        return;
    }
    const fill = (id, items) => {
        const select = byId(id);
        const value = select.value || items.find(({ isDefault }) => isDefault)?.name;
        select.replaceChildren(...items.map(({ name }) => element("option", { value: name }, name)));
        select.value = value;
    };
    fill("dialect", catalog.dialects);
    fill("vocabulary", catalog.vocabularies);
    byId("dialect-meaning").replaceChildren(meaningOf(catalog.dialects.find(({ name }) => name === byId("dialect").value)));
}

/** Applies one finding's fix, or all fixes that cannot change a verdict. */
function applyFix(finding) {
    if (foundAt !== revision) {
        return;
    }
    if (finding && !finding.fix.isApplied) {
        const lines = first.body.split("\n");
        lines.splice(finding.line - 1, 1, ...(finding.fix.edit.text === null ? [] : [finding.fix.edit.text]));
        replaceFirst(lines.join("\n"));
        return;
    }
    const host = byId("host").value.trim();
    const only = finding ? { code: finding.code, line: finding.line } : null;
    ask("fix", { ...common(), host, only }, replaceFirst, "findings");
}

async function replaceFirst(text) {
    await first.set(text);
    announce(say("findings.applied"));
    byId("robots").focus();
}

function setComparing(isOn) {
    isComparing = isOn;
    document.documentElement.classList.toggle("comparing", isOn);
    byId("second-card").hidden = !isOn;
    byId("comparison-card").hidden = !isOn;
    byId("compare").setAttribute("aria-expanded", String(isOn));
    askSoon();
}

// --- the start ---

const table = new Table({ onSelect: askSelected });
const picker = new Picker({ onChange: askSoon, onMessage: showMessage });

function newEditor(id, pane) {
    return new Editor({
        id,
        onChange: () => {
            revision += pane === "first" ? 1 : 0;
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

function limitPaste(id, max) {
    listen(id, "paste", (event) => {
        if (byId(id).textLength + (event.clipboardData?.getData("text/plain") ?? "").length > max) {
            event.preventDefault();
            showMessage("editor.pasteRefused", { count: max });
        }
    });
}

/** Opens a dropped file: as the second file on the second file's card, and as the first file anywhere else. */
function acceptDrops() {
    const card = (event) => (isComparing && event.target.closest?.("#second-card") ? byId("second-card") : byId("robots-card"));
    const mark = (marked) => ["robots-card", "second-card"].forEach((id) => byId(id).classList.toggle("dropping", marked?.id === id));
    document.addEventListener("dragover", (event) => {
        if (event.dataTransfer.types.includes("Files")) {
            event.preventDefault();
            mark(card(event));
        }
    });
    document.addEventListener("dragleave", () => mark(null));
    document.addEventListener("drop", (event) => {
        mark(null);
        const file = event.dataTransfer.files[0];
        if (file) {
            event.preventDefault();
            openFile(file, card(event).id === "second-card" ? second : first);
        }
    });
}

for (const [name, { language, locale }] of Object.entries(data.texts)) {
    byId("language").append(element("option", { value: name, lang: locale }, language));
}
listen("language", "change", ({ target }) => {
    remember("language", target.value);
    setLanguage(target.value);
});
listen("theme", "change", ({ target }) => {
    remember("theme", target.value);
    setTheme(target.value);
});
for (const id of ["urls", "assertions", "host"]) {
    listen(id, "input", askSoon);
}
for (const id of ["exact", "allow-default"]) {
    listen(id, "change", askSoon);
}
listen("dialect", "change", () => {
    drawChoices();
    askSoon();
});
for (const id of ["vocabulary", "usage-lines"]) {
    listen(id, "change", askSelected);
}
limitPaste("urls", MAX_URL_LIST_CHARS);
limitPaste("assertions", MAX_ASSERTION_CHARS);
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
    byId(`${id}-notice`).querySelector("button").addEventListener("click", () => pane.editAsText());
}
acceptDrops();
listen("compare", "click", () => {
    setComparing(!isComparing);
    if (isComparing && second.length === 0) {
        second.set(first.body);
    }
});
listen("fix-all", "click", () => applyFix(null));
listen("link", "click", copyLink);
listen("save", "click", saveCase);
for (const id of ["example", "first-example"]) {
    listen(id, "click", () => openCase(EXAMPLE));
}
window.addEventListener("hashchange", openLink);

setTheme(recall("theme") ?? "auto");
setLanguage(firstLanguage());
openLink();
