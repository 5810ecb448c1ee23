//! Checks whether a request comes from the crawler that its header names. The client's address must be in a list of the
//! crawler's operator, or have a name in one of the operator's domains.
//!
//! Nothing is fetched or resolved here. [`Identities::read`] reads the published lists of address ranges that the caller
//! has saved, and a table of names that were resolved elsewhere; [`reptile::crawlers::RANGE_LISTS`] has the lists' URLs.
//! [`Identities::crawler`] then checks the clients of a crawler, millions per second.
//!
//! ```
//! use reptile_records::identity::{Identities, Identity, NamedFile, NoCheck};
//! use reptile_records::time::{Zone, read_time};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("gptbot.json");
//! let list = r#"{"creationTime": "2026-11-01T00:00:00", "prefixes": [{"ipv4Prefix": "192.0.2.0/28"}]}"#;
//! std::fs::write(&file, list)?;
//! let ranges = [NamedFile::parse(&format!("GPTBot={}", file.display()))?];
//! let identities = Identities::read(&ranges, None, None)?;
//! assert_eq!(identities.lists()[0].prefixes, 1);
//!
//! let gptbot = identities.crawler("gptbot").ok_or("an unknown crawler")?;
//! let time = |text: &str| read_time(text, &Zone::default());
//! assert_eq!(gptbot.client(b"192.0.2.15", Some(time("2026-11-20")?)), Identity::Verified);
//! assert_eq!(gptbot.client(b"192.0.2.16:443", Some(time("2026-10-20")?)), Identity::Failed);
//! // The operator may have added the address after the list was made.
//! let old = NoCheck::OldList(time("2026-11-01")?);
//! assert_eq!(gptbot.client(b"192.0.2.16", Some(time("2026-11-20")?)), Identity::NoCheck(old));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::net::{IpAddr, SocketAddr};

use reptile::capture::Time;
use reptile::crawlers::{DNS_SUFFIXES, RangeList, known, range_lists, records};
use xxhash_rust::xxh3::xxh3_64;

use crate::detect::Content;
use crate::open::Input;
use crate::place::Place;
use crate::shown::{listed, shown};
use crate::time::show_time;
use crate::{Error, Result};

mod lines;
mod list;
mod names;

use list::{List, Prefixes};
use names::Names;

pub use list::{MAX_LIST_BYTES, MAX_PREFIXES};
pub use names::{MAX_NAMES, MAX_NAMES_BYTES};

/// Maximum number of files with address ranges; a larger number is a mistake, such as a list of unrelated files. The
/// table of crawlers has 22 lists.
pub const MAX_LISTS: usize = 1024;

/// The result of an identity check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// The client's address is in a list for the crawler, or has a name in a domain of its operator.
    Verified,
    /// The client's address is in none of the crawler's lists, or only has names in other domains.
    Failed,
    /// No check is possible, for this reason.
    NoCheck(NoCheck),
}

impl Identity {
    /// Returns the stable name: `verified`, `failed` or `no-check`.
    ///
    /// ```
    /// use reptile_records::identity::{Identity, NoCheck};
    /// assert_eq!(Identity::NoCheck(NoCheck::NoList).as_str(), "no-check");
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Identity::Verified => "verified",
            Identity::Failed => "failed",
            Identity::NoCheck(_) => "no-check",
        }
    }
}

/// The reason why no identity check is possible.
///
/// ```
/// use reptile_records::identity::NoCheck;
/// let old = NoCheck::OldList(0);
/// assert_eq!(old.as_str(), "old-list");
/// assert_eq!(old.to_string(), "the list is older than the request: 1970-01-01T00:00:00Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoCheck {
    /// The table of crawlers does not have the crawler.
    UnknownCrawler,
    /// There is no list for the crawler, and no table of names or no domain of its operator.
    NoList,
    /// The row has no client address, or the text is not an address.
    NoAddress,
    /// The address is not in the list, which was made at this time, before the request.
    OldList(Time),
    /// The address is not in the list, which has a date, but the row has no time.
    NoTime,
    /// The address is not in the given lists, but the operator publishes another list for the crawler.
    OtherList,
    /// The table of names does not have the address.
    NoName,
}

impl NoCheck {
    /// Returns the stable name, such as `old-list`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            NoCheck::UnknownCrawler => "unknown-crawler",
            NoCheck::NoList => "no-list",
            NoCheck::NoAddress => "no-address",
            NoCheck::OldList(_) => "old-list",
            NoCheck::NoTime => "no-time",
            NoCheck::OtherList => "other-list",
            NoCheck::NoName => "no-name",
        }
    }
}

impl fmt::Display for NoCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoCheck::UnknownCrawler => "the crawler is unknown",
            NoCheck::NoList => "there is no list of the crawler's addresses or names",
            NoCheck::NoAddress => "the row has no client address",
            NoCheck::OldList(time) => {
                return write!(f, "the list is older than the request: {}", show_time(*time));
            }
            NoCheck::NoTime => "the row has no time to compare with the list's date",
            NoCheck::OtherList => "the operator publishes another list for the crawler, which is not given",
            NoCheck::NoName => "the address has no resolved name",
        })
    }
}

/// A file with address ranges, and the crawler or operator that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// A crawler's name, or an operator's: [`reptile::crawlers::records`] has both.
    pub name: String,
    /// The file.
    pub file: Place,
}

impl NamedFile {
    /// Parses `NAME=FILE`.
    ///
    /// ```
    /// use reptile_records::identity::NamedFile;
    /// assert_eq!(NamedFile::parse("GPTBot=lists/gptbot.json")?.name, "GPTBot");
    /// assert!(NamedFile::parse("gptbot.json").unwrap_err().starts_with("expected NAME=FILE"));
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the text has another form.
    pub fn parse(text: &str) -> std::result::Result<NamedFile, String> {
        match text.split_once('=') {
            Some((name, file)) if !name.is_empty() && !file.is_empty() => {
                Ok(NamedFile { name: name.to_owned(), file: Place::from(file) })
            }
            _ => {
                let found = shown(text.as_bytes());
                Err(format!(
                    "expected NAME=FILE, such as GPTBot=gptbot.json or Google=common-crawlers.json, found {found}"
                ))
            }
        }
    }
}

/// A list of address ranges that was read, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangesFile {
    /// The name that it was given for: a crawler, or an operator.
    pub name: String,
    /// The file.
    pub file: Place,
    /// The crawlers whose addresses it has.
    pub crawlers: Vec<&'static str>,
    /// Its `creationTime`.
    pub created: Option<Time>,
    /// The latest time at which it was known to be current: its `creationTime` or the time when it was fetched. A list
    /// without either is undated, and counts as current for every request.
    pub dated: Option<Time>,
    /// Number of prefixes.
    pub prefixes: usize,
    /// The names that its prefixes have as `service`, sorted. They do not affect checks.
    pub services: Vec<String>,
    /// The hash of its decompressed bytes: `xxh3-64:` and 16 hexadecimal digits.
    pub digest: String,
}

/// A table of resolved names that was read, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamesFile {
    /// The file.
    pub file: Place,
    /// Number of addresses.
    pub addresses: usize,
    /// The hash of its decompressed bytes, as in [`RangesFile`].
    pub digest: String,
}

/// The known addresses and names of crawlers.
#[derive(Debug, Default)]
pub struct Identities {
    lists: Vec<RangesFile>,
    /// The addresses of each group of lists that some crawler has.
    ranges: Vec<Ranges>,
    /// For each crawler with a list, the position of its addresses in `ranges`.
    by_crawler: BTreeMap<&'static str, usize>,
    names: Option<(NamesFile, Names)>,
}

impl Identities {
    /// Reads lists of address ranges, and a table of names.
    ///
    /// A list is the JSON object that operators publish, or has an address or a CIDR prefix on each line and comments
    /// after `#`. The lists for one name add up. A list that is named after an operator is for the crawlers for which
    /// the operator publishes a list with this file name. If the operator publishes at most one list, the file name
    /// does not matter. `as_of` is the time when the lists were fetched.
    ///
    /// A table of names has an address, a tab and a name on each line. The names must be confirmed: each must resolve
    /// to the address.
    ///
    /// # Errors
    /// Returns an error if a file is unreadable, has another format or exceeds a limit, or if a name is not in the table
    /// of crawlers. The error gives the file, and the line if there is one.
    pub fn read(ranges: &[NamedFile], names: Option<&Place>, as_of: Option<Time>) -> Result<Identities> {
        if ranges.len() > MAX_LISTS {
            let message = format!("expected at most {MAX_LISTS} lists of address ranges, found {}", ranges.len());
            return Err(Error::new(message));
        }
        let mut files = Vec::new();
        let mut free = MAX_PREFIXES;
        for NamedFile { name, file } in ranges {
            let (crawlers, published) = crawlers_of(name, file).map_err(|text| Error::at(file.as_input(), text))?;
            let (bytes, digest) = read(file, MAX_LIST_BYTES, "a list of address ranges")?;
            let list = List::parse(&bytes, free).map_err(|text| Error::at(file.as_input(), text))?;
            let List { prefixes, created, services } = list;
            free -= prefixes.len();
            let (name, file, dated) = (name.clone(), file.clone(), as_of.max(created));
            let info = RangesFile { name, file, crawlers, created, dated, prefixes: prefixes.len(), services, digest };
            files.push((info, published, prefixes));
        }
        let mut identities = Identities::default();
        identities.group(&files);
        identities.lists = files.into_iter().map(|(info, ..)| info).collect();
        if let Some(file) = names {
            let (bytes, digest) = read(file, MAX_NAMES_BYTES, "a table of addresses and names")?;
            let names = Names::parse(&bytes, MAX_NAMES).map_err(|text| Error::at(file.as_input(), text))?;
            identities.names = Some((NamesFile { file: file.clone(), addresses: names.len(), digest }, names));
        }
        Ok(identities)
    }

    /// Joins the lists of each crawler. Crawlers with the same lists share the result.
    fn group(&mut self, files: &[(RangesFile, Option<&'static RangeList>, Prefixes)]) {
        let mut groups: BTreeMap<(Vec<usize>, bool), usize> = BTreeMap::new();
        for (known, _) in records() {
            let of_crawler = |(_, (info, ..)): &(usize, &(RangesFile, _, _))| info.crawlers.contains(&known.name);
            let given: Vec<usize> = files.iter().enumerate().filter(of_crawler).map(|(at, _)| at).collect();
            if given.is_empty() {
                continue;
            }
            let is_given = |list| given.iter().any(|&at| files[at].1 == Some(list));
            let is_complete = given.iter().any(|&at| files[at].1.is_none()) || range_lists(known.name).all(is_given);
            let at = *groups.entry((given, is_complete)).or_insert_with_key(|(given, is_complete)| {
                self.ranges.push(Ranges {
                    prefixes: Prefixes::union(given.iter().map(|&at| &files[at].2)),
                    oldest: given.iter().filter_map(|&at| files[at].0.dated).min(),
                    is_complete: *is_complete,
                });
                self.ranges.len() - 1
            });
            self.by_crawler.insert(known.name, at);
        }
    }

    /// Returns the lists of address ranges, in the order given.
    #[must_use]
    pub fn lists(&self) -> &[RangesFile] {
        &self.lists
    }

    /// Returns the table of names, if there is one.
    #[must_use]
    pub fn names(&self) -> Option<&NamesFile> {
        self.names.as_ref().map(|(file, _)| file)
    }

    /// Returns the checks for the clients of a crawler, or `None` if the table of crawlers does not have it. `name` is
    /// the crawler's name, or its chain of product tokens, which begins with its name.
    #[must_use]
    pub fn crawler(&self, name: &str) -> Option<CrawlerCheck<'_>> {
        let name = name.split('>').next().unwrap_or(name);
        let crawler = known(name.as_bytes())?.name;
        let ranges = self.by_crawler.get(crawler).map(|&at| &self.ranges[at]);
        let row = DNS_SUFFIXES.iter().position(|row| row.crawlers.contains(&crawler));
        let names = self.names.as_ref().zip(row).map(|((_, names), row)| (names, row));
        Some(CrawlerCheck { ranges, names })
    }

    /// Checks one client. [`Identities::crawler`] is faster for many.
    ///
    /// ```
    /// use reptile_records::identity::{Identities, Identity, NoCheck};
    /// let identities = Identities::default();
    /// assert_eq!(identities.check("GPTBot", b"192.0.2.1", None), Identity::NoCheck(NoCheck::NoList));
    /// ```
    #[must_use]
    pub fn check(&self, crawler: &str, client: &[u8], time: Option<Time>) -> Identity {
        match self.crawler(crawler) {
            Some(check) => check.client(client, time),
            None => Identity::NoCheck(NoCheck::UnknownCrawler),
        }
    }
}

/// The checks for the clients of one crawler. See [`the module`](self) for an example.
#[derive(Clone, Copy, Debug)]
pub struct CrawlerCheck<'i> {
    ranges: Option<&'i Ranges>,
    /// The names, and the row in [`DNS_SUFFIXES`].
    names: Option<(&'i Names, usize)>,
}

impl CrawlerCheck<'_> {
    /// Checks a client. `client` is an address, optionally followed by a port; `time` is the request's.
    ///
    /// A client is verified if its address or one of its names is the operator's, and failed if one of the two is known
    /// not to be. Nothing is allocated.
    #[must_use]
    pub fn client(&self, client: &[u8], time: Option<Time>) -> Identity {
        if self.ranges.is_none() && self.names.is_none() {
            return Identity::NoCheck(NoCheck::NoList);
        }
        let Some(address) = address_of(client) else { return Identity::NoCheck(NoCheck::NoAddress) };
        let by_range = self.ranges.map(|ranges| ranges.check(address, time));
        if by_range == Some(Identity::Verified) {
            return Identity::Verified;
        }
        let by_name = self.names.map(|(names, row)| match names.is_in(address, row) {
            Some(true) => Identity::Verified,
            Some(false) => Identity::Failed,
            None => Identity::NoCheck(NoCheck::NoName),
        });
        match (by_range, by_name) {
            (Some(range), None | Some(Identity::NoCheck(_))) => range,
            (_, Some(name)) => name,
            (None, None) => Identity::NoCheck(NoCheck::NoList),
        }
    }
}

/// The addresses of a crawler.
#[derive(Debug)]
struct Ranges {
    prefixes: Prefixes,
    /// The date of the oldest list that has one.
    oldest: Option<Time>,
    /// Whether all lists that the operator publishes for the crawler are given.
    is_complete: bool,
}

impl Ranges {
    fn check(&self, address: IpAddr, time: Option<Time>) -> Identity {
        if self.prefixes.contains(address) {
            return Identity::Verified;
        }
        Identity::NoCheck(match (self.oldest, time) {
            _ if !self.is_complete => NoCheck::OtherList,
            (Some(_), None) => NoCheck::NoTime,
            (Some(oldest), Some(time)) if oldest < time => NoCheck::OldList(oldest),
            _ => return Identity::Failed,
        })
    }
}

/// Returns the address in a client's text: an address, or an address and a port. An IPv4-mapped address is IPv4.
fn address_of(client: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(client).ok()?;
    let address = text.parse().or_else(|_| text.parse::<SocketAddr>().map(|socket| socket.ip()));
    address.ok().map(|address: IpAddr| address.to_canonical())
}

/// Returns the crawlers whose addresses a list has, and the published list with its file name.
fn crawlers_of(
    name: &str,
    file: &Place,
) -> std::result::Result<(Vec<&'static str>, Option<&'static RangeList>), String> {
    let file_name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let is_named = |list: &&RangeList| published_name(list).is_some_and(|name| file_name.contains(name));
    if let Some(crawler) = known(name.as_bytes()) {
        return Ok((vec![crawler.name], range_lists(crawler.name).find(is_named)));
    }
    let of_operator = || records().filter(|(_, record)| record.operator.eq_ignore_ascii_case(name));
    let crawlers: Vec<&str> = of_operator().map(|(known, _)| known.name).collect();
    let Some(&first) = crawlers.first() else { return Err(unknown_name(name)) };
    let lists = || reptile::crawlers::RANGE_LISTS.iter().filter(|list| list.operator.eq_ignore_ascii_case(name));
    match (lists().find(is_named), lists().count()) {
        (Some(list), _) => Ok((list.crawlers.to_vec(), Some(list))),
        (None, 0) => Ok((crawlers, None)),
        (None, 1) => Ok((lists().flat_map(|list| list.crawlers).copied().collect(), None)),
        (None, count) => {
            let mut names: Vec<&str> = lists().filter_map(published_name).collect();
            names.sort_unstable();
            let kept = if names.is_empty() { String::new() } else { "keep the published file name, or ".to_owned() };
            let which = if names.is_empty() { String::new() } else { format!(" ({})", listed(names.iter())) };
            Err(format!("{name} publishes {count} lists{which}: {kept}name a crawler, such as {first}=FILE"))
        }
    }
}

/// Returns a published list's file name, or `None` for a web page.
fn published_name(list: &RangeList) -> Option<&'static str> {
    list.url.rsplit('/').next().filter(|name| !name.is_empty())
}

/// Returns the error for a name that the table of crawlers does not have.
fn unknown_name(name: &str) -> String {
    let mut operators: Vec<&str> = reptile::crawlers::RANGE_LISTS.iter().map(|list| list.operator).collect();
    operators.sort_unstable();
    operators.dedup();
    let shown = shown(name.as_bytes());
    let mistake = reptile::crawlers::mistake(name.as_bytes());
    let nearly = mistake.as_ref().map(|mistake| mistake.tokens());
    let names = nearly.map_or_else(|| listed(operators.iter()), |tokens| listed(tokens.iter()));
    let kind = if nearly.is_some() { "a crawler" } else { "a crawler or an operator" };
    format!("expected NAME=FILE with {kind} of `reptile agents`, such as {names}, found \"{shown}\"")
}

/// Reads a file's decompressed bytes without a byte order mark, and returns them with their hash.
fn read(file: &Place, limit: usize, expected: &str) -> Result<(Vec<u8>, String)> {
    let place = file.as_input();
    let input = Input::open(file)?;
    if !matches!(input.content, Content::Text | Content::Json | Content::Empty) {
        let remedy = match input.content {
            Content::Html => "; write its addresses to a file, one on each line",
            _ => "",
        };
        return Err(Error::at(place, format!("is {}, not {expected}{remedy}", input.content.describe())));
    }
    let mut bytes = bytes_of(input.into_source(), limit).map_err(|error| Error::io(&place, error))?;
    if bytes.len() > limit {
        return Err(Error::at(place, format!("has more than {limit} bytes, the limit for {expected}")));
    }
    let digest = format!("xxh3-64:{:016x}", xxh3_64(&bytes));
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    Ok((bytes, digest))
}

/// Reads at most one byte more than `limit`.
fn bytes_of(source: impl Read, limit: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests;
