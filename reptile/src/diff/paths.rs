//! Changed verdicts over all paths between two sets' policies, each answer proved or with an example: [`PathDiff`].

use std::collections::{BTreeSet, HashMap, HashSet};

use reptile_compiler::limits::MAX_PROOF_STEPS;
use reptile_compiler::reason::{Access, Assumption, Comparison, Reasoner, Witness};
use reptile_engine::format::FormatError;
use reptile_engine::format::origins::OriginRecord;
use reptile_engine::format::tokens::NameMatching;
use reptile_engine::set::{Agent, Policy, Set};
use reptile_engine::verdict::{Explanation, RuleKind, Verdict};

use super::{Diff, OriginChange};
use crate::error::{Error, ErrorKind};
use crate::parallel::map_all;

/// Maximum rows for one pair of policies. Further crawlers are only listed.
pub const MAX_ROWS: usize = 1024;

/// Maximum steps in all proofs of a [`PathDiff`], unless another limit is given: some seconds. A proof takes its own
/// steps, and one for each byte in the rules. Beyond it the answers are [`PathExample::Unproved`].
pub const MAX_DIFF_STEPS: u64 = 64 * MAX_PROOF_STEPS as u64;

/// Maximum size in bytes of the kept answers. Beyond it the answers are [`PathExample::Unproved`].
const MAX_KNOWN_BYTES: usize = 1 << 28;

/// Size in bytes of a kept answer, in addition to its paths and ruleset numbers.
const KNOWN_BYTES: usize = 256;

/// Maximum steps in all proofs for two sets' origins, with [`PathDiff::with_max_steps`]: some minutes of processor
/// time.
pub const MAX_SET_STEPS: u64 = 1 << 36;

/// Maximum number of distinct questions about two sets' origins, and of distinct policy pairs. Origins with further
/// questions or pairs are unproved.
const MAX_QUESTIONS: usize = 1 << 20;

/// Number of questions answered between two checks of the step limit.
const QUESTIONS_AT_ONCE: usize = 256;

/// Number of bytes that can be searched for a product token in the time for one step.
const SEARCHED_BYTES_PER_STEP: usize = 8;

/// Compares the policies of two sets over all paths. The sets may have different dialects. `/robots.txt` does not
/// count.
///
/// Each pair of rulesets is compared once. Time: at most [`MAX_DIFF_STEPS`], usually some microseconds for each pair.
/// Memory: 256 MB of answers, usually far less, and the largest proof.
///
/// ```
/// use reptile::diff::{PathDiff, PathExample};
/// use reptile::{Capture, Compiler, Dialect, contents};
///
/// let compiled = |body: &str| -> Result<Vec<u8>, reptile::Error> {
///     let mut compiler = Compiler::new(Dialect::google());
///     compiler.add(Capture::new("https://example.com/robots.txt", body)?)?;
///     Ok(compiler.finish()?.to_bytes())
/// };
/// let old = compiled("user-agent: *\ndisallow: /cart")?;
/// let new = compiled("user-agent: *\ndisallow: /cart\n\nuser-agent: GPTBot\ndisallow: /images")?;
/// let (old, new) = (contents::Set::from_bytes(&old[..])?, contents::Set::from_bytes(&new[..])?);
///
/// let mut diff = PathDiff::new(&old, &new);
/// let url = reptile::urls::split(b"https://example.com/")?;
/// let policies = [old.policy(&url.origin)?.unwrap(), new.policy(&url.origin)?.unwrap()];
/// let rows = diff.rows(&policies)?.rows;
/// assert!(rows[0].names == [b"*"] && rows[0].change.is_equal());
/// let PathExample::Path { path, new, .. } = &rows[1].change.opens else { panic!("unproved") };
/// assert_eq!((rows[1].names[0], &path[..], new.rule()), (&b"gptbot"[..], &b"/cart"[..], None));
/// let PathExample::Path { path, .. } = &rows[1].change.closes else { panic!("unproved") };
/// assert_eq!(path, b"/images");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PathDiff<'s> {
    sets: [&'s Set<&'s [u8]>; 2],
    reasoner: Reasoner,
    assumption: Option<Assumption>,
    known: HashMap<PathQuestion, Comparison>,
    /// Number of bytes that further answers may take.
    known_bytes_left: usize,
    steps_left: u64,
    max_questions: usize,
    /// The answers about pairs of policies, by their numbers.
    origins: HashMap<(u32, u32), OriginPaths>,
}

/// The changes at an origin over all paths, for every crawler. See [`PathDiff::prove_origins`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OriginPaths {
    /// Whether a verdict changes.
    pub verdicts: PathVerdicts,
    /// Whether the policy source changes, for example because the robots.txt can no longer be fetched.
    pub is_other_source: bool,
}

/// Whether the verdict for some path changes. See [`PathDiff::prove_origins`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum PathVerdicts {
    /// Proved: no verdict changes.
    Equal,
    /// Some verdict changes.
    Changed,
    /// No changed verdict was found, but the proof stopped.
    Unproved,
}

/// A crawler's changed verdicts over all paths. See [`PathDiff`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PathChange {
    /// A shortest path that was disallowed and is allowed.
    pub opens: PathExample,
    /// A shortest path that was allowed and is disallowed.
    pub closes: PathExample,
}

/// A path with some property, or the proof that there is none. See [`PathDiff`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum PathExample {
    /// Proved: there is no such path.
    None,
    /// Such a path, with both sides' verdicts.
    Path {
        /// The path as written in a URL.
        #[cfg_attr(feature = "serde", serde(with = "reptile_engine::words::bytes"))]
        path: Vec<u8>,
        /// The old verdict and its reason.
        old: Box<Explanation>,
        /// The new verdict and its reason.
        new: Box<Explanation>,
    },
    /// The proof stopped, and no such path was seen.
    Unproved,
}

/// Crawlers that obey the same groups in the old policy, and the same groups in the new one. See [`PathDiff`] for an
/// example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRow<'s> {
    /// The names: `*`, product tokens in lower case, and known crawlers.
    pub names: Vec<&'s [u8]>,
    /// The changed verdicts for these crawlers.
    pub change: PathChange,
}

/// The result of [`PathDiff::rows`]. See [`PathDiff`] for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathRows<'s> {
    /// The rows, ordered by first name; the row with `*` is the first.
    pub rows: Vec<PathRow<'s>>,
    /// The names that were not compared: there are more than [`MAX_ROWS`] rows.
    pub not_compared: Vec<&'s [u8]>,
}

/// A question about a pair of rulesets, or of lists of rulesets that decide together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct PathQuestion([DecidingKey; 2]);

/// The decider on one side.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum DecidingKey {
    Every(RuleKind),
    /// The numbers of rulesets.
    Rules(Box<[u32]>),
}

/// Crawlers with the same groups in both policies.
struct SameCrawlers<'s> {
    names: Vec<&'s [u8]>,
    agents: [Agent; 2],
}

impl PathChange {
    /// Returns whether every path was proved to have the same verdict.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        (&self.opens, &self.closes) == (&PathExample::None, &PathExample::None)
    }

    /// Returns whether some path has another verdict.
    #[must_use]
    pub fn is_change(&self) -> bool {
        [&self.opens, &self.closes].iter().any(|example| matches!(example, PathExample::Path { .. }))
    }
}

impl<'s> PathDiff<'s> {
    /// Starts a comparison.
    #[must_use]
    pub fn new(old: &'s Set<&'s [u8]>, new: &'s Set<&'s [u8]>) -> PathDiff<'s> {
        PathDiff {
            sets: [old, new],
            reasoner: Reasoner::of_forms([old.normal_form(), new.normal_form()]),
            assumption: None,
            known: HashMap::new(),
            known_bytes_left: MAX_KNOWN_BYTES,
            steps_left: MAX_DIFF_STEPS,
            max_questions: MAX_QUESTIONS,
            origins: HashMap::new(),
        }
    }

    /// Restricts all questions to an assumption's paths. The assumption must be in the old set's normal form.
    #[must_use]
    pub fn under(mut self, assumption: Option<Assumption>) -> PathDiff<'s> {
        self.assumption = assumption;
        self
    }

    /// Uses a limit other than [`MAX_DIFF_STEPS`].
    #[must_use]
    pub fn with_max_steps(mut self, max_steps: u64) -> PathDiff<'s> {
        self.steps_left = max_steps;
        self
    }

    /// Compares two policies for every crawler: `*`, every product token that either policy names, and the known
    /// crawlers that obey one of these in addition to their own.
    ///
    /// Cost: a lookup for each crawler, and see [`PathDiff`].
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`] if a set is damaged.
    pub fn rows(&mut self, policies: &[Policy<'s>; 2]) -> Result<PathRows<'s>, Error> {
        let (crawlers, not_compared) = self.crawlers(policies)?;
        let mut rows = Vec::with_capacity(crawlers.len());
        for SameCrawlers { names, agents } in crawlers {
            rows.push(PathRow { names, change: self.change(policies, &agents)? });
        }
        Ok(PathRows { rows, not_compared })
    }

    /// Compares two policies for one crawler, looked up in both sets.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`] if a set is damaged.
    pub fn change(&mut self, policies: &[Policy<'s>; 2], agents: &[Agent; 2]) -> Result<PathChange, Error> {
        let question = PathQuestion::of(policies, agents)?;
        let found = match self.known.get(&question) {
            Some(known) => known.clone(),
            None => {
                let found = self.answer(&question)?;
                self.remember(question, found)
            }
        };
        let [allow, disallow] = [Verdict::Allow, Verdict::Disallow];
        let only = self.assumption.as_ref();
        Ok(PathChange {
            opens: example(found.second_only, only, policies, agents, [disallow, allow])?,
            closes: example(found.first_only, only, policies, agents, [allow, disallow])?,
        })
    }

    /// Answers for all origins that both sets have and whose policies differ, on all threads with the feature `rayon`.
    /// Each question is asked once. Calls `progress` with the number of answered questions, and the total number.
    ///
    /// Cost: see [`Diff::each_origin`], and [`MAX_SET_STEPS`] for the proofs. Memory: up to a million questions and
    /// policy pairs, and their answers.
    ///
    /// ```
    /// use reptile::diff::{Diff, OriginChange, PathDiff, PathVerdicts};
    /// use reptile::{Capture, Compiler, Dialect, contents};
    ///
    /// let compiled = |rule: &str| -> Result<Vec<u8>, reptile::Error> {
    ///     let mut compiler = Compiler::new(Dialect::google());
    ///     compiler.add(Capture::new("https://example.com/robots.txt", format!("user-agent: *\ndisallow: {rule}"))?)?;
    ///     Ok(compiler.finish()?.to_bytes())
    /// };
    /// let (old, new) = (compiled("/a/b")?, compiled("/a/b\ndisallow: /a/b/c")?);
    /// let (old, new) = (contents::Set::from_bytes(&old[..])?, contents::Set::from_bytes(&new[..])?);
    ///
    /// let (mut diff, mut paths) = (Diff::new(&old, &new), PathDiff::new(&old, &new));
    /// paths.prove_origins(&mut diff, &mut |_, _| ())?;
    /// paths.each_origin(&mut diff, &mut |_, change, found| {
    ///     let found = found.expect("both sets have the origin");
    ///     assert_eq!((change, found.verdicts), (OriginChange::Changed, PathVerdicts::Equal));
    ///     assert!(!found.is_other_source);
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`] if a set is damaged.
    pub fn prove_origins(&mut self, diff: &mut Diff<'s>, progress: &mut dyn FnMut(u64, u64)) -> Result<(), Error> {
        let sets = self.sets;
        let mut pairs: Vec<[OriginRecord<'s>; 2]> = Vec::new();
        let mut known: HashSet<(u32, u32)> = HashSet::new();
        for record in sets[0].origins() {
            let old = record?;
            let Some(new) = sets[1].origin_table().find(old.scheme, old.host, old.port)? else { continue };
            let key = (old.policy, new.policy);
            let is_new = !known.contains(&key) && known.len() < self.max_questions;
            if is_new && !diff.has_same_policy(&old, &new)? {
                known.insert(key);
                pairs.push([old, new]);
            }
        }
        drop(known);
        let mut questions: HashSet<PathQuestion> = HashSet::new();
        for pair in &pairs {
            let policies = self.policies(pair)?;
            for crawlers in self.crawlers(&policies)?.0 {
                if questions.len() < self.max_questions {
                    questions.insert(PathQuestion::of(&policies, &crawlers.agents)?);
                }
            }
        }
        let mut questions: Vec<PathQuestion> = questions.into_iter().collect();
        // The order determines which questions are unproved after the limit.
        questions.sort_unstable();
        let (mut done, all) = (0, questions.len() as u64);
        let mut questions = questions.into_iter();
        loop {
            let batch: Vec<PathQuestion> = questions.by_ref().take(QUESTIONS_AT_ONCE).collect();
            if batch.is_empty() {
                break;
            }
            let answers = map_all(&batch, |question| self.answer(question));
            done += batch.len() as u64;
            progress(done, all);
            for (question, answer) in batch.into_iter().zip(answers) {
                self.remember(question, answer?);
            }
        }
        for pair in &pairs {
            let found = self.judge(&self.policies(pair)?)?;
            self.origins.insert((pair[0].policy, pair[1].policy), found);
        }
        Ok(())
    }

    /// Does the same as [`Diff::each_origin`], and also reports the changes over all paths at each changed origin. Call
    /// [`PathDiff::prove_origins`] first. See [`PathDiff::prove_origins`] for an example.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`] if a set is damaged.
    pub fn each_origin(
        &self,
        diff: &mut Diff<'s>,
        report: &mut dyn FnMut(&OriginRecord<'s>, OriginChange, Option<OriginPaths>),
    ) -> Result<(), Error> {
        diff.each_pair(|diff, old, new, change| {
            let changed = new.filter(|_| change == OriginChange::Changed);
            let found = changed.map(|new| self.origin(diff, old, new)).transpose()?;
            report(old, change, found);
            Ok(())
        })
    }

    fn origin(
        &self,
        diff: &mut Diff<'s>,
        old: &OriginRecord<'s>,
        new: &OriginRecord<'s>,
    ) -> Result<OriginPaths, Error> {
        if let Some(&known) = self.origins.get(&(old.policy, new.policy)) {
            return Ok(known);
        }
        let is_same = diff.has_same_policy(old, new)?;
        let policies = self.policies(&[*old, *new])?;
        Ok(OriginPaths {
            verdicts: if is_same { PathVerdicts::Equal } else { PathVerdicts::Unproved },
            is_other_source: policies[0].source()? != policies[1].source()?,
        })
    }

    /// Returns an origin's policies in both sets.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`] if a set is damaged.
    pub fn policies(&self, records: &[OriginRecord<'s>; 2]) -> Result<[Policy<'s>; 2], Error> {
        Ok([self.sets[0].policy_of(&records[0])?, self.sets[1].policy_of(&records[1])?])
    }

    /// Combines the known answers about two policies.
    fn judge(&mut self, policies: &[Policy<'s>; 2]) -> Result<OriginPaths, Error> {
        let (crawlers, left) = self.crawlers(policies)?;
        let mut verdicts = if left.is_empty() { PathVerdicts::Equal } else { PathVerdicts::Unproved };
        for crawlers in crawlers {
            let known = self.known.get(&PathQuestion::of(policies, &crawlers.agents)?);
            let witnesses = known.map(|known| [&known.first_only, &known.second_only]);
            if witnesses.is_some_and(|both| both.iter().any(|found| matches!(found, Witness::Path(_)))) {
                verdicts = PathVerdicts::Changed;
                break;
            }
            if !known.is_some_and(Comparison::is_equivalent) {
                verdicts = PathVerdicts::Unproved;
            }
        }
        Ok(OriginPaths { verdicts, is_other_source: policies[0].source()? != policies[1].source()? })
    }

    fn answer(&self, question: &PathQuestion) -> Result<Comparison, Error> {
        let [old, new] = [0, 1].map(|side| question.0[side].access(self.sets[side]));
        let accesses = [old?, new?];
        let bytes: u64 = accesses.iter().map(bytes_of).sum();
        if bytes > self.steps_left {
            return Ok(unproved());
        }
        let found = self.reasoner.compare(&accesses[0], &accesses[1], self.assumption.as_ref());
        let found = found.map_err(FormatError::from)?;
        Ok(found)
    }

    /// Keeps an answer, subtracts its cost from the limits, and returns it.
    fn remember(&mut self, question: PathQuestion, mut found: Comparison) -> Comparison {
        // Each direction may take this long.
        let mut paid = 2 * found.steps as u64;
        for (side, deciding) in question.0.iter().enumerate() {
            paid += deciding.access(self.sets[side]).map_or(0, |access| bytes_of(&access));
        }
        self.steps_left = self.steps_left.saturating_sub(paid);
        let paths = [&found.first_only, &found.second_only].into_iter().map(|witness| match witness {
            Witness::Path(path) => path.len(),
            _ => 0,
        });
        let bytes = KNOWN_BYTES + paths.sum::<usize>() + question.bytes();
        match self.known_bytes_left.checked_sub(bytes) {
            Some(left) => {
                self.known_bytes_left = left;
                self.known.insert(question, found.clone());
            }
            None => found = unproved(),
        }
        found
    }

    /// Returns the crawlers to compare for two policies, one entry for each pair of groups, and the names over the
    /// limit.
    fn crawlers(&mut self, policies: &[Policy<'s>; 2]) -> Result<(Vec<SameCrawlers<'s>>, Vec<&'s [u8]>), Error> {
        let sets = self.sets;
        let mut named: Vec<&'s [u8]> = Vec::new();
        for (set, policy) in sets.iter().zip(policies) {
            for token in policy.tokens() {
                named.push(set.tokens().name(token)?);
            }
        }
        // No crawler has an empty name, although a user-agent line may.
        named.retain(|name| !name.is_empty());
        named.sort_unstable();
        named.dedup();
        let also = self.known_crawlers(&named)?;
        let name_bytes: usize = named.iter().map(|name| name.len() + 1).sum();
        let is_searched = sets.iter().any(|set| set.name_matching() == NameMatching::Contained);
        let (mut crawlers, mut left): (Vec<SameCrawlers<'s>>, Vec<&'s [u8]>) = (Vec::new(), Vec::new());
        let mut places: HashMap<[Vec<u32>; 2], usize> = HashMap::new();
        for name in std::iter::once(&b"*"[..]).chain(named).chain(also) {
            if is_searched {
                let steps = (name_bytes / SEARCHED_BYTES_PER_STEP) as u64;
                if steps > self.steps_left {
                    left.push(name);
                    continue;
                }
                self.steps_left -= steps;
            }
            let agent = |set: &Set<&[u8]>| {
                if name == b"*" { set.agent_chain(&[], true) } else { set.crawler(name) }
            };
            let agents = [agent(sets[0])?, agent(sets[1])?];
            let groups = [policies[0].group_indices(&agents[0])?, policies[1].group_indices(&agents[1])?];
            let count = crawlers.len();
            if let Some(same) = places.get(&groups).and_then(|&at| crawlers.get_mut(at)) {
                same.names.push(name);
            } else if count < MAX_ROWS {
                places.insert(groups, count);
                crawlers.push(SameCrawlers { names: vec![name], agents });
            } else {
                left.push(name);
            }
        }
        Ok((crawlers, left))
    }

    /// Returns the known crawlers that obey one of these sorted product tokens in addition to their own, sorted.
    fn known_crawlers(&self, named: &[&[u8]]) -> Result<BTreeSet<&'s [u8]>, Error> {
        let mut also = BTreeSet::new();
        for set in self.sets {
            for crawler in set.crawlers().iter() {
                let crawler = crawler?;
                let is_named = |token: &[u8]| named.binary_search(&&*token.to_ascii_lowercase()).is_ok();
                let is_new = !is_named(crawler.name);
                if is_new && !crawler.is_prefix && crawler.chain.iter().any(|token| is_named(token)) {
                    also.insert(crawler.name);
                }
            }
        }
        Ok(also)
    }
}

impl std::fmt::Debug for PathDiff<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PathDiff").field("steps_left", &self.steps_left).finish_non_exhaustive()
    }
}

impl PathQuestion {
    fn of(policies: &[Policy<'_>; 2], agents: &[Agent; 2]) -> Result<PathQuestion, Error> {
        let deciding = |side: usize| match policies[side].source()?.verdict() {
            Some(Verdict::Disallow) => Ok(DecidingKey::Every(RuleKind::Disallow)),
            Some(_) => Ok(DecidingKey::Every(RuleKind::Allow)),
            None => {
                let rules = policies[side].rules_for(&agents[side])?;
                Ok::<_, FormatError>(DecidingKey::Rules(rules.iter().map(|rules| rules.number).collect()))
            }
        };
        Ok(PathQuestion([deciding(0)?, deciding(1)?]))
    }

    fn bytes(&self) -> usize {
        let numbers = self.0.iter().map(|deciding| match deciding {
            DecidingKey::Every(_) => 0,
            DecidingKey::Rules(numbers) => 4 * numbers.len(),
        });
        numbers.sum()
    }
}

impl DecidingKey {
    fn access<'s>(&self, set: &'s Set<&'s [u8]>) -> Result<Access<'s>, Error> {
        match self {
            DecidingKey::Every(verdict) => Ok(Access::Every(*verdict)),
            DecidingKey::Rules(numbers) => Ok(Access::of_rulesets(set, numbers)?),
        }
    }
}

/// Returns the size of the rules in bytes.
fn bytes_of(access: &Access<'_>) -> u64 {
    access.rulesets().iter().map(|ruleset| ruleset.byte_len() as u64).sum()
}

fn unproved() -> Comparison {
    Comparison { first_only: Witness::Unproved, second_only: Witness::Unproved, steps: 0 }
}

/// Returns a path with every byte escaped that a client escapes in any case: control characters, spaces, and bytes
/// outside ASCII.
fn escaped_as_sent(path: &[u8]) -> Vec<u8> {
    let mut sent = Vec::with_capacity(path.len());
    for &byte in path {
        if byte.is_ascii_graphic() {
            sent.push(byte);
        } else {
            sent.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    sent
}

/// Explains a path on both sides. The explanations must have these verdicts.
fn example(
    witness: Witness,
    only: Option<&Assumption>,
    policies: &[Policy<'_>; 2],
    agents: &[Agent; 2],
    expected: [Verdict; 2],
) -> Result<PathExample, Error> {
    let path = match witness {
        Witness::None => return Ok(PathExample::None),
        Witness::Unproved => return Ok(PathExample::Unproved),
        Witness::Path(path) => path,
    };
    let explain = |path: &[u8]| -> Result<[Explanation; 2], FormatError> {
        Ok([policies[0].explain(&agents[0], path)?, policies[1].explain(&agents[1], path)?])
    };
    // Clients send paths escaped, and users can paste such a path. Only a dialect that distinguishes escaped bytes from
    // others needs the path itself.
    let sent = escaped_as_sent(&path);
    if sent != path && only.is_none_or(|only| only.includes(&sent)) {
        let [old, new] = explain(&sent)?;
        if [old.verdict, new.verdict] == expected {
            return Ok(PathExample::Path { path: sent, old: Box::new(old), new: Box::new(new) });
        }
    }
    let sides = explain(&path)?;
    let found = sides.each_ref().map(|side| side.verdict);
    if found != expected {
        let path = path.escape_ascii();
        let [[was, is], [found_was, found_is]] = [expected, found];
        let message = format!("\"{path}\": expected {was} and {is}, found {found_was} and {found_is}");
        return Err(Error::new(ErrorKind::Format, message));
    }
    let [old, new] = sides.map(Box::new);
    Ok(PathExample::Path { path, old, new })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capture, Compiler, Dialect};

    /// Returns sets with a host for each pair of bodies.
    fn compiled(bodies: &[[&str; 2]]) -> [Vec<u8>; 2] {
        [0, 1].map(|side| {
            let mut compiler = Compiler::new(Dialect::google());
            for (number, pair) in bodies.iter().enumerate() {
                let url = format!("http://h{number}.example/robots.txt");
                compiler.add(Capture::new(url, pair[side]).unwrap()).unwrap();
            }
            compiler.finish().unwrap().to_bytes()
        })
    }

    /// Compares the sets, and returns the numbers of equal, changed and unproved origins.
    fn counts(bodies: &[[&str; 2]], limit: impl FnOnce(&mut PathDiff<'_>)) -> [usize; 3] {
        let sets = compiled(bodies);
        let sets = sets.each_ref().map(|bytes| Set::from_bytes(&bytes[..]).unwrap());
        let mut diff = Diff::new(&sets[0], &sets[1]);
        let mut paths = PathDiff::new(&sets[0], &sets[1]);
        limit(&mut paths);
        paths.prove_origins(&mut diff, &mut |done, all| assert!(done <= all)).unwrap();
        let mut counts = [0; 3];
        paths.each_origin(&mut diff, &mut |_, _, found| counts[found.unwrap().verdicts as usize] += 1).unwrap();
        counts
    }

    /// Two origins with different questions; one origin is equal.
    const TWO: [[&str; 2]; 2] = [
        ["user-agent: *\ndisallow: /a", "user-agent: *\ndisallow: /a\ndisallow: /a/b"],
        ["user-agent: *\ndisallow: /b", "user-agent: *\ndisallow: /c"],
    ];

    #[test]
    fn origins_are_proved_equal_or_changed() {
        assert_eq!(counts(&TWO, |_| ()), [1, 1, 0]);
    }

    #[test]
    fn questions_stop_at_the_limit() {
        for (limit, expected) in [(1, [1, 0, 1]), (2, [1, 1, 0]), (3, [1, 1, 0])] {
            let found = counts(&TWO, |paths| paths.max_questions = limit);
            assert_eq!(found[2], expected[2], "{limit}: {found:?}");
        }
    }

    #[test]
    fn kept_answers_stop_at_the_limit() {
        // Each question has two ruleset numbers, and the second answer two paths, such as `/b`.
        let all = 2 * (KNOWN_BYTES + 8) + 4;
        for (limit, unproved) in [(all - 1, 1), (all, 0), (all + 1, 0)] {
            assert_eq!(counts(&TWO, |paths| paths.known_bytes_left = limit)[2], unproved, "{limit}");
        }
    }

    #[test]
    fn steps_stop_at_the_limit() {
        let sets = compiled(&TWO[1..]);
        let sets = sets.each_ref().map(|bytes| Set::from_bytes(&bytes[..]).unwrap());
        let origin = crate::urls::split(b"http://h0.example/").unwrap().origin;
        let policies = [0, 1].map(|side| sets[side].policy(&origin).unwrap().unwrap());
        // Before a proof there must be a step for each byte in the rules.
        let rules = |side: usize| policies[side].groups().unwrap()[0].rules.ruleset.byte_len() as u64;
        let bytes = rules(0) + rules(1);
        for (limit, is_proved) in [(bytes - 1, false), (bytes, true), (bytes + 1, true)] {
            let mut paths = PathDiff::new(&sets[0], &sets[1]).with_max_steps(limit);
            let change = paths.rows(&policies).unwrap().rows[0].change.clone();
            assert_eq!(change.is_change(), is_proved, "{limit}");
            assert_eq!(change.opens == PathExample::Unproved, !is_proved, "{limit}");
        }
    }

    /// An example is escaped only if the comparison is about the escaped path too.
    #[test]
    fn examples_are_among_the_compared_paths() {
        let sets = ["disallow: /", "allow: /"].map(|rule| {
            let mut compiler = Compiler::new(Dialect::google_lib());
            let body = format!("user-agent: *\n{rule}");
            compiler.add(Capture::new("http://h0.example/robots.txt", body).unwrap()).unwrap();
            compiler.finish().unwrap().to_bytes()
        });
        let sets = sets.each_ref().map(|bytes| Set::from_bytes(&bytes[..]).unwrap());
        let origin = crate::urls::split(b"http://h0.example/").unwrap().origin;
        let policies = [0, 1].map(|side| sets[side].policy(&origin).unwrap().unwrap());
        for (pattern, expected) in [("/b\u{7f}", &b"/b\x7f"[..]), ("/b%7F", b"/b%7F"), ("/b*\u{7f}", b"/b\x7f")] {
            let only = Assumption::new([pattern], sets[0].normal_form()).unwrap();
            let mut paths = PathDiff::new(&sets[0], &sets[1]).under(Some(only));
            let PathExample::Path { path, .. } = paths.rows(&policies).unwrap().rows[0].change.opens.clone() else {
                panic!("no example for {pattern:?}")
            };
            assert_eq!(path, expected, "{pattern:?}");
        }
    }

    /// Answers proved in advance are the same as answers on demand, and need no further steps.
    #[test]
    fn answers_are_kept() {
        let sets = compiled(&TWO[1..]);
        let sets = sets.each_ref().map(|bytes| Set::from_bytes(&bytes[..]).unwrap());
        let origin = crate::urls::split(b"http://h0.example/").unwrap().origin;
        let policies = [0, 1].map(|side| sets[side].policy(&origin).unwrap().unwrap());
        let mut paths = PathDiff::new(&sets[0], &sets[1]);
        let first = paths.rows(&policies).unwrap();
        let left = paths.steps_left;
        assert!(left < MAX_DIFF_STEPS);
        assert_eq!(paths.rows(&policies).unwrap(), first);
        assert_eq!(paths.steps_left, left);
    }
}
