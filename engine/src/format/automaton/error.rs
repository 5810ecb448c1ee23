//! The error for invalid bytes.

use std::fmt;

use crate::format::FormatError;

/// Invalid automaton bytes: the offset, and the expected and found data.
///
/// Two machine words, so that a walk can return it at no cost: the texts are constants. [`FormatError`] is the
/// equivalent for a whole set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt {
    offset: usize,
    mismatch: &'static Mismatch,
}

/// Constant texts for the expected and found data, as noun phrases.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(crate) expected: &'static str,
    pub(crate) found: &'static str,
}

impl Corrupt {
    pub(crate) const fn new(offset: usize, mismatch: &'static Mismatch) -> Corrupt {
        Corrupt { offset, mismatch }
    }

    /// Returns the offset from the automaton's first byte.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the expected data as a noun phrase.
    #[must_use]
    pub fn expected(&self) -> &'static str {
        self.mismatch.expected
    }

    /// Returns the data found as a noun phrase.
    #[must_use]
    pub fn found(&self) -> &'static str {
        self.mismatch.found
    }

    pub(crate) fn in_section(self) -> FormatError {
        let expected = format!("{} at offset {} of an automaton", self.mismatch.expected, self.offset);
        FormatError::new("rulesets", expected, self.mismatch.found)
    }
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { expected, found } = self.mismatch;
        write!(f, "Invalid automaton bytes at offset {}: expected {expected}, found {found}", self.offset)
    }
}

impl std::error::Error for Corrupt {}

/// Creates a [`Corrupt`] from an offset and two constant texts.
macro_rules! corrupt {
    ($offset:expr, $expected:expr, $found:expr) => {
        $crate::format::automaton::Corrupt::new(
            $offset,
            &$crate::format::automaton::error::Mismatch { expected: $expected, found: $found },
        )
    };
    ($offset:expr, $expected:expr) => {
        $crate::format::automaton::corrupt!($offset, $expected, "the end of the bytes")
    };
}
pub(crate) use corrupt;
