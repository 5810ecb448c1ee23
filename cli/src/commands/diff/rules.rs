//! The groups and rules that came, went and moved.
//!
//! Product tokens with the same groups in both files are compared once. Product tokens may share groups, and then a rule
//! is compared for more than one of them; [`MAX_TIMES_COMPARED`] bounds how often, and with it the time and the output.

use std::cmp::Ordering;
use std::io::{self, Write};

use reptile_compiler::body::RawRule;
use reptile_compiler::dialect::Order;
use xxhash_rust::xxh3::xxh3_64;

use super::groups::{File, GroupsId, NO_GROUPS, Names};
use crate::outputs::text::printable;

/// How many times each rule of both files is compared, on average over their bytes. Of product tokens that share so many
/// rules that it would be more, the last are listed as not compared.
pub const MAX_TIMES_COMPARED: u64 = 2;

/// Bytes of rules that are compared in any files, however few rules they have.
pub const MIN_COMPARED_BYTES: u64 = 1 << 20;

/// What a rule costs besides the bytes of its value.
const RULE_BYTES: u64 = 16;

/// What happened to the groups of a product token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Kept,
    Removed { is_named: bool },
    Added { is_named: bool },
}

/// The changes for some product tokens.
#[derive(Clone, Copy)]
struct Change {
    fate: Fate,
    /// The place of the rules among all that are listed: those that were removed, those that were added, and for each that
    /// moved its old and its new place.
    start: usize,
    removed: usize,
    added: usize,
    moved: usize,
    /// The first and the last of the names, which are those of one pair of groups, by their place in the order of pairs.
    names: (usize, usize),
}

/// The changes between two files.
pub struct Changes<'f, 'b> {
    names: &'f Names<'b>,
    /// The places of the names, those with the same groups in both files together.
    by_groups: Vec<u32>,
    changes: Vec<Change>,
    rules: Vec<&'b RawRule<'b>>,
    /// The places of the names that were not compared.
    not_compared: Vec<u32>,
    /// Whether each file has a default group.
    has_default: [bool; 2],
    /// Bytes of rules that were compared.
    pub compared_bytes: u64,
}

/// Compares the rules of every name. Time: n log n for n bytes of rules and of user-agent lines.
pub fn compare<'f, 'b>(names: &'f Names<'b>, files: &[File<'b>; 2]) -> Changes<'f, 'b> {
    let costs = files.each_ref().map(File::costs);
    let budget = (MAX_TIMES_COMPARED * costs.iter().flatten().sum::<u64>()).max(MIN_COMPARED_BYTES);
    let groups_of = |&at: &u32| names.names[at as usize].groups;
    let mut by_groups: Vec<u32> = (0..names.names.len() as u32).collect();
    // The default group is first, and alone: what is said of it is put differently.
    by_groups[1..].sort_by_key(groups_of);
    let mut changes = Changes {
        names,
        by_groups: Vec::new(),
        changes: Vec::new(),
        rules: Vec::new(),
        not_compared: Vec::new(),
        has_default: files.each_ref().map(|file| file.default_groups != NO_GROUPS),
        compared_bytes: 0,
    };
    let mut start = 0;
    while start < by_groups.len() {
        let groups = groups_of(&by_groups[start]);
        let is_named = start > 0;
        let same = by_groups[start + 1..].iter().take_while(|at| is_named && groups_of(at) == groups).count();
        let end = start + 1 + same;
        let cost: u64 = (0..2).map(|side| files[side].cost_of(groups[side], &costs[side])).sum();
        if changes.compared_bytes + cost <= budget {
            changes.compared_bytes += cost;
            changes.compare(files, groups, is_named, (start, end));
        } else {
            changes.not_compared.extend_from_slice(&by_groups[start..end]);
        }
        start = end;
    }
    changes.by_groups = by_groups;
    changes.not_compared.sort_unstable();
    changes
}

impl<'b> File<'b> {
    /// What it costs to compare each group.
    fn costs(&self) -> Vec<u64> {
        let cost = |rule: &RawRule<'_>| rule.value.len() as u64 + RULE_BYTES;
        self.groups().iter().map(|group| group.rules.iter().map(cost).sum()).collect()
    }

    fn cost_of(&self, id: GroupsId, costs: &[u64]) -> u64 {
        self.indices_of(&id).iter().filter_map(|&at| costs.get(at as usize)).sum()
    }

    /// The rules of some groups, each once, with its first line.
    fn rules_of(&self, id: GroupsId) -> Vec<Hashed<'b>> {
        let groups = self.indices_of(&id).iter().filter_map(|&at| self.groups().get(at as usize));
        let mut rules: Vec<Hashed<'b>> = groups.flat_map(|group| group.rules).map(Hashed::new).collect();
        rules.sort_unstable_by(|a, b| a.cmp(b).then(a.rule.line.cmp(&b.rule.line)));
        rules.dedup_by(|later, first| later.cmp(first) == Ordering::Equal);
        rules
    }
}

/// A rule that is found by its hash.
struct Hashed<'b> {
    hash: u64,
    rule: &'b RawRule<'b>,
}

impl<'b> Hashed<'b> {
    fn new(rule: &'b RawRule<'b>) -> Hashed<'b> {
        Hashed { hash: xxh3_64(rule.value), rule }
    }

    /// Compares what is written, whatever the line.
    fn cmp(&self, other: &Hashed<'_>) -> Ordering {
        let written = |rule: &RawRule<'b>| (rule.kind, rule.value);
        self.hash.cmp(&other.hash).then_with(|| written(self.rule).cmp(&(other.rule.kind, other.rule.value)))
    }
}

impl<'f, 'b> Changes<'f, 'b> {
    /// Compares the groups of some names; `names` is their place in the order of pairs.
    fn compare(&mut self, files: &[File<'b>; 2], groups: [GroupsId; 2], is_named: bool, names: (usize, usize)) {
        let fate = match groups.map(|id| id == NO_GROUPS) {
            [false, true] => Fate::Removed { is_named },
            [true, false] => Fate::Added { is_named },
            _ => Fate::Kept,
        };
        let sides = [0, 1].map(|side| files[side].rules_of(groups[side]));
        let (mut removed, mut added, mut common) = (Vec::new(), Vec::new(), Vec::new());
        let [mut old, mut new] = sides.each_ref().map(|rules| rules.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.cmp(new),
            };
            let old = if order == Ordering::Greater { None } else { old.next() };
            let new = if order == Ordering::Less { None } else { new.next() };
            match (old, new) {
                (Some(old), Some(new)) => common.push((old.rule, new.rule)),
                (Some(old), None) => removed.push(old.rule),
                (None, Some(new)) => added.push(new.rule),
                (None, None) => {}
            }
        }
        removed.sort_unstable_by_key(|rule| rule.line);
        added.sort_unstable_by_key(|rule| rule.line);
        let moved = if files[0].dialect().order == Order::FileOrder { moved(common) } else { Vec::new() };
        if (fate, removed.len(), added.len(), moved.len()) == (Fate::Kept, 0, 0, 0) {
            return;
        }
        let (start, removed_count, added_count) = (self.rules.len(), removed.len(), added.len());
        self.rules.extend(removed);
        self.rules.extend(added);
        self.rules.extend(moved.iter().flat_map(|&(old, new)| [old, new]));
        let counts = (removed_count, added_count, moved.len());
        self.changes.push(Change { fate, start, removed: counts.0, added: counts.1, moved: counts.2, names });
    }

    /// Whether nothing changed, as far as it was compared.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.not_compared.is_empty()
    }

    /// Writes the rules that were removed, added and, where their order decides, moved. Product tokens with the same changes
    /// are listed together.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut changes: Vec<&Change> = self.changes.iter().collect();
        changes.sort_by(|a, b| self.key_of(a).cmp(self.key_of(b)).then(a.names.cmp(&b.names)));
        let mut listed: Vec<(Vec<u32>, &Change)> = Vec::new();
        for same in changes.chunk_by(|a, b| self.key_of(a).eq(self.key_of(b))) {
            let mut names: Vec<u32> =
                same.iter().flat_map(|change| &self.by_groups[change.names.0..change.names.1]).copied().collect();
            names.sort_unstable();
            listed.push((names, same[0]));
        }
        listed.sort_by_key(|(names, _)| names.first().copied());
        for (names, change) in listed {
            write!(out, "@ ")?;
            self.write_names(&names, out)?;
            self.write_change(change, out)?;
        }
        if !self.not_compared.is_empty() {
            write!(out, "? not compared, since they share too many rules: ")?;
            self.write_names(&self.not_compared, out)?;
        }
        Ok(())
    }

    /// The rules of a change.
    fn rules_of(&self, change: &Change) -> &[&'b RawRule<'b>] {
        &self.rules[change.start..change.start + change.removed + change.added + 2 * change.moved]
    }

    /// What a change consists of: equal for changes that read the same.
    fn key_of(&self, change: &Change) -> impl Iterator<Item = u32> {
        let fate = match change.fate {
            Fate::Kept => 0,
            Fate::Removed { is_named } => 1 + u32::from(is_named),
            Fate::Added { is_named } => 3 + u32::from(is_named),
        };
        let counts = [fate, change.removed as u32, change.added as u32];
        counts.into_iter().chain(self.rules_of(change).iter().map(|rule| rule.line))
    }

    /// Writes the names at some places, and ends the line.
    fn write_names(&self, places: &[u32], out: &mut impl Write) -> io::Result<()> {
        for (index, &at) in places.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let name = self.names.names[at as usize].token.map_or_else(|| "*".into(), printable);
            write!(out, "{separator}{name}")?;
        }
        writeln!(out)
    }

    fn write_change(&self, change: &Change, out: &mut impl Write) -> io::Result<()> {
        let fallback = |side: usize| if self.has_default[side] { "the rules for *" } else { "no rules" };
        match change.fate {
            Fate::Kept => {}
            Fate::Removed { is_named: true } => writeln!(out, "- the group; {} are for it now", fallback(1))?,
            Fate::Added { is_named: true } => writeln!(out, "+ the group; {} were for it before", fallback(0))?,
            Fate::Removed { is_named: false } => writeln!(out, "- the group")?,
            Fate::Added { is_named: false } => writeln!(out, "+ the group")?,
        }
        let (removed, rest) = self.rules_of(change).split_at(change.removed);
        let (added, moved) = rest.split_at(change.added);
        for (sign, rules) in [('-', removed), ('+', added)] {
            for rule in rules {
                writeln!(out, "{sign} {}: {}", rule.line, shown(rule))?;
            }
        }
        for pair in moved.chunks_exact(2) {
            writeln!(out, "~ {} > {}: {}", pair[0].line, pair[1].line, shown(pair[0]))?;
        }
        Ok(())
    }
}

/// A rule as it is shown.
fn shown(rule: &RawRule<'_>) -> String {
    format!("{}: {}", rule.kind.name(), printable(rule.value)).trim_end().to_owned()
}

/// A rule in the old file and in the new one.
type Both<'b> = (&'b RawRule<'b>, &'b RawRule<'b>);

/// The rules that moved: the fewest without which the others are in the same order in both files. Time: n log n for n rules.
fn moved(mut common: Vec<Both<'_>>) -> Vec<Both<'_>> {
    common.sort_unstable_by_key(|(old, _)| old.line);
    // The longest subsequence of rising new lines: for each length the end with the least line, and for each rule the
    // rule before it.
    let (mut ends, mut previous): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::with_capacity(common.len()));
    for (index, (_, new)) in common.iter().enumerate() {
        let length = ends.partition_point(|&end| common[end].1.line < new.line);
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
    common.into_iter().zip(stays).filter(|(_, stays)| !stays).map(|(both, _)| both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;
    use reptile_compiler::dialect::{Dialect, GOOGLE_LIB, KOSTER_1994, RFC9309};

    /// Bytes of rules that are compared, and how many names are not.
    fn compared(old: &str, new: &str, dialect: &Dialect) -> (u64, usize) {
        let arena = Bump::new();
        let files = [old, new].map(|body| File::new(body.as_bytes(), dialect, &arena));
        let mut files = files;
        let names = Names::new(&mut files);
        let changes = compare(&names, &files);
        (changes.compared_bytes, changes.not_compared.len())
    }

    fn name(number: usize) -> String {
        format!("{number:05}").bytes().map(|digit| (digit + b'a' - b'0') as char).collect()
    }

    #[test]
    fn each_group_is_compared_once() {
        let each = |count: usize, rule: &str| -> String {
            (0..count).map(|at| format!("user-agent: {}\ndisallow: /{rule}\n", name(at))).collect()
        };
        let shared = |count: usize, rule: &str| -> String {
            let agents: String = (0..count).map(|at| format!("user-agent: {}\n", name(at))).collect();
            let rules: String = (0..count).map(|_| format!("disallow: /{rule}\n")).collect();
            agents + &rules
        };
        for dialect in [&GOOGLE_LIB, &KOSTER_1994] {
            for count in [100, 200, 400] {
                // Two files, and in each as many rules of two bytes.
                let expected = (2 * count as u64 * (2 + RULE_BYTES), 0);
                assert_eq!(compared(&each(count, "a"), &each(count, "b"), dialect), expected);
                assert_eq!(compared(&shared(count, "a"), &shared(count, "b"), dialect), expected);
            }
        }
    }

    #[test]
    fn the_limit_of_what_is_compared_holds_at_its_edges() {
        // A common group that three names share, each with a group of its own.
        let file = |len: usize| {
            let common = format!("user-agent: a\nuser-agent: b\nuser-agent: c\nallow: /{}\n", "x".repeat(len - 1));
            common + "user-agent: a\nallow:\nuser-agent: b\nallow:\nuser-agent: c\nallow:\n"
        };
        // Three comparisons of the common rule and one without a value each, while twice all rules are allowed.
        let third = (MIN_COMPARED_BYTES / 3 - 2 * RULE_BYTES) as usize;
        for (len, left) in [(third - 1, 0), (third, 0), (third + 1, 1)] {
            let (bytes, not_compared) = compared(&file(len), "", &RFC9309);
            assert_eq!(not_compared, left, "{len}: {bytes}");
            assert!(bytes <= MIN_COMPARED_BYTES);
        }
    }
}
