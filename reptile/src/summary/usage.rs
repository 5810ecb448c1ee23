//! An origin's permissions for some uses, over all URLs that a crawler may fetch.

use std::collections::{HashMap, HashSet};

use reptile_compiler::reason::{self, Reasoner, StatedUses, Witness};
use reptile_engine::format::FormatError;
use reptile_engine::format::policies::UsageGroup;
use reptile_engine::set::{self as engine, Policy, UseTokens};
use reptile_engine::verdict::RuleKind;

use super::{Access, DecidingRules, Statements, Summary};
use crate::Agent;
use crate::error::Error;
use crate::parallel::map_all;
use crate::set::{AgentQuery, Set, SiteLookup};
use crate::usage::Uses;

/// An origin's permission for a use, over all URLs that a crawler may fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum UsageAccess {
    /// The use is allowed for every URL that may be fetched.
    Allowed,
    /// The use is disallowed for every URL that may be fetched.
    Disallowed,
    /// The preference differs between URLs that may be fetched.
    Partial,
    /// The website says nothing about the use of any URL that may be fetched, or no robots.txt is known for the origin.
    Unknown,
    /// No URL may be fetched, so preferences do not apply.
    NotApplicable,
    /// One of the above, but the proof would have taken too long.
    Unproved,
    /// The text is neither a URL nor a host.
    Invalid,
}

reptile_engine::words!(UsageAccess, "a permission", name {
    Allowed => "allowed",
    Disallowed => "disallowed",
    Partial => "partial",
    Unknown => "unknown",
    NotApplicable => "not-applicable",
    Unproved => "unproved",
    Invalid => "invalid",
});

impl UsageAccess {
    /// Returns the permission of an origin that states nothing about uses.
    fn without_usage(summary: &Summary<'_>) -> UsageAccess {
        match summary.access {
            Access::Invalid => UsageAccess::Invalid,
            Access::Allowed | Access::Partial | Access::Unknown => UsageAccess::Unknown,
            Access::Disallowed => UsageAccess::NotApplicable,
            Access::Unproved if summary.allowed_path.is_some() => UsageAccess::Unknown,
            Access::Unproved => UsageAccess::Unproved,
        }
    }

    /// Returns the permission for the paths found by [`Reasoner::uses`].
    fn of_witnesses(found: &[Witness; 3]) -> UsageAccess {
        let exists = |witness: &Witness| matches!(witness, Witness::Path(_));
        let is_unproved = found.contains(&Witness::Unproved);
        match (found.each_ref().map(exists), is_unproved) {
            ([true, true, _] | [true, _, true] | [_, true, true], _) => UsageAccess::Partial,
            (_, true) => UsageAccess::Unproved,
            ([true, false, false], false) => UsageAccess::Allowed,
            ([false, true, false], false) => UsageAccess::Disallowed,
            ([false, false, true], false) => UsageAccess::Unknown,
            ([false, false, false], false) => UsageAccess::NotApplicable,
        }
    }
}

/// The usage rules for a crawler at an origin, with the rules that decide which URLs may be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DecidingUsage {
    /// The rulesets that decide about fetching, or `None` if every path is allowed.
    rulesets: Option<Vec<u32>>,
    groups: Vec<UsageGroup>,
    /// The rulesets of groups whose product token names a use, with the use's index.
    tokens: Vec<(usize, Vec<u32>)>,
}

/// The permissions for some uses by the rules of one set that were examined so far. Each distinct pair of rules and
/// usage rules takes about 150 bytes.
pub struct UsageStatements {
    reasoner: Reasoner,
    uses: Uses,
    tokens: UseTokens,
    known: HashMap<DecidingUsage, Vec<UsageAccess>>,
}

impl UsageStatements {
    /// Returns an empty collection for a set and some uses.
    ///
    /// ```
    /// use reptile::contents::Set;
    /// use reptile::summary::{DecidingRules, UsageAccess, Statements, UsageStatements};
    /// use reptile::usage::{Sources, Vocabulary};
    /// use reptile::{Capture, Compiler, Dialect};
    ///
    /// let mut compiler = Compiler::new(Dialect::google());
    /// let body = "user-agent: *\ncontent-usage: train-ai=n\ncontent-usage: /open/ train-ai=y";
    /// compiler.add(Capture::new("https://example.com/robots.txt", body)?)?;
    /// let mut bytes = Vec::new();
    /// compiler.finish()?.write(&mut bytes)?;
    ///
    /// let set = Set::from_bytes(&bytes[..])?;
    /// let agent = set.crawler(b"AnyBot")?;
    /// let uses = Vocabulary::default().uses(["train-ai", "search"], Sources::USAGE)?;
    /// let (mut access, mut usage) = (Statements::new(&set), UsageStatements::new(&set, uses)?);
    /// for origin in set.origins() {
    ///     let policy = set.policy_of(&origin?)?;
    ///     let deciding = DecidingRules::of(&policy, &agent)?;
    ///     let deciding_usage = usage.deciding(&policy, &agent, &deciding)?;
    ///     access.examine(&set, [&deciding].into_iter())?;
    ///     usage.examine(&set, deciding_usage.iter())?;
    ///     let permissions = usage.permissions(deciding_usage.as_ref(), &access.summary(Some(&deciding)));
    ///     assert_eq!(permissions, [UsageAccess::Partial, UsageAccess::Unknown]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn new<B: AsRef<[u8]>>(set: &engine::Set<B>, uses: Uses) -> Result<UsageStatements, FormatError> {
        let tokens = set.use_tokens(&uses.query)?;
        Ok(UsageStatements { reasoner: Reasoner::new(set.normal_form()), uses, tokens, known: HashMap::new() })
    }

    /// Returns the usage rules for a crawler under a policy, or `None` if it states nothing about the uses or forbids
    /// every fetch. `deciding` is the result of [`DecidingRules::of`].
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn deciding(
        &self,
        policy: &Policy<'_>,
        agent: &engine::Agent,
        deciding: &DecidingRules,
    ) -> Result<Option<DecidingUsage>, FormatError> {
        let rulesets = match deciding {
            DecidingRules::One { verdict: crate::Verdict::Disallow, .. } => return Ok(None),
            DecidingRules::One { .. } => None,
            DecidingRules::Rules { rulesets, .. } => Some(rulesets.clone()),
        };
        let (groups, tokens) = (policy.usages_for(agent)?, policy.use_groups(&self.tokens, agent)?);
        let states_nothing = groups.is_empty() && tokens.is_empty();
        Ok((!states_nothing).then_some(DecidingUsage { rulesets, groups, tokens }))
    }

    /// Returns the uses.
    #[must_use]
    pub fn uses(&self) -> &Uses {
        &self.uses
    }

    /// Examines the rules without a known permission, on all threads with the feature `rayon`.
    ///
    /// Cost: for each new pair of rules and usage rules, and each use, usually a few microseconds, and at most tens of
    /// milliseconds.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn examine<'d, B: AsRef<[u8]> + Sync>(
        &mut self,
        set: &engine::Set<B>,
        deciding: impl Iterator<Item = &'d DecidingUsage>,
    ) -> Result<(), FormatError> {
        let new: HashSet<&DecidingUsage> = deciding.filter(|usage| !self.known.contains_key(*usage)).collect();
        let new: Vec<&DecidingUsage> = new.into_iter().collect();
        let examine = |usage: &&DecidingUsage| {
            let access = match &usage.rulesets {
                None => reason::Access::Every(RuleKind::Allow),
                Some(numbers) => reason::Access::of_rulesets(set, numbers)?,
            };
            let stated = StatedUses::of(set, &usage.groups, &usage.tokens, &self.uses.query)?;
            let found = self.reasoner.uses(&access, &stated)?;
            Ok::<_, FormatError>(((*usage).clone(), found.iter().map(UsageAccess::of_witnesses).collect()))
        };
        for found in map_all(&new, examine) {
            self.known.extend([found?]);
        }
        Ok(())
    }

    /// Returns the permission for each use, by usage rules that were examined or without any. `summary` is the crawler's
    /// access to the origin.
    #[must_use]
    pub fn permissions(&self, deciding: Option<&DecidingUsage>, summary: &Summary<'_>) -> Vec<UsageAccess> {
        match deciding.map(|usage| self.known.get(usage)) {
            Some(Some(permissions)) => permissions.clone(),
            Some(None) => vec![UsageAccess::Unproved; self.uses.len()],
            None => vec![UsageAccess::without_usage(summary); self.uses.len()],
        }
    }
}

impl Agent {
    /// Returns what a URL's origin permits for each use, over all URLs that the crawler may fetch.
    ///
    /// ```
    /// use reptile::summary::UsageAccess;
    /// use reptile::usage::{Sources, Vocabulary};
    /// use reptile::{Dialect, Robots};
    ///
    /// // Training is allowed only for pages that must not be fetched.
    /// let body = "user-agent: *\ndisallow: /a\ncontent-usage: train-ai=n\ncontent-usage: /ab train-ai=y";
    /// let agent = Robots::parse(body, Dialect::google())?.agent("FooBot")?;
    /// let uses = Vocabulary::default().uses(["train-ai", "search"], Sources::USAGE)?;
    /// assert_eq!(agent.permissions("/", &uses)?, [UsageAccess::Disallowed, UsageAccess::Unknown]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Every answer is a proof. `/robots.txt` itself does not count.
    ///
    /// Cost: for each use usually a few microseconds, and at most tens of milliseconds.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`](crate::ErrorKind::Format) if the set is damaged.
    pub fn permissions(&self, url: impl AsRef<[u8]>, uses: &Uses) -> Result<Vec<UsageAccess>, Error> {
        let (set, query) = self.query()?;
        set.permissions_of(query, url.as_ref(), uses)
    }
}

impl Set {
    /// Returns what a URL's origin permits an agent for each use.
    fn permissions_of(&self, query: AgentQuery<'_>, url: &[u8], uses: &Uses) -> Result<Vec<UsageAccess>, Error> {
        let (site, engine, resolved) = match self.find(url)? {
            SiteLookup::Invalid => return Ok(vec![UsageAccess::Invalid; uses.len()]),
            SiteLookup::Unknown => return Ok(vec![UsageAccess::Unknown; uses.len()]),
            SiteLookup::Site { site, replaced: None, .. } => (site, self.engine(), query.resolved.clone()),
            SiteLookup::Site { site, replaced: Some(engine), .. } => (site, engine, query.chain.look_up(engine)?),
        };
        let deciding = DecidingRules::of(site.policy(), &resolved)?;
        let (mut statements, mut known) = (Statements::new(engine), UsageStatements::new(engine, uses.clone())?);
        let usage = known.deciding(site.policy(), &resolved, &deciding)?;
        statements.examine(engine, std::iter::once(&deciding))?;
        known.examine(engine, usage.iter())?;
        Ok(known.permissions(usage.as_ref(), &statements.summary(Some(&deciding))))
    }
}
