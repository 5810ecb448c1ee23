//! A file that has been read, but whose rules have not been ordered or compiled yet.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::TooLarge;
use reptile_engine::format::directives::Directive;
use reptile_engine::url::Path;
use reptile_engine::verdict::RuleKind;

use super::prepare::{BodyOverLimit, Prepared, check_size, prepared_from, read_all};
use crate::automaton::{check_file, has_few_steps};
use crate::body::directives::UsageOverLimit;
use crate::body::{Diagnostics, Group, RawRule, Robots};
use crate::dialect::{Dialect, GroupChoice};
use crate::once::{decide_by_rules, place_of};
use crate::oracle::OracleAnswer;
use crate::rules::groups::assign;
use crate::rules::order::order_all;

/// A robots.txt that has been read, but not compiled.
///
/// Decides URLs by its rules as written. A decision takes longer than with a compiled set, but no set needs to be
/// compiled. Owns its memory.
///
/// [`prepare`](UnorderedFile::prepare) later prepares the file without reading the body again.
#[derive(Clone, Debug)]
pub struct UnorderedFile {
    /// Empty if the file has neither groups nor directives.
    body: Box<[u8]>,
    /// For each group, the indices after its last user-agent line and its last rule.
    group_ends: Box<[(u32, u32)]>,
    agents: Box<[Text]>,
    rules: Box<[(RuleKind, u32, Text)]>,
    /// Each directive without its key and value, followed by its key and its value.
    directives: Box<[(Directive<'static>, Text, Text)]>,
    usage_over_limit: Option<UsageOverLimit>,
    diagnostics: Diagnostics,
}

/// A part of the body: its offset and length.
type Text = (u32, u32);

/// The groups that a crawler obeys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObeyedGroups {
    /// Whether they name the crawler.
    pub are_named: bool,
    /// Their indices in the file.
    groups: Box<[u32]>,
}

impl UnorderedFile {
    /// Copies a parsed file.
    pub(super) fn new(
        body: &[u8],
        robots: Robots<'_>,
        directives: &[Directive<'_>],
        usage_over_limit: Option<UsageOverLimit>,
    ) -> UnorderedFile {
        let text = |text: &[u8]| match text {
            // An empty text need not be a part of the body.
            [] => (0, 0),
            _ => ((text.as_ptr().addr() - body.as_ptr().addr()) as u32, text.len() as u32),
        };
        let groups = || robots.groups.iter();
        let count = |count: fn(&Group<'_>) -> usize| groups().map(count).sum();
        let mut agents = Vec::with_capacity(count(|group| group.agents.len()));
        let mut rules = Vec::with_capacity(count(|group| group.rules.len()));
        let copy = |group: &Group<'_>| {
            agents.extend(group.agents.iter().map(|agent| text(agent)));
            rules.extend(group.rules.iter().map(|rule| (rule.kind, rule.line, text(rule.value))));
            (agents.len() as u32, rules.len() as u32)
        };
        let group_ends = groups().map(copy).collect();
        let directive = |directive: &Directive<'_>| {
            let Directive { key, value, .. } = directive;
            (Directive { key: b"", value: b"", ..*directive }, text(key), text(value))
        };
        // A large web page without a single line to keep need not be copied.
        let is_empty = robots.groups.is_empty() && directives.is_empty();
        UnorderedFile {
            body: if is_empty { Box::default() } else { body.into() },
            group_ends,
            agents: agents.into(),
            rules: rules.into(),
            directives: directives.iter().map(directive).collect(),
            usage_over_limit,
            diagnostics: robots.diagnostics,
        }
    }

    /// Returns the groups that a crawler with these product tokens obeys.
    #[must_use]
    pub fn groups_of(&self, dialect: &Dialect, tokens: &[Vec<u8>], honors_default_group: bool) -> ObeyedGroups {
        let (mut place, mut groups) = (usize::MAX, Vec::new());
        for group in 0..self.group_ends.len() {
            for &agent in self.agents_of(group) {
                let Some(found) = place_of(self.text(agent), dialect, tokens, honors_default_group) else { continue };
                if found < place {
                    (place, groups) = (found, vec![group as u32]);
                } else if found == place
                    && dialect.group_choice == GroupChoice::Merge
                    && groups.last() != Some(&(group as u32))
                {
                    groups.push(group as u32);
                }
            }
        }
        ObeyedGroups { are_named: place < tokens.len(), groups: groups.into() }
    }

    /// Decides a path by the rules of some groups.
    ///
    /// Adds the work to `steps`: the bytes compared, and for each wildcard pattern that is tried, its length and the
    /// path's.
    ///
    /// # Errors
    /// Returns an error if patterns with wildcards take more than `most_steps` steps.
    pub fn decide(
        &self,
        groups: &ObeyedGroups,
        dialect: &Dialect,
        path: &Path<'_>,
        most_steps: usize,
        steps: &mut usize,
    ) -> Result<OracleAnswer, TooLarge> {
        let rules = groups.groups.iter().flat_map(|&group| self.rules_of(group as usize));
        decide_by_rules(rules.map(|rule| self.rule(rule)), dialect, path, most_steps, steps)
    }

    /// Prepares the file like [`prepare_alone`](super::prepare_alone).
    ///
    /// # Errors
    /// Returns the same errors as [`prepare_alone`](super::prepare_alone). There are none for the dialect that
    /// [`read_alone`] was given.
    pub fn prepare(self, dialect: &Dialect, arena: &Bump) -> Result<Prepared, BodyOverLimit> {
        let group = |group| Group {
            agents: arena.alloc_slice_fill_iter(self.agents_of(group).iter().map(|&agent| self.text(agent))),
            rules: arena.alloc_slice_fill_iter(self.rules_of(group).iter().map(|rule| self.rule(rule))),
        };
        let groups = BumpVec::from_iter_in((0..self.group_ends.len()).map(group), arena);
        let directive =
            |&(directive, key, value): &_| Directive { key: self.text(key), value: self.text(value), ..directive };
        let directives: Vec<Directive<'_>> = self.directives.iter().map(directive).collect();
        let robots = Robots { groups, diagnostics: self.diagnostics.clone(), line_count: 0 };
        prepared_from(&self.body, robots, &directives, self.usage_over_limit.clone(), dialect, arena)
    }

    fn text(&self, (start, len): Text) -> &[u8] {
        &self.body[start as usize..][..len as usize]
    }

    fn rule(&self, &(kind, line, value): &(RuleKind, u32, Text)) -> RawRule<'_> {
        RawRule { kind, line, value: self.text(value) }
    }

    fn agents_of(&self, group: usize) -> &[Text] {
        let (start, end) = self.bounds_of(group);
        &self.agents[start.0 as usize..end.0 as usize]
    }

    fn rules_of(&self, group: usize) -> &[(RuleKind, u32, Text)] {
        let (start, end) = self.bounds_of(group);
        &self.rules[start.1 as usize..end.1 as usize]
    }

    fn bounds_of(&self, group: usize) -> ((u32, u32), (u32, u32)) {
        (group.checked_sub(1).map_or((0, 0), |before| self.group_ends[before]), self.group_ends[group])
    }
}

/// Reads a set's only file.
///
/// # Errors
/// Returns the same errors as [`prepare_alone`](super::prepare_alone).
pub fn read_alone(body: &[u8], dialect: &Dialect, arena: &Bump) -> Result<UnorderedFile, BodyOverLimit> {
    check_size(body)?;
    let (robots, directives, over_limit) = read_all(body, dialect, arena);
    let has_few_steps = |most_lists| has_few_steps(body, &robots.groups, most_lists);
    if !has_few_steps(robots.groups.len()) {
        let assignment = assign(&robots, dialect, arena);
        if !has_few_steps(assignment.most_lists()) {
            check_file(&assignment.tokens, &order_all(&assignment, dialect, arena)).map_err(BodyOverLimit::Steps)?;
        }
    }
    Ok(UnorderedFile::new(body, robots, &directives, over_limit))
}
