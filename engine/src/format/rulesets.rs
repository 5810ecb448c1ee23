//! The sections `index`, `rulesets` and `prints`: the automata, their ends, and their shared fingerprints.
//!
//! An index entry has eight bytes: the lower 48 bits are the ruleset's end, the upper 16 the payload kind. Rulesets are
//! sorted by their automata's bytes and distinct; a ruleset's number is its index.
//!
//! A ruleset is stored without its fingerprints, which are replaced with indexes into `prints`. Each fingerprint is
//! stored there once. A ruleset that differs little from the last one stored whole is stored as `patches` of it.

#[cfg(feature = "write")]
mod write;

use std::borrow::Cow;
use std::ops::Range;

use super::automaton::{Corrupt, corrupt, without_fingerprints};
use super::container::Section;
use super::fingerprints::{FingerprintPool, resolved};
use super::patches::{apply, base_of, patches_of};
use super::pool::PoolReferences;
use super::{FormatError, NONE, TooLarge, fit, u64_at};
use crate::platform::prefetch;

#[cfg(feature = "write")]
pub(super) use self::write::{RulesetWriter, write_rulesets};
pub use super::patches::MAX_PATCHED_BYTES;

/// Index entry size in bytes.
const ENTRY_BYTES: usize = 8;

/// Offset bits per entry; the others are the payload kind.
const OFFSET_BITS: u32 = 48;

/// Exclusive upper bound for the section `rulesets` in bytes.
pub const MAX_RULESETS_BYTES: u64 = 1 << OFFSET_BITS;

/// Cache line size in bytes, and how many lines to prefetch at a ruleset's start.
const CACHE_LINE_BYTES: usize = 64;
const FIRST_LINES: usize = 4;

/// Payload kind: an automaton.
const PAYLOAD_RULES: u64 = 0;

/// Payload kind: patches for another automaton.
const PAYLOAD_PATCHES: u64 = 1;

/// Chooses each ruleset's stored form.
///
/// Writing and verifying both pass every ruleset to it in order, so they arrive at the same forms.
#[derive(Default)]
struct RulesetPacker {
    /// Number of rulesets packed so far.
    count: u32,
    /// The last ruleset that was stored whole, without fingerprints, and its number.
    base: Vec<u8>,
    base_number: u32,
    packed: Vec<u8>,
}

/// A ruleset's stored form.
enum PackedRuleset<'p> {
    /// Whole, without fingerprints.
    Whole(&'p [u8]),
    /// A patch record.
    Patches(Vec<u8>),
}

impl RulesetPacker {
    /// Returns the next automaton's stored form, and adds its fingerprints to the pool.
    fn pack(&mut self, automaton: &[u8], pool: &mut FingerprintPool) -> Result<PackedRuleset<'_>, TooLarge> {
        // The compiler only creates valid automata. Anything else is stored unchanged, and rejected when it is read.
        let (rest, fingerprints) = without_fingerprints(automaton).unwrap_or((automaton, &[]));
        self.packed.clear();
        self.packed.reserve(rest.len() + fingerprints.len() * size_of::<u32>());
        self.packed.extend_from_slice(rest);
        for fingerprints in fingerprints {
            pool.refer(fingerprints, &mut self.packed)?;
        }
        let number = self.count;
        self.count += 1;
        if let Some(record) = patches_of(self.base_number, &self.base, &self.packed) {
            return Ok(PackedRuleset::Patches(record));
        }
        self.base_number = number;
        std::mem::swap(&mut self.base, &mut self.packed);
        Ok(PackedRuleset::Whole(&self.base))
    }
}

/// A ruleset as stored in a set: an automaton's bytes, patches for them, and the shared fingerprints.
#[derive(Clone, Copy)]
pub struct StoredRuleset<'a> {
    /// The automaton, or the automaton to patch. If `fingerprints` is not empty, it ends with indexes instead of
    /// fingerprints.
    pub(crate) bytes: &'a [u8],
    pub(crate) patches: &'a [u8],
    /// The section `prints`; empty for an automaton that contains its fingerprints.
    pub(crate) fingerprints: &'a [u8],
}

impl<'a> StoredRuleset<'a> {
    /// Returns the stored size in bytes, without shared fingerprints and without the patched ruleset.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        if self.is_patched() { super::patches::BASE_BYTES + self.patches.len() } else { self.bytes.len() }
    }

    /// Returns whether the ruleset is stored as patches.
    #[inline(always)]
    #[must_use]
    pub fn is_patched(&self) -> bool {
        !self.patches.is_empty()
    }

    /// Copies the bytes to the start of `copy` and applies the patches.
    ///
    /// [`MAX_PATCHED_BYTES`] suffice for every valid ruleset.
    ///
    /// # Errors
    /// Returns an error if `copy` is too small or the patches are damaged.
    #[inline]
    pub(crate) fn patch<'c>(&self, copy: &'c mut [u8]) -> Result<&'c [u8], Corrupt> {
        let copy = copy.get_mut(..self.bytes.len()).ok_or(corrupt!(0, "a ruleset of at most 2,048 bytes"))?;
        copy.copy_from_slice(self.bytes);
        apply(self.patches, copy)?;
        Ok(copy)
    }

    /// Returns the complete automaton, with patches applied and its own fingerprints, as [`super::automaton::write`]
    /// returned it.
    ///
    /// # Errors
    /// Returns an error if the bytes are damaged.
    pub fn to_bytes(&self) -> Result<Cow<'a, [u8]>, Corrupt> {
        if self.is_patched() {
            let mut copy = [0; MAX_PATCHED_BYTES];
            let bytes = self.patch(&mut copy)?;
            let whole = StoredRuleset { bytes, patches: &[], ..*self };
            return Ok(Cow::Owned(whole.to_bytes()?.into_owned()));
        }
        if self.fingerprints.is_empty() {
            return Ok(Cow::Borrowed(self.bytes));
        }
        let (automaton, references) = super::automaton::at_fingerprints(self.bytes)?;
        if references.is_empty() {
            return Ok(Cow::Borrowed(self.bytes));
        }
        let missing = corrupt!(automaton.len(), "indexes of shared fingerprints", "other bytes");
        resolved(automaton, references, self.fingerprints).map(Cow::Owned).ok_or(missing)
    }
}

/// The location of a ruleset in a set's bytes, which saves a lookup for each URL.
#[derive(Clone, Debug)]
pub struct RulesetPlace {
    bytes: Range<usize>,
    patches: Range<usize>,
    fingerprints: Range<usize>,
}

impl RulesetPlace {
    /// Returns the ruleset's place in the set from whose bytes it was read.
    pub(crate) fn of(stored: &StoredRuleset<'_>, set: &[u8]) -> RulesetPlace {
        let range = |part: &[u8]| {
            let start = (part.as_ptr() as usize).wrapping_sub(set.as_ptr() as usize);
            if part.is_empty() { 0..0 } else { start..start.wrapping_add(part.len()) }
        };
        RulesetPlace {
            bytes: range(stored.bytes),
            patches: range(stored.patches),
            fingerprints: range(stored.fingerprints),
        }
    }

    /// Returns the ruleset at this place in a set's bytes.
    ///
    /// # Errors
    /// Returns an error if the set is too short, as after its file has shrunk. Without patches, a ruleset would give
    /// another one's verdicts.
    #[inline(always)]
    pub(crate) fn in_set<'a>(&self, set: &'a [u8]) -> Result<StoredRuleset<'a>, Corrupt> {
        let part = |range: &Range<usize>| set.get(range.start..range.end).ok_or(corrupt!(0, "a whole ruleset"));
        Ok(StoredRuleset {
            bytes: part(&self.bytes)?,
            patches: part(&self.patches)?,
            fingerprints: part(&self.fingerprints)?,
        })
    }
}

/// A ruleset's stored bytes and payload kind.
pub(crate) type StoredRecord<'a> = (&'a [u8], u64);

/// The rulesets in a set.
#[derive(Clone, Copy)]
pub struct Rulesets<'a> {
    /// The section `index`.
    pub(crate) index: &'a [u8],
    /// The section `rulesets`.
    pub(crate) bytes: &'a [u8],
    /// The section `prints`.
    pub(crate) fingerprints: &'a [u8],
}

impl<'a> Rulesets<'a> {
    /// Returns the number of rulesets.
    #[must_use]
    pub fn len(&self) -> u32 {
        u32::try_from(self.index.len() / ENTRY_BYTES).unwrap_or(NONE)
    }

    /// Returns whether there are no rulesets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a ruleset by its number.
    ///
    /// # Errors
    /// Returns an error if there is no ruleset with that number, or if this version does not know its payload kind.
    // Inlined, like everything between a look-up and its walk. The result is read in larger pieces than it is written
    // in, and the processor would wait for that, for up to a third of a short walk's time.
    #[inline(always)]
    pub fn get(&self, ruleset: u32) -> Result<StoredRuleset<'a>, FormatError> {
        match self.record(ruleset).and_then(|record| self.read(record)) {
            Some(stored) => Ok(stored),
            None => Err(self.missing(ruleset)),
        }
    }

    /// Returns a record's ruleset, or `None` if this version does not know its payload kind or there is no ruleset to
    /// patch.
    #[inline(always)]
    pub(crate) fn read(&self, record: StoredRecord<'a>) -> Option<StoredRuleset<'a>> {
        match record {
            (bytes, PAYLOAD_RULES) => Some(StoredRuleset { bytes, patches: &[], fingerprints: self.fingerprints }),
            (record, PAYLOAD_PATCHES) => self.patched(record),
            _ => None,
        }
    }

    /// Returns a ruleset that is stored as patches. There must be a patch, because rulesets are distinct.
    #[inline(always)]
    fn patched(&self, record: &'a [u8]) -> Option<StoredRuleset<'a>> {
        let (base, patches) = base_of(record).filter(|(_, patches)| !patches.is_empty())?;
        let (bytes, _) = self.record(base).filter(|&(_, payload)| payload == PAYLOAD_RULES)?;
        Some(StoredRuleset { bytes, patches, fingerprints: self.fingerprints })
    }

    /// Returns a ruleset's stored bytes and payload kind.
    #[inline(always)]
    fn record(&self, ruleset: u32) -> Option<StoredRecord<'a>> {
        let at = ruleset as usize * ENTRY_BYTES;
        let offset = |entry: u64| usize::try_from(entry & (MAX_RULESETS_BYTES - 1)).ok();
        let start = if ruleset == 0 { 0 } else { offset(u64_at(self.index, at - ENTRY_BYTES)?)? };
        let entry = u64_at(self.index, at)?;
        Some((self.bytes.get(start..offset(entry)?)?, entry >> OFFSET_BITS))
    }

    /// Returns a ruleset's offset in the section.
    pub(crate) fn start(&self, ruleset: u32) -> usize {
        let before = (ruleset as usize).checked_sub(1).and_then(|before| u64_at(self.index, before * ENTRY_BYTES));
        usize::try_from(before.unwrap_or(0) & (MAX_RULESETS_BYTES - 1)).unwrap_or(0)
    }

    /// Prefetches a ruleset's index entry.
    #[inline]
    pub(crate) fn prefetch_entry(&self, ruleset: u32) {
        prefetch(self.index, (ruleset as usize * ENTRY_BYTES).saturating_sub(ENTRY_BYTES));
    }

    /// Returns a ruleset's record, if it exists.
    ///
    /// Waits for the index entry, and prefetches the record's first bytes, which usually include its trie's root.
    #[inline]
    pub(crate) fn prefetch(&self, ruleset: u32) -> Option<StoredRecord<'a>> {
        let record = self.record(ruleset)?;
        for line in 0..FIRST_LINES {
            prefetch(record.0, line * CACHE_LINE_BYTES);
        }
        Some(record)
    }

    /// Returns the error that explains why a ruleset is missing.
    #[cold]
    pub(crate) fn missing(&self, ruleset: u32) -> FormatError {
        let at = ruleset as usize * ENTRY_BYTES;
        let found = match (u64_at(self.index, at), self.record(ruleset)) {
            (None, _) => format!("ruleset {ruleset} of {}", self.len()),
            (Some(entry), _) if entry >> OFFSET_BITS > PAYLOAD_PATCHES => format!("payload {}", entry >> OFFSET_BITS),
            (Some(entry), None) => {
                let end = entry & (MAX_RULESETS_BYTES - 1);
                format!("a ruleset that ends at {end} of {}", self.bytes.len())
            }
            _ => "patches without a base ruleset that is stored whole".into(),
        };
        FormatError::at(Section::Index, at, "a known ruleset inside the section", found)
    }

    /// Proves that the sections are canonical, without checking the automata themselves.
    pub(crate) fn verify(self, steps: &mut u64) -> Result<PoolReferences, FormatError> {
        if self.index.len() % ENTRY_BYTES != 0 {
            let found = format!("{} bytes", self.index.len());
            return Err(FormatError::new(Section::Index.name(), "entries of 8 bytes", found));
        }
        let (mut end, mut last) = (0, Cow::Borrowed(&[][..]));
        let (mut packer, mut pool) = (RulesetPacker::default(), FingerprintPool::default());
        for number in 0..self.index.len() / ENTRY_BYTES {
            let number = fit("rulesets", number, u64::from(NONE) - 1).map_err(|_| self.missing(NONE))?;
            let (record, _) = self.record(number).ok_or_else(|| self.missing(number))?;
            let stored = self.get(number)?;
            let automaton = stored.to_bytes().map_err(|error| FormatError::from(error).in_record_at(end))?;
            *steps += 1 + record.len() as u64;
            if number > 0 && last >= automaton {
                let expected = "distinct automata sorted by their bytes";
                return Err(FormatError::at(Section::Rulesets, end, expected, "another order"));
            }
            let is_packed = match packer.pack(&automaton, &mut pool) {
                Ok(PackedRuleset::Whole(bytes)) => !stored.is_patched() && record == bytes,
                Ok(PackedRuleset::Patches(patches)) => stored.is_patched() && record == patches,
                Err(_) => false,
            };
            if !is_packed {
                let expected = "the only form in which the ruleset is stored";
                return Err(FormatError::at(Section::Rulesets, end, expected, "another form"));
            }
            (end, last) = (end + record.len(), automaton);
        }
        if end != self.bytes.len() {
            let found = format!("{} more bytes", self.bytes.len() - end);
            let expected = "the end of the section after the last automaton";
            return Err(FormatError::at(Section::Rulesets, end, expected, found));
        }
        if pool.bytes != self.fingerprints {
            let expected = "the rulesets' fingerprints, in order of first use";
            return Err(FormatError::new(Section::Prints.name(), expected, "others"));
        }
        Ok(PoolReferences::all(Section::Rulesets, self.index.len() / ENTRY_BYTES))
    }
}
