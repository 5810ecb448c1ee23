//! Names of inputs and outputs without the credentials that a URL may contain.
//!
//! Every message and every record of a run shows a name in this form. A URL's user name, password and fragment are
//! replaced, and so are the values in its query, because signed URLs contain their signature there. A secret in a URL's
//! path looks like any other name, so it remains. Names with credentials are remembered when they are opened, and
//! [`without_secrets`] removes them from any text.
//!
//! ```
//! use reptile_records::redacted::{redacted, redacted_text};
//!
//! assert_eq!(redacted("https://me:word@example.com/a.csv?sig=abc"), "https://***@example.com/a.csv?sig=***");
//! assert_eq!(redacted("s3://bucket/a.csv"), "s3://bucket/a.csv");
//! assert_eq!(redacted_text("https://example.com/?sig=abc is empty"), "https://example.com/?sig=*** is empty");
//! ```

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

/// The text that replaces a credential.
const HIDDEN: &str = "***";

/// Query parameters that name an object's version. Their values remain.
const KEPT_PARAMETERS: [&str; 3] = ["versionid", "generation", "snapshot"];

/// Schemes whose user name is a container, as in `abfss://container@account.dfs.core.windows.net/`.
const CONTAINER_SCHEMES: [&str; 4] = ["abfs", "abfss", "wasb", "wasbs"];

/// Returns a path, or a URL without credentials. The URL extends to the end of the text.
pub fn redacted(name: &str) -> Cow<'_, str> {
    let shown = match scheme_end(name) {
        None => return Cow::Borrowed(name),
        Some((0, end)) => url(name, end),
        Some(_) => redacted_text(name),
    };
    if shown == name { Cow::Borrowed(name) } else { Cow::Owned(shown) }
}

/// Returns a text without the credentials in its URLs. A URL ends at white space or a quote.
#[must_use]
pub fn redacted_text(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, end)) = scheme_end(rest) {
        let is_after = |character: char| character.is_whitespace() || "\"'`<>".contains(character);
        let len = rest[end..].find(is_after).map_or(rest.len(), |len| end + len);
        redacted.push_str(&rest[..start]);
        redacted.push_str(&url(&rest[start..len], end - start));
        rest = &rest[len..];
    }
    redacted + rest
}

/// The names with secrets that were opened, each with its form for messages.
static KNOWN: RwLock<Vec<(String, String)>> = RwLock::new(Vec::new());

/// Remembers a name, if it has secrets.
#[cfg(feature = "stores")]
pub(crate) fn remember(name: &str) {
    let shown = redacted(name);
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if shown != name && known.iter().all(|(known, _)| known != name) {
        known.push((name.into(), shown.into_owned()));
    }
}

/// Replaces the remembered names in a text.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.iter().fold(Cow::Borrowed(text), |text, (name, shown)| match text.contains(name.as_str()) {
        true => Cow::Owned(text.replace(name.as_str(), shown)),
        false => text,
    })
}

/// Returns where the first URL's scheme starts, and where the `://` after it ends.
fn scheme_end(text: &str) -> Option<(usize, usize)> {
    let separator = text.find("://")?;
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+.-".contains(byte);
    let len = text.as_bytes()[..separator].iter().rev().take_while(|byte| is_scheme(byte)).count();
    Some((separator - len, separator + 3))
}

/// Returns a URL without credentials. Its authority starts at `start`.
fn url(text: &str, start: usize) -> String {
    let (scheme, rest) = text.split_at(start);
    let authority_len = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let authority = &rest[..authority_len];
    let is_container = |user: &str| {
        let scheme = scheme.trim_end_matches("://").to_ascii_lowercase();
        CONTAINER_SCHEMES.contains(&&*scheme) && !user.contains(':')
    };
    let user_len = match authority.rfind('@') {
        Some(at) if is_container(&authority[..at]) => 0,
        Some(at) => at + 1,
        // A password with an unescaped slash ends the authority early; its first part looks like a port.
        None if has_odd_port(authority) => rest.rfind('@').map_or(0, |at| at + 1),
        None => 0,
    };
    let user = if user_len > 0 { format!("{HIDDEN}@") } else { String::new() };
    let rest = &rest[user_len..];
    let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, fragment)| (rest, Some(fragment)));
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let place = if place.contains("://") { redacted_text(place) } else { place.to_owned() };
    let query = query.map(|query| format!("?{}", self::query(query))).unwrap_or_default();
    let fragment = fragment.map(|_| format!("#{HIDDEN}")).unwrap_or_default();
    format!("{scheme}{user}{place}{query}{fragment}")
}

/// Returns whether the text after an authority's last colon is not a port. An IPv6 address ends with a bracket.
fn has_odd_port(authority: &str) -> bool {
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    port.is_some_and(|port| !port.ends_with(']') && !port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns a query without its parameters' values.
fn query(text: &str) -> String {
    let redact = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if KEPT_PARAMETERS.contains(&name.to_ascii_lowercase().as_str()) => parameter.to_owned(),
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None if parameter.is_empty() => String::new(),
        None => HIDDEN.to_owned(),
    };
    text.split('&').map(redact).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_removed_from_paths_and_urls() {
        for (text, expected) in [
            ("", ""),
            ("urls.txt", "urls.txt"),
            ("dir/a@b?c=d#e", "dir/a@b?c=d#e"),
            ("-", "-"),
            ("s3://bucket/a b/c.parquet", "s3://bucket/a b/c.parquet"),
            ("https://h.example:8443/x", "https://h.example:8443/x"),
            ("https://[::1]:8443/x@y", "https://[::1]:8443/x@y"),
            ("https://[::1]/x@y", "https://[::1]/x@y"),
            ("https://me:pass@h.example/x", "https://***@h.example/x"),
            ("https://me@h.example/x@y", "https://***@h.example/x@y"),
            ("https://a@b:c@h.example", "https://***@h.example"),
            ("https://me:pa/ss@h.example/x", "https://***@h.example/x"),
            ("HTTPS://me:pa?ss@h.example/x", "HTTPS://***@h.example/x"),
            ("s3://AKIA:secret@bucket/key", "s3://***@bucket/key"),
            (
                "https://b.s3.amazonaws.com/k?X-Amz-Credential=AKIA%2F1&X-Amz-Signature=0a1b&versionId=3",
                "https://b.s3.amazonaws.com/k?X-Amz-Credential=***&X-Amz-Signature=***&versionId=3",
            ),
            (
                "https://a.blob.core.windows.net/c/k?sv=1&sig=a%2Bb=",
                "https://a.blob.core.windows.net/c/k?sv=***&sig=***",
            ),
            ("gs://b/k?generation=17", "gs://b/k?generation=17"),
            ("https://user:p@ss@h:81/a@b", "https://***@h:81/a@b"),
            ("https://h?user@x", "https://h?***"),
            ("abfss://box@account.dfs.core.windows.net/a", "abfss://box@account.dfs.core.windows.net/a"),
            ("abfss://box:pw@account.dfs.core.windows.net/a", "abfss://***@account.dfs.core.windows.net/a"),
            ("https://h.example/x?token", "https://h.example/x?***"),
            ("https://h.example/x?t=a b c", "https://h.example/x?t=***"),
            ("https://h.example/x?a=1&&b", "https://h.example/x?a=***&&***"),
            ("https://h.example/x#access_token=1", "https://h.example/x#***"),
            ("https://h.example?a=1#b", "https://h.example?a=***#***"),
            ("https://h.example/http://me:pass@i.example/", "https://h.example/http://***@i.example/"),
            ("a=https://me:pass@h.example/?b=c", "a=https://***@h.example/?b=***"),
        ] {
            assert_eq!(redacted(text), expected, "{text}");
            assert_eq!(redacted(expected), expected, "{text}");
        }
    }

    #[test]
    fn credentials_are_removed_from_messages() {
        for (text, expected) in [
            ("urls.txt: No such file", "urls.txt: No such file"),
            ("s3://k:s@b/x?sig=1: not found", "s3://***@b/x?sig=*** not found"),
            (
                "cannot read `https://u:p@h.example/x?t=1`, or \"http://h.example/?a=b\"",
                "cannot read `https://***@h.example/x?t=***`, or \"http://h.example/?a=***\"",
            ),
            ("a://", "a://"),
            ("://u:p@h", "://***@h"),
            ("é://u:p@h/é?é=é é", "é://***@h/é?é=*** é"),
        ] {
            assert_eq!(redacted_text(text), expected, "{text}");
        }
    }
}
