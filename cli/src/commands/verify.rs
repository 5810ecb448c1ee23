//! `reptile verify`: reads every byte of a set file and reports whether it is valid.

use std::time::Instant;

use reptile::{Error, ErrorKind, Set};

use crate::error::{Exit, Failure, Result, damaged};
use crate::outputs::file::print;
use crate::outputs::identity::Identity;
use crate::outputs::progress::Progress;
use crate::outputs::style::Style;
use crate::outputs::summary::{grouped, seconds};
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, SetState};
use crate::run::metrics::MetricsOptions;
use crate::sets::Loaded;
use reptile_records::place::Place;
use reptile_records::text::printable;

/// Check every byte of a set file
///
/// Checks that no byte has changed since the set was written, and that every part is well
/// formed. A set from an untrusted source can pass and still give verdicts that differ from
/// its rules; --deep detects that too. To check only that your own set has arrived complete,
/// use --checksums, which is as fast as memory or the disk.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile verify web.reptile
  reptile verify --deep web.reptile
  reptile verify --checksums web.reptile

Exit code: 0 the set is valid; 2 it is damaged, cannot be read, or --deep cannot
compare it."
)]
pub struct Args {
    /// The set file
    set: Place,
    /// Also recompile each ruleset from the rules that it lists, and compare every byte
    ///
    /// Takes about as long as compiling the set.
    #[arg(long)]
    deep: bool,
    /// Only compare checksums: check that no byte has changed since the set was written
    ///
    /// This does not detect a set that was made to deceive.
    #[arg(long, conflicts_with = "deep")]
    checksums: bool,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the set is damaged or cannot be read, or its rulesets do not answer as the rules that they list.
pub fn run(args: &Args, run: &Run) -> Result<Exit> {
    run.check_metrics_path([&args.set], [])?;
    let loaded = Loaded::open_set(&args.set)?;
    let identity = run.has_metrics().then(|| Identity::of(loaded.bytes()));
    let state = SetState::of(&args.set, &loaded.set()?, loaded.bytes().len() as u64, identity);
    let inputs = vec![InputState { rows: Some(state.origins), ..InputState::of(&args.set) }];
    run.add(Lineage { set: Some(state), inputs, ..run.lineage() });
    let size = loaded.bytes().len() as u64;
    let progress = Progress::of_time(&format!("checking {} bytes", grouped(size)));
    if args.checksums {
        let checked = loaded.set()?.verify_checksums();
        drop(progress);
        checked.map_err(|error| damaged(&args.set, &error))?;
        let set = printable(args.set.as_os_str().as_encoded_bytes());
        print(format!("{set}: {}, {} bytes\n", Style::Good.of("unchanged"), grouped(size)))?;
        return Ok(Exit::Done);
    }
    let set = loaded.into_set()?;
    let checked = if args.deep { verify_deep(&set) } else { set.verify().map(|()| String::new()) };
    drop(progress);
    let recompiled = checked.map_err(|error| failure(&args.set, error))?;
    print(format!(
        "{}: {}, {} origins, {} rulesets, {} bytes{recompiled}\n",
        printable(args.set.as_os_str().as_encoded_bytes()),
        Style::Good.of("valid"),
        grouped(set.len()),
        grouped(set.ruleset_count().into()),
        grouped(size),
    ))?;
    Ok(Exit::Done)
}

/// Checks every byte and every ruleset, and returns what to add to the report.
fn verify_deep(set: &Set) -> std::result::Result<String, Error> {
    let start = Instant::now();
    set.verify_deep()?;
    Ok(format!(", every ruleset recompiled in {}", seconds(start.elapsed())))
}

/// Returns the error for a set that fails verification.
fn failure(path: &Place, error: Error) -> Failure {
    if error.kind() == ErrorKind::OtherCompiler {
        let advice = "made by another version of the compiler; compile the set again, or verify it without --deep";
        return Failure::at(path, advice);
    }
    Failure::at(path, error)
}
