//! What a set has for one origin besides its rules: [`Site`] and [`Directive`]; and what was in force when: [`Span`].

use std::fmt;

use reptile_engine::format::directives::{DirectiveKind, DirectiveState};
use reptile_engine::verdict::PolicySource;

/// A line of a robots.txt that decides no URL: a sitemap, a delay, a line with an unknown key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Directive {
    /// The kind of the line.
    pub kind: DirectiveKind,
    /// Whether the line counts under the set's dialect, and if not, why.
    pub state: DirectiveState,
    /// The number of the line in the robots.txt, from 1.
    pub line: u32,
    /// The key as written, for [`DirectiveKind::Other`]; otherwise empty.
    pub key: Vec<u8>,
    /// The value as written, trimmed.
    pub value: Vec<u8>,
}

/// Writes `key: value`, with bytes that are not UTF-8 replaced.
impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = if self.key.is_empty() { self.kind.as_str().into() } else { String::from_utf8_lossy(&self.key) };
        write!(f, "{key}: {}", String::from_utf8_lossy(&self.value))
    }
}

/// A span of time in which what decides for one origin stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The first second, since 1970; `None` for a capture whose time is unknown, which is in force before all others.
    pub from: Option<i64>,
    /// The last second; `None` for the last span.
    pub until: Option<i64>,
    /// The policy source: the rules of a robots.txt, or the result of fetching it.
    pub source: PolicySource,
}

/// What a set has for one origin besides its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Site {
    /// The policy source: the rules of the origin's robots.txt, or the result of fetching it.
    pub source: PolicySource,
    /// When the deciding capture was fetched, in seconds since 1970.
    pub fetched_at: Option<i64>,
    /// The status of the deciding capture.
    pub status: Option<u16>,
    /// The last second (since 1970) at which the copy is fresh; after it a crawler should fetch the file again. `None`
    /// if the time of the fetch is unknown or the fetch profile keeps no copies.
    pub stale_at: Option<i64>,
    /// The last second (since 1970) at which the copy may be used even if fetching the file again fails. `None` if that
    /// time is unknown or unlimited.
    pub expires_at: Option<i64>,
    /// All other directives, in the order of the file.
    pub directives: Vec<Directive>,
}

impl Site {
    /// Whether a line, for example the line of the deciding rule, is in a block that a vendor manages, between comments
    /// such as `# BEGIN Cloudflare Managed content` and `# END Cloudflare Managed Content`.
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
