//! Checked pages for the crate `parquet`, whose decoders trust the counts in a page: [`CheckedPages`].

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::basic::{Encoding as CrateEncoding, Type};
use parquet::column::page::{Page as CratePage, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

use super::ahead::AheadPages;
use super::encoding::Encoding;
use super::fields::width_of;
use super::file::MessageResult;
use super::limits::{MAX_GROUP_BYTES, MAX_PAGE_BYTES, MAX_READ_VALUES};
use super::page::{Data, IN_PAGE, Levels, Page, ParquetPageKind, in_page};
use super::runs::{Deltas, Run, count_packed, reversed, walk_runs};
use crate::batches::limits::within;

/// The error for a page that ends before its last value.
const SHORT: &str = "it has fewer values than it says, or damaged ones";

/// The error for a page that continues after its last value.
const SURPLUS: &str = "it has more values than it says, or damaged ones";

/// The bytes that fastparquet writes after the values of each page.
const PADDING: [u8; 8] = [0; 8];

/// The Julian day of 1970-01-01. 96-bit times count Julian days.
const JULIAN_1970: i64 = 2_440_588;

/// Nanoseconds per day.
const DAY_NANOSECONDS: i128 = 86_400_000_000_000;

/// Counts a field reader's values and bytes since the last reset, and knows its last page. A single row may have many
/// values, on many pages.
#[derive(Default)]
pub struct ReadCounts {
    values: AtomicU64,
    bytes: AtomicU64,
    /// The last page's column, and its offset if it was read.
    page: Mutex<(Option<usize>, Option<u64>)>,
}

impl ReadCounts {
    /// Resets the counts.
    pub fn reset(&self) {
        self.values.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Returns the column of the last page.
    pub fn column(&self) -> Option<usize> {
        self.last_page().0
    }

    /// Adds the last page to an error, unless it names a page.
    pub fn in_last_page(&self, text: String) -> String {
        match self.last_page().1 {
            Some(offset) if !text.starts_with(IN_PAGE) => in_page(offset, text),
            _ => text,
        }
    }

    fn last_page(&self) -> MutexGuard<'_, (Option<usize>, Option<u64>)> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a page.
    fn add(&self, values: u64, bytes: u64) -> MessageResult<()> {
        let values = self.values.fetch_add(values, Ordering::Relaxed).saturating_add(values);
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        within(|| "values of the pages that a few rows are on:".into(), values, MAX_READ_VALUES)?;
        within(|| "bytes of the pages that a few rows are on:".into(), bytes, MAX_GROUP_BYTES)
    }
}

/// A column chunk's pages, as the crate expects them.
pub struct CheckedPages {
    pages: AheadPages,
    /// The column's index in the file.
    place: usize,
    physical: Type,
    /// Bytes per value, if the width is fixed.
    width: usize,
    max_definition: i16,
    max_repetition: i16,
    /// Whether the column's times must fit into nanoseconds since 1970.
    has_nanoseconds: bool,
    has_dictionary: bool,
    counts: Arc<ReadCounts>,
    next: Option<CratePage>,
}

impl CheckedPages {
    /// Prepares to read a chunk's pages.
    pub fn new(pages: AheadPages, column: &ColumnDescriptor, place: usize, counts: Arc<ReadCounts>) -> CheckedPages {
        CheckedPages {
            pages,
            place,
            physical: column.physical_type(),
            width: width_of(column),
            max_definition: column.max_def_level(),
            max_repetition: column.max_rep_level(),
            has_nanoseconds: false,
            has_dictionary: false,
            counts,
            next: None,
        }
    }

    /// Rejects times that do not fit into nanoseconds since 1970, which the crate would change.
    pub fn with_nanoseconds(self) -> CheckedPages {
        CheckedPages { has_nanoseconds: self.physical == Type::INT96, ..self }
    }

    /// Reads the next page with values, unless it is known.
    fn peek(&mut self) -> Result<Option<&CratePage>> {
        while self.next.is_none() {
            *self.counts.last_page() = (Some(self.place), None);
            let Some(page) = self.pages.next().map_err(ParquetError::General)? else { return Ok(None) };
            let offset = page.offset;
            *self.counts.last_page() = (Some(self.place), Some(offset));
            self.next = self.page(page).map_err(|text| ParquetError::General(in_page(offset, text)))?;
        }
        Ok(self.next.as_ref())
    }

    /// Checks and converts a page. Returns `None` for a page without values.
    fn page(&mut self, page: Page) -> MessageResult<Option<CratePage>> {
        let Page { kind, bytes: buf, .. } = page;
        Ok(match kind {
            ParquetPageKind::Dictionary(count, encoding) => {
                self.check_dictionary(&buf, count, encoding)?;
                self.has_dictionary = true;
                let encoding = CrateEncoding::PLAIN;
                Some(CratePage::DictionaryPage { buf, num_values: count, encoding, is_sorted: false })
            }
            ParquetPageKind::Data(Data { values: 0, .. }) | ParquetPageKind::Index => None,
            ParquetPageKind::Data(data) => Some(self.data_page(buf, data)?),
        })
    }

    /// Checks that a dictionary has as many values as its header says.
    fn check_dictionary(&self, bytes: &Bytes, count: u32, encoding: Encoding) -> MessageResult<()> {
        if !matches!(encoding, Encoding::Plain | Encoding::Dictionary) {
            return Err(format!("it is a dictionary with the encoding {encoding}, which is not read"));
        }
        let end = match self.physical {
            Type::BOOLEAN => None,
            _ => self.values_end(bytes, Encoding::Plain, count as usize)?,
        };
        if end == Some(bytes.len()) { Ok(()) } else { Err(SHORT.into()) }
    }

    /// Checks and converts a data page.
    fn data_page(&self, bytes: Bytes, Data { values, encoding, levels }: Data) -> MessageResult<CratePage> {
        let (definition_width, repetition_width) =
            (width_of_level(self.max_definition), width_of_level(self.max_repetition));
        let (buf, levels, start, present) = match levels {
            Levels::V2 { nulls, repetition, definition, .. } => {
                let (middle, start) = (repetition as usize, repetition as usize + definition as usize);
                self.level_count(bytes.get(..middle).ok_or(SHORT)?, repetition_width, self.max_repetition, values)?;
                let definition = bytes.get(middle..start).ok_or(SHORT)?;
                let present = self.level_count(definition, definition_width, self.max_definition, values)?;
                if present != values as usize - (nulls as usize).min(values as usize) {
                    return Err(SURPLUS.into());
                }
                (bytes, levels, start, present)
            }
            Levels::V1 { encoding, repetition } => {
                let repetition = repetition.unwrap_or(Encoding::Rle);
                let all = [
                    (repetition, repetition_width, self.max_repetition),
                    (encoding, definition_width, self.max_definition),
                ];
                let (bytes, start, present) = self.levels(bytes, all, values)?;
                (bytes, levels, start, present)
            }
        };
        let expanded = self.check_values(&buf.slice(start..), encoding, present)?;
        // Rows with one value are decoded a few at a time, regardless of the page's size.
        let (several, own) = if self.max_repetition > 0 { (values, buf.len() as u64) } else { (0, 0) };
        self.counts.add(several.into(), own + expanded)?;
        let encoding = crate_encoding(encoding)?;
        Ok(match levels {
            Levels::V1 { .. } => CratePage::DataPage {
                buf,
                num_values: values,
                encoding,
                def_level_encoding: CrateEncoding::RLE,
                rep_level_encoding: CrateEncoding::RLE,
                statistics: None,
            },
            Levels::V2 { nulls, rows, repetition, definition, .. } => CratePage::DataPageV2 {
                buf,
                num_values: values,
                encoding,
                num_nulls: nulls,
                num_rows: rows,
                def_levels_byte_len: definition,
                rep_levels_byte_len: repetition,
                is_compressed: false,
                statistics: None,
            },
        })
    }

    /// Checks the levels that precede a page's values: their encodings, their widths and the highest level of each
    /// kind. Returns the page with run-length encoded levels, the start of its values, and their number.
    fn levels(&self, bytes: Bytes, all: [(Encoding, u8, i16); 2], values: u32) -> MessageResult<(Bytes, usize, usize)> {
        let (mut start, mut present, mut levels) = (0, values as usize, Vec::new());
        let is_packed = |&(encoding, width, _): &(Encoding, u8, i16)| encoding == Encoding::BitPacked && width > 0;
        let is_any_packed = all.iter().any(is_packed);
        for (encoding, width, max) in all.into_iter().filter(|&(_, width, _)| width > 0) {
            let rest = bytes.get(start..).ok_or(SHORT)?;
            let (runs, len) = match encoding {
                Encoding::Rle => {
                    let (len, rest) = rest.split_first_chunk().ok_or(SHORT)?;
                    let len = u32::from_le_bytes(*len) as usize;
                    (Cow::Borrowed(rest.get(..len).ok_or(SHORT)?), 4 + len)
                }
                Encoding::BitPacked => {
                    let len = (values as usize * usize::from(width)).div_ceil(8);
                    let packed = reversed(rest.get(..len).ok_or(SHORT)?, width, values as usize);
                    (Cow::Owned(packed_run(&packed, width, values)), len)
                }
                other => return Err(format!("its levels have the encoding {other}, which is not read")),
            };
            present = self.level_count(&runs, width, max, values)?;
            if is_any_packed {
                levels.extend_from_slice(&(runs.len() as u32).to_le_bytes());
                levels.extend_from_slice(&runs);
            }
            start += len;
        }
        if !is_any_packed {
            return Ok((bytes, start, present));
        }
        let start_of_values = levels.len();
        levels.extend_from_slice(bytes.get(start..).ok_or(SHORT)?);
        Ok((levels.into(), start_of_values, present))
    }

    /// Returns how many of `values` levels are the highest. Only the definition levels come last, and tell the number of
    /// values that are not null.
    fn level_count(&self, runs: &[u8], width: u8, max: i16, values: u32) -> MessageResult<usize> {
        if width == 0 {
            return Ok(values as usize);
        }
        let max = u32::try_from(max).map_err(|_| SHORT)?;
        let mut found = 0;
        let rest = walk_runs(runs, width, values as usize, |run, now| {
            found += match run {
                Run::Same(level) if level > max => return None,
                Run::Same(level) => {
                    if level == max {
                        now
                    } else {
                        0
                    }
                }
                Run::Packed(bytes) => count_packed(bytes, width, now, max)?,
            };
            Some(())
        });
        match rest {
            Some([]) => Ok(found),
            Some(_) => Err(SURPLUS.into()),
            None => Err(SHORT.into()),
        }
    }

    /// Checks that a page has `present` values that are not null. Returns how many bytes decoding adds to the page.
    fn check_values(&self, bytes: &Bytes, encoding: Encoding, present: usize) -> MessageResult<u64> {
        // If a page has only nulls, DuckDB writes an empty list with surplus bytes.
        if present == 0 {
            return Ok(0);
        }
        if encoding == Encoding::Dictionary && !self.has_dictionary {
            return Err("it needs a dictionary, and there is none before it".into());
        }
        let end = self.values_end(bytes, encoding, present)?.ok_or(SHORT)?;
        let rest = bytes.get(end..).ok_or(SHORT)?;
        if !rest.is_empty() && rest != PADDING {
            return Err(SURPLUS.into());
        }
        Ok(match encoding {
            Encoding::DeltaByteArray => {
                let (prefixes, end) = delta_list(bytes, 0, present)?;
                let (rests, _) = delta_list(bytes, end, present)?;
                let expanded = sum(prefixes)?.saturating_add(sum(rests)?);
                within(|| "bytes of its texts with their shared prefixes:".into(), expanded, MAX_PAGE_BYTES)?;
                expanded
            }
            // The crate copies values of fixed length from the dictionary.
            Encoding::Dictionary if self.max_repetition > 0 => (self.width * present) as u64,
            _ => 0,
        })
    }

    /// Returns the end of `count` values, or `None` if there are fewer.
    fn values_end(&self, bytes: &Bytes, encoding: Encoding, count: usize) -> MessageResult<Option<usize>> {
        let physical = self.physical;
        Ok(match (encoding, physical) {
            (Encoding::Plain, Type::BYTE_ARRAY) => texts_end(bytes, count),
            (Encoding::Plain, Type::BOOLEAN) => Some(count.div_ceil(8)),
            (Encoding::Plain, Type::INT96) if self.has_nanoseconds => {
                let end = count * self.width;
                check_nanoseconds(bytes.get(..end).ok_or(SHORT)?)?;
                Some(end)
            }
            (Encoding::Plain, _) => count.checked_mul(self.width),
            (Encoding::ByteStreamSplit, _) if self.width > 0 && physical != Type::INT96 => {
                count.checked_mul(self.width)
            }
            (Encoding::Dictionary, _) if physical != Type::BOOLEAN => {
                // The first byte is the index width.
                let Some((&width, runs)) = bytes.split_first() else { return Ok(None) };
                if u32::from(width) > u32::BITS {
                    return Err(format!("has numbers of {width} bits; the limit is {}", u32::BITS));
                }
                walk_runs(runs, width, count, |_, _| Some(())).map(|rest| bytes.len() - rest.len())
            }
            (Encoding::Rle, Type::BOOLEAN) => {
                let (len, flags) = bytes.split_first_chunk().ok_or(SHORT)?;
                let end = 4 + u32::from_le_bytes(*len) as usize;
                let flags = flags.get(..end - 4).and_then(|flags| walk_runs(flags, 1, count, |_, _| Some(())));
                flags.filter(|rest| rest.is_empty()).map(|_| end)
            }
            (Encoding::DeltaBinaryPacked, Type::INT32 | Type::INT64) => Some(delta_list(bytes, 0, count)?.1),
            (Encoding::DeltaLengthByteArray, Type::BYTE_ARRAY) => {
                let (lengths, end) = delta_list(bytes, 0, count)?;
                end.checked_add(sum(lengths)? as usize)
            }
            (Encoding::DeltaByteArray, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY) => {
                let (_, end) = delta_list(bytes, 0, count)?;
                let (rests, end) = delta_list(bytes, end, count)?;
                end.checked_add(sum(rests)? as usize)
            }
            _ => return Err(format!("it has the encoding {encoding}, which is not read for the type {physical}")),
        })
    }
}

/// Returns the number of bits in levels up to `max`.
fn width_of_level(max: i16) -> u8 {
    (i16::BITS - max.max(0).leading_zeros()) as u8
}

/// Returns bit-packed levels as a run.
fn packed_run(packed: &[u8], width: u8, values: u32) -> Vec<u8> {
    let groups = (values as usize).div_ceil(8);
    let mut header = (groups as u64) << 1 | 1;
    let mut run = Vec::with_capacity(packed.len() + 16);
    while header > 0x7f {
        run.push(header as u8 | 0x80);
        header >>= 7;
    }
    run.push(header as u8);
    run.extend_from_slice(packed);
    run.resize(run.len() - packed.len() + groups * usize::from(width), 0);
    run
}

/// Returns the end of texts that are preceded by their lengths, or `None` if there are fewer.
fn texts_end(bytes: &[u8], count: usize) -> Option<usize> {
    let mut at = 0_usize;
    for _ in 0..count {
        let len = u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize;
        at = at.checked_add(4 + len)?;
    }
    (at <= bytes.len()).then_some(at)
}

/// Checks that 96-bit times fit into nanoseconds since 1970.
fn check_nanoseconds(times: &[u8]) -> MessageResult<()> {
    for time in times.as_chunks::<12>().0 {
        // Nanoseconds within the day, then the day.
        let nanoseconds = time.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let days = time.last_chunk().map_or(0, |bytes| i64::from(u32::from_le_bytes(*bytes))) - JULIAN_1970;
        let all = i128::from(days) * DAY_NANOSECONDS + i128::from(nanoseconds);
        if i64::try_from(all).is_err() {
            return Err("it has an INT96 time before 1677 or after 2262, which is not kept".into());
        }
    }
    Ok(())
}

/// Returns a list of `count` differences that starts at an offset, and its end.
fn delta_list(bytes: &Bytes, start: usize, count: usize) -> MessageResult<(Deltas, usize)> {
    let bytes = bytes.slice(start.min(bytes.len())..);
    let end = Deltas::end(&bytes).ok_or(SHORT)?;
    let list = Deltas::new(bytes.slice(..end)).filter(|list| list.left() == count as u64).ok_or(SHORT)?;
    within(|| "values in a list of differences:".into(), list.left(), MAX_READ_VALUES)?;
    Ok((list, start + end))
}

/// Returns the sum of lengths.
fn sum(mut lengths: Deltas) -> MessageResult<u64> {
    /// Number of lengths that are decoded at once.
    const PIECE: u64 = 4096;
    let (mut piece, mut sum) = (Vec::new(), 0_u64);
    while lengths.left() > 0 {
        piece.clear();
        lengths.read(lengths.left().min(PIECE) as usize, &mut piece).ok_or(SHORT)?;
        for &len in &piece {
            sum = sum.saturating_add(u64::try_from(len).map_err(|_| SHORT)?);
        }
    }
    Ok(sum)
}

/// Returns the crate's name for an encoding.
fn crate_encoding(encoding: Encoding) -> MessageResult<CrateEncoding> {
    Ok(match encoding {
        Encoding::Plain => CrateEncoding::PLAIN,
        Encoding::Dictionary => CrateEncoding::RLE_DICTIONARY,
        Encoding::Rle => CrateEncoding::RLE,
        #[allow(deprecated, reason = "old files have it")]
        Encoding::BitPacked => CrateEncoding::BIT_PACKED,
        Encoding::DeltaBinaryPacked => CrateEncoding::DELTA_BINARY_PACKED,
        Encoding::DeltaLengthByteArray => CrateEncoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::DeltaByteArray => CrateEncoding::DELTA_BYTE_ARRAY,
        Encoding::ByteStreamSplit => CrateEncoding::BYTE_STREAM_SPLIT,
        Encoding::Alp => return Err(format!("it has the encoding {encoding}, which is not read")),
    })
}

impl Iterator for CheckedPages {
    type Item = Result<CratePage>;

    fn next(&mut self) -> Option<Result<CratePage>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<CratePage>> {
        self.peek()?;
        Ok(self.next.take())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Ok(self.peek()?.map(|page| PageMetadata {
            num_rows: match page {
                CratePage::DataPageV2 { num_rows, .. } => Some(*num_rows as usize),
                _ => None,
            },
            num_levels: page.is_data_page().then_some(page.num_values() as usize),
            is_dict: page.is_dictionary_page(),
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.get_next_page().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use parquet::data_type::Int32Type;
    use parquet::file::metadata::ColumnChunkMetaData;
    use parquet::schema::parser::parse_message_type;

    use super::super::ahead::Chunk;
    use super::super::rows::tests::{batches, properties, saved};
    use super::*;
    use crate::batches::RecordBatches;
    use crate::ranged::Ranged;

    #[test]
    fn pages_of_a_few_rows_stop_at_the_limits() {
        for (values, bytes, fits) in [
            (MAX_READ_VALUES - 1, 0, true),
            (MAX_READ_VALUES, 0, true),
            (MAX_READ_VALUES + 1, 0, false),
            (0, MAX_GROUP_BYTES - 1, true),
            (0, MAX_GROUP_BYTES, true),
            (0, MAX_GROUP_BYTES + 1, false),
        ] {
            let counts = ReadCounts::default();
            assert_eq!(counts.add(values, bytes).is_ok(), fits, "{values} {bytes}");
            counts.reset();
            assert!(counts.add(values / 2, bytes / 2).is_ok());
            assert_eq!(counts.add(values - values / 2, bytes - bytes / 2).is_ok(), fits, "{values} {bytes}");
        }
    }

    /// Tests a row whose levels take a few bytes in the file.
    #[test]
    fn a_row_with_too_many_values_is_rejected() {
        let schema = "optional group a (LIST) { repeated group list { optional int32 element; } }";
        for (values, fits) in [(1 << 16, true), (MAX_READ_VALUES as usize + 1, false)] {
            let file = saved(schema, properties(), |column| {
                let mut lists = vec![1; values];
                lists[0] = 0;
                column.typed::<Int32Type>().write_batch(&[], Some(&vec![2; values]), Some(&lists)).unwrap();
            });
            let read = batches(&file, &[], true).next().map(|batch| batch.map(|batch| batch.rows));
            assert_eq!(read, if fits { Ok(Some(1)) } else { read.clone() }, "{values}");
            assert!(fits || read.is_err_and(|text| text.contains("values of the pages that a few rows are on")));
        }
    }

    /// Returns an empty chunk's pages.
    fn pages(column: &str) -> CheckedPages {
        let schema = parse_message_type(&format!("message m {{ {column} a; }}")).unwrap();
        let descr = parquet::schema::types::SchemaDescriptor::new(Arc::new(schema)).column(0);
        let metadata = ColumnChunkMetaData::builder(Arc::clone(&descr)).build().unwrap();
        let source = Arc::new(Ranged::new(tempfile::tempfile().unwrap(), 0));
        let chunk = Chunk::new(&source, &descr, &metadata, 0).unwrap();
        CheckedPages::new(AheadPages::single(chunk), &descr, 0, Arc::default())
    }

    #[test]
    fn dictionaries_that_contradict_their_bytes_are_rejected() {
        for (column, count, len, is_possible) in [
            ("required binary", 3, 12, true),
            ("required binary", 3, 11, false),
            ("required binary", 3, 13, false),
            ("required int32", 3, 12, true),
            ("required int32", 3, 13, false),
            ("required int96", 1, 12, true),
            ("required fixed_len_byte_array(5)", 2, 10, true),
            ("required fixed_len_byte_array(5)", 2, 9, false),
            ("required boolean", 0, 0, false),
        ] {
            let page = Page {
                offset: 0,
                kind: ParquetPageKind::Dictionary(count, Encoding::Plain),
                bytes: vec![0; len].into(),
            };
            assert_eq!(pages(column).page(page).is_ok(), is_possible, "{column} {count} {len}");
        }
    }

    #[test]
    fn values_that_contradict_their_number_are_rejected() {
        // A list of 5 differences: a block of 128 in 4 parts, the first number 1, then widths 0.
        let deltas = &[128, 1, 4, 5, 2, 0, 0, 0, 0, 0][..];
        // Five times 0, and five times 1.
        let (zeros, ones) = (&[128, 1, 4, 5, 0, 0, 0, 0, 0, 0][..], &[128, 1, 4, 5, 2, 0, 0, 0, 0, 0][..]);
        let (text, number, flag, fixed) =
            ("required binary", "required int32", "required boolean", "required fixed_len_byte_array(5)");
        let padded = |bytes: &[u8]| [bytes, &PADDING].concat();
        let texts = [0, 0, 0, 0, 1, 0, 0, 0, b'a'];
        for (column, encoding, bytes, values) in [
            (number, Encoding::DeltaBinaryPacked, deltas.to_vec(), 5),
            (text, Encoding::DeltaLengthByteArray, [ones, b"abcde"].concat(), 5),
            (text, Encoding::DeltaByteArray, [zeros, ones, b"abcde"].concat(), 5),
            (fixed, Encoding::DeltaByteArray, [zeros, ones, b"abcde"].concat(), 5),
            (text, Encoding::Plain, texts.to_vec(), 2),
            (number, Encoding::Plain, vec![1; 8], 2),
            (fixed, Encoding::Plain, vec![1; 10], 2),
            (number, Encoding::ByteStreamSplit, vec![1; 8], 2),
            (flag, Encoding::Rle, vec![2, 0, 0, 0, 2 << 1, 1], 2),
        ] {
            let check = |bytes: &[u8], values| {
                pages(column).check_values(&Bytes::copy_from_slice(bytes), encoding, values).is_ok()
            };
            assert!(check(&bytes, values) && check(&padded(&bytes), values), "{column} {encoding}");
            assert!(!check(&bytes, values + 1) && !check(&bytes[..bytes.len() - 1], values), "{column} {encoding}");
            assert!(!check(&bytes, values - 1) && !check(&[&bytes[..], &[0]].concat(), values), "{column} {encoding}");
        }
    }

    #[test]
    fn levels_that_contradict_the_header_are_rejected() {
        let of = |max: i16, runs: &[u8], values: u32| {
            let width = width_of_level(max);
            pages("required int32").level_count(runs, width, max, values).ok()
        };
        for (max, runs, values, expected) in [
            (0, &[][..], 7, Some(7)),
            (1, &[2 << 1, 1], 2, Some(2)),
            (1, &[2 << 1, 0], 2, Some(0)),
            (1, &[2 << 1, 2], 2, None),
            (1, &[2 << 1, 1], 1, None),
            (1, &[2 << 1, 1], 3, None),
            (1, &[3, 0b101], 3, Some(2)),
            (2, &[3, 0b0010_0110, 0], 3, Some(2)),
            (2, &[3, 0b0011_0110, 0], 3, None),
            (3, &[3, 0b0011_0110, 0], 3, Some(1)),
        ] {
            assert_eq!(of(max, runs, values), expected, "{max} {runs:?} {values}");
        }
    }

    #[test]
    fn times_that_nanoseconds_cannot_hold_are_rejected() {
        let time = |day: u32, nanoseconds: u64| [&nanoseconds.to_le_bytes()[..], &day.to_le_bytes()].concat();
        for (day, is_kept) in [(0, false), (2_440_588, true), (2_500_000, true), (u32::MAX, false)] {
            let (bytes, column) = (Bytes::from(time(day, 5)), "required int96");
            let kept = pages(column).with_nanoseconds();
            assert_eq!(kept.check_values(&bytes, Encoding::Plain, 1).is_ok(), is_kept, "{day}");
            assert!(pages(column).check_values(&bytes, Encoding::Plain, 1).is_ok(), "{day}");
        }
    }
}
