//! A URL that the engine accepts has the same origin by the crate `url` and by RFC 3986's grammar.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reptile_engine::url::{path_of, split};

fuzz_target!(|data: &[u8]| {
    match std::str::from_utf8(data) {
        Ok(text) => drop(reptile_fuzz::standards::compare(text)),
        Err(_) => {
            if let Ok(parts) = split(data) {
                assert_eq!(parts.path.to_vec(), path_of(data).to_vec());
            }
        }
    }
});
