//! One member of gzip data, and the readers that know their members.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

/// A member's first bytes: the magic number and the only compression method.
pub const MEMBER_START: [u8; 3] = [0x1f, 0x8b, 8];

/// Length in bytes of a member's trailer: the checksum and the length of its data.
pub(super) const TRAILER_BYTES: usize = 8;

/// Flags in a member's header: header checksum, extra fields, name, comment, and the reserved flags.
pub(super) const HEADER_CRC: u8 = 1 << 1;
pub(super) const EXTRA: u8 = 1 << 2;
pub(super) const NAME: u8 = 1 << 3;
pub(super) const COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;

/// A decompressing reader that knows each byte's member in the compressed data.
pub trait Unpack: Read + Send {
    /// Returns the member number for the last read, whether that returned bytes or an error. Numbers start at 0, and
    /// are always 0 for formats without members.
    fn member(&self) -> u64 {
        0
    }

    /// Returns whether the compressed bytes consist of members with known ends.
    fn has_members(&self) -> bool {
        false
    }

    /// Returns whether the next read after an error continues with later data, because the damaged member's end is
    /// known. Other readers repeat the error.
    fn goes_on(&self) -> bool {
        false
    }

    /// Returns the number of compressed bytes used, or `None` if nothing is compressed.
    fn packed_offset(&mut self) -> Option<u64> {
        None
    }

    /// Returns whether reading never waits for another program, so that bytes may be read before they are needed.
    fn is_ready(&self) -> bool {
        false
    }

    /// Searches for the possible start of a member after an error, and returns whether one was found. Nothing proves
    /// that a member really begins there.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable.
    fn find_member(&mut self) -> io::Result<bool> {
        Ok(false)
    }

    /// Skips at most `most` bytes that are in memory, in the member of the last read, without copying them. Returns the
    /// number of skipped bytes, which may be 0.
    fn skip(&mut self, most: u64) -> u64 {
        let _ = most;
        0
    }

    /// Reads the remaining bytes without decompressing them. Returns their number, as compressed bytes if possible.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable.
    fn discard(&mut self) -> io::Result<u64> {
        io::copy(self, &mut io::sink())
    }
}

impl Unpack for io::Stdin {}
impl Unpack for io::Empty {}
impl Unpack for &[u8] {}
impl<T: AsRef<[u8]> + Send> Unpack for io::Cursor<T> {}

impl Unpack for std::fs::File {
    fn is_ready(&self) -> bool {
        self.metadata().is_ok_and(|found| found.is_file())
    }

    fn discard(&mut self) -> io::Result<u64> {
        // A pipe has no position and must be read.
        match self.stream_position() {
            Ok(position) => Ok(self.seek(SeekFrom::End(0))?.saturating_sub(position)),
            Err(_) => io::copy(self, &mut io::sink()),
        }
    }
}

impl<R: Unpack> Unpack for BufReader<R> {
    fn discard(&mut self) -> io::Result<u64> {
        let buffered = self.buffer().len();
        self.consume(buffered);
        Ok(buffered as u64 + self.get_mut().discard()?)
    }
}

/// A reader of consecutive gzip members. Each member ends with an end of file.
pub struct Member<R> {
    deflate: DeflateDecoder<R>,
    checksum: Crc,
    stage: Stage,
}

/// The reading position within a member.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before the header.
    Start,
    /// In the compressed data.
    Data,
    /// At the member's known end.
    End,
    /// In damaged data with an unknown end.
    Lost,
}

impl<R: BufRead> Member<R> {
    /// Creates a reader for the member at the source's start.
    pub fn new(source: R) -> Member<R> {
        Member { deflate: DeflateDecoder::new(source), checksum: Crc::new(), stage: Stage::Start }
    }

    /// Returns the compressed source. Callers may read from it between members.
    pub fn source(&mut self) -> &mut R {
        self.deflate.get_mut()
    }

    /// Returns whether the member has ended, so that the next compressed byte is outside it.
    pub fn has_ended(&self) -> bool {
        self.stage == Stage::End
    }

    /// Returns whether the member's end is unknown.
    pub fn is_lost(&self) -> bool {
        self.stage == Stage::Lost
    }

    /// Starts the next member at the next unused byte.
    pub fn begin(&mut self) {
        self.deflate.reset_data();
        self.checksum.reset();
        self.stage = Stage::Start;
    }

    /// Reads the member's trailer, and compares it with the data.
    fn trailer(&mut self) -> io::Result<()> {
        let mut trailer = [0; TRAILER_BYTES];
        let source = self.deflate.get_mut();
        let cut = |error| cut(error, "it ends within the checksum and the length at the end of a gzip member");
        source.read_exact(&mut trailer).map_err(cut)?;
        self.stage = Stage::End;
        if trailer != trailer_of(&self.checksum) {
            return Err(damage("the checksum or the length at the end of a gzip member is wrong".into()));
        }
        Ok(())
    }

    /// Reads some data, or the member's end.
    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stage == Stage::Start {
            read_header(self.deflate.get_mut())
                .map_err(|error| cut(error, "it ends within the header of a gzip member"))?;
            self.stage = Stage::Data;
        }
        let len = self.deflate.read(buffer)?;
        match len {
            0 => self.trailer()?,
            _ => self.checksum.update(&buffer[..len]),
        }
        Ok(len)
    }
}

/// Length in bytes of a header without optional fields.
const HEADER_BYTES: usize = 10;

/// Returns whether a member has a header without optional fields, as most have, and removes it.
pub(super) fn split_plain_header(bytes: &mut &[u8]) -> bool {
    let is_plain = bytes.len() >= HEADER_BYTES && bytes.starts_with(&MEMBER_START) && bytes[MEMBER_START.len()] == 0;
    if is_plain {
        *bytes = &bytes[HEADER_BYTES..];
    }
    is_plain
}

/// Reads a member's header.
pub(super) fn read_header(source: &mut impl Read) -> io::Result<()> {
    let mut checksum = Crc::new();
    let mut byte = || -> io::Result<u8> {
        let mut byte = [0];
        source.read_exact(&mut byte)?;
        checksum.update(&byte);
        Ok(byte[0])
    };
    // Byte by byte, so that a search continues directly after the first wrong byte.
    for expected in MEMBER_START {
        let found = byte()?;
        if found != expected {
            return Err(damage(format!("expected a gzip member, found the byte 0x{found:02x}")));
        }
    }
    let flags = byte()?;
    if flags & RESERVED != 0 {
        return Err(damage(format!("a gzip member has the unknown flags 0x{flags:02x}")));
    }
    // Modification time, extra flags and operating system.
    for _ in 0..6 {
        byte()?;
    }
    if flags & EXTRA != 0 {
        let len = u16::from_le_bytes([byte()?, byte()?]);
        for _ in 0..len {
            byte()?;
        }
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            while byte()? != 0 {}
        }
    }
    if flags & HEADER_CRC != 0 {
        let expected = checksum.sum() as u16;
        let mut found = [0; 2];
        source.read_exact(&mut found)?;
        if u16::from_le_bytes(found) != expected {
            return Err(damage("the checksum of a gzip member's header is wrong".into()));
        }
    }
    Ok(())
}

/// Returns the trailer of a member whose data has this checksum.
pub(super) fn trailer_of(checksum: &Crc) -> [u8; TRAILER_BYTES] {
    let mut trailer = [0; TRAILER_BYTES];
    trailer[..4].copy_from_slice(&checksum.sum().to_le_bytes());
    trailer[4..].copy_from_slice(&checksum.amount().to_le_bytes());
    trailer
}

/// Returns the error for damaged data.
fn damage(detail: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, detail)
}

/// Returns the error for data that ends too early, or another error unchanged.
pub(crate) fn cut(error: io::Error, text: &'static str) -> io::Error {
    if error.kind() == ErrorKind::UnexpectedEof { io::Error::new(error.kind(), text) } else { error }
}

impl<R: BufRead> Read for Member<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stage {
            _ if buffer.is_empty() => Ok(0),
            Stage::End => Ok(0),
            Stage::Lost => Err(damage("it is damaged before this".into())),
            Stage::Start | Stage::Data => {
                let read = self.read_some(buffer);
                if let Err(error) = &read
                    && error.kind() != ErrorKind::Interrupted
                    && self.stage != Stage::End
                {
                    self.stage = Stage::Lost;
                }
                read
            }
        }
    }
}
