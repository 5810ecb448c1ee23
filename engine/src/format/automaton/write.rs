//! Writes automata. Lays out all parts before writing the first byte, because the states of a wildcard automaton refer
//! to each other in circles.

use std::collections::HashMap;

use super::{
    Draft, FALLBACK_HEADER_BYTES, FLAG_DISALLOWS, FLAG_DISALLOWS_AT_END, FLAG_SETTLED, FLAG_WILDCARDS, FallbackPattern,
    HEADER_BYTES, LIST_MAX, MAX_FALLBACK_BYTES, MAX_RULES, MAX_WILDCARDS, NO_RANK, NO_WILDCARD, STATE_HEADER_BYTES,
    State, Text, WildcardAutomaton, list_max_bytes,
};
use crate::format::{TooLarge, fit};
use crate::platform::Fingerprints;

/// Writes a draft as bytes, with two-byte numbers if they suffice, otherwise with four-byte numbers. Linear in the
/// draft.
///
/// # Errors
/// When the automaton takes 4 GiB or more, or is over [`MAX_RULES`], [`MAX_WILDCARDS`] or [`MAX_FALLBACK_BYTES`].
pub fn write(draft: &Draft<'_>) -> Result<Vec<u8>, TooLarge> {
    for (what, found, limit) in [
        ("rules in a ruleset", draft.rule_count as usize, MAX_RULES),
        ("wildcard automata in a ruleset", draft.wildcards.len(), MAX_WILDCARDS),
        ("bytes of fallback patterns in a ruleset", fallback_bytes(draft), MAX_FALLBACK_BYTES),
    ] {
        if found > limit {
            return Err(TooLarge { what, limit: limit as u64, found: found as u64 });
        }
    }
    // The ranks must stay below the two-byte "no rank", the offsets below 64 KiB.
    if draft.rule_count < u32::from(u16::MAX) / 2 {
        let writer = Writer::<2>::layout(draft);
        if writer.end <= usize::from(u16::MAX) {
            return writer.write();
        }
    }
    Writer::<4>::layout(draft).write()
}

/// Writes with numbers of `W` bytes.
struct Writer<'d, 't, const W: usize> {
    draft: &'d Draft<'t>,
    state_at: Vec<usize>,
    wildcard_at: Vec<usize>,
    /// The distinct fingerprints of the wildcard automata, one after the other, and for each automaton which of them it
    /// has.
    fingerprints: Vec<&'d Fingerprints>,
    fingerprints_of: Vec<usize>,
    fingerprints_at: usize,
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
        // The wildcard automata that begin in a state come before its header.
        let state_at = draft.states.iter();
        let state_at = state_at.map(|state| place(Self::state_size(state)) + Self::wildcards_size(state)).collect();
        let wildcard_at = draft.wildcards.iter().map(|wildcard| place(Self::wildcard_size(wildcard))).collect();
        let mut fingerprints = Vec::new();
        let mut known = HashMap::new();
        let mut last: Option<(&Fingerprints, usize)> = None;
        let place_of = |wildcard: &'d WildcardAutomaton<'t>| {
            // Neighbours often begin with the same segments, and comparing is faster than looking up.
            if let Some((table, index)) = last
                && table == wildcard.fingerprints
            {
                return index;
            }
            let index = *known.entry(wildcard.fingerprints).or_insert_with_key(|table| {
                fingerprints.push(*table);
                fingerprints.len() - 1
            });
            last = Some((wildcard.fingerprints, index));
            index
        };
        let fingerprints_of = draft.wildcards.iter().map(place_of).collect();
        let fingerprints_at = end;
        end += fingerprints.len() * size_of::<Fingerprints>() + list_max_bytes(W);
        Writer { draft, state_at, wildcard_at, fingerprints, fingerprints_of, fingerprints_at, end }
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
        2 + 6 * W + Self::children_size(wildcard.children)
    }

    fn children_size(children: &[(u8, u32)]) -> usize {
        if children.len() <= LIST_MAX { children.len() * (1 + W) } else { span(children) * W }
    }

    fn write(&self) -> Result<Vec<u8>, TooLarge> {
        let too_large = |_| TooLarge { what: "bytes of an automaton", limit: u32::MAX.into(), found: self.end as u64 };
        u32::try_from(self.end).map_err(too_large)?;
        let mut out = Vec::with_capacity(self.end + self.size_after());
        out.resize(HEADER_BYTES, 0);
        for state in &self.draft.states {
            self.state(&mut out, state);
        }
        for (wildcard, &fingerprints) in self.draft.wildcards.iter().zip(&self.fingerprints_of) {
            self.wildcard(&mut out, wildcard, self.fingerprints_at + fingerprints * size_of::<Fingerprints>());
        }
        self.fingerprints.iter().for_each(|&table| out.extend_from_slice(table));
        out.resize(out.len() + list_max_bytes(W), 0);
        debug_assert_eq!(out.len(), self.end);
        let fallbacks = if self.draft.fallbacks.is_empty() { 0 } else { out.len() };
        for pattern in &self.draft.fallbacks {
            write_fallback(&mut out, pattern)?;
        }
        if fallbacks != 0 {
            // A rank that no rule has ends the list.
            put_u32(&mut out, NO_RANK);
        }
        let texts = if self.draft.texts.is_empty() { 0 } else { out.len() };
        if texts != 0 {
            write_texts(&mut out, &self.draft.texts)?;
        }
        let joint_ranks = if self.draft.joint_ranks.is_empty() { 0 } else { out.len() };
        for &joint_rank in &self.draft.joint_ranks {
            put_u32(&mut out, joint_rank);
        }
        let mut header = Vec::with_capacity(HEADER_BYTES);
        put_u32(&mut header, W as u32);
        let trie = if self.draft.has_trie { self.state_at[0] } else { 0 };
        put_u32(&mut header, self.draft.rule_count);
        for offset in [trie, fallbacks, texts] {
            put_u32(&mut header, fit("bytes of an automaton", offset, u32::MAX.into())?);
        }
        put_u32(&mut header, self.draft.otherwise.unwrap_or(NO_RANK));
        put_u32(&mut header, fit("wildcards of an automaton", self.draft.wildcards.len(), u32::MAX.into())?);
        put_u32(&mut header, fit("bytes of an automaton", joint_ranks, u32::MAX.into())?);
        out[..HEADER_BYTES].copy_from_slice(&header);
        Ok(out)
    }

    /// The number of bytes after the laid-out parts: fallback patterns, texts and joint ranks.
    fn size_after(&self) -> usize {
        let fallbacks = self.draft.fallbacks.iter().map(fallback_size).sum::<usize>();
        let texts = self.draft.texts.iter().map(|text| 8 + text.pattern.len()).sum::<usize>();
        8 + fallbacks + texts + 4 * self.draft.joint_ranks.len()
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
        let [count, lowest] = children_header(state.children);
        out.extend_from_slice(&[state.label.len() as u8, flags, count, lowest]);
        self.children(out, state.children);
        out.extend_from_slice(state.label);
        for rank in ranks.into_iter().filter(|&rank| rank != NO_RANK) {
            self.number(out, rank as usize);
        }
    }

    fn wildcard(&self, out: &mut Vec<u8>, wildcard: &WildcardAutomaton<'_>, fingerprints: usize) {
        out.extend_from_slice(&children_header(wildcard.children));
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
            let start = out.len();
            out.resize(start + span(children) * W, 0);
            for &(byte, state) in children {
                let at = start + usize::from(byte - children[0].0) * W;
                out[at..at + W].copy_from_slice(&self.state_at[state as usize].to_le_bytes()[..W]);
            }
        }
    }

    /// Appends a rank or an offset. The caller ensures that it fits, or that it is `NO_RANK`, whose low bytes mean "no
    /// rank" too.
    fn number(&self, out: &mut Vec<u8>, number: usize) {
        out.extend_from_slice(&number.to_le_bytes()[..W]);
    }
}

/// Two header bytes: the number of children in the list, or, above [`LIST_MAX`], the index of the table's last entry;
/// and the byte of the table's first entry.
fn children_header(children: &[(u8, u32)]) -> [u8; 2] {
    match *children {
        [(lowest, _), .., (highest, _)] if children.len() > LIST_MAX => {
            [(highest - lowest).max(LIST_MAX as u8 + 1), lowest]
        }
        _ => [children.len() as u8, 0],
    }
}

/// The number of entries in the table for more than [`LIST_MAX`] children.
fn span(children: &[(u8, u32)]) -> usize {
    usize::from(children_header(children)[0]) + 1
}

fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// The number of bytes that all fallback patterns of a draft take, with the end of their list.
#[must_use]
pub fn fallback_bytes(draft: &Draft<'_>) -> usize {
    draft.fallbacks.iter().map(fallback_size).sum::<usize>() + size_of_val(&NO_RANK)
}

/// The number of bytes that a fallback pattern takes.
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

fn write_texts(out: &mut Vec<u8>, texts: &[Text<'_>]) -> Result<(), TooLarge> {
    put_u32(out, fit("rules in a ruleset", texts.len(), u32::MAX.into())?);
    for text in texts {
        put_u32(out, text.flags.join(text.rank));
    }
    let mut end = 0;
    for text in texts {
        end += text.pattern.len();
        put_u32(out, fit("bytes of a ruleset's patterns", end, u32::MAX.into())?);
    }
    for text in texts {
        out.extend_from_slice(text.pattern);
    }
    Ok(())
}
