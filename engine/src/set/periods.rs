//! An origin's periods in a set by time: how long each policy was active, and the capture that it follows from.

use super::site::has_ended;
use super::{Policy, Set};
use crate::format::FormatError;
use crate::format::histories::CaptureRecord;
use crate::format::origins::OriginRecord;
use crate::format::timelines::{BEFORE_ALL_TIMES, StoredSpan, begin_of};

/// A period in which an origin's policy stays the same.
#[derive(Clone, Copy)]
pub struct Period<'a> {
    /// The first second, since 1970; `None` for a capture with an unknown time, which precedes all others.
    pub from: Option<i64>,
    /// The last second; `None` for the last period.
    pub until: Option<i64>,
    /// The policy.
    pub policy: Policy<'a>,
    /// The capture that decides at the period's first second; `None` for a file that was fetched successfully at an
    /// unknown time.
    ///
    /// A failed fetch decides only if no earlier answer applies.
    pub capture: Option<CaptureRecord>,
}

impl Period<'_> {
    /// Returns whether the period contains a time, in seconds since 1970.
    #[must_use]
    pub fn contains(&self, time: i64) -> bool {
        self.from.is_none_or(|from| from <= time) && self.until.is_none_or(|until| time <= until)
    }
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Returns the periods of an origin from [`Set::origins`], in order, each until the next.
    ///
    /// Empty if the set is not by time.
    ///
    /// Cost: reads all of the origin's captures.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn periods_of<'s>(&'s self, record: &OriginRecord<'s>) -> Result<Vec<Period<'s>>, FormatError> {
        let site = self.site_of(record)?;
        let (captures, spans) = match site.timeline()? {
            Some(timeline) => (timeline.captures, timeline.spans),
            None => (Vec::new(), site.spans()?),
        };
        let mut captures = captures.into_iter().peekable();
        let (mut newest, mut answered) = (None, None);
        let ends = spans.iter().skip(1).map(|next| Some(next.begin.saturating_sub(1))).chain([None]);
        let period = |(span, until): (&StoredSpan, Option<i64>)| {
            while let Some(capture) = captures.next_if(|capture| begin_of(capture) <= span.begin) {
                newest = Some(capture);
                answered = if capture.is_failure() { answered } else { newest };
            }
            let policy = self.policy_at(span.policy)?;
            let capture = if has_ended(&policy)? { newest } else { answered.or(newest) };
            let from = Some(span.begin).filter(|&begin| begin != BEFORE_ALL_TIMES);
            Ok(Period { from, until, policy, capture })
        };
        spans.iter().zip(ends).map(period).collect()
    }
}
