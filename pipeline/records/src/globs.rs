//! Expands wildcards in input names that the shell has not expanded, because they were quoted or matched too many
//! files.
//!
//! `*`, `?`, `[...]` and `**` have the same meaning as in a shell, and do not match hidden files. A name that exists is
//! used as it is, even if it contains wildcards.
//!
//! ```
//! use reptile_records::{globs::expand, place::Place};
//!
//! let folder = tempfile::tempdir()?;
//! for name in ["b.warc.gz", "a.warc.gz", "notes.txt"] {
//!     std::fs::write(folder.path().join(name), "")?;
//! }
//! let folder = Place::from(folder.path());
//! let places = expand(&[folder.join("*.warc.gz".as_ref())])?;
//! assert_eq!(places, ["a.warc.gz", "b.warc.gz"].map(|name| folder.join(name.as_ref())));
//! assert!(expand(&[folder.join("*.csv".as_ref())]).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::{Path, PathBuf};

use glob::{MatchOptions, glob_with};

use crate::place::Place;
use crate::{Error, Result, stores};

/// Match options that correspond to shell behavior.
pub(crate) const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// Replaces each pattern with the matching names in alphabetical order.
///
/// # Errors
/// Returns an error if a pattern is invalid or matches nothing, or if a folder is unreadable.
pub fn expand(places: &[Place]) -> Result<Vec<Place>> {
    let mut expanded = Vec::with_capacity(places.len());
    for place in places {
        match place {
            Place::Remote(url) => {
                let urls = stores::expand(url).map_err(|error| Error::io(place, error))?;
                expanded.extend(urls.into_iter().map(Place::Remote));
            }
            Place::Local(path) => match pattern_of(path) {
                Some(pattern) => expanded.extend(matches(path, pattern)?.into_iter().map(Place::Local)),
                None => expanded.push(place.clone()),
            },
        }
    }
    Ok(expanded)
}

/// Returns the path as a pattern, if it contains wildcards and does not exist.
pub(crate) fn pattern_of(path: &Path) -> Option<&str> {
    let pattern = path.to_str().filter(|path| path.contains(['*', '?', '[']))?;
    path.symlink_metadata().is_err().then_some(pattern)
}

pub(crate) fn matches(path: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let found = glob_with(pattern, OPTIONS);
    let found = found.map_err(|error| Error::at(path, format!("is not a pattern for names: {error}")))?;
    let found: std::result::Result<Vec<PathBuf>, _> = found.collect();
    let found = found.map_err(|error| Error::at(error.path(), error.error()))?;
    if found.is_empty() {
        return Err(Error::at(path, "no such file, and no file matches this pattern"));
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.gz", "b.gz", "c.txt", ".hidden.gz", "[x].gz", "sub/d.gz"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let names = |patterns: &[&str]| {
            let places: Vec<Place> = patterns.iter().map(|pattern| folder.path().join(pattern).into()).collect();
            let found = expand(&places).ok()?;
            let name = |place: &Place| {
                place.local().unwrap().strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned()
            };
            Some(found.iter().map(name).collect::<Vec<_>>().join(" "))
        };
        for (patterns, expected) in [
            (&["*.gz"][..], Some("[x].gz a.gz b.gz")),
            (&["c.txt", "?.gz", "a.gz"], Some("c.txt a.gz b.gz a.gz")),
            (&["[ab].gz"], Some("a.gz b.gz")),
            // A name that exists is not a pattern.
            (&["[x].gz"], Some("[x].gz")),
            (&["**/*.gz"], Some("[x].gz a.gz b.gz sub/d.gz")),
            (&["*/*.gz"], Some("sub/d.gz")),
            (&["missing"], Some("missing")),
            (&["*.zip"], None),
            (&["[a.gz"], None),
            (&["a***"], None),
        ] {
            assert_eq!(names(patterns).as_deref(), expected, "{patterns:?}");
        }
    }
}
