//! The reservations in a website's file `/.well-known/tdmrep.json`: [`TdmFile`].

use reptile_engine::norm::{NormalForm, Pattern};
use reptile_engine::url::path_of;

/// A website's file `/.well-known/tdmrep.json` (TDMRep): locations, and whether the rights to them are reserved.
///
/// A location is a pattern as in robots.txt: `*` matches any text, and a final `$` the end. If several rules match, the
/// first decides. The caller parses the JSON, and asks only about pages of the file's website.
///
/// ```
/// use reptile::rights::TdmFile;
/// let file = TdmFile::new([("/open/", false), ("/*.pdf$", true)]);
/// assert_eq!(file.reserves("https://example.com/open/a.pdf"), Some(false));
/// assert_eq!(file.reserves("https://example.com/a.pdf"), Some(true));
/// assert_eq!(file.reserves("https://example.com/a.pdf?b"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TdmFile {
    /// Patterns in the normal form [`FORM`], and whether rights are reserved.
    rules: Vec<(Box<[u8]>, bool)>,
}

/// Escaped letters are compared as letters, as in RFC 9309, section 2.2.2.
const FORM: NormalForm = NormalForm::Decoded;

impl TdmFile {
    /// Creates a file with these locations, in this order.
    pub fn new<L: AsRef<[u8]>>(rules: impl IntoIterator<Item = (L, bool)>) -> TdmFile {
        let rules =
            rules.into_iter().map(|(location, is_reserved)| (FORM.pattern(location.as_ref()).into(), is_reserved));
        TdmFile { rules: rules.collect() }
    }

    /// Returns whether the rights to a page are reserved, or `None` if no location matches its URL.
    ///
    /// Takes time linear in the URL for each rule, and in the locations.
    #[must_use]
    pub fn reserves(&self, url: impl AsRef<[u8]>) -> Option<bool> {
        path_of(url.as_ref()).with(|path| {
            let path = FORM.path(path);
            let first = self.rules.iter().find(|(location, _)| Pattern::new(location).matches(&path));
            first.map(|(_, is_reserved)| *is_reserved)
        })
    }

    /// Returns the size of the rules in memory, in bytes.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        size_of_val(&*self.rules) + self.rules.iter().map(|(location, _)| location.len()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_location_that_matches_decides() {
        let file = TdmFile::new([
            ("/a/$", false),
            ("/a/*.html$", false),
            ("/a", true),
            ("/%7Euser/", true),
            ("https://example.com/b", true),
            ("/é", true),
            ("/c?d", false),
        ]);
        let mut cases = 0;
        for (path, expected) in [
            ("/a/", Some(false)),
            ("/a/b.html", Some(false)),
            ("/a/b.html?c", Some(true)),
            ("/a/c", Some(true)),
            ("/abc", Some(true)),
            ("/A", None),
            ("/~user/x", Some(true)),
            ("/%7euser/x", Some(true)),
            ("/b", None),
            ("/%C3%A9", Some(true)),
            ("/c?d=e", Some(false)),
            ("/c", None),
            ("", None),
        ] {
            assert_eq!(file.reserves(format!("https://example.com{path}")), expected, "{path}");
            cases += 1;
        }
        assert_eq!(cases, 13);
        assert_eq!(TdmFile::default().reserves("https://example.com/"), None);
        assert_eq!(TdmFile::new([("*", true)]).reserves("https://example.com"), Some(true));
    }
}
