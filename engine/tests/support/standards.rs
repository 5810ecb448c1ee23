//! Three independent readers of a URL's origin: the engine, the `url` crate, and the RFC 3986 grammar.

use std::net::Ipv6Addr;

use reptile_engine::host::canonical;
use reptile_engine::url::{Scheme, path_of, split};
use url::Url;

/// An origin whose host is in its canonical form, or [`NO_FORM`].
#[derive(Debug, PartialEq)]
struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

/// Replaces the canonical form of an invalid host, such as `a..`. The engine accepts no such host.
const NO_FORM: &str = "no form of the host";

/// Returns a host's canonical form.
fn form(host: &str) -> Option<String> {
    Some(String::from_utf8(canonical(host.as_bytes())?.as_bytes().to_vec()).unwrap())
}

/// Returns the engine's origin, or its reason for rejecting the URL.
fn engine(url: &str) -> Result<Origin, String> {
    let origin = split(url.as_bytes()).map_err(|error| format!("{error:?}"))?.origin;
    let host = form(std::str::from_utf8(origin.host).unwrap()).ok_or(NO_FORM)?;
    Ok(Origin { scheme: origin.scheme.as_str().into(), host, port: origin.port })
}

/// Returns the origin by the WHATWG URL standard, without the host's final dot, which the engine deliberately drops.
fn whatwg(url: &str) -> Result<Origin, String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    let host = url.host_str().ok_or("no host")?;
    let host = form(host).unwrap_or_else(|| NO_FORM.into());
    let port = url.port_or_known_default().ok_or("no port")?;
    Ok(Origin { scheme: url.scheme().into(), host, port })
}

/// Returns the scheme, host and port as written, by the RFC 3986 grammar (sections 3.1 and 3.2, and RFC 6874 for
/// zones). Names may contain raw non-ASCII characters, as in RFC 3987.
fn rfc3986(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once(':')?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(is_scheme) {
        return None;
    }
    let rest = rest.strip_prefix("//")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, host_and_port) = authority.split_once('@').unwrap_or(("", authority));
    let host_len = match host_and_port.strip_prefix('[') {
        Some(literal) => literal.find(']')? + 2,
        None => host_and_port.find(':').unwrap_or(host_and_port.len()),
    };
    let (host, port) = host_and_port.split_at(host_len);
    let port = if port.is_empty() { port } else { port.strip_prefix(':')? };
    let fits = is_text(user, |c| c == ':' || is_name_char(c)) && port.chars().all(|c| c.is_ascii_digit());
    let is_host = match host.strip_prefix('[') {
        Some(literal) => is_ip_literal(literal.strip_suffix(']')?),
        None => is_text(host, |c| !c.is_ascii() || is_name_char(c)),
    };
    (fits && is_host).then_some((scheme, host, port))
}

/// Returns whether a character is in `unreserved` or `sub-delims` (RFC 3986 section 2).
fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=".contains(c)
}

/// Returns whether a text consists of accepted and `pct-encoded` characters.
fn is_text(text: &str, is_char: impl Fn(char) -> bool) -> bool {
    let is_digit = |at: usize, part: &str| part.as_bytes().get(at).is_some_and(u8::is_ascii_hexdigit);
    text.chars().all(|c| c == '%' || is_char(c))
        && text.split('%').skip(1).all(|part| is_digit(0, part) && is_digit(1, part))
}

/// Returns whether a literal is an `IPv6address`, an `IPvFuture`, or an address with a zone.
fn is_ip_literal(literal: &str) -> bool {
    if let Some((version, address)) = literal.strip_prefix('v').and_then(|future| future.split_once('.')) {
        let is_version = !version.is_empty() && version.chars().all(|c| c.is_ascii_hexdigit());
        return is_version && !address.is_empty() && address.chars().all(|c| c == ':' || is_name_char(c));
    }
    let (address, zone) = literal.split_once("%25").unwrap_or((literal, "eth0"));
    address.parse::<Ipv6Addr>().is_ok() && !zone.is_empty() && is_text(zone, is_name_char)
}

/// Returns whether the two standards agree on a URL's origin, after converting RFC 3986's host to its canonical form.
fn standards_agree(rfc: Option<(&str, &str, &str)>, whatwg: &Origin) -> bool {
    let Some((scheme, host, port)) = rfc else { return false };
    let same_port = if port.is_empty() {
        Scheme::from_name(scheme.as_bytes()).is_some_and(|scheme| scheme.default_port() == whatwg.port)
    } else {
        port.parse() == Ok(whatwg.port)
    };
    let host = form(host).unwrap_or_else(|| NO_FORM.into());
    // RFC 9110 section 4.2.1: an http URL must not have an empty host.
    !host.is_empty() && same_port && scheme.eq_ignore_ascii_case(&whatwg.scheme) && host == whatwg.host
}

/// Compares the three results for a URL, and returns a row label for the table of counts. Panics at a contradiction.
pub fn compare(url: &str) -> String {
    let rfc = rfc3986(url);
    if let Ok(split) = split(url.as_bytes()) {
        assert_eq!(split.path.to_vec(), path_of(url.as_bytes()).to_vec(), "{url:?}: path");
        let (scheme, host, port) = rfc.unwrap_or_else(|| panic!("{url:?} is accepted, but invalid by RFC 3986"));
        let origin = split.origin;
        assert!(scheme.eq_ignore_ascii_case(origin.scheme.as_str()), "{url:?}: scheme");
        assert_eq!(host.as_bytes(), origin.host, "{url:?}: host");
        let port = if port.is_empty() { Ok(origin.scheme.default_port()) } else { port.parse() };
        assert_eq!(port, Ok(origin.port), "{url:?}: port");
    }
    match (engine(url), whatwg(url)) {
        (Ok(engine), Ok(whatwg)) => {
            assert_eq!(engine, whatwg, "{url:?}");
            "all agree".into()
        }
        (Ok(_), Err(reason)) => format!("only WHATWG refuses: {reason}"),
        (Err(reason), Ok(whatwg)) if standards_agree(rfc, &whatwg) => format!("only the engine refuses: {reason}"),
        (Err(reason), Ok(_)) if rfc.is_some() => format!("the standards differ: {reason}"),
        (Err(reason), Ok(_)) => format!("only WHATWG accepts: {reason}"),
        (Err(_), Err(_)) if rfc.is_some() => "only RFC 3986 accepts".into(),
        (Err(_), Err(_)) => "all refuse".into(),
    }
}
