//! Matches all rules of a group with Hyperscan or Vectorscan, whichever library is loaded, in block mode.
//!
//! The library does not read robots.txt. It gets the rules as expressions, in the order of precedence.

use std::time::Instant;

use hyperscan::{BlockDatabase, Builder, Matching, Pattern, PatternFlags, Patterns, Scratch, version};

use crate::expressions::Expressions;
use crate::rounds::Any;

/// Returns the name and version of the library that this process has loaded. The library reports only a version, but the
/// last open version of Hyperscan is 5.4.2, and Vectorscan counts on from there.
pub fn library() -> String {
    let version = version();
    let is_hyperscan = (version.major, version.minor, version.patch) <= (5, 4, 2);
    format!("{} {version}", if is_hyperscan { "Hyperscan" } else { "Vectorscan" })
}

/// The compiled rules of a group, and the scratch memory for a scan.
pub struct HyperscanRules {
    database: BlockDatabase,
    scratch: Scratch,
    /// How long the library took to compile the expressions, in seconds.
    pub built: f64,
}

impl HyperscanRules {
    /// Compiles the expressions for this processor.
    ///
    /// # Errors
    /// Errors with the library's reason if it refuses an expression.
    pub fn new(expressions: &Expressions) -> Any<HyperscanRules> {
        // A rule with the pattern `*` matches the empty path too, which the library accepts only with `ALLOWEMPTY`.
        // `SINGLEMATCH` would save little: no expression ends in a wildcard, so that few match twice, and remembering
        // which have matched costs more.
        let flags = PatternFlags::DOTALL | PatternFlags::ALLOWEMPTY;
        let patterns = expressions.anchored().map(|text| Pattern::with_flags(text, flags));
        let patterns: Patterns = patterns.collect::<hyperscan::Result<_>>()?;
        let start = Instant::now();
        let database: BlockDatabase = patterns.build()?;
        let built = start.elapsed().as_secs_f64();
        let scratch = database.alloc_scratch()?;
        Ok(HyperscanRules { database, scratch, built })
    }

    /// Returns the index of the first expression that matches a path, or `None` if none does.
    #[inline]
    pub fn first(&self, path: &str) -> Option<usize> {
        let mut first = u32::MAX;
        // The library reports matches in the order of their ends, so the first expression may come last.
        let scanned = self.database.scan(path, &self.scratch, |id: u32, _: u64, _: u64, _: u32| {
            first = first.min(id);
            Matching::Continue
        });
        (scanned.is_ok() && first < u32::MAX).then_some(first as usize)
    }
}
