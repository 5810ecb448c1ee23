//! Every limit of the compiler: its unit, its value, why, and what happens at it.
//!
//! The limits of a URL are in [`reptile_engine::url`], those of the automaton's shape in
//! [`reptile_engine::format::automaton`].

/// Bytes of one line that the Google library keeps; the rest of the line is dropped and the line reported.
///
/// Source: google/robotstxt, `kMaxLineLen`: eight times the 2,083 bytes that Internet Explorer allowed a URL.
pub const MAX_LINE_BYTES_GOOGLE: usize = 2083 * 8 - 1;

/// Bytes of one robots.txt. A longer body is refused with an error, because the library that is the reference
/// has no limit and so no rule for what to do at one.
///
/// The largest file in a sample of a million sites had 4.9 MB.
pub const MAX_BODY_BYTES: usize = 16 << 20;

/// Transitions of a star's machine for each byte of its pieces. Text that was written by people needs about one;
/// a star that needs more than this is taken apart into patterns that are tried one by one.
pub const MAX_TRANSITIONS_PER_BYTE: usize = 8;

/// Bytes of the dense table of one ruleset. A ruleset that needs more keeps its factored automaton.
pub const MAX_DENSE_TABLE_BYTES: usize = 64 << 10;
