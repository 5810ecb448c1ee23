//! Reads the authority of a URL: user information, host and port.

use std::net::Ipv6Addr;

use memchr::memchr;

use super::error::UrlError;
use super::origin::{Origin, Scheme};
use crate::host::MAX_HOST_BYTES;

/// Kind of bytes that end the authority.
const END: u8 = 1;
/// Kind of non-ASCII bytes.
const BEYOND_ASCII: u8 = 2;
/// Kind of bytes that make the origin ambiguous anywhere in the authority.
const AMBIGUOUS: u8 = 4;
/// Kind of bytes that RFC 3986 section 3.2 forbids in an authority.
const FORBIDDEN: u8 = 8;
/// Kind of the byte that ends the user information.
const AT: u8 = 16;
/// Kind of the byte before a port, or in a password or an IPv6 address.
const COLON: u8 = 32;
/// Kind of the bytes around an IPv6 address.
const BRACKET: u8 = 64;
/// Kind of the byte that begins an escape.
const PERCENT: u8 = 128;

/// Kind of each byte in an authority. Zero for ASCII bytes that names may contain.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'/' | b'?' | b'#' => END,
            0x80.. => BEYOND_ASCII,
            b'\\' | b';' | 0x7F | 0..b' ' => AMBIGUOUS,
            b' ' | b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}' => FORBIDDEN,
            b'@' => AT,
            b':' => COLON,
            b'[' | b']' => BRACKET,
            b'%' => PERCENT,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// Returns whether a byte may occur in a host name without an escape.
const fn is_name_byte(byte: u8) -> bool {
    KINDS[byte as usize] & !BEYOND_ASCII == 0
}

/// Returns the length of the authority at the start of a text, and its byte kinds. Most authorities are so short that
/// setting up a vector search would take longer than this simple pass.
#[inline(always)]
pub(super) fn authority_len(text: &[u8]) -> (usize, u8) {
    let mut kinds = 0;
    for (at, &byte) in text.iter().enumerate() {
        let kind = KINDS[usize::from(byte)];
        if kind & END != 0 {
            return (at, kinds);
        }
        kinds |= kind;
    }
    (text.len(), kinds)
}

/// Parses `[user@]host[:port]`.
///
/// [`split`](super::split) lists the rejected spellings. Linear; no allocation.
///
/// # Errors
/// Returns [`UrlError::Ambiguous`], [`UrlError::UserInfo`], [`UrlError::Host`], [`UrlError::HostNotUtf8`] or
/// [`UrlError::Port`] if that part is invalid.
#[inline]
pub fn origin_of(scheme: Scheme, authority: &[u8]) -> Result<Origin<'_>, UrlError> {
    origin_of_kinds(scheme, authority, authority.iter().fold(0, |kinds, &byte| kinds | KINDS[usize::from(byte)]))
}

/// Implements [`origin_of`] for an authority whose byte kinds are known.
#[inline]
pub(super) fn origin_of_kinds(scheme: Scheme, authority: &[u8], kinds: u8) -> Result<Origin<'_>, UrlError> {
    if kinds & AMBIGUOUS != 0 {
        return Err(UrlError::Ambiguous);
    }
    let authority = if kinds & AT == 0 { authority } else { without_user(authority)? };
    let host_len = if authority.first() == Some(&b'[') {
        memchr(b']', authority).ok_or(UrlError::Host)? + 1
    } else {
        memchr(b':', authority).unwrap_or(authority.len())
    };
    let (host, port) = authority.split_at(host_len);
    // Without these kinds, the host consists of name bytes.
    let is_checked = kinds & (END | FORBIDDEN | BRACKET | PERCENT) == 0;
    if host.is_empty() || host.len() > MAX_HOST_BYTES || !(is_checked || is_host(host)) {
        return Err(UrlError::Host);
    }
    if kinds & (BEYOND_ASCII | PERCENT) != 0 && !crate::host::is_utf8(host) {
        return Err(UrlError::HostNotUtf8);
    }
    let port = match port {
        [] | [b':'] => scheme.default_port(),
        [b':', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or(UrlError::Port)?
        }
        _ => return Err(UrlError::Port),
    };
    Ok(Origin { scheme, host, port })
}

/// Returns the authority without its user information, which must be valid by RFC 3986 section 3.2.1.
fn without_user(authority: &[u8]) -> Result<&[u8], UrlError> {
    let Some(end) = memchr(b'@', authority) else { return Ok(authority) };
    let (user, host_and_port) = (&authority[..end], &authority[end + 1..]);
    let is_user_byte = |&byte: &u8| matches!(byte, b':' | b'%') || (byte.is_ascii() && is_name_byte(byte));
    let is_user = user.iter().all(is_user_byte) && escapes(user).all(|byte| byte.is_some());
    if is_user && !host_and_port.contains(&b'@') { Ok(host_and_port) } else { Err(UrlError::UserInfo) }
}

/// Returns whether a host is an IPv6 address in brackets, or consists of name bytes, escaped or not.
fn is_host(host: &[u8]) -> bool {
    if let [b'[', address @ .., b']'] = host {
        return std::str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    host.iter().all(|&byte| byte == b'%' || is_name_byte(byte))
        && escapes(host).all(|byte| byte.is_some_and(is_name_byte))
}

/// Decodes a text's escapes. Yields `None` for a `%` that does not begin an escape.
fn escapes(text: &[u8]) -> impl Iterator<Item = Option<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    text.split(|&byte| byte == b'%').skip(1).map(move |part| match part {
        [high, low, ..] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `;` is a `sub-delim`, but ends the authority in Google's library.
    #[test]
    fn unlisted_bytes_of_authorities_are_those_of_rfc_3986() {
        let lists: [(&[u8], u8); 6] =
            [(b"/?#", END), (b"\\;\x7F", AMBIGUOUS), (b"@", AT), (b":", COLON), (b"[]", BRACKET), (b"%", PERCENT)];
        for byte in 0..=u8::MAX {
            let listed = lists.iter().find(|(bytes, _)| bytes.contains(&byte)).map(|&(_, kind)| kind);
            let expected = listed.unwrap_or(match byte {
                0..32 => AMBIGUOUS,
                128.. => BEYOND_ASCII,
                _ if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,=".contains(&byte) => 0,
                _ => FORBIDDEN,
            });
            assert_eq!(KINDS[usize::from(byte)], expected, "{byte}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn every_escape_is_decoded_as_the_standard_library_does() {
        for pair in (0..=u16::MAX).map(u16::to_be_bytes) {
            let digits = std::str::from_utf8(&pair).ok().filter(|digits| !digits.starts_with('+'));
            let expected = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            // A second `%` begins another escape, which is incomplete.
            let count = pair.iter().filter(|&&byte| byte == b'%').count();
            let expected = std::iter::once(expected).chain(std::iter::repeat_n(None, count));
            assert!(escapes(&[b'%', pair[0], pair[1]]).eq(expected), "{pair:?}");
        }
    }
}
