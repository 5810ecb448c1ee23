//! Crawlers resolved by a set or a robots.txt: `reptile.Agent` and `reptile.Agents`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reptile::urls::split;
use reptile::{Agent, Agents, Verdict};
use reptile_columns::Scope;

use crate::arrow::{self, Crawlers, DecideOptions, PyVerdictReader, PyVerdicts};
use crate::ask::{QueryOptions, decide, explain, scope_of};
use crate::convert::{self, Reduced, unpickles};
use crate::explain::{self as lines, PyExplanation};
use crate::prove;
use crate::rights::{PageQuestion, rights};
use crate::usage;

/// Returns the URL that determines a question's origin. Defaults to a path, which a robots.txt accepts for any origin.
fn origin_of(url: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u8>> {
    url.map_or(Ok(b"/".into()), |url| convert::with_bytes(url, <[u8]>::to_vec))
}

/// A crawler resolved by a set or a robots.txt. Created by ``Set.agent`` and ``Robots.agent``. Threads may share it.
///
/// A pickle contains the set's path or the robots.txt, and the crawler's name, which is not checked again.
#[pyclass(frozen, name = "Agent", module = "reptile")]
pub struct PyAgent {
    agent: Agent,
    /// The set or the robots.txt that resolved it, which a pickle contains.
    resolver: Py<PyAny>,
    is_verbatim: bool,
}

impl PyAgent {
    pub fn new(agent: Agent, resolver: Py<PyAny>) -> PyAgent {
        PyAgent { agent, resolver, is_verbatim: false }
    }

    /// Creates a crawler whose name is used as it is.
    pub fn verbatim(agent: Agent, resolver: Py<PyAny>) -> PyAgent {
        PyAgent { agent, resolver, is_verbatim: true }
    }
}

#[pymethods]
impl PyAgent {
    /// Returns the verdict for a URL (str or bytes). In a set by time, ``at`` selects the rules of that time: an
    /// integer in seconds since 1970, or a ``datetime`` with a time zone. ``scope`` is as in ``Set.decide``.
    ///
    /// Takes a few hundred nanoseconds.
    #[pyo3(signature = (url, *, at=None, scope="origin"))]
    fn decide(
        &self,
        py: Python<'_>,
        url: &Bound<'_, PyAny>,
        at: Option<&Bound<'_, PyAny>>,
        scope: &str,
    ) -> PyResult<Py<PyAny>> {
        decide(py, &self.agent, url, &QueryOptions { at, scope })
    }

    /// Returns the verdict for a URL with its reasons; ``at`` and ``scope`` are as in ``decide``.
    #[pyo3(signature = (url, *, at=None, scope="origin"))]
    fn explain(&self, url: &Bound<'_, PyAny>, at: Option<&Bound<'_, PyAny>>, scope: &str) -> PyResult<PyExplanation> {
        explain(&self.agent, url, &QueryOptions { at, scope })
    }

    /// Returns the crawler's access to a URL's origin, over all its paths: an ``Access`` with the values of
    /// ``reptile summarize``.
    ///
    /// Usually takes some microseconds, and at most some tens of milliseconds. Other Python threads continue to run.
    /// ``Set.summarize`` examines each ruleset once for many origins.
    fn access(&self, py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let url = convert::with_bytes(url, <[u8]>::to_vec)?;
        let found = py.detach(|| self.agent.access(&url));
        convert::access(py, &found.map_err(|error| convert::library_error(py, error))?)
    }

    /// Returns how many seconds the crawler should wait between two fetches from a URL's origin, or None if no line
    /// that counts in the dialect says so.
    fn crawl_delay(&self, url: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        Ok(convert::query(url, |url| self.agent.crawl_delay(url))?.map(|delay| delay.as_secs_f64()))
    }

    /// Returns the lines of the origin's robots.txt that decide no URL and apply to this crawler: a list of
    /// dictionaries with ``kind``, ``key``, ``value``, ``line``, and whether the line ``counts`` in the dialect.
    fn directives<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        lines::directives(py, &convert::query(url, |url| self.agent.directives(url))?)
    }

    /// Returns the website's preference for each of ``uses``, such as ``"train-ai"``: a dictionary with the values
    /// ``"allowed"``, ``"disallowed"``, ``"unknown"`` if the website says nothing, and ``"not-applicable"`` if the page
    /// must not be fetched.
    ///
    /// ``lines`` are the statements that are read, separated by commas: ``usage`` (``Content-Usage``), ``signals``
    /// (``Content-Signal``), ``tokens`` (groups whose product token names a use), ``default-group`` (those, and the
    /// groups for ``*`` where no group names the token) or ``all``. The most restrictive holds. ``vocabulary`` is a name
    /// or a file, as in ``reptile classify``; a use that it lacks is a ``ValueError``. ``at`` is as in ``decide``.
    #[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
    #[pyo3(signature = (url, uses, *, at=None, lines="usage,tokens", vocabulary="aipref-08"))]
    fn usage<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        uses: &Bound<'py, PyAny>,
        at: Option<&Bound<'py, PyAny>>,
        lines: &str,
        vocabulary: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        usage::usage(py, &self.agent, url, uses, at, lines, vocabulary)
    }

    /// Returns the lines that state the preferences for a page, with the keys of ``directives``: the
    /// ``Content-Usage`` lines with the longest matching path, and the ``Content-Signal`` lines for this crawler.
    fn usage_lines<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        lines::directives(py, &convert::query(url, |url| self.agent.usage_lines(url))?)
    }

    /// Returns the rights to use a page: the statements in its response and the preferences in its robots.txt, combined
    /// like ``reptile classify --rights``. The most restrictive statement holds.
    ///
    /// ``headers`` are the response's headers: a mapping, or pairs of a name and a value. Names may repeat.
    /// ``html`` is the response's text, without content coding: str, or bytes in the encoding that it declares; the
    /// first 64 KiB are read. None means that the headers or the text are missing, so that the website may have
    /// forbidden any use there: unless another statement forbids it, a use is then ``unavailable``. ``truncated`` says
    /// that the text lacks its end.
    ///
    /// ``profile`` names the channels that count: ``all``, ``aipref``, ``robots`` (only the robots.txt), or a file.
    /// ``uses`` are by default all uses of the profile. ``purpose`` and ``unknown_usage`` add a single verdict for the
    /// fetch and this use, as in ``Set.decide_many``. In a set by time, ``at`` is the time of the fetch.
    #[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
    #[pyo3(signature = (
        url, headers, html, *, uses=None, profile="all", purpose=None, unknown_usage=None, at=None, truncated=false
    ))]
    fn rights(
        &self,
        py: Python<'_>,
        url: &Bound<'_, PyAny>,
        headers: Option<&Bound<'_, PyAny>>,
        html: Option<&Bound<'_, PyAny>>,
        uses: Option<&Bound<'_, PyAny>>,
        profile: &str,
        purpose: Option<&str>,
        unknown_usage: Option<&str>,
        at: Option<&Bound<'_, PyAny>>,
        truncated: bool,
    ) -> PyResult<Option<Py<PyAny>>> {
        let question = PageQuestion { headers, html, truncated, uses, profile, purpose, unknown_usage, at };
        Ok(rights(py, &[&self.agent], url, &question)?.pop())
    }

    /// Compares the paths of any length that a URL's origin allows this crawler and another one. The other crawler may
    /// be resolved by another set or robots.txt, and the dialects may differ.
    ///
    /// Each answer is a proof or a shortest path. A comparison takes at most some tens of milliseconds. Other Python
    /// threads continue to run.
    #[pyo3(signature = (other, url=None))]
    fn compare(&self, py: Python<'_>, other: &PyAgent, url: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let url = origin_of(url)?;
        let found = py.detach(|| self.agent.compare(&other.agent, &url));
        let found = found.map_err(|error| convert::library_error(py, error))?;
        let origin = split(&url).map_or_else(|_| String::new(), |parts| parts.origin.to_string());
        prove::comparison(py, [&self.agent, &other.agent], &origin, &found)
    }

    /// Searches for a path on a URL's origin that this crawler may fetch and the other crawler may not. If there is no
    /// such path, this crawler is permitted no more than the other one. Takes at most as long as ``compare``.
    #[pyo3(signature = (other, url=None))]
    fn permits_no_more_than(
        &self,
        py: Python<'_>,
        other: &PyAgent,
        url: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let url = origin_of(url)?;
        let found = py.detach(|| self.agent.permits_no_more_than(&other.agent, &url));
        convert::witness(py, &found.map_err(|error| convert::library_error(py, error))?)
    }

    /// The name as given.
    #[getter]
    fn name(&self) -> String {
        self.agent.crawler().to_string()
    }

    /// The product tokens that the crawler obeys, the most specific first.
    #[getter]
    fn tokens(&self) -> Vec<String> {
        self.agent.tokens().map(|token| String::from_utf8_lossy(token).into_owned()).collect()
    }

    /// Whether any robots.txt in the set names the crawler.
    #[getter]
    fn is_named(&self) -> bool {
        self.agent.is_named()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (Py<PyAny>, String, bool)> {
        Ok((unpickles(py, "_agent")?, (self.resolver.clone_ref(py), self.name(), self.is_verbatim)))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __repr__(&self) -> String {
        format!("<reptile.Agent {}>", self.agent.crawler())
    }
}

/// Several crawlers resolved by a set or a robots.txt. Created by ``Set.agents`` and ``Robots.agents``. Threads may
/// share it.
///
/// A pickle contains the set's path or the robots.txt, and the crawlers' names, which are not checked again.
#[pyclass(frozen, name = "Agents", module = "reptile")]
pub struct PyAgents {
    agents: Agents,
    /// The set or the robots.txt that resolved them, which a pickle contains.
    resolver: Py<PyAny>,
}

impl PyAgents {
    pub fn new(agents: Agents, resolver: Py<PyAny>) -> PyAgents {
        PyAgents { agents, resolver }
    }
}

#[pymethods]
impl PyAgents {
    /// Returns the verdict of each crawler for a URL; ``at`` and ``scope`` are as in ``Agent.decide``.
    #[pyo3(signature = (url, *, at=None, scope="origin"))]
    fn decide(
        &self,
        py: Python<'_>,
        url: &Bound<'_, PyAny>,
        at: Option<&Bound<'_, PyAny>>,
        scope: &str,
    ) -> PyResult<Vec<Py<PyAny>>> {
        if at.is_some() || scope_of(scope)? != Scope::Origin {
            return self.agents.iter().map(|agent| decide(py, agent, url, &QueryOptions { at, scope })).collect();
        }
        let mut verdicts = vec![Verdict::Invalid; self.agents.len()];
        convert::query(url, |url| self.agents.decide(url, &mut verdicts))?;
        verdicts.into_iter().map(|verdict| convert::verdict(py, verdict)).collect()
    }

    /// Returns the verdicts for many URLs as Arrow columns; see ``Set.decide_many``.
    #[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
    #[pyo3(signature = (
        urls, columns=None, *, url_column=None, uses=None, lines="usage,tokens", vocabulary="aipref-08", purpose=None,
        unknown_usage=None, times=None, scope="origin", parallel=true
    ))]
    fn decide_many(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
        url_column: Option<&str>,
        uses: Option<&Bound<'_, PyAny>>,
        lines: &str,
        vocabulary: &str,
        purpose: Option<&str>,
        unknown_usage: Option<&str>,
        times: Option<&Bound<'_, PyAny>>,
        scope: &str,
        parallel: bool,
    ) -> PyResult<PyVerdicts> {
        let usage = usage::options(uses, lines, vocabulary, purpose, unknown_usage)?;
        let options = DecideOptions { columns, url_column, usage, times, scope, parallel };
        arrow::decide_many(py, Crawlers::Named(self.agents.clone()), urls, &options)
    }

    /// Returns verdicts that are decided as the URLs are read; see ``Set.decide_stream``.
    #[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
    #[pyo3(signature = (
        urls, columns=None, *, url_column=None, uses=None, lines="usage,tokens", vocabulary="aipref-08", purpose=None,
        unknown_usage=None, times=None, scope="origin", parallel=true
    ))]
    fn decide_stream(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
        url_column: Option<&str>,
        uses: Option<&Bound<'_, PyAny>>,
        lines: &str,
        vocabulary: &str,
        purpose: Option<&str>,
        unknown_usage: Option<&str>,
        times: Option<&Bound<'_, PyAny>>,
        scope: &str,
        parallel: bool,
    ) -> PyResult<PyVerdictReader> {
        let usage = usage::options(uses, lines, vocabulary, purpose, unknown_usage)?;
        let options = DecideOptions { columns, url_column, usage, times, scope, parallel };
        arrow::decide_stream(py, self.agents.clone(), urls, &options)
    }

    /// Returns a frame with the columns of ``decide_many`` appended; see ``Set.with_verdicts``.
    #[pyo3(signature = (frame, columns=None, **options))]
    fn with_verdicts<'py>(
        slf: &Bound<'py, Self>,
        frame: &Bound<'py, PyAny>,
        columns: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        arrow::with_verdicts(&slf.getattr("decide_many")?, frame, columns, options)
    }

    /// Returns each crawler's rights to use a page; see ``Agent.rights``.
    #[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
    #[pyo3(signature = (
        url, headers, html, *, uses=None, profile="all", purpose=None, unknown_usage=None, at=None, truncated=false
    ))]
    fn rights(
        &self,
        py: Python<'_>,
        url: &Bound<'_, PyAny>,
        headers: Option<&Bound<'_, PyAny>>,
        html: Option<&Bound<'_, PyAny>>,
        uses: Option<&Bound<'_, PyAny>>,
        profile: &str,
        purpose: Option<&str>,
        unknown_usage: Option<&str>,
        at: Option<&Bound<'_, PyAny>>,
        truncated: bool,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let agents: Vec<&Agent> = self.agents.iter().collect();
        let question = PageQuestion { headers, html, truncated, uses, profile, purpose, unknown_usage, at };
        rights(py, &agents, url, &question)
    }

    /// Returns each crawler's access to each origin, as Arrow columns; see ``Set.summarize``.
    #[pyo3(signature = (origins=None))]
    fn summarize(&self, py: Python<'_>, origins: Option<&Bound<'_, PyAny>>) -> PyResult<PyVerdicts> {
        arrow::summarize(py, &self.agents, origins)
    }

    /// The names as given.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.crawler().to_string()).collect()
    }

    fn __len__(&self) -> usize {
        self.agents.len()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (Py<PyAny>, Vec<String>)> {
        Ok((unpickles(py, "_agents")?, (self.resolver.clone_ref(py), self.names())))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __repr__(&self) -> String {
        format!("<reptile.Agents {}>", self.names().join(", "))
    }
}
