//! Captures of robots.txt files in a Parquet file, a row for each, with the columns that a capture in JSON Lines has as
//! fields.
//!
//! A column may be text or of the type that fits: numbers for the status, a timestamp for the time, bytes for the body.

use std::path::Path;
use std::sync::Arc;

use super::{Batches, ParquetFile};
use crate::error::{Failure, Result};
use crate::inputs::Sink;
use crate::inputs::captures::{COLUMNS, Cell, item};
use crate::inputs::time::Zone;

/// Reads every row.
///
/// # Errors
/// If the file cannot be read to its end, or has no column of URLs.
pub fn read(path: &Path, zone: &Zone, sink: &mut Sink<'_>) -> Result<()> {
    let file = Arc::new(ParquetFile::open(path)?);
    let (mut columns, mut places) = (Vec::new(), [None; COLUMNS.len()]);
    for (place, (limit, names)) in places.iter_mut().zip(COLUMNS) {
        if let Some(found) = names.iter().find_map(|name| file.named(name)) {
            *place = Some(columns.len());
            columns.push((found, limit));
        }
    }
    if places[0].is_none() {
        let names = file.names();
        return Err(file.failure(format!("has no column \"url\" with the URLs of robots.txt files; it has {names}")));
    }
    let mut batches = Batches::new(Arc::clone(&file), &columns).map_err(|text| file.failure(text))?;
    let mut number = 0_u64;
    loop {
        let rows = batches.fill().map_err(|text| Failure::at(path, format!("cannot be read: {text}")))?;
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
