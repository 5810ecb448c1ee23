//! The ways in which browsers may read a response's text.
//!
//! The header `Content-Type` says whether a text is HTML, XML or something without elements, and its encoding. It may be
//! missing, invalid or repeated; browsers then guess, each in its own way. So the text is read in every possible way. The
//! statements from all ways count, and if they differ, the text's statements count as unavailable, too.

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};
use reptile::rights::{Channel, Statements};

use crate::elements::{CrawlerNames, Element};
use crate::{html, xhtml};

/// The byte that begins an escape sequence of ISO-2022-JP.
const ESCAPE: u8 = 0x1b;

/// The start of XML that has no type.
const XML_DECLARATION: &[u8] = b"<?xml";

/// The meaning of the header `Content-Type`, with all its values.
#[derive(Debug, Default)]
pub struct ContentType {
    /// Whether a value is HTML.
    is_html: bool,
    /// Whether a value is XML.
    is_xml: bool,
    /// Whether a value is something without elements.
    is_other: bool,
    /// Whether a value is not a type, so that browsers guess from the text.
    is_unknown: bool,
    /// The values' encodings. Unknown ones are `None`.
    encodings: Vec<Option<&'static Encoding>>,
}

impl ContentType {
    /// Adds a field's value, which may be a list.
    pub fn add(&mut self, field: &[u8]) {
        for value in split(field, b',').filter(|value| !value.trim_ascii().is_empty()) {
            let mut parts = split(value, b';');
            let name = parts.next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
            match &*name {
                name if is_unknown(name) => self.is_unknown = true,
                b"text/html" => self.is_html = true,
                b"text/xml" | b"application/xml" | b"text/xsl" => self.is_xml = true,
                name if name.ends_with(b"+xml") => self.is_xml = true,
                _ => self.is_other = true,
            }
            for parameter in parts {
                let Some(equals) = memchr::memchr(b'=', parameter) else { continue };
                let (name, label) = parameter.split_at(equals);
                if name.trim_ascii().eq_ignore_ascii_case(b"charset") {
                    let label = label[1..].trim_ascii();
                    let quoted = label.strip_prefix(b"\"").map(|label| label.strip_suffix(b"\"").unwrap_or(label));
                    self.encodings.push(Encoding::for_label(quoted.unwrap_or(label)));
                }
            }
        }
    }

    /// Replaces the declared encodings by UTF-8, for a text that was decoded already.
    pub fn set_utf8(&mut self) {
        self.encodings = vec![Some(UTF_8)];
    }

    /// Returns whether browsers may find elements in the text.
    pub fn may_have_elements(&self) -> bool {
        self.is_html || self.is_xml || self.is_unknown || !self.is_other
    }

    /// Returns the formats in which a text may be read. Without a type, a text is HTML, unless it begins like XML.
    fn formats(&self, text: &[u8]) -> Vec<PageFormat> {
        let is_unknown = self.is_unknown || !(self.is_html || self.is_xml || self.is_other);
        let is_xml = self.is_xml || is_unknown && text.trim_ascii_start().starts_with(XML_DECLARATION);
        let formats = [
            (PageFormat::Html, self.is_html || is_unknown),
            (PageFormat::Xml, is_xml),
            (PageFormat::Other, self.is_other),
        ];
        formats.into_iter().filter(|(_, is_possible)| *is_possible).map(|(format, _)| format).collect()
    }

    /// Returns the encodings in which a text may be read. A byte order mark decides, and then the header. Otherwise
    /// browsers also consider the text. That does not matter between encodings in which ASCII text is itself, since
    /// statements are ASCII.
    fn encodings(&self, text: &[u8]) -> Vec<&'static Encoding> {
        if let Some((encoding, _)) = Encoding::for_bom(text) {
            return vec![encoding];
        }
        if let [Some(encoding)] = *self.encodings
            && encoding.is_ascii_compatible()
        {
            return vec![encoding];
        }
        let has = |byte| memchr::memchr(byte, text).is_some();
        let of_escape = has(ESCAPE).then_some(ISO_2022_JP);
        let of_zero = if has(0) { &[UTF_16LE, UTF_16BE][..] } else { &[] };
        let declared = self.encodings.iter().flatten();
        let mut all = vec![UTF_8];
        for encoding in declared.chain(&of_escape).chain(of_zero) {
            // A field may repeat an encoding many times.
            if !all.contains(encoding) {
                all.push(encoding);
            }
        }
        all
    }
}

/// Splits a field's value at a separator outside quotes.
fn split(value: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut is_quoted = false;
    value.split(move |&byte| {
        is_quoted ^= byte == b'"';
        byte == separator && !is_quoted
    })
}

/// Returns whether browsers guess the type of a text with this media type. Source: WHATWG MIME Sniffing, section 7.
fn is_unknown(name: &[u8]) -> bool {
    let is_token = |text: &[u8]| {
        !text.is_empty() && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'+-.^_`|~".contains(byte))
    };
    let mut parts = name.splitn(2, |&byte| byte == b'/').map(is_token);
    let is_type = parts.next() == Some(true) && parts.next() == Some(true);
    // Each part of a multipart response has its own type.
    !is_type || name.ends_with(b"/unknown") || name.starts_with(b"multipart/")
}

/// A format of texts.
#[derive(Clone, Copy)]
enum PageFormat {
    Html,
    Xml,
    /// A format without elements.
    Other,
}

/// The channels of elements.
const CHANNELS: [Channel; 3] = [Channel::RobotsMeta, Channel::TdmMeta, Channel::License];

/// Returns whether a reading finds nothing that another one lacks. Content for browsers without scripts counts anyway.
fn is_part(reading: &Statements, whole: &Statements) -> bool {
    let is_known = |channel: Channel| reading.of(channel).all(|found| whole.of(channel).any(|known| known == found));
    CHANNELS.into_iter().all(is_known) && (whole.lacks(Channel::RobotsMeta) || !reading.lacks(Channel::RobotsMeta))
}

/// Adds the statements in a response's text. With `is_start`, the response continues after the text.
pub fn read(
    text: &[u8],
    is_start: bool,
    content_type: &ContentType,
    names: &CrawlerNames,
    statements: &mut Statements,
) {
    let mut readings = Vec::new();
    for encoding in content_type.encodings(text) {
        for format in content_type.formats(text) {
            read_as(format, encoding, text, is_start, names, &mut readings);
        }
    }
    let Some(mut found) = readings.pop() else { return };
    readings.iter().for_each(|reading| found.merge(reading));
    for channel in CHANNELS {
        found.of(channel).for_each(|(name, text)| statements.add(channel, name, text));
    }
    statements.set_missing(false, found.lacks(Channel::RobotsMeta));
}

fn read_as(
    format: PageFormat,
    encoding: &'static Encoding,
    text: &[u8],
    is_start: bool,
    names: &CrawlerNames,
    readings: &mut Vec<Statements>,
) {
    let reading = |elements: &[Element], is_read: bool| {
        let mut statements = Statements::default();
        elements.iter().for_each(|element| names.add_element(element, &mut statements));
        statements.set_missing(false, !is_read);
        statements
    };
    // Most texts have no statements in any format, and need no parser.
    let has_none = encoding.is_ascii_compatible() && !is_start && names.end_of_statements(text).is_none();
    if matches!(format, PageFormat::Other) || matches!(format, PageFormat::Html) && has_none {
        return readings.push(Statements::default());
    }
    let (text, _) = encoding.decode_with_bom_removal(text);
    match format {
        PageFormat::Other => {}
        PageFormat::Xml => {
            let page = xhtml::read(&text, is_start);
            readings.push(reading(&page.elements, page.is_read));
        }
        PageFormat::Html => {
            let end = names.end_of_statements(text.as_bytes()).unwrap_or(0);
            let page = html::read(&text, end, is_start, false);
            let without_scripts = reading(&page.elements, page.is_read);
            if page.has_noscript {
                let page = html::read(&text, end, is_start, true);
                let with_scripts = reading(&page.elements, page.is_read);
                if !is_part(&with_scripts, &without_scripts) {
                    readings.push(with_scripts);
                }
            }
            readings.push(without_scripts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text is read once in each encoding, however often a field repeats it.
    #[test]
    fn encodings_are_distinct() {
        let cases: [(&str, &[u8], &[&str]); 6] = [
            ("text/html", b"", &["UTF-8"]),
            ("text/html; charset=gbk", b"", &["GBK"]),
            ("text/html;charset=gbk;charset=gbk;charset=utf-8;charset=GBK", b"", &["UTF-8", "GBK"]),
            ("text/html;charset=iso-2022-jp", b"\x1b", &["UTF-8", "ISO-2022-JP"]),
            ("text/html;charset=utf-16le;charset=utf-16be", b"\0", &["UTF-8", "UTF-16LE", "UTF-16BE"]),
            ("text/html;charset=none", b"\xef\xbb\xbf", &["UTF-8"]),
        ];
        for (field, text, expected) in cases {
            let mut content_type = ContentType::default();
            content_type.add(field.as_bytes());
            let found: Vec<&str> = content_type.encodings(text).iter().map(|encoding| encoding.name()).collect();
            assert_eq!(found, expected, "{field}");
        }
    }
}
