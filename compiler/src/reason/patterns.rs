//! The rules that decide together, in order of precedence, and their progress through a path byte by byte.
//!
//! A pattern has one position at a time. After a wildcard, earlier positions no longer matter, because any text may
//! precede the rest of the pattern. The position is then the longest prefix of the next segment that the text read so
//! far ends with, as in the algorithm by Knuth, Morris and Pratt.

use reptile_engine::format::automaton::kind_of;
use reptile_engine::verdict::RuleKind;

use crate::rules::order::{OrderedRule, RuleList};

/// A rule. Small, because a ruleset may have a million.
struct Pattern<'l> {
    /// The pattern without the end anchor and trailing wildcards; every `*` in it is a wildcard.
    text: &'l [u8],
    /// Tables for its wildcards, if it has any.
    wildcards: Option<Box<Wildcards>>,
    /// The precedence among all rules; the smaller decides.
    place: u32,
    kind: RuleKind,
    /// Whether the match must end at the end of the path.
    anchored: bool,
}

/// Tables with an entry for each position in a pattern with wildcards.
struct Wildcards {
    /// The position after a mismatch: the longest proper suffix of the segment text read so far that is also a prefix
    /// of the segment, or the same position at the start of a segment. [`NONE`] before the first wildcard.
    failure: Box<[u32]>,
    /// The number of wildcards after the position.
    left: Box<[u32]>,
}

/// A missing failure position: after a mismatch the rule is dead.
const NONE: u32 = u32::MAX;

/// All rules, the deciding rule first.
pub(super) struct Patterns<'l>(Vec<Pattern<'l>>);

/// The progress of a rule through a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Position {
    /// The rule's index in order of precedence.
    pub(super) rule: u32,
    /// The offset in the rule's text: the bytes read so far, including wildcards before the next byte.
    at: u32,
}

/// The state of a rule after a byte.
pub(super) enum RuleProgress {
    /// The rule can no longer match.
    Dead,
    /// The rule matches if the rest of the path fits.
    Live(Position),
    /// The rule matches regardless of the rest.
    Done,
}

impl<'l> Patterns<'l> {
    /// Collects all rules in `lists` that restrict something.
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
        // An allow wins against a disallow with the same precedence.
        patterns.sort_unstable_by_key(|pattern: &Pattern<'_>| (pattern.place, pattern.kind));
        Patterns(patterns)
    }

    /// Returns each rule's number and its state after the slash that begins every path.
    pub(super) fn after_slash(&self) -> impl Iterator<Item = (u32, RuleProgress)> + '_ {
        (0..).zip(&self.0).map(|(rule, pattern)| match pattern.arrive(rule, 0) {
            RuleProgress::Live(start) => (rule, self.read(start, b'/')),
            moved => (rule, moved),
        })
    }

    /// Returns the minimum number of bytes that a rule must still read to match.
    pub(super) fn bytes_left(&self, Position { rule, at }: Position) -> u32 {
        let Some(pattern) = self.0.get(rule as usize) else { return 0 };
        let wildcards = pattern.wildcards.as_ref().and_then(|wildcards| wildcards.left.get(at as usize)).copied();
        (pattern.text.len() as u32).saturating_sub(at).saturating_sub(wildcards.unwrap_or_default())
    }

    /// Returns the rule's kind.
    pub(super) fn kind(&self, rule: u32) -> RuleKind {
        self.0.get(rule as usize).map_or(RuleKind::Allow, |pattern| pattern.kind)
    }

    /// Returns whether the rule matches a path that ends here.
    pub(super) fn matches_at_end(&self, Position { rule, at }: Position) -> bool {
        // Without an end anchor the rule would already be done.
        self.0.get(rule as usize).is_some_and(|pattern| at as usize == pattern.text.len())
    }

    /// Returns the only byte that a rule can continue with, or `None` for a rule after a wildcard, which continues with
    /// any.
    pub(super) fn only_byte(&self, Position { rule, at }: Position) -> Option<Option<u8>> {
        let pattern = self.0.get(rule as usize)?;
        pattern.failure(at).is_none().then(|| pattern.text.get(at as usize).copied())
    }

    /// Calls `visit` with each byte that is special to a rule after a wildcard: all other bytes lead to the same
    /// position.
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
    pub(super) fn read(&self, Position { rule, mut at }: Position, byte: u8) -> RuleProgress {
        let Some(pattern) = self.0.get(rule as usize) else { return RuleProgress::Dead };
        loop {
            if pattern.text.get(at as usize) == Some(&byte) {
                return pattern.arrive(rule, at + 1);
            }
            match pattern.failure(at) {
                None => return RuleProgress::Dead,
                // The segment starts over with the next byte.
                Some(failure) if failure == at => return RuleProgress::Live(Position { rule, at }),
                Some(failure) => at = failure,
            }
        }
    }

    /// Returns, for each rule, the shortest path that it matches.
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

    /// Returns the rule's state after reading `at` bytes of its text.
    fn arrive(&self, rule: u32, at: u32) -> RuleProgress {
        let is_wildcard = self.text.get(at as usize) == Some(&b'*');
        let at = at + u32::from(is_wildcard);
        if at as usize == self.text.len() && !self.anchored {
            return RuleProgress::Done;
        }
        RuleProgress::Live(Position { rule, at })
    }
}

impl Wildcards {
    /// Builds the tables for a pattern, or returns `None` if it has no wildcards.
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

/// Fills in the positions after a mismatch for a segment that begins at `start`.
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
