//! `.FILE.made.json`: a verdict file's lineage. `--resume` keeps a file if its record agrees with the record that this
//! run would write.

use serde::{Deserialize, Serialize};

use super::super::plan::Folder;
use crate::error::{Failure, Result};
use crate::outputs::identity::Identity;
use crate::outputs::kept::kept;
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, SetState};
use reptile_records::place::Place;

/// A verdict file's lineage.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct VerdictLineage {
    /// The lineage. Its counts are for the whole list, also in a part's record.
    #[serde(flatten)]
    pub lineage: Lineage,
    /// The number of the file among the parts of the list's output, and the number of parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<(u32, u32)>,
    /// Whether most rows were invalid, or the last quote was unclosed. Later runs that keep the file report it in the
    /// exit code too.
    pub most_are_invalid: bool,
}

/// Returns an existing file's record, if `--resume` is given and the file is up to date.
///
/// # Errors
/// Returns an error if the file is not up to date and may not be replaced.
pub fn made_before(
    folder: &Folder,
    set: &SetState,
    input: &InputState,
    file: &Place,
    run: &Run,
) -> Result<Option<VerdictLineage>> {
    if folder.resume.is_none() || !file.exists().map_err(|error| Failure::at(file, error))? {
        return Ok(None);
    }
    let found = Identity::of_file(file).map_err(|error| Failure::at(file, error))?;
    let of_run = run.lineage();
    kept(file, folder.force, |record: &VerdictLineage| record.lineage.difference(&of_run, set, input, &found))
}
