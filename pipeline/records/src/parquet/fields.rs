//! The fields of a schema: the supported column types, and the types in which fields are read.
//!
//! Selected columns are read without annotations that say nothing about a cell: texts need not be UTF-8, so that one bad
//! text is one invalid row. Kept columns are read as they are stored, so that every value can be written again.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels, parquet_to_arrow_schema};
use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, SchemaDescriptor, Type, TypePtr};

use super::file::{MessageResult, ParquetFile};
use crate::batches::cells::{self, Class};
use crate::batches::guard::guarded;
use crate::batches::kept::{KeptTypes, ParquetFields};
use crate::tables::named::NamedColumns;

/// Returns a column's class.
///
/// # Errors
/// Returns an error if the type is unsupported: lists, decimals, times of day and the like.
pub fn class_of(column: &ColumnDescriptor) -> MessageResult<Class> {
    if column.max_rep_level() > 0 {
        return Err("is a list, and one value for each row is expected".into());
    }
    let is_binary = matches!(column.physical_type(), PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY);
    let is_supported = match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Unknown | LogicalType::String | LogicalType::Enum | LogicalType::Json), _) => true,
        (None, ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) => true,
        _ => !is_binary,
    };
    let class = if is_supported { cells::class_of(&arrow_type(column.self_type_ptr())?).ok() } else { None };
    class.ok_or_else(|| format!("has the type {}, which is not read", type_name(column)))
}

/// Returns a column's type as the format writes it.
pub fn type_name(column: &ColumnDescriptor) -> String {
    let physical = column.physical_type();
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Unknown), _) => "null (it has no values)".into(),
        (Some(LogicalType::_Unknown { .. }), _) => format!("{physical} with a logical type of a newer format"),
        (Some(logical), _) => {
            let name = format!("{logical:?}").to_uppercase();
            let name = name.split(['(', ' ', '{']).next().unwrap_or_default().to_owned();
            format!("{physical} ({name})")
        }
        (None, ConvertedType::NONE) => physical.to_string(),
        (None, converted) => format!("{physical} ({converted})"),
    }
}

/// Returns the size of a column's values in bytes, or 0 if they are bits or texts.
pub fn width_of(column: &ColumnDescriptor) -> usize {
    match column.physical_type() {
        PhysicalType::BOOLEAN | PhysicalType::BYTE_ARRAY => 0,
        PhysicalType::INT32 | PhysicalType::FLOAT => 4,
        PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
        PhysicalType::INT96 => 12,
        PhysicalType::FIXED_LEN_BYTE_ARRAY => usize::try_from(column.type_length()).unwrap_or(0),
    }
}

/// A field of the schema, as it is read.
#[derive(Clone)]
pub struct ReadField {
    /// The file's columns that are read.
    pub columns: Vec<usize>,
    /// Descriptions of these columns as they are read.
    pub descriptions: Vec<ColumnDescPtr>,
    /// The path to a selected column in the field.
    pub path: Vec<usize>,
    /// Whether the field is kept.
    pub is_kept: bool,
    schema: Arc<SchemaDescriptor>,
    types: Fields,
}

impl ReadField {
    /// Returns the field with only this column, whose values become cells.
    ///
    /// # Errors
    /// Returns an error if the column is a list, or has an unsupported type.
    pub fn selected(file: &ParquetFile, column: usize) -> MessageResult<ReadField> {
        let descr = file.columns().get(column).ok_or("has no columns")?;
        let leaf = selected_leaf(&descr.self_type_ptr(), class_of(descr)?)?;
        let schema = file.metadata.file_metadata().schema_descr();
        let root = schema.get_column_root_idx(column);
        let mut at = (0..column).filter(|&other| schema.get_column_root_idx(other) == root).count();
        let field = file.schema_fields().get(root).ok_or("has no columns")?;
        let field = only_leaf(field, &leaf, &mut at)?.ok_or("has no columns")?;
        let depth = descr.path().parts().len().saturating_sub(1);
        ReadField::new(vec![column], field, vec![0; depth], false)
    }

    /// Returns a field of the schema that is kept.
    ///
    /// # Errors
    /// Returns an error if the field has a type that cannot be kept.
    pub fn kept(file: &ParquetFile, at: usize, types: KeptTypes) -> MessageResult<ReadField> {
        let field = file.schema_fields().get(at).ok_or("has no columns")?;
        let cannot = |text: &str| format!("column {:?} {text}", field.name());
        if has_unknown_type(field) {
            return Err(cannot("has a type of a newer format, which is not kept"));
        }
        let schema = file.metadata.file_metadata().schema_descr();
        let columns: Vec<usize> =
            (0..schema.num_columns()).filter(|&column| schema.get_column_root_idx(column) == at).collect();
        let read = if types == KeptTypes::Stored { stored(field)? } else { Arc::clone(field) };
        let read = ReadField::new(columns, read, Vec::new(), true);
        read.map_err(|text| cannot(&format!("cannot be kept: {text}")))
    }

    fn new(columns: Vec<usize>, field: TypePtr, path: Vec<usize>, is_kept: bool) -> MessageResult<ReadField> {
        let schema = schema_of(field)?;
        let types = arrow_schema_of(&schema)?.fields;
        let of_leaf = |data_type: &DataType| match data_type {
            DataType::Binary => DataType::BinaryView,
            DataType::Utf8 => DataType::Utf8View,
            other => other.clone(),
        };
        let mut types = map_leaves(&types, &of_leaf);
        if !is_kept && schema.columns().iter().any(|column| column.physical_type() == PhysicalType::INT96) {
            // Any time fits, and it is an instant.
            types = map_leaves(&types, &|_| DataType::Timestamp(TimeUnit::Second, Some("UTC".into())));
        }
        let descriptions = schema.columns().to_vec();
        if descriptions.len() != columns.len() || columns.is_empty() {
            return Err("has no values".into());
        }
        Ok(ReadField { columns, descriptions, path, is_kept, schema: Arc::new(schema), types })
    }

    /// Returns whether another field is read from the same columns in the same types.
    pub fn has_same_values(&self, other: &ReadField) -> bool {
        self.columns == other.columns && self.types == other.types
    }

    /// Returns the field's Arrow type.
    pub fn arrow_field(&self) -> Option<Arc<Field>> {
        self.types.first().cloned()
    }

    /// Returns the field's levels and types for the crate's reader, with a dictionary of texts if possible.
    ///
    /// # Errors
    /// Returns an error if the crate cannot convert the types.
    pub fn levels(&self, has_dictionary: bool) -> MessageResult<FieldLevels> {
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Binary));
        let types = if has_dictionary { map_leaves(&self.types, &|_| dictionary.clone()) } else { self.types.clone() };
        guarded(|| parquet_to_arrow_field_levels(&self.schema, ProjectionMask::all(), Some(&types)))
    }
}

/// Returns the description of kept fields in their file.
///
/// # Errors
/// Returns an error if a type is invalid.
pub fn parquet_fields(file: &ParquetFile, places: &[usize]) -> MessageResult<ParquetFields> {
    let all = file.schema_fields();
    let fields: MessageResult<Vec<TypePtr>> = places.iter().filter_map(|&at| all.get(at)).map(without_int96).collect();
    let columns = file.metadata.row_groups().first().map_or(&[][..], |group| group.columns());
    let has_dictionary = columns.iter().filter(|chunk| chunk.dictionary_page_offset().is_some());
    let dictionaries: HashSet<String> = has_dictionary.map(|chunk| chunk.column_path().string()).collect();
    let metadata = file.metadata.file_metadata().key_value_metadata().cloned().unwrap_or_default();
    let is_whole = places.iter().copied().eq(0..all.len());
    Ok(ParquetFields { fields: fields?, dictionaries, metadata, is_whole })
}

/// Returns whether a type or one of its fields comes from a newer format.
fn has_unknown_type(of: &Type) -> bool {
    let is_unknown = matches!(of.get_basic_info().logical_type_ref(), Some(LogicalType::_Unknown { .. }));
    is_unknown || of.is_group() && of.get_fields().iter().any(|field| has_unknown_type(field))
}

/// Returns a schema with one field.
fn schema_of(field: TypePtr) -> MessageResult<SchemaDescriptor> {
    guarded(|| {
        let root = Type::group_type_builder("schema").with_fields(vec![field]).build()?;
        Ok::<_, parquet::errors::ParquetError>(SchemaDescriptor::new(Arc::new(root)))
    })
}

fn arrow_schema_of(schema: &SchemaDescriptor) -> MessageResult<Schema> {
    guarded(|| parquet_to_arrow_schema(schema, None))
}

/// Returns the Arrow type of a column without its nesting.
fn arrow_type(column: TypePtr) -> MessageResult<DataType> {
    // A type that the crate does not convert is one that is not read.
    let converted = schema_of(column).and_then(|schema| arrow_schema_of(&schema));
    Ok(converted.ok().and_then(|schema| Some(schema.fields.first()?.data_type().clone())).unwrap_or(UNKNOWN))
}

/// An Arrow type that is not read.
const UNKNOWN: DataType = DataType::Float16;

/// Returns the type in which a selected column is read.
fn selected_leaf(leaf: &TypePtr, class: Class) -> MessageResult<TypePtr> {
    match class {
        Class::Time | Class::Null => Ok(Arc::clone(leaf)),
        Class::Whole if arrow_type(Arc::clone(leaf))?.is_unsigned_integer() => {
            let is_short = leaf.get_physical_type() == PhysicalType::INT32;
            primitive(leaf, if is_short { ConvertedType::UINT_32 } else { ConvertedType::UINT_64 })
        }
        _ => primitive(leaf, ConvertedType::NONE),
    }
}

/// Returns a type without its annotations, except for this one.
fn primitive(leaf: &Type, converted: ConvertedType) -> MessageResult<TypePtr> {
    let Type::PrimitiveType { physical_type, type_length, .. } = leaf else { return Err("has no values".into()) };
    let repetition = leaf.get_basic_info().repetition();
    let builder = Type::primitive_type_builder(leaf.name(), *physical_type).with_repetition(repetition);
    guarded(|| builder.with_length(*type_length).with_converted_type(converted).build()).map(Arc::new)
}

/// Returns a group of these fields, without annotations.
fn group(of: &Type, fields: Vec<TypePtr>) -> MessageResult<TypePtr> {
    let builder = Type::group_type_builder(of.name()).with_repetition(of.get_basic_info().repetition());
    guarded(|| builder.with_fields(fields).build()).map(Arc::new)
}

/// Returns a field with only one of its columns, which is read as `leaf`. `at` is the column's index among them.
fn only_leaf(of: &Type, leaf: &TypePtr, at: &mut usize) -> MessageResult<Option<TypePtr>> {
    if of.is_primitive() {
        let is_found = *at == 0;
        *at = at.wrapping_sub(1);
        return Ok(is_found.then(|| Arc::clone(leaf)));
    }
    for field in of.get_fields() {
        if let Some(found) = only_leaf(field, leaf, at)? {
            return group(of, vec![found]).map(Some);
        }
    }
    Ok(None)
}

/// Returns a field as it is stored: without annotations. The crate reads `INT96` as nanoseconds.
fn stored(field: &TypePtr) -> MessageResult<TypePtr> {
    if field.is_primitive() {
        return primitive(field, ConvertedType::NONE);
    }
    group(field, field.get_fields().iter().map(stored).collect::<MessageResult<_>>()?)
}

/// Returns a field with timestamps in nanoseconds instead of `INT96`.
fn without_int96(field: &TypePtr) -> MessageResult<TypePtr> {
    let info = field.get_basic_info();
    let id = info.has_id().then(|| info.id());
    if field.is_primitive() {
        if field.get_physical_type() != PhysicalType::INT96 {
            return Ok(Arc::clone(field));
        }
        let builder = Type::primitive_type_builder(field.name(), PhysicalType::INT64);
        let builder = builder.with_repetition(info.repetition()).with_id(id);
        let nanoseconds = LogicalType::timestamp(false, parquet::basic::TimeUnit::NANOS);
        return guarded(|| builder.with_logical_type(Some(nanoseconds)).build()).map(Arc::new);
    }
    let fields: Vec<TypePtr> = field.get_fields().iter().map(without_int96).collect::<MessageResult<_>>()?;
    if fields.iter().zip(field.get_fields()).all(|(new, old)| Arc::ptr_eq(new, old)) {
        return Ok(Arc::clone(field));
    }
    let builder = Type::group_type_builder(field.name()).with_repetition(info.repetition()).with_id(id);
    let builder =
        builder.with_converted_type(info.converted_type()).with_logical_type(info.logical_type_ref().cloned());
    guarded(|| builder.with_fields(fields).build()).map(Arc::new)
}

/// Changes the types of fields without fields.
fn map_leaves(fields: &Fields, of_leaf: &impl Fn(&DataType) -> DataType) -> Fields {
    let of_field = |field: &Arc<Field>| {
        let field = Arc::clone(field);
        let changed = match field.data_type() {
            DataType::Struct(fields) => DataType::Struct(map_leaves(fields, of_leaf)),
            DataType::List(item) => DataType::List(map_field(item, of_leaf)),
            DataType::Map(entries, is_sorted) => DataType::Map(map_field(entries, of_leaf), *is_sorted),
            leaf => of_leaf(leaf),
        };
        Arc::new(field.as_ref().clone().with_data_type(changed))
    };
    fields.iter().map(of_field).collect()
}

fn map_field(field: &Arc<Field>, of_leaf: &impl Fn(&DataType) -> DataType) -> Arc<Field> {
    let mapped = map_leaves(&Fields::from(vec![Arc::clone(field)]), of_leaf);
    mapped.first().map_or_else(|| Arc::clone(field), Arc::clone)
}

impl NamedColumns for ParquetFile {
    fn column_count(&self) -> usize {
        self.columns().len()
    }

    fn name(&self, at: usize) -> String {
        self.columns().get(at).map(|column| column.path().string()).unwrap_or_default()
    }

    fn class(&self, at: usize) -> MessageResult<Class> {
        let column = self.columns().get(at).ok_or("has no columns")?;
        class_of(column)
    }

    fn type_name(&self, at: usize) -> String {
        self.columns().get(at).map(|column| type_name(column)).unwrap_or_default()
    }

    fn text_types(&self) -> &'static str {
        "text (BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY)"
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::*;

    #[test]
    fn types_have_a_class_or_are_rejected_by_name() {
        let plain = |class: Class| Ok(class);
        let no = |name: &str| Err(format!("has the type {name}"));
        let cases = [
            ("required binary a", plain(Class::Text)),
            ("optional binary a (UTF8)", plain(Class::Text)),
            ("optional binary a (STRING)", plain(Class::Text)),
            ("optional binary a (ENUM)", plain(Class::Text)),
            ("optional binary a (JSON)", plain(Class::Text)),
            ("required fixed_len_byte_array(7) a", plain(Class::Text)),
            ("required boolean a", plain(Class::Flag)),
            ("required float a", plain(Class::Float)),
            ("required double a", plain(Class::Float)),
            ("required int32 a", plain(Class::Whole)),
            ("required int64 a", plain(Class::Whole)),
            ("required int32 a (INT_8)", plain(Class::Whole)),
            ("required int64 a (INTEGER(64,true))", plain(Class::Whole)),
            ("required int64 a (INTEGER(64,false))", plain(Class::Whole)),
            ("required int64 a (UINT_64)", plain(Class::Whole)),
            ("required int32 a (UINT_32)", plain(Class::Whole)),
            ("required int32 a (UINT_16)", plain(Class::Whole)),
            ("required int32 a (DATE)", plain(Class::Time)),
            ("required int64 a (TIMESTAMP_MILLIS)", plain(Class::Time)),
            ("required int64 a (TIMESTAMP_MICROS)", plain(Class::Time)),
            ("required int64 a (TIMESTAMP(MILLIS,true))", plain(Class::Time)),
            ("required int64 a (TIMESTAMP(MICROS,false))", plain(Class::Time)),
            ("required int64 a (TIMESTAMP(NANOS,false))", plain(Class::Time)),
            ("required int96 a", plain(Class::Time)),
            ("required int32 a (UNKNOWN)", plain(Class::Null)),
            ("required int32 a (TIME_MILLIS)", no("INT32 (TIME")),
            ("required int64 a (TIME(MICROS,true))", no("INT64 (TIME")),
            ("required int64 a (DECIMAL(9,2))", no("INT64 (DECIMAL)")),
            ("required binary a (DECIMAL(9,2))", no("BYTE_ARRAY (DECIMAL)")),
            ("required binary a (BSON)", no("BYTE_ARRAY (BSON)")),
            ("required fixed_len_byte_array(16) a (UUID)", no("FIXED_LEN_BYTE_ARRAY (UUID)")),
            ("required fixed_len_byte_array(2) a (FLOAT16)", no("FIXED_LEN_BYTE_ARRAY (FLOAT16)")),
            ("required fixed_len_byte_array(12) a (INTERVAL)", no("FIXED_LEN_BYTE_ARRAY (INTERVAL)")),
            ("repeated binary a", Err("is a list, and one value for each row is expected".into())),
        ];
        for (column, expected) in cases {
            let schema = parse_message_type(&format!("message m {{ {column}; }}")).unwrap();
            let schema = SchemaDescriptor::new(Arc::new(schema));
            let found = class_of(&schema.column(0));
            match &expected {
                Ok(_) => assert_eq!(found, expected, "{column}"),
                // The crate's parser returns older names for some types.
                Err(text) => assert!(found.clone().is_err_and(|found| found.starts_with(text)), "{column}: {found:?}"),
            }
        }
    }
}
