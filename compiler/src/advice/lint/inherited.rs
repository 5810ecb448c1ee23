//! Finds preferences for `*` that do not reach crawlers with their own groups.
//!
//! A crawler obeys one group, and the lines about uses belong to it: see [`usages_of`](crate::usage::rules::usages_of).
//! Signals before all groups hold for each group without signals.

use std::collections::{BTreeSet, HashMap, HashSet};

use bumpalo::Bump;
use reptile_engine::format::directives::DirectiveKind;
use reptile_engine::format::tokens::NameMatching;
use reptile_engine::verdict::RuleKind;

use super::characters::quote;
use super::codes::Code;
use super::findings::{Findings, Severity};
use super::groups::closes_all;
use super::proofs::obeys_instead;
use super::uses::{SAME_USES, UsageLines};
use crate::body::directives::content_usage;
use crate::body::{RawDirective, Robots};
use crate::dialect::Dialect;
use crate::rules::groups::{AssignedRules, Assignment, Named, assign, named};
use crate::usage::Statement;

/// A use that a line states, on all pages or on the pages with a path.
#[derive(PartialEq, Eq, Hash)]
struct Use {
    label: String,
    path: Option<Vec<u8>>,
}

/// A line that states uses.
struct Stated<'l> {
    kind: DirectiveKind,
    line: &'l RawDirective<'l>,
    uses: Vec<Use>,
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
    let stated: Vec<Stated<'_>> =
        lines.statements().map(|(kind, line)| Stated { kind, line, uses: uses_in(kind, line, dialect) }).collect();
    let mut by_group: HashMap<Option<u32>, Vec<&Stated<'_>>> = HashMap::new();
    for one in &stated {
        by_group.entry(one.line.group).or_default().push(one);
    }
    let of_list = |list: &AssignedRules<'_>| -> Vec<&Stated<'_>> {
        list.groups.iter().filter_map(|&group| by_group.get(&Some(group))).flatten().copied().collect()
    };
    let of_file =
        || by_group.get(&None).into_iter().flatten().copied().filter(|one| one.kind == DirectiveKind::ContentSignal);
    let of_all = assignment.lists.get(default).map(of_list).unwrap_or_default();
    let open_beside = |known: HashSet<&Use>| -> Vec<u32> {
        let open = of_all.iter().filter(|one| one.uses.iter().any(|used| !known.contains(used)));
        open.map(|one| one.line.line).collect()
    };
    // Most groups state no uses. The lines that do not reach such groups are the same for all of them.
    let open_to_silent = open_beside(of_file().flat_map(|one| &one.uses).collect());
    let (mut missing, mut names, mut has_silent) = (BTreeSet::new(), Vec::new(), false);
    for (index, list) in assignment.lists.iter().enumerate() {
        // Preferences are about pages that may be fetched.
        if index == default || is_closed(list) {
            continue;
        }
        found.step();
        let own = of_list(list);
        let open_to_own = (!own.is_empty()).then(|| {
            let has_signals = own.iter().any(|one| one.kind == DirectiveKind::ContentSignal);
            open_beside(
                own.iter().copied().chain(of_file().filter(|_| !has_signals)).flat_map(|one| &one.uses).collect(),
            )
        });
        if open_to_own.as_ref().unwrap_or(&open_to_silent).is_empty() {
            continue;
        }
        let own_names = names_of(index, list, robots, &assignment, dialect);
        if !own_names.is_empty() {
            has_silent |= open_to_own.is_none();
            missing.extend(open_to_own.unwrap_or_default());
            names.extend(own_names);
        }
    }
    if has_silent {
        missing.extend(open_to_silent);
    }
    let missing: Vec<u32> = missing.into_iter().collect();
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
            let line = stated.iter().find(|one| one.line.line == number)?.line;
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
fn is_closed(list: &AssignedRules<'_>) -> bool {
    let opens = |kind: RuleKind, value: &[u8]| kind == RuleKind::Allow && !value.is_empty();
    list.rules.iter().any(closes_all) && !list.rules.iter().any(|rule| opens(rule.kind, rule.value))
}

/// Returns the names, as written, of the crawlers that obey a list, and would obey the default group without it.
fn names_of(
    index: usize,
    list: &AssignedRules<'_>,
    robots: &Robots<'_>,
    assignment: &Assignment<'_>,
    dialect: &Dialect,
) -> Vec<String> {
    let groups = list.groups.iter().filter_map(|&group| robots.groups.get(group as usize));
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for value in groups.flat_map(|group| group.agents) {
        let Named::Token(token) = named(value, dialect) else { continue };
        if obeys_instead(token, index, assignment) && seen.insert(token) {
            names.push(format!("\"{}\"", quote(token)));
        }
    }
    names
}
