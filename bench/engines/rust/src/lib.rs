//! Shared code for the Rust engines, which implements the protocol in `bench/judge/PROTOCOL.md`. Each engine is a
//! program in `src/bin`, about a page long, that wraps an implementation.
//!
//! - [`message`] reads and writes messages.
//! - [`Implementation`] describes an implementation and calls it.
//! - `serve` answers requests; `bench` times passes.
//! - `matcher`, with its own feature, turns text-matching libraries into engines.
#![deny(unsafe_code)]

mod bench;
mod implementation;
#[cfg(feature = "matchers")]
pub mod matcher;
pub mod message;
mod serve;

pub use implementation::{
    Files, Hello, Implementation, Pass, Question, path_as_written, path_of, path_of_text, version_of,
};
pub use serve::{Session, serve};
