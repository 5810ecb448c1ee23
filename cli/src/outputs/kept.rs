//! `--resume`: keeps an output whose record (`.FILE.made.json`) agrees with the record that this run would write.

use reptile_records::fingerprint::Fingerprint;
use reptile_records::place::Place;
use serde::de::DeserializeOwned;

use super::build_record;
use crate::error::{Failure, Result, note};
use crate::options::Resume;

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

/// Returns an existing file's record if the file is up to date. `difference` returns the first difference from the
/// record that this run would write, worded to follow "was made".
///
/// # Errors
/// Returns an error if the file is not up to date, unless `replaces` permits replacing it.
pub fn kept<R: DeserializeOwned>(
    file: &Place,
    replaces: bool,
    difference: impl FnOnce(&R) -> Option<&'static str>,
) -> Result<Option<R>> {
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
