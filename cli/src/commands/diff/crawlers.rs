//! The crawlers that obey another group than before.

use std::io::{self, Write};

use reptile_compiler::dialect::Dialect;
use reptile_compiler::dialect::crawlers::{ALL, Resolved, of_name};
use reptile_compiler::oracle::ChosenBy;

use super::groups::{File, Names};
use crate::outputs::text::printable;

/// Writes which crawlers obey another group than before, of those that were given, or else of those that the dialect knows
/// under several product tokens. Returns whether there are any.
///
/// # Errors
/// If `out` cannot be written.
pub fn compare(
    names: &Names<'_>,
    given: &[Resolved],
    dialect: &Dialect,
    files: &[File<'_>; 2],
    out: &mut impl Write,
) -> io::Result<bool> {
    let known: Vec<Resolved> = if given.is_empty() {
        let names = ALL.iter().map(|crawler| of_name(crawler.name.as_bytes(), dialect));
        names.filter(|crawler| crawler.tokens.len() > 1).collect()
    } else {
        given.to_vec()
    };
    let mut any = false;
    for agent in known {
        // The comparison of the rules has already told of a crawler with one product token.
        if let [token] = &agent.tokens[..]
            && names.contains(&token.to_ascii_lowercase())
        {
            continue;
        }
        let obeys = files.each_ref().map(|file| match file.choose(&agent).0 {
            ChosenBy::Token(index) => agent.tokens.get(index).map_or_else(String::new, |token| printable(token)),
            ChosenBy::DefaultGroup => "*".into(),
            ChosenBy::Nobody => "nobody".into(),
        });
        if obeys[0] != obeys[1] {
            let name = printable(agent.name.as_bytes());
            writeln!(out, "~ {name}: obeyed the rules for {}, obeys those for {}", obeys[0], obeys[1])?;
            any = true;
        }
    }
    Ok(any)
}
