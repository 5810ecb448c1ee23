//! Measures verification speed for real files. Prints its results; run it with `--ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::io::Read;
use std::time::Instant;

use flate2::read::GzDecoder;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_engine::set::Set;

#[test]
#[ignore = "measures"]
fn measure_verification_of_real_files() {
    let Some(folder) = support::shared() else { return };
    let file = support::read(&folder.join("corpora/real/robots.tar.gz"));
    let mut archive = tar::Archive::new(GzDecoder::new(&file[..]));
    let mut bodies = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.header().entry_type().is_file() {
            let host = entry.path().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
            let mut body = Vec::new();
            entry.read_to_end(&mut body).unwrap();
            bodies.push((host, body));
        }
    }
    let files = bodies.iter().map(|(host, body)| (&**host, &**body));
    let set = Set::from_bytes(support::compile(files, &GOOGLE_LIB, Strategy::default())).unwrap();
    let sizes: Vec<(&str, usize)> = set.section_sizes().collect();
    let bytes: usize = sizes.iter().map(|(_, size)| size).sum();
    let best = |work: &dyn Fn()| {
        let rounds = (0..7).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        });
        rounds.fold(f64::INFINITY, f64::min)
    };
    let verify = best(&|| set.verify().unwrap());
    let checksums = best(&|| set.verify_checksums().unwrap());
    let automata = best(&|| {
        for number in 0..set.rulesets().len() {
            reptile_engine::automaton::Ruleset::stored(set.rulesets().get(number).unwrap()).unwrap().verify().unwrap();
        }
    });
    let automata_bytes = sizes.iter().find(|(name, _)| *name == "rulesets").unwrap().1;
    let tables = verify - checksums - automata;
    let speed = |bytes: usize, seconds: f64| bytes as f64 / seconds / 1e6;
    println!("sections: {sizes:?}");
    println!("verify: {bytes} bytes in {:.1} ms, {:.0} MB/s", verify * 1e3, speed(bytes, verify));
    println!("automata: {:.1} ms, {:.0} MB/s", automata * 1e3, speed(automata_bytes, automata));
    println!("tables: {:.1} ms, {:.0} MB/s", tables * 1e3, speed(bytes - automata_bytes, tables));
}
