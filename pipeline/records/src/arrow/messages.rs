//! The messages of an Arrow IPC stream or file.
//!
//! A file is read through its footer, because its messages may have any order, and other programs read the batches that
//! the footer lists. In a pipe, a file is read from start to end, like a stream, and its footer is compared with the
//! messages before it.
//!
//! Lengths are checked before anything is allocated for them. The crate `arrow-ipc` decodes the checked messages.

use std::io::{self, Read};

use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{
    Block, Footer, Message, MessageHeader, RecordBatch, root_as_footer_with_opts, root_as_message_with_opts,
};
use arrow_schema::{ArrowError, Schema};
use flatbuffers::VerifierOptions;

use super::limits::{
    MAX_BATCH_ROWS, MAX_BODY_BYTES, MAX_FILE_BATCHES, MAX_METADATA_BYTES, MAX_METADATA_DEPTH, MAX_METADATA_TABLES,
};
use crate::batches::guard::guarded;
use crate::batches::limits::within;
use crate::magic::{ARROW_CONTINUATION, ARROW_FILE, is_arrow_file};
use crate::ranged::Ranged;

/// Length in bytes of the magic bytes at a file's start, with the least padding.
const START_BYTES: usize = 8;

/// Length in bytes of a footer's length and the magic bytes at a file's end.
const FOOTER_END_BYTES: usize = 10;

/// Maximum length in bytes of the magic bytes at a file's start, with the padding that aligns the first message.
const MAX_START_BYTES: u64 = 64;

/// Maximum memory in bytes that is reserved for a message before its bytes arrive.
const RESERVED_BYTES: usize = 16 << 20;

/// Size in bytes of the length before each compressed buffer.
const PREFIX_BYTES: u64 = 8;

/// The length before a buffer that is not compressed, although others in its message are.
const NOT_COMPRESSED: i64 = -1;

/// A result whose error text continues a sentence that begins with the input's path.
type MessageResult<T> = Result<T, String>;

/// An encoded message. Its metadata is a valid flatbuffer.
pub struct Encoded {
    metadata: Vec<u8>,
    pub body: Buffer,
}

impl Encoded {
    /// Returns the message's metadata.
    ///
    /// # Errors
    /// Returns an error if the metadata is damaged or over a limit.
    pub fn message(&self) -> MessageResult<Message<'_>> {
        root_as_message_with_opts(&options(), &self.metadata).map_err(|error| damaged(&error.to_string()))
    }
}

/// Returns the limits for metadata.
fn options() -> VerifierOptions {
    VerifierOptions { max_depth: MAX_METADATA_DEPTH, max_tables: MAX_METADATA_TABLES, ..VerifierOptions::default() }
}

/// Returns the message for damaged data.
pub fn damaged(text: &str) -> String {
    format!("is damaged Arrow IPC data: {}", text.lines().next().unwrap_or_default().trim_end_matches([' ', ':']))
}

/// The remaining messages of a stream or file.
pub enum Messages {
    /// Messages from start to end, even of a file in a pipe.
    Sequence(Sequence),
    /// The messages that a file's footer lists. They may be anywhere in the file.
    Listed(ListedMessages),
}

impl Messages {
    /// Begins to read a stream, or a file if it starts with the magic bytes.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable or too short.
    pub fn of_source(mut source: Box<dyn Read + Send>) -> MessageResult<Messages> {
        let mut start = [0; START_BYTES];
        let read = read_up_to(&mut source, &mut start)?;
        let start = &start[..read];
        if is_arrow_file(start) && read == START_BYTES {
            return Ok(Messages::Sequence(Sequence { source, position: read as u64, batches: Some(Vec::new()) }));
        }
        let source = Box::new(io::Cursor::new(start.to_vec()).chain(source));
        Ok(Messages::Sequence(Sequence { source, position: 0, batches: None }))
    }

    /// Reads a file's footer.
    ///
    /// # Errors
    /// Returns an error if the footer is missing, damaged or over a limit, or if it lists other bytes than the file has.
    pub fn of_file(file: Ranged) -> MessageResult<Messages> {
        let end = file.len().min((MAX_METADATA_BYTES + START_BYTES) as u64);
        let tail = |len: u64| file.at(file.len() - len, len as usize).map_err(unreadable);
        let last = tail(end.min(FOOTER_END_BYTES as u64))?;
        let len = footer_len(&last)?.saturating_add(FOOTER_END_BYTES);
        within(|| "bytes of its footer:".into(), len as u64, (MAX_METADATA_BYTES + START_BYTES) as u64)?;
        let footer = tail((len as u64).min(file.len()))?;
        let (schema, blocks) = {
            let footer = footer_of(&footer)?;
            let schema = schema_of(footer.schema().ok_or_else(|| damaged("its footer has no schema"))?)?;
            let batches = footer.recordBatches().unwrap_or_default();
            within(|| "record batches in the file:".into(), batches.len() as u64, MAX_FILE_BATCHES as u64)?;
            (schema, footer.dictionaries().unwrap_or_default().iter().chain(&batches).copied().collect::<Vec<Block>>())
        };
        let lengths =
            blocks.iter().map(|block| length_of(block).map(|(_, metadata, body)| metadata.saturating_add(body)));
        let listed = lengths.sum::<MessageResult<u64>>()?;
        if listed > file.len() {
            return Err(damaged("its footer lists more bytes than the file has"));
        }
        Ok(Messages::Listed(ListedMessages { file, schema: Some(schema), blocks: blocks.into_iter() }))
    }

    /// Returns whether this is a file.
    pub fn is_file(&self) -> bool {
        match self {
            Messages::Sequence(sequence) => sequence.is_file(),
            Messages::Listed(_) => true,
        }
    }

    /// Returns the number of bytes that were read, or that a file has.
    pub fn position(&self) -> u64 {
        match self {
            Messages::Sequence(sequence) => sequence.position,
            Messages::Listed(listed) => listed.file.len(),
        }
    }

    /// Returns the schema. Call it once, before the first message.
    ///
    /// # Errors
    /// Returns an error if there is none, or if it is damaged or not supported.
    pub fn schema(&mut self) -> MessageResult<Schema> {
        let sequence = match self {
            Messages::Listed(listed) => return listed.schema.take().ok_or_else(|| damaged("it has no schema")),
            Messages::Sequence(sequence) => sequence,
        };
        let encoded = sequence.next()?.ok_or_else(|| damaged("it has no schema"))?;
        let message = encoded.message()?;
        schema_of(message.header_as_schema().ok_or_else(|| damaged("it does not start with a schema"))?)
    }

    /// Returns the next message, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable, if it ends before its end marker, or if a message is over a limit.
    pub fn next(&mut self) -> MessageResult<Option<Encoded>> {
        match self {
            Messages::Sequence(sequence) => sequence.next(),
            Messages::Listed(listed) => listed.next(),
        }
    }
}

/// The remaining messages that a file's footer lists.
pub struct ListedMessages {
    file: Ranged,
    schema: Option<Schema>,
    blocks: std::vec::IntoIter<Block>,
}

impl ListedMessages {
    fn next(&mut self) -> MessageResult<Option<Encoded>> {
        let Some(block) = self.blocks.next() else { return Ok(None) };
        let (start, metadata_len, body_len) = length_of(&block)?;
        let read = |start: u64, len: u64| match start.checked_add(len).is_some_and(|end| end <= self.file.len()) {
            true => self.file.at(start, len as usize).map_err(unreadable),
            false => Err(damaged("its footer lists a message after the end of the file")),
        };
        let what = || format!("bytes of metadata in the message at byte {start}:");
        within(what, metadata_len, (MAX_METADATA_BYTES + START_BYTES) as u64)?;
        within(|| format!("bytes in the message at byte {start}:"), body_len, MAX_BODY_BYTES)?;
        let mut metadata = read(start, metadata_len)?;
        // The marker and the length, which is the rest of the metadata.
        if metadata.len() < START_BYTES || metadata[..4] != ARROW_CONTINUATION {
            return Err(format!("has no message at byte {start}: it is damaged"));
        }
        metadata.drain(..START_BYTES);
        let encoded = Encoded { metadata, body: Buffer::from_vec(read(start + metadata_len, body_len)?) };
        let len = encoded.message()?.bodyLength();
        if u64::try_from(len) != Ok(body_len) {
            return Err(damaged(&format!("the message at byte {start} has another length than its footer lists")));
        }
        Ok(Some(encoded))
    }
}

/// Returns a listed message's start, and the lengths of its metadata and body.
fn length_of(block: &Block) -> MessageResult<(u64, u64, u64)> {
    let numbers = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()].map(u64::try_from);
    match numbers {
        [Ok(start), Ok(metadata), Ok(body)] => Ok((start, metadata, body)),
        _ => Err(damaged("its footer has a negative length")),
    }
}

/// Decodes a schema.
fn schema_of(schema: arrow_ipc::Schema<'_>) -> MessageResult<Schema> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err("has big-endian numbers, which are not read".into());
    }
    guarded(|| -> Result<_, ArrowError> { try_fb_to_schema(schema) }).map_err(|text| damaged(&plain(&text)))
}

/// Removes the error kind at the start of the crate's messages.
pub fn plain(text: &str) -> String {
    let kinds = ["Ipc error: ", "Invalid argument error: ", "Parser error: ", "Schema error: "];
    kinds.iter().find_map(|kind| text.strip_prefix(kind)).unwrap_or(text).to_owned()
}

/// The remaining messages of a stream, or of a file that is read from start to end.
pub struct Sequence {
    source: Box<dyn Read + Send>,
    /// The number of bytes read.
    position: u64,
    /// The offsets of a file's record batches, or `None` for a stream.
    batches: Option<Vec<u64>>,
}

impl Sequence {
    fn is_file(&self) -> bool {
        self.batches.is_some()
    }

    /// Returns the next message, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable, if it ends before its end marker, or if a message is over a limit.
    pub fn next(&mut self) -> MessageResult<Option<Encoded>> {
        let (mut start, mut marker) = (self.position, self.word("the end-of-stream marker")?);
        while self.is_file() && marker == [0; 4] && self.position <= MAX_START_BYTES {
            (start, marker) = (self.position, self.word("the end-of-stream marker")?);
        }
        if marker != ARROW_CONTINUATION {
            let file = if self.is_file() { ", or its messages are in another order; save it as a file" } else { "" };
            return Err(format!(
                "has no message at byte {start}: it is damaged, or in the format from before Arrow 0.15{file}"
            ));
        }
        let len = u32::from_le_bytes(self.word("the length of a message")?) as usize;
        if len == 0 {
            self.end()?;
            return Ok(None);
        }
        let what = || format!("bytes of metadata in the message at byte {start}:");
        within(what, len as u64, MAX_METADATA_BYTES as u64)?;
        let metadata = self.bytes(len)?;
        let mut encoded = Encoded { metadata, body: Buffer::from_vec(Vec::<u8>::new()) };
        let message = encoded.message()?;
        let is_batch = message.header_type() == MessageHeader::RecordBatch;
        let len = u64::try_from(message.bodyLength()).map_err(|_| damaged("a message has a negative length"))?;
        within(|| format!("bytes in the message at byte {start}:"), len, MAX_BODY_BYTES)?;
        encoded.body = Buffer::from_vec(self.bytes(len as usize)?);
        if let Some(batches) = self.batches.as_mut().filter(|_| is_batch) {
            batches.push(start);
            within(|| "record batches in the file:".into(), batches.len() as u64, MAX_FILE_BATCHES as u64)?;
        }
        Ok(Some(encoded))
    }

    /// Reads four bytes.
    fn word(&mut self, what: &str) -> MessageResult<[u8; 4]> {
        let mut word = [0; 4];
        let read = read_up_to(&mut self.source, &mut word)?;
        self.position += read as u64;
        if read == word.len() { Ok(word) } else { Err(cut_off(what)) }
    }

    /// Reads a number of bytes. Memory grows with the bytes that arrive, because a stated length may be wrong.
    fn bytes(&mut self, len: usize) -> MessageResult<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len.min(RESERVED_BYTES));
        let read = self.source.by_ref().take(len as u64).read_to_end(&mut bytes);
        self.position += bytes.len() as u64;
        match read.map_err(unreadable)? {
            read if read == len => Ok(bytes),
            _ => Err(cut_off("the end of a message")),
        }
    }

    /// Checks what follows the end marker: nothing in a stream, and the footer in a file.
    fn end(&mut self) -> MessageResult<()> {
        let limit = MAX_METADATA_BYTES + START_BYTES;
        let Some(batches) = &self.batches else {
            return match read_up_to(&mut self.source, &mut [0])? {
                0 => Ok(()),
                _ => Err(format!("has more data after its end-of-stream marker at byte {}", self.position)),
            };
        };
        let mut footer = Vec::new();
        self.source.by_ref().take(limit as u64 + 1).read_to_end(&mut footer).map_err(unreadable)?;
        within(|| "bytes of its footer:".into(), footer.len() as u64, limit as u64)?;
        check_footer(footer_of(&footer)?, batches)
    }
}

/// Returns the length of a file's footer, from the bytes after it.
fn footer_len(last: &[u8]) -> MessageResult<usize> {
    let magic = last.strip_suffix(ARROW_FILE).ok_or_else(|| cut_off("the magic bytes at the end of the file"))?;
    magic.last_chunk().map(|len| u32::from_le_bytes(*len) as usize).ok_or_else(too_long)
}

fn too_long() -> String {
    damaged("its footer is longer than the rest of the file")
}

/// Decodes the footer at the end of some bytes.
fn footer_of(bytes: &[u8]) -> MessageResult<Footer<'_>> {
    let len = footer_len(bytes)?;
    let end = bytes.len() - FOOTER_END_BYTES;
    let footer = end.checked_sub(len).and_then(|start| bytes.get(start..end)).ok_or_else(too_long)?;
    root_as_footer_with_opts(&options(), footer).map_err(|error| damaged(&error.to_string()))
}

/// Checks that a footer lists the record batches that were read, in their order.
fn check_footer(footer: Footer<'_>, batches: &[u64]) -> MessageResult<()> {
    let listed = footer.recordBatches().unwrap_or_default();
    if listed.len() != batches.len() {
        let message = format!("its footer lists {} record batches, and the file has {}", listed.len(), batches.len());
        return Err(damaged(&message));
    }
    match listed.iter().zip(batches).position(|(block, &start)| u64::try_from(block.offset()) != Ok(start)) {
        None => Ok(()),
        Some(at) => Err(damaged(&format!("its footer lists another record batch {}", at + 1))),
    }
}

/// Checks a batch's stated lengths against its body, and against the limits.
///
/// # Errors
/// Returns an error if a length is negative, if a buffer ends after the body, or if lengths are over a limit.
pub fn check_batch(batch: RecordBatch<'_>, body: &[u8]) -> MessageResult<()> {
    let lengths = batch.nodes().into_iter().flatten().flat_map(|node| [node.length(), node.null_count()]);
    for len in [batch.length()].into_iter().chain(lengths) {
        let len = u64::try_from(len).map_err(|_| damaged("an array has a negative length"))?;
        within(|| "rows in a record batch:".into(), len, MAX_BATCH_ROWS)?;
    }
    let is_compressed = batch.compression().is_some();
    let (mut stored, mut unpacked) = (0_u64, 0_u64);
    for buffer in batch.buffers().into_iter().flatten() {
        let range = u64::try_from(buffer.offset()).ok().zip(u64::try_from(buffer.length()).ok());
        let range = range.and_then(|(start, len)| Some((start, start.checked_add(len)?)));
        let Some((start, end)) = range.filter(|&(_, end)| end <= body.len() as u64) else {
            return Err(damaged("a buffer ends after its message"));
        };
        stored += end - start;
        let bytes = &body[start as usize..end as usize];
        unpacked = unpacked.saturating_add(if is_compressed { unpacked_bytes(bytes)? } else { end - start });
    }
    // Buffers do not overlap, so that a small body cannot become many large arrays.
    if stored > body.len() as u64 {
        return Err(damaged("its buffers overlap"));
    }
    within(|| "bytes in a record batch without compression:".into(), unpacked, MAX_BODY_BYTES)
}

/// Returns the stated size of a compressed buffer's content.
fn unpacked_bytes(bytes: &[u8]) -> MessageResult<u64> {
    let Some((prefix, _)) = bytes.split_first_chunk() else {
        return if bytes.is_empty() { Ok(0) } else { Err(damaged("a compressed buffer has no length")) };
    };
    match i64::from_le_bytes(*prefix) {
        NOT_COMPRESSED => Ok(bytes.len() as u64 - PREFIX_BYTES),
        len => u64::try_from(len).map_err(|_| damaged("a compressed buffer has a negative length")),
    }
}

/// Reads until the buffer is full or the source ends. Returns the number of bytes.
fn read_up_to(source: &mut dyn Read, buffer: &mut [u8]) -> MessageResult<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
    Ok(filled)
}

fn unreadable(error: io::Error) -> String {
    format!("cannot be read: {error}")
}

fn cut_off(what: &str) -> String {
    damaged(&format!("it ends before {what}; it may be cut off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the error for a source.
    fn error_of(bytes: Vec<u8>) -> Option<String> {
        let mut messages = Messages::of_source(Box::new(io::Cursor::new(bytes))).unwrap();
        loop {
            match messages.next() {
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(error) => return Some(error),
            }
        }
    }

    #[test]
    fn lengths_are_checked_before_memory_is_reserved() {
        let end = [&ARROW_CONTINUATION[..], &[0; 4]].concat();
        let of = |len: u32| [&ARROW_CONTINUATION[..], &len.to_le_bytes(), &[0; 8]].concat();
        let limit = MAX_METADATA_BYTES as u32;
        for (bytes, expected) in [
            (end.clone(), None),
            ([&end[..], b"x"].concat(), Some("has more data after its end-of-stream marker at byte 8")),
            (Vec::new(), Some("it ends before the end-of-stream marker")),
            (ARROW_CONTINUATION.to_vec(), Some("it ends before the length of a message")),
            (vec![1, 0, 0, 0, 0], Some("has no message at byte 0")),
            (of(limit - 1), Some("it ends before the end of a message")),
            (of(limit), Some("it ends before the end of a message")),
            (of(limit + 1), Some("bytes of metadata in the message at byte 0: 16777217; the limit is 16777216")),
            (of(8), Some("is damaged Arrow IPC data: ")),
            (ARROW_FILE.to_vec(), Some("has no message at byte 0")),
            ([ARROW_FILE, &[0; 2], &end].concat(), Some("it ends before the magic bytes at the end of the file")),
        ] {
            match (error_of(bytes), expected) {
                (None, None) => {}
                (Some(found), Some(expected)) => assert!(found.contains(expected), "{found}"),
                (found, expected) => panic!("{found:?}, expected {expected:?}"),
            }
        }
    }
}
