//! An engine: Hyperscan, or its API-compatible successor Vectorscan, in block mode. Both libraries have the same name,
//! and the engine reports which one the process has loaded.

use hyperscan::{BlockDatabase, Builder, Matching, Pattern, PatternFlags, Patterns, Scratch, version};
use reptile_judge_engines::matcher::{Expressions, Matcher, MatcherEngine};
use reptile_judge_engines::serve;

struct Rules {
    database: BlockDatabase,
    scratch: Scratch,
}

impl Matcher for Rules {
    fn new(expressions: &Expressions) -> Result<Rules, String> {
        let made = || {
            // A rule with the pattern `*` also matches the empty path, which the library only accepts with
            // `ALLOWEMPTY`. `SINGLEMATCH` would save little: no expression ends in a wildcard, so few match twice, and
            // tracking matches costs more.
            let flags = PatternFlags::DOTALL | PatternFlags::ALLOWEMPTY;
            let patterns = expressions.anchored().map(|text| Pattern::with_flags(text, flags));
            let patterns: Patterns = patterns.collect::<hyperscan::Result<_>>()?;
            let database: BlockDatabase = patterns.build()?;
            let scratch = database.alloc_scratch()?;
            Ok(Rules { database, scratch })
        };
        made().map_err(|error: hyperscan::Error| error.to_string())
    }

    fn first(&mut self, path: &[u8]) -> Result<Option<usize>, String> {
        let mut first = u32::MAX;
        // The library reports matches by their end position, so the first expression may come last.
        let scanned = self.database.scan(path, &self.scratch, |id: u32, _: u64, _: u64, _: u32| {
            first = first.min(id);
            Matching::Continue
        });
        scanned.map_err(|error| error.to_string())?;
        Ok((first < u32::MAX).then_some(first as usize))
    }
}

fn main() -> std::io::Result<()> {
    // The last open version of Hyperscan is 5.4.2; Vectorscan continues from there.
    let version = version();
    let is_hyperscan = (version.major, version.minor, version.patch) <= (5, 4, 2);
    let name = if is_hyperscan { "Hyperscan" } else { "Vectorscan" };
    serve(MatcherEngine::<Rules>::new(name, version.to_string()))
}
