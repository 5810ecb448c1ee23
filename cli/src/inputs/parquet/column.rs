//! One column of a Parquet file, read in batches of cells.
//!
//! A cell becomes the bytes that a table of text would have in its place: texts stay as they are, numbers are written in
//! digits, and times become texts that [`WrittenTime`](crate::inputs::time::WrittenTime) reads: instants `@` and their
//! seconds since 1970, dates and local times RFC 3339 without a zone.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use parquet::basic::{LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{AsBytes, DataType};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;
use reptile::KnownHosts;

use super::ahead::AheadPages;
use super::guard::guarded;
use super::source::{CheckedPages, Checks, Chunk, Loaded, Source};
use super::texts::Texts;
use crate::inputs::captures::Cell;
use crate::inputs::time::show_local;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 16;

/// Bytes of the cells of a column from which on a batch is complete.
pub const BATCH_BYTES: usize = 2 << 20;

/// Bytes of a page that is kept until its cells are used. Writers make pages of a megabyte; the texts of larger ones are copied.
const MAX_KEPT_PAGE_BYTES: usize = 4 << 20;

/// Bytes of such pages from which on a batch is complete.
const MAX_KEPT_BYTES: usize = 8 << 20;

/// Rows that are decoded at once: what the crate makes of them stays in the cache of a core.
const PIECE_ROWS: u64 = 2048;

/// Bytes that the texts which the crate decodes at once may take, unless it is only one. Of a page of a megabyte these are
/// some dozens of texts, enough for the start of a piece not to count.
const PIECE_BYTES: u64 = 32 << 20;

/// The seconds of a day.
const DAY: i64 = 86_400;

/// The day 1970-01-01 as a Julian day, which times of 96 bits count.
const JULIAN_1970: i64 = 2_440_588;

/// What the numbers of a column mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Themselves; or the column has no numbers.
    Plain,
    /// Themselves, without a sign.
    Unsigned,
    /// Days since 1970.
    Days,
    /// Instants, of which so many units are a second since 1970.
    PerSecond(i64),
    /// Local dates and times, counted as if they were in UTC.
    LocalPerSecond(i64),
}

/// A column, and the cells of it that were read and are not used yet.
pub struct Column {
    place: usize,
    descr: ColumnDescPtr,
    meaning: Meaning,
    reader: Option<Reader>,
    /// The pages of this column chunk that were loaded.
    loaded: Arc<Loaded>,
    /// Rows of this column chunk that were read.
    read: u64,
    /// Rows of the row group.
    rows: u64,
    levels: Vec<i16>,
    /// The cells of the last batch, which rows that were handed on may still need.
    cells: Arc<Cells>,
    /// How many of them are used.
    used: usize,
}

/// What decodes a column chunk.
enum Reader {
    /// Texts in a common encoding.
    Texts(Box<Texts>),
    /// Anything else, decoded by the crate.
    Any(Box<ColumnReader>),
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
pub type Hosts = Arc<OnceLock<KnownHosts>>;

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
    fn new(limit: usize) -> Cells {
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

    fn push_number(&mut self, number: i64, meaning: Meaning) {
        match meaning {
            Meaning::Plain => self.push(number.to_string().as_bytes()),
            Meaning::Unsigned => self.push(number.cast_unsigned().to_string().as_bytes()),
            Meaning::Days => self.push_local(number.saturating_mul(DAY)),
            Meaning::PerSecond(parts) => self.push_instant(number.div_euclid(parts)),
            Meaning::LocalPerSecond(parts) => self.push_local(number.div_euclid(parts)),
        }
    }

    /// Adds an instant in seconds since 1970.
    fn push_instant(&mut self, seconds: i64) {
        self.push(format!("@{seconds}").as_bytes());
    }

    /// Adds a local date and time, in seconds since it was 1970 there.
    fn push_local(&mut self, seconds: i64) {
        self.push(show_local(seconds).as_bytes());
    }

    /// A number that is not whole, or none, as programs that know no empty cells of numbers write it.
    fn push_float(&mut self, number: f64) {
        if number.is_nan() {
            self.push_null();
        } else {
            self.push(number.to_string().as_bytes());
        }
    }
}

impl Column {
    /// The column of this place. Cells of more than `limit` bytes are not kept.
    ///
    /// # Errors
    /// If it is a list.
    pub fn new(place: usize, descr: ColumnDescPtr, limit: usize) -> Result<Column, String> {
        if descr.max_rep_level() > 0 {
            return Err("is a list, and one value for each row is expected".into());
        }
        let meaning = meaning_of(&descr);
        let (loaded, cells) = (Arc::default(), Arc::new(Cells::new(limit)));
        Ok(Column { place, descr, meaning, reader: None, loaded, read: 0, rows: 0, levels: Vec::new(), cells, used: 0 })
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

    /// Goes on with the column chunk of a row group of so many rows.
    ///
    /// # Errors
    /// If the chunk is not packed in a way that is known, or its place in the file is impossible.
    pub fn begin(&mut self, source: &Arc<Source>, chunk: &ColumnChunkMetaData, rows: u64) -> Result<(), String> {
        self.used = self.cells.len();
        self.loaded = Arc::default();
        (self.read, self.rows) = (0, rows);
        let checks = Checks::new(Arc::clone(&self.descr), Arc::clone(&self.loaded));
        let is_text = self.descr.physical_type() == Type::BYTE_ARRAY && Texts::can_read(chunk);
        self.reader = Some(if is_text {
            let pages = AheadPages::new(source, &self.descr, chunk, checks)?;
            Reader::Texts(Box::new(Texts::new(pages, self.descr.max_def_level())))
        } else {
            let pages = guarded(|| {
                let rows = usize::try_from(rows)?;
                SerializedPageReader::new(Arc::new(Chunk(Arc::clone(source))), chunk, rows, None)
            })?;
            let pages = Box::new(CheckedPages::new(pages, checks));
            Reader::Any(Box::new(get_column_reader(Arc::clone(&self.descr), pages)))
        });
        Ok(())
    }

    /// Reads a batch of cells, unless there are cells that are not used yet.
    ///
    /// # Errors
    /// If a page is damaged, or if there are fewer rows than the row group has.
    pub fn fill(&mut self) -> Result<(), String> {
        if self.waiting() > 0 {
            return Ok(());
        }
        // The memory of the cells before is used again, unless somebody still needs them.
        let limit = self.cells.limit;
        let before = Arc::try_unwrap(std::mem::replace(&mut self.cells, Arc::new(Cells::new(limit))));
        let mut cells = before.unwrap_or_else(|_| Cells::new(limit));
        cells.clear();
        // A batch, and what its last piece may have too much.
        let left = usize::try_from(self.rows - self.read).unwrap_or(usize::MAX);
        cells.places.reserve(left.min(BATCH_ROWS + BATCH_ROWS / 8));
        self.used = 0;
        let Some(mut reader) = self.reader.take() else { return Err("was not begun".into()) };
        match &mut reader {
            Reader::Texts(texts) => self.read_texts(texts, &mut cells),
            Reader::Any(reader) => self.fill_any(reader, self.meaning, &mut cells),
        }?;
        self.reader = Some(reader);
        self.cells = Arc::new(cells);
        Ok(())
    }

    /// Reads texts until a batch is full.
    fn read_texts(&mut self, texts: &mut Texts, cells: &mut Cells) -> Result<(), String> {
        while !cells.is_full() && self.read < self.rows {
            match texts.read(self.rows - self.read, cells)? {
                0 => return Err(self.too_few()),
                rows => self.read += rows as u64,
            }
        }
        Ok(())
    }

    /// What is said of a column chunk that has fewer rows than its row group.
    fn too_few(&self) -> String {
        format!("has {} rows, and its row group has {}", self.read, self.rows)
    }

    /// Reads values of any type until a batch is full.
    fn fill_any(&mut self, reader: &mut ColumnReader, meaning: Meaning, cells: &mut Cells) -> Result<(), String> {
        match reader {
            ColumnReader::ByteArrayColumnReader(reader) => {
                self.read(reader, cells, |text, cells| cells.push(text.as_bytes()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                self.read(reader, cells, |text, cells| cells.push(text.as_bytes()))
            }
            ColumnReader::Int32ColumnReader(reader) => self.read(reader, cells, |&number, cells| {
                let number = i64::from(number);
                let is_unsigned = meaning == Meaning::Unsigned;
                cells.push_number(if is_unsigned { number & i64::from(u32::MAX) } else { number }, meaning);
            }),
            ColumnReader::Int64ColumnReader(reader) => {
                self.read(reader, cells, |&number, cells| cells.push_number(number, meaning))
            }
            ColumnReader::Int96ColumnReader(reader) => self.read(reader, cells, |time, cells| {
                // Nanoseconds of a day in two words, and the day.
                let [low, high, day] = [0, 1, 2].map(|at| time.data().get(at).copied().unwrap_or(0));
                let nanoseconds = (u64::from(high) << 32 | u64::from(low)) / 1_000_000_000;
                let seconds = (i64::from(day) - JULIAN_1970) * DAY;
                cells.push_instant(seconds.saturating_add_unsigned(nanoseconds));
            }),
            ColumnReader::FloatColumnReader(reader) => {
                self.read(reader, cells, |&number, cells| cells.push_float(number.into()))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                self.read(reader, cells, |&number, cells| cells.push_float(number))
            }
            ColumnReader::BoolColumnReader(reader) => {
                self.read(reader, cells, |&flag, cells| cells.push(if flag { b"true" } else { b"false" }))
            }
        }
    }

    /// Reads cells until a batch is full. No piece goes over the end of a page, so that only one page is in memory; and none
    /// has more texts than fit into [`PIECE_BYTES`], however long they are: a few bytes of a page may stand for thousands
    /// of texts that are as long as the page.
    fn read<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        cells: &mut Cells,
        push: impl Fn(&T::T, &mut Cells),
    ) -> Result<(), String> {
        let mut values = Vec::new();
        let max_level = self.descr.max_def_level();
        while !cells.is_full() && self.read < self.rows {
            let in_page = self.loaded.values.load(Ordering::Relaxed).saturating_sub(self.read);
            let fitting = PIECE_BYTES / self.loaded.longest.load(Ordering::Relaxed).max(1);
            let wanted = in_page.min(fitting).clamp(1, PIECE_ROWS).min(self.rows - self.read);
            values.clear();
            self.levels.clear();
            let levels = &mut self.levels;
            let (rows, _, _) = guarded(|| reader.read_records(wanted as usize, Some(levels), None, &mut values))?;
            if rows == 0 {
                return Err(self.too_few());
            }
            self.read += rows as u64;
            if max_level == 0 {
                values.iter().for_each(|value| push(value, cells));
                continue;
            }
            let mut values = values.iter();
            for &level in &self.levels {
                match if level == max_level { values.next() } else { None } {
                    Some(value) => push(value, cells),
                    None => cells.push_null(),
                }
            }
        }
        Ok(())
    }
}

/// What the numbers of a column mean, by its logical type or by the older converted one.
fn meaning_of(descr: &ColumnDescPtr) -> Meaning {
    use parquet::basic::ConvertedType;
    if !matches!(descr.physical_type(), Type::INT32 | Type::INT64) {
        return Meaning::Plain;
    }
    match (descr.logical_type_ref(), descr.converted_type()) {
        (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Meaning::Days,
        (Some(LogicalType::Timestamp(time)), _) => {
            let parts = match time.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            };
            if time.is_adjusted_to_u_t_c { Meaning::PerSecond(parts) } else { Meaning::LocalPerSecond(parts) }
        }
        (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => Meaning::Unsigned,
        (None, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64) => {
            Meaning::Unsigned
        }
        (None, ConvertedType::TIMESTAMP_MILLIS) => Meaning::PerSecond(1_000),
        (None, ConvertedType::TIMESTAMP_MICROS) => Meaning::PerSecond(1_000_000),
        _ => Meaning::Plain,
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
    fn numbers_become_times_of_their_type() {
        let mut cells = Cells::new(100);
        cells.push_number(-1, Meaning::Plain);
        cells.push_number(-1, Meaning::Unsigned);
        cells.push_number(-1, Meaning::PerSecond(1_000));
        cells.push_number(1_999, Meaning::PerSecond(1_000));
        cells.push_number(-1, Meaning::Days);
        cells.push_number(i64::MAX, Meaning::Days);
        cells.push_number(86_399_999, Meaning::LocalPerSecond(1_000));
        cells.push_instant(0);
        cells.push_float(200.0);
        cells.push_float(f64::NAN);
        let texts: Vec<Option<&str>> =
            (0..10).map(|at| cells.get(at).text().map(|text| str::from_utf8(text).unwrap())).collect();
        let (unsigned, days) = (u64::MAX.to_string(), format!("@{}", i64::MAX));
        let expected = ["-1", &unsigned, "@-1", "@1", "1969-12-31T00:00:00", &days, "1970-01-01T23:59:59", "@0", "200"];
        assert_eq!(texts, expected.into_iter().map(Some).chain([None]).collect::<Vec<_>>());
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
