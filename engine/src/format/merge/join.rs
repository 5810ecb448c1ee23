//! Finds the origins that several sets contain.

use super::super::FormatError;
use super::super::draft::SetTables;
use super::super::origins::{OriginRecord, UNIT, seed_part};
use super::error::{MergeError, of_part};
use crate::threads::{Threads, sort};

/// An origin record's location: the set's number in the high bits, and its address there in the low [`ADDRESS_BITS`].
pub(super) type OriginLocation = u64;

/// Number of address bits in a location, as in slots.
const ADDRESS_BITS: u32 = 40;

/// Returns a location's set number and byte offset in the section.
pub(super) fn place_of(at: OriginLocation) -> (usize, usize) {
    ((at >> ADDRESS_BITS) as usize, (at & ((1 << ADDRESS_BITS) - 1)) as usize * UNIT)
}

fn location(part: usize, place: usize) -> OriginLocation {
    (part as u64) << ADDRESS_BITS | (place / UNIT) as u64
}

/// The origins from all sets, without duplicates.
pub(super) struct JoinedOrigins {
    first_seed: u64,
    /// Locations for origins that several sets contain, grouped by origin, first set first.
    members: Vec<OriginLocation>,
    /// Each origin's end in `members`.
    ends: Vec<usize>,
    /// For each set, its locations in `members` in order, with their origin's index.
    of_part: Vec<Vec<(OriginLocation, usize)>>,
}

/// Finds the origins that several sets contain. Memory: 16 bytes for each origin in each set.
pub(super) fn join<E>(tables: &[SetTables<'_>], threads: &dyn Threads) -> Result<JoinedOrigins, MergeError<E>> {
    let mut all = hashed_records(tables, threads, |part| records(part, &tables[part]), seed_part)?;
    sort(&mut all, threads, &Ord::cmp);
    let mut joined =
        JoinedOrigins { first_seed: 0, members: Vec::new(), ends: Vec::new(), of_part: vec![Vec::new(); tables.len()] };
    for same in all.chunk_by(|a, b| a.0 == b.0) {
        if let [(hash, _)] = *same {
            joined.add(hash, &[]);
            continue;
        }
        let mut named = Vec::with_capacity(same.len());
        for &(hash, at) in same {
            let (part, place) = place_of(at);
            let (OriginRecord { scheme, port, host, .. }, _) = of_part(part, tables[part].origins.at(place))?;
            named.push(((scheme, port, host), at, hash));
        }
        named.sort_unstable();
        for origin in named.chunk_by(|a, b| a.0 == b.0) {
            let locations: Vec<OriginLocation> = origin.iter().map(|&(_, at, _)| at).collect();
            joined.add(origin[0].2, if locations.len() > 1 { &locations } else { &[] });
        }
    }
    joined.of_part.iter_mut().for_each(|members| members.sort_unstable());
    Ok(joined)
}

impl JoinedOrigins {
    /// Adds an origin. `locations` are its records if there are several, otherwise empty.
    fn add(&mut self, hash: u64, locations: &[OriginLocation]) {
        self.first_seed = self.first_seed.wrapping_add(hash);
        if locations.is_empty() {
            return;
        }
        for &at in locations {
            self.of_part[place_of(at).0].push((at, self.ends.len()));
        }
        self.members.extend_from_slice(locations);
        self.ends.push(self.members.len());
    }

    /// Returns the first seed to try for the merged hash table.
    pub fn first_seed(&self) -> u64 {
        self.first_seed
    }

    /// Returns an origin's locations if several sets contain it.
    fn locations(&self, origin: usize) -> &[OriginLocation] {
        let start = if origin == 0 { 0 } else { self.ends[origin - 1] };
        &self.members[start..self.ends[origin]]
    }

    /// Returns the origins that a set is the first to contain, in record order: location, record, and all locations if
    /// other sets also contain the origin.
    pub fn origins<'j, 't>(
        &'j self,
        part: usize,
        tables: &SetTables<'t>,
    ) -> impl Iterator<Item = Result<(OriginLocation, OriginRecord<'t>, &'j [OriginLocation]), FormatError>> + use<'j, 't>
    {
        let mut members = self.of_part[part].iter().peekable();
        records(part, tables).filter_map(move |found| {
            let (at, record) = match found {
                Ok(found) => found,
                Err(error) => return Some(Err(error)),
            };
            let others =
                members.next_if(|(member, _)| *member == at).map_or(&[][..], |&(_, place)| self.locations(place));
            others.first().is_none_or(|&first| first == at).then_some(Ok((at, record, others)))
        })
    }

    /// Returns each origin's hash with the location of its first record.
    pub fn hashed<E>(
        &self,
        tables: &[SetTables<'_>],
        threads: &dyn Threads,
        hash: impl Fn(&OriginRecord<'_>) -> u64 + Sync,
    ) -> Result<Vec<(u64, OriginLocation)>, MergeError<E>> {
        let first_of =
            |part: usize| self.origins(part, &tables[part]).map(|found| found.map(|(at, record, _)| (at, record)));
        hashed_records(tables, threads, first_of, hash)
    }
}

/// Returns hashes and locations for records from all sets, which are read in parallel.
fn hashed_records<'t, I: Iterator<Item = Result<(OriginLocation, OriginRecord<'t>), FormatError>>, E>(
    tables: &[SetTables<'t>],
    threads: &dyn Threads,
    records_of: impl Fn(usize) -> I + Sync,
    hash: impl Fn(&OriginRecord<'_>) -> u64 + Sync,
) -> Result<Vec<(u64, OriginLocation)>, MergeError<E>> {
    let hashed = threads.each_number(tables.len(), |part| {
        records_of(part).map(|found| found.map(|(at, record)| (hash(&record), at))).collect::<Result<Vec<_>, _>>()
    });
    let mut all = Vec::new();
    for (part, hashed) in hashed.into_iter().enumerate() {
        all.append(&mut of_part(part, hashed)?);
    }
    Ok(all)
}

/// Returns a set's records with their locations.
fn records<'t>(
    part: usize,
    tables: &SetTables<'t>,
) -> impl Iterator<Item = Result<(OriginLocation, OriginRecord<'t>), FormatError>> + use<'t> {
    let origins = tables.origins;
    let (mut place, end) = (0, origins.records.len());
    std::iter::from_fn(move || {
        if place >= end {
            return None;
        }
        let found = origins.at(place);
        let at = location(part, place);
        place = found.as_ref().map_or(end, |&(_, next)| next);
        Some(found.map(|(record, _)| (at, record)))
    })
}
