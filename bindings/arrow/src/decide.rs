//! Decides URL arrays: [`Decider`].

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Schema};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use reptile::{Agent, Agents, Explanation, Provenance, Verdict};

use crate::columns::{self, Column, MAX_MASKED_AGENTS};
use crate::error::{Error, ErrorKind};
use crate::made::Made;
use crate::tasks::{self, known_times};
use crate::threads::in_pool;
use crate::times;
use crate::urls::{self, Place, Texts};

/// Maximum explanations in memory at a time, in addition to the result.
const HELD_EXPLANATIONS: usize = 1 << 16;
/// Minimum rows that a thread explains as one task.
const MIN_ROWS_OF_TASK: usize = 64;

/// Decides URL arrays for some crawlers, and returns the chosen columns.
///
/// Costs as much as `reptile::Agents::par_decide_all`, plus memory on each thread for the positions and verdicts of
/// some thousand URLs. Columns from explanations take 4 to 6 times as long. Threads may share it.
#[derive(Clone, Debug)]
pub struct Decider {
    agents: Agents,
    columns: Vec<Column>,
    time_column: Option<String>,
    is_parallel: bool,
}

/// Where the URLs and times are in arrays of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) urls: Place,
    times: Option<usize>,
}

/// The reason for rows without a time, same as in the command.
const NO_TIME: &str = "no time";

impl Decider {
    /// Creates a decider for these crawlers that uses all threads.
    ///
    /// # Errors
    /// Returns an error if there is no crawler or no column, or if a mask is requested for more than
    /// [`MAX_MASKED_AGENTS`] crawlers.
    pub fn new(agents: Agents, columns: &[Column]) -> Result<Decider, Error> {
        if columns.is_empty() {
            let known = Column::ALL.map(Column::name).join(", ");
            return Err(Error::new(ErrorKind::Column, format!("no column is named; the columns are {known}")));
        }
        if agents.is_empty() {
            return Err(Error::new(ErrorKind::Crawler, "no crawler is named"));
        }
        if columns.contains(&Column::Mask) && agents.len() > MAX_MASKED_AGENTS {
            let message = format!(
                "a mask has bits for {MAX_MASKED_AGENTS} crawlers at most, found {}; ask for \"refused\"",
                agents.len()
            );
            return Err(Error::new(ErrorKind::Column, message));
        }
        Ok(Decider { agents, columns: columns.to_vec(), time_column: None, is_parallel: true })
    }

    /// Decides each URL by the rules at its own time, from this column in the same rows: a time, a date, or a whole
    /// number of seconds since 1970 (milliseconds if it has thirteen digits). A row without a time, or with a time
    /// outside the set's range, is `invalid`. The set must be by time.
    #[must_use]
    pub fn times(mut self, column: impl Into<String>) -> Decider {
        self.time_column = Some(column.into());
        self
    }

    /// Sets whether to use all threads, or only the caller's. One thread is right inside an engine with one worker
    /// per processor, such as Spark.
    #[must_use]
    pub fn parallel(mut self, is_parallel: bool) -> Decider {
        self.is_parallel = is_parallel;
        self
    }

    /// Returns the result's schema for a URL type: `url` first, then each crawler's columns, in the order in
    /// which the crawlers and the columns were named, then the columns that a row has once, also in that order.
    #[must_use]
    pub fn schema(&self, urls: &DataType) -> Schema {
        columns::schema(&self.agents, &self.columns, urls)
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
    /// is not by time, and the errors of [`Decider::decide`].
    pub fn decide_rows(&self, rows: &ArrayRef, column: Option<&str>) -> Result<RecordBatch, Error> {
        self.decide_at(self.places(rows.data_type(), column)?, rows)
    }

    /// Finds the URLs, and the times if there are any, in arrays of a type.
    pub(crate) fn places(&self, data_type: &DataType, column: Option<&str>) -> Result<Places, Error> {
        let times = self.time_column.as_ref().map(|name| times::place(data_type, name)).transpose()?;
        Ok(Places { urls: urls::place(data_type, column)?, times })
    }

    /// Decides an array with URLs and times at these positions.
    pub(crate) fn decide_at(&self, places: Places, rows: &ArrayRef) -> Result<RecordBatch, Error> {
        let array = urls::at(places.urls, rows)?;
        let times = places.times.map(|index| times::times(index, rows)).transpose()?;
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let mut made = Made::new(&self.agents, &self.columns, array.len());
        let by_verdict = self.columns.iter().any(|column| column.is_from_verdict());
        let by_explanation = self.columns.iter().any(|column| column.is_from_explanation());
        if self.is_explained() || !by_verdict {
            let texts = Texts::of(array.as_ref())?;
            // Split before the texts are sliced, so that their positions do not need more memory than the explanations.
            let most = (HELD_EXPLANATIONS / self.agents.len()).max(1);
            for start in (0..array.len()).step_by(most) {
                let part = texts.slice(start, most.min(array.len() - start));
                let is_null = |row: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(start + row));
                let times = times.as_ref().and_then(|times| times.get(start..start + part.len()));
                self.explain_part(texts.cut(part.as_ref())?, times, &is_null, &mut made)?;
            }
        }
        if by_verdict && !by_explanation {
            let columns = made.agents.iter_mut().map(|of_agent| {
                of_agent.verdicts.resize(array.len(), Verdict::Invalid as i8);
                of_agent.verdicts.as_mut_slice()
            });
            tasks::decide(&self.agents, &array, times.as_deref(), columns, self.is_parallel)?;
        }
        let schema = Arc::new(self.schema(array.data_type()));
        let options = RecordBatchOptions::new().with_row_count(Some(array.len()));
        Ok(RecordBatch::try_new_with_options(schema, made.finish(&array, nulls.as_ref())?, &options)?)
    }

    fn is_explained(&self) -> bool {
        self.columns.iter().any(|column| column.is_explained())
    }

    /// Builds the columns that need more than verdicts.
    fn explain_part(
        &self,
        mut urls: Vec<&[u8]>,
        times: Option<&[Option<i64>]>,
        is_null: &dyn Fn(usize) -> bool,
        made: &mut Made<'_>,
    ) -> Result<(), Error> {
        let has_time = |row: usize| times.is_none_or(|times| times.get(row).is_some_and(Option::is_some));
        let times = times.map(|times| known_times(times, &mut urls));
        let times = times.as_deref();
        let has = |column| self.columns.contains(&column);
        if has(Column::CaptureTime) || has(Column::Ruleset) {
            for (place, agent) in
                self.agents.iter().enumerate().filter(|(place, _)| *place == 0 || has(Column::Ruleset))
            {
                let found = self.provenances(agent, &urls, times, is_null)?;
                if place == 0 {
                    made.take_capture_times(&found);
                }
                if let Some(of_agent) = made.agents.get_mut(place) {
                    of_agent.take_rulesets(&found);
                }
            }
        }
        if self.columns.iter().any(|column| column.is_from_explanation()) {
            let said = |row: usize| (!has_time(row)).then_some(NO_TIME);
            for (agent, of_agent) in self.agents.iter().zip(&mut made.agents) {
                of_agent.take_explanations(&self.explain(agent, &urls, times)?, is_null, &said);
            }
        }
        Ok(())
    }

    fn explain(&self, agent: &Agent, urls: &[&[u8]], times: Option<&[i64]>) -> Result<Vec<Explanation>, Error> {
        self.each(urls.len(), |row| match (urls.get(row), times.and_then(|times| times.get(row))) {
            (Some(url), Some(&time)) => agent.explain_at(url, time),
            (url, _) => agent.explain(url.unwrap_or(&&b""[..])),
        })
    }

    /// Returns each verdict's provenance, or `None` for a null URL.
    fn provenances(
        &self,
        agent: &Agent,
        urls: &[&[u8]],
        times: Option<&[i64]>,
        is_null: &dyn Fn(usize) -> bool,
    ) -> Result<Vec<Option<Provenance>>, Error> {
        let wanted: Vec<bool> = (0..urls.len()).map(|row| !is_null(row)).collect();
        self.each(urls.len(), |row| match (urls.get(row), times.and_then(|times| times.get(row))) {
            _ if wanted.get(row) != Some(&true) => Ok(None),
            (Some(url), Some(&time)) => agent.provenance_at(url, time).map(Some),
            (url, _) => agent.provenance(url.unwrap_or(&&b""[..])).map(Some),
        })
    }

    /// Returns a query's result for each row.
    fn each<T: Send>(
        &self,
        rows: usize,
        ask: impl Fn(usize) -> Result<T, reptile::Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let answers: Result<Vec<T>, reptile::Error> = if self.is_parallel {
            in_pool(|| (0..rows).into_par_iter().with_min_len(MIN_ROWS_OF_TASK).map(&ask).collect())
        } else {
            (0..rows).map(ask).collect()
        };
        Ok(answers?)
    }
}
