//! The strategies: methods for building a ruleset's automaton.

use bumpalo::Bump;
use reptile_engine::format::automaton::AutomatonDraft;

use super::builder::Builder;
use super::nodes::NodeLists;
use crate::rules::order::RuleList;

/// A method for compiling a ruleset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// A trie and one automaton per wildcard, within limits; fallback patterns beyond the limits.
    #[default]
    Factored,
    /// A fallback pattern for every pattern with a wildcard if one decision stays within its limits, otherwise like
    /// `Factored`. For comparison.
    Fallback,
    /// One DFA over whole patterns if it stays within bounds, otherwise like `Factored`. For comparison; requires the
    /// feature `whole`.
    #[cfg(feature = "whole")]
    Whole,
}

impl Strategy {
    /// Every strategy, with the name by which users choose it.
    #[cfg(feature = "whole")]
    pub const ALL: [(&'static str, Strategy); 3] =
        [("factored", Strategy::Factored), ("fallback", Strategy::Fallback), ("whole", Strategy::Whole)];

    /// Every strategy, with the name by which users choose it.
    #[cfg(not(feature = "whole"))]
    pub const ALL: [(&'static str, Strategy); 2] = [("factored", Strategy::Factored), ("fallback", Strategy::Fallback)];

    /// Returns the construction number: the lowest byte is the strategy, the next is [`FORM_REVISION`].
    #[must_use]
    pub const fn form(self) -> u32 {
        let strategy = match self {
            Strategy::Factored => 1,
            Strategy::Fallback => 2,
            #[cfg(feature = "whole")]
            Strategy::Whole => 3,
        };
        FORM_REVISION << 8 | strategy
    }

    /// Returns the strategy for a construction number, or `None` if this compiler version does not have that
    /// construction.
    #[must_use]
    pub fn from_form(form: u32) -> Option<Strategy> {
        Strategy::ALL.into_iter().map(|(_, strategy)| strategy).find(|strategy| strategy.form() == form)
    }
}

/// The revision of the construction. It increases whenever the same rules compile to different bytes.
pub const FORM_REVISION: u32 = 3;

/// Builds a list's automaton, and counts the steps.
pub(super) fn draft<'l>(
    list: &'l RuleList,
    strategy: Strategy,
    arena: &'l Bump,
    lists: &mut NodeLists,
) -> (AutomatonDraft<'l>, usize) {
    let mut builder = Builder::new(list, arena);
    builder.scratch.lists = std::mem::take(lists);
    builder.take_out_fallbacks(strategy == Strategy::Fallback);
    match strategy {
        Strategy::Factored | Strategy::Fallback => builder.trie(),
        #[cfg(feature = "whole")]
        Strategy::Whole => builder.whole_or_trie(),
    }
    *lists = std::mem::take(&mut builder.scratch.lists);
    lists.give_back();
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructions_have_numbers() {
        for (strategy, lowest) in [(Strategy::Factored, 1), (Strategy::Fallback, 2)] {
            let form = strategy.form();
            assert_eq!((form & 0xFF, form >> 8), (lowest, FORM_REVISION));
            assert_eq!(Strategy::from_form(form), Some(strategy));
            assert_eq!(Strategy::from_form(form + 0x100), None);
        }
        assert_eq!(Strategy::from_form(0), None);
    }
}
