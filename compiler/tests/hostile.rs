//! Files that were written to hurt: nothing may fail, hang, or grow out of proportion, and the answers stay right.
//!
//! Times are for the benchmarks; here sizes are counted, and answers compared with the oracle.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use bumpalo::Bump;
use families::{Family, families, long_path};
use reptile_compiler::automaton::{Strategy, compile, compile_counted};
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{self, Dialect, GOOGLE_LIB};
use reptile_compiler::limits::MAX_NESTED_WILDCARDS;
use reptile_compiler::once::decide_once;
use reptile_compiler::oracle;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::automaton::{Ruleset, STEPS_OF_TRIE, STEPS_OF_WILDCARD};
use reptile_engine::format::automaton::MAX_WILDCARD_BRANCHES;
use reptile_engine::set::{Policy, Set};
use reptile_engine::url::{Origin, Scheme};
use reptile_engine::verdict::Verdict;

#[path = "support/families.rs"]
mod families;

type NamedSet = (&'static str, Set<Vec<u8>>);

/// The file compiled with each strategy.
fn compile_one(body: &[u8]) -> Vec<NamedSet> {
    compile_under(&GOOGLE_LIB, body)
}

fn compile_under(dialect: &'static Dialect, body: &[u8]) -> Vec<NamedSet> {
    let arena = Bump::new();
    let compiled = Strategy::ALL.map(|(name, strategy)| {
        let mut builder = SetBuilder::new(dialect);
        let origin = OwnedOrigin { host: b"h"[..].into(), scheme: Scheme::Http, port: 80 };
        builder.add([origin], prepare(body, dialect, &arena).unwrap());
        (name, Set::from_bytes(builder.finish(strategy).unwrap().to_bytes()).unwrap())
    });
    compiled.into()
}

/// Whether a strategy promises to stay in proportion to the rules. A DFA over whole patterns does not.
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
    assert_eq!(decide_once(body, dialect, &of_name(agent, dialect), url.as_bytes()), expected, "{name}, {path}");
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
fn answers_stay_right_and_sizes_in_proportion() {
    let paths = [long_path(), format!("{}b", long_path()), "/".into(), "/xaxaxaxa!".into(), "/aa1*a99a".into()];
    let mut tried = 0;
    for Family { name, agent, body } in families() {
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
        // The oracle needs minutes on the largest; there the strategies are compared with each other.
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
                assert_eq!((once.allowed, once.line), (answers[0].verdict == Verdict::Allow, line), "{name} on {path}");
            }
        }
    }
    assert_eq!(tried, families().len() * Strategy::ALL.len());
}

/// The bound that `compile_counted` states, counted and not timed.
#[test]
fn steps_of_building_are_linear() {
    let mut most = 0.0_f64;
    for Family { name, body, .. } in families() {
        let arena = Bump::new();
        for (list, _) in prepare(body.as_bytes(), &GOOGLE_LIB, &arena).unwrap().groups {
            let (_, steps) = compile_counted(&list, Strategy::Factored, &arena).unwrap();
            assert!(steps <= 12 * list.byte_len() + 1024, "{name}: {steps} steps for {} bytes", list.byte_len());
            most = most.max(steps as f64 / list.byte_len() as f64);
        }
    }
    println!("at most {most:.1} steps a byte");
    assert!(most > 1.0, "nothing was counted");
}

/// The bound that `Ruleset::verdict` states, counted and not timed.
#[test]
fn steps_of_a_walk_are_bounded() {
    let (mut walks, mut short, mut most) = (0, 0, 0.0_f64);
    for Family { name, body, .. } in families() {
        let arena = Bump::new();
        let list = prepare(body.as_bytes(), &GOOGLE_LIB, &arena).unwrap().groups.swap_remove(0).0;
        let bytes = compile(&list, Strategy::Factored, &arena).unwrap();
        let ruleset = Ruleset::new(&bytes).unwrap();
        let patterns: Vec<Vec<u8>> = ruleset.rules().unwrap().into_iter().map(|rule| rule.pattern).collect();
        // Wildcards that begin in the trie come after different texts; the number of the others is limited.
        let mut first_wildcards: Vec<&[u8]> =
            patterns.iter().filter_map(|text| text.split(|&b| b == b'*').next()).collect();
        first_wildcards.sort_unstable();
        first_wildcards.dedup();
        let wildcards = ruleset.shape().wildcards as usize;
        // A place at which many wildcards begin has an automaton for every 64 of them.
        let automata = MAX_NESTED_WILDCARDS.div_ceil(MAX_WILDCARD_BRANCHES);
        assert!(
            wildcards <= (first_wildcards.len() + MAX_NESTED_WILDCARDS) + automata,
            "{name}: {wildcards} wildcards"
        );
        let fallback_bytes: usize = patterns.iter().map(|pattern| 2 * pattern.len() + 2).sum();
        // So many patterns take seconds over a long path.
        let has_many = ruleset.shape().fallbacks && patterns.len() > 20_000;
        short += usize::from(has_many);
        for len in if has_many { &[2000][..] } else { &[2000, 64 << 10] } {
            let turns = |text: &str| format!("/{}", text.repeat(len / text.len()));
            for path in [turns("a"), turns("a") + "b", turns("xa"), turns("ab"), turns("aa1*a99a<7>z")] {
                let (verdict, steps) = ruleset.verdict_counted(path.as_bytes()).unwrap();
                assert_eq!(Ok(verdict), ruleset.verdict(path.as_bytes()), "{name}");
                let n = path.len() + 1;
                let fallbacks = if ruleset.shape().fallbacks { patterns.len() * 2 * n + fallback_bytes } else { 0 };
                let bound = STEPS_OF_TRIE * n + wildcards * (2 + STEPS_OF_WILDCARD * n) + fallbacks;
                assert!(steps <= bound, "{name}: {steps} steps over {n} bytes, {wildcards} wildcards, at most {bound}");
                most = most.max(steps as f64 / n as f64);
                walks += 1;
            }
        }
    }
    println!("{walks} walks, at most {most:.0} steps a byte");
    assert_eq!(walks, families().len() * 10 - short * 5);
    assert!(most > 1.0, "nothing was counted");
}

#[test]
fn tokens_with_a_large_group_in_common_do_not_multiply_it() {
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

/// As above, but small enough for the limits of every dialect: groups that are kept apart decide together in each
/// dialect's own order.
#[test]
fn groups_that_are_kept_apart_decide_in_every_order() {
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
