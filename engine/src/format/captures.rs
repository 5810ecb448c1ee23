//! The section `captures`: the capture history of each origin.
//!
//! A history is for adding further captures of an origin later, for merging sets, and for telling when an answer is no
//! longer fresh. The compiler decides which of several captures counts. Decisions do not read this section.
//!
//! A pool of records (see `FORMAT.md`) with addresses in units of 4 bytes. Origins with the same history share a
//! record. The plainest history, a file that was fetched successfully at an unknown time, has no record.

use super::container::Section;
use super::policies::{cause_of_numbers, numbers_of_cause};
use super::pool::{References, verify_pool};
use super::reading::Reading;
use super::{FormatError, NONE, put, put_long, u32_at, u64_at};
use crate::verdict::Cause;

/// The unit of addresses, in bytes.
pub(super) const UNIT: usize = 4;

/// Bytes of one capture in a record.
const CAPTURE_BYTES: usize = 32;

/// Bytes of the count of earlier failures in a record.
const COUNT_BYTES: usize = 4;

/// The bit of the count of earlier failures that says that the time of an answer follows which no longer holds.
const HAS_ENDED: u32 = 1 << 31;

const HAS_TIME: u8 = 1;
const HAS_MAX_AGE: u8 = 2;
const HAS_STATUS: u8 = 4;

/// The outcome of one capture, considered by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FetchOutcome {
    /// The rules of the file decide.
    Rules,
    /// There is no file for now; time and earlier captures determine what that means.
    Unreachable(Cause),
    /// Everything is allowed.
    AllowAll(Cause),
    /// Everything is disallowed.
    DisallowAll(Cause),
}

/// One capture of a robots.txt, reduced to what later captures of its origin may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CaptureRecord {
    /// When the robots.txt was fetched, in seconds since 1970.
    pub time: Option<i64>,
    /// The outcome of the capture.
    pub outcome: FetchOutcome,
    /// A number that depends on the body alone. It settles which of two captures of the same time counts. Zero for a
    /// capture of which only the rules are known.
    pub body_hash: u64,
    /// The `max-age` of the answer: for how many seconds it may be kept.
    pub max_age: Option<u32>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The address of the policy that holds exactly its rules; `None` unless its rules decide.
    pub policy: Option<u32>,
}

impl CaptureRecord {
    fn is_failure(&self) -> bool {
        matches!(self.outcome, FetchOutcome::Unreachable(_))
    }

    /// Whether this is a file that was fetched successfully and of which nothing else is known. Its body has no hash
    /// here, as such a file mostly has no record either.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let CaptureRecord { time, outcome, max_age, status, .. } = *self;
        (time, outcome, max_age, status) == (None, FetchOutcome::Rules, None, None)
    }

    fn encode(&self, out: &mut Vec<u8>) {
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

    fn read(bytes: &[u8; CAPTURE_BYTES]) -> Option<CaptureRecord> {
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

/// A capture history: the captures of an origin that still matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CaptureHistory {
    /// The last capture.
    pub newest: CaptureRecord,
    /// The last capture that was an answer, if the last of all was a failure and the answer still holds.
    pub answered: Option<CaptureRecord>,
    /// The time of the last answer, if the last capture was a failure and the answer no longer holds. It bounds the
    /// failures that count when further captures are added.
    pub ended: Option<i64>,
    /// The times of the failures after the last answer, or of all failures if there was no answer, in order and without the
    /// time of the last capture. All of them are kept: how long an origin has been unreachable counts from the first
    /// failure after the last answer, and an answer that is only added later may be later than some of them.
    pub earlier_failures: Vec<i64>,
}

impl CaptureHistory {
    /// Whether this is the plain history of a file that was fetched successfully at an unknown time, which has no
    /// record.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.newest.is_plain()
    }

    /// The capture that decides: the last answer while a copy of it is kept, otherwise the last capture.
    #[must_use]
    pub fn deciding(&self) -> &CaptureRecord {
        self.answered.as_ref().unwrap_or(&self.newest)
    }

    /// Checks that captures can have this history. If they cannot, returns what was expected instead.
    fn flaw(&self) -> Option<&'static str> {
        let CaptureHistory { newest, answered, ended, earlier_failures } = self;
        let captures = || [Some(newest), answered.as_ref()].into_iter().flatten();
        let since = answered.as_ref().and_then(|answered| answered.time).or(*ended);
        let order = [since].into_iter().chain(earlier_failures.iter().copied().map(Some)).chain([newest.time]);
        let order: Vec<Option<i64>> = order.collect();
        if captures().any(|capture| capture.policy.is_some() != (capture.outcome == FetchOutcome::Rules)) {
            Some("a policy if rules decide, and only then")
        } else if self.is_plain() {
            Some("a capture that differs from the plain one")
        } else if captures().any(|capture| capture.is_plain() && capture.body_hash != 0) {
            Some("no hash of the body of a file of which nothing else is known")
        } else if !newest.is_failure() && (answered.is_some() || ended.is_some() || !earlier_failures.is_empty()) {
            Some("only one capture if the last one was an answer")
        } else if answered.is_some() && ended.is_some() {
            Some("a last answer that either holds or has ended")
        } else if answered.as_ref().is_some_and(CaptureRecord::is_failure) {
            Some("an answer before the failures")
        } else if newest.is_failure() && newest.time.is_some() && order.windows(2).any(|pair| pair[0] >= pair[1]) {
            Some("failures in the order of their times and later than the answer")
        } else if newest.is_failure() && newest.time.is_none() && order.len() + captures().count() > 3 {
            Some("only one failure if its time is unknown")
        } else {
            None
        }
    }

    /// Appends the record.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        self.newest.encode(out);
        // There are fewer than 2^30 failures, even with one for each second of thirty years.
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

    /// The last second at which the deciding capture is still fresh. `None` if that is unknown: no time is known, the
    /// profile keeps no answers, or a copy is kept for as long as there is no other.
    #[must_use]
    pub fn stale_at(&self, reading: &Reading<'_>) -> Option<i64> {
        if self.answered.is_some() {
            return None;
        }
        reading.fresh_until(self.newest.time?, self.newest.max_age)
    }

    /// The last second at which the policy holds if the origin is not fetched again: while an origin is unreachable,
    /// its last copy is kept, or everything is disallowed, for a limited time. `None` if the policy does not change
    /// with time alone.
    #[must_use]
    pub fn expires_at(&self, reading: &Reading<'_>) -> Option<i64> {
        let first = self.earlier_failures.first().copied().or(self.newest.time);
        let end = first.filter(|_| self.newest.is_failure())?.saturating_add(reading.patience);
        Some(end).filter(|&end| reading.at.is_none_or(|at| at <= end))
    }
}

/// The capture histories of a set's origins.
#[derive(Clone, Copy)]
pub struct Captures<'a>(pub(crate) &'a [u8]);

impl<'a> Captures<'a> {
    /// The history at an address.
    ///
    /// # Errors
    /// When there is no history at that address.
    pub fn get(self, address: u32) -> Result<CaptureHistory, FormatError> {
        let at = address as usize * UNIT;
        self.read(self.0.get(at..).unwrap_or_default()).map_err(|error| error.in_record_at(at))
    }

    fn read(self, bytes: &'a [u8]) -> Result<CaptureHistory, FormatError> {
        CaptureHistory::read(bytes).ok_or_else(|| {
            let found = format!("other bytes, {} to the end of the section", bytes.len());
            FormatError::at(Section::Captures, 0, "the captures of an origin", found)
        })
    }

    /// Proves that the section is what a writer makes of its content. Calls `check` for each record.
    pub(crate) fn verify(
        self,
        steps: &mut u64,
        mut check: impl FnMut(&CaptureHistory) -> Result<(), FormatError>,
    ) -> Result<References, FormatError> {
        verify_pool(Section::Captures, self.0, UNIT, steps, |bytes, out| {
            let history = self.read(bytes)?;
            if let Some(expected) = history.flaw() {
                return Err(FormatError::at(Section::Captures, 0, expected, "another history"));
            }
            check(&history)?;
            history.encode(out);
            Ok(())
        })
    }
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
    fn a_history_comes_back() {
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
            // No captures can have these histories.
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
            assert_eq!(Captures(&bytes).get(0), Ok(history.clone()));
            assert_eq!(Captures(&bytes).verify(&mut 0, |_| Ok(())).is_ok(), fits, "{history:?}");
        }
    }

    #[test]
    fn bytes_have_one_meaning() {
        for history in [history(FAILED, Some(ANSWERED), [50]), ended(10, history(FAILED, None, [50]))] {
            let mut bytes = Vec::new();
            history.encode(&mut bytes);
            for at in 0..bytes.len() {
                for bit in 0..8 {
                    let mut other = bytes.clone();
                    other[at] ^= 1 << bit;
                    let Ok(found) = Captures(&other).get(0) else { continue };
                    let mut again = Vec::new();
                    found.encode(&mut again);
                    let accepts = Captures(&other).verify(&mut 0, |_| Ok(())).is_ok();
                    assert!(!accepts || again == other, "byte {at}, bit {bit}");
                }
            }
        }
    }
}
