//! What identifies a file's bytes, and the program that wrote them, in records.

use std::io::{self, ErrorKind, Read};

use reptile_records::place::Place;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Number of bytes per read.
const READ_BYTES: usize = 1 << 20;

/// The program that wrote a file.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Tool {
    pub name: String,
    pub version: String,
}

impl Tool {
    /// Returns this program's name and version.
    pub fn this() -> Tool {
        Tool { name: "reptile".into(), version: env!("CARGO_PKG_VERSION").into() }
    }
}

/// A file's length and the XXH3-64 hash of its bytes, in hexadecimal.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Identity {
    /// The length.
    pub bytes: u64,
    /// The hash.
    pub xxh3_64: String,
}

impl Identity {
    /// Returns the identity for a file's bytes. Cost: reads every byte.
    pub fn of(file: &[u8]) -> Identity {
        Identity { bytes: file.len() as u64, xxh3_64: format!("{:016x}", xxh3_64(file)) }
    }

    /// Returns the identity for a file with this many bytes and this hash.
    pub fn of_hash(bytes: u64, hash: u64) -> Identity {
        Identity { bytes, xxh3_64: format!("{hash:016x}") }
    }

    /// Returns the identity for a file on disk or a remote object, read in pieces.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn of_file(path: impl Into<Place>) -> io::Result<Identity> {
        let mut file = path.into().open()?;
        let (mut hash, mut bytes, mut buffer) = (Xxh3Default::new(), 0, vec![0; READ_BYTES]);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(Identity { bytes, xxh3_64: format!("{:016x}", hash.digest()) }),
                Ok(len) => {
                    hash.update(&buffer[..len]);
                    bytes += len as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_and_memory_have_the_same_identity() {
        let folder = tempfile::tempdir().unwrap();
        for len in [0, 1, READ_BYTES - 1, READ_BYTES, READ_BYTES + 1] {
            let (path, bytes) = (folder.path().join("x"), vec![len as u8; len]);
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(Identity::of_file(&path).unwrap(), Identity::of(&bytes));
        }
    }
}
