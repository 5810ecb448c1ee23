//! Compares two compiled sets: added, removed and changed origins, and the changes to each.
//!
//! Line numbers, times and statuses do not matter: an origin has changed if its policy or its other directives have.
//!
//! ```
//! use reptile::diff::{Diff, OriginChange};
//! use reptile::{Capture, Compiler, Dialect, contents};
//!
//! let compiled = |body: &str| -> Result<Vec<u8>, reptile::Error> {
//!     let mut compiler = Compiler::new(Dialect::google());
//!     compiler.add(Capture::new("https://example.com/robots.txt", body)?)?;
//!     Ok(compiler.finish()?.to_bytes())
//! };
//! let (old, new) = (compiled("user-agent: *\ndisallow: /")?, compiled("user-agent: a\nuser-agent: *\ndisallow:")?);
//! let (old, new) = (contents::Set::from_bytes(&old[..])?, contents::Set::from_bytes(&new[..])?);
//!
//! let mut diff = Diff::new(&old, &new);
//! diff.each_origin(&mut |origin, change| {
//!     assert_eq!((origin.host, change), (&b"example.com"[..], OriginChange::Changed));
//! })?;
//! let change = diff.change(&"https://example.com".parse()?)?;
//! assert_eq!((change.tokens, change.default_group), (vec![b"a"[..].into()], true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod paths;

use std::collections::{BTreeMap, HashMap};

pub use self::paths::{
    MAX_DIFF_STEPS, MAX_ROWS, MAX_SET_STEPS, OriginPaths, PathChange, PathDiff, PathExample, PathRow, PathRows,
    PathVerdicts,
};

use reptile_engine::format::FormatError;
use reptile_engine::format::origins::OriginRecord;
use reptile_engine::set::{Policy, Rules, Set, Site};
use reptile_engine::verdict::PolicySource;

use crate::Origin;

/// Maximum number of cached comparisons of policies, and of other directives. A full cache is cleared, and later
/// comparisons of the same pairs are repeated.
const MAX_PAIRS: usize = 1 << 20;

/// Compares two sets. Each pair of parts is compared once, as long as the results fit into a cache. See [the
/// module](self) for an example.
///
/// Time: one lookup for each origin in either set, and one comparison for each different pair of policies or other
/// directives; comparisons beyond a million may be repeated. Memory: up to a million results of each kind.
pub struct Diff<'s> {
    old: &'s Set<&'s [u8]>,
    new: &'s Set<&'s [u8]>,
    policies: HashMap<(u32, u32), bool>,
    other: HashMap<(Option<u32>, Option<u32>), bool>,
}

/// An origin's presence and change in two sets. See [the module](self) for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum OriginChange {
    /// Only the new set has the origin.
    Added,
    /// Only the old set has the origin.
    Gone,
    /// Both sets have the origin, and they differ.
    Changed,
    /// Both sets have the origin, and they agree.
    Same,
}

/// The differences between an origin's policies and directives in two sets. See [the module](self) for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Change {
    /// The old and the new policy source, if they differ.
    pub source: Option<[PolicySource; 2]>,
    /// The product tokens whose rules changed, sorted. Empty if either source has no rules.
    #[cfg_attr(feature = "serde", serde(with = "tokens"))]
    pub tokens: Vec<Box<[u8]>>,
    /// Whether the default group's rules changed.
    pub default_group: bool,
    /// Whether other directives changed.
    pub other_directives: bool,
}

/// Serializes product tokens as a list of texts.
#[cfg(feature = "serde")]
mod tokens {
    use reptile_engine::words::Text;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(tokens: &[Box<[u8]>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(tokens.iter().map(|token| Text(token.to_vec())))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Box<[u8]>>, D::Error> {
        let tokens = Vec::<Text>::deserialize(deserializer)?;
        Ok(tokens.into_iter().map(|Text(token)| token.into()).collect())
    }
}

impl<'s> Diff<'s> {
    /// Starts a comparison. The sets should have the same dialect.
    #[must_use]
    pub fn new(old: &'s Set<&'s [u8]>, new: &'s Set<&'s [u8]>) -> Diff<'s> {
        Diff { old, new, policies: HashMap::new(), other: HashMap::new() }
    }

    /// Calls `report` for each origin in either set: first for the old set's origins, then for the added origins, both
    /// in no particular order.
    ///
    /// # Errors
    /// Returns an error if a set is damaged.
    pub fn each_origin(&mut self, report: &mut dyn FnMut(&OriginRecord<'s>, OriginChange)) -> Result<(), FormatError> {
        self.each_pair(|_, record, _, change| {
            report(record, change);
            Ok(())
        })
    }

    /// Calls `report` for each origin in either set, with the new set's record if the change is within the origin.
    fn each_pair<E: From<FormatError>>(
        &mut self,
        mut report: impl FnMut(&mut Self, &OriginRecord<'s>, Option<&OriginRecord<'s>>, OriginChange) -> Result<(), E>,
    ) -> Result<(), E> {
        let (old, new) = (self.old, self.new);
        for record in old.origins() {
            let record = record?;
            let other = new.origin_table().find(record.scheme, record.host, record.port)?;
            let change = match &other {
                None => OriginChange::Gone,
                Some(other) if self.is_same(&record, other)? => OriginChange::Same,
                Some(_) => OriginChange::Changed,
            };
            report(self, &record, other.as_ref(), change)?;
        }
        for record in new.origins() {
            let record = record?;
            if old.origin_table().find(record.scheme, record.host, record.port)?.is_none() {
                report(self, &record, None, OriginChange::Added)?;
            }
        }
        Ok(())
    }

    /// Returns whether an origin has the same policy in both sets, for every crawler.
    ///
    /// # Errors
    /// Returns an error if a set is damaged.
    pub fn has_same_policy(&mut self, old: &OriginRecord<'s>, new: &OriginRecord<'s>) -> Result<bool, FormatError> {
        let key = (old.policy, new.policy);
        if let Some(&known) = self.policies.get(&key) {
            return Ok(known);
        }
        let is_same = self.policy_change(old, new)? == Change::default();
        remember(&mut self.policies, key, is_same);
        Ok(is_same)
    }

    /// Returns the changes to an origin, or none if it is not in both sets.
    ///
    /// # Errors
    /// Returns an error if a set is damaged.
    pub fn change(&self, origin: &Origin) -> Result<Change, FormatError> {
        let find = |set: &'s Set<&'s [u8]>| set.origin_table().find(origin.scheme, &origin.host, origin.port);
        let (Some(old), Some(new)) = (find(self.old)?, find(self.new)?) else { return Ok(Change::default()) };
        let other_directives = !has_same_other(&self.old.site_of(&old)?, &self.new.site_of(&new)?)?;
        Ok(Change { other_directives, ..self.policy_change(&old, &new)? })
    }

    fn is_same(&mut self, old: &OriginRecord<'s>, new: &OriginRecord<'s>) -> Result<bool, FormatError> {
        if !self.has_same_policy(old, new)? {
            return Ok(false);
        }
        let key = (old.other, new.other);
        if let Some(&known) = self.other.get(&key) {
            return Ok(known);
        }
        let is_same = has_same_other(&self.old.site_of(old)?, &self.new.site_of(new)?)?;
        remember(&mut self.other, key, is_same);
        Ok(is_same)
    }

    fn policy_change(&self, old: &OriginRecord<'s>, new: &OriginRecord<'s>) -> Result<Change, FormatError> {
        let (old, new) = (self.old.policy_of(old)?, self.new.policy_of(new)?);
        let sources = [old.source()?, new.source()?];
        let mut change = Change { source: (sources[0] != sources[1]).then_some(sources), ..Change::default() };
        if sources.iter().any(|source| source.verdict().is_some()) {
            return Ok(change);
        }
        let (old, new) = (RulesByToken::of(self.old, &old)?, RulesByToken::of(self.new, &new)?);
        let mut tokens: Vec<&[u8]> = old.named.keys().chain(new.named.keys()).copied().collect();
        tokens.sort_unstable();
        tokens.dedup();
        for token in tokens {
            if !are_same(old.rules(token), new.rules(token))? {
                change.tokens.push(token.into());
            }
        }
        change.default_group = !are_same(&old.default, &new.default)?;
        Ok(change)
    }
}

impl std::fmt::Debug for Diff<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Diff").finish_non_exhaustive()
    }
}

/// A policy's rules for each product token and the default group.
struct RulesByToken<'p> {
    named: BTreeMap<&'p [u8], Vec<Rules<'p>>>,
    default: Vec<Rules<'p>>,
}

impl<'p> RulesByToken<'p> {
    fn of(set: &'p Set<&'p [u8]>, policy: &Policy<'p>) -> Result<RulesByToken<'p>, FormatError> {
        let mut by_token = RulesByToken { named: BTreeMap::new(), default: Vec::new() };
        for group in policy.groups()? {
            for token in group.tokens {
                by_token.named.entry(set.tokens().name(token)?).or_default().push(group.rules);
            }
            if group.is_default {
                by_token.default.push(group.rules);
            }
        }
        Ok(by_token)
    }

    fn rules(&self, token: &[u8]) -> &[Rules<'p>] {
        self.named.get(token).unwrap_or(&self.default)
    }
}

/// Returns whether groups have the same rules in the same order of precedence. An empty group differs from no group,
/// although both allow everything.
fn are_same(old: &[Rules<'_>], new: &[Rules<'_>]) -> Result<bool, FormatError> {
    if old.len() != new.len() {
        return Ok(false);
    }
    for (old, new) in old.iter().zip(new) {
        if old.ruleset.rules().map_err(FormatError::from)? != new.ruleset.rules().map_err(FormatError::from)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether two sites have the same other directives, regardless of line numbers.
fn has_same_other(old: &Site<'_>, new: &Site<'_>) -> Result<bool, FormatError> {
    let (old, new) = (old.other(), new.other());
    let (mut old, mut new) = (old.reader()?, new.reader()?);
    loop {
        match (old.next()?, new.next()?) {
            (None, None) => return Ok(true),
            (Some(old), Some(new)) if (old.kind, old.key, old.value) == (new.kind, new.key, new.value) => {}
            _ => return Ok(false),
        }
    }
}

/// Caches a comparison. Clears the cache first if it is full.
fn remember<K: Eq + std::hash::Hash>(known: &mut HashMap<K, bool>, key: K, is_same: bool) {
    if known.len() >= MAX_PAIRS {
        known.clear();
    }
    known.insert(key, is_same);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_comparisons_stop_at_the_limit() {
        let mut known: HashMap<usize, bool> = (0..MAX_PAIRS - 1).map(|key| (key, true)).collect();
        remember(&mut known, MAX_PAIRS - 1, true);
        assert_eq!(known.len(), MAX_PAIRS);
        remember(&mut known, MAX_PAIRS, true);
        assert_eq!(known.len(), 1);
    }
}
