//! Captures as a set holds them, so that further ones can be added later.

use reptile_engine::format::captures::{CaptureHistory, CaptureRecord, FetchOutcome};
use reptile_engine::format::reading::Reading;

use super::choice::Failures;
use super::{Captures, Decision, Discarded, KeptCapture, Outcome, Profile, Time};

impl Outcome {
    fn stored(self) -> FetchOutcome {
        match self {
            Outcome::Unreachable(cause) => FetchOutcome::Unreachable(cause),
            Outcome::Disallow(cause) => FetchOutcome::DisallowAll(cause),
            Outcome::Allow(cause) => FetchOutcome::AllowAll(cause),
            Outcome::Use => FetchOutcome::Rules,
        }
    }

    fn from_stored(outcome: FetchOutcome) -> Option<Outcome> {
        match outcome {
            FetchOutcome::Unreachable(cause) => Some(Outcome::Unreachable(cause)),
            FetchOutcome::DisallowAll(cause) => Some(Outcome::Disallow(cause)),
            FetchOutcome::AllowAll(cause) => Some(Outcome::Allow(cause)),
            FetchOutcome::Rules => Some(Outcome::Use),
            _ => None,
        }
    }
}

impl KeptCapture {
    /// The capture as a set holds it. Its `rules` are the policy that holds them, in whatever terms.
    fn stored(self) -> CaptureRecord {
        let KeptCapture { time, outcome, body_hash, max_age, status, rules } = self;
        let policy = Some(rules).filter(|_| outcome == Outcome::Use);
        CaptureRecord { time, outcome: outcome.stored(), body_hash, max_age, status, policy }
    }

    fn from_stored(record: CaptureRecord) -> Option<KeptCapture> {
        let CaptureRecord { time, outcome, body_hash, max_age, status, policy } = record;
        let outcome = Outcome::from_stored(outcome)?;
        Some(KeptCapture { time, outcome, body_hash, max_age, status, rules: policy.unwrap_or(u32::MAX) })
    }
}

impl Captures {
    /// What a set keeps of these captures for an origin of this decision; `None` for a file that was fetched well at a time
    /// that is not known, which says nothing beyond its policy.
    ///
    /// The last answer is left out when its time is over and the profile no longer keeps it: everything is allowed from then on, whatever it said, and a set for
    /// a later time never goes back to it. Failures before the last answer are left out, as no decision counts them.
    #[must_use]
    pub fn stored(&self, decision: &Decision) -> Option<CaptureHistory> {
        let newest = self.newest?;
        let failures = self.failures.as_deref().filter(|_| newest.is_failure());
        let answered = failures.and_then(|failures| failures.answered);
        let since = answered.and_then(|answered| answered.time);
        let times = failures.map(|failures| &failures.times[..]).unwrap_or_default().iter().copied();
        let mut earlier_failures: Vec<Time> =
            times.filter(|&time| Some(time) > since && Some(time) < newest.time).collect();
        earlier_failures.sort_unstable();
        earlier_failures.dedup();
        let still_holds = matches!(decision.discarded, Some((_, Discarded::Failed)));
        let answered = answered.filter(|_| still_holds).map(KeptCapture::stored);
        let history = CaptureHistory { newest: newest.stored(), answered, earlier_failures };
        Some(history).filter(|history| !history.is_plain())
    }

    /// The captures that a set has kept. Their `rules` are its policies, by whatever names the history has for them.
    ///
    /// `None` if the history has an outcome that this version does not know.
    #[must_use]
    pub fn from_stored(history: &CaptureHistory) -> Option<Captures> {
        let newest = KeptCapture::from_stored(history.newest)?;
        let mut captures = Captures { newest: Some(newest), failures: None };
        if newest.is_failure() {
            let mut times = history.earlier_failures.clone();
            times.extend(newest.time);
            let answered = match history.answered {
                Some(answered) => Some(KeptCapture::from_stored(answered)?),
                None => None,
            };
            captures.failures = Some(Box::new(Failures { answered, times }));
        }
        Some(captures)
    }
}

impl Profile {
    /// What a set says of its reading: this profile, a dialect's name and the time that the set is for.
    #[must_use]
    pub fn reading<'a>(&'a self, dialect: &'a str, at: Option<Time>) -> Reading<'a> {
        Reading {
            dialect,
            profile: &self.name,
            at,
            freshness: self.freshness.map(|freshness| freshness.default),
            max_age_cap: self.freshness.and_then(|freshness| freshness.max_age_up_to),
            patience: self.patience,
        }
    }
}
