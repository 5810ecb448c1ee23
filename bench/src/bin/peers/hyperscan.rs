//! Hyperscan or Vectorscan as a matcher of all rules of a group: the library that the system has, in block mode.
//!
//! It does not read robots.txt. The rules come as expressions, the one that decides before those that it beats.

use std::time::Instant;

use hyperscan::{BlockDatabase, Builder, Matching, Pattern, PatternFlags, Patterns, Scratch, version};

use crate::expressions::Expressions;
use crate::rounds::Any;

/// Which library this process has loaded, by its own account. It says a version only, but the last open Hyperscan was
/// 5.4.2, and what counts on from there is Vectorscan.
pub fn library() -> String {
    let version = version();
    let last = (version.major, version.minor, version.patch) <= (5, 4, 2);
    format!("{} {version}", if last { "Hyperscan" } else { "Vectorscan" })
}

/// All rules of a group, and the memory that a scan works in.
pub struct HyperscanRules {
    database: BlockDatabase,
    scratch: Scratch,
    /// How long the library took to compile the expressions, in seconds.
    pub built: f64,
}

impl HyperscanRules {
    /// Compiles the expressions for the processor at hand.
    ///
    /// # Errors
    /// When the library refuses them; it says why.
    pub fn new(expressions: &Expressions) -> Any<HyperscanRules> {
        // A rule with the pattern `*` matches the empty path, too, which must be allowed for. `SINGLEMATCH` would save
        // little: no expression ends open, so that few are reported twice, and to remember them costs more.
        let flags = PatternFlags::DOTALL | PatternFlags::ALLOWEMPTY;
        let patterns = expressions.anchored().map(|text| Pattern::with_flags(text, flags));
        let patterns: Patterns = patterns.collect::<hyperscan::Result<_>>()?;
        let start = Instant::now();
        let database: BlockDatabase = patterns.build()?;
        let built = start.elapsed().as_secs_f64();
        let scratch = database.alloc_scratch()?;
        Ok(HyperscanRules { database, scratch, built })
    }

    /// The first of the expressions that match a path.
    #[inline]
    pub fn first(&self, path: &str) -> Option<usize> {
        let mut first = u32::MAX;
        // The library reports in the order in which the matches end, so that all of them are to be heard.
        let scanned = self.database.scan(path, &self.scratch, |id: u32, _: u64, _: u64, _: u32| {
            first = first.min(id);
            Matching::Continue
        });
        (scanned.is_ok() && first < u32::MAX).then_some(first as usize)
    }
}
