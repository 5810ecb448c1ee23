// Uses every declared item, for TypeScript's compiler.
import * as reptile from "reptile-robots";
import { MAX_BODY_BYTES, Robots, ReptileError, Set, VERDICTS, crawlers, dialects, groups, load, loadSync, vocabularies } from "reptile-robots";

await load();
await load(new URL("reptile.wasm", import.meta.url));
await load(await fetch("reptile.wasm"));
await load(new WebAssembly.Module(new Uint8Array()));
loadSync(new Uint8Array());
loadSync(new WebAssembly.Module(new Uint8Array()));
const names: string[] = [dialects()[0].name, crawlers()[0].tokens[0], groups()[0].crawlers[0], vocabularies()[0].categories[0]];
const limit: number = MAX_BODY_BYTES + reptile.MAX_URL_BYTES + reptile.MAX_VERDICTS;
const file: Robots = Robots.parse(new Uint8Array(), { dialect: "google" });
const { verdict, line, reason } = file.decide("GPTBot", "/", { exact: true });
const word: "allow" | "disallow" | "unknown" | "invalid" = verdict;
const all = file.decideAll(["GPTBot"] as const, ["/"], { lines: false });
const bytes: Uint8Array = all.verdicts;
const code: string = VERDICTS[bytes[0]];
const pattern: string | undefined = file.explain("GPTBot", "/").bestAllow?.pattern;
const edit: string | null | undefined = file.lint({ enable: [] })[0].fix?.edit?.text;
const withheld: number = file.lint().withheld["group-opens-on-purpose"] ?? 0;
const text: string = file.fix({ lines: [1], severity: "error" });
const path: string | undefined = file.prove("GPTBot <= *")[0].counterexample?.path;
const value: "allowed" | "disallowed" | "unknown" | "not-applicable" = file.usage("GPTBot", "/", { lines: "signals" })[0].value;
const relation: string = file.compare(file, "GPTBot").relation;
const delay: number | null = file.crawlDelay("GPTBot");
const set: Set = new Set(new Uint8Array());
const one: reptile.Decision = set.decide("GPTBot", "/");
const several: reptile.Decision[] = set.decide(["GPTBot"], "/");
const fetched: number | null = set.explain("GPTBot", "/").fetchedAt;
const error: ReptileError = new Error() as ReptileError;
const suggestion: string | null = error.suggestion;
{
    using scoped = Robots.parse("");
    scoped.acrossDialects("GPTBot", "/")[0].dialect.length;
}
// @ts-expect-error: the constructor is private.
new Robots();
// @ts-expect-error: there is no such option.
file.decide("GPTBot", "/", { exakt: true });
// @ts-expect-error: a number is not an engine.
await load(7);
// @ts-expect-error: a URL is a text.
file.decide("GPTBot", new URL("https://example.com"));
export { names, limit, line, reason, word, code, pattern, edit, withheld, text, path, value, relation, delay, one, several, fetched, suggestion };
