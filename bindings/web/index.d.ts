/// <reference lib="esnext.disposable" />

/**
 * Reptile in JavaScript: reads and decides robots.txt under nine dialects, explains verdicts, lints, fixes, compares
 * and proves. Runs in browsers and in Node 20 or newer. The engine is WebAssembly; after {@link load} every call is
 * synchronous.
 *
 * ```js
 * import { load, Robots } from "reptile-robots";
 * await load();
 * const robots = Robots.parse("User-agent: *\nDisallow: /cart");
 * robots.decide("GPTBot", "https://example.com/cart?item=17"); // { verdict: "disallow", line: 2, reason: "rule" }
 * ```
 *
 * Invalid or unknown input never yields `allow`: a text that is not a URL is `invalid`, an origin that a {@link Set}
 * does not contain is `unknown`, and a name that no crawler can have is a {@link ReptileError}. So is an option that a
 * call does not have.
 *
 * @module
 */

/** Bytes: a `BufferSource`. */
export type Bytes = ArrayBuffer | ArrayBufferView;

/** A compiled module: a `WebAssembly.Module`, which has no properties. The names of browsers' types are not used here. */
export type CompiledModule = object;

/** The parts of a `Response` that {@link load} uses. */
export interface WasmResponse {
    readonly ok: boolean;
    readonly status: number;
    readonly url: string;
    readonly headers: { get(name: string): string | null };
    arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * Loads the engine. Does nothing if it is loaded already. Concurrent calls load it once.
 *
 * @param wasm The engine's bytes, module, response or URL. Default: `reptile.wasm` in this module's folder, which Node
 *   reads as a file.
 * @throws {@link ReptileError} with the code `load`, if the engine cannot be fetched or is of another version.
 */
export function load(wasm?: Bytes | CompiledModule | WasmResponse | { readonly href: string } | string): Promise<void>;

/**
 * Loads the engine from its bytes or its module. Browsers refuse to compile large modules synchronously in their main
 * thread; there, use {@link load}.
 */
export function loadSync(wasm: Bytes | CompiledModule): void;

/** The version of this package, such as `0.1.0`. */
export const VERSION: string;
/** Maximum size of a robots.txt in bytes: 16 MiB. */
export const MAX_BODY_BYTES: number;
/** Maximum size of a URL in bytes. A longer one is `invalid`. */
export const MAX_URL_BYTES: number;
/** Maximum size of a compiled set in bytes: 256 MiB, because it is copied into the engine's memory. */
export const MAX_SET_BYTES: number;
/** Maximum number of assertions in one list. */
export const MAX_ASSERTIONS: number;
/** Maximum size of one assertion in bytes. */
export const MAX_ASSERTION_BYTES: number;
/** Maximum number of crawlers in one call. */
export const MAX_AGENTS: number;
/** Maximum number of verdicts of one {@link Robots.decideAll}: URLs times crawlers. */
export const MAX_VERDICTS: number;

/** A crawler's permission to fetch a URL. `unknown`: no robots.txt is known. `invalid`: the text is not a URL. */
export type Verdict = "allow" | "disallow" | "unknown" | "invalid";

/** The verdicts by number, as in {@link Verdicts.verdicts}. */
export const VERDICTS: readonly ["allow", "disallow", "unknown", "invalid"];

/** An interpretation of the Robots Exclusion Protocol. */
export interface DialectInfo {
    /** The name, such as `google`. */
    name: string;
    /** A short description. */
    meaning: string;
    /** The fetch profile: what a failed fetch means. */
    profile: string;
    /** Whether calls that name no dialect use this one. */
    isDefault: boolean;
}

/** Returns the dialects. */
export function dialects(): DialectInfo[];

/** A known crawler. */
export interface CrawlerInfo {
    /** The name that selects it. */
    name: string;
    /** The product tokens that it obeys, the most specific first. Empty for a crawler that obeys no robots.txt. */
    tokens: string[];
    /** Whether it obeys the group for `*` if no group names it. */
    honorsDefaultGroup: boolean;
    /** The operator, such as `google`. */
    family: string;
    /** The groups of crawlers that it belongs to, such as `@ai-training`. */
    groups: string[];
}

/** Returns the known crawlers. */
export function crawlers(): CrawlerInfo[];

/** A named group of crawlers. */
export interface CrawlerGroup {
    /** The name, such as `@ai-training`. */
    name: string;
    /** The names of its members. */
    crawlers: string[];
}

/** Returns the named groups of crawlers. */
export function groups(): CrawlerGroup[];

/** A vocabulary of usage preferences. */
export interface VocabularyInfo {
    /** The name, such as `aipref-08`. */
    name: string;
    /** The categories. Empty for `any`, in which each label is a category. */
    categories: string[];
    /** Whether calls that name no vocabulary use this one. */
    isDefault: boolean;
}

/** Returns the vocabularies of usage preferences. */
export function vocabularies(): VocabularyInfo[];

/** The dialect of a file. */
export interface ParseOptions {
    /** The name of a dialect; see {@link dialects}. Default: `google`. */
    dialect?: string;
}

/** The reading of crawler names. */
export interface AgentOptions {
    /**
     * Takes a name as one product token: known crawlers are not looked up, and a name that nearly matches a known
     * crawler's, or is a brand's, is not refused. Default: `false`.
     */
    exact?: boolean;
    /** Takes any text as the name; nothing is looked up, cut off or refused. For conformance tests. Default: `false`. */
    verbatim?: boolean;
}

export interface DecideAllOptions extends AgentOptions {
    /** Whether to find the deciding lines, which takes longer. Default: `true`. */
    lines?: boolean;
}

/** A verdict and its reason. */
export interface Decision {
    verdict: Verdict;
    /** The line of the deciding rule, from 1, or 0 if no rule decides. */
    line: number;
    /**
     * The reason in a few words: `rule`, `no rule matches`, `no robots.txt is known`, `no URL`, `URL over 64 KiB`, or a
     * failed fetch.
     */
    reason: string;
}

/** The verdicts for several URLs and crawlers. */
export interface Verdicts {
    /** The crawlers: a group such as `@search` is replaced by its members. */
    agents: string[];
    /** The number of URLs. */
    urlCount: number;
    /** Verdict numbers: for URL `u` and crawler `a`, at `u * agents.length + a`; an index of {@link VERDICTS}. */
    verdicts: Uint8Array;
    /** The deciding lines, at the same indices; 0 if no rule decides, or if lines were not requested. */
    lines: Uint32Array;
    /** Returns the verdict for a URL and a crawler by their numbers. */
    verdict(url: number, agent: number): Verdict;
    /** Returns the deciding line for a URL and a crawler by their numbers. */
    line(url: number, agent: number): number;
}

/** A rule. */
export interface Rule {
    /** The line, from 1, or 0 for a rule that the dialect adds. */
    line: number;
    kind: "allow" | "disallow";
    /** The pattern, as written. */
    pattern: string;
}

/** A rule that matches a URL. */
export interface MatchedRule {
    /** The line, from 1, or 0 for a rule that the dialect adds. */
    line: number;
    /** The line's text as in the file, without surrounding spaces. */
    text: string;
    /** The pattern in the dialect's normal form, in which it is compared. */
    pattern: string;
    /** The number of octets that counts if the longest rule decides. */
    octets: number;
}

/** Rules for some crawlers. */
export interface Group {
    /** The values of the user-agent lines. */
    agents: string[];
    /** The user-agent lines, from 1. */
    lines: number[];
    rules: Rule[];
}

/** A line that the dialect reads differently from how it looks. */
export interface Diagnostic {
    /** The line, from 1, or 0 for the whole file. */
    line: number;
    message: string;
}

/** Another directive of the file: `Sitemap`, `Crawl-delay`, `Content-Usage` or another key. */
export interface Directive {
    line: number;
    /** The kind, such as `sitemap`. */
    kind: string;
    /** The key as written, for the kind `other`; otherwise empty. */
    key: string;
    value: string;
    /** Whether the line counts under the dialect, and the reason if not. */
    state: string;
}

/** The reason for the choice of a group: it names the crawler, it is for `*`, or no group applies. */
export type ChosenBy = "token" | "default-group" | "nobody";

/** The reason why a rule decides, or why none does. */
export type Why =
    | "no-group"
    | "no-match"
    | "always-allowed"
    | "empty-rule"
    | "only-kind"
    | "longer"
    | "allow-on-tie"
    | "first"
    | "fetch"
    | "no-url";

/** A verdict with everything that led to it. */
export interface Explanation extends Decision {
    dialect: string;
    /** The crawler, as given. */
    agent: string;
    why: Why;
    /** The group that the crawler obeys, or the groups if several count together. */
    group: {
        /** The values of their user-agent lines that name the crawler, or `*`. */
        agents: string[];
        /** The numbers of these lines; at most 100. */
        lines: number[];
        /** The group in words: `line 4: names GPTBot`. */
        sentence: string;
    };
    chosenBy: ChosenBy;
    /** The product token that a group names, or `null`. */
    token: string | null;
    /** The path in the dialect's normal form, in which it is compared. */
    path: string;
    /** The best matching rule of each kind, whether it decides or not. */
    bestAllow: MatchedRule | null;
    bestDisallow: MatchedRule | null;
    /** The reason in plain English, as `reptile test` prints it: `no Allow matches`. */
    sentence: string;
}

/** One dialect's decision. */
export interface DialectDecision extends Decision {
    dialect: string;
}

export type Severity = "error" | "warning" | "note";

/** The remedy for a finding. */
export interface Fix {
    /** What to do, in words, or the line's replacement. */
    title: string;
    /**
     * The change to the file: `text`, one or more lines without the last line end, replaces the lines `from` to `to`
     * (from 1, both included). `null` removes them with their line ends. Absent if the fix is only advice, or if it may
     * change the rules of crawlers other than the intended ones, or if it is a removal that is not proved to keep all
     * verdicts.
     */
    edit?: { from: number; to: number; text: string | null };
    /**
     * Whether it is proved that this edit alone changes no verdict in any current dialect. Absent if there is no edit.
     */
    keepsVerdicts?: boolean;
    /** Whether {@link Robots.fix} makes this edit, even without the other edits. */
    isApplied: boolean;
}

/** A mistake in the file. */
export interface Finding {
    /** The kind of finding, such as `hidden-rule`. */
    code: string;
    severity: Severity;
    /** The line, from 1. A finding about the whole file has line 1. */
    line: number;
    message: string;
    fix: Fix | null;
}

/** Findings in line order. */
export interface Findings extends Array<Finding> {
    /**
     * The number of unreported findings, by kind. These kinds are off by default; {@link LintOptions.enable} reports
     * them. They are notes, so a higher minimum severity leaves this empty.
     */
    readonly withheld: Readonly<Record<string, number>>;
}

export interface LintOptions {
    /** The host of the file, which determines which URLs in rules belong to other sites. */
    host?: string;
    /** Additional kinds of finding to report, which are off by default. */
    enable?: string[];
    /** The minimum severity. Default: `note`. */
    severity?: Severity;
}

export interface FixOptions {
    /** The host of the file, as in {@link LintOptions.host}. */
    host?: string;
    /** The minimum severity of the fixed findings. Default: `note`. */
    severity?: Severity;
    /** Fixes only findings of these kinds. */
    codes?: string[];
    /** Fixes only findings on these lines, from 1. */
    lines?: number[];
}

/** The result of one assertion, or of one member of its group of crawlers. */
export interface Outcome {
    /** The assertion for these crawlers, without comments. */
    text: string;
    /** The assertion's line in the list, from 1. */
    line: number;
    crawlers: string[];
    /** Whether it is proved for every URL. */
    holds: boolean;
    /** `no-group`: no group names a crawler, so nothing was examined. `unproved`: the proof was cut off. */
    proof: "holds" | "counterexample" | "no-group" | "unproved";
    /** A path for which the assertion is false, and each crawler's decision there. */
    counterexample: { path: string; decisions: Decision[] } | null;
    /** The crawler that no group names, for `no-group`. */
    missing: string | null;
}

export interface ProveOptions {
    /** Whether to accept crawlers that no group names: they obey the group for `*` or nothing. Default: `false`. */
    allowDefault?: boolean;
}

/** A mistake in a list of assertions. */
export interface Mistake {
    line: number;
    message: string;
}

export interface UsageOptions extends AgentOptions {
    /** The categories to ask about. Default: the vocabulary's categories. Required for `any`, which lists none. */
    categories?: string[];
    /** The name of a vocabulary; see {@link vocabularies}. Default: `aipref-08`. */
    vocabulary?: string;
    /**
     * The statements that are read, separated by commas: `usage` (`Content-Usage` lines), `signals` (`Content-Signal`
     * lines), `tokens` (groups whose product token names a use), `default-group` (those, and the groups for `*` where
     * no group names the token) or `all` (the first three). The most restrictive holds. Default: `usage,tokens`.
     */
    lines?: string;
}

/** A website's preference about one use of a page. */
export interface Preference {
    category: string;
    value: "allowed" | "disallowed" | "unknown" | "not-applicable";
    /** The lines that state the preferences for this page, whatever their category. */
    lines: number[];
}

/** The comparison of two files' permissions: a proof or an example for each side. */
export interface Comparison {
    /**
     * How this file relates to the other one. `narrower`: it permits less. `wider`: it permits more. `different`: each
     * permits something that the other does not. `unproved`: a proof was cut off.
     */
    relation: "equal" | "narrower" | "wider" | "different" | "unproved";
    /** Whether both sides are proved, for every URL. */
    isComplete: boolean;
    /** A shortest path for each side that permits something that the other does not: at most two. */
    counterexamples: {
        url: string;
        /** This file's verdict, then the other file's. */
        verdicts: [Verdict, Verdict];
        /** The deciding lines, or 0. */
        lines: [number, number];
    }[];
}

/** One robots.txt, read under a dialect. */
export class Robots {
    private constructor();

    /**
     * Reads a robots.txt. Any text is valid; only its size or cost can be refused. Takes time linear in its size.
     *
     * @throws {@link ReptileError}: `limit` over {@link MAX_BODY_BYTES}, `steps` if its rules might take too long to
     *   decide one URL, `dialect` for an unknown dialect.
     */
    static parse(body: string | Uint8Array, options?: ParseOptions): Robots;

    /** The name of the dialect. */
    readonly dialect: string;
    /** The groups in the file's order. Read on first access. */
    readonly groups: readonly Group[];
    /** The addresses in the `Sitemap` lines. */
    readonly sitemaps: readonly string[];
    /** All other lines. */
    readonly directives: readonly Directive[];
    /** The first 10,000 diagnostics in line order. */
    readonly diagnostics: readonly Diagnostic[];

    /**
     * Decides one URL. The URL's scheme, host and port are ignored, and a path is enough. A text that is neither a URL
     * nor begins with `/` is `invalid`.
     *
     * @param agent A crawler: a product token or a known crawler, `*`, or a chain such as `A>B>*`.
     * @throws {@link ReptileError} for a name that is not a crawler's; see {@link ReptileError.suggestion}.
     */
    decide(agent: string, url: string, options?: AgentOptions): Decision;

    /** Decides many URLs for several crawlers in one call. A crawler may also be a group, such as `@ai-training`. */
    decideAll(agents: string | readonly string[], urls: readonly string[], options?: DecideAllOptions): Verdicts;

    /** Explains one verdict. Reads the file again. */
    explain(agent: string, url: string, options?: AgentOptions): Explanation;

    /** Returns the rules of the crawler's groups that match a URL. The first one decides. */
    matchingRules(agent: string, url: string, options?: AgentOptions): Rule[];

    /** Decides one URL under every dialect. The first call compiles the file for each; over 1 MiB, every call does. */
    acrossDialects(agent: string, url: string, options?: AgentOptions): DialectDecision[];

    /** Returns the seconds between two fetches that a `Crawl-delay` line asks of a crawler, or `null`. */
    crawlDelay(agent: string, options?: AgentOptions): number | null;

    /** Finds mistakes in the file, in line order. */
    lint(options?: LintOptions): Findings;

    /**
     * Returns the text with all fixes that are proved to change no verdict, for any crawler and any path in all current
     * dialects; see {@link Fix.isApplied}. This object does not change.
     *
     * With `codes` or `lines`, makes only the chosen findings' fixes, once. Bytes that are not UTF-8 are replaced.
     */
    fix(options?: FixOptions): string;

    /**
     * Proves assertions about every URL at once, one per line, such as `disallow GPTBot /private/*`,
     * `allow * /$ /docs/*`, `same Googlebot Bingbot` or `GPTBot <= *`.
     *
     * @throws {@link ReptileError} with the code `assertions` and its {@link ReptileError.mistakes}.
     */
    prove(assertions: string, options?: ProveOptions): Outcome[];

    /** Returns the website's preferences about uses of a page, such as training AI: one for each category. */
    usage(agent: string, url: string, options?: UsageOptions): Preference[];

    /** Compares what this file and another one permit a crawler, for every URL. Their dialects may differ. */
    compare(other: Robots, agent: string, options?: AgentOptions): Comparison;

    /** Frees the object's memory in the engine. Without this call, the garbage collector frees it eventually. */
    free(): void;
    [Symbol.dispose](): void;
}

/**
 * A compiled set of many origins' robots.txt: the content of a `.rpt` file.
 *
 * A URL's host may contain letters beyond ASCII: the platform's `URL` maps them to ASCII.
 */
export class Set {
    /**
     * Opens a set. Copies its bytes without checking all of them: damage is found when it is read, or by
     * {@link Set.verify}.
     *
     * @throws {@link ReptileError}: `format` for bytes that are not a set, `limit` over {@link MAX_SET_BYTES}.
     */
    constructor(bytes: ArrayBuffer | Uint8Array);

    /** The name of the dialect. */
    readonly dialect: string;
    /** The name of the fetch profile. */
    readonly profile: string;
    /** The number of origins. */
    readonly length: number;
    /** The time of the set, in seconds since 1970, or `null`. */
    readonly time: number | null;
    /** Whether answers have lines. */
    readonly hasLines: boolean;
    /** The known crawlers under the set's dialect, as the set stores them. */
    readonly crawlers: readonly string[];

    /** Decides one URL: its origin is looked up in the set. */
    decide(agent: string, url: string, options?: AgentOptions): Decision;
    /** Decides one URL for several crawlers, in the order of `agents`; a group is replaced by its members. */
    decide(agents: readonly string[], url: string, options?: AgentOptions): Decision[];

    /** Decides many URLs for several crawlers in one call. */
    decideAll(agents: string | readonly string[], urls: readonly string[], options?: DecideAllOptions): Verdicts;

    /** Explains one verdict. A set has no texts, so its patterns are in normal form. */
    explain(agent: string, url: string, options?: AgentOptions): SetExplanation;

    /** Returns the website's preferences about uses of a page. */
    usage(agent: string, url: string, options?: UsageOptions): Preference[];

    /** Returns the addresses in the origin's `Sitemap` lines, or `null` for an origin that is not in the set. */
    sitemaps(url: string): string[] | null;

    /**
     * Reads the whole set and compares its checksums, which show accidental damage. For a set from an
     * untrusted source, use the command `reptile verify --deep`: it also finds sets that were made to mislead.
     *
     * @throws {@link ReptileError} with the code `format` for a damaged set.
     */
    verify(): void;

    /** Frees the object's memory in the engine. Without this call, the garbage collector frees it eventually. */
    free(): void;
    [Symbol.dispose](): void;
}

/** A verdict of a set with its reasons. */
export interface SetExplanation extends Decision {
    /** The crawler, as given. */
    agent: string;
    /** The reason why the crawler's group applies to it: `named`, `default` or `none`. */
    group: string;
    bestAllow: Rule | null;
    bestDisallow: Rule | null;
    /** The time when the robots.txt was fetched, in seconds since 1970, or `null`. */
    fetchedAt: number | null;
}

/**
 * The kind of an error. `load`: the engine cannot be loaded, or is not loaded yet. `stopped`: the engine failed, and must
 * be loaded again. `memory`: the engine's memory is used up. `freed`: the object was freed. `argument`: a value has the
 * wrong type. `limit`, `steps`: the file is too large, or takes too long. `dialect`, `vocabulary`, `category`, `code`:
 * an unknown name. `crawler`: a name that is not a crawler's. `group`: an unknown group of crawlers. `format`: a set is
 * damaged or of another version. `assertions`: a list of assertions has mistakes.
 */
export type ErrorCode =
    | "load"
    | "stopped"
    | "memory"
    | "freed"
    | "argument"
    | "limit"
    | "steps"
    | "dialect"
    | "vocabulary"
    | "category"
    | "code"
    | "crawler"
    | "group"
    | "format"
    | "assertions";

/** The only error that this package throws. */
export class ReptileError extends Error {
    readonly name: "ReptileError";
    readonly code: ErrorCode;
    /** The name that was most likely meant, for `crawler` and `dialect`, or `null`. */
    readonly suggestion: string | null;
    /** The mistakes, for `assertions`; otherwise empty. */
    readonly mistakes: readonly Mistake[];
}
