//! One robots.txt: [`Robots`].

use std::fmt;
use std::sync::Arc;

use bumpalo::Bump;
use reptile_compiler::body::Diagnostic;
use reptile_compiler::set::SetBuilder;

use crate::agent::{Agent, Agents, Crawler};
use crate::compile::{self, Capture};
use crate::error::{CrawlerError, Error};
use crate::set::{Set, any_origin};
use crate::site::Site;
use crate::{Dialect, Profile};

/// One robots.txt, compiled: decides any number of URLs for any number of crawlers.
///
/// The scheme, host and port of a URL do not matter, and a path alone is enough: the caller knows which origin the file
/// is from. The text after `scheme://host` is read as the dialect's reference reads it.
///
/// Cost: compiling takes about 15 ns for each byte of the rules, and some microseconds; a decision then takes 30 to 150 ns.
/// To ask a single question of a file and throw the file away, [`OneShot`](crate::OneShot) costs less. Cheap to clone and
/// shared between threads by reference.
#[derive(Clone)]
pub struct Robots {
    pub(crate) set: Set,
    diagnostics: Arc<[Diagnostic]>,
}

impl Robots {
    /// Reads and compiles a robots.txt. Time and memory are linear in its length, whatever it contains: any bytes are a
    /// valid robots.txt.
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

    /// Compiles a capture under a dialect and a fetch profile, whether it is a file or a failure: with a status of 404
    /// most profiles allow everything, with 503 nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) when the body has more than 16 MiB,
    /// [`ErrorKind::NoBody`](crate::ErrorKind::NoBody) when it has no body, although its outcome requires one.
    pub fn from_capture(capture: &Capture, dialect: &Dialect, profile: &Profile) -> Result<Robots, Error> {
        let (outcome, prepared) = compile::read(capture, dialect, profile, true, &Bump::new())?;
        let diagnostics = prepared.as_ref().map_or(&[][..], |prepared| prepared.diagnostics.first()).into();
        let mut builder = SetBuilder::with_profile(dialect, profile, capture.time);
        builder.add_capture([any_origin()], &capture.facts(), outcome, prepared);
        let bytes = compile::finish_one(builder)?.to_bytes();
        Ok(Robots { set: Set::of_one(bytes)?, diagnostics })
    }

    /// Resolves a crawler; see [`Set::agent`].
    ///
    /// # Errors
    /// The errors of [`Set::agent`].
    pub fn agent(&self, crawler: impl Into<Crawler>) -> Result<Agent, CrawlerError> {
        self.set.agent(crawler)
    }

    /// Resolves several crawlers, for questions about all of them at once; see [`Set::agents`].
    ///
    /// # Errors
    /// The errors of [`Set::agents`].
    pub fn agents<C: Into<Crawler>>(&self, crawlers: impl IntoIterator<Item = C>) -> Result<Agents, CrawlerError> {
        self.set.agents(crawlers)
    }

    /// The crawlers that a text stands for; see [`Set::crawlers_named`].
    ///
    /// # Errors
    /// The errors of [`Set::crawlers_named`].
    pub fn crawlers_named(&self, text: &str) -> Result<Vec<Crawler>, CrawlerError> {
        self.set.crawlers_named(text)
    }

    /// The file's other directives, its policy source, and how long it may be kept.
    ///
    /// # Errors
    /// A value made by [`Robots::parse`] causes no error.
    pub fn site(&self) -> Result<Site, Error> {
        self.set.only_site()
    }

    /// The diagnostics of the file, each a line (from 1) and a description, in the order of the lines: the first 10,000.
    pub fn diagnostics(&self) -> impl ExactSizeIterator<Item = (u32, &str)> {
        self.diagnostics.iter().map(|diagnostic| (diagnostic.line, diagnostic.kind.describe()))
    }
}

impl fmt::Debug for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Robots").field("set", &self.set).field("diagnostics", &self.diagnostics).finish()
    }
}
