//! Timelines: the records in the section `captures` for a set by time. A timeline has each capture of an origin that
//! counts at some time, and the spans in which each policy is active.
//!
//! The compiler computes the spans from the captures. Decisions by time only read the spans; the captures are for
//! adding further captures and for merging sets.

use super::histories::{CAPTURE_BYTES, CaptureHistory, CaptureRecord, FetchOutcome, is_failure, time_of};
use super::{put, put_long, u32_at, u64_at};
use crate::platform::as_chunks;

/// Record header size in bytes: the capture count and the span count.
const COUNT_BYTES: usize = 8;

/// Span sizes in bytes. A record stores the starts of all spans first, then their policies.
const BEGIN_BYTES: usize = 8;
const POLICY_BYTES: usize = 4;

/// Span start for a capture without a time, which is older than every capture with a time.
pub const BEFORE_ALL_TIMES: i64 = i64::MIN;

/// A period in which one policy is active. It lasts until the timeline's next span begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StoredSpan {
    /// The first second, since 1970; [`BEFORE_ALL_TIMES`] for a capture without a time.
    pub begin: i64,
    /// The policy's address.
    pub policy: u32,
}

/// An origin's captures, and the spans in which each policy is active.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timeline {
    /// The captures sorted by time, with distinct times. The first may lack a time.
    pub captures: Vec<CaptureRecord>,
    /// The spans in order. The origin is unknown before the first one.
    pub spans: Vec<StoredSpan>,
}

impl Timeline {
    /// Returns the captures that a set without times keeps.
    ///
    /// `has_ended` says whether the last answer has expired because every later fetch has failed for too long.
    #[must_use]
    pub fn history(&self, has_ended: bool) -> Option<CaptureHistory> {
        let (&newest, before) = self.captures.split_last()?;
        let mut history = CaptureHistory { newest, answered: None, ended: None, earlier_failures: Vec::new() };
        if !newest.is_failure() {
            return Some(history);
        }
        let answered = before.iter().rposition(|capture| !capture.is_failure());
        let failures = before.get(answered.map_or(0, |answered| answered + 1)..).unwrap_or_default();
        history.earlier_failures = failures.iter().filter_map(|failure| failure.time).collect();
        let answered = answered.and_then(|answered| before.get(answered)).copied();
        if has_ended {
            history.ended = answered.and_then(|answered| answered.time);
        } else {
            history.answered = answered;
        }
        Some(history)
    }

    /// Returns the policy that is active at a time; `None` before the first capture.
    #[must_use]
    pub fn policy_at(&self, time: i64) -> Option<u32> {
        let after = self.spans.partition_point(|span| span.begin <= time);
        Some(self.spans.get(after.checked_sub(1)?)?.policy)
    }

    /// Checks that the timeline is consistent. Returns the expectation that it violates, or `None`.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        let Timeline { captures, spans } = self;
        let begins = spans.iter().map(|span| span.begin);
        if let Some(expected) = captures.iter().find_map(CaptureRecord::flaw) {
            Some(expected)
        } else if matches!(&captures[..], [] | [CaptureRecord { time: None, .. }]) && self.is_plain() {
            Some("a capture that differs from the plain one")
        } else if !captures.is_sorted_by(|a, b| a.time < b.time) {
            Some("captures sorted by time, with distinct times")
        } else if begins.clone().next() != captures.first().map(begin_of) {
            Some("a first span that begins with the first capture")
        } else if !spans.is_sorted_by(|a, b| a.begin < b.begin && a.policy != b.policy) {
            // Compares neighbors only, because a policy may return.
            Some("spans sorted by start, with different policies in adjacent spans")
        } else if !begins.into_iter().all(|begin| self.may_begin_at(begin)) {
            Some("spans that begin with a capture, or after a failure")
        } else if captures.iter().any(|capture| self.is_elsewhere(capture)) {
            Some("a file's policy active from its capture on")
        } else {
            None
        }
    }

    /// Returns whether there is only a successfully fetched file without a time, which has no record.
    fn is_plain(&self) -> bool {
        self.captures.iter().all(CaptureRecord::is_plain)
    }

    /// Returns whether the policy may change at a time: when a capture was fetched, or at any time after a failure.
    fn may_begin_at(&self, time: i64) -> bool {
        let after = self.captures.partition_point(|capture| begin_of(capture) <= time);
        let last = after.checked_sub(1).and_then(|last| self.captures.get(last));
        last.is_some_and(|last| begin_of(last) == time || last.is_failure())
    }

    /// Returns whether a capture has rules whose policy is not active when it was fetched.
    fn is_elsewhere(&self, capture: &CaptureRecord) -> bool {
        capture.outcome == FetchOutcome::Rules && self.policy_at(begin_of(capture)) != capture.policy
    }

    /// Appends the record.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let Timeline { captures, spans } = self;
        // The compiler limits the capture count; each begins at most two spans.
        put(out, captures.len() as u32);
        put(out, spans.len() as u32);
        spans.iter().for_each(|span| put_long(out, span.begin as u64));
        spans.iter().for_each(|span| put(out, span.policy));
        captures.iter().for_each(|capture| capture.encode(out));
    }

    /// Returns the timeline at the start of these bytes.
    pub(super) fn read(bytes: &[u8]) -> Option<Timeline> {
        let TimelineParts { begins, policies, captures } = TimelineParts::of(bytes)?;
        let spans = begins.chunks_exact(BEGIN_BYTES).zip(policies.chunks_exact(POLICY_BYTES));
        let span = |(begin, policy)| Some(StoredSpan { begin: u64_at(begin, 0)? as i64, policy: u32_at(policy, 0)? });
        let (captures, _) = as_chunks::<CAPTURE_BYTES, u8>(captures);
        Some(Timeline {
            captures: captures.iter().map(CaptureRecord::read).collect::<Option<_>>()?,
            spans: spans.map(span).collect::<Option<_>>()?,
        })
    }
}

/// Returns the first second at which a capture can be active.
pub(crate) fn begin_of(capture: &CaptureRecord) -> i64 {
    capture.time.unwrap_or(BEFORE_ALL_TIMES)
}

/// A record's parts.
struct TimelineParts<'a> {
    begins: &'a [u8],
    policies: &'a [u8],
    captures: &'a [u8],
}

impl<'a> TimelineParts<'a> {
    /// Splits the record at the start of these bytes.
    fn of(bytes: &'a [u8]) -> Option<TimelineParts<'a>> {
        let (captures, spans) = (u32_at(bytes, 0)? as usize, u32_at(bytes, 4)? as usize);
        let (begins, rest) = bytes.get(COUNT_BYTES..)?.split_at_checked(spans.checked_mul(BEGIN_BYTES)?)?;
        let (policies, rest) = rest.split_at_checked(spans.checked_mul(POLICY_BYTES)?)?;
        Some(TimelineParts { begins, policies, captures: rest.get(..captures.checked_mul(CAPTURE_BYTES)?)? })
    }
}

/// Returns the policy that is active at a time in the record at the start of these bytes: `Some(None)` before its first
/// capture, and `None` if there is no record.
///
/// Binary search.
pub(super) fn policy_at(bytes: &[u8], time: i64) -> Option<Option<u32>> {
    let TimelineParts { begins, policies, .. } = TimelineParts::of(bytes)?;
    let (begins, _) = as_chunks::<BEGIN_BYTES, u8>(begins);
    let after = begins.partition_point(|begin| i64::from_le_bytes(*begin) <= time);
    let Some(place) = after.checked_sub(1) else { return Some(None) };
    Some(Some(u32_at(policies, place * POLICY_BYTES)?))
}

/// Returns the fetch time of the capture that decides at a time, or after all captures, in the record at the start of
/// these bytes: `Some(None)` if no capture decides or its time is unknown, and `None` if there is no record.
///
/// `has_ended` returns whether the last answer has expired because every later fetch has failed for too long. It is
/// called only if the last capture is a failure.
///
/// Takes a binary search, and one step for each failure after the last answer.
pub(super) fn deciding_time<E>(
    bytes: &[u8],
    until: Option<i64>,
    has_ended: impl FnOnce() -> Result<bool, E>,
) -> Result<Option<Option<i64>>, E> {
    let Some(TimelineParts { captures, .. }) = TimelineParts::of(bytes) else { return Ok(None) };
    let (mut captures, _) = as_chunks::<CAPTURE_BYTES, u8>(captures);
    if let Some(until) = until {
        let later = captures.partition_point(|capture| time_of(capture).is_none_or(|fetched| fetched <= until));
        captures = captures.get(..later).unwrap_or_default();
    }
    let Some(newest) = captures.last() else { return Ok(Some(None)) };
    let mut deciding = newest;
    if is_failure(newest) && !has_ended()? {
        deciding = captures.iter().rfind(|capture| !is_failure(capture)).unwrap_or(newest);
    }
    Ok(Some(time_of(deciding)))
}

#[cfg(test)]
mod tests {
    use super::super::captures::{Captures, StoredCaptures};
    use super::*;
    use crate::verdict::Cause;

    fn capture(time: Option<i64>, outcome: FetchOutcome, policy: Option<u32>) -> CaptureRecord {
        CaptureRecord { time, outcome, body_hash: 0, max_age: None, status: None, policy }
    }

    fn file(time: i64, policy: u32) -> CaptureRecord {
        capture(Some(time), FetchOutcome::Rules, Some(policy))
    }

    fn failure(time: i64) -> CaptureRecord {
        capture(Some(time), FetchOutcome::Unreachable(Cause::Network), None)
    }

    fn timeline<const C: usize, const S: usize>(captures: [CaptureRecord; C], spans: [(i64, u32); S]) -> Timeline {
        let spans = spans.map(|(begin, policy)| StoredSpan { begin, policy });
        Timeline { captures: captures.to_vec(), spans: spans.to_vec() }
    }

    fn of(bytes: &[u8]) -> Captures<'_> {
        Captures { bytes, by_time: true }
    }

    fn encoded(timeline: &Timeline) -> Vec<u8> {
        let mut bytes = Vec::new();
        timeline.encode(&mut bytes);
        bytes
    }

    #[test]
    fn timelines_round_trip_and_verify_rejects_inconsistent_ones() {
        let plain = capture(None, FetchOutcome::Rules, Some(1));
        for (timeline, fits) in [
            (timeline([file(10, 1)], [(10, 1)]), true),
            (timeline([file(10, 1), file(20, 2)], [(10, 1), (20, 2)]), true),
            (timeline([file(10, 1), file(20, 1)], [(10, 1)]), true),
            (timeline([file(10, 1), file(20, 2), file(30, 1)], [(10, 1), (20, 2), (30, 1)]), true),
            (timeline([plain, file(20, 2)], [(BEFORE_ALL_TIMES, 1), (20, 2)]), true),
            (timeline([file(10, 1), failure(20)], [(10, 1), (20, 3), (51, 4)]), true),
            (timeline([failure(20), file(30, 1)], [(20, 3), (25, 4), (30, 1)]), true),
            // Inconsistent timelines.
            (timeline([], []), false),
            (timeline([plain], [(BEFORE_ALL_TIMES, 1)]), false),
            (timeline([file(10, 1)], []), false),
            (timeline([file(10, 1)], [(9, 1)]), false),
            (timeline([file(10, 1)], [(11, 1)]), false),
            (timeline([file(10, 1)], [(10, 2)]), false),
            (timeline([file(10, 1), file(10, 2)], [(10, 2)]), false),
            (timeline([file(20, 1), file(10, 2)], [(20, 1), (10, 2)]), false),
            (timeline([file(10, 1), plain], [(10, 1)]), false),
            (timeline([file(10, 1), file(20, 2)], [(10, 1)]), false),
            (timeline([file(10, 1), file(20, 1)], [(10, 1), (20, 1)]), false),
            (timeline([file(10, 1), file(20, 2)], [(10, 1), (20, 2), (25, 1)]), false),
            (timeline([file(10, 1), failure(20)], [(10, 1), (15, 3)]), false),
            (timeline([CaptureRecord { policy: None, ..file(10, 1) }], [(10, 1)]), false),
            (timeline([CaptureRecord { policy: Some(1), ..failure(10) }], [(10, 1)]), false),
            (timeline([CaptureRecord { body_hash: 1, ..plain }, file(20, 2)], [(BEFORE_ALL_TIMES, 1), (20, 2)]), false),
        ] {
            let bytes = encoded(&timeline);
            assert_eq!(of(&bytes).get(0), Ok(StoredCaptures::Timeline(timeline.clone())));
            assert_eq!(of(&bytes).verify(&mut 0, |_| Ok(())).is_ok(), fits, "{timeline:?}");
        }
    }

    #[test]
    fn a_span_lasts_until_the_next_one_begins() {
        let timeline = timeline([file(10, 1), file(20, 2), file(30, 1)], [(10, 1), (20, 2), (30, 1)]);
        let bytes = encoded(&timeline);
        for (time, policy) in [
            (i64::MIN, None),
            (9, None),
            (10, Some(1)),
            (19, Some(1)),
            (20, Some(2)),
            (29, Some(2)),
            (30, Some(1)),
            (i64::MAX, Some(1)),
        ] {
            assert_eq!(timeline.policy_at(time), policy, "{time}");
            assert_eq!(of(&bytes).policy_at(0, time), Ok(policy), "{time}");
        }
        assert!(of(&bytes).policy_at(1, 10).is_err());
        assert!(of(&bytes[..bytes.len() - 1]).policy_at(0, 10).is_err());
        // A set without times has other records.
        assert!(Captures { bytes: &bytes, by_time: false }.policy_at(0, 10).is_err());
    }

    #[test]
    fn timelines_reduce_to_capture_histories() {
        let [answer, early, late] = [file(10, 1), failure(20), failure(30)];
        let of = |captures: &[CaptureRecord], has_ended| {
            Timeline { captures: captures.to_vec(), spans: Vec::new() }.history(has_ended)
        };
        let none = CaptureHistory { newest: answer, answered: None, ended: None, earlier_failures: Vec::new() };
        assert_eq!(of(&[], false), None);
        assert_eq!(of(&[late, answer], false), Some(none.clone()));
        let kept = CaptureHistory { newest: late, answered: Some(answer), ended: None, earlier_failures: vec![20] };
        assert_eq!(of(&[failure(5), answer, early, late], false), Some(kept));
        let ended = CaptureHistory { newest: late, ended: Some(10), earlier_failures: vec![20], ..none.clone() };
        assert_eq!(of(&[answer, early, late], true), Some(ended));
        let never = CaptureHistory { newest: late, earlier_failures: vec![20], ..none };
        assert_eq!(of(&[early, late], false), Some(never));
    }

    #[test]
    fn verified_timelines_have_one_encoding() {
        let bytes = encoded(&timeline([file(10, 1), failure(20)], [(10, 1), (20, 3), (51, 4)]));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                let Ok(StoredCaptures::Timeline(found)) = of(&other).get(0) else { continue };
                let accepts = of(&other).verify(&mut 0, |_| Ok(())).is_ok();
                assert!(!accepts || encoded(&found) == other, "byte {at}, bit {bit}");
            }
        }
    }
}
