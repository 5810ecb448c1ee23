//! The format of a body that is not a robots.txt: a document, text in an encoding that is not compatible with ASCII, or
//! binary data.
//!
//! The format does not depend on a dialect, on a file's name, or on the media type that a server declares.

use std::fmt;

use memchr::{memchr, memmem};
use reptile_engine::format::directives::DirectiveKind;

use super::directive_keys::kind_of;
use super::lines::{Line, Lines, line_of};
use crate::dialect::LENIENT;
use crate::limits::MAX_KIND_BYTES;

/// The format of a body that is not a robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyFormat {
    /// A web page.
    Html,
    /// XML, such as a sitemap, a feed or an error document.
    Xml,
    /// JSON, such as an error document or captures.
    Json,
    /// Text in UTF-16 or UTF-32.
    Encoded(Encoding),
    /// Any other format, by name, such as "a PNG picture".
    Binary(&'static str),
}

/// An encoding that is not compatible with ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// Bytes per unit: 2 for UTF-16, 4 for UTF-32.
    pub unit_bytes: usize,
    /// Whether the most significant byte comes first.
    pub is_big_endian: bool,
    /// Whether the text begins with a byte order mark.
    pub has_mark: bool,
}

impl BodyFormat {
    /// Returns the format of a body, or of its first [`MAX_KIND_BYTES`], or `None` for a robots.txt.
    ///
    /// An HTML or XML document begins with its first tag, after any comments `<!-- ... -->`. A body that begins with
    /// another tag of web pages, such as `<h1>`, or with such a comment, is a page only if it has no directive;
    /// otherwise it is a robots.txt with unreadable lines. Tags after other text, as in a comment after `#`, do not
    /// make a page.
    #[must_use]
    pub fn of(body: &[u8]) -> Option<BodyFormat> {
        let start = &body[..body.len().min(MAX_KIND_BYTES)];
        if let Some(encoding) = marked(start) {
            let is_xml = XML.iter().any(|tag| encoding.begins(start, tag));
            return Some(if is_xml { BodyFormat::Xml } else { BodyFormat::Encoded(encoding) });
        }
        if let Some((_, name)) = BINARY.iter().find(|(magic, _)| start.starts_with(magic)) {
            return Some(BodyFormat::Binary(name));
        }
        let encoded = || unmarked(start).map(BodyFormat::Encoded);
        let binary = || is_binary(start).then_some(BodyFormat::Binary("binary data"));
        document_of(body).or_else(encoded).or_else(binary)
    }

    /// Returns a description for messages: "a ...".
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            BodyFormat::Html => "a web page (HTML)",
            BodyFormat::Xml => "XML",
            BodyFormat::Json => "JSON",
            BodyFormat::Encoded(Encoding { unit_bytes: 4, .. }) => "text in UTF-32",
            BodyFormat::Encoded(_) => "text in UTF-16",
            BodyFormat::Binary(name) => name,
        }
    }

    /// Returns whether the format is a document with tags.
    pub(crate) fn has_tags(self) -> bool {
        matches!(self, BodyFormat::Html | BodyFormat::Xml)
    }
}

impl Encoding {
    /// Returns the name for `iconv -f`. If the text has a byte order mark, the name omits the byte order, so that
    /// `iconv` removes the mark.
    #[must_use]
    pub fn iconv_name(self) -> &'static str {
        match (self.unit_bytes, self.has_mark, self.is_big_endian) {
            (4, true, _) => "UTF-32",
            (4, _, true) => "UTF-32BE",
            (4, ..) => "UTF-32LE",
            (_, true, _) => "UTF-16",
            (_, _, true) => "UTF-16BE",
            _ => "UTF-16LE",
        }
    }

    /// Returns whether text begins with an ASCII word in lower case, after its byte order mark.
    fn begins(self, text: &[u8], word: &[u8]) -> bool {
        let low = if self.is_big_endian { self.unit_bytes - 1 } else { 0 };
        let letters = text.iter().skip(self.unit_bytes + low).step_by(self.unit_bytes).map(u8::to_ascii_lowercase);
        letters.take(word.len()).eq(word.iter().copied())
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(Encoding { has_mark: false, ..*self }.iconv_name())
    }
}

/// Returns the encoding that a byte order mark declares.
fn marked(start: &[u8]) -> Option<Encoding> {
    let encoding = |unit_bytes, is_big_endian| Some(Encoding { unit_bytes, is_big_endian, has_mark: true });
    match start {
        [0xff, 0xfe, 0, 0, ..] => encoding(4, false),
        [0, 0, 0xfe, 0xff, ..] => encoding(4, true),
        [0xff, 0xfe, ..] => encoding(2, false),
        [0xfe, 0xff, ..] => encoding(2, true),
        _ => None,
    }
}

/// Returns the encoding of Latin letters without a byte order mark. Nearly all of their more significant bytes are NUL,
/// and nearly none of the least significant bytes.
fn unmarked(start: &[u8]) -> Option<Encoding> {
    memchr(0, start)?;
    for unit_bytes in [4, 2] {
        let units = start.len() / unit_bytes;
        let nuls = |place: usize| start.iter().skip(place).step_by(unit_bytes).filter(|&&byte| byte == 0).count();
        let is_high = |place: usize| nuls(place) * 10 >= units * 9;
        let is_low = |place: usize| nuls(place) * 10 <= units;
        let (first, last) = (0, unit_bytes - 1);
        for (low, is_big_endian) in [(first, false), (last, true)] {
            let others = (0..unit_bytes).filter(|&place| place != low);
            if units >= MIN_UNITS && is_low(low) && others.into_iter().all(is_high) {
                return Some(Encoding { unit_bytes, is_big_endian, has_mark: false });
            }
        }
    }
    None
}

/// Minimum number of units in text without a byte order mark. Shorter text has too few NULs for a conclusion.
const MIN_UNITS: usize = 4;

/// Returns whether more than one byte in twenty is a control character. Text encodings do not use them, but Hive's tables
/// have the byte 1 between cells.
fn is_binary(start: &[u8]) -> bool {
    // Comparisons without branches, which the compiler vectorizes. Every robots.txt in a crawl is checked here.
    let is_control = |byte: u8| ((byte < b' ') & (byte != 1) & !(b'\t'..=b'\r').contains(&byte)) | (byte == 0x7f);
    let count = |bytes: &[u8]| bytes.iter().map(|&byte| u8::from(is_control(byte))).sum::<u8>();
    let controls: usize = start.chunks(usize::from(u8::MAX)).map(|bytes| usize::from(count(bytes))).sum();
    controls > 1 && controls * 20 > start.len()
}

/// The first bytes and names of formats that are not text.
const BINARY: [(&[u8], &str); 23] = [
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"RIFF", "a RIFF file (a picture, sound or film)"),
    (b"\0\0\x01\0", "an icon"),
    (b"BM\0", "a BMP picture"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"Obj\x01", "an Avro file"),
    (b"FEA1", "a Feather file in the first version"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b\x08", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\xfd7zXZ\0", "xz data"),
];

/// The tags that begin an HTML document, in lower case.
const HTML: [&[u8]; 3] = [b"<!doctype", b"<html", b"<head"];

/// The tags that begin an XML document, in lower case.
const XML: [&[u8]; 6] = [b"<?xml", b"<rss", b"<feed", b"<urlset", b"<sitemapindex", b"<error"];

/// Other tags of web pages, in lower case.
const FRAGMENTS: [&[u8]; 17] = [
    b"<!--",
    b"<body",
    b"<title",
    b"<meta",
    b"<link",
    b"<script",
    b"<noscript",
    b"<style",
    b"<iframe",
    b"<form",
    b"<div",
    b"<pre",
    b"<h1",
    b"<h2",
    b"<p",
    b"<br",
    b"<center",
];

/// Returns whether text begins with a tag, in any letter case, and the tag's name ends there.
fn begins_with(text: &[u8], tag: &[u8]) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-');
    let begins = text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    begins && (tag == b"<!--" || is_end(text.get(tag.len())))
}

fn begins_with_any(text: &[u8], tags: &[&[u8]]) -> bool {
    text.first() == Some(&b'<') && tags.iter().any(|tag| begins_with(text, tag))
}

/// Returns the format of a document or a page.
pub(crate) fn document_of(body: &[u8]) -> Option<BodyFormat> {
    let start = &body[..body.len().min(MAX_KIND_BYTES)];
    // Hardly any robots.txt begins with one of these bytes.
    if !matches!(trimmed(start).first(), Some(b'<' | b'{' | b'[')) {
        return None;
    }
    let text = without_comments(start);
    match text.first() {
        Some(b'<') if begins_with_any(text, &HTML) => Some(BodyFormat::Html),
        // XHTML pages have an XML declaration too.
        Some(b'<') if begins_with_any(text, &XML) => {
            let has_page = || tags_in(text).any(|tag| begins_with_any(tag, &HTML[1..]) || is_html_doctype(tag));
            Some(if has_page() { BodyFormat::Html } else { BodyFormat::Xml })
        }
        Some(b'{' | b'[') if is_json(text) => Some(BodyFormat::Json),
        _ => is_fragment(body).then_some(BodyFormat::Html),
    }
}

fn is_html_doctype(tag: &[u8]) -> bool {
    begins_with(tag, HTML[0]) && begins_with(tag[HTML[0].len()..].trim_ascii_start(), b"html")
}

/// Returns text without byte order marks, white space and comments `<!-- ... -->` at its start.
fn without_comments(mut text: &[u8]) -> &[u8] {
    loop {
        text = trimmed(text);
        let Some(comment) = text.strip_prefix(b"<!--") else { return text };
        let Some(end) = memmem::find(comment, b"-->") else { return text };
        text = &comment[end + b"-->".len()..];
    }
}

/// Returns whether a body begins with a tag, as every document with tags does.
pub(crate) fn begins_with_tag(body: &[u8]) -> bool {
    trimmed(body).first() == Some(&b'<')
}

/// Returns text without a byte order mark and white space at its start.
fn trimmed(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start()
}

/// Returns the text from each `<` to the end.
fn tags_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memchr_iter(b'<', text).map(|at| &text[at..])
}

/// Returns whether a body is part of a page: it begins with a page's tag, and has no directive.
fn is_fragment(body: &[u8]) -> bool {
    begins_with_any(trimmed(body), &FRAGMENTS) && !has_directive(body)
}

/// Returns whether a body has a line with a key that some crawler knows, so that it probably is a robots.txt. Takes
/// time linear in the body.
///
/// ```
/// use reptile_compiler::body::has_directive;
/// assert!(has_directive(b"User-agent: *"));
/// assert!(!has_directive(b"https://example.com/ 200"));
/// ```
#[must_use]
pub fn has_directive(body: &[u8]) -> bool {
    Lines::new(body, LENIENT.byte_order_mark).any(is_directive)
}

/// Returns whether a line has a key that some crawler knows.
fn is_directive(line: &[u8]) -> bool {
    match line_of(line, LENIENT, &mut |_| ()) {
        Some(Line::Agent(_) | Line::Rule(..) | Line::Sitemap(..)) => true,
        Some(Line::Other(key, _)) => kind_of(key) != DirectiveKind::Other,
        Some(Line::Blank) | None => false,
    }
}

/// Returns whether text begins like a JSON object or list.
fn is_json(text: &[u8]) -> bool {
    let next = || text[1..].trim_ascii_start().first();
    match text.first() {
        Some(b'{') => next().is_none_or(|byte| b"\"}".contains(byte)),
        Some(b'[') => next().is_some_and(|byte| b"{[\"]".contains(byte)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_searched_up_to_the_limit() {
        for (len, expected) in [
            (MAX_KIND_BYTES - 1, Some(BodyFormat::Html)),
            (MAX_KIND_BYTES, Some(BodyFormat::Html)),
            (MAX_KIND_BYTES + 1, None),
        ] {
            let tag = "<html";
            let body = " ".repeat(len - tag.len()) + tag;
            assert_eq!(BodyFormat::of(body.as_bytes()), expected, "{len}");
        }
    }

    #[test]
    fn text_without_a_mark_needs_some_units() {
        for (units, is_encoded) in [(MIN_UNITS - 1, false), (MIN_UNITS, true), (MIN_UNITS + 1, true)] {
            for (unit_bytes, is_big_endian) in [(2, false), (2, true), (4, false), (4, true)] {
                let low = if is_big_endian { unit_bytes - 1 } else { 0 };
                let unit: Vec<u8> = (0..unit_bytes).map(|place| if place == low { b'a' } else { 0 }).collect();
                let encoding = Encoding { unit_bytes, is_big_endian, has_mark: false };
                let is_found = BodyFormat::of(&unit.repeat(units)) == Some(BodyFormat::Encoded(encoding));
                assert_eq!(is_found, is_encoded, "{units} units, {encoding}");
            }
        }
    }
}
