//! Arrow array texts as byte slices, without copying.
//!
//! Arrays come from other programs. Each text is therefore sliced with checked bounds, and its bytes are never assumed
//! to be UTF-8: a URL may be any bytes.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray, GenericByteViewArray, downcast_dictionary_array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Schema};

use crate::error::{Error, ErrorKind};

/// Returns whether the type is text, or a dictionary with text values. A column without values may have the type
/// `Null`, which therefore counts as text.
pub fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// The position of the URLs in a stream's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The arrays are the URLs.
    Whole,
    /// The arrays are rows, with the URLs in this column.
    Column(usize),
}

/// Finds the URLs in arrays of a type: the arrays themselves, the given column, the column `url`, the only text column,
/// or the only column without values.
pub(crate) fn place(data_type: &DataType, named: Option<&str>) -> Result<Place, Error> {
    let fail = |message: String| Err(Error::new(ErrorKind::Array, message));
    let DataType::Struct(fields) = data_type else {
        return match named {
            None if is_text(data_type) => Ok(Place::Whole),
            None => fail(format!("the URLs have to be an array of texts, found {data_type}")),
            Some(name) => fail(format!("there is no column {name:?}, only an array without columns")),
        };
    };
    let wanted = named.unwrap_or("url");
    let found = match fields.find(wanted) {
        Some((index, _)) => Some(index),
        None if named.is_some() => None,
        None => {
            let candidates = |is_empty: bool| -> Vec<usize> {
                let fields = fields.iter().map(|field| field.data_type()).enumerate();
                let found = fields.filter(|(_, kind)| is_text(kind) && (**kind == DataType::Null) == is_empty);
                found.map(|(index, _)| index).collect()
            };
            // A column without values is chosen only if no column has texts.
            match (&candidates(false)[..], &candidates(true)[..]) {
                ([index], _) | ([], [index]) => Some(*index),
                _ => None,
            }
        }
    };
    match found.and_then(|index| Some((index, fields.get(index)?))) {
        Some((index, field)) if is_text(field.data_type()) => Ok(Place::Column(index)),
        Some((_, field)) => {
            fail(format!("the column {:?} has to be one of texts, found {}", field.name(), field.data_type()))
        }
        None => {
            let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).take(SHOWN_COLUMNS).collect();
            fail(format!("there is no column {wanted:?} with URLs; the columns are {}", names.join(", ")))
        }
    }
}

/// Finds the column with crawlers' names in arrays of a type.
pub(crate) fn crawler_place(data_type: &DataType, name: &str) -> Result<usize, Error> {
    named_column(data_type, name, "crawlers", (is_text, "crawlers, as texts"))
}

/// Finds a column by its name, and checks its type with a test. `expected` describes the test in a message.
pub(crate) fn named_column(
    data_type: &DataType,
    name: &str,
    contents: &str,
    (is_type, expected): (fn(&DataType) -> bool, &str),
) -> Result<usize, Error> {
    let fail = |message: String| Err(Error::new(ErrorKind::Array, message));
    let DataType::Struct(fields) = data_type else {
        return fail(format!("there is no column {name:?} with {contents}, only an array without columns"));
    };
    match fields.find(name) {
        Some((index, field)) if is_type(field.data_type()) => Ok(index),
        Some((_, field)) => {
            fail(format!("the column {name:?} has to be one of {expected}, found {}", field.data_type()))
        }
        None => fail(format!("there is no column {name:?} with {contents}")),
    }
}

/// Returns the array in a column of rows.
pub(crate) fn column(index: usize, rows: &ArrayRef) -> Result<ArrayRef, Error> {
    let column = rows.as_struct_opt().and_then(|rows| rows.columns().get(index));
    column.cloned().ok_or_else(|| damaged("a batch without one of its columns"))
}

/// Maximum number of columns that a message names.
const SHOWN_COLUMNS: usize = 20;

/// Returns the URLs in an array.
pub(crate) fn at(place: Place, array: &ArrayRef) -> Result<ArrayRef, Error> {
    match place {
        Place::Whole => Ok(array.clone()),
        Place::Column(index) => {
            let rows = array.as_struct_opt().ok_or_else(|| damaged("a batch without columns"))?;
            if rows.null_count() > 0 {
                return Err(Error::new(ErrorKind::Array, "rows that are null as a whole have no URL to decide"));
            }
            rows.columns().get(index).cloned().ok_or_else(|| damaged("a batch without its column of URLs"))
        }
    }
}

/// Returns the URLs' type.
pub(crate) fn type_at(place: Place, data_type: &DataType) -> DataType {
    match (place, data_type) {
        (Place::Column(index), DataType::Struct(fields)) => {
            Schema::new(fields.clone()).fields().get(index).map_or(DataType::Null, |field| field.data_type().clone())
        }
        _ => data_type.clone(),
    }
}

/// An array's texts as byte slices, in whole or in parts, without copying. A dictionary's words are prepared once for
/// all parts.
///
/// ```
/// use arrow_array::StringViewArray;
/// use reptile_columns::arrow::Texts;
///
/// let array = StringViewArray::from(vec!["a", "bc"]);
/// assert_eq!(Texts::of(&array)?.cut(&array)?, [&b"a"[..], b"bc"]);
/// # Ok::<(), reptile_columns::Error>(())
/// ```
pub struct Texts<'a> {
    array: &'a dyn Array,
    words: Vec<&'a [u8]>,
}

impl<'a> Texts<'a> {
    /// Prepares an array's texts.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Array`] if a dictionary's values are not texts, or the array is inconsistent.
    pub fn of(array: &'a dyn Array) -> Result<Texts<'a>, Error> {
        let words = match array.data_type() {
            DataType::Dictionary(_, _) => {
                let dictionary = array.as_any_dictionary_opt().ok_or_else(|| damaged("not a dictionary"))?;
                let values = dictionary.values().as_ref();
                Texts::of(values)?.cut(values)?
            }
            _ => Vec::new(),
        };
        Ok(Texts { array, words })
    }

    /// Returns part of the array.
    pub(crate) fn slice(&self, start: usize, rows: usize) -> ArrayRef {
        self.array.slice(start, rows)
    }

    /// Returns the texts in a part, in order. A null row has an empty text.
    pub(crate) fn cut_valid<'p>(&self, part: &'p ArrayRef) -> Result<Vec<&'p [u8]>, Error>
    where
        'a: 'p,
    {
        let mut texts = self.cut(part.as_ref())?;
        if let Some(nulls) = part.logical_nulls() {
            texts.iter_mut().zip(&nulls).filter(|(_, is_valid)| !is_valid).for_each(|(text, _)| *text = &[]);
        }
        Ok(texts)
    }

    /// Returns the texts in a part, or in the whole array, in order. A null row has an arbitrary text.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Array`] if the array does not contain texts, or is inconsistent.
    pub fn cut<'p>(&self, part: &'p dyn Array) -> Result<Vec<&'p [u8]>, Error>
    where
        'a: 'p,
    {
        match part.data_type() {
            DataType::Null => Ok(vec![&[][..]; part.len()]),
            DataType::Utf8 => of_bytes::<Utf8Type>(part.as_string_opt()),
            DataType::LargeUtf8 => of_bytes::<LargeUtf8Type>(part.as_string_opt()),
            DataType::Utf8View => of_views::<StringViewType>(part.as_string_view_opt()),
            DataType::Binary => of_bytes::<BinaryType>(part.as_binary_opt()),
            DataType::LargeBinary => of_bytes::<LargeBinaryType>(part.as_binary_opt()),
            DataType::BinaryView => of_views::<BinaryViewType>(part.as_binary_view_opt()),
            DataType::Dictionary(_, _) => {
                let text = |key: Option<usize>| match key {
                    None => Ok(&[][..]),
                    Some(key) => self.words.get(key).copied().ok_or_else(|| damaged("a key beyond the dictionary")),
                };
                downcast_dictionary_array!(
                    part => try_collect(part.len(), part.keys_iter().map(text)),
                    _ => Err(damaged("not a dictionary"))
                )
            }
            other => Err(Error::new(ErrorKind::Array, format!("the URLs have to be an array of texts, found {other}"))),
        }
    }
}

/// Collects `rows` texts. Collecting into a `Result` would not reserve capacity.
fn try_collect<'p>(rows: usize, texts: impl Iterator<Item = Result<&'p [u8], Error>>) -> Result<Vec<&'p [u8]>, Error> {
    let mut found = Vec::with_capacity(rows);
    for text in texts {
        found.push(text?);
    }
    Ok(found)
}

fn of_bytes<T: ByteArrayType>(array: Option<&GenericByteArray<T>>) -> Result<Vec<&[u8]>, Error> {
    let array = array.ok_or_else(|| damaged("an array of another type"))?;
    let (offsets, values) = (array.value_offsets(), array.values().as_slice());
    let text = |pair: &[T::Offset]| match pair {
        [start, end] => values.get(start.to_usize()?..end.to_usize()?),
        _ => None,
    };
    let texts = offsets.windows(2).map(|pair| text(pair).ok_or_else(|| damaged("offsets beyond the text")));
    try_collect(array.len(), texts)
}

/// Size of a view in bytes. A view has the text's length, and either the text itself or the text's first bytes, a
/// buffer number and an offset.
const VIEW: usize = 16;
/// Maximum size in bytes of a text that is stored in its view.
const MAX_INLINE: usize = 12;

fn of_views<T: ByteViewType>(array: Option<&GenericByteViewArray<T>>) -> Result<Vec<&[u8]>, Error> {
    let array = array.ok_or_else(|| damaged("an array of another type"))?;
    let buffers = array.data_buffers();
    let number = |view: &[u8], at: usize| -> Option<usize> {
        Some(u32::from_le_bytes(view.get(at..at + 4)?.try_into().ok()?) as usize)
    };
    let text = |view| -> Option<&[u8]> {
        let len = number(view, 0)?;
        if len <= MAX_INLINE {
            return view.get(4..4 + len);
        }
        let start = number(view, 12)?;
        buffers.get(number(view, 8)?)?.as_slice().get(start..start + len)
    };
    let views = array.views().inner().as_slice().chunks_exact(VIEW);
    try_collect(array.len(), views.map(|view| text(view).ok_or_else(|| damaged("a view beyond its buffer"))))
}

fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Array, format!("the Arrow array contradicts itself: {what}"))
}
