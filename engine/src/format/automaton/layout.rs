//! Limits, ranks, and the numbers of an automaton's layout.

use crate::verdict::RuleKind;

/// Means "no rank". Greater than every rank.
pub const NO_RANK: u32 = u32::MAX;

/// Maximum number of rules in a ruleset. Leaves two bits of a stored rank free for [`TextFlags`].
pub const MAX_RULES: usize = 1 << 29;

/// Maximum size of a ruleset's listed patterns in bytes. The compiler rejects a robots.txt that exceeds it. Decisions
/// do not depend on it.
pub const MAX_PATTERNS_BYTES: usize = 64 << 20;

/// Maximum nesting depth of wildcard automata. Bounds a walk's stack.
pub const MAX_WILDCARD_DEPTH: usize = 16;

/// Maximum number of wildcard automata that one wildcard automaton may lead to. A 64-bit word records which of them
/// have begun.
pub const MAX_WILDCARD_BRANCHES: usize = 64;

/// Maximum number of wildcard automata in a ruleset. The compiler creates fewer than 9,000.
pub const MAX_WILDCARDS: usize = 1 << 14;

/// Maximum number of passes over a path for one decision. Bounds its time.
///
/// There is one pass through the trie of each deciding ruleset, one for each wildcard automaton that may begin, and one
/// for each fallback pattern whose text before the first wildcard may start the path.
/// [`passes`](crate::automaton::passes) counts a ruleset's passes. With the longest path, 64 KiB, a decision reads at
/// most 16 million bytes. The maximum in 4,231 real files is 37 passes.
pub const MAX_PASSES: usize = 256;

/// Maximum stored size of a ruleset's fallback patterns in bytes. A walk that reads more returns an error. Each pattern
/// takes at least 16 bytes, so this also bounds their number. No real file has any.
pub const MAX_FALLBACK_BYTES: usize = 2 << 20;

/// Returns the rank of the rule at `place` in precedence order.
#[must_use]
pub const fn rank(place: u32, kind: RuleKind) -> u32 {
    place * 2 + kind as u32
}

/// Returns the kind of a rule with this rank.
#[must_use]
pub const fn kind_of(rank: u32) -> RuleKind {
    if rank & 1 == 0 { RuleKind::Allow } else { RuleKind::Disallow }
}

/// The best ranks of both kinds of rule: `[allow, disallow]`, [`NO_RANK`] if there is none.
pub type Ranks = [u32; 2];

/// Returns whether finding `others`, or worse ranks, would leave the verdict unchanged (*settled*).
///
/// The first argument contains the best ranks accepted so far.
#[must_use]
pub const fn settles([allow, disallow]: Ranks, others: Ranks) -> bool {
    if disallow < allow { others[0] > disallow } else { others[1] >= allow }
}

/// Replaces the number 0 of a trie state's list for verdicts if a verdict needs every wildcard automaton, including
/// those that [`WildcardAutomaton::deciding`](super::WildcardAutomaton::deciding) leaves out. Also applies to the
/// following states, up to the next one in which a wildcard begins.
pub const NEEDS_ALL: u8 = 1;

/// An index that means "no wildcard automaton".
pub const NO_WILDCARD: u32 = u32::MAX;

/// No rank for either kind of rule.
pub const NO_RANKS: Ranks = [NO_RANK; 2];

/// Flags of a pattern in the text table, stored in the two highest bits of its rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextFlags {
    /// The pattern shows a directory's index page and the rule also matches the directory: the pattern up to and
    /// including the last slash, with nothing after it.
    pub opens_directory: bool,
    /// Every `*` and `$` in the pattern is a literal byte. The matched text has bytes 00 and 0A instead, as in
    /// [`NormalForm`](crate::norm::NormalForm)s without operators.
    pub is_literal: bool,
}

impl TextFlags {
    /// Returns the two highest bits of a `W`-byte number.
    const fn bits<const W: usize>() -> (u32, u32) {
        (1 << (8 * W - 1), 1 << (8 * W - 2))
    }

    /// Splits a rank that is stored in `W` bytes into flags and rank.
    pub(super) const fn split<const W: usize>(stored: u32) -> (TextFlags, u32) {
        let (opens, literal) = TextFlags::bits::<W>();
        let flags = TextFlags { opens_directory: stored & opens != 0, is_literal: stored & literal != 0 };
        (flags, stored & !(opens | literal))
    }

    /// Returns a rank with these flags, as stored in `W` bytes.
    pub(super) const fn join<const W: usize>(self, rank: u32) -> u32 {
        let (opens, literal) = TextFlags::bits::<W>();
        rank | if self.opens_directory { opens } else { 0 } | if self.is_literal { literal } else { 0 }
    }
}

/// Maximum number of rules in an automaton with two-byte numbers. Ranks leave two bits of a stored rank free for
/// [`TextFlags`].
pub(super) const MAX_RULES_OF_TWO_BYTES: u32 = 1 << 13;

/// The header's numbers in order. The width precedes them.
#[derive(Clone, Copy)]
pub(super) enum HeaderField {
    /// The number of rules.
    Rules,
    /// The trie root's offset, or 0.
    Trie,
    /// The fallback patterns' offset, or 0.
    Fallbacks,
    /// The texts' offset, or 0.
    Texts,
    /// The joint ranks' offset, or 0.
    JointRanks,
    /// The offset at which the other parts end and the fingerprints begin, if there are any.
    Fingerprints,
    /// The rank of the rule with an empty pattern.
    Otherwise,
    /// The number of wildcard automata.
    Wildcards,
}

impl HeaderField {
    /// The number of fields.
    pub(super) const COUNT: usize = 8;

    /// Returns the field's offset if numbers have `width` bytes.
    pub(super) const fn at(self, width: usize) -> usize {
        1 + self as usize * width
    }
}

/// Returns the header's size in bytes: the width and the fields.
pub(super) const fn header_bytes(width: usize) -> usize {
    1 + HeaderField::COUNT * width
}

/// State header size in bytes: label length, flags, children.
pub(super) const STATE_HEADER_BYTES: usize = 3;

/// Returns the size of a wildcard automaton before its transitions in bytes: children, and six numbers.
pub(super) const fn wildcard_header_bytes(width: usize) -> usize {
    1 + 6 * width
}

/// Size of a fallback pattern's header in bytes, four for each field: rank, anchored, number of segments, size of the
/// segments.
pub(super) const FALLBACK_HEADER_BYTES: usize = 16;

pub(super) const FLAG_DISALLOWS: u8 = 0x10;
pub(super) const FLAG_DISALLOWS_AT_END: u8 = 0x20;
pub(super) const FLAG_WILDCARDS: u8 = 0x40;
pub(super) const FLAG_SETTLED: u8 = 0x80;

/// Maximum number of children that are stored as a list. More children get a table indexed by byte.
pub(super) const LIST_MAX: usize = 7;

/// Returns the maximum size of a child list in bytes.
///
/// A reader loads this many bytes at once even if the list is shorter, so at least this many bytes follow every list.
pub(super) const fn list_max_bytes(width: usize) -> usize {
    LIST_MAX * (1 + width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns flags and rank by arithmetic: the highest bit, the next one, and the rest.
    fn split_slowly(stored: u32, highest: u32) -> (TextFlags, u32) {
        let flags = TextFlags { opens_directory: stored / highest == 1, is_literal: stored % highest >= highest / 2 };
        (flags, stored % (highest / 2))
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn flags_are_the_highest_bits_of_every_number() {
        for stored in 0..=u32::from(u16::MAX) {
            let (flags, rank) = TextFlags::split::<2>(stored);
            assert_eq!((flags, rank), split_slowly(stored, 1 << 15), "{stored}");
            assert_eq!(flags.join::<2>(rank), stored);
            for other in [stored << 16, stored << 16 | 0xFFFF, stored, stored | 0xC000_0000] {
                let (flags, rank) = TextFlags::split::<4>(other);
                assert_eq!((flags, rank), split_slowly(other, 1 << 31), "{other}");
                assert_eq!(flags.join::<4>(rank), other);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn ranks_of_every_place_leave_the_bits_of_the_flags_free() {
        let of_two_bytes = (0..MAX_RULES_OF_TWO_BYTES).map(|place| (place, (1 << 14) - 1));
        let largest = MAX_RULES as u32 - 1;
        let of_four_bytes = (0..=65_536).chain(largest - 65_536..=largest).map(|place| (place, (1 << 30) - 1));
        let mut tried = 0;
        for (place, max) in of_two_bytes.chain(of_four_bytes) {
            let ranks = [RuleKind::Allow, RuleKind::Disallow].map(|kind| rank(place, kind));
            assert_eq!(ranks, [place + place, place + place + 1]);
            assert!(ranks[1] <= max);
            assert_eq!(ranks.map(kind_of), [RuleKind::Allow, RuleKind::Disallow]);
            tried += 1;
        }
        assert_eq!(tried, (1 << 13) + 2 * 65_537);
    }

    #[test]
    fn fields_follow_the_width_in_order_without_gaps() {
        use HeaderField::{Fallbacks, Fingerprints, JointRanks, Otherwise, Rules, Texts, Trie, Wildcards};
        let fields = [Rules, Trie, Fallbacks, Texts, JointRanks, Fingerprints, Otherwise, Wildcards];
        assert_eq!(fields.len(), HeaderField::COUNT);
        for width in [2, 4] {
            let mut at = 1;
            for field in fields {
                assert_eq!(field.at(width), at);
                at += width;
            }
            assert_eq!(header_bytes(width), at);
        }
    }
}
