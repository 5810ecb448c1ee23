//! The commands, each in its own file or folder: arguments, help and behavior.
//!
//! A command on one robots.txt of at most 16 MB, or on its set, takes at most 300 MB of memory and 2 s of processor
//! time (4 s under the dialect `koster-1996`), regardless of the contents. If it reads the file under each dialect, it
//! takes at most 450 MB and 10 s. The tests in `cli/tests/families.rs` measure the memory, and the benchmark `hostile
//! --commands` measures both.

pub mod agents;
pub mod audit;
pub mod check;
pub mod classify;
pub mod compile;
pub mod dialects;
pub mod diff;
pub mod fields;
pub mod filter;
pub mod inspect;
pub mod lint;
pub mod manual;
pub mod merge;
pub mod summarize;
pub mod test;
pub mod timeline;
pub mod update;
pub mod verify;
