//! Added, removed and moved groups and lines.
//!
//! Product tokens with the same groups in both files are compared once. Product tokens may share groups, and then a
//! line is compared for more than one of them; [`MAX_TIMES_COMPARED`] bounds how often, and with it the time and the
//! output. The lines are in [`lines`](super::lines), and [`show`](super::show) writes what is found here.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::groups::{File, GroupsId, NO_GROUPS, Names};
use super::lines::{Difference, Line, difference};

/// Maximum number of comparisons per line in both files, on average by bytes. If product tokens share too many lines,
/// the last product tokens are listed as not compared.
pub const MAX_TIMES_COMPARED: u64 = 2;

/// Size in bytes of the lines that are always compared, even if [`MAX_TIMES_COMPARED`] allows fewer.
pub const MIN_COMPARED_BYTES: u64 = 1 << 20;

/// The cost of a line in addition to its value's bytes.
const LINE_BYTES: u64 = 16;

/// A change to a product token's groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Both files have groups for it, or neither has.
    Kept,
    /// Its groups were removed.
    Removed,
    /// Its groups were added.
    Added,
}

/// The changes for some names. Small: two files of 16 MB have more than a million.
#[derive(Clone, Copy)]
pub struct Change {
    /// The kind of change.
    pub fate: Fate,
    /// Whether the change affects the default group, which is listed alone.
    pub is_default: bool,
    /// The index of its first line in [`Changes::lines`].
    start: u32,
    removed: u32,
    added: u32,
    moved: u32,
    /// The range of names in [`Changes::by_groups`].
    names: (u32, u32),
}

/// Returns a name's, change's or line's index as 32 bits. Two files have fewer than 2^32 of each.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The changes between two files.
pub struct Changes<'f, 'b> {
    /// The names in both files.
    pub names: &'f Names<'b>,
    /// The indices of the names, ordered so that names with the same groups in both files are neighbors.
    by_groups: Vec<u32>,
    changes: Vec<Change>,
    /// For each change: removed lines, added lines, and a pair of old and new line for each moved rule.
    lines: Vec<Line<'b>>,
    /// The changed lines for all crawlers.
    pub for_all: Difference<'b>,
    /// The sorted indices of the names that were not compared.
    pub not_compared: Vec<u32>,
    /// Whether each file has a default group.
    pub has_default: [bool; 2],
    /// Size of the compared lines in bytes, including a fixed cost per line.
    pub compared_bytes: u64,
}

/// Compares every name's groups. Time: n log n for n bytes, user-agent lines included.
pub fn compare<'f, 'b>(names: &'f Names<'b>, files: &[File<'b>; 2]) -> Changes<'f, 'b> {
    let costs = files.each_ref().map(File::costs);
    let budget = (MAX_TIMES_COMPARED * costs.iter().flatten().sum::<u64>()).max(MIN_COMPARED_BYTES);
    let groups_of = |&at: &u32| names.names[at as usize].groups;
    let mut by_groups: Vec<u32> = (0..names.names.len() as u32).collect();
    // The default group is first and separate, because its messages are worded differently.
    by_groups[1..].sort_by_key(groups_of);
    let for_all = files.each_ref().map(|file| file.directives_of(None).iter().map(Line::Directive).collect());
    let mut changes = Changes {
        names,
        by_groups: Vec::new(),
        changes: Vec::new(),
        lines: Vec::new(),
        for_all: difference(for_all, false),
        not_compared: Vec::new(),
        has_default: files.each_ref().map(|file| file.default_groups != NO_GROUPS),
        compared_bytes: 0,
    };
    let mut start = 0;
    while start < by_groups.len() {
        let groups = groups_of(&by_groups[start]);
        let is_default = start == 0;
        let same = by_groups[start + 1..].iter().take_while(|at| !is_default && groups_of(at) == groups).count();
        let end = start + 1 + same;
        let cost: u64 = (0..2).map(|side| files[side].cost_of(groups[side], &costs[side])).sum();
        if changes.compared_bytes + cost <= budget {
            changes.compared_bytes += cost;
            changes.compare(files, groups, is_default, (start, end));
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
    /// Returns the cost of comparing each group.
    fn costs(&self) -> Vec<u64> {
        let cost = |line: Line<'_>| line.value().len() as u64 + LINE_BYTES;
        (0..self.groups().len() as u32).map(|group| self.lines_of(group).map(cost).sum()).collect()
    }

    fn cost_of(&self, id: GroupsId, costs: &[u64]) -> u64 {
        self.indices_of(&id).iter().filter_map(|&at| costs.get(at as usize)).sum()
    }

    /// Returns a group's lines: its rules and its own other directives.
    fn lines_of(&self, group: u32) -> impl Iterator<Item = Line<'b>> {
        let rules = self.groups().get(group as usize).map_or(&[][..], |group| group.rules);
        rules.iter().map(Line::Rule).chain(self.directives_of(Some(group)).iter().map(Line::Directive))
    }
}

impl<'b> Changes<'_, 'b> {
    /// Compares the groups of a range of names in [`Changes::by_groups`].
    fn compare(&mut self, files: &[File<'b>; 2], groups: [GroupsId; 2], is_default: bool, names: (usize, usize)) {
        let fate = match groups.map(|id| id == NO_GROUPS) {
            [false, true] => Fate::Removed,
            [true, false] => Fate::Added,
            _ => Fate::Kept,
        };
        let sides = [0, 1].map(|side| {
            let file: &File<'b> = &files[side];
            let indices = file.indices_of(&groups[side]).iter();
            indices.flat_map(|&group| file.lines_of(group)).collect::<Vec<_>>()
        });
        let Difference { removed, added, moved } = difference(sides, files[0].is_ordered());
        if fate == Fate::Kept && removed.is_empty() && added.is_empty() && moved.is_empty() {
            return;
        }
        let [start, removed_count, added_count, moved_count] =
            [self.lines.len(), removed.len(), added.len(), moved.len()].map(place);
        let change = Change {
            fate,
            is_default,
            start,
            removed: removed_count,
            added: added_count,
            moved: moved_count,
            names: (place(names.0), place(names.1)),
        };
        self.lines.extend(removed);
        self.lines.extend(added);
        self.lines.extend(moved.into_iter().flat_map(|(old, new)| [old, new]));
        self.changes.push(change);
    }

    /// Returns whether nothing changed and everything was compared.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.not_compared.is_empty() && self.for_all.is_empty()
    }

    /// Calls `show` with each distinct change and the sorted indices of all its names, ordered by first name.
    ///
    /// # Errors
    /// Returns the first error of `show`.
    pub fn each_listed<E>(&self, mut show: impl FnMut(&[u32], &Change) -> Result<(), E>) -> Result<(), E> {
        let (order, runs) = self.runs();
        let mut names = Vec::new();
        for (_, run) in runs {
            let same = &order[run.start as usize..run.end as usize];
            names.clear();
            names.extend(same.iter().flat_map(|&at| self.names_of(at)));
            names.sort_unstable();
            if let Some(&first) = same.first() {
                show(&names, &self.changes[first as usize])?;
            }
        }
        Ok(())
    }

    /// Returns the changes, ordered so that equal changes are neighbors, and the runs of equal changes, each with its
    /// first name and ordered by it.
    fn runs(&self) -> (Vec<u32>, Vec<(u32, Range<u32>)>) {
        // Hashes sort faster than changes. Different changes rarely have equal hashes.
        let mut bytes = Vec::new();
        let mut hash_of = |change| {
            bytes.clear();
            self.key_of(change).for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
            xxh3_64(&bytes)
        };
        let mut hashed: Vec<(u64, u32)> =
            self.changes.iter().zip(0..).map(|(change, at)| (hash_of(change), at)).collect();
        let keys = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|at| &self.changes[at as usize]);
            self.key_of(a).cmp(self.key_of(b))
        };
        hashed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| keys(a.1, b.1)).then(a.1.cmp(&b.1)));
        let mut runs: Vec<(u32, Range<u32>)> = Vec::new();
        let mut start = 0;
        for same in hashed.chunk_by(|a, b| a.0 == b.0 && keys(a.1, b.1).is_eq()) {
            let end = start + place(same.len());
            let first = same.iter().flat_map(|&(_, at)| self.names_of(at)).min().unwrap_or(u32::MAX);
            runs.push((first, start..end));
            start = end;
        }
        runs.sort_unstable_by_key(|&(first, _)| first);
        (hashed.into_iter().map(|(_, at)| at).collect(), runs)
    }

    /// Returns the indices of a change's names.
    fn names_of(&self, at: u32) -> impl Iterator<Item = u32> {
        let (start, end) = self.changes[at as usize].names;
        self.by_groups[start as usize..end as usize].iter().copied()
    }

    /// Returns a change's lines: removed, added, and pairs for moved rules.
    pub fn lines_of(&self, change: &Change) -> [&[Line<'b>]; 3] {
        let (removed, rest) = self.lines[change.start as usize..].split_at(change.removed as usize);
        let (added, rest) = rest.split_at(change.added as usize);
        [removed, added, &rest[..2 * change.moved as usize]]
    }

    /// Returns a change's contents, equal for changes that are printed alike. A line's number identifies it in its
    /// file.
    fn key_of(&self, change: &Change) -> impl Iterator<Item = u32> {
        let numbers = [u32::from(change.is_default), change.fate as u32, change.removed, change.added];
        numbers.into_iter().chain(self.lines_of(change).into_iter().flatten().map(Line::number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;
    use reptile::Dialect;
    use reptile::dialects::{GOOGLE_LIB, KOSTER_1994, RFC9309};

    /// Returns the size of the compared rules in bytes, and the number of names that were not compared.
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
                // Two files, each with `count` rules of two bytes.
                let expected = (2 * count as u64 * (2 + LINE_BYTES), 0);
                assert_eq!(compared(&each(count, "a"), &each(count, "b"), dialect), expected);
                assert_eq!(compared(&shared(count, "a"), &shared(count, "b"), dialect), expected);
            }
        }
    }

    #[test]
    fn compared_lines_stop_at_the_limit() {
        // A common group that three names share, each with its own group.
        let file = |len: usize| {
            let common = format!("user-agent: a\nuser-agent: b\nuser-agent: c\nallow: /{}\n", "x".repeat(len - 1));
            common + "user-agent: a\nallow:\nuser-agent: b\nallow:\nuser-agent: c\nallow:\n"
        };
        // Each of three comparisons covers the common rule and a rule without a value. The limit is twice all rules.
        let third = (MIN_COMPARED_BYTES / 3 - 2 * LINE_BYTES) as usize;
        for (len, left) in [(third - 1, 0), (third, 0), (third + 1, 1)] {
            let (bytes, not_compared) = compared(&file(len), "", &RFC9309);
            assert_eq!(not_compared, left, "{len}: {bytes}");
            assert!(bytes <= MIN_COMPARED_BYTES);
        }
    }
}
