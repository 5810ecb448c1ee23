//! Proves that two versions of a robots.txt give the same verdicts under some dialects, or finds the differences.
//!
//! The versions must name the same crawlers, and each named crawler and the default group must have the same verdict for
//! every path. Then no crawler's verdicts differ, whichever product tokens it obeys.
//!
//! Most edits change the rules of few groups. If the versions have the same groups, only crawlers that a changed group
//! names can have other verdicts, so only the rules for these crawlers are compiled and compared.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use bumpalo::Bump;
use reptile_engine::format::FormatError;
use reptile_engine::format::tokens::NameMatching;
use reptile_engine::set::{Policy, Set};

use super::characters::quote;
use super::differences::{ORIGIN, compiled_from};
use crate::body::{Diagnostics, Group, Robots, parse};
use crate::dialect::Dialect;
use crate::reason::{Access, Reasoner, Witness};
use crate::rules::groups::{Named, named};
use crate::set::{prepare_parsed, prepare_without_other};

/// Number of steps counted for parsing one byte of a robots.txt.
const PARSE_STEPS_PER_BYTE: u64 = 1;

/// Number of steps counted for checking one byte of a robots.txt against the compiler's limits.
const CHECK_STEPS_PER_BYTE: u64 = 4;

/// Number of steps counted for compiling one byte of a rule.
const COMPILE_STEPS_PER_BYTE: u64 = 16;

/// Number of bytes counted for a rule in addition to its value.
const BYTES_PER_RULE: u64 = 10;

/// The reason why two versions are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// A dialect refuses the file.
    TooLarge,
    /// The proofs take too many steps.
    TooManySteps,
}

/// The number of remaining steps.
pub(super) struct Steps(pub(super) u64);

impl Steps {
    /// Subtracts steps from the remaining number.
    ///
    /// # Errors
    /// Returns an error if fewer steps remain.
    pub(super) fn take(&mut self, steps: u64) -> Result<(), Stop> {
        self.0 = self.0.checked_sub(steps).ok_or(Stop::TooManySteps)?;
        Ok(())
    }
}

/// Verdicts that differ in the same way in some dialects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The dialects.
    pub dialects: Vec<String>,
    /// A shortest path that only the second version allows, and a crawler.
    pub opens: Option<Example>,
    /// A shortest path that only the first version allows, and a crawler.
    pub closes: Option<Example>,
    /// Whether the versions name different crawlers.
    pub names_others: bool,
    /// Whether a proof stopped early, so that there may be more differences.
    pub is_unproved: bool,
}

/// A path whose verdict for a crawler differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The crawler's product token, or `*`.
    pub agent: String,
    /// The path as written in a URL.
    pub path: Vec<u8>,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |verb, example: &Option<Example>| {
            example.as_ref().map(|found| format!("{verb} \"{}\" for \"{}\"", quote(&found.path), found.agent))
        };
        let mut parts: Vec<String> = shown("opens", &self.opens).into_iter().collect();
        parts.extend(shown("closes", &self.closes));
        if parts.is_empty() && self.names_others {
            parts.push("names other crawlers".into());
        }
        if parts.is_empty() {
            parts.push("is not proved to keep all verdicts".into());
        }
        write!(f, "{} in {}", parts.join(" and "), self.dialects.join(", "))
    }
}

/// Describes all effects.
pub(super) fn describe(effects: &[Effect]) -> String {
    effects.iter().map(Effect::to_string).collect::<Vec<_>>().join("; ")
}

/// A robots.txt parsed under some dialects.
pub(super) struct Version<'d, 'b> {
    body: &'b [u8],
    parsed: Vec<(&'d Dialect, Robots<'b>)>,
}

impl<'d, 'b> Version<'d, 'b> {
    /// Parses a robots.txt.
    ///
    /// # Errors
    /// Returns an error if a dialect refuses the file, or if too few steps remain.
    pub(super) fn new(
        body: &'b [u8],
        dialects: &[&'d Dialect],
        arena: &'b Bump,
        steps: &mut Steps,
    ) -> Result<Version<'d, 'b>, Stop> {
        let mut parsed = Vec::with_capacity(dialects.len());
        for &dialect in dialects {
            steps.take(body.len() as u64 * CHECK_STEPS_PER_BYTE)?;
            prepare_without_other(body, dialect, &Bump::new()).map_err(|_| Stop::TooLarge)?;
            parsed.push((dialect, parse(body, dialect, arena)));
        }
        Ok(Version { body, parsed })
    }

    /// Returns the differences from a later version. Unless `in_all`, stops at the first dialect with a difference.
    /// There are no differences if the later version is proved to give the same verdicts.
    ///
    /// # Errors
    /// Returns an error if too few steps remain.
    pub(super) fn effects_of(&self, later: &[u8], in_all: bool, steps: &mut Steps) -> Result<Vec<Effect>, Stop> {
        let mut effects = Vec::<Effect>::new();
        let mut arena = Bump::new();
        for (dialect, old) in &self.parsed {
            arena.reset();
            steps.take(later.len() as u64 * PARSE_STEPS_PER_BYTE)?;
            let new = parse(later, dialect, &arena);
            let Some(versions) = changed_part([old, &new], dialect, &arena) else { continue };
            let mut sets = Vec::with_capacity(2);
            for (body, robots) in [self.body, later].into_iter().zip(versions) {
                steps.take(rule_bytes(&robots.groups) * COMPILE_STEPS_PER_BYTE)?;
                let prepared = prepare_parsed(body, robots, dialect, &arena).map_err(|_| Stop::TooLarge)?;
                sets.push(compiled_from(prepared, dialect).ok_or(Stop::TooLarge)?);
            }
            let found = compare(dialect, [&sets[0], &sets[1]], steps)?;
            if found == Effect::default() {
                continue;
            }
            let is_same = |effect: &&mut Effect| Effect { dialects: Vec::new(), ..(**effect).clone() } == found;
            match effects.iter_mut().find(is_same) {
                Some(effect) => effect.dialects.push(dialect.to_string()),
                None => effects.push(Effect { dialects: vec![dialect.to_string()], ..found }),
            }
            if !in_all {
                break;
            }
        }
        Ok(effects)
    }
}

/// Returns both versions with the rules for all crawlers whose verdicts may differ, or `None` if there are no such
/// crawlers.
///
/// Leaves out the rules of a group if no changed group names one of its crawlers, provided that the versions have the
/// same groups. Each crawler of such a group has the same verdicts in both versions: all groups that name it are
/// unchanged.
fn changed_part<'a>(versions: [&Robots<'a>; 2], dialect: &Dialect, arena: &'a Bump) -> Option<[Robots<'a>; 2]> {
    let [old, new] = versions.map(|robots| &robots.groups[..]);
    let pairs = || old.iter().zip(new);
    let has_same_groups = old.len() == new.len() && pairs().all(|(old, new)| old.agents == new.agents);
    // If names need not be equal, a crawler may obey a group that does not name it.
    if !has_same_groups || dialect.name_matching != NameMatching::Equal {
        return Some(versions.map(|robots| with_groups(robots.groups.iter().copied(), arena)));
    }
    let changed = pairs().filter(|(old, new)| !has_same_rules(old, new));
    let names: HashSet<Option<Vec<u8>>> = changed.flat_map(|(old, _)| names_of(old, dialect)).collect();
    let keeps = |group: &Group<'a>| names_of(group, dialect).any(|name| names.contains(&name));
    let kept = |group: &Group<'a>| if keeps(group) { *group } else { Group { rules: &[], ..*group } };
    (!names.is_empty()).then(|| versions.map(|robots| with_groups(robots.groups.iter().map(kept), arena)))
}

fn with_groups<'a>(groups: impl Iterator<Item = Group<'a>>, arena: &'a Bump) -> Robots<'a> {
    let groups = bumpalo::collections::Vec::from_iter_in(groups, arena);
    Robots { groups, diagnostics: Diagnostics::default(), line_count: 0 }
}

fn has_same_rules(old: &Group<'_>, new: &Group<'_>) -> bool {
    old.rules.len() == new.rules.len()
        && old.rules.iter().zip(new.rules).all(|(a, b)| a.kind == b.kind && a.value == b.value)
}

/// Returns the product tokens in lower case that a group names, and `None` for the default group.
fn names_of<'g>(group: &Group<'g>, dialect: &'g Dialect) -> impl Iterator<Item = Option<Vec<u8>>> + 'g {
    group.agents.iter().map(|value| match named(value, dialect) {
        Named::Everyone => None,
        Named::Token(token) => Some(token.to_ascii_lowercase()),
    })
}

/// Returns the number of bytes in the rules of all groups.
fn rule_bytes(groups: &[Group<'_>]) -> u64 {
    let rules = groups.iter().flat_map(|group| group.rules);
    rules.map(|rule| rule.value.len() as u64 + BYTES_PER_RULE).sum()
}

/// Compares two versions under a dialect.
fn compare(dialect: &Dialect, sets: [&Set<Vec<u8>>; 2], steps: &mut Steps) -> Result<Effect, Stop> {
    // A freshly compiled set is not damaged.
    let damaged = |_: FormatError| Stop::TooLarge;
    let [old, new] = sets.map(|set| set.policy(&ORIGIN).ok().flatten());
    let policies = [old.ok_or(Stop::TooLarge)?, new.ok_or(Stop::TooLarge)?];
    let [old, new] = [0, 1].map(|side| names(sets[side], &policies[side]).map_err(damaged));
    let (old, new) = (old?, new?);
    let mut effect = Effect { names_others: old != new, ..Effect::default() };
    let reasoner = Reasoner::new(dialect.normal_form);
    let mut asked: HashSet<[Vec<u32>; 2]> = HashSet::new();
    for name in std::iter::once(None).chain(old.union(&new).map(Some)) {
        let tokens: Vec<&[u8]> = name.iter().map(|name| &name[..]).collect();
        let mut access = Vec::with_capacity(2);
        let mut groups = [const { Vec::new() }; 2];
        for ((set, policy), groups) in sets.iter().zip(&policies).zip(&mut groups) {
            let agent = set.agent_chain(&tokens, true).map_err(damaged)?;
            *groups = policy.group_indices(&agent).map_err(damaged)?;
            access.push(Access::of(policy, &agent).map_err(damaged)?);
        }
        if !asked.insert(groups) {
            continue;
        }
        steps.take(access.iter().map(bytes_of).sum())?;
        let found = reasoner.compare(&access[0], &access[1], None).map_err(|_| Stop::TooLarge)?;
        // Each direction may take this many steps.
        steps.take(2 * found.steps as u64)?;
        effect.is_unproved |= found.is_unproved();
        let agent = name.map_or("*".into(), |name| quote(name));
        keep_shorter(&mut effect.closes, found.first_only, &agent);
        keep_shorter(&mut effect.opens, found.second_only, &agent);
    }
    Ok(effect)
}

/// Replaces an example with a shorter path.
fn keep_shorter(example: &mut Option<Example>, found: Witness, agent: &str) {
    let Witness::Path(path) = found else { return };
    if example.as_ref().is_none_or(|example| path.len() < example.path.len()) {
        *example = Some(Example { agent: agent.into(), path });
    }
}

/// Returns the product tokens that a policy names.
fn names(set: &Set<Vec<u8>>, policy: &Policy<'_>) -> Result<BTreeSet<Vec<u8>>, FormatError> {
    policy.tokens().map(|token| Ok(set.tokens().name(token)?.to_vec())).collect()
}

/// Returns the size of the rules in bytes.
fn bytes_of(access: &Access<'_>) -> u64 {
    access.rulesets().iter().map(|ruleset| ruleset.byte_len() as u64).sum()
}
