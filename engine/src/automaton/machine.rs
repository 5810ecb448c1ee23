//! Checks that wildcard automata are the machines that their segments give: every transition and every rank that a state
//! takes over from another one, and the fingerprints.
//!
//! A state stands for the text that leads to it from the root. That text's longest proper suffix for which there is a
//! state, too, is the state's *suffix*; the root if there is none. A state has all transitions of its suffix but those
//! that it replaces by longer texts, and finds all that its suffix finds (Aho and Corasick, 1975). States are
//! visited in the order of the lengths of their texts, so that a transition to a state that has been visited
//! before must be the suffix's, and any other one leads to a longer text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::format::automaton::{Corrupt, Decoded, Draft, MAX_WILDCARD_BRANCHES, State, corrupt, passes_start};
use crate::platform::{FINGERPRINT_BYTES, Fingerprints};

/// In place of the suffix of a state: the root, and a state that has not been visited.
const ROOT: u32 = u32::MAX;
const UNVISITED: u32 = u32::MAX - 1;

/// The lists for checking all wildcard automata of a ruleset. A state belongs to one of them at most.
pub(super) struct Machines<'d> {
    decoded: &'d Decoded<'d>,
    draft: &'d Draft<'d>,
    /// For each state its suffix.
    suffixes: Vec<u32>,
    /// The states whose transitions have not been followed, those of the shortest texts first.
    open: BinaryHeap<Reverse<Open>>,
    pub(super) steps: usize,
}

/// A visited state. Orders by the length of its text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    /// The length of the text.
    len: usize,
    state: u32,
    /// The first bytes of the text, and then zeros.
    start: [u8; FINGERPRINT_BYTES],
}

/// The wildcard automaton that is checked.
struct Machine<'d> {
    children: &'d [(u8, u32)],
    fingerprints: &'d Fingerprints,
    /// The offset, for errors.
    at: usize,
    /// The numbers of the automata that begin in the states so far, a bit for each.
    numbers: u64,
}

impl<'d> Machines<'d> {
    pub(super) fn new(decoded: &'d Decoded<'d>, draft: &'d Draft<'d>) -> Machines<'d> {
        let suffixes = vec![UNVISITED; if draft.wildcards.is_empty() { 0 } else { draft.states.len() }];
        Machines { decoded, draft, suffixes, open: BinaryHeap::new(), steps: 0 }
    }

    /// Checks a wildcard automaton (*machine*, *fingerprints pass*). All of its states must belong to it alone.
    pub(super) fn check(&mut self, index: usize) -> Result<(), Corrupt> {
        let wildcard = &self.draft.wildcards[index];
        let (children, fingerprints) = (wildcard.children, wildcard.fingerprints);
        let mut machine = Machine { children, fingerprints, at: self.decoded.wildcard_at(index), numbers: 0 };
        let root = Open { len: 0, state: ROOT, start: [0; FINGERPRINT_BYTES] };
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

    /// Checks what a state finds and where it goes on, and visits the states of longer texts.
    fn check_state(&mut self, machine: &mut Machine<'_>, open: Open) -> Result<(), Corrupt> {
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

    /// Checks that a state finds what its suffix does, and that what only it finds begins where the fingerprints say.
    fn check_found(&self, machine: &mut Machine<'_>, open: Open, suffix: u32) -> Result<(), Corrupt> {
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

    /// Visits a state that a byte leads to from another one, whose suffix is `suffix`. Follows what the suffix reads of the
    /// state's label: within a label the suffix is the root.
    fn visit(&mut self, machine: &Machine<'_>, from: Open, byte: u8, child: u32, suffix: u32) -> Result<(), Corrupt> {
        let label = self.state(child).label;
        self.steps += 1 + label.len();
        let step = |children: &[(u8, u32)], byte: u8| {
            let place = children.binary_search_by_key(&byte, |&(byte, _)| byte).ok()?;
            children.get(place).map(|&(_, state)| state)
        };
        let from_root = |byte: u8| step(machine.children, byte).unwrap_or(ROOT);
        // The text of a child of the root has no proper suffix but those after its first byte.
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
        let mut open = Open { len: from.len + 1 + label.len(), state: child, start: from.start };
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
    /// Checks that the fingerprints pass all places where a segment begins.
    fn check_start(&self, start: &[u8]) -> Result<(), Corrupt> {
        match passes_start(self.fingerprints, start) {
            true => Ok(()),
            false => Err(corrupt!(self.at, "fingerprints that pass every segment", "some that miss one")),
        }
    }
}
