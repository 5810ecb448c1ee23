//! The bytes of one ruleset's automaton: [`Draft`] is what a writer hands in, [`Automaton`] what a reader sees.
//!
//! The terms and constants are here, the writer in `write.rs` and the reader beside it in `read.rs`. Holds no walk (that is
//! [`crate::automaton`]) and no construction (that is the compiler's).
//!
//! An automaton is a deterministic machine over the bytes of a path, factored at the stars of its patterns:
//!
//! - The **head** is a tree of [`State`]s for the text in front of each pattern's first star. It is anchored at
//!   the start of the path, and a byte without a transition ends it.
//! - A **star** is a machine that looks for the pieces which follow a star. It starts where the head (or another
//!   star) reached it and runs to the end of the path. Its states have *default transitions*: a byte without a
//!   transition of the state's own is taken from the star's resting state, and where that has none either, the
//!   machine rests.
//! - **Listed** patterns are the few that the compiler keeps out of the machine because their stars nest too
//!   deep or branch too wide; they are tried one by one.
//!
//! A state accepts *codes*. A code is twice a rule's rank in the order of precedence, plus one for a disallow,
//! so that the smaller code is the rule that wins.
//!
//! A state of the head knows what has been accepted on the way to it, so that a walk through the head looks at no
//! codes before it has ended: mostly two bits of the last state are the verdict.

mod read;
mod write;

pub use read::{Automaton, Children, Corrupt, HeadEnd, ListedReader, Pieces, StarView, StateView, Width, width};
pub use write::write;

use crate::platform::Fingerprints;
use crate::verdict::RuleKind;

/// Stands for "no code". Greater than every code.
pub const NO_CODE: u32 = u32::MAX;

/// The most rules that one ruleset can have.
pub const MAX_RULES: usize = 1 << 30;

/// Bytes of all patterns of a ruleset, for listing them; a robots.txt whose patterns take more is none that the
/// compiler accepts. Decisions do not depend on it.
pub const MAX_PATTERNS_BYTES: usize = 64 << 20;

/// How deep stars may nest. Bounds the stack of a walk.
pub const MAX_STAR_DEPTH: usize = 16;

/// How many stars one star may lead to. They are ticked off in a 64-bit word.
pub const MAX_STAR_BRANCHES: usize = 64;

/// The code of the rule at `rank` in the order of precedence.
#[must_use]
pub const fn code(rank: u32, kind: RuleKind) -> u32 {
    rank * 2 + kind as u32
}

/// The kind of rule that a code stands for.
#[must_use]
pub const fn kind_of(code: u32) -> RuleKind {
    if code & 1 == 0 { RuleKind::Allow } else { RuleKind::Disallow }
}

/// The best codes of the two kinds of rule: `[allow, disallow]`, each [`NO_CODE`] if there is none.
pub type Codes = [u32; 2];

/// In a state of the head, in place of the number of the chain for verdicts: a verdict needs all stars, also those that
/// [`Star::deciding`] leaves out. Holds behind the state, too, up to the next that has a star.
pub const NEEDS_ALL: u8 = 1;

/// In place of a star: none.
pub const NO_STAR: u32 = u32::MAX;

/// Neither kind.
pub const NO_CODES: Codes = [NO_CODE; 2];

/// A state: the bytes that lead through it, what it accepts behind them, and where it goes from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State<'t> {
    /// Bytes that must follow the transition into the state, up to 255 of them. In a star, a byte that differs
    /// goes on from the resting state, so the compiler puts there only what may be forgotten.
    pub label: &'t [u8],
    /// Accepted as soon as the label is read. In the head: the best of all that is accepted on the way through the
    /// state, or nothing if that is what it was before the state.
    pub accept: Codes,
    /// Accepted if the path ends behind the label. In the head: if there is any, with what is accepted anyhow.
    pub accept_at_end: Codes,
    /// In the head: whether of all that is accepted on the way through the state a disallow is the best.
    pub disallows: bool,
    /// In the head: as `disallows`, if the path ends behind the label.
    pub disallows_at_end: bool,
    /// In the head: whether no star that has begun on the way through the state could change the verdict.
    pub settled: bool,
    /// The stars that begin behind the label: index of the star, and its number among those that the machine
    /// holding this state leads to, so that each begins once only.
    ///
    /// In the head there are none or two, each the first of a chain, or [`NO_STAR`]. The first chain is for verdicts: its
    /// number is 0, and it goes on with the [`Star::deciding`] of each [`Star::next`], or it is [`NEEDS_ALL`]. The
    /// second is of all stars that have begun on the way, with the number 0, and goes on with [`Star::next`].
    pub stars: &'t [(u8, u32)],
    /// Transitions by byte, in the order of the bytes, to indices of states.
    pub children: &'t [(u8, u32)],
}

/// A star: its resting state, and the best codes that it can lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Star<'t> {
    /// The best codes below this star, also of stars that it leads to.
    pub best: Codes,
    /// Where in the path it begins, if it begins in the head.
    pub from: u32,
    /// The index of the next of the stars that begin in the head on the way to where this one does.
    pub next: Option<u32>,
    /// The index of the first star from this one on, along `next`, that a verdict needs: this one, one that follows, or
    /// none. Those left out lead to rules that only matter for naming the best rule, unless the state of the head in
    /// which the walk ends, or one before it, says [`NEEDS_ALL`].
    pub deciding: Option<u32>,
    /// What the pieces begin with.
    pub fingerprints: Box<Fingerprints>,
    /// The resting state's transitions by byte, in the order of the bytes, to indices of states. Not empty.
    pub children: &'t [(u8, u32)],
}

/// A pattern that is tried by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<'t> {
    /// The rule's code.
    pub code: u32,
    /// Whether the last piece must end the path.
    pub anchored: bool,
    /// The literal pieces with a star between each two; the first is at the start of the path and may be empty.
    pub text: &'t [u8],
}

/// The automaton of one ruleset, before it is bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft<'t> {
    /// How many rules codes may stand for.
    pub rule_count: u32,
    /// The states of the head and of all stars. The head's first state, if there is a head, is the first.
    pub states: Vec<State<'t>>,
    /// The stars.
    pub stars: Vec<Star<'t>>,
    /// Whether `states` begins with a head.
    pub has_head: bool,
    /// In the order of their codes.
    pub listed: Vec<Listed<'t>>,
    /// The patterns that cannot be read off the head, by code: all but plain prefixes and whole paths.
    pub texts: Vec<(u32, &'t [u8])>,
    /// The code of the rule with an empty pattern, which decides nothing but is named when no other matches.
    pub otherwise: Option<u32>,
    /// For a ruleset that decides together with others: for each rule by rank, a number that orders the rules of
    /// all of them by precedence, the smaller first. Empty for a ruleset that decides alone.
    pub keys: Vec<u32>,
}

const HEADER_BYTES: usize = 32;

/// Label length, flags, children, lowest child: a byte each.
const STATE_HEADER_BYTES: usize = 4;

const FLAG_DISALLOWS: u8 = 0x10;
const FLAG_DISALLOWS_AT_END: u8 = 0x20;
const FLAG_STARS: u8 = 0x40;
const FLAG_SETTLED: u8 = 0x80;

/// Up to this many children are looked for among all of them; more get a table indexed by the byte.
const LIST_MAX: usize = 7;

/// How many bytes a list of children takes at most. A reader takes so many at once where fewer may be left: as many
/// follow every list.
const fn list_max_bytes(width: usize) -> usize {
    LIST_MAX * (1 + width)
}
