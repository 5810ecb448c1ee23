//! Decides columns of URLs: [`decide`], and [`field`], the result's type.

use std::path::Path;
use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::{Array, ArrayRef, StructArray, new_empty_array, new_null_array};
use arrow_schema::{DataType, Field};
use reptile::{MappedFile, Set};
use reptile_columns::arrow::ArrayDecider;
use reptile_columns::{ByRow, Column, Scope, SetOrRobots, UsageOptions, text_of};
use serde::Deserialize;

use crate::series;

/// Maximum number of rows in a part that the calling thread decides. A longer part is a whole column, which all threads
/// decide. The streaming engine's parts have at most 100,000 rows, and each of its threads decides its own part.
const SMALL: usize = 1 << 17;

/// The result's name.
const NAME: &str = "robots";

/// The fields of a row, if rows have crawlers or times: `reptile_polars` names them.
const URL: &str = "url";
const AGENT: &str = "agent";
const TIME: &str = "time";

/// The arguments of `reptile_polars.robots` and `reptile_polars.usage`.
#[derive(Deserialize)]
struct Arguments {
    /// The set file's path.
    set: String,
    /// The crawlers, or `None` if each row names its own.
    agents: Option<Vec<String>>,
    /// Whether every name in a row is a `User-Agent` header.
    headers: bool,
    /// Whether rows have times.
    has_times: bool,
    columns: Vec<String>,
    uses: Vec<String>,
    lines: String,
    vocabulary: String,
    purpose: Option<String>,
    unknown_usage: Option<String>,
    scope: String,
    exact: bool,
}

impl Arguments {
    fn of(kwargs: &[u8]) -> Result<Arguments, String> {
        serde_pickle::from_slice(kwargs, serde_pickle::DeOptions::new()).map_err(|error| error.to_string())
    }
}

/// Decides columns of URLs, or of structs with URLs, and possibly crawlers and times.
struct ColumnDecider {
    decider: ArrayDecider,
    has_rows: bool,
}

/// Returns the result's type: a struct with a field for each column.
pub fn field(fields: &[FFI_ArrowSchema], kwargs: &[u8]) -> Result<FFI_ArrowSchema, String> {
    let column = fields.first().ok_or("expected a column of URLs, found none")?;
    let column = DataType::try_from(column).map_err(|error| error.to_string())?;
    let decider = decider(kwargs)?;
    // Shows mistakes in the types before the query runs.
    decider.decide(&new_empty_array(&typed(&column)), false)?;
    FFI_ArrowSchema::try_from(&decider.field(&column)).map_err(|error| error.to_string())
}

/// Decides the parts of a column.
pub fn decide(columns: &[Vec<ArrayRef>], kwargs: &[u8]) -> Result<series::Column, String> {
    let [parts] = columns else {
        return Err(format!("expected one column of URLs, found {}", columns.len()));
    };
    let first = parts.first().ok_or("internal error, please report it: a column without a part")?;
    let decider = decider(kwargs)?;
    let field = decider.field(first.data_type());
    let decided = parts.iter().map(|part| match part.data_type() {
        DataType::Null => decider.decide(&new_null_array(&DataType::LargeUtf8, part.len()), part.len() > SMALL),
        _ => decider.decide(part, part.len() > SMALL),
    });
    Ok(series::Column { field, parts: decided.collect::<Result<Vec<ArrayRef>, String>>()? })
}

/// Returns a type of texts for a column without any value, which may have no type.
fn typed(column: &DataType) -> DataType {
    if *column == DataType::Null { DataType::LargeUtf8 } else { column.clone() }
}

impl ColumnDecider {
    /// Returns the result's field for a column of this type.
    fn field(&self, column: &DataType) -> Field {
        let urls = match column {
            DataType::Struct(fields) if self.has_rows => fields.find(URL).map(|(_, field)| field.data_type()),
            _ => None,
        };
        let schema = self.decider.schema(&typed(urls.unwrap_or(column)));
        Field::new(NAME, DataType::Struct(schema.fields), true)
    }

    /// Decides a part, with all threads or only this one.
    fn decide(&self, part: &ArrayRef, is_parallel: bool) -> Result<ArrayRef, String> {
        let decider = self.decider.clone().parallel(is_parallel);
        let batch = decider.decide_rows(part, self.has_rows.then_some(URL)).map_err(|error| error.to_string())?;
        let (fields, columns) = (batch.schema().fields().clone(), batch.columns().to_vec());
        let rows = StructArray::try_new_with_length(fields, columns, None, part.len());
        Ok(Arc::new(rows.map_err(|error| error.to_string())?))
    }
}

/// Opens the set, and resolves the crawlers. Cost: microseconds, regardless of the set's size.
fn decider(kwargs: &[u8]) -> Result<ColumnDecider, String> {
    let arguments = Arguments::of(kwargs)?;
    let path = Path::new(&arguments.set);
    let fail = |error: &dyn std::error::Error| format!("{}: {}", path.display(), text_of(error));
    // SAFETY: the documentation says that a set file must not change while it is open, only be replaced by renaming.
    let file = unsafe { MappedFile::open(path) }.map_err(|error| fail(&error))?;
    let set = Set::map(file).map_err(|error| fail(&error))?;
    let columns =
        Column::from_names(arguments.columns.iter().map(String::as_str)).map_err(|error| error.to_string())?;
    let names = || Scope::ALL.iter().map(|scope| scope.name()).collect::<Vec<&str>>().join(", ");
    let unknown = || format!("unknown scope {:?}; the scopes are {}", arguments.scope, names());
    let scope = Scope::from_name(&arguments.scope).ok_or_else(unknown)?;
    let Arguments { agents, headers, has_times, uses, lines, vocabulary, purpose, unknown_usage, exact, .. } =
        arguments;
    let usage = UsageOptions { uses, lines, vocabulary, purpose, unknown_usage };
    let usage = usage.columns().map_err(|error| error.to_string())?;
    let has_rows = agents.is_none() || has_times;
    let decider = match agents {
        Some(names) => {
            let agents = SetOrRobots::Set(set).agents(&names, exact).map_err(|error| error.to_string())?;
            ArrayDecider::with_usage(agents, &columns, usage.as_ref())
        }
        None => {
            let by_row = Arc::new(ByRow::of_column(&set, headers, exact).map_err(|error| fail(&error))?);
            ArrayDecider::by_row(by_row, AGENT, &columns, usage.as_ref())
        }
    };
    let decider = decider.map_err(|error| error.to_string())?.in_scope(scope);
    Ok(ColumnDecider { decider: if has_times { decider.times(TIME) } else { decider }, has_rows })
}
