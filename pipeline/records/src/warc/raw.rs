//! Reads a WARC file's records with their stored bytes, so that they can be copied unchanged.
//!
//! In a compressed file, each record is a gzip member. It is decompressed to its end to check it, but copied
//! compressed. Bytes are kept until the record is complete. Long records are kept in a temporary file.
//!
//! ```
//! use reptile_records::warc::raw::{NextStored, PlainRecords};
//! use reptile_records::warc::read_date;
//!
//! let record = |date: &str| format!("WARC/1.0\r\nWARC-Date: {date}\r\nContent-Length: 4\r\n\r\ntext\r\n\r\n");
//! let (old, new) = (record("2025-12-31T23:59:59Z"), record("2026-01-01T00:00:00Z"));
//! let archive = [old.as_bytes(), new.as_bytes()].concat();
//!
//! // Copies the records from 2026 on.
//! let since = read_date(b"2026-01-01T00:00:00Z")?;
//! let mut records = PlainRecords::new(&archive[..], false);
//! let mut copied = Vec::new();
//! loop {
//!     match records.next_record()? {
//!         NextStored::Record(record, stored) => {
//!             if record.date.is_some_and(|date| read_date(&date).is_ok_and(|date| date >= since)) {
//!                 stored.copy_to(&mut copied)?;
//!             }
//!         }
//!         NextStored::Damaged(damage) => return Err(damage.detail.into()),
//!         NextStored::Several(number) => return Err(format!("record {number} is not a separate member").into()),
//!         NextStored::End => break,
//!     }
//! }
//! assert_eq!(copied, new.as_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use flate2::Compression;
use flate2::read::GzEncoder;
use tempfile::SpooledTempFile;

use super::records::joined::may_begin_record;
use super::records::{Damage, NextRecord, RECORD_START, Record, Records, stopped};
use crate::gzip::ahead::{Ahead, Chunks, WholeMember};
use crate::gzip::{Member, Unpack, skip_padding, skip_to_member};
use crate::pages::start_bytes;
use crate::place::Place;
use crate::stores::{Object, Reader};
use crate::unpack::{READ_BYTES, START_BYTES, Start, unpack};

/// Maximum size in bytes of a record that is kept in memory. Longer records are kept in a temporary file.
const MAX_WAITING_BYTES: usize = 4 << 20;

/// The next item in a file.
pub enum NextStored {
    /// A complete record.
    Record(Record, Stored),
    /// A damaged record, or bytes outside any record.
    Damaged(Damage),
    /// A gzip member with several records, or a file whose first member ends within a record: they cannot be copied
    /// separately. The number is the first record's.
    Several(u64),
    /// The end of the file.
    End,
}

/// A record's stored bytes.
pub struct Stored {
    bytes: SpooledTempFile,
    len: u64,
}

impl Stored {
    /// Writes the bytes, and returns their number.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be read back or written.
    pub fn copy_to(self, output: &mut impl Write) -> io::Result<u64> {
        io::copy(&mut self.read()?, output)
    }

    /// Writes the bytes as a gzip member. Returns the number of compressed bytes.
    ///
    /// # Errors
    /// Returns an error as [`Stored::copy_to`] does.
    pub fn pack_to(self, output: &mut impl Write) -> io::Result<u64> {
        io::copy(&mut GzEncoder::new(self.read()?, Compression::default()), output)
    }

    fn read(mut self) -> io::Result<impl Read> {
        self.bytes.seek(SeekFrom::Start(0))?;
        Ok(self.bytes.take(self.len))
    }
}

fn waiting() -> SpooledTempFile {
    SpooledTempFile::new(MAX_WAITING_BYTES)
}

/// The stored bytes of an archive.
pub struct ArchiveBytes(ArchiveSource);

enum ArchiveSource {
    /// A file, whose members are decompressed ahead.
    File(Chunks<WholeStart<File>>),
    /// A remote object, whose members are decompressed ahead too.
    Object(Chunks<WholeStart<Reader>>),
    Stdin(BufReader<WholeStart<io::Stdin>>),
    Decompressed(BufReader<Start>),
}

/// A source whose first read returns at least [`START_BYTES`], or everything. Its content is detected by that read,
/// and a pipe or a network file system may return fewer bytes than a record's first words.
struct WholeStart<R> {
    source: R,
    has_begun: bool,
}

impl<R> WholeStart<R> {
    fn new(source: R) -> WholeStart<R> {
        WholeStart { source, has_begun: false }
    }
}

impl<R: Unpack> Unpack for WholeStart<R> {
    fn is_ready(&self) -> bool {
        self.source.is_ready()
    }

    fn discard(&mut self) -> io::Result<u64> {
        self.source.discard()
    }
}

impl<R: Read> Read for WholeStart<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (mut filled, least) = (0, if self.has_begun { 1 } else { START_BYTES.min(buffer.len()) });
        while filled < least {
            match self.source.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.has_begun = true;
        Ok(filled)
    }
}

impl ArchiveBytes {
    /// Opens a file or a remote object.
    ///
    /// # Errors
    /// Returns an error if it does not exist or is unreadable.
    pub fn open(place: &Place) -> io::Result<ArchiveBytes> {
        Ok(ArchiveBytes(match place {
            Place::Remote(url) => ArchiveSource::Object(Chunks::new(WholeStart::new(Object::open(url)?.into_reader()))),
            Place::Local(path) => ArchiveSource::File(Chunks::new(WholeStart::new(File::open(path)?))),
        }))
    }

    /// Creates a reader of standard input.
    pub fn stdin() -> ArchiveBytes {
        ArchiveBytes(ArchiveSource::Stdin(BufReader::with_capacity(READ_BYTES, WholeStart::new(io::stdin()))))
    }

    /// Decompresses all layers, such as zstd. The records' stored bytes are then the decompressed ones.
    ///
    /// # Errors
    /// Returns an error if the data is damaged at its start.
    pub fn decompressed(self) -> io::Result<ArchiveBytes> {
        let (source, _) = unpack(Start::read(Box::new(self))?)?;
        Ok(ArchiveBytes(ArchiveSource::Decompressed(BufReader::with_capacity(READ_BYTES, source))))
    }

    fn source(&mut self) -> &mut dyn BufRead {
        match &mut self.0 {
            ArchiveSource::File(file) => file,
            ArchiveSource::Object(object) => object,
            ArchiveSource::Stdin(stdin) => stdin,
            ArchiveSource::Decompressed(source) => source,
        }
    }
}

impl Read for ArchiveBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.source().read(buffer)
    }
}

impl Unpack for ArchiveBytes {}

impl BufRead for ArchiveBytes {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source().fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.source().consume(len);
    }
}

impl Ahead for ArchiveBytes {
    fn take_member(&mut self) -> Option<WholeMember> {
        match &mut self.0 {
            ArchiveSource::File(file) => file.take_member(),
            ArchiveSource::Object(object) => object.take_member(),
            ArchiveSource::Stdin(_) | ArchiveSource::Decompressed(_) => None,
        }
    }
}

/// Reads records from a file with one gzip member per record.
pub struct PackedRecords<R> {
    source: R,
    /// Whether to search for the next member if the current one's end is unknown.
    searches: bool,
    is_untrusted: bool,
    number: u64,
    /// Number of compressed bytes before the next member.
    offset: u64,
    /// A member reader's memory, for reuse by the next one.
    memory: Vec<u8>,
    /// Whether records get the start of their block.
    keeps_starts: bool,
}

impl<R: BufRead + Send + Ahead> PackedRecords<R> {
    /// Creates a reader that starts at the first compressed byte.
    pub fn new(source: R, searches: bool) -> PackedRecords<R> {
        let memory = Vec::new();
        PackedRecords { source, searches, is_untrusted: false, number: 0, offset: 0, memory, keeps_starts: false }
    }

    /// Keeps the start of each page's block in [`Record::block_start`].
    #[must_use]
    pub fn with_block_starts(self) -> PackedRecords<R> {
        PackedRecords { keeps_starts: true, ..self }
    }

    /// Returns the next record.
    ///
    /// # Errors
    /// Returns an error if the system cannot read the source or keep its bytes.
    pub fn next_record(&mut self) -> io::Result<NextStored> {
        loop {
            let (padding, has_more) = skip_padding(&mut self.source)?;
            self.offset += padding;
            if !has_more {
                return Ok(NextStored::End);
            }
            if let Some(member) = self.source.take_member() {
                if let Some(next) = self.whole_member(member)? {
                    return Ok(next);
                }
                continue;
            }
            let mut watched = Watched { source: &mut self.source, bytes: waiting(), len: 0, failed: None };
            // Members are copied whole, so searching inside one is useless.
            let member = OneMember(Member::new(&mut watched));
            let mut records = only(member, &mut self.memory, self.keeps_starts);
            let Some(found) = only_record(&mut records)? else {
                return Ok(NextStored::Several(self.number + 1));
            };
            let member = &mut records.source_mut().0;
            // The member's end may be known even if its record is damaged.
            if let Err(error) = io::copy(member, &mut io::sink())
                && error.raw_os_error().is_some()
            {
                return Err(error);
            }
            let is_lost = member.is_lost();
            self.memory = records.into_buffer();
            if let Some(failed) = watched.failed {
                return Err(failed);
            }
            let Watched { bytes, len, .. } = watched;
            self.offset += len;
            if let Some(next) = self.next_of(found, Stored { bytes, len }, is_lost)? {
                return Ok(next);
            }
        }
    }

    /// Returns the record of a member that has already been decompressed, or `None` if it is empty.
    fn whole_member(&mut self, member: WholeMember) -> io::Result<Option<NextStored>> {
        let (mut bytes, len) = (waiting(), member.packed().len() as u64);
        bytes.write_all(member.packed())?;
        let mut records = only(member, &mut self.memory, self.keeps_starts).with_short_reads();
        let Some(found) = only_record(&mut records)? else {
            return Ok(Some(NextStored::Several(self.number + 1)));
        };
        self.memory = records.into_buffer();
        self.offset += len;
        self.next_of(found, Stored { bytes, len }, false)
    }

    /// Returns the result for a member, or `None` if it is empty.
    fn next_of(
        &mut self,
        found: Result<Option<Record>, String>,
        stored: Stored,
        is_lost: bool,
    ) -> io::Result<Option<NextStored>> {
        Ok(match found {
            Ok(None) => None,
            Ok(Some(mut record)) => {
                self.number += 1;
                (record.number, record.is_untrusted) = (self.number, self.is_untrusted);
                Some(NextStored::Record(record, stored))
            }
            Err(_) if self.number == 0 && !is_lost && continues(self.source.fill_buf()?) => {
                Some(NextStored::Several(1))
            }
            Err(detail) => {
                self.number += 1;
                let (more, stops) = if is_lost { self.after_lost_member()? } else { (String::new(), false) };
                Some(NextStored::Damaged(Damage { number: self.number, detail: detail + &more, stops }))
            }
        })
    }
    /// Searches for the next member if requested. Returns text for the message, and whether reading stops before the
    /// end of the data.
    fn after_lost_member(&mut self) -> io::Result<(String, bool)> {
        if self.searches && skip_to_member(&mut self.source)? {
            self.is_untrusted = true;
            return Ok((String::new(), false));
        }
        let unread = io::copy(&mut self.source, &mut io::sink())?;
        Ok((stopped(self.offset, unread), true))
    }
}

/// Returns whether these bytes begin a member that does not begin with a record, and may therefore continue one.
fn continues(packed: &[u8]) -> bool {
    let mut start = [0; RECORD_START.len()];
    Member::new(packed).read(&mut start).is_ok_and(|len| len > 0 && !may_begin_record(&start[..len]))
}

/// Returns a reader for a member's records that uses this memory.
fn only<R: Unpack>(member: R, memory: &mut Vec<u8>, keeps_starts: bool) -> Records<R> {
    let records = Records::with_buffer(member, false, std::mem::take(memory));
    if keeps_starts { records.with_block_starts(start_bytes) } else { records }
}

/// Reads a member's record: `None` if there are several, and otherwise the record, nothing, or a description of the
/// damage.
fn only_record<R: Unpack>(records: &mut Records<R>) -> io::Result<Option<Result<Option<Record>, String>>> {
    Ok(Some(match records.next_record()? {
        NextRecord::Record(record) => match records.next_record()? {
            NextRecord::End => Ok(Some(record)),
            NextRecord::Record(_) => return Ok(None),
            NextRecord::Damaged(damage) => Err(damage.detail),
        },
        NextRecord::Damaged(damage) => Err(damage.detail),
        // Some writers append an empty member to the file.
        NextRecord::End => Ok(None),
    }))
}

/// A source whose consumed bytes are kept.
struct Watched<'s, R> {
    source: &'s mut R,
    bytes: SpooledTempFile,
    len: u64,
    /// The error that prevented bytes from being kept.
    failed: Option<io::Error>,
}

impl<R: BufRead> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.fill_buf()?;
        let len = found.len().min(buffer.len());
        buffer[..len].copy_from_slice(&found[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for Watched<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        // The filled bytes are still in the buffer.
        let kept = self.source.fill_buf().and_then(|found| self.bytes.write_all(found.get(..len).unwrap_or(found)));
        if let Err(error) = kept {
            self.failed.get_or_insert(error);
        }
        self.len += len as u64;
        self.source.consume(len);
    }
}

/// A single gzip member.
pub(super) struct OneMember<R>(pub R);

impl<R: Read> Read for OneMember<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: Read + Send> Unpack for OneMember<R> {
    fn has_members(&self) -> bool {
        true
    }

    fn discard(&mut self) -> io::Result<u64> {
        // The outer reader finds out whether another member follows.
        Ok(0)
    }
}

/// Reads uncompressed records.
pub struct PlainRecords<R> {
    records: Records<KeepingReader<R>>,
    /// The record whose end is still unknown.
    last: Option<Record>,
    /// Damage to report after the record.
    damage: Option<Damage>,
    /// The offset of the first kept byte.
    kept_from: u64,
}

/// A source that keeps the bytes read from it.
struct KeepingReader<R> {
    source: R,
    bytes: SpooledTempFile,
}

impl<R: Read> Read for KeepingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bytes.write_all(&buffer[..read])?;
        Ok(read)
    }
}

impl<R: Read + Send> Unpack for KeepingReader<R> {
    fn discard(&mut self) -> io::Result<u64> {
        // Discards the bytes.
        io::copy(&mut self.source, &mut io::sink())
    }
}

impl<R: Read + Send> PlainRecords<R> {
    /// Creates a reader that starts at the first byte.
    pub fn new(source: R, searches: bool) -> PlainRecords<R> {
        let records = Records::new(KeepingReader { source, bytes: waiting() }, searches);
        PlainRecords { records, last: None, damage: None, kept_from: 0 }
    }

    /// Keeps the start of each page's block in [`Record::block_start`].
    #[must_use]
    pub fn with_block_starts(self) -> PlainRecords<R> {
        PlainRecords { records: self.records.with_block_starts(start_bytes), ..self }
    }

    /// Returns the next record. A record ends where the next one begins.
    ///
    /// # Errors
    /// Returns an error if the system cannot read the source or keep its bytes.
    pub fn next_record(&mut self) -> io::Result<NextStored> {
        if let Some(damage) = self.damage.take() {
            return Ok(NextStored::Damaged(damage));
        }
        loop {
            let next = self.records.next_record()?;
            let next = match next {
                NextRecord::Damaged(damage) if self.last.take_if(|last| last.number == damage.number).is_some() => {
                    return Ok(NextStored::Damaged(damage));
                }
                next => next,
            };
            let end = if matches!(next, NextRecord::End) { self.records.offset() } else { self.records.start() };
            let stored = self.take_until(end)?;
            let (last, following) = match next {
                NextRecord::Record(record) => (self.last.replace(record), None),
                NextRecord::Damaged(damage) => (self.last.take(), Some(damage)),
                NextRecord::End if self.last.is_none() => return Ok(NextStored::End),
                NextRecord::End => (self.last.take(), None),
            };
            match (last, following) {
                (Some(last), following) => {
                    self.damage = following;
                    return Ok(NextStored::Record(last, stored));
                }
                (None, Some(damage)) => return Ok(NextStored::Damaged(damage)),
                // Before the first record, or after a damaged one.
                (None, None) => {}
            }
        }
    }

    /// Returns the bytes up to an offset. Later bytes remain kept.
    fn take_until(&mut self, end: u64) -> io::Result<Stored> {
        let len = end.saturating_sub(self.kept_from);
        self.kept_from = end;
        let kept = &mut self.records.source_mut().bytes;
        let mut rest = Vec::new();
        kept.seek(SeekFrom::Start(len))?;
        kept.read_to_end(&mut rest)?;
        let bytes = std::mem::replace(kept, waiting());
        kept.write_all(&rest)?;
        Ok(Stored { bytes, len })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// Tests that wrapping a file does not hide that its members can be decompressed ahead.
    #[test]
    fn archives_in_files_are_read_ahead() {
        let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        assert!(WholeStart::new(file).is_ready());
        assert!(!WholeStart::new(io::stdin()).is_ready());
    }

    /// Tests that records kept in memory and records in temporary files are copied alike.
    #[test]
    fn records_are_copied_from_memory_and_from_temporary_files() {
        for len in [MAX_WAITING_BYTES - 1, MAX_WAITING_BYTES, MAX_WAITING_BYTES + 1] {
            let header = |block: usize| format!("WARC/1.0\r\nContent-Length: {block:9}\r\n\r\n");
            let block = len - header(0).len() - 4;
            let record = [header(block).as_bytes(), &vec![b'x'; block], b"\r\n\r\n"].concat();
            assert_eq!(record.len(), len);
            let stored = waiting_after(&record);
            assert_eq!(stored.bytes.is_rolled(), len > MAX_WAITING_BYTES);
            let mut records = PlainRecords::new(Cursor::new(&record), false);
            let NextStored::Record(_, stored) = records.next_record().unwrap() else { panic!("{len}") };
            let mut copied = Vec::new();
            assert_eq!(stored.copy_to(&mut copied).unwrap(), len as u64);
            assert!(copied == record);
        }
    }

    fn waiting_after(bytes: &[u8]) -> Stored {
        let mut kept = waiting();
        kept.write_all(bytes).unwrap();
        Stored { bytes: kept, len: bytes.len() as u64 }
    }
}
