//! A file's rows as record batches: the selected columns and the kept ones, decoded by the crate `parquet` from pages
//! that [`checked`](super::checked) has checked.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups};
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

use super::ahead::{AheadPages, Chunk};
use super::checked::{CheckedPages, ReadCounts};
use super::fields::{ReadField, parquet_fields, width_of};
use super::file::{MessageResult, ParquetFile};
use super::limits::MAX_GROUP_BYTES;
use crate::batches::cells::field_of;
use crate::batches::guard::guarded;
use crate::batches::kept::KeptRows;
use crate::batches::limits::{content_bytes, max_expanded_bytes, within};
use crate::batches::{BATCH_BYTES, BATCH_ROWS, Decoded, RecordBatches};
use crate::tables::named::NamedColumns;

/// Maximum number of rows decoded at once if a row may have several values.
const LIST_ROWS: usize = 256;

/// A file's record batches.
pub struct Batches {
    file: ParquetFile,
    fields: Vec<FieldReader>,
    /// The numbers of the selected columns' fields.
    selected: Vec<usize>,
    /// The column of hosts, which is read as a dictionary if the file has one.
    host: Option<usize>,
    /// The numbers of the kept fields, and their schema.
    kept: Option<(Vec<usize>, SchemaRef)>,
    /// The next row group's index.
    next_group: usize,
    /// The number of unread rows in the current row group, and the number that is decoded at once.
    left: u64,
    batch_rows: usize,
    /// Bytes of kept values so far.
    expanded: u64,
}

/// A field, and its reader in the current row group.
struct FieldReader {
    field: ReadField,
    reader: Option<ParquetRecordBatchReader>,
    counts: Arc<ReadCounts>,
}

impl Batches {
    /// Prepares to read the columns with these indexes, and the kept ones. `host` is the place of the column of hosts
    /// among them.
    ///
    /// # Errors
    /// Returns an error if a column is a list, or has an unsupported type, or if kept columns are missing.
    pub fn new(
        file: ParquetFile,
        columns: &[usize],
        host: Option<usize>,
        kept: Option<&KeptRows>,
    ) -> MessageResult<Batches> {
        let mut fields = Vec::new();
        let kept = match kept {
            None => None,
            Some(kept) => {
                let places = kept.select(&file.field_names())?;
                let read = places.iter().map(|&at| ReadField::kept(&file, at, kept.types()));
                fields = read.collect::<MessageResult<Vec<ReadField>>>()?;
                let schema =
                    Arc::new(Schema::new(fields.iter().filter_map(ReadField::arrow_field).collect::<Vec<_>>()));
                kept.begin(Arc::clone(&schema), Some(parquet_fields(&file, &places)?));
                Some(((0..fields.len()).collect(), schema))
            }
        };
        let mut selected = Vec::with_capacity(columns.len());
        for (place, &column) in columns.iter().enumerate() {
            let field = ReadField::selected(&file, column);
            let field = field.map_err(|text| format!("{} {text}", file.describe(column)))?;
            let shared = fields.iter().position(|other| host != Some(place) && other.has_same_values(&field));
            selected.push(shared.unwrap_or(fields.len()));
            if shared.is_none() {
                fields.push(field);
            }
        }
        let reader = |field| FieldReader { field, reader: None, counts: Arc::default() };
        let fields = fields.into_iter().map(reader).collect();
        let host = host.and_then(|place| selected.get(place).copied());
        Ok(Batches { file, fields, selected, host, kept, next_group: 0, left: 0, batch_rows: 0, expanded: 0 })
    }

    /// Opens the next row group with rows. Returns whether there is one.
    fn open_group(&mut self) -> MessageResult<bool> {
        while self.left == 0 {
            let metadata = &self.file.metadata;
            if self.next_group == metadata.num_row_groups() {
                return Ok(false);
            }
            let group = metadata.row_group(self.next_group).clone();
            self.left = u64::try_from(group.num_rows()).map_err(|_| "a row group has a negative length")?;
            // The preceding row group's pages are released first.
            self.fields.iter_mut().for_each(|field| field.reader = None);
            self.next_group += 1;
            // Some writers add a row group without rows to an empty table. It may have no data page.
            if self.left > 0 {
                self.open_chunks(&group)?;
            }
        }
        Ok(true)
    }

    /// Checks the page headers of a row group's fields, and opens the fields.
    fn open_chunks(&mut self, group: &RowGroupMetaData) -> MessageResult<()> {
        let (mut memory, mut row_bytes, mut opened) = ([0; 2], 1, Vec::new());
        let mut most_rows = BATCH_ROWS;
        for (number, FieldReader { field, .. }) in self.fields.iter().enumerate() {
            let (mut chunks, mut is_dictionary) = (Vec::new(), self.host == Some(number));
            for (&place, column) in field.columns.iter().zip(&field.descriptions) {
                let damage = |text: String| self.damage(place, &text);
                let chunk = group.columns().get(place).ok_or("a row group lacks a column")?;
                let is_flat = column.max_rep_level() == 0;
                let values = u64::try_from(chunk.num_values()).map_err(|_| "has a negative number of values")?;
                if values < self.left || is_flat && values > self.left {
                    return Err(damage(format!("has {values} values, and its row group has {} rows", self.left)));
                }
                let mut chunk = Chunk::new(&self.file.source, column, chunk, values).map_err(damage)?;
                let survey = chunk.survey(values, is_flat).map_err(damage)?;
                memory[usize::from(field.is_kept)] += survey.memory;
                row_bytes = row_bytes.max(survey.value_bytes).max(width_of(column) as u64);
                is_dictionary &= survey.is_dictionary;
                most_rows = if is_flat { most_rows } else { most_rows.min(LIST_ROWS) };
                chunks.push(chunk);
            }
            opened.push((chunks, is_dictionary));
        }
        for (bytes, kept) in memory.into_iter().zip(["", "kept "]) {
            let what = || format!("row group {}: bytes of the largest pages of its {kept}columns:", self.next_group);
            within(what, bytes, MAX_GROUP_BYTES)?;
        }
        let fitting = usize::try_from(BATCH_BYTES as u64 / row_bytes).unwrap_or(BATCH_ROWS);
        self.batch_rows = fitting.clamp(1, most_rows);
        for (number, (chunks, is_dictionary)) in opened.into_iter().enumerate() {
            let rows = self.batch_rows;
            let reader = self.reader(number, chunks, is_dictionary, rows);
            let reader = reader.map_err(|text| self.damage(self.fields[number].field.columns[0], &text))?;
            self.fields[number].reader = Some(reader);
        }
        Ok(())
    }

    /// Returns the reader for a field's chunks.
    fn reader(
        &self,
        number: usize,
        chunks: Vec<Chunk>,
        is_dictionary: bool,
        rows: usize,
    ) -> MessageResult<ParquetRecordBatchReader> {
        let FieldReader { field, counts, .. } = &self.fields[number];
        let pages = chunks.into_iter().zip(&field.descriptions).zip(&field.columns).map(|((chunk, column), &place)| {
            // Few pages of kept columns are in memory, because there may be many such columns.
            let ahead = if field.is_kept { AheadPages::single(chunk) } else { AheadPages::new(chunk) };
            let pages = CheckedPages::new(ahead, column, place, Arc::clone(counts));
            Some(if field.is_kept { pages.with_nanoseconds() } else { pages })
        });
        let source = ChunkPages { metadata: &self.file.metadata, pages: Mutex::new(pages.collect()) };
        let levels = field.levels(is_dictionary)?;
        guarded(|| ParquetRecordBatchReader::try_new_with_row_groups(&levels, &source, rows, None))
    }

    /// Describes damage to a column in the current row group.
    fn damage(&self, column: usize, text: &str) -> String {
        format!("row group {}, {}: {text}", self.next_group, self.file.describe(column))
    }
}

impl RecordBatches for Batches {
    fn next(&mut self) -> MessageResult<Option<Decoded>> {
        if !self.open_group()? {
            return Ok(None);
        }
        let rows = usize::try_from(self.left).unwrap_or(self.batch_rows).min(self.batch_rows);
        let is_last = rows as u64 == self.left;
        // If several columns are damaged, the reported one is always the same.
        let decoded: Vec<MessageResult<ArrayRef>> =
            self.fields.par_iter_mut().map(|field| field.decode(rows, is_last)).collect();
        let mut arrays = Vec::with_capacity(decoded.len());
        for (array, FieldReader { field, counts, .. }) in decoded.into_iter().zip(&self.fields) {
            arrays.push(array.map_err(|text| {
                let column = counts.column().unwrap_or(field.columns[0]);
                self.damage(column, &text)
            })?);
        }
        self.left -= rows as u64;
        let selected = self.selected.iter().map(|&number| {
            let field = &self.fields[number].field;
            field_of(&arrays[number], &field.path).ok_or_else(|| "has a column without its fields".to_owned())
        });
        let selected = selected.collect::<MessageResult<_>>()?;
        let kept = self.kept.as_ref().map(|(numbers, schema)| {
            let columns = numbers.iter().map(|&number| Arc::clone(&arrays[number])).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        });
        let kept = kept.transpose().map_err(|error| format!("cannot be read: {error}"))?;
        if let Some(kept) = &kept {
            self.expanded = self.expanded.saturating_add(content_bytes(kept));
            within(|| "bytes of its values so far:".into(), self.expanded, max_expanded_bytes(self.byte_len()))?;
        }
        Ok(Some(Decoded { rows, selected, kept }))
    }

    fn byte_len(&self) -> u64 {
        self.file.source.len()
    }
}

impl FieldReader {
    /// Decodes the next `rows` rows, which may be the row group's last.
    fn decode(&mut self, rows: usize, is_last: bool) -> MessageResult<ArrayRef> {
        self.counts.reset();
        let FieldReader { reader: Some(reader), counts, .. } = self else { return Err("was not opened".into()) };
        let mut decode = || match guarded(|| reader.next().transpose()) {
            Ok(batch) => Ok(batch),
            Err(text) => Err(counts.in_last_page(text)),
        };
        let batch = decode()?.ok_or_else(|| format!("has {rows} rows fewer than its row group"))?;
        if batch.num_rows() != rows {
            return Err(format!("has {} rows fewer than its row group", rows.saturating_sub(batch.num_rows())));
        }
        if is_last && decode()?.is_some() {
            return Err("has more rows than its row group".into());
        }
        batch.columns().first().cloned().ok_or_else(|| "has no values".into())
    }
}

/// The pages of a field's column chunks, in the order of its columns.
struct ChunkPages<'m> {
    metadata: &'m ParquetMetaData,
    pages: Mutex<Vec<Option<CheckedPages>>>,
}

/// A chunk's pages.
struct Pages(Option<Box<dyn PageReader>>);

impl RowGroups for ChunkPages<'_> {
    fn num_rows(&self) -> usize {
        // Only fields without columns need it.
        0
    }

    fn column_chunks(&self, at: usize) -> Result<Box<dyn PageIterator>, ParquetError> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let pages = pages.get_mut(at).and_then(Option::take);
        let pages = pages.ok_or_else(|| ParquetError::General("a column is missing".into()))?;
        Ok(Box::new(Pages(Some(Box::new(pages)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::empty())
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.metadata
    }
}

impl Iterator for Pages {
    type Item = Result<Box<dyn PageReader>, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for Pages {}

#[cfg(test)]
pub mod tests {
    use std::io::Write;

    use arrow_array::Array;
    use parquet::basic::Encoding;
    use parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArrayType};
    use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
    use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::batches::Reader;
    use crate::batches::kept::KeptTypes;
    use crate::batches::limits::MIN_EXPANDED_BYTES;

    /// Returns properties for pages of any size.
    pub fn properties() -> WriterPropertiesBuilder {
        WriterProperties::builder()
            .set_statistics_enabled(EnabledStatistics::None)
            .set_data_page_size_limit(1 << 40)
            .set_dictionary_page_size_limit(4 << 20)
    }

    /// Returns a file with one row group and one column.
    pub fn saved(
        schema: &str,
        properties: WriterPropertiesBuilder,
        write: impl FnOnce(&mut SerializedColumnWriter<'_>),
    ) -> ParquetFile {
        let schema = Arc::new(parse_message_type(&format!("message m {{ {schema} }}")).unwrap());
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        write(&mut column);
        column.close().unwrap();
        group.close().unwrap();
        let mut saved = tempfile::NamedTempFile::new().unwrap();
        saved.write_all(&file.into_inner().unwrap()).unwrap();
        ParquetFile::open(saved.path()).unwrap()
    }

    /// Returns a file's batches with these columns, and the first field if it is kept.
    pub fn batches(file: &ParquetFile, columns: &[usize], is_kept: bool) -> Batches {
        let kept = is_kept.then(|| KeptRows::new(KeptTypes::Stored, |_| Ok(vec![0])));
        Batches::new(file.clone(), columns, None, kept.as_ref()).unwrap()
    }

    /// Tests that a page is not decoded all at once if a single megabyte in it may represent every cell.
    #[test]
    fn highly_compressible_cells_are_decoded_in_batches() {
        let rows = 100;
        let (text, fixed) = ("required binary url;", "required fixed_len_byte_array(1048576) url;");
        for (schema, encoding, most) in [
            (text, None, 4 << 20),
            (fixed, None, 4 << 20),
            (text, Some(Encoding::PLAIN), 128 << 20),
            (text, Some(Encoding::DELTA_LENGTH_BYTE_ARRAY), 128 << 20),
            // The limit of a page with shared prefixes, and the capacity of its views.
            (text, Some(Encoding::DELTA_BYTE_ARRAY), 129 << 20),
            (fixed, Some(Encoding::DELTA_BYTE_ARRAY), 4 << 20),
        ] {
            let properties = properties().set_dictionary_enabled(encoding.is_none());
            let properties = match encoding {
                Some(encoding) => properties.set_encoding(encoding),
                None => properties,
            };
            let file = saved(schema, properties, |column| {
                let value = ByteArray::from(vec![b'a'; 1 << 20]);
                match schema == text {
                    true => column.typed::<ByteArrayType>().write_batch(&vec![value; rows], None, None),
                    false => column.typed::<FixedLenByteArrayType>().write_batch(&vec![value.into(); rows], None, None),
                }
                .unwrap();
            });
            let mut source = batches(&file, &[0], false);
            let mut found = 0;
            while let Some(batch) = source.next().unwrap() {
                let bytes = batch.selected[0].0.get_array_memory_size();
                assert!(bytes <= most, "{bytes} bytes of {schema} {encoding:?}");
                found += batch.rows;
            }
            assert_eq!(found, rows, "{schema} {encoding:?}");
            let mut reader = Reader::new(Box::new(batches(&file, &[0], false)), vec![1 << 20], None);
            let mut found = 0;
            while let Some(batch) = reader.next().unwrap() {
                assert!(batch.text_bytes <= BATCH_BYTES, "{schema} {encoding:?}");
                assert!((0..batch.rows).all(|row| batch.get(0, row).text().is_some_and(|text| text.len() == 1 << 20)));
                found += batch.rows;
            }
            assert_eq!(found, rows, "{schema} {encoding:?}");
        }
    }

    /// Tests a file with one row: its text has two bytes and counts as ten, or as a kept value.
    #[test]
    fn cell_bytes_stop_at_the_file_limit() {
        let file = saved("required binary url;", WriterProperties::builder(), |column| {
            column.typed::<ByteArrayType>().write_batch(&["ab".into()], None, None).unwrap();
        });
        for (more, fits) in [(9, true), (10, true), (11, false)] {
            let mut reader = Reader::new(Box::new(batches(&file, &[0], false)), vec![100], None);
            reader.expanded = MIN_EXPANDED_BYTES - 20 + more;
            assert_eq!(reader.next().is_ok(), fits, "{more}");
            let mut kept = batches(&file, &[], true);
            kept.expanded = MIN_EXPANDED_BYTES - 20 + more;
            assert_eq!(kept.next().is_ok(), fits, "{more}");
        }
    }
}
