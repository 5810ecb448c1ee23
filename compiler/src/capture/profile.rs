//! Fetch profiles: a crawler's response to each outcome of fetching a robots.txt.
//!
//! The profiles are data, like the dialects in [`crate::dialect`]. The letter after a value names its source; letters
//! and tests are in `DIALECTS.md`. *I* marks our choice.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use reptile_engine::verdict::Cause;

use super::{Capture, DAY, Time, Truncation};
use crate::body::{BodyFormat, challenge, format, html, not_found};
use crate::dialect::{self, Dialect};
use crate::limits::{MAX_BODY_BYTES_500_KIB, MAX_TIME};
use crate::names::UnknownName;

/// A crawler's response to a fetch without rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Everything is allowed.
    Allow,
    /// Everything is disallowed until a later fetch.
    Disallow,
    /// The file is temporarily unreachable: see [`Profile::patience`].
    Unreachable,
}

/// A crawler's response to a body that is a web page, or not text at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotText {
    /// Reads the body like any other; a line that looks like a rule is one.
    Read,
    /// Removes the tags and reads the text.
    WithoutTags,
    /// Everything is allowed.
    Allow,
}

/// The period during which a good answer is fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// Seconds for an answer without `max-age`.
    pub default: Time,
    /// Maximum `max-age` that counts, in seconds, or `None` if `max-age` is ignored.
    pub max_age_up_to: Option<Time>,
}

/// A crawler's response to each outcome of a fetch.
///
/// The named profiles are constants ([`ALL`]). A custom profile starts as a copy of one of them ([`Profile::custom`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The name by which users choose the profile.
    pub name: Cow<'static, str>,
    /// Whether a 2xx other than 200 provides a file, like 200.
    pub any_2xx: bool,
    /// Maximum number of redirects followed, to any hosts.
    pub max_redirects: u32,
    /// The response to more redirects than that, and to a final status of 3xx.
    pub redirected: Effect,
    /// The response to 401 and 403.
    pub forbidden: Effect,
    /// The response to 429.
    pub too_many_requests: Effect,
    /// The response to any other 4xx.
    pub client_error: Effect,
    /// The response to 5xx.
    pub server_error: Effect,
    /// The response to any other status: 1xx, 600 and above, and a 2xx that provides no file.
    pub other_status: Effect,
    /// The response to a missing or incomplete answer.
    pub network_error: Effect,
    /// The response to a challenge page, which a firewall serves instead of the file with any status. A page that
    /// contains a rule does not count as one.
    pub challenge: Effect,
    /// The response to a body that is not text.
    pub not_text: NotText,
    /// The size in bytes above which a file is ignored and everything is allowed. A dialect may also truncate it.
    pub max_bytes: Option<usize>,
    /// How long a file may be unreachable, in seconds, before everything is allowed. Until then the last answer is
    /// kept, or everything is disallowed. Applies only to [`Effect::Unreachable`].
    pub patience: Time,
    /// Whether the last answer is kept even after that, so that everything is allowed only without one.
    pub keeps_last_answer: bool,
    /// Whether a 5xx status counts as 404 if the body says "not found": as its title, a heading or its whole text,
    /// within its first [`MAX_NOT_FOUND_BYTES`](crate::limits::MAX_NOT_FOUND_BYTES) bytes.
    pub reads_not_found: bool,
    /// How long an answer is fresh, or `None` if the crawler keeps no answers.
    pub freshness: Option<Freshness>,
}

/// Google's crawlers.
pub const GOOGLE: Profile = Profile {
    name: Cow::Borrowed("google"),
    any_2xx: true,                                                              // D
    max_redirects: 5,                                                           // D
    redirected: Effect::Allow,                                                  // D: as 404
    forbidden: Effect::Allow,                                                   // D
    too_many_requests: Effect::Unreachable,                                     // D
    client_error: Effect::Allow,                                                // D
    server_error: Effect::Unreachable,                                          // D
    other_status: Effect::Unreachable,                                          // I: no valid answer
    network_error: Effect::Unreachable,                                         // D
    challenge: Effect::Unreachable,                                             // I: the file itself has not been seen
    not_text: NotText::Read,                                                    // D
    max_bytes: None,                                                            // D: the rest is ignored
    patience: 30 * DAY,                                                         // D, Dnew
    keeps_last_answer: true,                                                    // D
    reads_not_found: true,                                                      // D; how it is detected I
    freshness: Some(Freshness { default: DAY, max_age_up_to: Some(MAX_TIME) }), // D
};

/// RFC 9309.
pub const RFC9309: Profile = Profile {
    name: Cow::Borrowed("rfc9309"),
    any_2xx: true,                                                         // R231
    max_redirects: 5,                                                      // R231
    redirected: Effect::Allow,                                             // R231: MAY
    forbidden: Effect::Allow,                                              // R231: MAY
    too_many_requests: Effect::Allow,                                      // R231: MAY
    client_error: Effect::Allow,                                           // R231: MAY
    server_error: Effect::Unreachable,                                     // R231
    other_status: Effect::Unreachable,                                     // I
    network_error: Effect::Unreachable,                                    // R231
    challenge: Effect::Unreachable,                                        // I
    not_text: NotText::Read,                                               // R2315
    max_bytes: None,                                                       // R25
    patience: 30 * DAY,                                                    // R231, its example
    keeps_last_answer: false,                                              // R231: MAY
    reads_not_found: false,                                                // R231
    freshness: Some(Freshness { default: DAY, max_age_up_to: Some(DAY) }), // R24
};

/// Yandex. Any answer other than 200 leaves the site open.
pub const YANDEX: Profile = Profile {
    name: Cow::Borrowed("yandex"),
    any_2xx: false,                          // Ysize
    max_redirects: 5,                        // I
    redirected: Effect::Allow,               // I
    forbidden: Effect::Allow,                // Ysize
    too_many_requests: Effect::Allow,        // Ysize
    client_error: Effect::Allow,             // Ysize
    server_error: Effect::Allow,             // Ysize
    other_status: Effect::Allow,             // Ysize
    network_error: Effect::Allow,            // I
    challenge: Effect::Allow,                // Ysize: no answer with 200, or not text
    not_text: NotText::Allow,                // Ysize
    max_bytes: Some(MAX_BODY_BYTES_500_KIB), // Ysize
    patience: 0,                             // unused: nothing is unreachable
    keeps_last_answer: false,
    reads_not_found: false,
    freshness: Some(Freshness { default: DAY, max_age_up_to: None }), // I
};

/// Apache Nutch with its default configuration.
pub const NUTCH: Profile = Profile {
    name: Cow::Borrowed("nutch"),
    any_2xx: false,                      // N
    max_redirects: 5,                    // N
    redirected: Effect::Allow,           // N
    forbidden: Effect::Allow,            // N: http.robots.403.allow
    too_many_requests: Effect::Disallow, // N: visits are postponed
    client_error: Effect::Allow,         // N
    server_error: Effect::Disallow,      // N: visits are postponed
    other_status: Effect::Allow,         // N; 600 and above I
    network_error: Effect::Allow,        // N
    challenge: Effect::Disallow,         // I: visits are postponed, as after 429
    not_text: NotText::WithoutTags,      // C, which reads its files
    max_bytes: None,                     // N
    patience: 0,                         // no copy is kept
    keeps_last_answer: false,
    reads_not_found: false,
    freshness: None, // N: for one run
};

/// Common Crawl's crawler CCBot, a fork of Nutch.
pub const COMMONCRAWL: Profile = Profile {
    name: Cow::Borrowed("commoncrawl"),
    any_2xx: false,                      // CC
    max_redirects: 5,                    // CC, CCfaq
    redirected: Effect::Allow,           // CC
    forbidden: Effect::Disallow,         // I: see DIALECTS.md
    too_many_requests: Effect::Disallow, // CC: visits are postponed
    client_error: Effect::Allow,         // CC
    server_error: Effect::Disallow,      // CC: visits are postponed
    other_status: Effect::Allow,         // CC
    network_error: Effect::Allow,        // CC
    challenge: Effect::Disallow,         // CCanubis: an error, no permission to crawl
    not_text: NotText::WithoutTags,      // C, which reads its files
    max_bytes: None,                     // CC: the fetcher cuts the rest off
    patience: 0,                         // no copy is kept
    keeps_last_answer: false,
    reads_not_found: false,
    freshness: None, // CC: for one segment
};

/// The library crawler-commons, which leaves fetching to its caller.
pub const CRAWLER_COMMONS: Profile = Profile {
    name: Cow::Borrowed("crawler-commons"),
    any_2xx: true,                    // C
    max_redirects: 5,                 // I: up to the caller
    redirected: Effect::Disallow,     // C: visits are postponed
    forbidden: Effect::Allow,         // C
    too_many_requests: Effect::Allow, // C
    client_error: Effect::Allow,      // C
    server_error: Effect::Disallow,   // C: visits are postponed
    other_status: Effect::Disallow,   // C: visits are postponed
    network_error: Effect::Disallow,  // I: up to the caller; like every failure other than 4xx
    challenge: Effect::Disallow,      // I: visits are postponed
    not_text: NotText::WithoutTags,   // C
    max_bytes: None,                  // C
    patience: 0,                      // no copy is kept
    keeps_last_answer: false,
    reads_not_found: false,
    freshness: None, // up to the caller
};

/// The 1996 draft.
pub const KOSTER_1996: Profile = Profile {
    name: Cow::Borrowed("koster-1996"),
    any_2xx: true,                       // K96
    max_redirects: 5,                    // I
    redirected: Effect::Disallow,        // I: postponed, like a failure
    forbidden: Effect::Disallow,         // K96
    too_many_requests: Effect::Disallow, // I: postponed
    client_error: Effect::Allow,         // K96 for 404; the rest I
    server_error: Effect::Disallow,      // K96: postponed
    other_status: Effect::Disallow,      // I
    network_error: Effect::Disallow,     // K96: postponed
    challenge: Effect::Disallow,         // I: like 401 and 403
    not_text: NotText::Read,             // I
    max_bytes: None,                     // K96
    patience: 0,                         // K96 keeps no copy
    keeps_last_answer: false,
    reads_not_found: false,
    freshness: Some(Freshness { default: 7 * DAY, max_age_up_to: None }), // K96, without Expires
};

/// Every profile, in the order shown to users.
pub const ALL: [&Profile; 7] = [&GOOGLE, &RFC9309, &YANDEX, &NUTCH, &COMMONCRAWL, &CRAWLER_COMMONS, &KOSTER_1996];

/// The meaning of one capture by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The file is unavailable for now. The meaning depends on time and on other captures.
    Unreachable(Cause),
    /// Everything is disallowed.
    Disallow(Cause),
    /// Everything is allowed.
    Allow(Cause),
    /// The capture's rules decide.
    Use,
}

impl Profile {
    /// Copies another profile under a new name. The caller then sets its fields.
    #[must_use]
    pub fn custom(name: impl Into<Cow<'static, str>>, base: &Profile) -> Profile {
        Profile { name: name.into(), ..base.clone() }
    }

    /// Returns the profile in [`ALL`] with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Profile> {
        ALL.into_iter().find(|profile| profile.name == name)
    }

    /// Returns the name by which users choose the profile.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Returns the default profile for a dialect. Custom dialects use Google's.
    #[must_use]
    pub fn of_dialect(dialect: &Dialect) -> &'static Profile {
        let table: [(&Dialect, &'static Profile); 9] = [
            (&dialect::GOOGLE_LIB, &GOOGLE),
            (&dialect::GOOGLE, &GOOGLE),
            (&dialect::RFC9309, &RFC9309),
            (&dialect::RFC9309_STRICT, &RFC9309),
            (&dialect::BING, &RFC9309), // I
            (&dialect::YANDEX, &YANDEX),
            (&dialect::YANDEX_2017, &YANDEX),
            (&dialect::KOSTER_1996, &KOSTER_1996),
            (&dialect::KOSTER_1994, &KOSTER_1996), // I
        ];
        table.into_iter().find(|(known, _)| known.name == dialect.name).map_or(&GOOGLE, |(_, profile)| profile)
    }

    /// Returns the outcome of a capture. `body` is the body as fetched; only its length and beginning matter.
    #[must_use]
    pub fn outcome(&self, capture: &Capture, body: &[u8]) -> Outcome {
        let of = |effect, cause| match effect {
            Effect::Allow => Outcome::Allow(cause),
            Effect::Disallow => Outcome::Disallow(cause),
            Effect::Unreachable => Outcome::Unreachable(cause),
        };
        let is_broken = matches!(capture.truncated, Some(Truncation::Time | Truncation::Disconnect));
        if capture.has_failed || is_broken {
            return of(self.network_error, Cause::Network);
        }
        if capture.redirects > self.max_redirects {
            return of(self.redirected, Cause::Redirects);
        }
        let status = capture.status.unwrap_or(200);
        // Checked before the status, which depends on the firewall, not on the file.
        if !matches!(status, 300..=399) {
            let challenger = capture.challenger.or_else(|| challenge::challenger_of(body));
            if let Some(challenger) = challenger.filter(|_| !challenge::has_rule(&self.readable(capture, body))) {
                return of(self.challenge, Cause::Challenge(challenger));
            }
        }
        let mut cause = Cause::Status(status);
        let effect = match status {
            200 => None,
            201..=299 if self.any_2xx => None,
            300..=399 => Some(self.redirected),
            401 | 403 => Some(self.forbidden),
            429 => Some(self.too_many_requests),
            400..=499 => Some(self.client_error),
            500..=599 if self.reads_not_found && not_found::says_not_found(body) => {
                cause = Cause::NotFoundPage(status);
                Some(self.client_error)
            }
            500..=599 => Some(self.server_error),
            _ => Some(self.other_status),
        };
        if let Some(effect) = effect {
            return of(effect, cause);
        }
        if self.not_text == NotText::Allow && !is_text(capture.media_type.as_deref(), body) {
            return Outcome::Allow(Cause::NotText);
        }
        if self.max_bytes.is_some_and(|most| body.len() > most) {
            return Outcome::Allow(Cause::TooLarge);
        }
        Outcome::Use
    }

    /// Returns the part of a body that is read: only complete lines if it was cut, and no tags if the profile removes
    /// them.
    ///
    /// Keeps line numbers. Takes linear time; copies only a web page whose tags are removed.
    #[must_use]
    pub fn readable<'b>(&self, capture: &Capture, body: &'b [u8]) -> Cow<'b, [u8]> {
        let body = match capture.truncated {
            Some(_) => {
                let end = memchr::memrchr2(b'\n', b'\r', body);
                &body[..end.map_or(0, |end| end + 1)]
            }
            None => body,
        };
        let tags = self.not_text == NotText::WithoutTags
            && (capture.media_type.as_deref() == Some("text/html") || html::has_document_tag(body));
        if tags { html::without_tags(body).into() } else { body.into() }
    }

    /// Returns whether an answer fetched at `time` is no longer fresh at `at`.
    pub(super) fn is_stale(&self, time: Option<Time>, max_age: Option<u32>, at: Option<Time>) -> bool {
        let (Some(freshness), Some(time), Some(at)) = (&self.freshness, time, at) else { return false };
        let allowed = freshness.max_age_up_to.zip(max_age).map(|(most, age)| most.min(Time::from(age)));
        at.saturating_sub(time) > allowed.unwrap_or(freshness.default)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl FromStr for Profile {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Profile, UnknownName> {
        let known = || ALL.map(|profile| profile.as_str());
        Profile::from_name(name).cloned().ok_or_else(|| UnknownName::new("fetch profile", name, known()))
    }
}

/// Returns whether a body is text and not a web page, judging by the server's media type and the body.
fn is_text(media_type: Option<&str>, body: &[u8]) -> bool {
    let by_type = media_type.is_none_or(|media_type| media_type.starts_with("text/") && media_type != "text/html");
    by_type && !format::document_of(body).is_some_and(BodyFormat::has_tags)
}
