//! The linked lists of wildcard automata that begin in the trie, shortened so that a walk starts few automata.
//!
//! A trie state where a wildcard begins refers to a list: its own automaton, and those that began earlier on the path
//! to the state. A walk starts all of them, so the lists are shortened in two ways. Site owners like to repeat patterns
//! for each country (`/*?sort=`, `/de/*?sort=`, `/fr/*?sort=`), and to write both `*/sold` and `/*?sort=`:
//!
//! - An automaton is *left out* of verdicts if it leads only to rules that cannot change a verdict. Whatever matches
//!   `/de/*?sort=` also matches `/*?sort=`; only a rule of the other kind, ranked between the two, makes a difference.
//! - An automaton is *joined* with its predecessor in the list if the text between the two wildcards cannot begin a
//!   segment of the second. The joined automaton begins where the first would, and searches for the segments of both.
//!
//! Wildcard automata are built in `wildcard`, the trie in `trie`.

use std::ops::Range;

use reptile_engine::format::automaton::{MAX_WILDCARD_BRANCHES, NO_RANK, Ranks, kind_of};

use super::builder::{Builder, WildcardSource};
use super::nodes::Segment;
use super::ranks::merge;
use super::trie::TriePathState;
use crate::limits::{MAX_SEGMENTS_JOINED, MAX_SOURCES_ASKED, MAX_TEXT_BETWEEN, MAX_TRANSITIONS_PER_BYTE_JOINED};

impl<'l> Builder<'l> {
    /// Adds the automaton for a range of rules, whose wildcard comes after `depth` bytes, at the front of the list of
    /// automata that began earlier and may still matter.
    ///
    /// Returns whether the lists changed.
    pub(super) fn begin_on_way(&mut self, way: &mut TriePathState, rules: Range<usize>, depth: usize) -> bool {
        if way.wildcards_best[0] >= way.accepted[0] && way.wildcards_best[1] >= way.accepted[1] {
            *way = TriePathState { accepted: way.accepted, ..TriePathState::START };
        }
        let kind = kind_of(self.rules[rules.start].rank) as usize;
        let left_out = self.left_out(way, rules.clone(), depth + 1);
        let is_left_out = left_out.is_some();
        let (mut source, mut is_joined) = (None, false);
        let fallbacks = self.fallbacks.len();
        let automata = self.automata_or_fallbacks(rules.clone(), |builder| {
            let (mut automata, segments) = builder.segments_and_automata(rules.clone(), depth + 1)?;
            if !segments.is_empty() {
                let text = &builder.rules[rules.start].matcher[..depth];
                let may_join = !is_left_out && automata.is_empty();
                let joined = if may_join { builder.join(way, &segments, text) } else { None };
                is_joined = joined.is_some();
                let (wildcard, kept) = match joined {
                    Some(joined) => joined,
                    None => {
                        let wildcard = builder.automaton(&segments)?;
                        (wildcard, if is_left_out { &[] } else { builder.kept(&segments) })
                    }
                };
                builder.give_back(segments);
                automata.push(wildcard);
                source = Some(WildcardSource { wildcard, rules, offset: depth + 1, segments: kept });
            }
            Some(automata)
        });
        // If rules became fallback patterns (all, or those with further wildcards), they are tried on any path.
        let brings_back = self.fallbacks.len() > fallbacks && !way.needs_all;
        way.needs_all |= brings_back;
        if automata.is_empty() {
            return brings_back;
        }
        if let Some((first, last)) = left_out {
            way.between[kind] = (way.between[kind].0.min(first), way.between[kind].1.max(last));
        }
        for &index in automata {
            let deciding = way.wildcard.and_then(|wildcard| self.draft.wildcards[wildcard as usize].deciding);
            let before = way.wildcard.map(|wildcard| &self.draft.wildcards[wildcard as usize]);
            let (from, next) = match before {
                Some(before) if is_joined => (before.from, before.next),
                _ => (depth as u32, way.wildcard),
            };
            let wildcard = &mut self.draft.wildcards[index as usize];
            (wildcard.from, wildcard.next) = (from, next);
            wildcard.deciding = if is_left_out { deciding } else { Some(index) };
            way.wildcard = Some(index);
            merge(&mut way.wildcards_best, wildcard.best);
            if !is_left_out {
                merge(&mut way.deciding_best, wildcard.best);
            }
        }
        if !is_left_out {
            self.sources.extend(source);
        }
        true
    }

    /// Decides whether verdicts need the automaton for a range of rules.
    ///
    /// They do not if, whenever one of the rules matches, another rule of its kind also matches, either accepted
    /// earlier or after a wildcard that verdicts need, and no rule of the other kind on the path ranks between the two.
    /// Returns the first and last rank between which no such rule may occur, or `None` if verdicts need the automaton.
    fn left_out(&self, way: &TriePathState, rules: Range<usize>, offset: usize) -> Option<(u32, u32)> {
        // A fallback pattern is tried on any path.
        if !self.fallbacks.is_empty() || way.needs_all {
            return None;
        }
        let kind = kind_of(self.rules[rules.start].rank);
        let (mut first, mut last) = (NO_RANK, 0);
        for rule in &self.rules[rules] {
            if kind_of(rule.rank) != kind {
                return None;
            }
            let rest = &rule.matcher[offset..];
            let same = self.sources.iter().rev().take(MAX_SOURCES_ASKED).flat_map(|source| {
                let others = &self.rules[source.rules.clone()];
                let at = others.partition_point(|other| &other.matcher[source.offset..] < rest);
                let same = others[at..].iter().take_while(|other| &other.matcher[source.offset..] == rest);
                same.filter(|other| other.anchored == rule.anchored && kind_of(other.rank) == kind)
            });
            let wider = same.map(|other| other.rank).chain([way.accepted[kind as usize]]).min();
            let wider = wider.filter(|&rank| rank != NO_RANK)?;
            if wider > rule.rank {
                (first, last) = (first.min(rule.rank), last.max(wider));
            }
        }
        let other = 1 - kind as usize;
        Some((first, last)).filter(|&between| !makes_difference(way, other, way.accepted[other], between))
    }

    /// Records whether verdicts need every automaton from a state on.
    ///
    /// The state accepts the ranks on the path so far, and `at_end` if the path ends there. Returns whether this
    /// changed at this state.
    pub(super) fn need_all(&self, way: &mut TriePathState, at_end: Ranks) -> bool {
        let difference = |other: usize| {
            let between = way.between[1 - other];
            [way.accepted, at_end].iter().any(|ranks| makes_difference(way, other, ranks[other], between))
        };
        let is_new = !way.needs_all && (difference(0) || difference(1));
        way.needs_all |= is_new;
        is_new
    }

    /// Tries to join the automaton for the segments after some trie text with its predecessor in the list. The result
    /// begins where the earlier one does. Returns `None` unless they can be *joined*.
    fn join(&mut self, way: &TriePathState, segments: &[Segment<'l>], text: &[u8]) -> Option<(u32, &'l [Segment<'l>])> {
        let before = self.sources.last().filter(|source| way.wildcard == Some(source.wildcard))?;
        let between = text.get(self.draft.wildcards[before.wildcard as usize].from as usize..)?;
        // Joining copies no more than already exists, and copies few transitions from suffixes, so construction stays
        // linear.
        let size = |segments: &[Segment<'_>]| segments.iter().map(|segment| 1 + segment.text.len()).sum::<usize>();
        let wildcard_count =
            |segments: &[Segment<'_>]| segments.iter().map(|segment| segment.wildcards.len()).sum::<usize>();
        if between.len() > MAX_TEXT_BETWEEN
            || before.segments.is_empty()
            || size(before.segments) > size(segments)
            || wildcard_count(before.segments) + wildcard_count(segments) > MAX_WILDCARD_BRANCHES
        {
            return None;
        }
        let may_begin = |segment: &[u8], at: usize| segment.iter().zip(&between[at..]).all(|(a, b)| a == b);
        if segments.iter().any(|segment| (0..between.len()).any(|at| may_begin(segment.text, at))) {
            return None;
        }
        let mut joined = [before.segments, segments].concat();
        self.unite(&mut joined);
        let wildcard = self.automaton_within(&joined, |nodes| MAX_TRANSITIONS_PER_BYTE_JOINED * nodes)?;
        Some((wildcard, self.kept(&joined)))
    }

    /// Returns the segments if they are few enough to be joined with others, or an empty slice.
    fn kept(&self, segments: &[Segment<'l>]) -> &'l [Segment<'l>] {
        if segments.len() <= MAX_SEGMENTS_JOINED { self.arena.alloc_slice_clone(segments) } else { &[] }
    }
}

/// Returns whether a rule that may match has a rank in the given range. Considers the best accepted rule (no other
/// accepted rule matters), and all rules after wildcards.
fn makes_difference(way: &TriePathState, kind: usize, accepted: u32, (first, last): (u32, u32)) -> bool {
    first < last && ((first..last).contains(&accepted) || way.wildcards_best[kind] < last)
}
