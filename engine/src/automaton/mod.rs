//! One ruleset: its verdict for a path, its rules, and what it looks like inside.
//!
//! [`Ruleset::verdict`] is the fast question, [`Ruleset::matches`] names the rules too, [`Ruleset::rules`] lists them
//! all. The bytes are known to [`crate::format::automaton`] alone, which also names the invariants; how they are made is the
//! compiler's.
//!
//! A walk takes no memory but its stack, which [`MAX_WILDCARD_DEPTH`](crate::format::automaton::MAX_WILDCARD_DEPTH)
//! bounds. It reads the path once in the trie and once in each wildcard automaton that it begins.

use std::borrow::Cow;

use crate::format::automaton::{Automaton, Corrupt, NO_RANK, NO_RANKS, Width, decode, kind_of, known_width, width};
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

use walk::{Count, Walk, walk_trie};

/// The rules of one group, compiled: a view of bytes in a set. Free to copy.
///
/// A set stores a ruleset that differs from another one in few bytes as patches of it. A decision by such a ruleset
/// copies the other one and patches the copy, at most [`MAX_PATCHED_BYTES`] on the stack.
///
/// [`Debug`](std::fmt::Debug) prints its states.
#[derive(Clone, Copy)]
pub struct Ruleset<'a> {
    /// Begins with the header of an automaton, of which the width is read again: a byte more here would be copied with the
    /// seven after it in pieces that overlap, which takes longer.
    stored: StoredRuleset<'a>,
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
    /// The rank of the rule that decides.
    pub decided_by: Option<u32>,
}

/// Which parts an automaton has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Whether there is a trie.
    pub trie: bool,
    /// How many wildcard automata there are.
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
    /// Views the bytes of an automaton that stands for itself, as [`crate::format::automaton::write`] returns it. Looks
    /// at the header only.
    ///
    /// # Errors
    /// When the bytes do not begin with the header of an automaton.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Result<Ruleset<'a>, Corrupt> {
        Ruleset::stored(StoredRuleset { bytes, patches: &[], fingerprints: &[] })
    }

    /// Views a ruleset as a set stores it. Looks at the header only.
    ///
    /// # Errors
    /// When the bytes do not begin with the header of an automaton.
    #[inline(always)]
    pub fn stored(stored: StoredRuleset<'a>) -> Result<Ruleset<'a>, Corrupt> {
        width(stored.bytes)?;
        Ok(Ruleset { stored })
    }

    #[inline(always)]
    fn width(&self) -> Width {
        known_width(self.stored.bytes)
    }

    /// The automaton by itself: patched, and with its own fingerprints.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub fn to_bytes(&self) -> Result<Cow<'a, [u8]>, Corrupt> {
        self.stored.to_bytes()
    }

    /// Runs `work` with the ruleset without patches: with a patched copy, if there are any.
    #[inline(never)]
    fn patched<R>(&self, work: impl FnOnce(&Ruleset<'_>) -> Result<R, Corrupt>) -> Result<R, Corrupt> {
        // Most are short, and a large copy would have to be filled with zeros first.
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

    /// How many rules it has.
    #[must_use]
    pub fn rule_count(&self) -> u32 {
        by_width!(self, automaton => automaton.rule_count())
    }

    /// How many bytes it takes in its set, without fingerprints that it shares and without what it patches.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.stored.byte_len()
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
    /// Cost: at most [`STEPS_OF_PASS`] steps for each byte of the path and its end in each of [`Self::passes`]: one pass
    /// through the trie, one for each wildcard automaton that begins, one for each fallback pattern that is searched
    /// for. In addition the bytes of the fallback patterns, of which there are no more than
    /// [`MAX_FALLBACK_BYTES`](crate::format::automaton::MAX_FALLBACK_BYTES). There are no more passes than
    /// [`MAX_PASSES`](crate::format::automaton::MAX_PASSES), also over unverified bytes.
    /// [`Self::verdict_counted`] counts the steps.
    ///
    /// # Errors
    /// When it meets invalid bytes. [`Self::verify`] finds all of them.
    #[inline(always)]
    pub fn verdict(&self, path: &[u8]) -> Result<Verdict, Corrupt> {
        self.verdict_with(path, &mut ())
    }

    /// As [`Self::verdict`], for one ruleset after the other: patches them in the same room, which then need not be filled with
    /// zeros for each. Over real URLs of real files that took a twentieth of the instructions of a decision.
    ///
    /// # Errors
    /// As [`Self::verdict`].
    #[inline(always)]
    pub(crate) fn verdict_in(&self, room: &mut [u8; MAX_PATCHED_BYTES], path: &[u8]) -> Result<Verdict, Corrupt> {
        if self.stored.is_patched() {
            return self.patched_in(room, |ruleset| ruleset.verdict_of_whole(path, &mut ()));
        }
        self.verdict_of_whole(path, &mut ())
    }

    /// As [`Self::verdict`], and counts the steps: states, bytes of labels, wildcard automata that are looked at, places at
    /// which one looks for its segments, and bytes that fallback patterns are compared with. For tests; the walk is the
    /// same.
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
        if self.stored.is_patched() {
            return self.patched(|ruleset| ruleset.verdict_of_whole(path, count));
        }
        self.verdict_of_whole(path, count)
    }

    #[inline(always)]
    fn verdict_of_whole<C: Count>(&self, path: &[u8], count: &mut C) -> Result<Verdict, Corrupt> {
        by_width!(self, automaton => {
            let trie = walk_trie(automaton, path, count)?;
            let disallows = if trie.end.is_settled() && !automaton.has_fallbacks() {
                trie.end.disallows(trie.at_end)
            } else {
                let [allow, disallow] = Walk::<'_, _, _, true>::after_trie(&automaton, path, &trie, count)?;
                disallow < allow
            };
            Ok(if disallows { Verdict::Disallow } else { Verdict::Allow })
        })
    }

    /// The best rule of each kind for a path in the set's normal form, and what follows from them.
    ///
    /// # Errors
    /// When it meets invalid bytes.
    pub fn matches(&self, path: &[u8]) -> Result<Matches, Corrupt> {
        if self.stored.is_patched() {
            return self.patched(|ruleset| ruleset.matches(path));
        }
        let (best, otherwise) = by_width!(self, automaton => {
            let trie = walk_trie(automaton, path, &mut ())?;
            (Walk::<'_, _, _, false>::after_trie(&automaton, path, &trie, &mut ())?, automaton.otherwise())
        });
        let [allow, disallow] = best.map(some_rank);
        Ok(match otherwise {
            Some(otherwise) if best == NO_RANKS => Matches {
                allow: Some(otherwise).filter(|&rank| kind_of(rank) == RuleKind::Allow),
                disallow: Some(otherwise).filter(|&rank| kind_of(rank) == RuleKind::Disallow),
                // An empty pattern restricts nothing, be it an allow or a disallow.
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
    /// When it meets invalid bytes, or the rule does not match the path.
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

    /// The number by which a rank's rule is compared with the rules of the other rulesets that decide together with this
    /// one; the smaller wins.
    ///
    /// # Errors
    /// When this ruleset decides alone, or has no such rule.
    pub fn joint_rank(&self, rank: u32) -> Result<u32, Corrupt> {
        if self.stored.is_patched() {
            return self.patched(|ruleset| ruleset.joint_rank(rank));
        }
        by_width!(self, automaton => automaton.joint_rank(rank / 2))
    }

    /// Every rule, in the order of precedence: [`Self::rule_count`] of them, the rule at place `n` with the rank `2 * n` or
    /// `2 * n + 1`. What the ruleset matches can be recomputed from them.
    ///
    /// Cost: linear in the automaton, and a copy of every pattern.
    ///
    /// # Errors
    /// When the bytes are not an automaton, some rule is missing, or the patterns take more than
    /// [`MAX_PATTERNS_BYTES`](crate::format::automaton::MAX_PATTERNS_BYTES).
    pub fn rules(&self) -> Result<Vec<RulesetRule>, Corrupt> {
        if self.stored.is_patched() {
            return self.patched(|ruleset| ruleset.rules());
        }
        by_width!(self, automaton => list::rules(automaton))
    }

    /// The most passes over one path that a decision takes, as [`passes`] counts them.
    ///
    /// Cost: linear in the automaton, and sorting its fallback patterns.
    ///
    /// # Errors
    /// When the bytes are not an automaton.
    pub fn passes(&self) -> Result<usize, Corrupt> {
        Ok(passes(&decode(&self.to_bytes()?)?.draft()))
    }

    /// Checks that every byte is as a writer writes it: the invariants that [`crate::format::automaton`] marks as checked
    /// by `verify`, among them the *written form*. It does not prove that transitions find what the rules say; for that
    /// the compiler compiles [`Self::rules`] again.
    ///
    /// Cost: time and memory linear in the bytes, whatever they are.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<(), Corrupt> {
        self.verify_counted().0
    }

    /// As [`Self::verify`], and counts the steps: bytes that are read, references that are followed, states, rules. For
    /// tests.
    ///
    /// # Errors
    /// As [`Self::verify`].
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
