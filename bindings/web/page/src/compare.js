// The comparison of two files: each crawler's gains and losses, and the files' lines side by side.
import { byId, element, token } from "./dom.js";
import { MAX_COMPARED } from "./limits.js";
import { badge, lineButton } from "./table.js";
import { number, say, sayNodes } from "./texts.js";

const CHANGE_SIGNS = { same: "", changed: "~", removed: "−", added: "+" };

/** Returns one counterexample as a sentence: what the second file opens or closes. */
function changeNode({ url, verdicts, lines }, agent, onFirst, onSecond) {
    const kind = verdicts[1] === "allow" ? "opens" : "closes";
    return element("li", {}, badge(verdicts[1]), " ", ...sayNodes(`compare.${kind}`, { url: token(url), agent: token(agent) }), " ",
        element("small", {}, ...sayNodes("compare.lines", { first: lineButton(lines[0], onFirst), second: lineButton(lines[1], onSecond) })));
}

/** Shows the comparison of two files for each crawler. */
export function showComparison(comparisons, total, onFirst, onSecond) {
    const panel = byId("comparison");
    if (!comparisons || comparisons.length === 0) {
        panel.replaceChildren(element("p", { class: "empty" }, say("compare.empty")));
        return;
    }
    const items = comparisons.map(({ agent, relation, counterexamples, isComplete }) => element("li", { class: relation, "data-relation": relation },
        element("p", {}, element("strong", {}, token(agent)), " ", say(`relation.${relation}`), " ", isComplete ? say("compare.proved") : say("compare.unproved")),
        ...(counterexamples.length > 0 ? [element("ul", {}, ...counterexamples.map((example) => changeNode(example, agent, onFirst, onSecond)))] : [])));
    panel.replaceChildren(
        element("ul", { class: "items" }, ...items),
        ...(total > MAX_COMPARED ? [element("p", { class: "empty" }, ...sayNodes("compare.more", { count: MAX_COMPARED }))] : []));
}

function sideNode(side) {
    return element("span", { class: side ? "side" : "side none" }, ...(side ? [element("span", { class: "number" }, number(side.line)), element("code", {}, side.text)] : []));
}

/** Shows both files' lines side by side. `aligned` is `null` if the files are too long or too different. */
export function showAligned(aligned) {
    const panel = byId("aligned");
    if (!aligned) {
        panel.replaceChildren(...(aligned === null ? [element("p", { class: "empty" }, say("aligned.long"))] : []));
        return;
    }
    if (aligned.changes === 0) {
        panel.replaceChildren(element("p", { class: "empty" }, say("aligned.equal")));
        return;
    }
    const rows = aligned.rows.map(({ kind, count, one, two }) => (kind === "left-out"
        ? element("li", { class: kind }, say("aligned.leftOut", { count }))
        : element("li", { class: kind }, element("span", { class: "sign" }, CHANGE_SIGNS[kind]), sideNode(one), sideNode(two))));
    const more = aligned.total - aligned.rows.length;
    panel.replaceChildren(
        element("h3", {}, say("aligned.title", { count: aligned.changes })),
        element("ol", { class: "aligned", dir: "ltr" }, ...rows),
        ...(more > 0 ? [element("p", { class: "empty" }, say("list.hidden", { count: more }))] : []));
}
