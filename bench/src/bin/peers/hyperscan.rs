//! Hyperscan as a matcher of all rules of a group: the library that the system has, in block mode.
//!
//! It does not read robots.txt. The rules come as expressions, the one that decides before those that it beats.

use hyperscan::{BlockDatabase, Builder, Matching, Pattern, PatternFlags, Patterns, Scratch, version};
use reptile_engine::verdict::RuleKind;

/// The version of the library.
pub fn library_version() -> String {
    version().to_string()
}

/// All rules of a group, and the memory that a scan works in.
pub struct HyperscanRules {
    database: BlockDatabase,
    scratch: Scratch,
}

impl HyperscanRules {
    /// Compiles the expressions for the processor at hand.
    ///
    /// # Errors
    /// When the library refuses them; it says why.
    pub fn new(expressions: &[(String, RuleKind)]) -> hyperscan::Result<HyperscanRules> {
        // A rule with the pattern `*` matches the empty path, too, which must be allowed for. `SINGLEMATCH` would save
        // little: no expression ends open, so that few are reported twice, and to remember them costs more.
        let flags = PatternFlags::DOTALL | PatternFlags::ALLOWEMPTY;
        let patterns = expressions.iter().map(|(text, _)| Pattern::with_flags(text, flags));
        let patterns: Patterns = patterns.collect::<hyperscan::Result<_>>()?;
        let database: BlockDatabase = patterns.build()?;
        let scratch = database.alloc_scratch()?;
        Ok(HyperscanRules { database, scratch })
    }

    /// The first of the expressions that match a path.
    ///
    /// # Errors
    /// When the scan fails, which no path makes it do.
    #[inline]
    pub fn first(&self, path: &[u8]) -> hyperscan::Result<Option<usize>> {
        let mut first = u32::MAX;
        // The library reports in the order in which the matches end, so that all of them are to be heard.
        self.database.scan(path, &self.scratch, |id: u32, _: u64, _: u64, _: u32| {
            first = first.min(id);
            Matching::Continue
        })?;
        Ok((first < u32::MAX).then_some(first as usize))
    }
}
