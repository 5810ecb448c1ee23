//! The bytes of a compiled set: a container of sections, a file of code for each section, and the automata.
//!
//! No code outside this folder uses offsets, except that [`crate::platform`] searches with fingerprints. Each file has
//! a reader and a writer for the same bytes:
//!
//! | where | section | what |
//! |---|---|---|
//! | [`container`] | - | label, version, section table, checksums |
//! | [`reading`] | `reading` | dialect, fetch profile and time that the set was made for |
//! | [`crawlers`] | `crawlers` | known crawlers and the product tokens that each obeys |
//! | [`tokens`] | `tokens` | product tokens that the files name |
//! | [`origins`] | `buckets`, `origins` | the hash table from origin to policy |
//! | [`captures`], [`timelines`] | `captures` | the capture history of each origin, or all captures with their spans |
//! | [`policies`] | `policies` | which product token has which group of rules |
//! | [`rulesets`], `patches` | `index`, `rulesets`, `prints` | the automata, where each ends, what they share |
//! | [`lines`] | `lines` | line numbers of rules |
//! | [`directives`] | `other` | other directives: lines that decide no URL |
//! | [`automaton`] | - | the bytes of one automaton |
//!
//! [`draft`] is the content of a whole set, as it is written or read back; `FORMAT.md` draws the bytes.
//!
//! The format is canonical: the same content has exactly one encoding, and verifying a set proves that it has this
//! encoding. Every read is checked: invalid bytes give an error, never a panic, an endless loop or an answer.

pub mod automaton;
pub mod captures;
pub mod container;
pub mod crawlers;
pub mod directives;
pub mod draft;
pub mod lines;
pub mod merge;
pub mod origins;
mod patches;
pub mod policies;
mod pool;
pub mod reading;
pub mod rulesets;
pub mod timelines;
pub mod tokens;

use std::fmt;

use self::container::Section;

/// The version of the format that this engine writes, and the only one that it reads.
pub const FORMAT_VERSION: u32 = 3;

/// Means "none" wherever the tables hold a number or an address.
pub const NONE: u32 = u32::MAX;

/// The error for bytes that are not a compiled set, or are damaged.
///
/// Names the section, the offset in it if that is known, what was expected there and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    section: &'static str,
    offset: Option<u64>,
    expected: String,
    found: String,
}

impl FormatError {
    /// An error in `section`. `expected` and `found` must be noun phrases.
    #[cold]
    pub(crate) fn new(section: &'static str, expected: impl Into<String>, found: impl Into<String>) -> FormatError {
        FormatError { section, offset: None, expected: expected.into(), found: found.into() }
    }

    /// An error at a byte of a section.
    #[cold]
    pub(crate) fn at(
        section: Section,
        offset: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> FormatError {
        FormatError { offset: Some(offset as u64), ..FormatError::new(section.name(), expected, found) }
    }

    /// The same error, for a record that begins at `start` of its section.
    pub(crate) fn in_record_at(mut self, start: usize) -> FormatError {
        self.offset = Some(self.offset.unwrap_or(0).saturating_add(start as u64));
        self
    }

    /// The part of the file that is damaged: `header`, or a section's name.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.section
    }

    /// The offset at which the damage was noticed, from the section's start; `None` if it concerns the whole section.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// What was expected there.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// What was found there.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.section)?;
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for FormatError {}

/// The error for a set that cannot be written because something in it is too large for the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// What is too large, with its unit.
    pub what: &'static str,
    /// The largest size that fits.
    pub limit: u64,
    /// The size that was found.
    pub found: u64,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} is over the limit of {}", self.what, self.found, self.limit)
    }
}

impl std::error::Error for TooLarge {}

impl From<std::convert::Infallible> for TooLarge {
    fn from(never: std::convert::Infallible) -> TooLarge {
        match never {}
    }
}

/// The little-endian number of two bytes at `at`.
#[inline(always)]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The little-endian number of four bytes at `at`.
#[inline(always)]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The little-endian number of eight bytes at `at`.
#[inline(always)]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Appends a number of four bytes.
fn put(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends a number of eight bytes.
fn put_long(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends zeros up to the next multiple of `unit`.
fn pad(out: &mut Vec<u8>, unit: usize) {
    out.resize(out.len().next_multiple_of(unit), 0);
}

/// A size as the format stores it.
pub(crate) fn fit<T: TryFrom<usize>>(what: &'static str, size: usize, limit: u64) -> Result<T, TooLarge> {
    T::try_from(size).map_err(|_| TooLarge { what, limit, found: size as u64 })
}
