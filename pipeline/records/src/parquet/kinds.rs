//! Column types: the supported ones, and the meaning of their numbers.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::schema::types::ColumnDescriptor;

/// Seconds per day.
pub const DAY: i64 = 86_400;

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

/// The meaning of a column's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Plain numbers; or the column has no numbers.
    Plain,
    /// Unsigned numbers.
    Unsigned,
    /// Days since 1970.
    Days,
    /// Instants since 1970, with this many units per second.
    PerSecond(i64),
    /// Local dates and times, encoded as if they were in UTC.
    LocalPerSecond(i64),
}

/// Returns a column's class, and the meaning of its numbers.
///
/// # Errors
/// Returns an error if the type is unsupported: lists, decimals, times of day and the like.
pub fn class_of(column: &ColumnDescriptor) -> Result<(Class, Meaning), String> {
    if column.max_rep_level() > 0 {
        return Err("is a list, and one value for each row is expected".into());
    }
    let plain = |class| Some((class, Meaning::Plain));
    let found = match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
        (_, Some(LogicalType::Unknown), _) => plain(Class::Null),
        (Type::BOOLEAN, None, ConvertedType::NONE) => plain(Class::Flag),
        (Type::FLOAT | Type::DOUBLE, None, ConvertedType::NONE) => plain(Class::Float),
        (Type::INT96, None, ConvertedType::NONE) => plain(Class::Time),
        (Type::INT32 | Type::INT64, logical, converted) => whole_class(logical, converted),
        (
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY,
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json),
            _,
        )
        | (
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY,
            None,
            ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON,
        ) => plain(Class::Text),
        _ => None,
    };
    found.ok_or_else(|| format!("has the type {}, which is not read", type_name(column)))
}

/// Returns the class and the meaning for whole numbers.
fn whole_class(logical: Option<&LogicalType>, converted: ConvertedType) -> Option<(Class, Meaning)> {
    Some(match (logical, converted) {
        (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => (Class::Time, Meaning::Days),
        (Some(LogicalType::Timestamp(time)), _) => {
            let parts = match time.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            };
            let is_instant = time.is_adjusted_to_u_t_c;
            (Class::Time, if is_instant { Meaning::PerSecond(parts) } else { Meaning::LocalPerSecond(parts) })
        }
        (None, ConvertedType::TIMESTAMP_MILLIS) => (Class::Time, Meaning::PerSecond(1_000)),
        (None, ConvertedType::TIMESTAMP_MICROS) => (Class::Time, Meaning::PerSecond(1_000_000)),
        (Some(LogicalType::Integer(kind)), _) if !kind.is_signed => (Class::Whole, Meaning::Unsigned),
        (Some(LogicalType::Integer(_)), _) => (Class::Whole, Meaning::Plain),
        (None, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64) => {
            (Class::Whole, Meaning::Unsigned)
        }
        (
            None,
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64,
        ) => (Class::Whole, Meaning::Plain),
        _ => return None,
    })
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
        Type::BOOLEAN | Type::BYTE_ARRAY => 0,
        Type::INT32 | Type::FLOAT => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(column.type_length()).unwrap_or(0),
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
        let plain = |class| Ok((class, Meaning::Plain));
        let no = |name: &str| Err(format!("has the type {name}"));
        let time = |parts| Ok((Class::Time, Meaning::PerSecond(parts)));
        let local = |parts| Ok((Class::Time, Meaning::LocalPerSecond(parts)));
        let unsigned = Ok((Class::Whole, Meaning::Unsigned));
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
            ("required int64 a (INTEGER(64,false))", unsigned.clone()),
            ("required int64 a (UINT_64)", unsigned.clone()),
            ("required int32 a (UINT_32)", unsigned.clone()),
            ("required int32 a (UINT_16)", unsigned),
            ("required int32 a (DATE)", Ok((Class::Time, Meaning::Days))),
            ("required int64 a (TIMESTAMP_MILLIS)", time(1_000)),
            ("required int64 a (TIMESTAMP_MICROS)", time(1_000_000)),
            ("required int64 a (TIMESTAMP(MILLIS,true))", time(1_000)),
            ("required int64 a (TIMESTAMP(MICROS,false))", local(1_000_000)),
            ("required int64 a (TIMESTAMP(NANOS,false))", local(1_000_000_000)),
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
