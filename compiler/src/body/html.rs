//! Web pages as crawler-commons reads them: which pages it recognizes, and their text without tags.
//!
//! [`super::format`] decides the format of a body, independently of this module.

use memchr::{memchr, memchr_iter, memrchr};

/// The names in the pattern of crawler-commons.
const NAMES: [&[u8]; 3] = [b"html", b"head", b"body"];

/// Maximum number of white space bytes before the `>` of a tag. Bounds the work per `<`, so that the search stays
/// linear.
const MAX_SPACE_IN_TAG: usize = 64;

/// Returns whether a body contains `<html>`, `<head>` or `<body>`, with or without white space before the `>`.
pub(crate) fn has_document_tag(body: &[u8]) -> bool {
    memchr_iter(b'<', body).any(|at| {
        let tag = &body[at + 1..];
        let begins = |name: &&&[u8]| tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        let Some(name) = NAMES.iter().find(begins) else { return false };
        let mut rest = tag[name.len()..].iter().take(MAX_SPACE_IN_TAG);
        rest.find(|byte| !byte.is_ascii_whitespace()) == Some(&b'>')
    })
}

/// Returns a body without its tags, which extend from a `<` to the next `>` on the same line.
///
/// Keeps line numbers. Linear.
pub(crate) fn without_tags(body: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(body.len());
    for line in body.split_inclusive(|&byte| byte == b'\n' || byte == b'\r') {
        // No tag can follow the last `>` on the line.
        let tags_end = memrchr(b'>', line).unwrap_or(0);
        let mut rest = line;
        while let Some(start) = memchr(b'<', rest).filter(|start| start + line.len() - rest.len() < tags_end) {
            // `<>` is not a tag.
            let is_tag = rest.get(start + 1) != Some(&b'>');
            kept.extend_from_slice(&rest[..start + usize::from(!is_tag)]);
            let end = memchr(b'>', &rest[start..]).map_or(rest.len(), |end| start + end + 1);
            let end = if is_tag { end } else { start + 1 };
            rest = &rest[end..];
        }
        kept.extend_from_slice(rest);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_tags_are_recognized() {
        let spaces = " ".repeat(MAX_SPACE_IN_TAG);
        for (body, expected) in [
            ("<html>", true),
            ("\u{feff}<HEAD\t>", true),
            ("x<body\n>", true),
            ("# <html>", true),
            ("<!doctype html>\n<p>", false),
            ("<HtMl lang=en>", false),
            ("<title>", false),
            ("<", false),
            ("", false),
            (&format!("<html{}>", &spaces[2..]), true),
            (&format!("<html{}>", &spaces[1..]), true),
            (&format!("<html{spaces}>"), false),
        ] {
            assert_eq!(has_document_tag(body.as_bytes()), expected, "{body:?}");
        }
    }

    #[test]
    fn tags_are_removed_within_a_line() {
        for (body, text) in [
            ("<p>User-agent: *<br>\n", "User-agent: *\n"),
            ("a<b\nc>d", "a<b\nc>d"),
            ("a<>b<c>d", "a<>bd"),
            ("a<b<c>d>", "ad>"),
            ("<", "<"),
        ] {
            assert_eq!(String::from_utf8_lossy(&without_tags(body.as_bytes())), text, "{body:?}");
        }
    }
}
