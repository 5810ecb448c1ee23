//! The output rows: one for each agent and origin, site, or period of an origin.

use reptile::urls::OriginRef;

use super::keys::OriginKey;
use super::managed::Managed;
use super::sites::{Agreement, ORIGINS};
use super::subjects::body_hash;
use crate::error::Failure;
use reptile::capture::digest_of_hash;
use reptile::contents::{FormatError, Period};
use reptile::summary::{Access, Summary, UsageAccess};
use reptile::usage::Uses;
use reptile::{Group, PolicySource};
use reptile_columns::{AnswerFormat, AnswerRows, ColumnType, RowCells, RowFormat, SUMMARY_COLUMNS};

/// The columns of a period, after the agent.
const TIME_COLUMNS: [(&str, ColumnType); 2] = [("valid_from", ColumnType::Time), ("valid_to", ColumnType::Time)];

/// The columns of a period after the summary's columns.
const EVIDENCE_COLUMNS: [(&str, ColumnType); 6] = [
    ("source", ColumnType::Word),
    ("cause", ColumnType::Word),
    ("managed", ColumnType::Word),
    ("capture_time", ColumnType::Time),
    ("status", ColumnType::Id),
    ("digest", ColumnType::Text),
];

/// The cells of a period's row that are not in its summary.
pub struct PeriodCells<'p> {
    /// `None` for an origin without a known robots.txt.
    pub period: Option<&'p Period<'p>>,
    /// Whether the group names a product token that the agent obeys after its own.
    pub is_inherited: bool,
    pub managed: Option<Managed>,
}

/// Appends the cells of a summary.
fn push_summary(summary: &Summary<'_>, group: &str, cells: &mut RowCells<'_>) {
    cells.text(summary.access.name().as_bytes());
    cells.text(group.as_bytes());
    cells.number(summary.allow_rules);
    cells.number(summary.disallow_rules);
    cells.text(summary.reason.to_string().as_bytes());
    cells.text(summary.allowed_path.as_deref().unwrap_or_default());
    cells.text(summary.disallowed_path.as_deref().unwrap_or_default());
}

/// Returns the word for a policy source.
fn source_word(source: PolicySource) -> &'static str {
    match source {
        PolicySource::LastGoodCopy(_) => "last-good-copy",
        PolicySource::AllowAll(_) => "allow-all",
        PolicySource::DisallowAll(_) => "disallow-all",
        _ => "rules",
    }
}

/// How rows are written.
pub struct RowWriter {
    format: RowFormat,
    keys: Vec<OriginKey>,
}

impl RowWriter {
    /// Returns a row for each origin and agent, with a column for each use.
    ///
    /// # Errors
    /// Returns an error if two columns have the same name.
    pub fn of_origins(format: AnswerFormat, keys: Vec<OriginKey>, uses: &Uses) -> Result<RowWriter, Failure> {
        RowWriter::with_uses(format, keys, SUMMARY_COLUMNS.to_vec(), uses)
    }

    /// Returns a writer of a row for each period and agent, with a column for each use.
    ///
    /// # Errors
    /// Returns an error if two columns have the same name.
    pub fn of_periods(format: AnswerFormat, keys: Vec<OriginKey>, uses: &Uses) -> Result<RowWriter, Failure> {
        let [agent, summary @ ..] = SUMMARY_COLUMNS;
        let columns = [agent].into_iter().chain(TIME_COLUMNS).chain(summary).chain(EVIDENCE_COLUMNS);
        RowWriter::with_uses(format, keys, columns.collect(), uses)
    }

    /// Returns a writer of rows with these columns and one for each use.
    fn with_uses(
        format: AnswerFormat,
        keys: Vec<OriginKey>,
        columns: Vec<(&str, ColumnType)>,
        uses: &Uses,
    ) -> Result<RowWriter, Failure> {
        let others: Vec<&str> =
            keys.iter().map(|key| key.name()).chain(columns.iter().map(|(name, _)| *name)).collect();
        for (at, name) in uses.names().enumerate() {
            if others.contains(&name) || uses.names().take(at).any(|other| other == name) {
                return Err(Failure::new(format!("--usage {name}: is given twice, or is the name of a column")));
            }
        }
        let of_uses = uses.names().map(|name| (name, ColumnType::Word));
        Ok(RowWriter::new(format, keys, columns.into_iter().chain(of_uses)))
    }

    /// Returns a row for each site and agent.
    pub fn of_sites(format: AnswerFormat, keys: Vec<OriginKey>) -> RowWriter {
        let origins = ORIGINS.map(|origin| (origin.name, ColumnType::Word));
        let columns = [("agent", ColumnType::Word)].into_iter().chain(origins).chain([("agree", ColumnType::Word)]);
        RowWriter::new(format, keys, columns)
    }

    fn new<'n>(
        format: AnswerFormat,
        keys: Vec<OriginKey>,
        columns: impl IntoIterator<Item = (&'n str, ColumnType)>,
    ) -> RowWriter {
        let of_keys = keys.iter().map(|key| (key.name().to_owned(), ColumnType::Text));
        let columns = of_keys.chain(columns.into_iter().map(|(name, kind)| (name.to_owned(), kind))).collect();
        RowWriter { format: RowFormat::new(format, columns), keys }
    }

    /// Returns the format, with the column names.
    pub fn format(&self) -> &RowFormat {
        &self.format
    }

    /// Appends an agent's row for an origin, with a permission for each use. A list line without an origin is its own
    /// key.
    pub fn push(
        &self,
        origin: Result<OriginRef<'_>, &[u8]>,
        agent: &str,
        summary: &Summary<'_>,
        permissions: &[UsageAccess],
        rows: &mut AnswerRows,
    ) {
        let mut cells = self.begin(origin, agent, rows);
        push_summary(summary, summary.group.as_str(), &mut cells);
        permissions.iter().for_each(|permission| cells.text(permission.name().as_bytes()));
        cells.end();
    }

    /// Appends an agent's row for a period, with a permission for each use.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn push_period(
        &self,
        origin: Result<OriginRef<'_>, &[u8]>,
        agent: &str,
        PeriodCells { period, is_inherited, managed }: &PeriodCells<'_>,
        summary: &Summary<'_>,
        permissions: &[UsageAccess],
        rows: &mut AnswerRows,
    ) -> Result<(), FormatError> {
        let source = period.map(|period| period.policy.source()).transpose()?;
        let capture = period.and_then(|period| period.capture);
        let group = match summary.group {
            Group::Named if *is_inherited => "inherited",
            group => group.as_str(),
        };
        let mut cells = self.begin(origin, agent, rows);
        cells.time(period.and_then(|period| period.from));
        cells.time(period.and_then(|period| period.until));
        push_summary(summary, group, &mut cells);
        cells.text(source.map_or("", source_word).as_bytes());
        cells.text(source.and_then(PolicySource::cause).map(|cause| cause.to_string()).unwrap_or_default().as_bytes());
        cells.text(managed.map_or("", Managed::name).as_bytes());
        cells.time(capture.and_then(|capture| capture.time));
        cells.long(capture.and_then(|capture| capture.status).map(u64::from));
        let digest = capture.as_ref().and_then(body_hash).map(digest_of_hash);
        cells.text(digest.unwrap_or_default().as_bytes());
        permissions.iter().for_each(|permission| cells.text(permission.name().as_bytes()));
        cells.end();
        Ok(())
    }

    /// Appends an agent's row for a site, with each origin's access and whether they agree.
    pub fn push_site(
        &self,
        site: Result<OriginRef<'_>, &[u8]>,
        agent: &str,
        accesses: [Access; ORIGINS.len()],
        agreement: Agreement,
        rows: &mut AnswerRows,
    ) {
        let mut cells = self.begin(site, agent, rows);
        accesses.into_iter().for_each(|access| cells.text(access.name().as_bytes()));
        cells.text(agreement.cell().as_bytes());
        cells.end();
    }

    /// Appends the keys and the agent.
    fn begin<'r>(
        &'r self,
        origin: Result<OriginRef<'_>, &[u8]>,
        agent: &str,
        rows: &'r mut AnswerRows,
    ) -> RowCells<'r> {
        let mut cells = self.format.begin(rows);
        let mut name = Vec::new();
        for key in &self.keys {
            name.clear();
            match origin {
                Ok(origin) => key.push(&origin, &mut name),
                Err(line) => name.extend_from_slice(line),
            }
            cells.text(&name);
        }
        cells.text(agent.as_bytes());
        cells
    }
}
