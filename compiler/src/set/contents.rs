//! The distinct contents of robots.txt files, each stored once and identified by a number.

use std::hash::Hash;

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use reptile_engine::format::NONE;
use reptile_engine::format::policies::{PolicyDraft, StoredGroup, UsageGroup};
use reptile_engine::platform::as_chunks;
use reptile_engine::verdict::PolicySource;

use crate::rules::order::RuleList;
use crate::set::Prepared;

/// Distinct values in order of first occurrence; a value's number is its index.
///
/// The hash is seeded randomly in each process, because the input is untrusted; it affects only the running time.
pub(super) type Distinct<T> = IndexSet<T, RandomState>;

/// Returns a value's number, and stores the value if it is new.
pub(super) fn number<T: Eq + Hash>(things: &mut Distinct<T>, thing: T) -> u32 {
    things.insert_full(thing).0 as u32
}

/// Memory per distinct value besides its own bytes: its entries in the list and the hash table, and the allocator's
/// overhead.
const ENTRY_BYTES: usize = 64;

/// Returns a value's number like [`number`], and adds its size to `held` if it is new.
fn number_held<T: Eq + Hash>(things: &mut Distinct<T>, thing: T, bytes: usize, held: &mut usize) -> u32 {
    let (place, is_new) = things.insert_full(thing);
    *held += if is_new { ENTRY_BYTES + bytes } else { 0 };
    place as u32
}

/// The distinct contents of files, and the distinct texts, rules and lines in them.
#[derive(Default)]
pub(super) struct Contents {
    /// Approximate total memory.
    pub held_bytes: usize,
    pub tokens: Distinct<Box<[u8]>>,
    pub lists: Distinct<RuleList>,
    pub lines: Distinct<Box<[u32]>>,
    pub other: Distinct<Box<[u8]>>,
    pub usages: Distinct<Box<[u8]>>,
    pub files: Distinct<DistinctFile>,
}

/// One robots.txt, as numbers in [`Contents`] in a single allocation: the default group's index or [`NONE`], the other
/// directives or [`NONE`], the numbers of product tokens and of usage groups, each token with the index of its group, each
/// group's rule list and lines, and each usage group's rule list and statements or [`NONE`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DistinctFile(Box<[u32]>);

/// The count of numbers in a [`DistinctFile`] before its product tokens.
const FIXED_NUMBERS: usize = 4;

impl DistinctFile {
    /// Creates a file. The tokens may be in any order.
    pub fn new(
        mut tokens: Vec<(u32, u32)>,
        default_group: Option<u32>,
        groups: &[(u32, u32)],
        usages: &[(u32, u32)],
        other: Option<u32>,
    ) -> DistinctFile {
        tokens.sort_unstable();
        let (token_count, usage_count) = (tokens.len() as u32, usages.len() as u32);
        let fixed = [default_group.unwrap_or(NONE), other.unwrap_or(NONE), token_count, usage_count];
        let pairs = tokens.iter().chain(groups).chain(usages).flat_map(|&(first, second)| [first, second]);
        DistinctFile(fixed.into_iter().chain(pairs).collect())
    }

    fn number(&self, at: usize) -> Option<u32> {
        self.0.get(at).copied().filter(|&number| number != NONE)
    }

    /// Returns the number for its other directives, if it has any.
    pub fn other(&self) -> Option<u32> {
        self.number(1)
    }

    /// Returns the tokens, the groups, and the usage groups.
    fn pairs(&self) -> [&[[u32; 2]]; 3] {
        let (pairs, _) = as_chunks(self.0.get(FIXED_NUMBERS..).unwrap_or_default());
        let (tokens, groups) = pairs.split_at(pairs.len().min(self.number(2).unwrap_or(0) as usize));
        let usages = self.number(3).unwrap_or(0) as usize;
        let (groups, usages) = groups.split_at(groups.len().saturating_sub(usages));
        [tokens, groups, usages]
    }

    /// Returns the list number of each group and usage group.
    pub fn lists(&self) -> impl Iterator<Item = u32> {
        let [_, groups, usages] = self.pairs();
        groups.iter().chain(usages).map(|&[list, _]| list).filter(|&list| list != NONE)
    }

    /// Returns the file's policy. Its rulesets are looked up in `place_of_list`.
    pub fn policy(&self, source: PolicySource, place_of_list: &[u32]) -> PolicyDraft {
        let [tokens, groups, usages] = self.pairs();
        let place = |list: u32| place_of_list.get(list as usize).copied().unwrap_or(NONE);
        let usage = |&[list, statements]: &[u32; 2]| UsageGroup { ruleset: place(list), statements };
        let group = |&[list, lines]: &[u32; 2]| StoredGroup { ruleset: place_of_list[list as usize], lines };
        PolicyDraft {
            source,
            tokens: tokens.iter().map(|&[token, group]| (token, group)).collect(),
            default_group: self.number(0),
            groups: groups.iter().map(group).collect(),
            usages: usages.iter().map(usage).collect(),
        }
    }
}

impl Contents {
    /// Stores a file's content, with or without line numbers, and returns its number.
    pub fn file(&mut self, record: Prepared, keeps_lines: bool) -> u32 {
        let held = &mut self.held_bytes;
        let mut token_of = |token: Box<[u8]>| {
            let bytes = token.len();
            number_held(&mut self.tokens, token, bytes, held)
        };
        let tokens: Vec<(u32, u32)> =
            record.tokens.into_iter().map(|(token, group)| (token_of(token), group)).collect();
        let mut lines_of = |lines: Vec<u32>, held: &mut usize| {
            let bytes = size_of_val(&lines[..]);
            if keeps_lines { number_held(&mut self.lines, lines.into(), bytes, held) } else { NONE }
        };
        let groups = record.groups.into_iter().map(|(list, lines)| {
            let bytes = list.byte_len();
            (number_held(&mut self.lists, list, bytes, held), lines_of(lines, held))
        });
        let groups: Vec<(u32, u32)> = groups.collect();
        let usages = record.usages.into_iter().map(|usage| {
            let (list, statements) = (usage.list.byte_len(), usage.statements.len());
            let number_of_list = if list > 0 { number_held(&mut self.lists, usage.list, list, held) } else { NONE };
            let number_of_statements =
                if statements > 0 { number_held(&mut self.usages, usage.statements, statements, held) } else { NONE };
            (number_of_list, number_of_statements)
        });
        let usages: Vec<(u32, u32)> = usages.collect();
        let bytes = record.other.len();
        let other = (bytes > 0).then(|| number_held(&mut self.other, record.other, bytes, held));
        let file = DistinctFile::new(tokens, record.default_group, &groups, &usages, other);
        let bytes = size_of_val(&file.0[..]);
        number_held(&mut self.files, file, bytes, held)
    }
}
