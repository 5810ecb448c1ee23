//! WARC files from crawlers, such as Common Crawl's robotstxt files: the robots.txt captures in their responses.
//!
//! [`records`] reads the records ([`raw`] also keeps their stored bytes), and [`http`] parses the responses in them.
//! Here a response becomes a capture for its origins. A crawler writes each step of a redirect as a separate record,
//! and a revisit record for a response that it has stored before. [`redirects`] resolves them when all files have been
//! read.
//!
//! ```
//! use std::io::Write;
//!
//! use reptile_records::{Item, ReadOptions, Reading, open::Input, spill::Scratch, warc::InputPlace};
//!
//! let record = |url: &str, answer: &str| {
//!     let header = format!("WARC-Target-URI: {url}\r\nContent-Length: {}\r\n", answer.len());
//!     format!("WARC/1.0\r\nWARC-Type: response\r\n{header}\r\n{answer}\r\n\r\n")
//! };
//! let moved = "HTTP/1.1 301 Moved Permanently\r\nLocation: https://www.example.com/robots.txt\r\n\r\n";
//! let robots = "HTTP/1.1 200 OK\r\n\r\nuser-agent: *\ndisallow: /private\n";
//! let mut warc = tempfile::NamedTempFile::new()?;
//! warc.write_all(record("https://example.com/robots.txt", moved).as_bytes())?;
//! warc.write_all(record("https://www.example.com/robots.txt", robots).as_bytes())?;
//!
//! let options = ReadOptions::default();
//! let reading = Reading::new(&options, Scratch::default());
//! let mut found = Vec::new();
//! let mut add = |item: Item| {
//!     if let Some(response) = item.into_response()? {
//!         let captures = response.captures.into_iter();
//!         found.extend(captures.map(|(origins, capture)| (origins[0].to_string(), capture.redirects)));
//!     }
//!     Ok(())
//! };
//! reading.read(Input::open(warc.path())?, InputPlace { input: 0, rank: 0 }, &mut add)?;
//! // The redirect is resolved after all files have been read.
//! reading.resolve(&mut add)?;
//! assert_eq!(found, [("https://www.example.com".to_owned(), 0), ("https://example.com".to_owned(), 1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod codings;
pub(crate) mod fields;
pub(crate) mod http;
pub(crate) mod index;
pub mod raw;
pub mod records;
pub mod redirects;

use std::collections::{HashSet, VecDeque};
use std::io;

use reptile::capture::{Capture, Time};
use reptile::limits::MAX_BODY_BYTES;
use reptile::{Origin, Truncation};

use super::bodies::{TOO_LARGE, no_memory};
use super::gzip::Unpack;
use super::place::Place;
use super::robots_url::RobotsUrl;
use super::shown::shown;
use super::time::{MAX_TIME_BYTES, Zone, read_time};
use super::{Fetch, Item, Robots, Sink};
use crate::{Error, Result};
use http::{Answer, answer};
use records::{Block, Damage, NextRecord, Record, Records};
use redirects::{
    AnswerKind, Identity, Key, RecordPlace, Redirects, Reference, Revisit, is_redirect, normal_url, target_of,
};

/// Maximum number of bytes read from a block: the response header, and the largest body with its chunk lengths.
const MAX_BLOCK_BYTES: usize = MAX_BODY_BYTES + (1 << 20);

/// The reason for an unreadable record.
const DAMAGED: &str = "damaged record of a WARC file";

/// The reason for a record that stops the reader.
const STOPPED: &str = "damaged WARC file, not read to its end";

/// The reason for a record with another spelling of `/robots.txt`, which may be another resource.
const OTHER_SPELLING: &str = "other spelling of the URL of a robots.txt, without a robots.txt";

/// The reason for a record without the body that its header announces.
const NO_BODY: &str = "response without its body";

/// The reason for a resource whose block may be a body or a whole response.
const NO_RESOURCE: &str = "resource with an HTTP header";

/// The remark on a body whose end is missing, although the record does not say so.
const CUT: &str = "body without its end: only complete lines are read";

/// The remark on a body without the coding that its header names.
const NOT_ENCODED: &str = "body without the coding that its header names: read as it is";

/// Maximum block length in bytes of a page that is stored because a redirect in another file may lead to it. Longer
/// pages are stored only after a redirect to them in the same file.
const MAX_PAGE_BYTES: usize = 64 << 10;

/// Number of bytes of a page that are checked first. Usual headers are shorter.
const MAX_PAGE_HEADER_BYTES: usize = 8 << 10;

/// Maximum number of a file's redirect targets whose pages are stored regardless of their type. The oldest are evicted.
const MAX_AWAITED: usize = 1 << 16;

/// Number of bytes in usual URLs of robots.txt files.
const USUAL_URL_BYTES: usize = 80;

/// The reason for a record that is a page.
const OTHER_URL: &str = "response for a URL that is not a robots.txt";

/// Reads every record. With `searches`, searches for further records after damage. Captures that wait for another
/// record are added to `redirects`. Returns whether there are any. The number of a file distinguishes files in one
/// input.
///
/// # Errors
/// Returns an error if the file cannot be read to its end. A damaged record is an [`Item::Bad`] if the next record's
/// start is known, or with `searches`.
pub(crate) fn read(
    path: &Place,
    source: impl Unpack,
    searches: bool,
    redirects: &Redirects,
    (place, file): (InputPlace, u64),
    sink: &mut Sink<'_>,
) -> Result<bool> {
    let unreadable = |error: io::Error| Error::at(path, format!("cannot be read: {error}"));
    let records = Records::new(source, searches).with_fields_of(has_answer);
    let before = format!("{}: record ", path.display());
    let name_of = |number: u64| {
        // With room for the URL.
        let mut name = String::with_capacity(before.len() + USUAL_URL_BYTES);
        name.push_str(&before);
        name.push_str(&number.to_string());
        name
    };
    let (rank, awaited) = (u64::from(place.rank) << 32 | file, Awaited::default());
    let has_waiting = false;
    let mut reader =
        Reader { path, name_of: &name_of, records, searches, redirects, place, rank, awaited, has_waiting };
    let mut is_untrusted = false;
    loop {
        match reader.records.next_record().map_err(unreadable)? {
            NextRecord::End => break,
            NextRecord::Damaged(damage) => sink(reader.damaged(damage)?)?,
            NextRecord::Record(record) => {
                if record.is_untrusted {
                    let is_first = !std::mem::replace(&mut is_untrusted, true);
                    sink(Item::Untrusted { from: is_first.then(|| name_of(record.number)) })?;
                }
                reader.record(&record, sink)?.map_err(unreadable)?;
            }
        }
    }
    Ok(reader.has_waiting)
}

/// An input's place among a command's inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputPlace {
    /// The input's index on the command line.
    pub input: usize,
    /// The path's rank among all input paths.
    pub rank: u32,
}

/// A reader for one file.
struct Reader<'p, R> {
    path: &'p Place,
    /// Returns a record's name by its number.
    name_of: &'p dyn Fn(u64) -> String,
    records: Records<R>,
    /// Whether the caller accepts a file that is not read to its end.
    searches: bool,
    redirects: &'p Redirects,
    place: InputPlace,
    /// The file's rank among all files: the input's rank, and the file's rank in an index.
    rank: u64,
    awaited: Awaited,
    has_waiting: bool,
}

/// A file's redirect targets so far, from robots.txt files.
#[derive(Default)]
struct Awaited {
    keys: HashSet<Key>,
    /// The keys, oldest first.
    order: VecDeque<Key>,
}

impl Awaited {
    fn insert(&mut self, key: Key) {
        if self.keys.insert(key) {
            self.order.push_back(key);
            if self.order.len() > MAX_AWAITED
                && let Some(oldest) = self.order.pop_front()
            {
                self.keys.remove(&oldest);
            }
        }
    }
}

/// A readable record with a response.
struct Answered<'r> {
    record: &'r Record,
    url: Option<String>,
    time: Option<Time>,
    /// The name and the origin, if the URL is a robots.txt.
    robots: Option<(String, Origin)>,
}

impl<R: Unpack> Reader<'_, R> {
    fn name(&self, number: u64, target: &[u8]) -> String {
        let mut name = (self.name_of)(number);
        for part in [" (", &shown(target), ")"] {
            name.push_str(part);
        }
        name
    }

    /// Returns the item for a damaged record.
    ///
    /// # Errors
    /// Returns an error if the damage prevents reading the file to its end, unless the caller accepts that.
    fn damaged(&self, damage: Damage) -> Result<Item> {
        self.refuse_stop(&damage)?;
        Ok(Item::Bad { name: (self.name_of)(damage.number), reason: fault_of(&damage), detail: damage.detail })
    }

    fn refuse_stop(&self, damage: &Damage) -> Result<()> {
        match damage.stops && !self.searches {
            true => Err(unread(self.path, damage)),
            false => Ok(()),
        }
    }

    /// Reads a record if it is a robots.txt response, or may be a redirect's target.
    fn record(&mut self, record: &Record, sink: &mut Sink<'_>) -> Result<io::Result<()>> {
        let Some(target) = record.target.as_deref().filter(|_| is_answer(record)) else {
            return sink(Item::left_out("record that is not a server response")).map(Ok);
        };
        // The others are pages, and non-web addresses such as `dns:example.com`.
        let robots_url = RobotsUrl::of(target).ok();
        let url = normal_url(target);
        let is_awaited = |url: &str| self.awaited.keys.contains(&self.redirects.key(url));
        if robots_url.is_none() && !url.as_deref().is_some_and(is_awaited) {
            sink(Item::left_out(OTHER_URL))?;
            return match url {
                Some(url) => self.page(record, url, sink),
                None => Ok(Ok(())),
            };
        }
        let name = self.name(record.number, target);
        let bad = |reason, detail| Item::Bad { name: name.clone(), reason, detail };
        if record.is_segment {
            return sink(bad("record in several parts", "its parts are not put together".into())).map(Ok);
        }
        let time = match record.date.as_deref().map(read_date).transpose() {
            Ok(time) => time,
            Err(detail) => return sink(bad("no valid WARC-Date", detail)).map(Ok),
        };
        let (block, is_longer) = match self.records.block(MAX_BLOCK_BYTES) {
            Err(error) => return Ok(Err(error)),
            Ok(Block::NoMemory(len)) => return Err(no_memory(&name, len)),
            Ok(Block::Damaged(damage)) => {
                self.refuse_stop(&damage)?;
                return sink(bad(fault_of(&damage), damage.detail)).map(Ok);
            }
            Ok(Block::TooLarge(len)) => {
                let detail = format!("its block has {len} bytes; the limit is {MAX_BLOCK_BYTES}");
                return sink(bad(TOO_LARGE, detail)).map(Ok);
            }
            Ok(Block::Whole(block, is_longer)) => (block, is_longer),
        };
        let answer = match answer_in(record, block, is_longer) {
            Ok(answer) => answer,
            Err((reason, detail)) => return sink(bad(reason, detail)).map(Ok),
        };
        let is_cut = answer.capture.truncated.is_some() && record.truncated.is_none();
        for (_, reason) in [(is_cut, CUT), (answer.lacks_coding, NOT_ENCODED)].iter().filter(|(applies, _)| *applies) {
            sink(Item::Remark { reason, name: name.clone() })?;
        }
        let counts = |url: &RobotsUrl| record.kind != "revisit" && url.accepts(&answer.capture, Some(&answer.body));
        let robots = match robots_url {
            Some(url) if url.is_plain || counts(&url) => Some((name, url.origin)),
            Some(_) => {
                sink(Item::LeftOut { reason: OTHER_SPELLING, name: Some(name) })?;
                None
            }
            None => None,
        };
        self.answered(Answered { record, url, time, robots }, answer, sink).map(Ok)
    }

    /// Stores a page that may be the target of another redirect. Most pages are only counted.
    fn page(&mut self, record: &Record, url: String, sink: &mut Sink<'_>) -> Result<io::Result<()>> {
        let Ok(time) = record.date.as_deref().map(read_date).transpose() else { return Ok(Ok(())) };
        // Content from one website must not affect another one.
        if record.is_segment || record.is_untrusted {
            return Ok(Ok(()));
        }
        // Most pages are only read up to the end of their header.
        let is_page = match self.records.block_start(MAX_PAGE_HEADER_BYTES) {
            Err(error) => return Ok(Err(error)),
            Ok(start) => http::has_whole_header(start) && !may_be_robots(record, start),
        };
        if is_page {
            return self.add(record, &url, time, &AnswerKind::NotStored).map(Ok);
        }
        let answer = match self.records.block(MAX_PAGE_BYTES) {
            Err(error) => return Ok(Err(error)),
            Ok(Block::Damaged(damage)) => return sink(self.damaged(damage)?).map(Ok),
            Ok(Block::Whole(block, is_longer)) if may_be_robots(record, &block) => {
                answer_in(record, block, is_longer).ok()
            }
            Ok(Block::Whole(..) | Block::TooLarge(_) | Block::NoMemory(_)) => None,
        };
        match answer {
            Some(answer) => {
                self.answered(Answered { record, url: Some(url), time, robots: None }, answer, sink).map(Ok)
            }
            None => self.add(record, &url, time, &AnswerKind::NotStored).map(Ok),
        }
    }

    /// Handles a record's response: it may be complete, wait for another record, or be awaited by one.
    fn answered(&mut self, answered: Answered<'_>, answer: Answer, sink: &mut Sink<'_>) -> Result<()> {
        let Answered { record, url, time, robots } = answered;
        let next = url.as_deref().and_then(|url| target_of(url, &answer));
        let is_revisit = record.kind == "revisit" || answer.capture.status == Some(304);
        let revisit = if is_revisit && next.is_none() {
            let Some(url) = &url else {
                let left_out =
                    |(name, _)| sink(Item::LeftOut { reason: redirects::UNRESOLVED_REVISIT, name: Some(name) });
                return robots.map_or(Ok(()), left_out);
            };
            Some(self.revisit(record, url, &answer))
        } else {
            None
        };
        let kind = match (&next, &revisit) {
            (Some(next), _) => AnswerKind::Redirect(&answer.capture, next),
            (None, Some(revisit)) => AnswerKind::Revisit(revisit),
            (None, None) => AnswerKind::Body(&answer.capture, &answer.body),
        };
        if let Some(url) = url.as_ref().filter(|_| !record.is_untrusted) {
            if let Some(next) = &next {
                let next = self.redirects.key(next);
                let is_awaited = || self.awaited.keys.contains(&self.redirects.key(url));
                if robots.is_some() || is_awaited() {
                    self.awaited.insert(next);
                }
            }
            self.add(record, url, time, &kind)?;
        }
        let Some((name, origin)) = robots else { return Ok(()) };
        let RecordPlace { input, number, .. } = self.record_place(record);
        if !matches!(kind, AnswerKind::Body(..)) {
            self.has_waiting = true;
            let target = record.target.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            return self.redirects.add_waiting(self.record_place(record), name, &target, time, &kind);
        }
        let fetch = Some(Fetch { input, record: number, redirects: Vec::new() });
        let capture = Capture { time, ..answer.capture };
        let body = Some(answer.body);
        sink(Item::Robots(Robots { name, origins: vec![origin], capture, body, is_file: false, fetch }))
    }

    /// Adds a record's response for use by other records.
    fn add(&self, record: &Record, url: &str, time: Option<Time>, kind: &AnswerKind<'_>) -> Result<()> {
        let hash = |text: &Option<Vec<u8>>| text.as_deref().map_or(0, |text| self.redirects.hash(text));
        let (id, digest) = (hash(&record.links().id), self.digest(record).unwrap_or(0));
        let identity = Identity { key: self.redirects.key(url), time, id, digest };
        self.redirects.add_answer(self.record_place(record), &identity, kind)
    }

    fn record_place(&self, record: &Record) -> RecordPlace {
        RecordPlace { input: self.place.input, rank: self.rank, number: record.number }
    }

    /// Returns the payload digest's hash, ignoring the algorithm name's letter case.
    fn digest(&self, record: &Record) -> Option<u64> {
        let mut digest = record.links().payload_digest.clone()?;
        let colon = memchr::memchr(b':', &digest)?;
        digest[..colon].make_ascii_lowercase();
        Some(self.redirects.hash(&digest))
    }

    /// Returns the contents of a revisit record: the response in its block, and a reference to the original record.
    fn revisit(&self, record: &Record, url: &str, answer: &Answer) -> Revisit {
        let named = record.links().refers_to_target.as_deref().and_then(normal_url);
        let reference = Reference {
            is_other_url: named.as_deref().is_some_and(|named| named != url),
            url: named.unwrap_or_else(|| url.into()),
            id: record.links().refers_to.as_deref().map(|id| self.redirects.hash(id)),
            date: record.links().refers_to_date.as_deref().and_then(|date| read_date(date).ok()),
            digest: self.digest(record),
        };
        let has_header = answer.capture.status.is_some_and(|status| status != 304) && !is_not_modified(record);
        Revisit::new(reference, has_header.then_some(&answer.capture), answer.capture.max_age)
    }
}

/// Returns whether a revisit's profile means status 304.
fn is_not_modified(record: &Record) -> bool {
    record
        .links()
        .profile
        .as_deref()
        .is_some_and(|profile| memchr::memmem::find(profile, b"server-not-modified").is_some())
}

/// Returns whether a page's block may contain a robots.txt, judged by status and type: a redirect, a revisit, or any
/// type except web pages, pictures and the like.
fn may_be_robots(record: &Record, block: &[u8]) -> bool {
    if record.kind == "revisit" {
        return true;
    }
    let (status, media_type) = match record.kind == "resource" && !is_http_message(record) {
        true => (Some(200), record.content_type.clone()),
        false => http::status_and_type(block),
    };
    let media_type = media_type.unwrap_or_default().to_ascii_lowercase();
    let is_other = [&b"text/html"[..], b"application/xhtml", b"image/", b"video/", b"audio/", b"font/", b"text/css"]
        .iter()
        .chain(&[&b"text/javascript"[..], b"application/javascript", b"application/json", b"application/pdf"])
        .any(|other| media_type.starts_with(other));
    is_redirect(status) || !is_other
}

/// Returns the reason for a damaged record.
pub fn fault_of(damage: &Damage) -> &'static str {
    if damage.stops { STOPPED } else { DAMAGED }
}

/// Returns the error for a file that cannot be read to its end.
pub fn unread(path: &Place, damage: &Damage) -> Error {
    Error::at(path, format!("record {}: {}: {}", damage.number, fault_of(damage), damage.detail))
}

/// Returns whether a record contains a server's response.
fn is_answer(record: &Record) -> bool {
    has_answer(&record.kind)
}

/// Returns whether records of this type contain a server's response.
fn has_answer(kind: &str) -> bool {
    matches!(kind, "response" | "resource" | "revisit")
}

/// Parses the response in a record's block. A resource is a body without a header, as some crawlers write it, unless its
/// type is HTTP's. A revisit may lack a header.
fn answer_in(record: &Record, block: Vec<u8>, is_longer: bool) -> std::result::Result<Answer, http::Fault> {
    let mut found = match &*record.kind {
        "revisit" if block.trim_ascii().is_empty() => Answer::default(),
        "revisit" => http::head(&block)?,
        "resource" if !is_http_message(record) => resource(record, block)?,
        _ => answer(block)?,
    };
    if is_longer && found.body.starts_with(b"\r\n") {
        // The uncounted line end; see `records`.
        found.body.drain(..2);
    }
    if found.body.len() > MAX_BODY_BYTES {
        return Err((TOO_LARGE, format!("{} bytes; the limit is {MAX_BODY_BYTES}", found.body.len())));
    }
    match record.truncated.as_deref().filter(|_| record.kind != "revisit") {
        Some(word) => found.capture.truncated = Some(truncation(word)),
        // Without a body, the rules are unknown.
        None if found.capture.truncated.is_some() && found.body.is_empty() => {
            return Err((NO_BODY, "its header announces one; the record may be of a HEAD request".into()));
        }
        None => {}
    }
    Ok(found)
}

/// Returns whether a record's block is an HTTP message by its type. In a resource it is usually a body.
fn is_http_message(record: &Record) -> bool {
    let content_type = record.content_type.as_deref().map(String::from_utf8_lossy);
    content_type.is_some_and(|name| &*reptile::capture::media_type(&name) == "application/http")
}

/// Returns the response in a resource, which has no header.
fn resource(record: &Record, block: Vec<u8>) -> std::result::Result<Answer, http::Fault> {
    if http::has_protocol(&block) {
        let detail = "its block begins like an HTTP response; expected the Content-Type application/http or a body";
        return Err((NO_RESOURCE, detail.into()));
    }
    let media_type = record.content_type.as_deref().map(String::from_utf8_lossy);
    let media_type = media_type.map(|name| reptile::capture::media_type(&name));
    let capture = Capture { status: Some(200), media_type, ..Capture::default() };
    Ok(Answer { capture, body: block, ..Answer::default() })
}

/// Parses a `WARC-Date`.
///
/// # Errors
/// Returns the text as an error if it is not a date.
pub fn read_date(date: &[u8]) -> std::result::Result<Time, String> {
    let text = std::str::from_utf8(date).map_err(|_| format!("\"{}\"", shown(date)))?;
    if text.len() > MAX_TIME_BYTES {
        return Err(format!("\"{}\"", shown(date)));
    }
    read_time(text, &Zone::default())
}

/// Returns the reason for a body's truncation. An unknown word is also a reason.
fn truncation(word: &[u8]) -> Truncation {
    let word = String::from_utf8_lossy(word).to_ascii_lowercase();
    Truncation::from_name(&word).unwrap_or(Truncation::Unspecified)
}
