//! Restores pickled crawlers, which contain the set or the robots.txt that resolved them.

use pyo3::prelude::*;
use reptile::Agent;

use crate::agents::{PyAgent, PyAgents};
use crate::ask::AgentCache;
use crate::robots::PyRobots;
use crate::set::PySet;

/// Restores a pickled crawler.
#[pyfunction]
#[pyo3(name = "_agent", signature = (resolver, name, is_verbatim, /))]
pub fn unpickled_agent(
    py: Python<'_>,
    resolver: &Bound<'_, PyAny>,
    name: &str,
    is_verbatim: bool,
) -> PyResult<PyAgent> {
    let (cache, kept) = (cache_of(resolver)?, resolver.clone().unbind());
    if is_verbatim {
        return Ok(PyAgent::verbatim(cache.verbatim(py, name)?, kept));
    }
    Ok(PyAgent::new(Agent::clone(&*cache.agent(py, name, true)?), kept))
}

/// Restores pickled crawlers.
#[pyfunction]
#[pyo3(name = "_agents", signature = (resolver, names, /))]
pub fn unpickled_agents(py: Python<'_>, resolver: &Bound<'_, PyAny>, names: Vec<String>) -> PyResult<PyAgents> {
    let agents = cache_of(resolver)?.agents(py, &names, true)?;
    Ok(PyAgents::new(agents, resolver.clone().unbind()))
}

/// Returns the resolved crawlers of a set or a robots.txt.
fn cache_of<'a>(resolver: &'a Bound<'_, PyAny>) -> PyResult<&'a AgentCache> {
    match resolver.cast::<PySet>() {
        Ok(set) => Ok(set.get().cache()),
        Err(_) => Ok(resolver.cast::<PyRobots>()?.get().cache()),
    }
}
