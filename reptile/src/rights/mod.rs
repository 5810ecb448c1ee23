//! Rights to use a page: the statements in robots.txt and those that arrive with the page, combined.
//!
//! A website states its preferences in several [`Channel`]s: lines of its robots.txt ([`crate::usage`]), response headers
//! such as `Content-Usage`, `X-Robots-Tag` and `tdm-reservation`, `<meta>` elements, and a [`TdmFile`]. A [`Profile`]
//! names the channels that count, and maps each token to a use. Profiles are data, because most channels are older than
//! the uses that people ask about: that `noai` forbids training is a choice, and each line of a profile names its source.
//!
//! This module makes no requests and reads no archives: the caller passes the page's [`Statements`]. The crate
//! `reptile-records` collects them from WARC and WAT files.
//!
//! ```
//! use reptile::rights::{Channel, Permission, Profile, Statements};
//! use reptile::{Dialect, Robots, Verdict};
//!
//! let robots = Robots::parse("user-agent: *\ncontent-usage: train-ai=y\n", Dialect::google())?;
//! let agent = robots.agent("CCBot")?;
//! let query = Profile::named("all").ok_or("no such profile")?.query(["train-ai", "search"])?;
//!
//! let mut page = Statements::default();
//! page.add(Channel::RobotsHeader, b"", b"noai");
//! let rights = agent.rights("/a", None, &page, &query)?;
//! assert_eq!(rights.verdict, Verdict::Allow);
//! assert_eq!(rights.permissions, [Permission::Disallowed, Permission::Unknown]);
//! assert_eq!(rights.conflicts, [0], "robots.txt allows training, and the header does not");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod profile;
mod statements;
mod tdm;
mod tokens;

use reptile_engine::verdict::{Preference, Verdict};

use crate::Agent;
use crate::error::Error;
use crate::usage::UnknownUsage;

use self::profile::RobotsQuery;
pub use self::profile::{MAX_PROFILE_BYTES, Profile, RightsQuery};
pub use self::statements::{Channel, MAX_STATEMENT_BYTES, MAX_STATEMENTS, Statements};
pub use self::tdm::TdmFile;
pub use crate::usage::UnknownUse;

/// The combined answer about a use of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Permission {
    /// The website permits the use.
    Allowed,
    /// The website does not permit the use.
    Disallowed,
    /// The website says nothing about the use, or its statements cannot be read.
    Unknown,
    /// The page must not be fetched, so statements do not apply to it.
    NotApplicable,
    /// A channel that counts is missing in the input, so that the website may have forbidden the use.
    Unavailable,
}

reptile_engine::words!(Permission, "a permission", name {
    Allowed => "allowed",
    Disallowed => "disallowed",
    Unknown => "unknown",
    NotApplicable => "not-applicable",
    Unavailable => "unavailable",
});

impl Permission {
    /// Returns the single verdict for a fetch and a use with this permission, like [`crate::usage::verdict_for`]. An
    /// unavailable use is never allowed: it is unknown, unless unknown uses are disallowed.
    ///
    /// ```
    /// use reptile::Verdict;
    /// use reptile::rights::Permission;
    /// use reptile::usage::UnknownUsage;
    /// let verdict = |unknown| Permission::Unavailable.verdict(Verdict::Allow, unknown);
    /// assert_eq!(verdict(UnknownUsage::Allow), Verdict::Unknown);
    /// assert_eq!(verdict(UnknownUsage::Disallow), Verdict::Disallow);
    /// ```
    #[must_use]
    pub fn verdict(self, fetch: Verdict, unknown: UnknownUsage) -> Verdict {
        let (preference, unknown) = match (self, unknown) {
            (Permission::Allowed, _) => (Preference::Allowed, unknown),
            (Permission::Disallowed, _) => (Preference::Disallowed, unknown),
            (Permission::NotApplicable, _) => (Preference::NotApplicable, unknown),
            (Permission::Unknown, _) | (Permission::Unavailable, UnknownUsage::Disallow) => {
                (Preference::Unknown, unknown)
            }
            (Permission::Unavailable, _) => (Preference::Unknown, UnknownUsage::Unknown),
        };
        crate::usage::verdict_for(fetch, preference, unknown)
    }
}

/// The rights to use a page, for one crawler.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rights {
    /// Whether the page may be fetched.
    pub verdict: Verdict,
    /// The combined permission for each use in the question.
    pub permissions: Vec<Permission>,
    /// The preferences of each channel that counts and says something, for each use.
    pub stated: Vec<(Channel, Vec<Preference>)>,
    /// The uses that one channel allows and another disallows, by index.
    pub conflicts: Vec<usize>,
}

impl Agent {
    /// Returns the rights to use a page: the preferences in robots.txt, at a time if one is given, combined with the
    /// page's own statements. The most restrictive statement holds (draft-ietf-aipref-vocab, section 5.1).
    ///
    /// Time: up to two walks over the path as in [`Agent::usage`], and linear in the statements.
    ///
    /// # Errors
    /// The errors of [`Agent::usage`] and [`Agent::usage_at`].
    pub fn rights(
        &self,
        url: impl AsRef<[u8]>,
        time: Option<i64>,
        page: &Statements,
        query: &RightsQuery,
    ) -> Result<Rights, Error> {
        let url = url.as_ref();
        let mut rights = Rights::invalid(query);
        let RobotsQuery { uses, places } = &query.of_robots;
        let found = match time {
            None => self.usage(url, uses)?,
            Some(time) => self.usage_at(url, time, uses)?,
        };
        rights.verdict = found.verdict;
        let found: Vec<_> = places.iter().zip(found.preferences).collect();
        for of_channel in found.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
            let mut stated = vec![Preference::Unknown; query.len()];
            of_channel.iter().for_each(|((_, place), preference)| stated[*place] = *preference);
            rights.add(of_channel[0].0.0, stated);
        }
        if rights.verdict == Verdict::Disallow {
            rights.permissions.fill(Permission::NotApplicable);
            rights.stated.clear();
            return Ok(rights);
        }
        for channel in Channel::ALL.into_iter().filter(|channel| channel.is_of_page()) {
            if let Some(stated) = query.read(channel, page, self) {
                rights.add(channel, stated);
            }
        }
        rights.combine(page, query);
        Ok(rights)
    }
}

impl Rights {
    /// Returns the rights to use a page that cannot be decided, because its URL or its time is invalid.
    #[must_use]
    pub fn invalid(query: &RightsQuery) -> Rights {
        let permissions = vec![Permission::Unknown; query.len()];
        Rights { verdict: Verdict::Invalid, permissions, stated: Vec::new(), conflicts: Vec::new() }
    }

    /// Adds a channel's preferences, if it says something.
    fn add(&mut self, channel: Channel, stated: Vec<Preference>) {
        if stated.iter().any(|preference| *preference != Preference::Unknown) {
            self.stated.push((channel, stated));
        }
    }

    /// Combines the channels' preferences.
    fn combine(&mut self, page: &Statements, query: &RightsQuery) {
        for (place, permission) in self.permissions.iter_mut().enumerate() {
            let says = |expected| self.stated.iter().any(|(_, stated)| stated.get(place) == Some(&expected));
            let (allowed, disallowed) = (says(Preference::Allowed), says(Preference::Disallowed));
            *permission = match (allowed, disallowed) {
                (_, true) => Permission::Disallowed,
                (_, false) if query.needs(place, |channel| page.lacks(channel)) => Permission::Unavailable,
                (true, false) => Permission::Allowed,
                (false, false) => Permission::Unknown,
            };
            if allowed && disallowed {
                self.conflicts.push(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only an allowed fetch for an allowed use is allowed without a choice of the caller.
    #[test]
    fn nothing_is_allowed_by_accident() {
        for fetch in Verdict::ALL {
            for permission in Permission::ALL {
                for unknown in [UnknownUsage::Allow, UnknownUsage::Disallow, UnknownUsage::Unknown] {
                    let is_chosen = permission == Permission::Unknown && unknown == UnknownUsage::Allow;
                    let is_allowed = fetch == Verdict::Allow && (permission == Permission::Allowed || is_chosen);
                    let found = permission.verdict(fetch, unknown);
                    assert_eq!(found == Verdict::Allow, is_allowed, "{fetch} {permission} {unknown:?}");
                }
            }
        }
    }

    #[test]
    fn statements_over_a_limit_make_their_source_unavailable() {
        for count in [MAX_STATEMENTS - 1, MAX_STATEMENTS, MAX_STATEMENTS + 1] {
            let mut page = Statements::default();
            (0..count).for_each(|_| page.add(Channel::RobotsHeader, b"", b"noai"));
            assert_eq!(page.lacks(Channel::UsageHeader), count > MAX_STATEMENTS, "{count}");
            assert!(!page.lacks(Channel::TdmMeta) && !page.lacks(Channel::Robots));
        }
        for len in [MAX_STATEMENT_BYTES - 1, MAX_STATEMENT_BYTES, MAX_STATEMENT_BYTES + 1] {
            let mut page = Statements::default();
            page.add(Channel::RobotsMeta, b"gptbot", &vec![b'a'; len - b"gptbot".len()]);
            assert_eq!(page.lacks(Channel::RobotsMeta), len > MAX_STATEMENT_BYTES, "{len}");
            assert_eq!(page.of(Channel::RobotsMeta).count(), usize::from(len <= MAX_STATEMENT_BYTES));
        }
    }
}
