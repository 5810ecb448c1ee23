//! Counts the instructions of the benchmarks in `benches/instructions.rs` and compares them with `instructions.tsv`.
//!
//! `--check` fails if a benchmark takes over 3 % more instructions than the baseline, or over 15 % if the compiler,
//! valgrind or the processor differs. `--accept` makes the new counts the baseline, to be committed with the reason.
//! Exit codes: 0 fine, 1 more instructions or another list of benchmarks, 2 wrong arguments, 3 a tool is missing, 4 the
//! benchmarks did not run.
#![deny(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

/// The workspace manifest. It requires an exact version of the library, which the runner must share.
const MANIFEST: &str = include_str!("../../../Cargo.toml");

/// Accepted increase of a count in percent.
const TOLERANCE: u64 = 3;

/// Accepted increase in percent if the baseline was counted with another compiler, valgrind or processor. Each of them
/// moves the counts by a few percent; the check still finds a larger increase.
const TOLERANCE_ELSEWHERE: u64 = 15;

const FINE: u8 = 0;
const MORE: u8 = 1;
const USAGE: u8 = 2;
const NO_TOOLS: u8 = 3;
const DID_NOT_RUN: u8 = 4;

/// The instruction count for each benchmark, by name.
type Counts = BTreeMap<String, u64>;

/// An exit code and an explanation.
type Failure = (u8, String);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--check"] => check(),
        ["--accept"] => accept(),
        _ => Err((USAGE, "usage: instructions --check | --accept".to_owned())),
    };
    ExitCode::from(outcome.unwrap_or_else(|(code, message)| {
        eprintln!("{message}");
        code
    }))
}

fn check() -> Result<u8, Failure> {
    let text = std::fs::read_to_string(baseline_path())
        .map_err(|error| (MORE, format!("{}: {error}; --accept writes the file", baseline_path().display())))?;
    let old = parse(&text)
        .ok_or_else(|| (MORE, "instructions.tsv: expected a name, a tab and a number on each line".to_owned()))?;
    let tools = tools()?;
    let counted_with = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("unknown tools");
    let is_elsewhere = counted_with != tools;
    let tolerance = if is_elsewhere { TOLERANCE_ELSEWHERE } else { TOLERANCE };
    let (table, passes) = compare(&old, &measure()?, tolerance);
    print!("{table}");
    if is_elsewhere {
        println!("The baseline was counted with {counted_with}; these counts with {tools}.");
        println!("Therefore an increase of up to {tolerance} % passes instead of {TOLERANCE} %.");
    }
    if passes {
        println!("No benchmark takes more than {tolerance} % more instructions.");
        return Ok(FINE);
    }
    println!("FAILED. If the change is intended: cargo run -p reptile-bench --bin instructions -- --accept");
    Ok(MORE)
}

fn accept() -> Result<u8, Failure> {
    let old = std::fs::read_to_string(baseline_path()).ok().and_then(|text| parse(&text)).unwrap_or_default();
    let tools = tools()?;
    let new = measure()?;
    print!("{}", compare(&old, &new, TOLERANCE).0);
    let mut text = format!("# {tools}\n");
    for (name, count) in &new {
        let _ = writeln!(text, "{name}\t{count}");
    }
    std::fs::write(baseline_path(), text).map_err(|error| (DID_NOT_RUN, error.to_string()))?;
    println!("Accepted. Commit bench/instructions.tsv and give the reason.");
    Ok(FINE)
}

fn baseline_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.tsv")
}

/// Parses a baseline, ignoring lines that begin with `#`. Returns `None` if a line is malformed.
fn parse(text: &str) -> Option<Counts> {
    let line =
        |line: &str| line.split_once('\t').and_then(|(name, count)| Some((name.to_owned(), count.parse().ok()?)));
    text.lines().filter(|line| !line.starts_with('#')).map(line).collect()
}

/// Returns the library version that the workspace manifest requires.
fn runner_version() -> Result<&'static str, Failure> {
    let version = |line: &'static str| line.strip_prefix("iai-callgrind = \"=")?.strip_suffix('"');
    let expected = "Cargo.toml: expected a line iai-callgrind = \"=VERSION\"";
    MANIFEST.lines().find_map(version).ok_or_else(|| (NO_TOOLS, expected.to_owned()))
}

/// Checks that the required tools are installed, and describes everything that the counts depend on.
fn tools() -> Result<String, Failure> {
    let runner = std::env::var("IAI_CALLGRIND_RUNNER").unwrap_or_else(|_| "iai-callgrind-runner".to_owned());
    let runner_version = runner_version()?;
    let install = format!("cargo install iai-callgrind-runner --locked --version {runner_version}");
    // The runner has no option that prints its version, but its error message for missing arguments names it.
    let Ok(answer) = Command::new(&runner).output() else {
        return Err((NO_TOOLS, format!("NOT CHECKED: {runner} is missing: {install}")));
    };
    if !String::from_utf8_lossy(&answer.stderr).contains(&format!("runner is {runner_version}. ")) {
        return Err((NO_TOOLS, format!("NOT CHECKED: {runner} has another version: {install}")));
    }
    let Some(valgrind) = version("valgrind") else {
        return Err((NO_TOOLS, "NOT CHECKED: valgrind is missing: apt-get install valgrind libc6-dbg".to_owned()));
    };
    let rustc = version("rustc").unwrap_or_default();
    #[cfg(target_arch = "x86_64")]
    let vectors = if std::arch::is_x86_feature_detected!("avx2") { "avx2" } else { "no avx2" };
    #[cfg(not(target_arch = "x86_64"))]
    let vectors = "-";
    Ok(format!("{rustc}, {valgrind}, {} {vectors}", std::env::consts::ARCH))
}

fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Runs the benchmarks, which takes about half a minute after they are built.
fn measure() -> Result<Counts, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // Skip the package's other programs, which take longer to build than the benchmark.
    let package = ["bench", "--locked", "-p", "reptile-bench", "--no-default-features"];
    command.args(package).args(["--bench", "instructions", "--"]);
    command.args(["--output-format=json"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| (DID_NOT_RUN, error.to_string()))?;
    if !output.status.success() {
        return Err((DID_NOT_RUN, format!("NOT CHECKED: the benchmarks stopped with {}", output.status)));
    }
    let counts: Option<Counts> = serde_json::Deserializer::from_slice(&output.stdout)
        .into_iter::<Value>()
        .map(|summary| count_of(&summary.ok()?))
        .collect();
    match counts {
        Some(counts) if !counts.is_empty() => Ok(counts),
        _ => Err((DID_NOT_RUN, "NOT CHECKED: expected JSON summaries from the benchmarks".to_owned())),
    }
}

/// Extracts a benchmark's name and count from its summary (the runner's `summary.v6.schema.json`).
fn count_of(summary: &Value) -> Option<(String, u64)> {
    let name = format!("{}/{}", summary["function_name"].as_str()?, summary["id"].as_str()?);
    let metrics = &summary["profiles"][0]["summaries"]["total"]["summary"]["Callgrind"]["Ir"]["metrics"];
    // The runner keeps the counts from its previous run and reports both; the first is the new one.
    let new = metrics.get("Left").or_else(|| metrics.get("Both")?.get(0))?;
    Some((name, new["Int"].as_u64()?))
}

/// Returns a table of old and new counts, and whether the new ones pass: the same benchmarks, each within the
/// tolerance.
fn compare(old: &Counts, new: &Counts, tolerance: u64) -> (String, bool) {
    let mut passes = true;
    let mut table = format!("{:24} {:>14} {:>14} {:>9}\n", "benchmark", "before", "now", "change");
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let text = |counts: &Counts| counts.get(name).map_or_else(|| "-".to_owned(), u64::to_string);
        let (change, remark) = match (old.get(name), new.get(name)) {
            (Some(&old), Some(&new)) => {
                let percent = (new as f64 / old as f64 - 1.0) * 100.0;
                let more = new * 100 > old * (100 + tolerance);
                let less = new * 100 < old * (100 - tolerance);
                passes &= !more;
                let remark = match (more, less) {
                    (true, _) => "MORE",
                    (_, true) => "less: accept it to keep it",
                    _ => "",
                };
                (format!("{percent:+.2} %"), remark)
            }
            (None, _) => {
                passes = false;
                ("-".to_owned(), "NEW")
            }
            (_, None) => {
                passes = false;
                ("-".to_owned(), "GONE")
            }
        };
        let line = format!("{name:24} {:>14} {:>14} {change:>9} {remark}", text(old), text(new));
        let _ = writeln!(table, "{}", line.trim_end());
    }
    (table, passes)
}

#[cfg(test)]
#[path = "../../tests/support/documents.rs"]
mod documents;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::assert_says;

    const METHODOLOGY: &str = include_str!("../../METHODOLOGY.md");

    fn counts(of: &[(&str, u64)]) -> Counts {
        of.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    }

    #[test]
    fn counts_above_the_tolerance_fail() {
        let old = counts(&[("a", 10_000), ("b", 100)]);
        for (tolerance, a, passes) in [
            (TOLERANCE, 9_000, true),
            (TOLERANCE, 10_299, true),
            (TOLERANCE, 10_300, true),
            (TOLERANCE, 10_301, false),
            (TOLERANCE_ELSEWHERE, 11_499, true),
            (TOLERANCE_ELSEWHERE, 11_500, true),
            (TOLERANCE_ELSEWHERE, 11_501, false),
        ] {
            assert_eq!(compare(&old, &counts(&[("a", a), ("b", 100)]), tolerance).1, passes, "{tolerance} {a}");
        }
    }

    #[test]
    fn changed_benchmark_lists_fail() {
        let one = counts(&[("a", 1)]);
        let two = counts(&[("a", 1), ("b", 1)]);
        assert!(!compare(&one, &two, TOLERANCE).1);
        assert!(!compare(&two, &one, TOLERANCE).1);
    }

    #[test]
    fn parses_baselines() {
        assert_eq!(parse("# here\na/b\t12\n"), Some(counts(&[("a/b", 12)])));
        assert_eq!(parse("a/b 12\n"), None);
    }

    #[test]
    fn parses_summaries() {
        let summary = |metrics: &str| {
            let text = format!(
                r#"{{"function_name":"f","id":"x","profiles":[{{"summaries":{{"total":{{"summary":
                {{"Callgrind":{{"Ir":{{"metrics":{metrics}}}}}}}}}}}}}]}}"#
            );
            count_of(&serde_json::from_str(&text).unwrap())
        };
        assert_eq!(summary(r#"{"Left":{"Int":7}}"#), Some(("f/x".to_owned(), 7)));
        assert_eq!(summary(r#"{"Both":[{"Int":8},{"Int":7}]}"#), Some(("f/x".to_owned(), 8)));
        assert_eq!(summary("{}"), None);
    }

    #[test]
    fn runner_and_library_versions_match() {
        let version = runner_version().unwrap();
        let lock = include_str!("../../../Cargo.lock");
        assert!(lock.contains(&format!("name = \"iai-callgrind\"\nversion = \"{version}\"")));
        assert_says(METHODOLOGY, &format!("`cargo install iai-callgrind-runner --locked --version {version}`"));
    }

    #[test]
    fn document_names_tolerances_and_exit_codes() {
        assert_says(METHODOLOGY, &format!("if a count rises by more than {TOLERANCE} %"));
        assert_says(METHODOLOGY, &format!("tolerates a rise of up to {TOLERANCE_ELSEWHERE} %"));
        let codes = format!(
            "{FINE} fine, {MORE} more instructions or another list of benchmarks, {USAGE} wrong arguments, \
             {NO_TOOLS} a tool is missing, {DID_NOT_RUN} the benchmarks did not run"
        );
        assert_says(METHODOLOGY, &codes);
    }

    /// Reads the names from the benchmarks' source, because running them needs valgrind.
    #[test]
    fn baseline_lists_all_benchmarks() {
        let (mut names, mut ids) = (Vec::new(), Vec::new());
        for line in include_str!("../../benches/instructions.rs").lines() {
            if let Some((id, _)) = line.strip_prefix("#[bench::").and_then(|rest| rest.split_once('(')) {
                ids.push(id);
            } else if let Some((function, _)) = line.strip_prefix("fn ").and_then(|rest| rest.split_once('(')) {
                names.extend(ids.drain(..).map(|id| format!("{function}/{id}")));
            }
        }
        names.sort_unstable();
        let baseline = parse(include_str!("../../instructions.tsv")).unwrap();
        assert!(names.iter().eq(baseline.keys()), "expected {names:?}, found {:?}", baseline.keys());
    }
}
