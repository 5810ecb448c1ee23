//! The URLs whose verdict flips.

use std::fmt::Write as _;

use reptile_compiler::dialect::crawlers::Resolved;
use reptile_engine::format::FormatError;
use reptile_engine::set::{Agent, Policy, Set};
use reptile_engine::url::{MAX_URL_BYTES, path_of};
use reptile_engine::verdict::Verdict;

use crate::inputs::lines::{lines, without_line_end};
use crate::inputs::sets::single::ONE_ORIGIN;
use crate::outputs::text::printable;

/// Writes a row for each URL and crawler whose verdict flips.
///
/// # Errors
/// If a set is damaged.
pub fn compare(sets: &[Vec<u8>; 2], named: &[Resolved], list: &[u8]) -> std::result::Result<String, FormatError> {
    let sets = [Set::from_bytes(&sets[0][..])?, Set::from_bytes(&sets[1][..])?];
    let mut agents = Vec::new();
    for resolved in named {
        agents.push((printable(resolved.name.as_bytes()), [resolved.look_up(&sets[0])?, resolved.look_up(&sets[1])?]));
    }
    let policies = [sets[0].policy(&ONE_ORIGIN)?, sets[1].policy(&ONE_ORIGIN)?];
    let mut text = String::new();
    for url in lines(list).map(without_line_end).filter(|url| !url.is_empty()) {
        for (name, agents) in &agents {
            let (old, old_line) = decide(policies[0].as_ref(), &agents[0], url)?;
            let (new, new_line) = decide(policies[1].as_ref(), &agents[1], url)?;
            if old != new {
                let url = printable(url).replace('\t', "%09");
                let _ = writeln!(text, "{url}\t{name}\t{old}\t{old_line}\t{new}\t{new_line}");
            }
        }
    }
    Ok(text)
}

/// The verdict of one file, and the line of the deciding rule or 0.
fn decide(policy: Option<&Policy<'_>>, agent: &Agent, url: &[u8]) -> std::result::Result<(Verdict, u32), FormatError> {
    let Some(policy) = policy else { return Ok((Verdict::Allow, 0)) };
    if url.len() > MAX_URL_BYTES {
        return Ok((Verdict::Invalid, 0));
    }
    let explanation = path_of(url).with(|path| policy.explain(agent, path))?;
    Ok((explanation.verdict, explanation.rule().map_or(0, |rule| rule.line)))
}
