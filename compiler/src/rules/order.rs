//! Normalizes and deduplicates a group's rules, and brings them into order of precedence.
//!
//! The order lets one compiler serve all dialects: every rule gets a rank, and the matching rule with the smallest rank
//! decides. Google's library, RFC 9309 and most others say "the longest, and allow on a tie"; the 1996 draft says "the
//! first in the file", which is just another order.

use std::borrow::Cow;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use reptile_engine::automaton::RulesetRule;
use reptile_engine::format::automaton::rank;
use reptile_engine::norm::Pattern;
use reptile_engine::verdict::RuleKind;

use crate::body::RawRule;
use crate::dialect::{Dialect, EmptyDisallow, Order};
use crate::rules::groups::{AssignedRules, Assignment};

/// A rule in normal form, not yet ranked.
#[derive(Clone, Copy, Debug)]
struct NormalRule<'b> {
    /// The pattern with each run of wildcards reduced to one, and without trailing wildcards and the end anchor.
    matcher: &'b [u8],
    /// Whether the matcher contains a wildcard.
    has_wildcard: bool,
    /// Whether the match must end at the end of the path.
    anchored: bool,
    kind: RuleKind,
    /// Precedence as a number; the smaller wins. Rules of the same kind may tie.
    key: u32,
    line: u32,
    /// The pattern in normal form, as displayed.
    pattern: &'b [u8],
}

impl<'b> NormalRule<'b> {
    /// Returns whether the rule is a plain prefix. No two plain rules with the same weight match the same path.
    fn is_plain(&self) -> bool {
        !self.anchored && !self.has_wildcard && are_same(self.pattern, self.matcher)
    }

    /// Returns the displayed pattern if it cannot be derived from the matcher and its anchor.
    fn pattern_if_different(&self) -> Option<&'b [u8]> {
        let (body, end) = self.pattern.split_at(self.pattern.len().min(self.matcher.len()));
        let end_can_be_read_off = matches!((end, self.anchored), (b"", false) | (b"$", true));
        (!end_can_be_read_off || !are_same(body, self.matcher)).then_some(self.pattern)
    }
}

/// The sort key of a rule within its group.
#[derive(Clone, Copy, Debug)]
struct SortKey {
    /// The eight bytes of the matcher after the prefix shared by all matchers.
    start: u64,
    /// The number of bytes in `start` and the sorting flags, or `u32::MAX` if the matcher is longer. After sorting, the
    /// rule's position.
    number: u32,
    /// The rule's index.
    index: u32,
}

/// Buffers that [`order`] reuses, so that many small groups need no separate allocations.
#[derive(Debug, Default)]
pub struct OrderScratch<'b> {
    normal_rules: Vec<NormalRule<'b>>,
    /// The rules that are kept, in matcher order.
    places: Vec<SortKey>,
    /// The rules in order of precedence: the key and the index into `places`, packed into one number.
    by_precedence: Vec<u64>,
}

/// One group's rules in canonical form: lists with equal behavior are equal, regardless of the file.
///
/// The bytes can be hashed, compared, sorted and compiled.
///
/// Holds no line numbers; [`order`] returns them in a separate list, by position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleList {
    // For each rule, in matcher order: rank, flags, matcher length, key if the list decides together with others,
    // pattern length if the pattern differs, and the texts.
    bytes: Box<[u8]>,
}

/// A rule of a [`RuleList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedRule<'l> {
    /// Twice the position, plus one for a disallow.
    pub rank: u32,
    /// The pattern without trailing wildcards and the end anchor; every `*` in it is a wildcard.
    pub matcher: &'l [u8],
    /// Whether the matcher contains a wildcard.
    pub has_wildcard: bool,
    /// Whether the match must end at the end of the path.
    pub anchored: bool,
    /// Whether this is the rule with an empty pattern. It restricts nothing, but is reported if no other rule matches.
    pub is_empty: bool,
    /// The pattern to display, if it cannot be derived from the matcher and its anchor.
    pub pattern: Option<&'l [u8]>,
    /// The rule's precedence among the rules of all lists, if its list decides together with others.
    pub key: Option<u32>,
}

/// Combined length of rank, flags and matcher length.
const HEADER_BYTES: usize = 9;

const FLAG_ANCHORED: u8 = 1;
const FLAG_EMPTY: u8 = 2;
const FLAG_PATTERN: u8 = 4;
const FLAG_KEY: u8 = 8;
const FLAG_WILDCARD: u8 = 16;

impl RuleList {
    /// Iterates over the rules in byte order of their matchers, unanchored before anchored, allow before disallow.
    ///
    /// The rule with an empty pattern comes last.
    pub fn iter(&self) -> impl Iterator<Item = OrderedRule<'_>> {
        let mut rest = &self.bytes[..];
        std::iter::from_fn(move || {
            let mut take = |len: usize| {
                let (taken, left) = rest.split_at_checked(len)?;
                rest = left;
                Some(taken)
            };
            let header: &[u8; HEADER_BYTES] = take(HEADER_BYTES)?.first_chunk()?;
            let number = |at: usize| header.get(at..)?.first_chunk().map(|&bytes| u32::from_le_bytes(bytes));
            let (rank, flags, matcher_len) = (number(0)?, header[4], number(5)?);
            let mut number_if = |flag: u8| match flags & flag {
                0 => Some(None),
                _ => Some(Some(u32::from_le_bytes(*take(4)?.first_chunk()?))),
            };
            let (key, pattern_len) = (number_if(FLAG_KEY)?, number_if(FLAG_PATTERN)?);
            Some(OrderedRule {
                rank,
                has_wildcard: flags & FLAG_WILDCARD != 0,
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

    /// Returns the list's length in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the list that compiles to a ruleset with these rules and ranks, regardless of the weights that a dialect
    /// would give them.
    ///
    /// Invalid rules give a list that compiles to a different ruleset.
    #[must_use]
    pub fn from_compiled<'b>(rules: &'b [RulesetRule], arena: &'b Bump) -> RuleList {
        // The rule index replaces the line number, which rulesets do not store.
        let normal_of = |(index, rule): (u32, &'b RulesetRule)| {
            let shown: &[u8] = &rule.pattern;
            let mut pattern = shown;
            if rule.is_literal {
                let matched = shown.iter().map(|&byte| match byte {
                    b'*' => 0,
                    b'$' => b'\n',
                    byte => byte,
                });
                pattern = BumpVec::from_iter_in(matched, arena).into_bump_slice();
            }
            if rule.opens_directory {
                let directory = memchr::memrchr(b'/', pattern).map_or(pattern, |slash| &pattern[..=slash]);
                pattern = BumpVec::from_iter_in(directory.iter().chain(b"$").copied(), arena).into_bump_slice();
            }
            // Only the order would use the weight, and here the rank replaces it.
            let raw = RawRule { kind: rule.kind, value: shown, line: index };
            normal_rule(pattern, shown, &raw, Order::FileOrder, arena)
        };
        let mut normal_rules = Vec::with_capacity(rules.len());
        normal_rules.extend((0..).zip(rules).filter(|(_, rule)| !rule.pattern.is_empty()).map(normal_of));
        // Equal rules keep their rank order.
        normal_rules.sort_unstable_by_key(|normal| (normal.matcher, normal.anchored, normal.kind, normal.line));
        let joint_rank = |normal: &NormalRule<'_>| rules[normal.line as usize].joint_rank;
        let size = normal_rules.iter().map(|normal| byte_len(normal, joint_rank(normal).is_some())).sum::<usize>();
        let mut bytes = Vec::with_capacity(size + HEADER_BYTES);
        for normal in &normal_rules {
            push(&mut bytes, rules[normal.line as usize].rank, joint_rank(normal), normal);
        }
        if let Some(empty) = rules.iter().rev().find(|rule| rule.pattern.is_empty()) {
            bytes.extend_from_slice(&empty.rank.to_le_bytes());
            bytes.extend_from_slice(&[FLAG_EMPTY, 0, 0, 0, 0]);
        }
        RuleList { bytes: bytes.into_boxed_slice() }
    }
}

/// Normalizes and orders a group's rules.
///
/// Returns the list, and each rule's line by position. Among rules of the same kind that match the same paths, only the
/// first in order is kept. Time: linear in the bytes, times the logarithm of the rule count, for sorting.
#[must_use]
pub fn order<'b>(
    list: &AssignedRules<'b>,
    dialect: &Dialect,
    arena: &'b Bump,
    scratch: &mut OrderScratch<'b>,
) -> (RuleList, Vec<u32>) {
    let OrderScratch { normal_rules, places, by_precedence } = scratch;
    let empty = normalize(list, dialect, arena, normal_rules);
    sort(normal_rules, places);
    assign_positions(normal_rules, places, by_precedence);

    let mut lines: Vec<u32> = Vec::with_capacity(by_precedence.len() + usize::from(empty.is_some()));
    for (position, &keyed) in (0..).zip(&*by_precedence) {
        let place = &mut places[keyed as u32 as usize];
        place.number = position;
        lines.push(normal_rules[place.index as usize].line);
    }
    let sorted = || places.iter().map(|place| (place.number, &normal_rules[place.index as usize]));
    let size = sorted().map(|(_, normal)| byte_len(normal, list.is_part)).sum::<usize>();
    let mut bytes: Vec<u8> = Vec::with_capacity(size + if empty.is_some() { HEADER_BYTES } else { 0 });
    for (position, normal) in sorted() {
        let key = list.is_part.then_some(normal.key);
        push(&mut bytes, rank(position, normal.kind), key, normal);
    }
    if let Some((kind, line)) = empty {
        bytes.extend_from_slice(&rank(lines.len() as u32, kind).to_le_bytes());
        bytes.extend_from_slice(&[FLAG_EMPTY, 0, 0, 0, 0]);
        lines.push(line);
    }
    (RuleList { bytes: bytes.into_boxed_slice() }, lines)
}

/// Normalizes and orders the rules of each list. Frees the scratch memory on return, because a check of the rules may
/// need it.
pub(crate) fn order_all<'b>(
    assignment: &Assignment<'b>,
    dialect: &Dialect,
    arena: &'b Bump,
) -> Vec<(RuleList, Vec<u32>)> {
    let mut scratch = OrderScratch::default();
    assignment.lists.iter().map(|list| order(list, dialect, arena, &mut scratch)).collect()
}

/// Fills a list with the normalized rules. Returns the kind and line of the empty-pattern rule, if any.
fn normalize<'b>(
    list: &AssignedRules<'b>,
    dialect: &Dialect,
    arena: &'b Bump,
    normal_rules: &mut Vec<NormalRule<'b>>,
) -> Option<(RuleKind, u32)> {
    normal_rules.clear();
    normal_rules.reserve(list.rules.len());
    let mut empty: Option<(RuleKind, u32)> = None;
    for rule in list.rules {
        let rule = &meaning_of(rule, dialect);
        let pattern: &'b [u8] = match dialect.normal_form.pattern(rule.value) {
            Cow::Borrowed(_) => rule.value,
            Cow::Owned(pattern) => arena.alloc_slice_copy(&pattern),
        };
        if pattern.is_empty() {
            // The rule has no octets and decides nothing, but is reported if no other rule matches. An allow takes
            // precedence over a disallow, then the first line.
            if empty.is_none_or(|(kind, _)| rule.kind < kind) {
                empty = Some((rule.kind, rule.line));
            }
            continue;
        }
        let shown = match dialect.normal_form.shown(pattern) {
            Cow::Borrowed(_) => pattern,
            Cow::Owned(shown) => arena.alloc_slice_copy(&shown),
        };
        normal_rules.push(normal_rule(pattern, shown, rule, dialect.order, arena));
        if dialect.index_htm_opens_directory && rule.kind == RuleKind::Allow {
            if let Some(slash) = slash_before_index(pattern) {
                let directory = BumpVec::from_iter_in(pattern[..=slash].iter().chain(b"$").copied(), arena);
                normal_rules.push(normal_rule(directory.into_bump_slice(), pattern, rule, dialect.order, arena));
            }
        }
    }
    if dialect.robots_txt_always_allowed {
        normal_rules.push(ROBOTS_TXT);
    }
    empty
}

/// The rule that allows `/robots.txt` in dialects where no rule can disallow it. It has no line.
const ROBOTS_TXT: NormalRule<'static> = NormalRule {
    matcher: b"/robots.txt",
    has_wildcard: false,
    anchored: true,
    kind: RuleKind::Allow,
    key: 0,
    line: 0,
    pattern: b"/robots.txt$",
};

/// Returns a line's effective rule under a dialect.
pub(crate) fn meaning_of<'b>(rule: &RawRule<'b>, dialect: &Dialect) -> RawRule<'b> {
    match (rule.kind, rule.value, dialect.empty_disallow) {
        (RuleKind::Disallow, b"", EmptyDisallow::AllowRoot) => {
            RawRule { kind: RuleKind::Allow, value: b"/", line: rule.line }
        }
        _ => *rule,
    }
}

#[inline(always)]
fn normal_rule<'b>(
    pattern: &'b [u8],
    shown: &'b [u8],
    rule: &RawRule<'_>,
    order: Order,
    arena: &'b Bump,
) -> NormalRule<'b> {
    let key = key_of(pattern, rule.kind, rule.line, order);
    let Pattern { text: mut matcher, anchored } = Pattern::new(pattern).without_trailing_wildcards();
    // Wildcards are rare, so runs of them are searched for only if there is one.
    let wildcard = memchr::memchr(b'*', matcher);
    if wildcard.is_some_and(|wildcard| matcher[wildcard..].windows(2).any(|pair| pair == b"**")) {
        let mut last = 0;
        let once = matcher.iter().copied().filter(|&byte| {
            let keep = byte != b'*' || last != b'*';
            last = byte;
            keep
        });
        matcher = BumpVec::from_iter_in(once, arena).into_bump_slice();
    }
    let has_wildcard = wildcard.is_some();
    NormalRule { matcher, has_wildcard, anchored, kind: rule.kind, key, line: rule.line, pattern: shown }
}

/// Returns the offset of an allow's last slash if `/index.htm` begins there.
///
/// The rule then also allows the directory itself: the pattern up to that slash, with an end anchor.
///
/// Source: google/robotstxt, `HandleAllow`, which tries the directory if the rule itself does not match. The directory
/// weighs less than the rule, so trying both gives the same result.
pub(crate) fn slash_before_index(pattern: &[u8]) -> Option<usize> {
    memchr::memrchr(b'/', pattern).filter(|&slash| pattern[slash..].starts_with(b"/index.htm"))
}

/// Sorts rules by matcher. Among rules that match the same paths, keeps the first of each kind.
fn sort(normal_rules: &[NormalRule<'_>], places: &mut Vec<SortKey>) {
    const START_BYTES: usize = size_of::<u64>();
    places.clear();
    // The prefix shared by all matchers distinguishes nothing. The next eight bytes distinguish most matchers, and are
    // compared as a number.
    let common = |a: &[u8], b: &[u8]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let Some((first, others)) = normal_rules.split_first() else { return };
    let shared =
        others.iter().fold(first.matcher.len(), |shared, other| common(&first.matcher[..shared], other.matcher));
    places.extend((0..).zip(normal_rules).map(|(index, normal)| {
        let rest = &normal.matcher[shared..];
        let mut start = [0; START_BYTES];
        let len = rest.len().min(START_BYTES);
        start[..len].copy_from_slice(&rest[..len]);
        let number = (rest.len() as u32) << 2 | u32::from(normal.anchored) << 1 | normal.kind as u32;
        let number = if rest.len() > START_BYTES { u32::MAX } else { number };
        SortKey { start: u64::from_be_bytes(start), number, index }
    }));
    // Integer keys sort faster than slices; a second sort orders the rules whose numbers are equal.
    places.sort_unstable_by_key(|place| {
        u128::from(place.start) << 64 | u128::from(place.number) << 32 | u128::from(place.index)
    });
    let of = |place: &SortKey| &normal_rules[place.index as usize];
    let remainder = |place: &SortKey| {
        let normal = of(place);
        (normal.matcher.get(shared + START_BYTES..), normal.anchored, normal.kind)
    };
    let precedence = |place: &SortKey| (of(place).key, of(place).line);
    let is_alike = |a: &SortKey, b: &SortKey| (a.start, a.number) == (b.start, b.number);
    for alike in places.chunk_by_mut(is_alike).filter(|alike| alike.len() > 1) {
        if alike[0].number == u32::MAX {
            alike.sort_unstable_by(|a, b| {
                remainder(a).cmp(&remainder(b)).then_with(|| precedence(a).cmp(&precedence(b)))
            });
        } else if let Some(first) = alike.iter().min_by_key(|place| precedence(place)).copied() {
            // Only the first in order of precedence is kept.
            alike.fill(first);
        }
    }
    places.dedup_by(|later, first| {
        is_alike(later, first) && (later.number != u32::MAX || remainder(later) == remainder(first))
    });
}

/// Sorts the rules in `places` by precedence.
///
/// If two rules with the same kind and weight can match the same path, the earlier line decides. Plain rules with the
/// same length never match the same path, so they keep byte order, and files that list them in a different order share
/// the ruleset.
fn assign_positions(normal_rules: &[NormalRule<'_>], places: &[SortKey], by_precedence: &mut Vec<u64>) {
    let at = |keyed: u64| &normal_rules[places[keyed as u32 as usize].index as usize];
    by_precedence.clear();
    // Integer keys sort faster than references to rules.
    let keyed = (0_u64..).zip(places).map(|(at, place)| u64::from(normal_rules[place.index as usize].key) << 32 | at);
    by_precedence.extend(keyed);
    by_precedence.sort_unstable();
    for class in by_precedence.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
        if class.len() > 1 && !class.iter().all(|&keyed| at(keyed).is_plain()) {
            class.iter_mut().for_each(|keyed| *keyed = u64::from(at(*keyed).line) << 32 | u64::from(*keyed as u32));
            class.sort_unstable();
        }
    }
}

/// Returns precedence as a number; the smaller wins. Ties are broken by line.
pub(crate) fn key_of(pattern: &[u8], kind: RuleKind, line: u32, order: Order) -> u32 {
    let by_weight = |weight: usize| (u32::MAX / 2 - weight as u32) * 2 + kind as u32;
    match order {
        Order::Longest => by_weight(pattern.len()),
        Order::LongestWithoutTrailingWildcards => by_weight(len_without_trailing_wildcards(pattern)),
        Order::FileOrder => line,
    }
}

/// Returns the length of a pattern without trailing wildcards, which change nothing, and without a `$` after them,
/// which has no effect.
pub(crate) fn len_without_trailing_wildcards(pattern: &[u8]) -> usize {
    let whole = Pattern::new(pattern);
    let trimmed = whole.without_trailing_wildcards();
    trimmed.text.len() + usize::from(trimmed.anchored)
}

/// Returns whether two texts are equal. They are usually the same slice, so no bytes need comparing.
fn are_same(a: &[u8], b: &[u8]) -> bool {
    std::ptr::eq(a, b) || a == b
}

/// Returns how many bytes [`push`] appends for a rule.
fn byte_len(normal: &NormalRule<'_>, has_key: bool) -> usize {
    let apart = normal.pattern_if_different().map_or(0, |pattern| 4 + pattern.len());
    HEADER_BYTES + if has_key { 4 } else { 0 } + normal.matcher.len() + apart
}

fn push(bytes: &mut Vec<u8>, rank: u32, key: Option<u32>, normal: &NormalRule<'_>) {
    let pattern_if_different = normal.pattern_if_different();
    let mut flags = if normal.anchored { FLAG_ANCHORED } else { 0 };
    if pattern_if_different.is_some() {
        flags |= FLAG_PATTERN;
    }
    if key.is_some() {
        flags |= FLAG_KEY;
    }
    if normal.has_wildcard {
        flags |= FLAG_WILDCARD;
    }
    let mut header = [flags; HEADER_BYTES];
    header[..4].copy_from_slice(&rank.to_le_bytes());
    header[5..].copy_from_slice(&(normal.matcher.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&header);
    if let Some(key) = key {
        bytes.extend_from_slice(&key.to_le_bytes());
    }
    if let Some(pattern) = pattern_if_different {
        bytes.extend_from_slice(&(pattern.len() as u32).to_le_bytes());
    }
    bytes.extend_from_slice(normal.matcher);
    bytes.extend_from_slice(pattern_if_different.unwrap_or_default());
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::dialect::{GOOGLE_LIB, KOSTER_1996};

    /// Returns the rule list of a group with these lines.
    pub(crate) fn list_of(rules: &[String], dialect: &'static Dialect) -> RuleList {
        let arena = Bump::new();
        let body = format!("user-agent: *\n{}\n", rules.join("\n"));
        crate::set::prepare(body.as_bytes(), dialect, &arena).unwrap().groups.swap_remove(0).0
    }

    #[test]
    fn rules_are_listed_once_and_in_byte_order() {
        // The patterns differ in each of 20 bytes after a shared text, or in their length, anchor or kind.
        let digits = "0123456789abcdefghij";
        let shared = ["/", "/a", "/aa", "/aaaaaaaaaa"];
        let varied = |front: &str| {
            let ends = (0..=digits.len()).flat_map(|len| ["", "!", "~"].map(|end| format!("{}{end}", &digits[..len])));
            ends.map(|end| format!("{front}{end}")).collect::<std::collections::BTreeSet<_>>()
        };
        for front in shared {
            let patterns: Vec<String> = varied(front).into_iter().rev().collect();
            let lines = patterns.iter().flat_map(|pattern| {
                [format!("disallow: {pattern}$"), format!("disallow: {pattern}"), format!("allow: {pattern}")]
            });
            let twice: Vec<String> = lines.clone().chain(lines).collect();
            let list = list_of(&twice, &GOOGLE_LIB);
            let keys: Vec<_> = list.iter().map(|rule| (rule.matcher, rule.anchored, rule.rank % 2)).collect();
            assert!(keys.is_sorted_by(|a, b| a < b), "{front}");
            assert_eq!(keys.len(), 3 * patterns.len(), "{front}");
        }
    }

    #[test]
    fn patterns_that_differ_in_literal_stars_are_different_rules() {
        // In this form a star becomes a NUL byte, like the bytes after a short pattern's end in its sort key.
        let rules: Vec<String> = (0..20).map(|stars| format!("allow: /a{}", "*".repeat(stars))).collect();
        // The draft also allows /robots.txt (section 3.2.2), which is a rule too.
        assert_eq!(list_of(&rules, &KOSTER_1996).iter().count(), rules.len() + 1);
    }

    #[test]
    fn files_with_the_same_plain_rules_in_another_order_share_a_list() {
        for (rules, is_shared) in [
            (["disallow: /a", "disallow: /b"], true),
            (["disallow: /a", "disallow: /bc"], true),
            (["disallow: /a*b", "disallow: /a*c"], false),
            (["disallow: /ab$", "disallow: /abc"], false),
        ] {
            let [rules, reversed] = [rules, [rules[1], rules[0]]].map(|rules| rules.map(String::from));
            assert_eq!(list_of(&rules, &GOOGLE_LIB) == list_of(&reversed, &GOOGLE_LIB), is_shared, "{rules:?}");
        }
    }

    /// A rule has a header of nine bytes, its matcher, and the pattern with its length if it differs.
    #[test]
    fn lists_have_the_length_of_their_rules() {
        for (rule, len) in [("/", 9 + 1), ("/a*b$", 9 + 4), ("/a*", 9 + 2 + 4 + 3), ("", 9)] {
            assert_eq!(list_of(&[format!("disallow: {rule}")], &GOOGLE_LIB).byte_len(), len, "{rule}");
        }
    }

    #[test]
    fn rules_have_a_key_if_their_list_decides_together_with_others() {
        let (kind, arena) = (RuleKind::Disallow, Bump::new());
        let rules = [RawRule { kind, value: b"/a*", line: 2 }, RawRule { kind, value: b"/b$", line: 3 }];
        for is_part in [false, true] {
            let list = AssignedRules { rules: &rules, groups: &[], is_part };
            let (list, _) = order(&list, &GOOGLE_LIB, &arena, &mut OrderScratch::default());
            let found: Vec<_> = list.iter().map(|rule| (rule.matcher, rule.pattern, rule.key)).collect();
            let key = |pattern: &[u8]| is_part.then(|| key_of(pattern, kind, 0, Order::Longest));
            let expected = [(&b"/a"[..], Some(&b"/a*"[..]), key(b"/a*")), (b"/b", None, key(b"/b$"))];
            assert_eq!(found, expected, "{is_part}");
        }
    }

    #[test]
    fn compiled_rules_give_the_same_list() {
        for (dialect, rules) in [
            (&GOOGLE_LIB, &["disallow: /a", "allow: /a$", "disallow: /a*", "allow: /b*c**d$", "disallow: "][..]),
            (&GOOGLE_LIB, &["allow: /a/index.html", "allow: /*/index.htm", "disallow: /"]),
            (&GOOGLE_LIB, &["disallow: $", "disallow: **"]),
            (&KOSTER_1996, &["disallow: /a*b$c", "allow: /**", "disallow: /$", "disallow: /ab"]),
        ] {
            let list = list_of(&rules.iter().map(ToString::to_string).collect::<Vec<_>>(), dialect);
            let (arena, other) = (Bump::new(), Bump::new());
            let bytes = crate::automaton::compile(&list, crate::automaton::Strategy::Factored, &arena).unwrap();
            let listed = reptile_engine::automaton::Ruleset::new(&bytes).unwrap().rules().unwrap();
            assert_eq!(RuleList::from_compiled(&listed, &other), list, "{rules:?}");
        }
    }

    #[test]
    fn trailing_wildcards_are_not_counted() {
        for (pattern, len) in
            [("/a", 2), ("/a*", 2), ("/a**", 2), ("/a*$", 2), ("/a$", 3), ("/*a", 3), ("*", 0), ("*$", 0)]
        {
            assert_eq!(len_without_trailing_wildcards(pattern.as_bytes()), len, "{pattern}");
        }
    }
}
