//! Names of inputs and outputs: local paths, and URLs of objects in a store or on a web server.
//!
//! A [`Place`] is made once, where a name is given: as an argument, or in a list of names. Its scheme, one of
//! [`SCHEMES`], makes it remote.
//!
//! ```
//! use std::io::Read;
//!
//! use reptile_records::place::Place;
//!
//! let folder = tempfile::tempdir()?;
//! let file = Place::from(folder.path()).join("urls.txt".as_ref());
//! std::fs::write(folder.path().join("urls.txt"), "https://example.com/")?;
//! let mut text = String::new();
//! file.open()?.read_to_string(&mut text)?;
//! assert_eq!(text, "https://example.com/");
//!
//! let object = Place::from("s3://bucket/crawl/").join("urls.csv".as_ref());
//! assert_eq!(object, Place::Remote("s3://bucket/crawl/urls.csv".into()));
//! assert_eq!(Place::from("https://example.com/urls.csv?sig=1").extension(), Some("csv".as_ref()));
//! # Ok::<(), std::io::Error>(())
//! ```

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::redacted::redacted;
use crate::stores::Object;

/// The schemes of remote names.
pub const SCHEMES: [&str; 10] = ["s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "https", "http"];

/// The name of an input or output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A path in the file system. `-` is standard input or standard output.
    Local(PathBuf),
    /// The URL of an object as it was given. Its scheme is one of [`SCHEMES`].
    Remote(String),
}

impl Place {
    /// Returns the place for `-`: standard input or standard output.
    #[must_use]
    pub fn standard() -> Place {
        Place::Local("-".into())
    }

    /// Returns whether this is `-`: standard input or standard output.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        self.as_os_str() == "-"
    }

    /// Returns whether this is an object, not a local file.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        matches!(self, Place::Remote(_))
    }

    /// Returns whether this is a folder of objects: its URL ends in a slash.
    #[must_use]
    pub fn is_remote_folder(&self) -> bool {
        matches!(self, Place::Remote(url) if url.ends_with('/'))
    }

    /// Returns the path, if it is local.
    #[must_use]
    pub fn local(&self) -> Option<&Path> {
        match self {
            Place::Local(path) => Some(path),
            Place::Remote(_) => None,
        }
    }

    /// Returns the name as it was given.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        match self {
            Place::Local(path) => path.as_os_str(),
            Place::Remote(url) => OsStr::new(url),
        }
    }

    /// Returns the name for records that later runs compare. It may contain credentials.
    #[must_use]
    pub fn display(&self) -> std::path::Display<'_> {
        Path::new(self.as_os_str()).display()
    }

    /// Returns the name for messages and records, without credentials.
    #[must_use]
    pub fn shown(&self) -> String {
        redacted(&self.as_os_str().to_string_lossy()).into_owned()
    }

    /// Returns the place that messages about an input name: `standard input` for `-`.
    #[must_use]
    pub fn as_input(&self) -> Place {
        if self.is_standard() { Place::Local("standard input".into()) } else { self.clone() }
    }

    /// Returns the last part of the name. The query and the fragment of a web resource are not part of its name.
    #[must_use]
    pub fn file_name(&self) -> Option<&OsStr> {
        self.without_query().file_name()
    }

    /// Returns the file name's extension.
    #[must_use]
    pub fn extension(&self) -> Option<&OsStr> {
        self.without_query().extension()
    }

    fn without_query(&self) -> &Path {
        match self {
            Place::Local(path) => path,
            Place::Remote(url) if url.starts_with("http") => Path::new(url.split(['?', '#']).next().unwrap_or(url)),
            Place::Remote(url) => Path::new(url),
        }
    }

    /// Returns the place of a file in this folder.
    #[must_use]
    pub fn join(&self, name: &Path) -> Place {
        match (self, name.to_str()) {
            // `Path::join` would insert a backslash on Windows.
            (Place::Remote(url), Some(name)) => Place::Remote(format!("{}/{name}", url.trim_end_matches('/'))),
            _ => Place::from(Path::new(self.as_os_str()).join(name)),
        }
    }

    /// Returns the place with another file name in the same folder.
    #[must_use]
    pub fn with_file_name(&self, name: impl AsRef<OsStr>) -> Place {
        Place::from(Path::new(self.as_os_str()).with_file_name(name))
    }

    /// Returns a local file's or folder's metadata.
    ///
    /// # Errors
    /// Returns an error if there is none, or if the place is remote.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.local().ok_or(ErrorKind::Unsupported)?.metadata()
    }

    /// Returns whether this is a local folder.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.metadata().is_ok_and(|found| found.is_dir())
    }

    /// Returns whether this is a local pipe or device.
    #[must_use]
    pub fn is_special(&self) -> bool {
        self.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
    }

    /// Returns whether this is a regular file or an object, which can be opened without waiting for a writer.
    #[must_use]
    pub fn is_file_or_remote(&self) -> bool {
        self.is_remote() || self.metadata().is_ok_and(|found| found.is_file())
    }

    /// Returns whether the file, the folder or the object exists.
    ///
    /// # Errors
    /// Returns an error if the server refuses the request or does not answer.
    pub fn exists(&self) -> io::Result<bool> {
        match self {
            Place::Local(path) => Ok(path.exists()),
            Place::Remote(url) => match Object::state_at(url) {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
            },
        }
    }

    /// Opens a local file or an object for reading its bytes in order.
    ///
    /// # Errors
    /// Returns an error if it does not exist, or cannot be read.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Place::Local(path) => Ok(Box::new(File::open(path)?)),
            Place::Remote(url) => Ok(Box::new(Object::open(url)?.into_reader())),
        }
    }
}

/// Returns the URL if a name's scheme is one of [`SCHEMES`].
fn url_of(name: &OsStr) -> Option<&str> {
    let name = name.to_str()?;
    let (scheme, _) = name.split_once("://")?;
    SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)).then_some(name)
}

impl Default for Place {
    /// Returns the empty name, which no file has.
    fn default() -> Place {
        Place::Local(PathBuf::new())
    }
}

impl From<&OsStr> for Place {
    fn from(name: &OsStr) -> Place {
        url_of(name).map_or_else(|| Place::Local(name.into()), |url| Place::Remote(url.into()))
    }
}

impl From<OsString> for Place {
    fn from(name: OsString) -> Place {
        Place::from(&*name)
    }
}

impl From<&str> for Place {
    fn from(name: &str) -> Place {
        Place::from(OsStr::new(name))
    }
}

impl From<String> for Place {
    fn from(name: String) -> Place {
        Place::from(&*name)
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Place {
        Place::from(path.as_os_str())
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Place {
        Place::from(&*path)
    }
}

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Place {
        Place::from(&**path)
    }
}

impl From<&Place> for Place {
    fn from(place: &Place) -> Place {
        place.clone()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_known_scheme_are_remote() {
        let cases = [
            ("s3://b/k?x", true, false, "k?x", "s3://b/k?x/f"),
            ("s3://b/k/", true, true, "k", "s3://b/k/f"),
            ("HTTPS://h/a", true, false, "a", "HTTPS://h/a/f"),
            ("https://h/a.csv?sig=1/", true, true, "a.csv", "https://h/a.csv?sig=1/f"),
            ("https://h/a.csv#x", true, false, "a.csv", "https://h/a.csv#x/f"),
            ("ftp://h/a?x", false, false, "a?x", "ftp://h/a?x/f"),
            ("data?x", false, false, "data?x", "data?x/f"),
            ("s3:/b", false, false, "b", "s3:/b/f"),
        ];
        for (name, remote, folder, file_name, joined) in cases {
            let place = Place::from(name);
            assert_eq!((place.is_remote(), place.is_remote_folder()), (remote, folder), "{name}");
            assert_eq!(place.as_os_str(), name);
            assert_eq!(place.file_name().unwrap(), file_name);
            assert_eq!(place.join(Path::new("f")), Place::from(joined));
        }
    }

    #[test]
    #[cfg(not(feature = "stores"))]
    fn a_build_without_stores_says_so() {
        let error = crate::open::Input::open("s3://bucket/urls.csv").err().map(|error| error.to_string());
        assert!(
            error.is_some_and(|text| text.starts_with("s3://bucket/urls.csv: this build reads and writes only local"))
        );
        assert!(Place::from("s3://bucket/urls.csv").exists().is_err());
    }
}
