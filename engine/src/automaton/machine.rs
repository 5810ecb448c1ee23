//! Checks that wildcard automata are the Aho-Corasick automata for their segments.
//!
//! Covers every transition and rank that a state inherits from another state, and the fingerprints.
//!
//! A state represents the text on the path from the root to it. The state for that text's longest proper suffix is the
//! state's *suffix*, or the root if there is no such state. A state inherits all transitions of its suffix, except
//! those that it replaces with transitions to longer texts, and finds everything that its suffix finds (Aho and
//! Corasick, 1975). States are visited in order of text length. A transition to a visited state must therefore be
//! inherited from the suffix, and any other transition leads to a longer text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::format::automaton::{AutomatonDraft, Corrupt, Decoded, MAX_WILDCARD_BRANCHES, State, corrupt};
use crate::format::fingerprints::{FINGERPRINT_BYTES, Fingerprints, passes_start};

/// Special values for suffixes: the root, and a state that has not been visited.
const ROOT: u32 = u32::MAX;
const UNVISITED: u32 = u32::MAX - 1;

/// Working memory for checking all wildcard automata of a ruleset. A state belongs to at most one of them.
pub(super) struct Machines<'d> {
    decoded: &'d Decoded<'d>,
    draft: &'d AutomatonDraft<'d>,
    /// Each state's suffix.
    suffixes: Vec<u32>,
    /// Visited states whose transitions have not been followed, shortest text first.
    open: BinaryHeap<Reverse<VisitedState>>,
    pub(super) steps: usize,
}

/// A visited state, ordered by text length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct VisitedState {
    /// Length of the text.
    len: usize,
    state: u32,
    /// The first bytes of the text, padded with zeros.
    start: [u8; FINGERPRINT_BYTES],
}

/// The wildcard automaton being checked.
struct Machine<'d> {
    children: &'d [(u8, u32)],
    fingerprints: &'d Fingerprints,
    /// The automaton's offset, for errors.
    at: usize,
    /// A bit for each number of an automaton that begins in the states visited so far.
    numbers: u64,
}

impl<'d> Machines<'d> {
    pub(super) fn new(decoded: &'d Decoded<'d>, draft: &'d AutomatonDraft<'d>) -> Machines<'d> {
        let suffixes = vec![UNVISITED; if draft.wildcards.is_empty() { 0 } else { draft.states.len() }];
        Machines { decoded, draft, suffixes, open: BinaryHeap::new(), steps: 0 }
    }

    /// Checks a wildcard automaton (*machine*, *fingerprints pass*). No other automaton may share its states.
    pub(super) fn check(&mut self, index: usize) -> Result<(), Corrupt> {
        let wildcard = &self.draft.wildcards[index];
        let (children, fingerprints) = (wildcard.children, wildcard.fingerprints);
        let mut machine = Machine { children, fingerprints, at: self.decoded.wildcard_at(index), numbers: 0 };
        let root = VisitedState { len: 0, state: ROOT, start: [0; FINGERPRINT_BYTES] };
        self.open.clear();
        for &(byte, child) in children {
            self.visit(&machine, root, byte, child, ROOT)?;
        }
        while let Some(Reverse(open)) = self.open.pop() {
            self.check_state(&mut machine, open)?;
        }
        Ok(())
    }

    fn state(&self, index: u32) -> &'d State<'d> {
        &self.draft.states[index as usize]
    }

    /// Checks a state's results and transitions, and visits the states with longer texts.
    fn check_state(&mut self, machine: &mut Machine<'_>, open: VisitedState) -> Result<(), Corrupt> {
        let state = self.state(open.state);
        let suffix = self.suffixes[open.state as usize];
        let of_suffix: &[(u8, u32)] = if suffix == ROOT { &[] } else { self.state(suffix).children };
        self.check_found(machine, open, suffix)?;
        self.steps += 1 + state.children.len() + of_suffix.len();
        let another = corrupt!(self.decoded.state_at(open.state as usize), "the transitions of the suffix", "others");
        let mut left = of_suffix.iter().peekable();
        for &(byte, child) in state.children {
            let same = left.next_if(|&&(other, _)| other <= byte);
            if same.is_some_and(|&(other, _)| other != byte) {
                return Err(another);
            }
            if self.suffixes[child as usize] == UNVISITED {
                self.visit(machine, open, byte, child, suffix)?;
            } else if same.map(|&(_, child)| child) != Some(child) {
                return Err(another);
            }
        }
        if left.next().is_some() { Err(another) } else { Ok(()) }
    }

    /// Checks that a state finds everything that its suffix finds, and that the fingerprints pass its additional
    /// results.
    fn check_found(&self, machine: &mut Machine<'_>, open: VisitedState, suffix: u32) -> Result<(), Corrupt> {
        let (state, at) = (self.state(open.state), self.decoded.state_at(open.state as usize));
        let found = |state: &State<'d>| (state.accept, state.accept_at_end, state.wildcards);
        let (accept, accept_at_end, wildcards) = found(state);
        let (mut before, mut before_at_end, mut nested): (_, _, &[_]) = (accept, accept_at_end, &[]);
        let mut finds_more = accept != [u32::MAX; 2] || accept_at_end != [u32::MAX; 2] || !wildcards.is_empty();
        if suffix != ROOT {
            (before, before_at_end, nested) = found(self.state(suffix));
            finds_more = found(state) != (before, before_at_end, nested);
        }
        let is_better = |ranks: [u32; 2], than: [u32; 2]| ranks[0] <= than[0] && ranks[1] <= than[1];
        let own = wildcards.strip_suffix(nested);
        let (Some(own), true) = (own, is_better(accept, before) && is_better(accept_at_end, before_at_end)) else {
            return Err(corrupt!(at, "all that the state of the longest suffix finds", "less"));
        };
        for &(number, _) in own {
            let bit = if usize::from(number) < MAX_WILDCARD_BRANCHES { 1 << number } else { 0 };
            if bit == 0 || machine.numbers & bit != 0 {
                return Err(corrupt!(at, "another number for each segment's wildcard automata", "the same"));
            }
            machine.numbers |= bit;
        }
        match finds_more && open.len < FINGERPRINT_BYTES {
            true => machine.check_start(&open.start[..open.len]),
            false => Ok(()),
        }
    }

    /// Visits the state `child`, which `byte` leads to from another state with the suffix `suffix`. Follows the label
    /// along the suffixes: within a label the suffix must be the root.
    fn visit(
        &mut self,
        machine: &Machine<'_>,
        from: VisitedState,
        byte: u8,
        child: u32,
        suffix: u32,
    ) -> Result<(), Corrupt> {
        let label = self.state(child).label;
        self.steps += 1 + label.len();
        let step = |children: &[(u8, u32)], byte: u8| {
            let place = children.binary_search_by_key(&byte, |&(byte, _)| byte).ok()?;
            children.get(place).map(|&(_, state)| state)
        };
        let from_root = |byte: u8| step(machine.children, byte).unwrap_or(ROOT);
        // Before its label a child of the root has a one-byte text, whose only proper suffix is empty.
        let mut now = match (from.state, suffix) {
            (ROOT, _) => ROOT,
            (_, ROOT) => from_root(byte),
            (_, suffix) => step(self.state(suffix).children, byte).unwrap_or_else(|| from_root(byte)),
        };
        let another = corrupt!(self.decoded.state_at(child as usize), "a label without suffixes", "another label");
        for &byte in label {
            if now != ROOT {
                return Err(another);
            }
            now = from_root(byte);
        }
        if now != ROOT && !self.state(now).label.is_empty() {
            return Err(another);
        }
        if std::mem::replace(&mut self.suffixes[child as usize], now) != UNVISITED {
            return Err(corrupt!(machine.at, "a tree of segments", "two ways to a state"));
        }
        let mut open = VisitedState { len: from.len + 1 + label.len(), state: child, start: from.start };
        let places = open.start.iter_mut().skip(from.len);
        places.zip(std::iter::once(&byte).chain(label)).for_each(|(place, byte)| *place = *byte);
        if from.len < FINGERPRINT_BYTES && open.len >= FINGERPRINT_BYTES {
            machine.check_start(&open.start)?;
        }
        self.open.push(Reverse(open));
        Ok(())
    }
}

impl Machine<'_> {
    /// Checks that the fingerprints pass all places where a segment with this start begins.
    fn check_start(&self, start: &[u8]) -> Result<(), Corrupt> {
        match passes_start(self.fingerprints, start) {
            true => Ok(()),
            false => Err(corrupt!(self.at, "fingerprints that pass every segment", "some that miss one")),
        }
    }
}
