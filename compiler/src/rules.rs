//! From rules as written to a ruleset: normal form, order of precedence, and no rule twice.
//!
//! The order is what makes dialects compile: every rule gets a rank, and of the rules that match a path the one of
//! the smallest rank decides. Google's library, RFC 9309 and most others say "the longest, and allow on a tie"; the
//! draft of 1996 says "the first in the file", which is an order like any other.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::format::automaton::code;
use reptile_engine::verdict::RuleKind;

use crate::agents::List;
use crate::dialect::{Dialect, EmptyDisallow, Order};
use crate::robots::RawRule;

/// A rule in normal form, before it has a rank.
#[derive(Clone, Copy, Debug)]
struct Candidate<'b> {
    /// What is matched: runs of stars made one, trailing stars and the final `$` taken off.
    matcher: &'b [u8],
    /// Whether the match must end the path.
    anchored: bool,
    kind: RuleKind,
    /// Its place in the order of precedence, but for ties between rules of the same kind: the smaller decides.
    key: u32,
    line: u32,
    /// The pattern in normal form, as it is shown.
    pattern: &'b [u8],
}

impl Candidate<'_> {
    /// Whether no other plain rule of the same weight can match the same path.
    fn is_plain(&self) -> bool {
        !self.anchored && are_same(self.pattern, self.matcher) && memchr::memchr(b'*', self.matcher).is_none()
    }
}

/// The rules of one group in a form that is equal for equal behaviour, whatever file they come from: bytes that
/// can be hashed, compared, sorted and compiled.
///
/// Does not hold line numbers; those are listed beside it, by rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleList {
    // One record for each rule, in the order of its matcher: code, flags, length of the matcher, key if the list is
    // a part, length of the pattern if it differs, and the texts.
    bytes: Box<[u8]>,
}

/// A rule of a [`RuleList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedRule<'l> {
    /// Twice the rank, plus one for a disallow.
    pub code: u32,
    /// What is matched, without trailing stars and final `$`; every `*` in it is an operator.
    pub matcher: &'l [u8],
    /// Whether the match must end the path.
    pub anchored: bool,
    /// Whether this is the rule with an empty pattern, which is named when no other matches but restricts nothing.
    pub is_empty: bool,
    /// The pattern to show, if it is not the matcher with `$` behind it where it is anchored.
    pub pattern: Option<&'l [u8]>,
    /// The rule's place among the rules of all lists, if its list decides together with others.
    pub key: Option<u32>,
}

const FLAG_ANCHORED: u8 = 1;
const FLAG_EMPTY: u8 = 2;
const FLAG_PATTERN: u8 = 4;
const FLAG_KEY: u8 = 8;

impl RuleList {
    /// The rules, in the order of their matchers' bytes, unanchored before anchored, allow before disallow. The
    /// one with an empty pattern comes last.
    pub fn iter(&self) -> impl Iterator<Item = ListedRule<'_>> {
        let mut rest = &self.bytes[..];
        std::iter::from_fn(move || {
            let mut take = |len: usize| {
                let (taken, left) = rest.split_at_checked(len)?;
                rest = left;
                Some(taken)
            };
            let header: &[u8; 9] = take(9)?.first_chunk()?;
            let number = |at: usize| header.get(at..)?.first_chunk().map(|&bytes| u32::from_le_bytes(bytes));
            let (code, flags, matcher_len) = (number(0)?, header[4], number(5)?);
            let mut number_if = |flag: u8| match flags & flag {
                0 => Some(None),
                _ => Some(Some(u32::from_le_bytes(*take(4)?.first_chunk()?))),
            };
            let (key, pattern_len) = (number_if(FLAG_KEY)?, number_if(FLAG_PATTERN)?);
            Some(ListedRule {
                code,
                anchored: flags & FLAG_ANCHORED != 0,
                is_empty: flags & FLAG_EMPTY != 0,
                matcher: take(matcher_len as usize)?,
                pattern: match pattern_len {
                    Some(len) => Some(take(len as usize)?),
                    None => None,
                },
                key,
            })
        })
    }

    /// How many bytes it takes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Brings the rules of a group into normal form and order.
///
/// Returns the list, and the line of each rule by rank. Of rules of one kind that match the same paths only the
/// first in the order is kept. Time: sorting, so linear in the bytes times the logarithm of the number of rules.
#[must_use]
pub fn order<'b>(list: &List<'b>, dialect: &Dialect, arena: &'b Bump) -> (RuleList, Vec<u32>) {
    let rules = &list.rules;
    let mut candidates: BumpVec<'b, Candidate<'b>> = BumpVec::with_capacity_in(rules.len(), arena);
    let mut empty: Option<(RuleKind, u32)> = None;
    for rule in rules {
        let rule = &meaning_of(rule, dialect);
        let pattern: &'b [u8] = match dialect.normal_form.pattern(rule.value) {
            std::borrow::Cow::Borrowed(_) => rule.value,
            std::borrow::Cow::Owned(pattern) => arena.alloc_slice_copy(&pattern),
        };
        if pattern.is_empty() {
            // Weighs nothing, so it decides nothing, but is named when nothing else matches: an allow rather than
            // a disallow, the first of its kind.
            if empty.is_none_or(|(kind, _)| rule.kind < kind) {
                empty = Some((rule.kind, rule.line));
            }
            continue;
        }
        let shown = match dialect.normal_form.shown(pattern) {
            std::borrow::Cow::Borrowed(_) => pattern,
            std::borrow::Cow::Owned(shown) => arena.alloc_slice_copy(&shown),
        };
        candidates.push(candidate(pattern, shown, rule, dialect, arena));
        if dialect.index_htm_opens_directory
            && rule.kind == RuleKind::Allow
            && let Some(slash) = slash_before_index(pattern)
        {
            let directory = BumpVec::from_iter_in(pattern[..=slash].iter().chain(b"$").copied(), arena);
            candidates.push(candidate(directory.into_bump_slice(), pattern, rule, dialect, arena));
        }
    }
    if dialect.robots_txt_always_allowed {
        candidates.push(ROBOTS_TXT);
    }
    sort(&mut candidates, arena);
    let ranked = rank(&candidates, arena);
    let mut rank_of = bumpalo::vec![in arena; 0_u32; candidates.len()];
    for (rank, &index) in (0..).zip(&ranked) {
        rank_of[index as usize] = rank;
    }
    let mut lines: Vec<u32> = ranked.iter().map(|&index| candidates[index as usize].line).collect();

    let size = candidates.iter().map(|c| 17 + c.matcher.len() + c.pattern.len()).sum::<usize>() + 9;
    let mut bytes: Vec<u8> = Vec::with_capacity(size);
    for (candidate, &rank) in candidates.iter().zip(&rank_of) {
        let key = list.is_part.then_some(candidate.key);
        push(&mut bytes, code(rank, candidate.kind), key, candidate);
    }
    if let Some((kind, line)) = empty {
        bytes.extend_from_slice(&code(lines.len() as u32, kind).to_le_bytes());
        bytes.extend_from_slice(&[FLAG_EMPTY, 0, 0, 0, 0]);

        lines.push(line);
    }
    (RuleList { bytes: bytes.into_boxed_slice() }, lines)
}

/// The rule that opens `/robots.txt` in dialects where nothing closes it. It stands in no line.
const ROBOTS_TXT: Candidate<'static> = Candidate {
    matcher: b"/robots.txt",
    anchored: true,
    kind: RuleKind::Allow,
    key: 0,
    line: 0,
    pattern: b"/robots.txt$",
};

/// The rule that a line stands for.
pub(crate) fn meaning_of<'b>(rule: &RawRule<'b>, dialect: &Dialect) -> RawRule<'b> {
    match (rule.kind, rule.value, dialect.empty_disallow) {
        (RuleKind::Disallow, b"", EmptyDisallow::AllowRoot) => {
            RawRule { kind: RuleKind::Allow, value: b"/", line: rule.line }
        }
        _ => *rule,
    }
}

#[inline(always)]
fn candidate<'b>(
    pattern: &'b [u8],
    shown: &'b [u8],
    rule: &RawRule<'_>,
    dialect: &Dialect,
    arena: &'b Bump,
) -> Candidate<'b> {
    let key = key_of(pattern, rule.kind, rule.line, dialect.order);
    let (body, mut anchored) = match pattern.strip_suffix(b"$") {
        Some(body) => (body, true),
        None => (pattern, false),
    };
    let stars_end = body.iter().rposition(|&byte| byte != b'*').map_or(0, |last| last + 1);
    // A trailing star makes a final `$` idle; and an unanchored pattern matches as if a star were behind it.
    anchored &= stars_end == body.len();
    let mut matcher = &body[..stars_end];
    // Two neighbours are looked for only where there is a star at all, which is rare.
    if memchr::memchr(b'*', matcher).is_some_and(|star| matcher[star..].windows(2).any(|pair| pair == b"**")) {
        let mut last = 0;
        let once = matcher.iter().copied().filter(|&byte| {
            let keep = byte != b'*' || last != b'*';
            last = byte;
            keep
        });
        matcher = BumpVec::from_iter_in(once, arena).into_bump_slice();
    }
    Candidate { matcher, anchored, kind: rule.kind, key, line: rule.line, pattern: shown }
}

/// For an allow whose last slash begins `/index.htm`, where that slash is. It also allows the directory: the pattern
/// up to that slash, and no more.
///
/// Source: google/robotstxt, `HandleAllow`: it is tried when the rule itself does not match. It weighs less than
/// the rule, so that trying both gives the same.
pub(crate) fn slash_before_index(pattern: &[u8]) -> Option<usize> {
    memchr::memrchr(b'/', pattern).filter(|&slash| pattern[slash..].starts_with(b"/index.htm"))
}

/// Sorts candidates by their matchers, and keeps of those that match the same paths the first of each kind.
fn sort<'b>(candidates: &mut BumpVec<'b, Candidate<'b>>, arena: &'b Bump) {
    // What all begin with tells nothing; the eight bytes behind it tell most apart, and are compared as a number.
    let common = |a: &[u8], b: &[u8]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let Some((first, others)) = candidates.split_first() else { return };
    let shared =
        others.iter().fold(first.matcher.len(), |shared, other| common(&first.matcher[..shared], other.matcher));
    let prefix = |candidate: &Candidate<'_>| {
        let mut bytes = [0; 8];
        let rest = &candidate.matcher[shared..];
        let len = rest.len().min(8);
        bytes[..len].copy_from_slice(&rest[..len]);
        u64::from_be_bytes(bytes)
    };
    let keyed = (0_u32..).zip(&*candidates).map(|(index, candidate)| (prefix(candidate), index));
    let mut order: BumpVec<'b, (u64, u32)> = BumpVec::from_iter_in(keyed, arena);
    let full = |c: &Candidate<'b>| (c.matcher, c.anchored, c.kind, c.key, c.line);
    order.sort_unstable_by(|&(a, a_index), &(b, b_index)| {
        a.cmp(&b).then_with(|| full(&candidates[a_index as usize]).cmp(&full(&candidates[b_index as usize])))
    });
    order.dedup_by(|later, first| {
        let same =
            |a: &Candidate<'b>, b: &Candidate<'b>| (a.matcher, a.anchored, a.kind) == (b.matcher, b.anchored, b.kind);
        later.0 == first.0 && same(&candidates[later.1 as usize], &candidates[first.1 as usize])
    });
    let sorted = order.iter().map(|&(_, index)| candidates[index as usize]);
    *candidates = BumpVec::from_iter_in(sorted, arena);
}

/// The indices of candidates, which are in the order of their matchers, by precedence.
///
/// Where two rules of the same kind and weight can match the same path, the first line decides. Plain rules of
/// the same length never do, so they keep the order of their bytes, and files that list them in another order
/// share the ruleset.
fn rank<'b>(candidates: &[Candidate<'_>], arena: &'b Bump) -> BumpVec<'b, u32> {
    // Key and index as one number: to sort numbers is faster than to sort references to them.
    let keyed = (0_u64..).zip(candidates).map(|(index, candidate)| u64::from(candidate.key) << 32 | index);
    let mut keyed: BumpVec<'b, u64> = BumpVec::from_iter_in(keyed, arena);
    keyed.sort_unstable();
    let mut ranked = BumpVec::from_iter_in(keyed.iter().map(|&keyed| keyed as u32), arena);
    let at = |&index: &u32| &candidates[index as usize];
    for class in ranked.chunk_by_mut(|a, b| at(a).key == at(b).key) {
        if class.len() > 1 && !class.iter().all(|index| at(index).is_plain()) {
            class.sort_by_key(|index| at(index).line);
        }
    }
    ranked
}

/// The order of precedence as a number: the smaller decides. Ties go by line.
pub(crate) fn key_of(pattern: &[u8], kind: RuleKind, line: u32, order: Order) -> u32 {
    let by_weight = |weight: usize| (u32::MAX / 2 - weight as u32) * 2 + kind as u32;
    match order {
        Order::Longest => by_weight(pattern.len()),
        Order::LongestWithoutTrailingStars => by_weight(without_trailing_stars(pattern)),
        Order::FileOrder => line,
    }
}

/// How many octets a pattern has without the stars at its end, which change nothing, and without a `$` behind them,
/// which they make idle.
pub(crate) fn without_trailing_stars(pattern: &[u8]) -> usize {
    let body = pattern.strip_suffix(b"$").filter(|body| body.ends_with(b"*")).unwrap_or(pattern);
    body.iter().rposition(|&byte| byte != b'*').map_or(0, |last| last + 1)
}

/// Whether two texts are equal. They are mostly the very same text, which takes no comparing of bytes.
fn are_same(a: &[u8], b: &[u8]) -> bool {
    std::ptr::eq(a, b) || a == b
}

fn push(bytes: &mut Vec<u8>, code: u32, key: Option<u32>, candidate: &Candidate<'_>) {
    let (body, end) = candidate.pattern.split_at(candidate.pattern.len().min(candidate.matcher.len()));
    let can_be_read_off = are_same(body, candidate.matcher) && end == if candidate.anchored { &b"$"[..] } else { b"" };
    let mut flags = if candidate.anchored { FLAG_ANCHORED } else { 0 };
    if !can_be_read_off {
        flags |= FLAG_PATTERN;
    }
    if key.is_some() {
        flags |= FLAG_KEY;
    }
    let mut header = [flags; 9];
    header[..4].copy_from_slice(&code.to_le_bytes());
    header[5..].copy_from_slice(&(candidate.matcher.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&header);
    if let Some(key) = key {
        bytes.extend_from_slice(&key.to_le_bytes());
    }
    if !can_be_read_off {
        bytes.extend_from_slice(&(candidate.pattern.len() as u32).to_le_bytes());
    }
    bytes.extend_from_slice(candidate.matcher);
    if !can_be_read_off {
        bytes.extend_from_slice(candidate.pattern);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_at_the_end_are_not_counted() {
        for (pattern, len) in
            [("/a", 2), ("/a*", 2), ("/a**", 2), ("/a*$", 2), ("/a$", 3), ("/*a", 3), ("*", 0), ("*$", 0)]
        {
            assert_eq!(without_trailing_stars(pattern.as_bytes()), len, "{pattern}");
        }
    }
}
