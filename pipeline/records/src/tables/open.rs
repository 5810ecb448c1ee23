//! Opens a table: reads its first row, detects its format, and finds the wanted columns.
//!
//! The returned table begins with the first data row.
//!
//! ```
//! use reptile_records::tables::open::{Opening, URL_OPTION};
//! use reptile_records::tables::{ColumnOption, Delimiter, source::Source};
//!
//! let text = b"seen;link\n2026-03-14;https://example.com/\n";
//! let open = |opening: Opening| Source::Text(Box::new(&text[..])).open_rows(&opening);
//!
//! let wanted = [(URL_OPTION, "link"), ("--at", "seen")];
//! let wanted = wanted.map(|(option, name)| ColumnOption { option, name: Some(name.into()) }).into();
//! let (table, _) = open(Opening { wanted, ..Opening::of("visits.csv") })?;
//! assert_eq!(table.to_string(), "CSV with semicolons between cells, URLs in column 2 (\"link\")");
//!
//! // Without the options, the URL column must have a known name.
//! let delimiter = Some(Delimiter::of_name("semicolon")?);
//! assert!(open(Opening { delimiter, ..Opening::of("visits.csv") }).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{Chain, Cursor, ErrorKind, Read};

use bumpalo::Bump;

use super::address::{HOST, PartNames, UrlCells, complete};
use super::cdx::Legend;
use super::cdxj::{self, Cdxj, TIMESTAMP};
use super::columns::{Candidate, Choice, Search};
use super::delimiter::{self, Delimiter, name_of};
use super::guess::format_of;
use super::json::{Fields, steps};
use super::json_rows;
use super::log::format::LogFormat;
use super::log::json::{self, JsonShape};
use super::log::shape::{FirstLines, MAX_FIRST_LINES, Site};
use super::log::w3c::Names;
use super::log::w3c::marks::Marked;
use super::log::w3c::names::Head;
use super::quotes::Escape;
use super::row::is_url;
use super::{Assembly, COMMA, ColumnOption, Columns, Format, MARK, Table};
use crate::batches::kept::KeptRows;
use crate::lines::{MAX_LINE_BYTES, lines, trimmed_url, without_line_end};
use crate::place::Place;
use crate::shown::shown;
use crate::{Error, Result};

/// Number of bytes per read while the first row is incomplete.
const READ_BYTES: usize = 1 << 16;

/// The option of the command that names the URL column, or the columns of its parts.
pub const URL_OPTION: &str = "--url";

/// Maximum number of bytes that a message shows from a first line without a legend.
const MAX_SHOWN_LEGEND: usize = 60;

/// Facts about a table that are known before it is read.
pub struct Opening {
    /// The path, for messages and for the file name extension.
    pub path: Place,
    /// The format, if the user gives it.
    pub format: Option<Format>,
    /// The delimiter between cells, if the user gives it.
    pub delimiter: Option<Delimiter>,
    /// The way to write a quote in a quoted cell of CSV, if the user gives it.
    pub escape: Option<Escape>,
    /// The wanted columns. The first one is the URL column.
    pub wanted: Vec<ColumnOption>,
    /// The columns of the URL's parts, if the user names them instead of the URL column.
    pub parts: PartNames,
    /// The scheme of URLs without one, if the user gives it.
    pub scheme: Option<&'static str>,
    /// The format of an access log's lines, if the user gives it.
    pub log_format: Option<LogFormat>,
    /// The user's options for requests in an access log, or an error message for them.
    pub site: std::result::Result<Site, String>,
    /// The queue for the columns that the output keeps, if the table must be Arrow IPC with such columns.
    pub kept: Option<KeptRows>,
}

/// A table's rows after its header.
pub type TableBytes = Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>>;

/// A result whose error message follows the table's path.
type MessageResult<T> = std::result::Result<T, String>;

impl Opening {
    /// Opens the table at a path with detected format and URL column.
    #[must_use]
    pub fn of(path: impl Into<Place>) -> Opening {
        let wanted = vec![ColumnOption { option: URL_OPTION, name: None }];
        let site = Site::of_options(None, &[]);
        let parts = PartNames::default();
        Opening {
            path: path.into(),
            format: None,
            delimiter: None,
            escape: None,
            wanted,
            parts,
            scheme: None,
            log_format: None,
            site,
            kept: None,
        }
    }

    /// Reads the first row, detects the format and finds the columns.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable, if a column is missing, or if the format has no columns.
    pub(crate) fn read(&self, mut source: Box<dyn Read + Send>) -> Result<(Table, TableBytes)> {
        let mut start = Vec::new();
        let (table, header_len) = self.find(&mut source, &mut start).map_err(|text| Error::at(&self.path, text))?;
        start.drain(..header_len);
        let rest: Box<dyn Read + Send> = match &table.columns {
            Columns::W3c(log) => {
                let lines = Cursor::new(std::mem::take(&mut start)).chain(source);
                Box::new(Marked::new(lines, log.clone(), &table.header))
            }
            _ => source,
        };
        Ok((table, Cursor::new(start).chain(rest)))
    }

    /// Returns whether the URL is in several columns.
    pub(crate) fn is_split(&self) -> bool {
        self.parts.iter().any(Option::is_some)
    }

    /// Returns the columns whose cells are read: the URL or its parts, then the others.
    pub(crate) fn cells(&self) -> Vec<ColumnOption> {
        let parts =
            self.parts.iter().flatten().map(|name| ColumnOption { option: URL_OPTION, name: Some(name.clone()) });
        let url = self.wanted.first().filter(|_| !self.is_split());
        parts.chain(url.cloned()).chain(self.wanted.iter().skip(1).cloned()).collect()
    }

    /// Returns the locations of the URL's parts among [`Opening::cells`].
    ///
    /// # Errors
    /// Returns an error if there is no column for the host, or no scheme.
    pub(crate) fn parts(&self) -> MessageResult<UrlCells> {
        let mut count = 0;
        let places = self.parts.each_ref().map(|name| {
            name.as_ref()?;
            count += 1;
            Some(count - 1)
        });
        if places[HOST].is_none() {
            return Err(format!("{URL_OPTION}: a URL in several columns needs its host"));
        }
        if places[0].is_none() && self.scheme.is_none() {
            let message =
                "the URLs have no scheme: begin with its column, {scheme}://, or with https://, or give --scheme";
            return Err(format!("{URL_OPTION}: {message}"));
        }
        Ok(UrlCells { places, scheme: self.scheme })
    }

    /// Returns the table with the rule that makes URLs from its cells.
    fn assembled(&self, mut table: Table) -> MessageResult<Table> {
        if self.is_split() {
            let parts = self.parts()?;
            let others = table.names.split_off(parts.count().min(table.names.len()));
            table.names = [table.names.join(", ")].into_iter().chain(others).collect();
            table.assembly = Assembly::Parts(parts);
        } else if let Some(scheme) = self.scheme {
            table.assembly = Assembly::Completed(scheme);
        }
        Ok(table)
    }

    /// Returns an error if an option names a URL column, because the format determines the URLs itself.
    fn refuse_columns(&self, format: &str) -> MessageResult<()> {
        let is_named = self.wanted.first().is_some_and(|wanted| wanted.name.is_some());
        if is_named || self.is_split() { Err(format!("{URL_OPTION}: {format}")) } else { Ok(()) }
    }

    /// Reads until the first row is complete. Returns the table and its header's length.
    fn find(&self, source: &mut impl Read, start: &mut Vec<u8>) -> MessageResult<(Table, usize)> {
        let mut at_end = false;
        // The first line determines the format. A first CSV row may be longer than that line.
        while !at_end && start.len() <= MAX_LINE_BYTES && !start.contains(&b'\n') {
            at_end = more(source, start)?;
        }
        // Files that were put together may begin with several marks.
        while start.starts_with(MARK) {
            start.drain(..MARK.len());
        }
        let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(declared) = self.declared(line)? {
            start.drain(..first_line(start).len());
            while !at_end && start.len() <= MAX_LINE_BYTES && !start.contains(&b'\n') {
                at_end = more(source, start)?;
            }
            let (table, len) =
                self.delimited(Some(Format::Csv), Some(declared), &self.cells(), source, start, at_end)?;
            return Ok((Table { lines_before: 1, ..table }, len));
        }
        let may_have_fields = matches!(self.format, None | Some(Format::W3cLog)) && self.log_format.is_none();
        if may_have_fields
            && self.delimiter.is_none()
            && let Some(found) = self.w3c(source, start, &mut at_end)?
        {
            return Ok(found);
        }
        let line = without_line_end(first_line(start));
        if matches!(self.format, None | Some(Format::Cdx)) && is_json_list(line) {
            return self.json_rows(start);
        }
        let wanted = self.cells();
        let mut format = self.format_of(line)?;
        let is_named = self.is_split() || self.wanted.first().is_some_and(|wanted| wanted.name.is_some());
        let may_be_log = self.format.is_none() && format == Some(Format::Jsonl) && !is_named;
        if self.format == Some(Format::JsonLog) || may_be_log {
            let is_log = self.is_json_log(source, start, &mut at_end)?;
            format = if is_log { Some(Format::JsonLog) } else { format };
        }
        if format.is_none_or(|format| matches!(format, Format::Csv | Format::Tsv)) {
            return self.delimited(format, self.delimiter, &wanted, source, start, at_end);
        }
        let format = format.unwrap_or(Format::List);
        if self.escape.is_some() {
            return Err(format!("--escape: is {format}, not CSV"));
        }
        match format {
            Format::List | Format::Tsv | Format::Csv => match wanted.iter().find(|wanted| wanted.name.is_some()) {
                Some(ColumnOption { option, .. }) => Err(format!("{option}: a list of URLs has no columns")),
                None => Ok((self.assembled(Table::list())?, 0)),
            },
            Format::Jsonl => Ok((self.assembled(self.fields(&wanted)?)?, 0)),
            Format::JsonLog => self.json_log(start).map(|table| (table, 0)),
            Format::Cdx => {
                while Legend::of(without_line_end(first_line(start))).is_none() && !at_end && !has_first_lines(start) {
                    at_end = start.len() > MAX_LINE_BYTES || more(source, start)?;
                }
                self.cdx(start)
            }
            Format::Cdxj => {
                let (table, header_len) = self.cdxj(start, &wanted)?;
                Ok((self.assembled(table)?, header_len))
            }
            Format::W3cLog => Err("--input-format w3c: expected a #Fields: line before the first request".into()),
            Format::Log => {
                if self.is_split() {
                    self.refuse_columns("an access log's URLs are those requested")?;
                }
                self.log(&self.site.clone()?, source, start, at_end).map(|table| (table, 0))
            }
            Format::Parquet => Err("--input-format parquet: is not a Parquet file".into()),
            Format::Arrow => Err("--input-format arrow: is not Arrow IPC".into()),
            Format::Archive => Err("is a crawl archive, whose pages --rights reads".into()),
        }
    }

    /// Returns the user's format, or else the format that the first line or the file name suggests. `None` is a list, TSV
    /// or CSV.
    fn format_of(&self, line: &[u8]) -> MessageResult<Option<Format>> {
        if self.log_format.is_some() {
            return match self.delimiter {
                None => Ok(Some(Format::Log)),
                Some(_) => Err("--delimiter: is for CSV, and --input-format says a log".into()),
            };
        }
        match (self.format, self.delimiter) {
            (None, None) if self.escape.is_some() => Ok(Some(Format::Csv)),
            (None, None) => Ok(format_of(line, &self.path)),
            (None, Some(Delimiter(b'\t'))) if self.escape.is_none() => Ok(Some(Format::Tsv)),
            (None, Some(_)) => Ok(Some(Format::Csv)),
            (Some(Format::Tsv), Some(Delimiter(byte))) if byte != b'\t' => {
                Err("--delimiter: TSV has tabs between its cells".into())
            }
            (Some(format @ (Format::Csv | Format::Tsv)), _) | (Some(format), None) => Ok(Some(format)),
            (Some(format), Some(_)) => Err(format!("--delimiter: is for CSV, and --input-format says {format}")),
        }
    }

    /// Returns the delimiter that the first line declares, unless the user gives another format than CSV.
    ///
    /// # Errors
    /// Returns an error if the user gives another delimiter.
    fn declared(&self, line: &[u8]) -> MessageResult<Option<Delimiter>> {
        let may_be_csv = matches!(self.format, None | Some(Format::Csv)) && self.log_format.is_none();
        let declared = delimiter::declared(line).filter(|_| may_be_csv);
        match (declared, self.delimiter) {
            (Some(Delimiter(own)), Some(Delimiter(given))) if own != given => Err(format!(
                "--delimiter {}: the first line declares {}; leave the option out, or remove the line",
                name_of(given),
                name_of(own)
            )),
            (declared, _) => Ok(declared),
        }
    }

    /// Returns the table for TSV or CSV, or for a list if the format is `None`, and the length of its header. Reads on
    /// until the first rows tell.
    fn delimited(
        &self,
        format: Option<Format>,
        delimiter: Option<Delimiter>,
        wanted: &[ColumnOption],
        source: &mut impl Read,
        start: &mut Vec<u8>,
        mut at_end: bool,
    ) -> MessageResult<(Table, usize)> {
        let is_plain = self.format == Some(Format::Tsv);
        if is_plain && self.escape.is_some() {
            return Err("--escape: TSV has no quotes; --input-format csv --delimiter tab reads quoted cells".into());
        }
        let key = if self.is_split() { self.parts()?.places[HOST] } else { None };
        let is_data = |cell: &[u8]| self.is_data(cell, key.is_some());
        let may_be_list = format.is_none() && wanted.iter().all(|wanted| wanted.name.is_none());
        let search = Search { wanted, key: key.unwrap_or(0), is_data: &is_data, may_be_list };
        let tab =
            if format.is_none() && !start.starts_with(b"\"") { Candidate::tsv(false) } else { Candidate::csv(b'\t') };
        let mut candidates = match (format, delimiter) {
            (Some(Format::Tsv), _) => vec![Candidate::tsv(is_plain)],
            (_, Some(Delimiter(byte))) => vec![Candidate::csv(byte)],
            (_, None) => vec![Candidate::csv(COMMA), Candidate::csv(b';'), tab, Candidate::csv(b'|')],
        };
        candidates.iter_mut().for_each(|candidate| candidate.quoting.escape = self.escape);
        loop {
            let is_all = at_end || start.len() > MAX_LINE_BYTES;
            match search.choose(&candidates, start, is_all)? {
                Choice::List => return Ok((self.assembled(Table::of_urls())?, 0)),
                Choice::Table(_) if has_cr_alone(without_line_end(first_line(start))) => {
                    return Err("its lines end with CR alone; expected LF or CRLF: tr '\\r' '\\n'".into());
                }
                Choice::Table(candidate) => {
                    if let Some((table, header_len)) = search.table(&candidate, start, is_all)? {
                        return Ok((self.assembled(table)?, header_len));
                    }
                }
                Choice::NeedsMore => {}
            }
            at_end = more(source, start)?;
        }
    }

    /// Returns whether a cell can only be data: a URL, or a host.
    fn is_data(&self, cell: &[u8], is_host: bool) -> bool {
        let cell = trimmed_url(cell);
        if is_host {
            return cell.iter().any(|byte| b".:".contains(byte)) || cell.eq_ignore_ascii_case(b"localhost");
        }
        is_url(cell) || self.scheme.is_some_and(|scheme| complete(cell, scheme, &Bump::new()) != cell)
    }

    /// Returns the table for JSON Lines.
    fn fields(&self, wanted: &[ColumnOption]) -> MessageResult<Table> {
        let (fields, names) = json_fields(wanted)?;
        Ok(Table::new(Format::Jsonl, names, Columns::Fields(fields)))
    }

    /// Returns the table for an access log in JSON.
    fn json_log(&self, start: &[u8]) -> MessageResult<Table> {
        self.refuse_columns("an access log's URLs are those requested; --input-format jsonl reads any fields")?;
        let Some(shape) = JsonShape::of_lines(whole_lines(start))? else {
            let first = lines(start).find(|line| line.trim_ascii_start().starts_with(b"{"));
            if start.trim_ascii().is_empty() {
                let columns = Columns::Fields(Fields::default());
                return Ok(Table::new(Format::JsonLog, vec!["the requests".into()], columns));
            }
            return Err(json::unknown(first.map(without_line_end).unwrap_or_default()));
        };
        let (fields, log, names) = shape.columns(&self.site.clone()?, &self.wanted)?;
        let assembly = Assembly::Request(log);
        Ok(Table { assembly, ..Table::new(Format::JsonLog, names, Columns::Fields(fields)) })
    }

    /// Returns whether JSON Lines are an access log: the first line with a URL or a request decides, because a server's
    /// other messages may precede it. Reads on up to [`MAX_FIRST_LINES`].
    fn is_json_log(&self, source: &mut impl Read, start: &mut Vec<u8>, at_end: &mut bool) -> MessageResult<bool> {
        loop {
            let is_log = whole_lines(start).take(MAX_FIRST_LINES).find_map(json::is_log);
            let is_enough = *at_end || start.len() >= MAX_LINE_BYTES || has_first_lines(start);
            if is_enough || is_log == Some(false) {
                return Ok(is_log == Some(true));
            }
            // All first lines of a log must agree.
            *at_end = more(source, start)?;
        }
    }

    /// Returns the table for classic CDX, and the length of its legend.
    fn cdx(&self, start: &[u8]) -> MessageResult<(Table, usize)> {
        let line = first_line(start);
        let written = Legend::of(without_line_end(line));
        let header_len = if written.is_some() { line.len() } else { 0 };
        // If the user gives the format CDX, only the first line is checked.
        let count = if self.format.is_some() { 1 } else { MAX_FIRST_LINES };
        let of_rows = || Legend::of_rows(whole_lines(start).take(count));
        let legend = written.or_else(of_rows).ok_or_else(|| {
            let line = shown(line.get(..MAX_SHOWN_LEGEND.min(line.len())).unwrap_or_default());
            format!(
                "expected a CDX legend such as \" CDX N b a m s k r M S V g\" in the first line, or in all first lines 7, \
                 9 or 11 cells with the time in the second and the URL in the third, found \"{line}\"; \
                 --input-format cdx takes the columns of the first line, and --delimiter space --url 3 reads other lines"
            )
        })?;
        if self.is_split() {
            self.refuse_columns("CDX has the whole URL in its column a")?;
        }
        let find = |wanted: &ColumnOption| legend.find(wanted.option, wanted.name.as_deref());
        let (numbers, names) = self.wanted.iter().map(find).collect::<MessageResult<(Vec<_>, Vec<_>)>>()?;
        let columns = Columns::Cdx(legend.columns(numbers));
        let header = line[..header_len].to_vec();
        Ok((self.assembled(Table { header, ..Table::new(Format::Cdx, names, columns) })?, header_len))
    }

    /// Returns the table for a web archive's index in JSON, a list of lists, and the length of its header.
    ///
    /// The first line is a header if it has the columns' names.
    fn json_rows(&self, start: &[u8]) -> MessageResult<(Table, usize)> {
        let line = first_line(start);
        let names = json_rows::Names::of(line).ok_or(
            "is a JSON list; expected an object on each line (JSON Lines), which `jq -c '.[]'` writes, or the index that a \
             web archive's server writes, in which each line is a list",
        )?;
        if self.is_split() {
            self.refuse_columns("the index of a web archive has whole URLs")?;
        }
        let (rows, shown) = names.columns(&self.wanted)?;
        let header = if names.are_in_file { line.to_vec() } else { Vec::new() };
        let header_len = header.len();
        let table = Table { header, ..Table::new(Format::Cdx, shown, Columns::JsonRows(rows)) };
        Ok((self.assembled(table)?, header_len))
    }

    /// Returns the table for CDXJ, and the length of a first line that describes the file.
    fn cdxj(&self, start: &[u8], wanted: &[ColumnOption]) -> MessageResult<(Table, usize)> {
        let (fields, names) = json_fields(wanted)?;
        let is_timestamp = |wanted: &ColumnOption| wanted.name.as_deref() == Some(TIMESTAMP);
        let wanted = wanted.iter().enumerate().filter(|(_, wanted)| is_timestamp(wanted));
        let columns = Columns::Cdxj(Cdxj { fields, timestamps: wanted.map(|(cell, _)| cell).collect() });
        let header = first_line(start).to_vec();
        let header = if cdxj::is_header(&header) { header } else { Vec::new() };
        let header_len = header.len();
        Ok((Table { header, ..Table::new(Format::Cdxj, names, columns) }, header_len))
    }

    /// Returns the table for an access log with a `#Fields:` line, or `None` if there is no such line.
    ///
    /// The number is the length of the lines up to and including this line.
    fn w3c(
        &self,
        source: &mut impl Read,
        start: &mut Vec<u8>,
        at_end: &mut bool,
    ) -> MessageResult<Option<(Table, usize)>> {
        while Head::of(start, *at_end) == Head::NeedsMore && start.len() <= MAX_LINE_BYTES {
            *at_end = more(source, start)?;
        }
        let Head::Fields(lines_before, at, line) = Head::of(start, *at_end) else { return Ok(None) };
        let Some(names) = Names::of(without_line_end(line)) else { return Ok(None) };
        if !self.is_split() {
            self.refuse_columns(
                "an access log's URLs are those requested; a template such as \
                                 'https://{cs-host}{cs-uri-stem}?{cs-uri-query}' names the fields of their parts",
            )?;
        }
        let site = self.site.clone()?;
        let site = Site { scheme: site.scheme.or(self.scheme), ..site };
        let (log, request, shown) = names.columns(&site, &self.wanted, &self.parts)?;
        let (header, assembly) = (line.to_vec(), Assembly::Request(request));
        let table = Table::new(Format::W3cLog, shown, Columns::W3c(log));
        Ok(Some((Table { header, lines_before, assembly, ..table }, at + line.len())))
    }

    /// Returns the table for an access log.
    ///
    /// Reads on until the first lines are conclusive, up to [`MAX_LINE_BYTES`].
    fn log(&self, site: &Site, source: &mut impl Read, start: &mut Vec<u8>, mut at_end: bool) -> MessageResult<Table> {
        let format = self.log_format.as_ref();
        loop {
            let read = start.len().min(MAX_LINE_BYTES);
            let first = FirstLines::of(whole_lines(&start[..read]), format);
            if first.are_enough() || at_end || read == MAX_LINE_BYTES {
                let (log, names) = first.log(site, format, &self.wanted)?;
                return Ok(Table::new(Format::Log, names, Columns::Log(Box::new(log))));
            }
            at_end = more(source, start)?;
        }
    }
}

/// Returns the wanted JSON fields and their names for messages.
fn json_fields(wanted: &[ColumnOption]) -> MessageResult<(Fields, Vec<String>)> {
    let names: Vec<&str> = wanted.iter().map(|wanted| wanted.name.as_deref().unwrap_or("url")).collect();
    let steps = wanted.iter().zip(&names).map(|(wanted, name)| {
        steps(name).map_err(|text| format!("{} {}: {text}", wanted.option, shown(name.as_bytes())))
    });
    let fields = Fields::of_steps(steps.collect::<MessageResult<Vec<_>>>()?);
    Ok((fields, names.iter().map(|name| format!("the field \"{}\"", shown(name.as_bytes()))).collect()))
}

/// Returns the first line with its line end.
fn first_line(start: &[u8]) -> &[u8] {
    lines(start).next().unwrap_or_default()
}

/// Returns the lines that are certainly whole, or else the only line, without their ends.
fn whole_lines(start: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memchr::memrchr(b'\n', start).map_or(start.len(), |at| at + 1);
    lines(&start[..end]).map(without_line_end)
}

/// Returns whether there are as many whole lines as are read ahead.
fn has_first_lines(start: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', start).count() >= MAX_FIRST_LINES
}

/// Returns whether a line begins a JSON list that contains objects, strings or lists.
fn is_json_list(line: &[u8]) -> bool {
    let inner = line.trim_ascii().strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    inner.is_some_and(|inner| matches!(inner.first(), None | Some(b'{' | b'"' | b'[')))
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
