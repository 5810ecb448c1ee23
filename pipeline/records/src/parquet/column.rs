//! One column of a Parquet file, read in batches of cells.
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

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 16;

/// Bytes of the cells of a column from which on a batch is complete.
pub const BATCH_BYTES: usize = 2 << 20;

/// Bytes of a page that is kept until its cells are used. Writers make pages of a megabyte; the texts of larger ones are copied.
const MAX_KEPT_PAGE_BYTES: usize = 4 << 20;

/// Bytes of such pages from which on a batch is complete.
const MAX_KEPT_BYTES: usize = 8 << 20;

/// A column, and the cells of it that were read and are not used yet.
pub struct Column {
    place: usize,
    descr: ColumnDescPtr,
    meaning: Meaning,
    decoder: Option<Decoder>,
    /// Unread rows of the row group.
    left: u64,
    /// The cells of the last batch, which rows that were handed on may still need.
    cells: Arc<Cells>,
    /// How many of them are used.
    used: usize,
}

/// Cells of a column, one after the other. A text stays in its page, if that is small or kept anyway.
pub struct Cells {
    /// Texts that are not in a page that is kept.
    own: Vec<u8>,
    pages: Vec<Bytes>,
    /// The place of a dictionary among the pages, and what a set has for its texts.
    dictionary: Option<(u32, Hosts)>,
    /// Bytes of the pages that are kept only for these cells.
    page_bytes: usize,
    places: Vec<Place>,
    /// Bytes of all texts.
    text_bytes: usize,
    /// Cells of more bytes are not kept.
    pub limit: usize,
}

/// What a set has for the texts of a dictionary, if they are hosts: made by whoever asks first.
pub type Hosts = Arc<OnceLock<Box<dyn Any + Send + Sync>>>;

/// Bytes of a dictionary for one number of a host. Each text has its length of four bytes before it, so that no two texts begin
/// in the same ones.
const BYTES_PER_NUMBER: usize = 4;

/// Where a text is.
#[derive(Clone, Copy)]
struct Place {
    /// The place of its page among those that are kept, or one of the numbers below.
    page: u32,
    len: u32,
    start: u32,
}

/// The text is not in a page that is kept.
const OWN: u32 = u32::MAX;

/// There is no text.
const NULL: u32 = u32::MAX - 1;

/// The text is too long to be kept.
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

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes of all texts.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// The cell at a place.
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

    /// The number of the text at a place among those of its dictionary, if it has one. A larger number than any is what
    /// [`Cells::hosts`] gives.
    #[inline]
    pub fn number(&self, at: usize) -> Option<usize> {
        let Place { page, start, .. } = self.places[at];
        let (dictionary, _) = self.dictionary.as_ref()?;
        (*dictionary == page).then_some(start as usize / BYTES_PER_NUMBER)
    }

    /// What a set has for the texts of the dictionary, and a number larger than that of any.
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

    /// Keeps a page as long as the cells in it. `None` if it is too large for that.
    pub fn keep_page(&mut self, page: &Bytes) -> Option<u32> {
        let count = self.pages.len();
        let place = self.keep(page);
        if self.pages.len() > count {
            self.page_bytes += page.len();
        }
        place
    }

    /// Keeps a dictionary, which all cells of its row group share, and what a set has for its texts. `None` if it is too large
    /// for that: cells that wait for their turn may be the last that need it.
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

    /// Adds a text that begins at `start` in a page that is kept, or else is copied.
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

    /// Adds a text, which is copied.
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

    /// Adds a cell in which there is nothing.
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

    /// Its place among the columns of the file, from 0 on.
    pub fn place(&self) -> usize {
        self.place
    }

    /// The number of cells that are not used yet.
    pub fn waiting(&self) -> usize {
        self.cells.len() - self.used
    }

    /// Marks cells as used.
    pub fn take(&mut self, count: usize) {
        self.used = (self.used + count).min(self.cells.len());
    }

    /// The cell that is so many after the first one that is not used.
    pub fn get(&self, at: usize) -> Cell<'_> {
        self.cells.get(self.used + at)
    }

    /// All cells of the last batch, and how many of them are used.
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
        // The memory of the cells before is used again, unless somebody still needs them.
        let limit = self.cells.limit;
        let before = Arc::try_unwrap(std::mem::replace(&mut self.cells, Arc::new(Cells::new(limit))));
        let mut cells = before.unwrap_or_else(|_| Cells::new(limit));
        cells.clear();
        // A batch, and what its last piece may have too much.
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

    /// The most bytes of a batch of a file with one page, in which are a hundred cells of the same megabyte.
    fn peak(kind: &str, encoding: Option<Encoding>) -> usize {
        let schema = parse_message_type(&format!("message m {{ required {kind} url; }}")).unwrap();
        let rows = 100;
        // One page, whatever is in it, and a dictionary for the text.
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

    /// A page, of which a megabyte may stand for all cells, is not decoded at once.
    #[test]
    fn few_bytes_that_are_many_cells_are_decoded_a_few_at_a_time() {
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
    fn the_limit_of_the_cells_of_a_file_holds_at_its_edges() {
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
    fn the_limit_of_a_cell_holds_at_its_edges() {
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
    fn the_limits_of_kept_pages_hold_at_their_edges() {
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
