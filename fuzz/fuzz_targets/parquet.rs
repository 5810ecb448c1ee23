//! Any bytes as a Parquet file or Arrow IPC with URLs, and as captures: one row out per row in, in bounded memory. A
//! copy of all columns has the same URLs, and no page with a wrong checksum is read.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use reptile_columns::{ArrowForm, ArrowWriter, ParquetWriter};
use reptile_fuzz::tables::{Decided, decided};
use reptile_fuzz::{archives, files, memory, references};
use reptile_records::batches::kept::{KeptRows, KeptTypes};
use reptile_records::parquet::ParquetFile;
use reptile_records::parquet::kept::Kept;
use reptile_records::batches::urls::Splitting;
use reptile_records::tables::open::Opening;
use reptile_records::tables::source::Source;

/// Memory of one execution in bytes: the limit of a row group's pages, and the cells that are made of them.
const MAX_BYTES: usize = 512 << 20;

/// Maximum number of rows in a table that is copied. A few bytes may stand for very many.
const MAX_COPIED_ROWS: u64 = 1 << 12;

/// Copies all columns of a Parquet file with these rows. Returns `None` if a column cannot be kept.
fn copy_of_parquet(path: &Path, rows: u64) -> Option<Vec<u8>> {
    let file = ParquetFile::open(path).ok()?;
    let all: Vec<usize> = (0..file.field_names().len()).collect();
    let mut writer = ParquetWriter::with_kept(Vec::new(), Vec::new(), Some(Kept::new(&file, &all).ok()?)).ok()?;
    writer.push_selected(&vec![true; rows as usize]).ok()?;
    writer.finish().ok()?;
    Some(writer.into_output())
}

/// Checks that a file of kept columns has the rows of its original.
fn check_copy(copy: &[u8], original: &Decided, splitting: Splitting) {
    let path = files::written(copy);
    let source = Source::open(path, splitting).expect("a written file opens");
    let copied = decided(source, &Opening::of(path), |_, _| {}).expect("a written file is readable");
    assert!(copied == *original, "a copy of all columns has other rows");
}

fn check_parquet(data: &[u8], path: &Path, source: Source, splitting: Splitting) {
    let Some(found) = decided(source, &Opening::of(path), |_, _| {}) else { return };
    let reference = references::parquet_rows(data);
    assert!(reference.is_none_or(|(rows, _)| rows == found.rows), "{} rows, expected {reference:?}", found.rows);
    if found.rows <= MAX_COPIED_ROWS
        && let Some(copy) = copy_of_parquet(path, found.rows)
    {
        assert!(reference.is_none_or(|(_, is_intact)| is_intact), "a page with a wrong checksum was read");
        check_copy(&copy, &found, splitting);
        files::written(data);
    }
}

fn check_arrow(data: &[u8], path: &Path, source: Source, splitting: Splitting) {
    let kept = KeptRows::new(KeptTypes::Arrow, |names| Ok((0..names.len()).collect()));
    let opening = Opening { kept: Some(kept.clone()), ..Opening::of(path) };
    let found = decided(source, &opening, |_, _| {});
    let Some(found) = found.filter(|found| (1..=MAX_COPIED_ROWS).contains(&found.rows)) else { return };
    let mut writer = ArrowWriter::with_kept(Vec::new(), Vec::new(), ArrowForm::Stream, kept);
    if writer.push_selected(&vec![true; found.rows as usize]).and_then(|()| writer.finish()).is_ok() {
        check_copy(&writer.into_output(), &found, splitting);
        files::written(data);
    }
}

fuzz_target!(|data: &[u8]| {
    let path = files::written(data);
    memory::within(MAX_BYTES, || {
        for is_split in [false, true] {
            let splitting = Splitting { is_split, absent_is_empty: true };
            match Source::open(path, splitting) {
                Ok(source @ Source::Parquet(..)) => check_parquet(data, path, source, splitting),
                Ok(source @ Source::Arrow(..)) => check_arrow(data, path, source, splitting),
                _ => {}
            }
        }
        let _ = archives::captures(path, false);
    });
});
