//! Runs the conformance suite in `corpora/suite` with the oracle, one-shot decisions, and each strategy both in memory
//! and in a mapped file. `corpora/README.md` describes the cases.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use std::collections::HashSet;

use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::Dialect;
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::oracle;
use reptile_engine::set::Set;
use serde::Deserialize;
use support::{
    Expected, Report, TemporaryFile, ask, base64, base64_parts, compile, decide_once, policy_of, read, workspace,
};

/// Number of suite files. Update this and the counts below when you add a case. They catch a loader that skips some.
const FILES: usize = 17;
const CASES: usize = 314;
const CHECKS: usize = 959;

/// A suite file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    dialect: String,
    case: Vec<WrittenCase>,
}

/// A case as written. Its `agent` and `url` are defaults for its checks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    name: String,
    source: String,
    body: Option<String>,
    body_base64: Option<String>,
    body_parts: Option<Vec<(String, usize)>>,
    agent: Option<String>,
    url: Option<String>,
    verdict: Option<WrittenVerdict>,
    line: Option<u32>,
    checks: Option<Vec<WrittenCheck>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCheck {
    agent: Option<String>,
    url: Option<String>,
    url_parts: Option<Vec<(String, usize)>>,
    verdict: WrittenVerdict,
    line: Option<u32>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WrittenVerdict {
    Allow,
    Disallow,
}

struct Case {
    /// File name and case name.
    name: String,
    /// The case's host in the set that holds all bodies for its dialect.
    host: String,
    dialect: &'static Dialect,
    body: Vec<u8>,
    checks: Vec<Check>,
}

struct Check {
    agent: String,
    url: String,
    expected: Expected,
}

impl Case {
    fn new(written: WrittenCase, file: &str, host: String, dialect: &'static Dialect) -> Case {
        let name = format!("{file}: {}", written.name);
        assert!(!written.source.is_empty(), "{name}: no source");
        let body = match (written.body, written.body_base64, written.body_parts) {
            (Some(body), None, None) => body.into_bytes(),
            (None, Some(body), None) => base64(&body),
            (None, None, Some(parts)) => base64_parts(&parts),
            _ => panic!("{name}: give one of body, body_base64 and body_parts"),
        };
        let written_checks = match (written.checks, written.verdict) {
            (Some(checks), None) if !checks.is_empty() && written.line.is_none() => checks,
            (None, Some(verdict)) => {
                vec![WrittenCheck { agent: None, url: None, url_parts: None, verdict, line: written.line }]
            }
            _ => panic!("{name}: give either checks or a verdict"),
        };
        let check = |check: WrittenCheck| {
            let url = match (check.url, check.url_parts) {
                (Some(url), None) => Some(url),
                (None, Some(parts)) => Some(parts.iter().map(|(piece, times)| piece.repeat(*times)).collect()),
                (None, None) => written.url.clone(),
                _ => panic!("{name}: give one of url and url_parts"),
            };
            let allowed = matches!(check.verdict, WrittenVerdict::Allow);
            Check {
                agent: check.agent.or_else(|| written.agent.clone()).unwrap_or_else(|| panic!("{name}: no agent")),
                url: url.unwrap_or_else(|| panic!("{name}: no url")),
                expected: Expected { allowed, line: check.line },
            }
        };
        let checks = written_checks.into_iter().map(check).collect();
        Case { name, host, dialect, body, checks }
    }
}

/// Loads the whole suite.
fn load() -> Vec<Case> {
    let folder = workspace().join("corpora/suite");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.iter().all(|file| file.extension().is_some_and(|extension| extension == "toml")), "{files:?}");
    assert_eq!(files.len(), FILES, "files in the suite");
    let mut cases = Vec::new();
    for file in &files {
        let file_name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = String::from_utf8(read(file)).unwrap_or_else(|error| panic!("{file_name}: {error}"));
        let suite: SuiteFile = toml::from_str(&text).unwrap_or_else(|error| panic!("{file_name}: {error}"));
        let dialect = Dialect::from_name(&suite.dialect);
        let dialect = dialect.unwrap_or_else(|| panic!("{file_name}: no dialect {:?}", suite.dialect));
        for written in suite.case {
            let host = format!("case-{}.example.com", cases.len());
            cases.push(Case::new(written, &file_name, host, dialect));
        }
    }
    let mut names = HashSet::new();
    for case in &cases {
        assert!(names.insert(&case.name), "two cases named {}", case.name);
    }
    assert_eq!(cases.len(), CASES, "cases in the suite");
    assert_eq!(cases.iter().map(|case| case.checks.len()).sum::<usize>(), CHECKS, "checks in the suite");
    cases
}

fn question(case: &Case, check: &Check) -> String {
    let shown = |text: &str| match text.char_indices().nth(120) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    };
    format!("{}: agent {}, URL {}", case.name, shown(&check.agent), shown(&check.url))
}

/// Runs every check of some cases against a set that holds their bodies.
fn ask_set<D: AsRef<[u8]>>(report: &mut Report, path: &str, set: &Set<D>, cases: &[&Case]) {
    for case in cases {
        let policy = policy_of(set, &case.host);
        for check in &case.checks {
            let found = ask(set, &policy, check.agent.as_bytes(), check.url.as_bytes());
            report.compare(|| question(case, check), path, check.expected, found);
        }
    }
}

#[test]
fn oracle_agrees_with_the_suite() {
    let mut report = Report::default();
    for case in &load() {
        for check in &case.checks {
            let answer = oracle::decide(&case.body, case.dialect, check.agent.as_bytes(), check.url.as_bytes());
            report.compare(|| question(case, check), "oracle", check.expected, Ok(answer));
        }
    }
    assert_eq!(report.compared(), CHECKS);
    report.finish();
}

#[test]
fn one_shot_agrees_with_the_suite() {
    let mut report = Report::default();
    for case in &load() {
        for check in &case.checks {
            let agent = of_name(check.agent.as_bytes(), case.dialect);
            let answer = decide_once(&case.body, case.dialect, &agent, check.url.as_bytes());
            report.compare(
                || question(case, check),
                "one shot",
                check.expected,
                answer.map_err(|error| error.to_string()),
            );
        }
    }
    assert_eq!(report.compared(), CHECKS);
    report.finish();
}

/// Compiles a separate set for each case.
#[test]
fn sets_in_memory_agree_with_the_suite() {
    let mut report = Report::default();
    for case in &load() {
        for (name, strategy) in Strategy::ALL {
            let set = Set::from_bytes(compile([(&*case.host, &*case.body)], case.dialect, strategy)).unwrap();
            set.verify().unwrap_or_else(|error| panic!("{}: {name}: {error}", case.name));
            ask_set(&mut report, name, &set, &[case]);
        }
    }
    assert_eq!(report.compared(), CHECKS * Strategy::ALL.len());
    report.finish();
}

/// Compiles one set per dialect, so that different files share tables of agents, rulesets and lines.
#[test]
fn mapped_sets_agree_with_the_suite() {
    let cases = load();
    let mut report = Report::default();
    for dialect in reptile_compiler::dialect::ALL {
        let cases: Vec<&Case> = cases.iter().filter(|case| case.dialect == dialect).collect();
        for (name, strategy) in Strategy::ALL {
            let bodies = cases.iter().map(|case| (&*case.host, &*case.body));
            let file = TemporaryFile::new(&compile(bodies, dialect, strategy));
            let set = Set::from_bytes(support::mapped(file.path())).unwrap();
            set.verify().unwrap_or_else(|error| panic!("{}: {name}: {error}", dialect.name));
            ask_set(&mut report, &format!("{name}, mapped"), &set, &cases);
        }
    }
    assert_eq!(report.compared(), CHECKS * Strategy::ALL.len());
    report.finish();
}
