//! Questions for engines: robots.txt files, and rows with a crawler and URL, with all dialects' verdicts.
//!
//! | module | rows |
//! |---|---|
//! | [`suite`] | the conformance suite in `corpora/suite` |
//! | [`web`] | sites from the synthetic web, the same in every run, with recorded verdicts from Google's library |
//! | [`fresh`] | small files that cover every notation, from a new seed in every run |
//! | [`golden`] | recorded verdicts from Google's library on real files, if they are present |

pub mod fresh;
pub mod golden;
pub mod suite;
pub mod web;

use reptile_compiler::capture::{Capture, Outcome, Profile};
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{self, Dialect};
use reptile_compiler::once::decide_once;
use reptile_compiler::oracle;

use crate::letters;

/// Maximum size in bytes of a robots.txt that the slow oracle reads again for each row. For larger ones, `decide_once`
/// answers.
const ORACLE_BYTES: usize = 64 << 10;

/// The dialect that engines without a claimed dialect are compared with.
pub const COMMON: &Dialect = &dialect::RFC9309;

/// A dialect's verdict: a letter, and the line of the deciding rule, or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DialectVerdict {
    /// `A` or `D`, or `N` if the oracle would take too long.
    pub letter: u8,
    /// The line, if it is known.
    pub line: Option<u32>,
}

/// A row.
#[derive(Clone, Debug)]
pub struct CorpusRow {
    /// The crawler.
    pub agent: Vec<u8>,
    /// The URL.
    pub url: Vec<u8>,
    /// A recorded verdict and its dialect.
    pub recorded: Option<(&'static Dialect, DialectVerdict)>,
}

/// A robots.txt and its rows.
#[derive(Clone, Debug)]
pub struct CorpusFile {
    /// The name, unique in the corpus.
    pub name: String,
    /// The topic, or empty.
    pub tag: &'static str,
    /// The origin of the robots.txt.
    pub origin: String,
    /// The robots.txt.
    pub body: Vec<u8>,
    /// The rows.
    pub rows: Vec<CorpusRow>,
}

/// Rows of one kind, with their files.
pub struct Corpus {
    /// The name.
    pub name: &'static str,
    /// A description for the report.
    pub about: String,
    /// The files with their rows.
    pub groups: Vec<CorpusFile>,
}

impl Corpus {
    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.groups.iter().map(|group| group.rows.len()).sum()
    }

    /// Returns a dialect's verdicts, group by group, computed on two threads. A row takes time proportional to the file
    /// size.
    #[must_use]
    pub fn readings(&self, dialect: &'static Dialect) -> Vec<Vec<DialectVerdict>> {
        let of_group = |group: &CorpusFile| -> Vec<DialectVerdict> {
            let reading = |row: &CorpusRow| match row.recorded {
                Some((recorded, reading)) if recorded == dialect => reading,
                _ => read(dialect, &group.body, &row.agent, &row.url),
            };
            group.rows.iter().map(reading).collect()
        };
        let half = self.groups.len() / 2;
        let (first, second) = self.groups.split_at(half);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| second.iter().map(of_group).collect::<Vec<_>>());
            let mut readings: Vec<_> = first.iter().map(of_group).collect();
            readings.extend(other.join().unwrap_or_default());
            readings
        })
    }
}

/// Returns a dialect's verdict for a body that was fetched with status 200. It takes into account how the dialect
/// treats bodies other than robots.txt, such as web pages: Yandex documents that they allow everything.
#[must_use]
pub fn read(dialect: &Dialect, body: &[u8], agent: &[u8], url: &[u8]) -> DialectVerdict {
    let (fetched, profile) = (Capture::default(), Profile::of_dialect(dialect));
    match profile.outcome(&fetched, body) {
        Outcome::Use => read_rules(dialect, &profile.readable(&fetched, body), agent, url),
        Outcome::Allow(_) => DialectVerdict { letter: letters::ALLOW, line: Some(0) },
        Outcome::Disallow(_) | Outcome::Unreachable(_) => DialectVerdict { letter: letters::DISALLOW, line: Some(0) },
    }
}

/// Returns the verdict of a body's rules.
fn read_rules(dialect: &Dialect, body: &[u8], agent: &[u8], url: &[u8]) -> DialectVerdict {
    let answer = if body.len() <= ORACLE_BYTES {
        oracle::decide(body, dialect, agent, url)
    } else {
        match decide_once(body, dialect, &of_name(agent, dialect), url) {
            Ok(answer) => answer,
            Err(_) => return DialectVerdict { letter: letters::NOT_ASKED, line: None },
        }
    };
    let letter = if answer.allowed { letters::ALLOW } else { letters::DISALLOW };
    DialectVerdict { letter, line: Some(answer.line) }
}

/// Formats bytes so that they can be read and typed: text unchanged, other bytes and control characters as `\xNN`.
#[must_use]
pub fn shown(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => shown.push_str("\\\\"),
                '\t' => shown.push_str("\\t"),
                '\r' => shown.push_str("\\r"),
                '\n' => shown.push_str("\\n"),
                ' '..='~' => shown.push(character),
                _ if character.is_alphanumeric() => shown.push(character),
                _ => {
                    let mut buffer = [0; 4];
                    character
                        .encode_utf8(&mut buffer)
                        .bytes()
                        .for_each(|byte| shown.push_str(&format!("\\x{byte:02X}")));
                }
            }
        }
        chunk.invalid().iter().for_each(|byte| shown.push_str(&format!("\\x{byte:02X}")));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_in_typable_form() {
        assert_eq!(shown("a\\b\té\u{200B}\r\n".as_bytes()), "a\\\\b\\té\\xE2\\x80\\x8B\\r\\n");
        assert_eq!(shown(b"\xFFa\0"), "\\xFFa\\x00");
    }

    /// Each dialect chooses whether to read the rules in a web page.
    #[test]
    fn web_pages_are_treated_by_dialect() {
        let page = b"<html>\nUser-agent: *\nDisallow: /x\n";
        let letter = |dialect| char::from(read(dialect, page, b"FooBot", b"https://a.example/x").letter);
        assert_eq!([&dialect::GOOGLE_LIB, &dialect::RFC9309, &dialect::YANDEX].map(letter), ['D', 'D', 'A']);
    }

    #[test]
    fn recorded_verdicts_take_precedence_over_the_oracle() {
        let google = &dialect::GOOGLE_LIB;
        let wrong = DialectVerdict { letter: b'D', line: Some(9) };
        let row = CorpusRow { agent: b"a".into(), url: b"/".into(), recorded: Some((google, wrong)) };
        let group = CorpusFile { name: "g".into(), tag: "", origin: String::new(), body: Vec::new(), rows: vec![row] };
        let corpus = Corpus { name: "test", about: String::new(), groups: vec![group] };
        assert_eq!(corpus.readings(google), [[wrong]]);
        assert_eq!(corpus.readings(COMMON), [[DialectVerdict { letter: b'A', line: Some(0) }]]);
    }
}
