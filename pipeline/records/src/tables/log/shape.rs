//! Detects an access log's format by its first lines, and checks the user's options for its requests.
//!
//! A host comes from `--host`, from a field of the user's format, or from Apache's format with virtual hosts if all
//! first lines have it. Clients control the other text, so it never names a host. In a proxy's log, all first lines
//! have whole URLs, which name their own hosts.
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
//! while let Some(part) = rows.next(Vec::new(), &|| true)? {
//!     for block in part.blocks() {
//!         let Block::Text(block) = block else { continue };
//!         urls.extend(table.rows(block, &Bump::new()).filter_map(|row| row.cells[0].map(<[u8]>::to_vec)));
//!     }
//! }
//! assert_eq!(urls, [b"https://example.com/private"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::LazyLock;

use bumpalo::Bump;
use reptile::Scheme;
use reptile::urls::origin_of;

use super::format::{LogFormat, VHOST_COMBINED};
use super::{Fault, Log, LogCell, Origin};
use crate::shown::shown;
use crate::tables::ColumnOption;

/// Maximum number of access log lines that are read ahead for detecting the format. All must agree, because a client
/// may choose the text of some.
pub(crate) const MAX_FIRST_LINES: usize = 100;

/// The user's options for requests in a log.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The host for requests without a virtual host, with its port if that is not the default.
    pub host: Option<String>,
    /// The scheme, `http` or `https`.
    pub scheme: Option<&'static str>,
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

/// Returns whether this is an access log line.
pub(crate) fn is_log(line: &[u8]) -> bool {
    static COMMON: LazyLock<Log> = LazyLock::new(|| reader(LogFormat::common(), vec![LogCell::Time]));
    let (arena, mut cells) = (Bump::new(), [None]);
    COMMON.read(line, &arena, &mut cells) == Err(Fault::TwoReadings) || cells[0].is_some_and(is_time)
}

/// Returns a reader of a log's cells without its host.
fn reader(format: LogFormat, cells: Vec<LogCell>) -> Log {
    Log::new(format, Origin { is_proxy: true, ..Origin::default() }, false, cells)
}

/// A log's first lines, which determine what the user does not say.
pub(crate) struct FirstLines<'l> {
    /// The first lines that a log of this format may have.
    readable: Vec<&'l [u8]>,
}

impl<'l> FirstLines<'l> {
    /// Returns up to [`MAX_FIRST_LINES`] readable lines. `format` is the user's format.
    pub fn of(lines: impl Iterator<Item = &'l [u8]>, format: Option<&LogFormat>) -> FirstLines<'l> {
        let log = format.map(|format| reader(format.clone(), vec![LogCell::Url]));
        let is_readable = |line: &&[u8]| match &log {
            Some(log) => log.read(line, &Bump::new(), &mut [None]) != Err(Fault::NotLog),
            None => is_log(line),
        };
        FirstLines { readable: lines.filter(is_readable).take(MAX_FIRST_LINES).collect() }
    }

    /// Returns whether more lines would change nothing.
    pub fn are_enough(&self) -> bool {
        self.readable.len() == MAX_FIRST_LINES
    }

    /// Returns the log, and the names of the wanted columns.
    ///
    /// # Errors
    /// Returns a message if the log lacks a wanted column, or if neither the log nor the user gives a host.
    pub fn log(
        &self,
        site: &Site,
        format: Option<&LogFormat>,
        wanted: &[ColumnOption],
    ) -> Result<(Log, Vec<String>), String> {
        let cells = wanted.iter().map(|wanted| log_cell(wanted.option, wanted.name.as_deref()));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        let (format, has_host) = match format {
            Some(format) => (format.clone(), format.host().is_some()),
            None => match self.with_hosts(site)? {
                Some(format) => (format, true),
                None if cells.contains(&LogCell::UserAgent) => (LogFormat::combined(), false),
                None => (LogFormat::common(), false),
            },
        };
        for (cell, wanted) in cells.iter().zip(wanted).filter(|_| !self.readable.is_empty()) {
            let log = reader(format.clone(), vec![*cell]);
            if *cell != LogCell::Url && self.all(&log, |_, text| text.is_none()) {
                return Err(missing_column(*cell, wanted.option));
            }
        }
        let is_known = has_host || site.host.is_some() || self.readable.is_empty();
        if !is_known && !self.are_for_proxy(&format) {
            return Err("no virtual hosts in this access log: give its host with --host, or its format with \
                        --input-format, such as vhost_combined"
                .into());
        }
        let place = match (format.host(), site.start()) {
            (Some(0), _) if format.start.is_empty() => {
                "the requests, virtual hosts at the start of the lines".to_owned()
            }
            (Some(place), _) => format!("the requests, hosts in {}", format.fields[place].name),
            (None, Some(start)) => format!("the requests to {}", shown(&start)),
            (None, None) if is_known => "the requests".to_owned(),
            (None, None) => "the requests, which have whole URLs".to_owned(),
        };
        let names = cells.iter().map(|cell| match cell {
            LogCell::Url => place.clone(),
            cell => cell.describe().into(),
        });
        let names = names.collect();
        let origin = Origin { default: site.start(), scheme: site.scheme, is_proxy: !is_known };
        Ok((Log::new(format, origin, has_host, cells), names))
    }

    /// Returns whether a log has at least one readable line, and `is_it` is true for all of them.
    fn all(&self, log: &Log, is_it: impl Fn(Result<(), Fault>, Option<&[u8]>) -> bool) -> bool {
        let holds = |line: &&[u8]| {
            let (arena, mut cells) = (Bump::new(), [None]);
            let found = log.read(line, &arena, &mut cells);
            is_it(found, cells[0])
        };
        !self.readable.is_empty() && self.readable.iter().all(holds)
    }

    /// Returns the format with virtual hosts if all lines have it.
    ///
    /// # Errors
    /// Returns a message if the user gives a host too. A line's first field may be the server's host, which precedes
    /// the user's, or a client's header, which does not.
    fn with_hosts(&self, site: &Site) -> Result<Option<LogFormat>, String> {
        let format = LogFormat::parse(VHOST_COMBINED)?;
        let default = Some(b"http://localhost".to_vec());
        let log = Log::new(format.clone(), Origin { default, ..Origin::default() }, true, vec![LogCell::Url]);
        let has_host = |found: Result<(), Fault>, _: Option<&[u8]>| {
            !matches!(found, Err(Fault::NotLog | Fault::TwoReadings | Fault::NoHost))
        };
        let has_format = |line: &&[u8]| log.has_format(line);
        match (self.all(&log, has_host) && self.readable.iter().all(has_format), &site.host) {
            (true, Some(host)) => Err(format!(
                "the lines begin with a host and a port, but --host is {}: give --input-format vhost_combined if the \
                 server chose these hosts, or else the server's own format",
                shown(host.as_bytes())
            )),
            (has_hosts, _) => Ok(has_hosts.then_some(format)),
        }
    }

    /// Returns whether all requests for a URL are for a whole URL, as in the log of a proxy.
    fn are_for_proxy(&self, format: &LogFormat) -> bool {
        let log = reader(format.clone(), vec![LogCell::Url]);
        let is_one = |line: &&[u8]| log.read(line, &Bump::new(), &mut [None]).is_ok();
        self.all(&log, |found, _| found != Err(Fault::NoHost)) && self.readable.iter().any(is_one)
    }
}

/// Returns the access log column with this name, or the URL column without a name.
fn log_cell(option: &str, name: Option<&str>) -> Result<LogCell, String> {
    let Some(name) = name else { return Ok(LogCell::Url) };
    LogCell::named(name).ok_or_else(|| {
        let (name, known) = (shown(name.as_bytes()), LogCell::NAMED.map(|(name, _)| name).join(", "));
        format!("{option} {name}: an access log has the columns {known}; its URLs are those requested")
    })
}

/// Returns the message for a column that a log lacks.
fn missing_column(cell: LogCell, option: &str) -> String {
    match cell {
        LogCell::UserAgent => format!(
            "{option}: this access log has no user agents, which the combined format has; --input-format gives another"
        ),
        LogCell::Status => format!("{option}: this access log has no statuses, such as $status or %>s in its format"),
        LogCell::Client => format!(
            "{option}: the clients' addresses are in a field that only the log's format names, such as $remote_addr or \
             %h, because a line's first field could be a header; give --input-format, such as combined"
        ),
        _ => format!("{option}: this access log has no times, such as $time_local or %t in its format"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how the URLs of a log are described, or the error.
    fn described(lines: &[&str], host: Option<&str>) -> Result<String, String> {
        let site = Site::of_options(host, &[])?;
        let wanted = [ColumnOption { option: "--url", name: None }];
        let first = FirstLines::of(lines.iter().map(|line| line.as_bytes()), None);
        first.log(&site, None, &wanted).map(|(_, mut names)| names.remove(0))
    }

    #[test]
    fn hosts_come_from_declared_places_only() {
        const REQUEST: &str = "[10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5";
        const OF_VHOSTS: Option<&str> = Some("the requests, virtual hosts at the start of the lines");
        const OF_PROXY: Option<&str> = Some("the requests, which have whole URLs");
        let cases = [
            ("a.example:443 1.2.3.4 - -", " \"-\" \"x\"", OF_VHOSTS),
            ("localhost:80 ::1 - -", " \"-\" \"x\"", OF_VHOSTS),
            ("_:443 1.2.3.4 - -", " \"-\" \"x\"", OF_VHOSTS),
            ("xn--a.xn--p1ai:80 crawl.bot.example - a b", " \"-\" \"x\"", OF_VHOSTS),
            // Not in the format's shape.
            ("a.example 1.2.3.4 - -", " \"-\" \"x\"", None),
            ("a.example:443 1.2.3.4 - -", "", None),
            ("a.example:443 1.2.3.4 - -", " \"-\" \"x\" \"y\"", None),
            ("a.example:443 - -", " \"-\" \"x\"", None),
            ("a.example:443, 1.2.3.4 5.6.7.8 - -", " \"-\" \"x\"", None),
            ("crawl.bot.example - a b c", " \"-\" \"x\"", None),
            ("1.2.3.4 5.6.7.8 - -", " \"-\" \"x\"", None),
            ("2001:db8::1 5.6.7.8 - -", " \"-\" \"x\"", None),
            ("2001:db8::80 - - -", " \"-\" \"x\"", None),
            ("1.2.3.4 - -", " \"-\" \"x\" \"a.example\"", None),
            ("1.2.3.4 - -", " \"-\" \"x\" a.example:80", None),
            ("1.2.3.4 - -", " \"-\" \"x\" 0.123 backend.internal web.docker en.utf8", None),
            ("1.2.3.4 - -", " \"https://www.google.com/\" \"x\" \"b.example\"", None),
            ("1.2.3.4 - -", " a.example", None),
        ];
        for (before, after, expected) in cases {
            let line = format!("{before} {REQUEST}{after}");
            assert_eq!(described(&[&line], None).ok().as_deref(), expected, "{line}");
            match described(&[&line], Some("h.example")) {
                Ok(found) => assert_eq!((&*found, expected), ("the requests to https://h.example", None), "{line}"),
                // The first field has two readings.
                Err(message) => {
                    assert_eq!(expected, OF_VHOSTS, "{line}");
                    assert!(message.contains("--input-format vhost_combined"), "{message}");
                }
            }
        }
        let with_host = format!("a.example:80 1.2.3.4 - - {REQUEST} \"-\" \"x\"");
        let other = format!("1.2.3.4 - - {REQUEST} \"-\" \"x\"");
        let absolute = other.replace("GET /", "GET http://b.example/");
        for (lines, expected) in [
            (&[&*with_host, &with_host][..], OF_VHOSTS),
            (&[&with_host, "junk", &with_host], OF_VHOSTS),
            (&[&with_host, &other], None),
            (&[&other, &with_host], None),
            (&[&absolute, &absolute], OF_PROXY),
            (&[&absolute, &other.replace("GET / HTTP/1.1", "-")], OF_PROXY),
            (&[&absolute, &other], None),
            (&[&other.replace("GET / HTTP/1.1", "-")], None),
            (&["junk"], Some("the requests")),
        ] {
            assert_eq!(described(lines, None).ok().as_deref(), expected, "{lines:?}");
        }
        // One line that differs counts if it is among the first lines.
        for (count, expected) in
            [(MAX_FIRST_LINES - 1, None), (MAX_FIRST_LINES, OF_VHOSTS), (MAX_FIRST_LINES + 1, OF_VHOSTS)]
        {
            let lines: Vec<&str> = std::iter::repeat_n(&*with_host, count).chain([&*other]).collect();
            assert_eq!(described(&lines, None).ok().as_deref(), expected, "{count}");
        }
        for line in ["", "a b [c] \"GET / HTTP/1.1\" 200 1", "x [10/Oct/2000] \"y\" 200"] {
            assert!(!is_log(line.as_bytes()), "{line}");
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
