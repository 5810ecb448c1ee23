//! Vocabularies and profiles are texts that users write: how they are read, and how their mistakes are reported.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::Read;

/// The error for the text of a [`Vocabulary`](super::Vocabulary) or a [`Profile`](crate::rights::Profile).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    line: usize,
    expected: Cow<'static, str>,
    found: Box<str>,
}

impl TextError {
    pub(crate) fn new(line: usize, expected: impl Into<Cow<'static, str>>, found: &str) -> TextError {
        TextError { line, expected: expected.into(), found: found.into() }
    }

    /// Returns the line of the mistake, from 1, or 0 for a file that cannot be read.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TextError { line, expected, found } = self;
        if *line > 0 {
            write!(f, "line {line}: ")?;
        }
        write!(f, "expected {expected}, found \"{}\"", found.escape_debug())
    }
}

impl std::error::Error for TextError {}

/// Reads a file of at most `limit` bytes. A longer one is cut after one more byte, for [`content_lines`] to refuse.
///
/// # Errors
/// Returns an error that also names the texts that ship, because a wrong name is read as a path.
pub(crate) fn read_file(path: &str, limit: usize, shipped: &[&str]) -> Result<String, TextError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(limit as u64 + 1).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(text),
        Err(error) => {
            let expected = format!("{}, or a file that can be read", shipped.join(", "));
            Err(TextError::new(0, expected, &error.to_string()))
        }
    }
}

/// Returns the lines with content, without comments, and their numbers.
///
/// # Errors
/// Returns an error for a text over the limit.
pub(crate) fn content_lines(text: &str, limit: usize) -> Result<impl Iterator<Item = (usize, &str)>, TextError> {
    if text.len() > limit {
        return Err(TextError::new(1, format!("at most {limit} bytes"), &format!("{} bytes", text.len())));
    }
    let content = |line| str::split_once(line, '#').map_or(line, |(content, _)| content).trim();
    Ok((1..).zip(text.lines().map(content)).filter(|(_, content)| !content.is_empty()))
}
