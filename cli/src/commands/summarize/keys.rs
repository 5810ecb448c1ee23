//! An origin's name in the output: a URL, or a key shared with other tables.

use std::io::Write as _;

use clap::ValueEnum;
use reptile::urls::OriginRef;
use reptile_domains::registered_domain;

/// A column that names the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OriginKey {
    /// Its root URL, such as https://www.example.co.uk/
    Url,
    /// Its host, such as www.example.co.uk; several origins may share it
    Host,
    /// Its registered domain, such as example.co.uk; for hosts without one, such as addresses, the host
    Domain,
    /// Its root as in Common Crawl's index, such as uk,co,example)/, without scheme and www
    Surt,
}

impl OriginKey {
    /// Returns the name of the column.
    pub fn name(self) -> &'static str {
        match self {
            OriginKey::Url => "url",
            OriginKey::Host => "host",
            OriginKey::Domain => "domain",
            OriginKey::Surt => "surt",
        }
    }

    /// Appends the key of an origin.
    pub fn push(self, origin: &OriginRef<'_>, text: &mut Vec<u8>) {
        match self {
            OriginKey::Url => {
                text.extend_from_slice(origin.scheme.as_str().as_bytes());
                text.extend_from_slice(b"://");
                text.extend_from_slice(origin.host);
                push_port(origin, text);
                text.push(b'/');
            }
            OriginKey::Host => text.extend_from_slice(origin.host),
            OriginKey::Domain => text.extend_from_slice(registered_domain(origin.host)),
            OriginKey::Surt => {
                let labels = without_www(origin.host).split(|&byte| byte == b'.').rev();
                for (at, label) in labels.enumerate() {
                    if at > 0 {
                        text.push(b',');
                    }
                    text.extend_from_slice(label);
                }
                push_port(origin, text);
                text.extend_from_slice(b")/");
            }
        }
    }
}

/// Appends a port that is not the default of the scheme.
fn push_port(origin: &OriginRef<'_>, text: &mut Vec<u8>) {
    if origin.port != origin.scheme.default_port() {
        // Writing to memory cannot fail.
        let _ = write!(text, ":{}", origin.port);
    }
}

/// Returns the host without a first label of `www` or `www` and digits.
fn without_www(host: &[u8]) -> &[u8] {
    let rest = host.strip_prefix(b"www").unwrap_or_default();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match rest[digits..].strip_prefix(b".") {
        Some(rest) if !rest.is_empty() => rest,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile::Scheme;

    #[test]
    fn keys_match_other_tables() {
        for (host, port, url, domain, surt) in [
            ("example.com", 443, "https://example.com/", "example.com", "com,example)/"),
            ("www.example.co.uk", 443, "https://www.example.co.uk/", "example.co.uk", "uk,co,example)/"),
            ("www2.a.example.com", 8443, "https://www2.a.example.com:8443/", "example.com", "com,example,a:8443)/"),
            ("www.com", 443, "https://www.com/", "www.com", "com)/"),
            ("wwwexample.com", 443, "https://wwwexample.com/", "wwwexample.com", "com,wwwexample)/"),
            ("someone.github.io", 443, "https://someone.github.io/", "github.io", "io,github,someone)/"),
            ("b.s3.amazonaws.com", 443, "https://b.s3.amazonaws.com/", "amazonaws.com", "com,amazonaws,s3,b)/"),
            ("co.uk", 443, "https://co.uk/", "co.uk", "uk,co)/"),
            ("localhost", 443, "https://localhost/", "localhost", "localhost)/"),
            ("a.xn--55qx5d.cn", 443, "https://a.xn--55qx5d.cn/", "a.xn--55qx5d.cn", "cn,xn--55qx5d,a)/"),
            ("192.0.2.1", 443, "https://192.0.2.1/", "192.0.2.1", "1,2,0,192)/"),
            ("[2001:db8::1]", 443, "https://[2001:db8::1]/", "[2001:db8::1]", "[2001:db8::1])/"),
        ] {
            let origin = OriginRef { scheme: Scheme::Https, host: host.as_bytes(), port };
            let key = |key: OriginKey| {
                let mut text = Vec::new();
                key.push(&origin, &mut text);
                text.escape_ascii().to_string()
            };
            assert_eq!(key(OriginKey::Url), url);
            assert_eq!(key(OriginKey::Host), host);
            assert_eq!(key(OriginKey::Domain), domain, "{host}");
            assert_eq!(key(OriginKey::Surt), surt, "{host}");
        }
    }
}
