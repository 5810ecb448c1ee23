//! A row's cells as text. Cells that are the same for every row are prepared for copying.

use reptile::Verdict;
use reptile::capture::Time;

use super::answers::Tally;
use super::format::{AnswerFormat, TextCell};
use super::line::Line;
use super::pieces::{Fixed, Text};
use crate::column::{Cell, Column, VERDICTS, over_all};
use crate::decide::{DecidedRow, Decider, RowReasons};

/// Facts for cells that are the same in every row with the same verdict.
const NO_TIME: RowReasons<'_> = RowReasons::Verdict { fetched_at: None, preferences: &[] };

/// The text around cells, and prepared cells.
pub(crate) struct CellTexts {
    format: AnswerFormat,
    /// The text before each cell.
    pub(crate) leads: Vec<Vec<u8>>,
    /// The text after the last cell: the row's end, or the separator before the input row.
    pub(crate) end: Vec<u8>,
    /// The verdicts as displayed, in numeric order.
    pub(crate) words: [String; 4],
    /// Whether the cells are in the usual order, and need no explanations: the URL, other cells that occur once, then
    /// the crawlers' cells.
    pub(crate) is_usual: bool,
    /// Whether each row has a cell with its own crawler's name.
    names_rows: bool,
    has_url: bool,
    /// Number of cells before the crawlers' cells, in the usual order.
    first_of_agents: usize,
    /// The cells for each agent's verdicts, followed by the combined verdict's cells. Each includes the text before it,
    /// and the last includes the text after it. All are empty if rows have individual cells.
    cells: Vec<[Fixed; 4]>,
    /// All cells for a row in which every agent has the same verdict, the most common case. Copying them at once takes
    /// a third of the time for thirty agents.
    alike: [Fixed; 4],
}

impl CellTexts {
    /// Prepares the cells of a decider's rows.
    pub(crate) fn new(decider: &Decider, format: AnswerFormat, has_row: bool, words: [String; 4]) -> CellTexts {
        let layout = decider.layout();
        let end = match (has_row, format) {
            (true, AnswerFormat::Jsonl) => Vec::new(),
            (true, _) => vec![format.separator()],
            (false, _) => format.row_end().to_vec(),
        };
        let rank = |column: &Column| match column {
            Column::Url => 0,
            column if column.is_once() => 1,
            _ => 2,
        };
        let mut texts = CellTexts {
            format,
            leads: format.leads(&layout.names(decider.crawlers())),
            end,
            words,
            is_usual: layout.order.is_sorted_by_key(rank) && !layout.explains(),
            names_rows: decider.is_by_row() && layout.columns.contains(&Column::Agent),
            has_url: layout.has_url(),
            first_of_agents: usize::from(layout.has_url()) + layout.once.len(),
            cells: Vec::new(),
            alike: [const { Vec::new() }; 4].map(Fixed::new),
        };
        let tallies = decider.agents().len() + usize::from(layout.any_of);
        let of = |at| VERDICTS.map(|verdict| texts.cells_of(decider, at, at + 1 == tallies, verdict));
        let cells: Vec<_> = (0..tallies).map(of).collect();
        texts.alike = VERDICTS.map(|verdict| {
            let of_all = cells.iter().map(|of_one| &of_one[verdict as usize]);
            Fixed::new(of_all.flat_map(|cell| &cell.bytes[..cell.len]).copied().collect())
        });
        CellTexts { cells, ..texts }
    }

    /// Returns the cells for one verdict, or nothing if rows have individual cells.
    fn cells_of(&self, decider: &Decider, at: usize, is_last: bool, verdict: Verdict) -> Fixed {
        let mut cells = Vec::new();
        let crawlers = decider.crawlers().names();
        if at < crawlers.len() {
            if self.is_usual && !self.names_rows {
                self.push_named(decider, at, &crawlers[at], verdict, &mut cells);
            }
        } else if let Some(lead) = self.leads.last() {
            cells.extend_from_slice(lead);
            let verdicts = vec![verdict; crawlers.len()];
            let row = DecidedRow { url: b"", verdicts: &verdicts, crawler: None, why: NO_TIME };
            decider.write_cell(Cell::AnyOf, &row, &mut self.out(&mut cells));
        }
        if is_last {
            cells.extend_from_slice(&self.end);
        }
        Fixed::new(cells)
    }

    fn out<'t>(&'t self, text: &'t mut Vec<u8>) -> TextCell<'t> {
        TextCell { format: self.format, words: &self.words, text }
    }

    /// Appends a crawler's cells, which need only its name and the verdict.
    fn push_named(&self, decider: &Decider, at: usize, name: &str, verdict: Verdict, text: &mut Vec<u8>) {
        let columns = &decider.layout().columns;
        let leads = self.leads.iter().skip(self.first_of_agents + at * columns.len());
        let row = DecidedRow { url: b"", verdicts: &[verdict], crawler: Some(name), why: NO_TIME };
        for (&column, lead) in columns.iter().zip(leads) {
            text.extend_from_slice(lead);
            decider.write_cell(Cell::Agent(0, column), &row, &mut self.out(text));
        }
    }

    /// Appends the cells before the prepared cells: the URL, and cells that occur once or name the row's crawler. With
    /// `is_plain`, the URL is copied unchanged.
    #[inline]
    #[allow(clippy::too_many_arguments, reason = "inlined into the loop over all rows")]
    pub(crate) fn push_lead(
        &self,
        decider: &Decider,
        line: &Line<'_>,
        verdicts: &[Verdict],
        fetched_at: Option<Time>,
        crawler: Option<&str>,
        is_plain: bool,
        text: &mut Text,
        buffer: &mut Vec<u8>,
    ) {
        let layout = decider.layout();
        if is_plain {
            text.push_start(line.rest, line.len);
        } else if let (true, Some(lead)) = (self.has_url, self.leads.first()) {
            buffer.clear();
            buffer.extend_from_slice(lead);
            self.format.push(line.url(), buffer);
            text.push(buffer);
        }
        if layout.once.is_empty() && !self.names_rows {
            return;
        }
        buffer.clear();
        let row = DecidedRow { url: b"", verdicts, crawler, why: RowReasons::Verdict { fetched_at, preferences: &[] } };
        let leads = self.leads.iter().skip(usize::from(self.has_url));
        for (&column, lead) in layout.once.iter().zip(leads) {
            buffer.extend_from_slice(lead);
            decider.write_cell(Cell::Once(column), &row, &mut self.out(buffer));
        }
        if self.names_rows {
            verdicts.iter().for_each(|&verdict| {
                self.push_named(decider, 0, crawler.unwrap_or_default(), verdict, buffer);
            });
        }
        text.push(buffer);
    }

    /// Appends a row's prepared cells, and counts the verdicts. Inlined because it runs for every input row.
    #[inline(always)]
    pub(crate) fn push_verdicts(&self, verdicts: &[Verdict], text: &mut Text, tally: &mut Tally) {
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

    /// Appends all of a row's cells individually, each after its lead, and the row's end.
    pub(crate) fn push_row(&self, decider: &Decider, row: &DecidedRow<'_>, text: &mut Vec<u8>) {
        self.push_cells(decider, 0..decider.order().len(), row, text);
        text.extend_from_slice(&self.end);
    }

    /// Appends some of a row's cells, each after its lead. `cells` are indexes among all cells.
    pub(crate) fn push_cells(
        &self,
        decider: &Decider,
        cells: std::ops::Range<usize>,
        row: &DecidedRow<'_>,
        text: &mut Vec<u8>,
    ) {
        for (&cell, lead) in decider.order()[cells.clone()].iter().zip(&self.leads[cells]) {
            text.extend_from_slice(lead);
            decider.write_cell(cell, row, &mut self.out(text));
        }
    }
}

/// Returns the verdict common to all agents, if there are several agents and they agree.
#[inline]
fn alike(verdicts: &[Verdict]) -> Option<&Verdict> {
    let (first, rest) = verdicts.split_first()?;
    (!rest.is_empty() && rest.iter().all(|verdict| verdict == first)).then_some(first)
}
