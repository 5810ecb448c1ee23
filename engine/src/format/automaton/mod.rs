//! The byte encoding of a ruleset's automaton: writers take a [`AutomatonDraft`], readers view an [`Automaton`].
//!
//! Defines the terms, constants and invariants. `write.rs` has the writer and `read.rs` the reader for walks;
//! `decode.rs` turns a whole automaton back into a draft. The walk is in [`crate::automaton`], and the construction is
//! in the compiler.
//!
//! An automaton is a deterministic machine over a path's bytes, factored at its patterns' wildcards:
//!
//! - The **prefix trie** is a radix tree of [`State`]s over the text before each pattern's first wildcard. It is
//!   anchored at the path's start. A byte without a transition ends the walk through it.
//! - A **wildcard automaton** looks for the segments that may follow a wildcard. It begins where the trie (or another
//!   wildcard automaton) has read the text before the wildcard, and runs to the end of the path. It is an Aho-Corasick
//!   machine (1975): if a state has no transition for a byte, the root's is taken; without one, the automaton stays at
//!   the root.
//! - **Fallback patterns** are the few patterns that the compiler keeps out of the automata because a limit was met.
//!   They are tried individually.
//!
//! A state accepts *ranks*. A rank is twice a rule's place in precedence order, plus one for a disallow. The smaller
//! rank wins, an even rank allows, an odd rank disallows, and `rank / 2` is the rule's place.
//!
//! A trie state summarizes the ranks accepted on the way to it. A walk through the trie therefore ignores ranks until
//! it ends, when usually two bits of the last state determine the verdict.
//!
//! # Invariants
//!
//! Comments in the code refer to these by name. *Checked* names the code that rejects a violation. To prove the rest,
//! compile the listed rules again and compare the bytes, as the compiler's `recompile` does.
//!
//! **Ranks.** Every rule has exactly one rank, and the places are `0..rule_count` without gaps. Allows are even,
//! disallows odd. Checked by `verify`.
//!
//! **Leftmost.** A wildcard automaton begins once, at the leftmost place where the text before its wildcard ends. This
//! suffices because the wildcard matches any bytes, so any text after a later place is also after the leftmost one. In
//! the trie that place is [`WildcardAutomaton::from`], the length of the text before the wildcard. After a segment it
//! is the end of the segment's first occurrence, and the automaton that found it records in a 64-bit word which
//! following automata have begun ([`MAX_WILDCARD_BRANCHES`]).
//!
//! **Lists end.** The wildcard automata that begin in the trie form linked lists, along [`WildcardAutomaton::next`] and
//! [`WildcardAutomaton::deciding`]. `next` is smaller than the automaton's own offset, and `deciding` is smaller or
//! equal, so every list ends. Checked by the reader for each automaton that it views.
//!
//! **Lists are complete.** A trie state's list of all wildcard automata contains every automaton that begins on the way
//! to the state. An automaton is only omitted if it begins before a state at which it could not lead to a rule better
//! than those already accepted. Each automaton in the list begins at or before the state's place. `verify` checks where
//! each automaton begins, and that a state that omits a kind of rule has accepted a better rule of that kind.
//!
//! **Joined.** One wildcard automaton may serve two wildcards in the trie if the text between them cannot begin a
//! segment of the second. Searching for those segments from the first place then finds nothing between the two places.
//!
//! **Left out.** A verdict may leave out a wildcard automaton only if that cannot change the verdict: for every rule
//! that the automaton leads to, another rule of the same kind matches whenever it does, and no rule of the other kind
//! comes between the two in precedence order. From the first trie state where this does not hold, states use
//! [`NEEDS_ALL`]. The deciding rule that is reported always comes from the list of all automata. Checked by `verify`,
//! as far as kinds of rule matter.
//!
//! **Settled.** A trie state is settled if none of the wildcard automata that a verdict needs there leads to a smaller
//! rank than the best accepted rank. The walk then needs only the state's flags. Checked by `verify`.
//!
//! **Nesting.** A wildcard automaton comes after those that it leads to, so there are no cycles, and at most
//! [`MAX_WILDCARD_DEPTH`] nest. Every state belongs to the trie or to exactly one wildcard automaton. Checked by
//! `verify`; a walk over unverified bytes enforces the limit by counting.
//!
//! **Machine.** A wildcard automaton is the Aho-Corasick automaton of its segments. Each state inherits the transitions
//! and results of the state for the longest suffix of its text. Checked by `verify`.
//!
//! **Fingerprints pass.** Fingerprints pass every place where a segment begins. Passing additional places only costs
//! time. Checked by `verify`.
//!
//! **Passes.** A decision makes at most [`MAX_PASSES`] passes over a path, through the trie, wildcard automata and
//! fallback patterns together. Checked by `verify`; a walk over unverified bytes enforces the limit by counting.
//!
//! **Listed.** Every rule can be listed. The text table contains the patterns that cannot be read from the trie:
//! patterns with a wildcard, patterns whose displayed form differs from their matched form, and patterns shadowed by a
//! better rule of their kind. No pattern in the table is also in the trie. Checked by `verify`.
//!
//! **Written form.** The bytes are those that [`write()`] writes for the automaton that they contain: number width,
//! part order, shared fingerprints, children as a list or a table, zeros. There are no unreferenced or overlapping
//! bytes. Only the references themselves are free. Checked by `verify`, in linear time.
//!
//! **Fingerprints last.** The fingerprints are the last part of an automaton and are referenced by index, so that a set
//! can store an automaton without them: [`without_fingerprints`] removes them, and a walk reads them from the rulesets'
//! shared fingerprints ([`Automaton::sharing`]).

mod decode;
pub(crate) mod error;
mod read;
mod write;

pub use decode::{Decoded, decode};
pub use error::Corrupt;
pub(crate) use error::corrupt;
pub use read::{
    Automaton, Children, FallbackReader, Segments, StateView, TrieEnd, Width, WildcardView, at_fingerprints, header,
    known_width, width, without_fingerprints,
};
pub use write::{fallback_bytes, write};

use super::fingerprints::Fingerprints;
use crate::verdict::RuleKind;

/// Means "no rank". Greater than every rank.
pub const NO_RANK: u32 = u32::MAX;

/// Maximum number of rules in a ruleset. Leaves two bits of a stored rank free for [`TextFlags`].
pub const MAX_RULES: usize = 1 << 29;

/// Maximum size of a ruleset's listed patterns in bytes. The compiler rejects a robots.txt that exceeds it. Decisions
/// do not depend on it.
pub const MAX_PATTERNS_BYTES: usize = 64 << 20;

/// Maximum nesting depth of wildcard automata. Bounds a walk's stack.
pub const MAX_WILDCARD_DEPTH: usize = 16;

/// Maximum number of wildcard automata that one wildcard automaton may lead to. A 64-bit word records which of them
/// have begun.
pub const MAX_WILDCARD_BRANCHES: usize = 64;

/// Maximum number of wildcard automata in a ruleset. The compiler creates fewer than 9,000.
pub const MAX_WILDCARDS: usize = 1 << 14;

/// Maximum number of passes over a path for one decision. Bounds its time.
///
/// There is one pass through the trie of each deciding ruleset, one for each wildcard automaton that may begin, and one
/// for each fallback pattern whose text before the first wildcard may start the path.
/// [`passes`](crate::automaton::passes) counts a ruleset's passes. With the longest path, 64 KiB, a decision reads at
/// most 16 million bytes. The maximum in 4,231 real files is 37 passes.
pub const MAX_PASSES: usize = 256;

/// Maximum stored size of a ruleset's fallback patterns in bytes. A walk that reads more returns an error. Each pattern
/// takes at least 16 bytes, so this also bounds their number. No real file has any.
pub const MAX_FALLBACK_BYTES: usize = 2 << 20;

/// Returns the rank of the rule at `place` in precedence order.
#[must_use]
pub const fn rank(place: u32, kind: RuleKind) -> u32 {
    place * 2 + kind as u32
}

/// Returns the kind of a rule with this rank.
#[must_use]
pub const fn kind_of(rank: u32) -> RuleKind {
    if rank & 1 == 0 { RuleKind::Allow } else { RuleKind::Disallow }
}

/// The best ranks of both kinds of rule: `[allow, disallow]`, [`NO_RANK`] if there is none.
pub type Ranks = [u32; 2];

/// Replaces the number 0 of a trie state's list for verdicts if a verdict needs every wildcard automaton, including
/// those that [`WildcardAutomaton::deciding`] leaves out. Also applies to the following states, up to the next one in
/// which a wildcard begins.
pub const NEEDS_ALL: u8 = 1;

/// An index that means "no wildcard automaton".
pub const NO_WILDCARD: u32 = u32::MAX;

/// No rank for either kind of rule.
pub const NO_RANKS: Ranks = [NO_RANK; 2];

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
    /// In the trie: whether no wildcard automaton that has begun on the way could change the verdict (*settled*).
    pub settled: bool,
    /// The wildcard automata that begin after the label: a number and the automaton's index. In a wildcard automaton
    /// the number identifies each automaton that it leads to, so that each begins only once.
    ///
    /// A trie state has no entry or two, each with the first automaton of a linked list or [`NO_WILDCARD`]. The first
    /// list is for verdicts: its number is 0, and it continues with the [`WildcardAutomaton::deciding`] of each
    /// [`WildcardAutomaton::next`]; or its number is [`NEEDS_ALL`]. The second list contains all automata that have
    /// begun on the way: its number is 0, and it continues with [`WildcardAutomaton::next`].
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

/// Flags of a pattern in the text table, stored in the two highest bits of its rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextFlags {
    /// The pattern shows a directory's index page and the rule also matches the directory: the pattern up to and
    /// including the last slash, with nothing after it.
    pub opens_directory: bool,
    /// Every `*` and `$` in the pattern is a literal byte. The matched text has bytes 00 and 0A instead, as in
    /// [`NormalForm`](crate::norm::NormalForm)s without operators.
    pub is_literal: bool,
}

impl TextFlags {
    /// Returns the two highest bits of a `W`-byte number.
    const fn bits<const W: usize>() -> (u32, u32) {
        (1 << (8 * W - 1), 1 << (8 * W - 2))
    }

    /// Splits a rank that is stored in `W` bytes into flags and rank.
    const fn split<const W: usize>(stored: u32) -> (TextFlags, u32) {
        let (opens, literal) = TextFlags::bits::<W>();
        let flags = TextFlags { opens_directory: stored & opens != 0, is_literal: stored & literal != 0 };
        (flags, stored & !(opens | literal))
    }

    /// Returns a rank with these flags, as stored in `W` bytes.
    const fn join<const W: usize>(self, rank: u32) -> u32 {
        let (opens, literal) = TextFlags::bits::<W>();
        rank | if self.opens_directory { opens } else { 0 } | if self.is_literal { literal } else { 0 }
    }
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

/// Maximum number of rules in an automaton with two-byte numbers. Ranks leave two bits of a stored rank free for
/// [`TextFlags`].
const MAX_RULES_OF_TWO_BYTES: u32 = 1 << 13;

/// The header's numbers in order. The width precedes them.
#[derive(Clone, Copy)]
enum HeaderField {
    /// The number of rules.
    Rules,
    /// The trie root's offset, or 0.
    Trie,
    /// The fallback patterns' offset, or 0.
    Fallbacks,
    /// The texts' offset, or 0.
    Texts,
    /// The joint ranks' offset, or 0.
    JointRanks,
    /// The offset at which the other parts end and the fingerprints begin, if there are any.
    Fingerprints,
    /// The rank of the rule with an empty pattern.
    Otherwise,
    /// The number of wildcard automata.
    Wildcards,
}

impl HeaderField {
    /// The number of fields.
    const COUNT: usize = 8;

    /// Returns the field's offset if numbers have `width` bytes.
    const fn at(self, width: usize) -> usize {
        1 + self as usize * width
    }
}

/// Returns the header's size in bytes: the width and the fields.
const fn header_bytes(width: usize) -> usize {
    1 + HeaderField::COUNT * width
}

/// State header size in bytes: label length, flags, children.
const STATE_HEADER_BYTES: usize = 3;

/// Returns the size of a wildcard automaton before its transitions in bytes: children, and six numbers.
const fn wildcard_header_bytes(width: usize) -> usize {
    1 + 6 * width
}

/// Size of a fallback pattern's header in bytes, four for each field: rank, anchored, number of segments, size of the
/// segments.
const FALLBACK_HEADER_BYTES: usize = 16;

const FLAG_DISALLOWS: u8 = 0x10;
const FLAG_DISALLOWS_AT_END: u8 = 0x20;
const FLAG_WILDCARDS: u8 = 0x40;
const FLAG_SETTLED: u8 = 0x80;

/// Maximum number of children that are stored as a list. More children get a table indexed by byte.
const LIST_MAX: usize = 7;

/// Returns the maximum size of a child list in bytes.
///
/// A reader loads this many bytes at once even if the list is shorter, so at least this many bytes follow every list.
const fn list_max_bytes(width: usize) -> usize {
    LIST_MAX * (1 + width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns flags and rank by arithmetic: the highest bit, the next one, and the rest.
    fn split_slowly(stored: u32, highest: u32) -> (TextFlags, u32) {
        let flags = TextFlags { opens_directory: stored / highest == 1, is_literal: stored % highest >= highest / 2 };
        (flags, stored % (highest / 2))
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn flags_are_the_highest_bits_of_every_number() {
        for stored in 0..=u32::from(u16::MAX) {
            let (flags, rank) = TextFlags::split::<2>(stored);
            assert_eq!((flags, rank), split_slowly(stored, 1 << 15), "{stored}");
            assert_eq!(flags.join::<2>(rank), stored);
            for other in [stored << 16, stored << 16 | 0xFFFF, stored, stored | 0xC000_0000] {
                let (flags, rank) = TextFlags::split::<4>(other);
                assert_eq!((flags, rank), split_slowly(other, 1 << 31), "{other}");
                assert_eq!(flags.join::<4>(rank), other);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn ranks_of_every_place_leave_the_bits_of_the_flags_free() {
        let of_two_bytes = (0..MAX_RULES_OF_TWO_BYTES).map(|place| (place, (1 << 14) - 1));
        let largest = MAX_RULES as u32 - 1;
        let of_four_bytes = (0..=65_536).chain(largest - 65_536..=largest).map(|place| (place, (1 << 30) - 1));
        let mut tried = 0;
        for (place, max) in of_two_bytes.chain(of_four_bytes) {
            let ranks = [RuleKind::Allow, RuleKind::Disallow].map(|kind| rank(place, kind));
            assert_eq!(ranks, [place + place, place + place + 1]);
            assert!(ranks[1] <= max);
            assert_eq!(ranks.map(kind_of), [RuleKind::Allow, RuleKind::Disallow]);
            tried += 1;
        }
        assert_eq!(tried, (1 << 13) + 2 * 65_537);
    }

    #[test]
    fn fields_follow_the_width_in_order_without_gaps() {
        use HeaderField::{Fallbacks, Fingerprints, JointRanks, Otherwise, Rules, Texts, Trie, Wildcards};
        let fields = [Rules, Trie, Fallbacks, Texts, JointRanks, Fingerprints, Otherwise, Wildcards];
        assert_eq!(fields.len(), HeaderField::COUNT);
        for width in [2, 4] {
            let mut at = 1;
            for field in fields {
                assert_eq!(field.at(width), at);
                at += width;
            }
            assert_eq!(header_bytes(width), at);
        }
    }
}
