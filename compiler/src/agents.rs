//! Whom a group is for: from the values of user-agent lines to one list of rules for each product token, and one
//! for everybody else.

use std::collections::HashMap;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::robots::{RawRule, Robots, is_space};

/// Whom a user-agent line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'b> {
    /// Everybody who is not named elsewhere: `*`.
    Others,
    /// The crawlers of this product token, as written; it may be empty.
    Token(&'b [u8]),
}

/// Reads the value of a user-agent line.
///
/// `*` alone or in front of white space is everybody; else the token is the run of letters, `-` and `_` that the
/// value begins with. Source: google/robotstxt, `ExtractUserAgent` and `HandleUserAgent`.
#[must_use]
pub fn named(value: &[u8]) -> Named<'_> {
    match value {
        [b'*'] => Named::Others,
        [b'*', next, ..] if is_space(*next) => Named::Others,
        _ => {
            let in_token = |&byte: &u8| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_';
            let len = value.iter().position(|byte| !in_token(byte)).unwrap_or(value.len());
            Named::Token(&value[..len])
        }
    }
}

/// Who gets which rules.
#[derive(Debug)]
pub struct Assignment<'b> {
    /// Each product token of the file, in lower case and in order, with the index of its list.
    pub tokens: BumpVec<'b, (&'b [u8], u32)>,
    /// The index of the list for everybody else, if there is a group for them.
    pub others: Option<u32>,
    /// The lists of rules, each in the order of the file.
    pub lists: BumpVec<'b, BumpVec<'b, RawRule<'b>>>,
}

/// Merges the groups of each product token, and those for everybody else.
///
/// A group that names both a token and everybody counts for both. Tokens that share all of their groups share a
/// list. Time linear in the number of user-agent lines (times the logarithm, to sort them) and the rules of
/// distinct lists.
#[must_use]
pub fn assign<'b>(robots: &Robots<'b>, arena: &'b Bump) -> Assignment<'b> {
    let mut named_in: BumpVec<'b, (&'b [u8], u32)> = BumpVec::new_in(arena);
    let mut for_others: BumpVec<'b, u32> = BumpVec::new_in(arena);
    for (index, group) in (0..).zip(&robots.groups) {
        for value in &group.agents {
            match named(value) {
                Named::Others => for_others.push(index),
                Named::Token(token) => {
                    let token = arena.alloc_slice_copy(token);
                    token.make_ascii_lowercase();
                    named_in.push((token, index));
                }
            }
        }
    }
    named_in.sort_unstable();
    named_in.dedup();
    for_others.dedup();

    let mut assignment = Assignment { tokens: BumpVec::new_in(arena), others: None, lists: BumpVec::new_in(arena) };
    let mut known: HashMap<&[u32], u32> = HashMap::new();
    let mut list_of = |groups: &'b [u32], lists: &mut BumpVec<'b, BumpVec<'b, RawRule<'b>>>| {
        *known.entry(groups).or_insert_with(|| {
            let mut rules = BumpVec::new_in(arena);
            for &group in groups {
                rules.extend_from_slice(&robots.groups[group as usize].rules);
            }
            lists.push(rules);
            (lists.len() - 1) as u32
        })
    };
    for run in named_in.chunk_by(|a, b| a.0 == b.0) {
        let groups = arena.alloc_slice_fill_iter(run.iter().map(|&(_, group)| group));
        let list = list_of(groups, &mut assignment.lists);
        assignment.tokens.push((run[0].0, list));
    }
    if !for_others.is_empty() {
        assignment.others = Some(list_of(for_others.into_bump_slice(), &mut assignment.lists));
    }
    assignment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names() {
        assert_eq!(named(b"*"), Named::Others);
        assert_eq!(named(b"* FooBot"), Named::Others);
        assert_eq!(named(b"*foo"), Named::Token(b""));
        assert_eq!(named(b"FooBot/1.2"), Named::Token(b"FooBot"));
        assert_eq!(named(b"MJ12bot"), Named::Token(b"MJ"));
        assert_eq!(named(b"a_b-C d"), Named::Token(b"a_b-C"));
        assert_eq!(named(b""), Named::Token(b""));
    }
}
