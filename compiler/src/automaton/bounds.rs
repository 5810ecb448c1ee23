//! Checks that a file's rules stay within the limits of one decision.
//!
//! The check runs before a file becomes part of a set, so that only the file is refused and not the whole set.

use std::collections::HashMap;
use std::fmt;

use bumpalo::Bump;
use reptile_engine::format::TooLarge;
use reptile_engine::format::automaton::{AutomatonDraft, MAX_FALLBACK_BYTES, MAX_PASSES, fallback_bytes};
use reptile_engine::norm::NormalForm;

use super::strategy::{Strategy, draft};
use crate::body::RawRule;
use crate::rules::order::{RuleList, slash_before_index};

/// The error for a file whose rules need too many steps to decide one URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooManySteps {
    /// The first line with a wildcard among the rules that decide together, or the line of their first rule.
    pub line: u32,
    /// The limit and the actual value.
    pub error: TooLarge,
}

impl fmt::Display for TooManySteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooManySteps { line, error } = self;
        write!(f, "line {line}: the rules that decide together take too long for one URL: {error}")
    }
}

impl std::error::Error for TooManySteps {}

/// The passes over one path, and the bytes of fallback patterns.
#[derive(Clone, Copy, Default)]
struct VerdictCost {
    passes: usize,
    fallback_bytes: usize,
}

impl VerdictCost {
    fn check(self) -> Result<(), TooLarge> {
        for (what, found, limit) in [
            ("passes over one path", self.passes, MAX_PASSES),
            ("bytes of fallback patterns in a ruleset", self.fallback_bytes, MAX_FALLBACK_BYTES),
        ] {
            if found > limit {
                return Err(TooLarge { what, limit: limit as u64, found: found as u64 });
            }
        }
        Ok(())
    }

    fn of_draft(draft: &AutomatonDraft<'_>) -> VerdictCost {
        // On one path, each automaton begins at most once, and each fallback pattern is tried at most once.
        let most = 1 + draft.wildcards.len() + draft.fallbacks.len();
        let passes = if most <= MAX_PASSES { most } else { reptile_engine::automaton::passes(draft) };
        VerdictCost { passes, fallback_bytes: fallback_bytes(draft) }
    }

    /// Returns an upper bound for a list's automaton, based on the wildcards in its patterns. First wildcards after the
    /// same text make one automaton; each other wildcard makes at most one, and one more where several branch; and each
    /// pattern becomes at most one fallback.
    ///
    /// Two patterns add up only if the text before one's first wildcard begins with the text before the other's,
    /// because an automaton begins, and a fallback pattern is tried, only where that text has matched.
    fn most_of_list(list: &RuleList) -> VerdictCost {
        VerdictCost::most_of(list.iter().filter(|rule| rule.has_wildcard).filter_map(|rule| {
            let mut wildcards = memchr::memchr_iter(b'*', rule.matcher);
            let first = wildcards.next()?;
            Some(WildcardPattern {
                start: &rule.matcher[..first],
                is_whole_start: true,
                nested: wildcards.count(),
                len: rule.matcher.len(),
            })
        }))
    }

    /// Returns an upper bound for the automaton of some patterns.
    fn most_of<'m>(patterns: impl Iterator<Item = WildcardPattern<'m>>) -> VerdictCost {
        let mut fallback_bytes = size_of::<u32>();
        // Texts before first wildcards, each with the automata and fallbacks of its adjacent patterns. The automaton
        // that they share is added below.
        let mut starts: Vec<(&[u8], [usize; 2])> = Vec::new();
        for WildcardPattern { start, is_whole_start, nested, len } in patterns {
            fallback_bytes += 24 + 4 * nested + len;
            let most = [usize::from(!is_whole_start) + 2 * nested, 1];
            match starts.last_mut() {
                Some((last, passes)) if *last == start => *passes = add(*passes, most),
                _ => starts.push((start, most)),
            }
        }
        starts.sort_unstable_by_key(|&(start, _)| start);
        // Each text on the stack begins with the one below it, and includes the passes of all below.
        let mut stack: Vec<(&[u8], [usize; 2])> = Vec::new();
        let mut most = [0; 2];
        for same in starts.chunk_by(|a, b| a.0 == b.0) {
            let start = same[0].0;
            while stack.last().is_some_and(|(below, _)| !start.starts_with(below)) {
                stack.pop();
            }
            let before = stack.last().map_or([0; 2], |&(_, passes)| passes);
            let passes = same.iter().fold(add([1, 0], before), |sum, &(_, passes)| add(sum, passes));
            stack.push((start, passes));
            most = [most[0].max(passes[0]), most[1].max(passes[1])];
        }
        VerdictCost { passes: 1 + most[0] + most[1], fallback_bytes }
    }
}

/// A pattern with a wildcard.
struct WildcardPattern<'m> {
    /// The text before the first wildcard, or the start of that text.
    start: &'m [u8],
    /// Whether `start` is the whole text before the first wildcard.
    is_whole_start: bool,
    /// The number of other wildcards.
    nested: usize,
    /// The maximum length of the pattern in normal form.
    len: usize,
}

fn add(a: [usize; 2], b: [usize; 2]) -> [usize; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

/// Checks a draft before it is written.
pub(super) fn check(draft: &AutomatonDraft<'_>) -> Result<(), TooLarge> {
    VerdictCost::of_draft(draft).check()
}

/// Returns whether [`check_file`] would accept any file with as many bytes and wildcards as this one, if at most
/// `most_lists` lists decide together.
///
/// Takes one pass over the body.
pub(crate) fn has_few_steps(body: &[u8], most_lists: usize) -> bool {
    // Normalization at most triples a byte, and a fallback pattern has a header.
    // Counting all is faster than stopping early.
    let few_wildcards = || memchr::memchr_iter(b'*', body).count().saturating_mul(2) + most_lists <= MAX_PASSES;
    body.len() <= MAX_FALLBACK_BYTES / 4 && few_wildcards()
}

/// Returns whether [`check_file`] certainly accepts rules that decide together, by their text as written.
///
/// Returns `false` if a rule with wildcards may also permit a directory, because that adds a second rule.
pub(crate) fn rules_have_few_steps(rules: &[RawRule<'_>]) -> bool {
    let mut permits_directory = false;
    let patterns = rules.iter().filter_map(|RawRule { value, .. }| {
        let end = value.iter().rposition(|&byte| byte != b'*')? + 1;
        let nested = memchr::memchr_iter(b'*', &value[..end]).count().checked_sub(1)?;
        permits_directory |= slash_before_index(value).is_some();
        // No normal form changes these bytes, and normalization at most triples the others.
        let kept = value.iter().take_while(|&&byte| NormalForm::is_kept(byte)).count();
        let is_whole_start = value.get(kept) == Some(&b'*');
        Some(WildcardPattern { start: &value[..kept], is_whole_start, nested, len: 3 * value.len() })
    });
    let most = VerdictCost::most_of(patterns);
    !permits_directory && most.check().is_ok()
}

/// Checks that a decision by a file's lists stays within [`MAX_PASSES`] and [`MAX_FALLBACK_BYTES`], even if a product
/// token has several lists that decide together.
///
/// `tokens` are sorted, each with the index of a list; each list comes with the lines of its rules by position.
///
/// Time: one pass over the body for files with few wildcards, which are nearly all files. Otherwise one pass over the
/// lists, plus sorting the texts before wildcards; if that is inconclusive, the time to compile the lists.
///
/// # Errors
/// Returns the first limit that is exceeded.
pub(crate) fn check_file<T: PartialEq>(
    body: &[u8],
    tokens: &[(T, u32)],
    lists: &[(RuleList, Vec<u32>)],
) -> Result<(), TooManySteps> {
    let runs = || tokens.chunk_by(|a, b| a.0 == b.0);
    if has_few_steps(body, runs().map(<[_]>::len).max().unwrap_or(1)) {
        return Ok(());
    }
    let mut costs: Vec<VerdictCost> = lists.iter().map(|(list, _)| VerdictCost::most_of_list(list)).collect();
    let mut exact: HashMap<u32, VerdictCost> = HashMap::new();
    let alone = (0..lists.len() as u32).map(|index| vec![index]);
    let together = runs().filter(|run| run.len() > 1).map(|run| run.iter().map(|&(_, list)| list).collect());
    for group in alone.chain(together) {
        let sum = |costs: &[VerdictCost]| VerdictCost {
            passes: group.iter().map(|&list| costs[list as usize].passes).sum(),
            // Each ruleset has its own limit.
            fallback_bytes: group.iter().map(|&list| costs[list as usize].fallback_bytes).max().unwrap_or(0),
        };
        if sum(&costs).check().is_ok() {
            continue;
        }
        for &index in &group {
            let list = &lists[index as usize].0;
            let cost =
                || VerdictCost::of_draft(&draft(list, Strategy::Factored, &Bump::new(), &mut Default::default()).0);
            costs[index as usize] = *exact.entry(index).or_insert_with(cost);
        }
        sum(&costs).check().map_err(|error| TooManySteps { line: first_line(&group, lists), error })?;
    }
    Ok(())
}

/// Returns the first line with a wildcard in the given lists, or the line of their first rule.
fn first_line(group: &[u32], lists: &[(RuleList, Vec<u32>)]) -> u32 {
    let of_group = || group.iter().map(|&list| &lists[list as usize]);
    let with_wildcards = of_group().flat_map(|(list, lines)| {
        let rules = list.iter().filter(|rule| rule.has_wildcard);
        rules.filter_map(|rule| lines.get((rule.rank / 2) as usize).copied())
    });
    let all = of_group().flat_map(|(_, lines)| lines.iter().copied());
    with_wildcards.min().or_else(|| all.min()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::GOOGLE_LIB;
    use crate::rules::order::tests::list_of;
    use crate::set::prepare;

    /// Lists accepted by [`VerdictCost::most_of_list`] are not checked again before they are written into a set.
    #[test]
    fn automata_stay_within_the_bound_from_their_wildcards() {
        let mut state = 1_u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let (mut lists, mut with_fallbacks, mut close) = (0, 0, 0);
        for _ in 0..3_000 {
            let mut body = b"User-agent: *\n".to_vec();
            let (rules, longest, letters) =
                (1 + below(30), 1 + below(24), [&b"*a"[..], b"*ab/", b"**abcdefgh"][below(3) as usize]);
            for _ in 0..rules {
                body.extend_from_slice([&b"Disallow: /"[..], b"Allow: /", b"Disallow: /a*"][below(3) as usize]);
                body.extend((0..below(longest)).map(|_| letters[below(letters.len() as u64) as usize]));
                body.extend_from_slice([&b"\n"[..], b"$\n"][below(2) as usize]);
            }
            for (list, _) in prepare(&body, &GOOGLE_LIB, &Bump::new()).unwrap().groups {
                let most = VerdictCost::most_of_list(&list);
                for strategy in [Strategy::Factored, Strategy::Fallback] {
                    let arena = Bump::new();
                    let draft = draft(&list, strategy, &arena, &mut Default::default()).0;
                    let passes = reptile_engine::automaton::passes(&draft);
                    assert!(passes <= most.passes, "{passes} > {}: {}", most.passes, body.escape_ascii());
                    assert!(fallback_bytes(&draft) <= most.fallback_bytes, "{}", body.escape_ascii());
                    with_fallbacks += u32::from(!draft.fallbacks.is_empty());
                    close += u32::from(passes > 2 && 2 * passes >= most.passes);
                }
                lists += 1;
            }
        }
        assert_eq!(lists, 3_000);
        assert!(with_fallbacks > 1_000 && close > 300, "{with_fallbacks} {close}");
    }

    #[test]
    fn costs_up_to_the_limits_are_accepted() {
        for (passes, fallback_bytes, found) in [
            (MAX_PASSES - 1, MAX_FALLBACK_BYTES - 1, None),
            (MAX_PASSES, MAX_FALLBACK_BYTES, None),
            (MAX_PASSES + 1, 0, Some(MAX_PASSES + 1)),
            (0, MAX_FALLBACK_BYTES + 1, Some(MAX_FALLBACK_BYTES + 1)),
        ] {
            let error = VerdictCost { passes, fallback_bytes }.check().err();
            assert_eq!(error.map(|error| error.found as usize), found, "{passes} passes, {fallback_bytes} bytes");
        }
    }

    /// A pattern takes 24 bytes as a fallback, its text, and 4 bytes for each wildcard after its first. The number of
    /// patterns takes 4.
    #[test]
    fn costs_of_lists_follow_from_their_wildcards() {
        for (patterns, passes, fallback_bytes) in [
            (&["/a"][..], 1, 4),
            (&["/a*b"], 3, 4 + 28),
            (&["/a*b*c*d"], 7, 4 + 40),
            (&["/a*b", "/a*c"], 4, 4 + 2 * 28),
            // Only one of two texts that differ can match.
            (&["/a*b", "/b*c"], 3, 4 + 2 * 28),
            (&["/a*b", "/ab*c"], 5, 4 + 28 + 29),
            (&["/a*b", "/ab*c", "/b*c*d", "/c"], 6, 4 + 28 + 29 + 34),
            (&["/b*c*d*e*f", "/a*b", "/ab*c"], 10, 4 + 46 + 28 + 29),
        ] {
            let rules: Vec<String> = patterns.iter().map(|pattern| format!("disallow: {pattern}")).collect();
            let cost = VerdictCost::most_of_list(&list_of(&rules, &GOOGLE_LIB));
            assert_eq!((cost.passes, cost.fallback_bytes), (passes, fallback_bytes), "{patterns:?}");
        }
    }

    #[test]
    fn costs_of_automata_are_their_passes() {
        for (pattern, strategy, passes, fallback_bytes) in [
            ("/a", Strategy::Factored, 1, 4),
            ("/a*b", Strategy::Factored, 2, 4),
            ("/a*b", Strategy::Fallback, 2, 4 + 27),
        ] {
            let list = list_of(&[format!("disallow: {pattern}")], &GOOGLE_LIB);
            let arena = Bump::new();
            let cost = VerdictCost::of_draft(&draft(&list, strategy, &arena, &mut Default::default()).0);
            assert_eq!((cost.passes, cost.fallback_bytes), (passes, fallback_bytes), "{pattern}");
        }
    }

    #[test]
    fn only_short_files_with_few_wildcards_have_few_steps() {
        for (lists, wildcards) in [(1, (MAX_PASSES - 1) / 2), (2, (MAX_PASSES - 2) / 2), (MAX_PASSES, 0)] {
            let body = |wildcards: usize| "*".repeat(wildcards).into_bytes();
            assert!(has_few_steps(&body(wildcards), lists), "{lists}");
            assert!(!has_few_steps(&body(wildcards + 1), lists), "{lists}");
            assert!(!has_few_steps(&body(wildcards), lists + 2), "{lists}");
        }
        let most = MAX_FALLBACK_BYTES / 4;
        for (len, is_few) in [(0, true), (most - 1, true), (most, true), (most + 1, false)] {
            assert_eq!(has_few_steps(&vec![b'a'; len], 1), is_few, "{len}");
        }
    }
}
