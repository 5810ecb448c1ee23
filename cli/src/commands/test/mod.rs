//! `reptile test`: what decides each of some URLs in one robots.txt: the group, the rules, the line, and why.
//!
//! Holds the questions and their answers. They are shown by [`answers`] and [`listing`] for one dialect, by
//! [`dialects`] for all of them, and by [`json`] for programs; [`typed`] reads what people type, and [`words`] has the
//! words.
//!
//! A file of n bytes is read and compiled in O(n) steps and memory for each dialect. With `--brief` and `--json` the
//! URLs are read and answered one by one, in memory that does not depend on their number; an answer takes no more than
//! the walk, and time linear in the longest rule. The other forms show at most [`MAX_ANSWERS`] answers. What is shown
//! of user-agent lines and of the text of rules is limited for each answer.

mod answers;
mod dialects;
mod json;
mod listing;
mod typed;
mod words;

use std::cell::Cell;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use reptile_compiler::advice::explanation::{Reading, Why};
use reptile_compiler::capture::{Capture, Profile};
use reptile_compiler::dialect::crawlers::Resolved;
use reptile_compiler::dialect::{self, Dialect};
use reptile_compiler::oracle::Choice;
use reptile_engine::format::FormatError;
use reptile_engine::set::{Agent, Set};
use reptile_engine::url::MAX_URL_BYTES;
use reptile_engine::verdict::{Explanation, Verdict};

use crate::error::{Exit, Failure, Result, Stop, note};
use crate::inputs::bodies::read_robots;
use crate::inputs::lines::{ChunkKind, Chunks, lines, open, without_line_end};
use crate::inputs::options::{self, ExactAgent};
use crate::inputs::sets::agents::{agents_for, agents_under};
use crate::inputs::sets::damaged;
use crate::inputs::sets::single::{ONE_ORIGIN, compile_capture, compile_one};
use crate::outputs::file::Output;
use crate::outputs::summary::grouped;
use typed::Typed;

/// The answers that are shown in full or as a table. More of them are for `--brief` and `--json`.
pub const MAX_ANSWERS: usize = 1000;

/// The user-agent lines that are kept for each agent, and printed with each answer.
const MAX_NAMING_LINES: usize = 100;

/// Test URLs against one robots.txt, and see what decides each of them, and why
///
/// Shows the file with the lines that matter, and for each URL and crawler the group
/// that it obeys, the best Allow and the best Disallow that match, which of the two
/// wins, and why. Only the path of a URL counts here, so a path such as /a/b will do.
/// Under every dialect but google-lib, spaces and letters beyond ASCII are escaped as a
/// browser escapes them, and a path without its first slash gets one; a remark says so.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile test robots.txt --agent MyBot /private/x /public
  reptile test robots.txt --agent MyBot --agent OtherBot --all-dialects /x
  curl -s https://example.com/robots.txt | reptile test - --agent MyBot --brief /x
  reptile test robots.txt --agent MyBot --json < urls.txt
  reptile test robots.txt --agent MyBot --expect allow / /products
  reptile test robots.txt --agent MyBot --status 503 --profile rfc9309 /x

The fields of --json, an object on each line:
  url, agent   as they were given
  dialect      the reading of the protocol that gives this answer
  verdict      allow, disallow
  line         the line of the deciding rule, 0 if no rule decides
  why          no-group, no-match, always-allowed, empty-rule, only-kind,
               longer, allow-on-tie, first, fetch
  because      the reason in words
  path         what is compared: the URL's path in the dialect's normal form
  group        by: token, default-group or nobody; token: the product token that
               was found; lines: the user-agent lines of the groups, the first
               100; more_lines: how many others there are, if there are any
  allow        the best Allow that matches, or null: line, text as it stands in
               the file, pattern in normal form, octets that count; after 32 KiB
               the text and the pattern are cut, and end in \"...\"
  disallow     the best Disallow that matches, likewise
  remarks      what was changed in the URL as it was typed, if anything was
  agrees       with --all-dialects: whether the verdict is that of --dialect

Exit code: 0 done, whatever the verdicts; 1 with --expect, if any verdict is another;
2 the command could not go on."
)]
pub struct Args {
    /// A robots.txt; - is standard input
    robots: PathBuf,
    /// The URLs to test; without any, one on each line of standard input
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    /// A crawler: a product token, a chain such as "A>B>*", or a group of crawlers, @ai-training or @search; may be
    /// given again
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    agents: Vec<String>,
    #[command(flatten)]
    exact: ExactAgent,
    /// The dialect: which reading of the protocol the file is given [default: google]
    #[arg(long, value_name = "NAME", value_parser = options::dialects())]
    dialect: Option<&'static Dialect>,
    /// Answer under every dialect, mark what differs from --dialect, and say why
    #[arg(long)]
    all_dialects: bool,
    /// The status with which the server answered; the file is the body of that answer
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=999))]
    status: Option<u16>,
    /// The fetch profile: whose habits say what the status means [default: that of the dialect]
    #[arg(long, value_name = "NAME", value_parser = options::profiles())]
    profile: Option<&'static Profile>,
    /// End with exit code 1 unless every verdict is this one
    #[arg(long, value_name = "VERDICT", value_parser = expectations())]
    expect: Option<Verdict>,
    /// Print only one line for each URL and crawler
    #[arg(long, conflicts_with_all = ["json", "full"])]
    brief: bool,
    /// Print a JSON object for each URL, crawler and dialect
    #[arg(long)]
    json: bool,
    /// Show every line of a long file, and long lines whole
    #[arg(long)]
    full: bool,
}

/// A parser for a verdict that can be expected.
fn expectations() -> impl TypedValueParser<Value = Verdict> {
    PossibleValuesParser::new([Verdict::Allow.name(), Verdict::Disallow.name()])
        .map(|name| if name == Verdict::Allow.name() { Verdict::Allow } else { Verdict::Disallow })
}

/// Runs the command.
///
/// # Errors
/// If the robots.txt or the URLs cannot be read, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let from_stdin = args.robots == Path::new("-");
    if from_stdin && args.urls.is_empty() {
        return Err(Failure::new("standard input cannot be both the robots.txt and the URLs; give some URLs"));
    }
    let body = read_robots(&args.robots)?;
    if let Some(url) = args.urls.iter().find(|url| url.len() > MAX_URL_BYTES) {
        let start = String::from_utf8_lossy(&url.as_bytes()[..40]).into_owned();
        let message = format!("a URL of {} bytes, over the limit of {MAX_URL_BYTES}: {start:?}...", url.len());
        return Err(Failure::new(message));
    }
    let asked = args.dialect.unwrap_or(dialect::DEFAULT);
    let chosen = if args.all_dialects { dialect::ALL.to_vec() } else { vec![asked] };
    let arena = Bump::new();
    let mut columns = Vec::new();
    agents_for(asked, &args.agents, args.exact, &[&body])?;
    for dialect in chosen {
        let agents = agents_under(dialect, &args.agents)?;
        let fetch = Fetch::of(args, dialect);
        columns.push(Column::new(&args.robots, &body, dialect, fetch, agents, &arena)?);
    }
    let reference = columns.iter().position(|column| column.reading.dialect() == asked).unwrap_or(0);
    let file = File { name: &args.robots, columns: &columns, reference };
    let mut out = BufWriter::new(Output::stdout());
    let written =
        answer(args, &file, &mut out).and_then(|left_out| out.flush().map(|()| left_out).map_err(Stop::Write));
    let left_out = written.map_err(|stop| stop.failure(out.get_ref(), &args.robots))?;
    // A URL without a verdict has not the one that is expected.
    let is_done = args.expect.is_none_or(|expected| are_as_expected(expected, &columns) && left_out == 0);
    Ok(Exit::from_bad(!is_done))
}

/// Whether every verdict is the one that is expected, and there is any.
fn are_as_expected(expected: Verdict, columns: &[Column<'_>]) -> bool {
    let count = |verdict: Verdict| columns.iter().map(|column| column.given[verdict as usize].get()).sum::<u64>();
    let all = count(Verdict::Allow) + count(Verdict::Disallow);
    let others = all - count(expected);
    if all == 0 {
        note("no URL was tested");
    } else if others > 0 {
        let verb = if others == 1 { "is" } else { "are" };
        note(format_args!("{} of {} verdicts {verb} not {expected}", grouped(others), grouped(all)));
    }
    all > 0 && others == 0
}

/// How the robots.txt was fetched, if the user says so.
#[derive(Clone, Copy)]
struct Fetch {
    status: Option<u16>,
    profile: &'static Profile,
}

impl Fetch {
    fn of(args: &Args, dialect: &'static Dialect) -> Option<Fetch> {
        let profile = args.profile.unwrap_or_else(|| Profile::of_dialect(dialect));
        (args.status.is_some() || args.profile.is_some()).then_some(Fetch { status: args.status, profile })
    }
}

/// Writes the answers for all URLs. Returns how many lines are too long for a URL and have none.
fn answer(args: &Args, file: &File<'_>, out: &mut impl Write) -> std::result::Result<u64, Stop> {
    let agent_count = file.reference().agents.len();
    if args.json {
        return each_url(args, out, |url, out| {
            (0..agent_count).try_for_each(|agent| json::write(file, url, agent, out))
        });
    }
    if args.brief && !args.all_dialects {
        // The column of URLs is as wide as those that are known now.
        let brief = answers::Brief::new(file, &args.urls);
        return each_url(args, out, |url, out| (0..agent_count).try_for_each(|agent| brief.write(url, agent, out)));
    }
    let mut urls: Vec<Vec<u8>> = Vec::new();
    let left_out = each_url(args, out, |url, _| {
        urls.push(url.to_vec());
        if urls.len() * agent_count > MAX_ANSWERS {
            let limit = grouped(MAX_ANSWERS as u64);
            let others = if args.all_dialects { "--json takes" } else { "--brief and --json take" };
            let message = format!(
                "at most {limit} answers, one for each URL and crawler, are shown in this form; {others} any number"
            );
            return Err(Failure::new(message).into());
        }
        Ok(())
    })?;
    let tested = Tested::new(file, &urls)?;
    if args.all_dialects {
        out.write_all(dialects::table(&tested, args.brief).as_bytes())?;
    } else {
        listing::write(&tested, args.full, out)?;
        out.write_all(answers::full(&tested, args.full).as_bytes())?;
    }
    Ok(left_out)
}

/// Does something with each URL, those of standard input as they come. Returns how many lines are too long for a URL.
fn each_url<W: Write>(
    args: &Args,
    out: &mut W,
    mut work: impl FnMut(&[u8], &mut W) -> std::result::Result<(), Stop>,
) -> std::result::Result<u64, Stop> {
    if !args.urls.is_empty() {
        return args.urls.iter().try_for_each(|url| work(url.as_bytes(), out)).map(|()| 0);
    }
    let mut chunks = Chunks::new(open(Path::new("-"))?);
    let (mut buffer, mut too_long) = (Vec::new(), 0_u64);
    let unreadable = |error| Failure::new(format!("standard input: {error}"));
    while let Some(chunk) = chunks.next(buffer, || true).map_err(unreadable)? {
        match chunk.kind {
            ChunkKind::Lines => {
                for url in lines(chunk.bytes()).map(without_line_end) {
                    if url.len() > MAX_URL_BYTES {
                        too_long += 1;
                    } else {
                        work(url, out)?;
                    }
                }
                out.flush()?;
            }
            ChunkKind::LongLine { last } => too_long += u64::from(last),
        }
        buffer = chunk.buffer;
    }
    if too_long > 0 {
        note(format_args!("standard input: {} lines are too long for a URL and have no answer", grouped(too_long)));
    }
    Ok(too_long)
}

/// The file under each dialect that is asked for.
struct File<'t> {
    name: &'t Path,
    columns: &'t [Column<'t>],
    /// The column that the others are compared with.
    reference: usize,
}

impl File<'_> {
    fn reference(&self) -> &Column<'_> {
        &self.columns[self.reference]
    }
}

/// The questions and their answers, where they are shown together.
struct Tested<'t> {
    file: &'t File<'t>,
    urls: &'t [Vec<u8>],
    /// The answers under each dialect, for each URL and agent, those of the first URL first.
    answers: Vec<Vec<Answer>>,
}

impl<'t> Tested<'t> {
    /// Decides every URL for every agent under every dialect.
    fn new(file: &'t File<'t>, urls: &'t [Vec<u8>]) -> std::result::Result<Tested<'t>, FormatError> {
        let of_column = |column: &Column<'_>| {
            let questions = urls.iter().flat_map(|url| (0..column.agents.len()).map(move |agent| (url, agent)));
            questions.map(|(url, agent)| column.answer(url, agent)).collect()
        };
        let answers = file.columns.iter().map(of_column).collect::<std::result::Result<_, _>>()?;
        Ok(Tested { file, urls, answers })
    }

    /// The URL and the agent of each question, in the order of the answers.
    fn questions(&self) -> impl Iterator<Item = (&[u8], &Resolved)> {
        self.urls.iter().flat_map(|url| self.file.reference().agents.iter().map(|agent| (&**url, agent)))
    }

    /// The answers of the column that the others are compared with.
    fn reference(&self) -> (&Column<'_>, &[Answer]) {
        (self.file.reference(), &self.answers[self.file.reference])
    }

    /// The columns with their answers.
    fn columns(&self) -> impl Iterator<Item = (&Column<'_>, &[Answer])> {
        self.file.columns.iter().zip(self.answers.iter().map(Vec::as_slice))
    }
}

/// The file under one dialect.
struct Column<'b> {
    reading: Reading<'b>,
    fetch: Option<Fetch>,
    agents: Vec<Resolved>,
    /// The groups that each agent obeys.
    choices: Vec<Choice>,
    /// The user-agent lines of each agent's groups.
    naming: Vec<Naming>,
    set: Set<Vec<u8>>,
    looked_up: Vec<Agent>,
    /// How often each verdict was given, by its number: allow, disallow.
    given: [Cell<u64>; 2],
}

/// The user-agent lines through which an agent's groups are for it.
struct Naming {
    /// The first of them.
    lines: Vec<u32>,
    /// The number of all.
    count: usize,
}

/// The answer for a URL and an agent.
struct Answer {
    explanation: Explanation,
    why: Why,
    /// The place of the agent among the agents.
    agent: usize,
    /// The path in normal form.
    path: Vec<u8>,
    /// The normal form as people write it.
    shown_path: Vec<u8>,
    /// Whether the path of the URL is written differently.
    path_differs: bool,
    /// What was changed in the URL as it was typed.
    remarks: Vec<String>,
}

impl Answer {
    /// The line of the deciding rule, or 0.
    fn line(&self) -> u32 {
        self.explanation.rule().map_or(0, |rule| rule.line)
    }
}

impl<'b> Column<'b> {
    /// Reads and compiles the file under a dialect.
    fn new(
        name: &Path,
        body: &'b [u8],
        dialect: &'static Dialect,
        fetch: Option<Fetch>,
        agents: Vec<Resolved>,
        arena: &'b Bump,
    ) -> Result<Column<'b>> {
        let fail = |error: FormatError| damaged(name, &error);
        let bytes = match fetch {
            None => compile_one(name, body, dialect)?,
            Some(Fetch { status, profile }) => {
                compile_capture(name, body, dialect, profile, &Capture { status, ..Capture::default() })?
            }
        };
        let set = Set::from_bytes(bytes).map_err(fail)?;
        let looked_up = agents.iter().map(|agent| agent.look_up(&set)).collect::<std::result::Result<_, _>>();
        let reading = Reading::new(body, dialect, arena);
        let choices: Vec<Choice> = agents.iter().map(|agent| reading.choose(agent)).collect();
        let naming = agents.iter().zip(&choices).map(|(agent, choice)| {
            let mut lines = reading.naming_lines(agent, choice);
            let first: Vec<u32> = lines.by_ref().take(MAX_NAMING_LINES).collect();
            Naming { count: first.len() + lines.count(), lines: first }
        });
        let naming = naming.collect();
        let given = Default::default();
        Ok(Column { reading, fetch, choices, naming, looked_up: looked_up.map_err(fail)?, agents, set, given })
    }

    /// Decides a URL for an agent.
    fn answer(&self, url: &[u8], agent: usize) -> std::result::Result<Answer, FormatError> {
        let dialect = self.reading.dialect();
        let Typed { path: written, remarks } = typed::read(url, dialect);
        let explanation = match self.set.policy(&ONE_ORIGIN)? {
            Some(policy) => policy.explain(&self.looked_up[agent], &written)?,
            None => Explanation::without_rule(Verdict::Allow),
        };
        let path = dialect.normal_form.path(&written).into_owned();
        let why = self.reading.why(&explanation, &self.choices[agent], &path);
        let shown_path = dialect.normal_form.shown(&path).into_owned();
        let path_differs = shown_path != written;
        if let Some(given) = self.given.get(explanation.verdict as usize) {
            given.set(given.get() + 1);
        }
        Ok(Answer { explanation, why, agent, path, shown_path, path_differs, remarks })
    }
}
