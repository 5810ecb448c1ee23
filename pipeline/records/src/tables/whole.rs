//! All cells of a row with their columns' names, for commands that read a table that another command has written.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::csv::{Records, RowKind, plain_cells};
use super::{Format, Table};
use crate::lines::without_line_end;

/// The columns of a table whose rows name them: TSV or CSV with a header, or JSON Lines.
///
/// ```
/// use reptile_records::tables::open::Opening;
/// use reptile_records::tables::{NamedCells, source::Source};
///
/// let text = b"url,rule\nhttps://a.example/,\"Disallow: /a,b\"\n";
/// let (table, _) = Source::Text(Box::new(&text[..])).open_rows(&Opening::of("rows.csv"))?;
/// let columns = NamedCells::of(&table).ok_or("no names")?;
/// let row = columns.of_row(b"https://a.example/,\"Disallow: /a,b\"\n").ok_or("not a row")?;
/// assert_eq!(row[1], ("rule".into(), "Disallow: /a,b".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NamedCells<'t> {
    table: &'t Table,
    /// The names in the header; none in JSON Lines.
    header: Vec<String>,
}

impl<'t> NamedCells<'t> {
    /// Returns the columns of a table, or `None` if its rows have no names.
    #[must_use]
    pub fn of(table: &'t Table) -> Option<NamedCells<'t>> {
        let header = match table.format {
            Format::Tsv | Format::Csv if !table.header.is_empty() => cells_of(table, &table.header)?,
            Format::Jsonl => Vec::new(),
            _ => return None,
        };
        Some(NamedCells { table, header })
    }

    /// Returns the names in the header, or `None` if each row names its own columns.
    #[must_use]
    pub fn header(&self) -> Option<&[String]> {
        (self.table.format != Format::Jsonl).then_some(&self.header)
    }

    /// Returns a row's cells with their names, or `None` if it is not a row. Numbers are texts, null is empty, and lists
    /// and objects are left out.
    #[must_use]
    pub fn of_row(&self, row: &[u8]) -> Option<Vec<(Cow<'_, str>, String)>> {
        if self.table.format != Format::Jsonl {
            let names = self.header.iter().map(|name| Cow::Borrowed(&**name));
            return Some(names.zip(cells_of(self.table, row)?).collect());
        }
        let Members(fields) = serde_json::from_slice(row).ok()?;
        let text = |value: Value| match value {
            Value::String(text) => Some(text),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Null => Some(String::new()),
            Value::Array(_) | Value::Object(_) => None,
        };
        Some(fields.into_iter().filter_map(|(name, value)| Some((name.into(), text(value)?))).collect())
    }
}

/// The members of a JSON object in order. A name may occur twice.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Members, D::Error> {
        reader.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = object.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// Returns all cells of a TSV or CSV row, or `None` if its cells are unclear.
fn cells_of(table: &Table, row: &[u8]) -> Option<Vec<String>> {
    let text = |cell: &[u8]| String::from_utf8_lossy(cell).into_owned();
    let Some(quoting) = table.quoting else {
        return Some(plain_cells(without_line_end(row), b'\t').map(text).collect());
    };
    let mut records = Records::new(quoting);
    let found = records.row(row);
    match found.kind {
        RowKind::Plain => Some(plain_cells(without_line_end(&row[..found.len]), table.delimiter).map(text).collect()),
        RowKind::Quoted => (0..records.cell_count()).map(|at| records.cell(at).ok()?.map(text)).collect(),
        _ => None,
    }
}
