//! The sections `index`, `rulesets` and `prints`: the automata, one after the other; where each ends; and the
//! fingerprints that they share.
//!
//! An entry of the index has eight bytes: the lower 48 bits are the end of the ruleset, the upper 16 the kind of payload.
//! The rulesets are in the order of their automata's bytes, and no two are equal; a ruleset's number is its place.
//!
//! A ruleset is stored without its fingerprints: in their place it has the places of these in `prints`, which has each
//! once. A ruleset that differs little from the last one that was stored whole is stored as `patches` of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::automaton::{Corrupt, corrupt, without_fingerprints};
use super::container::Section;
use super::patches::{apply, base_of, patches_of};
use super::pool::References;
use super::{FormatError, NONE, TooLarge, fit, put, put_long, u32_at, u64_at};
use crate::automaton::Ruleset;
use crate::platform::{Fingerprints, prefetch};
use crate::spool::Sink;

pub use super::patches::MAX_PATCHED_BYTES;

/// Bytes of an entry of the index.
const ENTRY_BYTES: usize = 8;

/// The number of bits of an entry that are an offset; the others are the kind of payload.
const OFFSET_BITS: u32 = 48;

/// All automata of a set must have fewer bytes than this.
pub const MAX_RULESETS_BYTES: u64 = 1 << OFFSET_BITS;

/// Bytes of a cache line, and how many of them at the start of a ruleset are asked for before it is walked.
const CACHE_LINE_BYTES: usize = 64;
const FIRST_LINES: usize = 4;

/// The payload of rules that allow and disallow: an automaton.
const PAYLOAD_RULES: u64 = 0;

/// The payload of rules that allow and disallow: patches of another ruleset's automaton.
const PAYLOAD_PATCHES: u64 = 1;

/// Bytes of the place of shared fingerprints.
const PLACE_BYTES: usize = 4;

/// Writes the sections of the rulesets that are used, sorted, each once. Each automaton is freed as soon as it is copied.
/// Returns the sections, and the number of each automaton in the order in which they were put in; [`NONE`] for unused ones.
pub(super) fn write_rulesets<A: AsRef<[u8]> + Default>(
    mut automata: Vec<A>,
    is_used: &[bool],
) -> Result<(RulesetWriter<Vec<u8>>, Vec<u32>), TooLarge> {
    let mut order: Vec<usize> = (0..automata.len()).filter(|&place| is_used[place]).collect();
    order.sort_unstable_by(|&a, &b| automata[a].as_ref().cmp(automata[b].as_ref()));
    let mut numbers = vec![NONE; automata.len()];
    let mut writer = RulesetWriter::new(Vec::new());
    for place in order {
        numbers[place] = writer.push::<TooLarge>(std::mem::take(&mut automata[place]).as_ref())?;
    }
    Ok((writer, numbers))
}

/// Writes rulesets, which come in the order of their automata's bytes; equal ones are written once. Needs no more of them
/// than the last one, and the last one that was stored whole.
pub(super) struct RulesetWriter<O> {
    pub index: Vec<u8>,
    pub rulesets: O,
    end: u64,
    last: Vec<u8>,
    packer: Packer,
    fingerprints: FingerprintPool,
}

impl<O: Sink> RulesetWriter<O> {
    /// A writer that gives the section `rulesets` to a sink, and keeps the others.
    pub fn new(rulesets: O) -> RulesetWriter<O> {
        let (packer, fingerprints) = (Packer::default(), FingerprintPool::default());
        RulesetWriter { index: Vec::new(), rulesets, end: 0, last: Vec::new(), packer, fingerprints }
    }

    /// Adds an automaton, and returns its number.
    ///
    /// # Errors
    /// When there are too many, or they have too many bytes, and the errors of the sink.
    pub fn push<E: From<TooLarge> + From<O::Error>>(&mut self, automaton: &[u8]) -> Result<u32, E> {
        if self.index.is_empty() || self.last != automaton {
            self.write::<E>(automaton)?;
            self.last.clear();
            self.last.extend_from_slice(automaton);
        }
        Ok(fit("rulesets", self.index.len() / ENTRY_BYTES - 1, u64::from(NONE) - 1)?)
    }

    fn write<E: From<TooLarge> + From<O::Error>>(&mut self, automaton: &[u8]) -> Result<(), E> {
        let packed = self.packer.pack(automaton, |table| self.fingerprints.place(table))?;
        let (bytes, payload) = match &packed {
            Packed::Whole(bytes) => (*bytes, PAYLOAD_RULES),
            Packed::Patches(record) => (&record[..], PAYLOAD_PATCHES),
        };
        self.rulesets.put(bytes)?;
        self.end += bytes.len() as u64;
        if self.end >= MAX_RULESETS_BYTES {
            let (limit, found) = (MAX_RULESETS_BYTES - 1, self.end);
            return Err(TooLarge { what: "bytes of rulesets", limit, found }.into());
        }
        put_long(&mut self.index, self.end | payload << OFFSET_BITS);
        Ok(())
    }

    /// The sections `index`, `rulesets` and `prints`.
    pub fn finish(self) -> (Vec<u8>, O, Vec<u8>) {
        (self.index, self.rulesets, self.fingerprints.bytes)
    }
}

/// Decides in which form each ruleset is stored. The writer and the verifier of sets ask it for one ruleset after the
/// other, so that both come to the same forms.
#[derive(Default)]
struct Packer {
    /// How many rulesets were packed.
    count: u32,
    /// The last ruleset that was stored whole, without fingerprints, and its number.
    base: Vec<u8>,
    base_number: u32,
    packed: Vec<u8>,
}

/// A ruleset as it is stored.
enum Packed<'p> {
    /// Whole, without fingerprints.
    Whole(&'p [u8]),
    /// The record of its patches.
    Patches(Vec<u8>),
}

impl Packer {
    /// The stored form of the next automaton. `place` gives the place of fingerprints in the section.
    fn pack(
        &mut self,
        automaton: &[u8],
        mut place: impl FnMut(&Fingerprints) -> Result<u32, TooLarge>,
    ) -> Result<Packed<'_>, TooLarge> {
        // What the compiler makes is an automaton; anything else is stored as it is, and refused when it is read.
        let (rest, tables) = without_fingerprints(automaton).unwrap_or((automaton, &[]));
        self.packed.clear();
        self.packed.extend_from_slice(rest);
        for table in tables {
            put(&mut self.packed, place(table)?);
        }
        let number = self.count;
        self.count += 1;
        if let Some(record) = patches_of(self.base_number, &self.base, &self.packed) {
            return Ok(Packed::Patches(record));
        }
        self.base_number = number;
        std::mem::swap(&mut self.base, &mut self.packed);
        Ok(Packed::Whole(&self.base))
    }
}

/// The section `prints`: the distinct fingerprints, in the order in which rulesets first have them.
#[derive(Default)]
struct FingerprintPool {
    bytes: Vec<u8>,
    known: HashMap<Fingerprints, u32>,
}

impl FingerprintPool {
    /// The place of fingerprints, which are added if they are not there yet.
    fn place(&mut self, table: &Fingerprints) -> Result<u32, TooLarge> {
        if let Some(&place) = self.known.get(table) {
            return Ok(place);
        }
        let place = fit("fingerprints", self.known.len(), u32::MAX.into())?;
        self.known.insert(*table, place);
        self.bytes.extend_from_slice(table);
        Ok(place)
    }
}

/// A ruleset as a set stores it: bytes of an automaton, patches of them, and the fingerprints that rulesets share.
#[derive(Clone, Copy)]
pub struct StoredRuleset<'a> {
    /// The automaton, or the automaton that is patched. If `fingerprints` is not empty, it ends with their places instead
    /// of its own.
    pub(crate) bytes: &'a [u8],
    pub(crate) patches: &'a [u8],
    /// The section `prints`; empty for an automaton that ends with its own.
    pub(crate) fingerprints: &'a [u8],
}

impl<'a> StoredRuleset<'a> {
    /// The number of bytes that it takes, without fingerprints that it shares and without what it patches.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        if self.is_patched() { super::patches::BASE_BYTES + self.patches.len() } else { self.bytes.len() }
    }

    /// Whether it is stored as patches of another ruleset.
    #[inline(always)]
    #[must_use]
    pub fn is_patched(&self) -> bool {
        !self.patches.is_empty()
    }

    /// Copies the bytes to the start of `copy`, which has room for [`MAX_PATCHED_BYTES`] or for all of them, and patches
    /// the copy.
    ///
    /// # Errors
    /// When they are too long to be patched, or the patches are damaged.
    #[inline]
    pub(crate) fn patch<'c>(&self, copy: &'c mut [u8]) -> Result<&'c [u8], Corrupt> {
        let copy = copy.get_mut(..self.bytes.len()).ok_or(corrupt!(0, "a ruleset of at most 2,048 bytes"))?;
        copy.copy_from_slice(self.bytes);
        apply(self.patches, copy)?;
        Ok(copy)
    }

    /// The automaton by itself: patched, and with its own fingerprints, as [`super::automaton::write`] returned it.
    ///
    /// # Errors
    /// When the bytes are damaged.
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
        let (automaton, places) = super::automaton::at_fingerprints(self.bytes)?;
        if places.is_empty() {
            return Ok(Cow::Borrowed(self.bytes));
        }
        let missing = corrupt!(automaton.len(), "places of shared fingerprints", "others");
        if !places.len().is_multiple_of(PLACE_BYTES) {
            return Err(missing);
        }
        let mut bytes = Vec::with_capacity(automaton.len() + places.len() / PLACE_BYTES * size_of::<Fingerprints>());
        bytes.extend_from_slice(automaton);
        for place in places.chunks_exact(PLACE_BYTES) {
            let at = u32_at(place, 0).map_or(usize::MAX, |place| place as usize * size_of::<Fingerprints>());
            let table = self.fingerprints.get(at..).and_then(|tables| tables.first_chunk::<96>());
            bytes.extend_from_slice(table.ok_or(missing)?);
        }
        Ok(Cow::Owned(bytes))
    }
}

/// The bytes of a ruleset in the section, and the kind of its payload.
pub(crate) type Record<'a> = (&'a [u8], u64);

/// The rulesets of a set.
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
    /// The number of rulesets.
    #[must_use]
    pub fn len(&self) -> u32 {
        u32::try_from(self.index.len() / ENTRY_BYTES).unwrap_or(NONE)
    }

    /// Whether there are no rulesets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One ruleset, by its number.
    ///
    /// # Errors
    /// When there is no ruleset with that number, or its payload is of a kind that this version does not know.
    // In its caller, as all that a ruleset goes through on its way to its walk: what is returned is written in smaller pieces
    // than it is copied in, and the processor waits for that, as long as for a third of a short walk.
    #[inline(always)]
    pub fn get(&self, ruleset: u32) -> Result<StoredRuleset<'a>, FormatError> {
        match self.record(ruleset).and_then(|record| self.read(record)) {
            Some(stored) => Ok(stored),
            None => Err(self.missing(ruleset)),
        }
    }

    /// The ruleset of a record. `None` if its payload is of a kind that this version does not know, or it patches no ruleset.
    #[inline(always)]
    pub(crate) fn read(&self, record: Record<'a>) -> Option<StoredRuleset<'a>> {
        match record {
            (bytes, PAYLOAD_RULES) => Some(StoredRuleset { bytes, patches: &[], fingerprints: self.fingerprints }),
            (record, PAYLOAD_PATCHES) => self.patched(record),
            _ => None,
        }
    }

    /// A ruleset that is stored as patches. There must be a patch, since no two rulesets are equal.
    #[inline(always)]
    fn patched(&self, record: &'a [u8]) -> Option<StoredRuleset<'a>> {
        let (base, patches) = base_of(record).filter(|(_, patches)| !patches.is_empty())?;
        let (bytes, _) = self.record(base).filter(|&(_, payload)| payload == PAYLOAD_RULES)?;
        Some(StoredRuleset { bytes, patches, fingerprints: self.fingerprints })
    }

    /// The bytes of a ruleset in the section, and the kind of its payload.
    #[inline(always)]
    fn record(&self, ruleset: u32) -> Option<Record<'a>> {
        let at = ruleset as usize * ENTRY_BYTES;
        let offset = |entry: u64| usize::try_from(entry & (MAX_RULESETS_BYTES - 1)).ok();
        let start = if ruleset == 0 { 0 } else { offset(u64_at(self.index, at - ENTRY_BYTES)?)? };
        let entry = u64_at(self.index, at)?;
        Some((self.bytes.get(start..offset(entry)?)?, entry >> OFFSET_BITS))
    }

    /// The offset in the section at which a ruleset begins.
    fn start(&self, ruleset: u32) -> usize {
        let before = (ruleset as usize).checked_sub(1).and_then(|before| u64_at(self.index, before * ENTRY_BYTES));
        usize::try_from(before.unwrap_or(0) & (MAX_RULESETS_BYTES - 1)).unwrap_or(0)
    }

    /// Asks for the memory of a ruleset's entry in the index.
    #[inline]
    pub(crate) fn ask_for_entry(&self, ruleset: u32) {
        prefetch(self.index, (ruleset as usize * ENTRY_BYTES).saturating_sub(ENTRY_BYTES));
    }

    /// The record of a ruleset, if there is one. Waits for the entry, and asks for the memory of the record's first bytes, which
    /// mostly include the root of its trie.
    #[inline]
    pub(crate) fn ask_for(&self, ruleset: u32) -> Option<Record<'a>> {
        let record = self.record(ruleset)?;
        for line in 0..FIRST_LINES {
            prefetch(record.0, line * CACHE_LINE_BYTES);
        }
        Some(record)
    }

    /// The error that says why there is no such ruleset.
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
            _ => "patches of no ruleset that is stored whole".into(),
        };
        FormatError::at(Section::Index, at, "a ruleset of rules inside the section", found)
    }

    /// Proves that the automata of a range of rulesets are what a writer makes of their content.
    pub(crate) fn verify_automata(self, numbers: Range<u32>, steps: &mut u64) -> Result<(), FormatError> {
        for number in numbers {
            let stored = self.get(number)?;
            let verified = stored.to_bytes().and_then(|automaton| {
                *steps += 1 + automaton.len() as u64;
                Ruleset::new(&automaton).and_then(|ruleset| ruleset.verify())
            });
            verified.map_err(|error| FormatError::from(error).in_record_at(self.start(number)))?;
        }
        Ok(())
    }

    /// Proves that the sections are what a writer makes of the automata, whatever these are.
    pub(crate) fn verify(self, steps: &mut u64) -> Result<References, FormatError> {
        if !self.index.len().is_multiple_of(ENTRY_BYTES) {
            let found = format!("{} bytes", self.index.len());
            return Err(FormatError::new(Section::Index.name(), "entries of 8 bytes", found));
        }
        let (mut end, mut last) = (0, Cow::Borrowed(&[][..]));
        let (mut packer, mut pool) = (Packer::default(), FingerprintPool::default());
        for number in 0..self.index.len() / ENTRY_BYTES {
            let number = fit("rulesets", number, u64::from(NONE) - 1).map_err(|_| self.missing(NONE))?;
            let (record, _) = self.record(number).ok_or_else(|| self.missing(number))?;
            let stored = self.get(number)?;
            let automaton = stored.to_bytes().map_err(|error| FormatError::from(error).in_record_at(end))?;
            *steps += 1 + record.len() as u64;
            if number > 0 && last >= automaton {
                let expected = "automata in the order of their bytes, each once";
                return Err(FormatError::at(Section::Rulesets, end, expected, "another order"));
            }
            let is_packed = match packer.pack(&automaton, |table| pool.place(table)) {
                Ok(Packed::Whole(bytes)) => !stored.is_patched() && record == bytes,
                Ok(Packed::Patches(patches)) => stored.is_patched() && record == patches,
                Err(_) => false,
            };
            if !is_packed {
                let expected = "the only form in which the ruleset is stored";
                return Err(FormatError::at(Section::Rulesets, end, expected, "another form"));
            }
            (end, last) = (end + record.len(), automaton);
        }
        if end != self.bytes.len() {
            let found = format!("{} bytes more", self.bytes.len() - end);
            let expected = "the end of the section after the last automaton";
            return Err(FormatError::at(Section::Rulesets, end, expected, found));
        }
        if pool.bytes != self.fingerprints {
            let expected = "the fingerprints of the rulesets, in the order of their first use";
            return Err(FormatError::new(Section::Prints.name(), expected, "others"));
        }
        Ok(References::all(Section::Rulesets, self.index.len() / ENTRY_BYTES))
    }
}
