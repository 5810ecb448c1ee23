//! Decides rows of URLs by compiled robots.txt files, and holds the answers as columns.
//!
//! - [`Column`] names a column, and [`Layout`] says which columns a row has, in which order.
//! - [`Decider`] decides rows for some crawlers, or for the crawler that each row names ([`ByRow`]), at a time or at each
//!   row's own ([`Times`]), by the URL's origin or a replacement ([`Scope`]).
//! - [`TableDecider`] decides the rows of `reptile-records` tables, and writes TSV, CSV, JSON Lines or columns
//!   (feature `tables`).
//! - [`ParquetWriter`] writes columns to a Parquet file (feature `parquet`).
//! - [`arrow`] takes arrays of URLs and returns arrays of verdicts (feature `arrow`). The C and Python bindings use it.
//!
//! The crate `reptile` decides URLs and makes every guarantee about verdicts. This crate has no `unsafe` code, no
//! command line and no terminal.

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
    ByRow, Counted, MAX_CACHED_CELL_BYTES, MAX_CACHED_CELLS, MAX_CRAWLER_CELL_BYTES, MAX_MISSPELT_NAMES, Misspelt,
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
