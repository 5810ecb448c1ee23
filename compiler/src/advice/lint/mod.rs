//! What is wrong with a robots.txt, or will be read in another way than it was meant: line by line, with a fix where
//! there is one.
//!
//! An error is a line that does not do what it says, or does more than it says. A warning is one that some crawlers
//! read differently, or that most likely is a mistake. A note is one that could be shorter or plainer.
//!
//! Every finding is about the file as the dialect reads it. Those that say that a rule does nothing are certain: the
//! rule can go, and no verdict changes. Time: linear in the body, times the logarithm of the number of its rules.

mod differences;
mod idle;
mod keys;

use self::differences::differences;
pub use self::differences::{MAX_COMPARED_RULES, MAX_COMPARED_STEPS};
use self::idle::{idle_rules, merged_groups};
use self::keys::{key_of_line, lacks_colon};

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use bumpalo::Bump;
use memchr::memchr;
use reptile_engine::verdict::RuleKind;

use crate::body::{DiagnosticKind, Group, Line, Lines, RawRule, Robots, line_of, parse};
use crate::dialect::{BlankLine, Dialect, EmptyDisallow, Order};
use crate::limits::{MAX_BODY_BYTES_500_KIB, MAX_LINE_BYTES_GOOGLE};
use crate::rules::groups::{Named, named};

/// Findings of one code in one file that are listed unless more are asked for. All are counted.
pub const MAX_FINDINGS_PER_CODE: u32 = 100;

/// How much it matters. The order is from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// It could be shorter or plainer.
    Note,
    /// Some crawlers read it differently, or it most likely is a mistake.
    Warning,
    /// It does not do what it says, or more than it says.
    Error,
}

impl Severity {
    /// All of them, from the least to the most.
    pub const ALL: [Severity; 3] = [Severity::Note, Severity::Warning, Severity::Error];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Something to know about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1. What is true of the whole file is said of line 1.
    pub line: u32,
    /// What kind of finding it is.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What to write instead, or what to do.
    pub fix: Option<String>,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal,)*) => {
        /// The kinds of findings. Their names do not change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $code,)* }

        impl Code {
            /// All of them.
            pub const ALL: &[Code] = &[$(Code::$code,)*];

            /// The name by which users know it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }
        }
    };
}

codes! {
    /// A rule whose value is a URL with a host.
    AbsoluteUrl = "absolute-url",
    /// A user-agent line whose value is longer than the name that is read from it.
    AgentCut = "agent-cut",
    /// A user-agent line that names nobody.
    AgentEmpty = "agent-empty",
    /// A blank line in a group, at which some crawlers end it.
    BlankLineInGroup = "blank-line-in-group",
    /// A byte order mark in front of the text.
    ByteOrderMark = "byte-order-mark",
    /// A `#` inside a rule, which begins a comment.
    CommentInRule = "comment-in-rule",
    /// A rule whose own path is decided in another way by another dialect in use.
    DialectsDiffer = "dialects-differ",
    /// A `$` that is not at the end, and so is an ordinary character.
    DollarInside = "dollar-inside",
    /// Two stars or more in a row.
    DoubleStar = "double-star",
    /// A rule that the same group has already.
    DuplicateRule = "duplicate-rule",
    /// A `Disallow` without a value, which some crawlers read as `Allow: /`.
    EmptyDisallow = "empty-disallow",
    /// A file without text.
    EmptyFile = "empty-file",
    /// A file longer than crawlers read.
    FileTooLong = "file-too-long",
    /// User-agent lines that share the rules of a later group, because no rule stands between.
    GroupsCollapse = "groups-collapse",
    /// A web page.
    Html = "html",
    /// An `Allow` of an index page, which also allows its folder at Google.
    IndexHtml = "index-html",
    /// Bytes that are no UTF-8 in a rule.
    InvalidUtf8 = "invalid-utf8",
    /// A line longer than crawlers read.
    LineTooLong = "line-too-long",
    /// A key without a colon.
    MissingColon = "missing-colon",
    /// A key that is almost a known one.
    MisspeltKey = "misspelt-key",
    /// A file without any user-agent line.
    NoGroup = "no-group",
    /// A rule that begins with neither `/` nor `*`.
    NoLeadingSlash = "no-leading-slash",
    /// Characters outside ASCII in a rule.
    NonAscii = "non-ascii",
    /// Rules that were not compared by the dialects, since there are too many.
    NotCompared = "not-compared",
    /// A NUL byte.
    NulByte = "nul-byte",
    /// A `Disallow` that loses against an `Allow` of the same pattern.
    OverruledRule = "overruled-rule",
    /// A rule with bytes that the dialect does not take.
    RuleBytes = "rule-bytes",
    /// A rule that belongs to no group.
    RuleOutsideGroup = "rule-outside-group",
    /// A rule longer than the dialect takes.
    RuleTooLong = "rule-too-long",
    /// A rule that changes nothing, because a shorter one says the same.
    ShadowedRule = "shadowed-rule",
    /// White space inside a rule.
    SpaceInRule = "space-in-rule",
    /// A `%` that no two hexadecimal digits follow.
    StrayPercent = "stray-percent",
    /// A rule behind as many as the dialect takes.
    TooManyRules = "too-many-rules",
    /// A star at the end.
    TrailingStar = "trailing-star",
    /// A key that decides nothing.
    UnknownKey = "unknown-key",
    /// A known key that decides no URL, such as `Crawl-delay`.
    UnusedKey = "unused-key",
    /// Text in UTF-16.
    Utf16 = "utf-16",
    /// How many findings of a code are not listed.
    MoreFindings = "more-findings",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What there is to say about a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linted {
    /// The findings in the order of their lines. Of each code no more than were asked for; a last one of the code
    /// [`Code::MoreFindings`] says for each code that has more how many are left out.
    pub findings: Vec<Finding>,
    /// How many findings there are of each code and severity, listed or not.
    pub counts: BTreeMap<(Severity, Code), u64>,
}

/// Everything there is to say about a robots.txt. Lists at most `max_per_code` findings of each code, such as
/// [`MAX_FINDINGS_PER_CODE`], and counts all.
#[must_use]
pub fn lint(body: &[u8], dialect: &Dialect, max_per_code: u32) -> Linted {
    let arena = Bump::new();
    let robots = parse(body, dialect, &arena);
    let mut found = Findings { max_per_code, ..Findings::default() };
    if body.starts_with(b"\xFF\xFE") || body.starts_with(b"\xFE\xFF") {
        found.add(1, Code::Utf16, Severity::Error, || {
            ("the text is in UTF-16, of which crawlers understand nothing".into(), Some("save it as UTF-8".into()))
        });
        return found.finish();
    }
    whole_file(body, &robots, &mut found);
    let is_html = robots.diagnostics.iter().any(|diagnostic| diagnostic.kind == DiagnosticKind::Html);
    let lines: Vec<&[u8]> = Lines::new(body, dialect.byte_order_mark).collect();
    let mut places = Places::default();
    for (number, &line) in (1_u32..).zip(&lines) {
        each_line(number, line, dialect, is_html, &mut places, &mut found);
    }
    for diagnostic in &robots.diagnostics {
        let line = lines.get((diagnostic.line as usize).wrapping_sub(1)).copied().unwrap_or_default();
        left_out(diagnostic.line, line, diagnostic.kind, dialect, &mut found);
    }
    let mut agent_lines = &places.agents[..];
    let merged = merged_groups(&robots, dialect);
    for (group, merged) in robots.groups.iter().zip(merged) {
        let (lines, rest) = agent_lines.split_at(group.agents.len().min(agent_lines.len()));
        agent_lines = rest;
        collapse(group, lines, &places, &mut found);
        blank_in_group(group, lines, dialect, &places, &mut found);
        empty_disallow(group, dialect, &mut found);
        idle_rules(group, merged, dialect, &mut found);
    }
    if !is_html {
        differences(body, &robots, dialect, &mut found);
    }
    found.finish()
}

/// The findings so far.
#[derive(Default)]
struct Findings {
    list: Vec<Finding>,
    max_per_code: u32,
    counts: BTreeMap<(Severity, Code), u64>,
    listed: HashMap<Code, Listed>,
}

/// How much of a code is listed.
#[derive(Default)]
struct Listed {
    count: u32,
    left_out: u64,
    /// The first line that is left out, and the worst severity.
    first: Option<(u32, Severity)>,
}

impl Findings {
    /// Adds one. The words are only asked for when they are kept.
    fn add(
        &mut self,
        line: u32,
        code: Code,
        severity: Severity,
        words: impl FnOnce() -> (Cow<'static, str>, Option<String>),
    ) {
        *self.counts.entry((severity, code)).or_default() += 1;
        let listed = self.listed.entry(code).or_default();
        if listed.count == self.max_per_code {
            listed.left_out += 1;
            let first = listed.first.get_or_insert((line, severity));
            *first = (first.0.min(line), first.1.max(severity));
            return;
        }
        listed.count += 1;
        let (message, fix) = words();
        self.list.push(Finding { line, code, severity, message: message.into_owned(), fix });
    }

    fn finish(mut self) -> Linted {
        let more = self.listed.iter().filter_map(|(code, listed)| {
            let (line, severity) = listed.first?;
            let message = format!("{} more of {code}, the first here", listed.left_out);
            Some(Finding { line, code: Code::MoreFindings, severity, message, fix: None })
        });
        self.list.extend(more);
        // The codes of those that say how many more there are differ by their words only.
        self.list.sort_by(|a, b| (a.line, a.code, &a.message).cmp(&(b.line, b.code, &b.message)));
        Linted { findings: self.list, counts: self.counts }
    }
}

/// Where things stand that matter to the groups.
#[derive(Default)]
struct Places<'b> {
    agents: Vec<u32>,
    /// Lines with a key that is neither a user-agent nor a rule.
    others: Vec<(u32, &'b [u8])>,
    blanks: Vec<u32>,
}

/// What is true of the file as a whole.
fn whole_file(body: &[u8], robots: &Robots<'_>, found: &mut Findings) {
    let text = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    if text.len() < body.len() {
        found.add(1, Code::ByteOrderMark, Severity::Note, || {
            let message =
                "the file begins with a byte order mark, which some crawlers take for a part of the first key";
            (message.into(), Some("save it as UTF-8 without one".into()))
        });
    }
    if text.trim_ascii().is_empty() {
        found.add(1, Code::EmptyFile, Severity::Note, || ("the file is empty: everything is allowed".into(), None));
    } else if robots.groups.is_empty() && body.len() <= MAX_BODY_BYTES_500_KIB {
        let has_rules = robots.diagnostics.iter().any(|diagnostic| diagnostic.kind == DiagnosticKind::RuleOutsideGroup);
        let severity = if has_rules { Severity::Error } else { Severity::Note };
        found.add(1, Code::NoGroup, severity, || {
            let message = "there is no user-agent line: everything is allowed";
            (message.into(), has_rules.then(|| "put \"User-agent: *\" in front of the first rule".into()))
        });
    }
    let is_cut =
        robots.diagnostics.iter().any(|d| matches!(d.kind, DiagnosticKind::BodyCut | DiagnosticKind::BodyIgnored));
    if is_cut || body.len() > MAX_BODY_BYTES_500_KIB {
        let severity = if is_cut { Severity::Error } else { Severity::Warning };
        found.add(1, Code::FileTooLong, severity, || {
            let message = format!(
                "the file has {} bytes; Google reads {MAX_BODY_BYTES_500_KIB}, and Yandex takes a longer file as empty",
                body.len()
            );
            (message.into(), Some("join rules with the same beginning".into()))
        });
    }
}

/// What can be said of a line without its group.
fn each_line<'b>(
    number: u32,
    line: &'b [u8],
    dialect: &Dialect,
    is_html: bool,
    places: &mut Places<'b>,
    found: &mut Findings,
) {
    let kept = MAX_LINE_BYTES_GOOGLE.min(dialect.max_line_bytes);
    // What is cut from a comment is missed by nobody.
    if !is_html && line.len() > kept && memchr(b'#', &line[..kept]).is_none() {
        let severity = if line.len() > dialect.max_line_bytes { Severity::Error } else { Severity::Warning };
        found.add(number, Code::LineTooLong, severity, || {
            let message = format!("the line has {} bytes, of which Google keeps {MAX_LINE_BYTES_GOOGLE}", line.len());
            (message.into(), None)
        });
    }
    if let Some(at) = memchr(0, line) {
        found.add(number, Code::NulByte, Severity::Error, || {
            (format!("byte {} is NUL, at which some crawlers end the line", at + 1).into(), Some("remove it".into()))
        });
    }
    let recognised = line_of(line, dialect, &mut |_| ());
    let (text, comment) = match memchr(b'#', line) {
        Some(at) => (&line[..at], Some(&line[at..])),
        None => (line, None),
    };
    let colon = memchr(b':', text);
    let key = text[..colon.unwrap_or(text.len())].trim_ascii();
    match &recognised {
        Some(Line::Agent(value)) => {
            places.agents.push(number);
            agent(number, value, dialect, found);
        }
        // What stands behind the colon of another text is no value; that there is no colon says enough.
        Some(Line::Rule(..)) if lacks_colon(key) => {}
        Some(Line::Rule(kind, value)) => rule(number, *kind, value, text, comment, dialect, found),
        Some(Line::Sitemap(..) | Line::Other(..)) => places.others.push((number, key)),
        Some(Line::Blank) => places.blanks.push(number),
        None => {}
    }
    if is_html || matches!(recognised, Some(Line::Blank)) || text.trim_ascii().is_empty() {
        return;
    }
    let is_read = recognised.is_some_and(|recognised| !matches!(recognised, Line::Other(..)));
    key_of_line(number, line, key, colon.is_some(), is_read, found);
}

/// Characters of a quoted text; the rest is left out.
const MAX_QUOTED: usize = 80;

/// Text of the file as it may stand in a message.
fn quote(text: &[u8]) -> String {
    let start = &text[..text.len().min(MAX_QUOTED * 4)];
    let mut shown = String::new();
    let mut rest = String::from_utf8_lossy(start).chars().take(MAX_QUOTED + 1).collect::<Vec<_>>().into_iter();
    for character in rest.by_ref().take(MAX_QUOTED) {
        // Control characters, and those that turn the direction of the text.
        let turns = matches!(character, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        if character.is_control() || turns {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if rest.next().is_some() {
        shown.push_str("...");
    }
    shown
}

/// A user-agent line.
fn agent(number: u32, value: &[u8], dialect: &Dialect, found: &mut Findings) {
    match named(value, dialect) {
        Named::Everyone if value.len() > 1 => found.add(number, Code::AgentCut, Severity::Warning, || {
            (format!("\"{}\" is read as \"*\": it is for everybody", quote(value)).into(), None)
        }),
        Named::Everyone => {}
        Named::Token(b"") => found.add(number, Code::AgentEmpty, Severity::Error, || {
            let fix = match value {
                b"" => "User-agent: *",
                _ => "write the product token alone, which begins with a letter, - or _",
            };
            (format!("\"{}\" names no crawler", quote(value)).into(), Some(fix.into()))
        }),
        Named::Token(token) if token.len() < value.len() => {
            // What is behind a slash or a final star is a version, and is rightly left out.
            let is_version = matches!(value[token.len()..], [b'/', ..] | [b'*']);
            let severity = if is_version { Severity::Note } else { Severity::Warning };
            found.add(number, Code::AgentCut, severity, || {
                let message = format!("\"{}\" is read as \"{}\"", quote(value), quote(token));
                (message.into(), is_version.then(|| format!("User-agent: {}", quote(token))))
            });
        }
        Named::Token(_) => {}
    }
}

/// A rule, whatever group it is in.
fn rule(
    number: u32,
    kind: RuleKind,
    value: &[u8],
    text: &[u8],
    comment: Option<&[u8]>,
    dialect: &Dialect,
    found: &mut Findings,
) {
    let key = if kind == RuleKind::Allow { "Allow" } else { "Disallow" };
    if comment.is_some() && text.last().is_some_and(|byte| !byte.is_ascii_whitespace() && *byte != b':') {
        let severity = if matches!(value, b"/" | b"*" | b"/*") && kind == RuleKind::Disallow {
            Severity::Error
        } else {
            Severity::Warning
        };
        found.add(number, Code::CommentInRule, severity, || {
            let message = format!("\"#\" begins a comment, so the rule is \"{}\"", quote(value));
            (
                message.into(),
                Some(
                    "leave the rule out, or put a blank in front of a comment; crawlers drop what follows # in URLs"
                        .into(),
                ),
            )
        });
    }
    if value.is_empty() {
        return;
    }
    let starts_with = |start: &[u8]| value.get(..start.len()).is_some_and(|v| v.eq_ignore_ascii_case(start));
    if starts_with(b"http://") || starts_with(b"https://") {
        found.add(number, Code::AbsoluteUrl, Severity::Error, || {
            let path = String::from_utf8_lossy(reptile_engine::url::path_of(value).to_vec().as_slice()).into_owned();
            let message = "the value is a URL with a host, but is compared with paths: it never matches";
            (message.into(), Some(format!("{key}: {}", quote(path.as_bytes()))))
        });
    } else if !matches!(value[0], b'/' | b'*') {
        found.add(number, Code::NoLeadingSlash, Severity::Error, || {
            (
                format!("\"{}\" does not begin with \"/\" or \"*\": it never matches", quote(value)).into(),
                Some(format!("{key}: /{}", quote(value))),
            )
        });
    }
    if !value.is_ascii() {
        let is_utf8 = std::str::from_utf8(value).is_ok();
        let (code, severity) =
            if is_utf8 { (Code::NonAscii, Severity::Note) } else { (Code::InvalidUtf8, Severity::Warning) };
        found.add(number, code, severity, || {
            let mut escaped = String::new();
            for &byte in value.iter().take(MAX_QUOTED) {
                if byte.is_ascii() {
                    escaped.push_str(&quote(&[byte]));
                } else {
                    escaped.push_str(&format!("%{byte:02X}"));
                }
            }
            let message = if is_utf8 {
                "characters outside ASCII, which Yandex and Bing do not take in rules"
            } else {
                "bytes that are no UTF-8: crawlers differ in what they make of them"
            };
            (message.into(), (is_utf8 && value.len() <= MAX_QUOTED).then(|| format!("{key}: {escaped}")))
        });
    }
    let mut percents = memchr::memchr_iter(b'%', value);
    let is_escape =
        |at: usize| value.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    if let Some(at) = percents.find(|&at| !is_escape(at)) {
        found.add(number, Code::StrayPercent, Severity::Warning, || {
            let message = format!("\"%\" without two hexadecimal digits, at \"{}\"", quote(&value[at..]));
            (message.into(), Some("write %25 for a percent sign".into()))
        });
    }
    if value.iter().any(u8::is_ascii_whitespace) {
        found.add(number, Code::SpaceInRule, Severity::Warning, || {
            let is_escaped = *dialect.normal_form.pattern(b" ") == *b"%20";
            let message = match is_escaped {
                true => "white space inside the value: a blank is %20 here, but to Google the rule never matches",
                false => "white space inside the value, which no URL has: the rule never matches",
            };
            (
                message.into(),
                Some("write %20 for a blank, # in front of a comment, and each rule on a line of its own".into()),
            )
        });
    }
    let before_end = value.strip_suffix(b"$").unwrap_or(value);
    if memchr(b'$', before_end).is_some() {
        found.add(number, Code::DollarInside, Severity::Warning, || {
            ("\"$\" means the end only as the last character; here it is an ordinary one".into(), None)
        });
    }
    if memchr::memmem::find(value, b"**").is_some() {
        found.add(number, Code::DoubleStar, Severity::Note, || {
            ("several stars in a row match the same as one".into(), Some("write one".into()))
        });
    }
    if before_end.len() > 1 && before_end.ends_with(b"*") {
        found.add(number, Code::TrailingStar, Severity::Note, || {
            let message = if before_end.len() < value.len() {
                "\"*$\" at the end matches the same as nothing"
            } else if dialect.order == Order::Longest {
                "a star at the end matches the same as nothing; it only makes the rule one octet longer"
            } else {
                "a star at the end matches the same as nothing"
            };
            let end = before_end.iter().rposition(|&byte| byte != b'*').map_or(0, |last| last + 1);
            (message.into(), Some(format!("{key}: {}", quote(&before_end[..end.max(1)]))))
        });
    }
    let last = memchr::memrchr(b'/', value).map_or(&value[..0], |slash| &value[slash..]);
    if kind == RuleKind::Allow && last.starts_with(b"/index.htm") {
        found.add(number, Code::IndexHtml, Severity::Note, || {
            let message = "Google's library takes this to allow the folder itself too; others do not";
            (message.into(), Some(format!("add \"Allow: {}$\"", quote(&value[..value.len() - last.len() + 1]))))
        });
    }
}

/// A line that the dialect leaves out, or a file that is none.
fn left_out(number: u32, line: &[u8], kind: DiagnosticKind, dialect: &Dialect, found: &mut Findings) {
    let mut error = |code, message: &'static str, fix: Option<&'static str>| {
        found.add(number, code, Severity::Error, || (message.into(), fix.map(str::to_owned)));
    };
    match kind {
        DiagnosticKind::Html => error(
            Code::Html,
            "the file is a web page; only lines of it that happen to look like rules count",
            Some("serve a robots.txt as plain text, or the status 404"),
        ),
        DiagnosticKind::RuleOutsideGroup => error(
            Code::RuleOutsideGroup,
            "the rule is in no group: it counts for nobody",
            Some("put a user-agent line in front of it"),
        ),
        DiagnosticKind::RuleBytes => {
            error(Code::RuleBytes, "bytes that the dialect takes in no rule: it is left out", None)
        }
        DiagnosticKind::RuleTooLong => {
            error(Code::RuleTooLong, "longer than the dialect takes a rule: it is left out", None)
        }
        DiagnosticKind::TooManyRules => {
            error(Code::TooManyRules, "behind as many rules as the dialect takes: left out", None)
        }
        DiagnosticKind::UnknownKey if matches!(line_of(line, dialect, &mut |_| ()), Some(Line::Rule(..))) => {
            error(Code::UnknownKey, "the dialect has no Allow: the line decides nothing", None);
        }
        _ => {}
    }
}

/// Whether a rule closes everything.
fn closes_all(rule: &RawRule<'_>) -> bool {
    rule.kind == RuleKind::Disallow && matches!(rule.value, b"/" | b"*" | b"/*")
}

/// User-agent lines that were meant as a group of their own, but have no rule to end it.
fn collapse(group: &Group<'_>, agent_lines: &[u32], places: &Places<'_>, found: &mut Findings) {
    let Some(first_rule) = group.rules.first() else { return };
    // The last user-agent line in front of which another key stands; the lines above it were another group.
    let between = |from: u32, to: u32| {
        let at = places.others.partition_point(|&(line, _)| line <= from);
        places.others.get(at).filter(|&&(line, _)| line < to)
    };
    let pairs = agent_lines.windows(2).enumerate();
    let Some((last, other)) =
        pairs.rev().find_map(|(index, pair)| between(pair[0], pair[1]).map(|other| (index, other)))
    else {
        return;
    };
    let above = &group.agents[..=last];
    let has_star = above.iter().any(|value| matches!(value, [b'*'] | [b'*', b' ' | b'\t', ..]));
    let closes = group.rules.iter().find(|rule| closes_all(rule));
    let severity = if has_star && closes.is_some() { Severity::Error } else { Severity::Warning };
    found.add(agent_lines[last + 1], Code::GroupsCollapse, severity, || {
        const SHOWN: usize = 5;
        let mut names: Vec<String> = above.iter().take(SHOWN).map(|value| format!("\"{}\"", quote(value))).collect();
        if has_star && !names.iter().any(|name| name.starts_with("\"*")) {
            names.push("\"*\"".into());
        }
        if above.len() > names.len() {
            names.push(format!("{} more", above.len() - names.len()));
        }
        let (deciding, what) = match closes {
            Some(rule) => (rule.line, ", which close the whole site to them"),
            None => (first_rule.line, ""),
        };
        let message = format!(
            "no rule ends the group above: {} (from line {} on) share the rules of this group, line {deciding}{what}; \
             \"{}\" does not end a group",
            names.join(", "),
            agent_lines[0],
            quote(other.1),
        );
        (message.into(), Some(format!("put \"Disallow:\" behind line {}", agent_lines[last])))
    });
}

/// A blank line at which some crawlers end the group.
fn blank_in_group(
    group: &Group<'_>,
    agent_lines: &[u32],
    dialect: &Dialect,
    places: &Places<'_>,
    found: &mut Findings,
) {
    let restricts = |rule: &RawRule<'_>| rule.kind == RuleKind::Disallow && !rule.value.is_empty();
    let (Some(&first), Some(last)) = (agent_lines.first(), group.rules.last()) else { return };
    if dialect.blank_line == BlankLine::EndsGroup || !group.rules.iter().any(restricts) {
        return;
    }
    let at = places.blanks.partition_point(|&line| line < first);
    let Some(&blank) = places.blanks.get(at).filter(|&&line| line < last.line) else { return };
    found.add(blank, Code::BlankLineInGroup, Severity::Warning, || {
        let message = if agent_lines.last().is_some_and(|&line| line > blank) {
            "Yandex, and the note of 1994, end a group at a blank line: the user-agent lines above get no rules there"
        } else {
            "Yandex, and the note of 1994, end a group at a blank line: the rules below it count for nobody there"
        };
        (message.into(), Some("remove the blank line".into()))
    });
}

/// A `Disallow` without a value where reading it as `Allow: /` changes a verdict.
fn empty_disallow(group: &Group<'_>, dialect: &Dialect, found: &mut Findings) {
    let Some(empty) = group.rules.iter().find(|rule| rule.kind == RuleKind::Disallow && rule.value.is_empty()) else {
        return;
    };
    let restricts = |rule: &&RawRule<'_>| rule.kind == RuleKind::Disallow && !rule.value.is_empty();
    if let Some(root) = group.rules.iter().find(|rule| closes_all(rule)) {
        let reading = if dialect.empty_disallow == EmptyDisallow::AllowRoot { "here" } else { "at Yandex" };
        found.add(empty.line, Code::EmptyDisallow, Severity::Warning, || {
            let message =
                format!("means \"Allow: /\" {reading}, and nothing elsewhere, while line {} closes all", root.line);
            (message.into(), Some("keep one of the two".into()))
        });
    } else if group.rules.iter().find(restricts).is_some_and(|rule| rule.line > empty.line) {
        found.add(empty.line, Code::EmptyDisallow, Severity::Note, || {
            let message = "crawlers that take the first rule that matches, as Yandex did, read no rule behind this one";
            (message.into(), Some("remove it".into()))
        });
    }
}
