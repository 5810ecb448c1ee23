//! Compiled sets to query: mapped from a set file, or compiled in memory from an input.
//!
//! [`map`] maps files, and [`assemble`] compiles inputs on all threads. [`readers`] reads the inputs, and
//! [`memory_budget`] bounds the memory. [`single`] compiles one robots.txt. [`report`] counts the captures in a set,
//! [`messages`] prints messages about them, and [`fates`] records what became of each. [`agents`] resolves the crawlers
//! that the user names.

pub mod agents;
pub mod assemble;
pub mod fates;
pub mod map;
pub mod memory_budget;
mod messages;
mod readers;
pub mod report;
pub mod single;

use std::io::{self, Read};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile::MappedFile;
use reptile::body::DiagnosticKind;
use reptile::capture::Time;
use reptile::contents::{LABEL_START_BYTES, Set};

use crate::error::{Failure, Result, damaged, note};
use crate::options::CompileOptions;
use crate::outputs::summary::grouped;
use crate::url_list::refuse_url_list;
use assemble::assemble;
use report::Report;
use reptile_records::Inputs;
use reptile_records::detect::{Content, ExpectedInput};
use reptile_records::open::Input;
use reptile_records::open::read_input;
use reptile_records::place::Place;
use reptile_records::time::show_time;
use single::compile_one;

/// A set's bytes and their source.
pub struct Loaded {
    path: Place,
    bytes: Bytes,
    /// The compiler's report, if the set was compiled from an input.
    pub report: Option<Report>,
    /// The number of other directives in a single robots.txt that exceed a limit.
    left_out: u64,
}

/// The diagnostics about other directives that are left out.
pub const OVER_LIMIT: [DiagnosticKind; 2] = [DiagnosticKind::DirectiveTooLong, DiagnosticKind::TooManyDirectives];

enum Bytes {
    Mapped(MappedFile),
    Compiled(Vec<u8>),
}

impl Loaded {
    /// Maps a set file, or reads and compiles an input.
    ///
    /// # Errors
    /// Returns an error if the file or the input cannot be read, if the set's header is invalid, or if compile
    /// options are given with a set file.
    pub fn open(path: &Place, options: &CompileOptions) -> Result<Loaded> {
        Loaded::of_input(Input::open_no_pipe(path)?.prefer_robots()?, options)
    }

    /// Opens a path like [`Loaded::open`], but reads a single file that is not a set as a robots.txt, and returns
    /// whether it did. Without `--host` its origin is [`single::ONE_ORIGIN`].
    ///
    /// # Errors
    /// The errors of [`Loaded::open`].
    pub fn open_or_robots(path: &Place, options: &CompileOptions) -> Result<(Loaded, bool)> {
        let input = Input::open(path)?.prefer_robots()?;
        if options.set.host.is_some() || input.content == Content::Set || input.is_collection() {
            return Ok((Loaded::of_input(input, options)?, false));
        }
        let body = read_input(single::one(input, ExpectedInput::Robots, options.set.profile())?)?;
        refuse_url_list(path, &body, || "expected a robots.txt".into())?;
        let bytes = Bytes::Compiled(compile_one(path, &body, options.set.dialect())?);
        let left_out = single::left_out(&body, options.set.dialect());
        Ok((Loaded { path: path.into(), bytes, report: None, left_out }, true))
    }

    /// Maps or compiles an open input.
    fn of_input(input: Input, options: &CompileOptions) -> Result<Loaded> {
        let path = input.path.clone();
        let is_file = options.set.host.is_some() && !input.is_collection() && input.content != Content::Set;
        let input = if is_file { single::one(input, ExpectedInput::Set, options.set.profile())? } else { input };
        match input.content {
            _ if is_file || input.is_collection() => {}
            Content::Set if input.is_regular && input.compression.is_none() => {
                let loaded = Loaded::map(&path)?;
                if options.set.are_given() {
                    let message =
                        "is a compiled set; --dialect, --profile and --host are for files that are not compiled";
                    return Err(Failure::at(&path, message));
                }
                return Ok(loaded);
            }
            _ => return Err(input.refused(ExpectedInput::Set).into()),
        }
        let (set, report) = assemble(Inputs::Opened(Box::new(input)), options)?;
        Ok(Loaded { path, bytes: Bytes::Compiled(set.to_bytes()), report: Some(report), left_out: 0 })
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

    fn map(path: &Place) -> Result<Loaded> {
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

/// Refuses a set that is given after the host, URL or other argument that should follow it.
///
/// # Errors
/// Returns an error with the correct order if `second` is a set's path and `first` is not.
pub fn refuse_swapped(command: &str, first: &Place, second: Option<&str>) -> Result<()> {
    let Some(set) = second.filter(|second| has_label(&Place::from(*second)) && !has_label(first)) else {
        return Ok(());
    };
    let first = first.display();
    Err(Failure::new(format!("{set}: is a compiled set, which comes first: `reptile {command} {set} {first}`")))
}

/// Prints a note that a set by time is used without a time. `options` are the command's options for times, if any.
pub fn note_without_times(path: &Place, time: Option<Time>, options: &str) {
    let path = path.display();
    let when = time.map_or_else(|| "its newest captures".to_owned(), |time| format!("its time, {}", show_time(time)));
    let more = if options.is_empty() { String::new() } else { format!("; {options} chooses others") };
    note(format_args!("{path}: has rules for several times; without a time, the rules of {when} apply{more}"));
}

/// Returns whether a file starts like a set. Pipes are not checked, because that would consume their first bytes.
fn has_label(path: &Place) -> bool {
    path.metadata().is_ok_and(|found| found.is_file()) && starts_with_label(path).unwrap_or(false)
}

/// Returns whether a file or a remote object starts like a set.
fn starts_with_label(path: &Place) -> io::Result<bool> {
    let mut start = Vec::new();
    path.open()?.take(LABEL_START_BYTES as u64).read_to_end(&mut start)?;
    Ok(start.len() == LABEL_START_BYTES && reptile::contents::has_label(&start))
}
