//! Checks that a file's rules stay within the limits of one decision.
//!
//! The check runs before a file becomes part of a set, so that only the file is refused and not the whole set.

use std::collections::HashMap;
use std::fmt;

use bumpalo::Bump;
use reptile_engine::format::TooLarge;
use reptile_engine::format::automaton::{AutomatonDraft, MAX_FALLBACK_BYTES, MAX_PASSES, fallback_bytes};
use reptile_engine::norm::NormalForm;
use reptile_engine::verdict::RuleKind;

use super::strategy::{Strategy, draft};
use crate::body::{Group, RawRule};
use crate::rules::order::RuleList;

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
        let mut fallback_bytes = size_of::<u32>();
        // Texts before first wildcards, each with the automata and fallbacks of its adjacent patterns. The automaton
        // that they share is added below.
        let mut starts: Vec<(&[u8], [usize; 2])> = Vec::new();
        for rule in list.iter().filter(|rule| rule.has_wildcard) {
            let mut wildcards = memchr::memchr_iter(b'*', rule.matcher);
            let Some(first) = wildcards.next() else { continue };
            let (start, nested) = (&rule.matcher[..first], wildcards.count());
            fallback_bytes += 24 + 4 * nested + rule.matcher.len();
            let most = [2 * nested, 1];
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

    /// Returns an upper bound for all automata of a file that may decide together, based on the rules as written. At most
    /// `most_lists` lists decide together.
    ///
    /// Like [`VerdictCost::most_of_list`], but compares only the first bytes of the texts before wildcards, by their
    /// hash. Patterns with the same hash add up. Takes one pass over the rules.
    fn most_of_groups(groups: &[Group<'_>], most_lists: usize) -> VerdictCost {
        // For each hash, the passes, and the last group whose shared automaton they include.
        let mut cells = [(0, usize::MAX); START_CELLS];
        // A path begins with only one text of each length.
        let mut most_by_len = [0; START_BYTES + 1];
        let mut fallback_bytes = size_of::<u32>() * groups.len();
        for (index, group) in groups.iter().enumerate() {
            for RawRule { kind, value, .. } in group.rules {
                let Some(first) = memchr::memchr(b'*', value) else { continue };
                let Some(last) = value.iter().rposition(|&byte| byte != b'*').filter(|&last| last > first) else {
                    continue;
                };
                let nested = value[first + 1..last].iter().filter(|&&byte| byte == b'*').count();
                // An allow may also permit a directory, by a second rule with the same wildcards.
                let rules = if *kind == RuleKind::Allow { 2 } else { 1 };
                // Normalization at most triples a byte.
                fallback_bytes += rules * (24 + 4 * nested + 3 * value.len());
                let (start, len) = start_of(value);
                let cell = &mut cells[(start.wrapping_mul(START_FACTOR) >> START_SHIFT) as usize];
                // First wildcards after the same text share one automaton.
                let is_whole = len == first;
                let for_first = usize::from(!is_whole || cell.1 != index);
                *cell = (cell.0 + for_first + rules * (2 * nested + 1), if is_whole { index } else { cell.1 });
                most_by_len[len] = most_by_len[len].max(cell.0);
            }
        }
        VerdictCost { passes: most_lists + most_by_len.iter().sum::<usize>(), fallback_bytes }
    }
}

/// Returns the start of a pattern, at most [`START_BYTES`] bytes, and its length. It ends before the first wildcard and
/// before the first byte that a normal form may change.
fn start_of(pattern: &[u8]) -> (u64, usize) {
    let start = pattern.first_chunk().copied().unwrap_or_else(|| {
        let mut start = [0; START_BYTES];
        start[..pattern.len()].copy_from_slice(pattern);
        start
    });
    let len = start.iter().position(|&byte| !NormalForm::is_kept(byte)).unwrap_or(START_BYTES);
    // Clears the bytes after the first `len`.
    let mask = u64::MAX.checked_shr(u64::BITS - 8 * len as u32).unwrap_or(0);
    (u64::from_le_bytes(start) & mask, len)
}

/// Maximum number of bytes of a text that [`VerdictCost::most_of_groups`] compares.
const START_BYTES: usize = size_of::<u64>();

/// The number of different hashes.
const START_CELLS: usize = 512;

/// The hash's multiplier: 2^64 divided by the golden ratio, which spreads similar numbers.
const START_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The shift that keeps the product's highest bits, enough for an index into [`START_CELLS`] cells.
const START_SHIFT: u32 = u64::BITS - START_CELLS.ilog2();

fn add(a: [usize; 2], b: [usize; 2]) -> [usize; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

/// Checks a draft before it is written.
pub(super) fn check(draft: &AutomatonDraft<'_>) -> Result<(), TooLarge> {
    VerdictCost::of_draft(draft).check()
}

/// Returns whether [`check_file`] certainly accepts a file's rules, based on the rules as written, if at most
/// `most_lists` lists decide together.
///
/// Takes one pass over the body, and another over the rules if there are many wildcards. A large body needs only the
/// pass over the rules.
pub(crate) fn has_few_steps(body: &[u8], groups: &[Group<'_>], most_lists: usize) -> bool {
    // Normalization at most triples a byte, and a fallback pattern has a header.
    // Counting all is faster than stopping early.
    let few_wildcards = || memchr::memchr_iter(b'*', body).count().saturating_mul(2) + most_lists <= MAX_PASSES;
    body.len() <= MAX_FALLBACK_BYTES / 4 && few_wildcards()
        || VerdictCost::most_of_groups(groups, most_lists).check().is_ok()
}

/// Checks that a decision by a file's lists stays within [`MAX_PASSES`] and [`MAX_FALLBACK_BYTES`], even if a product
/// token has several lists that decide together.
///
/// `tokens` are sorted, each with the index of a list; each list comes with the lines of its rules by position.
///
/// Time: one pass over the lists, plus sorting the texts before wildcards; if that is inconclusive, the time to compile
/// the lists. [`has_few_steps`] takes less time, and makes this check unnecessary for nearly all files.
///
/// # Errors
/// Returns the first limit that is exceeded.
pub(crate) fn check_file<T: PartialEq>(
    tokens: &[(T, u32)],
    lists: &[(RuleList, Vec<u32>)],
) -> Result<(), TooManySteps> {
    let mut costs: Vec<VerdictCost> = lists.iter().map(|(list, _)| VerdictCost::most_of_list(list)).collect();
    let mut exact: HashMap<u32, VerdictCost> = HashMap::new();
    let alone = (0..lists.len() as u32).map(|index| vec![index]);
    let runs = tokens.chunk_by(|a, b| a.0 == b.0);
    let together = runs.filter(|run| run.len() > 1).map(|run| run.iter().map(|&(_, list)| list).collect());
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
    use crate::body::parse;
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
                body.extend_from_slice([&b""[..], b"User-agent: a\n", b"User-agent: *\n"][(below(30) as usize) / 14]);
                body.extend_from_slice([&b"Disallow: /"[..], b"Allow: /", b"Disallow: /a*"][below(3) as usize]);
                body.extend((0..below(longest)).map(|_| letters[below(letters.len() as u64) as usize]));
                body.extend_from_slice([&b"\n"[..], b"$\n", b"/index.htm\n", b"/%69ndex.htm\n"][below(4) as usize]);
            }
            let arena = Bump::new();
            let most_of_groups = {
                let groups = parse(&body, &GOOGLE_LIB, &arena).groups;
                VerdictCost::most_of_groups(&groups, 1)
            };
            for (list, _) in prepare(&body, &GOOGLE_LIB, &Bump::new()).unwrap().groups {
                let most = VerdictCost::most_of_list(&list);
                assert!(most.passes <= most_of_groups.passes, "{}", body.escape_ascii());
                assert!(most.fallback_bytes <= most_of_groups.fallback_bytes, "{}", body.escape_ascii());
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
        assert!(lists > 4_000, "{lists}");
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
    fn short_files_with_few_wildcards_have_few_steps_whatever_their_rules() {
        let groups = |count| vec![Group { agents: &[], rules: &[] }; count];
        let pattern = "/a*b*".repeat(MAX_PASSES);
        let costly = [RawRule { kind: RuleKind::Allow, value: pattern.as_bytes(), line: 1 }];
        for (count, wildcards) in [(1, (MAX_PASSES - 1) / 2), (2, (MAX_PASSES - 2) / 2), (MAX_PASSES, 0)] {
            let has_few = |count, wildcards: usize| {
                let mut groups = groups(count);
                groups[0].rules = &costly;
                has_few_steps("*".repeat(wildcards).as_bytes(), &groups, count)
            };
            assert!(has_few(count, wildcards), "{count}");
            assert!(!has_few(count, wildcards + 1), "{count}");
            assert!(!has_few(count + 2, wildcards), "{count}");
        }
        let most = MAX_FALLBACK_BYTES / 4;
        for (len, is_few) in [(0, true), (most - 1, true), (most, true), (most + 1, false)] {
            assert!(!has_few_steps(&vec![b'a'; len], &groups(MAX_PASSES + 1), MAX_PASSES + 1), "{len}");
            assert!(has_few_steps(&vec![b'a'; len], &groups(MAX_PASSES + 1), 1), "{len}");
            let groups = [Group { agents: &[], rules: &costly }];
            assert_eq!(has_few_steps(&vec![b'a'; len], &groups, 1), is_few, "{len}");
        }
    }

    /// Each group has one pass for its trie, and one for each text before first wildcards, or one for each pattern if
    /// that text is cut off. Each pattern has one pass as a fallback, and two for each wildcard after its first. For
    /// these, an allow counts as two patterns.
    #[test]
    fn costs_of_rules_as_written_follow_from_their_wildcards() {
        let long = "/abcdefghi*x";
        for (groups, passes) in [
            (&[&["/a", "/a*", "/a**"][..]][..], [1, 1]),
            (&[&["/a*b"]], [3, 4]),
            (&[&["/a*b*c*d***"]], [7, 12]),
            (&[&["/a*b", "/a*c"]], [4, 6]),
            (&[&["/a*b"], &["/a*c"]], [6, 8]),
            // A path can begin with only one of two texts of the same length.
            (&[&["/a*b", "/b*c"]], [3, 4]),
            (&[&["/a*b", "/ab*c"]], [5, 7]),
            // Only the first eight bytes are compared, and none from a percent sign on.
            (&[&["/%61*b"]], [3, 4]),
            (&[&["/%61*b", "/%61*c"]], [5, 7]),
            (&[&[long, "/abcdefgxx*x"]], [5, 7]),
            (&[&[long, "/abcdefg*x"]], [5, 7]),
            (&[&["/abcdefg*x", long]], [5, 7]),
            (&[&["/abcdefg*x", long, "/abcdefg*y"]], [6, 9]),
            (&[&[long, "/abcdxfghi*x"]], [3, 4]),
        ] {
            for (kind, passes) in [RuleKind::Disallow, RuleKind::Allow].into_iter().zip(passes) {
                let rules = |patterns: &[&'static str]| -> Vec<RawRule<'static>> {
                    patterns.iter().map(|value| RawRule { kind, value: value.as_bytes(), line: 1 }).collect()
                };
                let rules: Vec<Vec<RawRule<'_>>> = groups.iter().map(|patterns| rules(patterns)).collect();
                let groups: Vec<Group<'_>> = rules.iter().map(|rules| Group { agents: &[], rules }).collect();
                assert_eq!(VerdictCost::most_of_groups(&groups, groups.len()).passes, passes, "{kind:?} {rules:?}");
            }
        }
    }
}
