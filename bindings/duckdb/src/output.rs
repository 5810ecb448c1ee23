//! Writes columns of verdicts to DuckDB's vectors: [`Output`].

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, TimestampMillisecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, LargeStringArray};
use arrow_schema::{DataType, TimeUnit};
use libduckdb_sys::{duckdb_vector, duckdb_vector_get_data};
use quack_rs::vector::VectorWriter;
use quack_rs::vector::complex::{ListVector, MapVector, StructVector};

/// Maximum number of bytes that DuckDB stores inside a text's 16-byte entry, after the length.
const MAX_INLINE: usize = 12;

/// A flat vector that a function fills. Rows may be written in any order.
pub struct Output {
    vector: duckdb_vector,
    rows: usize,
}

impl Output {
    /// # Safety
    /// The vector is alive while the output is used, is flat, and has room for this many rows. Its type is the type
    /// that the called functions write.
    pub unsafe fn of(vector: duckdb_vector, rows: usize) -> Output {
        Output { vector, rows }
    }

    /// Makes rows null.
    pub fn write_nulls(&self, rows: impl IntoIterator<Item = usize>) {
        let mut writer = self.writer();
        for row in rows.into_iter().filter(|&row| row < self.rows) {
            // SAFETY: the row exists.
            unsafe { writer.set_null(row) };
        }
    }

    /// Writes an array to these rows: one value for each.
    pub fn write(&self, rows: &[usize], array: &ArrayRef) -> Result<(), String> {
        match array.data_type() {
            DataType::Dictionary(_, _) => self.write_words(rows, array),
            DataType::LargeUtf8 => array.as_string_opt::<i64>().map(|texts| self.write_texts(rows, texts)),
            DataType::UInt32 => array.as_primitive_opt::<UInt32Type>().map(|numbers| {
                // SAFETY: the row exists, and the vector has 32-bit numbers.
                self.write_each(rows, numbers.iter(), |writer, row, number| unsafe { writer.write_u32(row, number) });
            }),
            DataType::UInt64 => array.as_primitive_opt::<UInt64Type>().map(|numbers| {
                // SAFETY: the row exists, and the vector has 64-bit numbers.
                self.write_each(rows, numbers.iter(), |writer, row, number| unsafe { writer.write_u64(row, number) });
            }),
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                array.as_primitive_opt::<TimestampMillisecondType>().map(|times| {
                    let times = times.iter().map(|time| time?.checked_mul(1000));
                    // SAFETY: the row exists, and the vector has timestamps with a zone, in microseconds.
                    self.write_each(rows, times, |writer, row, time| unsafe { writer.write_timestamp_tz(row, time) });
                })
            }
            DataType::LargeList(_) => self.write_lists(rows, array),
            _ => None,
        }
        .ok_or_else(|| format!("internal error, please report it: unexpected type {}", array.data_type()))
    }

    /// Writes whether each verdict is `allow` (true) or `disallow` (false); other verdicts become null.
    pub fn write_allowed(&self, rows: &[usize], verdicts: &ArrayRef) -> Result<(), String> {
        let words = Words::of(verdicts).ok_or("internal error, please report it: expected verdicts")?;
        let allowed = words.iter().map(|word| match word? {
            "allow" => Some(true),
            "disallow" => Some(false),
            _ => None,
        });
        // SAFETY: the row exists, and the vector has Booleans.
        self.write_each(rows, allowed, |writer, row, value| unsafe { writer.write_bool(row, value) });
        Ok(())
    }

    /// Writes columns to a vector of structs, one to each field. Where the first column is null, the struct is null.
    pub fn write_structs(&self, rows: &[usize], columns: &[ArrayRef]) -> Result<(), String> {
        for (field, column) in columns.iter().enumerate() {
            // SAFETY: the struct has a field for each column.
            let vector = unsafe { StructVector::get_child(self.vector, field) };
            Output { vector, rows: self.rows }.write(rows, column)?;
        }
        let first = columns.first().ok_or("internal error, please report it: no column")?;
        self.write_nulls(rows.iter().enumerate().filter(|&(at, _)| first.is_null(at)).map(|(_, &row)| row));
        Ok(())
    }

    /// Writes verdicts to a vector of maps: each crawler's name and verdict. Null if the URL is null.
    pub fn write_maps(&self, rows: &[usize], names: &[String], columns: &[ArrayRef]) -> Result<(), String> {
        let words = columns.iter().map(Words::of).collect::<Option<Vec<Words<'_>>>>();
        let words = words.ok_or("internal error, please report it: expected verdicts")?;
        let mut next = self.reserve(rows.len().saturating_mul(names.len()));
        // SAFETY: the vector has maps. The items have been reserved, so that the children do not move.
        let mut keys = unsafe { MapVector::key_writer(self.vector) };
        // SAFETY: as above.
        let mut values = unsafe { MapVector::value_writer(self.vector) };
        for (at, &row) in rows.iter().enumerate().filter(|&(_, &row)| row < self.rows) {
            let start = next;
            for (name, words) in names.iter().zip(&words) {
                let Some(word) = words.get(at) else { continue };
                // SAFETY: the item has been reserved, and keys are texts.
                unsafe { keys.write_varchar(next, name) };
                // SAFETY: the item has been reserved, and values are texts.
                unsafe { values.write_varchar(next, word) };
                next += 1;
            }
            self.end_list(row, start, next, columns.first().is_some_and(|first| first.is_null(at)));
        }
        self.set_items(next);
        Ok(())
    }

    /// Writes words of a dictionary.
    fn write_words(&self, rows: &[usize], array: &ArrayRef) -> Option<()> {
        let words = Words::of(array)?;
        self.write_texts_of(rows, words.iter());
        Some(())
    }

    fn write_texts(&self, rows: &[usize], texts: &LargeStringArray) {
        self.write_texts_of(rows, texts.iter());
    }

    fn write_texts_of<'t>(&self, rows: &[usize], texts: impl Iterator<Item = Option<&'t str>>) {
        // SAFETY: the vector is valid.
        let data = unsafe { duckdb_vector_get_data(self.vector) }.cast::<[u8; 16]>();
        self.write_each(rows, texts, |writer, row, text| match inline(text) {
            Some(bits) => {
                // SAFETY: the row exists, and each text takes 16 bytes.
                let place = unsafe { data.add(row) };
                // SAFETY: as above; a short text is stored in place.
                unsafe { place.write(bits) }
            }
            // SAFETY: the row exists, and the vector has texts.
            None => unsafe { writer.write_varchar(row, text) },
        });
    }

    fn write_lists(&self, rows: &[usize], array: &ArrayRef) -> Option<()> {
        let lists = array.as_list_opt::<i64>()?;
        let items = lists.values().as_string_opt::<i64>()?;
        let mut next = self.reserve(items.len());
        // SAFETY: the vector has lists of text. The items have been reserved, so that the child does not move.
        let mut writer = unsafe { ListVector::child_writer(self.vector) };
        for (at, &row) in rows.iter().enumerate().filter(|&(_, &row)| row < self.rows) {
            let start = next;
            let bounds = lists.value_offsets().get(at..at + 2)?;
            for item in usize::try_from(bounds[0]).ok()?..usize::try_from(bounds[1]).ok()? {
                // SAFETY: the item has been reserved, because no two lists share items.
                unsafe { writer.write_varchar(next, items.value(item)) };
                next += 1;
            }
            self.end_list(row, start, next, lists.is_null(at));
        }
        self.set_items(next);
        Some(())
    }

    /// Makes room for this many further items of lists. Returns the place of the first.
    fn reserve(&self, items: usize) -> usize {
        // SAFETY: the vector has lists.
        let start = unsafe { ListVector::get_size(self.vector) };
        // SAFETY: the vector has lists. No writer of the child exists.
        unsafe { ListVector::reserve(self.vector, start.saturating_add(items)) };
        start
    }

    /// Sets a row's list.
    fn end_list(&self, row: usize, start: usize, end: usize, is_null: bool) {
        // SAFETY: the row exists, and the vector has lists.
        unsafe { ListVector::set_entry(self.vector, row, start as u64, (end - start) as u64) };
        if is_null {
            self.write_nulls([row]);
        }
    }

    fn set_items(&self, count: usize) {
        // SAFETY: the vector has lists, and this many items have been reserved.
        unsafe { ListVector::set_size(self.vector, count) };
    }

    /// Writes one value to each row.
    fn write_each<T>(
        &self,
        rows: &[usize],
        values: impl Iterator<Item = Option<T>>,
        write: impl Fn(&mut VectorWriter, usize, T),
    ) {
        let mut writer = self.writer();
        for (&row, value) in rows.iter().zip(values).filter(|&(&row, _)| row < self.rows) {
            match value {
                Some(value) => write(&mut writer, row, value),
                // SAFETY: the row exists.
                None => unsafe { writer.set_null(row) },
            }
        }
    }

    fn writer(&self) -> VectorWriter {
        // SAFETY: the vector is valid and flat.
        unsafe { VectorWriter::from_vector(self.vector) }
    }
}

/// Returns a short text as DuckDB stores it: its length, and its bytes, then null bytes.
fn inline(text: &str) -> Option<[u8; 16]> {
    let mut bits = [0; size_of::<u32>() + MAX_INLINE];
    bits[4..].get_mut(..text.len())?.copy_from_slice(text.as_bytes());
    bits[..4].copy_from_slice(&(text.len() as u32).to_ne_bytes());
    Some(bits)
}

/// A column of repeated words.
struct Words<'a> {
    words: Vec<&'a str>,
    keys: Vec<Option<i8>>,
}

impl Words<'_> {
    fn of(array: &ArrayRef) -> Option<Words<'_>> {
        let dictionary = array.as_dictionary_opt::<Int8Type>()?;
        let words = dictionary.values().as_string_opt::<i32>()?;
        Some(Words {
            words: words.iter().map(Option::unwrap_or_default).collect(),
            keys: dictionary.keys().iter().collect(),
        })
    }

    fn get(&self, row: usize) -> Option<&str> {
        let key = (*self.keys.get(row)?)?;
        self.words.get(usize::try_from(key).ok()?).copied()
    }

    fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.keys.len()).map(|row| self.get(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_stored_in_place() {
        for (len, fits) in [(0, true), (MAX_INLINE - 1, true), (MAX_INLINE, true), (MAX_INLINE + 1, false)] {
            assert_eq!(inline(&"x".repeat(len)).is_some(), fits, "{len}");
        }
        assert_eq!(inline("allow"), Some(*b"\x05\0\0\0allow\0\0\0\0\0\0\0"));
    }
}
