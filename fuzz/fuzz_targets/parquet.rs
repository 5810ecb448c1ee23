//! Any bytes as a Parquet file of URLs, and of captures: one row out per row in, in bounded memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reptile_fuzz::{files, memory, tables};
use reptile_records::parquet::urls::Splitting;
use reptile_records::tables::open::Opening;
use reptile_records::tables::source::Source;

/// Memory of one execution in bytes: the limit of a row group's pages, and the cells that are made of them.
const MAX_BYTES: usize = 512 << 20;

fuzz_target!(|data: &[u8]| {
    let path = files::written(data);
    memory::within(MAX_BYTES, || {
        for is_split in [false, true] {
            let splitting = Splitting { is_split, absent_is_empty: true };
            if let Ok(source @ Source::Parquet(..)) = Source::open(path, splitting) {
                let _ = tables::decided(source, &Opening::of(path));
            }
        }
        let _ = tables::captures(path, false);
    });
});
