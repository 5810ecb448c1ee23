//! Proofs about whole rulesets, compared with the verdicts for all short paths. The oracle checks every example.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use std::cell::Cell;

use bumpalo::Bump;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use reptile_compiler::automaton::Strategy as Compiled;
use reptile_compiler::dialect::crawlers::{Resolved, of_name};
use reptile_compiler::dialect::{ALL, Dialect, GOOGLE, GOOGLE_LIB};
use reptile_compiler::limits::MAX_PROOF_STEPS;
use reptile_compiler::oracle;
use reptile_compiler::reason::{Extent, Reasoner, Statement};
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::automaton::Ruleset;
use reptile_engine::set::{Policy, Set};
use reptile_engine::url::{Origin, Scheme};
use reptile_engine::verdict::Verdict;

use crate::support;

/// Compiles a robots.txt.
pub fn compiled(body: &[u8], dialect: &'static Dialect) -> Set<Vec<u8>> {
    let mut builder = SetBuilder::new(dialect);
    let origin = OwnedOrigin { host: b"h"[..].into(), scheme: Scheme::Http, port: 80 };
    builder.add([origin], prepare(body, dialect, &Bump::new()).unwrap());
    Set::from_bytes(builder.finish(Compiled::default()).unwrap().to_bytes()).unwrap()
}

/// Returns the policy in a set from [`compiled`].
pub fn policy(set: &Set<Vec<u8>>) -> Policy<'_> {
    set.policy(&Origin { scheme: Scheme::Http, host: b"h", port: 80 }).unwrap().unwrap()
}

/// Determines which paths a policy allows an agent.
fn statement(policy: &Policy<'_>, dialect: &Dialect, agent: &reptile_engine::set::Agent) -> Statement {
    let rules = policy.rules_for(agent).unwrap();
    let rulesets: Vec<Ruleset<'_>> = rules.iter().map(|rules| rules.ruleset).collect();
    Reasoner::new(dialect.normal_form).extent(&rulesets).unwrap()
}

/// Determines which paths a file with one group allows.
fn of_rules(rules: &str, max_steps: usize) -> Statement {
    let body = format!("user-agent: *\n{rules}");
    let set = compiled(body.as_bytes(), &GOOGLE);
    let rules = policy(&set).rules_for(&set.agent(b"x").unwrap()).unwrap();
    Reasoner::with_max_steps(GOOGLE.normal_form, max_steps).extent(&[rules[0].ruleset]).unwrap()
}

/// Compares a statement with the verdicts for some paths, and its examples with the engine and the oracle. Returns
/// whether the statement is proved.
fn check(body: &str, dialect: &'static Dialect, resolved: &Resolved, paths: &[String]) -> bool {
    let set = compiled(body.as_bytes(), dialect);
    let (policy, agent) = (policy(&set), resolved.look_up(&set).unwrap());
    let Statement { extent, .. } = statement(&policy, dialect, &agent);
    let question = format!("{} {body:?} {}: {extent:?}", dialect.name, resolved.name);
    let mut shortest: [Option<&str>; 2] = [None, None];
    for path in paths.iter().filter(|path| *path != "/robots.txt") {
        let verdict = policy.decide(&agent, path.as_bytes()).unwrap();
        let shortest = &mut shortest[usize::from(verdict == Verdict::Disallow)];
        let len = |path: &str| dialect.normal_form.path(path.as_bytes()).len();
        if shortest.is_none_or(|known| len(path) < len(known)) {
            *shortest = Some(path);
        }
    }
    let is_example = |path: &[u8], expected: Verdict| {
        let url = [b"http://h", path].concat();
        assert_eq!(set.decide(&agent, &url).unwrap(), expected, "{question}");
        let answer = oracle::decide_for(body.as_bytes(), dialect, resolved, &url);
        assert_eq!(answer.allowed, expected == Verdict::Allow, "{question}");
        let known = shortest[usize::from(expected == Verdict::Disallow)];
        let len = |path: &[u8]| dialect.normal_form.path(path).len();
        assert!(known.is_none_or(|known| len(path) <= len(known.as_bytes())), "{question}: {known:?} is shorter");
    };
    match &extent {
        Extent::Allowed => assert_eq!(shortest[1], None, "{question}"),
        Extent::Disallowed => assert_eq!(shortest[0], None, "{question}"),
        Extent::Partial { allowed, disallowed } => {
            is_example(allowed, Verdict::Allow);
            is_example(disallowed, Verdict::Disallow);
        }
        Extent::Unproved { example } => {
            example.iter().for_each(|(verdict, path)| is_example(path, *verdict));
            return false;
        }
    }
    true
}

/// Generates a pattern over a small alphabet, so that patterns overlap and sometimes match all paths.
fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "/[ab/]{0,3}",
        6 => "/?[ab*/]{0,5}[$]?",
        3 => Just("/".to_owned()),
        2 => "[ab*$%/2a]{0,6}",
        2 => "/[*]?[ab/?]{0,2}[*]?[$]?",
        1 => "/[ab/*]{0,2}/index\\.html?[$]?",
        1 => "(/?[*][ab]{1,2}){1,4}[$]?",
        1 => "/robots.txt[$]?",
    ]
}

#[test]
fn statements_agree_with_all_short_paths() {
    const CASES: u32 = 4000;
    let paths = support::paths(&["a", "b", "/", "c", "?", "$"], 5);
    let (agent, cases, seen) = (of_name(b"any", &GOOGLE_LIB), Cell::new(0), Cell::new([0; 3]));
    let rules = proptest::collection::vec((any::<bool>(), pattern()), 0..8);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&rules, |rules| {
        let mut body = String::from("user-agent: *\n");
        for (allow, pattern) in &rules {
            body += &format!("{}: {pattern}\n", if *allow { "allow" } else { "disallow" });
        }
        assert!(check(&body, &GOOGLE_LIB, &agent, &paths), "unproved: {body}");
        let set = compiled(body.as_bytes(), &GOOGLE_LIB);
        let extent = statement(&policy(&set), &GOOGLE_LIB, &set.agent(b"any").unwrap()).extent;
        let mut counts = seen.get();
        counts[match extent {
            Extent::Allowed => 0,
            Extent::Disallowed => 1,
            _ => 2,
        }] += 1;
        seen.set(counts);
        cases.set(cases.get() + 1);
        Ok(())
    });
    outcome.unwrap();
    let seen = seen.get();
    println!("allowed, disallowed, partial: {seen:?}");
    // The comparison is meaningful only if all three outcomes occur.
    assert!(cases.get() >= CASES && seen.into_iter().all(|count| count > CASES / 100), "{seen:?}");
}

#[test]
fn statements_agree_with_short_paths_in_every_dialect() {
    const CASES: u32 = 400;
    let value = prop_oneof![
        6 => pattern(),
        3 => "/(%[2-6][0-9aAfF]|[ab*$?:]|/|\u{e9}|%){0,3}[$]?",
        1 => Just(String::new()),
        1 => "[*]{1,2}|/[*]{1,2}[$]?|[*][/?%]",
    ];
    let name = prop_oneof![3 => "[ab]", 3 => Just("*".to_owned()), 1 => "(Yandex|yandexbot|Googlebot)"];
    let line = prop_oneof![
        2 => name.prop_map(|name| format!("User-Agent: {name}")),
        5 => value.clone().prop_map(|value| format!("Disallow: {value}")),
        4 => value.prop_map(|value| format!("Allow: {value}")),
    ];
    let lines = proptest::collection::vec(line, 0..9);
    let paths = support::paths(&["a", "/", "c", "?", "%41", "%2F", "%c3", "%", "2", "$", "*", " ", ":"], 3);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let (proved, all) = (Cell::new(0), Cell::new(0));
    let outcome = TestRunner::new(config).run(&lines, |lines| {
        let body = format!("User-Agent: *\n{}\n", lines.join("\n"));
        for dialect in ALL {
            for name in ["a", "x", "YandexBot"] {
                let resolved = of_name(name.as_bytes(), dialect);
                all.set(all.get() + 1);
                proved.set(proved.get() + u32::from(check(&body, dialect, &resolved, &paths)));
            }
        }
        Ok(())
    });
    outcome.unwrap();
    assert_eq!(proved.get(), all.get());
    assert!(all.get() >= CASES * 3 * ALL.len() as u32);
}

#[test]
fn statements_about_known_files_are_correct() {
    let partial = |allowed: &str, disallowed: &str| Extent::Partial {
        allowed: allowed.as_bytes().into(),
        disallowed: disallowed.as_bytes().into(),
    };
    for (rules, extent, counts) in [
        ("", Extent::Allowed, [0, 0]),
        ("disallow:\n", Extent::Allowed, [0, 0]),
        ("disallow: /\n", Extent::Disallowed, [0, 1]),
        ("disallow: *\n", Extent::Disallowed, [0, 1]),
        // A final wildcard adds no length.
        ("disallow: /*\nallow: /\n", Extent::Allowed, [1, 1]),
        // Cases that probing only `/` gets wrong.
        ("disallow: /\nallow: /$\n", partial("/", "/a"), [1, 1]),
        ("disallow: /$\n", partial("/a", "/"), [0, 1]),
        ("allow: /\ndisallow: /*/\n", partial("/", "//"), [1, 1]),
        ("disallow: /$\ndisallow: /*\nallow: /\n", partial("/a", "/"), [1, 2]),
        ("disallow: /\nallow: /robots.txt\n", partial("/robots.txta", "/"), [1, 1]),
        ("disallow: /\nallow: /robots.txt$\n", Extent::Disallowed, [0, 1]),
        ("allow: /a\ndisallow: /ab\nallow: /abc\n", partial("/", "/ab"), [2, 1]),
        ("disallow: /*?\n", partial("/", "/?"), [0, 1]),
        // No path begins like this, so the dialect ignores the line.
        ("disallow: private\n", Extent::Allowed, [0, 0]),
        ("disallow: /private/\nallow: /private/\n", Extent::Allowed, [1, 1]),
        ("disallow: /wp-admin/\nallow: /wp-admin/admin-ajax.php\n", partial("/", "/wp-admin/"), [1, 1]),
    ] {
        let found = of_rules(rules, MAX_PROOF_STEPS);
        assert_eq!(found.extent, extent, "{rules:?}");
        assert_eq!([found.allow_rules, found.disallow_rules], counts, "{rules:?}");
    }
}

/// Tests patterns with combinatorially many states. The result reports the stopped proof, and examples are valid.
#[test]
fn proofs_over_the_step_limit_are_unproved() {
    let mut rules: String = (0..40).map(|n| format!("allow: /*a{n}b*c{n}*d{n}*e{n}\n")).collect();
    rules += "disallow: /\n";
    let found = of_rules(&rules, MAX_PROOF_STEPS);
    assert!(matches!(found.extent, Extent::Partial { .. }), "{:?}", found.extent);
    // Nothing is disallowed, but a proof needs a state for each set of patterns.
    let nothing: String = (0..40).map(|n| format!("disallow: /*a{n}b*c{n}*d{n}\nallow: /*a{n}b*c{n}*d{n}\n")).collect();
    let found = of_rules(&nothing, MAX_PROOF_STEPS);
    assert!(matches!(&found.extent, Extent::Unproved { example: Some((Verdict::Allow, _)) }), "{:?}", found.extent);
    assert!(found.steps > MAX_PROOF_STEPS && found.steps < MAX_PROOF_STEPS + 10_000, "{}", found.steps);
}

#[test]
fn proofs_stop_at_the_step_limit() {
    let rules = "disallow: /*a*b\nallow: /*a*b\nallow: /*b*a\n";
    let needed = of_rules(rules, MAX_PROOF_STEPS);
    assert_eq!(needed.extent, Extent::Allowed);
    assert!(needed.steps > 10);
    for (max_steps, is_proved) in [(needed.steps - 1, false), (needed.steps, true), (needed.steps + 1, true)] {
        let found = of_rules(rules, max_steps);
        assert_eq!(found.extent == Extent::Allowed, is_proved, "{max_steps}");
        assert_eq!(matches!(found.extent, Extent::Unproved { .. }), !is_proved, "{max_steps}");
    }
}

/// A path that is too long for a URL cannot be an example.
#[test]
fn examples_fit_in_a_url() {
    for (len, is_shown) in [(65_529, true), (65_530, false)] {
        let path = format!("/{}", "a".repeat(len - 1));
        let body = format!("user-agent: *\ndisallow: {path}\n");
        // Google truncates long lines.
        let dialect = Dialect::from_name("rfc9309").unwrap();
        let set = compiled(body.as_bytes(), dialect);
        let found = statement(&policy(&set), dialect, &set.agent(b"x").unwrap()).extent;
        match found {
            Extent::Partial { disallowed, .. } => assert!(is_shown && disallowed == path.as_bytes(), "{len}"),
            Extent::Unproved { .. } => assert!(!is_shown, "{len}"),
            other => panic!("{len}: {other:?}"),
        }
    }
}

/// Compares the statement for each real file with verdicts for its rules' shortest paths. Prints how often looking up
/// only `/` is misleading.
#[test]
fn statements_about_real_files_agree_with_their_rules() {
    let Some(shared) = support::shared() else { return };
    let files = crate::shared::bodies(&shared.join("corpora/real"));
    let (mut unproved, mut most_steps, mut counts, mut fooled) = (0, 0, [0; 4], [0; 4]);
    for (host, body) in &files {
        let Ok(prepared) = prepare(body, &GOOGLE, &Bump::new()) else { continue };
        let mut builder = SetBuilder::new(&GOOGLE);
        let origin = OwnedOrigin { host: b"h"[..].into(), scheme: Scheme::Http, port: 80 };
        builder.add([origin], prepared);
        let set = Set::from_bytes(builder.finish(Compiled::default()).unwrap().to_bytes()).unwrap();
        let policy = policy(&set);
        for name in ["GPTBot", "x"] {
            let agent = of_name(name.as_bytes(), &GOOGLE).look_up(&set).unwrap();
            let found = statement(&policy, &GOOGLE, &agent);
            most_steps = most_steps.max(found.steps);
            let mut seen = [false; 2];
            let rules = policy.rules_for(&agent).unwrap();
            for rule in rules.iter().flat_map(|rules| rules.all().unwrap()) {
                let path: Vec<u8> = rule.pattern.iter().copied().filter(|byte| !b"*$".contains(byte)).collect();
                for path in [path.clone(), [&path[..], b"x"].concat()].into_iter().filter(|path| path.starts_with(b"/"))
                {
                    if path != b"/robots.txt" {
                        seen[usize::from(policy.decide(&agent, &path).unwrap() == Verdict::Disallow)] = true;
                    }
                }
            }
            let allows_root = policy.decide(&agent, b"/").unwrap() == Verdict::Allow;
            let kind = match found.extent {
                Extent::Allowed => {
                    assert!(!seen[1] && allows_root, "{host}");
                    0
                }
                Extent::Disallowed => {
                    assert!(!seen[0] && !allows_root, "{host}");
                    1
                }
                Extent::Partial { allowed, disallowed } => {
                    for (path, expected) in [(allowed, true), (disallowed, false)] {
                        let url = [b"http://h", &path[..]].concat();
                        let resolved = of_name(name.as_bytes(), &GOOGLE);
                        assert_eq!(oracle::decide_for(body, &GOOGLE, &resolved, &url).allowed, expected, "{host}");
                        assert_eq!(set.decide(&agent, &url).unwrap() == Verdict::Allow, expected, "{host}");
                    }
                    if name == "GPTBot" {
                        let allows_others = policy.decide(&agent, b"/zzzzzzzz").unwrap() == Verdict::Allow;
                        fooled[usize::from(allows_root) * 2 + usize::from(allows_others)] += 1;
                    }
                    2
                }
                _ => {
                    unproved += 1;
                    3
                }
            };
            counts[kind] += 1;
        }
    }
    println!("{} files, 2 agents: allowed, disallowed, partial, unproved: {counts:?}", files.len());
    println!("most steps {most_steps}");
    let [neither, others, root, both] = fooled;
    println!(
        "partial for GPTBot; allowed are / and a page that no rule names: {both}; only /: {root}; only the page: {others}; neither: {neither}"
    );
    assert!(unproved * 1000 <= files.len(), "{unproved} of {} files are unproved", files.len());
}
