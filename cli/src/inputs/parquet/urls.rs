//! Rows of a table of URLs in a Parquet file: the wanted cells of each row, one after the other.
//!
//! The URL is a column, or the columns into which Common Crawl's index has split it, which are joined again.

use std::sync::Arc;

use super::column::Piece;
use super::{Batches, Found, ParquetFile};
use crate::error::Result;
use crate::inputs::lines::{BLOCK_BYTES, CHUNK_BYTES, Chunk, MAX_LINE_BYTES};
use crate::inputs::tables::cells::{Framed, RowBuffer};
use crate::inputs::tables::{Table, Wanted, is_url_name};

/// The columns into which Common Crawl's index splits a URL. The port and the query may be absent.
const SPLIT: [&str; 5] = ["url_protocol", "url_host_name", "url_port", "url_path", "url_query"];

/// The rows of a file that are still to come.
pub struct Rows {
    batches: Batches,
    url: Url,
    /// The first of the other wanted columns among those that are read, and how many they are.
    others: (usize, usize),
}

/// Where the URL is among the columns that are read.
enum Url {
    /// It is the first.
    Whole,
    /// The places of its parts.
    Split([Option<usize>; SPLIT.len()]),
}

impl Rows {
    /// Finds the columns; that of the URLs is the first. `split` says that the URL is in the columns of Common Crawl's index,
    /// which are also taken if the file has no other column of URLs.
    ///
    /// # Errors
    /// If there is no such column, or one is a list.
    pub fn open(file: ParquetFile, wanted: &[Wanted], split: bool) -> Result<(Table, Rows)> {
        let file = Arc::new(file);
        Rows::find(&file, wanted, split).map_err(|text| file.failure(text))
    }

    fn find(file: &Arc<ParquetFile>, wanted: &[Wanted], split: bool) -> Found<(Table, Rows)> {
        let mut places = Vec::new();
        let url = Url::find(file, wanted.first(), split, &mut places)?;
        let mut names = vec![match (&url, &places[..]) {
            (Url::Whole, &[place]) => file.describe(place),
            _ => format!("columns {}", SPLIT.join(", ")),
        }];
        let others = (places.len(), wanted.len().saturating_sub(1));
        for Wanted { option, name } in wanted.iter().skip(1) {
            let place = file.find(name.as_deref().unwrap_or_default()).map_err(|text| format!("{option} {text}"))?;
            places.push(place);
            names.push(file.describe(place));
        }
        let places: Vec<(usize, usize)> = places.into_iter().map(|place| (place, MAX_LINE_BYTES)).collect();
        let batches = Batches::new(Arc::clone(file), &places)?;
        Ok((Table::of_parquet(names), Rows { batches, url, others }))
    }

    /// The next rows, in the memory of `buffer`; `None` at the end.
    ///
    /// # Errors
    /// If the file is damaged: what is wrong, without its path.
    pub fn next(&mut self, buffer: Vec<u8>) -> Found<Option<Chunk>> {
        let mut buffer = RowBuffer::new(buffer);
        let mut row_ends = Vec::new();
        let mut last_end = 0;
        while buffer.len() < CHUNK_BYTES / 2 {
            let rows = self.batches.fill()?;
            if rows == 0 {
                break;
            }
            for row in 0..rows {
                self.push(row, &mut buffer);
                if buffer.len() - last_end >= BLOCK_BYTES {
                    last_end = buffer.len();
                    row_ends.push(last_end);
                }
            }
            self.batches.take(rows);
        }
        if buffer.len() > last_end {
            row_ends.push(buffer.len());
        }
        let (buffer, len) = buffer.into_parts();
        Ok((len > 0).then(|| Chunk::of_rows(buffer, len, row_ends)))
    }

    /// Appends a row that is so many after the first one that is not used.
    #[inline]
    fn push(&self, row: usize, buffer: &mut RowBuffer) {
        let piece = |at: usize| self.batches.columns[at].cells.piece(row);
        let (first, count) = self.others;
        let mut writer = buffer.begin(1 + count);
        match &self.url {
            Url::Whole => writer.cell(|rows| append(piece(0), rows)),
            Url::Split(parts) => writer.cell(|rows| join(parts.map(|at| at.map_or(Piece::Null, piece)), rows)),
        }
        for at in first..first + count {
            writer.cell(|rows| append(piece(at), rows));
        }
    }
}

impl Url {
    /// Finds the columns of the URL, and adds their places to `places`.
    fn find(file: &ParquetFile, wanted: Option<&Wanted>, split: bool, places: &mut Vec<usize>) -> Found<Url> {
        let option = wanted.map_or("--url-column", |wanted| wanted.option);
        let place = match wanted.and_then(|wanted| wanted.name.as_deref()) {
            Some(name) => Some(file.find(name).map_err(|text| format!("{option} {text}"))?),
            None if split => None,
            None => file.url_column(),
        };
        if let Some(place) = place {
            places.push(place);
            return Ok(Url::Whole);
        }
        let parts = SPLIT.map(|name| file.named(name));
        let [Some(_), Some(_), _, Some(_), _] = parts else {
            let problem = match split {
                true => format!("--split-columns: there are no columns {}", SPLIT.join(", ")),
                false => format!("which column has the URLs? Say it with {option}"),
            };
            return Err(format!("{problem}; the file has {}", file.names()));
        };
        Ok(Url::Split(parts.map(|place| {
            places.push(place?);
            Some(places.len() - 1)
        })))
    }
}

/// Appends a cell.
#[inline]
fn append(cell: Piece<'_>, rows: &mut RowBuffer) -> Framed {
    match cell {
        Piece::Text(text, len) => {
            rows.push_start(text, len);
            Framed::Text
        }
        Piece::Null => Framed::Absent,
        Piece::TooLong => Framed::TooLong,
    }
}

/// Appends the parts of a URL, joined. Without scheme or host there is no URL.
#[inline]
fn join(parts: [Piece<'_>; SPLIT.len()], rows: &mut RowBuffer) -> Framed {
    let is_too_long = |part: &Piece<'_>| matches!(part, Piece::TooLong);
    if parts.iter().any(is_too_long) {
        return Framed::TooLong;
    }
    let [scheme, host, port, path, query] = parts;
    let (Piece::Text(..), Piece::Text(..)) = (scheme, host) else { return Framed::Absent };
    for (lead, part) in [(&b""[..], scheme), (b"://", host), (b":", port), (b"", path), (b"?", query)] {
        if let Piece::Text(part, len) = part {
            rows.push_start(lead, lead.len());
            rows.push_start(part, len);
        }
    }
    Framed::Text
}

impl ParquetFile {
    /// The column of URLs, if there is no doubt which it is: by its name, or the only column of texts.
    fn url_column(&self) -> Option<usize> {
        let all = || 0..self.columns().len();
        let is_named = |&at: &usize| self.is_text(at) && is_url_name(self.columns()[at].path().string().as_bytes());
        let named: Vec<usize> = all().filter(is_named).collect();
        match (&named[..], &all().filter(|&at| self.is_text(at)).collect::<Vec<_>>()[..]) {
            (&[at], _) | (&[], &[at]) => Some(at),
            _ => None,
        }
    }
}
