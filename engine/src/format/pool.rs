//! Pools: the common form of the sections with variable records, `policies`, `captures`, `lines` and `other`.
//!
//! A *pool* is a section of records, each a multiple of the section's unit (4 or 8 bytes), one after the other without
//! a gap, in the order of their bytes. No two records are equal, and each is referred to from elsewhere. A record's
//! *address* is its offset in units. No record is a prefix of another, so that the order is total.

use super::container::Section;
use super::{FormatError, NONE, TooLarge};

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

    /// The record at an index.
    fn get(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.bytes[start..self.ends[place]]
    }
}

/// A written pool, and the address of each record that was put in.
pub(super) struct Pool {
    pub bytes: Vec<u8>,
    /// The address of each record, in the order in which they were put in; [`NONE`] for unused records.
    pub addresses: Vec<u32>,
}

/// Writes a pool: the records that are used, sorted, each once.
///
/// # Errors
/// When the section takes more bytes than addresses reach.
pub(super) fn write_pool(
    what: &'static str,
    records: &Records,
    unit: usize,
    is_used: &[bool],
) -> Result<Pool, TooLarge> {
    let mut order: Vec<usize> = (0..records.ends.len()).filter(|&place| is_used[place]).collect();
    order.sort_unstable_by(|&a, &b| records.get(a).cmp(records.get(b)));
    let mut pool = Pool { bytes: Vec::new(), addresses: vec![NONE; records.ends.len()] };
    let mut last: Option<(usize, u32)> = None;
    for place in order {
        let record = records.get(place);
        let address = match last {
            Some((same, address)) if records.get(same) == record => address,
            _ => {
                let address = address_of(what, pool.bytes.len(), unit)?;
                pool.bytes.extend_from_slice(record);
                address
            }
        };
        pool.addresses[place] = address;
        last = Some((place, address));
    }
    Ok(pool)
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
