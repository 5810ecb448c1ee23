// The findings: each with its line, a plain explanation, its fix, and the paths that the fix opens and closes.
import { byId, element, english, folded, setText, token } from "./dom.js";
import { FIRST_FINDINGS } from "./limits.js";
import { badge, lineButton } from "./table.js";
import { hasText, say, sayNodes } from "./texts.js";

/** Returns a finding in the page's language, or in English. */
function wordsOf({ code, message }) {
    return hasText(`finding.${code}`) ? document.createTextNode(say(`finding.${code}`)) : english(message);
}

/** Returns a short note about a finding for the editor. */
export function noteOf({ code, message }) {
    return hasText(`finding.${code}`) ? say(`finding.${code}`) : message;
}

/** Returns what a fix opens and closes. `effect` is `undefined` until it is known, and `null` if it is not proved. */
function effectNodes(fix, effect) {
    if (fix.keepsVerdicts) {
        return [element("span", { class: "effect" }, "✓ ", say("effect.none"))];
    }
    if (effect === undefined) {
        return [];
    }
    if (effect === null) {
        return [element("span", { class: "effect" }, say("effect.unknown"))];
    }
    const change = (key, verdict) => (effect[key] ? [element("span", { class: "effect" }, badge(verdict), " ",
        ...sayNodes(`effect.${key}`, { url: token(effect[key].url), agent: token(effect[key].agent) }))] : []);
    const changes = [...change("opens", "allow"), ...change("closes", "disallow")];
    if (changes.length > 0) {
        return changes;
    }
    const names = element("span", {}, ...effect.agents.flatMap((agent, at) => [...(at > 0 ? [say("list.separator")] : []), token(agent)]));
    return [element("span", { class: "effect" }, ...sayNodes(effect.isComplete ? "effect.none-for" : "effect.unknown", { agents: names }))];
}

function fixNode(finding, effect, canEdit, onFix) {
    const { fix } = finding;
    if (!fix?.edit) {
        return [];
    }
    const change = fix.edit.text === null ? say("findings.remove") : element("code", { dir: "ltr", class: "after" }, fix.edit.text);
    const button = element("button", { type: "button", class: "small", "data-fix": finding.line, onclick: () => onFix(finding) }, say("findings.apply"));
    return [element("p", { class: "fix" }, element("span", { "aria-hidden": "true" }, "→ "), change, " ", ...(canEdit ? [button] : []), " ",
        ...effectNodes(fix, effect))];
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
 * Shows the findings. `effects` maps a finding's position to its fix's effect. `isLong` shows more than the first ones.
 * Without `canEdit`, no fix is offered: a fixed text would replace bytes that are not text.
 * `onFix` is called with a finding, or without one to fix all, `onAll` to show or hide the kinds that are off by
 * default, and `onMore` to show more.
 */
export function showFindings({ found, effects, canEdit, isLong, isEmptyFile }, { onLine, onFix, onAll, onMore }) {
    const panel = byId("findings");
    byId("fix-all").hidden = !found || !canEdit || found.fixes === 0;
    setText(byId("fix-all"), say("findings.fixAll", { count: found?.fixes ?? 0 }));
    if (!found || isEmptyFile) {
        panel.replaceChildren(element("p", { class: "empty" }, say("findings.empty")));
        return;
    }
    if (found.total === 0) {
        panel.replaceChildren(element("p", { class: "good" }, "✓ ", say("findings.none")), ...withheldNodes(found, onAll));
        return;
    }
    const shown = isLong ? found.findings : found.findings.slice(0, FIRST_FINDINGS);
    const items = shown.map((finding, at) => element("li", { class: finding.severity, "data-finding": finding.line },
        element("p", { class: "where" }, lineButton(finding.line, onLine), " ", ...(finding.text ? [token(finding.text)] : [])),
        element("p", {}, element("span", { class: `badge ${finding.severity}` }, say(`severity.${finding.severity}`)), " ", wordsOf(finding)),
        ...fixNode(finding, effects?.[at], canEdit, onFix),
        folded(say("findings.details"), element("p", {}, english(finding.message)),
            ...(finding.fix ? [element("p", {}, say("findings.fix"), " ", english(finding.fix.title))] : []), element("p", {}, token(finding.code)))));
    const hidden = found.findings.length - shown.length;
    const beyond = found.total - found.findings.length;
    panel.replaceChildren(
        element("p", {}, say("findings.count", { count: found.total })),
        element("ol", { class: "items" }, ...items),
        ...(hidden > 0 ? [element("p", {}, element("button", { type: "button", class: "small", id: "more-findings", onclick: onMore }, say("findings.more", { count: hidden })))] : []),
        ...(hidden === 0 && beyond > 0 ? [element("p", { class: "empty" }, say("list.hidden", { count: beyond }))] : []),
        ...withheldNodes(found, onAll));
}
