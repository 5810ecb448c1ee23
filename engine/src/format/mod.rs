//! A compiled set's encoding: a container with sections, a source file for each section, and the automata.
//!
//! No code outside this folder uses offsets. Each file has a reader for its section, with a writer next to it:
//!
//! | where | section | content |
//! |---|---|---|
//! | [`container`], `section` | - | label, version, section table, checksums |
//! | [`reading`] | `reading` | dialect, fetch profile and reference time |
//! | [`crawlers`] | `crawlers` | known crawlers and their product tokens |
//! | [`tokens`] | `tokens` | product tokens in the files |
//! | [`origins`] | `buckets`, `origins` | the hash table from origin to policy |
//! | [`captures`], [`histories`], [`timelines`] | `captures` | capture histories, or all captures with their spans |
//! | [`policies`] | `policies` | the groups for each product token |
//! | [`rulesets`], `patches` | `index`, `rulesets`, `prints` | automata, their ends, their shared fingerprints |
//! | [`fingerprints`] | `prints` | the automata's shared fingerprints |
//! | [`lines`] | `lines` | the rules' line numbers |
//! | [`directives`] | `other` | other directives: lines that decide no URL |
//! | [`usages`] | `usages` | the statements of usage rules |
//! | [`automaton`] | - | an automaton's bytes |
//!
//! With the feature `write`, [`draft`] contains a whole decoded set, for writing or after reading, and [`merge`] merges
//! sets. `FORMAT.md` specifies the bytes.
//!
//! The format is canonical: the same content has exactly one encoding, and verifying a set proves that it has this
//! encoding. Every read is checked: invalid bytes produce an error, never a panic, an endless loop or an answer.

pub mod automaton;
mod bytes;
pub mod captures;
pub mod container;
pub mod crawlers;
pub mod directives;
#[cfg(feature = "write")]
pub mod draft;
mod error;
pub mod fingerprints;
pub mod histories;
pub mod lines;
#[cfg(feature = "write")]
pub mod merge;
mod numbers;
pub mod origins;
mod patches;
pub mod policies;
mod pool;
pub mod reading;
pub mod rulesets;
mod section;
pub mod timelines;
pub mod tokens;
pub mod usages;

pub use self::bytes::NONE;
pub(crate) use self::bytes::{fit, u16_at, u32_at, u64_at};
use self::bytes::{pad, put, put_long};
pub use self::container::FORMAT_VERSION;
pub use self::error::{FormatError, TooLarge};
