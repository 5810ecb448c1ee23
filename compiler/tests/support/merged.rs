//! Sets of the same captures, compiled at once or merged from parts. Also used by the fuzz targets.

use std::collections::BTreeMap;

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy as Form;
use reptile_compiler::capture::{Capture, Outcome, Profile};
use reptile_compiler::dialect::GOOGLE;
use reptile_compiler::set::{MergeError, OwnedOrigin, SetBuilder, prepare};
use reptile_engine::set::Set;
use reptile_engine::spool::Memory;
use reptile_engine::threads::OneThread;
use reptile_engine::url::Scheme;
use reptile_engine::verdict::Cause;

/// A capture: origin number, time, outcome number, body number, max-age, status.
pub type Fetch = (usize, Option<i64>, u8, usize, Option<u64>, Option<u16>);

/// Returns the outcome with a number.
pub fn outcome_of(number: u8) -> Outcome {
    match number {
        0..=2 => Outcome::Use,
        3 => Outcome::Allow(Cause::Status(404)),
        4 => Outcome::Disallow(Cause::Status(403)),
        5 => Outcome::Unreachable(Cause::Status(503)),
        _ => Outcome::Unreachable(Cause::Network),
    }
}

/// Returns the origin with a number.
pub fn origin(number: usize) -> OwnedOrigin {
    OwnedOrigin { host: format!("h{number}.example").into_bytes().into(), scheme: Scheme::Http, port: 80 }
}

/// Adds a capture whose body is one of `bodies`.
pub fn add(builder: &mut SetBuilder, &(host, time, outcome, body, max_age, status): &Fetch, bodies: &[&str]) {
    let outcome = outcome_of(outcome);
    let body = bodies[body].as_bytes();
    let record = (outcome == Outcome::Use).then(|| prepare(body, &GOOGLE, &Bump::new()).unwrap());
    let capture = Capture { time, max_age, status, ..Capture::default() };
    builder.add_capture([origin(host)], &capture, outcome, record);
}

/// Returns whether an origin has several files without a time, between which merging may be unable to choose.
pub fn may_be_undecided<'f>(fetches: impl IntoIterator<Item = &'f Fetch>) -> bool {
    let mut timeless: BTreeMap<usize, usize> = BTreeMap::new();
    for (host, time, outcome, ..) in fetches {
        *timeless.entry(*host).or_default() += usize::from(time.is_none() && outcome_of(*outcome) == Outcome::Use);
    }
    timeless.into_values().any(|count| count > 1)
}

/// Opens sets in memory.
///
/// # Errors
/// Returns an error if a set cannot be opened.
pub fn opened(sets: &[Vec<u8>]) -> Result<Vec<Set<&[u8]>>, MergeError> {
    sets.iter().map(|bytes| Set::from_bytes(&bytes[..]).map_err(MergeError::Damaged)).collect()
}

/// The bodies and the settings of sets that are compared.
#[derive(Clone, Copy)]
pub struct Settings<'s> {
    /// The bodies that captures refer to.
    pub bodies: &'s [&'s str],
    /// The fetch profile.
    pub profile: &'s Profile,
    /// The time that the sets are for, or `None` for the latest.
    pub at: Option<i64>,
    /// Whether the sets are by time.
    pub by_time: bool,
}

impl Settings<'_> {
    fn builder<'f>(&self, fetches: impl IntoIterator<Item = &'f Fetch>) -> SetBuilder {
        let mut builder = SetBuilder::with_profile(&GOOGLE, self.profile, self.at).by_time(self.by_time);
        fetches.into_iter().for_each(|fetch| add(&mut builder, fetch, self.bodies));
        builder
    }

    /// Compiles captures at once.
    pub fn compiled<'f>(&self, fetches: impl IntoIterator<Item = &'f Fetch>) -> Vec<u8> {
        self.builder(fetches).finish(Form::default()).unwrap().to_bytes()
    }

    /// Merges sets and further captures.
    ///
    /// # Errors
    /// Returns an error if the sets cannot be merged.
    pub fn merged(&self, sets: &[Vec<u8>], more: &[&Fetch]) -> Result<Vec<u8>, MergeError> {
        let builder = self.builder(more.iter().copied());
        let merged = builder.finish_merged(&opened(sets)?, Form::default(), &OneThread, &Memory);
        merged.map(|set| set.to_bytes()).map_err(|(_, error)| error)
    }
}
