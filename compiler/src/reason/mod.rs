//! Statements about a ruleset as a whole: not what it says of one URL, but of all of them.
//!
//! [`Reasoner::extent`] proves that everything is allowed, that everything is disallowed, or that some of both is, with a
//! path of each. A few probes cannot do that: `Disallow: /` beside `Allow: /$` disallows every page but the first. The
//! rules are walked all at once over all paths of any length, each state of that walk once (`search`). Only paths that a
//! URL can have count (`paths`), and every path that is returned was decided by the ruleset itself.
//!
//! `/robots.txt` itself does not count: no page is there, and some dialects allow it whatever the rules say.
//!
//! The states can be many, as for a hundred patterns of several wildcards. [`MAX_PROOF_STEPS`] bounds the work, and beyond
//! it the answer is [`Extent::Unproved`], never a guess.

mod paths;
mod patterns;
mod search;

use bumpalo::Bump;
use reptile_engine::automaton::{Ruleset, RulesetRule};
use reptile_engine::format::automaton::Corrupt;
use reptile_engine::norm::NormalForm;
use reptile_engine::url::MAX_URL_BYTES;
use reptile_engine::verdict::{RuleKind, Verdict};

use crate::limits::MAX_PROOF_STEPS;
use crate::rules::order::RuleList;
use paths::Paths;
use patterns::Patterns;
use search::{Found, search};

/// Bytes of the shortest text before the path of a URL, such as `ftp://a`.
const MIN_ORIGIN_BYTES: usize = 7;

/// The most rules that are tried one by one for an example where a proof has stopped.
const MAX_RULES_TRIED: usize = 4096;

/// What a ruleset says of all paths together. Paths are as a URL has them, from the slash after the host on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every path is allowed.
    Allowed,
    /// Every path is disallowed, but for `/robots.txt`.
    Disallowed,
    /// Some paths are allowed and some are disallowed.
    Partial {
        /// A path that is allowed.
        allowed: Vec<u8>,
        /// A path that is disallowed.
        disallowed: Vec<u8>,
    },
    /// The proof stopped at [`MAX_PROOF_STEPS`], or at a path that is too long for a URL, and only one verdict was seen.
    Unproved {
        /// A path with that verdict, if any was found.
        example: Option<(Verdict, Vec<u8>)>,
    },
}

/// An [`Extent`] with what it was proved from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What the rules say of all paths.
    pub extent: Extent,
    /// How many distinct rules allow. A rule without a pattern restricts nothing and is not counted; nor is the rule that
    /// allows `/robots.txt`, which some dialects add.
    pub allow_rules: u32,
    /// How many rules disallow, counted alike.
    pub disallow_rules: u32,
    /// How many steps the longer of the two searches took: rules that were moved over a byte.
    pub steps: usize,
}

/// Makes statements about the rulesets of one set.
pub struct Reasoner {
    form: NormalForm,
    paths: Paths,
    max_steps: usize,
}

impl Reasoner {
    /// For rulesets whose paths are compared in this normal form.
    #[must_use]
    pub fn new(form: NormalForm) -> Reasoner {
        Reasoner::with_max_steps(form, MAX_PROOF_STEPS)
    }

    /// As [`Reasoner::new`], with another limit than [`MAX_PROOF_STEPS`].
    #[must_use]
    pub fn with_max_steps(form: NormalForm, max_steps: usize) -> Reasoner {
        Reasoner { form, paths: Paths::of(form), max_steps }
    }

    /// What some rulesets that decide together, mostly one, say of all paths. Of the allowed paths, and of the disallowed
    /// ones, the example is a shortest one, unless the proof stopped; of those of one length one of letters is preferred.
    ///
    /// Cost: lists the rules, and for each verdict at most [`MAX_PROOF_STEPS`] steps of some nanoseconds, each of which may
    /// take some 16 bytes for a while. Most rulesets take a few hundred.
    ///
    /// # Errors
    /// If a ruleset is damaged.
    ///
    /// ```
    /// use bumpalo::Bump;
    /// use reptile_compiler::automaton::{Strategy, compile};
    /// use reptile_compiler::reason::{Extent, Reasoner};
    /// use reptile_compiler::{dialect::GOOGLE_LIB, set::prepare};
    /// use reptile_engine::automaton::Ruleset;
    ///
    /// let arena = Bump::new();
    /// let prepared = prepare(b"user-agent: *\nallow: /$\ndisallow: /\n", &GOOGLE_LIB, &arena)?;
    /// let bytes = compile(&prepared.groups[0].0, Strategy::default(), &arena)?;
    /// let statement = Reasoner::new(GOOGLE_LIB.normal_form).extent(&[Ruleset::new(&bytes)?])?;
    /// assert_eq!(statement.extent, Extent::Partial { allowed: b"/".into(), disallowed: b"/a".into() });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn extent(&self, rulesets: &[Ruleset<'_>]) -> Result<Statement, Corrupt> {
        let (mut lists, mut counts) = (Vec::with_capacity(rulesets.len()), [0; 2]);
        for ruleset in rulesets {
            let rules = ruleset.rules()?;
            for rule in rules.iter().filter(|rule| is_counted(rule)) {
                counts[rule.kind as usize] += 1;
            }
            lists.push(RuleList::from_compiled(&rules, &Bump::new()));
        }
        let patterns = Patterns::of(&lists);
        let kinds = [RuleKind::Allow, RuleKind::Disallow];
        let found = kinds.map(|kind| search(&patterns, &self.paths, kind, self.max_steps));
        let steps = found.iter().map(|found| found.steps).max().unwrap_or_default();
        let extent = self.judge(found, &patterns, rulesets)?;
        Ok(Statement { extent, allow_rules: counts[0], disallow_rules: counts[1], steps })
    }

    /// The statement that follows from a search for each verdict.
    fn judge(&self, found: [Found; 2], patterns: &Patterns<'_>, rulesets: &[Ruleset<'_>]) -> Result<Extent, Corrupt> {
        let is_ruled_out = found.each_ref().map(|found| found.is_complete && found.path.is_none());
        let [allowed, disallowed] = found.map(|found| found.path);
        let one_verdict = match is_ruled_out {
            [false, true] => Some(Extent::Allowed),
            [true, false] => Some(Extent::Disallowed),
            _ => None,
        };
        let mut examples = [None, None];
        for path in [allowed, disallowed].into_iter().flatten() {
            self.note_example(&path, rulesets, &mut examples)?;
        }
        if let Some(extent) = one_verdict {
            return Ok(extent);
        }
        for path in patterns.shortest_paths().take(MAX_RULES_TRIED) {
            if examples.iter().all(Option::is_some) {
                break;
            }
            self.note_example(&path, rulesets, &mut examples)?;
        }
        Ok(match examples {
            [Some(allowed), Some(disallowed)] => Extent::Partial { allowed, disallowed },
            [Some(path), None] => Extent::Unproved { example: Some((Verdict::Allow, path)) },
            [None, Some(path)] => Extent::Unproved { example: Some((Verdict::Disallow, path)) },
            [None, None] => Extent::Unproved { example: None },
        })
    }

    /// Notes a path in normal form as an example of the verdict that the rulesets give it, unless there is one already or
    /// no URL has the path.
    fn note_example(
        &self,
        path: &[u8],
        rulesets: &[Ruleset<'_>],
        examples: &mut [Option<Vec<u8>>; 2],
    ) -> Result<(), Corrupt> {
        let example = &mut examples[usize::from(verdict(rulesets, path)? == Verdict::Disallow)];
        if example.is_none() && path != search::ROBOTS_TXT && self.paths.accepts(path) {
            let written = self.paths.as_written(path);
            let is_in_a_url = written.len() <= MAX_URL_BYTES - MIN_ORIGIN_BYTES && *self.form.path(&written) == *path;
            *example = is_in_a_url.then_some(written);
        }
        Ok(())
    }
}

/// Whether a rule is counted as a rule of the file.
fn is_counted(rule: &RulesetRule) -> bool {
    let is_of_dialect = rule.kind == RuleKind::Allow && rule.pattern == b"/robots.txt$";
    !rule.pattern.is_empty() && !rule.opens_directory && !is_of_dialect
}

/// The verdict of some rulesets that decide together for a path in normal form.
fn verdict(rulesets: &[Ruleset<'_>], path: &[u8]) -> Result<Verdict, Corrupt> {
    if let [ruleset] = rulesets {
        return ruleset.verdict(path);
    }
    let mut best = [u32::MAX; 2];
    for ruleset in rulesets {
        let matches = ruleset.matches(path)?;
        for (kind, rank) in [(RuleKind::Allow, matches.allow), (RuleKind::Disallow, matches.disallow)] {
            // The rule without a pattern has no place among the rules of all groups, and decides nothing.
            if let Some(place) = rank.and_then(|rank| ruleset.joint_rank(rank).ok()) {
                best[kind as usize] = best[kind as usize].min(place);
            }
        }
    }
    Ok(if best[1] < best[0] { Verdict::Disallow } else { Verdict::Allow })
}
