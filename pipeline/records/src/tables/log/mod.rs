//! Access logs: finds the fields of a line by the log's format, and builds the requested URL.
//!
//! [`mod@format`] has the formats, and [`matching`] finds the fields. [`shape`] detects the common formats by a log's first
//! lines. Clients choose the request, the user agent, the user name and other headers, so no such text ever selects a
//! host or the format: the user gives the host, or the format names its field. [`json`] reads logs in JSON, and [`w3c`]
//! reads logs whose `#Fields:` line names the fields.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use memchr::{memchr, memchr2, memmem, memrchr};
use reptile::Scheme;
use reptile::urls::{canonical_host, origin_of};

use super::row::{Fault, is_url};
use format::{Escape, FieldKind, LogFormat};
use matching::{Matcher, SLOT_COUNT, Values};

mod escapes;
pub mod format;
pub(crate) mod json;
mod matching;
pub mod shape;
pub(crate) mod w3c;

/// Where the host is among the wanted fields of a format.
const HOST: usize = 0;
const PORT: usize = 1;
const SCHEME: usize = 2;
const TARGET: usize = 3;
const TIME: usize = 4;
const USER_AGENT: usize = 5;
const STATUS: usize = 6;
const CLIENT: usize = 7;

/// A log's format, the origin of its requests, and its wanted cells.
#[derive(Debug)]
pub(crate) struct Log {
    matcher: Matcher,
    /// The kind of the field with the request's target.
    target: FieldKind,
    /// Whether each virtual host needs a port.
    has_port: bool,
    origin: Origin,
    /// The wanted cells, in order.
    cells: Vec<LogCell>,
}

/// The user's origin for requests, and the rule for those without a host.
#[derive(Clone, Debug, Default)]
struct Origin {
    /// The URL prefix for requests without a virtual host, if the user gives one.
    default: Option<Vec<u8>>,
    /// The scheme, `http` or `https`, if the user gives it.
    scheme: Option<&'static str>,
    /// Whether no host is known, so that each request's target names its own.
    is_proxy: bool,
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
    /// The response's status.
    Status,
    /// The address that the request came from, as the server saw it.
    Client,
}

impl LogCell {
    /// The columns of every access log, except for its URLs.
    pub(crate) const NAMED: [(&str, LogCell); 4] = [
        ("time", LogCell::Time),
        ("user_agent", LogCell::UserAgent),
        ("status", LogCell::Status),
        ("client", LogCell::Client),
    ];

    /// Returns the cell with a column's name.
    pub(crate) fn named(name: &str) -> Option<LogCell> {
        let name = name.to_ascii_lowercase().replace('-', "_");
        LogCell::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, cell)| cell)
    }

    /// Returns the column's description for messages. A URL has no fixed one.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            LogCell::Url => "the request",
            LogCell::Time => "the time of the request",
            LogCell::UserAgent => "the user agent",
            LogCell::Status => "the status",
            LogCell::Client => "the client's address",
        }
    }

    /// Returns the cell's field in a format: its slot and its kind.
    fn slot(self) -> Option<(usize, FieldKind)> {
        match self {
            LogCell::Url => None,
            LogCell::Time => Some((TIME, FieldKind::Time)),
            LogCell::UserAgent => Some((USER_AGENT, FieldKind::UserAgent)),
            LogCell::Status => Some((STATUS, FieldKind::Status)),
            LogCell::Client => Some((CLIENT, FieldKind::Client)),
        }
    }
}

impl Log {
    /// Prepares a format for reading cells. Unless `has_host`, its host is not used.
    fn new(format: LogFormat, origin: Origin, has_host: bool, cells: Vec<LogCell>) -> Log {
        let mut slots = [None; SLOT_COUNT];
        slots[TARGET] = format.target();
        slots[SCHEME] = format.place(FieldKind::Scheme);
        if has_host {
            (slots[HOST], slots[PORT]) = (format.host(), format.place(FieldKind::Port));
        }
        for (slot, kind) in cells.iter().filter_map(|cell| cell.slot()) {
            slots[slot] = format.place(kind);
        }
        let kind = |slot: usize| slots[slot].map_or(FieldKind::Other, |place| format.fields[place].kind);
        let (target, has_port) = (kind(TARGET), matches!(kind(HOST), FieldKind::HostAndPort(_)));
        Log { target, has_port, origin, cells, matcher: Matcher::new(format, slots) }
    }

    /// Stores a line's cells in `cells`. Text that differs from the line is allocated in `arena`.
    ///
    /// # Errors
    /// Returns the reason why the line has no URL. If it is a log line, its other cells are stored anyway.
    pub fn read<'b>(&self, line: &'b [u8], arena: &'b Bump, cells: &mut [Option<&'b [u8]>]) -> Result<(), Fault> {
        let mut values = Values::default();
        self.matcher.find(line, &mut values)?;
        let mut found = Ok(());
        for (place, cell) in cells.iter_mut().zip(&self.cells) {
            *place = match cell {
                LogCell::Time => values[TIME],
                LogCell::Status => values[STATUS],
                LogCell::Client => values[CLIENT],
                LogCell::UserAgent => values[USER_AGENT].map(|text| self.unescaped(text, arena)),
                LogCell::Url => self.url(&values, arena).map_err(|fault| found = Err(fault)).ok(),
            };
        }
        found
    }

    /// Returns whether a line has all the format's fields, also those that reading its cells skips.
    fn has_format(&self, line: &[u8]) -> bool {
        self.matcher.search(line, &mut Values::default()) != Err(Fault::NotLog)
    }

    #[inline]
    fn unescaped<'b>(&self, text: &'b [u8], arena: &'b Bump) -> &'b [u8] {
        match self.matcher.escape() {
            Escape::Backslash => unescaped(text, arena),
            Escape::None => text,
        }
    }

    /// Returns a request's URL.
    fn url<'b>(&self, values: &Values<'b>, arena: &'b Bump) -> Result<&'b [u8], Fault> {
        let text = values[TARGET].unwrap_or_default();
        let target = match self.target {
            FieldKind::Request => target_of(text)?,
            FieldKind::HostAndTarget(_) => plain_target(memchr(b'/', text).map_or(text, |at| &text[at..]))?,
            FieldKind::PathAndQuery => of_decoded_path(plain_target(text)?)?,
            _ => plain_target(text)?,
        };
        let host = values[HOST].map(|host| match memchr(b'/', host) {
            Some(at) if matches!(self.target, FieldKind::HostAndTarget(_)) => &host[..at],
            _ => host,
        });
        if self.has_port && host.is_some_and(|host| !is_no_host(host) && !has_port(host)) {
            return Err(Fault::NoHost);
        }
        let own = scheme_named(values[SCHEME])?;
        let target = self.unescaped(target, arena);
        Request { target, host, port: values[PORT], own, origin: &self.origin }.url(arena)
    }
}

/// A request, in any format.
struct Request<'b, 'd> {
    /// The target, which is a path or a whole URL.
    target: &'b [u8],
    /// The virtual host, if the log has it, with or without a port.
    host: Option<&'b [u8]>,
    /// The server's port, if the log has it.
    port: Option<&'b [u8]>,
    /// The scheme that the log has for the request.
    own: Option<&'static str>,
    origin: &'d Origin,
}

impl<'b> Request<'b, '_> {
    /// Returns the requested URL.
    fn url(self, arena: &'b Bump) -> Result<&'b [u8], Fault> {
        let target = self.target;
        let is_path = target.first() == Some(&b'/');
        if !is_path && !is_url(target) {
            return Err(Fault::BrokenRequest);
        }
        if self.origin.is_proxy && self.host.is_none_or(is_no_host) && self.origin.default.is_none() {
            return if is_path { Err(Fault::NoHost) } else { Ok(target) };
        }
        if let (true, None, None, Some(start)) = (is_path, self.host, self.own, &self.origin.default) {
            return Ok(joined(&[start, target], arena));
        }
        let [scheme, mark, host, colon, port] = self.known()?;
        if is_path && port.is_empty() {
            return Ok(joined(&[scheme, mark, host, target], arena));
        }
        let [slash, path] = if is_path { [b"", target] } else { path_on(&[host, colon, port].concat(), target)? };
        Ok(joined(&[scheme, mark, host, colon, port, slash, path], arena))
    }

    /// Returns the known origin in pieces: the scheme, `://`, the host, a colon and the port.
    fn known(&self) -> Result<[&[u8]; 5], Fault> {
        let Some(authority) = self.host.filter(|host| !is_no_host(host)) else {
            let start = self.origin.default.as_deref().ok_or(Fault::NoHost)?;
            let colon = memchr(b':', start).unwrap_or_default();
            let own = self.own.filter(|_| self.origin.scheme.is_none());
            let scheme = own.map_or(&start[..colon], str::as_bytes);
            return Ok([scheme, b"://", start.get(colon + 3..).unwrap_or_default(), b"", b""]);
        };
        if !is_authority(authority) {
            return Err(Fault::NoHost);
        }
        let port = self.port.filter(|port| !has_port(authority) && !is_no_host(port)).unwrap_or_default();
        let (scheme, host) = self.scheme_of(authority, port);
        let is_default = port.is_empty() || matches!(port, b"80" | b"443") && self.own.is_none();
        Ok(match is_default {
            true => [scheme.as_bytes(), b"://", host, b"", b""],
            false => [scheme.as_bytes(), b"://", host, b":", port],
        })
    }

    /// Returns the scheme for a virtual host, and the host without a port that only implies the scheme.
    ///
    /// A server behind a proxy uses its own ports, so the user's scheme takes precedence.
    fn scheme_of(&self, authority: &'b [u8], port: &[u8]) -> (&'static str, &'b [u8]) {
        let given = self.origin.scheme;
        if let (None, Some(own)) = (given, self.own) {
            return (own, authority);
        }
        match authority {
            [host @ .., b':', b'8', b'0'] => (given.unwrap_or("http"), host),
            [host @ .., b':', b'4', b'4', b'3'] => (given.unwrap_or("https"), host),
            _ if port == b"80" => (given.unwrap_or("http"), authority),
            _ => (given.unwrap_or("https"), authority),
        }
    }
}

/// Returns the path of a target that is a whole URL on the known host, in two pieces.
///
/// # Errors
/// Returns an error if the target names another host.
fn path_on<'t>(known: &[u8], target: &'t [u8]) -> Result<[&'t [u8]; 2], Fault> {
    let colon = memmem::find(target, b"://").ok_or(Fault::OtherHost)?;
    let (scheme, rest) = (&target[..colon], &target[colon + 3..]);
    scheme_named(Some(scheme)).map_err(|_| Fault::OtherHost)?;
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let name = |authority| {
        let origin = origin_of(Scheme::Https, authority).ok()?;
        let port = if matches!(origin.port, 80 | 443) { None } else { Some(origin.port) };
        Some((canonical_host(origin.host)?, port))
    };
    match (name(known), name(authority)) {
        (Some((known, port)), Some((host, own))) if known.as_bytes() == host.as_bytes() && port == own => {}
        _ => return Err(Fault::OtherHost),
    }
    Ok([if path.first() == Some(&b'/') { b"" } else { b"/" }, path])
}

/// Returns the scheme that a log names. A WebSocket begins as an HTTP request.
#[inline]
fn scheme_named(scheme: Option<&[u8]>) -> Result<Option<&'static str>, Fault> {
    match scheme.map(<[u8]>::to_ascii_lowercase).as_deref() {
        None | Some(b"" | b"-") => Ok(None),
        Some(b"http" | b"ws") => Ok(Some("http")),
        Some(b"https" | b"wss") => Ok(Some("https")),
        Some(_) => Err(Fault::NoScheme),
    }
}

/// Returns a target that has its own field.
fn plain_target(target: &[u8]) -> Result<&[u8], Fault> {
    match target {
        b"" | b"-" => Err(Fault::NoRequest),
        b"*" => Err(Fault::NoTarget),
        _ if memchr(b' ', target).is_some() => Err(Fault::BrokenRequest),
        _ => Ok(target),
    }
}

/// Returns a target whose path the server has decoded, if it has only one reading. An escape in it was escaped itself.
fn of_decoded_path(target: &[u8]) -> Result<&[u8], Fault> {
    let path = memchr(b'?', target).map_or(target, |at| &target[..at]);
    if memchr2(b'%', b'#', path).is_some() { Err(Fault::TwoReadings) } else { Ok(target) }
}

/// Returns a request's target. A request is `METHOD TARGET HTTP/VERSION`. In HTTP/0.9 it ends with the target.
fn target_of(request: &[u8]) -> Result<&[u8], Fault> {
    if matches!(request, b"" | b"-") {
        return Err(Fault::NoRequest);
    }
    let is_method = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let (method, rest) = request.split_at(request.iter().take_while(|byte| is_method(byte)).count());
    let rest = rest.strip_prefix(b" ").ok_or(Fault::BrokenRequest)?;
    let (target, version) = match memrchr(b' ', rest) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let is_version = version.is_none_or(|version| matches!(version, [b'H', b'T', b'T', b'P', b'/', ..]));
    if method.is_empty() || !is_version || target.is_empty() || memchr(b' ', target).is_some() {
        return Err(Fault::BrokenRequest);
    }
    if method == b"CONNECT" || target == b"*" {
        return Err(Fault::NoTarget);
    }
    Ok(target)
}

/// Returns whether the virtual host is missing, which servers write as `-` or `_`, perhaps with a port.
#[inline]
fn is_no_host(field: &[u8]) -> bool {
    matches!(field, b"" | b"-" | b"_") || matches!(field, [b'-' | b'_', b':', ..]) && has_port(field)
}

/// Returns whether a virtual host can be copied into a URL unchanged: a name or an address, and perhaps a port.
fn is_authority(field: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | 0x80..);
    match &field[..field.len() - port_len(field)] {
        [b'[', inner @ ..] => inner.ends_with(b"]"),
        name => !name.is_empty() && name.iter().all(is_name),
    }
}

/// Returns whether a host ends with a port.
fn has_port(authority: &[u8]) -> bool {
    port_len(authority) > 0
}

/// Returns the length of a host's port with its colon, or 0.
#[inline]
fn port_len(authority: &[u8]) -> usize {
    for len in 1..=authority.len().min(MAX_PORT_DIGITS + 1) {
        match authority[authority.len() - len] {
            b'0'..=b'9' => {}
            b':' if len > 1 => return len,
            _ => return 0,
        }
    }
    0
}

/// Number of digits in 65535, the largest port.
const MAX_PORT_DIGITS: usize = 5;

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
mod tests;

#[cfg(test)]
mod forged;

#[cfg(test)]
mod random;
