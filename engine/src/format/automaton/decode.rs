//! Decodes a whole automaton into the [`AutomatonDraft`] from which it was written.
//!
//! Follows every reference from the header. Two parts that claim the same byte are an error, so the work is linear in
//! the bytes even if references form cycles. The draft omits unreferenced bytes; writing it again and comparing reveals
//! them (*written form*).

use super::draft::{AutomatonDraft, FallbackPattern, PatternText, State, WildcardAutomaton};
use super::error::{Corrupt, corrupt};
use super::layout::{NO_WILDCARD, Ranks, STATE_HEADER_BYTES, header_bytes, wildcard_header_bytes};
use super::read::{Automaton, Width, width};
use crate::format::fingerprints::Fingerprints;
use crate::format::numbers::NumberSet;
use crate::format::u32_at;

/// A decoded automaton. [`Decoded::draft`] returns the draft for a writer.
///
/// States and wildcard automata are numbered in offset order. Memory: about 20 times the automaton's size.
pub struct Decoded<'a> {
    bytes: &'a [u8],
    rule_count: u32,
    has_trie: bool,
    otherwise: Option<u32>,
    states: Vec<StateParts>,
    wildcards: Vec<WildcardParts<'a>>,
    /// Transitions and references to wildcard automata, indexed by the spans of states and wildcard automata.
    references: Vec<(u8, u32)>,
    fallbacks: Vec<(u32, bool, IndexRange)>,
    fallback_text: Vec<u8>,
    texts: Vec<PatternText<'a>>,
    joint_ranks: Vec<u32>,
    steps: usize,
}

/// A list range for one state or wildcard automaton.
#[derive(Clone, Copy)]
struct IndexRange(usize, usize);

impl IndexRange {
    fn of<T>(self, list: &[T]) -> &[T] {
        list.get(self.0..self.1).unwrap_or_default()
    }
}

/// A state's parts. Compact, because an automaton may have millions of states, and the draft contains them again.
struct StateParts {
    at: u32,
    /// The label's offset.
    label_at: u32,
    /// The first transition's index in `references`. References to wildcard automata follow the transitions.
    references_at: u32,
    children: u16,
    wildcards: u16,
    label_len: u8,
    disallows: bool,
    disallows_at_end: bool,
    settled: bool,
    accept: Ranks,
    accept_at_end: Ranks,
}

struct WildcardParts<'a> {
    at: usize,
    best: Ranks,
    from: u32,
    next: Option<u32>,
    deciding: Option<u32>,
    fingerprints: &'a Fingerprints,
    children: IndexRange,
}

/// Decodes an automaton. Time and memory are linear in its bytes.
///
/// # Errors
/// Returns an error if a reference is invalid, two parts claim the same byte, or a part is truncated. `verify` checks
/// that the parts are consistent.
pub fn decode(bytes: &[u8]) -> Result<Decoded<'_>, Corrupt> {
    match width(bytes)? {
        Width::Two => Decoder::<2>::new(bytes).run(),
        Width::Four => Decoder::<4>::new(bytes).run(),
    }
}

impl<'a> Decoded<'a> {
    /// Returns the draft that encodes to these bytes.
    #[must_use]
    pub fn draft(&self) -> AutomatonDraft<'_> {
        let states = self.states.iter().map(|state| {
            let (label_at, start) = (state.label_at as usize, state.references_at as usize);
            let wildcards_at = start + usize::from(state.children);
            State {
                label: IndexRange(label_at, label_at + usize::from(state.label_len)).of(self.bytes),
                accept: state.accept,
                accept_at_end: state.accept_at_end,
                disallows: state.disallows,
                disallows_at_end: state.disallows_at_end,
                settled: state.settled,
                wildcards: IndexRange(wildcards_at, wildcards_at + usize::from(state.wildcards)).of(&self.references),
                children: IndexRange(start, wildcards_at).of(&self.references),
            }
        });
        let wildcards = self.wildcards.iter().map(|wildcard| WildcardAutomaton {
            best: wildcard.best,
            from: wildcard.from,
            next: wildcard.next,
            deciding: wildcard.deciding,
            fingerprints: wildcard.fingerprints,
            children: wildcard.children.of(&self.references),
        });
        let fallbacks = self.fallbacks.iter().map(|&(rank, anchored, text)| FallbackPattern {
            rank,
            anchored,
            text: text.of(&self.fallback_text),
        });
        AutomatonDraft {
            rule_count: self.rule_count,
            has_trie: self.has_trie,
            otherwise: self.otherwise,
            states: states.collect(),
            wildcards: wildcards.collect(),
            fallbacks: fallbacks.collect(),
            texts: self.texts.clone(),
            joint_ranks: self.joint_ranks.clone(),
        }
    }

    /// Returns a state's offset.
    #[must_use]
    pub fn state_at(&self, state: usize) -> usize {
        self.states.get(state).map_or(0, |state| state.at as usize)
    }

    /// Returns a wildcard automaton's offset.
    #[must_use]
    pub fn wildcard_at(&self, wildcard: usize) -> usize {
        self.wildcards.get(wildcard).map_or(0, |wildcard| wildcard.at)
    }

    /// Returns the number of steps for decoding: bytes claimed and references followed.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }
}

struct Decoder<'a, const W: usize> {
    bytes: &'a [u8],
    automaton: Automaton<'a, W>,
    claimed: NumberSet,
    states: NumberSet,
    wildcards: NumberSet,
    open: Vec<ClaimedPart>,
    references: Vec<(u8, u32)>,
    steps: usize,
}

/// A claimed part whose references have not been followed yet.
enum ClaimedPart {
    State(usize),
    Wildcard(usize),
}

impl<'a, const W: usize> Decoder<'a, W> {
    fn new(bytes: &'a [u8]) -> Decoder<'a, W> {
        let offsets = || NumberSet::below(bytes.len());
        Decoder {
            bytes,
            automaton: Automaton::new(bytes),
            claimed: offsets(),
            states: offsets(),
            wildcards: offsets(),
            open: Vec::new(),
            references: Vec::new(),
            steps: 0,
        }
    }

    fn run(mut self) -> Result<Decoded<'a>, Corrupt> {
        self.claim(0, header_bytes(W))?;
        if let Some(root) = self.automaton.trie() {
            self.state(root)?;
        }
        while let Some(open) = self.open.pop() {
            match open {
                ClaimedPart::State(at) => self.follow_state(at)?,
                ClaimedPart::Wildcard(at) => self.follow_wildcard(at)?,
            }
        }
        self.states.count();
        self.wildcards.count();
        let offsets: Vec<usize> = self.states.iter().map(|at| at as usize).collect();
        let mut states = Vec::with_capacity(offsets.len());
        for at in offsets {
            states.push(self.state_parts(at)?);
        }
        let wildcards: Vec<usize> = self.wildcards.iter().map(|at| at as usize).collect();
        let wildcards = wildcards.into_iter().map(|at| self.wildcard_parts(at)).collect::<Result<_, _>>()?;
        let (fallbacks, fallback_text) = self.fallbacks()?;
        let texts = self.texts()?;
        let joint_ranks = self.joint_ranks()?;
        Ok(Decoded {
            bytes: self.bytes,
            rule_count: self.automaton.rule_count(),
            has_trie: self.automaton.trie().is_some(),
            otherwise: self.automaton.otherwise(),
            states,
            wildcards,
            references: self.references,
            fallbacks,
            fallback_text,
            texts,
            joint_ranks,
            steps: self.steps,
        })
    }

    /// Claims bytes for one part.
    fn claim(&mut self, start: usize, len: usize) -> Result<(), Corrupt> {
        if start.checked_add(len).is_none_or(|end| end > self.bytes.len()) {
            return Err(corrupt!(start, "bytes of a part of the automaton"));
        }
        self.steps += len;
        match self.claimed.insert_all(start, len) {
            true => Ok(()),
            false => Err(corrupt!(start, "bytes that belong to nothing else", "parts that overlap")),
        }
    }

    /// Claims a state unless it is already claimed.
    fn state(&mut self, at: usize) -> Result<(), Corrupt> {
        self.steps += 1;
        if !self.states.contains(at) {
            let state = self.automaton.state(at)?;
            let before = state.wildcards_len()?;
            let len = STATE_HEADER_BYTES + state.children().size() + state.label_len() + state.ranks_len();
            self.claim(at - before, before + len)?;
            self.states.insert_all(at, 1);
            self.open.push(ClaimedPart::State(at));
        }
        Ok(())
    }

    /// Claims a wildcard automaton unless it is already claimed.
    fn wildcard(&mut self, at: usize) -> Result<(), Corrupt> {
        self.steps += 1;
        if !self.wildcards.contains(at) {
            let wildcard = self.automaton.wildcard(at)?;
            self.claim(at, wildcard_header_bytes(W) + wildcard.children.size())?;
            self.wildcards.insert_all(at, 1);
            self.open.push(ClaimedPart::Wildcard(at));
        }
        Ok(())
    }

    fn follow_state(&mut self, at: usize) -> Result<(), Corrupt> {
        let state = self.automaton.state(at)?;
        for (_, child) in state.children().all()? {
            self.state(child)?;
        }
        for (_, wildcard) in state.wildcards()?.filter(|&(_, wildcard)| wildcard != 0) {
            self.wildcard(wildcard)?;
        }
        Ok(())
    }

    fn follow_wildcard(&mut self, at: usize) -> Result<(), Corrupt> {
        let wildcard = self.automaton.wildcard(at)?;
        for (_, child) in wildcard.children.all()? {
            self.state(child)?;
        }
        [wildcard.next, wildcard.deciding].into_iter().flatten().try_for_each(|other| self.wildcard(other))
    }

    fn state_parts(&mut self, at: usize) -> Result<StateParts, Corrupt> {
        let state = self.automaton.state(at)?;
        let children = self.numbered(state.children().all()?, at)?;
        for (number, wildcard) in state.wildcards()? {
            let index = if wildcard == 0 { Some(NO_WILDCARD) } else { self.wildcards.rank(wildcard) };
            self.references
                .push((number, index.ok_or(corrupt!(at, "a reference to a wildcard automaton", "another"))?));
        }
        let label = state.label()?;
        let too_large = |_| corrupt!(at, "a state within 4 GiB", "a state beyond");
        let label_at = label.as_ptr().addr() - self.bytes.as_ptr().addr();
        Ok(StateParts {
            at: u32::try_from(at).map_err(too_large)?,
            label_at: u32::try_from(label_at).map_err(too_large)?,
            references_at: u32::try_from(children.0).map_err(too_large)?,
            children: (children.1 - children.0) as u16,
            wildcards: (self.references.len() - children.1) as u16,
            label_len: label.len() as u8,
            disallows: state.end().disallows(false),
            disallows_at_end: state.end().disallows(true),
            settled: state.end().is_settled(),
            accept: state.accept()?,
            accept_at_end: state.accept_at_end()?,
        })
    }

    fn wildcard_parts(&mut self, at: usize) -> Result<WildcardParts<'a>, Corrupt> {
        let wildcard = self.automaton.wildcard(at)?;
        let children = self.numbered(wildcard.children.all()?, at)?;
        Ok(WildcardParts {
            at,
            best: wildcard.best,
            from: wildcard.from as u32,
            next: wildcard.next.and_then(|next| self.wildcards.rank(next)),
            deciding: wildcard.deciding.and_then(|deciding| self.wildcards.rank(deciding)),
            fingerprints: wildcard.fingerprints,
            children,
        })
    }

    /// Returns transitions with state indexes in place of offsets.
    fn numbered(&mut self, children: Vec<(u8, usize)>, at: usize) -> Result<IndexRange, Corrupt> {
        let start = self.references.len();
        for (byte, child) in children {
            self.steps += 1;
            let index = self.states.rank(child).ok_or(corrupt!(at, "a reference to a state", "another"))?;
            self.references.push((byte, index));
        }
        Ok(IndexRange(start, self.references.len()))
    }

    #[expect(clippy::type_complexity, reason = "patterns, and the bytes that they share")]
    fn fallbacks(&mut self) -> Result<(Vec<(u32, bool, IndexRange)>, Vec<u8>), Corrupt> {
        let (mut fallbacks, mut text) = (Vec::new(), Vec::new());
        let mut reader = self.automaton.fallbacks();
        let Some(mut at) = self.automaton.fallbacks_at() else { return Ok((fallbacks, text)) };
        while let Some((rank, anchored, mut segments)) = reader.next_pattern()? {
            self.claim(at, reader.at() - at)?;
            let start = text.len();
            while let Some((segment, is_last)) = segments.next_segment()? {
                text.extend_from_slice(segment);
                text.extend((!is_last).then_some(b'*'));
            }
            fallbacks.push((rank, anchored, IndexRange(start, text.len())));
            at = reader.at();
        }
        self.claim(at, 4)?;
        Ok((fallbacks, text))
    }

    fn texts(&mut self) -> Result<Vec<PatternText<'a>>, Corrupt> {
        let Some(at) = self.automaton.texts_at() else { return Ok(Vec::new()) };
        let texts = self.automaton.texts()?;
        let patterns = texts.iter().map(|text| text.pattern.len()).sum::<usize>();
        self.claim(at, W + 2 * W * texts.len() + patterns)?;
        Ok(texts)
    }

    fn joint_ranks(&mut self) -> Result<Vec<u32>, Corrupt> {
        let Some(at) = self.automaton.joint_ranks_at() else { return Ok(Vec::new()) };
        let count = self.automaton.rule_count() as usize;
        self.claim(at, count.saturating_mul(4))?;
        Ok((0..count).filter_map(|place| u32_at(self.bytes, at + place * 4)).collect())
    }
}
