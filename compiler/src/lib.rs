//! The compiler of Reptile: from robots.txt files to a compiled set, which `reptile-engine` decides URLs against.
//!
//! This crate is the inside of the library `reptile`, as regex-automata is that of regex. Depend on `reptile`. What is
//! public here serves experiments, tests and tools, and may change in any release without notice.
//!
//! Opens no file, starts no thread and reads no clock: the same input gives the same bytes. A robots.txt goes through
//! these modules in order:
//!
//! | module | from | to |
//! |---|---|---|
//! | [`body`] | bytes | lines, keys and groups |
//! | [`rules::groups`] | groups | one list of rules for each product token, and one for the default group |
//! | [`rules::order`] | a list of rules | normal form and order of precedence |
//! | [`automaton`] | an ordered list | the automaton of a ruleset |
//! | [`set`] | policies of origins | a compiled set, equal things once |
//!
//! The lines that decide no URL become other directives ([`body::directives`]).
//!
//! | module | knows |
//! |---|---|
//! | [`dialect`] | the readings of the protocol, as data, and the crawlers that they know |
//! | [`capture`] | the meaning of a fetch by status and time, and which of several counts |
//! | [`set::origin`] | which URLs a robots.txt governs |
//! | [`advice`] | what is wrong with a file, why a verdict is what it is, URLs without idle parameters |
//! | [`once`] | the answer to a single question, without compiling |
//! | [`reason`] | what a ruleset says of all paths together |
//! | [`oracle`] | the slow matcher that all compiled rulesets are compared with |
//! | [`limits`] | the limits, and where each is |
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
