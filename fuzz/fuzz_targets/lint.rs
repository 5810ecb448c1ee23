//! Findings name lines of the file, fixes keep all verdicts in all current dialects by the oracle, and fixing a fixed
//! file changes nothing.
//!
//! Input: the file's dialect, one byte, and the robots.txt.
#![no_main]

use std::collections::BTreeSet;

use bumpalo::Bump;
use libfuzzer_sys::fuzz_target;
use reptile_compiler::advice::lint::{Finding, FixOptions, Fixed, fix_with, lint};
use reptile_compiler::body::{Lines, parse};
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{ALL, Dialect};
use reptile_compiler::oracle;
use reptile_engine::url::split;

/// Maximum findings per kind.
const FINDINGS: u32 = 100;

/// Maximum number of agents, and of rules whose texts are combined to paths.
const AGENTS: usize = 8;
const SPELLED_RULES: usize = 12;

/// The page that does not count: some dialects allow it regardless of the rules.
const ROBOTS_TXT: &[u8] = b"/robots.txt";

/// Checks that each finding's line exists.
fn check_lines(body: &[u8], dialect: &Dialect, findings: &[Finding]) {
    let last = Lines::new(body, dialect.byte_order_mark).count().max(1);
    for finding in findings {
        assert!((1..=last).contains(&(finding.line as usize)), "{last} lines: {finding:?}");
    }
}

/// Returns the file's agents, and paths that its rules match, alone and two in a row.
fn questions(bodies: [&[u8]; 2], dialect: &Dialect) -> (BTreeSet<Vec<u8>>, BTreeSet<Vec<u8>>) {
    let (mut agents, mut texts) = (BTreeSet::from([b"other".to_vec()]), BTreeSet::from([b"/".to_vec()]));
    for body in bodies {
        let arena = Bump::new();
        let robots = parse(body, dialect, &arena);
        let names = robots.groups.iter().flat_map(|group| group.agents).map(|name| dialect.token_syntax.token_of(name));
        agents.extend(names.take(AGENTS).map(<[u8]>::to_vec));
        for rule in robots.groups.iter().flat_map(|group| group.rules).take(SPELLED_RULES) {
            let text = rule.value.iter().copied().filter(|byte| !b"*$".contains(byte));
            texts.insert(text.collect());
        }
    }
    let pairs = texts.iter().flat_map(|first| texts.iter().map(move |second| [&first[..], second].concat()));
    let paths = texts.iter().cloned().chain(pairs).filter(|path| path.starts_with(b"/")).collect();
    (agents, paths)
}

/// Checks that two files have the same verdicts.
fn check_verdicts(bodies: [&[u8]; 2], dialect: &Dialect) {
    let (agents, paths) = questions(bodies, dialect);
    for path in paths {
        let url = [b"http://h", &path[..]].concat();
        if split(&url).is_err() || *dialect.normal_form.path(&path) == *ROBOTS_TXT {
            continue;
        }
        for agent in &agents {
            let agent = of_name(agent, dialect);
            let [old, new] = bodies.map(|body| oracle::decide_for(body, dialect, &agent, &url).allowed);
            assert_eq!(old, new, "{dialect}: {} for {agent:?}", path.escape_ascii());
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&dialect, body)) = data.split_first() else { return };
    let dialect = ALL[usize::from(dialect) % ALL.len()];
    check_lines(body, dialect, &lint(body, dialect, FINDINGS).findings);
    for changes in [false, true] {
        let options = FixOptions { changes, ..FixOptions::default() };
        let Fixed { body: fixed, changes: made, unfixed } = fix_with(body, dialect, &options);
        if !changes {
            let dialects = options.dialects.iter().copied().chain([dialect]);
            dialects.for_each(|dialect| check_verdicts([body, &fixed], dialect));
            assert!(made.iter().all(|change| change.keeps_verdicts), "{made:?}");
        }
        let again = fix_with(&fixed, dialect, &options);
        assert_eq!((again.changes, again.unfixed), (Vec::new(), unfixed), "fixed twice");
        assert_eq!(again.body, fixed, "fixed twice");
    }
});
