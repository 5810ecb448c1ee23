//! `FILE.made.json`: the inputs and options behind a verdict file. `--resume` keeps a file if its record equals the
//! record that this run would write.

use std::path::Path;

use reptile_records::fingerprint::Fingerprint;
use serde::{Deserialize, Serialize};

use super::super::{Args, Settings};
use crate::error::{Failure, Result};
use crate::outputs::build_record::{Identity, Tool};
use crate::outputs::kept::kept;

/// The inputs and options behind a verdict file.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    made_by: Tool,
    set: Option<Identity>,
    /// The options that determine the file's contents, as given.
    options: Vec<String>,
    input: Fingerprint,
    file: Identity,
    /// The number of the file among the parts of the list's output, and the number of parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<(u32, u32)>,
    /// Whether most rows were invalid, or the last quote was unclosed. Later runs that keep the file report it in the
    /// exit code too.
    pub most_are_invalid: bool,
}

impl Record {
    /// Returns the record of an output file. `input` is the list's state before it was read.
    pub fn new(args: &Args, settings: &Settings, input: Fingerprint, file: Identity, most_are_invalid: bool) -> Record {
        let Args { agents, exact, agent_column, url_column, split_columns, at_column, input_format, delimiter, .. } =
            args;
        let Args { missing_columns, scope, written, options, .. } = args;
        let columns = format!(
            "{url_column:?} {split_columns} {missing_columns:?} {at_column:?} {agent_column:?} {input_format:?} {delimiter:?} {:?}",
            options.at
        );
        let (site, zone) = (&settings.site, &options.zone.timezone);
        Record {
            made_by: Tool::this(),
            set: settings.identity.clone(),
            options: vec![
                format!("{agents:?} {exact:?}"),
                columns,
                format!("{scope:?} {site:?} {zone}"),
                format!("{written:?}"),
            ],
            input,
            file,
            part: None,
            most_are_invalid,
        }
    }

    /// Returns the first difference from another record, worded to follow "was made".
    fn difference(&self, other: &Record) -> Option<&'static str> {
        [
            (self.made_by != other.made_by, "by another version of reptile"),
            (self.set != other.set, "by another set"),
            (self.options != other.options, "with other options"),
            (other.input.xxh3_64.is_some() && self.input.xxh3_64.is_none(), "without a checksum of its input"),
            (!self.input.is_as(&other.input), "from another input, or the input has changed"),
            (self.file != other.file, "with other bytes than it has now"),
        ]
        .into_iter()
        .find_map(|(differs, how)| differs.then_some(how))
    }
}

/// Returns an existing file's record, if `--resume` is given and the file is up to date.
///
/// # Errors
/// Returns an error if the file is not up to date and may not be replaced.
pub fn made_before(args: &Args, settings: &Settings, input: &Fingerprint, file: &Path) -> Result<Option<Record>> {
    if args.resume.is_none() || !file.exists() {
        return Ok(None);
    }
    let found = Identity::of_file(file).map_err(|error| Failure::at(file, error))?;
    let expected = Record::new(args, settings, input.clone(), found, false);
    kept(file, args.force, |record: &Record| record.difference(&expected))
}
