//! Rights to use a page: the statements in robots.txt and those that arrive with the page, combined.
//!
//! A website states its preferences in several [`Channel`]s: lines of its robots.txt ([`crate::usage`]), response headers
//! such as `Content-Usage`, `X-Robots-Tag` and `tdm-reservation`, and `<meta>` elements. A [`Profile`] names the channels
//! that count, and maps each token to a use. Profiles are data, because most channels are older than the uses that people
//! ask about: that `noai` forbids training is a choice, and each line of a profile names its source.
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
mod tokens;

use reptile_engine::verdict::{Preference, Verdict};

use crate::Agent;
use crate::error::Error;
use crate::usage::UnknownUsage;

pub use self::profile::{MAX_PROFILE_BYTES, Profile, RightsQuery};
pub use crate::usage::UnknownUse;

/// A place where a page's rights are stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Channel {
    /// `robots`: `Content-Usage` lines in robots.txt.
    Robots,
    /// `signal`: `Content-Signal` lines in robots.txt.
    Signal,
    /// `content-usage`: the response header `Content-Usage` (draft-ietf-aipref-attach, section 2).
    UsageHeader,
    /// `x-robots-tag`: the response header `X-Robots-Tag`.
    RobotsHeader,
    /// `meta-robots`: `<meta name="robots">`, or a crawler's name instead of `robots`.
    RobotsMeta,
    /// `tdm-header`: the response header `tdm-reservation` (TDMRep, section 4.1).
    TdmHeader,
    /// `tdm-meta`: `<meta name="tdm-reservation">` (TDMRep, section 4.3).
    TdmMeta,
    /// `license`: a link to a license, in the response header `Link` or in `<link>`. It is a fact without an answer.
    License,
}

reptile_engine::named!(Channel, "a channel", name {
    Robots => "robots",
    Signal => "signal",
    UsageHeader => "content-usage",
    RobotsHeader => "x-robots-tag",
    RobotsMeta => "meta-robots",
    TdmHeader => "tdm-header",
    TdmMeta => "tdm-meta",
    License => "license",
});

impl Channel {
    /// Returns whether the statements arrive with the page, and not in robots.txt.
    #[must_use]
    pub const fn is_of_page(self) -> bool {
        !matches!(self, Channel::Robots | Channel::Signal)
    }

    /// Returns whether the statements are in the page's text, and not in its headers. Licenses may be in either.
    #[must_use]
    pub const fn is_in_text(self) -> bool {
        matches!(self, Channel::RobotsMeta | Channel::TdmMeta)
    }

    /// Returns whether statements give each label a value, as in `train-ai=n`.
    const fn has_values(self) -> bool {
        matches!(self, Channel::Robots | Channel::Signal | Channel::UsageHeader)
    }
}

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

/// Maximum number of statements about a page. A page with more has unavailable rights.
pub const MAX_STATEMENTS: usize = 64;

/// Maximum length of a statement in bytes. A page with a longer one has unavailable rights.
pub const MAX_STATEMENT_BYTES: usize = 8192;

/// The statements that arrive with a page: a text for each header field or element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    all: Vec<PageStatement>,
    /// Whether the headers are missing, or too many or too long to be read.
    lacks_headers: bool,
    /// Whether the page's text is missing, or cannot be read.
    lacks_text: bool,
}

/// One of a page's statements.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PageStatement {
    channel: Channel,
    /// A crawler's name, in an element that is not for all crawlers.
    name: Box<[u8]>,
    text: Box<[u8]>,
}

impl Statements {
    /// Returns the statements about a page whose headers and text are both missing.
    #[must_use]
    pub fn unavailable() -> Statements {
        Statements { all: Vec::new(), lacks_headers: true, lacks_text: true }
    }

    /// Adds a header field's value, or an element's. `name` is the crawler's name in a `<meta>` element, or empty for
    /// all crawlers. Over [`MAX_STATEMENTS`] or [`MAX_STATEMENT_BYTES`] the channel's source becomes unavailable.
    pub fn add(&mut self, channel: Channel, name: &[u8], text: &[u8]) {
        if self.all.len() >= MAX_STATEMENTS || name.len() + text.len() > MAX_STATEMENT_BYTES {
            self.set_missing(!channel.is_in_text(), channel.is_in_text());
        } else {
            self.all.push(PageStatement { channel, name: name.into(), text: text.into() });
        }
    }

    /// Records that the headers or the text are missing. Later calls cannot undo this.
    pub fn set_missing(&mut self, headers: bool, text: bool) {
        self.lacks_headers |= headers;
        self.lacks_text |= text;
    }

    /// Combines two versions of one page's statements. Either may be right: another way to read the page, or
    /// another record of it. All statements count. Where the versions differ, others may be missing.
    ///
    /// ```
    /// use reptile::rights::{Channel, Statements};
    /// let (mut page, mut other) = (Statements::default(), Statements::default());
    /// other.add(Channel::RobotsHeader, b"", b"noai");
    /// page.merge(&other);
    /// assert!(page.of(Channel::RobotsHeader).eq([(&b""[..], &b"noai"[..])]));
    /// assert!(page.lacks(Channel::RobotsHeader) && !page.lacks(Channel::RobotsMeta));
    /// ```
    pub fn merge(&mut self, other: &Statements) {
        for channel in Channel::ALL.into_iter().filter(|channel| *channel != Channel::License) {
            if !self.of(channel).eq(other.of(channel)) {
                self.set_missing(!channel.is_in_text(), channel.is_in_text());
            }
        }
        self.set_missing(other.lacks_headers, other.lacks_text);
        for statement in &other.all {
            if !self.all.contains(statement) {
                self.add(statement.channel, &statement.name, &statement.text);
            }
        }
    }

    /// Returns whether a channel is missing.
    #[must_use]
    pub fn lacks(&self, channel: Channel) -> bool {
        channel.is_of_page() && if channel.is_in_text() { self.lacks_text } else { self.lacks_headers }
    }

    /// Returns the size of the texts in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.all.iter().map(|statement| statement.name.len() + statement.text.len()).sum()
    }

    /// Returns a channel's statements in order: each crawler's name, or nothing, and the text.
    pub fn of(&self, channel: Channel) -> impl Iterator<Item = (&[u8], &[u8])> {
        let of_channel = self.all.iter().filter(move |statement| statement.channel == channel);
        of_channel.map(|statement| (&*statement.name, &*statement.text))
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
        for (channel, uses, places) in query.of_robots() {
            let found = match time {
                None => self.usage(url, uses)?,
                Some(time) => self.usage_at(url, time, uses)?,
            };
            rights.verdict = found.verdict;
            let mut stated = vec![Preference::Unknown; query.len()];
            for (&place, preference) in places.iter().zip(found.preferences) {
                stated[place] = preference;
            }
            rights.add(channel, stated);
        }
        if query.of_robots().next().is_none() {
            rights.verdict = match time {
                None => self.decide(url)?,
                Some(time) => self.decide_at(url, time)?,
            };
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
