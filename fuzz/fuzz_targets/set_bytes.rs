//! Any bytes as a set: every query ends, in bounded memory, and what `verify` accepts is canonical and answers.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// Memory of one execution in bytes, in addition to [`BYTES_PER_BYTE`] for each byte of input.
const BASE_BYTES: usize = 8 << 20;
const BYTES_PER_BYTE: usize = 64;

fuzz_target!(|data: &[u8]| {
    reptile_fuzz::memory::within(BASE_BYTES + BYTES_PER_BYTE * data.len(), || {
        reptile_fuzz::sets::check(data.to_vec());
    });
});
