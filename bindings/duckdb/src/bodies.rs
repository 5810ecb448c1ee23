//! The SQL functions about one robots.txt and about `User-Agent` headers: [`register`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, UInt32Builder};
use arrow_array::{ArrayRef, LargeStringArray};
use libduckdb_sys::{duckdb_data_chunk, duckdb_vector};
use quack_rs::connection::{Connection, Registrar};
use quack_rs::error::ExtensionError;
use quack_rs::scalar::{ScalarFunctionInfo, ScalarFunctionSetBuilder, ScalarOverloadBuilder};
use quack_rs::types::{LogicalType, TypeId};
use reptile::{Crawler, Dialect, OneShot};
use reptile_columns::text_of;

use crate::input;
use crate::output::Output;
use crate::sets::{self, OpenSet};

const ONE_SHOT: &str = "robots_decide_body";
const AGENT: &str = "robots_agent_of_header";

/// The dialect if none is named.
const DIALECT: &str = "google";

/// Registers the functions.
pub fn register(connection: &Connection) -> Result<(), ExtensionError> {
    let fields = [("verdict", TypeId::Varchar), ("line", TypeId::UInteger)];
    let mut forms = ScalarFunctionSetBuilder::try_new(ONE_SHOT)?;
    for body in [TypeId::Varchar, TypeId::Blob] {
        for url in [TypeId::Varchar, TypeId::Blob] {
            for optional in [0, 1] {
                let form = ScalarOverloadBuilder::new().param(body).param(TypeId::Varchar).param(url);
                let form = [TypeId::Varchar].into_iter().take(optional).fold(form, ScalarOverloadBuilder::param);
                let result = LogicalType::try_struct_type(&fields).map_err(|error| error.to_string())?;
                forms = forms.overload(form.returns_logical(result).function(call_one_shot));
            }
        }
    }
    // SAFETY: the connection is open, and the callback fits the forms.
    unsafe { connection.register_scalar_set(forms) }?;
    let mut forms = ScalarFunctionSetBuilder::try_new(AGENT)?;
    for header in [TypeId::Varchar, TypeId::Blob] {
        let form = ScalarOverloadBuilder::new().param(header).param(TypeId::Varchar).returns(TypeId::Varchar);
        forms = forms.overload(form.function(call_agent));
    }
    // SAFETY: as above.
    unsafe { connection.register_scalar_set(forms) }
}

quack_rs::scalar_callback!(call_one_shot, |info, input, output| {
    // SAFETY: DuckDB passes a valid pointer.
    let info = unsafe { ScalarFunctionInfo::new(info) };
    if let Err(message) = decide_bodies(input, output) {
        info.set_error(&format!("{ONE_SHOT}: {message}"));
    }
});

quack_rs::scalar_callback!(call_agent, |info, input, output| {
    // SAFETY: DuckDB passes a valid pointer.
    let info = unsafe { ScalarFunctionInfo::new(info) };
    if let Err(message) = agents(input, output) {
        info.set_error(&format!("{AGENT}: {message}"));
    }
});

/// Decides a chunk of robots.txt files and URLs.
fn decide_bodies(chunk: duckdb_data_chunk, output: duckdb_vector) -> Result<(), String> {
    // SAFETY: every form takes only texts and bytes, and DuckDB flattens them.
    let (rows, arguments) = unsafe { input::texts(chunk) };
    let get = |argument: usize, row| arguments.get(argument).and_then(|texts| texts.get(row));
    let mut resolved: HashMap<(&[u8], &[u8]), OneShot> = HashMap::new();
    let (mut verdicts, mut lines) = (LargeStringBuilder::new(), UInt32Builder::new());
    for row in 0..rows {
        let dialect = if arguments.len() > 3 { get(3, row) } else { Some(DIALECT.as_bytes()) };
        let (Some(body), Some(name), Some(url), Some(dialect)) = (get(0, row), get(1, row), get(2, row), dialect)
        else {
            verdicts.append_null();
            lines.append_null();
            continue;
        };
        let one_shot = match resolved.entry((name, dialect)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(one_shot(name, dialect)?),
        };
        let (verdict, line) = one_shot.decide(body, url).map_err(|error| text_of(&error))?;
        verdicts.append_value(verdict.name());
        lines.append_option(line);
    }
    let columns: [ArrayRef; 2] = [Arc::new(verdicts.finish()), Arc::new(lines.finish())];
    // SAFETY: DuckDB passes a flat vector of the function's type, with room for the chunk's rows.
    let output = unsafe { Output::of(output, rows) };
    output.write_structs(&(0..rows).collect::<Vec<usize>>(), &columns)
}

/// Resolves a crawler and a dialect.
fn one_shot(name: &[u8], dialect: &[u8]) -> Result<OneShot, String> {
    let dialect = String::from_utf8_lossy(dialect);
    let known = Dialect::from_name(&dialect).ok_or_else(|| format!("unknown dialect {dialect:?}"))?;
    OneShot::new(Crawler::named(name), known).map_err(|error| text_of(&error))
}

/// Finds the crawlers that send a chunk of headers.
fn agents(chunk: duckdb_data_chunk, output: duckdb_vector) -> Result<(), String> {
    // SAFETY: every form takes only texts and bytes, and DuckDB flattens them.
    let (rows, arguments) = unsafe { input::texts(chunk) };
    let get = |argument: usize, row| arguments.get(argument).and_then(|texts| texts.get(row));
    let mut open: HashMap<&[u8], Arc<OpenSet>> = HashMap::new();
    let mut names: Vec<Option<String>> = Vec::with_capacity(rows);
    for row in 0..rows {
        let (Some(header), Some(path)) = (get(0, row), get(1, row)) else {
            names.push(None);
            continue;
        };
        let set = match open.entry(path) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(sets::open(path)?),
        };
        let agent = set.headers()?.agent(header).map_err(|error| text_of(&error))?;
        names.push(agent.map(|agent| agent.crawler().to_string()));
    }
    let names: ArrayRef = Arc::new(LargeStringArray::from(names));
    // SAFETY: DuckDB passes a flat vector of the function's type, with room for the chunk's rows.
    let output = unsafe { Output::of(output, rows) };
    output.write(&(0..rows).collect::<Vec<usize>>(), &names)
}
