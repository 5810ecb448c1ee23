//! Decisions by the rules active at a given time, for sets by time.
//!
//! Looks up the origin as for a decision without a time, then searches the origin's spans for the time. Decisions
//! without a time do not use this module.

use super::{Agent, BATCH_URLS, Policy, Set};
use crate::format::FormatError;
use crate::format::container::Section;
use crate::format::origins::OriginRecord;
use crate::host;
use crate::url::{self, Origin, Path, UrlRef};
use crate::verdict::{Explanation, Verdict};

/// Progress of a URL's lookup.
#[derive(Clone, Copy)]
enum TimedLookup<'s, 'u> {
    Invalid,
    Unknown,
    /// The URL has the same origin as the valid URL before it.
    Same(Path<'u>),
    /// The origin's hash has been computed, and its bucket prefetched.
    Hashed(u64, UrlRef<'u>),
    /// The record that the hash probably leads to, if any, has been prefetched.
    Expected(Option<usize>, u64, UrlRef<'u>),
    /// The host is not plain. The origin is looked up without prefetching.
    Unusual(UrlRef<'u>),
    /// The origin's record has been found, and its spans prefetched.
    Known(OriginRecord<'s>, Path<'u>),
    /// The policy's address has been found, and the policy prefetched. The captures' address comes second.
    Found(u32, Option<u32>, Path<'u>),
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Returns whether the set is by time.
    ///
    /// Such a set has every capture of each origin, so that URLs can be decided by the rules active at a given time.
    #[must_use]
    pub fn has_times(&self) -> bool {
        self.by_time
    }

    /// Returns the address of the policy active for an origin at a given time, or `None` before its first capture.
    pub(super) fn address_at(&self, record: &OriginRecord<'_>, time: i64) -> Result<Option<u32>, FormatError> {
        if !self.by_time {
            let expected = "a set by time, for a question about a time";
            return Err(FormatError::new(Section::Reading.name(), expected, "a set without times"));
        }
        match record.captures {
            // A file without a time is always active.
            None => Ok(Some(record.policy)),
            Some(address) => self.captures().policy_at(address, time),
        }
    }

    /// Returns the policy active at a given time for an origin from [`Set::origins`].
    ///
    /// The time is in seconds since 1970. `None` before the origin's first capture. This is the policy in a set
    /// compiled for that time. A file without a time counts as older than all others.
    ///
    /// Time: [`Set::policy_of`], plus a binary search over the origin's spans.
    ///
    /// # Errors
    /// Returns an error if the set is not by time or its tables are damaged.
    pub fn policy_of_at(&self, record: &OriginRecord<'_>, time: i64) -> Result<Option<Policy<'_>>, FormatError> {
        self.address_at(record, time)?.map(|address| self.policy_at(address)).transpose()
    }

    /// Returns the verdict for one URL and one agent by the rules active at a given time.
    ///
    /// Includes the best matching rule of each kind.
    ///
    /// # Errors
    /// Returns an error if the set is not by time or is damaged.
    pub fn explain_at(&self, agent: &Agent, url: &[u8], time: i64) -> Result<Explanation, FormatError> {
        let Ok(UrlRef { origin, path }) = url::split(url) else {
            return Ok(Explanation::without_rule(Verdict::Invalid));
        };
        let policy = match self.record(&origin)? {
            Some(record) => self.policy_of_at(&record, time)?,
            None => None,
        };
        match policy {
            None => Ok(Explanation::without_rule(Verdict::Unknown)),
            Some(policy) => path.with(|path| policy.explain(agent, path)),
        }
    }

    /// Computes the verdicts for many URLs and several agents, each URL at its own time.
    ///
    /// Times are in seconds since 1970. `verdicts[i * agents.len() + j]` is for the `i`-th URL and the `j`-th agent.
    /// The verdict is [`Verdict::Unknown`] before the first capture of the URL's origin.
    ///
    /// Up to [`BATCH_URLS`] URLs go through each lookup step together. Allocates no more than [`Set::decide_each`].
    ///
    /// # Errors
    /// Returns an error if the set is not by time or is damaged. After an error the verdicts must not be used.
    pub fn decide_all_at<'u>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = (&'u [u8], i64)>,
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        self.decide_timed(agents, urls, verdicts, None)
    }

    /// Computes the verdicts of [`Set::decide_all_at`], and each URL's capture time, like [`Set::decide_all_dated`].
    ///
    /// It is the fetch time of the capture that decided at the URL's time.
    ///
    /// # Errors
    /// Returns the errors of [`Set::decide_all_at`]. After an error neither result must be used.
    pub fn decide_all_at_dated<'u>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = (&'u [u8], i64)>,
        verdicts: &mut [Verdict],
        fetched_at: &mut [Option<i64>],
    ) -> Result<(), FormatError> {
        self.decide_timed(agents, urls, verdicts, Some(fetched_at))
    }

    /// Implements [`Set::decide_all_at`] and [`Set::decide_all_at_dated`].
    fn decide_timed<'u>(
        &self,
        agents: &[Agent],
        urls: impl IntoIterator<Item = (&'u [u8], i64)>,
        verdicts: &mut [Verdict],
        fetched_at: Option<&mut [Option<i64>]>,
    ) -> Result<(), FormatError> {
        let mut urls = urls.into_iter();
        let mut fetched_at = fetched_at.map(|fetched_at| fetched_at.iter_mut());
        let mut rows = verdicts.chunks_exact_mut(agents.len().max(1));
        let mut steps = [(TimedLookup::Invalid, 0_i64); BATCH_URLS];
        loop {
            let count = self.split_and_hash_timed(&mut urls, &mut steps);
            let steps = &mut steps[..count];
            let origins = self.origin_table();
            for (step, _) in &mut *steps {
                if let TimedLookup::Hashed(hash, url) = *step {
                    *step = TimedLookup::Expected(origins.prefetch_record(hash), hash, url);
                }
            }
            self.find_records_timed(steps)?;
            for (step, time) in &mut *steps {
                if let TimedLookup::Known(record, path) = *step {
                    *step = self.address_at(&record, *time)?.map_or(TimedLookup::Unknown, |address| {
                        self.policies().prefetch(address);
                        TimedLookup::Found(address, record.captures, path)
                    });
                }
            }
            for ((step, time), row) in steps.iter().zip(&mut rows) {
                if let Some(fetched_at) = fetched_at.as_mut().and_then(Iterator::next) {
                    *fetched_at = match step {
                        TimedLookup::Found(address, Some(captures), _) => {
                            self.deciding_time(*address, *captures, Some(*time))?
                        }
                        _ => None,
                    };
                }
                match step {
                    TimedLookup::Invalid => row.fill(Verdict::Invalid),
                    TimedLookup::Found(address, _, path) => self.policy_at(*address)?.decide_each(agents, path, row)?,
                    _ => row.fill(Verdict::Unknown),
                }
            }
            if count < BATCH_URLS {
                return Ok(());
            }
        }
    }

    /// Splits up to one batch of URLs, hashes their origins, and prefetches their buckets. Returns the number of URLs.
    fn split_and_hash_timed<'u>(
        &self,
        urls: &mut impl Iterator<Item = (&'u [u8], i64)>,
        steps: &mut [(TimedLookup<'_, 'u>, i64); BATCH_URLS],
    ) -> usize {
        let origins = self.origin_table();
        let mut last: Option<Origin<'u>> = None;
        for (count, step) in steps.iter_mut().enumerate() {
            let Some((url, time)) = urls.next() else { return count };
            let Ok(url) = url::split(url) else {
                *step = (TimedLookup::Invalid, time);
                continue;
            };
            let Origin { scheme, host, port } = url.origin;
            let next = if last == Some(url.origin) {
                TimedLookup::Same(url.path)
            } else if host::is_plain(host) {
                let hash = origins.hash(scheme, host, port);
                origins.prefetch_bucket(hash);
                TimedLookup::Hashed(hash, url)
            } else {
                TimedLookup::Unusual(url)
            };
            *step = (next, time);
            last = Some(url.origin);
        }
        BATCH_URLS
    }

    /// Finds the origins' records and prefetches their spans.
    fn find_records_timed<'s>(&'s self, steps: &mut [(TimedLookup<'s, '_>, i64)]) -> Result<(), FormatError> {
        let (origins, captures) = (self.origin_table(), self.captures());
        let mut last = None;
        for (step, _) in steps {
            let (record, path) = match *step {
                TimedLookup::Expected(at, hash, UrlRef { origin: Origin { scheme, host, port }, path }) => {
                    (origins.find_expected(at, hash, scheme, host, port)?, path)
                }
                TimedLookup::Unusual(url) => (self.record(&url.origin)?, url.path),
                TimedLookup::Same(path) => (last, path),
                _ => continue,
            };
            last = record;
            *step = record.map_or(TimedLookup::Unknown, |record| {
                record.captures.into_iter().for_each(|address| captures.prefetch(address));
                TimedLookup::Known(record, path)
            });
        }
        Ok(())
    }
}
