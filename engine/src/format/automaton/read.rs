//! Views of an automaton's bytes, for walks. Every access is checked.
//!
//! A view reads only the values that a walk requests; `decode.rs` reads everything.

use super::draft::PatternText;
use super::error::{Corrupt, corrupt};
use super::fallbacks::FallbackReader;
use super::layout::{
    FLAG_DISALLOWS, FLAG_SETTLED, FLAG_WILDCARDS, HeaderField, LIST_MAX, MAX_WILDCARDS, NO_RANK, NO_RANKS, Ranks,
    STATE_HEADER_BYTES, TextFlags, header_bytes, list_max_bytes, wildcard_header_bytes,
};
use crate::format::fingerprints::{Fingerprints, all_fingerprints, fingerprints_at, reference_at};
use crate::format::u32_at;

/// Returns the width of an automaton's numbers.
///
/// # Errors
/// Returns an error if the bytes do not begin with an automaton's header.
#[inline]
pub fn width(bytes: &[u8]) -> Result<Width, Corrupt> {
    match bytes.first() {
        Some(&width @ (2 | 4)) if bytes.len() < header_bytes(width.into()) => Err(corrupt!(0, "a header")),
        Some(2) => Ok(Width::Two),
        Some(4) => Ok(Width::Four),
        _ => Err(corrupt!(0, "numbers of two or four bytes", "another width")),
    }
}

/// Returns the width of an automaton's numbers without checking the header, which [`width`] must have accepted.
#[inline(always)]
pub fn known_width(bytes: &[u8]) -> Width {
    if bytes.first() == Some(&4) { Width::Four } else { Width::Two }
}

/// Returns an automaton's header.
///
/// # Errors
/// Returns an error if the bytes do not begin with a header.
pub fn header(bytes: &[u8]) -> Result<&[u8], Corrupt> {
    let width = if width(bytes)? == Width::Two { 2 } else { 4 };
    bytes.get(..header_bytes(width)).ok_or(corrupt!(0, "a header"))
}

/// Splits an automaton before its fingerprints, or before the references that replace them (*fingerprints last*).
///
/// # Errors
/// Returns an error if the bytes are not an automaton.
pub fn at_fingerprints(bytes: &[u8]) -> Result<(&[u8], &[u8]), Corrupt> {
    let at = match width(bytes)? {
        Width::Two => Automaton::<2>::new(bytes).fingerprints_at(),
        Width::Four => Automaton::<4>::new(bytes).fingerprints_at(),
    };
    bytes.split_at_checked(at).ok_or(corrupt!(0, "an offset of the fingerprints inside the automaton", "a later one"))
}

/// Splits an automaton into its other parts and its fingerprints (*fingerprints last*).
///
/// # Errors
/// Returns an error if the bytes are not an automaton or do not end with whole fingerprints.
pub fn without_fingerprints(bytes: &[u8]) -> Result<(&[u8], &[Fingerprints]), Corrupt> {
    let (automaton, rest) = at_fingerprints(bytes)?;
    let part = corrupt!(automaton.len(), "whole fingerprints", "a part of one");
    all_fingerprints(rest).map(|fingerprints| (automaton, fingerprints)).ok_or(part)
}

/// The width of an automaton's ranks and offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Two bytes.
    Two,
    /// Four bytes.
    Four,
}

/// A view of an automaton's bytes, with `W`-byte numbers. Creating one costs nothing; every access is checked.
#[derive(Clone, Copy)]
pub struct Automaton<'a, const W: usize> {
    bytes: &'a [u8],
    /// The rulesets' shared fingerprints, to which the end of the automaton refers. Empty if the automaton contains its
    /// own.
    shared: &'a [u8],
}

impl<'a, const W: usize> Automaton<'a, W> {
    /// Views an automaton that contains its fingerprints. `bytes` must begin with a header of this [`width`].
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Automaton<'a, W> {
        Automaton { bytes, shared: &[] }
    }

    /// Views an automaton with shared fingerprints: `bytes` ends with four-byte indexes into `shared`.
    ///
    /// `bytes` must begin with a header of this [`width`].
    #[inline(always)]
    #[must_use]
    pub fn sharing(bytes: &'a [u8], shared: &'a [u8]) -> Automaton<'a, W> {
        Automaton { bytes, shared }
    }

    #[inline(always)]
    fn header(&self, field: HeaderField) -> u32 {
        number::<W>(self.bytes, field.at(W)).unwrap_or_default()
    }

    /// Returns the offset where the fingerprints or the references to shared ones begin.
    #[inline(always)]
    fn fingerprints_at(&self) -> usize {
        self.header(HeaderField::Fingerprints) as usize
    }

    #[inline(always)]
    fn fingerprints(&self, index: usize) -> Result<&'a Fingerprints, Corrupt> {
        let start = self.fingerprints_at();
        let (bytes, start_of_all, index) = match self.shared {
            [] => (self.bytes, start, index),
            shared => {
                let number = reference_at(self.bytes, start, index).ok_or(corrupt!(start, "shared fingerprints"))?;
                (shared, 0, number as usize)
            }
        };
        fingerprints_at(bytes, start_of_all, index).ok_or(corrupt!(start, "fingerprints"))
    }

    /// Returns the number of rules in the ruleset.
    #[must_use]
    pub fn rule_count(&self) -> u32 {
        self.header(HeaderField::Rules)
    }

    /// Returns the automaton's size in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the trie root's offset.
    #[inline(always)]
    #[must_use]
    pub fn trie(&self) -> Option<usize> {
        Some(self.header(HeaderField::Trie) as usize).filter(|&at| at != 0)
    }

    /// Returns the rank of the rule with an empty pattern.
    #[inline]
    #[must_use]
    pub fn otherwise(&self) -> Option<u32> {
        self.rank(HeaderField::Otherwise.at(W)).ok().filter(|&rank| rank != NO_RANK)
    }

    /// Returns the joint rank of the rule at `place`, for comparison with other rulesets' rules.
    ///
    /// The smaller joint rank wins.
    ///
    /// # Errors
    /// Returns an error if this ruleset decides alone, or has no rule at `place`.
    pub fn joint_rank(&self, place: u32) -> Result<u32, Corrupt> {
        let at = self.header(HeaderField::JointRanks) as usize;
        if at == 0 || place >= self.rule_count() {
            return Err(corrupt!(HeaderField::JointRanks.at(W), "a joint rank", "no joint rank for the rule"));
        }
        let at = at + place as usize * 4;
        u32_at(self.bytes, at).ok_or(corrupt!(at, "a joint rank"))
    }

    /// Returns the joint rank table's offset, or `None` for a ruleset that decides alone.
    pub(super) fn joint_ranks_at(&self) -> Option<usize> {
        Some(self.header(HeaderField::JointRanks) as usize).filter(|&at| at != 0)
    }

    /// Returns the number of wildcard automata, and so the maximum that a walk begins.
    ///
    /// At most [`MAX_WILDCARDS`], even in invalid bytes.
    #[inline]
    #[must_use]
    pub fn wildcard_count(&self) -> u32 {
        self.header(HeaderField::Wildcards).min(MAX_WILDCARDS as u32)
    }

    #[inline(always)]
    fn number(&self, at: usize) -> Result<u32, Corrupt> {
        number::<W>(self.bytes, at).ok_or(corrupt!(at, "a number"))
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> Result<u8, Corrupt> {
        self.bytes.get(at).copied().ok_or(corrupt!(at, "a byte"))
    }

    #[inline(always)]
    fn rank(&self, at: usize) -> Result<u32, Corrupt> {
        Ok(rank_of::<W>(self.number(at)?))
    }

    /// Returns the state at an offset from [`Self::trie`] or from a transition.
    ///
    /// # Errors
    /// Returns an error if the bytes end before the state does.
    #[inline(always)]
    pub fn state(&self, at: usize) -> Result<StateView<'a, W>, Corrupt> {
        let Some((&[label_len, flags, count], list)) =
            self.bytes.get(at..at + STATE_HEADER_BYTES + list_max_bytes(W)).and_then(|bytes| bytes.split_first_chunk())
        else {
            return Err(corrupt!(at, "a state"));
        };
        let children = Children { automaton: *self, list, count, at: at + STATE_HEADER_BYTES };
        Ok(StateView { automaton: *self, at, label_len, flags, children })
    }

    /// Returns the wildcard automaton at an offset from a state. Its lists end (*lists end*).
    ///
    /// # Errors
    /// Returns an error if the bytes end too early, or if the next automaton in a list is not before this one.
    #[inline(always)]
    pub fn wildcard(&self, at: usize) -> Result<WildcardView<'a, W>, Corrupt> {
        let children_at = at + wildcard_header_bytes(W);
        // One check for the whole header and a list, instead of one for each number.
        let bytes = self.bytes.get(at..).and_then(|bytes| bytes.get(..wildcard_header_bytes(W) + list_max_bytes(W)));
        let (header, list) = bytes.ok_or(corrupt!(at, "a wildcard automaton"))?.split_at(wildcard_header_bytes(W));
        let number = |index: usize| number::<W>(header, 1 + index * W).unwrap_or_default();
        let (next, deciding) = (number(3) as usize, number(4) as usize);
        if next >= at || deciding > at {
            return Err(corrupt!(at, "a backward reference to a wildcard automaton", "a forward reference"));
        }
        Ok(WildcardView {
            best: [number(0), number(1)].map(rank_of::<W>),
            from: number(2) as usize,
            next: Some(next).filter(|&at| at != 0),
            deciding: Some(deciding).filter(|&at| at != 0),
            fingerprints: self.fingerprints(number(5) as usize)?,
            children: Children {
                automaton: *self,
                list,
                count: header.first().copied().unwrap_or_default(),
                at: children_at,
            },
        })
    }

    /// Returns whether there are fallback patterns.
    #[inline(always)]
    #[must_use]
    pub fn has_fallbacks(&self) -> bool {
        self.header(HeaderField::Fallbacks) != 0
    }

    /// Returns the first fallback pattern's offset.
    pub(super) fn fallbacks_at(&self) -> Option<usize> {
        Some(self.header(HeaderField::Fallbacks) as usize).filter(|&at| at != 0)
    }

    /// Returns a reader for the fallback patterns, in rank order. It reads at most
    /// [`MAX_FALLBACK_BYTES`](super::MAX_FALLBACK_BYTES).
    #[must_use]
    pub fn fallbacks(&self) -> FallbackReader<'a> {
        let at = self.header(HeaderField::Fallbacks) as usize;
        let bytes = if at == 0 { &[] } else { self.bytes.get(at..).unwrap_or(&[0]) };
        FallbackReader::new(bytes, at)
    }

    /// Returns the pattern of the rule with this rank, or `None` if the text table does not contain it.
    ///
    /// # Errors
    /// Returns an error if the text table is damaged.
    pub fn text(&self, rank: u32) -> Result<Option<PatternText<'a>>, Corrupt> {
        let Some(table) = self.text_table()? else { return Ok(None) };
        let (mut low, mut high) = (0, table.count);
        while low < high {
            let middle = low.midpoint(high);
            if table.rank(middle).1 < rank { low = middle + 1 } else { high = middle }
        }
        if low == table.count || table.rank(low).1 != rank { Ok(None) } else { table.text(low).map(Some) }
    }

    /// Returns the text table's offset.
    pub(super) fn texts_at(&self) -> Option<usize> {
        Some(self.header(HeaderField::Texts) as usize).filter(|&at| at != 0)
    }

    fn text_table(&self) -> Result<Option<TextTable<'a, W>>, Corrupt> {
        let Some(at) = self.texts_at() else { return Ok(None) };
        let count = number::<W>(self.bytes, at).ok_or(corrupt!(at, "the number of texts"))? as usize;
        let bytes = self.bytes.get(at + W..).unwrap_or_default();
        if count > bytes.len() / (2 * W) {
            return Err(corrupt!(at, "the number of texts", "more texts than fit"));
        }
        let (ranks, rest) = bytes.split_at(count * W);
        let (ends, patterns) = rest.split_at(count * W);
        Ok(Some(TextTable { at, count, ranks, ends, patterns }))
    }

    /// Returns every pattern in the text table.
    ///
    /// # Errors
    /// Returns an error if the text table is damaged.
    pub fn texts(&self) -> Result<Vec<PatternText<'a>>, Corrupt> {
        let Some(table) = self.text_table()? else { return Ok(Vec::new()) };
        (0..table.count).map(|index| table.text(index)).collect()
    }
}

/// The text table: ranks with flags, then ends, then patterns.
struct TextTable<'a, const W: usize> {
    at: usize,
    count: usize,
    ranks: &'a [u8],
    ends: &'a [u8],
    patterns: &'a [u8],
}

impl<'a, const W: usize> TextTable<'a, W> {
    fn rank(&self, index: usize) -> (TextFlags, u32) {
        TextFlags::split::<W>(number::<W>(self.ranks, index * W).unwrap_or_default())
    }

    fn text(&self, index: usize) -> Result<PatternText<'a>, Corrupt> {
        let end_of = |index: usize| number::<W>(self.ends, index * W).map_or(usize::MAX, |end| end as usize);
        let start = if index == 0 { 0 } else { end_of(index - 1) };
        let pattern = self.patterns.get(start..end_of(index));
        let pattern = pattern.ok_or(corrupt!(self.at + W + (self.count + index) * W, "the end of a text"))?;
        let (flags, rank) = self.rank(index);
        Ok(PatternText { rank, flags, pattern })
    }
}

/// A view of a state's bytes.
#[derive(Clone, Copy)]
pub struct StateView<'a, const W: usize> {
    automaton: Automaton<'a, W>,
    at: usize,
    label_len: u8,
    flags: u8,
    children: Children<'a, W>,
}

impl<'a, const W: usize> StateView<'a, W> {
    #[inline(always)]
    fn label_at(&self) -> usize {
        self.children.at + self.children.size()
    }

    /// Returns the label: bytes that must follow the transition into the state; see
    /// [`State::label`](super::State::label).
    ///
    /// # Errors
    /// Returns an error if the bytes end too early.
    #[inline(always)]
    pub fn label(&self) -> Result<&'a [u8], Corrupt> {
        let at = self.label_at();
        self.automaton.bytes.get(at..at + usize::from(self.label_len)).ok_or(corrupt!(at, "a label"))
    }

    /// Returns the label's length in bytes.
    #[inline(always)]
    #[must_use]
    pub fn label_len(&self) -> usize {
        self.label_len.into()
    }

    /// Returns the length of the common prefix of the label and `path[from..]`.
    ///
    /// # Errors
    /// Returns an error if the bytes end too early.
    #[inline(always)]
    pub fn common_prefix(&self, path: &[u8], from: usize) -> Result<usize, Corrupt> {
        let (rest, label) = (path.get(from..).unwrap_or_default(), self.label()?);
        // Most labels differ in the first eight bytes, which a caller has just compared.
        let differs = self.eight_label_bytes(0).map_or(0, |start| eight_bytes(path, from) ^ start);
        if differs != 0 {
            return Ok((differs.trailing_zeros() as usize / 8).min(label.len()).min(rest.len()));
        }
        Ok(rest.iter().zip(label).take_while(|(a, b)| a == b).count())
    }

    /// Returns the text after the label, or `None` if `rest`, a suffix of `path`, does not begin with the label.
    ///
    /// Most labels are short, so eight bytes are compared at once, and then eight more, without a loop.
    ///
    /// # Errors
    /// Returns an error if the bytes end too early.
    #[inline(always)]
    pub fn after_label<'p>(&self, path: &[u8], rest: &'p [u8]) -> Result<Option<&'p [u8]>, Corrupt> {
        let label_len = usize::from(self.label_len);
        if label_len == 0 {
            return Ok(Some(rest));
        }
        let start = self.eight_label_bytes(0).ok_or(corrupt!(self.label_at(), "a label"))?;
        let eight = match rest.first_chunk() {
            Some(&eight) => u64::from_le_bytes(eight),
            None => last_bytes(path, path.len() - rest.len()),
        };
        if (eight ^ start) << (64 - 8 * label_len.min(8)) != 0 {
            return Ok(None);
        }
        let Some((label, after)) = rest.split_at_checked(label_len) else { return Ok(None) };
        if label_len > 8 {
            let is_same = match (self.eight_label_bytes(8), label.last_chunk()) {
                (Some(second), Some(&last)) if label_len <= 16 => {
                    let before = 128 - 8 * label_len;
                    u64::from_le_bytes(last) >> before == second << before >> before
                }
                _ => label.get(8..) == self.label()?.get(8..),
            };
            if !is_same {
                return Ok(None);
            }
        }
        Ok(Some(after))
    }

    /// Returns the eight bytes at an offset in the label, or `None` if the automaton ends first.
    ///
    /// They may include bytes after the label.
    #[inline(always)]
    fn eight_label_bytes(&self, offset: usize) -> Option<u64> {
        let at = self.label_at() + offset;
        let eight = self.automaton.bytes.get(at..at + 8).and_then(|eight| eight.first_chunk());
        eight.map(|&eight| u64::from_le_bytes(eight))
    }

    /// Returns whether the state accepts a rule after reading the label.
    #[inline(always)]
    #[must_use]
    pub fn accepts(&self) -> bool {
        self.flags & 3 != 0
    }

    /// Returns whether the state accepts a rule if the path ends after the label.
    #[inline(always)]
    #[must_use]
    pub fn accepts_at_end(&self) -> bool {
        self.flags & 12 != 0
    }

    /// Returns the flags that determine the verdict if the walk through the trie ends in this state.
    #[inline(always)]
    #[must_use]
    pub fn end(&self) -> TrieEnd {
        TrieEnd(self.flags)
    }

    /// Returns the ranks accepted after reading the label; see [`State::accept`](super::State::accept).
    ///
    /// # Errors
    /// Returns an error if the bytes end too early.
    #[inline(always)]
    pub fn accept(&self) -> Result<Ranks, Corrupt> {
        self.ranks(0)
    }

    /// Returns the ranks accepted if the path ends after the label; see
    /// [`State::accept_at_end`](super::State::accept_at_end).
    ///
    /// # Errors
    /// Returns an error if the bytes end too early.
    #[inline(always)]
    pub fn accept_at_end(&self) -> Result<Ranks, Corrupt> {
        self.ranks(2)
    }

    #[inline(always)]
    fn ranks(&self, first_bit: u32) -> Result<Ranks, Corrupt> {
        let mut at = self.label_at() + self.label_len() + bits(self.flags & 15 & ((1 << first_bit) - 1)) * W;
        let mut ranks = NO_RANKS;
        for (bit, slot) in (first_bit..).zip(&mut ranks) {
            if self.flags >> bit & 1 != 0 {
                *slot = self.automaton.rank(at)?;
                at += W;
            }
        }
        Ok(ranks)
    }

    /// Returns whether wildcards begin after the label.
    #[inline(always)]
    #[must_use]
    pub fn has_wildcards(&self) -> bool {
        self.flags & FLAG_WILDCARDS != 0
    }

    /// Returns the number of the state's bytes that precede its header.
    pub(super) fn wildcards_len(&self) -> Result<usize, Corrupt> {
        if !self.has_wildcards() {
            return Ok(0);
        }
        let count = usize::from(self.automaton.byte(self.at.wrapping_sub(1))?);
        let len = 1 + count * (1 + W);
        if len > self.at {
            return Err(corrupt!(self.at, "wildcard automata before the state", "the start of the bytes"));
        }
        Ok(len)
    }

    /// Returns the ranks' size in bytes.
    pub(super) fn ranks_len(&self) -> usize {
        bits(self.flags & 15) * W
    }

    /// Returns the number and the offset of each wildcard automaton; see [`State::wildcards`](super::State::wildcards).
    ///
    /// # Errors
    /// Returns an error if the bytes end too early.
    #[inline(always)]
    pub fn wildcards(&self) -> Result<impl Iterator<Item = (u8, usize)> + use<'a, W>, Corrupt> {
        let count = if self.has_wildcards() { usize::from(self.automaton.byte(self.at.wrapping_sub(1))?) } else { 0 };
        let start = self.at.wrapping_sub(1 + count * (1 + W));
        let table = self.automaton.bytes.get(start..start.wrapping_add(count * (1 + W)));
        let missing = corrupt!(self.at, "wildcard automata before the state", "the start of the bytes");
        let table = if count == 0 { &[] } else { table.ok_or(missing)? };
        let wildcard = |entry: &[u8]| Some((*entry.first()?, number::<W>(entry, 1)? as usize));
        Ok(table.chunks_exact(1 + W).filter_map(wildcard))
    }

    /// Returns the two lists of [`State::wildcards`](super::State::wildcards) for a trie state in which a wildcard
    /// begins.
    ///
    /// The list for verdicts precedes the list of all automata. Each is the number and offset of its first wildcard
    /// automaton, with offset 0 for an empty list.
    ///
    /// # Errors
    /// Returns an error if the bytes end too early.
    #[inline(always)]
    pub fn lists(&self) -> Result<[(u8, usize); 2], Corrupt> {
        let start = self.at.wrapping_sub(1 + 2 * (1 + W));
        let missing = corrupt!(self.at, "two lists before the state", "the start of the bytes");
        let table = self.automaton.bytes.get(start..self.at).ok_or(missing)?;
        let list = |at: usize| Some((*table.get(at)?, number::<W>(table, at + 1)? as usize));
        Ok([list(0).ok_or(missing)?, list(1 + W).ok_or(missing)?])
    }

    /// Returns the state's own transitions.
    #[inline(always)]
    #[must_use]
    pub fn children(&self) -> Children<'a, W> {
        self.children
    }
}

/// The flags of the last state in a walk through the trie.
#[derive(Clone, Copy)]
pub struct TrieEnd(u8);

impl TrieEnd {
    /// The flags after a walk through the trie that reached no state.
    pub const NOTHING: TrieEnd = TrieEnd(FLAG_SETTLED);

    /// Returns whether no wildcard automaton can change the verdict; see [`State::settled`](super::State::settled).
    #[inline(always)]
    #[must_use]
    pub fn is_settled(self) -> bool {
        self.0 & FLAG_SETTLED != 0
    }

    /// Returns whether a disallow is the best rule accepted in the trie; see
    /// [`State::disallows`](super::State::disallows) and [`State::disallows_at_end`](super::State::disallows_at_end).
    #[inline(always)]
    #[must_use]
    pub fn disallows(self, at_end: bool) -> bool {
        self.0 & FLAG_DISALLOWS << u8::from(at_end) != 0
    }
}

/// Returns the eight bytes of `text` at `from`, which must not exceed its length. Zeros follow the end of the text.
#[inline(always)]
fn eight_bytes(text: &[u8], from: usize) -> u64 {
    match text.get(from..).and_then(|text| text.first_chunk()) {
        Some(&eight) => u64::from_le_bytes(eight),
        None => last_bytes(text, from),
    }
}

/// Implements [`eight_bytes`] for fewer than eight remaining bytes.
#[inline(always)]
fn last_bytes(text: &[u8], from: usize) -> u64 {
    if let Some(&eight) = text.last_chunk::<8>() {
        let before = 8 - text.len().saturating_sub(from) as u32;
        return u64::from_le_bytes(eight).checked_shr(before * 8).unwrap_or(0);
    }
    let bytes = text.iter().skip(from).rev();
    bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Returns the `W`-byte number at an offset.
#[inline(always)]
fn number<const W: usize>(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + W)?;
    match W {
        2 => bytes.first_chunk().map(|&number| u16::from_le_bytes(number).into()),
        _ => bytes.first_chunk().map(|&number| u32::from_le_bytes(number)),
    }
}

/// Returns the rank that is stored as a `W`-byte number.
#[inline(always)]
fn rank_of<const W: usize>(stored: u32) -> u32 {
    if W == 2 && stored == u32::from(u16::MAX) { NO_RANK } else { stored }
}

/// Returns the number of set bits among four.
///
/// Faster than the general function, which needs an instruction that some processors lack.
#[inline(always)]
fn bits(four: u8) -> usize {
    (0x4332_3221_3221_2110_u64 >> (four * 4) & 15) as usize
}

/// A view of a wildcard automaton's bytes.
#[derive(Clone, Copy)]
pub struct WildcardView<'a, const W: usize> {
    /// The best ranks that the automaton can lead to; see [`WildcardAutomaton::best`](super::WildcardAutomaton::best).
    pub best: Ranks,
    /// The offset in the path at which it begins, if it begins in the trie; see
    /// [`WildcardAutomaton::from`](super::WildcardAutomaton::from).
    pub from: usize,
    /// The offset of the automaton in [`WildcardAutomaton::next`](super::WildcardAutomaton::next).
    pub next: Option<usize>,
    /// The offset of the automaton in [`WildcardAutomaton::deciding`](super::WildcardAutomaton::deciding).
    pub deciding: Option<usize>,
    /// Fingerprints of the segments' first bytes; see
    /// [`WildcardAutomaton::fingerprints`](super::WildcardAutomaton::fingerprints).
    pub fingerprints: &'a Fingerprints,
    /// The root's transitions.
    pub children: Children<'a, W>,
}

/// Transitions by byte.
#[derive(Clone, Copy)]
pub struct Children<'a, const W: usize> {
    automaton: Automaton<'a, W>,
    /// As many bytes as the longest list takes. A list of transitions is contained in these bytes.
    list: &'a [u8],
    count: u8,
    at: usize,
}

impl<const W: usize> Children<'_, W> {
    /// Returns the offset of the state that `byte` leads to.
    ///
    /// Compares a list's bytes one by one, which is faster than all at once: processors predict the branches and begin
    /// with the next state before they know which byte leads to it.
    ///
    /// # Errors
    /// Returns an error if the bytes end too early.
    #[inline(always)]
    pub fn get(&self, byte: u8) -> Result<Option<usize>, Corrupt> {
        let count = usize::from(self.count);
        let reference = if count <= LIST_MAX {
            let mut index = 0;
            loop {
                if index == count {
                    return Ok(None);
                }
                if *self.list.get(count * W + index).ok_or(corrupt!(self.at, "transitions"))? == byte {
                    break;
                }
                index += 1;
            }
            number::<W>(self.list, index * W).ok_or(corrupt!(self.at, "transitions"))?
        } else {
            let index = usize::from(byte.wrapping_sub(self.lowest()));
            if index > count {
                return Ok(None);
            }
            self.automaton.number(self.at + 1 + index * W)?
        };
        Ok(Some(reference as usize).filter(|&at| at != 0))
    }

    /// Returns the byte for a table's first entry, which is stored before the entries.
    #[inline(always)]
    fn lowest(&self) -> u8 {
        self.list.first().copied().unwrap_or_default()
    }

    /// Returns the transitions' size in bytes.
    #[inline(always)]
    pub(super) fn size(&self) -> usize {
        match usize::from(self.count) {
            count @ 0..=LIST_MAX => count * (1 + W),
            last => 1 + (last + 1) * W,
        }
    }

    /// Returns every transition, sorted by byte. A walk uses [`Self::get`].
    ///
    /// # Errors
    /// Returns an error if the bytes end before the transitions do, or if a list is not sorted by byte.
    pub fn all(&self) -> Result<Vec<(u8, usize)>, Corrupt> {
        let mut all = Vec::new();
        self.each(|byte, at| all.push((byte, at)))?;
        Ok(all)
    }

    /// Calls `visit` with each transition, sorted by byte.
    pub(super) fn each(&self, mut visit: impl FnMut(u8, usize)) -> Result<(), Corrupt> {
        let table = self.automaton.bytes.get(self.at..self.at + self.size()).ok_or(corrupt!(self.at, "transitions"))?;
        let count = usize::from(self.count);
        let first = usize::from(count > LIST_MAX);
        let reference = |index: usize| number::<W>(table, first + index * W).map_or(0, |at| at as usize);
        if count > LIST_MAX {
            for (index, byte) in (0..=count).zip(self.lowest()..=u8::MAX).filter(|&(index, _)| reference(index) != 0) {
                visit(byte, reference(index));
            }
            return Ok(());
        }
        let bytes = table.get(count * W..).unwrap_or_default();
        if !bytes.is_sorted_by(|a, b| a < b) {
            return Err(corrupt!(self.at, "transitions sorted by byte", "another order"));
        }
        for (index, &byte) in bytes.iter().enumerate() {
            if reference(index) == 0 {
                return Err(corrupt!(self.at, "a reference to a state", "0"));
            }
            visit(byte, reference(index));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_in_every_half_byte() {
        for four in 0..16 {
            assert_eq!(bits(four), (0..4).filter(|bit| four >> bit & 1 != 0).count(), "{four}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn every_number_of_two_and_four_bytes_is_read() {
        for pair in 0..=u16::MAX {
            let [low, high] = pair.to_le_bytes();
            let value = u32::from(low) + 256 * u32::from(high);
            assert_eq!(number::<2>(&[9, low, high], 1), Some(value));
            assert_eq!(number::<4>(&[low, high, 0xFF, 1, 9], 0), Some(value + 0x01FF_0000));
            assert_eq!(number::<4>(&[9, 2, 0xFE, low, high], 1), Some(value * 65_536 + 0xFE02));
        }
        for (len, at) in (0..8_usize).flat_map(|len| (0..8).map(move |at| (len, at))) {
            let bytes = vec![1; len];
            assert_eq!(
                [number::<2>(&bytes, at), number::<4>(&bytes, at)].map(|found| found.is_some()),
                [2, 4].map(|size| at + size <= len)
            );
        }
    }

    #[test]
    fn eight_bytes_are_padded_with_zeros_at_every_place() {
        let mut tried = 0;
        for len in 0..=40 {
            let text: Vec<u8> = (0..len).map(|at| 200 + at).collect();
            for from in 0..=text.len() {
                let mut expected = [0; 8];
                expected.iter_mut().zip(&text[from..]).for_each(|(to, &byte)| *to = byte);
                assert_eq!(eight_bytes(&text, from).to_le_bytes(), expected, "{from} of {len}");
                tried += 1;
            }
        }
        assert_eq!(tried, 41 * 42 / 2);
    }
}
