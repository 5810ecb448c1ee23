//! The columns of URLS that a Parquet or Arrow output keeps: `--keep-columns`, or all of them with `--add-columns` and
//! `--only`.

use super::plan::{InputFormat, List, Plan};
use crate::error::{Failure, Result};
use crate::outputs::endings::format_of;
use crate::outputs::sink::Kept;
use reptile_columns::{Format, KeptColumns};
use reptile_records::arrow::kept::KeptRows;
use reptile_records::parquet;
use reptile_records::tables;
use reptile_records::tables::source::Source;

/// Returns the columns that the output keeps and the output's format, or `None` if it keeps none or keeps rows of text.
///
/// # Errors
/// Returns an error if a column is missing or cannot be kept, or if the options do not fit the format of URLS.
pub fn kept_columns(plan: &Plan, list: &List, source: &Source) -> Result<Option<(Kept, Format)>> {
    let written = &plan.written;
    let named = written.keep_columns();
    if named.is_none() && !written.has_rows() {
        return Ok(None);
    }
    let option = if named.is_some() { "--keep-columns" } else { written.option_for_rows() };
    let selection = named.unwrap_or(&KeptColumns::All).clone();
    let has_rows = written.has_rows();
    let is_arrow = |format| matches!(format, Format::Arrow | Format::ArrowStream);
    let expected = |what: &str, ends: &str, format: &str| {
        let message = format!(
            "--keep-columns: expected {what} output, in which kept columns keep their types; name an output {ends}, or \
             give --format {format}"
        );
        Err(Failure::new(message))
    };
    match source {
        Source::Parquet(file, _) => {
            if !has_rows && written.format() != Format::Parquet {
                return expected("Parquet", ".parquet", "parquet");
            }
            let places = selection.places(&file.field_names());
            let places = places.map_err(|error| Failure::at(&list.urls, format!("{option}: {error}")))?;
            Ok(Some((Kept::Parquet(parquet::kept::Kept::new(file, &places)?), Format::Parquet)))
        }
        // The content of a pipe is not known yet.
        Source::Pipe(..)
            if named.is_none() && plan.input_format.as_ref().map(InputFormat::table) != Some(tables::Format::Arrow) =>
        {
            Ok(None)
        }
        Source::Arrow(..) | Source::Pipe(..) => {
            let format = match has_rows {
                true => list.output.as_ref().and_then(format_of).filter(|&format| is_arrow(format)),
                false => Some(written.format()),
            };
            let is_file = matches!(source, Source::Arrow(input, _) if input.is_arrow_file());
            let format = format.unwrap_or(if is_file { Format::Arrow } else { Format::ArrowStream });
            if !is_arrow(format) {
                return expected("Arrow", ".arrow or .arrows", "arrow-stream");
            }
            let select = move |names: &[&str]| selection.places(names).map_err(|error| format!("{option}: {error}"));
            Ok(Some((Kept::Arrow(KeptRows::new(select)), format)))
        }
        Source::Text(_) => match named {
            Some(_) => Err(Failure::at(
                &list.urls,
                "--keep-columns: is text, expected Parquet or Arrow; --add-columns keeps the rows of text",
            )),
            None => Ok(None),
        },
    }
}

/// Returns the queue that passes kept columns from the input to the output, if there is one.
pub fn queue(kept: &Option<(Kept, Format)>) -> Option<KeptRows> {
    match kept {
        Some((Kept::Arrow(rows), _)) => Some(rows.clone()),
        _ => None,
    }
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
