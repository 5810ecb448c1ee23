//! Platform services: memory-mapped files and vector instructions.
//!
//! The only file with `unsafe` code.
//!
//! Each `unsafe` block states why it is sound, and has a safe counterpart that the tests compare it with. The
//! gains:
//!
//! - Mapping a file instead of reading it: opening takes a few microseconds at any size, processes share the pages, and
//!   only pages that are read use memory. The safe counterpart is [`MappedFile::copy`].
//! - [`MappedFile::release`] while a set is merged and checked: compiling a million origins in 400 MiB peaked at 488 MB
//!   instead of 549, and the difference grows with the set. The safe counterpart is not to call it.
//! - [`search`] with AVX2 instead of comparing segment starts one by one: walks over the paths in three benchmark files
//!   took 53, 120 and 238 ns instead of 105, 247 and 789. With AVX-512 instead of AVX2, two of them took 33 and 99 ns
//!   instead of 37 and 108. The safe counterpart is [`ByByte`].
//! - [`scan_url`] with AVX-512 instead of loops over bytes: splitting took 29 ns per URL instead of 86 for shuffled
//!   URLs over a million origins, and 35 instead of 99 for real URLs. The safe counterpart is the path in
//!   [`crate::url::split`] for URLs that are not ordinary, which handles every URL on processors without these
//!   instructions.
//! - [`prefetch`]: three million shuffled URLs over a million origins took 1.1 to 1.4 s of processor time instead of
//!   1.9 to 2.0. The safe counterpart is [`crate::set::Set::decide_each`], which does not prefetch and which the tests
//!   compare batches with.

#[cfg(feature = "mmap")]
use std::fs::File;
#[cfg(feature = "mmap")]
use std::io::{self, Read};
#[cfg(feature = "mmap")]
use std::ops::Range;
#[cfg(feature = "mmap")]
use std::path::Path;

use crate::format::fingerprints::{self, Fingerprints};

/// Large page size. On systems with another size, aligning a copied file to it is useless but harmless.
#[cfg(feature = "mmap")]
const LARGE_PAGE: usize = 2 << 20;

/// A file mapped read-only, or an in-memory copy.
#[cfg(feature = "mmap")]
#[derive(Debug)]
pub struct MappedFile {
    // `None` for an empty file, which `memmap2` refuses to map.
    map: Option<memmap2::Mmap>,
    /// The file's byte range in the map.
    place: Range<usize>,
    /// Whether the map is a copy, whose pages cannot be read from the file again.
    is_copy: bool,
}

#[cfg(feature = "mmap")]
impl MappedFile {
    /// Maps a file with one system call.
    ///
    /// # Safety
    /// The file must not be written to or truncated while it is mapped, by this process or any other. Replacing it by
    /// renaming another file over it is fine. Bytes that change during a read are undefined behavior in Rust, and
    /// reading truncated bytes ends the process (`SIGBUS` on Unix).
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, is not a regular file, or cannot be mapped.
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<MappedFile> {
        let file = File::open(path)?;
        // SAFETY: the requirements are the same.
        unsafe { MappedFile::of(&file) }
    }

    /// Maps an open file with one system call.
    ///
    /// # Safety
    /// See [`MappedFile::open`].
    ///
    /// # Errors
    /// Returns an error if the file is not a regular file or cannot be mapped.
    pub unsafe fn of(file: &File) -> io::Result<MappedFile> {
        if length(file)? == 0 {
            return Ok(MappedFile { map: None, place: 0..0, is_copy: false });
        }
        // SAFETY: `Mmap::map` requires that the file does not change while it is mapped, and the caller guarantees it.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        Ok(MappedFile { place: 0..map.len(), map: Some(map), is_copy: false })
    }

    /// Writes an unnamed file in a folder and maps it.
    ///
    /// The system removes it once it is unmapped, however the process ends.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created, written or mapped, or if `write` fails.
    #[cfg(feature = "nameless")]
    pub fn nameless(folder: &Path, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<MappedFile> {
        let file = tempfile::tempfile_in(folder)?;
        let mut out = io::BufWriter::with_capacity(1 << 20, &file);
        write(&mut out)?;
        io::Write::flush(&mut out)?;
        drop(out);
        // SAFETY: the file no longer changes. It has no name, so no other process can open it, and `file` is dropped
        // here without further writes.
        unsafe { MappedFile::of(&file) }
    }

    /// Releases pages that have been read.
    ///
    /// The system may keep them in its page cache, and reading one again then takes about a microsecond. Does nothing
    /// to a copy, or on systems other than Unix.
    pub fn release(&self) {
        #[cfg(unix)]
        if let Some(map) = self.map.as_ref().filter(|_| !self.is_copy) {
            // SAFETY: a copy would lose its pages, but this is not a copy. The map is read-only and shared with the
            // file, which does not change while it is mapped. A released page is read from the file again with the same
            // bytes, even during a read. If the system refuses, nothing has changed.
            let _ = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        }
    }

    /// Tells the system to expect few, scattered reads.
    ///
    /// It then reads only the pages that are touched and does not read ahead. With an uncached file of 288 MB, reading
    /// 1,000 places took 51 ms and loaded 4 MB, instead of 446 ms and the whole file. Do not call it before reading
    /// everything, as verifying a set does: that took 5.5 s instead of 0.4. Has no effect on cached pages, or on
    /// systems other than Unix.
    pub fn expect_few_reads(&self) {
        #[cfg(unix)]
        if let Some(map) = &self.map {
            // Advice only: if the system refuses it, more is read than necessary.
            let _ = map.advise(memmap2::Advice::Random);
        }
    }

    /// Reads a file into memory, using large pages if the system has them (Linux, unless disabled).
    ///
    /// Random access to a set that is much larger than the processor's caches then needs fewer page-table steps.
    ///
    /// Cost: reads the whole file. The copy takes as much memory as the file and is not shared between processes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, is not a regular file, cannot be read, or does not fit in memory.
    pub fn copy(path: impl AsRef<Path>) -> io::Result<MappedFile> {
        let mut file = File::open(path)?;
        let len = length(&file)?;
        if len == 0 {
            return Ok(MappedFile { map: None, place: 0..0, is_copy: true });
        }
        let pages = len.checked_next_multiple_of(LARGE_PAGE).and_then(|pages| pages.checked_add(LARGE_PAGE));
        let mut map = memmap2::MmapMut::map_anon(pages.ok_or(io::ErrorKind::OutOfMemory)?)?;
        // Large pages need a start that is a multiple of their size.
        let start = map.as_ptr().align_offset(LARGE_PAGE).min(LARGE_PAGE);
        // A system without large pages refuses the advice, which is harmless.
        #[cfg(target_os = "linux")]
        let _ = map.advise_range(memmap2::Advice::HugePage, start, len.next_multiple_of(LARGE_PAGE));
        let place = start..start + len;
        file.read_exact(map.get_mut(place.clone()).unwrap_or_default())?;
        Ok(MappedFile { map: Some(map.make_read_only()?), place, is_copy: true })
    }
}

/// Returns the length of a regular file.
#[cfg(feature = "mmap")]
fn length(file: &File) -> io::Result<usize> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(usize::try_from(metadata.len()).map_err(|_| io::ErrorKind::FileTooLarge)?)
}

#[cfg(feature = "mmap")]
impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self.map.as_deref().and_then(|map| map.get(self.place.clone())).unwrap_or_default()
    }
}

/// Starts fetching a byte's cache line without waiting for it.
///
/// Does nothing if `at` is out of range, or on processors other than x86-64.
#[inline(always)]
pub fn prefetch(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(byte) = bytes.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no visible effect and never faults, and the pointer refers to a byte in a slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}

/// Number of places that one call to [`Search::candidates`] examines.
pub const PLACES: usize = 60;

/// A search for many texts in one path, with different texts in each call.
pub trait Search: Copy {
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
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512bw") {
        // SAFETY: the function only requires AVX-512F and AVX-512BW, which were just detected.
        return unsafe { x86::search_512(path, work) };
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the function only requires AVX2, which was just detected.
        return unsafe { x86::search(path, work) };
    }
    work.with(ByByte(path))
}

/// A search that examines one place at a time.
///
/// This is the fallback on other processors, and the safe counterpart of the vector searches.
#[derive(Clone, Copy)]
pub struct ByByte<'p>(pub &'p [u8]);

impl Search for ByByte<'_> {
    fn candidates(self, fingerprints: &Fingerprints, base: usize) -> u64 {
        let places = (base..self.0.len()).take(PLACES);
        places.fold(0, |found, at| found | u64::from(self.may_begin(fingerprints, at)) << (at - base))
    }
}

impl ByByte<'_> {
    /// Returns whether a text may begin at a place, by the fingerprints.
    #[inline(always)]
    fn may_begin(self, fingerprints: &Fingerprints, at: usize) -> bool {
        // No URL contains NUL, so a zero after the path's end only matches texts that end before it.
        let byte = |offset: usize| self.0.get(at + offset).copied().unwrap_or(0);
        fingerprints::may_begin(fingerprints, [byte(0), byte(1), byte(2)])
    }
}

/// The byte classes that [`scan_url`] finds in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlScan {
    /// A bit for each of the first 64 bytes: 1 for a lower-case letter, a digit, `-` or `.`, the bytes of an ordinary
    /// host name. Bits after the URL's end are zero.
    pub name: u64,
    /// Whether the URL contains a NUL, tab, line feed, carriage return or `#`.
    pub has_special: bool,
    /// Whether the URL contains a `%`, `*`, `$`, space or non-ASCII byte.
    pub has_escapable: bool,
}

/// Classifies a URL's bytes, up to 64 at a time.
///
/// Returns `None` if this processor lacks the vector instructions, or if the URL is too short for them.
#[inline(always)]
#[must_use]
pub fn scan_url(url: &[u8]) -> Option<UrlScan> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512bw") {
        // SAFETY: the function only requires AVX-512F and AVX-512BW, which were just detected.
        return Some(unsafe { x86::scan_512(url) });
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the function only requires AVX2, which was just detected.
        return unsafe { x86::scan_256(url) };
    }
    let _ = url;
    None
}

/// Byte classes, as bits. A byte is in a class if the table for its lower half and the table for its upper half share
/// the class's bit.
#[cfg(target_arch = "x86_64")]
mod classes {
    /// Host-name bytes: the letters `a` to `o`, the letters `p` to `z`, digits, and `-` and `.`.
    pub(super) const NAME: u8 = 1 | 2 | 4 | 8;
    /// `#`, and NUL, tab, line feed and carriage return.
    pub(super) const SPECIAL: u8 = 16 | 32;
    /// Space, `$`, `%` and `*`. Non-ASCII bytes are escapable too, but are detected by their sign bit.
    pub(super) const ESCAPABLE: u8 = 64;

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

/// Searching and scanning with vector instructions.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_set_epi64x, _mm256_alignr_epi8, _mm256_and_si256, _mm256_broadcastsi128_si256,
        _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_permute2x128_si256, _mm256_set_epi64x, _mm256_set1_epi8,
        _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm512_and_si512, _mm512_broadcast_i32x4,
        _mm512_mask_test_epi8_mask, _mm512_maskz_loadu_epi8, _mm512_movepi8_mask, _mm512_set1_epi8,
        _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_ternarylogic_epi64, _mm512_test_epi8_mask,
    };

    use super::classes::{ESCAPABLE, HIGH, LOW, NAME, SPECIAL};
    use super::{PLACES, Search, UrlScan, WithSearch};
    use crate::format::fingerprints::{Fingerprints, tables};

    /// Number of places compared at once. The last two places also need the two bytes after the block, so each step
    /// advances by two places less.
    const BLOCK: usize = 32;
    const STEP: usize = BLOCK - 2;
    const _: () = assert!(PLACES == 2 * STEP);

    /// Thirty-two places as six vectors: the lower and upper halves of each byte, the next byte, and the byte
    /// after that.
    #[derive(Clone, Copy)]
    struct Block([__m256i; 6]);

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
        let tables = [table(0), table(1), table(2), table(3), table(4), table(5)];
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

    /// A search over a path with 64-byte vectors. Only created on a processor with AVX-512F and AVX-512BW.
    #[derive(Clone, Copy)]
    pub(super) struct Avx512<'p> {
        path: &'p [u8],
        /// The vectors for the path's first places: the lower and upper halves of each byte, the next byte, and the
        /// byte after that.
        first: [__m512i; 6],
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn search_512<W: WithSearch>(path: &[u8], work: W) -> W::Output {
        work.with(Avx512 { path, first: halves(path) })
    }

    impl Search for Avx512<'_> {
        #[inline(always)]
        fn candidates(self, fingerprints: &Fingerprints, base: usize) -> u64 {
            // SAFETY: the function only requires AVX-512F and AVX-512BW. A value of this type is created only in
            // `search_512`, which requires both too.
            unsafe { candidates_512(self, fingerprints, base) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
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
        let last = _mm512_ternarylogic_epi64::<ALL_THREE>(agree(3), agree(4), agree(5));
        _mm512_test_epi8_mask(first, last)
    }

    /// Returns the halves for the places from the first byte of `text` on.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn halves(text: &[u8]) -> [__m512i; 6] {
        let half = _mm512_set1_epi8(15);
        let from = |offset: usize| {
            let (bytes, _) = load(from_on(text, offset));
            [_mm512_and_si512(bytes, half), _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), half)]
        };
        let [[a, b], [c, d], [e, f]] = [from(0), from(1), from(2)];
        [a, b, c, d, e, f]
    }

    /// Returns the text from `place` on, or an empty slice at its end. An empty slice from elsewhere might have an
    /// unmapped address, and a masked load there makes the processor suppress a fault even if the mask excludes every
    /// byte. That took a sixth of a decision's whole time, since half the URLs are shorter than 64 bytes.
    #[inline(always)]
    fn from_on(text: &[u8], place: usize) -> &[u8] {
        text.split_at(text.len().min(place)).1
    }

    /// Loads up to 64 bytes from the start of a text, padded with zeros, and returns a bit for each loaded byte.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn load(text: &[u8]) -> (__m512i, u64) {
        let exists = u64::MAX.checked_shr(64 - text.len().min(64) as u32).unwrap_or(0);
        // SAFETY: masked bytes are not read, and the mask excludes every byte after the text's end.
        (unsafe { _mm512_maskz_loadu_epi8(exists, text.as_ptr().cast()) }, exists)
    }

    /// Implements [`super::scan_url`]. Has no branch in the first 128 bytes, because few URLs are longer.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn scan_512(url: &[u8]) -> UrlScan {
        let half = _mm512_set1_epi8(15);
        let (low, high) = (load_four_times(&LOW), load_four_times(&HIGH));
        let scan = |text: &[u8]| {
            let (bytes, exists) = load(text);
            let high = _mm512_shuffle_epi8(high, _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), half));
            // A non-ASCII byte gives 0 here.
            let classes = _mm512_and_si512(_mm512_shuffle_epi8(low, bytes), high);
            let has = |class: u8| _mm512_mask_test_epi8_mask(exists, classes, _mm512_set1_epi8(class.cast_signed()));
            [has(NAME), has(SPECIAL), has(ESCAPABLE) | _mm512_movepi8_mask(bytes)]
        };
        let [name, mut special, mut escapable] = scan(url);
        let mut rest = from_on(url, 64);
        loop {
            let [_, more_special, more_escapable] = scan(rest);
            (special, escapable) = (special | more_special, escapable | more_escapable);
            match rest.get(64..) {
                Some(after @ [_, ..]) => rest = after,
                _ => break,
            }
        }
        UrlScan { name, has_special: special != 0, has_escapable: escapable != 0 }
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
        Some(UrlScan {
            name: u64::from(name) | u64::from(second_name) << second_at,
            has_special: special | second_special != 0,
            has_escapable: escapable | second_escapable != 0,
        })
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn load_four_times(bytes: &[u8; 16]) -> __m512i {
        let number = u128::from_le_bytes(*bytes);
        _mm512_broadcast_i32x4(_mm_set_epi64x((number >> 64) as i64, number as i64))
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
    fn compare(tables: &[__m256i; 6], block: Block) -> u32 {
        let mut buckets = _mm256_set1_epi8(-1);
        for (&table, halves) in tables.iter().zip(block.0) {
            buckets = _mm256_and_si256(buckets, _mm256_shuffle_epi8(table, halves));
        }
        !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(buckets, _mm256_setzero_si256())) as u32)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load_256(bytes: &[u8; BLOCK]) -> __m256i {
        let (quarters, _) = bytes.as_chunks();
        let quarter = |at: usize| quarters.get(at).map_or(0, |&bytes| i64::from_le_bytes(bytes));
        _mm256_set_epi64x(quarter(3), quarter(2), quarter(1), quarter(0))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn block(bytes: &[u8; BLOCK]) -> Block {
        let bytes = load_256(bytes);
        let half = _mm256_set1_epi8(15);
        let low = _mm256_and_si256(bytes, half);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
        // The upper sixteen bytes, followed by zeros to shift in.
        let (low_after, high_after) =
            (_mm256_permute2x128_si256::<0x81>(low, low), _mm256_permute2x128_si256::<0x81>(high, high));
        Block([
            low,
            high,
            _mm256_alignr_epi8::<1>(low_after, low),
            _mm256_alignr_epi8::<1>(high_after, high),
            _mm256_alignr_epi8::<2>(low_after, low),
            _mm256_alignr_epi8::<2>(high_after, high),
        ])
    }

    /// Loads sixteen bytes into both halves. The compiler turns the two integers into a single load; the intrinsic for
    /// that load takes a raw pointer.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn load_twice(bytes: &[u8; 16]) -> __m256i {
        let number = u128::from_le_bytes(*bytes);
        _mm256_broadcastsi128_si256(_mm_set_epi64x((number >> 64) as i64, number as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[cfg(feature = "mmap")]
    #[test]
    fn copies_equal_their_files() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..=LARGE_PAGE as u32).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        for len in [0, 1, 4_096, LARGE_PAGE - 1, LARGE_PAGE, LARGE_PAGE + 1] {
            std::fs::write(file.path(), &bytes[..len]).unwrap();
            let copy = MappedFile::copy(file.path()).unwrap();
            assert!(copy.as_ref() == &bytes[..len], "{len}");
            // A copy has no file to reload its pages from, so `release` must keep them.
            copy.release();
            assert!(copy.as_ref() == &bytes[..len], "{len}");
            assert!(len == 0 || copy.as_ref().as_ptr().align_offset(LARGE_PAGE) == 0, "{len}");
            assert!(len == 0 || flags_of(&copy).is_none_or(|flags| flags.contains(" hg ")), "{len}");
        }
        assert!(MappedFile::copy(file.path().parent().unwrap()).is_err());
        assert!(MappedFile::copy(file.path().join("absent")).is_err());
    }

    #[cfg(feature = "mmap")]
    #[test]
    fn expecting_few_reads_sets_the_random_read_flag() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for bytes in [&b""[..], b"some bytes"] {
            std::fs::write(file.path(), bytes).unwrap();
            // SAFETY: nothing else writes to the file, and the map is dropped before the test writes to it again.
            let mapped = unsafe { MappedFile::open(file.path()) }.unwrap();
            assert!(flags_of(&mapped).is_none_or(|flags| !flags.contains(" rr ")));
            mapped.expect_few_reads();
            assert_eq!(mapped.as_ref(), bytes);
            assert!(bytes.is_empty() || flags_of(&mapped).is_none_or(|flags| flags.contains(" rr ")));
        }
    }

    /// Returns the Linux flags for a file's mapping, or `None` on other systems or for an empty file.
    #[cfg(feature = "mmap")]
    fn flags_of(file: &MappedFile) -> Option<String> {
        let at = file.as_ref().first().map(|first| std::ptr::from_ref(first).addr())?;
        let text = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let holds = |line: &&str| {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let number = |text| usize::from_str_radix(text, 16).ok();
            range.is_some_and(|(start, end)| number(start) <= Some(at) && Some(at) < number(end))
        };
        let lines = text.lines().skip_while(|line| !holds(line));
        lines.skip(1).find_map(|line| line.strip_prefix("VmFlags:")).map(str::to_owned)
    }

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
        #[cfg(not(target_arch = "x86_64"))]
        return Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let mut searches: Vec<(&'static str, With<O>)> = Vec::new();
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: as in `search`.
                searches.push(("avx2", |path, work| unsafe { x86::search(path, work) }));
            }
            if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512bw") {
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

    /// Reference implementation of [`scan_url`].
    fn scan_by_byte(url: &[u8]) -> UrlScan {
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
        UrlScan {
            name: (0..).zip(url.iter().take(64)).fold(0, |bits, (at, &byte)| bits | u64::from(is_name(byte)) << at),
            has_special: url.iter().any(|byte| b"\0\t\n\r#".contains(byte)),
            has_escapable: url.iter().any(|byte| !byte.is_ascii() || b" $%*".contains(byte)),
        }
    }

    /// An implementation of [`scan_url`].
    type Scan = fn(&[u8]) -> Option<UrlScan>;

    /// Returns every vector scan that the processor supports, by name.
    fn scans() -> Vec<(&'static str, Scan)> {
        #[cfg(not(target_arch = "x86_64"))]
        return Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let mut scans: Vec<(&'static str, Scan)> = Vec::new();
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: as in `scan_url`.
                scans.push(("avx2", |url| unsafe { x86::scan_256(url) }));
            }
            if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512bw") {
                // SAFETY: as in `scan_url`.
                scans.push(("avx512bw", |url| Some(unsafe { x86::scan_512(url) })));
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
                    assert!(
                        scan(&url).is_none_or(|found| found == scan_by_byte(&url)),
                        "{name} {byte} at {at} of {len}"
                    );
                    url[at] = b'/';
                }
            }
            for byte in 0..=255 {
                let url = [byte; 70];
                assert_eq!(scan(&url), Some(scan_by_byte(&url)), "{name} {byte}");
            }
        }
        assert!(scan_url(&[b'/'; 40]).is_none_or(|found| found == scan_by_byte(&[b'/'; 40])));
    }

    /// Returns whether a text in any bucket may begin at a place, by the definition of [`Fingerprints`].
    fn may_begin(fingerprints: &Fingerprints, text: &[u8], at: usize) -> bool {
        (0..8).any(|bucket| {
            (0..fingerprints::FINGERPRINT_BYTES).all(|offset| {
                let byte = usize::from(text.get(at + offset).copied().unwrap_or(0));
                let has = |table: usize, half: usize| fingerprints[table * 16 + half] >> bucket & 1 != 0;
                has(offset * 2, byte % 16) && has(offset * 2 + 1, byte / 16)
            })
        })
    }

    proptest! {
        #[test]
        fn vector_searches_find_every_candidate(
            tables in proptest::collection::vec(prop_oneof![4 => Just(0_u8), 1 => any::<u8>()], 96),
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
                prop_assert!(spare.all(|at| at % PLACES >= 30 && at % 30 < 2), "{} {:?} {:?}", name, by_byte, found);
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
