//! Answers as people read them, and as programs do.

use reptile_compiler::advice::explanation::Why;
use reptile_compiler::dialect::Order;
use reptile_compiler::oracle::ChosenBy;
use reptile_engine::verdict::{Rule, RuleKind, Verdict};
use serde::Serialize;

use super::{Answer, Column, Tested};
use crate::error::{Result, printable};
use crate::outputs::file::json_line;

/// Characters of the column of URLs. A longer URL pushes the rest of its line to the right.
const MAX_COLUMN: usize = 60;

/// Characters of a text from the file or of a URL that are shown without `--full`.
pub const MAX_SHOWN: usize = 200;

/// Text from a file or a URL as it is shown.
pub fn shown(text: &[u8], full: bool) -> String {
    // No character has more than four bytes, so what is cut off here is not shown anyway.
    let start = if full { text } else { &text[..text.len().min(MAX_SHOWN * 4 + 4)] };
    let text = printable(start);
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) if !full => format!("{}...", &text[..end]),
        _ => text,
    }
}

/// Numbers as in a sentence; the last of many are only counted.
pub fn numbers(list: &[u32]) -> String {
    const SHOWN: usize = 8;
    let mut words: Vec<String> = list.iter().take(SHOWN).map(u32::to_string).collect();
    if list.len() > SHOWN {
        words.push(format!("{} more", list.len() - SHOWN));
    }
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

impl Column<'_> {
    /// The line of a rule, as it stands in the file.
    fn text_of(&self, line: u32) -> &[u8] {
        let line = (line as usize).checked_sub(1).and_then(|index| self.reading.lines.get(index));
        line.copied().unwrap_or_default().trim_ascii()
    }

    /// The group that an agent obeys, and why that one.
    fn group(&self, agent: usize) -> String {
        let (agent, choice) = (&self.agents[agent], &self.choices[agent]);
        let name = shown(agent.name.as_bytes(), false);
        let lines = self.reading.naming_lines(agent, choice);
        let (line, merged) = match (&lines[..], choice.groups.len()) {
            ([_], _) => ("line", ""),
            (_, 1) => ("lines", ""),
            _ => ("lines", ", taken together"),
        };
        let place = format!("{line} {}{merged}", numbers(&lines));
        let token = |index: usize| shown(agent.tokens.get(index).map_or(&b""[..], Vec::as_slice), false);
        match choice.by {
            ChosenBy::Token(0) => format!("{place}: names {}", token(0)),
            ChosenBy::Token(index) => {
                format!("{place}: names {}, which {name} obeys where {} is not named", token(index), token(index - 1))
            }
            ChosenBy::DefaultGroup => format!("{place}: for *, since no group names {name}"),
            ChosenBy::Nobody => format!("none: {}", self.without_group(agent)),
        }
    }

    fn without_group(&self, agent: &reptile_compiler::dialect::crawlers::Resolved) -> String {
        let name = shown(agent.name.as_bytes(), false);
        match (agent.tokens.is_empty(), agent.honours_default_group) {
            (true, _) => format!("{name} obeys no robots.txt"),
            (false, true) => format!("no group names {name}, and none is for *"),
            (false, false) => format!("no group names {name}, which does not obey the rules for *"),
        }
    }

    /// Why the verdict is what it is.
    fn because(&self, answer: &Answer) -> String {
        let Some(rule) = answer.explanation.rule() else {
            return match answer.why {
                Why::NoGroup => self.without_group(&self.agents[answer.agent]),
                _ => answer.explanation.reason().to_string(),
            };
        };
        let (kind, other) = match rule.kind {
            RuleKind::Allow => ("Allow", "Disallow"),
            RuleKind::Disallow => ("Disallow", "Allow"),
        };
        let reason = match answer.why {
            Why::AlwaysAllowed => {
                format!("{} always allows {}", self.reading.dialect().as_str(), printable(&rule.pattern))
            }
            Why::EmptyRule => "a rule without a value restricts nothing, and no other matches".into(),
            Why::Longer { octets, other } => format!("the {kind} is longer: {} against {other}", octets_of(octets)),
            Why::AllowOnTie { octets } => format!("both have {}, and then the Allow wins", octets_of(octets)),
            Why::First => "the first rule that matches decides".into(),
            _ => format!("no {other} matches"),
        };
        let index_page = if self.reading.opens_folder(rule, &answer.path) {
            "; an Allow of an index page also allows its folder"
        } else {
            ""
        };
        reason + index_page
    }

    /// A rule's place, and the rule as it stands there.
    fn line_and_text(&self, rule: &Rule, full: bool) -> String {
        if rule.line == 0 {
            return format!("no line: {rule}");
        }
        format!("line {}: {}", rule.line, shown(self.text_of(rule.line), full))
    }

    /// The pattern of a rule, if it is not what is written in the file.
    fn read_as(&self, rule: &Rule, full: bool) -> Option<String> {
        let written = self.reading.rule_at(rule.line)?;
        (written.value != rule.pattern).then(|| format!("read as {}: {}", rule.kind.name(), shown(&rule.pattern, full)))
    }

    /// What a rule weighs, where that matters.
    fn octets(&self, rule: &Rule, answer: &Answer) -> Option<usize> {
        let counts = self.reading.dialect().order != Order::FileOrder && rule.line != 0;
        counts.then(|| self.reading.octets(rule, &answer.path))
    }
}

fn octets_of(count: usize) -> String {
    format!("{count} {}", if count == 1 { "octet" } else { "octets" })
}

/// A line for each URL and agent.
pub fn brief(tested: &Tested<'_>) -> String {
    let column = tested.reference();
    let urls: Vec<String> = tested.urls.iter().map(|url| printable(url)).collect();
    let width = urls.iter().map(|url| url.chars().count()).max().unwrap_or(0).min(MAX_COLUMN);
    let agent_width = column.agents.iter().map(|agent| agent.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for ((url, agent), answer) in tested.questions().zip(&column.answers) {
        let reason = match answer.explanation.rule() {
            Some(Rule { line: 0, .. }) => "always allowed".into(),
            Some(rule) => format!("line {}: {}", rule.line, printable(column.text_of(rule.line))),
            None if answer.why == Why::NoGroup => "no group is for this agent".into(),
            None => answer.explanation.reason().to_string(),
        };
        let verdict_width = Verdict::Disallow.name().len();
        text.push_str(&format!("{:verdict_width$}  ", answer.explanation.verdict));
        if column.agents.len() > 1 {
            text.push_str(&format!("{:agent_width$}  ", printable(agent.name.as_bytes())));
        }
        text.push_str(&format!("{:width$}   {reason}\n", printable(url)));
    }
    text
}

/// Everything about each URL and agent.
pub fn full(tested: &Tested<'_>, full: bool) -> String {
    let column = tested.reference();
    let mut text = String::new();
    for (number, ((url, agent), answer)) in (1..).zip(tested.questions().zip(&column.answers)) {
        let verdict = answer.explanation.verdict;
        let name = shown(agent.name.as_bytes(), full);
        text.push_str(&format!("\n{number}  {verdict}  {}  for {name}\n", shown(url, full)));
        let mut row = |label: &str, value: &str| text.push_str(&format!("   {label:9} {value}\n"));
        row("group", &column.group(answer.agent));
        if answer.path_differs {
            row("path", &format!("compared as {}", shown(&answer.shown_path, full)));
        }
        let decides = |rule: &&Rule| answer.explanation.decided_by == Some(rule.kind);
        let best = [&answer.explanation.allow, &answer.explanation.disallow].into_iter().flatten();
        let (winner, other): (Vec<&Rule>, Vec<&Rule>) = best.partition(decides);
        for rule in winner.into_iter().chain(other) {
            let mut notes: Vec<String> = column.read_as(rule, full).into_iter().collect();
            notes.extend(column.octets(rule, answer).map(octets_of));
            let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) };
            let label = if decides(&rule) { "decides" } else { "outdone" };
            row(label, &format!("{}{notes}", column.line_and_text(rule, full)));
        }
        row("because", &column.because(answer));
    }
    text
}

/// A column for each dialect, and the reasons where they disagree.
pub fn table(tested: &Tested<'_>, brief: bool) -> String {
    let reference = tested.reference();
    fn name<'n>(column: &'n Column<'_>) -> &'n str {
        column.reading.dialect().as_str()
    }
    let mut rows: Vec<Vec<String>> =
        vec![["", "URL", "agent"].into_iter().chain(tested.columns.iter().map(name)).map(str::to_owned).collect()];
    let mut reasons = String::new();
    let (mut count, mut differing) = (0, 0);
    for (index, (url, agent)) in tested.questions().enumerate() {
        let at = |column: &Column<'_>| -> (Verdict, u32) {
            let answer = &column.answers[index];
            (answer.explanation.verdict, answer.line())
        };
        let expected = at(reference);
        let differs = tested.columns.iter().any(|column| at(column).0 != expected.0);
        let mut row =
            vec![if differs { "!" } else { "" }.to_owned(), shown(url, false), shown(agent.name.as_bytes(), false)];
        for column in tested.columns {
            let (verdict, line) = at(column);
            let mark = if verdict == expected.0 { "" } else { "!" };
            let line = if line == 0 { String::new() } else { format!(" {line}") };
            row.push(format!("{mark}{verdict}{line}"));
        }
        rows.push(row);
        count += 1;
        differing += u32::from(differs);
        if differs && !brief {
            reasons.push_str(&reasons_of(tested, index, url, &agent.name));
        }
    }
    let mut text = aligned(&rows);
    text.push_str(&reasons);
    let against = name(reference);
    let verb = if differing == 1 { "differs" } else { "differ" };
    let of = if count == 1 { "answer" } else { "answers" };
    text.push_str(&format!(
        "\n{differing} of {count} {of} {verb} between dialects; ! marks a verdict other than that of {against}\n"
    ));
    text
}

/// The reasons of one row: dialects with the same words stand together.
fn reasons_of(tested: &Tested<'_>, index: usize, url: &[u8], agent: &str) -> String {
    let decided_here = tested.reference().answers[index].line();
    let expected = tested.reference().answers[index].explanation.verdict;
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for column in tested.columns {
        let answer = &column.answers[index];
        let mut lines = vec![format!("group: {}", column.group(answer.agent))];
        if answer.path_differs {
            lines.push(format!("path: compared as {}", shown(&answer.shown_path, false)));
        }
        for rule in [&answer.explanation.allow, &answer.explanation.disallow].into_iter().flatten() {
            let read_as = column.read_as(rule, false).map(|words| format!(", {words}")).unwrap_or_default();
            lines.push(format!("{}{read_as}", column.line_and_text(rule, false)));
        }
        lines.push(format!("because {}", column.because(answer)));
        // What became of the line that decides elsewhere, or of the file.
        let verdict = answer.explanation.verdict;
        let here = column
            .reading
            .diagnostics()
            .filter(|&(line, _)| verdict != expected && (line == 0 || (decided_here != 0 && line == decided_here)));
        for (line, kind) in here {
            let place = if line == 0 { "the file".into() } else { format!("line {line}") };
            lines.push(format!("{place}: {}", kind.describe()));
        }
        let words = format!("{verdict}\n      {}", lines.join("\n      "));
        let name = column.reading.dialect().as_str();
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, names)) => names.push(name),
            None => groups.push((words, vec![name])),
        }
    }
    let mut text = format!("\n! {}  for {}\n", shown(url, false), shown(agent.as_bytes(), false));
    for (words, names) in groups {
        text.push_str(&format!("   {}: {words}\n", names.join(", ")));
    }
    text
}

/// Rows as columns of text, each as wide as its widest cell.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).min(MAX_COLUMN)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, &width) in row.iter().zip(&widths) {
            if width > 0 {
                line.push_str(&format!("{cell:width$}  "));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// An answer as it is printed with --json; the help of the command says what the fields are.
#[derive(Serialize)]
struct Record<'a> {
    url: &'a str,
    agent: &'a str,
    dialect: &'a str,
    verdict: &'static str,
    line: u32,
    why: &'static str,
    because: String,
    path: &'a str,
    group: GroupRecord<'a>,
    allow: Option<RuleRecord>,
    disallow: Option<RuleRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agrees: Option<bool>,
}

#[derive(Serialize)]
struct GroupRecord<'a> {
    by: &'static str,
    token: Option<std::borrow::Cow<'a, str>>,
    lines: Vec<u32>,
}

#[derive(Serialize)]
struct RuleRecord {
    line: u32,
    text: String,
    pattern: String,
    octets: usize,
}

/// A JSON object for each URL, agent and dialect.
pub fn json(tested: &Tested<'_>) -> Result<String> {
    let mut text = String::new();
    for (index, (url, agent)) in tested.questions().enumerate() {
        let expected = tested.reference().answers[index].explanation.verdict;
        for column in tested.columns {
            let answer = &column.answers[index];
            let choice = &column.choices[answer.agent];
            let resolved = &column.agents[answer.agent];
            let rule = |rule: &Rule| RuleRecord {
                line: rule.line,
                text: String::from_utf8_lossy(column.text_of(rule.line)).into_owned(),
                pattern: String::from_utf8_lossy(&rule.pattern).into_owned(),
                octets: column.reading.octets(rule, &answer.path),
            };
            let token = match choice.by {
                ChosenBy::Token(index) => resolved.tokens.get(index),
                _ => None,
            };
            let record = Record {
                url: &String::from_utf8_lossy(url),
                agent: &agent.name,
                dialect: column.reading.dialect().as_str(),
                verdict: answer.explanation.verdict.name(),
                line: answer.line(),
                why: answer.why.as_str(),
                because: column.because(answer),
                path: &String::from_utf8_lossy(&answer.shown_path),
                group: GroupRecord {
                    by: match choice.by {
                        ChosenBy::Token(_) => "token",
                        ChosenBy::DefaultGroup => "others",
                        ChosenBy::Nobody => "nobody",
                    },
                    token: token.map(|token| String::from_utf8_lossy(token)),
                    lines: column.reading.naming_lines(resolved, choice),
                },
                allow: answer.explanation.allow.as_ref().map(rule),
                disallow: answer.explanation.disallow.as_ref().map(rule),
                agrees: (tested.columns.len() > 1).then_some(answer.explanation.verdict == expected),
            };
            text.push_str(&json_line(&record)?);
        }
    }
    Ok(text)
}
