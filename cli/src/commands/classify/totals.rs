//! The counters and the final summary of `reptile classify`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use reptile::{Agents, Verdict};

use crate::error::{complain, note, note_once};
use crate::outputs::summary::{Summary, grouped, rate, seconds};
use reptile_columns::audit::Requests;
use reptile_columns::{Answers, Faults, MAX_NAMED_FAULTS, Misspelled, TableDecider, Tally, Tops};
use reptile_records::place::Place;
use reptile_records::tables::csv::UnclosedRow;
use reptile_records::tables::{Fault, Format, Table, hint};
use reptile_records::text::printable;

/// Maximum size in bytes of the kept first rows. They show the likely format if most rows are invalid.
const SAMPLE_BYTES: usize = 4096;

/// Maximum number of named crawlers counted separately. Other crawlers are counted together.
pub const MAX_COUNTED_CRAWLERS: usize = 1000;

/// Maximum number of crawlers shown: those with the most rows.
const SHOWN_CRAWLERS: usize = 10;

/// Verdict counts for a crawler, or for several together.
pub struct VerdictCounts {
    /// The label before the name.
    pub label: &'static str,
    /// The name of the crawler, or nothing.
    pub name: String,
    /// The counts, by verdict number.
    pub counts: [u64; 4],
}

/// Counts for the whole list or table.
pub struct Totals {
    /// The format and the columns.
    pub table: Arc<Table>,
    /// Number of rows.
    pub lines: u64,
    tally: Tally,
    stand_ins: u64,
    /// Number of line ends before the next row.
    line_ends: u64,
    faults: [u64; Fault::ALL.len()],
    named_faults: usize,
    /// Whether the last row has an unclosed quote.
    is_unclosed: bool,
    sample: Vec<u8>,
    /// Verdict counts by crawler, if rows name crawlers. At most [`MAX_COUNTED_CRAWLERS`].
    crawlers: HashMap<Arc<str>, [u64; 4]>,
    /// Verdict counts for all crawlers over the limit.
    other_crawlers: [u64; 4],
    /// Number of rows that name no crawler.
    unnamed: u64,
    /// The most frequent origins and rules, if requested.
    pub tops: Tops,
    /// Further rows of the summary.
    pub more: Vec<(String, String)>,
}

impl Totals {
    /// Returns zero counts for a table.
    pub fn new(table: Table) -> Totals {
        let line_ends = table.lines_before + table.header.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Totals {
            table: Arc::new(table),
            lines: 0,
            tally: Tally::new(),
            stand_ins: 0,
            line_ends,
            faults: [0; Fault::ALL.len()],
            named_faults: 0,
            is_unclosed: false,
            sample: Vec::new(),
            crawlers: HashMap::new(),
            other_crawlers: [0; 4],
            unnamed: 0,
            tops: Tops::default(),
            more: Vec::new(),
        }
    }

    /// Returns the number of line ends before the next row.
    pub fn line_ends(&self) -> u64 {
        self.line_ends
    }

    /// Keeps the start of the first rows.
    pub fn keep_sample(&mut self, rows: &[u8]) {
        if self.sample.is_empty() {
            self.sample.extend_from_slice(&rows[..rows.len().min(SAMPLE_BYTES)]);
        }
    }

    /// Adds a block's verdicts. Reports the first unreadable rows in the table at `path`.
    pub fn add(&mut self, answers: &Answers, path: &Place) {
        self.add_faults(&answers.faults, path);
        self.line_ends += answers.line_ends;
        self.lines += answers.lines;
        self.stand_ins += answers.stand_ins;
        self.tally.resize(answers.tally.len(), [0; 4]);
        self.tally.iter_mut().zip(&answers.tally).for_each(|(total, counts)| add(total, counts));
        self.unnamed += answers.unnamed;
        self.tops.merge(&answers.tops);
        answers.crawlers.iter().for_each(|(name, counts)| self.add_crawler(name, counts));
    }

    /// Adds a block of requests, whose verdicts are counted elsewhere. Reports the first unreadable rows.
    pub fn add_requests(&mut self, requests: &Requests, path: &Place) {
        self.add_faults(&requests.faults, path);
        self.line_ends += requests.line_ends;
        self.lines += requests.rows;
        self.tally.resize(1, [0; 4]);
        self.tally[0][Verdict::Invalid as usize] += requests.invalid();
    }

    /// Counts unreadable rows, and reports the first.
    fn add_faults(&mut self, faults: &Faults, path: &Place) {
        self.faults.iter_mut().zip(&faults.counts).for_each(|(total, count)| *total += count);
        for &(line, fault) in &faults.first {
            // An unclosed row is reported when all of it has been read.
            if self.named_faults < MAX_NAMED_FAULTS && fault != Fault::Unclosed {
                self.named_faults += 1;
                let line = self.line_ends + line + 1;
                let place = if self.table.is_columnar() { " row " } else { "" };
                let what = fault.describe(&self.table);
                let remedy = fault.remedy(&self.table).map(|remedy| format!(": {remedy}")).unwrap_or_default();
                note(format_args!("{}:{place}{line}: {what}{remedy}", path.display()));
            }
        }
    }

    /// Reports the last row, already added, if it has an unclosed quote.
    pub fn name_unclosed(&mut self, row: UnclosedRow, path: &Place) {
        self.is_unclosed = true;
        let quote_line = self.line_ends - row.line_ends + 1;
        // In TSV, each line of the row is an invalid row.
        let place = match self.table.format {
            Format::Tsv => String::new(),
            _ => format!(" in row {}", grouped(self.lines)),
        };
        let remedy = Fault::Quote.remedy(&self.table).filter(|_| place.is_empty());
        let remedy = remedy.map(|remedy| format!(": {remedy}")).unwrap_or_default();
        note(format_args!(
            "{}:{quote_line}: unclosed quote{place}: {} bytes up to the end of the input are not read as rows{remedy}",
            path.display(),
            grouped(row.bytes)
        ));
    }

    /// Adds the verdicts of another list.
    pub fn merge(&mut self, other: &Totals) {
        self.is_unclosed |= other.is_unclosed;
        self.lines += other.lines;
        self.stand_ins += other.stand_ins;
        self.faults.iter_mut().zip(other.faults).for_each(|(total, count)| *total += count);
        self.tally.resize(self.tally.len().max(other.tally.len()), [0; 4]);
        self.tally.iter_mut().zip(&other.tally).for_each(|(total, counts)| add(total, counts));
        self.unnamed += other.unnamed;
        self.tops.merge(&other.tops);
        add(&mut self.other_crawlers, &other.other_crawlers);
        other.crawlers.iter().for_each(|(name, counts)| self.add_crawler(name, counts));
    }

    /// Adds the verdicts for a crawler that rows name.
    fn add_crawler(&mut self, name: &Arc<str>, counts: &[u64; 4]) {
        let is_full = self.crawlers.len() >= MAX_COUNTED_CRAWLERS;
        match self.crawlers.get_mut(name) {
            Some(total) => add(total, counts),
            None if is_full => add(&mut self.other_crawlers, counts),
            None => drop(self.crawlers.insert(Arc::clone(name), *counts)),
        }
    }

    /// Prints the figures, and notes about agents that no robots.txt names and about invalid rows. Returns
    /// [`Totals::is_bad`].
    pub fn report(&self, path: &Place, decider: &TableDecider, time: Duration) -> bool {
        let mut summary = Summary::default();
        summary.row("input", self.table.to_string());
        summary.count("lines", self.lines);
        for (fault, count) in self.faults() {
            summary.count(format!("  invalid: {fault}"), count);
        }
        for VerdictCounts { label, name, counts } in self.verdicts(decider) {
            summary.row(format!("{label}{}", printable(name.as_bytes())), verdict_counts(&counts));
        }
        for (label, value) in &self.more {
            summary.row(printable(label.as_bytes()), value.clone());
        }
        if decider.decider().is_by_row() {
            summary.count("  rows that name no crawler", self.unnamed);
        }
        if self.stand_ins > 0 {
            summary.count("decided by another origin", self.stand_ins);
        }
        for (verdict, written, count) in self.written(decider) {
            summary.count(format!("{verdict}, written as {written}"), count);
        }
        summary.row("time", format!("{}, {} URLs/s", seconds(time), rate(self.lines, time)));
        let decider = decider.decider();
        for agent in decider.agents().iter().filter(|agent| !decider.is_by_row() && !agent.is_named()) {
            let applies = match (agent.honors_default_group(), agent.tokens().len()) {
                (true, _) => "is not named by any robots.txt in this set; the rules for * apply",
                (false, 0) => "obeys no robots.txt, as its operator says",
                (false, _) => "is not named by any robots.txt in this set, and does not obey the rules for *",
            };
            note_once(format_args!("agent {} {applies}", printable(agent.crawler().to_string().as_bytes())));
        }
        if let Some(Misspelled { rows, names }) = decider.misspelled() {
            summary.count("  rows with a misspelled crawler", rows);
            let names =
                names.iter().map(|(name, mistake)| format!("\"{name}\" for \"{}\"", mistake.tokens().join("\" or \"")));
            let (path, rows) = (path.display(), grouped(rows));
            let names = names.collect::<Vec<_>>().join(", ");
            note(format_args!(
                "{path}: {rows} rows name crawlers that no robots.txt names and that probably mean known ones: {names}; \
                 --agent 'exact:{{COLUMN}}' uses them unchanged"
            ));
        }
        if self.lines == 0 {
            note(format_args!("{}: contains no rows", path.display()));
        }
        self.warn_of_invalid(path);
        summary.print();
        self.is_bad()
    }

    /// Returns the problems with unreadable rows, and their counts.
    pub fn faults(&self) -> impl Iterator<Item = (String, u64)> {
        self.fault_counts().map(|(fault, count)| (fault.describe(&self.table), count))
    }

    /// Returns the number of rows decided by an origin other than the URL's own.
    pub fn stand_ins(&self) -> u64 {
        self.stand_ins
    }

    /// Returns each verdict replaced by `--treat`, its replacement, and the number of rows.
    pub fn written(&self, decider: &TableDecider) -> impl Iterator<Item = (Verdict, Verdict, u64)> {
        // They are the same for all agents.
        let counts = self.tally.first().copied().unwrap_or_default();
        let written = decider.decider().layout().written();
        let all = [Verdict::Unknown, Verdict::Invalid];
        let written = all.map(|verdict| (verdict, written[verdict as usize], counts[verdict as usize]));
        written.into_iter().filter(|(verdict, written, _)| verdict != written)
    }

    /// Returns the verdict counts of each crawler. If rows name crawlers, returns the counts of all crawlers together,
    /// and then of those with the most rows.
    pub fn verdicts(&self, decider: &TableDecider) -> Vec<VerdictCounts> {
        let (is_by_row, agents): (_, &Agents) = (decider.decider().is_by_row(), decider.decider().agents());
        let tally = |at: usize| self.tally.get(at).copied().unwrap_or_default();
        let mut all = Vec::new();
        if is_by_row {
            all.push(VerdictCounts { label: "all crawlers", name: String::new(), counts: tally(0) });
            self.add_crawlers(&mut all);
        } else {
            let agents = agents.iter().enumerate();
            let agents = agents.map(|(at, agent)| (agent.crawler().to_string(), tally(at)));
            all.extend(agents.map(|(name, counts)| VerdictCounts { label: "agent ", name, counts }));
        }
        if let Some(&counts) = self.tally.get(agents.len()) {
            all.push(VerdictCounts { label: "any of them", name: String::new(), counts });
        }
        all
    }

    /// Adds the verdicts for the crawlers that rows name, the most frequent first.
    fn add_crawlers(&self, all: &mut Vec<VerdictCounts>) {
        let mut crawlers: Vec<(&str, &[u64; 4])> =
            self.crawlers.iter().map(|(name, counts)| (&**name, counts)).collect();
        crawlers.sort_by_key(|(name, counts)| (std::cmp::Reverse(counts.iter().sum::<u64>()), *name));
        let (shown, rest) = crawlers.split_at(crawlers.len().min(SHOWN_CRAWLERS));
        all.extend(shown.iter().map(|&(name, &counts)| VerdictCounts { label: "  ", name: name.to_owned(), counts }));
        let mut others = self.other_crawlers;
        rest.iter().for_each(|(_, counts)| add(&mut others, counts));
        if others != [0; 4] {
            all.push(VerdictCounts { label: "  other crawlers", name: String::new(), counts: others });
        }
    }

    /// Returns the problems with unreadable rows, and their counts, without those that did not occur.
    pub fn fault_counts(&self) -> impl Iterator<Item = (Fault, u64)> {
        Fault::ALL.into_iter().zip(self.faults).filter(|&(_, count)| count > 0)
    }

    /// Returns the verdict counts of each agent, and then of all together if `--columns any-of` or `--only` needs them. If rows
    /// name their crawlers, returns the counts of all rows.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the verdict counts of the crawlers that rows name, or `None` if there are too many to count each.
    pub fn crawlers(&self) -> Option<&HashMap<Arc<str>, [u64; 4]>> {
        (self.other_crawlers == [0; 4]).then_some(&self.crawlers)
    }

    /// Returns the number of rows that name no crawler.
    pub fn unnamed(&self) -> u64 {
        self.unnamed
    }

    /// Returns the number of rows that are invalid.
    pub fn invalid(&self) -> u64 {
        self.tally.first().map_or(0, |counts| counts[Verdict::Invalid as usize])
    }

    /// Returns whether most rows are invalid, or the last one has an unclosed quote.
    pub fn is_bad(&self) -> bool {
        self.is_unclosed || self.most_are_invalid()
    }

    /// Returns whether most rows are invalid.
    fn most_are_invalid(&self) -> bool {
        self.invalid() * 2 > self.lines
    }

    /// Prints a note if most rows are invalid, with their likely format.
    pub fn warn_of_invalid(&self, path: &Place) {
        if !self.most_are_invalid() {
            return;
        }
        let invalid = self.invalid();
        let (shown, invalid, lines) = (path.display(), grouped(invalid), grouped(self.lines));
        let lacks_cells = self.faults[Fault::NoCell as usize] * 2 > self.invalid();
        let hint = hint(&self.sample, &self.table, lacks_cells).map(|hint| format!("; {hint}")).unwrap_or_default();
        // The reason for the exit code 1, also with --quiet.
        complain(format_args!("{shown}: {invalid} of {lines} rows are invalid, read as {}{hint}", self.table));
    }
}

/// Adds counts to others.
fn add(total: &mut [u64; 4], counts: &[u64; 4]) {
    total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
}

/// Returns verdict counts in words.
fn verdict_counts(counts: &[u64; 4]) -> String {
    let verdicts = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];
    verdicts.map(|verdict| format!("{verdict} {}", grouped(counts[verdict as usize]))).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separately_counted_crawlers_stop_at_the_limit() {
        for count in [MAX_COUNTED_CRAWLERS - 1, MAX_COUNTED_CRAWLERS, MAX_COUNTED_CRAWLERS + 1] {
            let crawlers = (0..count).map(|number| (number.to_string().into(), [1, 0, 0, 0])).collect();
            let answers = Answers { crawlers, ..Answers::default() };
            let mut totals = Totals::new(Table::list());
            totals.add(&answers, &Place::from("x"));
            totals.add(&answers, &Place::from("x"));
            let counted = count.min(MAX_COUNTED_CRAWLERS);
            assert_eq!(totals.crawlers.len(), counted);
            assert!(totals.crawlers.values().all(|counts| counts[0] == 2));
            assert_eq!(totals.other_crawlers, [2 * (count - counted) as u64, 0, 0, 0]);
        }
    }
}
