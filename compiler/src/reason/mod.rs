//! Proves statements about all URLs under rulesets, rather than deciding a single one.
//!
//! [`Reasoner::extent`] proves that everything is allowed, that everything is disallowed, or that each occurs, with an
//! example path. [`Reasoner::uses`] does the same for what usage rules permit. [`Reasoner::compare`], [`Reasoner::excess`] and [`Reasoner::common`] compare two rulesets: are they
//! equivalent, does one allow more than the other, does any path have both? [`Assumption`] restricts a question to some
//! paths. A few probes cannot answer this: `Disallow: /` with `Allow: /$` disallows every page except the first.
//!
//! Each question is a search for a shortest path that meets some conditions. The search runs all rules at once over all
//! paths of any length, and visits each state once (`search`). Only paths that a URL can have count (`paths`, and
//! `two_forms` for rulesets of two dialects). Before a path is returned, the compiled rulesets decide it, and so does
//! the slow matcher of the [oracle](crate::oracle).
//!
//! `/robots.txt` itself does not count: it is not a page, and some dialects allow it regardless of the rules.
//!
//! There can be many states, for example with a hundred patterns that each have several wildcards. [`MAX_PROOF_STEPS`]
//! bounds the work; beyond it the paths of single rules and of pairs of rules are tried. If none of them is an example,
//! the answer is [`Extent::Unproved`] or [`Witness::Unproved`], never a guess.

mod access;
mod assumption;
mod paths;
mod patterns;
pub(crate) mod removal;
mod search;
mod two_forms;
mod usage;

use std::borrow::Cow;

use bumpalo::Bump;
use reptile_engine::automaton::{Ruleset, RulesetRule};
use reptile_engine::format::automaton::{Corrupt, kind_of};
use reptile_engine::norm::NormalForm;
use reptile_engine::url::MAX_URL_BYTES;
use reptile_engine::verdict::{Preference, RuleKind, Verdict};

pub use self::access::Access;
pub use self::assumption::{Assumption, BadPattern};
pub use self::usage::StatedUses;
use crate::limits::MAX_PROOF_STEPS;
use crate::rules::order::{OrderedRule, RuleList};
use paths::Paths;
use patterns::{Condition, Pattern, Patterns, joint_path, matches_slowly, rule_out, slow_steps};
use search::search;
use two_forms::TwoForms;

/// Length of the shortest text before a URL's path, such as `ftp://a`.
const MIN_ORIGIN_BYTES: usize = 7;

/// Maximum pairs of rules tried for an example after a proof stops.
const MAX_PAIRS_TRIED: usize = 1 << 16;

/// Maximum rules tried individually for an example after a proof stops.
const MAX_RULES_TRIED: usize = 4096;

/// Maximum number of steps in which the oracle's matcher decides a path: the bytes in all patterns, for patterns with
/// wildcards times the path's length. They take a fraction of a second. Beyond it the path is not returned.
const MAX_CHECK_STEPS: usize = 1 << 26;

/// A ruleset's verdicts for all paths. Paths are written as in URLs, starting at the slash after the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Extent {
    /// Every path is allowed.
    Allowed,
    /// Every path except `/robots.txt` is disallowed.
    Disallowed,
    /// Some paths are allowed and some are disallowed.
    Partial {
        /// An allowed path.
        #[cfg_attr(feature = "serde", serde(with = "reptile_engine::words::bytes"))]
        allowed: Vec<u8>,
        /// A disallowed path.
        #[cfg_attr(feature = "serde", serde(with = "reptile_engine::words::bytes"))]
        disallowed: Vec<u8>,
    },
    /// The proof stopped at [`MAX_PROOF_STEPS`] or at a path that is too long for a URL, with at most one verdict seen.
    Unproved {
        /// A path with that verdict, if any was found.
        #[cfg_attr(feature = "serde", serde(with = "example"))]
        example: Option<(Verdict, Vec<u8>)>,
    },
}

/// Serializes the example of an unproved [`Extent`].
#[cfg(feature = "serde")]
mod example {
    use reptile_engine::verdict::Verdict;
    use reptile_engine::words::Text;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Example = Option<(Verdict, Vec<u8>)>;

    pub(super) fn serialize<S: Serializer>(example: &Example, serializer: S) -> Result<S::Ok, S::Error> {
        example.as_ref().map(|(verdict, path)| (*verdict, Text(path.clone()))).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Example, D::Error> {
        let example = Option::<(Verdict, Text)>::deserialize(deserializer)?;
        Ok(example.map(|(verdict, Text(path))| (verdict, path)))
    }
}

/// An [`Extent`] with statistics about its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

/// The answer to the question whether a path with some property exists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Witness {
    /// Proved: there is no such path.
    None,
    /// Such a path, as written in a URL, starting at the slash after the host. Unless the proof stopped, no other such
    /// path is shorter in normal form, or as written if there are two normal forms.
    #[cfg_attr(feature = "serde", serde(with = "reptile_engine::words::bytes"))]
    Path(Vec<u8>),
    /// The proof stopped at [`MAX_PROOF_STEPS`] or at a path that is too long for a URL, and no such path was seen.
    Unproved,
}

/// The result of comparing two rulesets, each way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Comparison {
    /// A path that only the first ruleset allows.
    pub first_only: Witness,
    /// A path that only the second ruleset allows.
    pub second_only: Witness,
    /// The steps in the longer of the two searches; 0 for equal rulesets.
    pub steps: usize,
}

impl Comparison {
    /// Returns whether both were proved to allow the same paths.
    #[must_use]
    pub fn is_equivalent(&self) -> bool {
        (&self.first_only, &self.second_only) == (&Witness::None, &Witness::None)
    }

    /// Returns whether either question is unproved.
    #[must_use]
    pub fn is_unproved(&self) -> bool {
        self.first_only == Witness::Unproved || self.second_only == Witness::Unproved
    }
}

/// Proves statements about a set's rulesets.
pub struct Reasoner {
    /// The normal forms of the first and the second ruleset in a question.
    forms: [NormalForm; 2],
    paths: Paths,
    /// Present if the forms differ.
    two_forms: Option<TwoForms>,
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
        Reasoner { forms: [form; 2], paths: Paths::of(form), two_forms: None, max_steps }
    }

    /// Creates a reasoner that compares rulesets in two normal forms, from sets with different dialects. The first one
    /// is also the assumption's form. Otherwise it is the same as [`Reasoner::new`].
    ///
    /// A shortest path is then the shortest as written.
    #[must_use]
    pub fn of_forms(forms: [NormalForm; 2]) -> Reasoner {
        let two_forms = (forms[0] != forms[1]).then(|| TwoForms::of(forms));
        Reasoner { forms, two_forms, ..Reasoner::new(forms[0]) }
    }

    /// Compares two rulesets: searches for a path that only the first one allows, and for a path that only the second
    /// one allows. The rulesets are equivalent if neither path exists.
    ///
    /// Cost: see [`Reasoner::excess`], for each direction. Equal rulesets need no search.
    ///
    /// # Errors
    /// Returns an error if a ruleset is damaged.
    ///
    /// ```
    /// use bumpalo::Bump;
    /// use reptile_compiler::automaton::{Strategy, compile};
    /// use reptile_compiler::reason::{Access, Reasoner, Witness};
    /// use reptile_compiler::{dialect::GOOGLE_LIB, set::prepare};
    /// use reptile_engine::automaton::Ruleset;
    ///
    /// let arena = Bump::new();
    /// let ruleset = |rules: &str| {
    ///     let prepared = prepare(rules.as_bytes(), &GOOGLE_LIB, &arena)?;
    ///     Ok::<_, Box<dyn std::error::Error>>(compile(&prepared.groups[0].0, Strategy::default(), &arena)?)
    /// };
    /// let (old, new) = (ruleset("user-agent: *\ndisallow: /a")?, ruleset("user-agent: *\ndisallow: /a$")?);
    /// let [old, new] = [Ruleset::new(&old)?, Ruleset::new(&new)?].map(|ruleset| Access::Rules(vec![ruleset]));
    /// let found = Reasoner::new(GOOGLE_LIB.normal_form).compare(&old, &new, None)?;
    /// assert_eq!((found.first_only, found.second_only), (Witness::None, Witness::Path(b"/aa".into())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compare(
        &self,
        first: &Access<'_>,
        second: &Access<'_>,
        assumption: Option<&Assumption>,
    ) -> Result<Comparison, Corrupt> {
        let sides = [AccessLists::of(first)?, AccessLists::of(second)?];
        if self.two_forms.is_none() && sides[0].is_same(&sides[1]) {
            return Ok(Comparison { first_only: Witness::None, second_only: Witness::None, steps: 0 });
        }
        let [allow, disallow] = [RuleKind::Allow, RuleKind::Disallow];
        let (first_only, steps) = self.find(&sides.each_ref(), &[allow, disallow], assumption)?;
        let (second_only, more_steps) = self.find(&sides.each_ref(), &[disallow, allow], assumption)?;
        Ok(Comparison { first_only, second_only, steps: steps.max(more_steps) })
    }

    /// Searches for a path that the first ruleset allows and the second one does not. If there is no such path, the
    /// first ruleset permits no more than the second.
    ///
    /// Lists the rules, and takes at most [`MAX_PROOF_STEPS`] steps; see [`Reasoner::extent`]. If the proof stops, the
    /// paths of single rules and rule pairs are tried, in at most as many steps again. The oracle checks an example in
    /// time proportional to the rules' bytes times the path's. Rules that both rulesets have usually need few steps.
    ///
    /// # Errors
    /// Returns an error if a ruleset is damaged.
    pub fn excess(
        &self,
        first: &Access<'_>,
        second: &Access<'_>,
        assumption: Option<&Assumption>,
    ) -> Result<Witness, Corrupt> {
        let sides = [AccessLists::of(first)?, AccessLists::of(second)?];
        if self.two_forms.is_none() && sides[0].is_same(&sides[1]) {
            return Ok(Witness::None);
        }
        Ok(self.find(&sides.each_ref(), &[RuleKind::Allow, RuleKind::Disallow], assumption)?.0)
    }

    /// Searches for a path to which both rulesets give the same verdict. The sets of paths that they allow are disjoint
    /// if no path is allowed by both.
    ///
    /// Cost: see [`Reasoner::excess`].
    ///
    /// # Errors
    /// Returns an error if a ruleset is damaged.
    pub fn common(
        &self,
        first: &Access<'_>,
        second: &Access<'_>,
        verdict: RuleKind,
        assumption: Option<&Assumption>,
    ) -> Result<Witness, Corrupt> {
        Ok(self.find(&[&AccessLists::of(first)?, &AccessLists::of(second)?], &[verdict; 2], assumption)?.0)
    }

    /// Searches for a path that has a verdict, among the paths of the assumption.
    ///
    /// Cost: see [`Reasoner::excess`].
    ///
    /// # Errors
    /// Returns an error if a ruleset is damaged.
    pub fn any(
        &self,
        access: &Access<'_>,
        verdict: RuleKind,
        assumption: Option<&Assumption>,
    ) -> Result<Witness, Corrupt> {
        Ok(self.find(&[&AccessLists::of(access)?], &[verdict], assumption)?.0)
    }

    /// Searches, for each use, for a path that may be fetched and is allowed for the use, one that is disallowed, and
    /// one without a stated preference, in this order. If all three are [`Witness::None`], no path may be fetched.
    ///
    /// Cost: see [`Reasoner::excess`], for each use and each preference that a rule states.
    ///
    /// # Errors
    /// Returns an error if a ruleset is damaged.
    pub fn uses(&self, access: &Access<'_>, uses: &StatedUses<'_>) -> Result<Vec<[Witness; 3]>, Corrupt> {
        let access = AccessLists::of(access)?;
        let of_use = |number| {
            let groups: Vec<AccessLists<'_>> = uses.groups(number).map(AccessLists::of).collect::<Result<_, _>>()?;
            let sides: Vec<&AccessLists<'_>> = std::iter::once(&access).chain(&groups).collect();
            // Searches for a path that all sides allow and for which lines state one of the preferences.
            let find = |sides: &[&AccessLists<'_>], stated: &[Preference]| match uses
                .paths(number, |preference| stated.contains(&preference))
            {
                Some(paths) => Ok(self.find(sides, &vec![RuleKind::Allow; sides.len()], Some(&paths))?.0),
                None => Ok(Witness::None),
            };
            let by_group = groups
                .iter()
                .map(|group| Ok(self.find(&[&access, group], &[RuleKind::Allow, RuleKind::Disallow], None)?.0));
            let by_group: Vec<Witness> = by_group.collect::<Result<_, Corrupt>>()?;
            let by_line = find(&sides[..1], &[Preference::Disallowed])?;
            // A group states a preference for every path, and the most restrictive statement holds.
            let (allowed, unknown): (&[Preference], &[Preference]) = match groups[..] {
                [] => (&[Preference::Allowed], &[Preference::Unknown]),
                _ => (&[Preference::Allowed, Preference::Unknown], &[]),
            };
            let disallowed = shortest(by_group.into_iter().chain([by_line]));
            Ok([find(&sides, allowed)?, disallowed, find(&sides, unknown)?])
        };
        (0..uses.len()).map(of_use).collect()
    }

    /// Returns the index of a side's normal form: the first one, unless two sides have different forms.
    fn form_of(&self, side: usize) -> usize {
        if self.two_forms.is_some() { side } else { 0 }
    }

    /// Searches for a path to which each side gives its wanted verdict, among the paths of the assumption. Returns the
    /// steps too.
    fn find(
        &self,
        sides: &[&AccessLists<'_>],
        wanted: &[RuleKind],
        assumption: Option<&Assumption>,
    ) -> Result<(Witness, usize), Corrupt> {
        let mut conditions: Vec<Condition<'_>> = Vec::new();
        for (at, (side, wanted)) in sides.iter().zip(wanted).enumerate() {
            conditions.push(Condition::verdict(&side.lists, side.otherwise, *wanted).in_form(self.form_of(at)));
        }
        if let [first, second] = &mut conditions[..] {
            rule_out([first, second], |side, text| match &self.two_forms {
                Some(forms) => forms.translate(side, text).map(Cow::Owned),
                None => Some(Cow::Borrowed(text)),
            });
        }
        conditions.extend(assumption.map(Assumption::condition));
        let patterns = Patterns::of(conditions);
        let found = match &self.two_forms {
            Some(letters) => search(&patterns, letters, self.max_steps),
            None => search(&patterns, &self.paths, self.max_steps),
        };
        let steps = found.steps;
        if found.is_complete && found.path.is_none() {
            return Ok((Witness::None, steps));
        }
        let written = found.path.map(|path| match self.two_forms {
            Some(_) => path,
            None => self.paths.as_written(&path),
        });
        let of_one_rule = patterns.shortest_paths().take(MAX_RULES_TRIED).map(|path| self.paths.as_written(&path));
        let pairs = || patterns.pairs(MAX_PAIRS_TRIED).into_iter().flat_map(|pair| self.paths_of_two_rules(pair));
        let candidates = of_one_rule.chain(std::iter::once_with(pairs).flatten());
        let mut spent = 0;
        for path in written.into_iter().chain(candidates) {
            if self.is_witness(&path, sides, wanted, assumption, &mut spent)? {
                return Ok((Witness::Path(path), steps));
            }
            if spent > self.max_steps {
                break;
            }
        }
        Ok((Witness::Unproved, steps))
    }

    /// Returns paths that two rules match, as written. With two normal forms, one rule may match only a spelling with
    /// escapes.
    fn paths_of_two_rules(&self, [a, b]: [&Pattern<'_>; 2]) -> impl Iterator<Item = Vec<u8>> {
        let as_written = |byte, _: bool, path: &mut Vec<u8>| path.extend(self.paths.as_written(&[byte]));
        let escaped = |byte: u8, is_escaped, path: &mut Vec<u8>| {
            if is_escaped && byte.is_ascii_alphanumeric() {
                path.extend_from_slice(format!("%{byte:02X}").as_bytes());
            } else {
                as_written(byte, is_escaped, path);
            }
        };
        let plain = [(a, b), (b, a)].map(|(first, second)| joint_path(first, second, as_written));
        let spelled = self.two_forms.is_some().then(|| [(a, b), (b, a)].map(|(a, b)| joint_path(a, b, escaped)));
        plain.into_iter().chain(spelled.into_iter().flatten()).flatten()
    }

    /// Decides a path by the compiled rulesets and by the oracle's matcher, and adds the steps in the rulesets. The
    /// oracle is slow, so it decides only what the rulesets confirm.
    fn is_witness(
        &self,
        written: &[u8],
        sides: &[&AccessLists<'_>],
        wanted: &[RuleKind],
        assumption: Option<&Assumption>,
        spent: &mut usize,
    ) -> Result<bool, Corrupt> {
        let normal = self.forms.map(|form| form.path(written));
        let is_page = normal.iter().all(|path| **path != *search::ROBOTS_TXT);
        if !is_page || !self.paths.accepts(&normal[0]) || written.len() > MAX_URL_BYTES - MIN_ORIGIN_BYTES {
            return Ok(false);
        }
        let includes = |assumption: &Assumption| assumption.includes_within(written, MAX_CHECK_STEPS, spent);
        if assumption.map(includes).is_some_and(|is_included| is_included != Some(true)) {
            return Ok(false);
        }
        let decided = || sides.iter().zip(wanted).zip((0..).map(|side| &normal[self.form_of(side)]));
        for ((side, wanted), path) in decided() {
            *spent += side.steps(path)?;
            if side.decide(path)? != *wanted {
                return Ok(false);
            }
        }
        Ok(decided().all(|((side, wanted), path)| side.decide_slowly(path) == Some(*wanted)))
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
        let mut counts = [0; 2];
        for ruleset in rulesets {
            for rule in ruleset.rules()?.iter().filter(|rule| is_counted(rule)) {
                counts[rule.kind as usize] += 1;
            }
        }
        let access = Access::Rules(rulesets.to_vec());
        let side = [&AccessLists::of(&access)?];
        let (allowed, steps) = self.find(&side, &[RuleKind::Allow], None)?;
        let (disallowed, more_steps) = self.find(&side, &[RuleKind::Disallow], None)?;
        let extent = match (allowed, disallowed) {
            (_, Witness::None) => Extent::Allowed,
            (Witness::None, _) => Extent::Disallowed,
            (Witness::Path(allowed), Witness::Path(disallowed)) => Extent::Partial { allowed, disallowed },
            (Witness::Path(path), _) => Extent::Unproved { example: Some((Verdict::Allow, path)) },
            (_, Witness::Path(path)) => Extent::Unproved { example: Some((Verdict::Disallow, path)) },
            _ => Extent::Unproved { example: None },
        };
        let steps = steps.max(more_steps);
        Ok(Statement { extent, allow_rules: counts[0], disallow_rules: counts[1], steps })
    }
}

/// One side of a comparison.
struct AccessLists<'r> {
    rulesets: &'r [Ruleset<'r>],
    lists: Vec<RuleList>,
    /// The verdict if no rule matches.
    otherwise: RuleKind,
}

impl<'r> AccessLists<'r> {
    fn of(access: &'r Access<'r>) -> Result<AccessLists<'r>, Corrupt> {
        let (rulesets, otherwise) = match access {
            Access::Every(verdict) => (&[][..], *verdict),
            Access::Rules(rulesets) => (&rulesets[..], RuleKind::Allow),
        };
        let list = |ruleset: &Ruleset<'_>| Ok(RuleList::from_compiled(&ruleset.rules()?, &Bump::new()));
        Ok(AccessLists { rulesets, lists: rulesets.iter().map(list).collect::<Result<_, _>>()?, otherwise })
    }

    fn is_same(&self, other: &AccessLists<'_>) -> bool {
        (&self.lists, self.otherwise) == (&other.lists, other.otherwise)
    }

    /// Decides a normalized path by the compiled rulesets.
    fn decide(&self, path: &[u8]) -> Result<RuleKind, Corrupt> {
        if self.rulesets.is_empty() {
            return Ok(self.otherwise);
        }
        let is_disallowed = verdict(self.rulesets, path)? == Verdict::Disallow;
        Ok(if is_disallowed { RuleKind::Disallow } else { RuleKind::Allow })
    }

    /// Counts the steps in a decision.
    fn steps(&self, path: &[u8]) -> Result<usize, Corrupt> {
        self.rulesets.iter().map(|ruleset| Ok(ruleset.verdict_counted(path)?.1)).sum()
    }

    /// Decides a normalized path by the oracle's matcher, rule by rule. `None` if that may take more than
    /// [`MAX_CHECK_STEPS`].
    fn decide_slowly(&self, path: &[u8]) -> Option<RuleKind> {
        let rules = || self.lists.iter().flat_map(RuleList::iter);
        let steps_of = |rule: OrderedRule<'_>| slow_steps(rule.matcher, path);
        if rules().map(steps_of).fold(0, usize::saturating_add) > MAX_CHECK_STEPS {
            return None;
        }
        let matches = |rule: &OrderedRule<'_>| !rule.is_empty && matches_slowly(rule.matcher, rule.anchored, path);
        let rank = |rule: OrderedRule<'_>| (rule.key.unwrap_or(rule.rank / 2), kind_of(rule.rank));
        let best = rules().filter(matches).map(rank).min();
        Some(best.map_or(self.otherwise, |(_, kind)| kind))
    }
}

/// Combines the answers about parts of a question.
fn shortest(found: impl Iterator<Item = Witness>) -> Witness {
    let rank = |witness: &Witness| match witness {
        Witness::Path(path) => (0, path.len()),
        Witness::Unproved => (1, 0),
        Witness::None => (2, 0),
    };
    found.min_by_key(rank).unwrap_or(Witness::None)
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
