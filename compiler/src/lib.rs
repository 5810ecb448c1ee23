//! The compiler of Reptile: from robots.txt files to a compiled set.
#![forbid(unsafe_code)]
pub mod agents;
pub mod automaton;
pub mod builder;
pub mod dialect;
pub mod limits;
pub mod oracle;
pub mod robots;
pub mod rules;
