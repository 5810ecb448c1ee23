//! `reptile update`: adds captures to a set and writes a new set.

use std::path::PathBuf;

use reptile::Scheme;

use super::compile::Target;
use super::merge::options_of;
use crate::error::{Exit, Result};
use crate::options::{ArchiveOptions, CompileOptions, schemes};
use crate::sets::assemble::assemble_with;
use crate::sets::{Loaded, refuse_swapped};
use reptile_records::Inputs;
use reptile_records::globs::expand;
use reptile_records::time::Zone;

/// Add captures to a set
///
/// The new set equals the one that `reptile compile` makes of the old and the new captures
/// together, byte for byte, without reading the old ones again. Only redirects and revisits
/// in WARC files are resolved among the new captures alone. The dialect, the fetch profile,
/// --by-time and --no-lines are taken from the old set. A set does not record --no-other:
/// give that again. The old set is not changed, unless --output names it and --force is
/// given.
///
/// An INPUT is what `reptile compile` takes. Of several captures for one origin the profile
/// chooses by their times; where neither the old file nor the new one has a time and they
/// differ, that is an error.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:
  reptile update web.reptile refetched.jsonl.gz -o web-2.reptile

Exit code: 0 done; 1 some files were bad and left out; 2 the set could not be
written, or two files are for one origin and nothing says which counts."
)]
pub struct Args {
    /// The set
    #[arg(value_name = "SET")]
    set: PathBuf,
    /// What to add
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    target: Target,
    /// The schemes that a file named after a host counts for; may be given again [default: http and https]
    #[arg(long = "scheme", value_name = "SCHEME", value_parser = schemes())]
    schemes: Vec<Scheme>,
    /// The host, when INPUT is a single robots.txt; or its URL, which says the scheme too
    #[arg(long, value_name = "HOST[:PORT]")]
    host: Option<String>,
    /// Leave out the other directives of what is added: Sitemap, Crawl-delay and the like
    #[arg(long)]
    no_other: bool,
    /// The zone of times that are written without one: UTC, an offset, or a name such as Europe/Berlin [default: UTC]
    ///
    /// Offsets are written as +02:00. Names come from the system's time zone database.
    #[arg(
        long,
        value_name = "ZONE",
        value_parser = Zone::of_name,
        default_value = "UTC",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    timezone: Zone,
    #[command(flatten)]
    archives: ArchiveOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the set or an input cannot be read, if they cannot be combined, or if the new set cannot be
/// written.
pub fn run(args: &Args) -> Result<Exit> {
    refuse_swapped("update", &args.set, args.inputs.first().and_then(|input| input.to_str()))?;
    let mut inputs = expand(&args.inputs)?;
    let outputs = args.target.open(inputs.iter().map(PathBuf::as_path))?;
    let old = Loaded::open_set(&args.set)?;
    let options = CompileOptions {
        schemes: args.schemes.clone(),
        host: args.host.clone(),
        no_other: args.no_other,
        timezone: args.timezone.clone(),
        archives: args.archives,
        ..options_of(&old, &args.set)?
    };
    let (set, report) = assemble_with(&outputs.room, Inputs::Paths(&inputs), &options, std::slice::from_ref(&old))?;
    drop(old);
    inputs.push(args.set.clone());
    outputs.publish(set, &inputs, &options, &report, None)?;
    Ok(Exit::from_bad(report.any_bad()))
}
