//! `SET.made.json`: a set's [`Lineage`] in a file next to the set. The records `.FILE.made.json` of files in output
//! folders are also read and written here.
//!
//! A set's bytes depend only on the robots.txt files and the relevant options, so equal inputs yield equal sets. Other
//! information, such as the tool version and input paths, is in this record, together with the set's checksum. No
//! command requires it; `reptile inspect` shows it.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};

use reptile::files::target_of;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::file::{Complete, Output};
use super::identity::{Identity, Tool};
use super::json::json_lines;
use super::summary::{Summary, grouped};
use crate::error::{Failure, Result};
use crate::run::lineage::{InputState, Lineage};
use reptile_records::place::Place;
use reptile_records::text::printable;

/// The suffix added to the set's name.
const SUFFIX: &str = ".made.json";

/// Maximum size of a record in bytes, enough for 80,000 inputs.
const MAX_BYTES: u64 = 32 << 20;

/// Adds rows with a set's record for people.
fn describe_record(record: &Lineage, summary: &mut Summary) {
    let shown = |text: &str| printable(text.as_bytes());
    let Tool { name, version } = &record.made_by;
    summary.row("made by", format!("{} {}", shown(name), shown(version)));
    for InputState { path, rows, body_bytes, invalid, .. } in &record.inputs {
        let bad = invalid.filter(|&bad| bad > 0).map(|bad| format!(", {} bad and left out", grouped(bad)));
        let (read, bytes) = (rows.unwrap_or_default(), body_bytes.unwrap_or_default());
        let counts = format!("{} read, {} bytes{}", grouped(read), grouped(bytes), bad.unwrap_or_default());
        summary.row("  input", format!("{}: {counts}", shown(path)));
    }
    if let Some(unresolved) = unresolved_in(record).filter(|&count| count > 0) {
        summary.count("  unresolved redirects and revisits", unresolved);
    }
}

/// Returns the number of unresolved redirects and revisits, if a record has it.
fn unresolved_in(record: &Lineage) -> Option<u64> {
    record.captures.as_ref().and_then(|captures| captures.unresolved)
}

/// Returns whether a record is about the set with these bytes.
fn is_of(record: &Lineage, bytes: &[u8]) -> bool {
    let Identity { bytes, xxh3_64 } = Identity::of(bytes);
    record.set.as_ref().is_some_and(|set| set.bytes == bytes && set.xxh3_64.as_ref() == Some(&xxh3_64))
}

/// Writes a record to an unpublished file.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(record: &impl Serialize, mut output: Output) -> Result<Option<Complete>> {
    let json = json_lines(record)?;
    output.write_all(json.as_bytes()).map_err(|error| output.failure(&error))?;
    output.complete()
}

/// Returns the path of a file's record.
///
/// # Errors
/// Returns an error if the file is a dangling symbolic link.
pub fn path_of(file: &Place) -> Result<Place> {
    let mut name = match file {
        Place::Local(path) => OsString::from(target_of(path).map_err(|error| Failure::at(file, error))?),
        Place::Remote(url) => url.into(),
    };
    name.push(SUFFIX);
    Ok(name.into())
}

/// Returns the path of the record of a file in an output folder. The name begins with a dot, because programs that read
/// a folder as one table skip such names.
///
/// # Errors
/// Returns an error if the file is a dangling symbolic link.
pub fn hidden_path_of(file: &Place) -> Result<Place> {
    let path = path_of(file)?;
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    Ok(path.with_file_name(name))
}

/// Adds rows with a set's build record. Without a record, nothing is added. If the record is malformed or belongs to
/// another set, a remark is added.
///
/// # Errors
/// Returns an error if the path cannot be looked up. An unreadable record is not an error, since the set can be shown
/// without it.
pub fn describe(set: &Place, bytes: &[u8], summary: &mut Summary) -> Result<()> {
    let path = path_of(set)?;
    let unknown = |why: String| format!("unknown: {} {why}", path.display());
    match read::<Lineage>(&path) {
        Ok(None) => {}
        Ok(Some(record)) if is_of(&record, bytes) => describe_record(&record, summary),
        Ok(Some(_)) => summary.row("made by", unknown("belongs to another set".into())),
        Err(error) => summary.row("made by", unknown(error)),
    }
    Ok(())
}

/// Returns a set's record as JSON, or null if it is missing or belongs to another set.
///
/// # Errors
/// Returns an error under the conditions listed for [`describe`].
pub fn json(set: &Place, bytes: &[u8]) -> Result<serde_json::Value> {
    let record = read::<Lineage>(&path_of(set)?).ok().flatten().filter(|record| is_of(record, bytes));
    serde_json::to_value(record).map_err(Failure::new)
}

/// Returns the number of unresolved redirects and revisits in a set, or `None` if the set does not record it.
pub fn unresolved(set: &Place, bytes: &[u8]) -> Option<u64> {
    let record = read::<Lineage>(&path_of(set).ok()?).ok().flatten()?;
    unresolved_in(&record).filter(|_| is_of(&record, bytes))
}

/// Reads a record, if it exists.
///
/// # Errors
/// Returns the problem with the file, worded to follow its name.
pub fn read<T: DeserializeOwned>(path: &Place) -> std::result::Result<Option<T>, String> {
    let file = match path.open() {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let mut json = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut json).map_err(|error| format!("cannot be read: {error}"))?;
    if json.len() as u64 > MAX_BYTES {
        return Err(format!("is too large; the limit is {} bytes", grouped(MAX_BYTES)));
    }
    serde_json::from_slice(&json).map(Some).map_err(|error| format!("is malformed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::lineage::SetState;

    fn record() -> Lineage {
        let Identity { bytes, xxh3_64 } = Identity::of(b"set");
        let set = SetState { bytes, xxh3_64: Some(xxh3_64), ..Default::default() };
        Lineage {
            set: Some(set),
            inputs: vec![InputState { path: "in\u{202e}put".into(), ..Default::default() }],
            ..Lineage::default()
        }
    }

    #[test]
    fn records_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.made.json");
        assert_eq!(read::<Lineage>(&Place::from(&path)), Ok(None));
        std::fs::write(&path, json_lines(&record()).unwrap()).unwrap();
        assert_eq!(read(&Place::from(&path)), Ok(Some(record())));
        let mut summary = Summary::default();
        describe(&folder.path().join("s").into(), b"set", &mut summary).unwrap();
        assert!(summary.render().contains("in\\u{202e}put: 0 read, 0 bytes\n"), "{}", summary.render());
        let mut summary = Summary::default();
        describe(&folder.path().join("s").into(), b"sex", &mut summary).unwrap();
        assert!(summary.render().ends_with("belongs to another set\n"), "{}", summary.render());
    }

    #[test]
    fn record_size_stops_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.made.json");
        let json = json_lines(&record()).unwrap();
        for (len, fits) in [(MAX_BYTES - 1, true), (MAX_BYTES, true), (MAX_BYTES + 1, false)] {
            let padding = " ".repeat(len as usize - json.len());
            std::fs::write(&path, format!("{json}{padding}")).unwrap();
            assert_eq!(read::<Lineage>(&Place::from(&path)).is_ok(), fits, "{len}");
        }
    }
}
