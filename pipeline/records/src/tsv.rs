//! Captures of robots.txt files in TSV, one per line. The first line names the columns, which match the fields of JSON
//! Lines.
//!
//! Cells use the escapes of database dumps: `\t`, `\n`, `\r`, `\\`, `\0`, `\b`, `\f` and `\v` have the same meaning as
//! in C. A cell is absent if it is `\N`, or if it is empty and not a body. Any other backslash is literal. Dumps do not
//! contain such backslashes, but programs that escape only tabs and line ends write them. Alternatively, a base64
//! column contains the body without escapes. Some programs quote cells instead: rows with a used cell that may be quoted
//! are invalid, and so are lines that may be inside quotes.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::Item;
use super::captures::names::{CELLS, Field, Header};
use super::captures::{self, Cell, NO_CAPTURE};
use super::tables::MARK;
use super::time::Zone;
use crate::Result;

/// Reads the columns' names from a table's first line.
///
/// # Errors
/// Returns an error if two columns name the same field.
pub fn header_of(line: &[u8]) -> std::result::Result<Header, String> {
    let mut line = without_cr(line);
    while let Some(rest) = line.strip_prefix(MARK) {
        line = rest;
    }
    Header::new(line.split(|&byte| byte == b'\t'))
}

/// Returns whether a used cell begins with a quote.
pub fn have_quote(header: &Header, line: &[u8]) -> bool {
    let is_used = |number| header.field(number).is_some();
    line.split(|&byte| byte == b'\t').enumerate().any(|(number, cell)| is_used(number) && cell.starts_with(b"\""))
}

/// Returns a row's capture, or an item that describes the problem.
///
/// # Errors
/// Returns an error if there is not enough memory for the body.
pub fn item(header: &Header, line: &[u8], name: String, zone: &Zone) -> Result<Item> {
    let line = without_cr(line);
    let count = memchr_iter(b'\t', line).count() + 1;
    if count != header.count() {
        let detail = format!("expected {} columns, as in the first line, found {count}", header.count());
        return Ok(Item::Bad { name, reason: NO_CAPTURE, detail });
    }
    let mut texts: [Option<Cow<'_, [u8]>>; CELLS] = Default::default();
    for (number, cell) in line.split(|&byte| byte == b'\t').enumerate() {
        if let Some(field) = header.field(number) {
            let text = || if field == Field::Base64 { cell.into() } else { unescape(cell) };
            texts[field as usize] = (cell != b"\\N").then(text);
        }
    }
    let mut cells = [Cell::Null; CELLS];
    for ((cell, text), field) in cells.iter_mut().zip(&texts).zip(Field::all()) {
        *cell = match text {
            None => Cell::Null,
            Some(text) if text.len() > field.limit() => Cell::TooLong,
            Some(text) => Cell::Text(text),
        };
    }
    captures::item(name, cells, zone)
}

/// Returns a line without a trailing CR, which some programs write.
fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Decodes a cell's escapes. Time: linear. Copies only cells with escapes.
fn unescape(cell: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\\', cell).is_none() {
        return cell.into();
    }
    let mut text = Vec::with_capacity(cell.len());
    let mut rest = cell;
    while let Some(at) = memchr(b'\\', rest) {
        text.extend_from_slice(&rest[..at]);
        let meant = match rest.get(at + 1) {
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b'\\') => b'\\',
            Some(b'0') => b'\0',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'v') => 11,
            _ => {
                text.push(b'\\');
                rest = &rest[at + 1..];
                continue;
            }
        };
        text.push(meant);
        rest = &rest[at + 2..];
    }
    text.extend_from_slice(rest);
    text.into()
}

#[cfg(test)]
mod tests {
    use reptile::limits::{MAX_BODY_BYTES, MAX_URL_BYTES};

    use super::*;
    use crate::Robots;

    #[test]
    fn database_dump_escapes_are_decoded() {
        for (written, meant) in [
            (&b""[..], &b""[..]),
            (b"plain", b"plain"),
            (b"a\\tb\\nc\\rd\\\\e\\0", b"a\tb\nc\rd\\e\0"),
            (b"\\b\\f\\v", b"\x08\x0c\x0b"),
            // Text that was escaped twice is decoded only once.
            (b"\\\\n", b"\\n"),
            (b"\\\\\\n", b"\\\n"),
            (b"C:\\Users\\x", b"C:\\Users\\x"),
            (b"\\", b"\\"),
            (b"end\\", b"end\\"),
            (b"\xff\\n\xfe", b"\xff\n\xfe"),
        ] {
            assert_eq!(unescape(written), meant, "{}", written.escape_ascii());
        }
    }

    /// Returns the body length if the row is a capture.
    fn read_row(url: &str, body: &[u8], base64: &[u8]) -> Option<usize> {
        let header = Header::new([&b"url"[..], b"body", b"body_base64"]).unwrap();
        let row = [url.as_bytes(), body, base64].join(&b'\t');
        match item(&header, &row, "name".into(), &Zone::default()).unwrap() {
            Item::Robots(Robots { body, .. }) => Some(body.map_or(0, |body| body.len())),
            _ => None,
        }
    }

    #[test]
    fn cells_are_limited_after_decoding() {
        let url = "http://a.example/robots.txt";
        for (more, fits) in [(0, true), (1, true), (2, false)] {
            let body = "a".repeat(MAX_BODY_BYTES - 1 + more);
            assert_eq!(read_row(url, body.as_bytes(), b"\\N"), fits.then_some(body.len()));
            // An escape counts as one byte.
            let escaped = format!("\\n{}", &body[1..]);
            assert_eq!(read_row(url, escaped.as_bytes(), b""), fits.then_some(body.len()));
            let long = format!("{url}#{}", "a".repeat(MAX_URL_BYTES - 2 + more - url.len()));
            assert_eq!(read_row(&long, b"body", b""), fits.then_some(4), "{}", long.len());
            let mut base64 = vec![b'\n'; Field::Base64.limit() - 1 + more];
            base64[..4].copy_from_slice(b"YWJj");
            assert_eq!(read_row(url, b"", &base64.iter().map(|_| b' ').collect::<Vec<_>>()).is_some(), fits);
            base64[4..].fill(b' ');
            assert_eq!(read_row(url, b"", &base64), fits.then_some(3));
        }
    }
}
