//! An automaton before it is encoded, or after it was decoded.

use super::layout::{Ranks, TextFlags};
use crate::format::fingerprints::Fingerprints;

/// A state: its label, the ranks that it accepts, and its transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State<'t> {
    /// Bytes that must follow the transition into the state, at most 255. In a wildcard automaton, the root handles a
    /// byte that differs, so the compiler only merges states into a label if their failure link is the root.
    pub label: &'t [u8],
    /// The ranks accepted after reading the label. In the trie: the best ranks accepted on the way through the state,
    /// or none if they are the same as before the state.
    pub accept: Ranks,
    /// The ranks accepted if the path ends after the label. In the trie, if any are present, they are the best of these
    /// and all ranks accepted unconditionally.
    pub accept_at_end: Ranks,
    /// In the trie: whether the best rule accepted on the way through the state is a disallow.
    pub disallows: bool,
    /// In the trie: like `disallows`, but for a path that ends after the label.
    pub disallows_at_end: bool,
    /// In the trie: whether no wildcard automaton that a verdict needs there could change the verdict (*settled*).
    pub settled: bool,
    /// The wildcard automata that begin after the label: a number and the automaton's index. In a wildcard automaton
    /// the number identifies each automaton that it leads to, so that each begins only once.
    ///
    /// A trie state has no entries or two, each with the first automaton of a linked list or
    /// [`NO_WILDCARD`](super::NO_WILDCARD). The first list is for verdicts: its number is 0, and it continues with the
    /// [`WildcardAutomaton::deciding`] of each [`WildcardAutomaton::next`]; or its number is
    /// [`NEEDS_ALL`](super::NEEDS_ALL). The second list contains all automata that have begun on the way: its number is
    /// 0, and it continues with [`WildcardAutomaton::next`].
    pub wildcards: &'t [(u8, u32)],
    /// Transitions from bytes to state indexes, sorted by byte.
    pub children: &'t [(u8, u32)],
}

/// A wildcard automaton: its root, and the best ranks that it can lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WildcardAutomaton<'t> {
    /// The best ranks in the automaton's states and in the automata that it leads to.
    pub best: Ranks,
    /// The offset in the path at which it begins, if it begins in the trie; otherwise 0.
    pub from: u32,
    /// The index of the next automaton in the list of automata that have begun in the trie at this place.
    pub next: Option<u32>,
    /// The index of the first automaton that a verdict needs, from this one along `next`: itself, a later one, or none
    /// (*left out*).
    pub deciding: Option<u32>,
    /// Fingerprints of the segments' first bytes.
    pub fingerprints: &'t Fingerprints,
    /// The root's transitions from bytes to state indexes, sorted by byte. Not empty.
    pub children: &'t [(u8, u32)],
}

/// A fallback pattern, which is tried individually, outside the automata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FallbackPattern<'t> {
    /// The rule's rank.
    pub rank: u32,
    /// Whether the last segment must end the path.
    pub anchored: bool,
    /// The literal segments, separated by wildcards. The first is at the path's start and may be empty.
    pub text: &'t [u8],
}

/// A pattern in the text table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PatternText<'t> {
    /// The rule's rank.
    pub rank: u32,
    /// The pattern's flags.
    pub flags: TextFlags,
    /// The pattern as displayed.
    pub pattern: &'t [u8],
}

/// A ruleset's automaton before it is encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AutomatonDraft<'t> {
    /// The number of rules in the ruleset.
    pub rule_count: u32,
    /// The states of the trie and of all wildcard automata. If there is a trie, its root is the first.
    pub states: Vec<State<'t>>,
    /// The wildcard automata.
    pub wildcards: Vec<WildcardAutomaton<'t>>,
    /// Whether `states` begins with a trie.
    pub has_trie: bool,
    /// The fallback patterns in rank order.
    pub fallbacks: Vec<FallbackPattern<'t>>,
    /// The patterns that cannot be read from the trie, in rank order (*listed*).
    pub texts: Vec<PatternText<'t>>,
    /// The rank of the rule with an empty pattern, which decides nothing but is reported if no other rule matches.
    pub otherwise: Option<u32>,
    /// For a ruleset that decides together with others: a joint rank for each rule, indexed by place. Joint ranks order
    /// the rules of all these rulesets by precedence, smallest first. Empty for a ruleset that decides alone.
    pub joint_ranks: Vec<u32>,
}
