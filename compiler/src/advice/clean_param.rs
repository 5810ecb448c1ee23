//! `Clean-param`: which parameters of a URL change nothing, and the URL without them.
//!
//! [`CleanParam`] reads one value, [`CleanParams`] applies those of a file. Source: Yandex Webmaster help, Clean-param
//! (Yclean in `DIALECTS.md`), with our choices where it is silent; `corpora/fields/clean-param.toml` has the cases.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memchr;
use reptile_engine::norm::Pattern;
use reptile_engine::url::path_of;

use crate::limits::MAX_CLEAN_PARAM_BYTES;

/// A `Clean-param` value: `name[&name...] [prefix]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanParam<'v> {
    /// The names of parameters. Letter case matters.
    pub names: Vec<&'v [u8]>,
    /// What the path must begin with, where each `*` is any run of bytes. Empty for all paths.
    pub prefix: &'v [u8],
}

impl<'v> CleanParam<'v> {
    /// Reads a value. `None` if it is longer than [`MAX_CLEAN_PARAM_BYTES`], names no parameter, has a third word, or
    /// a prefix with other bytes than letters, digits and `.-/*_`.
    #[must_use]
    pub fn parse(value: &'v [u8]) -> Option<CleanParam<'v>> {
        if value.len() > MAX_CLEAN_PARAM_BYTES {
            return None;
        }
        let mut words = value.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let (names, prefix) = (words.next()?, words.next().unwrap_or_default());
        let names: Vec<&[u8]> = names.split(|&byte| byte == b'&').filter(|name| !name.is_empty()).collect();
        let in_prefix = |byte: &u8| byte.is_ascii_alphanumeric() || b".-/*_".contains(byte);
        let fits = words.next().is_none() && !names.is_empty() && prefix.iter().all(in_prefix);
        fits.then_some(CleanParam { names, prefix })
    }
}

/// The `Clean-param` values of one robots.txt. All of them count, wherever they stand.
#[derive(Clone, Debug, Default)]
pub struct CleanParams {
    prefixes: Vec<Box<[u8]>>,
    /// For each name the places of its prefixes.
    names: HashMap<Box<[u8]>, Vec<usize>>,
}

impl CleanParams {
    /// Those of some values that can be read; others are left out. Memory: as much as the values.
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

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }

    /// The URL without the parameters that change nothing: the address of the page.
    ///
    /// Splits the query at each `&`, leaves out what has a name (the text in front of the first `=`) of a value whose
    /// prefix the path begins with, and joins the rest in its order. A `?` behind which nothing is left goes too. Names
    /// and paths are compared as they are written, and the fragment stays. Where nothing is left out the URL stays
    /// as it is.
    ///
    /// Time: linear in the URL for each prefix that stands beside one of its parameters' names.
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
        let mut any_left_out = false;
        for parameter in query.split(|&byte| byte == b'&') {
            if is_clean(parameter) {
                any_left_out = true;
            } else {
                kept.push(parameter);
            }
        }
        if !any_left_out {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_a_value_holds_at_its_edges() {
        for (len, fits) in
            [(MAX_CLEAN_PARAM_BYTES - 1, true), (MAX_CLEAN_PARAM_BYTES, true), (MAX_CLEAN_PARAM_BYTES + 1, false)]
        {
            assert_eq!(CleanParam::parse(&vec![b'a'; len]).is_some(), fits, "{len}");
        }
    }
}
