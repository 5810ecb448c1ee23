//! Decides the requests in a block: [`Auditor`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use bumpalo::Bump;
use foldhash::fast::RandomState;
use reptile::capture::Time;
use reptile::urls::split;
use reptile::{Agent, Error, Explanation, Provenance, Scheme, Set, Span, Verdict};
use reptile_records::identity::{CrawlerCheck, Identities, Identity, NoCheck};
use reptile_records::lines::trimmed_url;
use reptile_records::tables::source::Block;
use reptile_records::tables::{Fault, Row, Table};
use reptile_records::time::Zone;

use crate::by_row::{ByRow, NamedRow, Session, Times};
use crate::decide::ROWS_AT_ONCE;
use crate::text::Faults;
use crate::text::line::time_of;

/// Seconds in a day: how long a crawler may use its copy of robots.txt (RFC 9309, section 2.4).
pub const DAY_SECONDS: Time = 86_400;

/// The path of robots.txt.
const ROBOTS_PATH: &[u8] = b"/robots.txt";

/// The index of the cell with a request's crawler. The URL and the time precede it.
const CRAWLER_CELL: usize = 2;

/// The indexes of a row's further cells, if it has them. The first three are the URL, the time and the crawler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditCells {
    /// The response's status.
    pub status: Option<usize>,
    /// The client's address.
    pub client: Option<usize>,
}

/// The settings of an audit.
#[derive(Clone, Debug)]
pub struct AuditOptions {
    /// The zone of times without one.
    pub zone: Zone,
    /// How long an earlier robots.txt may still be obeyed after a change, in seconds.
    pub grace: Time,
    /// Whether crawlers in tables are named unchanged, as by `exact:`.
    pub is_exact: bool,
    /// The known addresses of crawlers, if clients are checked.
    pub identities: Option<Arc<Identities>>,
    /// Whether violations name the capture that decided, which takes a few microseconds for each.
    pub has_captures: bool,
}

impl Default for AuditOptions {
    fn default() -> AuditOptions {
        AuditOptions {
            zone: Zone::default(),
            grace: DAY_SECONDS,
            is_exact: false,
            identities: None,
            has_captures: false,
        }
    }
}

/// Decides requests. See [the module](super) for an example.
pub struct Auditor {
    set: Set,
    by_row: ByRow,
    cells: AuditCells,
    options: AuditOptions,
}

/// A crawler's request.
#[derive(Debug)]
pub struct Request {
    /// When it was made, in seconds since 1970.
    pub time: Time,
    /// The crawler's number: in [`Requests::crawlers`] or, after sorting, in an [`Audit`](super::Audit).
    pub crawler: u32,
    /// The origin's number, likewise.
    pub origin: u32,
    /// The verdict by the rules that applied at this time.
    pub verdict: Verdict,
    /// Whether it is for `/robots.txt`.
    pub is_for_robots: bool,
    /// The response's status, if the log has it.
    pub status: Option<u16>,
    /// Whether the client is the crawler, if clients are checked.
    pub identity: Option<Identity>,
    /// The violation, if the verdict is `disallow` and the request is not for robots.txt.
    pub violation: Option<Box<Violation>>,
}

/// A disallowed request.
#[derive(Debug)]
pub struct Violation {
    /// The requested URL.
    pub url: Vec<u8>,
    /// The verdict's reasons.
    pub explained: Explanation,
    /// The deciding capture, if requested.
    pub provenance: Provenance,
    /// The first and the last second of the period with the rules that decided.
    pub period: (Time, Time),
    /// Whether a robots.txt of the grace period before the request allows it, or is unknown.
    pub is_in_grace: bool,
    /// The client's address as logged, if it is read.
    pub client: Vec<u8>,
}

impl Violation {
    /// Returns the approximate size of its texts in bytes.
    pub(super) fn byte_len(&self) -> usize {
        self.url.len() + self.client.len() + self.explained.rule().map_or(0, |rule| rule.pattern.len())
    }
}

/// The requests in a block of rows.
#[derive(Default)]
pub struct Requests {
    /// Number of rows.
    pub rows: u64,
    /// The latest time of a row, also of one without a crawler.
    pub newest: Option<Time>,
    /// Rows without a crawler: browsers and others.
    pub unnamed: u64,
    /// Number of line ends.
    pub line_ends: u64,
    /// The rows that could not be read.
    pub faults: Faults,
    /// The crawlers, by number.
    pub crawlers: Vec<(Arc<str>, Agent)>,
    /// A URL of each origin, by number, with the origin's hash.
    pub(super) origins: Vec<(u64, Vec<u8>)>,
    pub(super) requests: Vec<Request>,
}

impl Requests {
    /// Returns the counts of one line that is too long to be read.
    #[must_use]
    pub fn of_long_line() -> Requests {
        let mut found = Requests { rows: 1, line_ends: 1, ..Requests::default() };
        found.faults.add(Fault::TooLong, || 0);
        found
    }

    /// Returns the number of rows that could not be read.
    #[must_use]
    pub fn invalid(&self) -> u64 {
        self.faults.counts.iter().sum()
    }
}

/// A row that names a crawler.
struct CrawlerRow<'b> {
    url: &'b [u8],
    crawler: &'b [u8],
    time: Time,
    status: Option<u16>,
    client: &'b [u8],
}

impl AsRef<[u8]> for CrawlerRow<'_> {
    fn as_ref(&self) -> &[u8] {
        self.url
    }
}

impl NamedRow for CrawlerRow<'_> {
    fn crawler(&self) -> &[u8] {
        self.crawler
    }

    fn time(&self) -> Option<Time> {
        Some(self.time)
    }
}

/// A hasher with the same result in all blocks.
type OriginHasher = BuildHasherDefault<DefaultHasher>;

impl Auditor {
    /// Creates an auditor for the rows of tables. `is_log` says whether crawlers are named by `User-Agent` headers.
    ///
    /// # Errors
    /// Returns an error if the set's crawler table is damaged.
    pub fn new(set: &Set, is_log: bool, cells: AuditCells, options: AuditOptions) -> Result<Auditor, Error> {
        let by_row = ByRow::new(set, CRAWLER_CELL, is_log)?.take_names_exactly(options.is_exact);
        Ok(Auditor { set: set.clone(), by_row, cells, options })
    }

    /// Decides each request in a block whose row names a crawler.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn decide(&self, table: &Table, block: Block<'_>) -> Result<Requests, Error> {
        let arena = Bump::new();
        let mut found = Requests::default();
        match block {
            Block::Text(text) => {
                let ends = |row: &Row<'_>| memchr::memchr_iter(b'\n', &text[..row.start]).count() as u64;
                self.decide_rows(table.rows(text, &arena), ends, &mut found)?;
                found.line_ends = memchr::memchr_iter(b'\n', text).count() as u64;
            }
            Block::Cells(cells) => {
                self.decide_rows(cells.rows(&arena), |_| 0, &mut found)?;
                found.line_ends = found.rows;
            }
        }
        Ok(found)
    }

    fn decide_rows<'b>(
        &self,
        rows: impl Iterator<Item = Row<'b>>,
        ends: impl Fn(&Row<'b>) -> u64,
        found: &mut Requests,
    ) -> Result<(), Error> {
        let mut session = self.by_row.session();
        let mut numbers = Numbers::default();
        let mut batch: Vec<CrawlerRow<'b>> = Vec::with_capacity(ROWS_AT_ONCE);
        for mut row in rows {
            found.rows += 1;
            let time = time_of(&mut row, &self.options.zone);
            found.newest = found.newest.max(time);
            found.faults.note(&row, || ends(&row));
            let (Some(time), None, Some(url)) = (time, row.fault, row.cells[0]) else { continue };
            let cell = |at: Option<usize>| at.and_then(|at| row.cells[at]).unwrap_or_default();
            batch.push(CrawlerRow {
                url: trimmed_url(url),
                crawler: cell(Some(CRAWLER_CELL)),
                time,
                status: status_of(cell(self.cells.status)),
                client: cell(self.cells.client),
            });
            if batch.len() == ROWS_AT_ONCE {
                self.decide_batch(&batch, &mut session, &mut numbers, found)?;
                batch.clear();
            }
        }
        self.decide_batch(&batch, &mut session, &mut numbers, found)?;
        session.end();
        Ok(())
    }

    /// Decides some rows. Most rows of a log are of browsers, which name no crawler and are not decided.
    fn decide_batch<'i>(
        &'i self,
        rows: &[CrawlerRow<'_>],
        session: &mut Session<'_>,
        numbers: &mut Numbers<'i>,
        found: &mut Requests,
    ) -> Result<(), Error> {
        session.find_all(rows)?;
        let named: Vec<usize> = (0..rows.len()).filter(|&row| session.is_named(row)).collect();
        found.unnamed += (rows.len() - named.len()) as u64;
        let of_crawlers: Vec<&CrawlerRow<'_>> = named.iter().map(|&row| &rows[row]).collect();
        let mut verdicts = vec![Verdict::Invalid; named.len()];
        let times = if self.set.has_times() { Times::OfRows } else { Times::None };
        session.decide(&of_crawlers, named.iter().copied(), times, &mut verdicts)?;
        for ((&place, row), verdict) in named.iter().zip(of_crawlers).zip(verdicts) {
            let Some((name, agent)) = session.named(place) else { continue };
            let crawler = numbers.crawler(name, agent, self.options.identities.as_deref(), found);
            let identity = self.options.identities.as_ref().map(|_| numbers.identity(crawler, row));
            let (origin, is_for_robots) = numbers.origin(row.url, found);
            let violation = match verdict {
                // Always allowed (RFC 9309, section 2.2.2), even if the set's dialect disagrees.
                _ if is_for_robots => None,
                Verdict::Disallow => {
                    Some(Box::new(self.violation(row, agent, numbers.spans(&self.set, origin, row)?)?))
                }
                _ => None,
            };
            let (time, status) = (row.time, row.status);
            let request = Request { time, crawler, origin, verdict, is_for_robots, status, identity, violation };
            found.requests.push(request);
        }
        Ok(())
    }

    /// Explains a disallowed request. `spans` are its origin's, in order.
    fn violation(&self, row: &CrawlerRow<'_>, agent: &Agent, spans: &[Span]) -> Result<Violation, Error> {
        let has_times = self.set.has_times();
        let explained = if has_times { agent.explain_at(row.url, row.time)? } else { agent.explain(row.url)? };
        let provenance = match (self.options.has_captures, has_times) {
            (false, _) => Provenance::default(),
            (true, true) => agent.provenance_at(row.url, row.time)?,
            (true, false) => agent.provenance(row.url)?,
        };
        let begun = &spans[..spans.partition_point(|span| span.from.is_none_or(|from| from <= row.time))];
        let period = begun
            .last()
            .map_or((Time::MIN, Time::MAX), |span| (span.from.unwrap_or(Time::MIN), span.until.unwrap_or(Time::MAX)));
        let is_in_grace = self.is_in_grace(row, agent, begun)?;
        Ok(Violation { url: row.url.to_vec(), explained, provenance, period, is_in_grace, client: row.client.to_vec() })
    }

    /// Returns whether a crawler that still obeys a robots.txt of the grace period may make a disallowed request. If
    /// the first capture is in the grace period, the file before it is unknown. `begun` are the spans up to the request.
    fn is_in_grace(&self, row: &CrawlerRow<'_>, agent: &Agent, begun: &[Span]) -> Result<bool, Error> {
        let since = row.time.saturating_sub(self.options.grace);
        let changes = begun.iter().rev().map_while(|span| span.from.filter(|&from| from > since));
        for change in changes {
            if agent.decide_at(row.url, change - 1)? != Verdict::Disallow {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The numbers of a block's crawlers and origins.
#[derive(Default)]
struct Numbers<'i> {
    /// The number of each name, by the address of its text, which is the same for all rows with the crawler.
    crawlers: HashMap<*const u8, u32, RandomState>,
    /// The checks for the clients of each crawler.
    checks: Vec<Option<CrawlerCheck<'i>>>,
    origins: HashMap<u64, u32, RandomState>,
    /// The last URL's scheme, host and port, and their number.
    last: Option<(Scheme, Vec<u8>, u16, u32)>,
    /// The spans of each origin, if they were needed.
    spans: HashMap<u32, Vec<Span>, RandomState>,
    hasher: OriginHasher,
}

impl<'i> Numbers<'i> {
    fn crawler(
        &mut self,
        name: &Arc<str>,
        agent: &Agent,
        identities: Option<&'i Identities>,
        found: &mut Requests,
    ) -> u32 {
        if let Some(&number) = self.crawlers.get(&name.as_ptr()) {
            return number;
        }
        let number = found.crawlers.len() as u32;
        // The clone keeps the text at its address.
        found.crawlers.push((Arc::clone(name), agent.clone()));
        self.crawlers.insert(name.as_ptr(), number);
        self.checks.push(identities.and_then(|identities| identities.crawler(name)));
        number
    }

    /// Returns an origin's spans in a set by time, in order. They are looked up once for each origin in a block.
    fn spans(&mut self, set: &Set, origin: u32, row: &CrawlerRow<'_>) -> Result<&[Span], Error> {
        if !set.has_times() {
            return Ok(&[]);
        }
        Ok(match self.spans.entry(origin) {
            Entry::Occupied(known) => &*known.into_mut(),
            Entry::Vacant(new) => &*new.insert(set.spans(row.url)?),
        })
    }

    /// Returns whether a row's client is the crawler with this number.
    fn identity(&self, crawler: u32, row: &CrawlerRow<'_>) -> Identity {
        match self.checks.get(crawler as usize) {
            Some(Some(check)) => check.client(row.client, Some(row.time)),
            _ => Identity::NoCheck(NoCheck::UnknownCrawler),
        }
    }

    /// Returns the number of a URL's origin, and whether the URL is the origin's robots.txt. All texts that are not URLs
    /// have one origin, without a known robots.txt.
    fn origin(&mut self, url: &[u8], found: &mut Requests) -> (u32, bool) {
        let Ok(parts) = split(url) else { return (self.number(0, url, found), false) };
        let is_for_robots = parts.path.with(|path| path == ROBOTS_PATH);
        let origin = parts.origin;
        if let Some((scheme, host, port, number)) = &self.last
            && (*scheme, &**host, *port) == (origin.scheme, origin.host, origin.port)
        {
            return (*number, is_for_robots);
        }
        let hash = self.hasher.hash_one((origin.scheme, origin.host.to_ascii_lowercase(), origin.port));
        let number = self.number(hash, url, found);
        self.last = Some((origin.scheme, origin.host.to_vec(), origin.port, number));
        (number, is_for_robots)
    }

    fn number(&mut self, hash: u64, url: &[u8], found: &mut Requests) -> u32 {
        *self.origins.entry(hash).or_insert_with(|| {
            found.origins.push((hash, url.to_vec()));
            (found.origins.len() - 1) as u32
        })
    }
}

/// Returns a response's status: three digits.
fn status_of(cell: &[u8]) -> Option<u16> {
    match cell {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            Some([a, b, c].iter().fold(0, |number, &&digit| number * 10 + u16::from(digit - b'0')))
        }
        _ => None,
    }
}
