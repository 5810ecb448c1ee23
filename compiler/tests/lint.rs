//! Linter tests: every finding of the cases in `corpora/lint`, no verdict changes from removing idle rules, bounded
//! steps for hostile files, and the real files, if present.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use proptest::prelude::*;
use reptile_compiler::advice::lint::{
    Code, Finding, Fix, FixOptions, LintOptions, MAX_COMPARED_STEPS, MAX_FINDINGS_PER_CODE, fix_with, lint,
    lint_counted, lint_with,
};
use reptile_compiler::dialect::{ALL, Dialect, GOOGLE_LIB};
use reptile_compiler::limits::MAX_PROVED_FILE_BYTES;
use reptile_compiler::oracle;
use serde::Deserialize;
use support::{base64, base64_parts, read, shared};

const CASES: usize = 145;
const REAL_FILES: usize = 4_231;

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    dialect: Option<String>,
    body: Option<String>,
    body_base64: Option<String>,
    body_parts: Option<Vec<(String, usize)>>,
    /// Maximum number of findings listed per code, if not the default.
    max_findings: Option<u32>,
    /// Codes that are off by default.
    #[serde(default)]
    enable: Vec<String>,
    findings: Vec<String>,
    /// Parts of findings with their texts.
    #[serde(default)]
    texts: Vec<String>,
    /// All remedies with their lines, if they matter.
    fixes: Option<Vec<String>>,
    /// Codes that the case almost triggers.
    #[serde(default)]
    not: Vec<String>,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        match (&self.body, &self.body_base64, &self.body_parts) {
            (Some(text), None, None) => text.as_bytes().to_vec(),
            (None, Some(text), None) => base64(text),
            (None, None, Some(parts)) => base64_parts(parts),
            _ => panic!("{}: one body is needed", self.name),
        }
    }
}

fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora/lint/cases.toml");
    let cases: Cases = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    cases.case
}

#[test]
fn cases_have_exactly_the_expected_findings() {
    let cases = cases();
    let mut wrong = Vec::new();
    let known: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
    for case in &cases {
        let dialect = case.dialect.as_ref().map_or(&GOOGLE_LIB, |name| Dialect::from_name(name).unwrap());
        let max_per_code = case.max_findings.unwrap_or(MAX_FINDINGS_PER_CODE);
        let enabled = case.enable.iter().map(|code| code.parse().unwrap()).collect();
        let options = LintOptions { max_per_code, host: None, enabled };
        let found = lint_with(&case.bytes(), dialect, &options).findings;
        let text: String =
            found.iter().map(|f| format!("{} {} {}: {}\n", f.line, f.severity, f.code, f.message)).collect();
        wrong.extend(case.texts.iter().filter(|part| !text.contains(*part)).map(|part| format!("{part} in {text}")));
        let fixes: Vec<String> = found.iter().filter_map(|f| Some(format!("{} {}", f.line, f.fix.as_ref()?))).collect();
        if case.fixes.as_ref().is_some_and(|expected| *expected != fixes) {
            wrong.push(format!("{}: {fixes:?} instead of {:?}", case.name, case.fixes));
        }
        let found: Vec<String> = found.iter().map(|f| format!("{} {} {}", f.line, f.severity, f.code)).collect();
        if found != case.findings {
            wrong.push(format!("{}: {found:?} instead of {:?}", case.name, case.findings));
        }
        let code_of = |finding: &String| finding.rsplit(' ').next().unwrap().to_owned();
        let codes: BTreeSet<String> = case.findings.iter().map(code_of).collect();
        for code in &case.not {
            assert!(known.contains(&&**code) && !codes.contains(code), "{}: {code}", case.name);
            without.insert(code.clone());
        }
        with.extend(codes);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Every code must have a case that triggers it and one that almost does.
    for code in known {
        assert!(with.contains(code), "no case has {code}");
        assert!(without.contains(code), "no case almost triggers {code}");
    }
    assert_eq!(cases.len(), CASES);
}

/// The kinds of findings without a remedy by default: the message says everything, or the kind is off.
const KINDS_WITHOUT_REMEDY: &[Code] = &[
    Code::ClosedSite,
    Code::CrawlDelayValue,
    Code::DialectsDiffer,
    Code::DollarInside,
    Code::EmptyFile,
    Code::GroupOpensOnPurpose,
    Code::IgnoringCrawler,
    Code::LineTooLong,
    Code::ManagedGroup,
    Code::NoGroup,
    Code::NotCompared,
    Code::NotProved,
    Code::OverruledRule,
    Code::PrefixMatch,
    Code::RetiredCrawler,
    Code::RuleBytes,
    Code::RuleTooLong,
    Code::TooManyRules,
    Code::UnknownIgnore,
    Code::UnknownKey,
    Code::MoreFindings,
];

/// After a fix, each finding with a remedy has a reason, for every kind of finding that has a remedy in some case.
#[test]
fn every_remedy_is_applied_or_has_a_reason() {
    let mut kinds = BTreeSet::new();
    for case in &cases() {
        let dialect = case.dialect.as_ref().map_or(&GOOGLE_LIB, |name| Dialect::from_name(name).unwrap());
        let body = case.bytes();
        let with_remedy = |body: &[u8]| {
            let found = lint(body, dialect, MAX_FINDINGS_PER_CODE).findings;
            found.into_iter().filter(|finding| finding.fix.is_some()).map(|finding| (finding.line, finding.code))
        };
        kinds.extend(with_remedy(&body).map(|(_, code)| code));
        for changes in [false, true] {
            let fixed = fix_with(&body, dialect, &FixOptions { changes, ..FixOptions::default() });
            let reasons: BTreeSet<_> = fixed.unfixed.iter().map(|unfixed| (unfixed.line, unfixed.code)).collect();
            for remedy in with_remedy(&fixed.body) {
                assert!(reasons.contains(&remedy), "{}: {remedy:?}", case.name);
            }
        }
    }
    let without: Vec<Code> = Code::ALL.iter().copied().filter(|code| !kinds.contains(code)).collect();
    assert_eq!(without, KINDS_WITHOUT_REMEDY);
}

#[test]
fn hostile_files_take_bounded_steps() {
    const BYTES: usize = 500 << 10;
    let repeated = |text: &str| text.repeat(BYTES / text.len()).into_bytes();
    let rules = |rule: &dyn Fn(usize) -> String| {
        let mut body = "user-agent: *\n".to_owned();
        (0..).map(rule).find(|rule| {
            body.push_str(rule);
            body.len() > BYTES
        });
        body.into_bytes()
    };
    let bodies = [
        repeated("a\n"),
        repeated("user-agent: a\nx:y\n"),
        repeated("user-agent: a\nx:y\nuser-agent: b\n\ndisallow:/\n"),
        repeated("user-agen: "),
        repeated("disalow:/%\n"),
        repeated("\0\n"),
        vec![0xFF; BYTES],
        rules(&|n| format!("disallow: /{}\n", "a".repeat(n))),
        rules(&|n| format!("{}: /{}\n", if n % 2 == 0 { "allow" } else { "disallow" }, "a".repeat(n))),
        rules(&|n| format!("disallow: /{}*\n", "*a".repeat(n % 700))),
        rules(&|n| format!("allow: /{}$\n", n % 100)),
        rules(&|n| format!("disallow: /{n}/index.html\n")),
        [b"user-agent: *\ndisallow: /".to_vec(), vec![b'*'; BYTES]].concat(),
    ];
    for (index, body) in bodies.iter().enumerate() {
        for dialect in ALL {
            let (found, steps) = lint_counted(body, dialect, MAX_FINDINGS_PER_CODE);
            let bound = 16 * body.len() as u64 + MAX_COMPARED_STEPS as u64;
            assert!(steps <= bound, "body {index}, {}: {steps} steps", dialect.name);
            assert!(found.findings.len() <= Code::ALL.len() * (MAX_FINDINGS_PER_CODE as usize + 1));
        }
    }
}

/// Doubling the lines must not much more than double the steps, whatever the lines are.
#[test]
fn steps_are_linear_except_for_sorting() {
    fn group(line: impl Fn(usize) -> String) -> impl Fn(usize) -> String {
        move |lines| "user-agent: *\n".to_owned() + &(0..lines).map(&line).collect::<String>()
    }
    type Body<'l> = &'l dyn Fn(usize) -> String;
    let bodies: [(&str, Body<'_>); 10] = [
        ("equal rules", &group(|_| "disallow: /a\n".into())),
        ("equal index pages", &group(|_| "allow: /index.html\n".into())),
        ("empty rules", &group(|_| "disallow:\n".into())),
        ("both kinds", &group(|n| format!("{}: /a\n", ["allow", "disallow"][n % 2]))),
        ("wildcards at the end", &group(|n| format!("disallow: /a{}\n", "*".repeat(n % 50)))),
        (
            "rules after index pages",
            &group(|n| format!("{}\n", ["allow: /index.html".into(), format!("disallow: /index.html{n}")][n % 2])),
        ),
        ("groups of one rule", &|lines| (0..lines).map(|n| format!("user-agent: b{n}\nallow: /{n}\n")).collect()),
        ("one name in all groups", &|lines| (0..lines).map(|n| format!("user-agent: b\nallow: /{n}\n")).collect()),
        ("names and other lines", &|lines| "user-agent: b\nx: y\n\n".repeat(lines) + "allow: /\n"),
        ("misspelt keys", &|lines| (0..lines).map(|n| format!("dis{:03}llow:\n", n % 1000)).collect()),
    ];
    // More rules than are compared between dialects, because that comparison has a separate bound.
    const LINES: usize = 8 << 10;
    for (name, body) in bodies {
        for dialect in ALL {
            // Even files that a dialect treats as empty must have counted steps.
            let steps = [1, 2].map(|times| lint_counted(body(times * LINES).as_bytes(), dialect, 10).1);
            assert!(steps[0] as usize > LINES, "{name}, {}: nothing was counted", dialect.name);
            assert!(steps[1] * 10 <= steps[0] * 24, "{name}, {}: {steps:?}", dialect.name);
        }
    }
}

proptest! {
    #![proptest_config(support::cases(3000))]

    /// Removing an idle rule changes no verdict.
    #[test]
    fn idle_rules_can_be_removed(
        rules in prop::collection::vec(("(Allow|Disallow|User-agent)", "[/*]?[ab/*]{0,4}[$]?|/a/index[.]html|a|b"), 1..10),
        paths in prop::collection::vec("/[ab/]{0,5}", 20),
        dialect in prop::sample::select(ALL.to_vec()),
    ) {
        let idle = [Code::ShadowedRule, Code::DuplicateRule, Code::OverruledRule];
        let mut lines = vec!["User-agent: a".to_owned()];
        lines.extend(rules.into_iter().map(|(key, value)| format!("{key}: {value}")));
        let text = |lines: &[String]| lines.join("\n").into_bytes();
        let body = text(&lines);
        for finding in lint(&body, dialect, u32::MAX).findings.into_iter().filter(|finding| idle.contains(&finding.code)) {
            let mut fewer = lines.clone();
            // An allow without a value has no effect, but ends the list of user-agent lines like the rule did.
            fewer[finding.line as usize - 1] = "Allow:".into();
            let fewer = text(&fewer);
            for (path, agent) in paths.iter().flat_map(|path| [(path, "a"), (path, "b")]) {
                let answer = |body: &[u8]| oracle::decide(body, dialect, agent.as_bytes(), path.as_bytes()).allowed;
                prop_assert_eq!(answer(&body), answer(&fewer), "{} {} {:?} {}", dialect.name, path, finding, lines.join("|"));
            }
        }
    }

    /// Each finding that needs a proof holds for all short paths, as the oracle decides them.
    #[test]
    fn proved_findings_hold_for_all_short_paths(
        rules in prop::collection::vec(
            ("(Allow|Disallow|Disallow|Disallow|User-agent)", "/[ab*/]{0,3}[$]?|[*][ab/]{1,2}|/a/index[.]html|/a?|a|b|[*]"),
            2..9,
        ),
        dialect in prop::sample::select(ALL.to_vec()),
    ) {
        let mut lines = vec!["User-agent: *".to_owned()];
        lines.extend(rules.into_iter().map(|(key, value)| format!("{key}: {value}")));
        let body = lines.join("\n").into_bytes();
        let options = LintOptions { enabled: vec![Code::GroupOpensOnPurpose], ..LintOptions::default() };
        let found = lint_with(&body, dialect, &options).findings;
        let proved = [Code::HiddenRule, Code::SuperfluousRule];
        let removable = |finding: &&Finding| proved.contains(&finding.code) && finding.fix == Some(Fix::Remove);
        // Each line alone, and all together.
        let mut removals: Vec<Vec<u32>> = found.iter().filter(removable).map(|finding| vec![finding.line]).collect();
        if found.iter().all(|finding| !matches!(finding.code, Code::DuplicateRule | Code::ShadowedRule)) {
            removals.push(removals.concat());
        }
        let mut without: Vec<Vec<u8>> = Vec::new();
        for gone in removals {
            let kept = lines.iter().zip(1..).filter(|(_, number)| !gone.contains(number)).map(|(line, _)| line.as_str());
            without.push(kept.collect::<Vec<_>>().join("\n").into_bytes());
        }
        let ask = |body: &[u8], agent: &str, path: &[u8]| {
            oracle::decide(body, dialect, agent.as_bytes(), &[b"http://h", path].concat())
        };
        for (path, agent) in short_paths().iter().flat_map(|path| ["a", "b", "c"].map(|agent| (path, agent))) {
            let answer = ask(&body, agent, path);
            for finding in found.iter().filter(|finding| finding.code == Code::HiddenRule) {
                prop_assert!(answer.line != finding.line, "{} {finding:?} {}", dialect.name, path.escape_ascii());
            }
            for body in &without {
                prop_assert_eq!(ask(body, agent, path).allowed, answer.allowed, "{} {}", dialect.name, lines.join("|"));
            }
        }
        for finding in found.iter().filter(|f| matches!(f.code, Code::GroupOpens | Code::GroupOpensOnPurpose)) {
            let quoted: Vec<&str> = finding.message.split('"').collect();
            let at = quoted.iter().position(|text| text.ends_with(" may fetch ")).unwrap() + 1;
            let (agent, path) = (quoted[1], quoted[at].as_bytes());
            if !["a", "b"].contains(&agent) {
                continue;
            }
            let (own, everyone) = (ask(&body, agent, path), ask(&body, "nobody", path));
            prop_assert!(own.allowed && !everyone.allowed, "{} {finding:?} {}", dialect.name, lines.join("|"));
            prop_assert!(own.line == 0 || finding.code == Code::GroupOpensOnPurpose, "{finding:?}");
        }
    }

    #[test]
    fn any_bytes_can_be_linted(body in prop::collection::vec(any::<u8>(), 0..300), dialect in prop::sample::select(ALL.to_vec())) {
        let _ = lint(&body, dialect, MAX_FINDINGS_PER_CODE);
    }
}

/// Returns all paths of up to four letters.
fn short_paths() -> Vec<Vec<u8>> {
    let mut paths = vec![b"/".to_vec()];
    let mut start = 0;
    for _ in 0..4 {
        let longer = paths[start..].iter().flat_map(|path| b"ab/".map(|byte| [&path[..], &[byte]].concat()));
        let longer: Vec<Vec<u8>> = longer.collect();
        start = paths.len();
        paths.extend(longer);
    }
    paths.extend(["/robots.txt", "/a/index.html", "/a?", "/*", "/a$"].map(|path| path.as_bytes().to_vec()));
    paths
}

#[test]
fn some_real_files_can_be_linted() {
    real_files_can_be_linted(8);
}

#[test]
#[ignore = "a minute"]
fn all_real_files_can_be_linted() {
    real_files_can_be_linted(1);
}

/// Takes the first of every `step` files.
fn real_files_can_be_linted(step: usize) {
    let Some(shared) = shared() else { return };
    let file = read(&shared.join("corpora/real/robots.tar.gz"));
    let mut archive = tar::Archive::new(GzDecoder::new(&file[..]));
    let (mut files, mut counts, mut time) = (0, BTreeMap::new(), Duration::ZERO);
    let options = LintOptions { enabled: vec![Code::GroupOpensOnPurpose], ..LintOptions::default() };
    let (mut times, mut sums) = (Vec::new(), [("", 0, 0); 8]);
    let entries = archive.entries().unwrap().map(Result::unwrap);
    for mut entry in entries.filter(|entry| entry.header().entry_type().is_file()).step_by(step) {
        let mut body = Vec::new();
        entry.read_to_end(&mut body).unwrap();
        let start = Instant::now();
        let found = lint_with(&body, &GOOGLE_LIB, &options);
        let elapsed = start.elapsed();
        time += elapsed;
        times.push(elapsed);
        let one = found.proved;
        for (sum, (name, count)) in sums.iter_mut().zip([
            ("rules", one.rules),
            ("rules that never decide", one.never_decide),
            ("rules without effect", one.superfluous),
            ("rules not proved", one.unproved_rules),
            ("groups", one.groups),
            ("groups that open by omission", one.groups_opening),
            ("groups that open on purpose", one.groups_opening_on_purpose),
            ("groups not proved", one.unproved_groups),
        ]) {
            *sum = (name, sum.1 + count, sum.2 + u64::from(count > 0));
        }
        files += 1;
        for ((severity, code), count) in found.counts {
            *counts.entry((severity, code.as_str())).or_insert(0) += count;
        }
    }
    for ((severity, code), count) in counts {
        println!("{count:7} {severity}[{code}]");
    }
    for (name, count, with) in sums {
        println!("{count:7} {name} in {with} files");
    }
    times.sort_unstable();
    let [p50, p99, max] = [50, 99, 100].map(|percent| times[(times.len() - 1) * percent / 100]);
    println!("{files} files in {time:?}, p50 {p50:?}, p99 {p99:?}, max {max:?}");
    assert_eq!(files, REAL_FILES.div_ceil(step));
}

/// A hidden rule is found up to the limit, and beyond it a finding says that nothing was proved.
#[test]
fn larger_files_are_not_proved() {
    let rules = "user-agent: *\ndisallow: /a*b\ndisallow: /*b\ndisallow: /ab*b\n";
    for len in [MAX_PROVED_FILE_BYTES - 1, MAX_PROVED_FILE_BYTES, MAX_PROVED_FILE_BYTES + 1] {
        let comment = "#".repeat(len - rules.len());
        let found = lint((rules.to_owned() + &comment).as_bytes(), &GOOGLE_LIB, 100);
        let has = |code| found.findings.iter().any(|finding| finding.code == code);
        let is_proved = len <= MAX_PROVED_FILE_BYTES;
        assert_eq!((has(Code::SuperfluousRule), has(Code::NotProved)), (is_proved, !is_proved), "{len}");
    }
}
