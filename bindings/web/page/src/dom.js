// Creates elements. Strings become text, never HTML.
import { MAX_SHOWN_CHARS } from "./limits.js";

/** Creates an element. Properties that start with `on` are listeners, `class` and those with a dash are attributes. */
export function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false) {
            continue;
        }
        if (name.startsWith("on")) {
            node.addEventListener(name.slice(2), value);
        } else if (value === true) {
            node.setAttribute(name, "");
        } else {
            node.setAttribute(name, value);
        }
    }
    node.append(...children);
    return node;
}

/** Returns a text, or the start of a text that is too long to show. */
export function shortened(text) {
    return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}

/** Returns an element for a technical token, such as a URL, which is always left to right. */
export function token(text) {
    return element("code", { dir: "ltr" }, shortened(text));
}

/** Returns an element for the engine's text, which is English. */
export function english(text) {
    return element("span", { lang: "en", dir: "ltr", class: "english" }, shortened(text));
}

/** Returns a folded part with a heading. */
export function folded(summary, ...children) {
    return element("details", {}, element("summary", {}, summary), ...children);
}

export function byId(id) {
    return document.getElementById(id);
}

/** Sets a node's text if it differs. */
export function setText(node, text) {
    if (node.textContent !== text) {
        node.textContent = text;
    }
}
