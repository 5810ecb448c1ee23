//! The active periods of an origin's policies, for sets with times.

use std::collections::BTreeMap;
use std::io::Write;

use reptile::contents::{BEFORE_ALL_TIMES, FormatError, OriginRecord, Policy, Set};
use serde::Serialize;

use super::origins::{name_of, source_name};
use crate::error::Stop;
use crate::outputs::json::json_line;
use reptile_records::time::show_time;

/// A period as JSON. A time is null if the period has no beginning or no end.
#[derive(Serialize)]
struct SpanJson<'a> {
    origin: &'a str,
    from: Option<String>,
    until: Option<String>,
    source: String,
    policy: u32,
}

/// Returns an origin's policies: every policy ever active in a set with times, each once, or else the deciding policy.
///
/// # Errors
/// Returns an error if the set is damaged.
pub fn policies_of<'s>(set: &'s Set<&[u8]>, entry: &OriginRecord<'s>) -> Result<Vec<Policy<'s>>, FormatError> {
    let mut policies = BTreeMap::new();
    for span in set.site_of(entry)?.spans()? {
        policies.extend(set.policy_of_at(entry, span.begin)?.map(|policy| (policy.number(), policy)));
    }
    if policies.is_empty() {
        return Ok(vec![set.policy_of(entry)?]);
    }
    Ok(policies.into_values().collect())
}

/// Writes an origin's periods and the active policy in each, as text or JSON. Writes nothing for a set without times.
///
/// # Errors
/// Returns an error if the set is damaged, or `out` cannot be written.
pub fn write_spans(
    set: &Set<&[u8]>,
    entry: &OriginRecord<'_>,
    is_json: bool,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let spans = set.site_of(entry)?.spans()?;
    let origin = name_of(entry);
    if !(is_json || spans.is_empty()) {
        writeln!(out, "{origin}")?;
    }
    let ends = spans.iter().skip(1).map(|next| Some(next.begin.saturating_sub(1))).chain([None]);
    for (span, until) in spans.iter().zip(ends) {
        let Some(policy) = set.policy_of_at(entry, span.begin)? else { continue };
        let from = Some(span.begin).filter(|&begin| begin != BEFORE_ALL_TIMES).map(show_time);
        let (until, source, policy) = (until.map(show_time), source_name(policy.source()?), policy.number());
        if is_json {
            let object = SpanJson { origin: &origin, from, until, source, policy };
            out.write_all(json_line(&object)?.as_bytes())?;
            continue;
        }
        let when = match (from, until) {
            (None, None) => "always".to_owned(),
            (None, Some(until)) => format!("until {until}"),
            (Some(from), None) => format!("from {from}"),
            (Some(from), Some(until)) => format!("from {from} until {until}"),
        };
        writeln!(out, "  {when}: {source}, policy {policy}")?;
    }
    Ok(())
}
