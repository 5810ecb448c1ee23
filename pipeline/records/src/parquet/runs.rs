//! Bit-packed numbers, in runs or as differences.
//!
//! Both are decoded a few at a time, so memory use never depends on a page's declared value count. Source: the Parquet
//! format, Encodings.md.

use bytes::Bytes;

use super::footer::varint;

/// Maximum number of padding values in the last packed run. The format pads to a multiple of 8. DuckDB pads to a
/// multiple of 256, with values from an earlier run.
const MAX_FILLED_NUMBERS: usize = 255;

/// Numbers of one width, in runs of one repeated number or of bit-packed numbers.
pub struct Hybrid {
    bytes: Bytes,
    width: u32,
    /// The next run's offset.
    at: usize,
    /// Number of values left in the run.
    left: usize,
    run: Run,
}

enum Run {
    /// A repeated number.
    Same(u32),
    /// Bit-packed numbers, and the next number's bit offset.
    Packed(usize),
}

impl Hybrid {
    /// Creates a reader for numbers with `width` bits.
    ///
    /// # Errors
    /// Returns an error if the width is more than 32.
    pub fn new(bytes: Bytes, width: u8) -> Result<Hybrid, String> {
        if u32::from(width) > u32::BITS {
            return Err(format!("has numbers of {width} bits; the limit is {}", u32::BITS));
        }
        Ok(Hybrid { bytes, width: width.into(), at: 0, left: 0, run: Run::Same(0) })
    }

    /// Appends the next `count` numbers, or returns `None` if there are fewer.
    pub fn read(&mut self, mut count: usize, numbers: &mut Vec<u32>) -> Option<()> {
        while count > 0 {
            while self.left == 0 {
                self.begin()?;
            }
            let now = count.min(self.left);
            match &mut self.run {
                Run::Same(number) => numbers.extend(std::iter::repeat_n(*number, now)),
                Run::Packed(bit) => {
                    let width = self.width as usize;
                    if *bit + now * width > self.bytes.len() * 8 {
                        return None;
                    }
                    let mask = (1_u64 << width) - 1;
                    numbers.extend((0..now).map(|number| {
                        let bit = *bit + number * width;
                        (word_at(&self.bytes, bit / 8) >> (bit % 8) & mask) as u32
                    }));
                    *bit += now * width;
                }
            }
            self.left -= now;
            count -= now;
        }
        Some(())
    }

    /// Returns whether no number is left, apart from the last packed run's padding.
    pub fn is_at_end(&self) -> bool {
        let most = if let Run::Packed(_) = self.run { MAX_FILLED_NUMBERS } else { 0 };
        self.left <= most && self.at == self.bytes.len()
    }

    /// Begins the next run.
    fn begin(&mut self) -> Option<()> {
        let mut rest = self.bytes.get(self.at..)?;
        let header = varint(&mut rest)?;
        self.at = self.bytes.len() - rest.len();
        let count = usize::try_from(header >> 1).ok()?;
        if header & 1 == 1 {
            // Groups of eight. The last group may extend past the end of the page.
            self.left = count.checked_mul(8)?;
            self.run = Run::Packed(self.at.checked_mul(8)?);
            self.at = self.at.checked_add(count.checked_mul(self.width as usize)?)?.min(self.bytes.len());
        } else {
            let len = self.width.div_ceil(8) as usize;
            let bytes = self.bytes.get(self.at..self.at + len)?;
            let number = bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
            self.at += len;
            self.left = count;
            self.run = Run::Same(number);
        }
        Some(())
    }
}

/// Appends `count` numbers from index `from` on. They are bit-packed with the highest bit first, as old writers wrote
/// levels. Returns `None` if there are fewer.
pub fn read_bit_packed(bytes: &[u8], width: u8, from: usize, count: usize, numbers: &mut Vec<u32>) -> Option<()> {
    let width = usize::from(width);
    let end = from.checked_add(count)?.checked_mul(width)?;
    if end > bytes.len() * 8 {
        return None;
    }
    let bit = |at: usize| u32::from(bytes[at / 8] >> (7 - at % 8) & 1);
    let number = |number: usize| (0..width).fold(0, |value, at| value << 1 | bit(number * width + at));
    numbers.extend((from..from + count).map(number));
    Some(())
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

    /// Returns whether all numbers were read and no byte is left.
    pub fn is_at_end(&self) -> bool {
        self.left == 0 && self.at == self.bytes.len()
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

    fn read(bytes: &[u8], width: u8, count: usize) -> Option<Vec<u32>> {
        let mut numbers = Vec::new();
        let mut hybrid = Hybrid::new(Bytes::copy_from_slice(bytes), width).unwrap();
        // Reading in pieces of any size returns the same numbers.
        for piece in [1, 2, 3] {
            let now = piece.min(count - numbers.len());
            hybrid.read(now, &mut numbers)?;
        }
        let left = count - numbers.len();
        hybrid.read(left, &mut numbers)?;
        Some(numbers)
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
        assert!(Hybrid::new(Bytes::new(), 33).is_err());
    }

    #[test]
    fn unread_numbers_in_runs_are_detected() {
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
            let mut hybrid = Hybrid::new(Bytes::copy_from_slice(bytes), 1).unwrap();
            hybrid.read(count, &mut Vec::new()).unwrap();
            assert_eq!(hybrid.is_at_end(), is_at_end, "{bytes:?} {count}");
        }
    }

    /// Compares every width with packing by definition.
    #[test]
    fn every_width_is_decoded() {
        for width in 0..=32_u32 {
            let numbers: Vec<u32> = (0..64_u64)
                .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17 & ((1 << width) - 1)) as u32)
                .collect();
            let mut bytes = vec![8 << 1 | 1];
            bytes.resize(1 + 8 * width as usize, 0);
            for (at, number) in numbers.iter().enumerate() {
                for bit in (0..width as usize).filter(|bit| number >> bit & 1 == 1) {
                    let place = at * width as usize + bit;
                    bytes[1 + place / 8] |= 1 << (place % 8);
                }
            }
            assert_eq!(read(&bytes, width as u8, 64), Some(numbers), "{width}");
        }
    }

    #[test]
    fn the_highest_bit_may_be_first() {
        // The format's example: the numbers 0 to 7 in three bits each.
        let mut numbers = Vec::new();
        let bytes = [0b0000_0101, 0b0011_1001, 0b0111_0111];
        assert_eq!(read_bit_packed(&bytes, 3, 0, 3, &mut numbers), Some(()));
        assert_eq!(read_bit_packed(&bytes, 3, 3, 5, &mut numbers), Some(()));
        assert_eq!(numbers, (0..8).collect::<Vec<_>>());
        assert_eq!(read_bit_packed(&bytes, 3, 3, 6, &mut numbers), None);
    }

    fn deltas(bytes: &[u8], pieces: &[usize]) -> Option<Vec<i64>> {
        let bytes = Bytes::copy_from_slice(bytes);
        let mut list = Deltas::new(bytes.clone())?;
        let mut numbers = Vec::new();
        pieces.iter().try_for_each(|&piece| list.read(piece, &mut numbers))?;
        (list.is_at_end() && Deltas::end(&bytes) == Some(bytes.len())).then_some(numbers)
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
        assert_eq!((numbers, list.is_at_end()), (vec![0; 9], false));
        assert_eq!(Deltas::end(&bytes), None);
    }
}
