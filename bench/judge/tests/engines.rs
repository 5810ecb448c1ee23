//! The engines in `bench/engines.toml`: the list, the documents and the programs agree, and available engines follow
//! the protocol.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::result_of;

/// Returns the folder `bench`.
fn bench() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs the judge with the repository's engines. `PYTHON` is set to the real interpreter, not a launcher.
fn judge(arguments: &[&str]) -> Output {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| {
        let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        asked.map_or("python3".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    });
    let mut judge = Command::new(env!("CARGO_BIN_EXE_reptile-judge"));
    judge.args(arguments).args(["--engines", "engines.toml"]).current_dir(bench()).env("PYTHON", python);
    judge.output().unwrap()
}

/// Returns the entries in `engines.toml`.
fn entries() -> Vec<toml::Table> {
    let text = std::fs::read_to_string(bench().join("engines.toml")).unwrap();
    let file: toml::Table = toml::from_str(&text).unwrap();
    file["engine"].as_array().unwrap().iter().map(|engine| engine.as_table().unwrap().clone()).collect()
}

/// Returns an entry's name.
fn name(entry: &toml::Table) -> &str {
    entry["name"].as_str().unwrap()
}

#[test]
fn readme_names_every_listed_engine() {
    let readme = std::fs::read_to_string(bench().join("README.md")).unwrap();
    for entry in &entries() {
        let (name, dialect) = (name(entry), entry["dialect"].as_str().unwrap());
        let family = name.strip_suffix(dialect).map_or(name.to_owned(), |family| format!("{family}DIALECT"));
        let is_named = [name, &family].into_iter().any(|name| readme.contains(&format!("`{name}`")));
        assert!(is_named, "bench/README.md: no engine {family}");
    }
}

#[test]
fn listed_programs_and_program_files_agree() {
    let mut listed = BTreeSet::new();
    for entry in &entries() {
        for command in ["run", "build", "command"].iter().filter_map(|key| entry.get(*key)?.as_array()) {
            for argument in command.iter().filter_map(|argument| argument.as_str()) {
                if argument.starts_with("engines/") {
                    assert!(bench().join(argument).is_file(), "{}: no file {argument}", name(entry));
                    listed.insert(argument.to_owned());
                } else if let Some((_, program)) = argument.split_once("/release/engine-") {
                    listed.insert(format!("engines/rust/src/bin/{}.rs", program.replace('-', "_")));
                }
            }
        }
    }
    // Shared code, and the source that `build` compiles.
    let shared = ["engines/python/protocol.py", "engines/javascript/protocol.js", "engines/google/engine.cc"];
    let mut found = BTreeSet::new();
    for folder in ["google", "java", "javascript", "perl", "python", "ruby", "rust/src/bin"] {
        let folder = Path::new("engines").join(folder);
        for file in std::fs::read_dir(bench().join(&folder)).unwrap() {
            let file = file.unwrap();
            if file.file_type().unwrap().is_file() {
                found.insert(folder.join(file.file_name()).display().to_string());
            }
        }
    }
    found.retain(|file| !shared.contains(&&file[..]));
    assert_eq!(found, listed);
}

#[test]
fn urllib_engine_decides_the_suite() {
    let (code, text) = result_of(&judge(&["try", "urllib"]));
    if text.contains("is absent") {
        println!("not tested, because Python is absent: {text}");
        return;
    }
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(" 0 faults"), "{text}");

    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("run");
    let (code, text) = result_of(&judge(&[
        "run",
        "--only",
        "urllib",
        "--verdicts",
        "--corpora",
        "suite",
        "-o",
        output.to_str().unwrap(),
    ]));
    assert_eq!(code, Some(0), "{text}");
    let records = std::fs::read_to_string(output.join("run.jsonl")).unwrap();
    let records: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_kind = |kind: &'static str| records.iter().filter(move |record| record["kind"] == kind);
    let rows: u64 = of_kind("corpus").map(|record| record["rows"].as_u64().unwrap()).sum();
    let letters: String = of_kind("answers").map(|record| record["verdicts"].as_str().unwrap()).collect();
    let count = |letter| letters.matches(letter).count();
    assert_eq!(letters.len() as u64, rows);
    // Older versions refuse files that are not UTF-8. None raises an error.
    assert!(letters.bytes().all(|letter| b"ADRU".contains(&letter)), "{letters}");
    assert!(count('A') > 200 && count('D') > 200 && count('R') < 40, "{letters}");
    // The first matching rule decides, not the longest, so no row of this case is allowed.
    let group = "precedence: longer rule decides, disallow written first";
    let by_order = records.iter().find(|record| record["group"] == group).unwrap();
    assert_eq!(by_order["verdicts"], "DD");
}

/// Engines with known bugs in their implementations.
const FAULTY: [(&str, &str); 1] = [
    // Its C++ code ends the process for a URL whose port is not a number.
    ("reppy", "was ended by signal 6"),
];

#[test]
#[ignore = "needs the implementations; prints which are absent"]
fn available_engines_follow_the_protocol() {
    let mut tried = 0;
    for entry in &entries() {
        let name = name(entry);
        let (code, text) = result_of(&judge(&["try", name]));
        if text.contains(" is absent: ") {
            println!("not tested: {}", text.trim());
            continue;
        }
        tried += 1;
        let is_its_own = |line: &str| FAULTY.iter().any(|(engine, fault)| *engine == name && line.contains(fault));
        let faults: Vec<&str> = text.lines().filter(|line| line.starts_with("fault") && !is_its_own(line)).collect();
        assert!(faults.is_empty() && code != Some(2), "{name}: {text}");
    }
    println!("{tried} engines tried");
    assert!(tried > 0);
}
