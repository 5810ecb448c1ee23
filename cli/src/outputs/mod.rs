//! Command output: whole files ([`file`], under hidden names until they are complete), human-readable figures
//! ([`summary`]), verdict columns ([`verdicts`], [`columns`], [`over_agents`], [`scope`]), capture fates ([`fates`]),
//! build records ([`build_record`]), JSON ([`json`]), name lists ([`names`]), formats by extension ([`endings`]),
//! compressed bytes ([`packed`]), [`parquet`] files, rows in any format ([`sink`]), [`style`]s, [`progress`], and the
//! only path to standard output and standard error ([`terminal`]).

pub mod align;
pub mod build_record;
pub mod columns;
pub mod endings;
pub mod fates;
pub mod file;
pub mod json;
pub mod names;
pub mod over_agents;
mod packed;
pub mod parquet;
mod pieces;
pub mod progress;
pub mod scope;
pub mod sink;
pub mod style;
pub mod summary;
pub mod terminal;
pub mod tops;
pub mod verdicts;

/// The name that `classify` uses.
pub use build_record as made;
