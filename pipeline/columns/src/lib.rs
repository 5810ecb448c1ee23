//! Decides a table's URLs with compiled robots.txt files, and returns the verdicts as columns.
//!
//! - [`Column`] names a column, and [`Layout`] selects a row's columns and their order.
//! - [`Decider`] decides rows for the same crawlers, or for the crawler that each row names ([`ByRow`]). [`Times`]
//!   selects the time, and [`Scope`] the origins that may replace one without a known robots.txt.
//! - [`TableDecider`] decides the rows of `reptile-records` tables, and writes TSV, CSV, JSON Lines or columns
//!   (feature `tables`).
//! - [`audit`] counts the requests of crawlers in access logs that the rules disallow (feature `tables`).
//! - [`RightsTable`] decides the rights to use pages in crawl archives (feature `tables`).
//! - [`ColumnWriter`] writes columns to a file, as Parquet or Arrow IPC (feature `files`). [`KeptText`] writes columns of
//!   the input before rows of text (features `files` and `tables`).
//! - [`arrow`] takes arrays of URLs and returns arrays of verdicts (feature `arrow`). The C and Python bindings use it.
//!
//! The crate `reptile` decides the URLs and guarantees the verdicts. This crate has no `unsafe` code, and uses no
//! command line or terminal.
//!
//! ```
//! # #[cfg(feature = "tables")] {
//! use reptile::{Dialect, Robots};
//! use reptile_columns::{AnswerFormat, AnswerRows, Column, Decider, Layout, TableDecider};
//! use reptile_records::tables::{Table, source::Block};
//!
//! let robots = Robots::parse("user-agent: *\ndisallow: /private\n", Dialect::google())?;
//! let layout = Layout::new(&[Column::Verdict, Column::Url])?;
//! let decider = TableDecider::new(Decider::new(robots.agents(["GPTBot"])?, layout)?, AnswerFormat::Csv)?;
//! let mut answers = decider.answers();
//! decider.decide(&Table::list(), Block::Text(b"https://example.com/\nhttps://example.com/private/1\n"), &mut answers)?;
//! let AnswerRows::Text(rows) = &answers.rows else { unreachable!("CSV is text") };
//! assert_eq!(rows.as_bytes(), b"allow,https://example.com/\ndisallow,https://example.com/private/1\n");
//! assert_eq!(answers.lines, 2);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![allow(rustdoc::private_intra_doc_links, reason = "module pages name their private parts, for maintainers")]

#[cfg(any(feature = "arrow", feature = "files"))]
mod arrays;
#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "tables")]
pub mod audit;
mod by_row;
mod column;
mod data;
mod decide;
mod error;
#[cfg(feature = "files")]
mod files;
mod kept;
#[cfg(feature = "tables")]
mod rights;
mod scope;
mod source;
#[cfg(feature = "tables")]
mod text;
#[cfg(feature = "arrow")]
mod usage;

pub use by_row::{
    ByRow, CrawlerCounts, MAX_CACHED_CELL_BYTES, MAX_CACHED_CELLS, MAX_MISSPELLED_NAMES, Misspelled, NamedRow, Session,
    Times,
};
pub use column::{Column, Crawlers, Layout, MAX_MASKED_AGENTS, MAX_USES, VERDICTS};
pub use data::{ColumnData, ColumnType, SUMMARY_COLUMNS, columns_of};
pub use decide::Decider;
pub use error::{Error, ErrorKind, text_of};
#[cfg(all(feature = "files", feature = "tables"))]
pub use files::KeptText;
#[cfg(feature = "files")]
pub use files::{BATCH_ROWS, ColumnFormat, ColumnWriter, GROUP_BYTES, GROUP_TEXT_BYTES, MAX_GROUP_ROWS};
pub use kept::{KeptColumns, check_names};
#[cfg(feature = "tables")]
pub use rights::{PageRights, RightsTable};
pub use scope::Scope;
pub use source::{SetOrRobots, first_mistake};
#[cfg(feature = "tables")]
pub use text::{
    AnswerFormat, AnswerRows, Answers, Faults, LongPart, MAX_COUNTED_KEYS, MAX_KEY_BYTES, MAX_NAMED_FAULTS, Rejected,
    RowCells, RowFormat, TableDecider, Tally, Text, Top, Tops, shown_row,
};
#[cfg(feature = "arrow")]
pub use usage::{UsageColumns, UsageOptions};
