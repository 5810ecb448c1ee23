//! Counts the kernels' instructions on generated inputs with Callgrind. The counts are the same in every run, even on a
//! busy machine. `cargo run -p reptile-bench --bin instructions -- --check` compares them with `instructions.tsv`.
//!
//! Setup functions are not counted. They check the answers, and leak their results so that no destructor is counted
//! either.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark stops at the first error")]

use std::hint::black_box;

use bumpalo::Bump;
use iai_callgrind::{library_benchmark, library_benchmark_group, main};
use reptile_bench::generate::{RECIPES, Recipe};
use reptile_bench::{AGENT, Case, Crawl, PreparedCase, check_count};
use reptile_compiler::automaton::{Strategy, Workspace, compile};
use reptile_compiler::body::parse;
use reptile_compiler::capture::{Capture, Outcome, Profile};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::dialect::crawlers::{Resolved, of_name};
use reptile_compiler::once::decide_once;
use reptile_compiler::oracle::OracleAnswer;
use reptile_compiler::set::{OwnedOrigin, Prepared, compile_single, prepare, prepare_alone};
use reptile_engine::url::{Origin, Scheme, split};
use reptile_engine::verdict::Verdict;

fn recipe(name: &str) -> &'static Recipe {
    RECIPES.iter().find(|recipe| recipe.name == name).unwrap()
}

fn case(name: &str) -> &'static Case {
    Box::leak(Box::new(Case::generated(recipe(name))))
}

fn prepared(name: &str) -> &'static PreparedCase {
    Box::leak(Box::new(PreparedCase::checked(case(name)).unwrap()))
}

fn crawl() -> &'static Crawl {
    Box::leak(Box::new(Crawl::generated().unwrap()))
}

fn origins() -> (&'static Crawl, &'static [Origin<'static>]) {
    let crawl = crawl();
    (crawl, Vec::leak(crawl.urls.iter().take(1000).map(|url| split(url).unwrap().origin).collect()))
}

// Splits 1,000 URLs.
#[library_benchmark(setup = crawl)]
#[bench::thousand()]
fn split_url(crawl: &'static Crawl) -> usize {
    crawl.urls.iter().take(1000).filter(|url| split(black_box(url)).is_ok()).count()
}

// Looks up 1,000 origins. A tenth of them are missing from the set.
#[library_benchmark(setup = origins)]
#[bench::thousand()]
fn find_origin((crawl, origins): (&'static Crawl, &'static [Origin<'static>])) -> usize {
    origins.iter().filter(|origin| crawl.set.policy(black_box(origin)).unwrap().is_some()).count()
}

// Decides 20,000 URLs on 1,000 hosts, from bytes to verdict.
#[library_benchmark(setup = crawl)]
#[bench::whole()]
fn decide(crawl: &'static Crawl) -> usize {
    crawl.decide_all().unwrap()
}

// Decides the same URLs in batches, like `classify`.
#[library_benchmark(setup = crawl)]
#[bench::whole()]
fn decide_batch(crawl: &'static Crawl) -> usize {
    let mut verdicts = vec![Verdict::Invalid; crawl.urls.len()];
    let agents = std::slice::from_ref(&crawl.agent);
    crawl.set.decide_all(agents, crawl.urls.iter().copied(), &mut verdicts).unwrap();
    let disallowed = verdicts.iter().filter(|&&verdict| verdict == Verdict::Disallow).count();
    assert_eq!(disallowed, crawl.disallowed);
    disallowed
}

// Decides 1,000 paths with one ruleset.
#[library_benchmark(setup = prepared)]
#[bench::trie("plain")]
#[bench::wildcards("wildcards")]
#[bench::large("huge")]
fn verdict(prepared: &'static PreparedCase) -> usize {
    let ruleset = prepared.ruleset().unwrap();
    prepared.paths.iter().filter(|path| ruleset.verdict(black_box(path)).unwrap() == Verdict::Disallow).count()
}

// Finds the deciding rules for 1,000 paths.
#[library_benchmark(setup = prepared)]
#[bench::trie("plain")]
#[bench::wildcards("wildcards")]
#[bench::large("huge")]
fn matches(prepared: &'static PreparedCase) -> usize {
    let ruleset = prepared.ruleset().unwrap();
    prepared.paths.iter().filter(|path| ruleset.matches(black_box(path)).unwrap().decided_by.is_some()).count()
}

// Compiles a group's rules to an automaton.
#[library_benchmark(setup = prepared)]
#[bench::small("small")]
#[bench::wildcards("wildcards")]
#[bench::large("huge")]
fn compile_list(prepared: &'static PreparedCase) -> Vec<u8> {
    compile(black_box(&prepared.list), Strategy::Factored, Box::leak(Box::new(Bump::new()))).unwrap()
}

// Splits the file into lines, keys and groups.
#[library_benchmark(setup = case)]
#[bench::small("small")]
#[bench::large("huge")]
fn parse_body(case: &'static Case) -> usize {
    parse(black_box(&case.body), &GOOGLE_LIB, Box::leak(Box::new(Bump::new()))).groups.len()
}

// Same as `parse_body`, but also assigns groups to product tokens and orders the rules by precedence.
#[library_benchmark(setup = case)]
#[bench::small("small")]
#[bench::wildcards("wildcards")]
#[bench::large("huge")]
fn prepare_body(case: &'static Case) -> Prepared {
    prepare(black_box(&case.body), &GOOGLE_LIB, Box::leak(Box::new(Bump::new()))).unwrap()
}

fn compiled_alone(case: &Case, workspace: &mut Workspace) -> Vec<u8> {
    let origin = OwnedOrigin { host: b"any"[..].into(), scheme: Scheme::Http, port: 80 };
    let (capture, profile) = (Capture::default(), Profile::of_dialect(&GOOGLE_LIB));
    let prepared = prepare_alone(black_box(&case.body), &GOOGLE_LIB, &Bump::new()).unwrap();
    let result = (Outcome::Use, Some(prepared));
    compile_single(&origin, &capture, result, &GOOGLE_LIB, profile, workspace).unwrap().to_bytes()
}

fn single(name: &str) -> (&'static Case, &'static mut Workspace) {
    let (case, mut workspace) = (case(name), Workspace::default());
    // The table of known crawlers is written once per process.
    compiled_alone(case, &mut workspace);
    (case, Box::leak(Box::new(workspace)))
}

// Compiles one file to a set, like `Robots`.
#[library_benchmark(setup = single)]
#[bench::small("small")]
#[bench::wildcards("wildcards")]
fn compile_file((case, workspace): (&'static Case, &'static mut Workspace)) -> Vec<u8> {
    compiled_alone(case, workspace)
}

/// A file, a crawler, and a URL on the file's host.
type Question = (&'static Case, &'static Resolved, &'static [u8]);

fn question(name: &str) -> Question {
    let (case, agent) = (case(name), of_name(AGENT, &GOOGLE_LIB));
    let allowed = |url: &Vec<u8>| decide_once(&case.body, &GOOGLE_LIB, &agent, url).unwrap().allowed;
    let disallowed = case.urls.iter().filter(|url| !allowed(url)).take(case.disallowed + 1).count();
    check_count(name, disallowed, case.disallowed).unwrap();
    (case, Box::leak(Box::new(agent)), &case.urls[0])
}

// Decides one URL from the file's bytes.
#[library_benchmark(setup = question)]
#[bench::small("small")]
#[bench::wildcards("wildcards")]
fn decide_one(question: Question) -> OracleAnswer {
    let (case, agent, url) = question;
    decide_once(black_box(&case.body), &GOOGLE_LIB, agent, black_box(url)).unwrap()
}

library_benchmark_group!(name = engine; benchmarks = split_url, find_origin, decide, decide_batch, verdict, matches);
library_benchmark_group!(name = compiler; benchmarks = parse_body, prepare_body, compile_list, compile_file, decide_one);
main!(library_benchmark_groups = engine, compiler);
