//! Merges sets by their stored captures. The result equals the set compiled from all captures at once.
//!
//! The engine merges the records ([`reptile_engine::format::merge`]), and this module decides which of an origin's
//! captures counts. A set that is too large to compile in memory is compiled in parts, which are merged in the same
//! way.

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use reptile_engine::format::captures::StoredCaptures;
use reptile_engine::format::container::Header;
use reptile_engine::format::merge::{self, Decide, OriginDecision};
use reptile_engine::format::origins::OriginRecord;
use reptile_engine::format::reading::Interpretation;
use reptile_engine::format::{FormatError, TooLarge};
use reptile_engine::set::Set;
use reptile_engine::spool::Store;
use reptile_engine::threads::Threads;

use crate::automaton::Strategy;
use crate::capture::{Captures, Discarded, Profile, Time};
use crate::set::report::TieTimes;
use crate::set::{CaptureReport, CompiledSet, OwnedOrigin, SetBuilder, crawler_table};

/// The reason that a set cannot be merged with others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// The set is damaged.
    Damaged(FormatError),
    /// The set is damaged, or comes from a later version: it has a record that this version cannot read.
    Unreadable,
    /// A setting differs from the previous sets'.
    OtherSetting {
        /// The setting.
        setting: &'static str,
        /// The value in the previous sets.
        expected: String,
        /// The value in this set.
        found: String,
    },
    /// There are two different files with unknown times for this origin, and sets do not store the data that decides
    /// between them.
    Undecided(OwnedOrigin),
    /// The merged set is too large for the format.
    TooLarge(TooLarge),
    /// A temporary file cannot be written.
    Io(String),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Damaged(error) => error.fmt(f),
            MergeError::Unreadable => f.write_str("contains a record that cannot be read; compile the set again"),
            MergeError::OtherSetting { setting, expected, found } => {
                write!(f, "has the {setting} {found}, and the sets before it have {expected}")
            }
            MergeError::Undecided(origin) => {
                write!(f, "has another robots.txt for {origin}, and no times decide which one counts")
            }
            MergeError::TooLarge(error) => write!(f, "the set cannot be built: {error}"),
            MergeError::Io(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for MergeError {}

/// An error, and the index of the affected set, or `None` if it concerns all sets.
pub type PartError = (Option<usize>, MergeError);

fn io_error(error: &io::Error) -> PartError {
    (None, MergeError::Io(error.to_string()))
}

impl SetBuilder {
    /// Compiles the added data, and merges it with sets as if their captures had been added too.
    ///
    /// Captures that a set did not keep never count in the merged set either. The sets must have the same dialect and
    /// fetch profile as this builder, and must have been compiled by `strategy`. Some of them may be parts
    /// ([`SetBuilder::finish_part`]).
    ///
    /// A set for a time leaves out later captures; a merged set has the latest of the times.
    ///
    /// Time: linear in the sets, except for sorting origins, policies and captures. Memory: the builder's data, and
    /// then about 100 bytes per origin. Larger data goes to the store.
    ///
    /// # Errors
    /// Returns an error if a set is damaged or has different settings, two files for one origin have no times, some
    /// part is too large for the format, or there is not enough space.
    pub fn finish_merged(
        mut self,
        sets: &[Set<&[u8]>],
        strategy: Strategy,
        threads: &dyn Threads,
        store: &dyn Store,
    ) -> Result<CompiledSet, PartError> {
        let header = Header {
            normal_form: self.dialect.normal_form.number(),
            name_matching: self.dialect.name_matching.number(),
            automata_form: strategy.form(),
        };
        let mut newest = self.newest;
        for (part, set) in sets.iter().enumerate() {
            self.check_settings(set, header).map_err(|error| (Some(part), error))?;
            newest = newest.max(set.reading().at);
        }
        let own = if self.is_empty() {
            None
        } else {
            let part = self.finish_part(strategy, threads).map_err(|error| (None, MergeError::TooLarge(error)))?;
            Some(part.to_bytes())
        };
        let at = self.at.or(newest);
        // The builder's own compiled data, if any, followed by the sets.
        let own = own.as_deref().map(Set::from_bytes).transpose();
        let own = own.map_err(|error| (None, MergeError::Damaged(error)))?;
        let first = usize::from(own.is_some());
        let all: Vec<&Set<&[u8]>> = own.iter().chain(sets).collect();
        let decider = Decider { profile: &self.profile, at, by_time: self.by_time, ties: &self.ties };
        let reading = Interpretation { by_time: self.by_time, ..self.profile.reading(&self.dialect.name, at) };
        let merged = merge::merge(&all, &reading, &crawler_table(&self.dialect), &decider, threads, store);
        let merged = merged.map_err(|error| match error {
            merge::MergeError::Damaged(part, error) => (part.checked_sub(first), MergeError::Damaged(error)),
            merge::MergeError::Undecided((part, error)) => (part.checked_sub(first), error),
            merge::MergeError::TooLarge(error) => (None, MergeError::TooLarge(error)),
            merge::MergeError::Io(error) => io_error(&error),
        })?;
        let mut report = CaptureReport { at, ..self.report };
        merged.counts.into_iter().for_each(|counts| report.add(counts));
        Ok(CompiledSet { header, sections: merged.sections, report })
    }

    /// Checks that a set was built with this builder's settings.
    fn check_settings<D: AsRef<[u8]>>(&self, set: &Set<D>, header: Header) -> Result<(), MergeError> {
        let same = |setting, expected: &str, found: &str| {
            if expected == found {
                return Ok(());
            }
            Err(MergeError::OtherSetting { setting, expected: expected.into(), found: found.into() })
        };
        let found = set.reading();
        let own = self.profile.reading(&self.dialect.name, found.at);
        same("dialect", own.dialect, found.dialect)?;
        same("fetch profile", own.profile, found.profile)?;
        let times = |reading: &reptile_engine::format::reading::Interpretation<'_>| {
            let shown = |seconds: Option<i64>| seconds.map_or("none".into(), |seconds| seconds.to_string());
            let (freshness, cap) = (shown(reading.freshness), shown(reading.max_age_cap));
            format!("freshness {freshness}, max-age up to {cap}, patience {} seconds", reading.patience)
        };
        same("times of the fetch profile:", &times(&own), &times(&found))?;
        let number = |number: u32| number.to_string();
        let yes_or_no = |yes: bool| if yes { "yes" } else { "no" };
        same("validity by time:", yes_or_no(self.by_time), yes_or_no(set.has_times()))?;
        same("normal form", &number(header.normal_form), &number(set.normal_form().number()))?;
        same("way of comparing names", &number(header.name_matching), &number(set.name_matching().number()))?;
        let form = |form: u32| format!("{form:#x}");
        same("construction of automata", &form(header.automata_form), &form(set.automata_form()))
    }
}

/// Decides by a fetch profile, for a time.
struct Decider<'p> {
    profile: &'p Profile,
    at: Option<Time>,
    by_time: bool,
    /// Times at which captures tie in compiled parts.
    ties: &'p BTreeMap<OwnedOrigin, TieTimes>,
}

impl Decide for Decider<'_> {
    type Counts = CaptureReport;
    type Error = (usize, MergeError);

    fn decide(
        &self,
        origin: &OriginRecord<'_>,
        found: &[(usize, StoredCaptures)],
        report: &mut CaptureReport,
    ) -> Result<OriginDecision, Self::Error> {
        let owned = || OwnedOrigin { host: origin.host.into(), scheme: origin.scheme, port: origin.port };
        let mut captures = Captures::new(self.by_time);
        let mut ties = if self.ties.is_empty() { None } else { self.ties.get(&owned()).cloned() }.unwrap_or_default();
        for (part, stored) in found {
            let stored = match stored {
                StoredCaptures::History(history) => Captures::from_stored(history),
                StoredCaptures::Timeline(timeline) => Captures::from_timeline(timeline),
            };
            let stored = stored.ok_or((*part, MergeError::Unreadable))?;
            ties.extend(captures.ties(&stored));
            let dropped = captures.add_stored(&stored).ok_or_else(|| (*part, MergeError::Undecided(owned())))?;
            for kept in &dropped {
                report.discard(&owned(), kept, Discarded::Superseded);
            }
        }
        let first = found.first().map_or(0, |&(part, _)| part);
        let decision = captures.decide(self.profile, self.at).ok_or((first, MergeError::Unreadable))?;
        captures.check_count().map_err(|error| (first, MergeError::TooLarge(error)))?;
        report.count(&owned, &decision);
        if !ties.is_empty() {
            report.count_ties(&owned(), &ties, &captures);
        }
        let mut policies = Vec::new();
        let captures = captures.stored(&decision, self.profile, |source, file| {
            policies.push((source, file));
            policies.len() as u32 - 1
        });
        Ok(OriginDecision { source: decision.source, file: decision.rules, captures, policies })
    }
}
