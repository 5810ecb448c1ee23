//! Usage preferences: the uses that a robots.txt permits or forbids for a page.
//!
//! A group's usage rules are one more ruleset. The longest matching rule states the preferences. A plain rule is a
//! `Disallow` in that ruleset, and a rule with a wildcard is an `Allow`. Among plain rules with equal lengths at most one
//! matches, so one walk finds it. Of those with wildcards, which precede plain rules with the same length, several may
//! match: the walk finds the first, and the rest are tried afterwards. All matching rules with the greatest length
//! decide together.
//!
//! Source: draft-ietf-aipref-attach, section 3.1. It leaves two points open. Our choices: a rule without a path has
//! length 0, and patterns with equal lengths are combined like identical ones.
//!
//! A website may also state a preference in an ordinary group, for a product token that names a use instead of a
//! crawler. Such a token is looked up like a crawler's ([`UsageCategory::tokens`]), so the group's own ruleset decides.
//! Every statement about a use counts, and the most restrictive holds.

use super::batch::{KnownUrl, LookupInput, LookupResult};
use super::columns::Columns;
use super::policy::ruleset_at;
use super::use_tokens::UseTokens;
use super::uses::UsageQuery;
use super::{Agent, Policy, Set};
use crate::automaton::Ruleset;
use crate::format::automaton::{NO_RANK, NO_RANKS, Ranks};
use crate::format::policies::UsageGroup;
use crate::format::rulesets::MAX_PATCHED_BYTES;
use crate::format::usages::{MAX_TIED_PATTERNS, UsageView};
use crate::format::{FormatError, NONE};
use crate::url::{self, Path, UrlRef, path_at_any_origin};
use crate::verdict::{Preference, Verdict};

/// A group's usage rules with paths.
#[derive(Clone, Copy)]
struct PathRules<'a> {
    ruleset: Ruleset<'a>,
    view: UsageView<'a>,
}

impl PathRules<'_> {
    /// Combines an answer with the rules that decide, given the best ranks: of the first rule with a wildcard, and of
    /// the plain one.
    #[inline(never)]
    fn combine(
        &self,
        best: Ranks,
        path: &[u8],
        query: &UsageQuery,
        answer: &mut [Preference],
    ) -> Result<(), FormatError> {
        let PathRules { ruleset, view } = self;
        let mut combine = |statement| query.combine(statement, |category| &category.usage, answer);
        if best[0] == NO_RANK {
            return combine(view.rule(best[1] / 2)?.0);
        }
        let len = self.len_of(best)?;
        for rank in best.into_iter().filter(|&rank| rank != NO_RANK) {
            let (statement, found) = view.rule(rank / 2)?;
            if found == len {
                combine(statement)?;
            }
        }
        let first = best[0] / 2;
        if view.len_of(first)? != len {
            return Ok(());
        }
        for place in first + 1..view.rule_count() {
            let (statement, found) = view.rule(place)?;
            if found != len {
                break;
            }
            if place - first >= MAX_TIED_PATTERNS as u32 {
                let expected = format!("up to {MAX_TIED_PATTERNS} patterns of {len} bytes");
                return Err(FormatError::new("usages", expected, "more"));
            }
            match ruleset.text_matches(2 * place, path)? {
                Some(true) => combine(statement)?,
                Some(false) => {}
                // A plain rule. The rest are plain, too.
                None => break,
            }
        }
        Ok(())
    }

    /// Returns the deciding rules' length in bytes, given the best ranks.
    fn len_of(&self, best: Ranks) -> Result<u32, FormatError> {
        // Longer rules have smaller ranks.
        self.view.len_of(best[0].min(best[1]) / 2)
    }
}

impl<'a> Policy<'a> {
    /// Returns the usage groups for a crawler, which decide together. Empty if they state nothing.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn usages_for(&self, agent: &Agent) -> Result<Vec<UsageGroup>, FormatError> {
        if !self.view.has_usages() || agent.is_free() {
            return Ok(Vec::new());
        }
        let groups = agent.groups(&self.view)?.usages();
        Ok(groups.filter(|&group| group != UsageGroup::EMPTY).collect())
    }

    /// Returns the group's statements, and its rules with paths if it has any.
    #[inline]
    fn usage_rules(&self, group: UsageGroup) -> Result<Option<(UsageView<'a>, Option<PathRules<'a>>)>, FormatError> {
        let Some(view) = self.usages.get(group.statements)? else { return Ok(None) };
        let ruleset = (group.ruleset != NONE).then(|| ruleset_at(self.rulesets, group.ruleset)).transpose()?;
        Ok(Some((view, ruleset.map(|ruleset| PathRules { ruleset, view }))))
    }

    /// Computes the preferences by several groups, which decide together, for a path in normal form.
    #[cold]
    fn usage_together(
        &self,
        agent: &Agent,
        path: &[u8],
        query: &UsageQuery,
        answer: &mut [Preference],
    ) -> Result<(), FormatError> {
        answer.fill(Preference::Unknown);
        let mut room = [0; MAX_PATCHED_BYTES];
        let (mut bases, mut all) = (Vec::new(), Vec::new());
        for group in agent.groups(&self.view)?.usages() {
            let Some((view, rules)) = self.usage_rules(group)? else { continue };
            query.combine_signals(view, answer)?;
            if query.reads_usage {
                bases.extend(view.base()?);
                if let Some(rules) = rules {
                    let best = rules.ruleset.best_in(&mut room, path)?;
                    if best != NO_RANKS {
                        all.push((rules.len_of(best)?, rules, best));
                    }
                }
            }
        }
        let Some(longest) = all.iter().map(|&(len, ..)| len).max() else {
            return bases.into_iter().try_for_each(|base| query.combine(base, |category| &category.usage, answer));
        };
        let mut longest = all.into_iter().filter(|&(len, ..)| len == longest);
        longest.try_for_each(|(_, rules, best)| rules.combine(best, path, query, answer))
    }
}

/// A group's answer to a question.
enum UsagePlan<'a> {
    /// The same for every path.
    Fixed,
    /// Depends on the path. Where no rule matches, the fixed answer applies.
    ByPath(PathRules<'a>),
    /// Several groups decide together.
    Together,
}

impl<'a> UsagePlan<'a> {
    /// Returns the plan for an agent, and adds the answer for paths that no rule matches to `fixed`.
    fn of(
        policy: &Policy<'a>,
        agent: &Agent,
        query: &UsageQuery,
        fixed: &mut [Preference],
    ) -> Result<UsagePlan<'a>, FormatError> {
        if !policy.view.has_usages() || agent.is_free() {
            return Ok(UsagePlan::Fixed);
        }
        let groups = agent.groups(&policy.view)?;
        if groups.has_more() {
            return Ok(UsagePlan::Together);
        }
        let group = groups.usages().next();
        let Some((view, rules)) = group.map(|group| policy.usage_rules(group)).transpose()?.flatten() else {
            return Ok(UsagePlan::Fixed);
        };
        query.combine_signals(view, fixed)?;
        if !query.reads_usage {
            return Ok(UsagePlan::Fixed);
        }
        if let Some(base) = view.base()? {
            query.combine(base, |category| &category.usage, fixed)?;
        }
        Ok(rules.map_or(UsagePlan::Fixed, UsagePlan::ByPath))
    }
}

/// The agents' usage rules in the last policy, looked up once for consecutive URLs of a website.
struct UsagePlans<'a, 'q> {
    agents: &'q [Agent],
    query: &'q UsageQuery,
    tokens: &'q UseTokens,
    policy: Option<Policy<'a>>,
    plans: Vec<UsagePlan<'a>>,
    /// The tokens that the policy's groups name: each category's number, and the token as an agent.
    stated: Vec<(usize, &'q Agent)>,
    /// The answers for paths that no rule matches, for one agent after another.
    fixed: Vec<Preference>,
}

impl<'a, 'q> UsagePlans<'a, 'q> {
    fn new(agents: &'q [Agent], query: &'q UsageQuery, tokens: &'q UseTokens) -> UsagePlans<'a, 'q> {
        let fixed = vec![Preference::Unknown; agents.len() * query.len()];
        UsagePlans { agents, query, tokens, policy: None, plans: Vec::new(), stated: Vec::new(), fixed }
    }

    /// Looks up the agents' groups in the next policy.
    fn look_up(&mut self, policy: Policy<'a>) -> Result<(), FormatError> {
        // Nothing of the last policy may remain after an error.
        self.policy = None;
        self.plans.clear();
        self.stated.clear();
        self.fixed.fill(Preference::Unknown);
        let query = self.query;
        self.tokens.in_policy(&policy, &mut self.stated)?;
        for (agent, answer) in self.agents.iter().zip(self.fixed.chunks_mut(query.len().max(1))) {
            self.plans.push(UsagePlan::of(&policy, agent, query, answer)?);
        }
        self.policy = Some(policy);
        Ok(())
    }

    /// Computes the preferences for a URL's path, after its verdicts. `policy` returns the policy with the number.
    #[inline(always)]
    fn answer(
        &mut self,
        number: u32,
        policy: impl FnOnce() -> Result<Policy<'a>, FormatError>,
        path: &Path<'_>,
        verdicts: &[Verdict],
        room: &mut [u8; MAX_PATCHED_BYTES],
        preferences: &mut [Preference],
    ) -> Result<(), FormatError> {
        if self.policy.as_ref().map(|policy| policy.number) != Some(number) {
            self.look_up(policy()?)?;
        }
        let Some(policy) = &self.policy else { return Ok(()) };
        self.answer_normal(policy, &path.normal(policy.normal_form), verdicts, room, preferences)
    }

    #[inline(always)]
    fn answer_normal(
        &self,
        policy: &Policy<'a>,
        path: &[u8],
        verdicts: &[Verdict],
        room: &mut [u8; MAX_PATCHED_BYTES],
        preferences: &mut [Preference],
    ) -> Result<(), FormatError> {
        // Counted, because the length of an iterator over chunks takes a division.
        let (mut start, len) = (0, self.query.len());
        for ((agent, verdict), plan) in self.agents.iter().zip(verdicts).zip(&self.plans) {
            let answer = preferences.get_mut(start..start + len).unwrap_or_default();
            let fixed = self.fixed.get(start..start + len).unwrap_or_default();
            start += len;
            match (verdict, plan) {
                (Verdict::Disallow, _) => fill(answer, Preference::NotApplicable),
                (Verdict::Unknown | Verdict::Invalid, _) => fill(answer, Preference::Unknown),
                (Verdict::Allow, UsagePlan::Fixed) => copy(fixed, answer),
                (Verdict::Allow, UsagePlan::Together) => policy.usage_together(agent, path, self.query, answer)?,
                (Verdict::Allow, UsagePlan::ByPath(rules)) => {
                    let best = rules.ruleset.best_in(room, path)?;
                    if best == NO_RANKS {
                        copy(fixed, answer);
                    } else {
                        fill(answer, Preference::Unknown);
                        self.query.combine_signals(rules.view, answer)?;
                        rules.combine(best, path, self.query, answer)?;
                    }
                }
            }
        }
        if self.stated.is_empty() { Ok(()) } else { self.combine_tokens(policy, path, verdicts, preferences) }
    }

    /// Combines the preferences of agents that may fetch the path with the preferences that groups for tokens state.
    #[cold]
    fn combine_tokens(
        &self,
        policy: &Policy<'a>,
        path: &[u8],
        verdicts: &[Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), FormatError> {
        if !verdicts.contains(&Verdict::Allow) {
            return Ok(());
        }
        for &(category, token) in &self.stated {
            let stated = Preference::of_rules(policy.decide_normal(token, path)?);
            let answers = preferences.chunks_mut(self.query.len().max(1));
            for ((agent, verdict), answer) in self.agents.iter().zip(verdicts).zip(answers) {
                if *verdict == Verdict::Allow && !agent.is_free() {
                    if let Some(preference) = answer.get_mut(category) {
                        *preference = preference.combined_with(stated);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Fills an answer. With one or two categories, as in most answers, a function call would take longer than the rest.
#[inline(always)]
fn fill(answer: &mut [Preference], with: Preference) {
    match answer {
        [only] => *only = with,
        [first, second] => (*first, *second) = (with, with),
        _ => answer.fill(with),
    }
}

/// Copies an answer, like [`fill`].
#[inline(always)]
fn copy(from: &[Preference], answer: &mut [Preference]) {
    match (from, answer) {
        ([from], [only]) => *only = *from,
        ([from, other], [first, second]) => (*first, *second) = (*from, *other),
        (from, answer) => answer.copy_from_slice(from),
    }
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Computes the verdicts of [`Set::decide_all`], and the preferences for each URL and agent.
    ///
    /// `preferences[(i * agents.len() + j) * query.len() + k]` is for the `i`-th URL, the `j`-th agent and the `k`-th
    /// category. It is [`Preference::NotApplicable`] if the agent must not fetch the URL, and [`Preference::Unknown`] if
    /// the set has no robots.txt for the URL or the text is not a URL.
    ///
    /// Cost: [`Set::decide_all`], a second walk over the path if the agent's group has usage rules with paths, and a
    /// search in the deciding statement. Consecutive URLs of a website share the rest.
    ///
    /// # Errors
    /// Returns an error if the set is damaged. After an error neither result must be used.
    pub fn usage_all<'u>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = &'u [u8]>,
        query: &UsageQuery,
        verdicts: &mut [Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), FormatError> {
        self.usage_inputs(agents, urls.into_iter().map(LookupInput::Url), query, verdicts, preferences)
    }

    /// Computes the verdicts of [`Set::decide_all_by`], and preferences in the order of [`Set::usage_all`], by one policy.
    ///
    /// # Errors
    /// Returns an error if the set is damaged or no policy has this number. After an error neither result must be used.
    pub fn usage_all_by<'u>(
        &self,
        policy: u32,
        agents: &[Agent],
        urls: impl IntoIterator<Item = &'u [u8]>,
        query: &UsageQuery,
        verdicts: &mut [Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), FormatError> {
        let inputs = urls
            .into_iter()
            .map(|url| path_at_any_origin(url).map_or(LookupInput::Invalid, |path| LookupInput::Policy(policy, path)));
        self.usage_inputs(agents, inputs, query, verdicts, preferences)
    }

    /// Implements [`Set::usage_all`] for URLs at any stage of parsing.
    fn usage_inputs<'u>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = LookupInput<'u>>,
        query: &UsageQuery,
        verdicts: &mut [Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), FormatError> {
        let (width, cells) = (agents.len(), agents.len() * query.len());
        let mut room = [0; MAX_PATCHED_BYTES];
        let tokens = self.use_tokens(query)?;
        let mut plans = UsagePlans::new(agents, query, &tokens);
        let mut columns = Columns::new(agents);
        self.look_up_each::<false, _>(&mut columns, urls, |columns, place, found| {
            let row = verdicts.get_mut(place * width..(place + 1) * width).unwrap_or_default();
            let answer = preferences.get_mut(place * cells..(place + 1) * cells).unwrap_or_default();
            self.decide_found(agents, columns, &found, &mut room, row)?;
            match &found {
                LookupResult::Known(KnownUrl { policy, path, .. }) => {
                    plans.answer(*policy, || self.policy_at(*policy), path, row, &mut room, answer)
                }
                LookupResult::Unknown | LookupResult::Invalid => {
                    answer.fill(Preference::Unknown);
                    Ok(())
                }
            }
        })
    }

    /// Computes the verdicts of [`Set::decide_all_at`], and preferences in the order of [`Set::usage_all`], by the rules
    /// that were active at each URL's time.
    ///
    /// Looks up one URL at a time.
    ///
    /// # Errors
    /// Returns an error if the set is not by time or is damaged. After an error neither result must be used.
    pub fn usage_all_at<'u>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = (&'u [u8], i64)>,
        query: &UsageQuery,
        verdicts: &mut [Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), FormatError> {
        let width = agents.len();
        let rows = verdicts.chunks_mut(width.max(1)).zip(preferences.chunks_mut((width * query.len()).max(1)));
        let tokens = self.use_tokens(query)?;
        let mut plans = UsagePlans::new(agents, query, &tokens);
        let mut room = [0; MAX_PATCHED_BYTES];
        for ((url, time), (verdicts, preferences)) in urls.into_iter().zip(rows) {
            preferences.fill(Preference::Unknown);
            let Ok(UrlRef { origin, path }) = url::split(url) else {
                verdicts.fill(Verdict::Invalid);
                continue;
            };
            let record = self.record(&origin)?;
            match record.map(|record| self.policy_of_at(&record, time)).transpose()?.flatten() {
                None => verdicts.fill(Verdict::Unknown),
                Some(policy) => {
                    policy.decide_each(agents, &path, verdicts)?;
                    let number = policy.number;
                    plans.answer(number, || Ok(policy), &path, verdicts, &mut room, preferences)?;
                }
            }
        }
        Ok(())
    }
}

impl Policy<'_> {
    /// Computes the verdicts of [`Policy::decide_each`], and the preferences for each agent, for a URL's path. `tokens`
    /// is the result of [`Set::use_tokens`].
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn usage_each(
        &self,
        agents: &[Agent],
        path: &Path<'_>,
        (query, tokens): (&UsageQuery, &UseTokens),
        verdicts: &mut [Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), FormatError> {
        self.decide_each(agents, path, verdicts)?;
        let mut plans = UsagePlans::new(agents, query, tokens);
        plans.answer(self.number, || Ok(*self), path, verdicts, &mut [0; MAX_PATCHED_BYTES], preferences)
    }
}
