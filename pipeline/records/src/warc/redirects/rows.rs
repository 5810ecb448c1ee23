//! The rows of temporary files: responses, captures that wait for one, and their endings.

use reptile::capture::{Capture, Time};
use reptile::{Challenger, Origin, Truncation};
use serde::{Deserialize, Serialize};

use crate::{Error, Fetch, Result, Robots};

/// Maximum number of redirects in a chain. Every fetch profile has a lower limit.
pub(crate) const MAX_REDIRECTS: usize = 20;

/// Maximum number of revisits in a chain.
pub(super) const MAX_REVISITS: u32 = 20;

/// A URL's key. It must be unpredictable, because a collision would mix up two URLs.
pub(crate) type Key = u128;

/// The header's part of a response.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Head {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_age: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<Box<str>>,
    /// The product that marked the response as a challenge page, by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    challenger: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Box<str>>,
}

impl Head {
    pub(super) fn of(capture: &Capture) -> Head {
        Head {
            status: capture.status,
            max_age: capture.max_age,
            media_type: capture.media_type.clone(),
            challenger: capture.challenger.map(Challenger::number),
            truncated: capture.truncated.map(|reason| reason.as_str().into()),
        }
    }

    fn capture(self, time: Option<Time>, redirects: usize) -> Capture {
        let Head { status, max_age, media_type, challenger, truncated } = self;
        let challenger = challenger.map(Challenger::from_number);
        let truncated = truncated.and_then(|name| Truncation::from_name(&name));
        Capture {
            status,
            max_age,
            media_type,
            challenger,
            truncated,
            time,
            redirects: redirects as u32,
            ..Capture::default()
        }
    }
}

/// A revisit's reference to an original record with the same URL, or with the URL in `WARC-Refers-To-Target-URI`.
///
/// The record is found by its ID, else by its date, else by its payload digest. If both records have a digest, these
/// must be equal. A record with another URL is used only if both have the same digest. Bodies are not hashed, so a
/// digest alone must never assign one site's body to another.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Reference {
    /// The original record's URL, in normal form.
    pub url: String,
    /// Whether that URL differs from the revisit's URL.
    pub is_other_url: bool,
    /// The hash of the original record's ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The original record's date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<Time>,
    /// The payload digest's hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<u64>,
}

/// A revisit record.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Revisit {
    reference: Reference,
    /// The revisit's header, or `None` if the response was 304 or the record has no header.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<Head>,
    /// The revisit's `max-age`, which always takes precedence.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_age: Option<u64>,
}

impl Revisit {
    /// Creates a revisit with its own header, or only a `max-age`.
    pub fn new(reference: Reference, own: Option<&Capture>, max_age: Option<u64>) -> Revisit {
        Revisit { reference, head: own.map(Head::of), max_age }
    }
}

/// A response's header as stored before its body.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Stored {
    pub(super) head: Head,
    /// A redirect's target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revisit: Option<Revisit>,
}

/// A robots.txt capture that waits for another record.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Waiting {
    pub(super) input: usize,
    pub(super) rank: u64,
    pub(super) record: u64,
    pub(super) name: String,
    /// The requested URL, as in the record.
    pub(super) url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<Time>,
    /// The chain's latest time so far. Responses at or after it are preferred.
    pub(super) from: Time,
    /// Redirect targets so far, in normal form. The last one is being looked up.
    pub(super) redirects: Vec<String>,
    /// Records used so far, by rank and number.
    pub(super) used: Vec<(u64, u64)>,
    pub(super) revisits: u32,
    /// The revisit's reference to look up, instead of a redirect target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reference: Option<Reference>,
    /// The first header in a sequence of revisits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) head: Option<Head>,
    /// The `max-age` of the first revisit in the sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_age: Option<u64>,
    /// The latest redirect's header.
    pub(super) redirect: Head,
}

impl Waiting {
    pub(super) fn wanted_url(&self) -> &str {
        match &self.reference {
            Some(reference) => &reference.url,
            None => self.redirects.last().map_or("", |url| url),
        }
    }

    /// Continues with a redirect's target. Returns whether the limit allows it.
    pub(super) fn follow(&mut self, head: Head, next: String) -> bool {
        (self.reference, self.head, self.max_age) = (None, None, None);
        self.redirect = head;
        let may = self.redirects.len() < MAX_REDIRECTS;
        if may {
            self.redirects.push(next);
        }
        may
    }

    /// Continues with a revisit's original record. Returns whether the limit allows it.
    pub(super) fn revisit(&mut self, revisit: Revisit) -> bool {
        self.revisits += 1;
        if self.reference.is_none() {
            (self.head, self.max_age) = (revisit.head, revisit.max_age);
        } else if self.head.is_none() {
            self.head = revisit.head;
        }
        self.reference = Some(revisit.reference);
        self.revisits <= MAX_REVISITS
    }

    /// Returns the capture for a response.
    pub(super) fn robots(self, head: Head, redirects: usize, body: Option<Vec<u8>>) -> Result<Robots> {
        let truncated = head.truncated.clone();
        let head = match self.head {
            // A revisit record always omits the body, so its truncation mark does not apply.
            Some(own) => Head { truncated, ..own },
            None => Head { max_age: self.max_age.or(head.max_age), ..head },
        };
        let origin = Origin::of_robots_url(self.url.as_bytes()).map_err(|_| broken())?;
        let fetch = Fetch { input: self.input, record: self.record, redirects: self.redirects };
        let capture = head.capture(self.time, redirects);
        Ok(Robots { name: self.name, origins: vec![origin], capture, body, is_file: false, fetch: Some(fetch) })
    }
}

/// The result for a waiting capture.
#[derive(Deserialize, Serialize)]
pub(super) enum Ending {
    /// The capture is skipped.
    Unresolved(String, u8),
    /// The capture has too many redirects.
    TooMany(Waiting),
    /// The response has a body: the offset of its header and body, and both lengths.
    Answered(Waiting, u64, u32, u32),
}

/// Returns the error for corrupt temporary rows.
pub(super) fn broken() -> Error {
    Error::run("the temporary files of redirects are damaged; this is a fault of reptile")
}

pub(super) fn to_json(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(Error::run)
}

pub(super) fn from_json<'j, T: Deserialize<'j>>(json: &'j [u8]) -> Result<T> {
    serde_json::from_slice(json).map_err(|_| broken())
}

/// Returns a time as bytes that sort chronologically. An unknown time comes first.
fn time_bytes(time: Time) -> [u8; 8] {
    ((time as u64) ^ (1 << 63)).to_be_bytes()
}

/// Placeholder time for a record without a date.
pub(super) const NO_TIME: Time = Time::MIN;

/// A response in the sorted list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) time: Time,
    pub(super) rank: u64,
    pub(super) record: u64,
    pub(super) is_stored: bool,
    pub(super) id: u64,
    pub(super) digest: u64,
    /// The offset of its header and body.
    pub(super) offset: u64,
    /// The header's length in bytes.
    pub(super) head_len: u32,
    pub(super) body_len: u32,
}

/// Serialized length in bytes of an entry with its key.
pub(super) const ENTRY_BYTES: usize = 16 + 8 + 8 + 8 + 1 + 8 + 8 + 8 + 4 + 4;

impl Entry {
    pub(super) fn bytes(&self, key: Key) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        let mut at = 0;
        let mut put = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        put(&key.to_be_bytes());
        put(&time_bytes(self.time));
        put(&self.rank.to_be_bytes());
        put(&self.record.to_be_bytes());
        put(&[u8::from(self.is_stored)]);
        put(&self.id.to_be_bytes());
        put(&self.digest.to_be_bytes());
        put(&self.offset.to_be_bytes());
        put(&self.head_len.to_be_bytes());
        put(&self.body_len.to_be_bytes());
        bytes
    }

    pub(super) fn read(row: &[u8]) -> Result<(Key, Entry)> {
        let mut rest = row;
        let key = u128::from_be_bytes(take(&mut rest)?);
        let time = (u64::from_be_bytes(take(&mut rest)?) ^ (1 << 63)) as Time;
        let rank = u64::from_be_bytes(take(&mut rest)?);
        let record = u64::from_be_bytes(take(&mut rest)?);
        let [is_stored] = take(&mut rest)?;
        let entry = Entry {
            time,
            rank,
            record,
            is_stored: is_stored == 1,
            id: u64::from_be_bytes(take(&mut rest)?),
            digest: u64::from_be_bytes(take(&mut rest)?),
            offset: u64::from_be_bytes(take(&mut rest)?),
            head_len: u32::from_be_bytes(take(&mut rest)?),
            body_len: u32::from_be_bytes(take(&mut rest)?),
        };
        Ok((key, entry))
    }

    pub(super) fn is_used(&self, waiting: &Waiting) -> bool {
        waiting.used.contains(&(self.rank, self.record))
    }
}

pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk().ok_or_else(broken)?;
    *bytes = rest;
    Ok(*first)
}
