//! URLs that a table does not store whole: those without a scheme, and those in several columns.
//!
//! Nothing is guessed: a part that is malformed, or that would change another part's meaning, makes the row invalid.
//!
//! | part | missing or empty | otherwise |
//! |---|---|---|
//! | scheme | `--scheme`, or else the row is invalid | http, https or ftp in any letter case, with an optional colon |
//! | host | the row is invalid | a host, with a port if the port is empty; an IPv6 address with or without brackets |
//! | port | none | 1 to 65535; programs that store numbers with gaps as 8080.0 are understood |
//! | path | `/` | begins with a slash; it may contain a query if the query is empty |
//! | query | none | the text after the question mark |
//!
//! ```
//! use bumpalo::Bump;
//! use reptile_records::tables::open::Opening;
//! use reptile_records::tables::source::{Block, Source};
//!
//! let text = b"host,path\nexample.com,/a\n";
//! let parts = [None, Some("host".to_owned()), None, Some("path".to_owned()), None];
//! let opening = Opening { parts, scheme: Some("https"), ..Opening::of("pages.csv") };
//! let (table, mut rows) = Source::Text(Box::new(&text[..])).open_rows(&opening)?;
//! let part = rows.next(Vec::new(), &|| true)?.ok_or("no rows")?;
//! let (blocks, arena) = (part.blocks(), Bump::new());
//! let Some(Block::Text(block)) = blocks.first() else { return Err("no text".into()) };
//! let urls: Vec<_> = table.rows(block, &arena).filter_map(|row| row.cells[0]).collect();
//! assert_eq!(urls, [b"https://example.com/a"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use bumpalo::Bump;

use super::log::joined;
use super::row::{Fault, is_url};
use crate::lines::trimmed_url;

pub use super::row::PART_COUNT;

/// The columns into which Common Crawl's index splits a URL.
pub const COMMON_CRAWL: [&str; PART_COUNT] = ["url_protocol", "url_host_name", "url_port", "url_path", "url_query"];

/// The host's index among the parts.
pub const HOST: usize = 1;

/// The columns of a URL's scheme, host, port, path and query. All are `None` if the URL is in one column.
pub type PartNames = [Option<String>; PART_COUNT];

/// Maximum number of pieces in a URL.
const MAX_PIECES: usize = 10;

/// The locations of a URL's parts among a row's cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UrlCells {
    /// Each part's cell.
    pub places: [Option<usize>; PART_COUNT],
    /// The scheme of rows without one.
    pub scheme: Option<&'static str>,
}

impl UrlCells {
    /// Returns the number of cells that hold parts. They come first.
    pub fn count(&self) -> usize {
        self.places.iter().flatten().count()
    }

    /// Returns the URL that the cells make up. It is allocated in `arena`.
    ///
    /// # Errors
    /// Returns the reason why they are not a URL.
    pub fn join<'b>(&self, cells: &[Option<&'b [u8]>], arena: &'b Bump) -> Result<&'b [u8], Fault> {
        let [scheme, host, port, path, query] = self.places.map(|place| {
            let cell = place.and_then(|place| *cells.get(place)?);
            cell.map(trimmed_url).filter(|cell| !cell.is_empty())
        });
        let scheme = scheme.map(|scheme| scheme.strip_suffix(b":").unwrap_or(scheme));
        let scheme = scheme.or(self.scheme.map(str::as_bytes)).ok_or(Fault::NoScheme)?;
        if !["http", "https", "ftp"].iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes())) {
            return Err(Fault::NoScheme);
        }
        let [open, host, close, own_port] = authority(host.ok_or(Fault::NoCell)?).ok_or(Fault::NotHost)?;
        let port = port.map(|port| port.strip_suffix(b".0").unwrap_or(port));
        let (colon, port) = match (port, own_port) {
            (Some(port), b"") if is_port(port) => (&b":"[..], port),
            (Some(_), _) => return Err(Fault::NotPort),
            (None, b"") => (&b""[..], &b""[..]),
            (None, port) if is_port(port) => (&b":"[..], port),
            (None, _) => return Err(Fault::NotPort),
        };
        let path = path.unwrap_or(b"/");
        if path.first() != Some(&b'/') {
            return Err(Fault::NotPath);
        }
        let (mark, query) = match query {
            // The query would become part of the path's query or fragment.
            Some(_) if memchr::memchr2(b'?', b'#', path).is_some() => return Err(Fault::TwoQueries),
            Some(query) => (&b"?"[..], query),
            None => (&b""[..], &b""[..]),
        };
        let pieces: [&[u8]; MAX_PIECES] = [scheme, b"://", open, host, close, colon, port, path, mark, query];
        Ok(joined(&pieces, arena))
    }
}

/// Splits a host into an opening bracket, the name, a closing bracket, and the port. `None` if it is not a host.
fn authority(host: &[u8]) -> Option<[&[u8]; 4]> {
    let is_foreign = |byte: &u8| *byte <= b' ' || b"/?#@\\\"<>^|%".contains(byte);
    if let Some(rest) = host.strip_prefix(b"[") {
        let (name, rest) = rest.split_at(memchr::memchr(b']', rest)?);
        let port = match &rest[1..] {
            b"" => &b""[..],
            rest => rest.strip_prefix(b":").filter(|port| !port.is_empty())?,
        };
        return is_ipv6(name).then_some([b"[", name, b"]", port]);
    }
    if is_ipv6(host) {
        return Some([b"[", host, b"]", b""]);
    }
    let (name, port) = match memchr::memchr(b':', host) {
        Some(at) => (&host[..at], &host[at + 1..]),
        None => (host, &b""[..]),
    };
    let is_whole = name.len() == host.len() || !port.is_empty();
    let is_host = is_whole && !name.is_empty() && !name.iter().any(|byte| is_foreign(byte) || b"[]".contains(byte));
    is_host.then_some([b"", name, b"", port])
}

/// Returns whether text can only be an IPv6 address. The engine checks its digits.
fn is_ipv6(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || b":.".contains(byte);
    memchr::memchr_iter(b':', text).count() >= 2 && text.iter().all(is_part)
}

/// Returns whether text is a port. Port 0 cannot be reached, and some programs write it for a missing port.
fn is_port(text: &[u8]) -> bool {
    let is_number = (1..=5).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(text).ok().filter(|_| is_number).and_then(|text| text.parse::<u16>().ok());
    number.is_some_and(|number| number > 0)
}

/// Adds a scheme to a URL without one: `//host/path`, or `host/path` whose host has a dot, is an IPv6 address in
/// brackets, or is `localhost`. Other text is unchanged, so that it is as valid as without the option: a path, another
/// scheme (`mailto:a@b.example`), a word, text with user information, and text with blanks or control characters.
pub(crate) fn complete<'b>(url: &'b [u8], scheme: &'static str, arena: &'b Bump) -> &'b [u8] {
    let text = trimmed_url(url);
    if is_url(text) || text.iter().any(|byte| *byte <= b' ') {
        return url;
    }
    if let Some(rest) = text.strip_prefix(b"//") {
        // A third slash does not begin a host.
        let has_host = rest.first().is_some_and(|byte| !b"/\\?#".contains(byte));
        return if has_host { joined(&[scheme.as_bytes(), b":", text], arena) } else { url };
    }
    let end = text.iter().position(|byte| b"/?#\\".contains(byte)).unwrap_or(text.len());
    let is_host = match authority(&text[..end]) {
        Some([open, name, _, port]) => {
            let is_name = |byte: &u8| !byte.is_ascii_punctuation() || b".-_".contains(byte);
            let is_clear = !open.is_empty() || name.contains(&b'.') || name.eq_ignore_ascii_case(b"localhost");
            // A bare address without brackets could be a name with another scheme.
            let is_bare = !open.is_empty() && text.first() != Some(&b'[');
            let is_name = !open.is_empty() || name.iter().all(is_name);
            is_clear && !is_bare && is_name && (port.is_empty() || is_port(port))
        }
        None => false,
    };
    if is_host { joined(&[scheme.as_bytes(), b"://", text], arena) } else { url }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_or_refused() {
        let all = UrlCells { places: [Some(0), Some(1), Some(2), Some(3), Some(4)], scheme: None };
        let with_scheme = UrlCells { scheme: Some("http"), ..all };
        let join = |parts: &UrlCells, cells: [&str; PART_COUNT]| {
            let cells = cells.map(|cell| (cell != "null").then_some(cell.as_bytes()));
            let arena = Bump::new();
            parts.join(&cells, &arena).map(|url| String::from_utf8(url.to_vec()).unwrap())
        };
        let cases = [
            (["https", "a.example", "", "/x", ""], Ok("https://a.example/x")),
            (["HTTPS:", " a.example ", "8080", "/x", "y=1"], Ok("HTTPS://a.example:8080/x?y=1")),
            (["ftp", "a.example", "null", "null", "null"], Ok("ftp://a.example/")),
            (["http", "a.example", "8080.0", "", "?"], Ok("http://a.example:8080/??")),
            (["http", "a.example:81", "", "/x?y#z", ""], Ok("http://a.example:81/x?y#z")),
            (["http", "::1", "81", "/", ""], Ok("http://[::1]:81/")),
            (["http", "[::1]", "", "/", ""], Ok("http://[::1]/")),
            (["http", "[::1]:81", "", "/", ""], Ok("http://[::1]:81/")),
            (["http", "bücher.example", "", "/", ""], Ok("http://bücher.example/")),
            (["http", "intranet", "", "/", ""], Ok("http://intranet/")),
            (["", "a.example", "", "/", ""], Err(Fault::NoScheme)),
            (["null", "a.example", "", "/", ""], Err(Fault::NoScheme)),
            (["gopher", "a.example", "", "/", ""], Err(Fault::NoScheme)),
            (["http://", "a.example", "", "/", ""], Err(Fault::NoScheme)),
            (["http", "", "", "/", ""], Err(Fault::NoCell)),
            (["http", "null", "", "/", ""], Err(Fault::NoCell)),
            (["http", "user@a.example", "", "/", ""], Err(Fault::NotHost)),
            (["http", "a.example/x", "", "/", ""], Err(Fault::NotHost)),
            (["http", "a example", "", "/", ""], Err(Fault::NotHost)),
            (["http", "a.example:", "", "/", ""], Err(Fault::NotHost)),
            (["http", ":80", "", "/", ""], Err(Fault::NotHost)),
            (["http", "[::1", "", "/", ""], Err(Fault::NotHost)),
            (["http", "[a.example]", "", "/", ""], Err(Fault::NotHost)),
            (["http", "[::1]x", "", "/", ""], Err(Fault::NotHost)),
            (["http", "a.example:x", "", "/", ""], Err(Fault::NotPort)),
            (["http", "a.example:81", "81", "/", ""], Err(Fault::NotPort)),
            (["http", "a.example", "0", "/", ""], Err(Fault::NotPort)),
            (["http", "a.example", "65535", "/", ""], Ok("http://a.example:65535/")),
            (["http", "a.example", "65536", "/", ""], Err(Fault::NotPort)),
            (["http", "a.example", "-1", "/", ""], Err(Fault::NotPort)),
            (["http", "a.example", "+80", "/", ""], Err(Fault::NotPort)),
            (["http", "a.example", "", "x", ""], Err(Fault::NotPath)),
            (["http", "a.example", "", "?x", ""], Err(Fault::NotPath)),
            (["http", "a.example", "", "*", ""], Err(Fault::NotPath)),
            (["http", "a.example", "", "/x?y", "z"], Err(Fault::TwoQueries)),
            (["http", "a.example", "", "/x#y", "z"], Err(Fault::TwoQueries)),
        ];
        for (cells, expected) in cases {
            assert_eq!(join(&all, cells), expected.map(str::to_owned), "{cells:?}");
        }
        assert_eq!(join(&with_scheme, ["", "a.example", "", "", ""]), Ok("http://a.example/".into()));
        assert_eq!(join(&with_scheme, ["https", "a.example", "", "", ""]), Ok("https://a.example/".into()));
    }

    #[test]
    fn only_hosts_get_a_scheme() {
        let completed = [
            "a.example",
            "a.example/x?y#z",
            "a.example:8080/x",
            "//a.example/x",
            "//intranet/x",
            "localhost:8080/x",
            "LOCALHOST",
            "[::1]:81/x",
            "192.0.2.7/x",
            "a.example?x",
            "a.example.",
        ];
        let unchanged = [
            "",
            "/x",
            "///x",
            "//",
            "x",
            "intranet/x",
            "https://a.example/",
            "HTTP://a.example/",
            "ftp://a.example/",
            "mailto:user@a.example",
            "user@a.example",
            "javascript:alert(1)",
            "tel:112",
            "http:a.example",
            "http:/a.example",
            "a.example:x/y",
            "a.example:0/y",
            "a.example:65536/y",
            "::1/x",
            "# see a.example",
            "a.example b",
            "?a.example",
            "a.example/a b",
            "a.example\t5",
            "a.example,5",
            "//a.example b/",
        ];
        let arena = Bump::new();
        for text in completed {
            let lead = if text.starts_with("//") { "https:" } else { "https://" };
            let url = complete(text.as_bytes(), "https", &arena);
            assert_eq!(str::from_utf8(url), Ok(&*format!("{lead}{text}")), "{text}");
            assert_eq!(complete(format!(" {text}\t").as_bytes(), "https", &arena), url, "{text}");
        }
        for text in unchanged {
            assert_eq!(str::from_utf8(complete(text.as_bytes(), "https", &arena)), Ok(text));
        }
    }
}
