//! Access logs from nginx and Apache: splits a line into its parts, and builds the requested URL.
//!
//! A line in the common format is `HOST IDENT USER [TIME] "REQUEST" STATUS BYTES`. The combined format adds `"REFERER"
//! "USER AGENT"`. A virtual host may precede or follow all this. Clients choose the request, the text after it and the
//! user name before it, so parsing starts at the first quote: servers escape quotes inside a part. [`shape`] detects
//! which parts a log has, and shows an example.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use memchr::{memchr, memchr2, memrchr};

use super::Fault;
use super::guess::is_url;

pub(crate) mod json;
pub mod shape;

/// Index of the user agent among the fields after the request: status, size, referer, user agent.
const USER_AGENT: usize = 3;

/// The locations of URLs and other wanted cells in a log.
#[derive(Debug)]
pub(crate) struct Log {
    /// The location of the request's host.
    pub host: HostOf,
    /// The URL prefix for requests without a virtual host, if the user gives one.
    pub default: Option<Vec<u8>>,
    /// The scheme, `http` or `https`, if the user gives it.
    pub scheme: Option<&'static str>,
    /// The wanted cells, in order.
    pub cells: Vec<LogCell>,
}

/// The location of a request's host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostOf {
    /// The log does not contain it.
    Nothing,
    /// The same for all requests: a URL prefix with the scheme and the host.
    All(Vec<u8>),
    /// The line's first field.
    First,
    /// The field after the request with this index.
    After(usize),
}

/// A cell in a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogCell {
    /// The requested URL.
    Url,
    /// The request's time.
    Time,
    /// The request's `User-Agent` header.
    UserAgent,
}

/// A line's parts.
#[derive(Debug)]
struct Parts<'b> {
    /// The text before the time.
    before: &'b [u8],
    /// The time, without its brackets.
    time: &'b [u8],
    /// The request, without quotes but still escaped.
    request: &'b [u8],
    /// The text after the request.
    after: &'b [u8],
}

impl Log {
    /// Stores a line's cells in `cells`. Text that differs from the line is allocated in `arena`.
    ///
    /// Time: at most two steps per byte.
    ///
    /// # Errors
    /// Returns the reason why the line has no URL. If it is a log line, its other cells are stored anyway.
    pub fn read<'b>(&self, line: &'b [u8], arena: &'b Bump, cells: &mut [Option<&'b [u8]>]) -> Result<(), Fault> {
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

    /// Returns a request's URL.
    fn url<'b>(&self, parts: &Parts<'b>, arena: &'b Bump) -> Result<&'b [u8], Fault> {
        let target = unescaped(target_of(parts.request)?, arena);
        let (host, default) = match &self.host {
            HostOf::All(start) => (None, Some(start)),
            HostOf::First => (parts.before.split(|&byte| byte == b' ').next(), self.default.as_ref()),
            HostOf::After(number) => (fields(parts.after).nth(*number).map(|(text, _)| text), self.default.as_ref()),
            HostOf::Nothing => (None, self.default.as_ref()),
        };
        let default = default.map(Vec::as_slice);
        Request { target, host, own: None, default, scheme: self.scheme }.url(arena)
    }
}

/// A request, in any format.
struct Request<'b, 'd> {
    /// The target, which is a path or a whole URL.
    target: &'b [u8],
    /// The virtual host, if the log has it.
    host: Option<&'b [u8]>,
    /// The scheme that the log has for the request.
    own: Option<&'static str>,
    /// The URL prefix for requests without a virtual host, if the user gives one.
    default: Option<&'d [u8]>,
    /// The scheme, if the user gives it.
    scheme: Option<&'static str>,
}

impl<'b> Request<'b, '_> {
    /// Returns the requested URL.
    fn url(self, arena: &'b Bump) -> Result<&'b [u8], Fault> {
        let Request { target, host, default, scheme, own } = self;
        if target.first() != Some(&b'/') {
            return if is_url(target) { Ok(target) } else { Err(Fault::BrokenRequest) };
        }
        let Some(authority) = host.filter(|host| is_authority(host)) else {
            let start = default.filter(|_| host.is_none_or(is_no_host)).ok_or(Fault::NoHost)?;
            return Ok(match (scheme, own, memchr(b':', start)) {
                (None, Some(own), Some(colon)) => joined(&[own.as_bytes(), &start[colon..], target], arena),
                _ => joined(&[start, target], arena),
            });
        };
        let (scheme, authority) = self.scheme_of(authority);
        Ok(joined(&[scheme.as_bytes(), b"://", authority, target], arena))
    }

    /// Returns the scheme for a virtual host, and the host without a port that only implies the scheme.
    ///
    /// A server behind a proxy uses its own ports, so the user's scheme takes precedence.
    fn scheme_of(&self, authority: &'b [u8]) -> (&'static str, &'b [u8]) {
        let without = |port: &[u8]| authority.strip_suffix(port);
        if let (None, Some(own)) = (self.scheme, self.own) {
            return (own, authority);
        }
        match (without(b":80"), without(b":443")) {
            (Some(host), _) => (self.scheme.unwrap_or("http"), host),
            (_, Some(host)) => (self.scheme.unwrap_or("https"), host),
            _ => (self.scheme.unwrap_or("https"), authority),
        }
    }
}

impl<'b> Parts<'b> {
    /// Splits a line, if it has a time and a request.
    fn of(line: &'b [u8]) -> Option<Parts<'b>> {
        let quote = memchr(b'"', line)?;
        let until_time = line[..quote].strip_suffix(b"] ")?;
        let open = memrchr(b'[', until_time)?;
        let (request, after) = quoted(&line[quote + 1..])?;
        Some(Parts { before: &until_time[..open], time: &until_time[open + 1..], request, after })
    }
}

/// Splits text at the first unescaped quote.
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

/// Returns the fields after the request, without quotes, and whether each was quoted.
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

/// Returns a request's target. A request is `METHOD TARGET HTTP/VERSION`. In HTTP/0.9 it ends with the target.
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

/// Concatenates `parts`.
pub(super) fn joined<'b>(parts: &[&[u8]], arena: &'b Bump) -> &'b [u8] {
    let mut text = BumpVec::with_capacity_in(parts.iter().map(|part| part.len()).sum(), arena);
    parts.iter().for_each(|part| text.extend_from_slice_copy(part));
    text.into_bump_slice()
}

/// Decodes the escapes that servers write: `\"`, `\\`, control letters, `\xHH`, and `\uHHHH` as in JSON. Other text is
/// unchanged.
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

/// Returns the value of `digits` hexadecimal digits after an escape's letter.
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

    /// Returns a line's URL after checking the time and the user agent, which are the same in all these lines.
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
    fn user_names_do_not_shift_fields() {
        for user in ["-", "a b", "[x]", "[", "] ", "[10/Oct/2000:13:55:36 -0700] GET /evil", r"\x22", "é"] {
            let line = format!("1.2.3.4 - {user} [{TIME}] \"GET /a HTTP/1.1\" 200 5 \"-\" \"bot/1\"");
            assert_eq!(url(&line, &log(all())), Ok("https://a.example/a".into()), "{line}");
        }
    }

    #[test]
    fn other_lines_have_no_cells() {
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
    fn virtual_hosts_determine_host_port_and_scheme() {
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
        // The user's host fills gaps and replaces nothing.
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
