//! A URL that the engine accepts has the same origin by the crate `url` and by RFC 3986's grammar, and its host is
//! UTF-8.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reptile_engine::url::{path_of, split};

/// Decodes a host's escapes, which must be valid.
fn decoded(host: &[u8]) -> Vec<u8> {
    let mut parts = host.split(|&byte| byte == b'%');
    let mut decoded = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).expect("two digits");
        let digits = std::str::from_utf8(digits).expect("two digits");
        decoded.push(u8::from_str_radix(digits, 16).expect("two digits"));
        decoded.extend_from_slice(rest);
    }
    decoded
}

fuzz_target!(|data: &[u8]| {
    if let Ok(parts) = split(data) {
        assert_eq!(parts.path.to_vec(), path_of(data).to_vec());
        assert!(std::str::from_utf8(&decoded(parts.origin.host)).is_ok(), "a host that is not UTF-8");
    }
    if let Ok(text) = std::str::from_utf8(data) {
        drop(reptile_fuzz::standards::compare(text));
    }
});
