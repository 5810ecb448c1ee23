//! `reptile summarize`: what whole origins allow to crawlers.
//!
//! The proofs are the compiler's (`reptile_compiler::reason`). [`subjects`] finds the origins, [`keys`] names them,
//! [`statements`] makes each proof once, [`rows`] writes.

mod keys;
mod rows;
mod statements;
mod subjects;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile_compiler::dialect::crawlers::Resolved;
use reptile_engine::format::FormatError;
use reptile_engine::set::{Agent, Set};

use crate::error::{Exit, Failure, Result, Stop, note};
use crate::inputs::options::{CompileOptions, ExactAgent};
use crate::inputs::same::refuse_overwriting;
use crate::inputs::sets::agents::agents_of;
use crate::inputs::sets::report::Report;
use crate::inputs::sets::{Loaded, damaged};
use crate::outputs::columns::Format;
use crate::outputs::file::Output;
use crate::outputs::progress::Progress;
use crate::outputs::summary::{Summary, grouped, rate, seconds};
use crate::outputs::text::printable;
use keys::Key;
use rows::Rows;
use statements::{Access, Deciding, Statements};
use subjects::{Name, Subject, each_listed, each_stored};

/// The number of origins that are looked at together, on all threads.
const ORIGINS_AT_ONCE: usize = 8192;

/// Say of whole origins what they allow to crawlers
///
/// Writes a row for each origin of SET, or of ORIGINS, and each agent, in their order:
///   allowed     every URL of the origin is allowed
///   disallowed  every URL is disallowed, but for /robots.txt itself
///   partial     some URLs are allowed and some are not; a path of each is shown
///   unproved    which of these, the proof would have taken too long to say
///   unknown     SET has no robots.txt for an origin of ORIGINS
///   invalid     a line of ORIGINS is neither a URL nor a host
///
/// This is proved from all rules together, for all URLs that there can be. A probe of /
/// is not enough: Disallow: / with Allow: /$ allows / and nothing else.
///
/// The columns are the key, agent, access (one of the words above), group (named,
/// default or none), allow_rules and disallow_rules (the rules of the agent's groups),
/// reason (what decides, as `classify --reason` has it), allowed_path and
/// disallowed_path (for partial: a shortest path of each verdict, as a URL has it).
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile summarize web.reptile --agent GPTBot --agent CCBot -o access.tsv
  reptile summarize web.reptile --agent @ai-training --key domain,url --header
  reptile summarize web.reptile --agent CCBot --key surt --format jsonl -o access.jsonl.gz
  reptile summarize web.reptile hosts.txt --agent MyBot

Keys join other tables: host is the column url_host_name of Common Crawl's index,
domain url_host_registered_domain, and surt the start of urlkey. Of http and https, or of
example.com and www.example.com, each has its own row.

Exit code: 0 done, whatever is allowed; 1 SET was compiled from an input and some of
its files were bad; 2 the command could not go on, and no file is left by -o."
)]
pub struct Args {
    /// A set file; or what `reptile compile` takes as INPUT, to be compiled in memory
    #[arg(value_name = "SET")]
    set: PathBuf,
    /// A list with a URL or a host on each line, to speak of just these; a host stands for its https origin
    origins: Option<PathBuf>,
    /// A crawler: a product token, a chain of them, or a group of crawlers; may be given again, a row each
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    agents: Vec<String>,
    #[command(flatten)]
    exact: ExactAgent,
    /// The first columns, which name the origin, with commas between them [default: url]
    #[arg(long = "key", value_name = "NAMES", value_delimiter = ',', value_enum)]
    keys: Vec<Key>,
    /// How the output is written [default: tsv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write the names of the columns as the first line
    #[arg(long)]
    header: bool,
    /// Write to this file instead of standard output; it appears under its name only when it is whole
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace the output file if there is one
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    options: CompileOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// Runs the command.
///
/// # Errors
/// If the set cannot be read or is damaged, an argument is invalid, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let format = args.format.unwrap_or_default();
    if format == Format::Parquet {
        return Err(Failure::new("--format: a summary is written as tsv, csv or jsonl; only classify writes parquet"));
    }
    if args.header && format == Format::Jsonl {
        return Err(Failure::new("--header: JSON Lines have the names of the columns in each row"));
    }
    if let Some(output) = &args.output {
        refuse_overwriting(output, [args.set.as_path()].into_iter().chain(args.origins.as_deref()))?;
    }
    let mut output = match &args.output {
        Some(path) => Output::create(path, args.force)?,
        None => Output::stdout(),
    };
    let start = Instant::now();
    let loaded = Loaded::open(&args.set, &args.options)?;
    let set = loaded.verified()?;
    let agents = Agents::resolve(&set, &args.set, args)?;
    let keys = if args.keys.is_empty() { vec![Key::Url] } else { args.keys.clone() };
    let rows = Rows::new(format, keys);
    let header = if args.header { rows.header() } else { Vec::new() };
    let mut summarizer = Summarizer {
        set: &set,
        rows,
        statements: Statements::new(&set),
        tally: vec![[0; Access::ALL.len()]; agents.names.len()],
        agents,
        origins: 0,
    };
    let written = output
        .write_all(&header)
        .map_err(Stop::Write)
        .and_then(|()| summarizer.write_all(args.origins.as_deref(), &mut output));
    written.map_err(|stop| stop.failure(&output, &args.set))?;
    output.finish()?;
    summarizer.report(start);
    Ok(Exit::from_bad(loaded.report.as_ref().is_some_and(Report::any_bad)))
}

/// The agents to speak of.
struct Agents {
    names: Vec<String>,
    resolved: Vec<Agent>,
}

impl Agents {
    fn resolve(set: &Set<&[u8]>, path: &Path, args: &Args) -> Result<Agents> {
        let agents: Vec<Resolved> = agents_of(set, &args.agents, args.exact)?;
        let resolved = agents.iter().map(|agent| agent.look_up(set)).collect::<std::result::Result<_, _>>();
        let names = agents.into_iter().map(|agent| agent.name).collect();
        Ok(Agents { names, resolved: resolved.map_err(|error| damaged(path, &error))? })
    }
}

/// A summary that is being written.
struct Summarizer<'s> {
    set: &'s Set<&'s [u8]>,
    agents: Agents,
    rows: Rows,
    statements: Statements,
    origins: u64,
    /// How many origins say what, for each agent, in the order of [`Access::ALL`].
    tally: Vec<[u64; Access::ALL.len()]>,
}

impl<'s> Summarizer<'s> {
    /// Writes a row for each origin, of the list or else of the set, and each agent.
    fn write_all(&mut self, list: Option<&Path>, output: &mut Output) -> std::result::Result<(), Stop> {
        let set = self.set;
        let progress = match (output.is_terminal(), list) {
            (true, _) => Progress::hidden(),
            (false, None) => Progress::of("origins", Some(set.origin_count())),
            (false, Some(_)) => Progress::of("origins", None),
        };
        let mut batch: Vec<Subject<'s>> = Vec::new();
        let mut add = |subject| {
            batch.push(subject);
            if batch.len() == ORIGINS_AT_ONCE {
                progress.add(batch.len() as u64);
                self.write_batch(&batch, output)?;
                batch.clear();
            }
            Ok(())
        };
        match list {
            None => each_stored(set, &mut add)?,
            Some(list) => each_listed(set, list, &mut add)?,
        }
        self.write_batch(&batch, output)
    }

    /// Writes the rows of some origins.
    fn write_batch(&mut self, batch: &[Subject<'s>], output: &mut Output) -> std::result::Result<(), Stop> {
        let agents = &self.agents.resolved;
        let decide = |subject: &Subject<'s>| {
            let of = |agent| subject.policy.as_ref().map(|policy| Deciding::of(policy, agent)).transpose();
            agents.iter().map(of).collect()
        };
        let deciding: Vec<Vec<Option<Deciding>>> =
            batch.par_iter().map(decide).collect::<std::result::Result<_, FormatError>>()?;
        self.statements.examine(self.set, deciding.iter().flatten().flatten())?;
        let mut text = Vec::new();
        for (subject, deciding) in batch.iter().zip(&deciding) {
            for ((agent, deciding), tally) in self.agents.names.iter().zip(deciding).zip(&mut self.tally) {
                let said = match subject.name {
                    Name::Invalid(_) => Statements::invalid(),
                    _ => self.statements.said(deciding.as_ref()),
                };
                self.rows.push(&subject.name, agent, &said, &mut text);
                tally[said.access as usize] += 1;
            }
        }
        self.origins += batch.len() as u64;
        Ok(output.write_all(&text)?)
    }

    /// Prints the figures, and names the agents that no robots.txt names.
    fn report(&self, start: Instant) {
        let mut summary = Summary::default();
        summary.count("origins", self.origins);
        summary.count("distinct rulesets examined", self.statements.len() as u64);
        for ((name, agent), tally) in self.agents.names.iter().zip(&self.agents.resolved).zip(&self.tally) {
            let name = printable(name.as_bytes());
            let counts =
                Access::ALL.iter().zip(tally).filter(|&(access, &count)| *access != Access::Invalid || count > 0);
            let counts: Vec<String> =
                counts.map(|(access, &count)| format!("{} {}", access.name(), grouped(count))).collect();
            summary.row(format!("agent {name}"), counts.join(", "));
            if !agent.is_named() && agent.honours_default_group() {
                note(format_args!("agent {name} is named by no robots.txt of this set; the rules for * apply"));
            }
        }
        let time = start.elapsed();
        summary.row("time", format!("{}, {} origins/s", seconds(time), rate(self.origins, time)));
        summary.print();
    }
}
