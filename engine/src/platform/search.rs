//! Searching for many texts in one path, with vector instructions where the processor has them.

#[cfg(vectors)]
use super::vectors::Vectors;
use crate::format::fingerprints::{self, Fingerprints};

/// Number of places that one call to [`Search::candidates`] examines.
pub const PLACES: usize = 58;

/// A search for many texts in one path, with different texts in each call.
pub trait Search: Copy {
    /// Whether a search is cheap enough to run just to skip the rest of a walk.
    const IS_FAST: bool;

    /// Returns a bit for each of the path's [`PLACES`] places from `base` on: 1 if, by the fingerprints, a text
    /// may begin there. Bits after the path's end, and bits above the first `PLACES`, are unspecified.
    fn candidates(self, fingerprints: &Fingerprints, base: usize) -> u64;
}

/// Work that uses the fastest [`Search`] that this processor supports.
pub trait WithSearch {
    /// The work's result.
    type Output;

    /// Runs the work. Mark the implementation `inline(always)` to compile it for the processor's vector instructions.
    fn with<S: Search>(self, search: S) -> Self::Output;
}

/// Runs `work` with the fastest search that this processor supports.
#[inline(always)]
pub fn search<W: WithSearch>(path: &[u8], work: W) -> W::Output {
    #[cfg(vectors)]
    match Vectors::detected() {
        // SAFETY: the function only requires the instructions that were just detected.
        Vectors::Long => return unsafe { x86::search_512(path, work) },
        // SAFETY: as above.
        Vectors::Short => return unsafe { x86::search(path, work) },
        Vectors::None => {}
    }
    work.with(ByByte(path))
}

/// A search that examines one place at a time.
///
/// This is the fallback on other processors, and the safe counterpart of the vector searches.
#[derive(Clone, Copy)]
pub struct ByByte<'p>(pub &'p [u8]);

impl Search for ByByte<'_> {
    const IS_FAST: bool = false;

    fn candidates(self, fingerprints: &Fingerprints, base: usize) -> u64 {
        let places = (base..self.0.len()).take(PLACES);
        places.fold(0, |found, at| found | u64::from(self.may_begin(fingerprints, at)) << (at - base))
    }
}

impl ByByte<'_> {
    /// Returns whether a text may begin at a place, by the fingerprints.
    #[inline(always)]
    fn may_begin(self, fingerprints: &Fingerprints, at: usize) -> bool {
        // Zeros after the path's end match all texts that end there. They also match bytes like `p`, whose lower half
        // is zero. That only adds candidates.
        let byte = |offset: usize| self.0.get(at + offset).copied().unwrap_or(0);
        fingerprints::may_begin(fingerprints, [byte(0), byte(1), byte(2), byte(3)])
    }
}

/// Searching with vector instructions.
#[cfg(vectors)]
#[allow(clippy::incompatible_msrv, reason = "`vectors` is set for newer compilers only")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_alignr_epi8, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_movemask_epi8,
        _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
        _mm512_and_si512, _mm512_set1_epi8, _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_ternarylogic_epi64,
        _mm512_test_epi8_mask,
    };

    use super::super::vectors::{BLOCK, load_256, load_four_places, load_four_times, load_twice};
    use super::{PLACES, Search, WithSearch};
    use crate::format::fingerprints::{FINGERPRINT_BYTES, Fingerprints, TABLES, tables};

    /// Number of places by which a step advances. A block's last three places also need bytes after the block.
    const STEP: usize = BLOCK - (FINGERPRINT_BYTES - 1);
    const _: () = assert!(PLACES == 2 * STEP);

    /// The indexes in each table for thirty-two places: the lower halves of the place's byte and the next three, and
    /// the upper half of the place's byte.
    #[derive(Clone, Copy)]
    struct Block([__m256i; TABLES]);

    /// A search over a path. Only created on a processor with AVX2.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2<'p> {
        path: &'p [u8],
        /// The blocks for the path's first places. Later blocks are loaded on demand.
        first: [Block; 2],
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn search<W: WithSearch>(path: &[u8], work: W) -> W::Output {
        let mut short = [0; BLOCK];
        let first = match path.first_chunk() {
            Some(chunk) => [block(chunk), block(chunk_at(path, STEP))],
            None => {
                if let Some(to) = short.get_mut(..path.len()) {
                    to.copy_from_slice(path);
                }
                [block(&short); 2]
            }
        };
        work.with(Avx2 { path, first })
    }

    impl Search for Avx2<'_> {
        const IS_FAST: bool = true;

        #[inline(always)]
        fn candidates(self, fingerprints: &Fingerprints, base: usize) -> u64 {
            // SAFETY: the function only requires AVX2. A value of this type is created only in `search`, which requires
            // AVX2 too.
            unsafe { candidates(self, fingerprints, base) }
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn candidates(search: Avx2<'_>, fingerprints: &Fingerprints, base: usize) -> u64 {
        let tables = tables(fingerprints);
        let table = |at: usize| tables.get(at).map_or(_mm256_setzero_si256(), |table| load_twice(table));
        let tables = [table(0), table(1), table(2), table(3), table(4)];
        let last = search.path.len().saturating_sub(BLOCK);
        // `chunk_at` moves a block back so that it ends with the path, and the shift corrects for that.
        let places = |block, wanted: usize| u64::from(compare(&tables, block)) >> ((wanted - wanted.min(last)) & 63);
        if base == 0 {
            let [first, second] = search.first;
            return places(first, 0) | places(second, STEP) << STEP;
        }
        let found = places(block(chunk_at(search.path, base)), base);
        // Few paths are long enough for a second block.
        if search.path.len() <= base + STEP {
            return found;
        }
        found | places(block(chunk_at(search.path, base + STEP)), base + STEP) << STEP
    }

    /// A search over a path with 64-byte vectors. Only created on a processor with AVX-512F, AVX-512BW and BMI2.
    #[derive(Clone, Copy)]
    pub(super) struct Avx512<'p> {
        path: &'p [u8],
        /// The indexes in each table for the path's first places, as in a [`Block`].
        first: [__m512i; TABLES],
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    pub(super) fn search_512<W: WithSearch>(path: &[u8], work: W) -> W::Output {
        work.with(Avx512 { path, first: halves(path) })
    }

    impl Search for Avx512<'_> {
        const IS_FAST: bool = true;

        #[inline(always)]
        fn candidates(self, fingerprints: &Fingerprints, base: usize) -> u64 {
            // SAFETY: the function requires the same instructions as `search_512`, which alone creates values of this
            // type.
            unsafe { candidates_512(self, fingerprints, base) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    #[inline]
    fn candidates_512(search: Avx512<'_>, fingerprints: &Fingerprints, base: usize) -> u64 {
        let halves = if base == 0 { search.first } else { halves(search.path.get(base..).unwrap_or_default()) };
        let tables = tables(fingerprints);
        let agree = |at: usize| match (tables.get(at), halves.get(at)) {
            (Some(table), Some(&halves)) => _mm512_shuffle_epi8(load_four_times(table), halves),
            _ => halves[0],
        };
        const ALL_THREE: i32 = 0x80;
        let first = _mm512_ternarylogic_epi64::<ALL_THREE>(agree(0), agree(1), agree(2));
        _mm512_test_epi8_mask(first, _mm512_and_si512(agree(3), agree(4)))
    }

    /// Returns the indexes in each table for the places from the first byte of `text` on.
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    #[inline]
    fn halves(text: &[u8]) -> [__m512i; TABLES] {
        let half = _mm512_set1_epi8(15);
        let bytes = load_four_places(text);
        let [a, b, c, d] = bytes.map(|bytes| _mm512_and_si512(bytes, half));
        [a, b, c, d, _mm512_and_si512(_mm512_srli_epi16::<4>(bytes[0]), half)]
    }

    /// Returns the path's block at a place, or its last block. The path must be at least as long as a block.
    #[inline(always)]
    fn chunk_at(path: &[u8], at: usize) -> &[u8; BLOCK] {
        let at = at.min(path.len().saturating_sub(BLOCK));
        path.get(at..).and_then(|rest| rest.first_chunk()).unwrap_or(&[0; BLOCK])
    }

    /// Returns a bit for each place in a block at which a text may begin.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn compare(tables: &[__m256i; TABLES], block: Block) -> u32 {
        let mut buckets = _mm256_set1_epi8(-1);
        for (&table, halves) in tables.iter().zip(block.0) {
            buckets = _mm256_and_si256(buckets, _mm256_shuffle_epi8(table, halves));
        }
        !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(buckets, _mm256_setzero_si256())) as u32)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn block(bytes: &[u8; BLOCK]) -> Block {
        let bytes = load_256(bytes);
        let half = _mm256_set1_epi8(15);
        let low = _mm256_and_si256(bytes, half);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
        // The upper sixteen bytes, followed by zeros to shift in.
        let after = _mm256_permute2x128_si256::<0x81>(low, low);
        Block([
            low,
            _mm256_alignr_epi8::<1>(after, low),
            _mm256_alignr_epi8::<2>(after, low),
            _mm256_alignr_epi8::<3>(after, low),
            high,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Collects every candidate in a path.
    struct All<'t> {
        fingerprints: &'t Fingerprints,
        len: usize,
    }

    impl WithSearch for All<'_> {
        type Output = Vec<usize>;

        fn with<S: Search>(self, search: S) -> Vec<usize> {
            let found = |base| (search.candidates(self.fingerprints, base), base);
            let chunks = (0..self.len).step_by(PLACES).map(found);
            let places = chunks
                .flat_map(|(bits, base)| (0..PLACES).filter(move |at| bits >> at & 1 != 0).map(move |at| base + at));
            places.filter(|&at| at < self.len).collect()
        }
    }

    /// Runs work with a search over a path.
    type With<O> = fn(&[u8], O) -> <O as WithSearch>::Output;

    /// Returns every vector search that the processor supports, by name.
    fn searches<O: WithSearch>() -> Vec<(&'static str, With<O>)> {
        #[cfg(not(vectors))]
        return Vec::new();
        #[cfg(vectors)]
        {
            let mut searches: Vec<(&'static str, With<O>)> = Vec::new();
            // Not by `Vectors::detected`, which the tests would otherwise compare with itself.
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: as in `search`.
                searches.push(("avx2", |path, work| unsafe { x86::search(path, work) }));
            }
            if std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512bw")
                && std::arch::is_x86_feature_detected!("bmi2")
            {
                // SAFETY: as in `search`.
                searches.push(("avx512bw", |path, work| unsafe { x86::search_512(path, work) }));
            }
            searches
        }
    }

    /// Returns the candidates in one chunk of a path.
    #[derive(Clone, Copy)]
    struct From<'t>(&'t Fingerprints, usize);

    impl WithSearch for From<'_> {
        type Output = u64;

        fn with<S: Search>(self, search: S) -> u64 {
            search.candidates(self.0, self.1)
        }
    }

    /// Returns the type name of the search in use.
    struct Kind;

    impl WithSearch for Kind {
        type Output = &'static str;

        fn with<S: Search>(self, _search: S) -> &'static str {
            std::any::type_name::<S>()
        }
    }

    #[test]
    fn the_fastest_supported_search_is_used() {
        let found = search(b"abc", Kind);
        println!("search in use: {found}");
        let names: Vec<_> = searches::<Kind>().into_iter().map(|(name, _)| name).collect();
        let expected = match names.last() {
            Some(&"avx512bw") => "Avx512",
            Some(&"avx2") => "Avx2",
            _ => "ByByte",
        };
        assert!(found.contains(expected), "{found} is used although the processor supports {names:?}");
        for (name, search) in searches::<Kind>() {
            let kind = if name == "avx512bw" { "Avx512" } else { "Avx2" };
            assert!(search(b"abc", Kind).contains(kind), "{name}");
        }
    }

    /// Returns whether a text in any bucket may begin at a place, by the definition of [`Fingerprints`].
    fn may_begin(fingerprints: &Fingerprints, text: &[u8], at: usize) -> bool {
        (0..8).any(|bucket| {
            (0..fingerprints::FINGERPRINT_BYTES).all(|offset| {
                let byte = usize::from(text.get(at + offset).copied().unwrap_or(0));
                let has = |table: usize, half: usize| fingerprints[table * 16 + half] >> bucket & 1 != 0;
                has(offset, byte % 16) && (offset > 0 || has(4, byte / 16))
            })
        })
    }

    proptest! {
        #[test]
        fn vector_searches_find_every_candidate(
            tables in proptest::collection::vec(prop_oneof![4 => Just(0_u8), 1 => any::<u8>()], 80),
            text in proptest::collection::vec(any::<u8>(), 0..200),
            base in 0_usize..200,
        ) {
            let fingerprints: &Fingerprints = &tables.try_into().unwrap();
            let by_byte = All { fingerprints, len: text.len() }.with(ByByte(&text));
            let by_definition: Vec<usize> = (0..text.len()).filter(|&at| may_begin(fingerprints, &text, at)).collect();
            prop_assert_eq!(&by_byte, &by_definition);
            // Vector searches may report extra places at the end of a block, where the bytes after it are unknown, but
            // must not miss a candidate.
            for (name, search) in searches::<All<'_>>() {
                let found = search(&text, All { fingerprints, len: text.len() });
                prop_assert!(by_byte.iter().all(|at| found.contains(at)), "{} {:?} {:?}", name, by_byte, found);
                let mut spare = found.iter().filter(|at| !by_byte.contains(at));
                prop_assert!(spare.all(|at| at % PLACES >= 29 && at % 29 < 3), "{} {:?} {:?}", name, by_byte, found);
            }
            let base = base.min(text.len());
            let places = (1_u64 << (text.len() - base).min(PLACES)) - 1;
            let expected = From(fingerprints, base).with(ByByte(&text)) & places;
            for (name, search) in searches::<From<'_>>() {
                prop_assert_eq!(search(&text, From(fingerprints, base)) & expected, expected, "{}", name);
            }
        }
    }
}
