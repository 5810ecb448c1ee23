//! What the first lines of a table look like, to choose a format and to say what else a list of invalid lines could be.

use std::path::Path;

use super::csv::plain_cells;
use super::log::shape::is_log;
use super::{Format, Wanted, cdxj};

/// The names of a column of URLs, in lower case, that are found without being asked for.
const URL_NAMES: [&str; 2] = ["url", "uri"];

/// Whether a cell looks like a URL: a scheme and `://` at its start.
pub fn is_url(cell: &[u8]) -> bool {
    let scheme = cell.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    scheme > 0 && cell[scheme..].starts_with(b"://")
}

/// Whether a name of a column says that it has URLs.
pub fn is_url_name(name: &[u8]) -> bool {
    URL_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// The format of a table by its first line, by the name of its file, and by whether the user has asked for a column.
pub fn format_of(line: &[u8], path: &Path, wanted: &[Wanted]) -> Format {
    if line.trim_ascii_start().starts_with(b"{") {
        return Format::Jsonl;
    }
    if is_log(line) {
        return Format::Log;
    }
    if cdxj::is_cdxj(line) || cdxj::is_marked(line) {
        return Format::Cdxj;
    }
    let named = format_of_name(path);
    if let Some(format) = named {
        return format;
    }
    let (mut tabs, mut commas) = (plain_cells(line, b'\t'), plain_cells(line, b','));
    let has_tab = line.contains(&b'\t');
    let is_row = |cells: &mut dyn Iterator<Item = &[u8]>| {
        let (mut names, mut urls) = (0, 0);
        for cell in cells {
            names += usize::from(is_url_name(cell.trim_ascii_end()));
            urls += usize::from(is_url(cell));
        }
        (names, urls)
    };
    match (is_row(&mut tabs), is_row(&mut commas)) {
        ((1, 0), _) => Format::Tsv,
        ((0, 1), _) if has_tab => Format::Tsv,
        (_, (1, 0)) => Format::Csv,
        _ if wanted.iter().any(|wanted| wanted.name.is_some()) => {
            if has_tab {
                Format::Tsv
            } else {
                Format::Csv
            }
        }
        // No URL has a quote at its start.
        _ if line.starts_with(b"\"") => Format::Csv,
        _ => Format::List,
    }
}

/// The format that the end of a name stands for; that of packed bytes does not count.
fn format_of_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let packed = [".gz", ".zst", ".bz2", ".xz"];
    let name = packed.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let ends = [
        (".cdxj", Format::Cdxj),
        (".tsv", Format::Tsv),
        (".tab", Format::Tsv),
        (".csv", Format::Csv),
        (".jsonl", Format::Jsonl),
        (".ndjson", Format::Jsonl),
    ];
    ends.into_iter().find_map(|(end, format)| name.ends_with(end).then_some(format))
}

/// What lines look like that are not what a table should have, with what to do about it. `None` if they look like nothing
/// known.
pub fn looks_like(sample: &[u8], format: Format) -> Option<&'static str> {
    if format == Format::Parquet {
        return None;
    }
    let lines: Vec<&[u8]> = sample.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    let most = |is: &dyn Fn(&[u8]) -> bool| lines.iter().filter(|line| is(line)).count() * 2 > lines.len();
    let has = |line: &[u8], text: &[u8]| memchr::memmem::find(line, text).is_some();
    let is_format = |other: Format| format != other;
    if is_format(Format::Log) && most(&is_log) {
        return Some("an access log: give --input-format log");
    }
    if is_format(Format::Cdxj) && most(&cdxj::is_cdxj) {
        return Some("CDXJ: give --input-format cdxj");
    }
    if is_format(Format::Log) && most(&|line| has(line, b" HTTP/")) {
        return Some("an access log in a format of its own: cut the URLs out of it first");
    }
    if is_format(Format::Jsonl) && most(&|line| line.trim_ascii_start().starts_with(b"{")) {
        return Some("JSON Lines: give --input-format jsonl");
    }
    if is_format(Format::Tsv) && most(&|line| line.contains(&b'\t')) {
        return Some("TSV: give --input-format tsv, and the column with --url-column");
    }
    if is_format(Format::Csv) && most(&|line| line.contains(&b',')) {
        return Some("CSV: give --input-format csv, and the column with --url-column");
    }
    let is_host = |line: &[u8]| line.contains(&b'.') && !line.contains(&b' ') && !has(line, b"://");
    most(&is_host).then_some("URLs without a scheme: write https:// before each")
}
