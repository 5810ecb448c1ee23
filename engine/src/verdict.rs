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

/// What came of fetching a robots.txt, where it is not the file itself that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Cause {
    /// The server answered with this status.
    Status(u16),
    /// It redirected more often than is followed.
    Redirects,
    /// There was no answer, or no whole one.
    Network,
    /// The answer was no text file.
    NotText,
    /// The file was over the size that is read.
    TooLarge,
    /// There has been no answer for more than this many days.
    Unreachable(u16),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Status(status) => write!(f, "{status}"),
            Cause::Redirects => f.write_str("too many redirects"),
            Cause::Network => f.write_str("network error"),
            Cause::NotText => f.write_str("not a text file"),
            Cause::TooLarge => f.write_str("too large"),
            Cause::Unreachable(days) => write!(f, "unreachable for more than {days} days"),
        }
    }
}

/// What the policy of an origin rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PolicySource {
    /// The rules of its robots.txt.
    #[default]
    Rules,
    /// The rules of the last copy that could be fetched; since then fetching has failed.
    LastGoodCopy(Cause),
    /// Everything is allowed.
    AllowAll(Cause),
    /// Everything is disallowed, until the file can be fetched.
    DisallowAll(Cause),
}

impl PolicySource {
    /// The verdict for every URL, where no rules decide.
    #[must_use]
    pub const fn verdict(self) -> Option<Verdict> {
        match self {
            PolicySource::Rules | PolicySource::LastGoodCopy(_) => None,
            PolicySource::AllowAll(_) => Some(Verdict::Allow),
            PolicySource::DisallowAll(_) => Some(Verdict::Disallow),
        }
    }

    /// What came of the last fetch, where it was not the file.
    #[must_use]
    pub const fn cause(self) -> Option<Cause> {
        match self {
            PolicySource::Rules => None,
            PolicySource::LastGoodCopy(cause) | PolicySource::AllowAll(cause) | PolicySource::DisallowAll(cause) => {
                Some(cause)
            }
        }
    }
}

/// Why a verdict is what it is, in a word or two: [`fmt::Display`] gives the text that stands in output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A rule decided; of a copy that has been kept since fetching fails, if a cause is given.
    Rule(Option<Cause>),
    /// No rule matches, or none is for the agent; a cause as for a rule.
    NoRule(Option<Cause>),
    /// What came of fetching the robots.txt decided.
    Fetch(Cause),
    /// No robots.txt is known for the URL's origin.
    NoRobots,
    /// The text is no URL.
    NoUrl,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Rule(None) => f.write_str("rule"),
            Reason::Rule(Some(cause)) => write!(f, "rule of the last good copy, now {cause}"),
            Reason::NoRule(None) => f.write_str("no rule matches"),
            Reason::NoRule(Some(cause)) => write!(f, "no rule of the last good copy matches, now {cause}"),
            Reason::Fetch(cause) => cause.fmt(f),
            Reason::NoRobots => f.write_str("no robots.txt is known"),
            Reason::NoUrl => f.write_str("no URL"),
        }
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
    /// What the policy of the URL's origin rests on; [`PolicySource::Rules`] for `Unknown` and `Invalid`.
    pub source: PolicySource,
}

impl Explanation {
    /// An answer that no rule had a part in.
    #[must_use]
    pub const fn without_rule(verdict: Verdict) -> Explanation {
        Explanation { verdict, allow: None, disallow: None, decided_by: None, source: PolicySource::Rules }
    }

    /// Why the verdict is what it is.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match (self.verdict, self.source) {
            (Verdict::Unknown, _) => Reason::NoRobots,
            (Verdict::Invalid, _) => Reason::NoUrl,
            (_, PolicySource::AllowAll(cause) | PolicySource::DisallowAll(cause)) => Reason::Fetch(cause),
            (_, source) if self.decided_by.is_some() => Reason::Rule(source.cause()),
            (_, source) => Reason::NoRule(source.cause()),
        }
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

/// The verdict, and the reason in brackets where there is one to give: `disallow (503)`, `unknown`.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            Reason::NoRobots | Reason::NoUrl => self.verdict.fmt(f),
            reason => write!(f, "{} ({reason})", self.verdict),
        }
    }
}
