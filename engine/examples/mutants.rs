//! Writes damaged sets with matching checksums and this engine's results, for testing other readers.
//!
//!     mutants OUT EVERY RANDOM SEED [SET URLS]...
//!
//! Each set is damaged after the header: every fifth byte with one of nine masks (EVERY is 0), every byte with one mask
//! (1), or every byte with each mask (9). RANDOM additional mutants have one to three changes each. All numbers in OUT
//! are little-endian:
//!
//! ```text
//! bases: 4, then for each base
//!     bytes: 4 + text; URLs: 4, then for each 4 + text
//! then for each mutant, up to the end
//!     base: 1, edits: 1, then for each edit offset: 4, length: 1, the bytes
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

use reptile_engine::automaton::{Ruleset, RulesetRule};
use reptile_engine::format::FormatError;
use reptile_engine::set::Set;
use reptile_engine::url;
use reptile_engine::verdict::{Cause, Explanation, Reason, RuleKind, Verdict};
use xxhash_rust::xxh3::xxh3_64;

const AGENTS: [&[u8]; 3] = [b"GPTBot", b"*", b"Googlebot-Image"];
const TIMES: [i64; 4] = [i64::MIN, 1_690_000_000, 1_695_000_000, 1_700_000_000];
const MASKS: [u8; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 0xFF];

/// The header's offsets for the number of sections and the checksum.
const COUNT_AT: usize = 20;
const CHECKSUM_AT: usize = 56;
const HEADER_BYTES: usize = 64;
const ENTRY_BYTES: usize = 32;

/// An offset, and the bytes to write there.
type Edit = (usize, Vec<u8>);

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()).try_into().unwrap()
}

/// Recomputes all checksums.
fn repair(bytes: &mut [u8]) {
    let count = u32::from_le_bytes(bytes[COUNT_AT..COUNT_AT + 4].try_into().unwrap()).min(13) as usize;
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

/// Checks that an accepted set gives the same answers in batches as alone.
fn check_batches(set: &Set<&[u8]>, urls: &[&[u8]]) {
    let agents: Vec<_> = AGENTS.iter().map(|name| set.crawler(name).unwrap()).collect();
    let mut verdicts = vec![Verdict::Invalid; agents.len() * urls.len()];
    set.decide_all(&agents, urls.iter().copied(), &mut verdicts).unwrap();
    for (at, agent) in agents.iter().enumerate() {
        let mut alone = vec![Verdict::Invalid; urls.len()];
        set.decide_all(std::slice::from_ref(agent), urls.iter().copied(), &mut alone).unwrap();
        for (place, url) in urls.iter().enumerate() {
            let verdict = set.decide(agent, url).unwrap();
            assert_eq!((alone[place], verdicts[place * agents.len() + at]), (verdict, verdict));
        }
    }
}

/// Returns whether every ruleset decides the URLs' paths like its listed rules.
fn answers_as_listed(set: &Set<&[u8]>, paths: &[Vec<u8>]) -> bool {
    (0..set.rulesets().len()).all(|ruleset| {
        let ruleset = Ruleset::stored(set.rulesets().get(ruleset).unwrap()).unwrap();
        let rules = ruleset.rules().unwrap();
        paths.iter().all(|path| {
            let is_match = |rule: &&RulesetRule| !rule.pattern.is_empty() && rule.matches(path);
            let best = |kind| rules.iter().filter(|rule| rule.kind == kind).find(is_match).map(|rule| rule.rank);
            let (allow, disallow) = (best(RuleKind::Allow), best(RuleKind::Disallow));
            let found = ruleset.matches(path).unwrap();
            let is_named = allow.or(disallow).is_none() || (found.allow, found.disallow) == (allow, disallow);
            let disallows = disallow.is_some_and(|rank| allow.is_none_or(|allow| rank < allow));
            is_named
                && found.verdict == ruleset.verdict(path).unwrap()
                && (found.verdict == Verdict::Disallow) == disallows
        })
    })
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
                check_batches(&set, &base.urls);
                let is_listed = answers_as_listed(&set, &base.paths);
                *counts.entry(if is_listed { "as listed" } else { "otherwise than listed" }).or_default() += 1;
            }
            (1 + u8::from(is_valid), xxh3_64(rows.as_bytes()))
        }
    };
    *counts.entry(["not opened", "refused", "accepted"][usize::from(outcome)]).or_default() += 1;
    out.extend([place as u8, edits.len() as u8]);
    for (at, new) in edits {
        out.extend((*at as u32).to_le_bytes());
        out.push(new.len() as u8);
        out.extend(new);
    }
    out.push(outcome);
    out.extend(digest.to_le_bytes());
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out_path, every, random, seed, sets @ ..] = &arguments[..] else {
        panic!("mutants OUT EVERY RANDOM SEED [SET URLS]...");
    };
    let (every, count): (usize, usize) = (every.parse().unwrap(), random.parse().unwrap());
    let files: Vec<(Vec<u8>, Vec<u8>)> =
        sets.chunks_exact(2).map(|pair| (std::fs::read(&pair[0]).unwrap(), std::fs::read(&pair[1]).unwrap())).collect();
    let bases: Vec<Base<'_>> = files
        .iter()
        .map(|(bytes, urls)| {
            let urls: Vec<&[u8]> = urls.split(|&byte| byte == b'\n').filter(|url| !url.is_empty()).collect();
            let form = Set::from_bytes(&bytes[..]).unwrap().normal_form();
            let paths = urls.iter().map(|url| form.path(&url::path_of(url).to_vec()).into_owned()).collect();
            Base { bytes, urls, paths }
        })
        .collect();
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
    for (place, base) in bases.iter().enumerate() {
        for at in (HEADER_BYTES..base.bytes.len()).step_by(if every == 0 { 5 } else { 1 }) {
            let masks = if every >= MASKS.len() { &MASKS[..] } else { &MASKS[at % MASKS.len()..][..1] };
            for mask in masks {
                try_mutant(&mut out, place, base, &[(at, vec![base.bytes[at] ^ mask])], &mut counts);
            }
        }
    }
    let mut random = Random(seed.parse().unwrap());
    for number in 0..count {
        let place = number % bases.len();
        let edits: Vec<Edit> = (0..1 + random.below(3)).map(|_| random.edit(bases[place].bytes)).collect();
        try_mutant(&mut out, place, &bases[place], &edits, &mut counts);
    }
    std::fs::write(out_path, out).unwrap();
    println!("{counts:?}");
}
