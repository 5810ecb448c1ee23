//! Parses a record's header: its type, its length, and the fields that readers need.

use std::borrow::Cow;

use super::super::fields::{MAX_NAME_BYTES, fields, lower_name, number, without_brackets};
use crate::shown::shown;

/// A record's header.
#[derive(Debug, Default)]
pub struct Record {
    /// The record's number in the file, from 1. Damaged records count.
    pub number: u64,
    /// `WARC-Type`, in lower case.
    pub kind: Cow<'static, str>,
    /// `WARC-Target-URI`, without the angle brackets that some writers add.
    pub target: Option<Vec<u8>>,
    /// `WARC-Date`.
    pub date: Option<Vec<u8>>,
    /// `WARC-Truncated`.
    pub truncated: Option<Vec<u8>>,
    /// The block's `Content-Type`.
    pub content_type: Option<Vec<u8>>,
    /// Whether the record is a segment that continues in another record.
    pub is_segment: bool,
    /// Whether the record is at or after a search result, so that a website may have written it.
    pub is_untrusted: bool,
    /// The start of the block, if the reader keeps it ([`crate::pages`]): enough bytes to read a page's statements.
    pub block_start: Box<[u8]>,
    /// The fields that link records, if a record of its type needs them.
    pub(super) links: Option<Box<Links>>,
    /// Block length in bytes.
    pub(super) length: u64,
}

/// The header fields that link records.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// `WARC-Record-ID`.
    pub id: Option<Vec<u8>>,
    /// `WARC-Payload-Digest`: an algorithm and a value.
    pub payload_digest: Option<Vec<u8>>,
    /// `WARC-Profile`, which revisit records have.
    pub profile: Option<Vec<u8>>,
    /// `WARC-Refers-To`: another record's ID.
    pub refers_to: Option<Vec<u8>>,
    /// `WARC-Refers-To-Target-URI`.
    pub refers_to_target: Option<Vec<u8>>,
    /// `WARC-Refers-To-Date`.
    pub refers_to_date: Option<Vec<u8>>,
}

/// The links of a record without any.
static NO_LINKS: Links = Links {
    id: None,
    payload_digest: None,
    profile: None,
    refers_to: None,
    refers_to_target: None,
    refers_to_date: None,
};

impl Record {
    /// Returns the fields that link records.
    pub(crate) fn links(&self) -> &Links {
        self.links.as_deref().unwrap_or(&NO_LINKS)
    }

    /// Returns the block's length in bytes.
    pub(crate) fn block_len(&self) -> u64 {
        self.length
    }
}

/// The reason why a header is unusable.
pub(super) enum HeaderFault {
    /// The record's end is unknown.
    Lost(String),
    /// The file or the member ends inside the header.
    Cut,
    /// The record is skipped, using its block length in bytes.
    Skipped(String, u64),
}

/// The types of records, in lower case.
const KINDS: [&str; 8] =
    ["request", "response", "metadata", "revisit", "resource", "conversion", "warcinfo", "continuation"];

/// Returns a type in lower case.
fn kind_of(value: &[u8]) -> Cow<'static, str> {
    match KINDS.iter().find(|kind| kind.as_bytes() == value) {
        Some(kind) => Cow::Borrowed(kind),
        None => Cow::Owned(String::from_utf8_lossy(value).to_ascii_lowercase()),
    }
}

/// A header's fields.
#[derive(Default)]
struct HeaderFields<'h> {
    kind: Option<Cow<'h, [u8]>>,
    length: Option<Cow<'h, [u8]>>,
    target: Option<Cow<'h, [u8]>>,
    date: Option<Cow<'h, [u8]>>,
    truncated: Option<Cow<'h, [u8]>>,
    content_type: Option<Cow<'h, [u8]>>,
    is_segment: bool,
    id: Option<Cow<'h, [u8]>>,
    payload_digest: Option<Cow<'h, [u8]>>,
    profile: Option<Cow<'h, [u8]>>,
    refers_to: Option<Cow<'h, [u8]>>,
    refers_to_target: Option<Cow<'h, [u8]>>,
    refers_to_date: Option<Cow<'h, [u8]>>,
}

/// Parses a header. Adds its fields to the record if a record of its type needs them.
pub(super) fn parse(header: &[u8], mut record: Record, needs_fields: fn(&str) -> bool) -> Result<Record, HeaderFault> {
    let mut found = HeaderFields::default();
    // A field name with two different values.
    let mut twice = None;
    let mut memory = [0; MAX_NAME_BYTES];
    for (name, value) in fields(header) {
        let (name, field) = match lower_name(name, &mut memory) {
            b"warc-type" => ("WARC-Type", &mut found.kind),
            b"warc-target-uri" => ("WARC-Target-URI", &mut found.target),
            b"warc-date" => ("WARC-Date", &mut found.date),
            b"content-length" => {
                if let Some(first) =
                    found.length.as_ref().filter(|first| number(first).is_none_or(|n| Some(n) != number(&value)))
                {
                    let (first, second) = (shown(first), shown(&value));
                    return Err(HeaderFault::Lost(format!("its Content-Length is both \"{first}\" and \"{second}\"")));
                }
                found.length = Some(value);
                continue;
            }
            b"warc-truncated" => {
                found.truncated = Some(value);
                continue;
            }
            b"warc-segment-number" => {
                found.is_segment = true;
                continue;
            }
            b"content-type" => {
                found.content_type = Some(value);
                continue;
            }
            b"warc-record-id" => ("WARC-Record-ID", &mut found.id),
            b"warc-payload-digest" => ("WARC-Payload-Digest", &mut found.payload_digest),
            b"warc-profile" => ("WARC-Profile", &mut found.profile),
            b"warc-refers-to" => ("WARC-Refers-To", &mut found.refers_to),
            b"warc-refers-to-target-uri" => ("WARC-Refers-To-Target-URI", &mut found.refers_to_target),
            b"warc-refers-to-date" => ("WARC-Refers-To-Date", &mut found.refers_to_date),
            _ => continue,
        };
        if field.as_ref().is_some_and(|first| *first != value) {
            twice = Some(name);
        }
        *field = Some(value);
    }
    let Some(length) = found.length else { return Err(HeaderFault::Lost("it has no Content-Length".into())) };
    let Some(length) = number(&length) else {
        let shown = shown(&length);
        return Err(HeaderFault::Lost(format!("its Content-Length is \"{shown}\", not a number of bytes")));
    };
    if let Some(name) = twice {
        return Err(HeaderFault::Skipped(format!("it has two {name} fields that differ"), length));
    }
    (record.length, record.kind) = (length, kind_of(found.kind.as_deref().unwrap_or_default()));
    if needs_fields(&record.kind) {
        let owned = |value: Option<Cow<'_, [u8]>>| value.map(Cow::into_owned);
        let uri = |value: Option<Cow<'_, [u8]>>| value.map(|value| without_brackets(&value).to_vec());
        record.target = uri(found.target);
        record.date = owned(found.date);
        record.truncated = owned(found.truncated);
        record.content_type = owned(found.content_type);
        record.is_segment = found.is_segment;
        record.links = Some(Box::new(Links {
            id: owned(found.id),
            payload_digest: owned(found.payload_digest),
            profile: owned(found.profile),
            refers_to: owned(found.refers_to),
            refers_to_target: uri(found.refers_to_target),
            refers_to_date: owned(found.refers_to_date),
        }));
    }
    Ok(record)
}
