//! The columns that a Parquet output keeps from URLS: `--keep-columns`, or all with `--add-columns` and `--only`.

use std::path::Path;

use super::written::WrittenOptions;
use crate::error::{Failure, Result};
use reptile_columns::KeptColumns;
use reptile_records::parquet::kept::Kept;
use reptile_records::tables::source::Source;

/// Returns the columns that the output keeps from a Parquet file, or `None` if it keeps none or keeps text rows.
///
/// # Errors
/// Returns an error if a column is missing or cannot be kept, or if the options do not fit the format of URLS.
pub fn kept_columns(written: &WrittenOptions, source: &Source, urls: &Path) -> Result<Option<Kept>> {
    let named = written.keep_columns();
    let Source::Parquet(file, _) = source else {
        return match named {
            Some(_) => Err(Failure::at(
                urls,
                "--keep-columns: is text, expected a Parquet file; --add-columns keeps the rows of text",
            )),
            None => Ok(None),
        };
    };
    if named.is_none() && !written.has_rows() {
        return Ok(None);
    }
    let option = if named.is_some() { "--keep-columns" } else { written.option_for_rows() };
    if !written.has_rows() && !written.is_parquet() {
        let message = "expected Parquet output, in which kept columns keep their types; name an output .parquet, or give \
                       --format parquet";
        return Err(Failure::new(format!("--keep-columns: {message}")));
    }
    let selection = named.unwrap_or(&KeptColumns::All);
    let places = selection.places(&file.field_names());
    let places = places.map_err(|error| Failure::at(urls, format!("{option}: {error}")))?;
    Ok(Some(Kept::new(file, &places)?))
}
