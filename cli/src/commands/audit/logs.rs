//! Reads logs, merges them by time, and decides their requests: [`Logs`].
//!
//! Each open log has a reading thread, all threads decide a chunk, and one thread counts the requests in order. A log
//! is opened when the others reach its first time, so the logs of many days take the memory of a few.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{Builder, scope};

use bumpalo::Bump;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile::Set;
use reptile::capture::Time;
use reptile_columns::audit::{Audit, AuditOptions, Auditor, REORDER_SECONDS, Requests, Sorted, Sorter};
use reptile_records::identity::Identities;
use reptile_records::lines::{Chunk, ChunkKind};
use reptile_records::place::Place;
use reptile_records::tables::Table;
use reptile_records::tables::source::{Block, Part, Source};
use reptile_records::time::read_time;

use super::args::Args;
use super::violations::Violations;
use crate::commands::classify::totals::Totals;
use crate::error::{Failure, Result};
use crate::outputs::progress::Progress;
use crate::outputs::summary::grouped;

/// Maximum number of logs that cover the same time. Each open log takes some megabytes.
pub const MAX_OPEN_LOGS: usize = 128;

/// Maximum number of chunks that wait to be decided or counted.
const AHEAD: usize = 1;

/// The index of a row's time among its cells.
const TIME_CELL: usize = 1;

/// The logs of an audit.
pub struct Logs<'a> {
    args: &'a Args,
    set: &'a Set,
    identities: Option<Arc<Identities>>,
    /// The logs that are not open yet, the earliest last.
    later: Vec<(Time, &'a Place)>,
    open: Vec<OpenLog<'a>>,
    counts: LogCounts,
    progress: Progress,
}

/// The logs' rows, counted.
#[derive(Debug, Default)]
pub struct LogCounts {
    /// A description of each format.
    pub formats: Vec<String>,
    /// Number of logs.
    pub logs: usize,
    pub rows: u64,
    pub unnamed: u64,
    /// Rows without a URL or a time, by problem.
    pub invalid: Vec<(String, u64)>,
    /// Rows of the file of violations.
    pub written: u64,
    /// Whether most rows of a log are invalid.
    pub is_bad: bool,
}

/// A log that is being read.
struct OpenLog<'a> {
    path: &'a Place,
    table: Arc<Table>,
    auditor: Auditor,
    parts: Receiver<io::Result<Option<Part>>>,
    buffers: mpsc::Sender<Vec<u8>>,
    totals: Totals,
    /// The latest time so far.
    newest: Time,
}

/// A reason to stop.
enum Stop {
    Set(reptile::Error),
    Other(Failure),
}

impl From<reptile::Error> for Stop {
    fn from(error: reptile::Error) -> Stop {
        Stop::Set(error)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Other(failure)
    }
}

impl<'a> Logs<'a> {
    /// Orders the logs by their first times. Pipes come first, because their first rows cannot be read twice.
    ///
    /// # Errors
    /// Returns an error if a log cannot be read or lacks a column.
    pub fn open(
        args: &'a Args,
        set: &'a Set,
        identities: Option<Arc<Identities>>,
        paths: &'a [Place],
    ) -> Result<Logs<'a>> {
        let mut later = Vec::with_capacity(paths.len());
        for path in paths {
            let is_read_once = paths.len() == 1 || path.is_standard() || path.is_special();
            let first = if is_read_once { Time::MIN } else { first_time(args, path)? };
            later.push((first, path));
        }
        later.sort_by_key(|(first, _)| std::cmp::Reverse(*first));
        let (open, counts) = (Vec::new(), LogCounts { logs: paths.len(), ..LogCounts::default() });
        Ok(Logs { args, set, identities, later, open, counts, progress: Progress::of_bytes(None) })
    }

    /// Reads every log, and counts its requests. Violations are written in the order of time.
    ///
    /// # Errors
    /// Returns an error if a log cannot be read, the set is damaged, or the violations cannot be written.
    pub fn audit(mut self, audit: &mut Audit, violations: &mut Violations) -> Result<LogCounts> {
        let set = &self.args.set;
        let (sender, sorted) = mpsc::sync_channel(AHEAD);
        let (read, counted) = scope(|scope| {
            let counter = scope.spawn(move || count(&sorted, audit, violations));
            let read = self.read_all(&sender);
            drop(sender);
            (read, counter.join())
        });
        let failed = |_| Failure::new("internal error: the counting thread has failed; please report it");
        let fail = |stop| match stop {
            Stop::Set(error) => Failure::at(set, error),
            Stop::Other(failure) => failure,
        };
        // If counting stops, reading stops too, so the counter's error is the cause.
        self.counts.written = counted.map_err(failed)?.map_err(fail)?;
        read.map_err(fail)?;
        Ok(self.counts)
    }

    fn read_all(&mut self, sender: &SyncSender<Sorted>) -> std::result::Result<(), Stop> {
        let mut sorter = Sorter::default();
        loop {
            self.open_next()?;
            let earliest = (0..self.open.len()).min_by_key(|&at| self.open[at].newest);
            let Some(at) = earliest else { break };
            if !self.read_part(at, &mut sorter)? {
                let ended = self.open.swap_remove(at);
                self.end(ended);
            }
            let next = self.later.last().map(|(first, _)| *first);
            let newest = self.open.iter().map(|log| log.newest).chain(next).min();
            let before = newest.map_or(Time::MAX, |newest| newest.saturating_sub(REORDER_SECONDS));
            if sender.send(sorter.take(before)).is_err() {
                return Ok(());
            }
        }
        // The receiver is dropped if counting has stopped.
        let _ = sender.send(sorter.take(Time::MAX));
        Ok(())
    }

    /// Opens the logs that begin before the others have ended.
    fn open_next(&mut self) -> Result<()> {
        while let Some(&(first, path)) = self.later.last() {
            let reached = self.open.iter().map(|log| log.newest).min();
            if reached.is_some_and(|reached| reached < first) {
                return Ok(());
            }
            if self.open.len() >= MAX_OPEN_LOGS {
                let message = format!("more than {MAX_OPEN_LOGS} logs cover the same time; merge some of them first");
                return Err(Failure::at(path, message));
            }
            self.later.pop();
            let log = OpenLog::start(self.args, (self.set, &self.identities), path, first)?;
            let format = log.table.format.to_string();
            if !self.counts.formats.contains(&format) {
                self.counts.formats.push(format);
            }
            self.open.push(log);
        }
        Ok(())
    }

    /// Decides the next part of a log. Returns whether there was one.
    fn read_part(&mut self, at: usize, sorter: &mut Sorter) -> std::result::Result<bool, Stop> {
        let log = &mut self.open[at];
        let gone = || Failure::new("internal error: the reading thread has failed; please report it");
        let part = log.parts.recv().map_err(|_| gone())?;
        let unreadable = |error| Failure::at(log.path, format!("cannot be read: {error}"));
        let Some(part) = part.map_err(unreadable)? else { return Ok(false) };
        if let Part::Text(Chunk { kind: ChunkKind::LongLine { last }, .. }) = part {
            if last {
                self.counts.rows += 1;
                log.add(&Requests::of_long_line());
            }
            return Ok(true);
        }
        let decide = |block: &Block<'_>| log.auditor.decide(&log.table, *block);
        let blocks: Vec<Requests> =
            part.blocks().par_iter().map(decide).collect::<std::result::Result<_, reptile::Error>>()?;
        for requests in blocks {
            log.add(&requests);
            self.counts.rows += requests.rows;
            self.counts.unnamed += requests.unnamed;
            sorter.add(requests);
        }
        self.progress.add(part.byte_len() as u64);
        let rows = self.counts.rows;
        self.progress.say(|| format!(", {} requests", grouped(rows)));
        if let Part::Text(chunk) = part {
            if let Some(row) = chunk.unclosed {
                log.totals.name_unclosed(row, log.path);
            }
            // A reader that has ended needs no buffer.
            let _ = log.buffers.send(chunk.buffer);
        }
        Ok(true)
    }

    /// Counts a log's invalid rows.
    fn end(&mut self, log: OpenLog<'_>) {
        log.totals.warn_of_invalid(log.path);
        self.counts.is_bad |= log.totals.is_bad();
        for (problem, count) in log.totals.faults() {
            match self.counts.invalid.iter_mut().find(|(known, _)| *known == problem) {
                Some((_, total)) => *total += count,
                None => self.counts.invalid.push((problem, count)),
            }
        }
    }
}

impl<'a> OpenLog<'a> {
    /// Opens a log, and starts the thread that reads it.
    fn start(
        args: &Args,
        (set, identities): (&Set, &Option<Arc<Identities>>),
        path: &'a Place,
        first: Time,
    ) -> Result<OpenLog<'a>> {
        let (table, mut rows) = open(args, path)?;
        let is_log = table.format.is_log();
        let (_, cells) = args.wanted();
        let options = AuditOptions {
            zone: table.zone_of_times(&args.zone.timezone),
            grace: args.grace.seconds(),
            is_exact: args.is_exact(),
            identities: identities.clone(),
            has_captures: args.violations.is_some(),
        };
        let auditor = Auditor::new(set, is_log, cells, options).map_err(|error| Failure::at(&args.set, error))?;
        let (sender, parts) = mpsc::sync_channel(AHEAD);
        let (buffers, free) = mpsc::channel::<Vec<u8>>();
        let read = move || {
            loop {
                let part = rows.next(free.try_recv().unwrap_or_default(), &|| true);
                let is_last = !matches!(part, Ok(Some(_)));
                if sender.send(part).is_err() || is_last {
                    return;
                }
            }
        };
        let failed = |error| Failure::new(format!("the threads cannot be started: {error}"));
        Builder::new().spawn(read).map_err(failed)?;
        let totals = Totals::new(table);
        Ok(OpenLog { path, table: Arc::clone(&totals.table), auditor, parts, buffers, totals, newest: first })
    }

    /// Counts a block's rows, and names the first that could not be read.
    fn add(&mut self, requests: &Requests) {
        self.newest = requests.newest.map_or(self.newest, |newest| newest.max(self.newest));
        self.totals.add_requests(requests, self.path);
    }
}

/// Opens a log and finds its columns.
fn open(args: &Args, path: &Place) -> Result<(Table, reptile_records::tables::source::Rows)> {
    let site = args.tables.site(args.set_options.host.as_deref());
    let opening = args.tables.opening(path, site, args.wanted().0);
    Source::open(path)?.open_rows(&opening).map_err(|error| args.with_remedy(error.into()))
}

/// Returns the time of a log's first row with a time, or `Time::MIN` without one.
fn first_time(args: &Args, path: &Place) -> Result<Time> {
    let (table, mut rows) = open(args, path)?;
    let zone = table.zone_of_times(&args.zone.timezone);
    let time_in = |cell: Option<&[u8]>| read_time(std::str::from_utf8(cell?).ok()?, &zone).ok();
    let unreadable = |error| Failure::at(path, format!("cannot be read: {error}"));
    while let Some(part) = rows.next(Vec::new(), &|| true).map_err(unreadable)? {
        for block in part.blocks() {
            let arena = Bump::new();
            let time = match block {
                Block::Text(text) => table.rows(text, &arena).find_map(|row| time_in(row.cells[TIME_CELL])),
                Block::Cells(cells) => cells.rows(&arena).find_map(|row| time_in(row.cells[TIME_CELL])),
            };
            if let Some(time) = time {
                return Ok(time);
            }
        }
    }
    Ok(Time::MIN)
}

/// Counts requests as they arrive. Returns the number of violations that were written.
fn count(sorted: &Receiver<Sorted>, audit: &mut Audit, violations: &mut Violations) -> std::result::Result<u64, Stop> {
    let mut written = 0;
    for sorted in sorted {
        audit.add(sorted, |crawler, request| {
            written += 1;
            violations.push(crawler, request).map_err(Stop::Other)
        })?;
    }
    Ok(written)
}
