//! Loading vectors, for searching and scanning on x86-64.

use std::arch::x86_64::{
    __m256i, __m512i, _bzhi_u64, _mm_set_epi64x, _mm256_broadcastsi128_si256, _mm256_set_epi64x,
    _mm512_broadcast_i32x4, _mm512_maskz_loadu_epi8,
};
use std::sync::atomic::{AtomicU8, Ordering};

/// The vector instructions to use on this processor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    None = 0,
    /// AVX2.
    Short = 1,
    /// AVX-512F, which implies AVX2, with AVX-512BW and BMI2.
    Long = 2,
}

/// The detected [`Vectors`] as a number, or [`UNKNOWN`].
///
/// The standard library also caches features, but testing three of them takes three loads.
static DETECTED: AtomicU8 = AtomicU8::new(UNKNOWN);

const UNKNOWN: u8 = u8::MAX;

impl Vectors {
    /// Returns the best instructions that this processor has.
    #[inline(always)]
    pub(super) fn detected() -> Vectors {
        match DETECTED.load(Ordering::Relaxed) {
            0 => Vectors::None,
            1 => Vectors::Short,
            2 => Vectors::Long,
            _ => Vectors::detect(),
        }
    }

    #[cold]
    fn detect() -> Vectors {
        let is_long = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("bmi2");
        let vectors = match is_x86_feature_detected!("avx2") {
            _ if is_long => Vectors::Long,
            true => Vectors::Short,
            false => Vectors::None,
        };
        DETECTED.store(vectors as u8, Ordering::Relaxed);
        vectors
    }
}

/// Size of a 32-byte vector.
pub(super) const BLOCK: usize = 32;

/// Returns the text from `place` on, or an empty slice at its end. An empty slice from elsewhere might have an
/// unmapped address, and a masked load there makes the processor suppress a fault even if the mask excludes every
/// byte. That took a sixth of a decision's whole time, since half the URLs are shorter than 64 bytes.
#[inline(always)]
pub(super) fn from_on(text: &[u8], place: usize) -> &[u8] {
    text.split_at(text.len().min(place)).1
}

/// Loads up to 64 bytes from the start of a text, padded with zeros, and returns a bit for each loaded byte.
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
#[inline]
pub(super) fn load(text: &[u8]) -> (__m512i, u64) {
    let exists = _bzhi_u64(u64::MAX, text.len().min(64) as u32);
    // SAFETY: masked bytes are not read, and the mask excludes every byte after the text's end.
    (unsafe { _mm512_maskz_loadu_epi8(exists, text.as_ptr().cast()) }, exists)
}

/// Loads four vectors of up to 64 bytes, from offsets 0 to 3 of a text, padded with zeros.
///
/// All loads share one mask, shifted by the offset. So the vector from offset `n` ends with at least `n` zeros, even if
/// the text continues.
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
#[inline]
pub(super) fn load_four_places(text: &[u8]) -> [__m512i; 4] {
    let (first, exists) = load(text);
    let start: *const i8 = text.as_ptr().cast();
    let [second, third, fourth] = [1, 2, 3].map(|offset| {
        // SAFETY: masked bytes are not read. The first load's mask excludes every byte after the text's end. These masks
        // are shifted as far as their starts, so they end at the same byte.
        unsafe { _mm512_maskz_loadu_epi8(exists >> offset, start.wrapping_add(offset)) }
    });
    [first, second, third, fourth]
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn load_four_times(bytes: &[u8; 16]) -> __m512i {
    let number = u128::from_le_bytes(*bytes);
    _mm512_broadcast_i32x4(_mm_set_epi64x((number >> 64) as i64, number as i64))
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_256(bytes: &[u8; BLOCK]) -> __m256i {
    let (quarters, _) = bytes.as_chunks();
    let quarter = |at: usize| quarters.get(at).map_or(0, |&bytes| i64::from_le_bytes(bytes));
    _mm256_set_epi64x(quarter(3), quarter(2), quarter(1), quarter(0))
}

/// Loads sixteen bytes into both halves. The compiler turns the two integers into a single load; the intrinsic for
/// that load takes a raw pointer.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_twice(bytes: &[u8; 16]) -> __m256i {
    let number = u128::from_le_bytes(*bytes);
    _mm256_broadcastsi128_si256(_mm_set_epi64x((number >> 64) as i64, number as i64))
}
