//! `reptile check`: compares the verdicts of compiled robots.txt files with those that a table expects.
//!
//! The table is read as it is: nothing is trimmed or skipped, so that a case can hold any bytes but tab and LF. How
//! often the dialects disagree about its rows is counted in `matrix`.

mod matrix;

use std::io::{self, Write};
use std::path::PathBuf;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{self, Dialect};
use reptile_engine::format::FormatError;
use reptile_engine::set::{Policy, Set};
use reptile_engine::url::{Origin, Scheme, origin_of, path_of};
use reptile_engine::verdict::{RuleKind, Verdict};

use crate::error::{Failure, Outcome, Result, printable};
use crate::inputs::assemble::assemble;
use crate::inputs::lines::{self, ChunkKind, Chunks, MAX_LINE_BYTES, lines, pieces, without_lf};
use crate::inputs::load::damaged;
use crate::inputs::{CompileOptions, Kind, dialects, strategies};
use crate::outputs::file::Output;
use crate::outputs::summary::{rate, seconds};

/// Bytes of the piece of the table that a thread takes at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Whose a single file is.
const ANY_HOST: &str = "localhost";

/// Compare verdicts with expected ones
///
/// CASES is a table without header, columns separated by tabs:
///   host  agent  url  [ALLOW|DISALLOW  [line]]
/// The host chooses the robots.txt; the url is decided by it whatever host it names
/// itself, and a path alone will do. The agent is a product token, or the name of a
/// crawler that the dialect knows. The line is that of the rule that decides, 0 if
/// none does. Nothing is trimmed, and an empty line is an error.
///
/// A row whose verdict differs is a verdict difference, whatever its line; one with
/// the right verdict and another line is a line difference.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile check cases.tsv.gz --robots robots/
  reptile check cases.tsv --robots robots.txt --strategy listed
  reptile check urls.tsv --robots robots.tar.gz --print > verdicts.tsv

Exit code: 0 all as expected; 1 differences, rows that are wrong, or hosts
without robots.txt; 2 the command could not go on."
)]
pub struct Args {
    /// The table; unpacked if its name ends in .gz; - is standard input
    cases: PathBuf,
    /// The robots.txt files: what `reptile compile` takes as INPUT, or one file for all hosts
    #[arg(long, value_name = "INPUT")]
    robots: PathBuf,
    /// Which reading of the protocol the files are given [default: google-lib]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    dialect: Option<&'static Dialect>,
    /// Count for each pair of dialects the rows that they decide differently, and print the counts as a table in
    /// Markdown; with --print, the verdict and line of each dialect for each row
    ///
    /// Above the diagonal are rows, below it the hosts that they are of. What rows expect is not looked at.
    #[arg(long, conflicts_with = "dialect", conflicts_with = "max_differences")]
    all_dialects: bool,
    /// How rulesets become automata [default: factored]
    #[arg(long, value_name = "NAME", value_parser = strategies())]
    strategy: Option<Strategy>,
    /// Write host, agent, url, verdict and line of each row to standard output, and differences to standard error
    ///
    /// The verdict of a host without robots.txt is UNKNOWN. A row that is wrong is not written.
    #[arg(long)]
    print: bool,
    /// How many differences are shown at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_differences: usize,
}

/// What came out of some rows.
#[derive(Default)]
struct Tally {
    rows: u64,
    checked: u64,
    verdicts: u64,
    lines: u64,
    unknown: u64,
    wrong: u64,
    /// What to show of the rows that are not as expected: the row from 0, and the text. Not more than are shown.
    shown: Vec<(u64, Vec<u8>)>,
    /// How many there are in all.
    shown_of: u64,
    /// All rows with their verdicts, if they are asked for.
    printed: Vec<u8>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome> {
    let start = std::time::Instant::now();
    let cases = lines::open(&args.cases)?;
    let one_for_all = Kind::of(&args.robots)? == Kind::File;
    if args.all_dialects {
        return matrix::run(args, cases, one_for_all);
    }
    let dialect = args.dialect.unwrap_or(dialect::ALL[0]);
    let bytes = compiled(args, dialect, one_for_all)?;
    let set = opened(args, &bytes)?;

    let checker = Checker { set, dialect, one_for_all, print: args.print, max_shown: args.max_differences };
    let total = checker.check_all(cases, args)?;
    let _ = writeln!(
        io::stderr(),
        "{} rows: {} checked, {} verdict differences, {} line differences, {} without robots.txt{} ({}, {} rows/s)",
        total.rows,
        total.checked,
        total.verdicts,
        total.lines,
        total.unknown,
        if total.wrong > 0 { format!(", {} wrong rows", total.wrong) } else { String::new() },
        seconds(start.elapsed()),
        rate(total.rows, start.elapsed()),
    );
    Ok(Outcome::from_bad(total.shown_of > 0))
}

/// The bytes of the set that the rows are decided by.
fn compiled(args: &Args, dialect: &'static Dialect, one_for_all: bool) -> Result<Vec<u8>> {
    let options = CompileOptions {
        dialect: Some(dialect),
        strategy: args.strategy,
        host: one_for_all.then(|| ANY_HOST.to_owned()),
        no_other: true,
        ..CompileOptions::default()
    };
    Ok(assemble(std::slice::from_ref(&args.robots), &options)?.0.to_bytes())
}

/// The set, every byte checked.
fn opened<'s>(args: &Args, bytes: &'s [u8]) -> Result<Set<&'s [u8]>> {
    let broken = |error: FormatError| damaged(&args.robots, &error);
    let set = Set::from_bytes(bytes).map_err(broken)?;
    set.verify().map_err(broken)?;
    Ok(set)
}

/// The policy for the column of hosts, under whichever scheme there is one.
fn policy_of<'s>(
    set: &'s Set<&[u8]>,
    one_for_all: bool,
    host: &[u8],
) -> std::result::Result<Option<Policy<'s>>, FormatError> {
    if one_for_all {
        return set.policy(&Origin { scheme: Scheme::Http, host: ANY_HOST.as_bytes(), port: 80 });
    }
    for scheme in Scheme::ALL {
        let Ok(origin) = origin_of(scheme, host) else { return Ok(None) };
        if let Some(policy) = set.policy(&origin)? {
            return Ok(Some(policy));
        }
    }
    Ok(None)
}

/// Goes through the table, chunk by chunk, each on all threads. What comes of the pieces is merged in their order.
fn each_piece<T: Send>(
    source: impl io::Read,
    args: &Args,
    work_on: impl Fn(&[u8]) -> std::result::Result<T, FormatError> + Sync,
    long_row: impl Fn() -> T,
    mut merge: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut chunks = Chunks::new(source);
    let mut buffer = Vec::new();
    loop {
        let chunk = chunks.next(buffer, || false);
        let chunk = chunk.map_err(|error| Failure::at(&args.cases, format!("cannot be read: {error}")))?;
        let Some(chunk) = chunk else { return Ok(()) };
        let done: Vec<T> = match chunk.kind {
            ChunkKind::Lines => {
                let pieces = pieces(chunk.bytes(), chunk.filled.div_ceil(PIECE_BYTES));
                let work = pieces.into_par_iter().map(&work_on);
                work.collect::<std::result::Result<_, _>>().map_err(|error| damaged(&args.robots, &error))?
            }
            ChunkKind::LongLine { last: true } => vec![long_row()],
            ChunkKind::LongLine { last: false } => Vec::new(),
        };
        done.into_iter().try_for_each(&mut merge)?;
        buffer = chunk.buffer;
    }
}

struct Checker<'s> {
    set: Set<&'s [u8]>,
    dialect: &'static Dialect,
    one_for_all: bool,
    print: bool,
    max_shown: usize,
}

impl Checker<'_> {
    /// Goes through the table.
    fn check_all(&self, source: impl io::Read, args: &Args) -> Result<Tally> {
        let mut total = Tally::default();
        let mut stdout = Output::stdout();
        each_piece(
            source,
            args,
            |piece| self.check_piece(piece),
            || self.long_row(),
            |tally| self.merge(&mut total, tally, &mut stdout).map_err(|error| stdout.failure(&error)),
        )?;
        let hidden = total.shown_of - total.shown_of.min(self.max_shown as u64);
        if hidden > 0 {
            let more = format!("... and {hidden} more\n");
            self.show(more.as_bytes(), &mut stdout).map_err(|error| stdout.failure(&error))?;
        }
        stdout.finish(|_| Ok(()))?;
        Ok(total)
    }

    /// Adds the tally of the rows that come next, and shows what there is to show.
    fn merge(&self, total: &mut Tally, tally: Tally, stdout: &mut Output) -> io::Result<()> {
        stdout.write_all(&tally.printed)?;
        let left = self.max_shown.saturating_sub(usize::try_from(total.shown_of).unwrap_or(usize::MAX));
        for (row, text) in tally.shown.iter().take(left) {
            let number = total.rows + row + 1;
            self.show(&[format!("row {number}: ").as_bytes(), text, b"\n"].concat(), stdout)?;
        }
        total.rows += tally.rows;
        total.checked += tally.checked;
        total.verdicts += tally.verdicts;
        total.lines += tally.lines;
        total.unknown += tally.unknown;
        total.wrong += tally.wrong;
        total.shown_of += tally.shown_of;
        Ok(())
    }

    fn show(&self, text: &[u8], stdout: &mut Output) -> io::Result<()> {
        if self.print {
            let _ = io::stderr().write_all(text);
            return Ok(());
        }
        stdout.write_all(text)
    }

    fn check_piece(&self, piece: &[u8]) -> std::result::Result<Tally, FormatError> {
        let mut tally = Tally::default();
        for line in lines(piece) {
            let line = without_lf(line);
            match Row::read(line) {
                Ok(row) => self.check_row(&row, &mut tally)?,
                Err(fault) => self.wrong(fault, line, &mut tally),
            }
            tally.rows += 1;
        }
        Ok(tally)
    }

    /// What a row is that is too long to be kept.
    fn long_row(&self) -> Tally {
        let mut tally = Tally::default();
        self.wrong(TOO_LONG, b"", &mut tally);
        tally.rows = 1;
        tally
    }

    fn wrong(&self, fault: &str, line: &[u8], tally: &mut Tally) {
        tally.wrong += 1;
        let start = printable(&line[..line.len().min(200)]);
        self.note(tally, || format!("wrong row, {fault}: \"{start}\"").into_bytes());
    }

    /// Keeps a text to show, unless there are enough.
    fn note(&self, tally: &mut Tally, text: impl FnOnce() -> Vec<u8>) {
        tally.shown_of += 1;
        if tally.shown.len() < self.max_shown {
            tally.shown.push((tally.rows, text()));
        }
    }

    fn check_row(&self, row: &Row<'_>, tally: &mut Tally) -> std::result::Result<(), FormatError> {
        let Some(policy) = policy_of(&self.set, self.one_for_all, row.host)? else {
            tally.unknown += 1;
            self.note(tally, || [&row.columns(), &b"\tno robots.txt for this host"[..]].concat());
            self.print(row, "UNKNOWN", 0, tally);
            return Ok(());
        };
        let agent = of_name(row.agent, self.dialect).look_up(&self.set)?;
        let explanation = path_of(row.url).with(|path| policy.explain(&agent, path))?;
        let kind = if explanation.verdict == Verdict::Disallow { RuleKind::Disallow } else { RuleKind::Allow };
        let line = explanation.rule().map_or(0, |rule| rule.line);
        self.print(row, word(kind), line, tally);
        let Some((expected, expected_line)) = row.expected else { return Ok(()) };
        tally.checked += 1;
        let verdict_differs = kind != expected;
        let line_differs = expected_line.is_some_and(|expected| expected != line);
        if verdict_differs {
            tally.verdicts += 1;
        } else if line_differs {
            tally.lines += 1;
        } else {
            return Ok(());
        }
        self.note(tally, || {
            let expected_line = expected_line.map(|line| format!(" line {line}")).unwrap_or_default();
            let (expected, found) = (word(expected), word(kind));
            let text = format!("\texpected {expected}{expected_line}, found {found} line {line}");
            [row.columns(), text.into_bytes()].concat()
        });
        Ok(())
    }

    fn print(&self, row: &Row<'_>, verdict: &str, line: u32, tally: &mut Tally) {
        if self.print {
            tally.printed.extend_from_slice(&row.columns());
            tally.printed.extend_from_slice(format!("\t{verdict}\t{line}\n").as_bytes());
        }
    }
}

/// A row of the table.
struct Row<'a> {
    host: &'a [u8],
    agent: &'a [u8],
    url: &'a [u8],
    expected: Option<(RuleKind, Option<u32>)>,
}

const TOO_LONG: &str = "longer than 1 MiB";
const _: () = assert!(MAX_LINE_BYTES == 1 << 20);

impl<'a> Row<'a> {
    fn read(line: &'a [u8]) -> std::result::Result<Row<'a>, &'static str> {
        if line.is_empty() {
            return Err("empty");
        }
        if line.len() > MAX_LINE_BYTES {
            return Err(TOO_LONG);
        }
        let mut columns = line.split(|&byte| byte == b'\t');
        let (Some(host), Some(agent), Some(url)) = (columns.next(), columns.next(), columns.next()) else {
            return Err("fewer than 3 columns");
        };
        let verdict = match columns.next() {
            None => None,
            Some(b"ALLOW") => Some(RuleKind::Allow),
            Some(b"DISALLOW") => Some(RuleKind::Disallow),
            Some(_) => return Err("the fourth column is neither ALLOW nor DISALLOW"),
        };
        let number = |text: &[u8]| {
            let text = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            text.and_then(|text| text.parse().ok()).ok_or("the fifth column is no line number")
        };
        let rule_line = columns.next().map(number).transpose()?;
        if columns.next().is_some() {
            return Err("more than 5 columns");
        }
        Ok(Row { host, agent, url, expected: verdict.map(|verdict| (verdict, rule_line)) })
    }

    fn columns(&self) -> Vec<u8> {
        [self.host, self.agent, self.url].join(&b'\t')
    }
}

/// The verdict as the table has it.
fn word(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Allow => "ALLOW",
        RuleKind::Disallow => "DISALLOW",
    }
}
