//! All captures of an origin, and the time spans in which its policy is constant.
//!
//! The policy at a time is, by definition, the result of [`Captures::decide`](super::Captures::decide) for the captures
//! fetched up to then: the policy in a set for that time.

use reptile_engine::format::timelines::BEFORE_ALL_TIMES;
use reptile_engine::verdict::PolicySource;

use super::latest::{Failures, LatestCaptures};
use super::{KeptCapture, Profile, Time};
use crate::limits::MAX_CAPTURES_BY_TIME;

/// One origin's captures in time order, with only the greatest for each time. The smaller ones never count.
#[derive(Clone, Debug, Default)]
pub(super) struct AllCaptures(pub(super) Vec<KeptCapture>);

/// A time span with a constant policy. It lasts until the next span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DecidedSpan {
    /// The first second, or [`BEFORE_ALL_TIMES`] if a capture without a time decides.
    pub begin: Time,
    /// The origin's policy source.
    pub source: PolicySource,
    /// The number of the capture whose rules decide, if rules decide.
    pub rules: Option<u32>,
}

impl AllCaptures {
    /// Adds a capture.
    ///
    /// Returns the smaller of two captures with the same time. Keeps at most one capture over the limit, because the
    /// set cannot be built then.
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

    /// Returns the captures that a set keeps if it is not by time.
    pub fn latest(&self) -> LatestCaptures {
        let mut latest = LatestCaptures::default();
        for &kept in &self.0 {
            latest.add(kept);
        }
        latest
    }

    /// Returns the spans in order. Takes linear time.
    ///
    /// The policy changes when a capture is fetched, and when the profile's patience with an unreachable origin runs
    /// out, if nothing was fetched before that.
    pub fn spans(&self, profile: &Profile) -> Vec<DecidedSpan> {
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
            // Only the first failure after an answer matters.
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

/// Adds the span that begins at a time, unless it equals the previous one.
fn push(spans: &mut Vec<DecidedSpan>, captures: &LatestCaptures, profile: &Profile, begin: Time) {
    let Some(decision) = captures.decide(profile, Some(begin)) else { return };
    let (source, rules) = (decision.source, decision.rules);
    if spans.last().is_none_or(|last| (last.source, last.rules) != (source, rules)) {
        spans.push(DecidedSpan { begin, source, rules });
    }
}
