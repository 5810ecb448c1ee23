//! Columns of texts, decoded page by page straight into cells.
//!
//! The crate `parquet` makes an object with a shared owner of each text, which takes longer than deciding the URL. Here the
//! two encodings that nearly all files have for texts, plain and by a dictionary, are read from the crate's pages without
//! that; columns with any other encoding are left to the crate. Sources: the Parquet format, Encodings.md.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::file::metadata::ColumnChunkMetaData;

use super::ahead::AheadPages;
use super::column::{BATCH_BYTES, Cells, Hosts};
use super::footer::varint;

/// Texts that are decoded at once.
const PIECE_ROWS: usize = 4096;

/// What is said of a page that ends before its last value.
const SHORT: &str = "a page has fewer values than it says";

/// Reads the texts of a column chunk.
pub struct Texts {
    pages: AheadPages,
    max_level: u32,
    dictionary: Option<Dictionary>,
    page: Option<TextPage>,
    levels: Vec<u32>,
    indices: Vec<u32>,
}

/// The texts of a dictionary.
struct Dictionary {
    bytes: Bytes,
    /// What a set has for them, if they are hosts.
    hosts: Hosts,
    /// Where each text begins and ends.
    texts: Vec<(u32, u32)>,
    /// Bytes of the longest text that is not too long to be kept.
    longest: usize,
}

/// What is left of a page.
struct TextPage {
    /// Values, nulls included.
    left: usize,
    levels: Option<Hybrid>,
    values: Values,
}

enum Values {
    /// Texts with their lengths before them, and where the next one begins.
    Plain(Bytes, usize),
    /// Places in the dictionary.
    Places(Hybrid),
}

impl Texts {
    /// Whether all pages of a column chunk have an encoding that is read here.
    #[expect(deprecated, reason = "older writers name it for levels that the column does not have")]
    pub fn can_read(chunk: &ColumnChunkMetaData) -> bool {
        chunk.encodings().all(|encoding| {
            matches!(
                encoding,
                Encoding::PLAIN
                    | Encoding::BIT_PACKED
                    | Encoding::RLE
                    | Encoding::PLAIN_DICTIONARY
                    | Encoding::RLE_DICTIONARY
            )
        })
    }

    /// Reads these pages. `max_level` is the definition level of a value that is not null.
    pub fn new(pages: AheadPages, max_level: i16) -> Texts {
        let max_level = u32::try_from(max_level).unwrap_or(0);
        Texts { pages, max_level, dictionary: None, page: None, levels: Vec::new(), indices: Vec::new() }
    }

    /// Reads some of the next cells, at most `rows`. Returns how many; 0 at the end.
    ///
    /// # Errors
    /// If a page is damaged.
    pub fn read(&mut self, rows: u64, cells: &mut Cells) -> Result<usize, String> {
        while self.page.as_ref().is_none_or(|page| page.left == 0) {
            // The page before goes first, so that there is never more than one.
            self.page = None;
            match self.pages.next()? {
                None => return Ok(0),
                Some(Page::DictionaryPage { buf, num_values, .. }) => {
                    self.dictionary = Some(Dictionary::read(buf, num_values as usize, cells.limit).ok_or(SHORT)?);
                }
                Some(page) => self.page = Some(self.begin(page)?),
            }
        }
        let Some(page) = &mut self.page else { return Ok(0) };
        let count = page.left.min(PIECE_ROWS).min(usize::try_from(rows).unwrap_or(PIECE_ROWS));
        // Few bytes of a file may stand for many cells, so that the bytes of the cells are bounded before they are made.
        let count = match &page.values {
            Values::Plain(bytes, at) => count_within(BATCH_BYTES, bytes.get(*at..).unwrap_or_default(), count),
            Values::Places(_) => {
                let longest = self.dictionary.as_ref().map_or(0, |dictionary| dictionary.longest);
                count.min((BATCH_BYTES / longest.max(1)).max(1))
            }
        };
        page.left -= count;
        let mut present = count;
        if let Some(levels) = &mut page.levels {
            self.levels.clear();
            levels.read(count, &mut self.levels).ok_or(SHORT)?;
            let max_level = self.max_level;
            present = self.levels.iter().filter(|&&level| level == max_level).count();
        }
        let levels = (present < count).then_some((&self.levels[..], self.max_level));
        match &mut page.values {
            Values::Plain(bytes, at) => {
                let page = cells.keep_page(bytes);
                push_all(count, levels, cells, |cells| {
                    let (len, rest) = bytes.get(*at..)?.split_first_chunk()?;
                    let text = rest.get(..u32::from_le_bytes(*len) as usize)?;
                    cells.push_of(page, *at + 4, text);
                    *at += 4 + text.len();
                    Some(())
                })
            }
            Values::Places(places) => {
                self.indices.clear();
                places.read(present, &mut self.indices).ok_or(SHORT)?;
                let dictionary = self.dictionary.as_ref().ok_or("a page needs a dictionary that is missing")?;
                let mut indices = self.indices.iter();
                let page = cells.keep_dictionary(&dictionary.bytes, &dictionary.hosts);
                push_all(count, levels, cells, |cells| {
                    let (start, text) = dictionary.get(*indices.next()?)?;
                    cells.push_of(page, start, text);
                    Some(())
                })
            }
        }
        .ok_or(SHORT)?;
        Ok(count)
    }

    /// Prepares a page of data.
    fn begin(&self, page: Page) -> Result<TextPage, String> {
        let has_levels = self.max_level > 0;
        let (left, encoding, levels, bytes) = match page {
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                if has_levels && def_level_encoding != Encoding::RLE {
                    return Err(format!("definition levels have the encoding {def_level_encoding}, which is not read"));
                }
                let len = match buf.first_chunk() {
                    Some(&len) if has_levels => 4 + u32::from_le_bytes(len) as usize,
                    None if has_levels => return Err(SHORT.into()),
                    _ => 0,
                };
                let levels = has_levels.then(|| buf.get(4..len).map(|levels| buf.slice_ref(levels)).ok_or(SHORT));
                (num_values, encoding, levels.transpose()?, buf.get(len..).map(|bytes| buf.slice_ref(bytes)))
            }
            Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let start = rep_levels_byte_len as usize;
                let end = start + def_levels_byte_len as usize;
                let levels = has_levels.then(|| buf.get(start..end).map(|levels| buf.slice_ref(levels)).ok_or(SHORT));
                (num_values, encoding, levels.transpose()?, buf.get(end..).map(|bytes| buf.slice_ref(bytes)))
            }
            Page::DictionaryPage { .. } => return Err("a dictionary is not where it should be".into()),
        };
        let bytes = bytes.ok_or(SHORT)?;
        let values = match encoding {
            Encoding::PLAIN => Values::Plain(bytes, 0),
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => {
                // The first byte is the width of the places. A page of nulls may lack it.
                let width = bytes.first().copied().unwrap_or(0);
                Values::Places(Hybrid::new(bytes.slice(bytes.len().min(1)..), width)?)
            }
            other => return Err(format!("a page has the encoding {other}, which its column does not name")),
        };
        let width = (u32::BITS - self.max_level.leading_zeros()) as u8;
        let levels = levels.map(|levels| Hybrid::new(levels, width)).transpose()?;
        Ok(TextPage { left: left as usize, levels, values })
    }
}

/// How many of the next `count` cells have no more than so many bytes, if each is a text with its length before it; but one
/// at least. Nulls take none, and texts that are cut off are found when they are read.
fn count_within(mut limit: usize, mut rest: &[u8], count: usize) -> usize {
    // The rest of a usual page.
    if rest.len() <= limit {
        return count;
    }
    for taken in 0..count {
        let Some((len, after)) = rest.split_first_chunk() else { return count };
        let len = u32::from_le_bytes(*len) as usize;
        match (limit.checked_sub(len), after.get(len..)) {
            (Some(left), Some(after)) => (limit, rest) = (left, after),
            (None, _) => return taken.max(1),
            (_, None) => return count,
        }
    }
    count
}

/// Pushes `count` cells: the next text, or null where the level says so. `None` if there are too few texts.
#[inline]
fn push_all(
    count: usize,
    levels: Option<(&[u32], u32)>,
    cells: &mut Cells,
    mut push_next: impl FnMut(&mut Cells) -> Option<()>,
) -> Option<()> {
    match levels {
        None => (0..count).try_for_each(|_| push_next(cells)),
        Some((levels, max_level)) => levels.iter().try_for_each(|&level| match level == max_level {
            true => push_next(cells),
            false => {
                cells.push_null();
                Some(())
            }
        }),
    }
}

impl Dictionary {
    /// Reads a dictionary of so many texts, of which those of more than `limit` bytes are not kept in cells. `None` if there
    /// are fewer.
    fn read(bytes: Bytes, count: usize, limit: usize) -> Option<Dictionary> {
        let mut texts = Vec::with_capacity(count.min(bytes.len() / 4));
        let (mut at, mut longest) = (0_usize, 0);
        for _ in 0..count {
            let len = u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
            let start = at + 4;
            at = start.checked_add(len as usize).filter(|&end| end <= bytes.len())?;
            texts.push((start as u32, at as u32));
            if at - start <= limit {
                longest = longest.max(at - start);
            }
        }
        Some(Dictionary { bytes, hosts: Hosts::default(), texts, longest })
    }

    /// Where a text begins, and the text.
    #[inline]
    fn get(&self, place: u32) -> Option<(usize, &[u8])> {
        let &(start, end) = self.texts.get(place as usize)?;
        Some((start as usize, self.bytes.get(start as usize..end as usize)?))
    }
}

/// Numbers of one width in runs: of one number that repeats, or of numbers packed bit by bit.
struct Hybrid {
    bytes: Bytes,
    width: u32,
    /// The next byte that belongs to no run.
    at: usize,
    /// How many numbers of the run are left.
    left: usize,
    run: Run,
}

enum Run {
    /// This number repeats.
    Same(u32),
    /// The bit at which the next number begins.
    Packed(usize),
}

impl Hybrid {
    fn new(bytes: Bytes, width: u8) -> Result<Hybrid, String> {
        if u32::from(width) > u32::BITS {
            return Err(format!("a page has numbers of {width} bits; the limit is {}", u32::BITS));
        }
        Ok(Hybrid { bytes, width: width.into(), at: 0, left: 0, run: Run::Same(0) })
    }

    /// Appends the next numbers. `None` if there are fewer.
    fn read(&mut self, mut count: usize, numbers: &mut Vec<u32>) -> Option<()> {
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

    /// Begins the next run.
    fn begin(&mut self) -> Option<()> {
        let mut rest = self.bytes.get(self.at..)?;
        let header = varint(&mut rest)?;
        self.at = self.bytes.len() - rest.len();
        let count = usize::try_from(header >> 1).ok()?;
        if header & 1 == 1 {
            // Groups of eight, of which the last may go beyond the end of the page.
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

/// Eight bytes from a place on, with zeros after the end.
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
        // In pieces of every size, the runs are the same.
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
        // The example of the format: the numbers 0 to 7 in three bits each.
        let packed = [0b0000_0011, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(read(&packed, 3, 8), Some((0..8).collect()));
        assert_eq!(read(&packed, 3, 9), None);
        // A run of no numbers, and one of a number that takes two bytes.
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
    fn the_limit_of_the_bytes_of_plain_cells_holds_at_its_edges() {
        let texts: Vec<u8> = [3_u32, 4, 9, 0]
            .iter()
            .flat_map(|&len| [&len.to_le_bytes()[..], &[7; 9][..len as usize]].concat())
            .collect();
        for (limit, most) in [(2, 1), (3, 1), (6, 1), (7, 2), (15, 2), (16, 4), (31, 4), (32, 4)] {
            assert_eq!(count_within(limit, &texts, 4), most, "{limit}");
            assert_eq!(count_within(limit, &texts, 1), 1, "{limit}");
        }
        // Nulls are cells, too; a text that is cut off is an error later.
        assert_eq!(count_within(16, &texts, 9), 9);
        assert_eq!(count_within(16, &texts[..20], 9), 9);
    }

    /// Numbers of every width, packed by their definition.
    #[test]
    fn every_width_is_unpacked() {
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
}
