//! What the bindings in C and Python share: Arrow arrays of URLs in, Arrow columns of verdicts out.
//!
//! - [`Source`] resolves crawlers by the names that the command takes.
//! - [`Decider`] decides an array of URLs, [`VerdictStream`] a stream of arrays, with the chosen [`Column`]s.
//! - [`in_pool`] does work on all threads, also in a process that was forked.
//!
//! Deciding itself, and every guarantee about it, is in the crate `reptile`. Nothing here has `unsafe`: arrays of other
//! languages are taken over in the bindings.

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
