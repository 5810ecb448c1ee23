//! The table functions about a whole set: [`register`].
//!
//! DuckDB asks for a table's rows while a query needs them. A thread makes batches of rows ahead of DuckDB, one at a
//! time, and ends if the query does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use arrow_array::{ArrayRef, LargeStringArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use quack_rs::connection::{Connection, Registrar};
use quack_rs::data_chunk::DataChunk;
use quack_rs::error::ExtensionError;
use quack_rs::table::{BindInfo, TableFunctionBuilder};
use quack_rs::types::{LogicalType, TypeId};
use quack_rs::value::Value;
use quack_rs::vector::vector_size;
use reptile::Agents;
use reptile_columns::Error;
use reptile_columns::arrow::{summarize, summary_schema};

use crate::output::Output;
use crate::sets::{self, OpenSet};

const ORIGINS: &str = "robots_origins";
const SUMMARY: &str = "robots_summary";

/// Number of batches that wait for DuckDB.
const WAITING_BATCHES: usize = 1;
/// Number of origins in a batch of `robots_origins`.
const ORIGINS_IN_BATCH: usize = 8192;

/// Registers the table functions.
pub fn register(connection: &Connection) -> Result<(), ExtensionError> {
    let origins = TableFunctionBuilder::try_new(ORIGINS)?.param(TypeId::Varchar);
    add(connection, origins, ORIGINS, OriginsCall::bind, OriginsCall::start)?;
    let texts = || LogicalType::try_list(TypeId::Varchar).map_err(|error| error.to_string());
    let summary = TableFunctionBuilder::try_new(SUMMARY)?
        .param(TypeId::Varchar)
        .param_logical(texts()?)
        .named_param_logical("origins", texts()?)
        .named_param("exact", TypeId::Boolean);
    add(connection, summary, SUMMARY, SummaryCall::bind, SummaryCall::start)
}

/// Registers a function that checks its arguments in `bind` and starts the rows in `start`.
fn add<C: Send + Sync + 'static>(
    connection: &Connection,
    form: TableFunctionBuilder,
    name: &'static str,
    bind: fn(&BindInfo) -> Result<C, String>,
    start: fn(&C) -> Result<Rows, String>,
) -> Result<(), ExtensionError> {
    let fail = move |message: String| ExtensionError::from(format!("{name}: {message}"));
    let form = form
        .with_bind_init(move |info| bind(info).map_err(fail), move |call| start(call).map_err(fail))
        .scan(move |rows, chunk| rows.write(chunk).map_err(fail))
        .build()?;
    // SAFETY: the connection is open, and the callbacks fit each other.
    unsafe { connection.register_table(form) }
}

/// A call of `robots_origins`: the set's path.
struct OriginsCall(String);

impl OriginsCall {
    fn bind(info: &BindInfo) -> Result<OriginsCall, String> {
        let path = path(info)?;
        let set = sets::open(path.as_bytes())?;
        declare(info, &origins_schema())?;
        info.set_cardinality(set.set().len(), false);
        Ok(OriginsCall(path))
    }

    fn start(&self) -> Result<Rows, String> {
        let set = sets::open(self.0.as_bytes())?;
        Rows::start(move |batches| send_origins(&set, batches))
    }
}

/// A call of `robots_summary`: its arguments.
struct SummaryCall {
    path: String,
    names: Vec<String>,
    origins: Option<Vec<String>>,
    is_exact: bool,
}

impl SummaryCall {
    fn bind(info: &BindInfo) -> Result<SummaryCall, String> {
        // SAFETY: the function has two positional parameters.
        let names = unsafe { info.get_parameter_value(1) };
        // SAFETY: the function has this parameter.
        let origins = unsafe { info.get_named_parameter_value("origins") };
        // SAFETY: the function has this parameter.
        let exact = unsafe { info.get_named_parameter_value("exact") };
        let call = SummaryCall {
            path: path(info)?,
            names: texts(&names, "the crawlers")?,
            origins: (!is_missing(&origins)).then(|| texts(&origins, "origins")).transpose()?,
            is_exact: exact.as_bool().unwrap_or(false),
        };
        let agents = call.agents()?;
        declare(info, &summary_schema())?;
        let of_set = || sets::open(call.path.as_bytes()).map(|set| set.set().len());
        let count = call.origins.as_ref().map_or_else(of_set, |origins| Ok(origins.len() as u64))?;
        info.set_cardinality(count.saturating_mul(agents.len() as u64), false);
        Ok(call)
    }

    fn agents(&self) -> Result<Agents, String> {
        sets::open(self.path.as_bytes())?.agents(&self.names, self.is_exact)
    }

    fn start(&self) -> Result<Rows, String> {
        let (agents, origins) = (self.agents()?, self.origins.clone());
        Rows::start(move |batches| summarize(&agents, origins.as_deref(), |batch| batches.send(batch)))
    }
}

/// Returns the first parameter, a set's path.
fn path(info: &BindInfo) -> Result<String, String> {
    // SAFETY: each function has at least one positional parameter.
    let path = unsafe { info.get_parameter_value(0) };
    if is_missing(&path) {
        return Err("the set's path is NULL".to_owned());
    }
    path.as_str().map_err(|error| error.to_string())
}

/// Returns the texts in a list.
fn texts(list: &Value, what: &str) -> Result<Vec<String>, String> {
    if is_missing(list) {
        return Err(format!("{what}: expected a list, found NULL"));
    }
    list.list_items().iter().map(|item| item.as_str().map_err(|error| format!("{what}: {error}"))).collect()
}

/// Returns whether a parameter was not passed, or is NULL.
fn is_missing(value: &Value) -> bool {
    value.as_raw().is_null() || value.is_sql_null()
}

/// Declares a function's columns.
fn declare(info: &BindInfo, schema: &Schema) -> Result<(), String> {
    for field in schema.fields() {
        let kind = match field.data_type() {
            DataType::LargeUtf8 | DataType::Dictionary(_, _) => TypeId::Varchar,
            DataType::UInt32 => TypeId::UInteger,
            other => return Err(format!("internal error, please report it: unexpected type {other}")),
        };
        info.add_result_column(field.name(), kind);
    }
    Ok(())
}

fn origins_schema() -> Schema {
    Schema::new(vec![Field::new("origin", DataType::LargeUtf8, false)])
}

/// Sends every origin in a set, in the set's order.
fn send_origins(set: &OpenSet, batches: &Batches) -> Result<(), Error> {
    let schema = Arc::new(origins_schema());
    let mut origins = set.set().origins();
    loop {
        let part = origins.by_ref().take(ORIGINS_IN_BATCH).map(|origin| Ok(origin?.to_string()));
        let part = part.collect::<Result<Vec<String>, reptile::Error>>()?;
        if part.is_empty() {
            return Ok(());
        }
        let column: ArrayRef = Arc::new(LargeStringArray::from(part));
        batches.send(RecordBatch::try_new(schema.clone(), vec![column])?)?;
    }
}

/// A batch, or `None` at the end, or an error's text.
type Message = Result<Option<RecordBatch>, String>;

/// Takes the batches for a query.
struct Batches(SyncSender<Message>);

impl Batches {
    /// Waits until DuckDB needs a batch. Returns an error if the query has ended.
    fn send(&self, batch: RecordBatch) -> Result<(), Error> {
        self.0.send(Ok(Some(batch))).map_err(|_| ArrowError::ComputeError("the query has ended".to_owned()).into())
    }
}

/// The rows of a query, from a thread.
struct Rows {
    messages: Receiver<Message>,
    /// The batch's rows that DuckDB has not received yet.
    rest: Option<RecordBatch>,
}

impl Rows {
    fn start(work: impl FnOnce(&Batches) -> Result<(), Error> + Send + 'static) -> Result<Rows, String> {
        let (sender, messages) = sync_channel(WAITING_BATCHES);
        let run = move || {
            let batches = Batches(sender);
            let result = catch_unwind(AssertUnwindSafe(|| work(&batches)));
            let result = result.unwrap_or_else(|panic| Err(Error::of_panic(panic.as_ref())));
            // A query that has ended does not receive this.
            let _ = batches.0.send(result.map(|()| None).map_err(|error| error.to_string()));
        };
        let thread = thread::Builder::new().name("reptile".to_owned()).spawn(run);
        thread.map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Rows { messages, rest: None })
    }

    /// Writes the next rows to a chunk. After the last row, the chunk is empty.
    fn write(&mut self, chunk: &DataChunk) -> Result<(), String> {
        let part = self.next(vector_size() as usize)?;
        let count = part.as_ref().map_or(0, RecordBatch::num_rows);
        let rows: Vec<usize> = (0..count).collect();
        for (at, column) in part.iter().flat_map(|part| part.columns()).enumerate() {
            // SAFETY: the chunk has the schema's columns.
            let vector = unsafe { chunk.vector(at) };
            // SAFETY: the vector is flat, has the column's type, and has room for this many rows.
            let output = unsafe { Output::of(vector, count) };
            output.write(&rows, column)?;
        }
        // SAFETY: a chunk has room for this many rows.
        unsafe { chunk.set_size(count) };
        Ok(())
    }

    /// Returns up to `max` rows, or `None` at the end.
    fn next(&mut self, max: usize) -> Result<Option<RecordBatch>, String> {
        let batch = match self.rest.take() {
            Some(rest) => rest,
            None => loop {
                let ended = |_| "internal error, please report it: the rows have no end".to_owned();
                match self.messages.recv().map_err(ended)?? {
                    None => return Ok(None),
                    Some(batch) if batch.num_rows() == 0 => {}
                    Some(batch) => break batch,
                }
            },
        };
        let count = batch.num_rows().min(max);
        self.rest = (count < batch.num_rows()).then(|| batch.slice(count, batch.num_rows() - count));
        Ok(Some(batch.slice(0, count)))
    }
}
