//! Every command on every family of hostile files: exit code, memory and output length stay within bounds.
//!
//! The benchmark `hostile --commands` measures time.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::path::Path;
use std::time::Duration;

use commands::{commands, fault_of, run, write_files};
use families::{Family, families};
use tool_families::{Recipe, tool_families};

#[path = "support/commands.rs"]
mod commands;
#[path = "../../compiler/tests/support/families.rs"]
#[allow(dead_code, reason = "the paths are for the tests of the compiler")]
mod families;
#[path = "../../compiler/tests/support/tool_families.rs"]
mod tool_families;

/// Size in bytes of the families that fill a file, except [`WORST`].
const SOME_BYTES: usize = 256 << 10;

/// Maximum size of a robots.txt in bytes.
const FULL_BYTES: usize = 16 << 20;

/// The families that need the most memory at [`FULL_BYTES`]. They fill a group's automaton, or the tables of product
/// tokens, groups and rulesets. The benchmark `hostile --commands` runs every family at that size.
const WORST: [&str; 4] = [
    "full of different rules",
    "full of groups of one rule",
    "full of groups that two names share",
    "full of rules with two wildcards",
];

/// Default dialect of all commands.
const DEFAULT: &str = "google";

/// Runs each command on each family, or with a `step` above 1 every `step`th command, beginning with another one in each
/// family.
fn assert_commands_stay_within_bounds(families: impl IntoIterator<Item = Family>, dialect: &str, step: usize) {
    let (mut faults, mut slowest) = (Vec::new(), (Duration::ZERO, String::new()));
    for (number, Family { name, agent, body }) in families.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path(), &body, agent).unwrap();
        for case in commands(agent, dialect).into_iter().skip(number % step).step_by(step) {
            let measured = run(Path::new(env!("CARGO_BIN_EXE_reptile")), folder.path(), &case, body.len()).unwrap();
            slowest = slowest.max((measured.processor, format!("{name}, {}", case.name())));
            if let Some(fault) = fault_of(&case, &measured, body.len()) {
                faults.push(format!("{name}, {}: {fault}", case.name()));
            }
        }
    }
    println!("slowest: {slowest:?}");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

fn pattern_and_group_families(step: usize) {
    let mut families = families();
    assert_eq!(families.len(), 52);
    let rest = families.split_off(26);
    std::thread::scope(|scope| {
        scope.spawn(|| assert_commands_stay_within_bounds(rest, DEFAULT, step));
        assert_commands_stay_within_bounds(families, DEFAULT, step);
    });
}

fn line_families(step: usize) {
    assert_commands_stay_within_bounds(tool_families(SOME_BYTES).iter().map(Recipe::family), DEFAULT, step);
}

/// google-lib reads whole files. The default dialect reads only the first 500 KiB.
fn full_files(step: usize) {
    let families = tool_families(FULL_BYTES);
    let worst = families.iter().filter(|recipe| WORST.contains(&recipe.name)).map(Recipe::family);
    assert_commands_stay_within_bounds(worst, "google-lib", step);
}

#[test]
fn pattern_and_group_families_stay_within_bounds() {
    pattern_and_group_families(3);
}

#[test]
fn line_families_stay_within_bounds() {
    line_families(3);
}

#[test]
fn full_files_stay_within_bounds() {
    full_files(6);
}

#[test]
#[ignore = "minutes"]
fn all_commands_stay_within_bounds() {
    pattern_and_group_families(1);
    line_families(1);
    full_files(1);
}
