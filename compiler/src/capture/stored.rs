//! Captures as a set holds them, so that further ones can be added later.

use reptile_engine::format::captures::{CaptureHistory, CaptureRecord, FetchOutcome, StoredCaptures};
use reptile_engine::format::reading::Reading;
use reptile_engine::format::timelines::{Span, Timeline};
use reptile_engine::verdict::{Cause, PolicySource};

use super::choice::{Failures, Kept, LatestCaptures};
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
    /// The capture as a set holds it, with the policy that `name` has for its rules.
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

/// The hash of a body that is not known.
pub(super) const UNKNOWN_BODY: u64 = 0;

impl KeptCapture {
    /// A file that was fetched successfully and of which nothing else is known but its rules, by the caller's number.
    #[must_use]
    pub fn plain(rules: u32) -> KeptCapture {
        KeptCapture { time: None, outcome: Outcome::Use, body_hash: UNKNOWN_BODY, max_age: None, status: None, rules }
    }

    /// Whether it is a file that was fetched successfully and of which nothing else is known but its rules and body.
    fn is_plain(&self) -> bool {
        let KeptCapture { time, outcome, max_age, status, .. } = *self;
        (time, outcome, max_age, status) == (None, Outcome::Use, None, None)
    }

    /// Whether a set cannot tell which of two captures counts: neither has a time, both have rules, and the body of one
    /// is not known any more. Two plain files with the same rules are the same.
    fn is_undecided(&self, other: &KeptCapture) -> bool {
        let is_unknown = |kept: &KeptCapture| kept.is_plain() && kept.body_hash == UNKNOWN_BODY;
        let both = [self, other];
        both.iter().all(|kept| (kept.time, kept.outcome) == (None, Outcome::Use))
            && both.iter().any(|kept| is_unknown(kept))
            && !(both.iter().all(|kept| kept.is_plain()) && self.rules == other.rules)
    }
}

impl Captures {
    /// Adds what a set has kept of captures of the same origin; both have their rules in the same terms. Returns those
    /// that can no longer count, or `None`, and changes nothing, if the captures that were kept do not say which of them
    /// counts: of files without a time, a set does not keep what would settle it.
    pub fn add_stored(&mut self, stored: &Captures) -> Option<Vec<KeptCapture>> {
        let mut timeless = stored.all().filter(|kept| kept.time.is_none());
        if timeless.any(|kept| self.all().any(|own| own.is_undecided(kept))) {
            return None;
        }
        // The body of the greater of two equal files is unknown if that of one is.
        if stored.all().any(|kept| kept.is_plain() && kept.body_hash == UNKNOWN_BODY) {
            self.forget_bodies();
        }
        let dropped = stored.all().flat_map(|&kept| self.add(kept)).flatten().collect();
        if let (Kept::Latest(own), Kept::Latest(LatestCaptures { failures: Some(failures), .. })) =
            (&mut self.0, &stored.0)
        {
            own.failures.get_or_insert_default().times.extend(&failures.times);
        }
        Some(dropped)
    }

    /// Forgets the bodies of plain files.
    fn forget_bodies(&mut self) {
        let forget = |own: &mut KeptCapture| {
            if own.is_plain() {
                own.body_hash = UNKNOWN_BODY;
            }
        };
        match &mut self.0 {
            Kept::All(AllCaptures(all)) => all.first_mut().into_iter().for_each(forget),
            Kept::Latest(LatestCaptures { newest, failures }) => {
                let answered = failures.as_mut().and_then(|failures| failures.answered.as_mut());
                newest.as_mut().into_iter().chain(answered).for_each(forget);
            }
        }
    }

    /// The captures that are kept.
    pub(super) fn all(&self) -> impl Iterator<Item = &KeptCapture> {
        let (all, newest, answered): (&[KeptCapture], _, _) = match &self.0 {
            Kept::All(AllCaptures(all)) => (all, None, None),
            Kept::Latest(LatestCaptures { newest, failures }) => {
                (&[], newest.as_ref(), failures.as_ref().and_then(|failures| failures.answered.as_ref()))
            }
        };
        all.iter().chain(newest).chain(answered)
    }

    /// What a set keeps of these captures for an origin of this decision, `name` being asked for the number of a policy
    /// by its source and the rules of a capture. `None` for a file that was fetched well at a time that is not known, which
    /// says nothing beyond its policy.
    ///
    /// In a set that is not by time, of the last answer only the time is kept when its time is over and the profile no
    /// longer keeps it: everything is allowed from then on, whatever it said, and a set for a later time never goes back to
    /// it. Failures before the last answer are left out, as no decision counts them.
    #[must_use]
    pub fn stored(
        &self,
        decision: &Decision,
        profile: &Profile,
        mut name: impl FnMut(PolicySource, Option<u32>) -> u32,
    ) -> Option<StoredCaptures> {
        let mut stored = match &self.0 {
            Kept::Latest(latest) => StoredCaptures::History(latest.stored(decision, &mut name)?),
            Kept::All(all) => StoredCaptures::Timeline(all.stored(profile, &mut name)?),
        };
        for capture in stored.captures_mut() {
            capture.body_hash = if capture.is_plain() { UNKNOWN_BODY } else { capture.body_hash };
        }
        Some(stored)
    }

    /// All that may still count of these captures, whatever is added later: what a part of a set keeps. In a set by time it
    /// is all captures, without the spans that they make. `None` if there is no capture.
    #[must_use]
    pub fn whole(&self, mut name: impl FnMut(PolicySource, Option<u32>) -> u32) -> Option<StoredCaptures> {
        Some(match &self.0 {
            Kept::Latest(latest) => StoredCaptures::History(latest.history(true, &mut name)?),
            Kept::All(AllCaptures(all)) => {
                all.first()?;
                let captures = all.iter().map(|kept| kept.stored(&mut name)).collect();
                StoredCaptures::Timeline(Timeline { captures, spans: Vec::new() })
            }
        })
    }

    /// The rules of these captures, by the caller's number: those of the newest answer, if it has any. Those of an older one
    /// never decide at the time of a set, nor at a later one.
    #[must_use]
    pub fn rules(&self) -> Option<u32> {
        let newest_answer = match &self.0 {
            Kept::Latest(_) => self.all().find(|kept| !kept.is_failure()),
            Kept::All(AllCaptures(all)) => all.iter().rev().find(|kept| !kept.is_failure()),
        };
        newest_answer.filter(|kept| kept.outcome == Outcome::Use).map(|kept| kept.rules)
    }

    /// The captures that a set has kept. Their `rules` are its policies, by whatever names the history has for them.
    ///
    /// `None` if the history has an outcome that this version does not know.
    #[must_use]
    pub fn from_stored(history: &CaptureHistory) -> Option<Captures> {
        Some(Captures(Kept::Latest(LatestCaptures::from_stored(history)?)))
    }

    /// The captures that a set by time has kept, as [`Captures::from_stored`] returns those of another.
    ///
    /// `None` if the timeline has an outcome that this version does not know.
    #[must_use]
    pub fn from_timeline(timeline: &Timeline) -> Option<Captures> {
        let captures = timeline.captures.iter().map(|&record| KeptCapture::from_stored(record));
        Some(Captures(Kept::All(AllCaptures(captures.collect::<Option<_>>()?))))
    }
}

impl AllCaptures {
    fn stored(&self, profile: &Profile, name: &mut impl FnMut(PolicySource, Option<u32>) -> u32) -> Option<Timeline> {
        if let [] | [KeptCapture { time: None, .. }] = &self.0[..]
            && self.0.iter().all(KeptCapture::is_plain)
        {
            return None;
        }
        let captures = self.0.iter().map(|kept| kept.stored(name)).collect();
        let spans = self.spans(profile).into_iter();
        let spans = spans.map(|span| Span { begin: span.begin, policy: name(span.source, span.rules) }).collect();
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

    /// The history of these captures. `keeps_answer` says whether the last answer is kept after a failure, or only its time.
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
            // An answer that no longer holds decides nothing any more; only its time matters.
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
            by_time: false,
        }
    }
}
