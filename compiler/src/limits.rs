//! The compiler's limits: for each its unit, its value, the reason for it, and what happens beyond it.
//!
//! Some public limits are defined where they are enforced: URL limits in the engine's `url`, format limits in its
//! `format`, linter limits in `advice::lint`. The table lists them all; `.ci/limits` compares it with the code.
//!
//! | limit | applies to | beyond it |
//! |---|---|---|
//! | `MAX_URL_BYTES` | a URL | invalid |
//! | `MAX_HOST_BYTES` | a host | the URL is invalid |
//! | `MAX_BODY_BYTES` | a robots.txt | an error |
//! | `MAX_BODY_BYTES_500_KIB` | a robots.txt for Google and Yandex | cut, or treated as empty |
//! | `MAX_BODY_BYTES_2017` | a robots.txt for Yandex until 2017 | treated as empty |
//! | `MAX_LINE_BYTES_GOOGLE` | a line for Google | cut, with a diagnostic |
//! | `MAX_RULES_YANDEX` | rules in a robots.txt for Yandex | left out, with a diagnostic |
//! | `MAX_PATTERN_BYTES_YANDEX` | a pattern for Yandex | left out, with a diagnostic |
//! | `MAX_MERGED_RULES_PER_RULE` | merged rules per rule in a robots.txt | groups decide together, which is slower |
//! | `MIN_MERGED_RULES` | merged rules that every robots.txt may have | groups decide together, which is slower |
//! | `MAX_DIAGNOSTICS` | diagnostics kept per robots.txt | counted, not kept |
//! | `MAX_DIRECTIVES` | other directives in a robots.txt | left out, with a diagnostic |
//! | `MAX_DIRECTIVE_TEXT_BYTES` | their text | left out, with a diagnostic |
//! | `MAX_DIRECTIVE_BYTES` | another directive's value | left out, with a diagnostic |
//! | `MAX_OTHER_KEY_BYTES` | an unknown key | not kept |
//! | `MAX_CLEAN_PARAM_BYTES` | a `Clean-param` value | malformed |
//! | `MAX_NOT_FOUND_BYTES` | a 5xx body searched for "not found" | the rest is not searched |
//! | `MAX_KIND_BYTES` | a body searched for its kind | the rest is not searched |
//! | `MAX_CHALLENGE_BYTES` | a body searched for signs of a challenge page | the rest is not searched |
//! | `MIN_TIME` | a capture's time | an error in the reader |
//! | `MAX_TIME` | a capture's time | an error in the reader |
//! | `MAX_ONCE_STEPS` | steps in a decision without compiling | an error |
//! | `MAX_PROOF_STEPS` | steps in a proof about a whole ruleset | unproved |
//! | `MAX_RULE_PROOF_STEPS` | steps in the linter's proofs about one rule or group | reported in a finding |
//! | `MAX_PROVED_FILE_BYTES` | a robots.txt that the linter's proofs are about | reported in a finding |
//! | `MAX_FILE_PROOF_STEPS` | steps in all of the linter's proofs about a file | reported in a finding |
//! | `MAX_CAPTURES_BY_TIME` | captures per origin in a set by time | an error |
//! | `MAX_DISCARDED_LISTED` | discarded captures in a report | counted, not listed |
//! | `MAX_RULES` | rules in a ruleset | an error |
//! | `MAX_PATTERNS_BYTES` | patterns in a ruleset | an error |
//! | `MAX_WILDCARD_DEPTH` | a pattern's consecutive wildcards in an automaton | fallback patterns |
//! | `MAX_WILDCARD_BRANCHES` | wildcards reachable from one wildcard automaton | a second automaton |
//! | `MAX_TRIE_WILDCARDS` | places in a prefix trie with a wildcard automaton | fallback patterns |
//! | `MAX_NESTED_WILDCARDS` | a ruleset's wildcard automata that follow another one | fallback patterns |
//! | `MAX_WILDCARD_STATES` | states in a ruleset's wildcard automata | fallback patterns |
//! | `MAX_TRANSITIONS_PER_BYTE` | transitions in a wildcard automaton | fallback patterns |
//! | `MAX_TRANSITIONS_PER_BYTE_JOINED` | transitions in a joined wildcard automaton | not joined |
//! | `MAX_SOURCES_ASKED` | wildcards compared in order to leave one out | not left out |
//! | `MAX_TEXT_BETWEEN` | text between two joined wildcards | not joined |
//! | `MAX_SEGMENTS_JOINED` | segments of a joined wildcard | not joined |
//! | `MAX_WILDCARDS` | wildcard automata in a ruleset | an error |
//! | `MAX_PASSES` | passes over a path per decision | an error |
//! | `MAX_FALLBACK_BYTES` | fallback patterns in a ruleset | an error |
//! | `MAX_TIED_PATTERNS` | usage rules with wildcards and the same length | every use is unknown, with a diagnostic |
//! | `MAX_PATCHED_BYTES` | a ruleset stored as patches to another | stored whole |
//! | `MAX_RULESETS_BYTES` | all automata in a set | an error |
//! | `MAX_ORIGINS_BYTES` | origins in a set | an error |
//! | `MAX_PROBE_SLOTS` | slots read by one origin look-up | another seed |
//! | `MAX_SEEDS` | seeds tried for the origin hash | an error |
//! | `MAX_PARTS` | sets merged at once | an error |
//! | `MAX_TOKENS` | product tokens in a set | an error |
//! | `MAX_WHOLE_DFA_BYTES` | tables of a DFA over whole patterns | factored instead |
//! | `MAX_WHOLE_DFA_PATTERN_BYTES` | patterns in such a DFA | factored instead |
//! | `MAX_CRAWLER_NAME_BYTES` | a known crawler's name, and each of its product tokens | an error |
//! | `MAX_CRAWLER_TOKENS` | a known crawler's product tokens | an error |
//! | `MAX_READING_NAME_BYTES` | the name of a set's dialect or fetch profile | an error |
//! | `MAX_FINDINGS_PER_CODE` | findings per code in a file | counted, not listed |
//! | `MAX_FIX_STEPS` | steps in the proofs about a file's fixes | nothing is fixed |
//! | `MAX_COMPARED_BYTES` | a file whose rules are compared between dialects | reported in a finding |
//! | `MAX_COMPARED_RULES` | rules in a file that are compared between dialects | reported in a finding |
//! | `MAX_COMPARED_STEPS` | steps in that comparison | reported in a finding |

/// Maximum bytes per line that the Google library keeps.
///
/// The rest of a longer line is dropped, and the line is reported.
///
/// Source: google/robotstxt, `kMaxLineLen`: eight times the 2,083 bytes that Internet Explorer allowed a URL.
pub const MAX_LINE_BYTES_GOOGLE: usize = 2083 * 8 - 1;

/// Maximum size of a robots.txt that Google reads, and above which Yandex treats the file as empty: 500 KiB.
pub const MAX_BODY_BYTES_500_KIB: usize = 500 << 10;

/// Maximum size of a robots.txt that Yandex read until 2017. It treated larger files as empty.
pub const MAX_BODY_BYTES_2017: usize = 32 << 10;

/// Maximum rules per robots.txt that Yandex reads. Further rules are left out and reported.
pub const MAX_RULES_YANDEX: usize = 2048;

/// Maximum length of a rule that Yandex accepts, in bytes. A longer rule is left out and reported.
pub const MAX_PATTERN_BYTES_YANDEX: usize = 1024;

/// Maximum size of a robots.txt in bytes.
///
/// A larger body is an error: the reference has no limit, so it does not define how to read part of a file.
///
/// The largest file in a sample of a million sites had 4.9 MB.
pub const MAX_BODY_BYTES: usize = 16 << 20;

/// Maximum transitions in a wildcard automaton per segment byte.
///
/// Human-written text needs about one. If a wildcard needs more than the limit, its patterns become fallback patterns.
pub const MAX_TRANSITIONS_PER_BYTE: usize = 8;

/// Maximum places in a ruleset's prefix trie where a wildcard automaton begins.
///
/// Patterns that need more become fallback patterns. Among 4,231 real files, the maximum is 134.
///
/// An automaton takes about 170 bytes in a set, and twice that during construction, however short its pattern is.
/// Without the limit, 34,000 ten-byte patterns took 35 MB and 31 ms to build.
pub const MAX_TRIE_WILDCARDS: usize = 8192;

/// Maximum states in a ruleset's wildcard automata.
///
/// Bounds construction memory, which is about 150 bytes per state. Once a wildcard would exceed the limit, its patterns
/// and those with later wildcards become fallback patterns.
///
/// Human-written text needs few states, one per run of bytes; a segment such as `xaxaxa` needs one per byte. The
/// maximum among 4,231 real files is 3,781.
pub const MAX_WILDCARD_STATES: usize = 48 << 10;

/// Maximum transitions in an automaton for joined wildcards per segment byte.
///
/// Wildcards that would need more are not joined.
///
/// Human-written text needs about one. With eight, the limit for a single wildcard, a set grew to 148 times the file's
/// size: each of 6,621 wildcards was joined with twenty segments that are suffixes of others.
pub const MAX_TRANSITIONS_PER_BYTE_JOINED: usize = 2;

/// Maximum wildcard automata per ruleset that begin after another one.
///
/// Patterns that need more become fallback patterns. Bounds construction time: a ruleset that needs more than
/// [`MAX_PASSES`](reptile_engine::format::automaton::MAX_PASSES) passes would be refused anyway. The maximum among
/// 4,231 real files is 88.
pub const MAX_NESTED_WILDCARDS: usize = 240;

/// Maximum earlier wildcards on the trie path whose rules are compared with a wildcard's rules, to show that a verdict
/// need not start its automaton.
///
/// Bounds construction time. Real files have up to five.
pub const MAX_SOURCES_ASKED: usize = 8;

/// Maximum length of the text between two trie wildcards that become one automaton, in bytes.
///
/// Bounds construction time, because each segment is compared with each position in that text.
pub const MAX_TEXT_BETWEEN: usize = 16;

/// Maximum segments per trie wildcard that are kept for joining automata. Bounds construction memory.
pub const MAX_SEGMENTS_JOINED: usize = 64;

/// Maximum table size of a DFA over whole patterns, in bytes. A ruleset that needs more is factored instead.
pub const MAX_WHOLE_DFA_BYTES: usize = 256 << 10;

/// Maximum pattern bytes in a ruleset that becomes one DFA. Bounds the time, which the table size does not.
pub const MAX_WHOLE_DFA_PATTERN_BYTES: usize = 256;

/// Maximum rules in lists that merge several groups for a product token, per rule in the file.
///
/// Further tokens keep their groups separate. Those groups decide together, which is slower but takes at most the space
/// of the file. None of 4,231 real files reaches the limit; the maximum is 755 merged rules in a file with 1,228 rules.
pub const MAX_MERGED_RULES_PER_RULE: usize = 1;

/// Number of rules that may be merged in any file, however few rules it has.
pub const MIN_MERGED_RULES: usize = 4096;

/// Maximum diagnostics kept per robots.txt.
///
/// The first ones are kept, and all are counted. A file can have 8 million, at 8 bytes each.
pub const MAX_DIAGNOSTICS: usize = 10_000;

/// Maximum bytes at the start of a 5xx body that are searched for "not found".
///
/// Error pages say so in their title.
pub const MAX_NOT_FOUND_BYTES: usize = 4096;

/// Maximum bytes at the start of a body that are searched for its kind.
///
/// A page's first tag is in its first line, and control characters occur throughout a picture.
pub const MAX_KIND_BYTES: usize = 4 << 10;

/// Maximum bytes at the start of a web page that are searched for signs of a challenge page.
///
/// Such pages have 1 to 40 KB, with the signs in the head.
pub const MAX_CHALLENGE_BYTES: usize = 64 << 10;

/// Earliest fetch time, in seconds since 1970: the beginning of the year 1.
pub const MIN_TIME: i64 = -62_135_596_800;

/// Latest fetch time, in seconds since 1970: the beginning of 30 December 9999, which is still 9999 in every time zone.
pub const MAX_TIME: i64 = 253_402_128_000;

/// Maximum steps in a decision without compiling ([`decide_once`](crate::once::decide_once)): for each wildcard pattern
/// that is tried, its bytes plus the path's.
///
/// Equal to [`MAX_PASSES`](reptile_engine::format::automaton::MAX_PASSES) passes over the longest URL.
pub const MAX_ONCE_STEPS: usize = 16 << 20;

/// Maximum steps in a search for one verdict among all paths ([`reason`](crate::reason)), where a step moves one rule
/// over one byte.
///
/// Beyond it the result is unproved. Bounds a search to tens of milliseconds and about 100 MB. Among 4,231 real files,
/// the maximum is 38,273 for one ruleset, and 455,390 for comparing a named group with the default group.
pub const MAX_PROOF_STEPS: usize = 2 << 20;

/// Maximum steps in the linter's searches about one rule or group, counted as in [`MAX_PROOF_STEPS`].
///
/// Beyond it nothing is reported about that rule or group, and a finding counts them.
pub const MAX_RULE_PROOF_STEPS: usize = 1 << 17;

/// Maximum size in bytes of a robots.txt that the linter's proofs are about: twice as much as Google reads. Bounds their
/// memory.
///
/// Beyond it a finding says that nothing was proved.
pub const MAX_PROVED_FILE_BYTES: usize = 1 << 20;

/// Maximum steps in all of the linter's proofs about a file. Trying a rule on a path is a step, too.
///
/// Beyond it nothing is reported about the remaining rules and groups, and a finding counts them. Bounds the time to
/// tens of milliseconds.
pub const MAX_FILE_PROOF_STEPS: usize = 2 << 20;

/// Maximum captures per origin in a set by time; captures with the same time count once.
///
/// More is an error, because omitting some would make the set answer wrongly for some times. Enough for one a day for
/// 22 years. Each such origin takes 900 KB of memory.
pub const MAX_CAPTURES_BY_TIME: usize = 8192;

/// Maximum discarded captures that a set's report lists. All are counted.
pub const MAX_DISCARDED_LISTED: usize = 20;

pub use reptile_engine::format::directives::{MAX_DIRECTIVE_TEXT_BYTES, MAX_DIRECTIVES};

/// Maximum length of an unknown key that is kept, in bytes. Longer keys are text that happens to contain a colon.
pub const MAX_OTHER_KEY_BYTES: usize = 64;

/// Maximum length of a `Clean-param` value, in bytes.
///
/// A longer value does not count. Source: Yclean, which limits characters.
pub const MAX_CLEAN_PARAM_BYTES: usize = 500;
