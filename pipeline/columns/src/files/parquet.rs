//! Parquet: [`RowGroups`]. Texts are UTF-8, repeated texts are dictionary-encoded, and columns that may be empty contain
//! nulls.
//!
//! The columns of a batch are encoded at once, on all threads. A row group waits in memory in its encoded form.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowLeafColumn, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type, TypePtr};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use reptile_records::batches::kept::ParquetFields;

use super::encoder::{Encoded, Encoder};
use crate::arrays::field;
use crate::data::ColumnType;

/// Maximum number of rows per row group: similar to DuckDB's, and enough to make dictionaries worthwhile.
pub const MAX_GROUP_ROWS: usize = 1 << 18;

/// Encoded bytes at which a row group is complete, after a whole record batch. They wait in memory.
pub const GROUP_BYTES: usize = 32 << 20;

/// Bytes of texts before encoding at which a row group is complete, after a whole record batch, so that a reader needs
/// little memory.
pub const GROUP_TEXT_BYTES: usize = 128 << 20;

/// The compression level.
const ZSTD_LEVEL: i32 = 1;

/// Encodes a file's row groups.
pub struct RowGroups {
    file: SerializedFileWriter<Vec<u8>>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The current row group's leaf columns, or none before its first row.
    columns: Vec<ArrowColumnWriter>,
    /// Number of rows in the current row group.
    rows: usize,
    text_bytes: usize,
}

impl RowGroups {
    /// Begins a file with kept columns, as `parquet` describes them if they come from Parquet, before the decided ones.
    pub fn new(
        kept: &Schema,
        parquet: Option<&ParquetFields>,
        decided: &[(&str, &ColumnType)],
        metadata: Vec<KeyValue>,
    ) -> Encoded<RowGroups> {
        let decided_fields: Vec<Field> = decided.iter().map(|(name, kind)| written(name, kind)).collect();
        let kept_types = parquet.map_or_else(|| types(kept), |parquet| Ok(parquet.fields.clone()))?;
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("reptile version ", env!("CARGO_PKG_VERSION")).into())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
            .set_statistics_enabled(EnabledStatistics::Chunk);
        if !metadata.is_empty() {
            properties = properties.set_key_value_metadata(Some(metadata));
        }
        if let Some(parquet) = parquet {
            for column in SchemaDescriptor::new(root(kept_types.clone())?).columns() {
                let has_dictionary = parquet.dictionaries.contains(&column.path().string());
                properties = properties.set_column_dictionary_enabled(column.path().clone(), has_dictionary);
            }
        }
        for (name, _) in decided.iter().filter(|(_, kind)| **kind == ColumnType::Text) {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(*name), false);
        }
        let types = kept_types.into_iter().chain(types(&Schema::new(decided_fields.clone()))?).collect();
        let file = SerializedFileWriter::new(Vec::new(), root(types)?, Arc::new(properties.build()))?;
        let fields = kept.fields().iter().cloned().chain(decided_fields.into_iter().map(Arc::new));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<FieldRef>>()));
        let factory = ArrowRowGroupWriterFactory::new(&file, Arc::clone(&schema));
        Ok(RowGroups { file, factory, schema, columns: Vec::new(), rows: 0, text_bytes: 0 })
    }

    /// Encodes rows of the current row group.
    fn add(&mut self, rows: &RecordBatch) -> Encoded {
        if self.columns.is_empty() {
            self.columns = self.factory.create_column_writers(self.file.flushed_row_groups().len())?;
        }
        let fields = self.schema.fields().iter().zip(rows.columns());
        let leaves = fields.map(|(field, column)| compute_leaves(field, column));
        let leaves: Vec<Vec<ArrowLeafColumn>> = leaves.collect::<Result<_, _>>()?;
        let leaves: Vec<ArrowLeafColumn> = leaves.into_iter().flatten().collect();
        let encode = |(column, leaf): (&mut ArrowColumnWriter, ArrowLeafColumn)| column.write(&leaf);
        self.columns.par_iter_mut().zip(leaves).with_max_len(1).map(encode).collect::<Result<(), _>>()?;
        self.rows += rows.num_rows();
        self.text_bytes += rows.columns().iter().map(|column| text_bytes(column)).sum::<usize>();
        let bytes = self.columns.iter().map(ArrowColumnWriter::get_estimated_total_bytes).sum();
        if is_full(self.rows, bytes, self.text_bytes) { self.end_rows() } else { Ok(()) }
    }
}

impl Encoder for RowGroups {
    fn write(&mut self, batch: &RecordBatch) -> Encoded {
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = (batch.num_rows() - start).min(MAX_GROUP_ROWS - self.rows);
            self.add(&batch.slice(start, rows))?;
            start += rows;
        }
        Ok(())
    }

    fn end_rows(&mut self) -> Encoded {
        (self.rows, self.text_bytes) = (0, 0);
        let columns = std::mem::take(&mut self.columns);
        if columns.is_empty() {
            return Ok(());
        }
        let chunks = columns.into_par_iter().with_max_len(1).map(ArrowColumnWriter::close);
        let chunks: Vec<ArrowColumnChunk> = chunks.collect::<Result<_, _>>()?;
        let mut group = self.file.next_row_group()?;
        chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut group))?;
        group.close()?;
        Ok(())
    }

    fn describe(&mut self, entry: KeyValue) -> bool {
        self.file.append_key_value_metadata(entry);
        true
    }

    fn finish(&mut self) -> Encoded {
        self.end_rows()?;
        self.file.finish()?;
        Ok(())
    }

    fn take(&mut self) -> Encoded<Vec<u8>> {
        self.file.flush()?;
        Ok(std::mem::take(self.file.inner_mut()))
    }
}

/// Returns whether a row group is complete.
fn is_full(rows: usize, bytes: usize, text_bytes: usize) -> bool {
    rows >= MAX_GROUP_ROWS || bytes >= GROUP_BYTES || text_bytes >= GROUP_TEXT_BYTES
}

/// Returns the bytes of a column's texts.
fn text_bytes(column: &dyn Array) -> usize {
    if let Some(texts) = column.as_binary_view_opt() {
        return texts.lengths().map(|len| len as usize).sum();
    }
    let offsets = column.as_string_opt::<i64>().map(|texts| texts.value_offsets());
    offsets.and_then(|offsets| Some(offsets.last()? - offsets.first()?)).unwrap_or(0) as usize
}

/// Returns a decided column's field: a count is never null, and neither are the names in a list.
fn written(name: &str, kind: &ColumnType) -> Field {
    let field = field(name, kind);
    match kind {
        ColumnType::Count => field.with_nullable(false),
        ColumnType::Names(_) => {
            field.with_data_type(DataType::LargeList(Arc::new(Field::new("element", DataType::LargeUtf8, false))))
        }
        _ => field,
    }
}

/// Returns the Parquet types of fields, with the names that every reader expects in lists.
fn types(schema: &Schema) -> Encoded<Vec<TypePtr>> {
    let types = ArrowSchemaConverter::new().with_coerce_types(true).convert(schema)?;
    Ok(types.root_schema().get_fields().to_vec())
}

fn root(fields: Vec<TypePtr>) -> Encoded<TypePtr> {
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?))
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, BinaryViewArray, LargeStringArray};
    use parquet::schema::printer::print_schema;

    use super::*;

    #[test]
    fn row_groups_end_at_the_limits() {
        for (rows, bytes, text_bytes, expected) in [
            (MAX_GROUP_ROWS - 1, GROUP_BYTES - 1, GROUP_TEXT_BYTES - 1, false),
            (MAX_GROUP_ROWS, 0, 0, true),
            (MAX_GROUP_ROWS + 1, 0, 0, true),
            (1, GROUP_BYTES, 0, true),
            (1, GROUP_BYTES + 1, 0, true),
            (1, 0, GROUP_TEXT_BYTES, true),
            (1, 0, GROUP_TEXT_BYTES + 1, true),
        ] {
            assert_eq!(is_full(rows, bytes, text_bytes), expected, "{rows} {bytes} {text_bytes}");
        }
        let texts = || ["a".repeat(20), "bc".to_owned()];
        let arrays: [ArrayRef; 2] = [
            Arc::new(LargeStringArray::from_iter_values(texts())),
            Arc::new(BinaryViewArray::from_iter_values(texts())),
        ];
        assert_eq!(arrays.map(|array| (text_bytes(&array), text_bytes(&array.slice(1, 1)))), [(22, 2); 2]);
    }

    #[test]
    fn each_kind_has_its_type() {
        let names = || vec!["a".to_owned()];
        let kinds = [
            (ColumnType::Text, "OPTIONAL BYTE_ARRAY c (STRING);"),
            (ColumnType::Word, "OPTIONAL BYTE_ARRAY c (STRING);"),
            (ColumnType::Verdict, "OPTIONAL BYTE_ARRAY c (STRING);"),
            (ColumnType::Group, "OPTIONAL BYTE_ARRAY c (STRING);"),
            (ColumnType::Number, "OPTIONAL INT32 c (INTEGER(32,false));"),
            (ColumnType::Count, "REQUIRED INT32 c (INTEGER(32,false));"),
            (ColumnType::Id, "OPTIONAL INT32 c (INTEGER(32,false));"),
            (ColumnType::Long, "OPTIONAL INT64 c (INTEGER(64,false));"),
            (ColumnType::Mask(names()), "OPTIONAL INT64 c (INTEGER(64,false));"),
            (ColumnType::Time, "OPTIONAL INT64 c (TIMESTAMP(MILLIS,true));"),
            (
                ColumnType::Names(names()),
                "OPTIONAL group c (LIST) { REPEATED group list { REQUIRED BYTE_ARRAY element (STRING); } }",
            ),
        ];
        for (kind, expected) in &kinds {
            let groups = RowGroups::new(&Schema::empty(), None, &[("c", kind)], Vec::new()).unwrap();
            let mut text = Vec::new();
            print_schema(&mut text, groups.file.schema_descr().root_schema());
            let text = String::from_utf8(text).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(text, format!("message schema {{ {expected} }}"), "{kind:?}");
        }
    }
}
