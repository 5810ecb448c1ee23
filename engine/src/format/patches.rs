//! Patches: the stored form of a ruleset that differs from another one in few bytes.
//!
//! Systems that run many sites write the same rules for each site, with the site's number in some of them. The automata
//! of such rules have the same form and differ only in the number's bytes. Patches save 59 MB of the 216 MB that a
//! million sites' rulesets take.
//!
//! Such a ruleset's record contains the other ruleset's number (four bytes) and the patches. Each patch is an offset
//! (two bytes), a length (one byte) and the new bytes.

use super::automaton::{Corrupt, corrupt, header};
use super::{put, u16_at, u32_at};

/// Maximum size of a ruleset that is stored as patches in bytes, without fingerprints. Limits the bytes that a decision
/// copies.
pub const MAX_PATCHED_BYTES: usize = 2 << 10;

/// Minimum ratio between a ruleset's size and its record's size.
const MIN_GAIN: usize = 2;

/// Patch header size in bytes. The new bytes follow.
const PATCH_HEADER_BYTES: usize = 3;

/// Size of the base's number in bytes.
pub(super) const BASE_BYTES: usize = 4;

/// Returns the record that stores a ruleset as patches for a base with this number, both without fingerprints.
///
/// Returns `None` if the two differ in length or header, are longer than [`MAX_PATCHED_BYTES`], or differ in too many
/// bytes. Time: linear in the bytes.
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
        // A patch includes a run of equal bytes that is shorter than another patch's header.
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

/// Returns a record's base number and its patches.
pub(super) fn base_of(record: &[u8]) -> Option<(u32, &[u8])> {
    Some((u32_at(record, 0)?, record.get(BASE_BYTES..)?))
}

/// Applies patches to `bytes`.
///
/// # Errors
/// Returns an error if a patch is truncated or extends past the end.
pub(super) fn apply(mut patches: &[u8], bytes: &mut [u8]) -> Result<(), Corrupt> {
    const CUT: Corrupt = corrupt!(0, "the ruleset's patches");
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

    /// Returns bytes that begin with an automaton's header.
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
    fn patches_are_short_and_restore_the_ruleset() {
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
        // A record with half the ruleset's size, and one byte more.
        let changed_by = |count: usize| changed(&base, &(30..30 + count).collect::<Vec<_>>());
        assert!(patches_of(0, &base, &changed_by(43)).is_some());
        assert!(patches_of(0, &base, &changed_by(44)).is_none());
    }

    #[test]
    fn damaged_patches_are_rejected() {
        let mut bytes = [0; 10];
        for patches in [&[0, 0][..], &[0, 0, 2, 1], &[9, 0, 2, 1, 1], &[0, 1, 1, 1]] {
            assert!(apply(patches, &mut bytes).is_err(), "{patches:?}");
        }
        apply(&[8, 0, 2, 1, 2], &mut bytes).unwrap();
        assert_eq!(bytes[8..], [1, 2]);
    }
}
