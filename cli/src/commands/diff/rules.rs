//! The groups and rules that came, went and moved.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use reptile_compiler::advice::explanation::Reading;
use reptile_compiler::dialect::Order;
use reptile_compiler::dialect::crawlers::Resolved;
use reptile_compiler::oracle::Choice;
use reptile_engine::verdict::RuleKind;

use super::Names;
use crate::outputs::text::printable;

/// The groups that name a product token itself, without those that a crawler may fall back to.
fn own_groups(name: Option<&[u8]>, reading: &Reading<'_>) -> Choice {
    let tokens = name.map(<[u8]>::to_vec).into_iter().collect();
    reading.choose(&Resolved { name: String::new(), tokens, honours_default_group: name.is_none() })
}

/// Writes the rules that were removed, added and, where their order decides, moved. Product tokens with the same changes
/// are listed together.
pub fn compare(names: &Names, readings: &[Reading<'_>; 2], text: &mut String) {
    let mut changes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let choices = readings.each_ref().map(|reading| own_groups(name.as_deref(), reading));
        let default_groups = readings.each_ref().map(|reading| own_groups(None, reading));
        let mut lines = String::new();
        push_group_change(name.is_some(), &choices, &default_groups, &mut lines);
        let [before, after] = [0, 1].map(|side| first_lines(&readings[side], &choices[side]));
        let mut list = |sign, rules: &Rules<'_>, others: &Rules<'_>| {
            let mut only_here: Vec<_> = rules.iter().filter(|(rule, _)| !others.contains_key(*rule)).collect();
            only_here.sort_by_key(|(_, line)| **line);
            for (rule, line) in only_here {
                let _ = writeln!(lines, "{sign} {line}: {}", shown(*rule));
            }
        };
        list('-', &before, &after);
        list('+', &after, &before);
        if readings[0].dialect().order == Order::FileOrder {
            for (rule, old, new) in moved(&before, &after) {
                let _ = writeln!(lines, "~ {old} > {new}: {}", shown(rule));
            }
        }
        if !lines.is_empty() {
            let name = name.as_deref().map_or_else(|| "*".into(), printable);
            changes.entry(lines).or_default().push(name);
        }
    }
    let mut changes: Vec<_> = changes.into_iter().collect();
    changes.sort_by(|a, b| a.1.cmp(&b.1));
    for (lines, names) in changes {
        let _ = write!(text, "@ {}\n{lines}", names.join(", "));
    }
}

/// Writes whether the group itself was removed or added, and what its product token obeys instead.
fn push_group_change(is_named: bool, choices: &[Choice; 2], default_groups: &[Choice; 2], lines: &mut String) {
    let fallback = |choice: &Choice| if choice.groups.is_empty() { "no rules" } else { "the rules for *" };
    match (choices[0].groups.is_empty(), choices[1].groups.is_empty(), is_named) {
        (false, true, true) => {
            let _ = writeln!(lines, "- the group; {} are for it now", fallback(&default_groups[1]));
        }
        (true, false, true) => {
            let _ = writeln!(lines, "+ the group; {} were for it before", fallback(&default_groups[0]));
        }
        (false, true, false) => lines.push_str("- the group\n"),
        (true, false, false) => lines.push_str("+ the group\n"),
        _ => {}
    }
}

/// A rule as written: its kind and its value.
type Written<'b> = (RuleKind, &'b [u8]);

/// The rules of a product token, each with its first line.
type Rules<'b> = BTreeMap<Written<'b>, u32>;

/// The rules of a choice of groups.
fn first_lines<'b>(reading: &Reading<'b>, choice: &Choice) -> Rules<'b> {
    let mut rules = Rules::new();
    for rule in reading.rules(choice) {
        rules.entry((rule.kind, rule.value)).or_insert(rule.line);
    }
    rules
}

/// A rule as it is shown.
fn shown((kind, value): Written<'_>) -> String {
    format!("{}: {}", kind.name(), printable(value)).trim_end().to_owned()
}

/// The rules that moved, each with its old and its new line: the fewest without which the others are in the same order in
/// both files. Time: n log n for n rules.
fn moved<'b>(before: &Rules<'b>, after: &Rules<'b>) -> Vec<(Written<'b>, u32, u32)> {
    let common = before.iter().filter_map(|(rule, &old)| after.get(rule).map(|&new| (old, new, *rule)));
    let mut common: Vec<(u32, u32, Written<'b>)> = common.collect();
    common.sort_unstable();
    // The longest subsequence of rising new lines: for each length the end with the least line, and for each rule the
    // rule before it.
    let (mut ends, mut previous): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::with_capacity(common.len()));
    for (index, &(_, new, _)) in common.iter().enumerate() {
        let length = ends.partition_point(|&end| common[end].1 < new);
        previous.push(length.checked_sub(1).map(|length| ends[length]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut stays = vec![false; common.len()];
    let mut at = ends.last().copied();
    while let Some(index) = at {
        stays[index] = true;
        at = previous[index];
    }
    let moved = common.into_iter().zip(stays).filter(|(_, stays)| !stays);
    moved.map(|((old, new, rule), _)| (rule, old, new)).collect()
}
