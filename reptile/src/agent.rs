//! Crawlers that a set has resolved, to decide URLs for: [`Agent`], [`Agents`].
//!
//! An [`Agent`] holds the set that resolved it, and every query goes through the agent. No function takes both a set
//! and an agent, so a crawler cannot be used with a set that did not resolve it.

use std::fmt;
use std::sync::Arc;
#[cfg(feature = "compile")]
use std::sync::OnceLock;
use std::time::Duration;

use reptile_engine::set as engine;
use reptile_engine::url::UrlParts;
use reptile_engine::verdict::Verdict;

use crate::crawler::{Crawler, CrawlerForm};
use crate::error::{CrawlerError, Error, ErrorKind};
#[cfg(feature = "compile")]
use crate::robots::{Robots, UncompiledAgent};
use crate::set::{AgentColumns, AgentQuery, Chain, Set};
use crate::{Directive, Explanation, Group, Origin, Provenance, Rule};

/// A crawler together with the [`Set`] or the [`Robots`](crate::Robots) that resolved it.
///
/// Cheap to clone, and shared between threads by reference.
#[derive(Clone)]
pub struct Agent {
    crawler: Crawler,
    pub(crate) chain: Arc<Chain>,
    is_named: bool,
    source: Source<ResolvedAgent>,
}

/// A crawler as resolved by a set.
#[derive(Clone)]
pub(crate) struct ResolvedAgent {
    set: Set,
    resolved: engine::Agent,
    /// The ruleset, if a single one decides every path for the crawler in a set of one robots.txt.
    only_ruleset: Option<engine::RulesetPlace>,
}

/// The source of one or several agents: a set, or a single robots.txt that may not be compiled yet.
#[derive(Clone)]
enum Source<T> {
    /// A value that contains its set.
    Set(T),
    /// An agent of a robots.txt, and the value, which is set after the robots.txt has been compiled.
    #[cfg(feature = "compile")]
    Robots(UncompiledAgent, OnceLock<T>),
}

impl Agent {
    /// Returns the verdict for one URL.
    ///
    /// Time: one pass over the URL, one origin lookup, and one walk over the path. Does not allocate, unless the path
    /// must be normalized, the host is not ASCII, or several groups decide together. [`Robots`](crate::Robots) has the
    /// cost for a single file that is not compiled yet.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`] if the set is damaged. A malformed URL is not an error; its verdict is
    /// [`Verdict::Invalid`].
    #[inline]
    pub fn decide(&self, url: impl AsRef<[u8]>) -> Result<Verdict, Error> {
        if let Some(ResolvedAgent { set, only_ruleset: Some(ruleset), .. }) = self.source.get() {
            return set.decide_by_ruleset(ruleset, url.as_ref());
        }
        self.decide_slowly(url.as_ref())
    }

    /// Does the work of [`Agent::decide`] for a set of many files, for several groups that decide together, and for a
    /// file that is not compiled.
    fn decide_slowly(&self, url: &[u8]) -> Result<Verdict, Error> {
        #[cfg(feature = "compile")]
        if let Source::Robots(uncompiled, _) = &self.source {
            if let Some(verdict) = uncompiled.decide(url) {
                return Ok(verdict);
            }
        }
        let (set, column) = self.column()?;
        let mut verdict = [Verdict::Invalid];
        set.decide_each(column, url, &mut verdict)?;
        Ok(verdict[0])
    }

    /// Returns the verdict for one URL with its reasons: the best rule of each kind, the deciding rule, and why
    /// the group applies to the crawler.
    ///
    /// # Errors
    /// The errors of [`Agent::decide`].
    pub fn explain(&self, url: impl AsRef<[u8]>) -> Result<Explanation, Error> {
        let (set, query) = self.query()?;
        set.explain(query, url.as_ref())
    }

    /// Returns the verdict for one URL by the rules that applied at a time, in seconds since 1970. The verdict is the
    /// same as in a set compiled for that time from the captures fetched until then. It is [`Verdict::Unknown`]
    /// before the origin's first capture.
    ///
    /// ```
    /// use reptile::{Capture, Compiler, Dialect, Verdict};
    ///
    /// let mut compiler = Compiler::new(Dialect::google()).by_time(true);
    /// for (time, body) in [(1_000, "user-agent: *\ndisallow: /a"), (2_000, "user-agent: *\ndisallow: /b")] {
    ///     let mut capture = Capture::new("https://example.com/robots.txt", body)?;
    ///     capture.time = Some(time);
    ///     compiler.add(capture)?;
    /// }
    /// let agent = compiler.finish()?.into_set()?.agent("AnyBot")?;
    /// assert_eq!(agent.decide_at("https://example.com/a", 999)?, Verdict::Unknown);
    /// assert_eq!(agent.decide_at("https://example.com/a", 1_999)?, Verdict::Disallow);
    /// assert_eq!(agent.decide_at("https://example.com/a", 2_000)?, Verdict::Allow);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::NoTimes`] if the set was not compiled with `Compiler::by_time`, and the errors of
    /// [`Agent::decide`].
    pub fn decide_at(&self, url: impl AsRef<[u8]>, time: i64) -> Result<Verdict, Error> {
        let (set, column) = self.column()?;
        let mut verdict = [Verdict::Invalid];
        set.decide_all_at(column, &[url], &[time], &mut verdict)?;
        Ok(verdict[0])
    }

    /// Returns the verdict for one URL by the rules that applied at a time, with its reasons.
    ///
    /// # Errors
    /// The errors of [`Agent::decide_at`].
    pub fn explain_at(&self, url: impl AsRef<[u8]>, time: i64) -> Result<Explanation, Error> {
        let (set, query) = self.query()?;
        set.explain_at(query, url.as_ref(), time)
    }

    /// Returns the capture and ruleset behind the verdict for one URL.
    ///
    /// ```
    /// use reptile::{Capture, Compiler, Dialect};
    ///
    /// let mut compiler = Compiler::new(Dialect::google());
    /// let mut capture = Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /a")?;
    /// capture.time = Some(1_000);
    /// compiler.add(capture)?;
    /// let agent = compiler.finish()?.into_set()?.agent("AnyBot")?;
    /// let found = agent.provenance("https://example.com/a")?;
    /// assert_eq!((found.fetched_at, found.ruleset), (Some(1_000), Some(0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Agent::decide`].
    pub fn provenance(&self, url: impl AsRef<[u8]>) -> Result<Provenance, Error> {
        let (set, query) = self.query()?;
        set.provenance(query, url.as_ref())
    }

    /// Returns the capture and ruleset behind the verdict for one URL at a time.
    ///
    /// Cost: reads all captures from the origin.
    ///
    /// # Errors
    /// The errors of [`Agent::decide_at`].
    pub fn provenance_at(&self, url: impl AsRef<[u8]>, time: i64) -> Result<Provenance, Error> {
        let (set, query) = self.query()?;
        set.provenance_at(query, url.as_ref(), time)
    }

    /// Returns every rule in the crawler's groups that matches a URL, in order of precedence: the first rule decides.
    ///
    /// Time: linear in the number of rules, times the path's length for rules with wildcards.
    ///
    /// # Errors
    /// The errors of [`Agent::decide`].
    pub fn matching_rules(&self, url: impl AsRef<[u8]>) -> Result<Vec<Rule>, Error> {
        let (set, query) = self.query()?;
        set.matching_rules(query, url.as_ref())
    }

    /// Returns why the group that the crawler obeys on a URL's origin applies to it: the group names it, or is the
    /// default group.
    ///
    /// # Errors
    /// The errors of [`Agent::decide`].
    pub fn group(&self, url: impl AsRef<[u8]>) -> Result<Group, Error> {
        let (set, query) = self.query()?;
        set.group(query, url.as_ref())
    }

    /// Returns the delay between two fetches from a URL's origin, if a `Crawl-delay` line applies to the crawler
    /// under the set's dialect.
    ///
    /// # Errors
    /// The errors of [`Agent::decide`].
    pub fn crawl_delay(&self, url: impl AsRef<[u8]>) -> Result<Option<Duration>, Error> {
        let (set, query) = self.query()?;
        set.crawl_delay(query, url.as_ref())
    }

    /// Returns the other directives in the origin's robots.txt that apply to this crawler: the lines in its groups,
    /// and the lines for every crawler.
    ///
    /// # Errors
    /// The errors of [`Agent::decide`].
    pub fn directives(&self, url: impl AsRef<[u8]>) -> Result<Vec<Directive>, Error> {
        let (set, query) = self.query()?;
        set.directives(query, url.as_ref())
    }

    /// Returns the crawler as the caller named it.
    #[must_use]
    pub fn crawler(&self) -> &Crawler {
        &self.crawler
    }

    /// Returns the product tokens that the crawler obeys, the most specific first.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.chain.tokens.iter().map(Vec::as_slice)
    }

    /// Returns the product token that the set's dialect reads from a user-agent line with the crawler's name, or
    /// `None` if it reads the whole name. Only known crawlers may have such a name. The crawler obeys the groups for
    /// that token.
    ///
    /// ```
    /// use reptile::{Dialect, Robots};
    /// let robots = Robots::parse("user-agent: MJ12bot\ndisallow: /", Dialect::google())?;
    /// assert_eq!(robots.agent("MJ12bot")?.read_as(), Some(&b"MJ"[..]));
    /// assert_eq!(robots.agent("Googlebot")?.read_as(), None);
    /// assert!(robots.agent("MJ13bot").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn read_as(&self) -> Option<&[u8]> {
        let first = self.tokens().next().filter(|_| self.crawler.kind == CrawlerForm::Named)?;
        let rest = self.crawler.name.get(first.len()..)?;
        let is_start = self.crawler.name.get(..first.len()).is_some_and(|start| start.eq_ignore_ascii_case(first));
        // A version was removed and is not part of the name.
        (is_start && !matches!(rest.trim_ascii_start().first(), None | Some(b'/'))).then_some(first)
    }

    /// Returns whether the crawler obeys the default group (`*`) if no group names it.
    #[must_use]
    pub fn honors_default_group(&self) -> bool {
        self.chain.honors_default_group
    }

    /// Returns whether any robots.txt in the set names the crawler.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.is_named
    }

    /// Returns the probable mistake in the name, if no robots.txt in the set contains it: the name, or a product token
    /// in a chain, is one letter off from a known crawler's, or it is the name of an operator or a product. Programs
    /// should refuse such a name from users.
    ///
    /// ```
    /// use reptile::{Dialect, Robots};
    /// let robots = Robots::parse("user-agent: *\ndisallow: /", Dialect::google())?;
    /// assert_eq!(robots.agent("Googelbot")?.probably_meant().unwrap().tokens(), ["Googlebot"]);
    /// let meant = robots.agent("ChatGPT")?.probably_meant().unwrap();
    /// assert_eq!(meant.tokens(), ["GPTBot", "OAI-SearchBot", "ChatGPT-User"]);
    /// assert_eq!(robots.agent("MyBot")?.probably_meant(), None);
    /// assert_eq!(robots.agent("AI2Bot")?.probably_meant(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "compile")]
    #[must_use]
    pub fn probably_meant(&self) -> Option<crate::crawlers::Mistake> {
        if self.crawler.kind == CrawlerForm::Verbatim {
            return None;
        }
        // Some dialects cut "AI2Bot" to "AI", which is not what the user wrote.
        if self.read_as().is_some() {
            return crate::crawlers::mistake(&self.crawler.name).filter(|_| !self.is_named());
        }
        let agent = |crawler| match &self.source {
            Source::Set(found) => found.set.agent(crawler),
            Source::Robots(uncompiled, _) => uncompiled.robots().agent(crawler),
        };
        let is_named = |token: &[u8]| agent(Crawler::token(token)).is_ok_and(|agent| agent.is_named());
        self.chain.tokens.iter().find_map(|token| crate::crawlers::mistake(token).filter(|_| !is_named(token)))
    }

    /// Returns the set that resolved the crawler, and the crawler in one query to it.
    pub(crate) fn query(&self) -> Result<(&Set, AgentQuery<'_>), Error> {
        let found = self.resolved()?;
        Ok((&found.set, AgentQuery { resolved: &found.resolved, chain: &self.chain }))
    }

    /// Returns the set that resolved the crawler, and the crawler as the only one in a query to it.
    pub(crate) fn column(&self) -> Result<(&Set, AgentColumns<'_>), Error> {
        let found = self.resolved()?;
        let (resolved, chains) = (std::slice::from_ref(&found.resolved), std::slice::from_ref(&self.chain));
        Ok((&found.set, AgentColumns { resolved, chains }))
    }

    fn resolved(&self) -> Result<&ResolvedAgent, Error> {
        self.source.get_or_compile(|set| set.look_up(&self.chain))
    }
}

impl<T> Source<T> {
    /// Returns the value, or `None` if the robots.txt has not been compiled for it yet.
    #[inline]
    fn get(&self) -> Option<&T> {
        match self {
            Source::Set(value) => Some(value),
            #[cfg(feature = "compile")]
            Source::Robots(_, value) => value.get(),
        }
    }

    /// Returns the value. Compiles the robots.txt if necessary.
    #[cfg_attr(not(feature = "compile"), allow(unused_variables, reason = "only a single robots.txt is compiled"))]
    fn get_or_compile(&self, value_in: impl FnOnce(&Set) -> Result<T, Error>) -> Result<&T, Error> {
        match self {
            Source::Set(value) => Ok(value),
            #[cfg(feature = "compile")]
            Source::Robots(uncompiled, value) => match value.get() {
                Some(value) => Ok(value),
                None => {
                    let found = value_in(uncompiled.robots().set()?)?;
                    Ok(value.get_or_init(|| found))
                }
            },
        }
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("crawler", &self.crawler).field("chain", &self.chain).finish_non_exhaustive()
    }
}

/// Several crawlers together with the [`Set`] that resolved them. Faster than separate [`Agent`]s: a URL is split and
/// its origin looked up once for all crawlers.
#[derive(Clone)]
pub struct Agents {
    agents: Vec<Agent>,
    source: Source<ResolvedAgents>,
}

/// Several crawlers as resolved by a set.
#[derive(Clone)]
struct ResolvedAgents {
    set: Set,
    /// The engine's agents, in one slice, as the engine takes them.
    resolved: Vec<engine::Agent>,
    /// The agents' product tokens.
    chains: Vec<Arc<Chain>>,
}

impl ResolvedAgents {
    fn new(set: &Set, agents: &[Agent]) -> Result<ResolvedAgents, Error> {
        let resolved = agents.iter().map(|agent| Ok(agent.resolved()?.resolved.clone()));
        let chains = agents.iter().map(|agent| Arc::clone(&agent.chain)).collect();
        Ok(ResolvedAgents { set: set.clone(), resolved: resolved.collect::<Result<_, Error>>()?, chains })
    }
}

impl Agents {
    /// Decides one URL: `verdicts[j]` is the verdict for the `j`-th crawler.
    ///
    /// # Errors
    /// Returns [`ErrorKind::BufferLength`] if the length of `verdicts` is not the number of crawlers, and the errors
    /// of [`Agent::decide`].
    pub fn decide(&self, url: impl AsRef<[u8]>, verdicts: &mut [Verdict]) -> Result<(), Error> {
        check_len(1, self.agents.len(), verdicts)?;
        // An uncompiled file decides for one crawler at a time.
        if self.source.get().is_none() {
            for (agent, verdict) in self.agents.iter().zip(verdicts) {
                *verdict = agent.decide(&url)?;
            }
            return Ok(());
        }
        let (set, columns) = self.columns()?;
        set.decide_each(columns, url.as_ref(), verdicts)
    }

    /// Decides many URLs, on this thread: `verdicts[i * agents.len() + j]` is for `urls[i]` and the `j`-th crawler.
    ///
    /// # Errors
    /// The errors of [`Agents::decide`]. After an error the verdicts must not be used.
    pub fn decide_all<U: AsRef<[u8]>>(&self, urls: &[U], verdicts: &mut [Verdict]) -> Result<(), Error> {
        check_len(urls.len(), self.agents.len(), verdicts)?;
        let (set, columns) = self.columns()?;
        set.decide_all(columns, urls, verdicts)
    }

    /// Decides many URLs on this thread, and stores when each URL's robots.txt was fetched.
    ///
    /// `fetched_at[i]` is the [`Provenance::fetched_at`] for `urls[i]`, which all crawlers share. With times, decides
    /// each URL by the rules that applied at its own time, like [`Agents::decide_all_at`]. Without times, decides like
    /// [`Agents::decide_all`].
    ///
    /// ```
    /// use reptile::{Capture, Compiler, Dialect, Verdict};
    ///
    /// let mut compiler = Compiler::new(Dialect::google());
    /// let mut capture = Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /a")?;
    /// capture.time = Some(1_000);
    /// compiler.add(capture)?;
    /// let agents = compiler.finish()?.into_set()?.agents(["AnyBot"])?;
    /// let (mut verdicts, mut fetched_at) = ([Verdict::Invalid; 2], [None; 2]);
    /// let urls = ["https://example.com/a", "https://example.org/a"];
    /// agents.decide_all_dated(&urls, None, &mut verdicts, &mut fetched_at)?;
    /// assert_eq!((verdicts, fetched_at), ([Verdict::Disallow, Verdict::Unknown], [Some(1_000), None]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::BufferLength`] if there are not as many `fetched_at` as URLs, and the errors of
    /// [`Agents::decide_all`] or [`Agents::decide_all_at`].
    pub fn decide_all_dated<U: AsRef<[u8]>>(
        &self,
        urls: &[U],
        times: Option<&[i64]>,
        verdicts: &mut [Verdict],
        fetched_at: &mut [Option<i64>],
    ) -> Result<(), Error> {
        times.map_or(Ok(()), |times| check_times(urls.len(), times))?;
        check_len(urls.len(), self.agents.len(), verdicts)?;
        if fetched_at.len() != urls.len() {
            let message =
                format!("{} URLs need a buffer of as many fetch times, found {}", urls.len(), fetched_at.len());
            return Err(Error::new(ErrorKind::BufferLength, message));
        }
        let (set, columns) = self.columns()?;
        set.decide_all_dated(columns, urls, times, verdicts, fetched_at)
    }

    /// Decides many URLs in parts, on this thread. The verdicts are the same as [`Agents::decide_all`]'s for the
    /// joined URLs, at less cost. Origins of hosts in `hosts` are not looked up again, unless `hosts` was created for
    /// another set.
    ///
    /// ```
    /// use reptile::{Capture, Compiler, Dialect, UrlParts, Verdict};
    ///
    /// let mut compiler = Compiler::new(Dialect::google());
    /// compiler.add(Capture::new("https://a.example/robots.txt", "user-agent: *\ndisallow: /*?q=")?)?;
    /// let agents = compiler.finish()?.into_set()?.agents(["AnyBot"])?;
    /// let (scheme, host, path) = (&b"https"[..], &b"a.example"[..], &b"/search"[..]);
    /// let url = |query| UrlParts { scheme, host, port: None, path, query, host_number: Some(0) };
    /// let mut verdicts = [Verdict::Invalid; 2];
    /// agents.decide_split(&[url(None), url(Some(b"q=1"))], &agents.known_hosts(1), &mut verdicts)?;
    /// assert_eq!(verdicts, [Verdict::Allow, Verdict::Disallow]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Agents::decide_all`].
    pub fn decide_split(
        &self,
        urls: &[UrlParts<'_>],
        hosts: &KnownHosts,
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        check_len(urls.len(), self.agents.len(), verdicts)?;
        let (set, columns) = self.columns()?;
        if hosts.set.as_ref().is_some_and(|known| set.is(known)) {
            return set.decide_split(columns, urls, &hosts.hosts, verdicts);
        }
        set.decide_split(columns, urls, &engine::KnownHosts::new(0), verdicts)
    }

    /// Creates a cache of the set's data for hosts with numbers below `count`, for [`Agents::decide_split`]. It takes
    /// 16 bytes for each number, and about 50 more for each host that occurs in a URL.
    #[must_use]
    pub fn known_hosts(&self, count: usize) -> KnownHosts {
        let set = self.columns().ok().map(|(set, _)| set.clone());
        KnownHosts { set, hosts: engine::KnownHosts::new(count) }
    }

    /// Does the work of [`Agents::decide_all`] on all threads of `rayon`'s current pool.
    ///
    /// # Errors
    /// The errors of [`Agents::decide_all`].
    #[cfg(feature = "rayon")]
    pub fn par_decide_all<U: AsRef<[u8]> + Sync>(&self, urls: &[U], verdicts: &mut [Verdict]) -> Result<(), Error> {
        use rayon::iter::{IndexedParallelIterator, ParallelIterator};
        use rayon::slice::{ParallelSlice, ParallelSliceMut};
        check_len(urls.len(), self.agents.len(), verdicts)?;
        let (set, columns) = self.columns()?;
        let rows = verdicts.par_chunks_mut(URLS_PER_TASK * columns.width());
        let tasks = urls.par_chunks(URLS_PER_TASK).zip(rows);
        tasks.try_for_each(|(urls, rows)| set.decide_all(columns, urls, rows))
    }

    /// Decides many URLs, each by the rules that applied at its own time, in seconds since 1970: `verdicts[i *
    /// agents.len() + j]` is for `urls[i]` at `times[i]` and the `j`-th crawler. See [`Agent::decide_at`].
    ///
    /// Time: as for [`Agents::decide_all`], plus a binary search over the origin's spans for each URL.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NoTimes`] if the set is not by time, [`ErrorKind::BufferLength`] if the number of times
    /// is not the number of URLs, and the errors of [`Agents::decide_all`].
    pub fn decide_all_at<U: AsRef<[u8]>>(
        &self,
        urls: &[U],
        times: &[i64],
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        check_times(urls.len(), times)?;
        check_len(urls.len(), self.agents.len(), verdicts)?;
        let (set, columns) = self.columns()?;
        set.decide_all_at(columns, urls, times, verdicts)
    }

    /// Does the work of [`Agents::decide_all_at`] on all threads of `rayon`'s current pool.
    ///
    /// # Errors
    /// The errors of [`Agents::decide_all_at`].
    #[cfg(feature = "rayon")]
    pub fn par_decide_all_at<U: AsRef<[u8]> + Sync>(
        &self,
        urls: &[U],
        times: &[i64],
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        use rayon::iter::{IndexedParallelIterator, ParallelIterator};
        use rayon::slice::{ParallelSlice, ParallelSliceMut};
        check_times(urls.len(), times)?;
        check_len(urls.len(), self.agents.len(), verdicts)?;
        let (set, columns) = self.columns()?;
        let rows = verdicts.par_chunks_mut(URLS_PER_TASK * columns.width());
        let tasks = urls.par_chunks(URLS_PER_TASK).zip(times.par_chunks(URLS_PER_TASK)).zip(rows);
        tasks.try_for_each(|((urls, times), rows)| set.decide_all_at(columns, urls, times, rows))
    }

    /// Returns the number of crawlers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.agents.len()
    }

    /// Returns whether there are no crawlers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// Returns the origins in the set that resolved the crawlers; see [`Set::origins`].
    ///
    /// # Errors
    /// An item is an error if the set is damaged at that position.
    pub fn origins(&self) -> impl Iterator<Item = Result<Origin, Error>> + '_ {
        let (set, error) = match self.columns() {
            Ok((set, _)) => (Some(set), None),
            Err(error) => (None, Some(error)),
        };
        error.into_iter().map(Err).chain(set.into_iter().flat_map(Set::origins))
    }

    /// Returns the set that resolved the crawlers, and the crawlers in one query to it.
    pub(crate) fn columns(&self) -> Result<(&Set, AgentColumns<'_>), Error> {
        let of_agents = |set: &Set| ResolvedAgents::new(set, &self.agents);
        let ResolvedAgents { set, resolved, chains } = self.source.get_or_compile(of_agents)?;
        Ok((set, AgentColumns { resolved, chains }))
    }

    /// Returns each crawler as an [`Agent`], in the order in which the caller named them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Agent> {
        self.agents.iter()
    }
}

/// A cache of a set's data for the hosts in a table, such as a column's dictionary, by their numbers. Each host is
/// looked up when a URL first uses it. If a URL's host differs from the first one with its number, it is looked up as
/// if it had no number. Threads may share the cache.
pub struct KnownHosts {
    /// `None` if every query by the agents returns an error.
    set: Option<Set>,
    hosts: engine::KnownHosts,
}

impl fmt::Debug for KnownHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownHosts").finish_non_exhaustive()
    }
}

impl From<Agent> for Agents {
    /// Returns a list of this one crawler, for queries that take several.
    ///
    /// ```
    /// use reptile::{Agents, Dialect, Robots};
    /// let robots = Robots::parse("user-agent: *\ndisallow: /", Dialect::google())?;
    /// assert_eq!(Agents::from(robots.agent("GPTBot")?).len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn from(agent: Agent) -> Agents {
        let source = match &agent.source {
            Source::Set(ResolvedAgent { set, resolved, .. }) => {
                let (resolved, chains) = (vec![resolved.clone()], vec![agent.chain.clone()]);
                Source::Set(ResolvedAgents { set: set.clone(), resolved, chains })
            }
            #[cfg(feature = "compile")]
            Source::Robots(uncompiled, _) => Source::Robots(uncompiled.clone(), OnceLock::new()),
        };
        Agents { agents: vec![agent], source }
    }
}

impl fmt::Debug for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.agents).finish()
    }
}

pub(crate) fn check_len(urls: usize, agents: usize, verdicts: &[Verdict]) -> Result<(), Error> {
    if urls.checked_mul(agents) == Some(verdicts.len()) {
        return Ok(());
    }
    let found = verdicts.len();
    Err(Error::new(
        ErrorKind::BufferLength,
        format!(
            "{urls} URLs for {agents} crawlers need a buffer of {} verdicts, found {found}",
            urls.saturating_mul(agents)
        ),
    ))
}

pub(crate) fn check_times(urls: usize, times: &[i64]) -> Result<(), Error> {
    if times.len() == urls {
        return Ok(());
    }
    Err(Error::new(ErrorKind::BufferLength, format!("{urls} URLs need as many times, found {}", times.len())))
}

/// The number of URLs in a task, which is large enough to make thread handover negligible.
#[cfg(feature = "rayon")]
const URLS_PER_TASK: usize = 1024;

impl Set {
    fn resolve(&self, crawler: Crawler) -> Result<Agent, CrawlerError> {
        let chain = Arc::new(Chain::of(&crawler, self.crawler_table())?);
        self.agent_of_chain(&crawler, &chain).map_err(|error| CrawlerError::damaged(&crawler, error))
    }

    /// Creates an agent for a crawler with known product tokens.
    pub(crate) fn agent_of_chain(&self, crawler: &Crawler, chain: &Arc<Chain>) -> Result<Agent, Error> {
        let found = self.look_up(chain)?;
        let (crawler, chain, is_named) = (crawler.clone(), Arc::clone(chain), found.resolved.is_named());
        Ok(Agent { crawler, chain, is_named, source: Source::Set(found) })
    }

    /// Looks up a crawler's product tokens.
    fn look_up(&self, chain: &Chain) -> Result<ResolvedAgent, Error> {
        let (resolved, only_ruleset) = self.resolve_chain(chain)?;
        Ok(ResolvedAgent { set: self.clone(), resolved, only_ruleset })
    }

    /// Resolves a crawler in this set.
    ///
    /// ```
    /// # use reptile::{Crawler, Dialect, Robots};
    /// # let set = Robots::parse("user-agent: *\ndisallow: /", Dialect::google())?;
    /// let image = set.agent("googlebot-image")?;
    /// assert_eq!(image.tokens().collect::<Vec<_>>(), [&b"Googlebot-Image"[..], b"Googlebot"]);
    /// assert!(set.agent("GPTBot,CCBot").is_err());
    /// assert!(set.agent(Crawler::verbatim("GPTBot,CCBot")).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the name is not a product token under the set's dialect; its text says what to write
    /// instead. Also returns an error if the set is damaged; [`CrawlerError::source`](std::error::Error::source)
    /// describes the damage.
    pub fn agent(&self, crawler: impl Into<Crawler>) -> Result<Agent, CrawlerError> {
        self.resolve(crawler.into())
    }

    /// Resolves several crawlers in this set, for queries about all of them at once.
    ///
    /// # Errors
    /// Returns the error for the first crawler that cannot be resolved; see [`Set::agent`].
    pub fn agents<C: Into<Crawler>>(&self, crawlers: impl IntoIterator<Item = C>) -> Result<Agents, CrawlerError> {
        let agents = crawlers.into_iter().map(|crawler| self.resolve(crawler.into()));
        let agents: Vec<Agent> = agents.collect::<Result<_, _>>()?;
        let found = ResolvedAgents::new(self, &agents);
        let found = found.map_err(|error| CrawlerError::damaged(&Crawler::anyone(), error))?;
        Ok(Agents { agents, source: Source::Set(found) })
    }
}

#[cfg(feature = "compile")]
impl Robots {
    fn resolve(&self, crawler: Crawler) -> Result<Agent, CrawlerError> {
        let chain = Arc::new(Chain::of(&crawler, self.crawler_table())?);
        self.agent_of_chain(&crawler, &chain).map_err(|error| CrawlerError::damaged(&crawler, error))
    }

    /// Creates an agent for a crawler with known product tokens.
    pub(crate) fn agent_of_chain(&self, crawler: &Crawler, chain: &Arc<Chain>) -> Result<Agent, Error> {
        let Some((uncompiled, is_named)) = self.uncompiled_agent(chain) else {
            return self.set()?.agent_of_chain(crawler, chain);
        };
        let (crawler, chain) = (crawler.clone(), Arc::clone(chain));
        Ok(Agent { crawler, chain, is_named, source: Source::Robots(uncompiled, OnceLock::new()) })
    }

    /// Resolves a crawler; see [`Set::agent`].
    ///
    /// # Errors
    /// The errors of [`Set::agent`].
    pub fn agent(&self, crawler: impl Into<Crawler>) -> Result<Agent, CrawlerError> {
        self.resolve(crawler.into())
    }

    /// Resolves several crawlers, for queries about all of them at once; see [`Set::agents`].
    ///
    /// # Errors
    /// The errors of [`Set::agents`].
    pub fn agents<C: Into<Crawler>>(&self, crawlers: impl IntoIterator<Item = C>) -> Result<Agents, CrawlerError> {
        let agents = crawlers.into_iter().map(|crawler| self.resolve(crawler.into()));
        let agents: Vec<Agent> = agents.collect::<Result<_, _>>()?;
        if let Some(Agent { source: Source::Robots(uncompiled, _), .. }) = agents.first() {
            let source = Source::Robots(uncompiled.clone(), OnceLock::new());
            return Ok(Agents { agents, source });
        }
        let found = self.set().and_then(|set| ResolvedAgents::new(set, &agents));
        let found = found.map_err(|error| CrawlerError::damaged(&Crawler::anyone(), error))?;
        Ok(Agents { agents, source: Source::Set(found) })
    }

    /// Returns the crawler that sends a `User-Agent` header, or `None` if the header names none; see
    /// [`Set::agent_of_header`].
    ///
    /// # Errors
    /// A value from [`Robots::parse`] causes no error.
    pub fn agent_of_header(&self, header: impl AsRef<[u8]>) -> Result<Option<Agent>, Error> {
        self.set()?.agent_of_header(header)
    }
}
