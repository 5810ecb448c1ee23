//! The stored form of captures. More captures can be added to it later.

use reptile_engine::format::captures::StoredCaptures;
use reptile_engine::format::histories::{CaptureHistory, CaptureRecord, FetchOutcome};
use reptile_engine::format::reading::Interpretation;
use reptile_engine::format::timelines::{StoredSpan, Timeline};
use reptile_engine::verdict::{Cause, PolicySource};

use super::choice::KeptCaptures;
use super::latest::{Failures, LatestCaptures, UNKNOWN_BODY};
use super::timeline::AllCaptures;
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
    /// Returns the capture's stored form. `name` numbers a policy.
    fn stored(self, name: &mut impl FnMut(PolicySource, Option<u32>) -> u32) -> CaptureRecord {
        let KeptCapture { time, outcome, body_hash, max_age, status, rules } = self;
        let policy = (outcome == Outcome::Use).then(|| name(PolicySource::Rules, Some(rules)));
        CaptureRecord { time, outcome: outcome.stored(), body_hash, max_age, status, policy }
    }

    fn from_stored(record: CaptureRecord) -> Option<KeptCapture> {
        let CaptureRecord { time, outcome, body_hash, max_age, status, policy } = record;
        let outcome = Outcome::from_stored(outcome)?;
        Some(KeptCapture { time, outcome, body_hash, max_age, status, rules: policy.unwrap_or(u32::MAX) })
    }
}

impl KeptCapture {
    /// Creates a successful capture for which only the rules are known, by the caller's number.
    #[must_use]
    pub fn plain(rules: u32) -> KeptCapture {
        KeptCapture { time: None, outcome: Outcome::Use, body_hash: UNKNOWN_BODY, max_age: None, status: None, rules }
    }

    /// Returns whether this is a successful capture for which only the rules and the body are known.
    fn is_plain(&self) -> bool {
        let KeptCapture { time, outcome, max_age, status, .. } = *self;
        (time, outcome, max_age, status) == (None, Outcome::Use, None, None)
    }

    /// Returns whether a set cannot determine which of two captures counts: neither has a time, both have rules, and
    /// one body is no longer known. Two plain files with the same rules are equal.
    fn is_undecided(&self, other: &KeptCapture) -> bool {
        let is_unknown = |kept: &KeptCapture| kept.is_plain() && kept.body_hash == UNKNOWN_BODY;
        let both = [self, other];
        both.iter().all(|kept| (kept.time, kept.outcome) == (None, Outcome::Use))
            && both.iter().any(|kept| is_unknown(kept))
            && !(both.iter().all(|kept| kept.is_plain()) && self.rules == other.rules)
    }
}

impl Captures {
    /// Adds stored captures for the same origin; both must number rules in the same way.
    ///
    /// Returns the captures that can no longer count. Returns `None` and changes nothing if the stored captures do not
    /// determine which one counts, because a set omits body hashes for files without a time.
    pub fn add_stored(&mut self, stored: &Captures) -> Option<Vec<KeptCapture>> {
        let mut timeless = stored.all().filter(|kept| kept.time.is_none());
        if timeless.any(|kept| self.all().any(|own| own.is_undecided(kept))) {
            return None;
        }
        // If the body of one equal file is unknown, so is the greater one's.
        if stored.all().any(|kept| kept.is_plain() && kept.body_hash == UNKNOWN_BODY) {
            self.forget_bodies();
        }
        let dropped = stored.all().flat_map(|&kept| self.add(kept)).flatten().collect();
        if let (KeptCaptures::Latest(own), KeptCaptures::Latest(LatestCaptures { failures: Some(failures), .. })) =
            (&mut self.0, &stored.0)
        {
            own.failures.get_or_insert_default().times.extend(&failures.times);
        }
        Some(dropped)
    }

    /// Forgets plain files' bodies.
    fn forget_bodies(&mut self) {
        let forget = |own: &mut KeptCapture| {
            if own.is_plain() {
                own.body_hash = UNKNOWN_BODY;
            }
        };
        match &mut self.0 {
            KeptCaptures::All(AllCaptures(all)) => all.first_mut().into_iter().for_each(forget),
            KeptCaptures::Latest(LatestCaptures { newest, failures }) => {
                let answered = failures.as_mut().and_then(|failures| failures.answered.as_mut());
                newest.as_mut().into_iter().chain(answered).for_each(forget);
            }
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &KeptCapture> {
        let (all, newest, answered): (&[KeptCapture], _, _) = match &self.0 {
            KeptCaptures::All(AllCaptures(all)) => (all, None, None),
            KeptCaptures::Latest(LatestCaptures { newest, failures }) => {
                (&[], newest.as_ref(), failures.as_ref().and_then(|failures| failures.answered.as_ref()))
            }
        };
        all.iter().chain(newest).chain(answered)
    }

    /// Returns the captures to store for an origin with this decision, or `None` for a successful capture at an unknown
    /// time, which adds nothing to its policy.
    ///
    /// `name` numbers a policy, given its source and a capture's rules.
    ///
    /// In a set that is not by time, only the time of the last answer is kept once patience has run out and the profile
    /// no longer keeps the answer: everything is allowed from then on, regardless of that answer, and a set for a later
    /// time never returns to it. Failures before the last answer are left out, because no decision counts them.
    #[must_use]
    pub fn stored(
        &self,
        decision: &Decision,
        profile: &Profile,
        mut name: impl FnMut(PolicySource, Option<u32>) -> u32,
    ) -> Option<StoredCaptures> {
        let mut stored = match &self.0 {
            KeptCaptures::Latest(latest) => StoredCaptures::History(latest.stored(decision, &mut name)?),
            KeptCaptures::All(all) => StoredCaptures::Timeline(all.stored(profile, &mut name)?),
        };
        for capture in stored.captures_mut() {
            capture.body_hash = if capture.is_plain() { UNKNOWN_BODY } else { capture.body_hash };
        }
        Some(stored)
    }

    /// Returns all captures that may still count after further additions, for a part of a set.
    ///
    /// In a set by time these are all captures, without their spans. Returns `None` without captures.
    #[must_use]
    pub fn whole(&self, mut name: impl FnMut(PolicySource, Option<u32>) -> u32) -> Option<StoredCaptures> {
        Some(match &self.0 {
            KeptCaptures::Latest(latest) => StoredCaptures::History(latest.history(true, &mut name)?),
            KeptCaptures::All(AllCaptures(all)) => {
                all.first()?;
                let captures = all.iter().map(|kept| kept.stored(&mut name)).collect();
                StoredCaptures::Timeline(Timeline { captures, spans: Vec::new() })
            }
        })
    }

    /// Returns the rules of the newest answer, if it has any, by the caller's number.
    ///
    /// An older answer's rules never decide at the set's time or later.
    #[must_use]
    pub fn rules(&self) -> Option<u32> {
        let newest_answer = match &self.0 {
            KeptCaptures::Latest(_) => self.all().find(|kept| !kept.is_failure()),
            KeptCaptures::All(AllCaptures(all)) => all.iter().rev().find(|kept| !kept.is_failure()),
        };
        newest_answer.filter(|kept| kept.outcome == Outcome::Use).map(|kept| kept.rules)
    }

    /// Reads the captures stored in a set. Their `rules` are the history's policy numbers.
    ///
    /// Returns `None` if the history has an outcome that this version does not know.
    #[must_use]
    pub fn from_stored(history: &CaptureHistory) -> Option<Captures> {
        Some(Captures(KeptCaptures::Latest(LatestCaptures::from_stored(history)?)))
    }

    /// Reads the captures stored in a set by time, like [`Captures::from_stored`] for other sets.
    ///
    /// Returns `None` if the timeline has an outcome that this version does not know.
    #[must_use]
    pub fn from_timeline(timeline: &Timeline) -> Option<Captures> {
        let captures = timeline.captures.iter().map(|&record| KeptCapture::from_stored(record));
        Some(Captures(KeptCaptures::All(AllCaptures(captures.collect::<Option<_>>()?))))
    }
}

impl AllCaptures {
    fn stored(&self, profile: &Profile, name: &mut impl FnMut(PolicySource, Option<u32>) -> u32) -> Option<Timeline> {
        let has_no_time = matches!(self.0[..], [] | [KeptCapture { time: None, .. }]);
        if has_no_time && self.0.iter().all(KeptCapture::is_plain) {
            return None;
        }
        let captures = self.0.iter().map(|kept| kept.stored(name)).collect();
        let spans = self.spans(profile).into_iter();
        let spans = spans.map(|span| StoredSpan { begin: span.begin, policy: name(span.source, span.rules) }).collect();
        Some(Timeline { captures, spans })
    }
}

impl LatestCaptures {
    fn stored(
        &self,
        decision: &Decision,
        name: &mut impl FnMut(PolicySource, Option<u32>) -> u32,
    ) -> Option<CaptureHistory> {
        if self.newest?.is_plain() {
            return None;
        }
        self.history(matches!(decision.discarded, Some((_, Discarded::Failed))), name)
    }

    /// Returns these captures' history. After a failure, `keeps_answer` keeps the last answer instead of only its time.
    fn history(
        &self,
        keeps_answer: bool,
        name: &mut impl FnMut(PolicySource, Option<u32>) -> u32,
    ) -> Option<CaptureHistory> {
        let newest = self.newest?;
        let failures = self.failures.as_deref().filter(|_| newest.is_failure());
        let answered = failures.and_then(|failures| failures.answered);
        let since = answered.and_then(|answered| answered.time);
        let times = failures.map(|failures| &failures.times[..]).unwrap_or_default().iter().copied();
        let mut earlier_failures: Vec<Time> =
            times.filter(|&time| Some(time) > since && Some(time) < newest.time).collect();
        earlier_failures.sort_unstable();
        earlier_failures.dedup();
        let ended = since.filter(|_| !keeps_answer);
        let answered = answered.filter(|_| keeps_answer).map(|answered| answered.stored(name));
        Some(CaptureHistory { newest: newest.stored(name), answered, ended, earlier_failures })
    }

    fn from_stored(history: &CaptureHistory) -> Option<LatestCaptures> {
        let newest = KeptCapture::from_stored(history.newest)?;
        let mut captures = LatestCaptures { newest: Some(newest), failures: None };
        if newest.is_failure() {
            let mut times = history.earlier_failures.clone();
            times.extend(newest.time);
            // An answer that has ended decides nothing; only its time matters.
            let ended = |time| KeptCapture {
                time: Some(time),
                outcome: Outcome::Allow(Cause::Network),
                body_hash: UNKNOWN_BODY,
                max_age: None,
                status: None,
                rules: u32::MAX,
            };
            let answered = match history.answered {
                Some(answered) => Some(KeptCapture::from_stored(answered)?),
                None => history.ended.map(ended),
            };
            captures.failures = Some(Box::new(Failures { answered, times }));
        }
        Some(captures)
    }
}

impl Profile {
    /// Describes how a set was read: this profile, a dialect's name and the set's time.
    #[must_use]
    pub fn reading<'a>(&'a self, dialect: &'a str, at: Option<Time>) -> Interpretation<'a> {
        Interpretation {
            dialect,
            profile: &self.name,
            at,
            freshness: self.freshness.map(|freshness| freshness.default),
            max_age_cap: self.freshness.and_then(|freshness| freshness.max_age_up_to),
            patience: self.patience,
            by_time: false,
        }
    }
}
