//! The search for a shortest path that meets all conditions, over all paths at once.
//!
//! A state contains everything that affects the rest of a path: the position of each rule that can still change whether
//! its condition holds, and whether each condition holds if none of them matches. Paths that lead to the same state are
//! continued only once. A search that ends without a path proves that there is none.
//!
//! States are expanded in order of the shortest path that they may lead to (A*): the bytes read so far, plus the bytes
//! that a rule of some condition must still read. States from which a condition can no longer hold are dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use indexmap::IndexSet;

use super::patterns::{Patterns, Position, RuleProgress};

/// The path that does not count.
pub(super) const ROBOTS_TXT: &[u8] = b"/robots.txt";

/// The value in `SearchState::robots_txt` if the path is not a prefix of [`ROBOTS_TXT`].
const ANOTHER_WAY: u8 = u8::MAX;

/// Maximum number of normal forms in one search.
pub(super) const MAX_FORMS: usize = 2;

/// A piece of a path, by its index in the alphabet.
pub(super) type Letter = u16;

/// The paths that URLs can have, letter by letter, and their normal forms.
pub(super) trait Alphabet {
    /// Everything that affects which letters may follow, and their normal forms.
    type TextState: Copy + Eq + Hash;

    /// Returns the place after the slash that begins every path.
    fn after_slash(&self) -> Self::TextState;

    /// Returns the letters to continue with, in order of preference: at least those with a special byte in a normal
    /// form, and one for all others that lead to the same place.
    fn letters(&self, place: Self::TextState, special: &[SpecialBytes; MAX_FORMS]) -> Vec<Letter>;

    /// Reads a letter. Returns `None` if no path continues with it.
    fn next(&self, place: Self::TextState, letter: Letter) -> Option<Self::TextState>;

    /// Returns whether a path may end at a place.
    fn may_end(&self, place: Self::TextState) -> bool;

    /// Returns a letter in a normal form, given the place before it. It is not empty.
    fn text(&self, place: Self::TextState, letter: Letter, form: usize) -> &[u8];

    /// Returns the length of a letter in a path.
    fn len(&self, letter: Letter) -> u32;

    /// Returns a lower bound for the length in a path of letters with `bytes` bytes in a normal form.
    fn least_len(&self, bytes: u32) -> u32;

    /// Appends a letter to a path.
    fn write(&self, letter: Letter, path: &mut Vec<u8>);
}

pub(super) struct SearchResult {
    /// A shortest path that meets all conditions, as the alphabet writes it, if such a path exists.
    pub(super) path: Option<Vec<u8>>,
    /// Whether the search was completed.
    pub(super) is_complete: bool,
    pub(super) steps: usize,
}

/// Everything that affects the rest of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SearchState<P> {
    /// For each condition, the rules that can still change whether it holds, the deciding rule first.
    live: Box<[Position]>,
    /// Whether each condition holds if none of these rules matches, a bit for each.
    otherwise: u64,
    place: P,
    /// For each normal form, the number of bytes read, if they are a prefix of [`ROBOTS_TXT`].
    robots_txt: [u8; MAX_FORMS],
}

/// The shortest known way to reach a state.
struct ReachedState {
    /// The previous state, or [`NO_STATE`].
    from: u32,
    /// The letter between the two states.
    letter: Letter,
    /// Whether all successor states have been reached.
    is_expanded: bool,
    /// The length of the path.
    len: u32,
}

/// The predecessor of the first state.
const NO_STATE: u32 = u32::MAX;

/// The next letter in a path.
#[derive(Clone, Copy)]
struct PathStep<P> {
    from: u32,
    letter: Letter,
    /// The place after the letter.
    place: P,
    robots_txt: [u8; MAX_FORMS],
    /// The length of the path after the letter.
    len: u32,
}

struct PathSearch<'s, 'l, A: Alphabet> {
    patterns: &'s Patterns<'l>,
    alphabet: &'s A,
    max_steps: usize,
    steps: usize,
    /// The states, in the order in which they were first reached.
    states: IndexSet<SearchState<A::TextState>, foldhash::fast::FixedState>,
    /// For each state, how it was reached.
    reached: Vec<ReachedState>,
    /// The states to expand: a lower bound for the length of a path that meets all conditions, its remaining part, and
    /// the state.
    open: BinaryHeap<Reverse<(u32, u32, u32)>>,
    /// For each normal form, a state's rules that continue with only one byte, by that byte. Empty between states.
    by_byte: [Vec<Vec<Position>>; MAX_FORMS],
}

/// Searches until a path that meets all conditions is found, all paths have been covered, or the steps are used up.
pub(super) fn search<A: Alphabet>(patterns: &Patterns<'_>, alphabet: &A, max_steps: usize) -> SearchResult {
    let mut search = PathSearch {
        patterns,
        alphabet,
        max_steps,
        steps: 0,
        states: IndexSet::default(),
        reached: Vec::new(),
        open: BinaryHeap::new(),
        by_byte: [vec![Vec::new(); 256], vec![Vec::new(); 256]],
    };
    search.begin();
    let (mut path, mut is_complete) = (None, true);
    while let Some(Reverse((_, _, index))) = search.open.pop() {
        if search.steps > max_steps {
            is_complete = false;
            break;
        }
        if search.may_end(index) {
            path = Some(search.path_to(index));
            break;
        }
        search.expand(index);
    }
    // A search that exceeded the limit in its last state is incomplete.
    is_complete &= search.steps <= max_steps;
    SearchResult { path, is_complete, steps: search.steps }
}

impl<A: Alphabet> PathSearch<'_, '_, A> {
    /// Reaches the state after the slash that begins every path.
    fn begin(&mut self) {
        let patterns = self.patterns;
        let otherwise = (0..).zip(patterns.otherwise()).map(|(number, holds)| u64::from(holds) << number).sum();
        let place = self.alphabet.after_slash();
        let step = PathStep { from: NO_STATE, letter: 0, place, robots_txt: [1; MAX_FORMS], len: 1 };
        self.reach(step, patterns.numbers(), |rule| (rule, patterns.after_slash(rule)), otherwise);
    }

    /// Returns whether the path to a state may end there, with all conditions met.
    fn may_end(&self, index: u32) -> bool {
        let Some(state) = self.states.get_index(index as usize) else { return false };
        let (mut met, mut decided) = (state.otherwise, 0_u64);
        for position in state.live.iter().filter(|&&position| self.patterns.matches_at_end(position)) {
            let bit = 1 << self.patterns.condition(position.rule);
            if decided & bit == 0 {
                decided |= bit;
                met = if self.patterns.holds(position.rule) { met | bit } else { met & !bit };
            }
        }
        met.count_ones() as usize == self.patterns.otherwise().count()
            && self.alphabet.may_end(state.place)
            && state.robots_txt.iter().all(|&read| usize::from(read) != ROBOTS_TXT.len())
    }

    /// Reaches all successors of a state.
    fn expand(&mut self, index: u32) {
        let Some(reached) = self.reached.get_mut(index as usize) else { return };
        let len = reached.len;
        if std::mem::replace(&mut reached.is_expanded, true) {
            return;
        }
        let Some(state) = self.states.get_index(index as usize).cloned() else { return };
        let mut special = [SpecialBytes::default(), SpecialBytes::default()];
        // Rules after a wildcard read every byte; other rules read only one, and there may be many of them.
        let mut reading_all: Vec<Position> = Vec::new();
        for &position in &state.live {
            let form = self.patterns.form(position.rule);
            match self.patterns.only_byte(position) {
                Some(Some(byte)) => {
                    special[form].add(byte);
                    self.by_byte[form][usize::from(byte)].push(position);
                }
                // It matches only at the end of the path.
                Some(None) => {}
                None => {
                    let steps = &mut self.steps;
                    self.patterns.each_byte(position, |byte| {
                        *steps += 1;
                        special[form].add(byte);
                    });
                    reading_all.push(position);
                }
            }
        }
        self.steps += state.live.len();
        for (special, &read) in special.iter_mut().zip(&state.robots_txt) {
            ROBOTS_TXT.get(usize::from(read)).into_iter().for_each(|&byte| special.add(byte));
        }
        for letter in self.alphabet.letters(state.place, &special) {
            if self.steps > self.max_steps {
                break;
            }
            let Some(place) = self.alphabet.next(state.place, letter) else { continue };
            let robots_txt = [0, 1].map(|form| {
                let read = state.robots_txt[form];
                let text = self.alphabet.text(state.place, letter, form);
                let is_next = ROBOTS_TXT.get(usize::from(read)..).is_some_and(|rest| rest.starts_with(text));
                if is_next { read + text.len() as u8 } else { ANOTHER_WAY }
            });
            let len = len + self.alphabet.len(letter);
            let step = PathStep { from: index, letter, place, robots_txt, len };
            self.read(step, &state, &reading_all);
        }
        for (form, special) in special.iter().enumerate() {
            for &byte in &special.list {
                self.by_byte[form][usize::from(byte)].clear();
            }
        }
    }

    /// Reads a letter with the rules that can continue with it.
    fn read(&mut self, step: PathStep<A::TextState>, state: &SearchState<A::TextState>, reading_all: &[Position]) {
        let (patterns, alphabet) = (self.patterns, self.alphabet);
        let texts = [0, 1].map(|form| alphabet.text(state.place, step.letter, form));
        let firsts = texts.map(|text| usize::from(text.first().copied().unwrap_or_default()));
        let here = [0, 1].map(|form| std::mem::take(&mut self.by_byte[form][firsts[form]]));
        self.steps += 1 + here.iter().map(Vec::len).sum::<usize>() + reading_all.len();
        let moved = in_order(in_order(here[0].iter().copied(), here[1].iter().copied()), reading_all.iter().copied());
        let read = |position: Position| (position.rule, patterns.read(position, texts[patterns.form(position.rule)]));
        self.reach(step, moved, read, state.otherwise);
        for (form, here) in here.into_iter().enumerate() {
            self.by_byte[form][firsts[form]] = here;
        }
    }

    /// Reaches the state after a step. `moved` contains the live rules in order, `read` returns a rule and its progress,
    /// and `otherwise` is whether each condition holds if none of the rules matches.
    fn reach<M>(
        &mut self,
        step: PathStep<A::TextState>,
        moved: impl Iterator<Item = M>,
        read: impl Fn(M) -> (u32, RuleProgress),
        mut otherwise: u64,
    ) {
        let patterns = self.patterns;
        let (mut live, mut left): (Vec<Position>, u32) = (Vec::new(), 0);
        let mut moved = moved.map(read).peekable();
        for (number, _) in patterns.otherwise().enumerate() {
            let (start, mut is_done) = (live.len(), false);
            while let Some((rule, progress)) = moved.next_if(|&(rule, _)| patterns.condition(rule) == number) {
                match progress {
                    // Rules after one that matches can no longer decide.
                    _ if is_done => {}
                    RuleProgress::Live(position) => live.push(position),
                    RuleProgress::Done => {
                        otherwise = otherwise & !(1 << number) | u64::from(patterns.holds(rule)) << number;
                        is_done = true;
                    }
                    RuleProgress::Dead => {}
                }
            }
            // A rule cannot change the outcome unless a rule with another outcome follows.
            let holds = otherwise & (1 << number) != 0;
            let changing = live[start..].iter().rposition(|position| patterns.holds(position.rule) != holds);
            live.truncate(start + changing.map_or(0, |last| last + 1));
            if !holds {
                let holding = live[start..].iter().filter(|position| patterns.holds(position.rule));
                // The condition holds on no path from here.
                let Some(own) = holding.map(|&position| patterns.bytes_left(position)).min() else { return };
                left = left.max(own);
            }
        }
        let left = self.alphabet.least_len(left);
        let PathStep { from, letter, place, robots_txt, len } = step;
        let (index, is_new) = self.states.insert_full(SearchState { live: live.into(), otherwise, place, robots_txt });
        let reached = ReachedState { from, letter, is_expanded: false, len };
        if is_new {
            self.reached.push(reached);
        } else {
            match self.reached.get_mut(index) {
                Some(known) if len < known.len && !known.is_expanded => *known = reached,
                _ => return,
            }
        }
        self.open.push(Reverse((len.saturating_add(left), left, index as u32)));
    }

    /// Returns the shortest known path to a state.
    fn path_to(&self, mut state: u32) -> Vec<u8> {
        let mut letters = Vec::new();
        while let Some(reached) = self.reached.get(state as usize).filter(|reached| reached.from != NO_STATE) {
            letters.push(reached.letter);
            state = reached.from;
        }
        let mut path = b"/".to_vec();
        letters.iter().rev().for_each(|&letter| self.alphabet.write(letter, &mut path));
        path
    }
}

/// A list of distinct bytes.
pub(super) struct SpecialBytes {
    is_in: [bool; 256],
    pub(super) list: Vec<u8>,
}

impl Default for SpecialBytes {
    fn default() -> SpecialBytes {
        SpecialBytes { is_in: [false; 256], list: Vec::new() }
    }
}

impl SpecialBytes {
    fn add(&mut self, byte: u8) {
        if !std::mem::replace(&mut self.is_in[usize::from(byte)], true) {
            self.list.push(byte);
        }
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.is_in[usize::from(byte)]
    }
}

/// Merges two sequences of positions in rule order.
fn in_order(a: impl Iterator<Item = Position>, b: impl Iterator<Item = Position>) -> impl Iterator<Item = Position> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(first), Some(second)) if first.rule < second.rule => a.next(),
        (Some(_), None) => a.next(),
        _ => b.next(),
    })
}
