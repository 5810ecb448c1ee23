//! The crawlers that the user names with `--agent`.

use reptile_compiler::dialect::crawlers::{Resolved, resolve};
use reptile_compiler::dialect::{self, Dialect};
use reptile_engine::set::Set;

use crate::error::{Failure, Result};

/// The crawlers that the user names, as the dialect of a set understands them. In a set of a dialect that this version
/// does not know, a name is one product token.
///
/// # Errors
/// As [`agents_under`].
pub fn agents_of(set: &Set<&[u8]>, specs: &[String]) -> Result<Vec<Resolved>> {
    agents_under(Dialect::from_name(&set.dialect()).unwrap_or(dialect::ALL[0]), specs)
}

/// The crawlers that the user names, as a dialect understands them. A group of crawlers such as `@search` becomes its
/// members.
///
/// # Errors
/// If a group of crawlers is unknown, or a chain of product tokens is malformed.
pub fn agents_under(dialect: &Dialect, specs: &[String]) -> Result<Vec<Resolved>> {
    let mut agents: Vec<Resolved> = Vec::new();
    for spec in specs {
        let named = resolve(spec, dialect).map_err(|error| Failure::new(format!("--agent: {error}")))?;
        let is_group = named.len() > 1;
        // A crawler that is named twice gets two columns; one that is in two groups needs only one.
        for agent in named {
            if !is_group || !agents.contains(&agent) {
                agents.push(agent);
            }
        }
    }
    Ok(agents)
}
