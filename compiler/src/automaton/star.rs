//! The machine behind a star: looks for all pieces that can follow the star at once.
//!
//! It is the deterministic form of Aho and Corasick's machine (1975) with the transitions that lead back to the
//! beginning left out, and runs of states that nothing else leads into made one. Built here from the sorted
//! pieces and not with the `aho-corasick` crate, whose machines cannot be taken apart into states with default
//! transitions, and whose dense tables take 4 bytes for each state and byte class.

use std::ops::Range;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use reptile_engine::format::automaton::{Codes, MAX_STAR_BRANCHES, NO_CODES, Star, State};

use reptile_engine::platform::{FINGERPRINT_BYTES, Fingerprints};

use super::{Builder, accept, merge};
use crate::limits::MAX_TRANSITIONS_PER_BYTE;

/// A literal piece that can follow a star, and what it leads to.
struct Piece<'l> {
    text: &'l [u8],
    accept: Codes,
    accept_at_end: Codes,
    /// The rules that go on with a star behind the piece, by index.
    behind_star: Range<usize>,
}

/// A prefix of one or more pieces.
struct Node<'l> {
    /// The text of a piece that begins with it; the node stands for the first `depth` bytes.
    text: &'l [u8],
    depth: usize,
    accept: Codes,
    accept_at_end: Codes,
    stars: BumpVec<'l, (u8, u32)>,
    /// Transitions to longer prefixes, by byte; later also those that the node takes over from `fail`.
    children: BumpVec<'l, (u8, u32)>,
    /// The longest proper suffix that is itself a prefix of a piece.
    fail: u32,
    /// Whether it is some other node's `fail`, so that others have its transitions too.
    is_fail: bool,
}

const ROOT: u32 = 0;

/// Machines that begin at one place: a state counts them in a byte.
const MAX_MACHINES: usize = 255;

impl<'l> Builder<'l> {
    /// Builds the machine, or machines, for a range of rules that have a star in front of `offset`.
    ///
    /// More than one if they would lead to more stars than one machine can keep track of. None if the rules had to
    /// be listed.
    pub(super) fn star(&mut self, rules: Range<usize>, offset: usize) -> Vec<u32> {
        let built = (self.draft.states.len(), self.draft.stars.len());
        let machines = self.machines(rules.clone(), offset);
        machines.unwrap_or_else(|| {
            self.draft.states.truncate(built.0);
            self.draft.stars.truncate(built.1);
            self.listed.extend_from_slice(&self.rules[rules]);
            Vec::new()
        })
    }

    /// `None` if one of the machines would be too large, or too many are needed.
    fn machines(&mut self, rules: Range<usize>, offset: usize) -> Option<Vec<u32>> {
        let pieces = self.pieces(rules, offset);
        let mut machines = Vec::new();
        let mut plain = Vec::new();
        // Stars behind pieces first, since a machine refers to the stars that it leads to.
        let mut branches: Vec<(Piece<'l>, Vec<u32>)> = Vec::new();
        let mut branch_count = 0;
        for piece in pieces {
            if piece.behind_star.is_empty() {
                plain.push((piece, Vec::new()));
                continue;
            }
            let stars = self.star(piece.behind_star.clone(), offset + piece.text.len() + 1);
            if stars.is_empty() {
                // All of its rules were listed.
                if piece.accept != NO_CODES || piece.accept_at_end != NO_CODES {
                    plain.push((piece, stars));
                }
                continue;
            }
            if stars.len() > MAX_STAR_BRANCHES {
                return None;
            }
            if branch_count + stars.len() > MAX_STAR_BRANCHES {
                machines.push(self.machine(std::mem::take(&mut branches))?);
                branch_count = 0;
            }
            branch_count += stars.len();
            branches.push((piece, stars));
        }
        branches.extend(plain);
        if !branches.is_empty() {
            machines.push(self.machine(branches)?);
        }
        (machines.len() <= MAX_MACHINES).then_some(machines)
    }

    /// The pieces that follow the star, in the order of their bytes.
    fn pieces(&self, rules: Range<usize>, offset: usize) -> Vec<Piece<'l>> {
        let mut pieces: Vec<Piece<'l>> = Vec::new();
        let mut index = rules.start;
        while index < rules.end {
            let rule = self.rules[index];
            let rest = &rule.matcher[offset..];
            let text = &rest[..memchr::memchr(b'*', rest).unwrap_or(rest.len())];
            let (mut codes, mut codes_at_end) = (NO_CODES, NO_CODES);
            let mut behind_star = index..index;
            if text.len() == rest.len() {
                accept(if rule.anchored { &mut codes_at_end } else { &mut codes }, rule.code);
                index += 1;
            } else {
                let with_star = &rest[..=text.len()];
                let run = self.rules[index..rules.end].partition_point(|rule| {
                    let rest = &rule.matcher[offset..];
                    rest.get(..with_star.len()).unwrap_or(rest) <= with_star
                });
                behind_star = index..index + run;
                index += run;
            }
            pieces.push(Piece { text, accept: codes, accept_at_end: codes_at_end, behind_star });
        }
        pieces.sort_by(|a, b| a.text.cmp(b.text));
        pieces.dedup_by(|later, first| {
            let same = later.text == first.text;
            if same {
                merge(&mut first.accept, later.accept);
                merge(&mut first.accept_at_end, later.accept_at_end);
                if first.behind_star.is_empty() {
                    first.behind_star = later.behind_star.clone();
                }
            }
            same
        });
        pieces
    }

    /// Builds one machine. `None` if it would be too large.
    fn machine(&mut self, pieces: Vec<(Piece<'l>, Vec<u32>)>) -> Option<u32> {
        let mut best = NO_CODES;
        for (piece, stars) in &pieces {
            merge(&mut best, piece.accept);
            merge(&mut best, piece.accept_at_end);
            for &star in stars {
                merge(&mut best, self.draft.stars[star as usize].best);
            }
        }
        let fingerprints = fingerprints(&pieces);
        let mut nodes = tree(pieces, self.arena);
        if !link(&mut nodes) {
            return None;
        }
        let children = self.states(&nodes);
        self.draft.stars.push(Star { best, from: 0, next: None, fingerprints, children });
        Some((self.draft.stars.len() - 1) as u32)
    }

    /// Turns nodes into states, runs of nodes into one. Returns the root's transitions.
    fn states(&mut self, nodes: &[Node<'l>]) -> &'l [(u8, u32)] {
        // The last node of the run that begins at each node; a run goes on as long as nothing happens in it,
        // a byte that differs leads back to the resting state, and no other node leads into the middle.
        let run_end = |mut index: u32| {
            let start = nodes[index as usize].depth;
            loop {
                let node = &nodes[index as usize];
                let idle = node.accept == NO_CODES && node.accept_at_end == NO_CODES && node.stars.is_empty();
                match node.children[..] {
                    [(_, next)] if idle && node.fail == ROOT && !node.is_fail && node.depth - start < 255 => {
                        index = next;
                    }
                    _ => return index,
                }
            }
        };
        let mut state_of = vec![u32::MAX; nodes.len()];
        let mut open: Vec<u32> = nodes[ROOT as usize].children.iter().map(|&(_, child)| child).collect();
        let mut runs: Vec<(u32, u32)> = Vec::new();
        while let Some(start) = open.pop() {
            if state_of[start as usize] == u32::MAX {
                state_of[start as usize] = self.new_state() as u32;
                let end = run_end(start);
                runs.push((start, end));
                open.extend(nodes[end as usize].children.iter().map(|&(_, child)| child));
            }
        }
        let arena = self.arena;
        let state_at = |&(byte, node): &(u8, u32)| (byte, state_of[node as usize]);
        for (start, end) in runs {
            let (first, last) = (&nodes[start as usize], &nodes[end as usize]);
            self.draft.states[state_of[start as usize] as usize] = State {
                label: &last.text[first.depth..last.depth],
                accept: last.accept,
                accept_at_end: last.accept_at_end,
                disallows: false,
                disallows_at_end: false,
                settled: false,
                stars: arena.alloc_slice_copy(&last.stars),
                children: arena.alloc_slice_fill_iter(last.children.iter().map(state_at)),
            };
        }
        arena.alloc_slice_fill_iter(nodes[ROOT as usize].children.iter().map(state_at))
    }
}

/// What the pieces begin with.
fn fingerprints(pieces: &[(Piece<'_>, Vec<u32>)]) -> Box<Fingerprints> {
    let mut starts: Vec<&[u8]> =
        pieces.iter().map(|(piece, _)| &piece.text[..piece.text.len().min(FINGERPRINT_BYTES)]).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut table = Box::new([0; 32 * FINGERPRINT_BYTES]);
    for (index, start) in starts.iter().enumerate() {
        // Neighbours have bytes in common, so that they do least harm in the same bucket.
        let bucket = 1 << (index * 8 / starts.len());
        for offset in 0..FINGERPRINT_BYTES {
            let (low, high) = table[offset * 32..][..32].split_at_mut(16);
            match start.get(offset) {
                Some(byte) => {
                    low[usize::from(byte & 15)] |= bucket;
                    high[usize::from(byte >> 4)] |= bucket;
                }
                None => low.iter_mut().chain(high).for_each(|buckets| *buckets |= bucket),
            }
        }
    }
    table
}

/// The tree of all prefixes of the pieces, which are sorted except that groups with and without stars alternate.
fn tree<'l>(mut pieces: Vec<(Piece<'l>, Vec<u32>)>, arena: &'l Bump) -> Vec<Node<'l>> {
    pieces.sort_by(|a, b| a.0.text.cmp(b.0.text));
    let node = |text: &'l [u8], depth: usize| Node {
        text,
        depth,
        accept: NO_CODES,
        accept_at_end: NO_CODES,
        stars: BumpVec::new_in(arena),
        children: BumpVec::new_in(arena),
        fail: ROOT,
        is_fail: false,
    };
    let size = pieces.iter().map(|(piece, _)| piece.text.len()).sum::<usize>() + 1;
    let mut nodes = Vec::with_capacity(size);
    nodes.push(node(&[], 0));
    // The nodes from the root to the end of the piece before.
    let mut way = vec![ROOT];
    let mut before: &[u8] = &[];
    let mut branch = 0;
    for (piece, stars) in pieces {
        let common = before.iter().zip(piece.text).take_while(|(a, b)| a == b).count();
        way.truncate(common + 1);
        for depth in common..piece.text.len() {
            let child = nodes.len() as u32;
            nodes[way[depth] as usize].children.push((piece.text[depth], child));
            nodes.push(node(piece.text, depth + 1));
            way.push(child);
        }
        let end = &mut nodes[way[piece.text.len()] as usize];
        merge(&mut end.accept, piece.accept);
        merge(&mut end.accept_at_end, piece.accept_at_end);
        for star in stars {
            end.stars.push((branch, star));
            branch += 1;
        }
        before = piece.text;
    }
    nodes
}

/// Gives each node what it takes over from its longest suffix, so that one transition for each byte suffices.
/// Returns `false` if that takes more transitions than [`MAX_TRANSITIONS_PER_BYTE`] allows.
fn link(nodes: &mut [Node<'_>]) -> bool {
    let limit = MAX_TRANSITIONS_PER_BYTE * nodes.len() + 256;
    let mut transitions = nodes.len() - 1;
    // By depth: a node's suffix is shorter, and so already has all of its transitions.
    let mut order: Vec<u32> = nodes[ROOT as usize].children.iter().map(|&(_, child)| child).collect();
    let mut next = 0;
    while let Some(&index) = order.get(next) {
        next += 1;
        let fail = nodes[index as usize].fail;
        // Before this node's children get mixed with those taken over: they are the next level of the tree.
        for own in 0..nodes[index as usize].children.len() {
            let (byte, child) = nodes[index as usize].children[own];
            let via = |node: u32, nodes: &[Node<'_>]| {
                let children = &nodes[node as usize].children;
                children.binary_search_by_key(&byte, |&(byte, _)| byte).ok().map(|at| children[at].1)
            };
            let target = via(fail, nodes).or_else(|| via(ROOT, nodes)).unwrap_or(ROOT);
            nodes[child as usize].fail = target;
            nodes[target as usize].is_fail = true;
            order.push(child);
        }
        if fail == ROOT {
            continue;
        }
        let (codes, codes_at_end) = (nodes[fail as usize].accept, nodes[fail as usize].accept_at_end);
        let Ok([node, fail]) = nodes.get_disjoint_mut([index as usize, fail as usize]) else { return false };
        merge(&mut node.accept, codes);
        merge(&mut node.accept_at_end, codes_at_end);
        node.stars.extend_from_slice(&fail.stars);
        let before = node.children.len();
        for &(byte, target) in &fail.children {
            if let Err(at) = node.children.binary_search_by_key(&byte, |&(byte, _)| byte) {
                node.children.insert(at, (byte, target));
            }
        }
        transitions += node.children.len() - before;
        if transitions > limit {
            return false;
        }
    }
    true
}
