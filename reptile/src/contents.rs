//! The contents of a compiled set: policies, groups, rules, captures and directives, as borrowed views.
//!
//! [`crate::Set`] owns its bytes and decides URLs. The views in this module read the same bytes in place, for programs
//! that list, compare or summarize sets.
//!
//! ```
//! use reptile::{Capture, Compiler, Dialect, contents};
//!
//! let mut compiler = Compiler::new(Dialect::google());
//! compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /private")?)?;
//! let mut bytes = Vec::new();
//! compiler.finish()?.write(&mut bytes)?;
//!
//! let set = contents::Set::from_bytes(&bytes[..])?;
//! let agent = set.crawler(b"AnyBot")?;
//! for origin in set.origins() {
//!     let policy = set.policy_of(&origin?)?;
//!     let rules = policy.rules_for(&agent)?;
//!     assert_eq!(rules[0].all()?[0].line, 2);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use reptile_engine::automaton::{Ruleset, Shape};
pub use reptile_engine::format::FormatError;
pub use reptile_engine::format::container::{LABEL_START_BYTES, has_label};
pub use reptile_engine::format::directives::Directive;
pub use reptile_engine::format::histories::{CaptureRecord, FetchOutcome};
pub use reptile_engine::format::origins::OriginRecord;
pub use reptile_engine::format::timelines::BEFORE_ALL_TIMES;
pub use reptile_engine::set::{Agent, Period, Policy, PolicyGroup, Rules, Set, Site};
pub use reptile_engine::verdict::Explanation;
