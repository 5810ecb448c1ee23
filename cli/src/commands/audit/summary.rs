//! The counts of an audit as text or JSON.

use std::time::Duration;

use reptile_columns::Top;
use reptile_columns::audit::{COPY_AGES, CrawlerAudit};
use reptile_records::identity::{Identities, RangesFile};
use reptile_records::text::printable;
use reptile_records::time::show_time;
use serde_json::{Value, json};

use super::findings::Findings;
use crate::error::{Result, note};
use crate::outputs::align::{pad, width};
use crate::outputs::file;
use crate::outputs::json::json_lines;
use crate::outputs::summary::{Summary, grouped, rate, seconds};

/// Maximum number of crawlers in the table: those with the most violations. JSON has all.
const SHOWN_CRAWLERS: usize = 20;

/// Maximum number of shown rules, and of shown URLs: those with the most violations.
const SHOWN_TOPS: usize = 10;

/// The schema's name and version. Only changed or removed fields need a new version.
const SCHEMA: &str = "reptile-audit/1";

/// Prints the counts.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn print(findings: &Findings<'_>, time: Duration) -> Result<()> {
    if findings.args.json {
        return print_json(findings);
    }
    print_table(findings)?;
    let mut summary = Summary::default();
    summary.row("input", findings.logs.formats.join(", "));
    summary.count("rows", findings.logs.rows);
    for (problem, count) in &findings.logs.invalid {
        summary.count(format!("  invalid: {problem}"), *count);
    }
    summary.count("  rows that name no crawler", findings.logs.unnamed);
    let sum = |count: fn(&CrawlerAudit) -> u64| findings.audited.crawlers.iter().map(count).sum::<u64>();
    let (all, unknown) = (sum(|counts| counts.requests), sum(|counts| counts.unknown));
    if unknown > 0 {
        let set = findings.args.set.display();
        note(format_args!(
            "{set}: has no robots.txt for the website and time of {} of {} requests of crawlers, which are unknown; \
             check --host and --scheme",
            grouped(unknown),
            grouped(all)
        ));
    }
    if findings.audited.undated > 0 {
        summary.count("  on days that timelines omit", findings.audited.undated);
    }
    if findings.audited.unordered > 0 {
        summary.count("  logged late, or over a limit", findings.audited.unordered);
    }
    summary.row("time", format!("{}, {} rows/s", seconds(time), rate(findings.logs.rows, time)));
    summary.print();
    Ok(())
}

/// Prints a table of crawlers, then the rules and URLs with the most violations.
fn print_table(findings: &Findings<'_>) -> Result<()> {
    let mut names = vec![
        "crawler",
        "requests",
        "unknown",
        "violations",
        "%",
        "in grace",
        "blocked",
        "served",
        "refused",
        "robots.txt",
        "oldest copy",
        "sessions",
        "too short",
        "first violation",
        "last violation",
    ];
    let is_checked = findings.identities.is_some();
    if is_checked {
        names.extend(["verified", "failed"]);
    }
    let mut rows: Vec<Vec<String>> = vec![names.iter().map(|&name| name.to_owned()).collect()];
    rows.extend(findings.audited.crawlers.iter().take(SHOWN_CRAWLERS).map(|counts| row(counts, is_checked)));
    let widths: Vec<usize> =
        (0..names.len()).map(|at| rows.iter().map(|row| width(&row[at])).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| pad(cell, width));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    if let Some(others) = findings.audited.crawlers.len().checked_sub(SHOWN_CRAWLERS).filter(|&others| others > 0) {
        text.push_str(&format!("... and {} other crawlers, which --json lists\n", grouped(others as u64)));
    }
    for (what, top) in [("rule", &findings.audited.rules), ("URL", &findings.audited.urls)] {
        let first = first_of(top);
        if first.is_empty() {
            continue;
        }
        text.push_str(&format!("\nviolations by {what}\n"));
        for (key, count) in first {
            let (crawler, rest) = split_key(key);
            let line = format!("{}  {}  {}", grouped(count), shown_name(&crawler), printable(rest.as_bytes()));
            text.push_str(&line);
            text.push('\n');
        }
        if top.missed() > 0 {
            text.push_str(&format!("estimates: each count may be up to {} too low\n", grouped(top.missed())));
        }
    }
    file::print(text)
}

/// Returns a crawler's row.
fn row(counts: &CrawlerAudit, is_checked: bool) -> Vec<String> {
    let time = |time: Option<i64>| time.map(show_time).unwrap_or_else(|| "-".into());
    let mut row = vec![
        shown_name(&counts.name),
        grouped(counts.requests),
        grouped(counts.unknown + counts.invalid),
        grouped(counts.violations),
        share(counts),
        grouped(counts.in_grace),
        grouped(counts.blocked),
        grouped(counts.served),
        grouped(counts.refused),
        grouped(counts.fetches),
        counts.oldest_copy.map_or_else(|| "-".into(), shown_age),
        grouped(counts.sessions),
        if counts.delayed > 0 { grouped(counts.too_short) } else { "-".into() },
        time(counts.violated.map(|(first, _)| first)),
        time(counts.violated.map(|(_, last)| last)),
    ];
    if is_checked {
        row.extend(counts.identities[..2].iter().map(|&count| grouped(count)));
    }
    row
}

/// Returns a crawler's name as shown.
pub fn shown_name(name: &str) -> String {
    if name.is_empty() { "(other crawlers)".into() } else { printable(name.as_bytes()) }
}

/// Returns the share of violations among the requests that could be decided.
pub fn share(counts: &CrawlerAudit) -> String {
    match counts.allowed + counts.violations + counts.in_grace {
        0 => "-".into(),
        requests => format!("{:.1}", counts.violations as f64 * 100.0 / requests as f64),
    }
}

/// Returns a number of seconds in a suitable unit.
pub fn shown_age(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Returns the keys with the highest counts, without counts that do not exceed the possible error.
pub fn first_of(top: &Top) -> Vec<(&[u8], u64)> {
    top.first(SHOWN_TOPS).into_iter().filter(|&(_, count)| count > top.missed()).collect()
}

/// Splits a key of [`Top`] into the crawler and the rule or URL.
pub fn split_key(key: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(key);
    text.split_once('\t').map_or_else(|| (text.to_string(), String::new()), |(one, two)| (one.into(), two.into()))
}

fn print_json(findings: &Findings<'_>) -> Result<()> {
    let Findings { args, set, audited, logs, identities } = findings;
    let is_checked = identities.is_some();
    let tops = |top: &Top, what: &str| -> Value {
        let rows = first_of(top).into_iter().map(|(key, count)| {
            let (crawler, rest) = split_key(key);
            json!({ "crawler": crawler, what: rest, "violations": count })
        });
        rows.collect()
    };
    let invalid = logs.invalid.iter().map(|(problem, count)| (problem.clone(), (*count).into()));
    let value = json!({
        "schema": SCHEMA,
        "set": { "path": args.set.shown(), "by_time": set.has_times(), "dialect": set.dialect() },
        "grace_seconds": args.grace.seconds(),
        "logs": logs.logs,
        "rows": logs.rows,
        "rows_without_crawler": logs.unnamed,
        "invalid_rows": Value::Object(invalid.collect()),
        "unordered_requests": audited.unordered,
        "requests_missing_in_timelines": audited.undated,
        "ranges": identities.map(|identities| identities.lists().iter().map(list_json).collect::<Value>()),
        "dns": identities.and_then(Identities::names).map(|names| {
            json!({ "path": names.file.shown(), "addresses": names.addresses, "digest": names.digest })
        }),
        "crawlers": audited.crawlers.iter().map(|counts| crawler_json(counts, is_checked)).collect::<Value>(),
        "rules": tops(&audited.rules, "rule"),
        "urls": tops(&audited.urls, "url"),
        "counts_may_be_too_low_by": { "rules": audited.rules.missed(), "urls": audited.urls.missed() },
    });
    file::print(json_lines(&value)?)
}

fn list_json(list: &RangesFile) -> Value {
    json!({
        "name": list.name, "path": list.file.shown(), "crawlers": list.crawlers, "prefixes": list.prefixes,
        "created": list.created.map(show_time), "as_of": list.dated.map(show_time), "digest": list.digest,
    })
}

fn identities_json(counts: &[u64; 3]) -> Value {
    json!({ "verified": counts[0], "failed": counts[1], "no_check": counts[2] })
}

fn crawler_json(counts: &CrawlerAudit, is_checked: bool) -> Value {
    let time = |time: Option<i64>| time.map(show_time);
    let ages = &counts.ages;
    json!({
        "crawler": &*counts.name,
        "requests": counts.requests,
        "allowed": counts.allowed,
        "violations": counts.violations,
        "in_grace": counts.in_grace,
        "unknown": counts.unknown,
        "invalid": counts.invalid,
        "blocked": counts.blocked,
        "served_violations": counts.served,
        "refused_violations": counts.refused,
        "refused": counts.all_refused,
        "first_request": time(counts.period.map(|(first, _)| first)),
        "last_request": time(counts.period.map(|(_, last)| last)),
        "first_violation": time(counts.violated.map(|(first, _)| first)),
        "last_violation": time(counts.violated.map(|(_, last)| last)),
        "robots_txt": {
            "fetches": counts.fetches,
            "copies": counts.copies,
            "oldest_copy_seconds": counts.oldest_copy,
            "requests_by_age": {
                "hour": ages[0], "day": ages[1], "week": ages[2], "older": ages[COPY_AGES.len()],
                "not_fetched": ages[COPY_AGES.len() + 1],
            },
        },
        "identity": is_checked.then(|| identities_json(&counts.identities)),
        "identity_of_violations": is_checked.then(|| identities_json(&counts.violators)),
        "sessions": counts.sessions,
        "pauses": counts.pauses,
        "mean_pause_seconds": (counts.pauses > 0).then(|| counts.paused as f64 / counts.pauses as f64),
        "crawl_delay": { "pauses": counts.delayed, "too_short": counts.too_short },
    })
}
