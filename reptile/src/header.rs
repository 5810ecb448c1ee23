//! Finds the crawlers that send `User-Agent` headers: [`Headers`].

use reptile_engine::token::crawler_in_header;

use crate::agent::Agent;
use crate::crawler::Crawler;
use crate::error::{CrawlerError, CrawlerErrorKind, Error};
use crate::set::Set;

/// Maximum size in bytes of a header that names a crawler. A longer header names no crawler; servers reject such header
/// fields.
pub const MAX_HEADER_BYTES: usize = 4096;

/// Words in robots' product names, in lower case.
const ROBOTS: [&str; 3] = ["bot", "crawl", "spider"];

/// Finds the crawlers in many `User-Agent` headers. [`Set::agent_of_header`] reads one header.
///
/// A header names a crawler if it contains a product from the set's crawler table. Otherwise its first product that
/// browsers do not send is the crawler, if its name looks like a robot's or a robots.txt in the set names it. Other
/// headers, such as a browser's, name no crawler.
///
/// Threads may share a value. It holds the names in the set's crawler table.
#[derive(Clone, Debug)]
pub struct Headers {
    set: Set,
    known: Vec<String>,
}

impl Headers {
    /// Reads the set's crawler table.
    ///
    /// ```
    /// use reptile::{Capture, Compiler, Dialect, Headers, Verdict};
    ///
    /// let mut compiler = Compiler::new(Dialect::google());
    /// compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: GPTBot\ndisallow: /")?)?;
    /// let headers = Headers::new(&compiler.finish()?.into_set()?)?;
    /// let agent = headers.agent("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)")?;
    /// assert_eq!(agent.ok_or("a browser")?.decide("https://example.com/")?, Verdict::Disallow);
    /// assert!(headers.agent("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0")?.is_none());
    /// assert_eq!(headers.agent_of_token("gptbot")?.ok_or("no crawler")?.is_named(), true);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`](crate::ErrorKind::Format) if the set is damaged.
    pub fn new(set: &Set) -> Result<Headers, Error> {
        let known = set.crawlers()?.into_iter().map(|known| known.crawler.to_string()).collect();
        Ok(Headers { set: set.clone(), known })
    }

    /// Returns the crawler that sends a header, or `None` if the header names none.
    ///
    /// Cost: compares each product in the header with each known name.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`](crate::ErrorKind::Format) if the set is damaged.
    pub fn agent(&self, header: impl AsRef<[u8]>) -> Result<Option<Agent>, Error> {
        let header = header.as_ref().trim_ascii();
        if header.is_empty() || header.len() > MAX_HEADER_BYTES {
            return Ok(None);
        }
        let Some(name) = crawler_in_header(header, self.known.iter().map(String::as_bytes)) else { return Ok(None) };
        let agent = self.agent_of_token(&name)?;
        let is_known = || self.known.iter().any(|known| known.eq_ignore_ascii_case(&name));
        let is_robot = || ROBOTS.iter().any(|robot| name.to_ascii_lowercase().contains(robot));
        Ok(agent.filter(|agent| is_known() || is_robot() || agent.is_named()))
    }

    /// Returns the crawler with a product token, or `None` if the text is not a product token. If no user-agent line
    /// can contain the token, this is the crawler for the part that is read from such a line.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`](crate::ErrorKind::Format) if the set is damaged.
    pub fn agent_of_token(&self, token: impl AsRef<[u8]>) -> Result<Option<Agent>, Error> {
        let token = token.as_ref();
        if token.len() > MAX_HEADER_BYTES {
            return Ok(None);
        }
        let is_word = token.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte));
        let by_suggestion = |error: &CrawlerError| match (error.kind(), error.suggestion()) {
            (CrawlerErrorKind::Unnameable, Some(read_as)) if is_word => self.set.agent(read_as).ok(),
            _ => None,
        };
        match self.set.agent(Crawler::named(token)) {
            Ok(agent) => Ok(Some(agent)),
            // The verification reports where the damage is.
            Err(error) if error.kind() == CrawlerErrorKind::Damaged => self.set.verify().map(|()| None),
            Err(error) => Ok(by_suggestion(&error)),
        }
    }
}

impl Set {
    /// Returns the crawler that sends a `User-Agent` header, or `None` if the header names none, such as a browser's.
    /// [`Headers`] describes which header names which crawler.
    ///
    /// Cost: reads the set's crawler table, a few microseconds. For many headers, use [`Headers`].
    ///
    /// ```
    /// use reptile::{Dialect, Robots};
    /// let robots = Robots::parse("user-agent: *\ndisallow: /", Dialect::google())?;
    /// let found = robots.agent_of_header("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")?;
    /// assert_eq!(found.map(|agent| agent.crawler().to_string()).as_deref(), Some("Googlebot"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`](crate::ErrorKind::Format) if the set is damaged.
    pub fn agent_of_header(&self, header: impl AsRef<[u8]>) -> Result<Option<Agent>, Error> {
        Headers::new(self)?.agent(header)
    }
}
