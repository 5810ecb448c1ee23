//! `run`, `report` and `compare`: failures of engines are recorded, and the run continues.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::{Folder, result_of};

/// Returns the records of a run.
fn records(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("run.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_kind<'r>(records: &'r [Value], kind: &'r str, engine: &'r str) -> impl Iterator<Item = &'r Value> {
    records.iter().filter(move |record| record["kind"] == kind && record["engine"] == engine)
}

/// Returns all letters in an engine's answers.
fn letters(records: &[Value], engine: &str) -> String {
    of_kind(records, "answers", engine).map(|record| record["verdicts"].as_str().unwrap()).collect()
}

fn run(folder: &Folder, output: &str, more: &[&str]) -> Output {
    folder.judge(&[&["run", "-o", output, "--seed", "9"], more].concat())
}

/// Options for a file with 20 rows. One of them contains the text that makes some test engines fail.
const FEW: [&str; 5] = ["--verdicts", "--corpora", "fresh", "--fresh", "1"];

#[test]
fn engine_failures_are_recorded_and_do_not_stop_the_run() {
    let modes = ["hang", "child", "crash", "garbage", "few", "endless", "memory", "silent", "wrong", "honest"];
    let folder = Folder::new(&modes);
    let output = run(&folder, "out", &FEW);
    let (code, text) = result_of(&output);
    // Only the engine that never replies to `hello` is not measured.
    assert_eq!(code, Some(1), "{text}");
    let records = records(&folder.path().join("out"));
    let honest = letters(&records, "honest");
    assert_eq!(honest.len(), 20);
    assert!(honest.bytes().all(|letter| b"AD".contains(&letter)), "{honest}");
    for (mode, letter) in [("hang", 'T'), ("child", 'T'), ("crash", 'X'), ("memory", 'M')] {
        let found = letters(&records, mode);
        let failed = found.matches(letter).count();
        assert!(failed > 0 && failed < 10, "{mode}: {found}");
        // The other rows have the honest engine's verdicts.
        let alike = found.bytes().zip(honest.bytes()).filter(|(found, honest)| found == honest).count();
        assert_eq!(alike, 20 - failed, "{mode}: {found}\n{honest}");
    }
    for mode in ["garbage", "few", "endless"] {
        let found = letters(&records, mode);
        // The first file fails as a whole, and then 19 rows fail one by one: after 20 failures the engine is abandoned.
        assert_eq!(found, "G".repeat(19) + "N", "{mode}");
    }
    assert!(letters(&records, "silent").is_empty());
    let silent = of_kind(&records, "engine", "silent").next().unwrap();
    assert_eq!(silent["absent"], "does not answer: no reply within 0.5 s");
    assert_eq!(records.last().unwrap()["kind"], "end");
    let why = of_kind(&records, "failure", "crash").next().unwrap()["why"].as_str().unwrap();
    assert_eq!(why, "ended with exit code 3: Segmentation fault of my own");
}

#[test]
fn refused_files_are_not_process_failures() {
    let folder = Folder::new(&["refuse"]);
    let (code, text) = result_of(&run(&folder, "out", &["--verdicts", "--corpora", "suite"]));
    assert_eq!(code, Some(0), "{text}");
    let records = records(&folder.path().join("out"));
    let found = letters(&records, "refuse");
    let refused = found.matches('R').count();
    assert!(refused > 0 && refused < 100, "{refused}");
    assert!(!found.contains('N') && !found.contains('X'), "{found}");
    assert_eq!(of_kind(&records, "failure", "refuse").next().unwrap()["why"], "I do not like ponds");
}

#[test]
fn false_speed_claims_are_void() {
    const FLOOR: &str = "but copying its bytes takes";
    let modes =
        ["honest", "lying-count", "lying-clock", "patient-liar", "fresh-liar", "remembers", "no-work", "many-passes"];
    let folder = Folder::new(&modes);
    let few =
        ["--speed", "--models", "decide,fresh", "--inputs", "small", "--rounds", "1", "--time", "60", "--no-real"];
    let (code, text) = result_of(&run(&folder, "out", &few));
    assert_eq!(code, Some(0), "{text}");
    let records = records(&folder.path().join("out"));
    for (mode, model, void) in [
        ("lying-count", "decide", "0 disallowed in"),
        ("lying-clock", "decide", "less than the requested 60.0 ms"),
        ("lying-clock", "fresh", "the same rows again: "),
        ("patient-liar", "decide", "without samples it takes"),
        ("fresh-liar", "fresh", "without samples it takes|the same rows again"),
        ("remembers", "decide", " per pass by its own verdicts"),
        ("no-work", "decide", FLOOR),
        ("many-passes", "decide", "it counts too many passes"),
    ] {
        let speeds: Vec<&Value> = of_kind(&records, "speed", mode).collect();
        assert_eq!(speeds.len(), 2, "{mode}");
        let speed = speeds.iter().find(|speed| speed["model"] == model).unwrap();
        let found = speed["void"].as_str().unwrap_or_else(|| panic!("{mode}, {model}: not void: {speed}"));
        // On a busy machine, another check of the time may be the first to find the lie.
        let mut expected = void.split('|').chain([FLOOR]);
        assert!(expected.any(|void| found.contains(void)), "{mode}, {model}: {found}");
    }
    let honest: Vec<&Value> = of_kind(&records, "speed", "honest").collect();
    assert_eq!(honest.iter().map(|speed| speed["model"].as_str().unwrap()).collect::<Vec<_>>(), ["decide", "fresh"]);
    for speed in honest {
        // A valid pass has the same count as the verdicts. Whether the clock check passes depends on the machine.
        assert!(!speed["void"].as_str().unwrap_or_default().contains("disallowed"), "{speed}");
        assert!(speed["checked"].as_u64().unwrap() > 0 && !speed["samples"].as_array().unwrap().is_empty(), "{speed}");
    }
}

#[test]
fn children_that_leave_the_group_end_with_the_run() {
    let folder = Folder::new(&["daemon"]);
    let (code, text) = result_of(&run(&folder, "out", &FEW));
    assert_eq!(code, Some(0), "{text}");
    let process = std::fs::read_to_string(folder.path().join("daemon.pid")).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    assert!(status.is_empty(), "{status}");
}

#[test]
fn engine_output_contains_no_terminal_controls() {
    let folder = Folder::new(&["escape"]);
    for output in [run(&folder, "out", &FEW), folder.judge(&["try", "escape"])] {
        let is_obeyed = |byte: &u8| byte.is_ascii_control() && !b"\n\t".contains(byte);
        let found: Vec<&u8> = output.stdout.iter().chain(&output.stderr).filter(|byte| is_obeyed(byte)).collect();
        assert!(found.is_empty(), "{found:?} in {}", result_of(&output).1.escape_debug());
        assert!(!output.stdout.is_empty() || !output.stderr.is_empty());
    }
    let records = std::fs::read_to_string(folder.path().join("out/run.jsonl")).unwrap();
    assert!(records.contains("owned all is well") && !records.contains("\\u001b"), "{records}");
}

#[test]
fn reports_cover_complete_and_killed_runs() {
    let folder = Folder::new(&["honest", "wrong"]);
    let file = folder.path().join("engines.toml");
    let absent = "[[engine]]\nname = \"ghost\"\ndialect = \"own\"\nneeds = [\"no-such-program\"]\nrun = [\"x\"]\n";
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + absent).unwrap();
    assert_eq!(result_of(&run(&folder, "out", &FEW)).0, Some(0));
    let out = folder.path().join("out");
    let report = || {
        let judge = env!("CARGO_BIN_EXE_reptile-judge");
        let output = std::process::Command::new(judge).arg("report").arg(&out).output().unwrap();
        assert_eq!(result_of(&output).0, Some(0), "{}", result_of(&output).1);
        (
            std::fs::read_to_string(out.join("report.md")).unwrap(),
            std::fs::read_to_string(out.join("report.html")).unwrap(),
        )
    };
    let (markdown, html) = report();
    for page in [&markdown, &html] {
        let texts = ["ghost", "no program no-such-program", "claimed dialect", "Minimized differences", "koster-1996"];
        for text in texts {
            assert!(page.contains(text), "no {text:?} in {page}");
        }
    }
    // The report opens with the summary, before the details of the run.
    let summary = "| engine | dialect | verdict differences | rows compared | unanswered |\n|---|---|---:|---:|---:|\n";
    assert!(markdown.split_once("\n\n").unwrap().1.starts_with(summary), "{markdown}");
    assert!(markdown.contains("\n| honest | ") && markdown.contains("2 engines ran; 1 more is absent."), "{markdown}");
    assert!(!html.contains("<script") && !html.contains("src=") && !html.contains("href="), "{html}");
    let values = std::fs::read_to_string(out.join("verdicts.csv")).unwrap();
    assert!(values.lines().any(|line| line.starts_with("honest,fresh,,rfc9309,20,")), "{values}");
    // Cut the file within a record.
    let path = out.join("run.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() * 9 / 10]).unwrap();
    assert!(report().0.contains("the run was stopped"));
}

#[test]
fn differences_between_two_engines_are_minimized() {
    let folder = Folder::new(&["honest", "wrong"]);
    let (code, text) = result_of(&folder.judge(&["compare", "honest", "wrong", "--corpora", "suite"]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("rows differ\n"), "{text}");
    // The planted fault: every path that contains the letter x is disallowed.
    assert!(text.contains("\n  https://a.example/x for "), "{text}");
    let (code, text) = result_of(&folder.judge(&["compare", "honest", "honest", "--corpora", "suite"]));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("suite: 0 of "), "{text}");
}

#[test]
fn commands_work_as_engines() {
    let folder = Folder::new(&[]);
    let text = r#"[[engine]]
name = "grep"
dialect = "own"
command = ["sh", "-c", "grep -q '^Disallow: /$' \"$1\" && echo no || echo yes", "sh", "{robots}", "{agent}", "{url}"]
allow = { output = "yes" }
disallow = { output = "no" }
"#;
    std::fs::write(folder.path().join("engines.toml"), text).unwrap();
    let (code, text) = result_of(&folder.judge(&["try", "grep"]));
    assert!(text.contains("grep: ") && code == Some(0), "{text}");
    assert_eq!(result_of(&run(&folder, "out", &FEW)).0, Some(0));
    let records = records(&folder.path().join("out"));
    let found = letters(&records, "grep");
    assert_eq!(found.len(), 20);
    assert!(found.bytes().all(|letter| b"ADU".contains(&letter)), "{found}");
}

#[test]
fn wrong_arguments_are_described() {
    let folder = Folder::new(&["honest"]);
    for (arguments, fault) in [
        (&["run", "-o", "out", "--only", "nobody"][..], "no engine nobody"),
        (&["run", "-o", "out", "--corpora", "nothing"], "no corpus nothing"),
        (&["run", "-o", "out", "--fresh", "100001"], "at most 100000 are allowed"),
        (&["run", "-o", "out", "--models", "slow"], "invalid value 'slow'"),
        (&["run", "-o", "out", "--rounds", "101"], "101"),
        (&["run", "-o", "out", "--corpus-time", "0"], "1..=3600"),
        (&["run", "-o", "out", "--corpus-time", "3601"], "1..=3600"),
        (&["compare", "honest", "nobody"], "no engine nobody"),
        (&["try", "nobody"], "no engine nobody, but honest"),
    ] {
        let (code, text) = result_of(&folder.judge(arguments));
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(fault), "{arguments:?}: {text}");
    }
    assert!(!folder.path().join("out").exists());
}
