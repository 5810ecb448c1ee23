//! Resolves the crawlers that a binding's user names, in a set or one robots.txt: [`SetOrRobots`].

use reptile::crawlers::Mistake;
use reptile::{Agent, Agents, Crawler, CrawlerError, Robots, Set};

use crate::error::{Error, ErrorKind};

/// A set or one robots.txt, which resolves crawlers and decides URLs. Cheap to clone. See [`SetOrRobots::agents`] for
/// an example.
#[derive(Clone, Debug)]
pub enum SetOrRobots {
    /// A compiled set.
    Set(Set),
    /// One robots.txt, which decides URLs from any origin.
    Robots(Robots),
}

impl SetOrRobots {
    /// Resolves crawlers by the names that the command accepts: a product token or a known crawler's name (`GPTBot`),
    /// a chain of product tokens (`Googlebot-News>Googlebot>*`), any crawler that obeys only the default group (`*`),
    /// or a group of crawlers, such as `@search`.
    ///
    /// A name is treated as a mistake if no robots.txt contains it and it is one letter off from a known crawler's
    /// name, or is the name of an operator or a product such as `ChatGPT`, unless the names are `exact`.
    ///
    /// ```
    /// use reptile::{Dialect, Robots};
    /// use reptile_columns::SetOrRobots;
    ///
    /// let robots = SetOrRobots::Robots(Robots::parse("user-agent: *\ndisallow: /", Dialect::google())?);
    /// assert_eq!(robots.agents(&["Googlebot", "MyBot"], false)?.len(), 2);
    /// let error = robots.agents(&["Googelbot"], false).unwrap_err();
    /// assert!(error.to_string().contains("\"Googlebot\""));
    /// assert!(robots.agents(&["Googelbot"], true).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no name, a name cannot be resolved or is most likely misspelled, a crawler is
    /// named twice, or the set is damaged.
    pub fn agents<N: AsRef<str>>(&self, names: &[N], exact: bool) -> Result<Agents, Error> {
        let mut crawlers: Vec<Crawler> = Vec::new();
        for name in names.iter().map(AsRef::as_ref) {
            // A group's member may also be in another group, or be named.
            for crawler in self.named(name)? {
                if !crawlers.contains(&crawler) {
                    crawlers.push(crawler);
                } else if !name.starts_with('@') {
                    return Err(Error::new(ErrorKind::Crawler, format!("the crawler {name:?} is named twice")));
                }
            }
        }
        if crawlers.is_empty() {
            return Err(Error::new(ErrorKind::Crawler, "no crawler is named; a name is, for example, \"GPTBot\""));
        }
        let agents = self.resolve(crawlers)?;
        if let Some((agent, mistake)) = first_mistake(&agents).filter(|_| !exact) {
            return Err(misspelled(&agent.crawler().to_string(), mistake));
        }
        Ok(agents)
    }

    /// Resolves crawlers. See [`SetOrRobots::agents`] for an example with names.
    ///
    /// # Errors
    /// The errors of [`Set::agents`].
    pub fn resolve(&self, crawlers: impl IntoIterator<Item = Crawler>) -> Result<Agents, CrawlerError> {
        match self {
            SetOrRobots::Set(set) => set.agents(crawlers),
            SetOrRobots::Robots(robots) => robots.agents(crawlers),
        }
    }

    /// Returns the crawlers that one name represents.
    fn named(&self, name: &str) -> Result<Vec<Crawler>, CrawlerError> {
        match self {
            SetOrRobots::Set(set) => set.crawlers_named(name),
            SetOrRobots::Robots(robots) => robots.crawlers_named(name),
        }
    }
}

/// Returns the first crawler whose name is probably misspelled, and how.
///
/// ```
/// use reptile::{Dialect, Robots};
/// use reptile_columns::{SetOrRobots, first_mistake};
///
/// let robots = SetOrRobots::Robots(Robots::parse("user-agent: *\ndisallow: /", Dialect::google())?);
/// assert!(first_mistake(&robots.agents(&["MyBot"], true)?).is_none());
/// let agents = robots.agents(&["MyBot", "Googelbot"], true)?;
/// assert_eq!(first_mistake(&agents).map(|(agent, _)| agent.crawler().to_string()).as_deref(), Some("Googelbot"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn first_mistake(agents: &Agents) -> Option<(&Agent, Mistake)> {
    agents.iter().find_map(|agent| Some((agent, agent.probably_meant()?)))
}

/// Creates the error for a probably misspelled name.
pub(crate) fn misspelled(name: &str, mistake: Mistake) -> Error {
    let message = format!("no robots.txt names the crawler \"{name}\", {mistake}, or set `exact` to true");
    Error::new(ErrorKind::Crawler, message)
}
