//! Proves that two versions of a robots.txt give the same verdicts under some dialects, or finds the differences.
//!
//! The versions must name the same crawlers, and each named crawler and the default group must have the same verdict for
//! every path. Then no crawler's verdicts differ, whichever product tokens it obeys.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use bumpalo::Bump;
use reptile_engine::format::FormatError;
use reptile_engine::set::{Policy, Set};

use super::differences::{ORIGIN, compiled};
use super::quote;
use crate::dialect::Dialect;
use crate::reason::{Access, Reasoner, Witness};

/// Number of steps counted for compiling one byte of a robots.txt.
const STEPS_PER_BYTE: u64 = 4;

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
    fn take(&mut self, steps: u64) -> Result<(), Stop> {
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

/// A robots.txt compiled under some dialects.
pub(super) struct Compiled<'d> {
    readings: Vec<(&'d Dialect, Set<Vec<u8>>)>,
}

impl<'d> Compiled<'d> {
    /// Compiles a robots.txt.
    ///
    /// # Errors
    /// Returns an error if a dialect refuses the file, or if too few steps remain.
    pub(super) fn new(body: &[u8], dialects: &[&'d Dialect], steps: &mut Steps) -> Result<Compiled<'d>, Stop> {
        let readings = dialects.iter().map(|&dialect| Ok((dialect, reading(body, dialect, steps)?)));
        Ok(Compiled { readings: readings.collect::<Result<_, _>>()? })
    }

    /// Returns the differences from a later version, and that version compiled. Unless `in_all`, stops at the first
    /// dialect with a difference. There are no differences if the later version is proved to give the same verdicts.
    ///
    /// # Errors
    /// Returns an error if too few steps remain.
    pub(super) fn effects_of(
        &self,
        later: &[u8],
        in_all: bool,
        steps: &mut Steps,
    ) -> Result<(Vec<Effect>, Compiled<'d>), Stop> {
        let (mut effects, mut readings) = (Vec::<Effect>::new(), Vec::with_capacity(self.readings.len()));
        for (dialect, old) in &self.readings {
            let new = reading(later, dialect, steps)?;
            let found = compare(dialect, [old, &new], steps)?;
            readings.push((*dialect, new));
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
        Ok((effects, Compiled { readings }))
    }
}

/// Compiles a robots.txt under one dialect.
fn reading(body: &[u8], dialect: &Dialect, steps: &mut Steps) -> Result<Set<Vec<u8>>, Stop> {
    steps.take(body.len() as u64 * STEPS_PER_BYTE)?;
    compiled(body, dialect, &Bump::new()).ok_or(Stop::TooLarge)
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
    match access {
        Access::Every(_) => 0,
        Access::Rules(rulesets) => rulesets.iter().map(|ruleset| ruleset.byte_len() as u64).sum(),
    }
}
