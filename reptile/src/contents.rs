//! A compiled set's contents as borrowed views: policies, groups, rules, captures and directives.
//!
//! [`Set`](crate::Set) decides URLs and owns its bytes. The views in this module read the same bytes in place, for
//! programs that list, compare or summarize sets.

pub use reptile_engine::automaton::{Ruleset, Shape};
pub use reptile_engine::format::FormatError;
pub use reptile_engine::format::container::{LABEL_START_BYTES, has_label};
pub use reptile_engine::format::directives::Directive;
pub use reptile_engine::format::origins::OriginRecord;
pub use reptile_engine::format::timelines::BEFORE_ALL_TIMES;
pub use reptile_engine::set::{Agent, Policy, PolicyGroup, Rules, Set, Site};
pub use reptile_engine::verdict::Explanation;
