//! Pools: the common form for sections with variable-length records, `policies`, `captures`, `lines` and `other`.
//!
//! A *pool* is a section of distinct records, sorted by their bytes and without gaps. Each record is a multiple of the
//! section's unit (4 or 8 bytes), and is referenced from elsewhere by its *address*, which is its offset in units. No
//! record is a prefix of another.

#[cfg(feature = "write")]
mod write;

#[cfg(feature = "write")]
pub(super) use self::write::{EncodedRecords, PoolWriter, write_pool};
use super::FormatError;
use super::container::Section;

/// Proves that a pool is what the writer makes from its records.
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
) -> Result<PoolReferences, FormatError> {
    let mut references = PoolReferences::new(section, bytes.len() / unit, unit);
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
pub(crate) struct PoolReferences {
    section: Section,
    unit: usize,
    starts: Vec<u64>,
    used: Vec<u64>,
}

impl PoolReferences {
    /// Creates the references for a section with this many units and no records yet.
    pub fn new(section: Section, units: usize, unit: usize) -> PoolReferences {
        let words = units.div_ceil(64);
        PoolReferences { section, unit, starts: vec![0; words], used: vec![0; words] }
    }

    /// Creates the references for a section in which each number below `count` is valid.
    pub fn all(section: Section, count: usize) -> PoolReferences {
        let mut references = PoolReferences::new(section, count, 1);
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
