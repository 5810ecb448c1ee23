//! The SQL functions: [`register`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use libduckdb_sys::{duckdb_connection, duckdb_data_chunk, duckdb_vector};
use quack_rs::error::ExtensionError;
use quack_rs::scalar::{ScalarFunctionInfo, ScalarFunctionSetBuilder, ScalarOverloadBuilder};
use quack_rs::types::{LogicalType, LogicalTypeError, TypeId};
use reptile_columns::arrow::summarize;
use reptile_columns::{Column, Scope, UsageOptions};

use crate::bodies;
use crate::input::{Arguments, RowChoice};
use crate::output::Output;
use crate::sets::{self, Decider, OpenSet, Query};

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
}

/// Every function. DuckDB keeps pointers to these.
static KINDS: [Function; 8] = [
    Function::Verdict,
    Function::Allowed,
    Function::Explain,
    Function::Verdicts,
    Function::Mask,
    Function::Refused,
    Function::Access,
    Function::Usage,
];

impl Function {
    /// Returns the function's name.
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
        }
    }

    /// Returns whether the function takes one crawler rather than a list.
    pub fn is_about_one(self) -> bool {
        matches!(self, Function::Verdict | Function::Allowed | Function::Explain | Function::Access | Function::Usage)
    }

    /// Returns the arguments after the crawlers, and how many of them are required.
    fn options(self) -> (&'static [TypeId], usize) {
        match self {
            Function::Access => (&[], 0),
            // The use, the lines and the vocabulary.
            Function::Usage => (&[TypeId::Varchar; 3], 1),
            // The scope and `exact`.
            _ => (&[TypeId::Varchar, TypeId::Boolean], 0),
        }
    }

    /// Returns the maximum number of texts after the crawlers.
    fn max_texts(self) -> usize {
        self.options().0.iter().filter(|kind| **kind == TypeId::Varchar).count()
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
            Function::Mask => &[Column::Mask],
            Function::Refused => &[Column::Refused],
            Function::Usage => &[],
        }
    }

    fn result(self) -> Result<LogicalType, LogicalTypeError> {
        Ok(match self {
            Function::Verdict | Function::Usage => LogicalType::try_new(TypeId::Varchar)?,
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
            Function::Mask => LogicalType::try_new(TypeId::UBigInt)?,
            Function::Refused => LogicalType::try_list(TypeId::Varchar)?,
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

    /// Returns one form of the function: for URLs of this type, with this many arguments after the crawlers.
    fn overload(&'static self, url: TypeId, options: usize) -> Result<ScalarOverloadBuilder, LogicalTypeError> {
        let agents = if self.is_about_one() {
            LogicalType::try_new(TypeId::Varchar)?
        } else {
            LogicalType::try_list(TypeId::Varchar)?
        };
        let form = ScalarOverloadBuilder::new().param(url).param(TypeId::Varchar).param_logical(agents);
        let form = self.options().0.iter().copied().take(options).fold(form, ScalarOverloadBuilder::param);
        let data = ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the pointer refers to a static, which is never freed. It is only read.
        let form = unsafe { form.extra_info(data, None) };
        Ok(form.returns_logical(self.result()?).function(call))
    }
}

/// Registers the functions.
pub fn register(connection: duckdb_connection) -> Result<(), ExtensionError> {
    for kind in &KINDS {
        let mut forms = ScalarFunctionSetBuilder::try_new(kind.name())?;
        for url in [TypeId::Varchar, TypeId::Blob] {
            let (options, required) = kind.options();
            for count in required..=options.len() {
                let form = kind.overload(url, count).map_err(|error| error.to_string())?;
                forms = forms.overload(form);
            }
        }
        // SAFETY: DuckDB passed this open connection.
        unsafe { forms.register(connection) }?;
    }
    bodies::register(connection)
}

quack_rs::scalar_callback!(call, |info, input, output| {
    // SAFETY: DuckDB passes a valid pointer.
    let info = unsafe { ScalarFunctionInfo::new(info) };
    // SAFETY: each form has this pointer.
    let kind = unsafe { info.get_extra_info() }.cast_const().cast::<Function>();
    // SAFETY: `overload` sets it to an element of `KINDS`.
    let kind = unsafe { *kind };
    if let Err(message) = decide(kind, input, output) {
        info.set_error(&format!("{}: {message}", kind.name()));
    }
});

/// The rows of a chunk that one decider decides.
struct DeciderRows {
    decider: Arc<Decider>,
    rows: Vec<usize>,
}

/// Decides a chunk of rows.
fn decide(kind: Function, chunk: duckdb_data_chunk, output: duckdb_vector) -> Result<(), String> {
    // SAFETY: the chunk has the types of `overload`, and DuckDB flattens it.
    let arguments = unsafe { Arguments::of(chunk, !kind.is_about_one(), kind.max_texts()) };
    // SAFETY: DuckDB passes a flat vector of the function's type, with room for the chunk's rows.
    let output = unsafe { Output::of(output, arguments.rows()) };
    let (groups, nulls) = groups(kind, &arguments)?;
    for group in groups {
        if kind == Function::Access {
            write_access(&output, &group, &arguments)?;
            continue;
        }
        let bytes = group.rows.iter().filter_map(|&row| arguments.url(row)).map(<[u8]>::len).sum();
        let mut urls = LargeBinaryBuilder::with_capacity(group.rows.len(), bytes);
        group.rows.iter().for_each(|&row| urls.append_option(arguments.url(row)));
        let urls: ArrayRef = Arc::new(urls.finish());
        let decided = group.decider.arrays.decide(&urls).map_err(|error| error.to_string())?;
        write(kind, &output, &group, &decided)?;
    }
    output.write_nulls(nulls);
    Ok(())
}

/// Groups rows by their arguments other than the URL. Also returns the rows where one of these is null.
fn groups(kind: Function, arguments: &Arguments) -> Result<(Vec<DeciderRows>, Vec<usize>), String> {
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
                        let query = query(kind, &choice)?;
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
fn query(kind: Function, choice: &RowChoice<'_>) -> Result<Query, String> {
    let (columns, is_about_one) = (kind.columns(), kind.is_about_one());
    let (names, is_exact) = (choice.names.clone(), choice.is_exact);
    let mut query =
        Query { columns, is_about_one, names, scope: Scope::default(), usage: UsageOptions::default(), is_exact };
    let mut options = choice.options.iter().copied();
    if kind == Function::Usage {
        let text = |option: &[u8]| String::from_utf8_lossy(option).into_owned();
        let usage = &mut query.usage;
        usage.uses.extend(options.next().map(text));
        usage.lines = options.next().map_or_else(|| usage.lines.clone(), text);
        usage.vocabulary = options.next().map_or_else(|| usage.vocabulary.clone(), text);
    } else if let Some(scope) = options.next() {
        query.scope = scope_of(scope)?;
    }
    Ok(query)
}

fn scope_of(name: &[u8]) -> Result<Scope, String> {
    let name = String::from_utf8_lossy(name);
    let names = || Scope::ALL.iter().map(|scope| scope.name()).collect::<Vec<&str>>().join(", ");
    Scope::from_name(&name).ok_or_else(|| format!("unknown scope {name:?}; the scopes are {}", names()))
}

/// Writes a group's rows.
fn write(kind: Function, output: &Output, group: &DeciderRows, decided: &RecordBatch) -> Result<(), String> {
    let rows = &group.rows;
    let first = || decided.columns().first().ok_or("internal error, please report it: no column");
    match kind {
        Function::Verdict | Function::Mask | Function::Refused | Function::Usage => output.write(rows, first()?),
        Function::Allowed => output.write_allowed(rows, first()?),
        Function::Explain | Function::Access => output.write_structs(rows, decided.columns()),
        Function::Verdicts => {
            let verdict = |name: &str| name.strip_suffix(":verdict").unwrap_or(name).to_owned();
            let names: Vec<String> = decided.schema().fields().iter().map(|field| verdict(field.name())).collect();
            output.write_maps(rows, &names, decided.columns())
        }
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
