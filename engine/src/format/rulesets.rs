//! The sections `index` and `rulesets`: the automata, one after the other, and where each ends.
//!
//! An entry of the index has eight bytes: the lower 48 bits are the end of the automaton, the upper 16 the kind of
//! payload. The automata are in the order of their bytes, and no two are equal; a ruleset's number is its place.

use std::borrow::Cow;

use super::container::Section;
use super::pool::References;
use super::{FormatError, NONE, TooLarge, fit, put_long, u64_at};
use crate::automaton::Ruleset;
use crate::platform::prefetch;

/// Bytes of an entry of the index.
const ENTRY_BYTES: usize = 8;

/// The number of bits of an entry that are an offset; the others are the kind of payload.
const OFFSET_BITS: u32 = 48;

/// All automata of a set must have fewer bytes than this.
pub const MAX_RULESETS_BYTES: u64 = 1 << OFFSET_BITS;

/// Bytes of a cache line, and how many of them at the start of a ruleset are asked for before it is walked.
const CACHE_LINE_BYTES: usize = 64;
const FIRST_LINES: usize = 4;

/// The payload of rules that allow and disallow. No other kind of payload exists yet.
const PAYLOAD_RULES: u64 = 0;

/// The written sections, and the number of each automaton that was put in.
pub(super) struct WrittenRulesets {
    pub index: Vec<u8>,
    pub rulesets: Vec<u8>,
    /// The number of each automaton, in the order in which they were put in; [`NONE`] for unused automata.
    pub numbers: Vec<u32>,
}

/// Writes the index and the automata of the rulesets that are used, sorted, each once. Each automaton is freed as soon as
/// it is copied.
pub(super) fn write_rulesets(mut automata: Vec<Cow<'_, [u8]>>, is_used: &[bool]) -> Result<WrittenRulesets, TooLarge> {
    let mut order: Vec<usize> = (0..automata.len()).filter(|&place| is_used[place]).collect();
    order.sort_unstable_by(|&a, &b| automata[a].cmp(&automata[b]));
    let mut numbers = vec![NONE; automata.len()];
    let (mut index, mut joined) = (Vec::new(), Vec::<u8>::new());
    joined.reserve_exact(order.iter().map(|&place| automata[place].len()).sum());
    let mut last_start = 0;
    for place in order {
        let automaton = std::mem::take(&mut automata[place]);
        if index.is_empty() || joined[last_start..] != *automaton {
            last_start = joined.len();
            joined.extend_from_slice(&automaton);
            let end = joined.len() as u64;
            if end >= MAX_RULESETS_BYTES {
                return Err(TooLarge { what: "bytes of rulesets", limit: MAX_RULESETS_BYTES - 1, found: end });
            }
            put_long(&mut index, end | PAYLOAD_RULES << OFFSET_BITS);
        }
        numbers[place] = fit("rulesets", index.len() / ENTRY_BYTES - 1, u64::from(NONE) - 1)?;
    }
    Ok(WrittenRulesets { index, rulesets: joined, numbers })
}

/// The rulesets of a set.
#[derive(Clone, Copy)]
pub struct Rulesets<'a> {
    /// The section `index`.
    pub(crate) index: &'a [u8],
    /// The section `rulesets`.
    pub(crate) bytes: &'a [u8],
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

    /// The bytes of one automaton, by its number.
    ///
    /// # Errors
    /// When there is no ruleset with that number, or its payload is of a kind that this version does not know.
    #[inline]
    pub fn get(&self, ruleset: u32) -> Result<&'a [u8], FormatError> {
        let bytes = || {
            let at = ruleset as usize * ENTRY_BYTES;
            let start = if ruleset == 0 { 0 } else { u64_at(self.index, at - ENTRY_BYTES)? & (MAX_RULESETS_BYTES - 1) };
            // With another payload than rules, the end appears to be far outside of the section.
            self.bytes.get(usize::try_from(start).ok()?..usize::try_from(u64_at(self.index, at)?).ok()?)
        };
        bytes().ok_or_else(|| self.missing(ruleset))
    }

    /// Asks for the memory of a ruleset's entry in the index.
    #[inline]
    pub(crate) fn ask_for_entry(&self, ruleset: u32) {
        prefetch(self.index, (ruleset as usize * ENTRY_BYTES).saturating_sub(ENTRY_BYTES));
    }

    /// Asks for the memory of a ruleset's first bytes, which mostly include the root of its trie. Waits for the entry.
    #[inline]
    pub(crate) fn ask_for(&self, ruleset: u32) {
        if let Ok(bytes) = self.get(ruleset) {
            for line in 0..FIRST_LINES {
                prefetch(bytes, line * CACHE_LINE_BYTES);
            }
        }
    }

    #[cold]
    fn missing(&self, ruleset: u32) -> FormatError {
        let at = ruleset as usize * ENTRY_BYTES;
        let found = match u64_at(self.index, at) {
            None => format!("ruleset {ruleset} of {}", self.len()),
            Some(entry) if entry >> OFFSET_BITS != PAYLOAD_RULES => format!("payload {}", entry >> OFFSET_BITS),
            Some(entry) => format!("a ruleset that ends at {entry} of {}", self.bytes.len()),
        };
        FormatError::at(Section::Index, at, "a ruleset of rules inside the section", found)
    }

    /// Proves that the sections are what a writer makes of their content.
    pub(crate) fn verify(self, steps: &mut u64) -> Result<References, FormatError> {
        if !self.index.len().is_multiple_of(ENTRY_BYTES) {
            let found = format!("{} bytes", self.index.len());
            return Err(FormatError::new(Section::Index.name(), "entries of 8 bytes", found));
        }
        let (mut end, mut last): (usize, &[u8]) = (0, &[]);
        for number in 0..self.index.len() / ENTRY_BYTES {
            let number = fit("rulesets", number, u64::from(NONE) - 1).map_err(|_| self.missing(NONE))?;
            let bytes = self.get(number)?;
            *steps += 1 + bytes.len() as u64;
            if number > 0 && last >= bytes {
                let expected = "automata in the order of their bytes, each once";
                return Err(FormatError::at(Section::Rulesets, end, expected, "another order"));
            }
            let checked = Ruleset::new(bytes).and_then(|ruleset| ruleset.verify());
            checked.map_err(|error| FormatError::from(error).in_record_at(end))?;
            (end, last) = (end + bytes.len(), bytes);
        }
        if end != self.bytes.len() {
            let found = format!("{} bytes more", self.bytes.len() - end);
            return Err(FormatError::at(
                Section::Rulesets,
                end,
                "the end of the section after the last automaton",
                found,
            ));
        }
        Ok(References::all(Section::Rulesets, self.index.len() / ENTRY_BYTES))
    }
}
