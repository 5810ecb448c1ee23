//! Conditions on a path, each with rules in order of precedence, and the rules' progress through the path.
//!
//! A pattern has one position at a time. After a wildcard, earlier positions no longer matter, because any text may
//! precede the rest of the pattern. The position is then the longest prefix of the next segment that the text read so
//! far ends with, as in the algorithm by Knuth, Morris and Pratt.

use std::borrow::Cow;
use std::collections::HashMap;

use reptile_engine::format::automaton::kind_of;
use reptile_engine::verdict::RuleKind;

use crate::oracle::pattern_matches;
use crate::rules::order::{OrderedRule, RuleList};

/// A rule. Small, because a ruleset may have a million.
pub(super) struct Pattern<'l> {
    /// The pattern without the end anchor and trailing wildcards; every `*` in it is a wildcard.
    text: &'l [u8],
    /// Tables for its wildcards, if it has any.
    wildcards: Option<Box<Wildcards>>,
    /// The index of its condition.
    condition: u8,
    /// Whether the condition holds if this rule decides.
    holds: bool,
    /// Whether the match must end at the end of the path.
    anchored: bool,
}

/// A condition on a path: which of its rules decides.
pub(super) struct Condition<'l> {
    /// The deciding rule first.
    rules: Vec<ConditionRule<'l>>,
    /// Whether the condition holds if no rule matches.
    otherwise: bool,
    /// The index of the rules' normal form.
    form: usize,
}

pub(super) struct ConditionRule<'l> {
    /// The pattern without the end anchor and trailing wildcards.
    pub(super) text: &'l [u8],
    /// Whether the match must end at the end of the path.
    pub(super) anchored: bool,
    /// The precedence; the smaller value decides.
    pub(super) place: u64,
    /// Whether the condition holds if this rule decides.
    pub(super) holds: bool,
}

impl<'l> Condition<'l> {
    pub(super) fn new(mut rules: Vec<ConditionRule<'l>>, otherwise: bool) -> Condition<'l> {
        rules.sort_by_key(|rule| rule.place);
        Condition { rules, otherwise, form: 0 }
    }

    /// Creates a condition that holds where rules that decide together give the `wanted` verdict. `otherwise` is their
    /// verdict if no rule matches.
    pub(super) fn verdict(lists: &'l [RuleList], otherwise: RuleKind, wanted: RuleKind) -> Condition<'l> {
        let rule = |rule: OrderedRule<'l>| {
            let kind = kind_of(rule.rank);
            let place = if lists.len() > 1 { rule.key.unwrap_or(u32::MAX) } else { rule.rank / 2 };
            // An allow wins against a disallow with the same precedence.
            let place = 2 * u64::from(place) + kind as u64;
            ConditionRule { text: rule.matcher, anchored: rule.anchored, place, holds: kind == wanted }
        };
        let rules = || lists.iter().flat_map(RuleList::iter).filter(|rule| !rule.is_empty);
        let mut all = Vec::with_capacity(rules().count());
        all.extend(rules().map(rule));
        Condition::new(all, otherwise == wanted)
    }

    /// Sets the index of the rules' normal form.
    pub(super) fn in_form(self, form: usize) -> Condition<'l> {
        Condition { form, ..self }
    }
}

/// Rules out deciders. If a rule decides no path that meets both conditions, the rule no longer makes its condition
/// hold. The same applies to the outcome without a matching rule. Rulesets with many common rules then have few
/// deciders left, and the search drops most states early.
///
/// A rule's twin is the other condition's rule with the same pattern. Where a rule matches, its twin matches too, so
/// the other side's decider is the twin or an earlier rule. `translate` converts a pattern of the condition with the
/// given number to the other condition's normal form, or returns `None` if the converted pattern is unknown.
pub(super) fn rule_out<'t>(
    conditions: [&mut Condition<'t>; 2],
    translate: impl Fn(usize, &'t [u8]) -> Option<Cow<'t, [u8]>>,
) {
    let [first, second] = conditions;
    let twins = [first.twins(second, |text| translate(0, text)), second.twins(first, |text| translate(1, text))];
    let [of_first, of_second] = &twins;
    let possible = [first.possible(second, [of_first, of_second]), second.possible(first, [of_second, of_first])];
    for (condition, possible) in [first, second].into_iter().zip(possible) {
        let outcomes = condition.rules.iter_mut().map(|rule| &mut rule.holds).chain([&mut condition.otherwise]);
        outcomes.zip(possible).for_each(|(holds, possible)| *holds = possible);
    }
}

/// Returns whether a pattern without trailing wildcards and the end anchor matches a path, by the oracle's matcher.
pub(super) fn matches_slowly(text: &[u8], anchored: bool, path: &[u8]) -> bool {
    // A final `$` in the text is not an anchor.
    let end = if anchored { b"$" } else { b"*" };
    let prefix = memchr::memchr(b'*', text).map_or(text, |end| &text[..end]);
    path.starts_with(prefix) && pattern_matches(&[text, end].concat(), path)
}

/// Returns the steps of [`matches_slowly`]: the pattern's bytes, and for a wildcard pattern times the path's if the path
/// begins like it.
pub(super) fn slow_steps(text: &[u8], path: &[u8]) -> usize {
    match memchr::memchr(b'*', text) {
        Some(end) if path.starts_with(&text[..end]) => text.len().saturating_mul(path.len()),
        _ => text.len(),
    }
}

/// The place of a missing twin, which rules nothing out.
const NO_TWIN: usize = usize::MAX;

impl<'l> Condition<'l> {
    /// Returns the index of each rule's twin in another condition.
    fn twins(&self, other: &Condition<'l>, translate: impl Fn(&'l [u8]) -> Option<Cow<'l, [u8]>>) -> Vec<usize> {
        let mut places = HashMap::with_capacity(other.rules.len());
        for (place, rule) in other.rules.iter().enumerate() {
            places.entry((Cow::Borrowed(rule.text), rule.anchored)).or_insert(place);
        }
        let twin = |rule: &ConditionRule<'l>| {
            let place = translate(rule.text).and_then(|text| places.get(&(text, rule.anchored)).copied());
            place.unwrap_or(NO_TWIN)
        };
        self.rules.iter().map(twin).collect()
    }

    /// Returns whether the condition holds if each rule decides, and if no rule matches.
    fn outcomes(&self) -> impl Iterator<Item = bool> + '_ {
        self.rules.iter().map(|rule| rule.holds).chain([self.otherwise])
    }

    /// Returns for each rule, and for the outcome without a matching rule, whether it can make the condition hold on a
    /// path that also meets another condition. `own_twins` are the twins of this condition's rules, and `twins` the
    /// twins of the other condition's rules.
    fn possible(&self, other: &Condition<'_>, [own_twins, twins]: [&[usize]; 2]) -> Vec<bool> {
        // For each rule of the other condition, the latest twin among the rules up to it that make that condition hold.
        let mut latest: Vec<Option<usize>> = Vec::with_capacity(other.rules.len() + 1);
        for (holds, &twin) in other.outcomes().zip(twins.iter().chain([&NO_TWIN])) {
            let known = latest.last().copied().flatten();
            latest.push(if holds { known.max(Some(twin)) } else { known });
        }
        let decides = |(place, (holds, &twin)): (usize, (bool, &usize))| {
            let latest = latest.get(twin.min(other.rules.len())).copied().flatten();
            holds && latest.is_some_and(|latest| latest >= place)
        };
        self.outcomes().zip(own_twins.iter().chain([&NO_TWIN])).enumerate().map(decides).collect()
    }
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

/// The rules of all conditions, condition by condition, each with the deciding rule first.
pub(super) struct Patterns<'l> {
    all: Vec<Pattern<'l>>,
    /// For each condition, whether it holds if no rule matches, and the index of its normal form.
    conditions: Vec<(bool, usize)>,
}

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
    /// Collects the rules of conditions, which must be fewer than 256.
    pub(super) fn of(conditions: Vec<Condition<'l>>) -> Patterns<'l> {
        let mut all = Vec::with_capacity(conditions.iter().map(|condition| condition.rules.len()).sum());
        let outcomes = conditions.iter().map(|condition| (condition.otherwise, condition.form)).collect();
        for (number, condition) in (0..).zip(conditions) {
            all.extend(condition.rules.into_iter().map(|rule| Pattern {
                text: rule.text,
                wildcards: Wildcards::of(rule.text).map(Box::new),
                condition: number,
                holds: rule.holds,
                anchored: rule.anchored,
            }));
        }
        Patterns { all, conditions: outcomes }
    }

    /// Returns for each condition whether it holds if no rule matches.
    pub(super) fn otherwise(&self) -> impl Iterator<Item = bool> + '_ {
        self.conditions.iter().map(|&(otherwise, _)| otherwise)
    }

    /// Returns the index of a rule's condition.
    pub(super) fn condition(&self, rule: u32) -> usize {
        self.all.get(rule as usize).map_or(0, |pattern| usize::from(pattern.condition))
    }

    /// Returns the index of a rule's normal form.
    pub(super) fn form(&self, rule: u32) -> usize {
        self.conditions.get(self.condition(rule)).map_or(0, |&(_, form)| form)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        0..self.all.len() as u32
    }

    /// Returns a rule's state after the slash that begins every path.
    pub(super) fn after_slash(&self, rule: u32) -> RuleProgress {
        match self.all.get(rule as usize).map(|pattern| pattern.arrive(rule, 0)) {
            Some(RuleProgress::Live(start)) => self.read(start, b"/"),
            Some(moved) => moved,
            None => RuleProgress::Dead,
        }
    }

    /// Returns the minimum number of bytes that a rule must still read to match.
    pub(super) fn bytes_left(&self, Position { rule, at }: Position) -> u32 {
        let Some(pattern) = self.all.get(rule as usize) else { return 0 };
        let wildcards = pattern.wildcards.as_ref().and_then(|wildcards| wildcards.left.get(at as usize)).copied();
        (pattern.text.len() as u32).saturating_sub(at).saturating_sub(wildcards.unwrap_or_default())
    }

    /// Returns whether a rule's condition holds if it decides.
    pub(super) fn holds(&self, rule: u32) -> bool {
        self.all.get(rule as usize).is_some_and(|pattern| pattern.holds)
    }

    /// Returns whether the rule matches a path that ends here.
    pub(super) fn matches_at_end(&self, Position { rule, at }: Position) -> bool {
        // Without an end anchor the rule would already be done.
        self.all.get(rule as usize).is_some_and(|pattern| at as usize == pattern.text.len())
    }

    /// Returns the only byte that a rule can continue with, or `None` for a rule after a wildcard, which continues with
    /// any.
    pub(super) fn only_byte(&self, Position { rule, at }: Position) -> Option<Option<u8>> {
        let pattern = self.all.get(rule as usize)?;
        pattern.failure(at).is_none().then(|| pattern.text.get(at as usize).copied())
    }

    /// Calls `visit` with each byte that is special to a rule after a wildcard: all other bytes lead to the same
    /// position.
    pub(super) fn each_byte(&self, Position { rule, mut at }: Position, mut visit: impl FnMut(u8)) {
        let Some(pattern) = self.all.get(rule as usize) else { return };
        loop {
            pattern.text.get(at as usize).into_iter().for_each(|&byte| visit(byte));
            match pattern.failure(at) {
                Some(failure) if failure != at => at = failure,
                _ => return,
            }
        }
    }

    /// Reads a text, which is not empty.
    pub(super) fn read(&self, position: Position, text: &[u8]) -> RuleProgress {
        let Some(pattern) = self.all.get(position.rule as usize) else { return RuleProgress::Dead };
        text.iter().fold(RuleProgress::Live(position), |progress, &byte| match progress {
            RuleProgress::Live(position) => pattern.read(position, byte),
            progress => progress,
        })
    }

    /// Returns, for each rule, the shortest path that it matches.
    pub(super) fn shortest_paths(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.all.iter().map(|pattern| {
            let text = pattern.text.iter().copied().filter(|&byte| byte != b'*');
            let slash = (pattern.text.first() != Some(&b'/')).then_some(b'/');
            slash.into_iter().chain(text).collect()
        })
    }

    /// Returns up to `max_pairs` pairs of rules from different conditions, which make their conditions hold.
    pub(super) fn pairs(&self, max_pairs: usize) -> Vec<[&Pattern<'l>; 2]> {
        let holding: Vec<&Pattern<'_>> = self.all.iter().filter(|pattern| pattern.holds).collect();
        // A condition's rules are adjacent.
        let of_conditions: Vec<&[&Pattern<'_>]> = holding.chunk_by(|a, b| a.condition == b.condition).collect();
        let mut pairs = Vec::new();
        for (at, rules) in of_conditions.iter().enumerate() {
            let others = || of_conditions.iter().skip(at + 1).copied().flatten();
            let all = rules.iter().flat_map(|&rule| others().map(move |&other| [rule, other]));
            pairs.extend(all.take(max_pairs - pairs.len()));
        }
        pairs
    }
}

/// Returns a path that begins like both patterns, and continues with the first pattern's segments and then the second
/// pattern's. Returns `None` if no path begins like both. `write` appends a byte; its flag says whether only the second
/// pattern requires the byte.
pub(super) fn joint_path(
    first: &Pattern<'_>,
    second: &Pattern<'_>,
    write: impl Fn(u8, bool, &mut Vec<u8>),
) -> Option<Vec<u8>> {
    let [first, second] = [first, second].map(|pattern| {
        let wildcard = memchr::memchr(b'*', pattern.text).unwrap_or(pattern.text.len());
        pattern.text.split_at(wildcard)
    });
    let start = if second.0.starts_with(first.0) {
        second.0
    } else if first.0.starts_with(second.0) {
        first.0
    } else {
        return None;
    };
    let slash = if start.is_empty() { &b"/"[..] } else { &[] };
    // Every path begins with a slash.
    let (common, of_second) = start.split_at(first.0.len().max(1).min(start.len()));
    let mut path = Vec::new();
    for (text, is_of_second) in [(slash, false), (common, false), (of_second, true), (first.1, false), (second.1, true)]
    {
        text.iter().filter(|&&byte| byte != b'*').for_each(|&byte| write(byte, is_of_second, &mut path));
    }
    Some(path)
}

impl Pattern<'_> {
    fn read(&self, Position { rule, mut at }: Position, byte: u8) -> RuleProgress {
        loop {
            if self.text.get(at as usize) == Some(&byte) {
                return self.arrive(rule, at + 1);
            }
            match self.failure(at) {
                None => return RuleProgress::Dead,
                // The segment starts over with the next byte.
                Some(failure) if failure == at => return RuleProgress::Live(Position { rule, at }),
                Some(failure) => at = failure,
            }
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(texts: &[&'static str], holds: bool, otherwise: bool) -> Condition<'static> {
        let rule = |(text, place): (&&'static str, u64)| {
            let (text, anchored) = text.strip_suffix('$').map_or((*text, false), |text| (text, true));
            ConditionRule { text: text.as_bytes(), anchored, place, holds }
        };
        Condition::new(texts.iter().zip(0..).map(rule).collect(), otherwise)
    }

    #[test]
    fn pairs_of_rules_stop_at_the_limit() {
        let conditions = vec![condition(&["/a", "/b"], true, false), condition(&["/c", "/d", "/e"], true, false)];
        let patterns = Patterns::of(conditions);
        for (max_pairs, expected) in [(0, 0), (5, 5), (6, 6), (7, 6)] {
            assert_eq!(patterns.pairs(max_pairs).len(), expected, "{max_pairs}");
        }
    }

    #[test]
    fn joint_paths_begin_as_both_patterns_do() {
        for (first, second, expected) in [
            ("/a*b", "/ac*d", Some("/a(c)b(d)")),
            ("/ac*d", "/a*b", Some("/acd(b)")),
            ("*a", "/*b", Some("/a(b)")),
            ("*a", "*b", Some("/a(b)")),
            ("*a", "/c", Some("/(c)a")),
            ("/a", "/b", None),
            ("/a$", "/a*b", Some("/a(b)")),
        ] {
            let patterns = Patterns::of(vec![condition(&[first], true, false), condition(&[second], true, false)]);
            let write = |byte, is_of_second, path: &mut Vec<u8>| {
                let shown = [b"(", &[byte][..], b")"].concat();
                path.extend_from_slice(if is_of_second { &shown } else { &shown[1..2] });
            };
            let path = joint_path(&patterns.all[0], &patterns.all[1], write);
            assert_eq!(path.as_deref(), expected.map(str::as_bytes), "{first} {second}");
        }
    }

    /// Rules that decide no path that meets both conditions no longer make their condition hold.
    #[test]
    fn common_rules_rule_out_deciders() {
        // The first condition holds with its rules or without a match, the second only with its rules.
        for (first, second, of_first, of_second) in [
            // Equal rules: no rule decides in only one condition.
            (&["/a", "/b"][..], &["/a", "/b"][..], &[true, true, false][..], &[true, true, false][..]),
            // A rule of the second condition decides only where no earlier rule of the first matches.
            (&[], &["/b"], &[true], &[true, false]),
            (&["/a"], &["/a", "/b"], &[true, true], &[true, true, false]),
            (&["/b", "/a"], &["/a"], &[true, true, false], &[true, false]),
        ] {
            let (mut a, mut b) = (condition(first, true, true), condition(second, true, false));
            rule_out([&mut a, &mut b], |_, text| Some(Cow::Borrowed(text)));
            let outcomes = [a.outcomes().collect::<Vec<_>>(), b.outcomes().collect()];
            assert_eq!(outcomes, [of_first.to_vec(), of_second.to_vec()], "{first:?} {second:?}");
        }
        // The second condition's rules have other outcomes than their twins, so none can decide such a path.
        let (mut a, mut b) = (condition(&["/a", "/b"], false, true), condition(&["/a", "/b"], true, false));
        rule_out([&mut a, &mut b], |_, text| Some(Cow::Borrowed(text)));
        assert!(a.outcomes().chain(b.outcomes()).all(|holds| !holds));
        // Without twins, nothing is ruled out.
        let (mut a, mut b) = (condition(&["/a"], false, true), condition(&["/a"], true, false));
        rule_out([&mut a, &mut b], |_, _| None);
        assert_eq!([a.outcomes().collect::<Vec<_>>(), b.outcomes().collect()], [[false, true], [true, false]]);
    }
}
