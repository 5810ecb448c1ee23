//! Helpers for the data-driven tests: they locate data, query a set in every way, and report all differences at once.
#![allow(dead_code, reason = "each test crate uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use std::path::{Path, PathBuf};

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::Dialect;
use reptile_compiler::dialect::crawlers::{Resolved, of_name};
use reptile_compiler::oracle::Answer;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::platform::MappedFile;
use reptile_engine::set::{Policy, Set};
use reptile_engine::url::{Origin, Scheme, path_of};
use reptile_engine::verdict::Verdict;

/// Configures a property test with this many cases. Failures are kept in a file next to the test's and tried first in
/// later runs. Proptest's default location is relative to a `lib.rs`, which integration tests lack.
pub fn cases(cases: u32) -> proptest::test_runner::Config {
    let persistence = proptest::test_runner::FileFailurePersistence::WithSource("regressions");
    proptest::test_runner::Config { cases, failure_persistence: Some(Box::new(persistence)), ..Default::default() }
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

/// Returns the origin under which a robots.txt is compiled.
pub fn origin_of(host: &str) -> Origin<'_> {
    Origin { scheme: Scheme::Http, host: host.as_bytes(), port: 80 }
}

/// Compiles a set of robots.txt files, each for the [`origin_of`] its host.
pub fn compile<'b>(
    bodies: impl IntoIterator<Item = (&'b str, &'b [u8])>,
    dialect: &'static Dialect,
    strategy: Strategy,
) -> Vec<u8> {
    let mut arena = Bump::new();
    let mut builder = SetBuilder::new(dialect);
    for (host, body) in bodies {
        let Origin { scheme, host, port } = origin_of(host);
        let replaced =
            builder.add([OwnedOrigin { host: host.into(), scheme, port }], prepare(body, dialect, &arena).unwrap());
        assert_eq!(replaced, 0, "two files for {}", host.escape_ascii());
        arena.reset();
    }
    builder.finish(strategy).unwrap().to_bytes()
}

/// Returns the policy for the file that was compiled under `host`.
pub fn policy_of<'s, D: AsRef<[u8]>>(set: &'s Set<D>, host: &str) -> Policy<'s> {
    set.policy(&origin_of(host)).unwrap().unwrap_or_else(|| panic!("the set lost {host}"))
}

/// Asks a set about a text used as a URL. Returns `decide`'s verdict and `explain`'s line.
///
/// # Errors
/// Returns an error if `decide` and `explain` disagree, or give a verdict that no file can produce.
pub fn ask<D: AsRef<[u8]>>(set: &Set<D>, policy: &Policy<'_>, agent: &[u8], url: &[u8]) -> Result<Answer, String> {
    let dialect = Dialect::from_name(&set.dialect()).ok_or_else(|| format!("no dialect {}", set.dialect()))?;
    ask_for(set, policy, &of_name(agent, dialect), url)
}

/// Like [`ask`], for an agent whose names are known.
///
/// # Errors
/// The same as for [`ask`].
pub fn ask_for<D: AsRef<[u8]>>(
    set: &Set<D>,
    policy: &Policy<'_>,
    agent: &Resolved,
    url: &[u8],
) -> Result<Answer, String> {
    let agent = agent.look_up(set).map_err(|error| error.to_string())?;
    path_of(url).with(|path| {
        let decided = policy.decide(&agent, path).map_err(|error| error.to_string())?;
        let explained = policy.explain(&agent, path).map_err(|error| error.to_string())?;
        if decided != explained.verdict {
            return Err(format!("decide says {decided}, explain says {}", explained.verdict));
        }
        let allowed = match decided {
            Verdict::Allow => true,
            Verdict::Disallow => false,
            other => return Err(format!("decide says {other}")),
        };
        Ok(Answer { allowed, line: explained.rule().map_or(0, |rule| rule.line) })
    })
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
        found: Result<Answer, String>,
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
