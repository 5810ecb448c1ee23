//! Removes the parameters of a URL that `Clean-param` lines declare to change nothing.
//!
//! [`CleanParam`] is one value, [`CleanParams`] applies the values of a file. Source: Yandex Webmaster help,
//! Clean-param (Yclean in `DIALECTS.md`), with our choices where it is silent; `corpora/fields/clean-param.toml` has
//! the cases.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memchr;
use reptile_engine::norm::Pattern;
use reptile_engine::url::path_of;

use crate::body::directives::CleanParam;

/// The `Clean-param` values of one robots.txt. All of them count, wherever in the file they are.
#[derive(Clone, Debug, Default)]
pub struct CleanParams {
    prefixes: Vec<Box<[u8]>>,
    /// For each parameter name, the indices of its prefixes.
    names: HashMap<Box<[u8]>, Vec<usize>>,
}

impl CleanParams {
    /// Parses values, and leaves malformed ones out. Memory: as much as the values.
    ///
    /// ```
    /// use reptile_compiler::advice::clean_param::CleanParams;
    /// let params = CleanParams::new([&b"sid&sort /forum/*.php"[..], b"ref"]);
    /// let clean = |url: &str| String::from_utf8_lossy(&params.clean(url.as_bytes())).into_owned();
    /// assert_eq!(clean("http://a.example/forum/x.php?sid=1&t=2&ref#top"), "http://a.example/forum/x.php?t=2#top");
    /// assert_eq!(clean("http://a.example/shop?sid=1&ref=mail"), "http://a.example/shop?sid=1");
    /// ```
    pub fn new<'v>(values: impl IntoIterator<Item = &'v [u8]>) -> CleanParams {
        let mut params = CleanParams::default();
        for CleanParam { names, prefix } in values.into_iter().filter_map(CleanParam::parse) {
            for name in names {
                let places = params.names.entry(name.into()).or_default();
                if places.last() != Some(&params.prefixes.len()) {
                    places.push(params.prefixes.len());
                }
            }
            params.prefixes.push(prefix.into());
        }
        params
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }

    /// The URL without the parameters that change nothing: the address of the page.
    ///
    /// Splits the query at each `&`, removes the parameters whose name (the text before the first `=`) is in a value
    /// whose prefix the path begins with, and joins the rest in its order. A `?` with nothing after it is removed too.
    /// Names and paths are compared as they are written, and the fragment stays. A URL without such a parameter stays as
    /// it is.
    ///
    /// Time: linear in the URL, once for each prefix that a value gives for the name of one of the URL's parameters.
    #[must_use]
    pub fn clean<'u>(&self, url: &'u [u8]) -> Cow<'u, [u8]> {
        let end = memchr(b'#', url).unwrap_or(url.len());
        let Some(start) = memchr(b'?', &url[..end]).filter(|_| !self.is_empty()) else { return Cow::Borrowed(url) };
        let query = &url[start + 1..end];
        let path = path_of(&url[..start]).to_vec();
        let mut known: HashMap<usize, bool> = HashMap::new();
        let mut is_clean = |parameter: &[u8]| {
            let name = &parameter[..memchr(b'=', parameter).unwrap_or(parameter.len())];
            let mut places = self.names.get(name).into_iter().flatten();
            places.any(|&place| {
                *known
                    .entry(place)
                    .or_insert_with(|| Pattern { text: &self.prefixes[place], anchored: false }.matches(&path))
            })
        };
        let mut kept: Vec<&[u8]> = Vec::new();
        let mut any_removed = false;
        for parameter in query.split(|&byte| byte == b'&') {
            if is_clean(parameter) {
                any_removed = true;
            } else {
                kept.push(parameter);
            }
        }
        if !any_removed {
            return Cow::Borrowed(url);
        }
        let mut cleaned = url[..start].to_vec();
        if !kept.is_empty() {
            cleaned.push(b'?');
            cleaned.extend_from_slice(&kept.join(&b'&'));
        }
        cleaned.extend_from_slice(&url[end..]);
        Cow::Owned(cleaned)
    }
}
