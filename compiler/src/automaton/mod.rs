//! From a list of rules to the automaton of a ruleset, and back.
//!
//! [`compile`] is the way there, [`recompile`] proves that a ruleset's bytes are what its rules compile to. What the parts
//! of an automaton mean, and the invariants that the comments name in *italics*, is said in
//! [`reptile_engine::format::automaton`].
//!
//! | where | what |
//! |---|---|
//! | `trie` | the prefix trie |
//! | `wildcard` | the wildcard automata |
//! | `lists` | which wildcard automata a walk has to begin |
//! | `whole` | one DFA over whole patterns, for comparison |
//!
//! # Why the automaton is factored at the wildcards
//!
//! One DFA over whole patterns has to remember every pattern whose first segment has been read: its states multiply. Over
//! 4,231 real files it takes 42 s to build and 400 MB to keep, and for some files it does not end (regex-automata, every
//! match reported, 2 MiB cap each). Factored, each wildcard has an automaton of its own, whose states are the prefixes of
//! its segments and no more, so that size and time are linear in the text; at run time only those automata begin whose
//! text before the wildcard matches, which is one or two on most paths.
//!
//! `AUTOMATON.md`, beside this crate's manifest, walks through one ruleset, and says which form is chosen for which rules,
//! by which measured constants, and what was tried and dropped.
//!
//! # Strategies
//!
//! [`Strategy::Factored`] is what a set has by default. [`Strategy::Fallback`] tries the patterns one by one; a pattern that
//! is over a limit falls back to that by itself. `Strategy::Whole`, which the feature `whole` adds, is one DFA over whole
//! patterns, within a bound. All give the same answers on every path, and the tests force each.

mod lists;
mod recompile;
mod trie;
#[cfg(feature = "whole")]
mod whole;
mod wildcard;

pub use recompile::{Recompiled, recompile, recompile_each};

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::TooLarge;
use reptile_engine::format::automaton::{
    Draft, FallbackPattern, MAX_WILDCARD_DEPTH, MAX_WILDCARDS, Ranks, Text, TextFlags, kind_of, write,
};

use crate::limits::{MAX_NESTED_WILDCARDS, MAX_TRIE_WILDCARDS};
use crate::rules::order::{OrderedRule, RuleList, slash_before_index};

// Each wildcard after another adds at most one automaton of its own, and one more for every 64.
const _: () = assert!(MAX_TRIE_WILDCARDS + 2 * MAX_NESTED_WILDCARDS <= MAX_WILDCARDS);

/// How a ruleset is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// A trie and a wildcard automaton for each wildcard, within limits; fallback patterns beyond them.
    #[default]
    Factored,
    /// Every pattern with a wildcard is a fallback pattern. For comparison.
    Fallback,
    /// One DFA over whole patterns where it stays within bounds, else as `Factored`. For comparison; takes the feature
    /// `whole`.
    #[cfg(feature = "whole")]
    Whole,
}

impl Strategy {
    /// Every strategy, by the name that users give.
    #[cfg(feature = "whole")]
    pub const ALL: [(&'static str, Strategy); 3] =
        [("factored", Strategy::Factored), ("fallback", Strategy::Fallback), ("whole", Strategy::Whole)];

    /// Every strategy, by the name that users give.
    #[cfg(not(feature = "whole"))]
    pub const ALL: [(&'static str, Strategy); 2] = [("factored", Strategy::Factored), ("fallback", Strategy::Fallback)];

    /// The number of the form that this version of the compiler gives an automaton: which strategy in the lowest byte, and
    /// in the next one the revision, which rises whenever the same rules come to be compiled to other bytes.
    #[must_use]
    pub const fn form(self) -> u32 {
        const REVISION: u32 = 1;
        let strategy = match self {
            Strategy::Factored => 1,
            Strategy::Fallback => 2,
            #[cfg(feature = "whole")]
            Strategy::Whole => 3,
        };
        REVISION << 8 | strategy
    }

    /// The strategy that makes a form, or `None` if this version of the compiler does not make it.
    #[must_use]
    pub fn from_form(form: u32) -> Option<Strategy> {
        Strategy::ALL.into_iter().map(|(_, strategy)| strategy).find(|strategy| strategy.form() == form)
    }
}

/// The revision of the construction: it rises whenever the same rules give another automaton than before.
pub const FORM_REVISION: u32 = 1;

/// Compiles a list of rules to the bytes of an automaton.
///
/// Time and memory are linear in the bytes of the list, whatever its patterns, as [`compile_counted`] says.
///
/// # Errors
/// When the automaton takes 4 GiB or more.
pub fn compile<'l>(list: &'l RuleList, strategy: Strategy, arena: &'l Bump) -> Result<Vec<u8>, TooLarge> {
    compile_counted(list, strategy, arena).map(|(bytes, _)| bytes)
}

/// As [`compile`], and counts the steps: states, rules looked at for each wildcard before them, nodes of wildcard automata,
/// and transitions of nodes that have some of another's.
///
/// A byte of a pattern is in one segment, and so makes at most one state or node; a rule is looked at once for each of
/// its wildcards; and [`MAX_TRANSITIONS_PER_BYTE`](crate::limits::MAX_TRANSITIONS_PER_BYTE) bounds the transitions of an
/// automaton. So [`Strategy::Factored`] takes at most `12 * list.byte_len() + 1024` steps. In addition, sorting and the
/// search for the ends of runs take a logarithm of the number of rules.
///
/// # Errors
/// As [`compile`].
pub fn compile_counted<'l>(
    list: &'l RuleList,
    strategy: Strategy,
    arena: &'l Bump,
) -> Result<(Vec<u8>, usize), TooLarge> {
    let mut builder = Builder::new(list, arena);
    builder.take_out_fallbacks(strategy);
    match strategy {
        Strategy::Factored | Strategy::Fallback => builder.trie(),
        #[cfg(feature = "whole")]
        Strategy::Whole => builder.whole_or_trie(),
    }
    let (draft, steps) = builder.finish();
    Ok((write(&draft)?, steps))
}

/// A rule with a pattern, as far as it is matched.
#[derive(Clone, Copy)]
struct BuiltRule<'l> {
    matcher: &'l [u8],
    rank: u32,
    anchored: bool,
    /// Whether the table of texts has its pattern, because it could not be read off the trie.
    has_text: bool,
}

/// What the shown pattern of a rule means, apart from its bytes.
fn flags_of(rule: &OrderedRule<'_>) -> TextFlags {
    let Some(pattern) = rule.pattern else { return TextFlags::default() };
    // Only the rule for a directory ends in a slash although its pattern goes on with a page.
    let opens_directory = rule.matcher.ends_with(b"/") && slash_before_index(pattern).is_some();
    let shown = if opens_directory { pattern.get(..rule.matcher.len()).unwrap_or(pattern) } else { pattern };
    let is_same = |(&shown, &matched): (&u8, &u8)| {
        shown == matched || [(b'*', LITERAL_ASTERISK), (b'$', LITERAL_DOLLAR)].contains(&(shown, matched))
    };
    let is_literal =
        shown.len() == rule.matcher.len() && shown != rule.matcher && shown.iter().zip(rule.matcher).all(is_same);
    TextFlags { opens_directory, is_literal }
}

/// The bytes that a literal `*` and `$` are matched as, where a normal form has no operators. See
/// [`reptile_engine::norm`].
const LITERAL_ASTERISK: u8 = 0;
const LITERAL_DOLLAR: u8 = b'\n';

/// Counts the different wildcards, while matchers come in the order of their bytes.
#[derive(Default)]
struct WildcardCount<'l> {
    /// Those that come first in a pattern.
    in_trie: usize,
    /// Those after other wildcards.
    nested: usize,
    /// The last matcher that there was room for. No earlier one has more bytes in common with the next.
    last: &'l [u8],
}

impl<'l> WildcardCount<'l> {
    /// Whether the wildcards of a matcher, the first of which is known, stay within [`MAX_TRIE_WILDCARDS`] and
    /// [`MAX_NESTED_WILDCARDS`]. If so they are counted.
    fn make_room_for(&mut self, matcher: &'l [u8], first: usize) -> bool {
        let common = matcher.iter().zip(self.last).take_while(|(a, b)| a == b).count();
        // The wildcards that both matchers have, and the first of this one, are not new.
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

/// What is being built. The rules are in the order of their matchers.
struct Builder<'l> {
    arena: &'l Bump,
    draft: Draft<'l>,
    rules: Vec<BuiltRule<'l>>,
    fallbacks: Vec<BuiltRule<'l>>,
    /// The wildcards that have begun on the way to where the trie is being built, and that verdicts need.
    sources: Vec<lists::Source<'l>>,
    scratch: wildcard::Scratch<'l>,
    /// How many of the draft's states belong to wildcard automata.
    wildcard_states: usize,
    /// Whether the limit of states was met, so that no further wildcard automata are built.
    is_full: bool,
    /// Steps of building so far, as [`compile_counted`] says.
    work: usize,
}

impl<'l> Builder<'l> {
    /// Takes in the rules of a list: what they match, the texts of those that no trie could show, and joint ranks.
    fn new(list: &'l RuleList, arena: &'l Bump) -> Builder<'l> {
        let has_text = |rule: &OrderedRule<'_>| rule.pattern.is_some() || memchr::memchr(b'*', rule.matcher).is_some();
        let (rule_count, text_count) = list
            .iter()
            .fold((0, 0), |(rules, texts), rule| (rules + 1, texts + usize::from(!rule.is_empty && has_text(&rule))));
        let mut builder = Builder {
            arena,
            draft: Draft { rule_count: rule_count as u32, ..Draft::default() },
            rules: Vec::with_capacity(rule_count),
            fallbacks: Vec::new(),
            sources: Vec::new(),
            scratch: Default::default(),
            wildcard_states: 0,
            is_full: false,
            work: 0,
        };
        builder.draft.texts.reserve_exact(text_count);
        for rule in list.iter() {
            if let Some(key) = rule.key {
                builder.draft.joint_ranks.resize(rule_count, u32::MAX);
                builder.draft.joint_ranks[(rule.rank / 2) as usize] = key;
            }
            if rule.is_empty {
                builder.draft.otherwise = Some(rule.rank);
                continue;
            }
            let OrderedRule { matcher, rank, anchored, .. } = rule;
            let built = BuiltRule { matcher, rank, anchored, has_text: has_text(&rule) };
            builder.rules.push(built);
            match rule.pattern {
                Some(pattern) => builder.draft.texts.push(Text { rank, flags: flags_of(&rule), pattern }),
                None if built.has_text => builder.add_text(&built),
                None => {}
            }
        }
        builder
    }

    /// Adds a rule's pattern to the texts. It is what the rule matches, with `$` if it is anchored.
    fn add_text(&mut self, rule: &BuiltRule<'l>) {
        let mut pattern = rule.matcher;
        if rule.anchored {
            let mut text = BumpVec::with_capacity_in(rule.matcher.len() + 1, self.arena);
            text.extend_from_slice(rule.matcher);
            text.push(b'$');
            pattern = text.into_bump_slice();
        }
        self.draft.texts.push(Text { rank: rule.rank, flags: TextFlags::default(), pattern });
    }

    /// Takes the rules out that are to be fallback patterns: those over a limit, or all that have a wildcard.
    fn take_out_fallbacks(&mut self, strategy: Strategy) {
        let mut wildcards = WildcardCount::default();
        let fallbacks = &mut self.fallbacks;
        self.rules.retain(|rule| {
            let Some(first) = memchr::memchr(b'*', rule.matcher) else { return true };
            let is_too_deep = || memchr::memchr_iter(b'*', &rule.matcher[first..]).nth(MAX_WILDCARD_DEPTH).is_some();
            let is_fallback =
                strategy == Strategy::Fallback || is_too_deep() || !wildcards.make_room_for(rule.matcher, first);
            if is_fallback {
                fallbacks.push(*rule);
            }
            !is_fallback
        });
    }

    /// Adds the fallback patterns, best first, and returns the draft and the steps so far. Frees what only building needs,
    /// so that there is room to write the draft.
    fn finish(self) -> (Draft<'l>, usize) {
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

/// Adds a rank to what is accepted: the better of its kind stays.
fn accept(ranks: &mut Ranks, rank: u32) {
    let slot = &mut ranks[kind_of(rank) as usize];
    *slot = (*slot).min(rank);
}

/// The better of each kind.
fn merge(into: &mut Ranks, from: Ranks) {
    *into = [into[0].min(from[0]), into[1].min(from[1])];
}
