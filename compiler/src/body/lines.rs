//! Splits a body into lines, and finds each line's key and value under a dialect.

use memchr::{memchr, memchr2};
use reptile_engine::platform::find_near;
use reptile_engine::verdict::RuleKind;

use super::DiagnosticKind;
use crate::dialect::{ByteOrderMark, Dialect, KeyMatching};

/// A recognized line, with its value trimmed.
pub(crate) enum Line<'b> {
    /// A user-agent line.
    Agent(&'b [u8]),
    Rule(RuleKind, &'b [u8]),
    /// A key that the dialect reads as `Sitemap`, as written, and its value.
    Sitemap(&'b [u8], &'b [u8]),
    /// Any other key, as written, and its value.
    Other(&'b [u8], &'b [u8]),
    /// A line without any text, not even a comment.
    Blank,
}

/// Recognizes one line. Returns `None` for a line without meaning, such as a comment.
pub(crate) fn line_of<'b>(
    line: &'b [u8],
    dialect: &Dialect,
    note: &mut impl FnMut(DiagnosticKind),
) -> Option<Line<'b>> {
    recognize::<true>(line, memchr(b'#', line), dialect.nul_ends_line, dialect, note)
}

/// Recognizes a line like [`line_of`], but its comment begins at `comment`.
///
/// `nul_ends_line` may be false if there is no NUL. Without `NOTES` some diagnostics are left out, which is faster.
#[inline]
pub(super) fn recognize<'b, const NOTES: bool>(
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
    if let Some(end) = nul_ends_line.then(|| memchr(0, text)).flatten() {
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
        // No key that decides URLs begins with this letter.
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
    let recognized = match dialect.key_matching {
        KeyMatching::PrefixesAndTypos => key_by_prefix(key),
        KeyMatching::Exact => key_by_name(key),
    };
    if recognized.is_none() {
        note(DiagnosticKind::UnknownKey);
    }
    Some(recognized.map_or(Line::Other(key, value), |known| known.with(key, value)))
}

/// Returns the key of a line and the offset of its colon, if the line is in the usual form: a spelling that every
/// dialect accepts, directly followed by the colon, and at least eight bytes. Saves searching for the colon.
#[inline]
fn plain_key(text: &[u8]) -> Option<(Key, usize)> {
    /// The bit that makes a letter lowercase, in each byte. It turns no other byte into a letter.
    const LOWER: u64 = u64::from_le_bytes([b' '; 8]);
    const ALLOW: u64 = u64::from_le_bytes(*b"allow\0\0\0");
    // Numbers are compared in one step.
    let start = u64::from_le_bytes(*text.first_chunk()?);
    if start | LOWER == u64::from_le_bytes(*b"disallow") {
        return (text.get(8) == Some(&b':')).then_some((Key::Rule(RuleKind::Disallow), 8));
    }
    if (start | LOWER) << 24 == ALLOW << 24 {
        return (text[5] == b':').then_some((Key::Rule(RuleKind::Allow), 5));
    }
    let is_agent = text.get(..11).is_some_and(|start| start.eq_ignore_ascii_case(b"user-agent:"));
    is_agent.then_some((Key::Agent, 10))
}

/// Returns the offset of the white space that replaces a missing colon: the first, if the line has exactly two words.
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
    /// Returns the line with this key, as written, and a value.
    fn with<'b>(self, written: &'b [u8], value: &'b [u8]) -> Line<'b> {
        match self {
            Key::Agent => Line::Agent(value),
            Key::Rule(kind) => Line::Rule(kind, value),
            Key::Sitemap => Line::Sitemap(written, value),
        }
    }
}

/// Recognizes a key by its beginning, including frequent misspellings.
///
/// Source: google/robotstxt, `ParsedRobotsKey`. The order is irrelevant, because no text begins with spellings of two
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

/// Recognizes a key by its exact name.
fn key_by_name(key: &[u8]) -> Option<Key> {
    let names: [(&[u8], Key); 4] = [
        (b"user-agent", Key::Agent),
        (b"allow", Key::Rule(RuleKind::Allow)),
        (b"disallow", Key::Rule(RuleKind::Disallow)),
        (b"sitemap", Key::Sitemap),
    ];
    names.into_iter().find(|(name, _)| key.eq_ignore_ascii_case(name)).map(|(_, key)| key)
}

/// The lines of a file, in order.
///
/// A line ends at CR, LF or CRLF; the text after the last line end is a line even if it is empty.
#[derive(Clone)]
pub struct Lines<'b> {
    rest: Option<&'b [u8]>,
}

impl<'b> Lines<'b> {
    /// Iterates over the lines of `body` after its byte order mark.
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

    /// Returns the next line, and the offset of its first `#`. One search finds both.
    #[inline]
    pub(super) fn next_with_comment(&mut self) -> Option<(&'b [u8], Option<usize>)> {
        let text = self.rest?;
        let mut end = find_near(*b"\n\r#", text);
        let comment = end.filter(|&at| text[at] == b'#');
        if let Some(comment) = comment {
            // Two needles; the third repeats one.
            end = find_near(*b"\n\r\n", &text[comment..]).map(|at| comment + at);
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
    fn lines_end_at_cr_lf_or_crlf() {
        assert_eq!(lines(b""), [b""]);
        assert_eq!(lines(b"a\nb"), [b"a", b"b"]);
        assert_eq!(lines(b"a\r\nb\r\n"), [&b"a"[..], b"b", b""]);
        assert_eq!(lines(b"\n\ra"), [&b""[..], b"", b"a"]);
        assert_eq!(lines(b"\r\r\na"), [&b""[..], b"", b"a"]);
    }

    #[test]
    fn partial_byte_order_marks_are_skipped() {
        assert_eq!(lines(b"\xEF\xBB\xBFa"), [b"a"]);
        assert_eq!(lines(b"\xEF\xBBa"), [b"a"]);
        assert_eq!(lines(b"\xEF\x11\xBFa"), [b"\x11\xBFa"]);
        assert_eq!(lines(b"a\n\xEF\xBB\xBFb")[1], b"\xEF\xBB\xBFb");
    }
}
