//! Rulesets equal the result of recompiling their rules, for all real files and under every dialect and strategy. No
//! mutant that `verify` and recompilation accept answers differently from the rules that it lists.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::HashSet;
use std::io::Read;
use std::time::Instant;

use bumpalo::Bump;
use reptile_compiler::automaton::{FORM_REVISION, Recompiled, Strategy, compile, recompile};
use reptile_compiler::dialect::{ALL, Dialect, GOOGLE_LIB};
use reptile_compiler::oracle::pattern_matches;
use reptile_compiler::set::prepare;
use reptile_engine::automaton::{Ruleset, RulesetRule};
use reptile_engine::verdict::RuleKind;

use crate::families;
use crate::support;

/// A deterministic random number generator (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }
}

/// Compiles each distinct ruleset in a robots.txt.
fn rulesets(body: &[u8], dialect: &'static Dialect, strategy: Strategy) -> Vec<Vec<u8>> {
    let arena = Bump::new();
    let groups = prepare(body, dialect, &arena).unwrap().groups;
    groups.iter().map(|(list, _)| compile(list, strategy, &arena).unwrap()).collect()
}

/// Checks that a compiled ruleset is valid, lists all of its rules, and equals the result of recompiling them. Returns
/// its size in bytes.
fn check(bytes: &[u8], strategy: Strategy, name: &str) -> usize {
    let ruleset = Ruleset::new(bytes).unwrap();
    ruleset.verify().unwrap_or_else(|error| panic!("{name}: {error}\n{ruleset:?}"));
    let rules = ruleset.rules().unwrap();
    assert_eq!(rules.len(), ruleset.rule_count() as usize, "{name}");
    let outcome = recompile(bytes, strategy.form()).unwrap();
    assert_eq!(
        outcome,
        Recompiled::Same,
        "{name}: {}",
        if bytes.len() < 4000 { format!("{ruleset:?}") } else { String::new() }
    );
    bytes.len()
}

#[test]
fn rulesets_of_real_files_recompile_to_the_same_bytes() {
    let Some(shared) = support::shared() else { return };
    let packed = support::read(&shared.join("corpora/real/robots.tar.gz"));
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&packed[..]));
    let mut different = HashSet::new();
    let mut listed = 0;
    for entry in archive.entries().unwrap() {
        let mut body = Vec::new();
        entry.unwrap().read_to_end(&mut body).unwrap();
        different.extend(rulesets(&body, &GOOGLE_LIB, Strategy::Factored));
    }
    let bytes = different.iter().map(Vec::len).sum::<usize>();
    let start = Instant::now();
    for ruleset in &different {
        Ruleset::new(ruleset).unwrap().verify().unwrap();
    }
    let verified = start.elapsed();
    let start = Instant::now();
    for ruleset in &different {
        assert_eq!(recompile(ruleset, Strategy::Factored.form()).unwrap(), Recompiled::Same);
    }
    let recompiled = start.elapsed();
    for ruleset in &different {
        let ruleset = Ruleset::new(ruleset).unwrap();
        let rules = ruleset.rules().unwrap();
        assert_eq!(rules.len(), ruleset.rule_count() as usize);
        listed += rules.len();
    }
    println!(
        "{} rulesets, {bytes} bytes, {listed} rules: verified in {verified:?}, recompiled in {recompiled:?}",
        different.len()
    );
    assert_eq!(different.len(), 3871);
}

/// Generates a pattern from few different bytes, so that patterns overlap, shadow each other, and need normalizing.
fn pattern(random: &mut Random) -> String {
    const PARTS: [&str; 16] =
        ["/", "a", "b", "*", "*", "$", "/index.html", "/index.htm$", "ab", "%2a", "%24", "?", "xaxa", "**", "é", "/a"];
    let start = *random.pick(&["/", "/", "/", "*", ""]);
    let parts: String = (0..random.below(6)).map(|_| *random.pick(&PARTS)).collect();
    start.to_owned() + &parts
}

fn body(random: &mut Random, rules: usize) -> String {
    let rules =
        (0..random.below(rules)).map(|_| format!("{}: {}\n", random.pick(&["allow", "disallow"]), pattern(random)));
    "user-agent: *\n".to_owned() + &rules.collect::<String>()
}

/// Number of random files. Each is compiled under every dialect with every strategy.
const BODIES: usize = 80;

#[test]
fn rulesets_of_every_dialect_and_strategy_recompile_to_the_same_bytes() {
    let mut random = Random(7);
    let mut checked = 0;
    for number in 0..BODIES {
        let mut body = body(&mut random, 12);
        if number % 10 == 0 {
            // Too many wildcards for an automaton.
            body += &format!("disallow: /{}\n", "*a".repeat(17));
        }
        for dialect in ALL {
            for (name, strategy) in Strategy::ALL {
                for bytes in rulesets(body.as_bytes(), dialect, strategy) {
                    check(&bytes, strategy, &format!("{} {name} {body:?}", dialect.name));
                    checked += 1;
                }
            }
        }
    }
    assert!(checked >= BODIES * ALL.len() * Strategy::ALL.len() / 2, "{checked}");
}

#[test]
fn hostile_rulesets_recompile_to_the_same_bytes() {
    let (mut joint, mut refused) = (0, 0);
    for family in families::families() {
        if prepare(family.body.as_bytes(), &GOOGLE_LIB, &Bump::new()).is_err() {
            refused += 1;
            continue;
        }
        for bytes in rulesets(family.body.as_bytes(), &GOOGLE_LIB, Strategy::Factored).into_iter().take(50) {
            check(&bytes, Strategy::Factored, family.name);
            let rules = Ruleset::new(&bytes).unwrap().rules().unwrap();
            joint += usize::from(rules.iter().any(|rule| rule.joint_rank.is_some()));
        }
    }
    assert!(joint > 0, "no ruleset has joint ranks");
    assert_eq!(refused, 9, "families over the per-decision limits, which tests/hostile.rs names");
}

#[test]
fn every_rule_is_listed_with_its_rank_and_pattern() {
    let body = "user-agent: *\nallow: /d/index.html\ndisallow: /d/*x\ndisallow: /a*\nallow: /a\ndisallow:\n";
    let bytes = rulesets(body.as_bytes(), &GOOGLE_LIB, Strategy::Factored).swap_remove(0);
    let rules = Ruleset::new(&bytes).unwrap().rules().unwrap();
    let rules = rules.iter().map(|rule| (rule.rank, std::str::from_utf8(&rule.pattern).unwrap(), rule.opens_directory));
    let expected = [
        (0, "/d/index.html", false),
        (3, "/d/*x", false),
        (4, "/d/index.html", true),
        (7, "/a*", false),
        (8, "/a", false),
        (11, "", false),
    ];
    assert_eq!(rules.collect::<Vec<_>>(), expected);
    // The first rule in the file decides: `/ab` never can, but is listed.
    let body = "user-agent: *\ndisallow: /a\ndisallow: /ab\nallow: /abc\n";
    let first = ALL.into_iter().find(|dialect| dialect.name == "koster-1996").unwrap();
    let bytes = rulesets(body.as_bytes(), first, Strategy::Factored).swap_remove(0);
    let ruleset = Ruleset::new(&bytes).unwrap();
    let patterns: Vec<Vec<u8>> = ruleset.rules().unwrap().into_iter().map(|rule| rule.pattern).collect();
    for pattern in ["/a", "/ab", "/abc"] {
        assert!(patterns.contains(&pattern.as_bytes().to_vec()), "{pattern}: {ruleset:?}");
    }
}

#[test]
fn other_forms_are_reported() {
    let bytes = rulesets(b"user-agent: *\ndisallow: /*a\n", &GOOGLE_LIB, Strategy::Factored).swap_remove(0);
    let known = Strategy::Factored.form();
    for found in [0, known + 4, known + 0x100] {
        assert_eq!(recompile(&bytes, found), Ok(Recompiled::OtherForm { found, known }));
    }
    let fallback = Strategy::Fallback.form();
    assert!(matches!(recompile(&bytes, fallback), Ok(Recompiled::Differs { .. })));
    let forms = [1, 2, 3].map(|strategy| 256 * FORM_REVISION + strategy);
    assert_eq!([known, fallback, Strategy::Whole.form()], forms);
    assert!(Strategy::ALL.into_iter().all(|(_, strategy)| Strategy::from_form(strategy.form()) == Some(strategy)));
    assert!(recompile(&bytes[..20], known).is_err());
}

/// Returns whether a rule matches a path by definition.
fn rule_matches(rule: &RulesetRule, path: &[u8]) -> bool {
    let mut pattern = rule.pattern.clone();
    if rule.opens_directory {
        pattern.truncate(pattern.iter().rposition(|&byte| byte == b'/').unwrap() + 1);
    }
    if rule.is_literal {
        pattern.iter_mut().for_each(|byte| match byte {
            b'*' => *byte = 0,
            b'$' => *byte = b'\n',
            _ => {}
        });
    }
    if rule.opens_directory {
        pattern.push(b'$');
    }
    pattern_matches(&pattern, path)
}

/// Number of mutants accepted by `verify`, and number of paths per mutant that recompiles to itself.
const MUTANTS: usize = 1000;
const PATHS: usize = 100;

#[test]
fn accepted_mutants_answer_according_to_their_listed_rules() {
    let mut random = Random(42);
    let (mut refused, mut same, mut tried) = (0, 0, 0);
    while refused + same < MUTANTS {
        let body = body(&mut random, 10);
        let Some(mut bytes) = rulesets(body.as_bytes(), &GOOGLE_LIB, Strategy::Factored).pop() else { continue };
        for _ in 0..40.min(MUTANTS - refused - same) {
            let mut mutant = bytes.clone();
            let (at, from) = (random.below(bytes.len()), random.below(bytes.len()));
            match random.below(4) {
                0 => mutant[at] ^= 1 << random.below(8),
                1 => mutant[at] = *random.pick(b"/ab*$?x"),
                2 => mutant[at] = bytes[from],
                _ => mutant.swap(at, from),
            }
            tried += 1;
            if mutant == bytes || Ruleset::new(&mutant).and_then(|ruleset| ruleset.verify()).is_err() {
                continue;
            }
            if recompile(&mutant, Strategy::Factored.form()) != Ok(Recompiled::Same) {
                refused += 1;
                continue;
            }
            same += 1;
            let ruleset = Ruleset::new(&mutant).unwrap();
            let rules = ruleset.rules().unwrap();
            for _ in 0..PATHS {
                let mut path: Vec<u8> = (0..random.below(12)).map(|_| *random.pick(b"/ab?x*$%2A")).collect();
                path.insert(0, b'/');
                let best = |kind| {
                    let with_pattern = rules.iter().filter(|rule| rule.kind == kind && !rule.pattern.is_empty());
                    with_pattern.filter(|rule| rule_matches(rule, &path)).map(|rule| rule.rank).min()
                };
                let (allow, disallow) = (best(RuleKind::Allow), best(RuleKind::Disallow));
                let disallows = disallow.is_some_and(|rank| allow.is_none_or(|allow| rank < allow));
                let found = ruleset.matches(&path).unwrap();
                let name = || format!("{}: {ruleset:?}", path.escape_ascii());
                if allow.is_some() || disallow.is_some() {
                    assert_eq!((found.allow, found.disallow), (allow, disallow), "{}", name());
                }
                assert_eq!(found.verdict, ruleset.verdict(&path).unwrap(), "{}", name());
                assert_eq!(found.verdict as usize, usize::from(disallows), "{}", name());
            }
            // Mutants of mutants go further.
            bytes = mutant;
        }
    }
    println!("{tried} mutants: {refused} rejected by recompilation, {same} answer according to their rules");
    assert!(refused > MUTANTS / 20 && same > MUTANTS / 20);
}
