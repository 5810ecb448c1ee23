//! Detects web pages served as a robots.txt: three tests for a body, based on one table of marks.
//!
//! One in thirty popular sites serves a web page instead of its robots.txt. Crawlers recognize pages by different
//! criteria, and so do the tests: [`is_html`] is for a diagnostic and may guess; [`begins_like_html`] is for profiles
//! that do not accept a page as a robots.txt; [`has_document_tag`] and [`without_tags`] are for profiles that read a
//! page's text.

use std::sync::LazyLock;

use aho_corasick::Input;
use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::noncontiguous::NFA;
use memchr::{memchr, memrchr};

/// A text after `<` that identifies web pages, in any letter case.
struct Mark {
    text: &'static [u8],
    /// Whether it identifies a page for [`is_html`].
    is_common: bool,
    /// Whether it identifies a page for [`begins_like_html`].
    begins_page: bool,
    /// Whether it identifies a page for [`has_document_tag`].
    is_document_tag: bool,
}

const fn mark(text: &'static [u8], is_common: bool, begins_page: bool, is_document_tag: bool) -> Mark {
    Mark { text, is_common, begins_page, is_document_tag }
}

/// Sources: `begins_page` is our choice for pages as Yandex sees them; `is_document_tag` is the pattern in
/// crawler-commons.
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
static FINDER: LazyLock<Option<NFA>> = LazyLock::new(|| {
    let marks = MARKS.map(|mark| [b"<", mark.text].concat());
    NFA::builder().ascii_case_insensitive(true).build(marks).ok()
});

/// Returns the marks in a text, each with the offset after it. Takes one pass, with vector instructions to skip to `<`.
fn marks_in(text: &[u8]) -> impl Iterator<Item = (&'static Mark, usize)> {
    // Most files contain no `<`, so the automaton need not even be built.
    let finder = memchr(b'<', text).and_then(|_| FINDER.as_ref());
    let found = finder.into_iter().filter_map(move |finder| finder.try_find_iter(Input::new(text)).ok()).flatten();
    found.filter_map(|found| Some((MARKS.get(found.pattern().as_usize())?, found.end())))
}

/// Length of the longest mark in bytes, including its `<`.
const MAX_MARK_BYTES: usize = 9;

/// Maximum number of bytes at the start of a body that [`is_html`] searches.
const MAX_SEARCHED_BYTES: usize = 1024;

/// Returns whether a body is probably a web page: whether its first bytes contain a common tag.
///
/// A body without `<` costs only the search for it.
#[must_use]
pub fn is_html(body: &[u8]) -> bool {
    let start = &body[..body.len().min(MAX_SEARCHED_BYTES)];
    marks_in(start).any(|(mark, _)| mark.is_common)
}

/// Returns whether a body, after a byte order mark and white space, begins an HTML or XML document.
pub(crate) fn begins_like_html(body: &[u8]) -> bool {
    let start = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start();
    let start = &start[..start.len().min(MAX_MARK_BYTES)];
    start.starts_with(b"<")
        && marks_in(start).next().is_some_and(|(mark, end)| mark.begins_page && end == mark.text.len() + 1)
}

/// Maximum number of white space bytes before the `>` of a tag. Bounds the work per `<`, so that the search stays
/// linear.
const MAX_SPACE_IN_TAG: usize = 64;

/// Returns whether a body contains `<html>`, `<head>` or `<body>`, with or without white space before the `>`.
pub(crate) fn has_document_tag(body: &[u8]) -> bool {
    marks_in(body).filter(|(mark, _)| mark.is_document_tag).any(|(_, end)| {
        let mut rest = body[end..].iter().take(MAX_SPACE_IN_TAG);
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
    fn web_pages_are_recognized() {
        // A body, and the results of the three tests.
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
