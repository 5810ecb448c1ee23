//! Indexes of WARC records in text: CDXJ and CDX from index servers, and exports as CSV, TSV or JSON Lines.
//!
//! The columns have the names of Common Crawl's columnar index, or those of CDXJ and of index servers.

use bumpalo::Bump;
use reptile::limits::MAX_URL_BYTES;

use super::{Cells, Index, MAX_FILE_NAME_BYTES, NO_RANGE};
use crate::captures::Cell;
use crate::captures::names::Field;
use crate::detect::Content;
use crate::lists;
use crate::open::Input;
use crate::options::Captures;
use crate::place::Place;
use crate::tables::open::Opening;
use crate::tables::source::{Block, Source};
use crate::tables::{Table, Wanted, is_cdxj};
use crate::{Error, Item, Result, Sink};

/// The names of a record's file, offset, length and time, in Common Crawl's columnar index and in CDXJ.
const NAMES: [[&str; 4]; 2] = [
    ["warc_filename", "warc_record_offset", "warc_record_length", "fetch_time"],
    ["filename", "offset", "length", TIME],
];

/// The name of the time in CDXJ, which is a part of each line and not a field.
const TIME: &str = "timestamp";

/// The option that such an index is for.
const OPTION: &str = "--warc-root";

/// The columns of an index.
struct Names {
    places: [&'static str; 3],
    time: Option<&'static str>,
    has_url: bool,
}

impl Names {
    /// Returns the columns that the start of an index names, or `None` if it names no WARC files.
    fn of(start: &[u8]) -> Option<Names> {
        let line = first_line(start);
        let has = |name: &str| words(line).any(|word| word.eq_ignore_ascii_case(name.as_bytes()));
        let (is_cdxj, is_described) = (is_cdxj(line), is_described(line));
        let [file, offset, len, time] =
            *NAMES.iter().find(|names| has(names[0]) || (names[3] == TIME && is_described))?;
        let time = (is_cdxj || is_described || has(time)).then_some(time);
        Some(Names { places: [file, offset, len], time, has_url: has("url") && !is_cdxj })
    }

    /// Returns the columns to read, in the order of [`Names::cells`].
    fn wanted(&self) -> Vec<Wanted> {
        let wanted = |name: &str| Wanted { option: OPTION, name: Some(name.to_owned()) };
        let url = Wanted { option: OPTION, name: self.has_url.then(|| "url".to_owned()) };
        [url].into_iter().chain(self.places.map(wanted)).chain(self.time.map(wanted)).collect()
    }

    /// Returns a row's cells in an index's order.
    fn cells<'b>(&self, cells: [Option<&'b [u8]>; 5]) -> Cells<'b> {
        let cell = |text: Option<&'b [u8]>, limit: usize| match text {
            None | Some(b"") => Cell::Null,
            Some(text) if text.len() > limit => Cell::TooLong,
            Some(text) => Cell::Text(text),
        };
        let [url, file, offset, len, time] = cells;
        let [file, offset, len, time] = [file, offset, len, time].map(|text| cell(text, MAX_FILE_NAME_BYTES));
        [cell(url, MAX_URL_BYTES), time, file, offset, len]
    }
}

/// Returns whether a text input can only be an index: CDXJ, CDX, or a table that names a record's range and no body.
pub(crate) fn is_index(start: &[u8]) -> bool {
    let line = first_line(start);
    let is_body = |word: &[u8]| matches!(Field::of_name(word), Some(Field::Body | Field::Base64));
    let has = |name: &str| words(line).any(|word| word.eq_ignore_ascii_case(name.as_bytes()));
    is_cdxj(line)
        || is_described(line)
        || NAMES.iter().any(|names| names[..3].iter().all(|name| has(name))) && !words(line).any(is_body)
}

/// Returns whether a line is a legend, which has letters instead of names, or the line of a CDXJ file about itself.
fn is_described(line: &[u8]) -> bool {
    line.starts_with(b" CDX") || line.starts_with(b"!OpenWayback-CDXJ")
}

fn first_line(start: &[u8]) -> &[u8] {
    start.split(|&byte| byte == b'\n').next().unwrap_or_default()
}

/// Returns the words of a line: column names, or names and other words in JSON.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
}

/// Reads the records that an index lists, from the files below `root`. Returns whether captures wait for other inputs.
///
/// # Errors
/// Returns an error if the input is not such an index, or is unreadable, and the errors of [`Index::read`].
pub(crate) fn read(input: Input, root: &Place, captures: Captures<'_>, sink: &mut Sink<'_>) -> Result<bool> {
    let path = input.path.clone();
    let names = Names::of(input.start()).filter(|_| matches!(input.content, Content::Text | Content::Json));
    let Some(names) = names else {
        let what = input.collection().unwrap_or(input.content.describe());
        let expected = "--warc-root requires an index of WARC records: Parquet, CDXJ, or a table with the columns \
                        \"warc_filename\", \"warc_record_offset\" and \"warc_record_length\"";
        return Err(Error::at(&path, format!("{expected}, but this is {what}")));
    };
    let opening = Opening { wanted: names.wanted(), ..Opening::of(path.clone()) };
    let (table, mut rows) = Source::Text(lists::urls_of(input)?).open_rows(&opening)?;
    let mut index = Index::new(&path, captures.redirects);
    let mut number = 0;
    let unreadable = |error: std::io::Error| Error::at(&path, format!("cannot be read: {error}"));
    while let Some(part) = rows.next(Vec::new(), &|| true).map_err(unreadable)? {
        for block in part.blocks() {
            let Block::Text(block) = block else { continue };
            add_block(&path, &names, &table, block, &mut number, &mut index, sink)?;
        }
    }
    index.read(root, captures.redirects, captures.place, sink)
}

/// Adds the rows of a block to the index.
fn add_block(
    path: &Place,
    names: &Names,
    table: &Table,
    block: &[u8],
    number: &mut u64,
    index: &mut Index<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let arena = Bump::new();
    for row in table.rows(block, &arena) {
        *number += 1;
        match row.fault {
            None => index.add(*number, names.cells(row.cells), sink)?,
            Some(fault) => {
                let name = format!("{}: row {number}", path.display());
                sink(Item::Bad { name, reason: NO_RANGE, detail: fault.describe(table) })?;
            }
        }
    }
    Ok(())
}
