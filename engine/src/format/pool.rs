//! Pools: the common form of the sections with variable records, `policies`, `captures`, `lines` and `other`.
//!
//! A *pool* is a section of records, each a multiple of the section's unit (4 or 8 bytes), one after the other without
//! a gap, in the order of their bytes. No two records are equal, and each is referred to from elsewhere. A record's
//! *address* is its offset in units. No record is a prefix of another, so that the order is total.

use super::container::Section;
use super::{FormatError, NONE, TooLarge};
use crate::spool::Sink;
use crate::threads::{Threads, sort};

/// Encoded records, one after the other, before they are sorted.
#[derive(Default)]
pub(super) struct Records {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Records {
    /// Appends the record that `encode` writes.
    pub fn push_with(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        encode(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Appends all records of another list.
    pub fn append(&mut self, others: &Records) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&others.bytes);
        self.ends.extend(others.ends.iter().map(|end| start + end));
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The record at an index.
    fn get(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.bytes[start..self.ends[place]]
    }
}

/// Writes the records of a pool, which come in the order of their bytes; equal ones are written once.
pub(super) struct PoolWriter<O> {
    what: &'static str,
    unit: usize,
    pub out: O,
    /// Where the next record begins.
    end: usize,
    last: Vec<u8>,
    address: u32,
}

impl<O: Sink> PoolWriter<O> {
    /// A pool without records. `what` names its bytes in errors.
    pub fn new(what: &'static str, unit: usize, out: O) -> PoolWriter<O> {
        PoolWriter { what, unit, out, end: 0, last: Vec::new(), address: NONE }
    }

    /// Adds a record, which has at least one byte, and returns its address.
    ///
    /// # Errors
    /// When the section takes more bytes than addresses reach, and the errors of the sink.
    pub fn push<E: From<TooLarge> + From<O::Error>>(&mut self, record: &[u8]) -> Result<u32, E> {
        if self.last != record {
            self.address = address_of(self.what, self.end, self.unit)?;
            self.out.put(record)?;
            self.end += record.len();
            self.last.clear();
            self.last.extend_from_slice(record);
        }
        Ok(self.address)
    }
}

/// Writes a pool: the records that are used, sorted, each once. Returns the address of each record, in the order in which
/// they were put in; [`NONE`] for unused records.
///
/// # Errors
/// When the section takes more bytes than addresses reach, and the errors of the sink.
pub(super) fn write_pool<O: Sink, E: From<TooLarge> + From<O::Error>>(
    pool: &mut PoolWriter<O>,
    records: &Records,
    is_used: impl Fn(usize) -> bool,
    threads: &impl Threads,
) -> Result<Vec<u32>, E> {
    // The first bytes of a record decide mostly, and are at hand. Zeros after the end of a short one change nothing, as
    // the records are compared in full where these are equal.
    let start_of = |place: usize| {
        let (record, mut start) = (records.get(place), [0; 8]);
        let len = record.len().min(start.len());
        start[..len].copy_from_slice(&record[..len]);
        u64::from_be_bytes(start)
    };
    let mut order: Vec<(u64, usize)> =
        (0..records.len()).filter(|&place| is_used(place)).map(|place| (start_of(place), place)).collect();
    // Of equal records the place decides, so that there is only one order.
    sort(&mut order, threads, &|&(start, a): &(u64, usize), &(other, b): &(u64, usize)| {
        start.cmp(&other).then_with(|| records.get(a).cmp(records.get(b))).then(a.cmp(&b))
    });
    let mut addresses = vec![NONE; records.len()];
    for (_, place) in order {
        addresses[place] = pool.push::<E>(records.get(place))?;
    }
    Ok(addresses)
}

/// The address of the record that begins at a byte of its section.
///
/// # Errors
/// When an address cannot be that large.
pub(super) fn address_of(what: &'static str, at: usize, unit: usize) -> Result<u32, TooLarge> {
    let address = u32::try_from(at / unit).ok().filter(|&address| address != NONE);
    address.ok_or(TooLarge { what, limit: u64::from(NONE) * unit as u64, found: at as u64 })
}

/// Proves that a pool is what [`write_pool`] makes of its records. `reencode` reads the record at the start of the
/// given bytes, and writes it again. Returns the addresses at which records begin, for checking references.
///
/// Linear; each byte counts as a step.
///
/// # Errors
/// The errors of `reencode`, and when a record is not encoded as it would be written, or is out of order.
pub(super) fn verify_pool<'a>(
    section: Section,
    bytes: &'a [u8],
    unit: usize,
    steps: &mut u64,
    mut reencode: impl FnMut(&'a [u8], &mut Vec<u8>) -> Result<(), FormatError>,
) -> Result<References, FormatError> {
    let mut references = References::new(section, bytes.len() / unit, unit);
    let mut written = Vec::new();
    let mut last: &[u8] = &[];
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        written.clear();
        reencode(rest, &mut written).map_err(|error| error.in_record_at(at))?;
        *steps += 1 + written.len() as u64;
        if !rest.starts_with(&written) || written.is_empty() {
            return Err(FormatError::at(section, at, "the only encoding of a record", "another encoding of it"));
        }
        let record = &rest[..written.len()];
        if at > 0 && last >= record {
            return Err(FormatError::at(
                section,
                at,
                "records in the order of their bytes, each once",
                "another order",
            ));
        }
        references.add(at / unit);
        last = record;
        at += record.len();
    }
    Ok(references)
}

/// The addresses of a section at which records begin, and which of them something refers to. Two bits for each unit.
pub(crate) struct References {
    section: Section,
    unit: usize,
    starts: Vec<u64>,
    used: Vec<u64>,
}

impl References {
    /// For a section of this many units, without any record yet.
    pub fn new(section: Section, units: usize, unit: usize) -> References {
        let words = units.div_ceil(64);
        References { section, unit, starts: vec![0; words], used: vec![0; words] }
    }

    /// For a section in which each number below `count` is a valid reference.
    pub fn all(section: Section, count: usize) -> References {
        let mut references = References::new(section, count, 1);
        (0..count).for_each(|number| references.add(number));
        references
    }

    fn add(&mut self, address: usize) {
        if let Some(word) = self.starts.get_mut(address / 64) {
            *word |= 1 << (address % 64);
        }
    }

    /// Notes that something refers to an address. Returns whether a record begins there.
    pub fn refer(&mut self, address: u32) -> bool {
        let (word, bit) = (address as usize / 64, 1 << (address % 64));
        let is_start = self.starts.get(word).is_some_and(|starts| starts & bit != 0);
        if is_start {
            self.used[word] |= bit;
        }
        is_start
    }

    /// Checks that something refers to each record.
    ///
    /// # Errors
    /// The first record that nothing refers to.
    pub fn finish(self, steps: &mut u64) -> Result<(), FormatError> {
        *steps += self.starts.len() as u64;
        let unused = self.starts.iter().zip(&self.used).position(|(starts, used)| starts != used);
        let Some(word) = unused else { return Ok(()) };
        let bit = (self.starts[word] & !self.used[word]).trailing_zeros() as usize;
        let at = (word * 64 + bit) * self.unit;
        let expected = "a record that something in the set refers to";
        if self.unit == 1 {
            let found = format!("number {at}, which nothing refers to");
            return Err(FormatError::new(self.section.name(), expected, found));
        }
        Err(FormatError::at(self.section, at, expected, "a record that nothing refers to"))
    }
}
