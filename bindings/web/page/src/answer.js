// The answer to the page's question, for the selected URL and crawler: a sentence, its reason, and what to do next.
import { byId, element, english, shortened, token } from "./dom.js";
import { SIGNS, lineButton } from "./table.js";
import { hasText, say, sayNodes } from "./texts.js";

/** Returns the URLs and paths that an invalid text may mean. */
export function meantBy(text) {
    if (text.trim() === "" || text.startsWith("/") || /^[a-z][a-z0-9+.-]*:/i.test(text)) {
        return [];
    }
    const isHost = /^[^\s/?#@:]+\.[^\s/?#@:.]{2,}(?:[/?#]|$)/u.test(text);
    return [...(isHost ? [`https://${text}`] : []), `/${text}`];
}

/** Returns a verdict's reason in plain words, with buttons for its lines. */
function whyNodes(found, onLine) {
    const { bestAllow, bestDisallow } = found;
    const [winner, loser] = found.verdict === "allow" ? [bestAllow, bestDisallow] : [bestDisallow, bestAllow];
    const rule = (side) => (side ? element("span", {}, lineButton(side.line, onLine), " ", token(side.line === 0 ? side.pattern : side.text)) : "");
    const values = { winner: rule(winner), loser: rule(loser), agent: token(found.agent) };
    return hasText(`why.${found.why}`) ? sayNodes(`why.${found.why}`, values) : [english(found.sentence)];
}

/** Returns a sentence about the group that applies. */
function groupNodes(found, onLine) {
    const lines = element("span", {}, ...found.group.lines.flatMap((line, at) => [...(at > 0 ? [" "] : []), lineButton(line, onLine)]));
    return sayNodes(`group.${found.chosenBy}`, { agent: token(found.agent), lines });
}

function buttons(texts, onChoose) {
    return texts.map((text) => element("button", { type: "button", class: "small", onclick: () => onChoose(text) }, token(text)));
}

/** Returns the hint for inputs that have no answer yet. */
function hint(key, onExample) {
    const button = element("button", { type: "button", id: "first-example", class: "primary", onclick: onExample }, say("page.example"));
    return [element("p", { class: "next" }, say(key)), ...(onExample ? [button] : [])];
}

/**
 * Shows the answer. `missing` is the name of the input that is needed first: `file`, `url` or `crawler`. `found` is the
 * engine's explanation. `rest` describes all verdicts if there are several.
 */
export function showAnswer({ missing, found, url, isEmptyFile, rest }, { onLine, onExample, onReplace }) {
    const panel = byId("answer");
    panel.className = "";
    if (missing) {
        panel.replaceChildren(...hint(`answer.need-${missing}`, missing === "file" ? onExample : null));
        return "";
    }
    if (!found) {
        panel.replaceChildren();
        return "";
    }
    const values = { agent: token(found.agent), url: token(url) };
    const plain = { agent: found.agent, url: shortened(url) };
    const meant = found.why === "no-url" ? meantBy(url) : [];
    const headline = element("p", { class: "headline" }, element("span", { class: "sign", "aria-hidden": "true" }, SIGNS[found.verdict]), " ",
        element("span", {}, ...sayNodes(`answer.${found.verdict}`, values)));
    const reason = meant.length > 0
        ? element("p", { class: "row" }, say("answer.meant"), " ", ...buttons(meant, onReplace))
        : element("p", {}, ...whyNodes(found, onLine));
    panel.className = found.verdict;
    panel.replaceChildren(headline, reason,
        ...(found.chosenBy !== "nobody" && found.why !== "no-url" ? [element("p", {}, ...groupNodes(found, onLine))] : []),
        ...(isEmptyFile ? [element("p", { class: "next" }, say("answer.empty-file"))] : []),
        ...(rest ? [element("p", { class: "rest" }, element("a", { href: "#verdicts-title" }, rest))] : []));
    return say(`answer.${found.verdict}`, plain);
}
