//! Fixes of real and random files keep all verdicts, according to the proof of `diff --verdicts`.
#![cfg(feature = "compile")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use reptile::diff::PathDiff;
use reptile::lint::{FixOptions, fix_with};
use reptile::{Capture, Compiler, Dialect, contents, dialects, urls};

const REAL_FILES: usize = 4_231;

/// Counts of edits and refused fixes, by kind.
#[derive(Default)]
struct Counts {
    files: usize,
    fixed: usize,
    proofs: usize,
    kinds: BTreeMap<String, usize>,
}

impl Counts {
    fn add(&mut self, kind: String) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    /// Fixes a file, and checks that no verdict changes and that fixing it again changes nothing.
    fn check(&mut self, body: &[u8], dialect: &Dialect) {
        self.files += 1;
        let options = FixOptions::default();
        let fixed = fix_with(body, dialect, &options);
        for change in &fixed.changes {
            assert!(change.keeps_verdicts && change.effects.is_empty(), "{change:?}");
            self.add(format!("proved    {}", change.code));
        }
        for unfixed in &fixed.unfixed {
            let reason = format!("{:?}", unfixed.reason);
            let reason = reason.split(['(', '[']).next().unwrap_or_default().to_owned();
            self.add(format!("refused   {} {reason}", unfixed.code));
        }
        if !fixed.changes.is_empty() {
            self.fixed += 1;
            let again = fix_with(&fixed.body, dialect, &options);
            assert_eq!(again.changes, [], "{}", String::from_utf8_lossy(body));
            assert_eq!(again.unfixed, fixed.unfixed, "{}", String::from_utf8_lossy(body));
            dialects::CURRENT.iter().for_each(|reader| self.prove([body, &fixed.body], reader));
        }
        let changed = fix_with(body, dialect, &FixOptions { changes: true, ..options.clone() });
        for change in changed.changes.iter().filter(|change| !change.keeps_verdicts) {
            self.add(format!("requested {}", change.code));
        }
        if !changed.changes.is_empty() {
            let again = fix_with(&changed.body, dialect, &FixOptions { changes: true, ..options });
            assert_eq!(again.changes, [], "{}", String::from_utf8_lossy(body));
        }
    }

    /// Proves that two files give every crawler the same verdict for every path.
    fn prove(&mut self, bodies: [&[u8]; 2], dialect: &Dialect) {
        let sets = bodies.map(|body| {
            let mut compiler = Compiler::new(dialect);
            compiler.add(Capture::new("http://h.example/robots.txt", body).unwrap()).unwrap();
            compiler.finish().unwrap().to_bytes()
        });
        let sets = sets.each_ref().map(|bytes| contents::Set::from_bytes(&bytes[..]).unwrap());
        let origin = urls::split(b"http://h.example/").unwrap().origin;
        let policies = sets.each_ref().map(|set| set.policy(&origin).unwrap().unwrap());
        let found = PathDiff::new(&sets[0], &sets[1]).rows(&policies).unwrap();
        for row in &found.rows {
            self.proofs += 1;
            let shown = String::from_utf8_lossy(bodies[0]);
            assert!(row.change.is_equal(), "{dialect}: {:?}\n{shown}", row.change);
        }
    }

    fn print(&self) {
        let Counts { files, fixed, proofs, kinds } = self;
        println!("{files} files, {fixed} fixed, {proofs} proofs");
        kinds.iter().for_each(|(kind, count)| println!("{count:7} {kind}"));
    }
}

/// Checks the first of every `step` files, if the files are present.
fn real_files_keep_their_verdicts(step: usize) {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let shared = std::env::var_os("REPTILE_SHARED").map_or_else(|| "../shared".into(), std::path::PathBuf::from);
    let Ok(file) = std::fs::read(workspace.join(shared).join("corpora/real/robots.tar.gz")) else { return };
    let mut archive = tar::Archive::new(GzDecoder::new(&file[..]));
    let mut counts = Counts::default();
    let entries = archive.entries().unwrap().map(Result::unwrap);
    for mut entry in entries.filter(|entry| entry.header().entry_type().is_file()).step_by(step) {
        let mut body = Vec::new();
        entry.read_to_end(&mut body).unwrap();
        counts.check(&body, Dialect::google());
    }
    counts.print();
    assert_eq!(counts.files, REAL_FILES.div_ceil(step));
    assert!(counts.fixed > counts.files / 10);
}

#[test]
fn some_real_files_keep_their_verdicts() {
    real_files_keep_their_verdicts(60);
}

#[test]
#[ignore = "minutes"]
fn all_real_files_keep_their_verdicts() {
    real_files_keep_their_verdicts(1);
}

/// Parts of lines: keys and values that crawlers read, misread or ignore.
const KEYS: [&str; 22] = [
    "Disallow: ",
    "Disallow: ",
    "Disallow: ",
    "Disallow:",
    "Allow: ",
    "Allow: ",
    "User-agent: ",
    "User-agent: ",
    "Useragent: ",
    "Disalow: ",
    "Disalllow: ",
    "Disallow ",
    "Disallow=",
    "Disallow all: ",
    "//Disallow: ",
    "; Allow: ",
    "Bot: ",
    "User–agent: ",
    "\u{feff}User-agent: ",
    "Sitemap: ",
    "Crawl-delay: ",
    "",
];
const VALUES: [&str; 26] = [
    "/", "/a", "/a", "/a/", "/a/b", "/a/b/c", "/*", "/*a", "/a*", "/a*b$", "/b", "/b$", "*", "*", "a", "b", "a/1.0",
    "a, b", "", "/a # b", "/é", "“/a”", "All", "a/", "GPTBot", "/a?b=*",
];
const ENDS: [&str; 6] = ["\n", "\n", "\n", "\r\n", "\n\n", "\r"];

fn random_files_keep_their_verdicts(count: usize) {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut pick = |parts: &[&'static str]| {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        parts[(state % parts.len() as u64) as usize]
    };
    let mut counts = Counts::default();
    for number in 0..count {
        let mut body = String::from("User-agent: *\n");
        for _ in 0..number % 14 {
            body.extend([pick(&KEYS), pick(&VALUES), pick(&ENDS)]);
        }
        let dialect = dialects::ALL[number % dialects::ALL.len()];
        counts.check(body.as_bytes(), dialect);
    }
    counts.print();
    assert!(counts.fixed > count / 10);
}

#[test]
fn some_random_files_keep_their_verdicts() {
    random_files_keep_their_verdicts(200);
}

#[test]
#[ignore = "a minute"]
fn many_random_files_keep_their_verdicts() {
    random_files_keep_their_verdicts(10_000);
}
