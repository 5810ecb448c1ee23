//! Verdicts with reasons (`reptile.Explanation`), and lines that decide no URL.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reptile::{Directive, DirectiveState, Explanation, Verdict};

use crate::convert::{self, Reduced, unpickles};

/// A verdict with its reasons. A value: explanations are equal if all their properties are.
#[pyclass(frozen, eq, hash, name = "Explanation", module = "reptile")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PyExplanation {
    verdict: Verdict,
    /// The deciding rule as a line, such as ``Disallow: /cart``; None if no rule decided.
    #[pyo3(get)]
    rule: Option<String>,
    /// The deciding rule's line in the robots.txt, starting at 1; None if no rule decided or the set has no line
    /// numbers.
    #[pyo3(get)]
    line: Option<u32>,
    /// Why the crawler obeys its group: ``named``, ``default`` or ``none``.
    #[pyo3(get)]
    group: String,
    /// A short reason such as ``rule``, ``no rule matches`` or ``404``.
    #[pyo3(get)]
    reason: String,
    /// The best matching Allow rule, whether or not it decided.
    #[pyo3(get)]
    allow: Option<String>,
    /// The best matching Disallow rule, whether or not it decided.
    #[pyo3(get)]
    disallow: Option<String>,
    /// The other origin whose robots.txt decided, such as ``https://www.example.com``, if the scope is wider than
    /// ``origin``; None if the URL's own origin decided.
    #[pyo3(get)]
    origin: Option<String>,
    /// The verdict and its reason in a few words.
    text: String,
}

/// An explanation's fields in a pickle.
type PickledExplanation =
    (Py<PyAny>, Option<String>, Option<u32>, String, String, Option<String>, Option<String>, Option<String>, String);

impl PyExplanation {
    pub fn new(explained: &Explanation, origin: Option<String>) -> PyExplanation {
        PyExplanation {
            verdict: explained.verdict,
            rule: explained.rule().map(ToString::to_string),
            line: explained.rule().map(|rule| rule.line).filter(|&line| line > 0),
            group: explained.group.as_str().to_owned(),
            reason: explained.reason.to_string(),
            allow: explained.allow.as_ref().map(ToString::to_string),
            disallow: explained.disallow.as_ref().map(ToString::to_string),
            origin,
            text: explained.to_string(),
        }
    }
}

#[pymethods]
impl PyExplanation {
    /// The verdict.
    #[getter]
    fn verdict(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        convert::verdict(py, self.verdict)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, PickledExplanation> {
        let PyExplanation { verdict, rule, line, group, reason, allow, disallow, origin, text } = self.clone();
        let verdict = convert::verdict(py, verdict)?;
        Ok((unpickles(py, "_explanation")?, (verdict, rule, line, group, reason, allow, disallow, origin, text)))
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        let rule = self.rule.as_ref().map_or_else(String::new, |rule| format!(", {rule}{line}"));
        format!("<reptile.Explanation {}{rule}>", self.text)
    }
}

/// Restores a pickled explanation.
#[pyfunction]
#[pyo3(
    name = "_explanation",
    signature = (verdict, rule, line, group, reason, allow, disallow, origin, text, /)
)]
#[allow(clippy::too_many_arguments, reason = "a pickle has them in a tuple")]
pub fn unpickled_explanation(
    verdict: &Bound<'_, PyAny>,
    rule: Option<String>,
    line: Option<u32>,
    group: String,
    reason: String,
    allow: Option<String>,
    disallow: Option<String>,
    origin: Option<String>,
    text: String,
) -> PyResult<PyExplanation> {
    let verdict = convert::verdict_of(verdict)?;
    Ok(PyExplanation { verdict, rule, line, group, reason, allow, disallow, origin, text })
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
