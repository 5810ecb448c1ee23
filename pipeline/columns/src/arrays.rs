//! Columns as Arrow arrays, and their schema.

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, LargeListArray, LargeStringArray, StringArray, TimestampMillisecondArray,
    UInt32Array, UInt64Array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, TimeUnit};

use crate::data::{ColumnData, ColumnType, Values, words_of};
use crate::error::Error;

/// The times' zone.
const UTC: &str = "UTC";

/// Returns a column's type.
fn data_type(kind: &ColumnType) -> DataType {
    match kind {
        ColumnType::Verdict | ColumnType::Group => {
            DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
        }
        ColumnType::Number | ColumnType::Count | ColumnType::Id => DataType::UInt32,
        ColumnType::Time => DataType::Timestamp(TimeUnit::Millisecond, Some(UTC.into())),
        ColumnType::Mask(_) | ColumnType::Long => DataType::UInt64,
        ColumnType::Text | ColumnType::Word => DataType::LargeUtf8,
        ColumnType::Names(_) => DataType::LargeList(item()),
    }
}

/// Returns a column's field. Any column may have nulls.
pub(crate) fn field(name: &str, kind: &ColumnType) -> Field {
    Field::new(name, data_type(kind), true)
}

/// Returns the metadata entry for the names of a mask's bits, if there is a mask: its column's name, and the names as
/// a JSON list.
pub(crate) fn mask_names(columns: &[(String, ColumnType)]) -> Option<(String, String)> {
    columns.iter().find_map(|(name, kind)| match kind {
        ColumnType::Mask(names) => Some((name.clone(), serde_json::Value::from(names.clone()).to_string())),
        _ => None,
    })
}

/// Returns a list's item type.
fn item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::LargeUtf8, true))
}

/// Returns a column as an array. Rows in `nulls` are null, in addition to the column's own.
pub(crate) fn array(column: ColumnData, nulls: Option<&NullBuffer>) -> Result<ArrayRef, Error> {
    let ColumnData { kind, values } = column;
    let nulls = |own: Option<NullBuffer>| NullBuffer::union(own.as_ref(), nulls);
    Ok(match values {
        Values::Texts { bytes, bounds } => {
            let own = bounds.windows(2).map(|pair| pair[0] < pair[1]).collect();
            let offsets = OffsetBuffer::new(ScalarBuffer::from(bounds));
            Arc::new(LargeStringArray::try_new(offsets, Buffer::from_vec(bytes), nulls(Some(own)))?)
        }
        Values::Keys(keys) => {
            let words = StringArray::from_iter_values(words_of(&kind));
            let has_nulls = keys.iter().any(|&key| key < 0);
            let own = has_nulls.then(|| keys.iter().map(|&key| key >= 0).collect());
            let keys: Vec<i8> = if has_nulls { keys.into_iter().map(|key| key.max(0)).collect() } else { keys };
            let keys = Int8Array::try_new(keys.into(), nulls(own))?;
            Arc::new(DictionaryArray::<Int8Type>::try_new(keys, Arc::new(words))?)
        }
        Values::Numbers(numbers) => {
            let own = (kind == ColumnType::Number).then(|| numbers.iter().map(|&number| number > 0).collect());
            Arc::new(UInt32Array::try_new(numbers.into(), nulls(own))?)
        }
        Values::Longs { longs, present } => {
            let nulls = nulls(Some(NullBuffer::from(present)));
            match kind {
                // The bits are the same as in the unsigned number.
                ColumnType::Id => {
                    let ids: Vec<u32> = longs.into_iter().map(|id| id as u32).collect();
                    Arc::new(UInt32Array::try_new(ids.into(), nulls)?)
                }
                ColumnType::Time => {
                    Arc::new(TimestampMillisecondArray::try_new(longs.into(), nulls)?.with_timezone(UTC))
                }
                _ => {
                    let numbers: Vec<u64> = longs.into_iter().map(|long| long as u64).collect();
                    Arc::new(UInt64Array::try_new(numbers.into(), nulls)?)
                }
            }
        }
        Values::Lists { items, ends, present } => {
            let names: &[String] = if let ColumnType::Names(names) = &kind { names } else { &[] };
            let items = items.iter().filter_map(|&item| names.get(item as usize));
            let items: ArrayRef = Arc::new(LargeStringArray::from_iter_values(items));
            let bounds: Vec<i64> = std::iter::once(0).chain(ends.into_iter().map(i64::from)).collect();
            let offsets = OffsetBuffer::new(ScalarBuffer::from(bounds));
            Arc::new(LargeListArray::try_new(item(), offsets, items, nulls(Some(NullBuffer::from(present))))?)
        }
    })
}
