//! Reading an automaton. Every access is checked.

use super::{
    FLAG_DISALLOWS, FLAG_SETTLED, FLAG_WILDCARDS, HEADER_BYTES, LIST_MAX, NO_RANK, NO_RANKS, Ranks, STATE_HEADER_BYTES,
    list_max_bytes,
};
use crate::format::{FormatError, u32_at};
use crate::platform::Fingerprints;

/// The width of an automaton's numbers, or the error that it has none.
///
/// # Errors
/// When the bytes do not begin like an automaton.
#[inline]
pub fn width(bytes: &[u8]) -> Result<Width, Corrupt> {
    match bytes.first() {
        Some(2) if bytes.len() >= HEADER_BYTES => Ok(Width::Two),
        Some(4) if bytes.len() >= HEADER_BYTES => Ok(Width::Four),
        _ => Err(Corrupt),
    }
}

/// How wide an automaton's ranks and offsets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Two bytes.
    Two,
    /// Four bytes.
    Four,
}

/// Met bytes that no writer writes. A set turns it into a [`FormatError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl Corrupt {
    pub(crate) fn in_section(self) -> FormatError {
        FormatError::new("rulesets", "an automaton", "bytes that are none: run `verify` on the file")
    }
}

/// A view of an automaton's bytes, with numbers of `W` bytes. Free to make; every access is checked.
#[derive(Clone, Copy)]
pub struct Automaton<'a, const W: usize> {
    bytes: &'a [u8],
}

impl<'a, const W: usize> Automaton<'a, W> {
    /// The view. `bytes` begins with a header of this [`width`].
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Automaton<'a, W> {
        Automaton { bytes }
    }

    #[inline(always)]
    fn header(&self, at: usize) -> u32 {
        u32_at(self.bytes, at).unwrap_or_default()
    }

    /// How many rules its ranks stand for.
    #[must_use]
    pub fn rule_count(&self) -> u32 {
        self.header(4)
    }

    /// How many bytes it takes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// The first state of the trie.
    #[inline(always)]
    #[must_use]
    pub fn trie(&self) -> Option<usize> {
        Some(self.header(8) as usize).filter(|&at| at != 0)
    }

    /// The rule with an empty pattern.
    #[inline]
    #[must_use]
    pub fn otherwise(&self) -> Option<u32> {
        Some(self.header(20)).filter(|&rank| rank != NO_RANK)
    }

    /// The place of a rule, by place, among the rules of all rulesets that decide together with this one.
    ///
    /// # Errors
    /// When this ruleset decides alone.
    pub fn key(&self, place: u32) -> Result<u32, Corrupt> {
        let at = Some(self.header(28) as usize).filter(|&at| at != 0 && place < self.rule_count()).ok_or(Corrupt)?;
        u32_at(self.bytes, at + place as usize * 4).ok_or(Corrupt)
    }

    /// How many wildcards there are; in a damaged automaton at most as many as it has room for.
    #[inline]
    #[must_use]
    pub fn wildcard_count(&self) -> u32 {
        self.header(24).min((self.bytes.len() / (2 + 6 * W)) as u32)
    }

    #[inline(always)]
    fn number(&self, at: usize) -> Result<u32, Corrupt> {
        number::<W>(self.bytes, at).ok_or(Corrupt)
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> Result<u8, Corrupt> {
        self.bytes.get(at).copied().ok_or(Corrupt)
    }

    #[inline(always)]
    fn rank(&self, at: usize) -> Result<u32, Corrupt> {
        let rank = self.number(at)?;
        Ok(if W == 2 && rank == u32::from(u16::MAX) { NO_RANK } else { rank })
    }

    /// The state at an offset that [`Self::trie`] or a transition gave.
    ///
    /// # Errors
    /// When there is none.
    #[inline(always)]
    pub fn state(&self, at: usize) -> Result<StateView<'a, W>, Corrupt> {
        let Some((&[label_len, flags, count, lowest], list)) =
            self.bytes.get(at..at + STATE_HEADER_BYTES + list_max_bytes(W)).and_then(|bytes| bytes.split_first_chunk())
        else {
            return Err(Corrupt);
        };
        let children = Children { automaton: *self, list, count, lowest, at: at + STATE_HEADER_BYTES };
        Ok(StateView { automaton: *self, at, label_len, flags, children })
    }

    /// The wildcard at an offset that a state gave.
    ///
    /// # Errors
    /// When there is none.
    #[inline(always)]
    pub fn wildcard(&self, at: usize) -> Result<WildcardView<'a, W>, Corrupt> {
        let &[count, lowest] = self.bytes.get(at..).and_then(|bytes| bytes.first_chunk()).ok_or(Corrupt)?;
        let number = |index: usize| self.number(at + 2 + index * W);
        let fingerprints_at = number(5)? as usize;
        let children_at = at + 2 + 6 * W;
        let list = self.bytes.get(children_at..children_at + list_max_bytes(W)).ok_or(Corrupt)?;
        let reference = |index: usize| Ok(Some(number(index)? as usize).filter(|&at| at != 0));
        Ok(WildcardView {
            best: [self.rank(at + 2)?, self.rank(at + 2 + W)?],
            from: number(2)? as usize,
            // A chain never goes forward, and so ends.
            next: reference(3)?.map(|next| if next < at { Ok(next) } else { Err(Corrupt) }).transpose()?,
            deciding: reference(4)?.map(|first| if first <= at { Ok(first) } else { Err(Corrupt) }).transpose()?,
            fingerprints: self.bytes.get(fingerprints_at..).and_then(|bytes| bytes.first_chunk()).ok_or(Corrupt)?,
            children: Children { automaton: *self, list, count, lowest, at: children_at },
        })
    }

    /// Whether there are patterns that are tried one by one.
    #[inline(always)]
    #[must_use]
    pub fn has_fallbacks(&self) -> bool {
        self.header(12) != 0
    }

    /// The patterns that are tried one by one, in the order of their ranks.
    #[must_use]
    pub fn fallbacks(&self) -> FallbackReader<'a> {
        let at = self.header(12) as usize;
        FallbackReader { bytes: if at == 0 { &[] } else { self.bytes.get(at..).unwrap_or(&[0]) } }
    }

    /// The pattern of a rank's rule, if it is one of those that cannot be read off the trie.
    ///
    /// # Errors
    /// When the table of patterns is damaged.
    pub fn text(&self, rank: u32) -> Result<Option<&'a [u8]>, Corrupt> {
        let Some((ranks, ends, texts)) = self.text_table()? else { return Ok(None) };
        let rank_at = |index: usize| u32_at(ranks, index * 4).unwrap_or(NO_RANK);
        let (mut low, mut high) = (0, ranks.len() / 4);
        while low < high {
            let middle = low.midpoint(high);
            if rank_at(middle) < rank { low = middle + 1 } else { high = middle }
        }
        if rank_at(low) != rank {
            return Ok(None);
        }
        let start = if low == 0 { 0 } else { u32_at(ends, (low - 1) * 4).ok_or(Corrupt)? };
        let end = u32_at(ends, low * 4).ok_or(Corrupt)?;
        texts.get(start as usize..end as usize).map(Some).ok_or(Corrupt)
    }

    /// The table of patterns: ranks, ends and bytes.
    #[expect(clippy::type_complexity, reason = "three slices of one table")]
    fn text_table(&self) -> Result<Option<(&'a [u8], &'a [u8], &'a [u8])>, Corrupt> {
        let at = self.header(16) as usize;
        if at == 0 {
            return Ok(None);
        }
        let count = u32_at(self.bytes, at).ok_or(Corrupt)? as usize;
        let table = self.bytes.get(at + 4..).ok_or(Corrupt)?;
        if count > table.len() / 8 {
            return Err(Corrupt);
        }
        Ok(Some((&table[..count * 4], &table[count * 4..count * 8], &table[count * 8..])))
    }

    /// Every pattern of [`Self::text`] with its rank.
    ///
    /// # Errors
    /// When the table of patterns is damaged.
    pub fn texts(&self) -> Result<Vec<(u32, &'a [u8])>, Corrupt> {
        let Some((ranks, _, _)) = self.text_table()? else { return Ok(Vec::new()) };
        let ranks = ranks.chunks_exact(4).filter_map(|rank| u32_at(rank, 0));
        ranks.map(|rank| Ok((rank, self.text(rank)?.ok_or(Corrupt)?))).collect()
    }
}

/// A state as it lies in the bytes.
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

    /// See [`State::label`](super::State::label).
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn label(&self) -> Result<&'a [u8], Corrupt> {
        let at = self.label_at();
        self.automaton.bytes.get(at..at + usize::from(self.label_len)).ok_or(Corrupt)
    }

    /// How many bytes the label has.
    #[inline(always)]
    #[must_use]
    pub fn label_len(&self) -> usize {
        self.label_len.into()
    }

    /// How many bytes of the label stand in `path` from `from` on.
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn common_prefix(&self, path: &[u8], from: usize) -> Result<usize, Corrupt> {
        let rest = path.get(from..).unwrap_or_default();
        Ok(rest.iter().zip(self.label()?).take_while(|(a, b)| a == b).count())
    }

    /// Where the label ends if `path` has it at `from`.
    ///
    /// Most labels are short: eight bytes are compared at once, without a loop.
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn behind_label(&self, path: &[u8], from: usize) -> Result<Option<usize>, Corrupt> {
        let label_len = usize::from(self.label_len);
        if label_len == 0 {
            return Ok(Some(from));
        }
        let at = self.label_at();
        let start = self.automaton.bytes.get(at..at + 8).and_then(|start| start.first_chunk()).ok_or(Corrupt)?;
        let differs = eight_bytes(path, from) ^ u64::from_le_bytes(*start);
        let end = from + label_len;
        if differs & u64::MAX >> (64 - 8 * label_len.min(8)) != 0 || end > path.len() {
            return Ok(None);
        }
        if label_len > 8 && path.get(from + 8..end) != self.label()?.get(8..) {
            return Ok(None);
        }
        Ok(Some(end))
    }

    /// Whether it accepts anything as soon as the label is read.
    #[inline(always)]
    #[must_use]
    pub fn accepts(&self) -> bool {
        self.flags & 3 != 0
    }

    /// Whether it accepts anything if the path ends behind the label.
    #[inline(always)]
    #[must_use]
    pub fn accepts_at_end(&self) -> bool {
        self.flags & 12 != 0
    }

    /// The flags that make the verdict of a trie which ends in this state.
    #[inline(always)]
    #[must_use]
    pub fn end(&self) -> TrieEnd {
        TrieEnd(self.flags)
    }

    /// See [`State::accept`](super::State::accept).
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn accept(&self) -> Result<Ranks, Corrupt> {
        self.ranks(0)
    }

    /// See [`State::accept_at_end`](super::State::accept_at_end).
    ///
    /// # Errors
    /// When the bytes end before.
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

    /// Whether a wildcard begins here.
    #[inline(always)]
    #[must_use]
    pub fn has_wildcards(&self) -> bool {
        self.flags & FLAG_WILDCARDS != 0
    }

    /// See [`State::wildcards`](super::State::wildcards): number and offset of each.
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn wildcards(&self) -> Result<impl Iterator<Item = (u8, usize)> + use<'a, W>, Corrupt> {
        let count = if self.has_wildcards() { usize::from(self.automaton.byte(self.at.wrapping_sub(1))?) } else { 0 };
        let start = self.at.wrapping_sub(1 + count * (1 + W));
        let table = self.automaton.bytes.get(start..start.wrapping_add(count * (1 + W)));
        let table = if count == 0 { &[] } else { table.ok_or(Corrupt)? };
        let wildcard = |entry: &[u8]| Some((*entry.first()?, number::<W>(entry, 1)? as usize));
        Ok(table.chunks_exact(1 + W).filter_map(wildcard))
    }

    /// The chains of [`State::wildcards`](super::State::wildcards), for a state of the trie in which a wildcard begins: first that for
    /// verdicts, then that of all. Number and offset of the first wildcard, 0 for none.
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn chains(&self) -> Result<[(u8, usize); 2], Corrupt> {
        let start = self.at.wrapping_sub(1 + 2 * (1 + W));
        let table = self.automaton.bytes.get(start..self.at).ok_or(Corrupt)?;
        let chain = |at: usize| Some((*table.get(at)?, number::<W>(table, at + 1)? as usize));
        Ok([chain(0).ok_or(Corrupt)?, chain(1 + W).ok_or(Corrupt)?])
    }

    /// The state's own transitions.
    #[inline(always)]
    #[must_use]
    pub fn children(&self) -> Children<'a, W> {
        self.children
    }
}

/// What the last state of a walk through the trie says.
#[derive(Clone, Copy)]
pub struct TrieEnd(u8);

impl TrieEnd {
    /// Of a walk through the trie that comes to no state.
    pub const NOTHING: TrieEnd = TrieEnd(FLAG_SETTLED);

    /// See [`State::settled`](super::State::settled).
    #[inline(always)]
    #[must_use]
    pub fn is_settled(self) -> bool {
        self.0 & FLAG_SETTLED != 0
    }

    /// See [`State::disallows`](super::State::disallows) and
    /// [`State::disallows_at_end`](super::State::disallows_at_end).
    #[inline(always)]
    #[must_use]
    pub fn disallows(self, at_end: bool) -> bool {
        self.0 & FLAG_DISALLOWS << u8::from(at_end) != 0
    }
}

/// The eight bytes of `text` from `from` on, which is in it or at its end, with zeros behind its end.
#[inline(always)]
fn eight_bytes(text: &[u8], from: usize) -> u64 {
    match text.get(from..).and_then(|text| text.first_chunk()) {
        Some(&eight) => u64::from_le_bytes(eight),
        None => last_bytes(text, from),
    }
}

/// As [`eight_bytes`], where fewer are left.
#[inline(always)]
fn last_bytes(text: &[u8], from: usize) -> u64 {
    if let Some(&eight) = text.last_chunk::<8>() {
        let before = 8 - text.len().saturating_sub(from) as u32;
        return u64::from_le_bytes(eight).checked_shr(before * 8).unwrap_or(0);
    }
    let bytes = text.iter().skip(from).rev();
    bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The number of `W` bytes at a place.
#[inline(always)]
fn number<const W: usize>(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + W)?;
    match W {
        2 => bytes.first_chunk().map(|&number| u16::from_le_bytes(number).into()),
        _ => bytes.first_chunk().map(|&number| u32::from_le_bytes(number)),
    }
}

/// How many of four bits are set. Faster than the general count, which needs an instruction that not every processor
/// has.
#[inline(always)]
fn bits(four: u8) -> usize {
    (0x4332_3221_3221_2110_u64 >> (four * 4) & 15) as usize
}

/// A wildcard as it lies in the bytes.
#[derive(Clone, Copy)]
pub struct WildcardView<'a, const W: usize> {
    /// See [`WildcardAutomaton::best`](super::WildcardAutomaton::best).
    pub best: Ranks,
    /// See [`WildcardAutomaton::from`](super::WildcardAutomaton::from).
    pub from: usize,
    /// The offset of the wildcard of [`WildcardAutomaton::next`](super::WildcardAutomaton::next).
    pub next: Option<usize>,
    /// The offset of the wildcard of [`WildcardAutomaton::deciding`](super::WildcardAutomaton::deciding).
    pub deciding: Option<usize>,
    /// See [`WildcardAutomaton::fingerprints`](super::WildcardAutomaton::fingerprints).
    pub fingerprints: &'a Fingerprints,
    /// The resting state's transitions.
    pub children: Children<'a, W>,
}

/// Transitions by byte.
#[derive(Clone, Copy)]
pub struct Children<'a, const W: usize> {
    automaton: Automaton<'a, W>,
    /// As many bytes as a list takes at most; they hold the list, if it is one.
    list: &'a [u8],
    count: u8,
    lowest: u8,
    at: usize,
}

impl<const W: usize> Children<'_, W> {
    /// Where `byte` leads.
    ///
    /// Looks at the bytes of a list one by one, which is faster than all at once: processors guess where a branch goes,
    /// and so go on from a state to the next without waiting for the byte that leads there.
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn get(&self, byte: u8) -> Result<Option<usize>, Corrupt> {
        let count = usize::from(self.count);
        let reference = if count <= LIST_MAX {
            let mut index = 0;
            loop {
                if index == count {
                    return Ok(None);
                }
                if *self.list.get(count * W + index).ok_or(Corrupt)? == byte {
                    break;
                }
                index += 1;
            }
            number::<W>(self.list, index * W).ok_or(Corrupt)?
        } else {
            let index = usize::from(byte.wrapping_sub(self.lowest));
            if index > count {
                return Ok(None);
            }
            self.automaton.number(self.at + index * W)?
        };
        Ok(Some(reference as usize).filter(|&at| at != 0))
    }

    /// How many bytes the table takes.
    #[inline(always)]
    fn size(&self) -> usize {
        match usize::from(self.count) {
            count @ 0..=LIST_MAX => count * (1 + W),
            last => (last + 1) * W,
        }
    }

    /// Every transition, by byte. For inspection; a walk uses [`Self::get`].
    ///
    /// # Errors
    /// When the bytes end before, or do not stand in the order of the bytes.
    pub fn all(&self) -> Result<Vec<(u8, usize)>, Corrupt> {
        self.automaton.bytes.get(self.at..self.at + self.size()).ok_or(Corrupt)?;
        let mut all = Vec::new();
        if usize::from(self.count) <= LIST_MAX {
            let references = usize::from(self.count) * W;
            let bytes = self.list.get(references..references + usize::from(self.count)).ok_or(Corrupt)?;
            if !bytes.is_sorted_by(|a, b| a < b) {
                return Err(Corrupt);
            }
            for &byte in bytes {
                all.push((byte, self.get(byte)?.ok_or(Corrupt)?));
            }
        } else {
            for byte in 0..=255 {
                all.extend(self.get(byte)?.map(|at| (byte, at)));
            }
        }
        Ok(all)
    }
}

/// Reads the listed patterns one after the other.
#[derive(Clone, Copy)]
pub struct FallbackReader<'a> {
    bytes: &'a [u8],
}

impl<'a> FallbackReader<'a> {
    /// The next pattern: its rank, whether it is anchored at the end, and its segments.
    ///
    /// # Errors
    /// When the bytes are not a pattern.
    pub fn next_pattern(&mut self) -> Result<Option<(u32, bool, Segments<'a>)>, Corrupt> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let rank = u32_at(self.bytes, 0).ok_or(Corrupt)?;
        if rank == NO_RANK {
            return Ok(None);
        }
        let anchored = u32_at(self.bytes, 4).ok_or(Corrupt)? != 0;
        let count = u32_at(self.bytes, 8).ok_or(Corrupt)?;
        let size = u32_at(self.bytes, 12).ok_or(Corrupt)? as usize;
        let body = self.bytes.get(16..).ok_or(Corrupt)?;
        let segments = Segments { bytes: body.get(..size).ok_or(Corrupt)?, left: count };
        self.bytes = &body[size..];
        Ok(Some((rank, anchored, segments)))
    }
}

/// The segments of a listed pattern.
#[derive(Clone, Copy)]
pub struct Segments<'a> {
    bytes: &'a [u8],
    left: u32,
}

impl<'a> Segments<'a> {
    /// The next segment, and whether it is the last one.
    ///
    /// # Errors
    /// When the bytes end before.
    pub fn next_segment(&mut self) -> Result<Option<(&'a [u8], bool)>, Corrupt> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        let len = u32_at(self.bytes, 0).ok_or(Corrupt)? as usize;
        let segment = self.bytes.get(4..).and_then(|bytes| bytes.get(..len)).ok_or(Corrupt)?;
        (self.bytes, self.left) = (&self.bytes[4 + len..], left);
        Ok(Some((segment, left == 0)))
    }
}
