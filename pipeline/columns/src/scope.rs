//! The origins that may replace an origin without a known robots.txt: [`Scope`].
//!
//! A robots.txt governs only its own origin (RFC 9309 section 2.3), so another origin is used only if the user requests
//! it. This module does not decide URLs.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use reptile::capture::Time;
use reptile::urls::{canonical_host, split};
use reptile::{Agent, Error, Explanation, Scheme, UnknownWord, Verdict};
#[cfg(feature = "domains")]
use reptile_domains::own_domain;

/// The origins that decide a URL: its own, or a replacement if its robots.txt is unknown. Each variant adds origins to
/// the previous one's.
///
/// ```
/// use reptile::{Capture, Compiler, Dialect};
/// use reptile_columns::{AnswerFormat, AnswerRows, Column, Decider, Layout, Scope, TableDecider};
/// use reptile_records::tables::{Table, source::Block};
///
/// let mut compiler = Compiler::new(Dialect::google());
/// compiler.add(Capture::new("https://www.example.com/robots.txt", "user-agent: *\ndisallow: /a")?)?;
/// let agents = compiler.finish()?.into_set()?.agents(["AnyBot"])?;
/// let decider = Decider::new(agents, Layout::new(&[Column::Verdict])?)?.in_scope(Scope::Www);
/// let decider = TableDecider::new(decider, AnswerFormat::Tsv)?;
/// let mut answers = decider.answers();
/// decider.decide(&Table::list(), Block::Text(b"https://example.com/a\n"), &mut answers)?;
/// assert_eq!(answers.stand_ins, 1);
/// let AnswerRows::Text(text) = answers.rows else { return Ok(()) };
/// assert_eq!(text.as_bytes(), b"disallow\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Only the URL's own origin (RFC 9309 section 2.3).
    #[default]
    Origin,
    /// Also the same host with the other scheme, http or https.
    Scheme,
    /// Also the host with or without `www.` before it.
    Www,
    /// Also the registered domain according to the Public Suffix List, with and without `www.` before it.
    #[cfg(feature = "domains")]
    Domain,
}

/// An explained verdict, and the replacement origin if one decided, such as `https://www.example.com`.
pub type InScope = (Explanation, Option<String>);

/// A URL that is decided instead of another URL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StandIn {
    /// The replacement URL, with the other URL's path.
    pub(crate) url: Vec<u8>,
    /// The length of the URL's origin in bytes.
    origin_len: usize,
}

impl StandIn {
    /// Returns the origin, such as `https://www.example.com`.
    pub(crate) fn origin(&self) -> &[u8] {
        &self.url[..self.origin_len]
    }
}

const WWW: &[u8] = b"www.";

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Parses a scope's name.
///
/// ```
/// use reptile_columns::Scope;
/// assert_eq!("scheme".parse(), Ok(Scope::Scheme));
/// let error = "host".parse::<Scope>().unwrap_err().to_string();
/// assert!(error.starts_with("expected a scope (origin, scheme, www") && error.ends_with("), found \"host\""), "{error}");
/// ```
impl FromStr for Scope {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Scope, UnknownWord> {
        let names: Vec<&str> = Scope::ALL.iter().map(|scope| scope.name()).collect();
        Scope::from_name(name).ok_or_else(|| UnknownWord::new("a scope", &names, name))
    }
}

impl Scope {
    /// Every scope, from the narrowest to the widest.
    pub const ALL: &[Scope] = &[
        Scope::Origin,
        Scope::Scheme,
        Scope::Www,
        #[cfg(feature = "domains")]
        Scope::Domain,
    ];

    /// Returns the scope's name, such as `www`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Origin => "origin",
            Scope::Scheme => "scheme",
            Scope::Www => "www",
            #[cfg(feature = "domains")]
            Scope::Domain => "domain",
        }
    }

    /// Returns the scope with this name, or `None` if the name is unknown.
    ///
    /// ```
    /// use reptile_columns::Scope;
    /// assert_eq!(Scope::from_name("www"), Some(Scope::Www));
    /// assert!(Scope::ALL.iter().all(|scope| Scope::from_name(scope.name()) == Some(*scope)));
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Scope> {
        Scope::ALL.iter().copied().find(|scope| scope.name() == name)
    }

    /// Returns the verdict for one URL. A replacement origin decides if the URL's own origin is unknown. With a time, a
    /// set by time decides by the rules at that time.
    ///
    /// ```
    /// use reptile::{Capture, Compiler, Dialect, Verdict};
    /// use reptile_columns::Scope;
    ///
    /// let mut compiler = Compiler::new(Dialect::google());
    /// compiler.add(Capture::new("https://www.example.com/robots.txt", "user-agent: *\ndisallow: /a")?)?;
    /// let agent = compiler.finish()?.into_set()?.agent("AnyBot")?;
    /// assert_eq!(Scope::Scheme.decide(&agent, b"http://example.com/a", None)?, Verdict::Unknown);
    /// assert_eq!(Scope::Www.decide(&agent, b"http://example.com/a", None)?, Verdict::Disallow);
    /// let (explained, origin) = Scope::Www.explain(&agent, b"http://example.com/a", None)?;
    /// assert_eq!((explained.verdict, origin.as_deref()), (Verdict::Disallow, Some("https://www.example.com")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: a decision for each origin tried, at most 8.
    ///
    /// # Errors
    /// The errors of [`Agent::decide_at`].
    pub fn decide(self, agent: &Agent, url: &[u8], time: Option<Time>) -> Result<Verdict, Error> {
        let decide = |url: &[u8]| match time {
            None => agent.decide(url),
            Some(time) => agent.decide_at(url, time),
        };
        let own = decide(url)?;
        if own == Verdict::Unknown {
            for one in self.stand_ins(url) {
                let verdict = decide(&one.url)?;
                if is_known(verdict) {
                    return Ok(verdict);
                }
            }
        }
        Ok(own)
    }

    /// Explains the verdict of [`Scope::decide`], and returns the replacement origin, if one decided.
    ///
    /// # Errors
    /// The errors of [`Scope::decide`].
    pub fn explain(self, agent: &Agent, url: &[u8], time: Option<Time>) -> Result<InScope, Error> {
        let explain = |url: &[u8]| match time {
            None => agent.explain(url),
            Some(time) => agent.explain_at(url, time),
        };
        let (explanation, stand_in) = self.explain_by(url, explain)?;
        Ok((explanation, stand_in.map(|one| String::from_utf8_lossy(one.origin()).into_owned())))
    }

    /// Explains a URL, or the first replacement with a known robots.txt.
    pub(crate) fn explain_by(
        self,
        url: &[u8],
        explain: impl Fn(&[u8]) -> Result<Explanation, Error>,
    ) -> Result<(Explanation, Option<StandIn>), Error> {
        let own = explain(url)?;
        if own.verdict == Verdict::Unknown {
            for one in self.stand_ins(url) {
                let explanation = explain(&one.url)?;
                if is_known(explanation.verdict) {
                    return Ok((explanation, Some(one)));
                }
            }
        }
        Ok((own, None))
    }

    /// Returns the URLs to try instead of `url`, in order, until a robots.txt is known. The nearest host comes first,
    /// and for each host the scheme of `url` comes first. FTP URLs, and URLs with a port that is not their
    /// scheme's default, have no replacements.
    ///
    /// Cost: linear in the URL, and an allocation for each of up to 7 replacements.
    pub(crate) fn stand_ins(self, url: &[u8]) -> Vec<StandIn> {
        if self == Scope::Origin {
            return Vec::new();
        }
        let Ok(url) = split(url) else { return Vec::new() };
        let schemes = match url.origin.scheme {
            Scheme::Http => [Scheme::Http, Scheme::Https],
            Scheme::Https => [Scheme::Https, Scheme::Http],
            Scheme::Ftp => return Vec::new(),
        };
        let Some(host) = canonical_host(url.origin.host).filter(|_| url.origin.port == schemes[0].default_port())
        else {
            return Vec::new();
        };
        let (hosts, path) = (self.hosts(host.as_bytes()), url.path.to_vec());
        let others = hosts.iter().flat_map(|host| schemes.map(|scheme| (scheme, host))).skip(1);
        let stand_in = |(scheme, host): (Scheme, &Vec<u8>)| {
            let origin = [scheme.as_str().as_bytes(), b"://", host].concat();
            StandIn { origin_len: origin.len(), url: [origin, path.clone()].concat() }
        };
        others.map(stand_in).collect()
    }

    /// Returns the host and its replacements without duplicates.
    fn hosts(self, host: &[u8]) -> Vec<Vec<u8>> {
        let mut hosts = vec![host.to_vec()];
        if is_address(host) {
            return hosts;
        }
        if self >= Scope::Www {
            hosts.push(host.strip_prefix(WWW).map_or_else(|| [WWW, host].concat(), <[u8]>::to_vec));
        }
        #[cfg(feature = "domains")]
        if let Some(domain) = own_domain(host).filter(|_| self >= Scope::Domain) {
            for other in [domain.to_vec(), [WWW, domain].concat()] {
                if !hosts.contains(&other) {
                    hosts.push(other);
                }
            }
        }
        hosts
    }
}

/// Returns whether an origin decided. Adding `www.` may make a host or a URL too long, and therefore invalid.
fn is_known(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::Unknown | Verdict::Invalid)
}

/// Returns whether a host is an IP address, which has no domain.
fn is_address(host: &[u8]) -> bool {
    host.starts_with(b"[") || str::from_utf8(host).is_ok_and(|host| host.parse::<Ipv4Addr>().is_ok())
}

#[cfg(all(test, feature = "domains"))]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    fn stand_ins(scope: Scope, url: &str) -> Vec<String> {
        let all = scope.stand_ins(url.as_bytes());
        for one in &all {
            assert!(one.url.starts_with(one.origin()) && one.url[one.origin().len()..].starts_with(b"/"));
        }
        all.into_iter().map(|one| String::from_utf8(one.url).unwrap()).collect()
    }

    #[test]
    fn each_scope_extends_the_previous_one() {
        let url = "https://a.b.example.co.uk/x?y#z";
        let all = [
            "http://a.b.example.co.uk/x?y",
            "https://www.a.b.example.co.uk/x?y",
            "http://www.a.b.example.co.uk/x?y",
            "https://example.co.uk/x?y",
            "http://example.co.uk/x?y",
            "https://www.example.co.uk/x?y",
            "http://www.example.co.uk/x?y",
        ];
        for (scope, count) in [(Scope::Origin, 0), (Scope::Scheme, 1), (Scope::Www, 3), (Scope::Domain, 7)] {
            assert_eq!(stand_ins(scope, url), all[..count], "{scope:?}");
        }
    }

    #[test]
    fn apex_and_www_replace_each_other_once() {
        let apex = ["http://www.example.com/", "https://www.example.com/"];
        assert_eq!(stand_ins(Scope::Domain, "HTTP://Example.com"), [&["https://example.com/"], &apex[..]].concat());
        let www = ["https://www.example.com/", "http://example.com/", "https://example.com/"];
        assert_eq!(stand_ins(Scope::Domain, "http://www.example.com:80/"), www);
        // A page's author there is not the owner of github.io.
        assert_eq!(stand_ins(Scope::Domain, "https://me.github.io/a").len(), 3);
        assert_eq!(stand_ins(Scope::Domain, "https://co.uk/").len(), 3);
    }

    #[test]
    fn addresses_ports_and_other_schemes_have_no_replacements() {
        for url in ["https://1.2.3.4/a", "http://[::1]/a"] {
            assert_eq!(stand_ins(Scope::Domain, url).len(), 1, "{url}");
        }
        for url in ["http://a.example:8080/", "https://a.example:80/", "ftp://a.example/", "mailto:a", "", "http:///"] {
            assert_eq!(stand_ins(Scope::Domain, url).len(), 0, "{url}");
        }
    }
}
