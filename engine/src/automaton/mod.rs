//! Walking one ruleset's automaton over one path.
//!
//! Holds the run-time loop and nothing of the bytes ([`crate::format::automaton`]) or of how they came to be (the
//! compiler's `automaton`). [`Ruleset::verdict`] is the fast question, [`Ruleset::matches`] the full one.
//!
//! A walk takes no memory but its stack, which is bounded by [`MAX_WILDCARD_DEPTH`]. It looks at the path once in the
//! trie and once in each wildcard that it begins, and begins each wildcard once at most: wildcards are begun at the
//! leftmost place where the text in front of them occurs, and whatever could follow a later occurrence also
//! follows that one.

use std::collections::HashSet;

use memchr::memmem;

use crate::format::automaton::{
    Automaton, Corrupt, FallbackReader, MAX_PATTERNS_BYTES, MAX_WILDCARD_BRANCHES, MAX_WILDCARD_DEPTH, NEEDS_ALL,
    NO_RANK, NO_RANKS, Ranks, Segments, StateView, TrieEnd, Width, WildcardView, kind_of, width,
};
use crate::platform::{Fingerprints, PLACES, Search, WithSearch, search};
use crate::verdict::{RuleKind, Verdict};

mod verify;

use verify::Verify;

/// The rules of one group, compiled: a view of bytes in a set. Free to copy.
#[derive(Clone, Copy)]
pub struct Ruleset<'a> {
    bytes: &'a [u8],
    width: Width,
}

/// The best rule of each kind that matches a path, as ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matches {
    /// The rank of the best `Allow`, if one matches.
    pub allow: Option<u32>,
    /// The rank of the best `Disallow`, if one matches.
    pub disallow: Option<u32>,
    /// The verdict that follows.
    pub verdict: Verdict,
    /// The rank of the rule that the verdict rests on.
    pub decided_by: Option<u32>,
}

macro_rules! by_width {
    ($ruleset:expr, $automaton:ident => $body:expr) => {
        match $ruleset.width {
            Width::Two => {
                let $automaton = Automaton::<2>::new($ruleset.bytes);
                $body
            }
            Width::Four => {
                let $automaton = Automaton::<4>::new($ruleset.bytes);
                $body
            }
        }
    };
}

impl<'a> Ruleset<'a> {
    /// Views the bytes of an automaton. Looks at the header only.
    ///
    /// # Errors
    /// When the bytes do not begin like an automaton.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Result<Ruleset<'a>, Corrupt> {
        Ok(Ruleset { bytes, width: width(bytes)? })
    }

    /// How many rules it has.
    #[must_use]
    pub fn rule_count(&self) -> u32 {
        by_width!(self, automaton => automaton.rule_count())
    }

    /// How many bytes it takes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Which parts it is made of, for people.
    #[must_use]
    pub fn shape(&self) -> Shape {
        by_width!(self, automaton => Shape {
            trie: automaton.trie().is_some(),
            wildcards: automaton.wildcard_count(),
            fallbacks: !matches!(automaton.fallbacks().next_pattern(), Ok(None)),
        })
    }

    /// `Allow` or `Disallow` for a path in the set's normal form.
    ///
    /// Stops as soon as no rule that could still match would change the answer. No allocation, no panic.
    ///
    /// Cost: at most [`STEPS_OF_TRIE`] steps for each byte of the path and its end in the trie; for each wildcard that is
    /// begun, which each is once at most, [`STEPS_OF_WILDCARD`]; and for each listed pattern two for each byte of the
    /// path and one for each of its text and its end. WildcardCount are begun in the trie where their text in front has been
    /// read, and behind other wildcards, of which the compiler makes no more than a few hundred in a ruleset.
    /// [`Self::verdict_counted`] counts.
    ///
    /// # Errors
    /// When the automaton is damaged.
    #[inline]
    pub fn verdict(&self, path: &[u8]) -> Result<Verdict, Corrupt> {
        self.verdict_with(path, &mut ())
    }

    /// As [`Self::verdict`], and counts the steps: states, bytes of labels, wildcards that are looked at, places at which a
    /// wildcard looks for its segments, and bytes that listed patterns are compared with. For tests; the walk is the same.
    ///
    /// # Errors
    /// As [`Self::verdict`].
    pub fn verdict_counted(&self, path: &[u8]) -> Result<(Verdict, usize), Corrupt> {
        let mut steps = 0;
        let verdict = self.verdict_with(path, &mut steps)?;
        Ok((verdict, steps))
    }

    #[inline(always)]
    fn verdict_with<C: Count>(&self, path: &[u8], count: &mut C) -> Result<Verdict, Corrupt> {
        by_width!(self, automaton => {
            let trie = walk_trie(automaton, path, count)?;
            let disallows = if trie.end.is_settled() && !automaton.has_fallbacks() {
                trie.end.disallows(trie.at_end)
            } else {
                let [allow, disallow] = Walk::<'_, _, _, true>::after_trie(automaton, path, trie, count)?;
                disallow < allow
            };
            Ok(if disallows { Verdict::Disallow } else { Verdict::Allow })
        })
    }

    /// The best rule of each kind for a path in the set's normal form, and what follows from them.
    ///
    /// # Errors
    /// When the automaton is damaged.
    pub fn matches(&self, path: &[u8]) -> Result<Matches, Corrupt> {
        let (best, otherwise) = by_width!(self, automaton => {
            let trie = walk_trie(automaton, path, &mut ())?;
            (Walk::<'_, _, _, false>::after_trie(automaton, path, trie, &mut ())?, automaton.otherwise())
        });
        let [allow, disallow] = best.map(some_rank);
        Ok(match otherwise {
            Some(otherwise) if best == NO_RANKS => Matches {
                allow: Some(otherwise).filter(|&rank| kind_of(rank) == RuleKind::Allow),
                disallow: Some(otherwise).filter(|&rank| kind_of(rank) == RuleKind::Disallow),
                // An empty pattern restricts nothing, whichever word stands in front of it.
                verdict: Verdict::Allow,
                decided_by: Some(otherwise),
            },
            _ => Matches {
                allow,
                disallow,
                verdict: if best[1] < best[0] { Verdict::Disallow } else { Verdict::Allow },
                decided_by: some_rank(best[0].min(best[1])),
            },
        })
    }

    /// The pattern of a rule that [`Self::matches`] named for this path.
    ///
    /// # Errors
    /// When the automaton is damaged, or the rule is none that matches the path.
    pub fn pattern(&self, rank: u32, path: &[u8]) -> Result<Vec<u8>, Corrupt> {
        by_width!(self, automaton => {
            if automaton.otherwise() == Some(rank) {
                return Ok(Vec::new());
            }
            match automaton.text(rank)? {
                Some(text) => Ok(text.to_vec()),
                None => trie_pattern(automaton, rank, path),
            }
        })
    }

    /// The place of a rank's rule among the rules of all rulesets that decide together; the smaller wins.
    ///
    /// # Errors
    /// When this ruleset decides alone, or has no such rule.
    pub fn key(&self, rank: u32) -> Result<u32, Corrupt> {
        by_width!(self, automaton => automaton.key(rank / 2))
    }

    /// Every rule that can decide something, as rank and pattern, in the order of precedence. A rule that says
    /// the same as another of its kind which comes first is not among them.
    ///
    /// # Errors
    /// When the automaton is damaged.
    pub fn rules(&self) -> Result<Vec<(u32, Vec<u8>)>, Corrupt> {
        let mut rules = by_width!(self, automaton => all_rules(automaton)?);
        rules.sort();
        Ok(rules)
    }

    /// Reads the whole automaton and checks that every reference leads to something that makes sense.
    ///
    /// Cost: time linear in its bytes.
    ///
    /// # Errors
    /// When one does not.
    pub fn verify(&self) -> Result<(), Corrupt> {
        by_width!(self, automaton => Verify::new(automaton).run())
    }
}

/// Counts the steps of a walk, or does not.
trait Count: Default {
    /// So many more.
    fn add(&mut self, steps: usize);

    /// Those of another count too.
    fn merge(&mut self, other: Self);
}

/// Does not count, and costs nothing.
impl Count for () {
    #[inline(always)]
    fn add(&mut self, _steps: usize) {}

    #[inline(always)]
    fn merge(&mut self, (): ()) {}
}

impl Count for usize {
    fn add(&mut self, steps: usize) {
        *self += steps;
    }

    fn merge(&mut self, other: usize) {
        *self += other;
    }
}

/// Steps that the trie takes at most for a byte of the path, or for its end: the byte leads to a state, or is compared
/// with one of a label, and both may have to be looked at.
pub const STEPS_OF_TRIE: usize = 2;

/// Steps that a wildcard takes at most for a byte of the path, or for its end: those of the trie, the search for the
/// beginning of a segment, and a look at each of the wildcards that a state leads to.
pub const STEPS_OF_WILDCARD: usize = 3 + MAX_WILDCARD_BRANCHES;

fn some_rank(rank: u32) -> Option<u32> {
    Some(rank).filter(|&rank| rank != NO_RANK)
}

/// Which parts an automaton has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Whether there is a trie.
    pub trie: bool,
    /// How many wildcards.
    pub wildcards: u32,
    /// Whether patterns are listed outside of the machine.
    pub fallbacks: bool,
}

/// How a walk through the trie ended: offsets of states, 0 for none, and what the last one says.
#[derive(Clone, Copy)]
struct Trie {
    end: TrieEnd,
    /// Whether the path ended behind the label of the last state.
    at_end: bool,
    last: usize,
    /// The last state that accepts something.
    accepting: usize,
    /// The last state in which a wildcard begins.
    starring: usize,
}

/// Walks the trie over a path. Only remembers where it was; what there is to be read there is mostly not needed.
#[inline(always)]
fn walk_trie<const W: usize, C: Count>(
    automaton: Automaton<'_, W>,
    path: &[u8],
    count: &mut C,
) -> Result<Trie, Corrupt> {
    let mut trie = Trie { end: TrieEnd::NOTHING, at_end: false, last: 0, accepting: 0, starring: 0 };
    let (mut next, mut from) = (automaton.trie(), 0);
    while let Some(at) = next {
        let state = automaton.state(at)?;
        count.add(1 + state.label_len().min(path.len() - from));
        let Some(behind) = state.behind_label(path, from)? else { break };
        trie.end = state.end();
        trie.last = at;
        trie.accepting = if state.accepts() { at } else { trie.accepting };
        trie.starring = if state.has_wildcards() { at } else { trie.starring };
        let Some(&byte) = path.get(behind) else {
            trie.at_end = true;
            break;
        };
        next = state.children().get(byte)?;
        from = behind + 1;
    }
    Ok(trie)
}

/// One walk. `FIRST` asks for the verdict alone: then only the smallest rank of all matters, and the walk leaves
/// out whatever cannot be smaller.
struct Walk<'p, A, C, const FIRST: bool> {
    automaton: A,
    path: &'p [u8],
    best: Ranks,
    /// Whether the question needs all wildcards that have begun in the trie.
    needs_all: bool,
    wildcards_left: u32,
    count: C,
}

impl<'a, 'p, const W: usize, C: Count, const FIRST: bool> Walk<'p, Automaton<'a, W>, C, FIRST> {
    #[inline(always)]
    fn accept(&mut self, ranks: Ranks) {
        self.best = [self.best[0].min(ranks[0]), self.best[1].min(ranks[1])];
    }

    /// Whether ranks at least as great as these could still change the answer.
    #[inline(always)]
    fn wants(&self, [allow, disallow]: Ranks) -> bool {
        if FIRST {
            allow.min(disallow) < self.best[0].min(self.best[1])
        } else {
            allow < self.best[0] || disallow < self.best[1]
        }
    }

    /// What comes behind the trie. Apart from it, so that the loop over the trie keeps its registers.
    #[inline(never)]
    fn after_trie(automaton: Automaton<'a, W>, path: &'p [u8], trie: Trie, count: &mut C) -> Result<Ranks, Corrupt> {
        let best = if trie.at_end && automaton.state(trie.last)?.accepts_at_end() {
            automaton.state(trie.last)?.accept_at_end()?
        } else if trie.accepting != 0 {
            automaton.state(trie.accepting)?.accept()?
        } else {
            NO_RANKS
        };
        let mut walk = Walk::<'_, _, _, FIRST> {
            automaton,
            path,
            best,
            needs_all: !FIRST,
            wildcards_left: automaton.wildcard_count(),
            count: C::default(),
        };
        // In front of the wildcards: which of them can be left out depends on the best disallow of all others.
        walk.fallbacks(&mut automaton.fallbacks())?;
        if trie.starring != 0
            && let [for_verdicts, of_all] = automaton.state(trie.starring)?.chains()?
            && let (number, first @ 1..) = if FIRST { for_verdicts } else { of_all }
        {
            walk.needs_all |= number == NEEDS_ALL;
            search(path, TrieWildcards { walk: &mut walk, first })?;
        }
        count.merge(walk.count);
        Ok(walk.best)
    }

    /// The second round of [`TrieWildcards`]: begins those wildcards that were left for it.
    #[cold]
    fn left_over(&mut self, first: usize, left: u64) -> Result<(), Corrupt> {
        let mut next = Some(first);
        for number in 0..REMEMBERED {
            let Some((at, wildcard)) = self.chained(next)? else { break };
            self.count.add(1);
            if left >> number & 1 != 0 && wildcard.best[0] < self.best[1] && self.best[1] < self.best[0] {
                self.nested(at, wildcard.from, 0)?;
            }
            next = wildcard.next;
        }
        Ok(())
    }

    /// The first wildcard from one of the trie on that the question needs, and where it is.
    #[inline(always)]
    fn chained(&self, from: Option<usize>) -> Result<Option<(usize, WildcardView<'a, W>)>, Corrupt> {
        let Some(at) = from else { return Ok(None) };
        let wildcard = self.automaton.wildcard(at)?;
        if self.needs_all || wildcard.deciding == Some(at) {
            return Ok(Some((at, wildcard)));
        }
        wildcard.deciding.map(|at| Ok((at, self.automaton.wildcard(at)?))).transpose()
    }

    /// Begins a wildcard that another wildcard leads to.
    #[inline(never)]
    fn nested(&mut self, wildcard: usize, from: usize, depth: usize) -> Result<(), Corrupt> {
        let wildcard = self.automaton.wildcard(wildcard)?;
        if !self.wants(wildcard.best) {
            return Ok(());
        }
        search(self.path, NestedWildcard { walk: self, wildcard, from, depth })
    }

    /// Runs a wildcard's machine from `from` to the end of the path, or until nothing it could find matters. `found` are
    /// the candidates from the beginning of the path on.
    #[inline(always)]
    fn begin<S: Search>(
        &mut self,
        search: S,
        wildcard: WildcardView<'a, W>,
        from: usize,
        depth: usize,
        found: u64,
    ) -> Result<(), Corrupt> {
        // Both can only run out in a damaged automaton, where wildcards may lead in a circle.
        self.wildcards_left = self.wildcards_left.checked_sub(1).ok_or(Corrupt)?;
        if depth >= MAX_WILDCARD_DEPTH {
            return Err(Corrupt);
        }
        let mut begun = 0_u64;
        let mut candidates = Candidates::new(search, wildcard.fingerprints, self.path.len(), found);
        let mut resting_at = from;
        self.count.add(self.path.len().min(PLACES));
        'resting: while let Some(start) = candidates.next(resting_at, &mut self.count) {
            let Some(&byte) = self.path.get(start) else { return Ok(()) };
            let mut at = start + 1;
            let Some(mut next) = wildcard.children.get(byte)? else {
                self.count.add(1);
                resting_at = at;
                continue;
            };
            loop {
                let state = self.automaton.state(next)?;
                let Some(behind) = state.behind_label(self.path, at)? else {
                    let common = state.common_prefix(self.path, at)?;
                    self.count.add(1 + common);
                    resting_at = at + common;
                    continue 'resting;
                };
                self.count.add(1 + state.label_len());
                at = behind;
                let byte = self.path.get(at);
                if state.accepts() {
                    self.accept(state.accept()?);
                }
                if byte.is_none() && state.accepts_at_end() {
                    self.accept(state.accept_at_end()?);
                }
                let Some(&byte) = byte else { return Ok(()) };
                if state.accepts() && !self.wants(wildcard.best) {
                    return Ok(());
                }
                if state.has_wildcards() {
                    begun = self.branch(state, begun, at, depth)?;
                }
                match state.children().get(byte)? {
                    Some(child) => (next, at) = (child, at + 1),
                    None => {
                        resting_at = at;
                        continue 'resting;
                    }
                }
            }
        }
        Ok(())
    }

    /// Begins the wildcards that a state of a wildcard leads to, unless they have begun already.
    #[inline(always)]
    fn branch(&mut self, state: StateView<'a, W>, mut begun: u64, from: usize, depth: usize) -> Result<u64, Corrupt> {
        for (number, wildcard) in state.wildcards()? {
            if usize::from(number) >= MAX_WILDCARD_BRANCHES {
                return Err(Corrupt);
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

    /// Tries the listed patterns, best first.
    #[inline(always)]
    fn fallbacks(&mut self, fallbacks: &mut FallbackReader<'a>) -> Result<(), Corrupt> {
        while let Some((rank, anchored, segments)) = fallbacks.next_pattern()? {
            let mut ranks = NO_RANKS;
            ranks[kind_of(rank) as usize] = rank;
            self.count.add(1);
            if self.wants(ranks) {
                if segments_match(segments, anchored, self.path, &mut self.count)? {
                    self.accept(ranks);
                }
            } else if FIRST {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// The wildcards that have begun in the trie, from the last one on.
struct TrieWildcards<'w, 'p, A, C, const FIRST: bool> {
    walk: &'w mut Walk<'p, A, C, FIRST>,
    first: usize,
}

/// How many wildcards that begin in the trie can be left for a second round. Real rulesets have up to five.
const REMEMBERED: usize = 64;

impl<const W: usize, C: Count, const FIRST: bool> WithSearch for TrieWildcards<'_, '_, Automaton<'_, W>, C, FIRST> {
    type Output = Result<(), Corrupt>;

    /// Tries the wildcards, for a verdict in two rounds. A wildcard without a disallow that beats the best allow can only
    /// matter if some disallow wins in the end; so it is left for the second round, which then looks only for allows.
    /// Rules are mostly disallows and mostly do not match, so the second round is rare.
    #[inline(always)]
    fn with<S: Search>(self, search: S) -> Result<(), Corrupt> {
        let TrieWildcards { walk, first } = self;
        let mut left = 0_u64;
        let mut next = Some(first);
        let mut number = 0;
        let mut first_candidates = FirstCandidates { known: [None; 2] };
        while let Some((_, wildcard)) = walk.chained(next)? {
            walk.count.add(1);
            if FIRST && wildcard.best[1] >= walk.best[0] && number < REMEMBERED {
                left |= 1 << number;
            } else if walk.wants(wildcard.best) {
                let found = first_candidates.of(wildcard.fingerprints, search);
                // Most wildcards have none, and most paths end where the first search does.
                if walk.path.len() > PLACES || found >> wildcard.from.min(PLACES) != 0 {
                    walk.begin(search, wildcard, wildcard.from, 0, found)?;
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

/// The candidates at the beginning of a path for the fingerprints asked for last. WildcardCount that follow each other often
/// look for the same segments, as those of `/*x` and `/de/*x` do.
struct FirstCandidates<'f> {
    known: [Option<(&'f Fingerprints, u64)>; 2],
}

impl<'f> FirstCandidates<'f> {
    #[inline(always)]
    fn of<S: Search>(&mut self, fingerprints: &'f Fingerprints, search: S) -> u64 {
        // Equal ones of a ruleset stand at the same place.
        let known = self.known.into_iter().flatten().find(|(known, _)| std::ptr::eq(*known, fingerprints));
        if let Some((_, found)) = known {
            return found;
        }
        let found = search.candidates(fingerprints, 0);
        self.known = [Some((fingerprints, found)), self.known[0]];
        found
    }
}

/// A wildcard that another wildcard leads to.
struct NestedWildcard<'w, 'a, 'p, C, const W: usize, const FIRST: bool> {
    walk: &'w mut Walk<'p, Automaton<'a, W>, C, FIRST>,
    wildcard: WildcardView<'a, W>,
    from: usize,
    depth: usize,
}

impl<const W: usize, C: Count, const FIRST: bool> WithSearch for NestedWildcard<'_, '_, '_, C, W, FIRST> {
    type Output = Result<(), Corrupt>;

    #[inline(always)]
    fn with<S: Search>(self, search: S) -> Result<(), Corrupt> {
        let found = search.candidates(self.wildcard.fingerprints, 0);
        self.walk.begin(search, self.wildcard, self.from, self.depth, found)
    }
}

/// The places where a segment may begin. In between, the machine would rest, or come back to rest.
struct Candidates<'f, S> {
    search: S,
    fingerprints: &'f Fingerprints,
    len: usize,
    /// A bit for each of the places from `base` on.
    found: u64,
    base: usize,
}

impl<'f, S: Search> Candidates<'f, S> {
    #[inline(always)]
    fn new(search: S, fingerprints: &'f Fingerprints, len: usize, found: u64) -> Self {
        Candidates { search, fingerprints, len, found, base: 0 }
    }

    /// The first place from `at` on, which never goes back.
    #[inline(always)]
    fn next(&mut self, at: usize, count: &mut impl Count) -> Option<usize> {
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

/// Whether a listed pattern matches: each segment is taken at its leftmost place behind the one before, which
/// leaves the most room for those that follow.
fn segments_match(
    mut segments: Segments<'_>,
    anchored: bool,
    path: &[u8],
    count: &mut impl Count,
) -> Result<bool, Corrupt> {
    let Some((first, only)) = segments.next_segment()? else { return Err(Corrupt) };
    count.add(first.len());
    let Some(mut rest) = path.strip_prefix(first) else { return Ok(false) };
    if only {
        return Ok(!anchored || rest.is_empty());
    }
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

/// The text of a plain prefix or whole-path rule: what the trie read when it accepted the rank.
fn trie_pattern<const W: usize>(automaton: Automaton<'_, W>, rank: u32, path: &[u8]) -> Result<Vec<u8>, Corrupt> {
    let mut state = automaton.state(automaton.trie().ok_or(Corrupt)?)?;
    let mut rest = path;
    loop {
        rest = rest.strip_prefix(state.label()?).ok_or(Corrupt)?;
        let read = &path[..path.len() - rest.len()];
        if state.accept()?.contains(&rank) {
            return Ok(read.to_vec());
        }
        if state.accept_at_end()?.contains(&rank) {
            return Ok([read, b"$"].concat());
        }
        let (&byte, behind) = rest.split_first().ok_or(Corrupt)?;
        state = automaton.state(state.children().get(byte)?.ok_or(Corrupt)?)?;
        rest = behind;
    }
}

fn all_rules<const W: usize>(automaton: Automaton<'_, W>) -> Result<Vec<(u32, Vec<u8>)>, Corrupt> {
    let texts = automaton.texts()?;
    let mut rules: Vec<(u32, Vec<u8>)> = texts.iter().map(|&(rank, text)| (rank, text.to_vec())).collect();
    rules.extend(automaton.otherwise().map(|rank| (rank, Vec::new())));
    if rules.len() == automaton.rule_count() as usize {
        // All of them; the trie need then be no tree.
        return Ok(rules);
    }
    // The way to each state: the state before and the byte in between. Texts are put together only for rules, so
    // that a damaged automaton cannot ask for more memory than it is large, but for texts up to their limit.
    let mut ways: Vec<(usize, Option<(usize, u8)>)> = automaton.trie().map(|at| (at, None)).into_iter().collect();
    let mut seen = HashSet::new();
    // A rank stands in the first state that accepts it, and again behind it in those that accept something else.
    let mut known: HashSet<u32> = rules.iter().map(|&(rank, _)| rank).collect();
    let mut text_left = MAX_PATTERNS_BYTES;
    let mut next = 0;
    while let Some(&(at, _)) = ways.get(next) {
        if !seen.insert(at) {
            return Err(Corrupt);
        }
        let state = automaton.state(at)?;
        for (ranks, end) in [(state.accept()?, &b""[..]), (state.accept_at_end()?, b"$")] {
            for rank in ranks.into_iter().filter(|&rank| rank != NO_RANK) {
                if known.insert(rank) {
                    let text = text_on_way(automaton, &ways, next, end, text_left)?;
                    text_left -= text.len();
                    rules.push((rank, text));
                }
            }
        }
        ways.extend(state.children().all()?.into_iter().map(|(byte, child)| (child, Some((next, byte)))));
        next += 1;
    }
    Ok(rules)
}

/// The bytes from the trie's first state to the state whose way is at `index`, and `end` behind them.
fn text_on_way<const W: usize>(
    automaton: Automaton<'_, W>,
    ways: &[(usize, Option<(usize, u8)>)],
    mut index: usize,
    end: &[u8],
    limit: usize,
) -> Result<Vec<u8>, Corrupt> {
    let mut reversed: Vec<u8> = end.to_vec();
    loop {
        let (at, before) = ways[index];
        reversed.extend(automaton.state(at)?.label()?.iter().rev());
        let Some((before, byte)) = before else { break };
        reversed.push(byte);
        index = before;
        if reversed.len() > limit {
            return Err(Corrupt);
        }
    }
    reversed.reverse();
    Ok(reversed)
}
