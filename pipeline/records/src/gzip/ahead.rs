//! Decompresses a large gzip file's members before they are needed, on all threads.
//!
//! A member's end is known only after it has been decompressed, so a thread that starts within the file must search for
//! a member. Its results are never trusted: a website may have written bytes that look like a member inside another
//! one. The reader decides where each member begins, and uses a result only if it belongs to exactly this position. A
//! member's bytes determine its data, so the reader would have decompressed the same data. Damaged members, members in
//! two chunks, and members that were not found are left to the reader.

use std::collections::VecDeque;
use std::io::{self, BufRead, ErrorKind, Read};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::member::{MEMBER_START, TRAILER_BYTES, Unpack, read_header, split_plain_header, trailer_of};

/// Compressed bytes per chunk, which one thread decompresses.
const CHUNK_BYTES: usize = 512 << 10;

/// Maximum decompressed bytes per chunk. The reader decompresses the rest.
const MAX_CHUNK_DATA_BYTES: usize = 4 << 20;

/// Maximum false starts per chunk: bytes that only look like a member. The reader decompresses the rest.
const MAX_FALSE_STARTS: usize = 16;

/// Maximum chunks in memory.
// With half as many, `filter` keeps 1.7 of two processors busy instead of 1.9.
const MAX_CHUNKS: usize = 8;

/// Bytes per read while chunks are not decompressed ahead, so that slow sources are processed immediately.
const READ_BYTES: usize = 1 << 16;

/// A source of compressed bytes that may know a member's data.
pub trait Ahead {
    /// Returns the data of the member that begins at the next byte, and consumes its compressed bytes, if it has
    /// already been decompressed.
    fn take_member(&mut self) -> Option<WholeMember> {
        None
    }
}

impl<R: Read> Ahead for io::BufReader<R> {}
impl Ahead for &[u8] {}

/// A complete member that has been decompressed and checked.
pub struct WholeMember {
    chunk: Arc<Chunk>,
    /// The compressed bytes in the chunk.
    packed: Range<usize>,
    /// The unread part of the chunk's data.
    data: Range<usize>,
}

impl WholeMember {
    /// Returns the compressed bytes.
    pub fn packed(&self) -> &[u8] {
        self.chunk.bytes.get(self.packed.clone()).unwrap_or_default()
    }
}

impl Unpack for WholeMember {
    fn has_members(&self) -> bool {
        true
    }

    fn skip(&mut self, most: u64) -> u64 {
        let len = self.data.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        self.data.start += len;
        len as u64
    }

    fn discard(&mut self) -> io::Result<u64> {
        // The outer reader finds out whether another member follows.
        Ok(0)
    }
}

impl Read for WholeMember {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let state = self.chunk.lock();
        let ChunkState::Done(found) = &*state else { return Ok(0) };
        let data = found.data.get(self.data.clone()).unwrap_or_default();
        let len = data.len().min(buffer.len());
        buffer[..len].copy_from_slice(&data[..len]);
        self.data.start += len;
        Ok(len)
    }
}

/// Compressed bytes, and the members in them.
struct Chunk {
    bytes: Vec<u8>,
    state: Mutex<ChunkState>,
    is_done: Condvar,
}

/// The state of a chunk's decompression. Its memory comes from an earlier chunk.
enum ChunkState {
    /// No thread has begun.
    Waiting(FoundMembers),
    /// Another thread decompresses the chunk.
    Running,
    /// The reader came first, and decompresses the chunk.
    Taken(FoundMembers),
    Done(FoundMembers),
}

/// The members that were found in a chunk.
#[derive(Default)]
struct FoundMembers {
    /// Each member's compressed bytes and its data, in order.
    members: VecDeque<(Range<usize>, Range<usize>)>,
    /// The members' data, and unused bytes after it.
    data: Vec<u8>,
    inflate: Option<Decompress>,
}

impl Chunk {
    fn lock(&self) -> MutexGuard<'_, ChunkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decompresses the chunk, unless the reader already does.
    fn run(&self) {
        let mut state = self.lock();
        let ChunkState::Waiting(memory) = &mut *state else { return };
        let memory = std::mem::take(memory);
        *state = ChunkState::Running;
        drop(state);
        let found = find_members(&self.bytes, memory);
        *self.lock() = ChunkState::Done(found);
        self.is_done.notify_all();
    }

    /// Returns the member that begins at `at`, if it was found. Waits only for a thread that has begun, so that it does
    /// not depend on an idle thread.
    fn member(&self, at: usize) -> Option<(Range<usize>, Range<usize>)> {
        let mut state = self.lock();
        if let ChunkState::Waiting(memory) = &mut *state {
            *state = ChunkState::Taken(std::mem::take(memory));
        }
        let is_running = |state: &mut ChunkState| matches!(state, ChunkState::Running);
        state = self.is_done.wait_while(state, is_running).unwrap_or_else(PoisonError::into_inner);
        let ChunkState::Done(found) = &mut *state else { return None };
        while found.members.front().is_some_and(|(packed, _)| packed.start < at) {
            found.members.pop_front();
        }
        let is_next = found.members.front().is_some_and(|(packed, _)| packed.start == at);
        if is_next { found.members.pop_front() } else { None }
    }

    /// Returns the memory of a chunk that is no longer needed.
    fn into_memory(self) -> (Vec<u8>, FoundMembers) {
        let memory = match self.state.into_inner().unwrap_or_else(PoisonError::into_inner) {
            ChunkState::Waiting(found) | ChunkState::Taken(found) | ChunkState::Done(found) => found,
            ChunkState::Running => FoundMembers::default(),
        };
        (self.bytes, memory)
    }
}

/// Decompresses the complete members in a chunk, to the memory of `found`.
fn find_members(bytes: &[u8], mut found: FoundMembers) -> FoundMembers {
    found.members.clear();
    // Reserves enough memory that the data never moves. Unused memory costs nothing.
    found.data.reserve((MAX_CHUNK_DATA_BYTES + READ_BYTES).saturating_sub(found.data.len()));
    let (mut at, mut false_starts, mut used, mut filled) = (0, 0, 0, 0);
    let inflate = found.inflate.get_or_insert_with(|| Decompress::new(false));
    while let Some(start) = next_start(bytes, at) {
        let (len, end) = whole_member(&bytes[start..], inflate, &mut found.data, filled, MAX_CHUNK_DATA_BYTES - used);
        used += len;
        if let Some(end) = end {
            at = start + end;
            found.members.push_back((start..at, filled..filled + len));
            filled += len;
            continue;
        }
        at = start + 1;
        false_starts += 1;
        if used > MAX_CHUNK_DATA_BYTES || false_starts > MAX_FALSE_STARTS {
            break;
        }
    }
    found
}

/// Decompresses a member to `data`, from `start` on.
///
/// Returns the number of decompressed bytes, and the member's length in compressed bytes. The length is `None` if the
/// member is incomplete or damaged, or has more than `most` bytes of data.
fn whole_member(
    bytes: &[u8],
    inflate: &mut Decompress,
    data: &mut Vec<u8>,
    start: usize,
    most: usize,
) -> (usize, Option<usize>) {
    let (mut packed, mut len) = (bytes, 0);
    if !split_plain_header(&mut packed) && read_header(&mut packed).is_err() {
        return (0, None);
    }
    inflate.reset(false);
    loop {
        // Each byte is initialized once.
        if data.len() - start - len < READ_BYTES {
            data.resize(start + len + READ_BYTES, 0);
        }
        let packed_before = inflate.total_in();
        let status = inflate.decompress(packed, &mut data[start + len..], FlushDecompress::None);
        let used = (inflate.total_in() - packed_before) as usize;
        packed = packed.get(used..).unwrap_or_default();
        let is_stuck = used == 0 && inflate.total_out() == len as u64;
        len = inflate.total_out() as usize;
        match status {
            _ if len > most => return (len, None),
            Ok(Status::StreamEnd) => break,
            Ok(_) if !is_stuck => {}
            Ok(_) | Err(_) => return (len, None),
        }
    }
    let mut checksum = Crc::new();
    checksum.update(&data[start..start + len]);
    let is_whole = packed.split_off(..TRAILER_BYTES).is_some_and(|trailer| trailer == trailer_of(&checksum));
    (len, is_whole.then(|| bytes.len() - packed.len()))
}

/// Returns the next position from `at` where a member may begin.
fn next_start(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    // As after nearly every member.
    if rest.starts_with(&MEMBER_START) {
        return Some(at);
    }
    memchr::memmem::find(rest, &MEMBER_START).map(|found| at + found)
}

/// A source's compressed bytes in chunks. The chunks are decompressed ahead once a first member has been short.
pub struct Chunks<R> {
    source: R,
    /// The current chunk, and later ones.
    chunks: VecDeque<Arc<Chunk>>,
    /// Used bytes in the current chunk.
    at: usize,
    /// Used bytes before the current chunk.
    used: u64,
    /// The end of the last member, in used bytes.
    last_end: u64,
    /// Maximum chunks in memory.
    max_chunks: usize,
    /// Memory of used chunks: the compressed bytes, and their data.
    spare: Vec<(Vec<u8>, FoundMembers)>,
    is_ahead: bool,
    /// Whether the source has ended.
    is_at_end: bool,
    /// The source's error after the chunks.
    failed: Option<io::Error>,
}

impl<R: Unpack> Chunks<R> {
    /// Creates a reader that starts at the source's first byte. Sources that may have to wait, such as pipes, are not
    /// read ahead.
    pub fn new(source: R) -> Chunks<R> {
        let threads = if source.is_ready() { rayon::current_num_threads() } else { 1 };
        // With one thread, decompressing ahead gains nothing.
        let max_chunks = if threads == 1 { 1 } else { MAX_CHUNKS };
        Chunks {
            source,
            chunks: VecDeque::new(),
            at: 0,
            used: 0,
            last_end: 0,
            max_chunks,
            spare: Vec::new(),
            is_ahead: false,
            is_at_end: false,
            failed: None,
        }
    }

    /// Reads one more chunk. Without threads that decompress it, a few bytes are enough.
    fn read_chunk(&mut self) {
        let most = if self.is_ahead { CHUNK_BYTES } else { READ_BYTES };
        let (mut bytes, memory) = self.spare.pop().unwrap_or_default();
        bytes.resize(most, 0);
        let mut filled = 0;
        while filled == 0 || self.is_ahead && filled < most {
            match self.source.read(&mut bytes[filled..]) {
                Ok(0) => {
                    self.is_at_end = true;
                    break;
                }
                Ok(len) => filled += len,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        bytes.truncate(filled);
        if bytes.is_empty() {
            return;
        }
        let state = Mutex::new(if self.is_ahead { ChunkState::Waiting(memory) } else { ChunkState::Taken(memory) });
        let chunk = Arc::new(Chunk { bytes, state, is_done: Condvar::new() });
        if self.is_ahead {
            let chunk = Arc::clone(&chunk);
            rayon::spawn(move || chunk.run());
        }
        self.chunks.push_back(chunk);
    }

    /// Removes the used chunk, and reads further ones.
    fn refill(&mut self) -> io::Result<()> {
        if self.chunks.front().is_some_and(|chunk| chunk.bytes.len() == self.at) {
            // Without a thread or a member that still holds the chunk, its memory is free.
            self.spare.extend(self.chunks.pop_front().and_then(Arc::into_inner).map(Chunk::into_memory));
            self.used += std::mem::take(&mut self.at) as u64;
        }
        let most = if self.is_ahead { self.max_chunks } else { 1 };
        while self.chunks.len() < most && !self.is_at_end && self.failed.is_none() {
            self.read_chunk();
        }
        match self.failed.take_if(|_| self.chunks.is_empty()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl<R: Unpack> BufRead for Chunks<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.chunks.front().is_none_or(|chunk| chunk.bytes.len() == self.at) {
            self.refill()?;
        }
        Ok(self.chunks.front().map_or(&[], |chunk| &chunk.bytes[self.at..]))
    }

    fn consume(&mut self, len: usize) {
        self.at += len;
    }
}

impl<R: Unpack> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.fill_buf()?;
        let len = found.len().min(buffer.len());
        buffer[..len].copy_from_slice(&found[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl<R: Unpack> Unpack for Chunks<R> {
    fn discard(&mut self) -> io::Result<u64> {
        let waiting: usize = self.chunks.iter().map(|chunk| chunk.bytes.len()).sum();
        let waiting = waiting - std::mem::take(&mut self.at);
        self.chunks.clear();
        Ok(waiting as u64 + self.source.discard()?)
    }
}

impl<R: Unpack> Ahead for Chunks<R> {
    fn take_member(&mut self) -> Option<WholeMember> {
        let end = self.used + self.at as u64;
        let len = end - std::mem::replace(&mut self.last_end, end);
        self.is_ahead |= self.max_chunks > 1 && len < CHUNK_BYTES as u64;
        let chunk = self.chunks.front()?;
        let (packed, data) = chunk.member(self.at)?;
        self.at = packed.end;
        self.last_end = self.used + self.at as u64;
        Some(WholeMember { chunk: Arc::clone(chunk), packed, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gzip::tests::gzip;

    /// Tests that a chunk's results are exactly its complete members.
    #[test]
    fn the_members_of_a_chunk_are_found() {
        let texts: Vec<Vec<u8>> =
            (0..9_u32).map(|n| (0..50 * n).flat_map(|i| (i * n).to_le_bytes()).collect()).collect();
        let packed: Vec<Vec<u8>> = texts.iter().map(|text| gzip(text)).collect();
        let all = packed.concat();
        let mut ends = vec![0];
        packed.iter().for_each(|one| ends.push(ends[ends.len() - 1] + one.len()));
        let mut memory = FoundMembers::default();
        for from in 0..all.len() {
            let end = from.max(all.len() - from % 50);
            let found = find_members(&all[from..end], memory);
            let first = ends.iter().position(|&start| start >= from).unwrap();
            let expected: Vec<_> = (first..texts.len())
                .filter(|&n| ends[n + 1] <= end)
                .map(|n| (ends[n] - from..ends[n + 1] - from, texts[n].clone()))
                .collect();
            let members: Vec<_> = found
                .members
                .iter()
                .map(|(packed, data)| (packed.clone(), found.data[data.clone()].to_vec()))
                .collect();
            assert_eq!(members, expected, "{from} {end}");
            memory = found;
        }
    }

    #[test]
    fn a_chunk_is_decompressed_up_to_its_limits() {
        for (len, count) in [(MAX_CHUNK_DATA_BYTES - 1, 1), (MAX_CHUNK_DATA_BYTES, 1), (MAX_CHUNK_DATA_BYTES + 1, 0)] {
            let found = find_members(&[gzip(&vec![b'a'; len]), gzip(b"b")].concat(), FoundMembers::default());
            // One more byte would be too many.
            let more = usize::from(len < MAX_CHUNK_DATA_BYTES);
            assert_eq!(found.members.len(), count + more, "{len}");
            assert!(found.members.back().is_none_or(|(_, data)| data.end <= MAX_CHUNK_DATA_BYTES));
        }
        let damaged = [&MEMBER_START[..], &[0xff]].concat();
        for (count, is_found) in [(MAX_FALSE_STARTS - 1, true), (MAX_FALSE_STARTS, true), (MAX_FALSE_STARTS + 1, false)]
        {
            let found = find_members(&[damaged.repeat(count), gzip(b"text")].concat(), FoundMembers::default());
            let member = found.members.front().and_then(|(_, data)| found.data.get(data.clone()));
            assert_eq!(member, is_found.then_some(&b"text"[..]), "{count}");
        }
    }

    /// A source that is read in parts, and fails after its bytes.
    struct MemberParts<'b> {
        bytes: &'b [u8],
        part: usize,
        fails: bool,
    }

    impl Read for MemberParts<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.bytes.is_empty() && self.fails {
                return Err(io::Error::from_raw_os_error(5));
            }
            let len = self.part.min(buffer.len());
            self.bytes.read(&mut buffer[..len])
        }
    }

    impl Unpack for MemberParts<'_> {
        fn is_ready(&self) -> bool {
            true
        }
    }

    /// Tests that threads change neither the data nor the positions, and that system errors come last.
    #[test]
    fn members_are_the_same_with_threads() {
        let mut texts: Vec<Vec<u8>> = (0..3000_u32)
            .map(|n| (0..n % 400).flat_map(|i| i.wrapping_mul(n).wrapping_mul(0x9e37_79b9).to_le_bytes()).collect())
            .collect();
        // A member in several chunks, an empty one, and one within another.
        texts.insert(700, (0..400_000_u32).flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_be_bytes()).collect());
        texts.insert(900, Vec::new());
        texts.insert(1000, gzip(b"inner"));
        let packed: Vec<u8> = texts.iter().flat_map(|text| gzip(text)).collect();
        assert!(packed.len() > 4 * CHUNK_BYTES);
        for (part, fails) in [(CHUNK_BYTES, false), (1000, true)] {
            let mut chunks = Chunks::new(MemberParts { bytes: &packed, part, fails });
            chunks.max_chunks = 4;
            let mut members = super::super::Members::new(chunks);
            let (mut found, mut buffer) = (vec![Vec::new(); texts.len()], vec![0; 3000]);
            let end = loop {
                match members.read(&mut buffer) {
                    Ok(0) => break None,
                    Ok(len) => found[members.member() as usize].extend_from_slice(&buffer[..len]),
                    Err(error) => break error.raw_os_error(),
                }
            };
            assert!(found == texts);
            assert_eq!((end, members.packed_offset()), (fails.then_some(5), Some(packed.len() as u64)));
        }
    }

    /// Tests that only the current member's decompressed bytes are skipped.
    #[test]
    fn only_the_current_member_is_skipped() {
        let texts: Vec<Vec<u8>> = (0..3000_u32)
            .map(|n| (0..n % 400).flat_map(|i| i.wrapping_mul(n).wrapping_mul(0x9e37_79b9).to_le_bytes()).collect())
            .collect();
        let packed: Vec<u8> = texts.iter().flat_map(|text| gzip(text)).collect();
        assert!(packed.len() > 2 * CHUNK_BYTES);
        for most in [1, 100, u64::MAX] {
            let mut chunks = Chunks::new(MemberParts { bytes: &packed, part: CHUNK_BYTES, fails: false });
            chunks.max_chunks = 4;
            let mut members = super::super::Members::new(chunks);
            assert_eq!(members.skip(most), 0, "before the first read");
            let (mut ends, mut skipped, mut buffer) = (vec![0; texts.len()], 0, [0; 100]);
            loop {
                let len = members.read(&mut buffer).unwrap();
                if len == 0 {
                    break;
                }
                let member = members.member() as usize;
                assert!(texts[member][ends[member]..].starts_with(&buffer[..len]), "{member}");
                let found = members.skip(most);
                assert!(found <= most);
                skipped += found;
                ends[member] += len + found as usize;
            }
            assert!(ends.iter().copied().eq(texts.iter().map(Vec::len)), "{most}");
            assert!(skipped > 0);
            assert_eq!(members.packed_offset(), Some(packed.len() as u64));
        }
    }
}
