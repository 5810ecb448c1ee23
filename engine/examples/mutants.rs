//! Writes damaged sets with matching checksums and this engine's results, for testing other readers.
//!
//!     mutants OUT EVERY RANDOM SEED [SET URLS]...
//!     mutants OUT --sets URLS FOLDER
//!
//! Each set is damaged after the header: every fifth byte with one of nine masks (EVERY is 0), every byte with one mask
//! (1), or every byte with each mask (9). RANDOM additional mutants have one to three changes each. With `--sets`, the
//! sets in FOLDER, which a fuzzer has changed already, are tried as they are. All numbers in OUT are little-endian:
//!
//! ```text
//! bases: 4, then for each base
//!     bytes: 4 + text; URLs: 4, then for each 4 + text
//! then for each mutant, up to the end
//!     base: 2, edits: 1, then for each edit offset: 4, length: 1, the bytes
//!     outcome: 1 (0 refused when opened, 1 refused by verify, 2 accepted), digest of the answers: 8
//! ```
//!
//! The digest is the XXH3 of the rows that `answers` writes, or 0 if the set cannot be opened.
//!
//! Also checks every accepted set: it must answer every question, and give the same answers in batches as alone. Counts
//! sets that decide differently from their listed rules, which the compiler's `recompile` rejects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a program for tests")]

use std::collections::BTreeMap;
use std::fmt::Write;

use reptile_engine::format::FormatError;
use reptile_engine::format::container::{ENTRY_BYTES, HEADER_BYTES, Section};
use reptile_engine::set::Set;
use reptile_engine::url;
use reptile_engine::verdict::{Cause, Explanation, Reason};
use xxhash_rust::xxh3::xxh3_64;

use answers::{answers_as_listed, check_batches};

#[path = "../tests/support/answers.rs"]
mod answers;

const AGENTS: [&[u8]; 3] = [b"GPTBot", b"*", b"Googlebot-Image"];
const TIMES: [i64; 4] = [i64::MIN, 1_690_000_000, 1_695_000_000, 1_700_000_000];
const MASKS: [u8; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 0xFF];

/// The header's offsets for the number of sections and the checksum.
const COUNT_AT: usize = 20;
const CHECKSUM_AT: usize = 56;

/// An offset, and the bytes to write there.
type Edit = (usize, Vec<u8>);

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()).try_into().unwrap()
}

/// Recomputes all checksums.
fn repair(bytes: &mut [u8]) {
    let count = u32::from_le_bytes(bytes[COUNT_AT..COUNT_AT + 4].try_into().unwrap()) as usize;
    let count = count.min(Section::COUNT);
    for entry in (0..count).map(|entry| HEADER_BYTES + entry * ENTRY_BYTES) {
        let (start, len) = (number(bytes, entry + 8), number(bytes, entry + 16));
        let Some(section) = start.checked_add(len).and_then(|end| bytes.get(start..end)) else { continue };
        let checksum = xxh3_64(section);
        bytes[entry + 24..entry + 32].copy_from_slice(&checksum.to_le_bytes());
    }
    bytes[CHECKSUM_AT..HEADER_BYTES].fill(0);
    let checksum = xxh3_64(&bytes[..HEADER_BYTES + count * ENTRY_BYTES]);
    bytes[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
}

/// Appends a row for an answer, or the byte 01 if there is none.
fn row(rows: &mut String, answer: Result<Explanation, FormatError>) {
    let Ok(answer) = answer else { return rows.push_str("\u{1}\n") };
    let cause = |cause| match cause {
        Cause::Status(status) => format!("1 {status}"),
        Cause::Redirects => "2 0".into(),
        Cause::Network => "3 0".into(),
        Cause::NotText => "4 0".into(),
        Cause::TooLarge => "5 0".into(),
        Cause::Unreachable(days) => format!("6 {days}"),
        Cause::NotFoundPage(status) => format!("7 {status}"),
        Cause::Challenge(challenger) => format!("8 {}", challenger.number()),
        _ => panic!("unknown cause"),
    };
    let reason = match answer.reason() {
        Reason::Rule(from) => format!("rule {}", u8::from(from.is_some())),
        Reason::NoRule(_) => "no rule".into(),
        Reason::Fetch(found) => cause(found),
        Reason::NoRobots => "no robots".into(),
        Reason::NoUrl => "no url".into(),
        _ => panic!("unknown reason"),
    };
    let rule = answer.rule().map(|rule| format!("{} {rule}", rule.line)).unwrap_or_default();
    writeln!(rows, "{}\t{reason}\t{rule}", answer.verdict as u8).unwrap();
}

/// Returns a set's answers, one row per question, and whether all questions have answers.
fn answers(set: &Set<&[u8]>, urls: &[&[u8]]) -> (String, bool) {
    let mut rows = String::new();
    for name in AGENTS {
        let Ok(agent) = set.crawler(name) else {
            rows.push_str("\u{1}\u{1}\n");
            continue;
        };
        for url in urls {
            match set.decide(&agent, url) {
                Ok(verdict) => writeln!(rows, "{}", verdict as u8).unwrap(),
                Err(_) => rows.push_str("\u{1}\n"),
            }
            row(&mut rows, set.explain(&agent, url));
            if set.has_times() {
                TIMES.into_iter().for_each(|time| row(&mut rows, set.explain_at(&agent, url, time)));
            }
        }
    }
    let is_whole = rows.split('\n').all(|row| !["\u{1}", "\u{1}\u{1}"].contains(&row));
    (rows, is_whole)
}

/// Reproducible pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Returns a random edit: a bit, a byte, a number, or bytes copied from elsewhere.
    fn edit(&mut self, base: &[u8]) -> Edit {
        // The header contains numbers for the normal form and the name matching.
        let at = if self.below(50) == 0 {
            16 + self.below(20)
        } else {
            HEADER_BYTES + self.below(base.len() - HEADER_BYTES)
        };
        let bytes = match self.below(6) {
            0 => vec![base[at] ^ 1 << self.below(8)],
            1 => vec![self.next() as u8],
            2 => vec![base[at].wrapping_add([1, 2, 0xFF, 0xFE][self.below(4)])],
            3 => (self.below(64) as u16).to_le_bytes().to_vec(),
            4 => [0, 1, 2, u32::MAX, self.below(64) as u32][self.below(5)].to_le_bytes().to_vec(),
            _ => {
                let from = at.saturating_sub(self.below(256)).max(HEADER_BYTES);
                base[from..(from + 1 + self.below(12)).min(base.len())].to_vec()
            }
        };
        let len = bytes.len().min(base.len() - at);
        (at, bytes[..len].to_vec())
    }
}

struct Base<'b> {
    bytes: &'b [u8],
    urls: Vec<&'b [u8]>,
    paths: Vec<Vec<u8>>,
}

/// Tries a mutant, appends it, and counts it by outcome.
fn try_mutant(out: &mut Vec<u8>, place: usize, base: &Base<'_>, edits: &[Edit], counts: &mut BTreeMap<&str, usize>) {
    let mut bytes = base.bytes.to_vec();
    edits.iter().for_each(|(at, new)| bytes[*at..*at + new.len()].copy_from_slice(new));
    repair(&mut bytes);
    let (outcome, digest) = match Set::from_bytes(&bytes[..]) {
        Err(_) => (0, 0),
        Ok(set) => {
            let (rows, is_whole) = answers(&set, &base.urls);
            let is_valid = set.verify().is_ok();
            if is_valid {
                assert!(is_whole, "verified, but a question failed: {edits:?}");
                check_batches(&set, &AGENTS, &base.urls);
                let is_listed = answers_as_listed(&set, &base.paths);
                *counts.entry(if is_listed { "as listed" } else { "otherwise than listed" }).or_default() += 1;
            }
            (1 + u8::from(is_valid), xxh3_64(rows.as_bytes()))
        }
    };
    *counts.entry(["not opened", "refused", "accepted"][usize::from(outcome)]).or_default() += 1;
    out.extend(u16::try_from(place).unwrap().to_le_bytes());
    out.push(edits.len() as u8);
    for (at, new) in edits {
        out.extend((*at as u32).to_le_bytes());
        out.push(new.len() as u8);
        out.extend(new);
    }
    out.push(outcome);
    out.extend(digest.to_le_bytes());
}

/// Reads a set, and its URLs, one a line.
fn base<'b>(bytes: &'b [u8], urls: &'b [u8]) -> Base<'b> {
    let urls: Vec<&[u8]> = urls.split(|&byte| byte == b'\n').filter(|url| !url.is_empty()).collect();
    // A set that cannot be opened is asked nothing.
    let form = Set::from_bytes(bytes).map(|set| set.normal_form());
    let path = |url: &&[u8]| Some(form.as_ref().ok()?.path(&url::path_of(url).to_vec()).into_owned());
    let paths = urls.iter().filter_map(path).collect();
    Base { bytes, urls, paths }
}

/// Tries single changed bytes throughout each set, and random mutants.
fn damage(bases: &[Base<'_>], every: usize, count: usize, seed: u64, mut try_one: impl FnMut(usize, &[Edit])) {
    for (place, base) in bases.iter().enumerate() {
        for at in (HEADER_BYTES..base.bytes.len()).step_by(if every == 0 { 5 } else { 1 }) {
            let masks = if every >= MASKS.len() { &MASKS[..] } else { &MASKS[at % MASKS.len()..][..1] };
            for mask in masks {
                try_one(place, &[(at, vec![base.bytes[at] ^ mask])]);
            }
        }
    }
    let mut random = Random(seed);
    for number in 0..count {
        let place = number % bases.len();
        let edits: Vec<Edit> = (0..1 + random.below(3)).map(|_| random.edit(bases[place].bytes)).collect();
        try_one(place, &edits);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let read = |path: &String| std::fs::read(path).unwrap();
    let (out_path, files, damaged) = match &arguments[..] {
        [out_path, option, urls, folder] if option == "--sets" => {
            let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            paths.sort_unstable();
            let files = paths.iter().map(|path| (std::fs::read(path).unwrap(), read(urls))).collect();
            (out_path, files, None)
        }
        [out_path, every, random, seed, sets @ ..] => {
            let files: Vec<(Vec<u8>, Vec<u8>)> =
                sets.chunks_exact(2).map(|pair| (read(&pair[0]), read(&pair[1]))).collect();
            let numbers = (every.parse().unwrap(), random.parse().unwrap(), seed.parse().unwrap());
            (out_path, files, Some(numbers))
        }
        _ => panic!("mutants OUT EVERY RANDOM SEED [SET URLS]... or mutants OUT --sets URLS FOLDER"),
    };
    let bases: Vec<Base<'_>> = files.iter().map(|(bytes, urls)| base(bytes, urls)).collect();
    let mut out = (bases.len() as u32).to_le_bytes().to_vec();
    let put = |out: &mut Vec<u8>, text: &[u8]| {
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(text);
    };
    for base in &bases {
        put(&mut out, base.bytes);
        out.extend((base.urls.len() as u32).to_le_bytes());
        base.urls.iter().for_each(|url| put(&mut out, url));
    }
    let mut counts = BTreeMap::new();
    let mut try_one = |place: usize, edits: &[Edit]| try_mutant(&mut out, place, &bases[place], edits, &mut counts);
    match damaged {
        Some((every, count, seed)) => damage(&bases, every, count, seed, try_one),
        None => (0..bases.len()).for_each(|place| try_one(place, &[])),
    }
    std::fs::write(out_path, out).unwrap();
    println!("{counts:?}");
}
