//! Lines: where they end, and which key and value each has under a dialect.

use memchr::{memchr, memchr2, memchr3};
use reptile_engine::verdict::RuleKind;

use super::DiagnosticKind;
use crate::dialect::{ByteOrderMark, Dialect, KeyMatching};

/// A line that has a meaning, with its value, trimmed.
pub(crate) enum Line<'b> {
    /// A user-agent line.
    Agent(&'b [u8]),
    Rule(RuleKind, &'b [u8]),
    /// A key that the dialect takes for `Sitemap`, as written, and its value.
    Sitemap(&'b [u8], &'b [u8]),
    /// Any other key, as written, and its value.
    Other(&'b [u8], &'b [u8]),
    /// A line without any text, not even a comment.
    Blank,
}

/// Recognises one line. `None` for a line that has no meaning, such as a comment.
pub(crate) fn line_of<'b>(
    line: &'b [u8],
    dialect: &Dialect,
    note: &mut impl FnMut(DiagnosticKind),
) -> Option<Line<'b>> {
    recognise::<true>(line, memchr(b'#', line), dialect.nul_ends_line, dialect, note)
}

/// As [`line_of`], for a line whose comment begins at `comment`. `nul_ends_line` may be false where there is no NUL.
/// Without `NOTES` some diagnostics are left out, which is faster.
#[inline]
pub(super) fn recognise<'b, const NOTES: bool>(
    line: &'b [u8],
    comment: Option<usize>,
    nul_ends_line: bool,
    dialect: &Dialect,
    note: &mut impl FnMut(DiagnosticKind),
) -> Option<Line<'b>> {
    let mut text = line;
    if text.len() > dialect.max_line_bytes {
        text = &text[..dialect.max_line_bytes];
        note(DiagnosticKind::LineTooLong);
    }
    if nul_ends_line && let Some(end) = memchr(0, text) {
        text = &text[..end];
        note(DiagnosticKind::Nul);
    }
    let comment = comment.filter(|&comment| comment < text.len());
    if let Some(comment) = comment {
        text = &text[..comment];
    }
    let trim = |text| dialect.white_space.trim(text);
    let text = trim(text);
    if let Some((key, separator)) = plain_key(text) {
        return Some(key.with(&text[..separator], trim(&text[separator + 1..])));
    }
    if text.is_empty() {
        return comment.is_none().then_some(Line::Blank);
    }
    let may_be_delay = || dialect.crawl_delay_ends_agents && matches!(text[0], b'C' | b'c');
    if !NOTES && !matches!(text[0], b'U' | b'u' | b'A' | b'a' | b'D' | b'd' | b'S' | b's') && !may_be_delay() {
        // No key that decides a URL begins like this.
        return None;
    }
    let Some(separator) = memchr(b':', text).or_else(|| blank_separator(text, dialect)) else {
        note(DiagnosticKind::NoSeparator);
        return None;
    };
    let (key, value) = (trim(&text[..separator]), trim(&text[separator + 1..]));
    if key.is_empty() {
        note(DiagnosticKind::NoSeparator);
        return None;
    }
    let recognised = match dialect.key_matching {
        KeyMatching::PrefixesAndTypos => key_by_prefix(key),
        KeyMatching::Exact => key_by_name(key),
    };
    if recognised.is_none() {
        note(DiagnosticKind::UnknownKey);
    }
    Some(recognised.map_or(Line::Other(key, value), |known| known.with(key, value)))
}

/// The key of a line as nearly all are written, in the spelling that every dialect takes and with the colon right after
/// it, and the place of that colon. Saves the search for it.
#[inline]
fn plain_key(text: &[u8]) -> Option<(Key, usize)> {
    let begins = |with: &[u8]| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    match text.first()? {
        b'D' | b'd' if begins(b"disallow:") => Some((Key::Rule(RuleKind::Disallow), 8)),
        b'A' | b'a' if begins(b"allow:") => Some((Key::Rule(RuleKind::Allow), 5)),
        b'U' | b'u' if begins(b"user-agent:") => Some((Key::Agent, 10)),
        _ => None,
    }
}

/// The place of the white space that stands for a missing colon: the first, if the line has exactly two words.
fn blank_separator(text: &[u8], dialect: &Dialect) -> Option<usize> {
    if !dialect.colon_optional {
        return None;
    }
    let separator = memchr2(b' ', b'\t', text)?;
    let value = text[separator..].iter().position(|byte| !b" \t".contains(byte))?;
    memchr2(b' ', b'\t', &text[separator + value..]).is_none().then_some(separator)
}

/// A key that decides URLs, or `Sitemap`.
enum Key {
    Agent,
    Rule(RuleKind),
    Sitemap,
}

impl Key {
    /// The line with this key, as written, and a value.
    fn with<'b>(self, written: &'b [u8], value: &'b [u8]) -> Line<'b> {
        match self {
            Key::Agent => Line::Agent(value),
            Key::Rule(kind) => Line::Rule(kind, value),
            Key::Sitemap => Line::Sitemap(written, value),
        }
    }
}

/// Recognises a key by its beginning, frequent misspellings included.
///
/// Source: google/robotstxt, `ParsedRobotsKey`. The order does not matter, since no text begins with two spellings of
/// different keys.
fn key_by_prefix(key: &[u8]) -> Option<Key> {
    const DISALLOW: [&[u8]; 6] = [b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"];
    let begins = |with: &[u8]| key.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    match key[0].to_ascii_lowercase() {
        b'u' if begins(b"user-agent") || begins(b"useragent") || begins(b"user agent") => Some(Key::Agent),
        b'a' if begins(b"allow") => Some(Key::Rule(RuleKind::Allow)),
        b'd' if DISALLOW.into_iter().any(begins) => Some(Key::Rule(RuleKind::Disallow)),
        b's' if begins(b"sitemap") || begins(b"site-map") => Some(Key::Sitemap),
        _ => None,
    }
}

/// Recognises a key by its name.
fn key_by_name(key: &[u8]) -> Option<Key> {
    let names: [(&[u8], Key); 4] = [
        (b"user-agent", Key::Agent),
        (b"allow", Key::Rule(RuleKind::Allow)),
        (b"disallow", Key::Rule(RuleKind::Disallow)),
        (b"sitemap", Key::Sitemap),
    ];
    names.into_iter().find(|(name, _)| key.eq_ignore_ascii_case(name)).map(|(_, key)| key)
}

/// The lines of a file, in their order. A line ends at CR, LF or CRLF; the text after the last of them is a line even if
/// it is empty.
#[derive(Clone)]
pub struct Lines<'b> {
    rest: Option<&'b [u8]>,
}

impl<'b> Lines<'b> {
    /// The lines of `body` after its byte order mark.
    #[must_use]
    pub fn new(body: &'b [u8], mark: ByteOrderMark) -> Lines<'b> {
        const MARK: &[u8] = b"\xEF\xBB\xBF";
        let skipped = match mark {
            ByteOrderMark::CommonPrefix => MARK.iter().zip(body).take_while(|(a, b)| a == b).count(),
            ByteOrderMark::Whole if body.starts_with(MARK) => MARK.len(),
            ByteOrderMark::Whole => 0,
        };
        Lines { rest: Some(&body[skipped..]) }
    }

    /// The next line, and the place of the first `#` in it. One search for both.
    #[inline]
    pub(super) fn next_with_comment(&mut self) -> Option<(&'b [u8], Option<usize>)> {
        let text = self.rest?;
        let mut end = memchr3(b'\n', b'\r', b'#', text);
        let comment = end.filter(|&at| text[at] == b'#');
        if let Some(comment) = comment {
            end = memchr2(b'\n', b'\r', &text[comment..]).map(|at| comment + at);
        }
        let Some(end) = end else {
            self.rest = None;
            return Some((text, comment));
        };
        let terminator = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
        self.rest = Some(&text[end + terminator..]);
        Some((&text[..end], comment))
    }
}

impl<'b> Iterator for Lines<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        self.next_with_comment().map(|(line, _)| line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(body: &[u8]) -> Vec<&[u8]> {
        Lines::new(body, ByteOrderMark::CommonPrefix).collect()
    }

    #[test]
    fn line_ends() {
        assert_eq!(lines(b""), [b""]);
        assert_eq!(lines(b"a\nb"), [b"a", b"b"]);
        assert_eq!(lines(b"a\r\nb\r\n"), [&b"a"[..], b"b", b""]);
        assert_eq!(lines(b"\n\ra"), [&b""[..], b"", b"a"]);
        assert_eq!(lines(b"\r\r\na"), [&b""[..], b"", b"a"]);
    }

    #[test]
    fn byte_order_mark_is_skipped_as_far_as_it_goes() {
        assert_eq!(lines(b"\xEF\xBB\xBFa"), [b"a"]);
        assert_eq!(lines(b"\xEF\xBBa"), [b"a"]);
        assert_eq!(lines(b"\xEF\x11\xBFa"), [b"\x11\xBFa"]);
        assert_eq!(lines(b"a\n\xEF\xBB\xBFb")[1], b"\xEF\xBB\xBFb");
    }
}
