//! Findings about groups whose product token names a use of pages, or should.

use reptile_engine::format::directives::DirectiveKind;
use reptile_engine::verdict::Preference;

use super::characters::quote;
use super::codes::Code;
use super::findings::{Findings, Severity};
use super::uses::{SAME_USES, UsageLines};
use crate::body::Robots;
use crate::body::directives::content_usage;
use crate::dialect::Dialect;
use crate::oracle::{names, stated_by_token};
use crate::usage::Statement;
use crate::usage::tokens::{TOKENS, misspelled, names_use};

/// Returns whether a user-agent line's token names a use. Finds misspelled and unknown ones.
pub(super) fn is_of_use(number: u32, token: &[u8], found: &mut Findings) -> bool {
    let meant = misspelled(token);
    let is_known = TOKENS.iter().any(|(known, _)| known.as_bytes().eq_ignore_ascii_case(token));
    if meant.is_none() && (is_known || !names_use(token)) {
        return is_known;
    }
    found.add(number, Code::UsageToken, Severity::Warning, || {
        let shown = quote(token);
        match meant {
            Some(known) => {
                let message = format!("\"{shown}\" is not the token \"{known}\": the group states nothing about a use");
                (message.into(), Some(format!("write \"User-agent: {known}\"").into()))
            }
            None => {
                let known = TOKENS.map(|(known, _)| format!("\"{known}\"")).join(", ");
                let message = format!("\"{shown}\" begins like a token for a use, and no use has it; known: {known}");
                (message.into(), None)
            }
        }
    });
    true
}

/// Finds a group for a use whose rules for the whole site contradict a line about that use.
///
/// `by_group` has the user-agent lines of each group, and `path` is one that only rules for the whole site match.
pub(super) fn contradictions(
    body: &[u8],
    (lines, path): (&UsageLines<'_>, &[u8]),
    robots: &Robots<'_>,
    by_group: &[&[u32]],
    dialect: &Dialect,
    found: &mut Findings,
) {
    for (token, label) in TOKENS {
        let named = |(group, lines): (usize, &&[u32])| {
            let agents = robots.groups.get(group)?.agents.iter();
            let mut with_lines = agents.zip(lines.iter());
            with_lines.find(|(value, _)| names(value, Some(token.as_bytes()), dialect)).map(|(_, &line)| line)
        };
        let Some(line) = by_group.iter().enumerate().find_map(named) else { continue };
        let signal = SAME_USES.iter().find(|(usage, _)| *usage == label).map_or(label, |(_, signal)| *signal);
        let by_group = stated_by_token(body, dialect, token.as_bytes(), false, path);
        let opposite = lines.statements().find(|(kind, stated)| {
            let preference = match (kind, content_usage(stated.value)) {
                (DirectiveKind::ContentSignal, _) => Statement::signals(stated.value).0.get(signal),
                (_, (None, text)) => Statement::parse(text).unwrap_or_default().get(label),
                (_, (Some(_), _)) => Preference::Unknown,
            };
            preference != Preference::Unknown && preference != by_group
        });
        let Some((_, opposite)) = opposite else { continue };
        found.add(line, Code::UsageContradiction, Severity::Warning, || {
            let message = format!(
                "line {} states the opposite about \"{label}\" for the whole site; the most restrictive holds",
                opposite.line
            );
            (message.into(), Some("state the same in both".into()))
        });
    }
}
