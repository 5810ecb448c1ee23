// The check of the texts finds each kind of mistake, and the page's own texts have none.
import assert from "node:assert/strict";
import { faultsOf, usageFaults } from "../catalogue.mjs";

const reference = { language: "English", locale: "en", direction: "ltr", texts: { a: "x {name}", b: { one: "{count} x", other: "{count} xs" } } };

export async function run() {
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
    return `${wrong.length + 2} kinds of mistakes are found`;
}
