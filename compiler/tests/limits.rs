//! Compiler limits, each tested at one less than, exactly at, and one more than the limit.
//!
//! Limits for lines, URLs and hosts are tested where they are enforced: `src/body` and the engine's `url.rs`.

#![allow(clippy::unwrap_used, reason = "a test may")]

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{Dialect, GOOGLE_LIB, RFC9309};
use reptile_compiler::limits::{
    MAX_BODY_BYTES, MAX_MERGED_RULES_PER_RULE, MAX_NESTED_WILDCARDS, MAX_ONCE_STEPS, MAX_SEGMENTS_JOINED,
    MAX_SOURCES_ASKED, MAX_TEXT_BETWEEN, MAX_TRANSITIONS_PER_BYTE_JOINED, MAX_TRIE_WILDCARDS,
    MAX_WHOLE_DFA_PATTERN_BYTES, MAX_WILDCARD_STATES, MIN_MERGED_RULES,
};
use reptile_compiler::once::decide_once;
use reptile_compiler::set::{OwnedOrigin, Prepared, SetBuilder, prepare};
use reptile_engine::automaton::Ruleset;
use reptile_engine::format::automaton::{MAX_FALLBACK_BYTES, MAX_PASSES, MAX_WILDCARD_BRANCHES, MAX_WILDCARD_DEPTH};
use reptile_engine::set::Set;
use reptile_engine::url::{MAX_URL_BYTES, Scheme};
use reptile_engine::verdict::Verdict;

use crate::support::rulesets::{compiled, shape_of};

fn read(body: &str) -> Prepared {
    prepare(body.as_bytes(), &GOOGLE_LIB, &Bump::new()).unwrap()
}

/// Returns a file that disallows patterns.
fn disallowed(patterns: &[String]) -> String {
    format!("user-agent: *\ndisallow: {}\n", patterns.join("\ndisallow: "))
}

#[test]
fn bodies_are_limited_in_size() {
    for (len, fits) in [(MAX_BODY_BYTES - 1, true), (MAX_BODY_BYTES, true), (MAX_BODY_BYTES + 1, false)] {
        let made = prepare(&vec![b'#'; len], &GOOGLE_LIB, &Bump::new());
        assert_eq!(made.is_ok(), fits, "{len}");
        if let Err(error) = made {
            assert_eq!(error.to_string(), "robots.txt has 16777217 bytes, over the limit of 16777216");
        }
    }
}

fn refusal(body: &str, dialect: &Dialect) -> Option<String> {
    prepare(body.as_bytes(), dialect, &Bump::new()).err().map(|error| error.to_string())
}

#[test]
fn passes_over_a_path_are_limited() {
    for (passes, fits) in [(MAX_PASSES - 1, true), (MAX_PASSES, true), (MAX_PASSES + 1, false)] {
        // One pass through the trie, and one for each wildcard after a different text that a path may begin with.
        let texts = (1..passes).map(|n| format!("disallow: /{}*aaab{n}\n", "a".repeat(n)));
        let body: String = ["user-agent: *\ndisallow: /x\n".to_owned()].into_iter().chain(texts).collect();
        let error = "line 3: the rules that decide together take too long for one URL: passes over one path: 257 is over \
                     the limit of 256";
        assert_eq!(refusal(&body, &GOOGLE_LIB), (!fits).then(|| error.to_owned()), "{passes}");
    }
}

/// Returns a file in which two tokens share groups, and each also has its own, so that only the first token's groups
/// are merged.
fn separate_groups(groups: usize) -> String {
    let rules: String = (0..MIN_MERGED_RULES / groups + 1).map(|rule| format!("disallow: /{rule}\n")).collect();
    let shared = (1..groups).map(|_| format!("user-agent: a\nuser-agent: z\n{rules}"));
    shared.chain(["user-agent: a\nallow: /1\nuser-agent: z\nallow: /2\n".to_owned()]).collect()
}

#[test]
fn passes_over_unmerged_groups_are_limited() {
    for (groups, fits) in [(MAX_PASSES - 1, true), (MAX_PASSES, true), (MAX_PASSES + 1, false)] {
        let body = separate_groups(groups);
        let error = "line 3: the rules that decide together take too long for one URL: passes over one path: 257 is over \
                     the limit of 256";
        assert_eq!(refusal(&body, &GOOGLE_LIB), (!fits).then(|| error.to_owned()), "{groups}");
        if fits {
            let apart = read(&body).tokens.iter().filter(|(token, _)| &**token == b"z").count();
            assert_eq!(apart, groups);
        }
    }
}

#[test]
fn sets_whose_groups_need_too_many_passes_are_rejected() {
    for (groups, fits) in [(MAX_PASSES, true), (MAX_PASSES + 1, false)] {
        let mut prepared = read(&separate_groups(MAX_PASSES));
        // Gives the token one group more than the compiler allows.
        for _ in MAX_PASSES..groups {
            let (token, group) = prepared.tokens.last().cloned().unwrap();
            let more = prepared.groups[group as usize].clone();
            prepared.tokens.push((token, prepared.groups.len() as u32));
            prepared.groups.push(more);
        }
        let mut builder = SetBuilder::new(&GOOGLE_LIB);
        builder.add([OwnedOrigin { host: b"h"[..].into(), scheme: Scheme::Http, port: 80 }], prepared);
        let set = Set::from_bytes(builder.finish(Strategy::Factored).unwrap().to_bytes()).unwrap();
        let error = set.verify().err().map(|error| (error.expected().to_owned(), error.found().to_owned()));
        let refused = ("up to 256 passes over one path".to_owned(), "257".to_owned());
        assert_eq!(error, (!fits).then_some(refused), "{groups}");
    }
}

#[test]
fn fallback_pattern_bytes_are_limited() {
    for (bytes, fits) in [(MAX_FALLBACK_BYTES - 1, true), (MAX_FALLBACK_BYTES, true), (MAX_FALLBACK_BYTES + 1, false)] {
        // A header, the segments with their lengths, and the end of the list.
        let wildcards = MAX_WILDCARD_DEPTH + 1;
        let start = format!("/{}", "*a".repeat(wildcards));
        let rest = bytes - (16 + 4 * (wildcards + 1) + start.len() - wildcards + 4);
        let body = format!("user-agent: *\ndisallow: {start}{}\n", "b".repeat(rest));
        let error = "line 2: the rules that decide together take too long for one URL: bytes of fallback patterns in a \
                     ruleset: 2097153 is over the limit of 2097152";
        assert_eq!(refusal(&body, &RFC9309), (!fits).then(|| error.to_owned()), "{bytes}");
    }
}

#[test]
fn one_shot_steps_are_limited() {
    let rules = MAX_ONCE_STEPS / MAX_URL_BYTES;
    // A three-byte pattern and a path three bytes below the limit take as many steps as the longest URL has bytes.
    let path = format!("/{}", "a".repeat(MAX_URL_BYTES - 4));
    for (last, fits) in [("*b", true), ("/*b", true), ("/*bb", false)] {
        let body = format!("user-agent: *\n{}disallow: {last}\n", "disallow: /*b\n".repeat(rules - 1));
        let answer = decide_once(body.as_bytes(), &GOOGLE_LIB, &of_name(b"any", &GOOGLE_LIB), path.as_bytes());
        assert_eq!(answer.is_ok(), fits, "{last}");
        let Err(error) = answer else { continue };
        assert_eq!(
            error.to_string(),
            "steps to try each rule of a file on one URL: 16777217 is over the limit of 16777216"
        );
    }
}

#[test]
fn deeply_nested_wildcards_become_fallbacks() {
    for (wildcards, fallbacks) in
        [(MAX_WILDCARD_DEPTH - 1, false), (MAX_WILDCARD_DEPTH, false), (MAX_WILDCARD_DEPTH + 1, true)]
    {
        let paths = [wildcards - 1, wildcards, wildcards + 1].map(|count| format!("/{}", "xa".repeat(count)));
        let shape = shape_of(&disallowed(&[format!("/{}", "*a".repeat(wildcards))]), Strategy::Factored, &paths);
        assert_eq!(shape.fallbacks, fallbacks, "{wildcards}");
        assert_eq!(shape.wildcards as usize, if fallbacks { 0 } else { wildcards });
    }
}

#[test]
fn wildcards_over_the_trie_limit_become_fallbacks() {
    for texts in [MAX_TRIE_WILDCARDS - 1, MAX_TRIE_WILDCARDS, MAX_TRIE_WILDCARDS + 1] {
        // Two patterns for each text. They share the first wildcard.
        let patterns: Vec<String> = (0..texts).flat_map(|n| [format!("/{n:05}*y"), format!("/{n:05}*z")]).collect();
        let paths = [0, 9, texts - 2, texts - 1, texts].map(|n| format!("/{n:05}xz"));
        let shape = shape_of(&disallowed(&patterns), Strategy::Factored, &paths);
        assert_eq!(shape.fallbacks, texts > MAX_TRIE_WILDCARDS, "{texts}");
        assert_eq!(shape.wildcards as usize, texts.min(MAX_TRIE_WILDCARDS));
    }
}

#[test]
fn excess_nested_wildcards_become_fallbacks() {
    // Each second wildcard follows a different segment, with too few per first wildcard to need several automata.
    let pattern = |n: usize| format!("/{}*<{n}>*z", n / 32);
    for nested in [MAX_NESTED_WILDCARDS - 1, MAX_NESTED_WILDCARDS, MAX_NESTED_WILDCARDS + 1] {
        let patterns: Vec<String> = (0..nested).map(pattern).collect();
        let paths = [0, 9, nested - 2, nested - 1, nested].map(|n| format!("/{}x<{n}>yz", n / 32));
        let shape = shape_of(&disallowed(&patterns), Strategy::Factored, &paths);
        assert_eq!(shape.fallbacks, nested > MAX_NESTED_WILDCARDS, "{nested}");
        assert_eq!(
            shape.wildcards as usize,
            nested.min(MAX_NESTED_WILDCARDS) + nested.min(MAX_NESTED_WILDCARDS).div_ceil(32)
        );
    }
    // Wildcards shared by several patterns count once. A pattern's first wildcard does not count.
    let shared: Vec<String> =
        (0..2 * MAX_NESTED_WILDCARDS).flat_map(|n| [format!("/*a*b{n}"), format!("/{n}*a")]).collect();
    let shape = shape_of(&disallowed(&shared), Strategy::Factored, ["/xaxb7", "/7xa"]);
    assert_eq!((shape.fallbacks, shape.wildcards as usize), (false, 2 * MAX_NESTED_WILDCARDS + 2));
}

#[test]
fn wildcards_with_many_branches_are_split() {
    for (segments, automata) in
        [(MAX_WILDCARD_BRANCHES - 1, 1), (MAX_WILDCARD_BRANCHES, 1), (MAX_WILDCARD_BRANCHES + 1, 2)]
    {
        let patterns: Vec<String> = (0..segments).map(|segment| format!("/*<{segment}>*z")).collect();
        let paths = [0, 1, segments - 1, segments].map(|segment| format!("/x<{segment}>yz"));
        let shape = shape_of(&disallowed(&patterns), Strategy::Factored, &paths);
        assert_eq!((shape.wildcards as usize, shape.fallbacks), (automata + segments, false));
    }
}

/// Returns the steps that matching a path against disallow rules takes. No wildcard matches there, so each one that is
/// tried takes one step.
fn steps_of(patterns: &[String], path: &str) -> usize {
    let bytes = compiled(&disallowed(patterns), &GOOGLE_LIB, Strategy::Factored);
    let (verdict, steps) = Ruleset::new(&bytes).unwrap().verdict_counted(path.as_bytes()).unwrap();
    assert_eq!(verdict, Verdict::Allow);
    steps
}

/// Returns whether the wildcards in two lists of patterns are joined, so that the first list adds no steps.
fn are_joined(first: &[String], second: &[String], path: &str) -> bool {
    let alone = steps_of(second, path);
    let both = steps_of(&[first, second].concat(), path);
    assert!([alone, alone + 1].contains(&both), "{both} steps, {alone} alone");
    both == alone
}

#[test]
fn wildcards_are_joined_up_to_a_distance() {
    for (len, joined) in [(MAX_TEXT_BETWEEN - 1, true), (MAX_TEXT_BETWEEN, true), (MAX_TEXT_BETWEEN + 1, false)] {
        let text = format!("/{}", "t".repeat(len - 1));
        assert_eq!(are_joined(&["*yy".into()], &[format!("{text}*zz")], &text), joined, "{len}");
    }
}

#[test]
fn wildcards_are_joined_up_to_a_segment_count() {
    for (segments, joined) in
        [(MAX_SEGMENTS_JOINED - 1, true), (MAX_SEGMENTS_JOINED, true), (MAX_SEGMENTS_JOINED + 1, false)]
    {
        let first: Vec<String> = (0..segments).map(|segment| format!("*<{segment}>")).collect();
        let second: Vec<String> = (0..segments).map(|segment| format!("/*[{segment}]")).collect();
        assert_eq!(are_joined(&first, &second, "/x"), joined, "{segments}");
    }
}

#[test]
fn wildcards_are_joined_up_to_a_number_of_branches() {
    const HALF: usize = MAX_WILDCARD_BRANCHES / 2;
    const MOST: usize = MAX_WILDCARD_BRANCHES;
    let counts =
        [(HALF - 1, HALF, true), (HALF, HALF, true), (HALF, HALF + 1, false), (1, MOST - 1, true), (1, MOST, false)];
    for (first_count, second_count, joined) in counts {
        let first: Vec<String> = (0..first_count).map(|segment| format!("*<{segment:02}>*z")).collect();
        let second: Vec<String> = (0..second_count).map(|segment| format!("/*[{segment:02}]*z")).collect();
        assert_eq!(are_joined(&first, &second, "/x"), joined, "{first_count} and {second_count}");
    }
}

/// Joining copies the segments of the first wildcard, so it must not have more bytes than the second. Each segment counts
/// as one byte more.
#[test]
fn wildcards_are_joined_unless_the_first_has_more_bytes() {
    for (first, second, joined) in [
        (&["*yyy"][..], "/*zzzz", true),
        (&["*yyyy"], "/*zzzz", true),
        (&["*yyyyy"], "/*zzzz", false),
        (&["*yy", "*x"], "/*zzzz", true),
        (&["*yy", "*xx"], "/*zzzz", false),
    ] {
        let first: Vec<String> = first.iter().map(ToString::to_string).collect();
        assert_eq!(are_joined(&first, &[second.to_owned()], "/a"), joined, "{first:?}");
    }
}

/// Trying each pattern is chosen only if it stays within the limit of one decision: the trie and each pattern.
#[test]
fn patterns_are_tried_separately_within_the_limit_of_passes() {
    for (patterns, fits) in [(MAX_PASSES - 2, true), (MAX_PASSES - 1, true), (MAX_PASSES, false)] {
        let body: String = (0..patterns).map(|n| format!("disallow: /*a{n}\n")).collect();
        let body = format!("user-agent: *\n{body}");
        let [tried, factored] = [Strategy::Fallback, Strategy::Factored].map(|by| compiled(&body, &GOOGLE_LIB, by));
        assert_eq!(Ruleset::new(&tried).unwrap().shape().fallbacks, fits, "{patterns}");
        assert_eq!(tried != factored, fits, "{patterns}");
    }
}

#[test]
fn wildcards_over_the_state_limit_become_fallbacks() {
    // Each wildcard has eight states, one per letter.
    for (states, fallbacks) in
        [(MAX_WILDCARD_STATES - 1, false), (MAX_WILDCARD_STATES, false), (MAX_WILDCARD_STATES + 1, true)]
    {
        let letter = |n: usize| char::from(b'a' + (n % 8) as u8);
        let patterns: Vec<String> = (0..states).map(|n| format!("/{}!*{}", n / 8, letter(n))).collect();
        let paths = ["/7!xa".into(), "/7!xz".into(), format!("/{}!{}", states / 8, letter(states - 1))];
        assert_eq!(shape_of(&disallowed(&patterns), Strategy::Factored, &paths).fallbacks, fallbacks, "{states}");
    }
}

#[test]
fn wildcards_are_joined_up_to_a_transition_density() {
    // Each of the `count` nodes that end in `a` inherits three transitions, and the last one a fourth. One transition
    // leads to each of the 4 + 2 * count nodes below the root. The total is 4 + 5 * count + 1, and each of the
    // 5 + 2 * count nodes may have two.
    const _: () = assert!(MAX_TRANSITIONS_PER_BYTE_JOINED == 2);
    for (count, joined) in [(4, true), (5, true), (6, false)] {
        let first = ["*a0".into(), "*a1".into(), "*a2".into()];
        assert_eq!(are_joined(&first, &[format!("/*{}", "xa".repeat(count))], "/y"), joined, "{count}");
    }
}

#[test]
fn wildcards_are_skipped_within_the_source_limit() {
    for (between, left_out) in
        [(MAX_SOURCES_ASKED - 2, true), (MAX_SOURCES_ASKED - 1, true), (MAX_SOURCES_ASKED, false)]
    {
        let text = |len: usize| format!("/{}", "a".repeat(len));
        // Their segments may begin in the text between, and are too long for any two to be joined.
        let mut patterns: Vec<String> = (0..between).map(|n| format!("{}*a{n}{n}{n}{n}", text(n))).collect();
        patterns.extend(["*zz".into(), format!("{}b*yy", text(between))]);
        let path = format!("{}b", text(between));
        let with_another = steps_of(&patterns, &path);
        patterns.pop();
        patterns.push(format!("{}b*zz", text(between)));
        assert_eq!(steps_of(&patterns, &path), with_another - usize::from(left_out), "{between}");
    }
}

#[test]
fn long_patterns_are_not_compiled_to_a_whole_dfa() {
    for (len, whole) in [
        (MAX_WHOLE_DFA_PATTERN_BYTES - 1, true),
        (MAX_WHOLE_DFA_PATTERN_BYTES, true),
        (MAX_WHOLE_DFA_PATTERN_BYTES + 1, false),
    ] {
        let pattern = format!("/*{}", "a".repeat(len - 2));
        let paths = [format!("/b{}", &pattern[2..]), "/".into()];
        let shape = shape_of(&disallowed(&[pattern]), Strategy::Whole, &paths);
        assert_eq!(shape.wildcards, u32::from(!whole), "{len}");
    }
}

#[test]
fn group_merging_is_limited_by_rule_count() {
    // One group of a thousand rules for all tokens, and a single rule for each: merging costs 1,001 rules a token.
    let entries = |tokens: usize| {
        let name = |token: usize| format!("user-agent: {}\n", "t".repeat(token + 1));
        let mut body: String = (0..tokens).map(name).collect();
        body.extend((0..1000).map(|rule| format!("disallow: /{rule}\n")));
        body.extend((0..tokens).map(|token| name(token) + "disallow: /own\n"));
        read(&body).tokens.len()
    };
    let budget = |tokens: usize| (MAX_MERGED_RULES_PER_RULE * (1000 + tokens)).max(MIN_MERGED_RULES);
    let merged = |tokens: usize| budget(tokens) / 1001;
    let most = (1..).take_while(|&tokens| merged(tokens) >= tokens).last().unwrap();
    for tokens in [most - 1, most] {
        assert_eq!(entries(tokens), tokens);
    }
    // One more token keeps its two groups separate.
    assert_eq!(entries(most + 1), most + 2);
}

#[test]
fn wildcards_with_dense_transitions_become_fallbacks() {
    // Every prefix of `xaxa...` that ends in `a` inherits all transitions of `a`.
    let patterns = |children: u8| -> Vec<String> {
        let after_a = (0..children).map(|child| format!("/*a{}", char::from(b'0' + child)));
        after_a.chain([format!("/*{}", "xa".repeat(200))]).collect()
    };
    let paths = ["/xaxa3".to_owned(), format!("/{}", "xa".repeat(200)), "/xa!".to_owned()];
    assert!(!shape_of(&disallowed(&patterns(4)), Strategy::Factored, &paths).fallbacks);
    assert!(shape_of(&disallowed(&patterns(70)), Strategy::Factored, &paths).fallbacks);
}
