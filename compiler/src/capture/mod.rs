//! Captures: robots.txt fetches, each with its status, time and relevant headers.
//!
//! `profile` interprets a capture by its status, redirects, errors and body ([`Profile`], [`Outcome`]). `latest`
//! decides which of an origin's captures counts, and `timeline` when each counts, for a set by time; `choice` has
//! [`Captures`] of either kind, and `stored` their stored form. No code here reads a clock: the caller provides the
//! set's time.

mod choice;
mod latest;
mod profile;
mod stored;
mod timeline;

use std::str::FromStr;

pub use reptile_engine::verdict::Challenger;

pub use self::choice::Captures;
pub use self::latest::{Decision, Discarded, KeptCapture};
pub use self::profile::{
    ALL, COMMONCRAWL, CRAWLER_COMMONS, Effect, Freshness, GOOGLE, KOSTER_1996, NUTCH, NotText, Outcome, Profile,
    RFC9309, YANDEX,
};
pub use crate::body::challenge::{challenge_header, challenger_of_header};
use crate::names::UnknownName;

/// Seconds since the beginning of 1970, UTC; from [`crate::limits::MIN_TIME`] to [`crate::limits::MAX_TIME`].
pub type Time = i64;

const DAY: Time = 24 * 3600;

/// The known facts about one fetch of a robots.txt.
///
/// The default represents a file in a folder: a good answer at an unknown time. The first URL determines the origin,
/// regardless of redirects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The status of the last answer, after all redirects that were followed; `None` counts as 200.
    pub status: Option<u16>,
    /// The number of redirects that were followed.
    pub redirects: u32,
    /// The fetch time.
    pub time: Option<Time>,
    /// The maximum age in seconds from its `Cache-Control`; see [`max_age`].
    pub max_age: Option<u64>,
    /// The media type from its `Content-Type`; see [`media_type`].
    pub media_type: Option<Box<str>>,
    /// The product that marked the response as a challenge page with a response header; see [`challenger_of_header`].
    /// Not needed if the body shows the product.
    pub challenger: Option<Challenger>,
    /// Why the body is truncated, if it is.
    pub truncated: Option<Truncation>,
    /// Whether there was no valid answer: an unknown host, no connection, or a connection that broke off.
    pub has_failed: bool,
}

/// Why a body is truncated, in the terms of the field WARC-Truncated (ISO 28500).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Truncation {
    /// The client stopped at a length limit.
    Length,
    /// The transfer took too long.
    Time,
    /// The connection broke.
    Disconnect,
    /// No reason is recorded.
    Unspecified,
}

reptile_engine::named!(Truncation, "a reason for a truncated body", as_str {
    Length => "length",
    Time => "time",
    Disconnect => "disconnect",
    Unspecified => "unspecified",
});

impl Truncation {
    /// Returns the reason with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Truncation> {
        Truncation::ALL.into_iter().find(|reason| reason.as_str() == name)
    }
}

reptile_engine::serde_as_text!(Truncation, "the reason of a truncation");

impl FromStr for Truncation {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Truncation, UnknownName> {
        let known = Truncation::ALL.map(Truncation::as_str);
        Truncation::from_name(name).ok_or_else(|| UnknownName::new("reason for a truncated body", name, known))
    }
}

/// Returns how many seconds a `Cache-Control` allows an answer to be kept: its `max-age`, or 0 for `no-store` and
/// `no-cache`.
///
/// Returns `None` if all are missing, or if the age is not a number.
///
/// Source: RFC 9111 sections 5.2.2 and 1.2.2, where a number that is too large counts as the maximum.
#[must_use]
pub fn max_age(cache_control: &str) -> Option<u64> {
    let mut found = None;
    for directive in cache_control.split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().trim_matches('"'));
        match &*name {
            // With a value, `no-cache` concerns single header fields.
            "no-store" | "no-cache" if value.is_empty() => return Some(0),
            "max-age" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                found = found.or(Some(value.parse().unwrap_or(u64::MAX)));
            }
            _ => {}
        }
    }
    found
}

/// Returns the media type in a `Content-Type`, in lower case and without parameters.
#[must_use]
pub fn media_type(content_type: &str) -> Box<str> {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().into()
}
