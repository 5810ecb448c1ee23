// The page's limits. The package exports the engine's limits, such as `MAX_BODY_BYTES`.

/** Maximum length of an editable text, in UTF-16 units. A longer one is kept as a file, and an excerpt is shown. */
export const MAX_EDIT_CHARS = 1 << 20;
/** Maximum number of lines of a text that can be edited. Browsers take seconds to show more in a text area. */
export const MAX_EDIT_LINES = 20_000;
/** Lines of an excerpt before and after its middle line. */
export const EXCERPT_LINES = 100;
/** Maximum length of an excerpt in bytes. */
export const MAX_EXCERPT_BYTES = 64 << 10;
/** Maximum number of URLs. The remaining lines are ignored, and the page says so. */
export const MAX_URLS = 10_000;
/** Maximum length of the list of URLs in UTF-16 units. A longer list cannot be pasted. */
export const MAX_URL_LIST_CHARS = 2 << 20;
/** Maximum length of the assertions in UTF-16 units. */
export const MAX_ASSERTION_CHARS = 256 << 10;
/** Maximum number of chosen crawlers and groups of crawlers. */
export const MAX_CHOSEN = 50;
/** Maximum length of a product token in UTF-16 units. */
export const MAX_TOKEN_CHARS = 1000;
/** Maximum number of verdicts on one page of the table. */
export const MAX_SHOWN_VERDICTS = 300;
/** Maximum number of URLs on one page of the table. */
export const MAX_SHOWN_URLS = 50;
/** Maximum number of findings or assertions that are shown. */
export const MAX_SHOWN_ITEMS = 200;
/** Number of findings that are shown at first. */
export const FIRST_FINDINGS = 20;
/** Maximum number of crawlers for which the effect of a fix is proved. */
export const MAX_EFFECT_AGENTS = 5;
/** Maximum size in bytes of a file whose fixes' effects are proved. */
export const MAX_EFFECT_BYTES = 64 << 10;
/** Maximum number of lines of a file that is aligned with another. */
export const MAX_ALIGNED_LINES = 5000;
/** Maximum number of added and removed lines between two aligned files. */
export const MAX_ALIGNED_CHANGES = 1000;
/** Number of equal lines that are shown before and after a change in aligned files. */
export const CONTEXT_LINES = 2;
/** Maximum number of rows of aligned files that are shown. */
export const MAX_ALIGNED_ROWS = 400;
/** Maximum length in UTF-16 units of one URL, pattern or message that is shown. */
export const MAX_SHOWN_CHARS = 500;
/** Maximum number of a group's user-agent lines that are shown. */
export const MAX_SHOWN_LINES = 20;
/** Maximum number of verdicts that are also computed under the other dialects. */
export const MAX_DIALECT_VERDICTS = 10_000;
/** Maximum size in bytes of a file that is also read under the other dialects. */
export const MAX_DIALECT_BYTES = 1 << 20;
/** Maximum number of crawlers for which two files are compared. */
export const MAX_COMPARED = 20;
/** Maximum length of a link's fragment in characters. A longer case can be saved as a file. */
export const MAX_LINK_CHARS = 32_000;
/** Maximum length in bytes of a case that a link carries, after decompression. */
export const MAX_LINK_CASE_BYTES = 4 << 20;
/** Maximum size in bytes of a case's file: two robots.txt of the engine's maximum size in base64, and the rest. */
export const MAX_CASE_FILE_BYTES = 48 << 20;
/** Maximum length of a case that survives a reload, in UTF-16 units or file bytes. Browsers store about 5 times it. */
export const MAX_KEPT_CHARS = 1 << 20;
/** Maximum number of states for undo and redo. */
export const MAX_STATES = 500;
/** Maximum length in UTF-16 units, or in bytes of files, of the texts that are kept for undo and redo. */
export const MAX_STATE_CHARS = 64 << 20;
/** Milliseconds without a change of the same field after which the next change is a separate step. */
export const BURST_MS = 1000;
/** Milliseconds between a change and the storing of a case with a file. */
export const KEEP_PAUSE_MS = 500;
/** Milliseconds after which a worker that is busy with an outdated question is terminated. */
export const OUTDATED_MS = 1500;
/** Milliseconds after which any busy worker is terminated. */
export const MAX_ANSWER_MS = 20_000;
/** Milliseconds between a change and the questions that it causes. */
export const PAUSE_MS = 40;
/** Milliseconds between a change and its questions if the texts exceed `LONG_CHARS`. */
export const LONG_PAUSE_MS = 200;
/** Length in UTF-16 units over which texts are long. */
export const LONG_CHARS = 64 << 10;
