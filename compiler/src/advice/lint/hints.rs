//! Hints about rules that match other paths than their authors probably expect.

use std::collections::HashMap;

use reptile_engine::verdict::RuleKind;

use super::characters::quote;
use super::codes::Code;
use super::data::words::HOME_QUERIES;
use super::findings::{Findings, Severity};
use crate::body::{Group, RawRule};
use crate::dialect::Dialect;

/// Adds the hints about a group's rules.
pub(super) fn hints(group: &Group<'_>, dialect: &Dialect, found: &mut Findings) {
    let closing = |rule: &&RawRule<'_>| rule.kind == RuleKind::Disallow;
    let mut lines: HashMap<&[u8], u32> = HashMap::new();
    for rule in group.rules {
        found.step();
        if rule.value.starts_with(b"/?") || rule.value.ends_with(b"/") {
            lines.entry(rule.value).or_insert(rule.line);
        }
    }
    if lines.is_empty() {
        return;
    }
    for rule in group.rules.iter().filter(closing) {
        home_query(rule, dialect, found);
        prefix_match(rule, &lines, found);
    }
}

/// Finds a rule for a parameter that other pages than the home page have too.
fn home_query(rule: &RawRule<'_>, dialect: &Dialect, found: &mut Findings) {
    let Some(query) = rule.value.strip_prefix(b"/?").filter(|_| dialect.has_wildcards()) else { return };
    let is_end = |byte: &u8| !(byte.is_ascii_alphanumeric() || b"_-".contains(byte));
    let (name, rest) = query.split_at(query.iter().position(is_end).unwrap_or(query.len()));
    // Without a value, the query is a page or a command of the home page.
    let is_parameter = !name.is_empty() && matches!(rest.first(), Some(b'=' | b'*'));
    if !is_parameter || HOME_QUERIES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes())) {
        return;
    }
    found.add(rule.line, Code::HomeQuery, Severity::Note, || {
        let message = "matches only the home page with this query, and no other page";
        let (first, other) = (quote(&[b"/*?", query].concat()), quote(&[b"/*&", query].concat()));
        let fix = format!("if you mean every page, write \"Disallow: {first}\" and \"Disallow: {other}\"");
        (message.into(), Some(fix.into()))
    });
}

/// Finds a rule that matches more than a folder, in a group that has a rule for the folder too.
fn prefix_match(rule: &RawRule<'_>, lines: &HashMap<&[u8], u32>, found: &mut Findings) {
    let value = rule.value;
    let is_plain = value.starts_with(b"/") && !value.ends_with(b"/") && !value.iter().any(|byte| b"*$?".contains(byte));
    if !is_plain {
        return;
    }
    let Some(folder) = lines.get(&[value, b"/"].concat()[..]) else { return };
    found.add(rule.line, Code::PrefixMatch, Severity::Note, || {
        let text = quote(value);
        let message = format!(
            "matches every path that begins so, such as \"{text}-x\", and line {folder} is about the folder \"{text}/\""
        );
        (message.into(), Some(format!("if you mean only this page, write \"Disallow: {text}$\"").into()))
    });
}
