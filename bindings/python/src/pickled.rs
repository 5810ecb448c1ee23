//! Record batches in pickles: the buffers of their arrays as bytes, which are checked when they are restored.
//!
//! The crate `arrow-ipc` would do the same, but would add three crates and its format's parser to the module.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A column's name, its type as Arrow displays it, and whether it may contain nulls.
pub type Column = (String, String, bool);

/// A batch's number of rows, and its columns.
pub type Batch<'py> = (usize, Vec<ArrayPart<'py>>);

/// An array's length, its bit mask of values that are not null, its buffers, and the arrays inside it.
#[derive(FromPyObject, IntoPyObject)]
pub struct ArrayPart<'py>(usize, Option<Bound<'py, PyBytes>>, Vec<Bound<'py, PyBytes>>, Vec<ArrayPart<'py>>);

/// Returns a schema's columns.
pub fn columns(schema: &Schema) -> Vec<Column> {
    let column = |field: &Arc<Field>| (field.name().clone(), field.data_type().to_string(), field.is_nullable());
    schema.fields().iter().map(column).collect()
}

/// Returns the schema with these columns.
pub fn schema(columns: Vec<Column>, metadata: HashMap<String, String>) -> Result<SchemaRef, ArrowError> {
    let field = |(name, data_type, is_nullable): Column| Ok(Field::new(name, data_type.parse()?, is_nullable));
    let fields: Vec<Field> = columns.into_iter().map(field).collect::<Result<_, ArrowError>>()?;
    Ok(Arc::new(Schema::new(fields).with_metadata(metadata)))
}

/// Converts a batch. A batch that is part of a larger one is copied without the rest.
pub fn batch<'py>(py: Python<'py>, batch: &RecordBatch) -> Result<Batch<'py>, ArrowError> {
    let compact = py.detach(|| batch.columns().iter().map(compact).collect::<Result<Vec<ArrayData>, _>>())?;
    Ok((batch.num_rows(), compact.iter().map(|data| part(py, data)).collect()))
}

/// Restores a batch.
pub fn restored(schema: &SchemaRef, (rows, parts): &Batch<'_>) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(*rows));
    if parts.len() != schema.fields().len() {
        let found = format!("expected {} columns, found {}", schema.fields().len(), parts.len());
        return Err(ArrowError::InvalidArgumentError(found));
    }
    let arrays = schema.fields().iter().zip(parts).map(|(field, part)| Ok(make_array(data(field.data_type(), part)?)));
    RecordBatch::try_new_with_options(schema.clone(), arrays.collect::<Result<_, ArrowError>>()?, &options)
}

/// Copies an array without the unused parts of its buffers.
fn compact(array: &ArrayRef) -> Result<ArrayData, ArrowError> {
    Ok(match array.data_type() {
        DataType::Utf8View => array.as_string_view().gc().to_data(),
        DataType::BinaryView => array.as_binary_view().gc().to_data(),
        _ => {
            let data = array.to_data();
            let mut copied = MutableArrayData::new(vec![&data], false, data.len());
            copied.try_extend(0, 0, data.len())?;
            copied.freeze()
        }
    })
}

fn part<'py>(py: Python<'py>, data: &ArrayData) -> ArrayPart<'py> {
    let nulls = data.nulls().map(|nulls| PyBytes::new(py, nulls.inner().sliced().as_slice()));
    let buffers = data.buffers().iter().map(|buffer| PyBytes::new(py, buffer.as_slice())).collect();
    ArrayPart(data.len(), nulls, buffers, data.child_data().iter().map(|child| part(py, child)).collect())
}

/// Restores an array. Checks lengths, offsets, keys and UTF-8.
fn data(
    data_type: &DataType,
    ArrayPart(rows, nulls, buffers, inside): &ArrayPart<'_>,
) -> Result<ArrayData, ArrowError> {
    let buffer = |bytes: &Bound<'_, PyBytes>| Buffer::from(bytes.as_bytes());
    let types: Vec<&DataType> = match data_type {
        DataType::Dictionary(_, values) => vec![values],
        DataType::List(item) | DataType::LargeList(item) => vec![item.data_type()],
        _ => Vec::new(),
    };
    let inside = types.into_iter().zip(inside).map(|(data_type, part)| data(data_type, part));
    ArrayData::builder(data_type.clone())
        .len(*rows)
        .null_bit_buffer(nulls.as_ref().map(buffer))
        .buffers(buffers.iter().map(buffer).collect())
        .child_data(inside.collect::<Result<_, ArrowError>>()?)
        .build()
}
