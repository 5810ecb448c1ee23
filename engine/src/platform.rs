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
    if text.len() >= x86::AVX2_BYTES && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the function is unsafe to call only because the processor must have AVX2, which was just asked. It
        // has no other requirement: it is made of safe operations.
        return unsafe { x86::find_avx2(fingerprints, text) };
    } else if std::arch::is_x86_feature_detected!("ssse3") {
        // SAFETY: as above, with SSSE3.
        return unsafe { x86::find_ssse3(fingerprints, text) };
    }
    find_fingerprint_by_byte(fingerprints, text)
}

/// As [`find_fingerprint`], one place after the other, without `unsafe`.
#[must_use]
pub fn find_fingerprint_by_byte(fingerprints: &Fingerprints, text: &[u8]) -> Option<usize> {
    (0..text.len()).find(|&at| may_begin(fingerprints, text, at))
}

/// Whether the fingerprints do not rule out a place.
fn may_begin(fingerprints: &Fingerprints, text: &[u8], at: usize) -> bool {
    let buckets = (0..FINGERPRINT_BYTES).fold(0xFF, |buckets, offset| {
        // Behind the end stands a zero, which is in no URL: only texts that have ended before agree with it.
        let byte = text.get(at + offset).copied().unwrap_or(0);
        let low = fingerprints[offset * 32 + usize::from(byte & 15)];
        let high = fingerprints[offset * 32 + 16 + usize::from(byte >> 4)];
        buckets & low & high
    });
    buckets != 0
}

/// The search with vector instructions: sixteen or thirty-two places at once, the last of them once more with those
/// before them where the text is no multiple. The two places at the end have fewer bytes behind them than a
/// fingerprint; they are looked at one by one, if there are texts as short as that.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_and_si128, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8,
        _mm_setzero_si128, _mm_shuffle_epi8, _mm_srli_epi16, _mm256_and_si256, _mm256_broadcastsi128_si256,
        _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set_epi64x, _mm256_set1_epi8, _mm256_setzero_si256,
        _mm256_shuffle_epi8, _mm256_srli_epi16,
    };

    use super::{FINGERPRINT_BYTES, Fingerprints, may_begin};

    /// The shortest text that fills a block of 32 places and what stands behind them.
    pub(super) const AVX2_BYTES: usize = 32 + FINGERPRINT_BYTES - 1;

    const SSSE3_BYTES: usize = 16 + FINGERPRINT_BYTES - 1;

    /// Two halves, which the compiler loads as one; the intrinsic that loads takes a raw pointer.
    #[target_feature(enable = "ssse3")]
    #[inline]
    fn load(bytes: &[u8; 16]) -> __m128i {
        let number = u128::from_le_bytes(*bytes);
        _mm_set_epi64x((number >> 64) as i64, number as i64)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load_32(bytes: &[u8; 32]) -> __m256i {
        let (quarters, _) = bytes.as_chunks();
        let quarter = |at: usize| quarters.get(at).map_or(0, |&bytes| i64::from_le_bytes(bytes));
        _mm256_set_epi64x(quarter(3), quarter(2), quarter(1), quarter(0))
    }

    #[target_feature(enable = "ssse3")]
    #[inline]
    fn tables(fingerprints: &Fingerprints) -> [__m128i; 6] {
        let (tables, _) = fingerprints.as_chunks();
        [0, 1, 2, 3, 4, 5].map(|at| tables.get(at).map_or(_mm_setzero_si128(), |table| load(table)))
    }

    /// A bit for each of the first sixteen places of a block that may begin a text.
    #[target_feature(enable = "ssse3")]
    #[inline]
    fn candidates(tables: &[__m128i; 6], block: &[u8; SSSE3_BYTES]) -> u32 {
        let half = _mm_set1_epi8(15);
        let mut buckets = _mm_set1_epi8(-1);
        for offset in 0..FINGERPRINT_BYTES {
            let bytes = block[offset..].first_chunk().map_or(_mm_setzero_si128(), |bytes| load(bytes));
            let low = _mm_shuffle_epi8(tables[offset * 2], _mm_and_si128(bytes, half));
            let high = _mm_shuffle_epi8(tables[offset * 2 + 1], _mm_and_si128(_mm_srli_epi16::<4>(bytes), half));
            buckets = _mm_and_si128(buckets, _mm_and_si128(low, high));
        }
        !(_mm_movemask_epi8(_mm_cmpeq_epi8(buckets, _mm_setzero_si128())) as u32) & 0xFFFF
    }

    /// A bit for each of the first thirty-two places of a block that may begin a text.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn candidates_32(tables: &[__m256i; 6], block: &[u8; AVX2_BYTES]) -> u32 {
        let half = _mm256_set1_epi8(15);
        let mut buckets = _mm256_set1_epi8(-1);
        for offset in 0..FINGERPRINT_BYTES {
            let bytes = block[offset..].first_chunk().map_or(_mm256_setzero_si256(), |bytes| load_32(bytes));
            let low = _mm256_shuffle_epi8(tables[offset * 2], _mm256_and_si256(bytes, half));
            let high = _mm256_srli_epi16::<4>(bytes);
            let high = _mm256_shuffle_epi8(tables[offset * 2 + 1], _mm256_and_si256(high, half));
            buckets = _mm256_and_si256(buckets, _mm256_and_si256(low, high));
        }
        !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(buckets, _mm256_setzero_si256())) as u32)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn find_avx2(fingerprints: &Fingerprints, text: &[u8]) -> Option<usize> {
        let tables = tables(fingerprints).map(|table| _mm256_broadcastsi128_si256(table));
        let mut at = 0;
        while let Some(block) = text[at..].first_chunk() {
            let found = candidates_32(&tables, block);
            if found != 0 {
                return Some(at + found.trailing_zeros() as usize);
            }
            at += 32;
        }
        if let Some(block) = text.last_chunk() {
            let start = text.len() - AVX2_BYTES;
            // Places in front of `at` have been looked at, and the last two are left: at most 31 of them.
            let found = (u64::from(candidates_32(&tables, block)) >> (at - start)).trailing_zeros();
            if found < 32 {
                return Some(at + found as usize);
            }
        }
        last_two(fingerprints, text)
    }

    #[target_feature(enable = "ssse3")]
    pub(super) fn find_ssse3(fingerprints: &Fingerprints, text: &[u8]) -> Option<usize> {
        let tables = tables(fingerprints);
        let mut at = 0;
        while let Some(block) = text[at..].first_chunk() {
            let found = candidates(&tables, block);
            if found != 0 {
                return Some(at + found.trailing_zeros() as usize);
            }
            at += 16;
        }
        if let Some(block) = text.last_chunk() {
            let start = text.len() - SSSE3_BYTES;
            let found = (u64::from(candidates(&tables, block)) >> (at - start)).trailing_zeros();
            if found < 16 {
                return Some(at + found as usize);
            }
            return last_two(fingerprints, text);
        }
        // Less than a block, with zeros behind it.
        let mut block = [0; SSSE3_BYTES];
        block.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        let found = candidates(&tables, &block);
        match found.trailing_zeros() as usize {
            found if found < text.len().min(16) => Some(found),
            _ => (16..text.len()).find(|&at| may_begin(fingerprints, text, at)),
        }
    }

    #[inline(always)]
    fn last_two(fingerprints: &Fingerprints, text: &[u8]) -> Option<usize> {
        // A zero as third byte is only possible behind the end of a text of one or two.
        let has_short = fingerprints[64] & fingerprints[80] != 0;
        let last = text.len() - 2..text.len();
        if has_short { last.into_iter().find(|&at| may_begin(fingerprints, text, at)) } else { None }
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
            text in proptest::collection::vec(any::<u8>(), 0..150),
        ) {
            let tables: Fingerprints = tables.try_into().unwrap();
            let expected = find_fingerprint_by_byte(&tables, &text);
            prop_assert_eq!(find_fingerprint(&tables, &text), expected);
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("ssse3") {
                // SAFETY: as in `find_fingerprint`.
                prop_assert_eq!(unsafe { x86::find_ssse3(&tables, &text) }, expected);
            }
        }
    }
}
