//! Compiled sets to query: mapped from a set file, or compiled in memory from an input.
//!
//! This module opens a path as a [`Loaded`] set. [`map`] maps files, and [`assemble`] compiles inputs on all threads.
//! [`readers`] reads the inputs, and [`memory_budget`] bounds the memory. [`single`] compiles one robots.txt. [`report`]
//! counts the captures in a set, [`messages`] prints messages about them, and [`fates`] records what became of each.
//! [`agents`] resolves the crawlers that the user names.

pub mod agents;
pub mod assemble;
pub mod fates;
mod loaded;
pub mod map;
pub mod memory_budget;
mod messages;
mod readers;
pub mod report;
pub mod single;

use reptile::capture::Time;

pub use self::loaded::Loaded;
use self::loaded::starts_with_label;
use crate::error::{Failure, Result, note};
use crate::options::CompileOptions;
use crate::url_list::refuse_url_list;
use assemble::assemble;
use reptile_records::Inputs;
use reptile_records::detect::{Content, ExpectedInput};
use reptile_records::open::Input;
use reptile_records::open::read_input;
use reptile_records::place::Place;
use reptile_records::time::show_time;
use single::compile_one;

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
        let bytes = compile_one(path, &body, options.set.dialect())?;
        let left_out = single::left_out(&body, options.set.dialect());
        Ok((Loaded::compiled(path.into(), bytes, None, left_out), true))
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
        Ok(Loaded::compiled(path, set.to_bytes(), Some(report), 0))
    }
}

/// Returns whether `--host` names the origin of an input. A set file needs no host, and a folder's files give their own:
/// then the host is only for the requests of an access log.
pub fn takes_host(path: &Place, is_set: bool) -> bool {
    !is_set && !path.is_dir() && !path.is_remote_folder()
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
