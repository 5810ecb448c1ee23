//! The rules of a ruleset, listed: from the table of texts and off the trie.

use crate::format::automaton::{
    Automaton, Corrupt, Decoded, Draft, MAX_PATTERNS_BYTES, NO_RANK, NO_RANKS, Ranks, Text, TextFlags, corrupt, kind_of,
};
use crate::norm::Pattern;
use crate::verdict::RuleKind;

/// A rule of a ruleset, as it was compiled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RulesetRule {
    /// Twice its place in the order of precedence, plus one for a disallow.
    pub rank: u32,
    /// Whether it allows or disallows.
    pub kind: RuleKind,
    /// The pattern in normal form, as it is shown. Empty for the rule that restricts nothing.
    pub pattern: Vec<u8>,
    /// Whether the rule matches, instead of the pattern, the directory of the index page that the pattern shows: the
    /// pattern up to and including its last slash, and nothing after it.
    pub opens_directory: bool,
    /// Whether every `*` and `$` of the pattern is a literal byte, which is matched as byte 00 or 0A
    /// ([`NormalForm`](crate::norm::NormalForm)s without operators). If not, `*` is a wildcard and a final `$` is the end
    /// anchor.
    pub is_literal: bool,
    /// The number by which it is compared with the rules of other rulesets, if its ruleset decides together with others.
    pub joint_rank: Option<u32>,
}

impl RulesetRule {
    /// Whether the rule matches a path in the normal form of its ruleset. By its definition, and linear in the pattern and
    /// the path together; [`super::Ruleset::matches`] is the fast way to the best rules.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        if self.opens_directory {
            let slash = memchr::memrchr(b'/', &self.pattern).map_or(0, |slash| slash + 1);
            return Pattern { text: &self.pattern[..slash], anchored: true }.matches(path);
        }
        if self.is_literal {
            let shown = |byte: u8| match byte {
                0 => b'*',
                b'\n' => b'$',
                byte => byte,
            };
            let start = path.get(..self.pattern.len()).unwrap_or_default();
            return path.len() >= self.pattern.len()
                && start.iter().copied().map(shown).eq(self.pattern.iter().copied());
        }
        Pattern::new(&self.pattern).matches(path)
    }
}

/// Every rule, by rank.
pub(super) fn rules(decoded: &Decoded<'_>) -> Result<Vec<RulesetRule>, Corrupt> {
    let draft = &decoded.draft();
    let joint_rank = |rank: u32| draft.joint_ranks.get((rank / 2) as usize).copied();
    let rule = |rank: u32, flags: TextFlags, pattern: Vec<u8>| RulesetRule {
        rank,
        kind: kind_of(rank),
        pattern,
        opens_directory: flags.opens_directory,
        is_literal: flags.is_literal,
        joint_rank: joint_rank(rank),
    };
    let texts = draft.texts.iter().map(|text| rule(text.rank, text.flags, text.pattern.to_vec()));
    let otherwise = draft.otherwise.map(|rank| rule(rank, TextFlags::default(), Vec::new()));
    let mut rules: Vec<RulesetRule> = texts.chain(otherwise).collect();
    if rules.len() < draft.rule_count as usize
        && let Some(trie) = TrieRules::read(draft)
    {
        let mut bytes_left = MAX_PATTERNS_BYTES;
        for found in trie.rules.iter().filter(|found| text_of(draft, found.rank).is_none()) {
            let pattern = trie.pattern(draft, found, bytes_left).ok_or(TOO_LONG)?;
            bytes_left -= pattern.len();
            rules.push(rule(found.rank, TextFlags::default(), pattern));
        }
    }
    rules.sort();
    let is_in_place = |(place, rule): (usize, &RulesetRule)| (rule.rank / 2) as usize == place;
    if rules.len() != draft.rule_count as usize || !rules.iter().enumerate().all(is_in_place) {
        return Err(NOT_ALL);
    }
    Ok(rules)
}

/// The error of a ruleset that does not list all of its rules.
pub(super) const NOT_ALL: Corrupt = corrupt!(0, "every rule listed once", "rules that are missing or listed twice");
const TOO_LONG: Corrupt = corrupt!(0, "up to 64 MiB of patterns", "more");

/// The text of a rank, if the table of texts has one. The table is in the order of the ranks.
pub(super) fn text_of<'d>(draft: &Draft<'d>, rank: u32) -> Option<Text<'d>> {
    let index = draft.texts.binary_search_by_key(&rank, |text| text.rank).ok()?;
    draft.texts.get(index).copied()
}

/// A rule that was read off the trie.
pub(super) struct TrieRule {
    pub(super) rank: u32,
    /// The state that accepts it.
    state: usize,
    /// Whether it is accepted only at the end of the path.
    anchored: bool,
    /// How many bytes its pattern has.
    pub(super) len: usize,
}

/// The rules that a trie accepts, each at the first state that does.
pub(super) struct TrieRules {
    /// In the order in which the trie was walked. In valid bytes each rank is here once.
    pub(super) rules: Vec<TrieRule>,
    /// The state before each state of the trie, and the byte in between.
    parents: Vec<Option<(usize, u8)>>,
}

impl TrieRules {
    /// Reads off a trie: a rank belongs to the state at which it first is better than what was accepted before. `None`
    /// if the trie is not a tree. Time linear in the states.
    pub(super) fn read(draft: &Draft<'_>) -> Option<TrieRules> {
        let mut parents = vec![None; draft.states.len()];
        let mut rules = Vec::new();
        let mut open: Vec<(usize, usize, Ranks)> = Vec::new();
        open.extend(draft.has_trie.then_some((0, 0, NO_RANKS)));
        while let Some((index, depth, before)) = open.pop() {
            let state = draft.states.get(index)?;
            let depth = depth + state.label.len();
            let or_else = |ranks: Ranks, other: Ranks| if ranks == NO_RANKS { other } else { ranks };
            let accepted = or_else(state.accept, before);
            let at_end = or_else(state.accept_at_end, accepted);
            for (ranks, than, anchored) in [(accepted, before, false), (at_end, accepted, true)] {
                for (&rank, _) in ranks.iter().zip(than).filter(|&(&rank, than)| rank != than && rank != NO_RANK) {
                    rules.push(TrieRule { rank, state: index, anchored, len: depth + usize::from(anchored) });
                }
            }
            for &(byte, child) in state.children {
                let parent = parents.get_mut(child as usize)?;
                if child == 0 || parent.replace((index, byte)).is_some() {
                    return None;
                }
                open.push((child as usize, depth + 1, accepted));
            }
        }
        Some(TrieRules { rules, parents })
    }

    /// The pattern of a rule, if it has at most `limit` bytes.
    fn pattern(&self, draft: &Draft<'_>, rule: &TrieRule, limit: usize) -> Option<Vec<u8>> {
        let mut pattern: Vec<u8> = Vec::with_capacity(Some(rule.len).filter(|&len| len <= limit)?);
        self.backwards(draft, rule, |part| pattern.extend(part.iter().rev()));
        pattern.reverse();
        Some(pattern)
    }

    /// Whether a rule's pattern is `text`. Reads no more than as many bytes as `text` has.
    pub(super) fn is_pattern(&self, draft: &Draft<'_>, rule: &TrieRule, text: &[u8]) -> bool {
        let (mut rest, mut is_equal) = (text, rule.len == text.len());
        if is_equal {
            self.backwards(draft, rule, |part| match rest.strip_suffix(part) {
                Some(before) => rest = before,
                None => is_equal = false,
            });
        }
        is_equal
    }

    /// Calls `visit` with the parts of a rule's pattern, the last first.
    fn backwards(&self, draft: &Draft<'_>, rule: &TrieRule, mut visit: impl FnMut(&[u8])) {
        if rule.anchored {
            visit(b"$");
        }
        let mut next = Some(rule.state);
        while let Some(index) = next {
            visit(draft.states.get(index).map_or(&[], |state| state.label));
            next = self.parents.get(index).copied().flatten().map(|(parent, byte)| {
                visit(&[byte]);
                parent
            });
        }
    }
}

/// The ranks whose patterns can be read off a draft's trie; `None` if its trie is not a tree. All other rules need a text
/// (*listed*). Time linear in the states.
#[must_use]
pub fn ranks_in_trie(draft: &Draft<'_>) -> Option<Vec<u32>> {
    Some(TrieRules::read(draft)?.rules.iter().map(|rule| rule.rank).collect())
}

/// The text of a rule without a text of its own: what the trie read when it accepted the rank.
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
