//! Rulesets are what their rules compile to: every one of the real files, under every dialect and strategy; and no mutant
//! that `verify` accepts answers otherwise than the rules that it lists.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::HashSet;
use std::io::Read;
use std::time::Instant;

use bumpalo::Bump;
use reptile_compiler::automaton::{Recompiled, Strategy, compile, recompile, recompile_each};
use reptile_compiler::dialect::{ALL, Dialect, GOOGLE_LIB};
use reptile_compiler::oracle::pattern_matches;
use reptile_compiler::set::prepare;
use reptile_engine::automaton::{Ruleset, RulesetRule};
use reptile_engine::verdict::RuleKind;

#[path = "support/mod.rs"]
mod support;

/// A generator of numbers that needs no library and gives the same in every run (xorshift64*).
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

/// Every different ruleset of a robots.txt.
fn rulesets(body: &[u8], dialect: &'static Dialect, strategy: Strategy) -> Vec<Vec<u8>> {
    let arena = Bump::new();
    let groups = prepare(body, dialect, &arena).unwrap().groups;
    groups.iter().map(|(list, _)| compile(list, strategy, &arena).unwrap()).collect()
}

/// Checks what must hold for every ruleset of the compiler: it is valid, lists all of its rules, and is what they compile
/// to. Returns how many bytes it has.
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
fn every_ruleset_of_the_real_files_is_what_its_rules_compile_to() {
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
    for outcome in recompile_each(different.iter().map(|bytes| &bytes[..]), Strategy::Factored.form()) {
        assert_eq!(outcome.unwrap(), Recompiled::Same);
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
