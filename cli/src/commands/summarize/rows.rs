//! The output rows: one for each origin and agent, or for each site and agent.

use reptile::urls::OriginRef;

use super::keys::Key;
use super::sites::{Agreement, ORIGINS};
use super::statements::{Access, Said};
use crate::outputs::columns::Format;
use crate::outputs::parquet::Kind;

/// Returns the names of all columns.
fn names(columns: &[(String, Kind)]) -> Vec<&str> {
    columns.iter().map(|(name, _)| &**name).collect()
}

/// The format and columns of the rows.
pub struct Rows {
    format: Format,
    keys: Vec<Key>,
    /// The names and kinds of all columns.
    columns: Vec<(String, Kind)>,
    /// The text before each cell.
    leads: Vec<Vec<u8>>,
}

impl Rows {
    /// Returns the columns for a row per origin and agent.
    pub fn of_origins(format: Format, keys: Vec<Key>) -> Rows {
        let columns = [
            ("agent", Kind::Word),
            ("access", Kind::Word),
            ("group", Kind::Word),
            ("allow_rules", Kind::Count),
            ("disallow_rules", Kind::Count),
            ("reason", Kind::Word),
            ("allowed_path", Kind::Text),
            ("disallowed_path", Kind::Text),
        ];
        Rows::new(format, keys, columns)
    }

    /// Returns the columns for a row per site and agent.
    pub fn of_sites(format: Format, keys: Vec<Key>) -> Rows {
        let origins = ORIGINS.map(|origin| (origin.name, Kind::Word));
        let columns = [("agent", Kind::Word)].into_iter().chain(origins).chain([("agree", Kind::Word)]);
        Rows::new(format, keys, columns)
    }

    fn new(format: Format, keys: Vec<Key>, columns: impl IntoIterator<Item = (&'static str, Kind)>) -> Rows {
        let of_keys = keys.iter().map(|key| (key.name(), Kind::Text));
        let columns: Vec<(String, Kind)> = of_keys.chain(columns).map(|(name, kind)| (name.to_owned(), kind)).collect();
        let leads = format.leads(&names(&columns));
        Rows { format, keys, columns, leads }
    }

    /// Returns the names and kinds of the columns.
    pub fn columns(&self) -> &[(String, Kind)] {
        &self.columns
    }

    /// Returns the column names as a line.
    pub fn header(&self) -> Vec<u8> {
        let mut header = self.format.header(&names(&self.columns));
        header.push(b'\n');
        header
    }

    /// Appends an agent's row for an origin. A list line without an origin is its own key.
    pub fn push(&self, origin: Result<OriginRef<'_>, &[u8]>, agent: &str, said: &Said<'_>, text: &mut Vec<u8>) {
        let mut cells = self.begin(origin, agent, text);
        cells.push(said.access.name().as_bytes());
        cells.push(said.group.as_str().as_bytes());
        said.rules.into_iter().for_each(|count| cells.push_number(count));
        cells.push(said.reason.to_string().as_bytes());
        said.examples.into_iter().for_each(|path| cells.push(path));
        cells.end();
    }

    /// Appends an agent's row for a site, with each origin's access and whether they agree.
    pub fn push_site(
        &self,
        site: Result<OriginRef<'_>, &[u8]>,
        agent: &str,
        said: [Access; ORIGINS.len()],
        agreement: Agreement,
        text: &mut Vec<u8>,
    ) {
        let mut cells = self.begin(site, agent, text);
        said.into_iter().for_each(|access| cells.push(access.name().as_bytes()));
        cells.push(agreement.cell().as_bytes());
        cells.end();
    }

    /// Appends the keys and the agent.
    fn begin<'r>(&'r self, origin: Result<OriginRef<'_>, &[u8]>, agent: &str, text: &'r mut Vec<u8>) -> Cells<'r> {
        let mut cells = Cells { leads: self.leads.iter(), format: self.format, text };
        let mut name = Vec::new();
        for key in &self.keys {
            name.clear();
            match origin {
                Ok(origin) => key.push(&origin, &mut name),
                Err(line) => name.extend_from_slice(line),
            }
            cells.push(&name);
        }
        cells.push(agent.as_bytes());
        cells
    }
}

/// A row in progress.
struct Cells<'r> {
    leads: std::slice::Iter<'r, Vec<u8>>,
    format: Format,
    text: &'r mut Vec<u8>,
}

impl Cells<'_> {
    fn lead(&mut self) {
        self.text.extend_from_slice(self.leads.next().map_or(&[], |lead| lead));
    }

    fn push(&mut self, cell: &[u8]) {
        self.lead();
        self.format.push(cell, self.text);
    }

    fn push_number(&mut self, number: u32) {
        self.lead();
        self.format.push_number(number, self.text);
    }

    fn end(self) {
        match self.format {
            Format::Jsonl => self.text.extend_from_slice(b"}\n"),
            Format::Tsv | Format::Csv | Format::Delimited(_) => self.text.push(b'\n'),
            Format::Parquet => {}
        }
    }
}
