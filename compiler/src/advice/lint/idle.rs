//! Rules that change nothing, because an equal rule or a shorter one decides the same.
//!
//! Reports only certain cases; the tests replace each such rule and compare all verdicts.

use std::collections::HashMap;

use memchr::memchr;
use reptile_engine::norm::Pattern;
use reptile_engine::verdict::RuleKind;

use super::{Code, Findings, Severity};
use crate::body::{Group, RawRule, Robots};
use crate::dialect::{Dialect, EmptyDisallow, GroupChoice, Order};
use crate::rules::groups::{Named, named};
use crate::rules::order::len_without_trailing_wildcards;

/// Which groups decide together with another one, because both name the same crawler.
pub(super) fn merged_groups(robots: &Robots<'_>, dialect: &Dialect) -> Vec<bool> {
    let mut merged = vec![false; robots.groups.len()];
    if dialect.group_choice == GroupChoice::First {
        return merged;
    }
    let mut first: HashMap<Option<Vec<u8>>, usize> = HashMap::new();
    for (index, group) in robots.groups.iter().enumerate() {
        for value in group.agents {
            let name = match named(value, dialect) {
                Named::Everyone => None,
                Named::Token(token) => Some(token.to_ascii_lowercase()),
            };
            let known = *first.entry(name).or_insert(index);
            if known != index {
                (merged[known], merged[index]) = (true, true);
            }
        }
    }
    merged
}

/// A rule in the form in which it is compared with others.
struct Compared<'r> {
    rule: &'r RawRule<'r>,
    kind: RuleKind,
    /// The pattern without trailing wildcards and end anchor.
    matcher: Vec<u8>,
    anchored: bool,
    /// What the rule's precedence depends on: the number of octets that count, or the line.
    weight: usize,
    /// Whether the rule is more than a prefix, or weighs more than its prefix has octets.
    is_wild: bool,
    opens_folder: bool,
}

impl Compared<'_> {
    /// The text with which every path that the rule matches begins.
    fn prefix(&self) -> &[u8] {
        Pattern { text: &self.matcher, anchored: self.anchored }.prefix()
    }
}

fn compared<'r>(rule: &'r RawRule<'r>, dialect: &Dialect) -> Option<Compared<'r>> {
    let is_open = rule.value.is_empty() && rule.kind == RuleKind::Disallow;
    let (kind, value) = match dialect.empty_disallow {
        EmptyDisallow::AllowRoot if is_open => (RuleKind::Allow, &b"/"[..]),
        _ => (rule.kind, rule.value),
    };
    let pattern = dialect.normal_form.pattern(value);
    if pattern.is_empty() {
        return None;
    }
    let weight = match dialect.order {
        Order::Longest => pattern.len(),
        Order::LongestWithoutTrailingWildcards => len_without_trailing_wildcards(&pattern),
        Order::FileOrder => rule.line as usize,
    };
    let Pattern { text, anchored } = Pattern::new(&pattern).without_trailing_wildcards();
    let mut matcher = text.to_vec();
    matcher.dedup_by(|a, b| *a == b'*' && *b == b'*');
    let is_wild = anchored || memchr(b'*', &matcher).is_some() || pattern.len() != matcher.len();
    let slash = memchr::memrchr(b'/', &pattern).unwrap_or(0);
    let opens_folder =
        dialect.index_htm_opens_directory && kind == RuleKind::Allow && pattern[slash..].starts_with(b"/index.htm");
    Some(Compared { rule, kind, matcher, anchored, weight, is_wild, opens_folder })
}

/// Finds rules that can be removed without changing a verdict.
pub(super) fn idle_rules(group: &Group<'_>, merged: bool, dialect: &Dialect, found: &mut Findings) {
    let mut rules: Vec<Compared<'_>> = group.rules.iter().filter_map(|rule| compared(rule, dialect)).collect();
    // Sorts equal patterns together, an allow before a disallow, and the deciding rule first.
    let by_line = dialect.order == Order::FileOrder;
    rules.sort_by(|a, b| {
        let key = |rule: &Compared<'_>| (rule.anchored, if by_line { RuleKind::Allow } else { rule.kind });
        let weight = if by_line { a.weight.cmp(&b.weight) } else { b.weight.cmp(&a.weight) };
        a.matcher.cmp(&b.matcher).then(key(a).cmp(&key(b))).then(weight).then(a.rule.line.cmp(&b.rule.line))
    });
    let mut is_idle = vec![false; rules.len()];
    let mut at = 0;
    for equal in rules.chunk_by(|a, b| a.matcher == b.matcher && a.anchored == b.anchored) {
        for (index, rule) in equal.iter().enumerate().skip(1) {
            if rule.rule.value.is_empty() || rule.opens_folder {
                continue;
            }
            let best =
                equal[..index].iter().rev().find(|other| other.kind == rule.kind && !other.rule.value.is_empty());
            let over = equal[..index].iter().find(|other| other.kind != rule.kind);
            // The longest rule of its kind comes first, so each later one loses against it wherever it matches.
            let first = equal[..index].iter().find(|other| other.kind == rule.kind && !other.rule.value.is_empty());
            if let (Some(_), Some(first)) = (best, first) {
                is_idle[at + index] = true;
                // To the reader of the file the later line is the superfluous one.
                let (early, late) = (first.rule.line.min(rule.rule.line), first.rule.line.max(rule.rule.line));
                let line = if first.weight == rule.weight { late } else { rule.rule.line };
                let other = early + late - line;
                found.add(line, Code::DuplicateRule, Severity::Note, || {
                    (format!("the same as line {other}").into(), Some("remove it".into()))
                });
            } else if let Some(over) = over.filter(|over| by_line || over.weight >= rule.weight) {
                is_idle[at + index] = true;
                found.add(rule.rule.line, Code::OverruledRule, Severity::Warning, || {
                    let reason = if by_line { "comes first" } else { "wins, because an allow wins a tie" };
                    (format!("line {} has the same pattern and {reason}", over.rule.line).into(), None)
                });
            }
        }
        at += equal.len();
    }
    if !merged {
        shadowed(&rules, &is_idle, by_line, found);
    }
}

/// How many shorter rules are tried for each rule. Keeps the time linear if thousands of rules begin with the same
/// text.
const MAX_SHORTER_RULES: usize = 8;

/// Finds rules that a shorter one makes superfluous, with no rule of the other kind between the two.
fn shadowed(rules: &[Compared<'_>], is_idle: &[bool], by_line: bool, found: &mut Findings) {
    // The weights, by kind, of the rules that may match any path, and of all rules.
    let mut wild: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    let mut all: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    for rule in rules {
        let kind = rule.kind as usize;
        all[kind].push(rule.weight);
        if rule.is_wild {
            wild[kind].push(rule.weight);
        }
        if rule.opens_folder {
            let folder = memchr::memrchr(b'/', &rule.matcher).unwrap_or(0) + 2;
            all[kind].push(folder);
            wild[kind].push(folder);
        }
    }
    for list in wild.iter_mut().chain(&mut all) {
        list.sort_unstable();
    }
    let any_within = |list: &[usize], from: usize, to: usize| {
        list.get(list.partition_point(|&weight| weight < from)).is_some_and(|&weight| weight < to)
    };
    // In the order of their prefixes: when a rule is reached, the stack holds the rules whose prefix its own begins
    // with.
    let mut order: Vec<usize> = (0..rules.len()).collect();
    order.sort_by(|&a, &b| {
        rules[a].prefix().cmp(rules[b].prefix()).then(rules[a].matcher.len().cmp(&rules[b].matcher.len()))
    });
    let covers = |rule: &Compared<'_>| !rule.anchored && rule.prefix().len() == rule.matcher.len();
    let mut stack: Vec<usize> = Vec::new();
    for index in order {
        let rule = &rules[index];
        while stack.last().is_some_and(|&top| !rule.prefix().starts_with(&rules[top].matcher)) {
            stack.pop();
        }
        if !rule.rule.value.is_empty() && !is_idle[index] && !rule.opens_folder {
            let near = stack.iter().rev().take(MAX_SHORTER_RULES).map(|&other| &rules[other]);
            let by = near.into_iter().find(|other| {
                if by_line {
                    return other.weight < rule.weight;
                }
                if other.kind != rule.kind
                    || other.weight >= rule.weight
                    || other.matcher.len() >= rule.matcher.len() + usize::from(rule.anchored)
                {
                    return false;
                }
                // An allow wins against a disallow of the same weight.
                let (from, to) = match rule.kind {
                    RuleKind::Disallow => (other.weight, rule.weight),
                    RuleKind::Allow => (other.weight + 1, rule.weight + 1),
                };
                let against = 1 - rule.kind as usize;
                let between = if rule.is_wild { &all[against] } else { &wild[against] };
                !any_within(between, from, to)
                    && !stack
                        .iter()
                        .map(|&at| &rules[at])
                        .any(|o| o.kind != rule.kind && (from..to).contains(&o.weight))
            });
            if let Some(by) = by {
                found.add(rule.rule.line, Code::ShadowedRule, Severity::Note, || {
                    let message = if by_line {
                        format!("line {} comes first and matches every path of this rule", by.rule.line)
                    } else {
                        format!("line {} has the same effect on every path of this rule", by.rule.line)
                    };
                    (message.into(), Some("remove it".into()))
                });
            }
        }
        if covers(rule) && !is_idle[index] {
            stack.push(index);
        }
    }
}
