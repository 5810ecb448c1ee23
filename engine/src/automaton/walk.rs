//! The hot loops: a walk through the trie, and the wildcard automata that begin on it.
//!
//! [`crate::format::automaton`] names the invariants that make the walk correct. Nothing here allocates. Every function
//! marked `inline(always)` must be inlined into its caller, which is compiled for the processor's vector instructions
//! ([`crate::platform::search`]). On its own it could not use them.

use memchr::memmem;

use crate::format::automaton::{
    Automaton, Corrupt, FallbackReader, MAX_PASSES, MAX_WILDCARD_BRANCHES, MAX_WILDCARD_DEPTH, NEEDS_ALL, NO_RANKS,
    Ranks, Segments, StateView, TrieEnd, WildcardView, corrupt, kind_of, settles,
};
use crate::format::fingerprints::Fingerprints;
use crate::platform::{PLACES, Search, WithSearch, search};
use crate::steps::StepCounter;

/// Maximum number of steps in a pass (*passes*) for each byte of the path, and for its end.
///
/// In the trie and in wildcard automata, a byte leads to a state, is compared with a label byte, or both. In a wildcard
/// automaton, the search for a segment's start may also examine it. The fourth step considers an automaton that a state
/// leads to. One byte can lead to several, but each of these automata is a pass of its own. A fallback pattern takes
/// two steps.
pub const STEPS_OF_PASS: usize = 4;

/// The error for bytes that need more passes over the path than a compiler allows (*passes*).
pub(super) const TOO_MANY_PASSES: Corrupt = corrupt!(0, "up to 256 passes over one path", "more");

const _: () = assert!(MAX_PASSES == 256);

/// The count of a walk whose steps do not matter. In WebAssembly the walk that counts serves all, as in [`BUILT`].
#[cfg(not(target_family = "wasm"))]
pub(super) type Uncounted = ();
#[cfg(target_family = "wasm")]
pub(super) type Uncounted = usize;

/// End of a walk through the trie. States are offsets, 0 for none.
#[derive(Clone, Copy)]
pub(super) struct TrieWalkEnd {
    pub(super) end: TrieEnd,
    /// Whether the path ended after the last state's label.
    pub(super) at_end: bool,
    last: usize,
    /// Last state on the walk that accepts anything.
    accepting: usize,
    /// Last state on the walk at which a wildcard begins.
    with_wildcards: usize,
}

impl TrieWalkEnd {
    #[inline(always)]
    pub(super) fn with_wildcards(&self) -> bool {
        self.with_wildcards != 0
    }
}

/// Walks the trie over a path. Records offsets and reads no ranks, because most verdicts do without. WebAssembly has this
/// function once, not in each caller.
#[cfg_attr(target_family = "wasm", inline(never))]
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn walk_trie<const W: usize, C: StepCounter>(
    automaton: Automaton<'_, W>,
    path: &[u8],
    count: &mut C,
) -> Result<TrieWalkEnd, Corrupt> {
    let mut trie = TrieWalkEnd { end: TrieEnd::NOTHING, at_end: false, last: 0, accepting: 0, with_wildcards: 0 };
    let (mut next, mut rest) = (automaton.trie(), path);
    while let Some(at) = next {
        let state = automaton.state(at)?;
        count.add(1 + state.label_len().min(rest.len()));
        let Some(after) = state.after_label(path, rest)? else { break };
        trie.end = state.end();
        trie.last = at;
        trie.accepting = if state.accepts() { at } else { trie.accepting };
        trie.with_wildcards = if state.has_wildcards() { at } else { trie.with_wildcards };
        let Some((&byte, after)) = after.split_first() else {
            trie.at_end = true;
            break;
        };
        next = state.children().get(byte)?;
        rest = after;
    }
    Ok(trie)
}

/// The goal of a walk: the best rule of each kind.
pub(super) const OF_EACH_KIND: u8 = 0;

/// The goal of a walk: the best rule. Only the smallest rank matters, so the walk skips everything that cannot yield a
/// smaller one.
pub(super) const BEST: u8 = 1;

/// The goal of a walk: the verdict. Only the best rule's kind matters, so the walk skips even more.
pub(super) const VERDICT: u8 = 2;

/// The goal of the walk that the target runs for each goal. Browsers download WebAssembly, so there the walk that finds
/// the most serves all goals, which saves 4 % of the module.
pub(super) const BUILT: [u8; 3] =
    if cfg!(target_family = "wasm") { [OF_EACH_KIND; 3] } else { [OF_EACH_KIND, BEST, VERDICT] };

/// Ranks at least as good as any others.
const ANY_RANKS: Ranks = [0; 2];

/// A walk over one path, with a goal.
pub(super) struct Walk<'p, A, C, const GOAL: u8> {
    automaton: A,
    path: &'p [u8],
    best: Ranks,
    /// Whether the walk needs every wildcard automaton that begins in the trie, including those *left out*.
    needs_all: bool,
    /// Lower bounds of the ranks that the rest of the walk can find.
    rest: Ranks,
    /// Number of passes still allowed over the path (*passes*), after the pass through the trie.
    passes_left: u32,
    count: C,
}

impl<'w, 'a, 'p, const W: usize, C: StepCounter, const GOAL: u8> Walk<'p, &'w Automaton<'a, W>, C, GOAL> {
    #[inline(always)]
    fn accept(&mut self, ranks: Ranks) {
        self.best = [self.best[0].min(ranks[0]), self.best[1].min(ranks[1])];
    }

    /// Returns whether ranks that are no better than these could still change the answer.
    #[inline(always)]
    fn wants(&self, [allow, disallow]: Ranks) -> bool {
        if GOAL == OF_EACH_KIND {
            return allow < self.best[0] || disallow < self.best[1];
        }
        // If a disallow is best, a better one matters only if the walk may still find an allow between the two.
        let is_settled = GOAL == VERDICT && settles(self.best, self.rest);
        allow.min(disallow) < self.best[0].min(self.best[1]) && !is_settled
    }

    /// Returns the best ranks after a walk through the trie. A separate function, so that the loop over the trie keeps
    /// its values in registers. Arguments are references because copying a value just written would stall the
    /// processor.
    #[inline(never)]
    pub(super) fn after_trie(
        automaton: &'w Automaton<'a, W>,
        path: &'p [u8],
        trie: &TrieWalkEnd,
        count: &mut C,
    ) -> Result<Ranks, Corrupt> {
        let mut walk = Self::new(automaton, path, trie)?;
        // Before the wildcards, because the best disallow of all other patterns decides which wildcards can be skipped.
        walk.fallbacks(&mut automaton.fallbacks())?;
        if trie.with_wildcards() {
            let [for_verdicts, of_all] = automaton.state(trie.with_wildcards)?.lists()?;
            if let (number, first @ 1..) = if GOAL == VERDICT { for_verdicts } else { of_all } {
                walk.needs_all |= number == NEEDS_ALL;
                search(path, TrieWildcards { walk: &mut walk, first })?;
            }
        }
        count.merge(walk.count);
        Ok(walk.best)
    }

    /// Returns the best ranks, like [`Self::after_trie`], but starts from the candidates that [`search_first`] found.
    /// The walk skips the wildcard automata before `found` and does not search for its candidates again.
    #[inline(never)]
    pub(super) fn after_search(
        automaton: &'w Automaton<'a, W>,
        path: &'p [u8],
        trie: &TrieWalkEnd,
        found: &SearchHit,
    ) -> Result<Ranks, Corrupt> {
        let mut walk = Self::new(automaton, path, trie)?;
        walk.needs_all |= found.needs_all;
        let wildcard = automaton.wildcard(found.wildcard)?;
        let next = listed(automaton, wildcard.next, &walk.needs_all)?;
        if next.is_none() {
            walk.rest = wildcard.best;
        }
        if walk.wants(wildcard.best) {
            walk.begin(KnownPlaces(found.places), wildcard, wildcard.from, 0)?;
        }
        if let Some((first, _)) = next {
            search(path, TrieWildcards { walk: &mut walk, first })?;
        }
        Ok(walk.best)
    }

    /// Creates a walk that continues after the trie, with the best ranks accepted there.
    #[inline(always)]
    fn new(automaton: &'w Automaton<'a, W>, path: &'p [u8], trie: &TrieWalkEnd) -> Result<Self, Corrupt> {
        let best = if trie.at_end && automaton.state(trie.last)?.accepts_at_end() {
            automaton.state(trie.last)?.accept_at_end()?
        } else if trie.accepting != 0 {
            automaton.state(trie.accepting)?.accept()?
        } else {
            NO_RANKS
        };
        Ok(Walk {
            automaton,
            path,
            best,
            needs_all: GOAL != VERDICT,
            rest: ANY_RANKS,
            passes_left: MAX_PASSES as u32 - 1,
            count: C::default(),
        })
    }

    /// Runs the wildcard automata deferred by [`TrieWildcards`], as its second round.
    #[cold]
    fn left_over(&mut self, first: usize, left: u64) -> Result<(), Corrupt> {
        let mut next = Some(first);
        for number in 0..REMEMBERED {
            let Some((at, wildcard)) = listed(self.automaton, next, &self.needs_all)? else { break };
            self.count.add(1);
            if left >> number & 1 != 0 && wildcard.best[0] < self.best[1] && self.best[1] < self.best[0] {
                self.nested(at, wildcard.from, 0)?;
            }
            next = wildcard.next;
        }
        Ok(())
    }

    /// Begins a wildcard automaton after a segment found by another one.
    #[inline(never)]
    fn nested(&mut self, wildcard: usize, from: usize, depth: usize) -> Result<(), Corrupt> {
        let wildcard = self.automaton.wildcard(wildcard)?;
        if !self.wants(wildcard.best) {
            return Ok(());
        }
        search(self.path, NestedWildcard { walk: self, wildcard, from, depth })
    }

    /// Runs a wildcard automaton from `from` to the path's end, or until no rank that it could still find matters.
    #[inline(always)]
    fn begin(
        &mut self,
        mut candidates: impl Candidates,
        wildcard: WildcardView<'a, W>,
        from: usize,
        depth: usize,
    ) -> Result<(), Corrupt> {
        // Valid bytes never exceed these limits. Invalid ones may have wildcard automata that lead to each other in a
        // cycle (*nesting*).
        self.passes_left = self.passes_left.checked_sub(1).ok_or(TOO_MANY_PASSES)?;
        if depth >= MAX_WILDCARD_DEPTH {
            return Err(corrupt!(0, "wildcard automata that nest up to 16 deep", "deeper ones"));
        }
        let (automaton, path) = (*self.automaton, self.path);
        let mut begun = 0_u64;
        let mut at_root_from = from;
        self.count.add(path.len().min(PLACES));
        'root: while let Some(start) = candidates.next(at_root_from, &mut self.count) {
            let Some((&byte, mut rest)) = path.get(start..).and_then(<[u8]>::split_first) else { return Ok(()) };
            let Some(mut next) = wildcard.children.get(byte)? else {
                self.count.add(1);
                at_root_from = start + 1;
                continue;
            };
            loop {
                let state = automaton.state(next)?;
                let Some(after) = state.after_label(path, rest)? else {
                    let at = path.len() - rest.len();
                    let common = state.common_prefix(path, at)?;
                    self.count.add(1 + common);
                    at_root_from = at + common;
                    continue 'root;
                };
                self.count.add(1 + state.label_len());
                if state.accepts() {
                    self.accept(state.accept()?);
                }
                let Some((&byte, after_byte)) = after.split_first() else {
                    if state.accepts_at_end() {
                        self.accept(state.accept_at_end()?);
                    }
                    return Ok(());
                };
                if state.accepts() && !self.wants(wildcard.best) {
                    return Ok(());
                }
                if state.has_wildcards() {
                    begun = self.branch(state, begun, path.len() - after.len(), depth)?;
                    if GOAL == VERDICT && !self.wants(wildcard.best) {
                        return Ok(());
                    }
                }
                match state.children().get(byte)? {
                    Some(child) => (next, rest) = (child, after_byte),
                    None => {
                        at_root_from = path.len() - after.len();
                        continue 'root;
                    }
                }
            }
        }
        Ok(())
    }

    /// Begins the wildcard automata that a state leads to, unless they have already begun (*leftmost*).
    #[inline(always)]
    fn branch(&mut self, state: StateView<'a, W>, mut begun: u64, from: usize, depth: usize) -> Result<u64, Corrupt> {
        for (number, wildcard) in state.wildcards()? {
            if usize::from(number) >= MAX_WILDCARD_BRANCHES {
                return Err(corrupt!(wildcard, "up to 64 wildcard automata after one", "a higher number"));
            }
            let bit = 1 << number;
            self.count.add(1);
            if begun & bit == 0 {
                begun |= bit;
                self.nested(wildcard, from, depth + 1)?;
            }
        }
        Ok(begun)
    }

    /// Tries the fallback patterns, best first.
    #[inline(always)]
    fn fallbacks(&mut self, fallbacks: &mut FallbackReader<'a>) -> Result<(), Corrupt> {
        while let Some((rank, anchored, segments)) = fallbacks.next_pattern()? {
            let mut ranks = NO_RANKS;
            ranks[kind_of(rank) as usize] = rank;
            self.count.add(1);
            if self.wants(ranks) {
                if segments_match(segments, anchored, self.path, &mut self.passes_left, &mut self.count)? {
                    self.accept(ranks);
                }
            } else if GOAL != OF_EACH_KIND {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Returns the first needed wildcard automaton in a list, from `from` on, and its offset.
///
/// `needs_all` is a reference because a copy would take a register in the loop over a list (fresh URLs for *star*: 111
/// ns instead of 108).
#[inline(always)]
fn listed<'a, const W: usize>(
    automaton: &Automaton<'a, W>,
    from: Option<usize>,
    needs_all: &bool,
) -> Result<Option<(usize, WildcardView<'a, W>)>, Corrupt> {
    let Some(at) = from else { return Ok(None) };
    let wildcard = automaton.wildcard(at)?;
    if *needs_all || wildcard.deciding == Some(at) {
        return Ok(Some((at, wildcard)));
    }
    wildcard.deciding.map(|at| Ok((at, automaton.wildcard(at)?))).transpose()
}

/// The wildcard automata that begin in the trie, last one first.
struct TrieWildcards<'w, 'p, A, C, const GOAL: u8> {
    walk: &'w mut Walk<'p, A, C, GOAL>,
    first: usize,
}

/// The result of a search before the walk through the wildcard automata.
pub(super) enum SearchOutcome {
    /// No wildcard automaton can find a segment, so the trie decides.
    Nothing,
    /// A wildcard automaton may find one.
    Hit(SearchHit),
    /// There was no search.
    Unknown,
}

/// The first listed wildcard automaton that may find a segment, and its candidates.
pub(super) struct SearchHit {
    wildcard: usize,
    /// A bit for each place in the path at which a segment may begin.
    places: u128,
    /// Whether the list is of all wildcard automata, including those *left out*.
    needs_all: bool,
}

/// Searches a path for the segments of the wildcard automata that begin in the trie.
///
/// The search takes less time than a walk, and finds nothing in most paths.
///
/// Returns [`SearchOutcome::Unknown`] if the path is longer than two searches cover, the ruleset has fallback patterns,
/// its bytes are invalid, or there are no vector instructions.
#[inline(always)]
pub(super) fn search_first<const W: usize>(
    automaton: &Automaton<'_, W>,
    path: &[u8],
    trie: &TrieWalkEnd,
) -> SearchOutcome {
    if automaton.has_fallbacks() || path.len() > 2 * PLACES {
        return SearchOutcome::Unknown;
    }
    let lists = automaton.state(trie.with_wildcards).and_then(|state| state.lists());
    let Ok([(number, first), _]) = lists else { return SearchOutcome::Unknown };
    search(path, SearchFirst { automaton, path, first, needs_all: number == NEEDS_ALL })
}

/// Implements [`search_first`].
struct SearchFirst<'w, 'p, A> {
    automaton: &'w A,
    path: &'p [u8],
    first: usize,
    needs_all: bool,
}

impl<const W: usize> WithSearch for SearchFirst<'_, '_, Automaton<'_, W>> {
    type Output = SearchOutcome;

    #[inline(always)]
    fn with<S: Search>(self, search: S) -> SearchOutcome {
        let SearchFirst { automaton, path, first, needs_all } = self;
        if !S::IS_FAST {
            return SearchOutcome::Unknown;
        }
        let mut next = Some(first).filter(|&first| first != 0);
        // Valid lists are shorter (*passes*). The walk returns the error for longer ones.
        for _ in 0..MAX_PASSES {
            let (at, wildcard) = match listed(automaton, next, &needs_all) {
                Ok(Some(listed)) => listed,
                Ok(None) => return SearchOutcome::Nothing,
                // The walk returns the error.
                Err(_) => return SearchOutcome::Unknown,
            };
            let start = search.candidates(wildcard.fingerprints, 0);
            // Not skipped for short paths, because a branch on the path's length is unpredictable. For them, this
            // search begins at the path's end. Its bits are past the end in `places` too, so their shift is harmless.
            let rest = search.candidates(wildcard.fingerprints, path.len().min(PLACES));
            if start >> wildcard.from.min(PLACES) | rest != 0 {
                // The unspecified bits of the first block can only add candidates to the second.
                let places = u128::from(start) | u128::from(rest) << PLACES;
                return SearchOutcome::Hit(SearchHit { wildcard: at, places, needs_all });
            }
            next = wildcard.next;
        }
        SearchOutcome::Unknown
    }
}

/// Maximum number of wildcard automata from the trie that can be deferred. Real rulesets have up to five.
const REMEMBERED: usize = 64;

impl<const W: usize, C: StepCounter, const GOAL: u8> WithSearch for TrieWildcards<'_, '_, &Automaton<'_, W>, C, GOAL> {
    type Output = Result<(), Corrupt>;

    /// Runs the wildcard automata for a verdict, in two rounds. An automaton without a disallow better than the best
    /// allow matters only if some disallow would win otherwise. It is deferred to the second round, which then only
    /// looks for allows. Most rules are disallows and do not match, so the second round is rare.
    #[inline(always)]
    fn with<S: Search>(self, search: S) -> Result<(), Corrupt> {
        let TrieWildcards { walk, first } = self;
        let mut left = 0_u64;
        let mut next = Some(first);
        let mut number = 0;
        let mut first_candidates = FirstCandidates { last: None, found: 0, before: None, found_before: 0 };
        while let Some((_, wildcard)) = listed(walk.automaton, next, &walk.needs_all)? {
            walk.count.add(1);
            if GOAL == VERDICT && wildcard.best[1] >= walk.best[0] && number < REMEMBERED {
                left |= 1 << number;
            } else if walk.wants(wildcard.best) {
                let found = first_candidates.of(wildcard.fingerprints, search);
                // Most automata have no candidates, and most paths are no longer than the first search.
                if walk.path.len() > PLACES || found >> wildcard.from.min(PLACES) != 0 {
                    if GOAL == VERDICT && left == 0 && listed(walk.automaton, wildcard.next, &walk.needs_all)?.is_none()
                    {
                        walk.rest = wildcard.best;
                    }
                    let candidates = SearchedPlaces::new(search, wildcard.fingerprints, walk.path.len(), found);
                    walk.begin(candidates, wildcard, wildcard.from, 0)?;
                }
            }
            number += 1;
            next = wildcard.next;
        }
        if left != 0 && walk.best[1] < walk.best[0] {
            walk.left_over(first, left)?;
        }
        Ok(())
    }
}

/// The candidates at the start of a path, for the last two fingerprints. Consecutive wildcard automata often search for
/// the same segments, such as the automata of `/*x` and `/de/*x`.
struct FirstCandidates<'f> {
    last: Option<&'f Fingerprints>,
    found: u64,
    before: Option<&'f Fingerprints>,
    found_before: u64,
}

impl<'f> FirstCandidates<'f> {
    #[inline(always)]
    fn of<S: Search>(&mut self, fingerprints: &'f Fingerprints, search: S) -> u64 {
        // A ruleset stores equal fingerprints only once, so comparing addresses suffices.
        let is_same = |known: Option<&Fingerprints>| known.is_some_and(|known| std::ptr::eq(known, fingerprints));
        if is_same(self.last) {
            return self.found;
        }
        if is_same(self.before) {
            return self.found_before;
        }
        (self.before, self.found_before) = (self.last, self.found);
        (self.last, self.found) = (Some(fingerprints), search.candidates(fingerprints, 0));
        self.found
    }
}

/// A wildcard automaton begun by another one.
struct NestedWildcard<'m, 'w, 'a, 'p, C, const W: usize, const GOAL: u8> {
    walk: &'m mut Walk<'p, &'w Automaton<'a, W>, C, GOAL>,
    wildcard: WildcardView<'a, W>,
    from: usize,
    depth: usize,
}

impl<const W: usize, C: StepCounter, const GOAL: u8> WithSearch for NestedWildcard<'_, '_, '_, '_, C, W, GOAL> {
    type Output = Result<(), Corrupt>;

    #[inline(always)]
    fn with<S: Search>(self, search: S) -> Result<(), Corrupt> {
        let found = search.candidates(self.wildcard.fingerprints, 0);
        let candidates = SearchedPlaces::new(search, self.wildcard.fingerprints, self.walk.path.len(), found);
        self.walk.begin(candidates, self.wildcard, self.from, self.depth)
    }
}

/// Places where a segment may begin. Between them the automaton would stay at its root or return to it.
trait Candidates {
    /// Returns the first candidate at `at` or later. `at` must never decrease.
    fn next(&mut self, at: usize, count: &mut impl StepCounter) -> Option<usize>;
}

/// The candidates in a path of up to `2 * PLACES` bytes, one bit for each place.
struct KnownPlaces(u128);

impl Candidates for KnownPlaces {
    #[inline(always)]
    fn next(&mut self, at: usize, _count: &mut impl StepCounter) -> Option<usize> {
        let found = self.0.checked_shr(at as u32).filter(|&found| found != 0)?;
        Some(at + found.trailing_zeros() as usize)
    }
}

/// Candidates that are searched for block by block.
struct SearchedPlaces<'f, S> {
    search: S,
    fingerprints: &'f Fingerprints,
    len: usize,
    /// A bit for each place from `base` on.
    found: u64,
    base: usize,
}

impl<'f, S: Search> SearchedPlaces<'f, S> {
    /// `found` holds the candidates among the path's first places.
    #[inline(always)]
    fn new(search: S, fingerprints: &'f Fingerprints, len: usize, found: u64) -> Self {
        SearchedPlaces { search, fingerprints, len, found, base: 0 }
    }
}

impl<S: Search> Candidates for SearchedPlaces<'_, S> {
    #[inline(always)]
    fn next(&mut self, at: usize, count: &mut impl StepCounter) -> Option<usize> {
        let mut from = at;
        loop {
            let passed = from - self.base;
            if passed < PLACES {
                let found = self.found >> passed;
                let next = from + found.trailing_zeros() as usize;
                if found != 0 && next < self.base + PLACES {
                    return Some(next);
                }
                from = self.base + PLACES;
            }
            if from >= self.len {
                return None;
            }
            self.base = from;
            count.add(PLACES.min(self.len - from));
            self.found = self.search.candidates(self.fingerprints, from);
        }
    }
}

/// Returns whether a fallback pattern matches. Each segment is matched at its leftmost place after the previous one,
/// which leaves the most room for the rest (*leftmost*).
fn segments_match(
    mut segments: Segments<'_>,
    anchored: bool,
    path: &[u8],
    passes_left: &mut u32,
    count: &mut impl StepCounter,
) -> Result<bool, Corrupt> {
    let Some((first, only)) = segments.next_segment()? else {
        return Err(corrupt!(0, "a fallback pattern with a segment", "a fallback pattern without segments"));
    };
    count.add(first.len());
    let Some(mut rest) = path.strip_prefix(first) else { return Ok(false) };
    if only {
        return Ok(!anchored || rest.is_empty());
    }
    *passes_left = passes_left.checked_sub(1).ok_or(TOO_MANY_PASSES)?;
    while let Some((segment, last)) = segments.next_segment()? {
        count.add(1 + segment.len());
        if last && anchored {
            return Ok(rest.ends_with(segment));
        }
        let Some(at) = memmem::find(rest, segment) else {
            count.add(rest.len());
            return Ok(false);
        };
        count.add(at);
        rest = &rest[at + segment.len()..];
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::fingerprints::fingerprints_of;

    /// The bits of two blocks of places.
    #[derive(Clone, Copy)]
    struct Blocks(u64, u64);

    impl Search for Blocks {
        const IS_FAST: bool = true;

        fn candidates(self, _: &Fingerprints, base: usize) -> u64 {
            if base == 0 { self.0 } else { self.1 }
        }
    }

    /// Bits above the last place of a block are unspecified. The next block has the right ones.
    #[test]
    fn candidates_ignore_bits_above_the_places_of_a_block() {
        const LAST: usize = PLACES - 1;
        for (first, second, candidates) in [
            (1 << LAST, 1, &[LAST, PLACES][..]),
            (1 | 1 << (PLACES + 1), 1, &[0, PLACES]),
            (1 | 0b11 << PLACES, 0b100, &[0, PLACES + 2]),
            (1 << PLACES, 0, &[]),
            (0, 0b11, &[PLACES, PLACES + 1]),
        ] {
            let (search, fingerprints) = (Blocks(first, second), fingerprints_of(std::iter::empty()));
            let mut found = Vec::new();
            let mut all = SearchedPlaces::new(search, &fingerprints, 2 * PLACES, first);
            let mut at = 0;
            while let Some(candidate) = all.next(at, &mut ()) {
                found.push(candidate);
                at = candidate + 1;
            }
            assert_eq!(found, candidates, "{first:b} {second:b}");
        }
    }
}
