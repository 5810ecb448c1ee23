//! The canonical form of hosts, used to compare origins.
//!
//! [`canonical`] is applied to the hosts of robots.txt files when a set is compiled, and to the hosts of URLs when they
//! are looked up, so that equal hosts have equal bytes. URLs are split in [`crate::url`]. Mapping non-ASCII names (UTS
//! 46) needs Unicode tables, which the feature `idna` includes. Without it such names are invalid.

use std::fmt::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Maximum length of a host name in bytes (RFC 1035 section 2.3.4 allows 253 without the final dot).
pub const MAX_HOST_BYTES: usize = 255;

/// A host on the stack, up to [`MAX_HOST_BYTES`] bytes long.
#[derive(Clone, Copy)]
pub struct Host {
    bytes: [u8; MAX_HOST_BYTES],
    len: u8,
}

impl Host {
    /// Copies bytes without checking them.
    ///
    /// Returns `None` if there are more than [`MAX_HOST_BYTES`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Host> {
        let mut host = Host { bytes: [0; MAX_HOST_BYTES], len: u8::try_from(bytes.len()).ok()? };
        host.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(host)
    }

    /// Returns the host's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn written(text: impl fmt::Display) -> Option<Host> {
        let mut host = Host::new(b"")?;
        write!(host, "{text}").ok()?;
        Some(host)
    }
}

impl Write for Host {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let (start, end) = (usize::from(self.len), usize::from(self.len) + text.len());
        self.bytes.get_mut(start..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = u8::try_from(end).map_err(|_| fmt::Error)?;
        Ok(())
    }
}

/// Maps a host name to A-labels: UTS 46, non-transitional, as in browsers (the WHATWG URL standard's "domain to
/// ASCII", non-strict). Linear; may allocate.
#[cfg(feature = "idna")]
fn to_ascii(host: &[u8]) -> Option<Host> {
    let mapped = idna::domain_to_ascii_cow(host, idna::AsciiDenyList::URL).ok()?;
    Host::new(mapped.as_bytes())
}

/// Rejects non-ASCII names, because there are no Unicode tables.
#[cfg(not(feature = "idna"))]
fn to_ascii(_: &[u8]) -> Option<Host> {
    None
}

/// Returns whether a label begins with `xn--`, as A-labels do, in any letter case.
#[cfg(feature = "idna")]
fn has_a_label(name: &[u8]) -> bool {
    name.split(|&byte| byte == b'.')
        .any(|label| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"xn--")))
}

/// Returns `false`: without Unicode tables, A-labels are not checked.
#[cfg(not(feature = "idna"))]
fn has_a_label(_: &[u8]) -> bool {
    false
}

/// Returns whether [`canonical`] can be skipped for a host.
///
/// The result would be the same bytes or `None`. True for nearly all hosts. A plain host contains no non-ASCII byte,
/// `%`, capital letter or `[`. It does not begin with a digit, unlike every spelling of an IPv4 address, and does not
/// end with a dot.
#[inline]
#[must_use]
pub fn is_plain(host: &[u8]) -> bool {
    // Two comparisons per byte, both available as vector instructions: as signed numbers, bytes from 0x80 up are
    // negative, `%` is less than `-`, and `[` comes after `Z`. `any` would stop at the first hit and therefore
    // examine one byte at a time.
    let is_special = |byte: u8| ((byte as i8) < b'-' as i8) | (b'A'..=b'[').contains(&byte);
    !host.iter().fold(false, |found, &byte| found | is_special(byte))
        && host.first().is_some_and(|first| !first.is_ascii_digit())
        && host.last() != Some(&b'.')
}

/// Returns a host's canonical form, which is used to compare origins, or `None` if the host is invalid.
///
/// - `%xx` is decoded.
/// - Non-ASCII names become A-labels. They are invalid without the feature `idna`.
/// - A label that begins with `xn--` must be the A-label of a valid name. Without the feature, it is not checked.
/// - Letters become lower case.
/// - A dot at the end is dropped, because it only marks the name as complete.
/// - An IPv4 address in any spelling becomes four decimal numbers, and an IPv6 address its shortest text in brackets.
///
/// Source: the host parser of the WHATWG URL standard, except that the standard keeps the dot at the end. Linear;
/// allocates only for non-ASCII names and A-labels.
///
/// ```
/// use reptile_engine::host::canonical;
/// let form = |host: &str| canonical(host.as_bytes()).map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
/// assert_eq!(form("EXAMPLE%2Ecom.").as_deref(), Some("example.com"));
/// assert_eq!(form("[0:0:0:0:0:0:0:1]").as_deref(), Some("[::1]"));
/// assert_eq!(form("0x7F.1").as_deref(), Some("127.0.0.1"));
/// assert_eq!(form("a b"), None);
/// ```
#[must_use]
pub fn canonical(host: &[u8]) -> Option<Host> {
    let mut host = decode(host)?;
    if !host.as_bytes().is_ascii() || has_a_label(host.as_bytes()) {
        host = to_ascii(host.as_bytes()).filter(|host| host.as_bytes().is_ascii())?;
    }
    let len = usize::from(host.len);
    host.bytes[..len].make_ascii_lowercase();
    if let [b'[', address @ .., b']'] = host.as_bytes() {
        let address: Ipv6Addr = std::str::from_utf8(address).ok()?.parse().ok()?;
        return Host::written(format_args!("[{address}]"));
    }
    if host.as_bytes().last() == Some(&b'.') {
        host.len -= 1;
    }
    let name = host.as_bytes();
    if name.is_empty() || name.last() == Some(&b'.') || name.iter().any(|&byte| FORBIDDEN[usize::from(byte)]) {
        return None;
    }
    if ends_in_number(name) { Host::written(ipv4(name)?) } else { Some(host) }
}

/// Decodes a host's escapes. A `%` that does not begin an escape stays, and is rejected later.
fn decode(host: &[u8]) -> Option<Host> {
    if !host.contains(&b'%') {
        return Host::new(host);
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let mut decoded = Host::new(b"")?;
    let mut rest = host;
    while let [first, tail @ ..] = rest {
        let escape = match tail {
            [high, low, after @ ..] if *first == b'%' => digit(high).zip(digit(low)).map(|digits| (digits, after)),
            _ => None,
        };
        let (byte, after) = escape.map_or((*first, tail), |((high, low), after)| ((high << 4 | low) as u8, after));
        *decoded.bytes.get_mut(usize::from(decoded.len))? = byte;
        decoded.len += 1;
        rest = after;
    }
    Some(decoded)
}

/// Returns whether a host is UTF-8 after its escapes are decoded.
pub(crate) fn is_utf8(host: &[u8]) -> bool {
    decode(host).is_some_and(|host| std::str::from_utf8(host.as_bytes()).is_ok())
}

/// The forbidden domain code points of the WHATWG URL standard. A table, because a set with millions of origins looks
/// up every byte of their names.
static FORBIDDEN: [bool; 256] = {
    let mut forbidden = [false; 256];
    let mut byte = 0;
    while byte <= b' ' {
        forbidden[byte as usize] = true;
        byte += 1;
    }
    let others = b"#%/:<>?@[\\]^|\x7F";
    let mut at = 0;
    while at < others.len() {
        forbidden[others[at] as usize] = true;
        at += 1;
    }
    forbidden
};

/// Returns whether the last label is a number. The name must then be an IPv4 address.
fn ends_in_number(name: &[u8]) -> bool {
    let last = name.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let is_hex = last.strip_prefix(b"0x").is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    is_hex || (!last.is_empty() && last.iter().all(u8::is_ascii_digit))
}

/// Parses an IPv4 address with one to four numbers, each decimal, octal or hexadecimal. The last number fills the
/// remaining bytes.
fn ipv4(name: &[u8]) -> Option<Ipv4Addr> {
    let mut address = 0_u32;
    let mut parts = name.split(|&byte| byte == b'.').peekable();
    for index in 0..4 {
        let number = number(parts.next()?)?;
        if parts.peek().is_some() {
            address = address << 8 | u32::from(u8::try_from(number).ok()?);
            continue;
        }
        let bits = 8 * (4 - index);
        if u64::from(number) >> bits > 0 {
            return None;
        }
        return Some(Ipv4Addr::from((u64::from(address) << bits | u64::from(number)) as u32));
    }
    None
}

fn number(part: &[u8]) -> Option<u32> {
    let (digits, radix) = match part {
        [b'0', b'x', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] if !digits.is_empty() => (digits, 8),
        _ => (part, 10),
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(radix);
    if digits.is_empty() {
        return (radix == 16).then_some(0);
    }
    digits.iter().try_fold(0_u32, |value, byte| value.checked_mul(radix)?.checked_add(digit(byte)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn form(host: &[u8]) -> Option<String> {
        let form = canonical(host)?;
        Some(String::from_utf8(form.as_bytes().to_vec()).unwrap())
    }

    #[test]
    fn equivalent_hosts_have_one_canonical_form() {
        let table: [(&[u8], Option<&str>); 43] = [
            (b"example.com", Some("example.com")),
            (b"EXAMPLE.Com", Some("example.com")),
            (b"example.com.", Some("example.com")),
            (b"example.com..", None),
            (b".", None),
            (b"", None),
            (b"a_b.example", Some("a_b.example")),
            (b"ex%61mple.com", Some("example.com")),
            (b"ex%4Dple%2ecom", Some("exmple.com")),
            (b"a%2", None),
            (b"a%zz", None),
            (b"a%2525", None),
            (b"a%2Fb", None),
            (b"a%00b", None),
            (b"a b", None),
            (b"a:b", None),
            (b"a<b", None),
            (b"b\xE1r", None),
            (b"127.0.0.1", Some("127.0.0.1")),
            (b"127.0.0.1.", Some("127.0.0.1")),
            (b"0177.0.0.1", Some("127.0.0.1")),
            (b"0x7f.1", Some("127.0.0.1")),
            (b"0X7F000001", Some("127.0.0.1")),
            (b"2130706433", Some("127.0.0.1")),
            (b"1.2.3", Some("1.2.0.3")),
            (b"1.2.65535", Some("1.2.255.255")),
            (b"1.2.65536", None),
            (b"255.255.255.255", Some("255.255.255.255")),
            (b"255.255.255.256", None),
            (b"256.1.1.1", None),
            (b"4294967295", Some("255.255.255.255")),
            (b"4294967296", None),
            (b"1.2.3.08", None),
            (b"1.2.3.4.5", None),
            (b"1..2", None),
            (b"0x", Some("0.0.0.0")),
            (b"1.2.3.4.example", Some("1.2.3.4.example")),
            (b"a.7", None),
            (b"[::1]", Some("[::1]")),
            (b"[0:0:0:0:0:0:0:1]", Some("[::1]")),
            (b"[2001:DB8:0::A]", Some("[2001:db8::a]")),
            (b"[::1", None),
            (b"[::1%25eth0]", None),
        ];
        for (host, expected) in table {
            assert_eq!(form(host).as_deref(), expected, "{}", host.escape_ascii());
        }
    }

    /// With the feature `idna`, non-ASCII names become A-labels; without it, they are invalid.
    #[test]
    fn non_ascii_names_are_valid_only_with_idna() {
        for (host, expected) in [
            ("b\u{e4}r.example", Some("xn--br-via.example")),
            ("B%C3%84R.example", Some("xn--br-via.example")),
            // Full-width digits count as digits, so this is an address. A full-width slash counts as a slash, which is
            // forbidden in hosts.
            ("\u{ff11}7", Some("0.0.0.17")),
            ("a\u{ff0f}b", None),
        ] {
            let expected = expected.filter(|_| cfg!(feature = "idna"));
            assert_eq!(form(host.as_bytes()).as_deref(), expected, "{host}");
        }
    }

    /// Clients refuse labels that begin with `xn--` but are not the A-label of a name.
    #[test]
    fn a_labels_must_be_valid() {
        for (host, is_valid) in [
            ("xn--br-via.example", true),
            ("XN--BR-VIA.example", true),
            ("www.xn--br-via", true),
            ("axn--", true),
            ("xn-", true),
            ("xn--", false),
            ("XN--.example", false),
            ("a.xn--", false),
            ("xn--a", false),
            ("xn--a-", false),
            ("xn--abc-", false),
            ("xn--br-via\u{e4}", false),
            // An encoded ASCII name, and an encoded name that mapping would change.
            ("xn--example-", false),
            ("xn--br-4fa", false),
        ] {
            let expected = if cfg!(feature = "idna") { is_valid } else { host.is_ascii() };
            assert_eq!(form(host.as_bytes()).is_some(), expected, "{host}");
        }
    }

    #[test]
    fn hosts_may_be_exactly_as_long_as_the_limit() {
        for (len, fits) in [(MAX_HOST_BYTES - 1, true), (MAX_HOST_BYTES, true), (MAX_HOST_BYTES + 1, false)] {
            assert_eq!(Host::new(&vec![b'h'; len]).is_some(), fits, "{len}");
            assert_eq!(form(&vec![b'H'; len]), fits.then(|| "h".repeat(len)));
            // A host over the limit may fit once its escapes are decoded.
            let escaped = [&vec![b'h'; len - 1][..], b"%48"].concat();
            assert_eq!(form(&escaped), fits.then(|| "h".repeat(len)));
        }
    }

    proptest! {
        #[test]
        fn canonical_and_plain_hosts_do_not_change(
            host in proptest::collection::vec(proptest::sample::select(&b"aBZz09xXf.-_%[]^,|:\xE1\x80 "[..]), 0..12)
        ) {
            if let Some(once) = canonical(&host) {
                let twice = canonical(once.as_bytes());
                prop_assert_eq!(twice.as_ref().map(Host::as_bytes), Some(once.as_bytes()));
            }
            if is_plain(&host) {
                let form = canonical(&host);
                // Some plain hosts, such as `a.7`, have no canonical form. No origin has such a host.
                prop_assert!(form.is_none_or(|form| form.as_bytes() == host));
            }
        }
    }

    #[test]
    fn forbidden_bytes_are_those_of_the_url_standard() {
        // The forbidden host code points, C0 controls, `%` and DEL.
        let listed = b"\0\t\n\r #/:<>?@[\\]^|%\x7F";
        for byte in 0..=u8::MAX {
            assert_eq!(FORBIDDEN[usize::from(byte)], byte < 32 || listed.contains(&byte), "{byte}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn every_pair_of_bytes_is_plain_as_documented() {
        let is_plain_byte = |byte: &u8| byte.is_ascii() && !byte.is_ascii_uppercase() && !b"%[".contains(byte);
        let mut plain = 0;
        for pair in (0..=u16::MAX).map(u16::to_be_bytes) {
            let expected = pair.iter().all(is_plain_byte) && !pair[0].is_ascii_digit() && pair[1] != b'.';
            // Bytes that are not in names may be reported as not plain, which only costs time.
            assert!(!is_plain(&pair) || expected, "{pair:?}");
            let is_name = pair.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(byte));
            assert!(is_plain(&pair) || !expected || !is_name, "{pair:?}");
            plain += usize::from(is_plain(&pair));
        }
        assert!(plain > 30 * 40, "{plain}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn every_escape_in_a_host_is_decoded_as_the_standard_library_does() {
        for pair in (0..=u16::MAX).map(u16::to_be_bytes) {
            let digits = std::str::from_utf8(&pair).ok().filter(|digits| !digits.starts_with('+'));
            let expected = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let text = [b'a', b'%', pair[0], pair[1], b'z'];
            let decoded = expected.map_or(text.to_vec(), |byte| vec![b'a', byte, b'z']);
            assert_eq!(decode(&text).unwrap().as_bytes(), decoded, "{pair:?}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn every_number_of_sixteen_bits_is_an_address_in_every_spelling() {
        for value in 0..=u32::from(u16::MAX) {
            let expected = Some(format!("0.0.{}.{}", value / 256, value % 256));
            for host in [format!("{value}"), format!("0{value:o}"), format!("0x{value:x}"), format!("0X{value:X}.")] {
                assert_eq!(form(host.as_bytes()), expected, "{host}");
            }
            for host in [format!("7.{value}"), format!("7.0.{value}"), format!("0x7.0{value:o}")] {
                let expected = Some(format!("7.0.{}.{}", value / 256, value % 256));
                assert_eq!(form(host.as_bytes()), expected, "{host}");
            }
            let expected = (value < 256).then(|| format!("7.8.9.{value}"));
            assert_eq!(form(format!("7.8.9.{value}").as_bytes()), expected, "{value}");
            let expected = (value < 256).then(|| format!("{value}.0.0.9"));
            assert_eq!(form(format!("{value}.9").as_bytes()), expected, "{value}");
        }
    }
}
