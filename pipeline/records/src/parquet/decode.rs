//! Decodes a column chunk's cells, page by page.
//!
//! The crate `parquet` creates a reference-counted object per text, which takes longer than deciding the URL, and
//! reserves the memory that pages claim to need. So pages are decoded here, straight into cells and a few at a time. A
//! page must have exactly the number of values that it declares; otherwise it is damaged. Source: the Parquet format,
//! Encodings.md.

use bytes::Bytes;
use parquet::basic::Type;
use parquet::schema::types::ColumnDescriptor;

use super::ahead::AheadPages;
use super::cells::{BATCH_BYTES, Cells, Hosts};
use super::encoding::Encoding;
use super::kinds::{DAY, Meaning, width_of};
use super::limits::{MAX_DICTIONARY_VALUES, within};
use super::page::{Data, Kind, Levels, Page, in_page};
use super::runs::{Deltas, Hybrid, read_bit_packed};

/// The Julian day of 1970-01-01. 96-bit times count Julian days.
const JULIAN_1970: i64 = 2_440_588;

/// Number of cells that are decoded at once.
const PIECE_ROWS: usize = 4096;

/// The error for a page that ends before its last value, or whose values are not in its dictionary.
const SHORT: &str = "it has fewer values than it says, or damaged ones";

/// The error for a page that continues after its last value.
const SURPLUS: &str = "it has more values than it says, or damaged ones";

/// A column chunk decoder.
pub struct Decoder {
    pages: AheadPages,
    value: ValueType,
    max_level: u32,
    dictionary: Option<Dictionary>,
    page: Option<OpenPage>,
    levels: Vec<u32>,
    indices: Vec<u32>,
    numbers: Vec<i64>,
}

/// A column's value type.
#[derive(Clone, Copy)]
struct ValueType {
    physical: Type,
    meaning: Meaning,
    /// Bytes per value, if the width is fixed.
    width: usize,
}

/// A dictionary's values.
struct Dictionary {
    bytes: Bytes,
    /// The values' lookups in the set, if they are hosts.
    hosts: Hosts,
    /// Each text's start and end. Empty for fixed-width values.
    texts: Vec<(u32, u32)>,
    /// Length in bytes of the longest text within the limit.
    longest: usize,
}

/// A partly read page.
struct OpenPage {
    offset: u64,
    /// Number of remaining values, including nulls.
    left: usize,
    levels: Option<LevelReader>,
    /// The declared number of nulls, and the number read so far.
    nulls: (Option<u32>, u32),
    has_values: bool,
    values: Values,
}

/// A page's levels, which mark nulls.
enum LevelReader {
    Runs(Hybrid),
    /// Packed with the highest bit first: the bytes, the width per level, and the number of levels read.
    Bits(Bytes, u8, usize),
}

/// A page's values, and the next value's position.
enum Values {
    /// Texts preceded by their lengths, and the next text's offset.
    Plain(Bytes, usize),
    /// Dictionary indexes.
    Places(Hybrid),
    /// Fixed-width values, and the next value's offset.
    Fixed(Bytes, usize),
    /// Fixed-width values, grouped by byte position, and the next value's index.
    Split(Bytes, usize),
    /// One-bit flags, and the next flag's index.
    Bits(Bytes, usize),
    /// Run-length encoded flags.
    Flags(Hybrid),
    /// Numbers.
    Deltas(Deltas),
    /// Text lengths, texts, and the next text's offset.
    Lengths(Lengths, Bytes, usize),
    /// Shared prefix lengths, suffix lengths, the suffixes, the next suffix's offset, and the preceding text.
    Prefixes(Lengths, Lengths, Bytes, usize, Vec<u8>),
}

/// Text lengths. Some are decoded before their texts are read.
struct Lengths {
    list: Deltas,
    known: Vec<i64>,
    next: usize,
}

impl Decoder {
    /// Creates a decoder for a column's pages.
    pub fn new(pages: AheadPages, column: &ColumnDescriptor, meaning: Meaning) -> Decoder {
        let (physical, width) = (column.physical_type(), width_of(column));
        let (levels, indices, numbers) = (Vec::new(), Vec::new(), Vec::new());
        let max_level = u32::try_from(column.max_def_level()).unwrap_or(0);
        let value = ValueType { physical, meaning, width };
        Decoder { pages, value, max_level, dictionary: None, page: None, levels, indices, numbers }
    }

    /// Decodes the next cells, at most `rows`. Returns their number, which is 0 at the end.
    ///
    /// # Errors
    /// Returns an error if a page is damaged, or has an encoding that is invalid for its type.
    pub fn read(&mut self, rows: u64, cells: &mut Cells) -> Result<usize, String> {
        while self.page.is_none() {
            let Some(page) = self.pages.next()? else { return Ok(0) };
            let offset = page.offset;
            match page.kind {
                Kind::Dictionary(count, encoding) => {
                    let read = self.read_dictionary(page.bytes, count, encoding, cells.limit);
                    self.dictionary = Some(read.map_err(|text| in_page(offset, text))?);
                }
                Kind::Data(data) if data.values > 0 => {
                    self.page = Some(self.open(page, data).map_err(|text| in_page(offset, text))?);
                }
                Kind::Data(_) | Kind::Index => {}
            }
        }
        let Some(mut page) = self.page.take() else { return Ok(0) };
        let count = page.left.min(PIECE_ROWS).min(usize::try_from(rows).unwrap_or(PIECE_ROWS));
        let count = self.decode(&mut page, count, cells).map_err(|text| in_page(page.offset, text))?;
        page.left -= count;
        // The page is dropped as soon as it is read, so that there is never more than one.
        if page.left > 0 {
            self.page = Some(page);
        } else if !page.is_at_end(self.value.width) {
            return Err(in_page(page.offset, SURPLUS));
        }
        Ok(count)
    }

    /// Decodes a page's next cells, at most `count`. Returns their number.
    fn decode(&mut self, page: &mut OpenPage, count: usize, cells: &mut Cells) -> Result<usize, &'static str> {
        let Decoder { value, max_level, dictionary, levels, indices, numbers, .. } = self;
        let (value, max_level) = (*value, *max_level);
        // A few bytes in a file may expand to many cells, so cell sizes are limited in advance.
        let fitting = |longest: usize| count.min((BATCH_BYTES / longest.max(1)).max(1));
        let count = match &mut page.values {
            Values::Plain(bytes, at) => count_within(BATCH_BYTES, bytes.get(*at..).unwrap_or_default(), count),
            Values::Places(_) => fitting(dictionary.as_ref().map_or(0, |dictionary| dictionary.longest)),
            Values::Fixed(..) | Values::Split(..) => fitting(value.width),
            Values::Bits(..) | Values::Flags(_) | Values::Deltas(_) => count,
            Values::Lengths(lengths, ..) => {
                lengths.know(count).ok_or(SHORT)?;
                lens_within(count, |at| lengths.get(at))
            }
            Values::Prefixes(prefixes, rests, ..) => {
                prefixes.know(count).and_then(|()| rests.know(count)).ok_or(SHORT)?;
                lens_within(count, |at| prefixes.get(at)?.checked_add(rests.get(at)?))
            }
        };
        let mut present = count;
        if let Some(reader) = &mut page.levels {
            levels.clear();
            reader.read(count, levels).ok_or(SHORT)?;
            if levels.iter().any(|&level| level > max_level) {
                return Err(SHORT);
            }
            present = levels.iter().filter(|&&level| level == max_level).count();
            page.nulls.1 += (count - present) as u32;
        }
        page.has_values |= present > 0;
        let levels = (present < count).then_some((&levels[..], max_level));
        let done = match &mut page.values {
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
                indices.clear();
                places.read(present, indices).ok_or(SHORT)?;
                let dictionary = match dictionary {
                    Some(dictionary) => dictionary,
                    None if present == 0 => return nulls(count, cells),
                    None => return Err("it needs a dictionary, and there is none before it"),
                };
                let mut indices = indices.iter();
                if value.physical == Type::BYTE_ARRAY {
                    let page = cells.keep_dictionary(&dictionary.bytes, &dictionary.hosts);
                    push_all(count, levels, cells, |cells| {
                        let (start, text) = dictionary.get(*indices.next()?)?;
                        cells.push_of(page, start, text);
                        Some(())
                    })
                } else {
                    push_all(count, levels, cells, |cells| {
                        let start = (*indices.next()? as usize).checked_mul(value.width)?;
                        value.push(dictionary.bytes.get(start..start.checked_add(value.width)?)?, cells)
                    })
                }
            }
            Values::Fixed(bytes, at) => push_all(count, levels, cells, |cells| {
                let bytes = bytes.get(*at..at.checked_add(value.width)?)?;
                *at += value.width;
                value.push(bytes, cells)
            }),
            Values::Split(bytes, at) => {
                let all = bytes.len() / value.width.max(1);
                let mut whole = Vec::with_capacity(value.width.min(bytes.len()));
                push_all(count, levels, cells, |cells| {
                    whole.clear();
                    whole.extend((0..value.width).map_while(|part| bytes.get(part * all + *at)));
                    *at += 1;
                    (*at <= all).then(|| value.push(&whole, cells))?
                })
            }
            Values::Bits(bytes, at) => push_all(count, levels, cells, |cells| {
                let is_set = bytes.get(*at / 8)? >> (*at % 8) & 1 == 1;
                *at += 1;
                cells.push_flag(is_set);
                Some(())
            }),
            Values::Flags(flags) => {
                indices.clear();
                flags.read(present, indices).ok_or(SHORT)?;
                let mut flags = indices.iter();
                push_all(count, levels, cells, |cells| {
                    cells.push_flag(*flags.next()? == 1);
                    Some(())
                })
            }
            Values::Deltas(list) => {
                numbers.clear();
                list.read(present, numbers).ok_or(SHORT)?;
                let mut numbers = numbers.iter();
                let is_short = value.physical == Type::INT32;
                push_all(count, levels, cells, |cells| {
                    let number = *numbers.next()?;
                    // Differences between 32-bit numbers wrap around.
                    cells.push_number(if is_short { i64::from(number as i32) } else { number }, value);
                    Some(())
                })
            }
            Values::Lengths(lengths, bytes, at) => {
                let page = cells.keep_page(bytes);
                push_all(count, levels, cells, |cells| {
                    let end = at.checked_add(lengths.take()?)?;
                    cells.push_of(page, *at, bytes.get(*at..end)?);
                    *at = end;
                    Some(())
                })
            }
            Values::Prefixes(prefixes, rests, bytes, at, before) => push_all(count, levels, cells, |cells| {
                let (prefix, end) = (prefixes.take()?, at.checked_add(rests.take()?)?);
                let rest = bytes.get(*at..end)?;
                if prefix > before.len() || value.width > 0 && prefix + rest.len() != value.width {
                    return None;
                }
                before.truncate(prefix);
                before.extend_from_slice(rest);
                *at = end;
                cells.push(before);
                Some(())
            }),
        };
        done.ok_or(SHORT)?;
        Ok(count)
    }

    /// Prepares a data page.
    fn open(&self, page: Page, data: Data) -> Result<OpenPage, String> {
        let Page { offset, bytes, .. } = page;
        let has_levels = self.max_level > 0;
        let width = (u32::BITS - self.max_level.leading_zeros()) as u8;
        let (levels, at, nulls) = match data.levels {
            Levels::V1 { encoding: Encoding::Rle, .. } if has_levels => {
                let len = *bytes.first_chunk().ok_or(SHORT)?;
                let end = 4 + u32::from_le_bytes(len) as usize;
                let levels = bytes.get(4..end).map(|levels| bytes.slice_ref(levels)).ok_or(SHORT)?;
                (Some(LevelReader::Runs(Hybrid::new(levels, width)?)), end, None)
            }
            Levels::V1 { encoding: Encoding::BitPacked, .. } if has_levels => {
                let len = (data.values as usize).checked_mul(width.into()).ok_or(SHORT)?.div_ceil(8);
                let levels = bytes.get(..len).map(|levels| bytes.slice_ref(levels)).ok_or(SHORT)?;
                (Some(LevelReader::Bits(levels, width, 0)), len, None)
            }
            Levels::V1 { encoding, .. } if has_levels => {
                return Err(format!("its definition levels have the encoding {encoding}, which is not read"));
            }
            Levels::V1 { .. } => (None, 0, None),
            Levels::V2 { nulls, repetition, definition, .. } => {
                let (start, end) = (repetition as usize, repetition as usize + definition as usize);
                let levels = bytes.get(start..end).map(|levels| bytes.slice_ref(levels)).ok_or(SHORT)?;
                let levels = has_levels.then(|| Hybrid::new(levels, width).map(LevelReader::Runs)).transpose()?;
                (levels, end, Some(nulls))
            }
        };
        let bytes = bytes.get(at..).map(|rest| bytes.slice_ref(rest)).ok_or(SHORT)?;
        let left = data.values as usize;
        let values = self.values(data.encoding, bytes)?;
        Ok(OpenPage { offset, left, levels, nulls: (nulls, 0), has_values: false, values })
    }

    /// Returns a reader for a page's values.
    fn values(&self, encoding: Encoding, bytes: Bytes) -> Result<Values, String> {
        let physical = self.value.physical;
        let is_text = matches!(physical, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY);
        Ok(match (encoding, physical) {
            (Encoding::Plain, Type::BYTE_ARRAY) => Values::Plain(bytes, 0),
            (Encoding::Plain, Type::BOOLEAN) => Values::Bits(bytes, 0),
            (Encoding::Plain, _) => Values::Fixed(bytes, 0),
            (Encoding::Dictionary, _) if physical != Type::BOOLEAN => {
                // The first byte is the index width. A page with only nulls may lack it.
                let width = bytes.first().copied().unwrap_or(0);
                Values::Places(Hybrid::new(bytes.slice(bytes.len().min(1)..), width)?)
            }
            (Encoding::Rle, Type::BOOLEAN) => {
                let (len, flags) = bytes.split_first_chunk().ok_or(SHORT)?;
                if u32::from_le_bytes(*len) as usize != flags.len() {
                    return Err(SHORT.into());
                }
                Values::Flags(Hybrid::new(bytes.slice_ref(flags), 1)?)
            }
            (Encoding::DeltaBinaryPacked, Type::INT32 | Type::INT64) => {
                Values::Deltas(Deltas::new(bytes).ok_or(SHORT)?)
            }
            (Encoding::DeltaLengthByteArray, Type::BYTE_ARRAY) => {
                let (lengths, rest) = Lengths::split(bytes).ok_or(SHORT)?;
                Values::Lengths(lengths, rest, 0)
            }
            (Encoding::DeltaByteArray, _) if is_text => {
                let (prefixes, rest) = Lengths::split(bytes).ok_or(SHORT)?;
                let (rests, rest) = Lengths::split(rest).ok_or(SHORT)?;
                Values::Prefixes(prefixes, rests, rest, 0, Vec::new())
            }
            (Encoding::ByteStreamSplit, _) if self.value.width > 0 && physical != Type::INT96 => {
                Values::Split(bytes, 0)
            }
            _ => return Err(format!("it has the encoding {encoding}, which is not read for the type {physical}")),
        })
    }

    /// Reads a dictionary. Texts longer than `limit` bytes are not kept in cells.
    fn read_dictionary(
        &self,
        bytes: Bytes,
        count: u32,
        encoding: Encoding,
        limit: usize,
    ) -> Result<Dictionary, String> {
        within(|| "values of its dictionary:".into(), count.into(), MAX_DICTIONARY_VALUES.into())?;
        if !matches!(encoding, Encoding::Plain | Encoding::Dictionary) {
            return Err(format!("it is a dictionary with the encoding {encoding}, which is not read"));
        }
        match self.value {
            ValueType { physical: Type::BYTE_ARRAY, .. } => {
                Dictionary::read(bytes, count as usize, limit).ok_or_else(|| SHORT.into())
            }
            ValueType { width, .. } if width.checked_mul(count as usize) == Some(bytes.len()) => {
                Ok(Dictionary { bytes, hosts: Hosts::default(), texts: Vec::new(), longest: width })
            }
            _ => Err(SHORT.into()),
        }
    }
}

/// Pushes `count` nulls.
fn nulls(count: usize, cells: &mut Cells) -> Result<usize, &'static str> {
    (0..count).for_each(|_| cells.push_null());
    Ok(count)
}

impl OpenPage {
    /// Returns whether the page ends here, and has the declared number of nulls.
    fn is_at_end(&self, width: usize) -> bool {
        let levels = match &self.levels {
            None => true,
            Some(LevelReader::Runs(levels)) => levels.is_at_end(),
            // The page's length was derived from the number of levels.
            Some(LevelReader::Bits(..)) => true,
        };
        // If a page has only nulls, DuckDB writes an empty list with surplus bytes.
        let values = !self.has_values
            || match &self.values {
                Values::Plain(bytes, at) | Values::Fixed(bytes, at) => *at == bytes.len(),
                Values::Split(bytes, at) => at.checked_mul(width) == Some(bytes.len()),
                Values::Bits(bytes, at) => at.div_ceil(8) == bytes.len(),
                Values::Places(runs) | Values::Flags(runs) => runs.is_at_end(),
                Values::Deltas(list) => list.is_at_end(),
                Values::Lengths(lengths, bytes, at) => lengths.is_at_end() && *at == bytes.len(),
                Values::Prefixes(prefixes, rests, bytes, at, _) => {
                    prefixes.is_at_end() && rests.is_at_end() && *at == bytes.len()
                }
            };
        levels && values && self.nulls.0.is_none_or(|nulls| nulls == self.nulls.1)
    }
}

impl LevelReader {
    /// Appends the next levels, or returns `None` if there are fewer.
    fn read(&mut self, count: usize, levels: &mut Vec<u32>) -> Option<()> {
        match self {
            LevelReader::Runs(runs) => runs.read(count, levels),
            LevelReader::Bits(bytes, width, read) => {
                read_bit_packed(bytes, *width, *read, count, levels)?;
                *read += count;
                Some(())
            }
        }
    }
}

impl Lengths {
    /// Splits bytes into a leading length list and the remaining bytes.
    fn split(bytes: Bytes) -> Option<(Lengths, Bytes)> {
        let end = Deltas::end(&bytes)?;
        let list = Deltas::new(bytes.slice(..end))?;
        Some((Lengths { list, known: Vec::new(), next: 0 }, bytes.slice(end..)))
    }

    /// Decodes lengths until the next `count`, or all remaining ones, are known.
    fn know(&mut self, count: usize) -> Option<()> {
        let missing = count.saturating_sub(self.known.len() - self.next);
        if missing > 0 {
            self.known.drain(..self.next);
            self.next = 0;
            let left = usize::try_from(self.list.left()).unwrap_or(usize::MAX);
            self.list.read(missing.min(left), &mut self.known)?;
        }
        Some(())
    }

    /// Returns the length `at` positions after the next one, if it is known.
    fn get(&self, at: usize) -> Option<usize> {
        usize::try_from(*self.known.get(self.next + at)?).ok()
    }

    /// Returns the next length, or `None` at the end.
    fn take(&mut self) -> Option<usize> {
        let len = self.get(0)?;
        self.next += 1;
        Some(len)
    }

    /// Returns whether all lengths are used.
    fn is_at_end(&self) -> bool {
        self.list.is_at_end() && self.next == self.known.len()
    }
}

/// Returns how many of the next `count` texts fit into [`BATCH_BYTES`], but at least 1. Invalid lengths are detected
/// when their texts are read.
fn lens_within(count: usize, len: impl Fn(usize) -> Option<usize>) -> usize {
    let mut left = BATCH_BYTES;
    for at in 0..count {
        let Some(len) = len(at) else { return count };
        match left.checked_sub(len) {
            Some(rest) => left = rest,
            None => return at.max(1),
        }
    }
    count
}

/// Returns how many of the next `count` cells fit into `limit` bytes, but at least 1. Each cell is a text preceded by
/// its length. Nulls need no bytes, and truncated texts are detected when they are read.
fn count_within(mut limit: usize, mut rest: &[u8], count: usize) -> usize {
    // The usual case: all remaining cells fit.
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

/// Pushes `count` cells: the next value, or a null where the level says so. Returns `None` if there are too few values.
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
    /// Reads a dictionary with `count` texts. Texts longer than `limit` are not kept in cells. Returns `None` if the
    /// text count differs.
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
        (at == bytes.len()).then_some(Dictionary { bytes, hosts: Hosts::default(), texts, longest })
    }

    /// Returns a text and its offset in the page.
    #[inline]
    fn get(&self, place: u32) -> Option<(usize, &[u8])> {
        let &(start, end) = self.texts.get(place as usize)?;
        Some((start as usize, self.bytes.get(start as usize..end as usize)?))
    }
}

impl ValueType {
    /// Pushes a value from these bytes. Returns `None` if the length is wrong.
    fn push(self, bytes: &[u8], cells: &mut Cells) -> Option<()> {
        match self.physical {
            Type::INT32 => cells.push_number(i32::from_le_bytes(bytes.try_into().ok()?).into(), self),
            Type::INT64 => cells.push_number(i64::from_le_bytes(bytes.try_into().ok()?), self),
            Type::INT96 => {
                // Nanoseconds within the day, then the day.
                let (nanoseconds, day) = bytes.split_first_chunk()?;
                let seconds = u64::from_le_bytes(*nanoseconds) / 1_000_000_000;
                let day = u32::from_le_bytes(day.try_into().ok()?);
                let midnight = (i64::from(day) - JULIAN_1970) * DAY;
                cells.push_instant(midnight.saturating_add_unsigned(seconds));
            }
            Type::FLOAT => cells.push_float(f32::from_le_bytes(bytes.try_into().ok()?).into()),
            Type::DOUBLE => cells.push_float(f64::from_le_bytes(bytes.try_into().ok()?)),
            Type::FIXED_LEN_BYTE_ARRAY if bytes.len() == self.width => cells.push(bytes),
            Type::FIXED_LEN_BYTE_ARRAY | Type::BYTE_ARRAY | Type::BOOLEAN => return None,
        }
        Some(())
    }
}

impl Cells {
    /// Pushes a whole number.
    fn push_number(&mut self, number: i64, value: ValueType) {
        match value.meaning {
            Meaning::Plain => self.push(number.to_string().as_bytes()),
            Meaning::Unsigned if value.physical == Type::INT32 => self.push((number as u32).to_string().as_bytes()),
            Meaning::Unsigned => self.push((number as u64).to_string().as_bytes()),
            Meaning::Days => self.push_local(number.saturating_mul(DAY)),
            Meaning::PerSecond(parts) => self.push_instant(number.div_euclid(parts)),
            Meaning::LocalPerSecond(parts) => self.push_local(number.div_euclid(parts)),
        }
    }

    /// Pushes an instant in seconds since 1970.
    pub(crate) fn push_instant(&mut self, seconds: i64) {
        self.push(format!("@{seconds}").as_bytes());
    }

    /// Pushes a local date and time, in seconds since 1970 local time.
    pub(crate) fn push_local(&mut self, seconds: i64) {
        self.push(crate::time::show_local(seconds).as_bytes());
    }

    /// Pushes a floating-point number, or a null for NaN, which programs without null numbers write.
    pub(crate) fn push_float(&mut self, number: f64) {
        if number.is_nan() {
            self.push_null();
        } else {
            self.push(number.to_string().as_bytes());
        }
    }

    /// Pushes a flag.
    pub(crate) fn push_flag(&mut self, is_set: bool) {
        self.push(if is_set { b"true" } else { b"false" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(cells: &Cells) -> Vec<Option<&str>> {
        (0..cells.len()).map(|at| cells.get(at).text().map(|text| str::from_utf8(text).unwrap())).collect()
    }

    #[test]
    fn numbers_are_written_according_to_their_meaning() {
        let mut cells = Cells::new(100);
        let value = |physical, meaning| ValueType { physical, meaning, width: 0 };
        for (number, physical, meaning) in [
            (-1, Type::INT64, Meaning::Plain),
            (-1, Type::INT64, Meaning::Unsigned),
            (-1, Type::INT32, Meaning::Unsigned),
            (-1, Type::INT64, Meaning::PerSecond(1_000)),
            (1_999, Type::INT64, Meaning::PerSecond(1_000)),
            (-1, Type::INT32, Meaning::Days),
            (i64::MAX, Type::INT64, Meaning::Days),
            (86_399_999, Type::INT64, Meaning::LocalPerSecond(1_000)),
        ] {
            cells.push_number(number, value(physical, meaning));
        }
        cells.push_float(200.0);
        cells.push_float(f64::NAN);
        cells.push_flag(true);
        let days = format!("@{}", i64::MAX);
        let expected = [
            "-1",
            "18446744073709551615",
            "4294967295",
            "@-1",
            "@1",
            "1969-12-31T00:00:00",
            &days,
            "1970-01-01T23:59:59",
            "200",
        ];
        let expected: Vec<Option<&str>> = expected.into_iter().map(Some).chain([None, Some("true")]).collect();
        assert_eq!(texts(&cells), expected);
    }

    #[test]
    fn plain_cells_stop_at_the_byte_limit() {
        let texts: Vec<u8> = [3_u32, 4, 9, 0]
            .iter()
            .flat_map(|&len| [&len.to_le_bytes()[..], &[7; 9][..len as usize]].concat())
            .collect();
        for (limit, most) in [(2, 1), (3, 1), (6, 1), (7, 2), (15, 2), (16, 4), (31, 4), (32, 4)] {
            assert_eq!(count_within(limit, &texts, 4), most, "{limit}");
            assert_eq!(count_within(limit, &texts, 1), 1, "{limit}");
        }
        // Nulls are cells too. A truncated text is an error later.
        assert_eq!(count_within(16, &texts, 9), 9);
        assert_eq!(count_within(16, &texts[..20], 9), 9);
        for (len, most) in [(BATCH_BYTES, 1), (BATCH_BYTES / 2, 2), (BATCH_BYTES / 2 + 1, 1), (BATCH_BYTES + 1, 1)] {
            assert_eq!(lens_within(4, |_| Some(len)), most, "{len}");
        }
        assert_eq!(lens_within(4, |at| (at < 2).then_some(1)), 4);
    }
}
