//! Mistakes in a robots.txt and their fixes: `Robots.lint` and `Robots.fix`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use reptile::Dialect;
use reptile::lint::{Code, Edit, Finding, FixOptions, LintOptions, Severity, edits_of, fix_with, lint_with};

use crate::convert;

/// Which findings are reported or fixed.
pub struct FindingOptions<'a, 'py> {
    /// The file's host.
    pub host: Option<&'a str>,
    /// The minimum severity.
    pub severity: &'a str,
    /// Kinds of finding.
    pub codes: Option<&'a Bound<'py, PyAny>>,
}

impl FindingOptions<'_, '_> {
    fn host(&self) -> Option<Vec<u8>> {
        self.host.map(|host| host.as_bytes().to_vec())
    }

    fn least(&self) -> PyResult<Severity> {
        self.severity.parse().map_err(|error| PyValueError::new_err(format!("severity: {error}")))
    }

    fn codes(&self, option: &str) -> PyResult<Vec<Code>> {
        let names = self.codes.map(convert::names).transpose()?.unwrap_or_default();
        let parsed = names.iter().map(|name| name.parse::<Code>());
        parsed.collect::<Result<_, _>>().map_err(|error| PyValueError::new_err(format!("{option}: {error}")))
    }
}

/// Finds mistakes: a `reptile.Findings`.
pub fn lint(py: Python<'_>, body: &[u8], dialect: &Dialect, options: &FindingOptions<'_, '_>) -> PyResult<Py<PyAny>> {
    let (host, least) = (options.host(), options.least()?);
    let lint_options = LintOptions { host: host.clone(), enabled: options.codes("enable")?, ..LintOptions::default() };
    let (linted, edits) = py.detach(|| {
        let mut linted = lint_with(body, dialect, &lint_options);
        linted.findings.retain(|finding| finding.severity >= least);
        let edits = edits_of(body, dialect, &linted.findings);
        (linted, edits)
    });
    let types = py.import("reptile")?;
    let findings = linted.findings.iter().zip(edits).map(|(finding, edit)| finding_of(&types, finding, edit));
    let findings: Vec<_> = findings.collect::<PyResult<_>>()?;
    let withheld = PyDict::new(py);
    // Findings that are off by default are notes.
    for (code, count) in linted.withheld.iter().filter(|_| least == Severity::Note) {
        withheld.set_item(code.as_str(), count)?;
    }
    Ok(types.getattr("Findings")?.call1((findings, withheld))?.unbind())
}

fn finding_of<'py>(types: &Bound<'py, PyModule>, found: &Finding, edit: Option<Edit>) -> PyResult<Bound<'py, PyAny>> {
    let fix = found.fix.as_ref().map(|fix| {
        let keeps_verdicts = edit.as_ref().map(|edit| edit.keeps_verdicts);
        let edit = edit.map(|edit| types.getattr("Edit")?.call1((edit.line, edit.line, edit.text))).transpose()?;
        types.getattr("Fix")?.call1((fix.to_string(), edit, keeps_verdicts, keeps_verdicts == Some(true)))
    });
    let (code, severity) = (found.code.as_str(), found.severity.as_str());
    types.getattr("Finding")?.call1((code, severity, found.line, &found.message, fix.transpose()?))
}

/// Returns the file with the fixes that are proved to change no verdict.
pub fn fix<'py>(
    py: Python<'py>,
    body: &[u8],
    dialect: &Dialect,
    options: &FindingOptions<'_, '_>,
    lines: Option<Vec<u32>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (least, host, codes) = (options.least()?, options.host(), options.codes("codes")?);
    if lines.as_ref().is_some_and(Vec::is_empty) || options.codes.is_some() && codes.is_empty() {
        return Err(PyValueError::new_err("an empty list of codes or lines fixes nothing"));
    }
    let options = FixOptions { least, host, codes, lines: lines.unwrap_or_default(), ..FixOptions::default() };
    Ok(PyBytes::new(py, &py.detach(|| fix_with(body, dialect, &options)).body))
}
