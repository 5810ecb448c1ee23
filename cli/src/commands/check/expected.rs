//! The comparison of each row with the verdict and the line that it expects.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Read, Write};

use reptile::contents::{Agent, FormatError, Set};
use reptile::{Dialect, RuleKind, Verdict};

use super::args::Args;
use super::rows::{CheckRow, MAX_SHOWN_BYTES, TOO_LONG, each_block, word};
use super::set::policy_of;
use crate::error::Result;
use crate::outputs::file::Output;
use crate::outputs::terminal::tell;
use crate::sets::agents::agent_of_cell;
use reptile_records::lines::{lines, without_line_end};
use reptile_records::text::printable;

/// Counts of row results.
#[derive(Default)]
pub struct Tally {
    /// Number of table lines.
    pub read: u64,
    /// Lines without a row: comments, headers, empty lines.
    pub skipped: u64,
    /// Rows that expect a verdict.
    pub checked: u64,
    /// Rows with a different verdict.
    pub verdicts: u64,
    /// Rows with the right verdict but a different deciding line.
    pub lines: u64,
    /// Rows whose host has no robots.txt.
    pub unknown: u64,
    /// Invalid rows.
    pub malformed: u64,
    /// The differences to show, at most [`Checker::max_shown`]: line number in these rows, from 0, and text.
    shown: Vec<(u64, Vec<u8>)>,
    /// Number of differences, shown or not, including malformed rows and unknown hosts.
    pub shown_of: u64,
    /// All rows with their verdicts, if they are printed.
    printed: Vec<u8>,
}

/// A set, and the options for comparing rows with it.
pub struct Checker<'s> {
    /// The set.
    pub set: Set<&'s [u8]>,
    /// Its dialect, which knows the names of crawlers.
    pub dialect: &'static Dialect,
    /// Whether one robots.txt decides for all hosts.
    pub one_for_all: bool,
    /// Whether agent names are used unchanged.
    pub is_exact: bool,
    /// Whether every row is printed with its verdict.
    pub print: bool,
    /// Maximum number of differences shown.
    pub max_shown: usize,
}

/// Agents of a block's rows. A table has few agents and many rows.
#[derive(Default)]
struct CellAgents<'r>(HashMap<&'r [u8], std::result::Result<Agent, String>>);

impl<'r> CellAgents<'r> {
    /// Returns a cell's agent, or a description of the problem with its name.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    fn of(
        &mut self,
        cell: &'r [u8],
        checker: &Checker<'_>,
    ) -> std::result::Result<&std::result::Result<Agent, String>, FormatError> {
        Ok(match self.0.entry(cell) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let resolved = agent_of_cell(&checker.set, checker.dialect, cell, checker.is_exact);
                new.insert(match resolved {
                    Ok(agent) => Ok(agent.look_up(&checker.set)?),
                    Err(fault) => Err(fault),
                })
            }
        })
    }
}

impl Checker<'_> {
    /// Compares every row of the table.
    ///
    /// # Errors
    /// Returns an error if the table cannot be read, the set is damaged, or the output cannot be written.
    pub fn check_all(&self, source: impl Read, args: &Args) -> Result<Tally> {
        let mut total = Tally::default();
        let mut stdout = Output::stdout();
        each_block(
            source,
            args,
            |block| self.check_block(block),
            || self.long_row(),
            |tally| self.merge(&mut total, tally, &mut stdout).map_err(|error| stdout.failure(&error)),
        )?;
        let hidden = total.shown_of - total.shown_of.min(self.max_shown as u64);
        if hidden > 0 {
            let more = format!("... and {hidden} more\n");
            self.show(more.as_bytes(), &mut stdout).map_err(|error| stdout.failure(&error))?;
        }
        stdout.finish()?;
        Ok(total)
    }

    /// Adds the tally of the next rows, and shows their differences.
    fn merge(&self, total: &mut Tally, tally: Tally, stdout: &mut Output) -> io::Result<()> {
        stdout.write_all(&tally.printed)?;
        let left = self.max_shown.saturating_sub(usize::try_from(total.shown_of).unwrap_or(usize::MAX));
        for (row, text) in tally.shown.iter().take(left) {
            let number = total.read + row + 1;
            self.show(&[format!("row {number}: ").as_bytes(), text, b"\n"].concat(), stdout)?;
        }
        total.read += tally.read;
        total.skipped += tally.skipped;
        total.checked += tally.checked;
        total.verdicts += tally.verdicts;
        total.lines += tally.lines;
        total.unknown += tally.unknown;
        total.malformed += tally.malformed;
        total.shown_of += tally.shown_of;
        Ok(())
    }

    /// Writes to standard output, or to standard error if the rows themselves go to standard output.
    fn show(&self, text: &[u8], stdout: &mut Output) -> io::Result<()> {
        if self.print {
            tell(&String::from_utf8_lossy(text));
            return Ok(());
        }
        stdout.write_all(text)
    }

    /// Compares the rows of a block.
    fn check_block(&self, block: &[u8]) -> std::result::Result<Tally, FormatError> {
        let (mut tally, mut agents) = (Tally::default(), CellAgents::default());
        for line in lines(block) {
            match CheckRow::read(line) {
                Ok(Some(row)) => self.check_row(&row, &mut agents, &mut tally)?,
                Ok(None) => tally.skipped += 1,
                Err(fault) => self.malformed(&fault, without_line_end(line), &mut tally),
            }
            tally.read += 1;
        }
        Ok(tally)
    }

    /// Returns the tally of one overlong row.
    fn long_row(&self) -> Tally {
        let mut tally = Tally::default();
        self.malformed(TOO_LONG, b"", &mut tally);
        tally.read = 1;
        tally
    }

    /// Counts a malformed row, and keeps a message with its start.
    fn malformed(&self, fault: &str, line: &[u8], tally: &mut Tally) {
        tally.malformed += 1;
        let start = printable(&line[..line.len().min(MAX_SHOWN_BYTES)]);
        self.note(tally, || format!("malformed row, {fault}: \"{start}\"").into_bytes());
    }

    /// Counts a difference, and keeps its text up to the limit.
    fn note(&self, tally: &mut Tally, text: impl FnOnce() -> Vec<u8>) {
        tally.shown_of += 1;
        if tally.shown.len() < self.max_shown {
            tally.shown.push((tally.read, text()));
        }
    }

    /// Compares one row.
    fn check_row<'r>(
        &self,
        row: &CheckRow<'r>,
        agents: &mut CellAgents<'r>,
        tally: &mut Tally,
    ) -> std::result::Result<(), FormatError> {
        let Some(policy) = policy_of(&self.set, self.one_for_all, row.host)? else {
            tally.unknown += 1;
            self.note(tally, || [&row.columns(), &b"\tno robots.txt for this host"[..]].concat());
            self.print(row, "UNKNOWN", 0, tally);
            return Ok(());
        };
        let agent = match agents.of(row.agent, self)? {
            Ok(agent) => agent,
            Err(fault) => {
                self.malformed(&format!("the agent: {fault}"), &row.columns(), tally);
                return Ok(());
            }
        };
        let explanation = row.path.with(|path| policy.explain(agent, path))?;
        let kind = if explanation.verdict == Verdict::Disallow { RuleKind::Disallow } else { RuleKind::Allow };
        let line = explanation.rule().map_or(0, |rule| rule.line);
        self.print(row, word(kind), line, tally);
        let Some((expected, expected_line)) = row.expected else { return Ok(()) };
        tally.checked += 1;
        let verdict_differs = kind != expected;
        let line_differs = expected_line.is_some_and(|expected| expected != line);
        if verdict_differs {
            tally.verdicts += 1;
        } else if line_differs {
            tally.lines += 1;
        } else {
            return Ok(());
        }
        self.note(tally, || {
            let expected_line = expected_line.map(|line| format!(" line {line}")).unwrap_or_default();
            let (expected, found) = (word(expected), word(kind));
            let text = format!("\texpected {expected}{expected_line}, found {found} line {line}");
            [row.columns(), text.into_bytes()].concat()
        });
        Ok(())
    }

    /// Keeps a row with its verdict for standard output, if the rows are printed.
    fn print(&self, row: &CheckRow<'_>, verdict: &str, line: u32, tally: &mut Tally) {
        if self.print {
            tally.printed.extend_from_slice(&row.columns());
            tally.printed.extend_from_slice(format!("\t{verdict}\t{line}\n").as_bytes());
        }
    }
}
