//! Decides rows: many together if verdicts, capture times and preferences suffice, otherwise one at a time with explanations, which
//! takes several times as long. Text, Parquet and Arrow use the same [`Decider`].

use std::sync::Arc;

use reptile::capture::Time;
use reptile::usage::{Preference, Uses};
use reptile::{Agent, Agents, Error, Explanation, Group, Provenance, Verdict};

use crate::by_row::{self, ByRow, Misspelled, NamedRow, Session, Times};
use crate::column::{Cell, Column, Crawlers, Layout, over_all};
use crate::data::{CellSink, ColumnCells, ColumnData, kinds_of};
use crate::scope::{Scope, StandIn};

/// The `reason` in a row that names no crawler.
const NO_CRAWLER: &str = "no crawler";

/// The `reason` in a row without a time.
const NO_TIME: &str = "no time";

/// Number of rows decided together: several of the library's batches, so that few batches are partly filled.
pub(crate) const ROWS_AT_ONCE: usize = 512;

/// An explanation, and the deciding origin if it is not the URL's own.
pub(crate) struct Explained {
    /// The verdict and its reasons.
    explanation: Explanation,
    /// The origin that replaced the URL's own.
    stand_in: Option<Vec<u8>>,
    /// The capture and ruleset behind the verdict, if requested.
    provenance: Provenance,
    /// The preferences for the layout's uses, if it has any.
    preferences: Vec<Preference>,
    /// The single verdict for the last use.
    purpose: Verdict,
}

impl Explained {
    /// Returns the deciding rule, as in a robots.txt, or the reason if no rule decided.
    #[cfg(feature = "tables")]
    pub(crate) fn rule_or_reason(&self) -> Vec<u8> {
        self.rule().unwrap_or_else(|| self.explanation.reason.to_string().into_bytes())
    }

    fn rule(&self) -> Option<Vec<u8>> {
        let rule = self.explanation.rule()?;
        Some([rule.kind.name().as_bytes(), b": ", &rule.pattern].concat())
    }

    /// Writes a crawler's cell for a column that needs an explanation.
    fn write(&self, column: Column, out: &mut impl CellSink) {
        match column {
            Column::Ruleset => out.long(self.provenance.ruleset.map(u64::from)),
            Column::Line => out.number(self.explanation.rule().map_or(0, |rule| rule.line)),
            Column::Rule => out.text(&self.rule().unwrap_or_default()),
            Column::Group => out.group(self.explanation.group),
            Column::Usage(at) => {
                let preference = self.preferences.get(usize::from(at)).copied().unwrap_or(Preference::Unknown);
                out.text(preference.name().as_bytes());
            }
            Column::Purpose => out.text(self.purpose.name().as_bytes()),
            Column::Reason => {
                let mut reason = self.explanation.reason.to_string().into_bytes();
                if let Some(origin) = &self.stand_in {
                    reason.extend([b", of ", &origin[..]].concat());
                }
                out.text(&reason);
            }
            _ => {}
        }
    }
}

/// Writes a crawler's cell for a row that cannot be decided.
fn write_undecided(column: Column, reason: &str, out: &mut impl CellSink) {
    match column {
        Column::Ruleset => out.long(None),
        Column::Line => out.number(0),
        Column::Rule => out.text(b""),
        Column::Group => out.group(Group::None),
        Column::Usage(_) => out.text(Preference::Unknown.name().as_bytes()),
        Column::Purpose if reason == NO_TIME => out.text(Verdict::Invalid.name().as_bytes()),
        Column::Purpose => out.text(Verdict::Unknown.name().as_bytes()),
        Column::Reason => out.text(reason.as_bytes()),
        _ => {}
    }
}

/// A crawler's explanation, or the reason why there is none.
pub(crate) type ExplainedOrReason = Result<Explained, &'static str>;

/// Decides rows for some crawlers, or for the crawlers that rows name, and fills a layout's cells. See
/// [`TableDecider`](crate::TableDecider) for an example.
#[derive(Clone)]
pub struct Decider {
    agents: Agents,
    /// The crawlers named by rows, if rows name crawlers. `agents` is then arbitrary.
    by_row: Option<Arc<ByRow>>,
    layout: Layout,
    times: Times,
    scope: Scope,
    crawlers: Crawlers,
    order: Vec<Cell>,
}

impl Decider {
    /// Creates a decider for these crawlers. It uses the set's own time and each URL's own origin.
    ///
    /// # Errors
    /// Returns the errors of [`Layout::check`].
    pub fn new(agents: Agents, layout: Layout) -> Result<Decider, crate::Error> {
        let names = agents.iter().map(|agent| agent.crawler().to_string()).collect();
        Decider::of(agents, None, layout, Crawlers::Named(names))
    }

    /// Creates a decider for the crawlers that rows name. See [`ByRow`] for an example of such rows. Deciders may share
    /// it.
    ///
    /// # Errors
    /// Returns the errors of [`Layout::check`].
    pub fn by_row(by_row: impl Into<Arc<ByRow>>, layout: Layout) -> Result<Decider, crate::Error> {
        let by_row = by_row.into();
        Decider::of(by_row.default_agents().clone(), Some(by_row), layout, Crawlers::OfRows)
    }

    fn of(
        agents: Agents,
        by_row: Option<Arc<ByRow>>,
        layout: Layout,
        crawlers: Crawlers,
    ) -> Result<Decider, crate::Error> {
        layout.check(&crawlers)?;
        let order = layout.cells(crawlers.names().len());
        Ok(Decider { agents, by_row, layout, times: Times::None, scope: Scope::Origin, crawlers, order })
    }

    /// Sets the times at which rows are decided.
    #[must_use]
    pub fn at(self, times: Times) -> Decider {
        Decider { times, ..self }
    }

    /// Sets which origins decide a URL. See [`Scope`] for an example.
    #[must_use]
    pub fn in_scope(self, scope: Scope) -> Decider {
        Decider { scope, ..self }
    }

    /// Returns the agents. If rows name their crawlers, this is one agent that only the default group applies to.
    #[must_use]
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Returns the crawlers whose columns a row has.
    #[must_use]
    pub fn crawlers(&self) -> &Crawlers {
        &self.crawlers
    }

    /// Returns the columns.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns whether rows name their crawlers.
    #[must_use]
    pub fn is_by_row(&self) -> bool {
        self.by_row.is_some()
    }

    /// Returns the rows with probably misspelled crawlers, if rows name crawlers.
    #[must_use]
    pub fn misspelled(&self) -> Option<Misspelled> {
        self.by_row.as_ref().map(|by_row| by_row.misspelled()).filter(|misspelled| misspelled.rows > 0)
    }

    /// Returns the index of the cell with the crawler's name among a row's selected cells, if rows name crawlers.
    #[cfg(feature = "tables")]
    pub(crate) fn crawler_cell(&self) -> Option<usize> {
        self.by_row.as_ref().map(|by_row| by_row.cell)
    }

    #[cfg(feature = "tables")]
    pub(crate) fn times(&self) -> Times {
        self.times
    }

    #[cfg(feature = "tables")]
    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns whether rows are decided one at a time, with explanations.
    pub(crate) fn explains(&self) -> bool {
        // Preferences are asked for in batches, unless rows or URLs need several questions.
        let in_batches = self.by_row.is_none() && self.scope == Scope::Origin;
        let needs = |column: &&Column| column.needs_explanation() && !(in_batches && column.is_about_usage());
        self.layout.order.iter().any(|column| needs(&column))
    }

    /// Returns a row's cells, in order.
    pub(crate) fn order(&self) -> &[Cell] {
        &self.order
    }

    /// Starts a block of rows, if rows name crawlers.
    #[cfg(any(feature = "arrow", feature = "tables"))]
    pub(crate) fn session(&self) -> Option<Session<'_>> {
        self.by_row.as_ref().map(|by_row| by_row.session())
    }

    /// Returns empty columns, one for each cell.
    #[must_use]
    pub fn columns(&self) -> Vec<ColumnData> {
        kinds_of(&self.layout, &self.crawlers).map(ColumnData::new).collect()
    }

    /// Decides up to [`ROWS_AT_ONCE`] rows, and stores a verdict for each row and crawler, and the facts that columns
    /// need. Returns how many URLs a replacement origin decided.
    pub(crate) fn decide<R: NamedRow>(
        &self,
        rows: &[R],
        mut session: Option<&mut Session<'_>>,
        verdicts: &mut [Verdict],
        facts: &mut Facts,
    ) -> Result<u64, Error> {
        if let Some(session) = &mut session {
            session.find_all(rows)?;
        }
        let Facts { fetched_at, preferences } = facts;
        fetched_at.clear();
        preferences.clear();
        if let Some(uses) = self.layout.uses.as_deref().filter(|_| !self.explains()) {
            preferences.resize(verdicts.len() * uses.len(), Preference::Unknown);
            self.decide_usage(rows, uses, verdicts, preferences)?;
            if !self.layout.has_capture_time() {
                return Ok(0);
            }
        }
        if self.layout.has_capture_time() {
            fetched_at.resize(rows.len(), None);
        }
        self.decide_urls(rows, 0..rows.len(), session.as_deref(), verdicts, fetched_at)?;
        let mut stand_ins = 0;
        if self.scope > Scope::Origin {
            stand_ins = self.decide_stand_ins(rows, session.as_deref(), verdicts, fetched_at)?;
        }
        if let Some(session) = &mut session {
            session.add_all(verdicts);
        }
        Ok(stand_ins)
    }

    /// Decides rows, and stores each crawler's verdict and preferences. A row without a time is invalid if row times are
    /// used.
    fn decide_usage<R: NamedRow>(
        &self,
        rows: &[R],
        uses: &Uses,
        verdicts: &mut [Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), Error> {
        let time = |row| self.times.of(row).unwrap_or_default();
        let times: Option<Vec<Time>> = (self.times != Times::None).then(|| rows.iter().map(time).collect());
        self.agents.usage_all(rows, times.as_deref(), uses, verdicts, preferences)?;
        if self.times == Times::OfRows {
            let width = self.agents.len().max(1);
            let answers = verdicts.chunks_mut(width).zip(preferences.chunks_mut((width * uses.len()).max(1)));
            for (_, (verdicts, preferences)) in rows.iter().zip(answers).filter(|(row, _)| row.time().is_none()) {
                verdicts.fill(Verdict::Invalid);
                preferences.fill(Preference::Unknown);
            }
        }
        Ok(())
    }

    /// Decides URLs, and stores a row of verdicts for each, and its capture time unless `fetched_at` is empty. A URL
    /// without a time is invalid if row times are used. `found` contains the rows' crawlers, if rows name them.
    fn decide_urls<R: NamedRow>(
        &self,
        urls: &[R],
        found: impl Iterator<Item = usize>,
        session: Option<&Session<'_>>,
        verdicts: &mut [Verdict],
        fetched_at: &mut [Option<Time>],
    ) -> Result<(), Error> {
        match session {
            Some(session) => session.decide_dated(urls, found, self.times, verdicts, fetched_at),
            None => by_row::decide_all(&self.agents, urls, self.times, &mut Vec::new(), verdicts, fetched_at),
        }
    }

    /// Decides URLs without a known robots.txt by their replacement origins. Returns the number of URLs decided this
    /// way.
    fn decide_stand_ins<R: NamedRow>(
        &self,
        rows: &[R],
        session: Option<&Session<'_>>,
        verdicts: &mut [Verdict],
        fetched_at: &mut [Option<Time>],
    ) -> Result<u64, Error> {
        let width = self.agents.len();
        let is_unknown = |verdicts: &[Verdict]| verdicts.contains(&Verdict::Unknown);
        // A row that names no crawler stays unknown, regardless of the origin.
        let is_open = |row: &usize| session.is_none_or(|session| session.is_named(*row));
        let unknown = (0..rows.len()).filter(|row| is_unknown(&verdicts[row * width..][..width])).filter(is_open);
        let mut open: Vec<(usize, Vec<StandIn>)> =
            unknown.map(|row| (row, self.scope.stand_ins(rows[row].as_ref()))).collect();
        let (mut decided, mut row_verdicts, mut row_fetched_at) = (0, Vec::new(), Vec::new());
        for place in 0.. {
            open.retain(|(_, all)| all.len() > place);
            if open.is_empty() {
                break;
            }
            let tried: Vec<_> =
                open.iter().map(|(row, all)| RowWithUrl { row: &rows[*row], url: &all[place].url }).collect();
            row_verdicts.resize(tried.len() * width, Verdict::Invalid);
            row_fetched_at.clear();
            row_fetched_at.resize(if fetched_at.is_empty() { 0 } else { tried.len() }, None);
            let rows = open.iter().map(|(row, _)| *row);
            self.decide_urls(&tried, rows, session, &mut row_verdicts, &mut row_fetched_at)?;
            let (mut chunks, mut row_fetched_at) = (row_verdicts.chunks_exact(width), row_fetched_at.iter());
            open.retain(|(row, _)| {
                let row_verdicts = chunks.next().unwrap_or_default();
                let row_fetched_at = row_fetched_at.next();
                // Adding www. may make a host or a URL too long.
                if is_unknown(row_verdicts) || row_verdicts.contains(&Verdict::Invalid) {
                    return true;
                }
                verdicts[row * width..][..width].copy_from_slice(row_verdicts);
                if let (Some(fetched_at), Some(found)) = (fetched_at.get_mut(*row), row_fetched_at) {
                    *fetched_at = *found;
                }
                decided += 1;
                false
            });
        }
        Ok(decided)
    }

    /// Returns one agent's explained verdict for a row, or `None` if the row has no time although row times are used.
    pub(crate) fn explain(&self, agent: &Agent, row: &impl NamedRow) -> Result<Option<Explained>, Error> {
        let time = self.times.of(row);
        if self.times != Times::None && time.is_none() {
            return Ok(None);
        }
        let explain = |url: &[u8]| match time {
            None => agent.explain(url),
            Some(time) => agent.explain_at(url, time),
        };
        let url = row.as_ref();
        let (explanation, stand_in) = self.scope.explain_by(url, explain)?;
        let deciding_url = stand_in.as_ref().map_or(url, |one| &one.url);
        let provenance = self.provenance(agent, deciding_url, time)?;
        let preferences = self.preferences(agent, deciding_url, time)?;
        let purpose = self.layout.purpose(explanation.verdict, &preferences);
        let stand_in = stand_in.map(|one| one.origin().to_vec());
        Ok(Some(Explained { explanation, stand_in, provenance, preferences, purpose }))
    }

    /// Returns the preferences for the layout's uses.
    fn preferences(&self, agent: &Agent, url: &[u8], time: Option<Time>) -> Result<Vec<Preference>, Error> {
        let Some(uses) = self.layout.uses.as_deref() else { return Ok(Vec::new()) };
        let usage = match time.filter(|_| self.times != Times::None) {
            None => agent.usage(url, uses)?,
            Some(time) => agent.usage_at(url, time, uses)?,
        };
        Ok(usage.preferences)
    }

    /// Returns the capture and ruleset behind a URL's verdict, if a column needs them.
    fn provenance(&self, agent: &Agent, url: &[u8], time: Option<Time>) -> Result<Provenance, Error> {
        match time {
            _ if !self.layout.has_provenance() => Ok(Provenance::default()),
            _ if self.times == Times::None => agent.provenance(url),
            Some(time) => agent.provenance_at(url, time),
            None => Ok(Provenance::default()),
        }
    }

    /// Explains a row's verdicts, and overwrites the previous row's. Returns the index of the crawler that the row
    /// names.
    pub(crate) fn explain_row(
        &self,
        row: &impl NamedRow,
        session: Option<&mut Session<'_>>,
        answer: &mut ExplainedRow,
    ) -> Result<Option<usize>, Error> {
        answer.verdicts.clear();
        answer.explained.clear();
        let Some(session) = session else {
            for agent in self.agents.iter() {
                let found = self.explain(agent, row)?;
                answer.verdicts.push(found.as_ref().map_or(Verdict::Invalid, |found| found.explanation.verdict));
                answer.explained.push(found.ok_or(NO_TIME));
            }
            return Ok(None);
        };
        let place = session.crawler(row)?;
        let (_, agents) = session.agents(place);
        let found = agents.iter().next().map(|agent| self.explain(agent, row)).transpose()?.flatten();
        let verdict = found.as_ref().map_or(Verdict::Invalid, |found| found.explanation.verdict);
        let is_unknown = place.is_none() && verdict != Verdict::Invalid;
        answer.verdicts.push(session.add(place, verdict));
        answer.explained.push(if is_unknown { Err(NO_CRAWLER) } else { found.ok_or(NO_TIME) });
        Ok(place)
    }

    /// Writes one of a row's cells.
    pub(crate) fn write_cell(&self, cell: Cell, row: &DecidedRow<'_>, out: &mut impl CellSink) {
        let written = |verdict: Verdict| self.layout.written[verdict as usize];
        match cell {
            Cell::Url => out.text(row.url),
            Cell::Once(Column::CaptureTime) => out.time(row.fetched_at()),
            Cell::Once(Column::Capture) => out.text(row.capture().unwrap_or_default().as_bytes()),
            Cell::Once(column) if self.layout.columns.contains(&Column::Purpose) => {
                self.write_refused(column, (0..row.verdicts.len()).map(|at| self.purpose_of(row, at)), out);
            }
            Cell::Once(column) => self.write_refused(column, row.verdicts.iter().map(|&verdict| written(verdict)), out),
            Cell::Agent(at, Column::Agent) => {
                let name = row.crawler.or(self.crawlers.names().get(at).map(String::as_str));
                out.text(name.unwrap_or_default().as_bytes());
            }
            Cell::Agent(at, Column::Verdict) => out.verdict(written(row.verdicts[at])),
            Cell::Agent(at, column) => match row.why {
                RowReasons::Explained(explained) => match explained.get(at) {
                    Some(Ok(found)) => found.write(column, out),
                    Some(Err(reason)) => write_undecided(column, reason, out),
                    None => {}
                },
                RowReasons::Verdict { preferences, .. } => self.write_usage(column, row.verdicts, preferences, at, out),
            },
            Cell::AnyOf => out.verdict(written(over_all(row.verdicts))),
        }
    }

    /// Writes a crawler's cell about usage. `preferences` has all crawlers' preferences in a row.
    fn write_usage(
        &self,
        column: Column,
        verdicts: &[Verdict],
        preferences: &[Preference],
        at: usize,
        out: &mut impl CellSink,
    ) {
        let own = self.own_preferences(preferences, at);
        match column {
            Column::Usage(use_at) => {
                let preference = own.get(usize::from(use_at)).copied().unwrap_or(Preference::Unknown);
                out.text(preference.name().as_bytes());
            }
            Column::Purpose => {
                let fetch = verdicts.get(at).copied().unwrap_or(Verdict::Invalid);
                out.text(self.layout.purpose(fetch, own).name().as_bytes());
            }
            _ => {}
        }
    }

    /// Returns one crawler's preferences among all crawlers' preferences in a row.
    fn own_preferences<'p>(&self, preferences: &'p [Preference], at: usize) -> &'p [Preference] {
        let count = self.layout.uses.as_deref().map_or(0, Uses::len);
        preferences.get(at * count..(at + 1) * count).unwrap_or_default()
    }

    /// Returns a crawler's single verdict for the fetch and the purpose.
    fn purpose_of(&self, row: &DecidedRow<'_>, at: usize) -> Verdict {
        match row.why {
            RowReasons::Explained(explained) => match explained.get(at) {
                Some(Ok(found)) => found.purpose,
                _ => row.verdicts[at],
            },
            RowReasons::Verdict { preferences, .. } => {
                self.layout.purpose(row.verdicts[at], self.own_preferences(preferences, at))
            }
        }
    }

    /// Writes a cell that lists the refused crawlers. For the verdicts `unknown` and `invalid`, no crawler is known to
    /// be refused or allowed.
    fn write_refused(&self, column: Column, verdicts: impl Iterator<Item = Verdict> + Clone, out: &mut impl CellSink) {
        let open = verdicts.clone().find(|verdict| matches!(verdict, Verdict::Unknown | Verdict::Invalid));
        let mut refused = verdicts.enumerate().filter(|(_, verdict)| *verdict == Verdict::Disallow).map(|(at, _)| at);
        if column == Column::Mask {
            let mask = refused.fold(0, |mask, at| mask | 1_u64.checked_shl(at as u32).unwrap_or(0));
            return out.long(open.is_none().then_some(mask));
        }
        let places: Result<&mut dyn Iterator<Item = usize>, Verdict> = match open {
            Some(verdict) => Err(verdict),
            None => Ok(&mut refused),
        };
        out.list(self.crawlers.names(), places);
    }

    /// Appends rows that need only verdicts and [`Facts`] to columns. `url` returns a row's URL as written, and
    /// `is_null` whether all of its cells are null.
    #[allow(clippy::too_many_arguments, reason = "inlined into the loop over all rows")]
    pub(crate) fn push_rows<'r, R: NamedRow + 'r>(
        &self,
        rows: &'r [R],
        verdicts: &[Verdict],
        facts: &Facts,
        session: Option<&Session<'_>>,
        columns: &'r mut [ColumnData],
        url: impl Fn(&'r R) -> &'r [u8],
        is_null: impl Fn(&R) -> bool,
        cells: fn(&mut ColumnData) -> ColumnCells<'_>,
    ) {
        let width = self.agents.len();
        let written = |(row, verdict): (&R, Verdict)| (!is_null(row)).then(|| self.layout.written[verdict as usize]);
        for (&cell, column) in self.order.iter().zip(columns) {
            match cell {
                Cell::Agent(at, Column::Verdict) => {
                    column.extend_verdicts(rows.iter().zip(verdicts[at..].iter().step_by(width).copied()).map(written));
                }
                Cell::AnyOf => {
                    column.extend_verdicts(rows.iter().zip(verdicts.chunks_exact(width).map(over_all)).map(written));
                }
                Cell::Once(Column::CaptureTime) => {
                    let mut out = cells(column);
                    let times = rows.iter().zip(&facts.fetched_at);
                    times.for_each(|(row, &time)| out.time(time.filter(|_| !is_null(row))));
                }
                _ => {
                    let mut out = cells(column);
                    for (place, (row, verdicts)) in rows.iter().zip(verdicts.chunks_exact(width)).enumerate() {
                        let crawler = session.map(|session| session.name_of(place));
                        let decided = DecidedRow { url: url(row), verdicts, crawler, why: facts.of(place, rows.len()) };
                        self.write_cell(cell, &decided, &mut out);
                        if is_null(row) {
                            out.column.null_last();
                        }
                    }
                }
            }
        }
    }
}

/// A row's verdicts and explanations, for each crawler.
#[derive(Default)]
pub(crate) struct ExplainedRow {
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) explained: Vec<ExplainedOrReason>,
}

impl ExplainedRow {
    /// Returns whether a replacement origin decided the URL for a crawler.
    #[cfg(feature = "tables")]
    pub(crate) fn has_stand_in(&self) -> bool {
        self.explained.iter().flatten().any(|found| found.stand_in.is_some())
    }
}

/// The data of a row whose cells are written individually.
pub(crate) struct DecidedRow<'d> {
    /// The URL.
    pub(crate) url: &'d [u8],
    /// The verdict for each crawler.
    pub(crate) verdicts: &'d [Verdict],
    /// The crawler's name in the row, if rows name crawlers.
    pub(crate) crawler: Option<&'d str>,
    /// The row's facts in addition to the verdicts.
    pub(crate) why: RowReasons<'d>,
}

/// Facts about rows that were decided together, in addition to their verdicts.
#[derive(Default)]
pub(crate) struct Facts {
    /// Each robots.txt's fetch time, if a column needs it and the set knows it.
    pub(crate) fetched_at: Vec<Option<Time>>,
    /// The preferences for each row, crawler and use, if a column needs them.
    preferences: Vec<Preference>,
}

impl Facts {
    /// Returns the facts about one of `count` rows.
    pub(crate) fn of(&self, row: usize, count: usize) -> RowReasons<'_> {
        let cells = self.preferences.len() / count.max(1);
        RowReasons::Verdict {
            fetched_at: self.fetched_at.get(row).copied().flatten(),
            preferences: self.preferences.get(row * cells..(row + 1) * cells).unwrap_or_default(),
        }
    }
}

/// A row's facts in addition to its verdicts.
#[derive(Clone, Copy)]
pub(crate) enum RowReasons<'d> {
    /// The facts of a row that was decided together with others.
    Verdict {
        /// The robots.txt's fetch time, if a column needs it and the set knows it.
        fetched_at: Option<Time>,
        /// The preferences for each crawler and use, if a column needs them.
        preferences: &'d [Preference],
    },
    /// Each crawler's explanation, or the reason why there is none.
    Explained(&'d [ExplainedOrReason]),
}

impl DecidedRow<'_> {
    fn fetched_at(&self) -> Option<Time> {
        match self.why {
            RowReasons::Verdict { fetched_at, .. } => fetched_at,
            RowReasons::Explained(explained) => {
                explained.iter().flatten().find_map(|found| found.provenance.fetched_at)
            }
        }
    }

    /// Returns the deciding capture's digest or status.
    fn capture(&self) -> Option<String> {
        match self.why {
            RowReasons::Verdict { .. } => None,
            RowReasons::Explained(explained) => explained.iter().flatten().find_map(|found| found.provenance.capture()),
        }
    }
}

/// A row with another URL.
struct RowWithUrl<'a, R> {
    row: &'a R,
    url: &'a [u8],
}

impl<R> AsRef<[u8]> for RowWithUrl<'_, R> {
    fn as_ref(&self) -> &[u8] {
        self.url
    }
}

impl<R: NamedRow> NamedRow for RowWithUrl<'_, R> {
    fn crawler(&self) -> &[u8] {
        self.row.crawler()
    }

    fn time(&self) -> Option<Time> {
        self.row.time()
    }
}
