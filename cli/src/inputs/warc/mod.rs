//! WARC files of crawlers, such as the robotstxt files of Common Crawl: the capture of a robots.txt in each answer.
//!
//! [`records`] reads the records ([`raw`] with the bytes that they are stored in) and [`http`] the answers in them; here an
//! answer becomes a capture of the origins that it is for. A crawler writes each step of a redirect as a record of its own.
//! They are put together again: the capture of the origin that was asked first is the answer at the end, with the number of
//! redirects. Only records of the same file are put together; a redirect whose end is elsewhere stays one, and the fetch
//! profile says what it means.

mod http;
pub mod raw;
pub mod records;
mod redirects;

use std::io;
use std::path::Path;

use reptile_compiler::capture::{Capture, Time, Truncation};
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_compiler::set::origin::OwnedOrigin;

use super::bodies::{TOO_LARGE, no_memory};
use super::gzip::Unpack;
use super::shown::shown;
use super::time::{MAX_TIME_BYTES, Zone, read_time};
use super::{Item, Sink};
use crate::error::{Failure, Result};
use http::{Answer, answer};
use records::{Block, Damage, Next, Record, Records};
use redirects::{Redirects, Waiting};

/// Bytes of a block that is read: the header of an answer, and a body of the greatest size with the lengths of its chunks.
const MAX_BLOCK_BYTES: usize = MAX_BODY_BYTES + (1 << 20);

/// The fault of a record that cannot be read.
const DAMAGED: &str = "damaged record of a WARC file";

/// The fault of a record behind which nothing is read.
const STOPPED: &str = "damaged WARC file, not read to its end";

/// Reads every record. With `searches`, also those behind damage after which nothing says where the next record begins.
///
/// # Errors
/// If the system cannot read the file. A damaged record is an [`Item::Bad`].
pub fn read(path: &Path, source: impl Unpack, searches: bool, sink: &mut Sink<'_>) -> Result<()> {
    let unreadable = |error: io::Error| Failure::at(path, format!("cannot be read: {error}"));
    let mut reader = Reader { path, records: Records::new(source, searches), redirects: Redirects::default() };
    let mut is_untrusted = false;
    loop {
        match reader.records.next().map_err(unreadable)? {
            Next::End => break,
            Next::Damaged(damage) => sink(reader.damaged(damage))?,
            Next::Record(record) => {
                if record.is_untrusted {
                    let is_first = !std::mem::replace(&mut is_untrusted, true);
                    sink(Item::Untrusted { from: is_first.then(|| reader.name_of(record.number)) })?;
                }
                reader.record(&record, sink)?.map_err(unreadable)?;
            }
        }
    }
    reader.redirects.end().try_for_each(sink)
}

/// The reader of one file.
struct Reader<'p, R> {
    path: &'p Path,
    records: Records<R>,
    redirects: Redirects,
}

impl<R: Unpack> Reader<'_, R> {
    fn name(&self, number: u64, target: &[u8]) -> String {
        format!("{}: record {number} ({})", self.path.display(), shown(target))
    }

    fn name_of(&self, number: u64) -> String {
        format!("{}: record {number}", self.path.display())
    }

    fn damaged(&self, damage: Damage) -> Item {
        Item::Bad { name: self.name_of(damage.number), reason: fault_of(&damage), detail: damage.detail }
    }

    /// Reads one record if it is the answer for a robots.txt, or the end of a redirect from one.
    fn record(&mut self, record: &Record, sink: &mut Sink<'_>) -> Result<io::Result<()>> {
        let Some(target) = record.target.as_deref().filter(|_| is_answer(record)) else {
            return sink(Item::left_out("record that is no answer of a server")).map(Ok);
        };
        let name = self.name(record.number, target);
        // The others are pages, and addresses that are not of the web, such as `dns:example.com`.
        let asked = OwnedOrigin::of_robots_url(target).ok();
        let key = redirects::key(target);
        if asked.is_none() && !self.redirects.is_awaited(key.as_deref()) {
            return sink(Item::left_out("answer for another URL than that of a robots.txt")).map(Ok);
        }
        let bad = |reason, detail| Item::Bad { name: name.clone(), reason, detail };
        if record.is_segment {
            return sink(bad("record in several parts", "its parts are not put together".into())).map(Ok);
        }
        if record.kind == "revisit" {
            let reason = "not changed since an earlier capture (a revisit record)";
            return sink(Item::LeftOut { reason, name: Some(name) }).map(Ok);
        }
        let time = match record.date.as_deref().map(read_date).transpose() {
            Ok(time) => time,
            Err(detail) => return sink(bad("no valid WARC-Date", detail)).map(Ok),
        };
        let (block, is_longer) = match self.records.block(MAX_BLOCK_BYTES) {
            Err(error) => return Ok(Err(error)),
            Ok(Block::NoMemory(len)) => return Err(no_memory(&name, len)),
            Ok(Block::Damaged(damage)) => return sink(bad(fault_of(&damage), damage.detail)).map(Ok),
            Ok(Block::TooLarge(len)) => {
                let detail = format!("its block has {len} bytes; the limit is {MAX_BLOCK_BYTES}");
                return sink(bad(TOO_LARGE, detail)).map(Ok);
            }
            Ok(Block::Whole(block, is_longer)) => (block, is_longer),
        };
        let mut answer = match answer_in(record, block) {
            Ok(answer) => answer,
            Err((reason, detail)) => return sink(bad(reason, detail)).map(Ok),
        };
        if is_longer && answer.body.starts_with(b"\r\n") {
            // The line end that was not counted; see `records`.
            answer.body.drain(..2);
        }
        if answer.body.len() > MAX_BODY_BYTES {
            let detail = format!("{} bytes; the limit is {MAX_BODY_BYTES}", answer.body.len());
            return sink(bad(TOO_LARGE, detail)).map(Ok);
        }
        answer.capture.truncated = record.truncated.as_deref().map(truncation);
        let asked = asked.map(|origin| Waiting::new(name, origin, time));
        self.redirects.add(asked, key, answer, &mut |robots| sink(Item::Robots(robots))).map(Ok)
    }
}

/// The kind of a damage.
pub fn fault_of(damage: &Damage) -> &'static str {
    if damage.stops { STOPPED } else { DAMAGED }
}

/// Whether a record is what a server sent.
fn is_answer(record: &Record) -> bool {
    matches!(&*record.kind, "response" | "resource" | "revisit")
}

/// The answer in the block of a record. A resource is a body without a header, which some crawlers write.
fn answer_in(record: &Record, block: Vec<u8>) -> std::result::Result<Answer, http::Fault> {
    if record.kind != "resource" {
        return answer(block);
    }
    let media_type = record.content_type.as_deref().map(String::from_utf8_lossy);
    let media_type = media_type.map(|name| reptile_compiler::capture::media_type(&name));
    let capture = Capture { status: Some(200), media_type, ..Capture::default() };
    Ok(Answer { capture, location: None, body: block })
}

/// Reads a `WARC-Date`.
///
/// # Errors
/// Returns what was found if it is not a date.
pub fn read_date(date: &[u8]) -> std::result::Result<Time, String> {
    let text = std::str::from_utf8(date).map_err(|_| format!("\"{}\"", shown(date)))?;
    if text.len() > MAX_TIME_BYTES {
        return Err(format!("\"{}\"", shown(date)));
    }
    read_time(text, &Zone::default())
}

/// Why a body is cut. A word that is not known is a reason too.
fn truncation(word: &[u8]) -> Truncation {
    let word = String::from_utf8_lossy(word).to_ascii_lowercase();
    Truncation::from_name(&word).unwrap_or(Truncation::Unspecified)
}
