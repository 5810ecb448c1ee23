//! Names that users choose by: the error for one that nothing has.

use std::fmt;

/// A name that nothing has, with those that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What was to be named: "dialect", "fetch profile".
    kind: &'static str,
    found: String,
    known: Vec<String>,
}

impl UnknownName {
    /// The error for `found`, where one of `known` was expected.
    pub fn new<N: Into<String>>(kind: &'static str, found: &str, known: impl IntoIterator<Item = N>) -> UnknownName {
        UnknownName { kind, found: found.into(), known: known.into_iter().map(Into::into).collect() }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownName { kind, found, known } = self;
        write!(f, "unknown {kind} \"{}\"; the known ones are {}", found.escape_debug(), known.join(", "))
    }
}

impl std::error::Error for UnknownName {}
