//! The segments that can follow a wildcard, and the tree of their prefixes with failure links, as in Aho and Corasick
//! (1975). `wildcard` turns the nodes into states.

use std::ops::Range;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::automaton::{NO_RANKS, Ranks};

use super::ranks::merge;

/// A literal segment that can follow a wildcard, and the rules and automata that it leads to.
#[derive(Clone)]
pub(super) struct Segment<'l> {
    pub(super) text: &'l [u8],
    pub(super) accept: Ranks,
    pub(super) accept_at_end: Ranks,
    /// Indices of rules that continue with a wildcard after the segment.
    pub(super) after_wildcard: Range<u32>,
    /// The wildcard automata for these rules.
    pub(super) wildcards: &'l [u32],
}

/// A prefix of one or more segments. Nodes are numbered by depth and then by their bytes, so a node's children are
/// adjacent, and a node's suffix has a smaller number than the node.
pub(super) struct SegmentNode {
    /// The segments that begin with this prefix, which is the first `depth` bytes of each.
    pub(super) segments: Range<u32>,
    pub(super) depth: u32,
    /// The nodes that are one byte longer.
    pub(super) children: Range<u32>,
    /// The failure link: the longest proper suffix that is also a prefix of a segment.
    pub(super) fail: u32,
    /// The index of this node's [`NodeOutput`], or [`NO_OUTPUT_INDEX`].
    pub(super) found: u32,
    /// Its transitions in [`NodeLists::merged`], if its failure link is not the root. Otherwise its transitions lead
    /// only to its children.
    pub(super) transitions: Range<u32>,
    /// The byte that leads from the parent to this node.
    pub(super) byte: u8,
    /// Whether it is another node's failure link, so that other nodes copy its transitions.
    pub(super) is_fail: bool,
}

/// The ranks and automata for the segments that end at a node.
#[derive(Clone, Copy)]
pub(super) struct NodeOutput<'l> {
    pub(super) accept: Ranks,
    pub(super) accept_at_end: Ranks,
    pub(super) wildcards: &'l [(u8, u32)],
}

/// The first node: the empty prefix.
pub(super) const ROOT: u32 = 0;

/// The index of a node without a [`NodeOutput`].
pub(super) const NO_OUTPUT_INDEX: u32 = u32::MAX;

/// Lists that are refilled for each automaton, and reused so that many small automata need no allocations.
#[derive(Default)]
pub(super) struct WildcardScratch<'l> {
    pub(super) segments: Vec<Segment<'l>>,
    pub(super) found: Vec<NodeOutput<'l>>,
    pub(super) lists: NodeLists,
}

/// The lists that do not refer to a ruleset, and are reused from one to the next.
#[derive(Default)]
pub(super) struct NodeLists {
    pub(super) nodes: Vec<SegmentNode>,
    /// Transitions of nodes whose failure link is not the root: to their own children, and for all other bytes the
    /// failure link's transitions. Each is a byte and a node, in byte order.
    pub(super) merged: Vec<(u8, u32)>,
    pub(super) state_of: Vec<u32>,
    pub(super) open: Vec<u32>,
    pub(super) runs: Vec<(u32, u32)>,
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

/// The output of a node at which no segment ends.
pub(super) const NO_OUTPUT: NodeOutput<'static> =
    NodeOutput { accept: NO_RANKS, accept_at_end: NO_RANKS, wildcards: &[] };

/// Returns a range of indices.
pub(super) fn as_usize(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

impl<'l> WildcardScratch<'l> {
    /// Builds the tree of all prefixes, from sorted segments.
    pub(super) fn tree(&mut self, segments: &[Segment<'l>], arena: &'l Bump) {
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
    pub(super) fn link(&mut self, arena: &'l Bump, limit: usize) -> bool {
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
