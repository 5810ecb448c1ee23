//! Opens a table: reads its first row, detects its format, and finds the wanted columns.
//!
//! The returned table begins with the first data row.
//!
//! ```
//! use reptile_records::tables::open::{Opening, URL_OPTION};
//! use reptile_records::tables::{Delimiter, Wanted, source::Source};
//!
//! let text = b"seen;link\n2026-03-14;https://example.com/\n";
//! let open = |opening: Opening| Source::Text(Box::new(&text[..])).open_rows(&opening);
//!
//! let wanted = [(URL_OPTION, "link"), ("--at-column", "seen")];
//! let wanted = wanted.map(|(option, name)| Wanted { option, name: Some(name.into()) }).into();
//! let (table, _) = open(Opening { wanted, ..Opening::of("visits.csv") })?;
//! assert_eq!(table.to_string(), "CSV with semicolons between cells, URLs in column 2 (\"link\")");
//!
//! // Without the options, the URL column must have a known name.
//! let delimiter = Some(Delimiter::of_name("semicolon")?);
//! assert!(open(Opening { delimiter, ..Opening::of("visits.csv") }).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{Chain, Cursor, ErrorKind, Read};
use std::path::PathBuf;

use super::cdxj::{self, Cdxj, TIMESTAMP};
use super::csv::plain_cells;
use super::delimiter::{Delimiter, cells_of, delimiter_of, has_first_row, shown_delimiter};
use super::guess::{format_of, is_url, is_url_name};
use super::json::{Fields, steps};
use super::log::shape::{Shape, Site, shape_of};
use super::log::{HostOf, Log, LogCell};
use super::{Columns, Format, Table, Wanted};
use crate::arrow::kept::KeptRows;
use crate::lines::{MAX_LINE_BYTES, lines, trimmed_url, without_line_end};
use crate::shown::shown;
use crate::{Error, Result};

/// Maximum number of access log lines that are searched for virtual hosts if the user gives the host. Otherwise the
/// limit is [`MAX_LINE_BYTES`] bytes.
const MAX_HOST_LINES: usize = 100;

/// Number of bytes per read while the first row is incomplete.
const READ_BYTES: usize = 1 << 16;

/// The UTF-8 byte order mark, which some programs write.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The option of the command that names the URL column.
pub const URL_OPTION: &str = "--url-column";

/// Maximum number of column names that a message lists.
const MAX_SHOWN_NAMES: usize = 20;

/// Facts about a table that are known before it is read.
pub struct Opening {
    /// The path, for messages and for the file name extension.
    pub path: PathBuf,
    /// The format, if the user gives it.
    pub format: Option<Format>,
    /// The delimiter between cells, if the user gives it.
    pub delimiter: Option<Delimiter>,
    /// The wanted columns. The first one is the URL column.
    pub wanted: Vec<Wanted>,
    /// The user's options for requests in an access log, or an error message for them.
    pub site: std::result::Result<Site, String>,
    /// The queue for the columns that the output keeps, if the table must be Arrow IPC with such columns.
    pub kept: Option<KeptRows>,
}

/// A table's rows after its header.
pub type Rows = Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>>;

/// A result whose error message follows the table's path.
type MessageResult<T> = std::result::Result<T, String>;

impl Opening {
    /// Opens the table at a path with detected format and URL column.
    #[must_use]
    pub fn of(path: impl Into<PathBuf>) -> Opening {
        let wanted = vec![Wanted { option: URL_OPTION, name: None }];
        let site = Site::of_options(None, &[]);
        Opening { path: path.into(), format: None, delimiter: None, wanted, site, kept: None }
    }

    /// Reads the first row, detects the format and finds the columns.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable, if a column is missing, or if the format has no columns.
    pub(crate) fn read(&self, mut source: Box<dyn Read + Send>) -> Result<(Table, Rows)> {
        let mut start = Vec::new();
        let (table, header_len) = self.find(&mut source, &mut start).map_err(|text| Error::at(&self.path, text))?;
        start.drain(..header_len);
        Ok((table, Cursor::new(start).chain(source)))
    }

    /// Reads until the first row is complete. Returns the table and its header's length.
    fn find(&self, source: &mut impl Read, start: &mut Vec<u8>) -> MessageResult<(Table, usize)> {
        let mut at_end = false;
        // The first line determines the format. A first CSV row may be longer than that line.
        while !at_end && start.len() <= MAX_LINE_BYTES && !start.contains(&b'\n') {
            at_end = more(source, start)?;
        }
        if start.starts_with(MARK) {
            start.drain(..MARK.len());
        }
        let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.format.is_none() && is_json_list(line) {
            return Err("is a JSON list; expected JSON Lines, an object on each line".into());
        }
        let format = self.format_of(line)?;
        let has_cr_alone = has_cr_alone(line);
        while format == Format::Csv && !at_end && start.len() <= MAX_LINE_BYTES && !has_first_row(start, self.delimiter)
        {
            at_end = more(source, start)?;
        }
        if matches!(format, Format::Csv | Format::Tsv) && has_cr_alone {
            return Err("its lines end with CR alone; expected LF or CRLF: tr '\\r' '\\n'".into());
        }
        match format {
            Format::List => match self.wanted.iter().find(|wanted| wanted.name.is_some()) {
                Some(Wanted { option, .. }) => Err(format!("{option}: a list of URLs has no columns")),
                None => Ok((Table::list(), 0)),
            },
            Format::Jsonl => self.fields().map(|table| (table, 0)),
            Format::Cdxj => self.cdxj(start),
            Format::Log => self.log(&self.site.clone()?, source, start, at_end).map(|table| (table, 0)),
            Format::Parquet => Err("--input-format parquet: is not a Parquet file".into()),
            Format::Arrow => Err("--input-format arrow: is not Arrow IPC".into()),
            Format::Tsv => find_columns(format, b'\t', start, &self.wanted),
            Format::Csv => {
                let delimiter = match self.delimiter {
                    Some(delimiter) => delimiter.0,
                    None => delimiter_of(start, &self.wanted)?,
                };
                find_columns(format, delimiter, start, &self.wanted)
            }
        }
    }

    /// Returns the user's format, or else the format that the first line suggests.
    fn format_of(&self, line: &[u8]) -> MessageResult<Format> {
        match (self.format, self.delimiter) {
            (None, None) => Ok(format_of(line, &self.path, &self.wanted)),
            (None, Some(Delimiter(b'\t'))) => Ok(Format::Tsv),
            (None, Some(_)) => Ok(Format::Csv),
            (Some(format @ (Format::Csv | Format::Tsv)), Some(delimiter)) => match (format, delimiter) {
                (Format::Tsv, Delimiter(byte)) if byte != b'\t' => {
                    Err("--delimiter: TSV has tabs between its cells".into())
                }
                _ => Ok(format),
            },
            (Some(format), None) => Ok(format),
            (Some(format), Some(_)) => Err(format!("--delimiter: is for CSV, and --input-format says {format}")),
        }
    }

    /// Returns the table for JSON Lines.
    fn fields(&self) -> MessageResult<Table> {
        let (fields, names) = self.steps()?;
        Ok(Table::new(Format::Jsonl, names, Columns::Fields(fields)))
    }

    /// Returns the wanted JSON fields and their names for messages.
    fn steps(&self) -> MessageResult<(Fields, Vec<String>)> {
        let names: Vec<&str> = self.wanted.iter().map(|wanted| wanted.name.as_deref().unwrap_or("url")).collect();
        let steps = self.wanted.iter().zip(&names).map(|(wanted, name)| {
            steps(name).map_err(|text| format!("{} {}: {text}", wanted.option, shown(name.as_bytes())))
        });
        let fields = Fields::of_steps(steps.collect::<MessageResult<Vec<_>>>()?);
        Ok((fields, names.iter().map(|name| format!("the field \"{}\"", shown(name.as_bytes()))).collect()))
    }

    /// Returns the table for CDXJ, and the length of a first line that describes the file.
    fn cdxj(&self, start: &[u8]) -> MessageResult<(Table, usize)> {
        let (fields, names) = self.steps()?;
        let is_timestamp = |wanted: &Wanted| wanted.name.as_deref() == Some(TIMESTAMP);
        let wanted = self.wanted.iter().enumerate().filter(|(_, wanted)| is_timestamp(wanted));
        let columns = Columns::Cdxj(Cdxj { fields, timestamps: wanted.map(|(cell, _)| cell).collect() });
        let line_len = start.iter().position(|&byte| byte == b'\n').map_or(start.len(), |at| at + 1);
        let header = start[..line_len].to_vec();
        let header = if cdxj::is_header(&header) { header } else { Vec::new() };
        let header_len = header.len();
        Ok((Table { header, ..Table::new(Format::Cdxj, names, columns) }, header_len))
    }

    /// Returns the table for an access log.
    ///
    /// Reads on until a line is conclusive, up to [`MAX_LINE_BYTES`].
    fn log(&self, site: &Site, source: &mut impl Read, start: &mut Vec<u8>, mut at_end: bool) -> MessageResult<Table> {
        loop {
            let read = start.len().min(MAX_LINE_BYTES);
            let (shape, is_enough) = shape(&start[..read], site.host.is_some(), at_end);
            if is_enough || at_end || read == MAX_LINE_BYTES {
                return self.log_of(site, shape);
            }
            at_end = more(source, start)?;
        }
    }

    /// Returns the table for an access log with this shape. The shape is `None` if no line was readable.
    fn log_of(&self, site: &Site, shape: Option<Shape>) -> MessageResult<Table> {
        let host = match (site.start(), &shape) {
            (Some(start), None | Some(Shape { host: HostOf::Nothing, .. })) => HostOf::All(start),
            (None, Some(Shape { host: HostOf::Nothing, .. })) => {
                return Err("no virtual hosts in this access log: give its host with --host".into());
            }
            (_, Some(shape)) => shape.host.clone(),
            (None, None) => HostOf::Nothing,
        };
        let (mut cells, mut names) = (Vec::new(), Vec::new());
        for Wanted { option, name } in &self.wanted {
            let cell = log_cell(option, name.as_deref())?;
            if cell == LogCell::UserAgent && shape.as_ref().is_some_and(|shape| !shape.has_user_agent) {
                return Err(format!("{option}: this access log has no user agents, which the combined format has"));
            }
            cells.push(cell);
            names.push(match (cell, &host) {
                (LogCell::Time, _) => "the time of the request".to_owned(),
                (LogCell::UserAgent, _) => "the user agent".to_owned(),
                (LogCell::Url, HostOf::All(start)) => format!("the requests to {}", shown(start)),
                (LogCell::Url, HostOf::First) => "the requests, virtual hosts at the start of the lines".to_owned(),
                (LogCell::Url, HostOf::After(number)) => {
                    format!("the requests, virtual hosts in field {} after the request", number + 1)
                }
                (LogCell::Url, HostOf::Nothing) => "the requests".to_owned(),
            });
        }
        let default = site.start().filter(|_| !matches!(host, HostOf::All(_)));
        let columns = Columns::Log(Log { host, default, scheme: site.scheme, cells });
        Ok(Table::new(Format::Log, names, columns))
    }
}

/// Returns an access log's shape, and whether a line is conclusive.
///
/// The first conclusive line determines the shape, or else the first readable line. A line with a virtual host is
/// conclusive. If the user gives the host, [`MAX_HOST_LINES`] lines are conclusive too. The last line counts if it is
/// complete.
fn shape(bytes: &[u8], is_host_known: bool, at_end: bool) -> (Option<Shape>, bool) {
    let (mut first, mut readable) = (None, 0);
    for line in lines(bytes).filter(|line| at_end || line.ends_with(b"\n")) {
        let Some(shape) = shape_of(without_line_end(line)) else { continue };
        if shape.host != HostOf::Nothing {
            return (Some(shape), true);
        }
        first.get_or_insert(shape);
        readable += 1;
        if is_host_known && readable == MAX_HOST_LINES {
            return (first, true);
        }
    }
    (first, false)
}

/// Returns the access log column with this name, or the URL column without a name.
fn log_cell(option: &str, name: Option<&str>) -> MessageResult<LogCell> {
    let Some(name) = name else { return Ok(LogCell::Url) };
    match &*name.to_ascii_lowercase().replace('-', "_") {
        "time" => Ok(LogCell::Time),
        "user_agent" => Ok(LogCell::UserAgent),
        _ => {
            let name = shown(name.as_bytes());
            Err(format!(
                "{option} {name}: an access log has the columns time and user_agent; its URLs are those requested"
            ))
        }
    }
}

/// Returns whether a line begins a JSON list that contains objects or strings.
fn is_json_list(line: &[u8]) -> bool {
    let inner = line.trim_ascii().strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    inner.is_some_and(|inner| matches!(inner.first(), None | Some(b'{' | b'"')))
}

/// Reads some bytes. Returns whether the source has ended.
fn more(source: &mut impl Read, bytes: &mut Vec<u8>) -> MessageResult<bool> {
    let filled = bytes.len();
    bytes.resize(filled + READ_BYTES, 0);
    let read = loop {
        match source.read(&mut bytes[filled..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => break read,
        }
    };
    bytes.truncate(filled + read.as_ref().map_or(0, |&read| read));
    read.map(|read| read == 0).map_err(|error| format!("cannot be read: {error}"))
}

/// Returns whether a CR is followed by anything except another CR or the end of the line.
fn has_cr_alone(line: &[u8]) -> bool {
    line.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\r')
}

/// Returns the table whose first row begins `start`, and that row's length if it is a header.
fn find_columns(format: Format, delimiter: u8, start: &[u8], wanted: &[Wanted]) -> MessageResult<(Table, usize)> {
    let table = |names, numbers| Table { delimiter, ..Table::new(format, names, Columns::Numbers(numbers)) };
    if start.is_empty() {
        return Ok((table(Vec::new(), Vec::new()), 0));
    }
    let (row, len) = first_row(format, delimiter, start)?;
    let seen = |text: String| match format {
        Format::Csv => format!("{text} (read with {}; --delimiter sets another delimiter)", shown_delimiter(delimiter)),
        _ => text,
    };
    let found = wanted.iter().map(|wanted| Column::find(&row, wanted)).collect::<MessageResult<_>>();
    let found: Vec<Column> = found.map_err(seen)?;
    // A first row with a URL in the URL column is not a header.
    let url = found.first().and_then(|found| row.get(found.number));
    let is_header = found.iter().any(|found| found.is_named) || !url.is_some_and(|cell| is_url(trimmed_url(cell)));
    let name = |found: &Column| match row.get(found.number) {
        Some(name) if is_header => format!("column {} (\"{}\")", found.number + 1, shown(name)),
        _ => format!("column {}", found.number + 1),
    };
    let names = found.iter().map(name).collect();
    let header_len = if is_header { len } else { 0 };
    let table = table(names, found.iter().map(|found| found.number).collect());
    Ok((Table { header: start[..header_len].to_vec(), ..table }, header_len))
}

/// Returns the first row's cells and length.
fn first_row(format: Format, delimiter: u8, start: &[u8]) -> MessageResult<(Vec<Vec<u8>>, usize)> {
    if format == Format::Csv {
        let message = "its first row has a quote that is not closed, or more than";
        return cells_of(start, delimiter).ok_or_else(|| format!("{message} {MAX_LINE_BYTES} bytes"));
    }
    let len = start.iter().position(|&byte| byte == b'\n').map_or(start.len(), |at| at + 1);
    let line = without_line_end(&start[..len]);
    Ok((plain_cells(line, delimiter).map(<[u8]>::to_vec).collect(), len))
}

/// A matching column.
struct Column {
    /// The column number, from 0.
    number: usize,
    /// Whether it was found by name, so that the first row is a header.
    is_named: bool,
}

impl Column {
    fn find(row: &[Vec<u8>], wanted: &Wanted) -> MessageResult<Column> {
        let option = wanted.option;
        let Some(name) = &wanted.name else { return Column::of_urls(row, option) };
        if let Ok(number) = name.parse::<usize>() {
            return match number.checked_sub(1) {
                Some(number) if number < row.len() => Ok(Column { number, is_named: false }),
                _ => Err(format!("{option} {number}: the first row has the columns 1 to {}", row.len())),
            };
        }
        let exact = |cell: &[u8]| cell == name.as_bytes();
        let nearly = |cell: &[u8]| cell.eq_ignore_ascii_case(name.as_bytes());
        let name = shown(name.as_bytes());
        for is_it in [&exact as &dyn Fn(&[u8]) -> bool, &nearly] {
            match places(row, is_it)[..] {
                [] => {}
                [number] => return Ok(Column { number, is_named: true }),
                _ => return Err(format!("{option} {name}: several columns have this name; give a number, from 1 on")),
            }
        }
        Err(format!("{option} {name}: there is no such column; the first row is {}", list(row)))
    }

    /// Returns the URL column if it is unambiguous.
    fn of_urls(row: &[Vec<u8>], option: &str) -> MessageResult<Column> {
        if let [number] = places(row, is_url_name)[..] {
            return Ok(Column { number, is_named: true });
        }
        if let [number] = places(row, is_url)[..] {
            return Ok(Column { number, is_named: false });
        }
        Err(format!("which column has the URLs? Say it with {option}; the first row is {}", list(row)))
    }
}

/// Returns the numbers of cells that satisfy `is_it`.
fn places(row: &[Vec<u8>], is_it: impl Fn(&[u8]) -> bool) -> Vec<usize> {
    row.iter().enumerate().filter(|(_, cell)| is_it(cell)).map(|(at, _)| at).collect()
}

/// Lists a row's cells for a message.
fn list(row: &[Vec<u8>]) -> String {
    let names: Vec<String> = row.iter().take(MAX_SHOWN_NAMES).map(|cell| format!("\"{}\"", shown(cell))).collect();
    let more = row.len().saturating_sub(MAX_SHOWN_NAMES);
    names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}
