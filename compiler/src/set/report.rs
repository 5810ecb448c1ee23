//! Statistics about the captures that a set was built from.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use reptile_engine::verdict::PolicySource;

use crate::capture::{Captures, Decision, Discarded, KeptCapture, Time};
use crate::limits::MAX_DISCARDED_LISTED;
use crate::set::OwnedOrigin;

/// Statistics about the captures that a set was built from. They do not depend on the input order.
#[derive(Clone, Debug, Default)]
pub struct CaptureReport {
    /// The set's time, if one was given or any capture has one.
    pub at: Option<Time>,
    /// The number of origins for each policy source.
    pub origins: BTreeMap<PolicySource, u64>,
    /// The number of origins that depend on an answer that is no longer fresh at the set's time.
    pub stale: u64,
    /// The number of discarded captures, by reason. A capture added for several origins is counted for each.
    pub discarded: BTreeMap<Discarded, u64>,
    /// The number of times at which an origin has different captures with rules, so that only a body hash decides
    /// between them. In a set that is not by time, only captures that can still count are included.
    pub ties: u64,
    /// The first origin with such captures, and their time.
    pub first_tie: Option<(OwnedOrigin, Option<Time>)>,
    pub(super) listed: BinaryHeap<DiscardedCapture>,
}

/// The times at which an origin's captures tie.
pub(super) type TieTimes = BTreeSet<Option<Time>>;

/// A discarded capture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiscardedCapture {
    /// The origin that the capture was fetched from.
    pub origin: OwnedOrigin,
    /// The fetch time.
    pub time: Option<Time>,
    /// The response status.
    pub status: Option<u16>,
    /// The reason that the capture was discarded.
    pub why: Discarded,
}

impl CaptureReport {
    pub(super) fn count(&mut self, origin: &impl Fn() -> OwnedOrigin, decision: &Decision) {
        self.stale += u64::from(decision.is_stale);
        *self.origins.entry(decision.source).or_default() += 1;
        if let Some((kept, why)) = &decision.discarded {
            self.discard(&origin(), kept, *why);
        }
    }

    /// Counts an origin's tied times that still matter among these captures.
    pub(super) fn count_ties(&mut self, origin: &OwnedOrigin, times: &TieTimes, captures: &Captures) {
        for &time in times.iter().filter(|&&time| captures.has_rules_at(time)) {
            self.ties += 1;
            self.note_tie((origin.clone(), time));
        }
    }

    fn note_tie(&mut self, tie: (OwnedOrigin, Option<Time>)) {
        if self.first_tie.as_ref().is_none_or(|first| tie < *first) {
            self.first_tie = Some(tie);
        }
    }

    /// Adds the counts of other origins, and of captures that were discarded elsewhere.
    pub(super) fn add(&mut self, other: CaptureReport) {
        self.stale += other.stale;
        for (source, count) in other.origins {
            *self.origins.entry(source).or_default() += count;
        }
        for (why, count) in other.discarded {
            *self.discarded.entry(why).or_default() += count;
        }
        self.ties += other.ties;
        other.first_tie.into_iter().for_each(|tie| self.note_tie(tie));
        other.listed.into_iter().for_each(|entry| self.list(entry));
    }

    pub(super) fn discard(&mut self, origin: &OwnedOrigin, kept: &KeptCapture, why: Discarded) {
        *self.discarded.entry(why).or_default() += 1;
        let entry = DiscardedCapture { origin: origin.clone(), time: kept.time, status: kept.status, why };
        self.list(entry);
    }

    fn list(&mut self, entry: DiscardedCapture) {
        self.listed.push(entry);
        // The last in order is dropped, so that the list does not depend on the input order.
        if self.listed.len() > MAX_DISCARDED_LISTED {
            self.listed.pop();
        }
    }

    /// Returns the first [`MAX_DISCARDED_LISTED`] discarded captures, by origin and time.
    #[must_use]
    pub fn listed(&self) -> Vec<DiscardedCapture> {
        self.listed.clone().into_sorted_vec()
    }
}
