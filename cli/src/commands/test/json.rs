//! The answers as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;

use bumpalo::Bump;
use reptile::dialects::ALL;
use reptile::explain::ChosenBy;
use reptile::{Dialect, Rule, Verdict};
use serde::Serialize;

use super::dialects::from_reference;
use super::file::{Answer, Column, File};
use super::uses::StatedPreferences;
use crate::error::{Failure, Stop};
use crate::outputs::json::json_line;
use crate::outputs::summary::grouped;

/// Maximum size in bytes of a rule's text, and of its pattern, in an answer: twice the longest line that Google's
/// library keeps.
pub const MAX_TEXT_BYTES: usize = 32 << 10;

/// An answer for `--json`. The command's help explains the fields.
#[derive(Serialize)]
struct AnswerJson<'a> {
    url: &'a str,
    agent: &'a str,
    dialect: &'a str,
    verdict: &'static str,
    line: u32,
    why: &'static str,
    because: String,
    path: &'a str,
    group: GroupJson<'a>,
    allow: Option<RuleJson>,
    disallow: Option<RuleJson>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    remarks: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    agrees: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<BTreeMap<&'a str, &'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stated: Option<&'a [u32]>,
}

#[derive(Serialize)]
struct GroupJson<'a> {
    by: &'static str,
    token: Option<Cow<'a, str>>,
    lines: &'a [u32],
    #[serde(skip_serializing_if = "Option::is_none")]
    more_lines: Option<usize>,
}

#[derive(Serialize)]
struct RuleJson {
    line: u32,
    text: String,
    pattern: String,
    octets: usize,
}

/// Writes the answers for a URL: an object for each agent and dialect. `asked` is the reference dialect.
pub fn write(columns: &[Column<'_>], asked: &Dialect, url: &[u8], out: &mut impl Write) -> Result<(), Stop> {
    for agent in 0..columns.first().map_or(0, |column| column.agents.len()) {
        let answers = columns.iter().map(|column| column.answer(url, agent));
        let answers = answers.collect::<Result<Vec<_>, _>>()?;
        let mut both = columns.iter().zip(&answers);
        let expected = both.find(|(column, _)| column.reading.dialect() == asked);
        let expected = expected.map(|(_, answer)| answer.explanation.verdict).filter(|_| columns.len() > 1);
        for (column, answer) in columns.iter().zip(&answers) {
            let agrees = expected.map(|expected| answer.explanation.verdict == expected);
            out.write_all(object(column, answer, url, agrees)?.as_bytes())?;
        }
    }
    Ok(())
}

/// Maximum size in bytes of the objects that [`write_by_dialect`] keeps: some hundred times that of [`MAX_ANSWERS`]
/// simple answers.
///
/// [`MAX_ANSWERS`]: super::MAX_ANSWERS
const MAX_KEPT_BYTES: usize = 64 << 20;

/// Writes the same as [`write`] for every dialect, but keeps the file under one dialect at a time.
pub fn write_by_dialect(file: &File<'_>, urls: &[Vec<u8>], out: &mut impl Write) -> Result<(), Stop> {
    let mut kept = DialectObjects { objects: vec![Vec::new(); ALL.len()], bytes: 0 };
    let mut expected: Vec<Verdict> = Vec::new();
    for (place, dialect) in from_reference(file.asked) {
        let arena = Bump::new();
        let column = file.column(dialect, &arena)?;
        let agent_count = column.agents.len();
        for (index, url) in urls.iter().enumerate() {
            for agent in 0..agent_count {
                let answer = column.answer(url, agent)?;
                let verdict = answer.explanation.verdict;
                if dialect == file.asked {
                    expected.push(verdict);
                }
                let agrees = expected.get(index * agent_count + agent).map(|&expected| expected == verdict);
                kept.add(place, object(&column, &answer, url, agrees)?)?;
            }
        }
    }
    for index in 0..expected.len() {
        kept.objects
            .iter()
            .try_for_each(|objects| out.write_all(objects.get(index).map_or(b"", |text| text.as_bytes())))?;
    }
    Ok(())
}

/// The objects so far, by dialect. They are written by URL.
struct DialectObjects {
    /// The objects of each dialect.
    objects: Vec<Vec<String>>,
    bytes: usize,
}

impl DialectObjects {
    /// Keeps an object.
    ///
    /// # Errors
    /// Returns an error if the objects exceed [`MAX_KEPT_BYTES`].
    fn add(&mut self, place: usize, object: String) -> Result<(), Failure> {
        self.bytes += object.len();
        if self.bytes > MAX_KEPT_BYTES {
            let limit = grouped(MAX_KEPT_BYTES as u64);
            return Err(Failure::new(format!(
                "the answers under all dialects take more than {limit} bytes; test fewer URLs"
            )));
        }
        self.objects[place].push(object);
        Ok(())
    }
}

/// Returns an answer as an object and a line end.
fn object(column: &Column<'_>, answer: &Answer, url: &[u8], agrees: Option<bool>) -> Result<String, Failure> {
    let rule = |rule: &Rule| column.rule_json(rule, answer);
    json_line(&AnswerJson {
        url: &String::from_utf8_lossy(url),
        agent: &column.agents[answer.agent].name,
        dialect: column.reading.dialect().as_str(),
        verdict: answer.explanation.verdict.name(),
        line: answer.line(),
        why: answer.why_name(),
        because: column.because(answer),
        path: &String::from_utf8_lossy(&answer.shown_path),
        group: column.group_json(answer.agent),
        allow: answer.explanation.allow.as_ref().map(rule),
        disallow: answer.explanation.disallow.as_ref().map(rule),
        remarks: &answer.remarks,
        agrees,
        usage: answer.stated.as_ref().map(StatedPreferences::to_map),
        stated: answer.stated.as_ref().map(|stated| &*stated.lines),
    })
}

/// Returns text, cut after [`MAX_TEXT_BYTES`].
fn text_of(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(MAX_TEXT_BYTES)];
    let end = if start.len() < bytes.len() { "..." } else { "" };
    String::from_utf8_lossy(start).into_owned() + end
}

impl Column<'_> {
    /// Returns the group that an agent obeys.
    fn group_json(&self, agent: usize) -> GroupJson<'_> {
        let (agent, choice, naming) = (&self.agents[agent], &self.choices[agent], &self.naming[agent]);
        let (by, token) = match choice.by {
            ChosenBy::Token(index) => ("token", agent.tokens.get(index)),
            ChosenBy::DefaultGroup => ("default-group", None),
            ChosenBy::Nobody => ("nobody", None),
        };
        let token = token.map(|token| String::from_utf8_lossy(token));
        let more_lines = Some(naming.count - naming.lines.len()).filter(|&more| more > 0);
        GroupJson { by, token, lines: &naming.lines, more_lines }
    }

    /// Returns a matching rule.
    fn rule_json(&self, rule: &Rule, answer: &Answer) -> RuleJson {
        RuleJson {
            line: rule.line,
            text: text_of(self.text_of(rule.line)),
            pattern: text_of(&rule.pattern),
            octets: self.reading.octets(rule, &answer.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_bytes_stop_at_the_limit() {
        for (len, fits) in [(MAX_KEPT_BYTES - 1, true), (MAX_KEPT_BYTES, true), (MAX_KEPT_BYTES + 1, false)] {
            let mut kept = DialectObjects { objects: vec![Vec::new()], bytes: 0 };
            assert!(kept.add(0, "x".into()).is_ok());
            assert_eq!(kept.add(0, "x".repeat(len - 1)).is_ok(), fits, "{len}");
        }
    }
}
