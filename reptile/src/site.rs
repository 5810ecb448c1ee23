//! A set's data for one origin, except its rules: [`Site`], [`Directive`], and the policy history: [`Span`].

use std::fmt;
use std::time::Duration;

use reptile_engine::format::directives::{DirectiveKind, DirectiveState, decimal_seconds};
use reptile_engine::verdict::PolicySource;

/// A line in a robots.txt that decides no URL: a sitemap, a delay, or a line with an unknown key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Directive {
    /// The line's kind.
    pub kind: DirectiveKind,
    /// Whether the line counts under the set's dialect, and the reason if not.
    pub state: DirectiveState,
    /// The line number in the robots.txt, from 1.
    pub line: u32,
    /// The key as written, for [`DirectiveKind::Other`]; otherwise empty.
    #[cfg_attr(feature = "serde", serde(with = "reptile_engine::words::bytes"))]
    pub key: Vec<u8>,
    /// The value as written, trimmed.
    #[cfg_attr(feature = "serde", serde(with = "reptile_engine::words::bytes"))]
    pub value: Vec<u8>,
}

impl Directive {
    /// Returns the value as a duration, such as a `Crawl-delay`'s: seconds with an optional fraction. Whether the line
    /// counts does not matter.
    ///
    /// ```
    /// use reptile::{Dialect, Robots};
    /// let robots = Robots::parse("user-agent: *\ncrawl-delay: 2.5\n", Dialect::google())?;
    /// let seconds = robots.agent("GPTBot")?.directives("/")?[0].seconds();
    /// assert_eq!(seconds.map(|seconds| seconds.as_millis()), Some(2_500));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn seconds(&self) -> Option<Duration> {
        decimal_seconds(&self.value)
    }
}

/// Writes `key: value`, with bytes that are not UTF-8 replaced.
impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = if self.key.is_empty() { self.kind.as_str().into() } else { String::from_utf8_lossy(&self.key) };
        write!(f, "{key}: {}", String::from_utf8_lossy(&self.value))
    }
}

/// A time span in which one origin's policy stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Span {
    /// The first second, since 1970; `None` for a capture with an unknown time, which precedes all others.
    pub from: Option<i64>,
    /// The last second; `None` for the last span.
    pub until: Option<i64>,
    /// The policy source: the rules of a robots.txt, or the result of fetching it.
    pub source: PolicySource,
}

/// A set's data for one origin, except its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Site {
    /// The policy source: the rules of the origin's robots.txt, or the result of fetching it.
    pub source: PolicySource,
    /// The deciding capture's fetch time in seconds since 1970.
    pub fetched_at: Option<i64>,
    /// The deciding capture's status.
    pub status: Option<u16>,
    /// The last second (since 1970) at which the copy is fresh; afterwards a crawler should fetch the file again.
    /// `None` if the fetch time is unknown or the fetch profile keeps no copies.
    pub stale_at: Option<i64>,
    /// The last second (since 1970) at which the copy may be used even if fetching the file again fails. `None` if
    /// that time is unknown or unlimited.
    pub expires_at: Option<i64>,
    /// All other directives, in file order.
    pub directives: Vec<Directive>,
}

impl Site {
    /// Returns whether a line, for example the deciding rule's line, is in a vendor-managed block, between comments
    /// such as `# BEGIN Cloudflare Managed content` and `# END Cloudflare Managed Content`.
    #[must_use]
    pub fn is_in_managed_block(&self, line: u32) -> bool {
        let is_mark = |kind| matches!(kind, DirectiveKind::ManagedBegin | DirectiveKind::ManagedEnd);
        let mut before =
            self.directives.iter().rev().filter(|directive| directive.line < line && is_mark(directive.kind));
        before.next().is_some_and(|directive| directive.kind == DirectiveKind::ManagedBegin)
    }

    /// Returns the sitemaps that count under the set's dialect, as written, in file order.
    pub fn sitemaps(&self) -> impl Iterator<Item = &[u8]> {
        let counts = |directive: &&Directive| {
            directive.kind == DirectiveKind::Sitemap && directive.state == DirectiveState::Counts
        };
        self.directives.iter().filter(counts).map(|directive| &*directive.value)
    }
}
