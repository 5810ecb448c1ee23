//! The layout of [`Fingerprints`]: writing them for the first bytes of an automaton's segments, and checking that they
//! pass a segment. [`crate::platform`] searches with them, and describes the tables.

use crate::platform::{FINGERPRINT_BYTES, Fingerprints};

/// Bytes of the two tables for one byte of a segment.
const TABLE_BYTES: usize = 32;

/// Returns the first bytes of a segment, which its fingerprints are made of.
#[must_use]
pub fn start_of(segment: &[u8]) -> &[u8] {
    segment.get(..FINGERPRINT_BYTES).unwrap_or(segment)
}

/// Writes the fingerprints of segments with these starts, which are distinct and in order. `count` is their number.
pub fn write_fingerprints<'t>(tables: &mut Fingerprints, starts: impl Iterator<Item = &'t [u8]>, count: usize) {
    for (index, start) in starts.enumerate() {
        // Neighbors share bytes, so putting them into the same bucket causes the fewest false candidates.
        let bucket = 1 << (index * 8 / count.max(index + 1));
        for (offset, tables) in tables.chunks_exact_mut(TABLE_BYTES).enumerate() {
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
}

/// Returns whether a search finds every place where a segment with this start begins, whatever follows the start.
#[must_use]
pub fn passes_start(tables: &Fingerprints, start: &[u8]) -> bool {
    let buckets = tables.chunks_exact(TABLE_BYTES).enumerate().fold(0xFF, |buckets, (offset, tables)| {
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

/// Returns the places of a byte's halves in the two tables for it.
fn halves(byte: u8) -> (usize, usize) {
    (usize::from(byte & 15), usize::from(16 + (byte >> 4)))
}
