//! Findings that need a proof: rules that never decide, rules whose removal changes nothing, and groups that open a
//! path that the default group closes.

use std::collections::HashSet;

use bumpalo::Bump;
use reptile_engine::format::crawlers::Purposes;
use reptile_engine::format::tokens::NameMatching;
use reptile_engine::norm::Pattern;
use reptile_engine::verdict::RuleKind;

use super::characters::quote;
use super::codes::Code;
use super::data::words::PRIVATE_FOLDERS;
use super::findings::{Findings, Fix, Severity};
use super::groups::{GroupLines, MAX_NAMES_SHOWN, closes_all, last_of_collapsed};
use crate::body::{Group, RawRule, Robots};
use crate::dialect::{Dialect, Order, crawlers};
use crate::limits::MAX_PROVED_FILE_BYTES;
use crate::reason::removal::{Influence, ListRules, Opening, RuleProver};
use crate::rules::groups::{Assignment, Named, assign, named};
use crate::usage::tokens::names_use;

/// Maximum lines named in a message.
const MAX_LINES_SHOWN: usize = 5;

/// Adds the findings about a file with this many bytes. `agent_lines` has the user-agent lines of each group.
pub(super) fn proofs(
    bytes: usize,
    robots: &Robots<'_>,
    agent_lines: &[&[u32]],
    places: &GroupLines<'_>,
    dialect: &Dialect,
    found: &mut Findings,
) {
    if robots.groups.iter().all(|group| group.rules.is_empty()) {
        return;
    }
    if bytes > MAX_PROVED_FILE_BYTES {
        let with_value = |group: &Group<'_>| group.rules.iter().filter(|rule| !rule.value.is_empty()).count() as u64;
        found.proved.unproved_rules = robots.groups.iter().map(with_value).sum();
        found.proved.rules = found.proved.unproved_rules;
        found.proved.unproved_groups = robots.groups.len() as u64;
        found.proved.groups = found.proved.unproved_groups;
        found.add(1, Code::NotProved, Severity::Note, || {
            let message = format!(
                "the file has more than {MAX_PROVED_FILE_BYTES} bytes: nothing is said about what its rules and groups \
                 change"
            );
            (message.into(), None)
        });
        return;
    }
    let arena = Bump::new();
    let assignment = assign(robots, dialect, &arena);
    let lists = assignment.lists.iter().map(|list| ListRules::new(list.rules, dialect, &arena)).collect();
    let mut file = File {
        robots,
        dialect,
        of_group: vec![Vec::new(); robots.groups.len()],
        assignment,
        lists,
        prover: RuleProver::new(dialect),
        unproved: (0, 0),
        first_unproved: None,
    };
    for (index, list) in file.assignment.lists.iter().enumerate() {
        for &group in list.groups {
            file.of_group.get_mut(group as usize).into_iter().for_each(|lists| lists.push(index));
        }
    }
    file.openings(agent_lines, places, found);
    file.rules(found);
    let (rules, groups) = file.unproved;
    found.proved.unproved_rules = rules;
    found.proved.unproved_groups = groups;
    let Some(line) = file.first_unproved else { return };
    found.add(line, Code::NotProved, Severity::Note, || {
        let message = format!(
            "the proofs took too many steps: nothing is said about what {rules} rules and {groups} groups change, the \
             first here"
        );
        (message.into(), None)
    });
}

/// A file and the proofs about it.
struct File<'r, 'b> {
    robots: &'r Robots<'b>,
    dialect: &'r Dialect,
    assignment: Assignment<'b>,
    /// The lists of the assignment.
    lists: Vec<ListRules<'b>>,
    /// The lists that contain each group.
    of_group: Vec<Vec<usize>>,
    prover: RuleProver,
    /// Counts of rules and groups without a proof result.
    unproved: (u64, u64),
    first_unproved: Option<u32>,
}

impl File<'_, '_> {
    fn note_unproved(&mut self, line: u32) {
        self.first_unproved = Some(self.first_unproved.map_or(line, |first| first.min(line)));
    }

    /// Finds rules that change nothing. All rules marked as removable can be removed together.
    fn rules(&mut self, found: &mut Findings) {
        let mut gone: HashSet<u32> = found.removable.clone();
        let (idle, fixed) = (found.idle.clone(), found.lines_with_fix());
        // A reader regards the later line as superfluous.
        for (index, group) in self.robots.groups.iter().enumerate().rev() {
            let mut kept = group.rules.iter().filter(|rule| !gone.contains(&rule.line)).count();
            for rule in group.rules.iter().rev().filter(|rule| !rule.value.is_empty()) {
                found.proved.rules += 1;
                // Other findings explain these: the group has an equal or a shorter rule.
                match idle.get(&rule.line) {
                    Some(Code::ShadowedRule) if self.dialect.order != Order::FileOrder => {
                        found.proved.superfluous += 1;
                        continue;
                    }
                    Some(_) => {
                        found.proved.never_decide += 1;
                        continue;
                    }
                    None => {}
                }
                let influence = self.influence(index, rule.line, &HashSet::new());
                match influence {
                    Influence::Needed => continue,
                    Influence::Unproved => {
                        self.unproved.0 += 1;
                        self.note_unproved(rule.line);
                        continue;
                    }
                    Influence::Hidden { .. } => found.proved.never_decide += 1,
                    Influence::Superfluous(_) => found.proved.superfluous += 1,
                }
                // Another finding explains why it matches nothing.
                if !matches!(rule.value.first(), Some(b'/' | b'*')) {
                    continue;
                }
                let (code, severity) = match &influence {
                    Influence::Hidden { by, is_overruled } if *is_overruled || by.is_empty() => {
                        (Code::HiddenRule, Severity::Warning)
                    }
                    Influence::Hidden { .. } => (Code::HiddenRule, Severity::Note),
                    // The rule states explicitly what applies without it anyway.
                    _ if opens_all(rule) => continue,
                    _ => (Code::SuperfluousRule, Severity::Note),
                };
                // The group keeps a rule, which ends the list of user-agent lines.
                let is_apart = kept > 1
                    && !matches!(self.influence(index, rule.line, &gone), Influence::Needed | Influence::Unproved);
                if code == Code::SuperfluousRule && !is_apart {
                    continue;
                }
                let is_removable = is_apart
                    && severity == Severity::Note
                    && !fixed.contains(&rule.line)
                    && !found.ignored.has(rule.line, code)
                    && [Code::HiddenRule, Code::SuperfluousRule].iter().all(|&code| found.has_room(code));
                if is_removable {
                    gone.insert(rule.line);
                    kept -= 1;
                }
                found.add(rule.line, code, severity, || {
                    (explanation(rule, &influence).into(), is_removable.then_some(Fix::Remove))
                });
            }
        }
    }

    /// Proves a rule's effect in all lists that contain its group.
    fn influence(&mut self, group: usize, line: u32, gone: &HashSet<u32>) -> Influence {
        let mut all = Influence::Hidden { by: Vec::new(), is_overruled: false };
        for &index in self.of_group.get(group).into_iter().flatten() {
            let (Some(list), Some(of)) = (self.lists.get(index), self.assignment.lists.get(index)) else { continue };
            // The lists that decide together with this one are not compared.
            if of.is_part {
                return Influence::Unproved;
            }
            all = match (all, self.prover.influence(list, line, gone)) {
                (_, found @ (Influence::Needed | Influence::Unproved)) => return found,
                (Influence::Hidden { mut by, is_overruled }, Influence::Hidden { by: more, is_overruled: too }) => {
                    by.extend(more);
                    by.sort_unstable();
                    by.dedup();
                    Influence::Hidden { by, is_overruled: is_overruled || too }
                }
                (found @ Influence::Superfluous(_), _) | (_, found) => found,
            };
        }
        all
    }

    /// Finds groups that open what the default group closes. It is probably a mistake if a group repeats no line that
    /// closes something to `*`: its author may not know that it replaces the group for `*`.
    fn openings(&mut self, agent_lines: &[&[u32]], places: &GroupLines<'_>, found: &mut Findings) {
        let Some(default) = self.assignment.default_group.map(|index| index as usize) else { return };
        // There, a crawler may obey a group that names another crawler.
        if self.dialect.name_matching == NameMatching::Contained {
            return;
        }
        let closes_everything =
            self.assignment.lists.get(default).is_some_and(|list| list.rules.iter().any(closes_all));
        let mut later = Vec::new();
        for index in 0..self.lists.len() {
            let Some(of) = self.assignment.lists.get(index) else { continue };
            let Some((line, names)) = self.named_by(index, of.groups, agent_lines).filter(|_| index != default) else {
                continue;
            };
            found.proved.groups += 1;
            let Some(of_all) = self.assignment.lists.get(default) else { continue };
            let repeated = Repeated::of(of_all.rules, of.rules);
            let is_deliberate = of.rules.iter().any(|rule| rule.value.is_empty()) || repeated.is_all_but_one();
            let is_unclear = repeated.some > 0
                || self.is_blank(of.groups, agent_lines, places)
                || of_all.groups.iter().any(|&group| is_collapsed(group, agent_lines, places));
            let severity = if is_unclear { Severity::Note } else { Severity::Warning };
            let is_part = of.is_part;
            let (Some(all), Some(own)) = (self.lists.get(default), self.lists.get(index)) else { continue };
            if is_part {
                self.unproved.1 += 1;
                self.note_unproved(line);
                continue;
            }
            let mut opening = Opening::None;
            if !is_deliberate && !closes_everything {
                opening = self.prover.opening(all, own, true);
            }
            if let Opening::Path(path, closed_by) = &opening {
                found.proved.groups_opening += 1;
                found.add(line, Code::GroupOpens, severity, || {
                    let message = format!(
                        "{names} may fetch \"{}\", which line {closed_by} closes to \"*\": a crawler with a group of its \
                         own ignores the rules for \"*\", and no rule of this group matches",
                        quote(path)
                    );
                    let fix = "repeat the rules for \"*\" in this group, or, if that is intended, add \"Allow: /\"";
                    (message.into(), Some(fix.into()))
                });
                continue;
            }
            if opening == Opening::None {
                let private = (repeated.some == 0 && !closes_everything && self.is_for_search(index))
                    .then(|| {
                        let mut closed_by = |path: &[u8]| self.prover.closed_by(all, own, path);
                        private_opening(of_all.rules, of.rules, &mut closed_by, self.dialect)
                    })
                    .flatten();
                match private {
                    Some((path, closed_by)) => opens_private(line, &names, &path, closed_by, found),
                    None => later.push((index, line, names)),
                }
                continue;
            }
            if opening == Opening::Unproved {
                self.unproved.1 += 1;
                self.note_unproved(line);
            }
        }
        // Findings that are off by default come last, so that they take no steps from the others.
        for (index, line, names) in later {
            let (Some(all), Some(own)) = (self.lists.get(default), self.lists.get(index)) else { continue };
            match self.prover.opening(all, own, false) {
                Opening::Path(path, closed_by) => {
                    found.proved.groups_opening_on_purpose += 1;
                    found.add(line, Code::GroupOpensOnPurpose, Severity::Note, || {
                        let path = quote(&path);
                        let message = format!(
                            "{names} may fetch \"{path}\", which line {closed_by} closes to \"*\": a crawler with its own \
                             group ignores the rules for \"*\""
                        );
                        (message.into(), None)
                    });
                }
                Opening::Unproved if found.is_enabled(Code::GroupOpensOnPurpose) => {
                    self.unproved.1 += 1;
                    self.note_unproved(line);
                }
                Opening::Unproved | Opening::None => {}
            }
        }
    }

    /// Returns whether a list is for a crawler that reads all pages for a search engine or a model, and not, for example,
    /// only images, or single pages for previews. The former have one product token.
    fn is_for_search(&self, list: usize) -> bool {
        let is_known = |token: &[u8]| {
            let known = crawlers::ALL.iter().find(|known| known.name.as_bytes().eq_ignore_ascii_case(token));
            let purposes = [Purposes::AI_TRAINING, Purposes::SEARCH];
            known.is_some_and(|known| known.tokens.len() == 1 && purposes.iter().any(|&it| known.purposes.contains(it)))
        };
        self.assignment.tokens.iter().any(|&(token, index)| index as usize == list && is_known(token))
    }

    /// Returns whether groups have no line except user-agent lines.
    fn is_blank(&self, groups: &[u32], agent_lines: &[&[u32]], places: &GroupLines<'_>) -> bool {
        groups.iter().all(|&group| {
            let last = agent_lines.get(group as usize).and_then(|lines| lines.last()).copied().unwrap_or_default();
            let next = places.agents.partition_point(|&line| line <= last);
            let end = places.agents.get(next).copied().unwrap_or(u32::MAX);
            let has_rule = self.robots.groups.get(group as usize).is_some_and(|group| !group.rules.is_empty());
            !has_rule && places.other_between(last, end).is_none()
        })
    }

    /// Returns the first user-agent line in a list's groups that names a crawler which obeys this list, and which would
    /// obey the default group without it. Also returns the names in all such lines.
    fn named_by(&self, list: usize, groups: &[u32], agent_lines: &[&[u32]]) -> Option<(u32, String)> {
        let (mut first, mut shown, mut more): (Option<u32>, Vec<String>, usize) = (None, Vec::new(), 0);
        for &group in groups {
            let Some(Group { agents, .. }) = self.robots.groups.get(group as usize) else { continue };
            let lines = agent_lines.get(group as usize).copied().unwrap_or_default();
            for (value, &line) in agents.iter().zip(lines) {
                let Named::Token(token) = named(value, self.dialect) else { continue };
                if !obeys_instead(token, list, &self.assignment) {
                    continue;
                }
                first.get_or_insert(line);
                let name = format!("\"{}\"", quote(token));
                if shown.contains(&name) {
                    continue;
                }
                if shown.len() < MAX_NAMES_SHOWN { shown.push(name) } else { more += 1 }
            }
        }
        let names = shown.join(", ");
        Some((first?, if more == 0 { names } else { format!("{names} and {more} more") }))
    }
}

/// Returns whether a crawler with this token obeys a list, and would obey the default group without it. A token that
/// names a use belongs to no crawler.
pub(super) fn obeys_instead(token: &[u8], list: usize, assignment: &Assignment<'_>) -> bool {
    let is_assigned = assignment.tokens.binary_search(&(&token.to_ascii_lowercase()[..], list as u32)).is_ok();
    is_assigned && !token.is_empty() && !ignores_default_group(token) && !names_use(token)
}

/// Returns a folder for members or the like that the default group closes and another group opens, though that group
/// names no folder to open. Also returns the line that closes it. `closed_by` returns this line for a path.
fn private_opening(
    all: &[RawRule<'_>],
    own: &[RawRule<'_>],
    closed_by: &mut impl FnMut(&[u8]) -> Option<u32>,
    dialect: &Dialect,
) -> Option<(Vec<u8>, u32)> {
    let names_folder = |rule: &RawRule<'_>| rule.kind == RuleKind::Allow && !rule.value.is_empty() && !opens_all(rule);
    if own.iter().any(names_folder) {
        return None;
    }
    let is_private = |rule: &&RawRule<'_>| {
        let name = rule.value.strip_prefix(b"/").unwrap_or_default();
        let begins =
            |word: &str| name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
        rule.kind == RuleKind::Disallow && PRIVATE_FOLDERS.iter().any(|word| begins(word))
    };
    all.iter().filter(is_private).find_map(|rule| {
        let path = dialect.normal_form.path(Pattern::new(rule.value).prefix()).into_owned();
        let line = closed_by(&path)?;
        (line == rule.line).then_some((path, line))
    })
}

fn opens_private(line: u32, names: &str, path: &[u8], closed_by: u32, found: &mut Findings) {
    found.proved.groups_opening += 1;
    found.add(line, Code::GroupOpens, Severity::Warning, || {
        let message = format!(
            "{names} may fetch \"{}\", which line {closed_by} closes to \"*\": a crawler with its own group ignores the \
             rules for \"*\"",
            quote(path)
        );
        (message.into(), Some("repeat the rules for \"*\" in this group, or name the folders to open".into()))
    });
}

/// The lines that close something to `*`, and those that another group repeats.
struct Repeated {
    all: usize,
    some: usize,
}

impl Repeated {
    fn of(all: &[RawRule<'_>], own: &[RawRule<'_>]) -> Repeated {
        let closing = |rules: &[RawRule<'_>]| -> HashSet<Vec<u8>> {
            let closing = rules.iter().filter(|rule| rule.kind == RuleKind::Disallow && !rule.value.is_empty());
            closing.map(|rule| rule.value.to_vec()).collect()
        };
        let (all, own) = (closing(all), closing(own));
        Repeated { all: all.len(), some: all.intersection(&own).count() }
    }

    /// Returns whether the group repeats all lines except one, and at least two. Such an omission is deliberate.
    fn is_all_but_one(&self) -> bool {
        self.some > 1 && self.some + 1 == self.all
    }
}

/// Returns whether a group consists of two that no rule separates. Its rules may have been meant for the second one.
fn is_collapsed(group: u32, agent_lines: &[&[u32]], places: &GroupLines<'_>) -> bool {
    agent_lines.get(group as usize).is_some_and(|lines| last_of_collapsed(lines, places, || ()).is_some())
}

/// Returns whether a rule allows the whole site.
fn opens_all(rule: &RawRule<'_>) -> bool {
    rule.kind == RuleKind::Allow && matches!(rule.value, b"/" | b"*" | b"/*")
}

/// Returns whether only crawlers that ignore the default group have this product token.
pub(super) fn ignores_default_group(token: &[u8]) -> bool {
    let is_named = |known: &&crawlers::Crawler| {
        known.tokens.first().is_some_and(|first| first.as_bytes().eq_ignore_ascii_case(token))
    };
    let mut named = crawlers::ALL.iter().filter(is_named).peekable();
    named.peek().is_some() && named.all(|known| !known.honors_default_group)
}

/// Explains why a rule has no effect.
fn explanation(rule: &RawRule<'_>, influence: &Influence) -> String {
    match influence {
        Influence::Hidden { by, .. } if by.is_empty() => {
            "the rule can never decide: no URL has a path that it matches".into()
        }
        Influence::Hidden { by, .. } => {
            let shown: Vec<String> = by.iter().take(MAX_LINES_SHOWN).map(u32::to_string).collect();
            let more = by.len() - shown.len();
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let (s, decide) = if by.len() == 1 { ("", "decides") } else { ("s", "decide") };
            format!("the rule can never decide: line{s} {}{more} {decide} all paths that it matches", shown.join(", "))
        }
        Influence::Superfluous(path) => {
            let word = if rule.kind == RuleKind::Allow { "allowed" } else { "disallowed" };
            let path = quote(path);
            format!(
                "the rule changes nothing: without it, \"{path}\" and all other paths that it decides are {word} too"
            )
        }
        Influence::Needed | Influence::Unproved => String::new(),
    }
}
