//! The compiler of Reptile: from robots.txt files to a compiled set, which `reptile-engine` decides URLs against.
//!
//! Opens no file, starts no thread and reads no clock: the same input gives the same bytes. A robots.txt goes through
//! these rooms in order:
//!
//! | where | what |
//! |---|---|
//! | [`body`] | bytes to lines, keys and groups |
//! | [`rules::groups`] | groups to one list of rules for each product token, and one for everybody else |
//! | [`rules::order`] | a list to normal form and order of precedence |
//! | [`automaton`] | an ordered list to the automaton of a ruleset |
//! | [`set`] | records to a set, equal things once |
//!
//! Lines that decide nothing are other directives ([`body::directives`], [`advice::clean_param`]).
//!
//! Beside them, [`dialect`] has every reading of the protocol as a value, [`capture`] what a capture means by its status and
//! time and which of several counts, [`set::origin`] which URLs a robots.txt governs, [`dialect::crawlers`] the names that known crawlers
//! go by, [`limits`] every limit, [`advice::lint`] what is wrong with a file, [`advice::explanation`] why a verdict is what it is, [`once`]
//! the answer to a single question without compiling, and [`oracle`] the slow matcher that all of this is compared with.
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
pub mod rules;
pub mod set;
