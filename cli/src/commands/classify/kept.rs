//! The columns of URLS that an output keeps: `--keep-columns`, or all of them with `--add-columns` and `--only`.

use super::plan::{List, Plan};
use crate::error::{Failure, Result};
use crate::outputs::endings::format_of;
use crate::tables::InputFormat;
use reptile_columns::{AnswerFormat, Decider, KeptColumns, KeptText, columns_of};
use reptile_records::batches::kept::{KeptRows, KeptTypes};
use reptile_records::place::Place;
use reptile_records::tables;
use reptile_records::tables::source::Source;

/// The columns that an output keeps.
pub struct KeptTable {
    pub rows: KeptRows,
    /// The format of the table with these columns.
    pub table: tables::Format,
    /// The format of the output.
    pub format: AnswerFormat,
}

impl KeptTable {
    /// Returns the columns as text, if the output has rows of text.
    pub fn text(&self) -> Option<KeptText> {
        (!self.format.is_columnar()).then(|| KeptText::new(self.format, self.rows.clone()))
    }
}

/// Checks columns that are kept as text, and returns the header with their names if there is one.
///
/// # Errors
/// Returns an error if a column has no text, or the name of a written column.
pub fn header(columns: &KeptText, urls: &Place, decider: &Decider, header: Vec<u8>) -> Result<Vec<u8>> {
    let written: Vec<String> =
        columns_of(decider.layout(), decider.crawlers()).into_iter().map(|(name, _)| name).collect();
    columns.check(&written).map_err(|error| Failure::at(urls, format!("--keep-columns: {error}")))?;
    if header.is_empty() { Ok(header) } else { columns.header(&header).map_err(Failure::new) }
}

/// Returns the columns that the output keeps, or `None` if it keeps none or keeps rows of text.
///
/// # Errors
/// Returns an error if the options do not fit the format of URLS. [`KeptRows`] rejects a missing column.
pub fn kept_columns(plan: &Plan, list: &List, source: &Source) -> Result<Option<KeptTable>> {
    let written = &plan.written;
    let named = written.keep_columns();
    if named.is_none() && !written.has_rows() {
        return Ok(None);
    }
    let option = if named.is_some() { "--keep-columns" } else { written.option_for_rows() };
    let selection = named.unwrap_or(&KeptColumns::All).clone();
    let is_file = matches!(source, Source::Arrow(input) if input.is_arrow_file());
    let declared = plan.tables.input_format.as_ref().map(InputFormat::table);
    let (table, own_format) = match source {
        Source::Parquet(..) => (tables::Format::Parquet, AnswerFormat::Parquet),
        // The content of a pipe is not known yet.
        Source::Pipe(..) if named.is_none() && declared != Some(tables::Format::Arrow) => return Ok(None),
        Source::Arrow(..) if is_file => (tables::Format::Arrow, AnswerFormat::Arrow),
        Source::Arrow(..) | Source::Pipe(..) => (tables::Format::Arrow, AnswerFormat::ArrowStream),
        Source::Text(_) if named.is_none() => return Ok(None),
        Source::Text(_) => {
            let message =
                "is text, and --keep-columns needs a table in Parquet or Arrow; --add-columns keeps rows of text";
            return Err(Failure::at(&list.urls, message));
        }
    };
    let format = match written.has_rows() {
        true => list.output.as_ref().and_then(format_of).filter(|format| format.is_columnar()).unwrap_or(own_format),
        false => written.format(),
    };
    if format == AnswerFormat::Jsonl {
        let message = "--keep-columns: expected output in Parquet, Arrow, CSV or TSV, not JSON Lines; give --format, or \
                       name an output .parquet, .arrow, .arrows, .csv or .tsv";
        return Err(Failure::new(message));
    }
    let types = if format == AnswerFormat::Parquet { KeptTypes::Stored } else { KeptTypes::Arrow };
    let select = move |names: &[&str]| selection.places(names).map_err(|error| format!("{option}: {error}"));
    Ok(Some(KeptTable { rows: KeptRows::new(types, select), table, format }))
}

/// Rejects a pipe whose columns should be kept, although it was taken for text.
///
/// # Errors
/// Returns an error if the table is Arrow IPC and its rows should be kept.
pub fn refuse_unkept(plan: &Plan, list: &List, table: tables::Format) -> Result<()> {
    if table != tables::Format::Arrow || !plan.written.has_rows() {
        return Ok(());
    }
    let option = plan.written.option_for_rows();
    Err(Failure::at(&list.urls, format!("{option}: is Arrow IPC from a pipe; also give --input-format arrow")))
}
