//! Finds the delimiter and the columns of TSV and CSV.
//!
//! Only text that the operator wrote selects them: options, and a header. A first row is a header if it has the wanted
//! columns' names, and no URL that could make it a row of data. Without a header, all first rows must agree: exactly one
//! delimiter gives them the same number of cells and a URL in the URL column. Otherwise a message asks for the option.

use super::csv::{Records, RowKind, plain_cells};
use super::delimiter::{name_of, shown_delimiter};
use super::quotes::Quoting;
use super::row::{is_url, is_url_name};
use super::{COMMA, ColumnOption, Columns, Format, Numbers, Table};
use crate::lines::{MAX_LINE_BYTES, without_line_end};
use crate::shown::{listed, shown};

/// Maximum number of first rows that must agree on a delimiter or a column without a header. More rows would delay the
/// first verdicts; fewer could all be from one site.
const MAX_AGREEING_ROWS: usize = 100;

/// A result whose error message follows the table's path.
type MessageResult<T> = Result<T, String>;

/// A format and a delimiter that a table may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// TSV or CSV.
    pub format: Format,
    /// The delimiter, and the rules for quotes.
    pub quoting: Quoting,
    /// Whether quotes are text.
    pub is_plain: bool,
}

impl Candidate {
    /// Returns CSV with this delimiter.
    pub fn csv(delimiter: u8) -> Candidate {
        Candidate { format: Format::Csv, quoting: Quoting::csv(delimiter), is_plain: false }
    }

    /// Returns TSV. If it is not declared as plain, a cell with quotes may be quoted.
    pub fn tsv(is_plain: bool) -> Candidate {
        let quoting = Quoting { may_be_plain: true, ..Quoting::csv(b'\t') };
        Candidate { format: Format::Tsv, quoting, is_plain }
    }

    /// Returns an empty table with this format.
    fn table(&self, names: Vec<String>, numbers: Numbers) -> Table {
        let quoting = (!self.is_plain).then_some(self.quoting);
        let table = Table::new(self.format, names, Columns::Numbers(numbers));
        Table { delimiter: self.quoting.delimiter, quoting, ..table }
    }

    /// Returns the cells of the first rows in `start` and the first row's length. `is_all` means that no more rows are
    /// needed. A row that is not readable has no cells.
    fn rows(&self, start: &[u8], is_all: bool) -> (Vec<Vec<Vec<u8>>>, usize) {
        let (mut rows, mut records, mut at) = (Vec::new(), Records::new(self.quoting), 0);
        let mut first_len = 0;
        while at < start.len() && rows.len() < MAX_AGREEING_ROWS {
            let rest = &start[at..];
            let (cells, len) = if self.is_plain {
                let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
                (self.plain_row(&rest[..len]), len)
            } else {
                if !is_all && !records.has_row(rest) {
                    break;
                }
                let row = records.row(rest);
                let cells = match row.kind {
                    RowKind::Plain => self.plain_row(&rest[..row.len]),
                    RowKind::Quoted if self.quoting.may_be_plain => self.plain_row(&rest[..row.len]),
                    RowKind::Quoted => {
                        let cell = |number| records.cell(number).ok().flatten().unwrap_or_default().to_vec();
                        (0..records.cell_count()).map(cell).collect()
                    }
                    _ => Vec::new(),
                };
                (cells, row.len)
            };
            if !is_all && !rest[..len].ends_with(b"\n") {
                break;
            }
            first_len = if rows.is_empty() { len } else { first_len };
            rows.push(cells);
            at += len;
        }
        (rows, first_len)
    }

    fn plain_row(&self, row: &[u8]) -> Vec<Vec<u8>> {
        plain_cells(without_line_end(row), self.quoting.delimiter).map(<[u8]>::to_vec).collect()
    }
}

/// The columns that a table must have.
pub(super) struct Search<'s> {
    /// The wanted columns.
    pub wanted: &'s [ColumnOption],
    /// The place of the URL column, or the host's, among the wanted columns.
    pub key: usize,
    /// Returns whether a cell of this column can only be data.
    pub is_data: &'s dyn Fn(&[u8]) -> bool,
    /// Whether the table may be a list of URLs, without columns.
    pub may_be_list: bool,
}

/// The format of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// TSV or CSV.
    Table(Candidate),
    /// A list.
    List,
    /// More rows are needed.
    NeedsMore,
}

impl Search<'_> {
    /// Chooses the candidate that fits the header, or else all first rows. `is_all` means that no more rows can be read.
    ///
    /// # Errors
    /// Returns an error if several candidates fit, or none.
    pub fn choose(&self, candidates: &[Candidate], start: &[u8], is_all: bool) -> MessageResult<Choice> {
        if let ([only], false) = (candidates, self.may_be_list) {
            return Ok(Choice::Table(*only));
        }
        let [first, ..] = candidates else { return Ok(Choice::List) };
        if start.is_empty() && self.may_be_list {
            return Ok(Choice::List);
        }
        let mut tables: Vec<(&Candidate, Vec<Vec<Vec<u8>>>)> =
            candidates.iter().map(|candidate| (candidate, candidate.rows(start, is_all).0)).collect();
        let is_unread = |rows: &Vec<Vec<Vec<u8>>>| rows.is_empty() && !start.is_empty();
        if !is_all && tables.iter().any(|(_, rows)| is_unread(rows)) {
            return Ok(Choice::NeedsMore);
        }
        let has_header = |rows: &[Vec<Vec<u8>>]| rows.first().is_some_and(|row| self.is_header(row));
        let width = |rows: &[Vec<Vec<u8>>]| rows.first().map_or(0, Vec::len);
        let headed: Vec<&Candidate> =
            tables.iter().filter(|(_, rows)| has_header(rows)).map(|(candidate, _)| *candidate).collect();
        let wide = tables.iter().filter(|(_, rows)| width(rows) > 1 && has_header(rows));
        match wide.map(|(candidate, _)| **candidate).collect::<Vec<Candidate>>()[..] {
            [] if headed.is_empty() => {}
            // URLs in a table with one column may contain commas.
            [] => return Ok(Choice::Table(if self.may_be_plain(candidates) { Candidate::tsv(false) } else { *first })),
            [only] => return Ok(Choice::Table(only)),
            [one, other, ..] => return Err(which_delimiter(&one, &other)),
        }
        if start.is_empty() || self.needs_header() {
            return Ok(Choice::Table(self.shown_candidate(&tables, first)));
        }
        let has_url = |row: &Vec<Vec<u8>>| row.iter().any(|cell| is_url(cell.trim_ascii()));
        let may_be_table = |rows: &[Vec<Vec<u8>>]| rows.first().is_some_and(has_url);
        if self.may_be_list {
            // A URL contains no tab, begins with no quote, and may contain any other delimiter.
            let is_quoted = start.starts_with(b"\"");
            tables.retain(|(candidate, rows)| {
                may_be_table(rows) && (is_quoted || (candidate.format == Format::Tsv && rows[0].len() > 1))
            });
            if tables.is_empty() {
                return Ok(Choice::List);
            }
        } else if self.is_unnamed() && !tables.iter().any(|(_, rows)| may_be_table(rows)) {
            return Ok(Choice::Table(*first));
        }
        if !is_all && tables.iter().any(|(_, rows)| rows.len() < MAX_AGREEING_ROWS) {
            return Ok(Choice::NeedsMore);
        }
        let agrees = |rows: &[Vec<Vec<u8>>]| rows[0].len() > 1 && self.agree(rows);
        let agreeing: Vec<Candidate> =
            tables.iter().filter(|(_, rows)| agrees(rows)).map(|(candidate, _)| **candidate).collect();
        let has_one_column = tables.iter().all(|(_, rows)| rows.iter().all(|row| row.len() == 1));
        match agreeing[..] {
            [only] if self.may_be_url(only, start) => Err(url_or_cells(&only)),
            [only] => Ok(Choice::Table(only)),
            [one, other, ..] => Err(which_delimiter(&one, &other)),
            [] if has_one_column => Ok(Choice::Table(*first)),
            [] if self.may_be_list => Ok(Choice::List),
            [] if !tables.iter().any(|(_, rows)| self.has_numbers(&rows[0])) => {
                Ok(Choice::Table(self.shown_candidate(&tables, first)))
            }
            [] => Err(self.no_agreement()),
        }
    }

    /// Returns the message for first rows without a common delimiter or URL column.
    fn no_agreement(&self) -> String {
        let (column, option) = match self.wanted.get(self.key) {
            Some(wanted) if wanted.name.is_none() => {
                (", and which column has the URLs", format!(" and {}", wanted.option))
            }
            _ => ("", String::new()),
        };
        format!(
            "which delimiter is between cells{column}? The first {MAX_AGREEING_ROWS} rows do not agree; say it with \
             --delimiter{option}"
        )
    }

    /// Returns whether the table may be TSV without quotes.
    fn may_be_plain(&self, candidates: &[Candidate]) -> bool {
        candidates.contains(&Candidate::tsv(false))
    }

    /// Returns the candidate with which a message shows the first row: one with a wanted name, or else the most cells.
    fn shown_candidate(&self, tables: &[(&Candidate, Vec<Vec<Vec<u8>>>)], first: &Candidate) -> Candidate {
        let key = |rows: &[Vec<Vec<u8>>]| {
            let row = rows.first().map_or(&[][..], |row| &row[..]);
            (self.wanted.iter().any(|wanted| Column::named(row, wanted).len() == 1), row.len())
        };
        let best = tables.iter().rev().max_by_key(|(_, rows)| key(rows));
        best.map_or(*first, |(candidate, _)| **candidate)
    }

    /// Returns whether the URL column has neither a name nor a number.
    fn is_unnamed(&self) -> bool {
        self.wanted.get(self.key).is_none_or(|wanted| wanted.name.is_none())
    }

    /// Returns whether a wanted column has a name and not a number.
    fn needs_header(&self) -> bool {
        let is_name = |wanted: &ColumnOption| wanted.name.as_ref().is_some_and(|name| name.parse::<usize>().is_err());
        self.wanted.iter().any(is_name)
    }

    /// Returns whether a first row has the wanted names, and can only be a header.
    fn is_header(&self, row: &[Vec<u8>]) -> bool {
        let names = |wanted: &ColumnOption| Column::named(row, wanted).len();
        let is_there = |wanted: &ColumnOption| match wanted.number() {
            Some(number) => (1..=row.len()).contains(&number),
            None => names(wanted) == 1,
        };
        self.wanted.iter().all(is_there)
            && self.wanted.iter().any(|wanted| wanted.number().is_none())
            && !row.iter().any(|cell| self.is_url(cell))
    }

    /// Returns whether a cell can only be a URL.
    fn is_url(&self, cell: &[u8]) -> bool {
        is_url(cell.trim_ascii()) || (cell.contains(&b'/') && (self.is_data)(cell))
    }

    /// Returns whether a row has the columns that are given by number.
    fn has_numbers(&self, row: &[Vec<u8>]) -> bool {
        let is_there = |number: usize| (1..=row.len()).contains(&number);
        self.wanted.iter().all(|wanted| wanted.number().is_none_or(is_there))
    }

    /// Returns whether all first rows have the same number of cells, and one URL column.
    fn agree(&self, rows: &[Vec<Vec<u8>>]) -> bool {
        let width = rows.first().map_or(0, Vec::len);
        rows.first().is_some_and(|row| self.has_numbers(row))
            && rows.iter().all(|row| row.len() == width)
            && match self.wanted.get(self.key).and_then(ColumnOption::number) {
                Some(number) => {
                    let has_url = |row: &Vec<Vec<u8>>| {
                        number.checked_sub(1).and_then(|at| row.get(at)).is_some_and(|cell| (self.is_data)(cell))
                    };
                    rows.iter().skip(1).all(has_url)
                }
                None => self.url_columns(rows).len() == 1,
            }
    }

    /// Returns the columns with a URL in each of these rows.
    fn url_columns(&self, rows: &[Vec<Vec<u8>>]) -> Vec<usize> {
        let width = rows.first().map_or(0, Vec::len);
        let has_url = |row: &Vec<Vec<u8>>, at: usize| row.get(at).is_some_and(|cell| is_url(cell.trim_ascii()));
        (0..width).filter(|&at| rows.iter().all(|row| has_url(row, at))).collect()
    }

    /// Returns whether the first row could be one URL that contains the delimiter. URLs cannot contain tabs.
    fn may_be_url(&self, candidate: Candidate, start: &[u8]) -> bool {
        let delimiter = candidate.quoting.delimiter;
        let has_commas = || Candidate::csv(COMMA).rows(start, true).0.first().is_none_or(|row| row.len() > 1);
        delimiter != COMMA && delimiter != b'\t' && is_url(start) && !has_commas()
    }

    /// Returns the table whose first row begins `start`, and that row's length if it is a header. Returns `None` if more
    /// rows are needed.
    ///
    /// # Errors
    /// Returns an error if a column is missing or ambiguous.
    pub fn table(&self, from: &Candidate, start: &[u8], is_all: bool) -> MessageResult<Option<(Table, usize)>> {
        if start.is_empty() {
            return Ok(Some((from.table(Vec::new(), Numbers::default()), 0)));
        }
        let (rows, len) = from.rows(start, is_all);
        let Some(row) = rows.first() else {
            if is_all {
                return Err(unreadable());
            }
            return Ok(None);
        };
        if row.is_empty() {
            return Err(unreadable());
        }
        let seen = |text: String| match from.format {
            Format::Csv => {
                format!(
                    "{text} (read with {}; --delimiter sets another delimiter)",
                    shown_delimiter(from.quoting.delimiter)
                )
            }
            _ if !from.is_plain && row.iter().any(|cell| cell.starts_with(b"\"")) => {
                format!("{text} (--input-format csv --delimiter tab reads quoted cells)")
            }
            _ => text,
        };
        let has_url = row.iter().any(|cell| self.is_url(cell));
        let mut found = Vec::new();
        for wanted in self.wanted {
            let column = match (wanted.number(), &Column::named(row, wanted)[..]) {
                (None, &[number]) if !has_url => Column { number, is_named: true },
                (None, [_]) if wanted.name.is_some() => return Err(seen(data_or_header(row, wanted))),
                (None, _) if wanted.name.is_none() => {
                    if has_url && !is_all && rows.len() < MAX_AGREEING_ROWS {
                        return Ok(None);
                    }
                    match self.url_columns(&rows)[..] {
                        [number] => Column { number, is_named: false },
                        _ => return Err(seen(which_column(row, wanted))),
                    }
                }
                _ => Column::find(row, wanted).map_err(seen)?,
            };
            found.push(column);
        }
        let key = found.get(self.key).and_then(|column| row.get(column.number));
        // A number names no cell, so a first row with an empty one there has no names.
        let may_be_data = |cell: &Vec<u8>| (self.is_data)(cell) || cell.trim_ascii().is_empty();
        let is_header = found.iter().any(|found| found.is_named) || !key.is_some_and(may_be_data);
        let name = |found: &Column| match row.get(found.number) {
            Some(name) if is_header => format!("column {} (\"{}\")", found.number + 1, shown(name.trim_ascii())),
            _ => format!("column {}", found.number + 1),
        };
        let names = found.iter().map(name).collect();
        let unnamed =
            if is_header { row.iter().rev().take_while(|name| name.trim_ascii().is_empty()).count() } else { 0 };
        let wanted = found.iter().map(|found| found.number).collect();
        let numbers = Numbers { wanted, least: row.len() - unnamed, most: row.len() };
        let header_len = if is_header { len } else { 0 };
        let header = start[..header_len].to_vec();
        Ok(Some((Table { header, ..from.table(names, numbers) }, header_len)))
    }
}

impl ColumnOption {
    /// Returns the column's number, from 1, if it is given by number.
    fn number(&self) -> Option<usize> {
        self.name.as_ref().and_then(|name| name.parse().ok())
    }
}

fn unreadable() -> String {
    format!(
        "its first row has a quote that is not closed, text after a closing quote, a backslash before a quote, or more \
         than {MAX_LINE_BYTES} bytes"
    )
}

fn which_delimiter(one: &Candidate, other: &Candidate) -> String {
    let [one, other] = [one, other].map(|candidate| name_of(candidate.quoting.delimiter));
    format!("which delimiter is between cells, {one} or {other}? Say it with --delimiter")
}

fn url_or_cells(candidate: &Candidate) -> String {
    let delimiter = candidate.quoting.delimiter;
    format!(
        "the first row is a URL with the character {:?}: give --delimiter comma if that belongs to the URL, else \
         --delimiter {}",
        char::from(delimiter),
        name_of(delimiter)
    )
}

fn data_or_header(row: &[Vec<u8>], wanted: &ColumnOption) -> String {
    format!(
        "is the first row a header or data? It has the name for {} and a URL: {}; give the column's number, from 1 on",
        wanted.option,
        list(row)
    )
}

fn which_column(row: &[Vec<u8>], wanted: &ColumnOption) -> String {
    format!("which column has the URLs? Say it with {}; the first row is {}", wanted.option, list(row))
}

/// A matching column.
struct Column {
    /// The column number, from 0.
    number: usize,
    /// Whether it was found by name, so that the first row is a header.
    is_named: bool,
}

impl Column {
    /// Returns the columns with the wanted name, or with a known name for URLs.
    fn named(row: &[Vec<u8>], wanted: &ColumnOption) -> Vec<usize> {
        let Some(name) = &wanted.name else { return places(row, is_url_name) };
        let exact = places(row, |cell| cell == name.as_bytes());
        if exact.is_empty() { places(row, |cell| cell.eq_ignore_ascii_case(name.as_bytes())) } else { exact }
    }

    /// Returns the column with a number, or the only one with a name.
    fn find(row: &[Vec<u8>], wanted: &ColumnOption) -> MessageResult<Column> {
        let option = wanted.option;
        if let Some(number) = wanted.number() {
            return match number.checked_sub(1) {
                Some(number) if number < row.len() => Ok(Column { number, is_named: false }),
                _ => Err(format!("{option} {number}: the first row has the columns 1 to {}", row.len())),
            };
        }
        let name = shown(wanted.name.as_deref().unwrap_or_default().as_bytes());
        match Column::named(row, wanted)[..] {
            [] => Err(format!("{option} {name}: there is no such column; the first row is {}", list(row))),
            [number] => Ok(Column { number, is_named: true }),
            _ => Err(format!("{option} {name}: several columns have this name; give a number, from 1 on")),
        }
    }
}

/// Returns the numbers of cells that satisfy `is_it` without surrounding spaces.
fn places(row: &[Vec<u8>], is_it: impl Fn(&[u8]) -> bool) -> Vec<usize> {
    row.iter().enumerate().filter(|(_, cell)| is_it(cell.trim_ascii())).map(|(at, _)| at).collect()
}

/// Lists a row's cells for a message.
fn list(row: &[Vec<u8>]) -> String {
    listed(row.iter().map(|cell| format!("\"{}\"", shown(cell))))
}
