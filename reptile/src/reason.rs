//! Statements about all paths in an origin at once, with counterexamples for those that do not hold.

pub use reptile_compiler::reason::{Extent, Reasoner, Statement};
