//! Answer columns: their names, and their representation in TSV, CSV and JSON Lines.
//!
//! A crawler's columns are called `CRAWLER:verdict`, `CRAWLER:line` and so on, with the crawler as written in
//! `--agent`. The combined verdict for all crawlers is called `verdict`. Columns that occur once per row are `url`,
//! `mask`, `refused` and `capture_time`. The names are the same in every format.

use std::borrow::Cow;

use clap::ValueEnum;
use reptile::{Explanation, Provenance, Verdict};

use reptile_records::tables;
use reptile_records::text::{opaque_column, url_column};
use reptile_records::time::show_time;

/// A selectable column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Column {
    /// The URL as it is given, with %XX for what a terminal acts on
    Url,
    /// allow, disallow, unknown or invalid
    Verdict,
    /// The line of the deciding rule; 0 if no rule decides, or the set has no line numbers
    Line,
    /// The deciding rule; empty if no rule decides
    Rule,
    /// Whether a group names the crawler: named, default or none
    Group,
    /// What decides: "rule", "no rule matches", or the outcome of fetching the robots.txt; with --scope also whose
    Reason,
    /// The crawler; with --agent-column the one that the row names, and empty if it names none
    Agent,
    /// The ruleset that decides, by the number that `inspect` shows; empty if there is none
    Ruleset,
    /// When the capture that decides was fetched, in UTC; empty if the set does not know
    #[value(name = "capture_time")]
    CaptureTime,
    /// The agents that are refused, as the bits of a number: 1 for the first --agent, 2, 4 ... for the next, at most 64
    Mask,
    /// The agents that are refused, by name, with ; between them; in JSON Lines and Parquet a list
    Refused,
}

/// An output format for answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tabs between the cells
    #[default]
    Tsv,
    /// Commas between the cells, and quotes where a cell needs them (RFC 4180)
    Csv,
    /// CSV with another byte between the cells: the format of a table with such rows
    #[value(skip)]
    Delimited(u8),
    /// A JSON object on each line
    #[value(alias = "ndjson")]
    Jsonl,
    /// A Parquet file: texts, numbers, times and lists, and nulls where a row has no such value
    Parquet,
}

impl Format {
    /// Returns the format for adding columns to a table.
    pub fn of_table(format: tables::Format, delimiter: u8) -> Format {
        match format {
            tables::Format::Csv if delimiter != b',' => Format::Delimited(delimiter),
            tables::Format::List
            | tables::Format::Tsv
            | tables::Format::Cdxj
            | tables::Format::Log
            | tables::Format::Parquet => Format::Tsv,
            tables::Format::Csv => Format::Csv,
            tables::Format::Jsonl => Format::Jsonl,
        }
    }

    /// Returns the format's name in `--format`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Tsv => "tsv",
            Format::Csv | Format::Delimited(_) => "csv",
            Format::Jsonl => "jsonl",
            Format::Parquet => "parquet",
        }
    }

    /// Returns the byte between two cells.
    fn separator(self) -> u8 {
        match self {
            Format::Tsv => b'\t',
            Format::Delimited(delimiter) => delimiter,
            Format::Csv | Format::Jsonl | Format::Parquet => b',',
        }
    }

    /// Returns the text before each cell in a row with these column names.
    pub fn leads(self, names: &[impl AsRef<str>]) -> Vec<Vec<u8>> {
        let lead = |(at, name): (usize, &_)| {
            let mut lead = Vec::new();
            if self == Format::Jsonl {
                lead.push(if at == 0 { b'{' } else { b',' });
                self.push(AsRef::<str>::as_ref(name).as_bytes(), &mut lead);
                lead.push(b':');
            } else if at > 0 && self != Format::Parquet {
                lead.push(self.separator());
            }
            lead
        };
        names.iter().enumerate().map(lead).collect()
    }

    /// Returns the header line, without a line end, for these column names.
    pub fn header(self, names: &[impl AsRef<str>]) -> Vec<u8> {
        let mut header = Vec::new();
        for (at, name) in names.iter().enumerate() {
            if at > 0 {
                header.push(self.separator());
            }
            self.push(name.as_ref().as_bytes(), &mut header);
        }
        header
    }

    /// Appends a text cell.
    pub fn push(self, cell: &[u8], text: &mut Vec<u8>) {
        let cell = url_column(cell);
        match self {
            Format::Parquet => push_sized(&as_utf8(&cell), text),
            Format::Tsv => text.extend_from_slice(&cell),
            Format::Csv | Format::Delimited(_) if cell.iter().any(|&byte| byte == b'"' || byte == self.separator()) => {
                text.push(b'"');
                for &byte in &*cell {
                    text.extend_from_slice(if byte == b'"' { b"\"\"" } else { std::slice::from_ref(&byte) });
                }
                text.push(b'"');
            }
            Format::Csv | Format::Delimited(_) => text.extend_from_slice(&cell),
            Format::Jsonl => push_json(&cell, text),
        }
    }

    /// Appends part of a cell. Every byte except printable ASCII becomes `%XX`, and so does any character that would
    /// need quotes.
    pub fn push_part(self, part: &[u8], text: &mut Vec<u8>) {
        for byte in opaque_column(part) {
            match byte {
                b'"' | b',' | b'\\' if self != Format::Tsv => text.extend_from_slice(format!("%{byte:02X}").as_bytes()),
                _ => text.push(byte),
            }
        }
    }

    /// Appends a numeric cell.
    pub fn push_number(self, number: u32, text: &mut Vec<u8>) {
        if self == Format::Parquet {
            return text.extend_from_slice(&number.to_le_bytes());
        }
        text.extend_from_slice(number.to_string().as_bytes());
    }

    /// Appends a 64-bit numeric cell, or an empty cell.
    pub fn push_long(self, number: Option<u64>, text: &mut Vec<u8>) {
        match number {
            _ if self == Format::Parquet => push_flagged(number.map(u64::to_le_bytes), text),
            Some(number) => text.extend_from_slice(number.to_string().as_bytes()),
            None => self.push_nothing(text),
        }
    }

    /// Appends a time in seconds since 1970, or an empty cell.
    pub fn push_time(self, time: Option<i64>, text: &mut Vec<u8>) {
        match time {
            // All times in a set can be expressed in milliseconds without overflow.
            _ if self == Format::Parquet => {
                push_flagged(time.map(|time| time.saturating_mul(1000).to_le_bytes()), text)
            }
            Some(time) => self.push(show_time(time).as_bytes(), text),
            None => self.push_nothing(text),
        }
    }

    /// Appends an empty cell to a column that does not contain text.
    pub fn push_nothing(self, text: &mut Vec<u8>) {
        if self == Format::Jsonl {
            text.extend_from_slice(b"null");
        }
    }
}

/// Appends a presence flag and the number.
fn push_flagged(number: Option<[u8; 8]>, text: &mut Vec<u8>) {
    text.push(u8::from(number.is_some()));
    text.extend_from_slice(&number.unwrap_or_default());
}

/// Appends a text, prefixed with its length.
fn push_sized(cell: &[u8], text: &mut Vec<u8>) {
    // Cells are URLs and rules, which are shorter than a line.
    let len = u32::try_from(cell.len()).unwrap_or(0);
    text.extend_from_slice(&len.to_le_bytes());
    text.extend_from_slice(&cell[..len as usize]);
}

/// Converts text to UTF-8. Invalid bytes become `%XX`, which means the same in a URL.
fn as_utf8(cell: &[u8]) -> Cow<'_, [u8]> {
    if str::from_utf8(cell).is_ok() {
        return Cow::Borrowed(cell);
    }
    let mut text = Vec::with_capacity(cell.len());
    for chunk in cell.utf8_chunks() {
        text.extend_from_slice(chunk.valid().as_bytes());
        for byte in chunk.invalid() {
            text.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    Cow::Owned(text)
}

/// Appends a JSON string. Invalid UTF-8 bytes become `%XX`, which means the same in a URL.
fn push_json(cell: &[u8], text: &mut Vec<u8>) {
    text.push(b'"');
    for chunk in cell.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        for byte in chunk.invalid() {
            text.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    text.push(b'"');
}

/// A cell in an output row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The URL.
    Url,
    /// Another cell that occurs once per row.
    Once(Column),
    /// A cell for the crawler with this index.
    Agent(usize, Column),
    /// The combined verdict for all crawlers.
    AnyOf,
}

/// The cells in an answer row, and their order.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The output format.
    pub format: Format,
    /// The columns in cell order.
    pub order: Vec<Column>,
    /// Whether the row has a URL cell.
    pub has_url: bool,
    /// The other columns that occur once per row.
    pub once: Vec<Column>,
    /// The columns for each crawler.
    pub columns: Vec<Column>,
    /// Whether the last cell is the combined verdict for all crawlers.
    pub any_of: bool,
    /// Whether the input row follows the cells.
    pub has_row: bool,
    /// Whether each row names its own crawler. Column names then have no crawler prefix.
    pub is_by_row: bool,
    /// The verdict written for each verdict, in numeric order.
    pub taken: [Verdict; 4],
}

impl Layout {
    /// Returns whether any cell needs more than a verdict.
    pub fn explains(&self) -> bool {
        self.once.iter().chain(&self.columns).any(|column| column.needs_explanation())
    }

    /// Returns whether any cell describes the capture or ruleset behind a verdict.
    pub fn has_provenance(&self) -> bool {
        self.once.contains(&Column::CaptureTime) || self.columns.contains(&Column::Ruleset)
    }

    /// Returns the number of cells before the crawlers' cells, assuming the usual order.
    pub fn first_of_agents(&self) -> usize {
        usize::from(self.has_url) + self.once.len()
    }

    /// Returns whether the order is the usual one: the URL, other cells that occur once, then the crawlers' cells.
    pub fn is_usual_order(&self) -> bool {
        self.order.is_sorted_by_key(|column| match column {
            Column::Url => 0,
            column if column.is_once() => 1,
            _ => 2,
        })
    }

    /// Returns a row's cells for `agents` crawlers, in order. Consecutive per-crawler columns are grouped by crawler.
    pub fn cells(&self, agents: usize) -> Vec<Cell> {
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

    /// Returns the cell names.
    pub fn names(&self, agents: &[String]) -> Vec<String> {
        let name = |cell| match cell {
            Cell::Url => "url".to_owned(),
            Cell::Once(column) => column.name().to_owned(),
            Cell::Agent(_, column) if self.is_by_row => column.name().to_owned(),
            Cell::Agent(at, column) => format!("{}:{}", agents[at], column.name()),
            Cell::AnyOf => "verdict".to_owned(),
        };
        self.cells(agents.len()).into_iter().map(name).collect()
    }

    /// Returns the text before each cell.
    pub fn leads(&self, agents: &[String]) -> Vec<Vec<u8>> {
        self.format.leads(&self.names(agents))
    }

    /// Returns the text after the last cell: the row's end, or the separator before the input row.
    pub fn end(&self) -> Vec<u8> {
        match (self.has_row, self.format) {
            (true, Format::Jsonl) => Vec::new(),
            (true, _) => vec![self.format.separator()],
            (_, Format::Parquet) => Vec::new(),
            (false, Format::Jsonl) => b"}\n".to_vec(),
            (false, _) => b"\n".to_vec(),
        }
    }

    /// Returns the header line with the cell names.
    pub fn header(&self, agents: &[String]) -> Vec<u8> {
        let mut header = self.format.header(&self.names(agents));
        header.extend(self.end());
        header
    }

    /// Appends an input row after the cells.
    pub fn push_row(&self, row: &[u8], is_readable: bool, text: &mut Vec<u8>) {
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        if self.format != Format::Jsonl {
            text.extend_from_slice(row);
            text.push(b'\n');
            return;
        }
        // A row that is not an object has no fields to extend.
        let fields = row.trim_ascii_start().strip_prefix(b"{").filter(|_| is_readable).unwrap_or(b"}");
        if !fields.trim_ascii_start().starts_with(b"}") {
            text.push(b',');
        }
        text.extend_from_slice(fields);
        text.push(b'\n');
    }
}

/// An explanation, and the deciding origin if it is not the URL's own.
pub struct Explained {
    /// The verdict and its reasons.
    pub explanation: Explanation,
    /// The origin that replaced the URL's own.
    pub stand_in: Option<Vec<u8>>,
    /// The capture and ruleset behind the verdict, if requested.
    pub provenance: Provenance,
}

impl Column {
    /// Returns the last part of the column name.
    pub fn name(self) -> &'static str {
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
            Column::Mask => "mask",
            Column::Refused => "refused",
        }
    }

    /// Returns whether the column occurs once per row, regardless of the number of crawlers.
    pub fn is_once(self) -> bool {
        matches!(self, Column::Url | Column::CaptureTime | Column::Mask | Column::Refused)
    }

    /// Returns whether the column needs more than a row's verdicts.
    fn needs_explanation(self) -> bool {
        match self {
            Column::Url | Column::Verdict | Column::Agent | Column::Mask | Column::Refused => false,
            Column::Line | Column::Rule | Column::Group | Column::Reason | Column::Ruleset | Column::CaptureTime => {
                true
            }
        }
    }

    /// Appends the explanation cell for a crawler. `verdict` is the verdict as displayed.
    pub fn push(self, found: &Explained, agent: &str, verdict: &str, format: Format, text: &mut Vec<u8>) {
        let Explained { explanation, stand_in, provenance } = found;
        let rule = explanation.rule();
        match self {
            Column::Url | Column::CaptureTime | Column::Mask | Column::Refused => {}
            Column::Ruleset => format.push_long(provenance.ruleset.map(u64::from), text),
            Column::Agent => format.push(agent.as_bytes(), text),
            Column::Verdict => push_verdict(verdict, format, text),
            Column::Line => format.push_number(rule.map_or(0, |rule| rule.line), text),
            Column::Rule => {
                let name = rule.map(|rule| [rule.kind.name().as_bytes(), b": ", &rule.pattern].concat());
                format.push(&name.unwrap_or_default(), text);
            }
            Column::Group => format.push(explanation.group.as_str().as_bytes(), text),
            Column::Reason => {
                let mut reason = explanation.reason.to_string().into_bytes();
                if let Some(origin) = stand_in {
                    reason.extend([b", of ", &origin[..]].concat());
                }
                format.push(&reason, text);
            }
        }
    }

    /// Appends the cell for a row that cannot be decided for this reason.
    pub fn push_invalid(self, reason: &str, agent: &str, verdict: &str, format: Format, text: &mut Vec<u8>) {
        match self {
            Column::Url | Column::CaptureTime | Column::Mask | Column::Refused => {}
            Column::Ruleset => format.push_long(None, text),
            Column::Agent => format.push(agent.as_bytes(), text),
            Column::Verdict => push_verdict(verdict, format, text),
            Column::Line => format.push_number(0, text),
            Column::Rule => format.push(b"", text),
            Column::Group => format.push(reptile::Group::None.as_str().as_bytes(), text),
            Column::Reason => format.push(reason.as_bytes(), text),
        }
    }
}

/// Appends the deciding capture's fetch time, if known.
pub fn push_capture_time(fetched_at: Option<i64>, format: Format, text: &mut Vec<u8>) {
    format.push_time(fetched_at, text);
}

/// Appends a verdict as displayed: a word, optionally styled, or for Parquet the byte with its number.
pub fn push_verdict(verdict: &str, format: Format, text: &mut Vec<u8>) {
    let quote: &[u8] = if format == Format::Jsonl { b"\"" } else { b"" };
    [quote, verdict.as_bytes(), quote].iter().for_each(|part| text.extend_from_slice(part));
}

/// Returns an input row. For a terminal, it is made safe and ends with LF; otherwise it is unchanged.
pub fn shown_row(row: &[u8], is_terminal: bool) -> Cow<'_, [u8]> {
    if !is_terminal {
        return Cow::Borrowed(row);
    }
    let line = row.strip_suffix(b"\n").unwrap_or(row);
    Cow::Owned((reptile_records::text::printable(line) + "\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deciding many URLs at a time takes a quarter of the time that individual explanations need.
    #[test]
    fn verdict_columns_need_no_explanation() {
        use Column::{Agent, CaptureTime, Group, Line, Mask, Reason, Refused, Rule, Ruleset, Url, Verdict};
        let needing = |columns: &[Column]| -> Vec<Column> {
            columns.iter().copied().filter(|column| column.needs_explanation()).collect()
        };
        assert_eq!(needing(&[Url, Verdict, Agent, Mask, Refused]), []);
        let others = [Line, Rule, Group, Reason, Ruleset, CaptureTime];
        assert_eq!(needing(&others), others);
        assert_eq!(Column::value_variants().len(), 11);
    }
}
