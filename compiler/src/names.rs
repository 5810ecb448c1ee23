//! The error for an unknown name chosen by a user, and a quick similarity test for names.

use std::fmt;

/// An unknown name, with the known names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of name: "dialect", "fetch profile".
    kind: &'static str,
    found: String,
    known: Vec<String>,
}

impl UnknownName {
    /// Creates the error for `found`, where one of `known` was expected.
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

/// Returns the letters in a name as bits, ignoring case; other bytes share these bits.
///
/// Names with different bits are different, and each letter that only one of them contains takes an edit.
pub(crate) const fn letters_in(name: &[u8]) -> u32 {
    let (mut letters, mut at) = (0, 0);
    while at < name.len() {
        letters |= 1 << (name[at] & 31);
        at += 1;
    }
    letters
}
