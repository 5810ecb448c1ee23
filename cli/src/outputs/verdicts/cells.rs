//! The cells of a row, by its verdicts: those that are the same for every row are made ready to be copied.

use reptile::Verdict;
use reptile_compiler::capture::Time;

use super::{Decider, VERDICTS, over_all};
use crate::outputs::columns::{Column, Explained, push_capture_time, push_verdict};
use crate::outputs::over_agents;
use crate::outputs::pieces::Fixed;

impl Decider {
    /// Whether each row has the name of its own crawler in a cell.
    pub(super) fn names_rows(&self) -> bool {
        self.layout.is_by_row && self.layout.columns.contains(&Column::Agent)
    }

    /// The cells of each verdict of each agent, and after them that of all together.
    pub(super) fn cells(&self) -> Vec<[Fixed; 4]> {
        (0..self.tallies()).map(|at| VERDICTS.map(|verdict| self.cells_of(at, verdict))).collect()
    }

    /// The cells of all agents, and of all together, where each has this verdict.
    pub(super) fn alike(&self, verdict: Verdict) -> Fixed {
        let cells = self.cells.iter().map(|cells| &cells[verdict as usize]);
        Fixed::new(cells.flat_map(|cell| &cell.bytes[..cell.len]).copied().collect())
    }

    /// The cells of one verdict; empty if rows have cells of their own.
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

    /// Appends the cells of the crawler at a place, which need no more than its name and the verdict.
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

    /// Appends the cells that a row has once, after the URL.
    pub(super) fn push_once(&self, verdicts: &[Verdict], fetched_at: Option<Time>, cells: &mut Vec<u8>) {
        let leads = self.leads.iter().skip(usize::from(self.layout.has_url));
        let format = self.layout.format;
        for (&column, lead) in self.layout.once.iter().zip(leads) {
            cells.extend_from_slice(lead);
            if column == Column::CaptureTime {
                push_capture_time(fetched_at, format, cells);
            } else {
                let taken = verdicts.iter().map(|&verdict| self.layout.taken[verdict as usize]);
                over_agents::push(column, format, &self.names, taken, cells);
            }
        }
    }

    /// Appends the cells of one crawler, by an explanation or by the reason why there is none.
    pub(super) fn push_cells<'l>(
        &self,
        explanation: Result<&Explained, &str>,
        agent: &str,
        verdict: Verdict,
        leads: impl Iterator<Item = &'l Vec<u8>>,
        cells: &mut Vec<u8>,
    ) {
        let shown = &self.shown[verdict as usize];
        for (column, lead) in self.layout.columns.iter().zip(leads) {
            cells.extend_from_slice(lead);
            match explanation {
                Ok(found) => column.push(found, agent, shown, self.layout.format, cells),
                Err(reason) => column.push_invalid(reason, agent, shown, self.layout.format, cells),
            }
        }
    }

    /// Appends the verdict over all agents to the verdicts and to the cells, if it is wanted.
    pub(super) fn push_over_all(&self, verdicts: &mut Vec<Verdict>, cells: &mut Vec<u8>) {
        if let (true, Some(lead)) = (self.layout.any_of, self.leads.last()) {
            let verdict = over_all(verdicts);
            verdicts.push(verdict);
            cells.extend_from_slice(lead);
            push_verdict(&self.shown[verdict as usize], self.layout.format, cells);
        }
    }
}
