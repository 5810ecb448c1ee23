//! The run-time half of Reptile: opens a compiled set of robots.txt files and decides URLs by it.
//!
//! A set is one memory-mapped file with the compiled rules of any number of robots.txt files. This crate splits a URL,
//! finds its origin's policy, selects the agent's group, and walks an automaton over the path. It reads compiled sets
//! and never robots.txt files: parsing, dialects and automaton construction are in the compiler, `reptile-compiler`.
//! Writing and merging sets needs the feature `write`, which the compiler enables.
//!
//! | module | content |
//! |---|---|
//! | [`set`] | [`set::Set`]: open, verify, decide, explain |
//! | [`automaton`] | the walk |
//! | [`url`] | splitting URLs into origin and path |
//! | [`host`] | the canonical form of hosts, used to compare origins |
//! | [`norm`] | normal forms of URL paths and patterns |
//! | [`verdict`] | verdicts and their reasons |
//! | [`words`] | the words for values, and serialization (feature `serde`) |
//! | [`format`](mod@format) | the file format, with readers next to writers; specified in `FORMAT.md` |
//! | [`threads`] | lets callers run the set writer's work on their threads (feature `write`) |
//! | [`spool`] | temporary storage for the set writer (feature `write`) |
//! | [`platform`] | the only folder with `unsafe`: memory-mapped files, vector instructions |
//!
//! ```no_run
//! use reptile_engine::set::Set;
//!
//! let set = Set::from_bytes(std::fs::read("robots.set")?)?;
//! set.verify()?;
//! let agent = set.agent(b"GPTBot")?;
//! println!("{}", set.decide(&agent, b"https://example.com/private/")?);
//! if let Some(rule) = set.explain(&agent, b"https://example.com/private/")?.rule() {
//!     println!("line {}: {rule}", rule.line);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

pub mod automaton;
pub mod format;
pub mod host;
pub mod norm;
#[allow(unsafe_code, reason = "the one folder with `unsafe`")]
pub mod platform;
pub mod set;
pub mod spec;
#[cfg(feature = "write")]
pub mod spool;
mod steps;
#[cfg(feature = "write")]
pub mod threads;
pub mod token;
pub mod url;
pub mod verdict;
pub mod words;

// Offsets in a set have up to 64 bits, but a set that fits in a 32-bit address space has no offset above 32 bits.
const _: () = assert!(usize::BITS >= 32, "32-bit numbers are used as indices");
