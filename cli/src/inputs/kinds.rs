//! The kinds of input, and how their bytes are opened.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Failure, Result};

/// Bytes that are read from a file at once.
const READ_BYTES: usize = 1 << 16;

/// The kind of an input. A folder is recognised as such, every other kind by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A folder of files named after hosts.
    Folder,
    /// A tar archive of such files.
    Tar,
    /// A compressed tar archive of such files.
    TarGz,
    /// JSON Lines, a capture on each line.
    Jsonl,
    /// Compressed JSON Lines.
    JsonlGz,
    /// Any other file.
    File,
}

impl Kind {
    /// The kind of what is at a path.
    ///
    /// # Errors
    /// If there is nothing at the path, or it cannot be looked up.
    pub fn of(path: &Path) -> Result<Kind> {
        let metadata = fs::metadata(path).map_err(|error| Failure::at(path, error))?;
        if metadata.is_dir() {
            return Ok(Kind::Folder);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let kinds = [
            (".tar", Kind::Tar),
            (".tar.gz", Kind::TarGz),
            (".tgz", Kind::TarGz),
            (".jsonl", Kind::Jsonl),
            (".ndjson", Kind::Jsonl),
            (".jsonl.gz", Kind::JsonlGz),
            (".ndjson.gz", Kind::JsonlGz),
        ];
        Ok(kinds.into_iter().find(|(end, _)| name.ends_with(end)).map_or(Kind::File, |(_, kind)| kind))
    }
}

/// Opens a file, unpacked if `gz` is given.
///
/// # Errors
/// If the file cannot be opened.
pub fn unpacked(path: &Path, gz: bool) -> Result<Box<dyn Read>> {
    let file = BufReader::with_capacity(READ_BYTES, File::open(path).map_err(|error| Failure::at(path, error))?);
    Ok(if gz { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_name() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Kind::of(folder.path()).unwrap(), Kind::Folder);
        let table = [
            ("a.tar", Kind::Tar),
            ("a.TAR.GZ", Kind::TarGz),
            ("a.tgz", Kind::TarGz),
            ("a.jsonl", Kind::Jsonl),
            ("a.ndjson.gz", Kind::JsonlGz),
            ("a.gz", Kind::File),
            ("robots.txt", Kind::File),
        ];
        for (name, kind) in table {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            assert_eq!(Kind::of(&path).unwrap(), kind, "{name}");
        }
    }
}
