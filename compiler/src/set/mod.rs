//! From prepared files and captures to a compiled set.
//!
//! [`prepare`] reads one file, on any thread; [`SetBuilder`] takes what it makes, keeps equal things once, decides which capture
//! of each origin counts, and compiles. Sorting and encoding is the engine's ([`reptile_engine::format::draft`]).

mod builder;
mod crawlers;
pub mod origin;
mod prepare;
mod report;

pub use self::builder::{CompiledSet, SetBuilder};
pub use self::crawlers::crawler_table;
pub use self::origin::OwnedOrigin;
pub use self::prepare::{BadCapture, BodyTooLarge, Prepared, prepare, prepare_capture, prepare_without_other};
pub use self::report::{CaptureReport, DiscardedCapture};
