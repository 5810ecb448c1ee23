//! Verdicts with reasons (`reptile.Explanation`), and lines that decide no URL.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reptile::{Directive, DirectiveState, Explanation, RuleKind, Verdict};

use crate::convert::{self, Reduced, unpickles};

/// A verdict with its reasons. A value: explanations are equal if all their properties are.
#[pyclass(frozen, name = "Explanation", module = "reptile")]
pub struct PyExplanation {
    source: Source,
    /// The origin that decided instead of the URL's own.
    origin: Option<String>,
}

/// The reasons as the library returned them, with texts made on demand, or as a pickle contains them.
enum Source {
    Library(Explanation),
    Pickle(Values),
}

/// The values of an explanation's properties.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Values {
    verdict: Verdict,
    group: String,
    reason: String,
    allow: Option<String>,
    disallow: Option<String>,
    /// Whether the Allow rule decided, or the Disallow rule.
    decided_by_allow: Option<bool>,
    line: Option<u32>,
    /// The verdict and its reason in a few words.
    text: String,
}

/// An explanation's fields in a pickle.
type Fields =
    (Py<PyAny>, String, String, Option<String>, Option<String>, Option<bool>, Option<u32>, String, Option<String>);

impl PyExplanation {
    pub fn new(explained: Explanation, origin: Option<String>) -> PyExplanation {
        PyExplanation { source: Source::Library(explained), origin }
    }

    fn values(&self) -> Cow<'_, Values> {
        match &self.source {
            Source::Pickle(values) => Cow::Borrowed(values),
            Source::Library(explained) => Cow::Owned(Values {
                verdict: explained.verdict,
                group: explained.group.as_str().to_owned(),
                reason: explained.reason.to_string(),
                allow: explained.allow.as_ref().map(ToString::to_string),
                disallow: explained.disallow.as_ref().map(ToString::to_string),
                decided_by_allow: explained.decided_by.map(|kind| kind == RuleKind::Allow),
                line: self.line(),
                text: explained.to_string(),
            }),
        }
    }
}

#[pymethods]
impl PyExplanation {
    /// The verdict.
    #[getter]
    fn verdict(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        convert::verdict(
            py,
            match &self.source {
                Source::Library(explained) => explained.verdict,
                Source::Pickle(values) => values.verdict,
            },
        )
    }

    /// The deciding rule as a line, such as ``Disallow: /cart``; None if no rule decided.
    #[getter]
    fn rule(&self) -> Option<String> {
        match &self.source {
            Source::Library(explained) => explained.rule().map(ToString::to_string),
            Source::Pickle(values) if values.decided_by_allow? => values.allow.clone(),
            Source::Pickle(values) => values.disallow.clone(),
        }
    }

    /// The deciding rule's line in the robots.txt, starting at 1; None if no rule decided or the set has no line
    /// numbers.
    #[getter]
    fn line(&self) -> Option<u32> {
        match &self.source {
            Source::Library(explained) => explained.rule().map(|rule| rule.line).filter(|&line| line > 0),
            Source::Pickle(values) => values.line,
        }
    }

    /// Why the crawler obeys its group: ``named``, ``default`` or ``none``.
    #[getter]
    fn group(&self) -> &str {
        match &self.source {
            Source::Library(explained) => explained.group.as_str(),
            Source::Pickle(values) => &values.group,
        }
    }

    /// A short reason such as ``rule``, ``no rule matches`` or ``404``.
    #[getter]
    fn reason(&self) -> String {
        match &self.source {
            Source::Library(explained) => explained.reason.to_string(),
            Source::Pickle(values) => values.reason.clone(),
        }
    }

    /// The best matching Allow rule, whether or not it decided.
    #[getter]
    fn allow(&self) -> Option<String> {
        match &self.source {
            Source::Library(explained) => explained.allow.as_ref().map(ToString::to_string),
            Source::Pickle(values) => values.allow.clone(),
        }
    }

    /// The best matching Disallow rule, whether or not it decided.
    #[getter]
    fn disallow(&self) -> Option<String> {
        match &self.source {
            Source::Library(explained) => explained.disallow.as_ref().map(ToString::to_string),
            Source::Pickle(values) => values.disallow.clone(),
        }
    }

    /// The other origin whose robots.txt decided, such as ``https://www.example.com``, if the scope is wider than
    /// ``origin``; None if the URL's own origin decided.
    #[getter]
    fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    fn __eq__(&self, other: &PyExplanation) -> bool {
        self.origin == other.origin && self.values() == other.values()
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.values(), &self.origin).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, Fields> {
        let Values { verdict, group, reason, allow, disallow, decided_by_allow, line, text } =
            self.values().into_owned();
        let verdict = convert::verdict(py, verdict)?;
        let fields = (verdict, group, reason, allow, disallow, decided_by_allow, line, text, self.origin.clone());
        Ok((unpickles(py, "_explanation")?, fields))
    }

    fn __str__(&self) -> String {
        match &self.source {
            Source::Library(explained) => explained.to_string(),
            Source::Pickle(values) => values.text.clone(),
        }
    }

    fn __repr__(&self) -> String {
        let line = self.line().map_or_else(String::new, |line| format!(", line {line}"));
        let rule = self.rule().map_or_else(String::new, |rule| format!(", {rule}{line}"));
        format!("<reptile.Explanation {}{rule}>", self.__str__())
    }
}

/// Restores a pickled explanation.
#[pyfunction]
#[pyo3(
    name = "_explanation",
    signature = (verdict, group, reason, allow, disallow, decided_by_allow, line, text, origin, /)
)]
#[allow(clippy::too_many_arguments, reason = "a pickle has them in a tuple")]
pub fn unpickled_explanation(
    verdict: &Bound<'_, PyAny>,
    group: String,
    reason: String,
    allow: Option<String>,
    disallow: Option<String>,
    decided_by_allow: Option<bool>,
    line: Option<u32>,
    text: String,
    origin: Option<String>,
) -> PyResult<PyExplanation> {
    let verdict = convert::verdict_of(verdict)?;
    let values = Values { verdict, group, reason, allow, disallow, decided_by_allow, line, text };
    Ok(PyExplanation { source: Source::Pickle(values), origin })
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
