//! An open object: its bytes in order, or by position with a cache of blocks.

use std::collections::HashMap;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::future::try_join_all;

use super::ObjectState;
use super::body::{Bodies, Body, Version};
use super::client::{Purpose, block_on, connect};
use super::object_name::ObjectName;
use crate::gzip::Unpack;

/// Number of bytes in a block of the cache. Reads by position request whole blocks.
const BLOCK_BYTES: u64 = 1 << 20;

/// Maximum number of blocks in the cache of an object.
const MAX_CACHED_BLOCKS: usize = 128;

/// Number of blocks that are requested at once if the block before them was read too.
const AHEAD_BLOCKS: u64 = 8;

/// Number of blocks in one request, so that blocks read ahead come through several connections.
const REQUEST_BLOCKS: u64 = 2;

/// An open object.
#[derive(Clone)]
pub struct Object {
    version: Arc<Version>,
    blocks: Arc<Blocks>,
    /// The response to the first request, for a reader that begins at the first byte.
    first: Arc<Mutex<Option<Bodies>>>,
}

impl Object {
    /// Opens the object with a name.
    ///
    /// # Errors
    /// Returns an error if the name is invalid, if there is no such object, or if it cannot be read.
    pub fn open(url: &str) -> io::Result<Object> {
        let name = ObjectName::of(url)?;
        let (store, key) = (connect(&name, Purpose::Read)?, name.key()?);
        let (version, first) = block_on(Version::get(store.objects, key))??;
        Ok(Object::new(version, Some(first)))
    }

    /// Requests the state of the object with a name, without its bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Object::open`].
    pub fn state_at(url: &str) -> io::Result<ObjectState> {
        let name = ObjectName::of(url)?;
        let (store, key) = (connect(&name, Purpose::Read)?, name.key()?);
        Ok(block_on(Version::head(store.objects, key))??.state())
    }

    pub(super) fn new(version: Version, first: Option<Bodies>) -> Object {
        Object { version: Arc::new(version), blocks: Arc::default(), first: Arc::new(Mutex::new(first)) }
    }

    /// Returns the size in bytes.
    pub fn len(&self) -> u64 {
        self.version.len()
    }

    /// Returns whether the object has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the object's state when it was opened.
    pub fn state(&self) -> ObjectState {
        self.version.state()
    }

    /// Reads bytes at an offset: as many as the buffer holds, or fewer at the object's end.
    ///
    /// # Errors
    /// Returns an error if the object was changed, or cannot be read.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let end = self.len().min(offset.saturating_add(buffer.len() as u64));
        let (mut at, mut filled) = (offset, 0);
        while at < end {
            let block = self.blocks.get(&self.version, at / BLOCK_BYTES, (end - 1) / BLOCK_BYTES)?;
            let inside = (at % BLOCK_BYTES) as usize;
            let bytes = block.get(inside..).unwrap_or_default();
            let len = bytes.len().min(buffer.len() - filled);
            if len == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buffer[filled..filled + len].copy_from_slice(&bytes[..len]);
            filled += len;
            at += len as u64;
        }
        Ok(filled)
    }

    /// Returns a reader from the first byte.
    pub fn into_reader(self) -> Reader {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let range = 0..self.len();
        Reader { body: Body::new(self.version, range, first), bytes: Bytes::new() }
    }
}

/// Reads an object's bytes in order.
pub struct Reader {
    body: Body,
    bytes: Bytes,
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes.is_empty() && !buffer.is_empty() {
            let Some(bytes) = block_on(self.body.next())?? else { return Ok(0) };
            self.bytes = bytes;
        }
        let len = self.bytes.len().min(buffer.len());
        buffer[..len].copy_from_slice(&self.bytes.split_to(len));
        Ok(len)
    }
}

impl Unpack for Reader {
    fn discard(&mut self) -> io::Result<u64> {
        // The size is known, so the remaining bytes need not be read.
        let left = self.bytes.len() as u64 + self.body.left();
        self.bytes.clear();
        self.body.skip();
        Ok(left)
    }
}

/// An object's most recently used blocks.
#[derive(Default)]
struct Blocks {
    state: Mutex<Cached>,
    /// Notified when a request ends.
    ended: Condvar,
}

#[derive(Default)]
struct Cached {
    blocks: HashMap<u64, CachedBlock>,
    /// Increases with each use.
    clock: u64,
}

enum CachedBlock {
    /// Another thread has requested it.
    Requested,
    /// The bytes, and the time of the last use.
    Ready(Bytes, u64),
}

impl Blocks {
    /// Returns a block. If it must be requested, also requests blocks up to `last`, and some ahead.
    fn get(&self, version: &Arc<Version>, number: u64, last: u64) -> io::Result<Bytes> {
        let mut cached = self.lock();
        loop {
            cached.clock += 1;
            let clock = cached.clock;
            match cached.blocks.get_mut(&number) {
                Some(CachedBlock::Ready(bytes, used)) => {
                    *used = clock;
                    return Ok(bytes.clone());
                }
                Some(CachedBlock::Requested) => {
                    cached = self.ended.wait(cached).unwrap_or_else(PoisonError::into_inner);
                }
                None => break,
            }
        }
        let run = cached.run(number, last, version.len().div_ceil(BLOCK_BYTES));
        for number in run.clone() {
            cached.blocks.insert(number, CachedBlock::Requested);
        }
        drop(cached);
        let request = Request { blocks: self, run: run.clone() };
        let found = fetch(version, &run)?;
        request.end(found);
        // The block may have been removed again only if the cache is smaller than a request.
        match self.lock().blocks.get(&number) {
            Some(CachedBlock::Ready(bytes, _)) => Ok(bytes.clone()),
            _ => Err(io::Error::other("internal error: a requested block is missing; please report it")),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Cached> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cached {
    /// Returns the blocks to request, from a missing one up to the last wanted one, or further if the block before the
    /// missing one was read too. The run ends before a known block.
    fn run(&self, first: u64, last: u64, count: u64) -> Range<u64> {
        let is_sequential = first > 0 && self.blocks.contains_key(&(first - 1));
        let ahead = if is_sequential { AHEAD_BLOCKS } else { 1 };
        let end = (last + 1).min(first + AHEAD_BLOCKS).max(first + ahead).min(count);
        let known = (first + 1..end).find(|number| self.blocks.contains_key(number));
        first..known.unwrap_or(end)
    }

    /// Evicts the least recently used blocks.
    fn shrink(&mut self) {
        while self.blocks.len() > MAX_CACHED_BLOCKS {
            let used = self.blocks.iter().filter_map(|(&number, block)| match block {
                CachedBlock::Ready(_, used) => Some((*used, number)),
                CachedBlock::Requested => None,
            });
            let Some((_, oldest)) = used.min() else { return };
            self.blocks.remove(&oldest);
        }
    }
}

/// Blocks that were marked as requested. If the request fails, the marks are removed, so that waiting threads continue.
struct Request<'b> {
    blocks: &'b Blocks,
    run: Range<u64>,
}

impl Request<'_> {
    fn end(self, found: Vec<Bytes>) {
        let mut cached = self.blocks.lock();
        cached.clock += 1;
        let clock = cached.clock;
        for (number, bytes) in self.run.clone().zip(found) {
            cached.blocks.insert(number, CachedBlock::Ready(bytes, clock));
        }
        cached.shrink();
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        let mut cached = self.blocks.lock();
        for number in self.run.clone() {
            if matches!(cached.blocks.get(&number), Some(CachedBlock::Requested)) {
                cached.blocks.remove(&number);
            }
        }
        drop(cached);
        self.blocks.ended.notify_all();
    }
}

/// Requests consecutive blocks, several at the same time.
fn fetch(version: &Arc<Version>, run: &Range<u64>) -> io::Result<Vec<Bytes>> {
    let len = version.len();
    let starts = run.clone().step_by(REQUEST_BLOCKS as usize);
    let parts = starts.map(|first| {
        let end = (first + REQUEST_BLOCKS).min(run.end);
        version.read(first * BLOCK_BYTES..(end * BLOCK_BYTES).min(len))
    });
    let parts = block_on(try_join_all(parts))??;
    let mut blocks = Vec::new();
    for part in parts {
        let mut part = Bytes::from(part);
        while !part.is_empty() {
            blocks.push(part.split_to(part.len().min(BLOCK_BYTES as usize)));
        }
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_blocks_stop_at_the_limit() {
        for count in [MAX_CACHED_BLOCKS - 1, MAX_CACHED_BLOCKS, MAX_CACHED_BLOCKS + 1] {
            let mut cached = Cached::default();
            for number in 0..count as u64 {
                cached.blocks.insert(number, CachedBlock::Ready(Bytes::new(), number));
            }
            cached.blocks.insert(u64::MAX, CachedBlock::Requested);
            cached.blocks.remove(&u64::MAX);
            cached.shrink();
            assert_eq!(cached.blocks.len(), count.min(MAX_CACHED_BLOCKS));
            // The first one was used before all others.
            assert_eq!(cached.blocks.contains_key(&0), count <= MAX_CACHED_BLOCKS);
        }
    }

    #[test]
    fn runs_end_at_known_blocks_and_at_the_end() {
        let mut cached = Cached::default();
        assert_eq!(cached.run(3, 3, 100), 3..4);
        assert_eq!(cached.run(3, 5, 100), 3..6);
        assert_eq!(cached.run(3, 90, 100), 3..3 + AHEAD_BLOCKS);
        cached.blocks.insert(2, CachedBlock::Requested);
        assert_eq!(cached.run(3, 3, 100), 3..3 + AHEAD_BLOCKS);
        assert_eq!(cached.run(3, 3, 5), 3..5);
        cached.blocks.insert(6, CachedBlock::Requested);
        assert_eq!(cached.run(3, 3, 100), 3..6);
    }
}
