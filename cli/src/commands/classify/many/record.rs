//! `FILE.made.json`: a verdict file's lineage. `--resume` keeps a file if its record agrees with the record that this
//! run would write.

use std::path::Path;

use reptile_records::stores::exists;
use serde::{Deserialize, Serialize};

use super::super::{Args, Settings};
use crate::error::{Failure, Result, note};
use crate::outputs::build_record::{self, Identity};
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, SCHEMA};

/// A verdict file's lineage.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    #[serde(flatten)]
    pub lineage: Lineage,
    /// Whether most rows were invalid, or the last quote was unclosed. Later runs that keep the file report it in the
    /// exit code too.
    pub most_are_invalid: bool,
}

impl Record {
    /// Returns an output file's record.
    pub fn new(lineage: Lineage, most_are_invalid: bool) -> Record {
        Record { lineage, most_are_invalid }
    }

    /// Returns the first difference from the file that this run would write, worded to follow "was made". `found` is
    /// the file's current identity.
    fn difference(&self, run: &Run, settings: &Settings, input: &InputState, found: &Identity) -> Option<&'static str> {
        let (recorded, expected) = (&self.lineage, run.lineage());
        let is_version = recorded.schema == SCHEMA && recorded.made_by == expected.made_by;
        let is_set = recorded.set.as_ref().is_some_and(|set| settings.state.is_same(set));
        let is_input = matches!(&recorded.inputs[..], [recorded] if input.is_as(recorded));
        let is_file = |output: &Identity| output == found;
        let is_file = matches!(&recorded.outputs[..], [output] if output.identity().as_ref().is_some_and(is_file));
        [
            (is_version, "by another version of reptile"),
            (is_set, "by another set"),
            (recorded.options == expected.options, "with other options"),
            (is_input, "from another input, or the input has changed"),
            (is_file, "with other bytes than it has now"),
        ]
        .into_iter()
        .find_map(|(is_same, how)| (!is_same).then_some(how))
    }
}

/// Returns an existing file's record, if `--resume` is given and the file is up to date.
///
/// # Errors
/// Returns an error if the file is not up to date and may not be replaced.
pub fn made_before(
    args: &Args,
    settings: &Settings,
    input: &InputState,
    file: &Path,
    run: &Run,
) -> Result<Option<Record>> {
    if !args.resume || !exists(file).map_err(|error| Failure::at(file, error))? {
        return Ok(None);
    }
    let found = Identity::of_file(file).map_err(|error| Failure::at(file, error))?;
    let how = match build_record::read::<Record>(&build_record::path_of(file)?) {
        Ok(Some(record)) => match record.difference(run, settings, input, &found) {
            None => return Ok(Some(record)),
            Some(how) => format!("was made {how}"),
        },
        Ok(None) => "has no record of how it was made".into(),
        Err(error) => format!("has a record of how it was made, which {error}"),
    };
    if args.force {
        note(format_args!("{}: {how}; replaced", file.display()));
        return Ok(None);
    }
    Err(Failure::at(file, format!("{how}; --force with --resume replaces it")))
}
