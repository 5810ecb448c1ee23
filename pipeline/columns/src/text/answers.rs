//! The answers to one block of rows: [`Answers`].

use reptile_records::lines::MAX_LINE_BYTES;
use reptile_records::tables::{Fault, Row};

use crate::by_row::CrawlerCounts;
use crate::text::line::Line;
use crate::text::rows::AnswerRows;
use crate::text::tops::Tops;

/// Each agent's verdict counts, in the verdicts' numeric order. The combined verdict's counts come last, if requested.
pub type Tally = Vec<[u64; 4]>;

/// The answers to one block of input rows. See [`TableDecider`](crate::TableDecider) for an example.
#[derive(Default)]
pub struct Answers {
    /// The output rows.
    pub rows: AnswerRows,
    /// Number of output rows.
    pub lines: u64,
    /// The verdict counts.
    pub tally: Tally,
    /// Number of input line ends. Quoted line ends can make it greater than the row count.
    pub line_ends: u64,
    /// The rows whose URL could not be read.
    pub faults: Faults,
    /// Number of URLs decided by a replacement origin.
    pub stand_ins: u64,
    /// The most frequent origins and rules, if requested.
    pub tops: Tops,
    /// The invalid rows, if requested.
    pub rejected: Rejected,
    /// The verdict counts for each crawler that rows name.
    pub crawlers: Vec<CrawlerCounts>,
    /// Number of rows that name no crawler, if rows name crawlers.
    pub unnamed: u64,
}

/// Invalid rows, in [`Answers::rejected`].
#[derive(Default)]
pub struct Rejected {
    /// The concatenated rows.
    pub bytes: Vec<u8>,
    /// For each row, the number of preceding line ends in the block, the error, and the row's length.
    pub rows: Vec<(u64, Option<Fault>, usize)>,
}

impl Rejected {
    /// Adds a row. `rows_before` is the number of rows before it in the block.
    pub(crate) fn add(&mut self, line: &Line<'_>, rows_before: u64) {
        // In a list, a line end follows every row.
        let line_ends = line.cells.map_or(rows_before, |cells| cells.line_ends);
        let row = line.row();
        self.bytes.extend_from_slice(row);
        // In a list only the URL is read, and its limit is far below the line limit.
        let is_too_long = row.len() > MAX_LINE_BYTES;
        let fault = line.cells.and_then(|cells| cells.fault);
        self.rows.push((line_ends, fault.or(is_too_long.then_some(Fault::TooLong)), row.len()));
    }
}

/// Maximum number of individually reported faults per block.
pub const MAX_NAMED_FAULTS: usize = 10;

/// Rows whose URL could not be read, in [`Answers::faults`].
#[derive(Default)]
pub struct Faults {
    /// The fault counts, in the order of [`Fault::ALL`].
    pub counts: [u64; Fault::ALL.len()],
    /// The first few faults, each with the number of preceding line ends in the block.
    pub first: Vec<(u64, Fault)>,
}

impl Faults {
    /// Records a row's fault, if it has one.
    #[inline]
    pub(crate) fn note(&mut self, row: &Row<'_>, line_ends: impl Fn() -> u64) {
        if let Some(fault) = row.fault {
            self.add(fault, line_ends);
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, fault: Fault, line_ends: impl Fn() -> u64) {
        self.counts[fault as usize] += 1;
        if self.first.len() < MAX_NAMED_FAULTS {
            self.first.push((line_ends(), fault));
        }
    }
}

impl Answers {
    /// Empties the buffers and resets the counts for `agents` agents.
    pub(crate) fn clear(&mut self, agents: usize) {
        self.rows.clear();
        self.lines = 0;
        self.line_ends = 0;
        self.stand_ins = 0;
        self.tops.clear();
        self.faults.counts = [0; Fault::ALL.len()];
        self.faults.first.clear();
        self.rejected.bytes.clear();
        self.rejected.rows.clear();
        self.crawlers.clear();
        self.unnamed = 0;
        self.tally.clear();
        self.tally.resize(agents, [0; 4]);
    }
}
