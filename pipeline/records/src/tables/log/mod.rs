//! Access logs of nginx and Apache: where the parts of a line are, and the URL that a request was for.
//!
//! A line is `HOST IDENT USER [TIME] "REQUEST" STATUS BYTES`, the common format, then `"REFERER" "USER AGENT"` in the
//! combined one. A virtual host may stand before all of it, or after it. Clients choose what stands in the request and after
//! it, and the user's name before it, so a line is read from the first quote on: servers write a quote within a part as an
//! escape. [`shape`] finds out which parts a log has.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use memchr::{memchr, memchr2, memrchr};

use super::guess::is_url;
use super::{Cells, Fault};

pub mod shape;

/// The fields after the request, from 0 on: the status, the size, the referer.
const USER_AGENT: usize = 3;

/// How the URLs and the other wanted cells of a log are found.
#[derive(Debug)]
pub struct Log {
    /// Where the host of a request is.
    pub host: HostOf,
    /// The start of URLs for requests without a virtual host, if the user gives it.
    pub default: Option<Vec<u8>>,
    /// The scheme, if the user says it: `http` or `https`.
    pub scheme: Option<&'static str>,
    /// What each wanted cell is.
    pub cells: Vec<LogCell>,
}

/// Where the host of a request is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostOf {
    /// Nowhere.
    Nothing,
    /// It is the same for all requests: the scheme and the host, as a URL begins with them.
    All(Vec<u8>),
    /// In the first field of the line.
    First,
    /// In this field after the request, from 0 on.
    After(usize),
}

/// A cell of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogCell {
    /// The URL that was requested.
    Url,
    /// The time of the request.
    Time,
    /// The `User-Agent` header of the request.
    UserAgent,
}

/// The parts of a line.
#[derive(Debug)]
struct Parts<'b> {
    /// What stands before the time.
    before: &'b [u8],
    /// The time, without its brackets.
    time: &'b [u8],
    /// The request, without its quotes and with its escapes.
    request: &'b [u8],
    /// What stands after the request.
    after: &'b [u8],
}

impl Log {
    /// Puts the cells of a line in their places. What is not written in the line as it is goes to `arena`.
    ///
    /// Steps: at most two over each byte of the line.
    ///
    /// # Errors
    /// What is wrong with the line, so that it has no URL. Its other cells are there all the same, if it is a line of a log.
    pub fn read<'b>(&self, line: &'b [u8], arena: &'b Bump, cells: &mut Cells<'b>) -> Result<(), Fault> {
        let parts = Parts::of(line).ok_or(Fault::NotLog)?;
        let mut found = Ok(());
        for (place, cell) in cells.iter_mut().zip(&self.cells) {
            *place = match cell {
                LogCell::Time => Some(parts.time),
                LogCell::UserAgent => fields(parts.after).nth(USER_AGENT).map(|(text, _)| unescaped(text, arena)),
                LogCell::Url => self.url(&parts, arena).map_err(|fault| found = Err(fault)).ok(),
            };
        }
        found
    }

    /// The URL of a request.
    fn url<'b>(&self, parts: &Parts<'b>, arena: &'b Bump) -> Result<&'b [u8], Fault> {
        let target = unescaped(target_of(parts.request)?, arena);
        if target.first() != Some(&b'/') {
            return if is_url(target) { Ok(target) } else { Err(Fault::BrokenRequest) };
        }
        let field = match &self.host {
            HostOf::All(start) => return Ok(joined(&[start, target], arena)),
            HostOf::First => parts.before.split(|&byte| byte == b' ').next(),
            HostOf::After(number) => fields(parts.after).nth(*number).map(|(text, _)| text),
            HostOf::Nothing => None,
        };
        let Some(authority) = field.filter(|field| is_authority(field)) else {
            let start = self.default.as_ref().filter(|_| field.is_none_or(is_no_host)).ok_or(Fault::NoHost)?;
            return Ok(joined(&[start, target], arena));
        };
        let (scheme, authority) = self.scheme_of(authority);
        Ok(joined(&[scheme.as_bytes(), b"://", authority, target], arena))
    }

    /// The scheme of a request to this virtual host, and the host without a port that only says the scheme. A server behind
    /// a proxy has ports of its own, so what the user says counts.
    fn scheme_of<'b>(&self, authority: &'b [u8]) -> (&'static str, &'b [u8]) {
        let without = |port: &[u8]| authority.strip_suffix(port);
        match (without(b":80"), without(b":443")) {
            (Some(host), _) => (self.scheme.unwrap_or("http"), host),
            (_, Some(host)) => (self.scheme.unwrap_or("https"), host),
            _ => (self.scheme.unwrap_or("https"), authority),
        }
    }
}

impl<'b> Parts<'b> {
    /// The parts of a line, if it has a time and a request.
    fn of(line: &'b [u8]) -> Option<Parts<'b>> {
        let quote = memchr(b'"', line)?;
        let until_time = line[..quote].strip_suffix(b"] ")?;
        let open = memrchr(b'[', until_time)?;
        let (request, after) = quoted(&line[quote + 1..])?;
        Some(Parts { before: &until_time[..open], time: &until_time[open + 1..], request, after })
    }
}

/// The text up to a quote that is not escaped, and what follows the quote.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some((&text[..at], &text[at + 1..]));
        }
        at += 2;
    }
}

/// The fields after the request: each without its quotes, and whether it has any.
fn fields(mut after: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    std::iter::from_fn(move || {
        after = after.trim_ascii_start();
        if let Some(text) = after.strip_prefix(b"\"") {
            let (field, rest) = quoted(text)?;
            after = rest;
            return Some((field, true));
        }
        let end = memchr(b' ', after).unwrap_or(after.len());
        let (field, rest) = after.split_at(end);
        after = rest;
        (!field.is_empty()).then_some((field, false))
    })
}

/// The target of a request, which is `METHOD TARGET HTTP/VERSION`; a request of HTTP/0.9 ends with the target.
fn target_of(request: &[u8]) -> Result<&[u8], Fault> {
    if matches!(request, b"" | b"-") {
        return Err(Fault::NoRequest);
    }
    let (method, rest) = memchr(b' ', request).map(|at| (&request[..at], &request[at + 1..])).unwrap_or_default();
    let (target, version) = match memrchr(b' ', rest) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let is_method = !method.is_empty() && method.iter().all(|byte| byte.is_ascii_alphabetic() || b"-_".contains(byte));
    let is_version = version.is_none_or(|version| version.starts_with(b"HTTP/"));
    if !is_method || !is_version || target.is_empty() || memchr(b' ', target).is_some() {
        return Err(Fault::BrokenRequest);
    }
    if method == b"CONNECT" || target == b"*" {
        return Err(Fault::NoTarget);
    }
    Ok(target)
}

/// Returns whether the virtual host is missing, which servers write as `-` or `_`.
fn is_no_host(field: &[u8]) -> bool {
    matches!(field, b"" | b"-" | b"_")
}

/// Returns whether a virtual host can be copied into a URL unchanged.
fn is_authority(field: &[u8]) -> bool {
    let ends_host = |&byte: &u8| byte <= b' ' || b"/?#@\\\"".contains(&byte);
    !is_no_host(field) && !field.iter().any(ends_host)
}

/// These parts, one after the other.
fn joined<'b>(parts: &[&[u8]], arena: &'b Bump) -> &'b [u8] {
    let mut text = BumpVec::with_capacity_in(parts.iter().map(|part| part.len()).sum(), arena);
    parts.iter().for_each(|part| text.extend_from_slice_copy(part));
    text.into_bump_slice()
}

/// A text without the escapes that servers write: `\"`, `\\`, letters for controls, `\xHH`, and `\uHHHH` as in JSON. What is
/// not an escape stays.
fn unescaped<'b>(text: &'b [u8], arena: &'b Bump) -> &'b [u8] {
    let Some(first) = memchr(b'\\', text) else { return text };
    let mut plain = BumpVec::with_capacity_in(text.len(), arena);
    let mut rest = text;
    let mut next = Some(first);
    while let Some(at) = next {
        plain.extend_from_slice_copy(&rest[..at]);
        rest = &rest[at..];
        let mut utf8 = [0; 4];
        let (byte, len) = match rest.get(1) {
            Some(&byte @ (b'"' | b'\\' | b'/')) => (byte, 2),
            Some(b'n') => (b'\n', 2),
            Some(b'r') => (b'\r', 2),
            Some(b't') => (b'\t', 2),
            Some(b'b') => (8, 2),
            Some(b'v') => (11, 2),
            Some(b'f') => (12, 2),
            Some(b'x') => number(rest, 2).and_then(|byte| u8::try_from(byte).ok()).map_or((b'\\', 1), |byte| (byte, 4)),
            Some(b'u') => match number(rest, 4).and_then(char::from_u32) {
                Some(letter) => {
                    let (last, start) = letter.encode_utf8(&mut utf8).as_bytes().split_last().unwrap_or((&b'?', b""));
                    plain.extend_from_slice_copy(start);
                    (*last, 6)
                }
                None => (b'\\', 1),
            },
            _ => (b'\\', 1),
        };
        plain.push(byte);
        rest = &rest[len..];
        next = memchr(b'\\', rest);
    }
    plain.extend_from_slice_copy(rest);
    plain.into_bump_slice()
}

/// The number that so many hexadecimal digits after an escape's letter stand for.
fn number(escape: &[u8], digits: usize) -> Option<u32> {
    let mut digits = escape.get(2..2 + digits)?.iter().map(|&byte| char::from(byte).to_digit(16));
    digits.try_fold(0, |number, digit| Some(number * 16 + digit?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: &str = "10/Oct/2000:13:55:36 -0700";

    fn log(host: HostOf) -> Log {
        Log { host, default: None, scheme: None, cells: vec![LogCell::Url, LogCell::Time, LogCell::UserAgent] }
    }

    fn all() -> HostOf {
        HostOf::All(b"https://a.example".to_vec())
    }

    /// The URL of a line, and whether the time and the user agent are the ones that all these lines have.
    fn url(line: &str, log: &Log) -> Result<String, Fault> {
        let (arena, mut cells) = (Bump::new(), [None; super::super::MAX_CELLS]);
        let found = log.read(line.as_bytes(), &arena, &mut cells);
        if found != Err(Fault::NotLog) {
            assert_eq!(cells[1], Some(TIME.as_bytes()), "{line}");
            assert_eq!(cells[2], line.contains("\"bot/1\"").then_some(&b"bot/1"[..]), "{line}");
        }
        assert_eq!(found.is_ok(), cells[0].is_some(), "{line}");
        found.map(|()| String::from_utf8_lossy(cells[0].unwrap()).into_owned())
    }

    #[test]
    fn requests_become_urls() {
        let cases = [
            ("GET / HTTP/1.1", Ok("https://a.example/")),
            ("GET /a?b=c HTTP/1.0", Ok("https://a.example/a?b=c")),
            ("POST //b.example/ HTTP/2.0", Ok("https://a.example//b.example/")),
            ("M-SEARCH /x HTTP/1.1", Ok("https://a.example/x")),
            ("GET /", Ok("https://a.example/")),
            ("GET http://b.example/c HTTP/1.1", Ok("http://b.example/c")),
            ("GET HTTPS://b.example HTTP/1.1", Ok("HTTPS://b.example")),
            (r"GET /\xC3\xa9\x22\\x41 HTTP/1.1", Ok("https://a.example/é\"\\x41")),
            (r#"GET /\"\\\t\n\r\b\v\f\/ HTTP/1.1"#, Ok("https://a.example/\"\\\t\n\r\u{8}\u{b}\u{c}/")),
            (r"GET /\u00e9\u001b\u20AC HTTP/1.1", Ok("https://a.example/é\u{1b}€")),
            (r"GET /\x4\xGG\u12\ud800\q HTTP/1.1", Ok(r"https://a.example/\x4\xGG\u12\ud800\q")),
            ("-", Err(Fault::NoRequest)),
            ("", Err(Fault::NoRequest)),
            ("OPTIONS * HTTP/1.1", Err(Fault::NoTarget)),
            ("CONNECT b.example:443 HTTP/1.1", Err(Fault::NoTarget)),
            ("CONNECT /x HTTP/1.1", Err(Fault::NoTarget)),
            (r"\x16\x03\x01\x02", Err(Fault::BrokenRequest)),
            ("GET", Err(Fault::BrokenRequest)),
            ("GET ", Err(Fault::BrokenRequest)),
            ("GET  HTTP/1.1", Err(Fault::BrokenRequest)),
            (" / HTTP/1.1", Err(Fault::BrokenRequest)),
            ("G3T / HTTP/1.1", Err(Fault::BrokenRequest)),
            ("GET /a b HTTP/1.1", Err(Fault::BrokenRequest)),
            ("GET / FTP/1.1", Err(Fault::BrokenRequest)),
            ("GET a HTTP/1.1", Err(Fault::BrokenRequest)),
            ("GET ?a HTTP/1.1", Err(Fault::BrokenRequest)),
            ("GET b.example:443 HTTP/1.1", Err(Fault::BrokenRequest)),
        ];
        for (request, expected) in cases {
            for after in [" 200 5", " 200 5 \"-\" \"bot/1\"", " 200 - \"\\\"\" \"bot/1\" \"x", ""] {
                let line = format!("1.2.3.4 - a b [{TIME}] \"{request}\"{after}");
                assert_eq!(url(&line, &log(all())), expected.map(str::to_owned), "{line}");
            }
        }
    }

    #[test]
    fn what_a_user_calls_himself_moves_nothing() {
        for user in ["-", "a b", "[x]", "[", "] ", "[10/Oct/2000:13:55:36 -0700] GET /evil", r"\x22", "é"] {
            let line = format!("1.2.3.4 - {user} [{TIME}] \"GET /a HTTP/1.1\" 200 5 \"-\" \"bot/1\"");
            assert_eq!(url(&line, &log(all())), Ok("https://a.example/a".into()), "{line}");
        }
    }

    #[test]
    fn what_is_not_a_line_of_a_log_has_no_cells() {
        for line in [
            "",
            "x",
            "\"",
            "[x] \"",
            "[x] \"GET / HTTP/1.1",
            "x] \"GET / HTTP/1.1\"",
            "[x]\"GET / HTTP/1.1\"",
            r#"[x] "GET / HTTP/1.1\" 200 1"#,
            r#"[x] "GET / \"#,
        ] {
            assert_eq!(url(line, &log(all())), Err(Fault::NotLog), "{line}");
        }
    }

    #[test]
    fn virtual_hosts_say_host_port_and_scheme() {
        let cases = [
            ("b.example", None, Ok("https://b.example/x")),
            ("b.example", Some("http"), Ok("http://b.example/x")),
            ("b.example:80", None, Ok("http://b.example/x")),
            ("b.example:80", Some("https"), Ok("https://b.example/x")),
            ("b.example:443", None, Ok("https://b.example/x")),
            ("b.example:443", Some("http"), Ok("http://b.example/x")),
            ("b.example:8080", None, Ok("https://b.example:8080/x")),
            ("[::1]:81", Some("http"), Ok("http://[::1]:81/x")),
            ("-", None, Err(Fault::NoHost)),
            ("_", None, Err(Fault::NoHost)),
            ("a@b.example", None, Err(Fault::NoHost)),
            ("a/b.example", None, Err(Fault::NoHost)),
            ("a#b.example", None, Err(Fault::NoHost)),
            (r"a\x5cb.example", None, Err(Fault::NoHost)),
        ];
        let request = format!("[{TIME}] \"GET /x HTTP/1.1\" 200 5");
        for (host, scheme, expected) in cases {
            let expected = expected.map(str::to_owned);
            for (line, host) in [
                (format!("{host} 1.2.3.4 - - {request} \"-\" \"bot/1\""), HostOf::First),
                (format!("1.2.3.4 - - {request} \"-\" \"bot/1\" {host}"), HostOf::After(4)),
                (format!("1.2.3.4 - - {request} \"-\" \"bot/1\" 0.1 \"{host}\" x"), HostOf::After(5)),
            ] {
                assert_eq!(url(&line, &Log { scheme, ..log(host) }), expected, "{line}");
            }
        }
        let line = format!("1.2.3.4 - - {request} \"-\" \"bot/1\"");
        assert_eq!(url(&line, &log(HostOf::After(4))), Err(Fault::NoHost));
        // The user's host fills gaps but replaces nothing.
        let default = Some(b"http://a.example".to_vec());
        for (host, expected) in [
            ("b.example", Ok("https://b.example/x")),
            ("-", Ok("http://a.example/x")),
            ("_", Ok("http://a.example/x")),
            ("a@b.example", Err(Fault::NoHost)),
        ] {
            let log = Log { default: default.clone(), ..log(HostOf::First) };
            let line = format!("{host} 1.2.3.4 - - {request}");
            assert_eq!(url(&line, &log), expected.map(str::to_owned), "{line}");
        }
        let log_after = Log { default, ..log(HostOf::After(4)) };
        assert_eq!(url(&line, &log_after), Ok("http://a.example/x".into()));
        assert_eq!(url(&line, &log(HostOf::Nothing)), Err(Fault::NoHost));
    }
}
