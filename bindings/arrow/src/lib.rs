//! Shared code for the C and Python bindings: takes Arrow URL arrays, and returns Arrow verdict columns.
//!
//! - [`Source`] resolves crawlers by the names that the command accepts.
//! - [`Decider`] decides a URL array, and [`VerdictStream`] an array stream, with the chosen [`Column`]s.
//! - [`in_pool`] runs work on all threads, even in a forked process.
//!
//! The crate `reptile` decides URLs and makes every guarantee about verdicts. This crate contains no `unsafe` code:
//! the bindings import arrays from other languages.

#![deny(unsafe_code)]

mod columns;
mod decide;
mod error;
mod made;
mod names;
mod stream;
mod tasks;
mod threads;
mod times;
mod urls;

pub use columns::{Column, MAX_MASKED_AGENTS};
pub use decide::Decider;
pub use error::{Error, ErrorKind, text_of};
pub use names::Source;
pub use stream::{MAX_ROWS_IN_BATCH, VerdictStream};
pub use threads::in_pool;
