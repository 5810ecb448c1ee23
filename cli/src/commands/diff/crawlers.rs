//! The crawlers that obey another group than before.

use std::fmt::Write as _;

use reptile_compiler::advice::explanation::Reading;
use reptile_compiler::dialect::crawlers::{ALL, Resolved, of_name};
use reptile_compiler::oracle::ChosenBy;

use super::Names;
use crate::outputs::text::printable;

/// Writes which crawlers obey another group than before: of those that were given, or else of those that the dialect knows
/// under several product tokens.
pub fn compare(names: &Names, given: &[Resolved], readings: &[Reading<'_>; 2], text: &mut String) {
    let dialect = readings[0].dialect();
    let known: Vec<Resolved> = if given.is_empty() {
        let names = ALL.iter().map(|crawler| of_name(crawler.name.as_bytes(), dialect));
        names.filter(|crawler| crawler.tokens.len() > 1).collect()
    } else {
        given.to_vec()
    };
    for agent in known {
        // The comparison of the rules has already told of a crawler with one product token.
        if let [token] = &agent.tokens[..]
            && names.contains(&Some(token.to_ascii_lowercase()))
        {
            continue;
        }
        let obeys = readings.each_ref().map(|reading| match reading.choose(&agent).by {
            ChosenBy::Token(index) => agent.tokens.get(index).map_or_else(String::new, |token| printable(token)),
            ChosenBy::DefaultGroup => "*".into(),
            ChosenBy::Nobody => "nobody".into(),
        });
        if obeys[0] != obeys[1] {
            let name = printable(agent.name.as_bytes());
            let _ = writeln!(text, "~ {name}: obeyed the rules for {}, obeys those for {}", obeys[0], obeys[1]);
        }
    }
}
