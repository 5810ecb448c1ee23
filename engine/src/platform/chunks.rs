//! Slices as arrays.

/// Splits a slice into arrays of `N` items and the remaining items. `N` must not be 0.
///
/// The standard library has had this function since Rust 1.88. The safe counterpart is [`slice::chunks_exact`].
#[inline(always)]
#[must_use]
pub const fn as_chunks<const N: usize, T>(items: &[T]) -> (&[[T; N]], &[T]) {
    const { assert!(N > 0, "chunks have at least one item") };
    let (chunks, rest) = items.split_at(items.len() / N * N);
    // SAFETY: an array is aligned like its items, and `chunks` has exactly this number of arrays.
    (unsafe { std::slice::from_raw_parts(chunks.as_ptr().cast(), chunks.len() / N) }, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_those_of_the_safe_counterpart() {
        for len in 0..70 {
            let bytes: Vec<u8> = (0..len).collect();
            let (chunks, rest) = as_chunks::<16, u8>(&bytes);
            assert!(chunks.iter().map(|chunk| &chunk[..]).eq(bytes.chunks_exact(16)), "{len}");
            assert_eq!(rest, bytes.chunks_exact(16).remainder());
            let numbers: Vec<u32> = (0..u32::from(len)).collect();
            let (pairs, rest) = as_chunks::<2, u32>(&numbers);
            assert!(pairs.iter().map(|pair| &pair[..]).eq(numbers.chunks_exact(2)), "{len}");
            assert_eq!(rest, numbers.chunks_exact(2).remainder());
        }
    }
}
