//! Columns of Arrow record batches that an output keeps, with any type: [`KeptRows`].
//!
//! A pipe can be read only once, so the reading thread passes these columns to the writing thread in a queue. The queue
//! holds the rows that were read but not yet written.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use crate::tables::LINEAGE_KEY;

/// A function that selects columns by their names, and returns their indexes or an error message.
type Select = dyn Fn(&[&str]) -> Result<Vec<usize>, String> + Send + Sync;

/// The kept columns of the rows that were read and not yet written. Clones share them.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use arrow_ipc::writer::StreamWriter;
/// use reptile_records::arrow::kept::KeptRows;
/// use reptile_records::parquet::urls::Splitting;
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
/// let kept = KeptRows::new(|names| Ok((0..names.len()).filter(|&at| names[at] == "title").collect()));
/// let opening = Opening { kept: Some(kept.clone()), ..Opening::of(file.path()) };
/// let (_, mut rows) = Source::open(file.path(), Splitting::default())?.open_rows(&opening)?;
/// while rows.next(Vec::new(), &|| true)?.is_some() {}
/// assert_eq!(kept.next(), Some(batch.project(&[1])?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct KeptRows(Arc<Shared>);

struct Shared {
    select: Box<Select>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    schema: Option<SchemaRef>,
    batches: VecDeque<RecordBatch>,
}

impl KeptRows {
    /// Creates an empty queue for the columns that `select` returns.
    pub fn new(select: impl Fn(&[&str]) -> Result<Vec<usize>, String> + Send + Sync + 'static) -> KeptRows {
        KeptRows(Arc::new(Shared { select: Box::new(select), state: Mutex::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Selects columns of a table with this schema. Returns their indexes.
    ///
    /// # Errors
    /// Returns the selection's error.
    pub(super) fn begin(&self, schema: &Schema) -> Result<Vec<usize>, String> {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let places = (self.0.select)(&names)?;
        let mut kept = schema.project(&places).map_err(|error| error.to_string())?;
        kept.metadata.remove(LINEAGE_KEY);
        self.state().schema = Some(Arc::new(kept));
        Ok(places)
    }

    /// Adds the kept columns of the next rows.
    pub(super) fn push(&self, batch: RecordBatch) {
        self.state().batches.push_back(batch);
    }

    /// Returns the schema of the kept columns, with the table's metadata, once the table is open.
    #[must_use]
    pub fn schema(&self) -> Option<SchemaRef> {
        self.state().schema.clone()
    }

    /// Removes and returns the next rows' columns, or returns `None` if all rows read so far are written.
    #[must_use]
    pub fn next(&self) -> Option<RecordBatch> {
        self.state().batches.pop_front()
    }
}
