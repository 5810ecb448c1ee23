//! Walking one ruleset's automaton over one path.
//!
//! Holds the run-time loop and nothing of the bytes ([`crate::format::automaton`]) or of how they came to be (the
//! compiler's `automaton`). [`Ruleset::verdict`] is the fast question, [`Ruleset::matches`] the full one.
//!
//! A walk takes no memory but its stack, which is bounded by [`MAX_STAR_DEPTH`]. It looks at the path once in the
//! head and once in each star that it begins, and begins each star once at most: stars are begun at the
//! leftmost place where the text in front of them occurs, and whatever could follow a later occurrence also
//! follows that one.

use std::collections::HashSet;

use memchr::{memchr, memchr2, memchr3, memmem};

use crate::format::automaton::{
    Automaton, Begin, Codes, Corrupt, ListedReader, MAX_PATTERNS_BYTES, MAX_STAR_BRANCHES, MAX_STAR_DEPTH, NO_CODE,
    NO_CODES, Pieces, StarView, StateView, Width, kind_of, width,
};
use crate::platform::find_fingerprint;
use crate::verdict::{RuleKind, Verdict};

/// The rules of one group, compiled: a view of bytes in a set. Free to copy.
#[derive(Clone, Copy)]
pub struct Ruleset<'a> {
    bytes: &'a [u8],
    width: Width,
}

/// The best rule of each kind that matches a path, as codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matches {
    /// The code of the best `Allow`, if one matches.
    pub allow: Option<u32>,
    /// The code of the best `Disallow`, if one matches.
    pub disallow: Option<u32>,
    /// The verdict that follows.
    pub verdict: Verdict,
    /// The code of the rule that the verdict rests on.
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
            head: automaton.head().is_some(),
            stars: automaton.star_count(),
            listed: !matches!(automaton.listed().next_pattern(), Ok(None)),
        })
    }

    /// `Allow` or `Disallow` for a path in the set's normal form.
    ///
    /// Stops as soon as no rule that could still match would change the answer. No allocation, no panic.
    ///
    /// # Errors
    /// When the automaton is damaged.
    #[inline]
    pub fn verdict(&self, path: &[u8]) -> Result<Verdict, Corrupt> {
        let [allow, disallow] = by_width!(self, automaton => Walk::<'_, _, true>::new(automaton, path).run()?);
        Ok(if disallow < allow { Verdict::Disallow } else { Verdict::Allow })
    }

    /// The best rule of each kind for a path in the set's normal form, and what follows from them.
    ///
    /// # Errors
    /// When the automaton is damaged.
    pub fn matches(&self, path: &[u8]) -> Result<Matches, Corrupt> {
        let (best, otherwise) = by_width!(self, automaton => {
            (Walk::<'_, _, false>::new(automaton, path).run()?, automaton.otherwise())
        });
        let [allow, disallow] = best.map(some_code);
        Ok(match otherwise {
            Some(otherwise) if best == NO_CODES => Matches {
                allow: Some(otherwise).filter(|&code| kind_of(code) == RuleKind::Allow),
                disallow: Some(otherwise).filter(|&code| kind_of(code) == RuleKind::Disallow),
                // An empty pattern restricts nothing, whichever word stands in front of it.
                verdict: Verdict::Allow,
                decided_by: Some(otherwise),
            },
            _ => Matches {
                allow,
                disallow,
                verdict: if best[1] < best[0] { Verdict::Disallow } else { Verdict::Allow },
                decided_by: some_code(best[0].min(best[1])),
            },
        })
    }

    /// The pattern of a rule that [`Self::matches`] named for this path.
    ///
    /// # Errors
    /// When the automaton is damaged, or the rule is none that matches the path.
    pub fn pattern(&self, code: u32, path: &[u8]) -> Result<Vec<u8>, Corrupt> {
        by_width!(self, automaton => {
            if automaton.otherwise() == Some(code) {
                return Ok(Vec::new());
            }
            match automaton.text(code)? {
                Some(text) => Ok(text.to_vec()),
                None => head_pattern(automaton, code, path),
            }
        })
    }

    /// The place of a code's rule among the rules of all rulesets that decide together; the smaller wins.
    ///
    /// # Errors
    /// When this ruleset decides alone, or has no such rule.
    pub fn key(&self, code: u32) -> Result<u32, Corrupt> {
        by_width!(self, automaton => automaton.key(code / 2))
    }

    /// Every rule that can decide something, as code and pattern, in the order of precedence. A rule that says
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

fn some_code(code: u32) -> Option<u32> {
    Some(code).filter(|&code| code != NO_CODE)
}

/// Which parts an automaton has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Whether there is a head.
    pub head: bool,
    /// How many stars.
    pub stars: u32,
    /// Whether patterns are listed outside of the machine.
    pub listed: bool,
}

/// How many stars that begin in the head are remembered without a second walk. Real rulesets have up to five.
const REMEMBERED: usize = 8;

/// The stars that the head came to: their offsets, and where in the path they begin.
struct HeadStars {
    places: [(u32, u32); REMEMBERED],
    /// How many there were, perhaps more than have a place.
    count: usize,
}

impl HeadStars {
    #[inline(always)]
    fn push(&mut self, star: u32, from: u32) {
        if let Some(place) = self.places.get_mut(self.count) {
            *place = (star, from);
        }
        self.count += 1;
    }
}

/// Walks a head over a path. Returns the best codes that it accepts, and calls `begins` for each star on the way.
#[inline(always)]
fn walk_head<const W: usize>(
    automaton: Automaton<'_, W>,
    head: usize,
    path: &[u8],
    mut begins: impl FnMut(u32, u32),
) -> Result<Codes, Corrupt> {
    let mut best = NO_CODES;
    let mut accept = |codes: Codes| best = [best[0].min(codes[0]), best[1].min(codes[1])];
    let mut state = automaton.state(head)?;
    let mut rest = path;
    loop {
        let (common, whole) = state.common_prefix(rest);
        if !whole {
            return Ok(best);
        }
        rest = &rest[common..];
        if state.accepts() {
            accept(state.accept()?);
            if rest.is_empty() {
                accept(state.accept_at_end()?);
            }
        }
        let Some((&byte, behind)) = rest.split_first() else { return Ok(best) };
        if state.has_stars() {
            state.stars()?.for_each(|(_, star)| begins(star as u32, (path.len() - rest.len()) as u32));
        }
        let Some(next) = state.children()?.get(byte)? else { return Ok(best) };
        (state, rest) = (automaton.state(next)?, behind);
    }
}

/// One walk. `FIRST` asks for the verdict alone: then only the smallest code of all matters, and the walk leaves
/// out whatever cannot be smaller.
struct Walk<'p, A, const FIRST: bool> {
    automaton: A,
    path: &'p [u8],
    best: Codes,
    stars_left: u32,
}

impl<'a, 'p, const W: usize, const FIRST: bool> Walk<'p, Automaton<'a, W>, FIRST> {
    #[inline(always)]
    fn new(automaton: Automaton<'a, W>, path: &'p [u8]) -> Self {
        Walk { automaton, path, best: NO_CODES, stars_left: automaton.star_count() }
    }

    #[inline(always)]
    fn accept(&mut self, codes: Codes) {
        self.best = [self.best[0].min(codes[0]), self.best[1].min(codes[1])];
    }

    /// Whether codes at least as great as these could still change the answer.
    #[inline(always)]
    fn wants(&self, [allow, disallow]: Codes) -> bool {
        if FIRST {
            allow.min(disallow) < self.best[0].min(self.best[1])
        } else {
            allow < self.best[0] || disallow < self.best[1]
        }
    }

    #[inline(always)]
    fn run(mut self) -> Result<Codes, Corrupt> {
        let mut stars = HeadStars { places: [(0, 0); REMEMBERED], count: 0 };
        if let Some(head) = self.automaton.head() {
            self.best = walk_head(self.automaton, head, self.path, |star, from| stars.push(star, from))?;
        }
        if stars.count > 0 || self.automaton.has_listed() {
            self.behind_head(&stars)?;
        }
        Ok(self.best)
    }

    /// What comes behind the head. Apart from it, so that the loop over the head keeps its registers.
    #[inline(never)]
    fn behind_head(&mut self, stars: &HeadStars) -> Result<(), Corrupt> {
        let remembered = stars.places.get(..stars.count).unwrap_or(&stars.places);
        if FIRST {
            self.remembered_for_verdict(remembered)?;
        } else {
            for &(star, from) in remembered {
                self.star(star as usize, from as usize, 0)?;
            }
        }
        if stars.count > REMEMBERED {
            self.not_remembered(stars.count)?;
        }
        self.listed(&mut self.automaton.listed())
    }

    /// Begins the stars that were too many to be remembered, walking the head once more for each few of them.
    #[cold]
    fn not_remembered(&mut self, count: usize) -> Result<(), Corrupt> {
        let Some(head) = self.automaton.head() else { return Ok(()) };
        for skipped in (REMEMBERED..count).step_by(REMEMBERED) {
            let mut stars = HeadStars { places: [(0, 0); REMEMBERED], count: 0 };
            let mut number = 0;
            walk_head(self.automaton, head, self.path, |star, from| {
                if number >= skipped {
                    stars.push(star, from);
                }
                number += 1;
            })?;
            let places = stars.places.get(..stars.count).unwrap_or(&stars.places);
            places.iter().try_for_each(|&(star, from)| self.star(star as usize, from as usize, 0))?;
        }
        Ok(())
    }

    // Tried: one search for all remembered stars, with their fingerprints laid over each other. It rules out half of
    // the stars, and costs as much as it saves: most paths have some place that the sum of all does not rule out.

    /// Tries the head's stars in two rounds. A star without a disallow that beats the best allow can only
    /// matter if some disallow wins in the end; so it is left for the second round, which then looks only for
    /// allows. Rules are mostly disallows and mostly do not match, so the second round is rare.
    fn remembered_for_verdict(&mut self, remembered: &[(u32, u32)]) -> Result<(), Corrupt> {
        let mut left = 0_u32;
        for (index, &(star, from)) in remembered.iter().enumerate() {
            let view = self.automaton.star(star as usize)?;
            if view.best[1] < self.best[0] {
                self.begin(view, from as usize, 0)?;
            } else {
                left |= 1 << index;
            }
        }
        for (index, &(star, from)) in remembered.iter().enumerate() {
            if self.best[1] < self.best[0] && left >> index & 1 != 0 {
                let view = self.automaton.star(star as usize)?;
                if view.best[0] < self.best[1] {
                    self.begin(view, from as usize, 0)?;
                }
            }
        }
        Ok(())
    }

    fn star(&mut self, at: usize, from: usize, depth: usize) -> Result<(), Corrupt> {
        let star = self.automaton.star(at)?;
        self.begin(star, from, depth)
    }

    /// Runs a star's machine from `from` to the end of the path, or until nothing it could find matters.
    fn begin(&mut self, star: StarView<'a, W>, from: usize, depth: usize) -> Result<(), Corrupt> {
        if !self.wants(star.best) {
            return Ok(());
        }
        // Both can only run out in a damaged automaton, where stars may lead in a circle.
        self.stars_left = self.stars_left.checked_sub(1).ok_or(Corrupt)?;
        if depth >= MAX_STAR_DEPTH {
            return Err(Corrupt);
        }
        let mut begun = 0_u64;
        let mut rest = self.path.get(from..).ok_or(Corrupt)?;
        'resting: while let Some(at) = find(star.begin, rest) {
            let Some(next) = star.children.get(rest[at])? else {
                rest = &rest[at + 1..];
                continue;
            };
            let mut state = self.automaton.state(next)?;
            rest = &rest[at + 1..];
            loop {
                let (common, whole) = state.common_prefix(rest);
                rest = &rest[common..];
                if !whole {
                    continue 'resting;
                }
                if state.accepts() {
                    self.accept(state.accept()?);
                    if rest.is_empty() {
                        self.accept(state.accept_at_end()?);
                    }
                    if !self.wants(star.best) {
                        return Ok(());
                    }
                }
                if rest.is_empty() {
                    return Ok(());
                }
                if state.has_stars() {
                    begun = self.branch(state, begun, rest.len(), depth)?;
                }
                match state.children()?.get(rest[0])? {
                    Some(next) => {
                        state = self.automaton.state(next)?;
                        rest = &rest[1..];
                    }
                    None => continue 'resting,
                }
            }
        }
        Ok(())
    }

    /// Begins the stars that a state of a star leads to, unless they have begun already.
    #[inline(always)]
    fn branch(&mut self, state: StateView<'a, W>, mut begun: u64, left: usize, depth: usize) -> Result<u64, Corrupt> {
        for (number, star) in state.stars()? {
            if usize::from(number) >= MAX_STAR_BRANCHES {
                return Err(Corrupt);
            }
            let bit = 1 << number;
            if begun & bit == 0 {
                begun |= bit;
                self.star(star, self.path.len() - left, depth + 1)?;
            }
        }
        Ok(begun)
    }

    /// Tries the listed patterns, best first.
    #[inline(always)]
    fn listed(&mut self, listed: &mut ListedReader<'a>) -> Result<(), Corrupt> {
        while let Some((code, anchored, pieces)) = listed.next_pattern()? {
            let mut codes = NO_CODES;
            codes[kind_of(code) as usize] = code;
            if self.wants(codes) {
                if pieces_match(pieces, anchored, self.path)? {
                    self.accept(codes);
                }
            } else if FIRST {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Finds the first place where a piece may begin. In between, the machine would rest, or come back to rest.
#[inline(always)]
fn find(begin: Begin<'_>, text: &[u8]) -> Option<usize> {
    match begin {
        Begin::Bytes([a]) => memchr(*a, text),
        Begin::Bytes([a, b]) => memchr2(*a, *b, text),
        Begin::Bytes([a, b, c]) => memchr3(*a, *b, *c, text),
        Begin::Bytes(_) => None,
        Begin::Fingerprints(table) => find_fingerprint(table, text),
    }
}

/// Whether a listed pattern matches: each piece is taken at its leftmost place behind the one before, which
/// leaves the most room for those that follow.
fn pieces_match(mut pieces: Pieces<'_>, anchored: bool, path: &[u8]) -> Result<bool, Corrupt> {
    let Some((first, only)) = pieces.next_piece()? else { return Err(Corrupt) };
    let Some(mut rest) = path.strip_prefix(first) else { return Ok(false) };
    if only {
        return Ok(!anchored || rest.is_empty());
    }
    while let Some((piece, last)) = pieces.next_piece()? {
        if last && anchored {
            return Ok(rest.ends_with(piece));
        }
        let Some(at) = memmem::find(rest, piece) else { return Ok(false) };
        rest = &rest[at + piece.len()..];
    }
    Ok(true)
}

/// The text of a plain prefix or whole-path rule: what the head read when it accepted the code.
fn head_pattern<const W: usize>(automaton: Automaton<'_, W>, code: u32, path: &[u8]) -> Result<Vec<u8>, Corrupt> {
    let mut state = automaton.state(automaton.head().ok_or(Corrupt)?)?;
    let mut rest = path;
    loop {
        rest = rest.strip_prefix(state.label()).ok_or(Corrupt)?;
        let read = &path[..path.len() - rest.len()];
        if state.accept()?.contains(&code) {
            return Ok(read.to_vec());
        }
        if state.accept_at_end()?.contains(&code) {
            return Ok([read, b"$"].concat());
        }
        let (&byte, behind) = rest.split_first().ok_or(Corrupt)?;
        state = automaton.state(state.children()?.get(byte)?.ok_or(Corrupt)?)?;
        rest = behind;
    }
}

fn all_rules<const W: usize>(automaton: Automaton<'_, W>) -> Result<Vec<(u32, Vec<u8>)>, Corrupt> {
    let texts = automaton.texts()?;
    let mut rules: Vec<(u32, Vec<u8>)> = texts.iter().map(|&(code, text)| (code, text.to_vec())).collect();
    rules.extend(automaton.otherwise().map(|code| (code, Vec::new())));
    if rules.len() == automaton.rule_count() as usize {
        // All of them; the head need then be no tree.
        return Ok(rules);
    }
    // The way to each state: the state before and the byte in between. Texts are put together only for rules, so
    // that a damaged automaton cannot ask for more memory than it is large, but for texts up to their limit.
    let mut ways: Vec<(usize, Option<(usize, u8)>)> = automaton.head().map(|at| (at, None)).into_iter().collect();
    let mut seen = HashSet::new();
    let mut text_left = MAX_PATTERNS_BYTES;
    let mut next = 0;
    while let Some(&(at, _)) = ways.get(next) {
        if !seen.insert(at) {
            return Err(Corrupt);
        }
        let state = automaton.state(at)?;
        for (codes, end) in [(state.accept()?, &b""[..]), (state.accept_at_end()?, b"$")] {
            for code in codes.into_iter().filter(|&code| code != NO_CODE) {
                if texts.binary_search_by_key(&code, |&(code, _)| code).is_err() {
                    let text = text_on_way(automaton, &ways, next, end, text_left)?;
                    text_left -= text.len();
                    rules.push((code, text));
                }
            }
        }
        ways.extend(state.children()?.all()?.into_iter().map(|(byte, child)| (child, Some((next, byte)))));
        next += 1;
    }
    Ok(rules)
}

/// The bytes from the head's first state to the state whose way is at `index`, and `end` behind them.
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
        reversed.extend(automaton.state(at)?.label().iter().rev());
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

/// Checks an automaton without trusting it: see [`Ruleset::verify`].
struct Verify<'a, const W: usize> {
    automaton: Automaton<'a, W>,
}

impl<'a, const W: usize> Verify<'a, W> {
    fn new(automaton: Automaton<'a, W>) -> Self {
        Verify { automaton }
    }

    fn run(&self) -> Result<(), Corrupt> {
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
        let mut states: Vec<(usize, usize)> = automaton.head().map(|at| (at, 0)).into_iter().collect();
        while let Some((at, depth)) = states.pop() {
            if !seen_states.insert(at) {
                continue;
            }
            let state = automaton.state(at)?;
            state.accept()?.into_iter().chain(state.accept_at_end()?).try_for_each(|code| self.known(code))?;
            states.extend(state.children()?.all()?.into_iter().map(|(_, next)| (next, depth)));
            for (number, star) in state.stars()? {
                if depth >= MAX_STAR_DEPTH || usize::from(number) >= MAX_STAR_BRANCHES {
                    return Err(Corrupt);
                }
                if seen_stars.insert(star) {
                    let star = automaton.star(star)?;
                    let children = star.children.all()?;
                    states.extend(children.into_iter().map(|(_, next)| (next, depth + 1)));
                }
            }
        }
        if seen_stars.len() != automaton.star_count() as usize {
            return Err(Corrupt);
        }
        Ok(())
    }
}
