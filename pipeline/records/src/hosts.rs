//! Hosts that files are named after, and the origins that these names represent.
//!
//! Only `HOST`, `HOST:PORT`, `HOST/robots.txt` and `HOST:PORT/robots.txt` apply to a host, and for captures with times
//! `HOST/TIMESTAMP/robots.txt` and `HOST/TIMESTAMP.txt`, with the 14 digits of a web archive's time. A site mirror has
//! other files below its host, some of them also called `robots.txt`. A folder that contains all hosts and is not a
//! host itself is ignored.
//!
//! ```
//! use reptile::Scheme;
//! use reptile_records::hosts::{Hosts, Naming, PathOwner, origins_of_option, sorted_schemes};
//!
//! let naming = Naming::Hosts(sorted_schemes(&[Scheme::Https]));
//! let (mut hosts, mut found) = (Hosts::default(), Vec::new());
//! for path in ["crawl/example.com/robots.txt", "crawl/example.com/blog/robots.txt", "crawl/example.org"] {
//!     if let Ok(PathOwner::Origins(origins)) = hosts.of(path.as_bytes(), &naming) {
//!         found.extend(origins.iter().map(ToString::to_string));
//!     }
//! }
//! assert_eq!(found, ["https://example.com", "https://example.org"]);
//!
//! // A URL's own scheme takes precedence.
//! let origins = origins_of_option("http://example.com/robots.txt", &naming)?;
//! assert_eq!(origins.iter().map(ToString::to_string).collect::<Vec<_>>(), ["http://example.com"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use reptile::capture::Time;
use reptile::urls::{RobotsUrlError, origin_of, split};
use reptile::{Origin, Scheme, UrlError};

use super::Item;
use super::shown::shown;
use super::time::{Zone, read_time};

/// The mapping from file names to origins.
pub enum Naming {
    /// The name is a host, with one origin for each scheme.
    Hosts(Vec<Scheme>),
    /// The name is a time, and the file is a capture for these origins.
    History(Vec<Origin>),
    /// The name is ignored, and has no origins.
    Any,
}

impl Naming {
    /// Returns the naming by hosts, for the given schemes in any order. None means both.
    pub(crate) fn of_schemes(schemes: &[Scheme]) -> Naming {
        Naming::Hosts(sorted_schemes(schemes))
    }

    /// Returns the origins for `host` or `host:port`: one per scheme, with that port or the scheme's default port.
    ///
    /// # Errors
    /// Returns an error if the host or the port is invalid.
    pub(crate) fn origins(&self, name: &[u8]) -> std::result::Result<Vec<Origin>, UrlError> {
        let Naming::Hosts(schemes) = self else { return Ok(Vec::new()) };
        // In a URL, these characters end the host or the user information.
        if name.iter().any(|byte| b"/?#;@".contains(byte)) {
            return Err(UrlError::Host);
        }
        schemes.iter().map(|&scheme| Origin::new(&origin_of(scheme, name)?)).collect()
    }
}

/// Returns the origins for a host, `host:port`, or any page's URL. A URL also determines the scheme.
///
/// # Errors
/// Returns an error if the host or the port is invalid.
pub fn origins_of_name(text: &str, naming: &Naming) -> std::result::Result<Vec<Origin>, UrlError> {
    if text.contains("://") {
        return Ok(vec![Origin::new(&split(text.as_bytes())?.origin)?]);
    }
    naming.origins(text.as_bytes())
}

/// Returns the origins for `--host`: a host, `host:port`, or the URL for an origin or its `/robots.txt`. A file at any
/// other path applies to no origin (RFC 9309 section 2.3).
///
/// # Errors
/// Returns a message if the host or the port is invalid, or if the URL has another path.
pub fn origins_of_option(text: &str, naming: &Naming) -> std::result::Result<Vec<Origin>, String> {
    if !text.contains("://") {
        return naming.origins(text.as_bytes()).map_err(|error| error.to_string());
    }
    match Origin::of_robots_url(text.as_bytes()) {
        Ok(origin) => Ok(vec![origin]),
        Err(RobotsUrlError::OtherPath) => text.parse().map(|origin| vec![origin]).map_err(|_| {
            "a robots.txt governs its origin only from the path /robots.txt, in lower case and without a query: give \
             https://HOST or https://HOST/robots.txt"
                .to_owned()
        }),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns whether a file or folder with this name is skipped.
pub fn is_hidden(name: &[u8]) -> bool {
    name.first() == Some(&b'.')
}

/// An invalid host or time in a path.
pub struct Nameless {
    reason: &'static str,
    detail: String,
}

impl Nameless {
    /// Returns the item that reports this problem.
    pub(crate) fn item(self, name: String) -> Item {
        Item::Bad { name, reason: self.reason, detail: self.detail }
    }
}

/// The origins that a file's path inside an input names.
pub enum PathOwner {
    /// The file is the robots.txt for these origins.
    Origins(Vec<Origin>),
    /// The file is a capture of the robots.txt for these origins at this time.
    Capture(Vec<Origin>, Time),
    /// The file is not a host's robots.txt, for this reason.
    NotRobots(&'static str),
}

/// The reason for a file that is below or next to a host's robots.txt.
const NOT_ROBOTS: &str = "not HOST or HOST/robots.txt";

/// The reason for a file that is not a capture of the host that the user gives.
const NOT_A_CAPTURE: &str = "not TIMESTAMP/robots.txt or TIMESTAMP.txt";

/// The reason for a path with an invalid host.
const NO_HOST: &str = "no valid host";

/// Number of digits of a web archive's time.
const STAMP_DIGITS: usize = 14;

/// The reason for a file whose name looks like a file name.
const FILE_NAME: &str = "named as a file, not as a host";

/// File name extensions. None is a top-level domain, so that no host is skipped.
const FILE_ENDS: [&str; 34] = [
    "txt", "text", "html", "htm", "xhtml", "php", "asp", "json", "jsonl", "ndjson", "csv", "tsv", "log", "xml", "yml",
    "yaml", "toml", "ini", "bak", "tmp", "gz", "tgz", "bz2", "xz", "zst", "tar", "7z", "rar", "warc", "reptile",
    "sqlite", "png", "jpg", "pdf",
];

/// File names that could be hosts, in lower case.
const FILE_NAMES: [&str; 11] = [
    "readme",
    "readme.md",
    "license",
    "license.md",
    "licence",
    "licence.md",
    "changelog.md",
    "contributing.md",
    "copying",
    "notice",
    "makefile",
];

/// The folder that contains all hosts in one input, once it is known.
#[derive(Default)]
pub struct Hosts {
    top: Option<Vec<Vec<u8>>>,
}

impl Hosts {
    /// Classifies a file by its path inside the input.
    ///
    /// # Errors
    /// Returns an error if the path is a host's robots.txt and the host is invalid.
    pub fn of(&mut self, inside: &[u8], naming: &Naming) -> std::result::Result<PathOwner, Nameless> {
        if let Naming::Any = naming {
            return Ok(PathOwner::Origins(Vec::new()));
        }
        let parts: Vec<&[u8]> = inside.split(|&byte| byte == b'/').collect();
        if let Naming::History(origins) = naming {
            return match stamp_of(&parts) {
                Some(([], stamp)) => Ok(PathOwner::Capture(origins.clone(), time_of(stamp)?)),
                _ => Ok(PathOwner::NotRobots(NOT_A_CAPTURE)),
            };
        }
        if let Some(top) = &self.top {
            let is_below = parts.len() > top.len() && parts.iter().zip(top).all(|(part, top)| part == top);
            return place(&parts[if is_below { top.len() } else { 0 }..], naming);
        }
        let depth = top_len(&parts, naming);
        let place = place(&parts[depth..], naming);
        if let Ok(PathOwner::Origins(_) | PathOwner::Capture(..)) = &place {
            self.top = Some(parts[..depth].iter().map(|part| part.to_vec()).collect());
        }
        place
    }
}

/// Returns the number of folders around the hosts in a path.
///
/// These are the parts before the first one that looks like a host, or before the part where a host must be.
fn top_len(parts: &[&[u8]], naming: &Naming) -> usize {
    let looks_like_host = |part: &&[u8]| {
        let has_mark = part.iter().any(|byte| b".:".contains(byte)) || part.eq_ignore_ascii_case(b"localhost");
        has_mark && naming.origins(part).is_ok()
    };
    let host_at = match (parts, stamp_of(parts)) {
        (_, Some(([hosts @ .., _], _))) => hosts.len(),
        ([.., _, b"robots.txt"], _) => parts.len() - 2,
        _ => parts.len() - 1,
    };
    parts[..host_at].iter().position(looks_like_host).unwrap_or(host_at)
}

/// Classifies a path below the top folder.
fn place(parts: &[&[u8]], naming: &Naming) -> std::result::Result<PathOwner, Nameless> {
    let nameless = |host: &[u8], error| Nameless {
        reason: NO_HOST,
        detail: format!("\"{}\" is not a host: {error}", shown(host)),
    };
    match stamp_of(parts) {
        Some(([host], stamp)) => {
            let origins = naming.origins(host).map_err(|error| nameless(host, error))?;
            return Ok(PathOwner::Capture(origins, time_of(stamp)?));
        }
        Some(([], stamp)) => {
            let detail = format!("{} is a time: give the host with --host", shown(stamp));
            return Err(Nameless { reason: NO_HOST, detail });
        }
        _ => {}
    }
    let host = match parts {
        [name] if name.eq_ignore_ascii_case(b"robots.txt") => {
            let detail = "rename the file, or the folder that it is in, to its host".into();
            return Err(Nameless { reason: NO_HOST, detail });
        }
        [name] if is_file_name(name) => return Ok(PathOwner::NotRobots(FILE_NAME)),
        [host] | [host, b"robots.txt"] => host,
        _ => return Ok(PathOwner::NotRobots(NOT_ROBOTS)),
    };
    naming.origins(host).map(PathOwner::Origins).map_err(|error| nameless(host, error))
}

/// Returns the folders around a capture, and the digits of its time, if the path ends in `TIMESTAMP/robots.txt` or
/// `TIMESTAMP.txt`.
fn stamp_of<'p>(parts: &'p [&'p [u8]]) -> Option<(&'p [&'p [u8]], &'p [u8])> {
    let (before, stamp) = match parts {
        [before @ .., stamp, b"robots.txt"] => (before, *stamp),
        [before @ .., name] => (before, name.strip_suffix(b".txt")?),
        [] => return None,
    };
    (stamp.len() == STAMP_DIGITS && stamp.iter().all(u8::is_ascii_digit)).then_some((before, stamp))
}

/// Parses the digits of a time in UTC.
fn time_of(stamp: &[u8]) -> std::result::Result<Time, Nameless> {
    let text = String::from_utf8_lossy(stamp);
    read_time(&text, &Zone::default()).map_err(|detail| Nameless { reason: "no valid time", detail })
}

/// Returns whether a name is a file name, and not a host.
fn is_file_name(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let end = name.rsplitn(2, |&byte| byte == b'.').collect::<Vec<_>>();
    FILE_NAMES.iter().any(|file| file.as_bytes() == name)
        || (end.len() == 2 && FILE_ENDS.iter().any(|file| file.as_bytes() == end[0]))
}

/// Returns the schemes in a fixed order, each once; both if none is given.
pub fn sorted_schemes(given: &[Scheme]) -> Vec<Scheme> {
    let mut schemes = if given.is_empty() { vec![Scheme::Http, Scheme::Https] } else { given.to_vec() };
    schemes.sort_unstable();
    schemes.dedup();
    schemes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the host for each path in an input. `-` is skipped, and `!` is an error.
    fn hosts(paths: &[&str]) -> Vec<String> {
        let naming = Naming::Hosts(vec![Scheme::Http]);
        let mut hosts = Hosts::default();
        let show = |path: &&str| match hosts.of(path.as_bytes(), &naming) {
            Ok(PathOwner::Origins(origins)) => String::from_utf8_lossy(&origins[0].host).into_owned(),
            Ok(PathOwner::Capture(origins, time)) => {
                format!("{} {}", String::from_utf8_lossy(&origins[0].host), super::super::time::show_time(time))
            }
            Ok(PathOwner::NotRobots(_)) => "-".into(),
            Err(_) => "!".into(),
        };
        paths.iter().map(show).collect()
    }

    #[test]
    fn only_a_robots_txt_directly_below_its_host_counts() {
        let cases = [
            ("a.example", "a.example"),
            ("b.example:8080", "b.example"),
            ("c.example/robots.txt", "c.example"),
            ("intranet/robots.txt", "intranet"),
            ("c.example/folder/robots.txt", "-"),
            ("c.example/blog/robots-guide.txt", "-"),
            ("c.example/index.html", "-"),
            ("c.example/ROBOTS.TXT", "-"),
            ("README.md", "-"),
            ("foo.com.txt", "-"),
            ("web.reptile", "-"),
            ("robots.txt", "!"),
            ("bad host", "!"),
            ("gov.md", "gov.md"),
            ("foo.zip", "foo.zip"),
        ];
        let (paths, expected): (Vec<&str>, Vec<&str>) = cases.into_iter().unzip();
        assert_eq!(hosts(&paths), expected);
    }

    #[test]
    fn a_folder_around_all_hosts_is_ignored() {
        for (paths, expected) in [
            (&["robots/README.md", "robots/a.example", "robots/b/robots.txt"][..], &["-", "a.example", "b"][..]),
            (&["data/robots/a.example/robots.txt", "data/robots/b.example"], &["a.example", "b.example"]),
            (&["crawl/a.example/blog/x", "crawl/a.example/robots.txt", "b.example"], &["-", "a.example", "b.example"]),
            (&["crawl-1.0/a.example", "crawl-1.0/robots.txt"], &["a.example", "!"]),
            (&["intranet/blog/index.html", "intranet/robots.txt"], &["-", "intranet"]),
            (&["localhost/blog/x", "localhost/robots.txt"], &["-", "localhost"]),
            (&["a.example", "robots/b.example"], &["a.example", "-"]),
            (&["robots/a.example", "other/b.example"], &["a.example", "-"]),
        ] {
            assert_eq!(hosts(paths), expected, "{paths:?}");
        }
    }

    #[test]
    fn times_are_captures_of_a_host() {
        let (a, b) = ("a.example 2024-01-01T00:00:00Z", "b 2024-01-01T00:00:00Z");
        for (paths, expected) in [
            (&["a.example/20240101000000/robots.txt", "b/20240101000000.txt"][..], &[a, b][..]),
            (&["b/20240101000000/robots.txt", "a.example/20240101000000.txt"], &[b, a]),
            (&["top/a.example/20240101000000.txt", "top/b/20240101000000/robots.txt"], &[a, b]),
            (&["a.example:81/20240101000000.txt", "a.example:81"], &[a, "a.example"]),
            (&["a.example/20241301000000/robots.txt", "a.example/20240230000000.txt"], &["!", "!"]),
            (&["20240101000000/robots.txt", "20240101000000.txt"], &["!", "!"]),
            (&["a.example/2024010100000/robots.txt", "a.example/202401010000000.txt"], &["-", "-"]),
            (&["a.example/20240101000000/index.html", "a.example/20240101000000"], &["-", "-"]),
        ] {
            assert_eq!(hosts(paths), expected, "{paths:?}");
        }
        let (naming, mut hosts) = (Naming::History(Vec::new()), Hosts::default());
        for (path, expected) in [
            ("20240101000000/robots.txt", Some(true)),
            ("20240101000000.txt", Some(true)),
            ("20240101250000.txt", None),
            ("a.example/20240101000000.txt", Some(false)),
            ("a.example", Some(false)),
            ("robots.txt", Some(false)),
        ] {
            let found = hosts.of(path.as_bytes(), &naming).ok().map(|owner| matches!(owner, PathOwner::Capture(..)));
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn options_may_be_urls() {
        let naming = Naming::Hosts(vec![Scheme::Http, Scheme::Https]);
        let ports =
            |text| origins_of_option(text, &naming).map(|all| all.iter().map(|one| one.port).collect::<Vec<_>>());
        let cases: [(&str, &[u16]); 18] = [
            ("a.example", &[80, 443]),
            ("a.example:81", &[81, 81]),
            ("https://a.example/robots.txt", &[443]),
            ("https://a.example/robots.txt#x", &[443]),
            ("http://a.example:81", &[81]),
            ("https://a.example/", &[443]),
            // Another file, which applies to no origin.
            ("https://a.example/folder/robots.txt", &[]),
            ("https://a.example/Robots.txt", &[]),
            ("https://a.example/ROBOTS.TXT", &[]),
            ("https://a.example/robots.txt?x", &[]),
            ("https://a.example/robots.txt/", &[]),
            ("https://a.example/robots.txt.gz", &[]),
            ("https://a.example//robots.txt", &[]),
            ("https://a.example?x", &[]),
            ("https://a.example/index.html", &[]),
            ("mailto://a", &[]),
            ("a/robots.txt", &[]),
            ("https:///robots.txt", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(ports(text).unwrap_or_default(), expected, "{text}");
        }
        assert!(origins_of_name("https://a.example/folder/page", &naming).is_ok());
    }

    #[test]
    fn names_become_origins() {
        let naming = |name: &str, schemes: &[Scheme]| {
            let origins = Naming::of_schemes(schemes).origins(name.as_bytes());
            origins.map(|origins| {
                let show = |origin: Origin| {
                    format!("{}://{}:{}", origin.scheme.as_str(), String::from_utf8_lossy(&origin.host), origin.port)
                };
                origins.into_iter().map(show).collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(naming("A.b", &[]), Ok("http://a.b:80 https://a.b:443".into()));
        assert_eq!(naming("a:8080", &[]), Ok("http://a:8080 https://a:8080".into()));
        assert_eq!(naming("a", &[Scheme::Ftp, Scheme::Http, Scheme::Ftp]), Ok("http://a:80 ftp://a:21".into()));
        assert_eq!(naming("[0::1]:81", &[Scheme::Http]), Ok("http://[::1]:81".into()));
        assert_eq!(naming("BÜCHER.de.", &[Scheme::Http]), Ok("http://xn--bcher-kva.de:80".into()));
        for bad in ["", "a b", "a/b", "u@a", "1.2.3.4.5", "a%2fb", "a?b", "a#", "a;", "http://a"] {
            assert_eq!(naming(bad, &[]), Err(UrlError::Host), "{bad}");
        }
        assert_eq!(naming("a:b", &[]), Err(UrlError::Port));
    }
}
