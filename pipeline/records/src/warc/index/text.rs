//! Indexes of WARC records in text: CDXJ and CDX from index servers, and exports as CSV, TSV or JSON Lines.
//! [`names`](super::names) finds their columns.

use bumpalo::Bump;
use reptile::limits::MAX_URL_BYTES;

use super::names::Names;
use super::{Cells, Index, MAX_FILE_NAME_BYTES, NO_RANGE};
use crate::captures::Cell;
use crate::detect::Content;
use crate::lists;
use crate::open::Input;
use crate::options::Captures;
use crate::place::Place;
use crate::tables::Table;
use crate::tables::open::Opening;
use crate::tables::source::{Block, Source};
use crate::{Error, Item, Result, Sink};

impl Names {
    /// Returns a row's cells in the order that [`Index::add`] takes.
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

/// Reads the records that an index lists, from the files below `root`. Returns whether captures wait for other inputs.
///
/// # Errors
/// Returns an error if the input is unreadable or not such an index, or if [`Index::read`] fails.
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
