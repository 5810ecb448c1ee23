//! `reptile merge`: merges sets into one.

use reptile::settings::Strategy;
use reptile::{Dialect, Profile};

use super::compile::Target;
use crate::error::{Exit, Failure, Result};
use crate::failures::{Failures, KeepGoing};
use crate::inputs::FilesFrom;
use crate::options::{CompileOptions, Omitted, SetOptions};
use crate::run::Run;
use crate::run::metrics::MetricsOptions;
use crate::sets::Loaded;
use crate::sets::assemble::assemble_with;
use reptile_records::place::Place;

/// Merge sets into one
///
/// The new set is byte for byte the set that `reptile compile` would make from all inputs
/// of the sets, because a set keeps all data that later captures may affect. So a large
/// input can be compiled in parts, on several machines, and merged in any order. A redirect
/// or revisit in a WARC file is resolved only among inputs that are compiled together; the
/// number of unresolved ones is printed if SET.made.json records it.
///
/// The sets must have been made with the same dialect and fetch profile, and all or none
/// with --by-time. The new set's time is the latest of their times. Two sets may have
/// different files for one origin if their times or statuses determine which one counts.
/// Otherwise, as for files in folders, that is an error.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:
  reptile merge part-1.reptile part-2.reptile part-3.reptile -o web.reptile

Exit code: 0 done; 1 sets were left out (--keep-going); 2 the sets cannot be merged, or the new one cannot be written."
)]
pub struct Args {
    /// The sets to merge
    #[arg(required_unless_present = "files_from", value_name = "SET")]
    sets: Vec<Place>,
    #[command(flatten)]
    files_from: FilesFrom,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    keep_going: KeepGoing,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if a set cannot be read, if the sets cannot be merged, or if the new one cannot be written.
pub fn run(args: &Args, run: &Run) -> Result<Exit> {
    let mut failures = Failures::new(args.keep_going);
    let paths = args.files_from.expand(&args.sets)?;
    let result = merge(args, &paths, run, &mut failures);
    failures.close(run, paths.len(), result)
}

/// Merges the sets. Those left out go to `failures`.
fn merge(args: &Args, paths: &[Place], run: &Run, failures: &mut Failures) -> Result<Exit> {
    let outputs = args.target.open(paths.iter(), run)?;
    let mut sets = Vec::new();
    for path in paths {
        let set = Loaded::open_set(path).and_then(|loaded| {
            // Merging finds damage later, when a set can no longer be left out.
            if failures.keeps_going() {
                loaded.verified()?;
            }
            Ok(loaded)
        });
        sets.extend(failures.keep(path, set)?);
    }
    let used: Vec<Place> = failures.without(paths).cloned().collect();
    let Some((first, path)) = sets.first().zip(used.first()) else {
        return Err(Failure::new("no set is left to merge"));
    };
    let mut options = options_of(first, path)?;
    // One set's lines are kept even if another set has no lines.
    for set in &sets {
        if set.set()?.has_lines() {
            options.omit.clear();
        }
    }
    let (set, report) = assemble_with(&outputs.budget, &[], &options, sets, None, failures)?;
    outputs.publish(set, &used, &report, None, run)?;
    Ok(Exit::Done)
}

/// Returns the options that a set was compiled with, as far as it records them, without the time.
///
/// # Errors
/// Returns an error if the dialect, the fetch profile or the automaton construction is unknown to this version.
pub fn options_of(loaded: &Loaded, path: &Place) -> Result<CompileOptions> {
    let set = loaded.set()?;
    let reading = set.reading();
    let unknown = |what: &str, name: &str| {
        Failure::at(path, format!("was made with the {what} {name}, which is unknown to this version"))
    };
    let form = set.automata_form();
    Ok(CompileOptions {
        set: SetOptions {
            dialect: Some(Dialect::from_name(reading.dialect).ok_or_else(|| unknown("dialect", reading.dialect))?),
            profile: Some(
                Profile::from_name(reading.profile).ok_or_else(|| unknown("fetch profile", reading.profile))?,
            ),
            host: None,
        },
        strategy: Some(
            Strategy::from_form(form).ok_or_else(|| unknown("construction of automata", &format!("{form:#x}")))?,
        ),
        by_time: set.has_times(),
        omit: if set.has_lines() { Vec::new() } else { vec![Omitted::Lines] },
        ..CompileOptions::default()
    })
}
