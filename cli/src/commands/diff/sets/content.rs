//! Compares two policies of an origin: their sources, and each product token's rules.

use std::collections::BTreeMap;

use reptile::PolicySource;
use reptile::contents::{FormatError, Policy, Rules, Set, Site};
use serde_json::{Value, json};

use crate::outputs::names::Few;
use reptile_records::text::printable;

/// Changes to an origin.
#[derive(Default, PartialEq, Eq)]
pub struct Change {
    /// The policy sources, if they differ.
    source: Option<[String; 2]>,
    /// The product tokens whose rules changed, `*` for the default group, as they are listed; and how many more.
    agents: Vec<String>,
    more_agents: usize,
    /// Whether other directives changed.
    pub other: bool,
}

/// A policy's rules for each product token and the default group.
struct ByToken<'p> {
    named: BTreeMap<&'p [u8], Vec<Rules<'p>>>,
    default: Vec<Rules<'p>>,
}

impl<'p> ByToken<'p> {
    fn of(set: &'p Set<&'p [u8]>, policy: &Policy<'p>) -> Result<ByToken<'p>, FormatError> {
        let mut by_token = ByToken { named: BTreeMap::new(), default: Vec::new() };
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

impl Change {
    /// Compares two policies.
    ///
    /// # Errors
    /// Returns an error if a set is damaged.
    pub fn of_policies<'p>(
        old_set: &'p Set<&'p [u8]>,
        old: &Policy<'p>,
        new_set: &'p Set<&'p [u8]>,
        new: &Policy<'p>,
    ) -> Result<Change, FormatError> {
        let sources = [old.source()?, new.source()?];
        let source = (sources[0] != sources[1]).then(|| sources.map(words));
        let has_rules = |source: &PolicySource| source.verdict().is_none();
        if !sources.iter().all(has_rules) {
            return Ok(Change { source, ..Change::default() });
        }
        let (before, after) = (ByToken::of(old_set, old)?, ByToken::of(new_set, new)?);
        let mut tokens: Vec<&[u8]> = before.named.keys().chain(after.named.keys()).copied().collect();
        tokens.sort_unstable();
        tokens.dedup();
        let mut changed: Vec<&[u8]> = Vec::new();
        for token in tokens {
            if !are_same(before.rules(token), after.rules(token))? {
                changed.push(token);
            }
        }
        if !are_same(&before.default, &after.default)? {
            changed.push(b"*");
        }
        let names = changed.iter().map(|name| String::from_utf8_lossy(name).into_owned());
        let few = Few::of(names, changed.len());
        Ok(Change { source, agents: few.shown, more_agents: few.more, other: false })
    }

    /// Returns a readable description of the change; empty if there is none.
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.source.as_ref().map(|[old, new]| format!("was {old}, is {new}")));
        if !self.agents.is_empty() {
            let few = Few { shown: self.agents.clone(), more: self.more_agents };
            words.push(format!("rules for {}", printable(few.list().as_bytes())));
        }
        words.extend(self.other.then(|| "other directives".to_owned()));
        words.join("; ")
    }

    /// Adds the change to a JSON object.
    pub fn describe(&self, object: &mut Value) {
        if let Some([old, new]) = &self.source {
            object["source"] = json!({"old": old, "new": new});
        }
        if !self.agents.is_empty() {
            object["agents"] = json!(self.agents);
        }
        if self.more_agents > 0 {
            object["more_agents"] = self.more_agents.into();
        }
        if self.other {
            object["other_directives"] = true.into();
        }
    }
}

/// Returns a policy source in words.
fn words(source: PolicySource) -> String {
    match source {
        PolicySource::LastGoodCopy(cause) => format!("the last good copy ({cause})"),
        PolicySource::AllowAll(cause) => format!("everything allowed ({cause})"),
        PolicySource::DisallowAll(cause) => format!("everything disallowed ({cause})"),
        _ => "rules".into(),
    }
}

/// Returns whether groups have the same rules in the same order of precedence. No group allows what an empty one
/// allows, but a crawler without a group is another thing than one with it.
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

/// Returns whether two origins have the same other directives, regardless of line numbers.
///
/// # Errors
/// Returns an error if a set is damaged.
pub fn same_other(old: &Site<'_>, new: &Site<'_>) -> Result<bool, FormatError> {
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
