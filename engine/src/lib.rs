//! The run-time half of Reptile: opens a compiled set of robots.txt files and decides URLs against it.
//!
//! A set holds the rules of any number of robots.txt files as automata, in one file that is mapped into memory. This
//! crate splits a URL, finds its origin's policy, picks the group of an agent, and walks one automaton over the path.
//! This crate reads sets and knows nothing of robots.txt itself: parsing, dialects and the construction of automata are
//! in the compiler, `reptile-compiler`.
//!
//! | where | what |
//! |---|---|
//! | [`set`] | [`set::Set`]: open, verify, decide, explain |
//! | [`automaton`] | the walk |
//! | [`url`] | from a URL to origin and path |
//! | [`host`] | the one form of a host in which origins are compared |
//! | [`norm`] | the normal forms of URL paths and patterns |
//! | [`verdict`] | verdicts and their reasons |
//! | [`format`](mod@format) | the bytes, reader beside writer; `FORMAT.md` draws them |
//! | [`threads`] | how a caller lends its threads to the writer of a set |
//! | [`spool`] | where that writer keeps bytes for a while |
//! | [`platform`] | the only file with `unsafe`: mapping a file, vector instructions |
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
#[allow(unsafe_code, reason = "the one file with `unsafe`")]
pub mod platform;
pub mod set;
pub mod spec;
pub mod spool;
pub mod threads;
pub mod token;
pub mod url;
pub mod verdict;

// Addresses in a set have up to 64 bits. Where memory is addressed by 32, a set that fits in it has no larger ones.
const _: () = assert!(usize::BITS >= 32, "numbers of 32 bits are indices");
