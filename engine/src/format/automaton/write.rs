//! Writes automata. Lays out all parts before writing the first byte, because states in a wildcard automaton can refer
//! to each other in cycles.

use std::collections::HashMap;

use super::draft::{AutomatonDraft, FallbackPattern, State, WildcardAutomaton};
use super::layout::{
    FALLBACK_HEADER_BYTES, FLAG_DISALLOWS, FLAG_DISALLOWS_AT_END, FLAG_SETTLED, FLAG_WILDCARDS, HeaderField, LIST_MAX,
    MAX_FALLBACK_BYTES, MAX_RULES, MAX_RULES_OF_TWO_BYTES, MAX_WILDCARDS, NO_RANK, NO_WILDCARD, STATE_HEADER_BYTES,
    header_bytes, list_max_bytes, wildcard_header_bytes,
};
use crate::format::fingerprints::Fingerprints;
use crate::format::{TooLarge, fit};

/// Encodes a draft, with two-byte numbers if they suffice, otherwise with four-byte numbers. Linear in the draft.
///
/// # Errors
/// Returns an error if the automaton takes 4 GiB or more, or exceeds [`MAX_RULES`], [`MAX_WILDCARDS`] or
/// [`MAX_FALLBACK_BYTES`].
pub fn write(draft: &AutomatonDraft<'_>) -> Result<Vec<u8>, TooLarge> {
    for (what, found, limit) in [
        ("rules in a ruleset", draft.rule_count as usize, MAX_RULES),
        ("wildcard automata in a ruleset", draft.wildcards.len(), MAX_WILDCARDS),
        ("bytes of fallback patterns in a ruleset", fallback_bytes(draft), MAX_FALLBACK_BYTES),
    ] {
        if found > limit {
            return Err(TooLarge { what, limit: limit as u64, found: found as u64 });
        }
    }
    if draft.rule_count <= MAX_RULES_OF_TWO_BYTES {
        let writer = AutomatonWriter::<2>::layout(draft);
        if writer.parts.fingerprints <= usize::from(u16::MAX) {
            return writer.write();
        }
    }
    AutomatonWriter::<4>::layout(draft).write()
}

/// A writer with `W`-byte numbers.
struct AutomatonWriter<'d, 't, const W: usize> {
    draft: &'d AutomatonDraft<'t>,
    state_at: Vec<usize>,
    wildcard_at: Vec<usize>,
    /// The distinct fingerprints, and each wildcard automaton's index in them.
    fingerprints: Vec<&'d Fingerprints>,
    fingerprints_of: Vec<usize>,
    parts: PartOffsets,
}

/// Offsets of the parts that follow the states and wildcard automata.
struct PartOffsets {
    fallbacks: usize,
    texts: usize,
    joint_ranks: usize,
    /// The offset of the zeros that make room for loading the last transitions.
    zeros: usize,
    fingerprints: usize,
    end: usize,
}

impl<'d, 't, const W: usize> AutomatonWriter<'d, 't, W> {
    fn layout(draft: &'d AutomatonDraft<'t>) -> AutomatonWriter<'d, 't, W> {
        let mut end = header_bytes(W);
        let mut place = |size: usize| {
            let at = end;
            end += size;
            at
        };
        // Wildcard automata that begin in a state precede its header.
        let state_at = draft.states.iter();
        let state_at = state_at.map(|state| place(Self::state_size(state)) + Self::wildcards_size(state));
        let state_at: Vec<usize> = state_at.collect();
        let wildcard_at = draft.wildcards.iter().map(|wildcard| place(Self::wildcard_size(wildcard)));
        let wildcard_at: Vec<usize> = wildcard_at.collect();
        // The part with the largest offset has the last transitions.
        let last_state = state_at.last().map(|at| at + STATE_HEADER_BYTES);
        let last_list = wildcard_at.last().map(|at| at + wildcard_header_bytes(W)).or(last_state);
        let room = last_list.map_or(0, |at| at + list_max_bytes(W));
        let (fingerprints, fingerprints_of) = distinct_fingerprints(draft);
        let fallbacks = end;
        let texts = fallbacks + if draft.fallbacks.is_empty() { 0 } else { fallback_bytes(draft) };
        let text_bytes = || draft.texts.iter().map(|text| 2 * W + text.pattern.len()).sum::<usize>();
        let joint_ranks = texts + if draft.texts.is_empty() { 0 } else { W + text_bytes() };
        let zeros = joint_ranks + 4 * draft.joint_ranks.len();
        let fingerprints_at = zeros.max(room);
        let end = fingerprints_at + fingerprints.len() * size_of::<Fingerprints>();
        let parts = PartOffsets { fallbacks, texts, joint_ranks, zeros, fingerprints: fingerprints_at, end };
        AutomatonWriter { draft, state_at, wildcard_at, fingerprints, fingerprints_of, parts }
    }

    fn state_size(state: &State<'_>) -> usize {
        let ranks = state.accept.iter().chain(&state.accept_at_end).filter(|&&rank| rank != NO_RANK).count();
        let wildcards = Self::wildcards_size(state);
        STATE_HEADER_BYTES + state.label.len() + ranks * W + wildcards + Self::children_size(state.children)
    }

    fn wildcards_size(state: &State<'_>) -> usize {
        if state.wildcards.is_empty() { 0 } else { 1 + state.wildcards.len() * (1 + W) }
    }

    fn wildcard_size(wildcard: &WildcardAutomaton<'_>) -> usize {
        wildcard_header_bytes(W) + Self::children_size(wildcard.children)
    }

    fn children_size(children: &[(u8, u32)]) -> usize {
        if children.len() <= LIST_MAX { children.len() * (1 + W) } else { 1 + span(children) * W }
    }

    fn write(&self) -> Result<Vec<u8>, TooLarge> {
        let PartOffsets { fallbacks, texts, joint_ranks, zeros, fingerprints, end } = self.parts;
        fit::<u32>("bytes of an automaton", end, u32::MAX.into())?;
        let mut out = Vec::with_capacity(end);
        self.header(&mut out);
        for state in &self.draft.states {
            self.state(&mut out, state);
        }
        for (wildcard, &fingerprints) in self.draft.wildcards.iter().zip(&self.fingerprints_of) {
            self.wildcard(&mut out, wildcard, fingerprints);
        }
        debug_assert_eq!(out.len(), fallbacks);
        for pattern in &self.draft.fallbacks {
            write_fallback(&mut out, pattern)?;
        }
        if fallbacks != texts {
            // A rank that no rule has ends the list.
            put_u32(&mut out, NO_RANK);
        }
        debug_assert_eq!(out.len(), texts);
        if texts != joint_ranks {
            self.texts(&mut out);
        }
        debug_assert_eq!(out.len(), joint_ranks);
        self.draft.joint_ranks.iter().for_each(|&joint_rank| put_u32(&mut out, joint_rank));
        debug_assert_eq!(out.len(), zeros);
        out.resize(fingerprints, 0);
        self.fingerprints.iter().for_each(|&table| out.extend_from_slice(table));
        debug_assert_eq!(out.len(), end);
        Ok(out)
    }

    /// Appends the width and the fields in the order of [`HeaderField`].
    fn header(&self, out: &mut Vec<u8>) {
        let PartOffsets { fallbacks, texts, joint_ranks, zeros, fingerprints, .. } = self.parts;
        let if_any = |at: usize, next: usize| if at == next { 0 } else { at };
        out.push(W as u8);
        for number in [
            self.draft.rule_count as usize,
            if self.draft.has_trie { self.state_at[0] } else { 0 },
            if_any(fallbacks, texts),
            if_any(texts, joint_ranks),
            if_any(joint_ranks, zeros),
            fingerprints,
            self.draft.otherwise.unwrap_or(NO_RANK) as usize,
            self.draft.wildcards.len(),
        ] {
            self.number(out, number);
        }
        debug_assert_eq!(out.len(), HeaderField::Wildcards.at(W) + W);
    }

    fn texts(&self, out: &mut Vec<u8>) {
        let texts = &self.draft.texts;
        self.number(out, texts.len());
        texts.iter().for_each(|text| self.number(out, text.flags.join::<W>(text.rank) as usize));
        let mut end = 0;
        for text in texts {
            end += text.pattern.len();
            self.number(out, end);
        }
        texts.iter().for_each(|text| out.extend_from_slice(text.pattern));
    }

    fn state(&self, out: &mut Vec<u8>, state: &State<'_>) {
        let ranks = [state.accept[0], state.accept[1], state.accept_at_end[0], state.accept_at_end[1]];
        let mut flags = 0;
        for (bit, &rank) in ranks.iter().enumerate() {
            flags |= u8::from(rank != NO_RANK) << bit;
        }
        let has_wildcards = !state.wildcards.is_empty();
        for (flag, is_set) in [
            (FLAG_DISALLOWS, state.disallows),
            (FLAG_DISALLOWS_AT_END, state.disallows_at_end),
            (FLAG_WILDCARDS, has_wildcards),
            (FLAG_SETTLED, state.settled),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        if has_wildcards {
            for &(number, wildcard) in state.wildcards {
                out.push(number);
                self.number(out, if wildcard == NO_WILDCARD { 0 } else { self.wildcard_at[wildcard as usize] });
            }
            out.push(state.wildcards.len() as u8);
        }
        out.extend_from_slice(&[state.label.len() as u8, flags, children_count(state.children)]);
        self.children(out, state.children);
        out.extend_from_slice(state.label);
        for rank in ranks.into_iter().filter(|&rank| rank != NO_RANK) {
            self.number(out, rank as usize);
        }
    }

    fn wildcard(&self, out: &mut Vec<u8>, wildcard: &WildcardAutomaton<'_>, fingerprints: usize) {
        out.push(children_count(wildcard.children));
        for best in wildcard.best {
            self.number(out, best as usize);
        }
        self.number(out, wildcard.from as usize);
        for other in [wildcard.next, wildcard.deciding] {
            self.number(out, other.map_or(0, |other| self.wildcard_at[other as usize]));
        }
        self.number(out, fingerprints);
        self.children(out, wildcard.children);
    }

    fn children(&self, out: &mut Vec<u8>, children: &[(u8, u32)]) {
        if children.len() <= LIST_MAX {
            for &(_, state) in children {
                self.number(out, self.state_at[state as usize]);
            }
            out.extend(children.iter().map(|&(byte, _)| byte));
        } else {
            let lowest = children[0].0;
            out.push(lowest);
            let start = out.len();
            out.resize(start + span(children) * W, 0);
            for &(byte, state) in children {
                let at = start + usize::from(byte - lowest) * W;
                out[at..at + W].copy_from_slice(&self.state_at[state as usize].to_le_bytes()[..W]);
            }
        }
    }

    /// Appends a rank or an offset.
    ///
    /// The caller ensures that it fits or is `NO_RANK`, whose low bytes also mean "no rank".
    fn number(&self, out: &mut Vec<u8>, number: usize) {
        out.extend_from_slice(&number.to_le_bytes()[..W]);
    }
}

/// Returns the distinct fingerprints in the order in which wildcard automata first use them, and each automaton's index
/// in them.
fn distinct_fingerprints<'d>(draft: &'d AutomatonDraft<'_>) -> (Vec<&'d Fingerprints>, Vec<usize>) {
    let mut fingerprints = Vec::new();
    let mut known = HashMap::new();
    let mut last: Option<(&Fingerprints, usize)> = None;
    let index_of = |wildcard: &'d WildcardAutomaton<'_>| {
        // Adjacent automata often have the same segment starts, and comparing is faster than a look-up.
        if let Some((_, index)) = last.filter(|&(table, _)| table == wildcard.fingerprints) {
            return index;
        }
        let index = *known.entry(wildcard.fingerprints).or_insert_with_key(|table| {
            fingerprints.push(*table);
            fingerprints.len() - 1
        });
        last = Some((wildcard.fingerprints, index));
        index
    };
    let indices = draft.wildcards.iter().map(index_of).collect();
    (fingerprints, indices)
}

/// Returns the number of children in a list, or the index of the last entry in a table for more than [`LIST_MAX`]
/// children.
fn children_count(children: &[(u8, u32)]) -> u8 {
    match *children {
        [(lowest, _), .., (highest, _)] if children.len() > LIST_MAX => (highest - lowest).max(LIST_MAX as u8 + 1),
        _ => children.len() as u8,
    }
}

/// Returns the number of entries in the table for more than [`LIST_MAX`] children.
fn span(children: &[(u8, u32)]) -> usize {
    usize::from(children_count(children)) + 1
}

fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Returns the size of a draft's fallback patterns in bytes, including the end of their list.
#[must_use]
pub fn fallback_bytes(draft: &AutomatonDraft<'_>) -> usize {
    draft.fallbacks.iter().map(fallback_size).sum::<usize>() + size_of_val(&NO_RANK)
}

/// Returns the size of a fallback pattern in bytes.
fn fallback_size(pattern: &FallbackPattern<'_>) -> usize {
    let wildcards = memchr::memchr_iter(b'*', pattern.text).count();
    FALLBACK_HEADER_BYTES + 4 * (1 + wildcards) + pattern.text.len() - wildcards
}

fn write_fallback(out: &mut Vec<u8>, pattern: &FallbackPattern<'_>) -> Result<(), TooLarge> {
    put_u32(out, pattern.rank);
    put_u32(out, pattern.anchored.into());
    let segments = || pattern.text.split(|&byte| byte == b'*');
    put_u32(out, fit("segments of a pattern", segments().count(), u32::MAX.into())?);
    let size = segments().map(|segment| 4 + segment.len()).sum();
    put_u32(out, fit("bytes of a pattern", size, u32::MAX.into())?);
    for segment in segments() {
        put_u32(out, fit("bytes of a pattern", segment.len(), u32::MAX.into())?);
        out.extend_from_slice(segment);
    }
    Ok(())
}
