//! Finds preferences for `*` that do not reach crawlers with their own groups.
//!
//! A crawler obeys one group, and the lines about uses belong to it: see [`usages_of`](crate::usage::rules::usages_of).
//! Signals before all groups hold for each group without signals.

use bumpalo::Bump;
use reptile_engine::format::directives::DirectiveKind;
use reptile_engine::format::tokens::NameMatching;
use reptile_engine::verdict::RuleKind;

use super::groups::closes_all;
use super::proofs::ignores_default_group;
use super::uses::{SAME_USES, UsageLines};
use super::{Code, Findings, Severity, quote};
use crate::body::directives::content_usage;
use crate::body::{RawDirective, Robots};
use crate::dialect::Dialect;
use crate::rules::groups::{List, Named, assign, named};
use crate::usage::Statement;

/// A use that a line states, on all pages or on the pages with a path.
#[derive(PartialEq, Eq)]
struct Use {
    label: String,
    path: Option<Vec<u8>>,
}

/// Returns the uses that a line states. A label and a signal for the same use have the same name.
fn uses_in(kind: DirectiveKind, line: &RawDirective<'_>, dialect: &Dialect) -> Vec<Use> {
    if kind == DirectiveKind::ContentSignal {
        let (statement, _) = Statement::signals(line.value);
        return statement.entries().map(|(label, _)| Use { label: label.into(), path: None }).collect();
    }
    let (path, text) = content_usage(line.value);
    let path = path.map(|path| dialect.normal_form.pattern(path).into_owned());
    let statement = Statement::parse(text).unwrap_or_default();
    let signal =
        |label: &str| SAME_USES.iter().find(|(usage, _)| *usage == label).map_or(label.to_owned(), |it| it.1.into());
    statement.entries().map(|(label, _)| Use { label: signal(label), path: path.clone() }).collect()
}

/// Adds a finding if lines for `*` state uses that the group of another crawler leaves open.
pub(super) fn not_inherited(lines: &UsageLines<'_>, robots: &Robots<'_>, dialect: &Dialect, found: &mut Findings) {
    // Nearly all files lack such lines. With contained names, a crawler may obey a group that names another one.
    if lines.statements().next().is_none() || dialect.name_matching == NameMatching::Contained {
        return;
    }
    let arena = Bump::new();
    let assignment = assign(robots, dialect, &arena);
    let Some(default) = assignment.default_group.map(|index| index as usize) else { return };
    let stated: Vec<_> = lines.statements().map(|(kind, line)| (kind, line, uses_in(kind, line, dialect))).collect();
    let in_list = |list: &List<'_>, group: Option<u32>| group.is_some_and(|group| list.groups.contains(&group));
    let (mut missing, mut names): (Vec<u32>, Vec<String>) = (Vec::new(), Vec::new());
    for (index, list) in assignment.lists.iter().enumerate() {
        // Preferences are about pages that may be fetched.
        if index == default || is_closed(list) {
            continue;
        }
        found.step();
        let own = || stated.iter().filter(|(_, line, _)| in_list(list, line.group));
        let has_signals = own().any(|(kind, ..)| *kind == DirectiveKind::ContentSignal);
        let of_file = stated
            .iter()
            .filter(|(kind, line, _)| !has_signals && *kind == DirectiveKind::ContentSignal && line.group.is_none());
        let known: Vec<&Use> = own().chain(of_file).flat_map(|(_, _, uses)| uses).collect();
        let of_all = stated
            .iter()
            .filter(|(_, line, _)| assignment.lists.get(default).is_some_and(|all| in_list(all, line.group)));
        let open = of_all.filter(|(_, _, uses)| uses.iter().any(|used| !known.contains(&used)));
        let open: Vec<u32> = open.map(|(_, line, _)| line.line).collect();
        let own_names =
            if open.is_empty() { Vec::new() } else { names_of(index, list, robots, &assignment.tokens, dialect) };
        if !own_names.is_empty() {
            missing.extend(open);
            names.extend(own_names);
        }
    }
    missing.sort_unstable();
    missing.dedup();
    let Some(&first) = missing.first() else { return };
    found.add(first, Code::UsageNotInherited, Severity::Warning, || {
        const SHOWN: usize = 10;
        let more = names.len().saturating_sub(SHOWN);
        let shown = names[..names.len() - more].join(", ");
        let shown = if more == 0 { shown } else { format!("{shown} and {more} more") };
        let message = format!(
            "does not reach {shown}: a crawler with its own group obeys no line of the group for \"*\", and its group \
             does not state the same uses"
        );
        let text = |number: u32| {
            let (.., line, _) = stated.iter().find(|(_, line, _)| line.line == number)?;
            Some(format!("\"{}: {}\"", quote(line.key), quote(line.value)))
        };
        let what = match missing[..] {
            [number] => text(number).unwrap_or_default(),
            _ => format!("lines {}", missing.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
        };
        let groups = if names.len() == 1 { "its group" } else { "their groups" };
        (message.into(), Some(format!("repeat {what} in {groups}").into()))
    });
}

/// Returns whether a list closes the whole site, so that its crawlers read no page.
fn is_closed(list: &List<'_>) -> bool {
    let opens = |kind: RuleKind, value: &[u8]| kind == RuleKind::Allow && !value.is_empty();
    list.rules.iter().any(closes_all) && !list.rules.iter().any(|rule| opens(rule.kind, rule.value))
}

/// Returns the names, as written, of the crawlers that obey a list, and would obey the default group without it.
fn names_of(
    index: usize,
    list: &List<'_>,
    robots: &Robots<'_>,
    tokens: &[(&[u8], u32)],
    dialect: &Dialect,
) -> Vec<String> {
    let groups = list.groups.iter().filter_map(|&group| robots.groups.get(group as usize));
    let mut names = Vec::new();
    for value in groups.flat_map(|group| group.agents) {
        let Named::Token(token) = named(value, dialect) else { continue };
        let is_assigned = tokens.binary_search(&(&token.to_ascii_lowercase()[..], index as u32)).is_ok();
        let name = format!("\"{}\"", quote(token));
        if is_assigned && !token.is_empty() && !ignores_default_group(token) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
