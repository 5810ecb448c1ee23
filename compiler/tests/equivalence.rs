//! For random rulesets and paths, every strategy must give the oracle's verdict and line.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use bumpalo::Bump;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use reptile_compiler::automaton::Strategy as Compiled;
use reptile_compiler::dialect::crawlers::{Resolved, of_name};
use reptile_compiler::dialect::resolve::resolve;
use reptile_compiler::dialect::{ALL, Dialect, GOOGLE_LIB};
use reptile_compiler::oracle;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::set::Set;
use reptile_engine::url::{Origin, Scheme};
use reptile_engine::verdict::Verdict;

use crate::support::decide_once;

/// Number of (ruleset, path) pairs to test, with [`PATHS`] paths per ruleset and each of the [`strategies`]. For a
/// longer run, set `REPTILE_PAIRS` to the number of pairs and `REPTILE_STRATEGY` to a single strategy:
///
/// ```sh
/// REPTILE_PAIRS=100000000 REPTILE_STRATEGY=factored \
///     cargo test --release -p reptile-compiler --test all every_strategy -- --nocapture
/// ```
const PAIRS: u32 = 50_000;
const PATHS: usize = 20;

fn pairs() -> u32 {
    std::env::var("REPTILE_PAIRS").map_or(PAIRS, |pairs| pairs.parse().expect("REPTILE_PAIRS is a number"))
}

/// Returns all strategies, or only the one in `REPTILE_STRATEGY`.
fn strategies() -> Vec<(&'static str, Compiled)> {
    let only = std::env::var("REPTILE_STRATEGY").ok();
    let is_wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let strategies: Vec<_> = Compiled::ALL.into_iter().filter(|(name, _)| is_wanted(name)).collect();
    assert!(!strategies.is_empty(), "REPTILE_STRATEGY is not the name of a strategy");
    strategies
}

fn compiled(body: &[u8], dialect: &'static Dialect, strategy: Compiled) -> Set<Vec<u8>> {
    let arena = Bump::new();
    let mut builder = SetBuilder::new(dialect);
    let origin = OwnedOrigin { host: b"h"[..].into(), scheme: Scheme::Http, port: 80 };
    builder.add([origin], prepare(body, dialect, &arena).unwrap());
    Set::from_bytes(builder.finish(strategy).unwrap().to_bytes()).unwrap()
}

/// Generates a pattern over a small alphabet, so that patterns overlap.
fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "/[ab/]{0,6}",
        6 => "/?[ab*/]{0,8}[$]?",
        2 => "[ab*$%/2a]{0,8}",
        1 => "/[ab/*]{0,4}/index\\.html?[$]?",
        1 => "(/?[*][ab]{1,3}){1,5}[$]?",
    ]
}

/// Generates rules like those on sites with a section per country: the same patterns after several prefixes, mostly
/// with the same verdict. Matching can then skip many wildcards.
fn copies() -> impl Strategy<Value = Vec<(bool, String)>> {
    let fronts = proptest::collection::vec("/?[ab/]{0,3}", 1..4);
    let rests = proptest::collection::vec(("[*][ab/]{1,3}([*][ab]{1,2})?[$]?", proptest::bool::weighted(0.1)), 1..5);
    (fronts, rests, proptest::collection::vec((any::<bool>(), pattern()), 0..3)).prop_map(
        |(fronts, rests, mut rules)| {
            let copy = |front: &String, (rest, allow): &(String, bool)| (*allow, format!("{front}{rest}"));
            rules.extend(fronts.iter().flat_map(|front| rests.iter().map(move |rest| copy(front, rest))));
            rules
        },
    )
}

/// Generates rules among which one has enough wildcards to become a fallback pattern.
fn rules_with_fallbacks() -> impl Strategy<Value = Vec<(bool, String)>> {
    let fallbacks = (any::<bool>(), "/?[ab]{0,2}([*][ab]){17}");
    (copies(), fallbacks).prop_map(|(mut rules, fallbacks)| {
        rules.push(fallbacks);
        rules
    })
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![12 => "/[ab/]{0,12}", 1 => "/[ab/$*%2A]{0,10}", 1 => "/[ab]{15,40}", 1 => "/[ab/]{0,4}(/index\\.html)?"]
}

#[test]
fn every_strategy_agrees_with_the_oracle() {
    let config = Config { cases: pairs() / PATHS as u32, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let rules = prop_oneof![
        20 => proptest::collection::vec((any::<bool>(), pattern()), 0..12).boxed(),
        10 => copies().boxed(),
        1 => rules_with_fallbacks().boxed(),
    ];
    let paths = proptest::collection::vec(path(), PATHS);
    let tried = std::cell::Cell::new(0_u32);
    let (strategies, any) = (strategies(), of_name(b"any", &GOOGLE_LIB));
    runner
        .run(&(rules, paths), |(rules, paths)| {
            let mut body = String::from("user-agent: *\n");
            for (allow, pattern) in &rules {
                body += &format!("{}: {pattern}\n", if *allow { "allow" } else { "disallow" });
            }
            let compiled = |(_, strategy): &(_, _)| compiled(body.as_bytes(), &GOOGLE_LIB, *strategy);
            let sets: Vec<_> = strategies.iter().map(compiled).collect();
            for set in &sets {
                set.verify().unwrap();
            }
            for path in &paths {
                let url = format!("http://h{path}");
                let expected = oracle::decide(body.as_bytes(), &GOOGLE_LIB, b"any", url.as_bytes());
                let once = decide_once(body.as_bytes(), &GOOGLE_LIB, &any, url.as_bytes());
                prop_assert_eq!(once, Ok(expected), "one shot {:?} {}", &body, path);
                for (set, (name, _)) in sets.iter().zip(&strategies) {
                    let agent = set.agent(b"any").unwrap();
                    let origin = Origin { scheme: Scheme::Http, host: b"h", port: 80 };
                    let policy = set.policy(&origin).unwrap().unwrap();
                    let explained = policy.explain(&agent, path.as_bytes()).unwrap();
                    let verdict = policy.decide(&agent, path.as_bytes()).unwrap();
                    let line = explained.rule().map_or(0, |rule| rule.line);
                    prop_assert_eq!(verdict == Verdict::Allow, expected.allowed, "{} {:?} {}", name, &body, path);
                    prop_assert_eq!(explained.verdict, verdict, "{} {:?} {}", name, &body, path);
                    prop_assert_eq!(line, expected.line, "{} {:?} {}", name, &body, path);
                }
                tried.set(tried.get() + 1);
            }
            Ok(())
        })
        .unwrap();
    assert!(tried.get() >= pairs(), "only {} pairs were tested", tried.get());
    println!("{} pairs, {} strategies, one shots", tried.get(), strategies.len());
}

/// Generates a body with several groups, blank lines and diagnostics, so that every dialect switch takes effect.
fn body() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        3 => "[ab]{1,3}", 3 => Just("*".to_owned()), 1 => "[ab]{1,2}/1", 1 => Just("* a".to_owned()),
        1 => "(Yandex|yandexbot|Googlebot|googlebot-news|AdsBot-Google)", 1 => "a1?b?",
    ];
    let value = prop_oneof![
        6 => pattern(),
        2 => "/(%[2-6][0-9aAfF]|[ab*$?:]|/|\u{e9}|%){0,6}[$]?",
        1 => "/robots.txt[$]?",
        1 => Just(String::new()),
        1 => "/a b|a/|/\u{1}|/a[*]{1,2}[$]?",
    ];
    let line = prop_oneof![
        3 => name.prop_map(|name| format!("User-Agent: {name}")),
        5 => value.clone().prop_map(|value| format!("Disallow: {value}")),
        4 => value.prop_map(|value| format!("Allow: {value}")),
        1 => prop_oneof![Just(""), Just("# note"), Just("Sitemap: x"), Just("disalow: /"), Just("disallow /"), Just(" ")]
            .prop_map(str::to_owned),
    ];
    proptest::collection::vec(line, 0..16).prop_map(|lines| lines.join("\n"))
}

/// Covers every switch of every dialect: groups, names, rule orders, normal forms.
#[test]
fn every_dialect_agrees_with_the_oracle() {
    let config = Config { cases: pairs() / 100, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let path = prop_oneof![
        4 => path(),
        2 => "/(%[2-6][0-9aAfF]|[ab*$?:/]|\u{e9}|%| ){0,8}",
        1 => Just("/robots.txt".to_owned()),
    ];
    let paths = proptest::collection::vec(path, 6);
    runner
        .run(&(body(), paths), |(body, paths)| {
            for (place, dialect) in ALL.into_iter().enumerate() {
                // One strategy per dialect is enough: the test above compares the strategies.
                let (name, strategy) = Compiled::ALL[(body.len() + place) % Compiled::ALL.len()];
                let set = compiled(body.as_bytes(), dialect, strategy);
                set.verify().unwrap();
                let mut agents: Vec<Resolved> = ["a", "ab/2", "YandexBot", "Googlebot-News", "AdsBot-Google", "x"]
                    .map(|name| of_name(name.as_bytes(), dialect))
                    .into();
                agents.extend(resolve("b>a", dialect).unwrap());
                agents.extend(resolve("ab>b>*", dialect).unwrap());
                let origin = Origin { scheme: Scheme::Http, host: b"h", port: 80 };
                let policy = set.policy(&origin).unwrap().unwrap();
                for (resolved, path) in agents.iter().flat_map(|agent| paths.iter().map(move |path| (agent, path))) {
                    let expected =
                        oracle::decide_for(body.as_bytes(), dialect, resolved, format!("http://h{path}").as_bytes());
                    let agent = resolved.look_up(&set).unwrap();
                    let explained = policy.explain(&agent, path.as_bytes()).unwrap();
                    let verdict = policy.decide(&agent, path.as_bytes()).unwrap();
                    let question = format!("{} {name} {body:?} {} {path}", dialect.name, resolved.name);
                    prop_assert_eq!(verdict == Verdict::Allow, expected.allowed, "{}", question);
                    prop_assert_eq!(explained.verdict, verdict, "{}", question);
                    prop_assert_eq!(explained.rule().map_or(0, |rule| rule.line), expected.line, "{}", question);
                    let once = decide_once(body.as_bytes(), dialect, resolved, format!("http://h{path}").as_bytes());
                    prop_assert_eq!(once, Ok(expected), "{}", question);
                }
            }
            Ok(())
        })
        .unwrap();
}
