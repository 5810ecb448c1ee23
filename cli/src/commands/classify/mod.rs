//! `reptile classify`: reads a list of URLs and writes it with verdict columns.
//!
//! [`plan`] resolves the options, and [`settings`] opens the set. [`decide`] decides one list, and [`many`] several, each
//! into a file of a folder. The threads and buffers are in [`pipeline`]; `reptile-columns` decides the rows.

mod args;
mod decide;
mod files;
mod kept;
mod lineage;
mod many;
mod pages;
mod pipeline;
mod plan;
mod rejects;
mod report;
mod settings;
pub mod totals;
mod written;

pub use self::args::Args;
use crate::error::{Exit, Result};
use crate::run::Run;
use crate::run::lineage::{InputState, OutputState};
use decide::decide;
use files::{Decided, Files};
use plan::{List, Lists, Plan};
use reptile_records::place::Place;
use settings::Settings;

/// Runs the command.
///
/// # Errors
/// Returns an error if the list or the set cannot be read, the set is damaged, or the output cannot be written.
pub fn run(args: Args, run: &Run) -> Result<Exit> {
    match plan::resolve(args)? {
        (plan, Lists::One(list)) => run_one(&plan, &list, run),
        (plan, Lists::Several(folder)) => many::run(&plan, &folder, run),
    }
}

/// Decides the only list.
fn run_one(plan: &Plan, list: &List, run: &Run) -> Result<Exit> {
    let outputs = [&list.output, &list.rejects, &list.report].into_iter().flatten();
    run.check_metrics_path([&plan.set, &list.urls], outputs)?;
    let files = Files::open(plan, list)?;
    let input = InputState::of(&list.urls);
    let settings = Settings::open(plan, false, run)?;
    let decided = decide(plan, list, files, &settings, (&input, None), run, |_, _, _| Ok(Vec::new()))?;
    let Decided { is_bad, totals, mut lineage, .. } = decided;
    let output = &list.output.clone().unwrap_or_else(Place::standard);
    lineage.outputs.push(OutputState::new(output, lineage.rows.written));
    lineage.outputs.extend(list.rejects.as_ref().map(|path| OutputState::new(path, Some(totals.invalid()))));
    lineage.outputs.extend(list.report.as_ref().map(|path| OutputState::new(path, None)));
    run.add(lineage);
    Ok(Exit::from_bad(settings.any_bad || is_bad))
}
