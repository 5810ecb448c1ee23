//! `FILE.made.json`: the archive, the set and the options behind a filtered archive in a folder. `--resume` keeps a file
//! if its record equals the record that this run would write.

use std::path::Path;

use reptile_records::fingerprint::Fingerprint;
use serde::{Deserialize, Serialize};

use super::{Args, Counts};
use crate::error::{Failure, Result};
use crate::outputs::build_record::{Identity, Tool};
use crate::outputs::kept::kept;

/// The inputs and options behind a filtered archive.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    made_by: Tool,
    set: Identity,
    options: Options,
    input: Fingerprint,
    file: Identity,
    /// The counts of the archive's records, for the summary and the exit code of a run that keeps the file.
    counts: Counts,
}

/// The options that determine which records are kept.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Options {
    agents: Vec<String>,
    exact_agent: bool,
    any: bool,
    keeps_unknown: bool,
    keeps_invalid: bool,
    resync: bool,
}

impl Record {
    /// Returns the record of a file. `input` is the archive's state before it was read.
    pub fn new(args: &Args, set: &Identity, input: Fingerprint, file: Identity, counts: Counts) -> Record {
        let keeps = |rest: Option<super::Rest>| rest == Some(super::Rest::Keep);
        Record {
            made_by: Tool::this(),
            set: set.clone(),
            options: Options {
                agents: args.agents.clone(),
                exact_agent: args.exact.exact_agent,
                any: args.any,
                keeps_unknown: keeps(args.unknown),
                keeps_invalid: keeps(args.invalid),
                resync: args.options.archives.resync,
            },
            input,
            file,
            counts,
        }
    }

    /// Returns the first difference from the record that this run would write, worded to follow "was made".
    fn difference(&self, expected: &Record) -> Option<&'static str> {
        [
            (self.made_by != expected.made_by, "by another version of reptile"),
            (self.set != expected.set, "with another set"),
            (self.options != expected.options, "with other options"),
            (expected.input.xxh3_64.is_some() && self.input.xxh3_64.is_none(), "without a checksum of its input"),
            (!self.input.is_as(&expected.input), "from another input, or the input has changed"),
            (self.file != expected.file, "with other bytes than it has now"),
        ]
        .into_iter()
        .find_map(|(differs, how)| differs.then_some(how))
    }
}

/// Returns the counts of an existing file, if `--resume` is given and the file is up to date.
///
/// # Errors
/// Returns an error if the file is not up to date and may not be replaced.
pub fn counts_before(args: &Args, set: &Identity, input: Option<&Fingerprint>, file: &Path) -> Result<Option<Counts>> {
    let Some(input) = input.filter(|_| args.resume.is_some() && file.exists()) else { return Ok(None) };
    let found = Identity::of_file(file).map_err(|error| Failure::at(file, error))?;
    let expected = Record::new(args, set, input.clone(), found, Counts::default());
    let record = kept(file, args.force, |record: &Record| record.difference(&expected))?;
    Ok(record.map(|record| record.counts))
}
