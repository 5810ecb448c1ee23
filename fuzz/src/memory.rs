//! A limit on the memory of one execution. libFuzzer's own limit per allocation needs a sanitizer.

use std::alloc::System;

use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait as _};

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Runs `work`, and panics if it had more than `limit` bytes allocated at a time. Memory that other libraries take from
/// C does not count.
pub fn within<R>(limit: usize, work: impl FnOnce() -> R) -> R {
    ALLOCATOR.reset_peak_memory();
    let result = work();
    let peak = ALLOCATOR.get_peak_memory();
    assert!(peak <= limit, "{peak} bytes were allocated at a time, the limit is {limit}");
    result
}
