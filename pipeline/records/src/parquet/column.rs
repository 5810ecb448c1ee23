//! A Parquet column, read in batches of cells.
//!
//! A cell becomes the bytes that a text table would contain. Texts stay unchanged, and numbers are written in digits.
//! Times become texts that [`WrittenTime`](crate::time::WrittenTime) reads: instants are `@` and seconds since
//! 1970, dates and local times are RFC 3339 without a zone.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::ColumnDescPtr;

use super::ahead::{AheadPages, Chunk};
use super::decode::Decoder;
use super::kinds::{Meaning, class_of};
use super::limits::CELL_BYTES;
use super::source::Source;
use crate::captures::Cell;

/// Number of rows at which a batch is complete.
const BATCH_ROWS: usize = 1 << 16;

/// Total size of a column's texts, in bytes, at which a batch is complete.
pub const BATCH_BYTES: usize = 2 << 20;

/// Maximum size in bytes of a page that is kept until its cells are used. Writers make pages of about a megabyte. Texts
/// from larger pages are copied.
const MAX_KEPT_PAGE_BYTES: usize = 4 << 20;

/// Total size of kept pages, in bytes, at which a batch is complete.
const MAX_KEPT_BYTES: usize = 8 << 20;

/// A column, and its unused cells.
pub struct Column {
    place: usize,
    descr: ColumnDescPtr,
    meaning: Meaning,
    decoder: Option<Decoder>,
    /// The row group's unread rows.
    left: u64,
    /// The last batch's cells. Rows that were passed on may still need them.
    cells: Arc<Cells>,
    /// Number of used cells.
    used: usize,
}

/// A column's consecutive cells. A text stays in its page if the page is kept; otherwise it is copied.
pub struct Cells {
    /// Copies of texts whose pages are not kept.
    own: Vec<u8>,
    pages: Vec<Bytes>,
    /// The dictionary's index among the pages, and its cached lookups.
    dictionary: Option<(u32, Hosts)>,
    /// Total size in bytes of pages that are kept only for these cells.
    page_bytes: usize,
    places: Vec<Place>,
    /// Total text size in bytes.
    text_bytes: usize,
    /// Maximum length of a kept cell in bytes.
    pub limit: usize,
}

/// A caller's cached lookups for a dictionary's texts, if they are hosts. The first caller creates them.
pub type Hosts = Arc<OnceLock<Box<dyn Any + Send + Sync>>>;

/// Dictionary bytes per host number. Each text follows its four-byte length, so no two texts start within the same four
/// bytes.
const BYTES_PER_NUMBER: usize = 4;

/// A text's location.
#[derive(Clone, Copy)]
struct Place {
    /// The page's index among the kept pages, or one of the constants below.
    page: u32,
    len: u32,
    start: u32,
}

/// Marks a copied text, whose page is not kept.
const OWN: u32 = u32::MAX;

/// Marks a cell without a text.
const NULL: u32 = u32::MAX - 1;

/// Marks a text that is too long to be kept.
const TOO_LONG: u32 = u32::MAX - 2;

impl Cells {
    /// Creates an empty list. Cells longer than `limit` bytes are not kept.
    pub fn new(limit: usize) -> Cells {
        let (own, pages, places) = (Vec::new(), Vec::new(), Vec::new());
        Cells {
            own,
            pages,
            dictionary: None,
            page_bytes: 0,
            places,
            text_bytes: 0,
            limit: limit.min(TOO_LONG as usize),
        }
    }

    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the total text size in bytes.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// Returns the cell at an index.
    #[inline]
    pub fn get(&self, at: usize) -> Cell<'_> {
        let Place { page, len, start } = self.places[at];
        let bytes = match self.pages.get(page as usize) {
            Some(page) => page,
            None if page == OWN => &self.own[..],
            None if page == NULL => return Cell::Null,
            None => return Cell::TooLong,
        };
        Cell::Text(&bytes[start as usize..][..len as usize])
    }

    /// Returns the number of a cell's text in the dictionary, or `None` if it is not a dictionary text.
    /// [`Cells::hosts`] returns an upper bound for these numbers.
    #[inline]
    pub fn number(&self, at: usize) -> Option<usize> {
        let Place { page, start, .. } = self.places[at];
        let (dictionary, _) = self.dictionary.as_ref()?;
        (*dictionary == page).then_some(start as usize / BYTES_PER_NUMBER)
    }

    /// Returns the dictionary's cached lookups, and an upper bound for its text numbers.
    pub fn hosts(&self) -> Option<(&Hosts, usize)> {
        let (page, hosts) = self.dictionary.as_ref()?;
        let bytes = self.pages.get(*page as usize)?;
        Some((hosts, bytes.len() / BYTES_PER_NUMBER + 1))
    }

    fn clear(&mut self) {
        self.own.clear();
        self.dictionary = None;
        self.pages.clear();
        self.places.clear();
        (self.page_bytes, self.text_bytes) = (0, 0);
    }

    fn is_full(&self) -> bool {
        self.places.len() >= BATCH_ROWS || self.text_bytes >= BATCH_BYTES || self.page_bytes >= MAX_KEPT_BYTES
    }

    /// Keeps a page for as long as its cells. Returns its index, or `None` if it is too large.
    pub fn keep_page(&mut self, page: &Bytes) -> Option<u32> {
        let count = self.pages.len();
        let place = self.keep(page);
        if self.pages.len() > count {
            self.page_bytes += page.len();
        }
        place
    }

    /// Keeps a dictionary, which its row group's cells share, and its cached lookups. Returns its index, or `None` if
    /// it is too large: the last cells that need it may still be waiting.
    pub fn keep_dictionary(&mut self, page: &Bytes, hosts: &Hosts) -> Option<u32> {
        let place = self.keep(page)?;
        if self.dictionary.as_ref().is_none_or(|(before, _)| *before != place) {
            self.dictionary = Some((place, Arc::clone(hosts)));
        }
        Some(place)
    }

    fn keep(&mut self, page: &Bytes) -> Option<u32> {
        if page.len() > MAX_KEPT_PAGE_BYTES {
            return None;
        }
        if self.pages.last().is_none_or(|last| (last.as_ptr(), last.len()) != (page.as_ptr(), page.len())) {
            self.pages.push(page.clone());
        }
        u32::try_from(self.pages.len() - 1).ok().filter(|&place| place < TOO_LONG)
    }

    /// Adds a text that starts at `start` in a kept page. Without a page, the text is copied.
    #[inline]
    pub fn push_of(&mut self, page: Option<u32>, start: usize, text: &[u8]) {
        match page {
            Some(page) if text.len() <= self.limit => {
                self.text_bytes += text.len();
                self.places.push(Place { page, len: text.len() as u32, start: start as u32 });
            }
            _ => self.push(text),
        }
    }

    /// Adds a copy of a text.
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        if text.len() > self.limit {
            self.places.push(Place { page: TOO_LONG, len: 0, start: 0 });
            return;
        }
        self.places.push(Place { page: OWN, len: text.len() as u32, start: self.own.len() as u32 });
        self.text_bytes += text.len();
        self.own.extend_from_slice(text);
    }

    /// Adds an empty cell.
    pub fn push_null(&mut self) {
        self.places.push(Place { page: NULL, len: 0, start: 0 });
    }
}

impl Column {
    /// Creates the column at this index. Cells longer than `limit` bytes are not kept.
    ///
    /// # Errors
    /// Returns an error if the column is a list or has an unsupported type.
    pub fn new(place: usize, descr: ColumnDescPtr, limit: usize) -> Result<Column, String> {
        let (_, meaning) = class_of(&descr)?;
        Ok(Column { place, descr, meaning, decoder: None, left: 0, cells: Arc::new(Cells::new(limit)), used: 0 })
    }

    /// Returns the column's index in the file.
    pub fn place(&self) -> usize {
        self.place
    }

    /// Returns the number of unused cells.
    pub fn waiting(&self) -> usize {
        self.cells.len() - self.used
    }

    /// Marks cells as used.
    pub fn take(&mut self, count: usize) {
        self.used = (self.used + count).min(self.cells.len());
    }

    /// Returns the unused cell at an index.
    pub fn get(&self, at: usize) -> Cell<'_> {
        self.cells.get(self.used + at)
    }

    /// Returns the last batch's cells, and the number of used cells.
    pub fn cells(&self) -> (Arc<Cells>, usize) {
        (Arc::clone(&self.cells), self.used)
    }

    /// Begins a row group's column chunk of `rows` rows. Returns the memory that its pages need at once.
    ///
    /// # Errors
    /// Returns an error if the headers describe a different number of rows, or anything unsupported.
    pub fn begin(&mut self, source: &Arc<Source>, chunk: &ColumnChunkMetaData, rows: u64) -> Result<u64, String> {
        self.used = self.cells.len();
        // The preceding row group's pages are released first.
        self.decoder = None;
        let chunk = Chunk::new(source, &self.descr, chunk, rows)?;
        let memory = chunk.survey(rows)?;
        self.decoder = Some(Decoder::new(AheadPages::new(chunk), &self.descr, self.meaning));
        self.left = rows;
        Ok(memory)
    }

    /// Reads a batch of cells, unless some are unused. Returns the number of cell bytes, as limited by
    /// [`MIN_EXPANDED_BYTES`](super::limits::MIN_EXPANDED_BYTES).
    ///
    /// # Errors
    /// Returns an error if a page is damaged, or if there are fewer rows than in the row group.
    pub fn fill(&mut self) -> Result<u64, String> {
        if self.waiting() > 0 {
            return Ok(0);
        }
        // Reuses the preceding cells' memory, unless they are still shared.
        let limit = self.cells.limit;
        let before = Arc::try_unwrap(std::mem::replace(&mut self.cells, Arc::new(Cells::new(limit))));
        let mut cells = before.unwrap_or_else(|_| Cells::new(limit));
        cells.clear();
        // Space for a batch, and for the last read's surplus rows.
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        cells.places.reserve(left.min(BATCH_ROWS + BATCH_ROWS / 8));
        self.used = 0;
        let Some(decoder) = &mut self.decoder else { return Err("was not begun".into()) };
        while !cells.is_full() && self.left > 0 {
            match decoder.read(self.left, &mut cells)? {
                0 => return Err(format!("has {} rows fewer than its row group", self.left)),
                rows => self.left -= rows as u64,
            }
        }
        let bytes = cells.text_bytes as u64 + CELL_BYTES * cells.len() as u64;
        self.cells = Arc::new(cells);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use parquet::basic::Encoding;
    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::ByteArray;
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::super::{Batches, ParquetFile};
    use super::*;

    /// Returns a batch's peak memory in bytes, for a one-page file with a hundred identical one-megabyte cells.
    fn peak(kind: &str, encoding: Option<Encoding>) -> usize {
        let schema = parse_message_type(&format!("message m {{ required {kind} url; }}")).unwrap();
        let rows = 100;
        // A single page of any size, with a dictionary for the text.
        let properties = WriterProperties::builder()
            .set_statistics_enabled(EnabledStatistics::None)
            .set_data_page_size_limit(1 << 40)
            .set_dictionary_page_size_limit(4 << 20)
            .set_dictionary_enabled(encoding.is_none());
        let properties = match encoding {
            Some(encoding) => properties.set_encoding(encoding),
            None => properties,
        };
        let mut packed = tempfile::NamedTempFile::new().unwrap();
        let mut file = SerializedFileWriter::new(&mut packed, Arc::new(schema), Arc::new(properties.build())).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let text = ByteArray::from(vec![b'a'; 1 << 20]);
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(column) => column.write_batch(&vec![text; rows], None, None),
            ColumnWriter::FixedLenByteArrayColumnWriter(column) => {
                column.write_batch(&vec![text.into(); rows], None, None)
            }
            _ => panic!("not a column of texts"),
        }
        .unwrap();
        column.close().unwrap();
        group.close().unwrap();
        file.close().unwrap();
        let file = ParquetFile::open(packed.path()).unwrap();
        let mut batches = Batches::new(Arc::new(file), &[(0, 1 << 20)]).unwrap();
        let (mut found, mut peak) = (0, 0);
        loop {
            let now = batches.fill().unwrap();
            if now == 0 {
                break;
            }
            let column = &batches.columns[0];
            let cells = &column.cells;
            assert!((0..now).all(|row| column.get(row).text().is_some_and(|text| text.len() == 1 << 20)));
            peak = peak.max(cells.own.capacity() + cells.page_bytes);
            found += now;
            batches.take(now);
        }
        assert_eq!(found, rows, "{kind} {encoding:?}");
        peak
    }

    /// Tests that a page is not decoded all at once if a single megabyte in it may represent every cell.
    #[test]
    fn highly_compressible_cells_are_decoded_in_batches() {
        let fixed = "fixed_len_byte_array(1048576)";
        for (kind, encoding) in [
            ("binary", None),
            (fixed, None),
            ("binary", Some(Encoding::DELTA_BYTE_ARRAY)),
            (fixed, Some(Encoding::DELTA_BYTE_ARRAY)),
            ("binary", Some(Encoding::PLAIN)),
            ("binary", Some(Encoding::DELTA_LENGTH_BYTE_ARRAY)),
        ] {
            let peak = peak(kind, encoding);
            assert!(peak <= 64 << 20, "{peak} bytes of {kind} {encoding:?}");
        }
    }

    /// Tests a file with one row: its text has two bytes and counts as ten.
    #[test]
    fn cell_bytes_stop_at_the_file_limit() {
        use super::super::limits::MIN_EXPANDED_BYTES;
        let schema = Arc::new(parse_message_type("message m { required binary url; }").unwrap());
        let mut bytes = tempfile::NamedTempFile::new().unwrap();
        let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        if let ColumnWriter::ByteArrayColumnWriter(column) = column.untyped() {
            column.write_batch(&["ab".into()], None, None).unwrap();
        }
        column.close().unwrap();
        group.close().unwrap();
        file.close().unwrap();
        let file = Arc::new(ParquetFile::open(bytes.path()).unwrap());
        for (more, fits) in [(9, true), (10, true), (11, false)] {
            let mut batches = Batches::new(Arc::clone(&file), &[(0, 100)]).unwrap();
            batches.expanded = MIN_EXPANDED_BYTES - 20 + more;
            assert_eq!(batches.fill().is_ok(), fits, "{more}");
        }
    }

    #[test]
    fn cells_over_the_limit_are_not_kept() {
        let mut cells = Cells::new(8);
        for len in [0, 7, 8, 9] {
            cells.push(&vec![b'a'; len]);
        }
        cells.push_null();
        cells.push(b"end");
        let found: Vec<Cell<'_>> = (0..cells.len()).map(|at| cells.get(at)).collect();
        let texts = [Cell::Text(b""), Cell::Text(b"aaaaaaa"), Cell::Text(b"aaaaaaaa")];
        assert_eq!(found, [&texts[..], &[Cell::TooLong, Cell::Null, Cell::Text(b"end")]].concat());
    }

    #[test]
    fn kept_pages_stop_at_their_limits() {
        for (len, is_kept) in
            [(MAX_KEPT_PAGE_BYTES - 1, true), (MAX_KEPT_PAGE_BYTES, true), (MAX_KEPT_PAGE_BYTES + 1, false)]
        {
            let mut cells = Cells::new(8);
            let page = Bytes::from(vec![b'a'; len]);
            for _ in 0..3 {
                let place = cells.keep_page(&page);
                assert_eq!(place, is_kept.then_some(0), "{len}");
                cells.push_of(place, 5, &page[5..8]);
            }
            assert_eq!((cells.page_bytes, cells.own.len()), if is_kept { (len, 0) } else { (0, 9) });
            assert!((0..3).all(|at| cells.get(at) == Cell::Text(b"aaa")));
        }
        for (len, is_full) in [(MAX_KEPT_BYTES - 1, false), (MAX_KEPT_BYTES, true), (MAX_KEPT_BYTES + 1, true)] {
            let mut cells = Cells::new(8);
            cells.keep_dictionary(&Bytes::from(vec![b'a'; MAX_KEPT_PAGE_BYTES]), &Hosts::default());
            assert!(!cells.is_full());
            let pages = [MAX_KEPT_PAGE_BYTES, (len - MAX_KEPT_PAGE_BYTES).min(MAX_KEPT_PAGE_BYTES)];
            for len in pages {
                cells.keep_page(&Bytes::from(vec![b'a'; len]));
            }
            cells.keep_page(&Bytes::from(vec![b'a'; len - pages.iter().sum::<usize>()]));
            assert_eq!(cells.is_full(), is_full, "{len}");
            cells.clear();
            assert!(!cells.is_full() && cells.pages.is_empty());
        }
    }
}
