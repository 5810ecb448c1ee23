//! The two files' groups by product token, and their other directives.
//!
//! Built once, in n log n steps for n user-agent lines, so that other code need not search all groups for each product
//! token.

use std::collections::HashMap;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use memchr::memmem::Finder;
use reptile::body::{DirectiveReader, Group, Named, named, parse_with};
use reptile::contents::Directive;
use reptile::crawlers::Resolved;
use reptile::explain::ChosenBy;
use reptile::settings::{GroupChoice, NameMatching, Order};
use reptile::{Dialect, DirectiveKind};

/// Maximum number of bytes searched in one file for product tokens that contain another one, in dialects with such
/// matches. It is enough for 10,000 product tokens of ten bytes. After the limit, only equal product tokens match.
pub const MAX_SEARCHED_BYTES: u64 = 1 << 30;

/// One or more groups of a file that decide together: the index of a single group, or a number from the count of
/// groups.
pub type GroupsId = u32;

/// No group.
pub const NO_GROUPS: GroupsId = GroupsId::MAX;

/// One of the two files.
pub struct File<'b> {
    dialect: &'b Dialect,
    groups: BumpVec<'b, Group<'b>>,
    /// The other directives: first the global directives, then each group's directives.
    directives: &'b [Directive<'b>],
    /// The sorted product tokens in lower case, each with its groups.
    tokens: Vec<(&'b [u8], GroupsId)>,
    /// The groups for `*`.
    pub default_groups: GroupsId,
    /// Groups that decide together, by their number less the count of groups.
    several: Vec<&'b [u32]>,
    /// All product tokens as searchable text, in dialects where a product token matches any that contains it.
    text: Option<Text>,
}

/// The product tokens in lower case and in file order, each followed by an LF. No product token contains an LF.
struct Text {
    bytes: Vec<u8>,
    /// Where each product token ends, and its group.
    ends: Vec<(usize, u32)>,
    /// Number of bytes that may still be searched.
    budget: u64,
    /// Whether a search exceeded the budget.
    is_exhausted: bool,
}

impl<'b> File<'b> {
    /// Reads a file.
    pub fn new(body: &'b [u8], dialect: &'b Dialect, arena: &'b Bump) -> File<'b> {
        let mut reader = DirectiveReader::new(dialect, body);
        // Directives over a limit are skipped, as in a set.
        let groups = parse_with(body, dialect, arena, |line| reader.line(line), |_| ()).groups;
        let mut directives = reader.finish();
        directives.retain(|line| !matches!(line.kind, DirectiveKind::ManagedBegin | DirectiveKind::ManagedEnd));
        directives.sort_by_key(|line| (line.part, line.line));
        let directives = arena.alloc_slice_copy(&directives);
        let (mut named_in, mut default_groups): (Vec<(&[u8], u32)>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut text = (dialect.name_matching == NameMatching::Contained).then(|| Text {
            bytes: Vec::new(),
            ends: Vec::new(),
            budget: MAX_SEARCHED_BYTES,
            is_exhausted: false,
        });
        for (index, group) in (0..).zip(&groups) {
            for value in group.agents {
                match named(value, dialect) {
                    Named::Everyone => default_groups.push(index),
                    Named::Token(token) => {
                        let token = lower_case(token, arena);
                        named_in.push((token, index));
                        if let Some(text) = &mut text {
                            text.bytes.extend_from_slice(token);
                            text.bytes.push(b'\n');
                            text.ends.push((text.bytes.len(), index));
                        }
                    }
                }
            }
        }
        named_in.sort_unstable();
        named_in.dedup();
        default_groups.dedup();
        let mut ids =
            Ids { dialect, arena, group_count: groups.len() as u32, known: HashMap::new(), several: Vec::new() };
        // Equal product tokens are merged in place.
        let (mut kept, mut start) = (0, 0);
        let mut own_groups = Vec::new();
        while let Some(&(token, _)) = named_in.get(start) {
            let run = named_in[start..].iter().take_while(|other| other.0 == token);
            own_groups.clear();
            own_groups.extend(run.map(|&(_, group)| group));
            start += own_groups.len();
            named_in[kept] = (token, ids.of(&own_groups));
            kept += 1;
        }
        named_in.truncate(kept);
        let mut tokens = named_in;
        tokens.shrink_to_fit();
        let default_groups = ids.of(&default_groups);
        let several = ids.several;
        File { dialect, groups, directives, tokens, default_groups, several, text }
    }

    /// Returns whether the order of rules decides under the dialect.
    pub fn is_ordered(&self) -> bool {
        self.dialect.order == Order::FileOrder
    }

    /// Returns the groups of the file, in order.
    pub fn groups(&self) -> &[Group<'b>] {
        &self.groups
    }

    /// Returns a group's other directives, or for `None` the global directives.
    pub fn directives_of(&self, group: Option<u32>) -> &'b [Directive<'b>] {
        let start = self.directives.partition_point(|line| line.part < group);
        let end = self.directives.partition_point(|line| line.part <= group);
        &self.directives[start..end]
    }

    /// Returns the indices of the groups that a number represents.
    pub fn indices_of<'i>(&'i self, id: &'i GroupsId) -> &'i [u32] {
        match (*id as usize).checked_sub(self.groups.len()) {
            None => std::slice::from_ref(id),
            Some(at) => self.several.get(at).copied().unwrap_or_default(),
        }
    }

    /// Returns the groups that a crawler obeys, and why.
    pub fn choose(&self, agent: &Resolved) -> (ChosenBy, GroupsId) {
        for (index, token) in agent.tokens.iter().enumerate() {
            let token = token.to_ascii_lowercase();
            let groups = match &self.text {
                Some(text) => text.find(&token).1,
                None => self.equal(&token),
            };
            if groups != NO_GROUPS {
                return (ChosenBy::Token(index), groups);
            }
        }
        if agent.honors_default_group && self.default_groups != NO_GROUPS {
            return (ChosenBy::DefaultGroup, self.default_groups);
        }
        (ChosenBy::Nobody, NO_GROUPS)
    }

    /// Returns these groups, or else those for `*`.
    pub fn or_default(&self, groups: GroupsId) -> GroupsId {
        if groups == NO_GROUPS { self.default_groups } else { groups }
    }

    /// Returns the groups that name exactly this product token, given in lower case.
    fn equal(&self, token: &[u8]) -> GroupsId {
        let found = self.tokens.binary_search_by_key(&token, |&(token, _)| token);
        found.map_or(NO_GROUPS, |at| self.tokens[at].1)
    }
}

/// A product token, and its groups in both files.
pub struct Name<'b> {
    /// The product token in lower case; `None` for the default group.
    pub token: Option<&'b [u8]>,
    /// The groups in the old file and in the new one.
    pub groups: [GroupsId; 2],
}

/// The default group, and the sorted product tokens of both files.
pub struct Names<'b> {
    /// The names. The default group comes first, even if neither file has one.
    pub names: Vec<Name<'b>>,
    /// Whether [`MAX_SEARCHED_BYTES`] was reached, so that some product tokens match only equal ones.
    pub is_cut: bool,
}

impl<'b> Names<'b> {
    /// Pairs the product tokens of the files. Time: n log n for n user-agent lines.
    pub fn new(files: &mut [File<'b>; 2]) -> Names<'b> {
        let mut names = vec![Name { token: None, groups: [files[0].default_groups, files[1].default_groups] }];
        let (mut old, mut new) = (0, 0);
        loop {
            let heads = [files[0].tokens.get(old), files[1].tokens.get(new)].map(|head| head.map(|&(token, _)| token));
            let token = match heads {
                [None, None] => break,
                [Some(token), None] | [None, Some(token)] => token,
                [Some(old), Some(new)] => old.min(new),
            };
            let mut groups = [NO_GROUPS; 2];
            for ((groups, at), (file, head)) in
                groups.iter_mut().zip([&mut old, &mut new]).zip(files.iter_mut().zip(heads))
            {
                let is_here = head == Some(token);
                let equal = file.tokens.get(*at).filter(|_| is_here).map_or(NO_GROUPS, |&(_, groups)| groups);
                *at += usize::from(is_here);
                *groups = file.text.as_mut().map_or(Some(equal), |text| text.first_containing(token)).unwrap_or(equal);
            }
            names.push(Name { token: Some(token), groups });
        }
        let is_cut = files.iter().any(|file| file.text.as_ref().is_some_and(|text| text.is_exhausted));
        Names { names, is_cut }
    }

    /// Returns whether a product token in lower case is among the names.
    pub fn contains(&self, token: &[u8]) -> bool {
        self.names.binary_search_by_key(&Some(token), |name| name.token).is_ok()
    }
}

impl Text {
    /// Returns the first group with a product token that contains this one, or [`NO_GROUPS`]. `None` if the budget is
    /// exhausted.
    fn first_containing(&mut self, token: &[u8]) -> Option<GroupsId> {
        if self.is_exhausted {
            return None;
        }
        let (searched, groups) = self.find(token);
        match self.budget.checked_sub(searched as u64) {
            Some(left) => self.budget = left,
            None => self.is_exhausted = true,
        }
        Some(groups).filter(|_| !self.is_exhausted)
    }

    /// Returns the number of bytes searched, and the first group with a product token that contains this one.
    fn find(&self, token: &[u8]) -> (usize, GroupsId) {
        // An empty product token never matches.
        let found = if token.is_empty() { None } else { Finder::new(token).find(&self.bytes) };
        let after = |at: usize| self.ends.partition_point(|&(end, _)| end <= at);
        let groups = found.and_then(|at| self.ends.get(after(at))).map_or(NO_GROUPS, |&(_, group)| group);
        (found.unwrap_or(self.bytes.len()), groups)
    }
}

/// Numbers for groups that decide together.
struct Ids<'d, 'b> {
    dialect: &'d Dialect,
    arena: &'b Bump,
    group_count: u32,
    known: HashMap<&'b [u32], GroupsId>,
    several: Vec<&'b [u32]>,
}

impl Ids<'_, '_> {
    /// Returns the number for some groups, given in file order.
    fn of(&mut self, groups: &[u32]) -> GroupsId {
        match *groups {
            [] => NO_GROUPS,
            [group] => group,
            [first, ..] if self.dialect.group_choice == GroupChoice::First => first,
            _ => match self.known.get(groups) {
                Some(&id) => id,
                None => {
                    let (id, groups) =
                        (self.group_count + self.several.len() as u32, self.arena.alloc_slice_copy(groups));
                    self.several.push(groups);
                    self.known.insert(groups, id);
                    id
                }
            },
        }
    }
}

/// Returns a product token in lower case, copied only if that changes it.
fn lower_case<'b>(token: &'b [u8], arena: &'b Bump) -> &'b [u8] {
    if !token.iter().any(u8::is_ascii_uppercase) {
        return token;
    }
    let token = arena.alloc_slice_copy(token);
    token.make_ascii_lowercase();
    token
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile::dialects::KOSTER_1994;

    #[test]
    fn searched_bytes_stop_at_the_limit() {
        let body = b"user-agent: xa\ndisallow: /1\n\nuser-agent: a\ndisallow: /2\n\nuser-agent: b\ndisallow: /3\n";
        // "a" is found after one byte, "b" after five, and "xa" at once.
        for (budget, is_cut, groups_of_a) in [(5, true, 0), (6, false, 0), (7, false, 0), (0, true, 1)] {
            let arena = Bump::new();
            let mut files = [File::new(body, &KOSTER_1994, &arena), File::new(b"", &KOSTER_1994, &arena)];
            assert!(files.iter().all(|file| file.text.as_ref().unwrap().budget == MAX_SEARCHED_BYTES));
            files[0].text.as_mut().unwrap().budget = budget;
            let names = Names::new(&mut files);
            assert_eq!(names.is_cut, is_cut, "{budget}");
            let name = names.names.iter().find(|name| name.token == Some(b"a")).unwrap();
            assert_eq!(name.groups, [groups_of_a, NO_GROUPS], "{budget}");
        }
    }

    #[test]
    fn groups_that_decide_together_share_a_number() {
        let body = b"user-agent: a\nuser-agent: b\nallow: /1\nuser-agent: a\nuser-agent: b\nuser-agent: c\nallow: /2\n";
        let arena = Bump::new();
        let mut files = [body; 2].map(|body| File::new(body, &reptile::dialects::GOOGLE_LIB, &arena));
        let names = Names::new(&mut files);
        let groups: Vec<&[u32]> = names.names.iter().skip(1).map(|name| files[0].indices_of(&name.groups[0])).collect();
        assert_eq!(groups, [&[0, 1][..], &[0, 1], &[1]]);
        assert_eq!(names.names[1].groups, names.names[2].groups);
        assert_eq!(names.names[0].groups, [NO_GROUPS; 2]);
    }
}
