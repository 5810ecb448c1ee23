//! Compiles each group's usage rules.
//!
//! The rules' paths form one more rule list, longest first ([`crate::rules::order`]). In it, a plain rule is a
//! `Disallow`, and any other rule an `Allow`; see the engine's `set::usage`. Rules that match the same paths are combined
//! here, so that each rule of the list has one statement.

use std::borrow::Cow;
use std::collections::HashMap;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::TooLarge;
use reptile_engine::format::directives::{Directive, DirectiveKind, MAX_DIRECTIVES};
use reptile_engine::format::usages::{MAX_TIED_PATTERNS, UsageDraft};
use reptile_engine::norm::Pattern;
use reptile_engine::verdict::RuleKind;

use crate::automaton::{TooManySteps, check_file};
use crate::body::RawRule;
use crate::body::directives::{UsageOverLimit, content_usage};
use crate::dialect::{Dialect, Order};
use crate::rules::groups::{AssignedRules, Assignment};
use crate::rules::order::{OrderScratch, RuleList, order};
use crate::usage::Statement;

/// A group's usage rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UsageRules {
    /// The rules with a path. Empty if there are none.
    pub list: RuleList,
    /// The statements, as the section `usages` stores them. Empty without usage rules and signals.
    pub statements: Box<[u8]>,
}

/// Reads each rule list's usage rules, and then those for crawlers without a group. Empty if there are none.
///
/// Time: linear in the lines' text, times the number of lists that share a group, plus sorting.
///
/// # Errors
/// Returns an error if the rules of a group exceed the limits of one decision, or more than [`MAX_TIED_PATTERNS`] of them
/// have wildcards and the same length. Then every use is unknown.
pub fn usages_of<'b>(
    directives: &[Directive<'b>],
    assignment: &Assignment<'_>,
    dialect: &Dialect,
    arena: &'b Bump,
) -> Result<Vec<UsageRules>, UsageOverLimit> {
    let is_usage =
        |line: &&Directive<'b>| matches!(line.kind, DirectiveKind::ContentUsage | DirectiveKind::ContentSignal);
    let lines: Vec<&Directive<'b>> = directives.iter().filter(is_usage).collect();
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let dialect = Dialect {
        order: Order::Longest,
        robots_txt_always_allowed: false,
        index_htm_opens_directory: false,
        ..dialect.clone()
    };
    let reader = UsageReader { dialect: &dialect, arena };
    let mut of_part: HashMap<Option<u32>, Vec<&Directive<'b>>> = HashMap::new();
    for line in lines {
        of_part.entry(line.part).or_default().push(line);
    }
    let of_file = of_part.remove(&None).unwrap_or_default();
    let of_file = signals_of(&of_file);
    let (mut lists, mut statements) = (Vec::new(), Vec::new());
    for list in &assignment.lists {
        let lines: Vec<&Directive<'b>> =
            list.groups.iter().filter_map(|&group| of_part.get(&Some(group))).flatten().copied().collect();
        let (list, stated) = reader.usage_of(&lines, signals_of(&lines).or(of_file.clone()))?;
        lists.push(list);
        statements.push(stated);
    }
    let without_group = reader.usage_of(&[], of_file.clone())?;
    let over_limit = |TooManySteps { line, error }| UsageOverLimit { line, error };
    check_file(&assignment.tokens, &lists).map_err(over_limit)?;
    let with_statements = lists.into_iter().zip(statements).chain([without_group]);
    let usages: Vec<UsageRules> =
        with_statements.map(|((list, _), statements)| UsageRules { list, statements }).collect();
    Ok(if usages.iter().all(|usage| usage.statements.is_empty()) { Vec::new() } else { usages })
}

/// A rule list with each rule's line by position, and the encoded statements.
type CompiledUsage = ((RuleList, Vec<u32>), Box<[u8]>);

/// Combines the signals among some lines, or returns `None` if there are none.
fn signals_of(lines: &[&Directive<'_>]) -> Option<Statement> {
    let signals = lines.iter().filter(|line| line.kind == DirectiveKind::ContentSignal);
    signals.map(|line| Statement::signals(line.value).0).reduce(|mut all, signals| {
        all.combine(&signals);
        all
    })
}

/// A rule with a path, as written and in normal form, and its statement.
struct PathRule<'b> {
    path: &'b [u8],
    pattern: &'b [u8],
    statement: Statement,
    line: u32,
}

impl PathRule<'_> {
    fn kind(&self) -> RuleKind {
        if is_plain(self.pattern) { RuleKind::Disallow } else { RuleKind::Allow }
    }
}

struct UsageReader<'d, 'b> {
    dialect: &'d Dialect,
    arena: &'b Bump,
}

impl<'b> UsageReader<'_, 'b> {
    /// Compiles a group's usage lines, with its signals.
    fn usage_of(&self, lines: &[&Directive<'b>], signals: Option<Statement>) -> Result<CompiledUsage, UsageOverLimit> {
        let mut base: Option<Statement> = None;
        let mut rules = Vec::new();
        for line in lines.iter().filter(|line| line.kind == DirectiveKind::ContentUsage) {
            let (path, statement) = content_usage(line.value);
            // A statement that cannot be read states nothing, but the rule still hides shorter ones.
            let statement = Statement::parse(statement).unwrap_or_default();
            match path {
                Some(path) => {
                    rules.push(PathRule { path, pattern: self.normal(path), statement, line: line.line });
                }
                None => base.get_or_insert_default().combine(&statement),
            }
        }
        let (list, path_rules) = self.ordered(rules)?;
        let mut draft = UsageDraft::default();
        for (statement, len) in path_rules {
            draft.add_rule(labels(&statement), len);
        }
        draft.base = base.map(|base| draft.add(labels(&base)));
        draft.signals = signals.map(|signals| draft.add(labels(&signals)));
        let first = lines.first().map_or(0, |line| line.line);
        let over_limit = |error| UsageOverLimit { line: first, error };
        let statements = if draft.is_empty() { Vec::new() } else { draft.encode().map_err(over_limit)? };
        Ok((list, statements.into_boxed_slice()))
    }

    /// Returns a pattern in normal form.
    fn normal(&self, path: &'b [u8]) -> &'b [u8] {
        match self.dialect.normal_form.pattern(path) {
            Cow::Borrowed(_) => path,
            Cow::Owned(pattern) => self.arena.alloc_slice_copy(&pattern),
        }
    }

    /// Orders rules with paths. Returns their list with each rule's line, and each rule's statement and pattern length,
    /// in rank order.
    #[allow(clippy::type_complexity, reason = "two lists that belong together")]
    fn ordered(
        &self,
        rules: Vec<PathRule<'b>>,
    ) -> Result<((RuleList, Vec<u32>), Vec<(Statement, u32)>), UsageOverLimit> {
        let rules = combined(rules);
        let mut raw = BumpVec::new_in(self.arena);
        // The line number is the rule's place.
        raw.extend(rules.iter().zip(0..).map(|(rule, line)| RawRule { kind: rule.kind(), value: rule.path, line }));
        if raw.is_empty() {
            return Ok(Default::default());
        }
        let list = AssignedRules { rules: raw.into_bump_slice(), groups: &[], is_part: false };
        let (list, places) = order(&list, self.dialect, self.arena, &mut OrderScratch::default());
        let ordered: Vec<&PathRule<'_>> = places.iter().filter_map(|&place| rules.get(place as usize)).collect();
        for tied in ordered.chunk_by(|a, b| a.pattern.len() == b.pattern.len()) {
            let lines: Vec<u32> =
                tied.iter().filter(|rule| rule.kind() == RuleKind::Allow).map(|rule| rule.line).collect();
            if lines.len() > MAX_TIED_PATTERNS {
                let what = "patterns with wildcards and the same length";
                let error = TooLarge { what, limit: MAX_TIED_PATTERNS as u64, found: lines.len() as u64 };
                return Err(UsageOverLimit { line: lines.into_iter().min().unwrap_or(0), error });
            }
        }
        let lines = ordered.iter().map(|rule| rule.line).collect();
        let stated = ordered.iter().map(|rule| (rule.statement.clone(), rule.pattern.len() as u32)).collect();
        Ok(((list, lines), stated))
    }
}

const _: () = assert!(MAX_TIED_PATTERNS < MAX_DIRECTIVES, "a file can have more tied patterns than the limit");

/// Combines the rules that match the same paths: of these, only the longest patterns count, and their statements are
/// combined.
fn combined(rules: Vec<PathRule<'_>>) -> Vec<PathRule<'_>> {
    let mut place_of: HashMap<(Vec<u8>, bool), usize> = HashMap::new();
    let mut all: Vec<PathRule<'_>> = Vec::new();
    for rule in rules {
        let place = *place_of.entry(matcher_of(rule.pattern)).or_insert(all.len());
        match all.get_mut(place) {
            Some(known) if known.pattern.len() > rule.pattern.len() => {}
            Some(known) if known.pattern.len() == rule.pattern.len() => known.statement.combine(&rule.statement),
            Some(known) => *known = rule,
            None => all.push(rule),
        }
    }
    all
}

/// Returns what a pattern matches: its text without repeated and trailing wildcards, and whether it is anchored.
fn matcher_of(pattern: &[u8]) -> (Vec<u8>, bool) {
    let Pattern { text, anchored } = Pattern::new(pattern).without_trailing_wildcards();
    let mut matcher = text.to_vec();
    matcher.dedup_by(|b, a| *a == b'*' && *b == b'*');
    (matcher, anchored)
}

/// Returns whether a pattern has no wildcard, not even a trailing one. At most one such pattern of each length matches a
/// path.
fn is_plain(pattern: &[u8]) -> bool {
    let (matcher, anchored) = matcher_of(pattern);
    !matcher.contains(&b'*') && matcher.len() + usize::from(anchored) == pattern.len()
}

fn labels(statement: &Statement) -> reptile_engine::format::usages::Labels {
    statement.entries().map(|(label, preference)| (label.as_bytes().into(), preference)).collect()
}
