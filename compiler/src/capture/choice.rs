//! An origin's captures, for a set by time or another set. The order in which they arrive does not matter.

use reptile_engine::format::TooLarge;

use super::Time;
use super::latest::{Decision, KeptCapture, LatestCaptures};
use super::profile::{Outcome, Profile};
use super::timeline::AllCaptures;
use crate::limits::MAX_CAPTURES_BY_TIME;

/// The captures of one origin: those that can still count, or for a set by time all of them.
#[derive(Clone, Debug)]
pub struct Captures(pub(super) KeptCaptures);

#[derive(Clone, Debug)]
pub(super) enum KeptCaptures {
    Latest(LatestCaptures),
    All(AllCaptures),
}

impl Default for Captures {
    fn default() -> Captures {
        Captures(KeptCaptures::Latest(LatestCaptures::default()))
    }
}

impl Captures {
    /// Creates an empty list. Keeps all captures if the set is `by_time`.
    #[must_use]
    pub fn new(by_time: bool) -> Captures {
        if by_time { Captures(KeptCaptures::All(AllCaptures::default())) } else { Captures::default() }
    }

    /// Adds a capture. Returns up to two captures that can no longer count.
    ///
    /// Takes constant time. In a set by time, takes logarithmic time if captures arrive in time order, and linear time
    /// otherwise.
    pub fn add(&mut self, kept: KeptCapture) -> [Option<KeptCapture>; 2] {
        match &mut self.0 {
            KeptCaptures::Latest(latest) => latest.add(kept),
            KeptCaptures::All(all) => [all.add(kept), None],
        }
    }

    /// Returns whether a capture ties with one of these, so that only a body hash decides between the two.
    pub(crate) fn is_tied_with(&self, kept: &KeptCapture) -> bool {
        match &self.0 {
            KeptCaptures::Latest(_) => self.all().any(|own| own.is_tied_with(kept)),
            KeptCaptures::All(AllCaptures(all)) => {
                let place = all.binary_search_by_key(&kept.time, |own| own.time);
                place.is_ok_and(|place| all[place].is_tied_with(kept))
            }
        }
    }

    /// Returns the times at which captures in `others` tie with some of these.
    pub(crate) fn ties<'k>(&'k self, others: &'k Captures) -> impl Iterator<Item = Option<Time>> + 'k {
        others.all().filter(|kept| self.is_tied_with(kept)).map(|kept| kept.time)
    }

    /// Returns whether one of these captures has this time and rules.
    pub(crate) fn has_rules_at(&self, time: Option<Time>) -> bool {
        self.all().any(|kept| kept.time == time && kept.outcome == Outcome::Use)
    }

    /// Decides the origin's policy at a time. The caller excludes captures fetched later.
    #[must_use]
    pub fn decide(&self, profile: &Profile, at: Option<Time>) -> Option<Decision> {
        match &self.0 {
            KeptCaptures::Latest(latest) => latest.decide(profile, at),
            // Captures that do not count at this time count at another.
            KeptCaptures::All(all) => Some(Decision { discarded: None, ..all.latest().decide(profile, at)? }),
        }
    }

    /// Checks that an origin has no more captures than a set by time may hold.
    ///
    /// # Errors
    /// Returns an error if there are more than [`MAX_CAPTURES_BY_TIME`].
    pub fn check_count(&self) -> Result<(), TooLarge> {
        let found = match &self.0 {
            KeptCaptures::Latest(_) => 0,
            KeptCaptures::All(all) => all.0.len(),
        };
        if found <= MAX_CAPTURES_BY_TIME {
            return Ok(());
        }
        let what = "captures of an origin in a set by time";
        Err(TooLarge { what, limit: MAX_CAPTURES_BY_TIME as u64, found: found as u64 })
    }
}
