//! The section `lines`: each group's line numbers, in rank order.
//!
//! A pool (see `FORMAT.md`) with addresses in 4-byte units. The two low bits in a record's first byte give the width of
//! its numbers (0: one byte, 1: two, 2: four). The six high bits give the line count; 63 means that a four-byte count
//! follows.

use super::container::Section;
use super::pool::{PoolReferences, verify_pool};
use super::{FormatError, NONE, pad, put, u32_at};

/// Address unit in bytes.
pub(super) const UNIT: usize = 4;

/// Minimum line count for a separate four-byte count.
const LONG_COUNT: usize = 63;

/// Appends a group's line numbers in rank order, in the width that the largest needs.
pub(super) fn encode(lines: &[u32], out: &mut Vec<u8>) {
    let largest = lines.iter().max().copied().unwrap_or(0);
    let (width_code, width): (u8, usize) = match largest {
        0..=0xFF => (0, 1),
        0x100..=0xFFFF => (1, 2),
        _ => (2, 4),
    };
    out.push(width_code | (lines.len().min(LONG_COUNT) as u8) << 2);
    if lines.len() >= LONG_COUNT {
        // A ruleset has fewer than 2^30 rules.
        put(out, lines.len() as u32);
    }
    match width {
        1 => out.extend(lines.iter().map(|&line| line as u8)),
        2 => out.extend(lines.iter().flat_map(|&line| (line as u16).to_le_bytes())),
        _ => out.extend(lines.iter().flat_map(|line| line.to_le_bytes())),
    }
    pad(out, UNIT);
}

/// The line numbers in a set.
#[derive(Clone, Copy)]
pub struct Lines<'a>(pub(crate) &'a [u8]);

impl<'a> Lines<'a> {
    /// Returns a group's line numbers by their address, or `None` if the set was written without line numbers.
    ///
    /// # Errors
    /// Returns an error if there are no lines at that address.
    pub fn get(self, address: u32) -> Result<Option<LineList<'a>>, FormatError> {
        if address == NONE {
            return Ok(None);
        }
        let at = address as usize * UNIT;
        let list = LineList::read(self.0.get(at..).unwrap_or_default()).map_err(|error| error.in_record_at(at))?;
        Ok(Some(list))
    }

    /// Returns the bytes of the record at an address.
    ///
    /// # Errors
    /// Returns an error if there are no lines at that address.
    #[cfg(feature = "write")]
    pub(super) fn record(self, address: u32) -> Result<&'a [u8], FormatError> {
        let at = address as usize * UNIT;
        let bytes = self.0.get(at..).unwrap_or_default();
        let list = LineList::read(bytes).map_err(|error| error.in_record_at(at))?;
        let count_bytes = if list.len() < LONG_COUNT { 1 } else { 5 };
        let len = (count_bytes + list.numbers.len()).next_multiple_of(UNIT);
        bytes
            .get(..len)
            .ok_or_else(|| FormatError::at(Section::Lines, at, "whole units of 4 bytes", "the end of the section"))
    }

    /// Proves that the section is canonical.
    pub(crate) fn verify(self, steps: &mut u64) -> Result<PoolReferences, FormatError> {
        verify_pool(Section::Lines, self.0, UNIT, steps, |bytes, out| {
            let list = LineList::read(bytes)?;
            encode(&list.to_vec(), out);
            Ok(())
        })
    }
}

/// A group's line numbers.
#[derive(Clone, Copy, Debug)]
pub struct LineList<'a> {
    width: usize,
    numbers: &'a [u8],
}

impl<'a> LineList<'a> {
    fn read(bytes: &'a [u8]) -> Result<LineList<'a>, FormatError> {
        let Some(&head) = bytes.first() else {
            return Err(FormatError::at(Section::Lines, 0, "line numbers", "the end of the section"));
        };
        let width = match head & 3 {
            0 => 1,
            1 => 2,
            2 => 4,
            other => {
                return Err(FormatError::at(Section::Lines, 0, "a width from 0 to 2", format!("width {other}")));
            }
        };
        let (count, start) = match usize::from(head >> 2) {
            LONG_COUNT => (u32_at(bytes, 1).map(|count| count as usize), 5),
            count => (Some(count), 1),
        };
        let numbers = count.and_then(|count| bytes.get(start..)?.get(..count * width));
        let numbers = numbers.ok_or_else(|| {
            FormatError::at(Section::Lines, 0, "as many line numbers as the count says", "the end of the section")
        })?;
        Ok(LineList { width, numbers })
    }

    /// Returns the number of lines, which equals the number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    /// Returns whether there are no lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns the line of the rule at a place in precedence order.
    #[must_use]
    pub fn get(&self, place: u32) -> Option<u32> {
        let number = self.numbers.get(place as usize * self.width..)?.get(..self.width)?;
        match *number {
            [line] => Some(line.into()),
            [low, high] => Some(u16::from_le_bytes([low, high]).into()),
            [a, b, c, d] => Some(u32::from_le_bytes([a, b, c, d])),
            _ => None,
        }
    }

    /// Returns all lines in rank order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u32> {
        (0..self.len() as u32).filter_map(|place| self.get(place)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_round_trip_in_their_shortest_form() {
        for (lines, bytes) in [
            (vec![], 4),
            (vec![0xFF; 3], 4),
            (vec![0xFF; 4], 8),
            (vec![0x100], 4),
            (vec![0xFFFF; 2], 8),
            (vec![1, 0x1_0000], 12),
            (vec![7; LONG_COUNT - 1], 64),
            (vec![7; LONG_COUNT], 68),
            (vec![7; LONG_COUNT + 1], 72),
        ] {
            let mut out = Vec::new();
            encode(&lines, &mut out);
            assert_eq!(out.len(), bytes, "{lines:?}");
            let list = Lines(&out).get(0).unwrap().unwrap();
            assert_eq!(list.to_vec(), lines);
            assert_eq!(Lines(&[&out[..], &out].concat()).record(0), Ok(&out[..]));
            assert_eq!(list.get(lines.len() as u32), None);
            Lines(&out).verify(&mut 0).unwrap();
        }
    }

    #[test]
    fn verify_rejects_any_other_encoding() {
        let wide = [1 | 1 << 2, 7, 0, 0];
        let long = [63 << 2, 1, 0, 0, 0, 7, 0, 0];
        let padded = [1 << 2, 7, 1, 0];
        let unknown = [3 | 1 << 2, 7, 0, 0];
        let endless = [63 << 2, 0xFF, 0xFF, 0xFF, 0xFF, 7, 0, 0];
        for bytes in [&wide[..], &long, &padded, &unknown, &endless, &[0], &[0, 0, 0, 0, 0, 0, 0, 0]] {
            assert!(Lines(bytes).verify(&mut 0).is_err(), "{bytes:?}");
        }
    }
}
