//! The answers under one dialect, as text.

use std::io::Write;

use reptile::explain::{DecidingReason, octets_of};
use reptile::usage::Preference;
use reptile::{Rule, Verdict};

use super::file::{Column, DialectResults};
use super::shown::shown;
use crate::error::Stop;
use crate::outputs::align::{pad, width};
use crate::outputs::style::Style;
use reptile_records::text::printable;

/// Width of the URL column. A wider URL pushes the rest of its line to the right.
const MAX_COLUMN: usize = 60;

/// The answers with `--brief`: one line for each URL and agent.
pub struct Brief<'t> {
    column: &'t Column<'t>,
    names: Vec<String>,
    agent_width: usize,
    url_width: usize,
}

impl<'t> Brief<'t> {
    /// Sets the column widths for these URLs. Wider URLs that follow are not aligned.
    pub fn new(column: &'t Column<'t>, urls: &[&[u8]]) -> Brief<'t> {
        let names: Vec<String> = column.agents.iter().map(|agent| printable(agent.name.as_bytes())).collect();
        let agent_width = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let widths = urls.iter().map(|url| width(&printable(url)));
        Brief { column, agent_width, url_width: widths.max().unwrap_or(0).min(MAX_COLUMN), names }
    }

    /// Writes the answer for a URL and an agent.
    pub fn write(&self, url: &[u8], agent: usize, out: &mut impl Write) -> Result<(), Stop> {
        let answer = self.column.answer(url, agent)?;
        let reason = match answer.explanation.rule() {
            Some(Rule { line: 0, .. }) => "always allowed".into(),
            Some(rule) => format!("line {}: {}", rule.line, shown(self.column.text_of(rule.line), false)),
            None if answer.why == DecidingReason::NoGroup => "no group applies to this agent".into(),
            None => answer.explanation.reason().to_string(),
        };
        let verdict = answer.explanation.verdict;
        let padded = pad(verdict.name(), Verdict::Disallow.name().len());
        write!(out, "{}  ", Style::of_verdict(verdict).of(&padded))?;
        for (_, preference) in answer.stated.iter().flat_map(|stated| stated.preferences()) {
            write!(out, "{}  ", pad(preference.name(), Preference::NotApplicable.name().len()))?;
        }
        if self.names.len() > 1 {
            write!(out, "{}  ", pad(&self.names[agent], self.agent_width))?;
        }
        let remarks = answer.remarks.iter().map(|remark| format!("  ({remark})")).collect::<String>();
        writeln!(out, "{}   {reason}{remarks}", pad(&printable(url), self.url_width))?;
        Ok(())
    }
}

/// Returns the answers in full: the group, the rules and the reason for each URL and agent.
pub fn full(tested: &DialectResults<'_>, full: bool) -> String {
    let DialectResults { column, answers, .. } = tested;
    let mut text = String::new();
    for (number, ((url, agent), answer)) in (1..).zip(tested.questions().zip(answers)) {
        let verdict = answer.explanation.verdict;
        let verdict = Style::of_verdict(verdict).of(verdict.name());
        let name = shown(agent.name.as_bytes(), full);
        text.push_str(&format!("\n{number}  {verdict}  {}  for {name}\n", shown(url, full)));
        let mut row = |label: &str, value: &str| text.push_str(&format!("   {label:9} {value}\n"));
        answer.remarks.iter().for_each(|remark| row("URL", remark));
        if !matches!(answer.why, DecidingReason::Fetch(_)) && answer.explanation.verdict != Verdict::Invalid {
            row("group", &column.group(answer.agent));
        }
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
        if let Some(stated) = &answer.stated {
            for (name, preference) in stated.preferences() {
                row("use", &format!("{}: {preference}", shown(name.as_bytes(), full)));
            }
            for &line in &stated.lines {
                row("stated", &format!("line {line}: {}", shown(column.text_of(line), full)));
            }
        }
    }
    text
}
