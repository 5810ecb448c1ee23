//! Websites' files `/.well-known/tdmrep.json`, in archives with responses.

use std::collections::HashMap;

use reptile::Origin;
use reptile::rights::{Channel, Statements, TdmFile};
use reptile::urls::path_of;
use reptile_pages::MAX_TEXT_BYTES;
use serde::Deserialize;

use super::{PageKind, Rest, kind_of};
use crate::warc::http;
use crate::warc::records::Record;

/// The path of the file.
const PATH: &[u8] = b"/.well-known/tdmrep.json";

/// Maximum number of different captures of a website's file that count. Bounds the time for a website that changes its
/// file at each request.
pub const MAX_TDM_CAPTURES: usize = 16;

/// Maximum number of rules in a website's file. With more, the file is missing. Each page of the website is compared with
/// the rules one by one, so this bounds the time for a page with a long URL.
pub const MAX_TDM_RULES: usize = 256;

/// A rule in a file. Other members, such as `tdm-policy`, are ignored.
#[derive(Deserialize)]
struct Rule {
    location: String,
    #[serde(rename = "tdm-reservation")]
    reservation: u8,
}

/// The websites' files.
#[derive(Debug, Default)]
pub(super) struct TdmFiles {
    by_origin: HashMap<Origin, SiteFile>,
}

/// The different captures of a website's file. Each may be the right one.
#[derive(Debug, Default)]
struct SiteFile {
    captures: Vec<TdmFile>,
    is_missing: bool,
}

impl TdmFiles {
    /// Adds a record, if it is a website's file. Returns the number of bytes that are kept.
    pub(super) fn add(&mut self, record: &Record) -> usize {
        let target = record.target.as_deref().unwrap_or_default();
        if !path_of(target).with(|path| path == PATH) {
            return 0;
        }
        let Ok(origin) = Origin::of_url(target) else { return 0 };
        let Some(found) = file_of(record) else { return 0 };
        let site = self.by_origin.entry(origin).or_default();
        match found {
            None => site.is_missing = true,
            Some(_) if site.captures.len() >= MAX_TDM_CAPTURES => site.is_missing = true,
            Some(file) if site.captures.contains(&file) => {}
            Some(file) => {
                let bytes = file.byte_count() + target.len();
                site.is_missing |= !site.captures.is_empty();
                site.captures.push(file);
                return bytes;
            }
        }
        0
    }

    /// Adds the statements about a page in its website's file.
    pub(super) fn complete(&self, url: &[u8], statements: &mut Statements) {
        // Most archives lack such files.
        if self.by_origin.is_empty() {
            return;
        }
        let Some(site) = Origin::of_url(url).ok().and_then(|origin| self.by_origin.get(&origin)) else { return };
        if site.is_missing {
            statements.set_tdm_file_missing();
        }
        for is_reserved in site.captures.iter().filter_map(|file| file.reserves(url)) {
            statements.add(Channel::TdmFile, b"", if is_reserved { b"1" } else { b"0" });
        }
    }
}

/// Returns the file in a record, if the response says that the website has one. The inner value is `None` if its rules
/// cannot be read completely.
fn file_of(record: &Record) -> Option<Option<TdmFile>> {
    if kind_of(record)? != PageKind::Response {
        return None;
    }
    let block = &record.block_start;
    let is_whole =
        record.truncated.is_none() && !record.is_segment && !record.is_untrusted && record.kind == "response";
    match http::status_and_type(block).0 {
        Some(400..=499) => None,
        Some(200..=299) if is_whole => {
            let body = http::body_start(block, record.block_len(), MAX_TEXT_BYTES).ok();
            let body = body.filter(|body| body.rest == Rest::Nothing).map(|body| body.bytes);
            Some(body.and_then(|body| parse(&body)))
        }
        _ => Some(None),
    }
}

/// Parses an array of rules. Returns `None` if it does not follow the protocol, or has more than [`MAX_TDM_RULES`].
fn parse(json: &[u8]) -> Option<TdmFile> {
    let rules: Vec<Rule> = serde_json::from_slice(json).ok()?;
    let is_valid = rules.len() <= MAX_TDM_RULES && rules.iter().all(|rule| rule.reservation < 2);
    is_valid.then(|| TdmFile::new(rules.iter().map(|rule| (&rule.location, rule.reservation == 1))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{NextPage, Pages};

    /// Returns the statement about a page for some captures, each a URL, the response's first line and its body, and
    /// whether a file is missing.
    fn statement_about(page: &str, captures: &[(String, &str, String)]) -> (Vec<u8>, bool) {
        let mut archive = Vec::new();
        for (url, status, body) in captures {
            let block = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let header = "WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http; msgtype=response";
            let header = format!("{header}\r\nWARC-Target-URI: {url}\r\nContent-Length: {}\r\n\r\n", block.len());
            archive.extend([header.as_bytes(), block.as_bytes(), b"\r\n\r\n"].concat());
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc");
        std::fs::write(&path, archive).unwrap();
        let (mut pages, mut files) =
            (Pages::open(path.display().to_string().as_str(), false).unwrap(), TdmFiles::default());
        loop {
            match pages.next_record().unwrap() {
                NextPage::End => break,
                NextPage::Damaged(damage) => panic!("{damage:?}"),
                NextPage::Record(record) => _ = files.add(&record),
            }
        }
        let mut statements = Statements::default();
        files.complete(page.as_bytes(), &mut statements);
        let texts = statements.of(Channel::TdmFile).map(|(_, text)| text.to_vec()).collect::<Vec<_>>().concat();
        (texts, statements.lacks(Channel::TdmFile))
    }

    fn capture(origin: &str, status: &'static str, body: &str) -> (String, &'static str, String) {
        (format!("{origin}/.well-known/tdmrep.json"), status, body.to_owned())
    }

    #[test]
    fn files_apply_to_their_own_website() {
        const ONE: &str = r#"[{"location": "/", "tdm-reservation": 1}]"#;
        const ZERO: &str = r#"[{"location": "/", "tdm-reservation": 0}]"#;
        let on = |origin: &str, status, body| capture(origin, status, body);
        let a = |status, body| capture("https://a.example", status, body);
        let long = |len: usize| format!("{ONE}{}", " ".repeat(len - ONE.len()));
        let long = [-1, 0, 1]
            .map(|more| capture("https://a.example", "200 OK", &long(MAX_TEXT_BYTES.saturating_add_signed(more))));
        let [shorter, full, longer] = long;
        let mut elsewhere = a("200 OK", ONE);
        elsewhere.0 += "?";
        let mut cases = 0;
        for (captures, expected) in [
            (vec![], (&b""[..], false)),
            (vec![a("200 OK", ONE)], (b"1", false)),
            (vec![a("200 OK", ZERO)], (b"0", false)),
            (vec![on("HTTPS://A.Example:443", "200 OK", ONE)], (b"1", false)),
            (vec![on("https://b.example", "200 OK", ONE)], (b"", false)),
            (vec![on("http://a.example", "200 OK", ONE)], (b"", false)),
            (vec![on("https://www.a.example", "200 OK", ONE)], (b"", false)),
            (vec![on("https://a.example/b", "200 OK", ONE)], (b"", false)),
            (vec![elsewhere], (b"", false)),
            (vec![a("404 Not Found", ONE)], (b"", false)),
            (vec![a("503 Unavailable", ONE)], (b"", true)),
            (vec![a("301 Moved", "")], (b"", true)),
            (vec![a("200 OK", "<html>")], (b"", true)),
            (vec![a("200 OK", ONE), a("200 OK", ONE)], (b"1", false)),
            (vec![a("200 OK", ONE), a("200 OK", ZERO)], (b"10", true)),
            (vec![a("200 OK", ONE), a("503 Unavailable", "")], (b"1", true)),
            (vec![a("503 Unavailable", ""), a("200 OK", ZERO)], (b"0", true)),
            (vec![a("200 OK", ZERO), on("https://b.example", "200 OK", ONE)], (b"0", false)),
            (vec![shorter], (b"1", false)),
            (vec![full], (b"1", false)),
            (vec![longer], (b"", true)),
        ] {
            let found = statement_about("https://a.example/page", &captures);
            assert_eq!(
                (&*found.0, found.1),
                expected,
                "{:?}",
                captures.iter().map(|(url, ..)| url).collect::<Vec<_>>()
            );
            cases += 1;
        }
        assert_eq!(cases, 21);
    }

    #[test]
    fn rules_of_a_file_are_limited() {
        for (count, is_missing) in [(MAX_TDM_RULES - 1, false), (MAX_TDM_RULES, false), (MAX_TDM_RULES + 1, true)] {
            let rules = vec![r#"{"location": "/", "tdm-reservation": 1}"#; count].join(",");
            let captures = [capture("https://a.example", "200 OK", &format!("[{rules}]"))];
            let expected = if is_missing { Vec::new() } else { b"1".to_vec() };
            assert_eq!(statement_about("https://a.example/page", &captures), (expected, is_missing), "{count}");
        }
    }

    #[test]
    fn captures_of_a_file_are_limited() {
        for count in [MAX_TDM_CAPTURES - 1, MAX_TDM_CAPTURES, MAX_TDM_CAPTURES + 1] {
            let body = |number| {
                format!(
                    r#"[{{"location": "/{number}", "tdm-reservation": 0}}, {{"location": "/", "tdm-reservation": 1}}]"#
                )
            };
            let captures: Vec<_> =
                (0..count).map(|number| capture("https://a.example", "200 OK", &body(number))).collect();
            let (texts, is_missing) = statement_about("https://a.example/page", &captures);
            assert_eq!((texts.len(), is_missing), (count.min(MAX_TDM_CAPTURES), true), "{count}");
        }
    }

    #[test]
    fn files_in_another_form_are_not_read() {
        let mut cases = 0;
        for (json, expected) in [
            (r#"[{"location": "/", "tdm-reservation": 1}]"#, Some(Some(true))),
            (
                r#"[{"location": "/", "tdm-reservation": 0, "tdm-policy": "https://a.example/p.json"}]"#,
                Some(Some(false)),
            ),
            (r#"[{"location": "/a", "tdm-reservation": 0}]"#, Some(None)),
            ("[]", Some(None)),
            (r#"[{"location": "/", "tdm-reservation": 2}]"#, None),
            (r#"[{"location": "/", "tdm-reservation": "1"}]"#, None),
            (r#"[{"location": "/", "tdm-reservation": true}]"#, None),
            (r#"[{"location": "/"}]"#, None),
            (r#"[{"tdm-reservation": 1}]"#, None),
            (r#"[{"location": "/", "tdm-reservation": 0}, {"location": 1, "tdm-reservation": 1}]"#, None),
            (r#"{"location": "/", "tdm-reservation": 1}"#, None),
            (r#"[{"location": "/", "tdm-reservation": 1}"#, None),
            ("<html></html>", None),
            ("", None),
        ] {
            assert_eq!(parse(json.as_bytes()).map(|file| file.reserves("https://a.example/")), expected, "{json}");
            cases += 1;
        }
        assert_eq!(cases, 14);
    }
}
