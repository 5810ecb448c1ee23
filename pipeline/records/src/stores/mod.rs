//! Inputs and outputs that are not local files: objects in S3, Google Cloud Storage and Azure, and web resources.
//!
//! A name with one of [`SCHEMES`] is remote ([`is_remote`]). [`Object`] reads one, in order or by position, and
//! [`Upload`] writes one, which appears when it is complete. All functions block; the asynchronous runtime is private.
//! Without the feature `stores`, no object can be opened, and every function returns an error that says so.
//!
//! ```
//! use reptile_records::stores::{is_remote, join, open_bytes};
//!
//! assert!(is_remote("s3://bucket/urls.csv".as_ref()) && !is_remote("bucket/urls.csv".as_ref()));
//! let folder = tempfile::tempdir()?;
//! let file = join(folder.path(), "urls.txt".as_ref());
//! std::fs::write(&file, "https://example.com/")?;
//! assert_eq!(std::io::read_to_string(open_bytes(&file)?)?, "https://example.com/");
//! # Ok::<(), std::io::Error>(())
//! ```

#[cfg(not(feature = "stores"))]
mod absent;
#[cfg(feature = "stores")]
mod body;
#[cfg(feature = "stores")]
mod client;
#[cfg(feature = "stores")]
mod listing;
#[cfg(feature = "stores")]
mod object;
#[cfg(feature = "stores")]
mod place;
#[cfg(all(test, feature = "stores"))]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests;
#[cfg(feature = "stores")]
mod upload;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

#[cfg(not(feature = "stores"))]
pub use absent::{Object, Reader, Upload, abort_uploads, expand, list, read_small};
#[cfg(feature = "stores")]
pub use listing::{expand, list, read_small};
#[cfg(feature = "stores")]
pub use object::{Object, Reader};
#[cfg(feature = "stores")]
pub use upload::{Upload, abort_uploads};

/// The schemes of remote names.
pub const SCHEMES: [&str; 10] = ["s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "https", "http"];

/// Number of small objects that a caller should pass to [`read_small`] at once.
pub const SMALL_OBJECTS: usize = 64;

/// A remote object's state, as its server reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Size in bytes.
    pub bytes: u64,
    /// The time of the last change, in seconds and nanoseconds since 1970, if the server reports it.
    pub changed: Option<(u64, u32)>,
    /// The entity tag, if the server reports it.
    pub etag: Option<String>,
}

/// Returns whether a path is the name of a remote object, by its scheme.
pub fn is_remote(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|name| Some(name.split_once("://")?.0));
    scheme.is_some_and(|scheme| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}

/// Returns whether a path is the name of a remote folder: it ends in a slash.
pub fn is_remote_folder(path: &Path) -> bool {
    is_remote(path) && path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Returns a name without the query and the fragment of a URL, which are not part of a file's name.
pub fn without_query(path: &Path) -> &Path {
    let name = path.to_str().filter(|name| is_remote(path) && name.as_bytes().starts_with(b"http"));
    name.and_then(|name| name.split(['?', '#']).next()).map_or(path, Path::new)
}

/// Returns the name of a file in a folder, which may be remote.
pub fn join(folder: &Path, name: &Path) -> PathBuf {
    match (is_remote(folder), folder.to_str(), name.to_str()) {
        // `Path::join` would insert a backslash on Windows.
        (true, Some(folder), Some(name)) => format!("{}/{name}", folder.trim_end_matches('/')).into(),
        _ => folder.join(name),
    }
}

/// Returns whether a path is a regular file or a remote name, which can be opened without waiting for a writer.
pub fn is_file_or_remote(path: &Path) -> bool {
    is_remote(path) || fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// Returns whether a file or a remote object exists.
///
/// # Errors
/// Returns an error if the server refuses the request or does not answer.
pub fn exists(path: &Path) -> io::Result<bool> {
    if !is_remote(path) {
        return Ok(path.exists());
    }
    match Object::state_at(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens a local file or a remote object for reading its bytes in order.
///
/// # Errors
/// Returns an error if it does not exist, or cannot be read.
pub fn open_bytes(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    match is_remote(path) {
        true => Ok(Box::new(Object::open(path)?.into_reader())),
        false => Ok(Box::new(File::open(path)?)),
    }
}

#[cfg(test)]
mod name_tests {
    use super::*;

    #[test]
    fn remote_names_are_recognized_and_joined() {
        for (name, remote, folder, plain, joined) in [
            ("s3://b/k?x", true, false, "s3://b/k?x", "s3://b/k?x/f"),
            ("s3://b/k/", true, true, "s3://b/k/", "s3://b/k/f"),
            ("HTTPS://h/a", true, false, "HTTPS://h/a", "HTTPS://h/a/f"),
            ("https://h/a.csv?sig=1/", true, true, "https://h/a.csv", "https://h/a.csv?sig=1/f"),
            ("https://h/a.csv#x", true, false, "https://h/a.csv", "https://h/a.csv#x/f"),
            ("ftp://h/a?x", false, false, "ftp://h/a?x", "ftp://h/a?x/f"),
            ("data?x", false, false, "data?x", "data?x/f"),
            ("s3:/b", false, false, "s3:/b", "s3:/b/f"),
        ] {
            let path = Path::new(name);
            assert_eq!((is_remote(path), is_remote_folder(path)), (remote, folder), "{name}");
            assert_eq!(without_query(path).to_str(), Some(plain));
            assert_eq!(join(path, Path::new("f")), Path::new(joined));
        }
    }

    #[test]
    #[cfg(not(feature = "stores"))]
    fn a_build_without_stores_says_so() {
        let error = crate::open::Input::open("s3://bucket/urls.csv".as_ref()).err().map(|error| error.to_string());
        assert!(
            error.is_some_and(|text| text.starts_with("s3://bucket/urls.csv: this build reads and writes only local"))
        );
        assert!(exists("s3://bucket/urls.csv".as_ref()).is_err());
    }
}
