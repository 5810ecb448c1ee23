//! `reptile agents`: the known crawlers, and the meaning of `--agent` names.

use std::fmt::Write;

use reptile::crawlers::{Crawler, GROUPS, Resolved};
use reptile::{Dialect, crawlers, dialects};

use crate::error::{Exit, Failure, Result};
use crate::options;
use crate::outputs::align::{pad, width};
use crate::outputs::file::print;
use crate::sets::agents::{agents_for, agents_under};
use reptile_records::text::printable;

/// List the known crawlers, or explain a name
///
/// A crawler obeys the groups for the first of its product tokens that a robots.txt
/// names. If none is named, it obeys the group for * if its operator says so. In
/// dialects that do not know a crawler, its name is its only product token.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile agents
  reptile agents Googlebot-Image
  reptile agents @ai-training --dialect rfc9309

Exit code: 0 done; 2 the name is not valid for --agent."
)]
pub struct Args {
    /// A name as for --agent: a crawler, a product token, a chain, or a group of crawlers; without it, all known
    /// crawlers are listed
    name: Option<String>,
    /// The dialect [default: google; every dialect if NAME is given]
    #[arg(long, value_name = "NAME", value_parser = options::dialects())]
    dialect: Option<&'static Dialect>,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the name is not one that `--agent` takes under the dialect, or is most likely a mistake.
pub fn run(args: &Args) -> Result<Exit> {
    let dialect = args.dialect.unwrap_or(dialects::DEFAULT);
    let text = match &args.name {
        None => list(dialect)?,
        Some(name) => {
            agents_for(dialect, std::slice::from_ref(name), &[])?;
            meaning_of(name, args.dialect)?
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

/// Returns the groups of crawlers that a crawler belongs to, in words.
fn groups_of(known: &Crawler) -> String {
    let of = GROUPS.iter().filter(|(_, purposes)| known.purposes.contains(*purposes)).map(|(name, _)| *name);
    of.collect::<Vec<_>>().join(" ")
}

/// Returns a crawler's source in words. The crawler table abbreviates documents as letters.
fn source_of(known: &Crawler) -> String {
    let spell = |word: &str| match word {
        "Dspec" => "Google's list of crawlers".to_owned(),
        "D" => "Google's robots.txt specification".to_owned(),
        "Yua" => "Yandex Webmaster help".to_owned(),
        "B" => "Bing's webmaster blog".to_owned(),
        "I" => "our choice".to_owned(),
        other => other.to_owned(),
    };
    let parts = known.source.split(", ").map(|part| {
        let end = part.find([';', ':']).unwrap_or(part.len());
        let rest = part[end..].replace(" I", " our choice");
        spell(&part[..end]) + &rest
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns the table of known crawlers under a dialect.
fn list(dialect: &'static Dialect) -> Result<String> {
    let mut rows = vec![["crawler", "obeys the groups for", "group", "source"].map(str::to_owned)];
    for known in &crawlers::ALL {
        for agent in agents_under(dialect, &[known.name.to_owned()])? {
            rows.push([known.name.to_owned(), chain(&agent), groups_of(known), source_of(known)]);
        }
    }
    let mut text = table(&rows);
    for (name, _) in GROUPS {
        let count = agents_under(dialect, &[name.to_owned()])?.len();
        let _ = writeln!(text, "{name} contains {count} of them");
    }
    Ok(text)
}

/// Returns the meaning of a name under one dialect, or under each.
fn meaning_of(name: &str, dialect: Option<&'static Dialect>) -> Result<String> {
    let dialects = dialect.map_or(dialects::ALL.to_vec(), |dialect| vec![dialect]);
    let mut rows = vec![["dialect", "crawler", "obeys the groups for", "source"].map(str::to_owned)];
    for dialect in dialects {
        let row = |name: &str, chain: String, source| {
            [dialect.as_str().to_owned(), printable(name.as_bytes()), chain, source]
        };
        match agents_under(dialect, &[name.to_owned()]) {
            Ok(agents) => rows.extend(agents.iter().map(|agent| {
                let known = crawlers::ALL.iter().find(|known| known.name.eq_ignore_ascii_case(&agent.name));
                let known = known.filter(|known| dialect.crawlers.contains(&known.family));
                row(&agent.name, chain(agent), known.map_or_else(String::new, source_of))
            })),
            Err(Failure::Fatal(message)) => rows.push(row(name, message.to_string(), String::new())),
            Err(other) => return Err(other),
        }
    }
    Ok(table(&rows))
}

/// Returns rows with their columns aligned.
fn table(rows: &[[String; 4]]) -> String {
    let mut widths = [0; 3];
    for row in rows {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = width(cell).max(*most);
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, &cells) in row.iter().zip(&widths) {
            line += &pad(cell, cells);
            line += "  ";
        }
        line += &row[3];
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn every_known_crawler_is_listed_with_its_source() {
        let text = list(dialects::DEFAULT).unwrap();
        for known in &crawlers::ALL {
            let line = text.lines().find(|line| line.split("  ").next() == Some(known.name)).unwrap();
            assert!(line.ends_with(&source_of(known)) && !source_of(known).is_empty(), "{line}");
            assert!(!source_of(known).contains("Dspec") && !source_of(known).ends_with(" I"), "{line}");
        }
    }
}
