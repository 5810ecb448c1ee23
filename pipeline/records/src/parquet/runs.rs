//! Bit-packed numbers, in runs or as differences. Source: the Parquet format, Encodings.md.

use bytes::Bytes;

use super::footer::varint;

/// Maximum number of padding values in the last packed run. The format pads to a multiple of 8. DuckDB pads to a
/// multiple of 256, with values from an earlier run.
const MAX_FILLED_NUMBERS: usize = 255;

/// A run of numbers of one width.
pub enum Run<'b> {
    /// A repeated number.
    Same(u32),
    /// Bit-packed numbers, lowest bit first.
    Packed(&'b [u8]),
}

/// Walks the runs of `count` numbers with `width` bits each. Calls `visit` for each run, with the number of its numbers
/// that belong to these. Returns the bytes after the last run, or `None` if there are fewer numbers, or more than the
/// last run's padding.
pub fn walk_runs<'b>(
    mut bytes: &'b [u8],
    width: u8,
    count: usize,
    mut visit: impl FnMut(Run<'b>, usize) -> Option<()>,
) -> Option<&'b [u8]> {
    let width = usize::from(width);
    let mut left = count;
    while left > 0 {
        let header = varint(&mut bytes)?;
        let len = usize::try_from(header >> 1).ok()?;
        let (run, len, padding) = if header & 1 == 1 {
            // Groups of eight. The last group may extend past the end of the page.
            let packed = bytes.split_off(..len.checked_mul(width)?.min(bytes.len()))?;
            if left.min(len.checked_mul(8)?).checked_mul(width)? > packed.len() * 8 {
                return None;
            }
            (Run::Packed(packed), len * 8, MAX_FILLED_NUMBERS)
        } else {
            let number = bytes.split_off(..width.div_ceil(8))?;
            (Run::Same(number.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))), len, 0)
        };
        let now = left.min(len);
        left -= now;
        if len - now > padding {
            return None;
        }
        visit(run, now)?;
    }
    Some(bytes)
}

/// Counts the numbers that equal `max` among `count` bit-packed ones, lowest bit first. Returns `None` if one is larger.
pub fn count_packed(bytes: &[u8], width: u8, count: usize, max: u32) -> Option<usize> {
    let width = usize::from(width);
    if width == 1 && max == 1 {
        let whole: usize = bytes.get(..count / 8)?.iter().map(|byte| byte.count_ones() as usize).sum();
        let rest = bytes.get(count / 8).map_or(0, |byte| (byte & ((1 << (count % 8)) - 1)).count_ones() as usize);
        return Some(whole + rest);
    }
    let mut found = 0;
    for at in 0..count {
        let number = bits_at(bytes, at * width, width);
        if number > u64::from(max) {
            return None;
        }
        found += usize::from(number == u64::from(max));
    }
    Some(found)
}

/// Returns numbers with the lowest bit first that are packed with the highest bit first, as old writers wrote levels.
pub fn reversed(bytes: &[u8], width: u8, count: usize) -> Vec<u8> {
    let width = usize::from(width);
    let mut out = vec![0; (count * width).div_ceil(8)];
    for at in 0..count * width {
        let (number, bit) = (at / width, at % width);
        let from = number * width + (width - 1 - bit);
        let is_set = bytes.get(from / 8).is_some_and(|byte| byte >> (7 - from % 8) & 1 == 1);
        out[at / 8] |= u8::from(is_set) << (at % 8);
    }
    out
}

/// A first number, and each following number's difference from its predecessor: DELTA_BINARY_PACKED.
pub struct Deltas {
    bytes: Bytes,
    /// The next block's offset.
    at: usize,
    minis: usize,
    in_mini: usize,
    /// Number of values left.
    left: u64,
    /// The last number read, or the first number before any is read.
    value: i64,
    is_first: bool,
    /// The block's minimum difference, the offset of its miniblock widths, and the next miniblock's index.
    least: i64,
    widths: usize,
    mini: usize,
    /// The current miniblock's width, its next number's bit offset, and the number of values left in it.
    width: usize,
    bit: usize,
    in_part: usize,
}

impl Deltas {
    /// Reads a list's header. Returns `None` if it is invalid.
    pub fn new(bytes: Bytes) -> Option<Deltas> {
        let mut rest = &bytes[..];
        let (block, minis, left) = (varint(&mut rest)?, varint(&mut rest)?, varint(&mut rest)?);
        let value = zigzag(varint(&mut rest)?);
        let in_mini =
            block.checked_div(minis).filter(|&numbers| numbers > 0 && block % minis == 0 && numbers % 8 == 0)?;
        let (minis, in_mini) = (usize::try_from(minis).ok()?, usize::try_from(in_mini).ok()?);
        // Each width takes one byte.
        let minis = Some(minis).filter(|&minis| minis <= bytes.len() || left <= 1)?;
        let at = bytes.len() - rest.len();
        let (least, widths, width, bit, in_part) = (0, 0, 0, 0, 0);
        let deltas = Deltas {
            bytes,
            at,
            minis,
            in_mini,
            left,
            value,
            is_first: true,
            least,
            widths,
            mini: minis,
            width,
            bit,
            in_part,
        };
        Some(deltas)
    }

    /// Returns the number of values left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Appends the next `count` numbers, or returns `None` if there are fewer.
    pub fn read(&mut self, mut count: usize, numbers: &mut Vec<i64>) -> Option<()> {
        self.left = self.left.checked_sub(count as u64)?;
        if self.is_first && count > 0 {
            self.is_first = false;
            numbers.push(self.value);
            count -= 1;
        }
        while count > 0 {
            if self.in_part == 0 {
                self.begin()?;
            }
            let now = count.min(self.in_part);
            if self.bit + now * self.width > self.bytes.len() * 8 {
                return None;
            }
            for _ in 0..now {
                let difference = bits_at(&self.bytes, self.bit, self.width) as i64;
                self.bit += self.width;
                self.value = self.value.wrapping_add(self.least).wrapping_add(difference);
                numbers.push(self.value);
            }
            self.in_part -= now;
            count -= now;
        }
        Some(())
    }

    /// Begins the next miniblock, in the next block if necessary.
    fn begin(&mut self) -> Option<()> {
        if self.mini == self.minis {
            let mut rest = self.bytes.get(self.at..)?;
            self.least = zigzag(varint(&mut rest)?);
            self.widths = self.bytes.len() - rest.len();
            self.at = self.widths.checked_add(self.minis).filter(|&at| at <= self.bytes.len())?;
            self.mini = 0;
        }
        self.width = (*self.bytes.get(self.widths + self.mini)?).into();
        if self.width > 64 {
            return None;
        }
        self.mini += 1;
        self.bit = self.at.checked_mul(8)?;
        self.in_part = self.in_mini;
        // The last miniblock may be truncated after its last number.
        self.at = self.at.checked_add(self.in_mini.checked_mul(self.width)? / 8)?.min(self.bytes.len());
        Some(())
    }

    /// Finds a list's end without decoding its numbers.
    pub fn end(bytes: &Bytes) -> Option<usize> {
        let mut list = Deltas::new(bytes.clone())?;
        let mut left = list.left.saturating_sub(1);
        while left > 0 {
            list.begin()?;
            left = left.saturating_sub(list.in_mini as u64);
        }
        Some(list.at)
    }
}

fn zigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Returns `width` bits from a bit offset, with zeros after the end.
#[inline]
fn bits_at(bytes: &[u8], bit: usize, width: usize) -> u64 {
    let low = word_at(bytes, bit / 8) >> (bit % 8);
    let number = match bit % 8 {
        0 => low,
        shift => low | word_at(bytes, bit / 8 + 8) << (64 - shift),
    };
    if width == 64 { number } else { number & ((1 << width) - 1) }
}

/// Returns eight bytes from an offset, with zeros after the end.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(&word) => u64::from_le_bytes(word),
        None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers in runs.
    fn read(bytes: &[u8], width: u8, count: usize) -> Option<Vec<u32>> {
        let mut numbers = Vec::new();
        let rest = walk_runs(bytes, width, count, |run, now| {
            numbers.extend((0..now).map(|at| match run {
                Run::Same(number) => number,
                Run::Packed(bytes) => bits_at(bytes, at * usize::from(width), width.into()) as u32,
            }));
            Some(())
        })?;
        rest.is_empty().then_some(numbers)
    }

    #[test]
    fn runs_are_read() {
        // The format's example: the numbers 0 to 7 in three bits each.
        let packed = [0b0000_0011, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(read(&packed, 3, 8), Some((0..8).collect()));
        assert_eq!(read(&packed, 3, 9), None);
        // An empty run, and a run that repeats a two-byte number.
        let same = [0, 0, 0, 10 << 1, 0x34, 0x12];
        assert_eq!(read(&same, 9, 10), Some(vec![0x1234; 10]));
        assert_eq!(read(&[&same[..], &[4 << 1, 1, 0]].concat(), 16, 14).map(|numbers| numbers[13]), Some(1));
        assert_eq!(read(&[3], 0, 8), Some(vec![0; 8]));
        for bytes in [&[][..], &[0xff; 12], &[3, 0], &[20]] {
            assert_eq!(read(bytes, 9, 8), None, "{bytes:?}");
        }
    }

    #[test]
    fn surplus_numbers_in_runs_are_detected() {
        let same = [10 << 1, 1];
        let packed = [5, 0xff, 0xff];
        for (bytes, count, is_at_end) in [
            (&same[..], 10, true),
            (&same, 9, false),
            (&packed, 16, true),
            (&packed, 9, true),
            (&[10 << 1, 1, 0][..], 10, false),
            (&[&packed[..], &[0]].concat(), 9, false),
            // A run with 256 numbers, and 254, 255 or 256 left. All 256 may be left only if nothing is read at all.
            (&[&[0x41][..], &[0xff; 32]].concat(), 2, true),
            (&[&[0x41][..], &[0xff; 32]].concat(), 1, true),
            (&[&[0x43][..], &[0xff; 33]].concat(), 8, false),
        ] {
            assert_eq!(read(bytes, 1, count).is_some(), is_at_end, "{bytes:?} {count}");
        }
    }

    /// Compares every width with packing by definition.
    #[test]
    fn every_width_is_counted() {
        for width in 1..=32_u32 {
            let mask = if width == 32 { u32::MAX } else { (1 << width) - 1 };
            let numbers: Vec<u32> = (0..64_u32).map(|n| n.wrapping_mul(0x9e37_79b9) >> 3 & mask).collect();
            let mut bytes = vec![0; 8 * width as usize];
            for (at, number) in numbers.iter().enumerate() {
                for bit in (0..width as usize).filter(|bit| number >> bit & 1 == 1) {
                    let place = at * width as usize + bit;
                    bytes[place / 8] |= 1 << (place % 8);
                }
            }
            for count in [0, 1, 8, 63, 64] {
                let most = numbers[..count].iter().max().copied().unwrap_or(0);
                let expected = numbers[..count].iter().filter(|&&number| number == most).count();
                assert_eq!(count_packed(&bytes, width as u8, count, most), Some(expected), "{width} {count}");
                assert!(most == 0 || count_packed(&bytes, width as u8, count, most - 1).is_none(), "{width} {count}");
            }
        }
    }

    #[test]
    fn the_highest_bit_may_be_first() {
        // The format's examples: the numbers 0 to 7 in three bits each.
        let highest = [0b0000_0101, 0b0011_1001, 0b0111_0111];
        let lowest = [0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(reversed(&highest, 3, 8), lowest);
        assert_eq!(reversed(&[0b1100_0001], 1, 8), [0b1000_0011]);
    }

    fn deltas(bytes: &[u8], pieces: &[usize]) -> Option<Vec<i64>> {
        let bytes = Bytes::copy_from_slice(bytes);
        let mut list = Deltas::new(bytes.clone())?;
        let mut numbers = Vec::new();
        pieces.iter().try_for_each(|&piece| list.read(piece, &mut numbers))?;
        (list.left() == 0 && Deltas::end(&bytes) == Some(bytes.len())).then_some(numbers)
    }

    #[test]
    fn differences_are_added_up() {
        // The format's examples, in blocks of eight numbers in one miniblock, and truncated after the last number.
        let first = [8, 1, 5, 2, 2, 0];
        for pieces in [&[5][..], &[1, 4], &[2, 2, 1]] {
            assert_eq!(deltas(&first, pieces), Some(vec![1, 2, 3, 4, 5]), "{pieces:?}");
        }
        // 7, 5, 3, 1, 2, 3, 4, 5: the minimum difference is -2, and 0, 0, 0, 3, 3, 3, 3 are added.
        let second = [8, 1, 8, 14, 3, 2, 0b1100_0000, 0b0011_1111];
        assert_eq!(deltas(&second, &[3, 5]), Some(vec![7, 5, 3, 1, 2, 3, 4, 5]));
        assert_eq!(deltas(&[8, 1, 1, 2], &[1]), Some(vec![1]));
        assert_eq!(deltas(&[8, 1, 0, 0], &[]), Some(vec![]));
        for (bytes, pieces) in [
            (&first[..], &[4][..]),
            (&first, &[6]),
            (&first[..5], &[5]),
            (&[&first[..], &[0]].concat(), &[5]),
            (&second[..6], &[8]),
            // No miniblocks, empty miniblocks, and an invalid width.
            (&[8, 0, 5, 2, 2, 0], &[5]),
            (&[1, 2, 5, 2, 2, 0], &[5]),
            (&[8, 1, 5, 2, 2, 65, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[5]),
        ] {
            assert_eq!(deltas(bytes, pieces), None, "{bytes:?}");
        }
    }

    /// Compares differences of every width with packing by definition.
    #[test]
    fn differences_of_every_width_are_read() {
        for width in 0..=64_u32 {
            let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            let added: Vec<u64> = (1..32_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask).collect();
            let mut bytes = vec![32, 1, 32, 0, 0, width as u8];
            bytes.resize(6 + 4 * width as usize, 0);
            for (at, number) in added.iter().enumerate() {
                for bit in (0..width as usize).filter(|bit| number >> bit & 1 == 1) {
                    let place = at * width as usize + bit;
                    bytes[6 + place / 8] |= 1 << (place % 8);
                }
            }
            let expected = added.iter().scan(0_i64, |sum, &number| {
                *sum = sum.wrapping_add(number as i64);
                Some(*sum)
            });
            let expected: Vec<i64> = [0].into_iter().chain(expected).collect();
            assert_eq!(deltas(&bytes, &[5, 27]), Some(expected), "{width}");
        }
    }

    /// Tests that a list with an impossible number of values is read only as far as requested.
    #[test]
    fn declared_counts_reserve_no_memory() {
        // A block with 2^28 numbers in one miniblock. All differences have 0 bits.
        let bytes = Bytes::from_static(&[0x80, 0x80, 0x80, 0x80, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0]);
        let mut numbers = Vec::new();
        let mut list = Deltas::new(bytes.clone()).unwrap();
        list.read(9, &mut numbers).unwrap();
        assert_eq!(numbers, vec![0; 9]);
        assert_eq!(Deltas::end(&bytes), None);
    }
}
