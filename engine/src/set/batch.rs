//! Look-ups by the batch: many URLs go through each step of a look-up together, so that the memory that one URL waits
//! for is fetched while the others are worked on.
//!
//! A look-up in a large set misses the caches five times or more: bucket, record of the origin, policy, index entry,
//! automaton. One URL after the other waits for each; a batch asks for the memory of all its URLs at one step before it
//! needs the first. What is decided, and how, is that of the single call: the steps here only hash, and ask for memory.

use std::ops::Range;

use super::columns::Columns;
use super::policy::ruleset_at;
use super::{Agent, Policy, Set};
use crate::format::FormatError;
use crate::format::policies::PolicyView;
use crate::host;
use crate::url::{self, Origin, Path, UrlRef};
use crate::verdict::Verdict;

/// The number of URLs that are looked up together. Over a million origins, shuffled URLs took 1.6 times as long one by one;
/// in a prototype with ten million, batches of 8, 16, 32 and 64 took 196, 141, 133 and 133 ns, and one by one 369.
pub const BATCH_URLS: usize = 32;

/// What a set has for a URL.
pub enum Found<'s, 'u> {
    /// The text is not a URL that a robots.txt can govern.
    Invalid,
    /// The set knows no robots.txt for the URL's origin.
    Unknown,
    /// The policy of its origin, and its path.
    Policy(Policy<'s>, Path<'u>),
}

/// How far the look-up of one URL has come.
#[derive(Clone, Copy)]
enum Step<'u> {
    Invalid,
    Unknown,
    /// The hash of the origin is known, and its bucket asked for.
    Hashed(u64, UrlRef<'u>),
    /// The record that the hash most likely leads to is asked for, if there is one.
    Expected(Option<usize>, u64, UrlRef<'u>),
    /// The host is not plain, and is looked up without asking for its memory first.
    Unusual(UrlRef<'u>),
    /// The URL has the origin of the valid URL before it.
    Same(Path<'u>),
    Known(Known<'u>),
}

/// A URL whose origin the set knows.
#[derive(Clone, Copy)]
struct Known<'u> {
    /// The address of the policy.
    policy: u32,
    /// The number of the ruleset that decides alone, if there is only one agent and its rules have been looked up.
    ruleset: Option<u32>,
    /// Where the first and past the last of what the policy has for several agents is, in their [`Columns`].
    chosen: (u32, u32),
    path: Path<'u>,
}

impl Known<'_> {
    fn chosen(&self) -> Range<u32> {
        self.chosen.0..self.chosen.1
    }
}

/// The result of the look-up of one URL.
enum LookedUp<'u> {
    Invalid,
    Unknown,
    Known(Known<'u>),
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Looks up the policies of many URLs, in their order, and hands each to `work` with its place among the URLs.
    ///
    /// Cost: that of [`Set::policy`] for each URL, without most of its waiting for memory; no look-up for a URL whose
    /// origin is that of the URL before. `agents` only says whose rules will be needed next. Allocates only for several
    /// agents, once for all URLs.
    ///
    /// # Errors
    /// When the set is damaged, and those of `work`.
    pub fn look_up_all<'s, 'u, E: From<FormatError>>(
        &'s self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = &'u [u8]>,
        mut work: impl FnMut(usize, Found<'s, 'u>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_looked_up(&mut Columns::new(agents), urls, |_, place, found| {
            let found = match found {
                LookedUp::Invalid => Found::Invalid,
                LookedUp::Unknown => Found::Unknown,
                LookedUp::Known(known) => Found::Policy(self.policy_at(known.policy)?, known.path),
            };
            work(place, found)
        })
    }

    /// The verdicts for many URLs and several agents: `verdicts[i * agents.len() + j]` is for the `i`-th URL and the
    /// `j`-th agent. The verdicts are those of [`Set::decide_each`].
    ///
    /// Cost for each URL: its look-up, and a walk of each distinct ruleset that the agents get; the agents that a file does
    /// not name cost a byte each. Allocates only for several agents, once for all URLs.
    ///
    /// # Errors
    /// When the set is damaged. After an error the verdicts must not be used.
    pub fn decide_all<'u>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = &'u [u8]>,
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        let (width, rulesets) = (agents.len(), self.rulesets());
        self.each_looked_up(&mut Columns::new(agents), urls, |columns, place, found| {
            let row = verdicts.get_mut(place * width..(place + 1) * width).unwrap_or_default();
            match found {
                LookedUp::Invalid => row.fill(Verdict::Invalid),
                LookedUp::Unknown => row.fill(Verdict::Unknown),
                LookedUp::Known(Known { ruleset: Some(ruleset), path, .. }) => {
                    let ruleset = ruleset_at(rulesets, ruleset)?;
                    row.fill(path.with_normal(self.normal_form, |path| ruleset.verdict(path))?);
                }
                LookedUp::Known(known) => {
                    let policy = self.policy_at(known.policy)?;
                    if columns.are_several() {
                        columns.decide(&policy, known.chosen(), &known.path, row)?;
                    } else {
                        policy.decide_each(agents, &known.path, row)?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Looks up all URLs, a batch at a time.
    #[inline]
    fn each_looked_up<'u, E: From<FormatError>>(
        &self,
        columns: &mut Columns<'_>,
        urls: impl IntoIterator<Item = &'u [u8]>,
        mut work: impl FnMut(&mut Columns<'_>, usize, LookedUp<'u>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut urls = urls.into_iter();
        let mut first = 0;
        let mut steps = [Step::Invalid; BATCH_URLS];
        loop {
            let count = self.split_and_hash(&mut urls, &mut steps);
            let steps = &mut steps[..count];
            self.ask_for_records(steps);
            self.find_records(steps)?;
            columns.clear();
            self.ask_for_entries(columns, steps)?;
            self.ask_for_rulesets(columns, steps);
            let mut last = None;
            for (place, step) in (first..).zip(&*steps) {
                let found = match *step {
                    Step::Invalid => LookedUp::Invalid,
                    Step::Known(known) => {
                        last = Some(known);
                        LookedUp::Known(known)
                    }
                    Step::Same(path) => last.map_or(LookedUp::Unknown, |last| LookedUp::Known(Known { path, ..last })),
                    _ => {
                        last = None;
                        LookedUp::Unknown
                    }
                };
                work(columns, place, found)?;
            }
            first += count;
            if count < BATCH_URLS {
                return Ok(());
            }
        }
    }

    /// Splits as many URLs as a batch holds, hashes their origins and asks for their buckets. Returns how many there
    /// were.
    #[inline]
    fn split_and_hash<'u>(
        &self,
        urls: &mut impl Iterator<Item = &'u [u8]>,
        steps: &mut [Step<'u>; BATCH_URLS],
    ) -> usize {
        let origins = self.origin_table();
        let mut last: Option<Origin<'u>> = None;
        for (count, step) in steps.iter_mut().enumerate() {
            let Some(url) = urls.next() else { return count };
            let (is_plain, url) = match url::split_ordinary(url) {
                Some(url) => (true, url),
                None => match url::split_any(url) {
                    Ok(url) => (host::is_plain(url.origin.host), url),
                    Err(_) => {
                        *step = Step::Invalid;
                        continue;
                    }
                },
            };
            *step = if last == Some(url.origin) {
                Step::Same(url.path)
            } else if is_plain {
                let Origin { scheme, host, port } = url.origin;
                let hash = origins.hash(scheme, host, port);
                origins.ask_for_bucket(hash);
                Step::Hashed(hash, url)
            } else {
                Step::Unusual(url)
            };
            last = Some(url.origin);
        }
        BATCH_URLS
    }

    /// Asks for the records of origins whose buckets have come.
    #[inline]
    fn ask_for_records(&self, steps: &mut [Step<'_>]) {
        let origins = self.origin_table();
        for step in steps {
            if let Step::Hashed(hash, url) = *step {
                *step = Step::Expected(origins.ask_for_record(hash), hash, url);
            }
        }
    }

    /// Finds the records, as [`Set::policy`] does, and asks for the policies.
    #[inline]
    fn find_records(&self, steps: &mut [Step<'_>]) -> Result<(), FormatError> {
        let (origins, policies) = (self.origin_table(), self.policies());
        for step in steps {
            let (record, path) = match *step {
                Step::Expected(at, hash, UrlRef { origin: Origin { scheme, host, port }, path }) => {
                    (origins.find_expected(at, hash, scheme, host, port)?, path)
                }
                Step::Unusual(url) => (self.record(&url.origin)?, url.path),
                _ => continue,
            };
            *step = match record {
                Some(record) => {
                    policies.ask_for(record.policy);
                    Step::Known(Known { policy: record.policy, ruleset: None, chosen: (0, 0), path })
                }
                None => Step::Unknown,
            };
        }
        Ok(())
    }

    /// Reads the policies, finds what they have for the agents, and asks for the index entry of each first ruleset. With a
    /// single agent, damage of groups is noticed when their rules are read.
    #[inline]
    fn ask_for_entries(&self, columns: &mut Columns<'_>, steps: &mut [Step<'_>]) -> Result<(), FormatError> {
        let (policies, rulesets) = (self.policies(), self.rulesets());
        for step in steps {
            let Step::Known(known) = step else { continue };
            let policy = policies.get(known.policy)?;
            if let [agent] = columns.agents {
                if let Some((ruleset, decides_alone)) = first_ruleset(agent, &policy) {
                    rulesets.ask_for_entry(ruleset);
                    known.ruleset = decides_alone.then_some(ruleset);
                }
            } else {
                let chosen = columns.choose(&policy)?;
                known.chosen = (chosen.start, chosen.end);
                columns.each_first_ruleset(chosen, |ruleset| rulesets.ask_for_entry(ruleset));
            }
        }
        Ok(())
    }

    /// Asks for each first ruleset.
    #[inline]
    fn ask_for_rulesets(&self, columns: &Columns<'_>, steps: &[Step<'_>]) {
        let rulesets = self.rulesets();
        for step in steps {
            match step {
                Step::Known(Known { ruleset: Some(ruleset), .. }) => rulesets.ask_for(*ruleset),
                Step::Known(known) => columns.each_first_ruleset(known.chosen(), |ruleset| rulesets.ask_for(ruleset)),
                _ => {}
            }
        }
    }
}

/// The number of an agent's first ruleset, and whether it decides alone.
#[inline]
fn first_ruleset(agent: &Agent, policy: &PolicyView<'_>) -> Option<(u32, bool)> {
    let groups = agent.groups(policy).ok().filter(|_| policy.has_rules())?;
    groups.first.map(|group| (group.ruleset, !groups.has_more()))
}
