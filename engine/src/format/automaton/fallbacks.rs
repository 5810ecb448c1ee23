//! Fallback patterns: patterns outside the automata, which a walk tries one at a time.

use super::error::{Corrupt, corrupt};
use super::layout::{FALLBACK_HEADER_BYTES, MAX_FALLBACK_BYTES, NO_RANK};
use crate::format::u32_at;

/// Reads the fallback patterns in order.
#[derive(Clone, Copy)]
pub struct FallbackReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> FallbackReader<'a> {
    /// Reads the patterns from `bytes`, which begin at the offset `at` in the automaton. Reads at most
    /// [`MAX_FALLBACK_BYTES`].
    #[inline]
    pub(super) fn new(bytes: &'a [u8], at: usize) -> FallbackReader<'a> {
        FallbackReader { bytes: &bytes[..bytes.len().min(MAX_FALLBACK_BYTES)], at }
    }

    /// Returns the next pattern's rank, whether it is anchored at the end, and its segments; `None` after the last
    /// pattern.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a pattern.
    pub fn next_pattern(&mut self) -> Result<Option<(u32, bool, Segments<'a>)>, Corrupt> {
        if self.bytes.is_empty() && self.at == 0 {
            return Ok(None);
        }
        let missing = corrupt!(self.at, "a fallback pattern");
        let rank = u32_at(self.bytes, 0).ok_or(missing)?;
        if rank == NO_RANK {
            return Ok(None);
        }
        let anchored = u32_at(self.bytes, 4).ok_or(missing)? != 0;
        let count = u32_at(self.bytes, 8).ok_or(missing)?;
        let size = u32_at(self.bytes, 12).ok_or(missing)? as usize;
        let body = self.bytes.get(FALLBACK_HEADER_BYTES..).and_then(|bytes| bytes.split_at_checked(size));
        let (segments, rest) = body.ok_or(missing)?;
        let segments = Segments { bytes: segments, left: count, at: self.at + FALLBACK_HEADER_BYTES };
        (self.bytes, self.at) = (rest, self.at + FALLBACK_HEADER_BYTES + size);
        Ok(Some((rank, anchored, segments)))
    }

    /// Returns the next pattern's offset.
    pub(super) fn at(&self) -> usize {
        self.at
    }
}

/// The segments of a fallback pattern.
#[derive(Clone, Copy)]
pub struct Segments<'a> {
    bytes: &'a [u8],
    left: u32,
    at: usize,
}

impl<'a> Segments<'a> {
    /// Returns the next segment, and whether it is the last one.
    ///
    /// # Errors
    /// Returns an error if the bytes end before the segment does.
    pub fn next_segment(&mut self) -> Result<Option<(&'a [u8], bool)>, Corrupt> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        let missing = corrupt!(self.at, "a segment of a fallback pattern");
        let len = u32_at(self.bytes, 0).ok_or(missing)? as usize;
        let after_len = self.bytes.get(4..).and_then(|bytes| bytes.split_at_checked(len));
        let (segment, rest) = after_len.ok_or(missing)?;
        *self = Segments { bytes: rest, left, at: self.at + 4 + len };
        Ok(Some((segment, left == 0)))
    }
}
