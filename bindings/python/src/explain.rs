//! Verdicts with reasons (`reptile.Explanation`), and lines that decide no URL.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reptile::{Directive, DirectiveState, Explanation};

use crate::convert;

/// A verdict with its reasons.
#[pyclass(frozen, name = "Explanation", module = "reptile")]
pub struct PyExplanation(pub Explanation);

#[pymethods]
impl PyExplanation {
    /// The verdict.
    #[getter]
    fn verdict(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        convert::verdict(py, self.0.verdict)
    }

    /// The deciding rule as a line, such as ``Disallow: /cart``; None if no rule decided.
    #[getter]
    fn rule(&self) -> Option<String> {
        self.0.rule().map(ToString::to_string)
    }

    /// The deciding rule's line in the robots.txt, starting at 1; None if no rule decided or the set has no line
    /// numbers.
    #[getter]
    fn line(&self) -> Option<u32> {
        self.0.rule().map(|rule| rule.line).filter(|&line| line > 0)
    }

    /// Why the crawler obeys its group: ``named``, ``default`` or ``none``.
    #[getter]
    fn group(&self) -> &'static str {
        self.0.group.as_str()
    }

    /// A short reason such as ``rule``, ``no rule matches`` or ``404``.
    #[getter]
    fn reason(&self) -> String {
        self.0.reason.to_string()
    }

    /// The best matching Allow rule, whether or not it decided.
    #[getter]
    fn allow(&self) -> Option<String> {
        self.0.allow.as_ref().map(ToString::to_string)
    }

    /// The best matching Disallow rule, whether or not it decided.
    #[getter]
    fn disallow(&self) -> Option<String> {
        self.0.disallow.as_ref().map(ToString::to_string)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        let rule = self.0.rule().map_or_else(String::new, |rule| format!(", {rule}, line {}", rule.line));
        format!("<reptile.Explanation {}{rule}>", self.0)
    }
}

/// Returns the lines that decide no URL, each as a dictionary.
pub fn directives<'py>(py: Python<'py>, directives: &[Directive]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let of_line = |directive: &Directive| {
        let made = PyDict::new(py);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let key = if directive.key.is_empty() { directive.kind.as_str().to_owned() } else { text(&directive.key) };
        made.set_item("kind", directive.kind.as_str())?;
        made.set_item("key", key)?;
        made.set_item("value", text(&directive.value))?;
        made.set_item("line", directive.line)?;
        made.set_item("counts", directive.state == DirectiveState::Counts)?;
        Ok(made)
    };
    directives.iter().map(of_line).collect()
}
