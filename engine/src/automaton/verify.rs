//! Verifies a complete automaton from a file.
//!
//! Checks the invariants that [`crate::format::automaton`] marks as checked by `verify`.
//!
//! The automaton is decoded, checked as a draft, written again, and compared. Each state, wildcard automaton, reference
//! and rule is examined a constant number of times, so the time is linear even if the references are invalid. Sorting
//! the fallback patterns' texts adds a logarithmic factor.

use super::list::{NOT_ALL, TrieRules, text_of};
use super::machine::Machines;
use super::passes::passes;
use super::walk::TOO_MANY_PASSES;
use crate::format::automaton::{
    AutomatonDraft, Corrupt, Decoded, MAX_PASSES, MAX_WILDCARD_BRANCHES, MAX_WILDCARD_DEPTH, NEEDS_ALL, NO_RANK,
    NO_RANKS, NO_WILDCARD, Ranks, State, corrupt, decode, kind_of, settles, write,
};
use crate::verdict::RuleKind;

/// Checks an automaton, and counts the steps.
pub(super) fn verify(bytes: &[u8]) -> (Result<(), Corrupt>, usize) {
    let decoded = match decode(bytes) {
        Ok(decoded) => decoded,
        Err(error) => return (Err(error), bytes.len()),
    };
    let draft = decoded.draft();
    let mut verify = Verifier {
        decoded: &decoded,
        draft: &draft,
        owner: vec![NOBODY; draft.states.len()],
        lists: Vec::with_capacity(draft.wildcards.len()),
        is_listed: vec![false; draft.wildcards.len()],
        steps: decoded.steps(),
    };
    let result = verify.run().and_then(|()| written_form(bytes, &draft));
    (result, verify.steps + bytes.len())
}

/// Checks that the bytes are exactly what a writer would write (*written form*).
fn written_form(bytes: &[u8], draft: &AutomatonDraft<'_>) -> Result<(), Corrupt> {
    let written =
        write(draft).map_err(|_| corrupt!(HEADER, "an automaton within the limits of the format", "a larger one"))?;
    match bytes.iter().zip(&written).position(|(a, b)| a != b) {
        Some(at) => Err(corrupt!(at, "the byte that a writer writes there", "another byte")),
        None if bytes.len() == written.len() => Ok(()),
        None => Err(corrupt!(bytes.len().min(written.len()), "as many bytes as a writer writes", "another number")),
    }
}

/// Offset of the header, which locates the texts and the fallback patterns.
const HEADER: usize = 0;

/// Special state owners, in place of a wildcard automaton's index: no owner yet, and the trie.
const NOBODY: u32 = u32::MAX;
const TRIE: u32 = u32::MAX - 1;

struct Verifier<'d> {
    decoded: &'d Decoded<'d>,
    draft: &'d AutomatonDraft<'d>,
    /// For each state, the wildcard automaton that it belongs to, or [`TRIE`].
    owner: Vec<u32>,
    /// For each wildcard automaton, the list that begins with it.
    lists: Vec<WildcardList>,
    /// For each wildcard automaton, whether it is in one of the trie's lists.
    is_listed: Vec<bool>,
    steps: usize,
}

/// A wildcard automaton that begins in the trie, and those after it in its list.
#[derive(Clone, Copy)]
struct WildcardList {
    /// Best ranks in the list.
    best: Ranks,
    /// Best ranks among the automata that a verdict needs.
    deciding_best: Ranks,
    /// Furthest place where an automaton in the list begins.
    from: usize,
    /// First automaton that a verdict needs.
    deciding: Option<u32>,
}

const NO_LIST: WildcardList = WildcardList { best: NO_RANKS, deciding_best: NO_RANKS, from: 0, deciding: None };

/// State of a walk from the trie's root.
#[derive(Clone, Copy)]
struct TrieWalk {
    /// The ranks accepted so far.
    ranks: Ranks,
    /// Best ranks of the wildcard automata that have begun and that a verdict needs.
    wildcards: Ranks,
    /// Number of bytes read.
    depth: usize,
}

const START: TrieWalk = TrieWalk { ranks: NO_RANKS, wildcards: NO_RANKS, depth: 0 };

impl Verifier<'_> {
    fn run(&mut self) -> Result<(), Corrupt> {
        // Comes first, because texts are looked up by rank.
        if !self.draft.texts.is_sorted_by(|a, b| a.rank < b.rank) {
            return Err(corrupt!(HEADER, "texts in the order of their ranks", "another order"));
        }
        self.check_trie_owner()?;
        self.check_wildcards()?;
        self.check_trie()?;
        self.check_fallbacks()?;
        self.check_passes()?;
        self.check_rules()
    }

    /// Checks that each slot has no rank, or the rank of an existing rule of the slot's kind (*ranks*).
    fn known(&self, ranks: Ranks, at: usize) -> Result<(), Corrupt> {
        let is_known = |(kind, rank): (RuleKind, u32)| {
            rank == NO_RANK || (rank / 2 < self.draft.rule_count && kind_of(rank) == kind)
        };
        match [(RuleKind::Allow, ranks[0]), (RuleKind::Disallow, ranks[1])].into_iter().all(is_known) {
            true => Ok(()),
            false => Err(corrupt!(at, "ranks of rules of their kind", "another rank")),
        }
    }

    fn known_state(&self, state: &State<'_>, index: usize) -> Result<(), Corrupt> {
        self.known(state.accept, self.decoded.state_at(index))?;
        self.known(state.accept_at_end, self.decoded.state_at(index))
    }

    /// Checks that ranks outside the trie have texts. Otherwise their rules could not be named (*listed*).
    fn named(&self, ranks: Ranks, at: usize) -> Result<(), Corrupt> {
        let is_named = |rank: u32| rank == NO_RANK || text_of(self.draft, rank).is_some();
        match ranks.into_iter().all(is_named) {
            true => Ok(()),
            false => Err(corrupt!(at, "rules with texts outside of the trie", "a rule without one")),
        }
    }

    /// Marks all states that a walk through the trie can reach as the trie's.
    fn check_trie_owner(&mut self) -> Result<(), Corrupt> {
        let mut open = Vec::from_iter(self.draft.has_trie.then_some(0));
        while let Some(state) = open.pop() {
            self.own(state, TRIE, &mut open)?;
        }
        Ok(())
    }

    /// Assigns a state to its owner (*nesting*), and adds its children to `open` if it had no owner.
    fn own(&mut self, index: usize, owner: u32, open: &mut Vec<usize>) -> Result<bool, Corrupt> {
        self.steps += 1;
        let (Some(slot), Some(state)) = (self.owner.get_mut(index), self.draft.states.get(index)) else {
            return Err(corrupt!(0, "a reference to a state", "another"));
        };
        if *slot == owner {
            return Ok(false);
        }
        if *slot != NOBODY {
            let at = self.decoded.state_at(index);
            return Err(corrupt!(at, "a state of one automaton", "a state that two automata reach"));
        }
        *slot = owner;
        open.extend(state.children.iter().map(|&(_, child)| child as usize));
        Ok(true)
    }

    /// Checks each wildcard automaton: it owns its states, its best ranks are its states' best ranks, the automata that
    /// it leads to come before it (*nesting*), and its place in the lists is right (*lists end*, *left out*).
    fn check_wildcards(&mut self) -> Result<(), Corrupt> {
        // Nesting height of each automaton, counting itself.
        let mut height: Vec<usize> = Vec::with_capacity(self.draft.wildcards.len());
        let mut is_nested = vec![false; self.draft.wildcards.len()];
        let mut machines = Machines::new(self.decoded, self.draft);
        for (index, wildcard) in self.draft.wildcards.iter().enumerate() {
            let at = self.decoded.wildcard_at(index);
            let (mut best, mut nested_height) = (NO_RANKS, 0);
            let mut numbers = [NO_WILDCARD; MAX_WILDCARD_BRANCHES];
            let mut open: Vec<usize> = wildcard.children.iter().map(|&(_, child)| child as usize).collect();
            if open.is_empty() {
                return Err(corrupt!(at, "a wildcard automaton with a segment", "no segment"));
            }
            while let Some(state_index) = open.pop() {
                if !self.own(state_index, index as u32, &mut open)? {
                    continue;
                }
                let state = &self.draft.states[state_index];
                self.known_state(state, state_index)?;
                self.named(state.accept, self.decoded.state_at(state_index))?;
                self.named(state.accept_at_end, self.decoded.state_at(state_index))?;
                if state.disallows || state.disallows_at_end || state.settled {
                    let at = self.decoded.state_at(state_index);
                    return Err(corrupt!(at, "a state without the flags of the trie", "such a flag"));
                }
                merge(&mut best, state.accept);
                merge(&mut best, state.accept_at_end);
                for &(number, nested) in state.wildcards {
                    self.steps += 1;
                    let known =
                        numbers.get_mut(usize::from(number)).filter(|known| [NO_WILDCARD, nested].contains(known));
                    let (Some(known), true) = (known, (nested as usize) < index) else {
                        let at = self.decoded.state_at(state_index);
                        return Err(corrupt!(at, "a wildcard automaton before this one, by one number", "another"));
                    };
                    *known = nested;
                    is_nested[nested as usize] = true;
                    nested_height = nested_height.max(height[nested as usize]);
                    merge(&mut best, self.draft.wildcards[nested as usize].best);
                }
            }
            height.push(nested_height + 1);
            if nested_height >= MAX_WILDCARD_DEPTH {
                return Err(corrupt!(at, "wildcard automata that nest up to 16 deep", "deeper ones"));
            }
            if best != wildcard.best {
                return Err(corrupt!(at, "the best ranks of the automaton's states", "other ranks"));
            }
            machines.check(index)?;
            self.check_list(index)?;
        }
        self.steps += machines.steps;
        self.check_list_members(&is_nested)
    }

    /// Records the list that begins with a wildcard automaton. The automata before it have already been recorded.
    fn check_list(&mut self, index: usize) -> Result<(), Corrupt> {
        let wildcard = &self.draft.wildcards[index];
        let mut list = wildcard.next.and_then(|next| self.lists.get(next as usize)).copied().unwrap_or(NO_LIST);
        merge(&mut list.best, wildcard.best);
        if wildcard.deciding == Some(index as u32) {
            merge(&mut list.deciding_best, wildcard.best);
            list.deciding = wildcard.deciding;
        }
        if wildcard.deciding != list.deciding {
            let at = self.decoded.wildcard_at(index);
            return Err(corrupt!(at, "the first automaton of the list that a verdict needs", "another"));
        }
        list.from = list.from.max(wildcard.from as usize);
        self.lists.push(list);
        Ok(())
    }

    /// Checks that every automaton either begins in the trie and is in a list, or is nested in others and has no list.
    fn check_list_members(&mut self, is_nested: &[bool]) -> Result<(), Corrupt> {
        let states = self.draft.states.iter().zip(&self.owner).filter(|&(_, &owner)| owner == TRIE);
        let first = states.flat_map(|(state, _)| state.wildcards.iter().map(|&(_, wildcard)| wildcard));
        let next = self.draft.wildcards.iter().filter_map(|wildcard| wildcard.next);
        for wildcard in first.chain(next) {
            if let Some(is_listed) = self.is_listed.get_mut(wildcard as usize) {
                *is_listed = true;
            }
        }
        for (index, wildcard) in self.draft.wildcards.iter().enumerate() {
            self.steps += 1;
            let is_plain = wildcard.from == 0 && wildcard.next.is_none() && wildcard.deciding.is_none();
            let is_listed = self.is_listed.get(index) == Some(&true);
            if is_listed == is_nested[index] || (!is_listed && !is_plain) {
                let at = self.decoded.wildcard_at(index);
                return Err(corrupt!(at, "an automaton that begins in the trie or after another", "both or neither"));
            }
        }
        Ok(())
    }

    /// Follows every path through the trie. A trie that is not a tree must not have wildcard automata. It may reach a
    /// state on several paths, which must agree.
    fn check_trie(&mut self) -> Result<(), Corrupt> {
        let mut seen: Vec<Option<Ranks>> = vec![None; self.draft.states.len()];
        let mut ways: Vec<(usize, TrieWalk)> = Vec::from_iter(self.draft.has_trie.then_some((0, START)));
        while let Some((index, way)) = ways.pop() {
            self.steps += 1;
            let (state, at) = (&self.draft.states[index], self.decoded.state_at(index));
            let accepts = state.accept != NO_RANKS;
            let ranks = if accepts { state.accept } else { way.ranks };
            if is_worse(ranks, way.ranks) {
                return Err(corrupt!(at, "ranks at least as good as those accepted before", "worse ranks"));
            }
            if let Some(before) = seen[index].replace(ranks) {
                if before != ranks || !self.draft.wildcards.is_empty() {
                    return Err(corrupt!(at, "a trie state that is reached on one way", "two ways"));
                }
                continue;
            }
            self.known_state(state, index)?;
            let at_end = if state.accept_at_end == NO_RANKS { ranks } else { state.accept_at_end };
            if is_worse(at_end, ranks) {
                return Err(corrupt!(at, "ranks at least as good as those accepted before", "worse ranks"));
            }
            let depth = way.depth + state.label.len();
            let wildcards =
                if state.wildcards.is_empty() { way.wildcards } else { self.begun(state, ranks, depth, at)? };
            let is_settled = settles(ranks, wildcards) && settles(at_end, wildcards);
            let disallows = |[allow, disallow]: Ranks| disallow < allow;
            let flags = (state.settled, state.disallows, state.disallows_at_end);
            if flags != (is_settled, disallows(ranks), disallows(at_end)) {
                return Err(corrupt!(at, "the flags that follow from the ranks", "other flags"));
            }
            let after = TrieWalk { ranks, wildcards, depth: depth + 1 };
            ways.extend(state.children.iter().map(|&(_, child)| (child as usize, after)));
        }
        Ok(())
    }

    /// Checks the lists of a trie state at which a wildcard begins (*lists are complete*, *left out*). Returns the best
    /// ranks of the automata that a verdict needs from that state on.
    fn begun(&self, state: &State<'_>, ranks: Ranks, depth: usize, at: usize) -> Result<Ranks, Corrupt> {
        let &[(number, deciding), (0, first)] = state.wildcards else {
            return Err(corrupt!(at, "two lists of wildcard automata", "something else"));
        };
        let Some(list) = self.lists.get(first as usize) else {
            return Err(corrupt!(at, "a list of wildcard automata", "no list"));
        };
        let (expected, best) = match number {
            NEEDS_ALL => (first, list.best),
            _ => (list.deciding.unwrap_or(NO_WILDCARD), list.deciding_best),
        };
        if number > NEEDS_ALL || deciding != expected || list.from > depth {
            return Err(corrupt!(at, "the list that a verdict needs", "another list"));
        }
        // If a verdict leaves out rules of a kind, a rule of that kind must remain.
        let is_left_out = |kind: usize| best[kind].min(ranks[kind]) == NO_RANK && list.best[kind] != NO_RANK;
        if is_left_out(0) || is_left_out(1) {
            return Err(corrupt!(at, "a list for verdicts with both kinds of rule", "a kind that is left out"));
        }
        Ok(best)
    }

    fn check_fallbacks(&mut self) -> Result<(), Corrupt> {
        self.steps += self.draft.fallbacks.len();
        for pattern in &self.draft.fallbacks {
            self.named([pattern.rank; 2], HEADER)?;
        }
        let is_known = self.draft.fallbacks.iter().all(|pattern| pattern.rank / 2 < self.draft.rule_count);
        match is_known && self.draft.fallbacks.is_sorted_by(|a, b| a.rank < b.rank) {
            true => Ok(()),
            false => Err(corrupt!(HEADER, "fallback patterns in the order of their ranks", "another order")),
        }
    }

    /// Checks that no path needs too many passes (*passes*).
    fn check_passes(&mut self) -> Result<(), Corrupt> {
        self.steps += self.draft.wildcards.len() + self.draft.fallbacks.len();
        if passes(self.draft) <= MAX_PASSES { Ok(()) } else { Err(TOO_MANY_PASSES) }
    }

    /// Checks that every rule can be listed exactly once (*ranks*, *listed*).
    fn check_rules(&mut self) -> Result<(), Corrupt> {
        let draft = self.draft;
        self.steps += draft.texts.len();
        for text in &draft.texts {
            let is_directory = kind_of(text.rank) == RuleKind::Allow && text.pattern.contains(&b'/');
            if text.pattern.is_empty() || (text.flags.opens_directory && !is_directory) {
                return Err(corrupt!(HEADER, "the pattern of a rule", "another text"));
            }
        }
        let in_trie = TrieRules::read(draft);
        let found = || in_trie.iter().flat_map(|trie| &trie.rules);
        let mut ranks: Vec<u32> = found().map(|rule| rule.rank).collect();
        ranks.sort_unstable();
        self.steps += ranks.len();
        if !ranks.is_sorted_by(|a, b| a < b) {
            return Err(NOT_ALL);
        }
        // Each rank occurs in the trie at most once, so each text is compared at most once.
        for (rule, text) in found().filter_map(|rule| Some((rule, text_of(draft, rule.rank)?))) {
            self.steps += text.pattern.len();
            let is_pattern = || in_trie.as_ref().is_some_and(|trie| trie.is_pattern(draft, rule, text.pattern));
            if text.flags == Default::default() && is_pattern() {
                return Err(corrupt!(HEADER, "texts that cannot be read off the trie", "one that can"));
            }
        }
        ranks.retain(|&rank| text_of(draft, rank).is_none());
        ranks.extend(draft.texts.iter().map(|text| text.rank).chain(draft.otherwise));
        ranks.sort_unstable();
        let is_each = ranks.iter().zip(0..).all(|(&rank, place)| rank / 2 == place);
        if is_each && ranks.len() == draft.rule_count as usize { Ok(()) } else { Err(NOT_ALL) }
    }
}

/// Returns whether either rank is worse than the other pair's rank for the same kind.
fn is_worse([allow, disallow]: Ranks, than: Ranks) -> bool {
    allow > than[0] || disallow > than[1]
}

/// Keeps the better rank for each kind.
fn merge(into: &mut Ranks, from: Ranks) {
    *into = [into[0].min(from[0]), into[1].min(from[1])];
}
