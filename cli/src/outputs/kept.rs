//! `--resume`: keeps an output whose record (`.FILE.made.json`) agrees with the record that this run would write.

use reptile_records::fingerprint::Fingerprint;
use reptile_records::place::Place;
use serde::de::DeserializeOwned;

use super::build_record;
use super::identity::Identity;
use crate::error::{Failure, Result, note};
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, SetState};

/// The options of commands that write a file for each input to a folder.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct FolderOptions {
    /// Keep files in the folder of --output that were already made from the same set, options and input
    ///
    /// An input has changed if its size, time or ETag has changed. With --resume=checksum, its size and the checksum of
    /// its bytes decide, and .FILE.made.json has the checksum. A changed input is an error, unless --force replaces the
    /// file.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "state",
        requires = "output")]
    pub resume: Option<Resume>,
    /// Write through symbolic links in the folder of --output; otherwise they are errors
    #[arg(long, requires = "output")]
    pub follow_links: bool,
}

/// How `--resume` notices that an input has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Resume {
    /// By its size, time and ETag
    State,
    /// By its size and the checksum of its bytes
    Checksum,
}

/// Returns an input's current state, with the checksum of its bytes if `--resume=checksum` needs it.
///
/// # Errors
/// Returns an error if it is not a regular file.
pub fn state_of(input: &Place, resume: Option<Resume>) -> Result<Fingerprint> {
    Ok(match resume {
        Some(Resume::Checksum) => Fingerprint::with_checksum(input)?,
        _ => Fingerprint::of(input)?,
    })
}

/// Rejects an input that is not in the state that it had before it was read.
///
/// # Errors
/// Returns an error if its size or time has changed.
pub fn refuse_changed(input: &Place, before: &Fingerprint) -> Result<()> {
    let now = Fingerprint::of(input)?;
    match (now.bytes, now.changed) == (before.bytes, before.changed) {
        true => Ok(()),
        false => Err(Failure::at(input, "was changed while it was read")),
    }
}

/// Returns the record of an existing file, if `--resume` is given and the file is up to date.
///
/// # Errors
/// Returns an error if the file is not up to date, unless `replaces` permits replacing it.
pub fn made_before<R: DeserializeOwned + AsRef<Lineage>>(
    file: &Place,
    options: FolderOptions,
    replaces: bool,
    (set, input): (&SetState, &InputState),
    run: &Run,
) -> Result<Option<R>> {
    if options.resume.is_none() || !file.exists().map_err(|error| Failure::at(file, error))? {
        return Ok(None);
    }
    let found = Identity::of_file(file).map_err(|error| Failure::at(file, error))?;
    let of_run = run.lineage();
    let difference = |record: &R| record.as_ref().difference(&of_run, set, input, &found);
    let how = match build_record::read::<R>(&build_record::hidden_path_of(file)?) {
        Ok(Some(record)) => match difference(&record) {
            None => return Ok(Some(record)),
            Some(how) => format!("was made {how}"),
        },
        Ok(None) => "has no record of how it was made".into(),
        Err(error) => format!("has a record of how it was made, which {error}"),
    };
    if replaces {
        note(format_args!("{}: {how}; replaced", file.display()));
        return Ok(None);
    }
    Err(Failure::at(file, format!("{how}; --force with --resume replaces it")))
}
