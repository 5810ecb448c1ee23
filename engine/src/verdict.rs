//! Verdicts and their reasons: the deciding rule, or the result of the last robots.txt fetch.

use std::fmt;
use std::str::FromStr;

use crate::serde_as_text;
use crate::words::UnknownWord;

/// The verdict for one URL and one agent.
///
/// There is no fifth value and no default. A URL whose origin has no robots.txt in the set is `Unknown`, and the caller
/// must choose explicitly how to treat it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Verdict {
    /// The rules allow the URL, or no rule matches it.
    Allow = 0,
    /// A rule or a failed fetch disallows the URL.
    Disallow = 1,
    /// The set has no robots.txt for the URL's origin.
    Unknown = 2,
    /// The text is not a valid URL; see [`crate::url::UrlError`].
    Invalid = 3,
}

crate::words!(Verdict, "a verdict", name {
    Allow => "allow",
    Disallow => "disallow",
    Unknown => "unknown",
    Invalid => "invalid",
});

/// A website's answer to the question whether a page may be used in some way.
///
/// Source: draft-ietf-aipref-vocab, section 6, and draft-ietf-aipref-attach, section 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Preference {
    /// The website permits the use.
    Allowed = 0,
    /// The website does not permit the use.
    Disallowed = 1,
    /// The website says nothing about the use, or its statement cannot be read.
    Unknown = 2,
    /// The page must not be fetched, so preferences do not apply to it.
    NotApplicable = 3,
}

crate::words!(Preference, "a preference", name {
    Allowed => "allowed",
    Disallowed => "disallowed",
    Unknown => "unknown",
    NotApplicable => "not-applicable",
});

impl Preference {
    /// Returns the preference of a group whose product token names a use: the use is forbidden where a `Disallow`
    /// decides, and permitted elsewhere, even if no rule matches.
    #[must_use]
    pub const fn of_rules(verdict: Verdict) -> Preference {
        match verdict {
            Verdict::Allow => Preference::Allowed,
            Verdict::Disallow => Preference::Disallowed,
            Verdict::Unknown | Verdict::Invalid => Preference::Unknown,
        }
    }

    /// Returns the more restrictive preference: disallowed, then allowed, then unknown. If either is not applicable, so
    /// is the result.
    ///
    /// Source: draft-ietf-aipref-vocab, section 5.1.
    #[must_use]
    pub const fn combined_with(self, other: Preference) -> Preference {
        match (self, other) {
            (Preference::NotApplicable, _) | (_, Preference::NotApplicable) => Preference::NotApplicable,
            (Preference::Disallowed, _) | (_, Preference::Disallowed) => Preference::Disallowed,
            (Preference::Allowed, _) | (_, Preference::Allowed) => Preference::Allowed,
            (Preference::Unknown, Preference::Unknown) => Preference::Unknown,
        }
    }
}

/// Why fetching a robots.txt failed, if its rules do not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Cause {
    /// The server answered with this status.
    Status(u16),
    /// There were more redirects than the fetch profile allows.
    Redirects,
    /// The server did not answer, or the connection broke during its answer.
    Network,
    /// The answer was not a text file.
    NotText,
    /// The file exceeded the fetch profile's size limit.
    TooLarge,
    /// The server has not answered for more than this number of days.
    Unreachable(u16),
    /// The response had this status and a page that says "not found", which counts as 404.
    NotFoundPage(u16),
    /// The response was a challenge page: a browser test instead of the file.
    Challenge(Challenger),
}

/// A product that serves challenge pages, represented by its number in a set.
///
/// Every number is valid, because a set may name a product that this version does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Challenger(u16);

impl Challenger {
    /// Anubis, by Techaro.
    pub const ANUBIS: Challenger = Challenger(1);
    /// Cloudflare's challenge pages.
    pub const CLOUDFLARE: Challenger = Challenger(2);
    /// AWS WAF: its Challenge and CAPTCHA actions.
    pub const AWS_WAF: Challenger = Challenger(3);
    /// DataDome.
    pub const DATADOME: Challenger = Challenger(4);
    /// Imperva, formerly Incapsula.
    pub const IMPERVA: Challenger = Challenger(5);
    /// Sucuri's firewall.
    pub const SUCURI: Challenger = Challenger(6);
    /// go-away.
    pub const GO_AWAY: Challenger = Challenger(7);
    /// SiteGround's captcha.
    pub const SITEGROUND: Challenger = Challenger(8);
    /// Vercel's firewall.
    pub const VERCEL: Challenger = Challenger(9);

    /// Names of known products, starting with number 1.
    const NAMES: [&str; 9] =
        ["Anubis", "Cloudflare", "AWS WAF", "DataDome", "Imperva", "Sucuri", "go-away", "SiteGround", "Vercel"];

    /// Returns the product with this number.
    #[must_use]
    pub const fn from_number(number: u16) -> Challenger {
        Challenger(number)
    }

    /// Returns the product's number in a set.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }

    /// Returns the product's name, or `None` if this version does not know its number.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Challenger::NAMES.get(usize::from(self.0).checked_sub(1)?).copied()
    }

    /// Returns the product with this name, or `None` if the name is unknown.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Challenger> {
        (1..)
            .map(Challenger)
            .zip(Challenger::NAMES)
            .find_map(|(challenger, known)| (known == name).then_some(challenger))
    }
}

const UNREACHABLE: [&str; 2] = ["unreachable for more than ", " days"];
const NOT_FOUND_PAGE: &str = ", whose page says \"not found\"";
const CHALLENGE: &str = "challenge page";

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Status(status) => write!(f, "{status}"),
            Cause::Redirects => f.write_str("too many redirects"),
            Cause::Network => f.write_str("network error"),
            Cause::NotText => f.write_str("not a text file"),
            Cause::TooLarge => f.write_str("too large"),
            Cause::Unreachable(days) => write!(f, "{}{days}{}", UNREACHABLE[0], UNREACHABLE[1]),
            Cause::NotFoundPage(status) => write!(f, "{status}{NOT_FOUND_PAGE}"),
            Cause::Challenge(challenger) => match challenger.name() {
                Some(name) => write!(f, "{CHALLENGE} of {name}"),
                None => f.write_str(CHALLENGE),
            },
        }
    }
}

/// Parses the text of [`fmt::Display`]. A challenge page without a product name gets the number 0.
impl FromStr for Cause {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Cause, UnknownWord> {
        let found = match text {
            "too many redirects" => Some(Cause::Redirects),
            "network error" => Some(Cause::Network),
            "not a text file" => Some(Cause::NotText),
            "too large" => Some(Cause::TooLarge),
            CHALLENGE => Some(Cause::Challenge(Challenger(0))),
            _ => cause_with_detail(text),
        };
        let expected = ["a status such as 503", "too many redirects", "network error", "not a text file", "too large"];
        found.ok_or_else(|| UnknownWord::new("the result of a fetch", &expected, text))
    }
}

/// Parses the text of a cause with a number or a name.
fn cause_with_detail(text: &str) -> Option<Cause> {
    if let Some(name) = text.strip_prefix(CHALLENGE).and_then(|text| text.strip_prefix(" of ")) {
        return Challenger::from_name(name).map(Cause::Challenge);
    }
    if let Some(days) = text.strip_prefix(UNREACHABLE[0]).and_then(|text| text.strip_suffix(UNREACHABLE[1])) {
        return number(days).map(Cause::Unreachable);
    }
    match text.strip_suffix(NOT_FOUND_PAGE) {
        Some(status) => number(status).map(Cause::NotFoundPage),
        None => number(text).map(Cause::Status),
    }
}

/// Parses a number without a sign or leading zeros.
fn number(digits: &str) -> Option<u16> {
    digits.parse().ok().filter(|number: &u16| number.to_string() == digits)
}

serde_as_text!(Cause, "the result of a fetch");

/// What decides an origin's verdicts: its rules, or one verdict for every URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum PolicySource {
    /// The rules in the origin's robots.txt.
    #[default]
    Rules,
    /// The rules in the last copy that was fetched. Every fetch since then has failed.
    LastGoodCopy(Cause),
    /// Everything is allowed.
    AllowAll(Cause),
    /// Everything is disallowed until the file can be fetched.
    DisallowAll(Cause),
}

impl PolicySource {
    /// Returns the verdict for every URL, or `None` if rules decide.
    #[must_use]
    pub const fn verdict(self) -> Option<Verdict> {
        match self {
            PolicySource::Rules | PolicySource::LastGoodCopy(_) => None,
            PolicySource::AllowAll(_) => Some(Verdict::Allow),
            PolicySource::DisallowAll(_) => Some(Verdict::Disallow),
        }
    }

    /// Returns why the last fetch failed, or `None` if it did not.
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

/// The reason for a verdict.
///
/// [`fmt::Display`] writes the text used in output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// A rule decided. With a cause, the rule is from the last good copy, because later fetches failed.
    Rule(Option<Cause>),
    /// No rule matches, or no group applies to the agent. A cause means the same as for a rule.
    NoRule(Option<Cause>),
    /// The result of fetching the robots.txt decided.
    Fetch(Cause),
    /// The set has no robots.txt for the URL's origin.
    NoRobots,
    /// The text is not a valid URL.
    NoUrl,
    /// The text is longer than [`MAX_URL_BYTES`](crate::url::MAX_URL_BYTES).
    LongUrl,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Rule(None) => f.write_str(RULE),
            Reason::Rule(Some(cause)) => write!(f, "{RULE_OF_COPY}{cause}"),
            Reason::NoRule(None) => f.write_str(NO_RULE),
            Reason::NoRule(Some(cause)) => write!(f, "{NO_RULE_OF_COPY}{cause}"),
            Reason::Fetch(cause) => cause.fmt(f),
            Reason::NoRobots => f.write_str(NO_ROBOTS),
            Reason::NoUrl => f.write_str(NO_URL),
            Reason::LongUrl => f.write_str(LONG_URL),
        }
    }
}

const RULE: &str = "rule";
const RULE_OF_COPY: &str = "rule of the last good copy, now ";
const NO_RULE: &str = "no rule matches";
const NO_RULE_OF_COPY: &str = "no rule of the last good copy matches, now ";
const NO_ROBOTS: &str = "no robots.txt is known";
const NO_URL: &str = "no URL";
const LONG_URL: &str = "URL over 64 KiB";

/// Parses the text of [`fmt::Display`], as [`Cause`] does.
impl FromStr for Reason {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Reason, UnknownWord> {
        let found = match text {
            RULE => Some(Reason::Rule(None)),
            NO_RULE => Some(Reason::NoRule(None)),
            NO_ROBOTS => Some(Reason::NoRobots),
            NO_URL => Some(Reason::NoUrl),
            LONG_URL => Some(Reason::LongUrl),
            _ => match (text.strip_prefix(RULE_OF_COPY), text.strip_prefix(NO_RULE_OF_COPY)) {
                (Some(cause), _) => cause.parse().ok().map(|cause| Reason::Rule(Some(cause))),
                (_, Some(cause)) => cause.parse().ok().map(|cause| Reason::NoRule(Some(cause))),
                _ => text.parse().ok().map(Reason::Fetch),
            },
        };
        let expected = [RULE, NO_RULE, NO_ROBOTS, NO_URL, LONG_URL, "the result of a fetch such as 503"];
        found.ok_or_else(|| UnknownWord::new("a reason", &expected, text))
    }
}

serde_as_text!(Reason, "a reason");

/// A rule's effect on the URLs that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum RuleKind {
    /// An `Allow` line.
    Allow = 0,
    /// A `Disallow` line.
    Disallow = 1,
}

crate::named!(RuleKind, "a kind of rule", name {
    Allow => "Allow",
    Disallow => "Disallow",
});

/// Parses a name in any letter case, as in a robots.txt.
impl FromStr for RuleKind {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<RuleKind, UnknownWord> {
        let found = RuleKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| UnknownWord::new("a kind of rule", &RuleKind::ALL.map(RuleKind::name), text))
    }
}

serde_as_text!(RuleKind, "a kind of rule");

/// A rule in a decision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rule {
    /// Whether the rule allows or disallows.
    pub kind: RuleKind,
    /// The pattern in the set's normal form.
    #[cfg_attr(feature = "serde", serde(with = "crate::words::bytes"))]
    pub pattern: Vec<u8>,
    /// Line number in the robots.txt, from 1; 0 if the set was written without line numbers.
    pub line: u32,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), String::from_utf8_lossy(&self.pattern))
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// The matching `Allow` rule with the highest precedence.
    pub allow: Option<Rule>,
    /// The matching `Disallow` rule with the highest precedence.
    pub disallow: Option<Rule>,
    /// The kind of the deciding rule. `None` if no rule matches, and for `Unknown` and `Invalid`.
    pub decided_by: Option<RuleKind>,
    /// The policy source for the URL's origin; [`PolicySource::Rules`] for `Unknown` and `Invalid`.
    pub source: PolicySource,
}

impl Explanation {
    /// Returns an explanation without a deciding rule.
    #[must_use]
    pub const fn without_rule(verdict: Verdict) -> Explanation {
        Explanation { verdict, allow: None, disallow: None, decided_by: None, source: PolicySource::Rules }
    }

    /// Returns the reason for the verdict.
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

    /// Returns the deciding rule, if there is one.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        match self.decided_by? {
            RuleKind::Allow => self.allow.as_ref(),
            RuleKind::Disallow => self.disallow.as_ref(),
        }
    }
}

/// Writes the verdict, then the reason in parentheses if there is one: `disallow (503)`, `unknown`.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            Reason::NoRobots | Reason::NoUrl => self.verdict.fmt(f),
            reason => write!(f, "{} ({reason})", self.verdict),
        }
    }
}
