//! Arrow arrays in and out: [`ArrayDecider`] decides an array of URLs, for the same crawlers or for the crawler that
//! each row names, [`VerdictStream`] a stream of arrays, and [`summarize`] returns what crawlers may fetch from each
//! origin.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, StringArray};
//! use reptile::{Dialect, Robots};
//! use reptile_columns::{Column, SetOrRobots, arrow::ArrayDecider};
//!
//! let robots = Robots::parse("user-agent: *\ndisallow: /private\n", Dialect::google())?;
//! let agents = SetOrRobots::Robots(robots).agents(&["GPTBot"], false)?;
//! let urls: ArrayRef = Arc::new(StringArray::from(vec!["https://example.com/private/notes"]));
//! let verdicts = ArrayDecider::new(agents, &[Column::Verdict, Column::Line])?.decide(&urls)?;
//! assert_eq!(verdicts.schema().field(1).name(), "GPTBot:line");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod stream;
mod summary;
mod threads;
mod times;
mod urls;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_empty_array};
use arrow_schema::{DataType, Field, Schema};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use reptile::crawlers::Mistake;
use reptile::{Agents, Verdict};

use crate::arrays;
use crate::by_row::{ByRow, NamedRow, Session, Times};
use crate::column::{Column, Layout};
use crate::data::{ColumnData, columns_of};
use crate::decide::{DecidedRow, Decider, ExplainedRow, Facts, ROWS_AT_ONCE, RowReasons};
use crate::error::{Error, ErrorKind};
use crate::scope::Scope;
use crate::source::misspelled;
use crate::usage::UsageColumns;
use urls::Place;

pub use stream::{MAX_ROWS_IN_BATCH, VerdictStream};
pub use summary::{MAX_ORIGINS_IN_BATCH, summarize, summary_schema};
pub use threads::{end_pool, in_pool};
pub use times::{is_time, seconds};
pub use urls::{Texts, is_text};

/// Maximum number of rows in a task: enough to make thread handover cheap, and few enough for a processor's cache.
const MAX_ROWS_OF_TASK: usize = 4096;
/// Minimum number of rows in a task. Tasks with explanations, which take longer, have this size.
const MIN_ROWS_OF_TASK: usize = 256;
/// Maximum number of verdicts and preferences that a task holds in addition to the result, unless the minimum rows
/// have more.
const VERDICTS_OF_TASK: usize = 1 << 17;
/// Maximum number of cells that all tasks hold at a time, in addition to the result, unless the minimum rows have more.
const HELD_CELLS: usize = 1 << 20;
/// Maximum number of explanations that all tasks hold at a time, unless the minimum rows have more.
const HELD_EXPLANATIONS: usize = 1 << 16;

/// Decides arrays of URLs for some crawlers, and returns the chosen columns. See [the module](self) for an example.
///
/// Costs as much as `reptile::Agents::par_decide_all`, plus memory on each thread for the positions and verdicts of
/// some thousand URLs. Columns from explanations take 4 to 6 times as long. Threads may share it.
#[derive(Clone)]
pub struct ArrayDecider {
    decider: Decider,
    has_url: bool,
    time_column: Option<String>,
    crawler_column: Option<String>,
    is_parallel: bool,
}

/// The positions of URLs, times and crawlers in arrays of one type.
#[derive(Clone, Copy, Debug)]
struct Places {
    urls: Place,
    times: Option<usize>,
    crawlers: Option<usize>,
}

impl ArrayDecider {
    /// Creates a decider for these crawlers that uses all threads.
    ///
    /// # Errors
    /// Returns an error if there is no crawler or no column, if a column occurs twice or is [`Column::Agent`], or if a
    /// mask is requested for more than [`MAX_MASKED_AGENTS`](crate::MAX_MASKED_AGENTS) crawlers.
    pub fn new(agents: Agents, columns: &[Column]) -> Result<ArrayDecider, Error> {
        ArrayDecider::with_usage(agents, columns, None)
    }

    /// Creates a decider that also returns columns about uses, after each crawler's other columns. With them, `columns`
    /// may be empty.
    ///
    /// Time: as for `reptile::Agents::usage_all`. In a wider [`Scope`], the deciding origin also states the preferences,
    /// and rows take as long as explanations.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use arrow_array::{ArrayRef, StringArray, cast::AsArray};
    /// use reptile::{Dialect, Robots};
    /// use reptile_columns::{SetOrRobots, UsageOptions, arrow::ArrayDecider};
    ///
    /// let robots = Robots::parse("user-agent: *\ncontent-usage: train-ai=n\n", Dialect::google())?;
    /// let agents = SetOrRobots::Robots(robots).agents(&["GPTBot"], false)?;
    /// let options = UsageOptions { uses: vec!["train-ai".into()], ..UsageOptions::default() };
    /// let urls: ArrayRef = Arc::new(StringArray::from(vec![Some("https://example.com/"), None]));
    /// let found = ArrayDecider::with_usage(agents, &[], options.columns()?.as_ref())?.decide(&urls)?;
    /// let preferences: Vec<Option<&str>> = found["GPTBot:train-ai"].as_string::<i64>().iter().collect();
    /// assert_eq!(preferences, [Some("disallowed"), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayDecider::new`] and [`Layout::with_uses`].
    pub fn with_usage(agents: Agents, columns: &[Column], usage: Option<&UsageColumns>) -> Result<ArrayDecider, Error> {
        if agents.is_empty() {
            return Err(Error::new(ErrorKind::Crawler, "no crawler is named"));
        }
        if columns.contains(&Column::Agent) {
            let message = "agent: is for tables whose rows name their crawlers; a column's name has its crawler";
            return Err(Error::new(ErrorKind::Column, message));
        }
        Ok(ArrayDecider::of(Decider::new(agents, layout(columns, usage)?)?, columns))
    }

    /// Creates a decider for the crawlers that rows name in this column: product tokens or complete `User-Agent`
    /// headers, as in [`ByRow`]. Column names have no crawler prefix, and [`Column::Agent`] is the crawler that was
    /// found. A row that names none is `unknown`, or `invalid` if its URL is. A name that is probably misspelled is an
    /// error, unless names are taken exactly.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use arrow_array::{ArrayRef, StringArray, StructArray, cast::AsArray};
    /// use arrow_schema::{DataType, Field};
    /// use reptile::{Capture, Compiler, Dialect};
    /// use reptile_columns::{ByRow, Column, arrow::ArrayDecider};
    ///
    /// let mut compiler = Compiler::new(Dialect::google());
    /// compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: GPTBot\ndisallow: /")?)?;
    /// let by_row = ByRow::new(&compiler.finish()?.into_set()?, 0, false)?;
    /// let decider = ArrayDecider::by_row(by_row, "bot", &[Column::Agent, Column::Reason], None)?;
    ///
    /// let column = |name, texts: [&str; 2]| {
    ///     (Arc::new(Field::new(name, DataType::Utf8, true)), Arc::new(StringArray::from_iter_values(texts)) as ArrayRef)
    /// };
    /// let urls = column("url", ["https://example.com/"; 2]);
    /// let rows: ArrayRef = Arc::new(StructArray::from(vec![urls, column("bot", ["GPTBot/1.2", "CCBot"])]));
    /// let verdicts = decider.decide_rows(&rows, None)?;
    /// let reasons: Vec<Option<&str>> = verdicts["reason"].as_string::<i64>().iter().collect();
    /// assert_eq!(reasons, [Some("rule"), Some("no rule matches")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no column, a column is about all crawlers ([`Column::Mask`] and
    /// [`Column::Refused`]), and the errors of [`ArrayDecider::with_usage`] for columns.
    pub fn by_row(
        by_row: impl Into<Arc<ByRow>>,
        column: impl Into<String>,
        columns: &[Column],
        usage: Option<&UsageColumns>,
    ) -> Result<ArrayDecider, Error> {
        let decider = Decider::by_row(by_row, layout(columns, usage)?)?;
        Ok(ArrayDecider { crawler_column: Some(column.into()), ..ArrayDecider::of(decider, columns) })
    }

    fn of(decider: Decider, columns: &[Column]) -> ArrayDecider {
        let has_url = columns.contains(&Column::Url);
        ArrayDecider { decider, has_url, time_column: None, crawler_column: None, is_parallel: true }
    }

    /// Decides each URL by the rules at its own time, from this column in the same rows: a time, a date, or a whole
    /// number of seconds since 1970 (milliseconds if it has thirteen digits). A row without a time, or with a time
    /// outside the set's range, is `invalid`. The set must be by time.
    #[must_use]
    pub fn times(mut self, column: impl Into<String>) -> ArrayDecider {
        self.time_column = Some(column.into());
        self.decider = self.decider.at(Times::OfRows);
        self
    }

    /// Sets which origins decide a URL whose own robots.txt is unknown. See [`Scope`] for an example.
    #[must_use]
    pub fn in_scope(mut self, scope: Scope) -> ArrayDecider {
        self.decider = self.decider.in_scope(scope);
        self
    }

    /// Sets whether to use all threads, or only the caller's. Use one thread inside an engine with one worker per
    /// processor, such as Spark.
    #[must_use]
    pub fn parallel(mut self, is_parallel: bool) -> ArrayDecider {
        self.is_parallel = is_parallel;
        self
    }

    /// Returns the result's schema for a URL type: `url` first, then each crawler's columns, in the order in
    /// which the crawlers and the columns were named, then the columns that a row has once, also in that order.
    #[must_use]
    pub fn schema(&self, urls: &DataType) -> Schema {
        let url = self.has_url.then(|| Field::new(Column::Url.name(), urls.clone(), true));
        let columns = columns_of(self.decider.layout(), self.decider.crawlers());
        let masked = arrays::mask_names(&columns);
        let columns = columns.iter().map(|(name, kind)| arrays::field(name, kind));
        Schema::new(url.into_iter().chain(columns).collect::<Vec<Field>>()).with_metadata(HashMap::from_iter(masked))
    }

    /// Decides a URL array: texts or bytes in any of Arrow's types for them, or a dictionary with such values.
    /// The result has a row for each URL; if the URL is null, all columns in the row are null.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Array`] if the array does not contain texts or is inconsistent, or if a time column
    /// is required, and [`ErrorKind::Set`] if the set is damaged.
    pub fn decide(&self, array: &ArrayRef) -> Result<RecordBatch, Error> {
        self.decide_rows(array, None)
    }

    /// Decides an array with URLs or rows. In rows, the URLs are in the given column, or else in `url`, or else in
    /// the only text column.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Array`] if there is no such column, [`ErrorKind::NoTimes`] if there are times and the set
    /// is not by time, and the errors of [`ArrayDecider::decide`].
    pub fn decide_rows(&self, rows: &ArrayRef, column: Option<&str>) -> Result<RecordBatch, Error> {
        self.decide_at(self.places(rows.data_type(), column)?, rows)
    }

    /// Finds the URLs, and the times and crawlers if rows have them, in arrays of a type. Checks that the set is by time
    /// if there are times.
    fn places(&self, data_type: &DataType, column: Option<&str>) -> Result<Places, Error> {
        let times = self.time_column.as_ref().map(|name| times::place(data_type, name)).transpose()?;
        if times.is_some() {
            self.decider.agents().decide_all_at::<&[u8]>(&[], &[], &mut [])?;
        }
        let crawlers = self.crawler_column.as_ref().map(|name| urls::crawler_place(data_type, name)).transpose()?;
        Ok(Places { urls: urls::place(data_type, column)?, times, crawlers })
    }

    /// Decides an array with URLs, times and crawlers at these positions.
    fn decide_at(&self, places: Places, rows: &ArrayRef) -> Result<RecordBatch, Error> {
        let array = urls::at(places.urls, rows)?;
        let crawlers = places.crawlers.map(|index| urls::column(index, rows)).transpose()?;
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let texts = RowTexts {
            urls: Texts::of(array.as_ref())?,
            times: places.times.map(|index| times::times(index, rows)).transpose()?,
            crawlers: crawlers.as_ref().map(|crawlers| Texts::of(crawlers.as_ref())).transpose()?,
        };
        let mut columns = self.decider.columns();
        // A crawler has a verdict, and a cell for each use.
        let cells = self.decider.agents().len() * (1 + self.decider.layout().usage_cells());
        let is_explained = self.decider.explains();
        let of_task = rows_of_task(cells, is_explained);
        let held = if is_explained { HELD_EXPLANATIONS } else { HELD_CELLS } / cells;
        let held = held.max(of_task);
        for start in (0..array.len()).step_by(held) {
            let part = start..array.len().min(start + held);
            let tasks = part.clone().step_by(of_task).map(|start| start..part.end.min(start + of_task));
            if !self.is_parallel {
                tasks.into_iter().try_for_each(|rows| self.fill(rows, &texts, &mut columns))?;
                continue;
            }
            let task = |rows| {
                let mut columns = self.decider.columns();
                self.fill(rows, &texts, &mut columns).map(|()| columns)
            };
            let tasks: Vec<Range<usize>> = tasks.collect();
            let filled: Vec<Result<Vec<ColumnData>, Error>> = in_pool(|| tasks.into_par_iter().map(task).collect());
            for of_task in filled {
                for (column, part) in columns.iter_mut().zip(&of_task?) {
                    column.append(part, 0..part.len());
                }
            }
        }
        let schema = Arc::new(self.schema(array.data_type()));
        let options = RecordBatchOptions::new().with_row_count(Some(array.len()));
        let arrays = columns.into_iter().map(|column| arrays::array(column, nulls.as_ref()));
        // Through the C data interface, an array without rows may lose the bytes that its first offset refers to.
        let urls = || if array.is_empty() { new_empty_array(array.data_type()) } else { array.clone() };
        let arrays =
            self.has_url.then(urls).into_iter().map(Ok).chain(arrays).collect::<Result<Vec<ArrayRef>, Error>>()?;
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }

    /// Decides some rows, and appends them to columns.
    fn fill(&self, range: Range<usize>, texts: &RowTexts<'_>, columns: &mut [ColumnData]) -> Result<(), Error> {
        let urls = texts.urls.slice(range.start, range.len());
        let names = texts.crawlers.as_ref().map(|crawlers| crawlers.slice(range.start, range.len()));
        let names =
            texts.crawlers.as_ref().zip(names.as_ref()).map(|(texts, part)| texts.cut_valid(part)).transpose()?;
        let time = |row: usize| *texts.times.as_ref()?.get(range.start + row)?;
        let crawler = |row: usize| names.as_ref().and_then(|names| names.get(row)).copied().unwrap_or_default();
        let row = |(row, url)| ArrayRow { url, time: time(row), crawler: crawler(row) };
        let rows: Vec<ArrayRow<'_>> = texts.urls.cut(urls.as_ref())?.into_iter().enumerate().map(row).collect();
        let mut session = self.decider.session();
        if self.decider.explains() {
            self.explain(&rows, session.as_mut(), columns)?;
        } else {
            self.decide_together(&rows, session.as_mut(), columns)?;
        }
        if let Some(session) = session {
            session.end();
        }
        Ok(())
    }

    /// Explains each row, and appends the rows to columns.
    fn explain(
        &self,
        rows: &[ArrayRow<'_>],
        mut session: Option<&mut Session<'_>>,
        columns: &mut [ColumnData],
    ) -> Result<(), Error> {
        let mut explained = ExplainedRow::default();
        for row in rows {
            let place = self.decider.explain_row(row, session.as_deref_mut(), &mut explained)?;
            let session = session.as_deref();
            refuse(session.and_then(|session| session.mistake(place)))?;
            let crawler = session.map(|session| session.agents(place).0);
            let (verdicts, why) = (&explained.verdicts[..], RowReasons::Explained(&explained.explained));
            let decided = DecidedRow { url: row.url, verdicts, crawler, why };
            for (&cell, column) in self.decider.order().iter().zip(&mut *columns) {
                self.decider.write_cell(cell, &decided, &mut column.cells());
            }
        }
        Ok(())
    }

    /// Decides rows together, and appends them to columns.
    fn decide_together(
        &self,
        rows: &[ArrayRow<'_>],
        mut session: Option<&mut Session<'_>>,
        columns: &mut [ColumnData],
    ) -> Result<(), Error> {
        let width = self.decider.agents().len();
        let mut verdicts = vec![Verdict::Invalid; rows.len().min(ROWS_AT_ONCE) * width];
        let mut facts = Facts::default();
        for rows in rows.chunks(ROWS_AT_ONCE) {
            let verdicts = &mut verdicts[..rows.len() * width];
            self.decider.decide(rows, session.as_deref_mut(), verdicts, &mut facts)?;
            let session = session.as_deref();
            refuse(session.and_then(Session::first_mistake))?;
            self.decider.push_rows(
                rows,
                verdicts,
                &facts,
                session,
                columns,
                |row| row.url,
                |_| false,
                ColumnData::cells,
            );
        }
        Ok(())
    }
}

/// Returns an error if a crawler's name is a probable mistake.
fn refuse(mistake: Option<(&str, Mistake)>) -> Result<(), Error> {
    mistake.map_or(Ok(()), |(name, mistake)| Err(misspelled(name, mistake)))
}

/// Returns the layout of columns: URLs are passed on unchanged, and per-crawler columns precede columns that occur once.
fn layout(columns: &[Column], usage: Option<&UsageColumns>) -> Result<Layout, Error> {
    if columns.is_empty() && usage.is_none() {
        let message = format!("no column is named; the columns are {}", Column::names());
        return Err(Error::new(ErrorKind::Column, message));
    }
    let (once, mut order): (Vec<Column>, Vec<Column>) = columns.iter().partition(|column| column.is_once());
    order.extend(once.into_iter().filter(|&column| column != Column::Url));
    let layout = Layout::new(&order)?;
    usage.map_or(Ok(layout.clone()), |usage| usage.added_to(layout))
}

impl fmt::Debug for ArrayDecider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (crawlers, columns) = (self.decider.crawlers(), self.decider.layout());
        f.debug_struct("ArrayDecider").field("crawlers", crawlers).field("columns", columns).finish_non_exhaustive()
    }
}

/// Returns the number of rows in a task, for rows with this many verdicts and preferences.
fn rows_of_task(cells: usize, is_explained: bool) -> usize {
    match is_explained {
        true => MIN_ROWS_OF_TASK,
        false => (VERDICTS_OF_TASK / cells.max(1)).clamp(MIN_ROWS_OF_TASK, MAX_ROWS_OF_TASK),
    }
}

/// The texts and times of an array's rows.
struct RowTexts<'a> {
    urls: Texts<'a>,
    times: Option<Vec<Option<i64>>>,
    crawlers: Option<Texts<'a>>,
}

/// A URL in an array, with its row's time and crawler.
struct ArrayRow<'a> {
    url: &'a [u8],
    time: Option<i64>,
    /// The crawler's name, empty if the row names none.
    crawler: &'a [u8],
}

impl AsRef<[u8]> for ArrayRow<'_> {
    fn as_ref(&self) -> &[u8] {
        self.url
    }
}

impl NamedRow for ArrayRow<'_> {
    fn crawler(&self) -> &[u8] {
        self.crawler
    }

    fn time(&self) -> Option<i64> {
        self.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_stay_within_the_verdict_limit() {
        let rows_of_task = |agents| rows_of_task(agents, false);
        let most = VERDICTS_OF_TASK / MAX_ROWS_OF_TASK;
        assert_eq!([most - 1, most].map(rows_of_task), [MAX_ROWS_OF_TASK; 2]);
        assert!(rows_of_task(most + 1) < MAX_ROWS_OF_TASK && rows_of_task(most + 1) * (most + 1) <= VERDICTS_OF_TASK);
        let many = VERDICTS_OF_TASK / MIN_ROWS_OF_TASK;
        assert!(rows_of_task(many - 1) >= MIN_ROWS_OF_TASK && rows_of_task(many - 1) * (many - 1) <= VERDICTS_OF_TASK);
        assert_eq!([many, many + 1].map(rows_of_task), [MIN_ROWS_OF_TASK; 2]);
    }
}
