//! Verdicts directly from the bytes of a robots.txt: `reptile.OneShot`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use reptile::{Dialect, OneShot, Robots};
use reptile_columns::SetOrRobots;

use crate::ask::resolve;
use crate::convert;
use crate::robots::dialect_of;

/// Decides one URL directly from the bytes of a robots.txt, for programs that read many files and ask each of them
/// once. The answers are the same as from ``Robots``.
///
/// ``decide`` takes 3 to 5 microseconds for a typical file, about a tenth of the time in which ``Robots`` compiles it.
/// For more than about ten URLs per file, ``Robots`` is faster. ``crawler`` is a name as in ``Robots.agent``, and
/// ``exact`` accepts a name that is probably misspelled. Threads may share it. A pickle contains the crawler's name,
/// which is not checked again.
#[pyclass(frozen, name = "OneShot", module = "reptile")]
pub struct PyOneShot {
    one_shot: OneShot,
    name: String,
    dialect: &'static Dialect,
}

#[pymethods]
impl PyOneShot {
    #[new]
    #[pyo3(signature = (crawler, dialect="google", *, exact=false))]
    fn new(py: Python<'_>, crawler: &str, dialect: &str, exact: bool) -> PyResult<PyOneShot> {
        let dialect = dialect_of(dialect)?;
        let empty = Robots::parse("", dialect).map_err(|error| convert::library_error(py, error))?;
        // The files are not known yet, so the message does not mention them.
        let agents = resolve(py, &SetOrRobots::Robots(empty), &[crawler], exact, "expected a crawler, found")?;
        let mut found = agents.iter();
        let (Some(agent), None) = (found.next(), found.next()) else {
            return Err(PyValueError::new_err(format!("expected one crawler, found the group {crawler:?}")));
        };
        let one_shot = OneShot::new(agent.crawler().clone(), dialect);
        let one_shot = one_shot.map_err(|error| convert::crawler_error(py, &error))?;
        Ok(PyOneShot { one_shot, name: crawler.to_owned(), dialect })
    }

    /// Returns the verdict for a URL or a path, and the deciding rule's line, starting at 1, or None if no rule
    /// decided. ``body`` and ``url`` are str or bytes. A body may have up to 16 MiB. The verdict is ``invalid`` if the
    /// text is neither a URL nor a path. A body that is itself a URL, a path or a file's name raises ``ValueError``:
    /// the arguments are swapped.
    fn decide(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        url: &Bound<'_, PyAny>,
    ) -> PyResult<(Py<PyAny>, Option<u32>)> {
        let decided =
            convert::with_bytes(body, |body| convert::with_bytes(url, |url| self.one_shot.decide(body, url)))?;
        let (verdict, line) = decided?.map_err(|error| convert::library_error(py, error))?;
        Ok((convert::verdict(py, verdict)?, line))
    }

    /// The crawler's name as given.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The name of the dialect.
    #[getter]
    fn dialect(&self) -> &'static str {
        &self.dialect.name
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((&str, &'static str), Bound<'py, PyDict>)> {
        Ok(((self.name(), self.dialect()), [("exact", true)].into_py_dict(py)?))
    }

    fn __repr__(&self) -> String {
        format!("<reptile.OneShot {}, {}>", self.name, self.dialect.name)
    }
}
