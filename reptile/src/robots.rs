//! A single robots.txt: [`Robots`].

use std::fmt;
use std::sync::Arc;

use reptile_compiler::body::Diagnostic;
use reptile_compiler::capture;

use crate::agent::{Agent, Agents};
use crate::compile::{Capture, compile_one};
use crate::crawler::Crawler;
use crate::error::{CrawlerError, Error};
use crate::location::refuse_location;
use crate::set::{Set, any_origin};
use crate::site::Site;
use crate::{Dialect, Origin, Profile};

/// A single compiled robots.txt, which decides any number of URLs for any number of crawlers.
///
/// The URL's scheme, host and port do not matter, and a path alone is enough: the caller knows the file's origin. A text
/// that begins with `/` is a path, also `//a/b`. Any other text must be a URL that a [`Set`] accepts; otherwise the
/// verdict is [`Verdict::Invalid`](crate::Verdict::Invalid).
///
/// Cost: compiling takes about 15 ns for each byte in the rules, and some microseconds; a decision then takes 30 to
/// 150 ns. For a single query, [`OneShot`](crate::OneShot) costs less. Cheap to clone and shared between threads by
/// reference.
#[derive(Clone)]
pub struct Robots {
    pub(crate) set: Set,
    diagnostics: Arc<[Diagnostic]>,
}

impl Robots {
    /// Reads and compiles a robots.txt. Time and memory are linear in its length. Any bytes are a valid robots.txt,
    /// except a single word that is a URL, a path or a file name: the caller has mixed up the arguments.
    ///
    /// ```
    /// use reptile::{Dialect, ErrorKind, Robots, Verdict};
    /// let robots = Robots::parse("User-agent: *\nDisallow: /cart", Dialect::rfc9309())?;
    /// let agent = robots.agent("AnyBot")?;
    /// assert_eq!(agent.explain("/cart?item=1")?.rule().map(|rule| rule.line), Some(2));
    /// assert_eq!(agent.decide("cart?item=1")?, Verdict::Invalid);
    /// assert_eq!(Robots::parse("robots.txt", Dialect::rfc9309()).unwrap_err().kind(), ErrorKind::NotRobots);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotRobots`](crate::ErrorKind::NotRobots) if the body is a URL, a path or a file name,
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if it exceeds 16 MiB, and
    /// [`ErrorKind::Steps`](crate::ErrorKind::Steps) if its rules would take too many steps to decide a URL.
    pub fn parse(body: impl AsRef<[u8]>, dialect: &Dialect) -> Result<Robots, Error> {
        refuse_location(body.as_ref())?;
        let facts = capture::Capture::default();
        Robots::from_facts(&facts, Some(body.as_ref()), dialect, Profile::of_dialect(dialect))
    }

    /// Compiles a capture under a dialect and a fetch profile, including failed fetches: most profiles allow
    /// everything with status 404, and nothing with 503. Any bytes are a valid body.
    ///
    /// # Errors
    /// Returns the errors of [`Robots::parse`] about the body's size and rules, and
    /// [`ErrorKind::NoBody`](crate::ErrorKind::NoBody) if the capture lacks the body that its outcome requires.
    pub fn from_capture(capture: &Capture, dialect: &Dialect, profile: &Profile) -> Result<Robots, Error> {
        Robots::from_facts(&capture.facts(), capture.body.as_deref(), dialect, profile)
    }

    fn from_facts(
        facts: &capture::Capture,
        body: Option<&[u8]>,
        dialect: &Dialect,
        profile: &Profile,
    ) -> Result<Robots, Error> {
        let (compiled, diagnostics) = compile_one(&any_origin(), facts, body, dialect, profile)?;
        Ok(Robots { set: Set::of_one(compiled.to_bytes())?, diagnostics })
    }

    /// Resolves a crawler; see [`Set::agent`].
    ///
    /// # Errors
    /// The errors of [`Set::agent`].
    pub fn agent(&self, crawler: impl Into<Crawler>) -> Result<Agent, CrawlerError> {
        self.set.agent(crawler)
    }

    /// Resolves several crawlers, for queries about all of them at once; see [`Set::agents`].
    ///
    /// # Errors
    /// The errors of [`Set::agents`].
    pub fn agents<C: Into<Crawler>>(&self, crawlers: impl IntoIterator<Item = C>) -> Result<Agents, CrawlerError> {
        self.set.agents(crawlers)
    }

    /// Returns the crawler that sends a `User-Agent` header, or `None` if the header names none; see
    /// [`Set::agent_of_header`].
    ///
    /// # Errors
    /// A value from [`Robots::parse`] causes no error.
    pub fn agent_of_header(&self, header: impl AsRef<[u8]>) -> Result<Option<Agent>, Error> {
        self.set.agent_of_header(header)
    }

    /// Returns the crawlers that a text represents; see [`Set::crawlers_named`].
    ///
    /// # Errors
    /// The errors of [`Set::crawlers_named`].
    pub fn crawlers_named(&self, text: &str) -> Result<Vec<Crawler>, CrawlerError> {
        self.set.crawlers_named(text)
    }

    /// Returns the file's other directives, its policy source, and how long it may be kept.
    ///
    /// # Errors
    /// A value from [`Robots::parse`] causes no error.
    pub fn site(&self) -> Result<Site, Error> {
        self.set.only_site()
    }

    /// Returns the file's first 10,000 diagnostics, each a line (from 1) and a description, in line order.
    pub fn diagnostics(&self) -> impl ExactSizeIterator<Item = (u32, &str)> {
        self.diagnostics.iter().map(|diagnostic| (diagnostic.line, diagnostic.kind.describe()))
    }
}

impl Set {
    /// Returns the same set with some origins' sites replaced: for example, a crawler's fresh copies over last
    /// month's set. The set itself is shared, and so are previously replaced sites. Costs a copy of the table of
    /// replaced sites.
    ///
    /// ```
    /// use reptile::{Capture, Compiler, Dialect, Robots, Verdict};
    /// let mut compiler = Compiler::new(Dialect::google());
    /// compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /a")?)?;
    /// let base = compiler.finish()?.into_set()?;
    /// let fresh = Robots::parse("user-agent: *\ndisallow: /b", Dialect::google())?;
    /// let set = base.with_robots([("https://example.com".parse()?, fresh)]);
    /// assert_eq!(set.agent("AnyBot")?.decide("https://example.com/b")?, Verdict::Disallow);
    /// assert_eq!(base.agent("AnyBot")?.decide("https://example.com/b")?, Verdict::Allow);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_robots(&self, robots: impl IntoIterator<Item = (Origin, Robots)>) -> Set {
        self.with_sites(robots.into_iter().map(|(origin, robots)| (origin, robots.set)))
    }
}

impl fmt::Debug for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Robots").field("set", &self.set).field("diagnostics", &self.diagnostics).finish()
    }
}
