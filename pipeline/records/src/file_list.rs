//! Lists of file names: a name on each line, or names that end with NUL, as `find -print0` writes them.
//!
//! Names are taken literally: there are no patterns and no comments. They are relative to the working folder. Empty
//! lines are skipped, and one CR before a line end is removed. A list with a NUL has no lines, so that its names may
//! contain any other character.
//!
//! ```
//! use reptile_records::{file_list::names, place::Place};
//!
//! let folder = tempfile::tempdir()?;
//! let paths = ["a 1.warc.gz", "b.warc.gz"].map(|name| folder.path().join(name));
//! for path in &paths {
//!     std::fs::write(path, "")?;
//! }
//! let file = folder.path().join("list.txt");
//! let list = Place::from(&file);
//! std::fs::write(&file, format!("{}\n{}\n", paths[0].display(), paths[1].display()))?;
//! assert_eq!(names(&list)?, paths.map(Place::from));
//!
//! std::fs::write(&file, "missing.warc.gz\n")?;
//! let error = names(&list).err().map(|error| error.to_string()).unwrap_or_default();
//! assert!(error.contains("line 1: missing.warc.gz: "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

use crate::detect::Content;
use crate::open::Input;
use crate::place::Place;
use crate::shown::shown;
use crate::{Error, Result};

/// Maximum length of a list of file names in bytes, for about half a million names. A longer list is an error.
pub const MAX_FILE_LIST_BYTES: usize = 64 << 20;

/// Reads the names in a list. `-` is standard input. The list may be compressed.
///
/// # Errors
/// Returns an error if the list is unreadable, is not text, names no file, or exceeds [`MAX_FILE_LIST_BYTES`]; or if a
/// named file does not exist. The error gives the name's line, or its number in a list with NUL.
pub fn names(list: &Place) -> Result<Vec<Place>> {
    let shown_list = list.as_input();
    let fail = |text: String| Error::at(&shown_list, text);
    let input = Input::open(list)?;
    // NUL between short names looks like binary data.
    if !matches!(input.content, Content::Text | Content::Empty | Content::Binary("binary data")) {
        return Err(fail(format!("is {}, not a list of file names", input.content.describe())));
    }
    let bytes = read(input.into_source(), MAX_FILE_LIST_BYTES).map_err(|fault| match fault {
        ListFault::Unreadable(error) => Error::io(&shown_list, error),
        ListFault::TooLong(limit) => fail(format!("has more than {limit} bytes, the limit for a list of file names")),
    })?;
    let mut paths = Vec::new();
    for (position, name) in split(&bytes) {
        let fail = |text: &str| fail(format!("{position}: {}: {text}", shown(name)));
        let path = Place::from(name_of(name).ok_or_else(|| fail("is not UTF-8, which this system requires"))?);
        if list.is_standard() && name == b"-" {
            return Err(fail("standard input is the list, so it cannot be an input too"));
        }
        // A remote name is checked when it is opened.
        let is_file = name != b"-" && memchr::memmem::find(name, b"://").is_none();
        if is_file && let Some(Err(error)) = path.local().map(Path::symlink_metadata) {
            return Err(fail(&error.to_string()));
        }
        paths.push(path);
    }
    if paths.is_empty() { Err(fail("names no file; expected a file name on each line".into())) } else { Ok(paths) }
}

/// The reason why a list cannot be read.
#[derive(Debug)]
enum ListFault {
    Unreadable(std::io::Error),
    /// The limit in bytes.
    TooLong(usize),
}

/// Reads at most `limit` bytes.
fn read(source: impl Read, limit: usize) -> std::result::Result<Vec<u8>, ListFault> {
    let mut bytes = Vec::new();
    source.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(ListFault::Unreadable)?;
    if bytes.len() > limit { Err(ListFault::TooLong(limit)) } else { Ok(bytes) }
}

/// Returns the names, each with its place for messages.
fn split(bytes: &[u8]) -> impl Iterator<Item = (String, &[u8])> {
    let has_nul = memchr::memchr(0, bytes).is_some();
    let (separator, what) = if has_nul { (0, "name") } else { (b'\n', "line") };
    let mark = if has_nul { &b""[..] } else { b"\xef\xbb\xbf" };
    let bytes = bytes.strip_prefix(mark).unwrap_or(bytes);
    let whole = move |name: &'_ [u8]| if has_nul { name.len() } else { name.strip_suffix(b"\r").unwrap_or(name).len() };
    let names = bytes.split(move |&byte| byte == separator).enumerate();
    let names = names.map(move |(at, name)| (at, &name[..whole(name)])).filter(|(_, name)| !name.is_empty());
    names.map(move |(at, name)| (format!("{what} {}", at + 1), name))
}

/// Returns a file name, or `None` if the system does not support it.
#[cfg(unix)]
fn name_of(name: &[u8]) -> Option<&OsStr> {
    Some(std::os::unix::ffi::OsStrExt::from_bytes(name))
}

/// Returns a file name, or `None` if the system does not support it.
#[cfg(not(unix))]
fn name_of(name: &[u8]) -> Option<&OsStr> {
    std::str::from_utf8(name).ok().map(OsStr::new)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_line_ends_or_nuls() {
        let cases: [(&[u8], &str); 10] = [
            (b"a\nb\n", "line 1=a|line 2=b"),
            (b"a\r\nb c", "line 1=a|line 2=b c"),
            (b"\n\na\n\n", "line 3=a"),
            (b"\xef\xbb\xbfa\n", "line 1=a"),
            (b"#a\n a\n*.gz\n", "line 1=#a|line 2= a|line 3=*.gz"),
            (b"a\0b\nc\0", "name 1=a|name 2=b\nc"),
            (b"a\r\0b", "name 1=a\r|name 2=b"),
            (b"\0\0a", "name 3=a"),
            (b"", ""),
            (b"\n", ""),
        ];
        for (bytes, expected) in cases {
            let names = split(bytes).map(|(place, name)| format!("{place}={}", String::from_utf8_lossy(name)));
            assert_eq!(names.collect::<Vec<_>>().join("|"), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn length_is_limited() {
        for (len, is_read) in [(7, true), (8, true), (9, false)] {
            assert_eq!(read(&vec![b'a'; len][..], 8).is_ok(), is_read, "{len}");
        }
    }

    #[test]
    fn errors_name_the_list_and_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        let here = list.display().to_string();
        for (bytes, expected) in [
            (format!("{here}\nno-such-file\n").into_bytes(), "line 2: no-such-file: "),
            (format!("{here}\0no-such-file\0").into_bytes(), "name 2: no-such-file: "),
            (b"".to_vec(), "names no file"),
            (b"\n\n".to_vec(), "names no file"),
            (b"WARC/1.0\r\n".to_vec(), "is a WARC file, not a list of file names"),
        ] {
            std::fs::write(&list, &bytes).unwrap();
            let error = names(&Place::from(&list)).unwrap_err().to_string();
            assert!(error.starts_with(&here) && error.contains(expected), "{error}");
        }
        std::fs::write(&list, format!("{here}\n-\ns3://bucket/key.gz\n")).unwrap();
        assert_eq!(names(&Place::from(&list)).unwrap(), [list.into(), "-".into(), "s3://bucket/key.gz".into()]);
    }
}
