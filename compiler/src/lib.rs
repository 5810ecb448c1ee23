//! Compiles robots.txt files into a set that `reptile-engine` decides URLs against.
//!
//! This crate is the implementation of the library `reptile`, as regex-automata is of regex. Depend on `reptile`.
//! Public items here exist for experiments, tests and tools, and may change in any release without notice.
//!
//! It opens no files, starts no threads and reads no clock: the same input gives the same bytes. A robots.txt passes
//! through these modules in order:
//!
//! | module | from | to |
//! |---|---|---|
//! | [`body`] | bytes | lines, keys and groups |
//! | [`rules::groups`] | groups | one rule list per product token, and one for the default group |
//! | [`rules::order`] | a rule list | normal form and order of precedence |
//! | [`automaton`] | an ordered list | a ruleset's automaton |
//! | [`set`] | the policies of origins | a compiled set without duplicates |
//!
//! Lines that decide no URL become other directives ([`body::directives`]).
//!
//! | module | contents |
//! |---|---|
//! | [`dialect`] | interpretations of the protocol, as data, and the crawlers that they know |
//! | [`capture`] | the meaning of a fetch by status and time, and the choice between several |
//! | [`set::origin`] | the URLs that a robots.txt governs |
//! | [`advice`] | mistakes in a file, explanations of verdicts, URLs without idle parameters |
//! | [`usage`] | rules about the use of pages |
//! | [`once`] | the answer to a single question, without compiling |
//! | [`reason`] | statements about all paths under a ruleset |
//! | [`oracle`] | the slow matcher that compiled rulesets are tested against |
//! | [`limits`] | all limits and where they are defined |
//!
//! ```
//! use bumpalo::Bump;
//! use reptile_compiler::automaton::Strategy;
//! use reptile_compiler::dialect::GOOGLE_LIB;
//! use reptile_compiler::set::{SetBuilder, origin::OwnedOrigin, prepare};
//! use reptile_engine::{set::Set, verdict::Verdict};
//!
//! let body = b"user-agent: *\nallow: /p\ndisallow: /\n";
//! let origin = OwnedOrigin::of_robots_url(b"https://example.com/robots.txt")?;
//! let mut builder = SetBuilder::new(&GOOGLE_LIB);
//! builder.add([origin], prepare(body, &GOOGLE_LIB, &Bump::new())?);
//! let set = Set::from_bytes(builder.finish(Strategy::default())?.to_bytes())?;
//!
//! let agent = set.agent(b"AnyBot")?;
//! assert_eq!(set.decide(&agent, b"https://example.com/page")?, Verdict::Allow);
//! assert_eq!(set.decide(&agent, b"https://example.com/")?, Verdict::Disallow);
//! assert_eq!(set.decide(&agent, b"http://example.com/")?, Verdict::Unknown);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod advice;
pub mod automaton;
pub mod body;
pub mod capture;
pub mod dialect;
pub mod limits;
pub mod names;
pub mod once;
pub mod oracle;
pub mod reason;
pub mod rules;
pub mod set;
pub mod usage;
