//! The rows of the output: a row for each origin and agent, with the same columns for every agent.

use super::keys::Key;
use super::statements::Said;
use super::subjects::Name;
use crate::outputs::columns::Format;

/// The columns after the keys.
const NAMES: [&str; 8] =
    ["agent", "access", "group", "allow_rules", "disallow_rules", "reason", "allowed_path", "disallowed_path"];

/// The names of all columns.
fn names(keys: &[Key]) -> Vec<&str> {
    keys.iter().map(|key| key.name()).chain(NAMES).collect()
}

/// How rows are written.
pub struct Rows {
    format: Format,
    keys: Vec<Key>,
    /// What stands before each cell.
    leads: Vec<Vec<u8>>,
}

impl Rows {
    pub fn new(format: Format, keys: Vec<Key>) -> Rows {
        let leads = format.leads(&names(&keys));
        Rows { format, keys, leads }
    }

    /// The names of the columns, as a line.
    pub fn header(&self) -> Vec<u8> {
        let mut header = self.format.header(&names(&self.keys));
        header.push(b'\n');
        header
    }

    /// Appends the row of an agent at an origin. A line that names no origin stands for its own key.
    pub fn push(&self, subject: &Name<'_>, agent: &str, said: &Said<'_>, text: &mut Vec<u8>) {
        let mut leads = self.leads.iter();
        let mut cell = |cell: &[u8], is_text: bool, text: &mut Vec<u8>| {
            text.extend_from_slice(leads.next().map_or(&[], |lead| lead));
            if is_text { self.format.push(cell, text) } else { text.extend_from_slice(cell) }
        };
        let mut name = Vec::new();
        for key in &self.keys {
            name.clear();
            match (subject.origin(), subject) {
                (Some(origin), _) => key.push(&origin, &mut name),
                (None, Name::Invalid(line)) => name.extend_from_slice(line),
                (None, _) => {}
            }
            cell(&name, true, text);
        }
        cell(agent.as_bytes(), true, text);
        cell(said.access.name().as_bytes(), true, text);
        cell(said.group.as_str().as_bytes(), true, text);
        for count in said.rules {
            cell(count.to_string().as_bytes(), false, text);
        }
        cell(said.reason.to_string().as_bytes(), true, text);
        for path in said.examples {
            cell(path, true, text);
        }
        text.extend_from_slice(if self.format == Format::Jsonl { b"}\n" } else { b"\n" });
    }
}
