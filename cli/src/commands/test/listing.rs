//! The file with line numbers, and marks on the lines that matter.

use std::collections::{BTreeMap, BTreeSet};

use reptile_compiler::body::DiagnosticKind;
use reptile_engine::verdict::RuleKind;

use super::Tested;
use super::answers::{numbers, shown};
use crate::outputs::summary::grouped;
use crate::outputs::text::printable;

/// Lines of a file that is shown whole.
const MAX_WHOLE: usize = 40;

/// Lines that are shown before and behind one that matters.
const CONTEXT: u32 = 2;

/// Characters of the column of lines. A longer line pushes its remarks to the right.
const MAX_COLUMN: usize = 48;

/// What the answers have to do with a line: the numbers of those that it decides, of those in which another one wins,
/// and whether it names a group that counts.
#[derive(Default)]
struct Mark {
    decides: Vec<u32>,
    outdone: Vec<u32>,
    names: bool,
    left_out: Vec<&'static str>,
}

impl Mark {
    fn sign(&self) -> char {
        match () {
            () if !self.decides.is_empty() => '>',
            () if !self.outdone.is_empty() => '-',
            () if self.names => '@',
            () => ' ',
        }
    }

    fn remarks(&self) -> String {
        let mut remarks = Vec::new();
        if !self.decides.is_empty() {
            remarks.push(format!("decides {}", numbers(&self.decides)));
        }
        if !self.outdone.is_empty() {
            remarks.push(format!("outdone in {}", numbers(&self.outdone)));
        }
        remarks.extend(self.left_out.iter().map(|&words| words.to_owned()));
        remarks.join("; ")
    }
}

/// The file as far as it matters, or all of it.
pub fn listing(tested: &Tested<'_>, full: bool) -> String {
    let column = tested.reference();
    let reading = &column.reading;
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
        for line in reading.naming_lines(agent, choice) {
            marks.entry(line).or_default().names = true;
        }
    }
    let line_count = reading.lines.len() - usize::from(reading.lines.last().is_some_and(|last| last.is_empty()));
    let whole = full || line_count <= MAX_WHOLE;
    let near: BTreeSet<u32> =
        marks.keys().flat_map(|&line| line.saturating_sub(CONTEXT)..=line.saturating_add(CONTEXT)).collect();
    let is_shown = |line: u32| whole || near.contains(&line);
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
            marks.entry(line).or_default().left_out.push(kind.describe());
        }
    }
    text.push('\n');
    let lines = || (1..).zip(&reading.lines[..line_count]).filter(|(number, _)| is_shown(*number));
    let texts: Vec<String> = lines().map(|(_, line)| shown(line, full).replace('\t', " ")).collect();
    let digits = line_count.to_string().len();
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).min(MAX_COLUMN);
    let mut last = 0;
    let left_out = |from: u32, to: u32| match to - from {
        0 | 1 => String::new(),
        _ => format!("  {:>digits$}  {} lines left out; --full shows them\n", "...", grouped((to - from - 1).into())),
    };
    for ((number, _), line) in lines().zip(&texts) {
        text.push_str(&left_out(last, number));
        last = number;
        let mark = marks.get(&number);
        let remarks = mark.map(Mark::remarks).unwrap_or_default();
        let row = match &*remarks {
            "" => format!("{} {number:>digits$}  {line}", mark.map_or(' ', Mark::sign)),
            remarks => format!("{} {number:>digits$}  {line:width$}  <- {remarks}", mark.map_or(' ', Mark::sign)),
        };
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text.push_str(&left_out(last, line_count as u32 + 1));
    text
}

/// Whether it matters that the dialect does not take a line as it stands. A key that decides nothing is no surprise.
fn is_worth_a_remark(kind: DiagnosticKind) -> bool {
    !matches!(kind, DiagnosticKind::UnknownKey)
}
