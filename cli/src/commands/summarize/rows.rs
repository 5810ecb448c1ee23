//! The output rows: one for each origin and agent, or for each site and agent.

use reptile::urls::OriginRef;

use super::keys::OriginKey;
use super::sites::{Agreement, ORIGINS};
use crate::error::Failure;
use reptile::summary::{Access, Summary, UsageAccess};
use reptile::usage::Uses;
use reptile_columns::{AnswerFormat, AnswerRows, ColumnType, RowCells, RowFormat, SUMMARY_COLUMNS};

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
        let others: Vec<&str> =
            keys.iter().map(|key| key.name()).chain(SUMMARY_COLUMNS.map(|(name, _)| name)).collect();
        for (at, name) in uses.names().enumerate() {
            if others.contains(&name) || uses.names().take(at).any(|other| other == name) {
                return Err(Failure::new(format!("--usage {name}: is given twice, or is the name of a column")));
            }
        }
        Ok(RowWriter::new(
            format,
            keys,
            SUMMARY_COLUMNS.into_iter().chain(uses.names().map(|name| (name, ColumnType::Word))),
        ))
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
        cells.text(summary.access.name().as_bytes());
        cells.text(summary.group.as_str().as_bytes());
        cells.number(summary.allow_rules);
        cells.number(summary.disallow_rules);
        cells.text(summary.reason.to_string().as_bytes());
        cells.text(summary.allowed_path.as_deref().unwrap_or_default());
        cells.text(summary.disallowed_path.as_deref().unwrap_or_default());
        permissions.iter().for_each(|permission| cells.text(permission.name().as_bytes()));
        cells.end();
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
