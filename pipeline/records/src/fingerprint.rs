//! The state of an input: enough to notice that it has changed, and to name it in a record of a run.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use crate::{Error, Result};

/// Number of bytes per read.
const READ_BYTES: usize = 1 << 20;

/// An input's path and state. Equal fingerprints mean the same bytes, as far as the known fields tell.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Fingerprint {
    /// The path, as given.
    pub path: String,
    /// Stored size in bytes.
    pub bytes: u64,
    /// The time of the last change, in seconds and nanoseconds since 1970, if it is known.
    pub changed: Option<(u64, u32)>,
    /// The entity tag that an object store or a web server gave the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The XXH3-64 hash of the stored bytes, in hexadecimal, if it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xxh3_64: Option<String>,
}

impl Fingerprint {
    /// Returns a regular file's state, without reading it.
    ///
    /// # Errors
    /// Returns an error if there is no such file, or if it is not a regular file.
    pub fn of(path: &Path) -> Result<Fingerprint> {
        let found = fs::metadata(path).map_err(|error| Error::io(path, error))?;
        if !found.is_file() {
            return Err(Error::at(path, "is not a regular file"));
        }
        let changed = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let changed = changed.map(|time| (time.as_secs(), time.subsec_nanos()));
        Ok(Fingerprint { path: path.display().to_string(), bytes: found.len(), changed, etag: None, xxh3_64: None })
    }

    /// Returns whether a recorded state is the current one. If the current state has a hash, its size and hash decide,
    /// and otherwise its size, time and entity tag.
    #[must_use]
    pub fn is_as(&self, current: &Fingerprint) -> bool {
        let state = |of: &Fingerprint| match current.xxh3_64 {
            Some(_) => (of.xxh3_64.clone(), None, None),
            None => (None, of.changed, of.etag.clone()),
        };
        self.path == current.path && self.bytes == current.bytes && state(self) == state(current)
    }

    /// Returns a regular file's state with the hash of its bytes. Cost: reads every byte.
    ///
    /// # Errors
    /// Returns the errors of [`Fingerprint::of`], and an error if the file cannot be read.
    pub fn with_checksum(path: &Path) -> Result<Fingerprint> {
        let fingerprint = Fingerprint::of(path)?;
        let fail = |error| Error::io(path, error);
        let mut file = File::open(path).map_err(fail)?;
        let (mut hash, mut buffer) = (Xxh3Default::new(), vec![0; READ_BYTES]);
        loop {
            match file.read(&mut buffer).map_err(fail)? {
                0 => break,
                len => hash.update(&buffer[..len]),
            }
        }
        Ok(Fingerprint { xxh3_64: Some(format!("{:016x}", hash.digest())), ..fingerprint })
    }
}
