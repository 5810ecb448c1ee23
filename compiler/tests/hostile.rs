//! Hostile files must not cause failures, hangs or disproportionate sizes, and their verdicts must be correct.
//!
//! These tests count sizes and steps, and compare verdicts with the oracle. Benchmarks measure time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use bumpalo::Bump;
use families::{Family, families, long_path};
use reptile_compiler::automaton::{Strategy, TooManySteps, compile_counted};
use reptile_compiler::body::parse;
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{self, Dialect, GOOGLE_LIB};
use reptile_compiler::limits::MAX_NESTED_WILDCARDS;
use reptile_compiler::oracle;
use reptile_compiler::rules::groups::assign;
use reptile_compiler::rules::order::{OrderScratch, RuleList, order};
use reptile_compiler::set::{BodyOverLimit, OwnedOrigin, SetBuilder, prepare};
use reptile_engine::automaton::{Ruleset, STEPS_OF_PASS};
use reptile_engine::format::automaton::{MAX_FALLBACK_BYTES, MAX_PASSES, MAX_WILDCARD_DEPTH};
use reptile_engine::set::{Policy, Set};
use reptile_engine::url::{MAX_URL_BYTES, Origin, Scheme};
use reptile_engine::verdict::Verdict;

use crate::families;
use crate::support::decide_once;
use crate::support::rulesets::compiled;

type NamedSet = (&'static str, Set<Vec<u8>>);

/// Compiles the file with each strategy.
fn compile_one(body: &[u8]) -> Vec<NamedSet> {
    compile_under(&GOOGLE_LIB, body)
}

fn compile_under(dialect: &'static Dialect, body: &[u8]) -> Vec<NamedSet> {
    let arena = Bump::new();
    let compiled = Strategy::ALL.map(|(name, strategy)| {
        let mut builder = SetBuilder::new(dialect);
        let origin = OwnedOrigin { host: b"h"[..].into(), scheme: Scheme::Http, port: 80 };
        builder.add([origin], prepare(body, dialect, &arena).expect("a file within the limits"));
        (name, Set::from_bytes(builder.finish(strategy).unwrap().to_bytes()).unwrap())
    });
    compiled.into()
}

/// Returns whether a strategy guarantees sizes in proportion to the rules. A DFA over whole patterns does not.
fn bounded(strategy: &str) -> bool {
    strategy != "whole"
}

fn policy(set: &Set<Vec<u8>>) -> Policy<'_> {
    set.policy(&Origin { scheme: Scheme::Http, host: b"h", port: 80 }).unwrap().unwrap()
}

fn oracle_agrees(name: &str, body: &[u8], sets: &[NamedSet], agent: &[u8], path: &str) {
    let dialect = Dialect::from_name(&sets[0].1.dialect()).unwrap();
    let url = format!("http://h{path}");
    let expected = oracle::decide(body, dialect, agent, url.as_bytes());
    assert_eq!(decide_once(body, dialect, &of_name(agent, dialect), url.as_bytes()), Ok(expected), "{name}, {path}");
    for (strategy, set) in sets {
        let agent = set.agent(agent).unwrap();
        let explained = policy(set).explain(&agent, path.as_bytes()).unwrap();
        let verdict = policy(set).decide(&agent, path.as_bytes()).unwrap();
        assert_eq!(verdict == Verdict::Allow, expected.allowed, "{name}, {strategy}, {path}");
        assert_eq!(explained.verdict, verdict, "{name}, {strategy}, {path}");
        assert_eq!(explained.rule().map_or(0, |rule| rule.line), expected.line, "{name}, {strategy}, {path}");
    }
}

#[test]
fn verdicts_stay_correct_and_sizes_proportional() {
    let paths = [long_path(), format!("{}b", long_path()), "/".into(), "/xaxaxaxa!".into(), "/aa1*a99a".into()];
    let (mut tried, mut in_one_shot) = (0, 0);
    for Family { name, agent, body } in families() {
        if REFUSED.contains(&name) {
            continue;
        }
        let sets = compile_one(body.as_bytes());
        for (strategy, set) in &sets {
            set.verify().unwrap_or_else(|error| panic!("{name}, {strategy}: {error}"));
            let size: usize = set.section_sizes().map(|(_, size)| size).sum();
            assert!(
                !bounded(strategy) || size < 16 * body.len() + 4096,
                "{name}, {strategy}: {size} from {}",
                body.len()
            );
            tried += 1;
        }
        // The oracle takes minutes for the largest files, so their strategies are only compared with each other.
        let paths = paths.iter().map(String::as_str);
        if body.len() < 40_000 {
            paths.for_each(|path| oracle_agrees(name, body.as_bytes(), &sets, agent.as_bytes(), path));
        } else {
            for path in paths {
                let answers = sets
                    .iter()
                    .map(|(_, set)| policy(set).explain(&set.agent(agent.as_bytes()).unwrap(), path.as_bytes()));
                let answers: Vec<_> = answers.map(|answer| answer.unwrap()).collect();
                assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{name} on {path}: {answers:?}");
                let url = format!("http://h{path}");
                let once =
                    decide_once(body.as_bytes(), &GOOGLE_LIB, &of_name(agent.as_bytes(), &GOOGLE_LIB), url.as_bytes());
                let line = answers[0].rule().map_or(0, |rule| rule.line);
                // Files over the step limit have no one-shot verdict.
                let Ok(once) = once else { continue };
                in_one_shot += 1;
                assert_eq!((once.allowed, once.line), (answers[0].verdict == Verdict::Allow, line), "{name} on {path}");
            }
        }
    }
    assert_eq!(tried, (families().len() - REFUSED.len()) * Strategy::ALL.len());
    assert!(in_one_shot > 50, "{in_one_shot} one-shot verdicts");
}

/// The families that are rejected because one decision could pass over a path more than [`MAX_PASSES`] times.
const REFUSED: [&str; 9] = [
    "nested wildcards that part",
    "17,000 segments before one end",
    "shared prefixes with wildcards",
    "growing segments after a wildcard",
    "suffixes that take over much",
    "15,000 substrings before one end",
    "full of short rules after a wildcard",
    "full of two different wildcards",
    "full of three wildcards",
];

#[test]
fn files_that_need_too_many_passes_are_rejected() {
    let mut refused = Vec::new();
    for Family { name, body, .. } in families() {
        let arena = Bump::new();
        let Err(error) = prepare(body.as_bytes(), &GOOGLE_LIB, &arena) else { continue };
        let BodyOverLimit::Steps(TooManySteps { line: 2, error }) = error else { panic!("{name}: {error}") };
        assert_eq!((error.what, error.limit), ("passes over one path", MAX_PASSES as u64), "{name}");
        refused.push(name);
    }
    assert_eq!(refused, REFUSED);
}

/// Returns a file's rule lists, even if the file would be rejected.
fn lists_of(body: &str) -> Vec<RuleList> {
    let arena = Bump::new();
    let robots = parse(body.as_bytes(), &GOOGLE_LIB, &arena);
    let lists = assign(&robots, &GOOGLE_LIB, &arena).lists;
    lists.iter().map(|list| order(list, &GOOGLE_LIB, &arena, &mut OrderScratch::default()).0).collect()
}

/// Checks the bound documented at `compile_counted`.
#[test]
fn compilation_steps_are_linear() {
    let mut most = 0.0_f64;
    for Family { name, body, .. } in families() {
        let arena = Bump::new();
        for list in lists_of(&body) {
            let (compiled, steps) = compile_counted(&list, Strategy::Factored, &arena);
            assert_eq!(compiled.is_err(), REFUSED.contains(&name), "{name}");
            assert!(steps <= 12 * list.byte_len() + 1024, "{name}: {steps} steps for {} bytes", list.byte_len());
            most = most.max(steps as f64 / list.byte_len() as f64);
        }
    }
    println!("at most {most:.1} steps a byte");
    assert!(most > 1.0, "nothing was counted");
}

/// Returns the bound documented at `Ruleset::verdict`: four steps per pass for each path byte and the end, plus the
/// fallback patterns' size.
fn most_steps(ruleset: &Ruleset<'_>, path: &[u8]) -> usize {
    let fallbacks = if ruleset.shape().fallbacks { MAX_FALLBACK_BYTES } else { 0 };
    (STEPS_OF_PASS * (path.len() + 1) + 2) * ruleset.passes().unwrap() + fallbacks
}

#[test]
fn matching_steps_are_bounded() {
    let (mut walks, mut most) = (0, 0.0_f64);
    for Family { name, body, .. } in families() {
        if REFUSED.contains(&name) {
            continue;
        }
        let bytes = compiled(&body, &GOOGLE_LIB, Strategy::Factored);
        let ruleset = Ruleset::new(&bytes).unwrap();
        assert!(ruleset.passes().unwrap() <= MAX_PASSES, "{name}");
        for len in [2000, MAX_URL_BYTES] {
            let turns = |text: &str| format!("/{}", text.repeat(len / text.len()));
            for path in [turns("a"), turns("a") + "b", turns("xa"), turns("ab"), turns("aa1*a99a<7>z")] {
                let (verdict, steps) = ruleset.verdict_counted(path.as_bytes()).unwrap();
                assert_eq!(Ok(verdict), ruleset.verdict(path.as_bytes()), "{name}");
                let bound = most_steps(&ruleset, path.as_bytes());
                assert!(steps <= bound, "{name}: {steps} steps over {len} bytes, at most {bound}");
                most = most.max(steps as f64 / (path.len() + 1) as f64);
                walks += 1;
            }
        }
    }
    println!("{walks} walks, at most {most:.0} steps a byte");
    assert_eq!(walks, (families().len() - REFUSED.len()) * 10);
    assert!(most > 1.0, "nothing was counted");
}

/// Tests the worst known cases: files at the pass limit, with the longest URL.
#[test]
fn matching_steps_at_all_limits_are_bounded() {
    let a = |count: usize| "a".repeat(count);
    let heads: String = (0..MAX_NESTED_WILDCARDS).map(|n| format!("<{n}>")).collect();
    let deep = format!("/{}*b", "*a".repeat(MAX_WILDCARD_DEPTH + 1));
    // The patterns, the longest URL's start, and the text that fills it.
    let worst: [(&str, Vec<String>, &str, &str); 6] = [
        ("after wildcards", (0..240).map(|n| format!("/*<{n}>*aaab")).collect(), &heads, "a"),
        ("in the trie", (1..255).map(|n| format!("/{}*aaab{n}", a(n))).collect(), "", "a"),
        ("that others lead to", (1..240).map(|n| format!("/*{}*b", a(n))).collect(), "", "a"),
        ("fallback patterns", (0..255).map(|n| format!("{deep}{n}")).collect(), "", "ab"),
        ("long fallback patterns", (0..255).map(|n| format!("/{}*b{n}", "*a".repeat(700))).collect(), "", "a"),
        (
            "of all kinds",
            {
                let nested = (0..84).map(|n| format!("/*<{n}>*aaab"));
                let trie = (1..85).map(|n| format!("/{}*aaab{n}", a(n)));
                nested.chain(trie).chain((0..84).map(|n| format!("{deep}{n}"))).collect()
            },
            &heads,
            "a",
        ),
    ];
    for (name, patterns, start, again) in worst {
        let body = format!("user-agent: *\ndisallow: {}\n", patterns.join("\ndisallow: "));
        let bytes = compiled(&body, &GOOGLE_LIB, Strategy::Factored);
        let ruleset = Ruleset::new(&bytes).unwrap();
        ruleset.verify().unwrap();
        let mut path = format!("/{start}");
        path.push_str(&again.repeat((MAX_URL_BYTES - path.len()) / again.len()));
        let (_, steps) = ruleset.verdict_counted(path.as_bytes()).unwrap();
        let passes = ruleset.passes().unwrap();
        println!("{name}: {passes} passes, {steps} steps, {} a byte", steps / path.len());
        assert!((230..=MAX_PASSES).contains(&passes), "{name}: {passes} passes");
        assert!(steps <= most_steps(&ruleset, path.as_bytes()), "{name}: {steps}");
        assert!(steps > 60 * path.len(), "{name}: {steps} steps are too few for a worst case");
    }
}

#[test]
fn large_shared_groups_are_not_copied_per_token() {
    let mut body = String::new();
    let tokens = |n: usize| format!("bot{}{}", char::from(b'a' + (n / 26) as u8), char::from(b'a' + (n % 26) as u8));
    for n in 0..400 {
        body += &format!("user-agent: {}\n", tokens(n));
    }
    for n in 0..2000 {
        body += &format!("disallow: /x{n}/*y\nallow: /x{n}\n");
    }
    for n in 0..400 {
        body += &format!("user-agent: {}\ndisallow: /{n}\nallow: /{n}*b\ndisallow: /x{n}/*z$\ndisallow:\n", tokens(n));
    }
    let sets = compile_one(body.as_bytes());
    for (strategy, set) in &sets {
        set.verify().unwrap();
        let size: usize = set.section_sizes().map(|(_, size)| size).sum();
        // One merged list fits in the budget; 400 would take 14 MB.
        assert!(!bounded(strategy) || size < 60 * body.len(), "{strategy}: {size} bytes from {}", body.len());
    }
    for n in [0, 1, 7, 8, 9, 10, 200, 399] {
        for path in
            [format!("/{n}"), format!("/{n}ab"), format!("/x{n}/y"), format!("/x{n}/z"), "/q".into(), "/x7/z".into()]
        {
            oracle_agrees("tokens", body.as_bytes(), &sets, tokens(n).as_bytes(), &path);
        }
    }
}

/// Like the test above, but small enough for the limits in every dialect. Rules in unmerged groups decide together, in
/// the dialect's own order.
#[test]
fn unmerged_groups_decide_together_in_every_dialect() {
    let mut body = String::new();
    let token = |n: usize| format!("b{}{}", char::from(b'a' + (n / 26) as u8), char::from(b'a' + (n % 26) as u8));
    for n in 0..60 {
        body += &format!("user-agent:{}\n", token(n));
    }
    for n in 0..900 {
        body += &format!("disallow:/x{n}\nallow:/x{n}y\n");
    }
    for n in 0..60 {
        body += &format!("user-agent:{}\ndisallow:/{n}\nallow:/{n}*b\nallow:/x{n}z**\ndisallow:\n", token(n));
    }
    assert!(body.len() < 32 << 10, "{}", body.len());
    for dialect in dialect::ALL {
        let sets = compile_under(dialect, body.as_bytes());
        for n in [0, 1, 7, 8, 9, 10, 33, 59] {
            for path in [format!("/{n}"), format!("/{n}ab"), format!("/x{n}y"), format!("/x{n}z"), "/q".into()] {
                oracle_agrees(dialect.as_str(), body.as_bytes(), &sets, token(n).as_bytes(), &path);
            }
        }
    }
}
