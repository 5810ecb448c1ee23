//! Merges whole sets into one, which may be larger than memory.
//!
//! A set's records are sorted, so several sets are merged as streams, from disk to disk. Memory only contains tables of
//! numbers: each record's location in the new set. The caller decides what an origin's captures mean ([`Decide`]).
//!
//! The steps, in order: `join` finds the origins that several sets contain. `used` decides every origin and records
//! which contents are needed. `contents` merges tokens, rulesets, lines, other directives and policies. Finally, this
//! module writes the captures and origins, which refer to those contents.

mod contents;
mod decide;
mod error;
mod files;
mod join;
mod used;

use std::convert::Infallible;
use std::io;

use self::contents::{MergedAddresses, merge_contents};
use self::decide::OriginInput;
pub use self::decide::{Decide, OriginDecision};
pub use self::error::MergeError;
use self::error::of_part;
use self::join::{JoinedOrigins, OriginLocation, join, place_of};
use self::used::Decisions;
use super::container::Section;
use super::crawlers::CrawlerTable;
use super::draft::{CAPTURES, SetTables};
use super::numbers::NumberSet;
use super::origins::{OriginOrder, OriginRecord, UNIT, hash_of_record, write_origins};
use super::pool::{EncodedRecords, PoolWriter, write_pool};
use super::reading::Interpretation;
use super::{NONE, TooLarge};
use crate::set::Set;
use crate::spool::{SectionBytes, SectionWriter, Store};
use crate::threads::Threads;
use crate::url::Scheme;

/// Maximum number of sets to merge at once.
pub const MAX_PARTS: usize = 1 << 16;

/// The merged set's sections and counters.
pub struct MergedSections<C> {
    /// The sections.
    pub sections: [SectionBytes; Section::COUNT],
    /// The counters. Each origin is counted once, in one of them.
    pub counts: Vec<C>,
}

/// Merges sets that were compiled with the same settings into one with this reading and these crawlers.
///
/// The output does not depend on the order of the sets.
///
/// Time: linear in the sets, except for sorting origins, policies and captures. Memory: about 60 bytes per origin, plus
/// captures and policies.
///
/// # Errors
/// Returns an error if a set is damaged, an origin cannot be decided, a format limit is exceeded, or a temporary file
/// cannot be written.
pub fn merge<D: Decide>(
    sets: &[&Set<&[u8]>],
    reading: &Interpretation<'_>,
    crawlers: &CrawlerTable<'_>,
    decide: &D,
    threads: &dyn Threads,
    store: &dyn Store,
) -> Result<MergedSections<D::Counts>, MergeError<D::Error>> {
    if sets.len() > MAX_PARTS {
        let (limit, found) = (MAX_PARTS as u64, sets.len() as u64);
        return Err(TooLarge { what: "sets that are merged at once", limit, found }.into());
    }
    let tables: Vec<SetTables<'_>> = sets.iter().map(|set| set.tables()).collect();
    let joined = join(&tables, threads)?;
    let Decisions { used, counts } = used::find(&tables, &joined, decide, threads)?;
    let (addresses, contents) = merge_contents(&tables, used, threads, store)?;
    let origins = merge_origins(&tables, &joined, &addresses, decide, threads, store)?;
    let mut sections = Section::ALL.map(|_| SectionBytes::Held(Vec::new()));
    sections[Section::Reading as usize] = SectionBytes::Held(reading.write()?);
    sections[Section::Crawlers as usize] = SectionBytes::Held(crawlers.write()?);
    for (section, bytes) in contents.into_iter().chain(origins) {
        sections[section as usize] = bytes;
    }
    Ok(MergedSections { sections, counts })
}

/// An origin record's references: its policy's address, its history's number or [`NONE`], and its other directives'
/// address or [`NONE`].
type RecordReferences = [u32; 3];

/// References for the origins that this set is the first to contain.
#[derive(Default)]
struct PartReferences {
    references: Vec<RecordReferences>,
    /// The set's records that have an element in `references`.
    places: NumberSet,
    histories: EncodedRecords,
    /// The first history's number among the histories from all sets.
    first_history: usize,
}

impl PartReferences {
    fn find<D: Decide>(
        tables: &[SetTables<'_>],
        joined: &JoinedOrigins,
        addresses: &MergedAddresses,
        decide: &D,
        part: usize,
    ) -> Result<PartReferences, MergeError<D::Error>> {
        let mut own = PartReferences::default();
        // A damaged set may claim more origins than fit in memory.
        let origins = tables[part].origins;
        let count = (origins.count() as usize).min(origins.records.len() / UNIT);
        own.references.try_reserve_exact(count).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        // These counters are discarded, because `used` has already counted the origins.
        let (mut input, mut counts) = (OriginInput::default(), D::Counts::default());
        for found in joined.origins(part, &tables[part]) {
            let (at, origin, others) = of_part(part, found)?;
            input.collect_from(tables, (at, origin), others)?;
            let decided = decide.decide(&origin, &input.found, &mut counts).map_err(MergeError::Undecided)?;
            own.references.push(references_of(&input, addresses, decided, &mut own.histories));
            own.places.insert(place_of(at).1 / UNIT);
        }
        own.places.count();
        Ok(own)
    }
}

const NO_ORIGIN: OriginRecord<'_> =
    OriginRecord { host: b"", scheme: Scheme::Http, port: 0, policy: NONE, captures: None, other: None };

/// Writes captures and origins.
fn merge_origins<D: Decide>(
    tables: &[SetTables<'_>],
    joined: &JoinedOrigins,
    addresses: &MergedAddresses,
    decide: &D,
    threads: &dyn Threads,
    store: &dyn Store,
) -> Result<[(Section, SectionBytes); 3], MergeError<D::Error>> {
    let references_of_part = |part| PartReferences::find(tables, joined, addresses, decide, part);
    let (mut parts, mut histories) = (Vec::new(), EncodedRecords::default());
    for found in threads.each_number(tables.len(), references_of_part) {
        let mut found = found?;
        found.first_history = histories.len();
        histories.append(&std::mem::take(&mut found.histories));
        parts.push(found);
    }
    let mut pool = PoolWriter::new(CAPTURES, SectionWriter::new(store.create()?));
    let history_addresses = write_pool::<_, MergeError<D::Error>>(&mut pool, &histories, |_| true, threads)?;
    drop(histories);
    let captures = pool.out.finish()?;
    let order = OriginOrder::choose(
        joined.first_seed(),
        |seed| joined.hashed(tables, threads, |origin| hash_of_record(seed, origin)),
        |at| {
            let (part, place) = place_of(at);
            // This record has been read before, so there is no error.
            tables[part].origins.at(place).map_or(NO_ORIGIN, |(record, _)| record)
        },
        threads,
    )?;
    let (mut buckets, mut origins) = (SectionWriter::new(store.create()?), SectionWriter::new(store.create()?));
    let record = |at: OriginLocation| {
        let (part, place) = place_of(at);
        let (record, _) = of_part(part, tables[part].origins.at(place))?;
        let PartReferences { references, places, first_history, .. } = &parts[part];
        let index = places.rank(place / UNIT);
        let [policy, history, other] =
            index.and_then(|index| references.get(index as usize)).copied().unwrap_or([NONE; 3]);
        let optional = |address: u32| Some(address).filter(|&address| address != NONE);
        let history = optional(history).map(|history| first_history + history as usize);
        let captures = history.and_then(|history| history_addresses.get(history).copied());
        Ok::<_, MergeError<D::Error>>(OriginRecord { policy, captures, other: optional(other), ..record })
    };
    write_origins(&order, record, &mut buckets, &mut origins, threads)?;
    Ok([(Section::Captures, captures), (Section::Buckets, buckets.finish()?), (Section::Origins, origins.finish()?)])
}

/// Returns an origin record's references after a decision, and appends its captures to `histories`.
fn references_of(
    input: &OriginInput,
    addresses: &MergedAddresses,
    decided: OriginDecision,
    histories: &mut EncodedRecords,
) -> RecordReferences {
    let file = |number: u32| input.file(number);
    let policy = addresses.policy(decided.source, decided.file.and_then(file));
    let other = decided.file.and_then(file).map_or(NONE, |file| addresses.other(file));
    let captures = decided.captures.map_or(NONE, |stored| {
        let address = |policy: u32| {
            let policy = decided.policies.get(policy as usize);
            Ok::<_, Infallible>(
                policy.map_or(NONE, |&(source, number)| addresses.policy(source, number.and_then(file))),
            )
        };
        let stored = stored.with_policies(address).unwrap_or_else(|never| match never {});
        histories.push_with(|out| stored.encode(out));
        histories.len() as u32 - 1
    });
    [policy, captures, other]
}
