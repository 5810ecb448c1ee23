//! `reptile dialects`: the dialects, one per line.

use std::fmt::Write;

use reptile::{Dialect, Profile, dialects};

use crate::error::{Exit, Result};
use crate::outputs::file::print;

/// List the dialects: the interpretations of the protocol for --dialect
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile dialects
  reptile test robots.txt --agent MyBot --all-dialects /private

Exit code: 0."
)]
pub struct Args {}

/// A description of each dialect.
const MEANINGS: [(&str, &str); 9] = [
    ("google-lib", "Google's open-source library, byte for byte; knows no crawlers"),
    ("google", "Google's crawlers, according to Google's documentation"),
    ("rfc9309", "RFC 9309 as implementations read it"),
    ("rfc9309-strict", "RFC 9309 to the letter: lines outside its grammar are ignored"),
    ("yandex", "Yandex today"),
    ("yandex-2017", "Yandex until 2017: the first matching rule decides; Host, Crawl-delay"),
    ("bing", "Bing's documentation, RFC 9309 for the rest; Crawl-delay"),
    ("koster-1994", "the first note, of 1994: only Disallow, no wildcards"),
    ("koster-1996", "the draft of 1996: Allow and Disallow in file order"),
];

/// Runs the command.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn run(_: &Args) -> Result<Exit> {
    let mut text = String::new();
    let _ = writeln!(text, "{:<16}{:<17}what it is", "dialect", "fetch profile");
    for dialect in dialects::ALL {
        let mark = if dialect.name == dialects::DEFAULT.name { " (the default)" } else { "" };
        let profile = Profile::of_dialect(dialect).as_str();
        let _ = writeln!(text, "{:<16}{profile:<17}{}{mark}", dialect.as_str(), meaning(dialect));
    }
    print(text)?;
    Ok(Exit::Done)
}

fn meaning(dialect: &Dialect) -> &'static str {
    MEANINGS.iter().find(|(name, _)| *name == dialect.as_str()).map_or("", |(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_has_a_meaning() {
        assert!(dialects::ALL.iter().all(|dialect| !meaning(dialect).is_empty()));
        assert_eq!(MEANINGS.len(), dialects::ALL.len());
    }
}
