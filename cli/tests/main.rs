//! All tests of the command, in one test program: building a program for each file takes much longer than running it.
//!
//! Each module states what it tests. A new file needs a `mod` line here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

mod agents;
mod audit;
mod batches;
mod by_time;
mod captures;
mod check;
mod classify;
mod classify_agents;
mod classify_arrow;
mod classify_columns;
mod classify_guesses;
mod classify_kept;
mod classify_kept_text;
mod classify_logs;
mod classify_many;
mod classify_output;
mod classify_parquet;
mod classify_tables;
mod classify_writers;
mod columns;
mod compile;
mod damage;
mod diff;
mod evidence;
mod fates;
mod fault_matrix;
mod faults;
mod fields;
mod filter;
mod first_lines;
mod input_kinds;
mod inputs;
mod inputs_bounds;
mod inspect;
mod killed;
mod lines;
mod lint;
mod made;
mod memory;
mod merge;
mod metrics;
mod mistakes;
mod one_file;
mod output_folders;
mod parquet_mutants;
mod parquet_refused;
mod prove;
mod redirects;
mod report;
mod rights;
mod scope;
mod side_by_side;
mod sources;
mod summarize;
mod support;
mod terminal;
mod tester;
mod threads;
mod timeline;
mod usage;
mod warc;
mod warc_answers;
mod warc_formats;
mod warc_framing;
mod warc_index;
mod warc_mutants;
mod warc_readers;

/// Without its `mod` line, a file would not be compiled.
#[test]
fn every_file_has_a_mod_line() {
    let lines = include_str!("main.rs");
    let mut files = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|module| !["main", "families"].contains(module)) else {
            continue;
        };
        assert!(lines.lines().any(|line| line == format!("mod {module};")), "mod {module}; is missing in main.rs");
        files += 1;
    }
    assert!(files > 10, "{files}");
}
