//! Queries about single URLs: the time and the scope ([`QueryOptions`]), and the crawlers that a set or a robots.txt
//! has resolved ([`AgentCache`], [`RowCrawlers`]).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use reptile::{Agent, Agents, Crawler, Headers, Set};
use reptile_columns::{ByRow, Scope, SetOrRobots, first_mistake};

use crate::convert::{self, ExceptionKind, raised};
use crate::explain::PyExplanation;

/// The time and the scope by which a URL is decided.
pub struct QueryOptions<'a, 'py> {
    /// The time, in a set by time.
    pub at: Option<&'a Bound<'py, PyAny>>,
    /// The name of a scope.
    pub scope: &'a str,
}

/// Returns a crawler's verdict for a URL.
pub fn decide(
    py: Python<'_>,
    agent: &Agent,
    url: &Bound<'_, PyAny>,
    ask: &QueryOptions<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let (at, scope) = (ask.at.map(convert::moment).transpose()?, scope_of(ask.scope)?);
    let decided = convert::query(url, |url| match (scope, at) {
        (Scope::Origin, None) => agent.decide(url),
        _ => scope.decide(agent, url, at),
    })?;
    convert::verdict(py, decided)
}

/// Returns a crawler's verdict for a URL with its reasons.
pub fn explain(agent: &Agent, url: &Bound<'_, PyAny>, ask: &QueryOptions<'_, '_>) -> PyResult<PyExplanation> {
    let (at, scope) = (ask.at.map(convert::moment).transpose()?, scope_of(ask.scope)?);
    let (explained, origin) = convert::query(url, |url| scope.explain(agent, url, at))?;
    Ok(PyExplanation::new(&explained, origin))
}

/// Returns the scope with a name.
pub fn scope_of(name: &str) -> PyResult<Scope> {
    if name == Scope::Origin.name() {
        return Ok(Scope::Origin);
    }
    Scope::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Scope::ALL.iter().map(|scope| scope.name()).collect();
        PyValueError::new_err(format!("unknown scope {name:?}; the scopes are {}", names.join(", ")))
    })
}

/// Resolves crawlers. Returns an error for a name that is probably misspelled, unless it is `exact`. The error begins
/// with `what`.
pub fn resolve<N: AsRef<str>>(
    py: Python<'_>,
    source: &SetOrRobots,
    names: &[N],
    exact: bool,
    what: &str,
) -> PyResult<Agents> {
    let agents = source.agents(names, true).map_err(|error| convert::arrow_error(py, &error))?;
    if let Some((agent, mistake)) = first_mistake(&agents).filter(|_| !exact) {
        let text = format!("{what} \"{}\", {mistake}; exact=True takes the name as it is", agent.crawler());
        return Err(raised(py, ExceptionKind::Crawler, text));
    }
    Ok(agents)
}

/// Maximum number of resolved crawlers that a set caches, for callers that name one in each call.
const MAX_CACHED_AGENTS: usize = 256;

/// A source of verdicts, with recently resolved crawlers.
pub struct AgentCache {
    source: SetOrRobots,
    agents: Mutex<HashMap<(String, bool), Arc<Agent>>>,
    headers: OnceLock<Headers>,
}

impl AgentCache {
    pub fn new(source: SetOrRobots) -> AgentCache {
        AgentCache { source, agents: Mutex::default(), headers: OnceLock::new() }
    }

    /// Resolves crawlers.
    pub fn agents<N: AsRef<str>>(&self, py: Python<'_>, names: &[N], exact: bool) -> PyResult<Agents> {
        let what = match self.source {
            SetOrRobots::Set(_) => "no robots.txt names the crawler",
            SetOrRobots::Robots(_) => "the robots.txt does not name the crawler",
        };
        resolve(py, &self.source, names, exact, what)
    }

    /// Returns the crawler that sends a `User-Agent` header.
    pub fn agent_of_header(&self, header: &Bound<'_, PyAny>) -> PyResult<Option<Agent>> {
        convert::query(header, |header| match &self.source {
            SetOrRobots::Set(set) => match self.headers.get() {
                Some(headers) => headers.agent(header),
                None => Headers::new(set).and_then(|headers| self.headers.get_or_init(|| headers).agent(header)),
            },
            SetOrRobots::Robots(robots) => robots.agent_of_header(header),
        })
    }

    /// Resolves a crawler whose name is used as it is.
    pub fn verbatim(&self, py: Python<'_>, name: &str) -> PyResult<Agent> {
        let agents = self.source.resolve([Crawler::verbatim(name)]);
        let agents = agents.map_err(|error| convert::crawler_error(py, &error))?;
        let agent = agents.iter().next().cloned();
        agent.ok_or_else(|| raised(py, ExceptionKind::Crawler, format!("{name:?} was not resolved")))
    }

    /// Returns a crawler, which is resolved once.
    pub fn agent(&self, py: Python<'_>, name: &str, exact: bool) -> PyResult<Arc<Agent>> {
        let key = (name.to_owned(), exact);
        let lock = || self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = lock().get(&key) {
            return Ok(agent.clone());
        }
        let agents = self.agents(py, &[name], exact)?;
        let mut found = agents.iter();
        let (Some(agent), None) = (found.next(), found.next()) else {
            return Err(raised(py, ExceptionKind::Crawler, format!("{name:?} is a group of crawlers; use `agents`")));
        };
        let agent = Arc::new(agent.clone());
        let mut cached = lock();
        if cached.len() >= MAX_CACHED_AGENTS {
            cached.clear();
        }
        cached.insert(key, agent.clone());
        Ok(agent)
    }
}

/// The crawlers that rows name, which are resolved and cached in three ways.
#[derive(Default)]
pub struct RowCrawlers {
    /// Names that may be misspelled.
    checked: OnceLock<Arc<ByRow>>,
    exact: OnceLock<Arc<ByRow>>,
    /// `User-Agent` headers.
    headers: OnceLock<Arc<ByRow>>,
}

impl RowCrawlers {
    /// Returns a set's crawlers that rows name; see [`ByRow::of_column`].
    pub fn get(&self, py: Python<'_>, set: &Set, headers: bool, exact: bool) -> PyResult<Arc<ByRow>> {
        let cached = match (headers, exact) {
            (true, _) => &self.headers,
            (false, true) => &self.exact,
            (false, false) => &self.checked,
        };
        if let Some(by_row) = cached.get() {
            return Ok(by_row.clone());
        }
        let by_row = ByRow::of_column(set, headers, exact).map_err(|error| convert::library_error(py, error))?;
        Ok(cached.get_or_init(|| Arc::new(by_row)).clone())
    }
}
