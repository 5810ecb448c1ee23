//! The inner loop of `reptile classify`: reads rows with URLs, and writes the URLs with verdict columns.
//!
//! This module decides many URLs together. [`explain`] decides them individually, with reasons. [`cells`] formats
//! verdicts, and [`long`] handles overlong lines. Files and threads are handled elsewhere. The output buffers are
//! reused.

mod cells;
mod explain;
mod long;

use bumpalo::Bump;
use reptile::capture::Time;
use reptile::urls::split;
use reptile::{Agents, Error, UrlParts, Verdict};

use super::columns::{self, Cell, Layout, shown_row};
use super::pieces::{Fixed, Text};
use super::scope::{Scope, StandIn};
use super::style::Style;
use super::tops::Tops;
use crate::sets::by_row::{ByRow, Counted, Misspelt, NamedRow, Session, Times};
use reptile_records::lines::{MAX_LINE_BYTES, lines, trimmed_url, without_line_end};
use reptile_records::parquet::urls;
use reptile_records::tables::{Fault, Format, Row, Table};
use reptile_records::text::{are_plain_columns, url_column};
use reptile_records::time::{Zone, read_time};

pub use self::long::LongPart;

/// Each agent's verdict counts.
pub type Tally = Vec<[u64; 4]>;

/// All verdicts, in numeric order.
pub const VERDICTS: [Verdict; 4] = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];

/// Number of URLs per library call: several internal batches, so that few are partly filled.
const URLS_AT_ONCE: usize = 512;

/// Number of split URLs decided at once. Their parts take a hundred bytes each, and all of them fit the smallest cache.
const PARTS_AT_ONCE: usize = 128;

/// The agents to decide for, and the output columns.
pub struct Decider {
    agents: Agents,
    /// The crawlers named by rows, if rows name crawlers. `agents` is then arbitrary.
    by_row: Option<ByRow>,
    /// Whether invalid rows are kept.
    keeps_rejected: bool,
    layout: Layout,
    /// If set, only rows with this combined verdict are written, unchanged.
    only: Option<Verdict>,
    /// The times at which rows are decided. A row's own time is in its second selected cell.
    times: Times,
    /// The zone for times without one.
    zone: Zone,
    /// The origins that decide a URL.
    scope: Scope,
    /// Whether origins and rules are counted.
    counts_tops: bool,
    /// Whether input rows are made safe for a terminal.
    shows_rows: bool,
    /// A row's cells, in order.
    order: Vec<Cell>,
    /// The text before each cell.
    leads: Vec<Vec<u8>>,
    /// The text after the last cell.
    end: Vec<u8>,
    /// The agents' names.
    names: Vec<String>,
    /// The verdicts as displayed.
    shown: [String; 4],
    /// The cells for each agent's verdicts, followed by the combined verdict's cells. Each includes the text before it,
    /// and the last includes the text after it. All are empty if rows have individual cells.
    cells: Vec<[Fixed; 4]>,
    /// All cells for a row in which every agent has the same verdict, the most common case. Copying them at once takes
    /// a third of the time for thirty agents.
    alike: [Fixed; 4],
}

/// A block of input rows.
#[derive(Clone, Copy)]
pub enum Block<'b> {
    /// Whole text rows.
    Text(&'b [u8]),
    /// Rows from a Parquet file.
    Cells(urls::Block<'b>),
}

/// The output lines of one block of input rows.
#[derive(Default)]
pub struct Answers {
    text: Text,
    /// Number of output lines.
    pub lines: u64,
    /// The verdict counts.
    pub tally: Tally,
    /// Number of input line ends. Quoted line ends can make it greater than the row count.
    pub line_ends: u64,
    /// The rows whose URL could not be read.
    pub faults: Faults,
    /// Number of URLs decided by a replacement origin.
    pub stood_in: u64,
    /// The most frequent origins and rules, if requested.
    pub tops: Tops,
    /// The invalid rows, if requested.
    pub rejected: Rejected,
    /// The verdict counts for each crawler that rows name.
    pub crawlers: Vec<Counted>,
    /// Number of rows that name no crawler, if rows name crawlers.
    pub nobody: u64,
}

/// Invalid rows.
#[derive(Default)]
pub struct Rejected {
    /// The concatenated rows.
    pub bytes: Vec<u8>,
    /// For each row, the number of preceding line ends in the block, the error, and the row's length.
    pub rows: Vec<(u64, Option<Fault>, usize)>,
}

impl Rejected {
    /// Adds a row. `rows_before` is the number of rows before it in the block.
    fn add(&mut self, line: &Line<'_>, rows_before: u64) {
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

/// Rows whose URL could not be read.
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
    fn note(&mut self, row: &Row<'_>, line_ends: impl Fn() -> u64) {
        if let Some(fault) = row.fault {
            self.add(fault, line_ends);
        }
    }

    #[inline]
    fn add(&mut self, fault: Fault, line_ends: impl Fn() -> u64) {
        self.counts[fault as usize] += 1;
        if self.first.len() < MAX_NAMED_FAULTS {
            self.first.push((line_ends(), fault));
        }
    }
}

impl Decider {
    /// Creates a decider. `times` are the times of rows, `coloured` enables colors for verdicts, and `shows_rows` makes
    /// input rows safe for a terminal.
    pub fn new(
        agents: Agents,
        by_row: Option<ByRow>,
        layout: Layout,
        only: Option<Verdict>,
        times: Times,
        coloured: bool,
        shows_rows: bool,
    ) -> Decider {
        let names: Vec<String> = agents.iter().map(|agent| agent.crawler().to_string()).collect();
        let (order, leads) = (layout.cells(names.len()), layout.leads(&names));
        let end = layout.end();
        let shown = layout.taken.map(|verdict| {
            let name = verdict.name();
            if layout.format == columns::Format::Parquet {
                char::from(verdict as u8).to_string()
            } else if coloured {
                Style::of_verdict(verdict).of(name)
            } else {
                name.to_owned()
            }
        });
        let (scope, keeps_rejected, counts_tops) = (Scope::default(), false, false);
        let (cells, alike) = (Vec::new(), [const { Vec::new() }; 4].map(Fixed::new));
        let mut decider = Decider {
            agents,
            by_row,
            keeps_rejected,
            layout,
            only,
            times,
            zone: Zone::default(),
            scope,
            counts_tops,
            shows_rows,
            order,
            leads,
            end,
            names,
            shown,
            cells,
            alike,
        };
        decider.cells = decider.cells();
        decider.alike = VERDICTS.map(|verdict| decider.alike(verdict));
        decider
    }

    /// Sets which origins decide a URL. The default is the URL's own.
    pub fn in_scope(self, scope: Scope) -> Decider {
        Decider { scope, ..self }
    }

    /// Sets the zone for times without one. The default is UTC.
    pub fn in_zone(self, zone: Zone) -> Decider {
        Decider { zone, ..self }
    }

    /// Counts the origins and rules that disallow URLs, and the unknown origins. Takes about twice the time.
    pub fn count_tops(self, counts_tops: bool) -> Decider {
        Decider { counts_tops, ..self }
    }

    /// Keeps invalid rows, to be written elsewhere.
    pub fn keep_rejected(self, keeps_rejected: bool) -> Decider {
        Decider { keeps_rejected, ..self }
    }

    /// Returns the agents.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Returns whether rows name their crawlers.
    pub fn is_by_row(&self) -> bool {
        self.by_row.is_some()
    }

    /// Returns the rows with probably misspelled crawlers, if rows name crawlers.
    pub fn misspelt(&self) -> Option<Misspelt> {
        self.by_row.as_ref().map(ByRow::misspelt).filter(|misspelt| misspelt.rows > 0)
    }

    /// Returns the verdict written for each verdict, in numeric order. Verdict counts are unaffected.
    pub fn taken(&self) -> [Verdict; 4] {
        self.layout.taken
    }

    /// Returns the number of tallies: one per agent, and one for the combined verdict if it is requested.
    pub fn tallies(&self) -> usize {
        self.agents.len() + usize::from(self.layout.any_of)
    }

    /// Decides each row in a block. Replaces the contents of `answers` and reuses its memory. Allocates once per block,
    /// and not per URL if the verdict is an agent's only column.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn decide(&self, table: &Table, block: Block<'_>, answers: &mut Answers) -> Result<(), Error> {
        answers.clear(self.tallies());
        let mut session = self.by_row.as_ref().map(ByRow::session);
        let Answers { text, lines: line_count, tally, line_ends, faults, rejected, stood_in, tops, .. } = answers;
        let rejected = self.keeps_rejected.then_some(rejected);
        let tops = self.counts_tops.then_some(tops);
        let written = Written { text, lines: line_count, tally, stood_in, tops, session: session.as_mut(), rejected };
        let arena = Bump::new();
        match block {
            Block::Text(block) if table.format == Format::List => {
                let mut start = 0;
                let rows = lines(block).map(|line| {
                    let rest = &block[start..];
                    start += line.len();
                    Line { rest, len: without_line_end(line).len(), row_len: line.len(), cells: None }
                });
                // Checked once per block instead of once per line, since nearly all blocks are plain.
                let is_plain = self.layout.has_url && are_plain_columns(block);
                self.decide_rows(rows, is_plain, written)?;
            }
            Block::Text(block) => {
                let mut ends = 0;
                let rows = table.rows(block, &arena).map(|row| {
                    let line_ends = ends;
                    ends += match table.format {
                        Format::Csv if self.keeps_rejected => memchr::memchr_iter(b'\n', row.bytes).count() as u64,
                        _ => 1,
                    };
                    let ends_before = |row: &Row<'_>| memchr::memchr_iter(b'\n', &block[..row.start]).count() as u64;
                    self.line(row, line_ends, faults, ends_before, &arena)
                });
                self.decide_rows(rows, false, written)?;
            }
            Block::Cells(block) if block.is_split() && self.needs_only_verdicts() => {
                self.decide_parts(block, faults, written)?;
            }
            Block::Cells(block) => {
                let rows = block.rows(&arena).zip(0..).map(|(mut row, number)| {
                    let url = row.cells[0].unwrap_or_default();
                    if row.fault.is_none() && !self.needs_cells() {
                        return Line { rest: url, len: url.len(), row_len: 0, cells: None };
                    }
                    if self.keeps_rejected {
                        // The URL represents the row, without line ends.
                        row.bytes = arena.alloc_slice_copy(&url_column(url));
                    }
                    self.line(row, number, faults, |_| number, &arena)
                });
                self.decide_rows(rows, false, written)?;
            }
        }
        *line_ends = match (block, table.format) {
            (Block::Text(block), Format::Csv) => memchr::memchr_iter(b'\n', block).count() as u64,
            _ => *line_count,
        };
        if let Some(session) = session {
            (answers.crawlers, answers.nobody) = session.end();
        }
        Ok(())
    }

    /// Returns whether a row's other cells are needed in addition to its URL.
    fn needs_cells(&self) -> bool {
        self.times == Times::OfRows || self.by_row.is_some() || self.keeps_rejected
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
        let time = if self.times == Times::OfRows { time_of(&mut row, &self.zone) } else { None };
        faults.note(&row, || ends_before(&row));
        let url = row.cells[0].unwrap_or_default();
        let agent = self.by_row.as_ref().and_then(|by_row| row.cells[by_row.cell]).unwrap_or_default();
        let cells = arena.alloc(Cells { row: row.bytes, fault: row.fault, time, agent, line_ends });
        Line { rest: url, len: url.len(), row_len: 0, cells: Some(cells) }
    }

    fn decide_rows<'b>(
        &self,
        rows: impl Iterator<Item = Line<'b>>,
        is_plain: bool,
        written: Written<'_, '_>,
    ) -> Result<(), Error> {
        if let Some(only) = self.only {
            return self.decide_each(rows, written, |row, text, tally| {
                let all = over_all(row.verdicts);
                row.verdicts
                    .iter()
                    .chain([&all])
                    .zip(tally)
                    .for_each(|(&verdict, counts)| counts[verdict as usize] += 1);
                if self.layout.taken[all as usize] == only {
                    text.push(&shown_row(row.line.row(), self.shows_rows));
                }
            });
        }
        if self.layout.explains() {
            return self.explain_each(rows, written);
        }
        if !self.layout.is_usual_order() {
            return self.write_in_order(rows, written);
        }
        let is_plain = is_plain && self.layout.format == columns::Format::Tsv;
        let Layout { has_url, has_row, .. } = self.layout;
        let (has_once, names_rows) = (!self.layout.once.is_empty(), self.names_rows());
        let mut buffer = Vec::new();
        self.decide_each(rows, written, |row, text, tally| {
            let Decided { line, verdicts, crawler } = *row;
            if is_plain {
                text.push_start(line.rest, line.len);
            } else if has_url {
                self.push_url(line, text, &mut buffer);
            }
            if has_once || names_rows {
                buffer.clear();
                self.push_once(verdicts, &mut buffer);
                if names_rows {
                    verdicts.iter().for_each(|&verdict| self.push_named(0, crawler, verdict, &mut buffer));
                }
                text.push(&buffer);
            }
            self.push_verdicts(verdicts, text, tally);
            if has_row {
                self.push_row(line, text, &mut buffer);
            }
        })
    }

    /// Decides rows, and writes their cells individually, in an unusual order.
    fn write_in_order<'b>(&self, rows: impl Iterator<Item = Line<'b>>, written: Written<'_, '_>) -> Result<(), Error> {
        let mut buffer = Vec::new();
        self.decide_each(rows, written, |row, text, tally| {
            let Decided { line, verdicts, crawler } = *row;
            let crawler = self.is_by_row().then_some(crawler);
            let known = cells::Known { url: line.as_ref(), verdicts, crawler, fetched_at: None, explained: None };
            buffer.clear();
            self.push_cells(0..self.order.len(), &known, &mut buffer);
            buffer.extend_from_slice(&self.end);
            text.push(&buffer);
            let all = self.layout.any_of.then(|| over_all(verdicts));
            verdicts.iter().chain(&all).zip(tally).for_each(|(&verdict, counts)| counts[verdict as usize] += 1);
            if self.layout.has_row {
                self.push_row(line, text, &mut buffer);
            }
        })
    }

    /// Appends a row's verdict cells, and counts the verdicts. Inlined because it runs for every input row.
    #[inline(always)]
    fn push_verdicts(&self, verdicts: &[Verdict], text: &mut Text, tally: &mut Tally) {
        if let Some(&verdict) = alike(verdicts) {
            text.push_fixed(&self.alike[verdict as usize]);
            tally.iter_mut().for_each(|counts| counts[verdict as usize] += 1);
            return;
        }
        let mut cells = self.cells.iter().zip(tally);
        for (&verdict, (cells, counts)) in verdicts.iter().zip(&mut cells) {
            counts[verdict as usize] += 1;
            text.push_fixed(&cells[verdict as usize]);
        }
        if let Some((cells, counts)) = cells.next() {
            let verdict = over_all(verdicts);
            counts[verdict as usize] += 1;
            text.push_fixed(&cells[verdict as usize]);
        }
    }

    /// Returns whether only a row's verdicts are written, so that split URLs need not be joined.
    fn needs_only_verdicts(&self) -> bool {
        let Layout { has_url, has_row, once, .. } = &self.layout;
        let needs_row = *has_url || *has_row || !once.is_empty() || self.layout.explains() || self.names_rows();
        let needs_more = needs_row || self.needs_cells() || self.times != Times::None || self.only.is_some();
        !(needs_more || self.counts_tops) && self.scope == Scope::Origin
    }

    /// Decides rows with split URLs, and writes their verdicts.
    fn decide_parts(&self, block: urls::Block<'_>, faults: &mut Faults, written: Written<'_, '_>) -> Result<(), Error> {
        /// Placeholder for an invalid URL.
        const NOT_A_URL: UrlParts<'_> =
            UrlParts { scheme: b"", host: b"", port: None, path: b"", query: None, host_number: None };
        let Written { text, lines: line_count, tally, .. } = written;
        let width = self.agents.len();
        let no_hosts = self.agents.known_hosts(0);
        let hosts = block.host_cache(|count| self.agents.known_hosts(count)).unwrap_or(&no_hosts);
        let mut urls = Vec::with_capacity(PARTS_AT_ONCE);
        let mut verdicts = vec![Verdict::Invalid; PARTS_AT_ONCE * width];
        let mut rows = block.parts().enumerate();
        while rows.len() > 0 {
            urls.clear();
            urls.extend(rows.by_ref().take(PARTS_AT_ONCE).map(|(row, parts)| {
                parts.map(trimmed_parts).unwrap_or_else(|fault| {
                    faults.add(fault, || row as u64);
                    NOT_A_URL
                })
            }));
            let verdicts = &mut verdicts[..urls.len() * width];
            self.agents.decide_split(&urls, hosts, verdicts)?;
            *line_count += urls.len() as u64;
            verdicts.chunks_exact(width).for_each(|row| self.push_verdicts(row, text, tally));
        }
        Ok(())
    }

    /// Decides rows in batches, and passes each to `write`.
    #[inline]
    fn decide_each<'b>(
        &self,
        mut rows: impl Iterator<Item = Line<'b>>,
        written: Written<'_, '_>,
        mut write: impl FnMut(&Decided<'_, 'b>, &mut Text, &mut Tally),
    ) -> Result<(), Error> {
        let Written { text, lines: line_count, tally, stood_in, mut tops, mut session, mut rejected } = written;
        let width = self.agents.len();
        let mut urls: Vec<Line<'_>> = Vec::with_capacity(URLS_AT_ONCE);
        let mut verdicts = vec![Verdict::Invalid; URLS_AT_ONCE * width];
        loop {
            urls.clear();
            urls.extend(rows.by_ref().take(URLS_AT_ONCE));
            if urls.is_empty() {
                return Ok(());
            }
            let verdicts = &mut verdicts[..urls.len() * width];
            if let Some(session) = &mut session {
                session.find_all(&urls)?;
            }
            self.decide_urls(&urls, 0..urls.len(), session.as_deref(), verdicts)?;
            if self.scope > Scope::Origin {
                *stood_in += self.decide_stand_ins(&urls, session.as_deref(), verdicts)?;
            }
            if let Some(session) = &mut session {
                session.add_all(verdicts);
            }
            let lines_before = *line_count;
            *line_count += urls.len() as u64;
            for ((place, line), verdicts) in urls.iter().enumerate().zip(verdicts.chunks_exact(width)) {
                if let Some(tops) = &mut tops {
                    self.count(line, verdicts, tops)?;
                }
                if let (Some(rejected), [Verdict::Invalid, ..]) = (&mut rejected, verdicts) {
                    rejected.add(line, lines_before + place as u64);
                }
                let crawler = session.as_deref().map_or("", |session| session.name_of(place));
                write(&Decided { line, verdicts, crawler }, text, tally);
            }
        }
    }

    /// Decides URLs, and stores a row of verdicts for each. A URL without a time is invalid if row times are used.
    /// `found` contains the rows' crawlers, if rows name them.
    fn decide_urls(
        &self,
        urls: &[Line<'_>],
        found: impl Iterator<Item = usize>,
        session: Option<&Session<'_>>,
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        if let Some(session) = session {
            return session.decide(urls, found, self.times, verdicts);
        }
        if self.times == Times::None {
            return self.agents.decide_all(urls, verdicts);
        }
        let times: Vec<Time> = urls.iter().map(|url| self.times.of(url).unwrap_or_default()).collect();
        self.agents.decide_all_at(urls, &times, verdicts)?;
        let rows = urls.iter().zip(verdicts.chunks_exact_mut(self.agents.len()));
        rows.filter(|(url, _)| self.times.of(*url).is_none()).for_each(|(_, row)| row.fill(Verdict::Invalid));
        Ok(())
    }

    /// Decides URLs without a known robots.txt by their replacement origins. Returns the number of URLs decided this
    /// way.
    fn decide_stand_ins(
        &self,
        urls: &[Line<'_>],
        session: Option<&Session<'_>>,
        verdicts: &mut [Verdict],
    ) -> Result<u64, Error> {
        let width = self.agents.len();
        let is_unknown = |verdicts: &[Verdict]| verdicts.contains(&Verdict::Unknown);
        // A row that names no crawler stays unknown, regardless of the origin.
        let is_open = |row: &usize| session.is_none_or(|session| session.is_named(*row));
        let unknown = (0..urls.len()).filter(|row| is_unknown(&verdicts[row * width..][..width])).filter(is_open);
        let mut open: Vec<(usize, Vec<StandIn>)> =
            unknown.map(|row| (row, self.scope.stand_ins(urls[row].as_ref()))).collect();
        let (mut found, mut row_verdicts) = (0, Vec::new());
        for place in 0.. {
            open.retain(|(_, all)| all.len() > place);
            if open.is_empty() {
                break;
            }
            let tried: Vec<Line<'_>> = open.iter().map(|(row, all)| urls[*row].with_url(all[place].as_ref())).collect();
            row_verdicts.resize(tried.len() * width, Verdict::Invalid);
            self.decide_urls(&tried, open.iter().map(|(row, _)| *row), session, &mut row_verdicts)?;
            let mut rows = row_verdicts.chunks_exact(width);
            open.retain(|(row, _)| {
                let row_verdicts = rows.next().unwrap_or_default();
                // Adding www. may make a host or a URL too long.
                if is_unknown(row_verdicts) || row_verdicts.contains(&Verdict::Invalid) {
                    return true;
                }
                verdicts[row * width..][..width].copy_from_slice(row_verdicts);
                found += 1;
                false
            });
        }
        Ok(found)
    }

    /// Counts the origin of a disallowed or unknown URL, and the rules that disallow it.
    fn count(&self, line: &Line<'_>, verdicts: &[Verdict], tops: &mut Tops) -> Result<(), Error> {
        let (disallow, unknown) = (verdicts.contains(&Verdict::Disallow), verdicts.contains(&Verdict::Unknown));
        let Some(url) = split(line.as_ref()).ok().filter(|_| disallow || unknown) else { return Ok(()) };
        let origin = url.origin.to_string().to_ascii_lowercase();
        if !disallow {
            // A row that names no crawler is unknown, regardless of its origin.
            if self.by_row.is_none() {
                tops.unknown.add(origin.as_bytes(), 1);
            }
            return Ok(());
        }
        tops.disallowing.add(origin.as_bytes(), 1);
        let agents = self.agents.iter().filter(|_| self.by_row.is_none());
        for (agent, _) in agents.zip(verdicts).filter(|&(_, &verdict)| verdict == Verdict::Disallow) {
            let Some(found) = self.explain(agent, line)? else { continue };
            match found.explanation.rule() {
                Some(rule) => tops.rules.add(&[rule.kind.name().as_bytes(), b": ", &rule.pattern].concat(), 1),
                None => tops.rules.add(found.explanation.reason.to_string().as_bytes(), 1),
            }
        }
        Ok(())
    }

    /// Appends the URL cell, if there is one.
    fn push_url(&self, line: &Line<'_>, text: &mut Text, buffer: &mut Vec<u8>) {
        if let (true, Some(lead)) = (self.layout.has_url, self.leads.first()) {
            buffer.clear();
            buffer.extend_from_slice(lead);
            self.layout.format.push(line.url(), buffer);
            text.push(buffer);
        }
    }

    /// Appends the input row, if requested.
    fn push_row(&self, line: &Line<'_>, text: &mut Text, buffer: &mut Vec<u8>) {
        if self.layout.has_row {
            buffer.clear();
            self.layout.push_row(&shown_row(line.row(), self.shows_rows), line.is_readable(), buffer);
            text.push(buffer);
        }
    }
}

/// Returns the combined verdict: disallow if any agent is refused, else invalid, unknown or allow. Unknown and
/// invalid are the same for all agents that obey robots.txt.
fn over_all(verdicts: &[Verdict]) -> Verdict {
    let has = |wanted: Verdict| verdicts.contains(&wanted);
    [Verdict::Disallow, Verdict::Invalid, Verdict::Unknown]
        .into_iter()
        .find(|&verdict| has(verdict))
        .unwrap_or(Verdict::Allow)
}

/// Returns the verdict common to all agents, if there are several agents and they agree.
#[inline]
fn alike(verdicts: &[Verdict]) -> Option<&Verdict> {
    let (first, rest) = verdicts.split_first()?;
    (!rest.is_empty() && rest.iter().all(|verdict| verdict == first)).then_some(first)
}

/// Returns a split URL without surrounding white space, consistent with [`trimmed_url`] for the joined URL.
#[inline]
fn trimmed_parts<'b>(mut parts: UrlParts<'b>) -> UrlParts<'b> {
    let is_white = |byte: Option<&u8>| byte.is_some_and(|&byte| byte <= b' ');
    if is_white(parts.scheme.first()) {
        parts.scheme = trimmed_url(parts.scheme);
    }
    let last = parts.query.unwrap_or(parts.path);
    if is_white(last.last()) {
        let len = last.iter().rposition(|&byte| byte > b' ').map_or(0, |at| at + 1);
        match &mut parts.query {
            Some(query) => *query = &last[..len],
            None => parts.path = &last[..len],
        }
    }
    parts
}

/// Returns the time in the second selected cell. A row without one gets a fault.
fn time_of(row: &mut Row<'_>, zone: &Zone) -> Option<Time> {
    let cell = row.cells[1].and_then(|cell| str::from_utf8(cell).ok());
    let time = cell.and_then(|cell| read_time(cell, zone).ok());
    if time.is_none() && row.fault.is_none() {
        row.fault = Some(Fault::NoTime);
    }
    time
}

/// Destinations for verdicts and counts.
struct Written<'a, 's> {
    text: &'a mut Text,
    lines: &'a mut u64,
    tally: &'a mut Tally,
    stood_in: &'a mut u64,
    /// Counts origins and rules, if requested.
    tops: Option<&'a mut Tops>,
    /// Finds the rows' crawlers, if rows name them.
    session: Option<&'a mut Session<'s>>,
    /// Collects invalid rows, if requested.
    rejected: Option<&'a mut Rejected>,
}

/// A decided row.
#[derive(Clone, Copy)]
struct Decided<'d, 'b> {
    line: &'d Line<'b>,
    verdicts: &'d [Verdict],
    /// The crawler named by the row, or empty if there is none.
    crawler: &'d str,
}

/// An input row: the available bytes from its URL onwards, and the URL's length. List lines have no other data and
/// therefore need little memory.
struct Line<'b> {
    rest: &'b [u8],
    len: usize,
    /// The length of a list line, including its line end.
    row_len: usize,
    /// Other data for a table row.
    cells: Option<&'b Cells<'b>>,
}

/// A table row without its URL.
struct Cells<'b> {
    /// The whole row with its line end.
    row: &'b [u8],
    /// The reason for a missing URL, if any.
    fault: Option<Fault>,
    /// The row's time, if it has one and row times are used.
    time: Option<Time>,
    /// The cell with the crawler's name, if there is one.
    agent: &'b [u8],
    /// Number of preceding line ends in the block; for CSV only if rejected rows are requested.
    line_ends: u64,
}

impl<'b> Line<'b> {
    /// Returns the whole row with its line end.
    fn row(&self) -> &'b [u8] {
        self.cells.map_or_else(|| &self.rest[..self.row_len], |cells| cells.row)
    }

    /// Returns whether the row is valid in its format.
    fn is_readable(&self) -> bool {
        let fault = self.cells.and_then(|cells| cells.fault);
        !matches!(fault, Some(Fault::NotJson | Fault::TooLong))
    }
}

impl NamedRow for Line<'_> {
    fn crawler(&self) -> &[u8] {
        self.cells.map_or(&[], |cells| cells.agent)
    }

    fn time(&self) -> Option<Time> {
        self.cells.and_then(|cells| cells.time)
    }
}

impl<'b> Line<'b> {
    /// Returns the row with another URL.
    fn with_url(&self, url: &'b [u8]) -> Line<'b> {
        Line { rest: url, len: url.len(), ..*self }
    }
}

/// The URL to decide, without surrounding white space.
impl AsRef<[u8]> for Line<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        trimmed_url(self.url())
    }
}

impl<'b> Line<'b> {
    /// Returns the URL as given.
    fn url(&self) -> &'b [u8] {
        &self.rest[..self.len]
    }
}

impl Answers {
    /// Returns a header line, to precede all answers.
    pub fn of_header(header: &[u8]) -> Answers {
        let mut answers = Answers::default();
        answers.text.push(header);
        answers
    }

    /// Returns the lines.
    pub fn text(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Empties the buffers and resets the counts for `agents` agents.
    fn clear(&mut self, agents: usize) {
        self.text.clear();
        self.lines = 0;
        self.line_ends = 0;
        self.stood_in = 0;
        self.tops.clear();
        self.faults.counts = [0; Fault::ALL.len()];
        self.faults.first.clear();
        self.rejected.bytes.clear();
        self.rejected.rows.clear();
        self.crawlers.clear();
        self.nobody = 0;
        self.tally.clear();
        self.tally.resize(agents, [0; 4]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_and_faults_are_in_numeric_order() {
        assert_eq!(Fault::ALL.map(|fault| fault as usize), std::array::from_fn(|number| number));
        assert_eq!(VERDICTS.map(|verdict| verdict as usize), [0, 1, 2, 3]);
    }
}
