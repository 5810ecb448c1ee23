//! Times the compiler: from robots.txt bytes to a `Prepared`, and from a rule list to an automaton; and `decide_once`,
//! which answers one question without either. Each group checks its answers before it measures.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark stops at the first error")]

use std::hint::black_box;
use std::time::Duration;

use bumpalo::Bump;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use reptile_bench::{AGENT, Case, PreparedCase};
use reptile_compiler::automaton::{Strategy, compile};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::once::decide_once;
use reptile_compiler::set::prepare;
use reptile_engine::verdict::Verdict;

fn stages(criterion: &mut Criterion) {
    for case in Case::all().unwrap() {
        let prepared = PreparedCase::checked(&case).unwrap();
        let mut arena = Bump::new();
        let mut group = criterion.benchmark_group("prepare");
        group.throughput(Throughput::Bytes(case.body.len() as u64));
        group.bench_function(case.name.as_str(), |bencher| {
            bencher.iter(|| {
                arena.reset();
                prepare(black_box(&case.body), &GOOGLE_LIB, &arena).unwrap()
            });
        });
        group.finish();
        let agent = of_name(AGENT, &GOOGLE_LIB);
        let allowed = |url: &[u8]| decide_once(&case.body, &GOOGLE_LIB, &agent, url).unwrap().allowed;
        // On the largest file a thousand calls take seconds, so only the first 50 answers are compared.
        let ruleset = prepared.ruleset().unwrap();
        for (url, path) in case.urls.iter().zip(&prepared.paths).take(50) {
            assert_eq!(allowed(url), ruleset.verdict(path).unwrap() != Verdict::Disallow);
        }
        let mut group = criterion.benchmark_group("decide_once");
        group.throughput(Throughput::Bytes(case.body.len() as u64));
        group.bench_function(case.name.as_str(), |bencher| bencher.iter(|| allowed(black_box(&case.urls[0]))));
        group.finish();
        let mut group = criterion.benchmark_group("compile");
        group.throughput(Throughput::Bytes(prepared.list.byte_len() as u64));
        // Use a new arena, so that its size does not depend on earlier benchmarks.
        let mut arena = Bump::new();
        group.bench_function(case.name.as_str(), |bencher| {
            bencher.iter(|| {
                arena.reset();
                compile(black_box(&prepared.list), Strategy::Factored, &arena).unwrap().len()
            });
        });
    }
}

fn settings() -> Criterion {
    let criterion = Criterion::default().sample_size(30);
    criterion.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2))
}

criterion_group! { name = benches; config = settings(); targets = stages }
criterion_main!(benches);
