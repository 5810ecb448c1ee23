//! Names of inputs and outputs without the secrets that a URL may contain.
//!
//! Every message and every record of a run shows a name in this form. Names without `://` stay unchanged. Names with
//! secrets are remembered when they are opened, and [`without_secrets`] removes them from any text.
//!
//! ```
//! use reptile_records::redacted::redacted;
//!
//! assert_eq!(redacted("https://me:word@example.com/a.csv?part=2&sig=abc"), "https://***@example.com/a.csv?part=2&sig=***");
//! assert_eq!(redacted("s3://bucket/a.csv"), "s3://bucket/a.csv");
//! ```

use std::borrow::Cow;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// The replacement for a secret.
const HIDDEN: &str = "***";

/// Texts in the names of secret query parameters: signatures, keys and tokens of S3, Google, Azure and others.
const SECRET_PARTS: [&str; 9] =
    ["sig", "token", "secret", "passw", "pwd", "credential", "key", "auth", "googleaccessid"];

/// Schemes whose user name is a container, as in `abfss://container@account.dfs.core.windows.net/`.
const CONTAINER_SCHEMES: [&str; 4] = ["abfs", "abfss", "wasb", "wasbs"];

/// Replaces user information and the values of query parameters that grant access.
pub fn redacted(name: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = name.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        return Cow::Borrowed(name);
    };
    let authority_len = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(authority_len);
    let is_container = |user: &str| CONTAINER_SCHEMES.contains(&&*scheme.to_ascii_lowercase()) && !user.contains(':');
    let host = match authority.rsplit_once('@') {
        Some((user, host)) if !is_container(user) => Cow::Owned(format!("{HIDDEN}@{host}")),
        _ => Cow::Borrowed(authority),
    };
    let rest = match rest.split_once('?') {
        Some((path, query)) => Cow::Owned(format!("{path}?{}", hidden_values(query))),
        None => Cow::Borrowed(rest),
    };
    let shown = format!("{scheme}://{host}{rest}");
    if shown == name { Cow::Borrowed(name) } else { Cow::Owned(shown) }
}

/// Returns a path for messages and records, without secrets.
pub fn shown_path(path: &Path) -> String {
    redacted(&path.to_string_lossy()).into_owned()
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

fn is_scheme(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(is_part)
}

/// Replaces the values of parameters whose names contain one of [`SECRET_PARTS`].
fn hidden_values(query: &str) -> String {
    let shown = query.split('&').map(|parameter| {
        let Some((name, _)) = parameter.split_once('=') else { return Cow::Borrowed(parameter) };
        let lower = name.to_ascii_lowercase();
        match SECRET_PARTS.iter().any(|part| lower.contains(part)) {
            true => Cow::Owned(format!("{name}={HIDDEN}")),
            false => Cow::Borrowed(parameter),
        }
    });
    shown.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_and_nothing_else() {
        for (name, expected) in [
            ("data/a.csv", "data/a.csv"),
            ("odd:name?sig=1", "odd:name?sig=1"),
            ("no scheme://u:p@h/", "no scheme://u:p@h/"),
            ("s3://bucket/a?b=c", "s3://bucket/a?b=c"),
            ("https://h/a.csv", "https://h/a.csv"),
            ("https://user@h/a", "https://***@h/a"),
            ("https://user:p@ss@h:81/a@b", "https://***@h:81/a@b"),
            ("https://h?user@x", "https://h?user@x"),
            ("HTTPS://h/a?SIG=abc#f", "HTTPS://h/a?SIG=***"),
            ("https://h/a?sig=abc&part=3", "https://h/a?sig=***&part=3"),
            // A parameter without a value has no secret.
            ("https://h/a?x=1&sv=2&signature", "https://h/a?x=1&sv=2&signature"),
            ("https://h/a?X-Amz-Credential=AK%2F&X-Amz-Date=1", "https://h/a?X-Amz-Credential=***&X-Amz-Date=1"),
            ("https://h/a?AWSAccessKeyId=1&Expires=2", "https://h/a?AWSAccessKeyId=***&Expires=2"),
            ("https://h/a?GoogleAccessId=g&access_token=t", "https://h/a?GoogleAccessId=***&access_token=***"),
            ("abfss://box@account.dfs.core.windows.net/a", "abfss://box@account.dfs.core.windows.net/a"),
            ("abfss://box:pw@account.dfs.core.windows.net/a", "abfss://***@account.dfs.core.windows.net/a"),
        ] {
            assert_eq!(redacted(name), expected, "{name}");
            assert_eq!(redacted(expected), expected, "again: {name}");
        }
    }
}
