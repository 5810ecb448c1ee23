//! Pools: the common form for sections with variable-length records, `policies`, `captures`, `lines` and `other`.
//!
//! A *pool* is a section of distinct records, sorted by their bytes and without gaps. Each record is a multiple of the
//! section's unit (4 or 8 bytes), and is referenced from elsewhere by its *address*, which is its offset in units. No
//! record is a prefix of another.

use super::container::Section;
use super::{FormatError, NONE, TooLarge};
use crate::spool::Sink;
use crate::threads::{Threads, sort};

/// Encoded records before they are sorted.
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

    /// Appends another list's records.
    pub fn append(&mut self, others: &Records) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&others.bytes);
        self.ends.extend(others.ends.iter().map(|end| start + end));
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the record at an index.
    fn get(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.bytes[start..self.ends[place]]
    }
}

/// Writes a pool's records, which arrive sorted by their bytes. Writes equal ones once.
pub(super) struct PoolWriter<O> {
    what: &'static str,
    unit: usize,
    pub out: O,
    /// The next record's offset.
    end: usize,
    last: Vec<u8>,
    address: u32,
}

impl<O: Sink> PoolWriter<O> {
    /// Creates a pool without records. `what` names its content in error messages.
    pub fn new(what: &'static str, unit: usize, out: O) -> PoolWriter<O> {
        PoolWriter { what, unit, out, end: 0, last: Vec::new(), address: NONE }
    }

    /// Adds a record, which must not be empty, and returns its address.
    ///
    /// # Errors
    /// Returns an error if the section grows beyond the address range, or if the sink does.
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

/// Writes a pool: the used records, sorted and without duplicates.
///
/// Returns each record's address in input order; [`NONE`] for unused records.
///
/// # Errors
/// Returns an error if the section grows beyond the address range, or if the sink does.
pub(super) fn write_pool<O: Sink, E: From<TooLarge> + From<O::Error>>(
    pool: &mut PoolWriter<O>,
    records: &Records,
    is_used: impl Fn(usize) -> bool,
    threads: &impl Threads,
) -> Result<Vec<u32>, E> {
    // The first bytes usually decide, and need no memory access. Zeros after a short record's end are harmless, because
    // records are compared in full if these bytes are equal.
    let start_of = |place: usize| {
        let (record, mut start) = (records.get(place), [0; 8]);
        let len = record.len().min(start.len());
        start[..len].copy_from_slice(&record[..len]);
        u64::from_be_bytes(start)
    };
    let mut order: Vec<(u64, usize)> =
        (0..records.len()).filter(|&place| is_used(place)).map(|place| (start_of(place), place)).collect();
    // The index decides between equal records, so the order is unique.
    sort(&mut order, threads, &|&(start, a): &(u64, usize), &(other, b): &(u64, usize)| {
        start.cmp(&other).then_with(|| records.get(a).cmp(records.get(b))).then(a.cmp(&b))
    });
    let mut addresses = vec![NONE; records.len()];
    for (_, place) in order {
        addresses[place] = pool.push::<E>(records.get(place))?;
    }
    Ok(addresses)
}

/// Returns the address of the record at a byte offset in its section.
///
/// # Errors
/// Returns an error if the offset is beyond the address range.
pub(super) fn address_of(what: &'static str, at: usize, unit: usize) -> Result<u32, TooLarge> {
    let address = u32::try_from(at / unit).ok().filter(|&address| address != NONE);
    address.ok_or(TooLarge { what, limit: u64::from(NONE) * unit as u64, found: at as u64 })
}

/// Proves that a pool is what [`write_pool`] writes for its records.
///
/// `reencode` reads the first record in the given bytes, and encodes it again. Returns the records' addresses, for
/// checking references. Linear; each byte counts as a step.
///
/// # Errors
/// Returns an error if `reencode` does, if a record has another encoding, or if records are out of order.
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
            return Err(FormatError::at(section, at, "distinct records sorted by their bytes", "another order"));
        }
        references.add(at / unit);
        last = record;
        at += record.len();
    }
    Ok(references)
}

/// The addresses in a section at which records begin, and whether they are referenced. Two bits per unit.
pub(crate) struct References {
    section: Section,
    unit: usize,
    starts: Vec<u64>,
    used: Vec<u64>,
}

impl References {
    /// Creates the references for a section with this many units and no records yet.
    pub fn new(section: Section, units: usize, unit: usize) -> References {
        let words = units.div_ceil(64);
        References { section, unit, starts: vec![0; words], used: vec![0; words] }
    }

    /// Creates the references for a section in which each number below `count` is valid.
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

    /// Marks an address as referenced. Returns whether a record begins there.
    pub fn refer(&mut self, address: u32) -> bool {
        let (word, bit) = (address as usize / 64, 1 << (address % 64));
        let is_start = self.starts.get(word).is_some_and(|starts| starts & bit != 0);
        if is_start {
            self.used[word] |= bit;
        }
        is_start
    }

    /// Checks that every record is referenced.
    ///
    /// # Errors
    /// Returns an error that names the first unreferenced record.
    pub fn finish(self, steps: &mut u64) -> Result<(), FormatError> {
        *steps += self.starts.len() as u64;
        let unused = self.starts.iter().zip(&self.used).position(|(starts, used)| starts != used);
        let Some(word) = unused else { return Ok(()) };
        let bit = (self.starts[word] & !self.used[word]).trailing_zeros() as usize;
        let at = (word * 64 + bit) * self.unit;
        let expected = "a record that is referenced in the set";
        if self.unit == 1 {
            let found = format!("number {at}, which is unreferenced");
            return Err(FormatError::new(self.section.name(), expected, found));
        }
        Err(FormatError::at(self.section, at, expected, "an unreferenced record"))
    }
}
