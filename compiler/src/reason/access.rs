//! The rules that a proof is about.

use reptile_engine::automaton::Ruleset;
use reptile_engine::format::FormatError;
use reptile_engine::set::{Agent, Policy, Set};
use reptile_engine::verdict::{RuleKind, Verdict};

/// A crawler's rules at an origin, or its verdict for every path there.
#[derive(Clone, Debug)]
pub enum Access<'r> {
    /// One verdict for every path, for example because the robots.txt could not be fetched.
    Every(RuleKind),
    /// Rulesets that decide together; usually only one, and none if no group applies.
    Rules(Vec<Ruleset<'r>>),
}

impl<'r> Access<'r> {
    /// Returns a crawler's rules or verdict under a policy.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn of(policy: &Policy<'r>, agent: &Agent) -> Result<Access<'r>, FormatError> {
        match policy.source()?.verdict() {
            Some(Verdict::Disallow) => Ok(Access::Every(RuleKind::Disallow)),
            Some(_) => Ok(Access::Every(RuleKind::Allow)),
            None => Ok(Access::Rules(policy.rules_for(agent)?.iter().map(|rules| rules.ruleset).collect())),
        }
    }

    /// Returns the rules in a set's rulesets with these numbers, which decide together.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn of_rulesets<B: AsRef<[u8]>>(set: &'r Set<B>, numbers: &[u32]) -> Result<Access<'r>, FormatError> {
        let ruleset = |&number: &u32| Ok(Ruleset::stored(set.rulesets().get(number)?)?);
        numbers.iter().map(ruleset).collect::<Result<_, FormatError>>().map(Access::Rules)
    }

    /// Returns the rulesets. There are none if every path has the same verdict.
    #[must_use]
    pub fn rulesets(&self) -> &[Ruleset<'r>] {
        match self {
            Access::Every(_) => &[],
            Access::Rules(rulesets) => rulesets,
        }
    }
}
