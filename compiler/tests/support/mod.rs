//! Helpers for the data-driven tests: they locate data, query a set in every way, and report all differences at once.
#![allow(dead_code, reason = "each test crate uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

pub mod merged;
pub mod rulesets;
pub mod sets;

use std::path::{Path, PathBuf};

use bumpalo::Bump;
use reptile_compiler::dialect::Dialect;
use reptile_compiler::dialect::crawlers::Resolved;
use reptile_compiler::limits::MAX_ONCE_STEPS;
use reptile_compiler::oracle::OracleAnswer;
use reptile_compiler::set::read_alone;
use reptile_engine::format::TooLarge;
use reptile_engine::platform::MappedFile;
use reptile_engine::url::path_of;

pub use sets::{ask, compile, origin_of, policy_of};

/// Configures a property test with this many cases. Failures are kept in a file next to the test's and tried first in
/// later runs. Proptest's default location is relative to a `lib.rs`, which integration tests lack.
pub fn cases(cases: u32) -> proptest::test_runner::Config {
    let persistence = proptest::test_runner::FileFailurePersistence::WithSource("regressions");
    proptest::test_runner::Config { cases, failure_persistence: Some(Box::new(persistence)), ..Default::default() }
}

/// Decides a URL without a set while reading the file. If the file can be compiled, also decides it by the rules as
/// read, and checks that both answers are the same.
pub fn decide_once(body: &[u8], dialect: &Dialect, agent: &Resolved, url: &[u8]) -> Result<OracleAnswer, TooLarge> {
    let once = reptile_compiler::once::decide_once(body, dialect, agent, url);
    if let Ok(file) = read_alone(body, dialect, &Bump::new()) {
        let groups = file.groups_of(dialect, &agent.tokens, agent.honors_default_group);
        let as_read = file.decide(&groups, dialect, &path_of(url), MAX_ONCE_STEPS, &mut 0);
        assert_eq!(as_read, once, "{}: {}", dialect.name, body.escape_ascii());
    }
    once
}

/// Returns the workspace root.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the workspace").to_owned()
}

/// Returns the shared data folder: `REPTILE_SHARED` if set, else `../shared`, both relative to the workspace root.
/// Prints a message and returns `None` if there is none.
pub fn shared() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("REPTILE_SHARED") {
        let folder = workspace().join(folder);
        assert!(folder.is_dir(), "REPTILE_SHARED is not a folder: {}", folder.display());
        return Some(folder);
    }
    let folder = workspace().join("../shared");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: ../shared is absent");
    eprintln!("skipped: ../shared is absent");
    None
}

/// Reads a test data file.
pub fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Decodes base64 with padding (RFC 4648 section 4).
pub fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    assert_eq!(text.len() % 4, 0, "base64 without padding: {text}");
    let digits = text.trim_end_matches('=');
    let (mut bits, mut held, mut out) = (0_u32, 0, Vec::new());
    for digit in digits.bytes() {
        let value = ALPHABET.iter().position(|&letter| letter == digit);
        bits = bits << 6 | value.unwrap_or_else(|| panic!("invalid base64: {text}")) as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    assert!(text.len() - digits.len() <= 2 && bits & ((1 << held) - 1) == 0, "invalid base64: {text}");
    out
}

/// Decodes and joins base64 pieces, each repeated a number of times.
pub fn base64_parts(parts: &[(String, usize)]) -> Vec<u8> {
    parts.iter().flat_map(|(piece, times)| base64(piece).repeat(*times)).collect()
}

/// Maps a file that no test changes.
pub fn mapped(path: &Path) -> MappedFile {
    // SAFETY: the tests write their files once, under names that no other process uses.
    unsafe { MappedFile::open(path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A file that is removed on drop.
pub struct TemporaryFile(PathBuf);

impl TemporaryFile {
    /// Writes a file with a unique name.
    pub fn new(bytes: &[u8]) -> TemporaryFile {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("reptile-test-{}-{number}.set", std::process::id()));
        std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        TemporaryFile(path)
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // A test must not fail because cleanup does.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A check's expected result: a verdict, and a line if the source gives one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Whether the URL may be fetched.
    pub allowed: bool,
    /// The deciding rule's line, or 0 if none decides.
    pub line: Option<u32>,
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.allowed { "allow" } else { "disallow" })?;
        self.line.map_or(Ok(()), |line| write!(f, ", line {line}"))
    }
}

/// Compares and counts answers, and collects the differences.
#[derive(Default)]
pub struct Report {
    compared: usize,
    differing: Vec<String>,
}

impl Report {
    /// Compares one answer. `what` describes the question and is called only if the answer differs.
    pub fn compare(
        &mut self,
        what: impl FnOnce() -> String,
        path: &str,
        expected: Expected,
        found: Result<OracleAnswer, String>,
    ) {
        self.compared += 1;
        let found = match found {
            Ok(answer)
                if answer.allowed == expected.allowed && expected.line.is_none_or(|line| line == answer.line) =>
            {
                return;
            }
            Ok(answer) => Expected { allowed: answer.allowed, line: Some(answer.line) }.to_string(),
            Err(error) => error,
        };
        self.differing.push(format!("{}: {path}: expected {expected}, found {found}", what()));
    }

    /// Returns the number of compared answers.
    pub fn compared(&self) -> usize {
        self.compared
    }

    /// Fails if any answers differ, and lists the first 200.
    pub fn finish(self) {
        let shown = &self.differing[..self.differing.len().min(200)];
        let (differing, compared) = (self.differing.len(), self.compared);
        assert!(differing == 0, "{differing} of {compared} answers differ:\n{}", shown.join("\n"));
    }
}

/// Returns a slash followed by every sequence with up to `max_len` items of an alphabet, shortest first.
pub fn paths(alphabet: &[&str], max_len: usize) -> Vec<String> {
    let mut paths = vec!["/".to_owned()];
    let mut start = 0;
    for _ in 0..max_len {
        let end = paths.len();
        for at in start..end {
            let longer: Vec<String> = alphabet.iter().map(|text| format!("{}{text}", paths[at])).collect();
            paths.extend(longer);
        }
        start = end;
    }
    paths
}
