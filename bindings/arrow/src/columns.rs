//! The columns that can be asked for, [`Column`], and the schema that they make.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use reptile::Agents;

use crate::error::{Error, ErrorKind};

/// The most crawlers that a mask has bits for.
pub const MAX_MASKED_AGENTS: usize = u64::BITS as usize;

/// A column of the result. The names and types are those of the Parquet files that the command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Column {
    /// `url`: the array of URLs itself, not copied.
    Url,
    /// `AGENT:verdict`, one for each crawler: `allow`, `disallow`, `unknown` or `invalid`, as a dictionary.
    Verdict,
    /// `AGENT:line`: the line of the deciding rule, null where no rule decided.
    Line,
    /// `AGENT:rule`: the deciding rule, such as `Disallow: /cart`, null where no rule decided.
    Rule,
    /// `AGENT:group`: `named`, `default` or `none`, as a dictionary.
    Group,
    /// `AGENT:reason`: the reason of the verdict, in a few words.
    Reason,
    /// `AGENT:ruleset`: the number of the ruleset that decides, as `inspect` shows it; null where no ruleset decides.
    Ruleset,
    /// `capture_time`: when the capture that decides was fetched, in UTC, null if the set does not know.
    CaptureTime,
    /// `mask`: the crawlers that may not fetch the URL, as the bits of a number: 1 for the first one, 2, 4 ... for the next. Null
    /// as `refused` is. The metadata `mask` of the schema has their names, as a list in JSON.
    Mask,
    /// `refused`: the names of all crawlers that may not fetch the URL, as a list. Null where the verdict is `unknown` or
    /// `invalid`, which must not read as allowed.
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

    /// The name of the column, without that of a crawler.
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

    /// The columns of a list of names, such as `url,verdict`.
    ///
    /// ```
    /// use reptile_arrow::Column;
    /// assert_eq!(Column::from_list("verdict, line")?, [Column::Verdict, Column::Line]);
    /// assert!(Column::from_list("verdict,lines").unwrap_err().to_string().contains("\"lines\""));
    /// # Ok::<(), reptile_arrow::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a name is unknown, or there twice.
    pub fn from_list(names: &str) -> Result<Vec<Column>, Error> {
        Column::from_names(names.split(',').map(str::trim))
    }

    /// The columns of some names.
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

    /// Whether there is one such column for each crawler.
    pub(crate) const fn is_of_agent(self) -> bool {
        !matches!(self, Column::Url | Column::Refused | Column::Mask | Column::CaptureTime)
    }

    /// Whether the column needs more than the verdict.
    pub(crate) const fn is_explained(self) -> bool {
        self.is_from_explanation() || matches!(self, Column::Ruleset | Column::CaptureTime)
    }

    /// Whether the column is a part of an explanation.
    pub(crate) const fn is_from_explanation(self) -> bool {
        matches!(self, Column::Line | Column::Rule | Column::Group | Column::Reason)
    }

    /// Whether the column is made of verdicts.
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

/// The type of a time.
pub(crate) fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))
}

/// What a list of the column `refused` holds.
pub(crate) fn refused_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::LargeUtf8, true))
}

/// The schema of a result: `url` first, then what is asked of each crawler, then what a row has once.
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

/// A text of JSON. The names of crawlers are hardly ever more than letters.
fn json(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\0'..='\x1f' => format!("\\u{:04x}", u32::from(character)),
        _ => character.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
