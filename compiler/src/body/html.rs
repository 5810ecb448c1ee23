//! Web pages that are served as a robots.txt: three questions about a body, from one table of marks.
//!
//! One in thirty popular sites serves a web page where its robots.txt should be. Readers differ in what they take for
//! one, and so do the questions: [`is_html`] for a diagnostic, which may guess; [`begins_like_html`] for profiles by which
//! a page is not a robots.txt; [`has_document_tag`] and [`without_tags`] for profiles that read the text of a page.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use memchr::{memchr, memrchr};

/// A text after `<` by which web pages are recognised, in any letter case.
struct Mark {
    text: &'static [u8],
    /// Whether it makes a page for [`is_html`].
    is_common: bool,
    /// Whether it makes a page for [`begins_like_html`].
    begins_page: bool,
    /// Whether it makes a page for [`has_document_tag`].
    is_document_tag: bool,
}

const fn mark(text: &'static [u8], is_common: bool, begins_page: bool, is_document_tag: bool) -> Mark {
    Mark { text, is_common, begins_page, is_document_tag }
}

/// Sources: `begins_page` is our choice for what Yandex takes for a page; `is_document_tag` is the pattern that
/// crawler-commons looks for.
const MARKS: [Mark; 8] = [
    mark(b"!doctype", true, true, false),
    mark(b"html", true, true, true),
    mark(b"head", true, true, true),
    mark(b"body", true, false, true),
    mark(b"title", true, false, false),
    mark(b"meta", true, false, false),
    mark(b"script", true, false, false),
    mark(b"?xml", false, true, false),
];

/// Finds all marks at once, each with its `<` and in any letter case.
static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let marks = MARKS.map(|mark| [b"<", mark.text].concat());
    AhoCorasick::builder().ascii_case_insensitive(true).build(marks).ok()
});

/// The marks in a text, each with the place after it. One pass, in which all but `<` is skipped by vector instructions.
fn marks_in(text: &[u8]) -> impl Iterator<Item = (&'static Mark, usize)> {
    // Most files have no `<`, and then the automaton need not even be there.
    let finder = memchr(b'<', text).and_then(|_| FINDER.as_ref());
    let found = finder.into_iter().flat_map(move |finder| finder.find_iter(text));
    found.filter_map(|found| Some((MARKS.get(found.pattern().as_usize())?, found.end())))
}

/// Bytes of the longest mark, its `<` included.
const MAX_MARK_BYTES: usize = 9;

/// Bytes at the start of a body that [`is_html`] looks at.
const MAX_SEARCHED_BYTES: usize = 1024;

/// Whether a body most likely is a web page: whether any common tag is in its first bytes. A body without `<` costs one
/// search for it.
#[must_use]
pub fn is_html(body: &[u8]) -> bool {
    let start = &body[..body.len().min(MAX_SEARCHED_BYTES)];
    marks_in(start).any(|(mark, _)| mark.is_common)
}

/// Whether the first text of a body, after a byte order mark and white space, begins a document in HTML or XML.
pub(crate) fn begins_like_html(body: &[u8]) -> bool {
    let start = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start();
    let start = &start[..start.len().min(MAX_MARK_BYTES)];
    start.starts_with(b"<")
        && marks_in(start).next().is_some_and(|(mark, end)| mark.begins_page && end == mark.text.len() + 1)
}

/// Bytes of white space that may stand before the `>` of a tag. Bounds the work for each `<`, so that the search stays
/// linear.
const MAX_SPACE_IN_TAG: usize = 64;

/// Whether `<html>`, `<head>` or `<body>` is anywhere in a body, with or without white space before the `>`.
pub(crate) fn has_document_tag(body: &[u8]) -> bool {
    marks_in(body).filter(|(mark, _)| mark.is_document_tag).any(|(_, end)| {
        let mut rest = body[end..].iter().take(MAX_SPACE_IN_TAG);
        rest.find(|byte| !byte.is_ascii_whitespace()) == Some(&b'>')
    })
}

/// A body without its tags: all from a `<` to the next `>` in the same line. Lines keep their numbers. Linear.
pub(crate) fn without_tags(body: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(body.len());
    for line in body.split_inclusive(|&byte| byte == b'\n' || byte == b'\r') {
        // After the last `>` of the line nothing can be a tag.
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
    fn web_pages_are_told_apart() {
        // A body, and the answers to the three questions.
        let long = "#".repeat(MAX_SEARCHED_BYTES);
        let spaces = " ".repeat(MAX_SPACE_IN_TAG);
        for (body, common, begins, document) in [
            ("<!DOCTYPE html>\n<p>", true, true, false),
            ("\n <HtMl lang=en>", true, true, false),
            ("<html>", true, true, true),
            ("\u{feff}<HEAD\t>", true, true, true),
            ("x<body\n>", true, false, true),
            ("<?xml version=\"1.0\"?>", false, true, false),
            ("# <title>x", true, false, false),
            ("# < title>x", false, false, false),
            ("user-agent: *\ndisallow: /<b\n", false, false, false),
            ("", false, false, false),
            ("<", false, false, false),
            (&(long[4..].to_owned() + "<html>"), false, false, true),
            (&(long[5..].to_owned() + "<html>"), true, false, true),
            (&(long[6..].to_owned() + "<html>"), true, false, true),
            (&format!("<html{}>", &spaces[2..]), true, true, true),
            (&format!("<html{}>", &spaces[1..]), true, true, true),
            (&format!("<html{spaces}>"), true, true, false),
        ] {
            let answers =
                (is_html(body.as_bytes()), begins_like_html(body.as_bytes()), has_document_tag(body.as_bytes()));
            assert_eq!(answers, (common, begins, document), "{body:?}");
        }
    }

    #[test]
    fn tags_are_taken_out_within_their_lines() {
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
