//! Writes rows about origins and agents: one for each origin, site, or period of an origin.

use std::time::Instant;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile::Group;
use reptile::contents::{Agent, FormatError, Set};
use reptile::crawlers::Resolved;
use reptile::summary::{
    Access, DecidingRules, DecidingUsage, Statements, Summary as Row, UsageAccess, UsageStatements,
};
use reptile::usage::Uses;

use super::args::RowArgs;
use super::managed::{Managed, ManagedLines};
use super::rows::{PeriodCells, RowWriter};
use super::sites::{Agreement, ORIGINS, Site, each_listed_site, each_stored_site};
use super::subjects::{Name, Subject, each_listed, each_period, each_stored};
use crate::error::{Exit, Failure, Result, Stop, damaged, note};
use crate::options::CompileOptions;
use crate::outputs::file::Output;
use crate::outputs::identity::Identity;
use crate::outputs::progress::Progress;
use crate::outputs::sink::Sink;
use crate::outputs::summary::{Summary, grouped, rate, seconds};
use crate::run::Run;
use crate::run::lineage::{AgentVerdicts, InputState, Lineage, METADATA_KEY, OutputState, RowCounts, SetState};
use crate::same_file::refuse_overwriting;
use crate::sets::agents::agents_of;
use crate::sets::report::Report;
use crate::sets::{Loaded, note_without_times, refuse_swapped};
use reptile_columns::AnswerRows;
use reptile_records::place::Place;
use reptile_records::text::printable;

/// Number of origins, sites or periods per batch. All threads share a batch.
const ROWS_AT_ONCE: usize = 8192;

/// The subject of a row. Each agent has a row about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    Origins,
    Sites,
    /// The periods of each origin, in a set by time.
    Periods,
}

impl RowKind {
    fn command(self) -> &'static str {
        if self == RowKind::Periods { "timeline" } else { "summarize" }
    }

    /// Returns the name of the counted items.
    fn unit(self) -> &'static str {
        if self == RowKind::Sites { "sites" } else { "origins" }
    }
}

/// Writes the rows.
///
/// # Errors
/// Returns an error if the set cannot be read, is damaged or does not fit the rows, an argument is invalid, or the
/// output cannot be written.
pub fn write(args: &RowArgs, rows: RowWriter, uses: Uses, kind: RowKind, run: &Run) -> Result<Exit> {
    if let Some(origins) = &args.origins {
        refuse_swapped(kind.command(), &args.set, origins.as_os_str().to_str())?;
    }
    if let Some(output) = &args.output {
        refuse_overwriting(output, args.inputs())?;
    }
    run.check_metrics_path(args.inputs(), args.output.as_ref())?;
    let output = match &args.output {
        Some(path) => Output::create(path, args.force)?,
        None => Output::stdout(),
    };
    let is_terminal = output.is_terminal();
    let format = args.format()?;
    let mut sink = Sink::new(output, format, rows.format().columns().to_vec(), None)?;
    let start = Instant::now();
    let options = CompileOptions { by_time: kind == RowKind::Periods, ..args.options.with_defaults() };
    let loaded = Loaded::open(&args.set, &options)?;
    let set = loaded.verified()?;
    check_times(args, &set, loaded.mapped().is_some(), kind)?;
    let is_stamped = format.is_columnar() || run.has_metrics();
    let identity = is_stamped.then(|| Identity::of(loaded.bytes()));
    let state = SetState::of(&args.set, &set, loaded.bytes().len() as u64, identity);
    let list = args.origins.as_ref().map(InputState::of);
    let agents = Agents::resolve(&set, &args.set, &args.agents)?;
    if args.header {
        sink.write(&AnswerRows::of_text(&rows.format().header()))?;
    }
    let mut summarizer = Summarizer {
        set: &set,
        kind,
        rows,
        statements: Statements::new(&set),
        permitted: vec![[0; UsageAccess::ALL.len()]; agents.names.len() * uses.len()],
        usage: UsageStatements::new(&set, uses).map_err(|error| Failure::at(&args.set, error))?,
        tally: vec![[0; Access::ALL.len()]; agents.names.len()],
        agreements: vec![[0; Agreement::ALL.len()]; agents.names.len()],
        agents,
        count: 0,
        rows_per_agent: 0,
        others: 0,
    };
    let progress = match (is_terminal, &args.origins) {
        (true, _) => Progress::hidden(),
        (false, None) if kind != RowKind::Sites => Progress::of("origins", Some(set.origin_count())),
        (false, _) => Progress::of(kind.unit(), None),
    };
    let written = summarizer.write_all(args.origins.as_ref(), &progress, &mut sink);
    drop(progress);
    written.map_err(|stop| match stop {
        Stop::Set(error) => damaged(&args.set, &error),
        Stop::Other(failure) => failure,
        Stop::Write(error) => Failure::new(error),
    })?;
    let mut lineage = Lineage { set: Some(state), ..summarizer.lineage(list, run) };
    sink.describe(METADATA_KEY, &lineage.stamp()?);
    sink.finish()?.finish()?;
    let output = &args.output.clone().unwrap_or_else(Place::standard);
    lineage.outputs.push(OutputState::new(output, lineage.rows.written));
    run.add(lineage);
    if let Some(origins) = args.origins.as_ref().filter(|_| summarizer.count == 0) {
        note(format_args!("{}: contains no host or URL", origins.display()));
    }
    summarizer.report(start);
    Ok(Exit::from_bad(loaded.report.as_ref().is_some_and(Report::any_bad)))
}

/// Refuses a set without times for rows about periods. Notes that rows about a set's own time leave out other times.
fn check_times(args: &RowArgs, set: &Set<&[u8]>, is_mapped: bool, kind: RowKind) -> Result<()> {
    match kind {
        RowKind::Periods if !set.has_times() => {
            let message = "is a compiled set without times, which `timeline` requires; compile it again with --by-time";
            return Err(Failure::at(&args.set, message));
        }
        RowKind::Periods if !set.has_other_directives() => {
            note(format_args!("{}: no other directives in it, so managed is empty", args.set.display()));
        }
        RowKind::Origins | RowKind::Sites if is_mapped && set.has_times() => {
            note_without_times(&args.set, set.reading().at, "");
        }
        _ => {}
    }
    Ok(())
}

/// The summarized agents.
struct Agents {
    names: Vec<String>,
    resolved: Vec<Agent>,
    /// The same agents with only their own product tokens, without the tokens that they also obey.
    own: Vec<Agent>,
}

impl Agents {
    fn resolve(set: &Set<&[u8]>, path: &Place, specs: &[String]) -> Result<Agents> {
        let agents: Vec<Resolved> = agents_of(set, specs)?;
        let own = agents.iter().map(|agent| Resolved {
            tokens: agent.tokens.iter().take(1).cloned().collect(),
            honors_default_group: false,
            ..agent.clone()
        });
        let own: Vec<Resolved> = own.collect();
        let look_up = |agents: &[Resolved]| {
            let found = agents.iter().map(|agent| agent.look_up(set)).collect::<std::result::Result<_, _>>();
            found.map_err(|error| damaged(path, &error))
        };
        let (resolved, own) = (look_up(&agents)?, look_up(&own)?);
        Ok(Agents { names: agents.into_iter().map(|agent| agent.name).collect(), resolved, own })
    }
}

/// The deciding rules and statements for an agent in a row.
struct Deciding {
    rules: Option<DecidingRules>,
    usage: Option<DecidingUsage>,
    /// Whether the group names a product token that the agent obeys after its own.
    is_inherited: bool,
    managed: Option<Managed>,
}

/// A summary in progress.
struct Summarizer<'s> {
    set: &'s Set<&'s [u8]>,
    kind: RowKind,
    agents: Agents,
    rows: RowWriter,
    statements: Statements,
    usage: UsageStatements,
    /// Number of origins or sites.
    count: u64,
    rows_per_agent: u64,
    /// Number of origins without a site.
    others: u64,
    /// Number of rows for each agent and access, in the order of [`Access::ALL`].
    tally: Vec<[u64; Access::ALL.len()]>,
    /// Number of rows for each agent, use and permission, in the order of [`UsageAccess::ALL`].
    permitted: Vec<[u64; UsageAccess::ALL.len()]>,
    /// Number of sites for each agent and agreement, in the order of [`Agreement::ALL`].
    agreements: Vec<[u64; Agreement::ALL.len()]>,
}

impl<'s> Summarizer<'s> {
    /// Writes the rows of each origin or site in the list, or else in the set.
    fn write_all(
        &mut self,
        list: Option<&Place>,
        progress: &Progress,
        sink: &mut Sink,
    ) -> std::result::Result<(), Stop> {
        let (set, kind) = (self.set, self.kind);
        if kind == RowKind::Sites {
            let write = |batch: &[Site<'s>]| self.write_sites(batch, progress, sink);
            let each = |work: &mut dyn FnMut(Site<'s>) -> std::result::Result<(), Stop>| match list {
                None => each_stored_site(set, work),
                Some(list) => each_listed_site(set, list, work).map(|()| 0),
            };
            self.others = in_batches(each, write)?;
            return Ok(());
        }
        let write = |batch: &[Subject<'s>]| self.write_origins(batch, progress, sink);
        let each = |work: &mut dyn FnMut(Subject<'s>) -> std::result::Result<(), Stop>| {
            let mut work = |subject: Subject<'s>| match kind {
                RowKind::Periods => each_period(set, subject, &mut *work),
                _ => work(subject),
            };
            match list {
                None => each_stored(set, &mut work),
                Some(list) => each_listed(set, list, &mut work),
            }
        };
        in_batches(each, write)
    }

    /// Returns each agent's deciding rules and uses in a row.
    fn decide(&self, subject: &Subject<'s>) -> std::result::Result<Vec<Deciding>, FormatError> {
        let managed = ManagedLines::of(self.set, subject)?;
        let decide = |(agent, own): (&Agent, &Agent)| {
            let Some(policy) = subject.policy() else {
                return Ok(Deciding { rules: None, usage: None, is_inherited: false, managed: None });
            };
            let rules = DecidingRules::of(&policy, agent)?;
            let has_uses = !self.usage.uses().is_empty();
            let usage = if has_uses { self.usage.deciding(&policy, agent, &rules)? } else { None };
            let is_inherited =
                self.kind == RowKind::Periods && rules.group() == Group::Named && policy.group_of(own)? != Group::Named;
            let managed = managed.as_ref().map(|lines| lines.managed(&policy, agent)).transpose()?.flatten();
            Ok(Deciding { rules: Some(rules), usage, is_inherited, managed })
        };
        self.agents.resolved.iter().zip(&self.agents.own).map(decide).collect()
    }

    /// Writes the rows of some origins or periods.
    fn write_origins(
        &mut self,
        batch: &[Subject<'s>],
        progress: &Progress,
        sink: &mut Sink,
    ) -> std::result::Result<(), Stop> {
        let decided: Vec<Vec<Deciding>> = {
            let this = &*self;
            batch.par_iter().map(|subject| this.decide(subject)).collect::<std::result::Result<_, FormatError>>()?
        };
        self.statements.examine(self.set, decided.iter().flatten().filter_map(|deciding| deciding.rules.as_ref()))?;
        self.usage.examine(self.set, decided.iter().flatten().filter_map(|deciding| deciding.usage.as_ref()))?;
        let mut rows = self.rows.format().rows();
        for (subject, decided) in batch.iter().zip(&decided) {
            for (at, (agent, deciding)) in self.agents.names.iter().zip(decided).enumerate() {
                let summary = match subject.name {
                    Name::Invalid(_) => Row::invalid(),
                    _ => self.statements.summary(deciding.rules.as_ref()),
                };
                let permissions = self.usage.permissions(deciding.usage.as_ref(), &summary);
                let key = subject.name.key();
                if self.kind == RowKind::Periods {
                    let Deciding { is_inherited, managed, .. } = *deciding;
                    let period = PeriodCells { period: subject.period.as_ref(), is_inherited, managed };
                    self.rows.push_period(key, agent, &period, &summary, &permissions, &mut rows)?;
                } else {
                    self.rows.push(key, agent, &summary, &permissions, &mut rows);
                }
                self.tally[at][summary.access as usize] += 1;
                let permitted = self.permitted.iter_mut().skip(at * permissions.len());
                permitted.zip(permissions).for_each(|(tally, permission)| tally[permission as usize] += 1);
            }
        }
        let origins = batch.iter().filter(|subject| subject.is_first).count() as u64;
        self.add(origins, batch.len(), progress);
        Ok(sink.write(&rows)?)
    }

    /// Adds a batch to the counts.
    fn add(&mut self, count: u64, rows: usize, progress: &Progress) {
        self.count += count;
        self.rows_per_agent += rows as u64;
        progress.add(count);
    }

    /// Writes the rows of some sites.
    fn write_sites(
        &mut self,
        batch: &[Site<'s>],
        progress: &Progress,
        sink: &mut Sink,
    ) -> std::result::Result<(), Stop> {
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
        self.add(batch.len() as u64, batch.len(), progress);
        Ok(sink.write(&rows)?)
    }

    /// Returns the number of rows with each access, or of sites with each agreement, for an agent.
    fn counts(&self, agent: usize) -> Vec<(&'static str, u64)> {
        let access = Access::ALL.iter().map(|access| access.name()).zip(self.tally[agent]);
        let agreements = Agreement::ALL.iter().map(|agreement| agreement.name()).zip(self.agreements[agent]);
        if self.kind == RowKind::Sites { agreements.collect() } else { access.collect() }
    }

    /// Returns the lineage of the summary, without the set and the output. `list` is the list of origins.
    fn lineage(&self, list: Option<InputState>, run: &Run) -> Lineage {
        let agents = self.agents.names.iter().enumerate();
        let verdicts = agents.map(|(at, agent)| AgentVerdicts {
            agent: agent.clone(),
            counts: self.counts(at).into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
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
                written: Some(self.rows_per_agent * self.agents.names.len() as u64),
                ..RowCounts::default()
            },
            invalid_rows: (invalid > 0).then(|| ("no-origin".to_owned(), invalid)).into_iter().collect(),
            verdicts,
            ..run.lineage()
        }
    }

    /// Prints the figures, and names the agents that no robots.txt names.
    fn report(&self, start: Instant) {
        let mut summary = Summary::default();
        let unit = self.kind.unit();
        summary.count(unit, self.count);
        match self.kind {
            RowKind::Origins => {}
            RowKind::Sites => summary.count("  origins without a site, skipped", self.others),
            RowKind::Periods => summary.count("periods", self.rows_per_agent),
        }
        summary.count("distinct rulesets examined", self.statements.len() as u64);
        for (at, (name, agent)) in self.agents.names.iter().zip(&self.agents.resolved).enumerate() {
            let name = printable(name.as_bytes());
            summary.row(format!("agent {name}"), listed(self.counts(at)));
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

/// Returns counts with their names, without `invalid` if that is zero.
fn listed(counts: impl IntoIterator<Item = (&'static str, u64)>) -> String {
    let shown = counts.into_iter().filter(|&(name, count)| name != Access::Invalid.name() || count > 0);
    shown.map(|(name, count)| format!("{name} {}", grouped(count))).collect::<Vec<_>>().join(", ")
}

/// Passes the items from `each` to `write` in batches. Returns the result of `each`.
fn in_batches<T, R>(
    each: impl FnOnce(&mut dyn FnMut(T) -> std::result::Result<(), Stop>) -> std::result::Result<R, Stop>,
    mut write: impl FnMut(&[T]) -> std::result::Result<(), Stop>,
) -> std::result::Result<R, Stop> {
    let mut batch = Vec::new();
    let found = each(&mut |subject| {
        batch.push(subject);
        if batch.len() == ROWS_AT_ONCE {
            write(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    write(&batch)?;
    Ok(found)
}
