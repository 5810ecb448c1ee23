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

/// `key: value`, with bytes that are not UTF-8 replaced.
impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = if self.key.is_empty() { self.kind.as_str().into() } else { String::from_utf8_lossy(&self.key) };
        write!(f, "{key}: {}", String::from_utf8_lossy(&self.value))
    }
}

/// What a set knows of one origin beside its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Site {
    /// Where its policy comes from: the rules of its robots.txt, or what came of fetching it.
    pub source: PolicySource,
    /// When the capture that decides was fetched, in seconds since 1970.
    pub fetched_at: Option<i64>,
    /// The status of the capture that decides.
    pub status: Option<u16>,
    /// The last second (since 1970) at which the copy is fresh; after it a crawler should fetch it anew. `None` where the
    /// time of the fetch is not known or the fetch profile keeps no copies.
    pub stale_at: Option<i64>,
    /// The last second (since 1970) at which the copy may be used even if fetching it anew fails. `None` where that is not
    /// known or there is no such time.
    pub expires_at: Option<i64>,
    /// All lines that decide no URL, in the order of the file.
    pub directives: Vec<Directive>,
}

impl Site {
    /// Whether a line, such as that of the rule which decided, stands in a block that a vendor manages, between comments such
    /// as `# BEGIN Cloudflare Managed content` and `# END Cloudflare Managed Content`.
    #[must_use]
    pub fn is_in_managed_block(&self, line: u32) -> bool {
        let is_mark = |kind| matches!(kind, DirectiveKind::ManagedBegin | DirectiveKind::ManagedEnd);
        let mut before =
            self.directives.iter().rev().filter(|directive| directive.line < line && is_mark(directive.kind));
        before.next().is_some_and(|directive| directive.kind == DirectiveKind::ManagedBegin)
    }

    /// The sitemaps that count under the set's dialect, as written, in the order of the file.
    pub fn sitemaps(&self) -> impl Iterator<Item = &[u8]> {
        let counts = |directive: &&Directive| {
            directive.kind == DirectiveKind::Sitemap && directive.state == DirectiveState::Counts
        };
        self.directives.iter().filter(counts).map(|directive| &*directive.value)
    }
}
