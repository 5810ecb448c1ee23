//! The answers: verdicts, and the rules that they rest on.

use std::fmt;

/// The answer for one URL and one agent.
///
/// There is no fifth value and no default: a URL whose origin has no robots.txt in the set is `Unknown`, and
/// what to do with it is the caller's visible choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Verdict {
    /// The rules allow it, or say nothing about it.
    Allow = 0,
    /// The rules disallow it.
    Disallow = 1,
    /// No robots.txt is known for the URL's origin.
    Unknown = 2,
    /// The text is no URL; see [`crate::url::UrlError`].
    Invalid = 3,
}

impl Verdict {
    /// The word that stands for the verdict in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Disallow => "disallow",
            Verdict::Unknown => "unknown",
            Verdict::Invalid => "invalid",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a rule does to the URLs that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum RuleKind {
    /// An `Allow` line.
    Allow = 0,
    /// A `Disallow` line.
    Disallow = 1,
}

impl RuleKind {
    /// The word that begins the rule's line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RuleKind::Allow => "Allow",
            RuleKind::Disallow => "Disallow",
        }
    }
}

/// A rule as a decision names it: what it does, its pattern, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it does.
    pub kind: RuleKind,
    /// Its pattern in the set's normal form.
    pub pattern: Vec<u8>,
    /// Its line in the robots.txt, from 1; 0 if the set was written without line numbers.
    pub line: u32,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), String::from_utf8_lossy(&self.pattern))
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The answer.
    pub verdict: Verdict,
    /// The `Allow` rule that comes first in the order of precedence among those that match.
    pub allow: Option<Rule>,
    /// The `Disallow` rule that comes first in the order of precedence among those that match.
    pub disallow: Option<Rule>,
    /// Which of the two decided. `None` when no rule matches, and for `Unknown` and `Invalid`.
    pub decided_by: Option<RuleKind>,
}

impl Explanation {
    /// An answer that no rule had a part in.
    #[must_use]
    pub const fn without_rule(verdict: Verdict) -> Explanation {
        Explanation { verdict, allow: None, disallow: None, decided_by: None }
    }

    /// The rule that decided, if one did.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        match self.decided_by? {
            RuleKind::Allow => self.allow.as_ref(),
            RuleKind::Disallow => self.disallow.as_ref(),
        }
    }
}
