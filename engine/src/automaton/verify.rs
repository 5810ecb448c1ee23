//! Checking the whole of an automaton that comes from a file. Holds no walk.

use std::collections::{HashMap, HashSet};

use crate::format::automaton::{
    Automaton, Corrupt, MAX_WILDCARD_BRANCHES, MAX_WILDCARD_DEPTH, NEEDS_ALL, NO_RANK, NO_RANKS, Ranks, StateView,
};

/// Checks an automaton without trusting it: see [`super::Ruleset::verify`].
pub(super) struct Verify<'a, const W: usize> {
    automaton: Automaton<'a, W>,
}

impl<'a, const W: usize> Verify<'a, W> {
    pub(super) fn new(automaton: Automaton<'a, W>) -> Self {
        Verify { automaton }
    }

    pub(super) fn run(&self) -> Result<(), Corrupt> {
        self.references()?;
        self.known(self.automaton.otherwise().unwrap_or(NO_RANK))?;
        self.automaton.texts()?.into_iter().try_for_each(|(rank, _)| self.known(rank))?;
        let mut fallbacks = self.automaton.fallbacks();
        let mut last = None;
        while let Some((rank, _, mut segments)) = fallbacks.next_pattern()? {
            self.known(rank)?;
            if last >= Some(rank) || segments.next_segment()?.is_none() {
                return Err(Corrupt);
            }
            while segments.next_segment()?.is_some() {}
            last = Some(rank);
        }
        Ok(())
    }

    /// Whether a rank is one that a rule has, or none.
    fn known(&self, rank: u32) -> Result<(), Corrupt> {
        let rules = self.automaton.rule_count();
        if rank == NO_RANK || rank / 2 < rules { Ok(()) } else { Err(Corrupt) }
    }

    /// Follows every reference from the trie. Each state and wildcard is looked at once, so that circles, which wildcards
    /// have, do no harm.
    fn references(&self) -> Result<(), Corrupt> {
        let automaton = self.automaton;
        let mut seen_states = HashSet::new();
        let mut seen_wildcards = HashSet::new();
        let mut chains: HashMap<usize, Chain> = HashMap::new();
        // Where a machine goes, how many wildcards are in front of it, and where its own is; for the trie the way to it.
        let mut states: Vec<(usize, usize, usize)> = Vec::new();
        let mut ways: Vec<(usize, Way)> = automaton.trie().map(|at| (at, Way::START)).into_iter().collect();
        let mut begin = |at: usize, depth: usize, states: &mut Vec<(usize, usize, usize)>| {
            let wildcard = automaton.wildcard(at)?;
            if seen_wildcards.insert(at) {
                wildcard.best.into_iter().try_for_each(|rank| self.known(rank))?;
                states.extend(wildcard.children.all()?.into_iter().map(|(_, next)| (next, depth, at)));
            }
            Ok(wildcard)
        };
        while let Some((at, mut way)) = ways.pop() {
            if !seen_states.insert(at) {
                continue;
            }
            let state = automaton.state(at)?;
            self.ranks(&state)?;
            way.depth += state.label()?.len();
            let ranks = if state.accepts() { state.accept()? } else { way.ranks };
            let at_end = if state.accepts_at_end() { state.accept_at_end()? } else { ranks };
            let is_worse = |[allow, disallow]: Ranks, than: Ranks| allow > than[0] || disallow > than[1];
            if is_worse(ranks, way.ranks) || is_worse(at_end, ranks) {
                return Err(Corrupt);
            }
            way.ranks = ranks;
            if state.has_wildcards() {
                let [(number, deciding), (all_number, first)] = state.chains()?;
                // Chains have their ends in common: each wildcard is followed once, else a crafted file takes the square.
                let mut chain = Vec::new();
                let mut next = Some(first).filter(|&first| first != 0);
                let mut behind = Chain { best: NO_RANKS, deciding_best: NO_RANKS, from: 0, deciding: None };
                while let Some(at) = next {
                    if let Some(&known) = chains.get(&at) {
                        behind = known;
                        break;
                    }
                    let wildcard = begin(at, 1, &mut states)?;
                    chain.push((at, wildcard));
                    next = wildcard.next;
                }
                for (at, wildcard) in chain.into_iter().rev() {
                    let merge = |best: Ranks| [best[0].min(wildcard.best[0]), best[1].min(wildcard.best[1])];
                    behind.best = merge(behind.best);
                    if wildcard.deciding == Some(at) {
                        (behind.deciding_best, behind.deciding) = (merge(behind.deciding_best), Some(at));
                    }
                    if wildcard.deciding != behind.deciding {
                        return Err(Corrupt);
                    }
                    behind.from = behind.from.max(wildcard.from);
                    chains.insert(at, behind);
                }
                let (right, best) = match number {
                    NEEDS_ALL => (first, behind.best),
                    _ => (behind.deciding.unwrap_or(0), behind.deciding_best),
                };
                let count = state.wildcards()?.count();
                if behind.from > way.depth || deciding != right || (count, all_number) != (2, 0) || number > NEEDS_ALL {
                    return Err(Corrupt);
                }
                // A kind of rule that is left out must be stood in for by one that is not.
                let stands_in = |kind: usize| best[kind].min(ranks[kind]) != NO_RANK || behind.best[kind] == NO_RANK;
                if !stands_in(0) || !stands_in(1) {
                    return Err(Corrupt);
                }
                way.wildcards = best;
            }
            let settled = best_of(way.wildcards) >= best_of(ranks);
            let end = state.end();
            let verdicts = [(false, ranks), (true, at_end)];
            let agree = |(at_end, [allow, disallow]): (bool, Ranks)| end.disallows(at_end) == (disallow < allow);
            if end.is_settled() != settled || !verdicts.into_iter().all(agree) {
                return Err(Corrupt);
            }
            way.depth += 1;
            ways.extend(state.children().all()?.into_iter().map(|(_, next)| (next, way)));
        }
        while let Some((at, depth, own)) = states.pop() {
            if !seen_states.insert(at) {
                continue;
            }
            let state = automaton.state(at)?;
            self.ranks(&state)?;
            states.extend(state.children().all()?.into_iter().map(|(_, next)| (next, depth, own)));
            for (number, wildcard) in state.wildcards()? {
                // A wildcard stands in front of those that lead to it, so that there are no circles.
                if depth >= MAX_WILDCARD_DEPTH || usize::from(number) >= MAX_WILDCARD_BRANCHES || wildcard >= own {
                    return Err(Corrupt);
                }
                begin(wildcard, depth + 1, &mut states)?;
            }
        }
        if seen_wildcards.len() != automaton.wildcard_count() as usize {
            return Err(Corrupt);
        }
        Ok(())
    }

    /// Whether the ranks of a state are known, and its label is there.
    fn ranks(&self, state: &StateView<'a, W>) -> Result<(), Corrupt> {
        state.label()?;
        state.accept()?.into_iter().chain(state.accept_at_end()?).try_for_each(|rank| self.known(rank))
    }
}

/// A wildcard of the trie and those that follow it.
#[derive(Clone, Copy)]
struct Chain {
    /// The best ranks of them.
    best: Ranks,
    /// The best ranks of those that a verdict needs.
    deciding_best: Ranks,
    /// The furthest place where one of them begins.
    from: usize,
    /// The first that a verdict needs.
    deciding: Option<usize>,
}

/// The way through the trie to a state.
#[derive(Clone, Copy)]
struct Way {
    /// What has been accepted.
    ranks: Ranks,
    /// The best ranks of the wildcards that have begun and that a verdict needs.
    wildcards: Ranks,
    /// How many bytes have been read.
    depth: usize,
}

impl Way {
    const START: Way = Way { ranks: NO_RANKS, wildcards: NO_RANKS, depth: 0 };
}

/// The smaller of the two ranks.
fn best_of([allow, disallow]: Ranks) -> u32 {
    allow.min(disallow)
}
