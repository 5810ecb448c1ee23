//! Stored numbers: little-endian, and aligned by zeros.

use super::error::TooLarge;

/// Stands for a missing number or address.
pub const NONE: u32 = u32::MAX;

/// Returns the little-endian two-byte number at `at`.
#[inline(always)]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the little-endian four-byte number at `at`.
#[inline(always)]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the little-endian eight-byte number at `at`.
#[inline(always)]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Appends a four-byte number.
pub(super) fn put(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends an eight-byte number.
pub(super) fn put_long(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends zeros up to the next multiple of `unit`.
pub(super) fn pad(out: &mut Vec<u8>, unit: usize) {
    out.resize(out.len().next_multiple_of(unit), 0);
}

/// Converts a size to a stored number.
pub(crate) fn fit<T: TryFrom<usize>>(what: &'static str, size: usize, limit: u64) -> Result<T, TooLarge> {
    T::try_from(size).map_err(|_| TooLarge { what, limit, found: size as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of bytes at every pair of adjacent places.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn numbers_are_sums_of_their_bytes() {
        let sum = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |sum, &byte| sum * 256 + u64::from(byte));
        let mut tried = 0;
        for place in 0..11 {
            for pair in 0..=u16::MAX {
                let mut bytes = [0xA5, 0, 1, 0xFF, 0x80, 0x7F, 0, 2, 0xFE, 3, 0x10, 0xC3];
                bytes[place..place + 2].copy_from_slice(&pair.to_le_bytes());
                for at in 0..4 {
                    assert_eq!(u16_at(&bytes, at).map(u64::from), Some(sum(&bytes[at..at + 2])), "{bytes:?}");
                    assert_eq!(u32_at(&bytes, at).map(u64::from), Some(sum(&bytes[at..at + 4])), "{bytes:?}");
                    assert_eq!(u64_at(&bytes, at), Some(sum(&bytes[at..at + 8])), "{bytes:?}");
                    tried += 1;
                }
                let mut out = bytes[..1].to_vec();
                put(&mut out, sum(&bytes[1..5]) as u32);
                put_long(&mut out, sum(&bytes[4..]));
                assert_eq!(out, [&bytes[..5], &bytes[4..]].concat());
            }
        }
        assert_eq!(tried, 11 * 65_536 * 4);
    }

    #[test]
    fn numbers_past_the_end_are_absent() {
        let mut tried = 0;
        for len in 0..=20 {
            let bytes = vec![1; len];
            for at in (0..=24).chain(usize::MAX - 8..=usize::MAX) {
                let fits = |size: usize| at.checked_add(size).is_some_and(|end| end <= len);
                let found = [u16_at(&bytes, at).is_some(), u32_at(&bytes, at).is_some(), u64_at(&bytes, at).is_some()];
                assert_eq!(found, [2, 4, 8].map(fits), "{at} of {len}");
                tried += 1;
            }
        }
        assert_eq!(tried, 21 * 34);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn padding_appends_the_fewest_zeros_that_reach_a_multiple() {
        let mut tried = 0;
        for unit in 1..=64 {
            for len in 0..=256 {
                let mut expected = vec![7; len];
                while expected.len() % unit != 0 {
                    expected.push(0);
                }
                let mut padded = vec![7; len];
                pad(&mut padded, unit);
                assert_eq!(padded, expected, "{unit}");
                tried += 1;
            }
        }
        assert_eq!(tried, 64 * 257);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn sizes_fit_up_to_the_largest_number() {
        for size in 0..=65_537 {
            let too_large = TooLarge { what: "items", limit: 9, found: size as u64 };
            let expected = |largest: usize| if size <= largest { Ok(size) } else { Err(too_large.clone()) };
            assert_eq!(fit::<u8>("items", size, 9).map(usize::from), expected(255));
            assert_eq!(fit::<u16>("items", size, 9).map(usize::from), expected(65_535));
        }
    }
}
