//! Statements about all paths of an origin at once.
//!
//! [`Reasoner::extent`] takes the rulesets that decide together for a crawler, from
//! [`crate::contents::Policy::rules_for`] or [`crate::contents::Set::rulesets`]. It returns which paths they allow,
//! with an example of each kind.
//!
//! ```
//! use reptile::reason::{Extent, Reasoner};
//! use reptile::{Capture, Compiler, Dialect, contents};
//!
//! let mut compiler = Compiler::new(Dialect::google());
//! compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\nallow: /$\ndisallow: /")?)?;
//! let mut bytes = Vec::new();
//! compiler.finish()?.write(&mut bytes)?;
//!
//! let set = contents::Set::from_bytes(&bytes[..])?;
//! let ruleset = contents::Ruleset::stored(set.rulesets().get(0)?)?;
//! let statement = Reasoner::new(set.normal_form()).extent(&[ruleset])?;
//! assert!(matches!(statement.extent, Extent::Partial { allowed, .. } if *allowed == *b"/"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use reptile_compiler::reason::{Extent, Reasoner, Statement};
