//! An origin's data from several sets, and the caller's decision about the origin.

use super::super::NONE;
use super::super::captures::StoredCaptures;
use super::super::draft::SetTables;
use super::super::histories::{CaptureHistory, CaptureRecord, FetchOutcome};
use super::super::origins::OriginRecord;
use super::error::{MergeError, of_part};
use super::files::{FileRecord, is_same};
use super::join::{OriginLocation, place_of};
use crate::verdict::PolicySource;

/// The decision for an origin, based on each set's captures.
#[derive(Clone, Debug)]
pub struct OriginDecision {
    /// The policy source.
    pub source: PolicySource,
    /// The file whose rules decide, if any.
    pub file: Option<u32>,
    /// The captures that the new set keeps, if any. Their policies are indexes into `policies`.
    pub captures: Option<StoredCaptures>,
    /// The policies that the captures need: source, and the file whose rules it has, if any.
    pub policies: Vec<(PolicySource, Option<u32>)>,
}

/// Decides what an origin's captures mean. Pure, except for its counters: it is called more than once for each origin.
pub trait Decide: Sync {
    /// The counters.
    type Counts: Default + Send;

    /// The reason why an origin cannot be decided.
    type Error: Send;

    /// Decides an origin.
    ///
    /// `found` has an element for each set that contains the origin: the set's number and captures. Policies in
    /// captures are file numbers, which are equal for files with the same content and only meaningful within this call.
    ///
    /// # Errors
    /// Returns an error if the captures do not determine a policy.
    fn decide(
        &self,
        origin: &OriginRecord<'_>,
        found: &[(usize, StoredCaptures)],
        counts: &mut Self::Counts,
    ) -> Result<OriginDecision, Self::Error>;
}

/// An origin's data from all sets, as input for [`Decide::decide`].
#[derive(Default)]
pub(super) struct OriginInput {
    pub found: Vec<(usize, StoredCaptures)>,
    pub files: Vec<FileRecord>,
}

/// Returns the history of an origin without a capture record: only a successfully fetched file's rules are known.
fn plain(policy: u32) -> StoredCaptures {
    let newest = CaptureRecord {
        time: None,
        outcome: FetchOutcome::Rules,
        body_hash: 0,
        max_age: None,
        status: None,
        policy: Some(policy),
    };
    let history = CaptureHistory { newest, answered: None, ended: None, earlier_failures: Vec::new() };
    StoredCaptures::History(history)
}

impl OriginInput {
    /// Collects an origin's data: `origin` at one location, and the records at the others.
    pub fn collect_from<'t, E>(
        &mut self,
        tables: &[SetTables<'t>],
        (at, origin): (OriginLocation, OriginRecord<'t>),
        others: &[OriginLocation],
    ) -> Result<(), MergeError<E>> {
        self.found.clear();
        self.files.clear();
        self.add(tables, at, &origin)?;
        for &other in others.iter().filter(|&&other| other != at) {
            let (part, place) = place_of(other);
            let (record, _) = of_part(part, tables[part].origins.at(place))?;
            self.add(tables, other, &record)?;
        }
        Ok(())
    }

    fn add<E>(
        &mut self,
        tables: &[SetTables<'_>],
        at: OriginLocation,
        origin: &OriginRecord<'_>,
    ) -> Result<(), MergeError<E>> {
        let (part, _) = place_of(at);
        let mut stored = match origin.captures {
            Some(address) => of_part(part, tables[part].captures.get(address))?,
            None => plain(origin.policy),
        };
        for policy in stored.captures_mut().filter_map(|capture| capture.policy.as_mut()) {
            // A damaged set's references may be invalid, so check them before using addresses as keys.
            of_part(part, tables[part].policies.get(*policy))?;
            of_part(part, tables[part].other.get(origin.other).group_count())?;
            // An origin has the other directives of its deciding capture. Older captures, which a set by time also
            // contains, never decide at a set's reference time, so their other directives do not matter here.
            let file = FileRecord { part: part as u32, policy: *policy, other: origin.other.unwrap_or(NONE) };
            *policy = self.number(tables, file)?;
        }
        self.found.push((part, stored));
        Ok(())
    }

    /// Returns a file's number, which is the same for files with the same content.
    fn number<E>(&mut self, tables: &[SetTables<'_>], file: FileRecord) -> Result<u32, MergeError<E>> {
        for (number, &known) in (0..).zip(&self.files) {
            if is_same(tables, known, file)? {
                return Ok(number);
            }
        }
        self.files.push(file);
        Ok(self.files.len() as u32 - 1)
    }

    pub fn file(&self, number: u32) -> Option<FileRecord> {
        self.files.get(number as usize).copied()
    }
}
