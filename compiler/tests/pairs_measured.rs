//! Measurements of proofs about pairs of rulesets, on real and hostile files. The engine and the oracle check every
//! example.
//!
//! Figures come from the ignored tests:
//!
//! ```sh
//! cargo test -p reptile-compiler --test all pairs -- --ignored --nocapture --test-threads 1
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use std::collections::HashSet;
use std::time::{Duration, Instant};

use bumpalo::Bump;
use reptile_compiler::dialect::crawlers::Resolved;
use reptile_compiler::dialect::{Dialect, GOOGLE, GOOGLE_LIB};
use reptile_compiler::limits::MAX_PROOF_STEPS;
use reptile_compiler::reason::{Comparison, Reasoner, Witness};
use reptile_compiler::set::prepare;

use crate::families::{Family, families};
use crate::pairs::{ALLOW, DISALLOW, File};
use crate::support;

/// Returns this process's peak memory so far, if the system reports it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or("unknown".to_owned(), |line| line.trim().to_owned())
}

/// Times, steps and results of comparisons.
#[derive(Default)]
struct Measured {
    times: Vec<Duration>,
    steps: Vec<usize>,
    unproved: Vec<String>,
    equivalent: usize,
    /// The number of comparisons that found a path that only the first or the second side allows.
    only: [usize; 2],
    slowest: Option<(Duration, String)>,
}

impl Measured {
    /// Compares two files, and fails unless every example is confirmed by the engine and the oracle.
    fn compare(&mut self, reasoner: &Reasoner, files: [&File; 2], name: &str) -> Comparison {
        let [first, second] = files.map(File::access);
        let start = Instant::now();
        let found = reasoner.compare(&first, &second, None).unwrap();
        let time = start.elapsed();
        for (side, (witness, wanted)) in
            [(&found.first_only, [ALLOW, DISALLOW]), (&found.second_only, [DISALLOW, ALLOW])].into_iter().enumerate()
        {
            if let Witness::Path(path) = witness {
                self.only[side] += 1;
                for (file, wanted) in files.into_iter().zip(wanted) {
                    file.assert_decides(path, wanted);
                }
            }
        }
        self.equivalent += usize::from(found.is_equivalent());
        if found.is_unproved() {
            self.unproved.push(name.to_owned());
        }
        if self.slowest.as_ref().is_none_or(|(known, _)| *known < time) {
            self.slowest = Some((time, name.to_owned()));
        }
        self.times.push(time);
        self.steps.push(found.steps);
        found
    }

    fn print(&self, name: &str) {
        let (all, unproved) = (self.times.len(), self.unproved.len());
        let searched = self.steps.iter().filter(|&&steps| steps > 0).count();
        println!("{name}: {all} comparisons, {searched} of them with a search, {unproved} unproved");
        println!("  {} equivalent; only the first, only the second allows a path: {:?}", self.equivalent, self.only);
        println!("  time of a comparison: {}", percentiles(&self.times));
        println!("  steps: most {:?}; slowest {:?}", self.steps.iter().max(), self.slowest);
        println!("  unproved: {:?}", &self.unproved[..unproved.min(20)]);
    }
}

fn percentiles<T: Copy + Ord + std::fmt::Debug>(values: &[T]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = |share: usize| sorted.get((sorted.len() * share / 1000).min(sorted.len().saturating_sub(1))).copied();
    format!("p50 {:?}, p99 {:?}, p99.9 {:?}, most {:?}", at(500), at(990), at(999), sorted.last())
}

/// Compares the named groups in real files with the default group.
#[test]
#[ignore = "for the figures"]
fn named_groups_in_real_files_are_compared_with_the_default_group() {
    let Some(shared) = support::shared() else { return };
    let files = crate::shared::bodies(&shared.join("corpora/real"));
    let reasoner = Reasoner::new(GOOGLE.normal_form);
    let (mut measured, mut by_file, mut opening, mut with_both) = (Measured::default(), Vec::new(), 0, 0);
    for (host, body) in &files {
        let Ok(prepared) = prepare(body, &GOOGLE, &Bump::new()) else { continue };
        if prepared.default_group.is_none() {
            continue;
        }
        let default = File::of(body, &GOOGLE, everyone_else());
        // Groups with equal rules count once.
        let mut seen = HashSet::new();
        let named = prepared.tokens.iter().filter(|(_, group)| {
            let rules: Vec<_> = prepared.groups[*group as usize].0.iter().map(|rule| format!("{rule:?}")).collect();
            seen.insert(rules)
        });
        let (mut time, mut opens, mut pairs) = (Duration::ZERO, false, 0);
        for (token, _) in named {
            let named = File::of(body, &GOOGLE, Resolved::verbatim(token));
            let name = format!("{host}\t{}", token.escape_ascii());
            let found = measured.compare(&reasoner, [&named, &default], &name);
            time += measured.times.last().copied().unwrap_or_default();
            opens |= matches!(found.first_only, Witness::Path(_));
            pairs += 1;
        }
        if pairs > 0 {
            with_both += 1;
            opening += usize::from(opens);
            by_file.push(time);
        }
    }
    println!("{} files, {with_both} of them with a default group and named groups", files.len());
    measured.print("each named group and the default group");
    println!("  time of a file: {}", percentiles(&by_file));
    println!("  files in which a named group opens what the default group closes: {opening}");
    println!("  peak memory: {}", peak_memory());
    assert!(with_both > 1000 && opening > 100);
    assert!(measured.unproved.len() * 100 < measured.times.len());
}

/// Returns a crawler that no group names.
fn everyone_else() -> Resolved {
    Resolved { name: "*".to_owned(), tokens: Vec::new(), honors_default_group: true }
}

/// Compares two dialects' readings of real files.
#[test]
#[ignore = "for the figures"]
fn readings_of_real_files_in_two_dialects_are_compared() {
    let Some(shared) = support::shared() else { return };
    let files = crate::shared::bodies(&shared.join("corpora/real"));
    for other in ["rfc9309", "yandex", "koster-1994", "koster-1996"] {
        let other = Dialect::from_name(other).unwrap();
        let reasoner = Reasoner::of_forms([GOOGLE.normal_form, other.normal_form]);
        let mut measured = Measured::default();
        for (host, body) in &files {
            let is_accepted = |dialect| prepare(body, dialect, &Bump::new()).is_ok();
            if !is_accepted(&GOOGLE) || !is_accepted(other) {
                println!("{host} exceeds a limit");
                continue;
            }
            let sides = [&GOOGLE, other].map(|dialect| File::of(body, dialect, everyone_else()));
            measured.compare(&reasoner, [&sides[0], &sides[1]], host);
        }
        measured.print(&format!("google and {}", other.name));
        assert!(measured.times.len() > 4200);
        assert!(measured.unproved.len() * 100 < measured.times.len());
    }
    println!("peak memory: {}", peak_memory());
}

/// Compares all pairs among every `step`th hostile file.
fn compare_hostile(step: usize) {
    let rfc9309 = Dialect::from_name("rfc9309").unwrap();
    let files_under = |dialect| -> Vec<(&str, File)> {
        let is_accepted = |family: &Family| prepare(family.body.as_bytes(), dialect, &Bump::new()).is_ok();
        let file = |family: Family| (family.name, File::new(family.body, dialect, family.agent));
        families().into_iter().step_by(step).filter(is_accepted).map(file).collect()
    };
    let (first, second) = (files_under(&GOOGLE_LIB), files_under(rfc9309));
    println!("{} families, {} and {} within the limits", families().len(), first.len(), second.len());
    for (others, dialects) in [(&first, "one dialect"), (&second, "two dialects")] {
        let reasoner = Reasoner::of_forms([GOOGLE_LIB.normal_form, others[0].1.dialect.normal_form]);
        let mut measured = Measured::default();
        for (at, (name, file)) in first.iter().enumerate() {
            // In one dialect, the order does not matter.
            let rest = if dialects == "one dialect" { &others[at..] } else { &others[..] };
            for (other_name, other) in rest {
                let found = measured.compare(&reasoner, [file, other], &format!("{name} / {other_name}"));
                let bytes = file.body.len() + other.body.len();
                assert!(found.steps <= MAX_PROOF_STEPS + 2 * bytes, "{name} / {other_name}: {}", found.steps);
            }
        }
        measured.print(dialects);
        println!("  peak memory: {}", peak_memory());
        assert!(measured.times.len() >= 6);
        assert!(step > 1 || !measured.unproved.is_empty());
    }
}

#[test]
fn some_pairs_of_hostile_files_are_compared_in_bounded_steps() {
    compare_hostile(13);
}

#[test]
#[ignore = "takes minutes, for the figures"]
fn all_pairs_of_hostile_files_are_compared_in_bounded_steps() {
    compare_hostile(1);
}
