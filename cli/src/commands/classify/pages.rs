//! `classify --rights`: a row for each page in a crawl archive, with the statements that arrive with it.

use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile::rights::Permission;
use reptile::{Agents, Verdict};
use reptile_columns::{Answers, Column, Decider, Layout, PageRights, RightsTable, TableDecider, VERDICTS};
use reptile_records::pages::{CrawlerNames, JoinedPages, NextPage, Page, Pages, kind_of, page_of};
use reptile_records::place::Place;
use reptile_records::tables::Table;
use reptile_records::warc::records::Record;

use super::files::{Decided, NextOutput};
use super::lineage;
use super::plan::{List, Plan};
use super::totals::Totals;
use crate::error::{Failure, Result};
use crate::outputs::file::{Complete, Output, publish};
use crate::outputs::parts::RowSink;
use crate::outputs::progress::Progress;
use crate::outputs::sink::Sink;
use crate::outputs::summary::grouped;
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, METADATA_KEY, SetState};
use crate::sets::report::RecordFaults;

/// Maximum number of pages in a batch. All threads decide a batch while the next one is read.
const PAGES_AT_ONCE: usize = 1024;

/// Number of bytes of records after which a batch is complete.
const BYTES_AT_ONCE: usize = 16 << 20;

/// The files and the question of a run.
pub struct PageSettings {
    table: RightsTable,
    names: CrawlerNames,
    joined: JoinedPages,
}

impl PageSettings {
    /// Prepares the question, and reads the files of `--rights-from`. Returns `None` without `--rights`.
    ///
    /// # Errors
    /// Returns an error for an invalid profile or use, and for an unreadable file.
    pub fn open(plan: &Plan, named: Option<&Agents>, by_time: bool) -> Result<Option<PageSettings>> {
        if plan.rights.rights.is_none() {
            return Ok(None);
        }
        let (query, purpose) = plan.written.rights(&plan.rights)?;
        let Some(agents) = named else { return Err(Failure::new("--rights: requires --agent")) };
        let table = RightsTable::new(agents.clone(), query, purpose, by_time);
        let names = table.names();
        let joined = plan.rights.joined(&names)?;
        Ok(Some(PageSettings { table, names, joined }))
    }

    fn page(&self, record: &Record) -> Option<Page> {
        let mut page = page_of(&self.names, record)?;
        self.joined.complete(&mut page, kind_of(record));
        Some(page)
    }
}

/// Decides an archive's pages, and publishes the output, as [`decide`](super::decide::decide) does for a list.
pub fn decide(
    (plan, list): (&Plan, &List),
    (pages, output): (Pages, Output),
    (set, of_pages): (&SetState, &PageSettings),
    (input, next): (&InputState, Option<NextOutput>),
    run: &Run,
    beside: impl FnOnce(&[Complete], &Lineage, bool) -> Result<Vec<Complete>>,
) -> Result<Decided> {
    let start = Instant::now();
    let is_terminal = output.is_terminal();
    let format = plan.written.format();
    let rows = of_pages.table.format(format);
    let columns = rows.columns().to_vec();
    let first = Sink::new(output, format, columns.clone(), None)?;
    let mut sink = match (plan.written.rows_per_file(), next) {
        (Some(most), Some(mut next)) => {
            RowSink::parts(first, most, Box::new(move |number| Sink::new(next(number)?, format, columns.clone(), None)))
        }
        _ => RowSink::One(first),
    };
    if !format.is_columnar() {
        let header = if plan.written.has_header() { rows.header() } else { Vec::new() };
        sink.write_header(&header)?;
    }
    let progress = if is_terminal { Progress::hidden() } else { Progress::of_bytes(None) };
    let mut counted = PageCounts::new(&of_pages.table);
    let is_damaged = read(plan, list, pages, of_pages, |batch| {
        progress.say(|| format!(", {} pages", grouped(counted.totals.lines)));
        let mut written = rows.rows();
        for (page, decided) in batch {
            of_pages.table.push(page, decided, &rows, &mut written);
            counted.add(decided, &of_pages.table);
        }
        counted.end_batch(batch.len() as u64, &list.urls);
        sink.write(&written)
    })?;
    drop(progress);
    let mut totals = counted.totals;
    totals.more = counted.uses.rows(&of_pages.table);
    let layout = Layout::new(&[Column::Url, Column::Verdict]).map_err(Failure::new)?;
    let decider = Decider::new(of_pages.table.agents().clone(), layout).map_err(Failure::new)?;
    let decider = TableDecider::new(decider, reptile_columns::AnswerFormat::Tsv).map_err(Failure::new)?;
    let lineage = lineage::of_list(run, plan, set, input, &totals, &decider);
    let complete = sink.complete(METADATA_KEY, &lineage.stamp()?)?;
    let time = start.elapsed();
    let beside = beside(&complete, &lineage, totals.is_bad())?;
    publish(beside.into_iter().chain(complete))?;
    let is_bad = totals.report(&list.urls, &decider, time) || is_damaged;
    Ok(Decided { is_bad, totals, decider, time, lineage })
}

/// A batch of pages with their rights.
type DecidedPages = Vec<(Page, PageRights)>;

/// Reads an archive, and passes on its pages in batches. Returns whether records were damaged.
///
/// Other threads decide a batch while this thread reads the next batch and writes the previous one.
fn read(
    plan: &Plan,
    list: &List,
    pages: Pages,
    of_pages: &PageSettings,
    mut write: impl FnMut(&[(Page, PageRights)]) -> Result<()>,
) -> Result<bool> {
    let mut records = PageRecords { pages, faults: RecordFaults::of(&list.urls, plan.resync), is_at_end: false };
    rayon::in_place_scope(|scope| {
        let mut begun: Option<Receiver<Result<DecidedPages>>> = None;
        loop {
            let batch = records.next_batch();
            let stopped = |_| Failure::new("internal error: a deciding thread has failed; please report it");
            let decided = begun.take().map(|decided| decided.recv().map_err(stopped)?).transpose()?;
            // Rows before an unreadable record are still written.
            let (batch, error) = batch.map_or_else(|error| (None, Some(error)), |batch| (batch, None));
            if let Some(batch) = batch {
                let (sender, receiver) = mpsc::sync_channel(1);
                begun = Some(receiver);
                // Sending fails if a failed write has dropped the receiver.
                scope.spawn(move |_| drop(sender.send(decide_all(plan, of_pages, &batch))));
            }
            decided.map_or(Ok(()), |decided| write(&decided))?;
            match error {
                Some(error) => return Err(error),
                None if begun.is_none() => return Ok(records.faults.damaged > 0),
                None => {}
            }
        }
    })
}

/// An archive's records, read in batches.
struct PageRecords<'l> {
    pages: Pages,
    faults: RecordFaults<'l>,
    is_at_end: bool,
}

impl PageRecords<'_> {
    /// Returns the next records that may be pages, or `None` at the end.
    fn next_batch(&mut self) -> Result<Option<Vec<Record>>> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while !self.is_at_end && batch.len() < PAGES_AT_ONCE && bytes < BYTES_AT_ONCE {
            match self.pages.next_record()? {
                NextPage::End => self.is_at_end = true,
                NextPage::Damaged(damage) => self.faults.add_damage(damage)?,
                NextPage::Record(record) => {
                    self.faults.add_record(&record);
                    if kind_of(&record).is_some() {
                        bytes += record.block_start.len();
                        batch.push(*record);
                    }
                }
            }
        }
        Ok(Some(batch).filter(|batch| !batch.is_empty()))
    }
}

/// Reads and decides the pages in some records, in their order.
fn decide_all(plan: &Plan, of_pages: &PageSettings, records: &[Record]) -> Result<DecidedPages> {
    let decide = |record: &Record| {
        let page = of_pages.page(record)?;
        let decided = of_pages.table.decide(&page);
        Some(decided.map(|rights| (page, rights)).map_err(|error| Failure::at(&plan.set, error)))
    };
    records.par_iter().filter_map(decide).collect()
}

/// Counts of verdicts and permissions.
struct PageCounts {
    totals: Totals,
    /// Of the current batch.
    answers: Answers,
    uses: Uses,
}

impl PageCounts {
    fn new(table: &RightsTable) -> PageCounts {
        let agents = table.agents().len();
        let answers = Answers { tally: vec![[0; VERDICTS.len()]; agents], ..Answers::default() };
        PageCounts { totals: Totals::new(Table::of_archive()), answers, uses: Uses::default() }
    }

    fn add(&mut self, decided: &PageRights, table: &RightsTable) {
        for (place, rights) in decided.rights.iter().enumerate() {
            self.answers.tally[place][rights.verdict as usize] += 1;
            self.uses.add(place, &rights.permissions, table.verdict(rights));
        }
    }

    fn end_batch(&mut self, pages: u64, path: &Place) {
        self.answers.lines = pages;
        self.totals.add(&self.answers, path);
        self.answers.tally.iter_mut().for_each(|counts| *counts = [0; VERDICTS.len()]);
    }
}

/// Counts of permissions by crawler and use, and of verdicts about the purpose.
#[derive(Default)]
struct Uses {
    permissions: Vec<Vec<[u64; Permission::ALL.len()]>>,
    purpose: Vec<[u64; VERDICTS.len()]>,
}

impl Uses {
    fn add(&mut self, crawler: usize, permissions: &[Permission], verdict: Verdict) {
        if self.permissions.len() <= crawler {
            self.permissions.resize(crawler + 1, Vec::new());
            self.purpose.resize(crawler + 1, [0; VERDICTS.len()]);
        }
        let counts = &mut self.permissions[crawler];
        counts.resize(permissions.len(), [0; Permission::ALL.len()]);
        for (counts, permission) in counts.iter_mut().zip(permissions) {
            counts[*permission as usize] += 1;
        }
        self.purpose[crawler][verdict as usize] += 1;
    }

    /// Returns the rows of the summary.
    fn rows(&self, table: &RightsTable) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        let shown = |name: &str, count: u64| format!("{name} {}", grouped(count));
        for (agent, (permissions, purpose)) in table.agents().iter().zip(self.permissions.iter().zip(&self.purpose)) {
            let crawler = agent.crawler().to_string();
            for (name, counts) in table.shown_names().zip(permissions) {
                let counts =
                    Permission::ALL.iter().map(|permission| shown(permission.name(), counts[*permission as usize]));
                rows.push((format!("{crawler} {name}"), counts.collect::<Vec<_>>().join(", ")));
            }
            if table.has_purpose() {
                let counts = VERDICTS.iter().map(|verdict| shown(verdict.name(), purpose[*verdict as usize]));
                rows.push((format!("{crawler} purpose"), counts.collect::<Vec<_>>().join(", ")));
            }
        }
        rows
    }
}
