//! Deciding an array of URLs: [`Decider`].

use std::sync::Arc;

use arrow_array::builder::{LargeListBuilder, LargeStringBuilder, UInt32Builder};
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int8Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Schema};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile::{Agent, Agents, Explanation, Group, Verdict};

use crate::columns::{self, Column};
use crate::error::{Error, ErrorKind};
use crate::threads::in_pool;
use crate::urls;

/// The most verdicts, or explanations, that are held at a time beside the result.
const HELD_VERDICTS: usize = 1 << 20;
/// An explanation takes about so many times the memory of a verdict.
const EXPLANATION: usize = 16;

/// Decides arrays of URLs for some crawlers, and gives the columns that were chosen.
///
/// Costs what `reptile::Agents::par_decide_all` costs, and 16 bytes for each of the URLs that are decided at a time; columns
/// that explain take 4 to 6 times as long. Threads may share it.
#[derive(Clone, Debug)]
pub struct Decider {
    agents: Agents,
    columns: Vec<Column>,
    is_parallel: bool,
}

impl Decider {
    /// Decides for these crawlers, on all threads.
    ///
    /// # Errors
    /// If there is no crawler or no column.
    pub fn new(agents: Agents, columns: &[Column]) -> Result<Decider, Error> {
        if columns.is_empty() {
            let known = Column::ALL.map(Column::name).join(", ");
            return Err(Error::new(ErrorKind::Column, format!("no column is named; the columns are {known}")));
        }
        if agents.is_empty() {
            return Err(Error::new(ErrorKind::Crawler, "no crawler is named"));
        }
        Ok(Decider { agents, columns: columns.to_vec(), is_parallel: true })
    }

    /// Sets whether all threads are used, or just that of the caller: right inside an engine that has as many workers as
    /// processors, such as Spark.
    #[must_use]
    pub fn parallel(mut self, is_parallel: bool) -> Decider {
        self.is_parallel = is_parallel;
        self
    }

    /// The columns of the result for URLs of a type: `url` first, then what is asked of each crawler, in the order in which
    /// the crawlers and the columns were named, then `refused`.
    #[must_use]
    pub fn schema(&self, urls: &DataType) -> Schema {
        columns::schema(&self.agents, &self.columns, urls)
    }

    /// Decides an array of URLs: texts or bytes in any of Arrow's types for them, or a dictionary of these. The result has a
    /// row for each; where the URL is null, all of its columns are.
    ///
    /// # Errors
    /// [`ErrorKind::Array`] if the array is not one of texts or contradicts itself, [`ErrorKind::Set`] if the set is
    /// damaged.
    pub fn decide(&self, array: &ArrayRef) -> Result<RecordBatch, Error> {
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let mut made = Made::new(self, array.len());
        // Cut before the texts are, so that their places take no more memory than the verdicts.
        let rows = self.rows_at_once();
        let mut start = 0;
        while start < array.len() {
            let part = array.slice(start, rows.min(array.len() - start));
            let is_null = |row: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(start + row));
            self.decide_part(&urls::texts(part.as_ref())?, &is_null, &mut made)?;
            start += part.len();
        }
        let schema = Arc::new(self.schema(array.data_type()));
        let options = RecordBatchOptions::new().with_row_count(Some(array.len()));
        Ok(RecordBatch::try_new_with_options(schema, made.finish(self, array, nulls.as_ref())?, &options)?)
    }

    /// Decides an array of URLs, or of rows with a column of them: the one that the caller names, or else `url`, or else the only
    /// one of texts.
    ///
    /// # Errors
    /// [`ErrorKind::Array`] if there is no such column, and the errors of [`Decider::decide`].
    pub fn decide_rows(&self, rows: &ArrayRef, column: Option<&str>) -> Result<RecordBatch, Error> {
        self.decide(&urls::at(urls::place(rows.data_type(), column)?, rows)?)
    }

    fn rows_at_once(&self) -> usize {
        let rows = HELD_VERDICTS / self.agents.len().max(1);
        (if self.is_explained() { rows / EXPLANATION } else { rows }).max(1)
    }

    fn is_explained(&self) -> bool {
        self.columns.iter().any(|column| column.is_explained())
    }

    fn decide_part(&self, urls: &[&[u8]], is_null: &dyn Fn(usize) -> bool, made: &mut Made) -> Result<(), Error> {
        if self.is_explained() {
            for (agent, of_agent) in self.agents.iter().zip(&mut made.agents) {
                of_agent.take_explanations(&self.explain(agent, urls)?, is_null);
            }
        } else if self.columns.iter().any(|&column| column != Column::Url) {
            let verdicts = self.verdicts(urls)?;
            for (place, of_agent) in made.agents.iter_mut().enumerate() {
                let column = verdicts.iter().skip(place).step_by(self.agents.len());
                of_agent.verdicts.extend(column.map(|&verdict| verdict as i8));
            }
        }
        Ok(())
    }

    /// A row of verdicts for each URL.
    fn verdicts(&self, urls: &[&[u8]]) -> Result<Vec<Verdict>, Error> {
        let mut verdicts = vec![Verdict::Invalid; urls.len() * self.agents.len()];
        if self.is_parallel {
            in_pool(|| self.agents.par_decide_all(urls, &mut verdicts))?;
        } else {
            self.agents.decide_all(urls, &mut verdicts)?;
        }
        Ok(verdicts)
    }

    fn explain(&self, agent: &Agent, urls: &[&[u8]]) -> Result<Vec<Explanation>, Error> {
        let explain = |url: &&[u8]| agent.explain(url);
        let explained: Result<Vec<_>, reptile::Error> = if self.is_parallel {
            in_pool(|| urls.par_iter().map(explain).collect())
        } else {
            urls.iter().map(explain).collect()
        };
        Ok(explained?)
    }
}

/// What was decided so far.
struct Made {
    agents: Vec<MadeOfAgent>,
}

/// What was decided for one crawler so far. Only what a column needs is filled.
struct MadeOfAgent {
    /// The numbers of the verdicts, which are also their places in the dictionary.
    verdicts: Vec<i8>,
    /// The places of the groups in [`GROUPS`].
    groups: Option<Vec<i8>>,
    lines: Option<UInt32Builder>,
    rules: Option<LargeStringBuilder>,
    reasons: Option<LargeStringBuilder>,
}

/// The dictionary of verdicts, by their numbers.
const VERDICTS: [Verdict; 4] = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];
/// The dictionary of groups.
const GROUPS: [Group; 3] = [Group::Named, Group::Default, Group::None];

impl Made {
    fn new(decider: &Decider, rows: usize) -> Made {
        let has = |column| decider.columns.contains(&column);
        let decides = decider.columns.iter().any(|&column| column != Column::Url);
        let of_agent = |_: &Agent| MadeOfAgent {
            verdicts: Vec::with_capacity(if decides { rows } else { 0 }),
            groups: has(Column::Group).then(|| Vec::with_capacity(rows)),
            lines: has(Column::Line).then(|| UInt32Builder::with_capacity(rows)),
            rules: has(Column::Rule).then(LargeStringBuilder::new),
            reasons: has(Column::Reason).then(LargeStringBuilder::new),
        };
        Made { agents: decider.agents.iter().map(of_agent).collect() }
    }

    /// The columns, in the order of the schema.
    fn finish(self, decider: &Decider, urls: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<Vec<ArrayRef>, Error> {
        let has = |column| decider.columns.contains(&column);
        let refused = has(Column::Refused).then(|| self.refused(decider, nulls));
        let mut arrays: Vec<ArrayRef> = Vec::new();
        if has(Column::Url) {
            arrays.push(urls.clone());
        }
        for mut of_agent in self.agents {
            for &column in decider.columns.iter().filter(|column| column.is_of_agent()) {
                arrays.extend(of_agent.column(column, nulls)?);
            }
        }
        arrays.extend(refused);
        Ok(arrays)
    }

    /// The lists of the crawlers that may not fetch. The verdicts of one URL are unknown or invalid for all crawlers, or for
    /// none.
    fn refused(&self, decider: &Decider, nulls: Option<&NullBuffer>) -> ArrayRef {
        let names: Vec<String> = decider.agents.iter().map(|agent| agent.crawler().to_string()).collect();
        let mut lists = LargeListBuilder::new(LargeStringBuilder::new()).with_field(columns::refused_item());
        let rows = self.agents.first().map_or(0, |first| first.verdicts.len());
        for row in 0..rows {
            let of_row = || self.agents.iter().map(|agent| agent.verdicts.get(row).copied());
            let decided =
                |verdict: Option<i8>| verdict == Some(Verdict::Allow as i8) || verdict == Some(Verdict::Disallow as i8);
            let is_decided = nulls.is_none_or(|nulls| nulls.is_valid(row)) && of_row().all(decided);
            if is_decided {
                let refuses = |(_, verdict): &(&String, Option<i8>)| *verdict == Some(Verdict::Disallow as i8);
                for (name, _) in names.iter().zip(of_row()).filter(refuses) {
                    lists.values().append_value(name);
                }
            }
            lists.append(is_decided);
        }
        Arc::new(lists.finish())
    }
}

impl MadeOfAgent {
    fn take_explanations(&mut self, explanations: &[Explanation], is_null: &dyn Fn(usize) -> bool) {
        self.verdicts.extend(explanations.iter().map(|explanation| explanation.verdict as i8));
        for (row, explanation) in explanations.iter().enumerate() {
            let rule = explanation.rule().filter(|_| !is_null(row));
            if let Some(groups) = &mut self.groups {
                let place = GROUPS.iter().position(|&group| group == explanation.group);
                groups.push(place.and_then(|place| i8::try_from(place).ok()).unwrap_or(GROUPS.len() as i8 - 1));
            }
            if let Some(lines) = &mut self.lines {
                lines.append_option(rule.map(|rule| rule.line).filter(|&line| line > 0));
            }
            if let Some(rules) = &mut self.rules {
                rules.append_option(rule.map(ToString::to_string));
            }
            if let Some(reasons) = &mut self.reasons {
                reasons.append_option((!is_null(row)).then(|| explanation.reason.to_string()));
            }
        }
    }

    /// Takes a column out.
    fn column(&mut self, column: Column, nulls: Option<&NullBuffer>) -> Result<Option<ArrayRef>, Error> {
        Ok(match column {
            Column::Url | Column::Refused => None,
            Column::Verdict => {
                let words = StringArray::from_iter_values(VERDICTS.map(Verdict::name));
                Some(dictionary(std::mem::take(&mut self.verdicts), words, nulls)?)
            }
            Column::Group => {
                let words = StringArray::from_iter_values(GROUPS.map(Group::as_str));
                self.groups.take().map(|groups| dictionary(groups, words, nulls)).transpose()?
            }
            Column::Line => self.lines.as_mut().map(|lines| Arc::new(lines.finish()) as ArrayRef),
            Column::Rule => self.rules.as_mut().map(|rules| Arc::new(rules.finish()) as ArrayRef),
            Column::Reason => self.reasons.as_mut().map(|reasons| Arc::new(reasons.finish()) as ArrayRef),
        })
    }
}

fn dictionary(keys: Vec<i8>, words: StringArray, nulls: Option<&NullBuffer>) -> Result<ArrayRef, Error> {
    let keys = Int8Array::try_new(keys.into(), nulls.cloned())?;
    Ok(Arc::new(DictionaryArray::<Int8Type>::try_new(keys, Arc::new(words))?))
}
