//! The columns of an answer, the cells of a row, and their order.
//!
//! A crawler's columns are called `CRAWLER:verdict`, `CRAWLER:line` and so on. The combined verdict for all crawlers is
//! called `verdict`. Columns that occur once per row are `url`, `mask`, `refused`, `capture_time` and `capture`. The names
//! are the same in every format.

use std::sync::Arc;

use reptile::Verdict;
use reptile::usage::{Preference, UnknownUsage, Uses, verdict_for};

use crate::error::{Error, ErrorKind};

/// A selectable column. See [`Column::from_list`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Column {
    /// `url`: the URL as given.
    Url,
    /// `CRAWLER:verdict`: `allow`, `disallow`, `unknown` or `invalid`.
    Verdict,
    /// `CRAWLER:line`: the deciding rule's line. 0 or null if no rule decided, or the set has no line numbers.
    Line,
    /// `CRAWLER:rule`: the deciding rule, such as `Disallow: /cart`. Empty or null if no rule decided.
    Rule,
    /// `CRAWLER:group`: whether a group names the crawler: `named`, `default` or `none`.
    Group,
    /// `CRAWLER:reason`: the reason for the verdict, in a few words.
    Reason,
    /// `CRAWLER:agent`: the crawler, for rows that name their own.
    Agent,
    /// `CRAWLER:ruleset`: the deciding ruleset's number. Empty or null if no ruleset decides.
    Ruleset,
    /// `capture_time`: the deciding capture's fetch time in UTC. Empty or null if the set does not know it.
    CaptureTime,
    /// `capture`: the digest of the deciding capture's body, or else its status
    /// ([`Provenance::capture`](reptile::Provenance::capture)). Empty or null if the set knows neither.
    Capture,
    /// `mask`: the crawlers that may not fetch the URL, or not for the purpose if there is one, as bits: 1 for the first
    /// crawler, then 2, 4 and so on. Empty or null if the verdict is `unknown` or `invalid`, because 0 would look like
    /// permission. In Parquet and Arrow, the metadata `mask` has the crawlers' names, as a JSON list.
    Mask,
    /// `refused`: the names of the crawlers that may not fetch the URL, or not for the purpose if there is one. Null if
    /// the verdict is `unknown` or `invalid`; in TSV and CSV it is then that word.
    Refused,
    /// `CRAWLER:USE`: the preference for the use with this index in [`Layout::with_uses`]: `allowed`, `disallowed`,
    /// `unknown` or `not-applicable`.
    Usage(u8),
    /// `CRAWLER:purpose`: the single verdict for a fetch and a use; see [`Layout::with_purpose`].
    Purpose,
}

/// Maximum number of uses in a row.
pub const MAX_USES: usize = 64;

/// Maximum number of crawlers in a mask.
pub const MAX_MASKED_AGENTS: usize = u64::BITS as usize;

impl Column {
    /// Every column that can be named in a list.
    pub const ALL: [Column; 12] = [
        Column::Url,
        Column::Verdict,
        Column::Line,
        Column::Rule,
        Column::Group,
        Column::Reason,
        Column::Agent,
        Column::Ruleset,
        Column::CaptureTime,
        Column::Capture,
        Column::Mask,
        Column::Refused,
    ];

    /// Returns the column's name, without a crawler prefix.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Column::Url => "url",
            Column::Verdict => "verdict",
            Column::Line => "line",
            Column::Rule => "rule",
            Column::Group => "group",
            Column::Reason => "reason",
            Column::Agent => "agent",
            Column::Ruleset => "ruleset",
            Column::CaptureTime => "capture_time",
            Column::Capture => "capture",
            Column::Mask => "mask",
            Column::Refused => "refused",
            Column::Usage(_) => "usage",
            Column::Purpose => "purpose",
        }
    }

    /// Parses a column list, such as `url,verdict`.
    ///
    /// ```
    /// use reptile_columns::Column;
    /// assert_eq!(Column::from_list("verdict, line")?, [Column::Verdict, Column::Line]);
    /// assert!(Column::from_list("verdict,lines").unwrap_err().to_string().contains("\"lines\""));
    /// # Ok::<(), reptile_columns::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a name is unknown, or occurs twice.
    pub fn from_list(names: &str) -> Result<Vec<Column>, Error> {
        Column::from_names(names.split(',').map(str::trim))
    }

    /// Returns the columns with these names. See [`Column::from_list`] for an example.
    ///
    /// # Errors
    /// The errors of [`Column::from_list`].
    pub fn from_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<Column>, Error> {
        let mut columns = Vec::new();
        for name in names {
            let Some(column) = Column::ALL.into_iter().find(|column| column.name() == name) else {
                let message = format!("unknown column {name:?}; the columns are {}", Column::names());
                return Err(Error::new(ErrorKind::Column, message));
            };
            if columns.contains(&column) {
                return Err(Error::new(ErrorKind::Column, format!("the column {name:?} occurs twice")));
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// Returns the column names for a message, without `agent`, which only tables with a crawler column have.
    pub(crate) fn names() -> String {
        let names: Vec<&str> =
            Column::ALL.into_iter().filter(|&column| column != Column::Agent).map(Column::name).collect();
        names.join(", ")
    }

    /// Returns whether the column occurs once per row, regardless of the number of crawlers.
    #[must_use]
    pub const fn is_once(self) -> bool {
        matches!(self, Column::Url | Column::CaptureTime | Column::Capture | Column::Mask | Column::Refused)
    }

    /// Returns whether the column is about uses of the page.
    pub(crate) const fn is_about_usage(self) -> bool {
        matches!(self, Column::Usage(_) | Column::Purpose)
    }

    /// Returns whether the column needs more than a row's verdicts and its capture's time. Deciding a row then takes
    /// several times as long, except for columns about usage.
    #[must_use]
    pub const fn needs_explanation(self) -> bool {
        match self {
            Column::Url | Column::Verdict | Column::Agent | Column::CaptureTime | Column::Mask | Column::Refused => {
                false
            }
            Column::Line | Column::Rule | Column::Group | Column::Reason | Column::Ruleset | Column::Capture => true,
            Column::Usage(_) | Column::Purpose => true,
        }
    }
}

/// A cell in an answer row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// The URL.
    Url,
    /// Another cell that occurs once per row.
    Once(Column),
    /// A cell for the crawler with this index.
    Agent(usize, Column),
    /// The combined verdict for all crawlers.
    AnyOf,
}

/// All verdicts, in numeric order.
pub const VERDICTS: [Verdict; 4] = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];

/// The columns of an answer row, and their order. See [`TableDecider`](crate::TableDecider) for an example.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The columns in cell order.
    pub(crate) order: Vec<Column>,
    /// The other columns that occur once per row.
    pub(crate) once: Vec<Column>,
    /// The columns for each crawler.
    pub(crate) columns: Vec<Column>,
    /// Whether the last cell is the combined verdict for all crawlers.
    pub(crate) any_of: bool,
    /// The verdict written for each verdict, in numeric order.
    pub(crate) written: [Verdict; 4],
    /// The uses that a row has preferences for.
    pub(crate) uses: Option<Arc<Uses>>,
    /// The meaning of an unknown preference in [`Column::Purpose`], which covers the last use.
    pub(crate) unknown_usage: UnknownUsage,
}

impl Layout {
    /// Creates a layout with these columns, in this order. Consecutive per-crawler columns are grouped by crawler.
    ///
    /// # Errors
    /// Returns an error if a column occurs twice.
    pub fn new(columns: &[Column]) -> Result<Layout, Error> {
        if let Some((at, column)) = columns.iter().enumerate().find(|&(at, column)| columns[..at].contains(column)) {
            let (name, place) = (column.name(), at + 1);
            return Err(Error::new(
                ErrorKind::Column,
                format!("{name}: is given twice, the second time as column {place}"),
            ));
        }
        let (mut once, of_agent): (Vec<Column>, _) = columns.iter().partition(|column| column.is_once());
        once.retain(|&column| column != Column::Url);
        Ok(Layout {
            order: columns.to_vec(),
            once,
            columns: of_agent,
            any_of: false,
            written: VERDICTS,
            uses: None,
            unknown_usage: UnknownUsage::Unknown,
        })
    }

    /// Adds a column for each use, with each crawler's preference, after the last column that each crawler has.
    /// Without such a column, they follow the URL, or else are the first.
    ///
    /// ```
    /// use reptile::usage::{Sources, Vocabulary};
    /// use reptile_columns::{Column, Crawlers, Layout};
    /// let uses = Vocabulary::default().uses(["train-ai", "search"], Sources::USAGE)?;
    /// let layout = Layout::new(&[Column::Url, Column::Verdict])?.with_uses(uses)?;
    /// let names = layout.names(&Crawlers::Named(vec!["CCBot".into()]));
    /// assert_eq!(names, ["url", "CCBot:verdict", "CCBot:train-ai", "CCBot:search"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error for more than [`MAX_USES`] uses, for a use that is given twice, and for one that is called like
    /// a column.
    pub fn with_uses(mut self, uses: Uses) -> Result<Layout, Error> {
        let fail = |message| Err(Error::new(ErrorKind::Column, message));
        if uses.len() > MAX_USES {
            return fail(format!("expected at most {MAX_USES} uses, found {}", uses.len()));
        }
        let names: Vec<&str> = uses.names().collect();
        for (place, name) in names.iter().enumerate() {
            let is_column = Column::ALL.iter().any(|column| column.name() == *name) || *name == Column::Purpose.name();
            if is_column || names[..place].contains(name) {
                return fail(format!("{name}: is given twice, or is the name of a column"));
            }
        }
        for at in 0..uses.len() as u8 {
            self.add_of_agent(Column::Usage(at));
        }
        self.uses = Some(Arc::new(uses));
        Ok(self)
    }

    /// Adds a column for each crawler after the last one, or else after the URL, or else as the first.
    fn add_of_agent(&mut self, column: Column) {
        let last = self.order.iter().rposition(|column| !column.is_once());
        let last = last.or_else(|| self.order.iter().position(|&column| column == Column::Url));
        self.order.insert(last.map_or(0, |last| last + 1), column);
        self.columns.push(column);
    }

    /// Adds the column `purpose` after the uses in `shown`, whose columns are as in [`Layout::with_uses`]: one verdict
    /// for a fetch and the last use in `uses`. [`Column::Mask`] and [`Column::Refused`] then follow this verdict.
    ///
    /// # Errors
    /// The errors of [`Layout::with_uses`], where the last use may be given twice.
    pub fn with_purpose(self, uses: Uses, shown: Uses, unknown: UnknownUsage) -> Result<Layout, Error> {
        let mut layout = self.with_uses(shown)?;
        layout.add_of_agent(Column::Purpose);
        Ok(Layout { uses: Some(Arc::new(uses)), unknown_usage: unknown, ..layout })
    }

    /// Returns the single verdict for a fetch and the last of a crawler's preferences. A verdict that is written instead
    /// of the fetch's counts.
    pub(crate) fn purpose(&self, fetch: Verdict, preferences: &[Preference]) -> Verdict {
        let last = preferences.last().copied().unwrap_or(Preference::Unknown);
        verdict_for(self.written[fetch as usize], last, self.unknown_usage)
    }

    /// Returns the number of cells about uses that a row has for each crawler.
    #[cfg(feature = "arrow")]
    pub(crate) fn usage_cells(&self) -> usize {
        self.columns.iter().filter(|column| column.is_about_usage()).count()
    }

    /// Sets whether the last column has one verdict for all crawlers: `disallow` if any crawler is refused.
    #[must_use]
    pub fn any_of(self, any_of: bool) -> Layout {
        Layout { any_of, ..self }
    }

    /// Sets the verdict that is written instead of each verdict, in numeric order. Counts and reasons are unaffected.
    #[must_use]
    pub fn written_as(self, written: [Verdict; 4]) -> Layout {
        Layout { written, ..self }
    }

    /// Returns the verdict that is written instead of each verdict, in numeric order.
    #[must_use]
    pub fn written(&self) -> [Verdict; 4] {
        self.written
    }

    /// Returns whether any cell needs more than the verdicts and the capture's time.
    #[must_use]
    pub fn explains(&self) -> bool {
        self.order.iter().any(|column| column.needs_explanation())
    }

    /// Returns whether the row has a URL cell.
    #[cfg(feature = "tables")]
    pub(crate) fn has_url(&self) -> bool {
        self.order.contains(&Column::Url)
    }

    /// Returns whether no column was chosen.
    #[cfg(feature = "tables")]
    pub(crate) fn has_no_columns(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns whether any cell is the time of the capture.
    pub(crate) fn has_capture_time(&self) -> bool {
        self.once.contains(&Column::CaptureTime)
    }

    /// Returns whether any cell describes the capture or ruleset behind a verdict.
    pub(crate) fn has_provenance(&self) -> bool {
        self.has_capture_time() || self.once.contains(&Column::Capture) || self.columns.contains(&Column::Ruleset)
    }

    /// Returns a row's cells for `agents` crawlers, in order.
    pub(crate) fn cells(&self, agents: usize) -> Vec<Cell> {
        let mut cells = Vec::new();
        for run in self.order.chunk_by(|a, b| !a.is_once() && !b.is_once()) {
            match run {
                [Column::Url] => cells.push(Cell::Url),
                [column] if column.is_once() => cells.push(Cell::Once(*column)),
                _ => cells.extend((0..agents).flat_map(|at| run.iter().map(move |&column| Cell::Agent(at, column)))),
            }
        }
        cells.extend(self.any_of.then_some(Cell::AnyOf));
        cells
    }

    /// Returns the cell names for these crawlers.
    #[must_use]
    pub fn names(&self, crawlers: &Crawlers) -> Vec<String> {
        let agents = crawlers.names();
        let name = |cell| match cell {
            Cell::Url => Column::Url.name().to_owned(),
            Cell::Once(column) => column.name().to_owned(),
            Cell::Agent(_, column) if *crawlers == Crawlers::OfRows => self.name_of(column).to_owned(),
            Cell::Agent(at, column) => format!("{}:{}", agents[at], self.name_of(column)),
            Cell::AnyOf => Column::Verdict.name().to_owned(),
        };
        self.cells(agents.len()).into_iter().map(name).collect()
    }

    fn name_of(&self, column: Column) -> &str {
        let uses = self.uses.as_deref();
        match column {
            Column::Usage(at) => uses.and_then(|uses| uses.names().nth(at.into())).unwrap_or(column.name()),
            _ => column.name(),
        }
    }

    /// Checks that the columns can be written for these crawlers.
    ///
    /// # Errors
    /// Returns an error if rows name their own crawlers and a column is about all crawlers, or if there are more
    /// crawlers than mask bits.
    pub fn check(&self, crawlers: &Crawlers) -> Result<(), Error> {
        let asked = self.once.iter().find(|column| matches!(column, Column::Mask | Column::Refused));
        let fail = |message| Err(Error::new(ErrorKind::Column, message));
        let names = match crawlers {
            Crawlers::Named(names) => names,
            Crawlers::OfRows => {
                let Some(column) = asked else { return Ok(()) };
                let message = "is about all named crawlers, but each row names its own; use verdict";
                return fail(format!("{}: {message}", column.name()));
            }
        };
        if let (true, Some(first)) = (self.once.contains(&Column::Mask), names.get(MAX_MASKED_AGENTS)) {
            let count = names.len();
            return fail(format!(
                "mask: expected at most {MAX_MASKED_AGENTS} crawlers, a bit for each, found {count}; the first without \
                 a bit is {first:?}; use refused"
            ));
        }
        Ok(())
    }
}

/// The names of the crawlers whose columns a row has. See [`ColumnWriter`](crate::ColumnWriter) for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Crawlers {
    /// The same crawlers for each row.
    Named(Vec<String>),
    /// The crawler that a row names. Its columns have no crawler prefix.
    OfRows,
}

impl Crawlers {
    /// Returns the names: one empty name if rows name their crawlers.
    pub(crate) fn names(&self) -> &[String] {
        static OF_ROWS: [String; 1] = [String::new()];
        match self {
            Crawlers::Named(names) => names,
            Crawlers::OfRows => &OF_ROWS,
        }
    }
}

/// Returns the combined verdict: disallow if any agent is refused, else invalid, unknown or allow. Unknown and
/// invalid are the same for all agents that obey robots.txt.
pub(crate) fn over_all(verdicts: &[Verdict]) -> Verdict {
    let has = |wanted: Verdict| verdicts.contains(&wanted);
    [Verdict::Disallow, Verdict::Invalid, Verdict::Unknown]
        .into_iter()
        .find(|&verdict| has(verdict))
        .unwrap_or(Verdict::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deciding many URLs at a time takes a quarter of the time that individual explanations need.
    #[test]
    fn verdict_columns_need_no_explanation() {
        use Column::{Agent, Capture, CaptureTime, Group, Line, Mask, Reason, Refused, Rule, Ruleset, Url, Verdict};
        let needing = |columns: &[Column]| -> Vec<Column> {
            columns.iter().copied().filter(|column| column.needs_explanation()).collect()
        };
        assert_eq!(needing(&[Url, Verdict, Agent, CaptureTime, Mask, Refused]), []);
        let others = [Line, Rule, Group, Reason, Ruleset, Capture];
        assert_eq!(needing(&others), others);
        assert_eq!(VERDICTS.map(|verdict| verdict as usize), [0, 1, 2, 3]);
    }

    #[test]
    fn masks_stop_at_64_crawlers() {
        let (mask, refused) = (Layout::new(&[Column::Mask]).unwrap(), Layout::new(&[Column::Refused]).unwrap());
        for (count, fits) in [(MAX_MASKED_AGENTS - 1, true), (MAX_MASKED_AGENTS, true), (MAX_MASKED_AGENTS + 1, false)]
        {
            let names = Crawlers::Named((0..count).map(|number| format!("bot-{number}")).collect());
            let checked = mask.check(&names);
            assert_eq!(checked.is_ok(), fits, "{count}");
            assert!(checked.err().is_none_or(|error| error.to_string().contains("\"bot-64\"")));
            assert!(refused.check(&names).is_ok());
        }
        assert!(refused.check(&Crawlers::OfRows).is_err());
        assert!(Layout::new(&[Column::Verdict]).unwrap().check(&Crawlers::OfRows).is_ok());
    }

    #[test]
    fn columns_occur_once() {
        assert!(Layout::new(&[Column::Url, Column::Line, Column::Url]).is_err());
        assert!(Column::from_list("url,url").is_err());
    }
}
