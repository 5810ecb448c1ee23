//! Usage preferences: the uses that a robots.txt permits or forbids for its website's pages.
//!
//! Two kinds of lines state preferences. `Content-Usage` (IETF AIPREF, draft-ietf-aipref-attach-05) may be limited to
//! paths; the longest decides. `Content-Signal` (contentsignals.org) holds for a group, or before all groups for the
//! whole file. Both give labels such as `train-ai`. Their meaning is a [`Vocabulary`], which is chosen when asking,
//! because the labels change. Both drafts are work in progress.
//!
//! ```
//! use reptile::usage::{Preference, Sources, Vocabulary};
//! use reptile::{Dialect, Robots};
//!
//! let body = "User-agent: *\nDisallow: /never/\nContent-Usage: train-ai=n\nContent-Usage: /ai-ok/ train-ai=y\n";
//! let agent = Robots::parse(body, Dialect::google())?.agent("FooBot")?;
//! let uses = Vocabulary::default().uses(["train-ai", "search"], Sources::Usage)?;
//! assert_eq!(agent.usage("/test", &uses)?.preferences, [Preference::Disallowed, Preference::Unknown]);
//! assert_eq!(agent.usage("/ai-ok/1", &uses)?.preferences, [Preference::Allowed, Preference::Unknown]);
//! assert_eq!(agent.usage("/never/1", &uses)?.preferences, [Preference::NotApplicable; 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ask;
pub(crate) mod text;
mod vocabulary;

#[cfg(feature = "compile")]
pub use reptile_compiler::usage::{Statement, StatementError};
use reptile_engine::set::UsageQuery;
pub use reptile_engine::verdict::Preference;
use reptile_engine::verdict::Verdict;

pub use self::ask::Usage;
pub use self::text::TextError;
pub use self::vocabulary::{MAX_VOCABULARY_BYTES, UnknownUse, Vocabulary};

/// The lines that preferences are read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sources {
    /// `Content-Usage` lines.
    #[default]
    Usage,
    /// `Content-Signal` lines.
    Signals,
    /// Both, combined: the most restrictive preference holds.
    Both,
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
