//! Rows of a URL table in columns: each row's selected cells.
//!
//! The URL is either one column, or split across columns as in Common Crawl's index; these are joined again. The code
//! that decides the rows takes their cells from the record batches.
//!
//! ```
//! use reptile_records::tables::open::Opening;
//! use reptile_records::tables::source::{Block, Source};
//! # use std::sync::Arc;
//! # use parquet::data_type::{ByteArray, ByteArrayType};
//! # use parquet::{file::writer::SerializedFileWriter, schema::parser::parse_message_type};
//! #
//! # let columns = "required binary url_protocol; required binary url_host_name; required binary url_port (utf8);
//! #     required binary url_path; required binary url_query;";
//! # let schema = parse_message_type(&format!("message index {{ {columns} }}"))?;
//! # let index = tempfile::NamedTempFile::new()?;
//! # let mut writer = SerializedFileWriter::new(index.reopen()?, Arc::new(schema), Arc::default())?;
//! # let mut group = writer.next_row_group()?;
//! # for cell in ["https", "example.com", "8080", "/private", "a=1"] {
//! #     let Some(mut column) = group.next_column()? else { break };
//! #     column.typed::<ByteArrayType>().write_batch(&[ByteArray::from(cell)], None, None)?;
//! #     column.close()?;
//! # }
//! # group.close()?;
//! # writer.close()?;
//!
//! let (_, mut rows) = Source::open(index.path())?.open_rows(&Opening::of(index.path()))?;
//! let mut paths = Vec::new();
//! while let Some(part) = rows.next(Vec::new(), &|| true)? {
//!     for block in part.blocks() {
//!         let Block::Cells(block) = block else { continue };
//!         paths.extend(block.parts().flatten().map(|parts| parts.path.to_vec()));
//!     }
//! }
//! assert_eq!(paths, [b"/private"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::any::Any;

use bumpalo::Bump;
use reptile::UrlParts;

use super::cells::Class;
use super::kept::KeptRows;
use super::{MessageResult, Reader, RecordBatches};
use crate::captures::Cell;
use crate::lines::MAX_LINE_BYTES;
use crate::tables::address::{COMMON_CRAWL, PART_COUNT, UrlCells, complete};
use crate::tables::named::NamedColumns;
use crate::tables::open::{Opening, URL_OPTION};
use crate::tables::{self, ColumnOption, Fault, MAX_CELLS, Row};

/// Number of rows in a block, the unit of work for a thread. Smaller blocks make threads wake each other more often:
/// with 1,024 rows and half the batch size, a file took 10 % longer.
const BLOCK_ROWS: usize = 1 << 12;

/// The columns into which Common Crawl's index splits a URL.
const SPLIT: [&str; 5] = COMMON_CRAWL;

/// The parts that a template may lack: the port and the query. A URL without them is a different URL.
const MAY_BE_ABSENT: [usize; 2] = [2, 4];

/// The split URL's column types. Some programs write the port as text, others as a number.
const SPLIT_CLASSES: [&[Class]; 5] = [
    &[Class::Text],
    &[Class::Text],
    &[Class::Whole, Class::Float, Class::Text, Class::Null],
    &[Class::Text],
    &[Class::Text, Class::Null],
];

/// Description of time types in messages.
const TIME: &str = "a time, a date, a number or text";

/// Description of port types in messages.
const PORT: &str = "a number or text";

/// The time column's option name.
pub const AT_OPTION: &str = "--at";

/// The split columns as a template of the option.
const ALL: &str = "{url_protocol}://{url_host_name}:{url_port}{url_path}?{url_query}";

/// The host's index among the split columns.
const HOST: usize = 1;

/// A table's remaining rows.
pub struct UrlRows {
    reader: Reader,
    url: Url,
    /// The index of the first other selected column among the columns read, and the number of such columns.
    others: (usize, usize),
}

/// The URL's location among the columns read.
#[derive(Clone, Copy)]
pub(crate) enum Url {
    /// The first column.
    Whole,
    /// The first column, with this scheme for URLs without one.
    Completed(&'static str),
    /// The URL parts' column indexes.
    Split([Option<usize>; SPLIT.len()]),
    /// The first columns, which the user has named as the URL's parts.
    Parts(UrlCells),
}

impl UrlRows {
    /// Prepares to read the rows of a table from a source of the selected columns, in their order.
    pub(crate) fn new(source: Box<dyn RecordBatches>, selected: &Selected, kept: Option<KeptRows>) -> UrlRows {
        let Selected { url, ref places, others, .. } = *selected;
        let reader = Reader::new(source, vec![MAX_LINE_BYTES; places.len()], selected.host()).with_kept(kept);
        UrlRows { reader, url, others }
    }

    /// Returns the next rows, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error without the input's path if the input is unreadable, damaged or over a limit.
    pub(crate) fn next_batch(&mut self) -> MessageResult<Option<Batch>> {
        let UrlRows { url, others, .. } = *self;
        Ok(self.reader.next()?.map(|cells| Batch { cells, url, others }))
    }
}

/// The columns to read from a table with named columns.
pub(crate) struct Selected {
    /// The URL's location among the columns to read.
    pub url: Url,
    /// The columns to read, by their index in the table.
    pub places: Vec<usize>,
    /// Descriptions for messages: the URL's columns, then each other column.
    pub names: Vec<String>,
    /// The index of the first other column among the columns to read, and the number of such columns.
    pub others: (usize, usize),
}

impl Selected {
    /// Returns the column of hosts among the columns to read.
    pub fn host(&self) -> Option<usize> {
        if let Url::Split(parts) = self.url { parts[HOST] } else { None }
    }

    /// Finds the columns, with the URL column first.
    ///
    /// # Errors
    /// Returns an error if there is no such column, or if one has the wrong type.
    pub fn find(file: &impl NamedColumns, opening: &Opening) -> MessageResult<Selected> {
        let wanted = &opening.wanted;
        let mut places = Vec::new();
        // A user who names the columns of Common Crawl's index has them joined by its rules.
        let is_common_crawl = opening.parts.iter().map(Option::as_deref).eq(SPLIT.map(Some));
        let url = match opening.is_split() && !is_common_crawl {
            true => Url::of_parts(file, opening, &mut places)?,
            false => Url::find(file, wanted.first(), is_common_crawl, &mut places)?.with_scheme(opening.scheme),
        };
        let mut names = vec![match (&url, &places[..]) {
            (Url::Split(_), _) => format!("columns {}", SPLIT.join(", ")),
            (Url::Parts(_), places) => places.iter().map(|&place| file.describe(place)).collect::<Vec<_>>().join(", "),
            (_, &[place]) => file.describe(place),
            (_, _) => "the column of URLs".into(),
        }];
        let others = (places.len(), wanted.len().saturating_sub(1));
        for ColumnOption { option, name } in wanted.iter().skip(1) {
            let place = file.find(name.as_deref().unwrap_or_default()).map_err(|text| format!("{option} {text}"))?;
            let (classes, expected) = match *option {
                AT_OPTION => (&[Class::Time, Class::Whole, Class::Float, Class::Text][..], TIME),
                _ => (&[Class::Text][..], file.text_types()),
            };
            file.expect(place, classes, expected).map_err(|text| format!("{option}: {text}"))?;
            places.push(place);
            names.push(file.describe(place));
        }
        Ok(Selected { url, places, names, others })
    }
}

/// Rows that were read together.
pub struct Batch {
    cells: super::Batch,
    url: Url,
    others: (usize, usize),
}

impl Batch {
    /// Returns the size of all cells in bytes.
    pub(crate) fn byte_len(&self) -> usize {
        self.cells.text_bytes
    }

    /// Splits the rows into blocks of [`BLOCK_ROWS`].
    pub(crate) fn blocks(&self) -> impl Iterator<Item = BatchRows<'_>> {
        let rows = self.cells.rows;
        let starts = (0..rows).step_by(BLOCK_ROWS);
        starts.map(move |start| BatchRows { batch: self, start, end: rows.min(start + BLOCK_ROWS) })
    }
}

/// Consecutive rows in a batch.
#[derive(Clone, Copy)]
pub struct BatchRows<'b> {
    batch: &'b Batch,
    start: usize,
    end: usize,
}

impl<'b> BatchRows<'b> {
    /// Returns each row's selected cells. Joined URLs are allocated in `arena`.
    pub fn rows(self, arena: &'b Bump) -> impl Iterator<Item = Row<'b>> {
        (self.start..self.end).map(move |row| self.row(row, arena))
    }

    /// Returns the number of rows.
    pub fn row_count(self) -> usize {
        self.end - self.start
    }

    /// Returns whether URLs are split into parts.
    pub fn is_split(self) -> bool {
        matches!(self.batch.url, Url::Split(_))
    }

    /// Returns each row's URL parts, or the reason why the row is invalid.
    pub fn parts(self) -> impl ExactSizeIterator<Item = std::result::Result<UrlParts<'b>, Fault>> {
        let columns = match self.batch.url {
            Url::Split(parts) => parts.map(|at| self.batch.cells.column(at?)),
            _ => [None; SPLIT.len()],
        };
        let columns = columns.map(|column| column.map(|(cells, start)| (cells, start + self.start)));
        (0..self.row_count()).map(move |row| {
            let all = columns.map(|column| column.map_or(Cell::Null, |(cells, start)| cells.get(start + row)));
            if all.contains(&Cell::TooLong) {
                return Err(Fault::TooLong);
            }
            let [Cell::Text(scheme), Cell::Text(host), port, path, query] = all else { return Err(Fault::NoCell) };
            let text = |cell| if let Cell::Text(text) = cell { Some(text) } else { None };
            let host_number = columns[HOST].and_then(|(cells, start)| cells.number(start + row));
            let path = text(path).unwrap_or_default();
            Ok(UrlParts { scheme, host, port: text(port), path, query: text(query), host_number })
        })
    }

    /// Returns a caller's cached value for these rows' hosts, if they are in a dictionary. The first caller creates it
    /// from an upper bound for [`UrlParts::host_number`]. It lives as long as the dictionary.
    ///
    /// Also returns `None` if an earlier caller has cached a value of another type.
    pub fn host_cache<T: Any + Send + Sync>(self, make: impl FnOnce(usize) -> T) -> Option<&'b T> {
        let Url::Split(parts) = self.batch.url else { return None };
        let (hosts, count) = self.batch.cells.column(parts[HOST]?)?.0.hosts()?;
        hosts.get_or_init(|| Box::new(make(count))).downcast_ref()
    }

    #[inline]
    fn row(self, row: usize, arena: &'b Bump) -> Row<'b> {
        let Batch { cells, url, others: (first, count) } = self.batch;
        let cell = |at: usize| cells.get(at, row);
        let mut fault = None;
        let url = match *url {
            Url::Whole => cell(0),
            Url::Completed(scheme) => match cell(0) {
                Cell::Text(url) => Cell::Text(complete(url, scheme, arena)),
                cell => cell,
            },
            Url::Split(parts) => join(parts.map(|at| at.map_or(Cell::Null, cell)), arena),
            Url::Parts(parts) => {
                let mut all = [None; PART_COUNT];
                let mut is_too_long = false;
                for (at, to) in all.iter_mut().enumerate().take(parts.count()) {
                    match cell(at) {
                        Cell::Text(text) => *to = Some(text),
                        Cell::Null => {}
                        Cell::TooLong => is_too_long = true,
                    }
                }
                match parts.join(&all, arena) {
                    _ if is_too_long => Cell::TooLong,
                    Ok(url) => Cell::Text(url),
                    Err(reason) => {
                        fault = Some(reason);
                        Cell::Null
                    }
                }
            }
        };
        let mut cells: tables::Cells<'b> = [None; MAX_CELLS];
        let mut is_too_long = false;
        let others = (*first..first + count).map(cell);
        for (to, cell) in cells.iter_mut().zip([url].into_iter().chain(others)) {
            match cell {
                Cell::Text(text) => *to = Some(text),
                Cell::Null => {}
                Cell::TooLong => is_too_long = true,
            }
        }
        let no_url = fault.or(cells[0].is_none().then_some(Fault::NoCell));
        Row { start: 0, bytes: b"", cells, fault: if is_too_long { Some(Fault::TooLong) } else { no_url } }
    }
}

impl Url {
    /// Returns the location with a scheme for URLs without one.
    fn with_scheme(self, scheme: Option<&'static str>) -> Url {
        match (self, scheme) {
            (Url::Whole, Some(scheme)) => Url::Completed(scheme),
            (url, _) => url,
        }
    }

    /// Finds the columns that the user has named as the URL's parts, and adds their indexes to `places`.
    fn of_parts(file: &impl NamedColumns, opening: &Opening, places: &mut Vec<usize>) -> MessageResult<Url> {
        let parts = opening.parts()?;
        let present = parts.places.iter().enumerate().filter(|(_, place)| place.is_some()).map(|(at, _)| at);
        for (ColumnOption { option, name }, at) in opening.cells().iter().zip(present) {
            let place = file.find(name.as_deref().unwrap_or_default()).map_err(|text| format!("{option} {text}"))?;
            let expected = if at == MAY_BE_ABSENT[0] { PORT } else { file.text_types() };
            file.expect(place, SPLIT_CLASSES[at], expected).map_err(|text| format!("{option}: {text}"))?;
            places.push(place);
        }
        Ok(Url::Parts(parts))
    }

    /// Finds the URL's columns, and adds their indexes to `places`. `is_split` says that these are Common Crawl's even
    /// if the file has another URL column.
    fn find(
        file: &impl NamedColumns,
        wanted: Option<&ColumnOption>,
        is_split: bool,
        places: &mut Vec<usize>,
    ) -> MessageResult<Url> {
        let option = wanted.map_or(URL_OPTION, |wanted| wanted.option);
        let name = wanted.and_then(|wanted| wanted.name.as_deref());
        let place = match name {
            Some(name) => Some(file.find(name).map_err(|text| format!("{option} {text}"))?),
            None if is_split => None,
            None => file.url_column(option, &SPLIT)?,
        };
        if let Some(place) = place {
            let given = if name.is_some() { format!("{option}: ") } else { String::new() };
            file.expect(place, &[Class::Text], file.text_types()).map_err(|text| format!("{given}{text}"))?;
            places.push(place);
            return Ok(Url::Whole);
        }
        let mut parts = [None; SPLIT.len()];
        for (part, name) in parts.iter_mut().zip(SPLIT) {
            *part = file.only(name)?;
        }
        if parts.iter().all(Option::is_none) {
            let problem = match is_split {
                true => format!("{option}: there are no columns {}", SPLIT.join(", ")),
                false => format!("which column has the URLs? Say it with {option}"),
            };
            return Err(format!("{problem}; the file has {}", file.names()));
        }
        for (at, name) in SPLIT.into_iter().enumerate() {
            let expected = if at == MAY_BE_ABSENT[0] { PORT } else { file.text_types() };
            match parts[at] {
                Some(place) => file.expect(place, SPLIT_CLASSES[at], expected)?,
                None => return Err(absent(file, at, name, option)),
            }
        }
        Ok(Url::Split(parts.map(|place| {
            places.push(place?);
            Some(places.len() - 1)
        })))
    }
}

/// Returns the message about a split URL's missing column.
fn absent(file: &impl NamedColumns, at: usize, name: &str, option: &str) -> String {
    let advice = match MAY_BE_ABSENT.contains(&at) {
        true => {
            format!("without it URLs are decided as others; if it is always empty, leave it out of {option} '{ALL}'")
        }
        false => format!("say with {option} which column has the URLs"),
    };
    format!("there is no column \"{name}\" for the split URL: {advice}; the file has {}", file.names())
}

/// Joins a URL's parts in `arena`. Returns a null if the scheme or the host is missing.
#[inline]
fn join<'b>(parts: [Cell<'b>; SPLIT.len()], arena: &'b Bump) -> Cell<'b> {
    if parts.contains(&Cell::TooLong) {
        return Cell::TooLong;
    }
    let [scheme, host, port, path, query] = parts;
    let (Cell::Text(_), Cell::Text(_)) = (scheme, host) else { return Cell::Null };
    let parts = [(&b""[..], scheme), (b"://", host), (b":", port), (b"", path), (b"?", query)];
    let len = parts.iter().map(|(lead, part)| if let Cell::Text(part) = part { lead.len() + part.len() } else { 0 });
    let room = arena.alloc_slice_fill_copy(len.sum(), 0);
    let mut rest = &mut *room;
    let mut push = |text: &[u8]| {
        if let Some(to) = rest.split_off_mut(..text.len()) {
            to.copy_from_slice(text);
        }
    };
    for (lead, part) in parts {
        if let Cell::Text(part) = part {
            push(lead);
            push(part);
        }
    }
    Cell::Text(room)
}
