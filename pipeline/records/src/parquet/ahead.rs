//! A column chunk's pages, decompressed on all threads, some ahead of the page that is needed.
//!
//! Pages are compressed separately, so a chunk's pages can be decompressed in parallel once their headers have been
//! read. Even a file with a single row group and one dominant column is therefore read on all threads.

use std::collections::VecDeque;
use std::sync::Arc;

use parquet::basic::{CompressionCodec, Type};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::ColumnDescriptor;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::encoding::Encoding;
use super::fields::width_of;
use super::limits::MAX_DICTIONARY_VALUES;
use super::page::{Data, Header, Levels, Page, ParquetPageKind, check_codec, in_page, read_header, read_page};
use crate::batches::guard::guarded;
use crate::batches::limits::within;
use crate::ranged::Ranged;

/// Maximum total size in bytes of pages that are decompressed together. Writers make pages of about a megabyte. A
/// larger page is decompressed alone.
const AHEAD_BYTES: u64 = 4 << 20;

/// Maximum number of pages that are decompressed ahead, regardless of their size.
const MAX_AHEAD_PAGES: usize = 64;

/// Memory per dictionary text in bytes: a view of it.
const DICTIONARY_TEXT_BYTES: u64 = 16;

/// The error for a page that is longer than its column chunk.
const PAST_END: &str = "it ends after the end of its column chunk";

/// A column chunk's location in a file.
pub struct Chunk {
    source: Arc<Ranged>,
    codec: CompressionCodec,
    /// Memory per dictionary value in bytes, in addition to the page.
    value_bytes: u64,
    start: u64,
    end: u64,
    /// The length of the dictionary's header, which old writers of Impala's time do not count in the chunk's length.
    uncounted: u64,
}

impl Chunk {
    /// Returns a column's chunk in a row group of `rows` rows.
    ///
    /// # Errors
    /// Returns an error if the chunk cannot be in the file, has a different row count, or has an unsupported
    /// compression.
    pub fn new(
        source: &Arc<Ranged>,
        column: &ColumnDescriptor,
        chunk: &ColumnChunkMetaData,
        rows: u64,
    ) -> Result<Chunk, String> {
        let codec = chunk.compression_codec();
        check_codec(codec)?;
        if u64::try_from(chunk.num_values()) != Ok(rows) {
            return Err(format!("has {} values, and its row group has {rows} rows", chunk.num_values()));
        }
        let first = chunk.data_page_offset();
        // Old writers set this offset to 0 if there is no dictionary.
        let dictionary = chunk.dictionary_page_offset().filter(|&dictionary| 0 < dictionary && dictionary < first);
        let (start, len) = (u64::try_from(dictionary.unwrap_or(first)), u64::try_from(chunk.compressed_size()));
        let range = start.ok().zip(len.ok()).and_then(|(start, len)| Some((start, start.checked_add(len)?)));
        let (start, end) = range.filter(|&(_, end)| end <= source.len()).ok_or("ends after the end of the file")?;
        let is_text = column.physical_type() == Type::BYTE_ARRAY;
        let value_bytes = if is_text { DICTIONARY_TEXT_BYTES } else { width_of(column) as u64 };
        Ok(Chunk { source: Arc::clone(source), codec, value_bytes, start, end, uncounted: 0 })
    }

    /// Reads a page header, which must be inside the chunk.
    fn header(&self, offset: u64) -> Result<Header, String> {
        let header = read_header(&self.source, offset)?;
        match offset + header.len + header.packed <= self.end + self.uncounted {
            true => Ok(header),
            false => Err(in_page(offset, PAST_END)),
        }
    }

    /// Checks all page headers against each other before any page is read.
    ///
    /// Time: linear in the number of pages.
    ///
    /// # Errors
    /// Returns an error if a header is damaged, if a dictionary is not the first page, or if the pages do not have the
    /// chunk's number of values.
    pub fn survey(&mut self, rows: u64, is_flat: bool) -> Result<Survey, String> {
        let (mut offset, mut values, mut largest, mut dictionary) = (self.start, 0_u64, 0, 0);
        let (mut value_bytes, mut has_other) = (0, false);
        let (mut last, end_of_file) = (offset, self.source.len());
        while offset < self.end {
            let header = self.header(offset)?;
            last = offset;
            let packed = if self.codec == CompressionCodec::UNCOMPRESSED { 0 } else { header.packed };
            let unpacked = header.unpacked.max(header.packed);
            match header.kind {
                ParquetPageKind::Dictionary(..) if offset > self.start => {
                    return Err(in_page(offset, "it is a dictionary, and only the first page may be one"));
                }
                ParquetPageKind::Dictionary(count, _) => {
                    within(
                        || in_page(offset, "values of its dictionary:"),
                        count.into(),
                        MAX_DICTIONARY_VALUES.into(),
                    )?;
                    self.uncounted = header.len.min(end_of_file - self.end);
                    dictionary = unpacked + self.value_bytes * u64::from(count);
                    largest = packed;
                }
                ParquetPageKind::Data(Data { values, levels: Levels::V2 { rows, .. }, .. })
                    if is_flat && rows != values =>
                {
                    return Err(in_page(offset, "its header has different numbers of rows and values"));
                }
                ParquetPageKind::Data(Data { values: count, encoding, .. }) => {
                    values += u64::from(count);
                    has_other |= encoding != Encoding::Dictionary;
                    value_bytes = value_bytes.max(unpacked / u64::from(count.max(1)));
                    // The preceding text is also kept. It is no longer than the page.
                    let before = if encoding == Encoding::DeltaByteArray { 2 * unpacked } else { 0 };
                    largest = largest.max(packed + unpacked + before);
                }
                ParquetPageKind::Index => {}
            }
            offset += header.len + header.packed;
        }
        if offset > self.end && offset != self.end + self.uncounted {
            return Err(in_page(last, PAST_END));
        }
        if values != rows {
            return Err(format!("has pages with {values} values, and its row group has {rows} rows"));
        }
        Ok(Survey { memory: dictionary + largest, value_bytes, is_dictionary: dictionary > 0 && !has_other })
    }
}

/// Figures from the page headers of a column chunk.
#[derive(Clone, Copy)]
pub struct Survey {
    /// The memory that the pages need at once: the dictionary, and the largest page, compressed and decompressed.
    pub memory: u64,
    /// The average size in bytes of the values on the page with the largest ones.
    pub value_bytes: u64,
    /// Whether all values are in a dictionary.
    pub is_dictionary: bool,
}

/// A column chunk's remaining pages.
pub struct AheadPages {
    chunk: Chunk,
    /// The offset of the next page to decompress.
    next: u64,
    /// Maximum number of pages that are decompressed together.
    most: usize,
    ready: VecDeque<Result<Page, String>>,
}

impl AheadPages {
    /// Prepares to read a chunk's pages.
    pub fn new(chunk: Chunk) -> AheadPages {
        AheadPages { next: chunk.start, chunk, most: MAX_AHEAD_PAGES, ready: VecDeque::new() }
    }

    /// Prepares to read a chunk's pages one at a time.
    pub fn single(chunk: Chunk) -> AheadPages {
        AheadPages { most: 1, ..AheadPages::new(chunk) }
    }

    /// Returns the next page, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the page is damaged or cannot be read.
    pub fn next(&mut self) -> Result<Option<Page>, String> {
        if self.ready.is_empty() && self.next < self.chunk.end {
            self.unpack();
        }
        self.ready.pop_front().transpose()
    }

    /// Decompresses the next page, and more pages within the limits.
    fn unpack(&mut self) {
        let (mut pages, mut bytes, mut failure) = (Vec::new(), 0, None);
        while self.next < self.chunk.end {
            match self.chunk.header(self.next) {
                Ok(header) => {
                    bytes += header.unpacked.max(header.packed);
                    if is_enough(pages.len(), bytes) || pages.len() == self.most {
                        break;
                    }
                    pages.push((self.next, header));
                    self.next += header.len + header.packed;
                }
                Err(error) => {
                    self.next = self.chunk.end;
                    failure = Some(Err(error));
                }
            }
        }
        let Chunk { source, codec, .. } = &self.chunk;
        let page = |(offset, header): (u64, Header)| guarded(|| read_page(source, offset, &header, *codec));
        let unpacked: Vec<_> = match pages[..] {
            [only] => vec![page(only)],
            _ => pages.into_par_iter().map(page).collect(),
        };
        self.ready.extend(unpacked.into_iter().chain(failure));
    }
}

/// Returns whether a batch with `pages` pages is complete, if another page would increase its size to `bytes`.
fn is_enough(pages: usize, bytes: u64) -> bool {
    pages >= MAX_AHEAD_PAGES || (pages > 0 && bytes > AHEAD_BYTES)
}

#[cfg(test)]
mod tests {
    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::super::ParquetFile;
    use super::super::rows::tests::{properties, saved};
    use super::*;

    #[test]
    fn pages_ahead_stop_at_the_limits() {
        for (pages, bytes, expected) in [
            (0, AHEAD_BYTES + 1, false),
            (1, AHEAD_BYTES - 1, false),
            (1, AHEAD_BYTES, false),
            (1, AHEAD_BYTES + 1, true),
            (MAX_AHEAD_PAGES - 1, 0, false),
            (MAX_AHEAD_PAGES, 0, true),
            (MAX_AHEAD_PAGES + 1, 0, true),
        ] {
            assert_eq!(is_enough(pages, bytes), expected, "{pages} {bytes}");
        }
    }

    /// Returns the maximum number of ready pages for a file with a text of `len` bytes on each page.
    fn most_ready(pages: usize, len: usize) -> usize {
        let properties = WriterProperties::builder()
            .set_statistics_enabled(EnabledStatistics::None)
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(1)
            .set_write_batch_size(1);
        let schema = Arc::new(parse_message_type("message m { required binary url; }").unwrap());
        let mut packed = tempfile::NamedTempFile::new().unwrap();
        let mut file = SerializedFileWriter::new(&mut packed, schema, Arc::new(properties.build())).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let text = ByteArray::from(vec![b'a'; len]);
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(column) => column.write_batch(&vec![text; pages], None, None).unwrap(),
            _ => panic!("not a column of texts"),
        };
        column.close().unwrap();
        group.close().unwrap();
        file.close().unwrap();
        let file = ParquetFile::open(packed.path()).unwrap();
        let column = &file.columns()[0];
        let chunk = file.metadata.row_group(0).column(0);
        let mut chunk = Chunk::new(&file.source, column, chunk, pages as u64).unwrap();
        assert!(chunk.survey(pages as u64, true).unwrap().memory < 2 * (len as u64 + 4));
        let mut ahead = AheadPages::new(chunk);
        let (mut found, mut most) = (0, 0);
        while let Some(page) = ahead.next().unwrap() {
            assert_eq!(page.bytes.len(), len + 4);
            found += 1;
            most = most.max(ahead.ready.len() + 1);
        }
        assert_eq!(found, pages);
        most
    }

    /// Old files do not count the dictionary's header in the length of its chunk.
    #[test]
    fn the_header_of_a_dictionary_may_be_uncounted() {
        let file = saved("required binary a;", properties(), |column| {
            column.typed::<ByteArrayType>().write_batch(&["b".into(), "b".into()], None, None).unwrap();
        });
        let chunk = file.metadata.row_group(0).column(0);
        let start = chunk.dictionary_page_offset().unwrap() as u64;
        let header = read_header(&file.source, start).unwrap().len as i64;
        for (missing, is_whole) in [(0, true), (1, false), (header - 1, false), (header, true), (header + 1, false)] {
            let size = chunk.compressed_size() - missing;
            let chunk = chunk.clone().into_builder().set_total_compressed_size(size).build().unwrap();
            let mut chunk = Chunk::new(&file.source, &file.columns()[0], &chunk, 2).unwrap();
            assert_eq!(chunk.survey(2, true).is_ok(), is_whole, "{missing}");
            let mut pages = AheadPages::new(chunk);
            let pages: Vec<_> = std::iter::from_fn(|| pages.next().transpose()).collect();
            assert!(!is_whole || pages.len() == 2 && pages.iter().all(Result::is_ok), "{missing}");
        }
    }

    #[test]
    fn several_pages_are_decompressed_ahead() {
        assert_eq!(most_ready(1, 10), 1);
        assert_eq!(most_ready(3 * MAX_AHEAD_PAGES, 10), MAX_AHEAD_PAGES);
        assert_eq!(most_ready(9, 1 << 20), 3);
        assert_eq!(most_ready(3, 5 << 20), 1);
    }
}
