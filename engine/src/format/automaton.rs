//! The bytes of one ruleset's automaton: [`Draft`] is what a writer hands in, [`Automaton`] what a reader sees.
//!
//! Holds no walk (that is [`crate::automaton`]) and no construction (that is the compiler's).
//!
//! An automaton is a deterministic machine over the bytes of a path, factored at the stars of its patterns:
//!
//! - The **head** is a tree of [`State`]s for the text in front of each pattern's first star. It is anchored at
//!   the start of the path, and a byte without a transition ends it.
//! - A **star** is a machine that looks for the pieces which follow a star. It starts where the head (or another
//!   star) reached it and runs to the end of the path. Its states have *default transitions*: a byte without a
//!   transition of the state's own is taken from the star's resting state, and where that has none either, the
//!   machine rests.
//! - **Listed** patterns are the few that the compiler keeps out of the machine because their stars nest too
//!   deep or branch too wide; they are tried one by one.
//!
//! A state accepts *codes*. A code is twice a rule's rank in the order of precedence, plus one for a disallow,
//! so that the smaller code is the rule that wins.

use super::{FormatError, TooLarge, fit, u32_at};
use crate::platform::Fingerprints;
use crate::verdict::RuleKind;

/// Stands for "no code". Greater than every code.
pub const NO_CODE: u32 = u32::MAX;

/// The most rules that one ruleset can have.
pub const MAX_RULES: usize = 1 << 30;

/// Bytes of all patterns of a ruleset, for listing them; a robots.txt whose patterns take more is none that the
/// compiler accepts. Decisions do not depend on it.
pub const MAX_PATTERNS_BYTES: usize = 64 << 20;

/// How deep stars may nest. Bounds the stack of a walk.
pub const MAX_STAR_DEPTH: usize = 16;

/// How many stars one star may lead to. They are ticked off in a 64-bit word.
pub const MAX_STAR_BRANCHES: usize = 64;

/// The code of the rule at `rank` in the order of precedence.
#[must_use]
pub const fn code(rank: u32, kind: RuleKind) -> u32 {
    rank * 2 + kind as u32
}

/// The kind of rule that a code stands for.
#[must_use]
pub const fn kind_of(code: u32) -> RuleKind {
    if code & 1 == 0 { RuleKind::Allow } else { RuleKind::Disallow }
}

/// The best codes of the two kinds of rule: `[allow, disallow]`, each [`NO_CODE`] if there is none.
pub type Codes = [u32; 2];

/// Neither kind.
pub const NO_CODES: Codes = [NO_CODE; 2];

/// A state: the bytes that lead through it, what it accepts behind them, and where it goes from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State<'t> {
    /// Bytes that must follow the transition into the state, up to 255 of them. In a star, a byte that differs
    /// goes on from the resting state, so the compiler puts there only what may be forgotten.
    pub label: &'t [u8],
    /// Accepted as soon as the label is read.
    pub accept: Codes,
    /// Accepted if the path ends behind the label.
    pub accept_at_end: Codes,
    /// The stars that begin behind the label: index of the star, and its number among those that the machine
    /// holding this state leads to (0 in the head), so that each begins once only.
    pub stars: &'t [(u8, u32)],
    /// Transitions by byte, in the order of the bytes, to indices of states.
    pub children: &'t [(u8, u32)],
}

/// A star: its resting state, and the best codes that it can lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Star<'t> {
    /// The best codes below this star, also of stars that it leads to.
    pub best: Codes,
    /// What the pieces begin with. `None` if they are looked for by their first bytes, of which there must then be
    /// one to three.
    pub fingerprints: Option<Box<Fingerprints>>,
    /// The resting state's transitions by byte, in the order of the bytes, to indices of states. Not empty.
    pub children: &'t [(u8, u32)],
}

/// A pattern that is tried by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<'t> {
    /// The rule's code.
    pub code: u32,
    /// Whether the last piece must end the path.
    pub anchored: bool,
    /// The literal pieces between the stars; the first is at the start of the path and may be empty.
    pub pieces: Vec<&'t [u8]>,
}

/// The automaton of one ruleset, before it is bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft<'t> {
    /// How many rules codes may stand for.
    pub rule_count: u32,
    /// The states of the head and of all stars. The head's first state, if there is a head, is the first.
    pub states: Vec<State<'t>>,
    /// The stars.
    pub stars: Vec<Star<'t>>,
    /// Whether `states` begins with a head.
    pub has_head: bool,
    /// In the order of their codes.
    pub listed: Vec<Listed<'t>>,
    /// The patterns that cannot be read off the head, by code: all but plain prefixes and whole paths.
    pub texts: Vec<(u32, &'t [u8])>,
    /// The code of the rule with an empty pattern, which decides nothing but is named when no other matches.
    pub otherwise: Option<u32>,
    /// For a ruleset that decides together with others: for each rule by rank, a number that orders the rules of
    /// all of them by precedence, the smaller first. Empty for a ruleset that decides alone.
    pub keys: Vec<u32>,
}

const HEADER_BYTES: usize = 32;

const FLAG_STARS: u8 = 0x10;
const FLAG_LIST: u8 = 0x20;
const FLAG_SPAN: u8 = 0x40;

/// Up to this many children are looked for one after the other; more get a table indexed by the byte.
const LIST_MAX: usize = 6;

const FLAG_FINGERPRINTS: u8 = 0x80;

/// Up to this many bytes that leave a star's resting state are looked for by `memchr`.
const MEMCHR_MAX: usize = 3;

/// Writes a draft as bytes, with two-byte numbers if they suffice and four-byte numbers if not.
///
/// # Errors
/// When the automaton takes 4 GiB or more, or has more than [`MAX_RULES`] rules.
pub fn write(draft: &Draft<'_>) -> Result<Vec<u8>, TooLarge> {
    if draft.rule_count as usize > MAX_RULES {
        let (limit, found) = (MAX_RULES as u64, u64::from(draft.rule_count));
        return Err(TooLarge { what: "rules in a ruleset", limit, found });
    }
    // The codes must stay below the two-byte "no code", the offsets below 64 KiB.
    if draft.rule_count < u32::from(u16::MAX) / 2 {
        let writer = Writer::<2>::layout(draft);
        if writer.end <= usize::from(u16::MAX) {
            return writer.write();
        }
    }
    Writer::<4>::layout(draft).write()
}

/// Writes with numbers of `W` bytes. The layout comes first, since a star's states point in circles.
struct Writer<'d, 't, const W: usize> {
    draft: &'d Draft<'t>,
    state_at: Vec<usize>,
    star_at: Vec<usize>,
    end: usize,
}

impl<'d, 't, const W: usize> Writer<'d, 't, W> {
    fn layout(draft: &'d Draft<'t>) -> Writer<'d, 't, W> {
        let mut end = HEADER_BYTES;
        let mut place = |size: usize| {
            let at = end;
            end += size;
            at
        };
        let state_at = draft.states.iter().map(|state| place(Self::state_size(state))).collect();
        let star_at = draft.stars.iter().map(|star| place(Self::star_size(star))).collect();
        Writer { draft, state_at, star_at, end }
    }

    fn state_size(state: &State<'_>) -> usize {
        let codes = state.accept.iter().chain(&state.accept_at_end).filter(|&&code| code != NO_CODE).count();
        let stars = if state.stars.is_empty() { 0 } else { 1 + state.stars.len() * (1 + W) };
        2 + state.label.len() + codes * W + stars + Self::children_size(state.children)
    }

    fn star_size(star: &Star<'_>) -> usize {
        let fingerprints = star.fingerprints.as_ref().map_or(0, |table| table.len());
        1 + 2 * W + fingerprints + Self::children_size(star.children)
    }

    fn children_size(children: &[(u8, u32)]) -> usize {
        match child_table(children) {
            0 => 0,
            FLAG_LIST => 1 + children.len() * (1 + W),
            _ => 2 + span(children) + children.len() * W,
        }
    }

    fn write(&self) -> Result<Vec<u8>, TooLarge> {
        let too_large = |_| TooLarge { what: "bytes of an automaton", limit: u32::MAX.into(), found: self.end as u64 };
        u32::try_from(self.end).map_err(too_large)?;
        let mut out = Vec::with_capacity(self.end);
        out.resize(HEADER_BYTES, 0);
        for state in &self.draft.states {
            self.state(&mut out, state);
        }
        for star in &self.draft.stars {
            self.star(&mut out, star);
        }
        let listed = if self.draft.listed.is_empty() { 0 } else { out.len() };
        for pattern in &self.draft.listed {
            write_listed(&mut out, pattern)?;
        }
        if listed != 0 {
            // A code that no rule has ends the list.
            put_u32(&mut out, NO_CODE);
        }
        let texts = if self.draft.texts.is_empty() { 0 } else { out.len() };
        if texts != 0 {
            write_texts(&mut out, &self.draft.texts)?;
        }
        let keys = if self.draft.keys.is_empty() { 0 } else { out.len() };
        for &key in &self.draft.keys {
            put_u32(&mut out, key);
        }
        let mut header = vec![W as u8, 0, 0, 0];
        let head = if self.draft.has_head { self.state_at[0] } else { 0 };
        put_u32(&mut header, self.draft.rule_count);
        for offset in [head, listed, texts] {
            put_u32(&mut header, fit("bytes of an automaton", offset, u32::MAX.into())?);
        }
        put_u32(&mut header, self.draft.otherwise.unwrap_or(NO_CODE));
        put_u32(&mut header, fit("stars of an automaton", self.draft.stars.len(), u32::MAX.into())?);
        put_u32(&mut header, fit("bytes of an automaton", keys, u32::MAX.into())?);
        out[..HEADER_BYTES].copy_from_slice(&header);
        Ok(out)
    }

    fn state(&self, out: &mut Vec<u8>, state: &State<'_>) {
        let codes = [state.accept[0], state.accept[1], state.accept_at_end[0], state.accept_at_end[1]];
        let mut flags = child_table(state.children);
        for (bit, &code) in codes.iter().enumerate() {
            flags |= u8::from(code != NO_CODE) << bit;
        }
        if !state.stars.is_empty() {
            flags |= FLAG_STARS;
        }
        out.extend_from_slice(&[flags, state.label.len() as u8]);
        out.extend_from_slice(state.label);
        for code in codes.into_iter().filter(|&code| code != NO_CODE) {
            self.number(out, code as usize);
        }
        if !state.stars.is_empty() {
            out.push(state.stars.len() as u8);
            for &(slot, star) in state.stars {
                out.push(slot);
                self.number(out, self.star_at[star as usize]);
            }
        }
        self.children(out, state.children);
    }

    fn star(&self, out: &mut Vec<u8>, star: &Star<'_>) {
        let flag = if star.fingerprints.is_some() { FLAG_FINGERPRINTS } else { 0 };
        out.push(child_table(star.children) | flag);
        for best in star.best {
            self.number(out, best as usize);
        }
        if let Some(fingerprints) = &star.fingerprints {
            out.extend_from_slice(&fingerprints[..]);
        }
        self.children(out, star.children);
    }

    fn children(&self, out: &mut Vec<u8>, children: &[(u8, u32)]) {
        match child_table(children) {
            0 => return,
            FLAG_LIST => {
                // 256 children, which only a list can hold, are written as 0.
                out.push(children.len() as u8);
                out.extend(children.iter().map(|&(byte, _)| byte));
            }
            _ => {
                let low = children[0].0;
                let start = out.len() + 2;
                out.extend_from_slice(&[low, (span(children) - 1) as u8]);
                out.resize(start + span(children), 0);
                for (index, &(byte, _)) in (1..).zip(children) {
                    out[start + usize::from(byte - low)] = index;
                }
            }
        }
        for &(_, state) in children {
            self.number(out, self.state_at[state as usize]);
        }
    }

    /// A code or an offset; the caller knows that it fits, or that it is `NO_CODE`, whose low bytes mean the same.
    fn number(&self, out: &mut Vec<u8>, number: usize) {
        out.extend_from_slice(&number.to_le_bytes()[..W]);
    }
}

/// Which of the two tables the children get, as the flag of a state; 0 for none.
fn child_table(children: &[(u8, u32)]) -> u8 {
    match children.len() {
        0 => 0,
        1..=LIST_MAX | 256.. => FLAG_LIST,
        _ => FLAG_SPAN,
    }
}

/// How many byte values lie between the first child's and the last's, both included.
fn span(children: &[(u8, u32)]) -> usize {
    match (children.first(), children.last()) {
        (Some(first), Some(last)) => usize::from(last.0) - usize::from(first.0) + 1,
        _ => 0,
    }
}

fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn write_listed(out: &mut Vec<u8>, pattern: &Listed<'_>) -> Result<(), TooLarge> {
    put_u32(out, pattern.code);
    put_u32(out, pattern.anchored.into());
    put_u32(out, fit("pieces of a pattern", pattern.pieces.len(), u32::MAX.into())?);
    let size = pattern.pieces.iter().map(|piece| 4 + piece.len()).sum();
    put_u32(out, fit("bytes of a pattern", size, u32::MAX.into())?);
    for piece in &pattern.pieces {
        put_u32(out, fit("bytes of a pattern", piece.len(), u32::MAX.into())?);
        out.extend_from_slice(piece);
    }
    Ok(())
}

fn write_texts(out: &mut Vec<u8>, texts: &[(u32, &[u8])]) -> Result<(), TooLarge> {
    put_u32(out, fit("rules in a ruleset", texts.len(), u32::MAX.into())?);
    for &(code, _) in texts {
        put_u32(out, code);
    }
    let mut end = 0;
    for (_, text) in texts {
        end += text.len();
        put_u32(out, fit("bytes of a ruleset's patterns", end, u32::MAX.into())?);
    }
    for (_, text) in texts {
        out.extend_from_slice(text);
    }
    Ok(())
}

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
    /// See [`State::label`].
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

    /// See [`State::accept`].
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline(always)]
    pub fn accept(&self) -> Result<Codes, Corrupt> {
        self.codes(0)
    }

    /// See [`State::accept_at_end`].
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

    /// See [`State::stars`]: number and offset of each.
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
    /// See [`Star::best`].
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
