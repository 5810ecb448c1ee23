//! Usage preferences: the uses that a robots.txt permits or forbids for a page.
//!
//! A group's usage rules are one more ruleset. The longest matching rule states the preferences. A plain rule is an
//! `Allow` in that ruleset, and any other rule is a `Disallow`. Among plain rules with equal lengths at most one matches,
//! so one walk finds it. Several others may match: the walk finds the first, and the rest are tried afterwards. All
//! matching rules with the greatest length decide together.
//!
//! Source: draft-ietf-aipref-attach, section 3.1. It leaves two points open. Our choices: a rule without a path has
//! length 0, and patterns with equal lengths are combined like identical ones.

use super::policy::ruleset_at;
use super::{Agent, Lookup, Policy, Set, path_at_any_host};
use crate::automaton::Matches;
use crate::format::policies::UsageGroup;
use crate::format::usages::{MAX_TIED_PATTERNS, StatementView, UsageView};
use crate::format::{FormatError, NONE};
use crate::url::{self, UrlRef};
use crate::verdict::{Preference, Verdict};

/// A use, with its labels in statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageCategory {
    /// The labels in usage rules.
    pub usage: Vec<Box<[u8]>>,
    /// The labels in signals.
    pub signals: Vec<Box<[u8]>>,
}

/// The uses that a question is about.
///
/// A category's preference is the most restrictive one among its labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageQuery {
    categories: Vec<UsageCategory>,
    reads_usage: bool,
    reads_signals: bool,
}

impl UsageQuery {
    /// Creates a question about these categories.
    #[must_use]
    pub fn new(categories: Vec<UsageCategory>) -> UsageQuery {
        let reads_usage = categories.iter().any(|category| !category.usage.is_empty());
        let reads_signals = categories.iter().any(|category| !category.signals.is_empty());
        UsageQuery { categories, reads_usage, reads_signals }
    }

    /// Returns the categories.
    #[must_use]
    pub fn categories(&self) -> &[UsageCategory] {
        &self.categories
    }

    /// Returns the number of categories, which is the length of an answer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.categories.len()
    }

    /// Returns whether there are no categories.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.categories.is_empty()
    }

    /// Combines an answer with a statement.
    #[inline]
    fn combine(
        &self,
        statement: StatementView<'_>,
        labels: impl Fn(&UsageCategory) -> &[Box<[u8]>],
        answer: &mut [Preference],
    ) -> Result<(), FormatError> {
        for (category, preference) in self.categories.iter().zip(answer) {
            for label in labels(category) {
                *preference = preference.combined_with(statement.get(label)?);
            }
        }
        Ok(())
    }
}

/// A group's best matching rules.
struct Best<'a> {
    group: UsageGroup,
    view: UsageView<'a>,
    /// The deciding rules' length in bytes; 0 for the rules without a path.
    len: u32,
    matches: Option<Matches>,
}

impl Policy<'_> {
    /// Computes a preference for each category, for a path as written in a URL.
    ///
    /// The path must be one that the agent may fetch; otherwise preferences do not apply. Never
    /// [`Preference::NotApplicable`].
    ///
    /// Cost: a walk over the path if the agent's group has usage rules with paths, and a search in the statement. One
    /// group needs no allocation.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn usage(
        &self,
        agent: &Agent,
        path: &[u8],
        query: &UsageQuery,
        answer: &mut [Preference],
    ) -> Result<(), FormatError> {
        if !self.view.has_usages() {
            answer.fill(Preference::Unknown);
            return Ok(());
        }
        self.usage_of_normal(agent, &self.normal_form.path(path), query, answer)
    }

    /// Computes the preferences for a path in normal form.
    #[inline]
    fn usage_of_normal(
        &self,
        agent: &Agent,
        path: &[u8],
        query: &UsageQuery,
        answer: &mut [Preference],
    ) -> Result<(), FormatError> {
        answer.fill(Preference::Unknown);
        if !self.view.has_usages() || agent.is_free() {
            return Ok(());
        }
        let groups = agent.groups(&self.view)?;
        if query.reads_signals {
            for group in groups.usages() {
                let Some(view) = self.usages.get(group.statements)? else { continue };
                let Some(signals) = view.signals()? else { continue };
                query.combine(signals, |category| &category.signals, answer)?;
            }
        }
        if !query.reads_usage {
            return Ok(());
        }
        if !groups.has_more() {
            let Some(group) = groups.usages().next() else { return Ok(()) };
            return match self.best_usage(group, path)? {
                Some(best) => self.combine_best(&best, path, query, answer),
                None => Ok(()),
            };
        }
        let mut all = Vec::new();
        for group in groups.usages() {
            all.extend(self.best_usage(group, path)?);
        }
        let longest = all.iter().map(|best| best.len).max();
        let mut longest = all.iter().filter(|best| Some(best.len) == longest);
        longest.try_for_each(|best| self.combine_best(best, path, query, answer))
    }

    /// Finds a group's best matching rules, or `None` if none matches.
    #[inline]
    fn best_usage(&self, group: UsageGroup, path: &[u8]) -> Result<Option<Best<'_>>, FormatError> {
        let Some(view) = self.usages.get(group.statements)? else { return Ok(None) };
        if group.ruleset != NONE {
            let matches = ruleset_at(self.rulesets, group.ruleset)?.matches(path)?;
            let len = |rank: Option<u32>| rank.map_or(Ok(0), |rank| view.len_of(rank / 2));
            let len = len(matches.allow)?.max(len(matches.disallow)?);
            if len > 0 {
                return Ok(Some(Best { group, view, len, matches: Some(matches) }));
            }
        }
        Ok(view.base()?.map(|_| Best { group, view, len: 0, matches: None }))
    }

    /// Combines an answer with a group's deciding rules.
    #[inline]
    fn combine_best(
        &self,
        best: &Best<'_>,
        path: &[u8],
        query: &UsageQuery,
        answer: &mut [Preference],
    ) -> Result<(), FormatError> {
        let Best { group, view, len, matches } = best;
        let mut combine = |statement| query.combine(statement, |category| &category.usage, answer);
        let Some(matches) = matches else { return view.base()?.map_or(Ok(()), combine) };
        for rank in [matches.allow, matches.disallow].into_iter().flatten() {
            let (statement, found) = view.rule(rank / 2)?;
            if found == *len {
                combine(statement)?;
            }
        }
        let Some(first) = matches.disallow.map(|rank| rank / 2) else { return Ok(()) };
        if view.len_of(first)? != *len {
            return Ok(());
        }
        let mut ruleset = None;
        for place in first + 1..view.rule_count() {
            let (statement, found) = view.rule(place)?;
            if found != *len {
                break;
            }
            if place - first >= MAX_TIED_PATTERNS as u32 {
                let expected = format!("up to {MAX_TIED_PATTERNS} patterns of {len} bytes");
                return Err(FormatError::new("usages", expected, "more"));
            }
            let ruleset = match ruleset {
                Some(ruleset) => ruleset,
                None => *ruleset.insert(ruleset_at(self.rulesets, group.ruleset)?),
            };
            if ruleset.text_matches(2 * place + 1, path)? == Some(true) {
                combine(statement)?;
            }
        }
        Ok(())
    }

    /// Computes the preferences after a verdict, for a path in normal form.
    fn usage_after(
        &self,
        verdict: Verdict,
        agent: &Agent,
        path: &[u8],
        query: &UsageQuery,
        answer: &mut [Preference],
    ) -> Result<(), FormatError> {
        match verdict {
            Verdict::Disallow => answer.fill(Preference::NotApplicable),
            Verdict::Unknown | Verdict::Invalid => answer.fill(Preference::Unknown),
            Verdict::Allow => self.usage_of_normal(agent, path, query, answer)?,
        }
        Ok(())
    }
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Computes the verdicts for one URL and several agents, and the preferences for each agent.
    ///
    /// `preferences[j * query.len() + k]` is for the `j`-th agent and the `k`-th category. It is
    /// [`Preference::NotApplicable`] if the agent must not fetch the URL, and [`Preference::Unknown`] if the set has no
    /// robots.txt for the URL or the text is not a URL.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn usage_each(
        &self,
        agents: &[Agent],
        url: &[u8],
        query: &UsageQuery,
        verdicts: &mut [Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), FormatError> {
        self.usage_all(agents, std::iter::once(url), query, verdicts, preferences)
    }

    /// Computes the verdicts of [`Set::decide_all`], and each URL's and agent's preferences, as [`Set::usage_each`] does.
    ///
    /// `preferences[(i * agents.len() + j) * query.len() + k]` is for the `i`-th URL, the `j`-th agent and the `k`-th
    /// category.
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
        self.look_up_all(agents, urls, |place, found| {
            let row = place * agents.len()..(place + 1) * agents.len();
            let verdicts = verdicts.get_mut(row.clone()).unwrap_or_default();
            let cells = row.start * query.len()..row.end * query.len();
            let preferences = preferences.get_mut(cells).unwrap_or_default();
            let (verdict, preference) = match found {
                Lookup::Policy(policy, path) => {
                    return policy.usage_each(agents, &path, query, verdicts, preferences);
                }
                Lookup::Unknown => (Verdict::Unknown, Preference::Unknown),
                Lookup::Invalid => (Verdict::Invalid, Preference::Unknown),
            };
            verdicts.fill(verdict);
            preferences.fill(preference);
            Ok(())
        })
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
        let policy = self.policy_at(policy)?;
        let width = agents.len();
        let rows = verdicts.chunks_mut(width.max(1)).zip(preferences.chunks_mut((width * query.len()).max(1)));
        for (url, (verdicts, preferences)) in urls.into_iter().zip(rows) {
            match path_at_any_host(url) {
                Some(path) => policy.usage_each(agents, &path, query, verdicts, preferences)?,
                None => {
                    verdicts.fill(Verdict::Invalid);
                    preferences.fill(Preference::Unknown);
                }
            }
        }
        Ok(())
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
        for ((url, time), (verdicts, preferences)) in urls.into_iter().zip(rows) {
            let (verdict, preference) = match url::split(url) {
                Err(_) => (Verdict::Invalid, Preference::Unknown),
                Ok(UrlRef { origin, path }) => {
                    let record = self.record(&origin)?;
                    let policy = record.map(|record| self.policy_of_at(&record, time)).transpose()?.flatten();
                    if let Some(policy) = policy {
                        policy.usage_each(agents, &path, query, verdicts, preferences)?;
                        continue;
                    }
                    (Verdict::Unknown, Preference::Unknown)
                }
            };
            verdicts.fill(verdict);
            preferences.fill(preference);
        }
        Ok(())
    }
}

impl Policy<'_> {
    /// Computes the verdicts of [`Policy::decide_each`], and the preferences for each agent, for a URL's path.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn usage_each(
        &self,
        agents: &[Agent],
        path: &url::Path<'_>,
        query: &UsageQuery,
        verdicts: &mut [Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), FormatError> {
        self.decide_each(agents, path, verdicts)?;
        path.with_normal(self.normal_form, |path| {
            let rows = preferences.chunks_mut(query.len().max(1));
            for ((agent, &verdict), preferences) in agents.iter().zip(&*verdicts).zip(rows) {
                self.usage_after(verdict, agent, path, query, preferences)?;
            }
            Ok(())
        })
    }
}
