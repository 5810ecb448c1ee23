//! The crawlers that a user of a binding names, resolved by a set or by one robots.txt: [`Source`].

use reptile::{Agents, Crawler, CrawlerError, KnownCrawler, Robots, Set};

use crate::error::{Error, ErrorKind};

/// What resolves crawlers and decides URLs: a set, or one robots.txt. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Source {
    /// A compiled set.
    Set(Set),
    /// One robots.txt, which decides URLs of any origin.
    Robots(Robots),
}

/// Whether a crawler that a set knows is in a group.
type IsMember = fn(&KnownCrawler) -> bool;

/// The groups of crawlers that have a name.
const GROUPS: [(&str, IsMember); 2] =
    [("@ai-training", |known| known.is_for_ai_training), ("@search", |known| known.is_for_search)];

impl Source {
    /// Resolves crawlers by the names that the command takes: a product token or the name of a known crawler (`GPTBot`), a
    /// chain of product tokens (`Googlebot-News>Googlebot>*`), any crawler that obeys just the default group (`*`), or, of a
    /// set, a group of crawlers (`@ai-training`, `@search`).
    ///
    /// A name that no robots.txt names and that is one letter off from a known crawler's is taken for a mistake, unless
    /// the names are `exact`.
    ///
    /// ```
    /// use reptile::{Dialect, Robots};
    /// use reptile_arrow::Source;
    ///
    /// let robots = Source::Robots(Robots::parse("user-agent: *\ndisallow: /", Dialect::google())?);
    /// assert_eq!(robots.agents(&["Googlebot", "MyBot"], false)?.len(), 2);
    /// let error = robots.agents(&["Googelbot"], false).unwrap_err();
    /// assert!(error.to_string().contains("\"Googlebot\""));
    /// assert!(robots.agents(&["Googelbot"], true).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no name, a name cannot be resolved or is most likely misspelt, a crawler is named twice, or the set is
    /// damaged.
    pub fn agents<N: AsRef<str>>(&self, names: &[N], exact: bool) -> Result<Agents, Error> {
        let mut crawlers: Vec<Crawler> = Vec::new();
        for name in names.iter().map(AsRef::as_ref) {
            if name.starts_with('@') {
                // A crawler may be in two groups.
                let members = self.members(name)?.into_iter().filter(|member| !crawlers.contains(member));
                crawlers.extend(members.collect::<Vec<_>>());
            } else {
                let crawler = crawler(name)?;
                if crawlers.contains(&crawler) {
                    return Err(Error::new(ErrorKind::Crawler, format!("the crawler {name:?} is named twice")));
                }
                crawlers.push(crawler);
            }
        }
        if crawlers.is_empty() {
            return Err(Error::new(ErrorKind::Crawler, "no crawler is named; a name is, for example, \"GPTBot\""));
        }
        let agents = self.resolve(crawlers)?;
        let mistake = agents.iter().filter(|_| !exact).find_map(|agent| Some((agent, agent.probably_meant()?)));
        if let Some((agent, near)) = mistake {
            let name = agent.crawler();
            let message = format!(
                "no robots.txt names the crawler \"{name}\", which is nearly \"{near}\": write that, or say that the name is exact"
            );
            return Err(Error::new(ErrorKind::Crawler, message));
        }
        Ok(agents)
    }

    /// Resolves crawlers.
    ///
    /// # Errors
    /// The errors of [`Set::agents`].
    pub fn resolve(&self, crawlers: impl IntoIterator<Item = Crawler>) -> Result<Agents, CrawlerError> {
        match self {
            Source::Set(set) => set.agents(crawlers),
            Source::Robots(robots) => robots.agents(crawlers),
        }
    }

    /// The members of a group of crawlers, in the order of the set's crawler table.
    fn members(&self, group: &str) -> Result<Vec<Crawler>, Error> {
        let Some((_, is_member)) = GROUPS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(group)) else {
            let names = GROUPS.map(|(name, _)| name).join(" and ");
            let message = format!("unknown group of crawlers {group:?}; the known ones are {names}");
            return Err(Error::new(ErrorKind::Crawler, message));
        };
        let Source::Set(set) = self else {
            return Err(Error::new(
                ErrorKind::Crawler,
                format!("{group:?} can only be asked of a set; name the crawlers"),
            ));
        };
        Ok(set.crawlers()?.into_iter().filter(is_member).map(|known| known.crawler).collect())
    }
}

/// The crawler that one name stands for.
fn crawler(name: &str) -> Result<Crawler, Error> {
    if name == "*" {
        return Ok(Crawler::chain([""; 0], true));
    }
    if !name.contains('>') {
        return Ok(Crawler::named(name));
    }
    let (tokens, honours_default_group) = match name.strip_suffix(">*") {
        Some(tokens) => (tokens, true),
        None => (name, false),
    };
    if tokens.split('>').any(|token| token.is_empty() || token == "*") {
        let message = format!("{name:?} is not a chain of product tokens, such as Googlebot-News>Googlebot>*");
        return Err(Error::new(ErrorKind::Crawler, message));
    }
    Ok(Crawler::chain(tokens.split('>'), honours_default_group))
}
