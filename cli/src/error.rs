//! Exit codes, the error type, and notes on standard error.
//!
//! Error messages are written where the error occurs, and name the affected file. [`note`] makes the entire message
//! printable, so it may quote any text.

use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::io;
use std::sync::{Mutex, PoisonError};

use reptile::contents::FormatError;
use reptile_records::ErrorKind;

use crate::outputs::style::Style;
use crate::outputs::terminal::{tell, tell_error};
use reptile_records::place::Place;
use reptile_records::text::printable;

/// The exit status of a completed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success. Exit code 0.
    Done,
    /// Some inputs were invalid and skipped, or differences were found. Exit code 1.
    SomeBad,
}

impl Exit {
    /// Returns `SomeBad` if anything was invalid, else `Done`.
    pub fn from_bad(any: bool) -> Exit {
        if any { Exit::SomeBad } else { Exit::Done }
    }
}

/// The reason why a command stopped early.
#[derive(Debug)]
pub enum Failure {
    /// An error, which the user is shown with its sources. Exit code 2.
    Fatal(Box<dyn StdError + Send + Sync>),
    /// Standard output was closed by its reader, as `head` does. Exit code 0, without a message.
    Quiet,
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Returns an error with this message.
    pub fn new(message: impl Display) -> Failure {
        Failure::Fatal(message.to_string().into())
    }

    /// Returns an error about a file; the message follows the path.
    pub fn at(path: impl Into<Place>, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Failure {
        Failure::Fatal(Box::new(AtPath { path: path.into(), cause: cause.into() }))
    }

    /// Returns an error about an output's hidden file as an error about the output.
    pub fn of_output(self, output: &Place) -> Failure {
        let Failure::Fatal(error) = self else { return self };
        let cause = match error.downcast::<AtPath>() {
            Ok(error) => error.cause,
            Err(error) => match error.downcast::<reptile_records::Error>() {
                Ok(error) => error.into_cause(),
                Err(error) => error,
            },
        };
        Failure::at(output, format!("cannot be read back: {cause}"))
    }

    /// Returns whether the error of a reader concerns a single input, so that a run may go on without it.
    pub fn is_of_one_input(&self) -> bool {
        let Failure::Fatal(error) = self else { return false };
        error.downcast_ref::<reptile_records::Error>().is_some_and(reptile_records::Error::is_of_one_input)
    }

    /// Returns whether the error concerns this input alone, so that a run may go on without it.
    pub fn is_about(&self, input: &Place) -> bool {
        let Failure::Fatal(error) = self else { return false };
        if let Some(error) = error.downcast_ref::<reptile_records::Error>() {
            return error.is_of_one_input() && error.path().is_none_or(|path| path == input);
        }
        error.downcast_ref::<AtPath>().is_some_and(|error| error.path == *input)
    }
}

/// An error about a file.
#[derive(Debug)]
struct AtPath {
    path: Place,
    cause: Box<dyn StdError + Send + Sync>,
}

impl Display for AtPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.shown(), self.cause)
    }
}

impl StdError for AtPath {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // The message includes the cause.
        self.cause.source()
    }
}

impl From<reptile_records::Error> for Failure {
    fn from(error: reptile_records::Error) -> Failure {
        match error.kind() {
            ErrorKind::Sink => match error.into_cause().downcast::<Failure>() {
                Ok(failure) => *failure,
                Err(cause) => Failure::Fatal(cause),
            },
            _ => Failure::Fatal(Box::new(error)),
        }
    }
}

impl From<Failure> for reptile_records::Error {
    fn from(failure: Failure) -> reptile_records::Error {
        reptile_records::Error::sink(failure)
    }
}

impl Display for Failure {
    /// Writes the message; with `{:#}`, also the chain of its sources.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure::Fatal(error) = self else { return f.write_str("standard output is closed") };
        write!(f, "{error}")?;
        let mut source = error.source().filter(|_| f.alternate());
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

impl StdError for Failure {}

/// Returns the error for a file that is not a set, or for a damaged set, with the library's message.
pub fn damaged(path: &Place, error: &FormatError) -> Failure {
    Failure::at(path, format!("not a valid set: {error}"))
}

/// The reason why writing answers stopped early, for commands that write while they read.
pub enum Stop {
    /// The output cannot be written.
    Write(io::Error),
    /// The set is damaged.
    Set(FormatError),
    /// Any other failure.
    Other(Failure),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Write(error)
    }
}

impl From<FormatError> for Stop {
    fn from(error: FormatError) -> Stop {
        Stop::Set(error)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Other(failure)
    }
}

/// Writes a remark on standard error, unless `--quiet` is given. It stays on one line, regardless of quoted text.
pub fn note(message: impl Display) {
    tell(&line(message, "reptile: "));
}

/// Writes a remark like [`note`], unless this run has written the same remark before.
pub fn note_once(message: impl Display) {
    static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let message = message.to_string();
    if NOTED.lock().unwrap_or_else(PoisonError::into_inner).insert(message.clone()) {
        note(message);
    }
}

/// Writes the error that ends the command.
pub fn complain(message: impl Display) {
    tell_error(&line(message, &Style::Error.of("reptile: ")));
}

fn line(message: impl Display, before: &str) -> String {
    format!("{before}{}\n", printable(message.to_string().as_bytes()))
}
