//! `reptile summarize`: crawler access per origin.
//!
//! The proofs come from the compiler (`reptile::reason`). [`subjects`] finds the origins, [`sites`] groups them into
//! sites, [`keys`] names them, [`Statements`] makes each proof once, and [`rows`] writes the output.

mod keys;
mod rows;
mod sites;
mod subjects;

use std::time::Instant;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile::contents::{Agent, FormatError, Set};
use reptile::crawlers::Resolved;
use reptile::summary::{
    Access, DecidingRules, DecidingUsage, Statements, Summary as Row, UsageAccess, UsageStatements,
};
use reptile::usage::Uses;

use crate::error::{Exit, Failure, Result, Stop, damaged, note};
use crate::options::{SetOptions, UsageOptions, answer_formats};
use crate::outputs::endings::{chosen_format, names_in_schema};
use crate::outputs::file::Output;
use crate::outputs::identity::Identity;
use crate::outputs::progress::Progress;
use crate::outputs::sink::Sink;
use crate::outputs::summary::{Summary, grouped, rate, seconds};
use crate::run::Run;
use crate::run::lineage::{AgentVerdicts, InputState, Lineage, METADATA_KEY, OutputState, RowCounts, SetState};
use crate::run::metrics::MetricsOptions;
use crate::same_file::refuse_overwriting;
use crate::sets::agents::agents_of;
use crate::sets::report::Report;
use crate::sets::{Loaded, note_without_times, refuse_swapped};
use keys::OriginKey;
use reptile_columns::{AnswerFormat, AnswerRows};
use reptile_records::place::Place;
use reptile_records::text::printable;
use rows::RowWriter;
use sites::{Agreement, ORIGINS, Site, each_listed_site, each_stored_site};
use subjects::{Name, Subject, each_listed, each_stored};

/// Number of origins or sites per batch. All threads share a batch.
const ORIGINS_AT_ONCE: usize = 8192;

/// Summarize access per origin
///
/// Writes a row for each origin of SET, or of ORIGINS, and each agent, in their order:
///   allowed     every URL of the origin is allowed
///   disallowed  every URL is disallowed, except /robots.txt itself
///   partial     some URLs are allowed and some are not; a path of each is shown
///   unproved    one of the above, but the proof would have taken too long
///   unknown     SET has no robots.txt for an origin of ORIGINS
///   invalid     a line of ORIGINS is neither a URL nor a host
///
/// This is proved from all rules together, for all possible URLs. Testing / is not enough:
/// Disallow: / with Allow: /$ allows / and nothing else.
///
/// The columns are the key, agent, access (one of the words above), group (named,
/// default or none), allow_rules and disallow_rules (numbers of rules in the agent's
/// groups), reason (as in `classify`), allowed_path and disallowed_path (for
/// partial: a shortest path with each verdict, as in a URL), and one for each use in --usage:
///   allowed, disallowed     the same for every URL that may be fetched
///   partial                 it differs between URLs that may be fetched
///   unknown                 nothing is said about any URL that may be fetched, or SET has no
///                           robots.txt
///   not-applicable          no URL may be fetched
///   unproved, invalid       as above
/// With --by-site, they are the
/// key, agent, https, http, https_www and http_www (the words for access, for the host without
/// and with www.), and agree: yes if the origins in SET have the same access, for partial by
/// the same rules, no if they do not, and empty if SET has fewer than two of them.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile summarize web.reptile --agent GPTBot --agent CCBot -o access.tsv
  reptile summarize web.reptile --agent @ai-training --key domain,url --header
  reptile summarize web.reptile --agent CCBot --key surt --format jsonl -o access.jsonl.gz
  reptile summarize web.reptile hosts.txt --agent MyBot
  reptile summarize web.reptile --agent MyBot --by-site --format parquet -o sites.parquet
  reptile summarize web.reptile --agent MyBot --usage train-ai,search --usage-from both -o uses.tsv

Keys match other tables: host is the column url_host_name of Common Crawl's index,
domain is url_host_registered_domain, and surt is the start of urlkey. http and https, and
example.com and www.example.com, have separate rows unless --by-site combines them.

Exit code: 0 done, regardless of the access; 1 SET was compiled from an input with bad
files; 2 the command failed, and -o left no file."
)]
pub struct Args {
    /// A set file; or any INPUT of `reptile compile`, which is compiled in memory
    #[arg(value_name = "SET")]
    set: Place,
    /// A list with a URL or host on each line, to summarize only these; a host means its https origin
    origins: Option<Place>,
    /// A crawler: a product token, a chain, or a group of crawlers; can be repeated, with a row for each
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    agents: Vec<String>,
    /// The columns that name the origin, separated by commas [default: url; with --by-site host]
    #[arg(long = "key", value_name = "NAMES", value_delimiter = ',', value_enum)]
    keys: Vec<OriginKey>,
    /// Write a row for each site: a host with and without www., over http and https, side by side
    ///
    /// The columns show the access to each of the four origins, and whether they agree. Origins with a non-default port
    /// and ftp origins belong to no site: in SET they are counted and skipped, and a line of ORIGINS is invalid.
    #[arg(long)]
    by_site: bool,
    /// The output format [default: from the extension of --output, or else tsv]
    #[arg(long, value_name = "FORMAT", value_parser = answer_formats())]
    format: Option<AnswerFormat>,
    /// Write the column names as the first line
    #[arg(long)]
    header: bool,
    /// Write to this file instead of standard output; it gets its name only when it is complete
    ///
    /// The extension .tsv, .csv, .jsonl, .parquet, .arrow or .arrows selects the format, and .gz or .zst after it
    /// selects compression.
    #[arg(short, long, value_name = "OUT")]
    output: Option<Place>,
    /// Replace the output file if it exists
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    uses: UsageOptions,
    #[command(flatten)]
    options: SetOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the set cannot be read or is damaged, an argument is invalid, or the output cannot be written.
pub fn run(args: &Args, run: &Run) -> Result<Exit> {
    if let Some(origins) = &args.origins {
        refuse_swapped("summarize", &args.set, origins.as_os_str().to_str())?;
    }
    let format = chosen_format(args.output.as_ref(), args.format)?.unwrap_or_default();
    let keys = keys(args)?;
    if args.header && format == AnswerFormat::Jsonl {
        return Err(Failure::new("--header: JSON Lines already have column names in each row"));
    }
    if args.header && format.is_columnar() {
        return Err(Failure::new(names_in_schema(format)));
    }
    let uses = uses(args)?;
    let rows =
        if args.by_site { RowWriter::of_sites(format, keys) } else { RowWriter::of_origins(format, keys, &uses)? };
    if let Some(output) = &args.output {
        refuse_overwriting(output, [&args.set].into_iter().chain(args.origins.as_ref()))?;
    }
    let inputs = || [&args.set].into_iter().chain(args.origins.as_ref());
    run.check_metrics_path(inputs(), args.output.as_ref())?;
    let output = match &args.output {
        Some(path) => Output::create(path, args.force)?,
        None => Output::stdout(),
    };
    let is_terminal = output.is_terminal();
    let mut sink = Sink::new(output, format, rows.format().columns().to_vec(), None)?;
    let start = Instant::now();
    let loaded = Loaded::open(&args.set, &args.options.with_defaults())?;
    let set = loaded.verified()?;
    let is_stamped = format.is_columnar() || run.has_metrics();
    let identity = is_stamped.then(|| Identity::of(loaded.bytes()));
    let state = SetState::of(&args.set, &set, loaded.bytes().len() as u64, identity);
    let list = args.origins.as_ref().map(InputState::of);
    let agents = Agents::resolve(&set, &args.set, args)?;
    if loaded.mapped().is_some() && set.has_times() {
        note_without_times(&args.set, set.reading().at, "");
    }
    if args.header {
        sink.write(&AnswerRows::of_text(&rows.format().header()))?;
    }
    let mut summarizer = Summarizer {
        set: &set,
        rows,
        statements: Statements::new(&set),
        permitted: vec![[0; UsageAccess::ALL.len()]; agents.names.len() * uses.len()],
        usage: UsageStatements::new(&set, uses).map_err(|error| Failure::at(&args.set, error))?,
        tally: vec![[0; Access::ALL.len()]; agents.names.len()],
        agreements: vec![[0; Agreement::ALL.len()]; agents.names.len()],
        agents,
        count: 0,
        others: 0,
    };
    let progress = match (is_terminal, &args.origins) {
        (true, _) => Progress::hidden(),
        (false, None) if !args.by_site => Progress::of("origins", Some(set.origin_count())),
        (false, _) => Progress::of(if args.by_site { "sites" } else { "origins" }, None),
    };
    let written = summarizer.write_all(args, &progress, &mut sink);
    drop(progress);
    written.map_err(|stop| match stop {
        Stop::Set(error) => damaged(&args.set, &error),
        Stop::Other(failure) => failure,
        Stop::Write(error) => Failure::new(error),
    })?;
    let mut lineage = Lineage { set: Some(state), ..summarizer.lineage(args.by_site, list, run) };
    sink.describe(METADATA_KEY, &lineage.stamp()?);
    sink.finish()?.finish()?;
    let output = &args.output.clone().unwrap_or_else(Place::standard);
    lineage.outputs.push(OutputState::new(output, lineage.rows.written));
    run.add(lineage);
    if let Some(origins) = args.origins.as_ref().filter(|_| summarizer.count == 0) {
        note(format_args!("{}: contains no host or URL", origins.display()));
    }
    summarizer.report(start, args.by_site);
    Ok(Exit::from_bad(loaded.report.as_ref().is_some_and(Report::any_bad)))
}

/// Returns the key columns, given or default.
fn keys(args: &Args) -> Result<Vec<OriginKey>> {
    match (&args.keys[..], args.by_site) {
        ([], true) => Ok(vec![OriginKey::Host]),
        ([], false) => Ok(vec![OriginKey::Url]),
        (keys, true) if keys.contains(&OriginKey::Url) => {
            Err(Failure::new("--key url: a row of --by-site covers up to four URLs; expected host, domain or surt"))
        }
        (keys, _) => match keys.iter().enumerate().find(|&(at, key)| keys[..at].contains(key)) {
            Some((_, key)) => Err(Failure::new(format!("--key: {} is given twice", key.name()))),
            None => Ok(keys.to_vec()),
        },
    }
}

/// Returns the uses of `--usage`; none without it.
fn uses(args: &Args) -> Result<Uses> {
    let names = args.uses.names();
    if names.is_empty() {
        args.uses.refuse_without("--usage")?;
    } else if args.by_site {
        return Err(Failure::new("--usage: a row of --by-site covers up to four origins; ask without --by-site"));
    }
    args.uses.uses(&args.uses.vocabulary()?, "--usage", &names)
}

/// The summarized agents.
struct Agents {
    names: Vec<String>,
    resolved: Vec<Agent>,
}

impl Agents {
    fn resolve(set: &Set<&[u8]>, path: &Place, args: &Args) -> Result<Agents> {
        let agents: Vec<Resolved> = agents_of(set, &args.agents)?;
        let resolved = agents.iter().map(|agent| agent.look_up(set)).collect::<std::result::Result<_, _>>();
        let names = agents.into_iter().map(|agent| agent.name).collect();
        Ok(Agents { names, resolved: resolved.map_err(|error| damaged(path, &error))? })
    }
}

/// A summary in progress.
struct Summarizer<'s> {
    set: &'s Set<&'s [u8]>,
    agents: Agents,
    rows: RowWriter,
    statements: Statements,
    usage: UsageStatements,
    /// Number of origins or sites.
    count: u64,
    /// Number of origins without a site.
    others: u64,
    /// Number of origins for each agent and access, in the order of [`Access::ALL`].
    tally: Vec<[u64; Access::ALL.len()]>,
    /// Number of origins for each agent, use and permission, in the order of [`UsageAccess::ALL`].
    permitted: Vec<[u64; UsageAccess::ALL.len()]>,
    /// Number of sites for each agent and agreement, in the order of [`Agreement::ALL`].
    agreements: Vec<[u64; Agreement::ALL.len()]>,
}

impl<'s> Summarizer<'s> {
    /// Writes a row for each agent and each origin or site in the list, or else in the set.
    fn write_all(&mut self, args: &Args, progress: &Progress, sink: &mut Sink) -> std::result::Result<(), Stop> {
        let set = self.set;
        let list = args.origins.as_ref();
        if args.by_site {
            let write = |batch: &[Site<'s>]| self.write_sites(batch, sink);
            let each = |work: &mut dyn FnMut(Site<'s>) -> std::result::Result<(), Stop>| match list {
                None => each_stored_site(set, work),
                Some(list) => each_listed_site(set, list, work).map(|()| 0),
            };
            self.others = in_batches(progress, each, write)?;
            return Ok(());
        }
        let write = |batch: &[Subject<'s>]| self.write_origins(batch, sink);
        let each = |work: &mut dyn FnMut(Subject<'s>) -> std::result::Result<(), Stop>| match list {
            None => each_stored(set, work),
            Some(list) => each_listed(set, list, work),
        };
        in_batches(progress, each, write)
    }

    /// Writes the rows of some origins.
    fn write_origins(&mut self, batch: &[Subject<'s>], sink: &mut Sink) -> std::result::Result<(), Stop> {
        type Rules = (Option<DecidingRules>, Option<DecidingUsage>);
        let (agents, uses) = (&self.agents.resolved, &self.usage);
        let decide = |subject: &Subject<'s>| {
            let of = |agent| {
                let Some(policy) = &subject.policy else { return Ok((None, None)) };
                let deciding = DecidingRules::of(policy, agent)?;
                let usage = if uses.uses().is_empty() { None } else { uses.deciding(policy, agent, &deciding)? };
                Ok::<Rules, FormatError>((Some(deciding), usage))
            };
            agents.iter().map(of).collect()
        };
        let rules: Vec<Vec<Rules>> = batch.par_iter().map(decide).collect::<std::result::Result<_, FormatError>>()?;
        self.statements.examine(self.set, rules.iter().flatten().filter_map(|(deciding, _)| deciding.as_ref()))?;
        self.usage.examine(self.set, rules.iter().flatten().filter_map(|(_, usage)| usage.as_ref()))?;
        let mut rows = self.rows.format().rows();
        for (subject, rules) in batch.iter().zip(&rules) {
            for (at, (agent, (deciding, usage))) in self.agents.names.iter().zip(rules).enumerate() {
                let summary = match subject.name {
                    Name::Invalid(_) => Row::invalid(),
                    _ => self.statements.summary(deciding.as_ref()),
                };
                let permissions = self.usage.permissions(usage.as_ref(), &summary);
                self.rows.push(subject.name.key(), agent, &summary, &permissions, &mut rows);
                self.tally[at][summary.access as usize] += 1;
                let permitted = self.permitted.iter_mut().skip(at * permissions.len());
                permitted.zip(permissions).for_each(|(tally, permission)| tally[permission as usize] += 1);
            }
        }
        self.count += batch.len() as u64;
        Ok(sink.write(&rows)?)
    }

    /// Writes the rows of some sites.
    fn write_sites(&mut self, batch: &[Site<'s>], sink: &mut Sink) -> std::result::Result<(), Stop> {
        type RulesByOrigin = [Option<DecidingRules>; ORIGINS.len()];
        let agents = &self.agents.resolved;
        let decide = |site: &Site<'s>| {
            let of = |agent| {
                let mut all: RulesByOrigin = [const { None }; ORIGINS.len()];
                for (deciding, policy) in all.iter_mut().zip(&site.policies) {
                    *deciding = policy.as_ref().map(|policy| DecidingRules::of(policy, agent)).transpose()?;
                }
                Ok::<RulesByOrigin, FormatError>(all)
            };
            agents.iter().map(of).collect()
        };
        let deciding: Vec<Vec<RulesByOrigin>> =
            batch.par_iter().map(decide).collect::<std::result::Result<_, FormatError>>()?;
        self.statements.examine(self.set, deciding.iter().flatten().flatten().flatten())?;
        let mut rows = self.rows.format().rows();
        for (site, deciding) in batch.iter().zip(&deciding) {
            for ((agent, deciding), tally) in self.agents.names.iter().zip(deciding).zip(&mut self.agreements) {
                let (accesses, agreement) = match site.host {
                    Err(_) => ([Access::Invalid; ORIGINS.len()], Agreement::Invalid),
                    Ok(_) => {
                        let accesses =
                            deciding.each_ref().map(|deciding| self.statements.summary(deciding.as_ref()).access);
                        (accesses, Agreement::of(&accesses, deciding))
                    }
                };
                self.rows.push_site(site.origin(), agent, accesses, agreement, &mut rows);
                tally[agreement as usize] += 1;
            }
        }
        self.count += batch.len() as u64;
        Ok(sink.write(&rows)?)
    }

    /// Returns the number of origins with each access, or of sites with each agreement, for an agent.
    fn counts(&self, agent: usize, by_site: bool) -> Vec<(&'static str, u64)> {
        let access = Access::ALL.iter().map(|access| access.name()).zip(self.tally[agent]);
        let agreements = Agreement::ALL.iter().map(|agreement| agreement.name()).zip(self.agreements[agent]);
        if by_site { agreements.collect() } else { access.collect() }
    }

    /// Returns the lineage of the summary, without the set and the output. `list` is the list of origins.
    fn lineage(&self, by_site: bool, list: Option<InputState>, run: &Run) -> Lineage {
        let agents = self.agents.names.iter().enumerate();
        let verdicts = agents.map(|(at, agent)| AgentVerdicts {
            agent: agent.clone(),
            counts: self.counts(at, by_site).into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
        });
        let verdicts: Vec<AgentVerdicts> = verdicts.collect();
        // Invalid lines are the same for all agents.
        let invalid = verdicts.first().and_then(|first| first.counts.get(Access::Invalid.name())).copied();
        let invalid = invalid.unwrap_or_default();
        Lineage {
            inputs: list
                .map(|list| InputState { rows: Some(self.count), invalid: Some(invalid), ..list })
                .into_iter()
                .collect(),
            rows: RowCounts {
                read: Some(self.count),
                written: Some(self.count * self.agents.names.len() as u64),
                ..RowCounts::default()
            },
            invalid_rows: (invalid > 0).then(|| ("no-origin".to_owned(), invalid)).into_iter().collect(),
            verdicts,
            ..run.lineage()
        }
    }

    /// Prints the figures, and names the agents that no robots.txt names.
    fn report(&self, start: Instant, by_site: bool) {
        let mut summary = Summary::default();
        let unit = if by_site { "sites" } else { "origins" };
        summary.count(unit, self.count);
        if by_site {
            summary.count("  origins without a site, skipped", self.others);
        }
        summary.count("distinct rulesets examined", self.statements.len() as u64);
        for (at, (name, agent)) in self.agents.names.iter().zip(&self.agents.resolved).enumerate() {
            let name = printable(name.as_bytes());
            summary.row(format!("agent {name}"), listed(self.counts(at, by_site)));
            let permitted = self.permitted.iter().skip(at * self.usage.uses().len());
            for (used, counts) in self.usage.uses().names().zip(permitted) {
                let counts = UsageAccess::ALL.iter().map(|permission| permission.name()).zip(*counts);
                summary.row(format!("  {used}"), listed(counts));
            }
            if !agent.is_named() && agent.honors_default_group() {
                note(format_args!("agent {name} is not named by any robots.txt in this set; the rules for * apply"));
            }
        }
        let time = start.elapsed();
        summary.row("time", format!("{}, {} {unit}/s", seconds(time), rate(self.count, time)));
        summary.print();
    }
}

/// Returns counts with their names. Without `invalid` if nothing is.
fn listed(counts: impl IntoIterator<Item = (&'static str, u64)>) -> String {
    let shown = counts.into_iter().filter(|&(name, count)| name != Access::Invalid.name() || count > 0);
    shown.map(|(name, count)| format!("{name} {}", grouped(count))).collect::<Vec<_>>().join(", ")
}

/// Passes the items from `each` to `write` in batches. Returns the result of `each`.
fn in_batches<T, R>(
    progress: &Progress,
    each: impl FnOnce(&mut dyn FnMut(T) -> std::result::Result<(), Stop>) -> std::result::Result<R, Stop>,
    mut write: impl FnMut(&[T]) -> std::result::Result<(), Stop>,
) -> std::result::Result<R, Stop> {
    let mut batch = Vec::new();
    let found = each(&mut |subject| {
        batch.push(subject);
        if batch.len() == ORIGINS_AT_ONCE {
            progress.add(batch.len() as u64);
            write(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    write(&batch)?;
    Ok(found)
}
