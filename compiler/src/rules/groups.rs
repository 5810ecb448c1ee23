//! Assigns each group to the product tokens that it names: one rule list per token, and one for the default group.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::body::{Group, RawRule, Robots};
use crate::dialect::{Dialect, GroupChoice};
use crate::limits::{MAX_MERGED_RULES_PER_RULE, MIN_MERGED_RULES};

/// The crawlers that a user-agent line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'b> {
    /// The default group, `*`: every crawler that no group names.
    Everyone,
    /// The crawlers with this product token, as written; the token may be empty.
    Token(&'b [u8]),
}

/// Returns the crawlers that a user-agent value names.
#[must_use]
pub fn named<'b>(value: &'b [u8], dialect: &Dialect) -> Named<'b> {
    if dialect.default_token.is_named_by(value) {
        return Named::Everyone;
    }
    Named::Token(dialect.token_syntax.token_of(value))
}

/// A file's rule lists, and the product tokens assigned to each list.
#[derive(Debug)]
pub struct Assignment<'b> {
    /// The file's product tokens, in lower case and sorted, each with the index of its list. A token with several
    /// entries has several lists, which decide together.
    pub tokens: BumpVec<'b, (&'b [u8], u32)>,
    /// The index of the default group's list, if there is one.
    pub default_group: Option<u32>,
    /// The rule lists, each in file order.
    pub lists: Vec<AssignedRules<'b>>,
}

impl Assignment<'_> {
    /// Returns the maximum number of lists that decide together.
    #[must_use]
    pub fn most_lists(&self) -> usize {
        self.tokens.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap_or(1)
    }
}

/// The rule list for one or more tokens.
#[derive(Debug)]
pub struct AssignedRules<'b> {
    /// The rules, in file order.
    pub rules: &'b [RawRule<'b>],
    /// The indices of the groups that the list merges.
    pub groups: &'b [u32],
    /// Whether the list decides together with other lists for some token, so that its rules need joint ranks.
    pub is_part: bool,
}

/// Assigns each group to the product tokens that it names.
///
/// Merges the groups for each token and for `*`, or selects the first of them, as the dialect requires.
///
/// A group that names both a token and `*` counts for both. Tokens that share all of their groups share a list. If each
/// of thousands of tokens has its own group and a large common one, merged lists could have many times as many rules as
/// the file. Over a limit, the remaining tokens keep their groups separate.
///
/// Takes time linear in the number of rules and of user-agent lines, plus the time to sort the latter.
#[must_use]
pub fn assign<'b>(robots: &Robots<'b>, dialect: &Dialect, arena: &'b Bump) -> Assignment<'b> {
    let agent_count = robots.groups.iter().map(|group| group.agents.len()).sum();
    let mut named_in: BumpVec<'b, (&'b [u8], u32)> = BumpVec::with_capacity_in(agent_count, arena);
    let mut for_default_group: BumpVec<'b, u32> = BumpVec::new_in(arena);
    for (index, group) in (0..).zip(&robots.groups) {
        for value in group.agents {
            match named(value, dialect) {
                Named::Everyone => for_default_group.push(index),
                Named::Token(token) if token.iter().any(u8::is_ascii_uppercase) => {
                    let token = arena.alloc_slice_copy(token);
                    token.make_ascii_lowercase();
                    named_in.push((token, index));
                }
                Named::Token(token) => named_in.push((token, index)),
            }
        }
    }
    named_in.sort_unstable();
    named_in.dedup();
    for_default_group.dedup();
    if dialect.group_choice == GroupChoice::First {
        return first_groups(robots, named_in, for_default_group.first().copied(), arena);
    }

    let rules_of = |groups: &[u32]| -> usize { groups.iter().map(|&at| robots.groups[at as usize].rules.len()).sum() };
    let rule_count: usize = robots.groups.iter().map(|group| group.rules.len()).sum();
    let mut budget = (MAX_MERGED_RULES_PER_RULE * rule_count).max(MIN_MERGED_RULES);
    let of_one = bumpalo::vec![in arena; None; robots.groups.len()].into_bump_slice_mut();
    let mut lists = AssignedRulesBuilder { robots, arena, of_one, of_several: HashMap::new(), lists: Vec::new() };
    let mut tokens = BumpVec::with_capacity_in(named_in.len(), arena);
    for run in named_in.chunk_by(|a, b| a.0 == b.0) {
        let token = run[0].0;
        let groups = arena.alloc_slice_fill_iter(run.iter().map(|&(_, group)| group));
        let cost = if groups.len() == 1 || lists.of_several.contains_key(&*groups) { 0 } else { rules_of(groups) };
        if cost <= budget {
            budget -= cost;
            tokens.push((token, lists.of(groups)));
        } else {
            for group in groups.chunks(1) {
                let list = lists.of(group);
                lists.lists[list as usize].is_part = true;
                tokens.push((token, list));
            }
        }
    }
    tokens.sort_unstable();
    let default_group = (!for_default_group.is_empty()).then(|| lists.of(for_default_group.into_bump_slice()));
    Assignment { tokens, default_group, lists: lists.lists }
}

/// Assigns to each token the first group that names it. The lists are in group order, so that the engine knows which
/// comes first if several of the file's tokens contain the crawler's.
fn first_groups<'b>(
    robots: &Robots<'b>,
    mut named_in: BumpVec<'b, (&'b [u8], u32)>,
    default_group: Option<u32>,
    arena: &'b Bump,
) -> Assignment<'b> {
    named_in.dedup_by_key(|(token, _)| *token);
    let list = |(index, group): (u32, &Group<'b>)| AssignedRules {
        rules: group.rules,
        groups: arena.alloc_slice_copy(&[index]),
        is_part: false,
    };
    Assignment { tokens: named_in, default_group, lists: (0..).zip(&robots.groups).map(list).collect() }
}

/// The rule lists built so far, by the groups that each merges.
struct AssignedRulesBuilder<'r, 'b> {
    robots: &'r Robots<'b>,
    arena: &'b Bump,
    /// For each group, the list that contains only this group.
    of_one: &'b mut [Option<u32>],
    of_several: HashMap<&'b [u32], u32>,
    lists: Vec<AssignedRules<'b>>,
}

impl<'b> AssignedRulesBuilder<'_, 'b> {
    fn of(&mut self, groups: &'b [u32]) -> u32 {
        let rules_of = |group: u32| self.robots.groups[group as usize].rules;
        let next = self.lists.len() as u32;
        let (list, rules) = match *groups {
            [group] => (*self.of_one[group as usize].get_or_insert(next), rules_of(group)),
            _ => match self.of_several.entry(groups) {
                Entry::Occupied(known) => (*known.get(), &[][..]),
                Entry::Vacant(place) => {
                    let count = groups.iter().map(|&group| rules_of(group).len()).sum();
                    let mut rules = BumpVec::with_capacity_in(count, self.arena);
                    groups.iter().for_each(|&group| rules.extend_from_slice(rules_of(group)));
                    (*place.insert(next), rules.into_bump_slice())
                }
            },
        };
        if list == next {
            self.lists.push(AssignedRules { rules, groups, is_part: false });
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{GOOGLE_LIB, KOSTER_1994, YANDEX};

    /// Small groups are merged. Large ones that thousands of tokens share stay separate, so each token has two lists.
    #[test]
    fn lists_decide_together_if_they_are_too_large_to_merge() {
        let arena = Bump::new();
        // Product tokens have no digits.
        let named = |token: usize| format!("user-agent: {}\n", "t".repeat(token + 1));
        let shared = |tokens: usize| (0..tokens).map(named).collect::<String>();
        let own = |tokens: usize| (0..tokens).map(move |token| format!("{}allow: /{token}\n", named(token)));
        for (tokens, rules, most) in [(0, 0, 1), (300, 1, 1), (300, 300, 2)] {
            let rules: String = (0..rules).map(|rule| format!("disallow: /{rule}\n")).collect();
            let body = own(tokens).chain([shared(tokens), rules]).collect::<String>();
            let body = arena.alloc_slice_copy(body.as_bytes());
            let robots = crate::body::parse(body, &GOOGLE_LIB, &arena);
            assert_eq!(assign(&robots, &GOOGLE_LIB, &arena).most_lists(), most, "{tokens}");
        }
    }

    #[test]
    fn user_agent_values_are_read_by_each_dialect() {
        let token = |name: &'static str| Named::Token(name.as_bytes());
        for (value, letters, before_version, whole) in [
            ("*", Named::Everyone, Named::Everyone, Named::Everyone),
            ("* FooBot", Named::Everyone, Named::Everyone, token("* FooBot")),
            ("*foo", token(""), token("*foo"), token("*foo")),
            ("FooBot/1.2", token("FooBot"), token("FooBot"), token("FooBot/1.2")),
            ("MJ12bot", token("MJ"), token("MJ12bot"), token("MJ12bot")),
            ("a_b-C d", token("a_b-C"), token("a_b-C"), token("a_b-C d")),
            ("", token(""), token(""), token("")),
        ] {
            assert_eq!(named(value.as_bytes(), &GOOGLE_LIB), letters, "{value}");
            assert_eq!(named(value.as_bytes(), &YANDEX), before_version, "{value}");
            assert_eq!(named(value.as_bytes(), &KOSTER_1994), whole, "{value}");
        }
    }
}
