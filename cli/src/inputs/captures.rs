//! Captures of robots.txt files in the columns of a table: the columns, and what their cells mean.
//!
//! The names are those of the fields of a capture in JSON Lines. A cell is written as a text, or of the type that fits where
//! a table has types. [`Lines`] are the lines of an input with a capture on each.

use std::fmt::Write as _;

use reptile_compiler::capture::{Capture, Truncation};
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_compiler::set::origin::{OwnedOrigin, RobotsUrlError};
use reptile_engine::url::MAX_URL_BYTES;

use super::bodies::{TOO_LARGE, no_memory};
use super::jsonl::{self, Body, base64_body};
use super::shown::shown;
use super::time::read_time;
use super::tsv;
use super::{Item, Robots, Sink};
use crate::error::Result;

/// Bytes of a cell that is a word or a number.
const MAX_WORD_BYTES: usize = 1 << 10;

/// Bytes of a body in base64, with its line ends.
const MAX_BASE64_BYTES: usize = 2 * MAX_BODY_BYTES;

/// The columns of a capture, each with the most bytes of its cells and with its names, of which the first that the table has
/// counts.
pub const COLUMNS: [(usize, &[&str]); 8] = [
    (MAX_URL_BYTES, &["url", "uri"]),
    (MAX_WORD_BYTES, &["status"]),
    (MAX_WORD_BYTES, &["time"]),
    (MAX_BODY_BYTES, &["body", "content"]),
    (MAX_BASE64_BYTES, &["body_base64", "content_base64", "body_b64", "content_b64"]),
    (MAX_WORD_BYTES, &["error"]),
    (MAX_WORD_BYTES, &["truncated"]),
    (MAX_WORD_BYTES, &["redirects"]),
];

/// A cell of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'b> {
    /// Its bytes.
    Text(&'b [u8]),
    /// There is nothing in it.
    Null,
    /// It is longer than what is kept.
    TooLong,
}

#[cfg(test)]
impl<'b> Cell<'b> {
    /// The bytes, if there are any.
    pub fn text(self) -> Option<&'b [u8]> {
        if let Cell::Text(text) = self { Some(text) } else { None }
    }
}

/// The lines of an input with a capture on each.
pub struct Lines {
    /// The path of the input.
    pub path: String,
    /// The columns of TSV; without them the lines are JSON.
    pub columns: Option<tsv::Columns>,
}

impl Lines {
    /// The name of a line.
    pub fn name(&self, number: u64) -> String {
        // Made for each line, whether something is said of it or not, so there is room for all of it from the start.
        let mut name = String::with_capacity(self.path.len() + ":18446744073709551615".len());
        name.push_str(&self.path);
        // Writing to a text cannot fail.
        let _ = write!(name, ":{number}");
        name
    }

    /// Gives the capture on each line of some that follow each other, or what is wrong with the line. Blank lines are left
    /// out. `first` is the number of the first line.
    ///
    /// # Errors
    /// If there is no memory for a body, and the errors of the sink.
    pub fn read(&self, bytes: &[u8], first: u64, sink: &mut Sink<'_>) -> Result<()> {
        let mut json = jsonl::FieldReader::new(bytes);
        let unended = bytes.last().is_some_and(|&byte| byte != b'\n').then_some(bytes.len());
        let mut start = 0;
        for (number, end) in (first..).zip(memchr::memchr_iter(b'\n', bytes).chain(unended)) {
            let line = start..end;
            start = end + 1;
            let text = &bytes[line.clone()];
            if text.trim_ascii().is_empty() {
                continue;
            }
            sink(match &self.columns {
                None => jsonl::item(&mut json, line, self.name(number))?,
                Some(columns) => columns.item(text, self.name(number))?,
            })?;
        }
        Ok(())
    }
}

/// Why a row is not a capture: in the same words for all such rows, and the details.
type Bad = (&'static str, String);

/// The reason of most of them.
pub const NO_CAPTURE: &str = "not a valid capture";

/// The capture of a row, or what is wrong with it.
///
/// # Errors
/// If there is no memory for its body.
pub fn item(name: String, cells: [Cell<'_>; COLUMNS.len()]) -> Result<Item> {
    Ok(match capture(cells) {
        Ok((_, Some(Body::NoMemory(len)), _)) => return Err(no_memory(&name, len as u64)),
        Ok((_, Some(Body::TooLarge(len)), _)) => {
            Item::Bad { name, reason: TOO_LARGE, detail: format!("{len} bytes; the limit is {MAX_BODY_BYTES}") }
        }
        Ok((capture, body, origin)) => {
            let body = body.and_then(|body| if let Body::Whole(body) = body { Some(body) } else { None });
            Item::Robots(Robots { name, origins: vec![origin], capture, body, is_file: false, fetch: None })
        }
        Err((reason, detail)) => Item::Bad { name, reason, detail },
    })
}

fn capture(cells: [Cell<'_>; COLUMNS.len()]) -> std::result::Result<(Capture, Option<Body>, OwnedOrigin), Bad> {
    let [url, status, time, body, base64, error, truncated, redirects] = cells;
    let origin = match url {
        Cell::Text(url) => OwnedOrigin::of_robots_url(url).map_err(|error| match error {
            RobotsUrlError::OtherPath => ("not the url of a robots.txt", format!("\"{}\"", shown(url))),
            error => ("no valid url", format!("\"{}\": {error}", shown(url))),
        })?,
        Cell::Null => return Err(("no valid url", String::new())),
        Cell::TooLong => return Err(("no valid url", format!("more than {MAX_URL_BYTES} bytes"))),
    };
    let body = match (base64, body) {
        (Cell::Text(text), _) => Some(base64_body(text).map_err(|text| (NO_CAPTURE, text.to_owned()))?),
        (Cell::Null, Cell::Text(body)) => Some(copy_of(body)),
        (Cell::Null, Cell::Null) => None,
        (Cell::TooLong, _) | (Cell::Null, Cell::TooLong) => {
            return Err((TOO_LARGE, format!("more than {MAX_BODY_BYTES} bytes")));
        }
    };
    let capture = Capture {
        status: word(status, status_of)?,
        time: word(time, |text| read_time(text.trim()))?,
        truncated: word(truncated, truncation_of)?.flatten(),
        has_failed: word(error, |text| Ok(!text.is_empty()))?.unwrap_or(false),
        redirects: word(redirects, redirects_of)?.unwrap_or(0),
        ..Capture::default()
    };
    Ok((capture, body, origin))
}

fn copy_of(body: &[u8]) -> Body {
    let mut copy = Vec::new();
    if copy.try_reserve_exact(body.len()).is_err() {
        return Body::NoMemory(body.len());
    }
    copy.extend_from_slice(body);
    Body::Whole(copy)
}

/// The meaning of a cell that is a word or a number, if there is one.
fn word<T>(
    cell: Cell<'_>,
    read: impl Fn(&str) -> std::result::Result<T, String>,
) -> std::result::Result<Option<T>, Bad> {
    let bad = |detail: String| (NO_CAPTURE, detail);
    match cell {
        Cell::Null => Ok(None),
        // The text itself does not matter, only that there is one.
        Cell::TooLong => read("a long text").map(Some).map_err(bad),
        Cell::Text(text) => {
            let word = str::from_utf8(text).map_err(|_| bad(format!("not UTF-8: \"{}\"", shown(text))))?;
            read(word).map(Some).map_err(bad)
        }
    }
}

fn status_of(text: &str) -> std::result::Result<u16, String> {
    let status = text.trim().parse().ok().filter(|status| (100..=999).contains(status));
    status.ok_or_else(|| format!("expected a status, a number from 100 to 999, found \"{}\"", shown(text.as_bytes())))
}

fn redirects_of(text: &str) -> std::result::Result<u32, String> {
    let count: Option<u64> = text.trim().parse().ok();
    let count = count.map(|count| count.try_into().unwrap_or(u32::MAX));
    count.ok_or_else(|| format!("expected the number of redirects, found \"{}\"", shown(text.as_bytes())))
}

fn truncation_of(text: &str) -> std::result::Result<Option<Truncation>, String> {
    match text {
        "false" | "" => Ok(None),
        "true" => Ok(Some(Truncation::Unspecified)),
        word => Truncation::from_name(word).map(Some).ok_or_else(|| {
            let expected = "true, false, \"length\", \"time\", \"disconnect\" or \"unspecified\"";
            format!("expected {expected} for truncated, found \"{}\"", shown(word.as_bytes()))
        }),
    }
}
