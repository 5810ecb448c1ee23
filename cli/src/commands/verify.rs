//! `reptile verify`: reads every byte of a set file and reports whether it is valid, or decides exported rows again.

mod rows;

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
///
/// --row decides rows of `classify` or `audit` again, and shows what decides each. A row
/// is refused if its verdict, line, rule, capture_time or capture differs. Each row needs
/// url and verdict, and its crawler: the column agent or crawler, columns such as
/// GPTBot:verdict, or --agent. In a set by time, the column time is the row's time; without
/// it, the set's own time counts. Rows of `classify --scope` or `--treat` may differ.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile verify web.reptile
  reptile verify --deep web.reptile
  reptile verify --checksums web.reptile
  reptile verify years.reptile --row violations.tsv

Exit code: 0 the set is valid, and no row is refused; 1 a row is refused; 2 the set is
damaged or cannot be read, --deep cannot compare it, or --row lacks a column."
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
    /// Decide the rows of this table again: TSV or CSV with a header, or JSON Lines; - is standard input
    ///
    /// The set's checksums are compared first.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["deep", "checksums"])]
    row: Option<Place>,
    /// The crawler of rows that do not name one
    #[arg(long, value_name = "NAME", requires = "row")]
    agent: Option<String>,
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
    run.check_metrics_path([&args.set].into_iter().chain(&args.row), [])?;
    let loaded = Loaded::open_set(&args.set)?;
    let identity = run.has_metrics().then(|| Identity::of(loaded.bytes()));
    let state = SetState::of(&args.set, &loaded.set()?, loaded.bytes().len() as u64, identity);
    let mut inputs = vec![InputState { rows: Some(state.origins), ..InputState::of(&args.set) }];
    inputs.extend(args.row.iter().map(InputState::of));
    run.add(Lineage { set: Some(state), inputs, ..run.lineage() });
    let size = loaded.bytes().len() as u64;
    let progress = Progress::of_time(&format!("checking {} bytes", grouped(size)));
    if args.checksums || args.row.is_some() {
        let checked = loaded.set()?.verify_checksums();
        drop(progress);
        checked.map_err(|error| damaged(&args.set, &error))?;
        if let Some(file) = &args.row {
            return rows::verify(&loaded.into_set()?, &args.set, file, args.agent.as_deref());
        }
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
