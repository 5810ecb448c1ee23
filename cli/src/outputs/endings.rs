//! Extensions of output names: `.tsv`, `.csv`, `.jsonl`, `.parquet`, `.arrow`, `.feather` and `.arrows` choose the row
//! format, and may be followed by `.gz` or `.zst` for compression.

use std::path::Path;

use reptile_columns::AnswerFormat;

use crate::error::{Failure, Result};
use reptile_records::place::Place;

/// Extensions of files that are never compiled sets.
const NOT_SETS: [&str; 14] = [
    "tsv", "csv", "json", "jsonl", "ndjson", "parquet", "arrow", "arrows", "feather", "warc", "gz", "zst", "bz2", "xz",
];

/// Returns the format that an output's extension implies, if any.
pub fn format_of(output: &Place) -> Option<AnswerFormat> {
    let name = Path::new(output.file_name()?);
    let end_of = |name: &Path| name.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    let end = match end_of(name)?.as_str() {
        "gz" | "zst" => end_of(Path::new(name.file_stem()?))?,
        end => end.to_owned(),
    };
    match end.as_str() {
        "tsv" => Some(AnswerFormat::Tsv),
        "csv" => Some(AnswerFormat::Csv),
        "jsonl" | "ndjson" => Some(AnswerFormat::Jsonl),
        "parquet" => Some(AnswerFormat::Parquet),
        "arrow" | "feather" => Some(AnswerFormat::Arrow),
        "arrows" => Some(AnswerFormat::ArrowStream),
        _ => None,
    }
}

/// Returns an output's format: the given format, or else the format implied by its extension.
///
/// # Errors
/// Returns an error if the two differ.
pub fn chosen_format(output: Option<&Place>, given: Option<AnswerFormat>) -> Result<Option<AnswerFormat>> {
    let Some((output, named)) = output.and_then(|output| Some((output, format_of(output)?))) else { return Ok(given) };
    match given.filter(|&given| given != named) {
        None => Ok(Some(named)),
        Some(given) => {
            let (named, given) = (named.name(), given.name());
            let message =
                format!("its extension means {named}, but --format is {given}; omit --format or rename the file");
            Err(Failure::at(output, message))
        }
    }
}

/// Returns the message for `--header` with a format that has no lines.
pub fn names_in_schema(format: AnswerFormat) -> &'static str {
    match format {
        AnswerFormat::Parquet => "--header: a Parquet file already has column names in its schema",
        _ => "--header: Arrow already has column names in its schema",
    }
}

/// Rejects an output name for a compiled set if its extension implies another kind of file.
///
/// # Errors
/// Returns an error if the name has the extension of a table, an archive or a compressed file.
pub fn refuse_for_set(output: &Place) -> Result<()> {
    let end = output.extension().map(|end| end.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if !NOT_SETS.contains(&&*end) {
        return Ok(());
    }
    let name = Path::new(output.file_name().unwrap_or_default()).with_extension("reptile");
    let renamed = output.with_file_name(name);
    let name = renamed.display();
    Err(Failure::at(output, format!("the name of a compiled set cannot end in .{end}; write -o {name}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn extensions_choose_the_format() {
        for (name, format) in [
            ("out.tsv", Some(AnswerFormat::Tsv)),
            ("out.CSV", Some(AnswerFormat::Csv)),
            ("a/out.csv.gz", Some(AnswerFormat::Csv)),
            ("out.jsonl.zst", Some(AnswerFormat::Jsonl)),
            ("out.ndjson", Some(AnswerFormat::Jsonl)),
            ("out.parquet", Some(AnswerFormat::Parquet)),
            ("out.arrow", Some(AnswerFormat::Arrow)),
            ("out.Feather", Some(AnswerFormat::Arrow)),
            ("out.arrows.zst", Some(AnswerFormat::ArrowStream)),
            ("out.csv.bz2", None),
            ("out.csv.old", None),
            ("out", None),
            ("csv", None),
            (".csv", None),
            ("out.gz", None),
            ("-", None),
            ("out.csv/x", None),
        ] {
            assert_eq!(format_of(&Place::from(name)), format, "{name}");
            let other = AnswerFormat::Tsv;
            let chosen = chosen_format(Some(&Place::from(name)), Some(other));
            assert_eq!(chosen.is_err(), format.is_some_and(|format| format != other), "{name}");
            assert_eq!(chosen_format(Some(&Place::from(name)), None).unwrap(), format, "{name}");
        }
        assert_eq!(chosen_format(None, Some(AnswerFormat::Csv)).unwrap(), Some(AnswerFormat::Csv));
    }
}
