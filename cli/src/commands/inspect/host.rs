//! A host's contents in a set: its origins' policies, and a crawler's automata.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use reptile::contents::{Agent, FormatError, OriginRecord, Policy, PolicyGroup, Ruleset, Set, Shape};
use reptile::{PolicySource, Rule};
use serde::Serialize;

use super::origins::{name_of, source_name};
use super::spans::{policies_of, write_spans};
use crate::error::{Failure, Stop};
use crate::outputs::json::json_line;
use crate::outputs::summary::grouped;
use reptile_records::text::printable;

/// Maximum size of a printed automaton in bytes. For comparison, the whole set for 4,231 real files has 6.7 MB.
pub const MAX_AUTOMATON_BYTES: usize = 4 << 20;

/// Returns a ruleset's size and shape in words.
pub fn describe(ruleset: &Ruleset<'_>) -> String {
    let Shape { trie, wildcards, fallbacks } = ruleset.shape();
    let mut parts = vec![
        format!("{} rules", grouped(ruleset.rule_count().into())),
        format!("{} bytes", grouped(ruleset.byte_len() as u64)),
    ];
    parts.extend(trie.then(|| "prefix trie".to_owned()));
    parts.extend((wildcards > 0).then(|| format!("{wildcards} wildcard automata")));
    parts.extend(fallbacks.then(|| "fallback patterns".to_owned()));
    parts.join(", ")
}

/// Writes the policies of some origins, as text or JSON. With `agents`, writes only the groups that they obey. Origins
/// with the same policy are listed together. For a set with times, writes each origin's periods first, and then every
/// policy that was ever active.
pub fn write_host(
    set: &Set<&[u8]>,
    found: &[OriginRecord<'_>],
    agents: Option<&[Agent]>,
    is_json: bool,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let mut by_policy: BTreeMap<u32, (Vec<String>, Policy<'_>)> = BTreeMap::new();
    for entry in found {
        write_spans(set, entry, is_json, out)?;
        for policy in policies_of(set, entry)? {
            by_policy.entry(policy.number()).or_insert_with(|| (Vec::new(), policy)).0.push(name_of(entry));
        }
    }
    for (number, (origins, policy)) in by_policy {
        let mut groups = policy.groups()?;
        if let Some(agents) = agents {
            let mut wanted = BTreeSet::new();
            for agent in agents {
                wanted.extend(policy.group_indices(agent)?);
            }
            let mut index = 0..;
            groups.retain(|_| index.next().is_some_and(|index| wanted.contains(&index)));
        }
        if is_json {
            write_json(set, &origins, &policy, groups, out)?;
        } else {
            writeln!(out, "{}\n  policy {number}", origins.join(" "))?;
            write_groups(set, &policy, groups, agents.is_some(), out)?;
        }
    }
    Ok(())
}

/// Writes the automata that decide for some agents at some origins, each once. Returns whether there are any.
pub fn write_automata(
    set: &Set<&[u8]>,
    found: &[OriginRecord<'_>],
    agents: &[Agent],
    dot: bool,
    out: &mut impl Write,
) -> Result<bool, Stop> {
    let mut shown = BTreeMap::new();
    for entry in found {
        let policy = set.policy_of(entry)?;
        let groups = policy.groups()?;
        for agent in agents {
            let indices = policy.group_indices(agent)?;
            let chosen = indices.iter().filter_map(|&index| groups.get(index as usize));
            shown.extend(chosen.map(|group| (group.rules.number, group.rules.ruleset)));
        }
    }
    for (number, ruleset) in &shown {
        check_len(*number, ruleset.byte_len()).map_err(Stop::Other)?;
        if dot {
            out.write_all(ruleset.to_dot().map_err(FormatError::from)?.as_bytes())?;
        } else {
            write!(out, "ruleset {number}: {}", ruleset.to_text().map_err(FormatError::from)?)?;
        }
    }
    Ok(!shown.is_empty())
}

/// Checks that an automaton is small enough to be printed.
fn check_len(number: u32, len: usize) -> Result<(), Failure> {
    if len <= MAX_AUTOMATON_BYTES {
        return Ok(());
    }
    let (len, limit) = (grouped(len as u64), grouped(MAX_AUTOMATON_BYTES as u64));
    let message = format!("ruleset {number}: the automaton has {len} bytes; at most {limit} can be printed");
    Err(Failure::new(message))
}

/// Writes the policy source, unless it is a current robots.txt, and the groups with their rules.
fn write_groups(
    set: &Set<&[u8]>,
    policy: &Policy<'_>,
    groups: Vec<PolicyGroup<'_>>,
    is_for_agent: bool,
    out: &mut impl Write,
) -> Result<(), Stop> {
    match policy.source()? {
        PolicySource::AllowAll(cause) => return Ok(writeln!(out, "  everything is allowed: {cause}")?),
        PolicySource::DisallowAll(cause) => return Ok(writeln!(out, "  everything is disallowed: {cause}")?),
        PolicySource::LastGoodCopy(cause) => writeln!(out, "  the last good copy: {cause}")?,
        _ => {}
    }
    if groups.is_empty() {
        let whose = if is_for_agent { "no group applies to this crawler" } else { "no groups" };
        writeln!(out, "  {whose}: everything is allowed")?;
    }
    for PolicyGroup { tokens, is_default, rules } in groups {
        write!(out, "  group: ")?;
        for (index, &token) in tokens.iter().enumerate() {
            let name = set.tokens().name(token)?;
            let separator = if index == 0 { "" } else { ", " };
            write!(out, "{separator}{}", if name.is_empty() { "\"\"".to_owned() } else { printable(name) })?;
        }
        let default_group = match (is_default, tokens.is_empty()) {
            (false, _) => "",
            (true, true) => "*",
            (true, false) => ", *",
        };
        writeln!(out, "{default_group}")?;
        writeln!(out, "    ruleset {}: {}", rules.number, describe(&rules.ruleset))?;
        let mut all = rules.all()?;
        all.sort_by_key(|rule| rule.line);
        let width = all.last().map_or(0, |rule| rule.line.to_string().len());
        for rule in all {
            let shown = printable(&[rule.kind.name().as_bytes(), b": ", &rule.pattern].concat());
            let place = if rules.has_lines() { format!("line {:width$}", rule.line) } else { "no line".into() };
            writeln!(out, "    {place}  {}", shown.trim_end())?;
        }
    }
    Ok(())
}

/// A group of some origins as JSON, or the policy source if there are no groups.
#[derive(Serialize)]
struct GroupJson<'a> {
    origins: &'a [String],
    policy: u32,
    source: String,
    agents: Option<Vec<String>>,
    ruleset: Option<u32>,
    rules: Vec<RuleJson>,
}

/// A rule as JSON.
#[derive(Serialize)]
struct RuleJson {
    line: Option<u32>,
    rule: &'static str,
    pattern: String,
}

/// Writes an object for each group.
fn write_json(
    set: &Set<&[u8]>,
    origins: &[String],
    policy: &Policy<'_>,
    groups: Vec<PolicyGroup<'_>>,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let (policy, source) = (policy.number(), source_name(policy.source()?));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if groups.is_empty() {
        let object = GroupJson { origins, policy, source, agents: None, ruleset: None, rules: Vec::new() };
        return Ok(out.write_all(json_line(&object)?.as_bytes())?);
    }
    for PolicyGroup { tokens, is_default, rules } in groups {
        let mut agents = Vec::with_capacity(tokens.len() + 1);
        for token in tokens {
            agents.push(text(set.tokens().name(token)?));
        }
        agents.extend(is_default.then(|| "*".to_owned()));
        let has_lines = rules.has_lines();
        let mut all = rules.all()?;
        all.sort_by_key(|rule| rule.line);
        let rule = |rule: Rule| RuleJson {
            line: has_lines.then_some(rule.line),
            rule: rule.kind.name(),
            pattern: text(&rule.pattern),
        };
        let (ruleset, rules) = (Some(rules.number), all.into_iter().map(rule).collect());
        let object = GroupJson { origins, policy, source: source.clone(), agents: Some(agents), ruleset, rules };
        out.write_all(json_line(&object)?.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_automata_stop_at_the_limit() {
        for (len, fits) in
            [(MAX_AUTOMATON_BYTES - 1, true), (MAX_AUTOMATON_BYTES, true), (MAX_AUTOMATON_BYTES + 1, false)]
        {
            assert_eq!(check_len(0, len).is_ok(), fits, "{len}");
        }
    }
}
