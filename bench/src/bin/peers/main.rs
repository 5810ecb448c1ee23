//! Reptile beside other implementations: the same files, URLs and run, in interleaved rounds, with medians.
//!
//! Prints Markdown, and draws the repeated decisions into the SVG file that its argument names. What the figures
//! mean, and what to distrust, is in `METHODOLOGY.md` and `BIAS.md`.

#[cfg(feature = "hyperscan")]
mod hyperscan;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::{Display, Write as _};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::time::Instant;

use bumpalo::Bump;
use fast_robots::RobotsTxt;
use regex::bytes::{RegexSet, RegexSetBuilder};
use reptile_bench::{AGENT, Case, HostFile, PreparedCase, builder_of, list_for, median, real_files, shared};
use reptile_compiler::automaton::{Strategy, compile};
use reptile_compiler::builder::record;
use reptile_compiler::crawlers::{Resolved, of_name};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::once::decide_once;
use reptile_compiler::oracle;
use reptile_compiler::rules::RuleList;
use reptile_engine::automaton::Ruleset;
use reptile_engine::format::automaton::kind_of;
use reptile_engine::set::Set;
use reptile_engine::verdict::{RuleKind, Verdict};
use robotstxt::DefaultMatcher;
use robotxt::Robots;
use texting_robots::Robot;

#[cfg(feature = "hyperscan")]
use crate::hyperscan::HyperscanRules;

type Any<T> = Result<T, Box<dyn Error>>;

/// [`AGENT`] as text.
const AGENT_TEXT: &str = "Googlebot";

/// How often each is measured; they take turns.
const ROUNDS: usize = 11;

/// What one measurement of repeated decisions should take at least, and at most if URLs can be left out, in seconds.
const ENOUGH: f64 = 0.004;
const TOO_MUCH: f64 = 0.1;

/// What all rounds of one measurement of building may take, in seconds: the more a build takes, the fewer rounds.
const PATIENCE: f64 = 2.0;

/// The row that the best peer is compared with.
const OURS: &str = "reptile, path given";

/// Bytes that RegexSet may use for its program, and for the automaton that it makes as it goes.
const REGEX_BYTES: usize = 4 << 30;

fn main() -> Any<()> {
    let svg = std::env::args().nth(1);

    // Panics are counted, not shown.
    std::panic::set_hook(Box::new(|_| {}));
    #[cfg(feature = "hyperscan")]
    println!("Hyperscan says that it is {}.\n", hyperscan::library_version());
    #[cfg(not(feature = "hyperscan"))]
    println!("Built without the feature `hyperscan`: Hyperscan is not measured.\n");
    println!("## Repeated decisions and building, on generated files\n");
    files(&Case::all_generated())?;
    let Some(shared) = shared() else {
        println!("The folder of real inputs is absent: nothing else is measured.");
        return Ok(());
    };
    let real = real_files(&shared)?;
    println!("## Repeated decisions and building, on real files\n");
    let figures = files(&Case::all_real(&shared, &real)?)?;
    if let Some(svg) = svg {
        std::fs::write(&svg, plot(&figures))?;
    }
    println!("## One shot: read a file and decide `https://host/` for Googlebot, {} real files\n", real.len());
    one_shot(&real);
    Ok(())
}

/// For each implementation, in order, a figure for each file; `None` where it refuses the file.
#[derive(Default)]
struct Figures {
    columns: Vec<String>,
    rows: Vec<(&'static str, Vec<Option<f64>>)>,
}

impl Figures {
    fn add(&mut self, name: &'static str, figure: Option<f64>) {
        match self.rows.iter_mut().find(|(row, _)| *row == name) {
            Some((_, figures)) => figures.push(figure),
            None => self.rows.push((name, vec![figure])),
        }
    }

    fn print(&self, unit: &str) {
        println!("| {unit} | {} |\n|---|{}", self.columns.join(" | "), "---|".repeat(self.columns.len()));
        for (name, figures) in &self.rows {
            let texts: Vec<String> = figures.iter().map(|&figure| text_of(figure)).collect();
            println!("| {name} | {} |", texts.join(" | "));
        }
        println!();
    }

    /// Prints, for each file, how many times as long as Reptile the fastest of the others takes.
    fn print_best_peers(&self) {
        let Some((_, ours)) = self.rows.iter().find(|(name, _)| *name == OURS) else { return };
        println!("| the best peer | ns per URL | times Reptile's | which |\n|---|---|---|---|");
        for (column, (file, ours)) in self.columns.iter().zip(ours).enumerate() {
            let peers = self.rows.iter().filter(|(name, _)| !name.starts_with("reptile"));
            let figures = peers.filter_map(|(name, figures)| Some(((*figures.get(column)?)?, name)));
            if let (Some(ours), Some((best, name))) = (*ours, figures.min_by(|(a, _), (b, _)| a.total_cmp(b))) {
                println!("| {file} | {} | {:.2} | {name} |", text_of(Some(best)), best / ours);
            }
        }
        println!();
    }
}

/// Three digits, and no more than are true.
fn text_of(figure: Option<f64>) -> String {
    match figure {
        None => "refuses".to_owned(),
        Some(figure) if figure < 10.0 => format!("{figure:.2}"),
        Some(figure) if figure < 100.0 => format!("{figure:.1}"),
        Some(figure) => format!("{figure:.0}"),
    }
}

/// Takes a number of URLs, decides so many and returns how many it disallows.
type Decide<'c> = Box<dyn FnMut(usize) -> usize + 'c>;

/// Builds, and returns something that depends on what was built.
type Build<'c> = Box<dyn FnMut() -> usize + 'c>;

/// Measures all files, prints the tables of decisions and of building, and returns that of decisions.
fn files(cases: &[Case]) -> Any<Figures> {
    let columns: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
    let mut decisions = Figures { columns: columns.clone(), ..Figures::default() };
    let mut builds = Figures { columns, ..Figures::default() };
    let mut notes = String::new();
    for case in cases {
        measure_case(case, &mut decisions, &mut builds, &mut notes)?;
    }
    decisions.print("ns per URL");
    decisions.print_best_peers();
    let none = if notes.is_empty() { " none" } else { "" };
    println!("Files that are refused, and numbers of disallowed URLs that are not the oracle's:{none}\n\n{notes}");
    builds.print("build, µs");
    Ok(decisions)
}

/// What a peer made of a file; if it refuses, the reason is noted.
fn unless_refused<T, E: Display>(made: Result<T, E>, name: &str, case: &Case, notes: &mut String) -> Option<T> {
    made.inspect_err(|reason| {
        let _ = writeln!(notes, "- {name}, {}: refused: {reason}", case.name);
    })
    .ok()
}

fn measure_case(case: &Case, decisions: &mut Figures, builds: &mut Figures, notes: &mut String) -> Any<()> {
    let prepared = PreparedCase::checked(case)?;
    let ruleset = prepared.ruleset()?;
    let host = host_of(case)?;
    let bytes = builder_of([(host, &case.body[..])])?.finish(Strategy::default())?.to_bytes();
    let set = Set::from_bytes(bytes)?;
    let agent = set.agent(AGENT)?;
    let urls: Vec<&str> = case.urls.iter().map(|url| std::str::from_utf8(url)).collect::<Result<_, _>>()?;
    let paths: Vec<&str> = prepared.paths.iter().map(|path| std::str::from_utf8(path)).collect::<Result<_, _>>()?;
    let (urls, paths) = (&urls[..], &paths[..]);
    let body = &case.body[..];
    let text = String::from_utf8_lossy(body);

    let fast = unless_refused(RobotsTxt::parse_bytes(body), "fast-robots", case, notes);
    let fast_matcher = fast.as_ref().map(RobotsTxt::matcher);
    let texting = unless_refused(Robot::new(AGENT_TEXT, body), "texting_robots", case, notes);
    let robotxt = Robots::parse(body, AGENT_TEXT);
    let expressions = expressions(&prepared.list);
    let regex_set = regex_set(&expressions)?;
    #[cfg(feature = "hyperscan")]
    let hyperscan = unless_refused(HyperscanRules::new(&expressions), "Hyperscan", case, notes);

    #[cfg_attr(not(feature = "hyperscan"), expect(unused_mut, reason = "there is nothing to add"))]
    let mut contenders: Vec<(&'static str, Option<Decide<'_>>)> = vec![
        (OURS, Some(over(&prepared.paths, |path| disallows(ruleset.verdict(path))))),
        ("reptile, whole URL, set of one file", Some(over(&case.urls, |url| disallows(set.decide(&agent, url))))),
        (
            "RegexSet, path given",
            Some(over(&prepared.paths, |path| best_disallows(&expressions, regex_set.matches(path).iter().next()))),
        ),
        (
            "fast-robots, matcher, path given",
            fast_matcher.as_ref().map(|peer| over(paths, |path| !peer.is_allowed(AGENT_TEXT, path))),
        ),
        (
            "fast-robots, parsed, path given",
            fast.as_ref().map(|peer| over(paths, |path| !peer.is_allowed(AGENT_TEXT, path))),
        ),
        ("robotxt, path given", Some(over(paths, |path| !robotxt.is_allowed(path)))),
        ("texting_robots, path given", texting.as_ref().map(|peer| over(paths, |path| !peer.allowed(path)))),
        ("robotstxt, reads the file for each URL", Some(over(urls, |url| !robotstxt_allows(&text, url)))),
    ];
    #[cfg(feature = "hyperscan")]
    contenders.push((
        "Hyperscan, path given",
        hyperscan
            .as_ref()
            .map(|peer| over(&prepared.paths, |path| best_disallows(&expressions, peer.first(path).ok().flatten()))),
    ));
    measure_decisions(case, contenders, decisions, notes);

    let mut arena = Bump::new();
    #[cfg_attr(not(feature = "hyperscan"), expect(unused_mut, reason = "there is nothing to add"))]
    let mut contenders: Vec<(&'static str, Option<Build<'_>>)> = vec![
        (
            "reptile, record of the file and automaton of one group",
            Some(Box::new(move || {
                arena.reset();
                build(body, &arena).map_or(0, |automaton| automaton.len())
            })),
        ),
        ("RegexSet, from the expressions", Some(Box::new(|| self::regex_set(&expressions).map_or(0, |set| set.len())))),
        (
            "fast-robots, parse and matcher",
            fast.as_ref().map(|_| -> Build<'_> {
                Box::new(|| {
                    RobotsTxt::parse_bytes(body).map_or(0, |peer| {
                        black_box(peer.matcher());
                        1
                    })
                })
            }),
        ),
        (
            "fast-robots, parse",
            fast.as_ref().map(|_| -> Build<'_> {
                Box::new(|| RobotsTxt::parse_bytes(body).map_or(0, |peer| peer.groups.len()))
            }),
        ),
        ("robotxt", Some(Box::new(|| Robots::parse(body, AGENT_TEXT).rules().len()))),
        (
            "texting_robots",
            texting.as_ref().map(|_| -> Build<'_> {
                Box::new(|| {
                    Robot::new(AGENT_TEXT, body).map_or(0, |peer| {
                        black_box(peer);
                        1
                    })
                })
            }),
        ),
    ];
    #[cfg(feature = "hyperscan")]
    contenders.push((
        "Hyperscan, from the expressions",
        hyperscan.as_ref().map(|_| -> Build<'_> {
            Box::new(|| {
                HyperscanRules::new(&expressions).map_or(0, |peer| {
                    black_box(peer);
                    1
                })
            })
        }),
    ));
    measure_builds(contenders, builds);
    Ok(())
}

fn measure_decisions(
    case: &Case,
    contenders: Vec<(&'static str, Option<Decide<'_>>)>,
    decisions: &mut Figures,
    notes: &mut String,
) {
    let mut running = Vec::new();
    for (name, decide) in contenders {
        let Some(mut decide) = decide else {
            decisions.add(name, None);
            continue;
        };
        // All URLs once: the answers, and how long it takes about. A panic shows as no answer.
        let start = Instant::now();
        let found = catch_unwind(AssertUnwindSafe(|| decide(case.urls.len())));
        let all = start.elapsed().as_secs_f64();
        match found {
            Ok(found) if found == case.disallowed => {}
            Ok(found) => {
                let _ = writeln!(notes, "- {name}, {}: {found} instead of {}", case.name, case.disallowed);
            }
            Err(_) => {
                let _ = writeln!(notes, "- {name}, {}: panics", case.name);
                decisions.add(name, None);
                continue;
            }
        }
        let share = (TOO_MUCH / all).clamp(0.01, 1.0);
        let urls = (case.urls.len() as f64 * share) as usize;
        let repeat = (ENOUGH / (all * share)).max(1.0) as usize;
        running.push((name, decide, urls, repeat, Vec::new()));
    }
    for _ in 0..ROUNDS {
        for (_, decide, urls, repeat, times) in &mut running {
            let start = Instant::now();
            for _ in 0..*repeat {
                black_box(decide(*urls));
            }
            times.push(start.elapsed().as_secs_f64() * 1e9 / (*urls * *repeat) as f64);
        }
    }
    for (name, _, _, _, times) in running {
        decisions.add(name, Some(median(times)));
    }
}

fn measure_builds(contenders: Vec<(&'static str, Option<Build<'_>>)>, builds: &mut Figures) {
    let mut running = Vec::new();
    for (name, build) in contenders {
        let Some(mut build) = build else {
            builds.add(name, None);
            continue;
        };
        let start = Instant::now();
        black_box(build());
        let first = start.elapsed().as_secs_f64();
        let repeat = (ENOUGH / first).clamp(1.0, 1000.0) as usize;
        let rounds = (PATIENCE / first) as usize;
        // Where there is no patience for a round, the first build is the figure.
        let times = if rounds == 0 { vec![first * 1e6] } else { Vec::new() };
        running.push((name, build, repeat, rounds, times));
    }
    for round in 0..ROUNDS {
        for (_, build, repeat, _, times) in running.iter_mut().filter(|(_, _, _, rounds, _)| round < *rounds) {
            let start = Instant::now();
            for _ in 0..*repeat {
                black_box(build());
            }
            times.push(start.elapsed().as_secs_f64() * 1e6 / *repeat as f64);
        }
    }
    for (name, _, _, _, times) in running {
        builds.add(name, Some(median(times)));
    }
}

/// The same loop for all: over the first inputs, counting those that are disallowed.
fn over<'c, S>(inputs: &'c [S], mut disallows: impl FnMut(&S) -> bool + 'c) -> Decide<'c> {
    Box::new(move |count| inputs.iter().take(count).filter(|&input| disallows(black_box(input))).count())
}

fn disallows<E>(verdict: Result<Verdict, E>) -> bool {
    matches!(verdict, Ok(Verdict::Disallow))
}

/// The host of a case's URLs.
fn host_of(case: &Case) -> Any<&str> {
    let url = case.urls.first().ok_or("no URLs")?;
    let split = reptile_engine::url::split(url)?;
    Ok(std::str::from_utf8(split.origin.host)?)
}

/// The record of a file and the automaton of the agent's rules in it.
fn build(body: &[u8], arena: &Bump) -> Option<Vec<u8>> {
    let made = record(body, &GOOGLE_LIB, arena).ok()?;
    match list_for(&made, AGENT) {
        Some(list) => compile(&made.groups.get(list)?.0, Strategy::Factored, arena).ok(),
        None => Some(Vec::new()),
    }
}

fn robotstxt_allows(text: &str, url: &str) -> bool {
    DefaultMatcher::default().one_agent_allowed_by_robots(text, AGENT_TEXT, url)
}

/// A regular expression for each rule, and its kind, the rule that decides before those that it beats. What others
/// would have to do, too: reading and ordering the rules is Reptile's work and not in RegexSet's times.
fn expressions(list: &RuleList) -> Vec<(String, RuleKind)> {
    let mut rules: Vec<_> = list.iter().filter(|rule| !rule.is_empty).collect();
    rules.sort_by_key(|rule| rule.code);
    let expression = |matcher: &[u8], anchored: bool| {
        let mut text = String::from(r"\A");
        for &byte in matcher {
            match byte {
                b'*' => text.push_str(".*"),
                b'/' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => text.push(char::from(byte)),
                _ => {
                    let _ = write!(text, r"\x{byte:02x}");
                }
            }
        }
        text + if anchored { r"\z" } else { "" }
    };
    rules.iter().map(|rule| (expression(rule.matcher, rule.anchored), kind_of(rule.code))).collect()
}

fn regex_set(expressions: &[(String, RuleKind)]) -> Result<RegexSet, regex::Error> {
    let mut builder = RegexSetBuilder::new(expressions.iter().map(|(text, _)| text));
    builder.unicode(false).dot_matches_new_line(true).size_limit(REGEX_BYTES).dfa_size_limit(REGEX_BYTES).build()
}

/// Whether the first of the expressions that match, if any does, is a disallow.
fn best_disallows(expressions: &[(String, RuleKind)], best: Option<usize>) -> bool {
    best.and_then(|best| expressions.get(best)).is_some_and(|&(_, kind)| kind == RuleKind::Disallow)
}

/// Reads a file and decides a URL; `None` if it refuses the file.
type OneShot = fn(&[u8], &str, &mut Bump) -> Option<bool>;

const ONE_SHOTS: [(&str, OneShot); 6] = [
    ("reptile", |body, url, _| {
        static AGENT_NAMES: LazyLock<Resolved> = LazyLock::new(|| of_name(AGENT, &GOOGLE_LIB));
        Some(decide_once(body, &GOOGLE_LIB, &AGENT_NAMES, url.as_bytes()).allowed)
    }),
    ("reptile: record, automaton, walk", |body, _, arena| {
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

fn one_shot(files: &[HostFile]) {
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

const COLOURS: [&str; 9] =
    ["#c00000", "#e08000", "#205090", "#208040", "#70b070", "#7030a0", "#909090", "#404040", "#00a0a0"];

/// Draws a line for each implementation over the files, with a logarithmic scale.
fn plot(figures: &Figures) -> String {
    let (left, top, width, height) = (70.0, 50.0, 520.0, 400.0);
    let highest = 7.0;
    let x = |column: usize| left + width * (column as f64 + 0.5) / figures.columns.len() as f64;
    let y = |figure: f64| top + height * (1.0 - figure.log10().clamp(0.0, highest) / highest);
    let mut svg = String::from(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="920" height="500" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="70" y="28" font-size="16">Time of one decision, ns (logarithmic), five real robots.txt files</text>
"##,
    );
    for power in 0..=highest as i32 {
        let figure = 10_f64.powi(power);
        let _ = writeln!(
            svg,
            r##"<path d="M{left} {0:.1}h{width}" stroke="#dddddd"/><text x="62" y="{1:.1}" text-anchor="end">{figure}</text>"##,
            y(figure),
            y(figure) + 4.0
        );
    }
    for (column, name) in figures.columns.iter().enumerate() {
        let _ = writeln!(svg, r#"<text x="{:.1}" y="475" text-anchor="middle">{name}</text>"#, x(column));
    }
    for (row, (name, values)) in figures.rows.iter().enumerate() {
        let colour = COLOURS[row % COLOURS.len()];
        let points: Vec<(f64, f64)> =
            values.iter().enumerate().filter_map(|(column, figure)| Some((x(column), y((*figure)?)))).collect();
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ =
            writeln!(svg, r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"#, line.join(" "));
        for (x, y) in points {
            let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{colour}"/>"#);
        }
        let at = 70 + row * 24;
        let _ = writeln!(
            svg,
            r#"<rect x="610" y="{}" width="12" height="12" fill="{colour}"/><text x="630" y="{at}">{name}</text>"#,
            at - 11
        );
    }
    svg + "</svg>\n"
}
