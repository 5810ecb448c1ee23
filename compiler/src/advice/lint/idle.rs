//! Finds rules that change nothing, because an equal or shorter rule has the same effect.
//!
//! Reports only certain cases; the tests replace each such rule and compare all verdicts.

use std::borrow::Cow;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use memchr::memchr;
use reptile_engine::norm::Pattern;
use reptile_engine::verdict::RuleKind;

use super::codes::Code;
use super::findings::{Findings, Fix, Severity};
use crate::body::{Group, RawRule, Robots};
use crate::dialect::{Dialect, GroupChoice, Order};
use crate::rules::groups::{Named, named};
use crate::rules::order::{len_without_trailing_wildcards, meaning_of, slash_before_index};

/// Returns, for each group, whether it decides together with another one because both name the same crawler.
pub(super) fn merged_groups(robots: &Robots<'_>, dialect: &Dialect, found: &mut Findings) -> Vec<bool> {
    let mut merged = vec![false; robots.groups.len()];
    if dialect.group_choice == GroupChoice::First {
        return merged;
    }
    let mut named_in: Vec<(Option<&[u8]>, u32)> = Vec::new();
    for (index, group) in (0..).zip(&robots.groups) {
        named_in.extend(group.agents.iter().map(|value| match named(value, dialect) {
            Named::Everyone => (None, index),
            Named::Token(token) => (Some(token), index),
        }));
    }
    let by_name = |a: Option<&[u8]>, b: Option<&[u8]>| match (a, b) {
        (Some(a), Some(b)) => a.iter().map(u8::to_ascii_lowercase).cmp(b.iter().map(u8::to_ascii_lowercase)),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    named_in.sort_unstable_by(|a, b| {
        found.step();
        by_name(a.0, b.0).then(a.1.cmp(&b.1))
    });
    for pair in named_in.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        if first.1 != second.1 && by_name(first.0, second.0).is_eq() {
            (merged[first.1 as usize], merged[second.1 as usize]) = (true, true);
        }
    }
    merged
}

/// A rule in the form used for comparison. Small, because a file has up to 2 million.
struct Compared<'r> {
    /// The pattern without trailing wildcards and the end anchor.
    matcher: &'r [u8],
    line: u32,
    /// The basis for precedence: the octets that count, or the line.
    weight: u32,
    kind: RuleKind,
    anchored: bool,
    /// Whether the line has a value; a `Disallow` without one is an `Allow: /` in some dialects.
    has_value: bool,
    /// Whether the rule is more than a prefix, or weighs more than its prefix has octets.
    is_wild: bool,
    opens_folder: bool,
    /// Whether it loses to a rule with the same matcher, of either kind.
    is_idle: bool,
    /// Whether a rule with the same matcher is overruled, and would decide if the winning rule were removed.
    overrules: bool,
    /// Whether an earlier rule in order of precedence has the same kind and matcher.
    is_repeated: bool,
}

impl<'r> Compared<'r> {
    /// Returns the common prefix of the paths that the rule matches.
    fn prefix(&self) -> &'r [u8] {
        Pattern { text: self.matcher, anchored: self.anchored }.prefix()
    }
}

fn compared<'r>(rule: &RawRule<'r>, dialect: &Dialect, arena: &'r Bump) -> Option<Compared<'r>> {
    let RawRule { kind, value, line } = meaning_of(rule, dialect);
    let pattern: &'r [u8] = match dialect.normal_form.pattern(value) {
        Cow::Borrowed(_) => value,
        Cow::Owned(pattern) => arena.alloc_slice_copy(&pattern),
    };
    if pattern.is_empty() {
        return None;
    }
    let weight = match dialect.order {
        Order::Longest => pattern.len() as u32,
        Order::LongestWithoutTrailingWildcards => len_without_trailing_wildcards(pattern) as u32,
        Order::FileOrder => line,
    };
    let Pattern { text: mut matcher, anchored } = Pattern::new(pattern).without_trailing_wildcards();
    if memchr::memmem::find(matcher, b"**").is_some() {
        let mut once = BumpVec::from_iter_in(matcher.iter().copied(), arena);
        once.dedup_by(|a, b| *a == b'*' && *b == b'*');
        matcher = once.into_bump_slice();
    }
    Some(Compared {
        matcher,
        line,
        weight,
        kind,
        anchored,
        has_value: !rule.value.is_empty(),
        is_wild: anchored || memchr(b'*', matcher).is_some() || pattern.len() != matcher.len(),
        opens_folder: dialect.index_htm_opens_directory
            && kind == RuleKind::Allow
            && slash_before_index(pattern).is_some(),
        is_idle: false,
        overrules: false,
        is_repeated: false,
    })
}

/// Finds rules that can be removed without changing a verdict. Takes the time for sorting the rules.
pub(super) fn idle_rules(group: &Group<'_>, merged: bool, dialect: &Dialect, found: &mut Findings) {
    let arena = Bump::new();
    let mut rules: Vec<Compared<'_>> = Vec::with_capacity(group.rules.len());
    rules.extend(group.rules.iter().filter_map(|rule| compared(rule, dialect, &arena)));
    // Sorts equal patterns together, an allow before a disallow, and the deciding rule first.
    let by_line = dialect.order == Order::FileOrder;
    rules.sort_unstable_by(|a, b| {
        found.step();
        let key = |rule: &Compared<'_>| (rule.anchored, if by_line { RuleKind::Allow } else { rule.kind });
        let weight = if by_line { a.weight.cmp(&b.weight) } else { b.weight.cmp(&a.weight) };
        a.matcher.cmp(b.matcher).then(key(a).cmp(&key(b))).then(weight).then(a.line.cmp(&b.line))
    });
    for equal in rules.chunk_by_mut(|a, b| a.matcher == b.matcher && a.anchored == b.anchored) {
        repeated(equal, by_line, found);
    }
    if !merged {
        shadowed(&rules, by_line, found);
    }
}

/// Finds superfluous rules among those with the same matcher, which are given with the deciding rule first.
fn repeated(equal: &mut [Compared<'_>], by_line: bool, found: &mut Findings) {
    // By kind: line and weight of the first rule so far, and of the first with a value.
    let mut first: [Option<(u32, u32)>; 2] = [None; 2];
    let mut first_with_value: [Option<(u32, u32)>; 2] = [None; 2];
    let mut is_overruled = false;
    for rule in equal.iter_mut() {
        found.step();
        let kind = rule.kind as usize;
        let (same, against) = (first_with_value[kind], first[1 - kind]);
        let this = (rule.line, rule.weight);
        rule.is_repeated = first[kind].is_some();
        first[kind].get_or_insert(this);
        if !rule.has_value {
            continue;
        }
        first_with_value[kind].get_or_insert(this);
        if rule.opens_folder {
            continue;
        }
        // The winning rule of each kind comes first, so later ones lose to it wherever they match.
        if let Some((first_line, first_weight)) = same {
            rule.is_idle = true;
            // A person reading the file sees the later line as the superfluous one.
            let line = if first_weight == rule.weight { first_line.max(rule.line) } else { rule.line };
            let other = first_line ^ rule.line ^ line;
            found.add(line, Code::DuplicateRule, Severity::Note, || {
                (format!("the same as line {other}").into(), Some(Fix::Remove))
            });
        } else if let Some((over, _)) = against.filter(|&(_, weight)| by_line || weight >= rule.weight) {
            (rule.is_idle, is_overruled) = (true, true);
            found.add(rule.line, Code::OverruledRule, Severity::Warning, || {
                let reason = if by_line { "comes first" } else { "wins, because an allow wins a tie" };
                (format!("line {over} has the same pattern and {reason}").into(), None)
            });
        }
    }
    equal.iter_mut().for_each(|rule| rule.overrules = is_overruled);
}

/// Maximum shorter rules tried per rule. Keeps the time linear if thousands of rules begin with the same text.
const MAX_SHORTER_RULES: usize = 8;

/// Finds rules made superfluous by a shorter one, with no opposing rule between the two.
fn shadowed(rules: &[Compared<'_>], by_line: bool, found: &mut Findings) {
    let weights = Weights::new(rules);
    // Rules are visited in prefix order. The stack holds the rules whose prefix begins the current rule's prefix. Only
    // the first of several equal rules is pushed, so the stack is no deeper than a prefix is long.
    let mut order: Vec<u32> = (0..rules.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| {
        found.step();
        let (first, second) = (&rules[a as usize], &rules[b as usize]);
        let by_prefix = first.prefix().cmp(second.prefix());
        by_prefix.then(first.matcher.len().cmp(&second.matcher.len())).then(a.cmp(&b))
    });
    let covers = |rule: &Compared<'_>| !rule.anchored && rule.prefix().len() == rule.matcher.len();
    let mut stack: Vec<&Compared<'_>> = Vec::new();
    for rule in order.into_iter().map(|index| &rules[index as usize]) {
        while stack.last().is_some_and(|top| !rule.prefix().starts_with(top.matcher)) {
            found.step();
            stack.pop();
        }
        if rule.has_value && !rule.is_idle && !rule.overrules && !rule.opens_folder {
            let mut near = stack.iter().rev().take(MAX_SHORTER_RULES);
            let by = near.find(|other| {
                found.step();
                if by_line { other.weight < rule.weight } else { weights.none_between(other, rule, &stack, found) }
            });
            if let Some(by) = by {
                found.add(rule.line, Code::ShadowedRule, Severity::Note, || {
                    let message = if by_line {
                        format!("line {} comes first and matches every path of this rule", by.line)
                    } else {
                        format!("line {} has the same effect on every path of this rule", by.line)
                    };
                    (message.into(), Some(Fix::Remove))
                });
            }
        }
        if covers(rule) && !rule.is_idle && !rule.is_repeated {
            stack.push(rule);
        }
    }
}

/// The sorted weights of a group's rules, by kind.
struct Weights {
    /// Weights of rules that may match any path.
    wild: [Vec<u32>; 2],
    all: [Vec<u32>; 2],
}

impl Weights {
    fn new(rules: &[Compared<'_>]) -> Weights {
        let mut weights = Weights { wild: Default::default(), all: Default::default() };
        for rule in rules {
            let kind = rule.kind as usize;
            weights.all[kind].push(rule.weight);
            if rule.is_wild {
                weights.wild[kind].push(rule.weight);
            }
            if rule.opens_folder {
                let folder = memchr::memrchr(b'/', rule.matcher).unwrap_or(0) as u32 + 2;
                weights.all[kind].push(folder);
                weights.wild[kind].push(folder);
            }
        }
        for list in weights.wild.iter_mut().chain(&mut weights.all) {
            list.sort_unstable();
            list.dedup();
        }
        weights
    }

    /// Returns whether `other`, which matches every path that `rule` matches, has the same effect: it is of the same
    /// kind and shorter, and no opposing rule that could match such a path has a weight between the two.
    fn none_between(
        &self,
        other: &Compared<'_>,
        rule: &Compared<'_>,
        stack: &[&Compared<'_>],
        found: &mut Findings,
    ) -> bool {
        if other.kind != rule.kind
            || other.weight >= rule.weight
            || other.matcher.len() >= rule.matcher.len() + usize::from(rule.anchored)
        {
            return false;
        }
        // An allow wins against a disallow with the same weight.
        let range = match rule.kind {
            RuleKind::Disallow => other.weight..rule.weight,
            RuleKind::Allow => other.weight + 1..rule.weight + 1,
        };
        let against = 1 - rule.kind as usize;
        let between = if rule.is_wild { &self.all[against] } else { &self.wild[against] };
        let first = between.partition_point(|&weight| weight < range.start);
        if between.get(first).is_some_and(|&weight| weight < range.end) {
            return false;
        }
        !stack.iter().any(|covering| {
            found.step();
            covering.kind != rule.kind && range.contains(&covering.weight)
        })
    }
}
