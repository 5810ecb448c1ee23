//! The stars that begin in the head, and how few of them a walk has to begin.
//!
//! A state of the head in which a star begins stands for a chain: its own star, and those that have begun on the way to
//! it. A walk begins all of them, so two things are done here to have few. Site owners like to write the same patterns
//! for each country (`/*?sort=`, `/de/*?sort=`, `/fr/*?sort=`), and both `*/sold` and `/*?sort=`:
//!
//! - A star is *left out* of verdicts if it leads only to rules that cannot change one. Whatever matches `/de/*?sort=`
//!   also matches `/*?sort=`; only a rule of the other kind, between the two in the order of precedence, makes a
//!   difference.
//! - A star is *joined* with the one in front of it in the chain, to one machine that looks for the pieces of both from
//!   where the first began, if the text in between cannot be the beginning of a piece of the second.
//!
//! Holds no machine (that is `star`) and no tree of states (that is the module above).

use std::ops::Range;

use reptile_engine::format::automaton::{Codes, MAX_STAR_BRANCHES, NO_CODE, kind_of};

use super::star::Piece;
use super::{Builder, Way, merge};
use crate::limits::{MAX_PIECES_JOINED, MAX_SOURCES_ASKED, MAX_TEXT_BETWEEN, MAX_TRANSITIONS_PER_BYTE_JOINED};

/// A star of the head that verdicts need, for those that begin behind it.
pub(super) struct Source<'l> {
    /// Its machine.
    star: u32,
    /// The rules that have the star, and where the text behind it begins in their matchers.
    rules: Range<usize>,
    offset: usize,
    /// The pieces that the machine looks for, which may be more than those of `rules`; none if they are too many to be
    /// joined with others.
    pieces: &'l [Piece<'l>],
}

impl<'l> Builder<'l> {
    /// Begins the star of a range of rules behind `depth` bytes, in front of those that have begun on the way and may
    /// still matter. Returns whether that changed the chains.
    pub(super) fn begin_on_way(&mut self, way: &mut Way, rules: Range<usize>, depth: usize) -> bool {
        if way.stars_best[0] >= way.accepted[0] && way.stars_best[1] >= way.accepted[1] {
            *way = Way { accepted: way.accepted, ..Way::START };
        }
        let kind = kind_of(self.rules[rules.start].code) as usize;
        let left_out = self.left_out(way, rules.clone(), depth + 1);
        let is_left_out = left_out.is_some();
        let (mut source, mut is_joined) = (None, false);
        let listed = self.listed.len();
        let machines = self.machines_or_list(rules.clone(), |builder| {
            let (mut machines, pieces) = builder.pieces_and_machines(rules.clone(), depth + 1)?;
            if !pieces.is_empty() {
                let text = &builder.rules[rules.start].matcher[..depth];
                let may_join = !is_left_out && machines.is_empty();
                let joined = if may_join { builder.join(way, &pieces, text) } else { None };
                is_joined = joined.is_some();
                let (star, kept) = match joined {
                    Some(joined) => joined,
                    None => {
                        let star = builder.machine(&pieces)?;
                        (star, if is_left_out { &[] } else { builder.kept(&pieces) })
                    }
                };
                builder.give_back(pieces);
                machines.push(star);
                source = Some(Source { star, rules, offset: depth + 1, pieces: kept });
            }
            Some(machines)
        });
        // Rules that had to be listed, all or those behind further stars, are tried on any path.
        let brings_back = self.listed.len() > listed && !way.needs_all;
        way.needs_all |= brings_back;
        if machines.is_empty() {
            return brings_back;
        }
        if let Some((first, last)) = left_out {
            way.between[kind] = (way.between[kind].0.min(first), way.between[kind].1.max(last));
        }
        for &index in machines {
            let deciding = way.star.and_then(|star| self.draft.stars[star as usize].deciding);
            let before = way.star.map(|star| &self.draft.stars[star as usize]);
            let (from, next) = match before {
                Some(before) if is_joined => (before.from, before.next),
                _ => (depth as u32, way.star),
            };
            let star = &mut self.draft.stars[index as usize];
            (star.from, star.next) = (from, next);
            star.deciding = if is_left_out { deciding } else { Some(index) };
            way.star = Some(index);
            merge(&mut way.stars_best, star.best);
            if !is_left_out {
                merge(&mut way.deciding_best, star.best);
            }
        }
        if !is_left_out {
            self.sources.extend(source);
        }
        true
    }

    /// Tells whether no verdict would change without the star of a range of rules: whether for each of them another of
    /// its kind matches whatever it does, on the way or behind a star that verdicts need, and no rule of the other kind
    /// on the way stands between the two. If so, from where to where in the order of precedence none may stand.
    fn left_out(&self, way: &Way, rules: Range<usize>, offset: usize) -> Option<(u32, u32)> {
        // What is listed is tried on any path.
        if !self.listed.is_empty() || way.needs_all {
            return None;
        }
        let kind = kind_of(self.rules[rules.start].code);
        let (mut first, mut last) = (NO_CODE, 0);
        for rule in &self.rules[rules] {
            if kind_of(rule.code) != kind {
                return None;
            }
            let rest = &rule.matcher[offset..];
            let same = self.sources.iter().rev().take(MAX_SOURCES_ASKED).flat_map(|source| {
                let others = &self.rules[source.rules.clone()];
                let at = others.partition_point(|other| &other.matcher[source.offset..] < rest);
                let same = others[at..].iter().take_while(|other| &other.matcher[source.offset..] == rest);
                same.filter(|other| other.anchored == rule.anchored && kind_of(other.code) == kind)
            });
            let wider = same.map(|other| other.code).chain([way.accepted[kind as usize]]).min();
            let wider = wider.filter(|&code| code != NO_CODE)?;
            if wider > rule.code {
                (first, last) = (first.min(rule.code), last.max(wider));
            }
        }
        let other = 1 - kind as usize;
        Some((first, last)).filter(|&between| !makes_difference(way, other, way.accepted[other], between))
    }

    /// Notes whether verdicts need all stars from a state on, which accepts what is on the way, and some codes if the path
    /// ends in it. Returns `true` if that is new there.
    pub(super) fn need_all(&self, way: &mut Way, at_end: Codes) -> bool {
        let difference = |other: usize| {
            let between = way.between[1 - other];
            [way.accepted, at_end].iter().any(|codes| makes_difference(way, other, codes[other], between))
        };
        let is_new = !way.needs_all && (difference(0) || difference(1));
        way.needs_all |= is_new;
        is_new
    }

    /// One machine for the pieces behind some text of the head and for those of the star in front in the chain, if they
    /// can be joined. It begins where that star does.
    fn join(&mut self, way: &Way, pieces: &[Piece<'l>], text: &[u8]) -> Option<(u32, &'l [Piece<'l>])> {
        let before = self.sources.last().filter(|source| way.star == Some(source.star))?;
        let between = text.get(self.draft.stars[before.star as usize].from as usize..)?;
        // No more is copied than there is, and few transitions are taken over, so that building stays linear.
        let size = |pieces: &[Piece<'_>]| pieces.iter().map(|piece| 1 + piece.text.len()).sum::<usize>();
        let star_count = |pieces: &[Piece<'_>]| pieces.iter().map(|piece| piece.stars.len()).sum::<usize>();
        if between.len() > MAX_TEXT_BETWEEN
            || before.pieces.is_empty()
            || size(before.pieces) > size(pieces)
            || star_count(before.pieces) + star_count(pieces) > MAX_STAR_BRANCHES
        {
            return None;
        }
        let may_begin = |piece: &[u8], at: usize| piece.iter().zip(&between[at..]).all(|(a, b)| a == b);
        if pieces.iter().any(|piece| (0..between.len()).any(|at| may_begin(piece.text, at))) {
            return None;
        }
        let mut joined = [before.pieces, pieces].concat();
        self.unite(&mut joined);
        let star = self.machine_within(&joined, |nodes| MAX_TRANSITIONS_PER_BYTE_JOINED * nodes)?;
        Some((star, self.kept(&joined)))
    }

    /// The pieces of a star, if they are few enough to be joined with others; else none.
    fn kept(&self, pieces: &[Piece<'l>]) -> &'l [Piece<'l>] {
        if pieces.len() <= MAX_PIECES_JOINED { self.arena.alloc_slice_clone(pieces) } else { &[] }
    }
}

/// Whether a rule of a kind that may match stands between two codes: the best that is accepted, which alone of these
/// matters, or any of those behind stars.
fn makes_difference(way: &Way, kind: usize, accepted: u32, (first, last): (u32, u32)) -> bool {
    first < last && ((first..last).contains(&accepted) || way.stars_best[kind] < last)
}
