//! The error for a name that a user chose and that does not exist.

use std::fmt;

/// An unknown name, with the names that exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of name: "dialect", "fetch profile".
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
