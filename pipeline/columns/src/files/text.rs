//! Kept columns as text, before rows of TSV or CSV: [`KeptText`].
//!
//! Values are formatted by `arrow-array` and `chrono`. `arrow-cast` would also format nested values, but adds nine
//! crates.

use std::fmt::Debug;
use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{as_date, as_datetime, as_time};
use arrow_array::types::{
    ArrowTemporalType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, LargeUtf8Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type, Utf8Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch, StringViewArray, new_empty_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use reptile_records::batches::kept::KeptRows;
use reptile_records::shown::listed;

use super::no_kept_rows;
use crate::error::{Error, ErrorKind};
use crate::kept::check_names;
use crate::text::AnswerFormat;

/// Appends a row's value. Returns `None` if no text expresses it.
type PushValue = Box<dyn Fn(usize, &mut Vec<u8>) -> Option<()> + Send>;

/// Writes the kept columns of an input before rows of TSV or CSV, one for each row of the input.
///
/// A null is an empty cell. An empty text is too in TSV, and `""` in CSV. Times are in ISO 8601, and instants in UTC.
///
/// ```
/// use reptile_columns::{AnswerFormat, KeptText};
/// use reptile_records::batches::kept::{KeptRows, KeptTypes};
/// use reptile_records::tables::{open::Opening, source::Source};
/// # use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// # let urls: ArrayRef = std::sync::Arc::new(StringArray::from(vec!["https://example.com/"]));
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from(vec![7]));
/// # let batch = RecordBatch::try_from_iter([("url", urls), ("id", ids)])?;
/// # let file = tempfile::NamedTempFile::new()?;
/// # let mut writer = arrow_ipc::writer::StreamWriter::try_new(file.reopen()?, &batch.schema())?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
///
/// let kept = KeptRows::new(KeptTypes::Arrow, |names| Ok((0..names.len()).rev().collect()));
/// let opening = Opening { kept: Some(kept.clone()), ..Opening::of(file.path()) };
/// let (_, mut rows) = Source::open(file.path())?.open_rows(&opening)?;
/// while rows.next(Vec::new(), &|| true)?.is_some() {}
/// let mut columns = KeptText::new(AnswerFormat::Csv, kept);
/// columns.check(&["verdict"])?;
/// assert_eq!(columns.header(b"verdict\n")?, b"id,url,verdict\n");
/// assert_eq!(columns.join(b"allow\n")?, b"7,https://example.com/,allow\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct KeptText {
    format: AnswerFormat,
    kept: KeptRows,
    front: Option<Front>,
}

/// Kept rows, and the number of those that were written.
struct Front {
    batch: RecordBatch,
    columns: Vec<(Option<NullBuffer>, PushValue)>,
    used: usize,
}

impl KeptText {
    /// Prepares to write columns in a text format.
    #[must_use]
    pub fn new(format: AnswerFormat, kept: KeptRows) -> KeptText {
        KeptText { format, kept, front: None }
    }

    /// Returns a header with the kept columns' names before those in `rest`.
    ///
    /// # Errors
    /// Returns an error if the table is not open yet.
    pub fn header(&self, rest: &[u8]) -> Result<Vec<u8>, Error> {
        let schema = self.kept.schema().ok_or_else(no_kept_rows)?;
        let mut header = Vec::new();
        for field in schema.fields() {
            push_text(self.format, field.name(), &mut header);
            header.push(self.format.separator());
        }
        header.extend_from_slice(rest);
        Ok(header)
    }

    /// Checks the kept columns before the first row. `written` has the names of the columns after them.
    ///
    /// # Errors
    /// Returns an error if the table is not open yet, if a column's type has no text, or if two columns share a name.
    pub fn check<S: AsRef<str>>(&self, written: &[S]) -> Result<(), Error> {
        let schema = self.kept.schema().ok_or_else(no_kept_rows)?;
        check_names(&schema.fields().iter().map(|field| field.name()).collect::<Vec<_>>(), written)?;
        let has_text = |data_type| values(&new_empty_array(data_type), self.format).is_some();
        let refused: Vec<String> = schema
            .fields()
            .iter()
            .filter(|field| !has_text(field.data_type()))
            .map(|field| format!("{:?} ({})", field.name(), name_of(field.data_type())))
            .collect();
        if refused.is_empty() {
            return Ok(());
        }
        let (refused, format) = (listed(refused.iter()), self.format.name());
        let message = "these types have no text; keep other columns, or write Parquet or Arrow";
        Err(Error::new(ErrorKind::Column, format!("{format}: {refused}: {message}")))
    }

    /// Returns rows, which end with LF, after their kept columns.
    ///
    /// # Errors
    /// Returns an error if there are fewer kept rows, or if no text expresses a value.
    pub fn join(&mut self, rows: &[u8]) -> Result<Vec<u8>, Error> {
        let mut joined = Vec::with_capacity(rows.len() * 2);
        for row in rows.split_inclusive(|&byte| byte == b'\n') {
            self.push_next(&mut joined)?;
            joined.extend_from_slice(row);
        }
        Ok(joined)
    }

    /// Appends the kept columns of the next row, and a separator after each.
    fn push_next(&mut self, text: &mut Vec<u8>) -> Result<(), Error> {
        while self.front.as_ref().is_none_or(|front| front.used == front.batch.num_rows()) {
            let batch = self.kept.next().ok_or_else(no_kept_rows)?;
            self.front = Some(Front::new(batch, self.format)?);
        }
        let Some(Front { batch, columns, used }) = &mut self.front else { return Ok(()) };
        for (place, (nulls, push)) in columns.iter().enumerate() {
            if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*used)) {
                push(*used, text).ok_or_else(|| without_text(batch.schema().field(place).name()))?;
            }
            text.push(self.format.separator());
        }
        *used += 1;
        Ok(())
    }

    /// Leaves the kept columns of later rows to another writer.
    pub fn end_part(&mut self) {
        if let Some(Front { batch, used, .. }) = self.front.take() {
            self.kept.put_back(batch.slice(used, batch.num_rows() - used));
        }
    }
}

impl Front {
    fn new(batch: RecordBatch, format: AnswerFormat) -> Result<Front, Error> {
        let schema = batch.schema();
        let columns = batch.columns().iter().zip(schema.fields()).map(|(array, field)| {
            let values = values(array, format).ok_or_else(|| without_text(field.name()))?;
            Ok((array.logical_nulls(), values))
        });
        Ok(Front { columns: columns.collect::<Result<_, Error>>()?, batch, used: 0 })
    }
}

fn without_text(name: &str) -> Error {
    Error::new(ErrorKind::Column, format!("{name:?}: a value of this kept column cannot be written as text"))
}

/// Returns a type's name for messages.
fn name_of(data_type: &DataType) -> String {
    match data_type {
        DataType::Struct(_) => "struct".into(),
        DataType::Map(..) => "map".into(),
        DataType::FixedSizeBinary(_) => "binary".into(),
        _ if data_type.is_binary() => "binary".into(),
        _ if data_type.is_list() => "list".into(),
        _ => data_type.to_string(),
    }
}

/// Appends a text. CSV keeps every character, and TSV has `%XX` for those that control a terminal, tabs and line ends.
fn push_text(format: AnswerFormat, value: &str, text: &mut Vec<u8>) {
    let needs_quotes = |byte| matches!(byte, b'"' | b'\r' | b'\n') || byte == format.separator();
    if format == AnswerFormat::Tsv {
        format.push(value.as_bytes(), text);
    } else if value.is_empty() || value.bytes().any(needs_quotes) {
        text.push(b'"');
        text.extend_from_slice(value.replace('"', "\"\"").as_bytes());
        text.push(b'"');
    } else {
        text.extend_from_slice(value.as_bytes());
    }
}

/// Returns a function that appends an array's values, or `None` if its type has no text.
fn values(array: &ArrayRef, format: AnswerFormat) -> Option<PushValue> {
    use DataType::{Boolean, Date32, Date64, Dictionary, Float16, Float32, Float64, Null, Time32, Time64, Timestamp};
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256, LargeUtf8, Utf8, Utf8View};
    use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    Some(match array.data_type() {
        Null => Box::new(|_, _| Some(())),
        Utf8View => texts(array.as_string_view().clone(), format),
        Utf8 => texts(StringViewArray::from(array.as_bytes_opt::<Utf8Type>()?), format),
        LargeUtf8 => texts(StringViewArray::from(array.as_bytes_opt::<LargeUtf8Type>()?), format),
        Dictionary(..) => words(array, format)?,
        Boolean => {
            let flags = array.as_boolean().clone();
            Box::new(move |row, text| {
                text.extend_from_slice(if flags.value(row) { b"true" } else { b"false" });
                Some(())
            })
        }
        Int8 => shown::<Int8Type, _>(array, Some)?,
        Int16 => shown::<Int16Type, _>(array, Some)?,
        Int32 => shown::<Int32Type, _>(array, Some)?,
        Int64 => shown::<Int64Type, _>(array, Some)?,
        UInt8 => shown::<UInt8Type, _>(array, Some)?,
        UInt16 => shown::<UInt16Type, _>(array, Some)?,
        UInt32 => shown::<UInt32Type, _>(array, Some)?,
        UInt64 => shown::<UInt64Type, _>(array, Some)?,
        Float16 => shown::<Float16Type, _>(array, |number| Some(number.to_f32()))?,
        Float32 => shown::<Float32Type, _>(array, Some)?,
        Float64 => shown::<Float64Type, _>(array, Some)?,
        Decimal32(..) => decimals::<Decimal32Type>(array)?,
        Decimal64(..) => decimals::<Decimal64Type>(array)?,
        Decimal128(..) => decimals::<Decimal128Type>(array)?,
        Decimal256(..) => decimals::<Decimal256Type>(array)?,
        Date32 => shown::<Date32Type, _>(array, |day| as_date::<Date32Type>(day.into()))?,
        Date64 => shown::<Date64Type, _>(array, as_date::<Date64Type>)?,
        Time32(Second) => shown::<Time32SecondType, _>(array, |at| as_time::<Time32SecondType>(at.into()))?,
        Time32(_) => shown::<Time32MillisecondType, _>(array, |at| as_time::<Time32MillisecondType>(at.into()))?,
        Time64(Microsecond) => shown::<Time64MicrosecondType, _>(array, as_time::<Time64MicrosecondType>)?,
        Time64(_) => shown::<Time64NanosecondType, _>(array, as_time::<Time64NanosecondType>)?,
        Timestamp(Second, zone) => times::<TimestampSecondType>(array, zone.is_some())?,
        Timestamp(Millisecond, zone) => times::<TimestampMillisecondType>(array, zone.is_some())?,
        Timestamp(Microsecond, zone) => times::<TimestampMicrosecondType>(array, zone.is_some())?,
        Timestamp(Nanosecond, zone) => times::<TimestampNanosecondType>(array, zone.is_some())?,
        _ => return None,
    })
}

fn texts(array: StringViewArray, format: AnswerFormat) -> PushValue {
    Box::new(move |row, text| {
        push_text(format, array.value(row), text);
        Some(())
    })
}

/// Appends values by a dictionary's words. All rows are null if there are none.
fn words(array: &ArrayRef, format: AnswerFormat) -> Option<PushValue> {
    let dictionary = array.as_any_dictionary_opt()?;
    let push = values(dictionary.values(), format)?;
    let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
    Some(Box::new(move |row, text| push(*keys.get(row)?, text)))
}

/// Appends values in the notation for developers: numbers with all digits that distinguish them, times in ISO 8601.
fn shown<T: ArrowPrimitiveType, D: Debug>(
    array: &ArrayRef,
    value: impl Fn(T::Native) -> Option<D> + Send + 'static,
) -> Option<PushValue> {
    let array = array.as_primitive_opt::<T>()?.clone();
    Some(Box::new(move |row, text| write!(text, "{:?}", value(array.value(row))?).ok()))
}

/// Appends times. Instants are in UTC.
fn times<T: ArrowTemporalType<Native = i64>>(array: &ArrayRef, is_instant: bool) -> Option<PushValue> {
    let push = shown::<T, _>(array, as_datetime::<T>)?;
    let end: &[u8] = if is_instant { b"Z" } else { b"" };
    Some(Box::new(move |row, text| {
        push(row, text)?;
        text.extend_from_slice(end);
        Some(())
    }))
}

fn decimals<T: DecimalType + ArrowPrimitiveType>(array: &ArrayRef) -> Option<PushValue> {
    let array = array.as_primitive_opt::<T>()?.clone();
    Some(Box::new(move |row, text| {
        text.extend_from_slice(array.value_as_string(row).as_bytes());
        Some(())
    }))
}
