//! Statements about all paths of an origin at once, with a counterexample where one does not hold.

pub use reptile_compiler::reason::{Extent, Reasoner, Statement};
