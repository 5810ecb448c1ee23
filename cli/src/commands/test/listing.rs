//! The file with line numbers, and marks on the relevant lines.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use reptile::RuleKind;
use reptile::body::DiagnosticKind;
use reptile::explain::{ExplainedFile, numbers};

use super::args::Fetch;
use super::file::DialectResults;
use super::shown::shown;
use crate::outputs::align::{pad, width};
use crate::outputs::summary::grouped;
use reptile_records::text::printable;

/// Maximum number of lines in a file that is shown in full without `--full`.
const MAX_WHOLE: usize = 40;

/// Context lines before and after each marked line.
const CONTEXT: u32 = 2;

/// Width of the line column. A wider line pushes its remarks to the right.
const MAX_COLUMN: usize = 48;

/// A line's part in the answers.
#[derive(Default)]
struct Mark {
    /// The numbers of the answers that the line decides.
    decides: Vec<u32>,
    /// The numbers of the answers in which the line matches and another rule wins.
    outdone: Vec<u32>,
    /// Whether the line names the group of an agent.
    names: bool,
}

impl Mark {
    /// Returns the sign at the beginning of the line.
    fn sign(&self) -> char {
        match () {
            () if !self.decides.is_empty() => '>',
            () if !self.outdone.is_empty() => '-',
            () if self.names => '@',
            () => ' ',
        }
    }

    /// Returns the remarks at the end of the line.
    fn remarks(&self, diagnostics: &[&'static str]) -> String {
        let mut remarks = Vec::new();
        if !self.decides.is_empty() {
            remarks.push(format!("decides {}", numbers(&self.decides, self.decides.len())));
        }
        if !self.outdone.is_empty() {
            remarks.push(format!("outdone in {}", numbers(&self.outdone, self.outdone.len())));
        }
        remarks.extend(diagnostics.iter().map(|&words| words.to_owned()));
        remarks.join("; ")
    }
}

/// The shown lines of the file.
struct Shown<'t> {
    reading: &'t ExplainedFile<'t>,
    line_count: usize,
    marks: BTreeMap<u32, Mark>,
    /// The marked lines and their context, or `None` if every line is shown.
    near: Option<BTreeSet<u32>>,
    full: bool,
}

/// Writes the file with marks: all lines, or the marked lines and their context.
///
/// # Errors
/// Returns an error if `out` cannot be written.
pub fn write(tested: &DialectResults<'_>, full: bool, out: &mut impl Write) -> io::Result<()> {
    let reading = &tested.column.reading;
    let marks = marks(tested);
    let ends_empty = reading.line(reading.line_count() as u32).is_some_and(<[u8]>::is_empty);
    let line_count = reading.line_count() - usize::from(ends_empty);
    let is_whole = full || line_count <= MAX_WHOLE;
    let near = || marks.keys().flat_map(|&line| line.saturating_sub(CONTEXT)..=line.saturating_add(CONTEXT)).collect();
    let near = (!is_whole).then(near);
    let name = printable(tested.name.as_os_str().as_encoded_bytes());
    writeln!(out, "{name}: {} lines, read as {}", grouped(line_count as u64), reading.dialect().name)?;
    if let Fetch { status, profile, is_given: true } = tested.column.fetch {
        let status = status.map_or(String::new(), |status| format!("answered with {status}, "));
        writeln!(out, "  {status}under the fetch profile {profile}")?;
    }
    for (_, kind) in reading.diagnostics().filter(|&(line, _)| line == 0) {
        writeln!(out, "  {}", kind.describe())?;
    }
    writeln!(out)?;
    Shown { reading, line_count, marks, near, full }.write(out)
}

/// Returns the marks of the lines in the answers.
fn marks(tested: &DialectResults<'_>) -> BTreeMap<u32, Mark> {
    let DialectResults { column, answers, .. } = tested;
    let mut marks: BTreeMap<u32, Mark> = BTreeMap::new();
    for (number, answer) in (1..).zip(answers) {
        let best = [(RuleKind::Allow, &answer.explanation.allow), (RuleKind::Disallow, &answer.explanation.disallow)];
        for (kind, rule) in best {
            let Some(rule) = rule.as_ref().filter(|rule| rule.line != 0) else { continue };
            let mark = marks.entry(rule.line).or_default();
            let decides = answer.explanation.decided_by == Some(kind);
            if decides { &mut mark.decides } else { &mut mark.outdone }.push(number);
        }
    }
    for &line in column.naming.iter().flat_map(|naming| &naming.lines) {
        marks.entry(line).or_default().names = true;
    }
    marks
}

impl<'t> Shown<'t> {
    /// Returns the shown lines with their numbers.
    fn lines(&self) -> impl Iterator<Item = (u32, String)> {
        let lines = (1..).zip(self.reading.lines()).take(self.line_count);
        let is_shown = |number: &u32| self.near.as_ref().is_none_or(|near| near.contains(number));
        let lines = lines.filter(move |(number, _)| is_shown(number));
        lines.map(|(number, line)| (number, shown(line, self.full).replace('\t', " ")))
    }

    /// Writes the lines with aligned remarks, and the number of lines left out between them. Keeps no lines in memory,
    /// because a file may have 16 million.
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let digits = self.line_count.to_string().len();
        let widest = self.lines().map(|(_, line)| width(&line)).max().unwrap_or(0).min(MAX_COLUMN);
        let left_out = |from: u32, to: u32| match to - from {
            0 | 1 => String::new(),
            _ => {
                format!("  {:>digits$}  {} lines left out; --full shows them\n", "...", grouped((to - from - 1).into()))
            }
        };
        let mut diagnostics =
            self.reading.diagnostics().filter(|&(line, kind)| line > 0 && is_worth_a_remark(kind)).peekable();
        let (mut last, no_mark) = (0, Mark::default());
        for (number, line) in self.lines() {
            out.write_all(left_out(last, number).as_bytes())?;
            last = number;
            let mut words = Vec::new();
            while let Some((at, kind)) = diagnostics.next_if(|&(at, _)| at <= number) {
                words.extend((at == number).then(|| kind.describe()));
            }
            let mark = self.marks.get(&number).unwrap_or(&no_mark);
            let remarks = mark.remarks(&words);
            let row = match remarks.is_empty() {
                true => format!("{} {number:>digits$}  {line}", mark.sign()),
                false => format!("{} {number:>digits$}  {}  <- {remarks}", mark.sign(), pad(&line, widest)),
            };
            writeln!(out, "{}", row.trim_end())?;
        }
        out.write_all(left_out(last, self.line_count as u32 + 1).as_bytes())
    }
}

/// Returns whether a diagnostic is shown. Unknown keys are too common.
fn is_worth_a_remark(kind: DiagnosticKind) -> bool {
    !matches!(kind, DiagnosticKind::UnknownKey)
}
