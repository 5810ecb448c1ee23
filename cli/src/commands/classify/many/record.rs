//! `FILE.made.json`: the inputs and options behind a verdict file. `--resume` keeps a file if its record equals the
//! record that this run would write.

use std::path::Path;

use reptile_records::fingerprint::Fingerprint;
use serde::{Deserialize, Serialize};

use super::super::{Args, Settings};
use crate::error::{Failure, Result, note};
use crate::outputs::build_record::{self, Identity, Tool};

/// The inputs and options behind a verdict file.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    made_by: Tool,
    set: Option<Identity>,
    /// The options that determine the file's contents, as given.
    options: Vec<String>,
    input: Fingerprint,
    file: Identity,
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
            "{url_column:?} {split_columns} {missing_columns:?} {at_column:?} {agent_column:?} {input_format:?} {delimiter:?} {:?} {:?}",
            options.at, args.parts
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
            most_are_invalid,
        }
    }

    /// Returns the first difference from another record, worded to follow "was made".
    fn difference(&self, other: &Record) -> Option<&'static str> {
        [
            (self.made_by != other.made_by, "by another version of reptile"),
            (self.set != other.set, "by another set"),
            (self.options != other.options, "with other options"),
            (self.input != other.input, "from another input, or the input has changed"),
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
    if !args.resume || !file.exists() {
        return Ok(None);
    }
    let found = Identity::of_file(file).map_err(|error| Failure::at(file, error))?;
    let expected = Record::new(args, settings, input.clone(), found, false);
    let how = match build_record::read::<Record>(&build_record::path_of(file)?) {
        Ok(Some(record)) => match record.difference(&expected) {
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
