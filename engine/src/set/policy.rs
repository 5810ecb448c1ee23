//! An origin's policy: which rules apply to which crawler, and what they decide.

use std::collections::HashSet;

use crate::automaton::{Ruleset, RulesetRule};
use crate::format::automaton::kind_of;
use crate::format::lines::Lines;
use crate::format::policies::{PolicyView, StoredGroup};
use crate::format::rulesets::Rulesets;
use crate::format::usages::Usages;
use crate::format::{FormatError, NONE};
use crate::norm::NormalForm;
use crate::set::agent::Agent;
use crate::url::Path;
use crate::verdict::{Explanation, PolicySource, Rule, RuleKind, Verdict};

/// A policy: what an origin's robots.txt, or its absence, says for all crawlers.
#[derive(Clone, Copy)]
pub struct Policy<'a> {
    pub(super) number: u32,
    pub(super) view: PolicyView<'a>,
    pub(super) rulesets: Rulesets<'a>,
    pub(super) lines: Lines<'a>,
    pub(super) usages: Usages<'a>,
    pub(super) normal_form: NormalForm,
}

/// Why a group applies to a crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GroupKind {
    /// The group names the crawler.
    Named,
    /// The group is the default group, for `*`.
    Default,
    /// No group applies to the crawler.
    None,
}

crate::words!(GroupKind, "a kind of group", as_str {
    Named => "named",
    Default => "default",
    None => "none",
});

/// A group in a robots.txt.
#[derive(Clone)]
pub struct PolicyGroup<'a> {
    /// Numbers of the product tokens that the group is for.
    pub tokens: Vec<u32>,
    /// Whether this is the default group.
    pub is_default: bool,
    /// The group's rules.
    pub rules: Rules<'a>,
}

impl<'a> Policy<'a> {
    /// Returns the verdict for a path as written in a URL.
    ///
    /// Never `Unknown` or `Invalid`.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn decide(&self, agent: &Agent, path: &[u8]) -> Result<Verdict, FormatError> {
        if !self.view.has_rules() {
            return Ok(self.without_rules(agent)?.verdict);
        }
        self.decide_normal(agent, &self.normal_form.path(path))
    }

    /// Returns the verdict of the file's rules for a path in normal form.
    pub(super) fn decide_normal(&self, agent: &Agent, path: &[u8]) -> Result<Verdict, FormatError> {
        let groups = agent.groups(&self.view)?;
        if groups.has_more() {
            return Ok(self.explain_together(groups.all()?, path)?.verdict);
        }
        let Some(group) = groups.first else { return Ok(Verdict::Allow) };
        Ok(self.rules(group)?.ruleset.verdict(path)?)
    }

    /// Computes the verdicts for several agents and a URL's path; `verdicts` has one element per agent.
    ///
    /// Never `Unknown` or `Invalid`. The path is normalized once, and adjacent agents that share a ruleset share its
    /// walk.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    // Compiled once for WebAssembly, not in each crate.
    #[cfg_attr(not(target_family = "wasm"), inline)]
    pub fn decide_each(&self, agents: &[Agent], path: &Path<'_>, verdicts: &mut [Verdict]) -> Result<(), FormatError> {
        if !self.view.has_rules() {
            for (agent, verdict) in agents.iter().zip(verdicts) {
                *verdict = self.without_rules(agent)?.verdict;
            }
            return Ok(());
        }
        let path = &path.normal(self.normal_form);
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
    }

    /// Returns the verdict for a path as written in a URL, with the best matching rule of each kind.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn explain(&self, agent: &Agent, path: &[u8]) -> Result<Explanation, FormatError> {
        if !self.view.has_rules() {
            return self.without_rules(agent);
        }
        self.explain_together(agent.groups(&self.view)?.all()?, &self.normal_form.path(path))
    }

    /// Returns the number of the ruleset that decides for a path as written in a URL.
    ///
    /// It decides by a matching rule, or by having none. If several groups decide together and no rule matches, it is
    /// the first group's ruleset. `None` if no group applies to the crawler, or the policy has no rules.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
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

    /// Returns every rule for a crawler that matches a path as written in a URL.
    ///
    /// Rules are in order of precedence, so the first one decides. Empty patterns, which match everything and restrict
    /// nothing, come last.
    ///
    /// Cost: tries every rule in the crawler's groups. Meant for display, not for many URLs. Rules with the same kind
    /// and pattern are listed once; see [`Ruleset::rules`].
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
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
                    // A rule without a pattern has no joint rank.
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

    /// Returns the policy source: rules, a status, an error ...
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn source(&self) -> Result<PolicySource, FormatError> {
        self.view.source()
    }

    /// Returns the verdict of a policy without rules. It holds for every path, and for every crawler that obeys
    /// robots.txt at all.
    #[cold]
    pub(super) fn without_rules(&self, agent: &Agent) -> Result<Explanation, FormatError> {
        let source = self.view.source()?;
        Ok(match source.verdict() {
            Some(verdict) if !agent.is_free() => Explanation { source, ..Explanation::without_rule(verdict) },
            _ => Explanation::without_rule(Verdict::Allow),
        })
    }

    /// Returns why the crawler's group, if there is one, applies to it.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn group_of(&self, agent: &Agent) -> Result<GroupKind, FormatError> {
        let groups = agent.groups(&self.view)?;
        Ok(match groups.first {
            None => GroupKind::None,
            Some(_) if groups.is_named() => GroupKind::Named,
            Some(_) => GroupKind::Default,
        })
    }

    /// Returns whether any group applies to a crawler: one that names it, or the default group.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn has_group(&self, agent: &Agent) -> Result<bool, FormatError> {
        Ok(self.group_of(agent)? != GroupKind::None)
    }

    /// Returns the policy's address in the set.
    ///
    /// Origins that share a policy have the same address.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the indices of a crawler's groups in [`Policy::groups`].
    ///
    /// Empty if no group applies to the crawler.
    ///
    /// # Errors
    /// Returns an error if the policy is damaged.
    pub fn group_indices(&self, agent: &Agent) -> Result<Vec<u32>, FormatError> {
        Ok(agent.groups(&self.view)?.indices())
    }

    /// Returns the rules of each of a crawler's groups, which decide together; usually there is one group.
    ///
    /// Empty if no group applies to the crawler.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn rules_for(&self, agent: &Agent) -> Result<Vec<Rules<'a>>, FormatError> {
        let groups = agent.groups(&self.view)?.all()?;
        groups.into_iter().map(|group| self.rules(group)).collect()
    }

    /// Decides by several groups together, for a path in normal form. Compares the groups' best rules by joint rank,
    /// then by line.
    pub(super) fn explain_together(&self, groups: Vec<StoredGroup>, path: &[u8]) -> Result<Explanation, FormatError> {
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
        // An empty pattern restricts nothing, in an allow or a disallow. It is reported if no other rule matches.
        if let Some(empty) = empty.filter(|_| explanation.decided_by.is_none()) {
            explanation.decided_by = Some(empty.kind);
            match empty.kind {
                RuleKind::Allow => explanation.allow = Some(empty),
                RuleKind::Disallow => explanation.disallow = Some(empty),
            }
        }
        Ok(explanation)
    }

    /// Returns the numbers of the product tokens that the file names, without the groups' rules, which may be many.
    pub fn tokens(&self) -> impl Iterator<Item = u32> + '_ {
        self.view.tokens().map(|(token, _)| token)
    }

    /// Returns the file's groups.
    ///
    /// # Errors
    /// Returns an error if the policy is damaged.
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
    pub(super) fn rules(&self, group: StoredGroup) -> Result<Rules<'a>, FormatError> {
        let ruleset = ruleset_at(self.rulesets, group.ruleset)?;
        Ok(Rules { ruleset, number: group.ruleset, lines: self.lines, lines_at: group.lines })
    }
}

#[inline(always)]
pub(super) fn ruleset_at(rulesets: Rulesets<'_>, number: u32) -> Result<Ruleset<'_>, FormatError> {
    Ok(Ruleset::stored(rulesets.get(number)?)?)
}

/// The rules of one group in one robots.txt.
///
/// Consists of a ruleset, which files may share, and this file's line numbers.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// The ruleset's automaton.
    pub ruleset: Ruleset<'a>,
    /// The ruleset's number in the set.
    pub number: u32,
    lines: Lines<'a>,
    lines_at: u32,
}

impl Rules<'_> {
    /// Returns whether the set has line numbers for the rules.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.lines_at != NONE
    }

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

    /// Returns all rules in order of precedence; see [`Ruleset::rules`].
    ///
    /// An allow for an index page is listed once, although the ruleset has a second rule for the page's directory.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn all(&self) -> Result<Vec<Rule>, FormatError> {
        let rules = self.ruleset.rules()?;
        // Copies only index-page patterns, because a ruleset may have millions of others.
        let opening = rules.iter().filter(|rule| rule.opens_directory);
        let opening: HashSet<&[u8]> = opening.map(|rule| &*rule.pattern).collect();
        let pages = rules.iter().filter(|rule| !rule.opens_directory && rule.kind == RuleKind::Allow);
        let pages = pages.filter(|rule| opening.contains(&*rule.pattern));
        let pages: HashSet<Vec<u8>> = pages.map(|rule| rule.pattern.clone()).collect();
        let is_listed = |rule: &RulesetRule| !rule.opens_directory || !pages.contains(&rule.pattern);
        rules.into_iter().filter(is_listed).map(|rule| self.rule(rule.rank, rule.pattern)).collect()
    }
}
