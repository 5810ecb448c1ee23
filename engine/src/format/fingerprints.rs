//! Fingerprints of many texts' first bytes, for comparison with many places in a path at once. The section `prints`
//! contains each fingerprint in a set once.
//!
//! The only module that knows their layout. [`crate::platform`] searches with them.
//!
//! Each text belongs to one of eight buckets, and each bucket has a bit. There is a table for each of the first four
//! bytes, indexed by the byte's lower half, and one indexed by the first byte's upper half. In each table, a bucket's
//! bit is set in the entries for its texts' bytes, and in all entries if one of its texts ends before that byte. A text
//! can begin at a place only if the place's entries in all five tables share a bit.
//!
//! The method is Hyperscan's "Teddy" (Wang et al., NSDI 2019), which compares both halves of each byte. In URLs, lower
//! halves are more selective than upper halves, because most bytes are lower-case letters.

use std::collections::HashMap;

use super::{TooLarge, fit, u32_at};
use crate::platform::as_chunks;

/// Number of bytes compared per text.
pub const FINGERPRINT_BYTES: usize = 4;

/// Number of entries in a table, one for each value of half a byte.
const HALVES: usize = 16;

/// Number of tables: one for each compared byte's lower half, and one for the first byte's upper half.
pub const TABLES: usize = FINGERPRINT_BYTES + 1;

/// Size of fingerprints in bytes.
const FINGERPRINTS_BYTES: usize = TABLES * HALVES;

/// Size in bytes of an index of shared fingerprints.
const INDEX_BYTES: usize = 4;

/// The tables for a number of texts, as stored in a set.
pub type Fingerprints = [u8; FINGERPRINTS_BYTES];

/// A table: for each value of half a byte, the buckets that have it.
pub type Table = [u8; HALVES];

/// Returns the tables for the lower halves, followed by the table for the first byte's upper half.
#[inline(always)]
#[must_use]
pub fn tables(fingerprints: &Fingerprints) -> &[Table] {
    as_chunks(fingerprints).0
}

/// Returns whether a text may begin with these bytes. A text may also end before the last of them.
#[inline(always)]
#[must_use]
pub fn may_begin(fingerprints: &Fingerprints, start: [u8; FINGERPRINT_BYTES]) -> bool {
    tables(fingerprints).iter().zip(halves(start)).fold(0xFF, |buckets, (table, half)| buckets & table[half]) != 0
}

/// Returns the index in each table for a text's first bytes.
#[inline(always)]
fn halves(start: [u8; FINGERPRINT_BYTES]) -> [usize; TABLES] {
    let [a, b, c, d] = start.map(|byte| usize::from(byte & 15));
    [a, b, c, d, usize::from(start[0] >> 4)]
}

/// Returns the index in each table for a text, or `None` if the text ends before the table's byte.
fn halves_of(text: &[u8]) -> [Option<usize>; TABLES] {
    let byte = |offset: usize| text.get(offset).copied();
    let halves = halves([0, 1, 2, 3].map(|offset| byte(offset).unwrap_or_default()));
    let exists = [0, 1, 2, 3, 0].map(|offset| byte(offset).is_some());
    std::array::from_fn(|table| exists[table].then_some(halves[table]))
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
        for (table, half) in fingerprints.chunks_exact_mut(HALVES).zip(halves_of(start)) {
            match half {
                Some(half) => table[half] |= bucket,
                None => table.iter_mut().for_each(|buckets| *buckets |= bucket),
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
    let of_table = |(table, half): (&Table, Option<usize>)| match half {
        Some(half) => table[half],
        None => table.iter().fold(0xFF, |all, buckets| all & buckets),
    };
    tables(fingerprints).iter().zip(halves_of(start)).map(of_table).fold(0xFF, |all, buckets| all & buckets) != 0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_every_byte_are_its_hex_digits() {
        for byte in 0..=u8::MAX {
            let digits = format!("{byte:02x}");
            let [high, low] = [0, 1].map(|at| usize::from_str_radix(&digits[at..=at], 16).unwrap());
            for offset in 0..FINGERPRINT_BYTES {
                let mut start = [0; FINGERPRINT_BYTES];
                start[offset] = byte;
                let mut expected = [0; TABLES];
                expected[offset] = low;
                expected[FINGERPRINT_BYTES] = if offset == 0 { high } else { 0 };
                assert_eq!(halves(start), expected, "{byte} at {offset}");
                assert_eq!(halves_of(&start), expected.map(Some), "{byte} at {offset}");
            }
        }
        assert_eq!(halves_of(b"/a"), [Some(15), Some(1), None, None, Some(2)]);
        assert_eq!(halves_of(b""), [None; TABLES]);
    }

    /// Returns whether some bucket has, for each compared half, a text with that half or a text that ends before its
    /// byte. Assigns texts to buckets by their order.
    fn shares_a_bucket(texts: &[&[u8]], start: &[u8]) -> bool {
        (0..8).any(|bucket| {
            let members =
                || (0..).zip(texts).filter(move |(at, _)| at * 8 / texts.len() == bucket).map(|(_, text)| text);
            (0..FINGERPRINT_BYTES).all(|offset| {
                let has = |agrees: &dyn Fn(u8) -> bool| {
                    members().any(|text| text.get(offset).is_none_or(|&byte| agrees(byte)))
                };
                start.get(offset).is_none_or(|byte| {
                    has(&|other| other % 16 == byte % 16) && (offset > 0 || has(&|other| other / 16 == byte / 16))
                })
            })
        })
    }

    /// Sorted texts with distinct starts: alone, one in each bucket, and several in a bucket.
    const TEXTS: [&[&[u8]]; 5] = [
        &[b"/ab"],
        &[b"a"],
        &[b"-p", b"/a/", b"=\x80\xFF"],
        &[b".gi", b"/", b"0x", b"?a=", b"Zz", b"a", b"b/c", b"\xC3\xA9t"],
        &[
            b"!",
            b"&id",
            b".js",
            b".php",
            b"/a",
            b"/b/",
            b"/c",
            b"=",
            b"?p=",
            b"?q=",
            b"A/",
            b"_p",
            b"a/b",
            b"aab",
            b"bb",
            b"xyz",
            b"~",
            b"\xFF\xFF",
        ],
    ];

    /// Every pair of bytes at each pair of places.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn texts_may_begin_exactly_with_the_halves_in_their_buckets() {
        let mut tried = 0;
        for texts in TEXTS {
            let starts: Vec<&[u8]> = texts.iter().map(|text| &text[..text.len().min(FINGERPRINT_BYTES)]).collect();
            let fingerprints = fingerprints_of(texts.iter().copied());
            for pair in 0..=u16::MAX {
                let [a, b] = pair.to_le_bytes();
                for start in [[a, b, b'/', b'a'], [b'a', a, b, b'/'], [b'a', b'/', a, b], [a, b'/', b, b'a']] {
                    assert_eq!(may_begin(&fingerprints, start), shares_a_bucket(&starts, &start), "{start:?}");
                    assert_eq!(passes_start(&fingerprints, &start), may_begin(&fingerprints, start), "{start:?}");
                    tried += 1;
                }
            }
            for text in texts {
                assert!(passes_start(&fingerprints, text), "{}", text.escape_ascii());
            }
        }
        assert_eq!(tried, TEXTS.len() * 4 * 65_536);
    }

    /// A start passes if every text with it passes. Tries every start of up to two bytes, and every byte after it.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn starts_pass_with_every_following_byte() {
        let (mut tried, mut passed) = (0, 0);
        for texts in TEXTS {
            let fingerprints = fingerprints_of(texts.iter().copied());
            let follows =
                |start: &[u8]| (0..=u8::MAX).all(|byte| passes_start(&fingerprints, &[start, &[byte]].concat()));
            for start in (0..=u8::MAX).map(|byte| vec![byte]).chain([Vec::new()]) {
                let passes = passes_start(&fingerprints, &start);
                assert!(!passes || follows(&start), "{start:?}");
                (tried, passed) = (tried + 1, passed + usize::from(passes));
            }
            for pair in 0..=u16::MAX {
                let [a, b] = pair.to_le_bytes();
                if passes_start(&fingerprints, &[a, b]) {
                    let follow = |c: u8| [c, !c].into_iter().all(|d| may_begin(&fingerprints, [a, b, c, d]));
                    assert!((0..=u8::MAX).all(follow), "{a} {b}");
                    passed += 1;
                }
                tried += 1;
            }
        }
        assert_eq!(tried, TEXTS.len() * (65_536 + 257));
        assert!(passed > 500, "{passed}");
    }
}
