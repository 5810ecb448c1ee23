//! Capture histories: the records in the section `captures` for a set that is not by time. A history has an origin's
//! captures that still matter.
//!
//! A capture that is not a failure is an *answer*.

use super::policies::{cause_of_numbers, numbers_of_cause};
use super::reading::Interpretation;
use super::{NONE, put, put_long, u32_at, u64_at};
use crate::verdict::Cause;

/// Capture size in bytes.
pub(super) const CAPTURE_BYTES: usize = 32;

/// Failure count size in bytes.
const COUNT_BYTES: usize = 4;

/// Bit in the failure count: an answer no longer applies, and its time follows.
const HAS_ENDED: u32 = 1 << 31;

const HAS_TIME: u8 = 1;
const HAS_MAX_AGE: u8 = 2;
const HAS_STATUS: u8 = 4;

/// A capture's outcome, considered in isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FetchOutcome {
    /// The file's rules decide.
    Rules,
    /// No file is available; time and earlier captures determine the effect.
    Unreachable(Cause),
    /// Everything is allowed.
    AllowAll(Cause),
    /// Everything is disallowed.
    DisallowAll(Cause),
}

/// A robots.txt capture, reduced to the data that its origin's later captures may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CaptureRecord {
    /// The fetch time, in seconds since 1970.
    pub time: Option<i64>,
    /// The outcome.
    pub outcome: FetchOutcome,
    /// A number that depends on the body alone. It breaks ties between captures with the same time. Zero if only the
    /// capture's rules are known.
    pub body_hash: u64,
    /// The response's `max-age`: its permitted lifetime in seconds.
    pub max_age: Option<u32>,
    /// The response's status.
    pub status: Option<u16>,
    /// The address of the policy with exactly the capture's rules; `None` unless its rules decide.
    pub policy: Option<u32>,
}

impl CaptureRecord {
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self.outcome, FetchOutcome::Unreachable(_))
    }

    /// Returns whether nothing is known except a successfully fetched file's rules.
    ///
    /// Such a capture has no body hash, because it usually has no record either.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let CaptureRecord { time, outcome, max_age, status, .. } = *self;
        (time, outcome, max_age, status) == (None, FetchOutcome::Rules, None, None)
    }

    /// Checks that the capture is consistent. Returns the expectation that it violates, or `None`.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        if self.policy.is_some() != (self.outcome == FetchOutcome::Rules) {
            Some("a policy if and only if rules decide")
        } else if self.is_plain() && self.body_hash != 0 {
            Some("no body hash if only the rules are known")
        } else {
            None
        }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let (outcome, cause) = match self.outcome {
            FetchOutcome::Rules => (0, None),
            FetchOutcome::Unreachable(cause) => (1, Some(cause)),
            FetchOutcome::AllowAll(cause) => (2, Some(cause)),
            FetchOutcome::DisallowAll(cause) => (3, Some(cause)),
        };
        let (cause, number) = cause.map_or((0, 0), numbers_of_cause);
        let flag = |is_there: bool, flag: u8| if is_there { flag } else { 0 };
        put_long(out, self.time.unwrap_or(0) as u64);
        put_long(out, self.body_hash);
        put(out, self.max_age.unwrap_or(0));
        put(out, self.policy.unwrap_or(NONE));
        out.extend_from_slice(&self.status.unwrap_or(0).to_le_bytes());
        out.extend_from_slice(&number.to_le_bytes());
        let flags = flag(self.time.is_some(), HAS_TIME)
            | flag(self.max_age.is_some(), HAS_MAX_AGE)
            | flag(self.status.is_some(), HAS_STATUS);
        out.extend_from_slice(&[outcome | cause << 4, flags, 0, 0]);
    }

    pub(super) fn read(bytes: &[u8; CAPTURE_BYTES]) -> Option<CaptureRecord> {
        let flags = bytes[29];
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let (cause, number) = (bytes[28] >> 4, short(26));
        let outcome = match bytes[28] & 0xF {
            0 if (cause, number) == (0, 0) => FetchOutcome::Rules,
            1 => FetchOutcome::Unreachable(cause_of_numbers(cause, number)?),
            2 => FetchOutcome::AllowAll(cause_of_numbers(cause, number)?),
            3 => FetchOutcome::DisallowAll(cause_of_numbers(cause, number)?),
            _ => return None,
        };
        Some(CaptureRecord {
            time: Some(u64_at(bytes, 0)? as i64).filter(|_| flags & HAS_TIME != 0),
            outcome,
            body_hash: u64_at(bytes, 8)?,
            max_age: Some(u32_at(bytes, 16)?).filter(|_| flags & HAS_MAX_AGE != 0),
            status: Some(short(24)).filter(|_| flags & HAS_STATUS != 0),
            policy: Some(u32_at(bytes, 20)?).filter(|&policy| policy != NONE),
        })
    }
}

/// Returns an encoded capture's fetch time.
pub(super) fn time_of(capture: &[u8; CAPTURE_BYTES]) -> Option<i64> {
    Some(u64_at(capture, 0)? as i64).filter(|_| capture[29] & HAS_TIME != 0)
}

pub(super) fn is_failure(capture: &[u8; CAPTURE_BYTES]) -> bool {
    capture[28] & 0xF == 1
}

/// Returns the deciding capture's fetch time in the history at the start of these bytes, or `None` if there is no
/// history. Reads nothing else.
pub(super) fn deciding_time(bytes: &[u8]) -> Option<Option<i64>> {
    let (newest, rest) = bytes.split_first_chunk::<CAPTURE_BYTES>()?;
    let (count, rest) = rest.split_first_chunk::<COUNT_BYTES>()?;
    let has_answered = u32::from_le_bytes(*count) & 1 == 1;
    Some(time_of(if has_answered { rest.first_chunk()? } else { newest }))
}

/// A capture history: an origin's captures that still matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CaptureHistory {
    /// The last capture.
    pub newest: CaptureRecord,
    /// The last answer, if the last capture is a failure and the answer still applies.
    pub answered: Option<CaptureRecord>,
    /// The last answer's time, if the last capture is a failure and the answer no longer applies. When captures are
    /// added, only failures after it count.
    pub ended: Option<i64>,
    /// The times of all failures after the last answer, in order, without the last capture. All of them are kept,
    /// because an answer that is added later may be more recent than some failures, and an origin's unreachable period
    /// is counted from the first failure after the last answer.
    pub earlier_failures: Vec<i64>,
}

impl CaptureHistory {
    /// Returns whether this is a plain history: a successfully fetched file without a time, which has no record.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.newest.is_plain()
    }

    /// Returns the deciding capture: the last answer while it applies, otherwise the last capture.
    #[must_use]
    pub fn deciding(&self) -> &CaptureRecord {
        self.answered.as_ref().unwrap_or(&self.newest)
    }

    /// Checks that the history is consistent. Returns the expectation that it violates, or `None`.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        let CaptureHistory { newest, answered, ended, earlier_failures } = self;
        let captures = || [Some(newest), answered.as_ref()].into_iter().flatten();
        let since = answered.as_ref().and_then(|answered| answered.time).or(*ended);
        let order = [since].into_iter().chain(earlier_failures.iter().copied().map(Some)).chain([newest.time]);
        let order: Vec<Option<i64>> = order.collect();
        if let Some(expected) = captures().find_map(CaptureRecord::flaw) {
            Some(expected)
        } else if self.is_plain() {
            Some("a capture that differs from the plain one")
        } else if !newest.is_failure() && (answered.is_some() || ended.is_some() || !earlier_failures.is_empty()) {
            Some("only one capture if the last one was an answer")
        } else if answered.is_some() && ended.is_some() {
            Some("a last answer that either applies or has expired")
        } else if answered.as_ref().is_some_and(CaptureRecord::is_failure) {
            Some("an answer before the failures")
        } else if newest.is_failure() && newest.time.is_some() && order.windows(2).any(|pair| pair[0] >= pair[1]) {
            Some("failures sorted by time and later than the answer")
        } else if newest.is_failure() && newest.time.is_none() && order.len() + captures().count() > 3 {
            Some("only one failure if its time is unknown")
        } else {
            None
        }
    }

    /// Appends the record.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        self.newest.encode(out);
        // There are fewer than 2^30 failures, even with one per second for thirty years.
        let ended = if self.ended.is_some() { HAS_ENDED } else { 0 };
        put(out, ended | (self.earlier_failures.len() as u32) << 1 | u32::from(self.answered.is_some()));
        self.answered.iter().for_each(|answered| answered.encode(out));
        self.ended.iter().for_each(|time| put_long(out, *time as u64));
        self.earlier_failures.iter().for_each(|time| put_long(out, *time as u64));
    }

    /// Returns the history at the start of these bytes.
    pub(super) fn read(bytes: &[u8]) -> Option<CaptureHistory> {
        let (newest, rest) = bytes.split_first_chunk::<CAPTURE_BYTES>()?;
        let (count, mut rest) = rest.split_first_chunk::<COUNT_BYTES>()?;
        let count = u32::from_le_bytes(*count);
        let mut answered = None;
        if count & 1 == 1 {
            let (bytes, after) = rest.split_first_chunk::<CAPTURE_BYTES>()?;
            (answered, rest) = (Some(CaptureRecord::read(bytes)?), after);
        }
        let mut ended = None;
        if count & HAS_ENDED != 0 {
            (ended, rest) = (Some(u64_at(rest, 0)? as i64), rest.get(8..)?);
        }
        let times = rest.get(..((count & !HAS_ENDED) >> 1) as usize * 8)?.chunks_exact(8);
        let earlier_failures = times.filter_map(|time| Some(u64_at(time, 0)? as i64)).collect();
        Some(CaptureHistory { newest: CaptureRecord::read(newest)?, answered, ended, earlier_failures })
    }

    /// Returns the last second at which the deciding capture is fresh, or `None` if that is unknown: it has no time,
    /// the profile caches no responses, or an old answer is kept until the next one.
    #[must_use]
    pub fn stale_at(&self, reading: &Interpretation<'_>) -> Option<i64> {
        if self.answered.is_some() {
            return None;
        }
        reading.fresh_until(self.newest.time?, self.newest.max_age)
    }

    /// Returns the last second at which the policy applies unless the origin is fetched again, or `None` if time alone
    /// does not change it.
    ///
    /// While an origin is unreachable, its last answer is kept, or everything is disallowed, for a limited time.
    #[must_use]
    pub fn expires_at(&self, reading: &Interpretation<'_>) -> Option<i64> {
        let first = self.earlier_failures.first().copied().or(self.newest.time);
        let end = first.filter(|_| self.newest.is_failure())?.saturating_add(reading.patience);
        Some(end).filter(|&end| reading.at.is_none_or(|at| at <= end))
    }
}
