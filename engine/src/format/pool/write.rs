//! Writes pools. [`super`] defines their encoding.

use super::super::{NONE, TooLarge};
use crate::spool::Sink;
use crate::threads::{Threads, sort};

/// Encoded records before they are sorted.
#[derive(Default)]
pub(in super::super) struct EncodedRecords {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl EncodedRecords {
    /// Appends the record that `encode` writes.
    pub fn push_with(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        encode(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Appends another list's records.
    pub fn append(&mut self, others: &EncodedRecords) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&others.bytes);
        self.ends.extend(others.ends.iter().map(|end| start + end));
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the records' total length.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the record at an index.
    fn get(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.bytes[start..self.ends[place]]
    }
}

/// Writes a pool's records, which arrive sorted by their bytes. Writes equal ones once.
pub(in super::super) struct PoolWriter<O> {
    what: &'static str,
    unit: usize,
    pub out: O,
    /// The next record's offset.
    end: usize,
    last: Vec<u8>,
    address: u32,
}

impl<O: Sink> PoolWriter<O> {
    /// Creates a pool without records, from its content in error messages and its address unit.
    pub fn new((what, unit): (&'static str, usize), out: O) -> PoolWriter<O> {
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
pub(in super::super) fn write_pool<O: Sink, E: From<TooLarge> + From<O::Error>>(
    pool: &mut PoolWriter<O>,
    records: &EncodedRecords,
    is_used: impl Fn(usize) -> bool,
    threads: &dyn Threads,
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
fn address_of(what: &'static str, at: usize, unit: usize) -> Result<u32, TooLarge> {
    let address = u32::try_from(at / unit).ok().filter(|&address| address != NONE);
    address.ok_or(TooLarge { what, limit: u64::from(NONE) * unit as u64, found: at as u64 })
}
