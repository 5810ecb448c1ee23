//! Examines a table's first lines to choose a format, and to suggest another format if most lines are invalid.

use std::fmt;

use reptile::body::has_directive;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};

use super::cdx::Legend;
use super::log::shape::is_log;
use super::log::w3c::names::Head;
use super::row::is_url;
use super::{COMMA, Format, Table, cdx, cdxj};
use crate::lines::{trimmed_url, without_line_end};
use crate::place::Place;
use crate::shown::{listed, shown};

/// Returns a table's format according to its file name and its first line, or `None` for a list, TSV or CSV.
///
/// The operator chose a name that ends with `.tsv` or `.csv`. A line that is a URL suggests no format.
pub fn format_of(line: &[u8], path: &Place) -> Option<Format> {
    let named = format_of_name(path);
    if matches!(named, Some(Format::Tsv | Format::Csv)) {
        return named;
    }
    if line.trim_ascii_start().starts_with(b"{") {
        return Some(Format::Jsonl);
    }
    format_of_line(line).or(named)
}

/// Returns the format of a line that can only be a request or an entry in a web archive's index.
fn format_of_line(line: &[u8]) -> Option<Format> {
    if is_log(line) {
        return Some(Format::Log);
    }
    if Legend::of(line).is_some() || cdx::is_row(line) {
        return Some(Format::Cdx);
    }
    let is_cdxj = (cdxj::is_cdxj(line) && !is_url(line.trim_ascii_start())) || cdxj::is_marked(line);
    is_cdxj.then_some(Format::Cdxj)
}

/// Describes text whose lines certainly are requests or captured URLs, so that it is not a robots.txt.
pub(crate) fn requests_or_captures(start: &[u8]) -> Option<&'static str> {
    let line = without_line_end(start.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default());
    let has_fields = match Head::of(start, true) {
        Head::Fields(_, _, line) => memchr::memmem::find(line, b" cs-").is_some(),
        _ => false,
    };
    match format_of_line(line) {
        _ if has_fields => Some("an access log with a #Fields: line"),
        Some(Format::Log) => Some("an access log"),
        Some(Format::Cdx) => Some("an index of a web archive (CDX)"),
        Some(_) => Some("an index of a web archive (CDXJ)"),
        None => None,
    }
}

/// Returns the format for a file name extension, ignoring a compression extension.
fn format_of_name(path: &Place) -> Option<Format> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let packed = [".gz", ".zst", ".bz2", ".xz"];
    let name = packed.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let ends = [
        (".cdx", Format::Cdx),
        (".cdxj", Format::Cdxj),
        (".tsv", Format::Tsv),
        (".tab", Format::Tsv),
        (".csv", Format::Csv),
        (".jsonl", Format::Jsonl),
        (".ndjson", Format::Jsonl),
    ];
    ends.into_iter().find_map(|(end, format)| name.ends_with(end).then_some(format))
}

/// Returns advice for a table with mostly invalid rows, or `None` if the rows match no known format. `lacks_cells`
/// means that most invalid rows lack the wanted column.
pub fn hint(sample: &[u8], table: &Table, lacks_cells: bool) -> Option<String> {
    if table.is_columnar() || matches!(table.format, Format::JsonLog | Format::W3cLog) {
        return None;
    }
    let lines: Vec<&[u8]> = sample.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    if table.format == Format::Jsonl && lacks_cells {
        return lines.first().and_then(|line| hint_of_fields(line, table));
    }
    looks_like(&lines, table).map(|what| format!("they look like {what}"))
}

/// Returns the hint for objects without the wanted field.
fn hint_of_fields(line: &[u8], table: &Table) -> Option<String> {
    let mut names = FieldNames::default();
    // The sample may end within the line. The names before that are enough.
    let _ = serde_json::Deserializer::from_slice(line).deserialize_map(&mut names);
    if !line.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let wanted = table.names.first().map_or("the field", String::as_str);
    let names = names.0.iter().map(|name| format!("\"{}\"", shown(name.as_bytes())));
    let fields = if names.len() == 0 { "none".to_owned() } else { listed(names) };
    Some(format!(
        "they are JSON objects without {wanted}; the fields of the first are {fields}; name the field with --url, or the URL's parts with --url 'https://{{HOST}}{{PATH}}'"
    ))
}

/// An object's top-level field names.
#[derive(Default)]
struct FieldNames(Vec<String>);

impl<'de> Visitor<'de> for &mut FieldNames {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key()? {
            self.0.push(name);
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// Returns advice with the likely format for lines that are not table rows.
fn looks_like(lines: &[&[u8]], table: &Table) -> Option<&'static str> {
    let format = table.format;
    let most = |is: &dyn Fn(&[u8]) -> bool| lines.iter().filter(|line| is(line)).count() * 2 > lines.len();
    let has = |line: &[u8], text: &[u8]| memchr::memmem::find(line, text).is_some();
    let is_format = |other: Format| format != other;
    if lines.first().is_some_and(|line| line.starts_with(b"#Software:") || line.starts_with(b"#Version:")) {
        return Some("an access log, but no #Fields: line precedes its first request");
    }
    if is_format(Format::Log) && most(&is_log) {
        return Some("an access log: give --input-format log");
    }
    if is_format(Format::Cdxj) && most(&cdxj::is_cdxj) {
        return Some("CDXJ: give --input-format cdxj");
    }
    if !most(&is_log) && most(&|line| has(line, b" HTTP/")) {
        return Some("an access log in another format: give the server's format with --input-format");
    }
    if format == Format::Log {
        return None;
    }
    let is_object = |line: &[u8]| line.trim_ascii_start().starts_with(b"{");
    if is_format(Format::Jsonl) && most(&is_object) {
        return Some("JSON Lines: give --input-format jsonl");
    }
    // Objects are never rows, valid or not.
    if most(&is_object) {
        return None;
    }
    if most(&|line| line.trim_ascii_end().contains(&b'\r')) {
        return Some("lines that end with CR alone: tr '\\r' '\\n' makes lines of them");
    }
    let has_more = |line: &[u8]| is_url(line) && trimmed_url(without_line_end(line)).contains(&b' ');
    if format == Format::List && most(&has_more) {
        return Some("URLs with other text after a space: give --delimiter space --url 1");
    }
    if format == Format::List && most(&has_directive) {
        return Some("a robots.txt: `reptile test` tests URLs with it");
    }
    if is_format(Format::Tsv) && most(&|line| line.contains(&b'\t')) {
        return Some("TSV: give --input-format tsv, and the column with --url");
    }
    let is_csv_of = |delimiter: u8| format == Format::Csv && table.delimiter == delimiter;
    let delimiters = [
        (COMMA, "CSV: give --input-format csv, and the column with --url"),
        (b';', "CSV with semicolons: give --delimiter semicolon, and the column with --url"),
        (b'|', "CSV with pipes: give --delimiter pipe, and the column with --url"),
    ];
    for (delimiter, what) in delimiters {
        if most(&|line| line.contains(&delimiter)) {
            return (!is_csv_of(delimiter)).then_some(what);
        }
    }
    let is_host = |line: &[u8]| line.contains(&b'.') && !line.contains(&b' ') && !has(line, b"://");
    most(&is_host).then_some("URLs without a scheme: give --scheme https, or write https:// before each")
}
