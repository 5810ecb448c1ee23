//! Detects optional parts in access logs: user agents, and virtual hosts before or after the request.
//!
//! The first conclusive line decides for the whole log. The user's host applies to requests without a virtual host.
//! Lines are not judged individually, because clients often control the text at a line's end.
//!
//! ```
//! use bumpalo::Bump;
//! use reptile_records::tables::log::shape::Site;
//! use reptile_records::tables::{open::Opening, source::{Block, Source}};
//!
//! let site = Site::of_options(Some("example.com"), &[])?;
//! let opening = Opening { site: Ok(site), ..Opening::of("access.log") };
//! let log = b"192.0.2.1 - - [14/Mar/2026:15:09:26 +0000] \"GET /private HTTP/1.1\" 200 5\n";
//! let (table, mut rows) = Source::Text(Box::new(&log[..])).open_rows(&opening)?;
//! let mut urls = Vec::new();
//! while let Some(part) = rows.next(Vec::new(), || true)? {
//!     for block in part.blocks() {
//!         let Block::Text(block) = block else { continue };
//!         urls.extend(table.rows(block, &Bump::new()).filter_map(|row| row.cells[0].map(<[u8]>::to_vec)));
//!     }
//! }
//! assert_eq!(urls, [b"https://example.com/private"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use memchr::memchr;
use reptile::Scheme;
use reptile::urls::origin_of;

use super::{HostOf, Parts, USER_AGENT, fields};

/// The user's options for requests in a log.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The host for requests without a virtual host, with its port if that is not the default.
    pub host: Option<String>,
    /// The scheme, `http` or `https`.
    pub scheme: Option<&'static str>,
}

/// A log's optional parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The virtual host's location.
    pub host: HostOf,
    /// Whether lines have user agents.
    pub has_user_agent: bool,
}

impl Site {
    /// Returns the site given by `--host` and `--scheme`.
    ///
    /// # Errors
    /// Returns an error if the options contradict each other, or if the host is invalid.
    pub fn of_options(host: Option<&str>, schemes: &[Scheme]) -> Result<Site, String> {
        let scheme = match schemes {
            [] => None,
            [Scheme::Http] => Some("http"),
            [Scheme::Https] => Some("https"),
            _ => return Err("--scheme: URLs without a scheme get one scheme, http or https".into()),
        };
        let Some(host) = host else { return Ok(Site { host: None, scheme }) };
        let (own, authority) = match host.split_once("://") {
            Some((own, rest)) => (Some(own), rest.split('/').next().unwrap_or_default()),
            None => (None, host),
        };
        let own = match own.map(str::to_ascii_lowercase).as_deref() {
            None => None,
            Some("http") => Some("http"),
            Some("https") => Some("https"),
            Some(_) => return Err("--host: the requests of an access log are for http or https".into()),
        };
        if let (Some(own), Some(said)) = (own, scheme)
            && own != said
        {
            return Err(format!("--scheme {said}: --host says {own}"));
        }
        let is_host =
            !authority.contains(['@', '/', '?', '#', '\\']) && origin_of(Scheme::Https, authority.as_bytes()).is_ok();
        if !is_host {
            return Err(format!("--host {}: expected a host such as example.com", host.escape_debug()));
        }
        Ok(Site { host: Some(authority.to_owned()), scheme: own.or(scheme) })
    }

    /// Returns the URL prefix for requests without a virtual host, if the user gives the host.
    pub(crate) fn start(&self) -> Option<Vec<u8>> {
        let host = self.host.as_ref()?;
        Some(format!("{}://{host}", self.scheme.unwrap_or("https")).into_bytes())
    }
}

/// Returns a log's shape according to one line, or `None` if it is not a log line.
pub(crate) fn shape_of(line: &[u8]) -> Option<Shape> {
    let Parts { before, time, after, .. } = Parts::of(line)?;
    if !is_time(time) {
        return None;
    }
    let after: Vec<(&[u8], bool)> = fields(after).collect();
    let is_quoted = |number: usize| after.get(number).is_some_and(|(_, is_quoted)| *is_quoted);
    let has_user_agent = is_quoted(USER_AGENT - 1) && is_quoted(USER_AGENT);
    let mut words = before.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let first = words.next().filter(|first| is_host_name(first));
    // Without virtual hosts, the second word is the client's identity, which is always missing.
    let is_first = first.is_some() && words.next().is_some_and(|word| word != b"-") && words.nth(1).is_some();
    let begin = if has_user_agent { USER_AGENT + 1 } else { USER_AGENT - 1 };
    let number = || (begin..after.len()).find(|&number| is_host_name(after[number].0));
    let host = if is_first { HostOf::First } else { number().map_or(HostOf::Nothing, HostOf::After) };
    Some(Shape { host, has_user_agent })
}

/// Returns whether this is an access log line.
pub(crate) fn is_log(line: &[u8]) -> bool {
    shape_of(line).is_some()
}

/// Returns whether text has a log time's form, such as `10/Oct/2000:13:55:36 -0700`.
fn is_time(text: &[u8]) -> bool {
    let form = b"00/Aaa/0000:00:00:00";
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        b'A' | b'a' => byte.is_ascii_alphabetic(),
        _ => byte == form,
    };
    text.get(..form.len()).is_some_and(|start| start.iter().zip(form).all(fits))
}

/// Returns whether a field is almost certainly a host name, with or without a port.
///
/// A host name consists of labels with dots between them, and the last label begins with a letter. `TLSv1.3`, numbers
/// and addresses are not host names.
fn is_host_name(field: &[u8]) -> bool {
    let (name, port) = match memchr(b':', field) {
        Some(at) => (&field[..at], &field[at + 1..]),
        None => (field, &b"80"[..]),
    };
    let mut labels = name.split(|&byte| byte == b'.');
    let is_label = |label: &[u8]| {
        !label.is_empty() && label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let last = labels.next_back().unwrap_or_default();
    let starts = last.first().is_some_and(u8::is_ascii_alphabetic);
    let has_more = name.len() > last.len();
    let is_port = !port.is_empty() && port.len() <= 5 && port.iter().all(u8::is_ascii_digit);
    starts && is_label(last) && labels.all(is_label) && (has_more || name == b"localhost") && is_port
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_detected_in_a_line() {
        let request = "[10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5";
        let cases = [
            ("1.2.3.4 - -", "", HostOf::Nothing, false),
            ("1.2.3.4 - -", " \"-\" \"x\"", HostOf::Nothing, true),
            ("a.example 1.2.3.4 - -", "", HostOf::First, false),
            ("a.example:443 1.2.3.4 - -", " \"-\" \"x\"", HostOf::First, true),
            ("localhost:80 ::1 - -", " \"-\" \"x\"", HostOf::First, true),
            ("xn--a.xn--p1ai 1.2.3.4 - a b", " \"-\" \"x\"", HostOf::First, true),
            // Client names, and clients behind proxies.
            ("crawl.bot.example - -", " \"-\" \"x\"", HostOf::Nothing, true),
            ("crawl.bot.example - a b c", " \"-\" \"x\"", HostOf::Nothing, true),
            ("1.2.3.4, 5.6.7.8 - -", "", HostOf::Nothing, false),
            ("1.2.3.4 5.6.7.8 - -", "", HostOf::Nothing, false),
            ("2001:db8::1 5.6.7.8 - -", "", HostOf::Nothing, false),
            ("1.2.3.4 - -", " \"-\" \"x\" \"1.2.3.4\"", HostOf::Nothing, true),
            ("1.2.3.4 - -", " \"-\" \"x\" \"-\"", HostOf::Nothing, true),
            ("1.2.3.4 - -", " \"-\" \"x\" \"a.example\"", HostOf::After(4), true),
            ("1.2.3.4 - -", " \"-\" \"x\" 0.123 TLSv1.3 a.example:80 b.example", HostOf::After(6), true),
            ("1.2.3.4 - -", " \"a.example\" \"b.example\"", HostOf::Nothing, true),
            ("1.2.3.4 - -", " a.example", HostOf::After(2), false),
            ("1.2.3.4 - -", " \"a.example\"", HostOf::After(2), false),
            ("1.2.3.4 - -", " \"-\" \"x", HostOf::Nothing, false),
        ];
        for (before, after, host, has_user_agent) in cases {
            let line = format!("{before} {request}{after}");
            assert_eq!(shape_of(line.as_bytes()), Some(Shape { host, has_user_agent }), "{line}");
        }
        for line in ["", "a b [c] \"GET / HTTP/1.1\" 200 1", "x [10/Oct/2000] \"y\""] {
            assert_eq!(shape_of(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn user_options_are_checked() {
        let start = |host, schemes: &[Scheme]| {
            Site::of_options(Some(host), schemes).map(|site| String::from_utf8(site.start().unwrap()).unwrap())
        };
        assert_eq!(start("a.example", &[]).unwrap(), "https://a.example");
        assert_eq!(start("a.example:81", &[Scheme::Http]).unwrap(), "http://a.example:81");
        assert_eq!(start("HTTP://a.example/robots.txt", &[]).unwrap(), "http://a.example");
        assert_eq!(start("https://a.example", &[Scheme::Https]).unwrap(), "https://a.example");
        for (host, schemes) in [
            ("", &[][..]),
            ("a b", &[]),
            ("a@b", &[]),
            ("ftp://a.example", &[]),
            ("a.example/x", &[]),
            ("https://a.example", &[Scheme::Http]),
            ("a.example", &[Scheme::Http, Scheme::Https]),
            ("a.example", &[Scheme::Ftp]),
        ] {
            assert!(start(host, schemes).is_err(), "{host} {schemes:?}");
        }
        assert_eq!(Site::of_options(None, &[]).unwrap().start(), None);
    }
}
