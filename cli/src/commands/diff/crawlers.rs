//! The crawlers that obey a different group than before.

use std::io::Write;

use reptile::Dialect;
use reptile::crawlers::{ALL, Resolved, of_name};
use reptile::explain::ChosenBy;
use serde_json::json;

use super::groups::{File, Names};
use crate::error::Stop;
use crate::outputs::json::json_line;
use reptile_records::text::printable;

/// Writes the crawlers that obey a different group than before. Compares the given crawlers, or else all crawlers that
/// have several product tokens in the dialect. Returns whether there are any.
///
/// # Errors
/// Returns an error if `out` cannot be written.
pub fn compare(
    names: &Names<'_>,
    given: &[Resolved],
    dialect: &Dialect,
    files: &[File<'_>; 2],
    is_json: bool,
    out: &mut impl Write,
) -> Result<bool, Stop> {
    let known: Vec<Resolved> = if given.is_empty() {
        let names = ALL.iter().map(|crawler| of_name(crawler.name.as_bytes(), dialect));
        names.filter(|crawler| crawler.tokens.len() > 1).collect()
    } else {
        given.to_vec()
    };
    let mut any = false;
    for agent in known {
        // The rule comparison has already covered crawlers with one product token.
        if let [token] = &agent.tokens[..]
            && names.contains(&token.to_ascii_lowercase())
        {
            continue;
        }
        let obeys = files.each_ref().map(|file| match file.choose(&agent).0 {
            ChosenBy::Token(index) => agent.tokens.get(index).map(|token| String::from_utf8_lossy(token).into_owned()),
            ChosenBy::DefaultGroup => Some("*".into()),
            ChosenBy::Nobody => None,
        });
        if obeys[0] != obeys[1] {
            if is_json {
                let object = json!({"change": "crawler", "agent": agent.name, "old": obeys[0], "new": obeys[1]});
                out.write_all(json_line(&object)?.as_bytes())?;
            } else {
                let name = printable(agent.name.as_bytes());
                let [old, new] =
                    obeys.map(|name| name.map_or_else(|| "nobody".into(), |name| printable(name.as_bytes())));
                writeln!(out, "~ {name}: obeyed the rules for {old}, obeys those for {new}")?;
            }
            any = true;
        }
    }
    Ok(any)
}
