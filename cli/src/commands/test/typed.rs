//! Remarks on URLs and paths as people type them.
//!
//! URLs are decided as written, as in tables. People type spaces and other characters that a browser escapes before it
//! requests the page. If the escaped path compares differently, a remark shows it.

use reptile::Dialect;
use reptile::dialects::GOOGLE_LIB;

use super::shown::shown;

/// Returns the path to decide, and a remark if a browser escapes it. The path to decide is the escaped one if the
/// dialect compares both alike, and otherwise the original. Google's library compares bytes, so it has no remark.
pub fn requested(path: Vec<u8>, dialect: &Dialect) -> (Vec<u8>, Option<String>) {
    let is_text = *dialect != GOOGLE_LIB && std::str::from_utf8(&path).is_ok();
    let sent = if is_text { escaped(&path) } else { path.clone() };
    let form = dialect.normal_form;
    if sent == path {
        (path, None)
    } else if form.path(&sent) == form.path(&path) {
        let remark = format!("sent as {}, as a browser escapes it", shown(&sent, false));
        (sent, Some(remark))
    } else {
        (path, Some(format!("taken as it is; a browser requests {}", shown(&sent, false))))
    }
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
    fn paths_that_a_browser_changes_are_remarked() {
        let sent = |path: &str| format!("sent as {path}, as a browser escapes it");
        let kept = |path: &str| format!("taken as it is; a browser requests {path}");
        for (path, decided, remark) in [
            ("/a/b?c=d", "/a/b?c=d", None),
            ("//a b", "//a b", Some(kept("//a%20b"))),
            ("/é?é", "/%C3%A9?%C3%A9", Some(sent("/%C3%A9?%C3%A9"))),
            ("/é?é'<", "/é?é'<", Some(kept("/%C3%A9?%C3%A9%27%3C"))),
            ("/'^`{|}%41%zz", "/'^`{|}%41%zz", Some(kept("/'%5E%60%7B|%7D%41%zz"))),
        ] {
            let (path, expected) = (path.as_bytes().to_vec(), (decided.as_bytes().to_vec(), remark));
            assert_eq!(requested(path.clone(), &GOOGLE), expected, "{}", path.escape_ascii());
            assert_eq!(requested(path.clone(), &GOOGLE_LIB), (path, None));
        }
        assert_eq!(requested(b"/\xff".to_vec(), &YANDEX), (b"/\xff".to_vec(), None));
    }
}
