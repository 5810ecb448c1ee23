//! Statements in the documents that code can check: numbers, names, paths, golden sets, and which files know a dialect.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use std::fs;
use std::path::{Path, PathBuf};

use reptile_compiler::limits::{
    MAX_BODY_BYTES_500_KIB, MAX_BODY_BYTES_2017, MAX_CLEAN_PARAM_BYTES, MAX_DISCARDED_LISTED, MAX_LINE_BYTES_GOOGLE,
    MAX_OTHER_KEY_BYTES, MAX_PATTERN_BYTES_YANDEX, MAX_RULES_YANDEX,
};
use reptile_compiler::{capture, dialect};
use reptile_engine::format::FORMAT_VERSION;
use support::workspace;

/// Reads a workspace file as text.
fn text_of(path: &str) -> String {
    let path = workspace().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the names and texts of all Rust files in some folders.
fn sources(folders: &[&str]) -> Vec<(String, String)> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    folders.iter().for_each(|folder| collect(&workspace().join(folder), &mut found));
    found.sort();
    let named = found.into_iter().map(|path| {
        let name = path.strip_prefix(workspace()).unwrap().to_string_lossy().replace('\\', "/");
        (name, fs::read_to_string(&path).unwrap())
    });
    named.collect()
}

/// Returns a file's code before its unit tests.
fn without_tests(text: &str) -> &str {
    &text[..text.find("#[cfg(test)]").unwrap_or(text.len())]
}

/// Returns whether a text contains `word` as a whole identifier.
fn has_word(text: &str, word: &str) -> bool {
    let in_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(in_word) && !text[at + word.len()..].starts_with(in_word)
    })
}

/// Returns a constant's value as written in a file, without underscores.
fn constant(path: &str, name: &str) -> String {
    let text = text_of(path);
    let start = text.find(&format!("const {name}: ")).unwrap_or_else(|| panic!("{path} has no {name}"));
    let (_, value) = text[start..].split_once(" = ").unwrap();
    value.split_once(';').unwrap().0.replace('_', "")
}

/// Formats a number with commas between thousands.
fn grouped(number: impl std::fmt::Display) -> String {
    let digits = number.to_string();
    let chunks: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|chunk| std::str::from_utf8(chunk).unwrap()).collect();
    chunks.join(",")
}

/// Returns what is missing for the promise in `engine/FORMAT.md`: golden sets for every format version that a release
/// writes. `changelog` has a heading for each release, and `format` a table with the release of each version.
fn missing_golden_sets(changelog: &str, format: &str, version: u32, has_sets: impl Fn(u32) -> bool) -> Vec<String> {
    let mut missing = Vec::new();
    let (_, versions) = format.split_once("\n## Versions\n").unwrap();
    let rows: Vec<(u32, &str)> = versions
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | "))
        .filter_map(|(number, rest)| Some((number.parse().ok()?, rest.split_once(" |")?.0)))
        .collect();
    if rows.last().map(|(last, _)| *last) != Some(version) {
        missing.push(format!("the table of versions does not end with version {version}"));
    }
    let releases: Vec<&str> = changelog.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for (number, since) in rows {
        if since == "not released" {
            continue;
        }
        if !releases.iter().any(|release| release.split(' ').next() == Some(since)) {
            missing.push(format!("version {number}: CHANGELOG.md has no release {since}"));
        }
        if !has_sets(number) {
            missing.push(format!("version {number}: no golden sets"));
        }
    }
    missing
}

#[test]
fn every_released_format_version_has_golden_sets() {
    let has_sets = |version: u32| {
        let folder = workspace().join(format!("engine/tests/golden/v{version}"));
        ["set", "tsv", "fields", "origins"].iter().all(|kind| folder.join(format!("google.{kind}")).exists())
    };
    let (changelog, format) = (text_of("CHANGELOG.md"), text_of("engine/FORMAT.md"));
    assert_eq!(missing_golden_sets(&changelog, &format, FORMAT_VERSION, has_sets), [""; 0]);
    assert!(format.contains(&format!("Format version {FORMAT_VERSION}.")));
    // The next version, without its row, with it, and with its sets.
    let (next, row) = (FORMAT_VERSION + 1, format!("| {} | 0.2.0 | more |\n", FORMAT_VERSION + 1));
    let later = changelog.replace("## 0.1.0", "## 0.2.0 (unreleased)\n## 0.1.0");
    let longer = format + &row;
    let missing = |changelog: &str, format: &str, last| missing_golden_sets(changelog, format, next, |v| v <= last);
    assert_eq!(missing(&later, &longer, next), [""; 0]);
    assert_eq!(missing(&later, &longer, FORMAT_VERSION), [format!("version {next}: no golden sets")]);
    assert_eq!(missing(&changelog, &longer, next), [format!("version {next}: CHANGELOG.md has no release 0.2.0")]);
    let unlisted = missing(&later, &longer.replace(&row, ""), next);
    assert_eq!(unlisted, [format!("the table of versions does not end with version {next}")]);
}

#[test]
fn only_two_files_outside_the_dialect_folder_name_a_dialect() {
    let names = [
        "GOOGLE_LIB",
        "GOOGLE",
        "RFC9309",
        "RFC9309_STRICT",
        "YANDEX",
        "YANDEX_2017",
        "BING",
        "KOSTER_1994",
        "KOSTER_1996",
    ];
    assert_eq!(names.len(), dialect::ALL.len());
    let mut knowing = Vec::new();
    for (file, text) in sources(&["compiler/src"]) {
        let code: Vec<&str> =
            without_tests(&text).lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        // Fetch profiles have the same names, and their own module exports them.
        let exports_profiles = file == "compiler/src/capture/mod.rs";
        let is_inside = file.starts_with("compiler/src/dialect/");
        if !is_inside && !exports_profiles && names.iter().any(|name| has_word(&code.join("\n"), name)) {
            knowing.push(file);
        }
    }
    assert_eq!(knowing, ["compiler/src/advice/lint/differences.rs", "compiler/src/capture/profile.rs"]);
    let document = text_of("compiler/DIALECTS.md");
    knowing.iter().for_each(|file| assert!(document.contains(&format!("`{file}`")), "{file}"));
}

#[test]
fn tables_have_a_column_for_each_dialect_and_profile() {
    let document = text_of("compiler/DIALECTS.md");
    let dialects = format!("| behavior | {} |", dialect::ALL.map(|dialect| dialect.as_str()).join(" | "));
    let headers: Vec<&str> = document.lines().filter(|line| line.starts_with("| behavior |")).collect();
    assert_eq!(headers, [dialects.as_str(); 4]);
    let profiles = format!("| outcome | {} | case |", capture::ALL.map(|profile| profile.as_str()).join(" | "));
    assert!(document.lines().any(|line| line == profiles), "{profiles}");
    let guide = text_of("cli/guide/dialects.md");
    for name in dialect::ALL.map(|dialect| dialect.as_str()).iter().chain(&capture::ALL.map(|profile| profile.as_str()))
    {
        assert!(guide.contains(&format!("`{name}`")), "cli/guide/dialects.md does not name {name}");
    }
}

#[test]
fn numbers_in_the_documents_match_the_code() {
    let pairs: u32 = constant("compiler/tests/equivalence.rs", "PAIRS").parse().unwrap();
    for (file, statement) in [
        ("TESTING.md", format!("{} checks in `corpora/suite`", grouped(constant("compiler/tests/suite.rs", "CHECKS")))),
        ("TESTING.md", format!("{} recorded verdicts", grouped(constant("compiler/tests/shared.rs", "GOLDEN_ROWS")))),
        ("TESTING.md", format!("{} random pairs of rules and path under `google-lib`", grouped(pairs))),
        ("TESTING.md", format!("{} random files under every dialect", grouped(pairs / 100))),
        ("TESTING.md", format!("{} real files", grouped(constant("compiler/tests/directives.rs", "REAL_FILES")))),
        ("compiler/DIALECTS.md", format!("cut at {} bytes", grouped(MAX_LINE_BYTES_GOOGLE))),
        ("compiler/DIALECTS.md", format!("within {} KiB", MAX_BODY_BYTES_500_KIB >> 10)),
        ("compiler/DIALECTS.md", format!("over {} KB", MAX_BODY_BYTES_2017 >> 10)),
        (
            "compiler/DIALECTS.md",
            format!("{}; {} bytes Yerr", grouped(MAX_RULES_YANDEX), grouped(MAX_PATTERN_BYTES_YANDEX)),
        ),
        ("compiler/DIALECTS.md", format!("counts unused captures and lists up to {MAX_DISCARDED_LISTED}")),
        ("compiler/DIALECTS.md", format!("no more than {MAX_OTHER_KEY_BYTES} letters")),
        ("compiler/DIALECTS.md", format!("is applied as {MAX_CLEAN_PARAM_BYTES} bytes")),
    ] {
        let text = text_of(file).replace('\n', " ");
        assert!(text.contains(&statement), "{file} does not say \"{statement}\"");
    }
}

#[test]
fn paths_in_the_documents_exist() {
    let mut count = 0;
    for file in [
        "CONTRIBUTING.md",
        "README.md",
        "SECURITY.md",
        "TESTING.md",
        "compiler/DIALECTS.md",
        "compiler/DISAGREEMENT.md",
        "compiler/EXAMPLES.md",
        "corpora/README.md",
    ] {
        let text = text_of(file);
        let quoted = text.split('`').skip(1).step_by(2);
        let is_path = |word: &&str| {
            let of_tree =
                ["engine/", "compiler/", "cli/", "bench/", "corpora/"].iter().any(|root| word.starts_with(root));
            of_tree && !word.contains(char::is_whitespace)
        };
        for path in quoted.filter(is_path) {
            assert!(workspace().join(path).exists(), "{file}: {path} does not exist");
            count += 1;
        }
    }
    assert!(count > 30, "only {count} paths were found");
}
