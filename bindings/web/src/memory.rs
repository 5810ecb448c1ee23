//! An allocator that records failed allocations, so that JavaScript can distinguish them from other errors.
//!
//! The only module with `unsafe` code.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The system's allocator. Records that an allocation has failed.
struct Watched;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

static IS_EXHAUSTED: AtomicBool = AtomicBool::new(false);

/// Returns whether an allocation has failed.
pub fn is_exhausted() -> bool {
    IS_EXHAUSTED.load(Relaxed)
}

fn watched(allocated: *mut u8) -> *mut u8 {
    if allocated.is_null() {
        IS_EXHAUSTED.store(true, Relaxed);
    }
    allocated
}

// SAFETY: every function passes its arguments unchanged to the system's allocator and returns its result, so it keeps
// the contract exactly as that allocator does. Storing a flag neither allocates nor panics.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises about `layout` are those that `System` requires.
        watched(unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller promises that `start` comes from this allocator, thus from `System`, with this layout.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`.
        watched(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as for `dealloc`, and `System` requires of `new_size` what the caller promises.
        watched(unsafe { System.realloc(start, layout, new_size) })
    }
}
