//! The limits of the compiler, each with its unit, its value, the reason, and what happens when it is exceeded.
//!
//! Some public limits are defined where they are enforced: the limits of a URL in the engine's `url`, of the format in
//! the engine's `format`, of the linter in `advice::lint`. This table has all of them; a test compares it with the
//! code.
//!
//! | limit | of | at the limit |
//! |---|---|---|
//! | `MAX_URL_BYTES` | a URL | it is invalid |
//! | `MAX_HOST_BYTES` | a host | the URL is invalid |
//! | `MAX_BODY_BYTES` | a robots.txt | an error |
//! | `MAX_BODY_BYTES_500_KIB` | a robots.txt for Google and Yandex | cut, or treated as empty |
//! | `MAX_BODY_BYTES_2017` | a robots.txt for Yandex until 2017 | treated as empty |
//! | `MAX_LINE_BYTES_GOOGLE` | a line for Google | cut, with a diagnostic |
//! | `MAX_RULES_YANDEX` | the rules of a robots.txt for Yandex | left out, with a diagnostic |
//! | `MAX_PATTERN_BYTES_YANDEX` | a pattern for Yandex | left out, with a diagnostic |
//! | `MAX_MERGED_RULES_PER_RULE` | the merged rules of a robots.txt, for each of its rules | groups decide together, slower |
//! | `MIN_MERGED_RULES` | the merged rules that any robots.txt may have | groups decide together, slower |
//! | `MAX_DIAGNOSTICS` | the diagnostics of a robots.txt that are kept | counted, not kept |
//! | `MAX_DIRECTIVES` | the other directives of a robots.txt | left out, with a diagnostic |
//! | `MAX_DIRECTIVE_TEXT_BYTES` | their text | left out, with a diagnostic |
//! | `MAX_DIRECTIVE_BYTES` | a value of another directive | left out, with a diagnostic |
//! | `MAX_OTHER_KEY_BYTES` | an unknown key | not kept |
//! | `MAX_CLEAN_PARAM_BYTES` | a `Clean-param` value | malformed |
//! | `MAX_NOT_FOUND_BYTES` | the body of a 5xx that is searched for "not found" | the rest is not searched |
//! | `MAX_CHALLENGE_BYTES` | a body that is searched for the marks of a challenge page | the rest is not searched |
//! | `MIN_TIME` | the time of a capture | an error of the reader |
//! | `MAX_TIME` | the time of a capture | an error of the reader |
//! | `MAX_ONCE_STEPS` | the steps of a decision that compiles nothing | an error |
//! | `MAX_PROOF_STEPS` | the steps of a statement about a whole ruleset | unproved |
//! | `MAX_CAPTURES_BY_TIME` | the captures of an origin in a set by time | an error |
//! | `MAX_DISCARDED_LISTED` | the discarded captures in a report | counted, not listed |
//! | `MAX_RULES` | the rules of a ruleset | an error |
//! | `MAX_PATTERNS_BYTES` | the patterns of a ruleset | an error |
//! | `MAX_WILDCARD_DEPTH` | the wildcards of a pattern that follow each other in an automaton | fallback patterns |
//! | `MAX_WILDCARD_BRANCHES` | the wildcards that one wildcard automaton leads to | a second automaton |
//! | `MAX_TRIE_WILDCARDS` | the places in a prefix trie with a wildcard automaton | fallback patterns |
//! | `MAX_NESTED_WILDCARDS` | the wildcard automata of a ruleset after another one | fallback patterns |
//! | `MAX_WILDCARD_STATES` | the states of all wildcard automata of a ruleset | fallback patterns |
//! | `MAX_TRANSITIONS_PER_BYTE` | the transitions of a wildcard automaton | fallback patterns |
//! | `MAX_TRANSITIONS_PER_BYTE_JOINED` | the transitions of a joined wildcard automaton | not joined |
//! | `MAX_SOURCES_ASKED` | the wildcards that are compared to leave one out | not left out |
//! | `MAX_TEXT_BETWEEN` | the text between two wildcards that are joined | not joined |
//! | `MAX_SEGMENTS_JOINED` | the segments of a wildcard that is joined | not joined |
//! | `MAX_WILDCARDS` | the wildcard automata of a ruleset | an error |
//! | `MAX_PASSES` | the passes of one decision over a path | an error |
//! | `MAX_FALLBACK_BYTES` | the fallback patterns of a ruleset | an error |
//! | `MAX_PATCHED_BYTES` | a ruleset that is stored as patches of another | stored whole |
//! | `MAX_RULESETS_BYTES` | all automata of a set | an error |
//! | `MAX_ORIGINS_BYTES` | the origins of a set | an error |
//! | `MAX_PROBE_SLOTS` | the slots that one look-up of an origin reads | another seed |
//! | `MAX_SEEDS` | the seeds that are tried for the hash of origins | an error |
//! | `MAX_PARTS` | the sets that are merged at once | an error |
//! | `MAX_TOKENS` | the product tokens of a set | an error |
//! | `MAX_WHOLE_DFA_BYTES` | the tables of a DFA over whole patterns | factored instead |
//! | `MAX_WHOLE_DFA_PATTERN_BYTES` | the patterns of such a DFA | factored instead |
//! | `MAX_CRAWLER_NAME_BYTES` | the name of a known crawler, and each of its product tokens | an error |
//! | `MAX_CRAWLER_TOKENS` | the product tokens of a known crawler | an error |
//! | `MAX_READING_NAME_BYTES` | the name of a set's dialect or fetch profile | an error |
//! | `MAX_FINDINGS_PER_CODE` | the findings of one code in a file | counted, not listed |
//! | `MAX_COMPARED_BYTES` | a file whose rules are compared between dialects | a finding says so |
//! | `MAX_COMPARED_RULES` | the rules of a file that are compared between dialects | a finding says so |
//! | `MAX_COMPARED_STEPS` | the steps of that comparison | a finding says so |

/// The most bytes of one line that the Google library keeps; the rest of the line is dropped and the line reported.
///
/// Source: google/robotstxt, `kMaxLineLen`: eight times the 2,083 bytes that Internet Explorer allowed a URL.
pub const MAX_LINE_BYTES_GOOGLE: usize = 2083 * 8 - 1;

/// The most bytes of a robots.txt that Google reads, and above which Yandex treats the file as empty: 500 KiB.
pub const MAX_BODY_BYTES_500_KIB: usize = 500 << 10;

/// The bytes of a robots.txt above which Yandex treated it as empty until 2017.
pub const MAX_BODY_BYTES_2017: usize = 32 << 10;

/// The most rules of one robots.txt that Yandex reads; further ones are left out and reported.
pub const MAX_RULES_YANDEX: usize = 2048;

/// The most bytes of a rule that Yandex accepts; a longer rule is left out and reported.
pub const MAX_PATTERN_BYTES_YANDEX: usize = 1024;

/// The most bytes of one robots.txt. A longer body is an error: the reference has no limit, and so does not say how to
/// read a part of a file.
///
/// The largest file in a sample of a million sites had 4.9 MB.
pub const MAX_BODY_BYTES: usize = 16 << 20;

/// The most transitions of a wildcard automaton for each byte of its segments. Text that people wrote needs about one;
/// the patterns of a wildcard that needs more than this limit become fallback patterns.
pub const MAX_TRANSITIONS_PER_BYTE: usize = 8;

/// The most places in the prefix trie of a ruleset where a wildcard automaton begins. Patterns that need more become
/// fallback patterns. The most among 4,231 real files is 134.
///
/// An automaton takes about 170 bytes in a set, and twice that while it is built, however short its pattern is. Without
/// the limit, 34,000 patterns of ten bytes took 35 MB and 31 ms to build.
pub const MAX_TRIE_WILDCARDS: usize = 8192;

/// The most states of all wildcard automata of a ruleset. Bounds the memory of building, about 150 bytes for each
/// state: the patterns of a wildcard that would need more, and of all later wildcards, become fallback patterns.
///
/// Text that people wrote needs few states, each for a run of bytes; a segment such as `xaxaxa` needs one for each
/// byte. The most among 4,231 real files is 3,781.
pub const MAX_WILDCARD_STATES: usize = 48 << 10;

/// The most transitions of the automaton of joined wildcards for each byte of its segments; wildcards that would need
/// more are not joined.
///
/// Text that people wrote needs about one. With eight, the limit of a single wildcard, a set grew to 148 times the size
/// of the file: 6,621 wildcards were each joined with twenty segments that are suffixes of others.
pub const MAX_TRANSITIONS_PER_BYTE_JOINED: usize = 2;

/// The most wildcard automata of a ruleset that begin after another one. Patterns that need more become fallback
/// patterns. Bounds the time of building: the automata of more than
/// [`MAX_PASSES`](reptile_engine::format::automaton::MAX_PASSES) would be refused. The most among 4,231 real files is 88.
pub const MAX_NESTED_WILDCARDS: usize = 240;

/// The most earlier wildcards on the way in the trie whose rules are compared with the rules of a wildcard, to find
/// that a verdict need not begin its automaton. Bounds the time of building. Real files have up to five.
pub const MAX_SOURCES_ASKED: usize = 8;

/// The most bytes of the text between two wildcards of the trie that become one automaton. Bounds the time of building:
/// each segment is compared with each place of that text.
pub const MAX_TEXT_BETWEEN: usize = 16;

/// The most segments of a wildcard of the trie that are kept to join its automaton with others. Bounds the memory of
/// building.
pub const MAX_SEGMENTS_JOINED: usize = 64;

/// The most bytes of the tables of a DFA over whole patterns. A ruleset that needs more is factored instead.
pub const MAX_WHOLE_DFA_BYTES: usize = 256 << 10;

/// The most bytes of the patterns of a ruleset that becomes one DFA. Bounds the time; the bytes of its tables do not.
pub const MAX_WHOLE_DFA_PATTERN_BYTES: usize = 256;

/// The most rules in all lists that merge several groups for a product token, for each rule of the file. Further tokens
/// keep their groups apart, which decide together: slower, but no larger than the file. No file of 4,231 real ones
/// reaches the limit: the most is 755 rules of 1,228.
pub const MAX_MERGED_RULES_PER_RULE: usize = 1;

/// The rules that may be merged in any file, however few rules it has.
pub const MIN_MERGED_RULES: usize = 4096;

/// The most diagnostics of one robots.txt that are kept, the first ones; all are counted. A file can have 8 million, of
/// 8 bytes each.
pub const MAX_DIAGNOSTICS: usize = 10_000;

/// The bytes at the beginning of the body of a 5xx in which it may say that nothing was found. Error pages say so in their
/// title.
pub const MAX_NOT_FOUND_BYTES: usize = 4096;

/// Maximum number of bytes at the start of a web page that are searched for signs of a challenge page. Such pages have
/// 1 to 40 KB, with the signs in the head.
pub const MAX_CHALLENGE_BYTES: usize = 64 << 10;

/// The earliest time of a fetch, in seconds since 1970: the beginning of the year 1.
pub const MIN_TIME: i64 = -62_135_596_800;

/// The latest time of a fetch, in seconds since 1970: the beginning of 30 December 9999, which is in that year in every
/// time zone.
pub const MAX_TIME: i64 = 253_402_128_000;

/// The most steps of a decision that compiles nothing ([`decide_once`](crate::once::decide_once)): the bytes of each
/// pattern with a wildcard that is tried, and of the path. As many as those of
/// [`MAX_PASSES`](reptile_engine::format::automaton::MAX_PASSES) over the longest URL.
pub const MAX_ONCE_STEPS: usize = 16 << 20;

/// The most steps of the search for one verdict among all paths ([`reason`](crate::reason)): rules that are moved over a
/// byte. Beyond it nothing is proved. Bounds the time, to some tens of milliseconds, and the memory, to some tens of MB.
/// The most among 4,231 real files is 38,273.
pub const MAX_PROOF_STEPS: usize = 2 << 20;

/// The most captures of one origin in a set by time, those of one time counted once. More is an error: without some of
/// them the set would give wrong answers for some times. One a day for 22 years, and 900 KB of memory for each such
/// origin.
pub const MAX_CAPTURES_BY_TIME: usize = 8192;

/// The most discarded captures that a set's report lists; all are counted.
pub const MAX_DISCARDED_LISTED: usize = 20;

pub use reptile_engine::format::directives::MAX_DIRECTIVES;

/// The most bytes of all values and unknown keys of the other directives of one robots.txt; later ones are left out and
/// reported. The most among 4,231 real files is 692,324. The limit of one value is
/// [`MAX_DIRECTIVE_BYTES`](reptile_engine::format::directives::MAX_DIRECTIVE_BYTES).
pub const MAX_DIRECTIVE_TEXT_BYTES: usize = 1 << 20;

/// The most bytes of an unknown key that is kept. Longer keys are text that happens to contain a colon.
pub const MAX_OTHER_KEY_BYTES: usize = 64;

/// The most bytes of a `Clean-param` value; a longer value does not count. Source: Yclean, whose limit is in
/// characters.
pub const MAX_CLEAN_PARAM_BYTES: usize = 500;
