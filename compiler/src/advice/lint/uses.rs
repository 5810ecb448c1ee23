//! Findings about lines that state uses: `Content-Usage`, `Content-Signal` and `License`.
//!
//! Sources: draft-ietf-aipref-attach-05; draft-ietf-aipref-vocab, whose labels differ between drafts;
//! contentsignals.org; RSL 1.0, section 4.4.

use std::collections::HashMap;
use std::ops::Range;

use bumpalo::Bump;
use reptile_engine::format::directives::DirectiveKind;
use reptile_engine::norm::Pattern;
use reptile_engine::verdict::{Preference, RuleKind};

use super::characters::quote;
use super::codes::Code;
use super::findings::{Findings, Fix, Severity};
use crate::body::directives::{DirectiveReader, UsageOverLimit, content_usage, kind_of};
use crate::body::{RawDirective, RawRule, Robots};
use crate::dialect::{Dialect, Order};
use crate::limits::{MAX_BODY_BYTES, MAX_DIRECTIVES};
use crate::rules::groups::{Named, assign, named};
use crate::usage::Statement;
use crate::usage::rules::usages_of;

/// The labels in draft-ietf-aipref-vocab-08.
const LABELS: [&str; 3] = ["train-ai", "search", "ai-use"];

/// The labels in older drafts only, with the draft and its successor in the newest one.
const OLD_LABELS: [(&str, &str, &str); 8] = [
    ("tdm", "-01", ""),
    ("ai", "-01", "train-ai"),
    ("genai", "-01", "train-ai"),
    ("inference", "-01", "ai-use"),
    ("all", "-02", ""),
    ("train-genai", "-02 and -03", "train-ai"),
    ("bots", "-03 and -04", ""),
    ("ai-output", "-04", "ai-use"),
];

/// The signals, and the labels of their levels of use.
const SIGNALS: [&str; 6] = ["search", "ai-train", "ai-input", "use-immediate", "use-reference", "use-full"];

/// The uses that both kinds of lines name: as a label, and as a signal. The assignment is our choice.
pub(super) const SAME_USES: [(&str, &str); 3] =
    [("train-ai", "ai-train"), ("search", "search"), ("ai-use", "ai-input")];

/// The lines about uses, and the marks of managed blocks. At most [`MAX_DIRECTIVES`], because sets store no more.
#[derive(Default)]
pub(super) struct UsageLines<'b>(Vec<(DirectiveKind, RawDirective<'b>)>);

impl<'b> UsageLines<'b> {
    /// Keeps a line that is about uses, unless the dialect drops its end.
    pub(super) fn add(&mut self, line: RawDirective<'b>) {
        let kind = line.kind.unwrap_or_else(|| kind_of(line.key));
        let is_kept = match kind {
            DirectiveKind::ContentUsage | DirectiveKind::ContentSignal => true,
            DirectiveKind::ManagedBegin | DirectiveKind::ManagedEnd => true,
            _ => line.key.eq_ignore_ascii_case(b"license"),
        };
        if is_kept && line.cut.is_none() && self.0.len() < MAX_DIRECTIVES {
            self.0.push((kind, line));
        }
    }

    /// Returns the lines of the first managed block of a vendor.
    pub(super) fn managed(&self) -> Option<Range<u32>> {
        let begin = self.of(DirectiveKind::ManagedBegin).next()?.line;
        let end = self.of(DirectiveKind::ManagedEnd).map(|line| line.line).find(|&line| line > begin);
        Some(begin..end.unwrap_or(begin))
    }

    /// Returns the lines that state preferences.
    pub(super) fn statements(&self) -> impl Iterator<Item = (DirectiveKind, &RawDirective<'b>)> {
        let is_statement = |kind| matches!(kind, DirectiveKind::ContentUsage | DirectiveKind::ContentSignal);
        self.0.iter().filter(move |(kind, _)| is_statement(*kind)).map(|(kind, line)| (*kind, line))
    }

    fn of(&self, wanted: DirectiveKind) -> impl Iterator<Item = &RawDirective<'b>> {
        self.0.iter().filter(move |(kind, _)| *kind == wanted).map(|(_, line)| line)
    }
}

/// Adds the findings about uses. `by_group` has the user-agent lines of each group.
pub(super) fn uses(
    lines: &UsageLines<'_>,
    robots: &Robots<'_>,
    by_group: &[&[u32]],
    dialect: &Dialect,
    found: &mut Findings,
) {
    managed_groups(lines, robots, by_group, dialect, found);
    let leads = leads(robots, dialect);
    let mut stated: HashMap<(Option<u32>, Place), (u32, Statement)> = HashMap::new();
    let mut rules = None;
    for (kind, line) in &lines.0 {
        let lead = line.group.and_then(|group| leads.get(group as usize).copied());
        let (place, statement) = match kind {
            DirectiveKind::ContentUsage => {
                let (path, text) = content_usage(line.value);
                if let Some(path) = path {
                    not_applicable(line, path, &mut rules, robots, dialect, found);
                }
                let Some(statement) = statement(line, path, text, found) else { continue };
                let path = path.map(|path| dialect.normal_form.pattern(path).into_owned());
                (Place::Usage(path), statement)
            }
            DirectiveKind::ContentSignal => (Place::Signals, signals(line, found)),
            DirectiveKind::Other => {
                license(line, found);
                continue;
            }
            _ => continue,
        };
        match stated.get_mut(&(lead, place.clone())) {
            Some((first, known)) => {
                contradiction(line.line, *first, &statement, |label| known.get(label), found);
                known.combine(&statement);
            }
            None => {
                let other = match place {
                    Place::Usage(None) => stated.get(&(lead, Place::Signals)),
                    Place::Signals => stated.get(&(lead, Place::Usage(None))),
                    Place::Usage(Some(_)) => None,
                };
                if let Some((first, known)) = other {
                    let same = |label: &str| {
                        let pair = SAME_USES.iter().find(|(usage, signal)| match place {
                            Place::Signals => *signal == label,
                            Place::Usage(_) => *usage == label,
                        });
                        let other = pair.map(|(usage, signal)| if place == Place::Signals { usage } else { signal });
                        other.map_or(Preference::Unknown, |label| known.get(label))
                    };
                    contradiction(line.line, *first, &statement, same, found);
                }
                stated.insert((lead, place), (line.line, statement));
            }
        }
    }
}

/// The pages that a line's preferences apply to, within its group.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Place {
    /// A path in normal form, or all paths.
    Usage(Option<Vec<u8>>),
    Signals,
}

/// Returns for each group the first one that names the same crawler, because such groups are merged.
fn leads(robots: &Robots<'_>, dialect: &Dialect) -> Vec<u32> {
    let mut first: HashMap<Vec<u8>, u32> = HashMap::new();
    let groups = robots.groups.iter().zip(0..).map(|(group, index)| {
        let names = group.agents.iter().map(|value| match named(value, dialect) {
            Named::Everyone => b"*".to_vec(),
            Named::Token(token) => token.to_ascii_lowercase(),
        });
        names.map(|name| *first.entry(name).or_insert(index)).min().unwrap_or(index)
    });
    groups.collect()
}

/// Reads the statement in a `Content-Usage` line, and adds its findings. Returns `None` if it cannot be read.
fn statement(line: &RawDirective<'_>, path: Option<&[u8]>, text: &[u8], found: &mut Findings) -> Option<Statement> {
    let with_path = |path: &[u8], text: &[u8]| {
        let value = if path.is_empty() { text.to_vec() } else { [path, b" ", text].concat() };
        Fix::replace("Content-Usage", &value, false)
    };
    let error = match Statement::parse_all(text) {
        Ok((statement, unread)) => {
            if text.is_empty() {
                found.add(line.line, Code::UsageStatement, Severity::Warning, || {
                    let message = "states nothing, and only hides lines with shorter paths or none";
                    (message.into(), Some("write a statement such as \"train-ai=n\"".into()))
                });
            }
            labels(line.line, &statement, &unread, found);
            return Some(statement);
        }
        Err(error) => error,
    };
    let first_end = text.iter().position(|&byte| byte == b' ' || byte == b'\t').unwrap_or(text.len());
    let (first, rest) = (&text[..first_end], text[first_end..].trim_ascii());
    if path.is_none() && !first.contains(&b'=') && first.iter().any(|byte| matches!(byte, b'/' | b'*')) {
        found.add(line.line, Code::UsagePath, Severity::Error, || {
            let message = format!(
                "\"{}\" is not a path, because it does not begin with \"/\"; so the line has no path, and its statement \
                 cannot be read: every use is unknown",
                quote(first)
            );
            let is_url = first.contains(&b':');
            let fix = (!is_url).then(|| with_path(&[b"/", first].concat(), rest)).flatten();
            (message.into(), Some(fix.unwrap_or_else(|| "write a path such as /*.pdf".into())))
        });
        return None;
    }
    found.add(line.line, Code::UsageStatement, Severity::Error, || {
        let repaired = repaired(text);
        let reason = match repaired {
            Some((_, reason)) => format!("{reason}: {error}"),
            None => error.to_string(),
        };
        let fix = repaired.and_then(|(text, _)| with_path(path.unwrap_or_default(), text.as_bytes()));
        (format!("every use is unknown, because {reason}").into(), fix)
    });
    None
}

/// Repairs a common mistake in a statement. Returns the new text and the mistake.
fn repaired(text: &[u8]) -> Option<(String, &'static str)> {
    let text = std::str::from_utf8(text).ok()?;
    let is_read = |text: &str| {
        Statement::parse_all(text.as_bytes())
            .is_ok_and(|(statement, unread)| !statement.is_empty() && unread.is_empty())
    };
    let without_spaces = |text: &str| text.split('=').map(str::trim).collect::<Vec<_>>().join("=");
    let without_comma = text.trim_end_matches([',', ';', ' ', '\t']);
    let repairs = [
        (text.to_ascii_lowercase(), "labels and values are in lower case"),
        (without_spaces(text), "no space may surround \"=\""),
        (without_comma.to_owned(), "nothing may follow the last value"),
        (without_spaces(&text.replace(':', "=")), "\"=\" separates a label and its value"),
    ];
    repairs.into_iter().find(|(text, _)| is_read(text))
}

/// Adds the findings about labels that the newest draft does not have, and about values.
fn labels(number: u32, statement: &Statement, unread: &[Box<str>], found: &mut Findings) {
    for label in unread {
        found.add(number, Code::UsageLabel, Severity::Warning, || {
            let label = quote(label.as_bytes());
            let message = format!("\"{label}\" has neither the value y nor n, so this use is unknown");
            (message.into(), Some(format!("write {label}=y or {label}=n").into()))
        });
    }
    for (label, _) in statement.entries().filter(|(label, _)| !LABELS.contains(label)) {
        let old = OLD_LABELS.iter().find(|(old, ..)| *old == label);
        found.add(number, Code::UsageLabel, Severity::Warning, || {
            let shown = quote(label.as_bytes());
            let message = match old {
                Some((_, drafts, _)) => format!(
                    "\"{shown}\" is a label in draft-ietf-aipref-vocab{drafts} only; readers of newer drafts ignore it"
                ),
                None => format!("\"{shown}\" is not a label in draft-ietf-aipref-vocab, so readers ignore it"),
            };
            let fix = match old {
                Some((_, _, new)) if !new.is_empty() => format!("the label in draft -08 is {new}"),
                _ => format!("the labels in draft -08 are {}", LABELS.join(", ")),
            };
            (message.into(), Some(fix.into()))
        });
    }
}

/// Reads a `Content-Signal` line, and adds its findings.
fn signals(line: &RawDirective<'_>, found: &mut Findings) -> Statement {
    let (statement, is_whole) = Statement::signals(line.value);
    let unknown = statement.entries().find(|(label, _)| !SIGNALS.contains(label));
    if !is_whole || statement.is_empty() {
        found.add(line.line, Code::SignalValue, Severity::Warning, || {
            let message = format!("not everything in \"{}\" is a signal; the rest is read", quote(line.value));
            (message.into(), Some("write signals such as search=yes, ai-train=no".into()))
        });
    } else if let Some((label, _)) = unknown {
        found.add(line.line, Code::SignalValue, Severity::Warning, || {
            let message = format!("\"{}\" is not a signal, so readers ignore it", quote(label.as_bytes()));
            (message.into(), Some("the signals are search, ai-train, ai-input and use".into()))
        });
    }
    statement
}

/// Finds a label that another line of the same group states differently.
fn contradiction(
    number: u32,
    first: u32,
    statement: &Statement,
    known: impl Fn(&str) -> Preference,
    found: &mut Findings,
) {
    let differs = |&(label, preference): &(&str, Preference)| {
        let known = known(label);
        known != Preference::Unknown && known != preference
    };
    let Some((label, _)) = statement.entries().find(differs) else { return };
    found.add(number, Code::UsageContradiction, Severity::Warning, || {
        let label = quote(label.as_bytes());
        let message = format!(
            "line {first} states the opposite about \"{label}\" for the same crawlers and pages; the most restrictive holds"
        );
        (message.into(), Some("keep one of the two lines".into()))
    });
}

/// The plain rules of a file, in normal form and sorted.
struct PlainRules {
    /// Each group's `Disallow` patterns, without those that another one begins.
    closed: Vec<Vec<Vec<u8>>>,
    /// All `Allow` patterns, or `None` if any has a wildcard or an end anchor.
    open: Option<Vec<Vec<u8>>>,
}

impl PlainRules {
    fn of(robots: &Robots<'_>, dialect: &Dialect) -> PlainRules {
        let is_plain = |pattern: &[u8]| !pattern.iter().any(|byte| matches!(byte, b'*' | b'$'));
        let of_kind = |rules: &[RawRule<'_>], kind: RuleKind| -> Vec<Vec<u8>> {
            let rules = rules.iter().filter(|rule| rule.kind == kind && !rule.value.is_empty());
            let mut patterns: Vec<_> = rules.map(|rule| dialect.normal_form.pattern(rule.value).into_owned()).collect();
            patterns.sort_unstable();
            patterns
        };
        let closed = robots.groups.iter().map(|group| {
            let mut patterns = of_kind(group.rules, RuleKind::Disallow);
            patterns.retain(|pattern| is_plain(pattern));
            patterns.dedup_by(|next, kept| next.starts_with(kept));
            patterns
        });
        let closed = closed.collect();
        let mut open: Vec<_> = robots.groups.iter().flat_map(|group| of_kind(group.rules, RuleKind::Allow)).collect();
        open.sort_unstable();
        let open = open.iter().all(|pattern| is_plain(pattern)).then_some(open);
        PlainRules { closed, open }
    }

    /// Returns the `Disallow` of a group that certainly closes all paths that begin like this one.
    ///
    /// It is certain if no `Allow` in the file begins with the `Disallow`.
    fn closing(&self, group: u32, path: &[u8]) -> Option<&[u8]> {
        let closed = self.closed.get(group as usize)?;
        let at = closed.partition_point(|pattern| &**pattern <= path).checked_sub(1)?;
        let closing = closed.get(at).filter(|pattern| path.starts_with(pattern))?;
        let open = self.open.as_ref()?;
        let next = open.get(open.partition_point(|pattern| pattern < closing));
        next.is_none_or(|pattern| !pattern.starts_with(closing)).then_some(closing)
    }
}

/// Finds a usage rule for paths that no crawler of its group may fetch.
fn not_applicable(
    line: &RawDirective<'_>,
    path: &[u8],
    rules: &mut Option<PlainRules>,
    robots: &Robots<'_>,
    dialect: &Dialect,
    found: &mut Findings,
) {
    let Some(group) = line.group.filter(|_| dialect.order == Order::Longest) else { return };
    let path = dialect.normal_form.pattern(path);
    let path = Pattern::new(&path).text;
    // A robots.txt may always be fetched.
    if b"/robots.txt".starts_with(path) {
        return;
    }
    let rules = rules.get_or_insert_with(|| PlainRules::of(robots, dialect));
    let Some(closing) = rules.closing(group, path) else { return };
    found.add(line.line, Code::UsageNotApplicable, Severity::Note, || {
        let closing = quote(closing);
        let message = format!("\"Disallow: {closing}\" closes these pages, so preferences do not apply to them");
        (message.into(), Some("remove it, unless you mean to open them".into()))
    });
}

/// Finds groups for all crawlers inside and outside a managed block: they merge.
fn managed_groups(
    lines: &UsageLines<'_>,
    robots: &Robots<'_>,
    by_group: &[&[u32]],
    dialect: &Dialect,
    found: &mut Findings,
) {
    let Some(block) = lines.managed().filter(|block| !block.is_empty()) else { return };
    let (begin, end) = (block.start, block.end);
    let for_all = robots.groups.iter().zip(by_group).filter_map(|(group, lines)| {
        let at = group.agents.iter().position(|value| named(value, dialect) == Named::Everyone)?;
        lines.get(at).copied()
    });
    let (managed, own): (Vec<u32>, Vec<u32>) = for_all.partition(|line| block.contains(line));
    let (Some(managed), Some(own)) = (managed.first(), own.first()) else { return };
    found.add(*own, Code::ManagedGroup, Severity::Warning, || {
        let message = format!(
            "the managed block in lines {begin} to {end} has a group for \"*\", too (line {managed}): crawlers merge the \
             two, so the block's rules and signals also apply here, and some crawlers read only one group"
        );
        (message.into(), None)
    });
}

/// Finds lines that exceed a limit, because every use is then unknown. `reader` has read all lines that are not rules.
pub(super) fn over_limit(
    lines: &UsageLines<'_>,
    body: &[u8],
    robots: &Robots<'_>,
    reader: DirectiveReader<'_, '_>,
    dialect: &Dialect,
    found: &mut Findings,
) {
    // Nearly all files lack such lines.
    let has_uses = [DirectiveKind::ContentUsage, DirectiveKind::ContentSignal].map(|kind| lines.of(kind).next());
    if body.len() > MAX_BODY_BYTES || has_uses == [None; 2] && reader.usage_over_limit().is_none() {
        return;
    }
    let compile = || {
        if let Some(error) = reader.usage_over_limit() {
            return Err(error.clone());
        }
        let (arena, directives) = (Bump::new(), reader.finish());
        usages_of(&directives, &assign(robots, dialect, &arena), dialect, &arena).map(|_| ())
    };
    let Err(UsageOverLimit { line, error }) = compile() else { return };
    found.add(line, Code::UsageOverLimit, Severity::Error, || {
        let message = format!("every use is unknown, because the lines about uses exceed a limit: {error}");
        (message.into(), Some("use fewer or shorter lines".into()))
    });
}

/// Finds a licence that belongs to a group only.
fn license(line: &RawDirective<'_>, found: &mut Findings) {
    if line.group.is_none() {
        return;
    }
    found.add(line.line, Code::LicenseInGroup, Severity::Warning, || {
        let message = "belongs to the group above, even at the end of the file, and applies to its crawlers only";
        (message.into(), Some("put it before the first user-agent line".into()))
    });
}
