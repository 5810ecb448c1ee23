//! Builds the wildcard automata. Each searches for all segments that can follow a wildcard at once.
//!
//! Each is the deterministic automaton of Aho and Corasick (1975), but without transitions back to the root, and with
//! runs of nodes merged into one state if their failure link is the root and no failure link points to them. It is
//! built here from the sorted segments because the automata in the `aho-corasick` crate cannot be taken apart into
//! states with default transitions, and its dense tables take 4 bytes per state and byte class.

use std::ops::Range;

use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::automaton::{MAX_WILDCARD_BRANCHES, NO_RANKS, State, WildcardAutomaton};
use reptile_engine::format::fingerprints::fingerprints_of;

use super::builder::Builder;
use super::nodes::{NO_OUTPUT, NO_OUTPUT_INDEX, NodeLists, ROOT, Segment, SegmentNode, WildcardScratch, as_usize};
use super::ranks::{accept, merge};
use crate::limits::{MAX_NESTED_WILDCARDS, MAX_TRANSITIONS_PER_BYTE, MAX_WILDCARD_STATES};

// One automaton can track all automata that a segment leads to: at most two automata per nested wildcard follow another
// one, and any two neighbors among those that begin at one place lead to more than MAX_WILDCARD_BRANCHES.
const _: () = assert!(4 * MAX_NESTED_WILDCARDS / MAX_WILDCARD_BRANCHES + 2 <= MAX_WILDCARD_BRANCHES);

/// Maximum wildcard automata that begin at one place, because a state counts them in a byte.
const MAX_AUTOMATA: usize = 255;

impl<'l> Builder<'l> {
    /// Builds the wildcard automata for a range of rules that have a wildcard before `offset`.
    ///
    /// Builds several if one would lead to more automata than it can track, and none if the rules became fallback
    /// patterns.
    fn wildcard(&mut self, rules: Range<usize>, offset: usize) -> &'l [u32] {
        self.automata_or_fallbacks(rules.clone(), |builder| {
            let (mut automata, segments) = builder.segments_and_automata(rules, offset)?;
            if !segments.is_empty() {
                let automaton = builder.automaton(&segments);
                builder.give_back(segments);
                automata.push(automaton?);
            }
            Some(automata)
        })
    }

    /// Runs `build` for a range of rules and returns its automata.
    ///
    /// If they are too large, the rules become fallback patterns and the result is empty.
    pub(super) fn automata_or_fallbacks(
        &mut self,
        rules: Range<usize>,
        build: impl FnOnce(&mut Self) -> Option<Vec<u32>>,
    ) -> &'l [u32] {
        let built = (self.draft.states.len(), self.draft.wildcards.len(), self.wildcard_states);
        if let Some(automata) = build(self).filter(|automata| automata.len() <= MAX_AUTOMATA) {
            return self.arena.alloc_slice_copy(&automata);
        }
        self.draft.states.truncate(built.0);
        self.draft.wildcards.truncate(built.1);
        self.wildcard_states = built.2;
        self.fallbacks.extend_from_slice(&self.rules[rules]);
        &[]
    }

    /// Returns the segments that follow a wildcard, in byte order, with the automata that they lead to.
    ///
    /// If one automaton cannot track that many, some segments get separate automata, which come first in the result.
    /// Returns `None` if one of them would be too large.
    pub(super) fn segments_and_automata(
        &mut self,
        rules: Range<usize>,
        offset: usize,
    ) -> Option<(Vec<u32>, Vec<Segment<'l>>)> {
        let segments = self.segments(rules, offset);
        let mut automata = Vec::new();
        if segments.iter().all(|segment| segment.after_wildcard.is_empty()) {
            return Some((automata, segments));
        }
        let mut plain = Vec::new();
        // Automata after segments are built first, because an automaton refers to those that it leads to (*nesting*).
        let mut branches: Vec<Segment<'l>> = Vec::new();
        let mut branch_count = 0;
        for mut segment in segments {
            if segment.after_wildcard.is_empty() {
                plain.push(segment);
                continue;
            }
            let wildcards = self.wildcard(as_usize(&segment.after_wildcard), offset + segment.text.len() + 1);
            if wildcards.is_empty() {
                // All of its rules became fallback patterns.
                if segment.accept != NO_RANKS || segment.accept_at_end != NO_RANKS {
                    plain.push(segment);
                }
                continue;
            }
            if branch_count + wildcards.len() > MAX_WILDCARD_BRANCHES {
                automata.push(self.automaton(&branches)?);
                branches.clear();
                branch_count = 0;
            }
            branch_count += wildcards.len();
            segment.wildcards = wildcards;
            branches.push(segment);
        }
        branches.extend(plain);
        // Rules with and without further wildcards alternate.
        sort(&mut branches);
        Some((automata, branches))
    }

    /// Returns the segments that follow the wildcard, in byte order.
    fn segments(&mut self, rules: Range<usize>, offset: usize) -> Vec<Segment<'l>> {
        let mut segments = std::mem::take(&mut self.scratch.segments);
        segments.clear();
        self.work += rules.len();
        let mut index = rules.start;
        while index < rules.end {
            let rule = self.rules[index];
            let rest = &rule.matcher[offset..];
            let text = &rest[..memchr::memchr(b'*', rest).unwrap_or(rest.len())];
            let (mut ranks, mut ranks_at_end) = (NO_RANKS, NO_RANKS);
            let mut after_wildcard = 0..0;
            if text.len() == rest.len() {
                accept(if rule.anchored { &mut ranks_at_end } else { &mut ranks }, rule.rank);
                index += 1;
            } else {
                let with_wildcard = &rest[..=text.len()];
                let run = self.rules[index..rules.end].partition_point(|rule| {
                    let rest = &rule.matcher[offset..];
                    rest.get(..with_wildcard.len()).unwrap_or(rest) <= with_wildcard
                });
                after_wildcard = index as u32..(index + run) as u32;
                index += run;
            }
            if segments.len() == segments.capacity() {
                // Doubles the capacity, but not beyond the maximum that the remaining rules need.
                segments.reserve_exact(segments.len().clamp(4, rules.end - index + 4));
            }
            segments.push(Segment { text, accept: ranks, accept_at_end: ranks_at_end, after_wildcard, wildcards: &[] });
        }
        self.unite(&mut segments);
        segments
    }

    /// Keeps the memory of unused segments for later ones.
    pub(super) fn give_back(&mut self, segments: Vec<Segment<'l>>) {
        self.scratch.segments = segments;
    }

    /// Sorts segments, and merges those with equal text.
    pub(super) fn unite(&self, segments: &mut Vec<Segment<'l>>) {
        sort(segments);
        segments.dedup_by(|later, first| {
            let same = later.text == first.text;
            if same {
                merge(&mut first.accept, later.accept);
                merge(&mut first.accept_at_end, later.accept_at_end);
                if first.after_wildcard.is_empty() {
                    first.after_wildcard = later.after_wildcard.clone();
                }
                if !later.wildcards.is_empty() {
                    let wildcards = first.wildcards.iter().chain(later.wildcards).copied();
                    first.wildcards = BumpVec::from_iter_in(wildcards, self.arena).into_bump_slice();
                }
            }
            same
        });
    }

    /// Builds one automaton for distinct segments in byte order. Returns `None` if it would be too large.
    pub(super) fn automaton(&mut self, segments: &[Segment<'l>]) -> Option<u32> {
        self.automaton_within(segments, |nodes| MAX_TRANSITIONS_PER_BYTE * nodes + 256)
    }

    /// Builds an automaton like [`Self::automaton`]; `limit` maps a node count to the maximum transition count.
    ///
    /// Each byte of a segment makes at most one node.
    pub(super) fn automaton_within(&mut self, segments: &[Segment<'l>], limit: impl Fn(usize) -> usize) -> Option<u32> {
        if self.is_full {
            return None;
        }
        let mut best = NO_RANKS;
        for segment in segments {
            merge(&mut best, segment.accept);
            merge(&mut best, segment.accept_at_end);
            for &wildcard in segment.wildcards {
                merge(&mut best, self.draft.wildcards[wildcard as usize].best);
            }
        }
        let texts = segments.iter().map(|segment| segment.text);
        let fingerprints = self.arena.alloc_with(|| fingerprints_of(texts));
        self.scratch.tree(segments, self.arena);
        let linked = self.scratch.link(self.arena, limit(self.scratch.lists.nodes.len()));
        self.work += self.scratch.lists.nodes.len() + self.scratch.lists.merged.len();
        let children = if linked { self.states(segments) } else { None };
        self.draft.wildcards.push(WildcardAutomaton {
            best,
            from: 0,
            next: None,
            deciding: None,
            fingerprints,
            children: children?,
        });
        Some((self.draft.wildcards.len() - 1) as u32)
    }

    /// Turns nodes into states, merging each run into one state. Returns the root's transitions, or `None` if the
    /// ruleset would have too many states.
    fn states(&mut self, segments: &[Segment<'l>]) -> Option<&'l [(u8, u32)]> {
        let WildcardScratch { found, lists: NodeLists { nodes, merged, state_of, open, runs }, .. } = &mut self.scratch;
        // Returns the last node of a run. A run continues while its nodes find nothing, have the root as failure link,
        // and are not failure links themselves.
        let run_end = |mut index: u32| {
            let start = nodes[index as usize].depth;
            loop {
                let node = &nodes[index as usize];
                let is_idle = node.found == NO_OUTPUT_INDEX && node.fail == ROOT && !node.is_fail;
                if !is_idle || node.children.len() != 1 || node.depth - start >= 255 {
                    return index;
                }
                index = node.children.start;
            }
        };
        state_of.clear();
        state_of.resize(nodes.len(), u32::MAX);
        open.clear();
        open.extend(nodes[ROOT as usize].children.clone());
        runs.clear();
        let first_state = self.draft.states.len();
        while let Some(start) = open.pop() {
            if state_of[start as usize] == u32::MAX {
                state_of[start as usize] = (first_state + runs.len()) as u32;
                let end = run_end(start);
                runs.push((start, end));
                let last = &nodes[end as usize];
                match last.fail {
                    ROOT => open.extend(last.children.clone()),
                    _ => open.extend(merged[as_usize(&last.transitions)].iter().map(|&(_, node)| node)),
                }
            }
        }
        if self.wildcard_states + runs.len() > MAX_WILDCARD_STATES {
            self.is_full = true;
            return None;
        }
        self.wildcard_states += runs.len();
        let arena = self.arena;
        let to_children = |node: &SegmentNode| {
            let children = node.children.clone().map(|child| (nodes[child as usize].byte, state_of[child as usize]));
            arena.alloc_slice_fill_iter(children)
        };
        self.draft.states.reserve(runs.len());
        for &(start, end) in &*runs {
            let (first, last) = (&nodes[start as usize], &nodes[end as usize]);
            let found = found.get(last.found as usize).copied().unwrap_or(NO_OUTPUT);
            self.draft.states.push(State {
                label: &segments[last.segments.start as usize].text[first.depth as usize..last.depth as usize],
                accept: found.accept,
                accept_at_end: found.accept_at_end,
                disallows: false,
                disallows_at_end: false,
                settled: false,
                wildcards: found.wildcards,
                children: match last.fail {
                    ROOT => to_children(last),
                    _ => {
                        let transitions = merged[as_usize(&last.transitions)].iter();
                        arena.alloc_slice_fill_iter(transitions.map(|&(byte, node)| (byte, state_of[node as usize])))
                    }
                },
            });
        }
        Some(to_children(&nodes[ROOT as usize]))
    }
}

/// Sorts segments by their bytes. They are usually already sorted.
fn sort(segments: &mut [Segment<'_>]) {
    if !segments.is_sorted_by_key(|segment| segment.text) {
        segments.sort_unstable_by_key(|segment| segment.text);
    }
}
