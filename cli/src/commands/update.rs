//! `reptile update`: adds captures to a set and writes a new set.

use reptile::Scheme;

use super::compile::Target;
use super::merge::options_of;
use crate::error::{Exit, Result};
use crate::failures::{Failures, KeepGoing};
use crate::inputs::FilesFrom;
use crate::options::{ArchiveOptions, CompileOptions, Omitted, SetOptions, ZoneOption, schemes};
use crate::run::Run;
use crate::run::metrics::MetricsOptions;
use crate::sets::assemble::assemble_with;
use crate::sets::{Loaded, refuse_swapped};
use reptile_records::place::Place;

/// Add captures to a set
///
/// The new set is byte for byte the set that `reptile compile` would make from the old and
/// the new captures, but the old captures are not read again. The only exception: redirects
/// and revisits in WARC files are resolved among the new captures alone. The dialect, the
/// fetch profile, --by-time and --omit lines are taken from the old set. A set does not
/// record --omit other: give it again. The old set does not change, unless --output names it and
/// --force is given.
///
/// An INPUT is as in `reptile compile`. The profile chooses among several captures for one
/// origin by time. If an old and a new file differ and neither has a time, that is an error.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:
  reptile update web.reptile refetched.jsonl.gz -o web-2.reptile

Exit code: 0 done; 1 some files were bad and left out; 2 an input cannot be read
to its end (without --keep-going), nothing determines which of two files for an
origin counts, or the set could not be written."
)]
pub struct Args {
    /// The set
    #[arg(value_name = "SET")]
    set: Place,
    /// What to add
    #[arg(required_unless_present = "files_from", value_name = "INPUT")]
    inputs: Vec<Place>,
    #[command(flatten)]
    files_from: FilesFrom,
    #[command(flatten)]
    target: Target,
    /// The schemes that apply to a file named after a host; can be repeated [default: http and https]
    #[arg(long = "scheme", value_name = "SCHEME", value_parser = schemes())]
    schemes: Vec<Scheme>,
    /// The host, if INPUT is a single robots.txt; or its URL, which also gives the scheme
    ///
    /// INPUT may also be a folder or archive of this host's captures, named after their times.
    #[arg(long, value_name = "HOST[:PORT]")]
    host: Option<String>,
    /// Leave out parts of the added captures: only other, which is Sitemap, Crawl-delay and the like
    #[arg(long, value_name = "WHAT", value_parser = ["other"])]
    omit: Option<String>,
    #[command(flatten)]
    keep_going: KeepGoing,
    #[command(flatten)]
    zone: ZoneOption,
    #[command(flatten)]
    archives: ArchiveOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the set or an input cannot be read, if they cannot be combined, or if the new set cannot be
/// written.
pub fn run(args: &Args, run: &Run) -> Result<Exit> {
    refuse_swapped("update", &args.set, args.inputs.first().and_then(|input| input.as_os_str().to_str()))?;
    let inputs = args.files_from.expand(&args.inputs)?;
    let mut failures = Failures::new(args.keep_going);
    let result = update(args, &inputs, run, &mut failures);
    failures.close(run, inputs.len(), result)
}

/// Adds the inputs to the set. Those left out go to `failures`.
fn update(args: &Args, inputs: &[Place], run: &Run, failures: &mut Failures) -> Result<Exit> {
    let outputs = args.target.open(inputs.iter(), run)?;
    let old = Loaded::open_set(&args.set)?;
    let of_set = options_of(&old, &args.set)?;
    let omit = of_set.omit.iter().copied().chain(args.omit.is_some().then_some(Omitted::Other)).collect();
    let options = CompileOptions {
        set: SetOptions { host: args.host.clone(), ..of_set.set.clone() },
        schemes: args.schemes.clone(),
        omit,
        zone: args.zone.clone(),
        archives: args.archives,
        ..of_set
    };
    let (set, report) = assemble_with(&outputs.budget, inputs, &options, vec![old], None, failures)?;
    let used: Vec<Place> = failures.without(inputs).chain([&args.set]).cloned().collect();
    outputs.publish(set, &used, &report, None, run)?;
    Ok(Exit::from_bad(report.any_bad()))
}
