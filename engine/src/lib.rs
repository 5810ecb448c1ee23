//! The run-time half of Reptile: opens a compiled set of robots.txt files and decides URLs against it.
pub mod automaton;
pub mod format;
pub mod map;
pub mod norm;
pub mod set;
pub mod url;
pub mod verdict;

const _: () = assert!(usize::BITS >= 64, "a set is addressed by 64-bit offsets");
