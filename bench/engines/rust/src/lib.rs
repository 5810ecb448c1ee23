//! What the engines in Rust share: the protocol of `bench/judge/PROTOCOL.md`. Each engine is a program in `src/bin`, about a
//! page around the interface of an implementation; nothing here knows one.
//!
//! - [`message`] reads and writes messages,
//! - [`Implementation`] is what an engine says of its implementation, and how it asks it,
//! - `serve` answers requests, `bench` times passes,
//! - `matcher`, with a feature of its own, makes engines of libraries that match text.
#![deny(unsafe_code)]

mod bench;
mod implementation;
#[cfg(feature = "matchers")]
pub mod matcher;
pub mod message;
mod serve;

pub use implementation::{Files, Hello, Implementation, Pass, Row, path_as_written, path_of, path_of_text, version_of};
pub use serve::{Session, serve};
