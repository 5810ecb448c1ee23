//! Decides a table's URLs with compiled robots.txt files, and returns the verdicts as columns.
//!
//! - [`Column`] names a column, and [`Layout`] selects a row's columns and their order.
//! - [`Decider`] decides rows for the same crawlers, or for the crawler that each row names ([`ByRow`]). [`Times`]
//!   selects the time, and [`Scope`] the origins that may replace one without a known robots.txt.
//! - [`TableDecider`] decides the rows of `reptile-records` tables, and writes TSV, CSV, JSON Lines or columns
//!   (feature `tables`).
//! - [`ParquetWriter`] writes columns to a Parquet file (feature `parquet`).
//! - [`arrow`] takes arrays of URLs and returns arrays of verdicts (feature `arrow`). The C and Python bindings use it.
//!
//! The crate `reptile` decides the URLs and guarantees the verdicts. This crate has no `unsafe` code, and uses no
//! command line or terminal.

#![forbid(unsafe_code)]
#![allow(rustdoc::private_intra_doc_links, reason = "module pages name their private parts, for maintainers")]

#[cfg(feature = "arrow")]
pub mod arrow;
mod by_row;
mod column;
mod data;
mod decide;
mod error;
#[cfg(feature = "parquet")]
mod parquet;
mod scope;
mod source;
#[cfg(feature = "tables")]
mod text;

pub use by_row::{
    ByRow, Counted, MAX_CACHED_CELL_BYTES, MAX_CACHED_CELLS, MAX_CRAWLER_CELL_BYTES, MAX_MISSPELLED_NAMES, Misspelled,
    NamedRow, Session, Times,
};
pub use column::{Column, Crawlers, Layout, MAX_MASKED_AGENTS, VERDICTS};
pub use data::{ColumnData, Kind, columns_of};
pub use decide::Decider;
pub use error::{Error, ErrorKind, text_of};
#[cfg(feature = "parquet")]
pub use parquet::{GROUP_BYTES, MAX_GROUP_ROWS, ParquetWriter};
pub use scope::Scope;
pub use source::Source;
#[cfg(feature = "tables")]
pub use text::{
    Answers, Faults, Format, LongPart, MAX_COUNTED_KEYS, MAX_KEY_BYTES, MAX_NAMED_FAULTS, Rejected, RowCells,
    RowFormat, Rows, TableDecider, Tally, Text, Top, Tops, shown_row,
};
