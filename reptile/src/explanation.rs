//! A verdict with its reasons: [`Explanation`].

use std::fmt;

use reptile_engine::verdict::{self, PolicySource, Reason, Rule, Verdict};

use crate::Group;

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub(crate) inner: verdict::Explanation,
    pub(crate) group: Group,
    pub(crate) is_managed: bool,
}

impl Explanation {
    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.inner.verdict
    }

    /// The rule that decided. `None` where no rule matches, no group is for the crawler, or no rules decide.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        self.inner.rule()
    }

    /// The line of the rule that decided, from 1. `None` where no rule did, or the set has no line numbers.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.rule().map(|rule| rule.line).filter(|&line| line > 0)
    }

    /// The best `Allow` rule that matches, whether it decided or not.
    #[must_use]
    pub fn allow(&self) -> Option<&Rule> {
        self.inner.allow.as_ref()
    }

    /// The best `Disallow` rule that matches, whether it decided or not.
    #[must_use]
    pub fn disallow(&self) -> Option<&Rule> {
        self.inner.disallow.as_ref()
    }

    /// Whose group the crawler obeys.
    #[must_use]
    pub fn group(&self) -> Group {
        self.group
    }

    /// Where the policy of the URL's origin comes from: the rules of a file, or what came of fetching it.
    #[must_use]
    pub fn source(&self) -> PolicySource {
        self.inner.source
    }

    /// Why the verdict is what it is, in a few words.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.inner.reason()
    }

    /// Whether the line of the rule that decided stands in a block that a vendor manages, between comments such as
    /// `# BEGIN Cloudflare Managed content` and `# END Cloudflare Managed Content`.
    #[must_use]
    pub fn is_in_managed_block(&self) -> bool {
        self.is_managed
    }
}

/// The verdict, and the reason in brackets where there is one to give: `disallow (503)`, `unknown`.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
