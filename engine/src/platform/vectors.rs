//! Loading vectors, for searching and scanning on x86-64.

use std::arch::x86_64::{
    __m256i, __m512i, _mm_set_epi64x, _mm256_broadcastsi128_si256, _mm256_set_epi64x, _mm512_broadcast_i32x4,
    _mm512_maskz_loadu_epi8,
};

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
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn load(text: &[u8]) -> (__m512i, u64) {
    let exists = u64::MAX.checked_shr(64 - text.len().min(64) as u32).unwrap_or(0);
    // SAFETY: masked bytes are not read, and the mask excludes every byte after the text's end.
    (unsafe { _mm512_maskz_loadu_epi8(exists, text.as_ptr().cast()) }, exists)
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
