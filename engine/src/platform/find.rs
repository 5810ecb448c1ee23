//! Search for a byte that is probably near the start of a text, such as the end of a line.

use memchr::memchr3;

/// Number of bytes that are searched in one step.
#[cfg(vectors)]
const NEAR: usize = 32;

/// Returns the offset of the first byte that equals one of three needles, or `None` if there is none.
///
/// If the byte is among the first 64, this is faster than [`memchr3`], its safe counterpart: it makes no call, and
/// branches once for every 32 bytes.
#[inline(always)]
#[must_use]
pub fn find_near(needles: [u8; 3], text: &[u8]) -> Option<usize> {
    #[cfg_attr(not(vectors), allow(unused_mut, reason = "without vectors, all is searched at once"))]
    let (mut rest, mut at) = (text, 0);
    #[cfg(vectors)]
    for _ in 0..2 {
        let Some((near, after)) = rest.split_first_chunk::<NEAR>() else { break };
        // SAFETY: the function only requires SSE2, which is part of x86-64.
        let found = unsafe { x86::find_all(needles, near) };
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize);
        }
        (rest, at) = (after, at + NEAR);
    }
    memchr3(needles[0], needles[1], needles[2], rest).map(|found| at + found)
}

#[cfg(vectors)]
#[allow(clippy::incompatible_msrv, reason = "`vectors` is set for newer compilers only")]
mod x86 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8};

    use super::NEAR;

    /// Returns one bit for each byte, the lowest for the first: 1 if the byte is a needle.
    #[target_feature(enable = "sse2")]
    #[inline]
    pub(super) fn find_all(needles: [u8; 3], text: &[u8; NEAR]) -> u32 {
        let (halves, _) = text.as_chunks::<16>();
        halves.iter().rev().fold(0, |found, half| {
            let number = u128::from_le_bytes(*half);
            // The compiler turns the two integers into a single load; the intrinsic for that load takes a raw pointer.
            let bytes = _mm_set_epi64x((number >> 64) as i64, number as i64);
            let [first, second, third] =
                needles.map(|needle| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(needle.cast_signed())));
            let in_half = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(first, second), third)) as u32;
            found << 16 | in_half
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_needle_is_found_at_every_offset() {
        let needles = *b"\n\r#";
        for len in 0..150 {
            let mut text = vec![b'/'; len];
            assert_eq!(find_near(needles, &text), None, "{len}");
            for (at, second) in (0..len).flat_map(|at| [at, at + 1, len - 1].map(|second| (at, second.min(len - 1)))) {
                for byte in needles {
                    (text[second], text[at]) = (b'#', byte);
                    assert_eq!(find_near(needles, &text), Some(at), "{byte} at {at} of {len}");
                    assert_eq!(memchr3(needles[0], needles[1], needles[2], &text), Some(at));
                    (text[second], text[at]) = (b'/', b'/');
                }
            }
        }
        for byte in 0..=255 {
            let expected = needles.contains(&byte).then_some(3);
            assert_eq!(find_near(needles, &[&b"///"[..], &[byte; 70]].concat()), expected, "{byte}");
        }
    }
}
