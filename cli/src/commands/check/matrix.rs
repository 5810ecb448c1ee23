//! How often the dialects disagree: every dialect decides the rows of a table, and differences are counted by pair.
//!
//! The sets are compiled sequentially and kept in temporary files. Memory: the compilation of one set, the mapped parts
//! of all sets that decide rows, a chunk of the table, and two words for each disputed host, up to [`MAX_HOSTS`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{Read, Write};

use reptile::contents::{Agent, FormatError, Set};
use reptile::dialects::ALL;
use reptile::{Dialect, Verdict};
use xxhash_rust::xxh3::xxh3_64;

use super::args::Args;
use super::rows::{CheckRow, MAX_SHOWN_BYTES, TOO_LONG, each_block, refuse_nothing};
use super::set::{compiled, opened, policy_of};
use crate::error::{Exit, note};
use crate::outputs::file::Output;
use crate::outputs::summary::{grouped, rate, seconds};
use crate::outputs::terminal::tell;
use crate::sets::agents::agent_of_cell;
use crate::sets::map::Temporary;
use reptile_records::Inputs;
use reptile_records::lines::lines;
use reptile_records::text::printable;

/// Number of dialect pairs.
const PAIRS: usize = ALL.len() * (ALL.len() - 1) / 2;

/// A set of pairs, a bit each.
type Pairs = u64;
const _: () = assert!(PAIRS <= Pairs::BITS as usize);

/// Returns the pairs, the first before the second, in the order of their bits.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..ALL.len()).flat_map(|first| (first + 1..ALL.len()).map(move |second| (first, second)))
}

/// Counts of row results.
#[derive(Default)]
struct MatrixCounts {
    /// Number of table lines.
    read: u64,
    /// Lines without a row: comments, headers, empty lines.
    skipped: u64,
    unknown: u64,
    malformed: u64,
    disallowed: [u64; ALL.len()],
    /// Rows that differ, by pair.
    differing: Vec<u64>,
    /// Rows that any two dialects decide differently.
    disputed: u64,
    /// The disputed rows' hosts, as hashes, and the pairs that differ about any of a host's rows.
    hosts: HashMap<u64, Pairs>,
    /// Whether there are more hosts than are kept.
    more_hosts: bool,
    printed: Vec<u8>,
    /// The first undecided rows, numbered from 0, and why.
    faults: Vec<(u64, String)>,
}

/// Maximum number of disputed hosts counted, as 64-bit hashes: 40 MB.
const MAX_HOSTS: usize = 1 << 20;

/// Maximum number of undecided rows reported. The others are only counted.
const MAX_FAULTS: usize = 10;

impl MatrixCounts {
    fn new() -> MatrixCounts {
        MatrixCounts { differing: vec![0; PAIRS], ..MatrixCounts::default() }
    }

    /// Keeps the reason why the current row is undecided, up to the limit.
    fn fault(&mut self, why: impl FnOnce() -> String) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push((self.read, why()));
        }
    }

    /// Adds the counts of the next rows.
    fn add(&mut self, other: MatrixCounts) {
        let room = MAX_FAULTS - self.faults.len();
        self.faults.extend(other.faults.into_iter().take(room).map(|(row, why)| (self.read + row, why)));
        self.read += other.read;
        self.skipped += other.skipped;
        self.unknown += other.unknown;
        self.malformed += other.malformed;
        self.disputed += other.disputed;
        self.disallowed.iter_mut().zip(other.disallowed).for_each(|(sum, count)| *sum += count);
        self.differing.iter_mut().zip(other.differing).for_each(|(sum, count)| *sum += count);
        self.more_hosts |= other.more_hosts;
        for (host, pairs) in other.hosts {
            self.add_host(host, pairs);
        }
    }

    /// Adds the pairs that differ about a row of a host. Keeps no more hosts than the limit.
    fn add_host(&mut self, host: u64, pairs: Pairs) {
        let is_full = self.hosts.len() >= MAX_HOSTS;
        match self.hosts.entry(host) {
            Entry::Occupied(known) => *known.into_mut() |= pairs,
            Entry::Vacant(_) if is_full => self.more_hosts = true,
            Entry::Vacant(new) => {
                new.insert(pairs);
            }
        }
    }
}

/// Counts the differences, and prints the table.
///
/// # Errors
/// Returns an error if the table or the robots.txt files cannot be read.
pub fn run(args: &Args, cases: impl Read, one_for_all: bool) -> crate::error::Result<Exit> {
    let start = std::time::Instant::now();
    let robots = || Inputs::Named(std::slice::from_ref(args.robots()));
    let compile = |dialect| Temporary::new(&compiled(dialect, one_for_all, robots())?);
    let maps = ALL.into_iter().map(compile).collect::<crate::error::Result<Vec<_>>>()?;
    let sets = maps.iter().map(|map| opened(args, map.bytes())).collect::<crate::error::Result<Vec<_>>>()?;
    let mut total = MatrixCounts::new();
    let mut stdout = Output::stdout();
    each_block(
        cases,
        args,
        |block| count_block(block, &sets, one_for_all, args),
        || MatrixCounts { read: 1, malformed: 1, faults: vec![(0, TOO_LONG.into())], ..MatrixCounts::new() },
        |mut counts| {
            let printed = std::mem::take(&mut counts.printed);
            total.add(counts);
            stdout.write_all(&printed).map_err(|error| stdout.failure(&error))
        },
    )?;
    refuse_nothing(args, total.read - total.skipped)?;
    for (row, why) in &total.faults {
        note(format!("{}: row {}: {why}", args.cases().display(), row + 1));
    }
    if total.more_hosts {
        note(format!("only the first {} disputed hosts are counted", grouped(MAX_HOSTS as u64)));
    }
    let table = table(&total);
    if args.print {
        tell(&table);
    } else {
        stdout.write_all(table.as_bytes()).map_err(|error| stdout.failure(&error))?;
    }
    stdout.finish()?;
    tell(&format!(
        "{} rows: {} disputed, of {} hosts; {} without robots.txt, {} malformed rows ({}, {} rows/s)\n",
        total.read - total.skipped,
        total.disputed,
        total.hosts.len(),
        total.unknown,
        total.malformed,
        seconds(start.elapsed()),
        rate(total.read, start.elapsed()),
    ));
    Ok(Exit::from_bad(total.unknown + total.malformed > 0))
}

/// Counts the differences in a block.
fn count_block(block: &[u8], sets: &[Set<&[u8]>], one_for_all: bool, args: &Args) -> Result<MatrixCounts, FormatError> {
    let mut counts = MatrixCounts::new();
    // A table has few agents and many rows, and looking an agent up may cost more than deciding a row.
    let mut agents: HashMap<&[u8], Result<Vec<Agent>, String>> = HashMap::new();
    for line in lines(block) {
        match CheckRow::read(line) {
            Ok(Some(row)) => {
                let agents = match agents.entry(row.agent) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(agents_of_cell(sets, row.agent, args)?),
                };
                match agents {
                    Ok(agents) => count_row(&row, sets, agents, one_for_all, args.print, &mut counts)?,
                    Err(fault) => {
                        counts.malformed += 1;
                        counts.fault(|| format!("malformed row, the agent: {fault}"));
                    }
                }
            }
            Ok(None) => counts.skipped += 1,
            Err(fault) => {
                counts.malformed += 1;
                counts.fault(|| format!("malformed row, {fault}"));
            }
        }
        counts.read += 1;
    }
    Ok(counts)
}

/// Returns a cell's agent under every dialect, or a description of the problem if a dialect rejects the name.
fn agents_of_cell(sets: &[Set<&[u8]>], cell: &[u8], args: &Args) -> Result<Result<Vec<Agent>, String>, FormatError> {
    let mut agents = Vec::with_capacity(sets.len());
    for (set, dialect) in sets.iter().zip(ALL) {
        match agent_of_cell(set, dialect, cell, args.exact_agent) {
            Ok(agent) => agents.push(agent.look_up(set)?),
            Err(fault) => return Ok(Err(fault)),
        }
    }
    Ok(Ok(agents))
}

/// Decides a row by every dialect, and counts the differences.
fn count_row(
    row: &CheckRow<'_>,
    sets: &[Set<&[u8]>],
    agents: &[Agent],
    one_for_all: bool,
    print: bool,
    counts: &mut MatrixCounts,
) -> Result<(), FormatError> {
    let mut disallows = [false; ALL.len()];
    let mut cells = Vec::new();
    for ((set, agent), disallows) in sets.iter().zip(agents).zip(&mut disallows) {
        let Some(policy) = policy_of(set, one_for_all, row.host)? else {
            counts.unknown += 1;
            counts
                .fault(|| format!("no robots.txt for {}", printable(&row.host[..row.host.len().min(MAX_SHOWN_BYTES)])));
            return Ok(());
        };
        if print {
            let explanation = row.path.with(|path| policy.explain(agent, path))?;
            *disallows = explanation.verdict == Verdict::Disallow;
            let line = explanation.rule().map_or(0, |rule| rule.line);
            cells.extend_from_slice(format!("\t{}\t{line}", explanation.verdict).as_bytes());
        } else {
            *disallows = row.path.with(|path| policy.decide(agent, path))? == Verdict::Disallow;
        }
    }
    if print {
        counts.printed.extend_from_slice(&row.columns());
        counts.printed.extend_from_slice(&cells);
        counts.printed.push(b'\n');
    }
    for (sum, disallows) in counts.disallowed.iter_mut().zip(disallows) {
        *sum += u64::from(disallows);
    }
    let mut differing: Pairs = 0;
    for (pair, (first, second)) in pairs().enumerate() {
        if disallows[first] != disallows[second] {
            counts.differing[pair] += 1;
            differing |= 1 << pair;
        }
    }
    if differing != 0 {
        counts.disputed += 1;
        counts.add_host(xxh3_64(row.host), differing);
    }
    Ok(())
}

/// Returns the counts as a table in Markdown: rows above the diagonal, hosts below it.
fn table(counts: &MatrixCounts) -> String {
    let mut cells = vec![vec![String::from("–"); ALL.len()]; ALL.len()];
    for (pair, (first, second)) in pairs().enumerate() {
        let hosts = counts.hosts.values().filter(|&&pairs| pairs & (1 << pair) != 0).count();
        cells[first][second] = grouped(counts.differing[pair]);
        cells[second][first] = grouped(hosts as u64);
    }
    let name = |dialect: &&Dialect| printable(dialect.name.as_bytes());
    let mut rows = vec![vec!["rows \\ hosts".to_owned()]];
    rows[0].extend(ALL.iter().map(name));
    rows[0].push("disallowed".into());
    for ((dialect, cells), &disallowed) in ALL.iter().zip(cells).zip(&counts.disallowed) {
        rows.push([vec![name(dialect)], cells, vec![grouped(disallowed)]].concat());
    }
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        text.push_str(&format!("| {} |\n", row.join(" | ")));
        if index == 0 {
            text.push_str(&format!("|---|{}\n", "---:|".repeat(row.len() - 1)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_stop_at_the_limit() {
        let mut counts = MatrixCounts::new();
        let mut add = |host: usize| {
            counts.add_host(host as u64, 1);
            (counts.hosts.len(), counts.more_hosts)
        };
        for host in 0..MAX_HOSTS - 2 {
            add(host);
        }
        assert_eq!(add(MAX_HOSTS - 2), (MAX_HOSTS - 1, false));
        assert_eq!(add(MAX_HOSTS - 1), (MAX_HOSTS, false));
        assert_eq!(add(0), (MAX_HOSTS, false));
        assert_eq!(add(MAX_HOSTS), (MAX_HOSTS, true));
    }
}
