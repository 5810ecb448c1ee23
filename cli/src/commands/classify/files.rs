//! One list's files: its input and its outputs, and the counts that deciding it yields.

use std::time::Duration;

use super::plan::{List, Plan};
use super::rejects::Rejects;
use super::report::Report;
use super::totals::Totals;
use crate::error::{Failure, Result};
use crate::outputs::file::Output;
use crate::run::lineage::Lineage;
use crate::same_file::{is_same_place, refuse_overwriting};
use reptile_columns::TableDecider;
use reptile_records::pages::Pages;
use reptile_records::place::Place;
use reptile_records::tables::source::Source;

/// An open list.
pub enum Input {
    Table(Source),
    /// An archive of pages, with `--rights`.
    Pages(Box<Pages>),
}

/// The input and outputs of one list.
pub struct Files {
    pub source: Input,
    pub output: Output,
    pub rejects: Rejects,
    pub report: Report,
}

impl Files {
    /// Opens the list and its outputs.
    ///
    /// # Errors
    /// Returns an error if the list cannot be read, or if an output cannot be written or is an input.
    pub fn open(plan: &Plan, list: &List) -> Result<Files> {
        refuse_same_files(plan, list)?;
        let source = match &plan.rights.rights {
            Some(_) => Input::Pages(Box::new(Pages::open(&list.urls, plan.resync)?)),
            None => Input::Table(Source::open(&list.urls)?),
        };
        let output = match &list.output {
            Some(path) => Output::create(path, list.force)?,
            None => Output::stdout(),
        };
        let rejects = Rejects::create(list.rejects.as_ref(), list.force)?;
        Ok(Files { source, output, rejects, report: Report::create(list.report.as_ref(), list.force)? })
    }
}

/// Opens the output for the part with a number.
pub type NextOutput = Box<dyn FnMut(u32) -> Result<Output> + Send>;

/// A list that was decided.
pub struct Decided {
    /// Whether most rows are invalid, or the last one has an unclosed quote.
    pub is_bad: bool,
    pub totals: Totals,
    pub decider: TableDecider,
    pub time: Duration,
    /// Without the output.
    pub lineage: Lineage,
}

/// Rejects an output that is an input, and two outputs with one name.
fn refuse_same_files(plan: &Plan, list: &List) -> Result<()> {
    let outputs = [("the output", &list.output), ("--rejects", &list.rejects), ("--report", &list.report)];
    let outputs: Vec<(&str, &Place)> =
        outputs.iter().filter_map(|(what, path)| Some((*what, path.as_ref()?))).collect();
    for (place, (what, output)) in outputs.iter().enumerate() {
        refuse_overwriting(output, [&plan.set, &list.urls])?;
        if let Some((other, _)) = outputs[..place].iter().find(|(_, other)| is_same_place(output, other)) {
            return Err(Failure::at(*output, format!("is {other} too; choose another name for {what}")));
        }
    }
    Ok(())
}
