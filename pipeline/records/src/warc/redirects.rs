//! Resolves redirects and revisits after every file has been read.
//!
//! A crawler writes each step of a redirect as a separate record, and a revisit record instead of a body that it has
//! stored before. The record with the response may be in any input file, before or after. While the files are read,
//! responses that may be needed are added to [`Redirects`], and so is each robots.txt capture that waits for another
//! record. [`Redirects::resolve`] then follows all waiting captures together, one step at a time, by merging two lists
//! sorted by URL: waiting captures and responses. The lists and the stored bodies go to temporary files when they
//! exceed their memory.
//!
//! The result depends only on the records, not on the order in which files or threads read them:
//!
//! - **A redirect** leads to the target's next response: the earliest at or after the redirect's time. If there is
//!   none, it leads to the latest response before. If several have that time, a response after the redirect in the same
//!   file is preferred, then the first by path and record number. No record is used twice in a chain. A site that
//!   redirects to itself once and then answers therefore gets its answer.
//! - **A revisit** leads to the record that it names, or to one with the same URL and payload digest; see
//!   [`Reference`]. If its reference fits several different responses, the revisit is skipped and counted.
//! - A capture whose target is not in the input is skipped and counted. A loop, or more than [`MAX_REDIRECTS`]
//!   redirects, becomes a capture that the fetch profile interprets.
//!
//! ```
//! use std::io::Write;
//!
//! use reptile_records::warc::{InputPlace, redirects::REASONS};
//! use reptile_records::{Item, ReadOptions, Reading, open::Input, spill::Scratch};
//!
//! let answer = "HTTP/1.1 301 Moved Permanently\r\nLocation: https://www.example.com/robots.txt\r\n\r\n";
//! let mut warc = tempfile::NamedTempFile::new()?;
//! write!(warc, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.com/robots.txt\r\n")?;
//! write!(warc, "Content-Length: {}\r\n\r\n{answer}\r\n\r\n", answer.len())?;
//!
//! let options = ReadOptions::default();
//! let reading = Reading::new(&options, Scratch::default());
//! reading.read(Input::open(warc.path())?, InputPlace::default(), &mut |_| Ok(()))?;
//! let mut unresolved = 0;
//! reading.resolve(&mut |item| {
//!     if let Item::LeftOut { reason, .. } = item {
//!         unresolved += usize::from(REASONS.contains(&reason));
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(unresolved, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod rows;

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use reptile::capture::{Capture, Time};
use reptile::limits::MAX_URL_BYTES;
use url::Url;

use self::rows::{Ending, Entry, Head, NO_TIME, Stored, Waiting, broken, from_json, take, to_json};
pub(crate) use self::rows::{Key, MAX_REDIRECTS, Reference, Revisit};
use super::http::Answer;
use crate::shown::shown;
use crate::spill::{Blobs, Cursor, Scratch, SortedRows, SpilledRows};
use crate::{Item, Result, Robots, Sink};

/// Maximum number of candidate responses for a URL. If there are more, none is used.
const MAX_ANSWERS: usize = 1 << 16;

/// Maximum memory in bytes for captures that share a body, without the body, while they are compiled.
const MAX_SHARED_BYTES: usize = 4 << 20;

/// The reason for a redirect without a response.
const UNRESOLVED_REDIRECT: &str = "redirect to a URL that is not in the input";

/// The reason for a redirect to a page that was not stored.
const PAGE_NOT_STORED: &str = "redirect to a page that does not follow it in the same file";

/// The reason for a revisit without its original record.
pub(crate) const UNRESOLVED_REVISIT: &str = "revisit of a capture that is not in the input";

/// The reason for a URL with too many responses.
const TOO_MANY_ANSWERS: &str = "redirect or revisit to a URL with more than 65,536 answers";

/// The reason for a revisit whose reference fits several responses that differ, as after two crawls with the same IDs.
const AMBIGUOUS_REVISIT: &str = "revisit that may refer to several different captures";

/// Returns a URL's normal form for look-ups: the WHATWG serialization without fragment.
pub(crate) fn normal_url(url: &[u8]) -> Option<String> {
    let url = std::str::from_utf8(url).ok().filter(|url| url.len() <= MAX_URL_BYTES)?;
    if is_normal(url) {
        return Some(url.to_owned());
    }
    normal(Url::parse(url).ok()?)
}

/// Returns whether a URL is certainly the normal form of a robots.txt URL, as most are, so that it need not be parsed.
/// Its host has only letters, digits and hyphens, and is neither an IP address nor encoded.
fn is_normal(url: &str) -> bool {
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let Some(host) = host.and_then(|rest| rest.strip_suffix("/robots.txt")) else { return false };
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    let is_label = |label: &str| !label.is_empty() && !label.starts_with("xn--") && label.bytes().all(is_plain);
    let is_name =
        host.rsplit('.').next().is_some_and(|last| last.starts_with(|first: char| first.is_ascii_lowercase()));
    is_name && host.split('.').all(is_label)
}

fn normal(mut url: Url) -> Option<String> {
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.as_str().len() <= MAX_URL_BYTES).then(|| url.into())
}

/// Returns a redirect's target, or `None` if the response is not a redirect or its `Location` is unusable.
pub(crate) fn target_of(url: &str, answer: &Answer) -> Option<String> {
    if !is_redirect(answer.capture.status) {
        return None;
    }
    let location = std::str::from_utf8(answer.location.as_deref()?).ok()?;
    normal(Url::parse(url).ok()?.join(location).ok()?)
}

/// Returns whether a status is a redirect with a `Location`.
pub(crate) fn is_redirect(status: Option<u16>) -> bool {
    matches!(status, Some(301 | 302 | 303 | 307 | 308))
}

/// A record's position in the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordPlace {
    /// The input's index on the command line.
    pub input: usize,
    /// The file's rank among all files that are read.
    pub rank: u64,
    /// The record's number in its file, from 1.
    pub number: u64,
}

/// A response, by kind.
pub(crate) enum AnswerKind<'a> {
    /// A response with a body.
    Body(&'a Capture, &'a [u8]),
    /// A redirect to a URL in normal form.
    Redirect(&'a Capture, &'a str),
    /// A revisit record.
    Revisit(&'a Revisit),
    /// A page whose body is not stored.
    NotStored,
}

/// A response's identity.
pub(crate) struct Identity {
    /// The URL's key.
    pub key: Key,
    /// The response's date.
    pub time: Option<Time>,
    /// The ID's hash, or 0.
    pub id: u64,
    /// The payload digest's hash, or 0.
    pub digest: u64,
}

/// The reasons for skipping a waiting capture, by number.
pub const REASONS: [&str; 5] =
    [UNRESOLVED_REDIRECT, PAGE_NOT_STORED, UNRESOLVED_REVISIT, TOO_MANY_ANSWERS, AMBIGUOUS_REVISIT];

/// Responses and waiting captures from all files in a command.
pub(crate) struct Redirects {
    /// The hash functions' keys.
    hashers: [RandomState; 2],
    scratch: Scratch,
    state: Mutex<RedirectState>,
}

struct RedirectState {
    bodies: Blobs,
    answers: SpilledRows,
    waiting: SpilledRows,
}

impl RedirectState {
    fn new(scratch: &Scratch) -> RedirectState {
        RedirectState {
            bodies: Blobs::new(scratch.clone()),
            answers: SpilledRows::new(scratch.clone()),
            waiting: SpilledRows::new(scratch.clone()),
        }
    }
}

impl Redirects {
    /// Creates an empty store.
    pub fn new(scratch: Scratch) -> Redirects {
        let state = Mutex::new(RedirectState::new(&scratch));
        Redirects { hashers: [RandomState::new(), RandomState::new()], scratch, state }
    }

    /// Returns the place for data that must wait.
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Returns the key for a URL in normal form.
    pub fn key(&self, url: &str) -> Key {
        let [first, second] = &self.hashers;
        Key::from(first.hash_one(url)) << 64 | Key::from(second.hash_one(url))
    }

    /// Returns the hash of an ID or a digest, which is never 0.
    pub fn hash(&self, text: &[u8]) -> u64 {
        self.hashers[0].hash_one(text).max(1)
    }

    /// Adds a response that others may need.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn add_answer(&self, place: RecordPlace, identity: &Identity, kind: &AnswerKind<'_>) -> Result<()> {
        let stored = |head: Head, next: Option<&str>, revisit: Option<&Revisit>| {
            to_json(&Stored { head, next: next.map(str::to_owned), revisit: revisit.cloned() })
        };
        let none: &[u8] = &[];
        let parts = match kind {
            AnswerKind::Body(capture, body) => Some((stored(Head::of(capture), None, None)?, *body)),
            AnswerKind::Redirect(capture, next) => Some((stored(Head::of(capture), Some(next), None)?, none)),
            AnswerKind::Revisit(revisit) => Some((stored(Head::default(), None, Some(revisit))?, none)),
            AnswerKind::NotStored => None,
        };
        let (head_len, body_len) = parts.as_ref().map_or((0, 0), |(head, body)| (head.len(), body.len()));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = match &parts {
            Some((head, body)) => state.bodies.append(&[head, body])?,
            None => 0,
        };
        let entry = Entry {
            time: identity.time.unwrap_or(NO_TIME),
            rank: place.rank,
            record: place.number,
            is_stored: parts.is_some(),
            id: identity.id,
            digest: identity.digest,
            offset,
            head_len: u32::try_from(head_len).map_err(|_| broken())?,
            body_len: u32::try_from(body_len).map_err(|_| broken())?,
        };
        state.answers.push(&[&entry.bytes(identity.key)])
    }

    /// Adds a capture that waits for a redirect's target, or for a revisit's original record.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn add_waiting(
        &self,
        place: RecordPlace,
        name: String,
        url: &str,
        time: Option<Time>,
        kind: &AnswerKind<'_>,
    ) -> Result<()> {
        let mut waiting = Waiting {
            input: place.input,
            rank: place.rank,
            record: place.number,
            name,
            url: url.into(),
            time,
            from: time.unwrap_or(NO_TIME),
            redirects: Vec::new(),
            used: vec![(place.rank, place.number)],
            revisits: 0,
            reference: None,
            head: None,
            max_age: None,
            redirect: Head::default(),
        };
        match kind {
            AnswerKind::Redirect(capture, next) => waiting.follow(Head::of(capture), (*next).into()),
            AnswerKind::Revisit(revisit) => waiting.revisit((*revisit).clone()),
            AnswerKind::Body(..) | AnswerKind::NotStored => return Err(broken()),
        };
        let row = self.row(&waiting)?;
        self.state.lock().unwrap_or_else(PoisonError::into_inner).waiting.push(&[&row])
    }

    /// Returns a waiting capture's row, which begins with the key that it waits for.
    fn row(&self, waiting: &Waiting) -> Result<Vec<u8>> {
        let mut row = self.key(waiting.wanted_url()).to_be_bytes().to_vec();
        row.extend_from_slice(&to_json(waiting)?);
        Ok(row)
    }

    /// Follows the redirects and revisits of all waiting captures. Passes on each capture, or the reason for skipping
    /// it, in an order that depends only on the records.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be used, or if `sink` fails.
    pub fn resolve(&self, sink: &mut Sink<'_>) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let RedirectState { bodies, answers, waiting } =
            std::mem::replace(&mut *state, RedirectState::new(&self.scratch));
        drop(state);
        if waiting.is_empty() {
            return Ok(());
        }
        let answers = answers.finish()?;
        let mut waiting = waiting.finish()?;
        let mut endings = SpilledRows::new(self.scratch.clone());
        while !waiting.is_empty() {
            waiting = self.step(&answers, &waiting, &bodies, &mut endings)?;
        }
        drop((answers, waiting));
        pass_on(&endings.finish()?, &bodies, sink)
    }

    /// Follows one redirect or revisit for each waiting capture. Returns the captures that still wait.
    fn step(
        &self,
        answers: &SortedRows,
        waiting: &SortedRows,
        bodies: &Blobs,
        endings: &mut SpilledRows,
    ) -> Result<SortedRows> {
        let mut next = SpilledRows::new(self.scratch.clone());
        let mut answers = Answers { cursor: answers.cursor()?, key: None, entries: Vec::new(), is_whole: true };
        let mut cursor = waiting.cursor()?;
        while let Some(row) = cursor.row() {
            let mut json = row;
            let key = u128::from_be_bytes(take(&mut json)?);
            let one: Waiting = from_json(json)?;
            answers.find(key)?;
            if let Some(one) = step_of(one, &answers, bodies, endings)? {
                next.push(&[&self.row(&one)?])?;
            }
            cursor.advance()?;
        }
        next.finish()
    }
}

/// A cursor over the responses, URL by URL.
struct Answers<'a> {
    cursor: Cursor<'a>,
    key: Option<Key>,
    /// The key's responses, by time, path and number.
    entries: Vec<Entry>,
    /// Whether `entries` is complete.
    is_whole: bool,
}

impl Answers<'_> {
    /// Advances to a key's responses. Keys must be ascending.
    fn find(&mut self, key: Key) -> Result<()> {
        if self.key == Some(key) {
            return Ok(());
        }
        self.key = Some(key);
        self.entries.clear();
        self.is_whole = true;
        while let Some(row) = self.cursor.row() {
            let (found, entry) = Entry::read(row)?;
            if found > key {
                break;
            }
            if found == key {
                if self.entries.len() < MAX_ANSWERS {
                    self.entries.push(entry);
                } else {
                    self.is_whole = false;
                }
            }
            self.cursor.advance()?;
        }
        Ok(())
    }
}

/// Follows one redirect or revisit. Returns the capture if it waits for another step.
fn step_of(
    mut waiting: Waiting,
    answers: &Answers<'_>,
    bodies: &Blobs,
    endings: &mut SpilledRows,
) -> Result<Option<Waiting>> {
    if !answers.is_whole {
        return leave_out(&waiting, 3, endings);
    }
    let (chosen, reason) = match &waiting.reference {
        None => (redirected(&answers.entries, &waiting), 0),
        Some(reference) => {
            let found = referred(&answers.entries, reference, &waiting);
            if !are_equal(&found, bodies)? {
                return leave_out(&waiting, 4, endings);
            }
            (found.first().copied(), 2)
        }
    };
    let Some(entry) = chosen else {
        // Every response was used: it is a loop.
        let is_loop = waiting.reference.is_none() && !answers.entries.is_empty();
        return if is_loop { too_many(waiting, endings) } else { leave_out(&waiting, reason, endings) };
    };
    if !entry.is_stored {
        return leave_out(&waiting, if reason == 0 { 1 } else { reason }, endings);
    }
    waiting.used.push((entry.rank, entry.record));
    waiting.from = waiting.from.max(entry.time);
    let Stored { head, next, revisit } = from_json(&bodies.read(entry.offset, entry.head_len as usize)?)?;
    match (next, revisit) {
        (Some(next), _) => match waiting.follow(head, next) {
            true => Ok(Some(waiting)),
            false => too_many(waiting, endings),
        },
        (None, Some(revisit)) => match waiting.revisit(revisit) {
            true => Ok(Some(waiting)),
            false => leave_out(&waiting, 2, endings),
        },
        (None, None) => {
            let start = [&[1], &entry.rank.to_be_bytes()[..], &entry.record.to_be_bytes()].concat();
            let order = order_of(&waiting);
            // Fields that only the search needs.
            (waiting.used, waiting.reference, waiting.redirect) = (Vec::new(), None, Head::default());
            let ending = to_json(&Ending::Answered(waiting, entry.offset, entry.head_len, entry.body_len))?;
            endings.push(&[&start, &order, &ending])?;
            Ok(None)
        }
    }
}

/// Returns a capture's position in input order.
fn order_of(waiting: &Waiting) -> [u8; ORDER_BYTES] {
    let mut order = [0; ORDER_BYTES];
    order[..8].copy_from_slice(&(waiting.input as u64).to_be_bytes());
    order[8..].copy_from_slice(&waiting.record.to_be_bytes());
    order
}

/// Such a position's length in bytes.
const ORDER_BYTES: usize = 8 + 8;

fn too_many(waiting: Waiting, endings: &mut SpilledRows) -> Result<Option<Waiting>> {
    let order = order_of(&waiting);
    endings.push(&[&[0], &order, &to_json(&Ending::TooMany(waiting))?])?;
    Ok(None)
}

fn leave_out(waiting: &Waiting, reason: u8, endings: &mut SpilledRows) -> Result<Option<Waiting>> {
    let name = match &waiting.reference {
        None => format!("{}, to {}", waiting.name, shown(waiting.wanted_url().as_bytes())),
        Some(_) => waiting.name.clone(),
    };
    endings.push(&[&[0], &order_of(waiting), &to_json(&Ending::Unresolved(name, reason))?])?;
    Ok(None)
}

/// Chooses a redirect's response; see the module documentation.
fn redirected(entries: &[Entry], waiting: &Waiting) -> Option<Entry> {
    let start = entries.partition_point(|entry| entry.time < waiting.from);
    let is_new = |entry: &&Entry| !entry.is_used(waiting);
    let nearest = entries[start..].iter().find(is_new).or_else(|| entries[..start].iter().rev().find(is_new))?;
    let (rank, record) = waiting.used.last().copied().unwrap_or_default();
    let first = entries.partition_point(|entry| entry.time < nearest.time);
    let end = entries.partition_point(|entry| entry.time <= nearest.time);
    // Later responses in the same file are a range in the list.
    let same = &entries[first..end];
    let after = &same[same.partition_point(|entry| (entry.rank, entry.record) <= (rank, record))..];
    let after = after.iter().take_while(|entry| entry.rank == rank);
    after.chain(same).find(is_new).copied()
}

/// Finds the records that may be a revisit's original record. The first is used if all are equal.
fn referred(entries: &[Entry], reference: &Reference, waiting: &Waiting) -> Vec<Entry> {
    let Reference { is_other_url, id, date, digest, .. } = *reference;
    let is_digest = |entry: &Entry| digest.is_some_and(|digest| digest == entry.digest);
    let may_be = |entry: &&Entry| {
        let differs = digest.is_some() && entry.digest != 0 && !is_digest(entry);
        !entry.is_used(waiting) && !differs && (!is_other_url || is_digest(entry))
    };
    let all = || entries.iter().filter(may_be).copied();
    let is_dated = |entry: &Entry| date == Some(entry.time);
    let mut found: Vec<Entry> = all().filter(|entry| id == Some(entry.id)).collect();
    if found.iter().any(is_dated) {
        found.retain(is_dated);
    }
    if found.is_empty() {
        found = all().filter(is_dated).collect();
    }
    // A digest alone cannot refer to another URL.
    if found.is_empty() && !is_other_url {
        let same = || all().filter(|entry| is_digest(entry) && entry.is_stored);
        let last_before = same().rfind(|entry| entry.time <= waiting.from);
        found.extend(last_before.or_else(|| same().next()));
    }
    found
}

/// Returns whether all of these responses have the same header and body.
fn are_equal(entries: &[Entry], bodies: &Blobs) -> Result<bool> {
    let Some((first, others)) = entries.split_first().filter(|(_, others)| !others.is_empty()) else { return Ok(true) };
    let lengths = |entry: &Entry| (entry.is_stored, entry.head_len, entry.body_len);
    if others.iter().any(|other| lengths(other) != lengths(first)) {
        return Ok(false);
    }
    let stored = |entry: &Entry| bodies.read(entry.offset, entry.head_len as usize + entry.body_len as usize);
    let expected = stored(first)?;
    for other in others {
        if stored(other)? != expected {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Passes on captures in row order. Captures with the same response share its body.
fn pass_on(endings: &SortedRows, bodies: &Blobs, sink: &mut Sink<'_>) -> Result<()> {
    let mut cursor = endings.cursor()?;
    let mut shared: Option<Shared> = None;
    while let Some(row) = cursor.row() {
        let is_answered = row.first() == Some(&1);
        let start = if is_answered { 1 + 8 + 8 + ORDER_BYTES } else { 1 + ORDER_BYTES };
        match from_json(row.get(start..).ok_or_else(broken)?)? {
            Ending::Unresolved(name, reason) => {
                let reason = REASONS.get(usize::from(reason)).ok_or_else(broken)?;
                sink(Item::LeftOut { reason, name: Some(name) })?;
            }
            Ending::TooMany(waiting) => {
                let head = waiting.redirect.clone();
                sink(Item::Robots(waiting.robots(head, MAX_REDIRECTS, None)?))?;
            }
            Ending::Answered(waiting, offset, head_len, body_len) => {
                let mut known = match shared.take() {
                    Some(known) if known.offset == offset => known,
                    other => {
                        other.map_or(Ok(()), |other| other.pass_on(sink))?;
                        let Stored { head, .. } = from_json(&bodies.read(offset, head_len as usize)?)?;
                        let body = bodies.read(offset + u64::from(head_len), body_len as usize)?;
                        Shared { offset, head, body, robots: Vec::new(), bytes: 0 }
                    }
                };
                let redirects = waiting.redirects.len();
                let robots = waiting.robots(known.head.clone(), redirects, None)?;
                // A different media type may be interpreted differently.
                let is_same = |first: &Robots| {
                    first.capture.media_type == robots.capture.media_type
                        && first.capture.truncated == robots.capture.truncated
                };
                if known.bytes >= MAX_SHARED_BYTES || !known.robots.first().is_none_or(is_same) {
                    known.flush(sink)?;
                }
                known.bytes += shared_bytes(&robots);
                known.robots.push(robots);
                shared = Some(known);
            }
        }
        cursor.advance()?;
    }
    shared.map_or(Ok(()), |shared| shared.pass_on(sink))
}

/// Returns the memory for a capture that shares a body.
fn shared_bytes(robots: &Robots) -> usize {
    size_of::<Robots>() + robots.memory_bytes()
}

/// Captures that share a body.
struct Shared {
    /// The body's offset.
    offset: u64,
    head: Head,
    body: Vec<u8>,
    robots: Vec<Robots>,
    /// Memory of the captures in bytes.
    bytes: usize,
}

impl Shared {
    /// Passes on the captures, and keeps the body for further captures.
    fn flush(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        self.bytes = 0;
        sink(Item::SameBody { body: self.body.clone(), robots: std::mem::take(&mut self.robots) })
    }

    fn pass_on(self, sink: &mut Sink<'_>) -> Result<()> {
        let Shared { body, mut robots, .. } = self;
        sink(match robots.len() {
            1 => match robots.pop() {
                Some(robots) => Item::Robots(Robots { body: Some(body), ..robots }),
                None => return Ok(()),
            },
            _ => Item::SameBody { body, robots },
        })
    }
}

#[cfg(test)]
mod tests;
