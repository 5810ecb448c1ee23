//! Compiles each group's usage rules.
//!
//! The rules' paths form one more rule list, longest first ([`crate::rules::order`]). In it, a plain rule is a
//! `Disallow`, and any other rule an `Allow`; see the engine's `set::usage`. Rules that match the same paths are combined
//! here, so that each rule of the list has one statement.

use std::borrow::Cow;
use std::collections::HashMap;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::directives::{Directive, DirectiveKind, MAX_DIRECTIVES};
use reptile_engine::format::usages::{MAX_TIED_PATTERNS, UsageDraft};
use reptile_engine::norm::Pattern;
use reptile_engine::verdict::RuleKind;

use crate::automaton::check_file;
use crate::body::RawRule;
use crate::body::directives::content_usage;
use crate::dialect::{Dialect, Order};
use crate::rules::groups::{Assignment, List};
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
/// Also empty if the rules of a group exceed the limits of one decision, or more than [`MAX_TIED_PATTERNS`] of them have
/// wildcards and the same length. Then every use is unknown.
///
/// Time: linear in the lines' text, times the number of lists that share a group, plus sorting.
pub fn usages_of<'b>(
    body: &[u8],
    directives: &[Directive<'b>],
    assignment: &Assignment<'_>,
    dialect: &Dialect,
    arena: &'b Bump,
) -> Vec<UsageRules> {
    let is_usage =
        |line: &&Directive<'b>| matches!(line.kind, DirectiveKind::ContentUsage | DirectiveKind::ContentSignal);
    let lines: Vec<&Directive<'b>> = directives.iter().filter(is_usage).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let dialect = Dialect {
        order: Order::Longest,
        robots_txt_always_allowed: false,
        index_htm_opens_directory: false,
        ..dialect.clone()
    };
    let reader = Reader { dialect: &dialect, arena };
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
        let Some((list, stated)) = reader.usage_of(&lines, signals_of(&lines).or(of_file.clone())) else {
            return Vec::new();
        };
        lists.push(list);
        statements.push(stated);
    }
    let without_group = reader.usage_of(&[], of_file.clone()).unwrap_or_default();
    if check_file(body, &assignment.tokens, &lists).is_err() {
        return Vec::new();
    }
    let with_statements = lists.into_iter().zip(statements).chain([without_group]);
    let usages: Vec<UsageRules> =
        with_statements.map(|((list, _), statements)| UsageRules { list, statements }).collect();
    if usages.iter().all(|usage| usage.statements.is_empty()) { Vec::new() } else { usages }
}

/// A rule list with each rule's statement by position, and the encoded statements.
type Compiled = ((RuleList, Vec<u32>), Box<[u8]>);

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
}

struct Reader<'d, 'b> {
    dialect: &'d Dialect,
    arena: &'b Bump,
}

impl<'b> Reader<'_, 'b> {
    /// Compiles a group's usage lines, with its signals. Returns `None` if they exceed a limit.
    fn usage_of(&self, lines: &[&Directive<'b>], signals: Option<Statement>) -> Option<Compiled> {
        let mut base: Option<Statement> = None;
        let mut rules = Vec::new();
        for line in lines.iter().filter(|line| line.kind == DirectiveKind::ContentUsage) {
            let (path, statement) = content_usage(line.value);
            // A statement that cannot be read states nothing, but the rule still hides shorter ones.
            let statement = Statement::parse(statement).unwrap_or_default();
            match path {
                Some(path) => rules.push(PathRule { path, pattern: self.normal(path), statement }),
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
        let statements = if draft.is_empty() { Vec::new() } else { draft.encode().ok()? };
        Some((list, statements.into_boxed_slice()))
    }

    /// Returns a pattern in normal form.
    fn normal(&self, path: &'b [u8]) -> &'b [u8] {
        match self.dialect.normal_form.pattern(path) {
            Cow::Borrowed(_) => path,
            Cow::Owned(pattern) => self.arena.alloc_slice_copy(&pattern),
        }
    }

    /// Orders rules with paths. Returns their list, and each rule's statement and pattern length in rank order, or
    /// `None` if too many have equal lengths.
    #[allow(clippy::type_complexity, reason = "two lists that belong together")]
    fn ordered(&self, rules: Vec<PathRule<'b>>) -> Option<((RuleList, Vec<u32>), Vec<(Statement, u32)>)> {
        let mut statements: Vec<Statement> = Vec::new();
        let mut raw = BumpVec::new_in(self.arena);
        let (mut lens, mut kinds) = (Vec::new(), Vec::new());
        for rule in combined(rules) {
            let kind = if is_plain(rule.pattern) { RuleKind::Disallow } else { RuleKind::Allow };
            // The line number is the statement's place.
            raw.push(RawRule { kind, value: rule.path, line: statements.len() as u32 });
            statements.push(rule.statement);
            lens.push(rule.pattern.len() as u32);
            kinds.push(kind);
        }
        if raw.is_empty() {
            return Some(Default::default());
        }
        let list = List { rules: raw.into_bump_slice(), groups: &[], is_part: false };
        let (list, places) = order(&list, self.dialect, self.arena, &mut OrderScratch::default());
        let tied = places
            .chunk_by(|&a, &b| lens.get(a as usize) == lens.get(b as usize))
            .map(|tied| tied.iter().filter(|&&place| kinds.get(place as usize) == Some(&RuleKind::Allow)).count());
        if tied.max() > Some(MAX_TIED_PATTERNS) {
            return None;
        }
        let rule = |&place: &u32| Some((statements.get(place as usize)?.clone(), *lens.get(place as usize)?));
        let rules = places.iter().filter_map(rule).collect();
        Some(((list, places), rules))
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

/// Returns a statement as the engine stores it.
fn labels(statement: &Statement) -> reptile_engine::format::usages::Labels {
    statement.entries().map(|(label, preference)| (label.as_bytes().into(), preference)).collect()
}
