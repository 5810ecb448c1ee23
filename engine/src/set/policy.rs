//! The policy of an origin: which crawler gets which rules, and what the rules decide.

use std::collections::HashSet;
use std::fmt;

use crate::automaton::{Ruleset, RulesetRule};
use crate::format::automaton::kind_of;
use crate::format::lines::Lines;
use crate::format::policies::{Group, PolicyView};
use crate::format::rulesets::Rulesets;
use crate::format::{FormatError, NONE};
use crate::norm::NormalForm;
use crate::set::agent::Agent;
use crate::url::Path;
use crate::verdict::{Explanation, PolicySource, Rule, RuleKind, Verdict};

/// A policy: what the robots.txt of an origin, or its absence, says for all crawlers.
#[derive(Clone, Copy)]
pub struct Policy<'a> {
    pub(super) number: u32,
    pub(super) view: PolicyView<'a>,
    pub(super) rulesets: Rulesets<'a>,
    pub(super) lines: Lines<'a>,
    pub(super) normal_form: NormalForm,
}

/// Why a group of a robots.txt is for a crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GroupKind {
    /// The group names the crawler.
    Named,
    /// It is the default group, the group for `*`.
    Default,
    /// No group is for the crawler.
    None,
}

impl GroupKind {
    /// The word for it in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            GroupKind::Named => "named",
            GroupKind::Default => "default",
            GroupKind::None => "none",
        }
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A group of a robots.txt.
#[derive(Clone)]
pub struct PolicyGroup<'a> {
    /// The numbers of the product tokens that the group is for.
    pub tokens: Vec<u32>,
    /// Whether the group is the default group.
    pub is_default: bool,
    /// The rules of the group.
    pub rules: Rules<'a>,
}

impl<'a> Policy<'a> {
    /// The verdict for a path as written in a URL. Never `Unknown` or `Invalid`.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn decide(&self, agent: &Agent, path: &[u8]) -> Result<Verdict, FormatError> {
        if !self.view.has_rules() {
            return Ok(self.without_rules(agent)?.verdict);
        }
        let groups = agent.groups(&self.view)?;
        if groups.has_more() {
            return Ok(self.explain_together(groups.all()?, &self.normal_form.path(path))?.verdict);
        }
        let Some(group) = groups.first else { return Ok(Verdict::Allow) };
        Ok(self.rules(group)?.ruleset.verdict(&self.normal_form.path(path))?)
    }

    /// The verdicts of several agents for the path of a URL; `verdicts` has one element for each agent. None is `Unknown` or
    /// `Invalid`. The path is normalised once, and neighbouring agents that share a ruleset share its walk.
    ///
    /// # Errors
    /// When the set is damaged.
    #[inline]
    pub fn decide_each(&self, agents: &[Agent], path: &Path<'_>, verdicts: &mut [Verdict]) -> Result<(), FormatError> {
        if !self.view.has_rules() {
            for (agent, verdict) in agents.iter().zip(verdicts) {
                *verdict = self.without_rules(agent)?.verdict;
            }
            return Ok(());
        }
        path.with_normal(self.normal_form, |path| {
            let mut last = None;
            for (agent, verdict) in agents.iter().zip(verdicts) {
                let groups = agent.groups(&self.view)?;
                *verdict = match (groups.first, last) {
                    _ if groups.has_more() => self.explain_together(groups.all()?, path)?.verdict,
                    (None, _) => Verdict::Allow,
                    (Some(group), Some((walked, known))) if walked == group => known,
                    (Some(group), _) => {
                        let verdict = self.rules(group)?.ruleset.verdict(path)?;
                        last = Some((group, verdict));
                        verdict
                    }
                };
            }
            Ok(())
        })
    }

    /// The verdict for a path as written in a URL, with the best matching rule of each kind.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn explain(&self, agent: &Agent, path: &[u8]) -> Result<Explanation, FormatError> {
        if !self.view.has_rules() {
            return self.without_rules(agent);
        }
        self.explain_together(agent.groups(&self.view)?.all()?, &self.normal_form.path(path))
    }

    /// The number of the ruleset whose rule decides for a path as written in a URL, or that decides by having no rule for it.
    /// Where several groups decide together and no rule matches, it is the ruleset of the first of them. `None` if no group is
    /// for the crawler, or no rules decide.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn deciding_ruleset(&self, agent: &Agent, path: &[u8]) -> Result<Option<u32>, FormatError> {
        if !self.view.has_rules() {
            return Ok(None);
        }
        let groups = agent.groups(&self.view)?;
        let first = groups.first.map(|group| group.ruleset);
        if !groups.has_more() {
            return Ok(first);
        }
        let (groups, path) = (groups.all()?, self.normal_form.path(path));
        let together = self.explain_together(groups.clone(), &path)?;
        let Some(rule) = together.rule() else { return Ok(first) };
        for group in groups {
            let ruleset = group.ruleset;
            if self.explain_together(vec![group], &path)?.rule() == Some(rule) {
                return Ok(Some(ruleset));
            }
        }
        Ok(first)
    }

    /// Every rule for a crawler that matches a path as written in a URL, in the order of precedence: the first rule
    /// decides. Empty patterns, which match everything and restrict nothing, come last.
    ///
    /// Cost: lists all rules of the crawler's groups and tries each; meant for people, not for many URLs. Of several
    /// rules of the same kind with the same pattern, one is listed; see [`Ruleset::rules`].
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn matching_rules(&self, agent: &Agent, path: &[u8]) -> Result<Vec<Rule>, FormatError> {
        let groups = if self.view.has_rules() { agent.groups(&self.view)?.all()? } else { Vec::new() };
        let path = self.normal_form.path(path);
        let is_alone = groups.len() == 1;
        let mut matching: Vec<(bool, u32, u32, Rule)> = Vec::new();
        for group in groups {
            let rules = self.rules(group)?;
            for found in rules.ruleset.rules()?.into_iter().filter(|rule| rule.matches(&path)) {
                let is_empty = found.pattern.is_empty();
                let order = match (is_alone, found.joint_rank) {
                    (false, Some(joint_rank)) if !is_empty => joint_rank,
                    // Without a pattern the rule has no place in the joint order of precedence.
                    (false, _) => found.kind as u32,
                    (true, _) => found.rank,
                };
                let rule = rules.rule(found.rank, found.pattern)?;
                matching.push((is_empty, order, rule.line, rule));
            }
        }
        matching.sort_by_key(|&(is_empty, order, line, _)| (is_empty, order, line));
        Ok(matching.into_iter().map(|(.., rule)| rule).collect())
    }

    /// The policy source: rules, a status, an error ...
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn source(&self) -> Result<PolicySource, FormatError> {
        self.view.source()
    }

    /// The verdict if no rules decide. It holds for every path, and for every crawler that obeys robots.txt at all.
    #[cold]
    pub(super) fn without_rules(&self, agent: &Agent) -> Result<Explanation, FormatError> {
        let source = self.view.source()?;
        Ok(match source.verdict() {
            Some(verdict) if !agent.is_free() => Explanation { source, ..Explanation::without_rule(verdict) },
            _ => Explanation::without_rule(Verdict::Allow),
        })
    }

    /// Why the crawler's group, if there is one, is for the crawler.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn group_of(&self, agent: &Agent) -> Result<GroupKind, FormatError> {
        let groups = agent.groups(&self.view)?;
        Ok(match groups.first {
            None => GroupKind::None,
            Some(_) if groups.is_named() => GroupKind::Named,
            Some(_) => GroupKind::Default,
        })
    }

    /// Whether any group is for a crawler, either one that names it or the default group.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn has_group(&self, agent: &Agent) -> Result<bool, FormatError> {
        Ok(self.group_of(agent)? != GroupKind::None)
    }

    /// The address of the policy in the set. Origins that share a policy have the same address.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The indices, among [`Policy::groups`], of a crawler's groups; empty if no group is for the crawler.
    ///
    /// # Errors
    /// When the policy is damaged.
    pub fn group_indices(&self, agent: &Agent) -> Result<Vec<u32>, FormatError> {
        Ok(agent.groups(&self.view)?.indices())
    }

    /// The rules of each of a crawler's groups, which decide together; mostly of one. Empty if no group is for the crawler.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn rules_for(&self, agent: &Agent) -> Result<Vec<Rules<'a>>, FormatError> {
        let groups = agent.groups(&self.view)?.all()?;
        groups.into_iter().map(|group| self.rules(group)).collect()
    }

    /// Decides by the rules of several groups at once, for a path in normal form: compares the best rules of the groups
    /// by their joint ranks, and by their lines if those are equal.
    pub(super) fn explain_together(&self, groups: Vec<Group>, path: &[u8]) -> Result<Explanation, FormatError> {
        let alone = groups.len() == 1;
        let mut best: [Option<(u32, Rule)>; 2] = [None, None];
        let mut empty: Option<Rule> = None;
        for group in groups {
            let rules = self.rules(group)?;
            let matches = rules.ruleset.matches(path)?;
            for rank in [matches.allow, matches.disallow].into_iter().flatten() {
                let rule = rules.rule(rank, rules.ruleset.pattern(rank, path)?)?;
                if rule.pattern.is_empty() {
                    if empty.as_ref().is_none_or(|other| (rule.kind, rule.line) < (other.kind, other.line)) {
                        empty = Some(rule);
                    }
                    continue;
                }
                let key = if alone { rank } else { rules.ruleset.joint_rank(rank)? };
                let slot = &mut best[rule.kind as usize];
                if slot.as_ref().is_none_or(|(other_key, other)| (key, rule.line) < (*other_key, other.line)) {
                    *slot = Some((key, rule));
                }
            }
        }
        let [allow, disallow] = best;
        let disallows = match (&allow, &disallow) {
            (Some((allow, _)), Some((disallow, _))) => disallow < allow,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let mut explanation = Explanation {
            verdict: if disallows { Verdict::Disallow } else { Verdict::Allow },
            decided_by: [&allow, &disallow][usize::from(disallows)].as_ref().map(|(_, rule)| rule.kind),
            source: self.view.source()?,
            allow: allow.map(|(_, rule)| rule),
            disallow: disallow.map(|(_, rule)| rule),
        };
        // An empty pattern restricts nothing, neither as an allow nor as a disallow. It is named if no other rule
        // matches.
        if let Some(empty) = empty.filter(|_| explanation.decided_by.is_none()) {
            explanation.decided_by = Some(empty.kind);
            match empty.kind {
                RuleKind::Allow => explanation.allow = Some(empty),
                RuleKind::Disallow => explanation.disallow = Some(empty),
            }
        }
        Ok(explanation)
    }

    /// The groups of the file.
    ///
    /// # Errors
    /// When the policy is damaged.
    pub fn groups(&self) -> Result<Vec<PolicyGroup<'a>>, FormatError> {
        let mut tokens = vec![Vec::new(); self.view.group_count() as usize];
        for (token, group) in self.view.tokens() {
            if let Some(tokens) = tokens.get_mut(group as usize) {
                tokens.push(token);
            }
        }
        let default_group = self.view.default_group_index();
        let groups = self.view.all_groups().zip(tokens).zip(0..);
        let with_rules = groups.map(|((group, tokens), index)| {
            Ok(PolicyGroup { tokens, is_default: default_group == Some(index), rules: self.rules(group)? })
        });
        with_rules.collect()
    }

    #[inline]
    pub(super) fn rules(&self, group: Group) -> Result<Rules<'a>, FormatError> {
        let ruleset = ruleset_at(self.rulesets, group.ruleset)?;
        Ok(Rules { ruleset, number: group.ruleset, lines: self.lines, lines_at: group.lines })
    }
}

/// The ruleset with a number.
#[inline(always)]
pub(super) fn ruleset_at(rulesets: Rulesets<'_>, number: u32) -> Result<Ruleset<'_>, FormatError> {
    Ok(Ruleset::stored(rulesets.get(number)?)?)
}

/// The rules of one group of one robots.txt: a ruleset, which files may share, and the lines of this file.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// The automaton of the ruleset.
    pub ruleset: Ruleset<'a>,
    /// The number of the ruleset in the set.
    pub number: u32,
    lines: Lines<'a>,
    lines_at: u32,
}

impl Rules<'_> {
    /// Whether the set has line numbers for the rules.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.lines_at != NONE
    }

    /// The rule with this rank in the ruleset.
    fn rule(&self, rank: u32, pattern: Vec<u8>) -> Result<Rule, FormatError> {
        let line = match self.lines.get(self.lines_at)? {
            Some(lines) => lines.get(rank / 2).ok_or_else(|| {
                let expected = format!("the line of rule {}", rank / 2);
                FormatError::new("lines", expected, format!("{} lines", lines.len()))
            })?,
            None => 0,
        };
        Ok(Rule { kind: kind_of(rank), pattern, line })
    }

    /// Every rule, in the order of precedence; see [`Ruleset::rules`].
    ///
    /// An allow of an index page is listed once, although the ruleset has a second rule for the page's directory.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn all(&self) -> Result<Vec<Rule>, FormatError> {
        let rules = self.ruleset.rules()?;
        // Copies only the patterns of index pages, since a ruleset may have millions of others.
        let opening = rules.iter().filter(|rule| rule.opens_directory);
        let opening: HashSet<&[u8]> = opening.map(|rule| &*rule.pattern).collect();
        let pages = rules.iter().filter(|rule| !rule.opens_directory && rule.kind == RuleKind::Allow);
        let pages = pages.filter(|rule| opening.contains(&*rule.pattern));
        let pages: HashSet<Vec<u8>> = pages.map(|rule| rule.pattern.clone()).collect();
        let is_listed = |rule: &RulesetRule| !rule.opens_directory || !pages.contains(&rule.pattern);
        rules.into_iter().filter(is_listed).map(|rule| self.rule(rule.rank, rule.pattern)).collect()
    }
}
