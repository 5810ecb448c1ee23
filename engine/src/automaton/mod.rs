//! A ruleset: its verdicts, its rules, and its internal structure.
//!
//! [`Ruleset::verdict`] is the fast path, [`Ruleset::matches`] also names the matching rules, and [`Ruleset::rules`]
//! lists all rules. Only [`crate::format::automaton`] knows the byte layout; it also names the invariants. The compiler
//! builds the automata.
//!
//! A walk uses no memory but its stack, bounded by
//! [`MAX_WILDCARD_DEPTH`](crate::format::automaton::MAX_WILDCARD_DEPTH). It reads the path once in the trie and once in
//! each wildcard automaton that it begins.

use std::borrow::Cow;

use crate::format::automaton::{
    Automaton, Corrupt, NO_RANK, NO_RANKS, Ranks, Width, decode, kind_of, known_width, width,
};
use crate::format::rulesets::{MAX_PATCHED_BYTES, StoredRuleset};
use crate::verdict::{RuleKind, Verdict};

mod list;
mod machine;
mod passes;
mod show;
mod verify;
mod walk;

pub use list::{RulesetRule, ranks_in_trie};
pub use passes::passes;
pub use walk::STEPS_OF_PASS;

use crate::steps::StepCounter;
use walk::{BEST, BUILT, OF_EACH_KIND, SearchOutcome, Uncounted, VERDICT, Walk, search_first, walk_trie};

/// A group's compiled rules: a view of bytes in a set, cheap to copy.
///
/// A set stores a ruleset that differs from another in few bytes as patches to it. A decision then copies the other
/// ruleset to the stack, at most [`MAX_PATCHED_BYTES`], and patches the copy.
///
/// [`Debug`](std::fmt::Debug) prints its states.
#[derive(Clone, Copy)]
pub struct Ruleset<'a> {
    /// Starts with an automaton header, from which the width is read every time. Caching it in another byte here would
    /// be slower: that byte and the seven after it would be copied in overlapping pieces.
    stored: StoredRuleset<'a>,
}

/// The best rules of each kind that match a path, as ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matches {
    /// Rank of the best matching `Allow`.
    pub allow: Option<u32>,
    /// Rank of the best matching `Disallow`.
    pub disallow: Option<u32>,
    /// The resulting verdict.
    pub verdict: Verdict,
    /// Rank of the deciding rule.
    pub decided_by: Option<u32>,
}

/// The parts that an automaton has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Whether there is a trie.
    pub trie: bool,
    /// Number of wildcard automata.
    pub wildcards: u32,
    /// Whether there are fallback patterns.
    pub fallbacks: bool,
}

macro_rules! by_width {
    ($ruleset:expr, $automaton:ident => $body:expr) => {
        match $ruleset.width() {
            Width::Two => {
                let $automaton = Automaton::<2>::sharing($ruleset.stored.bytes, $ruleset.stored.fingerprints);
                $body
            }
            Width::Four => {
                let $automaton = Automaton::<4>::sharing($ruleset.stored.bytes, $ruleset.stored.fingerprints);
                $body
            }
        }
    };
}

impl<'a> Ruleset<'a> {
    /// Views the bytes of a self-contained automaton, as returned by [`crate::format::automaton::write`].
    ///
    /// Checks only the header.
    ///
    /// # Errors
    /// Returns an error if the bytes do not begin with an automaton header.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Result<Ruleset<'a>, Corrupt> {
        Ruleset::stored(StoredRuleset { bytes, patches: &[], fingerprints: &[] })
    }

    /// Views a ruleset as stored in a set.
    ///
    /// Checks only the header.
    ///
    /// # Errors
    /// Returns an error if the bytes do not begin with an automaton header.
    #[inline(always)]
    pub fn stored(stored: StoredRuleset<'a>) -> Result<Ruleset<'a>, Corrupt> {
        width(stored.bytes)?;
        Ok(Ruleset { stored })
    }

    #[inline(always)]
    fn width(&self) -> Width {
        known_width(self.stored.bytes)
    }

    /// Returns a self-contained automaton: patched, and with its own fingerprints.
    ///
    /// # Errors
    /// Returns an error if the bytes are damaged.
    pub fn to_bytes(&self) -> Result<Cow<'a, [u8]>, Corrupt> {
        self.stored.to_bytes()
    }

    /// Runs `work` with a patched copy.
    #[inline(never)]
    fn patched<R>(&self, work: impl FnOnce(&Ruleset<'_>) -> Result<R, Corrupt>) -> Result<R, Corrupt> {
        // Most rulesets are short, and a large copy would have to be filled with zeros first.
        const SHORT: usize = MAX_PATCHED_BYTES / 4;
        match self.stored.bytes.len() {
            ..=SHORT => self.patched_in(&mut [0; SHORT], work),
            _ => self.patched_in(&mut [0; MAX_PATCHED_BYTES], work),
        }
    }

    #[inline(always)]
    fn patched_in<R>(
        &self,
        copy: &mut [u8],
        work: impl FnOnce(&Ruleset<'_>) -> Result<R, Corrupt>,
    ) -> Result<R, Corrupt> {
        let bytes = self.stored.patch(copy)?;
        work(&Ruleset { stored: StoredRuleset { bytes, patches: &[], ..self.stored } })
    }

    /// Returns the number of rules.
    #[must_use]
    pub fn rule_count(&self) -> u32 {
        by_width!(self, automaton => automaton.rule_count())
    }

    /// Returns the ruleset's size in its set in bytes.
    ///
    /// Excludes shared fingerprints and the ruleset that it patches.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.stored.byte_len()
    }

    /// Returns the automaton's parts, for display.
    #[must_use]
    pub fn shape(&self) -> Shape {
        by_width!(self, automaton => Shape {
            trie: automaton.trie().is_some(),
            wildcards: automaton.wildcard_count(),
            fallbacks: !matches!(automaton.fallbacks().next_pattern(), Ok(None)),
        })
    }

    /// Returns `Allow` or `Disallow` for a path in the set's normal form.
    ///
    /// Stops once no remaining rule could change the answer. No allocation, no panic.
    ///
    /// Cost: at most [`Self::passes`] passes, and in each pass at most [`STEPS_OF_PASS`] steps for each byte of the
    /// path and for its end. There is one pass for the trie, one for each wildcard automaton that begins, and one for
    /// each fallback pattern that is searched for. Reading the fallback patterns takes one more step per byte, at most
    /// [`MAX_FALLBACK_BYTES`](crate::format::automaton::MAX_FALLBACK_BYTES). Passes are limited to
    /// [`MAX_PASSES`](crate::format::automaton::MAX_PASSES), even in unverified bytes. [`Self::verdict_counted`] counts
    /// the steps.
    ///
    /// # Errors
    /// Returns an error if the walk reads invalid bytes. [`Self::verify`] finds all of them.
    #[inline(always)]
    pub fn verdict(&self, path: &[u8]) -> Result<Verdict, Corrupt> {
        self.verdict_with(path, &mut Uncounted::default())
    }

    /// Like [`Self::verdict`], for many rulesets in sequence: they are patched in the same buffer, which need not be
    /// zeroed for each. For real URLs and files, zeroing took a twentieth of a decision's instructions.
    ///
    /// # Errors
    /// See [`Self::verdict`].
    #[inline(always)]
    pub(crate) fn verdict_in(&self, room: &mut [u8; MAX_PATCHED_BYTES], path: &[u8]) -> Result<Verdict, Corrupt> {
        if self.stored.is_patched() {
            return self.patched_in(room, |ruleset| ruleset.verdict_of_whole(path, &mut Uncounted::default()));
        }
        self.verdict_of_whole(path, &mut Uncounted::default())
    }

    /// Like [`Self::verdict`], but also counts the steps.
    ///
    /// Steps are states, label bytes, wildcard automata considered, places that these search for segments, and bytes
    /// compared with fallback patterns. The verdict is the same, but the walk omits the vector search that can rule out
    /// wildcard automata on paths of up to 116 bytes.
    ///
    /// # Errors
    /// See [`Self::verdict`].
    pub fn verdict_counted(&self, path: &[u8]) -> Result<(Verdict, usize), Corrupt> {
        let mut steps = 0;
        let verdict = self.verdict_with(path, &mut steps)?;
        Ok((verdict, steps))
    }

    #[inline(always)]
    fn verdict_with<C: StepCounter>(&self, path: &[u8], count: &mut C) -> Result<Verdict, Corrupt> {
        if self.stored.is_patched() {
            return self.patched(|ruleset| ruleset.verdict_of_whole(path, count));
        }
        self.verdict_of_whole(path, count)
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn verdict_of_whole<C: StepCounter>(&self, path: &[u8], count: &mut C) -> Result<Verdict, Corrupt> {
        by_width!(self, automaton => {
            let trie = walk_trie(automaton, path, count)?;
            let is_settled = trie.end.is_settled() && !automaton.has_fallbacks();
            // A count must not depend on the processor, so counted walks do not search.
            let may_search = !C::COUNTS && trie.with_wildcards();
            let searched = match is_settled {
                true => SearchOutcome::Nothing,
                false if may_search => search_first(&automaton, path, &trie),
                false => SearchOutcome::Unknown,
            };
            let is_disallowed_by = |[allow, disallow]: Ranks| disallow < allow;
            let disallows = match &searched {
                SearchOutcome::Nothing => trie.end.disallows(trie.at_end),
                SearchOutcome::Hit(found) => {
                    let after_search = Walk::<'_, _, C, { BUILT[VERDICT as usize] }>::after_search;
                    is_disallowed_by(after_search(&automaton, path, &trie, found)?)
                }
                SearchOutcome::Unknown => {
                    let after_trie = Walk::<'_, _, C, { BUILT[VERDICT as usize] }>::after_trie;
                    is_disallowed_by(after_trie(&automaton, path, &trie, count)?)
                }
            };
            Ok(if disallows { Verdict::Disallow } else { Verdict::Allow })
        })
    }

    /// Returns the best rule of each kind for a path in the set's normal form, and the resulting verdict.
    ///
    /// # Errors
    /// Returns an error if the walk reads invalid bytes.
    pub fn matches(&self, path: &[u8]) -> Result<Matches, Corrupt> {
        if self.stored.is_patched() {
            return self.patched(|ruleset| ruleset.matches(path));
        }
        let (best, otherwise) = by_width!(self, automaton => {
            let count = &mut Uncounted::default();
            let trie = walk_trie(automaton, path, count)?;
            (Walk::<'_, _, _, OF_EACH_KIND>::after_trie(&automaton, path, &trie, count)?, automaton.otherwise())
        });
        let [allow, disallow] = best.map(some_rank);
        Ok(match otherwise {
            Some(otherwise) if best == NO_RANKS => Matches {
                allow: Some(otherwise).filter(|&rank| kind_of(rank) == RuleKind::Allow),
                disallow: Some(otherwise).filter(|&rank| kind_of(rank) == RuleKind::Disallow),
                // An empty pattern restricts nothing, in an allow or a disallow.
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

    /// Returns the best rule's rank and, for the other kind, the best rank among the rules without wildcards, or a better
    /// one: `[allow, disallow]`, with [`NO_RANK`](crate::format::automaton::NO_RANK) for none.
    ///
    /// Rules with an empty pattern do not count. Rulesets are patched in `room`, as by [`Self::verdict_in`].
    ///
    /// # Errors
    /// See [`Self::matches`].
    #[inline(always)]
    pub(crate) fn best_in(&self, room: &mut [u8; MAX_PATCHED_BYTES], path: &[u8]) -> Result<Ranks, Corrupt> {
        if self.stored.is_patched() {
            return self.patched_in(room, |ruleset| ruleset.best_of_whole(path));
        }
        self.best_of_whole(path)
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn best_of_whole(&self, path: &[u8]) -> Result<Ranks, Corrupt> {
        by_width!(self, automaton => {
            let count = &mut Uncounted::default();
            let trie = walk_trie(automaton, path, count)?;
            Walk::<'_, _, _, { BUILT[BEST as usize] }>::after_trie(&automaton, path, &trie, count)
        })
    }

    /// Returns the pattern of a rule that [`Self::matches`] returned for this path.
    ///
    /// # Errors
    /// Returns an error if the bytes are invalid or the rule does not match the path.
    pub fn pattern(&self, rank: u32, path: &[u8]) -> Result<Vec<u8>, Corrupt> {
        if self.stored.is_patched() {
            return self.patched(|ruleset| ruleset.pattern(rank, path));
        }
        by_width!(self, automaton => {
            if automaton.otherwise() == Some(rank) {
                return Ok(Vec::new());
            }
            match automaton.text(rank)? {
                Some(text) => Ok(text.pattern.to_vec()),
                None => list::pattern_in_trie(automaton, rank, path),
            }
        })
    }

    /// Returns whether the rule with this rank matches a path in the set's normal form, or `None` if the table of texts
    /// does not contain the rule. It contains every rule with a wildcard. Linear in pattern and path.
    ///
    /// # Errors
    /// Returns an error if the bytes are invalid.
    pub fn text_matches(&self, rank: u32, path: &[u8]) -> Result<Option<bool>, Corrupt> {
        if self.stored.is_patched() {
            return self.patched(|ruleset| ruleset.text_matches(rank, path));
        }
        by_width!(self, automaton => {
            Ok(automaton.text(rank)?.map(|text| list::matches(text.pattern, text.flags, path)))
        })
    }

    /// Returns a rank that is comparable among all rulesets that decide together.
    ///
    /// The smaller one wins.
    ///
    /// # Errors
    /// Returns an error if this ruleset decides alone or has no such rule.
    pub fn joint_rank(&self, rank: u32) -> Result<u32, Corrupt> {
        if self.stored.is_patched() {
            return self.patched(|ruleset| ruleset.joint_rank(rank));
        }
        by_width!(self, automaton => automaton.joint_rank(rank / 2))
    }

    /// Returns every rule in order of precedence.
    ///
    /// There are [`Self::rule_count`] rules, and the rule at index `n` has the rank `2 * n` or `2 * n + 1`. The rules
    /// determine all matches.
    ///
    /// Cost: linear in the automaton, plus a copy of every pattern.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an automaton, a rule is missing, or the patterns exceed
    /// [`MAX_PATTERNS_BYTES`](crate::format::automaton::MAX_PATTERNS_BYTES).
    pub fn rules(&self) -> Result<Vec<RulesetRule>, Corrupt> {
        if self.stored.is_patched() {
            return self.patched(|ruleset| ruleset.rules());
        }
        by_width!(self, automaton => list::rules(automaton))
    }

    /// Returns the maximum number of passes that a decision takes over one path, as counted by [`passes`].
    ///
    /// Cost: linear in the automaton, plus sorting its fallback patterns.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an automaton.
    pub fn passes(&self) -> Result<usize, Corrupt> {
        Ok(passes(&decode(&self.to_bytes()?)?.draft()))
    }

    /// Checks that every byte is as a writer writes it.
    ///
    /// These are the invariants that [`crate::format::automaton`] marks as checked by `verify`, including the *written
    /// form*. Does not prove that the transitions implement the rules; for that, the compiler recompiles
    /// [`Self::rules`].
    ///
    /// Cost: time and memory linear in the bytes, even if they are invalid.
    ///
    /// # Errors
    /// Returns the first violation.
    pub fn verify(&self) -> Result<(), Corrupt> {
        self.verify_counted().0
    }

    /// Like [`Self::verify`], but also counts the steps: bytes read, references followed, states, rules.
    ///
    /// For tests.
    ///
    /// # Errors
    /// See [`Self::verify`].
    pub fn verify_counted(&self) -> (Result<(), Corrupt>, usize) {
        match self.to_bytes() {
            Ok(bytes) => verify::verify(&bytes),
            Err(error) => (Err(error), self.stored.byte_len()),
        }
    }
}

fn some_rank(rank: u32) -> Option<u32> {
    Some(rank).filter(|&rank| rank != NO_RANK)
}
