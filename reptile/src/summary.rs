//! A crawler's access to an origin over all paths: [`Summary`]; and its permission for a use: [`UsageAccess`].
//!
//! [`Agent::access`] and [`Agent::permissions`] summarize one origin. [`Summarizer`] summarizes many, and examines every
//! ruleset once. For programs that read [`crate::contents`], [`Statements`] and [`UsageStatements`] hold the answers by
//! ruleset.
//!
//! ```
//! use reptile::{Capture, Compiler, Dialect};
//! use reptile::summary::{Access, DecidingRules, Statements, Summarizer};
//!
//! let mut compiler = Compiler::new(Dialect::google());
//! compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\nallow: /$\ndisallow: /")?)?;
//! let set = compiler.finish()?.into_set()?;
//! let mut summarizer = Summarizer::new(set.agents(["GPTBot"])?);
//! let origins = ["https://example.com".parse()?, "https://example.org".parse()?];
//! let found = summarizer.summarize(&origins)?;
//! assert_eq!([found[0].access, found[1].access], [Access::Partial, Access::Unknown]);
//! assert_eq!(found[0].allowed_path.as_deref(), Some(&b"/"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod usage;

use std::borrow::Cow;
use std::collections::HashMap;

use reptile_compiler::reason::{self, Extent, Reasoner, Statement};
use reptile_engine::format::FormatError;
use reptile_engine::set::{self as engine, Policy};

use crate::agent::{Agent, Agents};
use crate::error::Error;
use crate::parallel::map_all;
use crate::set::{AgentColumns, AgentQuery, Set, SiteLookup};
use crate::{Group, Origin, Reason, Verdict};

pub use self::usage::{DecidingUsage, UsageAccess, UsageStatements};

/// A crawler's access to an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// Every URL of the origin is allowed.
    Allowed,
    /// Every URL is disallowed, except /robots.txt itself.
    Disallowed,
    /// Some URLs are allowed and some are not.
    Partial,
    /// No robots.txt is known for the origin.
    Unknown,
    /// Allowed, disallowed or partial, but the proof would have taken too long.
    Unproved,
    /// The text is neither a URL nor a host.
    Invalid,
}

reptile_engine::words!(Access, "an access", name {
    Allowed => "allowed",
    Disallowed => "disallowed",
    Partial => "partial",
    Unknown => "unknown",
    Unproved => "unproved",
    Invalid => "invalid",
});

/// The deciding rules or verdict for a crawler at an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecidingRules {
    /// No rules: the same verdict for every path.
    One {
        /// The verdict.
        verdict: Verdict,
        /// Why the group applies to the crawler.
        group: Group,
        /// The reason for the verdict.
        reason: Reason,
    },
    /// The rules of some rulesets.
    Rules {
        /// The rulesets' numbers.
        rulesets: Vec<u32>,
        /// Why the group applies to the crawler.
        group: Group,
        /// The reason on paths that a rule decides.
        reason: Reason,
    },
}

impl DecidingRules {
    /// Returns the deciding rules or verdict for a crawler under a policy.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn of(policy: &Policy<'_>, agent: &engine::Agent) -> Result<DecidingRules, FormatError> {
        let (source, group) = (policy.source()?, policy.group_of(agent)?);
        if source.verdict().is_some() {
            let explained = policy.explain(agent, b"/")?;
            return Ok(DecidingRules::One { verdict: explained.verdict, group, reason: explained.reason() });
        }
        let rules = policy.rules_for(agent)?;
        if rules.is_empty() {
            let reason = Reason::NoRule(source.cause());
            return Ok(DecidingRules::One { verdict: Verdict::Allow, group, reason });
        }
        let rulesets = rules.iter().map(|rules| rules.number).collect();
        Ok(DecidingRules::Rules { rulesets, group, reason: Reason::Rule(source.cause()) })
    }

    /// Returns why the group applies to the crawler.
    #[must_use]
    pub fn group(&self) -> Group {
        match self {
            DecidingRules::One { group, .. } | DecidingRules::Rules { group, .. } => *group,
        }
    }

    /// Returns the ruleset numbers, if rules decide.
    #[must_use]
    pub fn rulesets(&self) -> Option<&[u32]> {
        match self {
            DecidingRules::One { .. } => None,
            DecidingRules::Rules { rulesets, .. } => Some(rulesets),
        }
    }
}

/// The statements about the rulesets of one set that were examined so far. Each distinct list of rulesets takes about
/// 100 bytes.
pub struct Statements {
    reasoner: Reasoner,
    known: HashMap<Vec<u32>, Statement>,
}

impl Statements {
    /// Returns an empty collection for a set.
    ///
    /// ```
    /// use reptile::contents::Set;
    /// use reptile::summary::{Access, DecidingRules, Statements};
    /// use reptile::{Capture, Compiler, Dialect};
    ///
    /// let mut compiler = Compiler::new(Dialect::google());
    /// compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /")?)?;
    /// let mut bytes = Vec::new();
    /// compiler.finish()?.write(&mut bytes)?;
    ///
    /// let set = Set::from_bytes(&bytes[..])?;
    /// let agent = set.crawler(b"AnyBot")?;
    /// let mut statements = Statements::new(&set);
    /// for origin in set.origins() {
    ///     let deciding = DecidingRules::of(&set.policy_of(&origin?)?, &agent)?;
    ///     statements.examine(&set, [&deciding].into_iter())?;
    ///     assert_eq!(statements.summary(Some(&deciding)).access, Access::Disallowed);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new<B: AsRef<[u8]>>(set: &engine::Set<B>) -> Statements {
        Statements { reasoner: Reasoner::new(set.normal_form()), known: HashMap::new() }
    }

    /// Returns the number of distinct rulesets, or lists of rulesets that decide together, examined so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns whether no ruleset was examined.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Examines the rulesets without a statement, on all threads with the feature `rayon`.
    ///
    /// Cost: usually a few microseconds for each new ruleset, and at most tens of milliseconds.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn examine<'d, B: AsRef<[u8]> + Sync>(
        &mut self,
        set: &engine::Set<B>,
        deciding: impl Iterator<Item = &'d DecidingRules>,
    ) -> Result<(), FormatError> {
        let mut new: Vec<&[u32]> = deciding
            .filter_map(DecidingRules::rulesets)
            .filter(|rulesets| !self.known.contains_key(*rulesets))
            .collect();
        new.sort_unstable();
        new.dedup();
        let examine = |numbers: &&[u32]| {
            Ok::<_, FormatError>((
                numbers.to_vec(),
                self.reasoner.extent(reason::Access::of_rulesets(set, numbers)?.rulesets())?,
            ))
        };
        for found in map_all(&new, examine) {
            self.known.extend([found?]);
        }
        Ok(())
    }

    /// Returns the statement about one or more rulesets that decide together, if examined.
    #[must_use]
    pub fn get(&self, rulesets: &[u32]) -> Option<&Statement> {
        self.known.get(rulesets)
    }
}

/// A crawler's access to an origin, with its reason: a row of `reptile summarize`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Summary<'s> {
    /// The access, over all paths.
    pub access: Access,
    /// Why the crawler's group applies to it.
    pub group: Group,
    /// Number of Allow rules in the crawler's groups.
    pub allow_rules: u32,
    /// Number of Disallow rules in the crawler's groups.
    pub disallow_rules: u32,
    /// The reason, in the words of an explanation.
    pub reason: Reason,
    /// For partial access, a shortest allowed path as written in a URL. For unproved access, an allowed path if known.
    #[cfg_attr(feature = "serde", serde(with = "path"))]
    pub allowed_path: Option<Cow<'s, [u8]>>,
    /// The same for disallowed paths.
    #[cfg_attr(feature = "serde", serde(with = "path"))]
    pub disallowed_path: Option<Cow<'s, [u8]>>,
}

/// Serializes a path, if there is one.
#[cfg(feature = "serde")]
mod path {
    use std::borrow::Cow;

    use reptile_engine::words::Text;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Option<Cow<'_, [u8]>>, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_ref().map(|path| Text(path.to_vec())).serialize(serializer)
    }

    pub(super) fn deserialize<'de, 's, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Cow<'s, [u8]>>, D::Error> {
        Ok(Option::<Text>::deserialize(deserializer)?.map(|Text(path)| path.into()))
    }
}

impl<'s> Summary<'s> {
    /// Returns the summary for a text that is neither a URL nor a host.
    #[must_use]
    pub fn invalid() -> Summary<'static> {
        Summary::without_rules(Access::Invalid, Group::None, Reason::NoUrl)
    }

    /// Returns the summary for an origin without a known robots.txt.
    #[must_use]
    pub fn unknown() -> Summary<'static> {
        Summary::without_rules(Access::Unknown, Group::None, Reason::NoRobots)
    }

    fn without_rules(access: Access, group: Group, reason: Reason) -> Summary<'static> {
        let (allowed_path, disallowed_path) = (None, None);
        Summary { access, group, allow_rules: 0, disallow_rules: 0, reason, allowed_path, disallowed_path }
    }

    fn of_verdict(verdict: Verdict, group: Group, reason: Reason) -> Summary<'static> {
        let access = if verdict == Verdict::Disallow { Access::Disallowed } else { Access::Allowed };
        Summary::without_rules(access, group, reason)
    }

    fn of_statement(statement: &'s Statement, group: Group, reason: Reason) -> Summary<'s> {
        let (access, allowed, disallowed) = match &statement.extent {
            Extent::Allowed => (Access::Allowed, None, None),
            Extent::Disallowed => (Access::Disallowed, None, None),
            Extent::Partial { allowed, disallowed } => (Access::Partial, Some(allowed), Some(disallowed)),
            Extent::Unproved { example: Some((Verdict::Disallow, path)) } => (Access::Unproved, None, Some(path)),
            Extent::Unproved { example: Some((_, path)) } => (Access::Unproved, Some(path), None),
            Extent::Unproved { example: None } => (Access::Unproved, None, None),
        };
        let Statement { allow_rules, disallow_rules, .. } = *statement;
        let reason = match reason {
            // The rulesets have no rules, or only rules that restrict nothing.
            Reason::Rule(cause) if allow_rules + disallow_rules == 0 => Reason::NoRule(cause),
            reason => reason,
        };
        let path = |path: Option<&'s Vec<u8>>| path.map(|path| Cow::Borrowed(path.as_slice()));
        let (allowed_path, disallowed_path) = (path(allowed), path(disallowed));
        Summary { access, group, allow_rules, disallow_rules, reason, allowed_path, disallowed_path }
    }

    /// Returns the summary with its own copies of the paths.
    #[must_use]
    pub fn into_owned(self) -> Summary<'static> {
        let own = |path: Option<Cow<'_, [u8]>>| path.map(|path| Cow::Owned(path.into_owned()));
        let (allowed_path, disallowed_path) = (own(self.allowed_path), own(self.disallowed_path));
        Summary { allowed_path, disallowed_path, ..self }
    }
}

impl Statements {
    /// Returns the summary for deciding rules that were examined; `None` means an origin without a known robots.txt.
    #[must_use]
    pub fn summary<'s>(&'s self, deciding: Option<&DecidingRules>) -> Summary<'s> {
        match deciding {
            None => Summary::unknown(),
            Some(DecidingRules::One { verdict, group, reason }) => Summary::of_verdict(*verdict, *group, *reason),
            Some(DecidingRules::Rules { rulesets, group, reason }) => match self.get(rulesets) {
                None => Summary::without_rules(Access::Unproved, *group, *reason),
                Some(statement) => Summary::of_statement(statement, *group, *reason),
            },
        }
    }
}

impl Agent {
    /// Returns the crawler's access to a URL's origin, over all paths.
    ///
    /// ```
    /// use reptile::summary::Access;
    /// use reptile::{Dialect, Robots};
    /// let robots = Robots::parse("user-agent: *\nallow: /$\ndisallow: /", Dialect::google())?;
    /// let found = robots.agent("GPTBot")?.access("/")?;
    /// assert_eq!((found.access, found.allow_rules, found.disallow_rules), (Access::Partial, 1, 1));
    /// assert_eq!(found.allowed_path.as_deref(), Some(&b"/"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: usually a few microseconds, and at most tens of milliseconds. For many origins, use [`Summarizer`].
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`](crate::ErrorKind::Format) if the set is damaged.
    pub fn access(&self, url: impl AsRef<[u8]>) -> Result<Summary<'static>, Error> {
        let (set, query) = self.query()?;
        set.summary_of(query, url.as_ref())
    }
}

impl Set {
    /// Returns an agent's access to a URL's origin.
    fn summary_of(&self, query: AgentQuery<'_>, url: &[u8]) -> Result<Summary<'static>, Error> {
        let (site, engine, resolved) = match self.find(url)? {
            SiteLookup::Invalid => return Ok(Summary::invalid()),
            SiteLookup::Unknown => return Ok(Summary::unknown()),
            SiteLookup::Site { site, replaced: None, .. } => (site, self.engine(), query.resolved.clone()),
            SiteLookup::Site { site, replaced: Some(engine), .. } => (site, engine, query.chain.look_up(engine)?),
        };
        let deciding = DecidingRules::of(site.policy(), &resolved)?;
        let mut statements = Statements::new(engine);
        statements.examine(engine, std::iter::once(&deciding))?;
        Ok(statements.summary(Some(&deciding)).into_owned())
    }

    /// Summarizes origins for agents, with a row of summaries for each origin.
    fn summaries<'s>(
        &self,
        agents: AgentColumns<'_>,
        statements: &'s mut Statements,
        origins: &[Origin],
    ) -> Result<Vec<Summary<'s>>, Error> {
        /// An origin's deciding rules for one agent in this set, or the summary in the set that replaced its site.
        enum Row {
            DecidingRules(Option<DecidingRules>),
            Replaced(Summary<'static>),
        }
        let mut rows = Vec::with_capacity(origins.len() * agents.resolved.len());
        for origin in origins {
            let url = format!("{origin}/");
            let found = self.find(url.as_bytes())?;
            for (resolved, chain) in agents.resolved.iter().zip(agents.chains) {
                rows.push(match &found {
                    SiteLookup::Site { site, replaced: None, .. } => {
                        Row::DecidingRules(Some(DecidingRules::of(site.policy(), resolved)?))
                    }
                    SiteLookup::Site { .. } => {
                        Row::Replaced(self.summary_of(AgentQuery { resolved, chain }, url.as_bytes())?)
                    }
                    SiteLookup::Invalid | SiteLookup::Unknown => Row::DecidingRules(None),
                });
            }
        }
        let deciding = rows.iter().filter_map(|row| match row {
            Row::DecidingRules(deciding) => deciding.as_ref(),
            Row::Replaced(_) => None,
        });
        statements.examine(self.engine(), deciding)?;
        let statements = &*statements;
        let summary = |row| match row {
            Row::DecidingRules(deciding) => statements.summary(deciding.as_ref()),
            Row::Replaced(summary) => summary,
        };
        Ok(rows.into_iter().map(summary).collect())
    }
}

/// Summarizes many origins for some crawlers. Every ruleset is examined once. See [the module](self) for an example.
pub struct Summarizer {
    agents: Agents,
    /// `None` until the first summary.
    statements: Option<Statements>,
}

impl Summarizer {
    /// Creates a summarizer for these crawlers, in their set.
    #[must_use]
    pub fn new(agents: Agents) -> Summarizer {
        Summarizer { agents, statements: None }
    }

    /// Returns the crawlers.
    #[must_use]
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Returns a summary for each origin and crawler: `summaries[i * agents.len() + j]` is for `origins[i]` and the
    /// `j`-th crawler. Uses all threads with the feature `rayon`.
    ///
    /// Cost: an origin lookup for each origin, and the cost of [`Statements::examine`]. Pass a few thousand origins at
    /// a time.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`](crate::ErrorKind::Format) if the set is damaged.
    pub fn summarize(&mut self, origins: &[Origin]) -> Result<Vec<Summary<'_>>, Error> {
        let (set, columns) = self.agents.columns()?;
        set.summaries(columns, self.statements.get_or_insert_with(|| Statements::new(set.engine())), origins)
    }
}

/// Proofs of any crawler's access to any origin, for one query at a time. Every ruleset is examined once.
///
/// ```
/// use reptile::summary::{Access, AccessProofs};
/// use reptile::{Capture, Compiler, Dialect};
/// let mut compiler = Compiler::new(Dialect::google()).by_time(true);
/// let mut capture = Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /")?;
/// capture.time = Some(1_000);
/// compiler.add(capture)?;
/// let set = compiler.finish()?.into_set()?;
/// let (agent, mut proofs) = (set.agent("GPTBot")?, AccessProofs::new(&set));
/// let mut access = |time| proofs.access(&agent, "https://example.com/", Some(time));
/// assert_eq!((access(999)?, access(1_000)?), (Access::Unknown, Access::Disallowed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AccessProofs {
    set: Set,
    statements: Statements,
}

impl AccessProofs {
    /// Returns an empty collection for a set.
    #[must_use]
    pub fn new(set: &Set) -> AccessProofs {
        AccessProofs { set: set.clone(), statements: Statements::new(set.engine()) }
    }

    /// Returns a crawler's access to a URL's origin, over all paths.
    ///
    /// With a time, the rules at that time decide, which requires a set by time. Without one, the set's own rules
    /// decide. The agent must come from this set.
    ///
    /// Cost: an origin lookup, and for a new ruleset [`Statements::examine`].
    ///
    /// # Errors
    /// The errors of [`Agent::decide_at`] and [`Agent::access`].
    pub fn access(&mut self, agent: &Agent, url: impl AsRef<[u8]>, time: Option<i64>) -> Result<Access, Error> {
        let engine = self.set.engine();
        let site = match self.set.find(url.as_ref())? {
            SiteLookup::Invalid => return Ok(Access::Invalid),
            SiteLookup::Unknown => return Ok(Access::Unknown),
            SiteLookup::Site { replaced: Some(_), .. } => return Ok(agent.access(url)?.access),
            SiteLookup::Site { site, .. } => site,
        };
        let policy = match time {
            None => *site.policy(),
            Some(time) => match self.set.timed()?.policy_of_at(site.origin(), time)? {
                None => return Ok(Access::Unknown),
                Some(policy) => policy,
            },
        };
        let deciding = DecidingRules::of(&policy, agent.query()?.1.resolved)?;
        self.statements.examine(engine, std::iter::once(&deciding))?;
        Ok(self.statements.summary(Some(&deciding)).access)
    }
}
