//! Usage preferences: the uses that a robots.txt permits or forbids for its website's pages.
//!
//! Two kinds of lines state preferences. `Content-Usage` (IETF AIPREF, draft-ietf-aipref-attach-05) may be limited to
//! paths; the longest decides. `Content-Signal` (contentsignals.org) holds for a group, or before all groups for the
//! whole file. Both give labels such as `train-ai`. A third way is an ordinary group whose product token names a use
//! (draft-kelley-aipref-training-preference-signal-00, 30 October 2026): its rules permit and forbid the use.
//!
//! A [`Vocabulary`] defines the meaning of labels and tokens. The caller chooses it for each question, because the
//! meanings change. All these drafts are work in progress. If several statements are read, the most restrictive holds.
//!
//! ```
//! use reptile::usage::{Preference, Sources, Vocabulary};
//! use reptile::{Dialect, Robots};
//!
//! let body = "User-agent: *\nDisallow: /never/\nContent-Usage: train-ai=n\nContent-Usage: /ai-ok/ train-ai=y\n";
//! let agent = Robots::parse(body, Dialect::google())?.agent("FooBot")?;
//! let uses = Vocabulary::default().uses(["train-ai", "search"], Sources::USAGE)?;
//! assert_eq!(agent.usage("/test", &uses)?.preferences, [Preference::Disallowed, Preference::Unknown]);
//! assert_eq!(agent.usage("/ai-ok/1", &uses)?.preferences, [Preference::Allowed, Preference::Unknown]);
//! assert_eq!(agent.usage("/never/1", &uses)?.preferences, [Preference::NotApplicable; 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ask;
pub(crate) mod text;
mod vocabulary;

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "compile")]
pub use reptile_compiler::usage::{Statement, StatementError, tokens::TOKENS};
use reptile_engine::set::UsageQuery;
pub use reptile_engine::verdict::Preference;
use reptile_engine::verdict::Verdict;

pub use self::ask::Usage;
pub use self::text::TextError;
pub use self::vocabulary::{MAX_VOCABULARY_BYTES, UnknownUse, Vocabulary};

/// The statements in a robots.txt that preferences are read from.
///
/// ```
/// use reptile::usage::Sources;
/// assert_eq!(Sources::default(), Sources::USAGE.and(Sources::TOKENS));
/// assert!(Sources::ALL.has(Sources::SIGNALS) && !Sources::ALL.has(Sources::DEFAULT_GROUP));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sources(u8);

impl Sources {
    /// `Content-Usage` lines.
    pub const USAGE: Sources = Sources(1);
    /// `Content-Signal` lines.
    pub const SIGNALS: Sources = Sources(2);
    /// Groups whose product token names a use.
    pub const TOKENS: Sources = Sources(4);
    /// Such groups, and the groups for `*` in files where no group names the token. Those rules are written about
    /// fetching, so reading them as statements about a use is the caller's choice.
    pub const DEFAULT_GROUP: Sources = Sources(8 | Sources::TOKENS.0);
    /// All statements: lines of both kinds and groups for tokens.
    pub const ALL: Sources = Sources::USAGE.and(Sources::SIGNALS).and(Sources::TOKENS);

    /// Returns the statements that are in either.
    #[must_use]
    pub const fn and(self, other: Sources) -> Sources {
        Sources(self.0 | other.0)
    }

    /// Returns whether these statements are among the ones that are read.
    #[must_use]
    pub const fn has(self, statements: Sources) -> bool {
        self.0 & statements.0 == statements.0
    }
}

/// The statements of both IETF drafts: `Content-Usage` lines and groups for tokens.
impl Default for Sources {
    fn default() -> Sources {
        Sources::USAGE.and(Sources::TOKENS)
    }
}

/// Statements by their names.
const NAMED: [(&str, Sources); 5] = [
    ("usage", Sources::USAGE),
    ("signals", Sources::SIGNALS),
    ("tokens", Sources::TOKENS),
    ("default-group", Sources::DEFAULT_GROUP),
    ("all", Sources::ALL),
];

/// The error for a name that [`Sources`] does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSource(Box<str>);

impl fmt::Display for UnknownSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no statements are called \"{}\"; expected ", self.0.escape_debug())?;
        f.write_str(&NAMED.map(|(name, _)| name).join(", "))
    }
}

impl std::error::Error for UnknownSource {}

/// Reads names separated by commas: `usage`, `signals`, `tokens`, `default-group` and `all`.
///
/// ```
/// use reptile::usage::Sources;
/// assert_eq!("usage, tokens".parse(), Ok(Sources::default()));
/// assert!("both".parse::<Sources>().is_err());
/// ```
impl FromStr for Sources {
    type Err = UnknownSource;

    fn from_str(names: &str) -> Result<Sources, UnknownSource> {
        let mut all = Sources(0);
        for name in names.split(',').map(str::trim) {
            let found = NAMED.into_iter().find(|(known, _)| *known == name);
            all = all.and(found.ok_or_else(|| UnknownSource(name.into()))?.1);
        }
        Ok(all)
    }
}

/// The uses in a question, in the answers' order: categories in a [`Vocabulary`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uses {
    pub(crate) names: Vec<Box<str>>,
    pub(crate) query: UsageQuery,
}

impl Uses {
    /// Returns the categories' names.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Returns the number of categories.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there are no categories.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The meaning of an unknown preference for a caller that needs a yes or a no. There is no default: the drafts leave
/// the decision to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownUsage {
    /// An unknown use is allowed.
    Allow,
    /// An unknown use is disallowed.
    Disallow,
    /// An unknown use stays unknown.
    Unknown,
}

/// Returns the single verdict for a page and one use of it: the page may be fetched for the use only if both the fetch
/// and the use are allowed.
///
/// ```
/// use reptile::Verdict;
/// use reptile::usage::{Preference, UnknownUsage, verdict_for};
///
/// let verdict = |preference| verdict_for(Verdict::Allow, preference, UnknownUsage::Unknown);
/// assert_eq!(verdict(Preference::Allowed), Verdict::Allow);
/// assert_eq!(verdict(Preference::Disallowed), Verdict::Disallow);
/// assert_eq!(verdict(Preference::Unknown), Verdict::Unknown);
/// ```
#[must_use]
pub fn verdict_for(fetch: Verdict, preference: Preference, unknown: UnknownUsage) -> Verdict {
    match (fetch, preference, unknown) {
        (Verdict::Allow, Preference::Allowed, _) => Verdict::Allow,
        (Verdict::Allow, Preference::Disallowed | Preference::NotApplicable, _) => Verdict::Disallow,
        (Verdict::Allow, Preference::Unknown, UnknownUsage::Allow) => Verdict::Allow,
        (Verdict::Allow, Preference::Unknown, UnknownUsage::Disallow) => Verdict::Disallow,
        (Verdict::Allow, Preference::Unknown, UnknownUsage::Unknown) => Verdict::Unknown,
        (Verdict::Disallow | Verdict::Unknown | Verdict::Invalid, _, _) => fetch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only an allowed fetch for an allowed use is allowed without a choice of the caller.
    #[test]
    fn nothing_is_allowed_by_accident() {
        for fetch in Verdict::ALL {
            for preference in Preference::ALL {
                for unknown in [UnknownUsage::Allow, UnknownUsage::Disallow, UnknownUsage::Unknown] {
                    let is_chosen = preference == Preference::Unknown && unknown == UnknownUsage::Allow;
                    let is_allowed = fetch == Verdict::Allow && (preference == Preference::Allowed || is_chosen);
                    let found = verdict_for(fetch, preference, unknown);
                    assert_eq!(found == Verdict::Allow, is_allowed, "{fetch} {preference} {unknown:?}");
                    assert!(fetch == Verdict::Allow || found == fetch);
                }
            }
        }
    }
}
