//! Times the whole of compiling the real corpus on one thread, and deciding the five benchmark files.
//!
//! A quick look, not a record: the criterion benchmarks are beside it.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use bumpalo::Bump;
use reptile_bench::{W2, lines, real_files, shared};
use reptile_compiler::automaton::{Strategy, compile};
use reptile_compiler::builder::{OriginKey, SetBuilder, record};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_engine::automaton::Ruleset;
use reptile_engine::set::Set;
use reptile_engine::url::{Scheme, path_of};
use reptile_engine::verdict::Verdict;

fn main() -> Result<(), Box<dyn Error>> {
    let Some(shared) = shared() else {
        println!("skipped: the folder of real inputs is absent");
        return Ok(());
    };
    let files = real_files(&shared)?;
    let text: usize = files.iter().map(|(_, body)| body.len()).sum();
    println!("{} files, {text} bytes", files.len());
    for round in 0..3 {
        let start = Instant::now();
        let mut builder = SetBuilder::new(&GOOGLE_LIB);
        let mut arena = Bump::new();
        for (host, body) in &files {
            arena.reset();
            let origin =
                |scheme: Scheme| OriginKey { host: host.as_bytes().into(), scheme, port: scheme.default_port() };
            builder.add([origin(Scheme::Http), origin(Scheme::Https)], record(body, &GOOGLE_LIB, &arena)?);
        }
        let parsed = start.elapsed();
        let mut slowest = (0.0, 0);
        let mut automata_time = 0.0;
        let set = builder.finish_with(|lists| {
            let mut arena = Bump::new();
            let mut out = Vec::new();
            let start = Instant::now();
            for list in lists {
                arena.reset();
                let one = Instant::now();
                out.push(compile(list, Strategy::Factored, &arena)?);
                let took = one.elapsed().as_secs_f64();
                if took > slowest.0 {
                    slowest = (took, list.byte_len());
                }
            }
            automata_time = start.elapsed().as_secs_f64();
            Ok(out)
        })?;
        let bytes = set.to_bytes();
        println!(
            "round {round}: read {:.1} ms, automata {:.1} ms (slowest {:.2} ms, {} bytes of rules), all {:.1} ms, set {} bytes",
            parsed.as_secs_f64() * 1e3,
            automata_time * 1e3,
            slowest.0 * 1e3,
            slowest.1,
            start.elapsed().as_secs_f64() * 1e3,
            bytes.len()
        );
        if round == 2 {
            let set = Set::from_bytes(bytes)?;
            set.verify()?;
            for (name, size) in set.section_sizes() {
                println!("  {name:10} {size:>9}");
            }
            let mut shapes = std::collections::BTreeMap::<String, (usize, usize)>::new();
            for ruleset in 0..set.rulesets().len() {
                let ruleset = Ruleset::new(set.rulesets().get(ruleset)?).map_err(|_| "corrupt")?;
                let shape = ruleset.shape();
                let name = match (shape.stars, shape.listed) {
                    (0, false) => "head only",
                    (_, false) => "with stars",
                    (_, true) => "with listed patterns",
                };
                let entry = shapes.entry(name.to_owned()).or_default();
                entry.0 += 1;
                entry.1 += ruleset.byte_len();
            }
            println!("  {shapes:?}");
        }
    }
    println!("{:5} {:>7} {:>9} {:>9} {:>9} {:>9} disallowed", "file", "rules", "bytes", "build us", "ns/URL", "all ns");
    for (name, host) in W2 {
        let Some((_, body)) = files.iter().find(|(file, _)| file == host) else { continue };
        let urls = lines(&shared.join(format!("corpora/real/w2/{name}.urls")))?;
        let paths: Vec<Vec<u8>> = urls.iter().map(|url| path_of(url).to_vec()).collect();
        let mut arena = Bump::new();
        let made = record(body, &GOOGLE_LIB, &arena)?;
        let list = &made.groups[made.others.or(made.tokens.first().map(|token| token.1)).unwrap_or(0) as usize].0;
        let mut builds: Vec<f64> = Vec::new();
        let mut automaton = Vec::new();
        for _ in 0..200 {
            let start = Instant::now();
            arena.reset();
            automaton = compile(list, Strategy::Factored, &arena)?;
            builds.push(start.elapsed().as_secs_f64());
        }
        builds.sort_by(f64::total_cmp);
        let ruleset = Ruleset::new(&automaton).map_err(|_| "corrupt")?;
        let mut walks: Vec<f64> = Vec::new();
        let mut full: Vec<f64> = Vec::new();
        let mut disallowed = 0;
        for _ in 0..300 {
            let start = Instant::now();
            disallowed = 0;
            for path in &paths {
                let verdict = ruleset.verdict(black_box(path)).map_err(|_| "corrupt")?;
                disallowed += usize::from(verdict == Verdict::Disallow);
            }
            walks.push(start.elapsed().as_secs_f64() / paths.len() as f64);
            let start = Instant::now();
            for path in &paths {
                let _ = black_box(ruleset.matches(black_box(path)));
            }
            full.push(start.elapsed().as_secs_f64() / paths.len() as f64);
        }
        walks.sort_by(f64::total_cmp);
        full.sort_by(f64::total_cmp);
        println!(
            "{name:5} {:>7} {:>9} {:>9.1} {:>9.1} {:>9.1} {disallowed}",
            ruleset.rule_count(),
            automaton.len(),
            builds[100] * 1e6,
            walks[150] * 1e9,
            full[150] * 1e9
        );
    }
    Ok(())
}
