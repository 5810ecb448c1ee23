//! One robots.txt: [`Robots`].

use std::fmt;

use bumpalo::Bump;
use reptile_compiler::body::DiagnosticKind;
use reptile_compiler::set::SetBuilder;

use crate::agent::{Agent, Agents, Crawler};
use crate::compile::{self, Capture};
use crate::error::{CrawlerError, Error};
use crate::set::{Set, any_origin};
use crate::site::Site;
use crate::{Dialect, Profile};

/// One robots.txt, compiled: answers for any number of URLs and crawlers.
///
/// The URLs' scheme, host and port do not matter, and a path alone will do: whoever has one robots.txt knows whose it is.
/// What follows `scheme://host` is taken as the dialect's reference takes it.
///
/// Cost: compiling takes about 15 ns a byte of the rules; a decision then takes 30 to 150 ns. For a single question to a
/// file that is thrown away after it, nothing is cheaper. Cheap to clone and shared between threads by reference.
#[derive(Clone)]
pub struct Robots {
    pub(crate) set: Set,
    diagnostics: std::sync::Arc<[(u32, &'static str)]>,
}

impl Robots {
    /// Reads and compiles a robots.txt. Time and memory linear in its length, whatever it holds: any bytes are a
    /// robots.txt.
    ///
    /// ```
    /// use reptile::{Dialect, Robots};
    /// let robots = Robots::parse("User-agent: *\nDisallow: /cart", Dialect::rfc9309())?;
    /// let explained = robots.agent("AnyBot")?.explain("/cart?item=1")?;
    /// assert_eq!(explained.rule().map(|rule| rule.line), Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) when the body has more than 16 MiB.
    pub fn parse(body: impl AsRef<[u8]>, dialect: &Dialect) -> Result<Robots, Error> {
        let capture = Capture::of_anything(body.as_ref());
        Robots::from_capture(&capture, dialect, Profile::of_dialect(dialect))
    }

    /// What a capture means under a dialect and a fetch profile, be it a file or a failure: with a status of 404
    /// everything is allowed under most profiles, with 503 nothing is.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) when the body has more than 16 MiB,
    /// [`ErrorKind::NoBody`](crate::ErrorKind::NoBody) when it has none and should have one.
    pub fn from_capture(capture: &Capture, dialect: &Dialect, profile: &Profile) -> Result<Robots, Error> {
        let (outcome, prepared) = compile::read(capture, dialect, profile, true, &Bump::new())?;
        let diagnostics = prepared.iter().flat_map(|prepared| &prepared.diagnostics);
        let diagnostics = diagnostics.map(|diagnostic| (diagnostic.line, DiagnosticKind::describe(diagnostic.kind)));
        let diagnostics = diagnostics.collect();
        let mut builder = SetBuilder::with_profile(dialect, profile, capture.time);
        builder.add_capture([any_origin()], &capture.facts(), outcome, prepared);
        let bytes = compile::finish(builder)?.to_bytes();
        Ok(Robots { set: Set::of_one(bytes)?, diagnostics })
    }

    /// Resolves a crawler; see [`Set::agent`].
    ///
    /// # Errors
    /// As [`Set::agent`].
    pub fn agent(&self, crawler: impl Into<Crawler>) -> Result<Agent, CrawlerError> {
        self.set.agent(crawler)
    }

    /// Resolves several crawlers, to be asked for together; see [`Set::agents`].
    ///
    /// # Errors
    /// As [`Set::agents`].
    pub fn agents<C: Into<Crawler>>(&self, crawlers: impl IntoIterator<Item = C>) -> Result<Agents, CrawlerError> {
        self.set.agents(crawlers)
    }

    /// What the file says beside its rules, where its policy comes from, and how long it may be kept.
    ///
    /// # Errors
    /// None that [`Robots::parse`] leaves possible.
    pub fn site(&self) -> Result<Site, Error> {
        self.set.only_site()
    }

    /// What is odd about lines of the file, as line (from 1) and description, in the order of the lines.
    pub fn diagnostics(&self) -> impl ExactSizeIterator<Item = (u32, &str)> {
        self.diagnostics.iter().copied()
    }
}

impl fmt::Debug for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Robots").field("set", &self.set).field("diagnostics", &self.diagnostics).finish()
    }
}
