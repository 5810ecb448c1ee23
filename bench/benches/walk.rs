//! Times decisions: paths with one ruleset, and whole URLs with a set of many hosts.
//!
//! An iteration decides every URL of an input, so Criterion's throughput is the number of URLs per second. The answers
//! are checked before each measurement.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark stops at the first error")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use reptile_bench::{Case, Crawl, PreparedCase, shared};

fn rulesets(criterion: &mut Criterion) {
    for case in Case::all().unwrap() {
        let prepared = PreparedCase::checked(&case).unwrap();
        let ruleset = prepared.ruleset().unwrap();
        for (kind, full) in [("verdict", false), ("matches", true)] {
            let mut group = criterion.benchmark_group(kind);
            group.throughput(Throughput::Elements(prepared.paths.len() as u64));
            group.bench_function(case.name.as_str(), |bencher| {
                bencher.iter(|| {
                    for path in &prepared.paths {
                        if full {
                            black_box(ruleset.matches(black_box(path)).unwrap());
                        } else {
                            black_box(ruleset.verdict(black_box(path)).unwrap());
                        }
                    }
                });
            });
        }
    }
}

fn crawls(criterion: &mut Criterion) {
    let mut crawls = vec![Crawl::generated().unwrap()];
    crawls.extend(shared().map(|shared| Crawl::real(&shared).unwrap()));
    let mut group = criterion.benchmark_group("decide");
    for crawl in crawls {
        group.throughput(Throughput::Elements(crawl.urls.len() as u64));
        group.bench_function(crawl.name, |bencher| bencher.iter(|| black_box(crawl.decide_all().unwrap())));
    }
}

fn settings() -> Criterion {
    let criterion = Criterion::default().sample_size(30);
    criterion.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2))
}

criterion_group! { name = benches; config = settings(); targets = rulesets, crawls }
criterion_main!(benches);
