//! Checking the whole of an automaton that comes from a file. Holds no walk.

use std::collections::{HashMap, HashSet};

use crate::format::automaton::{
    Automaton, Codes, Corrupt, MAX_STAR_BRANCHES, MAX_STAR_DEPTH, NEEDS_ALL, NO_CODE, NO_CODES, StateView,
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
        self.known(self.automaton.otherwise().unwrap_or(NO_CODE))?;
        self.automaton.texts()?.into_iter().try_for_each(|(code, _)| self.known(code))?;
        let mut listed = self.automaton.listed();
        let mut last = None;
        while let Some((code, _, mut pieces)) = listed.next_pattern()? {
            self.known(code)?;
            if last >= Some(code) || pieces.next_piece()?.is_none() {
                return Err(Corrupt);
            }
            while pieces.next_piece()?.is_some() {}
            last = Some(code);
        }
        Ok(())
    }

    /// Whether a code is one that a rule has, or none.
    fn known(&self, code: u32) -> Result<(), Corrupt> {
        let rules = self.automaton.rule_count();
        if code == NO_CODE || code / 2 < rules { Ok(()) } else { Err(Corrupt) }
    }

    /// Follows every reference from the head. Each state and star is looked at once, so that circles, which stars
    /// have, do no harm.
    fn references(&self) -> Result<(), Corrupt> {
        let automaton = self.automaton;
        let mut seen_states = HashSet::new();
        let mut seen_stars = HashSet::new();
        let mut chains: HashMap<usize, Chain> = HashMap::new();
        // Where a machine goes, how many stars are in front of it, and where its own is; for the head the way to it.
        let mut states: Vec<(usize, usize, usize)> = Vec::new();
        let mut ways: Vec<(usize, Way)> = automaton.head().map(|at| (at, Way::START)).into_iter().collect();
        let mut begin = |at: usize, depth: usize, states: &mut Vec<(usize, usize, usize)>| {
            let star = automaton.star(at)?;
            if seen_stars.insert(at) {
                star.best.into_iter().try_for_each(|code| self.known(code))?;
                states.extend(star.children.all()?.into_iter().map(|(_, next)| (next, depth, at)));
            }
            Ok(star)
        };
        while let Some((at, mut way)) = ways.pop() {
            if !seen_states.insert(at) {
                continue;
            }
            let state = automaton.state(at)?;
            self.codes(&state)?;
            way.depth += state.label()?.len();
            let codes = if state.accepts() { state.accept()? } else { way.codes };
            let at_end = if state.accepts_at_end() { state.accept_at_end()? } else { codes };
            let is_worse = |[allow, disallow]: Codes, than: Codes| allow > than[0] || disallow > than[1];
            if is_worse(codes, way.codes) || is_worse(at_end, codes) {
                return Err(Corrupt);
            }
            way.codes = codes;
            if state.has_stars() {
                let [(number, deciding), (all_number, first)] = state.chains()?;
                // Chains have their ends in common: each star is followed once, else a crafted file takes the square.
                let mut chain = Vec::new();
                let mut next = Some(first).filter(|&first| first != 0);
                let mut behind = Chain { best: NO_CODES, deciding_best: NO_CODES, from: 0, deciding: None };
                while let Some(at) = next {
                    if let Some(&known) = chains.get(&at) {
                        behind = known;
                        break;
                    }
                    let star = begin(at, 1, &mut states)?;
                    chain.push((at, star));
                    next = star.next;
                }
                for (at, star) in chain.into_iter().rev() {
                    let merge = |best: Codes| [best[0].min(star.best[0]), best[1].min(star.best[1])];
                    behind.best = merge(behind.best);
                    if star.deciding == Some(at) {
                        (behind.deciding_best, behind.deciding) = (merge(behind.deciding_best), Some(at));
                    }
                    if star.deciding != behind.deciding {
                        return Err(Corrupt);
                    }
                    behind.from = behind.from.max(star.from);
                    chains.insert(at, behind);
                }
                let (right, best) = match number {
                    NEEDS_ALL => (first, behind.best),
                    _ => (behind.deciding.unwrap_or(0), behind.deciding_best),
                };
                let count = state.stars()?.count();
                if behind.from > way.depth || deciding != right || (count, all_number) != (2, 0) || number > NEEDS_ALL {
                    return Err(Corrupt);
                }
                // A kind of rule that is left out must be stood in for by one that is not.
                let stands_in = |kind: usize| best[kind].min(codes[kind]) != NO_CODE || behind.best[kind] == NO_CODE;
                if !stands_in(0) || !stands_in(1) {
                    return Err(Corrupt);
                }
                way.stars = best;
            }
            let settled = best_of(way.stars) >= best_of(codes);
            let end = state.end();
            let verdicts = [(false, codes), (true, at_end)];
            let agree = |(at_end, [allow, disallow]): (bool, Codes)| end.disallows(at_end) == (disallow < allow);
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
            self.codes(&state)?;
            states.extend(state.children().all()?.into_iter().map(|(_, next)| (next, depth, own)));
            for (number, star) in state.stars()? {
                // A star stands in front of those that lead to it, so that there are no circles.
                if depth >= MAX_STAR_DEPTH || usize::from(number) >= MAX_STAR_BRANCHES || star >= own {
                    return Err(Corrupt);
                }
                begin(star, depth + 1, &mut states)?;
            }
        }
        if seen_stars.len() != automaton.star_count() as usize {
            return Err(Corrupt);
        }
        Ok(())
    }

    /// Whether the codes of a state are known, and its label is there.
    fn codes(&self, state: &StateView<'a, W>) -> Result<(), Corrupt> {
        state.label()?;
        state.accept()?.into_iter().chain(state.accept_at_end()?).try_for_each(|code| self.known(code))
    }
}

/// A star of the head and those that follow it.
#[derive(Clone, Copy)]
struct Chain {
    /// The best codes of them.
    best: Codes,
    /// The best codes of those that a verdict needs.
    deciding_best: Codes,
    /// The furthest place where one of them begins.
    from: usize,
    /// The first that a verdict needs.
    deciding: Option<usize>,
}

/// The way through the head to a state.
#[derive(Clone, Copy)]
struct Way {
    /// What has been accepted.
    codes: Codes,
    /// The best codes of the stars that have begun and that a verdict needs.
    stars: Codes,
    /// How many bytes have been read.
    depth: usize,
}

impl Way {
    const START: Way = Way { codes: NO_CODES, stars: NO_CODES, depth: 0 };
}

/// The smaller of the two codes.
fn best_of([allow, disallow]: Codes) -> u32 {
    allow.min(disallow)
}
