//! The URLs that two sets decide differently, with their crawlers and deciding rules.
//!
//! Reads the list as it arrives, and writes each row at once. Crawlers with the same deciding rules share a row.

use std::collections::BTreeSet;
use std::io::Write;

use reptile::Verdict;
use reptile::contents::{Agent, Explanation, FormatError, OriginRecord, Set};
use reptile::diff::Diff;
use reptile::urls::split;
use serde_json::{Value, json};

use super::super::args::Args;
use crate::error::{Failure, Result, Stop, note};
use crate::outputs::json::{add_bytes, json_line};
use crate::outputs::names::ShownNames;
use crate::outputs::summary::grouped;
use crate::sets::agents::agents_of;
use crate::url_list::each_url;
use reptile_records::place::Place;
use reptile_records::text::{pasteable, printable};

/// Maximum number of an origin's product tokens that a URL is decided for, in addition to `*`: the first in byte order.
/// Further product tokens are only counted.
const MAX_TOKENS: usize = 1024;

/// A crawler in both sets.
struct Crawler {
    name: String,
    agents: [Agent; 2],
}

/// The deciding rules for a URL in the old set and the new one, for some crawlers.
struct Flip {
    names: Vec<String>,
    sides: [Explanation; 2],
}

/// Writes a line for each URL and group of crawlers whose verdict changes. Returns whether there are any.
///
/// # Errors
/// Returns an error if the list is unreadable or has no URL, if a set is damaged, or if `out` cannot be written.
pub fn compare<'s>(
    args: &Args,
    sets: [&'s Set<&'s [u8]>; 2],
    diff: &mut Diff<'s>,
    list: &Place,
    out: &mut impl Write,
) -> std::result::Result<bool, Stop> {
    let [old, new] = sets;
    let mut given = Vec::new();
    for resolved in agents_of(new, &args.agents)? {
        let agents = [resolved.look_up(old)?, resolved.look_up(new)?];
        given.push(Crawler { name: resolved.name, agents });
    }
    let (mut any, mut left_out) = (false, 0);
    let (mut urls, mut invalid) = (0_u64, 0_u64);
    each_url(list, out, |url, out| {
        urls += 1;
        invalid += u64::from(split(url).is_err());
        for flip in flips(sets, diff, &given, url, &mut left_out)? {
            out.write_all(flip.line(url, args.json)?.as_bytes())?;
            any = true;
        }
        Ok(())
    })?;
    if invalid > 0 {
        let message = "are not http, https or ftp URLs, and two sets decide nothing else";
        let message = format!("{} of {} lines {message}", grouped(invalid), grouped(urls));
        if invalid == urls {
            return Err(Failure::at(list, message).into());
        }
        note(format_args!("{}: {message}", list.display()));
    }
    if left_out > 0 {
        let count = grouped(left_out);
        note(format_args!("{count} product tokens were not compared for some URL; choose some with --agent"));
    }
    Ok(any)
}

/// Writes one URL's flips. There are none if its origin has the same policy in both sets.
fn flips<'s>(
    sets: [&'s Set<&'s [u8]>; 2],
    diff: &mut Diff<'s>,
    given: &[Crawler],
    url: &[u8],
    left_out: &mut u64,
) -> std::result::Result<Vec<Flip>, FormatError> {
    let Ok(parts) = split(url) else { return Ok(Vec::new()) };
    let origin = parts.origin;
    let (old, new) = (record(sets[0], &origin)?, record(sets[1], &origin)?);
    let is_same = match (&old, &new) {
        (None, None) => true,
        (Some(old), Some(new)) => diff.has_same_policy(old, new)?,
        _ => false,
    };
    if is_same {
        return Ok(Vec::new());
    }
    let named;
    let crawlers = if given.is_empty() {
        named = crawlers_of(sets, [old, new], left_out)?;
        &named
    } else {
        given
    };
    let mut flips: Vec<Flip> = Vec::new();
    for Crawler { name, agents } in crawlers {
        let sides = [sets[0].explain(&agents[0], url)?, sets[1].explain(&agents[1], url)?];
        if sides[0].verdict == sides[1].verdict {
            continue;
        }
        match flips.iter_mut().find(|flip| flip.sides == sides) {
            Some(flip) => flip.names.push(name.clone()),
            None => flips.push(Flip { names: vec![name.clone()], sides }),
        }
    }
    Ok(flips)
}

/// Returns the record of an origin in a set.
fn record<'s>(
    set: &'s Set<&'s [u8]>,
    origin: &reptile::urls::OriginRef<'_>,
) -> std::result::Result<Option<OriginRecord<'s>>, FormatError> {
    Ok(set.site(origin)?.map(|site| *site.origin()))
}

/// Returns the product tokens that either robots.txt of an origin names, and `*`.
fn crawlers_of(
    sets: [&Set<&[u8]>; 2],
    records: [Option<OriginRecord<'_>>; 2],
    left_out: &mut u64,
) -> std::result::Result<Vec<Crawler>, FormatError> {
    let mut names: BTreeSet<&[u8]> = BTreeSet::new();
    for (set, record) in sets.into_iter().zip(&records) {
        let Some(record) = record else { continue };
        for group in set.policy_of(record)?.groups()? {
            for token in group.tokens {
                names.insert(set.tokens().name(token)?);
            }
        }
    }
    *left_out = (*left_out).max(names.len().saturating_sub(MAX_TOKENS) as u64);
    let star = Crawler { name: "*".into(), agents: [sets[0].agent_chain(&[], true)?, sets[1].agent_chain(&[], true)?] };
    let mut crawlers = vec![star];
    for name in names.into_iter().take(MAX_TOKENS) {
        let agents = [sets[0].agent(name)?, sets[1].agent(name)?];
        crawlers.push(Crawler { name: String::from_utf8_lossy(name).into_owned(), agents });
    }
    Ok(crawlers)
}

impl Flip {
    /// Returns the flip as a line.
    fn line(&self, url: &[u8], is_json: bool) -> Result<String> {
        let names = ShownNames::of(self.names.iter().cloned(), self.names.len());
        let [old, new] = &self.sides;
        if !is_json {
            let url = pasteable(url);
            let side = |side: &Explanation| format!("{}\t{}", side.verdict, why(side));
            return Ok(format!("{url}\t{}\t{}\t{}\n", printable(names.list().as_bytes()), side(old), side(new)));
        }
        let side = |side: &Explanation| -> Value {
            let mut object = json!({"verdict": side.verdict.name(), "reason": side.reason().to_string()});
            if let Some(rule) = side.rule() {
                object["rule"] = rule.to_string().into();
                object["line"] = rule.line.into();
            }
            object
        };
        let mut object = json!({"change": "verdict", "agents": names.shown, "old": side(old), "new": side(new)});
        add_bytes(&mut object, "url", url);
        if names.more > 0 {
            object["more_agents"] = names.more.into();
        }
        json_line(&object)
    }
}

/// Returns the deciding rule with its line, or the other reason.
fn why(side: &Explanation) -> String {
    match side.rule() {
        Some(rule) => printable(format!("line {}: {rule}", rule.line).as_bytes()).replace('\t', "%09"),
        None if side.verdict == Verdict::Invalid => String::new(),
        None => side.reason().to_string(),
    }
}
