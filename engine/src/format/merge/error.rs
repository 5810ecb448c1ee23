//! Errors of a merge.

use std::io;

use super::super::{FormatError, TooLarge};

/// The reason why sets cannot be merged.
#[derive(Debug)]
pub enum MergeError<E> {
    /// This set is damaged.
    Damaged(usize, FormatError),
    /// An origin's captures do not determine a policy.
    Undecided(E),
    /// A part of the merged set exceeds a format limit.
    TooLarge(TooLarge),
    /// A temporary file cannot be written.
    Io(io::Error),
}

impl<E> From<TooLarge> for MergeError<E> {
    fn from(error: TooLarge) -> MergeError<E> {
        MergeError::TooLarge(error)
    }
}

impl<E> From<io::Error> for MergeError<E> {
    fn from(error: io::Error) -> MergeError<E> {
        MergeError::Io(error)
    }
}

/// Adds the set's number to a read error.
pub(super) fn of_part<T, E>(part: usize, result: Result<T, FormatError>) -> Result<T, MergeError<E>> {
    result.map_err(|error| MergeError::Damaged(part, error))
}
