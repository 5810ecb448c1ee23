//! Reads a WARC file's records in order. Source: ISO 28500:2017, section 4.
//!
//! Blocks are not interpreted here, and their bytes come from websites. Reading therefore never resumes inside a
//! possible block: after damage it resumes at the end that Content-Length declares, or with the next gzip member. If
//! neither is known, it stops and reports the number of unread bytes. A caller may request a search instead; then the
//! first record found and all later records are marked as untrusted.
//!
//! ```
//! use reptile_records::warc::raw::{NextStored, PlainRecords};
//! use reptile_records::warc::{fault_of, records::RECORD_START};
//!
//! let archive = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: many\r\n\r\n";
//! assert!(archive.starts_with(RECORD_START));
//!
//! let mut records = PlainRecords::new(&archive[..], false);
//! let NextStored::Damaged(damage) = records.next_record()? else { return Err("the record has no length".into()) };
//! assert_eq!((damage.number, damage.stops), (1, true));
//! assert_eq!(fault_of(&damage), "damaged WARC file, not read to its end");
//! assert!(damage.detail.starts_with("its Content-Length is \"many\", not a number of bytes"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod header;
pub(super) mod joined;

use std::io::{self, ErrorKind};

use memchr::memchr;

pub use self::header::Record;
use self::header::{HeaderFault, parse};
use super::fields::is_folded;
use crate::gzip::Unpack;
use crate::lines::lines;
use crate::shown::shown;
use crate::text::grouped;

/// Maximum header length in bytes for a usable record. Usual headers have about a thousand bytes.
pub(crate) const MAX_HEADER_BYTES: usize = 64 << 10;

/// Maximum header length in bytes for a record that is skipped to the end that its Content-Length declares.
pub(crate) const MAX_SKIPPED_HEADER_BYTES: usize = 16 << 20;

/// Maximum stored line length in bytes in a skipped header, enough for Content-Length.
const MAX_SKIPPED_LINE_BYTES: usize = 128;

/// Number of bytes per read.
const READ_BYTES: usize = 1 << 16;

/// Number of bytes per read from a source that can skip the rest. Enough for usual headers.
const SHORT_READ_BYTES: usize = 1 << 11;

/// The start of a record in any version.
pub const RECORD_START: &[u8] = b"WARC/";

/// Number of bytes by which a block may exceed its Content-Length. One crawl (CC-MAIN-2018-34) wrote a line end between
/// header and body without counting it. Each record in it ends two bytes after the declared end.
const UNCOUNTED_BYTES: usize = 2;

/// Maximum total length in bytes for line ends between two records.
const MAX_SEPARATOR_BYTES: usize = b"\r\n\r\n".len();

/// Maximum number of bytes from an invalid record in a message.
const SHOWN_BYTES: usize = 20;

/// The next item in a file.
pub(crate) enum NextRecord {
    /// A record whose block has not been read yet.
    Record(Record),
    /// A damaged record, or bytes outside any record.
    Damaged(Damage),
    /// The end of the file.
    End,
}

/// An unreadable record.
#[derive(Debug)]
pub struct Damage {
    /// The record's number in the file, from 1.
    pub number: u64,
    /// A description of the damage.
    pub detail: String,
    /// Whether the damage stops the reader before the end of the data, or the file was cut off here.
    pub stops: bool,
}

/// A record's block.
pub(crate) enum Block {
    /// The bytes, and whether there were two more than Content-Length declares.
    Whole(Vec<u8>, bool),
    /// A block over the limit, with its length in bytes.
    TooLarge(u64),
    /// A block without enough memory for it, with its length in bytes.
    NoMemory(u64),
    /// An incomplete block.
    Damaged(Damage),
}

/// Reads a file's records.
pub(crate) struct Records<R> {
    source: R,
    /// Whether to search for the next record if the current one's end is unknown.
    searches: bool,
    /// Bytes from the current member, up to `filled`. The first `at` bytes are used. Bytes after `filled` are left as
    /// they are, so that they need not be cleared before each read.
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// The number of the most recently read member.
    member: u64,
    /// Whether the current member is the file's first one.
    is_first_member: bool,
    /// Whether records continue in the next member.
    is_joined: bool,
    /// Whether the current member has begun, so that bytes from another member do not belong to it.
    has_begun: bool,
    /// The number of bytes after `filled` that begin the next member, or its error, if it has already been read.
    next: Option<Result<usize, String>>,
    /// Whether a search found the next member.
    next_is_untrusted: bool,
    /// Whether the source has ended, or reading has stopped.
    is_at_end: bool,
    /// The error that ends the current member early, if any.
    broken: Option<String>,
    /// Number of records that have begun.
    number: u64,
    /// Number of complete records in the current member.
    in_member: u64,
    /// Whether a search has already found a record or a member.
    is_untrusted: bool,
    /// Whether pending damage stops the reader.
    stops: bool,
    /// Whether a damaged member stops the reader.
    stops_if_broken: bool,
    /// Number of unread bytes in the current block.
    left: u64,
    /// Number of bytes read from the source, up to the current member.
    given: u64,
    /// The offset of the most recent record.
    start: u64,
    /// The last header's memory, for reuse by the next one.
    header: Vec<u8>,
    /// Number of bytes per read.
    read_bytes: usize,
    /// Returns the number of bytes that a record gets from the start of its block.
    start_bytes: fn(&Record) -> usize,
    /// Returns whether the caller needs the fields of records of this type.
    needs_fields: fn(&str) -> bool,
}

/// The end of a line.
enum LineEnd {
    Lf,
    /// The member or the file ended inside the line.
    None,
    TooLong,
}

impl<R: Unpack> Records<R> {
    /// Creates a reader that starts at the source's first byte.
    pub fn new(source: R, searches: bool) -> Records<R> {
        Records::with_buffer(source, searches, Vec::new())
    }

    /// Creates a reader that starts at the source's first byte and reuses another reader's memory.
    pub fn with_buffer(source: R, searches: bool, buffer: Vec<u8>) -> Records<R> {
        Records {
            source,
            searches,
            buffer,
            at: 0,
            filled: 0,
            member: 0,
            is_first_member: true,
            is_joined: false,
            has_begun: false,
            next: None,
            next_is_untrusted: false,
            is_at_end: false,
            broken: None,
            number: 0,
            in_member: 0,
            is_untrusted: false,
            stops: false,
            stops_if_broken: false,
            left: 0,
            given: 0,
            start: 0,
            header: Vec::new(),
            read_bytes: READ_BYTES,
            start_bytes: |_| 0,
            needs_fields: |_| true,
        }
    }

    /// Uses short reads, because the source can skip the blocks.
    pub fn with_short_reads(self) -> Records<R> {
        Records { read_bytes: SHORT_READ_BYTES, ..self }
    }

    /// Keeps the start of each record's block, with this number of bytes.
    pub fn with_block_starts(self, start_bytes: fn(&Record) -> usize) -> Records<R> {
        Records { start_bytes, ..self }
    }

    /// Reads all records, but keeps the fields of only those whose type needs them. The others are most of an archive's
    /// records, and have only their type and length.
    pub fn with_fields_of(self, needs_fields: fn(&str) -> bool) -> Records<R> {
        Records { needs_fields, ..self }
    }

    /// Returns the source.
    pub fn source_mut(&mut self) -> &mut R {
        &mut self.source
    }

    /// Returns the reader's memory for reuse.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Returns the number of source bytes before the next record.
    pub fn offset(&self) -> u64 {
        self.given - (self.filled - self.at) as u64
    }

    /// Returns the number of source bytes before the current record, valid or not.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the next record. If the previous block is unread, it is skipped.
    ///
    /// # Errors
    /// Returns an error if the system cannot read the source.
    pub fn next_record(&mut self) -> io::Result<NextRecord> {
        if self.left > 0
            && let Err(detail) = self.skip_block()?
        {
            return Ok(NextRecord::Damaged(self.damage(detail)));
        }
        loop {
            self.skip_blank()?;
            if !self.peek(1)?.is_empty() {
                break;
            }
            if let Some(detail) = self.broken() {
                // The member is damaged where a record should begin, which counts as a record.
                self.number += 1;
                self.start = self.offset();
                return Ok(NextRecord::Damaged(self.damage(detail)));
            }
            if !self.enter_next_member() {
                return Ok(NextRecord::End);
            }
        }
        self.number += 1;
        self.start = self.offset();
        match self.header()? {
            Ok(mut record) => {
                self.left = record.length;
                record.block_start = self.block_start((self.start_bytes)(&record))?.into();
                if record.length == 0
                    && let Err(detail) = self.end_block(&mut Vec::new())?
                {
                    return Ok(NextRecord::Damaged(self.damage(detail)));
                }
                Ok(NextRecord::Record(record))
            }
            Err(HeaderFault::Skipped(detail, length)) => {
                self.left = length;
                let end = if length == 0 { self.end_block(&mut Vec::new())? } else { Ok(false) };
                let detail = end.map_or_else(|more| format!("{detail}; {more}"), |_| detail.clone());
                Ok(NextRecord::Damaged(self.damage(detail)))
            }
            Err(HeaderFault::Cut) => {
                self.stops |= self.is_cut();
                let broken = self.broken().map(|broken| format!(": {broken}")).unwrap_or_default();
                Ok(NextRecord::Damaged(self.damage(format!("it ends within its header{broken}"))))
            }
            Err(HeaderFault::Lost(detail)) => {
                let detail = self.lose(detail, self.start)?;
                Ok(NextRecord::Damaged(self.damage(detail)))
            }
        }
    }

    /// Returns at most `len` bytes from the start of the current record's block, without consuming them.
    ///
    /// # Errors
    /// Returns an error if the system cannot read the source.
    pub fn block_start(&mut self, len: usize) -> io::Result<&[u8]> {
        let len = self.left.min(len as u64) as usize;
        if self.peek(len)?.len() < len {
            self.continue_record();
        }
        let found = self.peek(len)?;
        Ok(&found[..found.len().min(len)])
    }

    /// Reads the current record's block.
    ///
    /// # Errors
    /// Returns an error if the system cannot read the source.
    pub fn block(&mut self, limit: usize) -> io::Result<Block> {
        let length = self.left;
        if length > limit as u64 {
            return Ok(match self.skip_block()? {
                Ok(()) => Block::TooLarge(length),
                Err(detail) => Block::Damaged(self.damage(detail)),
            });
        }
        let mut block = Vec::new();
        while self.left > 0 {
            let part = self.some_of_block()?;
            if part == 0 {
                let detail = self.cut_block(length)?;
                return Ok(Block::Damaged(self.damage(detail)));
            }
            if block.try_reserve(part).is_err() {
                return Ok(Block::NoMemory(length));
            }
            block.extend_from_slice(&self.buffer[self.at..self.at + part]);
            self.use_of_block(part);
        }
        Ok(match self.end_block(&mut block)? {
            Ok(is_longer) => Block::Whole(block, is_longer),
            Err(detail) => Block::Damaged(self.damage(detail)),
        })
    }

    /// Returns the current record's damage.
    fn damage(&mut self, detail: String) -> Damage {
        Damage { number: self.number, detail, stops: std::mem::take(&mut self.stops) }
    }

    /// Skips the block, and returns an error if it is damaged.
    fn skip_block(&mut self) -> io::Result<Result<(), String>> {
        let length = self.left;
        while self.left > 0 {
            if self.at == self.filled && self.may_read() {
                let skipped = self.source.skip(self.left);
                self.left -= skipped;
                self.given += skipped;
                if skipped > 0 {
                    continue;
                }
            }
            let part = self.some_of_block()?;
            if part == 0 {
                return self.cut_block(length).map(Err);
            }
            self.use_of_block(part);
        }
        Ok(self.end_block(&mut Vec::new())?.map(|_| ()))
    }

    /// Returns the number of block bytes in the buffer, or 0 if the member or the file ends inside the block.
    fn some_of_block(&mut self) -> io::Result<usize> {
        if self.peek(1)?.is_empty() {
            self.continue_record();
        }
        let found = self.peek(1)?.len() as u64;
        Ok(found.min(self.left) as usize)
    }

    fn use_of_block(&mut self, len: usize) {
        self.at += len;
        self.left -= len as u64;
    }

    /// Describes a block that ends before its declared length.
    fn cut_block(&mut self, length: u64) -> io::Result<String> {
        let found = length - std::mem::take(&mut self.left);
        let cut = format!("it ends after {found} of the {length} bytes of its block");
        self.stops |= self.is_cut();
        Ok(match self.broken() {
            Some(broken) => format!("{cut}: {broken}"),
            None => cut,
        })
    }

    /// Reads from the end of a block to the next record or member, and appends uncounted bytes to the block. Returns
    /// whether there were any, or a description of the damage.
    fn end_block(&mut self, block: &mut Vec<u8>) -> io::Result<Result<bool, String>> {
        for end in [&b"\r\n\r\n"[..], b"\n\n"] {
            if self.peek(end.len())?.starts_with(end) {
                // Later bytes do not belong to this record.
                self.at += end.len();
                return self.end_record(false);
            }
        }
        let most = UNCOUNTED_BYTES + MAX_SEPARATOR_BYTES + RECORD_START.len();
        let rest = self.peek(most)?;
        let rest = &rest[..rest.len().min(most)];
        let line_ends = |at: usize| rest[at..].iter().take_while(|byte| b"\r\n".contains(byte)).count();
        for uncounted in [0, UNCOUNTED_BYTES.min(rest.len())] {
            let separator = line_ends(uncounted);
            let after = &rest[uncounted + separator..];
            if (uncounted == 0 || separator <= MAX_SEPARATOR_BYTES)
                && (after.is_empty() || after.starts_with(RECORD_START))
            {
                block.extend_from_slice(&rest[..uncounted]);
                self.at += uncounted + separator;
                return self.end_record(uncounted > 0);
            }
        }
        let found = shown(&rest[..rest.len().min(SHOWN_BYTES)]);
        let detail = format!(
            "its block is followed by \"{found}\", not by an empty line and a record: its Content-Length is wrong"
        );
        self.lose(detail, self.offset()).map(Err)
    }

    /// Ends a record, which is complete unless its member is damaged.
    fn end_record(&mut self, is_longer: bool) -> io::Result<Result<bool, String>> {
        self.peek(1)?;
        Ok(match self.broken() {
            Some(broken) => Err(broken),
            None => {
                self.in_member += 1;
                Ok(is_longer)
            }
        })
    }

    /// Handles an unknown start of the next record after damage at the offset `from`: searches for a record, skips the
    /// rest of the gzip member, or stops reading. Returns `detail` with the consequences.
    fn lose(&mut self, detail: String, from: u64) -> io::Result<String> {
        let mut more = String::new();
        if self.searches {
            self.find_record()?;
            self.is_untrusted |= !self.peek(1)?.is_empty();
        } else if self.has_members() {
            let mut len = self.offset() - from;
            loop {
                let part = self.peek(1)?.len();
                if part == 0 {
                    break;
                }
                self.at += part;
                len += part as u64;
            }
            // A member with several records may have more of them here.
            self.stops |= self.in_member > 0;
            more = format!("; the {} bytes from there to the end of its gzip member are not read", grouped(len));
        } else {
            let read = self.given - from;
            let packed = self.source.packed_offset();
            let rest = self.source.discard()?;
            self.at = self.filled;
            self.is_at_end = true;
            self.stops = true;
            let from = grouped(from);
            more = match packed {
                None => format!("; reading stopped at byte {from}: {} bytes are not read", grouped(read + rest)),
                Some(packed) => format!(
                    "; reading stopped at byte {from} of the decompressed data, before byte {} of the file: {} \
                     compressed bytes are not read",
                    grouped(packed),
                    grouped(rest)
                ),
            } + TO_SEARCH;
        }
        let broken = self.broken().map(|broken| format!("; {broken}")).unwrap_or_default();
        Ok(detail + &more + &broken)
    }

    /// Reads up to the next line that looks like the start of a record, or to the member's end.
    fn find_record(&mut self) -> io::Result<()> {
        let mut is_line_start = true;
        loop {
            let found = self.peek(RECORD_START.len())?;
            if found.is_empty() || (is_line_start && found.starts_with(RECORD_START)) {
                return Ok(());
            }
            let line_end = memchr(b'\n', found);
            let len = line_end.map_or(found.len(), |end| end + 1);
            is_line_start = line_end.is_some();
            self.at += len;
        }
    }

    /// Reads a record's header, or returns the reason why it is unusable.
    fn header(&mut self) -> io::Result<Result<Record, HeaderFault>> {
        if let Some(len) = self.buffered_header() {
            let header = &self.buffer[self.at..self.at + len];
            self.at += len;
            return Ok(parse(header, self.new_record(), self.needs_fields));
        }
        let mut header = std::mem::take(&mut self.header);
        header.clear();
        header.shrink_to(READ_BYTES);
        let read = self.header_in(&mut header);
        self.header = header;
        read
    }

    /// Returns the length of a header that is in the buffer to its end, as most are.
    fn buffered_header(&self) -> Option<usize> {
        let found = &self.buffer[self.at..self.filled];
        let found = &found[..found.len().min(MAX_HEADER_BYTES)];
        if !found.starts_with(RECORD_START) {
            return None;
        }
        let mut len = 0;
        lines(found).find_map(|line| {
            len += line.len();
            (line.ends_with(b"\n") && line.trim_ascii().is_empty()).then_some(len)
        })
    }

    fn new_record(&self) -> Record {
        Record { number: self.number, is_untrusted: self.is_untrusted, ..Record::default() }
    }

    /// Reads a record's header into an empty buffer.
    fn header_in(&mut self, header: &mut Vec<u8>) -> io::Result<Result<Record, HeaderFault>> {
        let found = self.peek(RECORD_START.len())?;
        if !found.starts_with(RECORD_START) {
            if RECORD_START.starts_with(found) {
                self.at = self.filled;
                return Ok(Err(HeaderFault::Cut));
            }
            let found = shown(&found[..found.len().min(SHOWN_BYTES)]);
            let detail = format!("expected \"WARC/\", the start of a record, found \"{found}\"");
            return Ok(Err(HeaderFault::Lost(detail)));
        }
        let mut is_too_long = false;
        loop {
            let start = header.len();
            let end = match is_too_long {
                false => self.line(header)?,
                true => self.skip_lines(header)?,
            };
            match end {
                LineEnd::None => return Ok(Err(HeaderFault::Cut)),
                LineEnd::TooLong if is_too_long => {
                    let limit = grouped(MAX_SKIPPED_HEADER_BYTES as u64);
                    let detail = format!("its header has more than {limit} bytes, and is not read to its end");
                    return Ok(Err(HeaderFault::Lost(detail)));
                }
                LineEnd::TooLong => is_too_long = true,
                LineEnd::Lf if is_too_long || header[start..].trim_ascii().is_empty() => break,
                LineEnd::Lf => {}
            }
        }
        Ok(parse(header, self.new_record(), self.needs_fields).and_then(|record| {
            if !is_too_long {
                return Ok(record);
            }
            let detail = format!("its header has more than {} bytes", grouped(MAX_HEADER_BYTES as u64));
            Err(HeaderFault::Skipped(detail, record.length))
        }))
    }

    /// Adds a line with its LF to a header.
    fn line(&mut self, header: &mut Vec<u8>) -> io::Result<LineEnd> {
        loop {
            if self.peek(1)?.is_empty() {
                self.continue_record();
            }
            let found = self.peek(1)?;
            if found.is_empty() {
                return Ok(LineEnd::None);
            }
            let line_end = memchr(b'\n', found);
            let len = line_end.map_or(found.len(), |end| end + 1);
            if header.len() + len > MAX_HEADER_BYTES {
                return Ok(LineEnd::TooLong);
            }
            header.extend_from_slice(&found[..len]);
            self.at += len;
            if line_end.is_some() {
                return Ok(LineEnd::Lf);
            }
        }
    }

    /// Reads the rest of an overlong header, and appends the lines that determine the block's length.
    fn skip_lines(&mut self, header: &mut Vec<u8>) -> io::Result<LineEnd> {
        // The line that exceeded the limit is read again from its start.
        let start = memchr::memrchr(b'\n', header).map_or(0, |end| end + 1);
        let mut len = header.len();
        let mut line = header.split_off(start);
        line.truncate(MAX_SKIPPED_LINE_BYTES + 1);
        let mut is_kept = true;
        loop {
            let found = self.peek(1)?;
            if found.is_empty() {
                return Ok(LineEnd::None);
            }
            let line_end = memchr(b'\n', found);
            let part = line_end.map_or(found.len(), |end| end + 1);
            len += part;
            if len > MAX_SKIPPED_HEADER_BYTES {
                return Ok(LineEnd::TooLong);
            }
            let kept = part.min((MAX_SKIPPED_LINE_BYTES + 1).saturating_sub(line.len()));
            line.extend_from_slice(&found[..kept]);
            self.at += part;
            if line_end.is_none() {
                continue;
            }
            let is_cut = line.len() > MAX_SKIPPED_LINE_BYTES;
            if !is_cut && line.trim_ascii().is_empty() {
                return Ok(LineEnd::Lf);
            }
            let name = memchr(b':', &line).map_or(&b""[..], |colon| line[..colon].trim_ascii());
            is_kept = if is_folded(&line) { is_kept } else { name.eq_ignore_ascii_case(b"content-length") };
            if is_cut {
                line.truncate(MAX_SKIPPED_LINE_BYTES);
                line.extend_from_slice(b"...\n");
            }
            if is_kept && !header.ends_with(&line) {
                header.extend_from_slice(&line);
            }
            line.clear();
        }
    }

    /// Skips line ends.
    fn skip_blank(&mut self) -> io::Result<()> {
        loop {
            let found = self.peek(1)?;
            let blank = found.iter().take_while(|byte| b"\r\n".contains(byte)).count();
            let is_all = blank == found.len();
            self.at += blank;
            if blank == 0 || !is_all {
                return Ok(());
            }
        }
    }

    /// Returns at least `len` of the next bytes, or fewer if the current member ends.
    fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        while self.filled - self.at < len && self.may_read() {
            if self.at > 0 {
                self.buffer.copy_within(self.at..self.filled, 0);
                self.filled -= std::mem::take(&mut self.at);
            }
            self.read((len - self.filled).clamp(self.read_bytes, READ_BYTES))?;
        }
        Ok(&self.buffer[self.at..self.filled])
    }

    /// Returns whether the current member may have bytes after those in the buffer.
    fn may_read(&self) -> bool {
        self.next.is_none() && !self.is_at_end && self.broken.is_none()
    }

    /// Reads once, at most `most` bytes, and appends them to the buffer. Bytes that begin the next member stay after
    /// the filled part.
    fn read(&mut self, most: usize) -> io::Result<()> {
        let filled = self.filled;
        if self.buffer.len() < filled + most {
            self.buffer.resize(filled + most, 0);
        }
        let read = self.source.read(&mut self.buffer[filled..filled + most]);
        let len = *read.as_ref().unwrap_or(&0);
        self.filled += len;
        self.given += len as u64;
        let is_other = std::mem::replace(&mut self.member, self.source.member()) != self.member
            && self.has_begun
            && !self.is_joined;
        match read {
            Ok(0) => self.is_at_end = true,
            Ok(_) if is_other => {
                self.given -= len as u64;
                self.filled = filled;
                self.next = Some(Ok(len));
            }
            Ok(_) => self.has_begun = true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.raw_os_error().is_some() => return Err(error),
            Err(error) => {
                let broken = error.to_string() + &self.after_error()?;
                self.has_begun = true;
                if is_other {
                    self.next = Some(Err(broken));
                } else {
                    self.broken = Some(broken);
                }
            }
        }
        Ok(())
    }

    /// Finds the next reading position after corrupt compressed data. Returns text for the message.
    fn after_error(&mut self) -> io::Result<String> {
        if self.source.goes_on() && !self.is_joined {
            return Ok(String::new());
        }
        let offset = self.source.packed_offset();
        if self.searches && self.source.find_member()? {
            self.next_is_untrusted = true;
            return Ok(String::new());
        }
        self.is_at_end = true;
        let unread = self.source.discard()?;
        self.stops_if_broken = true;
        Ok(stopped(offset.unwrap_or(self.given), unread))
    }

    /// Returns the current member's error, if all bytes before it are used.
    fn broken(&mut self) -> Option<String> {
        let broken = self.broken.take_if(|_| self.at == self.filled)?;
        // Nothing proves the earlier records of a member with a wrong checksum.
        self.stops |= std::mem::take(&mut self.stops_if_broken) || self.in_member > 0;
        Some(match self.in_member {
            0 => broken,
            before => {
                format!("{broken}; no checksum proves the {before} records before it in the same compressed data")
            }
        })
    }

    /// Returns whether the file ends here, within a record. If a gzip member with one record ends within it, the file
    /// was not cut: only this record is damaged. A member with several records may have lost some of them.
    fn is_cut(&self) -> bool {
        match self.has_members() {
            true => self.in_member > 0,
            false => self.is_at_end && self.next.is_none(),
        }
    }

    /// Enters the next member after the current one is used up. Returns `false` at the end of the file.
    fn enter_next_member(&mut self) -> bool {
        self.at = self.filled;
        self.in_member = 0;
        self.is_first_member &= self.number == 0;
        self.is_untrusted |= std::mem::take(&mut self.next_is_untrusted);
        match self.next.take() {
            Some(Ok(beginning)) => {
                self.given += beginning as u64;
                self.filled += beginning;
            }
            Some(Err(broken)) => self.broken = Some(broken),
            None => {
                self.has_begun = false;
                return !self.is_at_end;
            }
        }
        true
    }
}

/// Returns the end of a message about a stopped reader.
const TO_SEARCH: &str = ", because nothing says where the next record begins; --resync searches for it";

/// Returns the message part about unread compressed bytes.
pub(crate) fn stopped(offset: u64, unread: u64) -> String {
    match unread {
        0 => String::new(),
        _ => {
            format!("; reading stopped at byte {}: {} bytes are not read{TO_SEARCH}", grouped(offset), grouped(unread))
        }
    }
}

#[cfg(test)]
mod tests;
