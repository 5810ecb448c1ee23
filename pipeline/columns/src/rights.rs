//! The rights to use pages in crawl archives, as rows: [`RightsTable`].

use reptile::rights::{Channel, Rights, RightsQuery};
use reptile::usage::{Preference, UnknownUsage};
use reptile::{Agents, Error, Verdict};
use reptile_records::pages::{CrawlerNames, Page};
use reptile_records::warc::read_date;

use crate::data::ColumnType;
use crate::text::{AnswerFormat, AnswerRows, RowFormat};

/// The separator between the statements of a channel.
const BETWEEN: &[u8] = b" | ";

/// The rights to use a page, for each crawler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRights {
    /// The time of the fetch in seconds since 1970, if the record has a valid one.
    pub time: Option<i64>,
    /// The rights of each crawler.
    pub rights: Vec<Rights>,
}

/// Decides pages for some crawlers and uses, and writes a row for each page.
///
/// The columns are `url`, `time` and `record` (the ID of the response's record); for each crawler the verdict, the
/// permission for each use, the verdict for the purpose if there is one, the preferences in `robots` and `signal`, and
/// the conflicts; and the page's statements in each other channel, as they are.
///
/// ```
/// use reptile::rights::Profile;
/// use reptile::{Dialect, Robots};
/// use reptile_columns::{AnswerFormat, RightsTable};
///
/// let robots = Robots::parse("user-agent: *\ncontent-usage: train-ai=n\n", Dialect::google())?;
/// let query = Profile::named("aipref").ok_or("no such profile")?.query(["train-ai"])?;
/// let table = RightsTable::new(robots.agents(["CCBot"])?, query, None, false);
/// let names: Vec<String> = table.format(AnswerFormat::Tsv).columns().iter().map(|(name, _)| name.clone()).collect();
/// assert_eq!(names[..5], ["url", "time", "record", "CCBot:verdict", "CCBot:train-ai"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RightsTable {
    agents: Agents,
    query: RightsQuery,
    /// The meaning of unknown uses, if the last use in the question is the purpose.
    purpose: Option<UnknownUsage>,
    /// Whether each page is decided at the time of its fetch.
    by_time: bool,
}

impl RightsTable {
    /// Creates a table. With `purpose`, the last use in the question becomes a verdict instead of a column.
    /// With `by_time`, a page without a valid time is invalid.
    #[must_use]
    pub fn new(agents: Agents, query: RightsQuery, purpose: Option<UnknownUsage>, by_time: bool) -> RightsTable {
        RightsTable { agents, query, purpose, by_time }
    }

    /// Returns the crawlers.
    #[must_use]
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Returns the names that `<meta>` elements for these crawlers have.
    #[must_use]
    pub fn names(&self) -> CrawlerNames {
        CrawlerNames::new(self.agents.iter().flat_map(|agent| agent.tokens().map(<[u8]>::to_vec).collect::<Vec<_>>()))
    }

    /// Returns the rows' format.
    #[must_use]
    pub fn format(&self, format: AnswerFormat) -> RowFormat {
        let text = |name: &str, kind| (name.to_owned(), kind);
        let mut columns =
            vec![text("url", ColumnType::Text), text("time", ColumnType::Time), text("record", ColumnType::Text)];
        for agent in self.agents.iter() {
            let crawler = agent.crawler();
            let mut add = |name: &str, kind| columns.push((format!("{crawler}:{name}"), kind));
            add("verdict", ColumnType::Verdict);
            self.shown_names().for_each(|name| add(name, ColumnType::Word));
            if self.purpose.is_some() {
                add("purpose", ColumnType::Verdict);
            }
            of_robots().for_each(|channel| add(channel.name(), ColumnType::Word));
            add("conflict", ColumnType::Word);
        }
        let of_page = Channel::ALL.into_iter().filter(|channel| channel.is_of_page());
        columns.extend(of_page.map(|channel| text(channel.name(), ColumnType::Text)));
        RowFormat::new(format, columns)
    }

    /// Returns the names of the uses that have a column.
    pub fn shown_names(&self) -> impl Iterator<Item = &str> {
        self.query.names().take(self.shown())
    }

    /// Returns whether there is a verdict for a purpose.
    #[must_use]
    pub fn has_purpose(&self) -> bool {
        self.purpose.is_some()
    }

    /// Returns the number of uses that have a column.
    fn shown(&self) -> usize {
        self.query.len() - usize::from(self.purpose.is_some())
    }

    /// Decides a page for each crawler.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn decide(&self, page: &Page) -> Result<PageRights, Error> {
        let time = page.date.as_deref().and_then(|date| read_date(date).ok());
        let decide = |agent: &reptile::Agent| match (self.by_time, time) {
            (true, None) => Ok(Rights::invalid(&self.query)),
            (true, time) => agent.rights(&page.url, time, &page.statements, &self.query),
            (false, _) => agent.rights(&page.url, None, &page.statements, &self.query),
        };
        Ok(PageRights { time, rights: self.agents.iter().map(decide).collect::<Result<_, _>>()? })
    }

    /// Returns the verdict for a page: for its purpose if there is one, and otherwise for a fetch.
    #[must_use]
    pub fn verdict(&self, rights: &Rights) -> Verdict {
        match (self.purpose, rights.permissions.last()) {
            (Some(unknown), Some(permission)) => permission.verdict(rights.verdict, unknown),
            _ => rights.verdict,
        }
    }

    /// Appends a page's row, in the format of [`RightsTable::format`].
    pub fn push(&self, page: &Page, decided: &PageRights, format: &RowFormat, rows: &mut AnswerRows) {
        let mut cells = format.begin(rows);
        cells.text(&page.url);
        cells.time(decided.time);
        cells.text(page.id.as_deref().unwrap_or_default());
        for rights in &decided.rights {
            cells.verdict(rights.verdict);
            for permission in rights.permissions.iter().take(self.shown()) {
                cells.text(permission.name().as_bytes());
            }
            if self.purpose.is_some() {
                cells.verdict(self.verdict(rights));
            }
            for channel in of_robots() {
                cells.text(self.stated(rights, channel).as_bytes());
            }
            cells.text(self.conflicts(rights).as_bytes());
        }
        for channel in Channel::ALL.into_iter().filter(|channel| channel.is_of_page()) {
            cells.text(&statements(page, channel));
        }
        cells.end();
    }

    /// Returns a channel's preferences as a dictionary.
    fn stated(&self, rights: &Rights, channel: Channel) -> String {
        let Some((_, stated)) = rights.stated.iter().find(|(stated, _)| *stated == channel) else {
            return String::new();
        };
        let value = |preference: &Preference| match preference {
            Preference::Allowed => Some("y"),
            Preference::Disallowed => Some("n"),
            Preference::Unknown | Preference::NotApplicable => None,
        };
        let stated = self.distinct_names().zip(stated);
        let stated = stated.filter_map(|(name, found)| Some(format!("{name}={}", value(found)?)));
        stated.collect::<Vec<_>>().join(", ")
    }

    /// Returns the uses' names, each once. The purpose is the last use, and may also be a column.
    fn distinct_names(&self) -> impl Iterator<Item = &str> {
        let count = self.query.len();
        let is_shown = |name: &str| self.shown_names().any(|shown| shown == name);
        let names = self.query.names().enumerate();
        names.filter(move |(at, name)| at + 1 < count || !self.has_purpose() || !is_shown(name)).map(|(_, name)| name)
    }

    /// Describes the uses that one channel allows and another disallows.
    fn conflicts(&self, rights: &Rights) -> String {
        let channels = |place: usize, expected| {
            let stated = rights.stated.iter().filter(|(_, stated)| stated.get(place) == Some(&expected));
            stated.map(|(channel, _)| channel.name()).collect::<Vec<_>>().join(" and ")
        };
        let describe = |&place: &usize| {
            let name = self.query.names().nth(place).unwrap_or_default();
            let (yes, no) = (channels(place, Preference::Allowed), channels(place, Preference::Disallowed));
            format!("{name}: allowed by {yes}, disallowed by {no}")
        };
        let distinct = self.distinct_names().count();
        rights.conflicts.iter().filter(|place| **place < distinct).map(describe).collect::<Vec<_>>().join("; ")
    }
}

/// Returns the channels in robots.txt.
fn of_robots() -> impl Iterator<Item = Channel> {
    Channel::ALL.into_iter().filter(|channel| channel.is_of_robots())
}

/// Returns the page's statements in a channel, as they are, or `unavailable`.
fn statements(page: &Page, channel: Channel) -> Vec<u8> {
    if page.statements.lacks(channel) {
        return b"unavailable".to_vec();
    }
    let of_channel = page.statements.of(channel).map(|(name, text)| match name {
        [] => text.to_vec(),
        name => [name, b": ", text].concat(),
    });
    of_channel.collect::<Vec<_>>().join(BETWEEN)
}
