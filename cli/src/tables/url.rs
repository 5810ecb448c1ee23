//! The `--url` option: the column of URLs, or the columns of their parts.

use reptile_records::tables::address::PartNames;

/// The columns of URLs, as the user names them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UrlColumns {
    /// The column of whole URLs. Without it, and without parts, it is found.
    pub whole: Option<String>,
    /// The columns of URLs' parts.
    pub parts: PartNames,
    /// The scheme that a template gives to every URL.
    pub scheme: Option<&'static str>,
}

/// The message about a malformed template.
const EXPECTED: &str = "expected a column, or columns in braces such as '{scheme}://{host}:{port}{path}?{query}'; the \
                        scheme may also be written as https://, or be left out with --scheme, and so may port, path and \
                        query be left out";

impl UrlColumns {
    /// Parses a column's name, or a template of columns' names in braces.
    ///
    /// # Errors
    /// Returns an error if a template is malformed.
    pub fn parse(text: &str) -> Result<UrlColumns, String> {
        if !text.contains(['{', '}']) {
            return Ok(UrlColumns { whole: Some(text.to_owned()), ..UrlColumns::default() });
        }
        if let Some(name) = column_of(text) {
            return Ok(UrlColumns { whole: Some(name.to_owned()), ..UrlColumns::default() });
        }
        let (scheme, mut rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, text),
        };
        let (fixed, scheme) = match scheme {
            None => (None, None),
            Some("http") => (Some("http"), None),
            Some("https") => (Some("https"), None),
            Some("ftp") => (Some("ftp"), None),
            Some(column) => (None, Some(column_of(column).ok_or(EXPECTED)?.to_owned())),
        };
        let host = take_column(&mut rest, "").ok_or(EXPECTED)?;
        let [port, path, query] = [":", "", "?"].map(|lead| take_column(&mut rest, lead));
        if !rest.is_empty() {
            return Err(EXPECTED.into());
        }
        Ok(UrlColumns { whole: None, parts: [scheme, Some(host), port, path, query], scheme: fixed })
    }

    /// Returns whether a column is named.
    pub fn are_given(&self) -> bool {
        *self != UrlColumns::default()
    }
}

/// Returns the column's name, if a text is one name in braces.
pub fn column_of(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    (!name.is_empty() && !name.contains(['{', '}'])).then_some(name)
}

/// Removes this lead and a column in braces from the start of a text, and returns the column's name.
fn take_column(rest: &mut &str, lead: &str) -> Option<String> {
    let end = rest.find('}')? + 1;
    let name = column_of(rest[..end].strip_prefix(lead)?)?.to_owned();
    *rest = &rest[end..];
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_name_columns() {
        let parts = |names: [&str; 5]| names.map(|name| (!name.is_empty()).then(|| name.to_owned()));
        let whole = |name: &str| UrlColumns { whole: Some(name.into()), ..UrlColumns::default() };
        let split = |names, scheme| UrlColumns { whole: None, parts: parts(names), scheme };
        for (text, expected) in [
            ("url", whole("url")),
            ("2", whole("2")),
            ("/request/url", whole("/request/url")),
            ("{request.url}", whole("request.url")),
            ("{scheme}://{host}{path}?{query}", split(["scheme", "host", "", "path", "query"], None)),
            ("{s}://{h}:{port}{p}?{q}", split(["s", "h", "port", "p", "q"], None)),
            ("https://{host}", split(["", "host", "", "", ""], Some("https"))),
            ("ftp://{host}{p}", split(["", "host", "", "p", ""], Some("ftp"))),
            ("{host}{path}", split(["", "host", "", "path", ""], None)),
            ("{host}:{2}", split(["", "host", "2", "", ""], None)),
            ("http://{h}?{q}", split(["", "h", "", "", "q"], Some("http"))),
        ] {
            assert_eq!(UrlColumns::parse(text), Ok(expected), "{text}");
        }
        let malformed = [
            "{}",
            "{",
            "}",
            "{a",
            "a}",
            "{a}{",
            "{{a}}",
            "https://{}",
            "gopher://{a}",
            "{a}b",
            "a{b}",
            "https://{a}/x",
            "{a}?{q}{p}",
            "{a}{b}{c}",
            "{a}://",
            "{a}://{b}&{c}",
            "{a}://{b}?{q}#{f}",
        ];
        for text in malformed {
            assert_eq!(UrlColumns::parse(text), Err(EXPECTED.into()), "{text}");
        }
    }
}
