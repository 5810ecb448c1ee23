//! What a set knows of one origin beside its rules: [`Site`] and [`Directive`].

use std::fmt;

use reptile_engine::format::directives::{DirectiveKind, DirectiveState};
use reptile_engine::verdict::PolicySource;

/// A line of a robots.txt that decides no URL: a sitemap, a delay, a line with an unknown key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Directive {
    /// What the line is about.
    pub kind: DirectiveKind,
    /// Whether it counts under the set's dialect, and if not, why.
    pub state: DirectiveState,
    /// The line in the robots.txt, from 1.
    pub line: u32,
    /// The key as written, for [`DirectiveKind::Other`]; else empty.
    pub key: Vec<u8>,
    /// The value as written, trimmed.
    pub value: Vec<u8>,
}

impl Directive {
    /// The key: that of the kind, or the one that was written.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        if self.key.is_empty() { self.kind.as_str().as_bytes() } else { &self.key }
    }
}

/// `key: value`, with bytes that are not UTF-8 replaced.
impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", String::from_utf8_lossy(self.key()), String::from_utf8_lossy(&self.value))
    }
}

/// What a set knows of one origin beside its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub(crate) source: PolicySource,
    pub(crate) fetched_at: Option<i64>,
    pub(crate) status: Option<u16>,
    pub(crate) stale_at: Option<i64>,
    pub(crate) expires_at: Option<i64>,
    pub(crate) directives: Vec<Directive>,
}

impl Site {
    /// Where its policy comes from: the rules of its robots.txt, or what came of fetching it.
    #[must_use]
    pub fn source(&self) -> PolicySource {
        self.source
    }

    /// When the capture that decides was fetched, in seconds since 1970.
    #[must_use]
    pub fn fetched_at(&self) -> Option<i64> {
        self.fetched_at
    }

    /// The status of the capture that decides.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// From when on the copy is no longer fresh, so that a crawler should fetch it anew, in seconds since 1970. `None`
    /// where the time of the fetch is not known or the fetch profile keeps no copies.
    #[must_use]
    pub fn stale_at(&self) -> Option<i64> {
        self.stale_at
    }

    /// From when on the copy may no longer be used even if fetching it anew fails, in seconds since 1970. `None` where it
    /// is not known or there is no such time.
    #[must_use]
    pub fn expires_at(&self) -> Option<i64> {
        self.expires_at
    }

    /// The sitemaps that count under the set's dialect, as written, in the order of the file.
    pub fn sitemaps(&self) -> impl Iterator<Item = &[u8]> {
        let counts = |directive: &&Directive| {
            directive.kind == DirectiveKind::Sitemap && directive.state == DirectiveState::Counts
        };
        self.directives.iter().filter(counts).map(|directive| &*directive.value)
    }

    /// All lines that decide no URL, in the order of the file.
    pub fn directives(&self) -> impl ExactSizeIterator<Item = &Directive> {
        self.directives.iter()
    }

    #[cfg(feature = "compile")]
    pub(crate) fn into_directives(self) -> Vec<Directive> {
        self.directives
    }
}
