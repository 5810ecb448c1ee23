//! Classifying a URL's bytes with vector instructions.

#[cfg(vectors)]
use super::vectors::Vectors;

/// The byte classes that [`scan_url`] finds in a URL without a NUL, tab, line feed, carriage return or `#`.
///
/// Fits in two registers, even in an `Option`. If it were returned through memory, it would be written in three pieces
/// and read in one. The processor would wait for that for up to a tenth of a decision's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlScan {
    /// A bit for each of the first 64 bytes: 1 for a lower-case letter, a digit, `-` or `.`, the bytes of an ordinary
    /// host name. Bits after the URL's end are zero.
    pub name: u64,
    /// Whether the URL contains a `%`, `*`, `$`, space or non-ASCII byte.
    pub has_escapable: bool,
}

/// Classifies a URL's bytes, up to 64 at a time.
///
/// Returns `None` if the URL contains a NUL, tab, line feed, carriage return or `#`, if this processor lacks the vector
/// instructions, or if the URL is too short for them.
#[inline(always)]
#[must_use]
pub fn scan_url(url: &[u8]) -> Option<UrlScan> {
    #[cfg(vectors)]
    match Vectors::detected() {
        // SAFETY: the function only requires the instructions that were just detected.
        Vectors::Long => return unsafe { x86::scan_512(url) },
        // SAFETY: as above.
        Vectors::Short => return unsafe { x86::scan_256(url) },
        Vectors::None => {}
    }
    let _ = url;
    None
}

/// Byte classes, as bits. A byte is in a class if the table for its lower half and the table for its upper half share
/// the class's bit.
#[cfg(vectors)]
mod classes {
    /// Host-name bytes: the letters `a` to `o`, the letters `p` to `z`, digits, and `-` and `.`.
    pub(super) const NAME: u8 = 1 | 2 | 4 | 8;
    /// `#`, and NUL, tab, line feed and carriage return.
    pub(super) const SPECIAL: u8 = 16 | 32;
    /// Space, `$`, `%` and `*`. Non-ASCII bytes are escapable too, but need no class, because the class is the sign
    /// bit, and theirs is set.
    pub(super) const ESCAPABLE: u8 = 128;

    /// Bits by a byte's lower half.
    pub(super) const LOW: [u8; 16] = {
        let mut table = [0; 16];
        let mut byte = 0_u8;
        while byte < 128 {
            table[(byte & 15) as usize] |= class_of(byte);
            byte += 1;
        }
        table
    };

    /// Bits by a byte's upper half.
    pub(super) const HIGH: [u8; 16] = {
        let mut table = [0; 16];
        let mut byte = 0_u8;
        while byte < 128 {
            table[(byte >> 4) as usize] |= class_of(byte);
            byte += 1;
        }
        table
    };

    /// Returns a byte's class bit, or 0. All bytes in a class have the same upper half, so no other byte has the bit in
    /// both tables.
    pub(super) const fn class_of(byte: u8) -> u8 {
        match byte {
            b'a'..=b'o' => 1,
            b'p'..=b'z' => 2,
            b'0'..=b'9' => 4,
            b'-' | b'.' => 8,
            b'#' => 16,
            0 | b'\t' | b'\n' | b'\r' => 32,
            b' ' | b'$' | b'%' | b'*' => ESCAPABLE,
            _ => 0,
        }
    }
}

/// Scanning with vector instructions.
#[cfg(vectors)]
#[allow(clippy::incompatible_msrv, reason = "`vectors` is set for newer compilers only")]
mod x86 {
    use std::arch::x86_64::{
        __m512i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setzero_si256,
        _mm256_shuffle_epi8, _mm256_srli_epi16, _mm512_and_si512, _mm512_maskz_shuffle_epi8, _mm512_movepi8_mask,
        _mm512_or_si512, _mm512_set1_epi8, _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_test_epi8_mask,
    };

    use super::super::vectors::{BLOCK, from_on, load, load_256, load_four_times, load_twice};
    use super::UrlScan;
    use super::classes::{ESCAPABLE, HIGH, LOW, NAME, SPECIAL};

    /// Implements [`super::scan_url`]. Has no branch in the first 128 bytes, because few URLs are longer.
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    pub(super) fn scan_512(url: &[u8]) -> Option<UrlScan> {
        let has = |classes, class: u8| _mm512_test_epi8_mask(classes, _mm512_set1_epi8(class.cast_signed()));
        let (first, mut signs) = classes_512(url);
        let mut all = first;
        let mut rest = from_on(url, 64);
        loop {
            let (classes, bytes) = classes_512(rest);
            all = _mm512_or_si512(all, classes);
            signs = _mm512_or_si512(signs, bytes);
            match rest.get(64..) {
                Some(after @ [_, ..]) => rest = after,
                _ => break,
            }
        }
        let scan =
            UrlScan { name: has(first, NAME), has_escapable: _mm512_movepi8_mask(_mm512_or_si512(all, signs)) != 0 };
        (has(all, SPECIAL) == 0).then_some(scan)
    }

    /// Returns the classes of up to 64 bytes, and the bytes. The zeros after the text's end have no class.
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    #[inline]
    fn classes_512(text: &[u8]) -> (__m512i, __m512i) {
        let (bytes, exists) = load(text);
        let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15));
        let high = _mm512_shuffle_epi8(load_four_times(&HIGH), upper);
        // A non-ASCII byte gives 0 here.
        let low = _mm512_maskz_shuffle_epi8(exists, load_four_times(&LOW), bytes);
        (_mm512_and_si512(low, high), bytes)
    }

    /// Implements [`super::scan_url`] for URLs of at least 32 bytes. The last block overlaps the one before it.
    #[target_feature(enable = "avx2")]
    pub(super) fn scan_256(url: &[u8]) -> Option<UrlScan> {
        let half = _mm256_set1_epi8(15);
        let (low, high) = (load_twice(&LOW), load_twice(&HIGH));
        let scan = |block: &[u8; BLOCK]| {
            let bytes = load_256(block);
            let high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half));
            // A non-ASCII byte gives 0 here.
            let classes = _mm256_and_si256(_mm256_shuffle_epi8(low, bytes), high);
            let has = |class: u8| {
                let found = _mm256_and_si256(classes, _mm256_set1_epi8(class.cast_signed()));
                !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256())) as u32)
            };
            [has(NAME), has(SPECIAL), has(ESCAPABLE) | _mm256_movemask_epi8(bytes) as u32]
        };
        let (first, last) = (url.first_chunk()?, url.last_chunk()?);
        let [name, mut special, mut escapable] = scan(first);
        let (blocks, _) = url.as_chunks::<BLOCK>();
        let second = blocks.get(1).unwrap_or(last);
        let [second_name, second_special, second_escapable] = scan(second);
        let second_at = if blocks.len() > 1 { BLOCK } else { url.len() - BLOCK };
        for block in blocks.iter().skip(2).chain([last]) {
            let [_, more_special, more_escapable] = scan(block);
            (special, escapable) = (special | more_special, escapable | more_escapable);
        }
        (special | second_special == 0).then_some(UrlScan {
            name: u64::from(name) | u64::from(second_name) << second_at,
            has_escapable: escapable | second_escapable != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference implementation of [`scan_url`].
    fn scan_by_byte(url: &[u8]) -> Option<UrlScan> {
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
        let has_special = url.iter().any(|byte| b"\0\t\n\r#".contains(byte));
        (!has_special).then(|| UrlScan {
            name: (0..).zip(url.iter().take(64)).fold(0, |bits, (at, &byte)| bits | u64::from(is_name(byte)) << at),
            has_escapable: url.iter().any(|byte| !byte.is_ascii() || b" $%*".contains(byte)),
        })
    }

    type Scan = fn(&[u8]) -> Option<UrlScan>;

    /// Returns every vector scan that the processor supports, by name.
    fn scans() -> Vec<(&'static str, Scan)> {
        #[cfg(not(vectors))]
        return Vec::new();
        #[cfg(vectors)]
        {
            let mut scans: Vec<(&'static str, Scan)> = Vec::new();
            // Not by `Vectors::detected`, which the tests would otherwise compare with itself.
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: as in `scan_url`.
                scans.push(("avx2", |url| unsafe { x86::scan_256(url) }));
            }
            if std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512bw")
                && std::arch::is_x86_feature_detected!("bmi2")
            {
                // SAFETY: as in `scan_url`.
                scans.push(("avx512bw", |url| unsafe { x86::scan_512(url) }));
            }
            scans
        }
    }

    #[test]
    fn scans_find_every_byte_at_every_position() {
        for (name, scan) in scans() {
            for len in 0..200 {
                let mut url = vec![b'/'; len];
                assert_eq!(scan(&url).is_some(), name == "avx512bw" || len >= 32, "{name} {len}");
                for (at, byte) in (0..len).flat_map(|at| b"#%\xE9\0a".iter().map(move |&byte| (at, byte))) {
                    url[at] = byte;
                    let is_long = name == "avx512bw" || len >= 32;
                    assert_eq!(scan(&url), scan_by_byte(&url).filter(|_| is_long), "{name} {byte} at {at} of {len}");
                    url[at] = b'/';
                }
            }
            for byte in 0..=255 {
                let url = [byte; 70];
                assert_eq!(scan(&url), scan_by_byte(&url), "{name} {byte}");
            }
        }
        assert!(scan_url(&[b'/'; 40]).is_none_or(|found| Some(found) == scan_by_byte(&[b'/'; 40])));
    }
}
