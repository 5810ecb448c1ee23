//! Converts URLs and paths as people type them to paths as clients send them.
//!
//! People leave out the scheme or the first slash, and type spaces and non-ASCII letters. A browser escapes them before
//! it requests the page, and rules are compared with the escaped path. Every change is reported in a remark. Google's
//! library does not escape, and neither does its dialect. Nobody types bytes that are not UTF-8, so they stay.

use reptile::Dialect;
use reptile::dialects::GOOGLE_LIB;
use reptile::urls::path_of;

use super::words::shown;

/// A path to decide.
pub struct Typed {
    /// The path, as a client sends it.
    pub path: Vec<u8>,
    /// Remarks about changes to the typed text.
    pub remarks: Vec<String>,
}

/// Reads a URL or a path.
pub fn read(text: &[u8], dialect: &Dialect) -> Typed {
    let takes_bytes = *dialect == GOOGLE_LIB;
    let begins_well = text.starts_with(b"/") || has_scheme(text);
    let mut remarks = Vec::new();
    let path = match () {
        () if begins_well => path_of(text).to_vec(),
        () if takes_bytes => {
            let path = path_of(text).to_vec();
            remarks.push(format!("Google's library reads this as the path {}", shown(&path, false)));
            path
        }
        () if begins_with_host(text) => {
            remarks.push(format!("taken as http://{}; a path begins with a slash", shown(text, false)));
            path_of(text).to_vec()
        }
        () => {
            let path = path_of(&[b"/", text].concat()).to_vec();
            remarks.push(format!("taken as the path {}; a path begins with a slash", shown(&path, false)));
            path
        }
    };
    let sent = if takes_bytes || std::str::from_utf8(text).is_err() { path.clone() } else { escaped(&path) };
    if sent != path {
        remarks.push(format!("sent as {}, as a browser escapes it", shown(&sent, false)));
    }
    Typed { path: sent, remarks }
}

/// Returns whether a text begins with a scheme and `://`.
fn has_scheme(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte));
    end.is_some_and(|end| end > 0 && text[end..].starts_with(b"://"))
}

/// Returns whether a text without a scheme begins with a host and goes on after it: the part before the first slash,
/// question mark or `#` has a port, or ends in a dot and letters, or is `localhost`.
fn begins_with_host(text: &[u8]) -> bool {
    let Some(end) = text.iter().position(|byte| b"/?#".contains(byte)) else { return false };
    let (host, port) = match text[..end].iter().position(|&byte| byte == b':') {
        Some(colon) => (&text[..colon], Some(&text[colon + 1..end])),
        None => (&text[..end], None),
    };
    let in_host = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b".-".contains(byte);
    let has_port = port.is_some_and(|port| !port.is_empty() && port.iter().all(u8::is_ascii_digit));
    let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let is_name =
        last.len() < host.len() && last.len() > 1 && last.iter().all(|byte| !byte.is_ascii_digit() && *byte != b'-');
    let is_host = !host.is_empty() && !host.starts_with(b".") && host.iter().all(in_host);
    is_host && (has_port || (port.is_none() && (is_name || host == b"localhost")))
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
    use reptile::dialects::{GOOGLE, YANDEX};

    #[test]
    fn typed_text_is_converted_to_paths() {
        for (text, path, remarks) in [
            ("/a/b?c=d", "/a/b?c=d", &[][..]),
            ("http://e.example/a", "/a", &[]),
            ("http://e.example", "/", &[]),
            ("//e.example/a", "/a", &[]),
            ("/a b", "/a%20b", &["sent as /a%20b, as a browser escapes it"]),
            ("/é?é'<", "/%C3%A9?%C3%A9%27%3C", &["sent as /%C3%A9?%C3%A9%27%3C, as a browser escapes it"]),
            ("/'^`{|}%41%zz", "/'%5E%60%7B|%7D%41%zz", &["sent as /'%5E%60%7B|%7D%41%zz, as a browser escapes it"]),
            ("private/x", "/private/x", &["taken as the path /private/x; a path begins with a slash"]),
            ("index.html", "/index.html", &["taken as the path /index.html; a path begins with a slash"]),
            ("v1.2/x", "/v1.2/x", &["taken as the path /v1.2/x; a path begins with a slash"]),
            ("../x", "/../x", &["taken as the path /../x; a path begins with a slash"]),
            ("?q", "/?q", &["taken as the path /?q; a path begins with a slash"]),
            ("", "/", &["taken as the path /; a path begins with a slash"]),
            ("e.example/x", "/x", &["taken as http://e.example/x; a path begins with a slash"]),
            ("localhost:8080/x", "/x", &["taken as http://localhost:8080/x; a path begins with a slash"]),
            ("localhost/x", "/x", &["taken as http://localhost/x; a path begins with a slash"]),
            ("e.example:x/y", "/e.example:x/y", &["taken as the path /e.example:x/y; a path begins with a slash"]),
        ] {
            for dialect in [&GOOGLE, &YANDEX] {
                let typed = read(text.as_bytes(), dialect);
                assert_eq!(
                    (String::from_utf8(typed.path).unwrap(), typed.remarks),
                    (path.into(), remarks.iter().map(|&remark| remark.to_owned()).collect()),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn googles_library_does_not_escape() {
        for (text, path, remarks) in [
            ("/a b'é", "/a b'é", &[][..]),
            ("http://e.example/a b", "/a b", &[]),
            ("private/x", "/x", &["Google's library reads this as the path /x"]),
            ("index.html", "/", &["Google's library reads this as the path /"]),
        ] {
            let typed = read(text.as_bytes(), &GOOGLE_LIB);
            assert_eq!(
                (String::from_utf8(typed.path).unwrap(), typed.remarks),
                (path.into(), remarks.iter().map(|&remark| remark.to_owned()).collect()),
                "{text}"
            );
        }
    }
}
