//! Decides columns of URLs: [`decide`], and [`field`], the result's type.

use std::path::Path;
use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::{Array, ArrayRef, StructArray, new_null_array};
use arrow_schema::{DataType, Field};
use reptile::{MappedFile, Set};
use reptile_columns::arrow::ArrayDecider;
use reptile_columns::{Column, Scope, SetOrRobots, UsageOptions, text_of};
use serde::Deserialize;

use crate::series;

/// Maximum number of rows in a part that the calling thread decides. A longer part is a whole column, which all threads
/// decide. The streaming engine's parts have at most 100,000 rows, and each of its threads decides its own part.
const SMALL: usize = 1 << 17;

/// The result's name.
const NAME: &str = "robots";

/// The arguments of `reptile_polars.robots` and `reptile_polars.usage`.
#[derive(Deserialize)]
struct Arguments {
    /// The set file's path.
    set: String,
    agents: Vec<String>,
    columns: Vec<String>,
    uses: Vec<String>,
    lines: String,
    vocabulary: String,
    purpose: Option<String>,
    unknown_usage: Option<String>,
    scope: String,
    exact: bool,
}

/// Returns the result's type: a struct with a field for each column.
pub fn field(fields: &[FFI_ArrowSchema], kwargs: &[u8]) -> Result<FFI_ArrowSchema, String> {
    let urls = fields.first().ok_or("expected a column of URLs, found none")?;
    let urls = DataType::try_from(urls).map_err(|error| error.to_string())?;
    let found = field_of(&decider(kwargs)?, &urls);
    FFI_ArrowSchema::try_from(&found).map_err(|error| error.to_string())
}

/// Decides the parts of a column of URLs.
pub fn decide(columns: &[Vec<ArrayRef>], kwargs: &[u8]) -> Result<series::Column, String> {
    let [urls] = columns else {
        return Err(format!("expected one column of URLs, found {}", columns.len()));
    };
    let decider = decider(kwargs)?;
    let mut urls: Vec<ArrayRef> = urls.iter().map(typed).collect();
    if urls.is_empty() {
        urls.push(new_null_array(&DataType::LargeUtf8, 0));
    }
    let field = field_of(&decider, urls[0].data_type());
    let decided = urls.iter().map(|part| {
        let decider = decider.clone().parallel(part.len() > SMALL);
        let batch = decider.decide(part).map_err(|error| error.to_string())?;
        let fields = batch.schema().fields().clone();
        let rows = StructArray::try_new(fields, batch.columns().to_vec(), None).map_err(|error| error.to_string())?;
        Ok(Arc::new(rows) as ArrayRef)
    });
    let parts = decided.collect::<Result<Vec<ArrayRef>, String>>()?;
    Ok(series::Column { field, parts })
}

/// Returns an array of texts for a part without any value, which may have no type.
fn typed(part: &ArrayRef) -> ArrayRef {
    match part.data_type() {
        DataType::Null => new_null_array(&DataType::LargeUtf8, part.len()),
        _ => part.clone(),
    }
}

fn field_of(decider: &ArrayDecider, urls: &DataType) -> Field {
    let urls = if *urls == DataType::Null { &DataType::LargeUtf8 } else { urls };
    Field::new(NAME, DataType::Struct(decider.schema(urls).fields), true)
}

/// Opens the set, and resolves the crawlers. Cost: microseconds, regardless of the set's size.
fn decider(kwargs: &[u8]) -> Result<ArrayDecider, String> {
    let arguments: Arguments =
        serde_pickle::from_slice(kwargs, serde_pickle::DeOptions::new()).map_err(|error| error.to_string())?;
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
    let agents = SetOrRobots::Set(set).agents(&arguments.agents, arguments.exact).map_err(|error| error.to_string())?;
    let Arguments { uses, lines, vocabulary, purpose, unknown_usage, .. } = arguments;
    let usage = UsageOptions { uses, lines, vocabulary, purpose, unknown_usage };
    let usage = usage.columns().map_err(|error| error.to_string())?;
    let decider = ArrayDecider::with_usage(agents, &columns, usage.as_ref()).map_err(|error| error.to_string())?;
    Ok(decider.in_scope(scope))
}
