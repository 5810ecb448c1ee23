//! Remarks on URLs and paths as people type them.
//!
//! A URL is decided as it is, as in a table. People type spaces and other characters that a browser escapes before it
//! requests the page. Where the escaped path is compared differently, a remark names it.

use reptile::Dialect;

use super::words::shown;

/// The remark on a text without a path.
pub const NOT_A_URL: &str = "a URL begins with a scheme such as https://, and a path with a slash";

/// Returns the remark on a path that a browser sends with escapes, if the dialect compares it differently then.
pub fn remark(path: &[u8], dialect: &Dialect) -> Option<String> {
    let sent = escaped(path);
    let form = dialect.normal_form;
    let is_equal = sent == path || form.path(&sent) == form.path(path);
    (!is_equal).then(|| format!("taken as it is; a browser requests {}", shown(&sent, false)))
}

/// Returns a path with its query, escaped as a browser does.
///
/// Source: the URL standard, path and special-query percent-encode sets.
fn escaped(path: &[u8]) -> Vec<u8> {
    let query = path.iter().position(|&byte| byte == b'?').unwrap_or(path.len());
    let mut sent = Vec::with_capacity(path.len());
    for (at, &byte) in path.iter().enumerate() {
        let is_escaped = !(b'!'..=b'~').contains(&byte)
            || b"\"<>".contains(&byte)
            || if at < query { b"^`{}".contains(&byte) } else { byte == b'\'' };
        if is_escaped {
            sent.extend_from_slice(format!("%{byte:02X}").as_bytes());
        } else {
            sent.push(byte);
        }
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile::dialects::{GOOGLE, GOOGLE_LIB};

    #[test]
    fn paths_that_a_browser_changes_are_remarked() {
        for (path, sent, is_remarked) in [
            ("/a/b?c=d", "/a/b?c=d", [false, false]),
            ("//a b", "//a%20b", [true, true]),
            ("/é?é", "/%C3%A9?%C3%A9", [false, true]),
            ("/é?é'<", "/%C3%A9?%C3%A9%27%3C", [true, true]),
            ("/'^`{|}%41%zz", "/'%5E%60%7B|%7D%41%zz", [true, true]),
        ] {
            assert_eq!(escaped(path.as_bytes()), sent.as_bytes());
            let remarks = [&GOOGLE, &GOOGLE_LIB].map(|dialect| remark(path.as_bytes(), dialect));
            assert_eq!(remarks.each_ref().map(Option::is_some), is_remarked, "{path}");
            let expected = format!("taken as it is; a browser requests {sent}");
            assert!(remarks.into_iter().flatten().all(|remark| remark == expected), "{path}");
        }
    }
}
