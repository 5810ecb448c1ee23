//! Files designed to cause problems. Each engine loads them and decides a few URLs, timed by the judge. Refusing a file
//! is a valid answer; hanging, crashing or exhausting memory is not.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::corpus::{COMMON, read};
use crate::engine::{Engine, Question};
use crate::engines::EngineEntry;
use crate::letters;
use crate::records::{Failure, Hostile, Record, Writer};

use self::families::{families, long_path};

#[path = "../../../../compiler/tests/support/families.rs"]
mod families;

/// Maximum time for a reply about a hostile file.
pub const TIME: Duration = Duration::from_secs(2);

/// Time spent waiting in vain after which an engine gets no more files.
const MAX_LOST: Duration = Duration::from_secs(20);

/// Returns the URLs to decide: short ones, and one as long as in the published cases.
fn urls() -> [Vec<u8>; 4] {
    let long = long_path().into_bytes();
    [
        b"https://a.example/".to_vec(),
        b"https://a.example/a/b?c=d".to_vec(),
        b"https://a.example/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab".to_vec(),
        [b"https://a.example", &long[..]].concat(),
    ]
}

/// Asks all engines about all files and writes the records.
///
/// # Errors
/// Returns an error if a record cannot be written.
pub fn run(entries: &[&EngineEntry], writer: &mut Writer) -> Result<(), String> {
    let urls = urls();
    let files = families();
    let mut readings: HashMap<(&str, usize), Vec<u8>> = HashMap::new();
    for entry in entries {
        let mut entry = (*entry).clone();
        entry.limits.time = entry.limits.time.min(TIME);
        let mut engine = Engine::new(&entry);
        if engine.is_command() {
            continue;
        }
        eprintln!("  {}: {} hostile files", entry.name, files.len());
        for (number, family) in files.iter().enumerate() {
            if is_too_much(engine.lost) {
                let why = format!("{} files skipped after waiting {MAX_LOST:?} in vain", files.len() - number);
                let engine = entry.name.clone();
                let at = "hostile".to_owned();
                let letter = char::from(letters::NOT_ASKED);
                writer.write(&Record::Failure(Failure { engine, at, letter, why }))?;
                break;
            }
            // Start the process before the clock.
            let _ = engine.hello();
            let agent = family.agent.as_bytes();
            let body = family.body.as_bytes();
            let questions: Vec<Question<'_>> = urls.iter().map(|url| Question { slot: 0, agent, url }).collect();
            let start = Instant::now();
            let asked = engine.load(0, "https://a.example", body).and_then(|()| engine.decide(&questions));
            let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let (letters, why) = match asked {
                Ok(answers) => (answers.letters, None),
                Err(broken) => (vec![broken.letter; urls.len()], Some(broken.why)),
            };
            let dialect = entry.dialect.unwrap_or(COMMON);
            let expected = readings
                .entry((dialect.as_str(), number))
                .or_insert_with(|| urls.iter().map(|url| read(dialect, body, agent, url).letter).collect());
            let rows = || expected.iter().zip(&letters).filter(|(expected, _)| letters::is_verdict(**expected));
            writer.write(&Record::Hostile(Hostile {
                engine: entry.name.clone(),
                file: family.name.to_owned(),
                bytes: body.len(),
                ns,
                known: rows().count(),
                right: rows().filter(|(expected, found)| expected == found).count(),
                verdicts: String::from_utf8_lossy(&letters).into_owned(),
                why,
            }))?;
        }
        let _ = engine.stop();
    }
    Ok(())
}

/// Returns whether an engine has lost too much time.
fn is_too_much(lost: Duration) -> bool {
    lost >= MAX_LOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_stop_at_the_limit_of_lost_time() {
        let nanosecond = Duration::from_nanos(1);
        for (lost, expected) in [(MAX_LOST - nanosecond, false), (MAX_LOST, true), (MAX_LOST + nanosecond, true)] {
            assert_eq!(is_too_much(lost), expected, "{lost:?}");
        }
    }
}
