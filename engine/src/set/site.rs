//! All data about one origin except decisions.

use crate::format::FormatError;
use crate::format::captures::{Captures, StoredCaptures};
use crate::format::container::Section;
use crate::format::directives::{DirectiveList, OtherDirectives};
use crate::format::histories::CaptureHistory;
use crate::format::origins::OriginRecord;
use crate::format::reading::Interpretation;
use crate::format::timelines::{BEFORE_ALL_TIMES, StoredSpan, Timeline};
use crate::set::Set;
use crate::set::policy::Policy;
use crate::url::Origin;
use crate::verdict::{Cause, PolicySource};

/// All data about one origin: its policy, its capture history, and its other directives.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    record: OriginRecord<'a>,
    policy: Policy<'a>,
    captures: Captures<'a>,
    other: OtherDirectives<'a>,
    /// The `reading` section, parsed on demand.
    reading: &'a [u8],
}

impl<'a> Site<'a> {
    /// Returns the site's origin.
    #[must_use]
    pub fn origin(&self) -> &OriginRecord<'a> {
        &self.record
    }

    /// Returns the origin's policy.
    #[must_use]
    pub fn policy(&self) -> &Policy<'a> {
        &self.policy
    }

    /// Returns the origin's capture history.
    ///
    /// Returns `None` for a file that was fetched successfully at an unknown time.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn captures(&self) -> Result<Option<CaptureHistory>, FormatError> {
        Ok(match self.stored()? {
            None => None,
            Some(StoredCaptures::History(history)) => Some(history),
            Some(StoredCaptures::Timeline(timeline)) => timeline.history(has_ended(&self.policy)?),
        })
    }

    /// Returns the capture history as in a set compiled for an earlier time.
    ///
    /// It has only captures fetched until then. Returns `None` before the first capture, if the set is not by time, or
    /// for a file that was fetched successfully at an unknown time.
    ///
    /// Cost: reads all of the origin's captures.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn captures_until(&self, time: i64, policy: &Policy<'_>) -> Result<Option<CaptureHistory>, FormatError> {
        let Some(mut timeline) = self.timeline()? else { return Ok(None) };
        let later = timeline.captures.partition_point(|capture| capture.time.is_none_or(|fetched| fetched <= time));
        timeline.captures.truncate(later);
        Ok(timeline.history(has_ended(policy)?))
    }

    /// Returns all of the origin's captures and the spans in which each policy is active.
    ///
    /// Returns `None` if the set is not by time, and for a file that was fetched successfully at an unknown time.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn timeline(&self) -> Result<Option<Timeline>, FormatError> {
        Ok(match self.stored()? {
            Some(StoredCaptures::Timeline(timeline)) => Some(timeline),
            _ => None,
        })
    }

    /// Returns the spans in which each policy is active, in order.
    ///
    /// Empty if the set is not by time.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn spans(&self) -> Result<Vec<StoredSpan>, FormatError> {
        Ok(match self.stored()? {
            Some(StoredCaptures::Timeline(timeline)) => timeline.spans,
            None if self.captures.by_time => vec![StoredSpan { begin: BEFORE_ALL_TIMES, policy: self.record.policy }],
            _ => Vec::new(),
        })
    }

    fn stored(&self) -> Result<Option<StoredCaptures>, FormatError> {
        self.record.captures.map(|address| self.captures.get(address)).transpose()
    }

    /// Returns the origin's other directives: lines that decide no URL, such as `Sitemap`.
    ///
    /// Empty if the set was compiled without them.
    #[must_use]
    pub fn other(&self) -> DirectiveList<'a> {
        self.other.get(self.record.other)
    }

    /// Returns the last second (since 1970) at which the deciding capture is fresh.
    ///
    /// See [`CaptureHistory::stale_at`].
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn stale_at(&self) -> Result<Option<i64>, FormatError> {
        let Some(captures) = self.captures()? else { return Ok(None) };
        Ok(captures.stale_at(&Interpretation::read(self.reading)?))
    }

    /// Returns the last second (since 1970) at which the policy holds without another fetch.
    ///
    /// See [`CaptureHistory::expires_at`].
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn expires_at(&self) -> Result<Option<i64>, FormatError> {
        let Some(captures) = self.captures()? else { return Ok(None) };
        Ok(captures.expires_at(&Interpretation::read(self.reading)?))
    }
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Returns all data about an origin, or `None` if the set has no robots.txt for it.
    ///
    /// # Errors
    /// Returns an error if the tables are damaged.
    ///
    /// ```no_run
    /// # use reptile_engine::{format::directives::DirectiveKind, set::Set, url};
    /// let set = Set::from_bytes(std::fs::read("robots.set")?)?;
    /// if let Some(site) = set.site(&url::split(b"https://example.com/")?.origin)? {
    ///     let mut lines = site.other().reader()?;
    ///     while let Some(line) = lines.next()? {
    ///         if line.kind == DirectiveKind::Sitemap {
    ///             println!("line {}: {}", line.line, line.value.escape_ascii());
    ///         }
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn site(&self, origin: &Origin<'_>) -> Result<Option<Site<'_>>, FormatError> {
        self.record(origin)?.map(|record| self.site_of(&record)).transpose()
    }

    /// Returns all data about an origin from this set's [`Set::origins`].
    ///
    /// # Errors
    /// Returns an error if the tables are damaged.
    pub fn site_of<'s>(&'s self, record: &OriginRecord<'s>) -> Result<Site<'s>, FormatError> {
        Ok(Site {
            record: *record,
            policy: self.policy_of(record)?,
            captures: self.captures(),
            other: self.other(),
            reading: self.section(Section::Reading),
        })
    }

    /// Returns the fetch time of an origin's deciding capture, given the addresses of its policy and captures. In a set
    /// by time, the policy is the one at the time `until`.
    pub(super) fn deciding_time(
        &self,
        policy: u32,
        captures: u32,
        until: Option<i64>,
    ) -> Result<Option<i64>, FormatError> {
        self.captures().deciding_time(captures, until, || has_ended(&self.policy_at(policy)?))
    }
}

/// Returns whether a policy says that the last answer has expired, because every later fetch has failed for too long.
pub(super) fn has_ended(policy: &Policy<'_>) -> Result<bool, FormatError> {
    Ok(matches!(policy.source()?, PolicySource::AllowAll(Cause::Unreachable(_))))
}
