//! Decides rows of `reptile-records` tables, and writes them as text or columns: [`TableDecider`].
//!
//! This is the inner loop for URL lists: rows are decided in batches, buffers are reused, and text is copied in
//! fixed-size blocks. [`cells`] formats verdicts, [`long`] handles overlong lines, and [`rows`] holds the result. The
//! caller opens files and starts threads.

mod answers;
mod cells;
mod format;
pub(crate) mod line;
mod long;
mod pieces;
mod rows;
mod tops;

use bumpalo::Bump;
use reptile::urls::split;
use reptile::{Error, UrlParts, Verdict};
use reptile_records::batches::urls;
use reptile_records::lines::{lines, without_line_end};
use reptile_records::tables::source::Block;
use reptile_records::tables::{self, Fault, Row, Table};
use reptile_records::text::{are_plain_columns, printable, url_column};
use reptile_records::time::Zone;
use std::borrow::Cow;

use crate::by_row::{Session, Times};
use crate::column::{Column, over_all};
use crate::decide::{DecidedRow, Decider, ExplainedRow, Facts, ROWS_AT_ONCE, RowReasons};
use crate::error::ErrorKind;
use crate::scope::Scope;
use cells::CellTexts;
use format::safe_cells;
use line::{Cells, Line, time_of, trimmed_parts};

pub use answers::{Answers, Faults, MAX_NAMED_FAULTS, Rejected, Tally};
pub use format::AnswerFormat;
pub use long::LongPart;
pub use pieces::Text;
pub use rows::{AnswerRows, RowCells, RowFormat};
pub use tops::{MAX_COUNTED_KEYS, MAX_KEY_BYTES, Top, Tops};

/// Number of split URLs decided at once. Each takes about a hundred bytes, so all of them fit into the smallest cache.
const PARTS_AT_ONCE: usize = 128;

/// Decides the rows of a table, and writes them in a format.
///
/// ```
/// use reptile::{Dialect, Robots};
/// use reptile_columns::{AnswerFormat, AnswerRows, Answers, Column, Decider, Layout, TableDecider};
/// use reptile_records::tables::{Table, source::Block};
///
/// let robots = Robots::parse("user-agent: *\ndisallow: /private\n", Dialect::google())?;
/// let agents = robots.agents(["GPTBot"])?;
/// let decider = Decider::new(agents, Layout::new(&[Column::Url, Column::Verdict, Column::Line])?)?;
/// let decider = TableDecider::new(decider, AnswerFormat::Csv)?;
/// let mut answers = Answers::default();
/// decider.decide(&Table::list(), Block::Text(b"https://example.com/private/1\n"), &mut answers)?;
/// let AnswerRows::Text(text) = answers.rows else { return Ok(()) };
/// assert_eq!(text.as_bytes(), b"https://example.com/private/1,disallow,2\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableDecider {
    decider: Decider,
    format: AnswerFormat,
    /// Whether the input row follows the cells.
    has_row: bool,
    /// Whether invalid rows are kept.
    keeps_rejected: bool,
    /// If set, only rows with this combined verdict are written, unchanged.
    only: Option<Verdict>,
    /// The zone for times without one.
    zone: Zone,
    /// Whether origins and rules are counted.
    counts_tops: bool,
    /// Whether input rows are made safe for a terminal.
    shows_rows: bool,
    texts: CellTexts,
}

impl TableDecider {
    /// Creates a decider that writes rows in a format.
    ///
    /// # Errors
    /// Returns the errors of [`AnswerFormat::check`].
    pub fn new(decider: Decider, format: AnswerFormat) -> Result<TableDecider, crate::Error> {
        format.check(decider.layout(), decider.crawlers())?;
        let texts = CellTexts::new(&decider, format, false, format::verdict_words());
        Ok(TableDecider {
            decider,
            format,
            has_row: false,
            keeps_rejected: false,
            only: None,
            zone: Zone::default(),
            counts_tops: false,
            shows_rows: false,
            texts,
        })
    }

    /// Sets whether each input row is written after its cells.
    ///
    /// # Errors
    /// Returns an error if the format is Parquet or Arrow, which have no rows of text.
    pub fn with_rows(mut self, has_row: bool) -> Result<TableDecider, crate::Error> {
        if has_row && self.format.is_columnar() {
            let message = format!("rows of text cannot be columns of {}", self.format.name());
            return Err(crate::Error::new(ErrorKind::Column, message));
        }
        self.has_row = has_row;
        self.texts = CellTexts::new(&self.decider, self.format, has_row, self.texts.words);
        Ok(self)
    }

    /// Sets the words for verdicts in text formats, in numeric order, for example with color codes.
    #[must_use]
    pub fn verdict_words(mut self, words: [String; 4]) -> TableDecider {
        self.texts = CellTexts::new(&self.decider, self.format, self.has_row, words);
        self
    }

    /// Writes only the input rows with this combined verdict, unchanged and without cells, unless it is `None`.
    ///
    /// # Errors
    /// Returns an error if a Parquet or Arrow output would have columns in addition to the input's, because
    /// [`AnswerRows::Selected`] selects only input rows.
    pub fn only(self, only: Option<Verdict>) -> Result<TableDecider, crate::Error> {
        if only.is_some() && self.format.is_columnar() && !self.decider.layout().has_no_columns() {
            let message = "the rows of one verdict are kept without other columns";
            return Err(crate::Error::new(ErrorKind::Column, message));
        }
        Ok(TableDecider { only, ..self })
    }

    /// Sets whether input rows are made safe for a terminal.
    #[must_use]
    pub fn show_rows(self, shows_rows: bool) -> TableDecider {
        TableDecider { shows_rows, ..self }
    }

    /// Sets the zone for times without one. The default is UTC.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> TableDecider {
        TableDecider { zone, ..self }
    }

    /// Sets whether to count the origins and rules that disallow URLs, and the unknown origins. Counting takes about
    /// twice the time.
    #[must_use]
    pub fn count_tops(self, counts_tops: bool) -> TableDecider {
        TableDecider { counts_tops, ..self }
    }

    /// Sets whether invalid rows are kept in [`Answers::rejected`].
    #[must_use]
    pub fn keep_rejected(self, keeps_rejected: bool) -> TableDecider {
        TableDecider { keeps_rejected, ..self }
    }

    /// Returns the decider, which has the crawlers, the columns and the scope.
    #[must_use]
    pub fn decider(&self) -> &Decider {
        &self.decider
    }

    /// Returns the number of tallies: one per agent, and one for the combined verdict if it is requested.
    #[must_use]
    pub fn tallies(&self) -> usize {
        self.decider.agents().len() + usize::from(self.decider.layout().any_of)
    }

    /// Returns the header line with the column names. `row` is the header of the input rows.
    #[must_use]
    pub fn header(&self, row: &[u8]) -> Vec<u8> {
        let mut header = self.format.header(&self.decider.layout().names(self.decider.crawlers()));
        header.extend_from_slice(&self.texts.end);
        if self.has_row {
            push_row(self.format, &shown_row(row, self.shows_rows), true, &mut header);
        }
        header
    }

    /// Returns an empty result for [`TableDecider::decide`].
    #[must_use]
    pub fn answers(&self) -> Answers {
        let rows = match self.format {
            format if format.is_columnar() && self.only.is_some() => AnswerRows::Selected(Vec::new()),
            format if format.is_columnar() => AnswerRows::Columns(self.decider.columns()),
            _ => AnswerRows::default(),
        };
        Answers { rows, ..Answers::default() }
    }

    /// Decides each row in a block. Replaces the contents of `answers` and reuses its memory. Allocates once per block,
    /// and not per URL if the verdict is an agent's only column.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn decide(&self, table: &Table, block: Block<'_>, answers: &mut Answers) -> Result<(), Error> {
        self.prepare(answers);
        let mut session = self.decider.session();
        let arena = Bump::new();
        match block {
            Block::Text(block) if table.is_plain_list(block) => {
                let mut start = 0;
                let rows = lines(block).map(|line| {
                    let rest = &block[start..];
                    start += line.len();
                    Line { rest, len: without_line_end(line).len(), row_len: line.len(), cells: None }
                });
                // Checked once per block instead of once per line, since nearly all blocks are plain.
                let is_plain = self.decider.layout().has_url() && are_plain_columns(block);
                self.decide_rows(rows, is_plain, session.as_mut(), answers)?;
            }
            Block::Text(block) => {
                let mut faults = std::mem::take(&mut answers.faults);
                let mut ends = 0;
                let rows = table.rows(block, &arena).map(|row| {
                    let line_ends = ends;
                    ends += match table.format {
                        tables::Format::Csv if self.keeps_rejected => {
                            memchr::memchr_iter(b'\n', row.bytes).count() as u64
                        }
                        _ => 1,
                    };
                    let ends_before = |row: &Row<'_>| memchr::memchr_iter(b'\n', &block[..row.start]).count() as u64;
                    self.line(row, line_ends, &mut faults, ends_before, &arena)
                });
                let decided = self.decide_rows(rows, false, session.as_mut(), answers);
                answers.faults = faults;
                decided?;
            }
            Block::Cells(block) if block.is_split() && self.needs_only_verdicts() => {
                self.decide_parts(block, answers)?;
            }
            Block::Cells(block) => {
                let mut faults = std::mem::take(&mut answers.faults);
                let rows = block.rows(&arena).zip(0..).map(|(mut row, number)| {
                    let url = row.cells[0].unwrap_or_default();
                    if row.fault.is_none() && !self.needs_cells() {
                        return Line { rest: url, len: url.len(), row_len: 0, cells: None };
                    }
                    if self.keeps_rejected {
                        // The URL represents the row, without line ends.
                        row.bytes = arena.alloc_slice_copy(&url_column(url));
                    }
                    self.line(row, number, &mut faults, |_| number, &arena)
                });
                let decided = self.decide_rows(rows, false, session.as_mut(), answers);
                answers.faults = faults;
                decided?;
            }
        }
        answers.line_ends = match (block, table.format) {
            (Block::Text(block), tables::Format::Csv) => memchr::memchr_iter(b'\n', block).count() as u64,
            _ => answers.lines,
        };
        if let Some(session) = session {
            (answers.crawlers, answers.unnamed) = session.end();
        }
        Ok(())
    }

    /// Empties answers, which another decider may have filled.
    fn prepare(&self, answers: &mut Answers) {
        answers.clear(self.tallies());
        let is_fitting = match &answers.rows {
            AnswerRows::Text(_) => !self.format.is_columnar(),
            AnswerRows::Columns(_) => self.format.is_columnar() && self.only.is_none(),
            AnswerRows::Selected(_) => self.format.is_columnar() && self.only.is_some(),
        };
        if !is_fitting {
            answers.rows = self.answers().rows;
        }
    }

    /// Returns whether a row's other cells are needed in addition to its URL.
    fn needs_cells(&self) -> bool {
        self.decider.times() == Times::OfRows || self.decider.is_by_row() || self.keeps_rejected
    }

    /// Keeps a table row's data, and records its fault. `line_ends` is the number of preceding line ends in the
    /// numbering of rejected rows, and `ends_before` returns the number for faults.
    #[inline]
    fn line<'b>(
        &self,
        mut row: Row<'b>,
        line_ends: u64,
        faults: &mut Faults,
        ends_before: impl Fn(&Row<'b>) -> u64,
        arena: &'b Bump,
    ) -> Line<'b> {
        let time = if self.decider.times() == Times::OfRows { time_of(&mut row, &self.zone) } else { None };
        faults.note(&row, || ends_before(&row));
        let url = row.cells[0].unwrap_or_default();
        let agent = self.decider.crawler_cell().and_then(|cell| row.cells[cell]).unwrap_or_default();
        let cells = arena.alloc(Cells { row: row.bytes, fault: row.fault, time, agent, line_ends });
        Line { rest: url, len: url.len(), row_len: 0, cells: Some(cells) }
    }

    fn decide_rows<'b>(
        &self,
        rows: impl Iterator<Item = Line<'b>>,
        is_plain: bool,
        session: Option<&mut Session<'_>>,
        answers: &mut Answers,
    ) -> Result<(), Error> {
        let layout = self.decider.layout();
        if self.only.is_none() && self.decider.explains() {
            return self.explain_each(rows, session, answers);
        }
        let mut buffer = Vec::new();
        let is_usual = self.texts.is_usual;
        let is_plain = is_plain && self.format == AnswerFormat::Tsv;
        self.decide_each(rows, session, answers, |batch, rows, tally| match (rows, self.only) {
            (AnswerRows::Text(text), Some(only)) => {
                for (line, verdicts) in batch.rows() {
                    let all = over_all(verdicts);
                    count_row(verdicts, all, tally);
                    if layout.written[all as usize] == only {
                        text.push(&shown_row(line.row(), self.shows_rows));
                    }
                }
            }
            (AnswerRows::Text(text), None) => {
                for (place, (line, verdicts)) in batch.rows().enumerate() {
                    let crawler = batch.session.map(|session| session.name_of(place));
                    let time = batch.facts.fetched_at.get(place).copied().flatten();
                    if is_usual {
                        self.texts.push_lead(&self.decider, line, verdicts, time, crawler, is_plain, text, &mut buffer);
                        self.texts.push_verdicts(verdicts, text, tally);
                    } else {
                        let why = batch.facts.of(place, batch.lines.len());
                        let row = DecidedRow { url: line.url(), verdicts, crawler, why };
                        buffer.clear();
                        self.texts.push_row(&self.decider, &row, &mut buffer);
                        text.push(&buffer);
                        let all = layout.any_of.then(|| over_all(verdicts));
                        let counted = verdicts.iter().chain(&all).zip(&mut *tally);
                        counted.for_each(|(&verdict, counts)| counts[verdict as usize] += 1);
                    }
                    if self.has_row {
                        self.push_input_row(line, text, &mut buffer);
                    }
                }
            }
            (AnswerRows::Selected(rows), only) => {
                rows.extend(batch.rows().map(|(_, verdicts)| {
                    let all = over_all(verdicts);
                    count_row(verdicts, all, tally);
                    Some(layout.written[all as usize]) == only
                }));
            }
            (AnswerRows::Columns(columns), _) => {
                let Batch { lines, verdicts, facts, session } = *batch;
                let (url, is_null) = (Line::url, Line::is_null);
                self.decider.push_rows(lines, verdicts, facts, session, columns, url, is_null, safe_cells);
                count_verdicts(verdicts, self.decider.agents().len(), tally);
            }
        })
    }

    /// Writes rows with columns that explain their verdicts.
    fn explain_each<'b>(
        &self,
        rows: impl Iterator<Item = Line<'b>>,
        mut session: Option<&mut Session<'_>>,
        answers: &mut Answers,
    ) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let mut explained = ExplainedRow::default();
        for row in rows {
            answers.lines += 1;
            let place = self.decider.explain_row(&row, session.as_deref_mut(), &mut explained)?;
            answers.stand_ins += u64::from(explained.has_stand_in());
            let verdicts = &explained.verdicts;
            let crawler = session.as_deref().map(|session| session.agents(place).0);
            let why = RowReasons::Explained(&explained.explained);
            let decided = DecidedRow { url: row.url(), verdicts, crawler, why };
            match &mut answers.rows {
                AnswerRows::Text(text) => {
                    buffer.clear();
                    self.texts.push_row(&self.decider, &decided, &mut buffer);
                    text.push(&buffer);
                    if self.has_row {
                        self.push_input_row(&row, text, &mut buffer);
                    }
                }
                AnswerRows::Columns(columns) => {
                    for (&cell, column) in self.decider.order().iter().zip(columns) {
                        self.decider.write_cell(cell, &decided, &mut safe_cells(column));
                        if row.is_null() {
                            column.null_last();
                        }
                    }
                }
                // A selection has no explained columns.
                AnswerRows::Selected(_) => {}
            }
            if self.counts_tops {
                self.count(&row, verdicts, &mut answers.tops)?;
            }
            if let (true, [Verdict::Invalid, ..]) = (self.keeps_rejected, &verdicts[..]) {
                answers.rejected.add(&row, answers.lines - 1);
            }
            count_verdicts(verdicts, verdicts.len(), &mut answers.tally);
        }
        Ok(())
    }

    /// Returns whether only a row's verdicts are written, so that split URLs need not be joined.
    fn needs_only_verdicts(&self) -> bool {
        let layout = self.decider.layout();
        let is_verdict = |column: &Column| *column == Column::Verdict;
        let needs_more = self.has_row || self.needs_cells() || self.only.is_some() || self.counts_tops;
        let is_plain = self.decider.times() == Times::None && self.decider.scope() == Scope::Origin;
        is_plain && !needs_more && layout.order.iter().all(|column| is_verdict(column) || *column == Column::Agent)
    }

    /// Decides rows with split URLs, and writes their verdicts.
    fn decide_parts(&self, block: urls::BatchRows<'_>, answers: &mut Answers) -> Result<(), Error> {
        /// Placeholder for an invalid URL.
        const NOT_A_URL: UrlParts<'_> =
            UrlParts { scheme: b"", host: b"", port: None, path: b"", query: None, host_number: None };
        /// Rows without URLs, for columns that need only verdicts.
        const NO_LINE: Line<'_> = Line { rest: b"", len: 0, row_len: 0, cells: None };
        /// Placeholder for a row without a scheme or a host.
        const NULL: Line<'_> = Line {
            cells: Some(&Cells { row: b"", fault: Some(Fault::NoCell), time: None, agent: b"", line_ends: 0 }),
            ..NO_LINE
        };
        let agents = self.decider.agents();
        let width = agents.len();
        let no_hosts = agents.known_hosts(0);
        let hosts = block.host_cache(|count| agents.known_hosts(count)).unwrap_or(&no_hosts);
        let mut urls = Vec::with_capacity(PARTS_AT_ONCE);
        let mut verdicts = vec![Verdict::Invalid; PARTS_AT_ONCE * width];
        let mut lines = Vec::with_capacity(PARTS_AT_ONCE);
        let mut rows = block.parts().enumerate();
        while rows.len() > 0 {
            urls.clear();
            lines.clear();
            urls.extend(rows.by_ref().take(PARTS_AT_ONCE).map(|(row, parts)| {
                lines.push(if matches!(parts, Err(Fault::NoCell)) { NULL } else { NO_LINE });
                parts.map(trimmed_parts).unwrap_or_else(|fault| {
                    answers.faults.add(fault, || row as u64);
                    NOT_A_URL
                })
            }));
            let verdicts = &mut verdicts[..urls.len() * width];
            agents.decide_split(&urls, hosts, verdicts)?;
            answers.lines += urls.len() as u64;
            match &mut answers.rows {
                AnswerRows::Text(text) => {
                    let tally = &mut answers.tally;
                    verdicts.chunks_exact(width).for_each(|row| self.texts.push_verdicts(row, text, tally));
                }
                // A selection needs the combined verdicts, which are decided with joined URLs.
                AnswerRows::Selected(_) => {}
                AnswerRows::Columns(columns) => {
                    self.decider.push_rows(
                        &lines,
                        verdicts,
                        &Facts::default(),
                        None,
                        columns,
                        Line::url,
                        Line::is_null,
                        safe_cells,
                    );
                    count_verdicts(verdicts, width, &mut answers.tally);
                }
            }
        }
        Ok(())
    }

    /// Decides rows in batches, and passes each to `write`.
    #[inline]
    fn decide_each<'b>(
        &self,
        mut rows: impl Iterator<Item = Line<'b>>,
        mut session: Option<&mut Session<'_>>,
        answers: &mut Answers,
        mut write: impl FnMut(&Batch<'_, 'b>, &mut AnswerRows, &mut Tally),
    ) -> Result<(), Error> {
        let width = self.decider.agents().len();
        let mut batch: Vec<Line<'_>> = Vec::with_capacity(ROWS_AT_ONCE);
        let mut verdicts = vec![Verdict::Invalid; ROWS_AT_ONCE * width];
        let mut facts = Facts::default();
        loop {
            batch.clear();
            batch.extend(rows.by_ref().take(ROWS_AT_ONCE));
            if batch.is_empty() {
                return Ok(());
            }
            let verdicts = &mut verdicts[..batch.len() * width];
            answers.stand_ins += self.decider.decide(&batch, session.as_deref_mut(), verdicts, &mut facts)?;
            let batch = Batch { lines: &batch, verdicts, facts: &facts, session: session.as_deref() };
            if self.counts_tops || self.keeps_rejected {
                for (place, (line, verdicts)) in batch.rows().enumerate() {
                    if self.counts_tops {
                        self.count(line, verdicts, &mut answers.tops)?;
                    }
                    if let (true, [Verdict::Invalid, ..]) = (self.keeps_rejected, verdicts) {
                        answers.rejected.add(line, answers.lines + place as u64);
                    }
                }
            }
            answers.lines += batch.lines.len() as u64;
            write(&batch, &mut answers.rows, &mut answers.tally);
        }
    }

    /// Counts the origin of a disallowed or unknown URL, and the rules that disallow it.
    fn count(&self, line: &Line<'_>, verdicts: &[Verdict], tops: &mut Tops) -> Result<(), Error> {
        let (disallow, unknown) = (verdicts.contains(&Verdict::Disallow), verdicts.contains(&Verdict::Unknown));
        let Some(url) = split(line.as_ref()).ok().filter(|_| disallow || unknown) else { return Ok(()) };
        let origin = url.origin.to_string().to_ascii_lowercase();
        let is_by_row = self.decider.is_by_row();
        if !disallow {
            // A row that names no crawler is unknown, regardless of its origin.
            if !is_by_row {
                tops.unknown.add(origin.as_bytes(), 1);
            }
            return Ok(());
        }
        tops.disallowing.add(origin.as_bytes(), 1);
        let agents = self.decider.agents().iter().filter(|_| !is_by_row);
        for (agent, _) in agents.zip(verdicts).filter(|&(_, &verdict)| verdict == Verdict::Disallow) {
            if let Some(found) = self.decider.explain(agent, line)? {
                tops.rules.add(&found.rule_or_reason(), 1);
            }
        }
        Ok(())
    }

    /// Appends the input row.
    fn push_input_row(&self, line: &Line<'_>, text: &mut Text, buffer: &mut Vec<u8>) {
        buffer.clear();
        push_row(self.format, &shown_row(line.row(), self.shows_rows), line.is_readable(), buffer);
        text.push(buffer);
    }
}

/// Rows that were decided together.
struct Batch<'d, 'b> {
    lines: &'d [Line<'b>],
    /// Each row's verdicts, one for each crawler.
    verdicts: &'d [Verdict],
    facts: &'d Facts,
    /// The rows' crawlers, if rows name them.
    session: Option<&'d Session<'d>>,
}

impl<'d, 'b> Batch<'d, 'b> {
    fn rows(&self) -> impl Iterator<Item = (&'d Line<'b>, &'d [Verdict])> + use<'d, 'b> {
        let width = self.verdicts.len() / self.lines.len().max(1);
        self.lines.iter().zip(self.verdicts.chunks_exact(width.max(1)))
    }
}

/// Counts a row's verdicts for each crawler, and the combined verdict if it is counted.
fn count_row(verdicts: &[Verdict], all: Verdict, tally: &mut Tally) {
    verdicts.iter().chain([&all]).zip(tally).for_each(|(&verdict, counts)| counts[verdict as usize] += 1);
}

/// Counts verdicts for each crawler, and the combined verdicts if they are counted.
fn count_verdicts(verdicts: &[Verdict], width: usize, tally: &mut Tally) {
    let agents = width.min(tally.len());
    let (each, all) = tally.split_at_mut(agents);
    // Most verdicts are equal. Counting row by row avoids incrementing the same counter twice in succession.
    for row in verdicts.chunks_exact(width.max(1)) {
        each.iter_mut().zip(row).for_each(|(counts, &verdict)| counts[verdict as usize] += 1);
    }
    for counts in all {
        verdicts.chunks_exact(width.max(1)).for_each(|row| counts[over_all(row) as usize] += 1);
    }
}

/// Returns an input row. For a terminal, it is made safe and ends with LF; otherwise it is unchanged.
///
/// ```
/// use reptile_columns::shown_row;
/// assert_eq!(*shown_row(b"a\x1b[31m", true), *b"a\\u{1b}[31m\n");
/// assert_eq!(*shown_row(b"a\x1b[31m", false), *b"a\x1b[31m");
/// ```
#[must_use]
pub fn shown_row(row: &[u8], is_terminal: bool) -> Cow<'_, [u8]> {
    if !is_terminal {
        return Cow::Borrowed(row);
    }
    let line = row.strip_suffix(b"\n").unwrap_or(row);
    Cow::Owned((printable(line) + "\n").into_bytes())
}

/// Appends an input row after the cells.
fn push_row(format: AnswerFormat, row: &[u8], is_readable: bool, text: &mut Vec<u8>) {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    if format != AnswerFormat::Jsonl {
        text.extend_from_slice(row);
        text.push(b'\n');
        return;
    }
    // A row that is not an object has no fields to extend.
    let fields = row.trim_ascii_start().strip_prefix(b"{").filter(|_| is_readable).unwrap_or(b"}");
    if !fields.trim_ascii_start().starts_with(b"}") {
        text.push(b',');
    }
    text.extend_from_slice(fields);
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use reptile::{Dialect, Robots};
    use reptile_records::tables::open::Opening;
    use reptile_records::tables::source::Source;

    use super::*;
    use crate::column::{Layout, VERDICTS};

    /// A single robots.txt decides paths too, and an empty text is the path `/`.
    #[test]
    fn rows_without_a_url_are_invalid_by_a_single_robots_txt() {
        let robots = Robots::parse("user-agent: *\nallow: /\n", Dialect::google()).unwrap();
        for (name, text, expected) in [
            ("urls.jsonl", "{\"url\":\"/a\"}\n{\"url\":\"\n", ["allow", "invalid"]),
            ("urls.jsonl", "{\"url\":\"/a\"}\n{\"id\":1}\n", ["allow", "invalid"]),
            ("urls.tsv", "id\turl\n1\t/a\n2\n", ["allow", "invalid"]),
            ("urls.csv", "id,url\n1,\"/a\"\n2\n", ["allow", "invalid"]),
        ] {
            for columns in [&[Column::Verdict][..], &[Column::Verdict, Column::Line]] {
                let agents = robots.agents(["GPTBot"]).unwrap();
                let decider = Decider::new(agents, Layout::new(columns).unwrap()).unwrap();
                let decider = TableDecider::new(decider, AnswerFormat::Tsv).unwrap().keep_rejected(true);
                let source = Source::Text(Box::new(Cursor::new(text.as_bytes().to_vec())));
                let (table, mut rows) = source.open_rows(&Opening::of(name)).unwrap();
                let part = rows.next(Vec::new(), &|| true).unwrap().unwrap();
                let mut answers = Answers::default();
                decider.decide(&table, part.blocks()[0], &mut answers).unwrap();
                let AnswerRows::Text(found) = &answers.rows else { panic!("TSV is text") };
                let found = std::str::from_utf8(found.as_bytes()).unwrap().lines();
                let words = found.map(|line| line.split('\t').next().unwrap());
                assert_eq!(words.collect::<Vec<_>>(), expected, "{text:?}");
                assert_eq!(answers.rejected.rows.len(), 1, "{text:?}");
            }
        }
    }

    #[test]
    fn verdicts_and_faults_are_in_numeric_order() {
        assert_eq!(Fault::ALL.map(|fault| fault as usize), std::array::from_fn(|number| number));
        assert_eq!(VERDICTS.map(|verdict| verdict as usize), [0, 1, 2, 3]);
    }
}
