//! The bytes of a compiled set: the container here, the tables and the automata in the files beside it.
//!
//! Nothing outside this folder knows an offset. [`container`] is the label, the section table and the
//! checksums; [`tables`] the fixed-width tables (agents, origins, policies, lines); [`fields`] other directives;
//! [`automaton`] the automaton of one ruleset. Each file holds its reader beside its writer. `FORMAT.md` draws the same bytes.
//!
//! Every read is checked: bytes that make no sense give an error, never a panic, an endless loop or an answer.

pub mod automaton;
pub mod container;
pub mod fields;
pub mod tables;

use std::fmt;

/// The version of the format that this engine writes, and the only one that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// Bytes that are not a compiled set, or not a whole one.
///
/// Says which section, what was expected there and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    section: &'static str,
    expected: String,
    found: String,
}

impl FormatError {
    /// An error in `section`. `expected` and `found` are noun phrases.
    pub(crate) fn new(section: &'static str, expected: impl Into<String>, found: impl Into<String>) -> FormatError {
        FormatError { section, expected: expected.into(), found: found.into() }
    }

    /// The part of the file that is damaged: `header`, or a section's name.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.section
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.section, self.expected, self.found)
    }
}

impl std::error::Error for FormatError {}

/// A set that cannot be written because something in it is too large for the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// What is too large.
    pub what: &'static str,
    /// The largest size that fits.
    pub limit: u64,
    /// The size that was asked for.
    pub found: u64,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} is over the limit of {}", self.what, self.found, self.limit)
    }
}

impl std::error::Error for TooLarge {}

/// The little-endian number of two or four bytes at `at`.
#[inline(always)]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The little-endian number of eight bytes at `at`.
#[inline(always)]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A size as the format stores it.
pub(crate) fn fit<T: TryFrom<usize>>(what: &'static str, size: usize, limit: u64) -> Result<T, TooLarge> {
    T::try_from(size).map_err(|_| TooLarge { what, limit, found: size as u64 })
}
