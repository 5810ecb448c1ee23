//! The rights to use a page, from its response and the robots.txt: `Agent.rights`.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use reptile::Agent;
use reptile::rights::{Channel, Profile, Rights, RightsQuery, Statements};
use reptile::usage::{Preference, UnknownUsage};
use reptile_columns::{UsageOptions, text_of};
use reptile_pages::{CrawlerNames, PageText};

use crate::convert;
use crate::recent::{FileVersion, Recent, version_of};

/// A page, and the question about it.
pub struct PageQuestion<'a, 'py> {
    /// The response's headers: a mapping, or pairs of a name and a value.
    pub headers: Option<&'a Bound<'py, PyAny>>,
    /// The response's text.
    pub html: Option<&'a Bound<'py, PyAny>>,
    /// Whether the text lacks its end.
    pub truncated: bool,
    /// The uses, by default all of the profile.
    pub uses: Option<&'a Bound<'py, PyAny>>,
    /// A profile's name or file.
    pub profile: &'a str,
    /// The use whose verdict is requested, and the meaning of an unknown permission.
    pub purpose: Option<&'a str>,
    pub unknown_usage: Option<&'a str>,
    /// The time of the fetch, in a set by time.
    pub at: Option<&'a Bound<'py, PyAny>>,
}

/// Returns the rights of each crawler to use a page: a list of `reptile.Rights`.
pub fn rights(
    py: Python<'_>,
    agents: &[&Agent],
    url: &Bound<'_, PyAny>,
    question: &PageQuestion<'_, '_>,
) -> PyResult<Vec<Py<PyAny>>> {
    let options = UsageOptions {
        purpose: question.purpose.map(str::to_owned),
        unknown_usage: question.unknown_usage.map(str::to_owned),
        ..UsageOptions::default()
    };
    let unknown_usage = options.unknown_usage().map_err(|error| convert::arrow_error(py, &error))?;
    let names = question.uses.map(convert::names).transpose()?;
    let query = query(question.profile, names, question.purpose)?;
    let at = question.at.map(convert::moment).transpose()?;
    let page = statements(py, agents, question)?;
    let class = py.import("reptile")?.getattr("Rights")?;
    let stated = stated_by_page(py, &page)?;
    let decide = |agent: &&Agent| {
        let rights = convert::query(url, |url| agent.rights(url, at, &page, &query))?;
        Ok(rights_of(&class, &rights, &query, unknown_usage, &stated)?.unbind())
    };
    agents.iter().map(decide).collect()
}

/// The questions of recent calls. Programs ask the same one about each page, and parsing a profile takes longer than an
/// answer.
static QUERIES: LazyLock<Recent<QueryKey, RightsQuery>> = LazyLock::new(Recent::default);

/// A profile and its file's version, the uses, and the purpose.
type QueryKey = (String, Option<FileVersion>, Option<Vec<String>>, Option<String>);

/// Returns the question about some uses, or all uses of the profile. The purpose is the last one.
fn query(profile: &str, uses: Option<Vec<String>>, purpose: Option<&str>) -> PyResult<Arc<RightsQuery>> {
    let key = (profile.to_owned(), version_of(profile, &Profile::NAMES), uses, purpose.map(str::to_owned));
    QUERIES.get(key, |(_, _, uses, _)| {
        let opened =
            Profile::open(profile).map_err(|error| PyValueError::new_err(format!("profile: {}", text_of(&error))))?;
        let mut names: Vec<&str> = match uses {
            Some(uses) => uses.iter().map(String::as_str).collect(),
            None => opened.categories().collect(),
        };
        names.extend(purpose);
        opened.query(names).map_err(|error| PyValueError::new_err(format!("uses: {error}")))
    })
}

/// Reads a page's statements for some crawlers. Other threads run while the text is parsed.
fn statements(py: Python<'_>, agents: &[&Agent], question: &PageQuestion<'_, '_>) -> PyResult<Statements> {
    let headers = question.headers.map(headers_of).transpose()?;
    let (text, is_truncated) = (question.html.map(text_of_page).transpose()?, question.truncated);
    Ok(py.detach(|| {
        let tokens = agents.iter().flat_map(|agent| agent.tokens().map(<[u8]>::to_vec));
        let names = CrawlerNames::new(tokens.collect::<Vec<_>>());
        let headers: Option<Vec<(&[u8], &[u8])>> =
            headers.as_ref().map(|headers| headers.iter().map(|(name, value)| (&**name, &**value)).collect());
        let text = text.as_ref().map(|text| match text {
            PythonText::Bytes(bytes) => PageText::Bytes(bytes),
            PythonText::Str(text) => PageText::Str(text),
        });
        let mut page = names.statements(headers.as_deref(), text);
        page.set_missing(false, is_truncated);
        page
    }))
}

/// A text in an immutable Python object.
enum PythonText<'a> {
    Bytes(&'a [u8]),
    Str(Cow<'a, str>),
}

/// Returns a page's text.
fn text_of_page<'a>(html: &'a Bound<'_, PyAny>) -> PyResult<PythonText<'a>> {
    if let Ok(bytes) = html.cast::<PyBytes>() {
        return Ok(PythonText::Bytes(bytes.as_bytes()));
    }
    match html.cast::<PyString>() {
        // Lone surrogates, which are replaced, cannot be part of a statement.
        Ok(text) => Ok(PythonText::Str(text.to_string_lossy())),
        Err(_) => {
            let found = html.get_type().name()?;
            Err(PyTypeError::new_err(format!("html: expected str, bytes or None, found {found}")))
        }
    }
}

/// Returns headers as pairs of bytes, in their order.
fn headers_of(headers: &Bound<'_, PyAny>) -> PyResult<Vec<(Vec<u8>, Vec<u8>)>> {
    let pairs = if headers.hasattr("items")? { headers.call_method0("items")? } else { headers.clone() };
    let text = |value: Bound<'_, PyAny>| convert::with_bytes(&value, <[u8]>::to_vec);
    let pair = |pair: PyResult<Bound<'_, PyAny>>| {
        // In JSON, pairs are lists.
        let pair: Vec<_> = pair?.try_iter()?.collect::<PyResult<_>>()?;
        let Ok([name, value]) = <[_; 2]>::try_from(pair) else { return Err(PyTypeError::new_err("not a pair")) };
        Ok((text(name)?, text(value)?))
    };
    let wrong = |error: PyErr| match error.is_instance_of::<PyTypeError>(headers.py()) {
        true => PyTypeError::new_err(format!("headers: expected a mapping, or pairs of a name and a value ({error})")),
        false => error,
    };
    pairs.try_iter().and_then(|pairs| pairs.map(pair).collect::<PyResult<Vec<_>>>()).map_err(wrong)
}

/// Creates a `reptile.Rights`.
fn rights_of<'py>(
    class: &Bound<'py, PyAny>,
    rights: &Rights,
    query: &RightsQuery,
    unknown_usage: Option<UnknownUsage>,
    statements: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let names: Vec<&str> = query.names().collect();
    let permissions = PyDict::new(py);
    // The purpose is the last use, and may also be another one.
    let shown = names.len() - usize::from(unknown_usage.is_some());
    for (name, permission) in names.iter().zip(&rights.permissions).take(shown) {
        permissions.set_item(name, permission.name())?;
    }
    let stated = PyDict::new(py);
    for (channel, preferences) in &rights.stated {
        let of_channel = PyDict::new(py);
        for (name, preference) in names.iter().zip(preferences) {
            if matches!(preference, Preference::Allowed | Preference::Disallowed) {
                of_channel.set_item(name, preference.name())?;
            }
        }
        stated.set_item(channel.name(), of_channel)?;
    }
    let conflicts = PyList::empty(py);
    for name in rights.conflicts.iter().filter_map(|place| names.get(*place)) {
        if !conflicts.contains(name)? {
            conflicts.append(name)?;
        }
    }
    let purpose = match (unknown_usage, rights.permissions.last()) {
        (Some(unknown), Some(permission)) => Some(convert::verdict(py, permission.verdict(rights.verdict, unknown))?),
        _ => None,
    };
    let verdict = convert::verdict(py, rights.verdict)?;
    class.call1((verdict, permissions, purpose, stated, conflicts, statements.copy()?))
}

/// Returns the page's statements by channel: a list of texts, or None if the channel is missing.
fn stated_by_page<'py>(py: Python<'py>, page: &Statements) -> PyResult<Bound<'py, PyDict>> {
    let statements = PyDict::new(py);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for channel in Channel::ALL.into_iter().filter(|channel| channel.is_of_page()) {
        let of_channel = page.of(channel).map(|(name, value)| match name {
            [] => text(value),
            name => format!("{}: {}", text(name), text(value)),
        });
        let of_channel = (!page.lacks(channel)).then(|| of_channel.collect::<Vec<_>>());
        statements.set_item(channel.name(), of_channel)?;
    }
    Ok(statements)
}
