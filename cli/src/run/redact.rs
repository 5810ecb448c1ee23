//! Removes credentials from paths, URLs and messages before they enter a record.
//!
//! A URL's user name, password and fragment are removed, and so are the values in its query, because signed URLs
//! contain their signature there. A secret in a URL's path looks like any other name, so it remains.

/// The text that replaces a removed part.
const REMOVED: &str = "REDACTED";

/// Query parameters that name an object's version. Their values remain.
const KEPT_PARAMETERS: [&str; 3] = ["versionid", "generation", "snapshot"];

/// Returns a path, or a URL without credentials. The URL extends to the end of the text.
pub fn path(text: &str) -> String {
    match scheme_end(text).filter(|&(start, _)| start == 0) {
        Some((_, end)) => url(text, end),
        None => message(text),
    }
}

/// Returns a message without the credentials in its URLs. A URL ends at white space or a quote.
pub fn message(text: &str) -> String {
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
    let user_len = match authority.rfind('@') {
        Some(at) => at + 1,
        // A password with an unescaped slash ends the authority early; its first part looks like a port.
        None if has_odd_port(authority) => rest.rfind('@').map_or(0, |at| at + 1),
        None => 0,
    };
    let user = if user_len > 0 { format!("{REMOVED}@") } else { String::new() };
    let rest = &rest[user_len..];
    let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, fragment)| (rest, Some(fragment)));
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let place = if place.contains("://") { message(place) } else { place.to_owned() };
    let query = query.map(|query| format!("?{}", self::query(query))).unwrap_or_default();
    let fragment = fragment.map(|_| format!("#{REMOVED}")).unwrap_or_default();
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
        Some((name, _)) => format!("{name}={REMOVED}"),
        None if parameter.is_empty() => String::new(),
        None => REMOVED.to_owned(),
    };
    text.split('&').map(redact).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_removed_from_paths_and_urls() {
        for (text, redacted) in [
            ("", ""),
            ("urls.txt", "urls.txt"),
            ("dir/a@b?c=d#e", "dir/a@b?c=d#e"),
            ("-", "-"),
            ("s3://bucket/a b/c.parquet", "s3://bucket/a b/c.parquet"),
            ("https://h.example:8443/x", "https://h.example:8443/x"),
            ("https://[::1]:8443/x@y", "https://[::1]:8443/x@y"),
            ("https://[::1]/x@y", "https://[::1]/x@y"),
            ("https://me:pass@h.example/x", "https://REDACTED@h.example/x"),
            ("https://me@h.example/x@y", "https://REDACTED@h.example/x@y"),
            ("https://a@b:c@h.example", "https://REDACTED@h.example"),
            ("https://me:pa/ss@h.example/x", "https://REDACTED@h.example/x"),
            ("HTTPS://me:pa?ss@h.example/x", "HTTPS://REDACTED@h.example/x"),
            ("s3://AKIA:secret@bucket/key", "s3://REDACTED@bucket/key"),
            (
                "https://b.s3.amazonaws.com/k?X-Amz-Credential=AKIA%2F1&X-Amz-Signature=0a1b&versionId=3",
                "https://b.s3.amazonaws.com/k?X-Amz-Credential=REDACTED&X-Amz-Signature=REDACTED&versionId=3",
            ),
            (
                "https://a.blob.core.windows.net/c/k?sv=1&sig=a%2Bb=",
                "https://a.blob.core.windows.net/c/k?sv=REDACTED&sig=REDACTED",
            ),
            ("gs://b/k?generation=17", "gs://b/k?generation=17"),
            ("https://h.example/x?token", "https://h.example/x?REDACTED"),
            ("https://h.example/x?t=a b c", "https://h.example/x?t=REDACTED"),
            ("https://h.example/x?a=1&&b", "https://h.example/x?a=REDACTED&&REDACTED"),
            ("https://h.example/x#access_token=1", "https://h.example/x#REDACTED"),
            ("https://h.example?a=1#b", "https://h.example?a=REDACTED#REDACTED"),
            ("https://h.example/http://me:pass@i.example/", "https://h.example/http://REDACTED@i.example/"),
            ("a=https://me:pass@h.example/?b=c", "a=https://REDACTED@h.example/?b=REDACTED"),
        ] {
            assert_eq!(path(text), redacted, "{text}");
            assert_eq!(path(redacted), redacted, "{text}");
        }
    }

    #[test]
    fn credentials_are_removed_from_messages() {
        for (text, redacted) in [
            ("urls.txt: No such file", "urls.txt: No such file"),
            ("s3://k:s@b/x?sig=1: not found", "s3://REDACTED@b/x?sig=REDACTED not found"),
            (
                "cannot read `https://u:p@h.example/x?t=1`, or \"http://h.example/?a=b\"",
                "cannot read `https://REDACTED@h.example/x?t=REDACTED`, or \"http://h.example/?a=REDACTED\"",
            ),
            ("a://", "a://"),
            ("://u:p@h", "://REDACTED@h"),
            ("é://u:p@h/é?é=é é", "é://REDACTED@h/é?é=REDACTED é"),
        ] {
            assert_eq!(message(text), redacted, "{text}");
        }
    }
}
