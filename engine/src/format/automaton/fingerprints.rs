//! The [`Fingerprints`] layout: writes them for segment starts, and checks that they pass a segment.
//! [`crate::platform`] describes the tables and searches with them.

use crate::platform::{FINGERPRINT_BYTES, Fingerprints};

/// Size of the two tables for one segment byte.
const TABLE_BYTES: usize = 32;

/// Returns a segment's first bytes, from which its fingerprints are computed.
#[must_use]
pub fn start_of(segment: &[u8]) -> &[u8] {
    segment.get(..FINGERPRINT_BYTES).unwrap_or(segment)
}

/// Writes the fingerprints for `count` distinct, sorted segment starts.
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

/// Returns whether a search finds every place where a segment with this start begins, regardless of the following
/// bytes.
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

/// Returns the indexes of a byte's halves in the byte's two tables.
fn halves(byte: u8) -> (usize, usize) {
    (usize::from(byte & 15), usize::from(16 + (byte >> 4)))
}
