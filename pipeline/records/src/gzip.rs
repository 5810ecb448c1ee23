//! Reads gzip (RFC 1952) member by member: no read crosses a member boundary, and the boundaries are visible to
//! callers.
//!
//! A crawl archive stores each record in a separate member. A member's end is known once its compressed data has ended,
//! even if the checksum is wrong, so reading resumes with the next member. The end of corrupt data is unknown: bytes
//! that look like the next member may be part of the data, and a website may have written them. Reading therefore stops
//! there, unless the caller searches for the next member ([`Unpack::find_member`]).
//!
//! Zero bytes after a member are padding, as for gzip and Python: tapes and block devices are filled with them, up to
//! [`MAX_PADDING_BYTES`].

pub mod ahead;
mod member;

use std::io::{self, BufRead, ErrorKind, Read};

use ahead::{Ahead, WholeMember};
use member::MEMBER_START;

use crate::text::grouped;
pub(crate) use member::cut;
pub use member::{Member, Unpack};

/// Maximum number of zero bytes after a member. Blocks of tapes and disks are smaller, and reading more would take time
/// without any content.
pub(crate) const MAX_PADDING_BYTES: u64 = 64 << 20;

/// A source that counts the bytes read from it.
pub struct Counted<R> {
    source: R,
    used: u64,
}

impl<R> Counted<R> {
    /// Creates a counter that starts at zero.
    pub fn new(source: R) -> Counted<R> {
        Counted { source, used: 0 }
    }

    /// Returns the number of used bytes.
    pub fn used(&self) -> u64 {
        self.used
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.source.read(buffer)?;
        self.used += len as u64;
        Ok(len)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.used += len as u64;
        self.source.consume(len);
    }
}

impl<R: Ahead> Ahead for Counted<R> {
    fn take_member(&mut self) -> Option<WholeMember> {
        let member = self.source.take_member()?;
        self.used += member.packed().len() as u64;
        Some(member)
    }
}

impl<R: BufRead + Unpack> Unpack for Counted<R> {
    fn discard(&mut self) -> io::Result<u64> {
        self.source.discard()
    }
}

/// A reader that decompresses the members of a gzip file.
pub struct Members<R> {
    member: Member<Counted<R>>,
    /// The member's number.
    number: u64,
    /// The current member, if it has already been decompressed. Then `member` remains at the end of an earlier one.
    whole: Option<WholeMember>,
}

impl<R: BufRead> Members<R> {
    /// Creates a reader for data that begins with a member.
    pub fn new(source: R) -> Members<R> {
        Members { member: Member::new(Counted::new(source)), number: 0, whole: None }
    }
}

/// Fills the buffer if it is empty, and returns whether there are more bytes.
pub fn has_more(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match source.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other.map(|bytes| !bytes.is_empty()),
        }
    }
}

/// Skips zero bytes after a member. Returns their number, and whether there are more bytes.
///
/// # Errors
/// Returns an error if the source is unreadable, or if there are more than [`MAX_PADDING_BYTES`].
pub fn skip_padding(source: &mut impl BufRead) -> io::Result<(u64, bool)> {
    let mut skipped = 0;
    while has_more(source)? {
        let bytes = source.fill_buf()?;
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let is_end = zeros < bytes.len();
        source.consume(zeros);
        skipped += zeros as u64;
        if skipped > MAX_PADDING_BYTES {
            let limit = grouped(MAX_PADDING_BYTES);
            return Err(io::Error::other(format!("more than {limit} zero bytes follow it; remove them")));
        }
        if is_end {
            return Ok((skipped, true));
        }
    }
    Ok((skipped, false))
}

/// Skips to the next bytes that may start a member, and leaves them unread. At the buffered data's end, a partial match
/// is enough.
pub fn skip_to_member(source: &mut impl BufRead) -> io::Result<bool> {
    while has_more(source)? {
        let bytes = source.fill_buf()?;
        let may_start = |at: &usize| bytes[*at..].iter().zip(MEMBER_START).all(|(&found, expected)| found == expected);
        let start = memchr::memchr_iter(MEMBER_START[0], bytes).find(may_start);
        let skipped = start.unwrap_or(bytes.len());
        source.consume(skipped);
        if start.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

impl<R: BufRead + Ahead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(whole) = &mut self.whole {
                match whole.read(buffer)? {
                    0 => self.whole = None,
                    len => return Ok(len),
                }
            }
            if self.member.has_ended() {
                if !skip_padding(self.member.source())?.1 {
                    return Ok(0);
                }
                self.number += 1;
                self.whole = self.member.source().take_member();
                if self.whole.is_some() {
                    continue;
                }
                self.member.begin();
            }
            match self.member.read(buffer)? {
                0 => {}
                len => return Ok(len),
            }
        }
    }
}

impl<R: BufRead + Unpack + Ahead> Unpack for Members<R> {
    fn member(&self) -> u64 {
        self.number
    }

    fn has_members(&self) -> bool {
        true
    }

    fn goes_on(&self) -> bool {
        self.member.has_ended()
    }

    fn packed_offset(&mut self) -> Option<u64> {
        Some(self.member.source().used())
    }

    fn skip(&mut self, most: u64) -> u64 {
        self.whole.as_mut().map_or(0, |whole| whole.skip(most))
    }

    fn find_member(&mut self) -> io::Result<bool> {
        let is_found = skip_to_member(self.member.source())?;
        if is_found {
            self.member.begin();
            self.number += 1;
        }
        Ok(is_found)
    }

    fn discard(&mut self) -> io::Result<u64> {
        self.member.source().discard()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{BufReader, Write};

    use flate2::Crc;

    use super::member::{COMMENT, EXTRA, HEADER_CRC, NAME};
    use super::*;

    pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns each member's readable bytes, and whether the member is complete, and the number of unread compressed
    /// bytes.
    fn read(packed: &[u8], buffered: usize, at_once: usize, searches: bool) -> (Vec<(Vec<u8>, bool)>, u64) {
        let mut members = Members::new(BufReader::with_capacity(buffered, packed));
        let mut found: Vec<(u64, Vec<u8>, bool)> = vec![(0, Vec::new(), true)];
        let mut buffer = vec![0; at_once];
        loop {
            let read = members.read(&mut buffer);
            if !matches!(read, Ok(0)) && found.last().unwrap().0 != members.member() {
                found.push((members.member(), Vec::new(), true));
            }
            match read {
                Ok(0) => break,
                Ok(read) => found.last_mut().unwrap().1.extend_from_slice(&buffer[..read]),
                Err(_) => {
                    found.last_mut().unwrap().2 = false;
                    if !(members.goes_on() || searches && members.find_member().unwrap()) {
                        assert!(members.read(&mut buffer).is_err(), "an error is repeated");
                        break;
                    }
                }
            }
        }
        let used = members.packed_offset().unwrap();
        let unread = members.discard().unwrap();
        assert_eq!(used + unread, packed.len() as u64);
        (found.into_iter().map(|(_, bytes, is_whole)| (bytes, is_whole)).collect(), unread)
    }

    #[test]
    fn reading_resumes_only_after_a_member_with_a_known_end() {
        let texts: Vec<Vec<u8>> = (0..5_u32).map(|n| (0..400).flat_map(|i| (i * n).to_le_bytes()).collect()).collect();
        let packed: Vec<Vec<u8>> = texts.iter().map(|text| gzip(text)).collect();
        let all = packed.concat();
        for (buffered, at_once) in [(1 << 16, 1 << 16), (7, 1 << 16), (1, 3), (100, 100)] {
            let whole = read(&all, buffered, at_once, false);
            assert_eq!(whole, (texts.iter().map(|text| (text.clone(), true)).collect::<Vec<_>>(), 0));
            for damaged in 0..packed.len() {
                let len = packed[damaged].len();
                // The magic number, the flags, the data, the checksum and the length.
                for (at, has_end) in [(0, false), (3, false), (len - 7, true), (len - 1, true)] {
                    for searches in [false, true] {
                        let mut bytes = packed.clone();
                        bytes[damaged][at] ^= 0xf5;
                        let (found, unread) = read(&bytes.concat(), buffered, at_once, searches);
                        let what = format!("{damaged} damaged at {at}, {buffered} {at_once} {searches}: {found:?}");
                        assert!(found.iter().any(|(_, is_whole)| !is_whole), "{what}");
                        let read = if has_end || searches { texts.len() } else { damaged };
                        for (number, text) in texts[..read].iter().enumerate().filter(|(n, _)| *n != damaged) {
                            let is_there = found.iter().any(|(bytes, is_whole)| bytes == text && *is_whole);
                            assert!(is_there, "{number}: {what}");
                        }
                        assert_eq!(unread > 0, !has_end && !searches, "{what}");
                    }
                }
            }
        }
    }

    /// Tests that a damaged member hides an uncompressed member inside it, which any website can write.
    #[test]
    fn members_within_a_damaged_member_are_not_read() {
        let inner = gzip(b"forged");
        let mut outer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        outer.write_all(&inner).unwrap();
        let mut outer = outer.finish().unwrap();
        // Changes the first block's type to an invalid one.
        outer[10] |= 0b110;
        let packed = [&outer[..], &gzip(b"after")].concat();
        assert_eq!(read(&packed, 100, 100, false), (vec![(Vec::new(), false)], packed.len() as u64 - 11));
        let (found, _) = read(&packed, 100, 100, true);
        assert!(found.contains(&(b"forged".to_vec(), true)), "{found:?}");
    }

    #[test]
    fn headers_with_every_field_are_read() {
        let plain = gzip(b"text");
        let build = |flags: u8, fields: &[u8]| [&plain[..3], &[flags], &plain[4..10], fields, &plain[10..]].concat();
        let mut crc = Crc::new();
        crc.update(&build(HEADER_CRC, b"")[..10]);
        let crc = (crc.sum() as u16).to_le_bytes();
        for (packed, is_whole) in [
            (build(0, b""), true),
            (build(EXTRA, b"\x03\0abc"), true),
            (build(NAME, b"name\0"), true),
            (build(EXTRA | NAME | COMMENT, b"\0\0name\0comment\0"), true),
            (build(HEADER_CRC, &crc), true),
            (build(HEADER_CRC, &[crc[0] ^ 1, crc[1]]), false),
            (build(1 << 5, b""), false),
        ] {
            assert_eq!(read(&packed, 3, 100, false).0[0].1, is_whole, "{packed:?}");
        }
    }

    #[test]
    fn padding_is_skipped_up_to_the_limit() {
        let packed = gzip(b"text");
        for (end, expected) in [(&b""[..], &b"text"[..]), (&packed, b"texttext")] {
            for padding in [0, MAX_PADDING_BYTES - 1, MAX_PADDING_BYTES, MAX_PADDING_BYTES + 1] {
                let padded = packed.chain(io::repeat(0).take(padding)).chain(end);
                let mut unpacked = Vec::new();
                let read = Members::new(BufReader::with_capacity(1 << 16, padded)).read_to_end(&mut unpacked);
                match read {
                    Ok(_) => assert!(padding <= MAX_PADDING_BYTES && unpacked == expected, "{padding}"),
                    Err(error) => {
                        assert!(
                            padding > MAX_PADDING_BYTES && error.to_string().contains("67,108,864 zero"),
                            "{error}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn truncated_members_are_errors_at_every_length() {
        let packed = [gzip(b"first"), gzip(b"second")].concat();
        let first = gzip(b"first").len();
        for len in 0..packed.len() {
            let mut unpacked = Vec::new();
            let read = Members::new(&packed[..len]).read_to_end(&mut unpacked);
            assert_eq!(read.is_ok(), len == first, "{len}");
        }
    }
}
