//! Questions about usage preferences.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use reptile::Agent;
use reptile::usage::{Sources, Uses, Vocabulary};

use crate::convert;

/// The lines that can be read, by their names in Python.
const LINES: [(&str, Sources); 3] = [("usage", Sources::Usage), ("signals", Sources::Signals), ("both", Sources::Both)];

/// Returns the uses with these names, from the vocabulary with this name or in this file.
fn uses_of(uses: &[String], lines: &str, vocabulary: &str) -> PyResult<Uses> {
    let Some((_, sources)) = LINES.iter().find(|(name, _)| *name == lines) else {
        let names = LINES.map(|(name, _)| name).join(", ");
        return Err(PyValueError::new_err(format!("unknown lines {lines:?}; expected {names}")));
    };
    let found = Vocabulary::open(vocabulary)
        .map_err(|error| PyValueError::new_err(format!("vocabulary {vocabulary:?}: {error}")))?;
    found.uses(uses, *sources).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the website's preference for each use of a page.
pub fn usage<'py>(
    py: Python<'py>,
    agent: &Agent,
    url: &Bound<'py, PyAny>,
    uses: &Bound<'py, PyAny>,
    at: Option<&Bound<'py, PyAny>>,
    lines: &str,
    vocabulary: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let names = match uses.extract::<String>() {
        Ok(one) => vec![one],
        Err(_) => uses.extract::<Vec<String>>()?,
    };
    let uses = uses_of(&names, lines, vocabulary)?;
    let at = at.map(convert::moment).transpose()?;
    let found = convert::with_bytes(url, |url| match at {
        None => agent.usage(url, &uses),
        Some(time) => agent.usage_at(url, time, &uses),
    })?;
    let found = found.map_err(|error| convert::library_error(py, error))?;
    let answer = PyDict::new(py);
    for (name, preference) in uses.names().zip(&found.preferences) {
        answer.set_item(name, preference.name())?;
    }
    Ok(answer)
}
