//! Row times: a column in the same rows as the URLs, as seconds since 1970.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};

use super::urls;
use crate::error::{Error, ErrorKind};

/// The time range in a set: from the first second of the year 1 to the last second of 9999.
const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
/// Whole numbers with thirteen digits are milliseconds, as the command reads them.
const MILLISECONDS: std::ops::Range<i64> = 1_000_000_000_000..10_000_000_000_000;
const SECONDS_IN_DAY: i64 = 24 * 60 * 60;

/// Finds the time column in arrays of a type.
pub(crate) fn place(data_type: &DataType, name: &str) -> Result<usize, Error> {
    let expected = "times, dates or whole numbers (seconds since 1970)";
    urls::named_column(data_type, name, "times", (is_time, expected))
}

/// Returns whether arrays of a type contain times that [`seconds`] can convert. A column without values may have the
/// type `Null`.
pub fn is_time(data_type: &DataType) -> bool {
    *data_type == DataType::Null
        || data_type.is_integer()
        || matches!(data_type, DataType::Timestamp(_, _) | DataType::Date32 | DataType::Date64)
}

/// Returns the times in a column of rows, or `None` for those that are null or outside a set's range.
pub(crate) fn times(index: usize, rows: &ArrayRef) -> Result<Vec<Option<i64>>, Error> {
    seconds(&urls::column(index, rows)?)
}

/// Returns an array of times as seconds since 1970, rounded down. The times are timestamps in any unit (UTC if they
/// have no zone), dates, or whole numbers of seconds since 1970 (milliseconds if they have thirteen digits). A time
/// that is null, or outside the years 1 to 9999, is `None`.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array};
/// use reptile_columns::arrow::seconds;
///
/// let array: ArrayRef = Arc::new(Int64Array::from(vec![Some(1_000), None, Some(1_700_000_000_999)]));
/// assert_eq!(seconds(&array)?, [Some(1_000), None, Some(1_700_000_000)]);
/// # Ok::<(), reptile_columns::Error>(())
/// ```
///
/// # Errors
/// Returns [`ErrorKind::Array`] if the array does not contain times.
pub fn seconds(column: &ArrayRef) -> Result<Vec<Option<i64>>, Error> {
    let times = match column.data_type() {
        DataType::Null => Some(vec![None; column.len()]),
        DataType::Int8 => numbers::<Int8Type>(column),
        DataType::Int16 => numbers::<Int16Type>(column),
        DataType::Int32 => numbers::<Int32Type>(column),
        DataType::Int64 => numbers::<Int64Type>(column),
        DataType::UInt8 => numbers::<UInt8Type>(column),
        DataType::UInt16 => numbers::<UInt16Type>(column),
        DataType::UInt32 => numbers::<UInt32Type>(column),
        DataType::UInt64 => numbers::<UInt64Type>(column),
        DataType::Date32 => each::<Date32Type>(column, |days| i64::from(days).checked_mul(SECONDS_IN_DAY)),
        DataType::Date64 => each::<Date64Type>(column, |time| Some(time.div_euclid(1000))),
        DataType::Timestamp(TimeUnit::Second, _) => each::<TimestampSecondType>(column, Some),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            each::<TimestampMillisecondType>(column, |time| Some(time.div_euclid(1000)))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            each::<TimestampMicrosecondType>(column, |time| Some(time.div_euclid(1_000_000)))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            each::<TimestampNanosecondType>(column, |time| Some(time.div_euclid(1_000_000_000)))
        }
        _ => None,
    };
    times.ok_or_else(|| Error::new(ErrorKind::Array, format!("{} is not a type of times", column.data_type())))
}

fn numbers<T: ArrowPrimitiveType<Native: TryInto<i64>>>(column: &ArrayRef) -> Option<Vec<Option<i64>>> {
    each::<T>(column, |number| {
        let number = number.try_into().ok()?;
        Some(if MILLISECONDS.contains(&number) { number / 1000 } else { number })
    })
}

fn each<T: ArrowPrimitiveType>(
    column: &ArrayRef,
    seconds: impl Fn(T::Native) -> Option<i64>,
) -> Option<Vec<Option<i64>>> {
    let column = column.as_primitive_opt::<T>()?;
    Some(column.iter().map(|time| time.and_then(&seconds).filter(|time| RANGE.contains(time))).collect())
}
