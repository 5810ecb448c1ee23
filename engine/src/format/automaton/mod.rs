//! The bytes of one ruleset's automaton: [`Draft`] is what a writer takes, [`Automaton`] is what a reader views.
//!
//! Defines the terms, the constants and the invariants. The writer is in `write.rs`, the reader for walks in `read.rs`,
//! the reader that turns the whole automaton back into a draft in `decode.rs`. The walk is in [`crate::automaton`], and
//! the construction is in the compiler.
//!
//! An automaton is a deterministic machine over the bytes of a path, factored at the wildcards of its patterns:
//!
//! - The **prefix trie** is a radix tree of [`State`]s over the text before each pattern's first wildcard. It is
//!   anchored at the start of the path, and a byte without a transition ends the walk through it.
//! - A **wildcard automaton** looks for the segments that may follow a wildcard. It begins where the trie (or another
//!   wildcard automaton) has read the text before the wildcard, and runs to the end of the path. It is the machine of Aho
//!   and Corasick (1975): a byte without a transition of the state's own is taken from the root, and if the root has none
//!   either, the automaton stays at the root.
//! - **Fallback patterns** are the few patterns that the compiler keeps out of the automata because a limit was met.
//!   They are tried one by one.
//!
//! A state accepts *ranks*. A rank is twice a rule's place in the order of precedence, plus one for a disallow. The
//! smaller rank wins, an even rank allows, an odd rank disallows, and `rank / 2` is the rule's place.
//!
//! A trie state knows what has been accepted on the way to it, so that a walk through the trie looks at no ranks until
//! it ends: mostly two bits of the last state are the verdict.
//!
//! # Invariants
//!
//! Comments in the code refer to these by name. *Checked* says where a violation is refused; everything else is proved
//! by compiling the listed rules again and comparing the bytes, as the compiler's `recompile` does.
//!
//! **Ranks.** Every rule has exactly one rank, and the places are `0..rule_count` without a gap. Allows are even, disallows
//! odd. Checked by `verify`.
//!
//! **Leftmost.** A wildcard automaton begins at the leftmost place where the text before its wildcard ends, and it
//! begins once. That suffices: the wildcard matches any run of bytes, so whatever follows a later place also follows
//! the leftmost one. In the trie that place is [`WildcardAutomaton::from`], the length of the text before the wildcard.
//! After a segment it is the end of the segment's first occurrence, and the automaton that found it remembers in one
//! 64-bit word which of the automata after it have begun ([`MAX_WILDCARD_BRANCHES`]).
//!
//! **Lists end.** The wildcard automata that begin in the trie form linked lists, along [`WildcardAutomaton::next`] and
//! along [`WildcardAutomaton::deciding`]. `next` is a smaller offset than the automaton's own, `deciding` a smaller one or
//! its own, so that every list ends. Checked by the reader, for each automaton that it views.
//!
//! **Lists are complete.** The list of all wildcard automata at a trie state has every automaton that begins on the way
//! to the state. Only those are omitted that begin before a state at which none of them could lead to a rule better
//! than what was accepted. Each automaton of the list begins no later than the state does. Checked by `verify`: where
//! each begins, and that a state which omits a kind of rule has accepted a better rule of that kind.
//!
//! **Joined.** One wildcard automaton may serve two wildcards of the trie, if the text between them cannot be the
//! beginning of a segment of the second: then looking for those segments from the first place on finds nothing that
//! lies between the two places.
//!
//! **Left out.** A verdict may leave out a wildcard automaton only if that cannot change the verdict: every rule that
//! the automaton leads to has another rule of the same kind that matches whenever it does, and no rule of the other
//! kind comes between the two in the order of precedence. From the first trie state on where that does not hold, states
//! say [`NEEDS_ALL`]. The deciding rule that is named always comes from the list of all. Checked by `verify`, as far as
//! kinds of rule matter.
//!
//! **Settled.** A trie state is settled if no wildcard automaton that a verdict needs there leads to a smaller rank
//! than the best that was accepted. Then the walk needs only the state's flags. Checked by `verify`.
//!
//! **Nesting.** A wildcard automaton comes after those that it leads to, so that there are no circles, and at most
//! [`MAX_WILDCARD_DEPTH`] nest. Every state belongs to the trie or to exactly one wildcard automaton. Checked by
//! `verify`; a walk over unverified bytes enforces it by counting.
//!
//! **Machine.** A wildcard automaton is the Aho-Corasick automaton of its segments. Each state inherits the transitions
//! and results of the state for its text's longest suffix. Checked by `verify`.
//!
//! **Fingerprints pass.** Fingerprints pass every place where a segment begins. Passing additional places only costs
//! time. Checked by `verify`.
//!
//! **Passes.** A decision goes over one path at most [`MAX_PASSES`] times, through the trie, wildcard automata and fallback
//! patterns together. Checked by `verify`; a walk over unverified bytes enforces it by counting.
//!
//! **Listed.** Every rule can be listed. The table of texts has the patterns that cannot be read from the trie:
//! patterns with a wildcard, patterns that are shown otherwise than they are matched, and patterns that a better rule
//! of their kind shadows. No pattern of the table is also in the trie. Checked by `verify`.
//!
//! **Written form.** The bytes are those that [`write()`] writes for the automaton that they hold: the width of the
//! numbers, the order of the parts, the sharing of fingerprints, whether children are a list or a table, the zeros.
//! Nothing is unreferenced, nothing overlaps. Only the choice of what refers to what is free. Checked by `verify`, in
//! linear time.
//!
//! **Fingerprints last.** The fingerprints are the last part of an automaton, and are referred to by their index, so
//! that a set can store an automaton without them: [`without_fingerprints`] cuts them off, and a walk takes them from
//! what rulesets share ([`Automaton::sharing`]).

mod decode;
pub(crate) mod error;
mod fingerprints;
mod read;
mod write;

pub use decode::{Decoded, decode};
pub use error::Corrupt;
pub(crate) use error::corrupt;
pub(crate) use fingerprints::passes_start;
pub use fingerprints::{start_of, write_fingerprints};
pub use read::{
    Automaton, Children, FallbackReader, Segments, StateView, TrieEnd, Width, WildcardView, at_fingerprints, header,
    known_width, width, without_fingerprints,
};
pub use write::{fallback_bytes, write};

use crate::platform::Fingerprints;
use crate::verdict::RuleKind;

/// Means "no rank". Greater than every rank.
pub const NO_RANK: u32 = u32::MAX;

/// The most rules of one ruleset. Leaves two bits of a stored rank free for [`TextFlags`].
pub const MAX_RULES: usize = 1 << 29;

/// The most bytes that all patterns of a ruleset take when they are listed. The compiler accepts no robots.txt whose
/// patterns take more. Decisions do not depend on it.
pub const MAX_PATTERNS_BYTES: usize = 64 << 20;

/// The most wildcard automata that nest. Bounds the stack of a walk.
pub const MAX_WILDCARD_DEPTH: usize = 16;

/// The most wildcard automata that one wildcard automaton may lead to. Those that have begun are bits of one 64-bit
/// word.
pub const MAX_WILDCARD_BRANCHES: usize = 64;

/// The most wildcard automata of a ruleset. The compiler makes fewer than 9,000.
pub const MAX_WILDCARDS: usize = 1 << 14;

/// The most passes over one path that a decision takes: one through the trie of each ruleset that decides, one for each
/// wildcard automaton that may begin, and one for each fallback pattern whose text before the first wildcard the path
/// may begin with. Bounds the time of one decision. [`passes`](crate::automaton::passes) counts them for a ruleset.
///
/// With a path of 64 KiB, the longest, this is 16 million bytes that are looked at. The most among 4,231 real files
/// is 37.
pub const MAX_PASSES: usize = 256;

/// The most bytes that all fallback patterns of a ruleset take as stored, and the most that one walk reads, which gives
/// an error at the limit. Each pattern takes at least 16 bytes, so that this also bounds their number. No real file has
/// any.
pub const MAX_FALLBACK_BYTES: usize = 2 << 20;

/// The rank of the rule at `place` in the order of precedence.
#[must_use]
pub const fn rank(place: u32, kind: RuleKind) -> u32 {
    place * 2 + kind as u32
}

/// The kind of the rule with this rank.
#[must_use]
pub const fn kind_of(rank: u32) -> RuleKind {
    if rank & 1 == 0 { RuleKind::Allow } else { RuleKind::Disallow }
}

/// The best ranks of the two kinds of rule: `[allow, disallow]`, each [`NO_RANK`] if there is none.
pub type Ranks = [u32; 2];

/// In a trie state, replaces the number 0 of the list for verdicts: a verdict needs every wildcard automaton, including
/// those that [`WildcardAutomaton::deciding`] leaves out. Also holds in the states after this one, up to the next in
/// which a wildcard begins.
pub const NEEDS_ALL: u8 = 1;

/// Means "no wildcard automaton" in place of an index.
pub const NO_WILDCARD: u32 = u32::MAX;

/// No rank of either kind of rule.
pub const NO_RANKS: Ranks = [NO_RANK; 2];

/// A state: the bytes that lead through it, what it accepts after them, and where it goes from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State<'t> {
    /// Bytes that must follow the transition into the state, up to 255 of them. In a wildcard automaton a byte that
    /// differs is taken from the root, so the compiler makes a label only of a run of states whose failure link is the
    /// root.
    pub label: &'t [u8],
    /// The ranks accepted as soon as the label is read. In the trie: the best of all ranks accepted on the way through
    /// the state, or nothing if they are the same as before the state.
    pub accept: Ranks,
    /// The ranks accepted if the path ends after the label. In the trie, if there are any: the best of these and of all
    /// ranks accepted anyway.
    pub accept_at_end: Ranks,
    /// In the trie: whether the best rule accepted on the way through the state is a disallow.
    pub disallows: bool,
    /// In the trie: like `disallows`, but for a path that ends after the label.
    pub disallows_at_end: bool,
    /// In the trie: whether no wildcard automaton that has begun on the way could change the verdict (*settled*).
    pub settled: bool,
    /// The wildcard automata that begin after the label: a number, and the index of the automaton. In a wildcard
    /// automaton the number identifies each automaton that it leads to, so that each begins only once.
    ///
    /// A trie state has either no entry or two, each of them the first of a linked list, or [`NO_WILDCARD`]. The first
    /// list is for verdicts: its number is 0, and it continues with the [`WildcardAutomaton::deciding`] of each
    /// [`WildcardAutomaton::next`]; or its number is [`NEEDS_ALL`]. The second is the list of all automata that have
    /// begun on the way: its number is 0, and it continues with [`WildcardAutomaton::next`].
    pub wildcards: &'t [(u8, u32)],
    /// Transitions by byte, in the order of the bytes, to indices of states.
    pub children: &'t [(u8, u32)],
}

/// A wildcard automaton: its root, and the best ranks that it can lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WildcardAutomaton<'t> {
    /// The best ranks of the automaton's states, including those of the automata that it leads to.
    pub best: Ranks,
    /// The offset in the path where it begins, if it begins in the trie; otherwise 0.
    pub from: u32,
    /// The index of the next automaton in the list of those that have begun in the trie by the time this one does.
    pub next: Option<u32>,
    /// The index of the first automaton from this one on, along `next`, that a verdict needs: this one, a later one, or
    /// none (*left out*).
    pub deciding: Option<u32>,
    /// Fingerprints of the first bytes of the segments.
    pub fingerprints: &'t Fingerprints,
    /// The root's transitions by byte, in the order of the bytes, to indices of states. Not empty.
    pub children: &'t [(u8, u32)],
}

/// A fallback pattern: it is tried by itself, outside of the automata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FallbackPattern<'t> {
    /// The rule's rank.
    pub rank: u32,
    /// Whether the last segment must end the path.
    pub anchored: bool,
    /// The literal segments, with a wildcard between each two. The first is at the start of the path and may be empty.
    pub text: &'t [u8],
}

/// Flags of a pattern in the table of texts. Stored in the two highest bits of its rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextFlags {
    /// The rule matches the directory of the index page that the pattern shows: it matches the pattern up to and
    /// including the last slash, and nothing after it.
    pub opens_directory: bool,
    /// Every `*` and `$` of the pattern is a literal byte. In the matched text they are written as bytes 00 and 0A, as
    /// in [`NormalForm`](crate::norm::NormalForm)s without operators.
    pub is_literal: bool,
}

impl TextFlags {
    /// The two highest bits of a number of `W` bytes.
    const fn bits<const W: usize>() -> (u32, u32) {
        (1 << (8 * W - 1), 1 << (8 * W - 2))
    }

    /// Splits a rank that is stored in `W` bytes into flags and rank.
    const fn split<const W: usize>(stored: u32) -> (TextFlags, u32) {
        let (opens, literal) = TextFlags::bits::<W>();
        let flags = TextFlags { opens_directory: stored & opens != 0, is_literal: stored & literal != 0 };
        (flags, stored & !(opens | literal))
    }

    /// A rank with these flags, as it is stored in `W` bytes.
    const fn join<const W: usize>(self, rank: u32) -> u32 {
        let (opens, literal) = TextFlags::bits::<W>();
        rank | if self.opens_directory { opens } else { 0 } | if self.is_literal { literal } else { 0 }
    }
}

/// A pattern of the table of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text<'t> {
    /// The rule's rank.
    pub rank: u32,
    /// How the pattern is to be read.
    pub flags: TextFlags,
    /// The pattern as it is shown.
    pub pattern: &'t [u8],
}

/// The automaton of one ruleset, before it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft<'t> {
    /// The number of rules in the ruleset.
    pub rule_count: u32,
    /// The states of the trie and of all wildcard automata. If there is a trie, its root is the first.
    pub states: Vec<State<'t>>,
    /// The wildcard automata.
    pub wildcards: Vec<WildcardAutomaton<'t>>,
    /// Whether `states` begins with a trie.
    pub has_trie: bool,
    /// The fallback patterns, in the order of their ranks.
    pub fallbacks: Vec<FallbackPattern<'t>>,
    /// The patterns that cannot be read from the trie, in the order of their ranks (*listed*).
    pub texts: Vec<Text<'t>>,
    /// The rank of the rule with an empty pattern, which decides nothing but is named if no other rule matches.
    pub otherwise: Option<u32>,
    /// For a ruleset that decides together with others: a joint rank for each rule by place, which orders the rules of
    /// all these rulesets by precedence, the smaller first. Empty for a ruleset that decides alone.
    pub joint_ranks: Vec<u32>,
}

/// The most rules of an automaton with numbers of two bytes: ranks leave two bits of a stored rank free for
/// [`TextFlags`].
const MAX_RULES_OF_TWO_BYTES: u32 = 1 << 13;

/// The numbers of the header, in their order. The width comes before them.
#[derive(Clone, Copy)]
enum Field {
    /// The number of rules.
    Rules,
    /// The offset of the trie's root, or 0.
    Trie,
    /// The offset of the fallback patterns, or 0.
    Fallbacks,
    /// The offset of the texts, or 0.
    Texts,
    /// The offset of the joint ranks, or 0.
    JointRanks,
    /// The offset at which everything else ends: that of the fingerprints, if there are any.
    Fingerprints,
    /// The rank of the rule with an empty pattern.
    Otherwise,
    /// The number of wildcard automata.
    Wildcards,
}

impl Field {
    /// The number of fields.
    const COUNT: usize = 8;

    /// The offset of the field if numbers have `width` bytes.
    const fn at(self, width: usize) -> usize {
        1 + self as usize * width
    }
}

/// The bytes of the header: the width of the numbers, then its fields.
const fn header_bytes(width: usize) -> usize {
    1 + Field::COUNT * width
}

/// The bytes of a state's header: label length, flags, children.
const STATE_HEADER_BYTES: usize = 3;

/// The bytes of a wildcard automaton before its transitions: children, and six numbers.
const fn wildcard_header_bytes(width: usize) -> usize {
    1 + 6 * width
}

/// The bytes of a fallback pattern's header, four for each field: rank, whether anchored, number of segments, bytes of
/// segments.
const FALLBACK_HEADER_BYTES: usize = 16;

const FLAG_DISALLOWS: u8 = 0x10;
const FLAG_DISALLOWS_AT_END: u8 = 0x20;
const FLAG_WILDCARDS: u8 = 0x40;
const FLAG_SETTLED: u8 = 0x80;

/// The most children that are searched as a list; more get a table indexed by the byte.
const LIST_MAX: usize = 7;

/// The most bytes that a list of children takes. A reader takes this many at once, even if the list is shorter: at
/// least as many bytes follow every list.
const fn list_max_bytes(width: usize) -> usize {
    LIST_MAX * (1 + width)
}
