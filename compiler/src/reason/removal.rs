//! Proves whether single rules matter: whether a rule ever decides, and whether a verdict changes without it. Also
//! proves whether a group opens what the default group closes.
//!
//! Only rules whose text before the first wildcard fits can match the same path, so each question is about few rules
//! ([`ListRules`]). Simple paths answer nearly all questions at once. The search answers the others; beyond the limit
//! on its steps, nothing is proved.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::norm::{NormalForm, Pattern};
use reptile_engine::url::MAX_URL_BYTES;
use reptile_engine::verdict::RuleKind;

use super::MIN_ORIGIN_BYTES;
use super::paths::Paths;
use super::patterns::{Condition, ConditionRule, Patterns, matches_slowly, slow_steps};
use super::search::{ROBOTS_TXT, SearchResult, search};
use crate::body::RawRule;
use crate::dialect::Dialect;
use crate::limits::{MAX_FILE_PROOF_STEPS, MAX_RULE_PROOF_STEPS};
use crate::rules::order::{key_of, meaning_of, slash_before_index};

/// A rule in normal form. An allow of an index page has a second one for its directory.
#[derive(Clone, Copy)]
struct Matcher<'b> {
    /// Without trailing wildcards and the end anchor, and without consecutive wildcards.
    pattern: Pattern<'b>,
    /// The precedence; the smaller value decides.
    place: u64,
    kind: RuleKind,
    line: u32,
}

impl<'b> Matcher<'b> {
    fn new(pattern: &'b [u8], rule: &RawRule<'_>, dialect: &Dialect, arena: &'b Bump) -> Matcher<'b> {
        let key = key_of(pattern, rule.kind, rule.line, dialect.order);
        let mut pattern = Pattern::new(pattern).without_trailing_wildcards();
        if memchr::memmem::find(pattern.text, b"**").is_some() {
            let mut once = BumpVec::from_iter_in(pattern.text.iter().copied(), arena);
            once.dedup_by(|a, b| *a == b'*' && *b == b'*');
            pattern.text = once.into_bump_slice();
        }
        Matcher { pattern, place: u64::from(key) << 32 | u64::from(rule.line), kind: rule.kind, line: rule.line }
    }

    fn in_condition(&self, holds: bool) -> ConditionRule<'b> {
        ConditionRule { text: self.pattern.text, anchored: self.pattern.anchored, place: self.place, holds }
    }

    /// Returns simple paths that the rule matches.
    fn simple_paths(&self) -> impl Iterator<Item = Vec<u8>> {
        let fill = |wildcard: &[u8], end: &[u8]| {
            let mut path = if self.pattern.text.first() == Some(&b'/') { Vec::new() } else { b"/".to_vec() };
            for &byte in self.pattern.text {
                if byte == b'*' { path.extend_from_slice(wildcard) } else { path.push(byte) }
            }
            path.extend_from_slice(if self.pattern.anchored { b"" } else { end });
            path
        };
        [fill(b"", b""), fill(b"zq", b""), fill(b"", b"zq"), fill(b"zq/", b"/zq")].into_iter()
    }
}

/// Rules with the same text before the first wildcard.
struct PrefixRun {
    /// The rules' indices among the matchers.
    range: Range<usize>,
    /// The run with the longest text that begins this text.
    parent: Option<usize>,
}

/// A list of rules that decide together, indexed to find rules that can match the same path.
pub(crate) struct ListRules<'b> {
    /// In order of the text before the first wildcard.
    matchers: Vec<Matcher<'b>>,
    runs: Vec<PrefixRun>,
    /// The index of the run of each line's matchers, in line order.
    by_line: Vec<(u32, usize)>,
}

impl<'b> ListRules<'b> {
    /// Collects rules. Takes the time to sort them. Rules without a pattern decide nothing and are left out.
    pub(crate) fn new(rules: &[RawRule<'b>], dialect: &Dialect, arena: &'b Bump) -> ListRules<'b> {
        let mut matchers = Vec::with_capacity(rules.len());
        for rule in rules {
            let rule = meaning_of(rule, dialect);
            let pattern: &'b [u8] = match dialect.normal_form.pattern(rule.value) {
                Cow::Borrowed(_) => rule.value,
                Cow::Owned(pattern) => arena.alloc_slice_copy(&pattern),
            };
            if pattern.is_empty() {
                continue;
            }
            matchers.push(Matcher::new(pattern, &rule, dialect, arena));
            if dialect.index_htm_opens_directory && rule.kind == RuleKind::Allow {
                if let Some(slash) = slash_before_index(pattern) {
                    let directory = BumpVec::from_iter_in(pattern[..=slash].iter().chain(b"$").copied(), arena);
                    matchers.push(Matcher::new(directory.into_bump_slice(), &rule, dialect, arena));
                }
            }
        }
        matchers.sort_unstable_by_key(|matcher| (matcher.pattern.prefix(), matcher.place));
        let (mut runs, mut start): (Vec<PrefixRun>, usize) = (Vec::new(), 0);
        let mut parents: Vec<(usize, &[u8])> = Vec::new();
        for run in matchers.chunk_by(|a, b| a.pattern.prefix() == b.pattern.prefix()) {
            let prefix = run.first().map_or(&b""[..], |matcher| matcher.pattern.prefix());
            while parents.last().is_some_and(|(_, parent)| !prefix.starts_with(parent)) {
                parents.pop();
            }
            let parent = parents.last().map(|&(index, _)| index);
            parents.push((runs.len(), prefix));
            runs.push(PrefixRun { range: start..start + run.len(), parent });
            start += run.len();
        }
        let lines = |(index, run): (usize, &PrefixRun)| {
            matchers.get(run.range.clone()).unwrap_or_default().iter().map(move |matcher| (matcher.line, index))
        };
        let mut by_line: Vec<(u32, usize)> = runs.iter().enumerate().flat_map(lines).collect();
        by_line.sort_unstable();
        ListRules { matchers, runs, by_line }
    }

    fn run(&self, run: &PrefixRun) -> &[Matcher<'b>] {
        self.matchers.get(run.range.clone()).unwrap_or_default()
    }

    fn prefix(&self, run: &PrefixRun) -> &'b [u8] {
        self.run(run).first().map_or(&[], |matcher| matcher.pattern.prefix())
    }

    /// Returns the rules that may match a path of a line's rule, including that rule itself.
    fn near(&self, line: u32, is_gone: impl Fn(u32) -> bool) -> Vec<Matcher<'b>> {
        let first = self.by_line.partition_point(|&(other, _)| other < line);
        let own = self.by_line.get(first..).unwrap_or_default().iter().take_while(|&&(other, _)| other == line);
        let mut runs: Vec<usize> = Vec::new();
        for &(_, index) in own {
            let Some(run) = self.runs.get(index) else { continue };
            let prefix = self.prefix(run);
            let longer = self.runs.iter().skip(index).take_while(|run| self.prefix(run).starts_with(prefix));
            runs.extend((index..).zip(longer).map(|(index, _)| index));
            let mut shorter = run.parent;
            while let Some(index) = shorter {
                runs.push(index);
                shorter = self.runs.get(index).and_then(|run| run.parent);
            }
        }
        runs.sort_unstable();
        runs.dedup();
        let near = runs.into_iter().filter_map(|index| self.runs.get(index)).flat_map(|run| self.run(run));
        near.filter(|matcher| !is_gone(matcher.line)).copied().collect()
    }

    fn condition(&self, holds: impl Fn(&Matcher<'b>) -> bool, otherwise: bool) -> Condition<'b> {
        Condition::new(self.matchers.iter().map(|matcher| matcher.in_condition(holds(matcher))).collect(), otherwise)
    }

    /// Returns the deciding rule's kind and line, by the oracle's matcher.
    fn decide_slowly(&self, path: &[u8]) -> Option<(RuleKind, u32)> {
        let matches = |matcher: &&Matcher<'_>| matches_slowly(matcher.pattern.text, matcher.pattern.anchored, path);
        let best = self.matchers.iter().filter(matches).min_by_key(|matcher| matcher.place)?;
        Some((best.kind, best.line))
    }

    /// Returns the steps of [`decide_slowly`](ListRules::decide_slowly).
    fn slow_steps(&self, path: &[u8]) -> usize {
        let steps = self.matchers.iter().map(|matcher| slow_steps(matcher.pattern.text, path));
        steps.fold(0, usize::saturating_add)
    }

    /// Returns the matchers without precedence, for comparison.
    fn texts(&self) -> HashSet<(&'b [u8], bool)> {
        self.matchers.iter().map(|matcher| (matcher.pattern.text, matcher.pattern.anchored)).collect()
    }
}

/// The precedence, kind and line of a matching rule.
type MatchingRule = (u64, RuleKind, u32);

/// Returns the first two matching lines in order of precedence.
fn best_two(near: &[Matcher<'_>], path: &[u8]) -> (Option<MatchingRule>, Option<MatchingRule>) {
    let (mut first, mut second): (Option<MatchingRule>, Option<MatchingRule>) = (None, None);
    for matcher in near.iter().filter(|matcher| matcher.pattern.matches(path)) {
        let this = (matcher.place, matcher.kind, matcher.line);
        match first {
            // The directory of the same rule's index page.
            Some(best) if best.2 == this.2 => first = Some(if this.0 < best.0 { this } else { best }),
            Some(best) if best.0 < this.0 => {
                if second.is_none_or(|second| this.0 < second.0) {
                    second = Some(this);
                }
            }
            best => (first, second) = (Some(this), best),
        }
    }
    (first, second)
}

/// The effect of a rule on verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Influence {
    /// Without the rule, some path has another verdict.
    Needed,
    /// The rule decides this path among others, but without it every path has the same verdict.
    Superfluous(Vec<u8>),
    /// The rule decides no path: rules on these lines together match all of its paths, with higher precedence.
    Hidden {
        /// The lines. Empty if no URL has a path that the rule matches.
        by: Vec<u32>,
        /// Whether one of these rules has the other kind.
        is_overruled: bool,
    },
    /// Nothing was proved.
    Unproved,
}

/// A path that a group opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Proved: there is no such path.
    None,
    /// Such a path, as written in a URL, and the line of the rule that closes it in the default group.
    Path(Vec<u8>, u32),
    /// Nothing was proved.
    Unproved,
}

/// Steps counted for a search before its first one.
const STEPS_TO_SET_UP: usize = 256;

/// Maximum number of hiding lines from which superfluous lines are left out.
const MAX_HIDING_COMPARED: usize = 8;

/// Returns the paths in a normal form. They are derived once.
fn paths_of(form: NormalForm) -> &'static Paths {
    static ALL: [OnceLock<Paths>; NormalForm::ALL.len()] = [const { OnceLock::new() }; NormalForm::ALL.len()];
    let index = NormalForm::ALL.iter().position(|known| *known == form).unwrap_or_default();
    ALL[index].get_or_init(|| Paths::of(form))
}

/// Proves statements about the rules of one file, within [`MAX_FILE_PROOF_STEPS`].
pub(crate) struct RuleProver {
    form: NormalForm,
    paths: &'static Paths,
    robots_txt_always_allowed: bool,
    max_rule_steps: usize,
    steps_left: usize,
}

impl RuleProver {
    pub(crate) fn new(dialect: &Dialect) -> RuleProver {
        RuleProver::with_max_steps(dialect, MAX_RULE_PROOF_STEPS, MAX_FILE_PROOF_STEPS)
    }

    fn with_max_steps(dialect: &Dialect, max_rule_steps: usize, max_file_steps: usize) -> RuleProver {
        RuleProver {
            form: dialect.normal_form,
            paths: paths_of(dialect.normal_form),
            robots_txt_always_allowed: dialect.robots_txt_always_allowed,
            max_rule_steps,
            steps_left: max_file_steps,
        }
    }

    /// Counts steps. Returns whether enough were left.
    fn takes(&mut self, steps: usize) -> bool {
        let enough = steps <= self.steps_left;
        self.steps_left = self.steps_left.saturating_sub(steps);
        enough
    }

    /// Returns whether a normalized path counts and a URL can have it.
    fn is_page(&self, path: &[u8]) -> bool {
        let counts = path != ROBOTS_TXT || !self.robots_txt_always_allowed;
        counts && self.paths.accepts(path) && {
            let written = self.paths.as_written(path);
            written.len() <= MAX_URL_BYTES - MIN_ORIGIN_BYTES && *self.form.path(&written) == *path
        }
    }

    fn search(&mut self, conditions: Vec<Condition<'_>>, rule_steps: &mut usize) -> SearchResult {
        let Some(max_steps) = self.steps_left.min(*rule_steps).checked_sub(STEPS_TO_SET_UP) else {
            return SearchResult { path: None, is_complete: false, steps: 0 };
        };
        let found = search(&Patterns::of(conditions), self.paths, max_steps);
        let steps = found.steps.saturating_add(STEPS_TO_SET_UP);
        *rule_steps = rule_steps.saturating_sub(steps);
        self.takes(steps);
        found
    }

    /// Proves a rule's effect in a list without the lines in `gone`.
    pub(crate) fn influence(&mut self, list: &ListRules<'_>, line: u32, gone: &HashSet<u32>) -> Influence {
        if self.steps_left == 0 {
            return Influence::Unproved;
        }
        let near = list.near(line, |other| gone.contains(&other));
        let mut rule_steps = self.max_rule_steps;
        let own: Vec<Matcher<'_>> = near.iter().filter(|matcher| matcher.line == line).copied().collect();
        let Some(kind) = own.first().map(|matcher| matcher.kind) else { return Influence::Needed };
        let otherwise = RuleKind::Allow;
        // A path that the rule decides, and the lines of rules that decide other paths that it matches.
        let (mut decides, mut hiding): (Option<Vec<u8>>, Vec<u32>) = (None, Vec::new());
        let robots_txt = (!self.robots_txt_always_allowed).then(|| ROBOTS_TXT.to_vec());
        for path in own.iter().flat_map(Matcher::simple_paths).chain(robots_txt) {
            if !self.takes(near.len()) {
                return Influence::Unproved;
            }
            if !own.iter().any(|matcher| matcher.pattern.matches(&path)) || !self.is_page(&path) {
                continue;
            }
            let (first, second) = best_two(&near, &path);
            match first {
                Some((_, _, decider)) if decider == line => {
                    if second.map_or(otherwise, |(_, kind, _)| kind) != kind {
                        return Influence::Needed;
                    }
                    decides.get_or_insert(path);
                }
                Some((_, _, decider)) if !hiding.contains(&decider) => hiding.push(decider),
                _ => {}
            }
        }
        while decides.is_none() {
            let rules = near.iter().filter(|matcher| matcher.line == line || hiding.contains(&matcher.line));
            let rules = rules.map(|matcher| matcher.in_condition(matcher.line == line)).collect();
            let found = self.search(vec![Condition::new(rules, false)], &mut rule_steps);
            match found.path {
                _ if !found.is_complete || !self.takes(near.len()) => return Influence::Unproved,
                None => break,
                Some(path) if !self.is_page(&path) => return Influence::Unproved,
                Some(path) => match best_two(&near, &path) {
                    (Some((_, _, decider)), second) if decider == line => {
                        if second.map_or(otherwise, |(_, kind, _)| kind) != kind {
                            return Influence::Needed;
                        }
                        decides = Some(path);
                    }
                    (Some((_, _, decider)), _) if !hiding.contains(&decider) => hiding.push(decider),
                    // The search and the matcher disagree.
                    _ => return Influence::Unproved,
                },
            }
        }
        let Some(example) = decides else {
            self.leave_out_superfluous(&near, line, &mut hiding, &mut rule_steps);
            hiding.sort_unstable();
            let is_other = |matcher: &Matcher<'_>| matcher.kind != kind && hiding.contains(&matcher.line);
            return Influence::Hidden { is_overruled: near.iter().any(is_other), by: hiding };
        };
        let with = near.iter().map(|matcher| matcher.in_condition(matcher.line == line)).collect();
        let others = near.iter().filter(|matcher| matcher.line != line);
        let without = others.map(|matcher| matcher.in_condition(matcher.kind != kind)).collect();
        let conditions = vec![Condition::new(with, false), Condition::new(without, otherwise != kind)];
        let found = self.search(conditions, &mut rule_steps);
        match found.path {
            _ if !found.is_complete => Influence::Unproved,
            None => Influence::Superfluous(self.paths.as_written(&example)),
            Some(_) => Influence::Needed,
        }
    }

    /// Leaves out lines if the remaining lines still hide the rule.
    fn leave_out_superfluous(
        &mut self,
        near: &[Matcher<'_>],
        line: u32,
        hiding: &mut Vec<u32>,
        rule_steps: &mut usize,
    ) {
        if hiding.len() < 2 || hiding.len() > MAX_HIDING_COMPARED {
            return;
        }
        for left_out in hiding.clone() {
            let is_in = |matcher: &&Matcher<'_>| {
                matcher.line == line || (matcher.line != left_out && hiding.contains(&matcher.line))
            };
            let rules = near.iter().filter(is_in).map(|matcher| matcher.in_condition(matcher.line == line)).collect();
            let found = self.search(vec![Condition::new(rules, false)], rule_steps);
            if found.is_complete && found.path.is_none() {
                hiding.retain(|other| *other != left_out);
            }
        }
    }

    /// Returns the line with which the default group closes a normalized path that a named group opens. Also returns
    /// `None` if too few steps are left.
    pub(crate) fn closed_by(&mut self, default: &ListRules<'_>, named: &ListRules<'_>, path: &[u8]) -> Option<u32> {
        // Counting the steps takes one for each matcher.
        if !self.takes(default.matchers.len() + named.matchers.len())
            || !self.takes(default.slow_steps(path).saturating_add(named.slow_steps(path)))
        {
            return None;
        }
        let is_open = named.decide_slowly(path).is_none_or(|(kind, _)| kind == RuleKind::Allow);
        match default.decide_slowly(path)? {
            (RuleKind::Disallow, line) if is_open => Some(line),
            _ => None,
        }
    }

    /// Searches for a path that the default group closes and a named group opens. If `by_omission` is set, no rule in
    /// the named group may match the path.
    pub(crate) fn opening(&mut self, default: &ListRules<'_>, named: &ListRules<'_>, by_omission: bool) -> Opening {
        let mut rule_steps = self.max_rule_steps;
        let is_closing = |matcher: &&Matcher<'_>| matcher.kind == RuleKind::Disallow;
        if self.steps_left == 0 || !self.takes(default.matchers.len() + named.matchers.len()) {
            return Opening::Unproved;
        }
        let known = named.texts();
        let is_known = |matcher: Matcher<'_>| known.contains(&(matcher.pattern.text, matcher.pattern.anchored));
        if by_omission && default.matchers.iter().filter(is_closing).copied().all(is_known) {
            return Opening::None;
        }
        let closed = default.condition(|matcher| matcher.kind == RuleKind::Disallow, false);
        let open = named.condition(|matcher| !by_omission && matcher.kind == RuleKind::Allow, true);
        let found = self.search(vec![closed, open], &mut rule_steps);
        match found.path {
            _ if !found.is_complete => Opening::Unproved,
            None => Opening::None,
            Some(path) if !self.is_page(&path) => Opening::Unproved,
            Some(path) => {
                let decided = named.decide_slowly(&path);
                let is_open =
                    if by_omission { decided.is_none() } else { decided.is_none_or(|it| it.0 == RuleKind::Allow) };
                match default.decide_slowly(&path) {
                    Some((RuleKind::Disallow, line)) if is_open => Opening::Path(self.paths.as_written(&path), line),
                    // The search and the oracle's matcher disagree.
                    _ => Opening::Unproved,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::GOOGLE_LIB;

    /// Returns the effect of the first rule, with limits for a rule and for a file.
    fn influence(max_rule_steps: usize, max_file_steps: usize) -> Influence {
        let arena = Bump::new();
        let rule = |line, value| RawRule { kind: RuleKind::Disallow, value, line };
        let list = ListRules::new(&[rule(1, b"/ab"), rule(2, b"/*ab")], &GOOGLE_LIB, &arena);
        let mut prover = RuleProver::with_max_steps(&GOOGLE_LIB, max_rule_steps, max_file_steps);
        prover.influence(&list, 1, &HashSet::new())
    }

    #[test]
    fn proofs_stop_at_each_limit() {
        const ENOUGH: usize = 10_000;
        let proved = Influence::Hidden { by: vec![2], is_overruled: false };
        for ask in [|limit| influence(limit, ENOUGH), |limit| influence(ENOUGH, limit)] {
            let least = (1..ENOUGH).find(|&limit| ask(limit) == proved).unwrap();
            assert!(least > STEPS_TO_SET_UP);
            assert_eq!([least - 1, least, least + 1].map(ask), [Influence::Unproved, proved.clone(), proved.clone()]);
        }
        assert_eq!(influence(MAX_RULE_PROOF_STEPS, MAX_FILE_PROOF_STEPS), proved);
    }
}
