//! Builds the wildcard automata. Each searches for all segments that can follow a wildcard at once.
//!
//! Each is the deterministic automaton of Aho and Corasick (1975), but without transitions back to the root, and with
//! runs of nodes merged into one state if their failure link is the root and no failure link points to them. It is
//! built here from the sorted segments because the automata in the `aho-corasick` crate cannot be taken apart into
//! states with default transitions, and its dense tables take 4 bytes per state and byte class.

use std::ops::Range;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::automaton::{MAX_WILDCARD_BRANCHES, NO_RANKS, Ranks, State, WildcardAutomaton};
use reptile_engine::format::fingerprints::fingerprints_of;

use super::{Builder, accept, merge};
use crate::limits::{MAX_NESTED_WILDCARDS, MAX_TRANSITIONS_PER_BYTE, MAX_WILDCARD_STATES};

/// A literal segment that can follow a wildcard, and the rules and automata that it leads to.
#[derive(Clone)]
pub(super) struct Segment<'l> {
    pub(super) text: &'l [u8],
    accept: Ranks,
    accept_at_end: Ranks,
    /// Indices of rules that continue with a wildcard after the segment.
    after_wildcard: Range<u32>,
    /// The wildcard automata for these rules.
    pub(super) wildcards: &'l [u32],
}

/// A prefix of one or more segments. Nodes are numbered by depth and then by their bytes, so a node's children are
/// adjacent, and a node's suffix has a smaller number than the node.
struct SegmentNode {
    /// The segments that begin with this prefix, which is the first `depth` bytes of each.
    segments: Range<u32>,
    depth: u32,
    /// The nodes that are one byte longer.
    children: Range<u32>,
    /// The failure link: the longest proper suffix that is also a prefix of a segment.
    fail: u32,
    /// The index of this node's [`NodeOutput`], or [`NO_OUTPUT_INDEX`].
    found: u32,
    /// Its transitions in [`NodeLists::merged`], if its failure link is not the root. Otherwise its transitions lead
    /// only to its children.
    transitions: Range<u32>,
    /// The byte that leads from the parent to this node.
    byte: u8,
    /// Whether it is another node's failure link, so that other nodes copy its transitions.
    is_fail: bool,
}

/// The ranks and automata for the segments that end at a node.
#[derive(Clone, Copy)]
struct NodeOutput<'l> {
    accept: Ranks,
    accept_at_end: Ranks,
    wildcards: &'l [(u8, u32)],
}

const ROOT: u32 = 0;

/// The index of a node without a [`NodeOutput`].
const NO_OUTPUT_INDEX: u32 = u32::MAX;

/// Lists that are refilled for each automaton, and reused so that many small automata need no allocations.
#[derive(Default)]
pub(super) struct WildcardScratch<'l> {
    segments: Vec<Segment<'l>>,
    found: Vec<NodeOutput<'l>>,
    pub(super) lists: NodeLists,
}

/// The lists that do not refer to a ruleset, and are reused from one to the next.
#[derive(Default)]
pub(super) struct NodeLists {
    nodes: Vec<SegmentNode>,
    /// Transitions of nodes whose failure link is not the root: to their own children, and for all other bytes the
    /// failure link's transitions. Each is a byte and a node, in byte order.
    merged: Vec<(u8, u32)>,
    state_of: Vec<u32>,
    open: Vec<u32>,
    runs: Vec<(u32, u32)>,
}

/// Maximum number of nodes to reserve memory for.
const FIRST_NODES: usize = 1 << 9;

/// Maximum capacity, in elements, that a list keeps from one ruleset to the next.
const KEPT_ELEMENTS: usize = 1 << 14;

impl NodeLists {
    /// Releases memory that only large rulesets need.
    pub(super) fn give_back(&mut self) {
        let NodeLists { nodes, merged, state_of, open, runs } = self;
        let capacities = [nodes.capacity(), merged.capacity(), state_of.capacity(), open.capacity(), runs.capacity()];
        if capacities.into_iter().any(|elements| elements > KEPT_ELEMENTS) {
            *self = NodeLists::default();
        }
    }
}

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

const NO_OUTPUT: NodeOutput<'static> = NodeOutput { accept: NO_RANKS, accept_at_end: NO_RANKS, wildcards: &[] };

fn as_usize(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

impl<'l> WildcardScratch<'l> {
    /// Builds the tree of all prefixes, from sorted segments.
    fn tree(&mut self, segments: &[Segment<'l>], arena: &'l Bump) {
        let node = |segments: Range<u32>, depth: u32, byte: u8| SegmentNode {
            segments,
            depth,
            children: 0..0,
            fail: ROOT,
            found: NO_OUTPUT_INDEX,
            transitions: 0..0,
            byte,
            is_fail: false,
        };
        let WildcardScratch { found, lists: NodeLists { nodes, .. }, .. } = self;
        nodes.clear();
        found.clear();
        // At most one for each byte.
        nodes.reserve(segments.iter().map(|segment| segment.text.len() + 1).sum::<usize>().min(FIRST_NODES));
        nodes.push(node(0..segments.len() as u32, 0, 0));
        let mut branch = 0;
        let mut next = 0;
        while let Some(node_here) = nodes.get(next) {
            let (Range { mut start, end }, depth) = (node_here.segments.clone(), node_here.depth);
            // The segment that ends here comes first, and no other has the same text.
            let segment = &segments[start as usize];
            if segment.text.len() == depth as usize {
                nodes[next].found = found.len() as u32;
                let wildcards = segment.wildcards.iter().map(|&wildcard| {
                    branch += 1;
                    (branch - 1, wildcard)
                });
                let wildcards = arena.alloc_slice_fill_iter(wildcards);
                found.push(NodeOutput { accept: segment.accept, accept_at_end: segment.accept_at_end, wildcards });
                start += 1;
            }
            let first_child = nodes.len() as u32;
            let byte_of = |segment: u32| segments[segment as usize].text[depth as usize];
            while start < end {
                let byte = byte_of(start);
                let run = match byte_of(end - 1) == byte {
                    true => end,
                    false => (start + 1..end).find(|&segment| byte_of(segment) != byte).unwrap_or(end),
                };
                nodes.push(node(start..run, depth + 1, byte));
                start = run;
            }
            nodes[next].children = first_child..nodes.len() as u32;
            next += 1;
        }
    }

    /// Sets the failure links. Merges each node's transitions and [`NodeOutput`] with its failure link's, so that a
    /// walk follows one transition per byte. Returns `false` if that takes more transitions than the limit.
    fn link(&mut self, arena: &'l Bump, limit: usize) -> bool {
        let WildcardScratch { found, lists: NodeLists { nodes, merged, .. }, .. } = self;
        let mut transition_count = nodes.len() - 1;
        merged.clear();
        let mut from_root = [ROOT; 256];
        for child in nodes[ROOT as usize].children.clone() {
            from_root[usize::from(nodes[child as usize].byte)] = child;
        }
        // In number order: a failure link is shorter, so its transitions are already complete.
        for index in 1..nodes.len() {
            let SegmentNode { fail, children, found: own, .. } = &nodes[index];
            let (fail, children, own) = (*fail, children.clone(), *own);
            if fail == ROOT {
                for child in children {
                    let target = from_root[usize::from(nodes[child as usize].byte)];
                    nodes[child as usize].fail = target;
                    nodes[target as usize].is_fail = true;
                }
                continue;
            }
            let suffix = &nodes[fail as usize];
            nodes[index].found = match (found.get(own as usize), found.get(suffix.found as usize)) {
                (Some(&(mut both)), Some(other)) => {
                    merge(&mut both.accept, other.accept);
                    merge(&mut both.accept_at_end, other.accept_at_end);
                    if !other.wildcards.is_empty() {
                        let wildcards = both.wildcards.iter().chain(other.wildcards).copied();
                        both.wildcards = BumpVec::from_iter_in(wildcards, arena).into_bump_slice();
                    }
                    found.push(both);
                    found.len() as u32 - 1
                }
                (Some(_), None) => own,
                (None, _) => suffix.found,
            };
            // The node's children, and for other bytes the transitions of the failure link.
            let start = merged.len() as u32;
            let suffix = &nodes[fail as usize];
            let (own_count, is_list) = (children.len(), suffix.fail != ROOT);
            let others = if is_list { as_usize(&suffix.transitions) } else { as_usize(&suffix.children) };
            let other = |at: usize, nodes: &[SegmentNode], merged: &[(u8, u32)]| match is_list {
                true => merged[at],
                false => (nodes[at].byte, at as u32),
            };
            let mut at = others.start;
            for child in children {
                let byte = nodes[child as usize].byte;
                while at < others.end && other(at, nodes, merged).0 < byte {
                    merged.push(other(at, nodes, merged));
                    at += 1;
                }
                let target = match at < others.end && other(at, nodes, merged).0 == byte {
                    true => {
                        at += 1;
                        other(at - 1, nodes, merged).1
                    }
                    false => from_root[usize::from(byte)],
                };
                nodes[child as usize].fail = target;
                nodes[target as usize].is_fail = true;
                merged.push((byte, child));
            }
            while at < others.end {
                merged.push(other(at, nodes, merged));
                at += 1;
            }
            nodes[index].transitions = start..merged.len() as u32;
            transition_count += merged.len() - start as usize - own_count;
            if transition_count > limit {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_large_rulesets_is_released() {
        for (elements, is_kept) in [(KEPT_ELEMENTS - 1, true), (KEPT_ELEMENTS, true), (KEPT_ELEMENTS + 1, false)] {
            let mut lists = NodeLists { open: Vec::with_capacity(elements), ..NodeLists::default() };
            lists.give_back();
            assert_eq!(lists.open.capacity() >= elements, is_kept, "{elements}");
        }
    }
}
