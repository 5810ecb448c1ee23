//! Recognizes an index of WARC records in text, and finds its columns by the names that Common Crawl, CDXJ and index
//! servers use.

use crate::captures::names::Field;
use crate::tables::{ColumnOption, is_cdxj, is_marked};

/// The names of a record's file, offset, length and time, in Common Crawl's columnar index and in CDXJ.
const NAMES: [[&str; 4]; 2] = [
    ["warc_filename", "warc_record_offset", "warc_record_length", "fetch_time"],
    ["filename", "offset", "length", TIME],
];

/// The name of the time in CDXJ. The time is a part of each line, not a field.
const TIME: &str = "timestamp";

/// The option that needs such an index.
const OPTION: &str = "--warc-root";

/// The columns of an index.
pub(super) struct Names {
    pub(super) places: [&'static str; 3],
    time: Option<&'static str>,
    has_url: bool,
}

impl Names {
    /// Returns the columns that the start of an index names, or `None` if it names no WARC files.
    pub(super) fn of(start: &[u8]) -> Option<Names> {
        let line = first_line(start);
        let has = |name: &str| words(line).any(|word| word.eq_ignore_ascii_case(name.as_bytes()));
        let (is_cdxj, is_described) = (is_cdxj(line), is_described(line));
        let [file, offset, len, time] =
            *NAMES.iter().find(|names| has(names[0]) || (names[3] == TIME && is_described))?;
        let time = (is_cdxj || is_described || has(time)).then_some(time);
        Some(Names { places: [file, offset, len], time, has_url: has("url") && !is_cdxj })
    }

    /// Returns the columns to read, with the URL first and the time last.
    pub(super) fn wanted(&self) -> Vec<ColumnOption> {
        let wanted = |name: &str| ColumnOption { option: OPTION, name: Some(name.to_owned()) };
        let url = ColumnOption { option: OPTION, name: self.has_url.then(|| "url".to_owned()) };
        [url].into_iter().chain(self.places.map(wanted)).chain(self.time.map(wanted)).collect()
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

/// Returns whether a line is a CDX legend, which has letters instead of names, or a CDXJ file's header line.
fn is_described(line: &[u8]) -> bool {
    line.starts_with(b" CDX") || is_marked(line)
}

fn first_line(start: &[u8]) -> &[u8] {
    start.split(|&byte| byte == b'\n').next().unwrap_or_default()
}

/// Returns the words of a line: column names, or names and other words in JSON.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
}
