//! The search for a shortest path with a verdict, over all paths at once.
//!
//! A state contains everything that affects the rest of a path: the position of each rule that can still change the
//! verdict, and the verdict if none of them matches. Paths that lead to the same state are continued only once. A
//! search that ends without finding the verdict proves that no path has it.
//!
//! States are expanded in order of the shortest path that they may lead to (A*): the bytes read so far, plus the bytes
//! that a rule with the verdict must still read. States from which no such rule can match are dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use indexmap::IndexSet;
use reptile_engine::verdict::RuleKind;

use super::paths::{BY_PREFERENCE, PREFERENCE, PathState, Paths};
use super::patterns::{Patterns, Position, RuleProgress};

/// The path that does not count.
pub(super) const ROBOTS_TXT: &[u8] = b"/robots.txt";

/// The value of `SearchState::robots_txt` if the path is not a prefix of [`ROBOTS_TXT`].
const ANOTHER_WAY: u8 = u8::MAX;

/// The result of a search.
pub(super) struct SearchResult {
    /// A shortest path with the verdict, in normal form, if there is one.
    pub(super) path: Option<Vec<u8>>,
    /// Whether the search was completed.
    pub(super) is_complete: bool,
    pub(super) steps: usize,
}

/// Everything that affects the rest of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SearchState {
    /// The rules that can still change the verdict, the deciding rule first.
    live: Box<[Position]>,
    /// The verdict if none of these rules matches.
    otherwise: RuleKind,
    place: PathState,
    /// The number of bytes read, if they are a prefix of [`ROBOTS_TXT`].
    robots_txt: u8,
}

/// The shortest known way to reach a state.
struct Reached {
    /// The previous state, or [`NO_STATE`].
    from: u32,
    /// The byte between the two states.
    byte: u8,
    /// Whether all successor states have been reached.
    is_expanded: bool,
    /// The length of the path in bytes.
    len: u32,
}

/// The predecessor of the first state.
const NO_STATE: u32 = u32::MAX;

/// One more byte of a path.
#[derive(Clone, Copy)]
struct PathStep {
    from: u32,
    byte: u8,
    /// The place after the byte.
    place: PathState,
    robots_txt: u8,
    /// The length of the path after the byte.
    len: u32,
}

/// A search in progress.
struct Search<'s, 'l> {
    patterns: &'s Patterns<'l>,
    paths: &'s Paths,
    wanted: RuleKind,
    max_steps: usize,
    steps: usize,
    /// The states, in the order in which they were first reached.
    states: IndexSet<SearchState, foldhash::fast::FixedState>,
    /// For each state, how it was reached.
    reached: Vec<Reached>,
    /// The states to expand: a lower bound for the length of a path with the verdict, the remaining part of it, and the
    /// state.
    open: BinaryHeap<Reverse<(u32, u32, u32)>>,
    /// The rules in a state that continue with only one byte, by that byte. Empty between two states.
    by_byte: Vec<Vec<Position>>,
}

/// Searches until a path with the wanted verdict is found, all paths have been covered, or the steps are used up.
pub(super) fn search(patterns: &Patterns<'_>, paths: &Paths, wanted: RuleKind, max_steps: usize) -> SearchResult {
    let mut search = Search {
        patterns,
        paths,
        wanted,
        max_steps,
        steps: 0,
        states: IndexSet::default(),
        reached: Vec::new(),
        open: BinaryHeap::new(),
        by_byte: vec![Vec::new(); 256],
    };
    search.begin();
    let (mut path, mut is_complete) = (None, true);
    while let Some(Reverse((_, _, index))) = search.open.pop() {
        if search.steps > max_steps {
            is_complete = false;
            break;
        }
        if search.ends_as_wanted(index) {
            path = Some(search.path_to(index));
            break;
        }
        search.expand(index);
    }
    // A search that exceeded the limit in its last state is incomplete.
    is_complete &= search.steps <= max_steps;
    SearchResult { path, is_complete, steps: search.steps }
}

impl Search<'_, '_> {
    /// Reaches the state after the slash that begins every path.
    fn begin(&mut self) {
        let moved = self.patterns.after_slash();
        if let Some(place) = self.paths.next(PathState::START, b'/') {
            let step = PathStep { from: NO_STATE, byte: b'/', place, robots_txt: 1, len: 1 };
            self.reach(step, moved, RuleKind::Allow);
        }
    }

    /// Returns whether the path to a state may end there, with the wanted verdict.
    fn ends_as_wanted(&self, index: u32) -> bool {
        let Some(state) = self.states.get_index(index as usize) else { return false };
        let at_end = state.live.iter().find(|&&position| self.patterns.matches_at_end(position));
        at_end.map_or(state.otherwise, |position| self.patterns.kind(position.rule)) == self.wanted
            && self.paths.may_end(state.place)
            && usize::from(state.robots_txt) != ROBOTS_TXT.len()
    }

    /// Reaches all successors of a state.
    fn expand(&mut self, index: u32) {
        let Some(reached) = self.reached.get_mut(index as usize) else { return };
        let len = reached.len + 1;
        if std::mem::replace(&mut reached.is_expanded, true) {
            return;
        }
        let Some(state) = self.states.get_index(index as usize).cloned() else { return };
        let mut bytes = Bytes::default();
        // Rules after a wildcard read every byte; other rules read only one, and there may be many of them.
        let mut reading_all: Vec<Position> = Vec::new();
        for &position in &state.live {
            match self.patterns.only_byte(position) {
                Some(Some(byte)) => {
                    bytes.add(byte);
                    self.by_byte[usize::from(byte)].push(position);
                }
                // It matches only at the end of the path.
                Some(None) => {}
                None => {
                    let steps = &mut self.steps;
                    self.patterns.each_byte(position, |byte| {
                        *steps += 1;
                        bytes.add(byte);
                    });
                    reading_all.push(position);
                }
            }
        }
        self.steps += state.live.len();
        let robots_txt_byte = ROBOTS_TXT.get(usize::from(state.robots_txt)).copied();
        robots_txt_byte.into_iter().for_each(|byte| bytes.add(byte));
        for byte in self.bytes_to_read(&bytes, state.place) {
            if self.steps > self.max_steps {
                break;
            }
            let Some(place) = self.paths.next(state.place, byte) else { continue };
            let robots_txt = if robots_txt_byte == Some(byte) { state.robots_txt + 1 } else { ANOTHER_WAY };
            let step = PathStep { from: index, byte, place, robots_txt, len };
            self.read(step, state.otherwise, &reading_all);
        }
        for &byte in &bytes.list {
            self.by_byte[usize::from(byte)].clear();
        }
    }

    /// Returns the bytes to continue with, in order of preference: those that affect some rule specially, and one that
    /// represents all others. If there is such a byte, an escape leads nowhere that three such bytes do not.
    fn bytes_to_read(&self, bytes: &Bytes, place: PathState) -> Vec<u8> {
        let is_like_others = |byte: u8| !bytes.is_in[usize::from(byte)] && self.paths.next(place, byte) == Some(place);
        match BY_PREFERENCE.into_iter().find(|&byte| place.is_plain() && is_like_others(byte)) {
            None => BY_PREFERENCE.into(),
            Some(other) => {
                let mut list = bytes.list.clone();
                list.push(other);
                list.sort_unstable_by_key(|&byte| PREFERENCE[usize::from(byte)]);
                list
            }
        }
    }

    /// Reads a byte with the rules that can continue with it.
    fn read(&mut self, step: PathStep, otherwise: RuleKind, reading_all: &[Position]) {
        let here = std::mem::take(&mut self.by_byte[usize::from(step.byte)]);
        self.steps += 1 + here.len() + reading_all.len();
        let patterns = self.patterns;
        let moved = in_order(&here, reading_all).map(|position| (position.rule, patterns.read(position, step.byte)));
        self.reach(step, moved, otherwise);
        self.by_byte[usize::from(step.byte)] = here;
    }

    /// Reaches the state after a step. `moved` contains the live rules, the deciding rule first, and `otherwise` is the
    /// verdict if none of them matches.
    fn reach(&mut self, step: PathStep, moved: impl Iterator<Item = (u32, RuleProgress)>, mut otherwise: RuleKind) {
        let mut live: Vec<Position> = Vec::new();
        for (rule, moved) in moved {
            match moved {
                RuleProgress::Live(position) => live.push(position),
                // Later rules can no longer decide.
                RuleProgress::Done => {
                    otherwise = self.patterns.kind(rule);
                    break;
                }
                RuleProgress::Dead => {}
            }
        }
        // A rule that is not followed by a rule of the other kind cannot change the verdict.
        let changing = live.iter().rposition(|position| self.patterns.kind(position.rule) != otherwise);
        live.truncate(changing.map_or(0, |last| last + 1));
        let of_kind = live.iter().filter(|position| self.patterns.kind(position.rule) == self.wanted);
        let left = match otherwise == self.wanted {
            true => Some(0),
            false => of_kind.map(|&position| self.patterns.bytes_left(position)).min(),
        };
        // No path from here has the verdict.
        let Some(left) = left else { return };
        let PathStep { from, byte, place, robots_txt, len } = step;
        let (index, is_new) = self.states.insert_full(SearchState { live: live.into(), otherwise, place, robots_txt });
        if is_new {
            self.reached.push(Reached { from, byte, is_expanded: false, len });
        } else {
            match self.reached.get_mut(index) {
                Some(reached) if len < reached.len && !reached.is_expanded => {
                    *reached = Reached { from, byte, is_expanded: false, len };
                }
                _ => return,
            }
        }
        self.open.push(Reverse((len.saturating_add(left), left, index as u32)));
    }

    /// Returns the shortest known path to a state.
    fn path_to(&self, mut state: u32) -> Vec<u8> {
        let mut path = Vec::new();
        while let Some(reached) = self.reached.get(state as usize) {
            path.push(reached.byte);
            state = reached.from;
        }
        path.reverse();
        path
    }
}

/// A list of distinct bytes.
struct Bytes {
    is_in: [bool; 256],
    list: Vec<u8>,
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes { is_in: [false; 256], list: Vec::new() }
    }
}

impl Bytes {
    fn add(&mut self, byte: u8) {
        if !std::mem::replace(&mut self.is_in[usize::from(byte)], true) {
            self.list.push(byte);
        }
    }
}

/// Merges two lists of positions, the deciding rule first.
fn in_order(a: &[Position], b: &[Position]) -> impl Iterator<Item = Position> {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(first), Some(second)) if first.rule < second.rule => a.next(),
        (Some(_), None) => a.next(),
        _ => b.next(),
    })
}
