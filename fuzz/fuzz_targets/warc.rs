//! Any bytes as a WARC file, with and without a search for records after damage: every capture and page, in bounded
//! memory. No record is read that a record of unknown length may contain.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reptile_fuzz::{archives, files, memory, references};

/// Memory of one execution in bytes: a block with the largest body, its decompressed body, and a copy of it.
const MAX_BYTES: usize = 96 << 20;

fuzz_target!(|data: &[u8]| {
    let path = files::written(data);
    let known = references::warc_records(data);
    for read in [archives::captures, archives::pages] {
        let [plain, searched] = [false, true].map(|searches| memory::within(MAX_BYTES, || read(path, searches)));
        let Some(plain) = plain else { continue };
        let searched = searched.expect("a readable file is readable with a search");
        assert!(searched.found >= plain.found, "{plain:?}, and {searched:?} with a search");
        assert!(
            known.is_none_or(|known| plain.records <= known),
            "{plain:?}, and only {known:?} records have known ends"
        );
    }
});
