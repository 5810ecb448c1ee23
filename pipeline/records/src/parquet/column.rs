//! A Parquet column, read in batches of cells.
//!
//! A cell becomes the bytes that a text table would contain. Texts stay unchanged, and numbers are written in digits.
//! Times become texts that [`WrittenTime`](crate::time::WrittenTime) reads: instants are `@` and seconds since
//! 1970, dates and local times are RFC 3339 without a zone.

use std::sync::Arc;

use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::ColumnDescPtr;

use super::ahead::{AheadPages, Chunk};
use super::cells::Cells;
use super::decode::Decoder;
use super::kinds::{Meaning, class_of};
use super::limits::CELL_BYTES;
use crate::captures::Cell;
use crate::ranged::Ranged;

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
    pub fn begin(&mut self, source: &Arc<Ranged>, chunk: &ColumnChunkMetaData, rows: u64) -> Result<u64, String> {
        self.used = self.cells.len();
        // The preceding row group's pages are released first.
        self.decoder = None;
        let chunk = Chunk::new(source, &self.descr, chunk, rows)?;
        self.left = rows;
        if rows == 0 {
            // Some writers add a row group without rows to an empty table. It may have no data page.
            return Ok(0);
        }
        let memory = chunk.survey(rows, true)?;
        self.decoder = Some(Decoder::new(AheadPages::new(chunk), &self.descr, self.meaning));
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
        cells.reserve(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.used = 0;
        let Some(decoder) = &mut self.decoder else { return Err("was not begun".into()) };
        while !cells.is_full() && self.left > 0 {
            match decoder.read(self.left, &mut cells)? {
                0 => return Err(format!("has {} rows fewer than its row group", self.left)),
                rows => self.left -= rows as u64,
            }
        }
        let bytes = cells.text_bytes() as u64 + CELL_BYTES * cells.len() as u64;
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
}
