//! Decisions for several agents together, each with a column of verdicts.
//!
//! Most files name few crawlers, so most agents get the default group. A file's own product tokens lead to the agents
//! that it may name. Only for these agents are groups selected individually ([`Agent::groups`]), and each distinct
//! ruleset is walked once. When thirty agents looked up their tokens in turn, it took seven times as long as for one
//! agent on the real corpus.

use std::ops::Range;

use super::policy::ruleset_at;
use super::{Agent, Policy};
use crate::format::FormatError;
use crate::format::policies::{PolicyView, StoredGroup};
use crate::format::rulesets::MAX_PATCHED_BYTES;
use crate::url::Path;
use crate::verdict::Verdict;

/// The agents in a call, indexed by the product tokens that they obey, and the groups selected for them in a batch.
pub(super) struct Columns<'a> {
    pub(super) agents: &'a [Agent],
    /// Pairs of a product token and the index of an agent that obeys it, sorted.
    tokens: Vec<(u32, u32)>,
    /// Agents that do not obey the default group.
    others: Vec<u32>,
    /// Selected groups, one policy after another.
    chosen: Vec<AgentGroup>,
    /// Rulesets walked for the current path, with their verdicts.
    walked: Vec<(u32, Verdict)>,
    /// For each agent, the last policy for which its groups were selected, as a value of `policies`. If names are
    /// compared by containment, an agent may obey thousands of a file's product tokens, but its groups are selected
    /// only once.
    chosen_for: Vec<u64>,
    /// Number of policies processed.
    policies: u64,
}

/// The groups that a policy has for an agent.
#[derive(Clone, Copy)]
struct AgentGroup {
    /// The agent's index, or [`REST`] for all agents without an entry of their own.
    agent: u32,
    /// The first group, if there is any.
    group: Option<StoredGroup>,
    /// Whether other groups decide together with it.
    has_more: bool,
}

/// Represents the agents that get the default group because the file names none of their product tokens.
const REST: u32 = u32::MAX;

impl<'a> Columns<'a> {
    /// Prepares the agents. Allocates and sorts the product tokens only if there are several agents.
    pub(super) fn new(agents: &'a [Agent]) -> Columns<'a> {
        let (tokens, others, chosen, walked) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let chosen_for = Vec::new();
        let mut columns = Columns { agents, tokens, others, chosen, walked, chosen_for, policies: 0 };
        if columns.are_several() {
            for (agent, index) in agents.iter().zip(0..) {
                columns.tokens.extend(agent.token_numbers().map(|token| (token, index)));
                if !agent.honors_default_group() {
                    columns.others.push(index);
                }
            }
            columns.tokens.sort_unstable();
            columns.chosen_for = vec![0; agents.len()];
        }
        columns
    }

    /// Returns whether there is more than one agent. A single agent is looked up separately, which is faster.
    pub(super) fn are_several(&self) -> bool {
        self.agents.len() > 1
    }

    /// Removes all selected groups.
    pub(super) fn clear(&mut self) {
        self.chosen.clear();
    }

    /// Selects the groups that a policy has for the agents. The returned range is valid until [`Columns::clear`].
    ///
    /// # Errors
    /// Returns an error if the policy is damaged.
    pub(super) fn choose(&mut self, policy: &PolicyView<'_>) -> Result<Range<u32>, FormatError> {
        let Columns { agents, tokens, others, chosen, chosen_for, policies, .. } = self;
        let start = chosen.len() as u32;
        *policies += 1;
        if policy.has_rules() {
            let group = policy.for_token(None)?.first;
            chosen.push(AgentGroup { agent: REST, group, has_more: false });
            let mut choose = |agent: u32| -> Result<(), FormatError> {
                if let (Some(names), Some(last)) = (agents.get(agent as usize), chosen_for.get_mut(agent as usize)) {
                    if std::mem::replace(last, *policies) != *policies {
                        let groups = names.groups(policy)?;
                        chosen.push(AgentGroup { agent, group: groups.first, has_more: groups.has_more() });
                    }
                }
                Ok(())
            };
            if policy.token_count() < tokens.len() {
                let mut last = None;
                for token in policy.tokens().map(|(token, _)| token) {
                    if last.replace(token) != Some(token) {
                        let first = tokens.partition_point(|&(other, _)| other < token);
                        let same = tokens[first..].iter().take_while(|(other, _)| *other == token);
                        same.map(|&(_, agent)| agent).try_for_each(&mut choose)?;
                    }
                }
            } else {
                let named = tokens.iter().filter(|&&(token, _)| policy.names(token));
                named.map(|&(_, agent)| agent).try_for_each(&mut choose)?;
            }
            others.iter().copied().try_for_each(choose)?;
            debug_assert!(chosen.len() - start as usize <= agents.len() + 1, "an agent was selected twice");
        }
        Ok(start..chosen.len() as u32)
    }

    /// Calls `ask` with the number of each first ruleset in a range.
    pub(super) fn each_first_ruleset(&self, range: Range<u32>, ask: impl FnMut(u32)) {
        let chosen = self.chosen.get(range.start as usize..range.end as usize).unwrap_or_default();
        chosen.iter().filter_map(|chosen| chosen.group).map(|group| group.ruleset).for_each(ask);
    }

    /// Computes all agents' verdicts for a URL's path from the selected groups. They equal the verdicts of
    /// [`Policy::decide_each`]. Rulesets are patched in `room`.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub(super) fn decide(
        &mut self,
        policy: &Policy<'_>,
        range: Range<u32>,
        path: &Path<'_>,
        room: &mut [u8; MAX_PATCHED_BYTES],
        row: &mut [Verdict],
    ) -> Result<(), FormatError> {
        let Columns { agents, others, chosen, walked, .. } = self;
        if !policy.view.has_rules() {
            let Some(taking) = agents.iter().find(|agent| agent.honors_default_group()) else {
                return policy.decide_each(agents, path, row);
            };
            row.fill(policy.without_rules(taking)?.verdict);
            for &agent in &*others {
                row[agent as usize] = policy.without_rules(&agents[agent as usize])?.verdict;
            }
            return Ok(());
        }
        let chosen = chosen.get(range.start as usize..range.end as usize).unwrap_or_default();
        walked.clear();
        let path = &path.normal(policy.normal_form);
        for AgentGroup { agent, group, has_more } in chosen {
            let verdict = match group {
                _ if *has_more => {
                    let groups = agents[*agent as usize].groups(&policy.view)?.all()?;
                    policy.explain_together(groups, path)?.verdict
                }
                None => Verdict::Allow,
                Some(group) => match walked.iter().find(|(ruleset, _)| *ruleset == group.ruleset) {
                    Some((_, known)) => *known,
                    None => {
                        let verdict = ruleset_at(policy.rulesets, group.ruleset)?.verdict_in(room, path)?;
                        walked.push((group.ruleset, verdict));
                        verdict
                    }
                },
            };
            match row.get_mut(*agent as usize) {
                Some(cell) => *cell = verdict,
                None => row.fill(verdict),
            }
        }
        Ok(())
    }
}
