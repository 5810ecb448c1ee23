//! Reptile in JavaScript: the functions of the WebAssembly module, which `index.js` calls.
//!
//! JavaScript writes a call's arguments to a buffer ([`input`]): for each argument its length, as four bytes in
//! little-endian order, and its bytes. It then calls a function with a handle and a number. The answer or the error is
//! JSON in another buffer ([`output`]). Only verdicts are numbers, because there may be many of them.
//!
//! The module imports nothing, so no call can begin during another one. A panic ends the instance; `index.js` then
//! refuses further calls.

mod answers;
mod args;
mod ask;
mod catalog;
mod failure;
mod file;
mod lint;
mod memory;
mod set;
mod state;

use state::{STATE, answer};

/// Maximum size in bytes of the input buffer that is kept between calls.
const KEPT_BYTES: usize = 1 << 20;

/// Returns the address of a buffer for `len` bytes of arguments, or 0 if there is no memory for it.
#[unsafe(no_mangle)]
extern "C" fn input(len: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input.clear();
        if state.input.capacity() > KEPT_BYTES && len <= KEPT_BYTES {
            state.input.shrink_to(KEPT_BYTES);
            state.output = Vec::new();
        }
        if state.input.try_reserve_exact(len).is_err() {
            return std::ptr::null_mut();
        }
        state.input.resize(len, 0);
        state.input.as_mut_ptr()
    })
}

/// Returns the address of the last answer or error.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// Returns the number of bytes in the last answer or error.
#[unsafe(no_mangle)]
extern "C" fn output_len() -> usize {
    STATE.with_borrow(|state| state.output.len())
}

/// Returns whether an allocation has failed. May be called after a trap.
#[unsafe(no_mangle)]
extern "C" fn is_out_of_memory() -> bool {
    memory::is_exhausted()
}

/// Frees a file or a set.
#[unsafe(no_mangle)]
extern "C" fn free(handle: u32) {
    STATE.with_borrow_mut(|state| state.items.remove(handle));
}

/// Forgets the crawlers that a file or a set has resolved.
#[unsafe(no_mangle)]
extern "C" fn forget(handle: u32) {
    STATE.with_borrow_mut(|state| state.items.forget(handle));
}

/// Decides the URL in the first `len` bytes of the input buffer for the first of some resolved crawlers.
///
/// Returns the verdict's number in the lowest two bits, then the reason's number in 14 bits, then the line. Returns -1
/// for an error.
#[unsafe(no_mangle)]
extern "C" fn decide(handle: u32, agents: u32, len: usize) -> f64 {
    STATE.with_borrow_mut(|state| {
        let url = state.input.get(..len).unwrap_or_default();
        match state.items.agents(handle, agents).and_then(|agents| ask::decide(agents, url, &mut state.reasons)) {
            // At most 48 bits.
            Ok(packed) => packed as f64,
            Err(failure) => {
                state.output = failure.to_json();
                -1.0
            }
        }
    })
}

/// Declares functions that take a handle, a number and the arguments in the input buffer. They return 0, or 1 for an
/// error.
macro_rules! functions {
    ($($(#[doc = $doc:literal])* $name:ident => $function:path;)*) => {
        $($(#[doc = $doc])*
        #[unsafe(no_mangle)]
        extern "C" fn $name(handle: u32, number: u32) -> u32 {
            answer(handle, number, $function)
        })*
    };
}

functions! {
    /// Returns the dialects, crawlers, groups, vocabularies and limits.
    catalog => catalog::all;
    /// Returns a reason's words by its number.
    reason => ask::reason;
    /// Resolves crawlers.
    resolve => ask::resolve;
    /// Decides many URLs for some crawlers; `number` identifies the crawlers.
    decide_all => ask::decide_all;
    /// Decides one URL for each of some crawlers.
    decide_each => ask::decide_each;
    /// Returns the rules that match a URL.
    matching_rules => ask::matching_rules;
    /// Returns the preferences about uses of a page.
    usage => ask::usage;
    /// Reads a robots.txt.
    parse => file::parse;
    /// Returns the file's groups, directives and diagnostics.
    parts => file::parts;
    /// Explains a verdict.
    explain => file::explain;
    /// Decides a URL under each dialect.
    across => file::across;
    /// Compares the permissions of two files; `number` is the other file's handle.
    compare => file::compare;
    /// Proves assertions.
    prove => file::prove;
    /// Returns a crawler's delay between fetches.
    crawl_delay => file::crawl_delay;
    /// Finds mistakes in the file.
    lint_file => lint::lint;
    /// Returns the file with its fixes.
    fix => lint::fix;
    /// Opens a set.
    open_set => set::open;
    /// Explains a verdict of a set.
    explain_in_set => set::explain;
    /// Returns an origin's sitemaps.
    sitemaps => set::sitemaps;
    /// Checks a set's checksums.
    verify => set::verify;
}
