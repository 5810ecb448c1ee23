//! Any bytes as a Parquet file or Arrow IPC with URLs, and as captures: one row out per row in, in bounded memory. A
//! copy of all columns has the same URLs, and no page with a wrong checksum is read.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use reptile_columns::{ColumnFormat, ColumnWriter};
use reptile_fuzz::tables::{Decided, decided};
use reptile_fuzz::{archives, files, memory, references};
use reptile_records::batches::kept::{KeptRows, KeptTypes};
use reptile_records::tables::address::{COMMON_CRAWL, PartNames};
use reptile_records::tables::open::Opening;
use reptile_records::tables::source::Source;

/// Memory of one execution in bytes: the limit of a row group's pages, and the cells that are made of them.
const MAX_BYTES: usize = 512 << 20;

/// Maximum number of rows in a table that is copied. A few bytes may stand for very many.
const MAX_COPIED_ROWS: u64 = 1 << 12;

/// Copies all columns of a table with these rows. Returns `None` if a column cannot be kept.
fn copy(kept: KeptRows, rows: u64, format: ColumnFormat) -> Option<Vec<u8>> {
    let mut writer = ColumnWriter::new(Vec::new(), format, Vec::new()).keeping(kept);
    writer.push_selected(&vec![true; rows as usize]).ok()?;
    writer.finish().ok()?;
    Some(writer.into_output())
}

/// Returns an opening whose URLs are in the file's column, or split as in Common Crawl's index.
fn opening_of(path: &Path, is_split: bool) -> Opening {
    let parts = if is_split { COMMON_CRAWL.map(|name| Some(name.into())) } else { PartNames::default() };
    Opening { parts, ..Opening::of(path) }
}

/// Returns a queue for all columns of a table.
fn all_kept(types: KeptTypes) -> KeptRows {
    KeptRows::new(types, |names| Ok((0..names.len()).collect()))
}

/// Checks that a file of kept columns has the rows of its original.
fn check_copy(copy: &[u8], original: &Decided, is_split: bool) {
    let path = files::written(copy);
    let source = Source::open(path).expect("a written file opens");
    let copied = decided(source, &opening_of(path, is_split), |_, _| {}).expect("a written file is readable");
    assert!(copied == *original, "a copy of all columns has other rows");
}

fn check_parquet(data: &[u8], path: &Path, source: Source, is_split: bool) {
    let Some(found) = decided(source, &opening_of(path, is_split), |_, _| {}) else { return };
    let reference = references::parquet_rows(data);
    assert!(reference.is_none_or(|(rows, _)| rows == found.rows), "{} rows, expected {reference:?}", found.rows);
    if found.rows > MAX_COPIED_ROWS {
        return;
    }
    let kept = all_kept(KeptTypes::Stored);
    let opening = Opening { kept: Some(kept.clone()), ..opening_of(path, is_split) };
    let Ok(source) = Source::open(path) else { return };
    if decided(source, &opening, |_, _| {}).is_some()
        && let Some(copy) = copy(kept, found.rows, ColumnFormat::Parquet)
    {
        assert!(reference.is_none_or(|(_, is_intact)| is_intact), "a page with a wrong checksum was read");
        check_copy(&copy, &found, is_split);
        files::written(data);
    }
}

fn check_arrow(data: &[u8], path: &Path, source: Source, is_split: bool) {
    let kept = all_kept(KeptTypes::Arrow);
    let opening = Opening { kept: Some(kept.clone()), ..opening_of(path, is_split) };
    let found = decided(source, &opening, |_, _| {});
    let Some(found) = found.filter(|found| (1..=MAX_COPIED_ROWS).contains(&found.rows)) else { return };
    if let Some(copy) = copy(kept, found.rows, ColumnFormat::ArrowStream) {
        check_copy(&copy, &found, is_split);
        files::written(data);
    }
}

fuzz_target!(|data: &[u8]| {
    let path = files::written(data);
    memory::within(MAX_BYTES, || {
        for is_split in [false, true] {
            match Source::open(path) {
                Ok(source @ Source::Parquet(..)) => check_parquet(data, path, source, is_split),
                Ok(source @ Source::Arrow(..)) => check_arrow(data, path, source, is_split),
                _ => {}
            }
        }
        let _ = archives::captures(path, false);
    });
});
