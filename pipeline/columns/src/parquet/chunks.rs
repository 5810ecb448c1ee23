//! Column chunks: each column is encoded separately, so that all threads share the work.
//!
//! The crate `parquet` hashes each dictionary value and creates a reference-counted object per text, which takes longer
//! than deciding the URL. So pages with verdicts, groups and unique texts are built here. The crate writes their
//! headers, and encodes all other columns.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, EncodingMask, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::hybrid::put_hybrid;
use crate::data::{ColumnData, Kind, Values, words_of};

/// The compression level.
pub const ZSTD_LEVEL: i32 = 1;

/// Number of values per call to the crate's encoder.
const PIECE_VALUES: usize = 1024;

/// Number of keys per page. Sixteen pages form a row group.
const KEYS_PER_PAGE: usize = 1 << 14;

/// Text bytes at which a page is complete, and the maximum number of texts per page.
const TEXT_PAGE_BYTES: usize = 1 << 20;
const TEXTS_PER_PAGE: usize = 20_000;

/// Maximum length in bytes for the minimum and maximum texts in the statistics.
const MAX_STATISTICS_BYTES: usize = 64;

/// The definition level for a list that is present, or an element in it.
const LIST: i16 = 1;
const ELEMENT: i16 = 2;

/// An encoded column chunk.
pub struct Chunk {
    /// The pages with their headers.
    pub bytes: Bytes,
    /// The description for the footer, with offsets in `bytes`.
    pub close: ColumnCloseResult,
}

/// A chunk's pages while it is being encoded. Clones share them.
#[derive(Clone, Default)]
pub struct Pages(Arc<Mutex<Vec<u8>>>);

impl Pages {
    /// Returns the bytes written so far, and removes them.
    pub fn take(&self) -> Bytes {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec, ParquetError> {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = bytes.len() as u64;
        let mut sink = TrackedWrite::new(&mut *bytes);
        let mut spec = SerializedPageWriter::new(&mut sink).write_page(page)?;
        sink.flush()?;
        spec.offset += start;
        Ok(spec)
    }

    fn close(&mut self) -> Result<(), ParquetError> {
        Ok(())
    }
}

/// Encodes a column.
///
/// # Errors
/// Returns an error if the values do not fit the column's type.
pub fn encode(
    column: &ColumnData,
    descr: &ColumnDescPtr,
    properties: &WriterPropertiesPtr,
) -> Result<Chunk, ParquetError> {
    let kind = &column.kind;
    let pages = Pages::default();
    let writer = || -> Box<dyn PageWriter> { Box::new(pages.clone()) };
    let (descr, properties) = (Arc::clone(descr), Arc::clone(properties));
    let close = match &column.values {
        Values::Keys(keys) => return encode_keys(keys, kind, descr),
        Values::Texts { bytes, bounds } if *kind == Kind::Text => return encode_texts(bytes, bounds, descr),
        Values::Texts { bytes, bounds } => {
            let mut to = ColumnWriterImpl::<ByteArrayType>::new(descr, properties, writer());
            write_texts(&Bytes::copy_from_slice(bytes), bounds, &mut to)?;
            to.close()?
        }
        Values::Numbers(numbers) => {
            let mut to = ColumnWriterImpl::<Int32Type>::new(descr, properties, writer());
            write_numbers(numbers, *kind == Kind::Count, &mut to)?;
            to.close()?
        }
        Values::Longs { longs, present } => {
            let levels: Vec<i16> = present.iter().map(|&present| i16::from(present)).collect();
            let longs = longs.iter().zip(present).filter(|(_, present)| **present).map(|(&long, _)| long);
            if *kind == Kind::Id {
                let ids: Vec<i32> = longs.map(|id| id as i32).collect();
                let mut to = ColumnWriterImpl::<Int32Type>::new(descr, properties, writer());
                to.write_batch(&ids, Some(&levels), None)?;
                to.close()?
            } else {
                let longs: Vec<i64> = longs.collect();
                let mut to = ColumnWriterImpl::<Int64Type>::new(descr, properties, writer());
                to.write_batch(&longs, Some(&levels), None)?;
                to.close()?
            }
        }
        Values::Lists { items, ends, present } => {
            let mut to = ColumnWriterImpl::<ByteArrayType>::new(descr, properties, writer());
            if let Kind::Names(names) = kind {
                write_lists(names, items, ends, present, &mut to)?;
            }
            to.close()?
        }
    };
    Ok(Chunk { bytes: pages.take(), close })
}

/// A chunk of an optional column whose pages are built here.
struct ChunkBuilder {
    descr: ColumnDescPtr,
    pages: Pages,
    offsets: OffsetIndexBuilder,
    compressor: zstd::bulk::Compressor<'static>,
    /// Page sizes with their headers.
    packed: usize,
    unpacked: usize,
    rows: usize,
    nulls: usize,
    dictionary: Option<i64>,
    /// The first data page's offset.
    data: Option<i64>,
    /// Number of data pages.
    count: i32,
}

impl ChunkBuilder {
    fn new(descr: ColumnDescPtr) -> Result<ChunkBuilder, ParquetError> {
        let compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
        let (pages, offsets) = (Pages::default(), OffsetIndexBuilder::new());
        let (packed, unpacked, rows, nulls, dictionary, data, count) = (0, 0, 0, 0, None, None, 0);
        Ok(ChunkBuilder { descr, pages, offsets, compressor, packed, unpacked, rows, nulls, dictionary, data, count })
    }

    fn write(&mut self, page: impl FnOnce(Bytes) -> Page, bytes: &[u8]) -> Result<PageWriteSpec, ParquetError> {
        let page = CompressedPage::new(page(self.compressor.compress(bytes)?.into()), bytes.len());
        let spec = self.pages.write_page(page)?;
        self.packed += spec.compressed_size;
        self.unpacked += spec.uncompressed_size;
        Ok(spec)
    }

    fn dictionary(&mut self, words: &[&str]) -> Result<(), ParquetError> {
        let mut bytes = Vec::new();
        words.iter().for_each(|word| put_text(word.as_bytes(), &mut bytes));
        let num_values = words.len() as u32;
        let page = |buf| Page::DictionaryPage { buf, num_values, encoding: Encoding::PLAIN, is_sorted: false };
        let spec = self.write(page, &bytes)?;
        self.dictionary = Some(spec.offset as i64);
        Ok(())
    }

    /// Writes a data page. `present` is 1 for each row with a value, and 0 for a null.
    fn data(&mut self, present: &[u8], encoding: Encoding, values: &[u8]) -> Result<(), ParquetError> {
        let mut bytes = vec![0; 4];
        put_hybrid(present, 1, &mut bytes);
        let len = (bytes.len() - 4) as u32;
        bytes[..4].copy_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(values);
        let page = |buf| Page::DataPage {
            buf,
            num_values: present.len() as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let spec = self.write(page, &bytes)?;
        self.offsets.append_row_count(present.len() as i64);
        self.offsets.append_offset_and_size(spec.offset as i64, spec.compressed_size as i32);
        self.data.get_or_insert(spec.offset as i64);
        self.count += 1;
        self.rows += present.len();
        self.nulls += present.iter().filter(|&&present| present == 0).count();
        Ok(())
    }

    /// Describes the chunk. `bounds` are the minimum and maximum values.
    fn finish(self, encoding: Encoding, bounds: Option<(&[u8], &[u8])>) -> Result<Chunk, ParquetError> {
        let dictionary = self.dictionary.map(|_| (PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1));
        let pages = dictionary.into_iter().chain([(PageType::DATA_PAGE, encoding, self.count)]);
        let statistics = pages.map(|(page_type, encoding, count)| PageEncodingStats { page_type, encoding, count });
        let encodings = [Encoding::PLAIN, Encoding::RLE, encoding];
        let level = ZstdLevel::try_new(ZSTD_LEVEL)?;
        let metadata = ColumnChunkMetaData::builder(Arc::clone(&self.descr))
            .set_compression(Compression::ZSTD(level))
            .set_encodings_mask(EncodingMask::new_from_encodings(encodings.iter()))
            .set_page_encoding_stats(statistics.collect())
            .set_total_compressed_size(self.packed as i64)
            .set_total_uncompressed_size(self.unpacked as i64)
            .set_num_values(self.rows as i64)
            .set_data_page_offset(self.data.unwrap_or(0))
            .set_dictionary_page_offset(self.dictionary)
            .set_statistics(statistics_of(bounds, self.nulls as u64))
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: self.packed as u64,
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(self.offsets.build()),
        };
        Ok(Chunk { bytes: self.pages.take(), close })
    }
}

/// Returns a chunk's statistics. Long texts are cut, which widens the bounds.
fn statistics_of(bounds: Option<(&[u8], &[u8])>, nulls: u64) -> Statistics {
    let cut = |text: &[u8]| -> usize {
        let text = str::from_utf8(text).unwrap_or_default();
        let most = MAX_STATISTICS_BYTES.min(text.len());
        (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
    };
    let least = bounds.map(|(least, _)| least[..cut(least)].to_vec());
    let greatest = bounds.and_then(|(_, greatest)| match cut(greatest) {
        len if len == greatest.len() => Some(greatest.to_vec()),
        len => next_after(&greatest[..len]),
    });
    let is_exact = |own: &Option<Vec<u8>>, text: Option<&[u8]>| own.as_deref() == text;
    let (exact_least, exact_greatest) =
        (is_exact(&least, bounds.map(|bounds| bounds.0)), is_exact(&greatest, bounds.map(|bounds| bounds.1)));
    let statistics =
        ValueStatistics::new(least.map(ByteArray::from), greatest.map(ByteArray::from), None, Some(nulls), false)
            .with_min_is_exact(exact_least)
            .with_max_is_exact(exact_greatest);
    Statistics::ByteArray(statistics)
}

/// Returns a text that is greater than every text that starts with this one, or `None` if that would not be ASCII.
fn next_after(text: &[u8]) -> Option<Vec<u8>> {
    let last = text.iter().rposition(|&byte| byte < 0x7f)?;
    let mut next = text[..=last].to_vec();
    *next.last_mut()? += 1;
    Some(next)
}

/// Appends a text after its length.
fn put_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
}

/// Encodes keys as dictionary indexes. The dictionary has only the words in use.
fn encode_keys(keys: &[i8], kind: &Kind, descr: ColumnDescPtr) -> Result<Chunk, ParquetError> {
    let words = words_of(kind);
    let mut is_used = [false; 1 << 8];
    keys.iter().for_each(|&key| is_used[usize::from(key as u8)] = true);
    let mut indexes = [0; 1 << 8];
    let mut used: Vec<&str> = Vec::new();
    for (key, word) in words.iter().enumerate().filter(|&(key, _)| is_used[key]) {
        indexes[key] = used.len() as u8;
        used.push(word);
    }
    let mut chunk = ChunkBuilder::new(descr)?;
    if !used.is_empty() {
        chunk.dictionary(&used)?;
    }
    let encoding = if used.is_empty() { Encoding::PLAIN } else { Encoding::RLE_DICTIONARY };
    // There are at most four words.
    let width = if used.len() > 2 { 2 } else { 1 };
    let (mut present, mut numbers, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for page in keys.chunks(KEYS_PER_PAGE) {
        present.clear();
        numbers.clear();
        values.clear();
        // Nulls have no words.
        present.extend(page.iter().map(|&key| u8::from(key >= 0)));
        let found = page.iter().filter(|&&key| key >= 0);
        numbers.extend(found.map(|&key| indexes[usize::from(key as u8)]));
        if !used.is_empty() {
            values.push(width);
        }
        put_hybrid(&numbers, width, &mut values);
        chunk.data(&present, encoding, &values)?;
    }
    let bounds = used.iter().min().zip(used.iter().max());
    chunk.finish(encoding, bounds.map(|(least, greatest)| (least.as_bytes(), greatest.as_bytes())))
}

/// Encodes texts without a dictionary.
fn encode_texts(bytes: &[u8], bounds: &[i64], descr: ColumnDescPtr) -> Result<Chunk, ParquetError> {
    let mut chunk = ChunkBuilder::new(descr)?;
    let (mut present, mut values) = (Vec::new(), Vec::new());
    let mut extremes: Option<(&[u8], &[u8])> = None;
    for bounds in bounds.windows(2) {
        let text = bytes.get(bounds[0] as usize..bounds[1] as usize).unwrap_or_default();
        present.push(u8::from(!text.is_empty()));
        if !text.is_empty() {
            put_text(text, &mut values);
            extremes = Some(extremes.map_or((text, text), |(least, most)| (least.min(text), most.max(text))));
        }
        if values.len() >= TEXT_PAGE_BYTES || present.len() >= TEXTS_PER_PAGE {
            chunk.data(&present, Encoding::PLAIN, &values)?;
            present.clear();
            values.clear();
        }
    }
    if !present.is_empty() {
        chunk.data(&present, Encoding::PLAIN, &values)?;
    }
    chunk.finish(Encoding::PLAIN, extremes)
}

fn write_numbers(
    numbers: &[u32],
    is_count: bool,
    to: &mut ColumnWriterImpl<'_, Int32Type>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for piece in numbers.chunks(PIECE_VALUES) {
        values.clear();
        levels.clear();
        // The bits are the same as in the unsigned number.
        if is_count {
            values.extend(piece.iter().map(|&number| number as i32));
            to.write_batch(&values, None, None)?;
            continue;
        }
        levels.extend(piece.iter().map(|&number| i16::from(number > 0)));
        values.extend(piece.iter().filter(|&&number| number > 0).map(|&number| number as i32));
        to.write_batch(&values, Some(&levels), None)?;
    }
    Ok(())
}

/// Writes texts that are stored sequentially in `bytes`.
fn write_texts(
    bytes: &Bytes,
    bounds: &[i64],
    to: &mut ColumnWriterImpl<'_, ByteArrayType>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels, mut start) = (Vec::new(), Vec::new(), 0);
    for piece in bounds.get(1..).unwrap_or_default().chunks(PIECE_VALUES) {
        values.clear();
        levels.clear();
        for &end in piece {
            let range = std::mem::replace(&mut start, end as usize)..end as usize;
            levels.push(i16::from(!range.is_empty()));
            if !range.is_empty() {
                values.push(ByteArray::from(bytes.slice(range)));
            }
        }
        to.write_batch(&values, Some(&levels), None)?;
    }
    Ok(())
}

/// Writes lists of names. Only whole rows are passed to the encoder.
fn write_lists(
    names: &[String],
    items: &[u32],
    ends: &[u32],
    present: &[bool],
    to: &mut ColumnWriterImpl<'_, ByteArrayType>,
) -> Result<(), ParquetError> {
    let names: Vec<ByteArray> = names.iter().map(|name| Bytes::copy_from_slice(name.as_bytes()).into()).collect();
    let (mut values, mut levels, mut repeats, mut start) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (row, (&end, &is_present)) in ends.iter().zip(present).enumerate() {
        let items = &items[std::mem::replace(&mut start, end as usize)..end as usize];
        if items.is_empty() {
            levels.push(if is_present { LIST } else { 0 });
            repeats.push(0);
        }
        for (place, &item) in items.iter().enumerate() {
            values.extend(names.get(item as usize).cloned());
            levels.push(ELEMENT);
            repeats.push(i16::from(place > 0));
        }
        if levels.len() >= PIECE_VALUES || row + 1 == ends.len() {
            to.write_batch(&values, Some(&levels), Some(&repeats))?;
            values.clear();
            levels.clear();
            repeats.clear();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_long_texts_are_cut() {
        for len in [MAX_STATISTICS_BYTES - 1, MAX_STATISTICS_BYTES, MAX_STATISTICS_BYTES + 1] {
            let text = vec![b'z'; len];
            let statistics = statistics_of(Some((&text, &text)), 3);
            let (least, greatest) = (statistics.min_bytes_opt().unwrap(), statistics.max_bytes_opt().unwrap());
            let is_exact = len <= MAX_STATISTICS_BYTES;
            assert_eq!((statistics.min_is_exact(), statistics.max_is_exact()), (is_exact, is_exact), "{len}");
            assert_eq!((least == text, greatest == text), (is_exact, is_exact), "{len}");
            assert!(least <= &text[..] && greatest >= &text[..] && least.len() <= MAX_STATISTICS_BYTES);
            assert_eq!(statistics.null_count_opt(), Some(3));
        }
        // A text is cut between characters. Without an ASCII character, no greater text is written.
        let text = "é".repeat(MAX_STATISTICS_BYTES);
        let statistics = statistics_of(Some((text.as_bytes(), text.as_bytes())), 0);
        assert_eq!(statistics.min_bytes_opt().map(<[u8]>::len), Some(MAX_STATISTICS_BYTES));
        assert_eq!(statistics.max_bytes_opt(), None);
        assert_eq!(next_after(b"a\x7f"), Some(b"b".to_vec()));
    }
}
