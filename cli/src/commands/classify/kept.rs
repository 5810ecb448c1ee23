//! The columns of URLS that a Parquet or Arrow output keeps: `--keep-columns`, or all of them with `--add-columns` and
//! `--only`.

use super::args::InputFormat;
use super::plan::{List, Plan};
use crate::error::{Failure, Result};
use crate::outputs::endings::format_of;
use reptile_columns::{AnswerFormat, KeptColumns};
use reptile_records::batches::kept::{KeptRows, KeptTypes};
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
    let declared = plan.input_format.as_ref().map(InputFormat::table);
    let (table, own_format) = match source {
        Source::Parquet(..) => (tables::Format::Parquet, AnswerFormat::Parquet),
        // The content of a pipe is not known yet.
        Source::Pipe(..) if named.is_none() && declared != Some(tables::Format::Arrow) => return Ok(None),
        Source::Arrow(..) if is_file => (tables::Format::Arrow, AnswerFormat::Arrow),
        Source::Arrow(..) | Source::Pipe(..) => (tables::Format::Arrow, AnswerFormat::ArrowStream),
        Source::Text(_) if named.is_none() => return Ok(None),
        Source::Text(_) => {
            let message = "--keep-columns: is text, expected Parquet or Arrow; --add-columns keeps the rows of text";
            return Err(Failure::at(&list.urls, message));
        }
    };
    let format = match written.has_rows() {
        true => list.output.as_ref().and_then(format_of).filter(|format| format.is_columnar()).unwrap_or(own_format),
        false => written.format(),
    };
    if !format.is_columnar() {
        let message = "--keep-columns: expected Parquet or Arrow output, in which kept columns keep their types; name \
                       an output .parquet, .arrow or .arrows, or give --format";
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
