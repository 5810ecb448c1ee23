//! Compares each strategy with the definition of a match, for all rules, rule pairs and paths over a small alphabet.
//!
//! A normal run tests a sample. A full run takes minutes:
//!
//! ```sh
//! REPTILE_SMALL_WORLD=all cargo test --release -p reptile-compiler --test all small_world -- --nocapture
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::time::Instant;

use bumpalo::Bump;
use reptile_compiler::automaton::{Strategy, compile};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::oracle::pattern_matches;
use reptile_compiler::set::prepare;
use reptile_engine::automaton::Ruleset;
use reptile_engine::verdict::{RuleKind, Verdict};

/// Alphabet for single rules: a slash, two letters that are hex digits, both operators, and the percent sign.
const ONE: &[u8] = b"/ab*$%";
/// Alphabet for pairs of rules: a slash, a letter, both operators.
const TWO: &[u8] = b"/a*$";

/// A text, and the index of the text that it extends by one byte. Texts come after those that they extend.
struct Text {
    bytes: Vec<u8>,
    before: usize,
}

/// Returns all texts over an alphabet, up to a maximum length.
fn texts(alphabet: &[u8], max_len: usize) -> Vec<Text> {
    let mut all = vec![Text { bytes: Vec::new(), before: 0 }];
    let mut next = 0;
    while next < all.len() {
        if all[next].bytes.len() < max_len {
            for &byte in alphabet {
                let bytes = [&all[next].bytes[..], &[byte]].concat();
                all.push(Text { bytes, before: next });
            }
        }
        next += 1;
    }
    all
}

/// Returns for each path whether a normalized pattern matches it. The pattern positions that a path reaches are
/// computed from the positions that its prefix reaches. `match_tables_are_correct` compares the result with the
/// definition, [`pattern_matches`].
fn table(pattern: &[u8], paths: &[Text]) -> Vec<bool> {
    let (body, anchored) = match pattern.strip_suffix(b"$") {
        Some(body) => (body, true),
        None => (pattern, false),
    };
    // A wildcard also matches the empty string.
    let pass = |mut places: u32| {
        for (place, &byte) in body.iter().enumerate() {
            if byte == b'*' && places >> place & 1 != 0 {
                places |= 1 << (place + 1);
            }
        }
        places
    };
    let end = 1 << body.len();
    let mut reached: Vec<u32> = Vec::with_capacity(paths.len());
    for (index, path) in paths.iter().enumerate() {
        let Some(&read) = path.bytes.last().filter(|_| index > 0) else {
            reached.push(pass(1));
            continue;
        };
        let before = reached[path.before];
        let mut places = if anchored { 0 } else { before & end };
        for (place, &byte) in body.iter().enumerate().filter(|&(place, _)| before >> place & 1 != 0) {
            places |= if byte == b'*' { 1 << place } else { u32::from(byte == read) << (place + 1) };
        }
        reached.push(pass(places));
    }
    // After the end of an anchored pattern, no position is reachable.
    reached.into_iter().map(|places| places & end != 0).collect()
}

fn normal(pattern: &[u8]) -> Vec<u8> {
    GOOGLE_LIB.normal_form.pattern(pattern).into_owned()
}

#[test]
fn match_tables_are_correct() {
    let mut compared = 0;
    for (alphabet, pattern_len, path_len) in [(ONE, 4, 4), (TWO, 4, 5)] {
        let paths = texts(alphabet, path_len);
        for pattern in texts(alphabet, pattern_len) {
            let pattern = normal(&pattern.bytes);
            for (path, found) in paths.iter().zip(table(&pattern, &paths)) {
                let expected = pattern_matches(&pattern, &path.bytes);
                assert_eq!(found, expected, "{} {}", pattern.escape_ascii(), path.bytes.escape_ascii());
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 1555 * 1555 + 341 * 1365);
}

struct Pattern {
    written: String,
    weight: usize,
    matches: Vec<bool>,
}

fn patterns(alphabet: &[u8], max_len: usize, paths: &[Text]) -> Vec<Pattern> {
    let pattern = |text: Text| {
        let normal = normal(&text.bytes);
        let matches = table(&normal, paths);
        Pattern { written: String::from_utf8(text.bytes).unwrap(), weight: normal.len(), matches }
    };
    texts(alphabet, max_len).into_iter().map(pattern).collect()
}

/// Compares each strategy's verdicts with the expected ones for some rules. Returns the number of comparisons.
fn compare(rules: &[(RuleKind, &Pattern)], paths: &[Text]) -> usize {
    let mut body = String::from("user-agent: *\n");
    for (kind, pattern) in rules {
        body += &format!("{}: {}\n", kind.name(), pattern.written);
    }
    let arena = Bump::new();
    let list = prepare(body.as_bytes(), &GOOGLE_LIB, &arena).unwrap().groups.swap_remove(0).0;
    for (name, strategy) in Strategy::ALL {
        let bytes = compile(&list, strategy, &arena).unwrap();
        let ruleset = Ruleset::new(&bytes).unwrap();
        for (index, path) in paths.iter().enumerate() {
            // The longest match decides, and allow wins ties. An empty pattern decides nothing.
            let matching = rules.iter().filter(|(_, pattern)| pattern.matches[index] && pattern.weight > 0);
            let best = matching.max_by_key(|(kind, pattern)| (pattern.weight, *kind == RuleKind::Allow));
            let expected = best.map_or(Verdict::Allow, |(kind, _)| match kind {
                RuleKind::Allow => Verdict::Allow,
                RuleKind::Disallow => Verdict::Disallow,
            });
            let found = ruleset.verdict(&path.bytes).unwrap();
            assert_eq!(found, expected, "{name} {body:?} {}", path.bytes.escape_ascii());
        }
    }
    paths.len() * Strategy::ALL.len()
}

fn is_whole_run() -> bool {
    std::env::var("REPTILE_SMALL_WORLD").is_ok_and(|value| value == "all")
}

/// Calls `compare` with each number below `count` on two threads, and adds up the results.
fn on_two_threads(count: usize, compare: impl Fn(usize) -> usize + Sync) -> usize {
    std::thread::scope(|scope| {
        let half = |first: usize| (first..count).step_by(2).map(&compare).sum::<usize>();
        let other = scope.spawn(move || half(1));
        half(0) + other.join().unwrap()
    })
}

/// A normal run takes one in this many five-byte rules, and one in this many rule pairs.
const PART_OF_ONE: usize = 16;
const PART_OF_TWO: usize = 16;

#[test]
fn every_single_rule() {
    let start = Instant::now();
    let paths = texts(ONE, 6);
    let patterns = patterns(ONE, 5, &[]);
    assert_eq!((patterns.len(), paths.len()), (9331, 55987));
    let is_whole = is_whole_run();
    let is_taken = |index: usize| is_whole || patterns[index].written.len() < 4 || index.is_multiple_of(PART_OF_ONE);
    let chosen: Vec<usize> = (0..patterns.len()).filter(|&index| is_taken(index)).collect();
    let compared = on_two_threads(chosen.len(), |number| {
        let Pattern { written, weight, .. } = &patterns[chosen[number]];
        let matches = table(&normal(written.as_bytes()), &paths);
        let pattern = Pattern { written: written.clone(), weight: *weight, matches };
        compare(&[(RuleKind::Disallow, &pattern)], &paths)
    });
    println!("one rule: {} rulesets, {compared} comparisons, 0 differences, {:?}", chosen.len(), start.elapsed());
    let expected = if is_whole { 9331 } else { 259 + (9331 - 259) / PART_OF_ONE };
    assert_eq!(compared, expected * 55987 * Strategy::ALL.len());
}

#[test]
fn every_pair_of_rules() {
    let start = Instant::now();
    let paths = texts(TWO, 5);
    let patterns = patterns(TWO, 4, &paths);
    assert_eq!((patterns.len(), paths.len()), (341, 1365));
    let kinds = [RuleKind::Allow, RuleKind::Disallow];
    let mut rulesets = Vec::new();
    for first in 0..patterns.len() {
        for second in first..patterns.len() {
            let both = |kind| kinds.map(|other| ((kind, first), (other, second)));
            rulesets.extend(kinds.into_iter().flat_map(both));
        }
    }
    let part = if is_whole_run() { 1 } else { PART_OF_TWO };
    let chosen: Vec<_> = rulesets.iter().skip(part / 2).step_by(part).collect();
    let compared = on_two_threads(chosen.len(), |number| {
        let &((kind, first), (other, second)) = chosen[number];
        compare(&[(kind, &patterns[first]), (other, &patterns[second])], &paths)
    });
    println!("two rules: {} rulesets, {compared} comparisons, 0 differences, {:?}", chosen.len(), start.elapsed());
    assert_eq!(rulesets.len(), 341 * 342 / 2 * 4);
    assert_eq!(compared, rulesets.len().div_ceil(part) * 1365 * Strategy::ALL.len());
}
