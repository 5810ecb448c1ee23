//! Builds the prefix trie from the text before the first wildcard of each pattern.

use std::ops::Range;

use reptile_engine::format::automaton::{NEEDS_ALL, NO_RANK, NO_RANKS, NO_WILDCARD, Ranks, State, kind_of, settles};

use super::builder::{Builder, BuiltRule};
use super::ranks::{accept, merge};

/// Number of open states, and of children per state, to reserve memory for. Few tries need more at once.
const FIRST_OPEN: usize = 32;

/// Rules that share the first `depth` bytes, and the index of the state to build for them.
struct OpenState {
    state: usize,
    start: usize,
    end: usize,
    depth: usize,
    way: TriePathState,
    /// How many of the builder's `sources` are on the path to the state.
    sources: usize,
}

/// The ranks accepted and automata begun on the path through the trie to a state.
#[derive(Clone, Copy)]
pub(super) struct TriePathState {
    /// The best accepted ranks.
    pub(super) accepted: Ranks,
    /// The wildcard automaton that began last; its list continues with the others.
    pub(super) wildcard: Option<u32>,
    /// The best ranks for the wildcard automata in the list.
    pub(super) wildcards_best: Ranks,
    /// The best ranks for the listed automata that a verdict needs.
    pub(super) deciding_best: Ranks,
    /// For each kind of rule, the rank range in which a rule of the other kind would affect automata that were *left
    /// out*. Empty (with the first greater than the last) if no rule would.
    pub(super) between: [(u32, u32); 2],
    /// Whether a verdict needs every automaton after all.
    pub(super) needs_all: bool,
}

impl TriePathState {
    pub(super) const START: TriePathState = TriePathState {
        accepted: NO_RANKS,
        wildcard: None,
        wildcards_best: NO_RANKS,
        deciding_best: NO_RANKS,
        between: [(NO_RANK, 0); 2],
        needs_all: false,
    };
}

impl<'l> Builder<'l> {
    /// Builds the trie: a tree of the texts before wildcards, with a state where texts diverge.
    ///
    /// No search is needed, because each step takes a range of the sorted rules. Every rule is visited once per state
    /// on its path, so at most once per byte.
    pub(super) fn trie(&mut self) {
        if self.rules.is_empty() {
            return;
        }
        self.draft.has_trie = true;
        let mut children = Vec::with_capacity(FIRST_OPEN);
        let mut open = Vec::with_capacity(FIRST_OPEN);
        open.push(OpenState {
            state: self.new_state(),
            start: 0,
            end: self.rules.len(),
            depth: 0,
            way: TriePathState::START,
            sources: 0,
        });
        while let Some(OpenState { mut state, mut start, end, mut depth, mut way, sources }) = open.pop() {
            self.sources.truncate(sources);
            let mut label = self.common(start, end, depth);
            depth += label.len();
            // A label holds up to 255 bytes; a longer text needs several consecutive states.
            while label.len() > 255 {
                let next = self.new_state();
                self.pass(state, &way);
                self.draft.states[state].label = &label[..255];
                self.draft.states[state].children = self.arena.alloc_slice_copy(&[(label[255], next as u32)]);
                (state, label) = (next, &label[256..]);
            }
            self.draft.states[state].label = label;
            let (mut here, mut at_end) = (NO_RANKS, NO_RANKS);
            let first = start;
            while start < end && self.rules[start].matcher.len() == depth {
                let rule = self.rules[start];
                accept(if rule.anchored { &mut at_end } else { &mut here }, rule.rank);
                start += 1;
            }
            let at_end_of_way = self.accept_on_way(state, &mut way, here, at_end);
            self.list_shadowed(first..start, way.accepted, at_end_of_way);
            children.clear();
            let first_open = open.len();
            let mut begins = false;
            while start < end {
                let byte = self.rules[start].matcher[depth];
                let run_end = self.run_end(start, end, depth);
                if byte == b'*' {
                    begins |= self.begin_on_way(&mut way, start..run_end, depth);
                } else {
                    let child = self.new_state();
                    children.push((byte, child as u32));
                    open.push(OpenState { state: child, start, end: run_end, depth: depth + 1, way, sources });
                }
                start = run_end;
            }
            begins |= self.need_all(&mut way, at_end);
            if let Some(first) = way.wildcard.filter(|_| begins) {
                let deciding = self.draft.wildcards[first as usize].deciding.unwrap_or(NO_WILDCARD);
                let for_verdicts = if way.needs_all { (NEEDS_ALL, first) } else { (0, deciding) };
                self.draft.states[state].wildcards = self.arena.alloc_slice_copy(&[for_verdicts, (0, first)]);
            }
            self.pass(state, &way);
            // In byte order, `*` may come after some children's bytes, so all children get the wildcards here.
            let sources = self.sources.len();
            open[first_open..].iter_mut().for_each(|open| (open.way, open.sources) = (way, sources));
            self.draft.states[state].children = self.arena.alloc_slice_copy(&children);
        }
    }

    /// Adds the ranks that a state accepts to those on the path to it. Returns the ranks accepted if the path ends
    /// there.
    fn accept_on_way(&mut self, state: usize, way: &mut TriePathState, here: Ranks, at_end: Ranks) -> Ranks {
        let before = way.accepted;
        merge(&mut way.accepted, here);
        let state = &mut self.draft.states[state];
        if way.accepted != before {
            state.accept = way.accepted;
        }
        let mut ranks = way.accepted;
        merge(&mut ranks, at_end);
        if ranks != way.accepted {
            state.accept_at_end = ranks;
        }
        state.disallows_at_end = ranks[1] < ranks[0];
        ranks
    }

    /// Adds to the texts the patterns of a state's rules that the state does not accept, because a better rule of their
    /// kind matches whenever they do (*listed*).
    fn list_shadowed(&mut self, rules: Range<usize>, accepted: Ranks, at_end: Ranks) {
        for index in rules {
            let rule = self.rules[index];
            let best = if rule.anchored { at_end } else { accepted };
            if best[kind_of(rule.rank) as usize] != rule.rank && !rule.has_text {
                self.add_text(&rule);
            }
        }
    }

    /// Sets the flags for the verdict when a walk ends in a trie state (*settled*).
    fn pass(&mut self, state: usize, way: &TriePathState) {
        let state = &mut self.draft.states[state];
        state.disallows = way.accepted[1] < way.accepted[0];
        let best = if way.needs_all { way.wildcards_best } else { way.deciding_best };
        state.settled = settles(way.accepted, best);
        if state.accept_at_end == NO_RANKS {
            state.disallows_at_end = state.disallows;
        } else {
            state.settled &= settles(state.accept_at_end, best);
        }
    }

    pub(super) fn new_state(&mut self) -> usize {
        self.draft.states.push(State {
            label: &[],
            accept: NO_RANKS,
            accept_at_end: NO_RANKS,
            disallows: false,
            disallows_at_end: false,
            settled: false,
            wildcards: &[],
            children: &[],
        });
        self.draft.states.len() - 1
    }

    /// Returns the bytes from `depth` that a range of rules shares, up to the first wildcard.
    fn common(&self, start: usize, end: usize, depth: usize) -> &'l [u8] {
        let first = &self.rules[start].matcher[depth..];
        if start + 1 == end {
            let wildcard = self.rules[start].has_wildcard.then(|| memchr::memchr(b'*', first)).flatten();
            return &first[..wildcard.unwrap_or(first.len())];
        }
        let last = &self.rules[end - 1].matcher[depth..];
        let common = first.iter().zip(last).take_while(|&(a, b)| a == b && *a != b'*').count();
        &first[..common]
    }

    /// Returns the end of the run that shares its byte at `depth` with the rule at `start`.
    fn run_end(&self, start: usize, end: usize, depth: usize) -> usize {
        let byte = self.rules[start].matcher.get(depth);
        let is_in_run = |rule: &BuiltRule<'_>| rule.matcher.get(depth) <= byte;
        // Most runs are short, so a search with doubling steps finds the end without looking far past it.
        let (mut inside, mut step) = (start, 1);
        while inside + step < end && is_in_run(&self.rules[inside + step]) {
            inside += step;
            step *= 2;
        }
        let end = end.min(inside + step);
        inside + 1 + self.rules[inside + 1..end].partition_point(is_in_run)
    }
}
