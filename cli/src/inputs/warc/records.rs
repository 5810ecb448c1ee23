//! The records of a WARC file, one after the other. Source: ISO 28500:2017, section 4.
//!
//! Nothing here knows what the block of a record means. A damaged record is told and passed over: what follows it is
//! found by the next member of packed bytes, or by the next line that starts as a record does.

use std::borrow::Cow;
use std::io::{self, ErrorKind};

use memchr::memchr;

use crate::inputs::gzip::Unpack;

/// Bytes of the header of a record. Crawlers write about a thousand.
pub const MAX_HEADER_BYTES: usize = 64 << 10;

/// Bytes that are read at once.
const READ_BYTES: usize = 1 << 16;

/// How a record begins, whichever the version.
pub const RECORD_START: &[u8] = b"WARC/";

/// Bytes that a block may have beyond its Content-Length: those of a line end, which one crawl (CC-MAIN-2018-34) wrote
/// between header and body and did not count.
const UNCOUNTED_BYTES: usize = 2;

/// The header of a record.
#[derive(Debug, Default)]
pub struct Record {
    /// The place of the record in the file, from 1; damaged records count.
    pub number: u64,
    /// `WARC-Type`, in lower case.
    pub kind: String,
    /// `WARC-Target-URI`, without the angle brackets that some writers put around it.
    pub target: Option<Vec<u8>>,
    /// `WARC-Date`.
    pub date: Option<Vec<u8>>,
    /// `WARC-Truncated`.
    pub truncated: Option<Vec<u8>>,
    /// `Content-Type` of the block.
    pub content_type: Option<Vec<u8>>,
    /// Whether it is a part of a record that goes on elsewhere.
    pub is_segment: bool,
    /// The fields by which records refer to each other.
    pub links: Box<Links>,
    /// Bytes of the block.
    length: u64,
}

/// The fields of a header by which records refer to each other.
#[derive(Debug, Default)]
pub struct Links {
    /// `WARC-Record-ID`.
    pub id: Option<Vec<u8>>,
    /// `WARC-Payload-Digest`: an algorithm and a value.
    pub payload_digest: Option<Vec<u8>>,
    /// `WARC-Profile`, which revisit records have.
    pub profile: Option<Vec<u8>>,
    /// `WARC-Refers-To`: the ID of another record.
    pub refers_to: Option<Vec<u8>>,
    /// `WARC-Refers-To-Target-URI`.
    pub refers_to_target: Option<Vec<u8>>,
    /// `WARC-Refers-To-Date`.
    pub refers_to_date: Option<Vec<u8>>,
}

/// What is next in a file.
pub enum Next {
    /// A record; its block is still to be read.
    Record(Record),
    /// A damaged record, or bytes that belong to no record.
    Damaged(Damage),
    /// Nothing.
    End,
}

/// A record that cannot be read.
#[derive(Debug)]
pub struct Damage {
    /// Its place in the file, from 1.
    pub number: u64,
    /// What is wrong.
    pub detail: String,
}

/// The block of a record.
pub enum Block {
    /// Its bytes; and whether two more were there than its Content-Length says.
    Whole(Vec<u8>, bool),
    /// It has so many bytes, more than the limit.
    TooLarge(u64),
    /// There is no memory for so many bytes.
    NoMemory(u64),
    /// It is not whole.
    Damaged(Damage),
}

/// Reads the records of a file.
pub struct Records<R> {
    source: R,
    /// What was read of the present member; the first `at` bytes are used.
    buffer: Vec<u8>,
    at: usize,
    /// The number of the member that the last read was in.
    member: u64,
    /// Whether the present member has begun, so that what is read of another one is not of it.
    has_begun: bool,
    /// The beginning of the next member, or why it is broken, if it was read already.
    next: Option<Result<Vec<u8>, String>>,
    /// Whether there is nothing more to read.
    is_at_end: bool,
    /// Why the present member ends too early, if it does.
    broken: Option<String>,
    /// The number of records that have begun.
    number: u64,
    /// Bytes of the present block that are not read.
    left: u64,
    /// Bytes that the source has given.
    given: u64,
    /// The offset of the record that began last.
    start: u64,
}

/// How a line ended.
enum LineEnd {
    Lf,
    /// The member, or the file, ended before the line did.
    None,
    TooLong,
}

impl<R: Unpack> Records<R> {
    /// Reads a source from its first byte on.
    pub fn new(source: R) -> Records<R> {
        Records {
            source,
            buffer: Vec::new(),
            at: 0,
            member: 0,
            has_begun: false,
            next: None,
            is_at_end: false,
            broken: None,
            number: 0,
            left: 0,
            given: 0,
            start: 0,
        }
    }

    /// The source.
    pub fn source_mut(&mut self) -> &mut R {
        &mut self.source
    }

    /// Bytes of the source before what is next, if the source has no members.
    pub fn offset(&self) -> u64 {
        self.given - (self.buffer.len() - self.at) as u64
    }

    /// Bytes of the source before the record, or what is taken for one, that began last, if the source has no members.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The next record. The block of the one before is passed over if it was not read.
    ///
    /// # Errors
    /// If the system cannot read the source.
    pub fn next(&mut self) -> io::Result<Next> {
        if self.left > 0 {
            let number = self.number;
            if let Err(detail) = self.skip_block()? {
                return Ok(Next::Damaged(Damage { number, detail }));
            }
        }
        loop {
            self.skip_blank()?;
            if !self.peek(1)?.is_empty() {
                break;
            }
            if let Some(detail) = self.broken() {
                // Of a member that has not begun, nothing is known but that it is damaged.
                self.number += 1;
                self.start = self.offset();
                return Ok(Next::Damaged(Damage { number: self.number, detail }));
            }
            if !self.enter_next_member() {
                return Ok(Next::End);
            }
        }
        self.number += 1;
        self.start = self.offset();
        let number = self.number;
        match self.header()? {
            Ok(record) => {
                self.left = record.length;
                if record.length > 0 {
                    return Ok(Next::Record(record));
                }
                Ok(match self.end_block(&mut Vec::new())? {
                    Ok(_) => Next::Record(record),
                    Err(detail) => Next::Damaged(Damage { number, detail }),
                })
            }
            Err(detail) => {
                self.find_record(&mut Vec::new())?;
                let detail = self.broken().unwrap_or(detail);
                Ok(Next::Damaged(Damage { number, detail }))
            }
        }
    }

    /// The block of the record that was returned last.
    ///
    /// # Errors
    /// If the system cannot read the source.
    pub fn block(&mut self, limit: usize) -> io::Result<Block> {
        let (number, length) = (self.number, self.left);
        let damaged = |detail| Block::Damaged(Damage { number, detail });
        if length > limit as u64 {
            return Ok(self.skip_block()?.map_or_else(damaged, |_| Block::TooLarge(length)));
        }
        let mut block = Vec::new();
        while self.left > 0 {
            let part = self.some_of_block()?;
            if part == 0 {
                return self.cut_block(length).map(damaged);
            }
            if block.try_reserve(part).is_err() {
                return Ok(Block::NoMemory(length));
            }
            block.extend_from_slice(&self.buffer[self.at..self.at + part]);
            self.use_of_block(part);
        }
        Ok(self.end_block(&mut block)?.map_or_else(damaged, |is_longer| Block::Whole(block, is_longer)))
    }

    /// Passes over the block, and says what is wrong with it.
    fn skip_block(&mut self) -> io::Result<Result<(), String>> {
        let length = self.left;
        while self.left > 0 {
            let part = self.some_of_block()?;
            if part == 0 {
                return self.cut_block(length).map(Err);
            }
            self.use_of_block(part);
        }
        Ok(self.end_block(&mut Vec::new())?.map(|_| ()))
    }

    /// How many bytes of the block are in the buffer; 0 where the member or the file ends before the block does.
    fn some_of_block(&mut self) -> io::Result<usize> {
        let found = self.peek(1)?.len() as u64;
        Ok(found.min(self.left) as usize)
    }

    fn use_of_block(&mut self, len: usize) {
        self.at += len;
        self.left -= len as u64;
    }

    /// What is wrong with a block that ends before its length.
    fn cut_block(&mut self, length: u64) -> io::Result<String> {
        let found = length - std::mem::take(&mut self.left);
        let cut = format!("it ends after {found} of the {length} bytes of its block");
        Ok(match self.broken() {
            Some(broken) => format!("{cut}: {broken}"),
            None => cut,
        })
    }

    /// Reads what follows a block up to the next record or member, and adds bytes that were not counted to the block.
    /// Returns whether there were any, or what is wrong.
    fn end_block(&mut self, block: &mut Vec<u8>) -> io::Result<Result<bool, String>> {
        for end in [&b"\r\n\r\n"[..], b"\n\n"] {
            if self.peek(end.len())?.starts_with(end) {
                // Whatever comes now is not of this record.
                self.at += end.len();
                self.peek(1)?;
                return Ok(self.broken().map_or(Ok(false), Err));
            }
        }
        let mut rest = Vec::new();
        let more = self.find_record(&mut rest)?;
        if let Some(broken) = self.broken() {
            return Ok(Err(broken));
        }
        let blank = rest.iter().rev().take_while(|byte| b"\r\n".contains(byte)).count();
        let extra = rest.len() - blank;
        if more == 0 && extra == 0 {
            return Ok(Ok(false));
        }
        if more == 0 && extra <= UNCOUNTED_BYTES && rest.len() <= UNCOUNTED_BYTES + b"\r\n\r\n".len() {
            block.extend_from_slice(&rest[..UNCOUNTED_BYTES.min(rest.len())]);
            return Ok(Ok(true));
        }
        let len = more + extra as u64;
        Ok(Err(format!("{len} bytes follow its block that belong to no record, so its Content-Length is wrong")))
    }

    /// Reads up to the next line that starts as a record does, or to the end of the member. Keeps the first bytes in
    /// `passed`, up to [`MAX_HEADER_BYTES`], and returns how many more there were.
    fn find_record(&mut self, passed: &mut Vec<u8>) -> io::Result<u64> {
        let mut more = 0;
        let mut is_line_start = true;
        loop {
            let found = self.peek(RECORD_START.len())?;
            if found.is_empty() || (is_line_start && found.starts_with(RECORD_START)) {
                return Ok(more);
            }
            let line_end = memchr(b'\n', found);
            let len = line_end.map_or(found.len(), |end| end + 1);
            let kept = len.min(MAX_HEADER_BYTES.saturating_sub(passed.len()));
            passed.extend_from_slice(&found[..kept]);
            more += (len - kept) as u64;
            is_line_start = line_end.is_some();
            self.at += len;
        }
    }

    /// Reads the header of a record, or says what is wrong with it.
    fn header(&mut self) -> io::Result<Result<Record, String>> {
        if !self.peek(RECORD_START.len())?.starts_with(RECORD_START) {
            return Ok(Err("expected \"WARC/\", the start of a record".into()));
        }
        let mut header = Vec::new();
        loop {
            let start = header.len();
            match self.line(&mut header)? {
                LineEnd::None => return Ok(Err("it ends within its header".into())),
                LineEnd::TooLong => {
                    return Ok(Err(format!("its header has more than {MAX_HEADER_BYTES} bytes")));
                }
                LineEnd::Lf if header[start..].trim_ascii().is_empty() => break,
                LineEnd::Lf => {}
            }
        }
        let mut record = Record { number: self.number, ..Record::default() };
        let mut length = None;
        for (name, value) in fields(&header) {
            let value = || Some(value.to_vec());
            match &*name.to_ascii_lowercase() {
                b"warc-type" => {
                    record.kind = String::from_utf8_lossy(&value().unwrap_or_default()).to_ascii_lowercase()
                }
                b"warc-target-uri" => record.target = value().map(without_brackets),
                b"warc-date" => record.date = value(),
                b"warc-truncated" => record.truncated = value(),
                b"warc-segment-number" => record.is_segment = true,
                b"content-type" => record.content_type = value(),
                b"warc-record-id" => record.links.id = value(),
                b"warc-payload-digest" => record.links.payload_digest = value(),
                b"warc-profile" => record.links.profile = value(),
                b"warc-refers-to" => record.links.refers_to = value(),
                b"warc-refers-to-target-uri" => record.links.refers_to_target = value().map(without_brackets),
                b"warc-refers-to-date" => record.links.refers_to_date = value(),
                b"content-length" => length = value(),
                _ => {}
            }
        }
        let Some(length) = length else { return Ok(Err("it has no Content-Length".into())) };
        let number = std::str::from_utf8(&length).ok().and_then(|length| length.parse().ok());
        let Some(number) = number else {
            let shown = crate::inputs::shown::shown(&length);
            return Ok(Err(format!("its Content-Length is \"{shown}\", not a number")));
        };
        record.length = number;
        Ok(Ok(record))
    }

    /// Adds a line with its LF to a header.
    fn line(&mut self, header: &mut Vec<u8>) -> io::Result<LineEnd> {
        loop {
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

    /// Passes over line ends.
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

    /// The next bytes of the present member: at least `len` of them, unless it ends before.
    fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        while self.buffer.len() - self.at < len && self.next.is_none() && !self.is_at_end && self.broken.is_none() {
            self.buffer.drain(..self.at);
            self.at = 0;
            self.read()?;
        }
        Ok(&self.buffer[self.at..])
    }

    /// Reads once, and adds what it gets to the buffer, or keeps it apart if it is the beginning of the next member.
    fn read(&mut self) -> io::Result<()> {
        let filled = self.buffer.len();
        self.buffer.resize(filled + READ_BYTES, 0);
        let read = self.source.read(&mut self.buffer[filled..]);
        let len = *read.as_ref().unwrap_or(&0);
        self.buffer.truncate(filled + len);
        self.given += len as u64;
        let is_other = std::mem::replace(&mut self.member, self.source.member()) != self.member && self.has_begun;
        match read {
            Ok(0) => self.is_at_end = true,
            Ok(_) if is_other => self.next = Some(Ok(self.buffer.split_off(filled))),
            Ok(_) => self.has_begun = true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.raw_os_error().is_some() => return Err(error),
            Err(error) => {
                self.is_at_end = !self.source.goes_on();
                let broken = error.to_string();
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

    /// Why the present member is broken, once it is used up to where it breaks.
    fn broken(&mut self) -> Option<String> {
        self.broken.take_if(|_| self.at == self.buffer.len())
    }

    /// Goes to the next member, once the present one is used up. `false` at the end of the file.
    fn enter_next_member(&mut self) -> bool {
        self.at = 0;
        self.buffer.clear();
        match self.next.take() {
            Some(Ok(beginning)) => self.buffer = beginning,
            Some(Err(broken)) => self.broken = Some(broken),
            None => {
                self.has_begun = false;
                return !self.is_at_end;
            }
        }
        true
    }
}

/// The fields of a header, whose first line is no field. A line that starts with white space goes on with the field
/// before it, and one without a colon is left out.
pub fn fields(header: &[u8]) -> impl Iterator<Item = (&[u8], Cow<'_, [u8]>)> {
    let mut lines = header.split(|&byte| byte == b'\n').skip(1).peekable();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?;
            let Some(colon) = memchr(b':', line) else { continue };
            let mut value = Cow::Borrowed(line[colon + 1..].trim_ascii());
            while let Some(folded) = lines.next_if(|line| matches!(line.first(), Some(b' ' | b'\t'))) {
                let value = value.to_mut();
                value.push(b' ');
                value.extend_from_slice(folded.trim_ascii());
            }
            return Some((line[..colon].trim_ascii(), value));
        }
    })
}

/// A URI without the angle brackets around it.
fn without_brackets(uri: Vec<u8>) -> Vec<u8> {
    match &*uri {
        [b'<', inner @ .., b'>'] => inner.to_vec(),
        _ => uri,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn first(bytes: Vec<u8>, limit: usize) -> Result<Option<Vec<u8>>, String> {
        let mut records = Records::new(Cursor::new(bytes));
        match records.next().unwrap() {
            Next::Record(_) => match records.block(limit).unwrap() {
                Block::Whole(block, _) => Ok(Some(block)),
                Block::TooLarge(_) => Ok(None),
                Block::NoMemory(_) => Err("no memory".into()),
                Block::Damaged(damage) => Err(damage.detail),
            },
            Next::Damaged(damage) => Err(damage.detail),
            Next::End => Err("nothing".into()),
        }
    }

    #[test]
    fn the_limit_of_a_header_holds_at_its_edges() {
        let start = "WARC/1.1\r\nContent-Length: 1\r\nX: ";
        for len in [MAX_HEADER_BYTES - 1, MAX_HEADER_BYTES, MAX_HEADER_BYTES + 1] {
            let value = "x".repeat(len - start.len() - 4);
            let found = first(format!("{start}{value}\r\n\r\ny\r\n\r\n").into_bytes(), 1);
            assert_eq!(found.is_ok(), len <= MAX_HEADER_BYTES, "{found:?}");
        }
    }

    #[test]
    fn the_limit_of_a_block_holds_at_its_edges() {
        for len in [9, 10, 11] {
            let block = "x".repeat(len);
            let found = first(format!("WARC/1.0\nContent-Length: {len}\n\n{block}\n\n").into_bytes(), 10);
            assert_eq!(found, Ok((len <= 10).then(|| block.into_bytes())));
        }
    }

    #[test]
    fn bytes_that_were_not_counted_are_taken_up_to_the_limit() {
        for (more, expected) in [("", "body"), ("\n", "body"), ("a", "bodya\r"), ("ab", "bodyab"), ("a\n", "bodya\n")] {
            let found = first(format!("WARC/1.0\r\nContent-Length: 4\r\n\r\nbody{more}\r\n\r\n").into_bytes(), 10);
            assert_eq!(found, Ok(Some(expected.as_bytes().to_vec())), "{more:?}");
        }
        let found = first(b"WARC/1.0\r\nContent-Length: 4\r\n\r\nbodyabc\r\n\r\n".to_vec(), 10);
        assert!(found.unwrap_err().starts_with("3 bytes follow its block"));
    }

    #[test]
    fn fields_are_read_however_they_are_written() {
        let header = b"first: line\r\nA:1\nb :  2 \r\nno colon\r\nC: x\r\n\ty\r\n z\r\nA: 3\r\n: none\r\n\r\n";
        let found: Vec<(&[u8], Cow<'_, [u8]>)> = fields(header).collect();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let found: Vec<(String, String)> = found.iter().map(|(name, value)| (text(name), text(value))).collect();
        let expected = [("A", "1"), ("b", "2"), ("C", "x y z"), ("A", "3"), ("", "none")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    /// Whatever the bytes are, reading ends, and each record is either read or told.
    #[test]
    fn any_bytes_are_read_to_their_end() {
        let parts: [&[u8]; 8] = [
            b"WARC/1.0\r\n",
            b"Content-Length: 3\r\n",
            b"\r\n",
            b"abc",
            b"\n",
            b"WARC/",
            b"Content-Length: 99\n",
            b"x",
        ];
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as usize
        };
        for _ in 0..20_000 {
            let count = random() % 12;
            let bytes: Vec<u8> = (0..count).flat_map(|_| parts[random() % parts.len()]).copied().collect();
            let mut records = Records::new(Cursor::new(bytes.clone()));
            let mut found = 0;
            while !matches!(records.next().unwrap(), Next::End) {
                if random() % 2 == 0 {
                    records.block(10).unwrap();
                }
                found += 1;
                assert!(found <= count, "{:?}", String::from_utf8_lossy(&bytes));
            }
        }
    }
}
