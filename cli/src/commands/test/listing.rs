//! The file with line numbers, and marks on the lines that matter.

use std::collections::{BTreeMap, BTreeSet};

use reptile_compiler::body::DiagnosticKind;
use reptile_engine::verdict::RuleKind;

use super::Tested;
use super::words::{numbers, shown};
use crate::outputs::summary::grouped;
use crate::outputs::text::{pad, printable, width};

/// The greatest number of lines of a file that is shown whole.
const MAX_WHOLE: usize = 40;

/// Lines that are shown before and after one that matters.
const CONTEXT: u32 = 2;

/// Cells of the column of lines. A wider line pushes its remarks to the right.
const MAX_COLUMN: usize = 48;

/// What the answers have to do with a line.
#[derive(Default)]
struct Mark {
    /// The numbers of the answers that the line decides.
    decides: Vec<u32>,
    /// The numbers of the answers in which the line matches and another rule wins.
    outdone: Vec<u32>,
    /// Whether the line names the group of an agent.
    names: bool,
    /// The diagnostics of the line, in words.
    diagnostics: Vec<&'static str>,
}

impl Mark {
    /// The sign at the beginning of the line.
    fn sign(&self) -> char {
        match () {
            () if !self.decides.is_empty() => '>',
            () if !self.outdone.is_empty() => '-',
            () if self.names => '@',
            () => ' ',
        }
    }

    /// The remarks at the end of the line.
    fn remarks(&self) -> String {
        let mut remarks = Vec::new();
        if !self.decides.is_empty() {
            remarks.push(format!("decides {}", numbers(&self.decides)));
        }
        if !self.outdone.is_empty() {
            remarks.push(format!("outdone in {}", numbers(&self.outdone)));
        }
        remarks.extend(self.diagnostics.iter().map(|&words| words.to_owned()));
        remarks.join("; ")
    }
}

/// The file with marks: all of it, or what is near the lines that matter.
pub fn listing(tested: &Tested<'_>, full: bool) -> String {
    let reading = &tested.reference().reading;
    let mut marks = marks(tested);
    let line_count = reading.lines.len() - usize::from(reading.lines.last().is_some_and(|last| last.is_empty()));
    let near: BTreeSet<u32> =
        marks.keys().flat_map(|&line| line.saturating_sub(CONTEXT)..=line.saturating_add(CONTEXT)).collect();
    let is_shown = |line: u32| full || line_count <= MAX_WHOLE || near.contains(&line);
    let mut text = format!(
        "{}: {} lines, read as {}\n",
        printable(tested.name.as_os_str().as_encoded_bytes()),
        grouped(line_count as u64),
        reading.dialect().name
    );
    for (line, kind) in reading.diagnostics() {
        if line == 0 {
            text.push_str(&format!("  {}\n", kind.describe()));
        } else if is_shown(line) && is_worth_a_remark(kind) {
            marks.entry(line).or_default().diagnostics.push(kind.describe());
        }
    }
    text.push('\n');
    let lines = (1..).zip(&reading.lines[..line_count]).filter(|(number, _)| is_shown(*number));
    let lines: Vec<(u32, String)> =
        lines.map(|(number, line)| (number, shown(line, full).replace('\t', " "))).collect();
    push_lines(&lines, &marks, line_count, &mut text);
    text
}

/// The marks of the lines that the answers have to do with.
fn marks(tested: &Tested<'_>) -> BTreeMap<u32, Mark> {
    let column = tested.reference();
    let mut marks: BTreeMap<u32, Mark> = BTreeMap::new();
    for (number, answer) in (1..).zip(&column.answers) {
        let best = [(RuleKind::Allow, &answer.explanation.allow), (RuleKind::Disallow, &answer.explanation.disallow)];
        for (kind, rule) in best {
            let Some(rule) = rule.as_ref().filter(|rule| rule.line != 0) else { continue };
            let mark = marks.entry(rule.line).or_default();
            let decides = answer.explanation.decided_by == Some(kind);
            if decides { &mut mark.decides } else { &mut mark.outdone }.push(number);
        }
    }
    for (agent, choice) in column.agents.iter().zip(&column.choices) {
        for line in column.reading.naming_lines(agent, choice) {
            marks.entry(line).or_default().names = true;
        }
    }
    marks
}

/// Appends the lines that are shown, their remarks aligned, and says how many are left out between them.
fn push_lines(lines: &[(u32, String)], marks: &BTreeMap<u32, Mark>, line_count: usize, text: &mut String) {
    let digits = line_count.to_string().len();
    let widest = lines.iter().map(|(_, line)| width(line)).max().unwrap_or(0).min(MAX_COLUMN);
    let left_out = |from: u32, to: u32| match to - from {
        0 | 1 => String::new(),
        _ => format!("  {:>digits$}  {} lines left out; --full shows them\n", "...", grouped((to - from - 1).into())),
    };
    let mut last = 0;
    for (number, line) in lines {
        text.push_str(&left_out(last, *number));
        last = *number;
        let mark = marks.get(number);
        let sign = mark.map_or(' ', Mark::sign);
        let row = match mark.map(Mark::remarks).filter(|remarks| !remarks.is_empty()) {
            None => format!("{sign} {number:>digits$}  {line}"),
            Some(remarks) => format!("{sign} {number:>digits$}  {}  <- {remarks}", pad(line, widest)),
        };
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text.push_str(&left_out(last, line_count as u32 + 1));
}

/// Whether a diagnostic is shown. A key that decides nothing is too common to be worth it.
fn is_worth_a_remark(kind: DiagnosticKind) -> bool {
    !matches!(kind, DiagnosticKind::UnknownKey)
}
