//! The proofs of a list's assertions for one robots.txt.

use std::fmt;

use reptile_compiler::reason::{Access, Assumption, Reasoner, Witness};
use reptile_engine::format::FormatError;

use super::assertions::{Assertion, Assertions, Claim, Mistake, Mistakes, quoted};
use crate::agent::Agent;
use crate::error::Error;
use crate::limits::MAX_PROOF_STEPS;
use crate::robots::Robots;
use crate::set::{Set, any_origin};
use crate::{Explanation, Group, Origin, RuleKind, Verdict};

/// Maximum assertions after each group of crawlers is replaced by its members.
pub const MAX_PROOFS: usize = 4096;

/// Options for proving assertions.
///
/// ```
/// use reptile::prove::{Assertions, Options, Proof};
/// use reptile::{Dialect, Robots};
/// let robots = Robots::parse("user-agent: *\ndisallow: /a", Dialect::google())?;
/// let assertions = Assertions::parse("disallow GPTBot /a")?;
/// let mut options = Options::default();
/// assert_eq!(assertions.prove(&robots, &options)?[0].proof, Proof::NoGroup("GPTBot".into()));
/// options.allow_default = true;
/// assert_eq!(assertions.prove(&robots, &options)?[0].proof, Proof::Holds);
/// options.max_steps = 1;
/// assert_eq!(assertions.prove(&robots, &options)?[0].proof, Proof::Unproved);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether a crawler that no group names obeys the group for `*`, or nothing. By default its assertions fail.
    pub allow_default: bool,
    /// Maximum steps in a search. An assertion needs at most two searches. A step moves one rule over one byte, in a
    /// few nanoseconds. The default is [`MAX_PROOF_STEPS`].
    pub max_steps: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { allow_default: false, max_steps: MAX_PROOF_STEPS }
    }
}

/// The result for one assertion, or for one member of its group of crawlers. See [the module](crate::prove) for an
/// example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome<'a> {
    /// The assertion.
    pub assertion: &'a Assertion,
    /// The assertion's crawlers, with a single member instead of a group.
    pub crawlers: Vec<String>,
    /// Whether the assertion holds.
    pub proof: Proof,
}

/// Writes the assertion for these crawlers, without the result.
impl fmt::Display for Outcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.assertion.text_for(&self.crawlers))
    }
}

/// Whether an assertion holds. See [the module](crate::prove) for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Proof {
    /// The assertion holds for every URL.
    Holds,
    /// The assertion is false for this path.
    Counterexample(Counterexample),
    /// No group names this crawler. The assertion is not examined.
    NoGroup(String),
    /// A search stopped at [`Options::max_steps`], or at a path that is too long for a URL.
    Unproved,
}

impl Proof {
    /// Returns the word for this result: `holds`, `counterexample`, `no-group` or `unproved`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Proof::Holds => "holds",
            Proof::Counterexample(_) => "counterexample",
            Proof::NoGroup(_) => "no-group",
            Proof::Unproved => "unproved",
        }
    }
}

/// A path for which an assertion is false. See [the module](crate::prove) for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Counterexample {
    /// The path, as written in a URL. A shortest one, unless a search stopped early.
    #[cfg_attr(feature = "serde", serde(with = "reptile_engine::words::bytes"))]
    pub path: Vec<u8>,
    /// The verdict for each of [`Outcome::crawlers`], with the deciding rule.
    pub explanations: Vec<Explanation>,
}

/// The reason why a list's assertions cannot be examined.
///
/// ```
/// use reptile::prove::{Assertions, Options, ProveError};
/// use reptile::{Dialect, Robots};
/// let robots = Robots::parse("user-agent: *\ndisallow: /", Dialect::google())?;
/// let error = Assertions::parse("disallow Googelbot /")?.prove(&robots, &Options::default()).unwrap_err();
/// assert!(matches!(&error, ProveError::Mistakes(mistakes) if mistakes.count() == 1));
/// assert!(error.to_string().ends_with("found \"Googelbot\", which is nearly the crawler \"Googlebot\": write that"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ProveError {
    /// Names that are not crawlers under the dialect, patterns that no URL matches, or too many proofs.
    Mistakes(Mistakes),
    /// The set is damaged, or has no robots.txt for the origin.
    Set(Error),
}

impl fmt::Display for ProveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProveError::Mistakes(mistakes) => mistakes.fmt(f),
            ProveError::Set(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ProveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ProveError::Mistakes(_) => None,
            ProveError::Set(error) => error.source(),
        }
    }
}

impl From<Error> for ProveError {
    fn from(error: Error) -> ProveError {
        ProveError::Set(error)
    }
}

impl From<FormatError> for ProveError {
    fn from(error: FormatError) -> ProveError {
        ProveError::Set(error.into())
    }
}

impl Assertions {
    /// Proves or refutes each assertion for a robots.txt. Returns the outcomes in line order, and for a group of
    /// crawlers one for each member.
    ///
    /// Each outcome takes at most two searches of [`Options::max_steps`]: at the default, some tens of milliseconds and
    /// tens of MB; usually far less. There are at most [`MAX_PROOFS`] outcomes.
    ///
    /// # Errors
    /// Returns every mistake that [`Assertions::parse`] cannot detect: a name that is not a product token under the
    /// dialect, a name that is nearly a known crawler's and that no group contains, a pattern that no URL matches, and
    /// more proofs than [`MAX_PROOFS`].
    pub fn prove(&self, robots: &Robots, options: &Options) -> Result<Vec<Outcome<'_>>, ProveError> {
        self.prove_at(robots.set()?, &any_origin(), options)
    }

    /// Does the work of [`Assertions::prove`] for an origin's robots.txt in a set.
    ///
    /// ```
    /// use reptile::prove::{Assertions, Options, Proof};
    /// use reptile::{Capture, Compiler, Dialect};
    /// let mut compiler = Compiler::new(Dialect::google());
    /// compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\nallow: /$\ndisallow: /")?)?;
    /// let set = compiler.finish()?.into_set()?;
    /// let assertions = Assertions::parse("allow * /$\ndisallow * /*.pdf$")?;
    /// let outcomes = assertions.prove_at(&set, &"https://example.com".parse()?, &Options::default())?;
    /// assert!(outcomes.iter().all(|outcome| outcome.proof == Proof::Holds));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Assertions::prove`], and an error if the origin has no robots.txt in the set, or the set
    /// is damaged.
    pub fn prove_at(&self, set: &Set, origin: &Origin, options: &Options) -> Result<Vec<Outcome<'_>>, ProveError> {
        let prover = Prover {
            set,
            reasoner: Reasoner::with_max_steps(set.normal_form(), options.max_steps),
            origin: origin.to_string(),
            options,
        };
        let (mut questions, mut mistakes) = (Vec::new(), Mistakes::default());
        for assertion in self.iter() {
            let had_room = questions.len() <= MAX_PROOFS;
            match prover.questions(assertion)? {
                Ok(more) if had_room => questions.extend(more),
                Ok(_) => {}
                Err(mistake) => mistakes.add(mistake),
            }
            if had_room && questions.len() > MAX_PROOFS {
                let expected = format!("at most {MAX_PROOFS} assertions, one for each member of a group");
                mistakes.add(Mistake::new(assertion.line, expected, "more"));
            }
        }
        if mistakes.count() > 0 {
            return Err(ProveError::Mistakes(mistakes));
        }
        questions.into_iter().map(|question| prover.answer(question)).collect()
    }
}

/// An assertion about certain crawlers.
struct AssertedAgents<'a> {
    assertion: &'a Assertion,
    agents: Vec<Agent>,
}

/// A prover of assertions for one robots.txt.
struct Prover<'a> {
    set: &'a Set,
    reasoner: Reasoner,
    /// The origin's URL without a path.
    origin: String,
    options: &'a Options,
}

impl<'a> Prover<'a> {
    /// Returns an assertion for each member of its groups of crawlers, or its first mistake.
    fn questions<'q>(&self, assertion: &'q Assertion) -> Result<Result<Vec<AssertedAgents<'q>>, Mistake>, ProveError> {
        let mistake = |expected: &str, found: String| Ok(Err(Mistake::new(assertion.line, expected, found)));
        let mut agents = Vec::with_capacity(assertion.crawlers.len());
        for name in &assertion.crawlers {
            match self.agents(name) {
                Ok(members) => agents.push(members),
                Err(found) => return mistake("a crawler", found),
            }
        }
        for pattern in &assertion.patterns {
            let only = match Assumption::new([pattern], self.set.normal_form()) {
                Ok(only) => only,
                Err(error) => return mistake("a pattern that matches a path", error.to_string()),
            };
            let everything = Access::Every(RuleKind::Allow);
            let found = self.reasoner.any(&everything, RuleKind::Allow, Some(&only)).map_err(FormatError::from)?;
            if found == Witness::None {
                let expected = "a pattern that matches the path of a URL other than /robots.txt";
                return mistake(expected, quoted(pattern));
            }
        }
        let question = |agents: Vec<Agent>| AssertedAgents { assertion, agents };
        let mut agents = agents.into_iter();
        let (first, second) = (agents.next().unwrap_or_default(), agents.next());
        let Some(second) = second else {
            return Ok(Ok(first.into_iter().map(|agent| question(vec![agent])).collect()));
        };
        let is_other =
            |one: &Agent, other: &Agent| !one.crawler().to_string().eq_ignore_ascii_case(&other.crawler().to_string());
        let mut questions = Vec::new();
        for one in &first {
            let others = second.iter().filter(|other| is_other(one, other));
            questions.extend(others.map(|other| question(vec![one.clone(), other.clone()])));
        }
        Ok(Ok(questions))
    }

    /// Resolves a crawler, or a group of crawlers. The error describes the name.
    fn agents(&self, name: &str) -> Result<Vec<Agent>, String> {
        let crawlers = self.set.crawlers_named(name).map_err(|error| error.to_string())?;
        let agents = crawlers.into_iter().map(|crawler| self.set.agent(crawler).map_err(|error| error.to_string()));
        let agents = agents.collect::<Result<Vec<_>, _>>()?;
        let near = agents.first().filter(|_| !name.starts_with('@')).and_then(Agent::probably_meant);
        match near {
            Some(mistake) => Err(format!("{}, {mistake}", quoted(name.as_bytes()))),
            None => Ok(agents),
        }
    }

    /// Answers a question. Each verdict for a counterexample is decided once more, with the deciding rule.
    fn answer<'q>(&self, question: AssertedAgents<'q>) -> Result<Outcome<'q>, ProveError> {
        let AssertedAgents { assertion, agents } = question;
        let crawlers: Vec<String> = agents.iter().map(|agent| agent.crawler().to_string()).collect();
        let outcome = |proof| Ok(Outcome { assertion, crawlers: crawlers.clone(), proof });
        let accesses = agents.iter().map(|agent| self.set.access(agent.query()?.1, self.origin.as_bytes()));
        let accesses = accesses.collect::<Result<Vec<_>, _>>()?;
        for (agent, name) in agents.iter().zip(&crawlers) {
            let names_default = name == "*" || name.ends_with(">*");
            let is_asked = match agent.group(&self.origin)? {
                Group::Named => true,
                Group::Default => names_default || self.options.allow_default,
                _ => self.options.allow_default,
            };
            if !is_asked {
                return outcome(Proof::NoGroup(name.clone()));
            }
        }
        let path = match self.counterexample(assertion, &accesses)? {
            Witness::None => return outcome(Proof::Holds),
            Witness::Unproved => return outcome(Proof::Unproved),
            Witness::Path(path) => path,
        };
        let url = [self.origin.as_bytes(), &path].concat();
        let explanations = agents.iter().map(|agent| agent.explain(&url)).collect::<Result<Vec<_>, _>>()?;
        // With the origin, a path may be too long for a URL.
        match is_refuted(assertion.claim, &explanations) {
            true => outcome(Proof::Counterexample(Counterexample { path, explanations })),
            false => outcome(Proof::Unproved),
        }
    }

    /// Searches for a path for which an assertion is false.
    fn counterexample(&self, assertion: &Assertion, accesses: &[Access<'_>]) -> Result<Witness, ProveError> {
        let only = match &assertion.patterns[..] {
            [] => None,
            // The patterns begin with `/` or `*`, so they have no error.
            patterns => Assumption::new(patterns, self.set.normal_form()).ok(),
        };
        let (reasoner, only) = (&self.reasoner, only.as_ref());
        let found = match (assertion.claim, accesses) {
            (Claim::Allow, [access]) => reasoner.any(access, RuleKind::Disallow, only),
            (Claim::Disallow, [access]) => reasoner.any(access, RuleKind::Allow, only),
            (Claim::NoMore, [first, second]) => reasoner.excess(first, second, only),
            (Claim::Same, [first, second]) => {
                let found = reasoner.compare(first, second, only).map_err(FormatError::from)?;
                return Ok(shorter(found.first_only, found.second_only));
            }
            // A list's assertions have one crawler or two, as their claim requires.
            _ => return Ok(Witness::Unproved),
        };
        Ok(found.map_err(FormatError::from)?)
    }
}

/// Returns the shorter of two paths. Without a path, returns whether the absence is proved.
fn shorter(one: Witness, other: Witness) -> Witness {
    match (one, other) {
        (Witness::Path(one), Witness::Path(other)) => {
            Witness::Path(if (other.len(), &other) < (one.len(), &one) { other } else { one })
        }
        (Witness::Path(path), _) | (_, Witness::Path(path)) => Witness::Path(path),
        (Witness::None, Witness::None) => Witness::None,
        _ => Witness::Unproved,
    }
}

/// Returns whether these verdicts for a path refute a claim.
fn is_refuted(claim: Claim, explanations: &[Explanation]) -> bool {
    let verdicts: Vec<Verdict> = explanations.iter().map(|explanation| explanation.verdict).collect();
    match (claim, &verdicts[..]) {
        (Claim::Allow, [verdict]) => *verdict == Verdict::Disallow,
        (Claim::Disallow, [verdict]) => *verdict == Verdict::Allow,
        (Claim::NoMore, verdicts) => *verdicts == [Verdict::Allow, Verdict::Disallow],
        (Claim::Same, verdicts) => {
            *verdicts == [Verdict::Allow, Verdict::Disallow] || *verdicts == [Verdict::Disallow, Verdict::Allow]
        }
        _ => false,
    }
}
