//! A set's bytes: mapped from a set file, or compiled in memory.

use std::io::{self, Read};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile::MappedFile;
use reptile::contents::{LABEL_START_BYTES, Set};

use super::map;
use super::report::Report;
use super::single::OVER_LIMIT;
use crate::error::{Failure, Result, damaged, note};
use crate::outputs::summary::grouped;
use reptile_records::detect::{Content, ExpectedInput};
use reptile_records::open::Input;
use reptile_records::place::Place;

/// A set's bytes and their source.
pub struct Loaded {
    pub path: Place,
    bytes: Bytes,
    /// The compiler's report, if the set was compiled from an input.
    pub report: Option<Report>,
    /// The number of other directives in a single robots.txt that exceed a limit.
    left_out: u64,
}

enum Bytes {
    Mapped(MappedFile),
    Compiled(Vec<u8>),
}

impl Loaded {
    /// Returns a set that was compiled in memory.
    pub fn compiled(path: Place, bytes: Vec<u8>, report: Option<Report>, left_out: u64) -> Loaded {
        Loaded { path, bytes: Bytes::Compiled(bytes), report, left_out }
    }

    /// Maps a set file and checks its header.
    ///
    /// # Errors
    /// Returns an error if the file cannot be mapped, or its header is invalid.
    pub fn open_set(path: &Place) -> Result<Loaded> {
        let input = Input::open_no_pipe(path)?;
        if input.content != Content::Set || input.compression.is_some() {
            return Err(input.refused(ExpectedInput::Set).into());
        }
        Loaded::map(path)
    }

    /// Maps an uncompressed set file and checks its header.
    ///
    /// # Errors
    /// Returns an error if the file cannot be mapped, or its header is invalid.
    pub fn map(path: &Place) -> Result<Loaded> {
        let loaded = Loaded { path: path.into(), bytes: Bytes::Mapped(map::map(path)?), report: None, left_out: 0 };
        loaded.set()?;
        Ok(loaded)
    }

    /// Returns whether a path is a set file, by its first bytes.
    ///
    /// # Errors
    /// Returns an error if the path does not exist or cannot be read.
    pub fn is_set(path: &Place) -> Result<bool> {
        if path.is_standard() || path.is_remote_folder() {
            return Ok(false);
        }
        let may_be_set = path.is_remote() || path.metadata().map_err(|error| Failure::at(path, error))?.is_file();
        if !may_be_set {
            return Ok(false);
        }
        starts_with_label(path).map_err(|error| Failure::at(path, error))
    }

    /// Prints a note if a set has no other directives, for example because it was compiled with `--omit other`, or if a
    /// limit left some out.
    pub fn note_without_other_directives(&self, set: &Set<&[u8]>) {
        let in_report = |kind| self.report.as_ref().and_then(|report| report.diagnostics.get(kind));
        let counted: u64 = OVER_LIMIT.iter().filter_map(in_report).sum();
        let (path, left_out) = (self.path.display(), self.left_out + counted);
        if left_out > 0 {
            note(format_args!(
                "{path}: {} other directives are left out, because they exceed a limit",
                grouped(left_out)
            ));
        } else if !set.has_other_directives() {
            note(format_args!("{path}: no other directives in it"));
        }
    }

    /// Returns the set's bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(mapped) => mapped.as_ref(),
            Bytes::Compiled(bytes) => bytes,
        }
    }

    /// Returns the mapped file, or `None` if the set was compiled in memory.
    pub fn mapped(&self) -> Option<&MappedFile> {
        match &self.bytes {
            Bytes::Mapped(mapped) => Some(mapped),
            Bytes::Compiled(_) => None,
        }
    }

    /// Converts the bytes to the library's set.
    ///
    /// # Errors
    /// Returns an error if the header is invalid.
    pub fn into_set(self) -> Result<reptile::Set> {
        let set = match self.bytes {
            Bytes::Mapped(file) => reptile::Set::map(file),
            Bytes::Compiled(bytes) => reptile::Set::from_bytes(bytes),
        };
        set.map_err(|error| Failure::at(&self.path, error))
    }

    /// Returns the set, after checking its header.
    ///
    /// # Errors
    /// Returns an error if the header is invalid.
    pub fn set(&self) -> Result<Set<&[u8]>> {
        Set::from_bytes(self.bytes()).map_err(|error| damaged(&self.path, &error))
    }

    /// Returns the set, after checking every byte of a set file. A newly compiled set needs no check. Cost: reads the
    /// whole file, on all threads.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn verified(&self) -> Result<Set<&[u8]>> {
        let set = self.set()?;
        if let Bytes::Mapped(_) = self.bytes {
            let parts = set.verify_parts();
            // The error in the first part is reported, so that the message does not depend on thread timing.
            let failed = parts.par_iter().map(|part| set.verify_part(part)).find_first(std::result::Result::is_err);
            failed.unwrap_or(Ok(())).map_err(|error| damaged(&self.path, &error))?;
        }
        Ok(set)
    }
}

/// Returns whether a file or a remote object starts like a set.
///
/// # Errors
/// Returns an error if it cannot be read.
pub fn starts_with_label(path: &Place) -> io::Result<bool> {
    let mut start = Vec::new();
    path.open()?.take(LABEL_START_BYTES as u64).read_to_end(&mut start)?;
    Ok(start.len() == LABEL_START_BYTES && reptile::contents::has_label(&start))
}
