//! `reptile agents`: the known crawlers, and the meaning of `--agent` names.

use std::fmt::Write;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use reptile::crawlers::{
    Crawler, GROUPS, Obeys, Purposes, Record, Resolved, Standing, dns_suffixes, range_lists, records,
};
use reptile::{Dialect, dialects};
use serde::Serialize;

use crate::error::{Exit, Failure, Result};
use crate::options;
use crate::outputs::align::{pad, width};
use crate::outputs::file::print;
use crate::outputs::json::json_line;
use crate::sets::agents::{agents_for, agents_under};
use reptile_records::text::printable;
use reptile_records::time::{Zone, now, read_time};

/// List the known crawlers, or explain a name
///
/// A crawler obeys the groups for the first of its product tokens that a robots.txt
/// names. If none is named, it obeys the group for * if its operator says so. In
/// dialects that do not know a crawler, its name is its only product token.
///
/// Each crawler has a source, and the date on which it was last checked. The last line
/// of the list gives the oldest date.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile agents
  reptile agents Googlebot-Image
  reptile agents @ai-training --dialect rfc9309
  reptile agents --purpose user-triggered --json

The fields of --json, an object on each line:
  name, dialect         the crawler, and the dialect of the next two
  tokens, default       the product tokens that it obeys, and whether it obeys the rules
                        for *
  other_names           other names of the same crawler
  standing, other       current, undocumented, retired, replaced-by or other-name; and the
                        name of the other crawler
  header                the product in its User-Agent header; null for none
  operator, purposes    its operator, and the names of its groups without @
  obeys                 whether it obeys robots.txt: yes, not-stated, user-triggered or no
  source, checked       the source, and the date of its last check; null for no date
  ranges                the URLs of its operator's lists of its address ranges; a URL that
                        ends in a slash is a web page
  dns                   the domains of its addresses' names in reverse DNS

Exit code: 0 done; 2 the name is not valid for --agent."
)]
pub struct Args {
    /// A name as for --agent: a crawler, a product token, a chain, or a group of crawlers; without it, all known
    /// crawlers are listed
    name: Option<String>,
    /// The dialect [default: google; every dialect if NAME is given]
    #[arg(long, value_name = "NAME", value_parser = options::dialects())]
    dialect: Option<&'static Dialect>,
    /// List only crawlers with this purpose
    #[arg(long, value_name = "PURPOSE", value_parser = purposes(), conflicts_with = "name")]
    purpose: Option<Purposes>,
    /// Print a JSON object for each crawler
    #[arg(long)]
    json: bool,
}

/// Returns a parser for purposes, which are the names of groups without `@`.
fn purposes() -> impl TypedValueParser<Value = Purposes> {
    let find = |name: String| GROUPS.iter().find(|(group, _)| name_of(group) == name).map(|(_, purposes)| *purposes);
    PossibleValuesParser::new(GROUPS.map(|(group, _)| name_of(group)))
        .try_map(move |name| find(name).ok_or("no such purpose"))
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the name is not one that `--agent` takes under the dialect, or is most likely a mistake.
pub fn run(args: &Args) -> Result<Exit> {
    let dialect = args.dialect.unwrap_or(dialects::DEFAULT);
    let text = match &args.name {
        None => list(dialect, args.purpose.unwrap_or(Purposes::NONE), args.json)?,
        Some(name) => {
            agents_for(dialect, std::slice::from_ref(name), &[])?;
            meaning_of(name, args.dialect, args.json)?
        }
    };
    print(text)?;
    Ok(Exit::Done)
}

/// Returns the product tokens that an agent obeys, in words.
fn chain(agent: &Resolved) -> String {
    let mut names: Vec<String> = agent.tokens.iter().map(|token| printable(token)).collect();
    names.extend(agent.honors_default_group.then(|| "*".to_owned()));
    if names.is_empty() { "nothing: it obeys no robots.txt".to_owned() } else { names.join(" > ") }
}

/// Returns a purpose's name: that of its group without `@`.
fn name_of(group: &'static str) -> &'static str {
    group.trim_start_matches('@')
}

/// Returns the groups of crawlers that a crawler belongs to.
fn groups_of(known: &Crawler) -> impl Iterator<Item = &'static str> {
    GROUPS.iter().filter(|(_, purposes)| known.purposes.contains(*purposes)).map(|(name, _)| *name)
}

/// Returns whether a crawler obeys robots.txt, as a stable name.
fn obeys(known: &Crawler) -> &'static str {
    match known.obeys {
        Obeys::Yes => "yes",
        Obeys::UserTriggered(_) => "user-triggered",
        Obeys::No(_) => "no",
        _ => "not-stated",
    }
}

/// Returns whether a crawler's name is current, as a stable name, with the name of the other crawler.
fn standing(known: &Crawler) -> (&'static str, Option<&'static str>) {
    match known.standing {
        Standing::Undocumented => ("undocumented", None),
        Standing::Retired => ("retired", None),
        Standing::ReplacedBy(other) => ("replaced-by", Some(other)),
        Standing::OtherName(other) => ("other-name", Some(other)),
        _ => ("current", None),
    }
}

/// Returns a crawler's source in words, and its standing unless that is current.
fn source_of(known: &Crawler, record: &Record) -> String {
    match standing(known) {
        ("current", _) => record.source.to_owned(),
        (standing, Some(other)) => format!("{standing} {other}: {}", record.source),
        (standing, None) => format!("{standing}: {}", record.source),
    }
}

/// Returns the table of known crawlers under a dialect, or an object for each.
fn list(dialect: &'static Dialect, purposes: Purposes, is_json: bool) -> Result<String> {
    let chosen: Vec<_> = records().filter(|(known, _)| known.purposes.contains(purposes)).collect();
    let mut json = String::new();
    let mut rows =
        vec![["crawler", "obeys the groups for", "groups", "robots.txt", "checked", "source"].map(str::to_owned)];
    for &(known, record) in &chosen {
        for agent in agents_under(dialect, &[known.name.to_owned()])? {
            json += &json_line(&CrawlerJson::new(dialect, &agent, Some((known, record))))?;
            rows.push([
                known.name.to_owned(),
                chain(&agent),
                groups_of(known).collect::<Vec<_>>().join(" "),
                obeys(known).to_owned(),
                record.checked.unwrap_or("-").to_owned(),
                source_of(known, record),
            ]);
        }
    }
    if is_json {
        return Ok(json);
    }
    let mut text = table(&rows);
    for (name, of_group) in GROUPS {
        let count = chosen.iter().filter(|(known, _)| known.purposes.contains(of_group)).count();
        let _ = writeln!(text, "{name} contains {count} of them");
    }
    text += &oldest_check(&chosen, now());
    Ok(text)
}

/// Returns a sentence about the oldest check of some crawlers. `now` is in seconds since 1970.
fn oldest_check(chosen: &[(&Crawler, &Record)], now: i64) -> String {
    const DAY_SECONDS: i64 = 86_400;
    let undated = chosen.iter().filter(|(_, record)| record.checked.is_none()).count();
    let Some(oldest) = chosen.iter().filter_map(|(_, record)| record.checked).min() else {
        return format!("no check has a date: {undated} crawlers\n");
    };
    // A month counts from its first day.
    let first_day = if oldest.len() == "2026-11".len() { format!("{oldest}-01") } else { oldest.to_owned() };
    let days = read_time(&first_day, &Zone::default()).map_or(0, |checked| (now - checked).max(0) / DAY_SECONDS);
    let names: Vec<&str> =
        chosen.iter().filter(|(_, record)| record.checked == Some(oldest)).map(|(known, _)| known.name).collect();
    format!("oldest check: {oldest}, {days} days ago: {}; no date: {undated} crawlers\n", names.join(", "))
}

/// Returns the meaning of a name under one dialect, or under each.
fn meaning_of(name: &str, dialect: Option<&'static Dialect>, is_json: bool) -> Result<String> {
    let dialects = dialect.map_or(dialects::ALL.to_vec(), |dialect| vec![dialect]);
    let mut json = String::new();
    let mut rows = vec![["dialect", "crawler", "obeys the groups for", "source"].map(str::to_owned)];
    for dialect in dialects {
        let row = |name: &str, chain: String, source| {
            [dialect.as_str().to_owned(), printable(name.as_bytes()), chain, source]
        };
        match agents_under(dialect, &[name.to_owned()]) {
            Ok(agents) => {
                for agent in &agents {
                    let known = records().find(|(known, _)| known.name.eq_ignore_ascii_case(&agent.name));
                    json += &json_line(&CrawlerJson::new(dialect, agent, known))?;
                    let known = known.filter(|(known, _)| dialect.crawlers.contains(&known.family));
                    let source = known.map_or_else(String::new, |(known, record)| source_of(known, record));
                    rows.push(row(&agent.name, chain(agent), source));
                }
            }
            Err(Failure::Fatal(message)) => rows.push(row(name, message.to_string(), String::new())),
            Err(other) => return Err(other),
        }
    }
    Ok(if is_json { json } else { table(&rows) })
}

/// A crawler under a dialect, as JSON. An unknown one has only a name and product tokens.
#[derive(Serialize)]
struct CrawlerJson<'a> {
    name: &'a str,
    dialect: &'static str,
    tokens: Vec<String>,
    default: bool,
    #[serde(flatten)]
    known: Option<KnownJson>,
}

#[derive(Serialize)]
struct KnownJson {
    other_names: Vec<&'static str>,
    standing: &'static str,
    other: Option<&'static str>,
    header: Option<&'static str>,
    operator: &'static str,
    purposes: Vec<&'static str>,
    obeys: &'static str,
    source: &'static str,
    checked: Option<&'static str>,
    ranges: Vec<&'static str>,
    dns: &'static [&'static str],
}

impl<'a> CrawlerJson<'a> {
    fn new(dialect: &'static Dialect, agent: &'a Resolved, known: Option<(&Crawler, &Record)>) -> CrawlerJson<'a> {
        let known = known.map(|(known, record)| {
            let others = records().filter(|(other, _)| other.standing == Standing::OtherName(known.name));
            let (standing, other) = standing(known);
            KnownJson {
                other_names: others.map(|(other, _)| other.name).collect(),
                standing,
                other,
                header: record.header,
                operator: record.operator,
                purposes: groups_of(known).map(name_of).collect(),
                obeys: obeys(known),
                source: record.source,
                checked: record.checked,
                ranges: range_lists(known.name).map(|list| list.url).collect(),
                dns: dns_suffixes(known.name).map_or(&[], |row| row.suffixes),
            }
        });
        CrawlerJson {
            name: &agent.name,
            dialect: dialect.as_str(),
            tokens: agent.tokens.iter().map(|token| String::from_utf8_lossy(token).into_owned()).collect(),
            default: agent.honors_default_group,
            known,
        }
    }
}

/// Returns rows with their columns aligned.
fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = width(cell).max(*most);
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &cells)| pad(cell, cells)).collect();
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn every_known_crawler_is_listed_with_its_source() {
        let text = list(dialects::DEFAULT, Purposes::NONE, false).unwrap();
        for (known, record) in records() {
            let line = text.lines().find(|line| line.split("  ").next() == Some(known.name)).unwrap();
            assert!(line.ends_with(&source_of(known, record)) && !record.source.is_empty(), "{line}");
        }
    }

    #[test]
    fn the_oldest_check_is_counted_in_days() {
        let all: Vec<_> = records().collect();
        let dated = |date: &str| records().filter(move |(_, record)| record.checked == Some(date)).collect::<Vec<_>>();
        let undated: Vec<_> = records().filter(|(_, record)| record.checked.is_none()).collect();
        let now = read_time("2026-11-28T13:00:00Z", &Zone::default()).unwrap();
        for (chosen, now, expected) in [
            (&all, now, "oldest check: 2026-08-07, 113 days ago: Webzio, Webzio-Extended, omgilibot; no date: "),
            (&dated("2026-11"), now, "oldest check: 2026-11, 27 days ago: "),
            (&all, 0, "oldest check: 2026-08-07, 0 days ago: "),
            (&undated, now, "no check has a date: "),
        ] {
            let found = oldest_check(chosen, now);
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
