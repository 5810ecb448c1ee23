//! Writing an automaton. The layout comes first, since a star's states point in circles.

use std::collections::HashMap;

use super::{
    Draft, FLAG_DISALLOWS, FLAG_DISALLOWS_AT_END, FLAG_SETTLED, FLAG_STARS, HEADER_BYTES, LIST_MAX, Listed, MAX_RULES,
    NO_CODE, NO_STAR, STATE_HEADER_BYTES, Star, State, list_max_bytes,
};
use crate::format::{TooLarge, fit};
use crate::platform::Fingerprints;

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
    /// The different fingerprints of the stars, one after the other, and for each star which are its own.
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
        // What a state leads to stands in front of it.
        let state_at = draft.states.iter();
        let state_at = state_at.map(|state| place(Self::state_size(state)) + Self::stars_size(state)).collect();
        let star_at = draft.stars.iter().map(|star| place(Self::star_size(star))).collect();
        let mut fingerprints = Vec::new();
        let mut known = HashMap::new();
        let mut last: Option<(&Fingerprints, usize)> = None;
        let place_of = |star: &'d Star<'t>| {
            // Neighbours often begin with the same pieces, which is told sooner than looked up.
            if let Some((table, index)) = last
                && *table == *star.fingerprints
            {
                return index;
            }
            let index = *known.entry(&*star.fingerprints).or_insert_with_key(|table| {
                fingerprints.push(*table);
                fingerprints.len() - 1
            });
            last = Some((&star.fingerprints, index));
            index
        };
        let fingerprints_of = draft.stars.iter().map(place_of).collect();
        let fingerprints_at = end;
        end += fingerprints.len() * size_of::<Fingerprints>() + list_max_bytes(W);
        Writer { draft, state_at, star_at, fingerprints, fingerprints_of, fingerprints_at, end }
    }

    fn state_size(state: &State<'_>) -> usize {
        let codes = state.accept.iter().chain(&state.accept_at_end).filter(|&&code| code != NO_CODE).count();
        let stars = Self::stars_size(state);
        STATE_HEADER_BYTES + state.label.len() + codes * W + stars + Self::children_size(state.children)
    }

    fn stars_size(state: &State<'_>) -> usize {
        if state.stars.is_empty() { 0 } else { 1 + state.stars.len() * (1 + W) }
    }

    fn star_size(star: &Star<'_>) -> usize {
        2 + 6 * W + Self::children_size(star.children)
    }

    fn children_size(children: &[(u8, u32)]) -> usize {
        if children.len() <= LIST_MAX { children.len() * (1 + W) } else { span(children) * W }
    }

    fn write(&self) -> Result<Vec<u8>, TooLarge> {
        let too_large = |_| TooLarge { what: "bytes of an automaton", limit: u32::MAX.into(), found: self.end as u64 };
        u32::try_from(self.end).map_err(too_large)?;
        let mut out = Vec::with_capacity(self.end + self.size_behind());
        out.resize(HEADER_BYTES, 0);
        for state in &self.draft.states {
            self.state(&mut out, state);
        }
        for (star, &fingerprints) in self.draft.stars.iter().zip(&self.fingerprints_of) {
            self.star(&mut out, star, self.fingerprints_at + fingerprints * size_of::<Fingerprints>());
        }
        self.fingerprints.iter().for_each(|&table| out.extend_from_slice(table));
        out.resize(out.len() + list_max_bytes(W), 0);
        debug_assert_eq!(out.len(), self.end);
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
        let mut header = Vec::with_capacity(HEADER_BYTES);
        put_u32(&mut header, W as u32);
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

    /// How many bytes come behind the layout: listed patterns, texts and keys.
    fn size_behind(&self) -> usize {
        let size_of = |pattern: &Listed<'_>| {
            let pieces = 1 + memchr::memchr_iter(b'*', pattern.text).count();
            16 + 4 * pieces + pattern.text.len() + 1 - pieces
        };
        let listed = self.draft.listed.iter().map(size_of).sum::<usize>();
        let texts = self.draft.texts.iter().map(|(_, text)| 8 + text.len()).sum::<usize>();
        8 + listed + texts + 4 * self.draft.keys.len()
    }

    fn state(&self, out: &mut Vec<u8>, state: &State<'_>) {
        let codes = [state.accept[0], state.accept[1], state.accept_at_end[0], state.accept_at_end[1]];
        let mut flags = 0;
        for (bit, &code) in codes.iter().enumerate() {
            flags |= u8::from(code != NO_CODE) << bit;
        }
        let has_stars = !state.stars.is_empty();
        for (flag, is_set) in [
            (FLAG_DISALLOWS, state.disallows),
            (FLAG_DISALLOWS_AT_END, state.disallows_at_end),
            (FLAG_STARS, has_stars),
            (FLAG_SETTLED, state.settled),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        if has_stars {
            for &(number, star) in state.stars {
                out.push(number);
                self.number(out, if star == NO_STAR { 0 } else { self.star_at[star as usize] });
            }
            out.push(state.stars.len() as u8);
        }
        let [count, lowest] = children_header(state.children);
        out.extend_from_slice(&[state.label.len() as u8, flags, count, lowest]);
        self.children(out, state.children);
        out.extend_from_slice(state.label);
        for code in codes.into_iter().filter(|&code| code != NO_CODE) {
            self.number(out, code as usize);
        }
    }

    fn star(&self, out: &mut Vec<u8>, star: &Star<'_>, fingerprints: usize) {
        out.extend_from_slice(&children_header(star.children));
        for best in star.best {
            self.number(out, best as usize);
        }
        self.number(out, star.from as usize);
        for other in [star.next, star.deciding] {
            self.number(out, other.map_or(0, |other| self.star_at[other as usize]));
        }
        self.number(out, fingerprints);
        self.children(out, star.children);
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

    /// A code or an offset; the caller knows that it fits, or that it is `NO_CODE`, whose low bytes mean the same.
    fn number(&self, out: &mut Vec<u8>, number: usize) {
        out.extend_from_slice(&number.to_le_bytes()[..W]);
    }
}

/// How many children are listed, or, above [`LIST_MAX`], the index of the last entry of the table; and the byte of
/// the table's first.
fn children_header(children: &[(u8, u32)]) -> [u8; 2] {
    match *children {
        [(lowest, _), .., (highest, _)] if children.len() > LIST_MAX => {
            [(highest - lowest).max(LIST_MAX as u8 + 1), lowest]
        }
        _ => [children.len() as u8, 0],
    }
}

/// How many entries the table of more than [`LIST_MAX`] children takes.
fn span(children: &[(u8, u32)]) -> usize {
    usize::from(children_header(children)[0]) + 1
}

fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn write_listed(out: &mut Vec<u8>, pattern: &Listed<'_>) -> Result<(), TooLarge> {
    put_u32(out, pattern.code);
    put_u32(out, pattern.anchored.into());
    let pieces = || pattern.text.split(|&byte| byte == b'*');
    put_u32(out, fit("pieces of a pattern", pieces().count(), u32::MAX.into())?);
    let size = pieces().map(|piece| 4 + piece.len()).sum();
    put_u32(out, fit("bytes of a pattern", size, u32::MAX.into())?);
    for piece in pieces() {
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
