//! The cases and the real files of the shared folder, where it is present: verdicts and lines that were measured
//! on the reference. Without the folder every test here says `skipped` and passes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

mod support;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::oracle;
use reptile_engine::set::{Policy, Set};
use serde::Deserialize;
use support::{Expected, Report, ask, base64, base64_parts, compile, policy_of, read, shared};

/// Cases of `spec/dialect_cases.json`; each has a verdict and a line of the reference.
const DIALECT_CASES: usize = 96;
/// Cases of `spec/source_examples.json` that are about matching; the others are about scope.
const SOURCE_EXAMPLES: usize = 205;
/// Files of `corpora/real/robots.tar.gz`.
const REAL_FILES: usize = 4_231;
/// Rows of `corpora/real/golden.tsv.gz`.
const GOLDEN_ROWS: usize = 239_100;
/// Every so many rows, one is put to the oracle, which reads the whole file anew for it.
const ORACLE_STEP: usize = 50;

/// A verdict as the JSON files have it.
#[derive(Clone, Copy, Deserialize)]
enum Letter {
    A,
    D,
}

#[derive(Deserialize)]
struct DialectCase {
    id: String,
    title: String,
    body_b64: Option<String>,
    body_parts: Option<Vec<(String, usize)>>,
    agent: String,
    url: String,
    expect: ByDialect,
    google_matching_line: Option<u32>,
}

#[derive(Deserialize)]
struct ByDialect {
    google_lib: Letter,
}

#[derive(Deserialize)]
struct SourceExample {
    id: String,
    body: Option<String>,
    agent: Option<String>,
    url: String,
    models: Option<Models>,
}

#[derive(Deserialize)]
struct Models {
    lib: Option<Letter>,
}

/// Puts one question to the oracle and to a set of each strategy.
fn ask_all(report: &mut Report, id: &str, body: &[u8], agent: &str, url: &str, expected: Expected) {
    let question = || format!("{id}: agent {agent:?}, URL {url:?}");
    let answer = oracle::decide(body, &GOOGLE_LIB, agent.as_bytes(), url.as_bytes());
    report.compare(question, "oracle", expected, Ok(answer));
    for (name, strategy) in Strategy::ALL {
        let set = Set::from_bytes(compile([("h", body)], &GOOGLE_LIB, strategy)).unwrap();
        set.verify().unwrap_or_else(|error| panic!("{id}: {name}: {error}"));
        let found = ask(&set, &policy_of(&set, "h"), agent.as_bytes(), url.as_bytes());
        report.compare(question, name, expected, found);
    }
}

#[test]
fn dialect_cases() {
    let Some(shared) = shared() else { return };
    let cases: Vec<DialectCase> = serde_json::from_slice(&read(&shared.join("spec/dialect_cases.json"))).unwrap();
    assert_eq!(cases.len(), DIALECT_CASES);
    let mut report = Report::default();
    for case in &cases {
        let body = match (&case.body_b64, &case.body_parts) {
            (Some(body), None) => base64(body),
            (None, Some(parts)) => base64_parts(parts),
            _ => panic!("{}: no body", case.id),
        };
        let allowed = matches!(case.expect.google_lib, Letter::A);
        let expected = Expected { allowed, line: case.google_matching_line };
        ask_all(&mut report, &format!("{} ({})", case.id, case.title), &body, &case.agent, &case.url, expected);
    }
    assert_eq!(report.compared(), DIALECT_CASES * (1 + Strategy::ALL.len()));
    report.finish();
}

#[test]
fn source_examples() {
    let Some(shared) = shared() else { return };
    let cases: Vec<SourceExample> = serde_json::from_slice(&read(&shared.join("spec/source_examples.json"))).unwrap();
    let mut report = Report::default();
    for case in &cases {
        let (Some(body), Some(agent), Some(Models { lib: Some(verdict) })) = (&case.body, &case.agent, &case.models)
        else {
            continue;
        };
        let expected = Expected { allowed: matches!(verdict, Letter::A), line: None };
        ask_all(&mut report, &case.id, body.as_bytes(), agent, &case.url, expected);
    }
    assert_eq!(report.compared(), SOURCE_EXAMPLES * (1 + Strategy::ALL.len()));
    report.finish();
}

/// A row of the golden file. Columns end at a tab, rows at a line feed, and nothing is trimmed: agents and URLs may
/// begin or end in white space.
struct Row<'g> {
    host: &'g str,
    agent: &'g str,
    url: &'g str,
    expected: Expected,
}

fn row(line: &str) -> Row<'_> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [host, agent, url, verdict, line] = columns[..] else { panic!("not five columns: {line:?}") };
    let allowed = match verdict {
        "ALLOW" => true,
        "DISALLOW" => false,
        _ => panic!("no verdict: {verdict:?}"),
    };
    Row { host, agent, url, expected: Expected { allowed, line: Some(line.parse().unwrap()) } }
}

fn golden(folder: &Path) -> String {
    let mut text = String::new();
    let file = read(&folder.join("golden.tsv.gz"));
    GzDecoder::new(&file[..]).read_to_string(&mut text).unwrap();
    text
}

/// The real files, by host.
fn bodies(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let file = read(&folder.join("robots.tar.gz"));
    let mut archive = tar::Archive::new(GzDecoder::new(&file[..]));
    let mut bodies = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let host = entry.path().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        let mut body = Vec::new();
        entry.read_to_end(&mut body).unwrap();
        assert!(bodies.insert(host, body).is_none());
    }
    assert_eq!(bodies.len(), REAL_FILES);
    bodies
}

fn question(number: usize, row: &Row<'_>) -> String {
    format!("row {number}: {}, agent {:?}, URL {:?}", row.host, row.agent, row.url)
}

#[test]
fn golden_rows_through_sets() {
    let Some(shared) = shared() else { return };
    let folder = shared.join("corpora/real");
    let (golden, bodies) = (golden(&folder), bodies(&folder));
    let rows: Vec<Row<'_>> = golden.split_terminator('\n').map(row).collect();
    assert_eq!(rows.len(), GOLDEN_ROWS);
    let mut report = Report::default();
    for (name, strategy) in Strategy::ALL {
        let files = bodies.iter().map(|(host, body)| (&**host, &**body));
        let set = Set::from_bytes(compile(files, &GOOGLE_LIB, strategy)).unwrap();
        set.verify().unwrap_or_else(|error| panic!("{name}: {error}"));
        // The rows of a host are neighbours.
        let mut known: Option<(&str, Policy<'_>)> = None;
        for (number, row) in (1..).zip(&rows) {
            let policy = match known {
                Some((host, policy)) if host == row.host => policy,
                _ => policy_of(&set, row.host),
            };
            known = Some((row.host, policy));
            let found = ask(&set, &policy, row.agent.as_bytes(), row.url.as_bytes());
            report.compare(|| question(number, row), name, row.expected, found);
        }
    }
    assert_eq!(report.compared(), GOLDEN_ROWS * Strategy::ALL.len());
    report.finish();
}

#[test]
fn golden_rows_through_the_oracle() {
    let Some(shared) = shared() else { return };
    let folder = shared.join("corpora/real");
    let (golden, bodies) = (golden(&folder), bodies(&folder));
    let mut report = Report::default();
    let mut rows = 0;
    for (number, line) in (1..).zip(golden.split_terminator('\n')) {
        rows += 1;
        if number % ORACLE_STEP != 0 {
            continue;
        }
        let row = row(line);
        let answer = oracle::decide(&bodies[row.host], &GOOGLE_LIB, row.agent.as_bytes(), row.url.as_bytes());
        report.compare(|| question(number, &row), "oracle", row.expected, Ok(answer));
    }
    assert_eq!(rows, GOLDEN_ROWS);
    assert_eq!(report.compared(), GOLDEN_ROWS / ORACLE_STEP);
    report.finish();
}
