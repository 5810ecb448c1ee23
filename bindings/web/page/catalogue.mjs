// Reads the files in texts/ and checks them against the English one.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The catalogue that the others are compared with. */
const REFERENCE = "en";

/** Returns the sorted placeholder names in a text, or in all its plural forms. */
function placeholders(text) {
    const forms = typeof text === "string" ? [text] : Object.values(text);
    return [...new Set(forms.flatMap((form) => [...form.matchAll(/\{(\w+)\}/g)].map((match) => match[1])))].sort();
}

/** Returns the mistakes in a catalogue. `reference` is the English one. */
export function faultsOf(name, catalogue, reference) {
    const faults = [];
    for (const field of ["language", "locale", "direction"]) {
        if (typeof catalogue[field] !== "string") {
            faults.push(`${name}: ${field} is missing`);
        }
    }
    if (faults.length > 0) {
        return faults;
    }
    const categories = new Intl.PluralRules(catalogue.locale).resolvedOptions().pluralCategories;
    for (const key of Object.keys(reference.texts)) {
        const text = catalogue.texts?.[key];
        if (text === undefined) {
            faults.push(`${name}: ${key} is missing`);
            continue;
        }
        const expected = reference.texts[key];
        if (typeof text !== typeof expected) {
            faults.push(`${name}: ${key} must be ${typeof expected === "string" ? "a text" : "an object of plural forms"}`);
            continue;
        }
        if (placeholders(text).join() !== placeholders(expected).join()) {
            faults.push(`${name}: ${key} has the placeholders {${placeholders(text)}}; expected {${placeholders(expected)}}`);
        }
        if (typeof text === "object" && Object.keys(text).sort().join() !== [...categories].sort().join()) {
            faults.push(`${name}: ${key} has the forms ${Object.keys(text)}; expected ${categories}`);
        }
    }
    for (const key of Object.keys(catalogue.texts ?? {})) {
        if (!(key in reference.texts)) {
            faults.push(`${name}: ${key} is not in ${REFERENCE}.json`);
        }
    }
    return faults;
}

/** Returns the used keys that the English texts lack, and the unused keys. `prefix.` marks computed keys. */
export function usageFaults(reference, sources) {
    const faults = [];
    for (const [, attribute, call] of sources.matchAll(/data-text(?:-\w+)*="([\w.-]+)"|\bsay\(\s*"([\w.-]+)"/g)) {
        const key = attribute ?? call;
        if (!(key in reference.texts)) {
            faults.push(`the page uses ${key}, which is not in ${REFERENCE}.json`);
        }
    }
    const computed = [...sources.matchAll(/`([\w-]+\.)\$\{/g)].map((match) => match[1]);
    for (const key of Object.keys(reference.texts)) {
        if (!sources.includes(`"${key}"`) && !computed.some((prefix) => key.startsWith(prefix))) {
            faults.push(`${REFERENCE}: nothing uses ${key}`);
        }
    }
    return faults;
}

/** Reads every catalogue in a folder. Returns them by name, and all their mistakes. */
export function readTexts(folder, sources) {
    const catalogues = {};
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".json")).sort()) {
        try {
            catalogues[file.slice(0, -".json".length)] = JSON.parse(readFileSync(join(folder, file), "utf8"));
        } catch (error) {
            return { catalogues, faults: [`texts/${file}: ${error.message}`] };
        }
    }
    const reference = catalogues[REFERENCE];
    if (!reference) {
        return { catalogues, faults: [`texts/${REFERENCE}.json is missing`] };
    }
    const faults = Object.entries(catalogues).flatMap(([name, catalogue]) => faultsOf(name, catalogue, reference));
    return { catalogues, faults: [...faults, ...usageFaults(reference, sources)] };
}
