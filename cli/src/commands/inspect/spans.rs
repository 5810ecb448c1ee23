//! The active periods of an origin's policies, for sets with times.

use std::collections::BTreeMap;
use std::io::Write;

use reptile::contents::{FormatError, OriginRecord, Period, Policy, Set};
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
    let periods = set.periods_of(entry)?.into_iter();
    let policies: BTreeMap<u32, Policy<'_>> = periods.map(|period| (period.policy.number(), period.policy)).collect();
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
    let periods = set.periods_of(entry)?;
    let origin = name_of(entry);
    if !(is_json || periods.is_empty()) {
        writeln!(out, "{origin}")?;
    }
    for Period { from, until, policy, .. } in periods {
        let [from, until] = [from, until].map(|time| time.map(show_time));
        let (source, policy) = (source_name(policy.source()?), policy.number());
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
