//! `.FILE.made.json`: a filtered archive's lineage, in a folder. `--resume` keeps a file if its record agrees with the
//! record that this run would write.

use serde::{Deserialize, Serialize};

use super::counts::FilterCounts;
use super::plan::Plan;
use crate::error::{Failure, Result};
use crate::outputs::identity::Identity;
use crate::outputs::kept::kept;
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, SetState};
use reptile_records::place::Place;

/// A filtered archive's lineage.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct FilterLineage {
    #[serde(flatten)]
    pub lineage: Lineage,
    /// The archive's record counts, for the summary and the exit code of a run that keeps the file.
    pub counts: FilterCounts,
}

/// Returns the record of an existing file, if `--resume` is given and the file is up to date.
///
/// # Errors
/// Returns an error if the file is not up to date and may not be replaced.
pub fn made_before(
    plan: &Plan,
    set: &SetState,
    input: &InputState,
    file: &Place,
    run: &Run,
) -> Result<Option<FilterLineage>> {
    if plan.resume.is_none() || !file.exists().map_err(|error| Failure::at(file, error))? {
        return Ok(None);
    }
    let found = Identity::of_file(file).map_err(|error| Failure::at(file, error))?;
    let of_run = run.lineage();
    kept(file, plan.force, |record: &FilterLineage| record.lineage.difference(&of_run, set, input, &found))
}
