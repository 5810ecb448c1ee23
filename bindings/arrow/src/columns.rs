//! Result columns, [`Column`], and their schema.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use reptile::Agents;

use crate::error::{Error, ErrorKind};

/// Maximum crawlers in a mask.
pub const MAX_MASKED_AGENTS: usize = u64::BITS as usize;

/// A result column. Names and types are the same as in the command's Parquet files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Column {
    /// `url`: the input URL array, not copied.
    Url,
    /// `AGENT:verdict`, one for each crawler: `allow`, `disallow`, `unknown` or `invalid`, as a dictionary.
    Verdict,
    /// `AGENT:line`: the deciding rule's line, null if no rule decided.
    Line,
    /// `AGENT:rule`: the deciding rule, such as `Disallow: /cart`, null if no rule decided.
    Rule,
    /// `AGENT:group`: `named`, `default` or `none`, as a dictionary.
    Group,
    /// `AGENT:reason`: the reason for the verdict, in a few words.
    Reason,
    /// `AGENT:ruleset`: the deciding ruleset's number, as `inspect` shows it; null if no ruleset decides.
    Ruleset,
    /// `capture_time`: the deciding capture's fetch time in UTC, null if the set does not know it.
    CaptureTime,
    /// `mask`: the crawlers that may not fetch the URL, as bits: 1 for the first crawler, then 2, 4 and so on. Null
    /// in the same rows as `refused`. The schema's metadata `mask` has the crawlers' names, as a JSON list.
    Mask,
    /// `refused`: the names of all crawlers that may not fetch the URL, as a list. Null if the verdict is `unknown`
    /// or `invalid`, because an empty list would look like permission.
    Refused,
}

impl Column {
    /// Every column.
    pub const ALL: [Column; 10] = [
        Column::Url,
        Column::Verdict,
        Column::Line,
        Column::Rule,
        Column::Group,
        Column::Reason,
        Column::Ruleset,
        Column::CaptureTime,
        Column::Mask,
        Column::Refused,
    ];

    /// Returns the column's name, without a crawler's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Column::Url => "url",
            Column::Verdict => "verdict",
            Column::Line => "line",
            Column::Rule => "rule",
            Column::Group => "group",
            Column::Reason => "reason",
            Column::Ruleset => "ruleset",
            Column::CaptureTime => "capture_time",
            Column::Mask => "mask",
            Column::Refused => "refused",
        }
    }

    /// Parses a column list, such as `url,verdict`.
    ///
    /// ```
    /// use reptile_arrow::Column;
    /// assert_eq!(Column::from_list("verdict, line")?, [Column::Verdict, Column::Line]);
    /// assert!(Column::from_list("verdict,lines").unwrap_err().to_string().contains("\"lines\""));
    /// # Ok::<(), reptile_arrow::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a name is unknown, or occurs twice.
    pub fn from_list(names: &str) -> Result<Vec<Column>, Error> {
        Column::from_names(names.split(',').map(str::trim))
    }

    /// Returns the columns with these names.
    ///
    /// # Errors
    /// The errors of [`Column::from_list`].
    pub fn from_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<Column>, Error> {
        let mut columns = Vec::new();
        for name in names {
            let Some(column) = Column::ALL.into_iter().find(|column| column.name() == name) else {
                let known = Column::ALL.map(Column::name).join(", ");
                let message = format!("unknown column {name:?}; the columns are {known}");
                return Err(Error::new(ErrorKind::Column, message));
            };
            if columns.contains(&column) {
                return Err(Error::new(ErrorKind::Column, format!("the column {name:?} is there twice")));
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// Returns whether each crawler has its own such column.
    pub(crate) const fn is_of_agent(self) -> bool {
        !matches!(self, Column::Url | Column::Refused | Column::Mask | Column::CaptureTime)
    }

    /// Returns whether the column needs more than the verdict.
    pub(crate) const fn is_explained(self) -> bool {
        self.is_from_explanation() || matches!(self, Column::Ruleset | Column::CaptureTime)
    }

    /// Returns whether the column is part of an explanation.
    pub(crate) const fn is_from_explanation(self) -> bool {
        matches!(self, Column::Line | Column::Rule | Column::Group | Column::Reason)
    }

    /// Returns whether the column is derived from verdicts.
    pub(crate) const fn is_from_verdict(self) -> bool {
        matches!(self, Column::Verdict | Column::Refused | Column::Mask)
    }

    fn data_type(self, urls: &DataType) -> DataType {
        match self {
            Column::Url => urls.clone(),
            Column::Verdict | Column::Group => DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
            Column::Line | Column::Ruleset => DataType::UInt32,
            Column::CaptureTime => time(),
            Column::Mask => DataType::UInt64,
            Column::Rule | Column::Reason => DataType::LargeUtf8,
            Column::Refused => DataType::LargeList(refused_item()),
        }
    }
}

/// Returns the time type.
pub(crate) fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))
}

/// Returns the item type for the column `refused`.
pub(crate) fn refused_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::LargeUtf8, true))
}

/// Returns a result's schema: `url` first, then each crawler's columns, then the columns that a row has once.
pub(crate) fn schema(agents: &Agents, columns: &[Column], urls: &DataType) -> Schema {
    let url = columns.contains(&Column::Url).then(|| Field::new(Column::Url.name(), urls.clone(), true));
    let of_each = agents.iter().flat_map(|agent| {
        let of_agent = columns.iter().filter(|column| column.is_of_agent());
        of_agent.map(move |column| {
            Field::new(format!("{}:{}", agent.crawler(), column.name()), column.data_type(urls), true)
        })
    });
    let once = columns.iter().filter(|column| !column.is_of_agent() && **column != Column::Url);
    let once = once.map(|column| Field::new(column.name(), column.data_type(urls), true));
    let schema = Schema::new(url.into_iter().chain(of_each).chain(once).collect::<Fields>());
    if !columns.contains(&Column::Mask) {
        return schema;
    }
    let names: Vec<String> = agents.iter().map(|agent| json(&agent.crawler().to_string())).collect();
    schema.with_metadata([(Column::Mask.name().to_owned(), format!("[{}]", names.join(",")))])
}

/// Returns a text as JSON. Crawlers' names rarely contain more than letters.
fn json(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\0'..='\x1f' => format!("\\u{:04x}", u32::from(character)),
        _ => character.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
