//! The rules of some rulesets that decide together, in order of precedence, and how each reads a path byte by byte.
//!
//! A pattern has one position at a time. Once a wildcard was reached, what was reached before it no longer matters: any
//! text may come before what is left. After a wildcard the position is the longest start of the next segment that the
//! text ends with, as in the algorithm of Knuth, Morris and Pratt.

use reptile_engine::format::automaton::kind_of;
use reptile_engine::verdict::RuleKind;

use crate::rules::order::{OrderedRule, RuleList};

/// A rule. Small: a ruleset may have a million.
struct Pattern<'l> {
    /// Without end anchor and trailing wildcards; every `*` in it is a wildcard.
    text: &'l [u8],
    /// What there is to know of its wildcards, if it has any.
    wildcards: Option<Box<Wildcards>>,
    /// By which it is compared with other rules; the smaller decides.
    place: u32,
    kind: RuleKind,
    /// Whether the match must end where the path ends.
    anchored: bool,
}

/// For each position of a pattern with wildcards:
struct Wildcards {
    /// Where it goes on after a mismatch: at the longest proper suffix of what was read of the segment that is a prefix of
    /// it, or at its own position at the start of a segment. [`NONE`] before the first wildcard.
    failure: Box<[u32]>,
    /// How many wildcards come after it.
    left: Box<[u32]>,
}

/// In place of a position: the rule is dead after a mismatch.
const NONE: u32 = u32::MAX;

/// The rules of some rulesets, the one that decides first.
pub(super) struct Patterns<'l>(Vec<Pattern<'l>>);

/// How far a rule has read a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Position {
    /// The place of the rule in the order of precedence.
    pub(super) rule: u32,
    /// The bytes of its text that are read, with the wildcards in front of the next byte.
    at: u32,
}

/// What a rule has become after a byte.
pub(super) enum Moved {
    /// It cannot match any more.
    Dead,
    /// It matches if the rest of the path is right.
    Live(Position),
    /// It matches whatever follows.
    Done,
}

impl<'l> Patterns<'l> {
    /// The rules of some lists, without those that restrict nothing.
    pub(super) fn of(lists: &'l [RuleList]) -> Patterns<'l> {
        let pattern = |rule: OrderedRule<'l>| Pattern {
            text: rule.matcher,
            wildcards: Wildcards::of(rule.matcher).map(Box::new),
            place: if lists.len() > 1 { rule.key.unwrap_or(u32::MAX) } else { rule.rank },
            kind: kind_of(rule.rank),
            anchored: rule.anchored,
        };
        let rules = || lists.iter().flat_map(RuleList::iter).filter(|rule| !rule.is_empty);
        let mut patterns = Vec::with_capacity(rules().count());
        patterns.extend(rules().map(pattern));
        // Of an allow and a disallow in the same place the allow decides.
        patterns.sort_unstable_by_key(|pattern: &Pattern<'_>| (pattern.place, pattern.kind));
        Patterns(patterns)
    }

    /// Each rule, with its number, after it has read the slash that every path begins with.
    pub(super) fn after_slash(&self) -> impl Iterator<Item = (u32, Moved)> + '_ {
        (0..).zip(&self.0).map(|(rule, pattern)| match pattern.arrive(rule, 0) {
            Moved::Live(start) => (rule, self.read(start, b'/')),
            moved => (rule, moved),
        })
    }

    /// The least number of bytes that a rule has to read until it matches.
    pub(super) fn bytes_left(&self, Position { rule, at }: Position) -> u32 {
        let Some(pattern) = self.0.get(rule as usize) else { return 0 };
        let wildcards = pattern.wildcards.as_ref().and_then(|wildcards| wildcards.left.get(at as usize)).copied();
        (pattern.text.len() as u32).saturating_sub(at).saturating_sub(wildcards.unwrap_or_default())
    }

    /// What the rule at a position does to the URLs that it matches.
    pub(super) fn kind(&self, rule: u32) -> RuleKind {
        self.0.get(rule as usize).map_or(RuleKind::Allow, |pattern| pattern.kind)
    }

    /// Whether the rule matches a path that ends here.
    pub(super) fn matches_at_end(&self, Position { rule, at }: Position) -> bool {
        // Without an end anchor it would be done.
        self.0.get(rule as usize).is_some_and(|pattern| at as usize == pattern.text.len())
    }

    /// The only byte that a rule can go on with; `None` for one that has passed a wildcard, which goes on with any.
    pub(super) fn only_byte(&self, Position { rule, at }: Position) -> Option<Option<u8>> {
        let pattern = self.0.get(rule as usize)?;
        pattern.failure(at).is_none().then(|| pattern.text.get(at as usize).copied())
    }

    /// Calls `visit` with each byte that takes a rule that has passed a wildcard somewhere else than all other bytes do.
    pub(super) fn each_byte(&self, Position { rule, mut at }: Position, mut visit: impl FnMut(u8)) {
        let Some(pattern) = self.0.get(rule as usize) else { return };
        loop {
            pattern.text.get(at as usize).into_iter().for_each(|&byte| visit(byte));
            match pattern.failure(at) {
                Some(failure) if failure != at => at = failure,
                _ => return,
            }
        }
    }

    /// Reads a byte.
    pub(super) fn read(&self, Position { rule, mut at }: Position, byte: u8) -> Moved {
        let Some(pattern) = self.0.get(rule as usize) else { return Moved::Dead };
        loop {
            if pattern.text.get(at as usize) == Some(&byte) {
                return pattern.arrive(rule, at + 1);
            }
            match pattern.failure(at) {
                None => return Moved::Dead,
                // The segment begins anew with the next byte.
                Some(failure) if failure == at => return Moved::Live(Position { rule, at }),
                Some(failure) => at = failure,
            }
        }
    }

    /// For each rule, the shortest path that it matches.
    pub(super) fn shortest_paths(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.0.iter().map(|pattern| {
            let text = pattern.text.iter().copied().filter(|&byte| byte != b'*');
            let slash = (pattern.text.first() != Some(&b'/')).then_some(b'/');
            slash.into_iter().chain(text).collect()
        })
    }
}

impl Pattern<'_> {
    fn failure(&self, at: u32) -> Option<u32> {
        self.wildcards.as_ref()?.failure(at)
    }

    /// The rule after it has read `at` bytes of its text.
    fn arrive(&self, rule: u32, at: u32) -> Moved {
        let is_wildcard = self.text.get(at as usize) == Some(&b'*');
        let at = at + u32::from(is_wildcard);
        if at as usize == self.text.len() && !self.anchored {
            return Moved::Done;
        }
        Moved::Live(Position { rule, at })
    }
}

impl Wildcards {
    /// What there is to know of the wildcards of a pattern, if it has any.
    fn of(text: &[u8]) -> Option<Wildcards> {
        let first = memchr::memchr(b'*', text)?;
        let mut failure = vec![NONE; text.len() + 1];
        let mut start = first + 1;
        while start <= text.len() {
            let len = memchr::memchr(b'*', &text[start..]).unwrap_or(text.len() - start);
            failures(&text[start..start + len], start, &mut failure[start..=start + len]);
            start += len + 1;
        }
        let mut left: Vec<u32> = Vec::with_capacity(text.len() + 1);
        left.push(0);
        for &byte in text.iter().rev() {
            left.push(left.last().copied().unwrap_or_default() + u32::from(byte == b'*'));
        }
        left.reverse();
        Some(Wildcards { failure: failure.into(), left: left.into() })
    }

    fn failure(&self, at: u32) -> Option<u32> {
        self.failure.get(at as usize).copied().filter(|&failure| failure != NONE)
    }
}

/// Where each position of a segment, which begins at `start`, goes on after a mismatch.
fn failures(segment: &[u8], start: usize, failure: &mut [u32]) {
    failure[0] = start as u32;
    let mut matched = 0;
    for at in 1..=segment.len() {
        failure[at] = (start + matched) as u32;
        if at < segment.len() {
            while matched > 0 && segment[matched] != segment[at] {
                matched = failure[matched] as usize - start;
            }
            matched += usize::from(segment[matched] == segment[at]);
        }
    }
}
