//! `reptile audit`: checks whether the crawlers in access logs obeyed robots.txt.
//!
//! [`logs`] reads the logs, merges them by time and decides their requests on all threads. `reptile-columns` counts the
//! requests. [`violations`] writes a row for each disallowed request, [`summary`] prints the counts as text or JSON,
//! and [`page`] draws them.

mod args;
mod findings;
mod logs;
mod page;
mod summary;
mod violations;

use std::time::Instant;

use reptile::Set;
use reptile_columns::audit::Audit;

pub use self::args::Args;
use self::findings::Findings;
use self::logs::Logs;
use self::violations::Violations;
use crate::error::{Exit, Failure, Result, note};
use crate::outputs::file::{Output, publish};
use crate::outputs::identity::Identity;
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, OutputState, RowCounts, SetState};
use crate::same_file::{is_same_place, refuse_overwriting};
use crate::sets::report::Report;
use crate::sets::{Loaded, takes_host};
use reptile_records::place::Place;

/// Runs the command.
///
/// # Errors
/// Returns an error if the set or a log cannot be read, an argument is invalid, or an output cannot be written.
pub fn run(args: &Args, run: &Run) -> Result<Exit> {
    let paths = args.files_from.expand(&args.logs)?;
    refuse_same_files(args, &paths)?;
    run.check_metrics_path([&args.set].into_iter().chain(&paths), args.outputs())?;
    let mut violations = Violations::create(args)?;
    let page = Output::create_beside("--report", args.report.as_ref(), args.force)?;
    let start = Instant::now();
    let identities = args.identities()?;
    let opened = OpenSet::open(args)?;
    let set = &opened.set;
    let inputs: Vec<InputState> = paths.iter().map(InputState::of).collect();
    let mut audit = Audit::new(set);
    let logs = Logs::open(args, set, identities.clone(), &paths)?.audit(&mut audit, &mut violations)?;
    let audited = audit.finish();
    let findings = Findings { args, set, audited: &audited, logs: &logs, identities: identities.as_deref() };
    let mut complete = violations.complete()?;
    if let Some(output) = page {
        complete.extend(page::write(&findings, output)?);
    }
    summary::print(&findings, start.elapsed())?;
    publish(complete)?;
    let rows = RowCounts { read: Some(logs.rows), without_agent: Some(logs.unnamed), ..RowCounts::default() };
    let mut lineage = Lineage { set: Some(opened.state), inputs, rows, ..run.lineage() };
    let written = [(&args.violations, Some(logs.written)), (&args.report, None)];
    lineage.outputs.extend(written.iter().filter_map(|(path, rows)| Some(OutputState::new(path.as_ref()?, *rows))));
    run.add(lineage);
    Ok(Exit::from_bad(opened.any_bad || logs.is_bad))
}

/// The set of an audit.
struct OpenSet {
    set: Set,
    state: SetState,
    /// Whether the set was compiled from an input with bad files.
    any_bad: bool,
}

impl OpenSet {
    /// Opens a set, or compiles an input with the rules of every time.
    fn open(args: &Args) -> Result<OpenSet> {
        let is_set = Loaded::is_set(&args.set)?;
        let mut options = args.set_options.with_defaults();
        options.zone = args.zone.clone();
        options.by_time = !is_set;
        if !takes_host(&args.set, is_set) {
            options.set.host = None;
        }
        let loaded = Loaded::open(&args.set, &options)?;
        let any_bad = loaded.report.as_ref().is_some_and(Report::any_bad);
        let identity = Some(Identity::of(loaded.bytes()));
        let state = SetState::of(&args.set, &loaded.set()?, loaded.bytes().len() as u64, identity);
        let set = loaded.into_set()?;
        set.verify().map_err(|error| Failure::at(&args.set, error))?;
        if !set.has_times() {
            let path = args.set.display();
            note(format_args!(
                "{path}: is a compiled set without times: its rules apply to every request, without a grace \
                 period; `reptile compile --by-time` keeps the rules of each time"
            ));
        }
        Ok(OpenSet { set, state, any_bad })
    }
}

/// Rejects a log that is given twice, an output that is an input, and two outputs with one name.
fn refuse_same_files(args: &Args, logs: &[Place]) -> Result<()> {
    for (at, log) in logs.iter().enumerate() {
        if logs[..at].iter().any(|other| is_same_place(log, other)) {
            return Err(Failure::at(log, "is given twice; its requests would count twice"));
        }
    }
    let outputs: Vec<&Place> = args.outputs().collect();
    for output in &outputs {
        refuse_overwriting(output, logs.iter().chain([&args.set]))?;
    }
    match outputs[..] {
        [one, other] if is_same_place(one, other) => {
            Err(Failure::at(other, "is --violations too; choose another name for --report"))
        }
        _ => Ok(()),
    }
}
