//! The kind of a body: a robots.txt, or another format that a server sent instead.
//!
//! One in thirty popular sites serves a web page instead of its robots.txt; others serve an error in JSON or XML, or
//! text in UTF-16. [`BodyKind::of`] decides the kind for every command and binding. A crawler's response to such a
//! body is a property of its dialect and its fetch profile: most crawlers read every line that looks like a rule.
//!
//! The kind does not depend on a dialect, on a file's name, or on the media type that a server declares.

use bumpalo::Bump;

use super::format::BodyFormat;
use super::parse;
use crate::dialect::LENIENT;

/// The kind of a body. Rules are counted as Google's library reads them.
///
/// ```
/// use reptile_compiler::body::{BodyFormat, BodyKind};
/// assert_eq!(BodyKind::of(b"# pages carry <meta name=robots>\nUser-agent: *"), BodyKind::Robots);
/// assert_eq!(BodyKind::of(b"<!doctype html><p>Not found"), BodyKind::Other(BodyFormat::Html));
/// let page = b"<html><pre>\nUser-agent: *\nDisallow: /\n";
/// assert_eq!(BodyKind::of(page), BodyKind::WithRules(BodyFormat::Html, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// A robots.txt: text, or an empty body.
    Robots,
    /// Another format that has this number of rules in groups.
    WithRules(BodyFormat, usize),
    /// Another format without a rule.
    Other(BodyFormat),
}

impl BodyKind {
    /// Returns the kind of a body. Takes time linear in the body, or in its first
    /// [`MAX_KIND_BYTES`](crate::limits::MAX_KIND_BYTES) for a robots.txt.
    #[must_use]
    pub fn of(body: &[u8]) -> BodyKind {
        let Some(format) = BodyFormat::of(body) else { return BodyKind::Robots };
        match rule_count(body) {
            0 => BodyKind::Other(format),
            rules => BodyKind::WithRules(format, rules),
        }
    }

    /// Returns the format, or `None` for a robots.txt.
    #[must_use]
    pub fn format(self) -> Option<BodyFormat> {
        match self {
            BodyKind::Robots => None,
            BodyKind::WithRules(format, _) | BodyKind::Other(format) => Some(format),
        }
    }
}

/// Returns the number of rules in groups.
fn rule_count(body: &[u8]) -> usize {
    let arena = Bump::new();
    parse(body, LENIENT, &arena).groups.iter().map(|group| group.rules.len()).sum()
}
