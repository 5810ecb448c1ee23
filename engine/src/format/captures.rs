//! The section `captures`: each origin's capture history, or its [`Timeline`] in a set by time.
//!
//! A capture that is not a failure is an *answer*. Histories make it possible to add captures later, to merge sets, and
//! to tell when an answer becomes stale. The compiler decides which capture counts. Decisions without a time do not
//! read this section; decisions by time only read the timelines' spans.
//!
//! A pool (see `FORMAT.md`) with addresses in 4-byte units. Origins with the same history share a record. The plain
//! history, a file that was fetched successfully at an unknown time, has no record.

use super::container::Section;
use super::policies::{cause_of_numbers, numbers_of_cause};
use super::pool::{References, verify_pool};
use super::reading::Reading;
use super::timelines::{Timeline, policy_at};
use super::{FormatError, NONE, put, put_long, u32_at, u64_at};
use crate::platform::prefetch;
use crate::verdict::Cause;

/// Address unit in bytes.
pub(super) const UNIT: usize = 4;

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
    pub(super) fn is_failure(&self) -> bool {
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
        put_long(out, self.time.unwrap_or(0).cast_unsigned());
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
            time: Some(u64_at(bytes, 0)?.cast_signed()).filter(|_| flags & HAS_TIME != 0),
            outcome,
            body_hash: u64_at(bytes, 8)?,
            max_age: Some(u32_at(bytes, 16)?).filter(|_| flags & HAS_MAX_AGE != 0),
            status: Some(short(24)).filter(|_| flags & HAS_STATUS != 0),
            policy: Some(u32_at(bytes, 20)?).filter(|&policy| policy != NONE),
        })
    }
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
    fn flaw(&self) -> Option<&'static str> {
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
        self.ended.iter().for_each(|time| put_long(out, time.cast_unsigned()));
        self.earlier_failures.iter().for_each(|time| put_long(out, time.cast_unsigned()));
    }

    fn read(bytes: &[u8]) -> Option<CaptureHistory> {
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
            (ended, rest) = (Some(u64_at(rest, 0)?.cast_signed()), rest.get(8..)?);
        }
        let times = rest.get(..((count & !HAS_ENDED) >> 1) as usize * 8)?.chunks_exact(8);
        let earlier_failures = times.filter_map(|time| Some(u64_at(time, 0)?.cast_signed())).collect();
        Some(CaptureHistory { newest: CaptureRecord::read(newest)?, answered, ended, earlier_failures })
    }

    /// Returns the last second at which the deciding capture is fresh, or `None` if that is unknown: it has no time,
    /// the profile caches no responses, or an old answer is kept until the next one.
    #[must_use]
    pub fn stale_at(&self, reading: &Reading<'_>) -> Option<i64> {
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
    pub fn expires_at(&self, reading: &Reading<'_>) -> Option<i64> {
        let first = self.earlier_failures.first().copied().or(self.newest.time);
        let end = first.filter(|_| self.newest.is_failure())?.saturating_add(reading.patience);
        Some(end).filter(|&end| reading.at.is_none_or(|at| at <= end))
    }
}

/// An origin's stored captures: every capture in a set by time, otherwise those that still matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoredCaptures {
    /// The captures that still matter.
    History(CaptureHistory),
    /// All captures, and the spans in which each policy is active.
    Timeline(Timeline),
}

impl StoredCaptures {
    /// Returns the record's captures.
    pub fn captures(&self) -> impl Iterator<Item = &CaptureRecord> {
        let (all, newest, answered): (&[CaptureRecord], _, _) = match self {
            StoredCaptures::History(history) => (&[], Some(&history.newest), history.answered.as_ref()),
            StoredCaptures::Timeline(timeline) => (&timeline.captures, None, None),
        };
        all.iter().chain(newest).chain(answered)
    }

    /// Returns the record's captures for modification.
    pub fn captures_mut(&mut self) -> impl Iterator<Item = &mut CaptureRecord> {
        let (all, newest, answered): (&mut [CaptureRecord], _, _) = match self {
            StoredCaptures::History(history) => (&mut [], Some(&mut history.newest), history.answered.as_mut()),
            StoredCaptures::Timeline(timeline) => (&mut timeline.captures, None, None),
        };
        all.iter_mut().chain(newest).chain(answered)
    }

    /// Returns the record's policy addresses.
    pub fn policies(&self) -> impl Iterator<Item = u32> {
        let spans = match self {
            StoredCaptures::History(_) => &[][..],
            StoredCaptures::Timeline(timeline) => &timeline.spans,
        };
        self.captures().filter_map(|capture| capture.policy).chain(spans.iter().map(|span| span.policy))
    }

    /// Returns the record with its policy addresses replaced. Adjacent spans with the same policy are joined.
    ///
    /// # Errors
    /// Returns an error if `rename` does.
    pub fn with_policies<E>(mut self, mut rename: impl FnMut(u32) -> Result<u32, E>) -> Result<StoredCaptures, E> {
        for capture in self.captures_mut() {
            capture.policy = capture.policy.map(&mut rename).transpose()?;
        }
        if let StoredCaptures::Timeline(Timeline { spans, .. }) = &mut self {
            for span in &mut *spans {
                span.policy = rename(span.policy)?;
            }
            spans.dedup_by_key(|span| span.policy);
        }
        Ok(self)
    }

    /// Checks that the record is consistent. Returns the expectation that it violates, or `None`.
    fn flaw(&self) -> Option<&'static str> {
        match self {
            StoredCaptures::History(history) => history.flaw(),
            StoredCaptures::Timeline(timeline) => timeline.flaw(),
        }
    }

    /// Appends the record.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            StoredCaptures::History(history) => history.encode(out),
            StoredCaptures::Timeline(timeline) => timeline.encode(out),
        }
    }
}

/// A set's capture records.
#[derive(Clone, Copy)]
pub struct Captures<'a> {
    pub(crate) bytes: &'a [u8],
    /// Whether the set is by time, so that its records are timelines.
    pub(crate) by_time: bool,
}

impl<'a> Captures<'a> {
    /// Returns the record at an address.
    ///
    /// # Errors
    /// Returns an error if there is no record at that address.
    pub fn get(self, address: u32) -> Result<StoredCaptures, FormatError> {
        let at = address as usize * UNIT;
        self.read(self.bytes.get(at..).unwrap_or_default()).map_err(|error| error.in_record_at(at))
    }

    /// Returns the address of the policy that is active at a time, according to the timeline at an address; `None`
    /// before its first capture.
    ///
    /// Reads two counts and does a binary search over the spans.
    ///
    /// # Errors
    /// Returns an error if there is no timeline at that address.
    pub(crate) fn policy_at(self, address: u32, time: i64) -> Result<Option<u32>, FormatError> {
        let at = address as usize * UNIT;
        let bytes = self.bytes.get(at..).filter(|_| self.by_time).unwrap_or_default();
        policy_at(bytes, time).ok_or_else(|| missing(bytes).in_record_at(at))
    }

    /// Prefetches the record at an address.
    #[inline]
    pub(crate) fn ask_for(self, address: u32) {
        prefetch(self.bytes, address as usize * UNIT);
    }

    fn read(self, bytes: &'a [u8]) -> Result<StoredCaptures, FormatError> {
        let stored = if self.by_time {
            Timeline::read(bytes).map(StoredCaptures::Timeline)
        } else {
            CaptureHistory::read(bytes).map(StoredCaptures::History)
        };
        stored.ok_or_else(|| missing(bytes))
    }

    /// Proves that the section is canonical. Calls `check` for each record.
    pub(crate) fn verify(
        self,
        steps: &mut u64,
        mut check: impl FnMut(&StoredCaptures) -> Result<(), FormatError>,
    ) -> Result<References, FormatError> {
        verify_pool(Section::Captures, self.bytes, UNIT, steps, |bytes, out| {
            let stored = self.read(bytes)?;
            if let Some(expected) = stored.flaw() {
                return Err(FormatError::at(Section::Captures, 0, expected, "another history"));
            }
            check(&stored)?;
            stored.encode(out);
            Ok(())
        })
    }
}

/// Returns the error for bytes that are not a record.
#[cold]
fn missing(bytes: &[u8]) -> FormatError {
    let found = format!("other bytes, {} to the end of the section", bytes.len());
    FormatError::at(Section::Captures, 0, "the captures of an origin", found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: CaptureRecord = CaptureRecord {
        time: Some(100),
        outcome: FetchOutcome::Unreachable(Cause::Network),
        body_hash: 0,
        max_age: None,
        status: None,
        policy: None,
    };
    const ANSWERED: CaptureRecord = CaptureRecord {
        time: Some(10),
        outcome: FetchOutcome::Rules,
        body_hash: u64::MAX,
        max_age: Some(u32::MAX),
        status: Some(200),
        policy: Some(7),
    };

    const PLAIN: CaptureRecord = CaptureRecord { time: None, max_age: None, status: None, ..ANSWERED };

    fn of(bytes: &[u8]) -> Captures<'_> {
        Captures { bytes, by_time: false }
    }

    fn history(
        newest: CaptureRecord,
        answered: Option<CaptureRecord>,
        earlier_failures: impl Into<Vec<i64>>,
    ) -> CaptureHistory {
        CaptureHistory { newest, answered, ended: None, earlier_failures: earlier_failures.into() }
    }

    fn ended(time: i64, history: CaptureHistory) -> CaptureHistory {
        CaptureHistory { ended: Some(time), ..history }
    }

    #[test]
    fn histories_round_trip_and_verify_rejects_inconsistent_ones() {
        let closed = FetchOutcome::DisallowAll(Cause::Status(503));
        for (history, fits) in [
            (history(ANSWERED, None, []), true),
            (history(FAILED, None, []), true),
            (history(FAILED, None, [-1, 0, 99]), true),
            (history(FAILED, Some(ANSWERED), [11, 99]), true),
            (history(FAILED, Some(CaptureRecord { time: None, ..ANSWERED }), [-5]), true),
            (history(CaptureRecord { outcome: closed, ..FAILED }, None, []), true),
            (history(CaptureRecord { time: None, ..FAILED }, None, []), true),
            (ended(10, history(FAILED, None, [11, 99])), true),
            (history(FAILED, Some(CaptureRecord { body_hash: 0, ..PLAIN }), []), true),
            // Inconsistent histories.
            (ended(11, history(FAILED, None, [11, 99])), false),
            (ended(100, history(FAILED, None, [])), false),
            (ended(5, history(FAILED, Some(ANSWERED), [])), false),
            (ended(5, history(ANSWERED, None, [])), false),
            (history(FAILED, Some(PLAIN), []), false),
            (history(FAILED, Some(FAILED), []), false),
            (history(FAILED, None, [100]), false),
            (history(FAILED, None, [7, 7]), false),
            (history(FAILED, Some(ANSWERED), [10]), false),
            (history(ANSWERED, None, [1]), false),
            (history(ANSWERED, Some(ANSWERED), []), false),
            (history(CaptureRecord { time: None, ..FAILED }, None, [1]), false),
            (
                history(CaptureRecord { time: None, ..FAILED }, Some(CaptureRecord { time: None, ..ANSWERED }), []),
                false,
            ),
            (history(CaptureRecord { policy: None, ..ANSWERED }, None, []), false),
            (history(CaptureRecord { policy: Some(1), ..FAILED }, None, []), false),
            (history(CaptureRecord { time: None, max_age: None, status: None, ..ANSWERED }, None, []), false),
        ] {
            let mut bytes = Vec::new();
            history.encode(&mut bytes);
            assert_eq!(of(&bytes).get(0), Ok(StoredCaptures::History(history.clone())));
            assert_eq!(of(&bytes).verify(&mut 0, |_| Ok(())).is_ok(), fits, "{history:?}");
        }
    }

    #[test]
    fn verified_histories_have_one_encoding() {
        for history in [history(FAILED, Some(ANSWERED), [50]), ended(10, history(FAILED, None, [50]))] {
            let mut bytes = Vec::new();
            history.encode(&mut bytes);
            for at in 0..bytes.len() {
                for bit in 0..8 {
                    let mut other = bytes.clone();
                    other[at] ^= 1 << bit;
                    let Ok(found) = of(&other).get(0) else { continue };
                    let mut again = Vec::new();
                    found.encode(&mut again);
                    let accepts = of(&other).verify(&mut 0, |_| Ok(())).is_ok();
                    assert!(!accepts || again == other, "byte {at}, bit {bit}");
                }
            }
        }
    }
}
