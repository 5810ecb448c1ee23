//! Robots.txt captures in a Parquet file: one per row, with the column names that all tables share.
//!
//! A column contains either text or a suitable type: numbers for the status, a timestamp for the time, bytes for the
//! body.
//!
//! A table that locates WARC records and has no bodies is an index; see [`index`](crate::warc::index).

use super::file::ParquetFile;
use super::rows::Batches;
use crate::batches::Reader;
use crate::captures::names::{CELLS, Field, Header, RecordPlaces};
use crate::captures::{Cell, item};
use crate::options::{Captures, InputOptions};
use crate::place::Place;
use crate::ranged::Ranged;
use crate::tables::named::NamedColumns;
use crate::warc::index::{Index, MAX_FILE_NAME_BYTES, WITHOUT_ROOT};
use crate::{Error, Result};
use crate::{Item, Sink};

/// Reads every row. Returns whether captures wait for other inputs.
///
/// # Errors
/// Returns an error if the file is unreadable, has no URL column, or has two columns for one field. Also returns an
/// error for an index without a folder for its WARC files, and for any other table if this folder is given.
pub fn read(path: &Place, source: Ranged, captures: Captures<'_>, sink: &mut Sink<'_>) -> Result<bool> {
    let InputOptions { zone, warc_root, .. } = captures.how;
    let file = ParquetFile::of(path, source)?;
    let paths: Vec<String> = file.columns().iter().map(|column| column.path().string()).collect();
    let header = Header::new(paths.iter().map(String::as_bytes)).map_err(|text| file.failure(text))?;
    if header.number(Field::Url).is_none() {
        let names = file.names();
        return Err(file.failure(format!("has no column \"url\" with the URLs of robots.txt files; it has {names}")));
    }
    let records = RecordPlaces::of(paths.iter().map(String::as_bytes)).map_err(|text| file.failure(text))?;
    let has_bodies = header.number(Field::Body).is_some() || header.number(Field::Base64).is_some();
    match (records.filter(|_| !has_bodies), warc_root) {
        (Some(records), Some(root)) => {
            let index = read_index(path, &file, &header, &records, captures, sink)?;
            return index.read(root, captures.redirects, captures.place, sink);
        }
        (Some(_), None) => return Err(file.failure(WITHOUT_ROOT)),
        (None, Some(_)) => return Err(file.failure(NOT_AN_INDEX)),
        (None, None) => {}
    }
    let (mut columns, mut places) = (Vec::new(), [None; CELLS]);
    for (place, field) in places.iter_mut().zip(Field::all()) {
        if let Some(number) = header.number(field) {
            *place = Some(columns.len());
            columns.push((number, field.limit()));
        }
    }
    sink(Item::Names(header.names))?;
    let mut number = 0_u64;
    let mut rows = read_columns(&file, &columns)?;
    while let Some(batch) = rows.next().map_err(|text| Error::at(path, format!("cannot be read: {text}")))? {
        for row in 0..batch.rows {
            number += 1;
            let name = format!("{}: row {number}", path.display());
            let cells = places.map(|place| place.map_or(Cell::Null, |at| batch.get(at, row)));
            sink(item(name, cells, zone)?)?;
        }
    }
    Ok(false)
}

/// Prepares to read columns, each with the maximum length of its cells in bytes.
fn read_columns(file: &ParquetFile, columns: &[(usize, usize)]) -> Result<Reader> {
    let (places, limits): (Vec<usize>, Vec<usize>) = columns.iter().copied().unzip();
    let batches = Batches::new(file.clone(), &places, None, None).map_err(|text| file.failure(text))?;
    Ok(Reader::new(Box::new(batches), limits, None))
}

const NOT_AN_INDEX: &str = "is not an index of WARC records, which --warc-root requires: expected the columns \
                            \"warc_filename\", \"warc_record_offset\" and \"warc_record_length\", and no bodies";

/// Reads the rows of an index.
fn read_index<'p>(
    path: &'p Place,
    file: &ParquetFile,
    header: &Header,
    records: &RecordPlaces,
    captures: Captures<'_>,
    sink: &mut Sink<'_>,
) -> Result<Index<'p>> {
    let column = |field: Field| header.number(field).map(|number| (number, field.limit()));
    let RecordPlaces { file: name, offset, len } = *records;
    let of_record = [name, offset, len].map(|number| Some((number, MAX_FILE_NAME_BYTES)));
    let wanted = [[column(Field::Url), column(Field::Time)].as_slice(), &of_record].concat();
    let columns: Vec<(usize, usize)> = wanted.iter().copied().flatten().collect();
    let mut index = Index::new(path, captures.redirects);
    let mut number = 0_u64;
    let mut rows = read_columns(file, &columns)?;
    while let Some(batch) = rows.next().map_err(|text| Error::at(path, format!("cannot be read: {text}")))? {
        for row in 0..batch.rows {
            number += 1;
            let mut cells = (0..columns.len()).map(|at| batch.get(at, row));
            let mut cell = |is_there: bool| if is_there { cells.next().unwrap_or(Cell::Null) } else { Cell::Null };
            let cells = [cell(true), cell(wanted[1].is_some()), cell(true), cell(true), cell(true)];
            index.add(number, cells, sink)?;
        }
    }
    Ok(index)
}
