//! Patches: how a ruleset is stored that differs from another one in few bytes.
//!
//! Systems that run many sites write the same rules for each, with a number of the site in some of them. The automata of
//! such rules have the same form and differ in the bytes of that number: of a million sites, 36,000 shops took 158 MB, and
//! take 5. A ruleset that is stored as patches has the
//! number of the other ruleset, four bytes, and then its patches: the offset of the bytes that differ, two bytes; how many
//! there are, one byte; and these bytes.

use super::automaton::{Corrupt, corrupt, header};
use super::{put, u16_at, u32_at};

/// The most bytes, without fingerprints, of a ruleset that is stored as patches. A decision copies so many bytes at most.
pub const MAX_PATCHED_BYTES: usize = 2 << 10;

/// Patches take at most this part of the bytes of the ruleset that they make: one in so many.
const MIN_GAIN: usize = 2;

/// The bytes of a patch before the bytes that it brings.
const PATCH_HEADER_BYTES: usize = 3;

/// Bytes of the number of the ruleset that is patched.
pub(super) const BASE_BYTES: usize = 4;

/// The record of a ruleset that is stored as patches of another one: the base, which has the number `number`. Both are
/// without fingerprints. `None` if the ruleset is not to be stored in this way: the two differ in length or header, are
/// longer than [`MAX_PATCHED_BYTES`], or in too many bytes.
///
/// Time: linear in the bytes.
pub(super) fn patches_of(number: u32, base: &[u8], ruleset: &[u8]) -> Option<Vec<u8>> {
    let is_near = base.len() == ruleset.len() && ruleset.len() <= MAX_PATCHED_BYTES;
    if !is_near || header(base).ok()? != header(ruleset).ok()? {
        return None;
    }
    let mut record = Vec::new();
    put(&mut record, number);
    let differs = |at: usize| base.get(at) != ruleset.get(at);
    let mut at = 0;
    while let Some(start) = (at..ruleset.len()).find(|&at| differs(at)) {
        // A patch goes on over equal bytes that are fewer than another patch would take.
        let (mut end, mut next) = (start + 1, start + 1);
        while next < ruleset.len() && next - end < PATCH_HEADER_BYTES && next - start < usize::from(u8::MAX) {
            next += 1;
            end = if differs(next - 1) { next } else { end };
        }
        record.extend_from_slice(&(start as u16).to_le_bytes());
        record.push((end - start) as u8);
        record.extend_from_slice(ruleset.get(start..end)?);
        if record.len() * MIN_GAIN > ruleset.len() {
            return None;
        }
        at = end;
    }
    Some(record)
}

/// The number of the ruleset that a record patches, and the patches.
pub(super) fn base_of(record: &[u8]) -> Option<(u32, &[u8])> {
    Some((u32_at(record, 0)?, record.get(BASE_BYTES..)?))
}

/// Patches bytes.
///
/// # Errors
/// When a patch is cut off, or changes bytes after the end.
pub(super) fn apply(mut patches: &[u8], bytes: &mut [u8]) -> Result<(), Corrupt> {
    const CUT: Corrupt = corrupt!(0, "patches of the ruleset");
    while let Some((header, rest)) = patches.split_first_chunk::<PATCH_HEADER_BYTES>() {
        let at = u16_at(header, 0).map_or(0, usize::from);
        let (brought, rest) = rest.split_at_checked(header[2].into()).ok_or(CUT)?;
        bytes.get_mut(at..at + brought.len()).ok_or(CUT)?.copy_from_slice(brought);
        patches = rest;
    }
    if patches.is_empty() { Ok(()) } else { Err(CUT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that begin with the header of an automaton.
    fn with_header(len: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
        bytes[0] = 2;
        bytes
    }

    fn changed(base: &[u8], at: &[usize]) -> Vec<u8> {
        let mut bytes = base.to_vec();
        at.iter().for_each(|&at| bytes[at] ^= 0x55);
        bytes
    }

    #[test]
    fn patches_give_the_ruleset_again_in_few_bytes() {
        let base = with_header(600);
        for (at, bytes) in [
            (vec![], 4),
            (vec![599], 4 + 4),
            (vec![20, 23], 4 + 3 + 4),
            (vec![20, 24], 4 + 2 * 4),
            ((20..30).collect(), 4 + 3 + 10),
            ((20..275).collect(), 4 + 3 + 255),
            ((20..276).collect(), 4 + 3 + 255 + 3 + 1),
        ] {
            let ruleset = changed(&base, &at);
            let record = patches_of(7, &base, &ruleset).unwrap();
            assert_eq!(record.len(), bytes, "{at:?}");
            let (number, patches) = base_of(&record).unwrap();
            assert_eq!(number, 7);
            let mut copy = base.clone();
            apply(patches, &mut copy).unwrap();
            assert_eq!(copy, ruleset, "{at:?}");
        }
    }

    #[test]
    fn only_near_copies_are_patched() {
        for (len, is_patched) in
            [(MAX_PATCHED_BYTES - 1, true), (MAX_PATCHED_BYTES, true), (MAX_PATCHED_BYTES + 1, false)]
        {
            let base = with_header(len);
            assert_eq!(patches_of(0, &base, &changed(&base, &[len - 1])).is_some(), is_patched, "{len}");
        }
        let base = with_header(100);
        assert!(patches_of(0, &base, &base[..99]).is_none());
        assert!(patches_of(0, &base, &changed(&base, &[3])).is_none(), "another header");
        // Half of the bytes, and one more.
        let changed_by = |count: usize| changed(&base, &(30..30 + count).collect::<Vec<_>>());
        assert!(patches_of(0, &base, &changed_by(43)).is_some());
        assert!(patches_of(0, &base, &changed_by(44)).is_none());
    }

    #[test]
    fn damaged_patches_are_refused() {
        let mut bytes = [0; 10];
        for patches in [&[0, 0][..], &[0, 0, 2, 1], &[9, 0, 2, 1, 1], &[0, 1, 1, 1]] {
            assert!(apply(patches, &mut bytes).is_err(), "{patches:?}");
        }
        apply(&[8, 0, 2, 1, 2], &mut bytes).unwrap();
        assert_eq!(bytes[8..], [1, 2]);
    }
}
