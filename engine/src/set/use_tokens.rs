//! Product tokens that name a use of pages instead of a crawler: a group that names one states a preference.
//!
//! The group is an ordinary one, so its ruleset decides like a crawler's. Source: the abstract of
//! draft-kelley-aipref-training-preference-signal-00. It leaves open what a file without such a group means. Our
//! choice: nothing, because rules for `*` are about fetching; a question may choose the other interpretation.

use super::uses::UsageQuery;
use super::{Agent, GroupKind, Policy, Set};
use crate::format::FormatError;
use crate::verdict::Explanation;

/// The tokens of a question that a set's files name, looked up like agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UseTokens(Vec<(usize, Agent)>);

impl UseTokens {
    /// Appends the tokens that groups of a policy name, each with its category's number.
    pub(super) fn in_policy<'t>(
        &'t self,
        policy: &Policy<'_>,
        found: &mut Vec<(usize, &'t Agent)>,
    ) -> Result<(), FormatError> {
        if !policy.view.has_rules() {
            return Ok(());
        }
        for (category, token) in &self.0 {
            if token.groups(&policy.view)?.first.is_some() {
                found.push((*category, token));
            }
        }
        Ok(())
    }
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Looks up the tokens of a question in this set.
    ///
    /// Time: a binary search for each token, which consecutive calls repeat at the same places.
    ///
    /// # Errors
    /// Returns an error if the table of product tokens is damaged.
    pub fn use_tokens(&self, query: &UsageQuery) -> Result<UseTokens, FormatError> {
        let mut found = Vec::new();
        for (number, category) in query.categories().iter().enumerate() {
            for token in &category.tokens {
                let agent = self.agent_chain(&[token], query.has_default_group())?;
                if agent.is_named() || query.has_default_group() {
                    found.push((number, agent));
                }
            }
        }
        Ok(UseTokens(found))
    }
}

impl Policy<'_> {
    /// Returns the answers of the groups that name a token of a question, for a crawler that obeys robots.txt and a path
    /// as written in a URL: the number of the token's category, the explanation, and why the group applies.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn explain_uses(
        &self,
        tokens: &UseTokens,
        agent: &Agent,
        path: &[u8],
    ) -> Result<Vec<(usize, Explanation, GroupKind)>, FormatError> {
        let answer = |(category, token)| Ok((category, self.explain(token, path)?, self.group_of(token)?));
        self.named(tokens, agent)?.into_iter().map(answer).collect()
    }

    fn named<'t>(&self, tokens: &'t UseTokens, agent: &Agent) -> Result<Vec<(usize, &'t Agent)>, FormatError> {
        let mut named = Vec::new();
        if !agent.is_free() {
            tokens.in_policy(self, &mut named)?;
        }
        Ok(named)
    }

    /// Returns the tokens that groups of this policy name, for a crawler that obeys robots.txt: each category's number,
    /// and the numbers of the rulesets that decide about it.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn use_groups(&self, tokens: &UseTokens, agent: &Agent) -> Result<Vec<(usize, Vec<u32>)>, FormatError> {
        let named = self.named(tokens, agent)?;
        let with_rulesets = |(category, agent)| {
            let rulesets = self.rules_for(agent)?.iter().map(|rules| rules.number).collect();
            Ok((category, rulesets))
        };
        named.into_iter().map(with_rulesets).collect()
    }
}
