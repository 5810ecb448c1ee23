//! The columns of an Arrow schema by name, with the fields of structs.

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Fields, Schema};

use super::messages::damaged;
use crate::batches::cells::{Class, class_of, field_of};
use crate::tables::named::NamedColumns;

/// A result whose error text continues a sentence that begins with the input's path.
type MessageResult<T> = Result<T, String>;

/// A column without fields: one of the table's columns, or a struct's field.
#[derive(Clone)]
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

impl Leaf {
    /// Returns the index of the table's column.
    pub fn column(&self) -> usize {
        self.path.first().copied().unwrap_or_default()
    }

    /// Returns the column's values in a batch with the table's column at `place`, and the rows that are null because
    /// their struct is null.
    ///
    /// # Errors
    /// Returns an error if the batch does not have the schema's columns.
    pub fn values(&self, batch: &RecordBatch, place: usize) -> MessageResult<(ArrayRef, Option<NullBuffer>)> {
        let column = batch.columns().get(place).zip(self.path.get(1..));
        let values = column.and_then(|(array, path)| field_of(array, path));
        let values = values.filter(|(array, _)| *array.data_type() == self.data_type);
        values.ok_or_else(|| damaged(&format!("the column \"{}\" does not have its type", self.name)))
    }
}
