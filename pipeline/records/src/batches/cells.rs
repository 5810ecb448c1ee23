//! Columns as cells: the supported types, and their values as text.
//!
//! A cell becomes the bytes that a text table would contain: texts stay unchanged in the arrays' buffers, numbers are
//! written in digits, instants are `@` and seconds since 1970, and dates and local times are RFC 3339 without a zone.

use std::any::Any;
use std::fmt::Display;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    LargeBinaryType, LargeUtf8Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BinaryViewArray, BooleanArray, StringViewArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};

use crate::captures::Cell;
use crate::time::show_local;

/// Seconds per day.
const DAY: i64 = 86_400;

/// Maximum number of words in a dictionary with a cache.
const MAX_CACHED_WORDS: usize = 1 << 20;

/// A column's cell class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Texts, or arbitrary bytes.
    Text,
    /// Whole numbers.
    Whole,
    /// Times and days.
    Time,
    /// Floating-point numbers.
    Float,
    /// Booleans.
    Flag,
    /// Nulls only: the type for columns without values.
    Null,
}

/// Returns a type's class.
///
/// # Errors
/// Returns an error if the type is unsupported: lists, decimals, times of day and the like.
pub fn class_of(data_type: &DataType) -> Result<Class, String> {
    Ok(match data_type {
        DataType::Null => Class::Null,
        DataType::Boolean => Class::Flag,
        DataType::Float32 | DataType::Float64 => Class::Float,
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => Class::Time,
        DataType::Dictionary(_, values) if is_text(values) => Class::Text,
        _ if is_text(data_type) => Class::Text,
        _ if data_type.is_integer() => Class::Whole,
        _ if data_type.is_list() => return Err("is a list, and one value for each row is expected".into()),
        _ => return Err(format!("has the type {data_type}, which is not read")),
    })
}

/// Returns whether values of a type are texts.
fn is_text(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, FixedSizeBinary, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView | FixedSizeBinary(_))
}

/// A caller's cached lookups for a dictionary's words, if they are hosts. The first caller creates them.
pub type Hosts = Arc<OnceLock<Box<dyn Any + Send + Sync>>>;

/// A column's cells.
pub struct CellColumn {
    texts: BinaryViewArray,
    /// Maximum length of a cell in bytes.
    limit: usize,
    words: Option<Words>,
}

/// The dictionary of a column with a cache.
struct Words {
    /// Each row's word.
    keys: Vec<usize>,
    count: usize,
    hosts: Hosts,
}

impl CellColumn {
    /// Returns the cells of an array, whose rows are also null where `nulls` says so. Returns `None` if the type is not
    /// supported.
    pub fn of(array: &ArrayRef, nulls: Option<&NullBuffer>, limit: usize, hosts: Option<Hosts>) -> Option<CellColumn> {
        let mut texts = texts_of(array)?;
        if let Some(nulls) = nulls {
            let (views, buffers, own) = texts.into_parts();
            texts = BinaryViewArray::try_new(views, buffers, NullBuffer::union(own.as_ref(), Some(nulls))).ok()?;
        }
        let words = hosts.zip(array.as_any_dictionary_opt());
        let words = words.map(|(hosts, dictionary)| Words {
            keys: dictionary.normalized_keys(),
            count: dictionary.values().len(),
            hosts,
        });
        Some(CellColumn { texts, limit, words })
    }

    /// Returns the cell in a row.
    #[inline]
    pub fn get(&self, row: usize) -> Cell<'_> {
        if self.texts.is_null(row) {
            return Cell::Null;
        }
        let text = self.texts.value(row);
        if text.len() <= self.limit { Cell::Text(text) } else { Cell::TooLong }
    }

    /// Returns the size of some rows' texts in bytes, without those that are too long.
    pub fn text_bytes(&self, rows: Range<usize>) -> usize {
        let views = self.texts.views().get(rows).unwrap_or_default();
        // A view begins with its text's length.
        views.iter().map(|&view| view as u32 as usize).map(|len| if len <= self.limit { len } else { 0 }).sum()
    }

    /// Returns the number of a row's word in a dictionary with a cache.
    #[inline]
    pub fn number(&self, row: usize) -> Option<usize> {
        self.words.as_ref()?.keys.get(row).copied()
    }

    /// Returns the dictionary's cached lookups, and the number of its words.
    pub fn hosts(&self) -> Option<(&Hosts, usize)> {
        let words = self.words.as_ref()?;
        Some((&words.hosts, words.count))
    }
}

/// Returns the words of an array with a dictionary of texts, unless there are too many for a cache, or none.
pub fn words_of(array: &ArrayRef) -> Option<ArrayRef> {
    let words = array.as_any_dictionary_opt()?.values();
    (1..=MAX_CACHED_WORDS).contains(&words.len()).then(|| Arc::clone(words))
}

/// Returns a field inside an array of structs, and the rows that are null because a struct is null. `path` has the
/// indexes of the fields on the way.
pub fn field_of(array: &ArrayRef, path: &[usize]) -> Option<(ArrayRef, Option<NullBuffer>)> {
    let (mut array, mut nulls) = (Arc::clone(array), None);
    for &field in path {
        let fields = array.as_struct_opt()?;
        nulls = NullBuffer::union(nulls.as_ref(), fields.nulls());
        array = Arc::clone(fields.columns().get(field)?);
    }
    Some((array, nulls))
}

/// Returns an array's values as texts, or `None` if its type is not supported.
fn texts_of(array: &ArrayRef) -> Option<BinaryViewArray> {
    use DataType::{Binary, BinaryView, Date32, Date64, Dictionary, FixedSizeBinary, Float32, Float64};
    use DataType::{Boolean, LargeBinary, LargeUtf8, Null, Timestamp, Utf8, Utf8View};
    use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    let is_instant = matches!(array.data_type(), Timestamp(_, Some(_)));
    let time = |seconds: i64| if is_instant { format!("@{seconds}") } else { show_local(seconds) };
    Some(match array.data_type() {
        BinaryView => array.as_binary_view().clone(),
        Utf8View => array.as_string_view().clone().to_binary_view(),
        Binary => BinaryViewArray::from(array.as_bytes_opt::<BinaryType>()?),
        LargeBinary => BinaryViewArray::from(array.as_bytes_opt::<LargeBinaryType>()?),
        Utf8 => StringViewArray::from(array.as_bytes_opt::<Utf8Type>()?).to_binary_view(),
        LargeUtf8 => StringViewArray::from(array.as_bytes_opt::<LargeUtf8Type>()?).to_binary_view(),
        FixedSizeBinary(_) => fixed(array)?,
        Dictionary(..) => words(array)?,
        Null => BinaryViewArray::new_null(array.len()),
        Boolean => flags(array.as_boolean()),
        Int8 => digits::<Int8Type>(array)?,
        Int16 => digits::<Int16Type>(array)?,
        Int32 => digits::<Int32Type>(array)?,
        Int64 => digits::<Int64Type>(array)?,
        UInt8 => digits::<UInt8Type>(array)?,
        UInt16 => digits::<UInt16Type>(array)?,
        UInt32 => digits::<UInt32Type>(array)?,
        UInt64 => digits::<UInt64Type>(array)?,
        Float32 => written::<Float32Type>(array, |number| float(number.into()))?,
        Float64 => written::<Float64Type>(array, float)?,
        Date32 => written::<Date32Type>(array, |days| Some(time(i64::from(days) * DAY)))?,
        Date64 => written::<Date64Type>(array, |at| Some(time(at.div_euclid(1_000))))?,
        Timestamp(TimeUnit::Second, _) => written::<TimestampSecondType>(array, |at| Some(time(at)))?,
        Timestamp(TimeUnit::Millisecond, _) => {
            written::<TimestampMillisecondType>(array, |at| Some(time(at.div_euclid(1_000))))?
        }
        Timestamp(TimeUnit::Microsecond, _) => {
            written::<TimestampMicrosecondType>(array, |at| Some(time(at.div_euclid(1_000_000))))?
        }
        Timestamp(TimeUnit::Nanosecond, _) => {
            written::<TimestampNanosecondType>(array, |at| Some(time(at.div_euclid(1_000_000_000))))?
        }
        _ => return None,
    })
}

/// Returns views of texts with a fixed length.
fn fixed(array: &ArrayRef) -> Option<BinaryViewArray> {
    let array = array.as_fixed_size_binary_opt()?;
    let len = u32::try_from(array.value_length()).ok()?;
    let mut texts = BinaryViewBuilder::with_capacity(array.len());
    let block = texts.append_block(array.values().clone());
    for row in 0..array.len() {
        if array.is_null(row) {
            texts.append_null();
        } else {
            texts.try_append_view(block, u32::try_from(row).ok()?.checked_mul(len)?, len).ok()?;
        }
    }
    Some(texts.finish())
}

/// Returns views of a dictionary's words. A key without a word is null.
fn words(array: &ArrayRef) -> Option<BinaryViewArray> {
    let dictionary = array.as_any_dictionary_opt()?;
    let words = texts_of(dictionary.values())?;
    if words.is_empty() {
        return Some(BinaryViewArray::new_null(array.len()));
    }
    let keys = dictionary.normalized_keys();
    let views: ScalarBuffer<u128> = keys.iter().map(|&key| words.views().get(key).copied().unwrap_or(0)).collect();
    BinaryViewArray::try_new(views, words.data_buffers().clone(), array.logical_nulls()).ok()
}

fn flags(array: &BooleanArray) -> BinaryViewArray {
    array.iter().map(|flag| flag.map(|is_set| if is_set { "true" } else { "false" })).collect()
}

/// Returns a floating-point number, or `None` for NaN, which programs without null numbers write.
fn float(number: f64) -> Option<String> {
    (!number.is_nan()).then(|| number.to_string())
}

fn digits<T: ArrowPrimitiveType<Native: Display>>(array: &ArrayRef) -> Option<BinaryViewArray> {
    written::<T>(array, |number| Some(number.to_string()))
}

fn written<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    write: impl Fn(T::Native) -> Option<String>,
) -> Option<BinaryViewArray> {
    let array = array.as_primitive_opt::<T>()?;
    let mut texts = BinaryViewBuilder::with_capacity(array.len());
    array.iter().for_each(|value| texts.append_option(value.and_then(&write)));
    Some(texts.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_over_the_limit_are_not_kept() {
        let texts = [0, 7, 8, 9].map(|len| Some(vec![b'a'; len]));
        let array: ArrayRef = Arc::new(texts.into_iter().chain([None]).collect::<BinaryViewArray>());
        let column = CellColumn::of(&array, None, 8, None).unwrap();
        let found: Vec<Cell<'_>> = (0..array.len()).map(|row| column.get(row)).collect();
        let texts = [Cell::Text(b""), Cell::Text(b"aaaaaaa"), Cell::Text(b"aaaaaaaa")];
        assert_eq!(found, [&texts[..], &[Cell::TooLong, Cell::Null]].concat());
        assert_eq!(column.text_bytes(0..5), 15);
    }
}
