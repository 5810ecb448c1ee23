//! A compiled set: `reptile.Set`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reptile::{Agent, MappedFile, Origin, Set, Verdict};
use reptile_columns::{SetOrRobots, arrow::in_pool};

use crate::agents::{PyAgent, PyAgents};
use crate::arrow::{self, Crawlers, DecideOptions, PyVerdictReader, PyVerdicts};
use crate::ask::{AgentCache, QueryOptions, RowCrawlers, decide, explain};
use crate::convert::{self, ExceptionKind, raised};
use crate::explain::{self, PyExplanation};
use crate::usage;

/// A compiled set of robots.txt files. Created by ``reptile.open`` and ``reptile.compile``; threads may share it.
#[pyclass(frozen, name = "Set", module = "reptile")]
pub struct PySet {
    set: Set,
    cache: AgentCache,
    /// The crawlers that rows name.
    row_crawlers: RowCrawlers,
    /// The file, if any.
    file: Option<PathBuf>,
}

impl PySet {
    pub fn new(set: Set, file: Option<PathBuf>) -> PySet {
        let row_crawlers = RowCrawlers::default();
        PySet { cache: AgentCache::new(SetOrRobots::Set(set.clone())), row_crawlers, set, file }
    }

    /// Returns the recently resolved crawlers.
    pub fn cache(&self) -> &AgentCache {
        &self.cache
    }

    /// Returns the library's set, which is cheap to clone.
    pub fn set(&self) -> Set {
        self.set.clone()
    }
}

#[pymethods]
impl PySet {
    /// Returns the verdict for a crawler's name and a URL (str or bytes).
    ///
    /// The verdict is a ``Verdict``, which equals its word ("allow", "disallow", "unknown", "invalid") and has no truth
    /// value: compare it. The crawler is resolved once. A name that is probably misspelled raises ``CrawlerError``,
    /// unless ``exact`` is set. In a set by time, ``at`` selects the rules of that time: an integer in seconds since
    /// 1970, or a ``datetime`` with a time zone.
    ///
    /// ``scope`` selects the other origins that may decide a URL whose own robots.txt is unknown: ``origin`` (none, RFC
    /// 9309), ``scheme`` (the same host with the other scheme, http or https), ``www`` (also the host with or without
    /// ``www.``) or ``domain`` (also the registered domain, by the Public Suffix List). At most 7 others are tried.
    #[pyo3(signature = (agent, url, *, at=None, exact=false, scope="origin"))]
    #[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
    fn decide(
        &self,
        py: Python<'_>,
        agent: &str,
        url: &Bound<'_, PyAny>,
        at: Option<&Bound<'_, PyAny>>,
        exact: bool,
        scope: &str,
    ) -> PyResult<Py<PyAny>> {
        decide(py, &*self.cache.agent(py, agent, exact)?, url, &QueryOptions { at, scope })
    }

    /// Returns the verdict for a URL with its reasons: the deciding rule, its line, the group and the reason, and the
    /// other origin if one decided. The arguments are as in ``decide``.
    #[pyo3(signature = (agent, url, *, at=None, exact=false, scope="origin"))]
    #[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
    fn explain(
        &self,
        py: Python<'_>,
        agent: &str,
        url: &Bound<'_, PyAny>,
        at: Option<&Bound<'_, PyAny>>,
        exact: bool,
        scope: &str,
    ) -> PyResult<PyExplanation> {
        explain(&*self.cache.agent(py, agent, exact)?, url, &QueryOptions { at, scope })
    }

    /// Returns the verdicts for many URLs as Arrow columns.
    ///
    /// ``urls`` is any object with the Arrow PyCapsule interface (an array or table of pyarrow, polars, pandas or
    /// DuckDB), whose strings are not copied, or an iterable of str (None is null). In a table, the URLs are in
    /// ``url_column``; by default in ``url``, or in the only string column. ``agents`` is one or more names; "@search"
    /// and "@ai-training" are groups.
    ///
    /// ``columns`` are ``url``; for each crawler ``NAME:verdict``, ``NAME:line``, ``NAME:rule``, ``NAME:group``,
    /// ``NAME:reason`` and ``NAME:ruleset`` (numbered as in ``reptile inspect``); and ``capture_time`` (when the
    /// deciding robots.txt was captured), ``capture`` (its digest or status), ``mask`` and ``refused``: the disallowed crawlers, as a bit mask and as a
    /// list (null if the verdict is unknown or invalid). All columns are null where the URL is null. With ``purpose``,
    /// ``mask`` and ``refused`` follow the single verdict for the fetch and the use.
    ///
    /// ``uses`` adds the website's preference for each use, such as "train-ai": columns ``NAME:train-ai`` after each
    /// crawler's other columns, with the words of ``Agent.usage``, whose ``lines`` and ``vocabulary`` select the lines
    /// and the uses. ``purpose`` adds a column ``NAME:purpose`` with a single verdict for the fetch and this use. The
    /// drafts leave open what an unknown preference means, so ``unknown_usage`` ("allow", "disallow" or "unknown") is
    /// then required. With either, ``columns`` may be empty.
    ///
    /// ``times`` decides each URL by the rules of its own time, in a set by time: the name of a column next to the
    /// URLs, an Arrow array, or an iterable. Values are timestamps, dates, or integers in seconds since 1970
    /// (milliseconds if they have 13 digits). A row without a time is ``invalid``. ``scope`` is as in ``decide``.
    ///
    /// Uses all processors and lets other Python threads run, also while it copies an iterable. With
    /// ``parallel=False``, uses only the calling thread.
    #[pyo3(signature = (
        agents, urls, columns=None, *, url_column=None, uses=None, lines="usage,tokens", vocabulary="aipref-08", purpose=None,
        unknown_usage=None, times=None, scope="origin", parallel=true, exact=false
    ))]
    #[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
    fn decide_many(
        &self,
        py: Python<'_>,
        agents: &Bound<'_, PyAny>,
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
        exact: bool,
    ) -> PyResult<PyVerdicts> {
        let agents = Crawlers::Named(self.cache.agents(py, &convert::names(agents)?, exact)?);
        let usage = usage::options(uses, lines, vocabulary, purpose, unknown_usage)?;
        arrow::decide_many(py, agents, urls, &DecideOptions { columns, url_column, usage, times, scope, parallel })
    }

    /// Returns the verdicts for many URLs as Arrow columns, each for its own crawler.
    ///
    /// ``agents`` has a name for each URL: an Arrow array, an iterable of str, or the name of a column next to the
    /// URLs. A name is a product token, or a complete ``User-Agent`` header. With ``headers=True``, every name is a
    /// header, even a single word, as in a log; a browser's header names no crawler. As in ``reptile classify --agent
    /// '{COLUMN}'``, a row without a crawler has the verdict ``unknown`` and the reason ``no crawler``, or ``invalid``
    /// if its URL is. A null name is a row without a crawler.
    ///
    /// Column names have no crawler in front: ``verdict``, ``line``, ``rule``, ``group``, ``reason``, ``ruleset``,
    /// ``train-ai``, ``purpose``, ``capture_time``, ``capture``, and ``agent``, the crawler that was found. ``mask`` and ``refused``
    /// are about several crawlers, so they are errors. The other arguments are as in ``decide_many``.
    ///
    /// Each distinct name is resolved once; the set caches up to 8,192 for each thread. A name that is probably
    /// misspelled raises ``CrawlerError``, unless ``exact`` is set or the names are headers, which clients write.
    #[pyo3(signature = (
        urls, agents, columns=None, *, url_column=None, uses=None, lines="usage,tokens", vocabulary="aipref-08", purpose=None,
        unknown_usage=None, times=None, scope="origin", headers=false, parallel=true, exact=false
    ))]
    #[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
    fn decide_each(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        agents: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
        url_column: Option<&str>,
        uses: Option<&Bound<'_, PyAny>>,
        lines: &str,
        vocabulary: &str,
        purpose: Option<&str>,
        unknown_usage: Option<&str>,
        times: Option<&Bound<'_, PyAny>>,
        scope: &str,
        headers: bool,
        parallel: bool,
        exact: bool,
    ) -> PyResult<PyVerdicts> {
        let crawlers = Crawlers::OfRows(self.row_crawlers.get(py, &self.set, headers, exact)?, agents);
        let usage = usage::options(uses, lines, vocabulary, purpose, unknown_usage)?;
        arrow::decide_many(py, crawlers, urls, &DecideOptions { columns, url_column, usage, times, scope, parallel })
    }

    /// Returns verdicts for many URLs like ``decide_many``, but decides them in batches as they are read, for data that
    /// exceeds memory. The result can be read once.
    #[pyo3(signature = (
        agents, urls, columns=None, *, url_column=None, uses=None, lines="usage,tokens", vocabulary="aipref-08", purpose=None,
        unknown_usage=None, times=None, scope="origin", parallel=true, exact=false
    ))]
    #[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
    fn decide_stream(
        &self,
        py: Python<'_>,
        agents: &Bound<'_, PyAny>,
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
        exact: bool,
    ) -> PyResult<PyVerdictReader> {
        let agents = self.cache.agents(py, &convert::names(agents)?, exact)?;
        let usage = usage::options(uses, lines, vocabulary, purpose, unknown_usage)?;
        arrow::decide_stream(py, agents, urls, &DecideOptions { columns, url_column, usage, times, scope, parallel })
    }

    /// Returns a frame with the columns of ``decide_many`` appended: a new pandas or Polars DataFrame, or a
    /// ``pyarrow.Table``, like ``frame``.
    ///
    /// ``columns`` and ``options`` are as in ``decide_many``. The rows, their order and a pandas index do not change.
    /// In pandas, added columns have Arrow types (``pandas.ArrowDtype``). All added columns are null where the URL is
    /// null. A frame that already has one of them raises ``ValueError``. A lazy Polars frame needs ``reptile.polars``.
    #[pyo3(signature = (agents, frame, columns=None, **options))]
    fn with_verdicts<'py>(
        slf: &Bound<'py, Self>,
        agents: &Bound<'py, PyAny>,
        frame: &Bound<'py, PyAny>,
        columns: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let decide = slf.getattr("decide_many")?;
        let decide = slf.py().import("functools")?.call_method1("partial", (decide, agents))?;
        arrow::with_verdicts(&decide, frame, columns, options)
    }

    /// Resolves a crawler, for many queries about one crawler.
    #[pyo3(signature = (name, *, exact=false))]
    fn agent(slf: &Bound<'_, Self>, name: &str, exact: bool) -> PyResult<PyAgent> {
        let agent = slf.get().cache.agent(slf.py(), name, exact)?;
        Ok(PyAgent::new(Agent::clone(&agent), slf.clone().into_any().unbind()))
    }

    /// Resolves several crawlers, for queries about all of them.
    #[pyo3(signature = (names, *, exact=false))]
    fn agents(slf: &Bound<'_, Self>, names: &Bound<'_, PyAny>, exact: bool) -> PyResult<PyAgents> {
        let agents = slf.get().cache.agents(slf.py(), &convert::names(names)?, exact)?;
        Ok(PyAgents::new(agents, slf.clone().into_any().unbind()))
    }

    /// Returns the crawler that sends a ``User-Agent`` header (str or bytes), or None if the header names none, such as
    /// a browser's. The crawler is a header's product in the set's table, or else the first product that browsers do
    /// not send, if its name looks like a robot's or a robots.txt in the set names it.
    ///
    /// Takes some microseconds for each header.
    fn agent_of_header(slf: &Bound<'_, Self>, header: &Bound<'_, PyAny>) -> PyResult<Option<PyAgent>> {
        let found = slf.get().cache.agent_of_header(header)?;
        Ok(found.map(|agent| PyAgent::new(agent, slf.clone().into_any().unbind())))
    }

    /// Returns each crawler's access to each origin, over all its paths, as Arrow columns with the values of
    /// ``reptile summarize``: ``url``, ``agent``, ``access``, ``group``, ``allow_rules``, ``disallow_rules``,
    /// ``reason``, ``allowed_path`` and ``disallowed_path``. Each origin has a row for each crawler.
    ///
    /// ``access`` is ``allowed``, ``disallowed``, ``partial``, ``unproved`` (the proof would have taken too long),
    /// ``unknown`` (the set has no robots.txt for the origin) or ``invalid`` (not an origin). ``agents`` and ``exact``
    /// are as in ``decide_many``. ``origins`` are URLs or hosts, and a host means its https origin; the default is all
    /// origins of the set, in its order.
    ///
    /// Examines each ruleset once, usually in microseconds. Uses all processors and lets other Python threads run. The
    /// result takes about 100 bytes a row.
    #[pyo3(signature = (agents, origins=None, *, exact=false))]
    fn summarize(
        &self,
        py: Python<'_>,
        agents: &Bound<'_, PyAny>,
        origins: Option<&Bound<'_, PyAny>>,
        exact: bool,
    ) -> PyResult<PyVerdicts> {
        arrow::summarize(py, &self.cache.agents(py, &convert::names(agents)?, exact)?, origins)
    }

    /// Reads every byte of the set and proves that it is exactly what writing its content would produce. With ``deep``,
    /// also proves that the automata are what the rules compile to. Raises ``FormatError`` if the set is damaged.
    #[pyo3(signature = (*, deep=false))]
    fn verify(&self, py: Python<'_>, deep: bool) -> PyResult<()> {
        let verified = py.detach(|| in_pool(|| if deep { self.set.verify_deep() } else { self.set.verify() }));
        verified.map_err(|error| convert::library_error(py, error))
    }

    /// Returns the URLs of the sitemaps in the robots.txt of a URL's origin, or None if no robots.txt is known for it.
    fn sitemaps(&self, url: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
        let site = convert::query(url, |url| self.set.site(url))?;
        let text = |sitemap: &[u8]| String::from_utf8_lossy(sitemap).into_owned();
        Ok(site.map(|site| site.sitemaps().map(text).collect()))
    }

    /// Returns the lines in the robots.txt of a URL's origin that decide no URL, in the form of ``Agent.directives``,
    /// or None if no robots.txt is known for it.
    fn directives<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyDict>>>> {
        let site = convert::query(url, |url| self.set.site(url))?;
        site.map(|site| explain::directives(py, &site.directives)).transpose()
    }

    /// The names of the crawlers that the set knows.
    #[getter]
    fn crawlers(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let known = self.set.crawlers().map_err(|error| convert::library_error(py, error))?;
        Ok(known.into_iter().map(|known| known.crawler.to_string()).collect())
    }

    /// The name of the dialect that the set was compiled for.
    #[getter]
    fn dialect(&self) -> &str {
        self.set.dialect()
    }

    /// The name of the fetch profile that the set was compiled for.
    #[getter]
    fn profile(&self) -> &str {
        self.set.profile()
    }

    /// The time that the set was compiled for, in seconds since 1970, or None.
    #[getter]
    fn time(&self) -> Option<i64> {
        self.set.time()
    }

    /// The set's file, or None if the set is only in memory.
    #[getter]
    pub fn path(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns an iterator over the origins that the set knows, such as ``https://example.com``, in the set's order;
    /// the same as ``iter(set)``. Takes some 100 ns for each origin, and memory for one.
    fn origins(slf: &Bound<'_, Self>) -> PyOrigins {
        PyOrigins::new(slf)
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyOrigins {
        PyOrigins::new(slf)
    }

    /// Returns whether the set knows a robots.txt for a URL's origin. Takes one lookup. A text that is not a URL is not
    /// in any set.
    fn __contains__(&self, py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<bool> {
        let anyone = self.cache.agent(py, "*", true)?;
        let verdict = convert::query(url, |url| anyone.decide(url))?;
        Ok(!matches!(verdict, Verdict::Unknown | Verdict::Invalid))
    }

    /// Returns the number of origins.
    fn __len__(&self) -> usize {
        usize::try_from(self.set.len()).unwrap_or(usize::MAX)
    }

    /// Pickles the set as its file's path. The other process maps the file, so that processes share its memory; see
    /// ``open``. Spark, Ray and multiprocessing use this.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PathBuf, bool))> {
        let Some(path) = &self.file else {
            let text = "cannot pickle a set that is only in memory: compile it to a file (`path`)";
            return Err(raised(py, ExceptionKind::Other, text.to_owned()));
        };
        Ok((py.import("reptile")?.getattr("open")?, (path.clone(), true)))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __repr__(&self) -> String {
        let file = self.file.as_ref().map_or_else(|| "in memory".to_owned(), |path| path.display().to_string());
        format!("<reptile.Set of {} origins, {}, {file}>", self.set.len(), self.set.dialect())
    }
}

/// The library's iterator over a set's origins.
type Origins<'a> = Box<dyn Iterator<Item = Result<Origin, reptile::Error>> + Send + 'a>;

/// An iterator over a set's origins. Created by ``iter(set)`` and ``Set.origins``. Threads may share it.
#[pyclass(frozen, name = "Origins", module = "reptile")]
pub struct PyOrigins {
    // Fields are dropped in this order, and the iterator borrows from the set.
    origins: Mutex<Origins<'static>>,
    _set: Py<PySet>,
}

impl PyOrigins {
    fn new(set: &Bound<'_, PySet>) -> PyOrigins {
        let origins: Origins<'_> = Box::new(set.get().set.origins());
        // SAFETY: the iterator borrows from the Python object `set`, which is frozen, so nothing changes it, and which
        // does not move. `_set` keeps it alive until the iterator has been dropped. No reference leaves this type.
        let origins = unsafe { std::mem::transmute::<Origins<'_>, Origins<'static>>(origins) };
        PyOrigins { origins: Mutex::new(origins), _set: set.clone().unbind() }
    }
}

#[pymethods]
impl PyOrigins {
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let next = self.origins.lock().unwrap_or_else(PoisonError::into_inner).next();
        let next = next.transpose().map_err(|error| convert::library_error(py, error))?;
        Ok(next.map(|origin| origin.to_string()))
    }
}

/// Opens a set file. By default it is read into memory. With ``map`` it is mapped, which is instant for any size and
/// lets processes share the pages. While a mapped file is open, it must not be modified or truncated, or the process
/// may crash. Replacing it by renaming another file over it is safe.
#[pyfunction]
#[pyo3(name = "open", signature = (path, map=false))]
pub fn open_set(py: Python<'_>, path: PathBuf, map: bool) -> PyResult<PySet> {
    // The set may be unpickled in another working folder.
    let path = std::path::absolute(&path)?;
    let opened = py.detach(|| if map { mapped(&path) } else { Set::read(&path) });
    let set = opened.map_err(|error| convert::file_error(py, &path, error))?;
    Ok(PySet::new(set, Some(path)))
}

/// Maps a set file, for callers whose documentation states the requirements.
pub fn mapped(path: &Path) -> Result<Set, reptile::Error> {
    // SAFETY: the documentation of `reptile.open` and `reptile.merge` says that the file must not change, and the
    // caller chose mapping.
    Set::map(unsafe { MappedFile::open(path) }?)
}

/// Returns the names of the dialects that ``compile`` and ``Robots`` accept.
#[pyfunction]
pub fn dialects() -> Vec<&'static str> {
    reptile::dialects::ALL.iter().map(|dialect| dialect.as_str()).collect()
}
