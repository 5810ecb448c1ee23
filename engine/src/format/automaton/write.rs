//! Writing an automaton. The layout comes first, since a star's states point in circles.

use super::{
    Draft, FLAG_FINGERPRINTS, FLAG_LIST, FLAG_SPAN, FLAG_STARS, HEADER_BYTES, LIST_MAX, Listed, MAX_RULES, NO_CODE,
    Star, State,
};
use crate::format::{TooLarge, fit};

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

/// Writes with numbers of `W` bytes.
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
