//! The shared folder's cases and real files, with verdicts and lines measured on the reference. Without the folder,
//! every test here prints `skipped` and passes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{
    Dialect, GOOGLE, GOOGLE_LIB, KOSTER_1994, KOSTER_1996, RFC9309, RFC9309_STRICT, YANDEX, YANDEX_2017,
};
use reptile_compiler::oracle::{self, OracleAnswer};
use reptile_engine::set::{Policy, Set};
use serde::Deserialize;
use support::{Expected, Report, ask, base64, base64_parts, compile, decide_once, policy_of, read, shared};

/// Number of cases in `spec/dialect_cases.json`. Each has a verdict and a line from the reference.
const DIALECT_CASES: usize = 96;
/// Number of cases in `spec/source_examples.json` that test matching. The others test scope.
const SOURCE_EXAMPLES: usize = 205;
/// Number of files in `corpora/real/robots.tar.gz`.
const REAL_FILES: usize = 4_231;
/// Number of rows in `corpora/real/golden.tsv.gz`.
const GOLDEN_ROWS: usize = 239_100;
/// One in this many rows is tested with the oracle, which parses the whole file again for each row.
const ORACLE_STEP: usize = 50;

/// A verdict in the JSON files.
#[derive(Clone, Copy, Deserialize)]
enum Letter {
    A,
    D,
    /// The document contradicts itself.
    #[serde(rename = "?")]
    Unclear,
}

#[derive(Deserialize)]
struct DialectCase {
    id: String,
    title: String,
    body_b64: Option<String>,
    body_parts: Option<Vec<(String, usize)>>,
    agent: String,
    url: String,
    expect: BTreeMap<String, Letter>,
    google_matching_line: Option<u32>,
    /// Columns whose verdict is not stated in any document.
    inferred: Vec<String>,
}

impl DialectCase {
    fn body(&self) -> Vec<u8> {
        match (&self.body_b64, &self.body_parts) {
            (Some(body), None) => base64(body),
            (None, Some(parts)) => base64_parts(parts),
            _ => panic!("{}: no body", self.id),
        }
    }
}

#[derive(Deserialize)]
struct SourceExample {
    id: String,
    body: Option<String>,
    agent: Option<String>,
    url: String,
    expect: Option<Letter>,
    dialect: Option<String>,
    models: Option<Models>,
}

#[derive(Deserialize)]
struct Models {
    lib: Option<Letter>,
}

/// Table columns with their dialects. `rfc9309` is the strict reading. The practical reading and Bing have no column.
const COLUMNS: [(&str, &Dialect); 7] = [
    ("google_lib", &GOOGLE_LIB),
    ("google_docs", &GOOGLE),
    ("rfc9309", &RFC9309_STRICT),
    ("yandex", &YANDEX),
    ("yandex_hist", &YANDEX_2017),
    ("koster94", &KOSTER_1994),
    ("koster96", &KOSTER_1996),
];

/// Columns with a model's verdicts only. The models were inferred from descriptions.
const MODEL_COLUMNS: [&str; 3] = ["yandex_hist", "koster94", "koster96"];

/// Cells that are not stated in any document and in which we differ, with the reason.
const DIFFERENT_CELLS: [(&str, &str, &str); 6] = [
    ("G10", "rfc9309", ONE_WAY_TO_SPLIT),
    ("G10", "yandex", ONE_WAY_TO_SPLIT),
    ("G10", "yandex_hist", ONE_WAY_TO_SPLIT),
    ("G10", "koster94", ONE_WAY_TO_SPLIT),
    ("G10", "koster96", ONE_WAY_TO_SPLIT),
    ("F25", "yandex_hist", "by section 5.3, files over 32 KB allow everything; the model has no such limit"),
];

const ONE_WAY_TO_SPLIT: &str = "a URL's path begins at / ? or ; in every dialect";

/// Rows under `rfc9309` for which the practical reading differs from the strict one, with the reason.
const PRACTICAL_DIFFERS: [(&str, &str); 3] = [
    ("B20", "a rule with a space is kept, not skipped as outside the grammar"),
    ("B21", "a rule with a space is kept, and its space is %20"),
    ("C17", "a rule that is not UTF-8 is kept, with its bytes as %XX"),
];

/// Returns the answers from the oracle, a one-shot decision, and a set for each strategy.
fn answers(
    dialect: &'static Dialect,
    body: &[u8],
    agent: &str,
    url: &str,
) -> Vec<(&'static str, Result<OracleAnswer, String>)> {
    let once = decide_once(body, dialect, &of_name(agent.as_bytes(), dialect), url.as_bytes());
    let mut answers = vec![
        ("oracle", Ok(oracle::decide(body, dialect, agent.as_bytes(), url.as_bytes()))),
        ("one shot", once.map_err(|error| error.to_string())),
    ];
    for (name, strategy) in Strategy::ALL {
        let set = Set::from_bytes(compile([("h", body)], dialect, strategy)).unwrap();
        let found = set.verify().map_err(|error| error.to_string());
        answers.push((name, found.and_then(|()| ask(&set, &policy_of(&set, "h"), agent.as_bytes(), url.as_bytes()))));
    }
    answers
}

/// Compares all answers to a question with the expected one.
fn ask_all(
    report: &mut Report,
    dialect: &'static Dialect,
    id: &str,
    body: &[u8],
    (agent, url): (&str, &str),
    expected: Expected,
) {
    for (name, found) in answers(dialect, body, agent, url) {
        let question = || format!("{}: {id}: agent {agent:?}, URL {url:?}", dialect.name);
        report.compare(question, name, expected, found);
    }
}

fn dialect_case_list(shared: &Path) -> Vec<DialectCase> {
    let cases: Vec<DialectCase> = serde_json::from_slice(&read(&shared.join("spec/dialect_cases.json"))).unwrap();
    assert_eq!(cases.len(), DIALECT_CASES);
    cases
}

/// All cells match the table, except [`DIFFERENT_CELLS`], which must differ.
#[test]
fn dialect_cases_match_the_table() {
    let Some(shared) = shared() else { return };
    let mut report = Report::default();
    let mut reasons = Vec::new();
    for case in &dialect_case_list(&shared) {
        for (column, dialect) in COLUMNS {
            let different = DIFFERENT_CELLS.iter().find(|(id, its_column, _)| *id == case.id && *its_column == column);
            let mut allowed = matches!(case.expect[column], Letter::A);
            if let Some((id, _, reason)) = different {
                let inferred =
                    MODEL_COLUMNS.contains(&column) || case.inferred.iter().any(|inferred| inferred == column);
                assert!(inferred, "a document states {id} of {column}, so it must not differ");
                reasons.push(format!("{id} {column}: {reason}"));
                allowed = !allowed;
            }
            let line = case.google_matching_line.filter(|_| column == "google_lib");
            let id = format!("{} ({})", case.id, case.title);
            ask_all(&mut report, dialect, &id, &case.body(), (&case.agent, &case.url), Expected { allowed, line });
        }
    }
    assert_eq!(report.compared(), DIALECT_CASES * COLUMNS.len() * (2 + Strategy::ALL.len()));
    assert_eq!(reasons.len(), DIFFERENT_CELLS.len());
    report.finish();
    println!("{} cells, {} of them different from the inferred verdict:", DIALECT_CASES * COLUMNS.len(), reasons.len());
    reasons.iter().for_each(|reason| println!("  {reason}"));
}

/// The practical reading of RFC 9309 agrees with the strict one on all rows but [`PRACTICAL_DIFFERS`].
#[test]
fn practical_and_strict_rfc9309_differ_in_known_rows() {
    let Some(shared) = shared() else { return };
    let mut different = Vec::new();
    for case in &dialect_case_list(&shared) {
        let ask = |dialect| oracle::decide(&case.body(), dialect, case.agent.as_bytes(), case.url.as_bytes()).allowed;
        let practical = answers(&RFC9309, &case.body(), &case.agent, &case.url);
        assert!(practical.iter().all(|(_, found)| found.as_ref().map(|answer| answer.allowed) == Ok(ask(&RFC9309))));
        if ask(&RFC9309) != ask(&RFC9309_STRICT) {
            different.push(case.id.clone());
        }
    }
    assert_eq!(different, PRACTICAL_DIFFERS.map(|(id, _)| id));
    PRACTICAL_DIFFERS.iter().for_each(|(id, reason)| println!("{id}: {reason}"));
}

/// Tests each example under its document's dialect, and against the verdict measured with Google's library.
#[test]
fn source_examples_match_their_documents() {
    let Some(shared) = shared() else { return };
    let cases: Vec<SourceExample> = serde_json::from_slice(&read(&shared.join("spec/source_examples.json"))).unwrap();
    let (mut report, mut unclear) = (Report::default(), 0);
    for case in &cases {
        let (Some(body), Some(agent), Some(verdict), Some(dialect)) =
            (&case.body, &case.agent, case.expect, case.dialect.as_deref())
        else {
            continue;
        };
        let Some(Models { lib: Some(measured) }) = case.models else { panic!("{}: no measured verdict", case.id) };
        let dialect = match dialect {
            "google-docs" => &GOOGLE,
            "yandex-hist" => &YANDEX_2017,
            other => panic!("{}: no dialect {other}", case.id),
        };
        for (dialect, verdict) in [(dialect, verdict), (&GOOGLE_LIB, measured)] {
            if matches!(verdict, Letter::Unclear) {
                unclear += 1;
                continue;
            }
            let expected = Expected { allowed: matches!(verdict, Letter::A), line: None };
            ask_all(&mut report, dialect, &case.id, body.as_bytes(), (agent, &case.url), expected);
        }
    }
    // Only M24, because of a typesetting error in its document.
    assert_eq!(unclear, 1);
    assert_eq!(report.compared(), (SOURCE_EXAMPLES * 2 - unclear) * (2 + Strategy::ALL.len()));
    report.finish();
}

/// A row in the golden file. Columns are separated by tabs, rows by line feeds. Nothing is trimmed, because agents and
/// URLs may begin or end with white space.
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

/// Returns the real files by host.
pub fn bodies(folder: &Path) -> BTreeMap<String, Vec<u8>> {
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
fn sets_match_the_golden_rows() {
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
        // A host's rows are adjacent.
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
fn one_shots_match_the_golden_rows() {
    let Some(shared) = shared() else { return };
    let folder = shared.join("corpora/real");
    let (golden, bodies) = (golden(&folder), bodies(&folder));
    let mut report = Report::default();
    for (number, line) in (1..).zip(golden.split_terminator('\n')) {
        let row = row(line);
        let agent = of_name(row.agent.as_bytes(), &GOOGLE_LIB);
        let answer = decide_once(&bodies[row.host], &GOOGLE_LIB, &agent, row.url.as_bytes());
        report.compare(|| question(number, &row), "one shot", row.expected, answer.map_err(|error| error.to_string()));
    }
    assert_eq!(report.compared(), GOLDEN_ROWS);
    report.finish();
}

#[test]
fn the_oracle_matches_the_golden_rows() {
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
