//! Arrow columns: the supported types, and their values as cells.
//!
//! A cell becomes the bytes that a text table would contain, as for Parquet: texts stay unchanged in their buffers,
//! numbers are written in digits, instants are `@` and seconds since 1970, and dates and local times are RFC 3339
//! without a zone.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Date32Type, Date64Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type, StringViewType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, GenericByteArray, GenericByteViewArray, RecordBatch, StructArray,
};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_schema::{DataType, Fields, Schema, TimeUnit};
use bytes::Bytes;

use super::messages::damaged;
use crate::parquet::cells::Cells;
use crate::parquet::kinds::{Class, DAY};
use crate::tables::named::NamedColumns;

/// A result whose error text continues a sentence that begins with the input's path.
type MessageResult<T> = Result<T, String>;

/// Size in bytes of the longest text that is stored in its view.
const MAX_INLINE_BYTES: usize = 12;

/// A column without fields: one of the table's columns, or a struct's field.
pub struct Leaf {
    name: String,
    /// The index of the table's column, then the indexes of fields.
    path: Vec<usize>,
    data_type: DataType,
}

/// The columns of a table by name.
pub struct Leaves(Vec<Leaf>);

impl Leaves {
    /// Returns a schema's columns, with the fields of structs.
    pub fn of(schema: &Schema) -> Leaves {
        let mut leaves = Vec::new();
        add_leaves(schema.fields(), "", &[], &mut leaves);
        Leaves(leaves)
    }

    /// Returns the column at an index.
    pub fn get(&self, at: usize) -> Option<&Leaf> {
        self.0.get(at)
    }
}

fn add_leaves(fields: &Fields, prefix: &str, path: &[usize], leaves: &mut Vec<Leaf>) {
    for (at, field) in fields.iter().enumerate() {
        let name = format!("{prefix}{}", field.name());
        let path = [path, &[at]].concat();
        match field.data_type() {
            DataType::Struct(fields) => add_leaves(fields, &format!("{name}."), &path, leaves),
            data_type => leaves.push(Leaf { name, path, data_type: data_type.clone() }),
        }
    }
}

impl NamedColumns for Leaves {
    fn column_count(&self) -> usize {
        self.0.len()
    }

    fn name(&self, at: usize) -> String {
        self.get(at).map(|leaf| leaf.name.clone()).unwrap_or_default()
    }

    fn class(&self, at: usize) -> MessageResult<Class> {
        class_of(&self.get(at).ok_or("has no columns")?.data_type)
    }

    fn type_name(&self, at: usize) -> String {
        self.get(at).map(|leaf| leaf.data_type.to_string()).unwrap_or_default()
    }

    fn text_types(&self) -> &'static str {
        "text (Utf8 or Binary in any of their forms, or a dictionary of them)"
    }
}

/// Returns a type's class.
///
/// # Errors
/// Returns an error if the type is unsupported: lists, decimals, times of day and the like.
fn class_of(data_type: &DataType) -> MessageResult<Class> {
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

impl Leaf {
    /// Returns the index of the table's column.
    pub fn column(&self) -> usize {
        self.path.first().copied().unwrap_or_default()
    }

    /// Returns the column's values in a batch with the table's column at `place`, and the rows that are null because
    /// their struct is null.
    fn values(&self, batch: &RecordBatch, place: usize) -> Option<(ArrayRef, Option<NullBuffer>)> {
        let mut array = batch.columns().get(place)?.clone();
        let mut nulls = None;
        for &field in self.path.get(1..)? {
            let fields: &StructArray = array.as_struct_opt()?;
            nulls = NullBuffer::union(nulls.as_ref(), fields.nulls());
            array = fields.columns().get(field)?.clone();
        }
        Some((array, nulls))
    }

    /// Adds the cells of some rows until `cells` is full. The table's column is at `place` in the batch.
    ///
    /// # Errors
    /// Returns an error if the batch does not have the schema's columns.
    pub fn fill(&self, cells: &mut Cells, batch: &RecordBatch, place: usize, rows: Range<usize>) -> MessageResult<()> {
        let contradiction = || damaged(&format!("the column \"{}\" does not have its type", self.name));
        let (array, nulls) = self.values(batch, place).ok_or_else(contradiction)?;
        let rows = rows.start..rows.end.min(array.len());
        let is_null = |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) || array.is_null(row);
        push_all(cells, &*array, rows, is_null).ok_or_else(contradiction)
    }
}

/// Adds cells until `cells` is full. Returns `None` if the array contradicts its type.
fn push_all(cells: &mut Cells, array: &dyn Array, rows: Range<usize>, is_null: impl Fn(usize) -> bool) -> Option<()> {
    use DataType::{Date32, Date64, Dictionary, Float32, Float64, Null, Timestamp};
    use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    let is_instant = matches!(array.data_type(), Timestamp(_, Some(_)));
    let time = |cells: &mut Cells, seconds: i64| {
        if is_instant { cells.push_instant(seconds) } else { cells.push_local(seconds) }
    };
    match array.data_type() {
        Null => each(cells, rows, is_null, |_, _| Some(())),
        Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt()?;
            let words = dictionary.values();
            if words.is_empty() {
                // Keys without words are null.
                return each(cells, rows, |_| true, |_, _| Some(()));
            }
            let start = rows.start;
            let keys = array.slice(start, rows.len());
            let keys = keys.as_any_dictionary_opt()?.normalized_keys();
            let texts = Texts::of(&**words, cells)?;
            let word = |row: usize| keys.get(row - start).copied();
            let is_null = |row| is_null(row) || word(row).is_none_or(|word| words.is_null(word));
            each(cells, rows, is_null, |cells, row| texts.push(word(row)?, cells))
        }
        data_type if is_text(data_type) => {
            let texts = Texts::of(array, cells)?;
            each(cells, rows, is_null, |cells, row| texts.push(row, cells))
        }
        Int8 => numbers::<Int8Type>(cells, array, rows, is_null),
        Int16 => numbers::<Int16Type>(cells, array, rows, is_null),
        Int32 => numbers::<Int32Type>(cells, array, rows, is_null),
        Int64 => numbers::<Int64Type>(cells, array, rows, is_null),
        UInt8 => numbers::<UInt8Type>(cells, array, rows, is_null),
        UInt16 => numbers::<UInt16Type>(cells, array, rows, is_null),
        UInt32 => numbers::<UInt32Type>(cells, array, rows, is_null),
        UInt64 => numbers::<UInt64Type>(cells, array, rows, is_null),
        Float32 => values::<Float32Type>(cells, array, rows, is_null, |cells, number| cells.push_float(number.into())),
        Float64 => values::<Float64Type>(cells, array, rows, is_null, Cells::push_float),
        Date32 => values::<Date32Type>(cells, array, rows, is_null, |cells, days| time(cells, i64::from(days) * DAY)),
        Date64 => values::<Date64Type>(cells, array, rows, is_null, |cells, at| time(cells, at.div_euclid(1_000))),
        Timestamp(TimeUnit::Second, _) => values::<TimestampSecondType>(cells, array, rows, is_null, time),
        Timestamp(TimeUnit::Millisecond, _) => {
            values::<TimestampMillisecondType>(cells, array, rows, is_null, |cells, at| {
                time(cells, at.div_euclid(1_000));
            })
        }
        Timestamp(TimeUnit::Microsecond, _) => {
            values::<TimestampMicrosecondType>(cells, array, rows, is_null, |cells, at| {
                time(cells, at.div_euclid(1_000_000));
            })
        }
        Timestamp(TimeUnit::Nanosecond, _) => {
            values::<TimestampNanosecondType>(cells, array, rows, is_null, |cells, at| {
                time(cells, at.div_euclid(1_000_000_000));
            })
        }
        _ => None,
    }
}

/// Adds a cell for each row until `cells` is full.
#[inline]
fn each(
    cells: &mut Cells,
    rows: Range<usize>,
    is_null: impl Fn(usize) -> bool,
    push: impl Fn(&mut Cells, usize) -> Option<()>,
) -> Option<()> {
    cells.reserve(rows.len());
    for row in rows {
        if is_null(row) {
            cells.push_null();
        } else {
            push(cells, row)?;
        }
        if cells.is_full() {
            break;
        }
    }
    Some(())
}

fn values<T: ArrowPrimitiveType>(
    cells: &mut Cells,
    array: &dyn Array,
    rows: Range<usize>,
    is_null: impl Fn(usize) -> bool,
    push: impl Fn(&mut Cells, T::Native),
) -> Option<()> {
    let values = array.as_primitive_opt::<T>()?.values();
    each(cells, rows, is_null, |cells, row| {
        push(cells, *values.get(row)?);
        Some(())
    })
}

fn numbers<T: ArrowPrimitiveType<Native: std::fmt::Display>>(
    cells: &mut Cells,
    array: &dyn Array,
    rows: Range<usize>,
    is_null: impl Fn(usize) -> bool,
) -> Option<()> {
    values::<T>(cells, array, rows, is_null, |cells, number| cells.push(number.to_string().as_bytes()))
}

/// The texts of an array, in buffers that the cells keep.
enum Texts<'a> {
    /// Consecutive texts between 32-bit offsets.
    Short(&'a [i32], &'a [u8], Option<u32>),
    /// Consecutive texts between 64-bit offsets.
    Long(&'a [i64], &'a [u8], Option<u32>),
    /// Texts of this length.
    Fixed(usize, &'a [u8], Option<u32>),
    /// Texts in views, or in the buffers that these refer to.
    Views(&'a [u128], &'a [Buffer], Vec<Option<u32>>),
}

/// A buffer that is kept for its cells.
struct Kept(Buffer);

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

fn keep(cells: &mut Cells, buffer: &Buffer) -> Option<u32> {
    cells.keep_buffer(&Bytes::from_owner(Kept(buffer.clone())))
}

impl<'a> Texts<'a> {
    /// Keeps the buffers of an array. Returns `None` if it has no texts.
    fn of(array: &'a dyn Array, cells: &mut Cells) -> Option<Texts<'a>> {
        Some(match array.data_type() {
            DataType::Utf8 => Texts::short(array.as_bytes_opt::<Utf8Type>()?, cells),
            DataType::Binary => Texts::short(array.as_bytes_opt::<BinaryType>()?, cells),
            DataType::LargeUtf8 => Texts::long(array.as_bytes_opt::<LargeUtf8Type>()?, cells),
            DataType::LargeBinary => Texts::long(array.as_bytes_opt::<LargeBinaryType>()?, cells),
            DataType::Utf8View => Texts::views(array.as_byte_view_opt::<StringViewType>()?, cells),
            DataType::BinaryView => Texts::views(array.as_byte_view_opt::<BinaryViewType>()?, cells),
            DataType::FixedSizeBinary(_) => {
                let array = array.as_fixed_size_binary_opt()?;
                let bytes = array.values();
                Texts::Fixed(usize::try_from(array.value_length()).ok()?, bytes, keep(cells, bytes))
            }
            _ => return None,
        })
    }

    fn short<T: ByteArrayType<Offset = i32>>(array: &'a GenericByteArray<T>, cells: &mut Cells) -> Texts<'a> {
        Texts::Short(array.value_offsets(), array.value_data(), keep(cells, array.values()))
    }

    fn long<T: ByteArrayType<Offset = i64>>(array: &'a GenericByteArray<T>, cells: &mut Cells) -> Texts<'a> {
        Texts::Long(array.value_offsets(), array.value_data(), keep(cells, array.values()))
    }

    fn views<T: ByteViewType>(array: &'a GenericByteViewArray<T>, cells: &mut Cells) -> Texts<'a> {
        let buffers = array.data_buffers();
        Texts::Views(array.views(), buffers, buffers.iter().map(|buffer| keep(cells, buffer)).collect())
    }

    /// Adds a text. Returns `None` if it is outside its buffer.
    #[inline]
    fn push(&self, at: usize, cells: &mut Cells) -> Option<()> {
        let (page, start, text) = match self {
            Texts::Short(offsets, bytes, page) => {
                let (start, end) = (offsets.get(at)?.to_usize()?, offsets.get(at + 1)?.to_usize()?);
                (*page, start, bytes.get(start..end)?)
            }
            Texts::Long(offsets, bytes, page) => {
                let (start, end) = (offsets.get(at)?.to_usize()?, offsets.get(at + 1)?.to_usize()?);
                (*page, start, bytes.get(start..end)?)
            }
            Texts::Fixed(width, bytes, page) => {
                let start = at.checked_mul(*width)?;
                (*page, start, bytes.get(start..start.checked_add(*width)?)?)
            }
            Texts::Views(views, buffers, pages) => {
                // The length, then a short text, or else its first bytes, the buffer's number and the offset in it.
                let view = views.get(at)?.to_le_bytes();
                let number = |at: usize| Some(u32::from_le_bytes(*view.get(at..)?.first_chunk()?) as usize);
                let len = number(0)?;
                if len <= MAX_INLINE_BYTES {
                    cells.push(&view[4..4 + len]);
                    return Some(());
                }
                let (buffer, start) = (number(8)?, number(12)?);
                (*pages.get(buffer)?, start, buffers.get(buffer)?.get(start..start.checked_add(len)?)?)
            }
        };
        cells.push_of(page, start, text);
        Some(())
    }
}
