//! An input's state: enough to detect changes, and to identify the input in a run's record.
//!
//! ```
//! use reptile_records::{fingerprint::Fingerprint, place::Place};
//!
//! let file = tempfile::NamedTempFile::new()?;
//! let place = Place::from(file.path());
//! std::fs::write(file.path(), "https://example.com/\n")?;
//! let before = Fingerprint::with_checksum(&place)?;
//! assert_eq!((before.bytes, before.xxh3_64.as_deref().map(str::len)), (21, Some(16)));
//!
//! std::fs::write(file.path(), "https://example.org/\n")?;
//! assert_ne!(Fingerprint::with_checksum(&place)?.xxh3_64, before.xxh3_64);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::Read;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use crate::place::Place;
use crate::stores::{Object, ObjectState};
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
    /// Returns the state of a regular file or a remote object, without reading it.
    ///
    /// # Errors
    /// Returns an error if there is no such file, or if it is not a regular file.
    pub fn of(path: &Place) -> Result<Fingerprint> {
        if let Place::Remote(url) = path {
            let ObjectState { bytes, changed, etag } = Object::state_at(url).map_err(|error| Error::io(path, error))?;
            return Ok(Fingerprint { path: path.shown(), bytes, changed, etag, xxh3_64: None });
        }
        let found = path.metadata().map_err(|error| Error::io(path, error))?;
        if !found.is_file() {
            return Err(Error::at(path, "is not a regular file"));
        }
        let changed = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let changed = changed.map(|time| (time.as_secs(), time.subsec_nanos()));
        Ok(Fingerprint { path: path.display().to_string(), bytes: found.len(), changed, etag: None, xxh3_64: None })
    }

    /// Returns the state of a regular file or a remote object with the hash of its bytes. Cost: reads every byte.
    ///
    /// # Errors
    /// Returns the errors of [`Fingerprint::of`], and an error if the file cannot be read.
    pub fn with_checksum(path: &Place) -> Result<Fingerprint> {
        let fingerprint = Fingerprint::of(path)?;
        let fail = |error| Error::io(path, error);
        let mut file = path.open().map_err(fail)?;
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
