//! Platform services: memory-mapped files and vector instructions.
//!
//! The only folder with `unsafe` code.
//!
//! Each `unsafe` block states why it is sound, and has a safe counterpart that the tests compare it with. The
//! gains:
//!
//! - Mapping a file instead of reading it: opening takes a few microseconds at any size, processes share the pages, and
//!   only pages that are read use memory. The safe counterpart is [`MappedFile::copy`].
//! - [`MappedFile::release`] while a set is merged and checked: compiling a million origins in 400 MiB peaked at 488 MB
//!   instead of 549, and the difference grows with the set. The safe counterpart is not to call it.
//! - [`search()`] with AVX2 instead of comparing segment starts one by one: walks over the paths in three benchmark
//!   files took 53, 120 and 238 ns instead of 105, 247 and 789. With AVX-512 instead of AVX2, two of them took 33 and 99 ns
//!   instead of 37 and 108. The safe counterpart is [`ByByte`].
//! - [`scan_url`] with AVX-512 instead of loops over bytes: splitting took 29 ns per URL instead of 86 for shuffled
//!   URLs over a million origins, and 35 instead of 99 for real URLs. The safe counterpart is the path in
//!   [`crate::url::split`] for URLs that are not ordinary, which handles every URL on processors without these
//!   instructions.
//! - [`find_near`] with SSE2 instead of a call: reading five real robots.txt files took 1, 11, 5, 12 and 9 % less time. The
//!   safe counterpart is [`memchr::memchr3`].
//! - [`prefetch`]: three million shuffled URLs over a million origins took 1.1 to 1.4 s of processor time instead of
//!   1.9 to 2.0. The safe counterpart is [`crate::set::Set::decide_each`], which does not prefetch and which the tests
//!   compare batches with.

mod chunks;
#[cfg(feature = "mmap")]
mod files;
mod find;
mod scan;
mod search;
#[cfg(vectors)]
#[allow(clippy::incompatible_msrv, reason = "`vectors` is set for newer compilers only")]
mod vectors;

pub use self::chunks::as_chunks;
#[cfg(feature = "mmap")]
pub use self::files::MappedFile;
pub use self::find::find_near;
pub use self::scan::{UrlScan, scan_url};
pub use self::search::{ByByte, PLACES, Search, WithSearch, search};

/// Large page size in bytes. On systems with another size, aligning to it is useless but harmless.
#[cfg(any(feature = "mmap", feature = "write"))]
pub(crate) const LARGE_PAGE: usize = 2 << 20;

/// Returns `yes` or `no` for an unpredictable condition, without a branch if the compiler supports this.
#[inline(always)]
#[allow(clippy::incompatible_msrv, reason = "`rust_1_89` is set for newer compilers only")]
pub fn select<T>(condition: bool, yes: T, no: T) -> T {
    #[cfg(rust_1_89)]
    return std::hint::select_unpredictable(condition, yes, no);
    #[cfg(not(rust_1_89))]
    if condition { yes } else { no }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selecting_is_a_condition() {
        assert_eq!([select(true, 1, 2), select(false, 1, 2)], [1, 2]);
    }
}
