//! The answers as JSON.

use std::borrow::Cow;
use std::io::Write;

use reptile_compiler::oracle::ChosenBy;
use reptile_engine::verdict::Rule;
use serde::Serialize;

use super::{Answer, Column, File};
use crate::error::Stop;
use crate::outputs::json::json_line;

/// Bytes of the text of a rule, and of its pattern, that are printed with each answer: twice as long as any line that
/// Google's library keeps.
pub const MAX_TEXT_BYTES: usize = 32 << 10;

/// An answer as it is printed with `--json`. The help of the command explains the fields.
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

/// Writes the answer for a URL and an agent, an object for each dialect.
pub fn write(file: &File<'_>, url: &[u8], agent: usize, out: &mut impl Write) -> Result<(), Stop> {
    let answers = file.columns.iter().map(|column| column.answer(url, agent));
    let answers = answers.collect::<Result<Vec<_>, _>>()?;
    let expected = answers[file.reference].explanation.verdict;
    for (column, answer) in file.columns.iter().zip(&answers) {
        let rule = |rule: &Rule| column.rule_json(rule, answer);
        let object = AnswerJson {
            url: &String::from_utf8_lossy(url),
            agent: &column.agents[agent].name,
            dialect: column.reading.dialect().as_str(),
            verdict: answer.explanation.verdict.name(),
            line: answer.line(),
            why: answer.why.as_str(),
            because: column.because(answer),
            path: &String::from_utf8_lossy(&answer.shown_path),
            group: column.group_json(agent),
            allow: answer.explanation.allow.as_ref().map(rule),
            disallow: answer.explanation.disallow.as_ref().map(rule),
            remarks: &answer.remarks,
            agrees: (answers.len() > 1).then_some(answer.explanation.verdict == expected),
        };
        out.write_all(json_line(&object)?.as_bytes())?;
    }
    Ok(())
}

/// Text that is cut after [`MAX_TEXT_BYTES`].
fn text_of(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(MAX_TEXT_BYTES)];
    let end = if start.len() < bytes.len() { "..." } else { "" };
    String::from_utf8_lossy(start).into_owned() + end
}

impl Column<'_> {
    /// The group that an agent obeys.
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

    /// A rule that matches.
    fn rule_json(&self, rule: &Rule, answer: &Answer) -> RuleJson {
        RuleJson {
            line: rule.line,
            text: text_of(self.text_of(rule.line)),
            pattern: text_of(&rule.pattern),
            octets: self.reading.octets(rule, &answer.path),
        }
    }
}
