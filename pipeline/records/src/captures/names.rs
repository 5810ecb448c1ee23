//! Capture fields and their names in different programs: one list for JSON Lines and for every table.
//!
//! Letter case, `-`, `_`, `.` and spaces are ignored, so `statusCode`, `Status Code` and `response.status` are
//! recognized too. Unknown names are reported as unused ([`NameUse`]).
//!
//! ```
//! use std::io::Write;
//!
//! use reptile_records::captures::names::{Field, NameUse};
//! use reptile_records::{Item, ReadOptions, Reading, open::Input, spill::Scratch, warc::InputPlace};
//!
//! let mut table = tempfile::NamedTempFile::new()?;
//! table.write_all(b"url,Status Code,id\nhttps://example.com/robots.txt,404,7\n")?;
//!
//! let options = ReadOptions::default();
//! let reading = Reading::new(&options, Scratch::default());
//! let mut names = NameUse::default();
//! reading.read(Input::open(table.path())?, InputPlace::default(), &mut |item| {
//!     if let Item::Names(part) = item {
//!         names.extend(part);
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(names.used(), "url, status (Status Code)");
//! assert_eq!(names.unused().as_deref(), Some("id"));
//! assert!(Field::Status.names().contains(&"status_code"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;
use std::sync::LazyLock;

use reptile::limits::{MAX_BODY_BYTES, MAX_URL_BYTES};

use crate::shown::shown;

/// Maximum bytes in a cell with a word or a number.
const MAX_WORD_BYTES: usize = 1 << 10;

/// Maximum bytes in a base64 body, including its line ends.
const MAX_BASE64_BYTES: usize = 2 * MAX_BODY_BYTES;

/// Maximum bytes in a header field value. Servers and clients reject header fields over 8 or 16 KiB.
pub(crate) const MAX_HEADER_BYTES: usize = 64 << 10;

/// Maximum number of used or unused names in a report.
pub(crate) const MAX_LISTED_NAMES: usize = 32;

/// Maximum bytes in a name without separators.
const MAX_NAME_BYTES: usize = 32;

/// Maximum bytes in a name in a report.
const MAX_SHOWN_NAME_BYTES: usize = 64;

/// A capture field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Field {
    /// The first request's URL, before any redirect.
    Url,
    /// The last response's HTTP status.
    Status,
    /// The fetch time.
    Time,
    /// The last response's body.
    Body,
    /// The body in base64. It takes precedence over a text body.
    Base64,
    /// The error, if there was no response.
    Error,
    /// Whether the fetch got no response.
    Failed,
    /// Whether, or why, the body is truncated.
    Truncated,
    /// The redirect count.
    Redirects,
    /// The last response's Content-Type.
    ContentType,
    /// The last response's Cache-Control.
    CacheControl,
    /// All header fields in the last response, which only JSON can hold.
    Headers,
}

/// Number of fields that can be table cells: all but the last.
pub(crate) const CELLS: usize = Field::Headers as usize;

/// The number of fields.
pub(crate) const FIELDS: usize = CELLS + 1;

/// The fields in order, with a cell's maximum bytes and the field's names. The first name is used in the documentation.
const NAMES: [(Field, usize, &[&str]); FIELDS] = [
    (
        Field::Url,
        MAX_URL_BYTES,
        &[
            "url",
            "uri",
            "robots_url",
            "robots_uri",
            "robots_txt_url",
            "request_url",
            "requested_url",
            "fetch_url",
            "target_url",
            "target_uri",
            "warc_target_uri",
            "original",
            "original_url",
            "u",
        ],
    ),
    (
        Field::Status,
        MAX_WORD_BYTES,
        &[
            "status",
            "status_code",
            "fetch_status",
            "fetch_status_code",
            "http_status",
            "http_status_code",
            "http_code",
            "http_response_code",
            "response_code",
            "response_status",
            "response_status_code",
            "robots_status",
            "sc_status",
        ],
    ),
    (
        Field::Time,
        MAX_WORD_BYTES,
        &[
            "time",
            "timestamp",
            "ts",
            "tstamp",
            "date",
            "datetime",
            "fetch_time",
            "fetch_date",
            "fetch_timestamp",
            "fetched",
            "fetched_at",
            "crawl_time",
            "crawl_date",
            "crawl_timestamp",
            "crawled_at",
            "capture_time",
            "capture_date",
            "capture_timestamp",
            "captured_at",
            "warc_date",
            "retrieved_at",
            "downloaded_at",
            "scraped_at",
            "requested_at",
            "visited_at",
        ],
    ),
    (
        Field::Body,
        MAX_BODY_BYTES,
        &[
            "body",
            "content",
            "text",
            "html",
            "payload",
            "robots_txt",
            "raw_content",
            "body_text",
            "response_body",
            "response_content",
            "response_text",
            "p",
        ],
    ),
    (
        Field::Base64,
        MAX_BASE64_BYTES,
        &[
            "body_base64",
            "content_base64",
            "payload_base64",
            "response_body_base64",
            "body_b64",
            "content_b64",
            "payload_b64",
            "http_response_body",
        ],
    ),
    (
        Field::Error,
        MAX_WORD_BYTES,
        &[
            "error",
            "err",
            "error_message",
            "error_msg",
            "error_text",
            "exception",
            "failure",
            "fetch_error",
            "download_error",
            "network_error",
        ],
    ),
    (Field::Failed, MAX_WORD_BYTES, &["failed", "has_failed", "is_failed", "fetch_failed"]),
    (
        Field::Truncated,
        MAX_WORD_BYTES,
        &["truncated", "is_truncated", "content_truncated", "body_truncated", "warc_truncated"],
    ),
    (
        Field::Redirects,
        MAX_WORD_BYTES,
        &["redirects", "redirect_count", "redirects_count", "num_redirects", "number_of_redirects", "redirect_times"],
    ),
    (
        Field::ContentType,
        MAX_HEADER_BYTES,
        &[
            "content_type",
            "content_mime_type",
            "mime",
            "mime_type",
            "media_type",
            "response_content_type",
            "headers_content_type",
            "response_headers_content_type",
        ],
    ),
    (
        Field::CacheControl,
        MAX_HEADER_BYTES,
        &["cache_control", "response_cache_control", "headers_cache_control", "response_headers_cache_control"],
    ),
    (Field::Headers, 0, &["headers", "response_headers", "http_headers"]),
];

impl Field {
    /// Returns all fields.
    pub(crate) fn all() -> impl Iterator<Item = Field> {
        NAMES.iter().map(|&(field, ..)| field)
    }

    /// Returns the name in the documentation.
    pub(crate) fn name(self) -> &'static str {
        self.names().first().copied().unwrap_or_default()
    }

    /// Returns all names, without variants that differ only in case and separators.
    pub fn names(self) -> &'static [&'static str] {
        NAMES[self as usize].2
    }

    /// Returns a cell's maximum bytes.
    pub(crate) const fn limit(self) -> usize {
        NAMES[self as usize].1
    }

    /// Returns the field with a name, if there is one.
    pub(crate) fn of_name(name: &[u8]) -> Option<Field> {
        // Nearly all keys are in this list.
        match name {
            b"url" => return Some(Field::Url),
            b"status" => return Some(Field::Status),
            b"time" => return Some(Field::Time),
            b"body" => return Some(Field::Body),
            b"headers" => return Some(Field::Headers),
            _ => {}
        }
        let mut buffer = [0; MAX_NAME_BYTES];
        let folded = fold(name, &mut buffer)?;
        let place = BY_NAME.binary_search_by(|(known, _)| (**known).cmp(folded)).ok()?;
        Some(BY_NAME[place].1)
    }
}

/// The folded names, sorted.
static BY_NAME: LazyLock<Vec<(Box<[u8]>, Field)>> = LazyLock::new(|| {
    let mut buffer = [0; MAX_NAME_BYTES];
    let mut all: Vec<(Box<[u8]>, Field)> = NAMES
        .iter()
        .flat_map(|(field, _, names)| names.iter().map(move |name| (*field, *name)))
        .filter_map(|(field, name)| Some((fold(name.as_bytes(), &mut buffer)?.into(), field)))
        .collect();
    all.sort_unstable();
    all
});

/// Returns a name in lower case without separators, or `None` if that is empty or too long. Takes at most one step for
/// each of [`MAX_SHOWN_NAME_BYTES`] bytes.
fn fold<'b>(name: &[u8], buffer: &'b mut [u8; MAX_NAME_BYTES]) -> Option<&'b [u8]> {
    if name.len() > MAX_SHOWN_NAME_BYTES {
        return None;
    }
    let mut len = 0;
    for byte in name.iter().filter(|byte| !b"-_. ".contains(byte)) {
        *buffer.get_mut(len)? = byte.to_ascii_lowercase();
        len += 1;
    }
    (len > 0).then_some(&buffer[..len])
}

/// Used and unused column or key names.
///
/// If there are more than [`MAX_LISTED_NAMES`], the first in alphabetical order are kept, regardless of input order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameUse {
    used: BTreeSet<(Field, String)>,
    unused: BTreeSet<String>,
    has_more: bool,
}

impl NameUse {
    /// Records a known name.
    pub(crate) fn add_used(&mut self, field: Field, name: &[u8]) {
        self.used.insert((field, text_of(name)));
        self.trim();
    }

    /// Records an unknown name.
    pub(crate) fn add_unused(&mut self, name: &[u8]) {
        self.unused.insert(text_of(name));
        self.trim();
    }

    /// Records that there are further names.
    pub(crate) fn add_more(&mut self) {
        self.has_more = true;
    }

    /// Adds the names from another part of the input, or from another input.
    pub fn extend(&mut self, other: NameUse) {
        self.has_more |= other.has_more;
        self.used.extend(other.used);
        self.unused.extend(other.unused);
        self.trim();
    }

    /// Returns whether no name was recorded.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty() && self.unused.is_empty()
    }

    /// Drops surplus names.
    fn trim(&mut self) {
        while self.used.len() > MAX_LISTED_NAMES {
            self.used.pop_last();
            self.has_more = true;
        }
        while self.unused.len() > MAX_LISTED_NAMES {
            self.unused.pop_last();
            self.has_more = true;
        }
    }

    /// Returns the used names in field order: each field, followed by its other names in parentheses.
    pub fn used(&self) -> String {
        let of_field = |field: Field| {
            let names: Vec<&str> =
                self.used.iter().filter(|(used, _)| *used == field).map(|(_, name)| &**name).collect();
            match names[..] {
                [] => None,
                [name] if name == field.name() => Some(name.to_owned()),
                _ => Some(format!("{} ({})", field.name(), names.join(", "))),
            }
        };
        Field::all().filter_map(of_field).collect::<Vec<_>>().join(", ")
    }

    /// Returns the unused names, or `None` if all were used.
    pub fn unused(&self) -> Option<String> {
        let names = self.unused.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        match (names.is_empty(), self.has_more) {
            (true, false) => None,
            (true, true) => Some("some more".into()),
            (false, false) => Some(names),
            (false, true) => Some(names + " and more"),
        }
    }
}

/// Returns a name as a report shows it.
fn text_of(name: &[u8]) -> String {
    match name.get(..MAX_SHOWN_NAME_BYTES) {
        Some(start) if name.len() > MAX_SHOWN_NAME_BYTES => format!("{}...", shown(start)),
        _ if name.is_empty() => "\"\"".into(),
        _ => shown(name),
    }
}

/// A capture table's columns.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// Each field's column in the table, from 0.
    numbers: [Option<usize>; CELLS],
    /// Each column's field.
    fields: Vec<Option<Field>>,
    /// The column names.
    pub names: NameUse,
}

impl Header {
    /// Creates a header from column names.
    ///
    /// # Errors
    /// Returns an error if two columns name the same field, because it is unknown which one counts.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> Result<Header, String> {
        let mut header = Header { numbers: [None; CELLS], fields: Vec::new(), names: NameUse::default() };
        let mut first: [&[u8]; CELLS] = [b""; CELLS];
        for (number, name) in names.into_iter().map(<[u8]>::trim_ascii).enumerate() {
            let field = Field::of_name(name).filter(|&field| field != Field::Headers);
            header.fields.push(field);
            let Some(field) = field else {
                header.names.add_unused(name);
                continue;
            };
            if header.numbers[field as usize].replace(number).is_some() {
                return Err(two_names(field, first[field as usize], name));
            }
            first[field as usize] = name;
            header.names.add_used(field, name);
        }
        Ok(header)
    }

    /// Returns the number of columns.
    pub fn count(&self) -> usize {
        self.fields.len()
    }

    /// Returns a column's field, if it is used.
    pub fn field(&self, number: usize) -> Option<Field> {
        self.fields.get(number).copied().flatten()
    }

    /// Returns a field's column.
    pub fn number(&self, field: Field) -> Option<usize> {
        self.numbers.get(field as usize).copied().flatten()
    }
}

/// Returns the message for a field with two names.
pub(crate) fn two_names(field: Field, first: &[u8], second: &[u8]) -> String {
    let (first, second) = (text_of(first), text_of(second));
    format!("\"{first}\" and \"{second}\" are both names of the {}: rename one of them, or leave it out", field.name())
}

/// The columns that locate WARC records: the file's name, and the record's offset and length in bytes.
pub(crate) struct RecordPlaces {
    pub file: usize,
    pub offset: usize,
    pub len: usize,
}

/// The names of these columns in Common Crawl's columnar index.
const RECORD_PLACES: [&str; 3] = ["warc_filename", "warc_record_offset", "warc_record_length"];

impl RecordPlaces {
    /// Returns the columns, or `None` if the table has none of them.
    ///
    /// # Errors
    /// Returns an error if the table has only some of them, or if two have the same name.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> Result<Option<RecordPlaces>, String> {
        let mut numbers = [None; RECORD_PLACES.len()];
        let mut buffer = [0; MAX_NAME_BYTES];
        let mut wanted_buffer = [0; MAX_NAME_BYTES];
        for (number, name) in names.into_iter().enumerate() {
            let Some(folded) = fold(name.trim_ascii(), &mut buffer) else { continue };
            for (place, known) in numbers.iter_mut().zip(RECORD_PLACES) {
                if fold(known.as_bytes(), &mut wanted_buffer).is_some_and(|known| known == folded)
                    && place.replace(number).is_some()
                {
                    return Err(format!("has two columns named \"{known}\""));
                }
            }
        }
        match numbers {
            [Some(file), Some(offset), Some(len)] => Ok(Some(RecordPlaces { file, offset, len })),
            [None, None, None] => Ok(None),
            _ => {
                let missing = numbers.iter().zip(RECORD_PLACES).find(|(number, _)| number.is_none());
                let name = missing.map_or("", |(_, name)| name);
                Err(format!("has some columns of an index of WARC records, but no column \"{name}\""))
            }
        }
    }
}

/// A table's kind, according to its column names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableKind {
    /// A table without a named URL column.
    Other,
    /// A URL table without any column that suggests captures.
    Urls,
    /// A capture table.
    Captures,
}

impl TableKind {
    /// Returns the table kind for these column names.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> TableKind {
        let (mut has_url, mut is_telling, mut count) = (false, false, 0);
        for name in names {
            count += 1;
            match Field::of_name(name.trim_ascii()) {
                Some(Field::Url) => has_url = true,
                Some(Field::Body | Field::Base64 | Field::Status) => is_telling = true,
                _ => {}
            }
        }
        match (has_url && count > 1, is_telling) {
            (false, _) => TableKind::Other,
            (true, false) => TableKind::Urls,
            (true, true) => TableKind::Captures,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_belongs_to_one_field() {
        let mut count = 0;
        for field in Field::all() {
            assert_eq!(NAMES[field as usize].0, field);
            for name in field.names() {
                count += 1;
                let camel: String = name.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect();
                for written in
                    [name.to_string(), name.to_uppercase(), name.replace('_', "-"), name.replace('_', " "), camel]
                {
                    assert_eq!(Field::of_name(written.as_bytes()), Some(field), "{written}");
                }
            }
        }
        assert_eq!(BY_NAME.len(), count);
        assert!(BY_NAME.windows(2).all(|pair| pair[0].0 < pair[1].0), "a name of two fields");
        for name in ["", "_", "urls", "http_code_x", "redirect", "elapsed", "code", "url_host_name", "content_digest"] {
            assert_eq!(Field::of_name(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn the_guide_lists_every_name() {
        // The guide documents `error` instead of `failed`.
        let mut fields = Field::all().filter(|field| *field != Field::Failed);
        let rows = include_str!("../../../../cli/guide/compile.md").lines().filter(|line| line.starts_with("| `"));
        for row in rows {
            let field = fields.next().unwrap();
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let names: Vec<String> = field.names().iter().map(|name| format!("`{name}`")).collect();
            assert_eq!((cells[1], cells[2]), (&*names[0], &*names.join(", ")));
        }
        assert_eq!(fields.next(), None);
    }

    #[test]
    fn long_names_are_ignored() {
        for (len, is_known) in
            [(MAX_SHOWN_NAME_BYTES - 1, true), (MAX_SHOWN_NAME_BYTES, true), (MAX_SHOWN_NAME_BYTES + 1, false)]
        {
            let name = format!("st_{}atus", "_".repeat(len - 7));
            assert_eq!(Field::of_name(name.as_bytes()).is_some(), is_known, "{len}");
        }
        for len in [MAX_NAME_BYTES - 1, MAX_NAME_BYTES, MAX_NAME_BYTES + 1] {
            assert_eq!(fold(&vec![b'x'; len], &mut [0; MAX_NAME_BYTES]).is_some(), len <= MAX_NAME_BYTES);
        }
    }

    #[test]
    fn name_lists_are_bounded_and_independent_of_order() {
        for (count, has_more) in
            [(MAX_LISTED_NAMES - 1, false), (MAX_LISTED_NAMES, false), (MAX_LISTED_NAMES + 1, true)]
        {
            let names: Vec<String> = (0..count).map(|number| format!("x{number:03}")).collect();
            let (mut all, mut parts) = (NameUse::default(), NameUse::default());
            names.iter().for_each(|name| all.add_unused(name.as_bytes()));
            for name in names.iter().rev() {
                let mut part = NameUse::default();
                part.add_unused(name.as_bytes());
                parts.extend(part);
            }
            assert_eq!(all, parts);
            let listed = all.unused().unwrap();
            assert_eq!(listed.ends_with(" and more"), has_more, "{listed}");
            assert_eq!(listed.split(", ").count(), count.min(MAX_LISTED_NAMES));
        }
    }

    #[test]
    fn two_columns_for_one_field_are_an_error() {
        let header = |text: &str| Header::new(text.split(',').map(str::as_bytes));
        let error = header("url,status,Fetch-Status").unwrap_err();
        assert_eq!(
            error,
            "\"status\" and \"Fetch-Status\" are both names of the status: rename one of them, or leave it out"
        );
        let header = header("id,URL, Status Code ,headers,content,body_base64").unwrap();
        assert_eq!(header.names.used(), "url (URL), status (Status Code), body (content), body_base64");
        assert_eq!(header.names.unused().unwrap(), "headers, id");
        assert_eq!((header.count(), header.number(Field::Status), header.field(4)), (6, Some(2), Some(Field::Body)));
    }
}
