// The check of the texts finds each kind of mistake, and the page's own texts have none. In every language there is one
// text for each kind of finding.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { faultsOf, readTexts, usageFaults } from "../catalogue.mjs";

/** Maximum length of an English text about a kind of finding, in characters. Translations are about as long. */
const MAX_FINDING_CHARS = 140;
const FINDING = "finding.";

const reference = { language: "English", locale: "en", direction: "ltr", texts: { a: "x {name}", b: { one: "{count} x", other: "{count} xs" } } };

/** Returns the names of the kinds of finding in the linter's source. */
function codesIn(source) {
    return [...source.matchAll(/^ {4}\w+ = "([\w-]+)",$/gm)].map((match) => match[1]);
}

/** Returns the mistakes in a catalogue's texts about the kinds of finding. */
function findingFaults(name, { locale, texts }, codes) {
    const keys = codes.map((code) => FINDING + code);
    return [
        ...keys.filter((key) => !texts[key]).map((key) => `${name}: ${key} is missing`),
        ...Object.keys(texts).filter((key) => key.startsWith(FINDING) && !keys.includes(key)).map((key) => `${name}: no finding is ${key}`),
        ...keys.filter((key) => locale === "en" && texts[key]?.length > MAX_FINDING_CHARS).map((key) => `${name}: ${key} is too long`),
    ];
}

/** Checks the texts about the kinds of finding. Returns how many kinds and languages there are. */
function checkFindings(root) {
    const codes = codesIn(readFileSync(join(root, "compiler/src/advice/lint/codes.rs"), "utf8"));
    const { catalogues, faults } = readTexts(join(root, "bindings/web/page/texts"), "");
    // Only the build knows which texts the page uses.
    assert.deepEqual(faults.filter((fault) => !fault.startsWith("en: nothing uses ")), []);
    assert.deepEqual(Object.entries(catalogues).flatMap(([name, catalogue]) => findingFaults(name, catalogue, codes)), []);
    const faultsWith = (change) => findingFaults("en", { ...catalogues.en, texts: { ...catalogues.en.texts, ...change } }, codes).join();
    const key = FINDING + codes[0];
    assert.equal(faultsWith({ [key]: undefined }), `en: ${key} is missing`);
    assert.equal(faultsWith({ "finding.x": "y" }), "en: no finding is finding.x");
    for (const [length, expected] of [[MAX_FINDING_CHARS - 1, ""], [MAX_FINDING_CHARS, ""], [MAX_FINDING_CHARS + 1, `en: ${key} is too long`]]) {
        assert.equal(faultsWith({ [key]: "y".repeat(length) }), expected);
    }
    return [codes.length, Object.keys(catalogues).length];
}

export async function run({ root }) {
    const right = { language: "Türkçe", locale: "tr", direction: "ltr", texts: { a: "{name} y", b: { one: "{count} y", other: "{count} y" } } };
    assert.deepEqual(faultsOf("tr", right, reference), []);
    const wrong = [
        [{ texts: { b: right.texts.b } }, /a is missing/],
        [{ texts: { ...right.texts, a: "{nam} y" } }, /placeholders/],
        [{ texts: { ...right.texts, a: {} } }, /must be a text/],
        [{ texts: { ...right.texts, b: { other: "{count} y" } } }, /the forms other; expected one,other/],
        [{ texts: { ...right.texts, c: "z" } }, /c is not in en/],
        [{ locale: "ar" }, /the forms one,other; expected few,many,one,two,zero,other/],
        [{ direction: undefined }, /direction is missing/],
    ];
    for (const [change, words] of wrong) {
        assert.match(faultsOf("tr", { ...right, ...change }, reference).join("\n"), words);
    }
    assert.deepEqual(usageFaults(reference, 'say("a") data-text="b"'), []);
    assert.match(usageFaults(reference, 'say("a")').join(), /nothing uses b/);
    assert.match(usageFaults(reference, 'say("a") data-text="b" data-text-title="c"').join(), /uses c, which is not/);
    const [kinds, languages] = checkFindings(root);
    return `${wrong.length + 5} kinds of mistakes are found; texts about ${kinds} kinds of finding in ${languages} languages`;
}
