//! Questions about usage preferences.

use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reptile::Agent;
use reptile::usage::Vocabulary;
use reptile_columns::{Error, UsageColumns, UsageOptions};

use crate::convert;
use crate::recent::{FileVersion, Recent, version_of};

/// Options, and the version of the vocabulary's file.
type ColumnsKey = (UsageOptions, Option<FileVersion>);

/// The columns of recent calls.
static COLUMNS: LazyLock<Recent<ColumnsKey, Option<UsageColumns>>> = LazyLock::new(Recent::default);

/// Returns the columns that the options select. A vocabulary's file is parsed once.
pub fn columns(options: &UsageOptions) -> Result<Arc<Option<UsageColumns>>, Error> {
    let key = (options.clone(), version_of(&options.vocabulary, &Vocabulary::NAMES));
    COLUMNS.get(key, |(options, _)| options.columns())
}

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
    let columns = columns(&options).map_err(|error| convert::arrow_error(py, &error))?;
    let Some(uses) = columns.as_ref().as_ref().map(UsageColumns::shown) else { return Ok(answer) };
    let at = at.map(convert::moment).transpose()?;
    let found = convert::query(url, |url| match at {
        None => agent.usage(url, uses),
        Some(time) => agent.usage_at(url, time, uses),
    })?;
    for (name, preference) in uses.names().zip(&found.preferences) {
        answer.set_item(name, preference.name())?;
    }
    Ok(answer)
}
