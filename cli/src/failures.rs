//! Inputs that a run could not use and left out (`--keep-going`).
//!
//! One rule holds for every command and format. If the place of the next record is known, an unreadable record is
//! skipped and counted. Otherwise the input cannot be read to its end, and nothing in it is used: the run ends with an
//! error, or with `--keep-going` it goes on with the other inputs. A file in a folder that the system cannot read also
//! ends the run, or with `--keep-going` is skipped and counted ([`reptile_records::ReadOptions::skip_unreadable`]).

use std::collections::HashSet;

use crate::error::{Exit, Failure, Result, complain};
use crate::outputs::summary::grouped;
use crate::run::Run;
use reptile_records::place::Place;

/// Whether a run goes on after a failed input.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct KeepGoing {
    /// Leave out inputs that cannot be read to their ends, list them at the end, and exit with 1
    ///
    /// Nothing in such an input is used; of a folder, only the unreadable files are left out. Without this option, the
    /// first one ends the command with exit code 2.
    #[arg(long)]
    pub keep_going: bool,
}

/// The failed inputs of a run.
#[derive(Debug, Default)]
pub struct Failures {
    keeps_going: bool,
    /// The failed inputs, each with its whole message.
    all: Vec<(Place, String)>,
}

impl Failures {
    /// Creates an empty list.
    pub fn new(option: KeepGoing) -> Failures {
        Failures { keeps_going: option.keep_going, all: Vec::new() }
    }

    /// Returns whether the run goes on after a failed input.
    pub fn keeps_going(&self) -> bool {
        self.keeps_going
    }

    /// Returns the failed inputs, each with its message, which does not repeat the path.
    fn inputs(&self) -> impl Iterator<Item = (&Place, &str)> {
        self.all.iter().map(|(path, message)| {
            let shown = path.shown();
            let error = message.strip_prefix(&*shown).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message);
            (path, error)
        })
    }

    /// Adds an input, if its failure lets the run go on.
    ///
    /// # Errors
    /// Returns the failure if it must end the run: without `--keep-going`, or if it does not concern this input alone.
    pub fn add(&mut self, input: &Place, failure: Failure) -> Result<()> {
        if !self.keeps_going || !failure.is_about(input) {
            return Err(failure);
        }
        self.all.push((input.into(), format!("{failure:#}")));
        Ok(())
    }

    /// Returns the value, or `None` if the input failed and was added.
    ///
    /// # Errors
    /// Returns the errors of [`Failures::add`].
    pub fn keep<T>(&mut self, input: &Place, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(failure) => self.add(input, failure).map(|()| None),
        }
    }

    /// Does the same as [`Failures::keep`], also for failures about the input's output.
    ///
    /// # Errors
    /// Returns the errors of [`Failures::add`].
    pub fn keep_about<T>(&mut self, input: &Place, output: &Place, result: Result<T>) -> Result<Option<T>> {
        match result {
            Err(failure) if self.keeps_going && failure.is_about(output) => {
                self.all.push((input.into(), format!("{failure:#}")));
                Ok(None)
            }
            result => self.keep(input, result),
        }
    }

    /// Returns the inputs that did not fail.
    pub fn without<'p>(&self, inputs: &'p [Place]) -> impl Iterator<Item = &'p Place> {
        let failed: HashSet<&Place> = self.all.iter().map(|(path, _)| path).collect();
        inputs.iter().filter(move |input| !failed.contains(input))
    }

    /// Prints and records the failed inputs at the end of a run with `count` inputs, and returns its exit code.
    ///
    /// # Errors
    /// Returns the run's own error.
    pub fn close(&self, run: &Run, count: usize, result: Result<Exit>) -> Result<Exit> {
        if self.all.is_empty() {
            return result;
        }
        self.inputs().for_each(|(path, error)| run.add_failure(path, error));
        let (failed, count) = (grouped(self.all.len() as u64), grouped(count as u64));
        complain(format_args!("{failed} of {count} inputs failed, and nothing in them is used:"));
        for (_, message) in &self.all {
            complain(format_args!("  {message}"));
        }
        result.map(|_| Exit::SomeBad)
    }

    /// Rejects inputs that cannot be read again, because a failed input is left out by reading the others again.
    ///
    /// # Errors
    /// Returns an error with `--keep-going` if an input is standard input, a pipe or a device.
    pub fn refuse_streams(&self, inputs: &[Place]) -> Result<()> {
        let is_stream = |input: &&Place| input.is_standard() || input.is_special();
        match inputs.iter().find(is_stream).filter(|_| self.keeps_going) {
            Some(input) => {
                let message = "--keep-going requires files and folders, because it may have to read them twice";
                Err(Failure::at(input, message))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_of_an_input_let_the_run_go_on() {
        let path = &Place::from("in");
        let missing = || reptile_records::open::Input::open("/no/such/file").err().map(Failure::from);
        for (failure, keeps_going, goes_on) in [
            (Failure::at(path, "is damaged"), true, true),
            (Failure::at(path, "is damaged"), false, false),
            (Failure::at("set", "is damaged"), true, false),
            (Failure::new("the disk is full"), true, false),
            (Failure::Quiet, true, false),
        ] {
            let mut failures = Failures::new(KeepGoing { keep_going: keeps_going });
            assert_eq!(failures.add(path, failure).is_ok(), goes_on);
            assert_eq!(failures.inputs().count(), usize::from(goes_on));
        }
        let mut failures = Failures::new(KeepGoing { keep_going: true });
        failures.add(&Place::from("/no/such/file"), missing().unwrap()).unwrap();
        failures.add(path, Failure::at(path, "is damaged")).unwrap();
        let found: Vec<_> = failures.inputs().collect();
        assert_eq!(found[0].0, &Place::from("/no/such/file"));
        assert!(found[0].1.starts_with("No such file"), "{found:?}");
        assert_eq!(found[1], (path, "is damaged"));
    }
}
