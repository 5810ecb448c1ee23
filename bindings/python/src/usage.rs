//! Questions about usage preferences.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reptile::Agent;
use reptile_columns::UsageOptions;

use crate::convert;

/// Returns the options for columns about uses from Python's arguments.
pub fn options(
    uses: Option<&Bound<'_, PyAny>>,
    lines: &str,
    vocabulary: &str,
    purpose: Option<&str>,
    unknown_usage: Option<&str>,
) -> PyResult<UsageOptions> {
    Ok(UsageOptions {
        uses: uses.map(convert::names).transpose()?.unwrap_or_default(),
        lines: lines.to_owned(),
        vocabulary: vocabulary.to_owned(),
        purpose: purpose.map(str::to_owned),
        unknown_usage: unknown_usage.map(str::to_owned),
    })
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
    let answer = PyDict::new(py);
    let options = options(Some(uses), lines, vocabulary, None, None)?;
    let Some(uses) = options.uses().map_err(|error| convert::arrow_error(py, &error))? else { return Ok(answer) };
    let at = at.map(convert::moment).transpose()?;
    let found = convert::query(url, |url| match at {
        None => agent.usage(url, &uses),
        Some(time) => agent.usage_at(url, time, &uses),
    })?;
    for (name, preference) in uses.names().zip(&found.preferences) {
        answer.set_item(name, preference.name())?;
    }
    Ok(answer)
}
