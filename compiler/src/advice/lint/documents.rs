//! Findings about a body that is not the text of a robots.txt: text in another encoding, and other documents.

use bumpalo::Bump;

use super::codes::Code;
use super::findings::{Findings, Severity};
use crate::body::{BodyFormat, parse};
use crate::dialect::Dialect;

/// Finds text in another encoding, or a document without groups. Returns whether the body is either, so that no line
/// counts.
pub(super) fn not_robots(body: &[u8], format: BodyFormat, dialect: &Dialect, found: &mut Findings) -> bool {
    if let BodyFormat::Encoded(encoding) = format {
        found.add(1, Code::Utf16, Severity::Error, || {
            let mark = if encoding.has_mark { "with" } else { "without" };
            let message = format!(
                "the text is in {encoding} {mark} a byte order mark, which crawlers cannot read: no line counts"
            );
            let name = encoding.iconv_name();
            (message.into(), Some(format!("save it as UTF-8: iconv -f {name} -t UTF-8 robots.txt").into()))
        });
        return true;
    }
    // Web pages have separate findings.
    if format == BodyFormat::Html || !parse(body, dialect, &Bump::new()).groups.is_empty() {
        return false;
    }
    found.add(1, Code::OtherDocument, Severity::Error, || {
        let guess = if matches!(format, BodyFormat::Binary(_)) { "" } else { ", probably an error message" };
        let message = format!("the file is {}{guess}: no line counts, and everything is allowed", format.describe());
        (message.into(), Some("serve a robots.txt as plain text, or the status 404".into()))
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::lint::lint;
    use crate::dialect::GOOGLE_LIB;

    /// Returns text in another encoding.
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
        for encoding in ["UTF-32LE", "UTF-32BE", "UTF-16LE", "UTF-16BE"] {
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
