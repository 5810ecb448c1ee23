//! The bytes of one ruleset's automaton: [`Draft`] is what a writer hands in, [`Automaton`] what a reader sees.
//!
//! The terms and constants are here, the writer in `write.rs` and the reader beside it in `read.rs`. Holds no walk (that is
//! [`crate::automaton`]) and no construction (that is the compiler's).
//!
//! An automaton is a deterministic machine over the bytes of a path, factored at the wildcards of its patterns:
//!
//! - The **trie** is a tree of [`State`]s for the text in front of each pattern's first wildcard. It is anchored at
//!   the start of the path, and a byte without a transition ends it.
//! - A **wildcard** is a machine that looks for the segments which follow a wildcard. It starts where the trie (or another
//!   wildcard) reached it and runs to the end of the path. Its states have *default transitions*: a byte without a
//!   transition of the state's own is taken from the wildcard's resting state, and where that has none either, the
//!   machine rests.
//! - **FallbackPattern** patterns are the few that the compiler keeps out of the machine because their wildcards nest too
//!   deep or branch too wide; they are tried one by one.
//!
//! A state accepts *ranks*. A rank is twice a rule's place in the order of precedence, plus one for a disallow,
//! so that the smaller rank is the rule that wins.
//!
//! A state of the trie knows what has been accepted on the way to it, so that a walk through the trie looks at no
//! ranks before it has ended: mostly two bits of the last state are the verdict.

mod read;
mod write;

pub use read::{
    Automaton, Children, Corrupt, FallbackReader, Segments, StateView, TrieEnd, Width, WildcardView, width,
};
pub use write::write;

use crate::platform::Fingerprints;
use crate::verdict::RuleKind;

/// Stands for "no rank". Greater than every rank.
pub const NO_RANK: u32 = u32::MAX;

/// The most rules that one ruleset can have.
pub const MAX_RULES: usize = 1 << 30;

/// Bytes of all patterns of a ruleset, for listing them; a robots.txt whose patterns take more is none that the
/// compiler accepts. Decisions do not depend on it.
pub const MAX_PATTERNS_BYTES: usize = 64 << 20;

/// How deep wildcards may nest. Bounds the stack of a walk.
pub const MAX_WILDCARD_DEPTH: usize = 16;

/// How many wildcards one wildcard may lead to. They are ticked off in a 64-bit word.
pub const MAX_WILDCARD_BRANCHES: usize = 64;

/// The rank of the rule at `place` in the order of precedence.
#[must_use]
pub const fn rank(place: u32, kind: RuleKind) -> u32 {
    place * 2 + kind as u32
}

/// The kind of rule that a rank stands for.
#[must_use]
pub const fn kind_of(rank: u32) -> RuleKind {
    if rank & 1 == 0 { RuleKind::Allow } else { RuleKind::Disallow }
}

/// The best ranks of the two kinds of rule: `[allow, disallow]`, each [`NO_RANK`] if there is none.
pub type Ranks = [u32; 2];

/// In a state of the trie, in place of the number of the chain for verdicts: a verdict needs all wildcards, also those that
/// [`WildcardAutomaton::deciding`] leaves out. Holds behind the state, too, up to the next that has a wildcard.
pub const NEEDS_ALL: u8 = 1;

/// In place of a wildcard: none.
pub const NO_WILDCARD: u32 = u32::MAX;

/// Neither kind.
pub const NO_RANKS: Ranks = [NO_RANK; 2];

/// A state: the bytes that lead through it, what it accepts behind them, and where it goes from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State<'t> {
    /// Bytes that must follow the transition into the state, up to 255 of them. In a wildcard, a byte that differs
    /// goes on from the resting state, so the compiler puts there only what may be forgotten.
    pub label: &'t [u8],
    /// Accepted as soon as the label is read. In the trie: the best of all that is accepted on the way through the
    /// state, or nothing if that is what it was before the state.
    pub accept: Ranks,
    /// Accepted if the path ends behind the label. In the trie: if there is any, with what is accepted anyhow.
    pub accept_at_end: Ranks,
    /// In the trie: whether of all that is accepted on the way through the state a disallow is the best.
    pub disallows: bool,
    /// In the trie: as `disallows`, if the path ends behind the label.
    pub disallows_at_end: bool,
    /// In the trie: whether no wildcard that has begun on the way through the state could change the verdict.
    pub settled: bool,
    /// The wildcards that begin behind the label: index of the wildcard, and its number among those that the machine
    /// holding this state leads to, so that each begins once only.
    ///
    /// In the trie there are none or two, each the first of a chain, or [`NO_WILDCARD`]. The first chain is for verdicts: its
    /// number is 0, and it goes on with the [`WildcardAutomaton::deciding`] of each [`WildcardAutomaton::next`], or it is [`NEEDS_ALL`]. The
    /// second is of all wildcards that have begun on the way, with the number 0, and goes on with [`WildcardAutomaton::next`].
    pub wildcards: &'t [(u8, u32)],
    /// Transitions by byte, in the order of the bytes, to indices of states.
    pub children: &'t [(u8, u32)],
}

/// A wildcard: its resting state, and the best ranks that it can lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WildcardAutomaton<'t> {
    /// The best ranks below this wildcard, also of wildcards that it leads to.
    pub best: Ranks,
    /// Where in the path it begins, if it begins in the trie.
    pub from: u32,
    /// The index of the next of the wildcards that begin in the trie on the way to where this one does.
    pub next: Option<u32>,
    /// The index of the first wildcard from this one on, along `next`, that a verdict needs: this one, one that follows, or
    /// none. Those left out lead to rules that only matter for naming the best rule, unless the state of the trie in
    /// which the walk ends, or one before it, says [`NEEDS_ALL`].
    pub deciding: Option<u32>,
    /// What the segments begin with.
    pub fingerprints: Box<Fingerprints>,
    /// The resting state's transitions by byte, in the order of the bytes, to indices of states. Not empty.
    pub children: &'t [(u8, u32)],
}

/// A pattern that is tried by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FallbackPattern<'t> {
    /// The rule's rank.
    pub rank: u32,
    /// Whether the last segment must end the path.
    pub anchored: bool,
    /// The literal segments with a wildcard between each two; the first is at the start of the path and may be empty.
    pub text: &'t [u8],
}

/// The automaton of one ruleset, before it is bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft<'t> {
    /// How many rules ranks may stand for.
    pub rule_count: u32,
    /// The states of the trie and of all wildcards. The trie's first state, if there is a trie, is the first.
    pub states: Vec<State<'t>>,
    /// The wildcards.
    pub wildcards: Vec<WildcardAutomaton<'t>>,
    /// Whether `states` begins with a trie.
    pub has_trie: bool,
    /// In the order of their ranks.
    pub fallbacks: Vec<FallbackPattern<'t>>,
    /// The patterns that cannot be read off the trie, by rank: all but plain prefixes and whole paths.
    pub texts: Vec<(u32, &'t [u8])>,
    /// The rank of the rule with an empty pattern, which decides nothing but is named when no other matches.
    pub otherwise: Option<u32>,
    /// For a ruleset that decides together with others: for each rule by place, a number that orders the rules of
    /// all of them by precedence, the smaller first. Empty for a ruleset that decides alone.
    pub keys: Vec<u32>,
}

const HEADER_BYTES: usize = 32;

/// Label length, flags, children, lowest child: a byte each.
const STATE_HEADER_BYTES: usize = 4;

const FLAG_DISALLOWS: u8 = 0x10;
const FLAG_DISALLOWS_AT_END: u8 = 0x20;
const FLAG_WILDCARDS: u8 = 0x40;
const FLAG_SETTLED: u8 = 0x80;

/// Up to this many children are looked for among all of them; more get a table indexed by the byte.
const LIST_MAX: usize = 7;

/// How many bytes a list of children takes at most. A reader takes so many at once where fewer may be left: as many
/// follow every list.
const fn list_max_bytes(width: usize) -> usize {
    LIST_MAX * (1 + width)
}
