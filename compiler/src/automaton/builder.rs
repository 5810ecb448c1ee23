//! An automaton under construction. The steps of the construction extend it: `trie`, `lists`, `wildcard` and `whole`.

use std::ops::Range;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::automaton::{
    AutomatonDraft, FallbackPattern, MAX_WILDCARD_DEPTH, MAX_WILDCARDS, PatternText, TextFlags,
};

use super::nodes::{Segment, WildcardScratch};
use crate::limits::{MAX_NESTED_WILDCARDS, MAX_TRIE_WILDCARDS};
use crate::rules::order::{OrderedRule, RuleList, slash_before_index};

// Each nested wildcard adds at most one automaton, and one more for every 64.
const _: () = assert!(MAX_TRIE_WILDCARDS + 2 * MAX_NESTED_WILDCARDS <= MAX_WILDCARDS);

/// A rule with a pattern, in matching form.
#[derive(Clone, Copy)]
pub(super) struct BuiltRule<'l> {
    pub(super) matcher: &'l [u8],
    pub(super) rank: u32,
    /// Whether the matcher contains a wildcard.
    pub(super) has_wildcard: bool,
    pub(super) anchored: bool,
    /// Whether the text table contains the rule's pattern, because it cannot be read from the trie.
    pub(super) has_text: bool,
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

/// A trie wildcard that verdicts need. Later wildcards are compared with it.
pub(super) struct WildcardSource<'l> {
    /// The wildcard's automaton.
    pub(super) wildcard: u32,
    /// The rules with the wildcard, and the offset in their matchers of the text after it.
    pub(super) rules: Range<usize>,
    pub(super) offset: usize,
    /// The segments that the automaton searches for, possibly more than those in `rules`. Empty if there are too many
    /// to join with others.
    pub(super) segments: &'l [Segment<'l>],
}

/// An automaton under construction. The rules are sorted by matcher.
pub(super) struct Builder<'l> {
    pub(super) arena: &'l Bump,
    pub(super) draft: AutomatonDraft<'l>,
    pub(super) rules: Vec<BuiltRule<'l>>,
    pub(super) fallbacks: Vec<BuiltRule<'l>>,
    /// The wildcards on the path to the current trie position that verdicts need.
    pub(super) sources: Vec<WildcardSource<'l>>,
    pub(super) scratch: WildcardScratch<'l>,
    /// How many draft states belong to wildcard automata.
    pub(super) wildcard_states: usize,
    /// Whether the state limit was reached, so that no further wildcard automata are built.
    pub(super) is_full: bool,
    /// The steps so far, as counted by [`compile_counted`](super::compile_counted).
    pub(super) work: usize,
}

impl<'l> Builder<'l> {
    /// Reads a list's rules: their matchers, the texts that cannot be read from the trie, and joint ranks.
    pub(super) fn new(list: &'l RuleList, arena: &'l Bump) -> Builder<'l> {
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
    pub(super) fn add_text(&mut self, rule: &BuiltRule<'l>) {
        let mut pattern = rule.matcher;
        if rule.anchored {
            let mut text = BumpVec::with_capacity_in(rule.matcher.len() + 1, self.arena);
            text.extend_from_slice(rule.matcher);
            text.push(b'$');
            pattern = text.into_bump_slice();
        }
        self.draft.texts.push(PatternText { rank: rule.rank, flags: TextFlags::default(), pattern });
    }

    /// Removes the rules that become fallback patterns: those over a limit, or all with a wildcard if `takes_all`.
    pub(super) fn take_out_fallbacks(&mut self, takes_all: bool) {
        let mut wildcards = WildcardCount::default();
        let fallbacks = &mut self.fallbacks;
        self.rules.retain(|rule| {
            let first = rule.has_wildcard.then(|| memchr::memchr(b'*', rule.matcher)).flatten();
            let Some(first) = first else { return true };
            let is_too_deep = || memchr::memchr_iter(b'*', &rule.matcher[first..]).nth(MAX_WILDCARD_DEPTH).is_some();
            let is_fallback = takes_all || is_too_deep() || !wildcards.make_room_for(rule.matcher, first);
            if is_fallback {
                fallbacks.push(*rule);
            }
            !is_fallback
        });
    }

    /// Adds the fallback patterns, best first, and returns the draft and the step count. Frees construction memory
    /// first, so that there is memory to write the draft.
    pub(super) fn finish(self) -> (AutomatonDraft<'l>, usize) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
