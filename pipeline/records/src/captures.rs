//! Captures of robots.txt files in table columns, and the meaning of their cells.
//!
//! [`names`] lists the fields and their names, for tables and for JSON Lines. A cell is text, or has the field's
//! natural type if the table has types. [`Lines`] are an input's lines with one capture each.
//!
//! ```
//! use std::io::Write;
//!
//! use reptile_records::{Item, ReadOptions, Reading, open::Input, spill::Scratch, warc::InputPlace};
//!
//! let mut file = tempfile::NamedTempFile::new()?;
//! file.write_all(br#"{"url": "https://example.com/robots.txt", "statusCode": 404}"#)?;
//!
//! let options = ReadOptions::default();
//! let reading = Reading::new(&options, Scratch::default());
//! let mut found = Vec::new();
//! reading.read(Input::open(file.path())?, InputPlace::default(), &mut |item| {
//!     assert!(matches!(item, Item::Lines { count: 1, .. }));
//!     // Parses the lines. Another thread could do this.
//!     item.read(&mut |item| {
//!         if let Some(response) = item.into_response()? {
//!             found.extend(response.captures.into_iter().map(|(_, capture)| capture.status));
//!         }
//!         Ok(())
//!     })
//! })?;
//! assert_eq!(found, [Some(404)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod lines;
pub mod names;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests;

use std::borrow::Cow;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use reptile::capture::Capture;
use reptile::limits::{MAX_BODY_BYTES, MAX_URL_BYTES};
use reptile::urls::RobotsUrlError;
use reptile::{Challenger, Truncation, capture};

use super::bodies::{TOO_LARGE, no_memory};
use super::robots_url::RobotsUrl;
use super::shown::shown;
use super::time::{Zone, read_time};
use super::{Item, Robots};
use crate::Result;
pub use crate::item::Lines;
use names::{CELLS, Field};

/// A table cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell<'b> {
    /// The cell's bytes.
    Text(&'b [u8]),
    /// An empty or missing cell.
    Null,
    /// A cell over its field's limit.
    TooLong,
}

impl<'b> Cell<'b> {
    /// Returns null for an empty text, which means no value in any field but the body.
    fn or_null(self) -> Cell<'b> {
        if self == Cell::Text(b"") { Cell::Null } else { self }
    }

    /// Returns the bytes, if there are any.
    #[cfg(test)]
    pub fn text(self) -> Option<&'b [u8]> {
        if let Cell::Text(text) = self { Some(text) } else { None }
    }
}

/// A body with at most [`MAX_BODY_BYTES`], or the reason why it cannot be kept.
pub(crate) enum Body {
    /// The body's bytes.
    Whole(Vec<u8>),
    /// The body exceeds the limit.
    TooLarge,
    /// The body's length in bytes, which exceeds the available memory.
    NoMemory(usize),
}

impl Body {
    /// Copies a body's text, unless it exceeds the limit.
    pub fn of(text: &[u8]) -> Body {
        if text.len() > MAX_BODY_BYTES {
            return Body::TooLarge;
        }
        let mut copy = Vec::new();
        if copy.try_reserve_exact(text.len()).is_err() {
            return Body::NoMemory(text.len());
        }
        copy.extend_from_slice(text);
        Body::Whole(copy)
    }
}

/// The standard alphabet with optional padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The reason why a row is not a capture, worded the same for all such rows, and the details.
type BadRow = (&'static str, String);

/// The reason for a row with another URL.
const OTHER_URL: &str = "not the url of a robots.txt";

/// The details about another spelling of `/robots.txt`, whose response may belong to another resource.
const OTHER_SPELLING: &str = "another spelling of /robots.txt, whose response is not a robots.txt";

/// The most frequent reason.
pub(crate) const NO_CAPTURE: &str = "not a valid capture";

/// Returns a row's capture, or an item that describes the problem. `zone` is the time zone for times without one. An empty
/// cell has no value, except for a body.
///
/// # Errors
/// Returns an error if there is not enough memory for the body.
pub(crate) fn item(name: String, cells: [Cell<'_>; CELLS], zone: &Zone) -> Result<Item> {
    item_of(name, capture(cells, None, zone))
}

/// Returns the capture of a JSON object like [`item`]. The body's text has already been decoded, and header fields may name
/// a challenger.
///
/// # Errors
/// Returns the errors of [`item`].
pub(crate) fn item_of_json(
    name: String,
    cells: [Cell<'_>; CELLS],
    body: Option<Body>,
    challenger: Option<Challenger>,
    zone: &Zone,
) -> Result<Item> {
    let found = capture(cells, body, zone);
    item_of(name, found.map(|(capture, body, url)| (Capture { challenger, ..capture }, body, url)))
}

/// A capture with its body and its URL, or the reason why there is none.
type CaptureOrReason = std::result::Result<(Capture, Option<Body>, RobotsUrl), BadRow>;

/// Returns the item for a capture.
fn item_of(name: String, found: CaptureOrReason) -> Result<Item> {
    let bad = |name, (reason, detail)| Ok(Item::Bad { name, reason, detail });
    let (capture, body, url) = match found {
        Ok(found) => found,
        Err(found) => return bad(name, found),
    };
    let body = match body {
        None => None,
        Some(Body::Whole(body)) => Some(body),
        Some(Body::TooLarge) => return bad(name, (TOO_LARGE, format!("the limit is {MAX_BODY_BYTES} bytes"))),
        Some(Body::NoMemory(len)) => return Err(no_memory(&name, len as u64)),
    };
    if !url.accepts(&capture, body.as_deref()) {
        return bad(name, (OTHER_URL, OTHER_SPELLING.into()));
    }
    Ok(Item::Robots(Robots { name, origins: vec![url.origin], capture, body, is_file: false, fetch: None }))
}

/// Parses the cells. `text_body` is the text of the body, if it is not in its cell.
fn capture(cells: [Cell<'_>; CELLS], text_body: Option<Body>, zone: &Zone) -> CaptureOrReason {
    let [url, status, time, body, base64, error, failed, truncated, redirects, content_type, cache_control] = cells;
    let robots_url = match url.or_null() {
        Cell::Text(url) => robots_url(url)?,
        Cell::Null => return Err(("no valid url", String::new())),
        Cell::TooLong => return Err(("no valid url", format!("more than {MAX_URL_BYTES} bytes"))),
    };
    let body = match (base64.or_null(), body) {
        (Cell::Text(text), _) => Some(base64_body(text).map_err(|text| (NO_CAPTURE, text.to_owned()))?),
        (Cell::TooLong, _) | (Cell::Null, Cell::TooLong) => Some(Body::TooLarge),
        (Cell::Null, Cell::Text(body)) => Some(Body::of(body)),
        // The base64 of an empty body is an empty text.
        (Cell::Null, Cell::Null) => text_body.or_else(|| matches!(base64, Cell::Text(_)).then(|| Body::of(b""))),
    };
    let capture = Capture {
        status: word(status, status_of)?,
        time: word(time, |text| read_time(text, zone))?,
        truncated: word(truncated, truncation_of)?.flatten(),
        has_failed: word(error, |text| Ok(is_error(text)))?.unwrap_or(false)
            || word(failed, failed_of)?.unwrap_or(false),
        redirects: word(redirects, redirects_of)?.unwrap_or(0),
        media_type: header_of(content_type, Field::ContentType)?.as_deref().and_then(media_type_of),
        max_age: header_of(cache_control, Field::CacheControl)?.as_deref().and_then(capture::max_age),
        // Only JSON has further header fields. The page itself may still indicate a challenge.
        challenger: None,
    };
    Ok((capture, body, robots_url))
}

/// Parses the URL of a capture.
///
/// # Errors
/// Returns an error if it is not the URL of a robots.txt.
fn robots_url(url: &[u8]) -> std::result::Result<RobotsUrl, BadRow> {
    RobotsUrl::of(url).map_err(|error| match error {
        RobotsUrlError::OtherPath => (OTHER_URL, format!("\"{}\"", shown(url))),
        error => ("no valid url", format!("\"{}\": {error}", shown(url))),
    })
}

/// Decodes a base64 body.
///
/// # Errors
/// Returns an error if the text is not base64.
fn base64_body(text: &[u8]) -> std::result::Result<Body, &'static str> {
    let text: Cow<'_, [u8]> = match text.iter().any(u8::is_ascii_whitespace) {
        true => text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect(),
        false => text.into(),
    };
    // The estimate exceeds the body by at most two bytes.
    let estimate = base64::decoded_len_estimate(text.len());
    if estimate > MAX_BODY_BYTES + 2 {
        return Ok(Body::TooLarge);
    }
    let mut body = Vec::new();
    if body.try_reserve_exact(estimate).is_err() {
        return Ok(Body::NoMemory(estimate));
    }
    body.resize(estimate, 0);
    let len = BASE64.decode_slice(&text, &mut body).map_err(|_| "the body is not base64")?;
    body.truncate(len);
    Ok(if len > MAX_BODY_BYTES { Body::TooLarge } else { Body::Whole(body) })
}

/// Parses a cell with a word or a number, if it has one.
fn word<T>(
    cell: Cell<'_>,
    read: impl Fn(&str) -> std::result::Result<T, String>,
) -> std::result::Result<Option<T>, BadRow> {
    let bad = |detail: String| (NO_CAPTURE, detail);
    match cell.or_null() {
        Cell::Null => Ok(None),
        // Only the text's presence matters.
        Cell::TooLong => read("a long text").map(Some).map_err(bad),
        Cell::Text(text) => {
            let word = str::from_utf8(text).map_err(|_| bad(format!("not UTF-8: \"{}\"", shown(text))))?;
            read(word).map(Some).map_err(bad)
        }
    }
}

/// Returns whether an error text reports an error. Programs may write special words if there was none.
fn is_error(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && !["false", "none", "null", "nan", "0"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Parses a word or a number that indicates whether a fetch failed.
///
/// # Errors
/// Returns an error if the text is neither true nor false.
fn failed_of(text: &str) -> std::result::Result<bool, String> {
    let text = whole(text);
    let is = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match text {
        _ if text.is_empty() || is(["false", "0", "no"]) => Ok(false),
        _ if is(["true", "1", "yes"]) => Ok(true),
        _ => Err(format!("expected true or false for failed, found \"{}\"", shown(text.as_bytes()))),
    }
}

/// Returns a Content-Type's media type, unless it describes a whole HTTP message in a WARC record.
fn media_type_of(content_type: &str) -> Option<Box<str>> {
    Some(capture::media_type(content_type)).filter(|media_type| &**media_type != "application/http")
}

/// Returns a cell's header field value.
fn header_of(cell: Cell<'_>, field: Field) -> std::result::Result<Option<String>, BadRow> {
    match cell.or_null() {
        Cell::Null => Ok(None),
        Cell::Text(text) => Ok(Some(String::from_utf8_lossy(text).into_owned())),
        Cell::TooLong => Err((NO_CAPTURE, format!("the {} has more than {} bytes", field.name(), field.limit()))),
    }
}

/// Removes the fraction that databases write in integer columns with gaps: `404.0`.
fn whole(text: &str) -> &str {
    let text = text.trim();
    match text.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0') => whole,
        _ => text,
    }
}

/// Parses a number without a sign. A number above the range becomes its end.
fn number(text: &str) -> Option<u32> {
    let digits = whole(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

fn status_of(text: &str) -> std::result::Result<u16, String> {
    let status = number(text).and_then(|status| status.try_into().ok()).filter(|status| (100..=999).contains(status));
    status.ok_or_else(|| format!("expected a status, a number from 100 to 999, found \"{}\"", shown(text.as_bytes())))
}

fn redirects_of(text: &str) -> std::result::Result<u32, String> {
    number(text).ok_or_else(|| format!("expected the number of redirects, found \"{}\"", shown(text.as_bytes())))
}

/// Returns the reason why a body is truncated, or `None` if it is complete.
///
/// # Errors
/// Returns an error if the text is not a known word.
fn truncation_of(text: &str) -> std::result::Result<Option<Truncation>, String> {
    match whole(text) {
        text if ["", "false", "0"].iter().any(|word| text.eq_ignore_ascii_case(word)) => Ok(None),
        text if ["true", "1"].iter().any(|word| text.eq_ignore_ascii_case(word)) => Ok(Some(Truncation::Unspecified)),
        word => Truncation::from_name(word).map(Some).ok_or_else(|| {
            let expected = "true, false, \"length\", \"time\", \"disconnect\" or \"unspecified\"";
            format!("expected {expected} for truncated, found \"{}\"", shown(word.as_bytes()))
        }),
    }
}
