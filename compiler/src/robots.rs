//! From the bytes of a robots.txt to its groups: decoding lines, recognising keys, collecting groups.
//!
//! Total: any bytes give a [`Robots`], with [`Diagnostic`]s about what was odd. Does not yet know whom a group is
//! for ([`crate::agents`]) or what a pattern means ([`crate::rules`]).

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use memchr::{memchr, memchr2};
use reptile_engine::verdict::RuleKind;

use crate::dialect::{ByteOrderMark, Dialect, Keys};

/// A parsed robots.txt. Borrows its text from the body and its lists from an arena.
#[derive(Debug)]
pub struct Robots<'b> {
    /// The groups, in the order of the file.
    pub groups: BumpVec<'b, Group<'b>>,
    /// What was odd, in the order of the lines.
    pub diagnostics: BumpVec<'b, Diagnostic>,
    /// How many lines there are.
    pub line_count: u32,
}

/// Consecutive user-agent lines and the rules that follow them.
#[derive(Debug)]
pub struct Group<'b> {
    /// The values of the user-agent lines.
    pub agents: BumpVec<'b, &'b [u8]>,
    /// The rules, as written.
    pub rules: BumpVec<'b, RawRule<'b>>,
}

/// An `Allow` or `Disallow` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRule<'b> {
    /// Which of the two.
    pub kind: RuleKind,
    /// The value, trimmed, otherwise as written.
    pub value: &'b [u8],
    /// The line, from 1.
    pub line: u32,
}

/// Something odd about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line, from 1.
    pub line: u32,
    /// What about it.
    pub oddity: Oddity,
}

/// What can be odd about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Oddity {
    /// Longer than the dialect keeps; the rest was dropped.
    LineTooLong,
    /// A NUL byte, which ends the line in some dialects.
    Nul,
    /// A rule in front of the first user-agent line; it counts for nobody.
    RuleOutsideGroup,
    /// A key other than those that decide URLs; side data, or a mistake.
    UnknownKey,
    /// Text without a separator between key and value.
    NoSeparator,
    /// The file is a web page and not a robots.txt; what looks like a rule in it counts nevertheless.
    Html,
}

impl Oddity {
    /// What to tell people.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Oddity::LineTooLong => "line too long, its end was dropped",
            Oddity::Nul => "NUL byte inside a line",
            Oddity::RuleOutsideGroup => "rule in front of the first user-agent line",
            Oddity::UnknownKey => "key that decides nothing",
            Oddity::NoSeparator => "line without a separator",
            Oddity::Html => "web page instead of a robots.txt",
        }
    }
}

/// A recognised line.
enum Line<'b> {
    Agent(&'b [u8]),
    Rule(RuleKind, &'b [u8]),
    Sitemap,
}

/// Reads a robots.txt. Time linear in the body; the arena grows by a constant for each agent, rule and oddity.
pub fn parse<'b>(body: &'b [u8], dialect: &Dialect, arena: &'b Bump) -> Robots<'b> {
    let mut robots = Robots { groups: BumpVec::new_in(arena), diagnostics: BumpVec::new_in(arena), line_count: 0 };
    if is_html(body) {
        robots.diagnostics.push(Diagnostic { line: 1, oddity: Oddity::Html });
    }
    // A rule ends the list of user-agent lines, so that the next one begins a new group. Nothing else does.
    let mut rules_seen = true;
    for (number, line) in (1_u32..).zip(Lines::new(body, dialect.byte_order_mark)) {
        robots.line_count = number;
        let mut note = |oddity| robots.diagnostics.push(Diagnostic { line: number, oddity });
        let recognised = match line_of(line, dialect, &mut note) {
            Some(recognised) => recognised,
            None => continue,
        };
        match recognised {
            Line::Agent(value) => {
                if rules_seen {
                    robots.groups.push(Group { agents: BumpVec::new_in(arena), rules: BumpVec::new_in(arena) });
                    rules_seen = false;
                }
                if let Some(group) = robots.groups.last_mut() {
                    group.agents.push(value);
                }
            }
            Line::Rule(kind, value) => match robots.groups.last_mut() {
                Some(group) => {
                    group.rules.push(RawRule { kind, value, line: number });
                    rules_seen = true;
                }
                None => note(Oddity::RuleOutsideGroup),
            },
            Line::Sitemap => {}
        }
    }
    robots
}

/// How much of a file is searched for the marks of a web page.
const HTML_BYTES: usize = 1024;

/// Whether a file begins like a web page, as one in thirty does that popular sites serve as robots.txt.
///
/// One pass for all marks at once, in any letter case: 30 ns for a file without `<`.
fn is_html(body: &[u8]) -> bool {
    static MARKS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let marks = ["<!doctype", "<html", "<head", "<body", "<title", "<meta", "<script"];
        AhoCorasick::builder().ascii_case_insensitive(true).build(marks).ok()
    });
    let start = &body[..body.len().min(HTML_BYTES)];
    memchr(b'<', start).is_some() && MARKS.as_ref().is_some_and(|marks| marks.is_match(start))
}

/// Recognises one line. `None` for a line that has no meaning.
fn line_of<'b>(line: &'b [u8], dialect: &Dialect, note: &mut impl FnMut(Oddity)) -> Option<Line<'b>> {
    let mut text = line;
    if text.len() > dialect.max_line_bytes {
        text = &text[..dialect.max_line_bytes];
        note(Oddity::LineTooLong);
    }
    if dialect.nul_ends_line
        && let Some(end) = memchr(0, text)
    {
        text = &text[..end];
        note(Oddity::Nul);
    }
    if let Some(comment) = memchr(b'#', text) {
        text = &text[..comment];
    }
    let text = trim(text);
    if text.is_empty() {
        return None;
    }
    let Some(separator) = memchr(b':', text).or_else(|| blank_separator(text, dialect)) else {
        note(Oddity::NoSeparator);
        return None;
    };
    let (key, value) = (trim(&text[..separator]), trim(&text[separator + 1..]));
    if key.is_empty() {
        note(Oddity::NoSeparator);
        return None;
    }
    let recognised = match dialect.keys {
        Keys::PrefixesAndTypos => key_by_prefix(key),
    };
    match recognised {
        Some(Key::Agent) => Some(Line::Agent(value)),
        Some(Key::Rule(kind)) => Some(Line::Rule(kind, value)),
        Some(Key::Sitemap) => Some(Line::Sitemap),
        None => {
            note(Oddity::UnknownKey);
            None
        }
    }
}

/// The white space that stands for a forgotten colon: the first, if exactly two words surround it.
fn blank_separator(text: &[u8], dialect: &Dialect) -> Option<usize> {
    if !dialect.colon_optional {
        return None;
    }
    let separator = memchr2(b' ', b'\t', text)?;
    let value = text[separator..].iter().position(|byte| !b" \t".contains(byte))?;
    memchr2(b' ', b'\t', &text[separator + value..]).is_none().then_some(separator)
}

enum Key {
    Agent,
    Rule(RuleKind),
    Sitemap,
}

/// Recognises a key by its beginning, misspellings that are frequent included.
///
/// Source: google/robotstxt, `ParsedRobotsKey`; the order matters only in that no spelling begins another.
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

/// Whether C's `isspace` holds, which is what the reference trims. The no-break space is not among them.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0B | 0x0C | b'\r')
}

fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&byte| !is_space(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|&byte| !is_space(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// The lines of a file, numbered by their order from 1. A line ends at CR, LF or CRLF; the text behind the last
/// of them is a line even if it is empty.
pub struct Lines<'b> {
    rest: Option<&'b [u8]>,
}

impl<'b> Lines<'b> {
    /// The lines of `body`, behind its byte order mark.
    #[must_use]
    pub fn new(body: &'b [u8], mark: ByteOrderMark) -> Lines<'b> {
        let skipped = match mark {
            ByteOrderMark::CommonPrefix => b"\xEF\xBB\xBF".iter().zip(body).take_while(|(a, b)| a == b).count(),
        };
        Lines { rest: Some(&body[skipped..]) }
    }
}

impl<'b> Iterator for Lines<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        let text = self.rest?;
        let Some(end) = memchr2(b'\n', b'\r', text) else {
            self.rest = None;
            return Some(text);
        };
        let terminator = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
        self.rest = Some(&text[end + terminator..]);
        Some(&text[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::GOOGLE_LIB;

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

    #[test]
    fn line_limit_holds_at_its_edges() {
        let arena = Bump::new();
        let max = GOOGLE_LIB.max_line_bytes;
        for (extra, kept, reported) in [(0, max - 1, false), (1, max, false), (2, max, true)] {
            let mut body = b"user-agent:a\n".to_vec();
            body.extend(std::iter::repeat_n(b'x', max - 1 + extra));
            let key = b"allow:/";
            body[13..13 + key.len()].copy_from_slice(key);
            let body = arena.alloc_slice_copy(&body);
            let robots = parse(body, &GOOGLE_LIB, &arena);
            assert_eq!(robots.groups[0].rules[0].value.len(), kept - b"allow:".len());
            let found: Vec<Oddity> = robots.diagnostics.iter().map(|diagnostic| diagnostic.oddity).collect();
            assert_eq!(found == [Oddity::LineTooLong], reported, "{extra}");
        }
    }

    #[test]
    fn web_pages_are_told_apart() {
        for (body, html) in [
            ("<!DOCTYPE html>\n<p>", true),
            ("\n <HtMl lang=en>", true),
            ("user-agent: *\ndisallow: /<b\n", false),
            ("", false),
            (&("#".repeat(HTML_BYTES - 4) + "<html"), false),
            (&("#".repeat(HTML_BYTES - 5) + "<html"), true),
            (&("#".repeat(HTML_BYTES - 6) + "<html"), true),
        ] {
            assert_eq!(is_html(body.as_bytes()), html, "{body:?}");
        }
    }

    #[test]
    fn separators_and_keys() {
        let arena = Bump::new();
        let rule = |line: &str| {
            let body = arena.alloc_str(&format!("user-agent: a\n{line}\n"));
            let robots = parse(body.as_bytes(), &GOOGLE_LIB, &arena);
            robots.groups[0].rules.first().map(|rule| (rule.kind, String::from_utf8_lossy(rule.value).into_owned()))
        };
        let disallow = |value: &str| Some((RuleKind::Disallow, value.to_owned()));
        assert_eq!(rule("disallow: /a # b"), disallow("/a"));
        assert_eq!(rule("DISALLOW\t/a"), disallow("/a"));
        assert_eq!(rule("disallow /a b"), None);
        assert_eq!(rule("disallow /a:b"), disallow("b"));
        assert_eq!(rule("\x0Bdisallow\x0C: /"), disallow("/"));
        assert_eq!(rule("disallow: /x\0y"), disallow("/x"));
        assert_eq!(rule("disallowed: /a"), disallow("/a"));
        assert_eq!(rule("disllow: /a"), None);
        assert_eq!(rule("allowance: /a"), Some((RuleKind::Allow, "/a".to_owned())));
        assert_eq!(rule(": /a"), None);
        assert_eq!(rule("disallow:"), disallow(""));
        assert_eq!(rule("disallow"), None);
    }
}
