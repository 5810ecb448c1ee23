//! From a list of rules to the automaton of a ruleset.
//!
//! [`compile`] is the whole of it. The trie is built here, the machines behind wildcards in `wildcard`, the order in which wildcards
//! are begun in `chain`; what the parts mean is said in [`reptile_engine::format::automaton`].
//!
//! # Why the automaton is factored at the wildcards
//!
//! One DFA over whole patterns has to remember, for every pattern whose first segment has gone by, that it has:
//! its states multiply. Over 4,231 real files it takes 42 s to build and 400 MB to keep, and for some files it does
//! not end (regex-automata, every match reported, 2 MiB cap each). Factored, each wildcard has a machine of its own,
//! whose states are the prefixes of its segments and no more, so that size and time are linear in the text; at run
//! time only those wildcards are begun whose text in front matches, which is one or two on most paths.
//!
//! `AUTOMATON.md`, beside this crate's manifest, says which form is chosen for which rules, by which measured constants,
//! and what was tried and dropped.
//!
//! # Strategies
//!
//! [`Strategy::Factored`] is what a set has by default. [`Strategy::Fallback`] tries the patterns one by one; a
//! pattern whose wildcards nest too deep, or a wildcard whose machine would be too large, falls back to it by itself.
//! [`Strategy::Whole`] is one DFA over whole patterns, with a bound. All give the same answers on every path, and the
//! tests force each.

mod lists;
mod whole;
mod wildcard;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::TooLarge;
use reptile_engine::format::automaton::{
    Draft, FallbackPattern, MAX_WILDCARD_DEPTH, NEEDS_ALL, NO_RANK, NO_RANKS, NO_WILDCARD, Ranks, State, kind_of, write,
};

use crate::limits::{MAX_NESTED_WILDCARDS, MAX_TRIE_WILDCARDS};
use crate::rules::order::{OrderedRule, RuleList};

/// How a ruleset is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// A trie and a machine for each wildcard, within limits; listed patterns beyond them.
    #[default]
    Factored,
    /// Every pattern with a wildcard is a fallback pattern. For comparison.
    Fallback,
    /// One DFA over whole patterns where it stays within bounds, else as `Factored`. For comparison.
    Whole,
}

impl Strategy {
    /// Every strategy, by the name that users give.
    pub const ALL: [(&'static str, Strategy); 3] =
        [("factored", Strategy::Factored), ("fallback", Strategy::Fallback), ("whole", Strategy::Whole)];

    /// The number of the form of automata that the strategy makes, which a set records: [`FORM_REVISION`] in the upper
    /// 24 bits, the strategy in the lower 8. Two sets of the same content and the same form have the same bytes.
    #[must_use]
    pub const fn form(self) -> u32 {
        let strategy = match self {
            Strategy::Factored => 1,
            Strategy::Fallback => 2,
            Strategy::Whole => 3,
        };
        FORM_REVISION << 8 | strategy
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

/// As [`compile`], and counts the steps: states, rules looked at for each wildcard in front of them, nodes of machines, and
/// transitions of nodes that have some of another's.
///
/// A byte of a pattern is in one segment, and so makes at most one state or node; a rule is looked at once for each of
/// its wildcards; and [`MAX_TRANSITIONS_PER_BYTE`](crate::limits::MAX_TRANSITIONS_PER_BYTE) bounds the transitions of a
/// machine. So [`Strategy::Factored`] takes at most `12 * list.byte_len() + 1024` steps. Beside them, sorting and the
/// search for ends of runs take a logarithm of the number of rules.
///
/// # Errors
/// As [`compile`].
pub fn compile_counted<'l>(
    list: &'l RuleList,
    strategy: Strategy,
    arena: &'l Bump,
) -> Result<(Vec<u8>, usize), TooLarge> {
    let (rule_count, text_count) = list
        .iter()
        .fold((0, 0), |(rules, texts), rule| (rules + 1, texts + usize::from(!rule.is_empty && has_text(&rule))));
    let mut draft = Draft { rule_count: rule_count as u32, ..Draft::default() };
    draft.texts.reserve_exact(text_count);
    let mut rules: Vec<BuiltRule<'_>> = Vec::with_capacity(rule_count);
    for rule in list.iter() {
        if let Some(key) = rule.key {
            draft.keys.resize(rule_count, u32::MAX);
            draft.keys[(rule.rank / 2) as usize] = key;
        }
        if rule.is_empty {
            draft.otherwise = Some(rule.rank);
            continue;
        }
        let built = BuiltRule { matcher: rule.matcher, rank: rule.rank, anchored: rule.anchored };
        rules.push(built);
        if has_text(&rule) {
            draft.texts.push((rule.rank, rule.pattern.unwrap_or_else(|| text_of(&built, arena))));
        }
    }
    draft.texts.sort_unstable_by_key(|&(rank, _)| rank);

    let too_deep = |from_wildcard: &[u8]| match strategy {
        Strategy::Factored | Strategy::Whole => {
            memchr::memchr_iter(b'*', from_wildcard).nth(MAX_WILDCARD_DEPTH).is_some()
        }
        Strategy::Fallback => true,
    };
    let mut fallbacks = Vec::new();
    let mut wildcards = WildcardCount::default();
    rules.retain(|rule| {
        let is_fallback = memchr::memchr(b'*', rule.matcher).is_some_and(|wildcard| {
            too_deep(&rule.matcher[wildcard..]) || !wildcards.make_room_for(rule.matcher, wildcard)
        });
        if is_fallback {
            fallbacks.push(*rule);
        }
        !is_fallback
    });
    let mut builder = Builder {
        arena,
        draft,
        rules,
        fallbacks,
        sources: Vec::new(),
        scratch: Default::default(),
        wildcard_states: 0,
        is_full: false,
        work: 0,
    };
    if strategy == Strategy::Whole && builder.whole() {
        builder.add_all_texts(arena);
    } else {
        builder.trie();
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
}

/// Whether a rule's pattern cannot be read off the trie.
fn has_text(rule: &OrderedRule<'_>) -> bool {
    rule.pattern.is_some() || memchr::memchr(b'*', rule.matcher).is_some()
}

/// Counts the different wildcards, while matchers come in the order of their bytes.
#[derive(Default)]
struct WildcardCount<'l> {
    /// Those that come first in a pattern.
    in_trie: usize,
    /// Those behind other wildcards.
    nested: usize,
    /// The last matcher that there was room for. No earlier one has more bytes in common with the next.
    last: &'l [u8],
}

impl<'l> WildcardCount<'l> {
    /// Whether the wildcards of a matcher, the first of which is known, stay within [`MAX_TRIE_WILDCARDS`] and
    /// [`MAX_NESTED_WILDCARDS`]. If so they are counted.
    fn make_room_for(&mut self, matcher: &'l [u8], first: usize) -> bool {
        let common = matcher.iter().zip(self.last).take_while(|(a, b)| a == b).count();
        // WildcardCount that both have, and the first, are not new.
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

/// The pattern of a rule that has nothing in it but what is matched.
fn text_of<'l>(rule: &BuiltRule<'l>, arena: &'l Bump) -> &'l [u8] {
    if !rule.anchored {
        return rule.matcher;
    }
    let mut text = BumpVec::with_capacity_in(rule.matcher.len() + 1, arena);
    text.extend_from_slice(rule.matcher);
    text.push(b'$');
    text.into_bump_slice()
}

/// What is being built. The rules are in the order of their matchers.
struct Builder<'l> {
    arena: &'l Bump,
    draft: Draft<'l>,
    rules: Vec<BuiltRule<'l>>,
    fallbacks: Vec<BuiltRule<'l>>,
    /// The wildcards of the trie that have begun on the way to where the trie is being built, and that verdicts need.
    sources: Vec<lists::Source<'l>>,
    scratch: wildcard::Scratch<'l>,
    /// How many of the draft's states are those of wildcards.
    wildcard_states: usize,
    /// Whether there were to be more, so that no further wildcards are built.
    is_full: bool,
    /// Steps of building so far, as [`compile_counted`] says.
    work: usize,
}

/// A range of rules that have the first `depth` bytes in common, and the state that is to stand for them.
struct Open {
    state: usize,
    start: usize,
    end: usize,
    depth: usize,
    way: Way,
    /// How many of the builder's `sources` are on the way.
    sources: usize,
}

/// What there is on the way through the trie to a state.
#[derive(Clone, Copy)]
struct Way {
    /// The best ranks that are accepted.
    accepted: Ranks,
    /// The last wildcard that begins; the others follow it.
    wildcard: Option<u32>,
    /// The best ranks of these wildcards.
    wildcards_best: Ranks,
    /// The best ranks of those among them that a verdict needs.
    deciding_best: Ranks,
    /// For each kind of rule, from where to where in the order of precedence the other kind would make a difference to
    /// wildcards that were left out; the first is greater than the last if nothing would.
    between: [(u32, u32); 2],
    /// Whether a verdict needs all wildcards after all.
    needs_all: bool,
}

impl Way {
    const START: Way = Way {
        accepted: NO_RANKS,
        wildcard: None,
        wildcards_best: NO_RANKS,
        deciding_best: NO_RANKS,
        between: [(NO_RANK, 0); 2],
        needs_all: false,
    };
}

impl<'l> Builder<'l> {
    /// Adds the patterns of plain rules to the texts, for a trie that is no tree they could be read off.
    fn add_all_texts(&mut self, arena: &'l Bump) {
        let known: Vec<u32> = self.draft.texts.iter().map(|&(rank, _)| rank).collect();
        for rule in self.rules.iter().filter(|rule| known.binary_search(&rule.rank).is_err()) {
            self.draft.texts.push((rule.rank, text_of(rule, arena)));
        }
        self.draft.texts.sort_unstable();
    }

    /// Builds the trie: a tree of the texts in front of wildcards, a state for each place where they part.
    ///
    /// Each step takes a range of the sorted rules, so that nothing is searched for. Every rule is looked at once
    /// for each state on its way, which is at most once for each of its bytes.
    fn trie(&mut self) {
        if self.rules.is_empty() {
            return;
        }
        self.draft.has_trie = true;
        let mut children = Vec::new();
        let mut open = vec![Open {
            state: self.new_state(),
            start: 0,
            end: self.rules.len(),
            depth: 0,
            way: Way::START,
            sources: 0,
        }];
        while let Some(Open { mut state, mut start, end, mut depth, mut way, sources }) = open.pop() {
            self.sources.truncate(sources);
            let mut label = self.common(start, end, depth);
            depth += label.len();
            // A label holds up to 255 bytes; a longer one takes a chain of states.
            while label.len() > 255 {
                let next = self.new_state();
                self.pass(state, &way);
                self.draft.states[state].label = &label[..255];
                self.draft.states[state].children = self.arena.alloc_slice_copy(&[(label[255], next as u32)]);
                (state, label) = (next, &label[256..]);
            }
            self.draft.states[state].label = label;
            let (mut here, mut at_end) = (NO_RANKS, NO_RANKS);
            while start < end && self.rules[start].matcher.len() == depth {
                let rule = self.rules[start];
                accept(if rule.anchored { &mut at_end } else { &mut here }, rule.rank);
                start += 1;
            }
            self.accept_on_way(state, &mut way, here, at_end);
            children.clear();
            let first_open = open.len();
            let mut begins = false;
            while start < end {
                let byte = self.rules[start].matcher[depth];
                let run_end = self.run_end(start, end, depth);
                if byte == b'*' {
                    begins |= self.begin_on_way(&mut way, start..run_end, depth);
                } else {
                    let child = self.new_state();
                    children.push((byte, child as u32));
                    open.push(Open { state: child, start, end: run_end, depth: depth + 1, way, sources });
                }
                start = run_end;
            }
            begins |= self.need_all(&mut way, at_end);
            if let Some(first) = way.wildcard.filter(|_| begins) {
                let deciding = self.draft.wildcards[first as usize].deciding.unwrap_or(NO_WILDCARD);
                let for_verdicts = if way.needs_all { (NEEDS_ALL, first) } else { (0, deciding) };
                self.draft.states[state].wildcards = self.arena.alloc_slice_copy(&[for_verdicts, (0, first)]);
            }
            self.pass(state, &way);
            // The wildcard may have come behind some of the bytes.
            let sources = self.sources.len();
            open[first_open..].iter_mut().for_each(|open| (open.way, open.sources) = (way, sources));
            self.draft.states[state].children = self.arena.alloc_slice_copy(&children);
        }
    }

    /// Adds what a state accepts to what is accepted on the way to it.
    fn accept_on_way(&mut self, state: usize, way: &mut Way, here: Ranks, at_end: Ranks) {
        let before = way.accepted;
        merge(&mut way.accepted, here);
        let state = &mut self.draft.states[state];
        if way.accepted != before {
            state.accept = way.accepted;
        }
        let mut ranks = way.accepted;
        merge(&mut ranks, at_end);
        if ranks != way.accepted {
            state.accept_at_end = ranks;
        }
        state.disallows_at_end = ranks[1] < ranks[0];
    }

    /// Writes down what a walk that ends in a state of the trie can know there.
    fn pass(&mut self, state: usize, way: &Way) {
        let state = &mut self.draft.states[state];
        let smaller = |ranks: Ranks| ranks[0].min(ranks[1]);
        state.disallows = way.accepted[1] < way.accepted[0];
        if state.accept_at_end == NO_RANKS {
            state.disallows_at_end = state.disallows;
        }
        let wildcards_best = if way.needs_all { way.wildcards_best } else { way.deciding_best };
        state.settled = smaller(wildcards_best) >= smaller(way.accepted);
    }

    fn new_state(&mut self) -> usize {
        self.draft.states.push(State {
            label: &[],
            accept: NO_RANKS,
            accept_at_end: NO_RANKS,
            disallows: false,
            disallows_at_end: false,
            settled: false,
            wildcards: &[],
            children: &[],
        });
        self.draft.states.len() - 1
    }

    /// The bytes from `depth` on that the rules of a range have in common, up to the first wildcard.
    fn common(&self, start: usize, end: usize, depth: usize) -> &'l [u8] {
        let first = &self.rules[start].matcher[depth..];
        if start + 1 == end {
            return &first[..memchr::memchr(b'*', first).unwrap_or(first.len())];
        }
        let last = &self.rules[end - 1].matcher[depth..];
        let common = first.iter().zip(last).take_while(|&(a, b)| a == b && *a != b'*').count();
        &first[..common]
    }

    /// Where the run of rules ends whose byte at `depth` is that of the rule at `start`.
    fn run_end(&self, start: usize, end: usize, depth: usize) -> usize {
        let byte = self.rules[start].matcher.get(depth);
        let is_in_run = |rule: &BuiltRule<'_>| rule.matcher.get(depth) <= byte;
        // Most runs are short: steps that double find the end of one without looking far behind it.
        let (mut inside, mut step) = (start, 1);
        while inside + step < end && is_in_run(&self.rules[inside + step]) {
            inside += step;
            step *= 2;
        }
        let end = end.min(inside + step);
        inside + 1 + self.rules[inside + 1..end].partition_point(is_in_run)
    }

    /// Adds the patterns that are not in the machine, best first, and gives back the draft and the steps so far. What
    /// was needed to build it is gone, so that there is room to write it.
    fn finish(self) -> (Draft<'l>, usize) {
        let Builder { mut draft, mut fallbacks, work, rules, scratch, .. } = self;
        drop((rules, scratch));
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
