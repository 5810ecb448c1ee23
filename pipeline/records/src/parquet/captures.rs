//! Robots.txt captures in a Parquet file: one per row, with the column names that all tables share.
//!
//! A column contains either text or a suitable type: numbers for the status, a timestamp for the time, bytes for the
//! body.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::{Batches, ParquetFile};
use crate::captures::names::{CELLS, Field, Header};
use crate::captures::{Cell, item};
use crate::tables::named::NamedColumns;
use crate::time::Zone;
use crate::{Error, Result};
use crate::{Item, Sink};

/// Reads every row.
///
/// # Errors
/// Returns an error if the file is unreadable, has no URL column, or has two columns for one field.
pub fn read(path: &Path, file: File, zone: &Zone, sink: &mut Sink<'_>) -> Result<()> {
    let file = Arc::new(ParquetFile::of(path, file)?);
    let paths: Vec<String> = file.columns().iter().map(|column| column.path().string()).collect();
    let header = Header::new(paths.iter().map(String::as_bytes)).map_err(|text| file.failure(text))?;
    if header.number(Field::Url).is_none() {
        let names = file.names();
        return Err(file.failure(format!("has no column \"url\" with the URLs of robots.txt files; it has {names}")));
    }
    let (mut columns, mut places) = (Vec::new(), [None; CELLS]);
    for (place, field) in places.iter_mut().zip(Field::all()) {
        if let Some(number) = header.number(field) {
            *place = Some(columns.len());
            columns.push((number, field.limit()));
        }
    }
    sink(Item::Names(header.names))?;
    let mut batches = Batches::new(Arc::clone(&file), &columns).map_err(|text| file.failure(text))?;
    let mut number = 0_u64;
    loop {
        let rows = batches.fill().map_err(|text| Error::at(path, format!("cannot be read: {text}")))?;
        if rows == 0 {
            return Ok(());
        }
        for row in 0..rows {
            number += 1;
            let name = format!("{}: row {number}", path.display());
            let cells = places.map(|place| place.map_or(Cell::Null, |at| batches.columns[at].get(row)));
            sink(item(name, cells, zone)?)?;
        }
        batches.take(rows);
    }
}
