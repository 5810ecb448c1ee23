//! Findings about a body that is not the text of a robots.txt: text in another encoding, and other documents.

use bumpalo::Bump;

use super::{Code, Findings, Severity};
use crate::body::{is_html, parse};
use crate::dialect::Dialect;

/// The encodings with several bytes for each character, with their byte order marks, the longest first.
const WIDE: [(&[u8], &str); 4] = [
    (b"\xFF\xFE\0\0", "UTF-32LE"),
    (b"\0\0\xFE\xFF", "UTF-32BE"),
    (b"\xFF\xFE", "UTF-16LE"),
    (b"\xFE\xFF", "UTF-16BE"),
];

/// Maximum number of bytes at the start of a body that show its encoding.
const MAX_SAMPLE_BYTES: usize = 1024;

/// Minimum number of such bytes. Fewer could be a few NUL bytes between letters.
const MIN_SAMPLE_BYTES: usize = 8;

/// Finds text in UTF-16 or UTF-32. Returns whether it is.
pub(super) fn utf_16(body: &[u8], found: &mut Findings) -> bool {
    let marked = WIDE.iter().find(|(mark, _)| body.starts_with(mark)).map(|(_, encoding)| *encoding);
    let Some(encoding) = marked.or_else(|| wide_without_mark(body)) else { return false };
    found.add(1, Code::Utf16, Severity::Error, || {
        // With a byte order mark, the encoding's short name converts the mark, too.
        let (mark, name) = match marked {
            Some(_) => ("with", encoding.trim_end_matches(['L', 'B', 'E'])),
            None => ("without", encoding),
        };
        let message =
            format!("the text is in {encoding} {mark} a byte order mark, which crawlers cannot read: no line counts");
        (message.into(), Some(format!("save it as UTF-8: iconv -f {name} -t UTF-8 robots.txt").into()))
    });
    true
}

/// Returns the encoding of ASCII text in which all other bytes are NUL.
fn wide_without_mark(body: &[u8]) -> Option<&'static str> {
    let start = &body[..body.len().min(MAX_SAMPLE_BYTES)];
    if start.len() < MIN_SAMPLE_BYTES || memchr::memchr(0, start).is_none() {
        return None;
    }
    // The place of the letter in each unit, and its width.
    [("UTF-32LE", 0, 4), ("UTF-32BE", 3, 4), ("UTF-16LE", 0, 2), ("UTF-16BE", 1, 2)].into_iter().find_map(
        |(encoding, place, width)| {
            let units = start.chunks_exact(width);
            let count = units.len();
            let is_letter = |unit: &&[u8]| unit.iter().enumerate().all(|(at, &byte)| (byte != 0) == (at == place));
            let letters = units.filter(is_letter).count();
            (letters * 10 >= count * 9).then_some(encoding)
        },
    )
}

/// Finds a JSON or XML document without any group. Returns whether it is.
pub(super) fn other_document(body: &[u8], dialect: &Dialect, found: &mut Findings) -> bool {
    let text = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii();
    let begins =
        |start: &str| text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start.as_bytes()));
    let next = || text.get(1..).unwrap_or_default().trim_ascii_start().first();
    let format = match text.first() {
        Some(b'{') if next().is_none_or(|byte| b"\"}".contains(byte)) && text.ends_with(b"}") => "JSON",
        Some(b'[') if next().is_some_and(|byte| b"{[\"]".contains(byte)) && text.ends_with(b"]") => "JSON",
        Some(b'<') if text.ends_with(b">") && !begins("<!--") && !is_html(body) => "XML",
        Some(b'%') if begins("%PDF-") => "PDF",
        _ => return false,
    };
    if !parse(body, dialect, &Bump::new()).groups.is_empty() {
        return false;
    }
    found.add(1, Code::OtherDocument, Severity::Error, || {
        let message = format!(
            "the file is a {format} document, probably an error message: no line counts, and everything is allowed"
        );
        (message.into(), Some("serve a robots.txt as plain text, or the status 404".into()))
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::lint::lint;
    use crate::dialect::GOOGLE_LIB;

    /// Returns a text in another encoding.
    fn encoded(text: &str, encoding: &str) -> Vec<u8> {
        let each = |unit: u32| {
            let width = if encoding.starts_with("UTF-32") { 4 } else { 2 };
            let bytes = unit.to_be_bytes()[4 - width..].to_vec();
            if encoding.ends_with("LE") { bytes.into_iter().rev().collect() } else { bytes }
        };
        text.chars().flat_map(|character| each(u32::from(character))).collect()
    }

    #[test]
    fn text_in_other_encodings_has_one_finding_with_the_command() {
        let mut count = 0;
        for (_, encoding) in WIDE {
            for mark in ["", "\u{FEFF}"] {
                let body = encoded(&format!("{mark}User-agent: *\r\nDisallow: /a\r\n"), encoding);
                let found = lint(&body, &GOOGLE_LIB, 100).findings;
                assert_eq!((found.len(), found[0].code), (1, Code::Utf16), "{encoding} {found:?}");
                let name = if mark.is_empty() { encoding } else { &encoding[..6] };
                let fix = found[0].fix.as_ref().unwrap().to_string();
                assert!(fix.contains(&format!("iconv -f {name} -t UTF-8 ")), "{fix}");
                assert!(found[0].message.contains(encoding), "{found:?}");
                count += 1;
            }
        }
        assert_eq!(count, 8);
    }

    #[test]
    fn a_few_bytes_do_not_show_an_encoding() {
        for (bytes, is_found) in [(MIN_SAMPLE_BYTES - 1, false), (MIN_SAMPLE_BYTES, true), (MIN_SAMPLE_BYTES + 1, true)]
        {
            assert_eq!(wide_without_mark(&b"a\0".repeat(bytes)[..bytes]).is_some(), is_found, "{bytes}");
        }
        // Later bytes are not read.
        for (bytes, is_found) in
            [(MAX_SAMPLE_BYTES - 512, false), (MAX_SAMPLE_BYTES, true), (MAX_SAMPLE_BYTES + 2, true)]
        {
            let body = [b"a\0".repeat(bytes / 2), b"a".repeat(MAX_SAMPLE_BYTES)].concat();
            assert_eq!(wide_without_mark(&body).is_some(), is_found, "{bytes}");
        }
    }

    #[test]
    fn documents_in_other_formats_have_one_finding() {
        let cases = [
            ("{\"error\": \"not found\"}", true),
            (" {\n  \"status\": 404\n}\n", true),
            ("[{\"error\": 1}]", true),
            ("{}", true),
            ("<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>", true),
            ("<Error><Code>AccessDenied</Code></Error>", true),
            ("%PDF-1.4\n", true),
            ("{{ robots }}", false),
            ("{\"a\": 1}\nUser-agent: *\nDisallow: /", false),
            ("[STAR]", false),
            ("User-agent: *", false),
        ];
        for (body, is_found) in cases {
            let found = lint(body.as_bytes(), &GOOGLE_LIB, 100).findings;
            let is_document = found.iter().any(|finding| finding.code == Code::OtherDocument);
            assert_eq!((is_document, !is_found || found.len() == 1), (is_found, true), "{body}: {found:?}");
        }
    }
}
