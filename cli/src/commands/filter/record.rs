//! `.FILE.made.json`: a filtered archive's lineage, in a folder. `--resume` keeps a file if its record agrees with the
//! record that this run would write.

use serde::{Deserialize, Serialize};

use super::counts::FilterCounts;
use crate::run::lineage::Lineage;

/// A filtered archive's lineage.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct FilterLineage {
    #[serde(flatten)]
    pub lineage: Lineage,
    /// The archive's record counts, for the summary and the exit code of a run that keeps the file.
    pub counts: FilterCounts,
}

impl AsRef<Lineage> for FilterLineage {
    fn as_ref(&self) -> &Lineage {
        &self.lineage
    }
}
