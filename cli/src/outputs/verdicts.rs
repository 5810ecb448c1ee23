//! Rows with URLs in, the same URLs with columns of verdicts out: the inner loop of `reptile classify`.
//!
//! Nothing here knows of files or threads. The output buffers are reused.

use bumpalo::Bump;
use reptile::{Agent, Agents, Error, Explanation, Reason, Verdict};
use reptile_compiler::capture::Time;

use super::columns::{self, Column, Layout, push_verdict, shown_row};
use super::style::Style;
use super::text::{are_plain_columns, opaque_column};
use crate::inputs::lines::{lines, without_line_end};
use crate::inputs::tables::{Fault, Format, Row, Table};
use crate::inputs::time::read_time;

/// The number of times that each verdict was given, for each agent.
pub type Tally = Vec<[u64; 4]>;

/// Every verdict, in the order of their numbers.
const VERDICTS: [Verdict; 4] = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];

/// The number of URLs that are given to the library at once: several of its batches, so that few are not full.
const URLS_AT_ONCE: usize = 512;

/// The agents to decide for, and what to write.
pub struct Decider {
    agents: Agents,
    layout: Layout,
    /// If given, only the rows with this verdict over all agents are written, as they are.
    only: Option<Verdict>,
    /// Whether each row is decided by the rules of its own time, which is in the second of its wanted cells.
    by_time: bool,
    /// Whether rows of the input are made safe for a terminal.
    shows_rows: bool,
    /// What stands before each cell.
    leads: Vec<Vec<u8>>,
    /// What stands after the last cell.
    end: Vec<u8>,
    /// The verdicts as they are shown.
    shown: [String; 4],
    /// The cell of each verdict for each agent, and after them for all together, with what stands before it; the last one
    /// also with what stands after it. Without a column of verdicts they are empty.
    cells: Vec<[Fixed; 4]>,
}

/// The output lines of one block of input rows.
#[derive(Default)]
pub struct Answers {
    text: Text,
    /// The number of lines in it.
    pub lines: u64,
    /// The verdicts in it, counted.
    pub tally: Tally,
    /// The line ends of the input in it: more than rows if there are line ends in quotes.
    pub line_ends: u64,
    /// The rows whose URL could not be read.
    pub faults: Faults,
}

/// The most rows of a block that are named for a fault.
pub const MAX_NAMED_FAULTS: usize = 10;

/// Rows whose URL could not be read.
#[derive(Default)]
pub struct Faults {
    /// How many there are, in the order of [`Fault::ALL`].
    pub counts: [u64; Fault::ALL.len()],
    /// The first of them, each with the number of line ends before it in the block.
    pub first: Vec<(u64, Fault)>,
}

impl Faults {
    /// Notes the fault of a row, if it has one.
    #[inline]
    fn note(&mut self, row: &Row<'_>, line_ends: impl Fn() -> u64) {
        if let Some(fault) = row.fault {
            self.counts[fault as usize] += 1;
            if self.first.len() < MAX_NAMED_FAULTS {
                self.first.push((line_ends(), fault));
            }
        }
    }
}

impl Decider {
    /// `by_time` says whether each row has its time in the second of its cells, `coloured` whether verdicts have colours, `shows_rows` whether rows of the input are made safe for a terminal.
    pub fn new(
        agents: Agents,
        layout: Layout,
        only: Option<Verdict>,
        by_time: bool,
        coloured: bool,
        shows_rows: bool,
    ) -> Decider {
        let names: Vec<String> = agents.iter().map(|agent| agent.crawler().to_string()).collect();
        let leads = layout.leads(&names);
        let end = layout.end();
        let shown = VERDICTS.map(|verdict| {
            let name = verdict.name();
            if layout.format == columns::Format::Parquet {
                char::from(verdict as u8).to_string()
            } else if coloured {
                Style::of_verdict(verdict).of(name)
            } else {
                name.to_owned()
            }
        });
        let mut decider = Decider { agents, layout, only, by_time, shows_rows, leads, end, shown, cells: Vec::new() };
        decider.cells = decider.cells();
        decider
    }

    /// The agents.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// The number of tallies: one for each agent, and one for all of them if there is such a verdict.
    pub fn tallies(&self) -> usize {
        self.agents.len() + usize::from(self.layout.any_of)
    }

    /// The verdicts as cells, ready to be copied.
    fn cells(&self) -> Vec<[Fixed; 4]> {
        let is_last = |at: usize| at + 1 == self.tallies();
        let lead_of = |at: usize| match (at < self.agents.len(), &self.layout.columns[..]) {
            (true, [Column::Verdict]) => self.leads.get(at + usize::from(self.layout.has_url)),
            (true, _) => None,
            (false, _) => self.leads.last(),
        };
        let cell = |at: usize, verdict: Verdict| {
            let mut cell = Vec::new();
            if let Some(lead) = lead_of(at) {
                cell.extend_from_slice(lead);
                push_verdict(&self.shown[verdict as usize], self.layout.format, &mut cell);
            }
            if is_last(at) {
                cell.extend_from_slice(&self.end);
            }
            Fixed::new(cell)
        };
        (0..self.tallies()).map(|at| VERDICTS.map(|verdict| cell(at, verdict))).collect()
    }

    /// Decides each row of a block. Replaces what `answers` holds and reuses its memory. Allocates once for the block,
    /// and nothing for a URL if the verdict is the only column of an agent.
    ///
    /// # Errors
    /// If the set is damaged.
    pub fn decide(&self, table: &Table, block: &[u8], answers: &mut Answers) -> Result<(), Error> {
        answers.clear(self.tallies());
        let Answers { text, lines: line_count, tally, line_ends, faults } = answers;
        let written = Written { text, lines: line_count, tally };
        if table.format == Format::List {
            let mut start = 0;
            let rows = lines(block).map(|line| {
                let rest = &block[start..];
                start += line.len();
                Line { rest, len: without_line_end(line).len(), row: line, is_readable: true, time: None }
            });
            // Asked once for the block instead of once for each line of it, since nearly all blocks are plain.
            self.decide_rows(rows, are_plain_columns(block), written)?;
        } else {
            let arena = Bump::new();
            let rows = table.rows(block, &arena).zip(0..).map(|(mut row, number)| {
                let time = if self.by_time { time_of(&mut row) } else { None };
                faults.note(&row, || match table.format {
                    Format::Parquet => number,
                    _ => memchr::memchr_iter(b'\n', &block[..row.start]).count() as u64,
                });
                let url = row.cells[0].unwrap_or_default();
                let is_readable = !matches!(row.fault, Some(Fault::NotJson | Fault::TooLong));
                Line { rest: url, len: url.len(), row: row.bytes, is_readable, time }
            });
            self.decide_rows(rows, false, written)?;
        }
        *line_ends = match table.format {
            Format::Csv => memchr::memchr_iter(b'\n', block).count() as u64,
            _ => *line_count,
        };
        Ok(())
    }

    fn decide_rows<'b>(
        &self,
        rows: impl Iterator<Item = Line<'b>>,
        is_plain: bool,
        written: Written<'_>,
    ) -> Result<(), Error> {
        if let Some(only) = self.only {
            return self.decide_each(rows, written, |line, verdicts, text, tally| {
                let all = over_all(verdicts);
                verdicts.iter().chain([&all]).zip(tally).for_each(|(&verdict, counts)| counts[verdict as usize] += 1);
                if all == only {
                    text.push(&shown_row(line.row, self.shows_rows));
                }
            });
        }
        if !matches!(self.layout.columns[..], [] | [Column::Verdict]) {
            return self.explain_each(rows, written);
        }
        let is_plain = is_plain && self.layout.format == columns::Format::Tsv;
        let mut buffer = Vec::new();
        self.decide_each(rows, written, |line, verdicts, text, tally| {
            if is_plain && self.layout.has_url {
                text.push_start(line.rest, line.len);
            } else {
                self.push_url(line, text, &mut buffer);
            }
            let mut cells = self.cells.iter().zip(tally);
            for (&verdict, (cells, counts)) in verdicts.iter().zip(&mut cells) {
                counts[verdict as usize] += 1;
                let Fixed { bytes, len } = &cells[verdict as usize];
                text.push_start(bytes, *len);
            }
            if let Some((cells, counts)) = cells.next() {
                let verdict = over_all(verdicts);
                counts[verdict as usize] += 1;
                let Fixed { bytes, len } = &cells[verdict as usize];
                text.push_start(bytes, *len);
            }
            self.push_row(line, text, &mut buffer);
        })
    }

    /// Decides rows many at a time, and hands the verdicts of each to `write`.
    #[inline]
    fn decide_each<'b>(
        &self,
        mut rows: impl Iterator<Item = Line<'b>>,
        written: Written<'_>,
        mut write: impl FnMut(&Line<'b>, &[Verdict], &mut Text, &mut Tally),
    ) -> Result<(), Error> {
        let Written { text, lines: line_count, tally } = written;
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
            self.decide_urls(&urls, verdicts)?;
            *line_count += urls.len() as u64;
            for (url, verdicts) in urls.iter().zip(verdicts.chunks_exact(width)) {
                write(url, verdicts, text, tally);
            }
        }
    }

    /// The verdicts of some URLs, a row for each. A URL without a time is invalid where times are asked for.
    fn decide_urls(&self, urls: &[Line<'_>], verdicts: &mut [Verdict]) -> Result<(), Error> {
        if !self.by_time {
            return self.agents.decide_all(urls, verdicts);
        }
        let times: Vec<Time> = urls.iter().map(|url| url.time.unwrap_or_default()).collect();
        self.agents.decide_all_at(urls, &times, verdicts)?;
        let rows = urls.iter().zip(verdicts.chunks_exact_mut(self.agents.len()));
        rows.filter(|(url, _)| url.time.is_none()).for_each(|(_, row)| row.fill(Verdict::Invalid));
        Ok(())
    }

    /// The verdict of one agent for a URL, with its reasons. `None` for a URL without a time where times are asked for.
    fn explain(&self, agent: &Agent, url: &Line<'_>) -> Result<Option<Explanation>, Error> {
        match url.time {
            _ if !self.by_time => agent.explain(url.as_ref()).map(Some),
            Some(time) => agent.explain_at(url.as_ref(), time).map(Some),
            None => Ok(None),
        }
    }

    /// The verdicts of rows, with columns that explain them.
    fn explain_each<'b>(&self, rows: impl Iterator<Item = Line<'b>>, written: Written<'_>) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let mut verdicts = Vec::with_capacity(self.agents.len());
        for row in rows {
            *written.lines += 1;
            self.push_url(&row, written.text, &mut buffer);
            buffer.clear();
            verdicts.clear();
            let mut leads = self.leads.iter().skip(usize::from(self.layout.has_url));
            for agent in self.agents.iter() {
                let explanation = self.explain(agent, &row)?;
                let verdict = explanation.as_ref().map_or(Verdict::Invalid, |found| found.verdict);
                verdicts.push(verdict);
                let shown = &self.shown[verdict as usize];
                for (column, lead) in self.layout.columns.iter().zip(leads.by_ref()) {
                    buffer.extend_from_slice(lead);
                    match &explanation {
                        Some(found) => column.push(found, shown, self.layout.format, &mut buffer),
                        None => column.push_invalid("no time", shown, self.layout.format, &mut buffer),
                    }
                }
            }
            self.push_over_all(&mut verdicts, &mut buffer);
            verdicts.iter().zip(&mut *written.tally).for_each(|(&verdict, counts)| counts[verdict as usize] += 1);
            buffer.extend_from_slice(&self.end);
            written.text.push(&buffer);
            self.push_row(&row, written.text, &mut buffer);
        }
        Ok(())
    }

    /// Appends the verdict over all agents to the verdicts and to the cells, if it is wanted.
    fn push_over_all(&self, verdicts: &mut Vec<Verdict>, cells: &mut Vec<u8>) {
        if let (true, Some(lead)) = (self.layout.any_of, self.leads.last()) {
            let verdict = over_all(verdicts);
            verdicts.push(verdict);
            cells.extend_from_slice(lead);
            push_verdict(&self.shown[verdict as usize], self.layout.format, cells);
        }
    }

    /// Appends the cell of the URL, if there is one.
    fn push_url(&self, line: &Line<'_>, text: &mut Text, buffer: &mut Vec<u8>) {
        if let (true, Some(lead)) = (self.layout.has_url, self.leads.first()) {
            buffer.clear();
            buffer.extend_from_slice(lead);
            self.layout.format.push(line.as_ref(), buffer);
            text.push(buffer);
        }
    }

    /// Appends the row of the input, if it is wanted.
    fn push_row(&self, line: &Line<'_>, text: &mut Text, buffer: &mut Vec<u8>) {
        if self.layout.has_row {
            buffer.clear();
            self.layout.push_row(&shown_row(line.row, self.shows_rows), line.is_readable, buffer);
            text.push(buffer);
        }
    }

    /// Passes on a part of a line that is too long for a URL, or for a row of a table. Of a table nothing is passed on, unless
    /// whole rows are wanted. The cells, which say `invalid`, follow the last part, or come before the first part of a row.
    pub fn pass_on(&self, table: &Table, part: &LongPart<'_>, answers: &mut Answers) {
        answers.clear(self.tallies());
        let is_list = table.format == Format::List;
        if part.is_last {
            answers.lines = 1;
            answers.line_ends = 1;
            answers.tally.iter_mut().for_each(|counts| counts[Verdict::Invalid as usize] = 1);
            if !is_list {
                answers.faults.counts[Fault::TooLong as usize] = 1;
                answers.faults.first.push((0, Fault::TooLong));
            }
        }
        if self.only.is_some() {
            return;
        }
        let mut buffer = Vec::new();
        if self.layout.format == columns::Format::Parquet {
            // The cell of the URL begins with its length, which is not known yet; there is no URL that long.
            if part.is_last {
                if self.layout.has_url {
                    self.layout.format.push(b"", &mut buffer);
                }
                self.push_invalid(&mut buffer);
                answers.text.push(&buffer);
            }
            return;
        }
        if let (true, Some(lead)) = (self.layout.has_url, self.leads.first()) {
            let quote: &[u8] = if self.layout.format == columns::Format::Jsonl { b"\"" } else { b"" };
            if part.is_first {
                buffer.extend_from_slice(&[lead, quote].concat());
            }
            if is_list {
                self.layout.format.push_part(part.text, &mut buffer);
            }
            if part.is_last {
                buffer.extend_from_slice(quote);
            }
        }
        let has_cells = if self.layout.has_row { part.is_first } else { part.is_last };
        if has_cells {
            self.push_invalid(&mut buffer);
        }
        if self.layout.has_row {
            self.push_part(part, &mut buffer);
        }
        answers.text.push(&buffer);
    }

    /// Appends the cells of a row that has no URL, and what stands after them.
    fn push_invalid(&self, buffer: &mut Vec<u8>) {
        let shown = &self.shown[Verdict::Invalid as usize];
        let mut leads = self.leads.iter().skip(usize::from(self.layout.has_url));
        for _ in self.agents.iter() {
            for (column, lead) in self.layout.columns.iter().zip(leads.by_ref()) {
                buffer.extend_from_slice(lead);
                column.push_invalid(&Reason::NoUrl.to_string(), shown, self.layout.format, buffer);
            }
        }
        self.push_over_all(&mut vec![Verdict::Invalid], buffer);
        buffer.extend_from_slice(&self.end);
    }

    /// Appends a part of a row of the input. A row of JSON that cannot be read is left out.
    fn push_part(&self, part: &LongPart<'_>, buffer: &mut Vec<u8>) {
        let is_json = self.layout.format == columns::Format::Jsonl;
        if is_json && part.is_first {
            self.layout.push_row(b"", false, buffer);
        } else if !is_json {
            match self.shows_rows {
                true => buffer.extend(opaque_column(part.text)),
                false => buffer.extend_from_slice(part.text),
            }
            if part.is_last {
                buffer.push(b'\n');
            }
        }
    }
}

/// A part of a line that is too long, without its line end.
pub struct LongPart<'b> {
    /// The bytes.
    pub text: &'b [u8],
    /// Whether the line begins with it.
    pub is_first: bool,
    /// Whether the line ends with it.
    pub is_last: bool,
}

/// The verdict over all agents: disallow if any of them is refused, else unknown or invalid, which are the same for all of
/// them that obey a robots.txt, else allow.
fn over_all(verdicts: &[Verdict]) -> Verdict {
    let has = |wanted: Verdict| verdicts.contains(&wanted);
    [Verdict::Disallow, Verdict::Invalid, Verdict::Unknown]
        .into_iter()
        .find(|&verdict| has(verdict))
        .unwrap_or(Verdict::Allow)
}

/// The time in the second of the wanted cells. A row without one has a fault.
fn time_of(row: &mut Row<'_>) -> Option<Time> {
    let cell = row.cells[1].and_then(|cell| str::from_utf8(cell).ok());
    let time = cell.and_then(|cell| read_time(cell.trim_ascii()).ok());
    if time.is_none() && row.fault.is_none() {
        row.fault = Some(Fault::NoTime);
    }
    time
}

/// Where verdicts are written and counted.
struct Written<'a> {
    text: &'a mut Text,
    lines: &'a mut u64,
    tally: &'a mut Tally,
}

/// The URL of a row: the block from the URL on as far as it is at hand, and the length of the URL.
struct Line<'b> {
    rest: &'b [u8],
    len: usize,
    /// The whole row with its line end.
    row: &'b [u8],
    /// Whether the row is what its format says.
    is_readable: bool,
    /// The time of the row, if times are asked for and it has one.
    time: Option<Time>,
}

impl AsRef<[u8]> for Line<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.rest[..self.len]
    }
}

/// The number of bytes that are copied at once: few lines are longer.
const BYTES_AT_ONCE: usize = 64;

/// A text that is ready to be copied by blocks.
struct Fixed {
    /// The text, then zeros.
    bytes: Vec<u8>,
    len: usize,
}

impl Fixed {
    fn new(mut bytes: Vec<u8>) -> Fixed {
        let len = bytes.len();
        bytes.resize(len.next_multiple_of(BYTES_AT_ONCE), 0);
        Fixed { bytes, len }
    }
}

/// A text that grows by short pieces. Its memory is longer than the text, so that pieces can be copied in blocks of one
/// size, which is faster than by their length; what is copied too much, the next piece replaces.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    len: usize,
}

impl Text {
    /// Appends bytes.
    fn push(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Appends the first `len` bytes of `bytes`, by blocks as long as there are enough bytes.
    #[inline]
    fn push_start(&mut self, bytes: &[u8], len: usize) {
        self.reserve(len);
        let to = &mut self.bytes[self.len..];
        let mut at = 0;
        while at < len {
            match (to[at..].first_chunk_mut(), bytes[at..].first_chunk::<BYTES_AT_ONCE>()) {
                (Some(to), Some(from)) => *to = *from,
                _ => to[at..len].copy_from_slice(&bytes[at..len]),
            }
            at += BYTES_AT_ONCE;
        }
        self.len += len;
    }

    /// Makes room for `more` bytes, and for a block after them.
    #[inline]
    fn reserve(&mut self, more: usize) {
        if self.bytes.len() < self.len + more + BYTES_AT_ONCE {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let len = (self.bytes.len() * 2).max(self.len + more + BYTES_AT_ONCE);
        self.bytes.resize(len, 0);
    }
}

impl Answers {
    /// A line of names, before all answers.
    pub fn of_header(header: &[u8]) -> Answers {
        let mut answers = Answers::default();
        answers.text.push(header);
        answers
    }

    /// The lines.
    pub fn text(&self) -> &[u8] {
        &self.text.bytes[..self.text.len]
    }

    /// Empties the buffers and sets the counts of `agents` agents to zero.
    fn clear(&mut self, agents: usize) {
        self.text.len = 0;
        self.lines = 0;
        self.line_ends = 0;
        self.faults.counts = [0; Fault::ALL.len()];
        self.faults.first.clear();
        self.tally.clear();
        self.tally.resize(agents, [0; 4]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_whatever_their_length() {
        let source: Vec<u8> = (0..=255).collect();
        for len in 0..200 {
            let (mut text, mut expected) = (Text::default(), Vec::new());
            for (rest, push_len) in [(0, len), (256 - len, len), (3, 1), (100, len / 2)] {
                text.push_start(&source[rest..], push_len);
                text.push(&source[..3]);
                expected.extend_from_slice(&source[rest..rest + push_len]);
                expected.extend_from_slice(&source[..3]);
            }
            let fixed = Fixed::new(vec![b'x'; len]);
            text.push_start(&fixed.bytes, fixed.len);
            expected.resize(expected.len() + len, b'x');
            assert_eq!(text.bytes[..text.len], expected, "{len}");
        }
    }

    #[test]
    fn verdicts_and_faults_are_in_the_order_of_their_numbers() {
        assert_eq!(Fault::ALL.map(|fault| fault as usize), [0, 1, 2, 3, 4]);
        assert_eq!(VERDICTS.map(|verdict| verdict as usize), [0, 1, 2, 3]);
    }
}
