//! Parses the bytes of a robots.txt into groups.
//!
//! Parsing never fails: any bytes give a [`Robots`], with a [`Diagnostic`] for each line that does not count or is only
//! partly read. `lines` decodes lines and recognizes keys. `format` recognizes other formats, `challenge` firewall
//! pages, and `not_found` pages that say "not found". `html` removes tags. `kind` also counts the rules of another
//! format. [`directives`] reads the lines that decide no URL.
//! [`crate::rules::groups`] assigns groups to crawlers, and [`crate::rules::order`] interprets patterns.

pub(crate) mod challenge;
mod diagnostics;
mod directive_keys;
pub mod directives;
pub(crate) mod format;
pub(crate) mod html;
mod kind;
mod lines;
pub(crate) mod not_found;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use memchr::{memchr, memchr_iter, memrchr2};
use reptile_engine::format::directives::DirectiveKind;
use reptile_engine::verdict::RuleKind;

pub use self::diagnostics::{Diagnostic, DiagnosticKind, Diagnostics};
pub use self::format::{BodyFormat, Encoding, has_directive};
pub use self::kind::BodyKind;
pub use self::lines::Lines;
use self::lines::recognize;
pub(crate) use self::lines::{Line, line_of};
use crate::dialect::{BlankLine, BodyLimit, Dialect, RuleBytes, RuleStart};

/// A parsed robots.txt. Borrows its text from the body and its lists from an arena.
#[derive(Debug)]
pub struct Robots<'b> {
    /// The groups, in file order.
    pub groups: BumpVec<'b, Group<'b>>,
    /// The diagnostics.
    pub diagnostics: Diagnostics,
    /// The number of lines that are read.
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
    /// Whether it allows or disallows.
    pub kind: RuleKind,
    /// The value, trimmed but otherwise as written.
    pub value: &'b [u8],
    /// The line, from 1.
    pub line: u32,
}

/// A line whose key forms neither groups nor rules: another directive, or a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawDirective<'b> {
    /// The index of the group that contains the line.
    pub group: Option<u32>,
    /// The key as written.
    pub key: &'b [u8],
    /// The value, trimmed but otherwise as written.
    pub value: &'b [u8],
    /// The line, from 1.
    pub line: u32,
    /// The kind, if the whole key does not determine it: for a key that the dialect reads as `Sitemap`, or a comment
    /// around a vendor's managed block.
    pub kind: Option<DirectiveKind>,
    /// The line's length in bytes, if the dialect drops the end of the line, and so of the value.
    pub cut: Option<usize>,
}

/// Parses a robots.txt. Takes time linear in the body; the arena grows by a constant per user-agent line and rule.
pub fn parse<'b>(body: &'b [u8], dialect: &Dialect, arena: &'b Bump) -> Robots<'b> {
    parse_with(body, dialect, arena, |_| None, |_| ())
}

/// Parses a robots.txt like [`parse`], and also reports lines with other keys and all diagnostics, in order.
///
/// `on_directive` returns the reason if it leaves a line out.
pub fn parse_with<'b>(
    body: &'b [u8],
    dialect: &Dialect,
    arena: &'b Bump,
    on_directive: impl FnMut(RawDirective<'b>) -> Option<DiagnosticKind>,
    on_diagnostic: impl FnMut(Diagnostic),
) -> Robots<'b> {
    parse_document(body, format::document_of(body), dialect, arena, on_directive, on_diagnostic)
}

/// Parses a robots.txt like [`parse_with`], given what [`format::document_of`] returns for the body.
pub(crate) fn parse_document<'b>(
    body: &'b [u8],
    document: Option<BodyFormat>,
    dialect: &Dialect,
    arena: &'b Bump,
    on_directive: impl FnMut(RawDirective<'b>) -> Option<DiagnosticKind>,
    on_diagnostic: impl FnMut(Diagnostic),
) -> Robots<'b> {
    // Reserves space for the maximum number of rules, because a growing list wastes arena memory on each move.
    let most_rules = (memchr_iter(b'\n', body).count() + 1).min(body.len() / SHORTEST_RULE_BYTES + 1);
    let mut collector = Collector {
        starts: BumpVec::new_in(arena),
        agents: BumpVec::new_in(arena),
        rules: BumpVec::with_capacity_in(most_rules, arena),
        diagnostics: Diagnostics::default(),
        on_directive,
        on_diagnostic,
    };
    if document == Some(BodyFormat::Html) {
        collector.diagnostic(1, DiagnosticKind::Html);
    }
    let line_count = read(body, dialect, &mut collector);
    let Collector { starts, agents, rules, diagnostics, .. } = collector;
    let (agents, rules) = (agents.into_bump_slice(), rules.into_bump_slice());
    let ends = starts.iter().skip(1).copied().chain([(agents.len(), rules.len())]);
    let groups = starts.iter().zip(ends).map(|(&(first_agent, first_rule), (agents_end, rules_end))| Group {
        agents: &agents[first_agent..agents_end],
        rules: &rules[first_rule..rules_end],
    });
    let mut all = BumpVec::with_capacity_in(starts.len(), arena);
    all.extend(groups);
    Robots { groups: all, diagnostics, line_count }
}

/// The length of `allow:` and a line end.
const SHORTEST_RULE_BYTES: usize = 7;

/// Collects parsed lines into a [`Robots`].
struct Collector<'b, F, G> {
    /// For each group, the indices of its first user-agent line and first rule. They are also the previous group's
    /// ends.
    starts: BumpVec<'b, (usize, usize)>,
    agents: BumpVec<'b, &'b [u8]>,
    rules: BumpVec<'b, RawRule<'b>>,
    diagnostics: Diagnostics,
    on_directive: F,
    on_diagnostic: G,
}

impl<'b, F, G> Visitor<'b> for Collector<'b, F, G>
where
    F: FnMut(RawDirective<'b>) -> Option<DiagnosticKind>,
    G: FnMut(Diagnostic),
{
    fn agent(&mut self, value: &'b [u8], begins_group: bool) {
        if begins_group {
            self.starts.push((self.agents.len(), self.rules.len()));
        }
        self.agents.push(value);
    }

    fn rule(&mut self, rule: RawRule<'b>) {
        self.rules.push(rule);
    }

    fn directive(&mut self, directive: RawDirective<'b>) {
        if let Some(kind) = (self.on_directive)(directive) {
            self.diagnostic(directive.line, kind);
        }
    }

    fn diagnostic(&mut self, line: u32, kind: DiagnosticKind) {
        let diagnostic = Diagnostic { line, kind };
        self.diagnostics.add(diagnostic);
        (self.on_diagnostic)(diagnostic);
    }
}

/// Receives the parsed lines of a robots.txt.
pub(crate) trait Visitor<'b> {
    /// Whether [`Visitor::directive`] and [`Visitor::diagnostic`] do anything. If not, irrelevant lines are skipped
    /// faster.
    const WANTS_ALL: bool = true;
    /// Receives a user-agent line. `begins_group` is false if it extends a group.
    fn agent(&mut self, value: &'b [u8], begins_group: bool);
    /// Receives a rule that counts and belongs to the current group.
    fn rule(&mut self, rule: RawRule<'b>);
    /// Receives a line with another key.
    fn directive(&mut self, directive: RawDirective<'b>);
    /// Receives a diagnostic about a line.
    fn diagnostic(&mut self, line: u32, kind: DiagnosticKind);
}

/// Reads a robots.txt into a visitor and returns the number of lines. Takes time linear in the body.
pub(crate) fn read<'b, V: Visitor<'b>>(body: &'b [u8], dialect: &Dialect, visitor: &mut V) -> u32 {
    let (body, limit_met) = within_limit(body, dialect.body_limit);
    // Whether the last group accepts rules, and whether it still accepts user-agent lines.
    let (mut takes_rules, mut takes_agents) = (false, false);
    let (mut line_count, mut group_count, mut rule_count) = (0, 0_u32, 0);
    let mut lines = Lines::new(body, dialect.byte_order_mark);
    // One search per file instead of one per line: hardly any file contains a NUL.
    let nul_ends_line = dialect.nul_ends_line && memchr(0, body).is_some();
    while let Some((line, comment)) = lines.next_with_comment() {
        line_count += 1;
        let number = line_count;
        let note = &mut |kind| visitor.diagnostic(number, kind);
        let recognized = if V::WANTS_ALL {
            recognize::<true>(line, comment, nul_ends_line, dialect, note)
        } else {
            recognize::<false>(line, comment, nul_ends_line, dialect, note)
        };
        match recognized {
            Some(Line::Agent(value)) => {
                group_count += u32::from(!takes_agents);
                visitor.agent(value, !takes_agents);
                (takes_rules, takes_agents) = (true, true);
            }
            Some(Line::Rule(kind, value)) if takes_rules => {
                // Even a rule that does not count ends the list of user-agent lines.
                takes_agents = false;
                rule_count += 1;
                match fault_of(kind, value, rule_count, dialect) {
                    None => visitor.rule(RawRule { kind, value, line: number }),
                    Some(kind) => visitor.diagnostic(number, kind),
                }
            }
            Some(Line::Rule(..)) => visitor.diagnostic(number, DiagnosticKind::RuleOutsideGroup),
            Some(Line::Blank) if dialect.blank_line == BlankLine::EndsGroup => {
                (takes_rules, takes_agents) = (false, false);
            }
            Some(Line::Sitemap(key, value) | Line::Other(key, value)) => {
                let is_sitemap = matches!(recognized, Some(Line::Sitemap(..)));
                let kind = is_sitemap.then_some(DirectiveKind::Sitemap);
                let group = takes_rules.then(|| group_count - 1);
                if dialect.crawl_delay_ends_agents && directives::kind_of(key) == DirectiveKind::CrawlDelay {
                    takes_agents = false;
                }
                let is_cut = line.len().min(comment.unwrap_or(usize::MAX)) > dialect.max_line_bytes;
                let cut = is_cut.then_some(line.len());
                visitor.directive(RawDirective { group, key, value, line: number, kind, cut });
            }
            // Only comments at the start of a line.
            Some(Line::Blank) | None if V::WANTS_ALL && comment == Some(0) => {
                if let Some(kind) = managed_block(&line[1..]) {
                    let value = line[1..].trim_ascii();
                    let (key, kind) = (&b""[..], Some(kind));
                    visitor.directive(RawDirective { group: None, key, value, line: number, kind, cut: None });
                }
            }
            Some(Line::Blank) | None => {}
        }
    }
    if let Some(kind) = limit_met {
        visitor.diagnostic(line_count, kind);
    }
    line_count
}

/// Returns whether a comment begins or ends a vendor's managed block, such as `BEGIN Cloudflare Managed content`.
/// Ignores letter case, because vendors are inconsistent.
fn managed_block(comment: &[u8]) -> Option<DirectiveKind> {
    // Most comments are rejected here.
    let comment = comment.trim_ascii_start();
    if !matches!(comment.first(), Some(b'B' | b'b' | b'E' | b'e')) {
        return None;
    }
    let mut words = comment.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let kind = match words.next()? {
        word if word.eq_ignore_ascii_case(b"begin") => DirectiveKind::ManagedBegin,
        word if word.eq_ignore_ascii_case(b"end") => DirectiveKind::ManagedEnd,
        _ => return None,
    };
    words.skip(1).any(|word| word.eq_ignore_ascii_case(b"managed")).then_some(kind)
}

/// Returns the part of a file that is read.
fn within_limit(body: &[u8], limit: BodyLimit) -> (&[u8], Option<DiagnosticKind>) {
    match limit {
        BodyLimit::Truncate(limit) if body.len() > limit => {
            // A line that ends exactly at the limit is complete.
            let end = memrchr2(b'\n', b'\r', &body[..=limit]).unwrap_or(0);
            (&body[..end], Some(DiagnosticKind::BodyCut))
        }
        BodyLimit::TreatAsEmpty(limit) if body.len() > limit => (&[], Some(DiagnosticKind::BodyIgnored)),
        _ => (body, None),
    }
}

/// Returns why a rule does not count, or `None` if it counts. `number` is its position among the file's rules, from 1.
#[inline(always)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{GOOGLE, GOOGLE_LIB, KOSTER_1994, RFC9309, RFC9309_STRICT, YANDEX, YANDEX_2017};
    use crate::limits::{
        MAX_BODY_BYTES_500_KIB, MAX_BODY_BYTES_2017, MAX_LINE_BYTES_GOOGLE, MAX_PATTERN_BYTES_YANDEX, MAX_RULES_YANDEX,
    };

    #[test]
    fn long_lines_are_cut_at_the_limit() {
        let arena = Bump::new();
        let max = MAX_LINE_BYTES_GOOGLE;
        for (extra, kept, reported) in [(0, max - 1, false), (1, max, false), (2, max, true)] {
            let mut body = b"user-agent:a\n".to_vec();
            body.extend(std::iter::repeat_n(b'x', max - 1 + extra));
            let key = b"allow:/";
            body[13..13 + key.len()].copy_from_slice(key);
            let body = arena.alloc_slice_copy(&body);
            let robots = parse(body, &GOOGLE_LIB, &arena);
            assert_eq!(robots.groups[0].rules[0].value.len(), kept - b"allow:".len());
            let found: Vec<DiagnosticKind> =
                robots.diagnostics.first().iter().map(|diagnostic| diagnostic.kind).collect();
            assert_eq!(found == [DiagnosticKind::LineTooLong], reported, "{extra}");
        }
    }

    #[test]
    fn keys_are_recognized_with_various_separators() {
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

    /// Returns the values of the rules, and the diagnostics.
    fn rules_and_diagnostics(body: &[u8], dialect: &Dialect) -> (Vec<String>, Vec<DiagnosticKind>) {
        let arena = Bump::new();
        let robots = parse(body, dialect, &arena);
        let rules = robots.groups.iter().flat_map(|group| group.rules);
        let values = rules.map(|rule| String::from_utf8_lossy(rule.value).into_owned()).collect();
        (values, robots.diagnostics.first().iter().map(|diagnostic| diagnostic.kind).collect())
    }

    #[test]
    fn body_limits_apply_only_to_longer_files() {
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
    fn each_dialect_has_its_own_body_limit() {
        for (dialect, limit, kind) in [
            (&GOOGLE, MAX_BODY_BYTES_500_KIB, DiagnosticKind::BodyCut),
            (&YANDEX, MAX_BODY_BYTES_500_KIB, DiagnosticKind::BodyIgnored),
            (&YANDEX_2017, MAX_BODY_BYTES_2017, DiagnosticKind::BodyIgnored),
        ] {
            for len in [limit - 1, limit, limit + 1] {
                let (_, diagnostics) = rules_and_diagnostics("#".repeat(len).as_bytes(), dialect);
                assert_eq!(diagnostics == [kind], len > limit, "{dialect} {len}");
            }
        }
    }

    #[test]
    fn long_rules_and_too_many_rules_are_left_out() {
        for extra in [0, 1] {
            let long = format!("/{}", "x".repeat(MAX_PATTERN_BYTES_YANDEX - 1 + extra));
            let (rules, diagnostics) =
                rules_and_diagnostics(format!("user-agent: a\nallow: {long}").as_bytes(), &YANDEX);
            assert_eq!((rules.len(), diagnostics.contains(&DiagnosticKind::RuleTooLong)), (1 - extra, extra == 1));
            let count = MAX_RULES_YANDEX + extra;
            let many = format!("user-agent: a\n{}", "allow: /\n".repeat(count));
            let (rules, diagnostics) = rules_and_diagnostics(many.as_bytes(), &YANDEX);
            assert_eq!((rules.len(), diagnostics.len()), (MAX_RULES_YANDEX, extra));
            assert_eq!(diagnostics.contains(&DiagnosticKind::TooManyRules), extra == 1);
        }
    }

    #[test]
    fn rules_that_do_not_count_are_reported() {
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
    fn blank_lines_end_groups_in_some_dialects() {
        let body = b"user-agent: a\n \t\nuser-agent: b\n#\nallow: /\n\nallow: /x\n";
        let arena = Bump::new();
        let groups = |dialect| -> Vec<(usize, usize)> {
            parse(body, dialect, &arena).groups.iter().map(|group| (group.agents.len(), group.rules.len())).collect()
        };
        assert_eq!(groups(&GOOGLE_LIB), [(2, 2)]);
        assert_eq!(groups(&YANDEX), [(1, 0), (1, 1)]);
    }
}
