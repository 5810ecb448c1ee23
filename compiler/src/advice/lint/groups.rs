//! Findings about a group whose user-agent lines and rules do not belong together as intended.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use reptile_engine::verdict::RuleKind;

use super::characters::quote;
use super::codes::Code;
use super::findings::{Findings, Severity};
use crate::body::{Group, RawRule, Robots};
use crate::dialect::crawlers;
use crate::dialect::{BlankLine, Dialect, EmptyDisallow, Family};
use crate::rules::groups::{Named, named};
use crate::usage::tokens::names_use;

/// The lines that matter to groups.
#[derive(Default)]
pub(super) struct GroupLines<'b> {
    pub(super) agents: Vec<u32>,
    /// Lines whose key is neither a user-agent nor a rule: the first after each user-agent line.
    pub(super) others: Vec<(u32, &'b [u8])>,
    /// Blank lines: the first after each user-agent line.
    pub(super) blanks: Vec<u32>,
}

impl<'b> GroupLines<'b> {
    /// Records a line with another key, if it is the first after a user-agent line.
    pub(super) fn other(&mut self, line: u32, key: &'b [u8]) {
        if self.agents.last() > self.others.last().map(|(line, _)| line) {
            self.others.push((line, key));
        }
    }

    /// Returns the first line with another key after a user-agent line, if it is before a line.
    pub(super) fn other_between(&self, agent: u32, end: u32) -> Option<&(u32, &'b [u8])> {
        let at = self.others.partition_point(|&(line, _)| line <= agent);
        self.others.get(at).filter(|&&(line, _)| line < end)
    }

    /// Records a blank line, if it is the first after a user-agent line.
    pub(super) fn blank(&mut self, line: u32) {
        if self.agents.last() > self.blanks.last() {
            self.blanks.push(line);
        }
    }
}

/// Returns whether a rule disallows the whole site.
pub(super) fn closes_all(rule: &RawRule<'_>) -> bool {
    rule.kind == RuleKind::Disallow && matches!(rule.value, b"/" | b"*" | b"/*")
}

/// Finds a line with another key between two user-agent lines of a group. Returns the index of the last user-agent line
/// before such a line, and the line. The user-agent lines up to it were meant as a separate group.
pub(super) fn last_of_collapsed<'p, 'b>(
    agent_lines: &[u32],
    places: &'p GroupLines<'b>,
    mut step: impl FnMut(),
) -> Option<(usize, &'p (u32, &'b [u8]))> {
    let mut pairs = agent_lines.windows(2).enumerate().inspect(|_| step()).rev();
    pairs.find_map(|(index, pair)| places.other_between(pair[0], pair[1]).map(|other| (index, other)))
}

/// Finds user-agent lines that were meant as a separate group, but have no rule to end it.
pub(super) fn collapse(group: &Group<'_>, agent_lines: &[u32], places: &GroupLines<'_>, found: &mut Findings) {
    let Some(first_rule) = group.rules.first() else { return };
    let Some((last, other)) = last_of_collapsed(agent_lines, places, || found.step()) else { return };
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
        (message.into(), Some(format!("put \"Disallow:\" after line {}", agent_lines[last]).into()))
    });
}

/// Finds a blank line where some crawlers end the group.
pub(super) fn blank_in_group(
    group: &Group<'_>,
    agent_lines: &[u32],
    dialect: &Dialect,
    places: &GroupLines<'_>,
    found: &mut Findings,
) {
    let restricts = |rule: &RawRule<'_>| rule.kind == RuleKind::Disallow && !rule.value.is_empty();
    let (Some(&first), Some(last)) = (agent_lines.first(), group.rules.last()) else { return };
    if dialect.blank_line == BlankLine::EndsGroup || !group.rules.iter().any(restricts) {
        return;
    }
    let at = places.blanks.partition_point(|&line| line < first);
    let Some(&blank) = places.blanks.get(at).filter(|&&line| line < last.line) else { return };
    // If the blank line was meant to end a group, both findings have the same remedy.
    let collapsed = last_of_collapsed(agent_lines, places, || found.step()).map(|(last, _)| agent_lines[last]);
    let is_end =
        |&line: &u32| agent_lines.iter().find(|&&next| next > line).is_some_and(|&next| (line..next).contains(&blank));
    found.add(blank, Code::BlankLineInGroup, Severity::Warning, || {
        let message = if agent_lines.last().is_some_and(|&line| line > blank) {
            "in Yandex and in the 1994 note a blank line ends the group: user-agent lines above get no rules there"
        } else {
            "in Yandex and in the 1994 note a blank line ends the group: rules below it apply to no crawler there"
        };
        let fix = match collapsed.filter(is_end) {
            Some(line) => format!("put \"Disallow:\" after line {line}").into(),
            None => "remove the blank line".into(),
        };
        (message.into(), Some(fix))
    });
}

/// Finds a `Disallow` without a value if reading it as `Allow: /` changes a verdict.
pub(super) fn empty_disallow(group: &Group<'_>, dialect: &Dialect, found: &mut Findings) {
    let Some(empty) = group.rules.iter().find(|rule| rule.kind == RuleKind::Disallow && rule.value.is_empty()) else {
        return;
    };
    let restricts = |rule: &&RawRule<'_>| rule.kind == RuleKind::Disallow && !rule.value.is_empty();
    if let Some(root) = group.rules.iter().find(|rule| closes_all(rule)) {
        let reading = if dialect.empty_disallow == EmptyDisallow::AllowRoot { "here" } else { "at Yandex" };
        found.add(empty.line, Code::EmptyDisallow, Severity::Warning, || {
            let message = format!(
                "means \"Allow: /\" {reading}, and nothing elsewhere, while line {} disallows everything",
                root.line
            );
            (message.into(), Some("keep only one of the two lines".into()))
        });
    } else if group.rules.iter().find(restricts).is_some_and(|rule| rule.line > empty.line) {
        found.add(empty.line, Code::EmptyDisallow, Severity::Note, || {
            let message =
                "for crawlers that obey the first matching rule, as Yandex once did, no rule after this one counts";
            (message.into(), Some("remove it".into()))
        });
    }
}

/// Finds a name that an earlier user-agent line already contains, in the same group or another.
///
/// In a file with a managed block, default groups have a separate finding.
pub(super) fn repeated_agents(
    robots: &Robots<'_>,
    by_group: &[&[u32]],
    managed: Option<Range<u32>>,
    dialect: &Dialect,
    found: &mut Findings,
) {
    // The first group of each name, and its line.
    let mut first: HashMap<Vec<u8>, (usize, u32)> = HashMap::new();
    for (index, (group, lines)) in robots.groups.iter().zip(by_group).enumerate() {
        for (value, &line) in group.agents.iter().zip(*lines) {
            found.step();
            let (name, is_whole) = match named(value, dialect) {
                Named::Everyone => (b"*".to_vec(), true),
                Named::Token(token) => (token.to_ascii_lowercase(), token.len() == value.len()),
            };
            // A truncated name has a separate finding.
            if name.is_empty() || !is_whole || managed.is_some() && name == b"*" {
                continue;
            }
            match first.entry(name) {
                Entry::Vacant(place) => {
                    place.insert((index, line));
                }
                Entry::Occupied(place) => {
                    let is_managed = managed
                        .as_ref()
                        .is_some_and(|block| [line, place.get().1].iter().any(|line| block.contains(line)));
                    repeated(line, value, group, *place.get(), robots, (index, is_managed), found);
                }
            }
        }
    }
}

fn repeated(
    line: u32,
    value: &[u8],
    group: &Group<'_>,
    (first_group, first_line): (usize, u32),
    robots: &Robots<'_>,
    (index, is_managed): (usize, bool),
    found: &mut Findings,
) {
    let rules_of =
        |group: &Group<'_>| group.rules.iter().map(|rule| (rule.kind, rule.value.to_vec())).collect::<Vec<_>>();
    let is_same_group = first_group == index;
    let is_equal = is_same_group || rules_of(group) == rules_of(&robots.groups[first_group]);
    let severity = if is_equal { Severity::Note } else { Severity::Warning };
    found.add(line, Code::RepeatedAgent, severity, || {
        let name = quote(value);
        let message = if is_same_group {
            format!("line {first_line} of the same group names \"{name}\" already")
        } else if is_equal {
            format!("the group of line {first_line} names \"{name}\" already, with the same rules")
        } else {
            format!(
                "the group of line {first_line} names \"{name}\" already: Google, Bing, Yandex and crawlers that follow RFC \
                 9309 merge the two groups, and older ones obey only the first"
            )
        };
        let fix = match is_equal {
            true => "remove the line if no other name needs it",
            false if is_managed => "change the managed block in the settings of the service that writes it",
            false => "put the rules in one group",
        };
        (message.into(), Some(fix.into()))
    });
}

/// Maximum number of names shown in a message.
pub(super) const MAX_NAMES_SHOWN: usize = 3;

/// Describes the crawlers named by groups other than the one at `index`.
fn with_other_groups(robots: &Robots<'_>, index: usize, dialect: &Dialect) -> String {
    let others = robots.groups.iter().enumerate().filter(|(other, _)| *other != index);
    let tokens = others.flat_map(|(_, group)| group.agents).filter_map(|value| match named(value, dialect) {
        Named::Token(token) if !token.is_empty() && !names_use(token) => Some(token),
        _ => None,
    });
    let (mut shown, mut more) = (Vec::new(), 0);
    for token in tokens {
        if shown.len() < MAX_NAMES_SHOWN { shown.push(quote(token)) } else { more += 1 }
    }
    match (shown.join(", "), more) {
        (names, _) if names.is_empty() => names,
        (names, 0) => format!(" crawlers with groups of their own ({names}),"),
        (names, more) => format!(" crawlers with groups of their own ({names} and {more} more),"),
    }
}

/// Finds a `Disallow` of everything for all crawlers, and reports which crawlers it does not stop. `is_open` returns
/// whether another rule opens everything again.
pub(super) fn closed_site(
    robots: &Robots<'_>,
    index: usize,
    dialect: &Dialect,
    is_open: impl FnOnce() -> bool,
    found: &mut Findings,
) {
    let group = &robots.groups[index];
    let is_default = group.agents.iter().any(|value| named(value, dialect) == Named::Everyone);
    let Some(rule) = group.rules.iter().find(|rule| closes_all(rule)).filter(|_| is_default) else { return };
    if is_open() {
        return;
    }
    found.add(rule.line, Code::ClosedSite, Severity::Warning, || {
        let opens = group.rules.iter().any(|rule| rule.kind == RuleKind::Allow && !rule.value.is_empty());
        let but = if opens { ", except where Allow lines open it," } else { "" };
        let ignoring = crawlers::ALL
            .iter()
            .filter(|known| known.family == Family::Google && !known.honors_default_group && !known.tokens.is_empty());
        let ignoring: Vec<&str> = ignoring.map(|known| known.name).take(MAX_NAMES_SHOWN).collect();
        let own = with_other_groups(robots, index, dialect);
        let message = format!(
            "closes the whole site{but} to crawlers that no group names; it does not stop{own} Google crawlers that \
             ignore \"*\" ({} ...), or a search engine that lists addresses from links",
            ignoring.join(", ")
        );
        (message.into(), None)
    });
}
