//! Many URLs at once, over all cores.
//!
//! One call answers one slice; reading and writing are the caller's.

use rayon::prelude::*;

use crate::format::FormatError;
use crate::set::{Agent, Set};
use crate::verdict::Verdict;

/// How many URLs one task takes: large enough that handing it out costs nothing beside it.
const URLS_PER_TASK: usize = 1024;

/// The verdicts for URLs and agents, through `rayon`'s current pool. `verdicts[i * agents.len() + j]` answers
/// `urls[i]` for `agents[j]`.
///
/// # Errors
/// When the set is damaged; the verdicts are then not to be used.
///
/// # Panics
/// When `verdicts` is not `urls.len() * agents.len()` long.
///
/// # Example
/// ```
/// # use reptile_engine::{set::Set, verdict::Verdict, classify::classify, format::FormatError};
/// fn count_allowed(set: &Set<Vec<u8>>, urls: &[&[u8]]) -> Result<usize, FormatError> {
///     let mut verdicts = vec![Verdict::Invalid; urls.len()];
///     classify(set, &[set.agent(b"CCBot")?], urls, &mut verdicts)?;
///     Ok(verdicts.iter().filter(|&&verdict| verdict == Verdict::Allow).count())
/// }
/// ```
pub fn classify<D: AsRef<[u8]> + Sync>(
    set: &Set<D>,
    agents: &[Agent],
    urls: &[&[u8]],
    verdicts: &mut [Verdict],
) -> Result<(), FormatError> {
    assert_eq!(verdicts.len(), urls.len() * agents.len(), "a place for each URL and agent");
    if agents.is_empty() {
        return Ok(());
    }
    let tasks = urls.par_chunks(URLS_PER_TASK).zip(verdicts.par_chunks_mut(URLS_PER_TASK * agents.len()));
    tasks.try_for_each(|(urls, verdicts)| {
        urls.iter()
            .zip(verdicts.chunks_mut(agents.len()))
            .try_for_each(|(url, verdicts)| set.decide_each(agents, url, verdicts))
    })
}
