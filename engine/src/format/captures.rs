//! The section `captures`: each origin's [`CaptureHistory`], or its [`Timeline`] in a set by time.
//!
//! Histories make it possible to add captures later, to merge sets, and
//! to tell when an answer becomes stale. The compiler decides which capture counts. Decisions without a time do not
//! read this section; decisions by time only read the timelines' spans.
//!
//! A pool (see `FORMAT.md`) with addresses in 4-byte units. Origins with the same history share a record. The plain
//! history, a file that was fetched successfully at an unknown time, has no record.

use super::FormatError;
use super::container::Section;
use super::histories::{self, CAPTURE_BYTES, CaptureHistory, CaptureRecord};
use super::pool::{PoolReferences, verify_pool};
use super::timelines::{self, Timeline, policy_at};
use crate::platform::prefetch;

/// Address unit in bytes.
pub(super) const UNIT: usize = 4;

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

    /// Returns the fetch time of the deciding capture in the record at an address, or `None` if it is unknown. In a set
    /// by time, `until` is the time of the decision; `None` means the set's own time.
    ///
    /// Allocates nothing. See [`CaptureHistory::deciding`], and [`timelines::deciding_time`] for `has_ended`.
    ///
    /// # Errors
    /// Returns an error if there is no record at that address or `has_ended` fails.
    pub(crate) fn deciding_time(
        self,
        address: u32,
        until: Option<i64>,
        has_ended: impl FnOnce() -> Result<bool, FormatError>,
    ) -> Result<Option<i64>, FormatError> {
        let at = address as usize * UNIT;
        let bytes = self.bytes.get(at..).unwrap_or_default();
        let found = match self.by_time {
            true => timelines::deciding_time(bytes, until, has_ended)?,
            false => histories::deciding_time(bytes),
        };
        found.ok_or_else(|| missing(bytes).in_record_at(at))
    }

    #[inline]
    pub(crate) fn prefetch(self, address: u32) {
        let at = address as usize * UNIT;
        prefetch(self.bytes, at);
        // Most records span two cache lines.
        prefetch(self.bytes, at + CAPTURE_BYTES);
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
    ) -> Result<PoolReferences, FormatError> {
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
    use super::super::histories::FetchOutcome;
    use super::*;
    use crate::verdict::Cause;

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
