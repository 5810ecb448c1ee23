//! A quick look: compiling the whole real corpus on one thread, the size of the set, and walks of the five real
//! benchmark files. Not a record; for that see `METHODOLOGY.md`.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use reptile_bench::{Case, PreparedCase, builder_of, median, real_files, shared};
use reptile_compiler::automaton::Strategy;
use reptile_engine::set::Set;
use reptile_engine::verdict::Verdict;

fn main() -> Result<(), Box<dyn Error>> {
    let Some(shared) = shared() else {
        println!("skipped: the folder of real inputs is absent");
        return Ok(());
    };
    let files = real_files(&shared)?;
    println!("{} files, {} bytes", files.len(), files.iter().map(|(_, body)| body.len()).sum::<usize>());
    let (mut reads, mut wholes, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..5 {
        let start = Instant::now();
        let builder = builder_of(files.iter().map(|(host, body)| (host.as_str(), &body[..])))?;
        reads.push(start.elapsed().as_secs_f64() * 1e3);
        bytes = builder.finish(Strategy::default())?.to_bytes();
        wholes.push(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("read {:.1} ms, all {:.1} ms (medians of 5), set {} bytes", median(reads), median(wholes), bytes.len());
    let set = Set::from_bytes(bytes)?;
    set.verify()?;
    for (name, size) in set.section_sizes() {
        println!("  {name:10} {size:>9}");
    }
    println!("{:5} {:>7} {:>9} {:>10} {:>10}", "file", "rules", "bytes", "verdict ns", "matches ns");
    for case in Case::all_real(&shared, &files)? {
        let prepared = PreparedCase::checked(&case)?;
        let ruleset = prepared.ruleset()?;
        let (mut verdicts, mut matches) = (Vec::new(), Vec::new());
        for _ in 0..300 {
            let start = Instant::now();
            for path in &prepared.paths {
                black_box(ruleset.verdict(black_box(path)).unwrap_or(Verdict::Invalid));
            }
            verdicts.push(start.elapsed().as_secs_f64() * 1e9 / prepared.paths.len() as f64);
            let start = Instant::now();
            for path in &prepared.paths {
                let _ = black_box(ruleset.matches(black_box(path)));
            }
            matches.push(start.elapsed().as_secs_f64() * 1e9 / prepared.paths.len() as f64);
        }
        println!(
            "{:5} {:>7} {:>9} {:>10.1} {:>10.1}",
            case.name,
            ruleset.rule_count(),
            prepared.automaton.len(),
            median(verdicts),
            median(matches)
        );
    }
    Ok(())
}
