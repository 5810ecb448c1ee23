//! The byte encoding of a ruleset's automaton: writers take a [`AutomatonDraft`], readers view an [`Automaton`].
//!
//! This page defines the terms and invariants. `layout.rs` has the constants, `draft.rs` the drafts, `write.rs` the
//! writer, and `read.rs` the reader for walks; `decode.rs` turns a whole automaton back into a draft. The walk is in
//! [`crate::automaton`], and the construction is in the compiler.
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
//! **Settled.** A trie state is settled if none of the wildcard automata that a verdict needs there leads to a rank
//! that could change the verdict. If the best accepted disallow wins, that is a better allow; otherwise, it is a
//! disallow better than the best accepted allow. The same must hold for the ranks accepted if the path ends there. In a
//! settled state, the walk needs only the state's flags. Checked by `verify`.
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
mod draft;
pub(crate) mod error;
mod fallbacks;
mod layout;
mod read;
mod write;

pub use decode::{Decoded, decode};
pub use draft::{AutomatonDraft, FallbackPattern, PatternText, State, WildcardAutomaton};
pub use error::Corrupt;
pub(crate) use error::corrupt;
pub use fallbacks::{FallbackReader, Segments};
pub use layout::{
    MAX_FALLBACK_BYTES, MAX_PASSES, MAX_PATTERNS_BYTES, MAX_RULES, MAX_WILDCARD_BRANCHES, MAX_WILDCARD_DEPTH,
    MAX_WILDCARDS, NEEDS_ALL, NO_RANK, NO_RANKS, NO_WILDCARD, Ranks, TextFlags, kind_of, rank, settles,
};
pub use read::{
    Automaton, Children, StateView, TrieEnd, Width, WildcardView, at_fingerprints, header, known_width, width,
    without_fingerprints,
};
pub use write::{fallback_bytes, write};
