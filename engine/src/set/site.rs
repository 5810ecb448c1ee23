//! All that a set has for one origin, besides decisions.

use crate::format::FormatError;
use crate::format::captures::{CaptureHistory, Captures};
use crate::format::directives::{DirectiveList, OtherDirectives};
use crate::format::origins::OriginRecord;
use crate::format::reading::Reading;
use crate::set::policy::Policy;

/// All that a set has for one origin: its policy, what is known of the fetches behind it, and its other directives.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub(super) record: OriginRecord<'a>,
    pub(super) policy: Policy<'a>,
    pub(super) captures: Captures<'a>,
    pub(super) other: OtherDirectives<'a>,
    /// The section `reading`, which is only read when it is asked for.
    pub(super) reading: &'a [u8],
}

impl<'a> Site<'a> {
    /// The origin.
    #[must_use]
    pub fn origin(&self) -> &OriginRecord<'a> {
        &self.record
    }

    /// Its policy.
    #[must_use]
    pub fn policy(&self) -> &Policy<'a> {
        &self.policy
    }

    /// What is known of its captures; `None` for a file that was fetched well at a time that is not known.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn captures(&self) -> Result<Option<CaptureHistory>, FormatError> {
        self.record.captures.map(|address| self.captures.get(address)).transpose()
    }

    /// Its other directives, the lines that decide no URL, such as `Sitemap`. None in a set that was made without.
    #[must_use]
    pub fn other(&self) -> DirectiveList<'a> {
        self.other.get(self.record.other)
    }

    /// The last second (since 1970) at which what decides is still fresh; see [`CaptureHistory::stale_at`].
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn stale_at(&self) -> Result<Option<i64>, FormatError> {
        let Some(captures) = self.captures()? else { return Ok(None) };
        Ok(captures.stale_at(&Reading::read(self.reading)?))
    }

    /// The last second (since 1970) at which the policy holds if nothing more is fetched; see
    /// [`CaptureHistory::expires_at`].
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn expires_at(&self) -> Result<Option<i64>, FormatError> {
        let Some(captures) = self.captures()? else { return Ok(None) };
        Ok(captures.expires_at(&Reading::read(self.reading)?))
    }
}
