//! The file with the user's questions, read and compiled under a dialect, and its answers.

use std::cell::Cell;
use std::io::Write;

use bumpalo::Bump;
use reptile::capture::Capture;
use reptile::contents::{Agent, Explanation, FormatError, Set};
use reptile::crawlers::Resolved;
use reptile::explain::{Choice, DecidingReason, ExplainedFile};
use reptile::urls::path_at_any_origin;
use reptile::usage::Uses;
use reptile::{Dialect, UrlError, Verdict};

use super::args::{Args, Fetch};
use super::letter_case::LowerCase;
use super::typed;
use super::uses::{StatedPreferences, UsageQuestions};
use crate::error::{Failure, Result, Stop, damaged, note};
use crate::outputs::summary::grouped;
use crate::sets::agents::agents_under;
use crate::sets::single::{ONE_ORIGIN, compile_capture};
use crate::url_list::{each_url, fault};
use reptile_records::place::Place;

/// Maximum number of user-agent lines kept per agent and printed with each answer.
const MAX_NAMING_LINES: usize = 100;

/// The file, and the user's questions.
pub struct File<'t> {
    pub args: &'t Args,
    /// The URLs given as arguments.
    pub urls: Vec<&'t [u8]>,
    pub body: &'t [u8],
    /// The dialect that the others are compared with.
    pub asked: &'static Dialect,
    /// The uses of `--usage`.
    pub uses: Option<Uses>,
    pub given: VerdictTally,
}

impl File<'_> {
    /// Reads and compiles the file under a dialect.
    pub fn column<'b>(&'b self, dialect: &'static Dialect, arena: &'b Bump) -> Result<Column<'b>> {
        let agents = agents_under(dialect, &self.args.agents)?;
        Column::new(self, dialect, Fetch::of(self.args, dialect), agents, arena)
    }

    /// Passes each URL to `work`, reading a list as it arrives. Returns the number of overlong lines.
    pub fn each_url<W: Write>(
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

/// Verdict counts by number.
#[derive(Default)]
pub struct VerdictTally([Cell<u64>; Verdict::ALL.len()]);

impl VerdictTally {
    fn count(&self, verdict: Verdict) {
        if let Some(count) = self.0.get(verdict as usize) {
            count.set(count.get() + 1);
        }
    }

    /// Returns whether every verdict is the expected one, and prints a message otherwise.
    pub fn is_all(&self, expected: Verdict) -> bool {
        let all = self.0.iter().map(Cell::get).sum::<u64>();
        let others = all - self.0.get(expected as usize).map_or(0, Cell::get);
        if others > 0 {
            let verb = if others == 1 { "is" } else { "are" };
            note(format_args!("{} of {} verdicts {verb} not {expected}", grouped(others), grouped(all)));
        }
        others == 0
    }
}

/// The questions and answers under one dialect, to be shown together.
pub struct DialectResults<'t> {
    pub name: &'t Place,
    pub column: &'t Column<'t>,
    pub urls: &'t [Vec<u8>],
    /// The answers for each URL and agent, ordered by URL.
    pub answers: Vec<Answer>,
}

impl DialectResults<'_> {
    /// Returns each question's URL and agent, in answer order.
    pub fn questions(&self) -> impl Iterator<Item = (&[u8], &Resolved)> {
        questions(self.urls, &self.column.agents)
    }
}

/// Returns each question's URL and agent, ordered by URL.
pub fn questions<'q>(urls: &'q [Vec<u8>], agents: &'q [Resolved]) -> impl Iterator<Item = (&'q [u8], &'q Resolved)> {
    urls.iter().flat_map(|url| agents.iter().map(|agent| (&**url, agent)))
}

/// The file under one dialect.
pub struct Column<'b> {
    pub reading: ExplainedFile<'b>,
    pub fetch: Fetch,
    pub agents: Vec<Resolved>,
    /// The groups that each agent obeys.
    pub choices: Vec<Choice>,
    /// The user-agent lines of each agent's groups.
    pub naming: Vec<Naming>,
    set: Set<Vec<u8>>,
    looked_up: Vec<Agent>,
    asked: Option<UsageQuestions<'b>>,
    lower_case: Option<LowerCase>,
    given: &'b VerdictTally,
}

/// The user-agent lines that assign groups to an agent.
pub struct Naming {
    /// The first lines, at most [`MAX_NAMING_LINES`].
    pub lines: Vec<u32>,
    /// Number of all lines.
    pub count: usize,
}

/// The answer for a URL and an agent.
pub struct Answer {
    pub explanation: Explanation,
    pub why: DecidingReason,
    /// The agent's index.
    pub agent: usize,
    /// The path in normal form.
    pub path: Vec<u8>,
    /// The normal form in readable form.
    pub shown_path: Vec<u8>,
    /// Whether the URL's path differs from it.
    pub path_differs: bool,
    /// Remarks on the URL.
    pub remarks: Vec<String>,
    /// The website's preferences for the uses of `--usage`.
    pub stated: Option<StatedPreferences>,
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
    pub fn why_name(&self) -> &'static str {
        match self.explanation.verdict {
            Verdict::Invalid => "no-url",
            _ => self.why.as_str(),
        }
    }

    /// Returns the deciding rule's line, or 0.
    pub fn line(&self) -> u32 {
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
    pub fn answers(&self, urls: &[Vec<u8>]) -> Result<Vec<Answer>> {
        let questions = urls.iter().flat_map(|url| (0..self.agents.len()).map(move |agent| (url, agent)));
        questions.map(|(url, agent)| self.answer(url, agent)).collect()
    }

    /// Decides a URL for an agent.
    pub fn answer(&self, url: &[u8], agent: usize) -> Result<Answer> {
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
        let as_written = (&self.set, &self.looked_up[agent]);
        let other_case = match &self.lower_case {
            Some(lower) => lower.remark(&self.reading, as_written, agent, &written, explanation.verdict)?,
            None => None,
        };
        let remarks = remark.into_iter().chain(other_case).collect();
        self.given.count(explanation.verdict);
        Ok(Answer { explanation, why, agent, path, shown_path, path_differs, remarks, stated })
    }
}
