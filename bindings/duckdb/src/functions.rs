//! The SQL functions: [`register`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StructArray};
use arrow_schema::{DataType, Field};
use libduckdb_sys::{duckdb_data_chunk, duckdb_vector};
use quack_rs::connection::{Connection, Registrar};
use quack_rs::error::ExtensionError;
use quack_rs::scalar::{ScalarFunctionInfo, ScalarFunctionSetBuilder, ScalarOverloadBuilder};
use quack_rs::types::{LogicalType, LogicalTypeError, TypeId};
use reptile_columns::arrow::summarize;
use reptile_columns::{Column, Scope, UsageOptions};

use crate::bodies;
use crate::input::{Arguments, RowChoice};
use crate::output::Output;
use crate::sets::{self, Decider, OpenSet, Query, TIME};
use crate::tables;

/// The URLs' column in rows with times.
const URL: &str = "url";

/// A function's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `robots_verdict`: a crawler's verdict.
    Verdict,
    /// `robots_allowed`: whether a crawler may fetch the URL; null if that is unknown.
    Allowed,
    /// `robots_explain`: a crawler's verdict and its reason, as a struct.
    Explain,
    /// `robots_verdicts`: the verdict for each of several crawlers, as a map.
    Verdicts,
    /// `robots_mask`: the crawlers that may not fetch the URL, as bits.
    Mask,
    /// `robots_refused`: the crawlers that may not fetch the URL, as a list.
    Refused,
    /// `robots_access`: a crawler's access to the URL's origin, as a struct.
    Access,
    /// `robots_usage`: the website's preference for a use of the page.
    Usage,
    /// `robots_purpose`: a single verdict for the fetch and a use of the page.
    Purpose,
    /// `robots_purpose_mask`: the crawlers whose single verdict is `disallow`, as bits.
    PurposeMask,
    /// `robots_purpose_refused`: the crawlers whose single verdict is `disallow`, as a list.
    PurposeRefused,
}

/// A function, at the set's own time or at each row's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedFunction {
    function: Function,
    is_timed: bool,
}

/// Every function. DuckDB keeps pointers to these.
static FUNCTIONS: [TimedFunction; 21] = [
    Function::Verdict.at_set_time(),
    Function::Verdict.at_row_times(),
    Function::Allowed.at_set_time(),
    Function::Allowed.at_row_times(),
    Function::Explain.at_set_time(),
    Function::Explain.at_row_times(),
    Function::Verdicts.at_set_time(),
    Function::Verdicts.at_row_times(),
    Function::Mask.at_set_time(),
    Function::Mask.at_row_times(),
    Function::Refused.at_set_time(),
    Function::Refused.at_row_times(),
    Function::Access.at_set_time(),
    Function::Usage.at_set_time(),
    Function::Usage.at_row_times(),
    Function::Purpose.at_set_time(),
    Function::Purpose.at_row_times(),
    Function::PurposeMask.at_set_time(),
    Function::PurposeMask.at_row_times(),
    Function::PurposeRefused.at_set_time(),
    Function::PurposeRefused.at_row_times(),
];

/// The types of a row's time: a whole number of seconds since 1970, or a timestamp or date, in UTC unless it has a zone.
const TIME_TYPES: [TypeId; 4] = [TypeId::BigInt, TypeId::Timestamp, TypeId::TimestampTz, TypeId::Date];

impl Function {
    const fn at_set_time(self) -> TimedFunction {
        TimedFunction { function: self, is_timed: false }
    }

    const fn at_row_times(self) -> TimedFunction {
        TimedFunction { function: self, is_timed: true }
    }

    /// Returns the function's name, without the `_at` for row times.
    pub fn name(self) -> &'static str {
        match self {
            Function::Verdict => "robots_verdict",
            Function::Allowed => "robots_allowed",
            Function::Explain => "robots_explain",
            Function::Verdicts => "robots_verdicts",
            Function::Mask => "robots_mask",
            Function::Refused => "robots_refused",
            Function::Access => "robots_access",
            Function::Usage => "robots_usage",
            Function::Purpose => "robots_purpose",
            Function::PurposeMask => "robots_purpose_mask",
            Function::PurposeRefused => "robots_purpose_refused",
        }
    }

    /// Returns whether the function takes one crawler rather than a list.
    pub fn is_about_one(self) -> bool {
        match self {
            Function::Verdict | Function::Allowed | Function::Explain | Function::Access => true,
            Function::Usage | Function::Purpose => true,
            Function::Verdicts | Function::Mask | Function::Refused => false,
            Function::PurposeMask | Function::PurposeRefused => false,
        }
    }

    /// Returns the maximum number of texts after the crawlers and the time, and how many of them are required. `exact`
    /// may follow.
    fn texts(self) -> (usize, usize) {
        match self {
            Function::Access => (0, 0),
            // The use, the lines, the vocabulary and the scope.
            Function::Usage => (4, 1),
            // The same, with the verdict for an unknown preference after the use.
            Function::Purpose | Function::PurposeMask | Function::PurposeRefused => (5, 2),
            // The scope.
            _ => (1, 0),
        }
    }

    /// Returns the columns that the function needs.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Function::Verdict | Function::Allowed | Function::Verdicts | Function::Access => &[Column::Verdict],
            Function::Explain => &[
                Column::Verdict,
                Column::Line,
                Column::Rule,
                Column::Group,
                Column::Reason,
                Column::Ruleset,
                Column::CaptureTime,
            ],
            Function::Mask | Function::PurposeMask => &[Column::Mask],
            Function::Refused | Function::PurposeRefused => &[Column::Refused],
            Function::Usage | Function::Purpose => &[],
        }
    }

    fn result(self) -> Result<LogicalType, LogicalTypeError> {
        Ok(match self {
            Function::Verdict | Function::Usage | Function::Purpose => LogicalType::try_new(TypeId::Varchar)?,
            Function::Allowed => LogicalType::try_new(TypeId::Boolean)?,
            Function::Explain => LogicalType::try_struct_type(&[
                ("verdict", TypeId::Varchar),
                ("line", TypeId::UInteger),
                ("rule", TypeId::Varchar),
                ("group", TypeId::Varchar),
                ("reason", TypeId::Varchar),
                ("ruleset", TypeId::UInteger),
                ("capture_time", TypeId::TimestampTz),
            ])?,
            Function::Verdicts => LogicalType::try_map(TypeId::Varchar, TypeId::Varchar)?,
            Function::Mask | Function::PurposeMask => LogicalType::try_new(TypeId::UBigInt)?,
            Function::Refused | Function::PurposeRefused => LogicalType::try_list(TypeId::Varchar)?,
            Function::Access => LogicalType::try_struct_type(&[
                ("access", TypeId::Varchar),
                ("group", TypeId::Varchar),
                ("allow_rules", TypeId::UInteger),
                ("disallow_rules", TypeId::UInteger),
                ("reason", TypeId::Varchar),
                ("allowed_path", TypeId::Varchar),
                ("disallowed_path", TypeId::Varchar),
            ])?,
        })
    }
}

impl TimedFunction {
    /// Returns the function's name.
    fn name(self) -> String {
        format!("{}{}", self.function.name(), if self.is_timed { "_at" } else { "" })
    }

    /// Returns all forms of the function: for texts and bytes, for each type of time, and with optional arguments.
    fn forms(&'static self) -> Result<Vec<ScalarOverloadBuilder>, LogicalTypeError> {
        let times: Vec<Option<TypeId>> = if self.is_timed { TIME_TYPES.map(Some).to_vec() } else { vec![None] };
        let (texts, required) = self.function.texts();
        let mut forms = Vec::new();
        for url in [TypeId::Varchar, TypeId::Blob] {
            for &time in &times {
                for count in required..=texts + 1 {
                    let mut options = vec![TypeId::Varchar; count.min(texts)];
                    options.extend((count > texts).then_some(TypeId::Boolean));
                    forms.push(self.form(url, time, options)?);
                }
            }
        }
        Ok(forms)
    }

    /// Returns one form of the function: for URLs of this type, times of this type, and these arguments after them.
    fn form(
        &'static self,
        url: TypeId,
        time: Option<TypeId>,
        options: Vec<TypeId>,
    ) -> Result<ScalarOverloadBuilder, LogicalTypeError> {
        let agents = if self.function.is_about_one() {
            LogicalType::try_new(TypeId::Varchar)?
        } else {
            LogicalType::try_list(TypeId::Varchar)?
        };
        let form = ScalarOverloadBuilder::new().param(url).param(TypeId::Varchar).param_logical(agents);
        let form = time.into_iter().chain(options).fold(form, ScalarOverloadBuilder::param);
        let data = ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the pointer refers to a static, which is never freed. It is only read.
        let form = unsafe { form.extra_info(data, None) };
        Ok(form.returns_logical(self.function.result()?).function(call))
    }
}

/// Registers the functions.
pub fn register(connection: &Connection) -> Result<(), ExtensionError> {
    for function in &FUNCTIONS {
        let forms = function.forms().map_err(|error| error.to_string())?;
        let set = ScalarFunctionSetBuilder::try_new(&function.name())?;
        let set = forms.into_iter().fold(set, ScalarFunctionSetBuilder::overload);
        // SAFETY: the connection is open, and the callback fits the forms.
        unsafe { connection.register_scalar_set(set) }?;
    }
    bodies::register(connection)?;
    tables::register(connection)
}

quack_rs::scalar_callback!(call, |info, input, output| {
    // SAFETY: DuckDB passes a valid pointer.
    let info = unsafe { ScalarFunctionInfo::new(info) };
    // SAFETY: each form has this pointer.
    let function = unsafe { info.get_extra_info() }.cast_const().cast::<TimedFunction>();
    // SAFETY: `form` sets it to an element of `FUNCTIONS`.
    let function = unsafe { *function };
    if let Err(message) = decide(function, input, output) {
        info.set_error(&format!("{}: {message}", function.name()));
    }
});

/// The rows of a chunk that one decider decides.
struct DeciderRows {
    decider: Arc<Decider>,
    rows: Vec<usize>,
}

/// Decides a chunk of rows.
fn decide(function: TimedFunction, chunk: duckdb_data_chunk, output: duckdb_vector) -> Result<(), String> {
    let kind = function.function;
    // SAFETY: the chunk has the types of `form`, and DuckDB flattens it.
    let arguments = unsafe { Arguments::of(chunk, !kind.is_about_one(), function.is_timed, kind.texts().0) }?;
    // SAFETY: DuckDB passes a flat vector of the function's type, with room for the chunk's rows.
    let output = unsafe { Output::of(output, arguments.rows()) };
    let (groups, nulls) = groups(function, &arguments)?;
    for group in groups {
        if kind == Function::Access {
            write_access(&output, &group, &arguments)?;
            continue;
        }
        let rows = array_of(&group.rows, &arguments);
        let decided = group.decider.arrays.decide_rows(&rows, function.is_timed.then_some(URL));
        let decided = decided.map_err(|error| error.to_string())?;
        write(kind, &output, &group, &decided)?;
    }
    output.write_nulls(nulls);
    Ok(())
}

/// Returns the URLs of some rows, or structs with the URLs and the times if rows have times.
fn array_of(rows: &[usize], arguments: &Arguments) -> ArrayRef {
    let bytes = rows.iter().filter_map(|&row| arguments.url(row)).map(<[u8]>::len).sum();
    let mut urls = LargeBinaryBuilder::with_capacity(rows.len(), bytes);
    rows.iter().for_each(|&row| urls.append_option(arguments.url(row)));
    let urls: ArrayRef = Arc::new(urls.finish());
    let Some(times) = arguments.times() else { return urls };
    let times: ArrayRef = Arc::new(Int64Array::from_iter(rows.iter().map(|&row| times.get(row).copied().flatten())));
    let column = |name: &str, kind, array| (Arc::new(Field::new(name, kind, true)), array);
    let columns = vec![column(URL, DataType::LargeBinary, urls), column(TIME, DataType::Int64, times)];
    Arc::new(StructArray::from(columns))
}

/// Groups rows by their arguments other than the URL and the time. Also returns the rows where one of these is null.
fn groups(function: TimedFunction, arguments: &Arguments) -> Result<(Vec<DeciderRows>, Vec<usize>), String> {
    let (mut groups, mut nulls): (Vec<DeciderRows>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut open: HashMap<&[u8], Arc<OpenSet>> = HashMap::new();
    let mut places: HashMap<RowChoice<'_>, usize> = HashMap::new();
    let mut last = None;
    for row in 0..arguments.rows() {
        let Some(bits) = arguments.bits(row) else {
            nulls.push(row);
            continue;
        };
        let place = match last.filter(|&(same, _)| same == bits) {
            Some((_, place)) => place,
            None => {
                let Some(choice) = arguments.choice(row)? else {
                    nulls.push(row);
                    continue;
                };
                match places.get(&choice) {
                    Some(&place) => place,
                    None => {
                        let file = match open.get(choice.set) {
                            Some(file) => file.clone(),
                            None => open.entry(choice.set).or_insert(sets::open(choice.set)?).clone(),
                        };
                        let query = query(function, &choice)?;
                        groups.push(DeciderRows { decider: file.decider(&query)?, rows: Vec::new() });
                        places.insert(choice, groups.len() - 1);
                        groups.len() - 1
                    }
                }
            }
        };
        last = Some((bits, place));
        groups[place].rows.push(row);
    }
    Ok((groups, nulls))
}

/// Returns the query of a function with these arguments.
fn query(function: TimedFunction, choice: &RowChoice<'_>) -> Result<Query, String> {
    let TimedFunction { function, is_timed } = function;
    let mut usage = UsageOptions::default();
    let mut options = choice.options.iter().copied();
    let mut next_text = || options.next().map(|option| String::from_utf8_lossy(option).into_owned());
    match function {
        Function::Usage => usage.uses.extend(next_text()),
        Function::Purpose | Function::PurposeMask | Function::PurposeRefused => {
            usage.purpose = next_text();
            usage.unknown_usage = next_text();
        }
        _ => {}
    }
    if usage != UsageOptions::default() {
        usage.lines = next_text().unwrap_or(usage.lines);
        usage.vocabulary = next_text().unwrap_or(usage.vocabulary);
    }
    let scope = next_text().map_or(Ok(Scope::default()), |name| scope_of(&name))?;
    Ok(Query {
        columns: function.columns(),
        is_about_one: function.is_about_one(),
        is_timed,
        names: choice.names.clone(),
        scope,
        usage,
        is_exact: choice.is_exact,
    })
}

fn scope_of(name: &str) -> Result<Scope, String> {
    let names = || Scope::ALL.iter().map(|scope| scope.name()).collect::<Vec<&str>>().join(", ");
    Scope::from_name(name).ok_or_else(|| format!("unknown scope {name:?}; the scopes are {}", names()))
}

/// Writes a group's rows.
fn write(kind: Function, output: &Output, group: &DeciderRows, decided: &RecordBatch) -> Result<(), String> {
    let rows = &group.rows;
    // The column about all crawlers follows the columns about each of them.
    let last = || decided.columns().last().ok_or("internal error, please report it: no column");
    match kind {
        Function::Allowed => output.write_allowed(rows, last()?),
        Function::Explain | Function::Access => output.write_structs(rows, decided.columns()),
        Function::Verdicts => {
            let verdict = |name: &str| name.strip_suffix(":verdict").unwrap_or(name).to_owned();
            let names: Vec<String> = decided.schema().fields().iter().map(|field| verdict(field.name())).collect();
            output.write_maps(rows, &names, decided.columns())
        }
        Function::Verdict
        | Function::Mask
        | Function::Refused
        | Function::Usage
        | Function::Purpose
        | Function::PurposeMask
        | Function::PurposeRefused => output.write(rows, last()?),
    }
}

/// Writes a crawler's access to the origins of a group's URLs.
fn write_access(output: &Output, group: &DeciderRows, arguments: &Arguments) -> Result<(), String> {
    let (rows, nulls): (Vec<usize>, Vec<usize>) = group.rows.iter().partition(|&&row| arguments.url(row).is_some());
    // Only the host and the port matter, and bytes that are not UTF-8 are invalid in both.
    let urls = rows.iter().filter_map(|&row| arguments.url(row)).map(String::from_utf8_lossy);
    let urls: Vec<Cow<'_, str>> = urls.collect();
    let mut rest = &rows[..];
    let mut written = Ok(());
    let each = |batch: RecordBatch| {
        let (rows, later) = rest.split_at_checked(batch.num_rows()).unwrap_or_default();
        rest = later;
        // The first columns are the URL and the crawler.
        let columns = batch.columns().get(2..).unwrap_or_default();
        if written.is_ok() {
            written = output.write_structs(rows, columns);
        }
        Ok(())
    };
    summarize(&group.decider.agents, Some(&urls), each).map_err(|error| error.to_string())?;
    output.write_nulls(nulls);
    written
}
