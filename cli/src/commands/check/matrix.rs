//! How often the dialects disagree: the rows of a table decided by all of them, counted for each pair.
//!
//! Memory: a set for each dialect, a chunk of the table, and a number for each host about which any two disagree.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{ALL, Dialect};
use reptile_engine::format::FormatError;
use reptile_engine::set::{Agent, Set};
use reptile_engine::url::path_of;
use reptile_engine::verdict::Verdict;

use super::{Args, Row, TOO_LONG, compiled, each_piece, opened, policy_of};
use crate::error::{Outcome, Result, note};
use crate::inputs::lines::{lines, without_lf};
use crate::outputs::file::Output;
use crate::outputs::summary::{grouped, rate, seconds};
use crate::outputs::text::printable;

/// How many pairs of dialects there are.
const PAIRS: usize = ALL.len() * (ALL.len() - 1) / 2;

/// Every pair has a bit of a word.
type Pairs = u64;
const _: () = assert!(PAIRS <= Pairs::BITS as usize);

/// The pairs, the first before the second, in the order of their bits.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..ALL.len()).flat_map(|first| (first + 1..ALL.len()).map(move |second| (first, second)))
}

/// What came out of some rows.
#[derive(Default)]
struct Counts {
    rows: u64,
    unknown: u64,
    wrong: u64,
    disallowed: [u64; ALL.len()],
    /// Rows that differ, by pair.
    differing: Vec<u64>,
    /// Rows about which any two differ.
    disputed: u64,
    /// The hosts of those rows, and the pairs that differ about any row of theirs.
    hosts: HashMap<Box<[u8]>, Pairs>,
    printed: Vec<u8>,
    /// The first rows that cannot be decided, from 0, and why.
    faults: Vec<(u64, String)>,
}

/// Rows that cannot be decided and are named; the others are only counted.
const MAX_FAULTS: usize = 10;

impl Counts {
    fn new() -> Counts {
        Counts { differing: vec![0; PAIRS], ..Counts::default() }
    }

    fn fault(&mut self, why: impl FnOnce() -> String) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push((self.rows, why()));
        }
    }

    /// Adds those of the rows that come next.
    fn add(&mut self, other: Counts) {
        let room = MAX_FAULTS - self.faults.len();
        self.faults.extend(other.faults.into_iter().take(room).map(|(row, why)| (self.rows + row, why)));
        self.rows += other.rows;
        self.unknown += other.unknown;
        self.wrong += other.wrong;
        self.disputed += other.disputed;
        self.disallowed.iter_mut().zip(other.disallowed).for_each(|(sum, count)| *sum += count);
        self.differing.iter_mut().zip(other.differing).for_each(|(sum, count)| *sum += count);
        for (host, pairs) in other.hosts {
            *self.hosts.entry(host).or_default() |= pairs;
        }
    }
}

/// Counts, and prints the table.
pub fn run(args: &Args, cases: impl Read, one_for_all: bool) -> Result<Outcome> {
    let start = std::time::Instant::now();
    let bytes = ALL.iter().map(|dialect| compiled(args, dialect, one_for_all)).collect::<Result<Vec<_>>>()?;
    let sets = bytes.iter().map(|bytes| opened(args, bytes)).collect::<Result<Vec<_>>>()?;
    let mut total = Counts::new();
    let mut stdout = Output::stdout();
    each_piece(
        cases,
        args,
        |piece| count_piece(piece, &sets, one_for_all, args.print),
        || Counts { rows: 1, wrong: 1, faults: vec![(0, TOO_LONG.into())], ..Counts::new() },
        |mut counts| {
            let printed = std::mem::take(&mut counts.printed);
            total.add(counts);
            stdout.write_all(&printed).map_err(|error| stdout.failure(&error))
        },
    )?;
    for (row, why) in &total.faults {
        note(format!("{}: row {}: {why}", args.cases.display(), row + 1));
    }
    let table = table(&total);
    if args.print {
        let _ = io::stderr().write_all(table.as_bytes());
    } else {
        stdout.write_all(table.as_bytes()).map_err(|error| stdout.failure(&error))?;
    }
    stdout.finish()?;
    let _ = writeln!(
        io::stderr(),
        "{} rows: {} disputed, of {} hosts; {} without robots.txt, {} wrong rows ({}, {} rows/s)",
        total.rows,
        total.disputed,
        total.hosts.len(),
        total.unknown,
        total.wrong,
        seconds(start.elapsed()),
        rate(total.rows, start.elapsed()),
    );
    Ok(Outcome::from_bad(total.unknown + total.wrong > 0))
}

fn count_piece(
    piece: &[u8],
    sets: &[Set<&[u8]>],
    one_for_all: bool,
    print: bool,
) -> std::result::Result<Counts, FormatError> {
    let mut counts = Counts::new();
    // Few agents ask about many rows, and to look one up may cost more than to decide.
    let mut agents: HashMap<&[u8], Vec<Agent>> = HashMap::new();
    for line in lines(piece) {
        match Row::read(without_lf(line)) {
            Ok(row) => {
                if !agents.contains_key(row.agent) {
                    let looked_up = sets.iter().zip(ALL).map(|(set, dialect)| of_name(row.agent, dialect).look_up(set));
                    agents.insert(row.agent, looked_up.collect::<std::result::Result<_, _>>()?);
                }
                let agents = agents.get(row.agent).map_or(&[][..], Vec::as_slice);
                count_row(&row, sets, agents, one_for_all, print, &mut counts)?;
            }
            Err(fault) => {
                counts.wrong += 1;
                counts.fault(|| format!("wrong row, {fault}"));
            }
        }
        counts.rows += 1;
    }
    Ok(counts)
}

fn count_row(
    row: &Row<'_>,
    sets: &[Set<&[u8]>],
    agents: &[Agent],
    one_for_all: bool,
    print: bool,
    counts: &mut Counts,
) -> std::result::Result<(), FormatError> {
    let mut disallows = [false; ALL.len()];
    let mut cells = Vec::new();
    for ((set, agent), disallows) in sets.iter().zip(agents).zip(&mut disallows) {
        let Some(policy) = policy_of(set, one_for_all, row.host)? else {
            counts.unknown += 1;
            counts.fault(|| format!("no robots.txt for {}", printable(row.host)));
            return Ok(());
        };
        if print {
            let explanation = path_of(row.url).with(|path| policy.explain(agent, path))?;
            *disallows = explanation.verdict == Verdict::Disallow;
            let line = explanation.rule().map_or(0, |rule| rule.line);
            cells.extend_from_slice(format!("\t{}\t{line}", explanation.verdict).as_bytes());
        } else {
            *disallows = path_of(row.url).with(|path| policy.decide(agent, path))? == Verdict::Disallow;
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
        match counts.hosts.get_mut(row.host) {
            Some(pairs) => *pairs |= differing,
            None => {
                counts.hosts.insert(row.host.into(), differing);
            }
        }
    }
    Ok(())
}

/// The counts as a table in Markdown: rows above the diagonal, hosts below it.
fn table(counts: &Counts) -> String {
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
