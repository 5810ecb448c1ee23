//! The agent that URLs are decided for: a crawler resolved against one set.

use crate::format::FormatError;
use crate::format::policies::{ChosenGroups, PolicyView};
use crate::format::tokens::{NameMatching, Tokens};

/// A crawler resolved against one set: looked up once, then used for any number of decisions.
///
/// A crawler that no robots.txt in the set names is assigned the default groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    names: TokenChain,
}

/// The numbers of the product tokens that a crawler obeys.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TokenChain {
    /// One product token, then the default group.
    One(Option<u32>),
    /// The groups for the first step that a file names, as in [`PolicyView::for_steps`].
    Steps { steps: Box<[Box<[u32]>]>, honors_default_group: bool },
    /// No product tokens: the crawler obeys no robots.txt.
    Free,
}

impl Agent {
    /// Looks up a crawler that obeys the first of these product tokens that a file names.
    pub(super) fn look_up(
        product_tokens: Tokens<'_>,
        matching: NameMatching,
        tokens: &[&[u8]],
        honors_default_group: bool,
    ) -> Result<Agent, FormatError> {
        let mut steps: Vec<Box<[u32]>> = Vec::with_capacity(tokens.len());
        for token in tokens {
            let numbers: Vec<u32> = match matching {
                NameMatching::Equal => product_tokens.find(token)?.into_iter().collect(),
                NameMatching::Contained => product_tokens.find_containing(token)?,
            };
            if !numbers.is_empty() {
                steps.push(numbers.into());
            }
        }
        let names = match *steps {
            _ if tokens.is_empty() && !honors_default_group => TokenChain::Free,
            [] if honors_default_group => TokenChain::One(None),
            [ref step] if honors_default_group && step.len() == 1 => TokenChain::One(Some(step[0])),
            _ => TokenChain::Steps { steps: steps.into(), honors_default_group },
        };
        Ok(Agent { names })
    }

    /// Returns whether any robots.txt in the set names the crawler.
    #[must_use]
    pub fn is_named(&self) -> bool {
        match &self.names {
            TokenChain::One(number) => number.is_some(),
            TokenChain::Steps { steps, .. } => !steps.is_empty(),
            TokenChain::Free => false,
        }
    }

    /// Returns whether the crawler obeys the default group of a file that names none of its product tokens.
    #[must_use]
    pub fn honors_default_group(&self) -> bool {
        !matches!(self.names, TokenChain::Steps { honors_default_group: false, .. } | TokenChain::Free)
    }

    /// Iterates over the numbers of all product tokens that the crawler obeys. If a file names none of them, the
    /// crawler gets the default group if it honors it, and otherwise no group.
    pub(super) fn token_numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let (one, steps) = match &self.names {
            TokenChain::One(number) => (*number, &[][..]),
            TokenChain::Steps { steps, .. } => (None, &steps[..]),
            TokenChain::Free => (None, &[][..]),
        };
        one.into_iter().chain(steps.iter().flatten().copied())
    }

    /// Returns whether the crawler obeys no robots.txt at all.
    pub(super) fn is_free(&self) -> bool {
        self.names == TokenChain::Free
    }

    #[inline(always)]
    pub(super) fn groups<'p>(&self, policy: &'p PolicyView<'_>) -> Result<ChosenGroups<'p>, FormatError> {
        match &self.names {
            TokenChain::One(number) => policy.for_token(*number),
            TokenChain::Steps { steps, honors_default_group } => policy.for_steps(steps, *honors_default_group),
            TokenChain::Free => policy.for_steps(&[], false),
        }
    }

    /// Returns the number of the crawler's first ruleset under a policy, and whether it decides alone.
    #[inline(always)]
    pub(super) fn first_ruleset(&self, policy: &PolicyView<'_>) -> Option<(u32, bool)> {
        let groups = self.groups(policy).ok().filter(|_| policy.has_rules())?;
        groups.first.map(|group| (group.ruleset, !groups.has_more()))
    }
}
