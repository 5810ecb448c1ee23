//! Findings about a line that do not depend on its group, and findings about the whole file.

use std::borrow::Cow;

use memchr::{memchr, memmem, memrchr};
use reptile_engine::url::{path_of, split};
use reptile_engine::verdict::RuleKind;

use super::agents::agent;
use super::characters::{MAX_QUOTED, Plain, odd_characters, quote, windows_1252, without_quotes};
use super::codes::Code;
use super::data::words::Meaning;
use super::directives::Directives;
use super::findings::{Findings, Fix, Severity};
use super::groups::GroupLines;
use super::keys::{WrittenLine, key_of_line, lacks_colon};
use super::repairs::{can_be_escaped, lacks_only_slash};
use super::values::{
    alternatives, comment_in, further_directives, parameter, paths_of_list, placeholder, unrendered, written_break,
};
use crate::body::{DiagnosticKind, Line, Lines, Robots, line_of};
use crate::capture::{NotText, Profile};
use crate::dialect::{self, Dialect, Order};
use crate::limits::{MAX_BODY_BYTES_500_KIB, MAX_LINE_BYTES_GOOGLE};
use crate::rules::groups::{Named, named};

/// Adds the findings about the whole file.
pub(super) fn whole_file(body: &[u8], robots: &Robots<'_>, found: &mut Findings) {
    let text = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    if text.len() < body.len() {
        found.add(1, Code::ByteOrderMark, Severity::Note, || {
            (after_byte_order_mark(body, text).into(), Some("save the file as UTF-8 without a byte order mark".into()))
        });
    }
    if text.trim_ascii().is_empty() {
        found.add(1, Code::EmptyFile, Severity::Note, || ("the file is empty: everything is allowed".into(), None));
    } else if robots.groups.is_empty() && body.len() <= MAX_BODY_BYTES_500_KIB {
        let has_rules = robots.diagnostics.count(DiagnosticKind::RuleOutsideGroup) > 0;
        let severity = if has_rules { Severity::Error } else { Severity::Note };
        found.add(1, Code::NoGroup, severity, || {
            let message = "there is no user-agent line: everything is allowed";
            (message.into(), has_rules.then(|| "put \"User-agent: *\" before the first rule".into()))
        });
    }
    if robots.groups.is_empty() {
        commented_out(text, found);
    }
    let counts = [DiagnosticKind::BodyCut, DiagnosticKind::BodyIgnored].map(|kind| robots.diagnostics.count(kind));
    let is_cut = counts != [0, 0];
    if is_cut || body.len() > MAX_BODY_BYTES_500_KIB {
        let severity = if is_cut { Severity::Error } else { Severity::Warning };
        found.add(1, Code::FileTooLong, severity, || {
            let message = format!(
                "the file has {} bytes; Google reads {MAX_BODY_BYTES_500_KIB}, and Yandex treats a longer file as empty",
                body.len()
            );
            (message.into(), Some("join rules with the same beginning".into()))
        });
    }
}

/// Describes what a byte order mark does to the first line, and in which dialects.
fn after_byte_order_mark(body: &[u8], text: &[u8]) -> String {
    let first = text.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let first = first.split(|&byte| byte == b'#').next().unwrap_or_default().trim_ascii();
    if first.is_empty() {
        return "the file begins with a byte order mark: no crawler loses a line, because the first has no directive"
            .into();
    }
    let is_read =
        |dialect: &Dialect| Lines::new(body, dialect.byte_order_mark).next().is_some_and(|line| text.starts_with(line));
    let (read, lost): (Vec<&Dialect>, Vec<&Dialect>) = dialect::ALL.into_iter().partition(|dialect| is_read(dialect));
    let readers = match &lost[..] {
        [] => "every dialect skips it".to_owned(),
        _ if read.is_empty() => "no dialect skips it".to_owned(),
        _ => format!("{} do not skip it", lost.iter().map(|dialect| &*dialect.name).collect::<Vec<_>>().join(", ")),
    };
    let first = quote(first);
    format!(
        "the file begins with a byte order mark: {readers}; for a program that reads it as text, the first line, \"{first}\", is dead"
    )
}

/// Finds a comment that contains the file's directives because the line breaks are lost.
fn commented_out(text: &[u8], found: &mut Findings) {
    let lines = text.split(|byte| matches!(byte, b'\n' | b'\r')).zip(1..);
    let mut comments = lines.filter(|(line, _)| line.trim_ascii_start().starts_with(b"#"));
    let Some((_, number)) = comments.find(|(line, _)| further_directives(line).is_some_and(|(_, count)| count > 1))
    else {
        return;
    };
    found.add(number, Code::SeveralDirectives, Severity::Error, || {
        let message =
            "the directives after \"#\" are a comment, because they are on the same line: no crawler reads them";
        (message.into(), Some("put each directive on its own line".into()))
    });
}

/// Adds the findings about a line that do not depend on its group.
pub(super) fn each_line<'b>(
    number: u32,
    line: &'b [u8],
    dialect: &Dialect,
    is_html: bool,
    places: &mut GroupLines<'b>,
    directives: &mut Directives<'b>,
    found: &mut Findings,
) {
    found.steps += line.len() as u64 + 1;
    if line.is_empty() {
        places.blank(number);
        return;
    }
    let kept = MAX_LINE_BYTES_GOOGLE.min(dialect.max_line_bytes);
    // Cutting inside a comment changes nothing.
    if !is_html && line.len() > kept && memchr(b'#', &line[..kept]).is_none() {
        let severity = if line.len() > dialect.max_line_bytes { Severity::Error } else { Severity::Warning };
        found.add(number, Code::LineTooLong, severity, || {
            let message = format!("the line has {} bytes; Google keeps {MAX_LINE_BYTES_GOOGLE}", line.len());
            (message.into(), None)
        });
    }
    if let Some(at) = memchr(0, line) {
        found.add(number, Code::NulByte, Severity::Error, || {
            (format!("byte {} is NUL, where some crawlers end the line", at + 1).into(), Some("remove it".into()))
        });
    }
    let recognized = line_of(line, dialect, &mut |_| ());
    let comment = memchr(b'#', line);
    let (text, has_comment) = (&line[..comment.unwrap_or(line.len())], comment.is_some());
    let colon = memchr(b':', text);
    let key = text[..colon.unwrap_or(text.len())].trim_ascii();
    if matches!(recognized, Some(Line::Agent(_))) {
        places.agents.push(number);
        directives.begin_group();
    }
    if !is_html && several_directives(number, text, recognized.as_ref(), dialect, found) {
        return;
    }
    match &recognized {
        Some(Line::Agent(value)) => agent(number, value, dialect, found),
        // If text precedes the colon, the rest is not a value. The finding about the missing colon is enough.
        Some(Line::Rule(..)) if lacks_colon(key) => {}
        Some(Line::Rule(kind, value)) => {
            RuleLine { number, kind: *kind, value, text, has_comment, dialect }.check(found);
        }
        Some(Line::Sitemap(_, value)) => {
            places.other(number, key);
            directives.sitemap(number, value, found);
        }
        Some(Line::Other(_, value)) => {
            places.other(number, key);
            if !is_html {
                directives.other(number, key, value, found);
            }
        }
        Some(Line::Blank) => places.blank(number),
        None => {}
    }
    if is_html || matches!(recognized, Some(Line::Blank)) || text.trim_ascii().is_empty() {
        return;
    }
    let is_read = recognized.is_some_and(|recognized| !matches!(recognized, Line::Other(..)));
    let line = WrittenLine { number, line, text, key, has_colon: colon.is_some(), is_read };
    key_of_line(&line, found);
}

/// Finds a line with several directives, or with a line break that is written as text.
fn several_directives(
    number: u32,
    text: &[u8],
    recognized: Option<&Line<'_>>,
    dialect: &Dialect,
    found: &mut Findings,
) -> bool {
    let further = further_directives(text);
    let written = further.is_none().then(|| written_break(text)).flatten();
    if further.is_none() && written.is_none() {
        return false;
    }
    found.add(number, Code::SeveralDirectives, Severity::Error, || match (further, written) {
        (Some((at, count)), _) => {
            let reading = only_directive(recognized, text.get(at..).unwrap_or_default(), dialect);
            let message = format!("the line has {} directives, and crawlers read only the first: {reading}", count + 1);
            (message.into(), Some("put each directive on its own line".into()))
        }
        (None, written) => {
            let text = quote(written.unwrap_or_default());
            (format!("\"{text}\" is text, not a line break: it belongs to the value").into(), Some("remove it".into()))
        }
    });
    true
}

/// Describes the only directive that is read from a line, and what becomes of the `rest` of the line.
fn only_directive(directive: Option<&Line<'_>>, rest: &[u8], dialect: &Dialect) -> String {
    let rest = quote(rest);
    match directive {
        Some(Line::Agent(value)) => {
            let names = match named(value, dialect) {
                Named::Everyone => "all crawlers".into(),
                Named::Token(b"") => "no crawler".into(),
                Named::Token(token) => format!("the crawler \"{}\"", quote(token)),
            };
            let closes =
                if rest.to_ascii_lowercase().contains("disallow") { "closes nothing" } else { "has no effect" };
            format!("it names {names}, and \"{rest}\" {closes}")
        }
        Some(Line::Rule(RuleKind::Disallow, _)) => format!("\"{rest}\" belongs to its path, so nothing is closed"),
        Some(Line::Rule(RuleKind::Allow, _)) => format!("\"{rest}\" belongs to its path, so nothing is opened"),
        _ => format!("\"{rest}\" belongs to its value"),
    }
}

/// A rule in any group.
struct RuleLine<'l> {
    number: u32,
    kind: RuleKind,
    value: &'l [u8],
    /// The line before its comment.
    text: &'l [u8],
    has_comment: bool,
    dialect: &'l Dialect,
}

impl RuleLine<'_> {
    fn check(&self, found: &mut Findings) {
        self.comment(found);
        if self.value.is_empty() || self.other_text(found) {
            return;
        }
        self.start(found);
        self.octets(found);
        self.white_space(found);
        if self.is_regular_expression() {
            self.regular_expression(found);
        } else {
            self.operators(found);
        }
        self.index_page(found);
    }

    /// Finds a value that is not a single path. Other findings would not apply to it.
    fn other_text(&self, found: &mut Findings) -> bool {
        self.odd(found)
            || self.placeholder(found)
            || self.template(found)
            || self.list(found)
            || self.marked_comment(found)
    }

    /// Finds odd characters.
    fn odd(&self, found: &mut Findings) -> bool {
        let Some(plain) = Plain::of(self.value) else { return false };
        let begins = matches!(self.value.first(), Some(b'/' | b'*'));
        let effect = || match begins {
            false => "so the rule does not begin with \"/\" or \"*\", and never matches".into(),
            true => format!(
                "crawlers compare it literally, so the rule matches only URLs that contain {}; Yandex and Bing leave the \
                 rule out",
                plain
                    .odd
                    .iter()
                    .take(1)
                    .map(|odd| escaped(odd.encode_utf8(&mut [0; 4]).as_bytes()))
                    .collect::<String>()
            ),
        };
        let remedy = || format!("write \"{}: {}\"", self.key(), quote(plain.without_quotes()));
        odd_characters(self.number, &plain, plain.is_certain || !begins, effect, remedy, found);
        true
    }

    /// Finds a word that is not a path.
    fn placeholder(&self, found: &mut Findings) -> bool {
        let Some(meaning) = placeholder(self.value) else { return false };
        found.add(self.number, Code::Placeholder, Severity::Error, || {
            let (key, value) = (self.key(), quote(self.value));
            let message = format!("\"{value}\" is a word, not a path: the rule never matches");
            let all = match (meaning, self.kind) {
                (Meaning::Everything, _) => format!("\"{key}: /\" for the whole site"),
                (Meaning::Nothing, RuleKind::Disallow) => "\"Disallow:\" to close nothing".into(),
                (Meaning::Nothing | Meaning::Unset, _) => {
                    return (message.into(), Some("write the path that is meant, or remove the rule".into()));
                }
            };
            (message.into(), Some(format!("write {all}, or the path that is meant").into()))
        });
        true
    }

    /// Finds an unrendered template or a route parameter.
    fn template(&self, found: &mut Findings) -> bool {
        // After a wildcard, the author means literal text that broken links contain.
        let text = memchr(b'*', self.value).map_or(self.value, |star| &self.value[..star]);
        // In regular expressions, a number in braces repeats the text before it.
        let is_parameter = || parameter(text).filter(|_| !self.is_regular_expression());
        let Some(text) = unrendered(text).or_else(is_parameter) else { return false };
        let begins = matches!(self.value.first(), Some(b'/' | b'*'));
        let severity = if begins { Severity::Warning } else { Severity::Error };
        found.add(self.number, Code::Placeholder, severity, || {
            let shown = quote(text);
            let message = format!(
                "\"{shown}\" stands for other text in templates and routes, but crawlers compare it literally: the rule \
                 {}",
                if begins { "matches only URLs that contain it" } else { "never matches" }
            );
            (message.into(), Some(format!("replace {shown} by * or by the text that is meant").into()))
        });
        true
    }

    /// Finds a list of paths in one rule.
    fn list(&self, found: &mut Findings) -> bool {
        let Some(paths) = paths_of_list(self.value) else { return false };
        found.add(self.number, Code::PathList, Severity::Error, || {
            let message =
                format!("\"{}\" is one path to crawlers, not a list: the rule never matches", quote(self.value));
            let lines: Vec<String> = paths.iter().map(|path| format!("{}: {}", self.key(), quote(path))).collect();
            (message.into(), Some(format!("write a rule for each path: {}", lines.join(" | ")).into()))
        });
        true
    }

    /// Finds a comment that does not begin with `#`.
    fn marked_comment(&self, found: &mut Findings) -> bool {
        let Some((mark, before)) = comment_in(self.value) else { return false };
        found.add(self.number, Code::CommentMark, Severity::Error, || {
            let message =
                format!("\"{mark}\" does not begin a comment: the text belongs to the rule, which never matches");
            (message.into(), Some(format!("write \"{}: {} # ...\"", self.key(), quote(before)).into()))
        });
        true
    }

    const fn key(&self) -> &'static str {
        match self.kind {
            RuleKind::Allow => "Allow",
            RuleKind::Disallow => "Disallow",
        }
    }

    /// Finds a `#` directly after the rule's text, where it was probably meant as part of the rule.
    fn comment(&self, found: &mut Findings) {
        let ends_in_text = self.text.last().is_some_and(|byte| !byte.is_ascii_whitespace() && *byte != b':');
        if !self.has_comment || !ends_in_text {
            return;
        }
        let closes_all = matches!(self.value, b"/" | b"*" | b"/*") && self.kind == RuleKind::Disallow;
        let severity = if closes_all { Severity::Error } else { Severity::Warning };
        found.add(self.number, Code::CommentInRule, severity, || {
            let message = format!("\"#\" begins a comment, so the rule is \"{}\"", quote(self.value));
            let fix =
                "remove the rule, or put a space before the comment; crawlers drop # and the text after it from URLs";
            (message.into(), Some(fix.into()))
        });
    }

    fn start(&self, found: &mut Findings) {
        if let Some(url) = url_in(self.value) {
            let is_own = found.host.as_deref().map(|host| is_of_host(url, host));
            let is_path = url.len() < self.value.len();
            found.add(self.number, Code::AbsoluteUrl, Severity::Error, || {
                let message = match is_path {
                    false => "the value is a URL with a host, but is compared with paths: it never matches",
                    true => {
                        "the value is a slash and a URL with a host, but is compared with paths: it matches only paths \
                         that contain the whole URL"
                    }
                };
                (message.into(), self.with_path_of_url(url, is_own))
            });
        } else if let Some((host, path)) = host_and_path(self.value) {
            found.add(self.number, Code::AbsoluteUrl, Severity::Error, || {
                let host = quote(host);
                let message = format!(
                    "the value is a URL with the host \"{host}\", but is compared with paths: it matches only paths that \
                     begin with \"//{host}\""
                );
                let path = if path.is_empty() { "/".into() } else { quote(path) };
                let fix = format!("if \"{host}\" is this site, write \"{}: {path}\"; if not, remove it", self.key());
                (message.into(), Some(fix.into()))
            });
        } else if !matches!(self.value[0], b'/' | b'*') {
            found.add(self.number, Code::NoLeadingSlash, Severity::Error, || {
                let value = quote(self.value);
                let message = format!("\"{value}\" does not begin with \"/\" or \"*\": it never matches");
                (message.into(), self.with_slash())
            });
        }
    }

    /// Finds octets outside ASCII, and malformed escapes.
    fn octets(&self, found: &mut Findings) {
        let value = self.value;
        if !value.is_ascii() {
            let is_utf8 = std::str::from_utf8(value).is_ok();
            let (code, severity) =
                if is_utf8 { (Code::NonAscii, Severity::Note) } else { (Code::InvalidUtf8, Severity::Warning) };
            found.add(self.number, code, severity, || {
                if !is_utf8 {
                    return latin_1(value);
                }
                let message = "characters outside ASCII, which Yandex and Bing do not accept in rules";
                let is_clear = can_be_escaped(value) && value.len() <= MAX_QUOTED;
                (message.into(), is_clear.then(|| self.with_escapes()))
            });
        }
        let is_escape =
            |at: usize| value.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        if let Some(at) = memchr::memchr_iter(b'%', value).find(|&at| !is_escape(at)) {
            found.add(self.number, Code::StrayPercent, Severity::Warning, || {
                let message = format!("\"%\" without two hexadecimal digits, at \"{}\"", quote(&value[at..]));
                (message.into(), Some("write %25 for a percent sign".into()))
            });
        }
    }

    fn white_space(&self, found: &mut Findings) {
        if !self.value.iter().any(u8::is_ascii_whitespace) {
            return;
        }
        found.add(self.number, Code::SpaceInRule, Severity::Warning, || {
            let is_escaped = *self.dialect.normal_form.pattern(b" ") == *b"%20";
            let message = match is_escaped {
                true => "white space inside the value is %20 here; for Google the rule never matches",
                false => "white space inside the value, which a URL cannot contain: the rule never matches",
            };
            let fix = "write %20 for a space, # before a comment, and each rule on its own line";
            (message.into(), Some(fix.into()))
        });
    }

    /// Finds wildcards and end anchors that change nothing.
    fn operators(&self, found: &mut Findings) {
        let value = self.value;
        let before_end = value.strip_suffix(b"$").unwrap_or(value);
        if memchr(b'$', before_end).is_some() {
            found.add(self.number, Code::DollarInside, Severity::Warning, || {
                ("\"$\" is an end anchor only as the last character; here it is an ordinary character".into(), None)
            });
        }
        if memmem::find(value, b"**").is_some() {
            found.add(self.number, Code::DoubleStar, Severity::Note, || {
                ("several wildcards in a row match the same as one".into(), Some("write one".into()))
            });
        }
        if before_end.len() > 1 && before_end.ends_with(b"*") {
            found.add(self.number, Code::TrailingStar, Severity::Note, || {
                let message = if before_end.len() < value.len() {
                    "\"*$\" at the end does not change what matches"
                } else if self.dialect.order == Order::Longest {
                    "a wildcard at the end does not change what matches; it only makes the rule one octet longer"
                } else {
                    "a wildcard at the end does not change what matches"
                };
                let end = before_end.iter().rposition(|&byte| byte != b'*').map_or(0, |last| last + 1);
                let fix = format!("{}: {}", self.key(), quote(&before_end[..end.max(1)]));
                (message.into(), Some(fix.into()))
            });
        }
    }

    fn index_page(&self, found: &mut Findings) {
        let last = memrchr(b'/', self.value).map_or(&self.value[..0], |slash| &self.value[slash..]);
        if self.kind == RuleKind::Allow && last.starts_with(b"/index.htm") {
            found.add(self.number, Code::IndexHtml, Severity::Note, || {
                let message = "in Google's library this also allows the directory itself; elsewhere it does not";
                let folder = quote(&self.value[..self.value.len() - last.len() + 1]);
                (message.into(), Some(format!("add \"Allow: {folder}$\"").into()))
            });
        }
    }

    /// Returns a rule with the path of the URL in it. Without a known host, returns only advice.
    fn with_path_of_url(&self, url: &[u8], is_own: Option<bool>) -> Option<Fix> {
        let path = path_of(url).to_vec();
        let start = &url[..url.len() - path.len().min(url.len())];
        if is_own == Some(false) {
            let text = format!("remove it: a rule for \"{}\" counts in the robots.txt of that host only", quote(start));
            return Some(text.into());
        }
        let is_fix = path.len() > 1 && !start.contains(&b'*') && is_plain(&path);
        let fix = is_fix.then(|| Fix::replace(self.key(), &path, false)).flatten()?;
        let text = || format!("if \"{}\" is this site, write {fix}; if not, remove it", quote(start));
        if is_own.is_none() { Some(text().into()) } else { Some(fix) }
    }

    /// Returns the rule with the missing slash added, or `None` for a host name or an apparent regular expression,
    /// where a slash was not meant. Backslashes become slashes.
    fn with_slash(&self) -> Option<Fix> {
        let plain = without_quotes(self.value);
        if plain.len() < self.value.len() {
            return Some(format!("write \"{}: {}\" without quotation marks", self.key(), quote(plain)).into());
        }
        // A path's ending. Crawlers compare rules with the beginning of paths.
        if self.value == b"$" {
            return Some("write \"/$\" for the home page, or remove the rule".into());
        }
        if self.value.starts_with(b".") && is_plain(self.value) {
            return Some(format!("write \"{}: /*{}\" for all paths with it", self.key(), quote(self.value)).into());
        }
        let value: Vec<u8> = self.value.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect();
        let slash = memchr(b'/', &value);
        let first = &value[..slash.unwrap_or(value.len())];
        let is_host = first.starts_with(b"www.") || slash.is_some() && memchr(b'.', first).is_some();
        if is_host || self.is_regular_expression() || !is_plain(&value) {
            return None;
        }
        if !lacks_only_slash(&value) {
            return Some("write the path that is meant, or remove the line".into());
        }
        let start: &[u8] = if value.starts_with(b"/") { b"" } else { b"/" };
        Fix::replace(self.key(), &[start, &value].concat(), false)
    }

    /// Returns the rule with its non-ASCII bytes percent-encoded.
    fn with_escapes(&self) -> Fix {
        let escaped = escaped(self.value);
        let form = self.dialect.normal_form;
        let keeps_verdicts = form.pattern(self.value) == form.pattern(escaped.as_bytes());
        let text = format!("{}: {escaped}", self.key());
        if self.has_controls() { Fix::Words(text) } else { Fix::Replace { text, keeps_verdicts } }
    }

    fn has_controls(&self) -> bool {
        self.value.iter().any(u8::is_ascii_control)
    }

    /// Returns whether a rule contains text that means nothing in a robots.txt, but is typical of regular expressions.
    fn is_regular_expression(&self) -> bool {
        let value = self.value;
        let has = |text: &[u8]| memmem::find(value, text).is_some();
        let is_choice = || memchr(b'(', value).is_some_and(|open| memchr(b'|', &value[open..]).is_some()) && has(b")");
        value.starts_with(b"^")
            || is_choice()
            || alternatives(value).is_some()
            || [&b"\\."[..], b"\\d", b"\\w", b"\\/", b"[a-z", b"[0-9", b"[^"].into_iter().any(has)
    }

    fn regular_expression(&self, found: &mut Findings) {
        found.add(self.number, Code::RegularExpression, Severity::Warning, || {
            let message = "looks like a regular expression; only \"*\" and a final \"$\" are special in rules";
            let each = alternatives(self.value).unwrap_or_default();
            let lines: Vec<String> = each.iter().map(|path| format!("{}: {}", self.key(), quote(path))).collect();
            let each = if lines.is_empty() { String::new() } else { format!(": {}", lines.join(" | ")) };
            (message.into(), Some(format!("write a rule for each path{each}").into()))
        });
    }
}

/// Returns the URL in a value such as `https://example.com/x` or `/https://example.com/x`. After a slash, a URL
/// without a host is a path, as broken links contain it.
fn url_in(value: &[u8]) -> Option<&[u8]> {
    let has_scheme = |url: &[u8]| {
        let begins = |start: &[u8]| url.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
        begins(b"http://") || begins(b"https://")
    };
    if has_scheme(value) {
        return Some(value);
    }
    let url = value.strip_prefix(b"/").filter(|url| has_scheme(url))?;
    let host = split(url).ok()?.origin.host;
    let is_name = host.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(byte));
    (!host.is_empty() && is_name).then_some(url)
}

/// Returns whether a URL is on this host, with the default port.
fn is_of_host(url: &[u8], host: &[u8]) -> bool {
    let origin = split(url).map(|url| url.origin);
    origin.is_ok_and(|origin| origin.host.eq_ignore_ascii_case(host) && origin.port == origin.scheme.default_port())
}

/// Returns the host and path of a value such as `//example.com/x`.
fn host_and_path(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = value.strip_prefix(b"//")?;
    let end = memchr(b'/', rest).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let last = &host[memrchr(b'.', host)? + 1..];
    let is_name =
        host.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(byte)) && !host.starts_with(b".");
    // Without a path, it could be a file name.
    let is_file = path.is_empty() && FILE_ENDINGS.iter().any(|ending| last.eq_ignore_ascii_case(ending.as_bytes()));
    let is_domain = last.len() > 1 && last.iter().all(u8::is_ascii_alphabetic);
    (is_name && is_domain && !is_file).then_some((host, path))
}

/// File name endings, which are not domains.
const FILE_ENDINGS: [&str; 16] =
    ["html", "htm", "php", "asp", "aspx", "jsp", "cgi", "js", "css", "xml", "txt", "json", "pdf", "png", "jpg", "gif"];

/// Describes a byte that is not UTF-8 by its character in Latin-1, with the command that converts the file.
fn latin_1(value: &[u8]) -> (Cow<'static, str>, Option<Fix>) {
    let byte = value.iter().copied().find(|byte| !byte.is_ascii()).unwrap_or_default();
    let encoding = if value.iter().any(|byte| (0x80..0xA0).contains(byte)) { "WINDOWS-1252" } else { "ISO-8859-1" };
    let letter = quote(windows_1252(byte).encode_utf8(&mut [0; 4]).as_bytes());
    let message = format!(
        "the byte {byte:02X} is not UTF-8 (in Latin-1 it is \"{letter}\"): crawlers differ in how \
         they read it, and Yandex and Bing leave the rule out"
    );
    let fix = format!("save the file as UTF-8; if it is in Latin-1: iconv -f {encoding} -t UTF-8 robots.txt");
    (message.into(), Some(fix.into()))
}

/// Returns whether a path contains only characters common in real paths, so that it can be taken literally.
fn is_plain(path: &[u8]) -> bool {
    path.iter().all(|byte| byte.is_ascii_alphanumeric() || b"/_.~%*$?=&+,;@!-".contains(byte))
}

/// Returns a value with its non-ASCII bytes percent-encoded.
fn escaped(value: &[u8]) -> String {
    let mut text = String::new();
    for &byte in value {
        if byte.is_ascii() {
            text.push_str(&quote(&[byte]));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Adds the findings about a line that the dialect leaves out, and about a file that is not a robots.txt.
pub(super) fn left_out(number: u32, line: &[u8], kind: DiagnosticKind, dialect: &Dialect, found: &mut Findings) {
    let mut error = |code, message: &'static str, fix: Option<&'static str>| {
        found.add(number, code, Severity::Error, || (message.into(), fix.map(Fix::from)));
    };
    match kind {
        DiagnosticKind::Html => error(
            Code::Html,
            match Profile::of_dialect(dialect).not_text {
                NotText::Allow => "the file is a web page, which these crawlers ignore: everything is allowed",
                _ => "the file is a web page; only lines that happen to look like rules count",
            },
            Some("serve a robots.txt as plain text, or the status 404"),
        ),
        DiagnosticKind::RuleOutsideGroup => error(
            Code::RuleOutsideGroup,
            "the rule is in no group: it applies to no crawler",
            Some("put a user-agent line before it"),
        ),
        DiagnosticKind::RuleBytes => {
            error(Code::RuleBytes, "bytes that the dialect does not accept in a rule: the rule is left out", None)
        }
        DiagnosticKind::RuleTooLong => {
            error(Code::RuleTooLong, "the rule is longer than the dialect accepts: it is left out", None)
        }
        DiagnosticKind::TooManyRules => error(
            Code::TooManyRules,
            "the file already has as many rules as the dialect accepts: this one is left out",
            None,
        ),
        DiagnosticKind::UnknownKey if matches!(line_of(line, dialect, &mut |_| ()), Some(Line::Rule(..))) => {
            error(Code::UnknownKey, "the dialect has no Allow: the line decides nothing", None);
        }
        _ => {}
    }
}
