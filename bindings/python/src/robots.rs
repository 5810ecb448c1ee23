//! A single robots.txt: `reptile.Robots`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use reptile::{Agent, Dialect, Robots};
use reptile_columns::SetOrRobots;

use crate::agents::{PyAgent, PyAgents};
use crate::ask::{AgentCache, QueryOptions, decide, explain};
use crate::convert;
use crate::explain::{self, PyExplanation};
use crate::lint::{self, FindingOptions};
use crate::prove;

/// A robots.txt applies to every origin, at every time.
const ASK: QueryOptions<'_, '_> = QueryOptions { at: None, scope: "origin" };

/// A single robots.txt. It applies to every URL or path, regardless of the origin. Pickles as its body, which it keeps.
///
/// A text that begins with ``/`` is a path, and any other text must be a URL, or the verdict is ``invalid``. A body that
/// is itself a URL, a path or a file's name raises ``ValueError``.
#[pyclass(frozen, name = "Robots", module = "reptile")]
pub struct PyRobots {
    robots: Robots,
    dialect: &'static Dialect,
    body: Vec<u8>,
    cache: AgentCache,
}

impl PyRobots {
    /// Returns the recently resolved crawlers.
    pub fn cache(&self) -> &AgentCache {
        &self.cache
    }
}

#[pymethods]
impl PyRobots {
    #[new]
    #[pyo3(signature = (body, dialect="google"))]
    fn new(py: Python<'_>, body: &Bound<'_, PyAny>, dialect: &str) -> PyResult<PyRobots> {
        let dialect = dialect_of(dialect)?;
        let body = convert::with_bytes(body, <[u8]>::to_vec)?;
        let robots = py.detach(|| Robots::parse(&body, dialect));
        let robots = robots.map_err(|error| convert::library_error(py, error))?;
        let cache = AgentCache::new(SetOrRobots::Robots(robots.clone()));
        Ok(PyRobots { robots, dialect, body, cache })
    }

    /// Parses a robots.txt; the same as ``Robots(body, dialect)``.
    #[classmethod]
    #[pyo3(signature = (body, dialect="google"))]
    fn parse(_class: &Bound<'_, PyType>, py: Python<'_>, body: &Bound<'_, PyAny>, dialect: &str) -> PyResult<PyRobots> {
        PyRobots::new(py, body, dialect)
    }

    /// Returns the verdict for a URL or a path.
    #[pyo3(signature = (agent, url, *, exact=false))]
    fn decide(&self, py: Python<'_>, agent: &str, url: &Bound<'_, PyAny>, exact: bool) -> PyResult<Py<PyAny>> {
        decide(py, &*self.cache.agent(py, agent, exact)?, url, &ASK)
    }

    /// Returns the verdict for a URL or a path with its reasons.
    #[pyo3(signature = (agent, url, *, exact=false))]
    fn explain(&self, py: Python<'_>, agent: &str, url: &Bound<'_, PyAny>, exact: bool) -> PyResult<PyExplanation> {
        explain(&*self.cache.agent(py, agent, exact)?, url, &ASK)
    }

    /// Resolves a crawler. With ``verbatim`` the name is used as it is, without lookup, truncation or checks.
    #[pyo3(signature = (name, *, exact=false, verbatim=false))]
    fn agent(slf: &Bound<'_, Self>, name: &str, exact: bool, verbatim: bool) -> PyResult<PyAgent> {
        let py = slf.py();
        let cache = &slf.get().cache;
        let resolver = slf.clone().into_any().unbind();
        if verbatim {
            return Ok(PyAgent::verbatim(cache.verbatim(py, name)?, resolver));
        }
        Ok(PyAgent::new(Agent::clone(&*cache.agent(py, name, exact)?), resolver))
    }

    /// Resolves several crawlers.
    #[pyo3(signature = (names, *, exact=false))]
    fn agents(slf: &Bound<'_, Self>, names: &Bound<'_, PyAny>, exact: bool) -> PyResult<PyAgents> {
        let agents = slf.get().cache.agents(slf.py(), &convert::names(names)?, exact)?;
        Ok(PyAgents::new(agents, slf.clone().into_any().unbind()))
    }

    /// Returns the crawler that sends a ``User-Agent`` header, or None; see ``Set.agent_of_header``.
    fn agent_of_header(slf: &Bound<'_, Self>, header: &Bound<'_, PyAny>) -> PyResult<Option<PyAgent>> {
        let found = slf.get().cache.agent_of_header(header)?;
        Ok(found.map(|agent| PyAgent::new(agent, slf.clone().into_any().unbind())))
    }

    /// Compares what this robots.txt and another one allow a crawler, over all paths of any length; see
    /// ``Agent.compare``. Their dialects may differ. The name may occur in only one of them.
    #[pyo3(signature = (other, crawler, *, exact=false))]
    fn compare(&self, py: Python<'_>, other: &PyRobots, crawler: &str, exact: bool) -> PyResult<Py<PyAny>> {
        let resolve = |cache: &AgentCache, exact| cache.agent(py, crawler, exact);
        let (first, second) = match (resolve(&self.cache, exact), resolve(&other.cache, exact)) {
            (Ok(first), Ok(second)) => (first, second),
            (Ok(first), Err(_)) => (first, resolve(&other.cache, true)?),
            (Err(_), Ok(second)) => (resolve(&self.cache, true)?, second),
            (Err(error), Err(_)) => return Err(error),
        };
        let found = py.detach(|| first.compare(&second, "/"));
        let found = found.map_err(|error| convert::library_error(py, error))?;
        prove::comparison(py, [&first, &second], "", &found)
    }

    /// Finds mistakes, in line order: a list of ``Finding``, each with its line and, if there is a remedy, its fix.
    ///
    /// ``host`` is the file's host, which determines which URLs in rules belong to other sites. ``enable`` names
    /// additional kinds of finding that are off by default. ``severity`` is the minimum: ``note``, ``warning`` or
    /// ``error``. The list's ``withheld`` counts the findings of kinds that are off. Other Python threads continue to run.
    #[pyo3(signature = (*, host=None, enable=None, severity="note"))]
    fn lint(
        &self,
        py: Python<'_>,
        host: Option<&str>,
        enable: Option<&Bound<'_, PyAny>>,
        severity: &str,
    ) -> PyResult<Py<PyAny>> {
        lint::lint(py, &self.body, self.dialect, &FindingOptions { host, severity, codes: enable })
    }

    /// Returns the file's bytes with all fixes that are proved to change no verdict, for any crawler and any path in all
    /// current dialects. This object does not change.
    ///
    /// With ``codes`` or ``lines``, makes only the chosen findings' fixes, once. ``host`` and ``severity`` are as in
    /// ``lint``.
    #[pyo3(signature = (*, host=None, severity="note", codes=None, lines=None))]
    fn fix<'py>(
        &self,
        py: Python<'py>,
        host: Option<&str>,
        severity: &str,
        codes: Option<&Bound<'_, PyAny>>,
        lines: Option<Vec<u32>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        lint::fix(py, &self.body, self.dialect, &FindingOptions { host, severity, codes }, lines)
    }

    /// Proves assertions about every URL at once, one per line, such as ``disallow GPTBot /private/*``,
    /// ``allow * /$ /docs/*``, ``same Googlebot Bingbot`` or ``GPTBot <= *``: a list of ``Outcome``.
    ///
    /// ``allow_default`` accepts crawlers that no group names: they obey the group for ``*`` or nothing. Mistakes in
    /// the assertions raise ``AssertionsError``. Other Python threads continue to run.
    #[pyo3(signature = (assertions, *, allow_default=false))]
    fn prove(&self, py: Python<'_>, assertions: &str, allow_default: bool) -> PyResult<Vec<Py<PyAny>>> {
        prove::prove(py, &self.robots, assertions, allow_default)
    }

    /// The URLs of the sitemaps that count in the dialect.
    #[getter]
    fn sitemaps(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let site = self.robots.site().map_err(|error| convert::library_error(py, error))?;
        Ok(site.sitemaps().map(|sitemap| String::from_utf8_lossy(sitemap).into_owned()).collect())
    }

    /// All lines that decide no URL, in the form of ``Agent.directives``.
    #[getter]
    fn directives<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let site = self.robots.site().map_err(|error| convert::library_error(py, error))?;
        explain::directives(py, &site.directives)
    }

    /// The parser's diagnostics: pairs of a line number, starting at 1, and a description.
    #[getter]
    fn diagnostics(&self) -> Vec<(u32, String)> {
        self.robots.diagnostics().map(|(line, text)| (line, text.to_owned())).collect()
    }

    /// The name of the dialect.
    #[getter]
    fn dialect(&self) -> &'static str {
        &self.dialect.name
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>, &'static str)) {
        let robots = slf.get();
        (slf.get_type(), (PyBytes::new(slf.py(), &robots.body), &robots.dialect.name))
    }

    fn __repr__(&self) -> String {
        format!("<reptile.Robots of {} bytes, {}>", self.body.len(), self.dialect.name)
    }
}

/// Returns the dialect with a name.
pub fn dialect_of(name: &str) -> PyResult<&'static Dialect> {
    Dialect::from_name(name)
        .ok_or_else(|| PyValueError::new_err(format!("unknown dialect {name:?}; reptile.dialects() lists them")))
}
