//! Any bytes as a WARC file, with and without a search for records after damage: every capture, in bounded memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reptile_fuzz::{files, memory, tables};

/// Memory of one execution in bytes: a block with the largest body, its decompressed body, and a copy of it.
const MAX_BYTES: usize = 96 << 20;

fuzz_target!(|data: &[u8]| {
    let path = files::written(data);
    let [plain, searched] = [false, true].map(|resync| memory::within(MAX_BYTES, || tables::captures(path, resync)));
    if let Some(plain) = plain {
        let searched = searched.expect("a readable file is readable with a search");
        assert!(searched >= plain, "{plain} captures, and {searched} with a search");
    }
});
