//! What a capture of a robots.txt means: from status, redirects, errors and time to rules, or to what holds without them.
//!
//! The profiles are data, as the dialects are in [`crate::dialect`]: each says what one crawler makes of each outcome
//! of a fetch. The letter behind a value names its source; letters and tests are in `DIALECTS.md`. *I* is our choice.
//! Which of several captures of an origin counts is decided here too ([`Captures`]), by their times and never by the
//! order in which they come. Nothing here reads a clock: the time that a set is for is given.

mod stored;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use reptile_engine::verdict::{Cause, PolicySource};

use crate::dialect::{self, Dialect};
use crate::limits::{MAX_BODY_BYTES_500_KIB, MAX_TIME};
use crate::names::UnknownName;

/// Seconds since the beginning of 1970, UTC; from [`crate::limits::MIN_TIME`] to [`MAX_TIME`].
pub type Time = i64;

const HOUR: Time = 3600;
const DAY: Time = 24 * HOUR;

/// What is known of one fetch of a robots.txt, whatever it was read from. The default is a file that somebody has put
/// into a folder: fetched well, at a time that is not known.
///
/// The origin is that of the first URL, however often the fetch was redirected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The status of the last answer, behind all redirects that were followed; `None` is taken as 200.
    pub status: Option<u16>,
    /// How many redirects were followed.
    pub redirects: u32,
    /// When it was fetched.
    pub time: Option<Time>,
    /// For how many seconds the answer may be kept, by its `Cache-Control`; see [`max_age`].
    pub max_age: Option<u64>,
    /// The media type that its `Content-Type` names; see [`media_type`].
    pub media_type: Option<Box<str>>,
    /// Why the body is not whole, if it is not.
    pub truncated: Option<Truncation>,
    /// Whether there was no answer, or none that could be understood: no such name, no connection, broken off.
    pub has_failed: bool,
}

/// Why a body is not whole. The words are those of the field WARC-Truncated (ISO 28500).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Truncation {
    /// Whoever fetched it stopped at a length.
    Length,
    /// It took too long.
    Time,
    /// The connection broke.
    Disconnect,
    /// Nobody knows.
    Unspecified,
}

impl Truncation {
    /// The reason with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Truncation> {
        match name {
            "length" => Some(Truncation::Length),
            "time" => Some(Truncation::Time),
            "disconnect" => Some(Truncation::Disconnect),
            "unspecified" => Some(Truncation::Unspecified),
            _ => None,
        }
    }
}

/// The seconds that a `Cache-Control` allows an answer to be kept: those of `max-age`, 0 for `no-store` and `no-cache`.
/// `None` where it says nothing that can be understood.
///
/// Source: RFC 9111 sections 5.2.2 and 1.2.2: a number that is too large is the largest.
#[must_use]
pub fn max_age(cache_control: &str) -> Option<u64> {
    let mut found = None;
    for directive in cache_control.split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().trim_matches('"'));
        match &*name {
            // With a value, `no-cache` is about single header fields.
            "no-store" | "no-cache" if value.is_empty() => return Some(0),
            "max-age" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                found = found.or(Some(value.parse().unwrap_or(u64::MAX)));
            }
            _ => {}
        }
    }
    found
}

/// The media type of a `Content-Type`, in lower case and without parameters.
#[must_use]
pub fn media_type(content_type: &str) -> Box<str> {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().into()
}

/// What a crawler makes of one kind of outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Everything is allowed.
    Allow,
    /// Everything is disallowed, until a later fetch.
    Disallow,
    /// The file is out of reach for the time being: see [`Profile::patience`].
    Unreachable,
}

/// What a crawler makes of a body that is HTML, or something else than text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotText {
    /// It is read as any other; what looks like a rule is one.
    Read,
    /// Its tags are taken out, and it is read.
    WithoutTags,
    /// Everything is allowed.
    Allow,
}

/// How long a good answer is fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// Seconds, where the answer does not say.
    pub default: Time,
    /// The most seconds that its `max-age` may make of it; `None` if it is not looked at.
    pub max_age_up_to: Option<Time>,
}

/// What one crawler makes of each outcome of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The name by which users choose it.
    pub name: Cow<'static, str>,
    /// Whether 2xx other than 200 brings a file, as 200 does.
    pub any_2xx: bool,
    /// How many redirects are followed, whatever hosts they lead to.
    pub max_redirects: u32,
    /// What more redirects mean, and any status of 3xx at the end.
    pub redirected: Effect,
    /// 401 and 403.
    pub forbidden: Effect,
    /// 429.
    pub too_many_requests: Effect,
    /// The rest of 4xx.
    pub client_error: Effect,
    /// 5xx.
    pub server_error: Effect,
    /// Every other status: 1xx, 600 and above, and 2xx that brings no file.
    pub other_status: Effect,
    /// No answer, or one that broke off.
    pub network_error: Effect,
    /// A body that is no text.
    pub not_text: NotText,
    /// Bytes above which a file counts for nothing and everything is allowed. A dialect may also cut.
    pub max_bytes: Option<usize>,
    /// How long a file may be out of reach, in seconds, with the last answer kept or everything disallowed; behind
    /// that everything is allowed. Only where an effect is [`Effect::Unreachable`].
    pub patience: Time,
    /// How long an answer is fresh; `None` if the crawler keeps none.
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
    not_text: NotText::Read,                                                    // D
    max_bytes: None,                                                            // D: the rest is ignored
    patience: 30 * DAY,                                                         // D, Dnew
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
    not_text: NotText::Read,                                               // R2315
    max_bytes: None,                                                       // R25
    patience: 30 * DAY,                                                    // R231, as its example
    freshness: Some(Freshness { default: DAY, max_age_up_to: Some(DAY) }), // R24
};

/// Yandex: whatever is not answered with 200 leaves the site open.
pub const YANDEX: Profile = Profile {
    name: Cow::Borrowed("yandex"),
    any_2xx: false,                                                   // Ysize
    max_redirects: 5,                                                 // I
    redirected: Effect::Allow,                                        // I
    forbidden: Effect::Allow,                                         // Ysize
    too_many_requests: Effect::Allow,                                 // Ysize
    client_error: Effect::Allow,                                      // Ysize
    server_error: Effect::Allow,                                      // Ysize
    other_status: Effect::Allow,                                      // Ysize
    network_error: Effect::Allow,                                     // I
    not_text: NotText::Allow,                                         // Ysize
    max_bytes: Some(MAX_BODY_BYTES_500_KIB),                          // Ysize
    patience: 0,                                                      // nothing is out of reach
    freshness: Some(Freshness { default: DAY, max_age_up_to: None }), // I
};

/// Apache Nutch as it is configured by default.
pub const NUTCH: Profile = Profile {
    name: Cow::Borrowed("nutch"),
    any_2xx: false,                      // N
    max_redirects: 5,                    // N
    redirected: Effect::Allow,           // N
    forbidden: Effect::Allow,            // N: http.robots.403.allow
    too_many_requests: Effect::Disallow, // N: visits are put off
    client_error: Effect::Allow,         // N
    server_error: Effect::Disallow,      // N: visits are put off
    other_status: Effect::Allow,         // N; 600 and above I
    network_error: Effect::Allow,        // N
    not_text: NotText::WithoutTags,      // C, which reads its files
    max_bytes: None,                     // N
    patience: 0,                         // it keeps no copy
    freshness: None,                     // N: for one run
};

/// The library crawler-commons, for whose caller it is to fetch.
pub const CRAWLER_COMMONS: Profile = Profile {
    name: Cow::Borrowed("crawler-commons"),
    any_2xx: true,                    // C
    max_redirects: 5,                 // I: the caller's
    redirected: Effect::Disallow,     // C: visits are put off
    forbidden: Effect::Allow,         // C
    too_many_requests: Effect::Allow, // C
    client_error: Effect::Allow,      // C
    server_error: Effect::Disallow,   // C: visits are put off
    other_status: Effect::Disallow,   // C: visits are put off
    network_error: Effect::Disallow,  // I: the caller's; as every failure that is no status of 4xx
    not_text: NotText::WithoutTags,   // C
    max_bytes: None,                  // C
    patience: 0,                      // it keeps no copy
    freshness: None,                  // the caller's
};

/// The draft of 1996.
pub const KOSTER_1996: Profile = Profile {
    name: Cow::Borrowed("koster-1996"),
    any_2xx: true,                                                        // K96
    max_redirects: 5,                                                     // I
    redirected: Effect::Disallow,                                         // I: puts off, as a failure
    forbidden: Effect::Disallow,                                          // K96
    too_many_requests: Effect::Disallow,                                  // I: puts off
    client_error: Effect::Allow,                                          // K96 for 404; the rest I
    server_error: Effect::Disallow,                                       // K96: puts off
    other_status: Effect::Disallow,                                       // I
    network_error: Effect::Disallow,                                      // K96: puts off
    not_text: NotText::Read,                                              // I
    max_bytes: None,                                                      // K96
    patience: 0,                                                          // K96 keeps no copy
    freshness: Some(Freshness { default: 7 * DAY, max_age_up_to: None }), // K96, without Expires
};

/// Every profile, in the order in which they are listed to users.
pub const ALL: [&Profile; 6] = [&GOOGLE, &RFC9309, &YANDEX, &NUTCH, &CRAWLER_COMMONS, &KOSTER_1996];

/// What one capture comes to by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// There is no file for now; what that means depends on time and on other captures.
    Unreachable(Cause),
    /// Everything is disallowed.
    Disallow(Cause),
    /// Everything is allowed.
    Allow(Cause),
    /// Its rules decide.
    Use,
}

impl Profile {
    /// A copy of another profile under a new name, whose fields the caller then sets.
    #[must_use]
    pub fn custom(name: impl Into<Cow<'static, str>>, base: &Profile) -> Profile {
        Profile { name: name.into(), ..base.clone() }
    }

    /// The named profile with this name, one of [`ALL`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Profile> {
        ALL.into_iter().find(|profile| profile.name == name)
    }

    /// The name by which users choose the profile.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The profile that goes with a dialect, where none is chosen; for a custom dialect that of Google.
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

    /// What a capture comes to. `body` is as it was fetched; only its length and its beginning matter.
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
        let effect = match status {
            200 => None,
            201..=299 if self.any_2xx => None,
            300..=399 => Some(self.redirected),
            401 | 403 => Some(self.forbidden),
            429 => Some(self.too_many_requests),
            400..=499 => Some(self.client_error),
            500..=599 => Some(self.server_error),
            _ => Some(self.other_status),
        };
        if let Some(effect) = effect {
            return of(effect, Cause::Status(status));
        }
        if self.not_text == NotText::Allow && !is_text(capture.media_type.as_deref(), body) {
            return Outcome::Allow(Cause::NotText);
        }
        if self.max_bytes.is_some_and(|most| body.len() > most) {
            return Outcome::Allow(Cause::TooLarge);
        }
        Outcome::Use
    }

    /// The part of a body that is read, and how: its whole lines if it was cut, without tags where the profile takes
    /// them out. The numbers of lines stay. Linear; copies only a body that has tags to be taken out.
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
            && (capture.media_type.as_deref() == Some("text/html") || has_html_tag(body));
        if tags { without_tags(body).into() } else { body.into() }
    }

    /// Whether an answer that was fetched at `time` is no longer fresh at `at`.
    fn is_stale(&self, time: Option<Time>, max_age: Option<u32>, at: Option<Time>) -> bool {
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

/// Whether a body is text and no HTML: by the type that the server gave, and by how it begins.
fn is_text(media_type: Option<&str>, body: &[u8]) -> bool {
    let by_type = media_type.is_none_or(|media_type| media_type.starts_with("text/") && media_type != "text/html");
    let start = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start();
    let begins = |with: &[u8]| start.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    by_type && !begins(b"<!doctype") && !begins(b"<html") && !begins(b"<head") && !begins(b"<?xml")
}

/// Whether `<html>`, `<head>` or `<body>` is anywhere, white space in front of the `>` included.
fn has_html_tag(body: &[u8]) -> bool {
    memchr::memchr_iter(b'<', body).any(|at| {
        let tag = body.get(at + 1..at + 5).unwrap_or_default();
        let is_name = [b"html", b"head", b"body"].into_iter().any(|name| tag.eq_ignore_ascii_case(name));
        // No longer than a line of any use, so that the whole stays linear.
        let behind = body.get(at + 5..).unwrap_or_default();
        is_name && behind.iter().take(64).find(|byte| !byte.is_ascii_whitespace()) == Some(&b'>')
    })
}

/// A body with all that stands between `<` and `>` in one line taken out.
fn without_tags(body: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(body.len());
    for line in body.split_inclusive(|&byte| byte == b'\n' || byte == b'\r') {
        // Behind the last `>` of the line nothing can be a tag.
        let tags_end = memchr::memrchr(b'>', line).unwrap_or(0);
        let mut rest = line;
        while let Some(start) = memchr::memchr(b'<', rest).filter(|start| start + line.len() - rest.len() < tags_end) {
            // `<>` is no tag.
            let is_tag = rest.get(start + 1) != Some(&b'>');
            kept.extend_from_slice(&rest[..start + usize::from(!is_tag)]);
            let end = memchr::memchr(b'>', &rest[start..]).map_or(rest.len(), |end| start + end + 1);
            let end = if is_tag { end } else { start + 1 };
            rest = &rest[end..];
        }
        kept.extend_from_slice(rest);
    }
    kept
}

/// A capture as far as it matters beside others of its origin.
///
/// Of two captures the greater one counts: the one fetched later, a time that is known before one that is not; at the
/// same time the one with rules, and then whichever their content says, so that the order of input never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeptCapture {
    /// When it was fetched.
    pub time: Option<Time>,
    /// What it comes to.
    pub outcome: Outcome,
    /// A number that depends on its body only.
    pub body_hash: u64,
    /// For how many seconds it may be kept, by its own word.
    pub max_age: Option<u32>,
    /// The status that it came with, for reports.
    pub status: Option<u16>,
    /// The number of its rules, whatever that means to who asks; the same for equal bodies.
    pub rules: u32,
}

impl KeptCapture {
    fn is_failure(&self) -> bool {
        matches!(self.outcome, Outcome::Unreachable(_))
    }
}

/// The captures of one origin, as they come. Keeps what can still count: memory does not grow with their number, but
/// for the times of failures.
#[derive(Clone, Debug, Default)]
pub struct Captures {
    /// The greatest.
    newest: Option<KeptCapture>,
    /// Only where any has failed, which is rare, and there may be very many origins.
    failures: Option<Box<Failures>>,
}

#[derive(Clone, Debug, Default)]
struct Failures {
    /// The greatest that is an answer, if the greatest of all is none.
    answered: Option<KeptCapture>,
    times: Vec<Time>,
}

/// Why a capture does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Discarded {
    /// A later one does, or another of the same time.
    Superseded,
    /// It failed, and the answer before it is kept.
    Failed,
    /// It was fetched behind the time that the set is for.
    TooLate,
}

impl Discarded {
    /// The reason, as reports give it.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Discarded::Superseded => "there is a later or a better one",
            Discarded::Failed => "failed, the answer before it is kept",
            Discarded::TooLate => "fetched after the time asked for",
        }
    }
}

/// What the captures of an origin come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What holds for the origin.
    pub source: PolicySource,
    /// The capture whose rules decide, where rules do.
    pub rules: Option<u32>,
    /// Whether what decides is no longer fresh.
    pub is_stale: bool,
    /// A capture that does not count though it was kept up to now, and why.
    pub discarded: Option<(KeptCapture, Discarded)>,
}

impl Captures {
    /// Takes another capture. Returns those that can no longer count, up to two.
    pub fn add(&mut self, kept: KeptCapture) -> [Option<KeptCapture>; 2] {
        let is_newest = self.newest.is_none_or(|newest| kept > newest);
        if kept.is_failure() {
            let failures = self.failures.get_or_insert_default();
            failures.times.extend(kept.time);
            if !is_newest {
                return [Some(kept), None];
            }
            let before = self.newest.replace(kept);
            return match before {
                Some(newest) if newest.is_failure() => [Some(newest), None],
                newest => [None, std::mem::replace(&mut failures.answered, newest)],
            };
        }
        let answered = self.failures.as_mut().map(|failures| &mut failures.answered);
        if is_newest {
            return [self.newest.replace(kept), answered.and_then(Option::take)];
        }
        match (answered, self.newest.is_some_and(|newest| newest.is_failure())) {
            (Some(answered), true) if answered.is_none_or(|answered| kept > answered) => [answered.replace(kept), None],
            _ => [Some(kept), None],
        }
    }

    /// What they come to at a time. None has been added that was fetched behind it.
    #[must_use]
    pub fn decide(&self, profile: &Profile, at: Option<Time>) -> Option<Decision> {
        let newest = self.newest?;
        let decision = |outcome: Outcome, of: KeptCapture, discarded| {
            let (source, rules) = match outcome {
                Outcome::Use => (PolicySource::Rules, Some(of.rules)),
                Outcome::Allow(cause) => (PolicySource::AllowAll(cause), None),
                Outcome::Disallow(cause) | Outcome::Unreachable(cause) => (PolicySource::DisallowAll(cause), None),
            };
            Decision { source, rules, is_stale: profile.is_stale(of.time, of.max_age, at), discarded }
        };
        let Outcome::Unreachable(cause) = newest.outcome else {
            return Some(decision(newest.outcome, newest, None));
        };
        let failures = self.failures.as_deref();
        let answered = failures.and_then(|failures| failures.answered);
        let since = answered.and_then(|answered| answered.time);
        let times = failures.map(|failures| &failures.times[..]).unwrap_or_default().iter();
        let first_failure = times.copied().filter(|&time| since.is_none_or(|since| time > since)).min();
        let is_over = first_failure.zip(at).is_some_and(|(first, at)| at.saturating_sub(first) > profile.patience);
        let days = u16::try_from(profile.patience / DAY).unwrap_or(u16::MAX);
        Some(match answered {
            _ if is_over => {
                let discarded = answered.map(|answered| (answered, Discarded::Superseded));
                decision(Outcome::Allow(Cause::Unreachable(days)), newest, discarded)
            }
            Some(answered) => {
                let kept = decision(answered.outcome, answered, Some((newest, Discarded::Failed)));
                let source =
                    if answered.outcome == Outcome::Use { PolicySource::LastGoodCopy(cause) } else { kept.source };
                // A copy may be kept for longer than it is fresh, while there is no other.
                Decision { source, is_stale: false, ..kept }
            }
            None => decision(Outcome::Disallow(cause), newest, None),
        })
    }
}
