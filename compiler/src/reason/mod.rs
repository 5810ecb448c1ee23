//! Proves statements about all URLs under a ruleset, rather than deciding a single one.
//!
//! [`Reasoner::extent`] proves that everything is allowed, that everything is disallowed, or that each occurs, with an
//! example path. A few probes cannot do that: `Disallow: /` with `Allow: /$` disallows every page except the first. The
//! search runs all rules at once over all paths of any length, and visits each state once (`search`). Only paths that a
//! URL can have count (`paths`), and the ruleset itself decided every returned path.
//!
//! `/robots.txt` itself does not count: it is not a page, and some dialects allow it regardless of the rules.
//!
//! There can be many states, for example with a hundred patterns that each have several wildcards. [`MAX_PROOF_STEPS`]
//! bounds the work; beyond it the answer is [`Extent::Unproved`], never a guess.

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
use search::{SearchResult, search};

/// Length of the shortest text before a URL's path, such as `ftp://a`.
const MIN_ORIGIN_BYTES: usize = 7;

/// Maximum rules tried individually for an example after a proof stops.
const MAX_RULES_TRIED: usize = 4096;

/// A ruleset's verdicts for all paths. Paths are written as in URLs, starting at the slash after the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every path is allowed.
    Allowed,
    /// Every path except `/robots.txt` is disallowed.
    Disallowed,
    /// Some paths are allowed and some are disallowed.
    Partial {
        /// An allowed path.
        allowed: Vec<u8>,
        /// A disallowed path.
        disallowed: Vec<u8>,
    },
    /// The proof stopped at [`MAX_PROOF_STEPS`] or at a path that is too long for a URL, with at most one verdict seen.
    Unproved {
        /// A path with that verdict, if any was found.
        example: Option<(Verdict, Vec<u8>)>,
    },
}

/// An [`Extent`] with statistics about its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The verdicts for all paths.
    pub extent: Extent,
    /// The number of distinct allow rules. Excludes rules without a pattern, which restrict nothing, and the rule that
    /// allows `/robots.txt`, which some dialects add.
    pub allow_rules: u32,
    /// The number of distinct disallow rules, counted in the same way.
    pub disallow_rules: u32,
    /// The steps in the longer of the two searches; a step moves one rule over one byte.
    pub steps: usize,
}

/// Proves statements about a set's rulesets.
pub struct Reasoner {
    form: NormalForm,
    paths: Paths,
    max_steps: usize,
}

impl Reasoner {
    /// Creates a reasoner for rulesets whose paths are compared in this normal form.
    #[must_use]
    pub fn new(form: NormalForm) -> Reasoner {
        Reasoner::with_max_steps(form, MAX_PROOF_STEPS)
    }

    /// Creates a reasoner like [`Reasoner::new`], with a limit other than [`MAX_PROOF_STEPS`].
    #[must_use]
    pub fn with_max_steps(form: NormalForm, max_steps: usize) -> Reasoner {
        Reasoner { form, paths: Paths::of(form), max_steps }
    }

    /// Proves the verdicts for all paths under rulesets that decide together (usually a single one).
    ///
    /// Unless the proof stopped, each example is one of the shortest paths with its verdict, and among those one with
    /// letters is preferred.
    ///
    /// Lists the rules, and takes at most [`MAX_PROOF_STEPS`] steps for each verdict. A step takes a few nanoseconds,
    /// and may temporarily take about 16 bytes. Most rulesets take a few hundred steps.
    ///
    /// # Errors
    /// Returns an error if a ruleset is damaged.
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

    /// Combines the results of the searches for each verdict.
    fn judge(
        &self,
        found: [SearchResult; 2],
        patterns: &Patterns<'_>,
        rulesets: &[Ruleset<'_>],
    ) -> Result<Extent, Corrupt> {
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

    /// Records a normalized path as an example of its verdict, unless there already is one or the path cannot occur in
    /// a URL.
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

/// Returns whether a rule counts as one of the file's rules.
fn is_counted(rule: &RulesetRule) -> bool {
    let is_of_dialect = rule.kind == RuleKind::Allow && rule.pattern == b"/robots.txt$";
    !rule.pattern.is_empty() && !rule.opens_directory && !is_of_dialect
}

/// Decides a normalized path under rulesets that decide together.
fn verdict(rulesets: &[Ruleset<'_>], path: &[u8]) -> Result<Verdict, Corrupt> {
    if let [ruleset] = rulesets {
        return ruleset.verdict(path);
    }
    let mut best = [u32::MAX; 2];
    for ruleset in rulesets {
        let matches = ruleset.matches(path)?;
        for (kind, rank) in [(RuleKind::Allow, matches.allow), (RuleKind::Disallow, matches.disallow)] {
            // The rule without a pattern has no joint rank, and decides nothing.
            if let Some(place) = rank.and_then(|rank| ruleset.joint_rank(rank).ok()) {
                best[kind as usize] = best[kind as usize].min(place);
            }
        }
    }
    Ok(if best[1] < best[0] { Verdict::Disallow } else { Verdict::Allow })
}
