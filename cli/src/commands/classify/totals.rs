//! What `reptile classify` counts, and what it says at the end.

use std::path::Path;
use std::time::Duration;

use reptile::{Agents, Verdict};

use crate::error::note;
use crate::inputs::tables::{Fault, Format, Table, looks_like};
use crate::outputs::summary::{Summary, grouped, rate, seconds};
use crate::outputs::text::printable;
use crate::outputs::verdicts::{Answers, MAX_NAMED_FAULTS, Tally};

/// Bytes of the first rows that are kept, to say what they look like if most rows are invalid.
const SAMPLE_BYTES: usize = 4096;

/// The verdicts of the whole list or table, counted.
pub struct Totals {
    /// The format and the columns.
    pub table: Table,
    /// The number of rows.
    pub lines: u64,
    tally: Tally,
    /// The line ends before the next row.
    line_ends: u64,
    faults: [u64; Fault::ALL.len()],
    named_faults: usize,
    sample: Vec<u8>,
}

impl Totals {
    /// Counts nothing yet.
    pub fn new(table: Table) -> Totals {
        let line_ends = table.header.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Totals {
            table,
            lines: 0,
            tally: Tally::new(),
            line_ends,
            faults: [0; Fault::ALL.len()],
            named_faults: 0,
            sample: Vec::new(),
        }
    }

    /// Keeps the start of the first rows.
    pub fn keep_sample(&mut self, rows: &[u8]) {
        if self.sample.is_empty() {
            self.sample.extend_from_slice(&rows[..rows.len().min(SAMPLE_BYTES)]);
        }
    }

    /// Adds the verdicts of a block. Names the first rows of the table at `path` that could not be read.
    pub fn add(&mut self, answers: &Answers, path: &Path) {
        for &(line, fault) in &answers.faults.first {
            if self.named_faults < MAX_NAMED_FAULTS {
                self.named_faults += 1;
                let line = self.line_ends + line + 1;
                let place = if self.table.format == Format::Parquet { " row " } else { "" };
                note(format_args!("{}:{place}{line}: {}", path.display(), fault.describe(&self.table)));
            }
        }
        self.line_ends += answers.line_ends;
        self.lines += answers.lines;
        self.faults.iter_mut().zip(&answers.faults.counts).for_each(|(total, count)| *total += count);
        self.tally.resize(answers.tally.len(), [0; 4]);
        for (total, counts) in self.tally.iter_mut().zip(&answers.tally) {
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        }
    }

    /// Prints the figures, and names the agents that no robots.txt names. Returns whether most rows are invalid, which is
    /// said too.
    pub fn report(mut self, path: &Path, agents: &Agents, time: Duration) -> bool {
        let mut summary = Summary::default();
        summary.row("input", self.table.to_string());
        summary.count("lines", self.lines);
        for (fault, count) in Fault::ALL.into_iter().zip(self.faults).filter(|&(_, count)| count > 0) {
            summary.count(format!("  invalid: {}", fault.describe(&self.table)), count);
        }
        self.tally.resize(self.tally.len().max(agents.len()), [0; 4]);
        for (agent, counts) in agents.iter().zip(&self.tally) {
            let name = printable(agent.crawler().to_string().as_bytes());
            summary.row(format!("agent {name}"), verdict_counts(counts));
            if !agent.is_named() {
                let applies = match (agent.honours_default_group(), agent.tokens().len()) {
                    (true, _) => "is named by no robots.txt of this set; the rules for * apply",
                    (false, 0) => "obeys no robots.txt, as its operator says",
                    (false, _) => "is named by no robots.txt of this set, and does not obey the rules for *",
                };
                note(format_args!("agent {name} {applies}"));
            }
        }
        if let Some(counts) = self.tally.get(agents.len()) {
            summary.row("any of them", verdict_counts(counts));
        }
        summary.row("time", format!("{}, {} URLs/s", seconds(time), rate(self.lines, time)));
        let most_are_invalid = self.warn_of_invalid(path);
        summary.print();
        most_are_invalid
    }

    /// Says so if most rows are invalid, and what they look like.
    fn warn_of_invalid(&self, path: &Path) -> bool {
        let invalid = self.tally.first().map_or(0, |counts| counts[Verdict::Invalid as usize]);
        if invalid * 2 <= self.lines {
            return false;
        }
        let (shown, invalid, lines) = (path.display(), grouped(invalid), grouped(self.lines));
        let looks_like = looks_like(&self.sample, self.table.format);
        let looks_like = looks_like.map(|what| format!("; they look like {what}")).unwrap_or_default();
        note(format_args!("{shown}: {invalid} of {lines} rows are invalid, read as {}{looks_like}", self.table));
        true
    }
}

/// How often each verdict was given.
fn verdict_counts(counts: &[u64; 4]) -> String {
    let verdicts = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];
    verdicts.map(|verdict| format!("{verdict} {}", grouped(counts[verdict as usize]))).join(", ")
}
