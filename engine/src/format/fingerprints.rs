//! Fingerprints of many texts' first bytes, for comparison with many places in a path at once. The section `prints`
//! contains each fingerprint in a set once.
//!
//! The only module that knows their layout. [`crate::platform`] searches with them.
//!
//! Each text belongs to one of eight buckets, and each bucket has a bit. For each of the first three bytes, one table
//! is indexed by the byte's lower half and one by its upper half. A bucket's bit is set in both if one of its texts has
//! such a byte there, or ends before it. A text can begin at a place only if all six table entries share a bit.
//!
//! The method is Hyperscan's "Teddy" (Wang et al., NSDI 2019).

use std::collections::HashMap;

use super::{TooLarge, fit, u32_at};
use crate::platform::as_chunks;

/// Number of bytes compared per text.
pub const FINGERPRINT_BYTES: usize = 3;

/// Number of entries in a table, one for each value of half a byte.
const HALVES: usize = 16;

/// Number of tables: two for each compared byte.
const TABLES: usize = 2 * FINGERPRINT_BYTES;

/// Size of fingerprints in bytes.
const FINGERPRINTS_BYTES: usize = TABLES * HALVES;

/// Size in bytes of an index of shared fingerprints.
const INDEX_BYTES: usize = 4;

/// The tables for a number of texts, as stored in a set.
pub type Fingerprints = [u8; FINGERPRINTS_BYTES];

/// A table: for each value of half a byte, the buckets that have it.
pub type Table = [u8; HALVES];

/// Returns the tables: for each compared byte, the table for its lower half and the one for its upper half.
#[inline(always)]
#[must_use]
pub fn tables(fingerprints: &Fingerprints) -> &[Table] {
    as_chunks(fingerprints).0
}

/// Returns whether a text may begin with these bytes. A text may also end before the last of them.
#[inline(always)]
#[must_use]
pub fn may_begin(fingerprints: &Fingerprints, start: [u8; FINGERPRINT_BYTES]) -> bool {
    let buckets = start.into_iter().enumerate().fold(0xFF, |buckets, (offset, byte)| {
        let (low, high) = halves(byte);
        buckets & fingerprints[offset * 2 * HALVES + low] & fingerprints[offset * 2 * HALVES + high]
    });
    buckets != 0
}

/// Returns the indexes of a byte's halves in the byte's two tables.
#[inline(always)]
fn halves(byte: u8) -> (usize, usize) {
    (usize::from(byte & 15), HALVES + usize::from(byte >> 4))
}

/// Returns the fingerprints of texts, which must be sorted.
#[cfg(feature = "write")]
#[must_use]
pub fn fingerprints_of<'t>(texts: impl Iterator<Item = &'t [u8]> + Clone) -> Fingerprints {
    let mut fingerprints = [0; FINGERPRINTS_BYTES];
    let count = distinct_starts(texts.clone()).count();
    for (index, start) in distinct_starts(texts).enumerate() {
        // Neighbors share bytes, so putting them into the same bucket causes the fewest false candidates.
        let bucket = 1 << (index * 8 / count.max(index + 1));
        for (offset, tables) in fingerprints.chunks_exact_mut(2 * HALVES).enumerate() {
            match start.get(offset) {
                Some(byte) => {
                    let (low, high) = halves(*byte);
                    tables[low] |= bucket;
                    tables[high] |= bucket;
                }
                None => tables.iter_mut().for_each(|buckets| *buckets |= bucket),
            }
        }
    }
    fingerprints
}

/// Returns the distinct starts of texts, which must be sorted.
#[cfg(feature = "write")]
fn distinct_starts<'t>(texts: impl Iterator<Item = &'t [u8]>) -> impl Iterator<Item = &'t [u8]> {
    let mut last = None;
    let starts = texts.map(|text| text.get(..FINGERPRINT_BYTES).unwrap_or(text));
    starts.filter(move |&start| last.replace(start) != Some(start))
}

/// Returns whether a search finds every place where a text with this start begins, regardless of the following bytes.
#[must_use]
pub fn passes_start(fingerprints: &Fingerprints, start: &[u8]) -> bool {
    let buckets = fingerprints.chunks_exact(2 * HALVES).enumerate().fold(0xFF, |buckets, (offset, tables)| {
        buckets
            & match start.get(offset) {
                Some(byte) => {
                    let (low, high) = halves(*byte);
                    tables[low] & tables[high]
                }
                None => tables.iter().fold(0xFF, |all, buckets| all & buckets),
            }
    });
    buckets != 0
}

/// Returns fingerprints by their index among those from `start` bytes on.
#[inline(always)]
pub(super) fn fingerprints_at(bytes: &[u8], start: usize, index: usize) -> Option<&Fingerprints> {
    bytes.get(start + index * FINGERPRINTS_BYTES..)?.first_chunk()
}

/// Returns the number of the shared fingerprints with this index among an automaton's references, which begin `start`
/// bytes after its own start.
#[inline(always)]
pub(super) fn reference_at(bytes: &[u8], start: usize, index: usize) -> Option<u32> {
    u32_at(bytes, start + index * INDEX_BYTES)
}

/// Returns an automaton with its own fingerprints in place of references to shared ones, or `None` if the bytes after
/// the automaton are not such references.
pub(super) fn resolved(automaton: &[u8], references: &[u8], shared: &[u8]) -> Option<Vec<u8>> {
    let (references, []) = as_chunks::<INDEX_BYTES, u8>(references) else { return None };
    let mut bytes = Vec::with_capacity(automaton.len() + references.len() * FINGERPRINTS_BYTES);
    bytes.extend_from_slice(automaton);
    for &number in references {
        bytes.extend_from_slice(fingerprints_at(shared, 0, u32::from_le_bytes(number) as usize)?);
    }
    Some(bytes)
}

/// Returns the fingerprints in bytes, or `None` if they end with a part of one.
pub(super) fn all_fingerprints(bytes: &[u8]) -> Option<&[Fingerprints]> {
    match as_chunks(bytes) {
        (fingerprints, []) => Some(fingerprints),
        _ => None,
    }
}

/// The section `prints`: the distinct fingerprints, in the order in which rulesets first use them.
#[derive(Default)]
pub(super) struct FingerprintPool {
    pub bytes: Vec<u8>,
    known: HashMap<Fingerprints, u32>,
}

impl FingerprintPool {
    /// Appends a reference to fingerprints to an automaton, and adds the fingerprints to the pool if they are new.
    pub fn refer(&mut self, fingerprints: &Fingerprints, automaton: &mut Vec<u8>) -> Result<(), TooLarge> {
        let number = self.number(fingerprints)?;
        automaton.extend_from_slice(&number.to_le_bytes());
        Ok(())
    }

    fn number(&mut self, fingerprints: &Fingerprints) -> Result<u32, TooLarge> {
        if let Some(&number) = self.known.get(fingerprints) {
            return Ok(number);
        }
        let number = fit("fingerprints", self.known.len(), u32::MAX.into())?;
        self.known.insert(*fingerprints, number);
        self.bytes.extend_from_slice(fingerprints);
        Ok(number)
    }
}
