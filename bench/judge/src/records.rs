//! The records of a run: one JSON object per line in `run.jsonl`, which reports are generated from. Each record is
//! written as soon as it is known, so a killed run keeps its results.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::{Hello, Sample};

/// Name of the record file in a run's folder.
pub const FILE: &str = "run.jsonl";

/// Maximum size of a record in bytes.
const MAX_RECORD_BYTES: usize = 16 << 20;

/// A record.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Record {
    /// The run; the first record.
    Run(RunRecord),
    /// An engine listed in `engines.toml`.
    Engine(EngineRecord),
    /// A corpus used in the run.
    Corpus(CorpusRecord),
    /// An engine's answers about a robots.txt.
    Answers(AnswersRecord),
    /// A failure or refusal.
    Failure(Failure),
    /// An engine's agreement with a dialect.
    Score(Score),
    /// Differences between two engines.
    Pair(Pair),
    /// A minimized difference.
    Difference(Difference),
    /// A difference with a known cause.
    Traced(Traced),
    /// A speed measurement.
    Speed(Speed),
    /// An engine's result for a hostile file.
    Hostile(Hostile),
    /// An engine's memory use.
    Memory(Memory),
    /// The end, if the run is complete; the last record.
    End(EndRecord),
}

/// The circumstances of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunRecord {
    /// The judge's version.
    pub version: String,
    /// The start, in UTC.
    pub started: String,
    /// The command line.
    pub command: Vec<String>,
    /// The seed for fresh rows and the URL order.
    pub seed: u64,
    /// The machine: names and values.
    pub machine: Vec<(String, String)>,
    /// The time budget of each measurement in ms.
    pub budget_ms: u64,
    /// Number of rounds.
    pub rounds: usize,
}

/// An engine, available or absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EngineRecord {
    /// Its name in `engines.toml`.
    pub engine: String,
    /// The claimed dialect.
    pub dialect: String,
    /// The language, according to `engines.toml`.
    pub language: String,
    /// The missing requirement, if it is absent.
    pub absent: Option<String>,
    /// Whether it is a command that runs once per question.
    pub is_command: bool,
    /// Its self-description.
    pub hello: Option<Hello>,
}

/// A corpus.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CorpusRecord {
    /// Its name.
    pub corpus: String,
    /// A description, or the reason why it is absent.
    pub about: String,
    /// Number of rows, or 0 if it is absent.
    pub rows: usize,
}

/// Answers about a robots.txt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AnswersRecord {
    /// The engine.
    pub engine: String,
    /// The corpus.
    pub corpus: String,
    /// The robots.txt.
    pub group: String,
    /// A letter for each row.
    pub verdicts: String,
}

/// A failure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The engine.
    pub engine: String,
    /// The place: corpus, model or hostile file, and robots.txt.
    pub at: String,
    /// The letter.
    pub letter: char,
    /// The cause.
    pub why: String,
}

/// An engine's agreement with a dialect on a corpus.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Score {
    /// The engine.
    pub engine: String,
    /// The corpus.
    pub corpus: String,
    /// The topic of the rows, or empty.
    pub tag: String,
    /// The dialect.
    pub dialect: String,
    /// Number of rows.
    pub rows: usize,
    /// Rows with the dialect's verdict.
    pub right: usize,
    /// Rows with the opposite verdict.
    pub wrong: usize,
    /// Rows that the implementation's interface does not accept.
    pub unsupported: usize,
    /// Rows without a verdict for other reasons.
    pub failed: usize,
    /// Rows for which both sides know the line.
    pub lines: usize,
    /// Rows with the same line.
    pub lines_right: usize,
}

/// A comparison of two engines on a corpus.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// One engine.
    pub a: String,
    /// The other.
    pub b: String,
    /// The corpus.
    pub corpus: String,
    /// Rows on which both give a verdict.
    pub rows: usize,
    /// Rows with different verdicts.
    pub differ: usize,
}

/// A minimized difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The engine.
    pub engine: String,
    /// The other engine, or the first engine's claimed dialect.
    pub against: String,
    /// Whether the other side is an engine.
    pub is_engine: bool,
    /// The corpus and robots.txt that contained it.
    pub found_in: String,
    /// Lines of the minimized robots.txt, with `\xNN` for non-text bytes.
    pub body: Vec<String>,
    /// The minimized robots.txt in base64.
    pub body_base64: String,
    /// The crawler.
    pub agent: String,
    /// The minimized URL.
    pub url: String,
    /// The engine's verdict.
    pub verdict: char,
    /// The other side's verdict.
    pub other: char,
    /// Each dialect's name and verdict.
    pub dialects: Vec<(String, char)>,
}

/// A difference that was traced to source code, with the engines' current verdicts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// A short description.
    pub name: String,
    /// The lines of the robots.txt.
    pub body: Vec<String>,
    /// The crawler.
    pub agent: String,
    /// The URL.
    pub url: String,
    /// Each engine's name, recorded verdict, and current verdict unless it is absent.
    pub verdicts: Vec<(String, char, Option<char>)>,
    /// File and line in the implementation's source.
    pub r#where: String,
    /// The cause.
    pub why: String,
}

/// A speed measurement in one round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Speed {
    /// The engine.
    pub engine: String,
    /// The model.
    pub model: String,
    /// Name of the robots.txt files and URLs.
    pub input: String,
    /// Index of the round.
    pub round: usize,
    /// Rows or units per pass.
    pub units: usize,
    /// The engine's own measurements.
    pub samples: Vec<Sample>,
    /// The judge's waiting time in ns.
    pub wall_ns: u64,
    /// Why the measurement is void, if it is.
    pub void: Option<String>,
    /// Rows compared with the dialect.
    pub checked: usize,
    /// Compared rows with the dialect's verdict.
    pub right: usize,
    /// The dialect that rows are compared with.
    pub dialect: String,
}

/// An engine's result for a hostile file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hostile {
    /// The engine.
    pub engine: String,
    /// The file.
    pub file: String,
    /// Its size in bytes.
    pub bytes: usize,
    /// Time to load and decide in ns, by the judge's clock.
    pub ns: u64,
    /// A letter for each row.
    pub verdicts: String,
    /// Why there is no verdict, if there is none.
    pub why: Option<String>,
    /// Rows with the dialect's verdict.
    pub right: usize,
    /// Rows for which the dialect's verdict is known.
    pub known: usize,
}

/// Memory use of an engine's process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Memory {
    /// The engine.
    pub engine: String,
    /// Name of the robots.txt files.
    pub input: String,
    /// Number of files.
    pub files: usize,
    /// Total size in bytes.
    pub bytes: usize,
    /// Refused files.
    pub refused: usize,
    /// Resident bytes before loading.
    pub before: u64,
    /// Resident bytes after loading all files and asking about each once.
    pub after: u64,
    /// The process's peak resident bytes.
    pub peak: u64,
}

/// The end of a complete run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndRecord {
    /// The time, in UTC.
    pub ended: String,
}

/// The record file of a current run.
pub struct Writer(File);

impl Writer {
    /// Creates the folder and the record file.
    ///
    /// # Errors
    /// Returns an error if the file exists or cannot be created.
    pub fn create(folder: &Path) -> Result<Writer, String> {
        let path = folder.join(FILE);
        let made = std::fs::create_dir_all(folder).and_then(|()| File::create_new(&path));
        made.map(Writer).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => format!("{}: contains a run; give another folder with -o", folder.display()),
            _ => format!("{}: {error}", path.display()),
        })
    }

    /// Writes a record.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&mut self, record: &Record) -> Result<(), String> {
        let mut line = serde_json::to_string(record).map_err(|error| error.to_string())?;
        line.push('\n');
        self.0.write_all(line.as_bytes()).map_err(|error| format!("{FILE}: {error}"))
    }
}

/// Reads the records of a run. Ignores an incomplete last line, as left by a killed run.
///
/// # Errors
/// Returns an error if the file cannot be read, or names the first complete line that is not a record.
pub fn read(folder: &Path) -> Result<Vec<Record>, String> {
    let path = folder.join(FILE);
    let file = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut input = BufReader::new(file);
    let (mut records, mut number) = (Vec::new(), 0);
    loop {
        let mut line = Vec::new();
        number += 1;
        let at_fault = |fault: &dyn std::fmt::Display| format!("{}:{number}: {fault}", path.display());
        let limited = &mut std::io::Read::take(&mut input, MAX_RECORD_BYTES as u64 + 1);
        let length = limited.read_until(b'\n', &mut line).map_err(|error| at_fault(&error))?;
        if length > MAX_RECORD_BYTES {
            return Err(at_fault(&format!("a record exceeds {MAX_RECORD_BYTES} bytes")));
        }
        if line.last() != Some(&b'\n') {
            return Ok(records);
        }
        records.push(serde_json::from_slice(&line).map_err(|error| at_fault(&error))?);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(ended: &str) -> Record {
        Record::End(EndRecord { ended: ended.into() })
    }

    #[test]
    fn runs_are_not_overwritten_and_incomplete_lines_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(folder.path()).unwrap();
        writer.write(&end("1")).unwrap();
        writer.write(&end("2")).unwrap();
        assert!(Writer::create(folder.path()).is_err());
        assert_eq!(read(folder.path()).unwrap().len(), 2);
        let path = folder.path().join(FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 1]).unwrap();
        assert_eq!(read(folder.path()).unwrap().len(), 1);
        std::fs::write(&path, format!("nothing\n{text}")).unwrap();
        assert!(read(folder.path()).unwrap_err().contains("run.jsonl:1: "));
    }

    #[test]
    fn records_stop_at_the_size_limit() {
        let folder = tempfile::tempdir().unwrap();
        let empty = serde_json::to_string(&end("")).unwrap().len() + 1;
        for (bytes, is_good) in [(MAX_RECORD_BYTES - 1, true), (MAX_RECORD_BYTES, true), (MAX_RECORD_BYTES + 1, false)]
        {
            let text = serde_json::to_string(&end(&"x".repeat(bytes - empty))).unwrap() + "\n";
            assert_eq!(text.len(), bytes);
            std::fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(read(folder.path()).is_ok(), is_good, "{bytes}");
        }
    }
}
