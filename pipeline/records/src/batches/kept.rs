//! Columns of a table that an output keeps, with any type: [`KeptRows`].
//!
//! A pipe can be read only once, so the reading thread passes these columns to the writing thread in a queue. The queue
//! holds the rows that were read but not yet written.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::file::metadata::KeyValue;
use parquet::schema::types::TypePtr;

use crate::tables::LINEAGE_KEY;

/// A function that selects columns by their names, and returns their indexes or an error message.
type Select = dyn Fn(&[&str]) -> Result<Vec<usize>, String> + Send + Sync;

/// Metadata keys whose values describe a whole schema. Such a value is wrong for any other schema.
const SCHEMA_KEYS: [&str; 7] = [
    "ARROW:schema",
    "avro.schema",
    "geo",
    "iceberg.schema",
    "org.apache.spark.sql.parquet.row.metadata",
    "pandas",
    "parquet.avro.schema",
];

/// The kept columns of the rows that were read and not yet written. Clones share them.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use arrow_ipc::writer::StreamWriter;
/// use reptile_records::batches::kept::{KeptRows, KeptTypes};
/// use reptile_records::tables::open::Opening;
/// use reptile_records::tables::source::Source;
///
/// let texts: ArrayRef = Arc::new(StringArray::from(vec!["https://example.com/"]));
/// let batch = RecordBatch::try_from_iter([("url", texts.clone()), ("title", texts)])?;
/// let file = tempfile::NamedTempFile::new()?;
/// let mut writer = StreamWriter::try_new(file.reopen()?, &batch.schema())?;
/// writer.write(&batch)?;
/// writer.finish()?;
///
/// let title = |names: &[&str]| Ok((0..names.len()).filter(|&at| names[at] == "title").collect());
/// let kept = KeptRows::new(KeptTypes::Arrow, title);
/// let opening = Opening { kept: Some(kept.clone()), ..Opening::of(file.path()) };
/// let (_, mut rows) = Source::open(file.path())?.open_rows(&opening)?;
/// while rows.next(Vec::new(), &|| true)?.is_some() {}
/// assert_eq!(kept.next(), Some(batch.project(&[1])?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct KeptRows(Arc<Shared>);

/// The types in which a Parquet file's columns are kept. Columns of Arrow IPC always keep their types.
///
/// ```
/// use reptile_records::batches::kept::KeptTypes;
/// let is_parquet = true;
/// let types = if is_parquet { KeptTypes::Stored } else { KeptTypes::Arrow };
/// assert!(matches!(types, KeptTypes::Stored));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptTypes {
    /// The Arrow types that correspond to the annotations, for an output in Arrow IPC or text. Text must be UTF-8.
    Arrow,
    /// The stored types, for an output in Parquet with the same fields: numbers without an annotation, binary views,
    /// and binary values of fixed size. Repeated fields are lists, and groups are structs, whatever their annotation.
    /// So every value stays as it is. See [`ParquetFields`] for the exception.
    Stored,
}

struct Shared {
    types: KeptTypes,
    select: Box<Select>,
    state: Mutex<BatchQueue>,
}

#[derive(Default)]
struct BatchQueue {
    schema: Option<SchemaRef>,
    parquet: Option<Arc<ParquetFields>>,
    batches: VecDeque<RecordBatch>,
}

impl KeptRows {
    /// Creates an empty queue for the columns that `select` returns.
    pub fn new(
        types: KeptTypes,
        select: impl Fn(&[&str]) -> Result<Vec<usize>, String> + Send + Sync + 'static,
    ) -> KeptRows {
        KeptRows(Arc::new(Shared { types, select: Box::new(select), state: Mutex::default() }))
    }

    fn state(&self) -> MutexGuard<'_, BatchQueue> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the types in which a Parquet file's columns are kept.
    #[must_use]
    pub fn types(&self) -> KeptTypes {
        self.0.types
    }

    /// Selects columns of a table with these columns. Returns their indexes.
    ///
    /// # Errors
    /// Returns the selection's error.
    pub(crate) fn select(&self, names: &[&str]) -> Result<Vec<usize>, String> {
        (self.0.select)(names)
    }

    /// Describes the kept columns, before their first rows.
    pub(crate) fn begin(&self, schema: SchemaRef, parquet: Option<ParquetFields>) {
        let mut state = self.state();
        state.parquet = parquet.map(Arc::new);
        state.schema = Some(schema);
    }

    /// Adds the kept columns of the next rows.
    pub(crate) fn push(&self, batch: RecordBatch) {
        self.state().batches.push_back(batch);
    }

    /// Returns the schema of the kept columns once the table is open. The schema of Arrow IPC has the table's metadata.
    #[must_use]
    pub fn schema(&self) -> Option<SchemaRef> {
        self.state().schema.clone()
    }

    /// Returns the description of the kept columns in their Parquet file, once it is open, or `None` for other formats.
    #[must_use]
    pub fn parquet(&self) -> Option<Arc<ParquetFields>> {
        self.state().parquet.clone()
    }

    /// Puts rows back that were taken but not written. They are the next ones.
    pub fn put_back(&self, batch: RecordBatch) {
        self.state().batches.push_front(batch);
    }

    /// Removes and returns the next rows' columns, or returns `None` if all rows read so far are written.
    #[must_use]
    pub fn next(&self) -> Option<RecordBatch> {
        self.state().batches.pop_front()
    }
}

/// The description of kept columns in their Parquet file. A column is a field of the schema, with all fields inside it.
///
/// With [`KeptTypes::Stored`], the leaf columns have the stored types of these fields, so that a writer with these
/// fields writes the same values. `INT96`, which is deprecated and not written, becomes a timestamp in nanoseconds.
/// See [`KeptRows`] for an example.
pub struct ParquetFields {
    /// The fields' types, in the order in which they are kept.
    pub fields: Vec<TypePtr>,
    /// The paths of the leaf columns that the file encodes with dictionaries.
    pub dictionaries: HashSet<String>,
    /// The file's metadata.
    pub(crate) metadata: Vec<KeyValue>,
    /// Whether these are all fields of the file in their order.
    pub(crate) is_whole: bool,
}

impl ParquetFields {
    /// Returns the metadata entries that stay true in a file with these columns and the `added` ones. Entries that
    /// describe the whole schema stay true only if it does not change.
    #[must_use]
    pub fn metadata(&self, added: &[&str]) -> Vec<KeyValue> {
        let is_whole = self.is_whole && added.is_empty();
        let is_true = |key: &str| key != LINEAGE_KEY && (is_whole || !SCHEMA_KEYS.contains(&key));
        self.metadata.iter().filter(|entry| is_true(&entry.key) && !added.contains(&&*entry.key)).cloned().collect()
    }
}
