//! From the bytes of a robots.txt to its groups: decoding lines, recognising keys, collecting groups.
//!
//! Total: any bytes give a [`Robots`], with [`Diagnostic`]s about what was odd. Does not yet know whom a group is
//! for ([`crate::rules::groups`]) or what a pattern means ([`crate::rules::order`]).

pub mod directives;

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use memchr::{memchr, memchr_iter, memchr2, memchr3, memrchr2};
use reptile_engine::verdict::RuleKind;

use crate::dialect::{BlankLine, BodyLimit, ByteOrderMark, Dialect, KeyMatching, RuleBytes, RuleStart};

/// A parsed robots.txt. Borrows its text from the body and its lists from an arena.
#[derive(Debug)]
pub struct Robots<'b> {
    /// The groups, in the order of the file.
    pub groups: BumpVec<'b, Group<'b>>,
    /// What was odd, in the order of the lines.
    pub diagnostics: Vec<Diagnostic>,
    /// How many lines there are.
    pub line_count: u32,
}

/// Consecutive user-agent lines and the rules that follow them.
#[derive(Clone, Copy, Debug)]
pub struct Group<'b> {
    /// The values of the user-agent lines.
    pub agents: &'b [&'b [u8]],
    /// The rules, as written.
    pub rules: &'b [RawRule<'b>],
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

/// A line with another key than those that make groups and rules: other directives, or a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawDirective<'b> {
    /// The index of the group that it stands in.
    pub part: Option<u32>,
    /// The key as written.
    pub key: &'b [u8],
    /// The value, trimmed, otherwise as written.
    pub value: &'b [u8],
    /// The line, from 1.
    pub line: u32,
    /// Whether the dialect takes the key as `Sitemap`.
    pub is_sitemap: bool,
}

/// Something odd about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line, from 1.
    pub line: u32,
    /// What about it.
    pub kind: DiagnosticKind,
}

/// What can be odd about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// Longer than the dialect keeps; the rest was dropped.
    LineTooLong,
    /// A NUL byte, which ends the line in some dialects.
    Nul,
    /// A rule in front of the first user-agent line, or behind the end of a group; it counts for nobody.
    RuleOutsideGroup,
    /// A key other than those that decide URLs; other directives, or a mistake.
    UnknownKey,
    /// Text without a separator between key and value.
    NoSeparator,
    /// A file longer than the dialect reads; the lines behind that were dropped.
    BodyCut,
    /// A file so long that the dialect takes it as empty.
    BodyIgnored,
    /// A rule that begins with neither `/` nor `*`, in a dialect where it must; it was left out.
    RuleStart,
    /// A rule with bytes that the dialect does not accept in one; it was left out.
    RuleBytes,
    /// A rule longer than the dialect takes; it was left out.
    RuleTooLong,
    /// A rule behind as many as the dialect takes; it was left out.
    TooManyRules,
    /// A line of other directives with more bytes than are kept; it was left out.
    DirectiveTooLong,
    /// A line of other directives behind as much of it as is kept; it was left out.
    TooManyDirectives,
    /// The file is a web page and not a robots.txt; what looks like a rule in it counts nevertheless.
    Html,
}

impl DiagnosticKind {
    /// What to tell people.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            DiagnosticKind::LineTooLong => "line too long, its end was dropped",
            DiagnosticKind::Nul => "NUL byte inside a line",
            DiagnosticKind::RuleOutsideGroup => "rule that is in no group",
            DiagnosticKind::UnknownKey => "key that decides nothing",
            DiagnosticKind::NoSeparator => "line without a separator",
            DiagnosticKind::BodyCut => "file too long, its end was dropped",
            DiagnosticKind::BodyIgnored => "file too long, taken as empty",
            DiagnosticKind::RuleStart => "rule that does not begin with \"/\" or \"*\", left out",
            DiagnosticKind::RuleBytes => "rule with bytes that have no place in one, left out",
            DiagnosticKind::RuleTooLong => "rule too long, left out",
            DiagnosticKind::TooManyRules => "rule behind the last that counts, left out",
            DiagnosticKind::DirectiveTooLong => "other directives too long, left out",
            DiagnosticKind::TooManyDirectives => "other directives behind the last that is kept, left out",
            DiagnosticKind::Html => "web page instead of a robots.txt",
        }
    }
}

/// A recognised line.
pub(crate) enum Line<'b> {
    Agent(&'b [u8]),
    Rule(RuleKind, &'b [u8]),
    Sitemap(&'b [u8], &'b [u8]),
    /// Any other key, and its value.
    Other(&'b [u8], &'b [u8]),
    Blank,
}

/// Reads a robots.txt. Time linear in the body; the arena grows by a constant for each agent, rule and oddity.
pub fn parse<'b>(body: &'b [u8], dialect: &Dialect, arena: &'b Bump) -> Robots<'b> {
    parse_with(body, dialect, arena, |_| ())
}

/// As [`parse`], but also hands over the lines with other keys, in their order.
pub fn parse_with<'b>(
    body: &'b [u8],
    dialect: &Dialect,
    arena: &'b Bump,
    on_field: impl FnMut(RawDirective<'b>),
) -> Robots<'b> {
    // Room for as many rules as there can be: growing would leave what is outgrown in the arena.
    let most_rules = (memchr_iter(b'\n', body).count() + 1).min(body.len() / SHORTEST_RULE_BYTES + 1);
    let mut collector = Collector {
        starts: Vec::new(),
        agents: Vec::new(),
        rules: BumpVec::with_capacity_in(most_rules, arena),
        diagnostics: Vec::new(),
        on_field,
    };
    if is_html(body) {
        collector.oddity(1, DiagnosticKind::Html);
    }
    let line_count = read(body, dialect, &mut collector);
    let Collector { starts, agents, rules, diagnostics, .. } = collector;
    let (agents, rules) = (&*arena.alloc_slice_copy(&agents), rules.into_bump_slice());
    let ends = starts.iter().skip(1).copied().chain([(agents.len(), rules.len())]);
    let groups = starts.iter().zip(ends).map(|(&(first_agent, first_rule), (agents_end, rules_end))| Group {
        agents: &agents[first_agent..agents_end],
        rules: &rules[first_rule..rules_end],
    });
    let mut all = BumpVec::with_capacity_in(starts.len(), arena);
    all.extend(groups);
    Robots { groups: all, diagnostics, line_count }
}

/// `allow:` and the end of the line.
const SHORTEST_RULE_BYTES: usize = 7;

/// Makes a [`Robots`] out of what is read.
struct Collector<'b, F> {
    /// For each group the indices of its first user-agent line and of its first rule. Both go on to the next group's.
    starts: Vec<(usize, usize)>,
    agents: Vec<&'b [u8]>,
    rules: BumpVec<'b, RawRule<'b>>,
    diagnostics: Vec<Diagnostic>,
    on_field: F,
}

impl<'b, F: FnMut(RawDirective<'b>)> Visitor<'b> for Collector<'b, F> {
    fn agent(&mut self, value: &'b [u8], begins_group: bool) {
        if begins_group {
            self.starts.push((self.agents.len(), self.rules.len()));
        }
        self.agents.push(value);
    }

    fn rule(&mut self, rule: RawRule<'b>) {
        self.rules.push(rule);
    }

    fn field(&mut self, field: RawDirective<'b>) {
        (self.on_field)(field);
    }

    fn oddity(&mut self, line: u32, kind: DiagnosticKind) {
        self.diagnostics.push(Diagnostic { line, kind });
    }
}

/// Is told what is in a robots.txt, line by line.
pub(crate) trait Visitor<'b> {
    /// Whether it listens to [`Visitor::field`] and [`Visitor::oddity`]; lines that have no other meaning are
    /// recognised faster without.
    const WANTS_ALL: bool = true;
    /// A user-agent line, and whether it begins a group or goes on with one.
    fn agent(&mut self, value: &'b [u8], begins_group: bool);
    /// A rule that counts, of the group that began last.
    fn rule(&mut self, rule: RawRule<'b>);
    /// A line with another key.
    fn field(&mut self, field: RawDirective<'b>);
    /// Something odd about a line.
    fn oddity(&mut self, line: u32, kind: DiagnosticKind);
}

/// Reads a robots.txt to a visitor and returns the number of its lines. Time linear in the body.
pub(crate) fn read<'b, V: Visitor<'b>>(body: &'b [u8], dialect: &Dialect, visitor: &mut V) -> u32 {
    let (body, oddity) = within_limit(body, dialect.body_limit);
    // Whether the last group takes rules, and whether it still takes user-agent lines.
    let (mut takes_rules, mut takes_agents) = (false, false);
    let (mut line_count, mut group_count, mut rule_count) = (0, 0_u32, 0);
    let mut lines = Lines::new(body, dialect.byte_order_mark);
    // Looked for once and not in every line: hardly any file has one.
    let nul_ends_line = dialect.nul_ends_line && memchr(0, body).is_some();
    while let Some((line, comment)) = lines.next_with_comment() {
        line_count += 1;
        let number = line_count;
        let note = &mut |oddity| visitor.oddity(number, oddity);
        let recognised = if V::WANTS_ALL {
            recognise::<true>(line, comment, nul_ends_line, dialect, note)
        } else {
            recognise::<false>(line, comment, nul_ends_line, dialect, note)
        };
        match recognised {
            Some(Line::Agent(value)) => {
                group_count += u32::from(!takes_agents);
                visitor.agent(value, !takes_agents);
                (takes_rules, takes_agents) = (true, true);
            }
            Some(Line::Rule(kind, value)) if takes_rules => {
                // A rule ends the list of user-agent lines, be it one that counts or not.
                takes_agents = false;
                rule_count += 1;
                match fault_of(kind, value, rule_count, dialect) {
                    None => visitor.rule(RawRule { kind, value, line: number }),
                    Some(oddity) => visitor.oddity(number, oddity),
                }
            }
            Some(Line::Rule(..)) => visitor.oddity(number, DiagnosticKind::RuleOutsideGroup),
            Some(Line::Blank) if dialect.blank_line == BlankLine::EndsGroup => {
                (takes_rules, takes_agents) = (false, false);
            }
            Some(Line::Sitemap(key, value) | Line::Other(key, value)) => {
                let is_sitemap = matches!(recognised, Some(Line::Sitemap(..)));
                let part = takes_rules.then(|| group_count - 1);
                visitor.field(RawDirective { part, key, value, line: number, is_sitemap });
            }
            Some(Line::Blank) | None => {}
        }
    }
    if let Some(oddity) = oddity {
        visitor.oddity(line_count, oddity);
    }
    line_count
}

/// The part of a file that is read.
fn within_limit(body: &[u8], limit: BodyLimit) -> (&[u8], Option<DiagnosticKind>) {
    match limit {
        BodyLimit::Truncate(limit) if body.len() > limit => {
            // A line that ends just at the limit is whole.
            let end = memrchr2(b'\n', b'\r', &body[..=limit]).unwrap_or(0);
            (&body[..end], Some(DiagnosticKind::BodyCut))
        }
        BodyLimit::TreatAsEmpty(limit) if body.len() > limit => (&[], Some(DiagnosticKind::BodyIgnored)),
        _ => (body, None),
    }
}

/// Why a rule does not count, if it does not. `number` is its place among the rules of the file, from 1.
fn fault_of(kind: RuleKind, value: &[u8], number: usize, dialect: &Dialect) -> Option<DiagnosticKind> {
    let starts_well = match dialect.rule_start {
        RuleStart::Any => true,
        RuleStart::SlashOrWildcard => matches!(value.first(), None | Some(b'/' | b'*')),
    };
    let has_control = || value.iter().any(|byte| *byte < b' ');
    let has_good_bytes = match dialect.rule_bytes {
        RuleBytes::Any => true,
        RuleBytes::NoControls => !has_control(),
        RuleBytes::Ascii => value.is_ascii(),
        RuleBytes::Utf8WithoutSpace => {
            !has_control() && memchr(b' ', value).is_none() && std::str::from_utf8(value).is_ok()
        }
    };
    match () {
        () if kind == RuleKind::Allow && !dialect.allow_is_rule => Some(DiagnosticKind::UnknownKey),
        () if !starts_well => Some(DiagnosticKind::RuleStart),
        () if !has_good_bytes => Some(DiagnosticKind::RuleBytes),
        () if value.len() > dialect.max_pattern_bytes => Some(DiagnosticKind::RuleTooLong),
        () if number > dialect.max_rules => Some(DiagnosticKind::TooManyRules),
        () => None,
    }
}

/// How much of a file is searched for the marks of a web page.
const HTML_BYTES: usize = 1024;

/// Whether a file begins like a web page, as one in thirty does that popular sites serve as robots.txt.
///
/// One pass for all marks at once, in any letter case: 30 ns for a file without `<`.
pub(crate) fn is_html(body: &[u8]) -> bool {
    static MARKS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let marks = ["<!doctype", "<html", "<head", "<body", "<title", "<meta", "<script"];
        AhoCorasick::builder().ascii_case_insensitive(true).build(marks).ok()
    });
    let start = &body[..body.len().min(HTML_BYTES)];
    memchr(b'<', start).is_some() && MARKS.as_ref().is_some_and(|marks| marks.is_match(start))
}

/// Recognises one line. `None` for a line that has no meaning.
pub(crate) fn line_of<'b>(
    line: &'b [u8],
    dialect: &Dialect,
    note: &mut impl FnMut(DiagnosticKind),
) -> Option<Line<'b>> {
    recognise::<true>(line, memchr(b'#', line), dialect.nul_ends_line, dialect, note)
}

/// As [`line_of`], for a line whose comment begins at `comment`. `nul_ends_line` may be false where there is no NUL.
/// Without `NOTES` some of what is odd is not noted.
#[inline]
fn recognise<'b, const NOTES: bool>(
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
    if !NOTES && !matches!(text[0], b'U' | b'u' | b'A' | b'a' | b'D' | b'd' | b'S' | b's') {
        // No key begins like this.
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

/// The key of a line as nearly all are written, in the spelling that every dialect takes and with the colon behind
/// it, and where that colon is. Saves looking for it.
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

impl Key {
    /// The line with the key, which is written like this, and a value.
    fn with<'b>(self, written: &'b [u8], value: &'b [u8]) -> Line<'b> {
        match self {
            Key::Agent => Line::Agent(value),
            Key::Rule(kind) => Line::Rule(kind, value),
            Key::Sitemap => Line::Sitemap(written, value),
        }
    }
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

/// The lines of a file, numbered by their order from 1. A line ends at CR, LF or CRLF; the text behind the last
/// of them is a line even if it is empty.
pub struct Lines<'b> {
    rest: Option<&'b [u8]>,
}

impl<'b> Lines<'b> {
    /// The lines of `body`, behind its byte order mark.
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

    /// The next line, and where in it the first `#` is. One search for both.
    #[inline]
    fn next_with_comment(&mut self) -> Option<(&'b [u8], Option<usize>)> {
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
    use crate::dialect::{GOOGLE_LIB, KOSTER_1994, RFC9309, RFC9309_STRICT, YANDEX};

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
            let found: Vec<DiagnosticKind> = robots.diagnostics.iter().map(|diagnostic| diagnostic.kind).collect();
            assert_eq!(found == [DiagnosticKind::LineTooLong], reported, "{extra}");
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

    /// The values of the rules, and what was odd.
    fn rules_and_diagnostics(body: &[u8], dialect: &Dialect) -> (Vec<String>, Vec<DiagnosticKind>) {
        let arena = Bump::new();
        let robots = parse(body, dialect, &arena);
        let rules = robots.groups.iter().flat_map(|group| group.rules);
        let values = rules.map(|rule| String::from_utf8_lossy(rule.value).into_owned()).collect();
        (values, robots.diagnostics.iter().map(|diagnostic| diagnostic.kind).collect())
    }

    #[test]
    fn body_limits_hold_at_their_edges() {
        let body = b"user-agent: a\nallow: /a\nallow: /b\n";
        for (limit, rules) in [(0, 0), (13, 0), (22, 0), (23, 1), (24, 1), (32, 1), (33, 2), (34, 2), (35, 2)] {
            let dialect = Dialect { body_limit: BodyLimit::Truncate(limit), ..GOOGLE_LIB };
            let (found, diagnostics) = rules_and_diagnostics(body, &dialect);
            assert_eq!(found.len(), rules, "{limit}");
            assert_eq!(diagnostics == [DiagnosticKind::BodyCut], limit < body.len(), "{limit}");
            let dialect = Dialect { body_limit: BodyLimit::TreatAsEmpty(limit), ..GOOGLE_LIB };
            let (found, diagnostics) = rules_and_diagnostics(body, &dialect);
            assert_eq!(found.len(), if limit < body.len() { 0 } else { 2 }, "{limit}");
            assert_eq!(diagnostics == [DiagnosticKind::BodyIgnored], limit < body.len(), "{limit}");
        }
    }

    #[test]
    fn rule_limits_hold_at_their_edges() {
        for extra in [0, 1] {
            let long = format!("/{}", "x".repeat(YANDEX.max_pattern_bytes - 1 + extra));
            let (rules, diagnostics) =
                rules_and_diagnostics(format!("user-agent: a\nallow: {long}").as_bytes(), &YANDEX);
            assert_eq!((rules.len(), diagnostics.contains(&DiagnosticKind::RuleTooLong)), (1 - extra, extra == 1));
            let count = YANDEX.max_rules + extra;
            let many = format!("user-agent: a\n{}", "allow: /\n".repeat(count));
            let (rules, diagnostics) = rules_and_diagnostics(many.as_bytes(), &YANDEX);
            assert_eq!((rules.len(), diagnostics.len()), (YANDEX.max_rules, extra));
            assert_eq!(diagnostics.contains(&DiagnosticKind::TooManyRules), extra == 1);
        }
    }

    #[test]
    fn rules_that_do_not_count_are_named() {
        let body =
            "user-agent: a\nallow: x\nallow: /\u{1}\nallow: /\u{e9}\nallow: /a b\nallow: *\nallow:\n\nallow: /\n";
        let of = |dialect| rules_and_diagnostics(body.as_bytes(), dialect);
        use DiagnosticKind::{RuleBytes, RuleOutsideGroup, RuleStart, UnknownKey};
        assert_eq!(of(&GOOGLE_LIB).1, []);
        assert_eq!(
            of(&RFC9309),
            (vec!["/\u{e9}".into(), "/a b".into(), "*".into(), String::new(), "/".into()], vec![RuleStart, RuleBytes])
        );
        assert_eq!(of(&RFC9309_STRICT).0, ["/\u{e9}", "*", "", "/"]);
        assert_eq!(
            of(&YANDEX),
            (
                vec!["/\u{1}".into(), "/a b".into(), "*".into(), String::new()],
                vec![RuleStart, RuleBytes, RuleOutsideGroup]
            )
        );
        assert_eq!(
            of(&KOSTER_1994).1,
            [UnknownKey, UnknownKey, UnknownKey, UnknownKey, UnknownKey, UnknownKey, RuleOutsideGroup]
        );
    }

    #[test]
    fn blank_lines_end_groups_where_they_do() {
        let body = b"user-agent: a\n \t\nuser-agent: b\n#\nallow: /\n\nallow: /x\n";
        let arena = Bump::new();
        let groups = |dialect| -> Vec<(usize, usize)> {
            parse(body, dialect, &arena).groups.iter().map(|group| (group.agents.len(), group.rules.len())).collect()
        };
        assert_eq!(groups(&GOOGLE_LIB), [(2, 2)]);
        assert_eq!(groups(&YANDEX), [(1, 0), (1, 1)]);
    }
}
