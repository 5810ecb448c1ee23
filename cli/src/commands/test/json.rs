//! The answers as JSON.

use std::borrow::Cow;

use reptile_compiler::oracle::ChosenBy;
use reptile_engine::verdict::Rule;
use serde::Serialize;

use super::{Answer, Column, Tested};
use crate::error::Result;
use crate::outputs::json::json_line;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    agrees: Option<bool>,
}

#[derive(Serialize)]
struct GroupJson<'a> {
    by: &'static str,
    token: Option<Cow<'a, str>>,
    lines: Vec<u32>,
}

#[derive(Serialize)]
struct RuleJson {
    line: u32,
    text: String,
    pattern: String,
    octets: usize,
}

/// The answers with `--json`: an object for each URL, agent and dialect.
pub fn json(tested: &Tested<'_>) -> Result<String> {
    let mut text = String::new();
    for (index, (url, agent)) in tested.questions().enumerate() {
        let expected = tested.reference().answers[index].explanation.verdict;
        for column in tested.columns {
            let answer = &column.answers[index];
            let rule = |rule: &Rule| column.rule_json(rule, answer);
            let object = AnswerJson {
                url: &String::from_utf8_lossy(url),
                agent: &agent.name,
                dialect: column.reading.dialect().as_str(),
                verdict: answer.explanation.verdict.name(),
                line: answer.line(),
                why: answer.why.as_str(),
                because: column.because(answer),
                path: &String::from_utf8_lossy(&answer.shown_path),
                group: column.group_json(answer.agent),
                allow: answer.explanation.allow.as_ref().map(rule),
                disallow: answer.explanation.disallow.as_ref().map(rule),
                agrees: (tested.columns.len() > 1).then_some(answer.explanation.verdict == expected),
            };
            text.push_str(&json_line(&object)?);
        }
    }
    Ok(text)
}

impl Column<'_> {
    /// The group that an agent obeys.
    fn group_json(&self, agent: usize) -> GroupJson<'_> {
        let (agent, choice) = (&self.agents[agent], &self.choices[agent]);
        let (by, token) = match choice.by {
            ChosenBy::Token(index) => ("token", agent.tokens.get(index)),
            ChosenBy::DefaultGroup => ("default-group", None),
            ChosenBy::Nobody => ("nobody", None),
        };
        let token = token.map(|token| String::from_utf8_lossy(token));
        GroupJson { by, token, lines: self.reading.naming_lines(agent, choice) }
    }

    /// A rule that matches.
    fn rule_json(&self, rule: &Rule, answer: &Answer) -> RuleJson {
        RuleJson {
            line: rule.line,
            text: String::from_utf8_lossy(self.text_of(rule.line)).into_owned(),
            pattern: String::from_utf8_lossy(&rule.pattern).into_owned(),
            octets: self.reading.octets(rule, &answer.path),
        }
    }
}
