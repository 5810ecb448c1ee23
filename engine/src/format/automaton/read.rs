//! Reading an automaton. Every access is checked.

use super::{Codes, FLAG_FINGERPRINTS, FLAG_LIST, FLAG_SPAN, FLAG_STARS, HEADER_BYTES, MEMCHR_MAX, NO_CODE, NO_CODES};
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

/// How wide an automaton's codes and offsets are.
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

    /// How many rules its codes stand for.
    #[must_use]
    pub fn rule_count(&self) -> u32 {
        self.header(4)
    }

    /// How many bytes it takes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// The first state of the head.
    #[inline(always)]
    #[must_use]
    pub fn head(&self) -> Option<usize> {
        Some(self.header(8) as usize).filter(|&at| at != 0)
    }

    /// The rule with an empty pattern.
    #[inline]
    #[must_use]
    pub fn otherwise(&self) -> Option<u32> {
        Some(self.header(20)).filter(|&code| code != NO_CODE)
    }

    /// The place of a rule, by rank, among the rules of all rulesets that decide together with this one.
    ///
    /// # Errors
    /// When this ruleset decides alone.
    pub fn key(&self, rank: u32) -> Result<u32, Corrupt> {
        let at = Some(self.header(28) as usize).filter(|&at| at != 0 && rank < self.rule_count()).ok_or(Corrupt)?;
        u32_at(self.bytes, at + rank as usize * 4).ok_or(Corrupt)
    }

    /// How many stars there are.
    #[inline]
    #[must_use]
    pub fn star_count(&self) -> u32 {
        self.header(24)
    }

    #[inline(always)]
    fn number(&self, at: usize) -> Result<u32, Corrupt> {
        let bytes = self.bytes.get(at..).ok_or(Corrupt)?;
        if W == 2 {
            bytes.first_chunk().map(|&number| u16::from_le_bytes(number).into()).ok_or(Corrupt)
        } else {
            bytes.first_chunk().map(|&number| u32::from_le_bytes(number)).ok_or(Corrupt)
        }
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> Result<u8, Corrupt> {
        self.bytes.get(at).copied().ok_or(Corrupt)
    }

    #[inline(always)]
    fn code(&self, at: usize) -> Result<u32, Corrupt> {
        let code = self.number(at)?;
        Ok(if W == 2 && code == u32::from(u16::MAX) { NO_CODE } else { code })
    }

    /// The state at an offset that [`Self::head`] or a transition gave.
    ///
    /// # Errors
    /// When there is none.
    #[inline(always)]
    pub fn state(&self, at: usize) -> Result<StateView<'a, W>, Corrupt> {
        let (flags, label_len) = (self.byte(at)?, usize::from(self.byte(at + 1)?));
        let from_label = self.bytes.get(at + 2..).filter(|bytes| bytes.len() >= label_len).ok_or(Corrupt)?;
        Ok(StateView { automaton: *self, flags, from_label, label_len, codes_at: at + 2 + label_len })
    }

    /// The star at an offset that a state gave.
    ///
    /// # Errors
    /// When there is none.
    #[inline(always)]
    pub fn star(&self, at: usize) -> Result<StarView<'a, W>, Corrupt> {
        let flags = self.byte(at)?;
        let best = [self.code(at + 1)?, self.code(at + 1 + W)?];
        let body = at + 1 + 2 * W;
        let (begin, children_at) = if flags & FLAG_FINGERPRINTS != 0 {
            let table: &Fingerprints = self.bytes.get(body..).and_then(|bytes| bytes.first_chunk()).ok_or(Corrupt)?;
            (Begin::Fingerprints(table), body + table.len())
        } else {
            let count = usize::from(self.byte(body)?);
            if flags != FLAG_LIST || !(1..=MEMCHR_MAX).contains(&count) {
                return Err(Corrupt);
            }
            (Begin::Bytes(self.bytes.get(body + 1..body + 1 + count).ok_or(Corrupt)?), body)
        };
        let table = flags & (FLAG_LIST | FLAG_SPAN);
        Ok(StarView { best, begin, children: Children { automaton: *self, table, at: children_at } })
    }

    /// Whether there are patterns that are tried one by one.
    #[inline(always)]
    #[must_use]
    pub fn has_listed(&self) -> bool {
        self.header(12) != 0
    }

    /// The patterns that are tried one by one, in the order of their codes.
    #[must_use]
    pub fn listed(&self) -> ListedReader<'a> {
        let at = self.header(12) as usize;
        ListedReader { bytes: if at == 0 { &[] } else { self.bytes.get(at..).unwrap_or(&[0]) } }
    }

    /// The pattern of a code's rule, if it is one of those that cannot be read off the head.
    ///
    /// # Errors
    /// When the table of patterns is damaged.
    pub fn text(&self, code: u32) -> Result<Option<&'a [u8]>, Corrupt> {
        let Some((codes, ends, texts)) = self.text_table()? else { return Ok(None) };
        let code_at = |index: usize| u32_at(codes, index * 4).unwrap_or(NO_CODE);
        let (mut low, mut high) = (0, codes.len() / 4);
        while low < high {
            let middle = low.midpoint(high);
            if code_at(middle) < code { low = middle + 1 } else { high = middle }
        }
        if code_at(low) != code {
            return Ok(None);
        }
        let start = if low == 0 { 0 } else { u32_at(ends, (low - 1) * 4).ok_or(Corrupt)? };
        let end = u32_at(ends, low * 4).ok_or(Corrupt)?;
        texts.get(start as usize..end as usize).map(Some).ok_or(Corrupt)
    }

    /// The table of patterns: codes, ends and bytes.
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

    /// Every pattern of [`Self::text`] with its code.
    ///
    /// # Errors
    /// When the table of patterns is damaged.
    pub fn texts(&self) -> Result<Vec<(u32, &'a [u8])>, Corrupt> {
        let Some((codes, _, _)) = self.text_table()? else { return Ok(Vec::new()) };
        let codes = codes.chunks_exact(4).filter_map(|code| u32_at(code, 0));
        codes.map(|code| Ok((code, self.text(code)?.ok_or(Corrupt)?))).collect()
    }
}

/// A state as it lies in the bytes.
#[derive(Clone, Copy)]
pub struct StateView<'a, const W: usize> {
    automaton: Automaton<'a, W>,
    flags: u8,
    /// The label and whatever stands behind it.
    from_label: &'a [u8],
    label_len: usize,
    codes_at: usize,
}

impl<'a, const W: usize> StateView<'a, W> {
    /// See [`State::label`](super::State::label).
    #[inline(always)]
    #[must_use]
    pub fn label(&self) -> &'a [u8] {
        &self.from_label[..self.label_len]
    }

    /// How many bytes of the label `text` begins with, and whether that is all of them.
    ///
    /// Looks at eight bytes at once and takes no branch that depends on how many agree: most labels are that short,
    /// and a branch that is guessed wrong takes longer than all else.
    #[inline(always)]
    #[must_use]
    pub fn common_prefix(&self, text: &[u8]) -> (usize, bool) {
        let mut common = 0;
        loop {
            let left = self.label_len - common;
            let (Some(a), Some(b)) = (text[common..].first_chunk(), self.from_label[common..].first_chunk()) else {
                let pairs = text[common..].iter().zip(&self.label()[common..]);
                common += pairs.take_while(|(a, b)| a == b).count();
                return (common, common == self.label_len);
            };
            let differs = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
            let equal = differs.trailing_zeros() as usize / 8;
            common += equal.min(left);
            if equal < 8 || left <= 8 {
                return (common, equal >= left);
            }
        }
    }

    /// Whether it accepts anything, here or at the end.
    #[inline(always)]
    #[must_use]
    pub fn accepts(&self) -> bool {
        self.flags & 15 != 0
    }

    /// See [`State::accept`](super::State::accept).
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn accept(&self) -> Result<Codes, Corrupt> {
        self.codes(0)
    }

    /// See [`State::accept_at_end`](super::State::accept_at_end).
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn accept_at_end(&self) -> Result<Codes, Corrupt> {
        self.codes(2)
    }

    #[inline(always)]
    fn codes(&self, first_bit: u32) -> Result<Codes, Corrupt> {
        let mut at = self.codes_at + bits(self.flags & 15 & ((1 << first_bit) - 1)) * W;
        let mut codes = NO_CODES;
        for (bit, slot) in (first_bit..).zip(&mut codes) {
            if self.flags >> bit & 1 != 0 {
                *slot = self.automaton.code(at)?;
                at += W;
            }
        }
        Ok(codes)
    }

    /// Whether a star begins here.
    #[inline(always)]
    #[must_use]
    pub fn has_stars(&self) -> bool {
        self.flags & FLAG_STARS != 0
    }

    /// See [`State::stars`](super::State::stars): number and offset of each.
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn stars(&self) -> Result<impl Iterator<Item = (u8, usize)> + use<'a, W>, Corrupt> {
        let at = self.stars_at();
        let count = if self.flags & FLAG_STARS == 0 { 0 } else { usize::from(self.automaton.byte(at)?) };
        let table = self.automaton.bytes.get(at + 1..at + 1 + count * (1 + W));
        let table = if count == 0 { &[] } else { table.ok_or(Corrupt)? };
        let automaton = Automaton::<W>::new(table);
        Ok((0..count).filter_map(move |index| {
            let entry = index * (1 + W);
            Some((automaton.byte(entry).ok()?, automaton.number(entry + 1).ok()? as usize))
        }))
    }

    #[inline(always)]
    fn stars_at(&self) -> usize {
        self.codes_at + bits(self.flags & 15) * W
    }

    /// The state's own transitions.
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn children(&self) -> Result<Children<'a, W>, Corrupt> {
        let mut at = self.stars_at();
        if self.flags & FLAG_STARS != 0 {
            at += 1 + usize::from(self.automaton.byte(at)?) * (1 + W);
        }
        Ok(Children { automaton: self.automaton, table: self.flags & (FLAG_LIST | FLAG_SPAN), at })
    }
}

/// How many of four bits are set. Faster than the general count, which needs an instruction that not every processor
/// has.
#[inline(always)]
fn bits(four: u8) -> usize {
    (0x4332_3221_3221_2110_u64 >> (four * 4) & 15) as usize
}

/// Where `byte` is among the first `count` bytes of `list`. Looks at eight at once where there are as many.
#[inline(always)]
fn find_byte(list: &[u8], count: usize, byte: u8) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    match list.first_chunk() {
        Some(&eight) if count <= 8 => {
            let differs = u64::from_le_bytes(eight) ^ (ONES * u64::from(byte));
            // The lowest set bit marks the first byte that is zero; bits above it may be wrong.
            let equal = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
            Some(equal.trailing_zeros() as usize / 8).filter(|&index| index < count)
        }
        _ => list.get(..count)?.iter().position(|&child| child == byte),
    }
}

/// A star as it lies in the bytes.
#[derive(Clone, Copy)]
pub struct StarView<'a, const W: usize> {
    /// See [`Star::best`](super::Star::best).
    pub best: Codes,
    /// How the places where a piece may begin are found.
    pub begin: Begin<'a>,
    /// The resting state's transitions.
    pub children: Children<'a, W>,
}

/// What the pieces behind a star begin with, in the form in which it is fastest to look for.
#[derive(Clone, Copy)]
pub enum Begin<'a> {
    /// One to three bytes.
    Bytes(&'a [u8]),
    /// Three bytes of each.
    Fingerprints(&'a Fingerprints),
}

/// Transitions by byte.
#[derive(Clone, Copy)]
pub struct Children<'a, const W: usize> {
    automaton: Automaton<'a, W>,
    table: u8,
    at: usize,
}

impl<const W: usize> Children<'_, W> {
    /// Where `byte` leads.
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn get(&self, byte: u8) -> Result<Option<usize>, Corrupt> {
        let (bytes, at) = (self.automaton.bytes, self.at);
        let (index, references) = match self.table {
            0 => return Ok(None),
            FLAG_LIST => {
                let count = self.list_len()?;
                let list = bytes.get(at + 1..).ok_or(Corrupt)?;
                let Some(index) = find_byte(list, count, byte) else { return Ok(None) };
                (index, at + 1 + count)
            }
            FLAG_SPAN => {
                let (low, last) = (self.automaton.byte(at)?, self.automaton.byte(at + 1)?);
                let offset = byte.wrapping_sub(low);
                if offset > last {
                    return Ok(None);
                }
                let index = self.automaton.byte(at + 2 + usize::from(offset))?;
                let Some(index) = index.checked_sub(1) else { return Ok(None) };
                (usize::from(index), at + 3 + usize::from(last))
            }
            _ => return Err(Corrupt),
        };
        self.automaton.number(references + index * W).map(|at| Some(at as usize))
    }

    #[inline(always)]
    fn list_len(&self) -> Result<usize, Corrupt> {
        match self.automaton.byte(self.at)? {
            0 => Ok(256),
            count => Ok(count.into()),
        }
    }

    /// Every transition, by byte. For inspection; a walk uses [`Self::get`].
    ///
    /// # Errors
    /// When the bytes end before.
    pub fn all(&self) -> Result<Vec<(u8, usize)>, Corrupt> {
        let bytes: Vec<u8> = match self.table {
            0 => return Ok(Vec::new()),
            FLAG_LIST => {
                let list = self.automaton.bytes.get(self.at + 1..).ok_or(Corrupt)?;
                list.get(..self.list_len()?).ok_or(Corrupt)?.to_vec()
            }
            _ => {
                let (low, last) = (self.automaton.byte(self.at)?, self.automaton.byte(self.at + 1)?);
                (low..=low.checked_add(last).ok_or(Corrupt)?).collect()
            }
        };
        let all = bytes.into_iter().map(|byte| Ok(self.get(byte)?.map(|at| (byte, at))));
        all.filter_map(Result::transpose).collect()
    }
}

/// Reads the listed patterns one after the other.
#[derive(Clone, Copy)]
pub struct ListedReader<'a> {
    bytes: &'a [u8],
}

impl<'a> ListedReader<'a> {
    /// The next pattern: its code, whether it is anchored at the end, and its pieces.
    ///
    /// # Errors
    /// When the bytes are not a pattern.
    pub fn next_pattern(&mut self) -> Result<Option<(u32, bool, Pieces<'a>)>, Corrupt> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let code = u32_at(self.bytes, 0).ok_or(Corrupt)?;
        if code == NO_CODE {
            return Ok(None);
        }
        let anchored = u32_at(self.bytes, 4).ok_or(Corrupt)? != 0;
        let count = u32_at(self.bytes, 8).ok_or(Corrupt)?;
        let size = u32_at(self.bytes, 12).ok_or(Corrupt)? as usize;
        let body = self.bytes.get(16..).ok_or(Corrupt)?;
        let pieces = Pieces { bytes: body.get(..size).ok_or(Corrupt)?, left: count };
        self.bytes = &body[size..];
        Ok(Some((code, anchored, pieces)))
    }
}

/// The pieces of a listed pattern.
#[derive(Clone, Copy)]
pub struct Pieces<'a> {
    bytes: &'a [u8],
    left: u32,
}

impl<'a> Pieces<'a> {
    /// The next piece, and whether it is the last one.
    ///
    /// # Errors
    /// When the bytes end before.
    pub fn next_piece(&mut self) -> Result<Option<(&'a [u8], bool)>, Corrupt> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        let len = u32_at(self.bytes, 0).ok_or(Corrupt)? as usize;
        let piece = self.bytes.get(4..).and_then(|bytes| bytes.get(..len)).ok_or(Corrupt)?;
        (self.bytes, self.left) = (&self.bytes[4 + len..], left);
        Ok(Some((piece, left == 0)))
    }
}
