//! Differences between implementations with a known cause: `expected/traced.toml`. Each run repeats the questions, so
//! that the report does not repeat outdated claims.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use std::collections::BTreeMap;

use crate::engine::{Engine, Question};
use crate::engines::EngineEntry;
use crate::records::{Record, Traced, Writer};

/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TracedFile {
    difference: Vec<WrittenDifference>,
}

/// A difference as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenDifference {
    name: String,
    body: String,
    agent: String,
    url: String,
    verdicts: BTreeMap<String, char>,
    r#where: String,
    why: String,
}

/// Returns the path of the file.
#[must_use]
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("expected/traced.toml")
}

/// Reads the differences.
///
/// # Errors
/// Returns an error if the file cannot be read, is larger than 1 MiB, or does not have the format described in its
/// header.
pub fn read(path: &Path) -> Result<Vec<WrittenDifference>, String> {
    let fault = |fault: String| format!("{}: {fault}", path.display());
    let bytes = std::fs::metadata(path).map_err(|error| fault(error.to_string()))?.len();
    if bytes > MAX_BYTES {
        return Err(fault(format!("{bytes} bytes: at most {MAX_BYTES} are allowed")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    let file: TracedFile = toml::from_str(&text).map_err(|error| fault(error.to_string()))?;
    for difference in &file.difference {
        if let Some((engine, letter)) = difference.verdicts.iter().find(|(_, letter)| !"ADUX".contains(**letter)) {
            return Err(fault(format!("{}: {engine} has {letter:?}, expected A, D, U or X", difference.name)));
        }
    }
    Ok(file.difference)
}

/// Asks the available engines about each difference that names them, and writes the records.
///
/// # Errors
/// Returns an error if a record cannot be written.
pub fn run(entries: &[&EngineEntry], differences: &[WrittenDifference], writer: &mut Writer) -> Result<(), String> {
    let mut said: Vec<BTreeMap<String, char>> = differences.iter().map(|_| BTreeMap::new()).collect();
    for entry in entries {
        let mut engine = Engine::new(entry);
        for (difference, said) in differences.iter().zip(&mut said) {
            if difference.verdicts.contains_key(&entry.name) {
                said.insert(entry.name.clone(), letter(&mut engine, difference));
            }
        }
        let _ = engine.stop();
    }
    for (difference, said) in differences.iter().zip(said) {
        let engines = difference.verdicts.iter();
        writer.write(&Record::Traced(Traced {
            name: difference.name.clone(),
            body: difference.body.lines().map(str::to_owned).collect(),
            agent: difference.agent.clone(),
            url: difference.url.clone(),
            verdicts: engines.map(|(name, letter)| (name.clone(), *letter, said.get(name).copied())).collect(),
            r#where: difference.r#where.clone(),
            why: difference.why.clone(),
        }))?;
    }
    Ok(())
}

fn letter(engine: &mut Engine<'_>, difference: &WrittenDifference) -> char {
    let question = Question { slot: 0, agent: difference.agent.as_bytes(), url: difference.url.as_bytes() };
    let loaded = engine.load(0, "https://example.com", difference.body.as_bytes());
    let answers = loaded.and_then(|()| engine.decide(&[question]));
    char::from(answers.map_or_else(|broken| broken.letter, |answers| answers.letters.first().copied().unwrap_or(b'E')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile::{Crawler, Dialect, Robots, Verdict};

    /// Returns the answer of the library's interface, which the engines call.
    fn letter_of_reptile(dialect: &Dialect, difference: &WrittenDifference) -> char {
        let robots = Robots::parse(&difference.body, dialect).unwrap();
        match robots.agent(Crawler::verbatim(&difference.agent)).unwrap().decide(&difference.url).unwrap() {
            Verdict::Allow => 'A',
            Verdict::Disallow => 'D',
            _ => 'U',
        }
    }

    #[test]
    fn differences_are_real_and_name_listed_engines() {
        let differences = read(&path()).unwrap();
        assert!(differences.len() >= 3);
        let entries = crate::engines::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../engines.toml")).unwrap();
        for difference in &differences {
            let mut letters: Vec<char> = difference.verdicts.values().copied().collect();
            letters.sort_unstable();
            letters.dedup();
            assert!(letters.len() > 1, "{}: all engines agree", difference.name);
            for (name, letter) in &difference.verdicts {
                let entry = entries.iter().find(|entry| entry.name == *name);
                assert!(entry.is_some(), "{}: no engine {name}", difference.name);
                if let Some(dialect) = name.strip_prefix("reptile-").and_then(Dialect::from_name) {
                    assert_eq!(letter_of_reptile(dialect, difference), *letter, "{}: {name}", difference.name);
                }
            }
        }
    }

    #[test]
    fn malformed_files_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("traced.toml");
        let good = std::fs::read_to_string(path()).unwrap();
        for (bad, fault) in [
            (good.replacen("robotstxt = \"A\"", "robotstxt = \"B\"", 1), "expected A, D, U or X"),
            (good.replacen("why = ", "because = ", 1), "unknown field"),
        ] {
            std::fs::write(&file, bad).unwrap();
            assert!(read(&file).err().unwrap().contains(fault), "{fault}");
        }
        for (bytes, is_good) in [(MAX_BYTES - 1, true), (MAX_BYTES, true), (MAX_BYTES + 1, false)] {
            let comment = "#".repeat(bytes as usize - good.len() - 1);
            std::fs::write(&file, format!("{good}{comment}\n")).unwrap();
            assert_eq!(read(&file).is_ok(), is_good, "{bytes}");
        }
    }
}
