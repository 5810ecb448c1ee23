//! Statements about all paths of an origin at once, each proved or with a counterexample.
//!
//! [`Robots::compare`](crate::Robots::compare), [`Agent::compare`](crate::Agent::compare) and
//! [`Agent::permits_no_more_than`](crate::Agent::permits_no_more_than) answer the usual questions. For others, a
//! [`Reasoner`] takes the rulesets that decide together for a crawler, from [`Access::of`] or
//! [`crate::contents::Set::rulesets`].
//!
//! ```
//! use reptile::reason::{Extent, Reasoner};
//! use reptile::{Capture, Compiler, Dialect, contents};
//!
//! let mut compiler = Compiler::new(Dialect::google());
//! compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\nallow: /$\ndisallow: /")?)?;
//! let mut bytes = Vec::new();
//! compiler.finish()?.write(&mut bytes)?;
//!
//! let set = contents::Set::from_bytes(&bytes[..])?;
//! let ruleset = contents::Ruleset::stored(set.rulesets().get(0)?)?;
//! let statement = Reasoner::new(set.normal_form()).extent(&[ruleset])?;
//! assert!(matches!(statement.extent, Extent::Partial { allowed, .. } if *allowed == *b"/"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use reptile_compiler::reason::{Access, Assumption, BadPattern, Comparison, Extent, Reasoner, Statement, Witness};

use reptile_engine::format::FormatError;

use crate::Crawler;
use crate::agent::Agent;
use crate::error::{Error, ErrorKind};
use crate::robots::Robots;

impl Robots {
    /// Compares the paths of any length that two robots.txt files allow a crawler.
    ///
    /// ```
    /// use reptile::reason::Witness;
    /// use reptile::{Dialect, Robots};
    /// let old = Robots::parse("user-agent: *\ndisallow: /private", Dialect::google())?;
    /// let new = Robots::parse("user-agent: *\ndisallow: /private/", Dialect::google())?;
    /// let found = old.compare(&new, "AnyBot")?;
    /// assert_eq!(found.first_only, Witness::None);
    /// assert_eq!(found.second_only, Witness::Path(b"/private".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: see [`Agent::compare`].
    ///
    /// # Errors
    /// Returns the errors of [`Robots::agent`], as [`ErrorKind::Crawler`].
    pub fn compare(&self, other: &Robots, crawler: impl Into<Crawler>) -> Result<Comparison, Error> {
        let crawler = crawler.into();
        let agent = |robots: &Robots| {
            robots.agent(crawler.clone()).map_err(|error| Error::new(ErrorKind::Crawler, error.to_string()))
        };
        agent(self)?.compare(&agent(other)?, "/")
    }
}

impl Agent {
    /// Compares the paths of any length that a URL's origin allows this crawler and another one. The other crawler may
    /// be in another set, and the dialects may differ.
    ///
    /// Each answer is a proof or a shortest path. Each takes at most
    /// [`MAX_PROOF_STEPS`](crate::limits::MAX_PROOF_STEPS) steps, some tens of milliseconds; usually far less. Equal
    /// rules need no steps.
    ///
    /// ```
    /// use reptile::{Dialect, Robots};
    /// let body = "user-agent: a\ndisallow: /x*\n\nuser-agent: b\ndisallow: /x";
    /// let robots = Robots::parse(body, Dialect::google())?;
    /// assert!(robots.agent("a")?.compare(&robots.agent("b")?, "/")?.is_equivalent());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::UnknownOrigin`] if a set has no robots.txt for the URL's origin, or the URL is malformed,
    /// and [`ErrorKind::Format`] if a set is damaged.
    pub fn compare(&self, other: &Agent, url: impl AsRef<[u8]>) -> Result<Comparison, Error> {
        let (reasoner, [first, second]) = self.question_with(other, url.as_ref())?;
        Ok(reasoner.compare(&first, &second, None).map_err(FormatError::from)?)
    }

    /// Searches for a path on a URL's origin that this crawler may fetch and the other crawler may not. If there is no
    /// such path, this crawler is permitted no more than the other one.
    ///
    /// ```
    /// use reptile::reason::Witness;
    /// use reptile::{Crawler, Dialect, Robots};
    /// // A new group for one crawler opens everything that `*` closes.
    /// let body = "user-agent: *\ndisallow: /cart\n\nuser-agent: GPTBot\ndisallow: /images";
    /// let robots = Robots::parse(body, Dialect::google())?;
    /// let found = robots.agent("GPTBot")?.permits_no_more_than(&robots.agent(Crawler::anyone())?, "/")?;
    /// assert_eq!(found, Witness::Path(b"/cart".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: see [`Agent::compare`].
    ///
    /// # Errors
    /// Returns the errors of [`Agent::compare`].
    pub fn permits_no_more_than(&self, other: &Agent, url: impl AsRef<[u8]>) -> Result<Witness, Error> {
        let (reasoner, [first, second]) = self.question_with(other, url.as_ref())?;
        Ok(reasoner.excess(&first, &second, None).map_err(FormatError::from)?)
    }

    /// Returns both crawlers' rules or verdicts on a URL's origin, and a reasoner for them.
    fn question_with<'s>(&'s self, other: &'s Agent, url: &[u8]) -> Result<(Reasoner, [Access<'s>; 2]), Error> {
        let [(first, query), (second, other_query)] = [self.query()?, other.query()?];
        let reasoner = Reasoner::of_forms([first.normal_form(), second.normal_form()]);
        Ok((reasoner, [first.access(query, url)?, second.access(other_query, url)?]))
    }
}
