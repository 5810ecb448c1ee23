//! `.FILE.made.json`: a verdict file's lineage. `--resume` keeps a file if its record agrees with the record that this
//! run would write.

use serde::{Deserialize, Serialize};

use crate::run::lineage::Lineage;

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

impl AsRef<Lineage> for VerdictLineage {
    fn as_ref(&self) -> &Lineage {
        &self.lineage
    }
}
