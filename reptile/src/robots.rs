//! A single robots.txt: [`Robots`].

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use reptile_compiler::body::Diagnostic;
use reptile_compiler::capture;
use reptile_compiler::set::{ObeyedGroups, known_crawlers};
use reptile_engine::format::crawlers::Crawlers;

use crate::compile::{Capture, SingleCompiled, SingleRead, too_large};
use crate::crawler::Crawler;
use crate::error::{CrawlerError, Error, ErrorKind};
use crate::location::refuse_location;
use crate::set::{Chain, Set, crawlers_named_in};
use crate::site::Site;
use crate::{Dialect, Origin, Profile, Verdict};

/// A single robots.txt, which decides any number of URLs for any number of crawlers.
///
/// The URL's scheme, host and port do not matter, and a path alone is enough: the caller knows the file's origin. A text
/// that begins with `/` is a path, also `//a/b`. Any other text must be a URL that a [`Set`] accepts; otherwise the
/// verdict is [`Verdict::Invalid`](crate::Verdict::Invalid).
///
/// Cost: reading takes about 1 ns per byte. The first URLs are decided by trying the rules, which takes some
/// nanoseconds per rule. Once that has taken a small part of the time for compiling, the file is compiled, which takes
/// 5 to 15 ns per byte in the rules, plus some microseconds. A decision then takes 30 to 150 ns. Any other query
/// compiles the file first. For a single query, [`OneShot`](crate::OneShot) costs less. Cheap to clone and shared
/// between threads by reference.
#[derive(Clone)]
pub struct Robots {
    file: Arc<File>,
}

struct File {
    /// The crawlers that the dialect knows.
    crawlers: Crawlers<'static>,
    /// The file as read, until it is compiled.
    read: Mutex<Option<SingleRead>>,
    compiled: OnceLock<Compiled>,
}

struct Compiled {
    set: Result<Set, (ErrorKind, String)>,
    diagnostics: Box<[Diagnostic]>,
}

/// A crawler that was resolved before its file was compiled.
#[derive(Clone)]
pub(crate) struct UncompiledAgent {
    robots: Robots,
    groups: Arc<ObeyedGroups>,
}

impl Robots {
    /// Reads a robots.txt. Time and memory are linear in its length. Any bytes are a valid robots.txt,
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

    /// Reads a capture under a dialect and a fetch profile, including failed fetches: most profiles allow
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
        let read = SingleRead::new(facts, body, dialect, profile)?;
        let crawlers = known_crawlers(dialect).map_err(|error| too_large(&error))?;
        let (read, compiled) = match read.must_compile() {
            false => (Some(read), OnceLock::new()),
            true => (None, OnceLock::from(Compiled::new(read.compile()?)?)),
        };
        Ok(Robots { file: Arc::new(File { crawlers, read: Mutex::new(read), compiled }) })
    }

    /// Returns the crawlers that the dialect knows.
    pub(crate) fn crawler_table(&self) -> Crawlers<'static> {
        self.file.crawlers
    }

    /// Returns the set with only this file. Compiles the file if necessary.
    pub(crate) fn set(&self) -> Result<&Set, Error> {
        self.compiled().set().map_err(|(kind, message)| Error::new(kind, message))
    }

    fn compiled(&self) -> &Compiled {
        self.file.compiled.get_or_init(|| {
            let read = self.file.read.lock().unwrap_or_else(PoisonError::into_inner).take();
            let compiled = match read {
                Some(read) => read.compile().and_then(Compiled::new),
                None => Err(Error::new(ErrorKind::Limit, "an earlier attempt to compile the file has failed")),
            };
            compiled.unwrap_or_else(|error| Compiled {
                set: Err((error.kind(), error.to_string())),
                diagnostics: Box::default(),
            })
        })
    }

    /// Resolves a crawler's product tokens, or returns `None` if the file is compiled.
    ///
    /// Also returns whether the file names the crawler.
    pub(crate) fn uncompiled_agent(&self, chain: &Chain) -> Option<(UncompiledAgent, bool)> {
        let read = self.file.read.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = read.as_ref()?.groups_of(&chain.tokens, chain.honors_default_group)?;
        let is_named = groups.are_named;
        Some((UncompiledAgent { robots: self.clone(), groups: Arc::new(groups) }, is_named))
    }

    /// Returns the crawlers that a text represents; see [`Set::crawlers_named`].
    ///
    /// # Errors
    /// The errors of [`Set::crawlers_named`].
    pub fn crawlers_named(&self, text: &str) -> Result<Vec<Crawler>, CrawlerError> {
        crawlers_named_in(text, self.crawler_table())
    }

    /// Returns the file's other directives, its policy source, and how long it may be kept.
    ///
    /// # Errors
    /// A value from [`Robots::parse`] causes no error.
    pub fn site(&self) -> Result<Site, Error> {
        self.set()?.only_site()
    }

    /// Returns the file's first 10,000 diagnostics, each a line (from 1) and a description, in line order.
    pub fn diagnostics(&self) -> impl ExactSizeIterator<Item = (u32, &str)> {
        self.compiled().diagnostics.iter().map(|diagnostic| (diagnostic.line, diagnostic.kind.describe()))
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
        let robots: Vec<(Origin, Robots)> = robots.into_iter().collect();
        self.with_sites(robots.iter().map(|(origin, robots)| (origin.clone(), robots.compiled().set())))
    }
}

impl Compiled {
    fn new(SingleCompiled { bytes, diagnostics }: SingleCompiled) -> Result<Compiled, Error> {
        Ok(Compiled { set: Ok(Set::of_one(bytes)?), diagnostics })
    }

    fn set(&self) -> Result<&Set, (ErrorKind, String)> {
        self.set.as_ref().map_err(Clone::clone)
    }
}

impl UncompiledAgent {
    pub(crate) fn robots(&self) -> &Robots {
        &self.robots
    }

    /// Returns the verdict for one URL, or `None` if the file is compiled, or if it now pays off to compile it.
    pub(crate) fn decide(&self, url: &[u8]) -> Option<Verdict> {
        let mut read = self.robots.file.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.as_mut()?.decide(&self.groups, url)
    }
}

impl fmt::Debug for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compiled { set, diagnostics } = self.compiled();
        f.debug_struct("Robots").field("set", set).field("diagnostics", diagnostics).finish()
    }
}
