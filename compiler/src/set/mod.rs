//! From prepared files and captures to a compiled set.
//!
//! [`prepare`] reads one file, on any thread. [`SetBuilder`] collects prepared files, stores equal content once,
//! decides which capture of each origin counts, and compiles the set. Whole sets can be added too. The engine sorts and
//! encodes the result ([`reptile_engine::format::draft`]).

mod builder;
mod contents;
mod crawlers;
mod merge;
pub mod origin;
mod prepare;
mod report;
mod single;
mod unordered;

pub use self::builder::{CompiledSet, SetBuilder};
pub use self::crawlers::{crawler_table, known_crawlers};
pub use self::merge::{MergeError, PartError};
pub use self::origin::OwnedOrigin;
pub(crate) use self::prepare::prepare_parsed;
pub use self::prepare::{
    BadCapture, BodyOverLimit, Prepared, hash_of_body, prepare, prepare_alone, prepare_capture, prepare_without_other,
};
pub use self::report::{CaptureReport, DiscardedCapture};
pub use self::single::compile_single;
pub use self::unordered::{ObeyedGroups, UnorderedFile, read_alone};
