//! Proofs about every URL, and examples: `Robots.prove`, and the counterexamples of comparisons.

use pyo3::prelude::*;
use reptile::prove::{Assertions, Mistakes, Options, Outcome, Proof, ProveError};
use reptile::reason::{Comparison, Witness};
use reptile::{Agent, Explanation, Robots};

use crate::convert::{self, ExceptionKind};

/// Proves assertions: a list of `reptile.Outcome`.
pub fn prove(py: Python<'_>, robots: &Robots, assertions: &str, allow_default: bool) -> PyResult<Vec<Py<PyAny>>> {
    let mut options = Options::default();
    options.allow_default = allow_default;
    let assertions = Assertions::parse(assertions).map_err(|mistakes| invalid(py, &mistakes))?;
    let outcomes = py.detach(|| assertions.prove(robots, &options)).map_err(|error| match error {
        ProveError::Mistakes(mistakes) => invalid(py, &mistakes),
        other => convert::raised(py, ExceptionKind::Format, other.to_string()),
    })?;
    let types = py.import("reptile")?;
    outcomes.iter().map(|outcome| Ok(outcome_of(&types, outcome)?.unbind())).collect()
}

fn outcome_of<'py>(types: &Bound<'py, PyModule>, outcome: &Outcome<'_>) -> PyResult<Bound<'py, PyAny>> {
    let py = types.py();
    let (mut counterexample, mut missing) = (None, None);
    match &outcome.proof {
        Proof::Counterexample(found) => {
            let decisions = found.explanations.iter().map(|explained| decision(types, explained));
            let decisions: Vec<_> = decisions.collect::<PyResult<_>>()?;
            counterexample = Some(types.getattr("Counterexample")?.call1((convert::path(py, &found.path), decisions))?);
        }
        Proof::NoGroup(name) => missing = Some(name.clone()),
        _ => {}
    }
    let (text, line) = (outcome.to_string(), outcome.assertion.line);
    let (crawlers, holds) = (outcome.crawlers.clone(), outcome.proof == Proof::Holds);
    types.getattr("Outcome")?.call1((text, line, crawlers, holds, outcome.proof.name(), counterexample, missing))
}

fn decision<'py>(types: &Bound<'py, PyModule>, explained: &Explanation) -> PyResult<Bound<'py, PyAny>> {
    let line = explained.rule().map(|rule| rule.line).filter(|&line| line > 0);
    let verdict = convert::verdict(types.py(), explained.verdict)?;
    types.getattr("Decision")?.call1((verdict, line, explained.reason.to_string()))
}

/// Creates a `reptile.AssertionsError` from the mistakes in a list of assertions.
fn invalid(py: Python<'_>, mistakes: &Mistakes) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let types = py.import("reptile")?;
        let mistake = types.getattr("Mistake")?;
        let listed = mistakes.iter().map(|found| mistake.call1((found.line, found.to_string())));
        let listed: Vec<_> = listed.collect::<PyResult<_>>()?;
        Ok(PyErr::from_value(types.getattr("AssertionsError")?.call1((mistakes.to_string(), listed))?))
    };
    made().unwrap_or_else(|error| error)
}

/// Creates a `reptile.Comparison` of two crawlers' access to an origin, which is empty for a robots.txt.
pub fn comparison(py: Python<'_>, agents: [&Agent; 2], origin: &str, found: &Comparison) -> PyResult<Py<PyAny>> {
    let types = py.import("reptile")?;
    let mut examples = Vec::new();
    for witness in [&found.first_only, &found.second_only] {
        let Witness::Path(path) = witness else { continue };
        let url = [origin.as_bytes(), path].concat();
        let decide =
            |agent: &Agent| decision(&types, &agent.explain(&url).map_err(|error| convert::library_error(py, error))?);
        let decisions: Vec<_> = agents.into_iter().map(decide).collect::<PyResult<_>>()?;
        examples.push(types.getattr("Counterexample")?.call1((convert::path(py, path), decisions))?);
    }
    convert::comparison(py, found, examples)
}
