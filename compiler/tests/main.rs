//! All compiler tests in one binary: linking one binary per file takes much longer than running the tests.
//!
//! A new file needs a `mod` line here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

mod batch;
mod by_time;
mod captures;
mod choices;
mod damage;
mod determinism;
mod directives;
mod documents;
mod equivalence;
#[path = "support/families.rs"]
mod families;
mod fixes;
mod hostile;
mod hostile_sets;
mod large_sections;
mod limits;
mod lint;
mod merge;
mod names;
mod near_copies;
mod pairs;
mod pairs_measured;
mod reason;
mod recompile;
mod scope;
mod shared;
mod small_world;
mod stored;
mod suite;
mod support;
mod usage;
mod verify;
mod verify_sets;
mod verify_speed;
mod walkthrough;

/// A file without a `mod` line would silently not be tested.
#[test]
fn every_test_file_is_declared() {
    let lines = include_str!("main.rs");
    let mut files = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|&module| module != "main") else { continue };
        assert!(lines.lines().any(|line| line == format!("mod {module};")), "mod {module}; is missing in main.rs");
        files += 1;
    }
    assert!(files > 10, "{files}");
}
