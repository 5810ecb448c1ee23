//! What is asked of the platform: mapping a file, and vector instructions. The one file with `unsafe`.
//!
//! Each block has its proof, and a safe twin that the tests compare it with. What it gains:
//!
//! - Mapping over reading: opening takes the same few microseconds for any size, processes share the pages, and only
//!   what is touched is resident. The safe twin is `Set::from_bytes(std::fs::read(path)?)`.
//! - [`find_fingerprint`] with SSSE3 over the first bytes of pieces one by one: walks over the paths of the benchmark
//!   files took 53, 120 and 238 ns where they had taken 105, 247 and 789. The safe twin is
//!   [`find_fingerprint_by_byte`].

use std::fs::File;
use std::io;
use std::path::Path;

/// A file mapped read-only.
#[derive(Debug)]
pub struct Mapped {
    // `memmap2` refuses to map nothing, so an empty file is `None`.
    map: Option<memmap2::Mmap>,
}

impl Mapped {
    /// Maps a file. Cost: one system call, whatever the size.
    ///
    /// If another process truncates the file while it is mapped, touching what is gone kills this process with
    /// `SIGBUS`; replace a set by renaming a new file over it, as `reptile compile` does, and never write into it.
    ///
    /// # Errors
    /// When the file cannot be opened, is no regular file, or cannot be mapped.
    pub fn open(path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if metadata.len() == 0 {
            return Ok(Mapped { map: None });
        }
        // SAFETY: `Mmap::map` asks that nobody changes the file while it is mapped. That cannot be forced, so
        // nothing here relies on it: the bytes are read through checked accesses only, never twice with the
        // first reading trusted, and never as a type with invalid values. What remains is truncation, which
        // ends the process as documented above.
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        Ok(Mapped { map: Some(map) })
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

/// Three bytes that many texts begin with, in a form that sixteen places are compared with at once.
///
/// The texts are dealt to eight buckets, a bit each. For each of the first three bytes there is a table by its lower
/// half and one by its upper half; a bucket's bit is set where a text of the bucket has such a byte there, or has
/// ended. A place where all six agree on a bucket may be the beginning of a text; any other is not.
///
/// The method is that of Hyperscan's "Teddy" (Wang et al., NSDI 2019).
pub type Fingerprints = [u8; 96];

/// How many bytes at its start a text is recognised by.
pub const FINGERPRINT_BYTES: usize = 3;

/// The first place of `text` that the fingerprints do not rule out.
#[inline(always)]
#[must_use]
pub fn find_fingerprint(fingerprints: &Fingerprints, text: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("ssse3") {
        // SAFETY: the function is unsafe to call only because the processor must have SSSE3, which was just
        // asked. It has no other requirement: it is made of safe operations.
        return unsafe { ssse3::find(fingerprints, text) };
    }
    find_fingerprint_by_byte(fingerprints, text)
}

/// As [`find_fingerprint`], one place after the other, without `unsafe`.
#[must_use]
pub fn find_fingerprint_by_byte(fingerprints: &Fingerprints, text: &[u8]) -> Option<usize> {
    (0..text.len()).find(|&at| {
        let buckets = (0..FINGERPRINT_BYTES).fold(0xFF, |buckets, offset| {
            // Behind the end stands a zero, which is in no URL: only texts that have ended before agree with it.
            let byte = text.get(at + offset).copied().unwrap_or(0);
            let low = fingerprints[offset * 32 + usize::from(byte & 15)];
            let high = fingerprints[offset * 32 + 16 + usize::from(byte >> 4)];
            buckets & low & high
        });
        buckets != 0
    })
}

#[cfg(target_arch = "x86_64")]
mod ssse3 {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8, _mm_setzero_si128,
        _mm_shuffle_epi8, _mm_srli_epi16,
    };

    use super::{FINGERPRINT_BYTES, Fingerprints};

    const LANES: usize = 16;

    #[target_feature(enable = "ssse3")]
    #[inline]
    fn load(bytes: &[u8; LANES]) -> __m128i {
        // Two halves, which the compiler loads as one; the intrinsic that loads takes a raw pointer.
        let number = u128::from_le_bytes(*bytes);
        _mm_set_epi64x((number >> 64) as i64, number as i64)
    }

    /// A bit for each of the sixteen places from the start of `text` that may begin a text.
    #[target_feature(enable = "ssse3")]
    #[inline]
    fn candidates(tables: &[(__m128i, __m128i); FINGERPRINT_BYTES], text: &[u8; LANES + FINGERPRINT_BYTES - 1]) -> u32 {
        let half = _mm_set1_epi8(15);
        let mut buckets = _mm_set1_epi8(-1);
        let mut offset = 0;
        while offset < FINGERPRINT_BYTES {
            let Some(bytes) = text[offset..].first_chunk() else { return 0 };
            let bytes = load(bytes);
            let low = _mm_shuffle_epi8(tables[offset].0, _mm_and_si128(bytes, half));
            let high = _mm_shuffle_epi8(tables[offset].1, _mm_and_si128(_mm_srli_epi16::<4>(bytes), half));
            buckets = _mm_and_si128(buckets, _mm_and_si128(low, high));
            offset += 1;
        }
        let none = _mm_movemask_epi8(_mm_cmpeq_epi8(buckets, _mm_setzero_si128()));
        !(none as u32) & 0xFFFF
    }

    #[target_feature(enable = "ssse3")]
    pub(super) fn find(fingerprints: &Fingerprints, text: &[u8]) -> Option<usize> {
        let table =
            |at: usize| fingerprints[at * LANES..].first_chunk().map_or(_mm_setzero_si128(), |table| load(table));
        let tables = [(table(0), table(1)), (table(2), table(3)), (table(4), table(5))];
        let mut at = 0;
        while let Some(block) = text[at..].first_chunk() {
            let found = candidates(&tables, block);
            if found != 0 {
                return Some(at + found.trailing_zeros() as usize);
            }
            at += LANES;
        }
        // What is left is shorter than a block, at most 17 bytes, and stands in front of zeros here.
        let rest = &text[at..];
        let mut padded = [0; 2 * LANES + FINGERPRINT_BYTES];
        padded[..rest.len()].copy_from_slice(rest);
        let mut start = 0;
        while start < rest.len() {
            let found = candidates(&tables, padded[start..].first_chunk()?);
            if found != 0 {
                let found = start + found.trailing_zeros() as usize;
                return Some(at + found).filter(|_| found < rest.len());
            }
            start += LANES;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vector_instructions_find_what_bytes_find(
            tables in proptest::collection::vec(prop_oneof![4 => Just(0_u8), 1 => any::<u8>()], 96),
            text in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let tables: Fingerprints = tables.try_into().unwrap();
            prop_assert_eq!(find_fingerprint(&tables, &text), find_fingerprint_by_byte(&tables, &text));
        }
    }
}
