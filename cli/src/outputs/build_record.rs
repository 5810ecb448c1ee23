//! `SET.made.json`: a build record in a file next to the set. Records for other files are also read and written here.
//!
//! A set's bytes depend only on the robots.txt files and the relevant options, so equal inputs yield equal sets. Other
//! information, such as the tool version and input paths, is in this record, together with the set's checksum. No
//! command requires it; `reptile inspect` shows it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use reptile::files::target_of;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::file::{Complete, Output};
use super::json::json_lines;
use super::summary::{Summary, grouped};
use crate::error::{Failure, Result};
use crate::options::CompileOptions;
use crate::sets::report::Report;
use reptile_records::text::printable;
use reptile_records::time::show_time;

/// The suffix added to the set's name.
const SUFFIX: &str = ".made.json";

/// Number of bytes per read.
const READ_BYTES: usize = 1 << 20;

/// Maximum size of a record in bytes, longer than any command line.
const MAX_BYTES: u64 = 16 << 20;

/// A build record.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct BuildRecord {
    made_by: Tool,
    set: Identity,
    dialect: String,
    profile: String,
    /// The set's time, if any capture has a time or `--at` was given.
    as_of: Option<String>,
    options: Options,
    inputs: Vec<Input>,
    /// Number of redirects and revisits skipped because their target was not among the inputs compiled together, or
    /// `null` if a merged set does not record it.
    #[serde(default)]
    unresolved: Option<u64>,
}

/// The program that wrote a file.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Tool {
    name: String,
    version: String,
}

impl Tool {
    /// Returns this program's name and version.
    pub fn this() -> Tool {
        Tool { name: "reptile".into(), version: env!("CARGO_PKG_VERSION").into() }
    }
}

/// A file's length and the XXH3-64 hash of its bytes, in hexadecimal.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Identity {
    bytes: u64,
    xxh3_64: String,
}

/// The compile options, including defaults.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Options {
    at: Option<String>,
    #[serde(default)]
    timezone: String,
    strategy: String,
    schemes: Vec<String>,
    host: Option<String>,
    no_other: bool,
    #[serde(default)]
    no_lines: bool,
    #[serde(default)]
    by_time: bool,
    #[serde(default)]
    resync: bool,
    /// The folder of the WARC files in an index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warc_root: Option<String>,
}

/// An input as given, and its contents.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Input {
    path: String,
    /// Number of files and captures read. For a set, the number of origins.
    captures: u64,
    /// Total size of the decompressed bodies in bytes.
    bytes: u64,
    /// Number of files and captures skipped as invalid.
    bad: u64,
}

impl Identity {
    /// Returns the identity for a file's bytes. Cost: reads every byte.
    pub fn of(file: &[u8]) -> Identity {
        Identity { bytes: file.len() as u64, xxh3_64: format!("{:016x}", xxh3_64(file)) }
    }

    /// Returns the identity for a file on disk, read in pieces.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn of_file(path: &Path) -> io::Result<Identity> {
        let mut file = File::open(path)?;
        let (mut hash, mut bytes, mut buffer) = (Xxh3Default::new(), 0, vec![0; READ_BYTES]);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(Identity { bytes, xxh3_64: format!("{:016x}", hash.digest()) }),
                Ok(len) => {
                    hash.update(&buffer[..len]);
                    bytes += len as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl BuildRecord {
    /// Returns the record for a newly compiled set.
    pub fn new(set: &[u8], inputs: &[PathBuf], options: &CompileOptions, report: &Report) -> BuildRecord {
        let counts = inputs.iter().zip(&report.inputs);
        BuildRecord {
            made_by: Tool::this(),
            set: Identity::of(set),
            dialect: options.dialect().as_str().into(),
            profile: options.profile().as_str().into(),
            as_of: report.captures.at.map(show_time),
            options: Options {
                at: options.at().ok().flatten().map(show_time),
                timezone: options.zone.timezone.to_string(),
                strategy: options.strategy_name().into(),
                schemes: options.schemes().into_iter().map(|scheme| scheme.as_str().into()).collect(),
                host: options.host.clone(),
                no_other: options.no_other,
                no_lines: options.no_lines,
                by_time: options.by_time,
                resync: options.archives.resync,
                warc_root: options.warc_root.as_ref().map(|folder| folder.display().to_string()),
            },
            inputs: counts
                .map(|(path, counts)| Input {
                    path: path.display().to_string(),
                    captures: counts.captures,
                    bytes: counts.bytes,
                    bad: counts.bad,
                })
                .collect(),
            unresolved: report.all_unresolved(),
        }
    }

    /// Writes the record to an unpublished file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&self, output: Output) -> Result<Option<Complete>> {
        write(self, output)
    }

    /// Adds human-readable rows.
    fn describe(&self, summary: &mut Summary) {
        let shown = |text: &str| printable(text.as_bytes());
        summary.row("made by", format!("{} {}", shown(&self.made_by.name), shown(&self.made_by.version)));
        for Input { path, captures, bytes, bad } in &self.inputs {
            let bad = if *bad > 0 { format!(", {} bad and left out", grouped(*bad)) } else { String::new() };
            let counts = format!("{} read, {} bytes{bad}", grouped(*captures), grouped(*bytes));
            summary.row("  input", format!("{}: {counts}", shown(path)));
        }
        if let Some(unresolved) = self.unresolved.filter(|&count| count > 0) {
            summary.count("  unresolved redirects and revisits", unresolved);
        }
    }
}

/// Writes a record to an unpublished file.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(record: &impl Serialize, mut output: Output) -> Result<Option<Complete>> {
    let json = json_lines(record)?;
    output.write_all(json.as_bytes()).map_err(|error| output.failure(&error))?;
    output.complete()
}

/// Returns the path of a file's record.
///
/// # Errors
/// Returns an error if the file is a dangling symbolic link.
pub fn path_of(file: &Path) -> Result<PathBuf> {
    let mut path = OsString::from(target_of(file).map_err(|error| Failure::at(file, error))?);
    path.push(SUFFIX);
    Ok(path.into())
}

/// Adds rows with a set's build record. Without a record, nothing is added. If the record is malformed or belongs to
/// another set, a remark is added.
///
/// # Errors
/// Returns an error if the path cannot be looked up. An unreadable record is not an error, since the set can be shown
/// without it.
pub fn describe(set: &Path, bytes: &[u8], summary: &mut Summary) -> Result<()> {
    let path = path_of(set)?;
    let unknown = |why: String| format!("unknown: {} {why}", path.display());
    match read::<BuildRecord>(&path) {
        Ok(None) => {}
        Ok(Some(record)) if record.set == Identity::of(bytes) => record.describe(summary),
        Ok(Some(_)) => summary.row("made by", unknown("belongs to another set".into())),
        Err(error) => summary.row("made by", unknown(error)),
    }
    Ok(())
}

/// Returns a set's record as JSON, or null if it is missing or belongs to another set.
///
/// # Errors
/// Returns an error under the conditions listed for [`describe`].
pub fn json(set: &Path, bytes: &[u8]) -> Result<serde_json::Value> {
    let record = read::<BuildRecord>(&path_of(set)?).ok().flatten().filter(|record| record.set == Identity::of(bytes));
    serde_json::to_value(record).map_err(Failure::new)
}

/// Returns the number of unresolved redirects and revisits in a set, or `None` if the set does not record it.
pub fn unresolved(set: &Path, bytes: &[u8]) -> Option<u64> {
    let record = read::<BuildRecord>(&path_of(set).ok()?).ok().flatten()?;
    record.unresolved.filter(|_| record.set == Identity::of(bytes))
}

/// Reads a record, if it exists.
///
/// # Errors
/// Returns the problem with the file, worded to follow its name.
pub fn read<T: DeserializeOwned>(path: &Path) -> std::result::Result<Option<T>, String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let mut json = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut json).map_err(|error| format!("cannot be read: {error}"))?;
    if json.len() as u64 > MAX_BYTES {
        return Err(format!("is too large; the limit is {} bytes", grouped(MAX_BYTES)));
    }
    serde_json::from_slice(&json).map(Some).map_err(|error| format!("is malformed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> BuildRecord {
        let report = Report { inputs: vec![Default::default()], ..Report::default() };
        BuildRecord::new(b"set", &["in\u{202e}put".into()], &CompileOptions::default(), &report)
    }

    #[test]
    fn records_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.made.json");
        assert_eq!(read::<BuildRecord>(&path), Ok(None));
        std::fs::write(&path, json_lines(&record()).unwrap()).unwrap();
        assert_eq!(read(&path), Ok(Some(record())));
        let mut summary = Summary::default();
        describe(&folder.path().join("s"), b"set", &mut summary).unwrap();
        assert!(summary.render().contains("in\\u{202e}put: 0 read, 0 bytes\n"), "{}", summary.render());
        let mut summary = Summary::default();
        describe(&folder.path().join("s"), b"sex", &mut summary).unwrap();
        assert!(summary.render().ends_with("belongs to another set\n"), "{}", summary.render());
    }

    #[test]
    fn disk_and_memory_have_the_same_identity() {
        let folder = tempfile::tempdir().unwrap();
        for len in [0, 1, READ_BYTES - 1, READ_BYTES, READ_BYTES + 1] {
            let (path, bytes) = (folder.path().join("x"), vec![len as u8; len]);
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(Identity::of_file(&path).unwrap(), Identity::of(&bytes));
        }
    }

    #[test]
    fn record_size_stops_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.made.json");
        let json = json_lines(&record()).unwrap();
        for (len, fits) in [(MAX_BYTES - 1, true), (MAX_BYTES, true), (MAX_BYTES + 1, false)] {
            let padding = " ".repeat(len as usize - json.len());
            std::fs::write(&path, format!("{json}{padding}")).unwrap();
            assert_eq!(read::<BuildRecord>(&path).is_ok(), fits, "{len}");
        }
    }
}
