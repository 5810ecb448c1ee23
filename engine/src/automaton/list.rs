//! Lists a ruleset's rules, from the table of texts and from the trie.

use crate::format::automaton::{
    Automaton, AutomatonDraft, Corrupt, MAX_PATTERNS_BYTES, NO_RANK, NO_RANKS, PatternText, Ranks, TextFlags, corrupt,
    kind_of,
};
use crate::norm::Pattern;
use crate::verdict::RuleKind;

/// A rule in a ruleset, as it was compiled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RulesetRule {
    /// Twice the rule's index in order of precedence, plus one for a disallow.
    pub rank: u32,
    /// Allow or disallow.
    pub kind: RuleKind,
    /// The pattern in normal form, for display. Empty for a rule that restricts nothing.
    pub pattern: Vec<u8>,
    /// Whether the pattern names an index page and the rule matches that page's directory instead: exactly the pattern
    /// up to and including its last slash.
    pub opens_directory: bool,
    /// Whether every `*` and `$` in the pattern is literal and matches a byte 00 or 0A
    /// ([`NormalForm`](crate::norm::NormalForm)s without operators). Otherwise `*` is a wildcard and a final `$` is the
    /// end anchor.
    pub is_literal: bool,
    /// Rank among the rules of all rulesets that decide together with this one, if any do.
    pub joint_rank: Option<u32>,
}

impl RulesetRule {
    /// Returns whether the rule matches a path in the ruleset's normal form.
    ///
    /// Linear in pattern and path. [`super::Ruleset::matches`] finds the best rules faster.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        let flags = TextFlags { opens_directory: self.opens_directory, is_literal: self.is_literal };
        matches(&self.pattern, flags, path)
    }
}

/// Returns whether a rule with this pattern, for display, matches a path in normal form.
pub(super) fn matches(pattern: &[u8], flags: TextFlags, path: &[u8]) -> bool {
    if flags.opens_directory {
        let slash = memchr::memrchr(b'/', pattern).map_or(0, |slash| slash + 1);
        return Pattern { text: &pattern[..slash], anchored: true }.matches(path);
    }
    if flags.is_literal {
        let shown = |byte: u8| match byte {
            0 => b'*',
            b'\n' => b'$',
            byte => byte,
        };
        let start = path.get(..pattern.len()).unwrap_or_default();
        return path.len() >= pattern.len() && start.iter().copied().map(shown).eq(pattern.iter().copied());
    }
    Pattern::new(pattern).matches(path)
}

/// Returns every rule by rank. Reads the trie in place, because decoding the automaton would take several times the
/// memory of its rules.
///
/// Time: linear in the bytes, even if they are invalid.
pub(super) fn rules<const W: usize>(automaton: Automaton<'_, W>) -> Result<Vec<RulesetRule>, Corrupt> {
    let texts = automaton.texts()?;
    let rule_count = automaton.rule_count() as usize;
    // Each rule has a rank in the bytes, so an invalid rule count cannot allocate more than the bytes take.
    let mut rules = Vec::with_capacity(rule_count.min(automaton.byte_len() / W));
    let mut bytes_left = MAX_PATTERNS_BYTES;
    let mut add = |rank: u32, flags: TextFlags, pattern: &[u8]| {
        bytes_left = bytes_left.checked_sub(pattern.len()).ok_or(TOO_LONG)?;
        rules.push(RulesetRule {
            rank,
            kind: kind_of(rank),
            pattern: pattern.to_vec(),
            opens_directory: flags.opens_directory,
            is_literal: flags.is_literal,
            joint_rank: automaton.joint_rank(rank / 2).ok(),
        });
        Ok(())
    };
    for text in &texts {
        add(text.rank, text.flags, text.pattern)?;
    }
    if let Some(rank) = automaton.otherwise() {
        add(rank, TextFlags::default(), b"")?;
    }
    if texts.len() + usize::from(automaton.otherwise().is_some()) < rule_count {
        each_in_trie(automaton, |rank, pattern| match texts.binary_search_by_key(&rank, |text| text.rank) {
            Ok(_) => Ok(()),
            Err(_) => add(rank, TextFlags::default(), pattern),
        })?;
    }
    rules.sort_unstable_by_key(|rule| rule.rank);
    let is_in_place = |(place, rule): (usize, &RulesetRule)| (rule.rank / 2) as usize == place;
    if rules.len() != rule_count || !rules.iter().enumerate().all(is_in_place) {
        return Err(NOT_ALL);
    }
    Ok(rules)
}

/// Calls `visit` with each rank that a trie accepts and the pattern that leads there, at the first accepting state.
fn each_in_trie<const W: usize>(
    automaton: Automaton<'_, W>,
    mut visit: impl FnMut(u32, &[u8]) -> Result<(), Corrupt>,
) -> Result<(), Corrupt> {
    // In a tree, no two states share bytes.
    let mut bytes_left = automaton.byte_len();
    let mut path = Vec::new();
    let mut open: Vec<(usize, usize, Option<u8>, Ranks)> = Vec::new();
    open.extend(automaton.trie().map(|root| (root, 0, None, NO_RANKS)));
    while let Some((at, depth, byte, before)) = open.pop() {
        let state = automaton.state(at)?;
        let children = state.children().all()?;
        bytes_left = bytes_left.checked_sub(1 + state.label_len() + children.len()).ok_or(NOT_ALL)?;
        path.truncate(depth);
        path.extend(byte);
        path.extend_from_slice(state.label()?);
        let accepted = or_else(state.accept()?, before);
        let at_end = or_else(state.accept_at_end()?, accepted);
        for rank in new_ranks(accepted, before) {
            visit(rank, &path)?;
        }
        let depth = path.len();
        path.push(b'$');
        for rank in new_ranks(at_end, accepted) {
            visit(rank, &path)?;
        }
        open.extend(children.into_iter().map(|(byte, child)| (child, depth, Some(byte), accepted)));
    }
    Ok(())
}

/// Returns the ranks that hold at a trie state: its own, or `other` if it has none.
fn or_else(ranks: Ranks, other: Ranks) -> Ranks {
    if ranks == NO_RANKS { other } else { ranks }
}

/// Returns the ranks that differ from `before`.
fn new_ranks(ranks: Ranks, before: Ranks) -> impl Iterator<Item = u32> {
    ranks.into_iter().zip(before).filter(|&(rank, before)| rank != before && rank != NO_RANK).map(|(rank, _)| rank)
}

/// The error for a ruleset that does not list all its rules.
pub(super) const NOT_ALL: Corrupt = corrupt!(0, "every rule listed once", "rules that are missing or listed twice");
const TOO_LONG: Corrupt = corrupt!(0, "up to 64 MiB of patterns", "more");

/// Returns a rank's text from the table, which is sorted by rank.
pub(super) fn text_of<'d>(draft: &AutomatonDraft<'d>, rank: u32) -> Option<PatternText<'d>> {
    let index = draft.texts.binary_search_by_key(&rank, |text| text.rank).ok()?;
    draft.texts.get(index).copied()
}

/// A rule read from the trie. Kept small, because a ruleset may have millions.
pub(super) struct TrieRule {
    pub(super) rank: u32,
    /// The accepting state.
    state: u32,
    /// Length of the pattern in bytes. A robots.txt is far shorter than 4 GiB, so it fits.
    len: u32,
    /// Whether the rule is accepted only at the end of the path.
    anchored: bool,
}

/// The rules that a trie accepts, each at its first accepting state.
pub(super) struct TrieRules {
    /// Rules in traversal order. In valid bytes each rank occurs once.
    pub(super) rules: Vec<TrieRule>,
    /// Each state's parent, or [`NO_STATE`], and the byte that leads from the parent to the state.
    parents: Vec<(u32, u8)>,
}

/// Parent of the root and of states outside the trie.
const NO_STATE: u32 = u32::MAX;

impl TrieRules {
    /// Reads the rules from a trie. A rank belongs to the first state at which it is better than the ranks accepted
    /// before. Returns `None` if the trie is not a tree. Linear in the states.
    pub(super) fn read(draft: &AutomatonDraft<'_>) -> Option<TrieRules> {
        let mut parents = vec![(NO_STATE, 0); draft.states.len()];
        let mut rules = Vec::new();
        let mut open: Vec<(u32, usize, Ranks)> = Vec::new();
        open.extend(draft.has_trie.then_some((0, 0, NO_RANKS)));
        while let Some((index, depth, before)) = open.pop() {
            let state = draft.states.get(index as usize)?;
            let depth = depth + state.label.len();
            let accepted = or_else(state.accept, before);
            let at_end = or_else(state.accept_at_end, accepted);
            for (ranks, than, anchored) in [(accepted, before, false), (at_end, accepted, true)] {
                let len = u32::try_from(depth + usize::from(anchored)).ok()?;
                rules.extend(new_ranks(ranks, than).map(|rank| TrieRule { rank, state: index, anchored, len }));
            }
            for &(byte, child) in state.children {
                let parent = parents.get_mut(child as usize)?;
                if child == 0 || std::mem::replace(parent, (index, byte)).0 != NO_STATE {
                    return None;
                }
                open.push((child, depth + 1, accepted));
            }
        }
        Some(TrieRules { rules, parents })
    }

    /// Returns whether a rule's pattern is `text`. Linear in `text`.
    pub(super) fn is_pattern(&self, draft: &AutomatonDraft<'_>, rule: &TrieRule, text: &[u8]) -> bool {
        let (mut rest, mut is_equal) = (text, rule.len as usize == text.len());
        if is_equal {
            self.backwards(draft, rule, |part| match rest.strip_suffix(part) {
                Some(before) => rest = before,
                None => is_equal = false,
            });
        }
        is_equal
    }

    /// Calls `visit` with the parts of a rule's pattern, last part first.
    fn backwards(&self, draft: &AutomatonDraft<'_>, rule: &TrieRule, mut visit: impl FnMut(&[u8])) {
        if rule.anchored {
            visit(b"$");
        }
        let mut state = rule.state;
        while state != NO_STATE {
            visit(draft.states.get(state as usize).map_or(&[], |state| state.label));
            let (parent, byte) = self.parents.get(state as usize).copied().unwrap_or((NO_STATE, 0));
            if parent != NO_STATE {
                visit(&[byte]);
            }
            state = parent;
        }
    }
}

/// Returns the ranks whose patterns can be read from a draft's trie.
///
/// Returns `None` if the trie is not a tree. All other rules need a text (*listed*). Linear in the states.
#[must_use]
pub fn ranks_in_trie(draft: &AutomatonDraft<'_>) -> Option<Vec<u32>> {
    Some(TrieRules::read(draft)?.rules.iter().map(|rule| rule.rank).collect())
}

/// Returns the pattern of a rule without a text: the bytes that the trie has read when it accepts the rank.
pub(super) fn pattern_in_trie<const W: usize>(
    automaton: Automaton<'_, W>,
    rank: u32,
    path: &[u8],
) -> Result<Vec<u8>, Corrupt> {
    const NO_SUCH_RULE: Corrupt = corrupt!(0, "a trie that accepts the rule", "another trie");
    let mut state = automaton.state(automaton.trie().ok_or(NO_SUCH_RULE)?)?;
    let mut rest = path;
    loop {
        rest = rest.strip_prefix(state.label()?).ok_or(NO_SUCH_RULE)?;
        let read = &path[..path.len() - rest.len()];
        if state.accept()?.contains(&rank) {
            return Ok(read.to_vec());
        }
        if state.accept_at_end()?.contains(&rank) {
            return Ok([read, b"$"].concat());
        }
        let (&byte, after) = rest.split_first().ok_or(NO_SUCH_RULE)?;
        state = automaton.state(state.children().get(byte)?.ok_or(NO_SUCH_RULE)?)?;
        rest = after;
    }
}
