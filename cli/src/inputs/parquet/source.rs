//! The bytes of a Parquet file as the crate `parquet` asks for them, and the pages that it makes of them, checked against
//! limits before anything is made of what they say.
//!
//! The crate takes the sizes and counts in page headers for granted: it would reserve two gigabytes for a page that says it
//! has them. Here each page is looked at first, so that no file takes more memory than its pages may have.

use std::fs::File;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::ColumnDescPtr;

use super::footer::{PageSizes, page_sizes, varint};

/// Bytes of one page, packed or unpacked. DuckDB writes pages of up to 100,000,000 bytes, others pages of about a megabyte.
pub const MAX_PAGE_BYTES: usize = 128 << 20;

/// Bytes of the footer of a file.
pub const MAX_FOOTER_BYTES: usize = 16 << 20;

/// Values of one dictionary. They are texts of a row group that repeat, so that there are far fewer than rows.
pub const MAX_DICTIONARY_VALUES: u32 = 8 << 20;

/// Values of a page whose encoding keeps a number for each of them in memory.
pub const MAX_DELTA_VALUES: u64 = 16 << 20;

/// Bytes of the header of a page. Statistics with long texts make it longer than some hundred bytes.
const MAX_HEADER_BYTES: usize = 1 << 20;

/// Bytes that are read at once for the header of a page.
const HEADER_BYTES: usize = 1 << 10;

/// An open file. Reads move no position, so that columns can be read on several threads.
pub struct Source {
    file: File,
    len: u64,
}

impl Source {
    /// Takes an open file of so many bytes.
    pub fn new(file: File, len: u64) -> Source {
        Source { file, len }
    }

    /// The length of the file.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Bytes at an offset.
    ///
    /// # Errors
    /// If the file ends before them, or cannot be read.
    pub fn at(&self, offset: u64, len: usize) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        At { source: self, offset }.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Bytes that begin with the header of a page, and what it says, within the limits.
    ///
    /// # Errors
    /// If there is no such header, if the page is too large, or if the file cannot be read.
    pub fn page_header(&self, start: u64) -> Result<(Vec<u8>, PageSizes)> {
        let left = self.len.saturating_sub(start);
        let header = |limit: usize| self.at(start, left.min(limit as u64) as usize);
        let mut bytes = header(HEADER_BYTES)?;
        let mut sizes = page_sizes(&bytes);
        if sizes.is_none() {
            bytes = header(MAX_HEADER_BYTES)?;
            sizes = page_sizes(&bytes);
        }
        let sizes = sizes.ok_or_else(|| general("the header of a page is damaged"))?;
        check_page_size(sizes.unpacked)?;
        check_page_size(sizes.packed)?;
        Ok((bytes, sizes))
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)
    }
}

/// A reader that begins at an offset of a file.
struct At<'s> {
    source: &'s Source,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.source.read_at(self.offset, buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// The source of the pages of one column chunk: it refuses pages that say they are too large.
pub struct Chunk(pub Arc<Source>);

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.0.len
    }
}

impl ChunkReader for Chunk {
    type T = Cursor<Vec<u8>>;

    /// Called for the header of a page; its content is asked for as bytes.
    fn get_read(&self, start: u64) -> Result<Cursor<Vec<u8>>> {
        let (bytes, _) = self.0.page_header(start)?;
        Ok(Cursor::new(bytes))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        check_page_size(length as u64)?;
        Ok(Bytes::from(self.0.at(start, length)?))
    }
}

fn check_page_size(len: u64) -> Result<()> {
    if len <= MAX_PAGE_BYTES as u64 {
        return Ok(());
    }
    Err(general(format!("a page has {len} bytes; the limit is {MAX_PAGE_BYTES}")))
}

fn general(message: impl Into<String>) -> ParquetError {
    ParquetError::General(message.into())
}

/// What the pages of a column chunk that were handed on say to whoever decodes them.
#[derive(Default)]
pub struct Loaded {
    /// The number of values, nulls included.
    pub values: AtomicU64,
    /// No text of the last page has more bytes when it is decoded; 0 for a column without texts.
    pub longest: AtomicU64,
}

/// Checks that the counts of the pages of a column chunk agree with their bytes.
pub struct Checks {
    column: ColumnDescPtr,
    /// Bytes of the dictionary.
    dictionary: u64,
    loaded: Arc<Loaded>,
}

impl Checks {
    /// Checks the pages of a column, and says in `loaded` what they have.
    pub fn new(column: ColumnDescPtr, loaded: Arc<Loaded>) -> Checks {
        Checks { column, dictionary: 0, loaded }
    }

    /// Checks the next page. Returns whether there is something in it: a page without values would look like the end of the
    /// column.
    ///
    /// # Errors
    /// If it says that it has more values than it has bytes for.
    pub fn pass(&mut self, page: &Page) -> Result<bool> {
        self.check(page)?;
        if !page.is_data_page() {
            self.dictionary = page.buffer().len() as u64;
            return Ok(true);
        }
        self.loaded.values.fetch_add(u64::from(page.num_values()), Ordering::Relaxed);
        self.loaded.longest.store(self.longest(page), Ordering::Relaxed);
        Ok(page.num_values() > 0)
    }

    /// The most bytes that a text of a page of data can have when it is decoded.
    fn longest(&self, page: &Page) -> u64 {
        use Encoding::{BYTE_STREAM_SPLIT, PLAIN, PLAIN_DICTIONARY, RLE_DICTIONARY};
        match (self.column.physical_type(), page.encoding()) {
            (Type::FIXED_LEN_BYTE_ARRAY, PLAIN | PLAIN_DICTIONARY | RLE_DICTIONARY | BYTE_STREAM_SPLIT) => {
                u64::try_from(self.column.type_length()).unwrap_or(0)
            }
            (Type::BYTE_ARRAY, PLAIN_DICTIONARY | RLE_DICTIONARY) => self.dictionary,
            // A text may begin with all of the one before it, but each of its bytes is in the page once.
            (Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY, _) => page.buffer().len() as u64,
            _ => 0,
        }
    }

    /// Refuses a page that says it has more values than it has bytes for, and for which a decoder would reserve memory.
    fn check(&self, page: &Page) -> Result<()> {
        let bytes = page.buffer();
        match page {
            Page::DictionaryPage { num_values, .. } if *num_values > MAX_DICTIONARY_VALUES => {
                Err(general(format!("a dictionary has {num_values} values; the limit is {MAX_DICTIONARY_VALUES}")))
            }
            Page::DictionaryPage { num_values, .. } => {
                let width = match self.column.physical_type() {
                    Type::INT64 | Type::DOUBLE => 8,
                    Type::INT96 => 12,
                    Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(self.column.type_length()).unwrap_or(0).max(1),
                    // A text has its length before it.
                    _ => 4,
                };
                match bytes.len() / width {
                    most if *num_values as usize > most => Err(general("a dictionary has fewer values than it says")),
                    _ => Ok(()),
                }
            }
            Page::DataPage { num_values, encoding, .. } => {
                let mut at = 0;
                for level in [self.column.max_rep_level(), self.column.max_def_level()] {
                    let len = bytes.get(at..).and_then(|rest| rest.first_chunk()).filter(|_| level > 0);
                    at += len.map_or(0, |&len| 4 + u32::from_le_bytes(len) as usize);
                }
                check_deltas(*encoding, bytes.get(at..), u64::from(*num_values))
            }
            Page::DataPageV2 { num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let at = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                check_deltas(*encoding, bytes.get(at..), u64::from(*num_values))
            }
        }
    }
}

/// The pages of a column chunk whose counts agree with their bytes.
pub struct CheckedPages<P> {
    pages: P,
    checks: Checks,
}

impl<P: PageReader> CheckedPages<P> {
    /// Checks pages before they are handed on.
    pub fn new(pages: P, checks: Checks) -> CheckedPages<P> {
        CheckedPages { pages, checks }
    }
}

impl<P: PageReader> PageReader for CheckedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        loop {
            let page = self.pages.get_next_page()?;
            let Some(page) = page else { return Ok(None) };
            if self.checks.pass(&page)? {
                return Ok(Some(page));
            }
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

impl<P: PageReader> Iterator for CheckedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

/// Checks how many numbers the delta encodings of a page say they have: no more than the page has values.
fn check_deltas(encoding: Encoding, bytes: Option<&[u8]>, values: u64) -> Result<()> {
    let lists = match encoding {
        Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        // The lengths of prefixes, then those of the rest of each text.
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => 0,
    };
    let mut rest = bytes.unwrap_or_default();
    for _ in 0..lists {
        match skip_deltas(&mut rest) {
            Some(count) if count > MAX_DELTA_VALUES => {
                return Err(general(format!(
                    "a page has {count} values; the limit is {MAX_DELTA_VALUES} in its encoding"
                )));
            }
            Some(count) if count <= values => {}
            _ => return Err(general("a page has fewer values than it says")),
        }
    }
    Ok(())
}

/// Skips a list of numbers in the encoding DELTA_BINARY_PACKED. Returns how many it says it has.
fn skip_deltas(rest: &mut &[u8]) -> Option<u64> {
    let block = varint(rest)?;
    let minis = varint(rest)?;
    let count = varint(rest)?;
    varint(rest)?;
    let in_mini = block.checked_div(minis).filter(|&values| values > 0)?;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        varint(rest)?;
        let widths = rest.split_off(..usize::try_from(minis).ok()?)?;
        for &width in widths {
            if left == 0 {
                break;
            }
            let bits = in_mini.checked_mul(u64::from(width))?;
            // The last one may be cut off after its last value.
            let len = usize::try_from(bits / 8).ok()?.min(rest.len());
            rest.split_off(..len)?;
            left = left.saturating_sub(in_mini);
        }
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::*;

    fn pages(column: &str) -> Checks {
        let schema = parse_message_type(&format!("message m {{ {column}; }}")).unwrap();
        let column = SchemaDescriptor::new(Arc::new(schema)).column(0);
        Checks::new(column, Arc::default())
    }

    fn dictionary(bytes: usize, values: u32) -> Page {
        Page::DictionaryPage {
            buf: Bytes::from(vec![0; bytes]),
            num_values: values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        }
    }

    #[test]
    fn the_limit_of_a_page_holds_at_its_edges() {
        let limit = MAX_PAGE_BYTES as u64;
        for (len, fits) in [(0, true), (limit - 1, true), (limit, true), (limit + 1, false), (u64::MAX, false)] {
            assert_eq!(check_page_size(len).is_ok(), fits, "{len}");
        }
    }

    #[test]
    fn the_limit_of_a_header_holds_at_its_edges() {
        for (len, fits) in [
            (HEADER_BYTES, true),
            (MAX_HEADER_BYTES - 1, true),
            (MAX_HEADER_BYTES, true),
            (MAX_HEADER_BYTES + 1, false),
        ] {
            // Three numbers, and a text of so many bytes that the header has `len`.
            let mut header = vec![0x15, 0, 0x15, 2, 0x15, 2, 0x18];
            let text = len - header.len() - 4;
            header.extend([text as u8 | 0x80, (text >> 7) as u8 | 0x80, (text >> 14) as u8]);
            header.resize(len - 1, b'a');
            header.extend(b"\0the page");
            let mut file = tempfile::tempfile().unwrap();
            std::io::Write::write_all(&mut file, &header).unwrap();
            let chunk = Chunk(Arc::new(Source::new(file, header.len() as u64)));
            assert_eq!(chunk.get_read(0).is_ok(), fits, "{len}");
        }
    }

    #[test]
    fn the_limit_of_a_dictionary_holds_at_its_edges() {
        let limit = MAX_DICTIONARY_VALUES;
        let texts = pages("required binary a");
        for (values, fits) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
            assert_eq!(texts.check(&dictionary(values as usize * 4, values)).is_ok(), fits, "{values}");
        }
    }

    #[test]
    fn a_dictionary_has_bytes_for_its_values() {
        for (column, width) in [
            ("required binary a", 4),
            ("required int32 a", 4),
            ("required int64 a", 8),
            ("required double a", 8),
            ("required int96 a", 12),
            ("required fixed_len_byte_array(7) a", 7),
        ] {
            let pages = pages(column);
            assert!(pages.check(&dictionary(10 * width, 10)).is_ok(), "{column}");
            assert!(pages.check(&dictionary(10 * width - 1, 10)).is_err(), "{column}");
        }
    }

    /// The bytes of a list of so many equal numbers.
    fn deltas(mut count: u64) -> Vec<u8> {
        // One block of 2^28 numbers in one part, all differences without a bit.
        let mut bytes = vec![0x80, 0x80, 0x80, 0x80, 1, 1];
        while count > 0x7f {
            bytes.push(count as u8 | 0x80);
            count >>= 7;
        }
        bytes.extend([count as u8, 0, 0, 0]);
        bytes
    }

    #[test]
    fn the_limit_of_delta_values_holds_at_its_edges() {
        let limit = MAX_DELTA_VALUES;
        for (count, fits) in [(2, true), (limit - 1, true), (limit, true), (limit + 1, false), (u64::MAX, false)] {
            for (encoding, lists) in [
                (Encoding::DELTA_BINARY_PACKED, 1),
                (Encoding::DELTA_LENGTH_BYTE_ARRAY, 1),
                (Encoding::DELTA_BYTE_ARRAY, 2),
            ] {
                let bytes = deltas(count).repeat(lists);
                assert_eq!(check_deltas(encoding, Some(&bytes), u64::MAX).is_ok(), fits, "{encoding} {count}");
                // More than the page has values.
                assert!(check_deltas(encoding, Some(&bytes), count - 1).is_err(), "{encoding} {count}");
            }
        }
        assert!(check_deltas(Encoding::DELTA_BINARY_PACKED, Some(&[0x80, 1, 0, 5, 0]), 9).is_err(), "no parts");
        assert!(check_deltas(Encoding::DELTA_BINARY_PACKED, None, 9).is_err());
        assert!(check_deltas(Encoding::PLAIN, None, 9).is_ok());
    }
}
