//! Tests which URLs a robots.txt governs, through compiled sets, with the table in `corpora/scope` and, if the shared
//! folder exists, the table from the specification.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::GOOGLE;
use reptile_compiler::set::origin::OwnedOrigin;
use reptile_compiler::set::{SetBuilder, prepare};
use reptile_engine::set::Set;
use reptile_engine::verdict::Verdict;
use serde::Deserialize;
use support::{TemporaryFile, read, shared, workspace};

/// Number of cases in `corpora/scope/cases.toml`. Update it and `URLS` when you add some.
const CASES: usize = 30;
const URLS: usize = 110;
/// Number of rows of kind `scope` in `spec/source_examples.json`.
const SHARED_ROWS: usize = 45;

/// Rows of the specification's table that we do not follow. Both say that a file on `www.exämple.com` governs
/// `xn--exmple-cua.com`: the page lost the `www.` in the conversion to the A-label. Strictly, only the name with `www.`
/// is the same host, and no other row lets a file govern a different host.
const MISPRINTS: [&str; 2] = ["S13", "S35"];

/// Returns for each URL whether the robots.txt at `robots` governs it, according to a set with only this file. The set
/// in memory and the mapped file must agree.
fn governs(robots: &str, urls: &[&str]) -> Vec<bool> {
    let mut builder = SetBuilder::new(&GOOGLE);
    if let Ok(origin) = OwnedOrigin::of_robots_url(robots.as_bytes()) {
        builder.add([origin], prepare(b"user-agent: *\ndisallow: /\n", &GOOGLE, &Bump::new()).unwrap());
    }
    let bytes = builder.finish(Strategy::default()).unwrap().to_bytes();
    let file = TemporaryFile::new(&bytes);
    let mapped = Set::from_bytes(support::mapped(file.path())).unwrap();
    let set = Set::from_bytes(bytes).unwrap();
    set.verify().unwrap();
    let agent = set.agent(b"Googlebot").unwrap();
    let ask = |url: &&str| {
        let verdict = set.decide(&agent, url.as_bytes()).unwrap();
        assert_eq!(set.explain(&agent, url.as_bytes()).unwrap().verdict, verdict);
        assert_eq!(mapped.decide(&agent, url.as_bytes()).unwrap(), verdict);
        assert_ne!(verdict, Verdict::Allow, "{robots} {url}");
        verdict == Verdict::Disallow
    };
    urls.iter().map(ask).collect()
}

#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    robots: String,
    source: String,
    #[serde(default)]
    governs: Vec<String>,
    #[serde(default)]
    not: Vec<String>,
}

#[test]
fn every_case_in_our_table() {
    let text = read(&workspace().join("corpora/scope/cases.toml"));
    let table: Table = toml::from_slice(&text).unwrap();
    let (mut urls, mut wrong) = (0, Vec::new());
    for case in &table.case {
        assert!(!case.source.is_empty());
        let all: Vec<&str> = case.governs.iter().chain(&case.not).map(String::as_str).collect();
        for (index, (url, found)) in all.iter().zip(governs(&case.robots, &all)).enumerate() {
            urls += 1;
            if found != (index < case.governs.len()) {
                wrong.push(format!("{} governs {url}: {found}", case.robots));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((table.case.len(), urls), (CASES, URLS));
}

#[derive(Deserialize)]
struct Row {
    id: String,
    kind: Option<String>,
    robots: Option<String>,
    url: String,
    governed: Option<bool>,
}

#[test]
fn every_scope_row_in_the_specification() {
    let Some(shared) = shared() else { return };
    let rows: Vec<Row> = serde_json::from_slice(&read(&shared.join("spec/source_examples.json"))).unwrap();
    let (mut asked, mut wrong) = (0, Vec::new());
    for row in rows.iter().filter(|row| row.kind.as_deref() == Some("scope")) {
        let (Some(robots), Some(expected)) = (&row.robots, row.governed) else { panic!("{}", row.id) };
        asked += 1;
        let found = governs(robots, &[&row.url])[0];
        if MISPRINTS.contains(&&*row.id) {
            let with_www = row.url.replace("://", "://www.");
            assert_eq!((expected, found, governs(robots, &[&with_www])[0]), (true, false, true), "{}", row.id);
            println!("{}: {robots} governs {with_www} and not, as printed, {}", row.id, row.url);
        } else if found != expected {
            wrong.push(format!("{}: {robots} governs {}: {found}", row.id, row.url));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(asked, SHARED_ROWS);
}

/// Non-ASCII host names and their A-labels are the same origin.
#[test]
fn non_ascii_hosts_use_their_a_label() {
    let mut builder = SetBuilder::new(&GOOGLE);
    let origin = OwnedOrigin::of_robots_url("http://bücher.example/robots.txt".as_bytes()).unwrap();
    assert_eq!(origin.to_string(), "http://xn--bcher-kva.example");
    builder.add([origin], prepare(b"user-agent: *\ndisallow: /\n", &GOOGLE, &Bump::new()).unwrap());
    let set = Set::from_bytes(builder.finish(Strategy::default()).unwrap().to_bytes()).unwrap();
    let agent = set.agent(b"any").unwrap();
    assert_eq!(set.decide(&agent, b"http://xn--bcher-kva.example/").unwrap(), Verdict::Disallow);
    assert_eq!(set.decide(&agent, "http://bücher.example/".as_bytes()).unwrap(), Verdict::Disallow);
    assert_eq!(set.decide(&agent, b"http://b\xFCcher.example/").unwrap(), Verdict::Invalid);
}
