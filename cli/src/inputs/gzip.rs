//! gzip, member by member: reading goes on after a damaged member, and a read never crosses from one member to the next.
//!
//! A crawl archive has each record in a member of its own, so damage in one costs that record and no other.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::GzDecoder;

/// The first bytes of a member: its magic number and its only method of compression.
const MEMBER_START: [u8; 3] = [0x1f, 0x8b, 8];

/// A reader of unpacked bytes that knows in which member of the packed bytes each begins.
pub trait Unpack: Read + Send {
    /// The number of the member that the last read was in, whether it gave bytes or an error, counted from 0; always 0
    /// where packed bytes have no members.
    fn member(&self) -> u64 {
        0
    }

    /// Whether the reader skips what is damaged: the next read after an error gives what follows. Other readers may repeat
    /// the error.
    fn goes_on(&self) -> bool {
        false
    }
}

impl Unpack for io::Stdin {}
impl Unpack for std::fs::File {}
impl Unpack for io::Empty {}
impl<T: AsRef<[u8]> + Send> Unpack for io::Cursor<T> {}

/// Unpacks gzip. An error in a member is given once; the reads after it go on with the next member, if there is one.
pub struct Members<R> {
    /// Absent only while it is exchanged.
    state: Option<State<R>>,
    /// The number of the member.
    number: u64,
}

enum State<R> {
    /// In a member.
    Inside(Box<GzDecoder<R>>),
    /// Behind a member that is whole.
    Behind(R),
    /// In a member that is damaged.
    Damaged(R),
}

impl<R: BufRead> Members<R> {
    /// Unpacks what begins with a member.
    pub fn new(source: R) -> Members<R> {
        Members { state: Some(State::Inside(Box::new(GzDecoder::new(source)))), number: 0 }
    }

    /// Goes to the next member. `false` at the end of the packed bytes.
    fn begin_next(&mut self, mut source: R, is_damaged: bool) -> io::Result<bool> {
        let has_next = if is_damaged { skip_to_member(&mut source) } else { has_more(&mut source) };
        let is_there = matches!(has_next, Ok(true));
        self.number += u64::from(is_there);
        self.state = Some(match is_there {
            true => State::Inside(Box::new(GzDecoder::new(source))),
            false if is_damaged => State::Damaged(source),
            false => State::Behind(source),
        });
        has_next
    }
}

/// Reads on if nothing is buffered, and says whether there is anything.
pub fn has_more(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match source.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other.map(|bytes| !bytes.is_empty()),
        }
    }
}

/// Skips to the next bytes that a member may start with, and leaves them unread. At the end of what is buffered, the first
/// of them are enough.
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

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let has_next = match self.state.take() {
                Some(State::Inside(mut decoder)) => match decoder.read(buffer) {
                    Ok(0) => self.begin_next(decoder.into_inner(), false)?,
                    Err(error) if error.kind() != ErrorKind::Interrupted && error.raw_os_error().is_none() => {
                        self.state = Some(State::Damaged(decoder.into_inner()));
                        return Err(error);
                    }
                    read => {
                        self.state = Some(State::Inside(decoder));
                        return read;
                    }
                },
                Some(State::Behind(source)) => self.begin_next(source, false)?,
                Some(State::Damaged(source)) => self.begin_next(source, true)?,
                None => false,
            };
            if !has_next {
                return Ok(0);
            }
        }
    }
}

impl<R: BufRead + Send> Unpack for Members<R> {
    fn member(&self) -> u64 {
        self.number
    }

    fn goes_on(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// What each member gives: its bytes as far as they can be read, and whether it is whole.
    fn read(packed: &[u8], buffered: usize, at_once: usize) -> Vec<(Vec<u8>, bool)> {
        let mut members = Members::new(BufReader::with_capacity(buffered, packed));
        let mut found: Vec<(u64, Vec<u8>, bool)> = vec![(0, Vec::new(), true)];
        let mut buffer = vec![0; at_once];
        loop {
            match members.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    if found.last().unwrap().0 != members.member() {
                        found.push((members.member(), Vec::new(), true));
                    }
                    found.last_mut().unwrap().1.extend_from_slice(&buffer[..read]);
                }
                Err(_) if found.last().unwrap().0 != members.member() => {
                    found.push((members.member(), Vec::new(), false))
                }
                Err(_) => found.last_mut().unwrap().2 = false,
            }
        }
        found.into_iter().map(|(_, bytes, is_whole)| (bytes, is_whole)).collect()
    }

    #[test]
    fn a_damaged_member_costs_itself_alone() {
        let texts: Vec<Vec<u8>> = (0..5_u32).map(|n| (0..400).flat_map(|i| (i * n).to_le_bytes()).collect()).collect();
        let packed: Vec<Vec<u8>> = texts.iter().map(|text| gzip(text)).collect();
        for (buffered, at_once) in [(1 << 16, 1 << 16), (7, 1 << 16), (1, 3), (100, 100)] {
            let whole = read(&packed.concat(), buffered, at_once);
            assert_eq!(whole, texts.iter().map(|text| (text.clone(), true)).collect::<Vec<_>>());
            for damaged in 0..packed.len() {
                for at in [0, 12, packed[damaged].len() / 2, packed[damaged].len() - 6] {
                    let mut bytes = packed.clone();
                    bytes[damaged][at] ^= 0x55;
                    let found = read(&bytes.concat(), buffered, at_once);
                    for (number, text) in texts.iter().enumerate().filter(|&(number, _)| number != damaged) {
                        let is_there = found.iter().any(|(bytes, is_whole)| bytes == text && *is_whole);
                        assert!(is_there, "{number} of {damaged} damaged at {at}, {buffered} {at_once}");
                    }
                    assert!(found.iter().any(|(_, is_whole)| !is_whole), "{damaged} damaged at {at}");
                }
            }
        }
    }

    #[test]
    fn a_cut_member_is_an_error_wherever_it_is_cut() {
        let packed = [gzip(b"first"), gzip(b"second")].concat();
        let first = gzip(b"first").len();
        for len in 0..packed.len() {
            let mut unpacked = Vec::new();
            let read = Members::new(&packed[..len]).read_to_end(&mut unpacked);
            assert_eq!(read.is_ok(), len == first, "{len}");
        }
    }
}
