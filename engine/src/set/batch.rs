//! Batch lookups: many URLs go through each lookup step together, which hides memory latency.
//!
//! A lookup in a large set misses the caches five times or more: bucket, origin record, policy, index entry, automaton.
//! One URL at a time would wait for each of them. A batch prefetches each step's memory for all its URLs before it uses
//! the first. The steps here only hash and prefetch; the decisions are the same as in the single-URL functions.
use super::columns::Columns;
use super::{Agent, Policy, Set};
use crate::automaton::Ruleset;
use crate::format::rulesets::{MAX_PATCHED_BYTES, StoredRecord};
use crate::format::{FormatError, NONE};
use crate::host;
use crate::url::{self, Origin, Path, Scheme, UrlRef, path_at_any_origin};
use crate::verdict::Verdict;

/// Number of URLs that are looked up together.
///
/// With shuffled URLs over a million origins, single lookups took 1.6 times as long. In a prototype with ten million
/// origins, batches of 8, 16, 32 and 64 took 196, 141, 133 and 133 ns per URL, and single lookups 369.
pub const BATCH_URLS: usize = 32;

/// Result of looking up a URL.
pub enum Lookup<'s, 'u> {
    /// The text is not a URL that a robots.txt can govern.
    Invalid,
    /// The set has no robots.txt for the URL's origin.
    Unknown,
    /// The origin's policy, and the URL's path.
    Policy(Policy<'s>, Path<'u>),
}

/// A URL to be looked up, at any stage of parsing.
pub(super) enum LookupInput<'u> {
    /// Text that has not been parsed.
    Url(&'u [u8]),
    /// A URL whose host is plain by [`host::is_plain`].
    Plain(UrlRef<'u>),
    /// The address of the origin's policy, or [`NONE`], and the URL's path.
    Policy(u32, Path<'u>),
    /// Text that is not a URL.
    Invalid,
}

/// Progress of a URL's lookup.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LookupState {
    /// The text is not a URL.
    Invalid,
    /// The set has no robots.txt for the origin.
    Unknown,
    /// The origin's hash has been computed, and its bucket prefetched.
    Hashed,
    /// The host is not plain. The origin is looked up without prefetching.
    Unusual,
    /// The URL has the same origin as the one before it.
    Same,
    /// The set has a policy for the origin.
    Known,
}

/// Data about a batch's URLs, by index. Each step accesses only the arrays that it needs: with one struct per URL,
/// rewritten by every step, copying took a fifth of a lookup's instructions.
struct Batch<'s, 'u> {
    states: [LookupState; BATCH_URLS],
    origins: [Origin<'u>; BATCH_URLS],
    paths: [Path<'u>; BATCH_URLS],
    hashes: [u64; BATCH_URLS],
    /// Probable record positions, by hash.
    expected: [Option<usize>; BATCH_URLS],
    /// Policy addresses.
    policies: [u32; BATCH_URLS],
    /// Addresses of the origins' captures, if they are wanted.
    captures: [Option<u32>; BATCH_URLS],
    /// With a single agent, the number of the ruleset that decides alone, or [`NONE`].
    rulesets: [u32; BATCH_URLS],
    /// The rulesets that decide alone.
    stored: [Option<StoredRecord<'s>>; BATCH_URLS],
    /// With several agents, the range of the policy's entries in [`Columns`]: start and end.
    chosen: [(u32, u32); BATCH_URLS],
}

impl Batch<'_, '_> {
    fn new() -> Self {
        Batch {
            states: [LookupState::Invalid; BATCH_URLS],
            origins: [Origin { scheme: Scheme::Http, host: b"", port: 0 }; BATCH_URLS],
            paths: [Path::new(b"/"); BATCH_URLS],
            hashes: [0; BATCH_URLS],
            expected: [None; BATCH_URLS],
            policies: [0; BATCH_URLS],
            captures: [None; BATCH_URLS],
            rulesets: [NONE; BATCH_URLS],
            stored: [None; BATCH_URLS],
            chosen: [(0, 0); BATCH_URLS],
        }
    }
}

/// A URL whose origin is in the set.
pub(super) struct KnownUrl<'s, 'u> {
    /// The policy's address.
    pub(super) policy: u32,
    /// The address of the origin's captures, if they are wanted and it has any.
    captures: Option<u32>,
    /// With a single agent, the number of the ruleset that decides alone, or [`NONE`].
    ruleset: u32,
    /// The ruleset with that number.
    stored: Option<StoredRecord<'s>>,
    /// With several agents, the range of the policy's entries in [`Columns`]: start and end.
    chosen: (u32, u32),
    pub(super) path: Path<'u>,
}

/// Internal result of looking up a URL.
pub(super) enum LookupResult<'s, 'u> {
    Invalid,
    Unknown,
    Known(KnownUrl<'s, 'u>),
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Looks up the policies of many URLs, and passes each result in order to `work` with the URL's index.
    ///
    /// Cost: [`Set::policy`] for each URL, without most of the waiting for memory. Consecutive URLs with the same
    /// origin share a lookup. `agents` only tells which rules to prefetch. Allocates once for all URLs, and only if
    /// there are several agents.
    ///
    /// # Errors
    /// Returns an error if the set is damaged or `work` fails.
    pub fn look_up_all<'s, 'u, E: From<FormatError>>(
        &'s self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = &'u [u8]>,
        mut work: impl FnMut(usize, Lookup<'s, 'u>) -> Result<(), E>,
    ) -> Result<(), E> {
        let urls = urls.into_iter().map(LookupInput::Url);
        self.look_up_each::<false, _>(&mut Columns::new(agents), urls, |_, place, found| {
            let found = match found {
                LookupResult::Invalid => Lookup::Invalid,
                LookupResult::Unknown => Lookup::Unknown,
                LookupResult::Known(known) => Lookup::Policy(self.policy_at(known.policy)?, known.path),
            };
            work(place, found)
        })
    }

    /// Computes the verdicts for many URLs and several agents.
    ///
    /// `verdicts[i * agents.len() + j]` is for the `i`-th URL and the `j`-th agent. They equal the verdicts of
    /// [`Set::decide_each`].
    ///
    /// Cost per URL: its lookup, and a walk for each distinct ruleset among the agents. Agents that a file does not
    /// name cost a byte each. Allocates once for all URLs, and only if there are several agents.
    ///
    /// # Errors
    /// Returns an error if the set is damaged. After an error the verdicts must not be used.
    pub fn decide_all<'u>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = &'u [u8]>,
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        self.decide_inputs::<false>(agents, urls.into_iter().map(LookupInput::Url), verdicts, &mut [])
    }

    /// Computes the verdicts of [`Set::decide_all`], and each URL's capture time.
    ///
    /// `fetched_at[i]` is when the capture that decides the `i`-th URL was fetched:
    /// [`CaptureHistory::deciding`](crate::format::histories::CaptureHistory::deciding) in
    /// [`Site::captures`](super::Site::captures). It is `None` if the set does not know the time or has no robots.txt
    /// for the origin.
    ///
    /// Unlike [`Set::decide_all`], reads the captures once for each run of URLs with the same origin.
    ///
    /// # Errors
    /// Returns an error if the set is damaged. After an error neither result must be used.
    pub fn decide_all_dated<'u>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = &'u [u8]>,
        verdicts: &mut [Verdict],
        fetched_at: &mut [Option<i64>],
    ) -> Result<(), FormatError> {
        self.decide_inputs::<true>(agents, urls.into_iter().map(LookupInput::Url), verdicts, fetched_at)
    }

    /// Computes the verdicts for many URLs by one policy, in the order of [`Set::decide_all`].
    ///
    /// The URLs' origins are ignored, and a URL may be just a path: [`path_at_any_origin`].
    ///
    /// # Errors
    /// Returns an error if the set is damaged or no policy has this number. After an error the verdicts must not be
    /// used.
    pub fn decide_all_by<'u>(
        &self,
        policy: u32,
        agents: &[Agent],
        urls: impl IntoIterator<Item = &'u [u8]>,
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        let inputs = urls
            .into_iter()
            .map(|url| path_at_any_origin(url).map_or(LookupInput::Invalid, |path| LookupInput::Policy(policy, path)));
        self.decide_inputs::<false>(agents, inputs, verdicts, &mut [])
    }

    /// Implements [`Set::decide_all`] for URLs at any stage of parsing, and [`Set::decide_all_dated`] if `DATED`.
    /// The captures behind a [`LookupInput::Policy`] are unknown.
    #[inline]
    pub(super) fn decide_inputs<'u, const DATED: bool>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = LookupInput<'u>>,
        verdicts: &mut [Verdict],
        fetched_at: &mut [Option<i64>],
    ) -> Result<(), FormatError> {
        let width = agents.len();
        let mut room = [0; MAX_PATCHED_BYTES];
        // The last captures read, and their time. Consecutive URLs often share an origin.
        let mut last = (None, None);
        self.look_up_each::<DATED, _>(&mut Columns::new(agents), urls, |columns, place, found| {
            let row = verdicts.get_mut(place * width..(place + 1) * width).unwrap_or_default();
            if let Some(fetched_at) = fetched_at.get_mut(place).filter(|_| DATED) {
                *fetched_at = None;
                if let LookupResult::Known(KnownUrl { policy, captures: Some(captures), .. }) = found {
                    if last.0 != Some((policy, captures)) {
                        last = (Some((policy, captures)), self.deciding_time(policy, captures, None)?);
                    }
                    *fetched_at = last.1;
                }
            }
            self.decide_found(agents, columns, &found, &mut room, row)
        })
    }

    /// Computes all agents' verdicts for a URL that was looked up.
    #[inline(always)]
    pub(super) fn decide_found(
        &self,
        agents: &[Agent],
        columns: &mut Columns<'_>,
        found: &LookupResult<'_, '_>,
        room: &mut [u8; MAX_PATCHED_BYTES],
        row: &mut [Verdict],
    ) -> Result<(), FormatError> {
        match found {
            LookupResult::Invalid => row.fill(Verdict::Invalid),
            LookupResult::Unknown => row.fill(Verdict::Unknown),
            LookupResult::Known(KnownUrl { ruleset, stored, path, .. }) if *ruleset != NONE => {
                let rulesets = self.rulesets();
                let Some(stored) = stored.and_then(|record| rulesets.read(record)) else {
                    return Err(rulesets.missing(*ruleset));
                };
                let ruleset = Ruleset::stored(stored)?;
                let verdict = ruleset.verdict_in(room, &path.normal(self.normal_form))?;
                match row {
                    // A special case, because filling a row of one would call a function.
                    [only] => *only = verdict,
                    _ => row.fill(verdict),
                }
            }
            LookupResult::Known(known) => {
                let policy = self.policy_at(known.policy)?;
                if columns.are_several() {
                    columns.decide(&policy, known.chosen.0..known.chosen.1, &known.path, room, row)?;
                } else {
                    policy.decide_each(agents, &known.path, row)?;
                }
            }
        }
        Ok(())
    }

    /// Looks up all URLs, one batch at a time.
    #[inline]
    pub(super) fn look_up_each<'s, 'u, const DATED: bool, E: From<FormatError>>(
        &'s self,
        columns: &mut Columns<'_>,
        urls: impl IntoIterator<Item = LookupInput<'u>>,
        mut work: impl FnMut(&mut Columns<'_>, usize, LookupResult<'s, 'u>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut urls = urls.into_iter();
        let mut first = 0;
        let mut batch = Batch::new();
        loop {
            let count = self.split_and_hash(&mut urls, &mut batch);
            self.prefetch_records(&mut batch, count);
            self.find_records::<DATED>(&mut batch, count)?;
            columns.clear();
            self.prefetch_entries(columns, &mut batch, count)?;
            self.prefetch_rulesets(columns, &mut batch, count);
            // Index of the last URL that does not share its predecessor's origin.
            let mut own = 0;
            for place in 0..count {
                let (state, path) = (batch.states[place], batch.paths[place]);
                if !matches!(state, LookupState::Invalid | LookupState::Same) {
                    own = place;
                }
                let found = match state {
                    LookupState::Invalid => LookupResult::Invalid,
                    LookupState::Known | LookupState::Same if batch.states[own] == LookupState::Known => {
                        LookupResult::Known(KnownUrl {
                            policy: batch.policies[own],
                            captures: if DATED { batch.captures[own] } else { None },
                            ruleset: batch.rulesets[own],
                            stored: batch.stored[own],
                            chosen: batch.chosen[own],
                            path,
                        })
                    }
                    _ => LookupResult::Unknown,
                };
                work(columns, first + place, found)?;
            }
            first += count;
            if count < BATCH_URLS {
                return Ok(());
            }
        }
    }

    /// Splits up to one batch of URLs, hashes their origins, and prefetches their buckets. Returns the number of URLs.
    #[inline]
    fn split_and_hash<'u>(&self, urls: &mut impl Iterator<Item = LookupInput<'u>>, batch: &mut Batch<'_, 'u>) -> usize {
        let (origins, policies) = (self.origin_table(), self.policies());
        // The policy of the previous URL, if it came as a policy address.
        let mut last_policy = None;
        let mut last: Option<Origin<'u>> = None;
        for place in 0..BATCH_URLS {
            let Some(input) = urls.next() else { return place };
            let (is_plain, url) = match input {
                LookupInput::Url(text) => match url::split_ordinary(text) {
                    Some(url) => (true, url),
                    None => match url::split_any(text) {
                        Ok(url) => (host::is_plain(url.origin.host), url),
                        Err(_) => {
                            batch.states[place] = LookupState::Invalid;
                            continue;
                        }
                    },
                },
                LookupInput::Plain(url) => (true, url),
                LookupInput::Invalid => {
                    batch.states[place] = LookupState::Invalid;
                    continue;
                }
                LookupInput::Policy(policy, path) => {
                    batch.paths[place] = path;
                    batch.states[place] = if last_policy == Some(policy) {
                        LookupState::Same
                    } else if policy == NONE {
                        LookupState::Unknown
                    } else {
                        policies.prefetch(policy);
                        batch.policies[place] = policy;
                        LookupState::Known
                    };
                    (last, last_policy) = (None, Some(policy));
                    continue;
                }
            };
            last_policy = None;
            batch.paths[place] = url.path;
            batch.states[place] = if last == Some(url.origin) {
                LookupState::Same
            } else {
                batch.origins[place] = url.origin;
                if is_plain {
                    let Origin { scheme, host, port } = url.origin;
                    let hash = origins.hash(scheme, host, port);
                    origins.prefetch_bucket(hash);
                    batch.hashes[place] = hash;
                    LookupState::Hashed
                } else {
                    LookupState::Unusual
                }
            };
            last = Some(url.origin);
        }
        BATCH_URLS
    }

    /// Prefetches the records of hashed origins.
    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn prefetch_records(&self, batch: &mut Batch<'_, '_>, count: usize) {
        let origins = self.origin_table();
        let hashes = batch.states.iter().zip(&batch.hashes).take(count);
        for ((state, hash), expected) in hashes.zip(&mut batch.expected) {
            if *state == LookupState::Hashed {
                *expected = origins.prefetch_record(*hash);
            }
        }
    }

    /// Finds the records, like [`Set::policy`], and prefetches the policies, and the captures if `DATED`.
    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn find_records<const DATED: bool>(&self, batch: &mut Batch<'_, '_>, count: usize) -> Result<(), FormatError> {
        let (origins, policies) = (self.origin_table(), self.policies());
        for place in 0..count {
            let origin = batch.origins[place];
            let record = match batch.states[place] {
                LookupState::Hashed => {
                    let Origin { scheme, host, port } = origin;
                    origins.find_expected(batch.expected[place], batch.hashes[place], scheme, host, port)?
                }
                LookupState::Unusual => self.record(&origin)?,
                _ => continue,
            };
            batch.states[place] = match record {
                Some(record) => {
                    policies.prefetch(record.policy);
                    batch.policies[place] = record.policy;
                    if DATED {
                        record.captures.into_iter().for_each(|address| self.captures().prefetch(address));
                        batch.captures[place] = record.captures;
                    }
                    LookupState::Known
                }
                None => LookupState::Unknown,
            };
        }
        Ok(())
    }

    /// Reads the policies, selects the agents' groups, and prefetches the index entry for each first ruleset. With a
    /// single agent, damaged groups are detected only when their rules are read.
    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn prefetch_entries(
        &self,
        columns: &mut Columns<'_>,
        batch: &mut Batch<'_, '_>,
        count: usize,
    ) -> Result<(), FormatError> {
        let (policies, rulesets) = (self.policies(), self.rulesets());
        for place in 0..count {
            if batch.states[place] != LookupState::Known {
                continue;
            }
            let policy = policies.get(batch.policies[place])?;
            if let [agent] = columns.agents {
                batch.rulesets[place] = match agent.first_ruleset(&policy) {
                    Some((ruleset, decides_alone)) => {
                        rulesets.prefetch_entry(ruleset);
                        if decides_alone { ruleset } else { NONE }
                    }
                    None => NONE,
                };
            } else {
                let chosen = columns.choose(&policy)?;
                batch.chosen[place] = (chosen.start, chosen.end);
                columns.each_first_ruleset(chosen, |ruleset| rulesets.prefetch_entry(ruleset));
            }
        }
        Ok(())
    }

    /// Prefetches each first ruleset.
    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn prefetch_rulesets<'s>(&'s self, columns: &Columns<'_>, batch: &mut Batch<'s, '_>, count: usize) {
        let rulesets = self.rulesets();
        for place in 0..count {
            if batch.states[place] != LookupState::Known {
                continue;
            }
            if columns.are_several() {
                let (start, end) = batch.chosen[place];
                columns.each_first_ruleset(start..end, |ruleset| {
                    rulesets.prefetch(ruleset);
                });
            } else if batch.rulesets[place] != NONE {
                batch.stored[place] = rulesets.prefetch(batch.rulesets[place]);
            }
        }
    }
}
