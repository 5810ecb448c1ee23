//! Errors: bytes that are not a valid set, and sets that exceed the format.

use std::fmt;

use super::section::Section;

/// The error for bytes that are damaged or not a compiled set.
///
/// Contains the section, the offset in it if known, and the expected and found data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    section: &'static str,
    offset: Option<u64>,
    expected: String,
    found: String,
}

impl FormatError {
    /// Creates an error in `section`. `expected` and `found` must be noun phrases.
    #[cold]
    pub(crate) fn new(section: &'static str, expected: impl Into<String>, found: impl Into<String>) -> FormatError {
        FormatError { section, offset: None, expected: expected.into(), found: found.into() }
    }

    /// Creates an error at an offset in a section.
    #[cold]
    pub(crate) fn at(
        section: Section,
        offset: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> FormatError {
        FormatError { offset: Some(offset as u64), ..FormatError::new(section.name(), expected, found) }
    }

    /// Returns the error for a record that begins at `start`, with its offset adjusted.
    pub(crate) fn in_record_at(mut self, start: usize) -> FormatError {
        self.offset = Some(self.offset.unwrap_or(0).saturating_add(start as u64));
        self
    }

    /// Returns the damaged part: `header` or a section's name.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.section
    }

    /// Returns the damage's offset from the section's start, or `None` if the error concerns the whole section.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// Returns the expected data.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns the data found.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.section)?;
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for FormatError {}

/// The error for a set that cannot be written because some part exceeds a format limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The item that is too large, with its unit.
    pub what: &'static str,
    /// The largest permitted size.
    pub limit: u64,
    /// The actual size.
    pub found: u64,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} is over the limit of {}", self.what, self.found, self.limit)
    }
}

impl std::error::Error for TooLarge {}

impl From<std::convert::Infallible> for TooLarge {
    fn from(never: std::convert::Infallible) -> TooLarge {
        match never {}
    }
}
