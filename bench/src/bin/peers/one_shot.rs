//! Measures one shot: reading a file and deciding a single URL.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::time::Instant;

use bumpalo::Bump;
use fast_robots::RobotsTxt;
use reptile_bench::{AGENT, HostFile, median};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::dialect::crawlers::{Resolved, of_name};
use reptile_compiler::once::decide_once;
use reptile_compiler::oracle;
use reptile_engine::automaton::Ruleset;
use reptile_engine::verdict::Verdict;
use robotxt::Robots;
use texting_robots::Robot;

use crate::rounds::ROUNDS;
use crate::{AGENT_TEXT, build, robotstxt_allows};

/// Reads a file and says whether it allows a URL; `None` if the peer refuses the file.
type OneShot = fn(&[u8], &str, &mut Bump) -> Option<bool>;

/// The implementations, by the names of their rows.
const ONE_SHOTS: [(&str, OneShot); 6] = [
    ("reptile", |body, url, _| {
        static AGENT_NAMES: LazyLock<Resolved> = LazyLock::new(|| of_name(AGENT, &GOOGLE_LIB));
        Some(decide_once(body, &GOOGLE_LIB, &AGENT_NAMES, url.as_bytes()).ok()?.allowed)
    }),
    ("reptile: prepare, compile, walk", |body, _, arena| {
        arena.reset();
        let automaton = build(body, arena)?;
        if automaton.is_empty() {
            return Some(true);
        }
        Some(Ruleset::new(&automaton).ok()?.verdict(b"/").ok()? == Verdict::Allow)
    }),
    ("fast-robots", |body, _, _| Some(RobotsTxt::parse_bytes(body).ok()?.is_allowed(AGENT_TEXT, "/"))),
    ("robotxt", |body, _, _| Some(Robots::parse(body, AGENT_TEXT).is_allowed("/"))),
    ("robotstxt", |body, url, _| Some(robotstxt_allows(&String::from_utf8_lossy(body), url))),
    ("texting_robots", |body, _, _| Some(Robot::new(AGENT_TEXT, body).ok()?.allowed("/"))),
];

/// Measures all implementations on all files, compares their answers with the oracle's, and prints the table.
pub fn one_shot(files: &[HostFile]) {
    let urls: Vec<String> = files.iter().map(|(host, _)| format!("https://{host}/")).collect();
    let bytes: usize = files.iter().map(|(_, body)| body.len()).sum();
    let right: Vec<bool> = files
        .iter()
        .zip(&urls)
        .map(|((_, body), url)| oracle::decide(body, &GOOGLE_LIB, AGENT, url.as_bytes()).allowed)
        .collect();
    let mut times: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut counts = [[0_usize; 3]; ONE_SHOTS.len()];
    let mut arena = Bump::new();
    for round in 0..ROUNDS {
        for (number, (_, decide)) in ONE_SHOTS.iter().enumerate() {
            let [mut refused, mut panicked, mut wrong] = [0, 0, 0];
            let start = Instant::now();
            for (((_, body), url), &right) in files.iter().zip(&urls).zip(&right) {
                match catch_unwind(AssertUnwindSafe(|| decide(black_box(body), url, &mut arena))) {
                    Ok(Some(allowed)) => wrong += usize::from(allowed != right),
                    Ok(None) => refused += 1,
                    Err(_) => panicked += 1,
                }
            }
            times.entry(number).or_default().push(start.elapsed().as_secs_f64());
            if round == 0 {
                counts[number] = [refused, panicked, wrong];
            }
        }
    }
    println!("| | ms | files/s | MB/s | refused | panics | verdicts not the oracle's |\n|---|---|---|---|---|---|---|");
    for (number, times) in times {
        let seconds = median(times);
        let [refused, panicked, wrong] = counts[number];
        println!(
            "| {} | {:.1} | {:.0} | {:.0} | {refused} | {panicked} | {wrong} |",
            ONE_SHOTS[number].0,
            seconds * 1e3,
            files.len() as f64 / seconds,
            bytes as f64 / seconds / 1e6
        );
    }
}
