//! The error of a reader: the input, the kind of error, and the cause.

use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::io;

use crate::place::Place;

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input cannot be opened or read.
    Io,
    /// The input is damaged, ambiguous, or exceeds a limit; or an option does not fit it.
    Invalid,
    /// The input holds something other than what was expected, such as a URL list in place of captures.
    Unsuitable,
    /// The run cannot continue with any input: two inputs contradict each other, an option is invalid, or memory or
    /// disk space is exhausted.
    Run,
    /// The function that receives the items has failed. [`Error::into_cause`] returns its error.
    Sink,
}

/// The reason why an input cannot be read to its end.
///
/// `Display` writes the path, the message and the cause in one line. [`StdError::source`] continues after the cause.
///
/// ```
/// use reptile_records::{ErrorKind, open::Input};
/// let error = Input::open("/no/such/file").err().ok_or("it exists")?;
/// assert_eq!(error.kind(), ErrorKind::Io);
/// assert!(error.to_string().starts_with("/no/such/file: "));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    path: Option<Place>,
    cause: Box<dyn StdError + Send + Sync>,
}

impl Error {
    /// Creates an error without a path.
    pub fn new(message: impl Display) -> Error {
        Error { kind: ErrorKind::Invalid, path: None, cause: message.to_string().into() }
    }

    /// Creates an error about an input.
    pub fn at(path: impl Into<Place>, message: impl Display) -> Error {
        Error { path: Some(path.into()), ..Error::new(message) }
    }

    /// Creates an error about an input that cannot be opened or read.
    pub fn io(path: impl Into<Place>, error: io::Error) -> Error {
        Error { kind: ErrorKind::Io, path: Some(path.into()), cause: error.into() }
    }

    /// Creates an error for an input that holds something other than what was expected. The message names the input.
    pub(crate) fn unsuitable(message: impl Display) -> Error {
        Error { kind: ErrorKind::Unsuitable, ..Error::new(message) }
    }

    /// Creates an error that concerns the whole run, so that leaving out an input does not help.
    pub(crate) fn run(message: impl Display) -> Error {
        Error { kind: ErrorKind::Run, ..Error::new(message) }
    }

    /// Wraps the error of a function that receives items.
    pub fn sink(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        Error { kind: ErrorKind::Sink, path: None, cause: error.into() }
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns whether a single input cannot be opened or read to its end, so that a run may continue without it.
    #[must_use]
    pub fn is_of_one_input(&self) -> bool {
        matches!(self.kind, ErrorKind::Io | ErrorKind::Invalid | ErrorKind::Unsuitable)
    }

    /// Returns the name of the input, if the error is about one input.
    #[must_use]
    pub fn path(&self) -> Option<&Place> {
        self.path.as_ref()
    }

    /// Returns the cause, such as an [`io::Error`] or the error passed to [`Error::sink`].
    #[must_use]
    pub fn into_cause(self) -> Box<dyn StdError + Send + Sync> {
        self.cause
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}: {}", path.shown(), self.cause),
            None => self.cause.fmt(f),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.source()
    }
}
