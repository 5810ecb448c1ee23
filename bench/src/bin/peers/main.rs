//! Compares Reptile with other implementations: the same files, URLs and run, in interleaved rounds, with medians.
//!
//! `peers [--real] [--vectorscan=FOLDER] [SVG]` prints tables in Markdown, and draws the repeated decisions into the SVG
//! file. `--real` leaves the generated files out. `FOLDER` has the `libhs.so.5` of Vectorscan. `METHODOLOGY.md` says
//! what the figures mean, `BIAS.md` what to distrust.
#![deny(unsafe_code)]

mod expressions;
mod figures;
#[cfg(feature = "hyperscan")]
mod hyperscan;
mod one_shot;
#[cfg(feature = "hyperscan")]
mod other_library;
mod rounds;

use std::fmt::{Display, Write as _};
use std::hint::black_box;
use std::path::PathBuf;

use bumpalo::Bump;
use fast_robots::{ParseError, ParseOptions, RobotsTxt};
#[cfg(feature = "re2")]
use reptile_bench::re2::Re2Set;
use reptile_bench::{
    AGENT, Case, FRESH_LISTS, FRESH_URLS, PreparedCase, builder_of, disallowed_by_matches, fresh_paths, list_for,
    real_files, shared,
};
use reptile_compiler::automaton::{Strategy, compile};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::set::prepare;
use reptile_engine::set::Set;
use reptile_engine::verdict::Verdict;
use robotstxt::DefaultMatcher;
use robotxt::Robots;
use texting_robots::Robot;

use crate::expressions::{Expressions, LazyDfa, regex_set};
use crate::figures::{Figures, OURS, plot};
use crate::rounds::{Any, Build, Contender, Decide, measure_builds, measure_decisions, measure_fresh, over, over_lazy};

/// The crawler [`AGENT`] as text, as most peers take it.
const AGENT_TEXT: &str = "Googlebot";

/// The memory that RE2::Set may use, in bytes.
#[cfg(feature = "re2")]
const RE2_BYTES: i64 = 8 << 30;

/// The option that names the folder of Vectorscan.
#[cfg(feature = "hyperscan")]
const VECTORSCAN: &str = "--vectorscan=";

/// The options that the arguments set.
#[derive(Default)]
struct Options {
    /// The file to draw the plot into.
    svg: Option<String>,
    /// Whether to leave the generated files out.
    real_only: bool,
    /// The folder of Vectorscan, and the name and version that it reports.
    #[cfg_attr(not(feature = "hyperscan"), expect(dead_code, reason = "only this feature loads it"))]
    vectorscan: Option<(PathBuf, String)>,
}

fn main() -> Any<()> {
    let mut options = Options::default();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            #[cfg(feature = "hyperscan")]
            other_library::SERVE => return other_library::serve(),
            #[cfg(feature = "hyperscan")]
            other_library::SAY_LIBRARY => {
                println!("{}", hyperscan::library());
                return Ok(());
            }
            #[cfg(feature = "hyperscan")]
            option if option.starts_with(VECTORSCAN) => {
                let folder = PathBuf::from(option.trim_start_matches(VECTORSCAN));
                let name = other_library::vectorscan_in(&folder)?;
                options.vectorscan = Some((folder, name));
            }
            "--real" => options.real_only = true,
            option if option.starts_with('-') => {
                return Err(format!(
                    "{option}: expected --real, or --vectorscan=FOLDER in a build with the feature hyperscan"
                )
                .into());
            }
            _ => options.svg = Some(argument),
        }
    }

    // Panics of peers are counted; their messages would break the tables.
    std::panic::set_hook(Box::new(|_| {}));
    if !options.real_only {
        println!("## Generated files\n");
        files(&Case::all_generated(), &options, 0)?;
    }
    let Some(shared) = shared() else {
        println!("The folder of real inputs is absent: measured only the generated files.");
        return Ok(());
    };
    let real = real_files(&shared)?;
    println!("## Real files\n");
    let figures = files(&Case::all_real(&shared, &real)?, &options, FRESH_LISTS)?;
    if let Some(svg) = &options.svg {
        std::fs::write(svg, plot(&figures))?;
    }
    println!("## One shot: read a file and decide `https://host/` for Googlebot, {} real files\n", real.len());
    one_shot::one_shot(&real);
    Ok(())
}

/// The tables of several files, and the notes under them.
struct Tables {
    decisions: Figures,
    fresh: Figures,
    builds: Figures,
    notes: String,
}

/// Measures all peers on some files, with `fresh_lists` lists of fresh URLs, and prints the tables. Returns the table of
/// repeated decisions.
fn files(cases: &[Case], options: &Options, fresh_lists: u64) -> Any<Figures> {
    let columns: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
    let [decisions, fresh, builds] = [(); 3].map(|()| Figures::new(&columns));
    let mut tables = Tables { decisions, fresh, builds, notes: String::new() };
    for case in cases {
        measure_case(case, options, fresh_lists, &mut tables)?;
    }
    println!("### Repeated decisions\n");
    tables.decisions.print_with_ratios("ns per URL, warm");
    if fresh_lists > 0 {
        println!("### First pass over {FRESH_URLS} fresh URLs\n");
        tables.fresh.print_with_ratios("ns per URL, fresh");
    }
    println!("### Building\n");
    tables.builds.print("build, µs");
    let none = if tables.notes.is_empty() { " none" } else { "" };
    println!("Refused files, failures and wrong numbers of disallowed URLs:{none}\n\n{}", tables.notes);
    Ok(tables.decisions)
}

/// Returns what a peer built from a file; if the peer refuses the file, adds a note with its reason.
fn unless_refused<T, E: Display>(made: Result<T, E>, name: &str, case: &Case, notes: &mut String) -> Option<T> {
    made.inspect_err(|reason| {
        let _ = writeln!(notes, "- {name}, {}: refused: {reason}", case.name);
    })
    .ok()
}

#[cfg_attr(not(feature = "hyperscan"), expect(unused_variables, reason = "only this feature loads Vectorscan"))]
fn measure_case(case: &Case, options: &Options, fresh_lists: u64, tables: &mut Tables) -> Any<()> {
    let Tables { decisions, fresh, builds, notes } = tables;
    let prepared = PreparedCase::checked(case)?;
    let ruleset = prepared.ruleset()?;
    let host = host_of(case)?;
    let bytes = builder_of([(host, &case.body[..])])?.finish(Strategy::default())?.to_bytes();
    let set = Set::from_bytes(bytes)?;
    let agent = set.agent(AGENT)?;
    let body = &case.body[..];
    let text = String::from_utf8_lossy(body);

    let texts = |inputs: &[Vec<u8>]| -> Result<Vec<String>, _> {
        inputs.iter().map(|input| String::from_utf8(input.clone())).collect()
    };
    let urls = [texts(&case.urls)?];
    let mut paths = vec![texts(&prepared.paths)?];
    let mut right = Vec::new();
    for seed in 0..fresh_lists {
        let list = fresh_paths(ruleset, seed)?;
        right.push(disallowed_by_matches(ruleset, &list));
        paths.push(texts(&list)?);
    }
    let (urls, paths) = (&urls[..], &paths[..]);

    let fast = unless_refused(fast_robots(body), "fast-robots", case, notes);
    let fast_matcher = fast.as_ref().map(RobotsTxt::matcher);
    let texting = unless_refused(Robot::new(AGENT_TEXT, body), "texting_robots", case, notes);
    let robotxt = Robots::parse(body, AGENT_TEXT);
    let expressions = &Expressions::of(&prepared.list);
    let inputs = case.urls.len();

    // These contenders decide fresh URLs too.
    let mut contenders: Vec<Contender<Decide<'_>>> = vec![
        (OURS.to_owned(), Some(over(paths, |path| disallows(ruleset.verdict(path.as_bytes()))))),
        (
            "fast-robots, matcher, path given".to_owned(),
            fast_matcher.as_ref().map(|peer| over(paths, |path| !peer.is_allowed(AGENT_TEXT, path))),
        ),
        (
            "RegexSet, path given".to_owned(),
            Some(over_lazy(
                paths,
                || regex_set(expressions),
                |set, path| expressions.disallows(set.matches(path.as_bytes()).iter().next()),
            )?),
        ),
        (
            "regex-automata, first match, path given".to_owned(),
            Some(over_lazy(paths, || LazyDfa::new(expressions), |dfa, path| expressions.disallows(dfa.first(path)))?),
        ),
    ];
    #[cfg(feature = "re2")]
    contenders.push((
        "RE2::Set, path given".to_owned(),
        Some(over_lazy(
            paths,
            || re2_set(expressions),
            |set, path| expressions.disallows(set.first(path.as_bytes()).ok().flatten()),
        )?),
    ));
    // Hyperscan and Vectorscan build only once, because that takes seconds.
    #[cfg(feature = "hyperscan")]
    let built_once = {
        let linked = hyperscan::library();
        let mut built = Vec::new();
        let made = unless_refused(hyperscan::HyperscanRules::new(expressions), &linked, case, notes);
        built.push((linked.clone(), made.as_ref().map(|peer| peer.built)));
        let decide = made.map(|peer| over(paths, move |path| expressions.disallows(peer.first(path))));
        contenders.push((format!("{linked}, path given"), decide));
        if let Some((folder, name)) = &options.vectorscan {
            let made = other_library::OtherLibrary::new(folder, expressions, paths);
            let made = unless_refused(made, name, case, notes);
            built.push((name.clone(), made.as_ref().map(|peer| peer.built)));
            let decide = made.map(|mut peer| -> Decide<'_> { Box::new(move |task| peer.decide(task)) });
            contenders.push((format!("{name}, path given"), decide));
        }
        built
    };
    if !right.is_empty() {
        measure_fresh(&case.name, (inputs, FRESH_URLS), &right, &mut contenders, fresh, notes)?;
    }
    contenders.extend([
        (
            "reptile, whole URL, set of one file".to_owned(),
            Some(over(urls, |url| disallows(set.decide(&agent, url.as_bytes())))),
        ),
        (
            "fast-robots, parsed, path given".to_owned(),
            fast.as_ref().map(|peer| over(paths, |path| !peer.is_allowed(AGENT_TEXT, path))),
        ),
        ("robotxt, path given".to_owned(), Some(over(paths, |path| !robotxt.is_allowed(path)))),
        ("texting_robots, path given".to_owned(), texting.as_ref().map(|peer| over(paths, |path| !peer.allowed(path)))),
        ("robotstxt, reads the file for each URL".to_owned(), Some(over(urls, |url| !robotstxt_allows(&text, url)))),
    ]);
    measure_decisions(&case.name, (inputs, case.disallowed), &mut contenders, decisions, notes);

    let mut arena = Bump::new();
    let contenders: Vec<Contender<Build<'_>>> = vec![
        (
            "reptile, prepare the file and compile one group".to_owned(),
            Some(Box::new(move || {
                arena.reset();
                build(body, &arena).map_or(0, |automaton| automaton.len())
            })),
        ),
        (
            "RegexSet, from the expressions".to_owned(),
            Some(Box::new(|| regex_set(expressions).map_or(0, |set| set.len()))),
        ),
        (
            "regex-automata, from the expressions".to_owned(),
            Some(Box::new(|| usize::from(black_box(LazyDfa::new(expressions)).is_ok()))),
        ),
        #[cfg(feature = "re2")]
        (
            "RE2::Set, from the expressions".to_owned(),
            Some(Box::new(|| usize::from(black_box(re2_set(expressions)).is_ok()))),
        ),
        (
            "fast-robots, parse and matcher".to_owned(),
            fast.as_ref().map(|_| -> Build<'_> {
                Box::new(|| {
                    fast_robots(body).map_or(0, |peer| {
                        black_box(peer.matcher());
                        1
                    })
                })
            }),
        ),
        (
            "fast-robots, parse".to_owned(),
            fast.as_ref().map(|_| -> Build<'_> { Box::new(|| fast_robots(body).map_or(0, |peer| peer.groups.len())) }),
        ),
        ("robotxt".to_owned(), Some(Box::new(|| Robots::parse(body, AGENT_TEXT).rules().len()))),
        (
            "texting_robots".to_owned(),
            texting
                .as_ref()
                .map(|_| -> Build<'_> { Box::new(|| usize::from(black_box(Robot::new(AGENT_TEXT, body)).is_ok())) }),
        ),
    ];
    measure_builds(contenders, builds);
    #[cfg(feature = "hyperscan")]
    for (name, seconds) in built_once {
        builds.add(&format!("{name}, from the expressions, once"), seconds.map(|seconds| seconds * 1e6));
    }
    Ok(())
}

/// Parses a file with `fast-robots`, without its limit on the size of a file, by which it would refuse the largest.
fn fast_robots(body: &[u8]) -> Result<RobotsTxt<'_>, ParseError> {
    RobotsTxt::parse_bytes_with_options(body, ParseOptions { max_bytes: None })
}

/// Builds an RE2::Set of the expressions.
#[cfg(feature = "re2")]
fn re2_set(expressions: &Expressions) -> Any<Re2Set> {
    let texts: Vec<&str> = expressions.texts.iter().map(String::as_str).collect();
    Ok(Re2Set::new(&texts, RE2_BYTES)?)
}

/// Says whether a verdict is disallow; an error is not.
fn disallows<E>(verdict: Result<Verdict, E>) -> bool {
    matches!(verdict, Ok(Verdict::Disallow))
}

/// Returns the host of a case's URLs.
fn host_of(case: &Case) -> Any<&str> {
    let url = case.urls.first().ok_or_else(|| format!("{}: expected URLs, found none", case.name))?;
    let split = reptile_engine::url::split(url)?;
    Ok(std::str::from_utf8(split.origin.host)?)
}

/// Reads a file and compiles the rules for [`AGENT`] in it; empty if no single list of rules decides for it.
fn build(body: &[u8], arena: &Bump) -> Option<Vec<u8>> {
    let made = prepare(body, &GOOGLE_LIB, arena).ok()?;
    match list_for(&made, AGENT) {
        Some(list) => compile(&made.groups.get(list)?.0, Strategy::Factored, arena).ok(),
        None => Some(Vec::new()),
    }
}

/// Says whether `robotstxt` allows a URL; it reads the file each time.
fn robotstxt_allows(text: &str, url: &str) -> bool {
    DefaultMatcher::default().one_agent_allowed_by_robots(text, AGENT_TEXT, url)
}

#[cfg(test)]
#[path = "../../../tests/support/documents.rs"]
mod documents;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::assert_says;
    use crate::expressions::REGEX_BYTES;
    use crate::rounds::{MAX_BUILD_SECONDS, MIN_TURN_SECONDS, ROUNDS};

    #[test]
    fn the_document_describes_rounds_and_memory() {
        let document = include_str!("../../../METHODOLOGY.md");
        assert_says(document, &format!("there are {ROUNDS} rounds"));
        assert_says(document, &format!("takes at least {} ms", MIN_TURN_SECONDS * 1e3));
        assert_says(document, &format!("after about {MAX_BUILD_SECONDS} seconds"));
        assert_says(document, &format!("over bytes, {} GiB for its automaton", REGEX_BYTES >> 30));
        #[cfg(feature = "re2")]
        assert_says(document, &format!("anchored at the start, {} GiB", RE2_BYTES >> 30));
    }

    #[test]
    fn engines_find_the_first_matching_expression() {
        let texts = ["/a.*c", "/ab", r"/\xc3\xa9"].map(str::to_owned);
        let texts = Vec::from(texts);
        let expressions = Expressions { disallow: vec![true; texts.len()], texts };
        let set = regex_set(&expressions).unwrap();
        let mut dfa = LazyDfa::new(&expressions).unwrap();
        for (path, first) in [("/ab", Some(1)), ("/ab\ncd", Some(0)), ("x/ab", None), ("/é", Some(2)), ("", None)] {
            assert_eq!(set.matches(path.as_bytes()).iter().next(), first, "{path:?}");
            assert_eq!(dfa.first(path), first, "{path:?}");
        }
    }
}
