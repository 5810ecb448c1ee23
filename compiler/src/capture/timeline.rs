//! All captures of an origin, and the spans of time in which what they mean stays the same.
//!
//! The policy in force at a time is, by definition, what [`Captures::decide`](super::Captures::decide) says at that time
//! of the captures fetched up to then: the policy that a set for that time has.

use reptile_engine::format::timelines::BEFORE_ALL_TIMES;
use reptile_engine::verdict::PolicySource;

use super::choice::{Failures, LatestCaptures};
use super::{KeptCapture, Profile, Time};
use crate::limits::MAX_CAPTURES_BY_TIME;

/// The captures of one origin in the order of their times, and of those of one time the greatest. A smaller one of the
/// same time counts at no time.
#[derive(Clone, Debug, Default)]
pub(super) struct AllCaptures(pub(super) Vec<KeptCapture>);

/// A span of time in which what the captures mean stays the same. It lasts until the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The first second; [`BEFORE_ALL_TIMES`] if a capture without a time decides.
    pub begin: Time,
    /// What holds for the origin.
    pub source: PolicySource,
    /// The capture whose rules decide, where rules do.
    pub rules: Option<u32>,
}

impl AllCaptures {
    /// Takes another capture. Returns the smaller of two of the same time. What is more than the limit is not taken, as
    /// the set cannot be made.
    pub fn add(&mut self, kept: KeptCapture) -> Option<KeptCapture> {
        match self.0.binary_search_by_key(&kept.time, |kept| kept.time) {
            Ok(place) if kept > self.0[place] => Some(std::mem::replace(&mut self.0[place], kept)),
            Ok(_) => Some(kept),
            Err(place) => {
                if self.0.len() <= MAX_CAPTURES_BY_TIME {
                    self.0.insert(place, kept);
                }
                None
            }
        }
    }

    /// What a set that is not by time keeps of the captures.
    pub fn latest(&self) -> LatestCaptures {
        let mut latest = LatestCaptures::default();
        for &kept in &self.0 {
            latest.add(kept);
        }
        latest
    }

    /// The spans, in order; none without captures. Time: linear.
    ///
    /// What the captures mean changes when one is fetched, and when the profile's patience with an origin out of reach is
    /// over, if nothing was fetched before that.
    pub fn spans(&self, profile: &Profile) -> Vec<Span> {
        let mut spans = Vec::with_capacity(self.0.len());
        let (mut answered, mut first_failure) = (None, None);
        let next_times = self.0.iter().skip(1).map(|next| next.time).chain([None]);
        for (&kept, next) in self.0.iter().zip(next_times) {
            let begin = kept.time.unwrap_or(BEFORE_ALL_TIMES);
            if !kept.is_failure() {
                (answered, first_failure) = (Some(kept), None);
                push(&mut spans, &LatestCaptures { newest: Some(kept), failures: None }, profile, begin);
                continue;
            }
            first_failure = first_failure.or(kept.time);
            // Of the failures after an answer only the first matters.
            let failures = Some(Box::new(Failures { answered, times: first_failure.into_iter().collect() }));
            let latest = LatestCaptures { newest: Some(kept), failures };
            push(&mut spans, &latest, profile, begin);
            let is_over_at = |first: Time| first.checked_add(profile.patience)?.checked_add(1);
            let over = first_failure.and_then(is_over_at).filter(|&over| over > begin);
            if let Some(over) = over.filter(|&over| next.is_none_or(|next| over < next)) {
                push(&mut spans, &latest, profile, over);
            }
        }
        spans
    }
}

/// Adds the span that begins at a time, unless it says what the one before says.
fn push(spans: &mut Vec<Span>, captures: &LatestCaptures, profile: &Profile, begin: Time) {
    let Some(decision) = captures.decide(profile, Some(begin)) else { return };
    let (source, rules) = (decision.source, decision.rules);
    if spans.last().is_none_or(|last| (last.source, last.rules) != (source, rules)) {
        spans.push(Span { begin, source, rules });
    }
}
