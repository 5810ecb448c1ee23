//! Removes URL parameters that `Clean-param` lines declare irrelevant.
//!
//! [`CleanParam`] is one value; [`CleanParams`] applies all values of a file. Source: Yandex Webmaster help,
//! Clean-param (Yclean in `DIALECTS.md`), with our own choices where it is silent; `corpora/fields/clean-param.toml`
//! has the cases.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memchr;
use reptile_engine::norm::Pattern;
use reptile_engine::url::{path_at_any_origin, path_of};

use crate::body::directives::CleanParam;

/// The `Clean-param` values of one robots.txt. All of them count, anywhere in the file.
#[derive(Clone, Debug, Default)]
pub struct CleanParams {
    prefixes: Vec<Box<[u8]>>,
    /// For each parameter name, the indices of its prefixes.
    names: HashMap<Box<[u8]>, Vec<usize>>,
}

impl CleanParams {
    /// Parses values, and skips malformed ones. Takes as much memory as the values.
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

    /// Returns whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }

    /// Returns the URL without irrelevant parameters: the page's address.
    ///
    /// Splits the query at each `&`, removes the parameters whose name (the text before the first `=`) is listed with a
    /// prefix of the path, and joins the others in order. A `?` with nothing after it is removed too. Names and paths
    /// are compared as written, and the fragment stays. A URL without such parameters is returned unchanged.
    ///
    /// Time: linear in the path for each prefix listed with one of the URL's parameter names. Each prefix is tried
    /// once, however many parameters the URL has.
    #[must_use]
    pub fn clean<'u>(&self, url: &'u [u8]) -> Cow<'u, [u8]> {
        self.clean_counted(url).0
    }

    /// Cleans a URL like [`CleanParams::clean`], and also returns the number of names and prefixes that were looked up.
    fn clean_counted<'u>(&self, url: &'u [u8]) -> (Cow<'u, [u8]>, usize) {
        let end = memchr(b'#', url).unwrap_or(url.len());
        let Some(start) = memchr(b'?', &url[..end]).filter(|_| !self.is_empty()) else {
            return (Cow::Borrowed(url), 0);
        };
        let query = &url[start + 1..end];
        // Yandex documents URLs without a scheme. A text that begins with a slash is a path everywhere.
        let path = match &url[..start] {
            text @ [b'/', ..] => path_at_any_origin(text).map(|path| path.to_vec()).unwrap_or_default(),
            text => path_of(text).to_vec(),
        };
        // Cached results for prefixes and names, because a URL may repeat a name thousands of times.
        let mut fits: HashMap<usize, bool> = HashMap::new();
        let mut is_clean_name: HashMap<&[u8], bool> = HashMap::new();
        let mut steps = 0;
        let mut is_clean = |parameter: &'u [u8]| {
            let name = &parameter[..memchr(b'=', parameter).unwrap_or(parameter.len())];
            steps += 1;
            let Some(places) = self.names.get(name) else { return false };
            *is_clean_name.entry(name).or_insert_with(|| {
                places.iter().any(|&place| {
                    steps += 1;
                    let matches = || Pattern { text: &self.prefixes[place], anchored: false }.matches(&path);
                    *fits.entry(place).or_insert_with(matches)
                })
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
            return (Cow::Borrowed(url), steps);
        }
        let mut cleaned = url[..start].to_vec();
        if !kept.is_empty() {
            cleaned.push(b'?');
            cleaned.extend_from_slice(&kept.join(&b'&'));
        }
        cleaned.extend_from_slice(&url[end..]);
        (Cow::Owned(cleaned), steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A URL that repeats a parameter does not try its prefixes again.
    #[test]
    fn steps_are_linear_in_the_values_and_the_url() {
        for count in [500, 1000, 2000] {
            let values: Vec<String> = (0..count).map(|number| format!("sid /a*b{number}c")).collect();
            let params = CleanParams::new(values.iter().map(String::as_bytes));
            let url = format!("/axxb?{}", "sid&".repeat(count));
            let (clean, steps) = params.clean_counted(url.as_bytes());
            assert_eq!((&*clean, steps), (url.as_bytes(), 2 * count + 1));
            let names: Vec<String> = (0..count).map(|number| format!("p{number}")).collect();
            let params = CleanParams::new(names.iter().map(String::as_bytes));
            let url = format!("/axxb?{}", names.join("&"));
            let (clean, steps) = params.clean_counted(url.as_bytes());
            assert_eq!((&*clean, steps), (&b"/axxb"[..], 2 * count));
        }
    }
}
