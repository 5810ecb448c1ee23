//! The file for `--metrics`: a run's [`Lineage`], result, time and memory.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use clap::builder::{OsStringValueParser, TypedValueParser};
use serde::Serialize;

use super::lineage::Lineage;
use crate::error::{Failure, Result};
use crate::outputs::file::Output;
use crate::outputs::json::json_lines;
use reptile_records::place::Place;

/// The schema's name and version. Only changed or removed fields need a new version.
pub const SCHEMA: &str = "reptile-run/1";

/// The bytes that every metrics file starts with, before the version.
const START: &[u8] = b"{\n  \"schema\": \"reptile-run/";

/// Extensions for compressed files. Metrics are not compressed.
const COMPRESSED: [&str; 4] = ["gz", "zst", "bz2", "xz"];

/// The options for metrics.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct MetricsOptions {
    /// Write the run's inputs, options, counts, outputs, time and memory to this file, as JSON
    ///
    /// The guide page batches.md lists the fields. A failed run writes the file too, with its exit code and the error.
    /// An earlier metrics file of that name is removed when the run starts; another file is never replaced.
    ///
    /// FILE.json,checksums adds checksums of the inputs, which reads every input once more.
    #[arg(long, value_name = "FILE.json", value_parser = OsStringValueParser::new().map(MetricsFile::of))]
    pub metrics: Option<MetricsFile>,
}

/// The suffix of the option's value that requests checksums.
const CHECKSUMS: &str = ",checksums";

/// The file for metrics.
#[derive(Clone, Debug)]
pub struct MetricsFile {
    pub path: Place,
    /// Whether inputs get checksums.
    pub has_checksums: bool,
}

impl MetricsFile {
    fn of(value: OsString) -> MetricsFile {
        let path = value.to_str().and_then(|text| text.strip_suffix(CHECKSUMS));
        MetricsFile { has_checksums: path.is_some(), path: path.map_or_else(|| Place::from(&*value), Place::from) }
    }
}

/// A metrics file's contents.
#[derive(Serialize)]
pub struct Metrics {
    /// The fields that are the same in equal runs, with this type's schema.
    #[serde(flatten)]
    pub lineage: Lineage,
    /// Inputs that could not be processed, while the run went on.
    pub failures: Vec<FailedInput>,
    /// Outputs that an earlier run had finished, also counted above.
    pub kept_outputs: u64,
    pub exit_code: u8,
    /// The error that ended the run.
    pub error: Option<String>,
    pub seconds: f64,
    /// Rows per second, without those that an earlier run read.
    pub rows_per_second: Option<f64>,
    pub peak_memory_bytes: Option<u64>,
}

/// An input that could not be processed, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedInput {
    pub path: String,
    pub error: String,
}

/// Removes an earlier run's file, and opens a new one.
///
/// # Errors
/// Returns an error if another file has the name, or if the file cannot be created.
pub fn open(path: &Place) -> Result<Output> {
    if path.is_standard() {
        return Err(Failure::new("--metrics: expected a file name; standard output is for results"));
    }
    if path.extension().is_some_and(|end| COMPRESSED.iter().any(|known| end.eq_ignore_ascii_case(known))) {
        return Err(Failure::at(path, "--metrics are not compressed; expected a name such as metrics.json"));
    }
    let Place::Local(file) = path else { return Output::create_file(path, false) };
    match fs::metadata(file) {
        // Devices and pipes.
        Ok(found) if !found.is_file() && !found.is_dir() => return Output::create(path, false),
        Ok(found) if found.is_file() => {
            if !is_metrics(file).map_err(|error| Failure::at(path, error))? {
                return Err(Failure::at(path, "exists and is not a metrics file; choose another name for --metrics"));
            }
            fs::remove_file(file).map_err(|error| Failure::at(path, format!("cannot be replaced: {error}")))?;
        }
        _ => {}
    }
    Output::create_file(path, false)
}

/// Returns whether a file starts as a metrics file does.
fn is_metrics(path: &Path) -> std::io::Result<bool> {
    let mut start = [0; START.len()];
    match File::open(path)?.read_exact(&mut start) {
        Ok(()) => Ok(start == START),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes the file and gives it its name.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(metrics: &Metrics, mut output: Output) -> Result<()> {
    let json = json_lines(metrics)?;
    output.write_all(json.as_bytes()).map_err(|error| output.failure(&error))?;
    output.finish()
}

/// Returns this process's peak memory in bytes, if the system reports it. `getrusage` would include memory that the
/// parent process used.
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
