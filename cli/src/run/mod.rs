//! A run's record: inputs, counts and outputs ([`lineage`]), options ([`options`]), and the file for `--metrics`
//! ([`metrics`]). It contains neither credentials nor environment variables.
//!
//! A command adds a [`Lineage`] whenever it finishes a part, such as a list and its output. The counts come from the
//! structures that also yield the summary on standard error.

pub mod lineage;
pub mod metrics;
pub mod options;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
use reptile_records::fingerprint::Fingerprint;
use reptile_records::place::Place;
use reptile_records::redacted::redacted_text;

use self::lineage::{InputState, Lineage, OutputState};
use self::metrics::{FailedInput, Metrics, MetricsFile, MetricsOptions};
use self::options::Options;
use crate::error::{Exit, Failure, Result, complain, note};
use crate::outputs::file::Output;
use crate::outputs::identity::{Identity, Tool};
use crate::same_file::{is_same_place, refuse_overwriting};

/// One run.
pub struct Run {
    command: String,
    options: Options,
    start: Instant,
    metrics: Option<OpenMetrics>,
    state: Mutex<RunState>,
}

/// An open metrics file.
struct OpenMetrics {
    path: Place,
    output: Output,
    has_input_checksums: bool,
}

/// The recorded parts.
#[derive(Default)]
struct RunState {
    lineage: Lineage,
    failures: Vec<FailedInput>,
    kept_outputs: u64,
    /// Rows that earlier runs read for them.
    kept_rows: u64,
    /// Whether the metrics file's name belongs to an input or another output. Then it must not be written.
    has_other_path: bool,
}

impl Run {
    /// Starts a command's record.
    pub fn new(command: &str, options: Options) -> Run {
        Run {
            command: command.to_owned(),
            options,
            start: Instant::now(),
            metrics: None,
            state: Mutex::new(RunState::default()),
        }
    }

    /// Opens the metrics file, if `--metrics` is given.
    ///
    /// # Errors
    /// Returns the errors of [`metrics::open`].
    pub fn open_metrics(&mut self, options: Option<&MetricsOptions>) -> Result<()> {
        if let Some(MetricsFile { path, has_checksums }) = options.and_then(|options| options.metrics.as_ref()) {
            let output = metrics::open(path)?;
            self.metrics = Some(OpenMetrics { path: path.clone(), output, has_input_checksums: *has_checksums });
        }
        Ok(())
    }

    /// Returns whether a metrics file is written.
    pub fn has_metrics(&self) -> bool {
        self.metrics.is_some()
    }

    /// Checks that the metrics file is neither an input nor another output.
    ///
    /// # Errors
    /// Returns an error if it is.
    pub fn check_metrics_path<'i, 'o>(
        &self,
        inputs: impl IntoIterator<Item = &'i Place>,
        outputs: impl IntoIterator<Item = &'o Place>,
    ) -> Result<()> {
        let Some(OpenMetrics { path, .. }) = &self.metrics else { return Ok(()) };
        let checked = refuse_overwriting(path, inputs).and_then(|()| {
            match outputs.into_iter().any(|output| is_same_place(path, output)) {
                true => Err(Failure::at(path, "is another output too; choose another name for --metrics")),
                false => Ok(()),
            }
        });
        self.state().has_other_path |= checked.is_err();
        checked
    }

    /// Returns a lineage with the command and its options, for one part.
    pub fn lineage(&self) -> Lineage {
        Lineage {
            schema: lineage::SCHEMA.into(),
            made_by: Tool::this(),
            command: self.command.clone(),
            options: self.options.clone(),
            ..Lineage::default()
        }
    }

    /// Adds a finished part.
    pub fn add(&self, part: Lineage) {
        self.state().lineage.merge(part);
    }

    /// Adds a part that an earlier run has finished.
    pub fn add_kept(&self, part: Lineage) {
        let mut state = self.state();
        state.kept_outputs += 1;
        state.kept_rows += part.rows.read.unwrap_or_default();
        state.lineage.merge(part);
    }

    /// Adds an input that could not be processed, while the run continues. Call it in input order.
    pub fn add_failure(&self, path: &Place, error: &str) {
        let path = path.shown();
        self.state().failures.push(FailedInput { path, error: redacted_text(error) });
    }

    fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the metrics file, if `--metrics` is given, and returns the run's result.
    ///
    /// # Errors
    /// Returns the run's error. After a successful run, returns an error if the file cannot be written.
    pub fn finish(self, result: Result<Exit>) -> Result<Exit> {
        let Some(OpenMetrics { output, has_input_checksums, .. }) = self.metrics else { return result };
        let seconds = self.start.elapsed().as_secs_f64();
        let RunState { lineage: all, failures, kept_outputs, kept_rows, has_other_path } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if has_other_path {
            return result;
        }
        let mut lineage = Lineage {
            schema: metrics::SCHEMA.into(),
            made_by: Tool::this(),
            command: self.command,
            options: self.options,
            ..all
        };
        let new_rows = lineage.rows.read.map(|read| read - kept_rows);
        if has_input_checksums {
            lineage.inputs.par_iter_mut().for_each(add_checksum);
        }
        lineage.outputs.par_iter_mut().for_each(add_identity);
        let metrics = Metrics {
            lineage,
            failures,
            kept_outputs,
            exit_code: exit_code(&result),
            error: result.as_ref().err().map(|failure| redacted_text(&format!("{failure:#}"))),
            seconds,
            rows_per_second: new_rows.map(|rows| rows as f64 / seconds.max(1e-9)),
            peak_memory_bytes: metrics::peak_memory(),
        };
        match (metrics::write(&metrics, output), result) {
            (Err(failure), Err(first @ Failure::Fatal(_))) => {
                complain(format_args!("{failure:#}"));
                Err(first)
            }
            (Err(failure), _) => Err(failure),
            (Ok(()), result) => result,
        }
    }
}

/// Returns the exit code for a command's result.
pub fn exit_code(result: &Result<Exit>) -> u8 {
    match result {
        Ok(Exit::Done) | Err(Failure::Quiet) => 0,
        Ok(Exit::SomeBad) => 1,
        Err(Failure::Fatal(_)) => 2,
    }
}

/// Adds an input's hash, if the input has not changed since it was opened.
fn add_checksum(input: &mut InputState) {
    if input.bytes.is_none() || input.xxh3_64.is_some() {
        return;
    }
    let current = Fingerprint::with_checksum(&input.file).map(|current| InputState::new(&input.file, &current));
    match current {
        Ok(current) if InputState { xxh3_64: None, ..current.clone() }.is_as(input) => input.xxh3_64 = current.xxh3_64,
        _ => note(format_args!("{}: has changed; its checksum is not in the metrics", input.path)),
    }
}

/// Adds an output file's size and hash, unless they are known. Standard output and devices lack them.
fn add_identity(output: &mut OutputState) {
    if output.bytes.is_some() || !output.file.local().is_some_and(Path::is_file) {
        return;
    }
    if let Ok(identity) = Identity::of_file(&output.file) {
        *output = output.clone().with(&identity);
    }
}
