//! A compiled set's encoding: a container with sections, a source file for each section, and the automata.
//!
//! No code outside this folder uses offsets. Each file has
//! a reader for its section, with a writer next to it:
//!
//! | where | section | content |
//! |---|---|---|
//! | [`container`] | - | label, version, section table, checksums |
//! | [`reading`] | `reading` | dialect, fetch profile and reference time |
//! | [`crawlers`] | `crawlers` | known crawlers and their product tokens |
//! | [`tokens`] | `tokens` | product tokens in the files |
//! | [`origins`] | `buckets`, `origins` | the hash table from origin to policy |
//! | [`captures`], [`histories`], [`timelines`] | `captures` | capture histories, or all captures with their spans |
//! | [`policies`] | `policies` | the groups for each product token |
//! | [`rulesets`], `patches` | `index`, `rulesets`, `prints` | automata, their ends, their shared fingerprints |
//! | [`fingerprints`] | `prints` | the automata's shared fingerprints |
//! | [`lines`] | `lines` | the rules' line numbers |
//! | [`directives`] | `other` | other directives: lines that decide no URL |
//! | [`usages`] | `usages` | the statements of usage rules |
//! | [`automaton`] | - | an automaton's bytes |
//!
//! With the feature `write`, [`draft`] contains a whole decoded set, for writing or after reading, and [`merge`] merges
//! sets. `FORMAT.md` specifies the bytes.
//!
//! The format is canonical: the same content has exactly one encoding, and verifying a set proves that it has this
//! encoding. Every read is checked: invalid bytes produce an error, never a panic, an endless loop or an answer.

pub mod automaton;
pub mod captures;
pub mod container;
pub mod crawlers;
pub mod directives;
#[cfg(feature = "write")]
pub mod draft;
pub mod fingerprints;
pub mod histories;
pub mod lines;
#[cfg(feature = "write")]
pub mod merge;
mod numbers;
pub mod origins;
mod patches;
pub mod policies;
mod pool;
pub mod reading;
pub mod rulesets;
pub mod timelines;
pub mod tokens;
pub mod usages;

use std::fmt;

use self::container::Section;

/// The only format version that this engine writes and reads.
pub const FORMAT_VERSION: u32 = 3;

/// Means "none" in place of a number or an address.
pub const NONE: u32 = u32::MAX;

/// The error for bytes that are damaged or not a compiled set.
///
/// Contains the section, the offset in it if known, and the expected and found data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    section: &'static str,
    offset: Option<u64>,
    expected: String,
    found: String,
}

impl FormatError {
    /// Creates an error in `section`. `expected` and `found` must be noun phrases.
    #[cold]
    pub(crate) fn new(section: &'static str, expected: impl Into<String>, found: impl Into<String>) -> FormatError {
        FormatError { section, offset: None, expected: expected.into(), found: found.into() }
    }

    /// Creates an error at an offset in a section.
    #[cold]
    pub(crate) fn at(
        section: Section,
        offset: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> FormatError {
        FormatError { offset: Some(offset as u64), ..FormatError::new(section.name(), expected, found) }
    }

    /// Returns the error for a record that begins at `start`, with its offset adjusted.
    pub(crate) fn in_record_at(mut self, start: usize) -> FormatError {
        self.offset = Some(self.offset.unwrap_or(0).saturating_add(start as u64));
        self
    }

    /// Returns the damaged part: `header` or a section's name.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.section
    }

    /// Returns the damage's offset from the section's start, or `None` if the error concerns the whole section.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// Returns the expected data.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns the data found.
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

/// The error for a set that cannot be written because some part exceeds a format limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The item that is too large, with its unit.
    pub what: &'static str,
    /// The largest permitted size.
    pub limit: u64,
    /// The actual size.
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

/// Returns the little-endian two-byte number at `at`.
#[inline(always)]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the little-endian four-byte number at `at`.
#[inline(always)]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the little-endian eight-byte number at `at`.
#[inline(always)]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Appends a four-byte number.
fn put(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends an eight-byte number.
fn put_long(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends zeros up to the next multiple of `unit`.
fn pad(out: &mut Vec<u8>, unit: usize) {
    out.resize(out.len().next_multiple_of(unit), 0);
}

/// Converts a size to a stored number.
pub(crate) fn fit<T: TryFrom<usize>>(what: &'static str, size: usize, limit: u64) -> Result<T, TooLarge> {
    T::try_from(size).map_err(|_| TooLarge { what, limit, found: size as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of bytes at every pair of adjacent places.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn numbers_are_sums_of_their_bytes() {
        let sum = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |sum, &byte| sum * 256 + u64::from(byte));
        let mut tried = 0;
        for place in 0..11 {
            for pair in 0..=u16::MAX {
                let mut bytes = [0xA5, 0, 1, 0xFF, 0x80, 0x7F, 0, 2, 0xFE, 3, 0x10, 0xC3];
                bytes[place..place + 2].copy_from_slice(&pair.to_le_bytes());
                for at in 0..4 {
                    assert_eq!(u16_at(&bytes, at).map(u64::from), Some(sum(&bytes[at..at + 2])), "{bytes:?}");
                    assert_eq!(u32_at(&bytes, at).map(u64::from), Some(sum(&bytes[at..at + 4])), "{bytes:?}");
                    assert_eq!(u64_at(&bytes, at), Some(sum(&bytes[at..at + 8])), "{bytes:?}");
                    tried += 1;
                }
                let mut out = bytes[..1].to_vec();
                put(&mut out, sum(&bytes[1..5]) as u32);
                put_long(&mut out, sum(&bytes[4..]));
                assert_eq!(out, [&bytes[..5], &bytes[4..]].concat());
            }
        }
        assert_eq!(tried, 11 * 65_536 * 4);
    }

    #[test]
    fn numbers_past_the_end_are_absent() {
        let mut tried = 0;
        for len in 0..=20 {
            let bytes = vec![1; len];
            for at in (0..=24).chain(usize::MAX - 8..=usize::MAX) {
                let fits = |size: usize| at.checked_add(size).is_some_and(|end| end <= len);
                let found = [u16_at(&bytes, at).is_some(), u32_at(&bytes, at).is_some(), u64_at(&bytes, at).is_some()];
                assert_eq!(found, [2, 4, 8].map(fits), "{at} of {len}");
                tried += 1;
            }
        }
        assert_eq!(tried, 21 * 34);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn padding_appends_the_fewest_zeros_that_reach_a_multiple() {
        let mut tried = 0;
        for unit in 1..=64 {
            for len in 0..=256 {
                let mut expected = vec![7; len];
                while expected.len() % unit != 0 {
                    expected.push(0);
                }
                let mut padded = vec![7; len];
                pad(&mut padded, unit);
                assert_eq!(padded, expected, "{unit}");
                tried += 1;
            }
        }
        assert_eq!(tried, 64 * 257);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn sizes_fit_up_to_the_largest_number() {
        for size in 0..=65_537 {
            let too_large = TooLarge { what: "items", limit: 9, found: size as u64 };
            let expected = |largest: usize| if size <= largest { Ok(size) } else { Err(too_large.clone()) };
            assert_eq!(fit::<u8>("items", size, 9).map(usize::from), expected(255));
            assert_eq!(fit::<u16>("items", size, 9).map(usize::from), expected(65_535));
        }
    }
}
