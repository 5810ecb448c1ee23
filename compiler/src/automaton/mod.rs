//! Compiles a rule list to a ruleset's automaton, and proves that a ruleset's bytes come from its rules.
//!
//! [`compile`] produces the bytes; [`recompile`] proves that a ruleset's bytes are what its rules compile to.
//! [`reptile_engine::format::automaton`] defines the parts of an automaton, and the invariants that comments mention in
//! *italics*.
//!
//! | module | contents |
//! |---|---|
//! | `trie` | the prefix trie |
//! | `wildcard` | the wildcard automata |
//! | `bounds` | a check that a file's automata stay within the limits of one decision |
//! | `lists` | the lists of wildcard automata that a walk starts |
//! | `whole` | one DFA over whole patterns, for comparison |
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
mod lists;
mod recompile;
mod trie;
#[cfg(feature = "whole")]
mod whole;
mod wildcard;

pub use bounds::TooManySteps;
pub(crate) use bounds::{check_file, has_few_steps};
pub use recompile::{Recompiled, recompile};

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::TooLarge;
use reptile_engine::format::automaton::{
    AutomatonDraft, FallbackPattern, MAX_WILDCARD_DEPTH, MAX_WILDCARDS, PatternText, Ranks, TextFlags, kind_of, write,
};

use crate::limits::{MAX_NESTED_WILDCARDS, MAX_TRIE_WILDCARDS};
use crate::rules::order::{OrderedRule, RuleList, slash_before_index};

// Each nested wildcard adds at most one automaton, and one more for every 64.
const _: () = assert!(MAX_TRIE_WILDCARDS + 2 * MAX_NESTED_WILDCARDS <= MAX_WILDCARDS);

/// A method for compiling a ruleset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// A trie and one automaton per wildcard, within limits; fallback patterns beyond the limits.
    #[default]
    Factored,
    /// A fallback pattern for every pattern with a wildcard if one decision stays within its limits, otherwise like
    /// `Factored`. For comparison.
    Fallback,
    /// One DFA over whole patterns if it stays within bounds, otherwise like `Factored`. For comparison; requires the
    /// feature `whole`.
    #[cfg(feature = "whole")]
    Whole,
}

impl Strategy {
    /// Every strategy, with the name by which users choose it.
    #[cfg(feature = "whole")]
    pub const ALL: [(&'static str, Strategy); 3] =
        [("factored", Strategy::Factored), ("fallback", Strategy::Fallback), ("whole", Strategy::Whole)];

    /// Every strategy, with the name by which users choose it.
    #[cfg(not(feature = "whole"))]
    pub const ALL: [(&'static str, Strategy); 2] = [("factored", Strategy::Factored), ("fallback", Strategy::Fallback)];

    /// Returns the construction number: the lowest byte is the strategy, the next is [`FORM_REVISION`].
    #[must_use]
    pub const fn form(self) -> u32 {
        let strategy = match self {
            Strategy::Factored => 1,
            Strategy::Fallback => 2,
            #[cfg(feature = "whole")]
            Strategy::Whole => 3,
        };
        FORM_REVISION << 8 | strategy
    }

    /// Returns the strategy for a construction number, or `None` if this compiler version does not have that
    /// construction.
    #[must_use]
    pub fn from_form(form: u32) -> Option<Strategy> {
        Strategy::ALL.into_iter().map(|(_, strategy)| strategy).find(|strategy| strategy.form() == form)
    }
}

/// The revision of the construction. It increases whenever the same rules compile to different bytes.
pub const FORM_REVISION: u32 = 3;

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

/// Memory reused from one ruleset to the next.
///
/// Without it, millions of small rulesets would spend a tenth of their time in the allocator.
#[derive(Default)]
pub struct Workspace {
    arena: Bump,
    lists: wildcard::NodeLists,
}

impl Workspace {
    /// Compiles a list like [`compile`].
    ///
    /// # Errors
    /// Returns the same errors as [`compile`].
    pub fn compile(&mut self, list: &RuleList, strategy: Strategy) -> Result<Vec<u8>, TooLarge> {
        self.arena.reset();
        compile_in(list, strategy, &self.arena, &mut self.lists).0
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
    compile_in(list, strategy, arena, &mut wildcard::NodeLists::default())
}

fn compile_in<'l>(
    list: &'l RuleList,
    strategy: Strategy,
    arena: &'l Bump,
    lists: &mut wildcard::NodeLists,
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

/// Builds a list's automaton, and counts the steps.
fn draft<'l>(
    list: &'l RuleList,
    strategy: Strategy,
    arena: &'l Bump,
    lists: &mut wildcard::NodeLists,
) -> (AutomatonDraft<'l>, usize) {
    let mut builder = Builder::new(list, arena);
    builder.scratch.lists = std::mem::take(lists);
    builder.take_out_fallbacks(strategy);
    match strategy {
        Strategy::Factored | Strategy::Fallback => builder.trie(),
        #[cfg(feature = "whole")]
        Strategy::Whole => builder.whole_or_trie(),
    }
    *lists = std::mem::take(&mut builder.scratch.lists);
    lists.give_back();
    builder.finish()
}

/// A rule with a pattern, in matching form.
#[derive(Clone, Copy)]
struct BuiltRule<'l> {
    matcher: &'l [u8],
    rank: u32,
    /// Whether the matcher contains a wildcard.
    has_wildcard: bool,
    anchored: bool,
    /// Whether the text table contains the rule's pattern, because it cannot be read from the trie.
    has_text: bool,
}

/// Returns the flags for a rule's displayed pattern.
fn flags_of(rule: &OrderedRule<'_>) -> TextFlags {
    let Some(pattern) = rule.pattern else { return TextFlags::default() };
    // Only the rule for a directory has a matcher that ends in a slash and a pattern that continues with a page.
    let opens_directory = rule.matcher.ends_with(b"/") && slash_before_index(pattern).is_some();
    let shown = if opens_directory { pattern.get(..rule.matcher.len()).unwrap_or(pattern) } else { pattern };
    let is_same = |(&shown, &matched): (&u8, &u8)| {
        shown == matched || [(b'*', LITERAL_ASTERISK), (b'$', LITERAL_DOLLAR)].contains(&(shown, matched))
    };
    let is_literal =
        shown.len() == rule.matcher.len() && shown != rule.matcher && shown.iter().zip(rule.matcher).all(is_same);
    TextFlags { opens_directory, is_literal }
}

/// The bytes that replace a literal `*` and `$` in normal forms without operators. See [`reptile_engine::norm`].
const LITERAL_ASTERISK: u8 = 0;
const LITERAL_DOLLAR: u8 = b'\n';

/// Counts the distinct wildcards in matchers, which must be sorted by their bytes.
#[derive(Default)]
struct WildcardCount<'l> {
    /// Wildcards that come first in a pattern.
    in_trie: usize,
    /// Wildcards after other wildcards.
    nested: usize,
    /// The last matcher within the limits. No earlier one shares a longer prefix with the next.
    last: &'l [u8],
}

impl<'l> WildcardCount<'l> {
    /// Returns whether the wildcards in a matcher, whose first one is at `first`, stay within [`MAX_TRIE_WILDCARDS`]
    /// and [`MAX_NESTED_WILDCARDS`]. Counts them if so.
    fn make_room_for(&mut self, matcher: &'l [u8], first: usize) -> bool {
        let common = matcher.iter().zip(self.last).take_while(|(a, b)| a == b).count();
        // Only wildcards after the shared prefix and this matcher's first wildcard are new.
        let new_from = common.max(first + 1);
        let in_trie = self.in_trie + usize::from(common <= first);
        let nested = self.nested + memchr::memchr_iter(b'*', &matcher[new_from..]).count();
        let has_room = in_trie <= MAX_TRIE_WILDCARDS && nested <= MAX_NESTED_WILDCARDS;
        if has_room {
            *self = WildcardCount { in_trie, nested, last: matcher };
        }
        has_room
    }
}

/// Maximum initial capacity for states. Most rulesets have fewer than two states per rule.
const FIRST_STATES: usize = 1 << 10;

/// An automaton under construction. The rules are sorted by matcher.
struct Builder<'l> {
    arena: &'l Bump,
    draft: AutomatonDraft<'l>,
    rules: Vec<BuiltRule<'l>>,
    fallbacks: Vec<BuiltRule<'l>>,
    /// The wildcards on the path to the current trie position that verdicts need.
    sources: Vec<lists::WildcardSource<'l>>,
    scratch: wildcard::WildcardScratch<'l>,
    /// How many draft states belong to wildcard automata.
    wildcard_states: usize,
    /// Whether the state limit was reached, so that no further wildcard automata are built.
    is_full: bool,
    /// The steps so far, as counted by [`compile_counted`].
    work: usize,
}

impl<'l> Builder<'l> {
    /// Reads a list's rules: their matchers, the texts that cannot be read from the trie, and joint ranks.
    fn new(list: &'l RuleList, arena: &'l Bump) -> Builder<'l> {
        let has_text = |rule: &OrderedRule<'_>| rule.pattern.is_some() || rule.has_wildcard;
        let (rule_count, text_count) = list
            .iter()
            .fold((0, 0), |(rules, texts), rule| (rules + 1, texts + usize::from(!rule.is_empty && has_text(&rule))));
        let mut builder = Builder {
            arena,
            draft: AutomatonDraft { rule_count: rule_count as u32, ..AutomatonDraft::default() },
            rules: Vec::with_capacity(rule_count),
            fallbacks: Vec::new(),
            sources: Vec::new(),
            scratch: Default::default(),
            wildcard_states: 0,
            is_full: false,
            work: 0,
        };
        builder.draft.texts.reserve_exact(text_count);
        builder.draft.states.reserve((2 * rule_count).min(FIRST_STATES));
        for rule in list.iter() {
            if let Some(key) = rule.key {
                builder.draft.joint_ranks.resize(rule_count, u32::MAX);
                builder.draft.joint_ranks[(rule.rank / 2) as usize] = key;
            }
            if rule.is_empty {
                builder.draft.otherwise = Some(rule.rank);
                continue;
            }
            let OrderedRule { matcher, rank, has_wildcard, anchored, .. } = rule;
            let built = BuiltRule { matcher, rank, has_wildcard, anchored, has_text: has_text(&rule) };
            builder.rules.push(built);
            match rule.pattern {
                Some(pattern) => builder.draft.texts.push(PatternText { rank, flags: flags_of(&rule), pattern }),
                None if built.has_text => builder.add_text(&built),
                None => {}
            }
        }
        builder
    }

    /// Adds a rule's matcher to the texts, with `$` if anchored.
    fn add_text(&mut self, rule: &BuiltRule<'l>) {
        let mut pattern = rule.matcher;
        if rule.anchored {
            let mut text = BumpVec::with_capacity_in(rule.matcher.len() + 1, self.arena);
            text.extend_from_slice(rule.matcher);
            text.push(b'$');
            pattern = text.into_bump_slice();
        }
        self.draft.texts.push(PatternText { rank: rule.rank, flags: TextFlags::default(), pattern });
    }

    /// Removes the rules that become fallback patterns: those over a limit, or all with a wildcard.
    fn take_out_fallbacks(&mut self, strategy: Strategy) {
        let mut wildcards = WildcardCount::default();
        let fallbacks = &mut self.fallbacks;
        self.rules.retain(|rule| {
            let first = rule.has_wildcard.then(|| memchr::memchr(b'*', rule.matcher)).flatten();
            let Some(first) = first else { return true };
            let is_too_deep = || memchr::memchr_iter(b'*', &rule.matcher[first..]).nth(MAX_WILDCARD_DEPTH).is_some();
            let is_fallback =
                strategy == Strategy::Fallback || is_too_deep() || !wildcards.make_room_for(rule.matcher, first);
            if is_fallback {
                fallbacks.push(*rule);
            }
            !is_fallback
        });
    }

    /// Adds the fallback patterns, best first, and returns the draft and the step count. Frees construction memory
    /// first, so that there is memory to write the draft.
    fn finish(self) -> (AutomatonDraft<'l>, usize) {
        let Builder { mut draft, mut fallbacks, work, rules, scratch, .. } = self;
        drop((rules, scratch));
        draft.texts.sort_unstable();
        fallbacks.sort_unstable_by_key(|rule| rule.rank);
        fallbacks.dedup_by_key(|rule| rule.rank);
        let fallbacks = fallbacks.iter().map(|rule| FallbackPattern {
            rank: rule.rank,
            anchored: rule.anchored,
            text: rule.matcher,
        });
        draft.fallbacks = fallbacks.collect();
        let steps = work + draft.states.len();
        (draft, steps)
    }
}

/// Adds a rank to the accepted ranks, keeping the better rank of its kind.
fn accept(ranks: &mut Ranks, rank: u32) {
    let slot = &mut ranks[kind_of(rank) as usize];
    *slot = (*slot).min(rank);
}

/// Keeps the better rank of each kind.
fn merge(into: &mut Ranks, from: Ranks) {
    *into = [into[0].min(from[0]), into[1].min(from[1])];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructions_have_numbers() {
        for (strategy, lowest) in [(Strategy::Factored, 1), (Strategy::Fallback, 2)] {
            let form = strategy.form();
            assert_eq!((form & 0xFF, form >> 8), (lowest, FORM_REVISION));
            assert_eq!(Strategy::from_form(form), Some(strategy));
            assert_eq!(Strategy::from_form(form + 0x100), None);
        }
        assert_eq!(Strategy::from_form(0), None);
    }

    /// Matchers in the order of their bytes, with the wildcards counted so far: those in the trie, and those after others.
    #[test]
    fn wildcards_after_the_same_text_count_once() {
        let mut count = WildcardCount::default();
        for (matcher, in_trie, nested) in [
            ("/a*b", 1, 0),
            ("/a*b*c", 1, 1),
            ("/a*b*d", 1, 1),
            ("/a*c*d", 1, 2),
            ("/b*c", 2, 2),
            ("/bc*d*e*f", 3, 4),
            ("/bc*d*g", 3, 4),
        ] {
            let first = matcher.find('*').unwrap_or_default();
            assert!(count.make_room_for(matcher.as_bytes(), first));
            assert_eq!((count.in_trie, count.nested), (in_trie, nested), "{matcher}");
        }
    }

    #[test]
    fn wildcards_over_a_limit_are_not_counted() {
        for (in_trie, nested, fits) in [
            (MAX_TRIE_WILDCARDS - 1, MAX_NESTED_WILDCARDS - 1, true),
            (MAX_TRIE_WILDCARDS - 1, MAX_NESTED_WILDCARDS, false),
            (MAX_TRIE_WILDCARDS, MAX_NESTED_WILDCARDS - 1, false),
        ] {
            let mut count = WildcardCount { in_trie, nested, last: b"" };
            assert_eq!(count.make_room_for(b"/a*b*c", 2), fits);
            let added = usize::from(fits);
            assert_eq!((count.in_trie, count.nested), (in_trie + added, nested + added));
        }
    }
}
