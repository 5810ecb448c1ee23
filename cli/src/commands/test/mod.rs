//! `reptile test`: decides URLs by one robots.txt, and shows the group, the rules, the line and the reason for each.
//!
//! This module has the questions and answers. [`answers`] and [`listing`] show them for one dialect, [`dialects`] for
//! all dialects, and [`json`] for programs. [`typed`] and [`letter_case`] remark on URLs, [`uses`] asks about
//! usage, and [`words`] has the wording.
//!
//! A file of n bytes is read and compiled in O(n) steps per dialect, and in O(n) memory for one dialect. With
//! `--all-dialects` it is read under one dialect at a time, and only the printed parts are kept. With `--brief` and
//! `--json`, each URL is answered as it is read, in memory that does not depend on the number of URLs. An answer takes
//! the walk and time linear in the longest rule. The other forms show at most [`MAX_ANSWERS`] answers, and so do
//! `--json` and `--all-dialects` together for a file over [`MAX_HELD_BYTES`]. The user-agent lines and rule texts shown
//! with each answer are limited.

mod answers;
mod dialects;
mod json;
mod letter_case;
mod listing;
mod typed;
mod uses;
mod words;

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{BufWriter, Write};

use bumpalo::Bump;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use reptile::capture::Capture;
use reptile::contents::{Agent, Explanation, FormatError, Set};
use reptile::crawlers::Resolved;
use reptile::usage::Uses;
use reptile::{Dialect, Profile, UrlError, Verdict};

use reptile::explain::{Choice, DecidingReason, ExplainedFile};
use reptile::limits::MAX_URL_BYTES;
use reptile::urls::path_at_any_origin;

use crate::error::{Exit, Failure, Result, Stop, damaged, note};
use crate::options::{self, UsageOptions};
use crate::outputs::file::Output;
use crate::outputs::summary::grouped;
use crate::sets::agents::{agents_for, agents_under};
use crate::sets::single::{ONE_ORIGIN, compile_capture, one};
use crate::url_list::{command_line, each_url, fault, is_robots, refuse_url_list, typed_urls};
use letter_case::LowerCase;
use reptile_records::detect::{Content, ExpectedInput};
use reptile_records::open::Input;
use reptile_records::open::read_input;
use reptile_records::place::Place;
use uses::{StatedPreferences, UsageQuestions};

/// Maximum number of answers shown in full or as a table. `--brief` and `--json` have no limit.
pub const MAX_ANSWERS: usize = 1000;

/// Maximum size in bytes of a robots.txt that `--json` and `--all-dialects` together keep compiled under every dialect,
/// to answer any number of URLs as they arrive. A larger file is compiled under one dialect at a time.
const MAX_HELD_BYTES: usize = 1 << 20;

/// Maximum number of user-agent lines kept per agent and printed with each answer.
const MAX_NAMING_LINES: usize = 100;

/// Test URLs against one robots.txt, and explain each verdict
///
/// Shows the file with its relevant lines, and for each URL and crawler the group that the
/// crawler obeys, the best matching Allow and Disallow, which of the two wins, and why. Only
/// a URL's path counts, so a path such as /a/b is enough. A text that begins with a slash is
/// a path, also //a/b; any other text must be a URL, or its verdict is "invalid". White
/// space around a URL is ignored. URLs are decided as written, as in `classify`; a remark
/// says if a browser escapes spaces and other characters before it requests the page. A file
/// name is not accepted as a path; --urls reads URLs from a file. The command reads a web page
/// only if it has rules, or if --status makes it the body of a response; the dialect's fetch
/// profile decides whether the rules count.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile test robots.txt --agent MyBot /private/x /public
  reptile test robots.txt --agent MyBot --agent OtherBot --all-dialects /x
  curl -s https://example.com/robots.txt | reptile test - --agent MyBot --brief /x
  reptile test robots.txt --agent MyBot --json < urls.txt
  reptile test robots.txt --agent MyBot --expect allow / /products
  reptile test robots.txt --agent MyBot --expect allow --urls urls.txt
  reptile test robots.txt --agent MyBot --status 503 --profile rfc9309 /x

The fields of --json, an object on each line:
  url, agent   as given, without white space around the URL
  dialect      the dialect of this answer
  verdict      allow, disallow, or invalid for a text that is not a URL or a path
  line         the line of the deciding rule, 0 if no rule decides
  why          no-group, no-match, always-allowed, empty-rule, only-kind,
               longer, allow-on-tie, first, fetch, no-url
  because      the reason in words
  path         the compared path: the URL's path in the dialect's normal form
  group        by: token, default-group or nobody; token: the matched product
               token; lines: the first 100 user-agent lines of the groups;
               more_lines: the number of other lines, if there are any
  allow        the best matching Allow, or null: line, text as in the file,
               pattern in normal form, octets that count; after 32 KiB, the text
               and the pattern are cut, and end in \"...\"
  disallow     the best matching Disallow, likewise
  remarks      what to know of the URL, if there is anything
  agrees       with --all-dialects: whether the verdict equals that of --dialect
  usage        with --usage: each use with the website's preference: allowed,
               disallowed, unknown, not-applicable
  stated       with --usage: the lines that state the preferences

Exit code: 0 done, regardless of the verdicts; 1 with --expect, if any verdict differs;
2 the command failed, or there was no URL to test."
)]
pub struct Args {
    /// A robots.txt; - is standard input
    robots: Place,
    /// The URLs to test; if none are given, the lines of --urls
    #[arg(value_name = "URL", conflicts_with = "list")]
    urls: Vec<OsString>,
    /// A list with a URL or path on each line; blank lines are skipped; decompressed if necessary; - is standard input
    #[arg(long = "urls", value_name = "FILE", default_value = "-")]
    list: Place,
    /// A crawler: a product token, a chain such as "A>B>*", or a group of crawlers, @ai-training or @search; can be
    /// repeated
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    agents: Vec<String>,
    #[command(flatten)]
    uses: UsageOptions,
    /// The dialect: how the file is interpreted [default: google]
    #[arg(long, value_name = "NAME", value_parser = options::dialects())]
    dialect: Option<&'static Dialect>,
    /// Answer under every dialect, mark differences from --dialect, and explain them
    #[arg(long)]
    all_dialects: bool,
    /// The HTTP status of the response; the file is its body, and may be a web page
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=999))]
    status: Option<u16>,
    /// The fetch profile: how the status is interpreted [default: the dialect's profile]
    #[arg(long, value_name = "NAME", value_parser = options::profiles())]
    profile: Option<&'static Profile>,
    /// Exit with 1 unless every verdict is this one
    #[arg(long, value_name = "VERDICT", value_parser = expectations())]
    expect: Option<Verdict>,
    /// Print only one line for each URL and crawler
    #[arg(long, conflicts_with_all = ["json", "full"])]
    brief: bool,
    /// Print a JSON object for each URL, crawler and dialect
    #[arg(long)]
    json: bool,
    /// Show all lines of a long file, and long lines in full
    #[arg(long)]
    full: bool,
}

/// Returns a parser for a verdict that can be expected.
fn expectations() -> impl TypedValueParser<Value = Verdict> {
    PossibleValuesParser::new([Verdict::Allow.name(), Verdict::Disallow.name()])
        .map(|name| if name == Verdict::Allow.name() { Verdict::Allow } else { Verdict::Disallow })
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the robots.txt or the URLs cannot be read, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let from_stdin = args.robots.is_standard();
    if from_stdin && args.urls.is_empty() && args.list.is_standard() {
        return Err(Failure::new("standard input cannot be both the robots.txt and the URLs; give URLs as arguments"));
    }
    let body = read_body(args)?;
    let urls = typed_urls(&args.urls, |list| list_command(args, &args.robots, list))?;
    match urls.iter().find(|url| url.is_empty() || url.len() > MAX_URL_BYTES) {
        Some([]) => return Err(Failure::new("an empty argument is not a URL; the path of the home page is /")),
        Some(url) => {
            let start = String::from_utf8_lossy(&url[..40]);
            let message = format!("a URL of {} bytes, over the limit of {MAX_URL_BYTES}: {start:?}...", url.len());
            return Err(Failure::new(message));
        }
        None => {}
    }
    let uses = uses::of(args)?;
    let asked = args.dialect.unwrap_or(reptile::dialects::DEFAULT);
    agents_for(asked, &args.agents, &[&body])?;
    let file = File { args, urls, body: &body, asked, uses, given: VerdictTally::default() };
    let mut out = BufWriter::new(Output::stdout());
    let written = answer(&file, &mut out).and_then(|left_out| out.flush().map(|()| left_out).map_err(Stop::Write));
    let left_out = written.map_err(|stop| out.get_ref().stop_failure(stop, &args.robots))?;
    // An overlong URL has no verdict, so it does not have the expected one.
    let is_done = args.expect.is_none_or(|expected| file.given.is_all(expected) && left_out == 0);
    Ok(Exit::from_bad(!is_done))
}

/// Reads the robots.txt. With `--status` or `--profile`, any file is accepted as the body of a response.
///
/// # Errors
/// Returns an error if the file is unreadable. Without these options, also returns an error if it is neither a robots.txt
/// nor another format with rules.
fn read_body(args: &Args) -> Result<Vec<u8>> {
    let input = Input::open(&args.robots)?;
    let is_response = match input.content {
        Content::Folder => false,
        // The fetch profile decides how to treat a page.
        Content::Html | Content::Xml => args.status.is_some() || args.profile.is_some(),
        _ => args.status.is_some(),
    };
    if is_response {
        return Ok(read_input(input)?);
    }
    let input = input.prefer_robots()?;
    let dialect = args.dialect.unwrap_or(reptile::dialects::DEFAULT);
    let body = read_input(one(input, ExpectedInput::Robots, Profile::of_dialect(dialect))?)?;
    let swapped = || {
        let robots = args.urls.iter().find(|url| is_robots(&Place::from(&***url)));
        let robots = robots.map_or(Place::from("ROBOTS.TXT"), |url| Place::from(&**url));
        let command = list_command(args, &robots, &args.robots.display().to_string());
        format!("`{command}` tests them")
    };
    refuse_url_list(&args.robots, &body, swapped)?;
    Ok(body)
}

/// Returns the command line that tests a list with the same options.
fn list_command(args: &Args, robots: &Place, list: &str) -> String {
    let (robots, status) = (robots.display().to_string(), args.status.map(|status| status.to_string()));
    let mut words = vec!["test", &robots];
    words.extend(args.agents.iter().flat_map(|agent| ["--agent", agent]));
    words.extend(args.dialect.iter().flat_map(|dialect| ["--dialect", dialect.as_str()]));
    words.extend(args.all_dialects.then_some("--all-dialects"));
    words.extend(status.iter().flat_map(|status| ["--status", status]));
    words.extend(args.profile.iter().flat_map(|profile| ["--profile", profile.as_str()]));
    words.extend(args.expect.iter().flat_map(|expected| ["--expect", expected.name()]));
    let flags = [("--brief", args.brief), ("--json", args.json), ("--full", args.full)];
    words.extend(flags.iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| *flag));
    words.extend(["--urls", list]);
    command_line(words)
}

/// Verdict counts by number.
#[derive(Default)]
struct VerdictTally([Cell<u64>; Verdict::ALL.len()]);

impl VerdictTally {
    fn count(&self, verdict: Verdict) {
        if let Some(count) = self.0.get(verdict as usize) {
            count.set(count.get() + 1);
        }
    }

    /// Returns whether every verdict is the expected one, and prints a message otherwise.
    fn is_all(&self, expected: Verdict) -> bool {
        let all = self.0.iter().map(Cell::get).sum::<u64>();
        let others = all - self.0.get(expected as usize).map_or(0, Cell::get);
        if others > 0 {
            let verb = if others == 1 { "is" } else { "are" };
            note(format_args!("{} of {} verdicts {verb} not {expected}", grouped(others), grouped(all)));
        }
        others == 0
    }
}

/// The status and fetch profile of the robots.txt.
#[derive(Clone, Copy)]
struct Fetch {
    status: Option<u16>,
    profile: &'static Profile,
    /// Whether `--status` or `--profile` is given.
    is_given: bool,
}

impl Fetch {
    fn of(args: &Args, dialect: &'static Dialect) -> Fetch {
        let profile = args.profile.unwrap_or_else(|| Profile::of_dialect(dialect));
        Fetch { status: args.status, profile, is_given: args.status.is_some() || args.profile.is_some() }
    }
}

/// Writes the answers for all URLs. Returns the number of overlong lines, which have no answer.
fn answer(file: &File<'_>, out: &mut impl Write) -> std::result::Result<u64, Stop> {
    let args = file.args;
    let arena = Bump::new();
    if args.all_dialects && args.json && file.body.len() <= MAX_HELD_BYTES {
        let columns = reptile::dialects::ALL.iter().map(|dialect| file.column(dialect, &arena));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        return file.each_url(out, |url, out| json::write(&columns, file.asked, url, out));
    }
    if args.all_dialects {
        let (urls, left_out) = few_urls(file, out)?;
        if args.json {
            json::write_by_dialect(file, &urls, out)?
        } else {
            dialects::write(file, &urls, out)?
        }
        return Ok(left_out);
    }
    let column = file.column(file.asked, &arena)?;
    if args.json {
        return file.each_url(out, |url, out| json::write(std::slice::from_ref(&column), file.asked, url, out));
    }
    if args.brief {
        // The URL column fits the URLs given as arguments.
        let brief = answers::Brief::new(&column, &file.urls);
        return file
            .each_url(out, |url, out| (0..column.agents.len()).try_for_each(|agent| brief.write(url, agent, out)));
    }
    let (urls, left_out) = few_urls(file, out)?;
    let tested = DialectResults { name: &args.robots, column: &column, answers: column.answers(&urls)?, urls: &urls };
    listing::write(&tested, args.full, out)?;
    out.write_all(answers::full(&tested, args.full).as_bytes())?;
    Ok(left_out)
}

/// Returns the URLs, if there are few enough to answer together, and the number of overlong lines.
///
/// # Errors
/// Returns an error if there are more than [`MAX_ANSWERS`] answers, or the URLs cannot be read.
fn few_urls(file: &File<'_>, out: &mut impl Write) -> std::result::Result<(Vec<Vec<u8>>, u64), Stop> {
    let args = file.args;
    let agent_count = agents_under(file.asked, &args.agents)?.len();
    let mut urls: Vec<Vec<u8>> = Vec::new();
    let left_out = file.each_url(out, |url, _| {
        urls.push(url.to_vec());
        if urls.len() * agent_count > MAX_ANSWERS {
            let limit = grouped(MAX_ANSWERS as u64);
            let others = match (args.all_dialects, args.json) {
                (true, true) => format!("a file of at most {} bytes takes any number", grouped(MAX_HELD_BYTES as u64)),
                (true, false) => "--json takes any number".into(),
                (false, _) => "--brief and --json take any number".into(),
            };
            let message =
                format!("at most {limit} answers, one for each URL and crawler, are shown in this form; {others}");
            return Err(Failure::new(message).into());
        }
        Ok(())
    })?;
    Ok((urls, left_out))
}

/// The file, and the user's questions.
struct File<'t> {
    args: &'t Args,
    /// The URLs given as arguments.
    urls: Vec<&'t [u8]>,
    body: &'t [u8],
    /// The reference dialect, with which the others are compared.
    asked: &'static Dialect,
    /// The uses of `--usage`.
    uses: Option<Uses>,
    given: VerdictTally,
}

impl File<'_> {
    /// Reads and compiles the file under a dialect.
    fn column<'b>(&'b self, dialect: &'static Dialect, arena: &'b Bump) -> Result<Column<'b>> {
        let agents = agents_under(dialect, &self.args.agents)?;
        Column::new(self, dialect, Fetch::of(self.args, dialect), agents, arena)
    }

    /// Passes each URL to `work`, reading a list as it arrives. Returns the number of overlong lines.
    fn each_url<W: Write>(
        &self,
        out: &mut W,
        mut work: impl FnMut(&[u8], &mut W) -> std::result::Result<(), Stop>,
    ) -> std::result::Result<u64, Stop> {
        if self.urls.is_empty() {
            return each_url(&self.args.list, out, work);
        }
        self.urls.iter().try_for_each(|url| work(url, out)).map(|()| 0)
    }
}

/// The questions and answers under one dialect, to be shown together.
struct DialectResults<'t> {
    name: &'t Place,
    column: &'t Column<'t>,
    urls: &'t [Vec<u8>],
    /// The answers for each URL and agent, ordered by URL.
    answers: Vec<Answer>,
}

impl DialectResults<'_> {
    /// Returns each question's URL and agent, in answer order.
    fn questions(&self) -> impl Iterator<Item = (&[u8], &Resolved)> {
        questions(self.urls, &self.column.agents)
    }
}

/// Returns each question's URL and agent, ordered by URL.
fn questions<'q>(urls: &'q [Vec<u8>], agents: &'q [Resolved]) -> impl Iterator<Item = (&'q [u8], &'q Resolved)> {
    urls.iter().flat_map(|url| agents.iter().map(|agent| (&**url, agent)))
}

/// The file under one dialect.
struct Column<'b> {
    reading: ExplainedFile<'b>,
    fetch: Fetch,
    agents: Vec<Resolved>,
    /// The groups that each agent obeys.
    choices: Vec<Choice>,
    /// The user-agent lines of each agent's groups.
    naming: Vec<Naming>,
    set: Set<Vec<u8>>,
    looked_up: Vec<Agent>,
    asked: Option<UsageQuestions<'b>>,
    lower_case: Option<LowerCase>,
    given: &'b VerdictTally,
}

/// The user-agent lines that assign groups to an agent.
struct Naming {
    /// The first lines, at most [`MAX_NAMING_LINES`].
    lines: Vec<u32>,
    /// Number of all lines.
    count: usize,
}

/// The answer for a URL and an agent.
struct Answer {
    explanation: Explanation,
    why: DecidingReason,
    /// The agent's index.
    agent: usize,
    /// The path in normal form.
    path: Vec<u8>,
    /// The normal form in readable form.
    shown_path: Vec<u8>,
    /// Whether the URL's path differs from it.
    path_differs: bool,
    /// Remarks on the URL.
    remarks: Vec<String>,
    /// The website's preferences for the uses of `--usage`.
    stated: Option<StatedPreferences>,
}

impl Answer {
    /// Returns the answer for text that is not a URL or a path.
    fn invalid(agent: usize, error: UrlError) -> Answer {
        Answer {
            explanation: Explanation::without_rule(Verdict::Invalid),
            why: DecidingReason::NoMatch,
            agent,
            path: Vec::new(),
            shown_path: Vec::new(),
            path_differs: false,
            remarks: vec![fault(error).into()],
            stated: None,
        }
    }

    /// Returns why the rule decides, or why there is no rule, as a stable name.
    fn why_name(&self) -> &'static str {
        match self.explanation.verdict {
            Verdict::Invalid => "no-url",
            _ => self.why.as_str(),
        }
    }

    /// Returns the deciding rule's line, or 0.
    fn line(&self) -> u32 {
        self.explanation.rule().map_or(0, |rule| rule.line)
    }
}

impl<'b> Column<'b> {
    /// Reads and compiles a file under a dialect.
    fn new(
        file: &'b File<'_>,
        dialect: &'static Dialect,
        fetch: Fetch,
        agents: Vec<Resolved>,
        arena: &'b Bump,
    ) -> Result<Column<'b>> {
        let (name, body) = (&file.args.robots, file.body);
        let fail = |error: FormatError| damaged(name, &error);
        let capture = Capture { status: fetch.status, ..Capture::default() };
        let bytes = compile_capture(name, body, dialect, fetch.profile, &capture)?;
        let asked = file.uses.as_ref().map(|uses| UsageQuestions::new(uses, file.args, bytes.clone())).transpose()?;
        let set = Set::from_bytes(bytes).map_err(fail)?;
        let looked_up = agents.iter().map(|agent| agent.look_up(&set)).collect::<std::result::Result<_, _>>();
        let reading = ExplainedFile::new(body, dialect, arena);
        let choices: Vec<Choice> = agents.iter().map(|agent| reading.choose(agent)).collect();
        let naming = agents.iter().zip(&choices).map(|(agent, choice)| {
            let mut lines = reading.naming_lines(agent, choice);
            let first: Vec<u32> = lines.by_ref().take(MAX_NAMING_LINES).collect();
            Naming { count: first.len() + lines.count(), lines: first }
        });
        let naming = naming.collect();
        let looked_up = looked_up.map_err(fail)?;
        let lower_case = LowerCase::new(name, body, dialect, fetch, &agents)?;
        Ok(Column { lower_case, reading, fetch, choices, naming, looked_up, agents, set, asked, given: &file.given })
    }

    /// Returns the answers for some URLs and every agent, ordered by URL.
    fn answers(&self, urls: &[Vec<u8>]) -> Result<Vec<Answer>> {
        let questions = urls.iter().flat_map(|url| (0..self.agents.len()).map(move |agent| (url, agent)));
        questions.map(|(url, agent)| self.answer(url, agent)).collect()
    }

    /// Decides a URL for an agent.
    fn answer(&self, url: &[u8], agent: usize) -> Result<Answer> {
        self.answer_or_damage(url, agent).map_err(|error| Failure::new(error.to_string()))
    }

    fn answer_or_damage(&self, url: &[u8], agent: usize) -> std::result::Result<Answer, reptile::Error> {
        let dialect = self.reading.dialect();
        let (written, remark) = match path_at_any_origin(url) {
            Ok(path) => typed::requested(path.to_vec(), dialect),
            Err(error) => {
                self.given.count(Verdict::Invalid);
                return Ok(Answer::invalid(agent, error));
            }
        };
        let explanation = match self.set.policy(&ONE_ORIGIN)? {
            Some(policy) => policy.explain(&self.looked_up[agent], &written)?,
            None => Explanation::without_rule(Verdict::Allow),
        };
        let path = dialect.normal_form.path(&written).into_owned();
        let why = self.reading.why(&explanation, &self.choices[agent], &path);
        let shown_path = dialect.normal_form.shown(&path).into_owned();
        let path_differs = shown_path != written;
        let stated = self.asked.as_ref().map(|asked| asked.of(agent, &written)).transpose()?;
        let other_case = self.other_case(agent, &written, explanation.verdict)?;
        let remarks = remark.into_iter().chain(other_case).collect();
        self.given.count(explanation.verdict);
        Ok(Answer { explanation, why, agent, path, shown_path, path_differs, remarks, stated })
    }
}
