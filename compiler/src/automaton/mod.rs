//! Compiles a rule list to a ruleset's automaton, and proves that a ruleset's bytes come from its rules.
//!
//! [`compile`] produces the bytes; [`recompile`] proves that a ruleset's bytes are what its rules compile to.
//! [`reptile_engine::format::automaton`] defines the parts of an automaton, and the invariants that comments mention in
//! *italics*.
//!
//! | module | contents |
//! |---|---|
//! | `strategy` | the methods for building a ruleset's automaton |
//! | `builder` | an automaton under construction, and its fallback patterns |
//! | `trie` | the prefix trie |
//! | `lists` | the lists of wildcard automata that a walk starts |
//! | `wildcard`, `nodes` | the wildcard automata, and the trees of segments that become their states |
//! | `ranks` | the best ranks of each kind of rule |
//! | `whole` | one DFA over whole patterns, for comparison |
//! | `bounds` | a check that a file's automata stay within the limits of one decision |
//!
//! # Why the automaton is factored at the wildcards
//!
//! A single DFA over whole patterns must remember every pattern whose first segment has been read, so its states
//! multiply. For 4,231 real files it takes 42 s to build and 400 MB to store, and for some files construction does not
//! end (regex-automata, every match reported, 2 MiB cap each). In the factored form, each wildcard has its own
//! automaton, whose states are only the prefixes of its segments, so size and time are linear in the text. At run time,
//! an automaton begins only if the text before its wildcard matches; on most paths that is one or two automata.
//!
//! `AUTOMATON.md`, in this crate's folder, walks through one ruleset. It explains which form is chosen for which rules,
//! the measured constants behind that choice, and the rejected alternatives.
//!
//! # Strategies
//!
//! [`Strategy::Factored`] is the default for sets. [`Strategy::Fallback`] tries each pattern separately; `Factored`
//! does the same with patterns over a limit. `Strategy::Whole`, added by the feature `whole`, is one DFA over whole
//! patterns, up to a size limit. All strategies give the same answers on every path, and the tests force each of them.
//!
//! # Rejected rules
//!
//! Rules that make one decision too slow are not compiled. [`TooManySteps`] is the error for a file with such rules,
//! which is refused before it becomes part of a set.

mod bounds;
mod builder;
mod lists;
mod nodes;
mod ranks;
mod recompile;
mod strategy;
mod trie;
#[cfg(feature = "whole")]
mod whole;
mod wildcard;

pub use bounds::TooManySteps;
pub(crate) use bounds::{check_file, has_few_steps};
pub use recompile::{Recompiled, recompile};
pub use strategy::{FORM_REVISION, Strategy};

use bumpalo::Bump;
use reptile_engine::format::TooLarge;
use reptile_engine::format::automaton::write;

use self::nodes::NodeLists;
use self::strategy::draft;
use crate::rules::order::RuleList;

/// Compiles a rule list to automaton bytes.
///
/// Takes time and memory linear in the list's bytes for any patterns; see [`compile_counted`].
///
/// # Errors
/// Returns an error if the automaton takes 4 GiB or more, or one decision may take too long: see
/// [`MAX_PASSES`](reptile_engine::format::automaton::MAX_PASSES) and
/// [`MAX_FALLBACK_BYTES`](reptile_engine::format::automaton::MAX_FALLBACK_BYTES).
pub fn compile<'l>(list: &'l RuleList, strategy: Strategy, arena: &'l Bump) -> Result<Vec<u8>, TooLarge> {
    compile_counted(list, strategy, arena).0
}

/// Maximum size of the arena that is kept from one ruleset to the next, in bytes. Larger rulesets are rare.
const KEPT_ARENA_BYTES: usize = 1 << 17;

/// Memory reused from one ruleset to the next.
///
/// Without it, millions of small rulesets would spend a tenth of their time in the allocator.
#[derive(Default)]
pub struct Workspace {
    arena: Bump,
    lists: NodeLists,
}

impl Workspace {
    /// Compiles a list like [`compile`].
    ///
    /// # Errors
    /// Returns the same errors as [`compile`].
    pub fn compile(&mut self, list: &RuleList, strategy: Strategy) -> Result<Vec<u8>, TooLarge> {
        let compiled = compile_in(list, strategy, &self.arena, &mut self.lists).0;
        if self.arena.allocated_bytes() <= KEPT_ARENA_BYTES {
            self.arena.reset();
        } else {
            self.arena = Bump::new();
        }
        compiled
    }
}

/// Compiles like [`compile`], and also counts the steps: states, rules visited for each wildcard before them, wildcard
/// automaton nodes, and transitions of nodes that copy another node's.
///
/// Each pattern byte is in one segment, and so makes at most one state or node. A rule is visited once per wildcard,
/// and [`MAX_TRANSITIONS_PER_BYTE`](crate::limits::MAX_TRANSITIONS_PER_BYTE) bounds an automaton's transitions.
/// Therefore [`Strategy::Factored`] takes at most `12 * list.byte_len() + 1024` steps. Sorting and finding the ends of
/// runs add a factor logarithmic in the rule count.
///
/// # Errors
/// Returns the same errors as [`compile`].
pub fn compile_counted<'l>(
    list: &'l RuleList,
    strategy: Strategy,
    arena: &'l Bump,
) -> (Result<Vec<u8>, TooLarge>, usize) {
    compile_in(list, strategy, arena, &mut NodeLists::default())
}

fn compile_in<'l>(
    list: &'l RuleList,
    strategy: Strategy,
    arena: &'l Bump,
    lists: &mut NodeLists,
) -> (Result<Vec<u8>, TooLarge>, usize) {
    let mut with = |strategy| {
        let (draft, steps) = draft(list, strategy, arena, lists);
        (bounds::check(&draft).and_then(|()| write(&draft)), steps)
    };
    match with(strategy) {
        (Err(_), _) if strategy != Strategy::Factored => with(Strategy::Factored),
        result => result,
    }
}
