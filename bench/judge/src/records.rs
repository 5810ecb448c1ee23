//! The records of a run, one JSON object a line in `run.jsonl`: all that the report is made of. Written as soon as it is known, so
//! that a run that is killed leaves what it had.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::{Hello, Sample};

/// The name of the file in the folder of a run.
pub const FILE: &str = "run.jsonl";

/// The most bytes of a record.
const MAX_RECORD_BYTES: usize = 16 << 20;

/// A record.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Record {
    /// The run; the first record.
    Run(Run),
    /// An engine of `engines.toml`.
    Engine(EngineRecord),
    /// A corpus that engines were asked about.
    Corpus(CorpusRecord),
    /// The answers of an engine on a robots.txt.
    Answers(AnswersRecord),
    /// Something that went wrong, or was refused.
    Failure(Failure),
    /// How many verdicts of an engine are those of a dialect.
    Score(Score),
    /// How many verdicts of two engines differ.
    Pair(Pair),
    /// A difference, minimised.
    Difference(Difference),
    /// A difference whose reason is known.
    Traced(Traced),
    /// A measurement.
    Speed(Speed),
    /// An engine on a hostile file.
    Hostile(Hostile),
    /// The memory of an engine.
    Memory(Memory),
    /// The run is complete; the last record.
    End(End),
}

/// What was run, where, and when.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// The version of the judge.
    pub version: String,
    /// The start, in UTC.
    pub started: String,
    /// The command, as it was given.
    pub command: Vec<String>,
    /// The seed of the fresh rows and of the order of URLs.
    pub seed: u64,
    /// The machine: what, and its value.
    pub machine: Vec<(String, String)>,
    /// The time of each measurement in ms, and the number of rounds.
    pub budget_ms: u64,
    /// The number of rounds.
    pub rounds: usize,
}

/// An engine, whether it is there or not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EngineRecord {
    /// Its name in `engines.toml`.
    pub engine: String,
    /// The dialect that it claims.
    pub dialect: String,
    /// The language, as the file says.
    pub language: String,
    /// What is missing, if it is absent.
    pub absent: Option<String>,
    /// Whether it is a command, without a process that runs on.
    pub is_command: bool,
    /// What it says of itself.
    pub hello: Option<Hello>,
}

/// A corpus.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CorpusRecord {
    /// Its name.
    pub corpus: String,
    /// What it is, or why it is absent.
    pub about: String,
    /// The number of rows; 0 if it is absent.
    pub rows: usize,
}

/// Answers about one robots.txt.
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

/// Something that went wrong.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The engine.
    pub engine: String,
    /// Where: the corpus, the model or the hostile file, and the robots.txt.
    pub at: String,
    /// The letter.
    pub letter: char,
    /// What happened.
    pub why: String,
}

/// How an engine's verdicts compare with a dialect.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Score {
    /// The engine.
    pub engine: String,
    /// The corpus.
    pub corpus: String,
    /// What the rows are about, or empty.
    pub tag: String,
    /// The dialect.
    pub dialect: String,
    /// All rows.
    pub rows: usize,
    /// Rows with the verdict of the dialect.
    pub right: usize,
    /// Rows with the other verdict.
    pub wrong: usize,
    /// Rows that the implementation cannot be asked.
    pub unsupported: usize,
    /// Rows without a verdict for another reason.
    pub failed: usize,
    /// Rows whose line is known on both sides.
    pub lines: usize,
    /// Rows whose line is the same.
    pub lines_right: usize,
}

/// Two engines on a corpus.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// One engine.
    pub a: String,
    /// The other.
    pub b: String,
    /// The corpus.
    pub corpus: String,
    /// Rows on which both have a verdict.
    pub rows: usize,
    /// Rows on which the verdicts differ.
    pub differ: usize,
}

/// A difference, minimised to what shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The engine.
    pub engine: String,
    /// The other engine, or the dialect that the first one claims.
    pub against: String,
    /// Whether the other side is an engine.
    pub is_engine: bool,
    /// The corpus, and the robots.txt in which it was found.
    pub found_in: String,
    /// The lines of the minimised robots.txt, with `\xNN` for what is not text.
    pub body: Vec<String>,
    /// The minimised body in base64.
    pub body_base64: String,
    /// The crawler.
    pub agent: String,
    /// The minimised URL.
    pub url: String,
    /// The verdict of the engine.
    pub verdict: char,
    /// The verdict of the other side.
    pub other: char,
    /// The verdicts of all dialects: name and letter.
    pub dialects: Vec<(String, char)>,
}

/// A difference whose reason was found in the sources, with what the engines say now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// What it is.
    pub name: String,
    /// The lines of the robots.txt.
    pub body: Vec<String>,
    /// The crawler.
    pub agent: String,
    /// The URL.
    pub url: String,
    /// For each engine the verdict that is written down, and the one that it gave, if it is there.
    pub verdicts: Vec<(String, char, Option<char>)>,
    /// File and line in the sources.
    pub r#where: String,
    /// The reason.
    pub why: String,
}

/// A measurement of one round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Speed {
    /// The engine.
    pub engine: String,
    /// The model.
    pub model: String,
    /// The robots.txt files and URLs.
    pub input: String,
    /// The number of the round.
    pub round: usize,
    /// The rows or units of a pass.
    pub units: usize,
    /// What the engine measured.
    pub samples: Vec<Sample>,
    /// What the judge waited, in ns.
    pub wall_ns: u64,
    /// Why the samples do not count, if they do not.
    pub void: Option<String>,
    /// Rows that were compared with the dialect.
    pub checked: usize,
    /// Rows of them whose verdict is that of the dialect.
    pub right: usize,
    /// The dialect that the rows are compared with.
    pub dialect: String,
}

/// A hostile file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hostile {
    /// The engine.
    pub engine: String,
    /// The file.
    pub file: String,
    /// Its size in bytes.
    pub bytes: usize,
    /// How long loading it and deciding took, in ns, by the judge's clock.
    pub ns: u64,
    /// A letter for each row.
    pub verdicts: String,
    /// What happened, if it was not a verdict.
    pub why: Option<String>,
    /// Rows with the verdict of the dialect.
    pub right: usize,
    /// Rows on which the dialect has a verdict.
    pub known: usize,
}

/// The memory of an engine's process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Memory {
    /// The engine.
    pub engine: String,
    /// The robots.txt files.
    pub input: String,
    /// How many files, and their bytes together.
    pub files: usize,
    /// Their bytes together.
    pub bytes: usize,
    /// Files that were refused.
    pub refused: usize,
    /// Resident bytes before loading.
    pub before: u64,
    /// Resident bytes when all are loaded and each was asked about once.
    pub after: u64,
    /// The most that the process ever had.
    pub peak: u64,
}

/// The end of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct End {
    /// The end, in UTC.
    pub ended: String,
}

/// The file of a run that goes on.
pub struct Writer(File);

impl Writer {
    /// Makes the folder and the file in it.
    ///
    /// # Errors
    /// Errors if there is such a file already, or it cannot be made.
    pub fn create(folder: &Path) -> Result<Writer, String> {
        let path = folder.join(FILE);
        let made = std::fs::create_dir_all(folder).and_then(|()| File::create_new(&path));
        made.map(Writer).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Writes a record.
    ///
    /// # Errors
    /// Errors if it cannot be written.
    pub fn write(&mut self, record: &Record) -> Result<(), String> {
        let mut line = serde_json::to_string(record).map_err(|error| error.to_string())?;
        line.push('\n');
        self.0.write_all(line.as_bytes()).map_err(|error| format!("{FILE}: {error}"))
    }
}

/// Reads the records of a run. The last line may be cut, as a killed run leaves it; then it is left out.
///
/// # Errors
/// Errors if the file cannot be read, or a line before the last is not a record; names it.
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
            return Err(at_fault(&format!("a record has at most {MAX_RECORD_BYTES} bytes")));
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
        Record::End(End { ended: ended.into() })
    }

    #[test]
    fn a_run_is_not_overwritten_and_a_cut_line_is_left_out() {
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
    fn limit_of_a_record() {
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
