// The page's texts in the chosen language.

let catalogue;
let plurals;
let numbers;

/** Chooses the language. */
export function setCatalogue(chosen) {
    catalogue = chosen;
    plurals = new Intl.PluralRules(chosen.locale);
    numbers = new Intl.NumberFormat(chosen.locale);
}

/** Returns a number in the language's digits. */
export function number(value) {
    return numbers.format(value);
}

/** Returns whether there is a text for a computed key. */
export function hasText(key) {
    return Object.hasOwn(catalogue.texts, key);
}

/** Returns a text, in the plural form for the number `count` if it has plural forms. */
function form(key, values) {
    const text = catalogue.texts[key] ?? key;
    return typeof text === "string" ? text : text[plurals.select(values.count ?? 0)];
}

/** Returns a text with its placeholders filled in. Numbers are written in the language's digits. */
export function say(key, values = {}) {
    return form(key, values).replace(/\{(\w+)\}/g, (_, name) => {
        const value = values[name];
        return typeof value === "number" ? number(value) : String(value);
    });
}

/** Returns a text as nodes, so that placeholders can be elements. Strings are isolated from the text's direction. */
export function sayNodes(key, values = {}) {
    return form(key, values).split(/(\{\w+\})/).filter(Boolean).map((part) => {
        const name = /^\{(\w+)\}$/.exec(part)?.[1];
        if (!name) {
            return document.createTextNode(part);
        }
        const value = values[name];
        if (value instanceof Node) {
            return value;
        }
        const node = document.createElement("bdi");
        node.textContent = typeof value === "number" ? number(value) : String(value);
        return node;
    });
}

/** Fills in the texts of the elements with `data-text`, and attributes with `data-text-NAME`. */
export function fillTexts(root) {
    for (const node of root.querySelectorAll("[data-text]")) {
        node.textContent = say(node.dataset.text);
    }
    for (const [attribute, data] of [["aria-label", "textAriaLabel"], ["placeholder", "textPlaceholder"], ["title", "textTitle"]]) {
        for (const node of root.querySelectorAll(`[data-text-${attribute}]`)) {
            node.setAttribute(attribute, say(node.dataset[data]));
        }
    }
}
