//! Pages in crawl archives, with the statements that arrive with them: in response headers and in `<meta>` elements.
//!
//! WARC files have whole responses, and WAT files have their headers and elements as JSON ([`wat`]). WET files have
//! neither, so the statements of their pages are unavailable, unless [`JoinedPages`] finds them in another file.
//! [`reptile::rights`] interprets the statements.
//!
//! A text counts as read only if it was read as browsers read it. A text that is cut, damaged or ambiguous has the
//! statements that were found, and lacks the others ([`Statements::lacks`]).
//!
//! ```
//! use reptile::rights::Channel;
//! use reptile_records::pages::{CrawlerNames, NextPage, Pages, page_of};
//!
//! let response = "HTTP/1.1 200 OK\r\nX-Robots-Tag: noai\r\nContent-Type: text/html\r\n\r\n<meta name=GPTBot content=noindex>";
//! let record = format!(
//!     "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.com/\r\nContent-Length: {}\r\n\r\n{response}\r\n\r\n",
//!     response.len(),
//! );
//! let file = tempfile::NamedTempFile::new()?;
//! std::fs::write(file.path(), record)?;
//!
//! let names = CrawlerNames::new(["gptbot"]);
//! let mut pages = Pages::open(file.path(), false)?;
//! let NextPage::Record(record) = pages.next_record()? else { return Err("no record".into()) };
//! let page = page_of(&names, &record).ok_or("not a page")?;
//! assert_eq!(page.url, b"https://example.com/");
//! assert_eq!(page.statements.of(Channel::RobotsHeader).next(), Some((&b""[..], &b"noai"[..])));
//! assert_eq!(page.statements.of(Channel::RobotsMeta).next(), Some((&b"gptbot"[..], &b"noindex"[..])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod join;
mod page;
mod tdm;
mod wat;

use reptile::rights::Statements;
pub use reptile_pages::CrawlerNames;
use reptile_pages::{ContentType, MAX_TEXT_BYTES, read_field};

pub use join::{JoinedPages, MAX_JOINED_BYTES, MAX_JOINED_PAGES};
pub use page::Page;
pub use wat::MAX_WAT_BYTES;

use crate::detect::{Content, ExpectedInput};
use crate::open::Input;
use crate::place::Place;
use crate::unpack::Start;
use crate::warc::codings::{BodyStart, Rest};
use crate::warc::fields::fields;
use crate::warc::http;
use crate::warc::records::{Damage, NextRecord, Record, Records};
use crate::{Error, Result};

/// Number of bytes that are kept from a response's block: its header, and the compressed start of its text.
pub(crate) const MAX_START_BYTES: usize = MAX_HEADER_BYTES + (256 << 10);

/// Maximum length of a response's header in bytes. The statements of a page with a longer header are unavailable.
const MAX_HEADER_BYTES: usize = 64 << 10;

/// A record's part in an archive of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// A server's response, or a resource without a response.
    Response,
    /// A page's text, as in WET files.
    Text,
    /// A response's headers and elements as JSON, as in WAT files.
    Metadata,
}

/// Returns the kind of a page's record, or `None` for other records, such as requests. A JSON record may also describe
/// something other than a page, which only its block shows.
#[must_use]
pub fn kind_of(record: &Record) -> Option<PageKind> {
    record.target.as_ref()?;
    match &*record.kind {
        "response" | "resource" | "revisit" => Some(PageKind::Response),
        "conversion" => Some(PageKind::Text),
        "metadata" if is_type(record, b"application/json") => Some(PageKind::Metadata),
        _ => None,
    }
}

/// Returns the number of bytes at the start of a record's block that its page is read from.
pub(crate) fn start_bytes(record: &Record) -> usize {
    match kind_of(record) {
        Some(PageKind::Response) => MAX_START_BYTES,
        Some(PageKind::Metadata) => MAX_WAT_BYTES,
        Some(PageKind::Text) | None => 0,
    }
}

/// Returns a record's page, or `None` if the record is not a page. `names` are the crawlers whose names elements may
/// have.
///
/// Time: linear in the start of the record's block.
#[must_use]
pub fn page_of(names: &CrawlerNames, record: &Record) -> Option<Page> {
    let mut page = Page {
        url: record.target.clone()?,
        date: record.date.clone(),
        id: record.links().id.clone(),
        statements: Statements::default(),
    };
    match kind_of(record)? {
        PageKind::Response => read_response(names, record, &mut page.statements),
        PageKind::Text => {
            page.id.clone_from(&record.links().refers_to);
            page.statements = Statements::unavailable();
        }
        PageKind::Metadata => {
            page.id.clone_from(&record.links().refers_to);
            wat::read(record, names, &mut page)?;
        }
    }
    // A website may have written what a search for the next record finds.
    page.statements.set_missing(record.is_untrusted, record.is_untrusted);
    Some(page)
}

/// Reads the statements in a response, or in a resource, which has no headers.
fn read_response(names: &CrawlerNames, record: &Record, statements: &mut Statements) {
    let block = &record.block_start;
    let is_response = record.kind != "resource" || is_type(record, b"application/http");
    if is_response && (!http::is_response(block) || !http::has_whole_header(block)) {
        return statements.set_missing(true, true);
    }
    let mut content_type = ContentType::default();
    let start = if is_response {
        let (header, body) = http::final_answer(block);
        if block.len() - body.len() > MAX_HEADER_BYTES {
            return statements.set_missing(true, true);
        }
        for (name, value) in fields(header) {
            read_field(statements, &mut content_type, name, &value);
        }
        http::body_start(block, record.block_len(), MAX_TEXT_BYTES)
    } else {
        statements.set_missing(true, false);
        content_type.add(record.content_type.as_deref().unwrap_or_default());
        let rest = if block.len() > MAX_TEXT_BYTES { Rest::More } else { Rest::Nothing };
        Ok(BodyStart { bytes: block[..block.len().min(MAX_TEXT_BYTES)].to_vec(), rest })
    };
    if record.kind == "revisit" {
        return statements.set_missing(false, true);
    }
    if !content_type.may_have_elements() {
        return;
    }
    match start {
        Ok(BodyStart { bytes, rest }) => {
            let is_missing = rest == Rest::Missing || record.truncated.is_some() || record.is_segment;
            statements.set_missing(false, is_missing);
            names.read_text(&bytes, rest == Rest::More, &content_type, statements);
        }
        Err(_) => statements.set_missing(false, true),
    }
}

/// Returns whether a block has a media type, with any parameters.
fn is_type(record: &Record, expected: &[u8]) -> bool {
    let media_type = record.content_type.as_deref().unwrap_or_default();
    let name = media_type.split(|&byte| byte == b';').next().unwrap_or_default();
    name.trim_ascii().eq_ignore_ascii_case(expected)
}

/// The next item in an archive.
pub enum NextPage {
    /// A record, which may be a page.
    Record(Box<Record>),
    /// A damaged record.
    Damaged(Damage),
    /// The end of the file.
    End,
}

/// Reads the records of an archive, with the starts of their blocks.
pub struct Pages {
    path: Place,
    records: Records<Start>,
    /// The record whose end is still unknown.
    last: Option<Box<Record>>,
    /// Damage to report after the record.
    damage: Option<Damage>,
}

impl Pages {
    /// Opens an archive in any compression format. With `searches`, reading continues after damage at the next record
    /// that a search finds.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, or is not an archive.
    pub fn open(path: impl Into<Place>, searches: bool) -> Result<Pages> {
        let path = &path.into();
        let input = Input::open(path)?;
        if !matches!(input.content, Content::Warc | Content::Empty) {
            let (what, hint) =
                (input.content.describe(), input.content.hint(ExpectedInput::Warc, &path.display().to_string()));
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            return Err(Error::at(path, format!("is {what}, not a crawl archive (WARC, WET or WAT){hint}")));
        }
        let records = Records::new(input.into_source(), searches).with_block_starts(start_bytes);
        Ok(Pages { path: path.into(), records, last: None, damage: None })
    }

    /// Returns the next record, once its block is known to be complete.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn next_record(&mut self) -> Result<NextPage> {
        if let Some(damage) = self.damage.take() {
            return Ok(NextPage::Damaged(damage));
        }
        loop {
            let next = self.records.next_record();
            let next = next.map_err(|error| Error::at(&self.path, format!("cannot be read: {error}")))?;
            match (next, self.last.take()) {
                (NextRecord::Record(record), last) => {
                    self.last = Some(Box::new(record));
                    if let Some(last) = last {
                        return Ok(NextPage::Record(last));
                    }
                }
                (NextRecord::Damaged(damage), Some(last)) if last.number != damage.number => {
                    self.damage = Some(damage);
                    return Ok(NextPage::Record(last));
                }
                (NextRecord::Damaged(damage), _) => return Ok(NextPage::Damaged(damage)),
                (NextRecord::End, Some(last)) => return Ok(NextPage::Record(last)),
                (NextRecord::End, None) => return Ok(NextPage::End),
            }
        }
    }
}

#[cfg(test)]
mod tests;
