//! A row's verdict cells. Cells that are the same for every row are prepared for copying.

use reptile::Verdict;
use reptile::capture::Time;

use super::{Decider, VERDICTS, over_all};
use crate::outputs::columns::{Cell, Column, Explained, push_capture_time, push_verdict};
use crate::outputs::over_agents;
use crate::outputs::pieces::Fixed;

impl Decider {
    /// Returns whether each row has a cell with its own crawler's name.
    pub(super) fn names_rows(&self) -> bool {
        self.layout.is_by_row && self.layout.columns.contains(&Column::Agent)
    }

    /// Returns the cells for each agent's verdicts, followed by the cells for the combined verdict.
    pub(super) fn cells(&self) -> Vec<[Fixed; 4]> {
        (0..self.tallies()).map(|at| VERDICTS.map(|verdict| self.cells_of(at, verdict))).collect()
    }

    /// Returns the agent cells and the combined cell for a row in which every agent has this verdict.
    pub(super) fn alike(&self, verdict: Verdict) -> Fixed {
        let cells = self.cells.iter().map(|cells| &cells[verdict as usize]);
        Fixed::new(cells.flat_map(|cell| &cell.bytes[..cell.len]).copied().collect())
    }

    /// Returns the cells for one verdict, or nothing if rows have individual cells.
    fn cells_of(&self, at: usize, verdict: Verdict) -> Fixed {
        let mut cells = Vec::new();
        if let Some(name) = self.names.get(at) {
            if !self.layout.explains() && !self.names_rows() {
                self.push_named(at, name, verdict, &mut cells);
            }
        } else if let Some(lead) = self.leads.last() {
            cells.extend_from_slice(lead);
            push_verdict(&self.shown[verdict as usize], self.layout.format, &mut cells);
        }
        if at + 1 == self.tallies() {
            cells.extend_from_slice(&self.end);
        }
        Fixed::new(cells)
    }

    /// Appends a crawler's cells, which need only its name and the verdict.
    pub(super) fn push_named(&self, at: usize, name: &str, verdict: Verdict, cells: &mut Vec<u8>) {
        let columns = &self.layout.columns;
        let leads = self.leads.iter().skip(self.layout.first_of_agents() + at * columns.len());
        for (column, lead) in columns.iter().zip(leads) {
            cells.extend_from_slice(lead);
            match column {
                Column::Agent => self.layout.format.push(name.as_bytes(), cells),
                _ => push_verdict(&self.shown[verdict as usize], self.layout.format, cells),
            }
        }
    }

    /// Appends the once-per-row cells after the URL, if they depend only on verdicts.
    pub(super) fn push_once(&self, verdicts: &[Verdict], cells: &mut Vec<u8>) {
        let leads = self.leads.iter().skip(usize::from(self.layout.has_url));
        for (&column, lead) in self.layout.once.iter().zip(leads) {
            cells.extend_from_slice(lead);
            let taken = verdicts.iter().map(|&verdict| self.layout.taken[verdict as usize]);
            over_agents::push(column, self.layout.format, &self.names, taken, cells);
        }
    }

    /// Appends some of a row's cells, each after its prefix. `cells` are indexes among all cells.
    pub(super) fn push_cells(&self, cells: std::ops::Range<usize>, row: &Known<'_>, text: &mut Vec<u8>) {
        let (format, taken) = (self.layout.format, self.layout.taken);
        let places = self.order[cells.clone()].iter().zip(&self.leads[cells]);
        for (&cell, lead) in places {
            text.extend_from_slice(lead);
            match cell {
                Cell::Url => format.push(row.url, text),
                Cell::Once(Column::CaptureTime) => push_capture_time(row.fetched_at, format, text),
                Cell::Once(column) => {
                    let taken = row.verdicts.iter().map(|&verdict| taken[verdict as usize]);
                    over_agents::push(column, format, &self.names, taken, text);
                }
                Cell::Agent(at, column) => {
                    let name = row.crawler.or(self.names.get(at).map(String::as_str)).unwrap_or_default();
                    let shown = &self.shown[row.verdicts[at] as usize];
                    match row.explained.map(|explained| &explained[at]) {
                        Some(Ok(found)) => column.push(found, name, shown, format, text),
                        Some(Err(reason)) => column.push_invalid(reason, name, shown, format, text),
                        None if column == Column::Agent => format.push(name.as_bytes(), text),
                        None => push_verdict(shown, format, text),
                    }
                }
                Cell::AnyOf => push_verdict(&self.shown[over_all(row.verdicts) as usize], format, text),
            }
        }
    }
}

/// The data of a row whose cells are written individually.
pub(super) struct Known<'k> {
    /// The URL.
    pub url: &'k [u8],
    /// The verdict for each crawler.
    pub verdicts: &'k [Verdict],
    /// The crawler's name in the row, if rows name crawlers.
    pub crawler: Option<&'k str>,
    /// The fetch time of the deciding capture, if it is known and requested.
    pub fetched_at: Option<Time>,
    /// Each crawler's explanation, or the reason why there is none. `None` if the verdicts suffice.
    pub explained: Option<&'k [Result<Explained, &'k str>]>,
}
