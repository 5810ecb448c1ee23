//! The captures of one origin that can still count, and the policy that they determine.

use reptile_engine::verdict::{Cause, PolicySource};

use super::profile::{Outcome, Profile};
use super::{Capture, DAY, Time};

/// The hash for an unknown body.
pub(super) const UNKNOWN_BODY: u64 = 0;

/// The data that a builder keeps about a capture, for comparison with others for its origin.
///
/// The greater of two captures counts. A later fetch is greater, and a known time is greater than an unknown one. At
/// the same time a capture with rules is greater, and then the content decides, so that input order never matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeptCapture {
    /// The fetch time.
    pub time: Option<Time>,
    /// The outcome of the capture by itself.
    pub outcome: Outcome,
    /// A number that depends only on the body.
    pub body_hash: u64,
    /// The `max-age` in seconds.
    pub max_age: Option<u32>,
    /// The response status, for reports.
    pub status: Option<u16>,
    /// The caller's number for the rules; the same for equal bodies.
    pub rules: u32,
}

impl KeptCapture {
    /// Creates the record for a capture with this outcome.
    ///
    /// `body_hash` depends only on its body, and `rules` is the caller's number for its rules.
    #[must_use]
    pub fn new(capture: &Capture, outcome: Outcome, body_hash: u64, rules: u32) -> KeptCapture {
        let max_age = capture.max_age.map(|age| u32::try_from(age).unwrap_or(u32::MAX));
        let Capture { time, status, .. } = *capture;
        KeptCapture { time, outcome, body_hash, max_age, status, rules }
    }

    pub(crate) fn is_failure(&self) -> bool {
        matches!(self.outcome, Outcome::Unreachable(_))
    }

    /// Returns whether only a body hash decides between two captures: both have rules and the same time.
    pub(super) fn is_tied_with(&self, other: &KeptCapture) -> bool {
        let (own, others) = (self.body_hash, other.body_hash);
        let have_rules = (self.outcome, other.outcome) == (Outcome::Use, Outcome::Use);
        self.time == other.time && have_rules && own != others && own != UNKNOWN_BODY && others != UNKNOWN_BODY
    }
}

/// The captures of one origin that can still count.
///
/// Memory does not grow with the captures, except for failure times.
#[derive(Clone, Debug, Default)]
pub(super) struct LatestCaptures {
    pub(super) newest: Option<KeptCapture>,
    /// Present only after a failure, which is rare. Boxed because there may be very many origins.
    pub(super) failures: Option<Box<Failures>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Failures {
    /// The greatest capture with an answer, if the greatest of all is a failure.
    pub(super) answered: Option<KeptCapture>,
    pub(super) times: Vec<Time>,
}

/// The reason that a capture does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Discarded {
    /// A later capture counts, or another one with the same time.
    Superseded,
    /// The fetch failed, and the previous answer is kept.
    Failed,
    /// It was fetched after the set's time.
    TooLate,
}

impl Discarded {
    /// Returns the text for reports.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Discarded::Superseded => "superseded by another capture, by time or content",
            Discarded::Failed => "failed, the answer before it is kept",
            Discarded::TooLate => "fetched after the time asked for",
        }
    }
}

/// The combined meaning of an origin's captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The origin's policy source.
    pub source: PolicySource,
    /// The number of the capture whose rules decide, if rules decide.
    pub rules: Option<u32>,
    /// The deciding capture.
    pub decider: KeptCapture,
    /// Whether the deciding capture is no longer fresh.
    pub is_stale: bool,
    /// A previously kept capture that does not count, and the reason.
    pub discarded: Option<(KeptCapture, Discarded)>,
}

impl LatestCaptures {
    pub(super) fn add(&mut self, kept: KeptCapture) -> [Option<KeptCapture>; 2] {
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

    pub(super) fn decide(&self, profile: &Profile, at: Option<Time>) -> Option<Decision> {
        let newest = self.newest?;
        let decision = |outcome: Outcome, of: KeptCapture, discarded| {
            let (source, rules) = match outcome {
                Outcome::Use => (PolicySource::Rules, Some(of.rules)),
                Outcome::Allow(cause) => (PolicySource::AllowAll(cause), None),
                Outcome::Disallow(cause) | Outcome::Unreachable(cause) => (PolicySource::DisallowAll(cause), None),
            };
            Decision { source, rules, decider: of, is_stale: profile.is_stale(of.time, of.max_age, at), discarded }
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
            _ if is_over && !(profile.keeps_last_answer && answered.is_some()) => {
                let discarded = answered.map(|answered| (answered, Discarded::Superseded));
                decision(Outcome::Allow(Cause::Unreachable(days)), newest, discarded)
            }
            Some(answered) => {
                let kept = decision(answered.outcome, answered, Some((newest, Discarded::Failed)));
                let source =
                    if answered.outcome == Outcome::Use { PolicySource::LastGoodCopy(cause) } else { kept.source };
                // A copy may be kept past its freshness while there is no other.
                Decision { source, is_stale: false, ..kept }
            }
            None => decision(Outcome::Disallow(cause), newest, None),
        })
    }
}
