//! Captures of robots.txt files in a Parquet file, a row for each, with the columns that a capture in JSON Lines has as
//! fields.
//!
//! A column may be text or of the type that fits: numbers for the status, a timestamp for the time, bytes for the body.

use std::path::Path;
use std::sync::Arc;

use reptile_compiler::capture::{Capture, Truncation};
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_compiler::set::origin::{OwnedOrigin, RobotsUrlError};
use reptile_engine::url::MAX_URL_BYTES;

use super::column::Cell;
use super::{Batches, ParquetFile};
use crate::error::{Failure, Result};
use crate::inputs::bodies::TOO_LARGE;
use crate::inputs::shown::shown;
use crate::inputs::time::read_time;
use crate::inputs::{Item, Robots, Sink};

/// Bytes of a cell that is a word or a number.
const MAX_WORD_BYTES: usize = 1 << 10;

/// The columns of a capture, each with the most bytes of its cells and with its names, of which the first that the file has
/// counts.
const COLUMNS: [(usize, &[&str]); 6] = [
    (MAX_URL_BYTES, &["url", "uri"]),
    (MAX_WORD_BYTES, &["status"]),
    (MAX_WORD_BYTES, &["time"]),
    (MAX_BODY_BYTES, &["body", "content"]),
    (MAX_WORD_BYTES, &["error"]),
    (MAX_WORD_BYTES, &["truncated"]),
];

/// Why a row is not a capture: in the same words for all such rows, and the details.
type Bad = (&'static str, String);

/// Reads every row.
///
/// # Errors
/// If the file cannot be read to its end, or has no column of URLs.
pub fn read(path: &Path, sink: &mut Sink<'_>) -> Result<()> {
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
            let cells = places.map(|place| place.map_or(Cell::Null, |at| batches.columns[at].cells.get(row)));
            sink(item(name, cells))?;
        }
        batches.take(rows);
    }
}

/// The capture of a row, or what is wrong with it.
fn item(name: String, cells: [Cell<'_>; COLUMNS.len()]) -> Item {
    match capture(cells) {
        Ok((capture, body, origin)) => {
            Item::Robots(Robots { name, origins: vec![origin], capture, body, is_file: false })
        }
        Err((reason, detail)) => Item::Bad { name, reason, detail },
    }
}

fn capture(cells: [Cell<'_>; COLUMNS.len()]) -> std::result::Result<(Capture, Option<Vec<u8>>, OwnedOrigin), Bad> {
    let [url, status, time, body, error, truncated] = cells;
    let origin = match url {
        Cell::Text(url) => OwnedOrigin::of_robots_url(url).map_err(|error| match error {
            RobotsUrlError::OtherPath => ("not the url of a robots.txt", format!("\"{}\"", shown(url))),
            error => ("no valid url", format!("\"{}\": {error}", shown(url))),
        })?,
        Cell::Null => return Err(("no valid url", String::new())),
        Cell::TooLong => return Err(("no valid url", format!("more than {MAX_URL_BYTES} bytes"))),
    };
    let body = match body {
        Cell::Text(body) => Some(body.to_vec()),
        Cell::Null => None,
        Cell::TooLong => return Err((TOO_LARGE, format!("more than {MAX_BODY_BYTES} bytes"))),
    };
    let capture = Capture {
        status: word(status, status_of)?,
        time: word(time, |text| read_time(text.trim()))?,
        truncated: word(truncated, truncation_of)?.flatten(),
        has_failed: word(error, |text| Ok(!text.is_empty()))?.unwrap_or(false),
        ..Capture::default()
    };
    Ok((capture, body, origin))
}

/// The meaning of a cell that is a word or a number, if there is one.
fn word<T>(
    cell: Cell<'_>,
    read: impl Fn(&str) -> std::result::Result<T, String>,
) -> std::result::Result<Option<T>, Bad> {
    let bad = |detail: String| ("not a valid capture", detail);
    match cell {
        Cell::Null => Ok(None),
        // The text itself does not matter, only that there is one.
        Cell::TooLong => read("a long text").map(Some).map_err(bad),
        Cell::Text(text) => {
            let word = str::from_utf8(text).map_err(|_| bad(format!("not UTF-8: \"{}\"", shown(text))))?;
            read(word).map(Some).map_err(bad)
        }
    }
}

fn status_of(text: &str) -> std::result::Result<u16, String> {
    let status = text.trim().parse().ok().filter(|status| (100..=999).contains(status));
    status.ok_or_else(|| format!("expected a status, a number from 100 to 999, found \"{}\"", shown(text.as_bytes())))
}

fn truncation_of(text: &str) -> std::result::Result<Option<Truncation>, String> {
    match text {
        "false" | "" => Ok(None),
        "true" => Ok(Some(Truncation::Unspecified)),
        word => Truncation::from_name(word).map(Some).ok_or_else(|| {
            let expected = "true, false, \"length\", \"time\", \"disconnect\" or \"unspecified\"";
            format!("expected {expected} for truncated, found \"{}\"", shown(word.as_bytes()))
        }),
    }
}
