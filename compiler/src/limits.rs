//! Every limit of the compiler: its unit, its value, why, and what happens at it.
//!
//! The limits of a URL are in [`reptile_engine::url`], those of the automaton's shape in
//! [`reptile_engine::format::automaton`].

/// Bytes of one line that the Google library keeps; the rest of the line is dropped and the line reported.
///
/// Source: google/robotstxt, `kMaxLineLen`: eight times the 2,083 bytes that Internet Explorer allowed a URL.
pub const MAX_LINE_BYTES_GOOGLE: usize = 2083 * 8 - 1;

/// Bytes of a robots.txt behind which Google reads no further, and above which Yandex takes a site as open: 500 KiB.
pub const MAX_BODY_BYTES_500_KIB: usize = 500 << 10;

/// Bytes of a robots.txt above which Yandex took a site as open until 2017.
pub const MAX_BODY_BYTES_2017: usize = 32 << 10;

/// Rules of one robots.txt that Yandex reads; further ones are left out and reported.
pub const MAX_RULES_YANDEX: usize = 2048;

/// Bytes of the longest rule that Yandex takes; a longer one is left out and reported.
pub const MAX_PATTERN_BYTES_YANDEX: usize = 1024;

/// Bytes of one robots.txt. A longer body is refused with an error, because the library that is the reference
/// has no limit and so no rule for what to do at one.
///
/// The largest file in a sample of a million sites had 4.9 MB.
pub const MAX_BODY_BYTES: usize = 16 << 20;

/// Transitions of a wildcard's machine for each byte of its segments. Text that was written by people needs about one;
/// a wildcard that needs more than this is taken apart into patterns that are tried one by one.
pub const MAX_TRANSITIONS_PER_BYTE: usize = 8;

/// Texts in front of the first wildcard of a pattern, of one ruleset, that have a machine behind them. Patterns that need
/// more are tried one by one. Among 4,231 real files the most is 134.
///
/// A machine takes about 170 bytes in a set, and twice as many to be built, however short its pattern is. Without the
/// limit, 34,000 patterns of ten bytes took 35 MB and 31 ms to build.
pub const MAX_TRIE_WILDCARDS: usize = 8192;

/// States of all wildcards of a ruleset. Bounds the memory of building, of which a state takes about 150 bytes: a wildcard whose
/// machine would need more, and all that follow, are taken apart into patterns that are tried one by one. Text that was written by people needs
/// few states, of which each stands for a run of bytes; a segment such as `xaxaxa` needs one for each byte. Among 4,231 real
/// files the most is 3,781.
pub const MAX_WILDCARD_STATES: usize = 48 << 10;

/// Transitions of the machine of joined wildcards for each byte of its segments; wildcards that would need more are not joined.
/// Text that was written by people needs about one. With eight, as a machine of its own may have, a set grew to 148 times
/// the file: 6,621 wildcards were each joined with twenty segments that others in them end with.
pub const MAX_TRANSITIONS_PER_BYTE_JOINED: usize = 2;

/// WildcardCount of a ruleset that stand behind another wildcard. Patterns that need more are tried one by one, so that the walk
/// of a path begins no more machines than it has trie states and these. Among 4,231 real files the most is 88.
///
/// Without it, 4,096 patterns of twelve nested wildcards took 130 ms to build and walk over 2,000 bytes that all of them
/// begin to match; with it they take 9.
pub const MAX_NESTED_WILDCARDS: usize = 256;

/// WildcardCount of the trie, on the way to another, whose rules are compared with those of that one, to find that it need not be
/// begun for a verdict. Bounds the time of building. Real files have up to five on the way.
pub const MAX_SOURCES_ASKED: usize = 8;

/// Bytes between two wildcards of the trie that are made one machine. Bounds the time of building: each segment is compared with
/// each place of the text between.
pub const MAX_TEXT_BETWEEN: usize = 16;

/// Segments of a wildcard of the trie that are kept, so that its machine can be joined with others. Bounds the memory of building.
pub const MAX_SEGMENTS_JOINED: usize = 64;

/// Bytes of the tables of a DFA over whole patterns. A ruleset that needs more is factored after all.
pub const MAX_WHOLE_DFA_BYTES: usize = 256 << 10;

/// Bytes of the patterns of a ruleset that is determinised as a whole; bounds the time as the tables' bytes do not.
pub const MAX_WHOLE_DFA_PATTERN_BYTES: usize = 256;

/// Rules in all lists that merge several groups for a token, for each rule of the file. Further tokens keep their
/// groups apart, which decide together: slower, but as large as the file. No real file of 4,231 has that many: the most
/// is 755 rules of 1,228.
pub const MAX_MERGED_RULES_PER_RULE: usize = 1;

/// Rules that may be merged in any file, however few rules it has.
pub const MIN_MERGED_RULES: usize = 4096;

/// The earliest time of a fetch, in seconds since 1970: the beginning of the year 1.
pub const MIN_TIME: i64 = -62_135_596_800;

/// The latest time of a fetch, in seconds since 1970: the beginning of 30 December 9999, the last day that is over in
/// every time zone before the year is.
pub const MAX_TIME: i64 = 253_402_128_000;

/// Discarded captures that a set's report names; all are counted.
pub const MAX_DISCARDED_LISTED: usize = 20;

/// Lines of other directives that are kept of one robots.txt; those behind them are left out and reported. Among 4,231 real
/// files the most is 1,992.
pub const MAX_DIRECTIVES: usize = 4096;

/// Bytes of all values and unknown keys of one robots.txt's other directives; what is behind them is left out and reported.
/// Among 4,231 real files the most is 692,324. The limit of one value is
/// [`MAX_DIRECTIVE_BYTES`](reptile_engine::format::directives::MAX_DIRECTIVE_BYTES).
pub const MAX_DIRECTIVE_TEXT_BYTES: usize = 1 << 20;

/// Bytes of a key that is kept although it is unknown. Longer ones are text with a colon in it, not keys.
pub const MAX_OTHER_KEY_BYTES: usize = 64;

/// Bytes of a `Clean-param` value; a longer one does not count. Source: Yclean, which says characters.
pub const MAX_CLEAN_PARAM_BYTES: usize = 500;
