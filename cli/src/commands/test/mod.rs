//! `reptile test`: what decides each of some URLs in one robots.txt: the group, the rules, the line, and why.
//!
//! Holds the questions and their answers. They are shown by [`answers`] and [`listing`] for one dialect, by [`dialects`]
//! for all of them, and by [`json`] for programs; [`words`] has the words.

mod answers;
mod dialects;
mod json;
mod listing;
mod words;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use reptile_compiler::advice::explanation::{Reading, Why};
use reptile_compiler::dialect::crawlers::Resolved;
use reptile_compiler::dialect::{self, Dialect};
use reptile_compiler::oracle::Choice;
use reptile_engine::set::Set;
use reptile_engine::url::{MAX_URL_BYTES, path_of};
use reptile_engine::verdict::Explanation;

use crate::error::{Exit, Failure, Result};
use crate::inputs::bodies::{read_single, read_single_file};
use crate::inputs::lines::{lines, without_line_end};
use crate::inputs::options;
use crate::inputs::sets::agents::agents_under;
use crate::inputs::sets::damaged;
use crate::inputs::sets::single::{ONE_ORIGIN, compile_one};
use crate::outputs::file::print;

/// Test URLs against one robots.txt, and see what decides each of them, and why
///
/// Shows the file with the lines that matter, and for each URL and crawler the group
/// that it obeys, the best Allow and the best Disallow that match, which of the two
/// wins, and why. Only the path of a URL counts here, so a path such as /a/b will do.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile test robots.txt --agent MyBot /private/x /public
  reptile test robots.txt --agent MyBot --agent OtherBot --all-dialects /x
  curl -s https://example.com/robots.txt | reptile test - --agent MyBot --brief /x
  reptile test robots.txt --agent MyBot --json < urls.txt

The fields of --json, an object on each line:
  url, agent   as they were given
  dialect      the reading of the protocol that gives this answer
  verdict      allow, disallow
  line         the line of the deciding rule, 0 if no rule decides
  why          no-group, no-match, always-allowed, empty-rule, only-kind,
               longer, allow-on-tie, first
  because      the reason in words
  path         what is compared: the URL's path in the dialect's normal form
  group        by: token, default-group or nobody; token: the product token that
               was found; lines: the user-agent lines of the groups
  allow        the best Allow that matches, or null: line, text as it stands in
               the file, pattern in normal form, octets that count
  disallow     the best Disallow that matches, likewise
  agrees       with --all-dialects: whether the verdict is that of --dialect

Exit code: 0 done, whatever the verdicts; 2 the command could not go on."
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
    /// The dialect: which reading of the protocol the file is given [default: google-lib]
    #[arg(long, value_name = "NAME", value_parser = options::dialects())]
    dialect: Option<&'static Dialect>,
    /// Answer under every dialect, mark what differs from --dialect, and say why
    #[arg(long)]
    all_dialects: bool,
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

/// Runs the command.
///
/// # Errors
/// If the robots.txt or the URLs cannot be read.
pub fn run(args: &Args) -> Result<Exit> {
    let from_stdin = args.robots == Path::new("-");
    if from_stdin && args.urls.is_empty() {
        return Err(Failure::new("standard input cannot be both the robots.txt and the URLs; give some URLs"));
    }
    let body = if from_stdin { read_single(io::stdin(), &args.robots)? } else { read_single_file(&args.robots)? };
    let urls = if args.urls.is_empty() {
        let mut list = Vec::new();
        io::stdin().read_to_end(&mut list).map_err(|error| Failure::new(format!("standard input: {error}")))?;
        lines(&list).map(|line| without_line_end(line).to_vec()).collect()
    } else {
        args.urls.iter().map(|url| url.clone().into_bytes()).collect::<Vec<_>>()
    };
    if let Some(url) = urls.iter().find(|url| url.len() > MAX_URL_BYTES) {
        let start = String::from_utf8_lossy(&url[..40]).into_owned();
        return Err(Failure::new(format!(
            "a URL of {} bytes, over the limit of {MAX_URL_BYTES}: {start:?}...",
            url.len()
        )));
    }
    let asked = args.dialect.unwrap_or(dialect::ALL[0]);
    let chosen = if args.all_dialects { dialect::ALL.to_vec() } else { vec![asked] };
    let arena = Bump::new();
    let mut columns = Vec::new();
    for dialect in chosen {
        let agents = agents_under(dialect, &args.agents)?;
        columns.push(Column::new(&args.robots, &body, dialect, agents, &urls, &arena)?);
    }
    let reference = columns.iter().position(|column| column.reading.dialect() == asked).unwrap_or(0);
    let tested = Tested { name: &args.robots, urls: &urls, columns: &columns, reference };
    print(match () {
        () if args.json => json::json(&tested)?,
        () if args.all_dialects => dialects::table(&tested, args.brief),
        () if args.brief => answers::brief(&tested),
        () => listing::listing(&tested, args.full) + &answers::full(&tested, args.full),
    })?;
    Ok(Exit::Done)
}

/// The questions and their answers.
struct Tested<'t> {
    name: &'t Path,
    urls: &'t [Vec<u8>],
    /// The answers under each dialect.
    columns: &'t [Column<'t>],
    /// The column that the others are compared with.
    reference: usize,
}

impl Tested<'_> {
    fn reference(&self) -> &Column<'_> {
        &self.columns[self.reference]
    }

    /// The URL and the agent of each question, in the order of the answers.
    fn questions(&self) -> impl Iterator<Item = (&[u8], &Resolved)> {
        self.urls.iter().flat_map(|url| self.reference().agents.iter().map(|agent| (&**url, agent)))
    }
}

/// The file under one dialect, and its answers.
struct Column<'b> {
    reading: Reading<'b>,
    agents: Vec<Resolved>,
    /// The groups that each agent obeys.
    choices: Vec<Choice>,
    /// The answers for each URL and agent, those of the first URL first.
    answers: Vec<Answer>,
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
}

impl Answer {
    /// The line of the deciding rule, or 0.
    fn line(&self) -> u32 {
        self.explanation.rule().map_or(0, |rule| rule.line)
    }
}

impl<'b> Column<'b> {
    /// Decides every URL for every agent under a dialect.
    fn new(
        name: &Path,
        body: &'b [u8],
        dialect: &'static Dialect,
        agents: Vec<Resolved>,
        urls: &[Vec<u8>],
        arena: &'b Bump,
    ) -> Result<Column<'b>> {
        let bytes = compile_one(name, body, dialect)?;
        let reading = Reading::new(body, dialect, arena);
        let choices: Vec<Choice> = agents.iter().map(|agent| reading.choose(agent)).collect();
        let mut answers = Vec::with_capacity(urls.len() * agents.len());
        let decided = Set::from_bytes(&bytes[..]).and_then(|set| {
            let Some(policy) = set.policy(&ONE_ORIGIN)? else { return Ok(()) };
            let looked_up =
                agents.iter().map(|agent| agent.look_up(&set)).collect::<std::result::Result<Vec<_>, _>>()?;
            for url in urls {
                for (agent, (found, choice)) in looked_up.iter().zip(&choices).enumerate() {
                    let written = path_of(url).to_vec();
                    let explanation = policy.explain(found, &written)?;
                    let path = dialect.normal_form.path(&written).into_owned();
                    let why = reading.why(&explanation, choice, &path);
                    let shown_path = dialect.normal_form.shown(&path).into_owned();
                    let path_differs = shown_path != written;
                    answers.push(Answer { explanation, why, agent, path, shown_path, path_differs });
                }
            }
            Ok(())
        });
        decided.map_err(|error| damaged(name, &error))?;
        Ok(Column { reading, agents, choices, answers })
    }
}
