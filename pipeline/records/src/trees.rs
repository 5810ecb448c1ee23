//! Lists in folders, and the names of their outputs in another folder.
//!
//! A folder means every file below it, as in Spark and pyarrow: hidden names and names that begin with `_`, such as
//! `_SUCCESS`, are skipped, except for partitions such as `_day=3`. An output keeps its path below the folder, or below
//! the part of a pattern before its first wildcard, so that Hive partitions (`crawl=2026-03/part-0.parquet`) stay in
//! their folders.
//!
//! ```
//! use reptile_records::trees::named_files;
//!
//! let folder = tempfile::tempdir()?;
//! for name in ["crawl=1/part-0.csv", "crawl=2/part-0.csv", "crawl=2/_SUCCESS"] {
//!     let path = folder.path().join(name);
//!     std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
//!     std::fs::write(path, "")?;
//! }
//! for argument in [folder.path().to_path_buf(), folder.path().join("**/*.csv")] {
//!     let names: Vec<_> = named_files(&[argument.into()])?.into_iter().map(|file| file.name).collect();
//!     assert_eq!(names, ["crawl=1/part-0.csv", "crawl=2/part-0.csv"].map(std::path::PathBuf::from));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::globs::{matches, pattern_of};
use crate::place::Place;
use crate::{Error, Result, stores};

/// A file, and the relative path that names its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The file.
    pub path: Place,
    /// The path below the folder or the fixed part of the pattern that led to it, or else the file name.
    pub name: PathBuf,
}

/// Replaces each pattern with its matches, and each folder with the files below it, in the order of their paths.
///
/// # Errors
/// Returns an error if a pattern is invalid or matches nothing, or if a folder is unreadable or has no file.
pub fn named_files(places: &[Place]) -> Result<Vec<NamedFile>> {
    let mut files = Vec::with_capacity(places.len());
    for place in places {
        let path = match place {
            Place::Local(path) => path,
            Place::Remote(url) => {
                files.append(&mut remote_files(place, url)?);
                continue;
            }
        };
        let Some(pattern) = pattern_of(path) else {
            add(path, Path::new(path.file_name().unwrap_or_default()), true, &mut files)?;
            continue;
        };
        let mut found = Vec::new();
        for path in matches(path, pattern)? {
            let name = below_fixed_part(&path, pattern);
            add(&path, &name, false, &mut found)?;
        }
        // A pattern with `**` matches a folder and its contents.
        found.sort_by(|a, b| a.path.local().cmp(&b.path.local()));
        found.dedup_by(|a, b| a.path == b.path);
        if found.is_empty() {
            return Err(Error::at(path, "matches only folders without files"));
        }
        files.append(&mut found);
    }
    Ok(files)
}

/// Returns a remote object, or the objects that match a pattern or are in a folder, in the order of their names.
fn remote_files(place: &Place, url: &str) -> Result<Vec<NamedFile>> {
    let fail = |error| Error::io(place, error);
    let is_folder = place.is_remote_folder();
    let found = if is_folder { stores::list(url) } else { stores::expand(url) }.map_err(fail)?;
    if found == [url] {
        return Ok(vec![NamedFile { path: place.clone(), name: place.file_name().unwrap_or_default().into() }]);
    }
    let fixed_len = url.find(['*', '?', '[']).filter(|_| !is_folder).unwrap_or(url.len());
    let fixed_len = url[..fixed_len].rfind('/').map_or(0, |at| at + 1);
    let mut files = Vec::with_capacity(found.len());
    for url in found {
        if let Some(name) = remote_name(&url, fixed_len)? {
            files.push(NamedFile { path: Place::Remote(url), name });
        }
    }
    match files.is_empty() {
        true => Err(Error::at(place, "is a folder without files; names that begin with . or _ are skipped")),
        false => Ok(files),
    }
}

/// Returns the part of an object's name after its first bytes, or `None` if the object is skipped.
///
/// # Errors
/// Returns an error if an output with that name would not be in its folder.
fn remote_name(url: &str, fixed_len: usize) -> Result<Option<PathBuf>> {
    let name = PathBuf::from(url.get(fixed_len..).unwrap_or(url));
    if name.components().any(|part| is_skipped(part.as_os_str())) {
        return Ok(None);
    }
    if !name.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Error::at(url, "has an empty part in its name; no output can be named after it"));
    }
    Ok(Some(name))
}

/// Adds a file with its name, or the files in a folder. If the folder is an argument, their names leave out its name.
fn add(path: &Path, name: &Path, is_argument: bool, files: &mut Vec<NamedFile>) -> Result<()> {
    if !path.is_dir() {
        files.push(NamedFile { path: path.into(), name: name.into() });
        return Ok(());
    }
    let before = files.len();
    add_folder(path, if is_argument { Path::new("") } else { name }, files)?;
    if is_argument && files.len() == before {
        return Err(Error::at(path, "is a folder without files; names that begin with . or _ are skipped"));
    }
    Ok(())
}

/// Adds the files below a folder, in the order of their paths.
fn add_folder(folder: &Path, name: &Path, files: &mut Vec<NamedFile>) -> Result<()> {
    let fail = |error| Error::io(folder, error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        entries.push((entry.file_name(), entry.file_type().map_err(fail)?.is_dir()));
    }
    entries.sort_unstable();
    for (entry, is_folder) in &entries {
        let path = folder.join(entry);
        if is_skipped(entry) {
            continue;
        }
        // A link to a folder could form a cycle. A link to a file counts as the file.
        if *is_folder {
            add_folder(&path, &name.join(entry), files)?;
        } else if !path.is_dir() {
            files.push(NamedFile { path: path.into(), name: name.join(entry) });
        }
    }
    Ok(())
}

/// Returns whether a name in a folder is not data.
fn is_skipped(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".") || (name.starts_with(b"_") && !name.contains(&b'='))
}

/// Returns a match's path below the part of the pattern before its first wildcard.
fn below_fixed_part(path: &Path, pattern: &str) -> PathBuf {
    let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    // A match may lack the `.` that the pattern begins with.
    let parts = |path: &Path| -> Vec<std::ffi::OsString> {
        path.components().filter(|part| *part != Component::CurDir).map(|part| part.as_os_str().to_owned()).collect()
    };
    let fixed: PathBuf = Path::new(pattern).components().take_while(is_plain).collect();
    let (fixed, all) = (parts(&fixed), parts(path));
    let name: PathBuf = all.strip_prefix(&fixed[..]).unwrap_or_default().iter().collect();
    let is_below = name.components().all(|part| matches!(part, Component::Normal(_)));
    if is_below && !name.as_os_str().is_empty() { name } else { path.file_name().unwrap_or_default().into() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects_stay_in_the_output_folder() {
        for (object, expected) in [
            ("s3://b/d/x.csv", Ok(Some("x.csv"))),
            ("s3://b/d/e/x.csv", Ok(Some("e/x.csv"))),
            ("s3://b/d/_SUCCESS", Ok(None)),
            ("s3://b/d/.x.csv.made.json", Ok(None)),
            ("s3://b/d/../../x.csv", Ok(None)),
            ("s3://b/d/e/../../../x.csv", Ok(None)),
            ("s3://b/d//etc/x.csv", Err(())),
        ] {
            let found = remote_name(object, "s3://b/d/".len());
            assert_eq!(found.map_err(|_| ()), expected.map(|name| name.map(PathBuf::from)), "{object}");
        }
    }

    #[test]
    fn names_are_paths_below_the_folder_or_the_fixed_part() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "data/day=1/a.csv",
            "data/day=1/hour=2/b.csv",
            "data/day=1/_SUCCESS",
            "data/_temporary/c.csv",
            "data/_day=3/d.csv",
            "data/.hidden/e.csv",
            "data/.f.csv",
            "data/g.csv",
            "data/.g.csv.made.json",
            "empty/_SUCCESS",
            "x[1].csv",
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let all = "_day=3/d.csv day=1/a.csv day=1/hour=2/b.csv g.csv";
        for (arguments, expected) in [
            (&["data"][..], Ok(all)),
            (&["data/"], Ok(all)),
            (&["data/day=1", "data/g.csv"], Ok("a.csv hour=2/b.csv g.csv")),
            (&["data/**/*.csv"], Ok("_day=3/d.csv _temporary/c.csv day=1/a.csv day=1/hour=2/b.csv g.csv")),
            (&["data/day=1/*.csv"], Ok("a.csv")),
            (&["da*/g.csv"], Ok("data/g.csv")),
            // A matched folder means the files below it, once each.
            (&["data/day=*"], Ok("day=1/a.csv day=1/hour=2/b.csv")),
            (&["data/day=1/**"], Ok("hour=2/b.csv")),
            (&["x[1].csv", "missing"], Ok("x[1].csv missing")),
            (&["empty"], Err("is a folder without files")),
            (&["em*"], Err("matches only folders without files")),
            (&["none*"], Err("no file matches")),
        ] {
            let places: Vec<Place> = arguments.iter().map(|argument| folder.path().join(argument).into()).collect();
            let found = named_files(&places).map_err(|error| error.to_string());
            match expected {
                Ok(expected) => {
                    let names: Vec<String> =
                        found.unwrap().into_iter().map(|file| file.name.display().to_string()).collect();
                    assert_eq!(names.join(" "), expected, "{arguments:?}");
                }
                Err(expected) => assert!(found.unwrap_err().contains(expected), "{arguments:?}"),
            }
        }
        let odd = below_fixed_part(Path::new("a/../../b.csv"), "a/*/../b.csv");
        assert_eq!(odd, Path::new("b.csv"));
        assert_eq!(below_fixed_part(Path::new("a/x/b.csv"), "./a/*/b.csv"), Path::new("x/b.csv"));
    }
}
