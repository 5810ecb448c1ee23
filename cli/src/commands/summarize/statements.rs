//! Each origin's access for each agent. Every ruleset is examined once.

use std::collections::HashMap;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile::contents::{Agent, FormatError, Policy, Ruleset, Set};
use reptile::reason::{Extent, Reasoner, Statement};
use reptile::{Group, Reason, Verdict};

/// An agent's access to an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Allowed,
    Disallowed,
    Partial,
    Unknown,
    Unproved,
    Invalid,
}

impl Access {
    /// All values in the order of their numbers.
    pub const ALL: [Access; 6] =
        [Access::Allowed, Access::Disallowed, Access::Partial, Access::Unknown, Access::Unproved, Access::Invalid];

    /// Returns the word in the output.
    pub fn name(self) -> &'static str {
        match self {
            Access::Allowed => "allowed",
            Access::Disallowed => "disallowed",
            Access::Partial => "partial",
            Access::Unknown => "unknown",
            Access::Unproved => "unproved",
            Access::Invalid => "invalid",
        }
    }
}

/// The deciding rules or verdict for an agent at an origin.
pub enum Deciding {
    /// No rules: the same verdict for every path.
    One { verdict: Verdict, group: Group, reason: Reason },
    /// The rules of these rulesets, by number. `reason` is for paths that a rule decides.
    Rules { rulesets: Vec<u32>, group: Group, reason: Reason },
}

impl Deciding {
    /// Returns the deciding rules or verdict for an agent under a policy.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn of(policy: &Policy<'_>, agent: &Agent) -> Result<Deciding, FormatError> {
        let (source, group) = (policy.source()?, policy.group_of(agent)?);
        if source.verdict().is_some() {
            let explained = policy.explain(agent, b"/")?;
            return Ok(Deciding::One { verdict: explained.verdict, group, reason: explained.reason() });
        }
        let rules = policy.rules_for(agent)?;
        if rules.is_empty() {
            let reason = Reason::NoRule(source.cause());
            return Ok(Deciding::One { verdict: Verdict::Allow, group, reason });
        }
        let rulesets = rules.iter().map(|rules| rules.number).collect();
        Ok(Deciding::Rules { rulesets, group, reason: Reason::Rule(source.cause()) })
    }

    /// Returns the ruleset numbers, if rules decide.
    pub fn rulesets(&self) -> Option<&[u32]> {
        match self {
            Deciding::One { .. } => None,
            Deciding::Rules { rulesets, .. } => Some(rulesets),
        }
    }
}

/// The statements about the rulesets examined so far. Each distinct list of rulesets takes some 100 bytes.
pub struct Statements {
    reasoner: Reasoner,
    known: HashMap<Vec<u32>, Statement>,
}

impl Statements {
    /// Returns an empty collection for a set.
    pub fn new(set: &Set<&[u8]>) -> Statements {
        Statements { reasoner: Reasoner::new(set.normal_form()), known: HashMap::new() }
    }

    /// Returns the number of distinct rulesets, or lists of rulesets that decide together, examined so far.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Examines the rulesets without a statement, on all threads.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn examine<'d>(
        &mut self,
        set: &Set<&[u8]>,
        deciding: impl Iterator<Item = &'d Deciding>,
    ) -> Result<(), FormatError> {
        let mut new: Vec<&[u32]> =
            deciding.filter_map(Deciding::rulesets).filter(|rulesets| !self.known.contains_key(*rulesets)).collect();
        new.sort_unstable();
        new.dedup();
        let examine = |numbers: &&[u32]| {
            let stored = numbers.iter().map(|&number| Ok(Ruleset::stored(set.rulesets().get(number)?)?));
            let rulesets: Vec<Ruleset<'_>> = stored.collect::<Result<_, FormatError>>()?;
            Ok((numbers.to_vec(), self.reasoner.extent(&rulesets)?))
        };
        let found: Vec<(Vec<u32>, Statement)> = new.par_iter().map(examine).collect::<Result<_, FormatError>>()?;
        self.known.extend(found);
        Ok(())
    }

    /// Returns the statement about one or more rulesets that decide together, if examined.
    pub fn get(&self, rulesets: &[u32]) -> Option<&Statement> {
        self.known.get(rulesets)
    }
}

/// The output for an agent at an origin.
pub struct AccessSummary<'s> {
    pub access: Access,
    pub group: Group,
    pub rules: [u32; 2],
    pub reason: Reason,
    /// An allowed and a disallowed path; each is empty if no such path is known.
    pub examples: [&'s [u8]; 2],
}

impl Statements {
    /// Returns the output for a line without an origin.
    pub fn invalid() -> AccessSummary<'static> {
        AccessSummary {
            access: Access::Invalid,
            group: Group::None,
            rules: [0; 2],
            reason: Reason::NoUrl,
            examples: [b""; 2],
        }
    }

    /// Returns the output; `None` means an origin that is not in the set.
    pub fn summary<'s>(&'s self, deciding: Option<&Deciding>) -> AccessSummary<'s> {
        let nothing =
            |access, group, reason| AccessSummary { access, group, rules: [0; 2], reason, examples: [b""; 2] };
        match deciding {
            None => nothing(Access::Unknown, Group::None, Reason::NoRobots),
            Some(Deciding::One { verdict, group, reason }) => {
                let access = if *verdict == Verdict::Disallow { Access::Disallowed } else { Access::Allowed };
                nothing(access, *group, *reason)
            }
            Some(Deciding::Rules { rulesets, group, reason }) => match self.get(rulesets) {
                // Never happens, because every ruleset is examined before its output.
                None => nothing(Access::Unproved, *group, *reason),
                Some(statement) => summary_of(statement, *group, *reason),
            },
        }
    }
}

/// Returns the output for rules.
fn summary_of(statement: &Statement, group: Group, reason: Reason) -> AccessSummary<'_> {
    let rules = [statement.allow_rules, statement.disallow_rules];
    let (access, examples): (Access, [&[u8]; 2]) = match &statement.extent {
        Extent::Allowed => (Access::Allowed, [b""; 2]),
        Extent::Disallowed => (Access::Disallowed, [b""; 2]),
        Extent::Partial { allowed, disallowed } => (Access::Partial, [allowed, disallowed]),
        Extent::Unproved { example: Some((Verdict::Disallow, path)) } => (Access::Unproved, [b"", path]),
        Extent::Unproved { example: Some((_, path)) } => (Access::Unproved, [path, b""]),
        Extent::Unproved { example: None } => (Access::Unproved, [b""; 2]),
    };
    let reason = match reason {
        // The rulesets have no rules, or only rules that restrict nothing.
        Reason::Rule(cause) if rules == [0; 2] => Reason::NoRule(cause),
        reason => reason,
    };
    AccessSummary { access, group, rules, reason, examples }
}
