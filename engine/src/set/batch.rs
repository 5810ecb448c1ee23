//! Look-ups by the batch: many URLs go through each step of a look-up together, so that the memory that one URL waits
//! for is fetched while the others are worked on.
//!
//! A look-up in a large set misses the caches five times or more: bucket, record of the origin, policy, index entry,
//! automaton. One URL after the other waits for each; a batch asks for the memory of all its URLs at one step before it
//! needs the first. What is decided, and how, is that of the single call: the steps here only hash, and ask for memory.

use super::{Agent, Policy, Set};
use crate::format::FormatError;
use crate::format::rulesets::Rulesets;
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
enum Step<'s, 'u> {
    Invalid,
    Unknown,
    /// The hash of the origin is known, and its memory asked for.
    Hashed(u64, UrlRef<'u>),
    /// The URL has the origin of the valid URL before it.
    Same(Path<'u>),
    Found(Policy<'s>, Path<'u>),
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Looks up the policies of many URLs, in their order, and hands each to `work` with its place among the URLs.
    ///
    /// Cost: that of [`Set::policy`] for each URL, without most of its waiting for memory; no look-up for a URL whose
    /// origin is that of the URL before. `agents` only says whose rules will be needed next. No allocation.
    ///
    /// # Errors
    /// When the set is damaged, and those of `work`.
    pub fn look_up_all<'s, 'u, E: From<FormatError>>(
        &'s self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = &'u [u8]>,
        mut work: impl FnMut(usize, Found<'s, 'u>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut urls = urls.into_iter();
        let mut first = 0;
        loop {
            let mut steps = [Step::Invalid; BATCH_URLS];
            let count = self.split_and_hash(&mut urls, &mut steps);
            let steps = &mut steps[..count];
            steps.iter().for_each(|step| self.ask_for_record(step));
            steps.iter().for_each(|step| self.ask_for_policy(step));
            self.find_policies(steps)?;
            let steps = &*steps;
            steps.iter().for_each(|step| {
                self.ask_for_rulesets(agents, step, |rulesets, number| rulesets.ask_for_entry(number))
            });
            steps
                .iter()
                .for_each(|step| self.ask_for_rulesets(agents, step, |rulesets, number| rulesets.ask_for(number)));
            let mut last = None;
            for (place, step) in (first..).zip(steps) {
                let found = match *step {
                    Step::Invalid => Found::Invalid,
                    Step::Unknown | Step::Hashed(..) => {
                        last = None;
                        Found::Unknown
                    }
                    Step::Found(policy, path) => {
                        last = Some(policy);
                        Found::Policy(policy, path)
                    }
                    Step::Same(path) => last.map_or(Found::Unknown, |policy| Found::Policy(policy, path)),
                };
                work(place, found)?;
            }
            first += count;
            if count < BATCH_URLS {
                return Ok(());
            }
        }
    }

    /// The verdicts for many URLs and several agents: `verdicts[i * agents.len() + j]` is for the `i`-th URL and the
    /// `j`-th agent. The verdicts are those of [`Set::decide_each`].
    ///
    /// # Errors
    /// When the set is damaged. After an error the verdicts must not be used.
    pub fn decide_all<'u>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = &'u [u8]>,
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        let width = agents.len();
        self.look_up_all(agents, urls, |place, found| {
            let row = verdicts.get_mut(place * width..(place + 1) * width).unwrap_or_default();
            match found {
                Found::Invalid => row.fill(Verdict::Invalid),
                Found::Unknown => row.fill(Verdict::Unknown),
                Found::Policy(policy, path) => policy.decide_each(agents, &path, row)?,
            }
            Ok(())
        })
    }

    /// Splits as many URLs as a batch holds, hashes their origins and asks for their buckets. Returns how many there
    /// were.
    #[inline]
    fn split_and_hash<'u>(
        &self,
        urls: &mut impl Iterator<Item = &'u [u8]>,
        steps: &mut [Step<'_, 'u>; BATCH_URLS],
    ) -> usize {
        let origins = self.origin_table();
        let mut last: Option<Origin<'u>> = None;
        for (count, step) in steps.iter_mut().enumerate() {
            let Some(url) = urls.next() else { return count };
            *step = match url::split(url) {
                Err(_) => Step::Invalid,
                Ok(url) if last == Some(url.origin) => Step::Same(url.path),
                Ok(url) => {
                    last = Some(url.origin);
                    let Origin { scheme, host, port } = url.origin;
                    let hash = origins.hash(scheme, host, port);
                    origins.ask_for_bucket(hash);
                    Step::Hashed(hash, url)
                }
            };
        }
        BATCH_URLS
    }

    /// Asks for the record of an origin whose bucket has come.
    #[inline]
    fn ask_for_record(&self, step: &Step<'_, '_>) {
        if let Step::Hashed(hash, _) = step {
            self.origin_table().ask_for_record(*hash);
        }
    }

    /// Asks for the policy of an origin whose record has come.
    #[inline]
    fn ask_for_policy(&self, step: &Step<'_, '_>) {
        if let Step::Hashed(hash, _) = step
            && let Some(policy) = self.origin_table().likely_policy(*hash)
        {
            self.policies().ask_for(policy);
        }
    }

    /// Finds the policies, as [`Set::policy`] does.
    #[inline]
    fn find_policies<'s>(&'s self, steps: &mut [Step<'s, '_>]) -> Result<(), FormatError> {
        for step in steps {
            if let Step::Hashed(hash, url) = *step {
                let Origin { scheme, host, port } = url.origin;
                let record = if host::is_plain(host) {
                    self.origin_table().find_hashed(hash, scheme, host, port)?
                } else {
                    self.record(&url.origin)?
                };
                *step = match record {
                    Some(record) => Step::Found(self.policy_of(&record)?, url.path),
                    None => Step::Unknown,
                };
            }
        }
        Ok(())
    }

    /// Asks for the first ruleset of each agent, by the way that `ask` knows. Damage is noticed when the rules are read.
    #[inline]
    fn ask_for_rulesets(&self, agents: &[Agent], step: &Step<'_, '_>, ask: impl Fn(Rulesets<'_>, u32)) {
        let Step::Found(policy, _) = step else { return };
        if !policy.view.has_rules() {
            return;
        }
        let rulesets = self.rulesets();
        for agent in agents {
            if let Ok(groups) = agent.groups(&policy.view)
                && let Some(group) = groups.first
            {
                ask(rulesets, group.ruleset);
            }
        }
    }
}
